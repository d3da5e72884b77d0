/* command.h - what a subcommand is, and the table of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_H
#define FULCRUM_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/option.h"
#include "model/status.h"
#include "presets/load/preset_kind.h"
#include "presets/result/result_io.h"

/* What becomes of -o FILE, and whether there is a --format. */
enum fulcrum_output_kind {
    FULCRUM_OUTPUT_REPORT,     /* results go to context->out; --format */
    FULCRUM_OUTPUT_TEXT,       /* the same without --format, or with its own */
    FULCRUM_OUTPUT_FILE,       /* the command writes output_path itself */
    FULCRUM_OUTPUT_FILE_REPORT /* that, and a report on standard output; --format */
};

/* The program that a command belongs to where it names no other. */
#define FULCRUM_PROGRAM "fulcrum"

/* What every command is given beside its settings. */
struct fulcrum_context {
    const char *program;     /* begins messages; NULL: FULCRUM_PROGRAM */
    FILE *out;               /* results; committed by the caller after success */
    const char *output_path; /* of -o; NULL: standard output */
    enum fulcrum_format format;
    struct fulcrum_text_layout layout; /* of tables */
    struct fulcrum_result **keeps; /* whoever asked in place of people; may be NULL */
    bool quiet;                    /* no progress, no notes */
    FILE *warnings; /* a line each, for another command that asked; NULL: to people */
    int exit_code;  /* 0 on entry; see below */
};

struct fulcrum_example {
    const char *line; /* NULL ends a table */
    const char *what;
};

/*
 * A subcommand. `run` gets settings that the option rows have filled and checked, and
 * returns a failure with its text, or FULCRUM_OK. Exit code: context->exit_code where
 * the command set it (1: answered, but the content failed), else 0 after FULCRUM_OK,
 * 130 after FULCRUM_ERR_INTERRUPTED and 1 after any other status. After a failure
 * nothing is left of the -o file.
 */
struct fulcrum_command {
    const char *program; /* NULL: FULCRUM_PROGRAM */
    const char *name;
    const char *summary;     /* one line, small first letter, no full stop */
    const char *description; /* paragraphs with an empty line between them */
    const struct fulcrum_example *examples;
    const struct fulcrum_argument *arguments;  /* NULL: none */
    const struct fulcrum_option_group *groups; /* NULL: the common options only */
    size_t settings_size;
    enum fulcrum_output_kind output;
    enum fulcrum_format format; /* where --format is not given */
    enum fulcrum_status (*run)(const void *settings, struct fulcrum_context *context,
        struct fulcrum_error *err);
};

/*
 * Writes a result in the form that the context asks for, or hands it to whoever asked.
 *   result   freed, or handed over; NULL is one without memory
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_context_show(
    const struct fulcrum_context *context, struct fulcrum_result *result,
    struct fulcrum_error *err);

/*
 * For settings that do not go together: stores the text like fulcrum_fail, and makes
 * the exit code 2 (wrong command line). Returns `status`.
 */
enum fulcrum_status fulcrum_usage_fail(struct fulcrum_context *context,
    struct fulcrum_error *err, enum fulcrum_status status, const char *format, ...)
    FULCRUM_PRINTF(4, 5);

/* Leaves with that failure where `condition` holds. */
#define FULCRUM_USAGE_IF(condition, context, err, code, ...)                           \
    if (condition)                                                                     \
    return fulcrum_usage_fail(context, err, code, __VA_ARGS__)

/* Those of `fulcrum`, NULL-terminated, in the order of its --help. Static. */
const struct fulcrum_command *const *fulcrum_commands(void);

/* The one of that name in a table such as fulcrum_commands; NULL if there is none. */
const struct fulcrum_command *fulcrum_command_find(
    const struct fulcrum_command *const *commands, const char *name);

/* What ends the refusal of a name that is none of theirs (fulcrum_names_hint). */
void fulcrum_command_hint(const struct fulcrum_command *const *commands,
    const char *name, char *out, size_t size);

/*
 * A name that is in no table is a wrong command line, and costs no time.
 *   name     NULL: nothing to check
 *   kind     "actor", "chart": what is named, by the option of that name
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (suggests the nearest, or tells all); `context`
 *            gets exit code 2
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_name_check(const char *name,
    const char *kind, fulcrum_choice_name *names, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* Options that the framework adds to each command. */
struct fulcrum_common_settings {
    bool help;
    int format; /* enum fulcrum_format */
    bool all;
    const char *output_path;
    bool quiet;
};

enum { FULCRUM_COMMAND_GROUP_MAX = 12, FULCRUM_COMMON_OPTION_COUNT = 5 };

/* A command's own groups and the common one, in one block of settings. */
struct fulcrum_command_syntax {
    struct fulcrum_option_group groups[FULCRUM_COMMAND_GROUP_MAX + 2];
    struct fulcrum_option common[FULCRUM_COMMON_OPTION_COUNT + 1];
    struct fulcrum_syntax syntax; /* points into this struct: do not copy */
    size_t common_offset;         /* of struct fulcrum_common_settings */
    size_t size;                  /* of the block */
};

/* What the parser and the usage of `command` need. */
void fulcrum_command_syntax_init(
    const struct fulcrum_command *command, struct fulcrum_command_syntax *out);

/*
 * The kind of file that is called so.
 *   fails    FULCRUM_ERR_UNKNOWN_NAME; `context` gets exit code 2
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_preset_kind_parse(const char *name,
    struct fulcrum_context *context, enum fulcrum_preset_kind *out,
    struct fulcrum_error *err);

/* A calibration as `fulcrum show` prints it. */
struct fulcrum_calibration;
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_show_calibration(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_context *context, struct fulcrum_error *err);

/* One cmd_<name>.c each, in the rooms of cli/. Listed in command.c. */
extern const struct fulcrum_command fulcrum_command_calibrate;
extern const struct fulcrum_command fulcrum_command_cluster;
extern const struct fulcrum_command fulcrum_command_explore;
extern const struct fulcrum_command fulcrum_command_fit;
extern const struct fulcrum_command fulcrum_command_list;
extern const struct fulcrum_command fulcrum_command_measure;
extern const struct fulcrum_command fulcrum_command_memory;
extern const struct fulcrum_command fulcrum_command_node;
extern const struct fulcrum_command fulcrum_command_partition;
extern const struct fulcrum_command fulcrum_command_plot;
extern const struct fulcrum_command fulcrum_command_predict;
extern const struct fulcrum_command fulcrum_command_recommend;
extern const struct fulcrum_command fulcrum_command_report;
extern const struct fulcrum_command fulcrum_command_schema;
extern const struct fulcrum_command fulcrum_command_sensitivity;
extern const struct fulcrum_command fulcrum_command_show;
extern const struct fulcrum_command fulcrum_command_solve;
extern const struct fulcrum_command fulcrum_command_validate;

/* A program made of subcommands. */
struct fulcrum_program {
    const char *name;
    const char *purpose;                           /* whole sentences */
    const struct fulcrum_command *const *commands; /* NULL-terminated */
};

/*
 * All of main: finds the command, reads its options, runs it, says how it went.
 * Returns the exit status.
 */
int fulcrum_program_run(const struct fulcrum_program *program, int argc, char **argv);

/* Help texts, made from the tables of commands and options. */

/* Of one command: arguments, options, examples. */
void fulcrum_usage_print_command(FILE *stream, const struct fulcrum_command *command);

/* "fulcrum list [OPTION]... [KIND]", no newline. */
void fulcrum_usage_print_synopsis(FILE *stream, const struct fulcrum_command *command);

/* The remarks that follow an option's help: unit, range, names allowed, default. */
void fulcrum_usage_remarks(const struct fulcrum_option *row, char *out, size_t size);

#endif
