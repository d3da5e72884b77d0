/* validation.c - every reference predicted by what predicts its kind. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/validation.h"

#include <stdio.h>

#include "calibrate/predict_curve.h"
#include "calibrate/predict_power.h"
#include "calibrate/predict_throughput.h"
#include "presets/preset.h"

static enum fulcrum_status predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err)
{
    switch (reference->predictor) {
    case FULCRUM_PREDICTOR_THROUGHPUT:
        return calibration != NULL
                   ? fulcrum_predict_throughput(reference, calibration, out, err)
                   : fulcrum_fail(err, FULCRUM_ERR_MISSING,
                         "no calibration goes with its workload");
    case FULCRUM_PREDICTOR_CPU_CURVE:
        return fulcrum_predict_curve(reference, out, err);
    case FULCRUM_PREDICTOR_GPU_POWER:
    case FULCRUM_PREDICTOR_SERVER_POWER:
        return fulcrum_predict_power(reference, out, err);
    case FULCRUM_PREDICTOR_NONE:
    case FULCRUM_PREDICTOR_SM_SCALING:
    case FULCRUM_PREDICTOR_STAGE_SHARES:
    case FULCRUM_PREDICTOR_COUNT:
    default:
        return fulcrum_fail(
            err, FULCRUM_ERR_UNSUPPORTED, "nothing predicts points of this kind yet");
    }
}

/* The calibration that predictions of a reference start from; NULL: none. */
static enum fulcrum_status load_calibration(const struct fulcrum_reference *reference,
    struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    const char *name = reference->calibration[0] != '\0'
                           ? reference->calibration
                           : reference->design.workload.calibration;
    return name[0] != '\0' && reference->predictor == FULCRUM_PREDICTOR_THROUGHPUT
               ? fulcrum_calibration_load(name, out, err)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_validate(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out,
    struct fulcrum_error *err)
{
    struct fulcrum_calibration *own = NULL;
    struct fulcrum_error why;
    why.detail[0] = '\0';
    *out = (struct fulcrum_validation){.reference = reference};
    enum fulcrum_status status =
        calibration == NULL ? load_calibration(reference, &own, err) : FULCRUM_OK;
    if (status != FULCRUM_OK) {
        return status;
    }
    calibration = calibration != NULL ? calibration : own;
    if (calibration != NULL) {
        (void)snprintf(
            out->calibration, sizeof out->calibration, "%s", calibration->name);
    }
    status = predict(reference, calibration, &out->comparison, &why);
    fulcrum_calibration_free(own);
    if (status == FULCRUM_ERR_NO_MEMORY) {
        return fulcrum_fail(err, status, "%s: no memory", reference->name);
    }
    if (status != FULCRUM_OK) {
        out->comparison = (struct fulcrum_comparison){.count = 0};
        (void)snprintf(out->reason, sizeof out->reason, "%.399s", why.detail);
    }
    return FULCRUM_OK;
}

void fulcrum_validation_clear(struct fulcrum_validation *validation)
{
    fulcrum_comparison_clear(&validation->comparison);
}
