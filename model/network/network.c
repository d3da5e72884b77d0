/* network.c - batch service times, and the names of a network's choices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/network/network.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"

static double on_line(const struct fulcrum_batch_time *time, double size)
{
    return time->per_batch_s + time->per_item_s * size;
}

/* The line, shifted so that it passes through point `i`. */
static double beyond_point(const struct fulcrum_batch_time *time, size_t i, double size)
{
    double shifted_s =
        time->time_s[i] + on_line(time, size) - on_line(time, time->size[i]);
    return shifted_s > 0.0 ? shifted_s : 0.0;
}

double fulcrum_batch_time_in_table(const struct fulcrum_batch_time *time, double size)
{
    assert(size > 0.0);
    if (size <= time->size[0]) {
        return beyond_point(time, 0, size);
    }
    size_t low = 0;
    size_t high = time->count - 1;
    if (size >= time->size[high]) {
        return beyond_point(time, high, size);
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (time->size[middle] <= size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double share = (size - time->size[low]) / (time->size[high] - time->size[low]);
    return time->time_s[low] + share * (time->time_s[high] - time->time_s[low]);
}

bool fulcrum_batch_takes_time(const struct fulcrum_batch_time *time)
{
    return time->count > 0 || time->per_batch_s > 0.0 || time->per_item_s > 0.0;
}

static uint64_t hash_numbers(uint64_t hash, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_time(uint64_t hash, const struct fulcrum_batch_time *time)
{
    const double line[] = {time->per_batch_s, time->per_item_s, (double)time->count};
    hash = hash_numbers(hash, line, sizeof line / sizeof line[0]);
    hash = hash_numbers(hash, time->size, time->count);
    return hash_numbers(hash, time->time_s, time->count);
}

uint64_t fulcrum_network_hash(const struct fulcrum_network *network)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    const struct fulcrum_training *train = &network->training;
    const double numbers[] = {network->actors, (double)cpu->curve, cpu->core_count,
        cpu->thread_count, cpu->reserved_threads, cpu->smt_yield_frac, cpu->turbo_frac,
        cpu->oversubscription_frac, cpu->slice_s, cpu->serial_frac, cpu->knee,
        cpu->cap_per_core, cpu->cross_socket_frac, (double)cpu->capacity_count,
        cpu->crowd_count, network->step.mean_s, network->step.cv,
        (double)network->step.law, (double)network->policy, (double)network->loop,
        network->batch_size, network->depth, network->delay_s, network->server_wake_s,
        network->poll_s, network->poll_wake_s, network->server_wake_mean_s,
        network->waker_s, train->env_steps_per_train_step, train->train_step_s,
        train->queue_train_steps, train->sharing_frac};
    uint64_t hash = hash_numbers(0, numbers, sizeof numbers / sizeof numbers[0]);
    hash = hash_numbers(hash, cpu->capacity, cpu->capacity_count);
    return hash_time(hash_time(hash, &network->host), &network->gpu);
}

double fulcrum_sharing_stretch(const struct fulcrum_training *training)
{
    return training->sharing_frac > 0.0 ? 2.0 / training->sharing_frac : 2.0;
}

const char *fulcrum_step_law_name(int law)
{
    static const char *const names[] = {"lognormal", "exponential", "deterministic",
        "erlang", "hyperexponential", "pareto"};
    return FULCRUM_NAMED(names, law);
}

const char *fulcrum_batch_policy_name(int policy)
{
    static const char *const names[] = {"greedy", "fixed"};
    return FULCRUM_NAMED(names, policy);
}

const char *fulcrum_loop_name(int loop)
{
    static const char *const names[] = {"central", "alternating"};
    return FULCRUM_NAMED(names, loop);
}

enum fulcrum_bottleneck fulcrum_bottleneck_of(const struct fulcrum_solution *solution)
{
    const struct {
        enum fulcrum_bottleneck bound;
        double busy_frac;
    } stations[] = {
        {FULCRUM_BOUND_CPU, solution->cpu_thread_busy_frac},
        {FULCRUM_BOUND_HOST, solution->host_busy_frac},
        {FULCRUM_BOUND_GPU, solution->gpu_busy_frac},
    };
    enum fulcrum_bottleneck bound = FULCRUM_BOUND_LATENCY;
    double busiest = FULCRUM_BOTTLENECK_BUSY_FRAC;
    for (size_t i = 0; i < sizeof stations / sizeof stations[0]; i++) {
        if (stations[i].busy_frac >= busiest) {
            busiest = stations[i].busy_frac;
            bound = stations[i].bound;
        }
    }
    return bound;
}

const char *fulcrum_bottleneck_name(enum fulcrum_bottleneck bottleneck)
{
    static const char *const names[] = {
        "cpu", "host", "gpu", "latency", "learner", "memory"};
    return FULCRUM_NAMED(names, bottleneck);
}

const char *fulcrum_flag_text(enum fulcrum_flag_index flag)
{
    static const char *const texts[] = {
#define X(name, text) text,
        FULCRUM_FLAG_LIST(X)
#undef X
    };
    return FULCRUM_NAMED(texts, flag);
}

/*
 * The border behind which solvers rely on a network. Solvers assert what this file
 * checks. Every fault is reported, not the first one only, and each with the range that
 * was expected. The bounds are no opinions on hardware: they keep sums finite,
 * allocations small enough to succeed, and laws away from the ends where their formulas
 * lose all digits.
 */

/* Far beyond any machine; they keep sums finite and memory bounded. */
#define MOST_ACTORS  1e7
#define MOST_THREADS 1e6
#define MOST_TIME_S  1e6
#define LEAST_TIME_S 1e-12 /* less is lost beside the longest times */
#define MOST_POINTS  1e6
#define LEAST_CV     1e-3
#define MOST_CV      100.0
#define MOST_RATE    1e6
#define LEAST_RATE   1e-6

/* A twentieth of the work: beyond it something else is wrong. */
#define LEAST_SHARING 0.05

/* Any less often would be rounded off a count of steps; 0 stands for no training. */
#define LEAST_TRAIN_PERIOD 1e-6

/* Named as in the lines of `fulcrum solve`. */
#define KEY(key, member) key, offsetof(struct fulcrum_network, member)
#define FIELD(member)    KEY(#member, member)

static const struct fulcrum_range always[] = {
    {FIELD(actors), 1.0, MOST_ACTORS, FULCRUM_RANGE_WHOLE},
    {FIELD(step.mean_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(host.per_batch_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(host.per_item_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(gpu.per_batch_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(gpu.per_item_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {KEY("batching.size", batch_size), 0.0, MOST_ACTORS, FULCRUM_RANGE_WHOLE},
    {KEY("batching.depth", depth), 1.0, MOST_ACTORS, FULCRUM_RANGE_WHOLE},
    {FIELD(delay_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(server_wake_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(poll_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(poll_wake_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(waker_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
    {FIELD(training.env_steps_per_train_step), 1e-6, 1e12, FULCRUM_RANGE_OR_ZERO},
};

#define CPU_KEY(key, member) "cpu." key, offsetof(struct fulcrum_cpu_station, member)
#define CPU(member)          CPU_KEY(#member, member)

static const struct fulcrum_range any_cpu[] = {
    {CPU_KEY("cores", core_count), 1.0, MOST_THREADS, FULCRUM_RANGE_REAL},
    {CPU_KEY("threads", thread_count), 1.0, MOST_THREADS, FULCRUM_RANGE_REAL},
    {CPU(reserved_threads), 0.0, MOST_THREADS, FULCRUM_RANGE_REAL},
    {CPU(slice_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_OR_ZERO},
};

static const struct fulcrum_range smt_turbo[] = {
    {CPU(smt_yield_frac), 0.0, 1.0, FULCRUM_RANGE_REAL},
    {CPU(turbo_frac), 0.0, 1.0, FULCRUM_RANGE_REAL},
    {CPU(oversubscription_frac), 0.0, 10.0, FULCRUM_RANGE_REAL},
};

static const struct fulcrum_range saturating[] = {
    {CPU(smt_yield_frac), 0.0, 1.0, FULCRUM_RANGE_REAL},
    {CPU(serial_frac), 0.0, 1.0, FULCRUM_RANGE_REAL},
    {CPU(knee), 0.5, 50.0, FULCRUM_RANGE_REAL},
    {CPU(cap_per_core), 0.0, 1e3, FULCRUM_RANGE_POSITIVE},
    {CPU(cross_socket_frac), 0.0, 1.0, FULCRUM_RANGE_POSITIVE},
};

static const struct fulcrum_range training[] = {
    {FIELD(training.env_steps_per_train_step), LEAST_TRAIN_PERIOD, 1e12,
        FULCRUM_RANGE_REAL},
    {FIELD(training.train_step_s), LEAST_TIME_S, MOST_TIME_S, FULCRUM_RANGE_REAL},
    {FIELD(training.queue_train_steps), 1.0, 1e9, FULCRUM_RANGE_REAL},
    {FIELD(training.sharing_frac), LEAST_SHARING, 2.0, FULCRUM_RANGE_OR_ZERO},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* An unknown choice of an enum, named as in files. */
static void check_choice(
    struct fulcrum_error *faults, const char *field, int value, const char *name)
{
    FAULT_IF(name == NULL, faults, FULCRUM_ERR_RANGE,
        "%s = %d is none of the known choices", field, value);
}

static void check_capacity(
    struct fulcrum_error *faults, const struct fulcrum_cpu_station *cpu)
{
    if (cpu->capacity == NULL || cpu->capacity_count == 0 ||
        (double)cpu->capacity_count > MOST_THREADS) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "cpu.capacity has %zu values; expected 1 to %g", cpu->capacity_count,
            MOST_THREADS);
        return;
    }
    for (size_t i = 0; i < cpu->capacity_count; i++) {
        double rate = cpu->capacity[i];
        FAULT_IF(!(rate >= LEAST_RATE && rate <= MOST_RATE), faults, FULCRUM_ERR_RANGE,
            "cpu.capacity[%zu] = %g is outside [%g, %g]", i, rate, LEAST_RATE,
            MOST_RATE);
    }
}

/* The cv each law can have; Pareto's is fixed by its shape and not looked at. */
static void check_step(struct fulcrum_error *faults, const struct fulcrum_step *step)
{
    static const struct {
        double low;
        double high;
    } cv[] = {
        [FULCRUM_LAW_LOGNORMAL] = {LEAST_CV, MOST_CV},
        [FULCRUM_LAW_EXPONENTIAL] = {1.0, 1.0},
        [FULCRUM_LAW_DETERMINISTIC] = {0.0, 0.0},
        [FULCRUM_LAW_ERLANG] = {LEAST_CV, 1.0},
        [FULCRUM_LAW_HYPEREXPONENTIAL] = {1.0, MOST_CV},
        [FULCRUM_LAW_PARETO] = {-INFINITY, INFINITY},
    };
    const char *name = fulcrum_step_law_name(step->law);
    check_choice(faults, "step.law", (int)step->law, name);
    if (name == NULL) {
        return;
    }
    size_t law = (size_t)step->law;
    bool left_out = step->law == FULCRUM_LAW_EXPONENTIAL && step->cv == 0.0;
    FAULT_IF(!left_out && !(step->cv >= cv[law].low && step->cv <= cv[law].high),
        faults, FULCRUM_ERR_RANGE,
        "step.cv = %g is outside [%g, %g], the range of the %s law", step->cv,
        cv[law].low, cv[law].high, name);
}

static void check_batch_table(struct fulcrum_error *faults, const char *station,
    const struct fulcrum_batch_time *time)
{
    if (time->count == 0) {
        return;
    }
    if (time->size == NULL || time->time_s == NULL ||
        (double)time->count > MOST_POINTS) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "%s: a table of %zu points needs sizes and times, at most %g", station,
            time->count, MOST_POINTS);
        return;
    }
    double above = 0.0;
    for (size_t i = 0; i < time->count; i++) {
        FAULT_IF(!(time->size[i] >= 1.0 && time->size[i] > above &&
                     time->size[i] <= MOST_ACTORS),
            faults, FULCRUM_ERR_RANGE,
            "%s.size[%zu] = %g; expected increasing sizes in [1, %g]", station, i,
            time->size[i], MOST_ACTORS);
        FAULT_IF(!(time->time_s[i] > 0.0 && time->time_s[i] <= MOST_TIME_S), faults,
            FULCRUM_ERR_RANGE, "%s.time_s[%zu] = %g is outside (0, %g]", station, i,
            time->time_s[i], MOST_TIME_S);
        above = time->size[i];
    }
}

static void check_batching(
    struct fulcrum_error *faults, const struct fulcrum_network *network)
{
    check_choice(faults, "policy", (int)network->policy,
        fulcrum_batch_policy_name(network->policy));
    if (network->policy != FULCRUM_BATCH_FIXED) {
        return;
    }
    FAULT_IF(network->batch_size < 1.0, faults, FULCRUM_ERR_RANGE,
        "batching.size = %g; a fixed batch needs at least 1", network->batch_size);
    FAULT_IF(network->batch_size > network->actors, faults, FULCRUM_ERR_INFEASIBLE,
        "batching.size = %g would wait for ever for actors = %g", network->batch_size,
        network->actors);
}

/* A table may run down to 0 before its first point. */
static bool takes_time(
    const struct fulcrum_network *network, const struct fulcrum_batch_time *time)
{
    bool fixed = network->policy == FULCRUM_BATCH_FIXED && network->batch_size >= 1.0;
    return fulcrum_batch_time(time, fixed ? network->batch_size : 1.0) > 0.0;
}

void fulcrum_cpu_station_check(
    const struct fulcrum_cpu_station *cpu, struct fulcrum_error *found)
{
    fulcrum_check_ranges(found, "", cpu, any_cpu, LENGTH(any_cpu));
    FAULT_IF(cpu->thread_count < cpu->core_count, found, FULCRUM_ERR_RANGE,
        "cpu.threads = %g is below cpu.cores = %g", cpu->thread_count, cpu->core_count);
    FAULT_IF(cpu->reserved_threads >= cpu->thread_count, found, FULCRUM_ERR_RANGE,
        "cpu.reserved_threads = %g leaves none of cpu.threads = %g to actors",
        cpu->reserved_threads, cpu->thread_count);
    check_choice(
        found, "cpu.curve", (int)cpu->curve, fulcrum_cpu_curve_name(cpu->curve));
    if (cpu->curve == FULCRUM_CURVE_TABLE) {
        check_capacity(found, cpu);
    } else if (cpu->curve == FULCRUM_CURVE_SMT_TURBO) {
        fulcrum_check_ranges(found, "", cpu, smt_turbo, LENGTH(smt_turbo));
    } else {
        fulcrum_check_ranges(found, "", cpu, saturating, LENGTH(saturating));
    }
}

enum fulcrum_status fulcrum_network_check(
    const struct fulcrum_network *network, struct fulcrum_error *err)
{
    struct fulcrum_error faults;
    fulcrum_error_clear(&faults);
    fulcrum_check_ranges(&faults, "", network, always, LENGTH(always));
    fulcrum_cpu_station_check(&network->cpu, &faults);
    check_step(&faults, &network->step);
    check_batch_table(&faults, "host", &network->host);
    check_batch_table(&faults, "gpu", &network->gpu);
    check_batching(&faults, network);
    if (network->training.env_steps_per_train_step > 0.0) {
        fulcrum_check_ranges(&faults, "", network, training, LENGTH(training));
    }
    if (faults.status == FULCRUM_OK) {
        /* Without any service time the throughput would be infinite. */
        bool some = network->step.mean_s > 0.0 || network->delay_s > 0.0 ||
                    takes_time(network, &network->host) ||
                    takes_time(network, &network->gpu);
        FAULT_IF(!some, &faults, FULCRUM_ERR_INFEASIBLE,
            "step.mean_s, host, gpu and delay_s are all 0: nothing takes time");
    }
    if (faults.status != FULCRUM_OK && err != NULL) {
        *err = faults;
    }
    return faults.status;
}
