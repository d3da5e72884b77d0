/* check_list.h - what was checked, with the outcome of each check, and as JUnit XML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_CHECK_LIST_H
#define FULCRUM_CLI_OUTPUT_CHECK_LIST_H

#include <stddef.h>
#include <stdio.h>

#include "model/status.h"

enum fulcrum_check_outcome {
    FULCRUM_CHECK_PASSED,
    FULCRUM_CHECK_FAILED,
    FULCRUM_CHECK_SKIPPED
};

struct fulcrum_check {
    char suite[64]; /* what it belongs to: the name of a reference */
    char name[160];
    enum fulcrum_check_outcome outcome;
    char text[480]; /* why it failed or was skipped; "" */
};

/* In the order they were added; those of one suite follow each other. */
struct fulcrum_check_list {
    size_t count;
    size_t room;
    struct fulcrum_check *items;
};

/* Adds a check whose text is still to be written; valid until the next call. */
struct fulcrum_check *fulcrum_check_list_add(struct fulcrum_check_list *list,
    const char *suite, enum fulcrum_check_outcome outcome, const char *name, ...)
    FULCRUM_PRINTF(4, 5);

/* Sets the text of a check. */
void fulcrum_check_say(struct fulcrum_check *check, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* How many have that outcome. */
size_t fulcrum_check_list_count(
    const struct fulcrum_check_list *list, enum fulcrum_check_outcome outcome);

/* A test suite for each suite, a test case for each check, in the XML that GitLab and
 * Jenkins read as JUnit's. */
void fulcrum_check_list_junit(
    const struct fulcrum_check_list *list, const char *name, FILE *stream);

/* Accepts a struct of zeros. */
void fulcrum_check_list_clear(struct fulcrum_check_list *list);

/* How far a number is from a stored one. */

/* As stored runs keep it: with six digits; NAN stays NAN. */
double fulcrum_relative_change_stored(double value);

/* |to - from| over |from|: 0 where neither is known, INFINITY where `from` is 0 and
 * `to` is not, or one of them alone is not known. */
double fulcrum_relative_change(double from, double to);

/* Sets the text of a check of a prediction that has moved; accepts NULL.
 *   subject  before "is predicted as": "", or the name of an output with a blank */
void fulcrum_relative_change_say(
    struct fulcrum_check *check, const char *subject, double from, double to);

#endif
