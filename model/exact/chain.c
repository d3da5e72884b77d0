/* chain.c - exact solution of small networks with exponential steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With exponential steps the CPU forgets everything but the number of actors at it. So
 * the network is a Markov chain at the moments when batches start, and its state is the
 * number w of observations that wait then. A batch takes b of them; while it is served,
 * for a time t(b) that is not random, the N - w actors at the CPU can only become
 * fewer. At its end b actors step again, and if too few wait for the next batch,
 * completions come one by one until there are enough.
 *
 * The time spent with m actors at the CPU needs no integral: each passage from m to
 * m - 1 follows a stay of 1 / rate[m] on average, and the chance of a passage is the
 * chance that fewer than m are left.
 */

#include "model/exact/chain.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/try.h"

/*
 * How many of n stepping actors are left after a while. Uniformisation: jumps come at
 * one rate, that of the fastest count, and each lowers the count n with chance rate[n]
 * / scale. The distribution is then a mean over Poisson numbers of jumps. All terms are
 * positive, so that even small chances are right relative to themselves. That matters:
 * long batches make a network forget its past only through rare events, and their
 * ratios decide between its rhythms.
 *
 * Long times are cut into pieces, as exp(-jumps) must not underflow; counts that have
 * become too unlikely to matter leave the window, and with them their high rates.
 *
 * Where rate[n] is the fastest of all up to n, one jump of that scale surely leads from
 * n to n - 1. Jumps and the passing of time may change places, so that the distribution
 * after a start at n - 1 is that after a start at n and one jump more. A table of all
 * starts at one time costs no more than a few jumps each.
 */

/* Expected jumps of a piece: exp(-450) is 4e-196. */
#define MOST_JUMPS 450.0
/* Chances below this are taken as 0; its product with the above is still normal. */
#define LEAST_CHANCE 1e-100
/* The sum over jumps ends where the rest is this share of its smallest result... */
#define REST_FRAC 1e-17
/* ...or of this: rarer results are cut short. */
#define LEAST_EXACT_CHANCE 1e-60
/* Going on from the last result pays while it is at least this old. */
#define LEAST_OLD_FRAC 0.5

/* A count that falls one by one, at rate[n] while it is n; with room to compute in. */
struct pure_death {
    const double *rate_per_s; /* borrowed: [0] is 0, [1] to [most] are above 0 */
    size_t most;
    double *fastest_per_s; /* [n]: the largest of rate[0] to rate[n]; owns all arrays */
    double scale_per_s;    /* jumps per second that `leave` and `stay` are made for */
    double *leave;         /* [n]: chance that a jump lowers the count */
    double *stay;          /* [n]: chance that it does not */
    double *count;         /* distribution of the count after some jumps */

    /* The last result: */
    size_t start;
    double time_s;
    size_t low; /* outside low to high all chances are 0 */
    size_t high;
    double *left;
};

/* False where there is no memory; the caller frees fastest_per_s all the same. */
static bool pure_death_init(
    struct pure_death *death, const double *rate_per_s, size_t most)
{
    size_t room = most + 1;
    double *block = calloc(5 * room, sizeof *block);
    *death = (struct pure_death){
        .rate_per_s = rate_per_s, .most = most, .fastest_per_s = block};
    if (block == NULL) {
        return false;
    }
    death->leave = block + room;
    death->stay = block + 2 * room;
    death->count = block + 3 * room;
    death->left = block + 4 * room;
    for (size_t n = 1; n <= most; n++) {
        death->fastest_per_s[n] = fmax(death->fastest_per_s[n - 1], rate_per_s[n]);
    }
    return true;
}

/* Most starts share their scale with the one before: then nothing is to be done. */
static void set_scale(struct pure_death *death, double scale_per_s)
{
    if (!(scale_per_s < death->scale_per_s) && !(scale_per_s > death->scale_per_s)) {
        return;
    }
    death->scale_per_s = scale_per_s;
    for (size_t n = 0; n <= death->start; n++) {
        double rate_per_s = death->rate_per_s[n];
        death->leave[n] = rate_per_s / scale_per_s;
        death->stay[n] = (scale_per_s - rate_per_s) / scale_per_s;
    }
}

static size_t trimmed(double *chance, size_t low, size_t high)
{
    while (high > low && chance[high] < LEAST_CHANCE) {
        chance[high] = 0.0;
        high--;
    }
    return high;
}

/*
 * One jump, whose result has `weight` in the mean that is formed in `left`. The inner
 * loop of the chain.
 */
static void jump(struct pure_death *death, size_t *high, double weight)
{
    double *restrict count = death->count;
    double *restrict sum = death->left;
    const double *restrict leave = death->leave;
    const double *restrict stay = death->stay;
    size_t low = death->low;
    if (low > 0 && count[low] * leave[low] > LEAST_CHANCE) {
        low--;
    }
    for (size_t n = low; n < *high; n++) {
        count[n] = stay[n] * count[n] + leave[n + 1] * count[n + 1];
        sum[n] += weight * count[n];
    }
    count[*high] *= stay[*high];
    sum[*high] += weight * count[*high];
    death->low = low;
    *high = trimmed(count, low, *high);
}

/* Moves the distribution in `left` on by a Poisson number of jumps of mean `jumps`. */
static void run_piece(struct pure_death *death, double jumps)
{
    double weight = exp(-jumps);
    for (size_t n = 0; n <= death->high; n++) {
        death->count[n] = death->left[n];
        death->left[n] *= weight;
    }
    size_t high = death->high;
    double number = 0.0;
    double rest = 1.0;
    while (rest > REST_FRAC * fmax(death->left[death->low], LEAST_EXACT_CHANCE)) {
        number += 1.0;
        weight *= jumps / number;
        jump(death, &high, weight);
        /* The weights to come fall at least like a geometric series. */
        double ratio = jumps / (number + 1.0);
        rest = ratio < 1.0 ? weight * ratio / (1.0 - ratio) : 1.0;
    }
    death->high = trimmed(death->left, death->low, death->high);
}

/* From the start of the last result to one lower, at the same time. */
static void lower_start(struct pure_death *death)
{
    double *restrict left = death->left;
    const double *restrict rate_per_s = death->rate_per_s;
    double fastest_per_s = rate_per_s[death->start];
    size_t low = death->low > 0 ? death->low - 1 : 0;
    for (size_t n = low; n < death->high; n++) {
        left[n] = ((fastest_per_s - rate_per_s[n]) * left[n] +
                      rate_per_s[n + 1] * left[n + 1]) /
                  fastest_per_s;
    }
    size_t high = death->high;
    left[high] *= (fastest_per_s - rate_per_s[high]) / fastest_per_s;
    death->start--;
    if (left[low] < LEAST_CHANCE) {
        left[low] = 0.0;
        low++;
    }
    death->low = low;
    death->high = trimmed(left, death->low, high);
}

/*
 * Distribution of the count `time_s` after it was `start`: `start` + 1 chances that sum
 * to 1. Those above 1e-60 are right to about 1e-13 of themselves; those below 1e-100
 * are 0. Calls that begin one lower each, with times that grow by little, cost a
 * fraction of others. docs/model.md "Exact chain".
 * Borrowed: valid until the next call.
 */
static FULCRUM_NOT_INLINE const double *pure_death_run(
    struct pure_death *death, size_t start, double time_s)
{
    assert(start <= death->most && time_s >= 0.0);
    bool leads_on =
        start > 0 && start + 1 == death->start && time_s >= death->time_s &&
        death->time_s >= LEAST_OLD_FRAC * time_s &&
        !(death->rate_per_s[death->start] < death->fastest_per_s[death->start]);
    if (leads_on) {
        lower_start(death);
    } else {
        for (size_t n = 0; n <= death->start; n++) {
            death->left[n] = 0.0;
        }
        death->start = start;
        death->low = start;
        death->high = start;
        death->left[start] = 1.0;
        death->time_s = 0.0;
        death->scale_per_s = 0.0;
    }
    double rest_s = time_s - death->time_s;
    while (rest_s > 0.0 && death->high > 0) {
        set_scale(death, death->fastest_per_s[death->high]);
        double jumps = death->scale_per_s * rest_s;
        bool is_last = jumps <= MOST_JUMPS;
        run_piece(death, is_last ? jumps : MOST_JUMPS);
        rest_s = is_last ? 0.0 : rest_s - MOST_JUMPS / death->scale_per_s;
    }
    death->time_s = time_s;
    double sum = 0.0;
    for (size_t n = death->low; n <= death->high; n++) {
        sum += death->left[n];
    }
    for (size_t n = death->low; n <= death->high; n++) {
        death->left[n] /= sum;
    }
    return death->left;
}

/*
 * The stationary distribution of a Markov chain. Elimination after Grassmann, Taksar
 * and Heyman (1985): states are taken out one by one from the last, and the chances of
 * the others become those of the chain watched only while it is among them. It never
 * subtracts, so nothing cancels. Only the part of a row that is not 0 is worked on:
 * long batches leave few to wait, short ones many, and so half of the chain's matrix is
 * empty.
 */

/* Stands for the chance to leave a state that is never left for a lower one. */
#define LEAST_LEAVE 1e-250
/* Shares are scaled down beyond this. */
#define MOST_SUM 1e40

/* One past the last of the first `count` chances that is not 0. */
static size_t length_of(const double *row, size_t count)
{
    while (count > 0 && !(row[count - 1] > 0.0)) {
        count--;
    }
    return count;
}

static void add_gone(
    double *restrict row, const double *restrict gone, size_t length, double visits)
{
    for (size_t to = 0; to < length; to++) {
        row[to] += visits * gone[to];
    }
}

/* Divides `count` values by `divisor`. */
static void scale_down(double *value, size_t count, double divisor)
{
    for (size_t i = 0; i < count; i++) {
        value[i] /= divisor;
    }
}

/*
 * Share of visits to each of `count` states: out[0..count-1], summing to 1. `chance`
 * (count x count, row-major: from, to) is used up; its diagonal is not looked at, so
 * rows need not sum to 1. Each share is right to about count x 1e-16 of itself; one
 * below 1e-250 may be 0. Where chances of 0 leave several closed sets of states, the
 * result belongs to those that state 0 leads to.
 */
static FULCRUM_NOT_INLINE void stationary(double *out, double *chance, size_t count)
{
    for (size_t last = count - 1; last > 0; last--) {
        /* Takes out state `last`: who went there goes on to where it leads. */
        const double *gone = chance + last * count;
        size_t length = length_of(gone, last);
        double leave = 0.0;
        for (size_t to = 0; to < length; to++) {
            leave += gone[to];
        }
        leave = fmax(leave, LEAST_LEAVE);
        for (size_t from = 0; from < last; from++) {
            double *row = chance + from * count;
            if (row[last] > 0.0) {
                row[last] /= leave;
                add_gone(row, gone, length, row[last]);
            }
        }
    }
    out[0] = 1.0;
    double sum = 1.0;
    for (size_t to = 1; to < count; to++) {
        double visits = 0.0;
        for (size_t from = 0; from < to; from++) {
            visits += out[from] * chance[from * count + to];
        }
        out[to] = visits;
        sum += visits;
        /* State 0 may be so rare that the others would overflow beside it. */
        if (sum > MOST_SUM) {
            scale_down(out, to + 1, sum);
            sum = 1.0;
        }
    }
    scale_down(out, count, sum);
}

/* The chain itself. */

/* Its matrix has the square of this many entries. */
#define MOST_ACTORS 4096.0

/* Rates beyond its inverse would leave the range of double. */
#define LEAST_STEP_S 1e-15

/* What one turn of the network adds up to, from one start of a batch to the next. */
struct tally {
    double time_s;
    double at_cpu_s;   /* actors at the CPU times seconds, and so on */
    double stepping_s; /* of them on a thread */
    double on_cores_s; /* cores with a stepping thread */
    double steps;      /* size of the batch */
    double host_s;
    double gpu_s;
    double gpu_item_s;
};

struct chain {
    const struct fulcrum_network *network;
    size_t actors;
    size_t least; /* observations that start a batch */
    size_t most;  /* of a batch */
    size_t count; /* states: least, least + 1, ... wait */
    double *rate_per_s;
    struct pure_death death;
    struct tally *fill; /* [w]: from w waiting to `least` */
    struct tally *turn; /* [state] */
    double *chance;     /* [state, next state] */
    double *share;      /* [state] */
};

/*
 * Why there is no exact chain for this network, or NULL where there is one: exponential
 * steps, no overlap of host and GPU, no delay, no training. Borrowed, static.
 */
static const char *chain_refusal(const struct fulcrum_network *network)
{
    if (network->step.law != FULCRUM_LAW_EXPONENTIAL) {
        return "steps are not exponential";
    }
    if (network->step.mean_s < LEAST_STEP_S) {
        return "steps take no time";
    }
    if (network->delay_s > 0.0 || network->server_wake_s > 0.0) {
        return "a delay is more than the chain's state can hold";
    }
    if (network->training.env_steps_per_train_step > 0.0) {
        return "training is more than the chain's state can hold";
    }
    if (network->depth > 1.0 && fulcrum_batch_takes_time(&network->host) &&
        fulcrum_batch_takes_time(&network->gpu)) {
        return "host and GPU overlap (depth above 1)";
    }
    if (network->actors > MOST_ACTORS) {
        return "more than 4096 actors";
    }
    return NULL;
}

/* `share` of another tally on top. */
static void add(struct tally *sum, const struct tally *part, double share)
{
    sum->time_s += share * part->time_s;
    sum->at_cpu_s += share * part->at_cpu_s;
    sum->stepping_s += share * part->stepping_s;
    sum->on_cores_s += share * part->on_cores_s;
    sum->steps += share * part->steps;
    sum->host_s += share * part->host_s;
    sum->gpu_s += share * part->gpu_s;
    sum->gpu_item_s += share * part->gpu_item_s;
}

/* `time_s` with n actors at the CPU; the time itself is not added. */
static void add_stay(
    struct tally *sum, const struct chain *chain, size_t n, double time_s)
{
    const struct fulcrum_cpu_station *cpu = &chain->network->cpu;
    double cores = cpu->core_count * (1.0 - cpu->reserved_threads / cpu->thread_count);
    double stepping = fmin((double)n, fulcrum_cpu_servers(cpu));
    sum->at_cpu_s += (double)n * time_s;
    sum->stepping_s += stepping * time_s;
    sum->on_cores_s += fmin(stepping, cores) * time_s;
}

static bool init(struct chain *chain, const struct fulcrum_network *network)
{
    bool is_fixed = network->policy == FULCRUM_BATCH_FIXED;
    size_t size = (size_t)network->batch_size;
    chain->network = network;
    chain->actors = (size_t)network->actors;
    chain->least = is_fixed ? size : 1;
    chain->most = size > 0 ? size : chain->actors;
    assert(chain->least >= 1 && chain->least <= chain->actors);
    /* The batch that has just ended held at least `least`, and none of them waits. */
    size_t highest = chain->actors - chain->least;
    highest = highest > chain->least ? highest : chain->least;
    chain->count = highest - chain->least + 1;
    size_t count = chain->count;
    chain->rate_per_s = calloc(chain->actors + 1, sizeof *chain->rate_per_s);
    chain->fill = calloc(chain->least + 1, sizeof *chain->fill);
    chain->turn = calloc(count, sizeof *chain->turn);
    chain->chance = calloc(count * count, sizeof *chain->chance);
    chain->share = calloc(count, sizeof *chain->share);
    if (!(chain->rate_per_s != NULL && chain->fill != NULL && chain->turn != NULL &&
            chain->chance != NULL && chain->share != NULL)) {
        return false;
    }
    for (size_t n = 1; n <= chain->actors; n++) {
        chain->rate_per_s[n] =
            fulcrum_cpu_capacity(&network->cpu, (double)n) / network->step.mean_s;
    }
    /* Completions one by one, from w waiting to `least`. */
    for (size_t w = chain->least; w-- > 0;) {
        size_t n = chain->actors - w;
        double stay_s = 1.0 / chain->rate_per_s[n];
        chain->fill[w] = chain->fill[w + 1];
        chain->fill[w].time_s += stay_s;
        add_stay(&chain->fill[w], chain, n, stay_s);
    }
    return true;
}

/* The turn that begins with `least + state` waiting, and the states it leads to. */
static void follow(struct chain *chain, size_t state)
{
    const struct fulcrum_network *network = chain->network;
    struct tally *turn = &chain->turn[state];
    size_t waiting = chain->least + state;
    size_t size = waiting < chain->most ? waiting : chain->most;
    double items = (double)size;
    *turn = (struct tally){.steps = items,
        .host_s = fulcrum_batch_time(&network->host, items),
        .gpu_s = fulcrum_batch_time(&network->gpu, items)};
    turn->gpu_item_s = items * turn->gpu_s;
    turn->time_s = turn->host_s + turn->gpu_s;
    size_t start = chain->actors - waiting;
    const double *left = pure_death_run(&chain->death, start, turn->time_s);
    double fewer = 0.0;
    for (size_t n = 0; n <= start; n++) {
        double chance = left[n];
        if (n > 0) {
            add_stay(turn, chain, n, fewer / chain->rate_per_s[n]);
        }
        fewer += chance;
        size_t wait = chain->actors - size - n;
        if (wait < chain->least) {
            add(turn, &chain->fill[wait], chance);
            wait = chain->least;
        }
        chain->chance[state * chain->count + wait - chain->least] += chance;
    }
}

static enum fulcrum_status solve(struct chain *chain,
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    /* The caller frees what there is. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    bool is_ready = init(chain, network) &&
                    pure_death_init(&chain->death, chain->rate_per_s, chain->actors);
    FAIL_IF(!is_ready, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for the exact chain of %g actors", network->actors);
    for (size_t state = 0; state < chain->count; state++) {
        follow(chain, state);
    }
    stationary(chain->share, chain->chance, chain->count);
    const struct fulcrum_cpu_station *cpu = &chain->network->cpu;
    struct tally mean = {.time_s = 0.0};
    for (size_t state = 0; state < chain->count; state++) {
        add(&mean, &chain->turn[state], chain->share[state]);
    }
    double actors_s = (double)chain->actors * mean.time_s;
    double waiting_s = fmax(0.0, actors_s - mean.at_cpu_s - mean.gpu_item_s);
    *out = (struct fulcrum_solution){.method = FULCRUM_METHOD_CHAIN,
        .steps_per_s = mean.steps / mean.time_s,
        .mean_batch = mean.steps,
        .cpu_thread_busy_frac =
            mean.stepping_s / (mean.time_s * fulcrum_cpu_servers(cpu)),
        .cpu_core_busy_frac = mean.on_cores_s / (mean.time_s * cpu->core_count),
        .host_busy_frac = mean.host_s / mean.time_s,
        .gpu_busy_frac = mean.gpu_s / mean.time_s,
        .gpu_inference_busy_frac = mean.gpu_s / mean.time_s,
        .residence = {.cpu_s = mean.at_cpu_s / mean.steps,
            .host_s = waiting_s / mean.steps,
            .gpu_s = mean.gpu_item_s / mean.steps}};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_chain_solve(const struct fulcrum_network *network,
    struct fulcrum_solution *out, struct fulcrum_error *err)
{
    const char *refusal = chain_refusal(network);
    if (refusal != NULL) {
        bool has_name = network->name[0] != '\0';
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "there is no exact chain %s%s: %s", has_name ? "for network " : "here",
            has_name ? network->name : "", refusal);
    }
    struct chain chain = {.count = 0};
    enum fulcrum_status status = solve(&chain, network, out, err);
    free(chain.death.fastest_per_s);
    free(chain.rate_per_s);
    free(chain.fill);
    free(chain.turn);
    free(chain.chance);
    free(chain.share);
    return status;
}
