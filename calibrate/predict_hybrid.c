/* predict_hybrid.c - references of kind hybrid_gain: parameters that meet a gain. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/predict_hybrid.h"

#include <math.h>
#include <string.h>

#include "model/cluster.h"

/* Workers of two devices, on a number of them that cancels out. */
static const double parts = 2;
static const struct fulcrum_layout layout = {32, 8, 2, 1};

/* SU_2 = 2 and E_N / E_{N/2} = 2: twice as fast. */
static const double most_gain_frac = 1;

/* The gain of the model with the parameters that are to meet it. */
static double met_gain_frac(double gain_frac)
{
    double gain = 1 + gain_frac;
    double speedup = 0.5 * (gain + parts);
    double batch = layout.node_count * layout.node_device_count;
    const struct fulcrum_cluster cluster = {.step_s = 1,
        .batch_size = 1,
        .update_count = 1,
        .critical_batch_size =
            batch / fulcrum_hybrid_batch_rel(gain, speedup, parts, 1),
        .model_parallel_frac = fulcrum_model_parallel_frac(speedup, parts)};
    return fulcrum_hybrid_gain(&cluster, &layout) - 1;
}

static enum fulcrum_status find_gain(const struct fulcrum_reference *reference,
    size_t point, size_t *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    for (size_t i = 0; i < from->observation_count; i++) {
        double value = from->observations[i].value;
        if (strcmp(from->observations[i].quantity, "least_gain_frac") != 0) {
            continue;
        }
        *out = i;
        return value > 0 && value < most_gain_frac
                   ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                         "reference %s: points[%zu].observed.least_gain_frac = %.6g, "
                         "between 0 and %.6g expected: no parameters meet it",
                         reference->name, point, value, most_gain_frac);
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no least_gain_frac, a share expected",
        reference->name, point);
}

enum fulcrum_status fulcrum_predict_hybrid(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = fulcrum_comparison_init(&comparison, reference, err);
    for (size_t i = 0; status == FULCRUM_OK && i < reference->point_count; i++) {
        size_t observation = 0;
        status = find_gain(reference, i, &observation, err);
        if (status == FULCRUM_OK) {
            double gain = reference->points[i].observations[observation].value;
            struct fulcrum_compared *item = fulcrum_comparison_add(
                &comparison, i, observation, met_gain_frac(gain));
            item->is_fitted = 1;
            item->baseline[FULCRUM_BASELINE_BOUNDS] = most_gain_frac;
        }
    }
    return fulcrum_comparison_end(&comparison, status, out);
}
