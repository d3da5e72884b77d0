/* ablation.h - what each component of a machine costs, by making it ideal. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_ABLATION_H
#define FULCRUM_MODEL_WHATIF_ABLATION_H

#include <stdbool.h>
#include <stddef.h>

#include "model/predict/scenario.h"

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

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_ideal_name(size_t component);
/* As fulcrum_ideal_name. */
const char *fulcrum_ideal_meaning(size_t component);
/* The one whose name is a word of a text, whatever its case; FULCRUM_IDEAL_COUNT: none.
 */
size_t fulcrum_ideal_find(const char *text);
/* Whether it belongs to the GPU. */
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

#endif
