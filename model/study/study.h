/* study.h - designs side by side in the same draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_STUDY_H
#define FULCRUM_MODEL_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/number.h"
#include "model/predict/predict.h"
#include "model/result.h"

/*
 * Draw k gives every design the same parameters, so uncertainty that designs share
 * cancels where two are compared: ratios and winners are found within each draw, never
 * from the ends of two intervals.
 */
struct fulcrum_study {
    size_t design_count;
    size_t value_count;
    size_t draw_count;
    double *values; /* design x (1 + draws) x value; draw 0 is the estimate; NAN: cannot
                       run, or not known */
    struct fulcrum_prediction *predictions; /* of the estimates */
    double *column; /* the numbers behind the last interval, sorted */
    size_t column_count;
};

/* All values NAN. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_study_new(size_t design_count,
    size_t value_count, size_t draw_count, struct fulcrum_study **out,
    struct fulcrum_error *err);

void fulcrum_study_free(struct fulcrum_study *study);

/* The values of a design in one draw, 0 for the estimate. */
double *fulcrum_study_at(const struct fulcrum_study *study, size_t design, size_t draw);

/* What `predictor` predicted last gives a design's first values; the outputs end with
 * FULCRUM_OUTPUT_COUNT. */
void fulcrum_study_keep(struct fulcrum_study *study, size_t design,
    const struct fulcrum_prediction *prediction,
    const struct fulcrum_predictor *predictor, const enum fulcrum_predicted *outputs);

/* What stands for the prediction of a design that cannot run. */
struct fulcrum_prediction fulcrum_prediction_unknown(void);

/* An output of a prediction, with the interval that it may have, as a cell. */
void fulcrum_table_output(struct fulcrum_table *table, const char *key,
    const char *title, const struct fulcrum_prediction *prediction, size_t output);

/* One scenario's designs, all borrowed. */
struct fulcrum_study_plan {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_point *designs; /* what each sets; draw and seed are ignored */
    size_t design_count;
    const enum fulcrum_predicted *outputs;  /* as above; NULL: nothing is predicted */
    size_t value_count;                     /* outputs, and what `add` writes */
    struct fulcrum_predict_options predict; /* draws: 0 for no intervals */
    /* Further values of a design that can be made in a draw; NULL: none. */
    void (*add)(void *context, struct fulcrum_study *study, size_t index, size_t draw,
        const struct fulcrum_design *design);
    void *context;
    /* Called after each design; not 0 ends the work. NULL: nobody watches. */
    int (*watch)(void *watcher, double done_frac);
    void *watcher;
};

/* Fails as fulcrum_predict, for any design; FULCRUM_ERR_INTERRUPTED (the watch). */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_study_run(
    const struct fulcrum_study_plan *plan, struct fulcrum_study **out,
    struct fulcrum_error *err);

/* A number made from one draw of all designs. */
typedef double fulcrum_study_number(const void *context, size_t draw);

/* Its median over the draws in which it is finite, with their 90 % interval; without
 * draws that of the estimate. */
struct fulcrum_ratio fulcrum_study_interval(
    struct fulcrum_study *study, fulcrum_study_number *number, const void *context);

/* Its mean over the draws in which it is not NAN: of 0 and 1 a share. */
double fulcrum_study_share(const struct fulcrum_study *study,
    fulcrum_study_number *number, const void *context);

/* One value of a design. */
struct fulcrum_ratio fulcrum_study_value(
    struct fulcrum_study *study, size_t design, size_t value);

/* The same over that of another design, within each draw. */
struct fulcrum_ratio fulcrum_study_ratio(
    struct fulcrum_study *study, size_t design, size_t base, size_t value);

/* The share of draws in which design `a` has the better value than `b`, ties by half.
 */
double fulcrum_study_beats(const struct fulcrum_study *study, size_t a, size_t b,
    size_t value, bool more_is_better);

#endif
