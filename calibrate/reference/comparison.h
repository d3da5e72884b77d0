/* comparison.h - what was observed beside what is predicted, and their difference. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_COMPARISON_H
#define FULCRUM_CALIBRATE_REFERENCE_COMPARISON_H

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/number.h"

/* What of a reference a calibration's fit has seen, as its notes tell. */

/* The key of the note beside FULCRUM_NOTE_FITTED_TO: NAME:INDEX of each point of them
 * that was held out. */
#define FULCRUM_NOTE_HELD_OUT "held_out"

/* Whether such a list has an item; NULL is a list of none. */
bool fulcrum_fitted_points_list_has(const char *list, const char *item);

/* Whether a fit with these two lists saw the point "NAME:INDEX": the reference or a
 * series of it is listed, and the point was not held out. */
bool fulcrum_fitted_points_saw(
    const char *fitted_to, const char *held_out, const char *point);

/* Whether a fit says that it was fitted to the reference as a whole. */
bool fulcrum_fitted_points_whole(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference);

/* The same, or to one of its series. */
bool fulcrum_fitted_points_part(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference);

/* Whether the fit has seen a point: the reference or the series of the point is listed,
 * and the point was not held out.
 *   point    its place among the reference's points */
bool fulcrum_fitted_points_point(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference, size_t point);

/* Small formulas that every prediction is shown beside. */
enum fulcrum_baseline {
    FULCRUM_BASELINE_BOUNDS,   /* asymptotic; of watts a line from idle to rated */
    FULCRUM_BASELINE_TEXTBOOK, /* its product form */
    FULCRUM_BASELINE_CAPPED_HYPERBOLA, /* N / (a + b N) under a ceiling, fitted to the
                                        */
    FULCRUM_BASELINE_HYPERBOLA,        /* same points, and without one */
    FULCRUM_BASELINE_COUNT
};

struct fulcrum_compared {
    size_t point;       /* of the reference */
    size_t observation; /* of that point */
    double observed;
    double half_width; /* of `observed`; NAN: not known */
    double predicted;
    double lo; /* 90 % interval of `predicted`; NAN: none */
    double hi;
    /* Median and 90 % interval of the parameters alone, and which of
     * fulcrum_discrepancy_names is in `lo` and `hi` besides; NAN: none is. */
    struct fulcrum_interval bare;
    size_t discrepancy;
    double doublings; /* fulcrum_design_doublings_unseen */
    bool is_fitted;   /* the point was seen by the fit that predicts it */
    double baseline[FULCRUM_BASELINE_COUNT]; /* NAN where it does not apply */
};

struct fulcrum_comparison {
    const struct fulcrum_reference *reference; /* borrowed */
    size_t count;
    struct fulcrum_compared *items;
};

/* Shares of the observed values, over those points that a filter admits. */
struct fulcrum_comparison_errors {
    size_t count;
    double mape_frac;  /* mean of |predicted - observed| / observed */
    double smape_frac; /* mean of 2 |predicted - observed| / (predicted + observed) */
    double max_frac;   /* largest |predicted - observed| / observed */
    double bias_frac;  /* mean of (predicted - observed) / observed */
    /* Of points with an interval; NAN: none has one. Quantiles are taken as those of a
     * law that is normal in logarithms on either side of the prediction. */
    size_t interval_count;
    double covered_frac;      /* within it */
    double half_covered_frac; /* within the 50 % interval */
    double interval_score;    /* of the 90 % interval of ln(value), Gneiting and Raftery
                                 2007, JASA, equation 43; less is better */
    double crps;              /* continuous ranked probability score of ln(value) */
};

enum fulcrum_comparison_filter {
    FULCRUM_COMPARE_ALL,
    FULCRUM_COMPARE_FITTED,
    FULCRUM_COMPARE_PREDICTED
};

void fulcrum_comparison_clear(struct fulcrum_comparison *comparison);

/*
 * Adds an observation above 0, which errors are shares of, with what is predicted of
 * it; everything else is NAN, 0 or of the observation. The next call may move it no
 * more: it may be filled in place.
 */
struct fulcrum_compared *fulcrum_comparison_add(struct fulcrum_comparison *comparison,
    size_t point, size_t observation, double predicted);

/* What an item of a comparison observed. Borrowed. */
const struct fulcrum_observation *fulcrum_compared_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item);

/* The share of points whose central interval of that probability holds the observation
 * is that of those whose value here is no more; NAN: no interval. */
double fulcrum_compared_nominal(const struct fulcrum_compared *item);

/*
 * The errors of the predictions, or of a baseline.
 *   series     of the points that count; NULL: any
 *   baseline   -1: the predictions
 */
struct fulcrum_comparison_errors fulcrum_comparison_errors(
    const struct fulcrum_comparison *comparison, const char *series,
    enum fulcrum_comparison_filter filter, int baseline);

/* The same over several comparisons: {0}, then each is added, then sums become means.
 */
void fulcrum_comparison_errors_add(struct fulcrum_comparison_errors *sum,
    const struct fulcrum_comparison *comparison, const char *series,
    enum fulcrum_comparison_filter filter, int baseline);
void fulcrum_comparison_errors_end(struct fulcrum_comparison_errors *sum);

#endif
