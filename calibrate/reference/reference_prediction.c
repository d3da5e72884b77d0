/* reference_prediction.c - the points of a reference, predicted from one calibration.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulation says the value. Its draws would cost hundreds of simulations, so the
 * fast method solves them, and what it says is multiplied by what the simulation makes
 * of it at the calibration's own values: its error is much the same nearby.
 */

#include "calibrate/reference/reference_prediction.h"

#include <math.h>
#include <string.h>

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/network/network.h"
#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "model/predict/to_network.h"
#include "model/quantity.h"
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
    FAIL_IF(field == NULL, err, FULCRUM_ERR_UNKNOWN_NAME,
        "%s: points are set by '%s', which is no field of a design", reference->name,
        from->path);
    *out = (struct fulcrum_setting){.field = field,
        .number = from->number / per_actor,
        .text = from->text[0] != '\0' ? from->text : NULL};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_point_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    FAIL_IF(from->setting_count > FULCRUM_POINT_SETTINGS_MOST, err, FULCRUM_ERR_RANGE,
        "%s: point %zu sets %zu fields: expected at most %d", reference->name, point,
        from->setting_count, (int)FULCRUM_POINT_SETTINGS_MOST);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < from->setting_count && status == FULCRUM_OK; i++) {
        status = read_setting(reference, &from->settings[i], &out[i], err);
    }
    *count = from->setting_count;
    return status;
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

/* Something done for each point of a reference. */
typedef enum fulcrum_status visit_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, size_t index, void *visitor,
    struct fulcrum_error *err);

static enum fulcrum_status visit_points(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, visit_point *visit, void *visitor,
    struct fulcrum_error *err)
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
        TRY_OR_END(
            fulcrum_point_settings(reference, i, settings, &point.varied_count, err));
        TRY_OR_END(visit(predictor, &point, i, visitor, err));
    }
end:
    fulcrum_predictor_free(predictor);
    fulcrum_scenario_free(scenario);
    return status;
}

struct predictions {
    struct fulcrum_prediction *out;
    double *drawn_per_s;
};

/* A visit_point. */
static enum fulcrum_status add_prediction(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, size_t index, void *visitor,
    struct fulcrum_error *err)
{
    const struct predictions *to = visitor;
    double *row =
        to->drawn_per_s != NULL ? to->drawn_per_s + index * FULCRUM_POINT_DRAWS : NULL;
    return predict_point(predictor, point, &to->out[index], row, err);
}

enum fulcrum_status fulcrum_reference_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err)
{
    struct predictions predictions = {.out = out};
    predictions.drawn_per_s = drawn_per_s;
    return visit_points(reference, calibration, add_prediction, &predictions, err);
}

/* Which stages the model has a run's threads in. */

/*
 * A solution knows stations, a recorder threads. By Little's law the mean number of
 * requests at a station is their rate times the time that each is there, and each
 * request being worked on keeps a thread: so busy shares and residence times are
 * numbers of threads, and what is left of the threads waits.
 */

/* Of the time that a thread is at a step, the environments' own share. */
static enum fulcrum_status step_share(const struct fulcrum_design *design,
    struct fulcrum_replicas *replicas, double *out, struct fulcrum_error *err)
{
    /* Solving adds to the step what waking the server takes of it. */
    const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    struct fulcrum_solution solution;
    TRY(fulcrum_design_to_network(design, replicas, err));
    TRY(fulcrum_solve_pausing(replicas, &fast, &solution, err));
    double whole_s = replicas->network.step.mean_s;
    double own_s = design->workload.step.mean_s * replicas->steps_per_request;
    *out = whole_s > 0.0 ? fmin(own_s / whole_s, 1.0) : 0.0;
    return FULCRUM_OK;
}

static void split_stages(const struct fulcrum_prediction *point,
    const struct fulcrum_replicas *replicas, double step_frac,
    struct fulcrum_stage_prediction *out)
{
    const double *value = point->value;
    double *threads = out->thread_count;
    double servers = replicas->count;
    int trains = replicas->network.training.env_steps_per_train_step > 0.0;
    out->steps_per_s = value[FULCRUM_OUTPUT_steps_per_s];
    out->requests_per_s = out->steps_per_s / replicas->steps_per_request;
    out->residence = (struct fulcrum_residence){value[FULCRUM_OUTPUT_cpu_residence_s],
        value[FULCRUM_OUTPUT_host_residence_s], value[FULCRUM_OUTPUT_gpu_residence_s],
        value[FULCRUM_OUTPUT_delay_s]};
    double stepping = value[FULCRUM_OUTPUT_cpu_thread_busy_frac] * servers *
                      fulcrum_cpu_servers(&replicas->network.cpu);
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
}

struct stages {
    const struct fulcrum_prediction *points;
    struct fulcrum_stage_prediction *out;
};

/* A visit_point. */
static enum fulcrum_status add_stages(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, size_t index, void *visitor,
    struct fulcrum_error *err)
{
    const struct stages *to = visitor;
    const struct fulcrum_design *design = NULL;
    struct fulcrum_replicas replicas;
    double step_frac = 0.0;
    TRY(fulcrum_predictor_design(predictor, point, &design, err));
    TRY(step_share(design, &replicas, &step_frac, err));
    split_stages(&to->points[index], &replicas, step_frac, &to->out[index]);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_stage_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_prediction *points, struct fulcrum_stage_prediction *out,
    struct fulcrum_error *err)
{
    struct stages stages = {points, out};
    return visit_points(reference, calibration, add_stages, &stages, err);
}
