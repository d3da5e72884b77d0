/* test_actors_rule.c - how the number of actors comes about, by options. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/options.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/suite.h"

#define NO_NUMBER ((double)NAN)

TEST(test_one_way_to_give_actors_is_enough)
{
    static const struct {
        struct fulcrum_actors_rule rule;
        int others;
        enum fulcrum_status status;
    } cases[] = {
        {{NO_NUMBER, NULL}, 0, FULCRUM_OK},
        {{NO_NUMBER, NULL}, 1, FULCRUM_OK},
        {{4.0, NULL}, 0, FULCRUM_OK},
        {{NO_NUMBER, "1:4:1"}, 0, FULCRUM_OK},
        {{4.0, "1:4:1"}, 0, FULCRUM_ERR_RANGE},
        {{4.0, NULL}, 1, FULCRUM_ERR_RANGE},
        {{NO_NUMBER, "1:4:1"}, 1, FULCRUM_ERR_RANGE},
        {{NO_NUMBER, NULL}, 2, FULCRUM_ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_context context = {.exit_code = 0};
        bool is_refused = cases[i].status != FULCRUM_OK;
        CU_ASSERT_EQUAL(fulcrum_actors_rule_check(&cases[i].rule, cases[i].others,
                            "in one way, 100 %", &context, &err),
            cases[i].status);
        CU_ASSERT_STRING_EQUAL(err.detail, is_refused ? "in one way, 100 %" : "");
        CU_ASSERT_EQUAL(context.exit_code, is_refused ? 2 : 0);
    }
}

TEST(test_choices_are_those_of_the_range)
{
    static const double expected[] = {4.0, 8.0, 16.0};
    struct fulcrum_actors_rule rule = {NO_NUMBER, "4:16:x2"};
    struct fulcrum_context context = {.exit_code = 0};
    double *choices = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_actors_rule_choices(&rule, &choices, &count, &context, NULL));
    CU_ASSERT_EQUAL(count, 3);
    for (size_t i = 0; i < count && i < 3; i++) {
        CU_ASSERT_EQUAL(choices[i], expected[i]);
    }
    free(choices);
    choices = NULL;
    count = 0;
    rule.best_of = NULL;
    ASSERT_OK(fulcrum_actors_rule_choices(&rule, &choices, &count, &context, NULL));
    CU_ASSERT(choices == NULL && count == 0 && context.exit_code == 0);
    rule.best_of = "some";
    ASSERT_FAILS(fulcrum_actors_rule_choices(&rule, &choices, &count, &context, &err),
        FULCRUM_ERR_FORMAT, "--best-actors: run.actor_count=some");
    CU_ASSERT(choices == NULL && context.exit_code == 2);
}

TEST(test_the_rule_is_told_as_it_is_taken)
{
    static const struct {
        struct fulcrum_actors_rule rule;
        double per_thread;
        const char *text;
    } cases[] = {
        {{NO_NUMBER, "4:64:x2"}, 256.0 / 40.0, "fastest of 4:64:x2"},
        {{4.0, NULL}, 4.0, "4 per hardware thread"},
        {{NO_NUMBER, NULL}, 256.0 / 40.0,
            "6.4 per hardware thread, as none were given"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[80];
        assert_close("per thread", fulcrum_actors_rule_per_thread(&cases[i].rule),
            cases[i].per_thread, 1e-15);
        fulcrum_actors_rule_text(&cases[i].rule, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}
