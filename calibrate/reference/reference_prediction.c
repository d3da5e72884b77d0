/* reference_prediction.c - points of a reference, predicted from one calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulation says the value. Its draws would cost hundreds of simulations, so the
 * fast method solves them, and what it says is multiplied by what the simulation makes
 * of it at the calibration's own values: its error is much the same nearby.
 */

#include "calibrate/reference/reference_prediction.h"

#include <math.h>
#include <string.h>

#include "model/predict/to_network.h"
#include "model/quantity.h"
#include "model/try.h"

#define SEED           1
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

enum fulcrum_status fulcrum_point_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    FAIL_IF(from->setting_count > FULCRUM_POINT_SETTINGS_MOST, err, FULCRUM_ERR_RANGE,
        "%s: point %zu sets %zu fields: expected at most %d", reference->name, point,
        from->setting_count, (int)FULCRUM_POINT_SETTINGS_MOST);
    for (size_t i = 0; i < from->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &from->settings[i];
        bool counts_envs = strcmp(setting->path, "run.env_count") == 0;
        const struct fulcrum_field *field =
            fulcrum_field_find(counts_envs ? "run.actor_count" : setting->path);
        FAIL_IF(field == NULL, err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: points are set by '%s', which is no field of a design",
            reference->name, setting->path);
        double per_actor = counts_envs ? reference->design.run.envs_per_actor : 1.0;
        out[i] = (struct fulcrum_setting){.field = field,
            .number = setting->number / per_actor,
            .text = setting->text[0] != '\0' ? setting->text : NULL};
    }
    *count = from->setting_count;
    return FULCRUM_OK;
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
    /* Moves what the fast method's draws say to where the simulation is. */
    out->has_interval = drawn.has_interval;
    out->draws = drawn.draws;
    out->bottleneck_agree_frac = drawn.bottleneck_agree_frac;
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        double factor =
            drawn.value[i] > 0.0 ? out->value[i] / drawn.value[i] : (double)NAN;
        out->lo[i] = drawn.lo[i] * factor;
        out->hi[i] = drawn.hi[i] * factor;
    }
    const enum fulcrum_predicted rate = FULCRUM_OUTPUT_steps_per_s;
    double factor = out->value[rate] / drawn.value[rate];
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    for (size_t k = 0; drawn_per_s != NULL && k < count; k++) {
        drawn_per_s[k] = factor * draws[k * FULCRUM_OUTPUT_COUNT + rate];
    }
    return FULCRUM_OK;
}

/* Which stages the model has a run's threads in. */

/*
 * A solution knows stations, a recorder threads. By Little's law the mean number of
 * requests at a station is their rate times the time that each is there, and each
 * request being worked on keeps a thread: so busy shares and residence times are
 * numbers of threads, and what is left of the threads waits.
 */

static enum fulcrum_status predict_stages(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *at, const struct fulcrum_prediction *point,
    struct fulcrum_stage_prediction *out, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    const struct fulcrum_design *design = NULL;
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    TRY(fulcrum_predictor_design(predictor, at, &design, err));
    TRY(fulcrum_design_to_network(design, &replicas, err));
    /* Solving adds to the step what waking the server takes of it. */
    TRY(fulcrum_solve_pausing(&replicas, &fast, &solution, err));
    /* Of the time that a thread is at a step, the environments' own share. */
    double whole_s = replicas.network.step.mean_s;
    double own_s = design->workload.step.mean_s * replicas.steps_per_request;
    double step_frac = whole_s > 0.0 ? fmin(own_s / whole_s, 1.0) : 0.0;
    const double *value = point->value;
    double *threads = out->thread_count;
    double servers = replicas.count;
    bool trains = replicas.network.training.env_steps_per_train_step > 0.0;
    out->steps_per_s = value[FULCRUM_OUTPUT_steps_per_s];
    out->requests_per_s = out->steps_per_s / replicas.steps_per_request;
    out->residence = (struct fulcrum_residence){value[FULCRUM_OUTPUT_cpu_residence_s],
        value[FULCRUM_OUTPUT_host_residence_s], value[FULCRUM_OUTPUT_gpu_residence_s],
        value[FULCRUM_OUTPUT_delay_s]};
    double stepping = value[FULCRUM_OUTPUT_cpu_thread_busy_frac] * servers *
                      fulcrum_cpu_servers(&replicas.network.cpu);
    double batches_per_s = out->steps_per_s / value[FULCRUM_OUTPUT_mean_batch];
    double inferring = batches_per_s * out->residence.gpu_s;
    /* What sharing the learner adds to one of the two it adds to the other. */
    double shared = inferring - servers * value[FULCRUM_OUTPUT_gpu_inference_busy_frac];
    double training =
        trains ? servers * value[FULCRUM_OUTPUT_gpu_train_busy_frac] + shared : 0.0;
    double handing =
        servers * value[FULCRUM_OUTPUT_host_busy_frac] + stepping * (1.0 - step_frac);
    threads[FULCRUM_STAGE_SIMULATION] = stepping * step_frac;
    threads[FULCRUM_STAGE_INFERENCE] = inferring;
    threads[FULCRUM_STAGE_TRAINING] = training;
    threads[FULCRUM_STAGE_HANDOFF] = handing;
    threads[FULCRUM_STAGE_REPLAY] = FULCRUM_UNKNOWN;
    threads[FULCRUM_STAGE_WAIT] = servers * (trains ? 2.0 : 1.0) + point->actor_count -
                                  stepping * step_frac - inferring - training - handing;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference_prediction *out, struct fulcrum_error *err)
{
    const struct fulcrum_scenario_inputs inputs = {.base = &reference->design,
        .calibrations = &calibration,
        .calibration_count = 1};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_predictor *predictor = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_new(&inputs, &scenario, err));
    TRY_OR_END(fulcrum_predictor_new(scenario, &predictor, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
        struct fulcrum_point point = {.varied = settings, .seed = SEED};
        double *drawn_per_s = out->drawn_per_s != NULL
                                  ? out->drawn_per_s + i * FULCRUM_POINT_DRAWS
                                  : NULL;
        TRY_OR_END(
            fulcrum_point_settings(reference, i, settings, &point.varied_count, err));
        TRY_OR_END(predict_point(predictor, &point, &out->points[i], drawn_per_s, err));
        if (out->stages != NULL) {
            TRY_OR_END(predict_stages(
                predictor, &point, &out->points[i], &out->stages[i], err));
        }
    }
end:
    fulcrum_predictor_free(predictor);
    fulcrum_scenario_free(scenario);
    return status;
}
