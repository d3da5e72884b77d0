/* test_csv.c - CSV tables give their cells, or say what is wrong in which line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/io/csv.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static enum fulcrum_status load_text(
    const char *text, struct fulcrum_csv **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    enum fulcrum_status status =
        fulcrum_csv_load(scratch_put(&scratch, "t.csv", text), out, err);
    scratch_free(&scratch);
    return status;
}

TEST(test_cells_are_found_by_row_and_column)
{
    struct fulcrum_csv *table = NULL;
    ASSERT_OK(load_text("\xef\xbb\xbf# a machine\r\n#second\n"
                        "actors,\"steps, per s\",note\r\n"
                        "\n"
                        "4, 812.5 ,\"say \"\"hi\"\"\nthere\"\r\n"
                        "# between\n"
                        "40,,x\n"
                        "1e2,-3,",
        &table, NULL));
    CU_ASSERT_EQUAL(fulcrum_csv_row_count(table), 3);
    CU_ASSERT_EQUAL(fulcrum_csv_column_count(table), 3);
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_column_name(table, 1), "steps, per s");
    CU_ASSERT_EQUAL(fulcrum_csv_find(table, "note"), 2);
    CU_ASSERT_EQUAL(fulcrum_csv_find(table, "Note"), 3);
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_text(table, 0, 2), "say \"hi\"\nthere");
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_text(table, 2, 2), "");
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_comment(table, 0), "a machine");
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_comment(table, 1), "second");
    CU_ASSERT_STRING_EQUAL(fulcrum_csv_comment(table, 2), "");
    static const double expected[3][2] = {
        {4.0, 812.5}, {40.0, (double)NAN}, {100.0, -3.0}};
    for (size_t i = 0; i < 6; i++) {
        double value = 0.0;
        double want = expected[i / 2][i % 2];
        ASSERT_OK(fulcrum_csv_number(table, i / 2, i % 2, &value, NULL));
        CU_ASSERT(isnan(want) ? isnan(value) : value == want);
    }
    fulcrum_csv_free(table);
}

TEST(test_what_is_no_number_names_line_and_column)
{
    static const char *const cells[] = {
        "x", "1x", "0x10", "nan", "inf", "1e999", "1,000", "--1", "1 2", "-"};
    for (size_t i = 0; i < LENGTH(cells); i++) {
        struct fulcrum_csv *table = NULL;
        char text[80];
        (void)snprintf(text, sizeof text, "# c\nwatts\n1\n\"%s\"\n", cells[i]);
        ASSERT_OK(load_text(text, &table, NULL));
        double value = 7.0;
        ASSERT_FAILS(fulcrum_csv_number(table, 1, 0, &value, &err), FULCRUM_ERR_FORMAT,
            "t.csv: line 4: watts = ");
        CU_ASSERT_EQUAL(value, 7.0);
        fulcrum_csv_free(table);
    }
}

TEST(test_malformed_tables_are_refused)
{
    static const struct {
        const char *text;
        const char *detail; /* a part of it */
    } cases[] = {
        {"", "is empty"},
        {"# only a comment\n", "has no data"},
        {"a,b\n", "has no data"},
        {"a,b\n1,2\n3\n", "line 3: has 1 cells: expected 2"},
        {"a,b\n1,2,3\n", "line 2: has 3 cells: expected 2"},
        {"a,b\n1,\"2\n", "line 2: a quote is not closed"},
        {"a,b\n1,\"2\"x\n", "line 2: text after a closing quote"},
        {"a,b\n1,2\"x\n", "line 2: a quote inside an unquoted cell"},
        {"a,a\n1,2\n", "line 1: two columns are called \"a\""},
        {"a,\n1,2\n", "line 1: a column has no name"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_csv *table = NULL;
        ASSERT_FAILS(load_text(cases[i].text, &table, &err), FULCRUM_ERR_FORMAT,
            cases[i].detail);
        CU_ASSERT_PTR_NULL(table);
    }
}

TEST(test_files_that_cannot_be_read_are_named)
{
    struct fulcrum_csv *table = NULL;
    struct scratch scratch = scratch_new();
    ASSERT_FAILS(fulcrum_csv_load(scratch_at(&scratch, "absent.csv"), &table, &err),
        FULCRUM_ERR_FILE, "absent.csv: cannot be read: ");
    ASSERT_FAILS(fulcrum_csv_load(scratch.folder, &table, &err), FULCRUM_ERR_FILE,
        "is a directory");
    fulcrum_csv_free(NULL);
    scratch_free(&scratch);
}
