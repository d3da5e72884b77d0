/* stage_prediction.c - which stages the model has a run's threads in. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A solution knows stations, a recorder threads. By Little's law the mean number of
 * requests at a station is their rate times the time that each is there, and each
 * request being worked on keeps a thread: so busy shares and residence times are
 * numbers of threads, and what is left of the threads waits.
 */
#include "calibrate/stage_prediction.h"

#include <math.h>

#include "calibrate/reference_prediction.h"
#include "model/lower.h"
#include "model/pauses.h"
#include "model/quantity.h"
#include "model/try.h"

/* Of the time that a thread is at a step, the environments' own share. */
static enum fulcrum_status step_share(const struct fulcrum_design *design,
    struct fulcrum_shards *shards, double *out, struct fulcrum_error *err)
{
    /* Solving adds to the step what waking the server takes of it. */
    const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    struct fulcrum_solution solution;
    TRY(fulcrum_design_lower(design, shards, err));
    TRY(fulcrum_solve_pausing(shards, &fast, &solution, err));
    double whole_s = shards->network.step.mean_s;
    double own_s = design->workload.step.mean_s * shards->steps_per_request;
    *out = whole_s > 0.0 ? fmin(own_s / whole_s, 1.0) : 0.0;
    return FULCRUM_OK;
}

static void fill(const struct fulcrum_prediction *point,
    const struct fulcrum_shards *shards, double step_frac,
    struct fulcrum_stage_prediction *out)
{
    const double *value = point->value;
    double *threads = out->thread_count;
    double servers = shards->count;
    int trains = shards->network.training.env_steps_per_train_step > 0.0;
    out->steps_per_s = value[FULCRUM_OUTPUT_steps_per_s];
    out->requests_per_s = out->steps_per_s / shards->steps_per_request;
    out->residence = (struct fulcrum_residence){value[FULCRUM_OUTPUT_cpu_residence_s],
        value[FULCRUM_OUTPUT_host_residence_s], value[FULCRUM_OUTPUT_gpu_residence_s],
        value[FULCRUM_OUTPUT_delay_s]};
    double stepping = value[FULCRUM_OUTPUT_cpu_thread_busy_frac] * servers *
                      fulcrum_cpu_servers(&shards->network.cpu);
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

static enum fulcrum_status predict_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_prediction *predicted,
    struct fulcrum_stage_prediction *out, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = NULL;
    struct fulcrum_shards shards;
    double step_frac = 0.0;
    TRY(fulcrum_predictor_design(predictor, point, &design, err));
    TRY(step_share(design, &shards, &step_frac, err));
    fill(predicted, &shards, step_frac, out);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_points(struct fulcrum_predictor *predictor,
    const struct fulcrum_reference *reference, const struct fulcrum_prediction *points,
    struct fulcrum_stage_prediction *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
        struct fulcrum_point point = {.varied = settings};
        TRY(fulcrum_point_settings(reference, i, settings, &point.varied_count, err));
        TRY(predict_point(predictor, &point, &points[i], &out[i], err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_stage_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_prediction *points, struct fulcrum_stage_prediction *out,
    struct fulcrum_error *err)
{
    struct fulcrum_reference_predictor opened;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_predictor_open(&opened, reference, calibration, err));
    status = predict_points(opened.predictor, reference, points, out, err);
end:
    fulcrum_reference_predictor_close(&opened);
    return status;
}
