/* test_batch_means.c - intervals of simulated rates are Student's. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <math.h>

#include "tests/support/suite.h"

TEST(test_half_width_is_students)
{
    struct fulcrum_batch_means means = {.count = 0};
    CU_ASSERT(isinf(fulcrum_batch_means_half_width_rel(&means)));
    static const double window_s[] = {4.0, 5.0, 6.0, 5.0};
    for (size_t i = 0; i < 4; i++) {
        fulcrum_batch_means_add(&means, window_s[i]);
    }
    /* Mean 5, standard deviation sqrt(2/3), t(.975, 3) = 3.18244630528371. */
    assert_close("half-width", fulcrum_batch_means_half_width_rel(&means),
        3.18244630528371 * sqrt(2.0 / 3.0) / 2.0 / 5.0, 1e-9);
    /* Offsets -1, 0, 1, 0: no two neighbours differ from the mean. */
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_batch_means_correlation(&means), 0.0, 1e-12);
}

TEST(test_equal_windows_have_no_width_and_no_correlation)
{
    struct fulcrum_batch_means means = {.count = 0};
    for (int i = 0; i < 7; i++) {
        fulcrum_batch_means_add(&means, 0.5);
    }
    CU_ASSERT_EQUAL(fulcrum_batch_means_half_width_rel(&means), 0.0);
    CU_ASSERT_EQUAL(fulcrum_batch_means_correlation(&means), 0.0);
}

TEST(test_full_room_merges_neighbours)
{
    struct fulcrum_batch_means means = {.count = 0};
    double sum = 0.0;
    for (int i = 1; i <= 4 * FULCRUM_WINDOWS_MOST; i++) {
        fulcrum_batch_means_add(&means, (double)i);
        sum += (double)i;
        CU_ASSERT(means.count <= FULCRUM_WINDOWS_MOST);
    }
    CU_ASSERT_EQUAL(means.merged, 4);
    CU_ASSERT_EQUAL(means.count, FULCRUM_WINDOWS_MOST);
    CU_ASSERT_EQUAL(means.window_s[0], 1.0 + 2.0 + 3.0 + 4.0);
    double kept = 0.0;
    for (size_t i = 0; i < means.count; i++) {
        kept += means.window_s[i];
    }
    assert_close("sum", kept, sum, 1e-15);
    CU_ASSERT(fulcrum_batch_means_correlation(&means) > 0.9);
}
