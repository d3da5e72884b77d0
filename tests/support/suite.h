/* suite.h - runs one table of CUnit cases per executable. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_SUITE_H
#define FULCRUM_TESTS_SUITE_H

#include <CUnit/CUnit.h>
#include <stddef.h>

struct suite_case {
    const char *name;
    void (*run)(void);
};

/* One row of a case table: the name of the function is the name of the case. */
#define SUITE_CASE(function)                                                           \
    {                                                                                  \
#function, function                                                            \
    }

/*
 * Runs `count` cases under CUnit's console interface. A name given as the first
 * command-line argument runs that case alone.
 * Returns the exit status of main: 0 when all passed.
 */
int suite_run(const char *name, const struct suite_case *cases, size_t count, int argc,
    char **argv);

/* Asserts |actual - expected| <= tolerance * |expected|, and prints both if not. */
void suite_assert_close(
    const char *what, double actual, double expected, double tolerance_rel);

#endif
