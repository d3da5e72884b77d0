/* moved.c - how far a number is from a stored one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/moved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double fulcrum_moved_stored(double value)
{
    char text[32];
    if (isnan(value)) {
        return value;
    }
    (void)snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

double fulcrum_moved_rel(double from, double to)
{
    if (isnan(from) || isnan(to)) {
        return isnan(from) && isnan(to) ? 0.0 : (double)INFINITY;
    }
    double by = fabs(to - from);
    if (!(by > 0.0)) {
        return 0.0;
    }
    return fabs(from) > 0.0 ? by / fabs(from) : (double)INFINITY;
}

void fulcrum_moved_say(
    struct fulcrum_check *check, const char *subject, double from, double to)
{
    double moved_rel = fulcrum_moved_rel(from, to);
    if (isfinite(moved_rel)) {
        fulcrum_check_say(check,
            "%sis predicted as %.6g, %.6g stored: moved by %.2g %%", subject, to, from,
            100.0 * (to < from ? -moved_rel : moved_rel));
    } else {
        fulcrum_check_say(
            check, "%sis predicted as %.6g, %.6g stored", subject, to, from);
    }
}
