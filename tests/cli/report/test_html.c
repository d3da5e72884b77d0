/* test_html.c - escaping, quantities for people, command lines, the reader of markup.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "tests/support/markup.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* What was written to a stream, which it closes. */
static void assert_written(FILE *out, const char *expected)
{
    char *text = stream_text(out);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0) {
        (void)printf("\n    %s\n    instead of\n    %s\n", text, expected);
    }
    free(text);
}

TEST(test_text_is_escaped)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"plain", "plain"},
        {"", ""},
        {"<script>alert('x')</script> & \"quoted\"",
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot;"},
        {"&amp;", "&amp;amp;"},
        {"caf\xC3\xA9 \xE2\x82\xAC", "caf\xC3\xA9 \xE2\x82\xAC"},
        {"\xFF"
         "a\xC3",
            "\xEF\xBF\xBD"
            "a\xEF\xBF\xBD"},
        {"a\x01"
         "b\x7F\tc\n",
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\tc\n"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        FILE *out = stream_new();
        fulcrum_html_text(out, cases[i].text);
        assert_written(out, cases[i].expected);
    }
}

TEST(test_printed_text_is_escaped_after_it_is_made)
{
    FILE *out = stream_new();
    fulcrum_html_print(out, "%s < %d", "a&b", 3);
    assert_written(out, "a&amp;b &lt; 3");
}

/* A table of one row, written as `view` says. */
static char *table_of(const char *name, double value, double lo, double hi,
    const struct fulcrum_html_view *view)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    FILE *out = stream_new();
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", "what", name);
    fulcrum_table_estimate(table, "value", "how much", value, lo, hi);
    CU_ASSERT_EQUAL(fulcrum_html_table(out, table, view), 1);
    fulcrum_result_free(result);
    return stream_text(out);
}

TEST(test_tables_name_rows_and_columns)
{
    char *text =
        table_of("x<y", 3.0, 2.0, 4.0, &(struct fulcrum_html_view){.caption = "A & B"});
    assert_part(text, "<caption><span>A &amp; B</span></caption>");
    assert_part(text, "<th scope=\"col\">what</th>");
    assert_part(text, "<th scope=\"col\" class=\"n\">how much</th>");
    assert_part(text, "<th scope=\"row\">x&lt;y</th>");
    assert_part(text, "<td class=\"n\">3<small>2 to 4</small></td>");
    free(text);
}

/* What a caller asks for: code, a class, the unit of the name, no interval. */
TEST(test_views_choose_columns)
{
    char *text = table_of("gpu_w", 3.0, 2.0, 4.0,
        &(struct fulcrum_html_view){.caption = "A",
            .look = "stack",
            .columns = "name:code=key;value:named=power;value:value=alone;"
                       "name:class=origin"});
    assert_part(text, "<table class=\"stack\">");
    assert_part(text, "<th scope=\"row\"><code>gpu_w</code></th>");
    assert_part(text, "3\xC2\xA0W<small>2 to 4\xC2\xA0W</small>");
    assert_part(text, "<td class=\"n\">3</td>");
    assert_part(text, "<td class=\"name-gpu_w\">gpu_w</td>");
    free(text);
}

TEST(test_whiskers_stay_inside_their_picture)
{
    static const char *const columns[] = {
        "name=what;value:0:10=from 0 to 10", "name=what;value:0.5:2=times"};
    for (size_t i = 0; i < LENGTH(columns); i++) {
        const struct fulcrum_html_view view = {.caption = "A", .columns = columns[i]};
        char *text = table_of("x", 5.0, -1e9, 1e9, &view);
        CU_ASSERT_PTR_NULL(strstr(text, "nan"));
        assert_part(text, "aria-label=\"5, ");
        CU_ASSERT_EQUAL(markup_count(text, "<circle"), 1);
        CU_ASSERT_EQUAL(markup_count(text, "M6.0 8H194.0"), 1);
        CU_ASSERT_EQUAL(markup_count(text, "class=\"mark\""), i);
        free(text);
    }
}

/* Nothing known is no column, and no picture. */
TEST(test_the_unknown_has_no_whisker)
{
    static const struct fulcrum_html_view view = {
        .caption = "A", .columns = "name=what;value:0:10=from 0 to 10"};
    char *text = table_of("x", (double)NAN, (double)NAN, (double)NAN, &view);
    CU_ASSERT_EQUAL(markup_count(text, "<svg"), 0);
    CU_ASSERT_EQUAL(markup_count(text, "<td"), 0);
    free(text);
}

TEST(test_quantities_read_well)
{
    static const struct {
        double value;
        const char *unit;
        const char *expected;
    } cases[] = {
        {0.0020139, "s", "2.01\xC2\xA0ms"},
        {4.0e-5, "s", "40\xC2\xA0\xC2\xB5s"},
        {1.0, "s", "1\xC2\xA0s"},
        {0.0, "s", "0\xC2\xA0s"},
        {0.0, "%", "0\xC2\xA0%"},
        {150.0, "s", "2.5\xC2\xA0min"},
        {10018.0, "s", "2.78\xC2\xA0h"},
        {345600.0, "s",
            "4\xC2\xA0"
            "days"},
        {896.7, "W", "897\xC2\xA0W"},
        {14300.0, "W", "14.3\xC2\xA0kW"},
        {8983146.0, "J", "8.98\xC2\xA0MJ"},
        {0.2717, "%", "27.2\xC2\xA0%"},
        {0.9996, "%", "100\xC2\xA0%"},
        {19964.3, "1/s",
            "20\xE2\x80\xAF"
            "000/s"},
        {44.36, "1/J", "44.4/J"},
        {1234567.0, "",
            "1\xE2\x80\xAF"
            "230\xE2\x80\xAF"
            "000"},
        {0.0, "", "0"},
        {-0.00123456, "", "-0.00123"},
        {1e20, "", "1e+20"},
        {2e12, "byte/s", "2\xC2\xA0TB/s"},
        {5.0, "furlong",
            "5\xC2\xA0"
            "furlong"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[FULCRUM_QUANTITY_SIZE];
        fulcrum_quantity_words(cases[i].value, cases[i].unit, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].expected);
    }
}

TEST(test_the_unknown_is_a_dash)
{
    char text[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words((double)NAN, "s", text);
    CU_ASSERT_STRING_EQUAL(text, "\xE2\x80\x93");
    fulcrum_quantity_words(INFINITY, "", text);
    CU_ASSERT_STRING_EQUAL(text, "\xE2\x80\x93");
    fulcrum_range_words((double)NAN, 1.0, 1.0, "s", text);
    CU_ASSERT_STRING_EQUAL(text, "");
}

TEST(test_ranges_share_the_scale_of_their_value)
{
    char text[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_range_words(0.5, 2000.0, 0.002, "s", text);
    CU_ASSERT_STRING_EQUAL(text, "500 to 2\xE2\x80\xAF"
                                 "000\xE2\x80\xAF"
                                 "000\xC2\xA0ms");
    fulcrum_range_words(7204.0, 16543.0, (double)NAN, "s", text);
    CU_ASSERT_STRING_EQUAL(text, "2 to 4.6\xC2\xA0h");
}

/* The number in a text, without the spaces between thousands. */
static double number_in(const char *text)
{
    char digits[FULCRUM_QUANTITY_SIZE];
    size_t used = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr("0123456789.", *at) != NULL) {
            digits[used++] = *at;
        }
    }
    digits[used] = '\0';
    return strtod(digits, NULL);
}

/* Whatever the value, no more than the digits that were asked for, and its size. */
TEST(test_numbers_keep_their_digits)
{
    for (int exponent = -6; exponent < 15; exponent++) {
        double value = 9.996 * pow(10.0, exponent);
        char text[FULCRUM_QUANTITY_SIZE];
        fulcrum_number_words(value, 3, text);
        assert_close("number", number_in(text), value, 0.005);
    }
}

TEST(test_factors_have_digits_that_count)
{
    static const struct {
        double factor;
        const char *words;
    } cases[] = {{1.0, "1.000"}, {1.0074, "1.007"}, {0.909, "0.91"}, {12.34, "12.3"},
        {0.0123, "0.0123"}, {(double)NAN, "\xE2\x80\x93"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[FULCRUM_QUANTITY_SIZE];
        fulcrum_quantity_words(cases[i].factor, "x", text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].words);
    }
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_range_words(0.909, 1.2, 1.0, "x", range);
    CU_ASSERT_STRING_EQUAL(range, "0.91 to 1.20");
    fulcrum_range_words(0.909, (double)NAN, 1.0, "x", range);
    CU_ASSERT_STRING_EQUAL(range, "");
}

TEST(test_lines_are_quoted_for_a_shell)
{
    struct fulcrum_argv_text words = {.count = 0};
    fulcrum_argv_text_add(&words, "report");
    fulcrum_argv_text_add(&words, "a=%d,%s", 3, "x/y.json");
    fulcrum_argv_text_add(&words, "two words");
    fulcrum_argv_text_add(&words, "it's $HOME");
    fulcrum_argv_text_add(&words, "%s", "");
    CU_ASSERT(fulcrum_argv_text_have(&words, "two words"));
    CU_ASSERT(fulcrum_argv_text_have(&words, "a="));
    CU_ASSERT(!fulcrum_argv_text_have(&words, "words"));
    struct fulcrum_string line = {0};
    fulcrum_argv_text_line(&words, &line);
    CU_ASSERT_STRING_EQUAL(fulcrum_string_get(&line),
        "report a=3,x/y.json 'two words' 'it'\\''s $HOME' ''");
    fulcrum_string_clear(&line);
    CU_ASSERT_PTR_NULL(words.items[words.count]);
    fulcrum_argv_text_clear(&words);
    CU_ASSERT_EQUAL(words.count, 0);
}

/* The reader that judges reports must see faults. */
TEST(test_the_reader_of_markup_sees_faults)
{
#define DOCUMENT(body) "<!DOCTYPE html>\n<html><body>" body "</body></html>\n"
    static const struct {
        const char *document;
        const char *fault;
    } cases[] = {
        {DOCUMENT("<h1>a</h1><p id=\"x\">a &amp; b</p><a href=\"#x\">x</a>"), ""},
        {"<html></html>", "no document type"},
        {"<!DOCTYPE html>\n<p>", "never closed"},
        {DOCUMENT("<p><b>a</p></b>"), "</p> closes <b>"},
        {DOCUMENT("<p id=\"x\"></p><p id=\"x\"></p>"), "id x is given twice"},
        {DOCUMENT("<p id=\"x\" id=\"y\"></p>"), "attribute id is given twice"},
        {DOCUMENT("<p class=x></p>"), "without a quoted value"},
        {DOCUMENT("a & b"), "stands for itself"},
        {DOCUMENT("a < b"), "no name"},
        {DOCUMENT("<a href=\"#y\">y</a>"), "#y leads nowhere"},
        {DOCUMENT("<a href=\"http://x\">y</a>"), "leads out of the file"},
        {DOCUMENT("<svg><path d=\"\"/></svg>"), "picture without a label"},
        {DOCUMENT("<h1>a</h1><h3>b</h3>"), "heading h3 after level 1"},
        {DOCUMENT("<table><tr><td>a</td></tr></table>"), "without a caption"},
        {DOCUMENT("<table><caption>a</caption><tr><td>a</td></tr><tr></tr></table>"),
            "row of 0 cells"},
        {DOCUMENT("<table><caption>a</caption><tr><th>a</th></tr></table>"),
            "without a scope"},
    };
#undef DOCUMENT
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char fault[MARKUP_FAULT_SIZE];
        bool is_sound = markup_is_sound(cases[i].document, fault);
        CU_ASSERT_EQUAL(is_sound, cases[i].fault[0] == '\0');
        assert_part(fault, cases[i].fault);
    }
}
