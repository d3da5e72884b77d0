/* predict_gpu_time.c - references of kind gpu_time: shares from ideal components. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/predict_gpu_time.h"

#include <math.h>
#include <string.h>

#include "model/idealise.h"
#include "model/scale.h"
#include "model/try.h"

static enum fulcrum_status check_machine(
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    const struct fulcrum_machine *machine = &reference->design.machine;
    if (machine->accelerator != FULCRUM_ACCELERATOR_GPU) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "reference %s: machine %s has no GPU", reference->name, machine->name);
    }
    if (isnan(machine->gpu.flop_per_sm_cycle) || isnan(machine->gpu.dram_byte_per_s)) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: machine %s gives no gpu.flop_per_sm_cycle or no "
            "gpu.dram_byte_per_s, which would be made ideal",
            reference->name, machine->name);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status find_component(const struct fulcrum_reference *reference,
    size_t point, size_t *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference_setting *setting =
        fulcrum_reference_find_setting(&reference->points[point], "component");
    if (setting == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: points[%zu].set.component is missing, a text expected",
            reference->name, point);
    }
    *out = fulcrum_ideal_find(setting->text);
    if (!fulcrum_ideal_is_gpu(*out) || *out == FULCRUM_IDEAL_LAUNCH) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "reference %s: points[%zu].set.component = '%s': no component of a GPU's "
            "kernels",
            reference->name, point, setting->text);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status find_share(const struct fulcrum_reference *reference,
    size_t point, size_t *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    for (size_t i = 0; i < from->observation_count; i++) {
        double value = from->observations[i].value;
        if (strcmp(from->observations[i].quantity, "gpu_time_frac") != 0) {
            continue;
        }
        *out = i;
        return value > 0.0 && value <= 1.0
                   ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                         "reference %s: points[%zu].observed.gpu_time_frac = %.6g: "
                         "expected a share above 0",
                         reference->name, point, value);
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no gpu_time_frac", reference->name,
        point);
}

/* The share that is gone of all kernels' time. */
static enum fulcrum_status share_of(const struct fulcrum_design *design,
    size_t component, double *out, struct fulcrum_error *err)
{
    struct fulcrum_setting settings[FULCRUM_IDEAL_SETTINGS_MOST];
    struct fulcrum_design ideal = *design;
    size_t count = fulcrum_ideal_settings(1U << component, settings);
    for (size_t i = 0; i < count; i++) {
        TRY(fulcrum_field_set_number(
            settings[i].field, &ideal, settings[i].number, err));
    }
    struct fulcrum_gpu_scale scale = fulcrum_gpu_scale(
        &design->workload.network, &design->machine.gpu, &ideal.machine.gpu);
    *out = 1.0 - fulcrum_gpu_scale_sum(&scale);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_point(
    size_t point, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = comparison->reference;
    size_t component = 0;
    size_t observation = 0;
    double share = 0.0;
    TRY(find_component(reference, point, &component, err));
    TRY(find_share(reference, point, &observation, err));
    TRY(share_of(&reference->design, component, &share, err));
    struct fulcrum_compared *item =
        fulcrum_comparison_add(comparison, point, observation, share);
    item->is_fitted = 1;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_gpu_time(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_machine(reference, err));
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        TRY_OR_END(predict_point(i, &comparison, err));
    }
end:
    return fulcrum_comparison_end(&comparison, status, out);
}
