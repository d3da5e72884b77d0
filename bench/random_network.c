/* random_network.c - networks drawn at random, on which the methods are compared. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each domain is a claim: the accuracy told for it holds for what is drawn here.
 * Quantities that span decades are drawn evenly in their logarithm, so that small and
 * large designs count alike. Times have no scale of their own; where a domain is about
 * real machines they are the priors of docs/model.md "Priors", else the mean step is 1.
 */
#include "bench/compare.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>

#include "model/parallel.h"

/* A generator that lives on the stack. */
struct source {
    gsl_rng rng;
    uint64_t state[4];
};

static void source_init(struct source *source, uint64_t seed, size_t index)
{
    *source = (struct source){.rng = {.type = gsl_rng_taus2}};
    assert(gsl_rng_taus2->size <= sizeof source->state);
    source->rng.state = source->state;
    gsl_rng_set(&source->rng,
        fulcrum_stream_gsl_seed(fulcrum_stream_seed(seed, (uint64_t)index, 0)));
}

static double uniform(struct source *source, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(&source->rng);
}

/* Log-uniform. */
static double between(struct source *source, double low, double high)
{
    return low * pow(high / low, gsl_rng_uniform(&source->rng));
}

static double whole(struct source *source, double low, double high)
{
    return fmin(high, floor(between(source, low, high + 1.0)));
}

/* Geometric mean and the factor of one standard deviation. */
static double prior(struct source *source, double middle, double factor)
{
    return middle * pow(factor, gsl_ran_ugaussian(&source->rng));
}

/* Normal, held within a range. */
static double normal(
    struct source *source, double mean, double sd, const double range[2])
{
    double value = mean + sd * gsl_ran_ugaussian(&source->rng);
    return fmin(range[1], fmax(range[0], value));
}

static size_t pick(struct source *source, size_t count)
{
    return gsl_rng_uniform_int(&source->rng, count);
}

static int chance(struct source *source, double probability)
{
    return gsl_rng_uniform(&source->rng) < probability;
}

/* c(n) = min(n, threads), mean step 1, one batch at a time. */
static struct fulcrum_network plain(double actors, double threads)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = threads, .thread_count = threads},
        .step = {1.0, 0.0, FULCRUM_LAW_EXPONENTIAL},
        .depth = 1};
}

static void draw_gpu(
    struct source *source, struct fulcrum_network *network, double most)
{
    network->gpu.per_batch_s = between(source, 0.05, most);
    network->gpu.per_item_s = network->gpu.per_batch_s * between(source, 0.001, 0.1);
}

static struct fulcrum_network draw_greedy(struct source *source)
{
    static const struct fulcrum_step laws[] = {{1.0, 0.0, FULCRUM_LAW_EXPONENTIAL},
        {1.0, 0.3, FULCRUM_LAW_ERLANG}, {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 2.0, FULCRUM_LAW_LOGNORMAL}, {1.0, 0.0, FULCRUM_LAW_PARETO}};
    double actors = whole(source, 4.0, 512.0);
    struct fulcrum_network network = plain(actors, whole(source, 4.0, 512.0));
    draw_gpu(source, &network, 3.0);
    network.step = laws[pick(source, sizeof laws / sizeof laws[0])];
    return network;
}

static struct fulcrum_network draw_exponential(struct source *source)
{
    double actors = whole(source, 1.0, 256.0);
    struct fulcrum_network network = plain(actors, whole(source, 4.0, 512.0));
    draw_gpu(source, &network, 5.0);
    return network;
}

/* Any law whose range holds the cv that is drawn. */
static struct fulcrum_step draw_step(struct source *source, double low, double high)
{
    double cv = between(source, low, high);
    enum fulcrum_step_law other =
        cv < 1.0 ? FULCRUM_LAW_ERLANG : FULCRUM_LAW_HYPEREXPONENTIAL;
    switch (pick(source, 5)) {
    case 0:
        return (struct fulcrum_step){1.0, 0.0, FULCRUM_LAW_EXPONENTIAL};
    case 1:
        return (struct fulcrum_step){1.0, 0.0, FULCRUM_LAW_PARETO};
    case 2:
        return (struct fulcrum_step){1.0, cv, other};
    default:
        return (struct fulcrum_step){1.0, cv, FULCRUM_LAW_LOGNORMAL};
    }
}

static struct fulcrum_network draw_wide(struct source *source)
{
    double actors = whole(source, 1.0, 1024.0);
    struct fulcrum_network network = plain(actors, whole(source, 1.0, 512.0));
    draw_gpu(source, &network, 5.0);
    network.step = draw_step(source, 0.2, 3.0);
    network.batch_size = chance(source, 0.5) ? whole(source, 1.0, actors) : 0.0;
    return network;
}

static struct fulcrum_network draw_machine(struct source *source)
{
    struct fulcrum_network network = draw_greedy(source);
    struct fulcrum_cpu_station *cpu = &network.cpu;
    cpu->thread_count = cpu->core_count * (chance(source, 0.8) ? 2.0 : 1.0);
    cpu->reserved_threads = floor(uniform(source, 0.0, 0.25 * cpu->thread_count));
    cpu->smt_yield_frac = uniform(source, 0.0, 0.6);
    cpu->turbo_frac = uniform(source, 0.0, 0.5);
    cpu->oversubscription_frac = uniform(source, 0.0, 0.1);
    network.host.per_batch_s = uniform(source, 0.0, 0.5) * network.gpu.per_batch_s;
    network.host.per_item_s = uniform(source, 0.0, 1.0) * network.gpu.per_item_s;
    network.depth = chance(source, 0.3) ? 2.0 : 1.0;
    network.delay_s = chance(source, 0.5)
                          ? network.gpu.per_batch_s * between(source, 0.05, 1.0)
                          : 0.0;
    return network;
}

/* One GPU of the paper's machine, every parameter from its prior. */
static struct fulcrum_network draw_fixed(struct source *source)
{
    static const double sizes[] = {4, 16, 40, 64, 100, 256};
    static const double share[2] = {0.0, 1.0};
    static const double reserved[2] = {0.0, 12.0};
    static const double variation[2] = {0.05, 1.5};
    struct fulcrum_network network = plain(sizes[pick(source, 6)], 20.0);
    struct fulcrum_cpu_station *cpu = &network.cpu;
    cpu->thread_count = 40.0;
    cpu->smt_yield_frac = normal(source, 0.25, 0.08, share);
    cpu->reserved_threads = round(normal(source, 3.0, 1.5, reserved));
    cpu->turbo_frac = normal(source, 0.3, 0.1, share);
    cpu->oversubscription_frac = fabs(0.06 * gsl_ran_ugaussian(&source->rng));
    network.step.mean_s = prior(source, 2e-3, 1.6);
    network.step.cv = normal(source, 0.5, 0.2, variation);
    network.step.law = FULCRUM_LAW_LOGNORMAL;
    network.delay_s = prior(source, 4e-4, 1.8);
    network.host.per_batch_s = prior(source, 1.5e-3, 1.8);
    network.host.per_item_s = prior(source, 2e-5, 2.0);
    network.gpu.per_batch_s = prior(source, 1.2e-3, 1.6);
    network.gpu.per_item_s = prior(source, 6e-6, 1.7);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = network.actors / 2.0;
    network.depth = 2.0;
    if (chance(source, 0.5)) {
        network.training =
            (struct fulcrum_training){3360.0, prior(source, 0.2, 1.6), 2.4, 1.0};
    }
    return network;
}

static struct fulcrum_network draw_share(struct source *source)
{
    struct fulcrum_network network = draw_fixed(source);
    struct fulcrum_cpu_station *cpu = &network.cpu;
    network.actors = whole(source, 2.0, 1024.0);
    network.batch_size = fmax(1.0, floor(network.actors * uniform(source, 0.05, 1.0)));
    network.depth = 1.0 + (double)pick(source, 3);
    cpu->core_count = whole(source, 1.0, 256.0);
    cpu->thread_count = cpu->core_count * (chance(source, 0.7) ? 2.0 : 1.0);
    cpu->reserved_threads = floor(uniform(source, 0.0, 0.3) * cpu->thread_count);
    if (network.training.env_steps_per_train_step > 0.0) {
        double period = between(source, 50.0, 2e4);
        network.training.train_step_s *= period / 3360.0;
        network.training.env_steps_per_train_step = period;
    }
    return network;
}

/* One of a few values, the extremes among them. */
static double extreme(struct source *source, double low, double high)
{
    switch (pick(source, 4)) {
    case 0:
        return low;
    case 1:
        return high;
    default:
        return low > 0.0 ? between(source, low, high) : uniform(source, low, high);
    }
}

static double extreme_time(struct source *source)
{
    return chance(source, 0.3) ? 0.0 : between(source, 1e-6, 10.0);
}

static struct fulcrum_step extreme_step(struct source *source)
{
    double mean_s = chance(source, 0.1) ? 0.0 : between(source, 1e-5, 10.0);
    switch (pick(source, 6)) {
    case 0:
        return (struct fulcrum_step){mean_s, 0.0, FULCRUM_LAW_DETERMINISTIC};
    case 1:
        return (struct fulcrum_step){mean_s, 5.0, FULCRUM_LAW_HYPEREXPONENTIAL};
    case 2:
        return (struct fulcrum_step){mean_s, 0.05, FULCRUM_LAW_ERLANG};
    case 3:
        return (struct fulcrum_step){mean_s, 0.0, FULCRUM_LAW_PARETO};
    case 4:
        return (struct fulcrum_step){mean_s, 0.0, FULCRUM_LAW_EXPONENTIAL};
    default:
        return (struct fulcrum_step){
            mean_s, extreme(source, 0.01, 5.0), FULCRUM_LAW_LOGNORMAL};
    }
}

static struct fulcrum_network draw_corners(struct source *source)
{
    struct fulcrum_network network = plain(floor(extreme(source, 1.0, 1e6)), 1.0);
    struct fulcrum_cpu_station *cpu = &network.cpu;
    cpu->core_count = floor(extreme(source, 1.0, 4096.0));
    cpu->thread_count = cpu->core_count * (1.0 + (double)pick(source, 2));
    /* At least one thread is left to the actors. */
    cpu->reserved_threads = extreme(source, 0.0, 0.9) * (cpu->thread_count - 1.0);
    cpu->smt_yield_frac = extreme(source, 0.0, 1.0);
    cpu->turbo_frac = extreme(source, 0.0, 1.0);
    cpu->oversubscription_frac = extreme(source, 0.0, 10.0);
    network.step = extreme_step(source);
    network.host.per_batch_s = extreme_time(source);
    network.host.per_item_s = extreme_time(source);
    network.gpu.per_batch_s = extreme_time(source);
    network.gpu.per_item_s = extreme_time(source);
    network.delay_s = extreme_time(source);
    network.depth = floor(extreme(source, 1.0, 16.0));
    network.policy = chance(source, 0.5) ? FULCRUM_BATCH_FIXED : FULCRUM_BATCH_GREEDY;
    network.batch_size = floor(extreme(source, 1.0, network.actors));
    if (network.policy == FULCRUM_BATCH_GREEDY && chance(source, 0.5)) {
        network.batch_size = 0.0;
    }
    if (chance(source, 0.3)) {
        network.training = (struct fulcrum_training){between(source, 1.0, 1e5),
            between(source, 1e-5, 10.0), extreme(source, 1.0, 100.0), 1.0};
    }
    /* Without a service time there is nothing to solve. */
    if (network.step.mean_s <= 0.0 &&
        fulcrum_network_check(&network, NULL) != FULCRUM_OK) {
        network.step.mean_s = 1.0;
    }
    return network;
}

/* Requests per second that CPU, host and GPU, and the round trip of one cannot exceed.
 */
static double most_steps_per_s(const struct fulcrum_network *network)
{
    double actors = network->actors;
    double trip_s = network->step.mean_s + fulcrum_batch_time(&network->host, 1.0) +
                    fulcrum_batch_time(&network->gpu, 1.0) + network->delay_s;
    double full_s = fulcrum_batch_time(&network->host, actors) +
                    fulcrum_batch_time(&network->gpu, actors);
    double cpu_per_s = fulcrum_cpu_servers(&network->cpu) / network->step.mean_s;
    return fmin(cpu_per_s, actors / fmax(trip_s, full_s));
}

/* Train steps take 3 % of the GPU up to twice what it has. */
static struct fulcrum_network draw_learner(struct source *source)
{
    struct fulcrum_network network = draw_greedy(source);
    network.host.per_batch_s = uniform(source, 0.0, 1.0) * network.gpu.per_batch_s;
    network.host.per_item_s = uniform(source, 0.0, 1.0) * network.gpu.per_item_s;
    double service_s = network.host.per_batch_s + network.gpu.per_batch_s;
    network.delay_s =
        chance(source, 0.5) ? service_s * between(source, 0.05, 2.0) : 0.0;
    double period = between(source, 6.0, 3000.0);
    double load = between(source, 0.03, 2.0);
    network.training = (struct fulcrum_training){
        period, load * period / most_steps_per_s(&network), 10.0, 1.0};
    return network;
}

/*
 * Times of a calibration with MuJoCo's humanoid; the numbers of actors and threads and
 * the step vary.
 */
static struct fulcrum_network draw_perceptron(struct source *source)
{
    double actors = whole(source, 4.0, 256.0);
    struct fulcrum_network network = plain(actors, whole(source, 1.0, 128.0));
    network.step.mean_s = 3.2e-4 * between(source, 0.3, 3.0);
    network.step.cv = between(source, 0.2, 0.6);
    network.step.law = FULCRUM_LAW_LOGNORMAL;
    network.host.per_batch_s = 5.5e-6;
    network.host.per_item_s = 3.2e-6;
    network.gpu.per_batch_s = 1.05e-5;
    network.gpu.per_item_s = 5.3e-6;
    network.delay_s = 1.26e-5;
    network.training = (struct fulcrum_training){51.2, 3.4e-3, 10.0, 1.0};
    return network;
}

/* Host and GPU take from a tenth of the CPU's time to one and a half times as long. */
static struct fulcrum_network draw_slices(struct source *source)
{
    struct fulcrum_network network = draw_fixed(source);
    struct fulcrum_cpu_station *cpu = &network.cpu;
    cpu->core_count = whole(source, 1.0, 16.0);
    cpu->thread_count = cpu->core_count * (chance(source, 0.5) ? 2.0 : 1.0);
    cpu->reserved_threads = 0.0;
    cpu->slice_s = network.step.mean_s * between(source, 0.1, 2.0);
    network.actors = ceil(1.0 + cpu->thread_count * between(source, 1.0, 12.0));
    network.batch_size = fmax(1.0, floor(network.actors * uniform(source, 0.2, 0.8)));
    network.depth = 1.0 + (double)pick(source, 2);
    network.training = (struct fulcrum_training){.queue_train_steps = 0.0};
    double batch_s = network.step.mean_s * network.batch_size / cpu->core_count;
    double served_s = batch_s * between(source, 0.1, 1.5);
    network.host.per_batch_s = uniform(source, 0.0, 0.3) * served_s;
    network.host.per_item_s = 0.0;
    network.gpu.per_batch_s = uniform(source, 0.1, 0.7) * served_s;
    network.gpu.per_item_s =
        (served_s - network.host.per_batch_s - network.gpu.per_batch_s) /
        network.batch_size;
    if (chance(source, 0.5)) {
        network.policy = FULCRUM_BATCH_GREEDY;
        network.batch_size = 0.0;
    }
    return network;
}

struct fulcrum_network fulcrum_random_network(
    enum fulcrum_domain domain, uint64_t seed, size_t index)
{
    static struct fulcrum_network (*const draw[])(struct source *) = {
        draw_greedy,
        draw_exponential,
        draw_wide,
        draw_machine,
        draw_fixed,
        draw_share,
        draw_corners,
        draw_learner,
        draw_perceptron,
        draw_slices,
    };
    struct source source;
    source_init(&source, seed, index);
    struct fulcrum_network network = draw[domain](&source);
    (void)snprintf(network.name, sizeof network.name, "%s-%zu",
        fulcrum_domain_name(domain), index);
    return network;
}

const char *fulcrum_domain_name(size_t domain)
{
#define X(domain, name, meaning) name,
    static const char *const names[] = {FULCRUM_DOMAIN_LIST(X)};
#undef X
    return domain < FULCRUM_DOMAIN_COUNT ? names[domain] : NULL;
}
