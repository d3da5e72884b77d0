/* test_reply.c - commands that ask other commands, and rows of what they answer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/markup.h"
#include "tests/support/reply.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void ask(struct fulcrum_reply *out, const char *line)
{
    *out = (struct fulcrum_reply){.result = NULL};
    reply_words(out, line);
    fulcrum_reply_ask(out);
}

#define POINT "-m dgx-1-inci2020 -w r2d2-atari --method fast --intervals 8 "

TEST(test_an_answer_is_a_result)
{
    struct fulcrum_reply reply;
    ask(&reply, "predict " POINT "--actors 40");
    CU_ASSERT_PTR_NOT_NULL(reply.result);
    CU_ASSERT_EQUAL(reply.exit_code, 0);
    CU_ASSERT_STRING_EQUAL(reply.warnings, "");
    CU_ASSERT(fulcrum_result_number_of(reply.result, "steps_per_s") > 1000.0);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_result_text_of(reply.result, "workload"), "r2d2-atari");
    fulcrum_reply_clear(&reply);
    CU_ASSERT_PTR_NULL(reply.result);
}

/* A refusal is an answer: with its text and the exit code that it would have had. */
TEST(test_a_refusal_is_an_answer)
{
    static const struct {
        const char *line;
        const char *text;
        int exit_code;
    } cases[] = {
        {"predict -m dgx-0 -w r2d2-atari --actors 4", "dgx-0", 0},
        {"predict " POINT "--actors -4", "--actors", 2},
        {"predict " POINT "--actors 4 --set run.actor_cuont=3", "actor_cuont", 2},
        {"predict " POINT "--no-such-option", "--no-such-option", 2},
        {"explore " POINT "--actors 40 -v run.gpu_count=9,10", "no point can run", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_reply reply;
        ask(&reply, cases[i].line);
        CU_ASSERT_PTR_NULL(reply.result);
        assert_part(reply.refusal.detail, cases[i].text);
        CU_ASSERT_NOT_EQUAL(reply.refusal.status, FULCRUM_OK);
        CU_ASSERT_EQUAL(reply.exit_code, cases[i].exit_code);
        fulcrum_reply_clear(&reply);
    }
}

TEST(test_warnings_go_to_who_asked)
{
    struct fulcrum_reply reply;
    ask(&reply,
        "explore " POINT "--actors 40 -v run.gpu_count=1,9 --columns steps_per_s");
    CU_ASSERT_PTR_NOT_NULL(reply.result);
    assert_part(reply.warnings, "1 of 2 points cannot run");
    fulcrum_reply_clear(&reply);
}

/* The table of points of a sweep, as a section writes it; the caller frees the text. */
static char *table_of(
    const char *line, const struct fulcrum_html_view *view, size_t *count)
{
    struct fulcrum_reply reply;
    FILE *out = stream_new();
    ask(&reply, line);
    *count =
        fulcrum_html_table(out, fulcrum_result_table_of(reply.result, "points"), view);
    fulcrum_reply_clear(&reply);
    return stream_text(out);
}

TEST(test_rows_become_a_table)
{
    static const struct fulcrum_html_view view = {
        .caption = "Points",
        .columns = "run.actor_count=actors;steps_per_s=throughput;speedup=times;"
                   "gpu_busy_frac:value=busy;bottleneck=by",
        .where = "status",
        .is = "ok",
        .rows_most = 2,
    };
    size_t count = 0;
    char *text = table_of(
        "explore " POINT "-v run.actor_count=8,16,32 --relative-to 0", &view, &count);
    CU_ASSERT_EQUAL(count, 2);
    CU_ASSERT_EQUAL(markup_count(text, "<tr>"), 3);
    assert_part(text, "<th scope=\"row\">8</th>");
    /* The first point is its own measure: a factor without an interval. */
    assert_part(text, "<td class=\"n\">1.000</td>");
    CU_ASSERT_EQUAL(markup_count(text, "<small>"), 3);
    assert_part(text, "<td>latency</td>");
    free(text);
}

/* Nothing known in any row: no column; a sentence has room, a short name takes none. */
TEST(test_columns_that_say_nothing_are_left_out)
{
    static const struct fulcrum_html_view view = {
        .caption = "Points",
        .columns = "status=named;actor_threads_per_learner_core=blank number;"
                   "no_such_text=blank text;status=status",
    };
    size_t count = 0;
    char *text =
        table_of("explore " POINT "--actors 40 -v run.gpu_count=1,9", &view, &count);
    CU_ASSERT_EQUAL(count, 2);
    CU_ASSERT_PTR_NULL(strstr(text, "blank"));
    CU_ASSERT_EQUAL(markup_count(text, "<td>ok</td>"), 1);
    CU_ASSERT_EQUAL(markup_count(text, "<td class=\"long\">"), 1);
    CU_ASSERT_EQUAL(markup_count(text, "class=\"name\""), 1);
    free(text);
}

TEST(test_no_rows_are_no_table)
{
    static const struct fulcrum_html_view view = {.caption = "None", .columns = "a=a"};
    FILE *out = stream_new();
    CU_ASSERT_EQUAL(fulcrum_html_table(out, NULL, &view), 0);
    char *text = stream_text(out);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
}

/* As explore itself says it, but in ratios. */
TEST(test_the_best_is_that_of_the_sweep)
{
    struct fulcrum_reply reply;
    struct fulcrum_string text = {0};
    ask(&reply, "explore " POINT "--actors-per-thread 6.4 "
                "-v machine.cpu.thread_count=20,40,80,160");
    const struct fulcrum_table *optima =
        fulcrum_result_table_of(reply.result, "optima");
    struct fulcrum_cell best = fulcrum_table_at(optima, 0, "best_ratio");
    struct fulcrum_cell from = fulcrum_table_at(optima, 0, "plateau_first_ratio");
    struct fulcrum_cell to = fulcrum_table_at(optima, 0, "plateau_last_ratio");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(optima, 0, "metric").text, "throughput");
    CU_ASSERT_EQUAL(fulcrum_table_rows(optima), 3);
    /* 80 SMs: the most threads are a ratio of 2. */
    assert_close("end of the plateau", to.number, 2.0, 1e-9);
    CU_ASSERT(from.number <= best.number && best.number <= to.number);
    CU_ASSERT(best.lo <= best.hi && from.lo <= from.hi);
    fulcrum_report_best_words(optima, 0, &text);
    assert_part(fulcrum_string_get(&text), "a CPU/GPU ratio of");
    fulcrum_string_clear(&text);
    fulcrum_reply_clear(&reply);
}

TEST(test_shapes_are_told_in_words)
{
    static const struct {
        const char *shape;
        double ratio; /* NAN: threads stand in for it */
        const char *words;
    } cases[] = {
        {"optimum", 1.0,
            "is best at a CPU/GPU ratio of 1 (90 %: 0.5 to 2), and within 5 % of that "
            "from 0.7 to 1.4"},
        {"plateau-to-last", 1.0,
            "comes within 5 % of its best at a CPU/GPU ratio of 0.7 (90 %: 0.6 to "
            "0.8)"},
        {"rises", 1.0, "still rises at a CPU/GPU ratio of 1, where the sweep ends"},
        {"falls", 1.0, "falls from a CPU/GPU ratio of 1, where the sweep begins"},
        {"plateau-from-first", 1.0,
            "stays within 5 % of its best up to a CPU/GPU ratio of 1.4"},
        {"flat", 1.0, "changes by less than 5 % from a CPU/GPU ratio of 0.7 to 1.4"},
        {"rises", (double)NAN,
            "still rises at a thread count of 80, where the sweep ends"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "optima", NULL);
        struct fulcrum_string text = {0};
        fulcrum_table_row(table);
        fulcrum_table_text(table, "shape", NULL, cases[i].shape);
        fulcrum_table_number(table, "best", NULL, 80.0);
        fulcrum_table_estimate(table, "best_ratio", NULL, cases[i].ratio, 0.5, 2.0);
        fulcrum_table_estimate(table, "plateau_first_ratio", NULL, 0.7, 0.6, 0.8);
        fulcrum_table_number(table, "plateau_last_ratio", NULL, 1.4);
        fulcrum_report_best_words(table, 0, &text);
        CU_ASSERT_STRING_EQUAL(fulcrum_string_get(&text), cases[i].words);
        fulcrum_string_clear(&text);
        fulcrum_result_free(result);
    }
}
