/* reference_prediction.c - the points of a reference, predicted from one calibration.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulation says the value. Its draws would cost hundreds of simulations, so the
 * fast method solves them, and what it says is multiplied by what the simulation makes
 * of it at the calibration's own values: its error is much the same nearby.
 */
#include "calibrate/reference_prediction.h"

#include <math.h>
#include <string.h>

#include "model/try.h"

#define SEED           1
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

static enum fulcrum_status read_setting(const struct fulcrum_reference *reference,
    const struct fulcrum_reference_setting *from, struct fulcrum_setting *out,
    struct fulcrum_error *err)
{
    double per_actor = 1.0;
    const struct fulcrum_field *field = fulcrum_field_find(from->path);
    if (strcmp(from->path, "run.env_count") == 0) {
        field = fulcrum_field_find("run.actor_count");
        per_actor = reference->design.run.envs_per_actor;
    }
    if (field == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: points are set by '%s', which is no field of a design",
            reference->name, from->path);
    }
    *out = (struct fulcrum_setting){.field = field,
        .number = from->number / per_actor,
        .text = from->text[0] != '\0' ? from->text : NULL};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_point_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    if (from->setting_count > FULCRUM_POINT_SETTINGS_MOST) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: point %zu sets %zu fields: expected at most %d", reference->name,
            point, from->setting_count, (int)FULCRUM_POINT_SETTINGS_MOST);
    }
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < from->setting_count && status == FULCRUM_OK; i++) {
        status = read_setting(reference, &from->settings[i], &out[i], err);
    }
    *count = from->setting_count;
    return status;
}

/* Moves what the fast method's draws say to where the simulation is. */
static void move_intervals(
    const struct fulcrum_prediction *drawn, struct fulcrum_prediction *out)
{
    out->has_interval = drawn->has_interval;
    out->draws = drawn->draws;
    out->bottleneck_agree_frac = drawn->bottleneck_agree_frac;
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        double factor =
            drawn->value[i] > 0.0 ? out->value[i] / drawn->value[i] : (double)NAN;
        out->lo[i] = drawn->lo[i] * factor;
        out->hi[i] = drawn->hi[i] * factor;
    }
}

static void copy_draws(
    const struct fulcrum_predictor *predictor, double factor, double *drawn_per_s)
{
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    for (size_t k = 0; k < count; k++) {
        drawn_per_s[k] =
            factor * draws[k * FULCRUM_OUTPUT_COUNT + FULCRUM_OUTPUT_steps_per_s];
    }
}

static enum fulcrum_status predict_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_predict_options exact = {
        .solver = {.method = FULCRUM_METHOD_SIMULATE,
            .seed = SEED,
            .half_width_rel = HALF_WIDTH_REL,
            .max_steps = MOST_STEPS}};
    const struct fulcrum_predict_options quick = {
        .solver = {.method = FULCRUM_METHOD_FAST, .seed = SEED},
        .draws = FULCRUM_POINT_DRAWS};
    struct fulcrum_prediction drawn;
    TRY(fulcrum_predictor_run(predictor, point, &exact, out, err));
    TRY(fulcrum_predictor_run(predictor, point, &quick, &drawn, err));
    move_intervals(&drawn, out);
    if (drawn_per_s != NULL) {
        copy_draws(predictor,
            out->value[FULCRUM_OUTPUT_steps_per_s] /
                drawn.value[FULCRUM_OUTPUT_steps_per_s],
            drawn_per_s);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict_points(struct fulcrum_predictor *predictor,
    const struct fulcrum_reference *reference, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
        struct fulcrum_point point = {.varied = settings, .seed = SEED};
        TRY(fulcrum_point_settings(reference, i, settings, &point.varied_count, err));
        double *row =
            drawn_per_s != NULL ? drawn_per_s + i * FULCRUM_POINT_DRAWS : NULL;
        TRY(predict_point(predictor, &point, &out[i], row, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_predictor_open(
    struct fulcrum_reference_predictor *out, const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    const struct fulcrum_calibration *const calibrations[] = {calibration};
    const struct fulcrum_scenario_inputs inputs = {.base = &reference->design,
        .calibrations = calibrations,
        .calibration_count = 1};
    *out = (struct fulcrum_reference_predictor){.scenario = NULL};
    TRY(fulcrum_scenario_new(&inputs, &out->scenario, err));
    return fulcrum_predictor_new(out->scenario, &out->predictor, err);
}

void fulcrum_reference_predictor_close(struct fulcrum_reference_predictor *opened)
{
    fulcrum_predictor_free(opened->predictor);
    fulcrum_scenario_free(opened->scenario);
}

enum fulcrum_status fulcrum_reference_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err)
{
    struct fulcrum_reference_predictor opened;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_predictor_open(&opened, reference, calibration, err));
    status = predict_points(opened.predictor, reference, out, drawn_per_s, err);
end:
    fulcrum_reference_predictor_close(&opened);
    return status;
}
