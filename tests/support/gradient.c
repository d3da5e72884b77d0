/* gradient.c - holds gradients against central differences of a loss. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/gradient.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>

#include "calibrate/statistics.h"

static double difference(const struct gradient_check *check, size_t i, float step)
{
    float kept = check->values[i];
    float high = kept + step;
    float low = kept - step;
    check->values[i] = high;
    double loss_high = check->loss(check->context);
    check->values[i] = low;
    double loss_low = check->loss(check->context);
    check->values[i] = kept;
    return (loss_high - loss_low) / ((double)high - (double)low);
}

static double smallest_error(const struct gradient_check *check, size_t i)
{
    const float steps[] = {0x1p-8F, 0x1p-10F, 0x1p-12F};
    double smallest = HUGE_VAL;
    for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
        double error = difference(check, i, steps[j]) - (double)check->gradients[i];
        smallest = fmin(smallest, fabs(error));
    }
    return smallest;
}

void gradient_assert(const struct gradient_check *check)
{
    double largest = 0.0;
    size_t wrong = 0;
    for (size_t i = 0; i < check->count; i++) {
        largest = fmax(largest, fabs((double)check->gradients[i]));
    }
    for (size_t i = 0; i < check->count; i++) {
        double error = smallest_error(check, i);
        if (!(error <= 0.01 * largest)) {
            wrong++;
            printf("  %s[%zu]: gradient %g is %g off, the largest being %g\n",
                check->what, i, (double)check->gradients[i], error, largest);
        }
    }
    CU_ASSERT_TRUE(largest > 0.0);
    CU_ASSERT_EQUAL(wrong, 0);
}

void gradient_fill(float *values, size_t count, unsigned seed)
{
    struct fulcrum_random random = fulcrum_random_seeded(seed);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)fulcrum_random_between(&random, -1.0, 1.0);
    }
}

double gradient_dot(const float *weights, const float *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)weights[i] * (double)values[i];
    }
    return sum;
}
