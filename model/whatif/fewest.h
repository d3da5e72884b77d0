/* fewest.h - the first place of a curve that reaches a share of its best. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_FEWEST_H
#define FULCRUM_MODEL_WHATIF_FEWEST_H

#include <stddef.h>

#include "model/status.h"

/* A curve over places, which is asked for its values. */
struct fulcrum_asked_curve {
    /* The value at a place; NAN: there is none. A failure ends the search with it. */
    enum fulcrum_status (*ask)(
        void *context, size_t place, double *out, struct fulcrum_error *err);
    void *context;
    size_t count; /* of places, from 0 */
};

struct fulcrum_fewest {
    size_t place; /* the first of all places whose value is `share` of the best */
    double value; /* there */
    size_t best;  /* the best place of those asked for */
    double best_value;
    size_t asked;       /* places whose value was asked for, each once */
    double wiggle_frac; /* the deepest valley among them, as a share of its brim */
};

/*
 * Finds the first place of which the value is at least `share` of the best of all
 * places, asking for as few as it can: some over the whole curve, then halves of what
 * may still hold the answer, then those just before it. A curve that rises, or rises
 * and falls, is searched so. Of one that has valleys, any gap is taken to hide a value
 * that exceeds both its ends by twice the deepest valley seen so far, and is looked
 * into where that could matter; where a place has no value behind one that has, all are
 * asked for.
 *   count    of places, from 0
 *   share    above 0, at most 1
 *   out      untouched on failure
 *   fails    FULCRUM_ERR_INFEASIBLE (no place that was asked for has a value above 0),
 *            FULCRUM_ERR_NO_MEMORY, as the curve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fewest_find(
    const struct fulcrum_asked_curve *curve, double share, struct fulcrum_fewest *out,
    struct fulcrum_error *err);

#endif
