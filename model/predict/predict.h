/* predict.h - everything there is to say about one design point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_PREDICT_H
#define FULCRUM_MODEL_PREDICT_PREDICT_H

#include <stdbool.h>

#include "model/predict/scenario.h"
#include "model/predict/solver.h"
#include "model/string.h"

/*
 * One row an output: name, unit, meaning. NAN where it does not apply (GPU figures of a
 * machine without one) or where the machine gives no watts.
 */
/* clang-format off */
#define FULCRUM_OUTPUT_LIST(X)                                                                                                                                      \
    X(steps_per_s,                    "1/s", "agent steps",                    "agent steps of all actors")                                                         \
    X(frames_per_s,                   "1/s", "environment frames",             "environment frames: steps times frame skip")                                        \
    X(runtime_s,                      "s",   "whole training",                 "the whole training")                                                                \
    X(quality_runtime_s,              "s",   NULL,                             "the whole training, to the quality it has with the workload's own batch")           \
    X(sample_efficiency_frac,         "",    NULL,                             "samples to that quality with the own batch, over those with the batch of all GPUs") \
    X(train_batch,                    "",    NULL,                             "sequences or samples in a training step of all GPUs")                               \
    X(allreduce_s,                    "s",   NULL,                             "of a training step: gradients summed, as far as computing does not hide it")        \
    X(mean_batch,                     "",    "mean inference batch",           "observations in an inference batch")                                                \
    X(cpu_thread_busy_frac,           "",    "CPU threads busy",               "threads open to actors that are stepping")                                          \
    X(cpu_core_busy_frac,             "",    NULL,                             "cores with a stepping thread")                                                      \
    X(host_busy_frac,                 "",    "host stage busy",                "host stage")                                                                        \
    X(gpu_busy_frac,                  "",    "GPU busy",                       "GPU or learner core: inference or training active")                                 \
    X(gpu_inference_busy_frac,        "",    "GPU inferring",                  "inference work")                                                                    \
    X(gpu_train_busy_frac,            "",    "GPU training",                   "training work")                                                                     \
    X(sm_active_frac,                 "",    NULL,                             "SM activity that drives GPU power")                                                 \
    X(cpu_residence_s,                "s",   NULL,                             "of a cycle: waiting for a thread and stepping")                                     \
    X(host_residence_s,               "s",   NULL,                             "of a cycle: waiting for a batch and on the host")                                   \
    X(gpu_residence_s,                "s",   NULL,                             "of a cycle: waiting for the GPU and on it")                                         \
    X(delay_s,                        "s",   NULL,                             "of a cycle: delivery of the action")                                                \
    X(cpu_w,                          "W",   NULL,                             "processors")                                                                        \
    X(gpu_w,                          "W",   "GPU power",                      "GPUs used")                                                                         \
    X(system_w,                       "W",   "system power",                   "behind the plug, everything installed")                                             \
    X(gpu_j,                          "J",   NULL,                             "GPUs used, the whole training")                                                     \
    X(system_j,                       "J",   "energy of the training, system", "behind the plug, the whole training")                                               \
    X(steps_per_j_gpu,                "1/J", "steps per GPU joule",            "performance per GPU watt")                                                          \
    X(steps_per_j_system,             "1/J", "steps per system joule",         "performance per system watt")                                                       \
    X(cpu_gpu_ratio_machine,          "",    NULL,                             "hardware threads / SMs, whole machine")                                             \
    X(cpu_gpu_ratio_used,             "",    "CPU/GPU ratio",                  "hardware threads / SMs of the run")                                                 \
    X(actor_threads_per_learner_core, "",    "actor threads per learner core", "threads open to actors / cores of a CPU learner") \
    X(trajectories_per_s,             "1/s", "trajectories",                   "of agents, from start to end")                                                         \
    X(tokens_per_s,                   "1/s", "tokens",                         "decoded")                                                                              \
    X(train_period_s,                 "s",  "between training steps",         "of agents: from one training step to the next")                                        \
    X(staleness,                      "",   NULL,                             "training steps that end while a trajectory is under way")                              \
    X(sandbox_count,                  "",   NULL,                             "of agents: trajectories that have been begun and have not ended")                      \
    X(cores_per_gpu,                  "",   "CPU cores per rollout GPU",      "of agents: cores / GPUs that decode")                                                  \
    X(trajectory_system_j,        "J",  "energy of a trajectory, system", "behind the plug")                                                                      \
    X(token_system_j,             "J",  NULL,                             "behind the plug, a decoded token")
/* clang-format on */

enum fulcrum_predicted {
#define X(name, unit, title, meaning) FULCRUM_OUTPUT_##name,
    FULCRUM_OUTPUT_LIST(X) FULCRUM_OUTPUT_COUNT
#undef X
};

/* What an interval of steps_per_s comes from. */
enum fulcrum_interval_part {
    FULCRUM_PART_PARAMETERS,  /* the calibration's errors and the priors */
    FULCRUM_PART_DRIFT,       /* of the machine's speed, run.drift */
    FULCRUM_PART_SCALING,     /* from another CPU or GPU */
    FULCRUM_PART_DISCREPANCY, /* of the model, beyond what a fit has seen too */
    FULCRUM_PARTS
};

struct fulcrum_prediction {
    double value[FULCRUM_OUTPUT_COUNT]; /* medians over the draws; without, at_fit */
    double
        at_fit[FULCRUM_OUTPUT_COUNT]; /* at the best fit: every number at its value */
    bool has_interval;
    double lo[FULCRUM_OUTPUT_COUNT]; /* 5 % and 95 % quantiles over the draws */
    double hi[FULCRUM_OUTPUT_COUNT];
    /* Shares of the variance of ln(steps_per_s) over the draws: squared correlations
     * with each cause, and what they leave to the parameters; 0 without draws. */
    double part_frac[FULCRUM_PARTS];
    double draws;                 /* that gave a result */
    double bottleneck_agree_frac; /* draws with the same bottleneck; 1 without draws */
    double solver_lo_steps_per_s; /* 95 % interval of a simulation; the value else */
    double solver_hi_steps_per_s;
    double solver_error_rel; /* of steps_per_s, as fulcrum_solution's error_rel */
    double actor_count;      /* of the run */
    enum fulcrum_method method;
    enum fulcrum_bottleneck bottleneck;
    unsigned flags;
};

struct fulcrum_predict_options {
    struct fulcrum_solver_options solver; /* its seed is the base of every stream */
    double draws;                         /* for the intervals; 0: no intervals */
    uint64_t point_index;                 /* of the design point in its sweep */
    /* Much like the point that the predictor ran last: equations begin where those
     * ended. Changes their results by no more than 1e-9. */
    bool follows;
};

/*
 * Predicts one design point and, from draws of the calibrations and priors, medians and
 * intervals. Draw k uses the same parameters at every point, so that differences
 * between points are not blurred. Where simulations are allowed, equations solve the
 * draws, moved to where the simulation of the best fit is; draws whose actors share
 * threads in slices of time, which equations do not know, are simulated, coarsely.
 *   varied   on top of the scenario's settings
 *   fails    as fulcrum_scenario_design and fulcrum_solve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict(
    const struct fulcrum_scenario *scenario, const struct fulcrum_point *point,
    const struct fulcrum_predict_options *options, struct fulcrum_prediction *out,
    struct fulcrum_error *err);

/*
 * Predicts many points of one scenario, keeping what they have in common. For one
 * thread at a time. Opaque.
 */
struct fulcrum_predictor;

/*
 *   scenario  borrowed, as long as the predictor is used
 *   out       the caller frees it with fulcrum_predictor_free
 *   fails     FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predictor_new(
    const struct fulcrum_scenario *scenario, struct fulcrum_predictor **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_predictor_free(struct fulcrum_predictor *predictor);

/* As fulcrum_predict, with the same result. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predictor_run(
    struct fulcrum_predictor *predictor, const struct fulcrum_point *point,
    const struct fulcrum_predict_options *options, struct fulcrum_prediction *out,
    struct fulcrum_error *err);

/*
 * From now on points are predicted in the sample that `z` describes
 * (fulcrum_scenario_design_in); draws are as ever.
 *   z    borrowed as long as the predictor is used; NULL: at every number's value
 */
void fulcrum_predictor_place(struct fulcrum_predictor *predictor, const double *z);

/*
 * What the draws of the point predicted last gave: `count` rows of FULCRUM_OUTPUT_COUNT
 * values, draw after draw, all NAN for a draw that cannot run. NULL where there were no
 * draws. Borrowed: valid until the predictor is used again.
 */
const double *fulcrum_predictor_draws(
    const struct fulcrum_predictor *predictor, size_t *count);

/*
 * One draw of a point, point->draw from 1: the same values as its row among the draws
 * of the whole point, whose prediction need not be at hand.
 *   best_fit of the same point and options; only its method and at_fit are read
 *   values   FULCRUM_OUTPUT_COUNT, untouched on failure
 *   fails    as fulcrum_predict: where the draw cannot run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predictor_draw(
    struct fulcrum_predictor *predictor, const struct fulcrum_point *point,
    const struct fulcrum_predict_options *options,
    const struct fulcrum_prediction *best_fit, double *values);

/*
 * The design of a point, as fulcrum_scenario_design makes it.
 *   out      borrowed: valid until the predictor is used again
 *   fails    as fulcrum_scenario_design
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predictor_design(
    struct fulcrum_predictor *predictor, const struct fulcrum_point *point,
    const struct fulcrum_design **out, struct fulcrum_error *err);

/* "parameters", "drift", ...; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_interval_part_name(size_t part);

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_output_name(size_t output);
/* The output of that name; FULCRUM_OUTPUT_COUNT: there is none. */
size_t fulcrum_output_find(const char *name);
/* Room for fulcrum_names_hint over the names of outputs, and of fields besides. */
enum { FULCRUM_OUTPUT_HINT_BYTE = 1600 };
/* All names, in their order. */
struct fulcrum_names fulcrum_output_names(void);
/* "" for shares and counts; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_output_unit(size_t output);
/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_output_meaning(size_t output);
/* For people; NULL: one that few ask for. */
const char *fulcrum_output_title(size_t output);

#endif
