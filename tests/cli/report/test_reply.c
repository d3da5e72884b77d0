/* test_reply.c - commands that ask other commands, and rows of what they answer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "cli/report/report_section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/markup.h"
#include "tests/support/suite.h"

enum { WORDS_MOST = 30 };

/* Words with a space between them. */
static enum fulcrum_status ask(
    struct fulcrum_reply *out, const char *line, struct fulcrum_error *err)
{
    struct fulcrum_context context = {.exit_code = 0};
    char room[600];
    char *rest = NULL;
    *out = (struct fulcrum_reply){.document = NULL};
    (void)snprintf(room, sizeof room, "%s", line);
    for (char *word = strtok_r(room, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        fulcrum_argv_text_add(&out->words, "%s", word);
    }
    return fulcrum_reply_ask(out, &context, err);
}

#define POINT "-m dgx-1-inci2020 -w r2d2-atari --method fast --intervals 8 "

static void test_an_answer_is_a_document(void)
{
    struct fulcrum_reply reply;
    char text[64];
    CU_ASSERT_EQUAL(ask(&reply, "predict " POINT "--actors 40", NULL), FULCRUM_OK);
    CU_ASSERT_PTR_NOT_NULL(reply.document);
    CU_ASSERT_EQUAL(reply.exit_code, 0);
    CU_ASSERT_STRING_EQUAL(reply.warnings, "");
    CU_ASSERT(fulcrum_reply_number(&reply, "steps_per_s") > 1000.0);
    fulcrum_reply_text(&reply, "workload", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "r2d2-atari");
    CU_ASSERT(isnan(fulcrum_reply_number(&reply, "workload")));
    CU_ASSERT(isnan(fulcrum_reply_number(&reply, "no_such_number")));
    fulcrum_reply_text(&reply, "no_such_text", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    fulcrum_reply_clear(&reply);
    CU_ASSERT_PTR_NULL(reply.document);
}

/* A refusal is an answer: with its text and the exit code that it would have had. */
static void test_a_refusal_is_an_answer(void)
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_reply reply;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(ask(&reply, cases[i].line, &err), FULCRUM_OK);
        CU_ASSERT_PTR_NULL(reply.document);
        CU_ASSERT_PTR_NOT_NULL(strstr(reply.refusal.detail, cases[i].text));
        CU_ASSERT_NOT_EQUAL(reply.refusal.status, FULCRUM_OK);
        CU_ASSERT_EQUAL(reply.exit_code, cases[i].exit_code);
        CU_ASSERT(isnan(fulcrum_reply_number(&reply, "steps_per_s")));
        fulcrum_reply_clear(&reply);
    }
}

static void test_warnings_go_to_who_asked(void)
{
    struct fulcrum_reply reply;
    CU_ASSERT_EQUAL(
        ask(&reply,
            "explore " POINT "--actors 40 -v run.gpu_count=1,9 --columns steps_per_s",
            NULL),
        FULCRUM_OK);
    CU_ASSERT_PTR_NOT_NULL(reply.document);
    CU_ASSERT_PTR_NOT_NULL(strstr(reply.warnings, "1 of 2 points cannot run"));
    fulcrum_reply_clear(&reply);
}

/* What was written to a stream; the caller frees it. */
static char *text_of(FILE *out, char **text)
{
    CU_ASSERT_EQUAL(fclose(out), 0);
    return *text;
}

static void test_rows_become_a_table(void)
{
    static const struct fulcrum_report_table table = {
        .caption = "Points",
        .rows = "points",
        .columns = {{"run.actor_count", "actors", "", 0},
            {"steps_per_s", "#steps/s", "", 1}, {"speedup", "#times", "x", 1},
            {"gpu_busy_frac", "#busy", "%", 0}, {"bottleneck", "by", NULL, 0}},
        .column_count = 5,
        .where = "status",
        .is = "ok",
        .rows_most = 2,
    };
    struct fulcrum_reply reply;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(
        ask(&reply, "explore " POINT "-v run.actor_count=8,16,32 --relative-to 0",
            NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_report_rows_write(&table, &reply, out), 2);
    text = text_of(out, &text);
    CU_ASSERT_EQUAL(markup_count(text, "<tr>"), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<th scope=\"row\">8</th>"));
    /* The first point is its own measure: a factor without an interval. */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<td class=\"n\">1.00</td>"));
    CU_ASSERT_EQUAL(markup_count(text, "<small>"), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<td>latency</td>"));
    free(text);
    fulcrum_reply_clear(&reply);
}

/* Nothing known in any row: no column; a sentence has room, a short name takes none. */
static void test_columns_that_say_nothing_are_left_out(void)
{
    static const struct fulcrum_report_table table = {
        .caption = "Points",
        .rows = "points",
        .columns = {{"status", "named", NULL, 0},
            {"no_such_number", "#blank number", "", 0},
            {"no_such_text", "blank text", NULL, 0}, {"status", "status", NULL, 0}},
        .column_count = 4,
    };
    struct fulcrum_reply reply;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(
        ask(&reply, "explore " POINT "--actors 40 -v run.gpu_count=1,9", NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_report_rows_write(&table, &reply, out), 2);
    text = text_of(out, &text);
    CU_ASSERT_PTR_NULL(strstr(text, "blank"));
    CU_ASSERT_EQUAL(markup_count(text, "<td>ok</td>"), 1);
    CU_ASSERT_EQUAL(markup_count(text, "<td class=\"long\">"), 1);
    CU_ASSERT_EQUAL(markup_count(text, "class=\"name\""), 1);
    free(text);
    fulcrum_reply_clear(&reply);
}

static void test_no_rows_are_no_table(void)
{
    static const struct fulcrum_report_table table = {.caption = "None",
        .rows = "no_such_rows",
        .columns = {{"a", "a", NULL, 0}},
        .column_count = 1};
    struct fulcrum_reply reply = {.document = NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(fulcrum_report_rows_write(&table, &reply, out), 0);
    text = text_of(out, &text);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
}

/* As explore itself says it, but in ratios. */
static void test_the_best_is_that_of_the_sweep(void)
{
    struct fulcrum_reply reply;
    struct fulcrum_report_best best;
    enum fulcrum_report_axis axis = FULCRUM_REPORT_AXIS_RATIO;
    CU_ASSERT_EQUAL(ask(&reply,
                        "explore " POINT "--actors-per-thread 6.4 "
                        "-v machine.cpu.thread_count=20,40,80,160",
                        NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_report_best_read(&reply, 0, &axis, &best), 1);
    CU_ASSERT_EQUAL(axis, FULCRUM_REPORT_AXIS_RATIO);
    CU_ASSERT_STRING_EQUAL(best.metric, "throughput");
    /* 80 SMs: the most threads are a ratio of 2. */
    suite_assert_close("end of the plateau", best.to, 2.0, 1e-9);
    CU_ASSERT(best.from <= best.at && best.at <= best.to);
    CU_ASSERT(best.at_lo <= best.at_hi && best.from_lo <= best.from_hi);
    CU_ASSERT_EQUAL(fulcrum_report_best_read(&reply, 3, &axis, &best), 0);
    fulcrum_reply_clear(&reply);
    CU_ASSERT_EQUAL(fulcrum_report_best_read(&reply, 0, &axis, &best), 0);
}

static void test_shapes_are_told_in_words(void)
{
    static const struct {
        const char *shape;
        const char *words;
    } cases[] = {
        {"optimum", "is best at ratio 1 (90 %: 0.5 to 2), and within 5 % of that from "
                    "0.7 to 1.4"},
        {"plateau-to-last",
            "comes within 5 % of its best at ratio 0.7 (90 %: 0.6 to 0.8)"},
        {"rises", "still rises at ratio 1, where the sweep ends"},
        {"falls", "falls from ratio 1, where the sweep begins"},
        {"plateau-from-first", "stays within 5 % of its best up to ratio 1.4"},
        {"flat", "changes by less than 5 % from ratio 0.7 to 1.4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_report_best best = {.at = 1.0,
            .at_lo = 0.5,
            .at_hi = 2.0,
            .from = 0.7,
            .from_lo = 0.6,
            .from_hi = 0.8,
            .to = 1.4};
        char text[300];
        (void)snprintf(best.shape, sizeof best.shape, "%s", cases[i].shape);
        fulcrum_report_best_words(&best, "ratio", text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].words);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_an_answer_is_a_document),
        SUITE_CASE(test_a_refusal_is_an_answer),
        SUITE_CASE(test_warnings_go_to_who_asked),
        SUITE_CASE(test_rows_become_a_table),
        SUITE_CASE(test_columns_that_say_nothing_are_left_out),
        SUITE_CASE(test_no_rows_are_no_table),
        SUITE_CASE(test_the_best_is_that_of_the_sweep),
        SUITE_CASE(test_shapes_are_told_in_words),
    };
    return suite_run("reply", cases, sizeof cases / sizeof cases[0], argc, argv);
}
