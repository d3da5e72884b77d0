/* sensitivity.h - which numbers of a scenario a prediction's spread comes from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_SENSITIVITY_H
#define FULCRUM_MODEL_STUDY_SENSITIVITY_H

#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "model/study/sobol.h"
#include "model/study/sweep.h"

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
    const struct fulcrum_uncertain_input *chances;
    size_t chance_count;
};

enum fulcrum_subject {
    FULCRUM_SUBJECT_VALUE,    /* the output itself */
    FULCRUM_SUBJECT_RELATIVE, /* over that of the point of comparison */
    FULCRUM_SUBJECT_BEST      /* where along the axis it is largest */
};

/* One number whose spread is asked about. */
struct fulcrum_sensitivity_output {
    enum fulcrum_subject subject;
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
    /* May be NULL. is_stopped is asked on any thread, at every evaluation; */
    int (*is_stopped)(void *context);
    /* progress on the calling one. */
    void (*progress)(void *context, size_t done_count, size_t all_count);
    void *context;
};

/* One input alone, others at their values. NAN: cannot run. */
struct fulcrum_effect {
    double lo; /* the output where the input is at its 5 % point; of several numbers */
    double
        hi; /* and at 95 %; ... that depend on each other the output's own 5 %, 95 % */
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
    char reason[FULCRUM_SENSITIVITY_REASON_BYTE]; /* why the first evaluation that
                                                     cannot run cannot; "" */
};

/*
 *   out      the caller frees it with fulcrum_sensitivity_free; after an interruption
 *            as fulcrum_sobol_run
 *   fails    as fulcrum_sobol_run, and as fulcrum_predict where the scenario cannot run
 *            with nothing varied
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sensitivity_run(
    const struct fulcrum_sensitivity_plan *plan, struct fulcrum_sensitivity **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sensitivity_free(struct fulcrum_sensitivity *sensitivity);

struct fulcrum_effect fulcrum_sensitivity_effect(
    const struct fulcrum_sensitivity *sensitivity, size_t output, size_t input);

/* A span's value at a point of (0, 1). */
double fulcrum_field_range_value(const struct fulcrum_field_range *span, double unit);

/* Outputs of a scenario in one world. */

/*
 * The place of the largest value over increasing places, between the neighbours of the
 * largest: the top of the parabola through the three of them, over ln(place) where all
 * places are positive. NAN where no value is finite.
 */
double fulcrum_place_of_largest(const double *place, const double *value, size_t count);

#endif
