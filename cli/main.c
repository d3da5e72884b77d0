/* main.c - finds the command, reads its options, runs it, reports how it went. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/usage.h"
#include "presets/output.h"

/* Help and version go to standard output too, which may be closed or full. */
static int finish_stdout(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return FULCRUM_EXIT_DONE;
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail(&err, FULCRUM_ERR_FILE, "standard output cannot be written: %s",
        strerror(errno));
    fulcrum_message_error(&err);
    return FULCRUM_EXIT_FAILED;
}

static int report_usage(const struct fulcrum_error *err, const char *command)
{
    fulcrum_message_error(err);
    (void)fprintf(stderr, "fulcrum: 'fulcrum %s%s--help' explains the options\n",
        command != NULL ? command : "", command != NULL ? " " : "");
    return FULCRUM_EXIT_USAGE;
}

static int report_unknown_command(const char *name)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const char *nearest = fulcrum_command_nearest(name);
    (void)fulcrum_fail(&err, FULCRUM_ERR_UNKNOWN_NAME, "unknown command '%s'%s%s%s",
        name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "'?" : "");
    return report_usage(&err, NULL);
}

/* Opens the output, unless the command writes the file itself. */
static enum fulcrum_status run_with_output(const struct fulcrum_command *command,
    const void *settings, struct fulcrum_context *context, struct fulcrum_error *err)
{
    int writes_file = command->output == FULCRUM_OUTPUT_FILE ||
                      command->output == FULCRUM_OUTPUT_FILE_REPORT;
    struct fulcrum_output *output = NULL;
    enum fulcrum_status status =
        fulcrum_output_open(writes_file ? NULL : context->output_path, &output, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    context->out = fulcrum_output_stream(output);
    status = command->run(settings, context, err);
    if (status != FULCRUM_OK) {
        fulcrum_output_discard(output);
        return status;
    }
    return fulcrum_output_commit(output, err);
}

static int run_parsed(const struct fulcrum_command *command, const void *settings,
    const struct fulcrum_common_settings *common)
{
    if (common->help) {
        fulcrum_usage_print_command(stdout, command);
        return finish_stdout();
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_context context = {
        .output_path = common->output_path,
        .format = (enum fulcrum_format)common->format,
        .quiet = common->quiet,
    };
    enum fulcrum_status status = run_with_output(command, settings, &context, &err);
    if (status != FULCRUM_OK && context.exit_code == FULCRUM_EXIT_USAGE) {
        return report_usage(&err, command->name);
    }
    if (status != FULCRUM_OK) {
        fulcrum_message_error(&err);
    }
    return context.exit_code != 0 ? context.exit_code : fulcrum_exit_code(status);
}

/* argv[0] is the command's name. */
static int run_command(const struct fulcrum_command *command, int argc, char **argv)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    char *settings = calloc(1, syntax.size);
    if (settings == NULL) {
        (void)fulcrum_fail(&err, FULCRUM_ERR_NO_MEMORY, "out of memory");
        fulcrum_message_error(&err);
        return FULCRUM_EXIT_FAILED;
    }
    int exit_code;
    enum fulcrum_status status =
        fulcrum_options_parse(&syntax.syntax, settings, argc, argv, &err);
    if (status == FULCRUM_OK) {
        const void *common = settings + syntax.common_offset;
        exit_code = run_parsed(command, settings, common);
    } else {
        exit_code = report_usage(&err, command->name);
    }
    fulcrum_options_free(&syntax.syntax, settings);
    free(settings);
    return exit_code;
}

static int print_help(const char *name)
{
    if (name == NULL) {
        fulcrum_usage_print_overview(stdout);
        return finish_stdout();
    }
    const struct fulcrum_command *command = fulcrum_command_find(name);
    if (command == NULL) {
        return report_unknown_command(name);
    }
    fulcrum_usage_print_command(stdout, command);
    return finish_stdout();
}

static int is_word(const char *word, const char *name, const char *letter)
{
    return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    if (is_word(word, "--help", "-h")) {
        return print_help(NULL);
    }
    if (is_word(word, "--version", "-V")) {
        (void)printf("fulcrum %s\n", FULCRUM_VERSION);
        return finish_stdout();
    }
    if (strcmp(word, "help") == 0) {
        return print_help(argc > 2 ? argv[2] : NULL);
    }
    const struct fulcrum_command *command = fulcrum_command_find(word);
    if (command == NULL) {
        return report_unknown_command(word);
    }
    return run_command(command, argc - 1, argv + 1);
}
