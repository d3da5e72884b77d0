/* probe_gpu_power.c - watts of the learner's GPU at several loads. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Held and idle, then training and inference for a quarter to all of the time, then
 * training on a part of the SMs where shares can be granted. Each level runs until what
 * the meter shows has settled, and then for at least the window that its readings need.
 * What the GPU draws while nobody holds it was measured before the learner took it. A
 * sample takes seconds, far longer than a visit: time is saved up over visits, so that
 * the probe gets its share and no more. What the levels cannot tell apart is left out
 * and noted.
 */

#include "calibrate/probe/probe.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/learner.h"
#include "calibrate/fit/fit_forms.h"
#include "calibrate/meter/energy.h"
#include "calibrate/meter/nvml.h"
#include "calibrate/random.h"
#include "calibrate/stopwatch.h"
#include "model/status.h"
#include "model/try.h"

/* Keeps a learner's device busy for a given share of the time. */

/* Long against a launch, short against the windows of meters. */
#define BURST_S 0.02

/* Rests are cut up so that an interrupt does not wait for their end. */
#define REST_SLICE_S 0.1

static int goes_on(const struct fulcrum_duty_cycle *duty)
{
    return duty->goes_on == NULL || duty->goes_on(duty->user);
}

/* Steps for `burst_s`, at least one. */
static enum fulcrum_status work(const struct fulcrum_duty_cycle *duty, double burst_s,
    struct fulcrum_duty_cycle_reading *reading, struct fulcrum_error *err)
{
    double begin_s = fulcrum_wall_s();
    double spent_s = 0;
    enum fulcrum_status status = FULCRUM_OK;
    do {
        double loss = 0;
        status =
            duty->work == FULCRUM_DUTY_INFERENCE
                ? duty->learner->forward(duty->state, duty->batch, duty->action, err)
                : duty->learner->train(duty->state, &loss, err);
        reading->step_count += 1;
        spent_s = fulcrum_wall_s() - begin_s;
    } while (status == FULCRUM_OK && spent_s < burst_s);
    reading->busy_s += spent_s;
    return status;
}

enum fulcrum_status fulcrum_duty_cycle_run(struct fulcrum_duty_cycle_reading *out,
    const struct fulcrum_duty_cycle *duty, double window_s,
    struct fulcrum_random *random, struct fulcrum_error *err)
{
    int works = duty->work != FULCRUM_DUTY_NOTHING;
    assert(!works || (duty->busy_frac > 0 && duty->busy_frac <= 1));
    struct fulcrum_duty_cycle_reading reading = {0};
    double begin_s = fulcrum_wall_s();
    enum fulcrum_status status = FULCRUM_OK;
    while (status == FULCRUM_OK && fulcrum_wall_s() - begin_s < window_s &&
           goes_on(duty)) {
        double end_s = begin_s + window_s;
        if (works) {
            double burst_s = BURST_S * fulcrum_random_between(random, 0.5, 1.5);
            status = work(duty, burst_s, &reading, err);
            /* From the beginning on, so that a rest too long is made up for. */
            end_s = begin_s + reading.busy_s / duty->busy_frac;
        }
        /* Until `until_s` on the wall clock. */
        double left_s = end_s - fulcrum_wall_s();
        while (left_s > 0 && goes_on(duty)) {
            fulcrum_sleep_s(fmin(left_s, REST_SLICE_S));
            left_s = end_s - fulcrum_wall_s();
        }
    }
    reading.wall_s = fulcrum_wall_s() - begin_s;
    reading.is_ended = !goes_on(duty);
    if (status == FULCRUM_OK) {
        *out = reading;
    }
    return status;
}

/* Windows are a little longer than the least, since clocks of two programs differ. */
#define LONGER 1.05

/* The batch that is inferred: about half the actors of a run. */
#define INFERENCE_BATCH 64

/* A share of the time missed by more was disturbed. */
#define BUSY_TOLERANCE 0.03

/* A training step too large for the GPU's memory gives way to a quarter of it. */
#define SMALLER        4
#define SMALLER_TRIALS 4

/* So many windows without a reading, and the meter is given up. */
#define FAILURES_MAX 3

/* Where too few levels leave no residual to tell an error from: the accuracy that the
 * library's documentation gives for the boards that it gives any for, +-5 %. */
#define METER_ERROR_FRAC 0.05

/* Samples of one kind of load share a series. */
enum family { HELD, TRAINING, INFERENCE, LARGE_SHARE, SMALL_SHARE, FAMILY_COUNT };

struct level {
    enum family family;
    double busy_frac;
    double sm_count; /* asked for; 0: all */
    double sm_frac;  /* granted, of all */
    size_t trial_count;
};

/* In the order of what a short run needs most. */
static const struct level standard_levels[] = {
    {HELD, 0, 0, 1, 0},
    {TRAINING, 1, 0, 1, 0},
    {TRAINING, 0.5, 0, 1, 0},
    {INFERENCE, 1, 0, 1, 0},
    {TRAINING, 0.25, 0, 1, 0},
    {TRAINING, 0.75, 0, 1, 0},
    {LARGE_SHARE, 1, 0.5, 1, 0},
    {INFERENCE, 0.5, 0, 1, 0},
    {SMALL_SHARE, 1, 0.25, 1, 0},
    {INFERENCE, 0.25, 0, 1, 0},
    {INFERENCE, 0.75, 0, 1, 0},
};

enum { LEVEL_MAX = sizeof standard_levels / sizeof standard_levels[0] };

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_energy_meterset *set; /* NULL: there is nothing to do here */
    const char *meter;
    struct fulcrum_meter_domain gpu; /* a copy: it outlives the set */
    size_t gpu_index;                /* of the meter */
    struct fulcrum_learner_state *learner;
    struct fulcrum_learner_options options;
    struct fulcrum_random random;
    struct level level[LEVEL_MAX];
    size_t level_count;
    struct fulcrum_recording recording[FAMILY_COUNT];
    double owed_s; /* of the time of visits that was too short for a sample */
    size_t sample_count;
    size_t failure_count;
    double limit_w; /* 0: not told */
    double load_clock_hz;
    char reason[600]; /* why there are no watts, or not all */
};

static void gpu_power_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->learner != NULL) {
        state->bench->learner->close(state->learner);
    }
    fulcrum_energy_close(state->set);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        fulcrum_recording_free(&state->recording[i]);
    }
    free(state);
}

static void give_up(struct fulcrum_probe_state *state, const char *reason)
{
    (void)snprintf(state->reason, sizeof state->reason, "%.599s", reason);
    fulcrum_energy_close(state->set);
    state->set = NULL;
}

static bool is_gpu(const struct fulcrum_energy_domain *domain)
{
    return domain->domain->scope == FULCRUM_METER_GPU;
}

/* The only GPU there is, or the one with the learner's UUID. */
static int find_gpu(struct fulcrum_probe_state *state)
{
    const char *uuid = state->bench->learner_info.device_uuid;
    struct fulcrum_energy_domain domain;
    size_t count = 0;
    size_t found_count = 0;
    for (size_t i = 0; fulcrum_energy_domain(state->set, i, &domain); i++) {
        if (is_gpu(&domain) &&
            (uuid[0] == '\0' || strstr(domain.domain->detail, uuid) != NULL)) {
            state->gpu = *domain.domain;
            state->meter = domain.meter;
            state->gpu_index = count;
            found_count++;
        }
        count += (size_t)is_gpu(&domain);
    }
    return found_count == 1 && fulcrum_energy_choose_gpu(state->set, state->gpu.name);
}

/* Leaves a set of the learner's GPU alone, or none with a reason. */
static enum fulcrum_status open_meter(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_energy_options options = {.root = state->bench->meter_root,
        .uses_gpu = 1,
        .window_rel = state->bench->meter_window_rel};
    TRY(fulcrum_energy_open(&state->set, &options, err));
    if (!fulcrum_energy_has(state->set, FULCRUM_METER_GPU)) {
        struct fulcrum_energy_reading reading;
        fulcrum_energy_begin(state->set);
        fulcrum_energy_end(state->set, 1, &reading);
        give_up(state, reading.gpu_reason);
    } else if (!find_gpu(state)) {
        give_up(state, "none of the meter's GPUs, or more than one, can be the "
                       "learner's: they are told apart by UUID");
    }
    return FULCRUM_OK;
}

/* The training step of a real run, or as much of it as the GPU has memory for. */
static enum fulcrum_status open_learner(struct fulcrum_probe_state *state)
{
    const struct fulcrum_bench *bench = state->bench;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    struct fulcrum_learner_info info;
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    state->options = bench->learner_options;
    state->options.max_batch = INFERENCE_BATCH;
    state->options.train_unroll = (size_t)bench->nominal.unroll;
    state->options.train_burn_in = (size_t)bench->nominal.burn_in;
    double batch = bench->nominal.batch;
    for (int i = 0; i < SMALLER_TRIALS && status != FULCRUM_OK && batch >= 1; i++) {
        state->options.train_batch = (size_t)batch;
        status = bench->learner->open(&state->options, &state->learner, &info, &why);
        batch = floor(batch / SMALLER);
    }
    if (status != FULCRUM_OK) {
        state->learner = NULL;
        give_up(state, why.detail);
    }
    return status;
}

static void init_recordings(struct fulcrum_probe_state *state)
{
    static const char *const conditions[FAMILY_COUNT] = {[HELD] = "held, idle",
        [TRAINING] = "training",
        [INFERENCE] = "inference",
        [LARGE_SHARE] = "training on half the SMs",
        [SMALL_SHARE] = "training on a quarter of the SMs"};
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        struct fulcrum_series header = {
            .name = "gpu_power", .unit = "W", .x_name = "busy_frac"};
        (void)snprintf(header.condition, sizeof header.condition, "%s", conditions[i]);
        fulcrum_recording_init(&state->recording[i], &header, &state->bench->alone);
    }
}

/* What its driver tells besides; 0 where it does not. */
static void ask_facts(struct fulcrum_probe_state *state, bool is_loaded)
{
    struct fulcrum_nvml *nvml = NULL;
    double value = 0;
    if (strcmp(state->meter, "nvml") != 0 ||
        fulcrum_nvml_open(&nvml, state->bench->meter_root, NULL) != FULCRUM_OK) {
        return;
    }
    size_t index = state->gpu_index;
    if (is_loaded && fulcrum_nvml_clock_hz(nvml, index, &value, NULL) == FULCRUM_OK) {
        state->load_clock_hz = value;
    }
    if (fulcrum_nvml_power_limit_w(nvml, index, &value, NULL) == FULCRUM_OK) {
        state->limit_w = value;
    }
    fulcrum_nvml_close(nvml);
}

static int gpu_power_applies(const struct fulcrum_bench *bench)
{
    return bench->learner_info.is_gpu;
}

static enum fulcrum_status gpu_power_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "GPU power probe");
    state->bench = bench;
    state->random = fulcrum_random_seeded(bench->learner_options.seed);
    init_recordings(state);
    enum fulcrum_status status = open_meter(state, err);
    if (status != FULCRUM_OK) {
        gpu_power_close(state);
        return status;
    }
    if (state->set != NULL && open_learner(state) == FULCRUM_OK) {
        const struct fulcrum_learner_info *info = &state->bench->learner_info;
        int shares = state->bench->learner->grant != NULL && info->least_sm_count > 0;
        for (size_t i = 0; i < LEVEL_MAX; i++) {
            struct level level = standard_levels[i];
            bool is_share = level.sm_count > 0;
            /* A fraction of what the learner was given, as the table has it. */
            level.sm_count *= info->granted_sm_count;
            if (!is_share || (shares && level.sm_count >= info->least_sm_count)) {
                state->level[state->level_count++] = level;
            }
        }
        ask_facts(state, 0);
    }
    *out = state;
    return FULCRUM_OK;
}

static int gpu_power_rests(const struct fulcrum_probe_state *state)
{
    return state->set == NULL;
}

/* Goes on as long as the run does. */
static bool run_goes_on(void *user)
{
    return fulcrum_bench_goes_on(user, HUGE_VAL);
}

/* Puts the SMs asked for in force; 0 where the device refuses. */
static int grant(struct fulcrum_probe_state *state, struct level *level)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    double granted = 0;
    if (!(level->sm_count > 0)) {
        return 1;
    }
    if (state->bench->learner->grant(state->learner, level->sm_count, &granted, &why) !=
        FULCRUM_OK) {
        (void)snprintf(state->reason, sizeof state->reason, "%.599s", why.detail);
        return 0;
    }
    level->sm_frac = fmin(granted / state->bench->learner_info.granted_sm_count, 1);
    return 1;
}

static enum fulcrum_status keep_sample(struct fulcrum_probe_state *state,
    const struct level *level, const struct fulcrum_energy_reading *energy,
    const struct fulcrum_duty_cycle_reading *duty, struct fulcrum_error *err)
{
    if (isnan(energy->gpu_w)) {
        state->failure_count++;
        if (state->failure_count >= FAILURES_MAX) {
            give_up(state, energy->gpu_reason);
        }
        return FULCRUM_OK;
    }
    state->sample_count++;
    state->failure_count = 0;
    double busy_frac = duty->busy_s / duty->wall_s;
    const struct fulcrum_sample sample = {.x = level->busy_frac,
        .value = energy->gpu_w,
        .marked = fabs(busy_frac - level->busy_frac) > BUSY_TOLERANCE};
    return fulcrum_recording_add(&state->recording[level->family], &sample, err);
}

/* Settles, then a window; nothing is kept of one that an interrupt ended. */
static enum fulcrum_status run_level(
    struct fulcrum_probe_state *state, struct level *level, struct fulcrum_error *err)
{
    static const enum fulcrum_duty_cycle_work works[FAMILY_COUNT] = {
        [HELD] = FULCRUM_DUTY_NOTHING,
        [TRAINING] = FULCRUM_DUTY_TRAINING,
        [INFERENCE] = FULCRUM_DUTY_INFERENCE,
        [LARGE_SHARE] = FULCRUM_DUTY_TRAINING,
        [SMALL_SHARE] = FULCRUM_DUTY_TRAINING};
    const struct fulcrum_duty_cycle duty =
        (struct fulcrum_duty_cycle){.learner = state->bench->learner,
            .state = state->learner,
            .work = works[level->family],
            .busy_frac = level->busy_frac,
            .batch = INFERENCE_BATCH,
            .action = state->bench->action,
            .goes_on = run_goes_on,
            .user = state->bench};
    struct fulcrum_duty_cycle_reading done;
    struct fulcrum_energy_reading energy;
    enum fulcrum_status status = fulcrum_duty_cycle_run(
        &done, &duty, fulcrum_energy_settle_s(state->set), &state->random, err);
    if (status != FULCRUM_OK || done.is_ended) {
        return status;
    }
    fulcrum_energy_begin(state->set);
    status = fulcrum_duty_cycle_run(&done, &duty,
        LONGER * fulcrum_energy_least_window_s(state->set), &state->random, err);
    fulcrum_energy_end(state->set, 1, &energy);
    if (status != FULCRUM_OK || done.is_ended) {
        return status;
    }
    if (level->family == TRAINING && level->busy_frac >= 1) {
        ask_facts(state, 1);
    }
    return keep_sample(state, level, &energy, &done, err);
}

static enum fulcrum_status sample_level(
    struct fulcrum_probe_state *state, struct level *level, struct fulcrum_error *err)
{
    level->trial_count++;
    if (!grant(state, level)) {
        /* Its turn does not come again. */
        level->trial_count = SIZE_MAX;
        return FULCRUM_OK;
    }
    TRY(run_level(state, level, err));
    /* Back to what the learner was given. */
    const struct fulcrum_learner_info *info = &state->bench->learner_info;
    bool has_all = !(info->granted_sm_count < info->sm_count);
    double granted = 0;
    if (!(level->sm_count > 0)) {
        return FULCRUM_OK;
    }
    return state->bench->learner->grant(
        state->learner, has_all ? 0 : info->granted_sm_count, &granted, err);
}

static struct level *neediest(struct fulcrum_probe_state *state)
{
    struct level *found = &state->level[0];
    for (size_t i = 1; i < state->level_count; i++) {
        if (state->level[i].trial_count < found->trial_count) {
            found = &state->level[i];
        }
    }
    return found;
}

static enum fulcrum_status gpu_power_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    if (state->set == NULL) {
        return FULCRUM_OK;
    }
    double sample_s = fulcrum_energy_settle_s(state->set) +
                      LONGER * fulcrum_energy_least_window_s(state->set);
    state->owed_s += fmax(until_s - fulcrum_wall_s(), 0);
    bool is_first = state->sample_count == 0 && state->failure_count == 0;
    while (status == FULCRUM_OK && state->set != NULL && run_goes_on(state->bench) &&
           (is_first || state->owed_s > 0.5 * sample_s)) {
        double begin_s = fulcrum_wall_s();
        status = sample_level(state, neediest(state), err);
        state->owed_s -= fulcrum_wall_s() - begin_s;
        is_first = 0;
    }
    return status;
}

/* One figure of the fit. */
struct finding {
    const char *path;
    double value;
    double error;   /* negative: by convention, and so without one */
    unsigned needs; /* fulcrum_gpu_power_told */
};

static void report_parameter(const struct fulcrum_probe_state *state,
    const struct finding *finding, struct fulcrum_findings *findings)
{
    bool is_exact = finding->error < 0;
    bool has_error = finding->error > 0 && isfinite(finding->error);
    double assumed = is_exact ? 0 : METER_ERROR_FRAC * finding->value;
    struct fulcrum_parameter parameter = {.value = finding->value,
        .standard_error = has_error ? finding->error : assumed,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_FITTED};
    (void)snprintf(parameter.path, sizeof parameter.path, "%s", finding->path);
    (void)snprintf(parameter.source, sizeof parameter.source,
        "%s, %.140s; %zu windows%s", state->meter, state->gpu.detail,
        state->sample_count,
        is_exact    ? "; by convention: watts tell its product with dynamic_w"
        : has_error ? ""
                    : "; error assumed: 5 %");
    fulcrum_findings_parameter(findings, &parameter);
}

/* How much more the hungriest load draws than training. */
static double scale_of(const struct fulcrum_gpu_power_fit *fit)
{
    return (fit->told & FULCRUM_GPU_POWER_INFERENCE) != 0 ? fmax(fit->inference_rel, 1)
                                                          : 1;
}

/*
 * Watts tell dynamic_w times the activity of a load, not each: the load that draws most
 * is taken to keep every SM active.
 */
static void report_parameters(const struct fulcrum_probe_state *state,
    const struct fulcrum_gpu_power_fit *fit, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate = fit->fit.parameter;
    double scale = scale_of(fit);
    double factor = pow(scale, fit->exponent);
    double rel_error = estimate[4].standard_error / scale;
    bool is_training_most = !(scale > 1);
    const struct finding rows[] = {
        {"machine.gpu.idle_w", fit->idle_w, estimate[0].standard_error,
            FULCRUM_GPU_POWER_IDLE},
        {"machine.gpu.floor_w", fit->floor_w, estimate[1].standard_error,
            FULCRUM_GPU_POWER_IDLE},
        {"machine.gpu.dynamic_w", fit->dynamic_w * factor,
            estimate[2].standard_error * factor, FULCRUM_GPU_POWER_DYNAMIC},
        {"machine.gpu.power_exponent", fit->exponent, estimate[3].standard_error,
            FULCRUM_GPU_POWER_EXPONENT},
        {"workload.network.sm_active_frac", fit->inference_rel / scale,
            is_training_most ? rel_error : -1, FULCRUM_GPU_POWER_INFERENCE},
        {"workload.training.sm_active_frac", 1 / scale,
            is_training_most ? -1 : rel_error / scale, FULCRUM_GPU_POWER_DYNAMIC},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((fit->told & rows[i].needs) != 0) {
            report_parameter(state, &rows[i], findings);
        }
    }
    struct fulcrum_gpu *gpu = &findings->calibration->machine.gpu;
    gpu->idle_w = (fit->told & FULCRUM_GPU_POWER_IDLE) != 0 ? fit->idle_w : gpu->idle_w;
    gpu->floor_w =
        (fit->told & FULCRUM_GPU_POWER_IDLE) != 0 ? fit->floor_w : gpu->floor_w;
    gpu->dynamic_w = (fit->told & FULCRUM_GPU_POWER_DYNAMIC) != 0
                         ? fit->dynamic_w * factor
                         : gpu->dynamic_w;
    gpu->power_exponent = fit->exponent;
}

/* Draws stay on the curve: idle, floor, dynamic and exponent err together. */
static void report_covariances(
    const struct fulcrum_gpu_power_fit *fit, struct fulcrum_findings *findings)
{
    static const char *const paths[] = {"machine.gpu.idle_w", "machine.gpu.floor_w",
        "machine.gpu.dynamic_w", "machine.gpu.power_exponent"};
    enum { COUNT = sizeof paths / sizeof paths[0] };
    unsigned doubtful = FULCRUM_FIT_UNKNOWN_ERROR | FULCRUM_FIT_BOUND_REACHED;
    if ((fit->fit.warnings & doubtful) != 0 || scale_of(fit) > 1) {
        return;
    }
    size_t width = fit->fit.parameter_count;
    for (size_t i = 0; i < (size_t)COUNT * COUNT; i++) {
        size_t row = i / COUNT;
        size_t column = i % COUNT;
        if (row < column && findings->status == FULCRUM_OK &&
            fulcrum_calibration_parameter(findings->calibration, paths[row]) != NULL &&
            fulcrum_calibration_parameter(findings->calibration, paths[column]) !=
                NULL) {
            findings->status = fulcrum_calibration_set_covariance(findings->calibration,
                paths[row], paths[column], fit->fit.covariance[row * width + column],
                findings->err);
        }
    }
}

/* What the levels there are cannot tell, in words. */
static void note_left_out(const struct fulcrum_probe_state *state,
    const struct fulcrum_gpu_power_fit *fit, struct fulcrum_findings *findings)
{
    const struct fulcrum_gpu_idle *idle = &state->bench->gpu_idle;
    if ((fit->told & FULCRUM_GPU_POWER_IDLE) == 0) {
        bool is_taken =
            state->gpu_index < idle->gpu_count && idle->is_taken[state->gpu_index];
        fulcrum_findings_note(findings, "gpu_power_idle",
            "left out: %.4g W are idle and floor together; the GPU was not seen "
            "without a program (%s)",
            fit->idle_w,
            is_taken                  ? "others were using it"
            : idle->reason[0] != '\0' ? idle->reason
                                      : "it was not measured before");
    }
    if ((fit->told & FULCRUM_GPU_POWER_DYNAMIC) == 0) {
        fulcrum_findings_note(
            findings, "gpu_power_dynamic", "left out: no window of training");
    }
    if ((fit->told & FULCRUM_GPU_POWER_EXPONENT) == 0) {
        fulcrum_findings_note(findings, "gpu_power_exponent",
            "left out, and taken as 1: it needs five shares of the time; repeat with "
            "a larger budget");
    }
    if ((fit->told & FULCRUM_GPU_POWER_SHARE) == 0) {
        fulcrum_findings_note(findings, "gpu_power_share",
            "that watts follow the share of SMs in use is assumed: no window with "
            "fewer");
    }
    if (state->reason[0] != '\0') {
        fulcrum_findings_note(findings, "gpu_power_warning", "%s", state->reason);
    }
}

/* Windows of the GPU while nobody held it, as a series of their own. */
static enum fulcrum_status add_idle(const struct fulcrum_probe_state *state,
    struct fulcrum_recording *idle, struct fulcrum_findings *findings)
{
    const struct fulcrum_gpu_idle *seen = &state->bench->gpu_idle;
    size_t gpu = state->gpu_index;
    for (size_t i = 0; gpu < seen->gpu_count && i < seen->sample_count; i++) {
        const struct fulcrum_sample sample = {
            .value = seen->watts[gpu][i], .marked = seen->is_taken[gpu]};
        if (isfinite(sample.value)) {
            TRY(fulcrum_recording_add(idle, &sample, findings->err));
        }
    }
    return FULCRUM_OK;
}

/* Medians of the levels that were sampled; at most LEVEL_MAX + 1. */
static enum fulcrum_status gather(const struct fulcrum_probe_state *state,
    const struct fulcrum_recording *idle, struct fulcrum_gpu_load *loads, size_t *count,
    struct fulcrum_error *err)
{
    struct fulcrum_summary summary;
    enum fulcrum_status status = fulcrum_recording_summary(idle, 0, &summary, err);
    *count = 0;
    if (status == FULCRUM_OK && summary.used > 0 && !idle->samples[0].marked) {
        loads[(*count)++] =
            (struct fulcrum_gpu_load){.sm_frac = 1, .watts = summary.median};
    }
    for (size_t i = 0; i < state->level_count && status == FULCRUM_OK; i++) {
        const struct level *level = &state->level[i];
        bool is_inference = level->family == INFERENCE;
        status = fulcrum_recording_summary(
            &state->recording[level->family], level->busy_frac, &summary, err);
        if (status == FULCRUM_OK && summary.used > 0) {
            loads[(*count)++] = (struct fulcrum_gpu_load){.is_active = 1,
                .train_frac = is_inference ? 0 : level->busy_frac,
                .inference_frac = is_inference ? level->busy_frac : 0,
                .sm_frac = level->sm_frac,
                .watts = summary.median};
        }
    }
    return status;
}

static enum fulcrum_status report_fit(const struct fulcrum_probe_state *state,
    const struct fulcrum_recording *idle, struct fulcrum_findings *findings)
{
    struct fulcrum_gpu_load loads[LEVEL_MAX + 1];
    struct fulcrum_gpu_power_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    size_t count = 0;
    TRY(gather(state, idle, loads, &count, findings->err));
    if (fulcrum_fit_gpu_power(&fit, loads, count, &why) != FULCRUM_OK) {
        fulcrum_findings_note(findings, "gpu_power_fit", "%s", why.detail);
        return findings->status;
    }
    report_parameters(state, &fit, findings);
    report_covariances(&fit, findings);
    note_left_out(state, &fit, findings);
    fulcrum_findings_fit(
        findings, "gpu_power", "idle + floor + dynamic U^alpha s / S", &fit.fit);
    return findings->status;
}

static void report_facts(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct fulcrum_learner_options *options = &state->options;
    fulcrum_findings_note(findings, "gpu_power",
        "measured with %s: %s; batches of %d inferred, training on %zu x (%zu + %zu)",
        state->meter, state->gpu.detail, INFERENCE_BATCH, options->train_batch,
        options->train_burn_in, options->train_unroll);
    if (state->limit_w > 0) {
        fulcrum_findings_value(findings, "gpu_power_limit_w", "W", state->limit_w);
    }
    if (state->load_clock_hz > 0) {
        fulcrum_findings_value(
            findings, "gpu_training_clock_hz", "Hz", state->load_clock_hz);
    }
}

static enum fulcrum_status gpu_power_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    if (state->sample_count == 0) {
        fulcrum_findings_note(&findings, "gpu_power", "not measured");
        fulcrum_findings_note(&findings, "gpu_power_reason", "%s",
            state->reason[0] != '\0' ? state->reason : "no window was completed");
        return findings.status;
    }
    struct fulcrum_series header = {.name = "gpu_power",
        .unit = "W",
        .x_name = "busy_frac",
        .condition = "held by nobody"};
    struct fulcrum_recording idle;
    fulcrum_recording_init(&idle, &header, &state->bench->alone);
    report_facts(state, &findings);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(add_idle(state, &idle, &findings));
    TRY_OR_END(report_fit(state, &idle, &findings));
    fulcrum_findings_series(&findings, &idle);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        fulcrum_findings_series(&findings, &state->recording[i]);
    }
    status = findings.status;
end:
    fulcrum_recording_free(&idle);
    return status;
}

const struct fulcrum_probe fulcrum_probe_gpu_power = {
    .name = "gpu_power",
    .what = "power of the GPU",
    .share = 0.35,
    .applies = gpu_power_applies,
    .open = gpu_power_open,
    .close = gpu_power_close,
    .rests = gpu_power_rests,
    .visit = gpu_power_visit,
    .report = gpu_power_report,
};
