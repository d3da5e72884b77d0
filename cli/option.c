/* option.c - options as rows of a table, and the one parser that reads them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows say everything: name, letter, kind, offset into the settings, range,
 * default, help. From them this file makes getopt_long's tables and fills the settings;
 * the usage and the generated documents print the same rows. A command never sees argv.
 * Faults are worded here once, with a suggestion for mistyped names, as getopt's own
 * messages would not fit the others.
 */
#define _GNU_SOURCE /* getopt_long */

#include "cli/option.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nearest.h"
#include "model/try.h"

/* Values of getopt_long for long options start above every short letter. */
enum { LONG_BASE = 256, NAME_SIZE = 64, ROWS_MOST = 64 };

/* A row with the member it fills. */
struct slot {
    const struct fulcrum_option *row;
    void *member;
};

struct parser {
    char *settings;
    int argc;
    char *const *argv;
    size_t count;
    struct slot slots[ROWS_MOST + 1];
    struct option longs[ROWS_MOST + 1]; /* getopt's own tables */
    char shorts[2 * ROWS_MOST + 3];
    const struct fulcrum_argument *argument; /* the next one; NULL: none */
    struct fulcrum_error *err;
};

void fulcrum_options_each(const struct fulcrum_syntax *syntax,
    void (*visit)(const struct fulcrum_option_group *group,
        const struct fulcrum_option *row, void *user),
    void *user)
{
    for (const struct fulcrum_option_group *group = syntax->groups; group->rows != NULL;
         group++) {
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            visit(group, row, user);
        }
    }
}

enum fulcrum_status fulcrum_number_parse(
    const char *what, const char *text, double *out, struct fulcrum_error *err)
{
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    FAIL_IF(end == text || *end != '\0' || isspace((unsigned char)text[0]) ||
                !isfinite(value),
        err, FULCRUM_ERR_FORMAT, "%s: '%s' is not a number", what, text);
    *out = value;
    return FULCRUM_OK;
}

static enum fulcrum_status append_value(struct fulcrum_text_list *list,
    const char *text, int argc, struct fulcrum_error *err)
{
    if (list->items == NULL) {
        /* No line holds more values than it has words. */
        list->items = calloc((size_t)argc + 1, sizeof *list->items);
    }
    TRY_MEMORY(list->items, err, "out of memory");
    list->items[list->count++] = text;
    return FULCRUM_OK;
}

static enum fulcrum_status set_number(const struct slot *slot, const char *name,
    const char *text, struct fulcrum_error *err)
{
    const struct fulcrum_option *row = slot->row;
    double value = NAN;
    TRY(fulcrum_number_parse(name, text, &value, err));
    FAIL_IF(row->kind == FULCRUM_OPTION_COUNT && value != floor(value), err,
        FULCRUM_ERR_FORMAT, "%s: '%s' is not a whole number", name, text);
    bool is_limited = row->least != 0.0 || row->most != 0.0;
    FAIL_IF(is_limited && (value < row->least || value > row->most), err,
        FULCRUM_ERR_RANGE, "%s: %s is outside [%g, %g]%s%s", name, text, row->least,
        row->most, row->unit != NULL ? " " : "", row->unit != NULL ? row->unit : "");
    *(double *)slot->member = value;
    return FULCRUM_OK;
}

size_t fulcrum_choice_names(
    fulcrum_choice_name *choice, const char *out[FULCRUM_CHOICES_MOST])
{
    size_t count = 0;
    while (count < FULCRUM_CHOICES_MOST && choice((int)count) != NULL) {
        out[count] = choice((int)count);
        count++;
    }
    return count;
}

static enum fulcrum_status set_choice(const struct slot *slot, const char *name,
    const char *text, struct fulcrum_error *err)
{
    const char *known[FULCRUM_CHOICES_MOST];
    size_t count = fulcrum_choice_names(slot->row->choice, known);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i], text) == 0) {
            *(int *)slot->member = (int)i;
            return FULCRUM_OK;
        }
    }
    char expected[400];
    const struct fulcrum_names names = {known, count, sizeof known[0]};
    (void)fulcrum_names_join(&names, expected, sizeof expected);
    return fulcrum_fail(
        err, FULCRUM_ERR_RANGE, "%s: '%s' is not one of %s", name, text, expected);
}

static enum fulcrum_status set_value(
    const struct parser *parser, const struct slot *slot, const char *text)
{
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof name, "--%s", slot->row->name);
    switch (slot->row->kind) {
    case FULCRUM_OPTION_FLAG:
    case FULCRUM_OPTION_HELP:
        *(bool *)slot->member = true;
        return FULCRUM_OK;
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        return set_number(slot, name, text, parser->err);
    case FULCRUM_OPTION_TEXT:
        *(const char **)slot->member = text;
        return FULCRUM_OK;
    case FULCRUM_OPTION_FILE:
        FAIL_IF(text[0] == '\0', parser->err, FULCRUM_ERR_FORMAT,
            "%s: '' is empty: expected a path", name);
        *(const char **)slot->member = text;
        return FULCRUM_OK;
    case FULCRUM_OPTION_CHOICE:
        return set_choice(slot, name, text, parser->err);
    case FULCRUM_OPTION_LIST:
        return append_value(slot->member, text, parser->argc, parser->err);
    }
    assert(0 && "every kind is handled");
    return FULCRUM_ERR_UNSUPPORTED;
}

static bool takes_value(const struct fulcrum_option *row)
{
    return row->kind != FULCRUM_OPTION_FLAG && row->kind != FULCRUM_OPTION_HELP;
}

static void add_slot(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct parser *parser = user;
    assert(parser->count < ROWS_MOST);
    struct slot *slot = &parser->slots[parser->count];
    struct option *option = &parser->longs[parser->count];
    slot->row = row;
    slot->member = parser->settings + group->offset + row->offset;
    option->name = row->name;
    option->has_arg = takes_value(row) ? required_argument : no_argument;
    option->val = LONG_BASE + (int)parser->count;
    if (row->letter != '\0') {
        size_t end = strlen(parser->shorts);
        parser->shorts[end] = row->letter;
        parser->shorts[end + 1] = takes_value(row) ? ':' : '\0';
    }
    /* The state of a member that was not given and has no fallback. */
    static const size_t sizes[] = {
        [FULCRUM_OPTION_FLAG] = sizeof(bool),
        [FULCRUM_OPTION_NUMBER] = sizeof(double),
        [FULCRUM_OPTION_COUNT] = sizeof(double),
        [FULCRUM_OPTION_TEXT] = sizeof(const char *),
        [FULCRUM_OPTION_FILE] = sizeof(const char *),
        [FULCRUM_OPTION_CHOICE] = sizeof(int),
        [FULCRUM_OPTION_LIST] = sizeof(struct fulcrum_text_list),
        [FULCRUM_OPTION_HELP] = sizeof(bool),
    };
    memset(slot->member, 0, sizes[row->kind]);
    if (row->kind == FULCRUM_OPTION_CHOICE) {
        *(int *)slot->member = -1;
    } else if (row->kind == FULCRUM_OPTION_NUMBER ||
               row->kind == FULCRUM_OPTION_COUNT) {
        *(double *)slot->member = NAN;
    }
    parser->count++;
    if (row->fallback != NULL) {
        enum fulcrum_status status = set_value(parser, slot, row->fallback);
        assert(status == FULCRUM_OK);
        (void)status;
    }
}

/* getopt returns only what its tables hold, so there is one. */
static const struct slot *slot_of(const struct parser *parser, int code)
{
    const struct slot *slot = parser->slots;
    for (int i = 0; slot->row != NULL; i++, slot++) {
        if (code == LONG_BASE + i || code == slot->row->letter) {
            break;
        }
    }
    assert(slot->row != NULL);
    return slot;
}

static enum fulcrum_status take_argument(struct parser *parser, const char *text)
{
    const struct fulcrum_argument *argument = parser->argument;
    FAIL_IF(argument == NULL || argument->name == NULL, parser->err, FULCRUM_ERR_FORMAT,
        "unexpected argument '%s'", text);
    void *member = parser->settings + argument->offset;
    if (argument->kind == FULCRUM_ARGUMENT_REST) {
        return append_value(member, text, parser->argc, parser->err);
    }
    *(const char **)member = text;
    parser->argument++;
    return FULCRUM_OK;
}

static enum fulcrum_status take_option(
    struct parser *parser, int code, bool *is_complete)
{
    if (code == 1) {
        return take_argument(parser, optarg);
    }
    if (code == ':') {
        const struct fulcrum_option *row = slot_of(parser, optopt)->row;
        return fulcrum_fail(parser->err, FULCRUM_ERR_MISSING,
            "option '--%s' needs a value (%s)", row->name, row->value);
    }
    if (code == '?') {
        /* getopt's '?': an unknown letter, an unknown name, or a flag that got a value.
         */
        FAIL_IF(optopt >= LONG_BASE, parser->err, FULCRUM_ERR_FORMAT,
            "option '--%s' takes no value", slot_of(parser, optopt)->row->name);
        FAIL_IF(optopt != 0, parser->err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown option '-%c'", optopt);
        const char *word = parser->argv[optind - 1];
        /* The name in a word like "--name=value", without dashes and value. */
        char name[NAME_SIZE];
        (void)snprintf(
            name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        for (size_t i = 0; i < parser->count; i++) {
            FAIL_IF(name[0] != '\0' &&
                        strncmp(parser->longs[i].name, name, strlen(name)) == 0,
                parser->err, FULCRUM_ERR_UNKNOWN_NAME,
                "option '--%s' is ambiguous: write it in full", name);
        }
        size_t nearest = fulcrum_nearest(
            name, &parser->longs[0].name, parser->count, sizeof parser->longs[0]);
        FAIL_IF(nearest == parser->count, parser->err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown option '--%s'", name);
        return fulcrum_fail(parser->err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown option '--%s'; did you mean '--%s'?", name,
            parser->longs[nearest].name);
    }
    const struct slot *slot = slot_of(parser, code);
    *is_complete = slot->row->kind == FULCRUM_OPTION_HELP;
    return set_value(parser, slot, optarg);
}

enum fulcrum_status fulcrum_options_parse(const struct fulcrum_syntax *syntax,
    void *settings, int argc, char *const *argv, struct fulcrum_error *err)
{
    struct parser parser = {
        .settings = settings,
        .argc = argc,
        .argv = argv,
        /* '-': arguments come in their order, as value 1; ':': no messages of its own.
         */
        .shorts = "-:",
        .argument = syntax->arguments,
        .err = err,
    };
    const struct fulcrum_argument *argument = parser.argument;
    for (; argument != NULL && argument->name != NULL; argument++) {
        void *member = parser.settings + argument->offset;
        if (argument->kind == FULCRUM_ARGUMENT_REST) {
            *(struct fulcrum_text_list *)member = (struct fulcrum_text_list){0, NULL};
        } else {
            *(const char **)member = NULL;
        }
    }
    fulcrum_options_each(syntax, add_slot, &parser);
    bool is_complete = 0;
    enum fulcrum_status status = FULCRUM_OK;
    optind = 0; /* start anew: getopt keeps its place between calls */
    while (status == FULCRUM_OK && !is_complete) {
        int code =
            getopt_long(parser.argc, parser.argv, parser.shorts, parser.longs, NULL);
        if (code == -1) {
            break;
        }
        status = take_option(&parser, code, &is_complete);
    }
    for (int i = optind; status == FULCRUM_OK && !is_complete && i < parser.argc; i++) {
        status = take_argument(&parser, parser.argv[i]);
    }
    argument = parser.argument;
    FAIL_IF(status == FULCRUM_OK && !is_complete && argument != NULL &&
                argument->name != NULL && argument->kind == FULCRUM_ARGUMENT_ONE,
        parser.err, FULCRUM_ERR_MISSING, "argument %s is missing", argument->name);
    return status;
}

static void free_list(struct fulcrum_text_list *list)
{
    free((void *)list->items);
    list->items = NULL;
    list->count = 0;
}

static bool text_is_set(const struct fulcrum_option *row, const char *value)
{
    return value != NULL &&
           (row->fallback == NULL || strcmp(value, row->fallback) != 0);
}

bool fulcrum_option_is_set(const struct fulcrum_option *row, const void *settings)
{
    const void *member = (const char *)settings + row->offset;
    switch (row->kind) {
    case FULCRUM_OPTION_FLAG:
    case FULCRUM_OPTION_HELP:
        return *(const bool *)member;
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        return !isnan(*(const double *)member) &&
               (row->fallback == NULL ||
                   *(const double *)member != strtod(row->fallback, NULL));
    case FULCRUM_OPTION_TEXT:
    case FULCRUM_OPTION_FILE:
        return text_is_set(row, *(const char *const *)member);
    case FULCRUM_OPTION_CHOICE:
        return *(const int *)member >= 0 &&
               text_is_set(row, row->choice(*(const int *)member));
    case FULCRUM_OPTION_LIST:
        return ((const struct fulcrum_text_list *)member)->count > 0;
    }
    return false;
}

static void free_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    if (row->kind == FULCRUM_OPTION_LIST) {
        void *member = (char *)user + group->offset + row->offset;
        free_list(member);
    }
}

void fulcrum_options_free(const struct fulcrum_syntax *syntax, void *settings)
{
    fulcrum_options_each(syntax, free_row, settings);
    const struct fulcrum_argument *argument = syntax->arguments;
    for (; argument != NULL && argument->name != NULL; argument++) {
        if (argument->kind == FULCRUM_ARGUMENT_REST) {
            void *member = (char *)settings + argument->offset;
            free_list(member);
        }
    }
}
