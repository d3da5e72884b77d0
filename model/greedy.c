/* greedy.c - fast solver of networks that batch greedily. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mean-field equations (8) and (9) of docs/model.md "Greedy solver" for a network whose
 * GPU takes whatever waits. (8) follows the cohorts of actors that earlier batches sent
 * to step and holds for any law of steps while every actor has a thread; (9) drains a
 * fluid of actors and holds for exponential steps with any number of actors. Both say
 * nothing of the moments when nobody is ready; (9) adds the chance of that, and the two
 * are blended by it.
 *
 * The unknown is a single number in each, the batch size or the period of a cycle, and
 * found by bracketing: the functions have kinks where threads run out, so that no
 * derivative is used. Where the equations are off, the solver refuses
 * (fulcrum_fast_refusal) rather than answers: its limits were found by comparing it
 * with simulations of random networks.
 */
#include "model/greedy.h"

#include <assert.h>
#include <math.h>

#include "model/fluid_drain.h"
#include "model/step_law.h"

/* Averages over +- this many sqrt(b), which smooths the kinks of c(n); from (9). */
#define SMOOTHING 1.2

/*
 * Limits of validity, from simulations of random networks; docs/model.md "Where the
 * fast solver is valid" tells what lies beyond each.
 */
#define LEAST_CV             0.2
#define MOST_CV              3.0
#define WIDE_CV              1.5
#define LEAST_ACTORS         4.0
#define MOST_RATE_LOSS_FRAC  0.15
#define LEAST_SATURATED_FRAC 0.9
#define MOST_CPU_LOAD_FRAC   0.8
#define LEAST_FLOODED_FRAC   0.98
#define LEAST_HALVES_FRAC    0.49
#define LIMIT_MARGIN         4.0

/* Between these chances of an idle GPU, (8) gives way to (9). */
#define IDLE_BLEND_FROM 0.03
#define IDLE_BLEND_TO   0.3

#define CYCLE_POINTS   16
#define DIRECT_TERMS   16
#define NO_TAIL        1e-9
#define ROOT_STEPS     60
#define ROOT_TOLERANCE 1e-8

struct problem {
    const struct fulcrum_network *network;
    struct fulcrum_step_form form;
    struct fulcrum_fluid_drain drain;
};

/* One stationary cycle, from the start of a batch to the start of the next. */
struct cycle {
    double batch;
    double steps_per_s;
    double at_cpu; /* means over the cycle */
    double stepping;
    double on_cores;
};

/* t(b); a batch has at least one item whatever its mean-field size. */
static double service_s(const struct fulcrum_network *network, double batch)
{
    batch = fmax(1.0, batch);
    return fulcrum_batch_time(&network->host, batch) +
           fulcrum_batch_time(&network->gpu, batch);
}

/*
 * Root of a function that is negative at `low` and positive at `high`: false position,
 * with the Illinois rule against a stuck end.
 */
static double root(double (*f)(const struct problem *problem, double x),
    const struct problem *problem, double low, double high)
{
    double f_low = f(problem, low);
    double f_high = f(problem, high);
    double middle = low;
    int side = 0;
    for (int i = 0; i < ROOT_STEPS && high - low > ROOT_TOLERANCE * high; i++) {
        middle = low + (high - low) * f_low / (f_low - f_high);
        double f_middle = f(problem, middle);
        if (fabs(f_middle) <= 0.0) {
            break;
        }
        if (f_middle < 0.0) {
            low = middle;
            f_low = f_middle;
            f_high *= side < 0 ? 0.5 : 1.0;
            side = -1;
        } else {
            high = middle;
            f_high = f_middle;
            f_low *= side > 0 ? 0.5 : 1.0;
            side = 1;
        }
    }
    return middle;
}

/* sum_{j >= 0} P(length > age + j period): Euler-Maclaurin after the first terms. */
static double cohorts_left(
    const struct fulcrum_step_form *form, double period_s, double age_s)
{
    double sum = 0.0;
    double term = 0.0;
    for (int j = 0; j < DIRECT_TERMS; j++) {
        term = fulcrum_step_tail(form, age_s);
        sum += term;
        if (term < NO_TAIL) {
            return sum;
        }
        age_s += period_s;
    }
    double here = fulcrum_step_tail(form, age_s);
    double next = fulcrum_step_tail(form, age_s + period_s);
    return sum + fulcrum_step_excess(form, age_s) / period_s + 0.5 * here +
           (term - next) / 24.0;
}

static double cohort_batch(const struct problem *problem, double period_s)
{
    return problem->network->actors /
           (1.0 + cohorts_left(&problem->form, period_s, 0.0));
}

/* Adds `weight` times the state with n actors at the CPU. */
static void add_state(
    struct cycle *cycle, const struct fulcrum_cpu_station *cpu, double n, double weight)
{
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * servers / cpu->thread_count;
    cycle->at_cpu += weight * n;
    cycle->stepping += weight * fmin(n, servers);
    cycle->on_cores += weight * fmin(n, cores);
}

/* c(n) averaged over the spread of n, which smooths its kinks. */
static double smooth_capacity(const struct problem *problem, double n)
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double actors = problem->network->actors;
    double reach = fmin(sqrt(fmax(0.0, n * (1.0 - n / actors))), fmin(n, actors - n));
    return 0.5 * (fulcrum_cpu_capacity(cpu, n - reach) +
                     fulcrum_cpu_capacity(cpu, n + reach));
}

/*
 * Seconds that pass while every stepping actor gets `period` of work done, the state
 * being stationary; the means over that time are added to `cycle` if there is one.
 */
static double cohort_period_s(
    const struct problem *problem, double period, struct cycle *cycle)
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double batch = cohort_batch(problem, period);
    double part = period / CYCLE_POINTS;
    double time_s = 0.0;
    for (int i = 0; i < CYCLE_POINTS; i++) {
        double age = ((double)i + 0.5) * part;
        double n = fmax(1e-9, batch * cohorts_left(&problem->form, period, age));
        double part_s = part * n / smooth_capacity(problem, n);
        time_s += part_s;
        if (cycle != NULL) {
            add_state(cycle, cpu, n, part_s);
        }
    }
    return time_s;
}

static double cohort_gap(const struct problem *problem, double period)
{
    double batch = cohort_batch(problem, period);
    return cohort_period_s(problem, period, NULL) - service_s(problem->network, batch);
}

/*
 * (8), in the CPU's work time, which makes it hold for any c(n) up to S. The period is
 * searched around `guess`.
 */
static struct cycle solve_cohort(const struct problem *problem, double guess)
{
    double low = 0.5 * guess;
    double high = 2.0 * guess;
    for (int i = 0; i < ROOT_STEPS && cohort_gap(problem, low) > 0.0; i++) {
        high = low;
        low *= 0.5;
    }
    for (int i = 0; i < ROOT_STEPS && cohort_gap(problem, high) < 0.0; i++) {
        low = high;
        high *= 2.0;
    }
    double period = root(cohort_gap, problem, low, high);
    struct cycle cycle = {.batch = cohort_batch(problem, period)};
    cycle.steps_per_s = cycle.batch / service_s(problem->network, cycle.batch);
    double time_s = cohort_period_s(problem, period, &cycle);
    cycle.at_cpu /= time_s;
    cycle.stepping /= time_s;
    cycle.on_cores /= time_s;
    return cycle;
}

/* The two ends of the smoothing interval, within the actors there are. */
static void spread(const struct problem *problem, double batch, double out[2])
{
    double actors = problem->network->actors;
    double middle = actors - batch;
    double reach = fmin(SMOOTHING * sqrt(batch), fmin(middle, batch));
    out[0] = middle - reach;
    out[1] = middle + reach;
}

/* The chance that nobody finishes during a batch, so that the GPU falls idle. */
static double idle_chance(const struct problem *problem, double batch, double busy_s)
{
    const struct fulcrum_network *network = problem->network;
    double rate = fulcrum_cpu_capacity(&network->cpu, network->actors - batch);
    return exp(-rate * busy_s / network->step.mean_s);
}

static double mean_field_gap(const struct problem *problem, double batch)
{
    double busy_s = service_s(problem->network, batch);
    double ends[2];
    spread(problem, batch, ends);
    double done = 0.0;
    for (int i = 0; i < 2; i++) {
        done += 0.5 *
                (ends[i] - fulcrum_fluid_drain_left(&problem->drain, ends[i], busy_s));
    }
    return batch - done - idle_chance(problem, batch, busy_s);
}

/* (9) */
static struct cycle solve_mean_field(const struct problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    double batch = root(mean_field_gap, problem, 1e-9, network->actors);
    double busy_s = service_s(network, batch);
    double idle_s = idle_chance(problem, batch, busy_s) * network->step.mean_s /
                    fulcrum_cpu_capacity(&network->cpu, network->actors);
    double length_s = busy_s + idle_s;
    struct cycle cycle = {.batch = batch, .steps_per_s = batch / length_s};
    double ends[2];
    spread(problem, batch, ends);
    double weight = 0.5 * busy_s / CYCLE_POINTS / length_s;
    for (int i = 0; i < CYCLE_POINTS; i++) {
        double time_s = ((double)i + 0.5) * busy_s / CYCLE_POINTS;
        for (int j = 0; j < 2; j++) {
            double n = fulcrum_fluid_drain_left(&problem->drain, ends[j], time_s);
            add_state(&cycle, &network->cpu, n, weight);
        }
    }
    add_state(&cycle, &network->cpu, network->actors, idle_s / length_s);
    return cycle;
}

static double between(double from, double to, double share)
{
    return from + share * (to - from);
}

/*
 * While the GPU rarely idles, (8) knows the law of the steps. A GPU that idles often
 * sees actors one by one, and then the law hardly matters but the idling does: (9).
 */
static struct cycle solve_unlimited(const struct problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    struct cycle field = solve_mean_field(problem);
    double idle = idle_chance(problem, field.batch, service_s(network, field.batch));
    double share = (idle - IDLE_BLEND_FROM) / (IDLE_BLEND_TO - IDLE_BLEND_FROM);
    if (network->actors > fulcrum_cpu_servers(&network->cpu) || share >= 1.0) {
        return field;
    }
    struct cycle cohort = solve_cohort(problem, service_s(network, field.batch));
    share = fmax(0.0, share);
    return (struct cycle){.batch = between(cohort.batch, field.batch, share),
        .steps_per_s = between(cohort.steps_per_s, field.steps_per_s, share),
        .at_cpu = between(cohort.at_cpu, field.at_cpu, share),
        .stepping = between(cohort.stepping, field.stepping, share),
        .on_cores = between(cohort.on_cores, field.on_cores, share)};
}

/*
 * How many actors can be at the CPU while a full batch waits behind the one in service,
 * with room for their fluctuation; below 0 if none.
 */
static double room_at_cpu(const struct fulcrum_network *network)
{
    double free = network->actors - 1.5 * network->batch_size - 1.0;
    /* n + LIMIT_MARGIN sqrt(n) = free, solved for n. */
    double half = 0.5 * LIMIT_MARGIN;
    double side = sqrt(half * half + fmax(0.0, free)) - half;
    return free > 0.0 ? side * side : -1.0;
}

/* Every batch is full: the GPU alone sets the pace, and the CPU keeps up with it. */
static struct cycle full_batches(const struct fulcrum_network *network)
{
    struct cycle cycle = {.batch = network->batch_size};
    cycle.steps_per_s = cycle.batch / service_s(network, cycle.batch);
    double work = cycle.steps_per_s * network->step.mean_s;
    double low = 0.0;
    double high = room_at_cpu(network);
    for (int i = 0; i < ROOT_STEPS; i++) {
        double middle = 0.5 * (low + high);
        if (fulcrum_cpu_capacity(&network->cpu, middle) < work) {
            low = middle;
        } else {
            high = middle;
        }
    }
    add_state(&cycle, &network->cpu, high, 1.0);
    return cycle;
}

static int keeps_batches_full(const struct fulcrum_network *network)
{
    double room = room_at_cpu(network);
    double size = network->batch_size;
    double work = size / service_s(network, size) * network->step.mean_s;
    return room > 0.0 &&
           work <= MOST_CPU_LOAD_FRAC * fulcrum_cpu_capacity(&network->cpu, room);
}

/* More actors at the CPU must not slow it down much: there could be two equilibria. */
static int loses_rate(const struct fulcrum_fluid_drain *drain)
{
    double best = 0.0;
    for (size_t i = 1; i <= drain->count; i++) {
        best = fmax(best, drain->rate[i]);
        if (drain->rate[i] < best * (1.0 - MOST_RATE_LOSS_FRAC)) {
            return 1;
        }
    }
    return 0;
}

static const char *structural_refusal(const struct fulcrum_network *network)
{
    if (network->policy != FULCRUM_BATCH_GREEDY) {
        return "batches of a fixed size need simulation";
    }
    if (network->training.env_steps_per_train_step > 0.0) {
        return "training beside inference needs simulation";
    }
    if (network->delay_s > 0.0) {
        return "a delay after the GPU needs simulation";
    }
    if (network->depth > 1.0 &&
        service_s(network, 1.0) > fulcrum_batch_time(&network->gpu, 1.0)) {
        return "a host that overlaps the GPU needs simulation";
    }
    if (network->step.mean_s <= 0.0 || service_s(network, 1.0) <= 0.0) {
        return "steps and batches must both take time";
    }
    if (network->actors > 1.0 && network->actors < LEAST_ACTORS) {
        return "two or three actors are too few for a mean";
    }
    double cv = fulcrum_step_cv(&network->step);
    if (cv < LEAST_CV) {
        return "steps vary so little that actors may lock into step";
    }
    if (cv > MOST_CV) {
        return "steps vary more than the fast method was checked for";
    }
    return NULL;
}

/*
 * (9) takes steps as exponential. With more actors than threads that is harmless only
 * where the threads are nearly always busy, or where nearly all steps end within a
 * batch.
 */
static const char *law_refusal(
    const struct fulcrum_network *network, const struct cycle *cycle)
{
    double servers = fulcrum_cpu_servers(&network->cpu);
    if (network->actors <= servers || network->step.law == FULCRUM_LAW_EXPONENTIAL) {
        return NULL;
    }
    int wide = fulcrum_step_cv(&network->step) > WIDE_CV;
    double least = wide ? LEAST_FLOODED_FRAC : LEAST_SATURATED_FRAC;
    int saturated = cycle->stepping >= least * servers;
    int halves = !wide && cycle->batch >= LEAST_HALVES_FRAC * network->actors;
    return saturated || halves ? NULL
                               : "the law of the steps matters where threads are short "
                                 "for a part of the time only";
}

static void report(const struct fulcrum_network *network, const struct cycle *cycle,
    struct fulcrum_solution *out)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    double size = fmax(1.0, cycle->batch);
    double host_s = fulcrum_batch_time(&network->host, size);
    double gpu_s = fulcrum_batch_time(&network->gpu, size);
    double rate = cycle->steps_per_s;
    out->method = FULCRUM_METHOD_FAST;
    out->steps_per_s = rate;
    out->mean_batch = size;
    out->cpu_thread_busy_frac = fmin(1.0, cycle->stepping / fulcrum_cpu_servers(cpu));
    out->cpu_core_busy_frac = fmin(1.0, cycle->on_cores / cpu->core_count);
    out->host_busy_frac = fmin(1.0, rate / size * host_s);
    out->gpu_inference_busy_frac = fmin(1.0, rate / size * gpu_s);
    out->gpu_busy_frac = out->gpu_inference_busy_frac;
    /* What is neither at the CPU nor on the GPU waits for its batch or is on the host.
     */
    double rest_s = network->actors / rate - gpu_s;
    out->residence.cpu_s = fmin(cycle->at_cpu / rate, rest_s - host_s);
    out->residence.host_s = rest_s - out->residence.cpu_s;
    out->residence.gpu_s = gpu_s;
}

const char *fulcrum_greedy_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out)
{
    const char *refusal = structural_refusal(network);
    if (refusal != NULL) {
        return refusal;
    }
    struct problem problem = {
        .network = network, .form = fulcrum_step_form_of(&network->step)};
    fulcrum_fluid_drain_init(
        &problem.drain, &network->cpu, network->actors, network->step.mean_s);
    if (loses_rate(&problem.drain)) {
        return "the CPU slows down with more actors";
    }
    struct cycle cycle;
    if (network->batch_size > 0.0 && keeps_batches_full(network)) {
        cycle = full_batches(network);
    } else {
        cycle = solve_unlimited(&problem);
        double reach = cycle.batch + LIMIT_MARGIN * sqrt(cycle.batch);
        if (network->batch_size > 0.0 &&
            fmin(reach, network->actors) > network->batch_size) {
            return "the batch limit acts for a part of the time only";
        }
        refusal = law_refusal(network, &cycle);
    }
    if (refusal == NULL) {
        struct fulcrum_solution found = {.flags = 0};
        report(network, &cycle, &found);
        *out = found;
    }
    return refusal;
}
