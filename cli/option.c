/* option.c - options as rows of a table, their one parser, and ranges of values. */
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
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/string.h"
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
    /* getopt keeps its place between calls: start anew, one thread at a time. */
    static pthread_mutex_t getopt_held = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_mutex_lock(&getopt_held);
    optind = 0;
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
    (void)pthread_mutex_unlock(&getopt_held);
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

static enum fulcrum_status fail_format(
    const struct fulcrum_field *field, const char *text, struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "%s=%s: expected FROM:TO:xFACTOR, FROM:TO:STEP, a list A,B,C or one number",
        field->path, text);
}

/* Reads one number at *at and moves on to what follows it; false: there is none. */
static bool take_number(const char **at, double *out)
{
    char *end = NULL;
    *out = strtod(*at, &end);
    bool is_number = end != *at && isfinite(*out);
    *at = is_number ? end : *at;
    return is_number;
}

static bool take_char(const char **at, char wanted)
{
    bool is_there = **at == wanted;
    *at += is_there ? 1 : 0;
    return is_there;
}

/* What is written as such must be one of the field's; steps on the way are rounded. */
static enum fulcrum_status check_whole(
    const struct fulcrum_field *field, double value, struct fulcrum_error *err)
{
    struct fulcrum_design design; /* that nobody keeps */
    bool is_wrong = field->kind == FULCRUM_FIELD_COUNT && value != floor(value);
    return is_wrong ? fulcrum_field_set_number(field, &design, value, err) : FULCRUM_OK;
}

/* first, first (*|+) step, ... up to last. */
static enum fulcrum_status fill_range(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    const char *at = text;
    double first = 0.0;
    double last = 0.0;
    double step = 0.0;
    bool is_range = take_number(&at, &first) && take_char(&at, ':') &&
                    take_number(&at, &last) && take_char(&at, ':');
    bool multiplies = is_range && (take_char(&at, 'x') || take_char(&at, '*'));
    if (!is_range || !take_number(&at, &step) || *at != '\0') {
        return fail_format(field, text, err);
    }
    FAIL_IF(last < first, err, FULCRUM_ERR_RANGE, "%s=%s: ends below its start",
        field->path, text);
    bool advances = multiplies ? step > 1.0 && first > 0.0 : step > 0.0;
    FAIL_IF(!advances, err, FULCRUM_ERR_RANGE, "%s=%s: expected %s", field->path, text,
        multiplies ? "a factor above 1 and a start above 0" : "a step above 0");
    TRY(check_whole(field, first, err));
    /* How many values the range has, the last one with room for rounding. */
    const double slack = 1e-9;
    double steps = multiplies ? log(last / first) / log(step) : (last - first) / step;
    double length = floor(steps * (1.0 + slack) + slack) + 1.0;
    FAIL_IF(length > (double)FULCRUM_RANGE_VALUES_MOST, err, FULCRUM_ERR_RANGE,
        "%s=%s: %.6g values, expected at most %d", field->path, text, length,
        (int)FULCRUM_RANGE_VALUES_MOST);
    *count = (size_t)length;
    *out = calloc(*count, sizeof **out);
    TRY_MEMORY(*out, err, "a range");
    for (size_t i = 0; i < *count; i++) {
        double value =
            multiplies ? first * pow(step, (double)i) : first + step * (double)i;
        (*out)[i] = fmin(value, last);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status fill_list(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    *count = 1;
    for (const char *at = strchr(text, ','); at != NULL; at = strchr(at + 1, ',')) {
        ++*count;
    }
    double *values = calloc(*count, sizeof *values);
    *out = values;
    TRY_MEMORY(values, err, "a list of %zu values", *count);
    const char *at = text;
    for (size_t i = 0; i < *count; i++) {
        bool is_last = i + 1 == *count;
        bool is_good = take_number(&at, &values[i]) &&
                       (is_last ? *at == '\0' : take_char(&at, ','));
        TRY(is_good ? check_whole(field, values[i], err)
                    : fail_format(field, text, err));
    }
    qsort(values, *count, sizeof *values, fulcrum_compare_numbers);
    return FULCRUM_OK;
}

/* Whole numbers for counts, without repeats; every value must suit the field. */
static enum fulcrum_status finish_values(const struct fulcrum_field *field,
    double *values, size_t *count, struct fulcrum_error *err)
{
    struct fulcrum_design design; /* that nobody keeps */
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        double value =
            field->kind == FULCRUM_FIELD_COUNT ? round(values[i]) : values[i];
        TRY(fulcrum_field_set_number(field, &design, value, err));
        if (kept == 0 || value > values[kept - 1]) {
            values[kept++] = value;
        }
    }
    *count = kept;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_range_parse(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    FAIL_IF(field->kind != FULCRUM_FIELD_NUMBER && field->kind != FULCRUM_FIELD_COUNT,
        err, FULCRUM_ERR_RANGE, "%s is no number and cannot be varied", field->path);
    *out = NULL;
    enum fulcrum_status status = strchr(text, ':') != NULL
                                     ? fill_range(field, text, out, count, err)
                                     : fill_list(field, text, out, count, err);
    if (status == FULCRUM_OK && *out != NULL) {
        status = finish_values(field, *out, count, err);
    }
    if (status != FULCRUM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
