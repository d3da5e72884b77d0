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
#include <stdio.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/meter/nvml.h"
#include "model/try.h"

/* The batch that is inferred: about half the actors of a run. */
#define INFERENCE_BATCH 64

/* Long against a launch, short against the windows of meters. */
#define BURST_S 0.02

/* Rests are cut up so that an interrupt does not wait for their end. */
#define REST_SLICE_S 0.1

/* False where the run is to end. */
static bool rest(const struct fulcrum_listener *listener, double until_s)
{
    double left_s = until_s - fulcrum_wall_s();
    while (left_s > 0) {
        if (fulcrum_listener_stops(listener)) {
            return false;
        }
        fulcrum_sleep_s(fmin(left_s, REST_SLICE_S));
        left_s = until_s - fulcrum_wall_s();
    }
    return true;
}

/* Steps for `burst_s`, at least one. */
static enum fulcrum_status work(const struct fulcrum_duty_cycle *duty, double burst_s,
    struct fulcrum_duty_cycle_reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_learner *learner = duty->bench->learner;
    double begin_s = fulcrum_wall_s();
    double spent_s = 0;
    do {
        double loss = 0;
        TRY(duty->work == FULCRUM_DUTY_INFERENCE
                ? learner->forward(
                      duty->state, INFERENCE_BATCH, duty->bench->action, err)
                : learner->train(duty->state, &loss, err));
        reading->step_count += 1;
        spent_s = fulcrum_wall_s() - begin_s;
    } while (spent_s < burst_s);
    reading->busy_s += spent_s;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_duty_cycle_run(struct fulcrum_duty_cycle_reading *out,
    const struct fulcrum_duty_cycle *duty, double window_s,
    struct fulcrum_random *random, struct fulcrum_error *err)
{
    int works = duty->work != FULCRUM_DUTY_NOTHING;
    assert(!works || (duty->busy_frac > 0 && duty->busy_frac <= 1));
    struct fulcrum_duty_cycle_reading reading = {0};
    double begin_s = fulcrum_wall_s();
    while (fulcrum_bench_goes_on(duty->bench, begin_s + window_s)) {
        double end_s = begin_s + window_s;
        if (works) {
            double burst_s = BURST_S * fulcrum_random_between(random, 0.5, 1.5);
            TRY(work(duty, burst_s, &reading, err));
            /* From the beginning on, so that a rest too long is made up for. */
            end_s = begin_s + reading.busy_s / duty->busy_frac;
        }
        (void)rest(&duty->bench->listener, end_s);
    }
    reading.wall_s = fulcrum_wall_s() - begin_s;
    reading.is_ended = fulcrum_listener_stops(&duty->bench->listener);
    *out = reading;
    return FULCRUM_OK;
}

/* Windows are a little longer than the least, since clocks of two programs differ. */
#define LONGER 1.05

#define BUDGET_FRAC (1.0 / 12.0)

/* A display or a monitoring program shows a percent or two. */
#define TAKEN_FRAC 0.05

static void measure_idle(struct fulcrum_gpu_idle *out,
    struct fulcrum_energy_meterset *set, double budget_s,
    const struct fulcrum_listener *listener)
{
    double window_s = LONGER * fulcrum_energy_least_window_s(set);
    double count = fmin(
        fmax(floor(BUDGET_FRAC * budget_s / window_s), 1), FULCRUM_GPU_IDLE_SAMPLES);
    bool is_on = rest(listener, fulcrum_wall_s() + fulcrum_energy_settle_s(set));
    for (size_t i = 0; is_on && i < (size_t)count; i++) {
        struct fulcrum_energy_reading reading;
        fulcrum_energy_begin(set);
        is_on = rest(listener, fulcrum_wall_s() + window_s);
        fulcrum_energy_end(set, 1, &reading);
        if (is_on) {
            /* Joules of each GPU within the window at hand. */
            struct fulcrum_energy_domain domain;
            out->gpu_count = 0;
            while (out->gpu_count < FULCRUM_GPU_IDLE_GPUS &&
                   fulcrum_energy_gpu(set, out->gpu_count, &domain)) {
                out->watts[out->gpu_count++][out->sample_count] =
                    domain.window_j / reading.window_s;
            }
            out->sample_count++;
        }
        if (isnan(reading.gpu_w)) {
            (void)snprintf(
                out->reason, sizeof out->reason, "%.399s", reading.gpu_reason);
        }
    }
}

void fulcrum_gpu_idle_measure(struct fulcrum_gpu_idle *out,
    const struct fulcrum_energy_options *options, double budget_s,
    const struct fulcrum_listener *listener)
{
    struct fulcrum_energy_meterset *set = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    *out = (struct fulcrum_gpu_idle){0};
    if (fulcrum_energy_open(&set, options, &err) != FULCRUM_OK) {
        (void)snprintf(out->reason, sizeof out->reason, "%.399s", err.detail);
        return;
    }
    if (fulcrum_energy_has_gpu(set)) {
        measure_idle(out, set, budget_s, listener);
        /* What does not tell its utilisation is given the benefit of the doubt. */
        struct fulcrum_nvml *nvml = NULL;
        bool is_there = fulcrum_nvml_open(&nvml, options->root, NULL) == FULCRUM_OK;
        for (size_t i = 0; is_there && i < out->gpu_count; i++) {
            double busy_frac = 0;
            (void)fulcrum_nvml_ask(nvml, i, FULCRUM_NVML_BUSY_FRAC, &busy_frac, NULL);
            out->is_taken[i] = busy_frac > TAKEN_FRAC;
        }
        fulcrum_nvml_close(nvml);
    } else {
        (void)snprintf(out->reason, sizeof out->reason, "no meter of GPUs");
    }
    fulcrum_energy_close(set);
}

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
enum family {
    NOBODY,
    HELD,
    TRAINING,
    INFERENCE,
    LARGE_SHARE,
    SMALL_SHARE,
    FAMILY_COUNT
};

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

struct own {
    struct fulcrum_energy_meterset *set; /* NULL: there is nothing to do here */
    const char *meter;
    struct fulcrum_meter_domain gpu; /* a copy: it outlives the set */
    size_t gpu_index;                /* of the meter */
    struct fulcrum_learner_state *learner;
    struct fulcrum_learner_options options;
    struct fulcrum_random random;
    struct level level[LEVEL_MAX];
    size_t level_count;
    double owed_s; /* of the time of visits that was too short for a sample */
    size_t sample_count;
    size_t failure_count;
    double limit_w; /* 0: not told */
    double load_clock_hz;
    char reason[600]; /* why there are no watts, or not all */
};

static void gpu_power_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    if (own->learner != NULL) {
        state->bench->learner->close(own->learner);
    }
    fulcrum_energy_close(own->set);
}

static void give_up(struct own *own, const char *reason)
{
    (void)snprintf(own->reason, sizeof own->reason, "%.599s", reason);
    fulcrum_energy_close(own->set);
    own->set = NULL;
}

/* The only GPU there is, or the one with the learner's UUID. */
static bool find_gpu(struct own *own, const char *uuid)
{
    struct fulcrum_energy_domain domain;
    size_t found_count = 0;
    for (size_t i = 0; fulcrum_energy_gpu(own->set, i, &domain); i++) {
        if (uuid[0] == '\0' || strstr(domain.domain->detail, uuid) != NULL) {
            own->gpu = *domain.domain;
            own->meter = domain.meter;
            own->gpu_index = i;
            found_count++;
        }
    }
    return found_count == 1 && fulcrum_energy_choose_gpu(own->set, own->gpu.name);
}

/* The training step of a real run, or as much of it as the GPU has memory for. */
static enum fulcrum_status open_learner(
    const struct fulcrum_bench *bench, struct own *own)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    struct fulcrum_learner_info info;
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    own->options = bench->learner_options;
    own->options.max_batch = INFERENCE_BATCH;
    own->options.train_unroll = (size_t)bench->nominal.unroll;
    own->options.train_burn_in = (size_t)bench->nominal.burn_in;
    double batch = bench->nominal.batch;
    for (int i = 0; i < SMALLER_TRIALS && status != FULCRUM_OK && batch >= 1; i++) {
        own->options.train_batch = (size_t)batch;
        status = bench->learner->open(&own->options, &own->learner, &info, &why);
        batch = floor(batch / SMALLER);
    }
    if (status != FULCRUM_OK) {
        own->learner = NULL;
        give_up(own, why.detail);
    }
    return status;
}

/* What its driver tells besides; 0 where it does not. */
static void ask_facts(const char *root, struct own *own, bool is_loaded)
{
    struct fulcrum_nvml *nvml = NULL;
    size_t index = own->gpu_index;
    if (strcmp(own->meter, "nvml") != 0 ||
        fulcrum_nvml_open(&nvml, root, NULL) != FULCRUM_OK) {
        return;
    }
    /* Left as they are where the driver does not tell. */
    if (is_loaded) {
        (void)fulcrum_nvml_ask(
            nvml, index, FULCRUM_NVML_CLOCK_HZ, &own->load_clock_hz, NULL);
    }
    (void)fulcrum_nvml_ask(nvml, index, FULCRUM_NVML_LIMIT_W, &own->limit_w, NULL);
    fulcrum_nvml_close(nvml);
}

static bool gpu_power_applies(const struct fulcrum_bench *bench)
{
    return bench->learner_info.device.is_gpu;
}

static enum fulcrum_status gpu_power_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    const struct fulcrum_learner_info *info = &bench->learner_info;
    struct own *own = state->own;
    own->random = fulcrum_random_seeded(bench->learner_options.seed);
    /* Leaves a set of the learner's GPU alone, or none with a reason. */
    const struct fulcrum_energy_options options = {.root = bench->meter_root,
        .uses_gpu = 1,
        .window_rel = bench->meter_window_rel};
    TRY(fulcrum_energy_open(&own->set, &options, err));
    if (!fulcrum_energy_has_gpu(own->set)) {
        struct fulcrum_energy_reading reading;
        fulcrum_energy_begin(own->set);
        fulcrum_energy_end(own->set, 1, &reading);
        give_up(own, reading.gpu_reason);
    } else if (!find_gpu(own, bench->learner_info.device.uuid)) {
        give_up(own, "none of the meter's GPUs, or more than one, can be the "
                     "learner's: they are told apart by UUID");
    }

    if (own->set == NULL || open_learner(bench, own) != FULCRUM_OK) {
        return FULCRUM_OK;
    }
    bool shares = bench->learner->grant != NULL && info->device.least_sm_count > 0;
    for (size_t i = 0; i < LEVEL_MAX; i++) {
        struct level level = standard_levels[i];
        bool is_share = level.sm_count > 0;
        /* A fraction of what the learner was given, as the table has it. */
        level.sm_count *= info->device.granted_sm_count;
        if (!is_share || (shares && level.sm_count >= info->device.least_sm_count)) {
            own->level[own->level_count++] = level;
        }
    }
    ask_facts(bench->meter_root, own, 0);
    return FULCRUM_OK;
}

static bool gpu_power_rests(const struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    return own->set == NULL;
}

/* Puts the SMs asked for in force; false where the device refuses. */
static bool grant(
    const struct fulcrum_bench *bench, struct own *own, struct level *level)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    double granted = 0;
    if (!(level->sm_count > 0)) {
        return 1;
    }
    if (bench->learner->grant(own->learner, level->sm_count, &granted, &why) !=
        FULCRUM_OK) {
        (void)snprintf(own->reason, sizeof own->reason, "%.599s", why.detail);
        return 0;
    }
    level->sm_frac = fmin(granted / bench->learner_info.device.granted_sm_count, 1);
    return 1;
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
    struct own *own = state->own;
    const struct fulcrum_duty_cycle duty = {
        state->bench, own->learner, works[level->family], level->busy_frac};
    struct fulcrum_duty_cycle_reading done;
    struct fulcrum_energy_reading energy;
    TRY(fulcrum_duty_cycle_run(
        &done, &duty, fulcrum_energy_settle_s(own->set), &own->random, err));
    if (done.is_ended) {
        return FULCRUM_OK;
    }
    fulcrum_energy_begin(own->set);
    TRY(fulcrum_duty_cycle_run(&done, &duty,
        LONGER * fulcrum_energy_least_window_s(own->set), &own->random, err));
    fulcrum_energy_end(own->set, 1, &energy);
    if (done.is_ended) {
        return FULCRUM_OK;
    }
    if (level->family == TRAINING && level->busy_frac >= 1) {
        ask_facts(state->bench->meter_root, own, 1);
    }
    if (isnan(energy.gpu_w)) {
        own->failure_count++;
        if (own->failure_count >= FAILURES_MAX) {
            give_up(own, energy.gpu_reason);
        }
        return FULCRUM_OK;
    }
    own->sample_count++;
    own->failure_count = 0;
    double busy_frac = done.busy_s / done.wall_s;
    const struct fulcrum_sample sample = {.x = level->busy_frac,
        .value = energy.gpu_w,
        .marked = fabs(busy_frac - level->busy_frac) > BUSY_TOLERANCE};
    return fulcrum_recording_add(&state->recording[level->family], &sample, err);
}

static enum fulcrum_status sample_level(
    struct fulcrum_probe_state *state, struct level *level, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    const struct own *own = state->own;
    level->trial_count++;
    if (!grant(bench, state->own, level)) {
        /* Its turn does not come again. */
        level->trial_count = SIZE_MAX;
        return FULCRUM_OK;
    }
    TRY(run_level(state, level, err));
    /* Back to what the learner was given. */
    const struct fulcrum_learner_info *info = &bench->learner_info;
    bool has_all = !(info->device.granted_sm_count < info->device.sm_count);
    double granted = 0;
    if (!(level->sm_count > 0)) {
        return FULCRUM_OK;
    }
    return bench->learner->grant(
        own->learner, has_all ? 0 : info->device.granted_sm_count, &granted, err);
}

static enum fulcrum_status gpu_power_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    if (own->set == NULL) {
        return FULCRUM_OK;
    }
    double sample_s = fulcrum_energy_settle_s(own->set) +
                      LONGER * fulcrum_energy_least_window_s(own->set);
    own->owed_s += fmax(until_s - fulcrum_wall_s(), 0);
    bool is_first = own->sample_count == 0 && own->failure_count == 0;
    while (own->set != NULL && fulcrum_bench_goes_on(state->bench, HUGE_VAL) &&
           (is_first || own->owed_s > 0.5 * sample_s)) {
        double begin_s = fulcrum_wall_s();
        struct level *neediest = &own->level[0];
        for (size_t i = 1; i < own->level_count; i++) {
            bool is_needier = own->level[i].trial_count < neediest->trial_count;
            neediest = is_needier ? &own->level[i] : neediest;
        }
        TRY(sample_level(state, neediest, err));
        own->owed_s -= fulcrum_wall_s() - begin_s;
        is_first = 0;
    }
    return FULCRUM_OK;
}

/* One figure of the fit. */
struct finding {
    const char *path;
    double value;
    double error;   /* negative: by convention, and so without one */
    unsigned needs; /* fulcrum_gpu_power_told */
};

static void report_finding(const struct own *own, const struct finding *finding,
    struct fulcrum_findings *findings)
{
    bool is_exact = finding->error < 0;
    bool has_error = finding->error > 0 && isfinite(finding->error);
    double assumed = is_exact ? 0 : METER_ERROR_FRAC * finding->value;
    fulcrum_findings_parameter(findings, finding->path,
        &(struct fulcrum_parameter){.value = finding->value,
            .standard_error = has_error ? finding->error : assumed,
            .origin = FULCRUM_ORIGIN_FITTED},
        "%s, %.140s; %zu windows%s", own->meter, own->gpu.detail, own->sample_count,
        is_exact    ? "; by convention: watts tell its product with dynamic_w"
        : has_error ? ""
                    : "; error assumed: 5 %");
}

/* How much more the hungriest load draws than training. */
static double scale_of(const struct fulcrum_gpu_power_fit *fit)
{
    return (fit->told & FULCRUM_GPU_POWER_INFERENCE) != 0 ? fmax(fit->inference_rel, 1)
                                                          : 1;
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
        if (row < column) {
            fulcrum_findings_covariance(findings, paths[row], paths[column],
                fit->fit.covariance[row * width + column]);
        }
    }
}

/* What the levels there are cannot tell, in words. */
static void note_left_out(const struct fulcrum_probe_state *state,
    const struct fulcrum_gpu_power_fit *fit, struct fulcrum_findings *findings)
{
    const struct fulcrum_gpu_idle *idle = &state->bench->gpu_idle;
    const struct own *own = state->own;
    if ((fit->told & FULCRUM_GPU_POWER_IDLE) == 0) {
        bool is_taken =
            own->gpu_index < idle->gpu_count && idle->is_taken[own->gpu_index];
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
    if (own->reason[0] != '\0') {
        fulcrum_findings_note(findings, "gpu_power_warning", "%s", own->reason);
    }
}

/* Medians of the levels that were sampled; returns how many, LEVEL_MAX + 1 at most. */
static size_t find_loads(const struct fulcrum_probe_state *state,
    struct fulcrum_gpu_load *loads, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    const struct fulcrum_recording *idle = &state->recording[NOBODY];
    struct fulcrum_summary summary = fulcrum_findings_median(findings, idle, 0);
    size_t count = 0;
    if (summary.used > 0 && !idle->samples[0].marked) {
        loads[count++] =
            (struct fulcrum_gpu_load){.sm_frac = 1, .watts = summary.typical};
    }
    for (size_t i = 0; i < own->level_count; i++) {
        const struct level *level = &own->level[i];
        bool is_inference = level->family == INFERENCE;
        summary = fulcrum_findings_median(
            findings, &state->recording[level->family], level->busy_frac);
        if (summary.used > 0) {
            loads[count++] = (struct fulcrum_gpu_load){.is_active = 1,
                .train_frac = is_inference ? 0 : level->busy_frac,
                .inference_frac = is_inference ? level->busy_frac : 0,
                .sm_frac = level->sm_frac,
                .watts = summary.typical};
        }
    }
    return count;
}

static void report_fit(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    struct fulcrum_gpu_load loads[LEVEL_MAX + 1];
    struct fulcrum_gpu_power_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    size_t count = find_loads(state, loads, findings);
    if (fulcrum_fit_gpu_power(&fit, loads, count, &why) != FULCRUM_OK) {
        fulcrum_findings_note(findings, "gpu_power_fit", "%s", why.detail);
        return;
    }
    /*
     * Watts tell dynamic_w times the activity of a load, not each: the load that draws
     * most is taken to keep every SM active.
     */
    const struct fulcrum_fit_estimate *estimate = fit.fit.parameter;
    double scale = scale_of(&fit);
    double factor = pow(scale, fit.exponent);
    double rel_error = estimate[4].standard_error / scale;
    bool is_training_most = !(scale > 1);
    const struct finding rows[] = {
        {"machine.gpu.idle_w", fit.idle_w, estimate[0].standard_error,
            FULCRUM_GPU_POWER_IDLE},
        {"machine.gpu.floor_w", fit.floor_w, estimate[1].standard_error,
            FULCRUM_GPU_POWER_IDLE},
        {"machine.gpu.dynamic_w", fit.dynamic_w * factor,
            estimate[2].standard_error * factor, FULCRUM_GPU_POWER_DYNAMIC},
        {"machine.gpu.power_exponent", fit.exponent, estimate[3].standard_error,
            FULCRUM_GPU_POWER_EXPONENT},
        {"workload.network.sm_active_frac", fit.inference_rel / scale,
            is_training_most ? rel_error : -1, FULCRUM_GPU_POWER_INFERENCE},
        {"workload.training.sm_active_frac", 1 / scale,
            is_training_most ? -1 : rel_error / scale, FULCRUM_GPU_POWER_DYNAMIC},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((fit.told & rows[i].needs) != 0) {
            report_finding(state->own, &rows[i], findings);
        }
    }
    struct fulcrum_gpu *gpu = &findings->calibration->machine.gpu;
    gpu->idle_w = (fit.told & FULCRUM_GPU_POWER_IDLE) != 0 ? fit.idle_w : gpu->idle_w;
    gpu->floor_w =
        (fit.told & FULCRUM_GPU_POWER_IDLE) != 0 ? fit.floor_w : gpu->floor_w;
    gpu->dynamic_w = (fit.told & FULCRUM_GPU_POWER_DYNAMIC) != 0
                         ? fit.dynamic_w * factor
                         : gpu->dynamic_w;
    gpu->power_exponent = fit.exponent;
    report_covariances(&fit, findings);
    note_left_out(state, &fit, findings);
    fulcrum_findings_fit(
        findings, "gpu_power", "idle + floor + dynamic U^alpha s / S", &fit.fit);
}

static void gpu_power_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    const struct fulcrum_learner_options *options = &own->options;
    if (own->sample_count == 0) {
        fulcrum_findings_note(findings, "gpu_power", "not measured");
        fulcrum_findings_note(findings, "gpu_power_reason", "%s",
            own->reason[0] != '\0' ? own->reason : "no window was completed");
        return;
    }
    fulcrum_findings_note(findings, "gpu_power",
        "measured with %s: %s; batches of %d inferred, training on %zu x (%zu + %zu)",
        own->meter, own->gpu.detail, INFERENCE_BATCH, options->train_batch,
        options->train_burn_in, options->train_unroll);
    if (own->limit_w > 0) {
        fulcrum_findings_value(findings, "gpu_power_limit_w", "W", own->limit_w);
    }
    if (own->load_clock_hz > 0) {
        fulcrum_findings_value(
            findings, "gpu_training_clock_hz", "Hz", own->load_clock_hz);
    }
    /* Windows of the GPU while nobody held it, as a series of their own. */
    const struct fulcrum_gpu_idle *seen = &state->bench->gpu_idle;
    size_t gpu = own->gpu_index;
    for (size_t i = 0; gpu < seen->gpu_count && i < seen->sample_count; i++) {
        const struct fulcrum_sample sample = {
            .value = seen->watts[gpu][i], .marked = seen->is_taken[gpu]};
        if (isfinite(sample.value) && findings->status == FULCRUM_OK) {
            findings->status = fulcrum_recording_add(
                &state->recording[NOBODY], &sample, findings->err);
        }
    }
    report_fit(state, findings);
}

#define WATTS(words)                                                                   \
    {                                                                                  \
        .name = "gpu_power", .unit = "W", .x_name = "busy_frac", .condition = (words)  \
    }

const struct fulcrum_probe fulcrum_probe_gpu_power = {
    .what = "power of the GPU",
    .share = 0.35,
    .headers = {[NOBODY] = WATTS("held by nobody"),
        [HELD] = WATTS("held, idle"),
        [TRAINING] = WATTS("training"),
        [INFERENCE] = WATTS("inference"),
        [LARGE_SHARE] = WATTS("training on half the SMs"),
        [SMALL_SHARE] = WATTS("training on a quarter of the SMs")},
    .own_byte = sizeof(struct own),
    .applies = gpu_power_applies,
    .open = gpu_power_open,
    .close = gpu_power_close,
    .rests = gpu_power_rests,
    .visit = gpu_power_visit,
    .report = gpu_power_report,
};
