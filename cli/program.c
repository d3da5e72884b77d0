/* program.c - finds the command, reads its options, runs it, reports how it went. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* STDOUT_FILENO */

#include "cli/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calibrate/device/learner.h"
#include "calibrate/statistics.h"
#include "cli/message.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"

enum { LINE_WIDTH = 79, HELP_COLUMN = 30 };

/* Writes one line's worth of `text`, and returns what is left of it. */
static const char *print_line(FILE *stream, const char *text, size_t room)
{
    size_t length = 0;
    size_t end = 0;
    while (text[length] != '\0' && text[length] != '\n' && length <= room) {
        if (text[length] == ' ') {
            end = length;
        }
        length++;
    }
    if (length <= room || end == 0) {
        end = length;
    }
    (void)fprintf(stream, "%.*s\n", (int)end, text);
    text += end;
    return *text == ' ' || *text == '\n' ? text + 1 : text;
}

/* Breaks `text` at blanks to lines of at most 79 characters; the first one stands at
 * `column` already. */
static void print_wrapped(FILE *stream, int column, int indent, const char *text)
{
    size_t room = (size_t)(LINE_WIDTH - indent);
    (void)fprintf(stream, "%*s", column < indent ? indent - column : 0, "");
    text = print_line(stream, text, room);
    while (*text != '\0') {
        if (*text != '\n') {
            (void)fprintf(stream, "%*s", indent, "");
        }
        text = print_line(stream, text, room);
    }
}

static void print_entry(FILE *stream, const char *name, const char *help)
{
    int length = fprintf(stream, "  %s", name);
    if (length > HELP_COLUMN - 2) {
        (void)fputc('\n', stream);
        length = 0;
    }
    print_wrapped(stream, length, HELP_COLUMN, help);
}

/* Of a program: every command with its summary. */
static void usage_print_overview(FILE *stream, const struct fulcrum_program *program)
{
    char advice[400];
    (void)fprintf(
        stream, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n\n", program->name);
    print_wrapped(stream, 0, 0, program->purpose);
    (void)fputs("\nCommands:\n", stream);
    const struct fulcrum_command *const *command = program->commands;
    for (; *command != NULL; command++) {
        (void)fprintf(stream, "  %-12s %s\n", (*command)->name, (*command)->summary);
    }
    (void)fprintf(stream, "  %-12s %s\n\n", "help", "explain a command");
    (void)snprintf(advice, sizeof advice,
        "'%s COMMAND --help' explains a command; '%s --version' prints the version. "
        "Exit status: 0 done, 1 the work or the content failed, 2 wrong command line, "
        "130 interrupted.",
        program->name, program->name);
    print_wrapped(stream, 0, 0, advice);
}

void fulcrum_usage_print_synopsis(FILE *stream, const struct fulcrum_command *command)
{
    (void)fprintf(stream, "%s %s [OPTION]...",
        command->program != NULL ? command->program : FULCRUM_PROGRAM, command->name);
    const struct fulcrum_argument *argument = command->arguments;
    for (; argument != NULL && argument->name != NULL; argument++) {
        static const char *const around[][2] = {{"", ""}, {"[", "]"}, {"[", "]..."}};
        const char *const *marks = around[argument->kind];
        (void)fprintf(stream, " %s%s%s", marks[0], argument->name, marks[1]);
    }
}

/* "; " between remarks, the first one in brackets. */
static void begin_remark(struct fulcrum_string *text)
{
    fulcrum_string_add(text, "%s", text->length == 0 ? "(" : "; ");
}

static void add_range(struct fulcrum_string *text, const struct fulcrum_option *row)
{
    const char *unit = row->unit != NULL ? row->unit : "";
    if (row->least != 0.0 || row->most != 0.0) {
        begin_remark(text);
        fulcrum_string_add(text, "%g to %g%s%s", row->least, row->most,
            unit[0] != '\0' ? " " : "", unit);
    } else if (unit[0] != '\0') {
        begin_remark(text);
        fulcrum_string_add(text, "in %s", unit);
    }
}

void fulcrum_usage_remarks(const struct fulcrum_option *row, char *out, size_t size)
{
    struct fulcrum_string text = {0};
    if (row->kind == FULCRUM_OPTION_CHOICE) {
        begin_remark(&text);
        for (int i = 0; row->choice(i) != NULL; i++) {
            fulcrum_string_add(&text, "%s%s", i == 0 ? "" : ", ", row->choice(i));
        }
    }
    if (row->kind == FULCRUM_OPTION_NUMBER || row->kind == FULCRUM_OPTION_COUNT) {
        add_range(&text, row);
    }
    if (row->kind == FULCRUM_OPTION_LIST) {
        begin_remark(&text);
        fulcrum_string_add(&text, "may be repeated");
    }
    if (row->fallback != NULL) {
        begin_remark(&text);
        fulcrum_string_add(&text, "default: %s", row->fallback);
    }
    (void)snprintf(
        out, size, "%s%s", fulcrum_string_get(&text), text.length > 0 ? ")" : "");
    fulcrum_string_clear(&text);
}

static void print_option(FILE *stream, const struct fulcrum_option *row)
{
    char name[100];
    char remarks[500];
    char help[1000];
    char letter[] = "-x, ";
    letter[1] = row->letter;
    (void)snprintf(name, sizeof name, "%s--%s%s%s",
        row->letter != '\0' ? letter : "    ", row->name, row->value != NULL ? "=" : "",
        row->value != NULL ? row->value : "");
    fulcrum_usage_remarks(row, remarks, sizeof remarks);
    (void)snprintf(
        help, sizeof help, "%s%s%s", row->help, remarks[0] != '\0' ? " " : "", remarks);
    print_entry(stream, name, help);
}

static void print_examples(FILE *stream, const struct fulcrum_example *example)
{
    if (example == NULL) {
        return;
    }
    (void)fputs("\nExamples:\n", stream);
    for (; example->line != NULL; example++) {
        /* Long command lines go on after a backslash, as the shell reads them. */
        const char *line = example->line;
        enum { INDENT = 2, CONTINUED = 6 };
        size_t room = LINE_WIDTH - INDENT;
        (void)fprintf(stream, "%*s", INDENT, "");
        while (strlen(line) > room) {
            size_t end = room - strlen(" \\");
            while (end > 0 && line[end] != ' ') {
                end--;
            }
            if (end == 0) {
                break;
            }
            (void)fprintf(stream, "%.*s \\\n%*s", (int)end, line, CONTINUED, "");
            line += end + 1;
            room = LINE_WIDTH - CONTINUED;
        }
        (void)fprintf(stream, "%s\n", line);
        print_wrapped(stream, 0, 6, example->what);
    }
}

void fulcrum_usage_print_command(FILE *stream, const struct fulcrum_command *command)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    (void)fputs("Usage: ", stream);
    fulcrum_usage_print_synopsis(stream, command);
    (void)fputs("\n\n", stream);
    print_wrapped(stream, 0, 0, command->description);
    const struct fulcrum_argument *argument = command->arguments;
    (void)fputs(argument != NULL ? "\nArguments:\n" : "", stream);
    for (; argument != NULL && argument->name != NULL; argument++) {
        print_entry(stream, argument->name, argument->help);
    }
    const struct fulcrum_option_group *group = syntax.groups;
    for (; group->rows != NULL; group++) {
        (void)fprintf(
            stream, "\n%s:\n", group->title != NULL ? group->title : "Options");
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            print_option(stream, row);
        }
    }
    print_examples(stream, command->examples);
}

/* Help and version go to standard output too, which may be closed or full. */
static int finish_stdout(const struct fulcrum_program *program)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return FULCRUM_EXIT_DONE;
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail(&err, FULCRUM_ERR_FILE, "standard output cannot be written: %s",
        strerror(errno));
    fulcrum_message_error(program->name, &err);
    return FULCRUM_EXIT_FAILED;
}

static int report_usage(const struct fulcrum_program *program,
    const struct fulcrum_error *err, const char *command)
{
    fulcrum_message_error(program->name, err);
    (void)fprintf(stderr, "%s: '%s %s%s--help' explains the options\n", program->name,
        program->name, command != NULL ? command : "", command != NULL ? " " : "");
    return FULCRUM_EXIT_USAGE;
}

/* Opens the output, unless the command writes the file itself. */
static enum fulcrum_status run_with_output(const struct fulcrum_command *command,
    const void *settings, struct fulcrum_context *context, struct fulcrum_error *err)
{
    int writes_file = command->output == FULCRUM_OUTPUT_FILE ||
                      command->output == FULCRUM_OUTPUT_FILE_REPORT;
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(writes_file ? NULL : context->output_path, &output, err));
    fulcrum_interrupt_remove(fulcrum_output_temporary(output));
    context->out = fulcrum_output_stream(output);
    enum fulcrum_status status = command->run(settings, context, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_output_commit(output, err);
    } else {
        fulcrum_output_discard(output);
    }
    fulcrum_interrupt_remove(NULL);
    return status;
}

/* Characters in a line where tables are read: of a terminal, or what COLUMNS says. */
static size_t line_width(void)
{
    enum { LEAST = 20, MOST = 10000 };
    struct winsize size = {.ws_col = 0};
    const char *text = getenv("COLUMNS");
    long width = text != NULL ? strtol(text, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    return width >= LEAST && width <= MOST ? (size_t)width : 0;
}

static int run_parsed(const struct fulcrum_program *program,
    const struct fulcrum_command *command, const void *settings,
    const struct fulcrum_common_settings *common)
{
    if (common->help) {
        fulcrum_usage_print_command(stdout, command);
        return finish_stdout(program);
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_context context = {
        .program = program->name,
        .output_path = common->output_path,
        .format = (enum fulcrum_format)common->format,
        .layout = {common->output_path == NULL ? line_width() : 0, common->all},
        .quiet = common->quiet,
    };
    enum fulcrum_status status = run_with_output(command, settings, &context, &err);
    if (status != FULCRUM_OK && context.exit_code == FULCRUM_EXIT_USAGE) {
        return report_usage(program, &err, command->name);
    }
    if (status != FULCRUM_OK) {
        fulcrum_message_error(program->name, &err);
    }
    return context.exit_code != 0 ? context.exit_code : fulcrum_exit_code(status);
}

/* argv[0] is the command's name. */
static int run_command(const struct fulcrum_program *program,
    const struct fulcrum_command *command, int argc, char **argv)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    char *settings = calloc(1, syntax.size);
    if (settings == NULL) {
        (void)fulcrum_fail(&err, FULCRUM_ERR_NO_MEMORY, "out of memory");
        fulcrum_message_error(program->name, &err);
        return FULCRUM_EXIT_FAILED;
    }
    int exit_code;
    enum fulcrum_status status =
        fulcrum_options_parse(&syntax.syntax, settings, argc, argv, &err);
    if (status == FULCRUM_OK) {
        const void *common = settings + syntax.common_offset;
        exit_code = run_parsed(program, command, settings, common);
    } else {
        exit_code = report_usage(program, &err, command->name);
    }
    fulcrum_options_free(&syntax.syntax, settings);
    free(settings);
    return exit_code;
}

int fulcrum_program_run(const struct fulcrum_program *program, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        (void)printf("%s %s\n", program->name, FULCRUM_VERSION);
        return finish_stdout(program);
    }
    bool is_help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        (is_help && argc < 3)) {
        usage_print_overview(stdout, program);
        return finish_stdout(program);
    }
    const char *name = is_help ? argv[2] : word;
    const struct fulcrum_command *command =
        fulcrum_command_find(program->commands, name);
    if (command == NULL) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        char hint[400];
        fulcrum_command_hint(program->commands, name, hint, sizeof hint);
        (void)fulcrum_fail(
            &err, FULCRUM_ERR_UNKNOWN_NAME, "unknown command '%s'%s", name, hint);
        return report_usage(program, &err, NULL);
    }
    if (is_help) {
        fulcrum_usage_print_command(stdout, command);
        return finish_stdout(program);
    }
    fulcrum_numerics_return_failures();
    fulcrum_products_use_one_thread();
    return run_command(program, command, argc - 1, argv + 1);
}
