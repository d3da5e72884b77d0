/* scenario.h - presets, calibrations and settings that together give design points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_SCENARIO_H
#define FULCRUM_MODEL_PREDICT_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/status.h"

/* One field set by the user or varied by a sweep. */
struct fulcrum_setting {
    const struct fulcrum_field *field;
    double number;    /* where text is NULL */
    const char *text; /* borrowed; choices and texts */
};

/* A field whose value is a prior: one standard deviation is x or / spread_factor. */
struct fulcrum_prior {
    const struct fulcrum_field *field;
    double spread_factor; /* >= 1 */
};

/* All borrowed: valid as long as the scenario is used. */
struct fulcrum_scenario_inputs {
    const struct fulcrum_design *base; /* machine and workload presets as read */
    const struct fulcrum_calibration *const *calibrations; /* later ones win */
    size_t calibration_count;
    const struct fulcrum_setting *settings;
    size_t setting_count;
    const struct fulcrum_prior *priors;
    size_t prior_count;
};

/* Prepared once; may be used by several threads at once. Opaque. */
struct fulcrum_scenario;

/*
 *   out      the caller frees it with fulcrum_scenario_free
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_FORMAT (a setting), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_scenario_new(
    const struct fulcrum_scenario_inputs *inputs, struct fulcrum_scenario **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_scenario_free(struct fulcrum_scenario *scenario);

/* Which design point of a scenario is wanted. */
struct fulcrum_point {
    const struct fulcrum_setting *varied; /* on top of the scenario's settings */
    size_t varied_count;
    uint64_t draw; /* 0: every parameter at its value; else the number of a draw */
    uint64_t seed; /* of the draws */
};

/*
 * One complete design point: presets, then calibrations scaled to the machine
 * (docs/model.md "From one machine to another"), then settings and varied fields.
 * Learner-side times (workload.host, .network, .training) of a CPU learner are not
 * taken over to a machine with GPUs, nor the other way round: flagged, never rescaled.
 * A thread count that is set or varied without a core count scales the cores along.
 *   fails    FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_scenario_design(
    const struct fulcrum_scenario *scenario, const struct fulcrum_point *point,
    struct fulcrum_design *out, struct fulcrum_error *err);

/*
 * As fulcrum_scenario_design, in the sample that `z` describes: for everything that
 * draws leave to chance, how many standard deviations it is off its value; NAN: at its
 * value (struct fulcrum_uncertain_input has what each z stands for). Standard
 * normal ones give designs of the law that draws have, values that are all NAN the
 * design of draw 0. The point's draw is not looked at.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_scenario_design_in(
    const struct fulcrum_scenario *scenario, const double *z,
    const struct fulcrum_point *point, struct fulcrum_design *out,
    struct fulcrum_error *err);

enum { FULCRUM_PREFIX_SETTINGS_MOST = 16 };

/*
 * What successive points of a sweep have in common: presets, calibrations scaled to the
 * machine, settings, one draw. {0} is a legal start; for one scenario and one thread at
 * a time.
 */
struct fulcrum_design_common_prefix {
    bool is_set;
    uint64_t draw;
    uint64_t seed;
    size_t count;
    struct fulcrum_setting
        settings[FULCRUM_PREFIX_SETTINGS_MOST]; /* what it stands for */
    struct fulcrum_design design;
};

/*
 * As fulcrum_scenario_design and with the same result, but keeps the common part in
 * `prefix`: much cheaper where the points differ in fields that no calibration looks
 * at.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_scenario_design_along(
    const struct fulcrum_scenario *scenario,
    struct fulcrum_design_common_prefix *prefix, const struct fulcrum_point *point,
    struct fulcrum_design *out, struct fulcrum_error *err);

/* Does the calibration's parameter `path` hold for `machine` at all? */
bool fulcrum_calibration_holds(const struct fulcrum_calibration *calibration,
    const struct fulcrum_machine *machine, const char *path);

/* What draws of a scenario leave to chance: one z for each number. */

enum fulcrum_uncertain_input_kind {
    FULCRUM_UNCERTAIN_CPU_SCALE, /* what (23) leaves open of another processor's times
                                  */
    FULCRUM_UNCERTAIN_GPU_SCALE, /* what (24) leaves open of another GPU's */
    FULCRUM_UNCERTAIN_PRIOR,     /* a preset's value */
    FULCRUM_UNCERTAIN_PARAMETER, /* a calibration's, by its normal law */
    FULCRUM_UNCERTAIN_DRAWS      /* which of its draws a calibration gives */
};

/* Places of the z in a sample; those of calibrations follow the priors. */
enum {
    FULCRUM_SLOT_CPU_SCALE = 0,
    FULCRUM_SLOT_GPU_SCALE = 1,
    FULCRUM_SLOT_FIRST_PRIOR = 2
};

struct fulcrum_uncertain_input {
    enum fulcrum_uncertain_input_kind kind;
    const struct fulcrum_field *field;             /* NULL: scales and draws */
    const struct fulcrum_calibration *calibration; /* NULL: scales and priors */
    size_t parameter;                              /* of the calibration */
    size_t prior;                                  /* of the scenario */
    size_t group; /* those of one group depend on each other; in order, from 0 */
    size_t slot;  /* of its z */
};

/* How many z a sample has. */
size_t fulcrum_uncertain_input_slots(const struct fulcrum_scenario_inputs *inputs);

/*
 * Everything with a z that can move a prediction: what the user has set is known,
 * and what a later calibration gives is not asked of earlier ones or of presets.
 *   inputs   borrowed as long as `out` is used
 *   out      the caller frees it with free(); by groups
 *   fails    as fulcrum_scenario_new
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_uncertain_inputs_list(
    const struct fulcrum_scenario_inputs *inputs, struct fulcrum_uncertain_input **out,
    size_t *count, struct fulcrum_error *err);

/*
 * The number at so many standard deviations, by its own law: a field's value as its
 * source gives it, or the factor of a scale. NAN of draws.
 */
double fulcrum_uncertain_input_value(const struct fulcrum_scenario_inputs *inputs,
    const struct fulcrum_uncertain_input *input, double z);

#endif
