/* range.h - the values of a sweep's axis, as written on the command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_RANGE_H
#define FULCRUM_CLI_RANGE_H

#include <stddef.h>

#include "model/design/design.h"

enum { FULCRUM_RANGE_VALUES_MOST = 10000000 };

/*
 * Reads "8:1024:x2" (times 2), "4:64:4" or "4:64:+4" (plus 4), "1,2,5" (a list) or one
 * number. Both ends belong to the range where the steps meet them. Of a count the start
 * and listed values are whole numbers; steps on the way are rounded to them, repeats
 * dropped.
 *   field    every value must lie in its range
 *   out      increasing; the caller frees it with free(); NULL where it fails
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_range_parse(
    const struct fulcrum_field *field, const char *text, double **out, size_t *count,
    struct fulcrum_error *err);

#endif
