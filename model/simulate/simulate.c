/* simulate.c - discrete-event simulation of a whole network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge of the other methods: it plays the network as docs/model.md "Simulation"
 * describes it, event by event. Between two events all stepping actors advance at the
 * same rate c(n) / n, so the CPU is simulated in work time: a step is drawn once,
 * pushed on a heap by the work time at which it ends, and never touched when the number
 * of actors changes. Everything behind the CPU has few events a batch and lives in
 * pipeline.c.
 *
 * What it costs is one heap operation a step and three events a batch: 40 to 100 ns a
 * step in all. What it cannot do: fractional threads (rounded, with a flag) and actors
 * that differ.
 *
 * Where a scheduler's slices cut steps, actors take turns on the threads (pipeline.c),
 * with one heap operation a slice. Elsewhere nothing is done for them.
 *
 * The run ends when the interval of the throughput is narrow enough. The intervals come
 * from batch means; windows hold whole turns of the actors or whole
 * training steps, as those would otherwise beat against the windows. Neighbouring
 * windows that still depend on each other make the interval look narrower than it is:
 * then it has to be narrower by a factor.
 */

#include "model/simulate/simulate.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "model/parallel.h"
#include "model/try.h"

/*
 * The stepping actors, next to finish first. A binary min-heap of finish times. The
 * functions are inline because they are half of the work of a simulated step. `value`
 * has room for capacity + 1 times: the place behind the last one holds a sentinel, so
 * that a lone child has a sibling to lose to. `value[0]` is the least; an empty heap
 * has INFINITY there, so that nobody has to ask whether it is empty.
 */
struct heap {
    double *value;
    size_t count;
};

/* Empties the heap; `value` is borrowed. */
static inline void heap_init(struct heap *heap, double *value)
{
    *heap = (struct heap){.value = value};
    value[0] = (double)INFINITY;
}

static inline void heap_push(struct heap *heap, double finish)
{
    double *value = heap->value;
    size_t hole = heap->count++;
    while (hole > 0 && value[(hole - 1) / 2] > finish) {
        value[hole] = value[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    value[hole] = finish;
}

/* Replaces the top, whose actor makes room for one that finishes at `finish`. */
static inline void heap_replace(struct heap *heap, double finish)
{
    double *value = heap->value;
    size_t count = heap->count;
    size_t hole = 0;
    size_t child = 1;
    value[count] = finish;
    while (child < count) {
        child += (size_t)(value[child + 1] < value[child]);
        if (value[child] >= finish) {
            break;
        }
        value[hole] = value[child];
        hole = child;
        child = 2 * hole + 1;
    }
    value[hole] = finish;
}

static inline void heap_pop(struct heap *heap)
{
    assert(heap->count > 0);
    double last = heap->value[--heap->count];
    if (heap->count > 0) {
        heap_replace(heap, last);
    } else {
        heap->value[0] = (double)INFINITY;
    }
}

/*
 * Random lengths of environment steps, for the simulation. A law is chosen by name and
 * set by its mean and coefficient of variation, so that a measured cv can be given to
 * any of them (docs/model.md "Step laws"). The equations work the same parameters out
 * for themselves: an error in one place then shows as a difference between the two.
 *
 * The generator is a counter, mixed (SplitMix64: Steele, Lea and Flood 2014, OOPSLA; it
 * passes BigCrush). Its numbers do not wait for one another, and 52 bits leave the
 * heavy tails whole. Logarithms invert the laws that they can; normal and gamma
 * deviates come from GSL, to which the counter is one more generator.
 */

/* A tail so heavy that the variance is barely finite; docs/model.md "Step laws". */
#define PARETO_EXPONENT 2.1

/* The golden ratio's odd 64-bit fraction: it visits all of 2^64 before it repeats. */
#define COUNTER_STRIDE UINT64_C(0x9e3779b97f4a7c15)

static uint64_t next_bits(uint64_t *counter)
{
    uint64_t bits = *counter += COUNTER_STRIDE;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* The middle of one of 2^52 equal parts of (0, 1): never 0, whose logarithm is none. */
static double next_uniform(uint64_t *counter)
{
    return ((double)(next_bits(counter) >> 12) + 0.5) * 0x1p-52;
}

static void set_counter(void *state, unsigned long seed)
{
    uint64_t *counter = state;
    *counter = seed;
}

static unsigned long counter_bits(void *state)
{
    return (unsigned long)(next_bits(state) >> 32);
}

static double counter_uniform(void *state)
{
    return next_uniform(state);
}

/* GSL reads integers of 32 bits, so that they may be of any `unsigned long`. */
static const gsl_rng_type counter_type = {.name = "counter",
    .max = 0xffffffffUL,
    .min = 0,
    .size = sizeof(uint64_t),
    .set = set_counter,
    .get = counter_bits,
    .get_double = counter_uniform};

static double erlang_stages(double cv)
{
    return fmax(1.0, round(1.0 / (cv * cv)));
}

enum { DRAWS_AHEAD = 256 };

/*
 * An endless row of independent lengths of one law. They are drawn in blocks: a loop
 * over nothing but draws keeps the processor busier than single ones between events do.
 */
struct source {
    enum fulcrum_step_law law;
    double mean_s;
    double shape;   /* lognormal sigma; Erlang stages; hyperexponential share of the
                       first phase; Pareto exponent */
    double scale;   /* lognormal median; mean of an Erlang stage or of the first phase;
                       Pareto least value */
    double scale_2; /* mean of the second phase */
    uint64_t counter;
    size_t next;
    double length_s[DRAWS_AHEAD];
};

/* A source for a checked step; the same seed gives the same lengths. */
static void source_init(
    struct source *source, const struct fulcrum_step *step, uint64_t seed)
{
    *source = (struct source){.law = step->law,
        .mean_s = step->mean_s,
        .counter = fulcrum_stream_seed(seed, 0, 0),
        .next = DRAWS_AHEAD};
    double square = step->cv * step->cv;
    switch (step->law) {
    case FULCRUM_LAW_LOGNORMAL:
        source->shape = sqrt(log1p(square));
        /* mean = median x exp(sigma^2 / 2) */
        source->scale = step->mean_s / sqrt(1.0 + square);
        break;
    case FULCRUM_LAW_ERLANG:
        source->shape = erlang_stages(step->cv);
        source->scale = step->mean_s / source->shape;
        break;
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        /* Each phase contributes half of the mean. */
        source->shape = 0.5 * (1.0 + sqrt((square - 1.0) / (square + 1.0)));
        source->scale = 0.5 * step->mean_s / source->shape;
        source->scale_2 = 0.5 * step->mean_s / (1.0 - source->shape);
        break;
    case FULCRUM_LAW_PARETO:
        source->shape = PARETO_EXPONENT;
        source->scale = step->mean_s * (1.0 - 1.0 / PARETO_EXPONENT);
        break;
    case FULCRUM_LAW_EXPONENTIAL:
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        break;
    }
}

/* Uniform in (0, 1), independent of the lengths. */
static double source_uniform(struct source *source)
{
    return next_uniform(&source->counter);
}

/* The coefficient of variation that is drawn: Erlang stages are whole. */
static double source_cv(const struct fulcrum_step *step)
{
    switch (step->law) {
    case FULCRUM_LAW_EXPONENTIAL:
        return 1.0;
    case FULCRUM_LAW_DETERMINISTIC:
        return 0.0;
    case FULCRUM_LAW_ERLANG:
        return 1.0 / sqrt(erlang_stages(step->cv));
    case FULCRUM_LAW_PARETO:
        return 1.0 / sqrt(PARETO_EXPONENT * (PARETO_EXPONENT - 2.0));
    case FULCRUM_LAW_LOGNORMAL:
    case FULCRUM_LAW_HYPEREXPONENTIAL:
    default:
        return step->cv;
    }
}

/* Draws the next block. */
static FULCRUM_NOT_INLINE void source_fill(struct source *source)
{
    const gsl_rng rng = {.type = &counter_type, .state = &source->counter};
    uint64_t *counter = &source->counter;
    for (double *out = source->length_s; out < source->length_s + DRAWS_AHEAD; out++) {
        double phase_s = source->mean_s;
        switch (source->law) {
        case FULCRUM_LAW_LOGNORMAL:
            *out = source->scale * exp(gsl_ran_gaussian_ziggurat(&rng, source->shape));
            break;
        case FULCRUM_LAW_ERLANG:
            *out = gsl_ran_gamma(&rng, source->shape, source->scale);
            break;
        case FULCRUM_LAW_PARETO:
            *out = source->scale * pow(next_uniform(counter), -1.0 / source->shape);
            break;
        case FULCRUM_LAW_HYPEREXPONENTIAL:
            phase_s =
                next_uniform(counter) < source->shape ? source->scale : source->scale_2;
            *out = -phase_s * log(next_uniform(counter));
            break;
        case FULCRUM_LAW_EXPONENTIAL:
            *out = -phase_s * log(next_uniform(counter));
            break;
        case FULCRUM_LAW_DETERMINISTIC:
        default:
            *out = phase_s;
            break;
        }
    }
    source->next = 0;
}

/* The next length in seconds; inline because it is part of every simulated step. */
static inline double source_next(struct source *source)
{
    if (source->next == DRAWS_AHEAD) {
        source_fill(source);
    }
    return source->length_s[source->next++];
}

/*
 * Confidence interval of a simulated rate. Neighbouring steps of a simulation depend on
 * each other, so their variance says little about the error of a mean. Means of long
 * windows hardly do. As nobody knows beforehand how long is long enough, windows are
 * merged in pairs whenever there are too many: memory stays bounded and windows grow
 * with the run. Student's t then gives the interval; the correlation of neighbours
 * tells whether it may be believed. See Law, "Simulation Modeling and Analysis", on
 * batch means.
 */

enum { WINDOWS_LEAST = 20, WINDOWS_MOST = 2 * WINDOWS_LEAST };

/*
 * Time taken by consecutive windows of equally many steps. When the room is used up,
 * neighbours are merged, so that windows grow with the length of the run and become
 * independent of each other.
 */
struct batch_means {
    double window_s[WINDOWS_MOST];
    size_t count;
    size_t merged; /* windows added that make one entry */
    size_t pending;
};

/* Adds one window of the original length. */
static void batch_means_add(struct batch_means *means, double window_s)
{
    if (means->merged == 0) {
        means->merged = 1;
    }
    if (means->pending == 0) {
        if (means->count == WINDOWS_MOST) {
            for (size_t i = 0; i < WINDOWS_LEAST; i++) {
                means->window_s[i] =
                    means->window_s[2 * i] + means->window_s[2 * i + 1];
            }
            means->count = WINDOWS_LEAST;
            means->merged *= 2;
        }
        means->window_s[means->count] = 0.0;
    }
    means->window_s[means->count] += window_s;
    means->pending++;
    if (means->pending == means->merged) {
        means->pending = 0;
        means->count++;
    }
}

/*
 * Half-width of the 95 % Student-t interval of the mean window, relative to that mean;
 * INFINITY below two entries and where no time has passed. It is the relative
 * half-width of the rate as well, to first order.
 */
static double half_width_rel_of(const struct batch_means *means)
{
    if (means->count < 2) {
        return (double)INFINITY;
    }
    double count = (double)means->count;
    double mean = gsl_stats_mean(means->window_s, 1, means->count);
    if (mean <= 0.0) {
        return (double)INFINITY;
    }
    double spread = gsl_stats_sd_m(means->window_s, 1, means->count, mean);
    return gsl_cdf_tdist_Pinv(0.975, count - 1.0) * spread / (sqrt(count) * mean);
}

/*
 * Correlation of neighbouring entries: near 0 where they are independent, so that the
 * half-width can be believed; 0 where all are equal.
 */
static double correlation_of(const struct batch_means *means)
{
    double mean = gsl_stats_mean(means->window_s, 1, means->count);
    double square = 0.0;
    double product = 0.0;
    for (size_t i = 0; i < means->count; i++) {
        double off = means->window_s[i] - mean;
        square += off * off;
        if (i > 0) {
            product += off * (means->window_s[i - 1] - mean);
        }
    }
    return square > 0.0 ? product / square : 0.0;
}

#define DEFAULT_HALF_WIDTH_REL 0.01
#define DEFAULT_MAX_STEPS      2e7
#define LEAST_STEPS_PER_ACTOR  4.0
#define LEAST_MAX_STEPS        1000.0

/* A window spans this many cycles of the actors, and the warm-up twice as many. */
#define CYCLES_PER_WINDOW  5.0
#define LEAST_WINDOW_STEPS 1000.0
#define WARM_UP_WINDOWS    2.0

/* A rough answer needs fewer windows: Student's t of 7 still gives an honest interval.
 */
#define ROUGH_HALF_WIDTH_REL 0.03
#define ROUGH_WINDOWS_LEAST  8.0

/* Of a mean step: with shorter ones, which cost time without end, it is no different.
 */
#define LEAST_SLICE_REL 0.01

/* For one env step: more would cost time without end where K is small. */
#define MOST_TRAIN_STEPS 100.0

#define CORRELATED_FACTOR   4.0
#define MOST_CORRELATION    0.5
#define LOW_CV              0.2
#define SHORTENED_RUN_PARTS 25.0

/* With a number of actors at the CPU: how fast it is and how long that was so. */
struct crowd {
    double s_per_work;
    double work_per_s;
    double time_s;
};

/* Steps are counted in doubles: exact up to 2^53, and K need not be whole. */
struct simulation {
    struct fulcrum_network network;
    struct source source;
    struct fulcrum_pipeline pipeline;

    /*
     * All stepping actors progress alike, so the CPU runs in work time: seconds of one
     * thread at c = 1. Actors are alike too: counts are enough.
     */
    struct heap stepping; /* without slices */
    size_t servers;
    size_t at_cpu;
    size_t waiting;
    size_t least_batch;
    size_t most_batch;
    bool host_waits; /* it has found too few for a batch, */
    double since_s;  /* and when */
    double work_s;
    struct crowd *crowd; /* by actors at the CPU, from `last` on as one */
    size_t last;
    double steps;
    double cpu_item_s;

    struct fulcrum_turn_queue turns; /* with slices: all who are at the CPU */
    double slice_s;                  /* 0 where they cannot matter */
};

/* The plan of a run, in steps. */
struct schedule {
    double warm_up;
    double window;
    double max;
    double windows_least; /* before the interval is looked at */
    bool shortened; /* max_steps does not allow the windows that the network needs */
};

static bool allocate(struct simulation *sim)
{
    const struct fulcrum_network *network = &sim->network;
    size_t actors = (size_t)network->actors;
    size_t curve_end = network->cpu.curve == FULCRUM_CURVE_TABLE
                           ? network->cpu.capacity_count
                           : sim->servers + 1;
    sim->last = curve_end > sim->servers ? curve_end : sim->servers + 1;
    sim->last = sim->last < actors ? sim->last : actors;
    size_t room = sim->servers < actors ? sim->servers : actors;
    double *finish = calloc(room + 1, sizeof *finish);
    sim->crowd = calloc(sim->last + 1, sizeof *sim->crowd);
    bool has_turns = sim->slice_s <= 0.0 ||
                     fulcrum_turn_queue_init(&sim->turns, actors, sim->servers);
    if (finish == NULL || sim->crowd == NULL || !has_turns) {
        free(finish);
        return false;
    }
    heap_init(&sim->stepping, finish);
    return true;
}

static void clear(struct simulation *sim)
{
    fulcrum_pipeline_clear(&sim->pipeline);
    fulcrum_turn_queue_clear(&sim->turns);
    free(sim->stepping.value);
    free(sim->crowd);
}

static struct crowd *crowd_of(struct simulation *sim, size_t at_cpu)
{
    return &sim->crowd[at_cpu < sim->last ? at_cpu : sim->last];
}

/*
 * Free threads go to the head of the line. A slice is time on a thread: it becomes work
 * at the rate of its beginning. The first one starts once the thread has been held for
 * so much work.
 */
static void start_turns(struct simulation *sim, double held_s)
{
    struct fulcrum_turn_queue *turns = &sim->turns;
    double slice_work_s = sim->slice_s * crowd_of(sim, sim->at_cpu)->work_per_s;
    while (turns->waiting_count > 0 && turns->running_count < sim->servers) {
        fulcrum_turn_queue_start(turns, sim->work_s + held_s, slice_work_s);
        held_s = 0.0;
    }
}

/*
 * Half of the actors wait for the first batch, the others are somewhere within a step
 * unless all steps are equal. Where batches take much longer than steps, actors change
 * from one batch to the next so seldom that the first ones shape a whole run; even ones
 * are what it would come to in the end. A loop that alternates begins with a rollout.
 * Actors of a server that has to be woken all begin with a step, as they do in a run:
 * whether they go on together or by turns follows from that.
 */
static void release_first(struct simulation *sim)
{
    size_t actors = (size_t)sim->network.actors;
    bool is_alternating = sim->network.loop == FULCRUM_LOOP_ALTERNATING;
    bool is_woken = sim->network.server_wake_s > 0.0;
    sim->waiting = is_alternating ? actors : is_woken ? 0 : actors / 2;
    sim->at_cpu = actors - sim->waiting;
    if (sim->slice_s > 0.0) {
        /* The beginning of a simulation draws as many numbers, in the same order, as
         * without.
         */
        for (size_t i = 0; i < sim->at_cpu; i++) {
            double length_s = source_next(&sim->source);
            if (i < sim->servers && sim->source.law != FULCRUM_LAW_DETERMINISTIC) {
                length_s *= source_uniform(&sim->source);
            }
            fulcrum_turn_queue_join(&sim->turns, length_s);
        }
        start_turns(sim, 0.0);
        return;
    }
    size_t first = sim->at_cpu < sim->servers ? sim->at_cpu : sim->servers;
    for (size_t i = 0; i < first; i++) {
        double length_s = source_next(&sim->source);
        if (sim->source.law != FULCRUM_LAW_DETERMINISTIC) {
            length_s *= source_uniform(&sim->source);
        }
        heap_push(&sim->stepping, length_s);
    }
}

/* Nobody ever gives way where there are threads for all. */
static double slice_s_of(const struct fulcrum_network *network)
{
    bool is_short = network->actors > fulcrum_cpu_whole_servers(&network->cpu);
    double least_s = LEAST_SLICE_REL * network->step.mean_s;
    return is_short && network->cpu.slice_s > 0.0 ? fmax(network->cpu.slice_s, least_s)
                                                  : 0.0;
}

static enum fulcrum_status init(struct simulation *sim,
    const struct fulcrum_network *network, uint64_t seed, struct fulcrum_error *err)
{
    *sim = (struct simulation){.network = *network};
    /*
     * Where a single env step brings more train steps than this, they are run as if
     * they were fewer and longer: the learner's work and queue, counted in env steps,
     * stay.
     */
    struct fulcrum_training *training = &sim->network.training;
    double period = training->env_steps_per_train_step;
    if (period > 0.0 && period * MOST_TRAIN_STEPS < 1.0) {
        double bundle = 1.0 / (period * MOST_TRAIN_STEPS);
        training->env_steps_per_train_step *= bundle;
        training->train_step_s *= bundle;
        training->queue_train_steps = fmax(1.0, training->queue_train_steps / bundle);
    }
    sim->servers = (size_t)fulcrum_cpu_whole_servers(&network->cpu);
    sim->slice_s = slice_s_of(network);
    bool fixed = network->policy == FULCRUM_BATCH_FIXED;
    sim->least_batch = fixed ? (size_t)network->batch_size : 1;
    sim->most_batch =
        network->batch_size > 0.0 ? (size_t)network->batch_size : SIZE_MAX;
    /* Who wakes the host pays for it then, not every step a part. */
    source_init(&sim->source,
        network->waker_s > 0.0 ? &network->own_step : &network->step, seed);
    TRY(fulcrum_pipeline_init(&sim->pipeline, &sim->network, err));
    FAIL_IF(!allocate(sim), err, FULCRUM_ERR_NO_MEMORY,
        "no memory to simulate %g actors", network->actors);
    /*
     * Actors that wait for a thread count as oversubscription only when there are more
     * than whole servers, whichever way those were rounded.
     */
    const struct fulcrum_cpu_station *cpu = &sim->network.cpu;
    double servers = (double)sim->servers;
    sim->crowd[0].s_per_work = 1.0; /* times no work that is left: INFINITY */
    for (size_t n = 1; n <= sim->last; n++) {
        double count = (double)n;
        double busy = fmin(count, servers);
        double seen = count <= servers ? fmin(count, fulcrum_cpu_servers(cpu)) : count;
        sim->crowd[n].work_per_s = fulcrum_cpu_capacity(cpu, seen) / busy;
        sim->crowd[n].s_per_work = 1.0 / sim->crowd[n].work_per_s;
    }
    release_first(sim);
    return FULCRUM_OK;
}

static FULCRUM_NOT_INLINE void release_turns(struct simulation *sim, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_turn_queue_join(&sim->turns, source_next(&sim->source));
    }
    start_turns(sim, 0.0);
}

static void release(struct simulation *sim, size_t count)
{
    sim->at_cpu += count;
    if (sim->slice_s > 0.0) {
        release_turns(sim, count);
        return;
    }
    size_t busy = sim->at_cpu < sim->servers ? sim->at_cpu : sim->servers;
    while (sim->stepping.count < busy) {
        double length_s = source_next(&sim->source);
        heap_push(&sim->stepping, sim->work_s + length_s);
    }
}

/* Whether a host that waits has not fallen asleep by `now_s`. */
static bool host_polls(const struct simulation *sim, double now_s)
{
    return now_s - sim->since_s < sim->network.poll_s;
}

/* Starts every batch that can start now; returns how many must wait for the next. */
static size_t start_batches(struct simulation *sim)
{
    while (fulcrum_pipeline_takes(&sim->pipeline, sim->steps)) {
        double now_s = sim->pipeline.now_s;
        if (sim->waiting < sim->least_batch) {
            sim->since_s = sim->host_waits ? sim->since_s : now_s;
            sim->host_waits = sim->network.server_wake_s > 0.0;
            return sim->least_batch;
        }
        if (sim->host_waits) {
            sim->host_waits = false;
            fulcrum_pipeline_wake(&sim->pipeline, host_polls(sim, now_s));
            return SIZE_MAX;
        }
        size_t size = sim->waiting < sim->most_batch ? sim->waiting : sim->most_batch;
        sim->waiting -= size;
        fulcrum_pipeline_start(&sim->pipeline, size);
    }
    return SIZE_MAX;
}

static size_t steps_allowed(
    const struct simulation *sim, size_t wanted, double stop_steps)
{
    size_t to_batch = wanted - sim->waiting;
    size_t to_stop = (size_t)(int64_t)(stop_steps - sim->steps);
    return to_batch < to_stop ? to_batch : to_stop;
}

/* The CPU works on to the pipeline's next event, which comes before the next step. */
static void work_to_event(struct simulation *sim, double now_s)
{
    struct crowd *crowd = crowd_of(sim, sim->at_cpu);
    double passed_s = sim->pipeline.next_s - now_s;
    crowd->time_s += passed_s;
    sim->cpu_item_s += passed_s * (double)sim->at_cpu;
    sim->work_s += passed_s * crowd->work_per_s;
    fulcrum_pipeline_advance(&sim->pipeline, sim->pipeline.next_s);
}

/* What holds the thread of the actor whose request wakes the host at `now_s`. */
static double waker_s_at(const struct simulation *sim, double now_s)
{
    return sim->host_waits && !host_polls(sim, now_s) ? sim->network.waker_s : 0.0;
}

/*
 * Completes steps until `wanted` observations wait, `stop_steps` are done, or the
 * pipeline's next event is due, which it tells by a nonzero value. This is the inner
 * loop of the program: its state is kept in locals.
 */
static bool run_steps(struct simulation *sim, size_t wanted, double stop_steps)
{
    const double until_s = sim->pipeline.next_s;
    const size_t allowed = steps_allowed(sim, wanted, stop_steps);
    const size_t waker = wanted - sim->waiting;
    double now_s = sim->pipeline.now_s;
    double work_s = sim->work_s;
    double item_s = 0.0;
    size_t at_cpu = sim->at_cpu;
    size_t done = 0;
    bool due = false;
    while (done < allowed) {
        struct crowd *crowd = crowd_of(sim, at_cpu);
        double finish_work_s = sim->stepping.value[0];
        double left_s = (finish_work_s - work_s) * crowd->s_per_work;
        double finish_s = left_s > 0.0 ? now_s + left_s : now_s;
        if (finish_s > until_s) {
            due = 1;
            break;
        }
        crowd->time_s += finish_s - now_s;
        item_s += (finish_s - now_s) * (double)at_cpu;
        now_s = finish_s;
        work_s = finish_work_s;
        if (at_cpu > sim->servers) {
            double length_s = source_next(&sim->source);
            length_s += done + 1 == waker ? waker_s_at(sim, now_s) : 0.0;
            heap_replace(&sim->stepping, work_s + length_s);
        } else {
            heap_pop(&sim->stepping);
        }
        at_cpu--;
        done++;
    }
    sim->work_s = work_s;
    sim->cpu_item_s += item_s;
    sim->at_cpu = at_cpu;
    sim->waiting += done;
    sim->steps += (double)done;
    if (due) {
        work_to_event(sim, now_s);
    } else {
        fulcrum_pipeline_advance(&sim->pipeline, now_s);
    }
    return due;
}

/* Whose slice is over goes on or gives way, and who is done makes room: request number
 * `waker` after it has woken the host. */
static size_t end_slice(struct simulation *sim, size_t waker, double now_s)
{
    size_t done = (size_t)fulcrum_turn_queue_end(&sim->turns);
    sim->at_cpu -= done;
    sim->waiting += done;
    sim->steps += (double)done;
    start_turns(sim, done == waker ? waker_s_at(sim, now_s) : 0.0);
    return done;
}

/* run_steps where steps are cut into slices. */
static FULCRUM_NOT_INLINE bool run_turns(
    struct simulation *sim, size_t wanted, double stop_steps)
{
    const size_t allowed = steps_allowed(sim, wanted, stop_steps);
    double now_s = sim->pipeline.now_s;
    const size_t waker = wanted - sim->waiting;
    for (size_t done = 0; done < allowed; done += end_slice(sim, waker - done, now_s)) {
        struct crowd *crowd = crowd_of(sim, sim->at_cpu);
        double end_work_s = fulcrum_turn_queue_next(&sim->turns);
        double left_s = (end_work_s - sim->work_s) * crowd->s_per_work;
        double end_s = left_s > 0.0 ? now_s + left_s : now_s;
        if (end_s > sim->pipeline.next_s) {
            work_to_event(sim, now_s);
            return true;
        }
        crowd->time_s += end_s - now_s;
        sim->cpu_item_s += (end_s - now_s) * (double)sim->at_cpu;
        now_s = end_s;
        sim->work_s = end_work_s;
    }
    fulcrum_pipeline_advance(&sim->pipeline, now_s);
    return false;
}

/* Runs to the moment at which `steps` env steps are completed. */
static void run_to(struct simulation *sim, double steps)
{
    struct fulcrum_pipeline *pipeline = &sim->pipeline;
    double stop_steps = ceil(steps);
    while (sim->steps < stop_steps) {
        size_t wanted = start_batches(sim);
        double train_at = pipeline->train_at_steps;
        double stop = train_at < stop_steps ? train_at : stop_steps;
        assert(sim->at_cpu > 0 || pipeline->next_s < (double)INFINITY);
        if (sim->slice_s > 0.0 ? run_turns(sim, wanted, stop)
                               : run_steps(sim, wanted, stop)) {
            release(sim, fulcrum_pipeline_event(pipeline));
        }
        if (sim->steps >= pipeline->train_at_steps) {
            fulcrum_pipeline_train(pipeline);
        }
    }
}

/* A run's measured part: what was counted when it began, and its windows. */
struct measurement {
    struct batch_means means;
    double start_s;
    double start_steps;
    double start_backlog;
};

static void begin_measurement(struct simulation *sim, struct measurement *measured)
{
    *measured = (struct measurement){.start_s = sim->pipeline.now_s,
        .start_steps = sim->steps,
        .start_backlog = fulcrum_pipeline_backlog(&sim->pipeline, sim->steps)};
    sim->pipeline.sums = (struct fulcrum_pipeline_sums){0};
    sim->cpu_item_s = 0.0;
    for (size_t n = 0; n <= sim->last; n++) {
        sim->crowd[n].time_s = 0.0;
    }
}

/*
 * Steps collected faster than the learner works them off, or the other way round, are
 * not throughput that lasts: their share of all that were measured.
 */
static double backlog_rel(
    const struct simulation *sim, const struct measurement *measured)
{
    double now = fulcrum_pipeline_backlog(&sim->pipeline, sim->steps);
    double change = fabs(now - measured->start_backlog);
    return change / fmax(1.0, sim->steps - measured->start_steps);
}

/*
 * Measures until the interval is narrow enough. While the learner's backlog still
 * builds up, what was measured is thrown away as warm-up.
 */
static bool measure(struct simulation *sim, struct measurement *measured,
    const struct schedule *plan, double half_width_rel)
{
    bool settled = false;
    run_to(sim, plan->warm_up);
    begin_measurement(sim, measured);
    double window = 0.0;
    while (!settled && sim->steps + plan->window <= plan->max) {
        double before_s = sim->pipeline.now_s;
        window += 1.0;
        run_to(sim, measured->start_steps + window * plan->window);
        batch_means_add(&measured->means, sim->pipeline.now_s - before_s);
        double count = (double)measured->means.count;
        double turn = fmod(count, 0.5 * plan->windows_least);
        bool look =
            measured->means.pending == 0 && turn < 0.5 && count >= plan->windows_least;
        if (!look) {
            continue;
        }
        /* Half of the tolerance leaves the other half to noise. */
        if (backlog_rel(sim, measured) <= 0.5 * half_width_rel) {
            /* Correlated windows make the interval too narrow: then it must have room
             * to spare. */
            double half = half_width_rel_of(&measured->means);
            if (correlation_of(&measured->means) > MOST_CORRELATION) {
                half *= CORRELATED_FACTOR;
            }
            settled = half + backlog_rel(sim, measured) <= half_width_rel;
        } else if (sim->steps + plan->windows_least * plan->window <= plan->max) {
            begin_measurement(sim, measured);
            window = 0.0;
        }
    }
    return settled && !plan->shortened;
}

/* A run that was cut short may not have seen the start of a batch. */
static double mean_batch(const struct simulation *sim)
{
    const struct fulcrum_pipeline_sums *sums = &sim->pipeline.sums;
    return sums->batch_count > 0.0 ? sums->item_count / sums->batch_count
                                   : (double)sim->least_batch;
}

static void report(const struct simulation *sim, const struct measurement *measured,
    struct fulcrum_solution *out)
{
    const struct fulcrum_pipeline_sums *sums = &sim->pipeline.sums;
    double time_s = sim->pipeline.now_s - measured->start_s;
    double steps = sim->steps - measured->start_steps;
    double half = half_width_rel_of(&measured->means) + backlog_rel(sim, measured);
    out->method = FULCRUM_METHOD_SIMULATE;
    out->steps_per_s = steps / time_s;
    out->has_interval = half < (double)INFINITY;
    if (out->has_interval) {
        out->steps_per_s_lo = out->steps_per_s * fmax(0.0, 1.0 - half);
        out->steps_per_s_hi = out->steps_per_s * (1.0 + half);
        out->error_rel = half;
    }
    out->mean_batch = mean_batch(sim);
    out->host_busy_frac = sums->host_busy_s / time_s;
    out->gpu_inference_busy_frac = sums->inference_busy_s / time_s;
    out->gpu_train_busy_frac = sums->train_busy_s / time_s;
    /* Of work: beside each other the two may do more than one alone. */
    out->gpu_busy_frac =
        fmin(out->gpu_inference_busy_frac + out->gpu_train_busy_frac, 1.0);
    /* Means over the time at each number of actors at the CPU. */
    const struct fulcrum_cpu_station *cpu = &sim->network.cpu;
    double cores = cpu->core_count * (1.0 - cpu->reserved_threads / cpu->thread_count);
    double threads_s = 0.0;
    double cores_s = 0.0;
    for (size_t n = 1; n <= sim->last; n++) {
        double busy = fmin((double)n, (double)sim->servers);
        threads_s += sim->crowd[n].time_s * busy;
        cores_s += sim->crowd[n].time_s * fmin(busy, cores);
    }
    out->cpu_thread_busy_frac = threads_s / (time_s * (double)sim->servers);
    out->cpu_core_busy_frac = cores_s / (time_s * cpu->core_count);
    out->residence.cpu_s = sim->cpu_item_s / steps;
    double elsewhere_s = sim->cpu_item_s + sums->gpu_item_s + sums->delay_item_s;
    /* A difference of large numbers: no less than 0, whatever was rounded. */
    out->residence.host_s =
        fmax(0.0, (sim->network.actors * time_s - elsewhere_s) / steps);
    out->residence.gpu_s = sums->gpu_item_s / steps;
    out->residence.delay_s = sums->delay_item_s / steps;
    out->simulated_steps = sim->steps;
}

enum fulcrum_status fulcrum_simulate(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    struct simulation sim;
    struct measurement measured;
    double half_width_rel = options->half_width_rel > 0.0 ? options->half_width_rel
                                                          : DEFAULT_HALF_WIDTH_REL;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_solution found = {.flags = 0};
    TRY_OR_END(init(&sim, network, options->seed, err));
    struct schedule plan = {
        .max = options->max_steps > 0.0 ? options->max_steps : DEFAULT_MAX_STEPS};
    /* A training step costs about as much to follow as an environment step. */
    double per_train_step = sim.network.training.env_steps_per_train_step;
    plan.max /= per_train_step > 0.0 ? 1.0 + 1.0 / per_train_step : 1.0;
    /* And so does a slice. */
    double slice_s = slice_s_of(&sim.network);
    plan.max /= slice_s > 0.0 ? 1.0 + sim.network.step.mean_s / slice_s : 1.0;
    /* Fewer would not show every actor go round, and so might take no time at all. */
    plan.max = fmax(plan.max, LEAST_STEPS_PER_ACTOR * sim.network.actors);
    plan.max = fmax(plan.max, LEAST_MAX_STEPS);
    /* Whole train steps or whole turns, whichever are longer, leave least edge noise.
     */
    double period = fmax(per_train_step, sim.network.actors);
    plan.window = fmax(LEAST_WINDOW_STEPS, CYCLES_PER_WINDOW * sim.network.actors);
    plan.window = period * ceil(plan.window / period);
    plan.warm_up = WARM_UP_WINDOWS * plan.window;
    plan.windows_least = options->half_width_rel >= ROUGH_HALF_WIDTH_REL
                             ? ROUGH_WINDOWS_LEAST
                             : (double)WINDOWS_LEAST;
    double least = plan.warm_up + plan.windows_least * plan.window;
    if (least > plan.max) {
        plan.shortened = 1;
        plan.window = fmax(1.0, floor(plan.max / SHORTENED_RUN_PARTS));
        plan.warm_up = plan.window;
    }
    bool settled = measure(&sim, &measured, &plan, half_width_rel);
    report(&sim, &measured, &found);
    double rounded = fabs((double)sim.servers - fulcrum_cpu_servers(&network->cpu));
    found.flags |= settled ? 0U : FULCRUM_FLAG_NOT_SETTLED;
    found.flags |= rounded > 1e-9 ? FULCRUM_FLAG_SERVERS_ROUNDED : 0U;
    found.flags |= source_cv(&network->step) < LOW_CV ? FULCRUM_FLAG_LOW_CV : 0U;
    *out = found;
end:
    clear(&sim);
    return status;
}
