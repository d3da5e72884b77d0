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

#include "model/network/network.h"
#include "model/try.h"

/* Its matrix has the square of this many entries. */
#define FULCRUM_CHAIN_MOST_ACTORS 4096.0

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
    struct fulcrum_pure_death *death;
    struct tally *fill; /* [w]: from w waiting to `least` */
    struct tally *turn; /* [state] */
    double *chance;     /* [state, next state] */
    double *share;      /* [state] */
};

static bool takes_time(const struct fulcrum_batch_time *time)
{
    return time->count > 0 || time->per_batch_s > 0.0 || time->per_item_s > 0.0;
}

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
    if (network->delay_s > 0.0) {
        return "a delay is more than the chain's state can hold";
    }
    if (network->training.env_steps_per_train_step > 0.0) {
        return "training is more than the chain's state can hold";
    }
    if (network->depth > 1.0 && takes_time(&network->host) &&
        takes_time(&network->gpu)) {
        return "host and GPU overlap (depth above 1)";
    }
    if (network->actors > FULCRUM_CHAIN_MOST_ACTORS) {
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

/* Completions one by one, from w waiting to `least`. */
static void tabulate_fill(struct chain *chain)
{
    for (size_t w = chain->least; w-- > 0;) {
        size_t n = chain->actors - w;
        double stay_s = 1.0 / chain->rate_per_s[n];
        chain->fill[w] = chain->fill[w + 1];
        chain->fill[w].time_s += stay_s;
        add_stay(&chain->fill[w], chain, n, stay_s);
    }
}

static bool allocate(struct chain *chain)
{
    size_t count = chain->count;
    chain->rate_per_s = calloc(chain->actors + 1, sizeof *chain->rate_per_s);
    chain->fill = calloc(chain->least + 1, sizeof *chain->fill);
    chain->turn = calloc(count, sizeof *chain->turn);
    chain->chance = calloc(count * count, sizeof *chain->chance);
    chain->share = calloc(count, sizeof *chain->share);
    return chain->rate_per_s != NULL && chain->fill != NULL && chain->turn != NULL &&
           chain->chance != NULL && chain->share != NULL;
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
    if (!allocate(chain)) {
        return false;
    }
    for (size_t n = 1; n <= chain->actors; n++) {
        chain->rate_per_s[n] =
            fulcrum_cpu_capacity(&network->cpu, (double)n) / network->step.mean_s;
    }
    tabulate_fill(chain);
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
    const double *left = fulcrum_pure_death_run(chain->death, start, turn->time_s);
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

static void report(const struct chain *chain, struct fulcrum_solution *out)
{
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
}

static enum fulcrum_status solve(struct chain *chain,
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    FAIL_IF(!init(chain, network) || !fulcrum_pure_death_init(chain->death,
                                         chain->rate_per_s, chain->actors),
        err, FULCRUM_ERR_NO_MEMORY, "no memory for the exact chain of %g actors",
        network->actors);
    for (size_t state = 0; state < chain->count; state++) {
        follow(chain, state);
    }
    fulcrum_stationary(chain->share, chain->chance, chain->count);
    report(chain, out);
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
    struct fulcrum_pure_death death = {.most = 0};
    struct chain chain = {.death = &death};
    enum fulcrum_status status = solve(&chain, network, out, err);
    fulcrum_pure_death_clear(chain.death);
    free(chain.rate_per_s);
    free(chain.fill);
    free(chain.turn);
    free(chain.chance);
    free(chain.share);
    return status;
}
