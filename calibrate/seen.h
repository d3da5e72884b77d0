/* seen.h - what of a reference a calibration's fit has seen, as its notes tell. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_SEEN_H
#define FULCRUM_CALIBRATE_SEEN_H

#include <stddef.h>

#include "model/calibration.h"
#include "model/reference.h"

/*
 * Keys of the notes, both lists "A, B, C". The first has NAME or NAME:SERIES of each
 * reference, the second NAME:INDEX of each point of them that was held out.
 */
#define FULCRUM_NOTE_FITTED_TO "fitted_to"
#define FULCRUM_NOTE_HELD_OUT  "held_out"

/* Whether such a list has an item; NULL is a list of none. */
int fulcrum_seen_list_has(const char *list, const char *item);

/* Whether it has the item or "ITEM:...". */
int fulcrum_seen_list_has_part(const char *list, const char *item);

/* Whether a fit says that it was fitted to the reference as a whole. */
int fulcrum_seen_whole(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference);

/* The same, or to one of its series. */
int fulcrum_seen_part(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference);

/* Whether the fit has seen a point: the reference or the series of the point is listed,
 * and the point was not held out.
 *   point    its place among the reference's points */
int fulcrum_seen_point(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference, size_t point);

#endif
