/* cycle.c - the mean cycle of a greedy batch server, by equations (8) and (9). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * (8) follows the cohorts of actors that earlier batches sent to step and holds for any
 * law of steps while every actor has a thread; (9) drains a fluid of actors and holds
 * for exponential steps with any number of actors. (8) says nothing of the moments when
 * nobody is ready; (9) adds the chance of that, and the two are blended by it. A delay
 * shifts each cohort, and takes actors out of the fluid until it is over.
 *
 * The unknown is a single number in each, the period of a cycle or the batch size, and
 * found by bracketing: the functions have kinks where threads run out, so that no
 * derivative is used.
 */
#include "model/cycle.h"

#include <math.h>

/* Averages over +- this many sqrt(b), which smooths the kinks of c(n); from (9). */
#define SMOOTHING 1.2

/*
 * Limits of validity, from simulations of random networks; docs/model.md "Where the
 * fast solver is valid" tells what lies beyond each.
 */
#define LEAST_CV             0.2
#define WIDE_CV              1.5
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

/* t(b); a batch has at least one item whatever its mean-field size. */
static double service_s(const struct fulcrum_cycle_problem *problem, double batch)
{
    batch = fmax(1.0, batch);
    return fulcrum_batch_time(&problem->network->host, batch) +
           problem->gpu_stretch * fulcrum_batch_time(&problem->network->gpu, batch);
}

/*
 * Root of a function that is negative at `low` and positive at `high`: false position,
 * with the Illinois rule against a stuck end.
 */
static double root(double (*f)(const struct fulcrum_cycle_problem *problem, double x),
    const struct fulcrum_cycle_problem *problem, double low, double high)
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

/* How many cohorts of those released `age` ago and earlier are in the delay. */
static double cohorts_delayed(double period, double delay, double age)
{
    return ceil(fmax(0.0, delay - age) / period);
}

/* Cohorts at the CPU, by the share that is left of each. */
static double cohorts_at_cpu(
    const struct fulcrum_cycle_problem *problem, double period, double age)
{
    double delayed = cohorts_delayed(period, problem->delay_work, age);
    return cohorts_left(
        &problem->form, period, age + delayed * period - problem->delay_work);
}

static double cohort_batch(const struct fulcrum_cycle_problem *problem, double period)
{
    double delayed = cohorts_delayed(period, problem->delay_work, 0.0);
    return problem->network->actors /
           (1.0 + delayed + cohorts_at_cpu(problem, period, 0.0));
}

/* Adds `weight` times the state with n actors at the CPU. */
static void add_state(struct fulcrum_cycle *cycle,
    const struct fulcrum_cpu_station *cpu, double n, double weight)
{
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * servers / cpu->thread_count;
    cycle->at_cpu += weight * n;
    cycle->stepping += weight * fmin(n, servers);
    cycle->on_cores += weight * fmin(n, cores);
}

/* c(n) averaged over the spread of n, which smooths its kinks. */
static double smooth_capacity(const struct fulcrum_cycle_problem *problem, double n)
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
static double cohort_period_s(const struct fulcrum_cycle_problem *problem,
    double period, struct fulcrum_cycle *cycle)
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double batch = cohort_batch(problem, period);
    double part = period / CYCLE_POINTS;
    double time_s = 0.0;
    for (int i = 0; i < CYCLE_POINTS; i++) {
        double age = ((double)i + 0.5) * part;
        double n = fmax(1e-9, batch * cohorts_at_cpu(problem, period, age));
        double part_s = part * n / smooth_capacity(problem, n);
        time_s += part_s;
        if (cycle != NULL) {
            add_state(cycle, cpu, n, part_s);
        }
    }
    return time_s;
}

static double cohort_gap(const struct fulcrum_cycle_problem *problem, double period)
{
    double batch = cohort_batch(problem, period);
    return cohort_period_s(problem, period, NULL) - service_s(problem, batch);
}

/*
 * (8), in the CPU's work time, which makes it hold for any c(n) up to S. The period is
 * searched around `guess`.
 */
static struct fulcrum_cycle solve_cohort(
    const struct fulcrum_cycle_problem *problem, double guess)
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
    struct fulcrum_cycle cycle = {.batch = cohort_batch(problem, period)};
    cycle.steps_per_s = cycle.batch / service_s(problem, cycle.batch);
    double time_s = cohort_period_s(problem, period, &cycle);
    cycle.at_cpu /= time_s;
    cycle.stepping /= time_s;
    cycle.on_cores /= time_s;
    return cycle;
}

/* The two ends of the smoothing interval, within the actors there are. */
static void spread(
    const struct fulcrum_cycle_problem *problem, double batch, double out[2])
{
    double actors = problem->network->actors;
    double middle = actors - batch;
    double reach = fmin(SMOOTHING * sqrt(batch), fmin(middle, batch));
    out[0] = middle - reach;
    out[1] = middle + reach;
}

/*
 * How many of `outside` actors, neither on the host nor on the GPU, are at the CPU and
 * not in the delay.
 */
static double outside_at_cpu(const struct fulcrum_network *network, double outside)
{
    double delay_rel = network->delay_s / network->step.mean_s;
    double rate = fulcrum_cpu_capacity(&network->cpu, outside);
    return outside / (1.0 + delay_rel * rate / fmax(1e-9, outside));
}

/* The chance that nobody finishes during a batch, so that the GPU falls idle. */
static double idle_chance(
    const struct fulcrum_cycle_problem *problem, double batch, double busy_s)
{
    const struct fulcrum_network *network = problem->network;
    double n = outside_at_cpu(network, network->actors - batch);
    double rate = fulcrum_cpu_capacity(&network->cpu, n);
    return exp(-rate * busy_s / network->step.mean_s);
}

/* How long the GPU idles per batch, if it does so with this chance. */
static double mean_idle_s(const struct fulcrum_network *network, double chance)
{
    double n = outside_at_cpu(network, network->actors);
    return chance * network->step.mean_s / fulcrum_cpu_capacity(&network->cpu, n);
}

/*
 * What a delay makes of a cycle: `absent` actors are still in it when a batch starts;
 * `returning` ones of them reach the CPU `wait_s` later.
 */
struct delayed {
    double absent;
    double returning;
    double wait_s;
};

static struct delayed delayed_at(
    const struct fulcrum_cycle_problem *problem, double batch, double busy_s)
{
    const struct fulcrum_network *network = problem->network;
    struct delayed delayed = {.absent = 0.0};
    if (network->delay_s > 0.0) {
        double idle = idle_chance(problem, batch, busy_s);
        double length_s = busy_s + mean_idle_s(network, idle);
        double whole = floor(network->delay_s / length_s);
        delayed.returning = batch * (1.0 - idle);
        delayed.absent = delayed.returning * (whole + 1.0);
        delayed.wait_s = fmin(busy_s, network->delay_s - whole * length_s);
    }
    return delayed;
}

/* How many are at the CPU time_s after a batch started that left n to others. */
static double left_after(const struct fulcrum_cycle_problem *problem, double n,
    const struct delayed *delayed, double time_s)
{
    double absent = fmin(n, delayed->absent);
    double early = n - absent;
    double returning =
        absent > 0.0 ? delayed->returning * absent / delayed->absent : 0.0;
    if (time_s < delayed->wait_s) {
        return fulcrum_fluid_drain_left(&problem->drain, early, time_s);
    }
    if (delayed->wait_s > 0.0) {
        early = fulcrum_fluid_drain_left(&problem->drain, early, delayed->wait_s);
    }
    return fulcrum_fluid_drain_left(
        &problem->drain, early + returning, time_s - delayed->wait_s);
}

static double mean_field_gap(const struct fulcrum_cycle_problem *problem, double batch)
{
    double busy_s = service_s(problem, batch);
    struct delayed delayed = delayed_at(problem, batch, busy_s);
    double ends[2];
    spread(problem, batch, ends);
    double done = 0.0;
    for (int i = 0; i < 2; i++) {
        double absent = fmin(ends[i], delayed.absent);
        double at_cpu = ends[i] - absent;
        at_cpu += absent > 0.0 ? delayed.returning * absent / delayed.absent : 0.0;
        done += 0.5 * (at_cpu - left_after(problem, ends[i], &delayed, busy_s));
    }
    return batch - done - idle_chance(problem, batch, busy_s);
}

/* (9) */
static struct fulcrum_cycle solve_mean_field(
    const struct fulcrum_cycle_problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    double batch = root(mean_field_gap, problem, 1e-9, network->actors);
    double busy_s = service_s(problem, batch);
    double wait_s = mean_idle_s(network, idle_chance(problem, batch, busy_s));
    double length_s = busy_s + wait_s;
    struct delayed delayed = delayed_at(problem, batch, busy_s);
    struct fulcrum_cycle cycle = {.batch = batch, .steps_per_s = batch / length_s};
    double ends[2];
    spread(problem, batch, ends);
    double weight = 0.5 * busy_s / CYCLE_POINTS / length_s;
    for (int i = 0; i < CYCLE_POINTS; i++) {
        double time_s = ((double)i + 0.5) * busy_s / CYCLE_POINTS;
        for (int j = 0; j < 2; j++) {
            double n = left_after(problem, ends[j], &delayed, time_s);
            add_state(&cycle, &network->cpu, n, weight);
        }
    }
    double idle_n = outside_at_cpu(network, network->actors);
    add_state(&cycle, &network->cpu, idle_n, wait_s / length_s);
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
static struct fulcrum_cycle solve_unlimited(const struct fulcrum_cycle_problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    struct fulcrum_cycle field = solve_mean_field(problem);
    double idle = idle_chance(problem, field.batch, service_s(problem, field.batch));
    double share = (idle - IDLE_BLEND_FROM) / (IDLE_BLEND_TO - IDLE_BLEND_FROM);
    if (network->actors > fulcrum_cpu_servers(&network->cpu) || share >= 1.0) {
        return field;
    }
    struct fulcrum_cycle_problem delayed = *problem;
    if (network->delay_s > 0.0) {
        double n = fmax(1.0, field.at_cpu);
        delayed.delay_work =
            network->delay_s * fulcrum_cpu_capacity(&network->cpu, n) / n;
    }
    struct fulcrum_cycle cohort =
        solve_cohort(&delayed, service_s(problem, field.batch));
    share = fmax(0.0, share);
    return (struct fulcrum_cycle){.batch = between(cohort.batch, field.batch, share),
        .steps_per_s = between(cohort.steps_per_s, field.steps_per_s, share),
        .at_cpu = between(cohort.at_cpu, field.at_cpu, share),
        .stepping = between(cohort.stepping, field.stepping, share),
        .on_cores = between(cohort.on_cores, field.on_cores, share)};
}

/*
 * How many actors can be at the CPU while a full batch waits behind the one in service,
 * with room for their fluctuation; below 0 if none.
 */
static double room_at_cpu(const struct fulcrum_cycle_problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    double size = network->batch_size;
    double absent = size / service_s(problem, size) * network->delay_s;
    double free = network->actors - absent - 1.5 * size - 1.0;
    /* n + LIMIT_MARGIN sqrt(n) = free, solved for n. */
    double half = 0.5 * LIMIT_MARGIN;
    double side = sqrt(half * half + fmax(0.0, free)) - half;
    return free > 0.0 ? side * side : -1.0;
}

/* Every batch is full: the GPU alone sets the pace, and the CPU keeps up with it. */
static struct fulcrum_cycle full_batches(const struct fulcrum_cycle_problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    struct fulcrum_cycle cycle = {.batch = network->batch_size};
    cycle.steps_per_s = cycle.batch / service_s(problem, cycle.batch);
    double work = cycle.steps_per_s * network->step.mean_s;
    double low = 0.0;
    double high = room_at_cpu(problem);
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

static int keeps_batches_full(const struct fulcrum_cycle_problem *problem)
{
    const struct fulcrum_network *network = problem->network;
    double room = room_at_cpu(problem);
    double size = network->batch_size;
    double work = size / service_s(problem, size) * network->step.mean_s;
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

/*
 * (9) takes steps as exponential. With more actors than threads that is harmless only
 * where the threads are nearly always busy, or where nearly all steps end within a
 * batch.
 */
static const char *law_refusal(
    const struct fulcrum_network *network, const struct fulcrum_cycle *cycle)
{
    double servers = fulcrum_cpu_servers(&network->cpu);
    double cv = fulcrum_step_cv(&network->step);
    int flooded =
        network->actors > servers && cycle->stepping >= LEAST_FLOODED_FRAC * servers;
    if (cv < LEAST_CV && !flooded) {
        return "steps vary so little that actors may lock into step";
    }
    if (network->actors <= servers || network->step.law == FULCRUM_LAW_EXPONENTIAL) {
        return NULL;
    }
    int wide = cv > WIDE_CV;
    double least = wide ? LEAST_FLOODED_FRAC : LEAST_SATURATED_FRAC;
    int saturated = cycle->stepping >= least * servers;
    int halves = !wide && cycle->batch >= LEAST_HALVES_FRAC * network->actors;
    return saturated || halves ? NULL
                               : "the law of the steps matters where threads are short "
                                 "for a part of the time only";
}

void fulcrum_cycle_problem_init(
    struct fulcrum_cycle_problem *problem, const struct fulcrum_network *network)
{
    problem->network = network;
    problem->form = fulcrum_step_form_of(&network->step);
    problem->gpu_stretch = 1.0;
    problem->delay_work = 0.0;
    fulcrum_fluid_drain_init(
        &problem->drain, &network->cpu, network->actors, network->step.mean_s);
}

const char *fulcrum_cycle_solve(
    const struct fulcrum_cycle_problem *problem, struct fulcrum_cycle *out)
{
    const struct fulcrum_network *network = problem->network;
    if (loses_rate(&problem->drain)) {
        return "the CPU slows down with more actors";
    }
    if (network->batch_size > 0.0 && keeps_batches_full(problem)) {
        *out = full_batches(problem);
        return NULL;
    }
    *out = solve_unlimited(problem);
    double reach = out->batch + LIMIT_MARGIN * sqrt(out->batch);
    if (network->batch_size > 0.0 &&
        fmin(reach, network->actors) > network->batch_size) {
        return "the batch limit acts for a part of the time only";
    }
    return law_refusal(network, out);
}
