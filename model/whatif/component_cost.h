/* component_cost.h - what the components of a machine cost a design, by making them
 * ideal.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_COMPONENT_COST_H
#define FULCRUM_MODEL_WHATIF_COMPONENT_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/study/study.h"

enum fulcrum_memory_value {
    FULCRUM_MEMORY_STEPS_PER_S,
    FULCRUM_MEMORY_STEPS_PER_J_GPU,
    FULCRUM_MEMORY_STEPS_PER_J_SYSTEM,
    FULCRUM_MEMORY_INFERENCE,  /* seconds of a batch alone on the GPU, as large as the
                                  first  design's are on average */
    FULCRUM_MEMORY_TRAIN_STEP, /* of a step alone on the GPU; 0: no training */
    FULCRUM_MEMORY_GPU,        /* of both, per agent step */
    FULCRUM_MEMORY_VALUES
};

/* Versions of one design, the first of which the others are compared with; the study
 * has every fulcrum_memory_value.
 *   how      scenario, options, estimates and watch; the rest of it is ignored
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_memory_study(
    const struct fulcrum_study_plan *how, const struct fulcrum_point *versions,
    size_t count, struct fulcrum_study **out, struct fulcrum_error *err);

/*
 * One row a component: name, what becomes ideal, whether it is the GPU's. In the order
 * in which they are made ideal unless another is asked for: memory first, arithmetic
 * after what keeps it waiting, as Inci et al. 2020 build their Figure 2, and the host
 * last.
 */
/* clang-format off */
#define FULCRUM_IDEAL_LIST(X)                                                          \
    X(DRAM,    "dram",    "DRAM bandwidth",                            1)              \
    X(LATENCY, "latency", "latencies",                                 1)              \
    X(SM,      "sm",      "SMs filled",                                1)              \
    X(MATH,    "math",    "arithmetic",                                1)              \
    X(LAUNCH,  "launch",  "kernel launches",                           1)              \
    X(HOST,    "host",    "host: batches, requests, delivery",         0)
/* clang-format on */

enum fulcrum_ideal {
#define X(kind, name, meaning, gpu) FULCRUM_IDEAL_##kind,
    FULCRUM_IDEAL_LIST(X) FULCRUM_IDEAL_COUNT
#undef X
};

/* A set of components: bit i is enum fulcrum_ideal i. */
enum {
    FULCRUM_IDEAL_SETS = 1 << FULCRUM_IDEAL_COUNT,
    FULCRUM_IDEAL_SETTINGS_MOST = 12
};

/* The one whose name is a word of a text, whatever its case; FULCRUM_IDEAL_COUNT: none.
 */
size_t fulcrum_ideal_find(const char *text);
bool fulcrum_ideal_is_gpu(size_t component);

/*
 * The settings that make every component of a set ideal: fields at the end of their
 * range, so that what is left of a component is below a thousandth of it. A component
 * follows them where the calibration's machine gives the field.
 *   out      FULCRUM_IDEAL_SETTINGS_MOST of them
 * Returns how many.
 */
size_t fulcrum_ideal_settings(unsigned set, struct fulcrum_setting *out);

/* What one component is of a whole, the whole with nothing ideal being 1. */
struct fulcrum_ideal_share {
    double in_order_frac; /* made ideal after those before it in the list */
    double first_frac;    /* made ideal alone */
    double last_frac;     /* made ideal after all others */
    double least_frac;    /* the least and the most over all orders */
    double most_frac;
    double mean_frac; /* over all orders: Shapley's value */
};

/*
 * Shares of every component in times of the same work under every set.
 *   time     FULCRUM_IDEAL_SETS of them, above 0, in any unit; [0]: nothing ideal
 *   out      FULCRUM_IDEAL_COUNT of them; those in order, and those of the mean, sum to
 *            what is saved where all are ideal
 */
void fulcrum_ideal_shares(const double *time, struct fulcrum_ideal_share *out);

/* Where the costs go of one machine after the other. */
struct fulcrum_cost_tables {
    struct fulcrum_result *result;  /* gets notes of what changes nothing */
    struct fulcrum_table *machines; /* a row each */
    struct fulcrum_table
        *components;         /* as many as there are, and one for the rest: what
                                no component is, environments on the CPU */
    const char *calibration; /* its name, for rows of machines */
    unsigned flags;          /* of all predictions */
};

/* Makes every set of components of a machine ideal (docs/model.md "Memory system"). */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_component_costs_add(
    const struct fulcrum_study_plan *how, struct fulcrum_cost_tables *out,
    struct fulcrum_error *err);

#endif
