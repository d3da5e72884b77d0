/* step_draw.h - random lengths of environment steps, for the simulation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SIMULATE_STEP_DRAW_H
#define FULCRUM_MODEL_SIMULATE_STEP_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "model/network/network.h"

enum { FULCRUM_DRAWS_AHEAD = 256 };

/*
 * An endless row of independent lengths of one law. They are drawn in blocks: a loop
 * over nothing but draws keeps the processor busier than single ones between events do.
 */
struct fulcrum_step_source {
    enum fulcrum_step_law law;
    double mean_s;
    double shape;   /* lognormal sigma; Erlang stages; hyperexponential share of the
                       first phase; Pareto exponent */
    double scale;   /* lognormal median; mean of an Erlang stage or of the first phase;
                       Pareto least value */
    double scale_2; /* mean of the second phase */
    uint64_t counter;
    size_t next;
    double length_s[FULCRUM_DRAWS_AHEAD];
};

/* A source for a checked step; the same seed gives the same lengths. */
void fulcrum_step_source_init(
    struct fulcrum_step_source *source, const struct fulcrum_step *step, uint64_t seed);

/* Draws the next block. */
void fulcrum_step_source_fill(struct fulcrum_step_source *source);

/* Uniform in (0, 1), independent of the lengths. */
double fulcrum_step_source_uniform(struct fulcrum_step_source *source);

/* The coefficient of variation that is drawn: Erlang stages are whole. */
double fulcrum_step_source_cv(const struct fulcrum_step *step);

/* The next length in seconds; inline because it is part of every simulated step. */
static inline double fulcrum_step_source_next(struct fulcrum_step_source *source)
{
    if (source->next == FULCRUM_DRAWS_AHEAD) {
        fulcrum_step_source_fill(source);
    }
    return source->length_s[source->next++];
}

#endif
