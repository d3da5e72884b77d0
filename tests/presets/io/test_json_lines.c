/* test_json_lines.c - lines of a file become one document. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/io/document.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct fulcrum_json_lines lines = {"points", "finding"};

static enum fulcrum_status read_text(
    const char *text, struct json_object **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_write(&scratch, "sweep.jsonl", text);
    enum fulcrum_status status = fulcrum_json_lines_read(path, &lines, out, err);
    free(path);
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
    fulcrum_document_free(document);
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
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(read_text(cases[i].text, &document, &err), FULCRUM_ERR_FORMAT);
        CU_ASSERT_PTR_NULL(document);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[i].words));
        if (strstr(err.detail, cases[i].words) == NULL) {
            (void)fprintf(stderr, "\n  '%s' lacks '%s'\n", err.detail, cases[i].words);
        }
    }
    struct json_object *document = NULL;
    CU_ASSERT_EQUAL(
        fulcrum_json_lines_read("no/such/file.jsonl", &lines, &document, NULL),
        FULCRUM_ERR_FILE);
}
