/* test_result_io.c - a result is written in every form, and read back the same. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/result_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* Facts, a list, a table with an interval and a hole, a keyed table, an object. */
static struct fulcrum_result *sample(void)
{
    static const double values[] = {1.5, -2.0};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-sample");
    fulcrum_result_text(result, "machine", "machine", "a \"b\", c");
    fulcrum_result_text(result, "nobody", NULL, NULL);
    fulcrum_result_flag(result, "complete", NULL, true);
    fulcrum_result_print(result, "run", "run", "%d actors", 40);
    fulcrum_result_gap(result);
    fulcrum_result_estimate(result, "gpu_w", "GPU power", 1234.5, 1000.0, 2000.0);
    fulcrum_result_number(result, "all/mape_frac", NULL, 0.125);
    fulcrum_result_numbers(result, "values", values, 2);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", "");
    for (int i = 0; i < 20; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "name", "name", i % 2 == 0 ? "even" : "odd, \"x\"");
        fulcrum_table_estimate(table, "step_s", "step",
            i == 3 ? (double)NAN : 315e-6 * i, i > 4 ? 1e-6 * i : (double)NAN,
            i > 4 ? 1e-3 * i : (double)NAN);
        fulcrum_table_number(table, "gpu_count", "GPUs", i);
        fulcrum_table_number(table, "busy_frac", NULL, 0.5);
    }
    struct fulcrum_table *keyed = fulcrum_result_table(result, "inputs", NULL);
    fulcrum_table_make_keyed(keyed);
    fulcrum_table_row(keyed);
    fulcrum_table_text(keyed, "field", NULL, "machine.gpu.count");
    fulcrum_table_number(keyed, "value", NULL, 8.0);
    fulcrum_result_note_print(result, "flags", "watts are a %s", "prior");
    return result;
}

static char *written(const struct fulcrum_result *result, enum fulcrum_format format,
    const struct fulcrum_text_layout *layout)
{
    FILE *stream = stream_new();
    ASSERT_OK(fulcrum_result_write(result, format, layout, stream, NULL));
    return stream_text(stream);
}

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void check_table(
    const struct fulcrum_table *table, const struct fulcrum_table *other)
{
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(other), fulcrum_table_rows(table));
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_columns(other), fulcrum_table_columns(table));
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
            struct fulcrum_cell cell = fulcrum_table_cell(table, i, j);
            struct fulcrum_cell back =
                fulcrum_table_at(other, i, fulcrum_table_column(table, j).key);
            CU_ASSERT_TRUE(is_same(cell.number, back.number));
            CU_ASSERT_TRUE(is_same(cell.lo, back.lo));
            CU_ASSERT_TRUE(is_same(cell.hi, back.hi));
            CU_ASSERT_TRUE(cell.text == NULL || strcmp(cell.text, back.text) == 0);
        }
    }
}

static struct fulcrum_result *read_back(
    const char *name, const char *text, enum fulcrum_status wanted)
{
    struct fulcrum_result *back = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, name, text);
    CU_ASSERT_EQUAL_FATAL(fulcrum_result_read(path, &back, &err), wanted);
    scratch_free(&scratch);
    CU_ASSERT_TRUE(wanted == FULCRUM_OK || strstr(err.detail, name) != NULL);
    return back;
}

TEST(test_json_reads_back_the_same)
{
    struct fulcrum_result *result = sample();
    char *text = written(result, FULCRUM_FORMAT_JSON, NULL);
    struct fulcrum_result *back = read_back("result.json", text, FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(fulcrum_result_schema(back), "fulcrum-sample");
    CU_ASSERT_STRING_EQUAL(fulcrum_result_text_of(back, "machine"), "a \"b\", c");
    CU_ASSERT_EQUAL(fulcrum_result_number_of(back, "complete"), 1.0);
    CU_ASSERT_EQUAL(fulcrum_result_number_of(back, "all/mape_frac"), 0.125);
    CU_ASSERT_TRUE(isnan(fulcrum_result_number_of(back, "nobody")));
    const struct fulcrum_item *watts = fulcrum_result_find(back, "gpu_w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(watts);
    if (watts != NULL) {
        CU_ASSERT_EQUAL(watts->cell.number, 1234.5);
        CU_ASSERT_EQUAL(watts->cell.hi, 2000.0);
    }
    check_table(
        fulcrum_result_table_of(result, "rows"), fulcrum_result_table_of(back, "rows"));
    const struct fulcrum_table *inputs = fulcrum_result_table_of(back, "inputs");
    CU_ASSERT_EQUAL(fulcrum_table_at(inputs, 0, "value").number, 8.0);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_table_at(inputs, 0, "key").text, "machine.gpu.count");
    CU_ASSERT_EQUAL(
        fulcrum_table_at(fulcrum_result_table_of(back, "values"), 1, "").number, -2.0);
    char *again = written(back, FULCRUM_FORMAT_JSON, NULL);
    CU_ASSERT_STRING_EQUAL(again, text);
    free(again);
    free(text);
    fulcrum_result_free(back);
    fulcrum_result_free(result);
}

TEST(test_csv_and_lines_hold_the_main_table)
{
    struct fulcrum_result *result = sample();
    const struct fulcrum_table *rows = fulcrum_result_table_of(result, "rows");
    char *csv = written(result, FULCRUM_FORMAT_CSV, NULL);
    CU_ASSERT_EQUAL(
        strncmp(csv, "name,step_s,step_s_lo,step_s_hi,gpu_count,busy_frac\n", 51), 0);
    assert_part(csv, "\"odd, \"\"x\"\"\",,,,3,0.5\n");
    struct fulcrum_result *back = read_back("result.csv", csv, FULCRUM_OK);
    check_table(rows, fulcrum_result_table_of(back, "rows"));
    fulcrum_result_free(back);
    free(csv);
    char *lines = written(result, FULCRUM_FORMAT_JSON_LINES, NULL);
    back = read_back("result.jsonl", lines, FULCRUM_OK);
    check_table(rows, fulcrum_result_table_of(back, "rows"));
    CU_ASSERT_STRING_EQUAL(fulcrum_result_schema(back), "fulcrum-sample");
    fulcrum_result_free(back);
    free(lines);
    fulcrum_result_free(result);
}

TEST(test_people_read_units)
{
    struct fulcrum_result *result = sample();
    char *text = written(result, FULCRUM_FORMAT_TABLE, NULL);
    assert_part(text, "GPU power  1234 W  (90 %: 1000 to 2000 W)\n");
    assert_part(text, "run      40 actors\n");
    assert_part(text, "315 us");
    assert_part(text, "note: watts are a prior\n");
    CU_ASSERT_PTR_NULL(strstr(text, "busy_frac"));
    CU_ASSERT_PTR_NULL(strstr(text, " \n"));
    free(text);
    static const struct fulcrum_text_layout all = {30, true};
    text = written(result, FULCRUM_FORMAT_TABLE, &all);
    assert_part(text, "busy_frac");
    assert_part(text, "50 %");
    free(text);
    fulcrum_result_free(result);
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        longest =
            length > longest && strncmp(text, "not shown", 9) != 0 ? length : longest;
        text += length + (text[length] == '\n');
    }
    return longest;
}

TEST(test_tables_fit_the_line_and_say_what_is_left_out)
{
    struct fulcrum_result *result = sample();
    for (size_t width = 24; width < 90; width += 3) {
        const struct fulcrum_text_layout layout = {width, false};
        char *text = written(result, FULCRUM_FORMAT_TABLE, &layout);
        char *table = strstr(text, "\n\nname");
        CU_ASSERT_PTR_NOT_NULL_FATAL(table);
        if (table != NULL) {
            CU_ASSERT_TRUE(longest_line(table) <= width);
            CU_ASSERT_EQUAL(strstr(text, "not shown") != NULL,
                strstr(table, "GPUs\n") == NULL || strstr(text, ": GPUs") != NULL);
        }
        free(text);
    }
    fulcrum_result_free(result);
}

/* Sources and titles are wanted even where they are longer than a line. */
TEST(test_a_long_text_at_the_end_runs_on)
{
    static const char words[] = "a source that is longer than any line would take";
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", "");
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", "name", "x");
    fulcrum_table_text(table, "source", "source", words);
    fulcrum_table_text(table, "more", "more", "y");
    for (size_t width = 20; width <= 30; width += 10) {
        const struct fulcrum_text_layout layout = {width, false};
        char *text = written(result, FULCRUM_FORMAT_TABLE, &layout);
        CU_ASSERT_EQUAL(strstr(text, words) != NULL, width == 30);
        assert_part(text, "not shown");
        free(text);
    }
    fulcrum_result_free(result);
}

TEST(test_a_result_is_one_line_and_a_table_has_two_parts)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    fulcrum_result_text(result, "name", NULL, NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    fulcrum_table_row(table);
    fulcrum_table_number(table, "x", NULL, 0.5);
    char *line = NULL;
    ASSERT_OK(fulcrum_result_line(result, &line, NULL));
    CU_ASSERT_STRING_EQUAL(line, "{\"name\":null,\"rows\":[{\"x\":0.5}]}\n");
    free(line);
    FILE *stream = stream_new();
    fulcrum_csv_heading(stream, table);
    fulcrum_csv_rows(stream, table);
    fulcrum_csv_rows(stream, table);
    char *csv = stream_text(stream);
    CU_ASSERT_STRING_EQUAL(csv, "x\n0.5\n0.5\n");
    free(csv);
    fulcrum_result_free(result);
}

TEST(test_texts_of_others_do_no_harm)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", "a & b");
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", "name", "\x1b[31m<b>|\xff");
    char *text = written(result, FULCRUM_FORMAT_TABLE, NULL);
    CU_ASSERT_PTR_NULL(strchr(text, '\x1b'));
    free(text);
    text = written(result, FULCRUM_FORMAT_HTML, NULL);
    CU_ASSERT_PTR_NULL(strstr(text, "<b>"));
    assert_part(text, "a &amp; b");
    free(text);
    text = written(result, FULCRUM_FORMAT_MARKDOWN, NULL);
    assert_part(text, "&lt;b>\\|");
    free(text);
    fulcrum_result_free(result);
}

TEST(test_facts_alone_are_rows_of_csv)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-sample");
    fulcrum_result_text(result, "machine", "machine", "x");
    fulcrum_result_estimate(result, "gpu_w", "GPU power", 2.0, 1.0, 3.0);
    fulcrum_result_estimate(result, "cpu_w", NULL, 4.0, 3.0, 5.0);
    fulcrum_result_explain(result, "power of all processors");
    char *text = written(result, FULCRUM_FORMAT_CSV, NULL);
    CU_ASSERT_STRING_EQUAL(text, "name,value,lo,hi,unit,meaning\n"
                                 "gpu_w,2,1,3,W,GPU power\n"
                                 "cpu_w,4,3,5,W,power of all processors\n");
    free(text);
    fulcrum_result_free(result);
}

/* A title without a value would tell people nothing. */
TEST(test_facts_without_a_value_are_not_shown)
{
    static const enum fulcrum_format formats[] = {
        FULCRUM_FORMAT_TABLE, FULCRUM_FORMAT_MARKDOWN, FULCRUM_FORMAT_HTML};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-sample");
    fulcrum_result_text(result, "machine", "machine", "x");
    fulcrum_result_text(result, "note", "empty note", "");
    fulcrum_result_text(result, "calibration", "no calibration", NULL);
    fulcrum_result_number(result, "system_w", "unknown power", (double)NAN);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *text = written(result, formats[i], NULL);
        assert_part(text, "machine");
        CU_ASSERT_PTR_NULL(strstr(text, "empty note"));
        CU_ASSERT_PTR_NULL(strstr(text, "no calibration"));
        CU_ASSERT_PTR_NULL(strstr(text, "unknown power"));
        free(text);
    }
    fulcrum_result_free(result);
}

TEST(test_broken_files_are_refused_by_name)
{
    (void)read_back("cut.json", "{\"rows\": [{\"a\": 1}, ", FULCRUM_ERR_FORMAT);
    (void)read_back("ragged.csv", "a,b\n1,2\n3\n", FULCRUM_ERR_FORMAT);
    (void)read_back("lines.jsonl", "{}\n{\"a\": \n", FULCRUM_ERR_FORMAT);
    struct fulcrum_result *odd = read_back("odd.json",
        "{\"rows\": [1, {\"a\": {\"b\": [2]}}, [3]], \"x\": [[1]], \"y\": {}}",
        FULCRUM_OK);
    fulcrum_result_free(odd);
}

/* Numbers that are none are refused where they stand, or named by who needs them. */
TEST(test_what_is_no_number_is_named)
{
    static const struct {
        const char *name;
        const char *text;
        const char *part; /* of the fault; NULL: it is the chart's to complain */
    } cases[] = {
        {"a.json", "{\"rows\": [{\"steps_per_s\": NaN}]}",
            "a.json: rows[0].steps_per_s = NaN: expected a finite number"},
        {"a.json", "{\"x\": 1, \"y\": {\"z\": [1, 1e400]}}", "a.json: y.z[1] = 1e400"},
        {"a.jsonl", "{}\n{\"a\": 1}\n{\"a\": -Infinity}\n", "points[1].a = -Infinity"},
        {"a.csv", "x,x_lo\n1,0.5\n2,junk\n",
            "a.csv: line 3: x_lo = junk: expected a number or nothing"},
        {"a.csv", "x,x_hi\n1,nan\n", "a.csv: line 2: x_hi = nan"},
        {"a.csv", "x,y\n1,2\n3,nan\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scratch scratch = scratch_new();
        const char *path = scratch_put(&scratch, cases[i].name, cases[i].text);
        struct fulcrum_result *result = NULL;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(fulcrum_result_read(path, &result, &err),
            cases[i].part != NULL ? FULCRUM_ERR_FORMAT : FULCRUM_OK);
        if (cases[i].part != NULL) {
            assert_part(err.detail, cases[i].part);
        } else {
            const struct fulcrum_table *table = fulcrum_result_table_of(result, "rows");
            struct fulcrum_cell cell = fulcrum_table_at(table, 0, "y");
            CU_ASSERT(is_same(cell.number, 2.0));
            CU_ASSERT_STRING_EQUAL(cell.text, "2");
            CU_ASSERT_EQUAL(
                fulcrum_table_check_numbers(table, "y", &err), FULCRUM_ERR_FORMAT);
            CU_ASSERT_STRING_EQUAL(err.detail, "row 2: y = 'nan': expected a number");
        }
        fulcrum_result_free(result);
        scratch_free(&scratch);
    }
}

TEST(test_units_follow_from_keys)
{
    static const char *const cases[][2] = {{"runtime_s", "s"}, {"steps_per_s", "1/s"},
        {"dram_byte_per_s", "byte/s"}, {"gpu_busy_frac", "%"}, {"gpu_count", ""},
        {"steps_per_j_gpu", "1/J"}, {"quality_speedup", "x"}, {"system_w", "W"},
        {"cpu_s_per_step", "s"}, {"j_per_step", "J"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_STRING_EQUAL(fulcrum_unit_of(cases[i][0]), cases[i][1]);
    }
}

/* What a row has in arrays: pairs are intervals, objects members, texts are joined. */
TEST(test_arrays_in_rows_become_cells)
{
    static const char text[] =
        "{\"optima\":[{\"axes\":[{\"shape\":\"rises\",\"best\":4,\"plateau\":[2,8]},"
        "{\"shape\":\"falls\"}],\"flags\":[\"a\",\"b\"],\"metric\":\"w\","
        "\"metric_lo\":3}]}";
    struct fulcrum_result *result = read_back("rows.json", text, FULCRUM_OK);
    const struct fulcrum_table *table = fulcrum_result_table_of(result, "optima");
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(table, 0, "axes/shape").text, "rises");
    CU_ASSERT(is_same(fulcrum_table_at(table, 0, "axes/best").number, 4.0));
    struct fulcrum_cell plateau = fulcrum_table_at(table, 0, "axes/plateau");
    CU_ASSERT(isnan(plateau.number));
    CU_ASSERT(is_same(plateau.lo, 2.0) && is_same(plateau.hi, 8.0));
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(table, 0, "flags").text, "a; b");
    /* A text has no interval: its "_lo" is a column of its own. */
    CU_ASSERT(is_same(fulcrum_table_at(table, 0, "metric_lo").number, 3.0));
    fulcrum_result_free(result);
}
