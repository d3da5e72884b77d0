/* formula.h - throughput over environments by formulas of a few numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_FORMULA_H
#define FULCRUM_CALIBRATE_REFERENCE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"

/* One curve of a reference: every other place fitted, the rest predicted. */

struct fulcrum_reading {
    double x;           /* the place along the curve */
    double per_s;       /* what was observed there */
    size_t point;       /* of the reference */
    size_t observation; /* of that point */
    bool is_fitted;
};

/* The points of one series by rising x; x and y: those that are fitted. */
struct fulcrum_half_curve {
    const struct fulcrum_reference *reference; /* borrowed */
    const char *series;                        /* borrowed from it */
    size_t count;
    struct fulcrum_reading *readings;
    size_t fitted_count;
    double *x;
    double *y;
};

/* Reads x, per_s and observation of the point that a reading names. */
typedef enum fulcrum_status fulcrum_reading_read(
    const struct fulcrum_reference *reference, struct fulcrum_reading *reading,
    struct fulcrum_error *err);

/*
 * Room for any series of the reference, which has points.
 *   out      the caller clears it
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_half_curve_init(
    struct fulcrum_half_curve *out, const struct fulcrum_reference *reference,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_half_curve_clear(struct fulcrum_half_curve *curve);

/*
 * Fills the curve with the series that point `first`, its first one, begins. Those at
 * the first, third, ... x are fitted; repeats of an x stay together.
 *   places   what x counts, for the error: "worker counts"
 *   fails    as `read`; FULCRUM_ERR_NO_FIT (fewer than three different x)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_half_curve_fill(
    struct fulcrum_half_curve *curve, size_t first, fulcrum_reading_read *read,
    const char *places, struct fulcrum_error *err);

/* Fills the curve from point `first` on, and adds what it predicts. */
typedef enum fulcrum_status fulcrum_half_curve_predict(struct fulcrum_half_curve *curve,
    size_t first, struct fulcrum_comparison *comparison, struct fulcrum_error *err);

/*
 * Every series of a reference, each predicted from its own half.
 *   out      set on success only; the caller clears it
 *   fails    as `predict`; FULCRUM_ERR_NO_FIT (no points), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_half_curves_predict(
    const struct fulcrum_reference *reference, fulcrum_half_curve_predict *predict,
    struct fulcrum_comparison *out, struct fulcrum_error *err);

/* Reads observation `i` of the reading's point as what was observed.
 *   fails    FULCRUM_ERR_RANGE (no number above 0) */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reading_take(
    const struct fulcrum_reference *reference, struct fulcrum_reading *reading,
    size_t i, struct fulcrum_error *err);

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

/* One curve, and how it is fitted. */
struct fulcrum_formula_plan {
    const double *env_count; /* by rising count, above 0 */
    const double *steps_per_s;
    size_t count;
    double ceiling_per_s; /* of environments alone; NAN: no ceiling is fitted */
    double noise_rel;     /* of every point */
    double frame_skip;    /* the prior of b is one of frames; unused without ceiling */
};

/*
 * The maximum a posteriori, by trust regions, of latency, b and ceiling. With a
 * ceiling: ln(1 / b) about that of 40,000 frames per second (sd 1), ln C about that of
 * 0.85 ceilings (sd 0.15), a free. Without: a and b free. Errors are those of
 * logarithms, which take half as much and twice as much alike.
 *   fails    FULCRUM_ERR_RANGE (fewer than two points, a number that is not above 0),
 *            FULCRUM_ERR_NO_FIT, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_formula_fit(
    const struct fulcrum_formula_plan *plan, struct fulcrum_formula *out,
    struct fulcrum_error *err);

#endif
