/* formula.h - throughput over environments by formulas of a few numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FORMULA_H
#define FULCRUM_CALIBRATE_FORMULA_H

#include <stddef.h>

#include "model/status.h"

enum { FULCRUM_FORMULA_CURVES_MOST = 4 };

/* How sharply the ceiling bends the hyperbola: p of (22), docs/frameworks.md. */
#define FULCRUM_FORMULA_KNEE 5.0

/* The centre of the prior of C, of what the environments alone would do. */
#define FULCRUM_FORMULA_CAP_OF_CEILING 0.85

/* N / (a + b N), under a ceiling or without one. */
struct fulcrum_formula {
    double latency_s;  /* a: a round where nobody waits */
    double per_item_s; /* b: what each environment adds to it */
    double cap_per_s;  /* C; INFINITY: none */
};

/*
 * Steps per second of `env_count` environments, above 0:
 * [((a + b N) / N)^p + C^-p]^(-1/p).
 */
double fulcrum_formula_rate(const struct fulcrum_formula *formula, double env_count);

/* The points of one curve that are fitted, by rising count. */
struct fulcrum_formula_curve {
    const double *env_count; /* above 0 */
    const double *steps_per_s;
    size_t count;
    double ceiling_per_s; /* of environments alone; NAN: no ceiling is fitted */
    double step_s;        /* part of the latency that is known, and the curve's own */
};

struct fulcrum_formula_plan {
    const struct fulcrum_formula_curve *curves; /* a and b are theirs together */
    size_t curve_count;                         /* 1 to FULCRUM_FORMULA_CURVES_MOST */
    double noise_rel;                           /* of every point */
    double frame_skip; /* the prior of b is one of frames; unused without ceiling */
};

/*
 * The maximum a posteriori, by trust regions, of what the curves' latencies have in
 * common, b and the ceilings. With ceilings: ln(1 / b) about that of
 * 40,000 frames per second (sd 1), ln C about that of 0.85 ceilings (sd 0.15), a free.
 * Without: a and b free. Errors are those of logarithms, which take half as much and
 * twice as much alike.
 *   out      one formula per curve
 *   fails    FULCRUM_ERR_RANGE (fewer than two points, a number that is not above 0,
 *            ceilings of some curves only), FULCRUM_ERR_NO_FIT, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_formula_fit(
    const struct fulcrum_formula_plan *plan, struct fulcrum_formula *out,
    struct fulcrum_error *err);

#endif
