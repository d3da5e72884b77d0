/* junit.h - checks as JUnit XML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_JUNIT_H
#define FULCRUM_CLI_VALIDATE_JUNIT_H

#include <stdio.h>

#include "model/result.h"

/*
 * A test suite for each run of checks of one suite, a test case for each check, in the
 * XML that GitLab and Jenkins read.
 *   checks   as fulcrum_check_add makes them
 */
void fulcrum_junit_write(
    const struct fulcrum_table *checks, const char *name, FILE *stream);

#endif
