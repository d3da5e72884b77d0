/* test_json.c - JSON documents, and lines of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/io/json.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* The text of {"x":value}. */
static char *number_text(double value)
{
    struct json_object *json = fulcrum_json_new_object();
    fulcrum_json_add_number(json, "x", value);
    char *text = NULL;
    ASSERT_OK(fulcrum_json_text(json, FULCRUM_JSON_LINE, &text, NULL));
    json_object_put(json);
    return text;
}

TEST(test_numbers_are_shortest_and_whole_ones_plain)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "{\"x\":0}\n"},
        {-0.0, "{\"x\":0}\n"},
        {-3.0, "{\"x\":-3}\n"},
        {1e14, "{\"x\":100000000000000}\n"},
        {1e15, "{\"x\":1e+15}\n"},
        {0.1, "{\"x\":0.1}\n"},
        {0.1 + 0.2, "{\"x\":0.30000000000000004}\n"},
        {2e-3, "{\"x\":0.002}\n"},
        {5e-324, "{\"x\":4.94065645841247e-324}\n"},
        {(double)NAN, "{\"x\":null}\n"},
        {(double)INFINITY, "{\"x\":null}\n"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *text = number_text(cases[i].value);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
        free(text);
    }
}

TEST(test_numbers_read_back_the_same)
{
    double value = 1.0 / 3.0;
    for (int i = 0; i < 2000; i++) {
        /* Walks over many mantissas and exponents of both signs. */
        value = fmod(value * -7.654321e3, 1.0) * pow(10.0, i % 300 - 150);
        char *text = number_text(value);
        CU_ASSERT_EQUAL(strtod(text + strlen("{\"x\":"), NULL), value);
        free(text);
        value = value != 0.0 ? fmod(value / pow(10.0, i % 300 - 150), 1.0) : 0.3;
    }
}

static struct json_object *sample(void)
{
    static const double values[] = {1.0, (double)NAN, 2.5};
    struct json_object *json = fulcrum_json_new_object();
    fulcrum_json_add_text(json, "name", "a\"b\\c\n\x01\xc3\xa4");
    fulcrum_json_add_flag(json, "on", 1);
    fulcrum_json_add_flag(json, "off", 0);
    fulcrum_json_add_number(json, "none", (double)NAN);
    fulcrum_json_add_numbers(json, "values", values, 3);
    struct json_object *array = fulcrum_json_add_array(json, "rows");
    struct json_object *row = fulcrum_json_add_array(array, NULL);
    fulcrum_json_add_number(row, NULL, 1.0);
    fulcrum_json_add_text(row, NULL, "t");
    struct json_object *object = fulcrum_json_add_object(array, NULL);
    fulcrum_json_add_number(object, "k", 2.0);
    (void)fulcrum_json_add_object(json, "empty");
    (void)fulcrum_json_add_array(json, "nothing");
    return json;
}

static void check_layout(enum fulcrum_json_layout layout, const char *expected)
{
    struct json_object *json = sample();
    char *text = NULL;
    ASSERT_OK(fulcrum_json_text(json, layout, &text, NULL));
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_object_put(json);
}

TEST(test_layouts_keep_the_order_of_members)
{
    check_layout(FULCRUM_JSON_LINE,
        "{\"name\":\"a\\\"b\\\\c\\n\\u0001\xc3\xa4\",\"on\":true,\"off\":false,"
        "\"none\":null,\"values\":[1,null,2.5],\"rows\":[[1,\"t\"],{\"k\":2}],"
        "\"empty\":{},\"nothing\":[]}\n");
    check_layout(FULCRUM_JSON_PRETTY,
        "{\n  \"name\": \"a\\\"b\\\\c\\n\\u0001\xc3\xa4\",\n  \"on\": true,\n"
        "  \"off\": false,\n  \"none\": null,\n  \"values\": [1, null, 2.5],\n"
        "  \"rows\": [\n    [1, \"t\"],\n    {\n      \"k\": 2\n    }\n  ],\n"
        "  \"empty\": {},\n  \"nothing\": []\n}\n");
}

TEST(test_text_that_is_no_utf8_is_mended)
{
    static const struct {
        const char *text;
        const char *written;
    } cases[] = {
        {"\xff", "\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x8e\xae", "\xf0\x9f\x8e\xae"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct json_object *json = fulcrum_json_new_object();
        fulcrum_json_add_text(json, "x", cases[i].text);
        char *text = NULL;
        char expected[80];
        (void)snprintf(expected, sizeof expected, "{\"x\":\"%s\"}\n", cases[i].written);
        ASSERT_OK(fulcrum_json_text(json, FULCRUM_JSON_LINE, &text, NULL));
        CU_ASSERT_STRING_EQUAL(text, expected);
        free(text);
        json_object_put(json);
    }
}

TEST(test_a_document_that_ran_out_of_memory_says_so)
{
    char *text = NULL;
    fulcrum_json_add_number(NULL, "x", 1.0);
    CU_ASSERT_PTR_NULL(fulcrum_json_add_object(NULL, "x"));
    CU_ASSERT_EQUAL(
        fulcrum_json_text(NULL, FULCRUM_JSON_LINE, &text, NULL), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(text);
    json_object_put(NULL);
}

TEST(test_what_was_written_can_be_read)
{
    struct json_object *json = sample();
    char *text = NULL;
    struct json_object *document = NULL;
    ASSERT_OK(fulcrum_json_text(json, FULCRUM_JSON_PRETTY, &text, NULL));
    ASSERT_OK(fulcrum_document_parse("t", 0, text, &document, NULL));
    json_object_put(document);
    free(text);
    json_object_put(json);
}

TEST(test_malformed_text_is_refused_with_its_place)
{
    static const struct {
        const char *text;
        const char *detail; /* a part of it */
    } cases[] = {
        {"", "t: is empty"},
        {" \n ", "t: is empty"},
        {"[1]", "t: expected a JSON object"},
        {"null", "t: expected a JSON object"},
        {"{\"a\":1", "t: line 1, column 7: the text ends inside"},
        {"{\n \"a\": \"x", "t: line 2, column 9: the text ends inside"},
        {"{\"a\":1} x", "t: line 1, column 9: unexpected character"},
        {"{}\n\n{}", "t: line 3, column 1: unexpected character"},
        {"{\"a\":1,}", "t: line 1, column 8: unexpected character"},
        {"{a:1}", "t: line 1, column 2: quoted object property name expected"},
        {"{\"a\":'b'}", "t: line 1, column 6"},
        {"{\"a\":nan}", "t: line 1"},
        {"{\"a\":+1}", "t: line 1, column 6"},
        {"{\"a\":01}", "t: line 1, column 8"},
        {"{\"a\":1.}", "t: line 1, column 7: digits must follow"},
        {"{\"a\":1 /* c */}", "t: line 1"},
        {"{\"a\":\"x\ty\"}", "t: line 1, column 8: a control character"},
        {"{\"a\":\"\xff\"}", "t: line 1, column 7: invalid utf-8"},
        {"{\"a\":1,\n \"a\":2}", "t: line 2, column 2: a key is given twice: a"},
        {"{\"a\":1,\"\\u0061\":2}", "a key is given twice: a"},
        {"{\"o\":{\"b\":1,\"c\":[{}],\"b\":1}}", "a key is given twice: b"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
         "]]]]]]]]]]]]}",
            "nesting too deep"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct json_object *document = NULL;
        ASSERT_FAILS(fulcrum_document_parse("t", 0, cases[i].text, &document, &err),
            FULCRUM_ERR_FORMAT, cases[i].detail);
        CU_ASSERT_PTR_NULL(document);
    }
}

TEST(test_equal_keys_of_different_objects_are_fine)
{
    static const char text[] =
        "{\"a\":{\"a\":[{\"a\":\"a\"},{\"a\":\"}\\\"{\"}]},\"b\":\"a\"}";
    struct json_object *document = NULL;
    ASSERT_OK(fulcrum_document_parse("t", 0, text, &document, NULL));
    json_object_put(document);
}

static enum fulcrum_status read_text(
    const char *text, struct json_object **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, "sweep.jsonl", text);
    enum fulcrum_status status = fulcrum_json_lines_read(path, out, err);
    scratch_free(&scratch);
    return status;
}

/* The document as one would write it. */
static void check_read(const char *text, const char *expected)
{
    struct json_object *document = NULL;
    ASSERT_OK(read_text(text, &document, NULL));
    CU_ASSERT_STRING_EQUAL(
        json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN), expected);
    json_object_put(document);
}

TEST(test_rows_become_an_array)
{
    check_read(
        "{\"machine\":\"m\"}\n{\"x\":1}\n{\"x\":2}\n{\"finding\":\"f\",\"n\":3}\n",
        "{\"machine\":\"m\",\"points\":[{\"x\":1},{\"x\":2}],\"finding\":\"f\",\"n\":"
        "3}");
}

/* After Ctrl-C there is no tail; the last line may lack its end. */
TEST(test_tail_and_last_newline_may_be_missing)
{
    check_read("{\"a\":0}\r\n\n{\"x\":1}", "{\"a\":0,\"points\":[{\"x\":1}]}");
    check_read("{\"a\":0}", "{\"a\":0,\"points\":[]}");
}

TEST(test_head_keeps_what_the_tail_repeats)
{
    check_read("{\"a\":1}\n{\"finding\":null,\"a\":2}\n",
        "{\"a\":1,\"points\":[],\"finding\":null}");
}

TEST(test_faults_name_their_line)
{
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {{"{\"a\":1}\n{\"x\":1}\n{\"x\":}\n", "sweep.jsonl: line 3, column 6"},
        {"{\"a\":1}\n[1]\n", "line 2: expected a JSON object"},
        {"{\"a\":1,\"a\":2}\n", "line 1, column 8: a key is given twice"},
        {"\n \n", "is empty"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct json_object *document = NULL;
        ASSERT_FAILS(read_text(cases[i].text, &document, &err), FULCRUM_ERR_FORMAT,
            cases[i].words);
        CU_ASSERT_PTR_NULL(document);
    }
    struct json_object *document = NULL;
    CU_ASSERT_EQUAL(fulcrum_json_lines_read("no/such/file.jsonl", &document, NULL),
        FULCRUM_ERR_FILE);
}
