/* probe.h - the measurements that make up a calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_PROBE_H
#define FULCRUM_CALIBRATE_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/actor/stepper.h"
#include "calibrate/device/learner.h"
#include "calibrate/fit/fit.h"
#include "calibrate/meter/energy.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/design/calibration.h"
#include "model/design/machine.h"
#include "model/status.h"

/* A fixed piece of work whose time tells whether the machine was disturbed. */

/* A sample beside a canary that took this much longer than usual is disturbed. */
#define FULCRUM_CANARY_LIMIT_REL 1.08

/*
 * Some tenths of a ms of work that feels what environments and networks feel: many
 * additions and multiplications at once, which a thread on the same core slows down,
 * and a walk through memory of the second-level cache's size. Its times hold under one
 * condition: where other cores are loaded on purpose the usual time is another one. {0}
 * is a legal start.
 */
struct fulcrum_canary_tables; /* what the loop reads; opaque */

struct fulcrum_canary {
    struct fulcrum_canary_tables *tables; /* NULL before the first run */
    double *reading_s;                    /* CPU seconds of every run so far */
    size_t count;
    size_t capacity;
    double baseline_s; /* of the readings so far; 0 before the first */
    /* Quantile of the readings that is the usual time: the very least may be luck. */
    double usual_frac; /* 0: 0.05 */
    /* Which one tells whether the machine is restless; NULL: this one. The median of
     * its own readings cannot. */
    const struct fulcrum_canary *judge;
    struct fulcrum_span last; /* the latest run, and when it ended */
    double last_end_s;
};

void fulcrum_canary_free(struct fulcrum_canary *canary);

/* Before a sample: runs the loop, unless a run has only just ended. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_open(
    struct fulcrum_canary *canary, const struct fulcrum_stopwatch *stopwatch,
    struct fulcrum_error *err);

/* After it: runs the loop again; `out` is the longer of the two runs. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_close(
    struct fulcrum_canary *canary, double *out, enum fulcrum_clock clock,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err);

/* A reading with a time from elsewhere. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_add(
    struct fulcrum_canary *canary, double reading_s, struct fulcrum_error *err);

/* A time of the loop over its usual one; 1 before the first reading. */
double fulcrum_canary_rel(const struct fulcrum_canary *canary, double reading_s);

/*
 * Mean of the readings within FULCRUM_CANARY_LIMIT_REL of the usual time, or of all
 * where most are above: how fast the core was while the samples that count were taken.
 * The least and the most tenth do not count. NAN before the first reading.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_typical_s(
    const struct fulcrum_canary *canary, double *out, struct fulcrum_error *err);

/* One growing series of samples, and what its undisturbed part says. */

struct fulcrum_sample {
    double x;
    double value;
    double canary_s; /* time of the canary beside it, 0: none ran */
    bool marked;     /* known to be disturbed for another reason */
    double taken_s;  /* when, on the wall clock; 0: now */
};

/* What stands above the samples in a file. NULL: "". */
struct fulcrum_recording_header {
    const char *name;
    const char *unit;
    const char *x_name;
    const char *condition;
    bool is_busy;        /* other cores are loaded meanwhile, on purpose */
    bool is_inside;      /* no part of the file */
    size_t most_in_file; /* the file gets so many, evenly thinned; 0: all */
    bool is_work;        /* times of the same work: whatever disturbs it adds to them */
};

/* Which samples are disturbed is settled late: the canary's usual time is learnt. */
struct fulcrum_recording {
    struct fulcrum_series header;  /* its arrays are not used */
    bool is_work;                  /* as its header */
    struct fulcrum_canary *canary; /* the one that runs beside the samples; borrowed */
    struct fulcrum_sample *samples;
    size_t count;
    size_t capacity;
};

void fulcrum_recording_init(struct fulcrum_recording *out,
    const struct fulcrum_recording_header *header, struct fulcrum_canary *canary);

/* Leaves it without samples; the canary is not touched. */
void fulcrum_recording_free(struct fulcrum_recording *recording);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_add(
    struct fulcrum_recording *recording, const struct fulcrum_sample *sample,
    struct fulcrum_error *err);

/* Whether the canary or a mark says so of sample `i`. */
bool fulcrum_recording_disturbed(const struct fulcrum_recording *recording, size_t i);

/*
 * The entry of `x` (count > 0) with the fewest samples, the first of such; a disturbed
 * sample counts half, so that it is repeated without holding up the others.
 */
double fulcrum_recording_neediest(
    const struct fulcrum_recording *recording, const double *x, size_t count);

/* Seconds that tell of the spread between runs. */
enum { FULCRUM_RUNS_LEAST = 4 };

struct fulcrum_summary {
    double typical; /* median; of work a trimmed mean, which is what a run pays */
    double lo;      /* 95 % interval of the median; below six samples least and most */
    double hi;
    double mean;
    double standard_error; /* of `typical` */
    double run_sd;         /* of what runs of a second see; NAN: too few */
    size_t used;           /* samples behind it; 0: nothing there, the rest is NAN */
    size_t disturbed;      /* samples that were set aside, or would have been */
    bool took_all;         /* too few were undisturbed, so the others count, too */
};

/*
 * The undisturbed values at `x`. All where these are fewer than half and fewer than
 * `enough`, or where most samples of the recording or most readings of the canary were
 * disturbed: what is slow most of the time is slow in a run, too.
 * `out`: which, its statistics unknown. Owned; NULL: no memory.
 */
double *fulcrum_recording_values(const struct fulcrum_recording *recording, double x,
    size_t enough, struct fulcrum_summary *out);

/* Over these values, of which four are enough. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_summary(
    const struct fulcrum_recording *recording, double x, struct fulcrum_summary *out,
    struct fulcrum_error *err);

/*
 * How much longer the work of all places (value > 0) took than is typical there, as
 * means of seconds. `out` has place for one a sample; they are added after `count`.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_slowdowns(
    const struct fulcrum_recording *recording, double *out, size_t *count,
    struct fulcrum_error *err);

/* What GPUs draw before a program takes one. */

enum { FULCRUM_GPU_IDLE_GPUS = 16, FULCRUM_GPU_IDLE_SAMPLES = 3 };

/*
 * A driver keeps a GPU awake for whoever holds it, so its idle draw is seen only before
 * a learner opens it, and once it is open it is too late.
 */
struct fulcrum_gpu_idle {
    size_t gpu_count;    /* in the order of the meter */
    size_t sample_count; /* windows; 0: not measured */
    double watts[FULCRUM_GPU_IDLE_GPUS][FULCRUM_GPU_IDLE_SAMPLES]; /* NAN: no reading */
    bool is_taken[FULCRUM_GPU_IDLE_GPUS]; /* others were using it: not its idle draw */
    char reason[400]; /* why there is no sample, or none of some GPU; "" otherwise */
};

/*
 * Takes a window of the GPU meter at least, 3 s, where there is one, and about a
 * twelfth of the whole run's budget. options  of meters: root and window_rel
 */
void fulcrum_gpu_idle_measure(struct fulcrum_gpu_idle *out,
    const struct fulcrum_energy_options *options, double budget_s,
    const struct fulcrum_listener *listener);

/* Sequences (or samples) of a training step, their trained length and what precedes it.
 */
struct fulcrum_train_size {
    double batch;
    double unroll; /* 1 for networks without memory */
    double burn_in;
};

/* What every probe works with. Owned by fulcrum_calibrate. */
struct fulcrum_bench {
    struct fulcrum_stage stage; /* without an actor where tokens alone are timed */
    double step_s;              /* rough mean step */
    const struct fulcrum_learner *learner;          /* NULL: a loop has its own */
    struct fulcrum_learner_options learner_options; /* of `state` */
    struct fulcrum_learner_state *state;
    struct fulcrum_learner_info learner_info;
    int *action;                       /* max_batch of them, for forward */
    struct fulcrum_train_size nominal; /* of a real run; what is measured is smaller */
    struct fulcrum_stopwatch stopwatch;
    struct fulcrum_canary alone; /* runs while nothing of ours is busy elsewhere */
    struct fulcrum_canary busy;  /* runs while other cores are loaded on purpose */
    struct fulcrum_machine machine;
    struct fulcrum_gpu_idle gpu_idle; /* before the learner was opened */
    size_t max_threads;               /* most actor threads */
    bool is_limited;                  /* to as many as the user said */
    const char *meter_root;           /* where meters look for the kernel's files */
    struct fulcrum_workload *loop_workload; /* NULL: not wanted */
    double meter_window_rel;                /* as fulcrum_energy_options has it; 0: 1 */
    double budget_s;
    struct fulcrum_listener
        listener; /* `stop` also tells whoever waits how far the run is */
};

/* True until `until_s` on the wall clock, false at once where the run is to end. */
bool fulcrum_bench_goes_on(const struct fulcrum_bench *bench, double until_s);

/* What a learner does again and again while it is timed. */
struct fulcrum_learner_work {
    struct fulcrum_learner_state *state;
    size_t batch; /* of inference; 0: training steps */
    size_t repeats;
};

/* Does it on the calling thread; `out`: how long all of it took. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_bench_work(
    const struct fulcrum_bench *bench, const struct fulcrum_learner_work *work,
    struct fulcrum_span *out, struct fulcrum_error *err);

/* Mean time of one repeat, on the learner's clock. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_bench_time(
    const struct fulcrum_bench *bench, const struct fulcrum_learner_work *work,
    double *out, struct fulcrum_error *err);

/* Observations of the batch whose time is machine.cpu.batch_canary_s. */
#define FULCRUM_CANARY_BATCH 8.0

enum { FULCRUM_PROBE_RECORDINGS = 8 };

/* An open probe. */
struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_recording recording[FULCRUM_PROBE_RECORDINGS]; /* as `headers` */
    void *own; /* own_byte zeros: what the probe keeps beside its samples */
};

struct fulcrum_findings;
struct fulcrum_workload;

struct fulcrum_probe {
    const char *what; /* for whoever waits: "step time" */
    double share;     /* of the time, relative to the others' */
    /* Its recordings; a name of NULL ends them before FULCRUM_PROBE_RECORDINGS. */
    struct fulcrum_recording_header headers[FULCRUM_PROBE_RECORDINGS];
    size_t own_byte;
    bool is_of_tools;    /* too: it needs no learner */
    bool is_of_endpoint; /* too: it needs no actor */
    /* False where there is nothing to measure: it is not opened. NULL: always true. */
    bool (*applies)(const struct fulcrum_bench *bench);
    /* Fails as the actor or learner; closed afterwards all the same. NULL: nothing. */
    enum fulcrum_status (*open)(
        struct fulcrum_probe_state *state, struct fulcrum_error *err);
    /* Gives back what `own` holds, not `own` itself. NULL: nothing. */
    void (*close)(struct fulcrum_probe_state *state);
    /* True where an open one has nothing to do (more): others get its time. NULL: never
     */
    bool (*rests)(const struct fulcrum_probe_state *state);
    /*
     * Samples until `until_s` on the wall clock, at least once if this is the first
     * visit, and ends within one sample where the run is to end. A probe that has
     * nothing more to do returns at once.
     */
    enum fulcrum_status (*visit)(
        struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err);
    /*
     * Adds parameters, quantities, fits and notes; samples are added by whoever calls.
     * What has no sample yet is left out.
     */
    void (*report)(
        struct fulcrum_probe_state *state, struct fulcrum_findings *findings);
};

/* Given back with fulcrum_probe_close, after a failure too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_probe_open(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *out,
    struct fulcrum_bench *bench, struct fulcrum_error *err);
void fulcrum_probe_close(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *state);

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_probe_report(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err);

/* The canary runs before a sample of recording `which` and after it, whose time it
 * tells; `keep` adds the sample too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sample_begin(
    struct fulcrum_probe_state *state, size_t which, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sample_end(
    struct fulcrum_probe_state *state, size_t which, enum fulcrum_clock clock,
    struct fulcrum_sample *sample, struct fulcrum_error *err);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sample_keep(
    struct fulcrum_probe_state *state, size_t which, enum fulcrum_clock clock,
    struct fulcrum_sample *sample, struct fulcrum_error *err);

/* One file each: calibrate/probe/probe_<name>.c. Listed in calibrate.c. */
extern const struct fulcrum_probe fulcrum_probe_loop; /* alone, of loops */

struct fulcrum_stage;

/*
 * What the stage's actor, a loop, tells and times, as far as it can be true.
 *   fails    as the actor's `time`; FULCRUM_ERR_ENVIRONMENT (a figure out of its range)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_loop_time(
    const struct fulcrum_stage *stage, struct fulcrum_env *env,
    struct fulcrum_loop_task task, double out[FULCRUM_LOOP_FIGURES],
    struct fulcrum_error *err);

/* How the vector environments of a loop with these facts are stepped. */
enum fulcrum_loop_way fulcrum_loop_way_of(const double fact[FULCRUM_LOOP_FIGURES]);

/* How a loop with these facts (calibrate/actor/actor.h) batches and trains. */
void fulcrum_loop_workload(
    const double fact[FULCRUM_LOOP_FIGURES], struct fulcrum_workload *workload);

extern const struct fulcrum_probe fulcrum_probe_memory;
extern const struct fulcrum_probe fulcrum_probe_step;
extern const struct fulcrum_probe fulcrum_probe_threads;
extern const struct fulcrum_probe fulcrum_probe_inference;
extern const struct fulcrum_probe fulcrum_probe_train;
extern const struct fulcrum_probe fulcrum_probe_share;
extern const struct fulcrum_probe fulcrum_probe_pause;
extern const struct fulcrum_probe fulcrum_probe_handoff;
extern const struct fulcrum_probe fulcrum_probe_power;
extern const struct fulcrum_probe fulcrum_probe_sm;
extern const struct fulcrum_probe fulcrum_probe_gpu_power;
extern const struct fulcrum_probe fulcrum_probe_device;

/*
 * Rows are added to `calibration` until one fails; then `status` and `err` keep that
 * failure and later calls do nothing, so that a report needs one check at its end.
 */
struct fulcrum_findings {
    struct fulcrum_calibration *calibration;
    enum fulcrum_status status;
    struct fulcrum_error *err;
};

/* A value without an interval; left out where it is not finite. */
void fulcrum_findings_value(struct fulcrum_findings *findings, const char *name,
    const char *unit, double value);

/* The samples at `x`; `used` is 0 where there are none, or something failed before. */
struct fulcrum_summary fulcrum_findings_median(struct fulcrum_findings *findings,
    const struct fulcrum_recording *recording, double x);

enum { FULCRUM_MEDIANS_MAX = 32 };

struct fulcrum_medians {
    double x[FULCRUM_MEDIANS_MAX];
    double value[FULCRUM_MEDIANS_MAX];
    size_t count;
};

/* What is typical, above 0, at those of `x` that were sampled. */
struct fulcrum_medians fulcrum_findings_medians(struct fulcrum_findings *findings,
    const struct fulcrum_recording *recording, const double *x, size_t count);

/* A median with its interval; nothing where no sample is behind it. */
void fulcrum_findings_summary(struct fulcrum_findings *findings, const char *name,
    const char *unit, const struct fulcrum_summary *summary);

/*
 * Value, error, scale and origin (linear and measured where not said), under `path`
 * and with a source as printf makes it. Left out where the value is not finite; an
 * unknown standard error becomes 0. What may as well be nothing is linear: draws of its
 * logarithm would be anything.
 */
void fulcrum_findings_parameter(struct fulcrum_findings *findings, const char *path,
    const struct fulcrum_parameter *parameter, const char *format, ...)
    FULCRUM_PRINTF(4, 5);

/* Of the errors of two parameters that are there. */
void fulcrum_findings_covariance(struct fulcrum_findings *findings, const char *path,
    const char *other, double covariance);

void fulcrum_findings_note(struct fulcrum_findings *findings, const char *key,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/*
 * Whether a fit came to something. Points without a fit are a note, "PREFIXwhy";
 * another failure is that of the findings.
 */
bool fulcrum_findings_fitted(struct fulcrum_findings *findings,
    enum fulcrum_status status, const struct fulcrum_error *why, const char *key,
    const char *prefix);

void fulcrum_findings_fit(struct fulcrum_findings *findings, const char *name,
    const char *form, const struct fulcrum_fit_result *fit);

/* A value whose 95 % interval is one over the logarithm: both ends stay above 0. */
void fulcrum_findings_log(struct fulcrum_findings *findings, const char *name,
    double value_s, double standard_error);

#define FULCRUM_SCHEDULE_MAX_PROBES 16

/*
 * Rounds that visit every probe for a short time each: a machine that slowly warms up
 * or gets busy then hits all of them alike.
 */
struct fulcrum_schedule {
    double budget_s;
    double reserve_s; /* kept back at the end for fits and files */
    size_t round_count;
    size_t probe_count;
    double share[FULCRUM_SCHEDULE_MAX_PROBES]; /* weight of one visit, >= 0 */
};

/*
 * A plan for `count` probes: 3 to 12 rounds, more where the budget is larger.
 *   budget_s   > 0
 *   share      >= 0, at least one of them above
 */
struct fulcrum_schedule fulcrum_schedule_plan(
    double budget_s, const double *share, size_t count);

/*
 * When the visit of `probe` in `round` ends, in seconds from the start, if it begins at
 * `elapsed_s`. What is left is shared among the visits to come, so that a probe that
 * took too long (or not all of its time) moves the others, not the end.
 */
double fulcrum_schedule_visit_end(const struct fulcrum_schedule *schedule,
    double elapsed_s, size_t round, size_t probe);

#define FULCRUM_SM_COUNTS_MAX 12

/* Shares that a GPU grants: least, least + step, ..., and all. */
struct fulcrum_sm_steps {
    double all;
    double least;
    double step;
};

/*
 * All SMs, the fewest, then numbers that close the gaps between those before them, so
 * that a sweep that ends early is still spread out. No number comes twice.
 * Returns how many there are, at most FULCRUM_SM_COUNTS_MAX; 1 where there are no
 * parts.
 */
size_t fulcrum_sm_counts(
    double out[FULCRUM_SM_COUNTS_MAX], const struct fulcrum_sm_steps *steps);

#define FULCRUM_THREAD_COUNTS_MAX 12

/*
 * Increasing counts from 1: P/2, P, 5P/4, 3P/2, T, 2T and, on small machines, 4T, for P
 * cores and T threads; none above `most`. docs/model.md "CPU curve" says why these.
 * Returns how many.
 */
size_t fulcrum_thread_counts(size_t out[FULCRUM_THREAD_COUNTS_MAX], size_t core_count,
    size_t thread_count, size_t most);

#define FULCRUM_TRAIN_PLAN_MAX 3

/*
 * Operations of a step: batch x (constant + per_unroll unroll + per_burn_in burn_in).
 * Exact for networks that run once over each step of a sequence.
 */
struct fulcrum_train_work {
    double constant_flop;
    double per_unroll_flop;
    double per_burn_in_flop;
};

double fulcrum_train_work_flop(
    const struct fulcrum_train_work *work, const struct fulcrum_train_size *size);

struct fulcrum_train_plan {
    struct fulcrum_train_size size[FULCRUM_TRAIN_PLAN_MAX]; /* increasing work */
    size_t count;
    bool is_nominal; /* the last size is the nominal one: nothing to extrapolate */
};

/*
 * Sizes whose largest step lasts at most `limit_s` where `flop_per_s` is right: the
 * nominal size, half and a quarter of its sequences if it is short enough; otherwise
 * all its sequences, shortened, so that every matrix keeps its width; fewer sequences
 * only where that is still too long.
 */
struct fulcrum_train_plan fulcrum_train_plan_of(const struct fulcrum_train_work *work,
    const struct fulcrum_train_size *nominal, double flop_per_s, double limit_s);

struct fulcrum_background_load; /* opaque */
struct fulcrum_cpu_list;

/*
 * Starts a thread that does the work; nothing else may use that state of the learner
 * until its end.
 *   work     0 repeats: over and over, until the background load ends
 *   cpus     where it runs; borrowed; NULL: anywhere
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (no thread)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_background_load_start(
    struct fulcrum_background_load **out, const struct fulcrum_bench *bench,
    const struct fulcrum_learner_work *work, const struct fulcrum_cpu_list *cpus,
    struct fulcrum_error *err);

/* Whether it has done what it was told to. */
bool fulcrum_background_load_is_done(const struct fulcrum_background_load *load);

/*
 * Waits for the repeats, or for the one at hand where they have no end; accepts NULL.
 *   out      how long they took; may be NULL
 *   fails    as the learner, where it failed
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_background_load_end(
    struct fulcrum_background_load *load, struct fulcrum_span *out,
    struct fulcrum_error *err);

/* A duty cycle: work that keeps a share of the time. */

enum fulcrum_duty_cycle_work {
    FULCRUM_DUTY_NOTHING,
    FULCRUM_DUTY_INFERENCE,
    FULCRUM_DUTY_TRAINING
};

struct fulcrum_duty_cycle {
    const struct fulcrum_bench *bench; /* whose listener may end it early */
    struct fulcrum_learner_state *state;
    enum fulcrum_duty_cycle_work work; /* inference is of batches of 64 */
    double busy_frac; /* of the wall time, (0, 1]; nothing to do: ignored */
};

struct fulcrum_duty_cycle_reading {
    double wall_s;
    double busy_s;     /* in calls of the learner */
    double step_count; /* batches, or training steps */
    bool is_ended;     /* the listener said so */
};

/*
 * Works in bursts of about 20 ms, at least one step, and rests after each for as long
 * as the share asks, until at least `window_s` have passed; ends with a rest, so that
 * the share is met over the whole of it. The length of bursts is random: a meter that
 * looks at regular times must not keep step with them.
 *   random   moves on
 *   fails    as forward and train of the learner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_duty_cycle_run(
    struct fulcrum_duty_cycle_reading *out, const struct fulcrum_duty_cycle *duty,
    double window_s, struct fulcrum_random *random, struct fulcrum_error *err);

#endif
