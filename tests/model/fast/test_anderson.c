/* test_anderson.c - acceleration of iterations whose fixed point is known. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/greedy_small.h"

#include <math.h>
#include <stdint.h>

#include "tests/support/suite.h"

/* x -> factor x + (1 - factor) i in each component: the fixed point is 0, 1, 2... */
static void apply(const double *factor, size_t length, const double *point, double *out)
{
    for (size_t i = 0; i < length; i++) {
        out[i] = factor[i] * point[i] + (1.0 - factor[i]) * (double)i;
    }
}

static double error_after(const double *factor, size_t length, int turns)
{
    struct fulcrum_anderson anderson = {.length = 0};
    double point[8] = {5.0, -3.0, 7.0, 1.0, 2.0, 4.0, -1.0, 6.0};
    double image[8] = {0.0};
    ASSERT_OK(fulcrum_anderson_init(&anderson, length, NULL));
    for (int i = 0; i < turns; i++) {
        apply(factor, length, point, image);
        fulcrum_anderson_step(&anderson, point, image);
    }
    double error = 0.0;
    for (size_t i = 0; i < length; i++) {
        error = fmax(error, fabs(point[i] - (double)i));
    }
    fulcrum_anderson_clear(&anderson);
    return error;
}

TEST(test_first_step_is_the_image)
{
    static const double factor[] = {0.5, 0.5};
    CU_ASSERT_DOUBLE_EQUAL(error_after(factor, 2, 1), 2.5, 1e-12);
}

/* As many steps as there are factors span all there is to correct. */
TEST(test_linear_map_with_few_modes_ends_at_once)
{
    static const double slow[] = {0.999, 0.9, 0.999, 0.9, 0.5, 0.5, 0.9, 0.999};
    CU_ASSERT_TRUE(error_after(slow, 8, 4) > 1.0);
    CU_ASSERT_TRUE(error_after(slow, 8, 5) < 1e-9);
    static const double alternating[] = {-0.99, 0.99, -0.99, 0.99};
    CU_ASSERT_TRUE(error_after(alternating, 4, 4) < 1e-9);
}

/* Plain iteration would leave 0.99^25 of the first error of 5: 3.9. */
TEST(test_many_modes_shrink_faster_than_plainly)
{
    static const double mixed[] = {0.99, 0.95, 0.9, 0.8, 0.6, 0.4, -0.5, -0.9};
    CU_ASSERT_TRUE(error_after(mixed, 8, 25) < 0.5);
}

TEST(test_fixed_point_is_kept)
{
    struct fulcrum_anderson anderson = {.length = 0};
    double point[2] = {1.0, 2.0};
    const double image[2] = {1.0, 2.0};
    ASSERT_OK(fulcrum_anderson_init(&anderson, 2, NULL));
    for (int i = 0; i < 8; i++) {
        fulcrum_anderson_step(&anderson, point, image);
    }
    CU_ASSERT_DOUBLE_EQUAL(point[0], 1.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(point[1], 2.0, 0.0);
    fulcrum_anderson_clear(&anderson);
}

TEST(test_too_long_a_vector_is_no_memory)
{
    struct fulcrum_anderson anderson = {.length = 7};
    struct fulcrum_error err = {.status = FULCRUM_OK};
    CU_ASSERT_EQUAL(
        fulcrum_anderson_init(&anderson, SIZE_MAX / 1024, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(anderson.length, 7);
}
