/* suite.h - the cases of one file of tests, and what they assert with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_SUITE_H
#define FULCRUM_TESTS_SUITE_H

#include <CUnit/CUnit.h>
#include <stddef.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A case. tests/suite_main.cmake lists the cases of a file, in their order, in a main
 * of their own, so that none is forgotten. */
#define TEST(function)                                                                 \
    void function(void);                                                               \
    void function(void)

/* A case whose body `all` calls for each of what it goes through, with those
 * parameters. */
#define TEST_EACH(function, all, ...)                                                  \
    static void function##_of(__VA_ARGS__);                                            \
    TEST(function)                                                                     \
    {                                                                                  \
        all(function##_of);                                                            \
    }                                                                                  \
    static void function##_of(__VA_ARGS__)

/* Runs before all cases of the file; what it returns, unless 0, ends the program. */
#define SUITE_SETUP                                                                    \
    int suite_setup(void);                                                             \
    int suite_setup(void)

/* The calls under test that must succeed for the case to go on. */
#define ASSERT_OK(call) CU_ASSERT_EQUAL_FATAL((call), FULCRUM_OK)

/* The call, which gets `&err`, fails with that status and a message that has `part`. */
#define ASSERT_FAILS(call, expected, part)                                             \
    do {                                                                               \
        struct fulcrum_error err = {FULCRUM_OK, ""};                                   \
        CU_ASSERT_EQUAL((call), (expected));                                           \
        assert_part(err.detail, (part));                                               \
    } while (0)

/* The call, which gets `&err`, gives that status, or the case ends; `whole` is all that
 * it says. */
#define ASSERT_SAYS(call, expected, whole)                                             \
    do {                                                                               \
        struct fulcrum_error err = {FULCRUM_OK, ""};                                   \
        CU_ASSERT_EQUAL_FATAL((call), (expected));                                     \
        CU_ASSERT_STRING_EQUAL(err.detail, (whole));                                   \
    } while (0)

struct suite_case {
    const char *name;
    void (*run)(void);
};

/* One row of a case table: the name of the function is the name of the case. */
#define SUITE_CASE(function)                                                           \
    {                                                                                  \
#function, function                                                            \
    }

/* Runs `count` cases under CUnit's console interface. A name given as the first
 * command-line argument runs that case alone. Returns the exit status of main: 0 when
 * all passed. */
int suite_run(const char *name, const struct suite_case *cases, size_t count, int argc,
    char **argv);

/* Asserts |actual - expected| <= tolerance * |expected|, and prints both if not. */
void assert_close(
    const char *what, double actual, double expected, double tolerance_rel);

/* Asserts that `text` contains `part`, and prints both if not. */
void assert_part(const char *text, const char *part);

#endif
