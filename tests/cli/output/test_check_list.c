/* test_check_list.c - checks, their counts, and the XML made of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output/check_list.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

/* What is written; the caller frees it. */
static char *junit(const struct fulcrum_check_list *list)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fulcrum_check_list_junit(list, "run", stream);
    (void)fclose(stream);
    return text;
}

TEST(test_suites_follow_each_other)
{
    struct fulcrum_check_list list = {.count = 0};
    (void)fulcrum_check_list_add(&list, "a", FULCRUM_CHECK_PASSED, "point %d", 1);
    fulcrum_check_say(
        fulcrum_check_list_add(&list, "a", FULCRUM_CHECK_FAILED, "point 2"),
        "moved by %d %%", 3);
    fulcrum_check_say(
        fulcrum_check_list_add(&list, "b", FULCRUM_CHECK_SKIPPED, "predicted"),
        "no reason");
    char *text = junit(&list);
    CU_ASSERT_STRING_EQUAL(text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"run\" tests=\"3\" failures=\"1\" errors=\"0\" "
        "skipped=\"1\">\n"
        "  <testsuite name=\"a\" tests=\"2\" failures=\"1\" errors=\"0\" "
        "skipped=\"0\">\n"
        "    <testcase classname=\"a\" name=\"point 1\"/>\n"
        "    <testcase classname=\"a\" name=\"point 2\">\n"
        "      <failure message=\"moved by 3 %\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"b\" tests=\"1\" failures=\"0\" errors=\"0\" "
        "skipped=\"1\">\n"
        "    <testcase classname=\"b\" name=\"predicted\">\n"
        "      <skipped message=\"no reason\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
    free(text);
    fulcrum_check_list_clear(&list);
}

/* Names come from files: whatever they hold, the XML is well-formed. */
TEST(test_any_text_is_well_formed)
{
    struct fulcrum_check_list list = {.count = 0};
    fulcrum_check_say(
        fulcrum_check_list_add(&list, "a<b>&\"c\"", FULCRUM_CHECK_FAILED, "\x01\xff"),
        "one\ntwo \xc3\xa9");
    char *text = junit(&list);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "classname=\"a&lt;b&gt;&amp;&quot;c&quot;\" name=\"??\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "message=\"one&#10;two \xc3\xa9\""));
    free(text);
    fulcrum_check_list_clear(&list);
}

TEST(test_many_checks_are_counted)
{
    struct fulcrum_check_list list = {.count = 0};
    for (int i = 0; i < 1000; i++) {
        enum fulcrum_check_outcome outcome =
            i % 4 == 0 ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_PASSED;
        CU_ASSERT_PTR_NOT_NULL(
            fulcrum_check_list_add(&list, "many", outcome, "check %d", i));
    }
    CU_ASSERT_EQUAL(list.count, 1000);
    CU_ASSERT_EQUAL(fulcrum_check_list_count(&list, FULCRUM_CHECK_FAILED), 250);
    fulcrum_check_list_clear(&list);
    char *empty = junit(&list);
    CU_ASSERT_PTR_NOT_NULL(strstr(empty, "tests=\"0\""));
    free(empty);
}
