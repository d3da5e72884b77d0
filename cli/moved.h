/* moved.h - how far a number is from a stored one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_MOVED_H
#define FULCRUM_CLI_MOVED_H

#include "cli/check_list.h"

/* As stored runs keep it: with six digits; NAN stays NAN. */
double fulcrum_moved_stored(double value);

/* |to - from| over |from|: 0 where neither is known, INFINITY where `from` is 0 and
 * `to` is not, or one of them alone is not known. */
double fulcrum_moved_rel(double from, double to);

/* Sets the text of a check of a prediction that has moved; accepts NULL.
 *   subject  before "is predicted as": "", or the name of an output with a blank */
void fulcrum_moved_say(
    struct fulcrum_check *check, const char *subject, double from, double to);

#endif
