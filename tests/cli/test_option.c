/* test_option.c - the parser of option rows: every kind, every way to get it wrong. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/option.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

enum { WORD_MOST = 24 };

struct settings {
    char line[200]; /* that was parsed; texts refer to it */
    bool flag;
    bool help;
    double number;
    double count;
    const char *text;
    const char *file;
    int choice;
    struct fulcrum_text_list list;
    const char *first;
    const char *second;
    struct fulcrum_text_list rest;
    double shared;
};

static const char *colour(int index)
{
    static const char *const names[] = {"red", "green", "blue", NULL};
    return names[index];
}

static const struct fulcrum_option rows[] = {
    {"flag", 'f', FULCRUM_OPTION_FLAG, offsetof(struct settings, flag), .help = "f"},
    {"help", 'h', FULCRUM_OPTION_HELP, offsetof(struct settings, help), .help = "h"},
    {"number", 'n', FULCRUM_OPTION_NUMBER, offsetof(struct settings, number), "X", "s",
        .least = -1.0, .most = 10.0, .help = "n"},
    {"count", 'c', FULCRUM_OPTION_COUNT, offsetof(struct settings, count), "N",
        .fallback = "3", .least = 1.0, .most = 8.0, .help = "c"},
    {"text", 't', FULCRUM_OPTION_TEXT, offsetof(struct settings, text), "TEXT",
        .fallback = "none", .help = "t"},
    {"file", '\0', FULCRUM_OPTION_FILE, offsetof(struct settings, file), "FILE",
        .help = "f"},
    {"choice", '\0', FULCRUM_OPTION_CHOICE, offsetof(struct settings, choice), "NAME",
        .choice = colour, .help = "c"},
    {"list", 'l', FULCRUM_OPTION_LIST, offsetof(struct settings, list), "A=B",
        .help = "l"},
    {.name = NULL},
};

/* A table that places its one member by the group, not by the row. */
static const struct fulcrum_option shared_rows[] = {
    {"shared", '\0', FULCRUM_OPTION_NUMBER, 0, "X", .help = "no limits"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {NULL, rows, 0},
    {"Shared", shared_rows, offsetof(struct settings, shared)},
    {NULL, NULL, 0},
};

static const struct fulcrum_argument arguments[] = {
    {"FIRST", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, first), NULL, "needed"},
    {"SECOND", FULCRUM_ARGUMENT_OPTIONAL, offsetof(struct settings, second), NULL,
        "may"},
    {"REST", FULCRUM_ARGUMENT_REST, offsetof(struct settings, rest), NULL, "others"},
    {.name = NULL},
};

static const struct fulcrum_syntax syntax = {groups, arguments};

/* `line` is split at blanks. */
static enum fulcrum_status parse(
    const char *line, struct settings *out, struct fulcrum_error *err)
{
    char program[] = "program";
    char *words[WORD_MOST + 1] = {program};
    int count = 1;
    (void)snprintf(out->line, sizeof out->line, "%s", line);
    for (char *word = out->line; *word != '\0' && count < WORD_MOST;) {
        words[count++] = word;
        word += strcspn(word, " ");
        if (*word == ' ') {
            *word++ = '\0';
        }
    }
    words[count] = NULL;
    return fulcrum_options_parse(&syntax, out, count, words, err);
}

TEST(test_fallbacks_stand_where_nothing_is_given)
{
    struct settings settings;
    memset(&settings, 0x55, sizeof settings);
    ASSERT_OK(parse("a", &settings, NULL));
    CU_ASSERT_EQUAL(settings.flag, 0);
    CU_ASSERT(isnan(settings.number));
    CU_ASSERT_EQUAL(settings.count, 3.0);
    CU_ASSERT_STRING_EQUAL(settings.text, "none");
    CU_ASSERT_PTR_NULL(settings.file);
    CU_ASSERT_EQUAL(settings.choice, -1);
    CU_ASSERT_EQUAL(settings.list.count, 0);
    CU_ASSERT_STRING_EQUAL(settings.first, "a");
    CU_ASSERT_PTR_NULL(settings.second);
    CU_ASSERT_EQUAL(settings.rest.count, 0);
    fulcrum_options_free(&syntax, &settings);
}

TEST(test_every_kind_is_read_in_every_form)
{
    struct settings settings;
    ASSERT_OK(
        parse("a -f --number=-0.5 -c8 -t word --choice blue --shared 1e300 --file=x=y",
            &settings, NULL));
    CU_ASSERT_EQUAL(settings.flag, 1);
    CU_ASSERT_EQUAL(settings.number, -0.5);
    CU_ASSERT_EQUAL(settings.count, 8.0);
    CU_ASSERT_STRING_EQUAL(settings.text, "word");
    CU_ASSERT_STRING_EQUAL(settings.file, "x=y");
    CU_ASSERT_EQUAL(settings.choice, 2);
    CU_ASSERT_EQUAL(settings.shared, 1e300);
    fulcrum_options_free(&syntax, &settings);
}

TEST(test_repeated_options_add_up_and_arguments_mix_with_options)
{
    struct settings settings;
    ASSERT_OK(
        parse("one -l a=1 two --list=b=2 three -n 4 -n 5 -- -f", &settings, NULL));
    CU_ASSERT_EQUAL_FATAL(settings.list.count, 2);
    CU_ASSERT_STRING_EQUAL(settings.list.items[0], "a=1");
    CU_ASSERT_STRING_EQUAL(settings.list.items[1], "b=2");
    CU_ASSERT_STRING_EQUAL(settings.first, "one");
    CU_ASSERT_STRING_EQUAL(settings.second, "two");
    CU_ASSERT_EQUAL_FATAL(settings.rest.count, 2);
    CU_ASSERT_STRING_EQUAL(settings.rest.items[0], "three");
    CU_ASSERT_STRING_EQUAL(settings.rest.items[1], "-f");
    CU_ASSERT_EQUAL(settings.flag, 0);
    CU_ASSERT_EQUAL(settings.number, 5.0);
    fulcrum_options_free(&syntax, &settings);
}

/* The options of `line` that are told to be set, by their first letters. */
static void assert_set(const char *line, const char *expected)
{
    char set[WORD_MOST] = "";
    struct settings settings;
    ASSERT_OK(parse(line, &settings, NULL));
    size_t count = 0;
    for (const struct fulcrum_option *row = rows; row->name != NULL; row++) {
        if (fulcrum_option_is_set(row, &settings)) {
            set[count++] = row->name[0];
        }
    }
    CU_ASSERT_STRING_EQUAL(set, expected);
    fulcrum_options_free(&syntax, &settings);
}

TEST(test_what_differs_from_its_fallback_is_set)
{
    assert_set("a", "");
    assert_set("a --count 3 --text none", "");
    assert_set("a --count 4 --text some", "ct");
    assert_set("a -f -n 0 --file x --choice red -l a=1", "fnfcl");
}

TEST(test_help_ends_the_reading)
{
    struct settings settings;
    ASSERT_OK(parse("--help --bogus", &settings, NULL));
    CU_ASSERT_EQUAL(settings.help, 1);
    fulcrum_options_free(&syntax, &settings);
}

TEST(test_wrong_lines_name_the_option_and_the_value)
{
    static const struct {
        const char *line;
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {"a -n abc", FULCRUM_ERR_FORMAT, "--number: 'abc' is not a number"},
        {"a -n 1x", FULCRUM_ERR_FORMAT, "--number: '1x' is not a number"},
        {"a -n nan", FULCRUM_ERR_FORMAT, "--number: 'nan' is not a number"},
        {"a -n inf", FULCRUM_ERR_FORMAT, "--number: 'inf' is not a number"},
        {"a -n 1e999", FULCRUM_ERR_FORMAT, "--number: '1e999' is not a number"},
        {"a --number=", FULCRUM_ERR_FORMAT, "--number: '' is not a number"},
        {"a -n 10.1", FULCRUM_ERR_RANGE, "--number: 10.1 is outside [-1, 10] s"},
        {"a -n -1.1", FULCRUM_ERR_RANGE, "--number: -1.1 is outside [-1, 10] s"},
        {"a -c 0", FULCRUM_ERR_RANGE, "--count: 0 is outside [1, 8]"},
        {"a -c 1.5", FULCRUM_ERR_FORMAT, "--count: '1.5' is not a whole number"},
        {"a --choice pink", FULCRUM_ERR_RANGE,
            "--choice: 'pink' is not one of red, green or blue"},
        {"a --choice", FULCRUM_ERR_MISSING, "option '--choice' needs a value (NAME)"},
        {"a -t", FULCRUM_ERR_MISSING, "option '--text' needs a value (TEXT)"},
        {"a --flag=1", FULCRUM_ERR_FORMAT, "option '--flag' takes no value"},
        {"a --numbre 1", FULCRUM_ERR_UNKNOWN_NAME,
            "unknown option '--numbre'; did you mean '--number'?"},
        {"a --zzzzzzzzz=3", FULCRUM_ERR_UNKNOWN_NAME, "unknown option '--zzzzzzzzz'"},
        {"a --f", FULCRUM_ERR_UNKNOWN_NAME,
            "option '--f' is ambiguous: write it in full"},
        {"a -z", FULCRUM_ERR_UNKNOWN_NAME, "unknown option '-z'"},
        {"-f", FULCRUM_ERR_MISSING, "argument FIRST is missing"},
        {"", FULCRUM_ERR_MISSING, "argument FIRST is missing"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct settings settings;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(parse(cases[i].line, &settings, &err), cases[i].status);
        CU_ASSERT_STRING_EQUAL(err.detail, cases[i].detail);
        fulcrum_options_free(&syntax, &settings);
    }
}

TEST(test_an_argument_too_many_is_refused)
{
    static const struct fulcrum_syntax bare = {groups, NULL};
    char program[] = "program";
    char extra[] = "extra";
    char *words[] = {program, extra, NULL};
    struct settings settings;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        fulcrum_options_parse(&bare, &settings, 2, words, &err), FULCRUM_ERR_FORMAT);
    CU_ASSERT_STRING_EQUAL(err.detail, "unexpected argument 'extra'");
    fulcrum_options_free(&bare, &settings);
}
