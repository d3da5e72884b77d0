/* seen.c - what of a reference a calibration's fit has seen, as its notes tell. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/seen.h"

#include <stdio.h>
#include <string.h>

/* Whether "a, b, c:d" has the item, followed by its end or one of `ends`. Items are
 * compared where they begin, as a series may have ", " in its name. */
static int has(const char *list, const char *item, const char *ends)
{
    size_t length = strlen(item);
    const char *at = list;
    while (at != NULL) {
        if (strncmp(at, item, length) == 0 &&
            (at[length] == '\0' || strchr(ends, at[length]) != NULL)) {
            return 1;
        }
        at = strstr(at, ", ");
        at = at != NULL ? at + 2 : NULL;
    }
    return 0;
}

int fulcrum_seen_list_has(const char *list, const char *item)
{
    return has(list, item, ",");
}

int fulcrum_seen_list_has_part(const char *list, const char *item)
{
    return has(list, item, ",:");
}

int fulcrum_seen_whole(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference)
{
    return fulcrum_seen_list_has(
        fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO), reference->name);
}

int fulcrum_seen_part(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference)
{
    return fulcrum_seen_list_has_part(
        fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO), reference->name);
}

int fulcrum_seen_point(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference, size_t point)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    const char *fitted = fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO);
    char curve[sizeof reference->name + sizeof from->series];
    char single[sizeof reference->name + 24];
    (void)snprintf(curve, sizeof curve, "%s:%s", reference->name, from->series);
    (void)snprintf(single, sizeof single, "%s:%zu", reference->name, from->index);
    return (fulcrum_seen_list_has(fitted, reference->name) ||
               fulcrum_seen_list_has(fitted, curve)) &&
           !fulcrum_seen_list_has(
               fulcrum_calibration_note(calibration, FULCRUM_NOTE_HELD_OUT), single);
}
