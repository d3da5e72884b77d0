/* sensitivity.h - which number matters: one at a time, and all by Sobol indices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_SENSITIVITY_H
#define FULCRUM_MODEL_STUDY_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "model/status.h"
#include "model/study/sweep.h"

/*
 * Fills `out` with `row_count` points of `dimension_count` coordinates, row after row,
 * each in (0, 1): the first points of Sobol's sequence, its zero among them, under
 * Owen's nested scrambling, in random order of rows and of coordinates. Seeds give
 * independent sets, each point of which is uniform in the cube. More than 40
 * coordinates come from several such sets of about equal width (docs/model.md
 * "Sensitivity"). Rows are a power of two: their balance holds for these only.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_quasi_fill(double *out, size_t row_count,
    size_t dimension_count, uint64_t seed, struct fulcrum_error *err);

/* One place where the outputs are wanted. Borrowed during the call. */
struct fulcrum_sobol_site {
    const double *unit; /* coordinates in (0, 1), independent and uniform */
    size_t worker;      /* calls of one worker never overlap */
    size_t number;      /* of the evaluation: the same with any number of workers */
};

/*
 * A function of independent inputs. An input is one coordinate of the unit cube or
 * several that stand and fall together, such as numbers that depend on each other.
 */
struct fulcrum_sobol_problem {
    size_t input_count;
    size_t coordinate_count; /* >= input_count */
    const size_t *input_of;  /* of each coordinate; every input has one at least */
    size_t output_count;
    /* Fills `output`; what is not finite there is an output that does not exist. */
    void (*evaluate)(
        void *context, const struct fulcrum_sobol_site *site, double *output);
    /* Called between evaluations, on the calling thread; 0 stops. May be NULL. */
    int (*go_on)(void *context, size_t done_count, size_t all_count);
    void *context;
};

struct fulcrum_sobol_options {
    size_t row_count;       /* of a replicate: a power of two */
    size_t replicate_count; /* 2 or more: their differences tell the errors */
    size_t worker_count;    /* 1 or more */
    uint64_t seed;
};

/* The share of rows without an output above which its indices are not told. */
#define FULCRUM_SOBOL_DROPPED_MOST_FRAC 0.1

/* Shares of an output's variance, with standard errors; NAN where they are not known.
 */
struct fulcrum_sobol_index {
    double first; /* gone on average if the input were known, and that alone */
    double first_error;
    double total; /* left on average if all but the input were known; >= first */
    double total_error;
};

/* An output over the whole cube. */
struct fulcrum_sobol_spread {
    double mean; /* of the evaluations that are there, as are */
    double sd;
    double lo; /* 5 % and 95 % quantiles */
    double hi;
    double interaction_frac; /* of the variance: what first-order shares leave */
    double interaction_error;
    size_t row_count;     /* of all replicates */
    size_t dropped_count; /* rows in which an evaluation had no such output */
    bool is_constant;     /* it does not vary beyond rounding; indices are not known */
};

struct fulcrum_sobol;

/* How many evaluations it will take. */
size_t fulcrum_sobol_evaluations(const struct fulcrum_sobol_problem *problem,
    const struct fulcrum_sobol_options *options);

/*
 * First-order and total indices of every output by every input (docs/model.md
 * "Sensitivity"). The same with any number of workers.
 *   out      after go_on has stopped it (FULCRUM_ERR_INTERRUPTED) what the whole
 *            replicates tell, if there are two of them; NULL after other failures
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sobol_run(
    const struct fulcrum_sobol_problem *problem,
    const struct fulcrum_sobol_options *options, struct fulcrum_sobol **out,
    struct fulcrum_error *err);

void fulcrum_sobol_free(struct fulcrum_sobol *sobol);

/* Replicates behind the results: fewer than asked for after an interruption. */
size_t fulcrum_sobol_replicates(const struct fulcrum_sobol *sobol);

struct fulcrum_sobol_index fulcrum_sobol_index(
    const struct fulcrum_sobol *sobol, size_t output, size_t input);

struct fulcrum_sobol_spread fulcrum_sobol_spread(
    const struct fulcrum_sobol *sobol, size_t output);

/* Which numbers of a scenario a prediction's spread comes from. */

enum fulcrum_range_law { FULCRUM_RANGE_UNIFORM, FULCRUM_RANGE_LOG_UNIFORM };

/* A field over a range. Of counts every whole number of it, both ends among them. */
struct fulcrum_field_range {
    const struct fulcrum_field *field;
    double lo;
    double hi; /* >= lo */
    enum fulcrum_range_law law;
};

/* One thing that varies: a span, or uncertain numbers that depend on each other. */
struct fulcrum_sensitivity_input {
    const struct fulcrum_field_range *span; /* NULL: chances */
    const struct fulcrum_uncertain_input *uncertain;
    size_t uncertain_count;
};

enum fulcrum_sensitivity_subject {
    FULCRUM_SUBJECT_VALUE,    /* the output itself */
    FULCRUM_SUBJECT_RELATIVE, /* over that of the point of comparison */
    FULCRUM_SUBJECT_BEST      /* where along the axis it is largest */
};

/* One number whose spread is asked about. */
struct fulcrum_sensitivity_output {
    enum fulcrum_sensitivity_subject subject;
    enum fulcrum_predicted predicted;
};

/* All borrowed. */
struct fulcrum_sensitivity_plan {
    const struct fulcrum_scenario_inputs *scenario;
    const struct fulcrum_sensitivity_input *inputs;
    size_t input_count;
    const struct fulcrum_sensitivity_output *outputs;
    size_t output_count;
    const struct fulcrum_setting *base; /* of the point of comparison, over the rest */
    size_t base_count;
    const struct fulcrum_sweep_axis *axis; /* NULL: nothing is best along it */
    double actors_per_thread;              /* 0: actors are given */
    struct fulcrum_solver_options solver;
    struct fulcrum_sobol_options sobol;
    /* May be NULL. is_stopped is asked on any thread, watch called on the calling one;
     * not 0 ends the work. */
    int (*is_stopped)(void *watcher);
    int (*watch)(void *watcher, double done_frac);
    void *watcher;
};

/* One input alone, others at their values. NAN: cannot run. */
struct fulcrum_effect {
    double lo; /* the output where the input is at its 5 % point, and */
    double hi; /* 95 %; of numbers that depend on each other the output's own 5, 95 % */
};

/* What a field that varies is at its 5 % point, its value and its 95 % point. */
struct fulcrum_reach {
    double lo;
    double value;
    double hi;
};

enum { FULCRUM_SENSITIVITY_REASON_BYTE = 256 };

struct fulcrum_sensitivity {
    struct fulcrum_sobol *sobol;
    size_t input_count;
    size_t output_count;
    double *values;                 /* of each output, nothing varied */
    struct fulcrum_reach *reaches;  /* of each input; NAN: several numbers */
    struct fulcrum_effect *effects; /* output, input */
    /* Why the first evaluation that cannot run cannot; "". */
    char reason[FULCRUM_SENSITIVITY_REASON_BYTE];
};

/* `out` and failures as of fulcrum_sobol_run; fails as fulcrum_predict, too, where the
 * scenario cannot run with nothing varied. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sensitivity_run(
    const struct fulcrum_sensitivity_plan *plan, struct fulcrum_sensitivity **out,
    struct fulcrum_error *err);

void fulcrum_sensitivity_free(struct fulcrum_sensitivity *sensitivity);

struct fulcrum_effect fulcrum_sensitivity_effect(
    const struct fulcrum_sensitivity *sensitivity, size_t output, size_t input);

/* A span's value at a point of (0, 1). */
double fulcrum_field_range_value(const struct fulcrum_field_range *span, double unit);

/*
 * The place of the largest value over increasing places, between the neighbours of the
 * largest: the top of the parabola through the three of them, over ln(place) where all
 * places are positive. NAN where no value is finite.
 */
double fulcrum_place_of_largest(const double *place, const double *value, size_t count);

#endif
