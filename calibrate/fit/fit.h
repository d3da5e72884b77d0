/* fit.h - robust nonlinear least squares on relative errors, with priors and bounds. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_H
#define FULCRUM_CALIBRATE_FIT_FIT_H

#include <stddef.h>

#include "model/design/calibration.h"
#include "model/status.h"

#define FULCRUM_FIT_MAX_PARAMETERS 8

struct fulcrum_fit_parameter {
    const char *name;         /* at most 31 characters, unit included */
    enum fulcrum_scale scale; /* on which it moves, so that it keeps its sign */
    double low;  /* bounds, natural units; a fit that leaves them is held there; */
    double high; /* low = high: the parameter is given, not fitted */
    double start;
    double prior_sd;   /* Gaussian prior around `start` on `scale`; 0: none */
    double start_step; /* how far, on `scale`, further starts lie from `start` */
};

/* Points (x, y). */
struct fulcrum_samples {
    const char *what; /* for error details */
    const double *x;  /* finite, not below 0 */
    const double *y;  /* finite, above 0 */
    size_t count;
};

/* What becomes of large residuals. */
enum fulcrum_fit_loss {
    FULCRUM_FIT_HUBER, /* beyond 1.345 robust standard deviations they count linearly */
    FULCRUM_FIT_SQUARES /* they count in full */
};

/*
 * Points (x, y) and the form y = model(parameters, x). The noise is taken as
 * proportional to y: residual = (model - y) / model of the pass before.
 */
struct fulcrum_fit_problem {
    struct fulcrum_samples points;
    double (*model)(const double *parameter, double x, const void *context);
    const void *context;
    const struct fulcrum_fit_parameter *parameter;
    size_t parameter_count;
    double noise_rel;   /* least standard deviation of a point; > 0 with priors */
    size_t start_count; /* starts that are tried, 0 means one */
    enum fulcrum_fit_loss loss;
};

/* What a report must say of a parameter. */
enum fulcrum_fit_mark {
    FULCRUM_FIT_FIXED = 1,          /* given, not fitted */
    FULCRUM_FIT_AT_BOUND = 2,       /* the data pull it beyond its bound */
    FULCRUM_FIT_NOT_IDENTIFIED = 4, /* the data say next to nothing about it */
    FULCRUM_FIT_HAS_PRIOR = 8       /* its prior entered as a residual of its own */
};

struct fulcrum_fit_estimate {
    char name[32];
    enum fulcrum_scale scale; /* on which the error is nearest to normal */
    double value;
    double standard_error; /* 0 where fixed; NaN where the data cannot tell; at a
                              bound that of the fit without bounds */
    double prior_share;    /* (posterior / prior standard deviation), 1: all prior;
                              0 without prior */
    unsigned marks;        /* fulcrum_fit_mark, or-ed */
};

/* Relative residuals (model - y) / y over all points, outliers included. */
struct fulcrum_fit_residuals {
    double mape;        /* mean of |residual| */
    double smape;       /* mean of 2 |model - y| / (model + y) */
    double max_abs_rel; /* largest |residual| */
    double bias_rel;    /* mean residual: positive where the model is too high */
    double rms_rel;
    size_t count;
    double degrees_of_freedom; /* points + priors - fitted parameters */
    double sign_runs_z;   /* standard normal of the number of sign runs over x; very
                             negative: the residuals follow a curve; 0: too few points */
    size_t outlier_count; /* points that robust weighting cut to below half */
};

enum fulcrum_fit_warning {
    FULCRUM_FIT_TOO_FEW_POINTS = 1, /* fewer than parameters + 2 */
    FULCRUM_FIT_MISFIT = 2,         /* rms above 5 % */
    FULCRUM_FIT_SIGN_RUNS = 4,      /* signs of the residuals are not random */
    FULCRUM_FIT_OUTLIERS = 8,       /* points were cut by robust weighting */
    FULCRUM_FIT_BOUND_REACHED = 16, /* a parameter is held at its bound */
    FULCRUM_FIT_UNIDENTIFIED = 32,  /* a parameter is its prior or undetermined */
    FULCRUM_FIT_UNKNOWN_ERROR = 64, /* no degree of freedom: no standard errors */
    FULCRUM_FIT_WARNING_END = 128
};

struct fulcrum_fit_result {
    struct fulcrum_fit_estimate parameter[FULCRUM_FIT_MAX_PARAMETERS];
    size_t parameter_count;
    /* parameter_count x parameter_count, row-major, natural units; 0 where unknown */
    double covariance[FULCRUM_FIT_MAX_PARAMETERS * FULCRUM_FIT_MAX_PARAMETERS];
    struct fulcrum_fit_residuals residuals;
    double noise_rel;  /* standard deviation of a point behind the standard errors */
    double x_high;     /* of the points: beyond it the fit extrapolates */
    unsigned warnings; /* fulcrum_fit_warning, or-ed */
};

/* Whether a fitted form may stand for the measured table. */
enum fulcrum_fit_advice { FULCRUM_ADVISE_FORM, FULCRUM_ADVISE_TABLE };

/*
 * Fits by Levenberg-Marquardt (GSL) inside iterated reweighting. Standard errors are
 * Huber's for robust estimates, carried to natural units by the delta method.
 *   fails    FULCRUM_ERR_RANGE (a point that is not finite, y <= 0, x < 0),
 *            FULCRUM_ERR_NO_FIT (fewer distinct x than the parameters need, or no
 *            convergence), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit(struct fulcrum_fit_result *out,
    const struct fulcrum_fit_problem *problem, struct fulcrum_error *err);

/* Borrowed: NULL if the fit has no parameter of that name. */
const struct fulcrum_fit_estimate *fulcrum_fit_find(
    const struct fulcrum_fit_result *result, const char *name);

/* Standard error of what has these slopes by each parameter, in natural units. */
double fulcrum_fit_error(const struct fulcrum_fit_result *result, const double *slope);

/* One sentence for one warning flag; NULL for anything else. Borrowed, static. */
const char *fulcrum_fit_warning_text(unsigned warning);

/* Whether they are in their ranges, else FULCRUM_ERR_RANGE. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_check_points(
    const struct fulcrum_samples *points, struct fulcrum_error *err);

/* How many different values `x` holds; at most `enough` are counted. */
size_t fulcrum_fit_distinct(const double *x, size_t count, size_t enough);

/* From natural units to the scale, called q. */
double fulcrum_fit_to_scale(enum fulcrum_scale scale, double value);

/* And back. */
double fulcrum_fit_to_natural(enum fulcrum_scale scale, double q);

/* d natural / d q at a natural value, for the delta method. */
double fulcrum_fit_natural_slope(enum fulcrum_scale scale, double value);

#endif
