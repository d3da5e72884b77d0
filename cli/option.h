/* option.h - options as rows of a table, their one parser, and ranges of values. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTION_H
#define FULCRUM_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "model/design/design.h"
#include "model/status.h"

/* What a row's member is, and what counts as a good value. */
enum fulcrum_option_kind {
    FULCRUM_OPTION_FLAG,   /* bool: true where given */
    FULCRUM_OPTION_NUMBER, /* double, finite and in [least, most]; NAN: not given */
    FULCRUM_OPTION_COUNT,  /* the same, whole */
    FULCRUM_OPTION_TEXT,   /* const char *; NULL: not given */
    FULCRUM_OPTION_FILE,   /* const char *: a path, completed as such by the shell */
    FULCRUM_OPTION_CHOICE, /* int: index of the name in `choice`; -1: not given */
    FULCRUM_OPTION_LIST,   /* struct fulcrum_text_list: each use adds one */
    FULCRUM_OPTION_HELP    /* bool: as FLAG, but the rest of the line is not read */
};

/* Texts are borrowed from the command line or the table. */
struct fulcrum_text_list {
    size_t count;
    const char **items;
};

/* Names of a choice; NULL beyond the last one. */
typedef const char *fulcrum_choice_name(int index);

enum { FULCRUM_CHOICES_MOST = 64 };

/* The names as a table; returns how many. */
size_t fulcrum_choice_names(
    fulcrum_choice_name *choice, const char *out[FULCRUM_CHOICES_MOST]);

/* A row. A table of them ends with a row whose name is NULL. */
struct fulcrum_option {
    const char *name; /* without the dashes */
    char letter;      /* short form; '\0': none */
    enum fulcrum_option_kind kind;
    size_t offset;        /* of the member, in the struct that the group places */
    const char *value;    /* what the usage calls the value: "N", "PATH=VALUE" */
    const char *unit;     /* NULL: none */
    const char *fallback; /* parsed like a given value; NULL: none */
    double least;         /* numbers and counts; least = most = 0: no limits */
    double most;
    fulcrum_choice_name *choice; /* CHOICE: the names allowed; TEXT, LIST: completed */
    const char *help;
};

/* Rows shared between commands are placed at an offset of each command's settings. */
struct fulcrum_option_group {
    const char *title; /* heading in the usage; NULL: "Options" */
    const struct fulcrum_option *rows;
    size_t offset;
};

/* A row; what a struct fulcrum_option has besides follows by name. */
#define FULCRUM_OPTION(kind_, name_, offset_, value_, ...)                             \
    {                                                                                  \
        .name = (name_), .kind = FULCRUM_OPTION_##kind_, .offset = (offset_),          \
        .value = (value_), __VA_ARGS__                                                 \
    }

/* --seed, of what `text` says. */
#define FULCRUM_OPTION_SEED(offset_, text)                                             \
    FULCRUM_OPTION(COUNT, "seed", offset_, "N", .fallback = "1", .least = 0.0,         \
        .most = 9007199254740992.0, .help = (text))

enum fulcrum_argument_kind {
    FULCRUM_ARGUMENT_ONE,      /* const char *, must be given */
    FULCRUM_ARGUMENT_OPTIONAL, /* const char *; NULL: not given */
    FULCRUM_ARGUMENT_REST      /* struct fulcrum_text_list: all that follow */
};

/* A positional argument. A table of them ends with a row whose name is NULL. */
struct fulcrum_argument {
    const char *name; /* "CHART" */
    enum fulcrum_argument_kind kind;
    size_t offset;
    fulcrum_choice_name *choice; /* NULL: anything; else completed, not checked */
    const char *help;
};

struct fulcrum_syntax {
    const struct fulcrum_option_group *groups; /* ends with rows = NULL */
    const struct fulcrum_argument *arguments;  /* NULL: none */
};

/*
 * Sets every member named in `syntax`: first the fallbacks, then argv[1], argv[2], ...
 * Options and arguments may mix; "--" ends the options; a value may follow as
 * "--name value", "--name=value", "-n value" or "-nvalue".
 *   settings  given back with fulcrum_options_free, after a failure too
 *   fails     FULCRUM_ERR_UNKNOWN_NAME, FULCRUM_ERR_MISSING, FULCRUM_ERR_FORMAT,
 *             FULCRUM_ERR_RANGE: the detail names the option as it was written;
 *             FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_options_parse(
    const struct fulcrum_syntax *syntax, void *settings, int argc, char *const *argv,
    struct fulcrum_error *err);

/*
 * Whether an option has been given a value other than its fallback.
 *   settings  parsed, as the row's group places it
 */
bool fulcrum_option_is_set(const struct fulcrum_option *row, const void *settings);

/* Frees the lists in `settings`. */
void fulcrum_options_free(const struct fulcrum_syntax *syntax, void *settings);

/*
 * A finite number that fills `text`, in the C locale.
 *   fails    FULCRUM_ERR_FORMAT: the detail names `what` and the text
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_number_parse(
    const char *what, const char *text, double *out, struct fulcrum_error *err);

/* Calls `visit` with every row of every group. */
void fulcrum_options_each(const struct fulcrum_syntax *syntax,
    void (*visit)(const struct fulcrum_option_group *group,
        const struct fulcrum_option *row, void *user),
    void *user);

/* The values of a sweep's axis, as written on the command line. */

enum { FULCRUM_RANGE_VALUES_MOST = 10000000 };

/*
 * Reads "8:1024:x2" (times 2), "4:64:4" or "4:64:+4" (plus 4), "1,2,5" (a list) or one
 * number. Both ends belong to the range where the steps meet them. Of a count the start
 * and listed values are whole numbers; steps on the way are rounded to them, repeats
 * dropped.
 *   field    every value must lie in its range
 *   out      increasing; the caller frees it with free(); NULL where it fails
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_range_parse(
    const struct fulcrum_field *field, const char *text, double **out, size_t *count,
    struct fulcrum_error *err);

#endif
