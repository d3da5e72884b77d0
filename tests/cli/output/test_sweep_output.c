/* test_sweep_output.c - points of a sweep as CSV, JSON and tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/sweep_columns.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A sweep over threads and a time that is no short decimal. */
struct fixture {
    struct fulcrum_sweep_axis axes[2];
    struct fulcrum_sweep_plan plan;
};

static void start(struct fixture *f, double draws)
{
    f->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), NULL, 3};
    f->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("workload.step.mean_s"), NULL, 4};
    f->plan = (struct fulcrum_sweep_plan){
        .axes = f->axes, .axis_count = 2, .predict = {.draws = draws}};
}

static struct fulcrum_result *new_head(void)
{
    struct fulcrum_result *head = fulcrum_result_new("fulcrum-explore");
    fulcrum_result_text(head, "machine", "machine", "a \"b\", c");
    fulcrum_result_text(head, "workload", NULL, "w");
    fulcrum_result_text(head, "calibration", NULL, "k");
    fulcrum_result_text(head, "actors_rule", NULL, "fixed");
    return head;
}

static struct fulcrum_sweep_point good_point(void)
{
    return (struct fulcrum_sweep_point){.status = FULCRUM_OK,
        .varied = {40.0, 0.1 + 0.2},
        .prediction = {.actor_count = 256.0,
            .value = {[FULCRUM_OUTPUT_steps_per_s] = 1000.0 / 3.0,
                [FULCRUM_OUTPUT_gpu_w] = (double)NAN},
            .lo = {[FULCRUM_OUTPUT_steps_per_s] = 300.0},
            .method = FULCRUM_METHOD_FAST,
            .bottleneck = FULCRUM_BOUND_GPU,
            .flags = FULCRUM_FLAG_LOW_CV | FULCRUM_FLAG_SCALED}};
}

static struct fulcrum_sweep_point bad_point(void)
{
    return (struct fulcrum_sweep_point){.status = FULCRUM_ERR_INFEASIBLE,
        .varied = {8.0},
        .reason = "no \"x\", caf\xc3\xa9"};
}

/* Points in blocks of two, as a format writes them. */
struct writing {
    const struct fulcrum_sweep_point *points;
    size_t count;
    enum fulcrum_format format;
    bool all; /* to people who ask for everything */
};

static char *written(
    const struct fixture *f, const char *names, const struct writing *writing)
{
    struct fulcrum_context context = {.exit_code = 0};
    struct fulcrum_sweep_columns columns;
    struct fulcrum_result *head = new_head();
    FILE *out = stream_new();
    fulcrum_sweep_columns_init(&columns, head, &f->plan, NULL);
    if (names != NULL) {
        ASSERT_OK(fulcrum_sweep_columns_keep(&columns, names, &context, NULL));
    }
    const struct fulcrum_stream_table table = {
        "points", columns.items, columns.count, 2};
    struct fulcrum_stream *stream =
        fulcrum_stream_new(head, &table, writing->format, out);
    CU_ASSERT_FATAL(stream != NULL);
    for (size_t done = 0; done < writing->count; done += 2) {
        size_t block = writing->count - done < 2 ? 1 : 2;
        for (size_t slot = block; slot-- > 0;) {
            struct fulcrum_cell cells[FULCRUM_SWEEP_COLUMNS_MOST];
            char room[FULCRUM_REASON_BYTE];
            fulcrum_sweep_columns_cells(
                &columns, &writing->points[done + slot], cells, room);
            fulcrum_stream_row(stream, slot, cells);
        }
        fulcrum_stream_write(stream, 0, block);
    }
    struct fulcrum_result *tail = fulcrum_result_new(NULL);
    fulcrum_result_text(tail, "finding", NULL, "this");
    const struct fulcrum_text_layout layout = {0, writing->all};
    ASSERT_OK(fulcrum_stream_end(stream, tail, &layout, NULL));
    fulcrum_result_free(tail);
    fulcrum_stream_free(stream);
    fulcrum_result_free(head);
    return stream_text(out);
}

/* The line of the one point in CSV or JSON lines, behind the head. */
static char *row_text(const struct fixture *f, const char *names,
    const struct fulcrum_sweep_point *point, enum fulcrum_format format)
{
    const struct writing writing = {.points = point, .count = 1, .format = format};
    char *text = written(f, names, &writing);
    const char *line = strchr(text, '\n') + 1;
    memmove(text, line, strlen(line) + 1);
    strchr(text, '\n')[1] = '\0';
    return text;
}

TEST(test_a_row_of_each_kind_in_each_form)
{
    static const char *const names =
        "machine,machine.cpu.thread_count,workload.step.mean_s,actor_count,steps_per_s,"
        "steps_per_s_lo,gpu_w,method,bottleneck,flags,status";
    struct fixture f;
    start(&f, 2.0);
    struct fulcrum_sweep_point good = good_point();
    struct fulcrum_sweep_point bad = bad_point();
    struct fulcrum_sweep_point counted = good;
    counted.prediction.has_interval = 1;
    const struct {
        const struct fulcrum_sweep_point *point;
        const char *csv;
        const char *json;
    } cases[] = {
        {&good,
            "\"a \"\"b\"\", c\",40,0.30000000000000004,256,333.333333333,,,fast,gpu,"
            "steps vary so little that actors may lock into step; times scaled from "
            "another machine (extrapolated),ok\n",
            "{\"machine.cpu.thread_count\":40,\"workload.step.mean_s\":"
            "0.30000000000000004,\"actor_count\":256,\"steps_per_s\":333.333333333,"
            "\"steps_per_s_lo\":null,\"gpu_w\":null,\"method\":\"fast\",\"bottleneck\":"
            "\"gpu\",\"flags\":\"steps vary so little that actors may lock into step; "
            "times scaled from another machine (extrapolated)\",\"status\":\"ok\"}\n"},
        {&bad, "\"a \"\"b\"\", c\",8,0,,,,,,,,\"no \"\"x\"\", caf\xc3\xa9\"\n",
            "{\"machine.cpu.thread_count\":8,\"workload.step.mean_s\":0,"
            "\"actor_count\":null,\"steps_per_s\":null,\"steps_per_s_lo\":null,"
            "\"gpu_w\":null,\"method\":\"\",\"bottleneck\":\"\",\"flags\":\"\","
            "\"status\":\"no \\\"x\\\", caf\xc3\xa9\"}\n"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *csv = row_text(&f, names, cases[i].point, FULCRUM_FORMAT_CSV);
        char *json = row_text(&f, names, cases[i].point, FULCRUM_FORMAT_JSON_LINES);
        CU_ASSERT_STRING_EQUAL(csv, cases[i].csv);
        CU_ASSERT_STRING_EQUAL(json, cases[i].json);
        free(csv);
        free(json);
    }
    char *csv = row_text(&f, names, &counted, FULCRUM_FORMAT_CSV);
    assert_part(csv, "333.333333333,300,,fast");
    free(csv);
}

static size_t titled(const struct fulcrum_sweep_columns *columns)
{
    size_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        count += columns->items[i].title != NULL ? 1 : 0;
    }
    return count;
}

TEST(test_columns_are_all_few_or_named)
{
    struct fixture f;
    struct fulcrum_sweep_columns columns;
    struct fulcrum_context context = {.exit_code = 0};
    struct fulcrum_result *head = new_head();
    start(&f, 0.0);
    fulcrum_sweep_columns_init(&columns, head, &f.plan, NULL);
    CU_ASSERT_EQUAL(columns.count, 4 + 2 + 1 + FULCRUM_OUTPUT_COUNT + 6);
    CU_ASSERT_EQUAL(titled(&columns), 2 + 1 + 6 + 2);
    CU_ASSERT_STRING_EQUAL(columns.items[4].title, "machine.cpu.thread_count");
    CU_ASSERT_STRING_EQUAL(columns.items[columns.count - 1].title, "status");
    start(&f, 2.0);
    fulcrum_sweep_columns_init(&columns, head, &f.plan, NULL);
    CU_ASSERT_EQUAL(columns.count, 4 + 2 + 1 + 3 * FULCRUM_OUTPUT_COUNT + 6);
    ASSERT_FAILS(
        fulcrum_sweep_columns_keep(&columns, "status,step_per_s", &context, &err),
        FULCRUM_ERR_UNKNOWN_NAME, "did you mean 'steps_per_s'?");
    CU_ASSERT_EQUAL(context.exit_code, 2);
    fulcrum_sweep_columns_init(&columns, head, &f.plan, NULL);
    ASSERT_OK(fulcrum_sweep_columns_keep(
        &columns, "method,system_w,system_w_hi", &context, NULL));
    CU_ASSERT_EQUAL(titled(&columns), 3);
    CU_ASSERT_STRING_EQUAL(
        columns.items[1].title, fulcrum_output_title(FULCRUM_OUTPUT_system_w));
    CU_ASSERT_STRING_EQUAL(columns.items[2].title, "system_w_hi");
    fulcrum_result_free(head);
}

TEST(test_an_output_is_whole_in_each_form)
{
    static const char *const head =
        "{\"schema\":{\"name\":\"fulcrum-explore\",\"version\":1},"
        "\"machine\":\"a \\\"b\\\", c\",\"workload\":\"w\",\"calibration\":\"k\","
        "\"actors_rule\":\"fixed\"";
    static const struct {
        enum fulcrum_format format;
        const char *after_head; /* NULL: there is no head */
        const char *rest;
    } cases[] = {
        {FULCRUM_FORMAT_CSV, NULL,
            "actor_count,method\n256,fast\n256,fast\n256,fast\n,\n"},
        {FULCRUM_FORMAT_JSON, ",\"points\":[",
            "\n{\"actor_count\":256,\"method\":\"fast\"},"
            "\n{\"actor_count\":256,\"method\":\"fast\"},"
            "\n{\"actor_count\":256,\"method\":\"fast\"},"
            "\n{\"actor_count\":null,\"method\":\"\"}"
            "\n],\"finding\":\"this\"}\n"},
        {FULCRUM_FORMAT_JSON_LINES, "}\n",
            "{\"actor_count\":256,\"method\":\"fast\"}\n"
            "{\"actor_count\":256,\"method\":\"fast\"}\n"
            "{\"actor_count\":256,\"method\":\"fast\"}\n"
            "{\"actor_count\":null,\"method\":\"\"}\n"
            "{\"finding\":\"this\"}\n"},
        {FULCRUM_FORMAT_TABLE, NULL,
            "machine  a \"b\", c\n\n"
            "actors  method\n"
            "   256  fast\n   256  fast\n   256  fast\n     -\n"},
    };
    const struct fulcrum_sweep_point points[] = {
        good_point(), good_point(), good_point(), bad_point()};
    struct fixture f;
    start(&f, 0.0);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct writing writing = {
            .points = points, .count = 4, .format = cases[i].format};
        char *text = written(&f, "actor_count,method", &writing);
        char expected[2000];
        bool has_head = cases[i].after_head != NULL;
        (void)snprintf(expected, sizeof expected, "%s%s%s", has_head ? head : "",
            has_head ? cases[i].after_head : "", cases[i].rest);
        CU_ASSERT_STRING_EQUAL(text, expected);
        free(text);
    }
    fulcrum_stream_free(NULL);
}

static size_t line_count(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

TEST(test_a_table_for_people_ends)
{
    enum { MORE = 7 };
    const size_t count = FULCRUM_STREAM_KEPT_ROWS + MORE;
    struct fulcrum_sweep_point *points = calloc(count, sizeof *points);
    CU_ASSERT_FATAL(points != NULL);
    for (size_t i = 0; points != NULL && i < count; i++) {
        points[i] = good_point();
    }
    struct fixture f;
    start(&f, 0.0);
    const struct writing writing = {
        .points = points, .count = count, .format = FULCRUM_FORMAT_TABLE};
    char *text = written(&f, "actor_count,method", &writing);
    /* Machine, blank, names, rows, blank, and how many are left out. */
    CU_ASSERT_EQUAL(line_count(text), 3 + FULCRUM_STREAM_KEPT_ROWS + 2);
    assert_part(text, "\n\nnote: 7 more points: --format csv");
    free(text);
    free(points);
}

/* What stands beside its ends is one thing to people, and all columns can be seen. */
TEST(test_people_see_titles_units_and_intervals)
{
    struct fixture f;
    start(&f, 2.0);
    struct fulcrum_sweep_point good = good_point();
    good.prediction.has_interval = 1;
    good.prediction.hi[FULCRUM_OUTPUT_steps_per_s] = 400.0;
    struct writing writing = {
        .points = &good, .count = 1, .format = FULCRUM_FORMAT_TABLE};
    char *text = written(
        &f, "workload.step.mean_s,steps_per_s,steps_per_s_lo,steps_per_s_hi", &writing);
    assert_part(text, "workload.step.mean_s  agent steps  90 % interval\n"
                      "              300 ms      333.3/s   300 to 400/s\n");
    free(text);
    text = written(&f, NULL, &writing);
    CU_ASSERT_PTR_NULL(strstr(text, "times scaled"));
    free(text);
    writing.all = true;
    text = written(&f, NULL, &writing);
    assert_part(text, "times scaled");
    free(text);
}
