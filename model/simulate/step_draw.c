/* step_draw.c - random lengths of environment steps, for the simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A law is chosen by name and set by its mean and coefficient of variation, so that a
 * measured cv can be given to any of them (docs/model.md "Step laws"). The equations
 * work the same parameters out for themselves: an error in one place then shows as a
 * difference between the two.
 *
 * The generator is a counter, mixed (SplitMix64: Steele, Lea and Flood 2014, OOPSLA; it
 * passes BigCrush). Its numbers do not wait for one another, and 52 bits leave the
 * heavy tails whole. Logarithms invert the laws that they can; normal and gamma
 * deviates come from GSL, to which the counter is one more generator.
 */
#include "model/simulate/simulate.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "model/stream.h"

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

static void work_out_law(
    struct fulcrum_step_source *source, const struct fulcrum_step *step)
{
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

void fulcrum_step_source_init(
    struct fulcrum_step_source *source, const struct fulcrum_step *step, uint64_t seed)
{
    *source = (struct fulcrum_step_source){.law = step->law,
        .mean_s = step->mean_s,
        .counter = fulcrum_stream_seed(seed, 0, 0),
        .next = FULCRUM_DRAWS_AHEAD};
    work_out_law(source, step);
}

double fulcrum_step_source_uniform(struct fulcrum_step_source *source)
{
    return next_uniform(&source->counter);
}

double fulcrum_step_source_cv(const struct fulcrum_step *step)
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

static void fill_exponential(struct fulcrum_step_source *source)
{
    uint64_t counter = source->counter;
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        source->length_s[i] = -source->mean_s * log(next_uniform(&counter));
    }
    source->counter = counter;
}

static void fill_hyperexponential(struct fulcrum_step_source *source)
{
    uint64_t counter = source->counter;
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        int first = next_uniform(&counter) < source->shape;
        double phase_s = first ? source->scale : source->scale_2;
        source->length_s[i] = -phase_s * log(next_uniform(&counter));
    }
    source->counter = counter;
}

static void fill_pareto(struct fulcrum_step_source *source)
{
    uint64_t counter = source->counter;
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        source->length_s[i] =
            source->scale * pow(next_uniform(&counter), -1.0 / source->shape);
    }
    source->counter = counter;
}

static void fill_lognormal(struct fulcrum_step_source *source)
{
    const gsl_rng rng = {.type = &counter_type, .state = &source->counter};
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        double deviate = gsl_ran_gaussian_ziggurat(&rng, source->shape);
        source->length_s[i] = source->scale * exp(deviate);
    }
}

static void fill_erlang(struct fulcrum_step_source *source)
{
    const gsl_rng rng = {.type = &counter_type, .state = &source->counter};
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        source->length_s[i] = gsl_ran_gamma(&rng, source->shape, source->scale);
    }
}

static void fill_deterministic(struct fulcrum_step_source *source)
{
    for (size_t i = 0; i < FULCRUM_DRAWS_AHEAD; i++) {
        source->length_s[i] = source->mean_s;
    }
}

void fulcrum_step_source_fill(struct fulcrum_step_source *source)
{
    /* In the order of enum fulcrum_step_law. */
    static void (*const fill[])(struct fulcrum_step_source *) = {
        fill_lognormal,
        fill_exponential,
        fill_deterministic,
        fill_erlang,
        fill_hyperexponential,
        fill_pareto,
    };
    fill[source->law](source);
    source->next = 0;
}
