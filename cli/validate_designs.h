/* validate_designs.h - predictions of the presets themselves, to see them move. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_DESIGNS_H
#define FULCRUM_CLI_VALIDATE_DESIGNS_H

#include "cli/check_list.h"
#include "cli/command.h"
#include "model/predict.h"

struct fulcrum_json;
struct fulcrum_node;

/* One machine with one workload and some actors. */
struct fulcrum_design_prediction {
    char machine[64];
    char workload[64];
    double actor_count;
    double value[FULCRUM_OUTPUT_COUNT]; /* NAN: not kept, or nothing to say */
};

struct fulcrum_design_predictions {
    size_t count;
    struct fulcrum_design_prediction *items;
};

/*
 * Predicts every machine preset with every workload preset, few and many actors, one
 * GPU, by the fast method. What cannot run is left out. No reference says what is
 * right: they show which predictions a change has moved.
 *   out      the caller clears it, after a failure too
 *   fails    as fulcrum_design_inputs_load, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_predictions_make(
    struct fulcrum_context *context, struct fulcrum_design_predictions *out,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_design_predictions_clear(struct fulcrum_design_predictions *predictions);

/* Adds them as the array "designs". */
void fulcrum_design_predictions_write(
    const struct fulcrum_design_predictions *predictions,
    struct fulcrum_json *document);

/*
 * Reads that array; faults go to the node's reader. No array: none are stored.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_predictions_read(
    const struct fulcrum_node *document, struct fulcrum_design_predictions *out,
    struct fulcrum_error *err);

/* Adds a check for each stored design: it must be predicted, and as it was. */
void fulcrum_design_predictions_check(const struct fulcrum_design_predictions *stored,
    const struct fulcrum_design_predictions *now, double moved_rel,
    struct fulcrum_check_list *checks);

#endif
