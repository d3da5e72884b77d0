/* test_cli.c - every command's tables and help, reports, progress and settings. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* fork, kill */

#include "cli/command.h"

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { LINE_WIDTH = 79, SETTINGS_MOST = 4096 };

static void assert_prose(const char *owner, const char *text, bool has_stop)
{
    size_t length = text != NULL ? strlen(text) : 0;
    bool is_good = length > 0 && (text[length - 1] == '.') == has_stop;
    if (!is_good) {
        (void)printf("\n    %s: '%s'\n", owner, text);
    }
    CU_ASSERT(is_good);
}

/* What one row needs for the parser and the usage. */
static void check_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    (void)group;
    (void)user;
    bool is_switch =
        row->kind == FULCRUM_OPTION_FLAG || row->kind == FULCRUM_OPTION_HELP;
    assert_prose(row->name, row->help, 0);
    CU_ASSERT_EQUAL(row->value == NULL, is_switch);
    CU_ASSERT(row->kind != FULCRUM_OPTION_CHOICE || row->choice != NULL);
    CU_ASSERT(row->least <= row->most);
    CU_ASSERT(row->letter == '\0' || isalpha((unsigned char)row->letter));
}

struct names {
    const struct fulcrum_option *rows[64];
    size_t count;
};

static void check_unique(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct names *seen = user;
    (void)group;
    for (size_t i = 0; i < seen->count; i++) {
        CU_ASSERT_STRING_NOT_EQUAL(seen->rows[i]->name, row->name);
        CU_ASSERT(row->letter == '\0' || seen->rows[i]->letter != row->letter);
    }
    CU_ASSERT_FATAL(seen->count < sizeof seen->rows / sizeof seen->rows[0]);
    seen->rows[seen->count++] = row;
}

TEST(test_every_command_has_sound_tables)
{
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        struct fulcrum_command_syntax syntax;
        struct names seen = {{NULL}, 0};
        fulcrum_command_syntax_init(*command, &syntax);
        assert_prose((*command)->name, (*command)->summary, 0);
        assert_prose((*command)->name, (*command)->description, 1);
        CU_ASSERT_PTR_EQUAL(
            fulcrum_command_find(fulcrum_commands(), (*command)->name), *command);
        CU_ASSERT_PTR_NOT_NULL((*command)->run);
        CU_ASSERT_PTR_NOT_NULL((*command)->examples);
        fulcrum_options_each(&syntax.syntax, check_row, NULL);
        fulcrum_options_each(&syntax.syntax, check_unique, &seen);
    }
}

/* Fallbacks go through the same checks as given values; --help needs nothing else. */
TEST(test_every_command_takes_help_and_its_own_fallbacks)
{
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        char name[] = "command";
        char help[] = "--help";
        char *words[] = {name, help, NULL};
        struct fulcrum_command_syntax syntax;
        fulcrum_command_syntax_init(*command, &syntax);
        max_align_t block[SETTINGS_MOST / sizeof(max_align_t)];
        CU_ASSERT_FATAL(syntax.size <= sizeof block);
        ASSERT_OK(fulcrum_options_parse(&syntax.syntax, block, 2, words, NULL));
        struct fulcrum_common_settings common;
        memcpy(&common, (const char *)block + syntax.common_offset, sizeof common);
        CU_ASSERT_EQUAL(common.help, 1);
        fulcrum_options_free(&syntax.syntax, block);
    }
}

static void check_named(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    (void)group;
    const char *page = user;
    char option[80];
    (void)snprintf(option, sizeof option, "--%s", row->name);
    assert_part(page, option);
}

static void assert_narrow(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > LINE_WIDTH) {
            (void)printf("\n    too long: %.*s\n", (int)length, line);
        }
        CU_ASSERT(length <= LINE_WIDTH);
        line += length;
        line += *line == '\n';
    }
}

TEST(test_every_help_page_is_narrow_and_names_every_option)
{
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        struct fulcrum_command_syntax syntax;
        fulcrum_command_syntax_init(*command, &syntax);
        FILE *stream = stream_new();
        fulcrum_usage_print_command(stream, *command);
        char *page = stream_text(stream);
        assert_narrow(page);
        fulcrum_options_each(&syntax.syntax, check_named, page);
        free(page);
    }
}

TEST(test_remarks_tell_range_unit_choices_and_default)
{
    static const struct {
        struct fulcrum_option row;
        const char *remarks;
    } cases[] = {
        {{.name = "a", .kind = FULCRUM_OPTION_FLAG}, ""},
        {{.name = "a", .kind = FULCRUM_OPTION_NUMBER, .unit = "s"}, "(in s)"},
        {{.name = "a",
             .kind = FULCRUM_OPTION_COUNT,
             .least = 1,
             .most = 8,
             .fallback = "3"},
            "(1 to 8; default: 3)"},
        {{.name = "a",
             .kind = FULCRUM_OPTION_NUMBER,
             .least = 0,
             .most = 1,
             .unit = "W"},
            "(0 to 1 W)"},
        {{.name = "a", .kind = FULCRUM_OPTION_CHOICE, .choice = fulcrum_format_name},
            "(table, csv, json, jsonl, markdown, html)"},
        {{.name = "a", .kind = FULCRUM_OPTION_LIST}, "(may be repeated)"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char remarks[80];
        char short_remarks[6];
        fulcrum_usage_remarks(&cases[i].row, remarks, sizeof remarks);
        CU_ASSERT_STRING_EQUAL(remarks, cases[i].remarks);
        fulcrum_usage_remarks(&cases[i].row, short_remarks, sizeof short_remarks);
        CU_ASSERT(strlen(short_remarks) < sizeof short_remarks);
    }
}

/* A clock for the progress: each reading is 10 s later. */
static double stepping_clock_s(void)
{
    static double now_s;
    now_s += 10.0;
    return now_s;
}

static double stopped_clock_s(void)
{
    return 5.0;
}

struct update {
    double done_frac;
    const char *stage; /* NULL: takes the bar off the screen */
};

/* What is written while work goes on; the caller frees it. */
static char *written(enum fulcrum_progress_style style, double (*clock_s)(void),
    const struct update *updates, size_t count)
{
    FILE *stream = stream_new();
    struct fulcrum_progress progress;
    fulcrum_progress_init(&progress, stream, style, clock_s);
    for (size_t i = 0; i < count; i++) {
        if (updates[i].stage != NULL) {
            fulcrum_progress_update(&progress, updates[i].done_frac, updates[i].stage);
        } else {
            fulcrum_progress_end(&progress);
        }
    }
    return stream_text(stream);
}

TEST(test_progress_estimates_what_is_left)
{
    /* 20 s after the start when it is a quarter done: 60 s are left. */
    static const struct update updates[] = {
        {0.0, "warming up"}, {0.25, "stepping"}, {1.0, NULL}};
    char *text = written(FULCRUM_PROGRESS_LINES, stepping_clock_s, updates, 3);
    CU_ASSERT_STRING_EQUAL(text, "fulcrum:   0 %: warming up\n"
                                 "fulcrum:  25 %, 1:00 left: stepping\n");
    free(text);
}

/* Lines after 10, 20, 40, 80, 140, 200... s: an hour has 60 of them and not 360. */
TEST(test_a_log_of_long_work_is_short)
{
    struct update updates[20] = {{0.5, "stepping"}};
    for (size_t i = 0; i < LENGTH(updates); i++) {
        updates[i] = (struct update){0.5, "stepping"};
    }
    char *text = written(FULCRUM_PROGRESS_LINES, stepping_clock_s, updates, 20);
    CU_ASSERT_STRING_EQUAL(text, "fulcrum:  50 %, 0:10 left: stepping\n"
                                 "fulcrum:  50 %, 0:20 left: stepping\n"
                                 "fulcrum:  50 %, 0:40 left: stepping\n"
                                 "fulcrum:  50 %, 1:20 left: stepping\n"
                                 "fulcrum:  50 %, 2:20 left: stepping\n"
                                 "fulcrum:  50 %, 3:20 left: stepping\n");
    free(text);
}

/* At the start a terminal has a bar, once; a log has nothing to be told yet. */
TEST(test_progress_is_not_drawn_too_often_and_not_when_silent)
{
    static const char *const expected[] = {
        [FULCRUM_PROGRESS_SILENT] = "",
        [FULCRUM_PROGRESS_LINES] = "",
        [FULCRUM_PROGRESS_BAR] = "\r[........................]   1 %  --:-- left  a",
    };
    static const struct update updates[] = {{0.01, "a"}, {0.6, "b"}};
    for (int style = 0; style < (int)LENGTH(expected); style++) {
        char *text =
            written((enum fulcrum_progress_style)style, stopped_clock_s, updates, 2);
        CU_ASSERT_STRING_EQUAL(text, expected[style]);
        free(text);
    }
}

TEST(test_the_bar_leaves_the_line_blank)
{
    static const struct update updates[] = {{0.5, "a stage"}, {1.0, NULL}};
    char *text = written(FULCRUM_PROGRESS_BAR, stopped_clock_s, updates, 2);
    CU_ASSERT_EQUAL(strncmp(text, "\r[############............]", 27), 0);
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 2, " \r");
    free(text);
}

TEST(test_machines_are_named_one_by_one)
{
    static const struct {
        const char *names[2];
        size_t count;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {{"dgx-1", "dgx-2"}, 2, FULCRUM_OK, ""},
        {{"./a,b.json", "a,b/c"}, 2, FULCRUM_OK, ""},
        {{NULL}, 0, FULCRUM_ERR_MISSING, "'fulcrum list machines'"},
        {{"dgx-1,dgx-2"}, 1, FULCRUM_ERR_RANGE, "--machine once for each"},
        {{"dgx-1", "dgx-1"}, 2, FULCRUM_ERR_RANGE, "dgx-1 is given twice"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_context context = {.exit_code = 0};
        const char *names[2] = {cases[i].names[0], cases[i].names[1]};
        const struct fulcrum_text_list machines = {cases[i].count, names};
        ASSERT_FAILS(fulcrum_machine_names_check(&machines, &context, &err),
            cases[i].status, cases[i].part);
        CU_ASSERT_EQUAL(context.exit_code, cases[i].status == FULCRUM_OK ? 0 : 2);
    }
}

TEST(test_settings_are_checked_like_fields_of_files)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        double number;
    } cases[] = {
        {"machine.gpu.sm_count=40", FULCRUM_OK, 40.0},
        {"workload.step.mean_s=2e-3", FULCRUM_OK, 2e-3},
        {"machine.gpu.sm_count", FULCRUM_ERR_FORMAT, 0.0},
        {"=40", FULCRUM_ERR_FORMAT, 0.0},
        {"machine.gpu.sm_count=40x", FULCRUM_ERR_FORMAT, 0.0},
        {"machine.gpu.sm_count=-1", FULCRUM_ERR_RANGE, 0.0},
        {"machine.gpu.smcount=40", FULCRUM_ERR_UNKNOWN_NAME, 0.0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_context context = {.exit_code = 0};
        struct fulcrum_setting setting = {NULL, 0.0, NULL};
        CU_ASSERT_EQUAL(fulcrum_setting_parse(cases[i].text, &context, &setting, NULL),
            cases[i].status);
        CU_ASSERT_EQUAL(setting.number, cases[i].number);
        CU_ASSERT_EQUAL(context.exit_code, cases[i].status == FULCRUM_OK ? 0 : 2);
    }
}

TEST(test_the_first_signal_sets_the_flag)
{
    const volatile sig_atomic_t *flag = fulcrum_interrupt_watch();
    CU_ASSERT_EQUAL(*flag, 0);
    CU_ASSERT_EQUAL(raise(SIGTERM), 0);
    CU_ASSERT_EQUAL(*flag, 1);
    /* What comes with it belongs to it. */
    CU_ASSERT_EQUAL(raise(SIGTERM), 0);
    CU_ASSERT_EQUAL(raise(SIGINT), 0);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
}

TEST(test_a_late_second_signal_ends_the_program)
{
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        const struct timespec pause = {2, 100000000};
        (void)fulcrum_interrupt_watch();
        (void)kill(getpid(), SIGINT);
        (void)nanosleep(&pause, NULL);
        (void)kill(getpid(), SIGINT);
        _exit(0);
    }
    int how = 0;
    CU_ASSERT_EQUAL(waitpid(child, &how, 0), child);
    CU_ASSERT(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);
}

TEST(test_exit_codes_follow_the_status)
{
    CU_ASSERT_EQUAL(fulcrum_exit_code(FULCRUM_OK), 0);
    CU_ASSERT_EQUAL(fulcrum_exit_code(FULCRUM_ERR_FILE), 1);
    CU_ASSERT_EQUAL(fulcrum_exit_code(FULCRUM_ERR_INTERRUPTED), 130);
    CU_ASSERT_PTR_NULL(fulcrum_command_find(fulcrum_commands(), "lst"));
    char hint[400];
    fulcrum_command_hint(fulcrum_commands(), "lst", hint, sizeof hint);
    CU_ASSERT_STRING_EQUAL(hint, "; did you mean 'list'?");
    fulcrum_command_hint(fulcrum_commands(), "zzzzzzzzzzzz", hint, sizeof hint);
    assert_part(hint, ": expected calibrate, measure, ");
    assert_part(hint, " or schema");
}
