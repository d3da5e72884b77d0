/* fit_job.c - one fit: what is computed, and the calibration made of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/command/fit_job.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "cli/argv_text.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/status.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/result/quantity_text.h"

#define FULCRUM_NOTE_FIT "fit"

/* The arguments of a fit as one text, to be repeated later. */

/*
 * Written from the option table and read by it, so that no option can be forgotten.
 */

static const struct fulcrum_syntax syntax = {fulcrum_fit_groups, fulcrum_fit_arguments};

struct fulcrum_fit_recipe {
    struct fulcrum_fit_settings settings;
    char *text; /* cut into words in place */
    char **words;
    size_t count;
};

struct writer {
    const struct fulcrum_fit_settings *settings;
    FILE *stream;
};

static void put_option(
    struct writer *writer, const struct fulcrum_option *row, const char *value)
{
    (void)fprintf(writer->stream, " --%s", row->name);
    if (value != NULL) {
        (void)fputc(' ', writer->stream);
        fulcrum_argv_text_word(value, writer->stream);
    }
}

static void put_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct writer *writer = user;
    const void *member = (const char *)writer->settings + group->offset + row->offset;
    const struct fulcrum_text_list *list = member;
    switch (row->kind) {
    case FULCRUM_OPTION_FLAG:
        if (*(const bool *)member &&
            strcmp(row->name, FULCRUM_FIT_LEAVE_ONE_OUT) != 0) {
            put_option(writer, row, NULL);
        }
        break;
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        if (!isnan(*(const double *)member)) {
            char number[FULCRUM_NUMBER_SIZE];
            (void)fulcrum_number_text_exact(*(const double *)member, number);
            put_option(writer, row, number);
        }
        break;
    case FULCRUM_OPTION_TEXT:
    case FULCRUM_OPTION_FILE:
        if (*(const char *const *)member != NULL) {
            put_option(writer, row, *(const char *const *)member);
        }
        break;
    case FULCRUM_OPTION_CHOICE:
        if (*(const int *)member >= 0) {
            put_option(writer, row, row->choice(*(const int *)member));
        }
        break;
    case FULCRUM_OPTION_LIST:
        for (size_t i = 0; i < list->count; i++) {
            put_option(writer, row, list->items[i]);
        }
        break;
    case FULCRUM_OPTION_HELP:
        break;
    }
}

enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, char *out, size_t size,
    struct fulcrum_error *err)
{
    char *text = NULL;
    size_t length = 0;
    struct writer writer = {settings, open_memstream(&text, &length)};
    TRY_MEMORY(writer.stream, err, "arguments of a fit");
    for (size_t i = 0; i < settings->references.count; i++) {
        const char *word = settings->references.items[i];
        (void)fputs(i > 0 ? " " : "", writer.stream);
        /* A file called "-x.csv" would be read as an option. */
        (void)fputs(word[0] == '-' ? "./" : "", writer.stream);
        fulcrum_argv_text_word(word, writer.stream);
    }
    fulcrum_options_each(&syntax, put_row, &writer);
    enum fulcrum_status status = FULCRUM_OK;
    if (fclose(writer.stream) != 0) {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "arguments of a fit");
    } else if (length >= size) {
        status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "the arguments of this fit are %zu bytes long: a calibration keeps at most "
            "%zu",
            length, size - 1);
    } else {
        memcpy(out, text, length + 1);
    }
    free(text);
    return status;
}

/* Takes quotes and backslashes out of one word, in place; NULL: a quote stays open. */
static char *end_word(char *word)
{
    char *to = word;
    char *from = word;
    bool is_quoted = 0;
    for (; *from != '\0' && (is_quoted || *from != ' '); from++) {
        if (*from == '\'') {
            is_quoted = !is_quoted;
        } else {
            from += *from == '\\' && !is_quoted && from[1] != '\0' ? 1 : 0;
            *to++ = *from;
        }
    }
    char *next = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return is_quoted ? NULL : next;
}

/* As main's arguments: the first is the program's name. */
static enum fulcrum_status split(
    struct fulcrum_fit_recipe *recipe, struct fulcrum_error *err)
{
    static char program[] = "fit";
    recipe->words[recipe->count++] = program;
    char *next = recipe->text + strspn(recipe->text, " ");
    while (*next != '\0') {
        recipe->words[recipe->count++] = next;
        next = end_word(next);
        FAIL_IF(next == NULL, err, FULCRUM_ERR_FORMAT,
            "a quote is not closed in its last argument");
        next += strspn(next, " ");
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe **out, struct fulcrum_error *err)
{
    size_t length = strlen(text);
    struct fulcrum_fit_recipe *recipe = calloc(1, sizeof *recipe);
    if (recipe != NULL) {
        recipe->text = calloc(length + 1, 1);
        /* Words have a blank between them. */
        recipe->words = calloc(length / 2 + 3, sizeof(char *));
    }
    if (recipe == NULL || recipe->text == NULL || recipe->words == NULL) {
        fulcrum_fit_recipe_free(recipe);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "arguments of a fit");
    }
    memcpy(recipe->text, text, length + 1);
    enum fulcrum_status status = split(recipe, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_options_parse(
            &syntax, &recipe->settings, (int)recipe->count, recipe->words, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_fit_recipe_free(recipe);
        return status;
    }
    *out = recipe;
    return FULCRUM_OK;
}

void fulcrum_fit_recipe_free(struct fulcrum_fit_recipe *recipe)
{
    if (recipe != NULL) {
        fulcrum_options_free(&syntax, &recipe->settings);
        free(recipe->text);
        free((void *)recipe->words);
        free(recipe);
    }
}

const struct fulcrum_fit_settings *fulcrum_fit_recipe_settings(
    const struct fulcrum_fit_recipe *recipe)
{
    return &recipe->settings;
}

/* What a fitted calibration says of the data it has seen. */

/*
 * Priors may come from a fit themselves. What they saw this fit has seen, so that lists
 * of both are put together: a point counts as held out only where nobody saw it.
 */

/* Adds an item that is not there to "A, B, C". */
static void add_item(struct fulcrum_string *list, const char *item)
{
    if (!fulcrum_fitted_points_list_has(fulcrum_string_get(list), item)) {
        fulcrum_string_add(list, "%s%s", list->length > 0 ? ", " : "", item);
    }
}

/* Whether a list of references has the one of "NAME:INDEX", whole or one series. */
static bool names_reference_of(const char *list, const char *point)
{
    const char *colon = strrchr(point, ':');
    size_t length = colon != NULL ? (size_t)(colon - point) : strlen(point);
    char *name = fulcrum_format("%.*s", (int)length, point);
    bool is_named = fulcrum_fitted_points_list_has_part(list, name);
    free(name);
    return is_named;
}

/* Whether a fit to these references without those points saw the point. */
static bool saw(const char *fitted_to, const char *held_out, const char *point)
{
    return names_reference_of(fitted_to, point) &&
           !fulcrum_fitted_points_list_has(held_out, point);
}

/*
 * Replaces every note of that key; "" takes it away.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status fit_note_set(struct fulcrum_calibration *calibration,
    const char *key, const char *text, struct fulcrum_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) != 0) {
            calibration->notes[kept++] = calibration->notes[i];
        }
    }
    calibration->note_count = kept;
    return text[0] != '\0' ? fulcrum_calibration_add_note(calibration, key, text, err)
                           : FULCRUM_OK;
}

/* NAME or NAME:SERIES of each reference. */
static void list_references(
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_string *out)
{
    for (size_t i = 0; i < inputs->reference_count; i++) {
        const struct fulcrum_fit_reference *item = &inputs->items[i];
        char *name = fulcrum_format("%s%s%s", item->reference->name,
            item->series[0] != '\0' ? ":" : "", item->series);
        add_item(out, name);
        free(name);
    }
}

/* Whether the fit was given any figure of the point that this figure belongs to. */
static bool is_seen(
    const struct fulcrum_reference_fit *fit, const struct fulcrum_figure *figure)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *other = &fit->figures[i].figure;
        if (other->reference == figure->reference && other->point == figure->point &&
            isfinite(fit->figures[i].sd)) {
            return 1;
        }
    }
    return 0;
}

/* NAME:INDEX of the points that this fit did not see, whatever its priors did. */
static void list_held_out(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_string *out)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *figure = &fit->figures[i].figure;
        const struct fulcrum_reference *from =
            inputs->items[figure->reference].reference;
        char *point =
            fulcrum_format("%s:%zu", from->name, from->points[figure->point].index);
        if (!is_seen(fit, figure)) {
            add_item(out, point);
        }
        free(point);
    }
}

/* What a fit has seen, and what it has not. */
struct seen {
    const struct fulcrum_fit_inputs *inputs;
    struct fulcrum_string fitted_to;
    struct fulcrum_string own_held_out; /* by this fit alone */
    struct fulcrum_string held_out;     /* by this one and those of its priors */
};

static const char *note_of(const struct seen *seen, size_t prior, const char *key)
{
    return fulcrum_calibration_note(seen->inputs->calibrations[prior], key);
}

static bool was_seen(const struct seen *seen, const char *point)
{
    bool found = saw(fulcrum_string_get(&seen->fitted_to),
        fulcrum_string_get(&seen->own_held_out), point);
    for (size_t i = 0; i < seen->inputs->calibration_count; i++) {
        found = found || saw(note_of(seen, i, FULCRUM_NOTE_FITTED_TO),
                             note_of(seen, i, FULCRUM_NOTE_HELD_OUT), point);
    }
    return found;
}

/* Adds the items of a list, to those held out the points alone that no fit saw. */
static void add_items(
    const struct seen *seen, const char *list, struct fulcrum_string *out)
{
    while (list != NULL && *list != '\0') {
        const char *end = strstr(list, ", ");
        size_t length = end != NULL ? (size_t)(end - list) : strlen(list);
        char *item = fulcrum_format("%.*s", (int)length, list);
        if (out != &seen->held_out || !was_seen(seen, item)) {
            add_item(out, item);
        }
        free(item);
        list = end != NULL ? end + 2 : NULL;
    }
}

static enum fulcrum_status set_list(struct fulcrum_calibration *calibration,
    const char *key, const struct fulcrum_string *list, struct fulcrum_error *err)
{
    const size_t most = sizeof((struct fulcrum_note *)0)->text - 1;
    FAIL_IF(list->is_lost, err, FULCRUM_ERR_NO_MEMORY, "a note");
    FAIL_IF(list->length > most, err, FULCRUM_ERR_RANGE,
        "the references of this fit and their points are too many for a note of "
        "%zu bytes",
        most);
    return fit_note_set(calibration, key, fulcrum_string_get(list), err);
}

static enum fulcrum_status set_seen(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct seen seen = {.inputs = inputs};
    enum fulcrum_status status = FULCRUM_OK;
    list_references(inputs, &seen.fitted_to);
    list_held_out(fit, inputs, &seen.own_held_out);
    add_items(&seen, fulcrum_string_get(&seen.own_held_out), &seen.held_out);
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        add_items(&seen, note_of(&seen, i, FULCRUM_NOTE_HELD_OUT), &seen.held_out);
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        add_items(&seen, note_of(&seen, i, FULCRUM_NOTE_FITTED_TO), &seen.fitted_to);
    }
    TRY_OR_END(set_list(calibration, FULCRUM_NOTE_FITTED_TO, &seen.fitted_to, err));
    TRY_OR_END(set_list(calibration, FULCRUM_NOTE_HELD_OUT, &seen.held_out, err));
end:
    fulcrum_string_clear(&seen.fitted_to);
    fulcrum_string_clear(&seen.own_held_out);
    fulcrum_string_clear(&seen.held_out);
    return status;
}

struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *interrupted;
};

static void show_progress(void *context, double done_frac, const char *stage)
{
    struct watch *watch = context;
    fulcrum_progress_update(&watch->progress, done_frac, stage);
}

static bool is_interrupted(void *context)
{
    const struct watch *watch = context;
    return *watch->interrupted != 0;
}

enum fulcrum_status fulcrum_fit_job_run(const struct fulcrum_fit_settings *settings,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_reference_fit *out, struct fulcrum_error *err)
{
    struct watch watch = {.interrupted = fulcrum_interrupt_watch()};
    struct fulcrum_reference_fit_plan plan = fulcrum_fit_inputs_plan(inputs, settings);
    plan.progress = show_progress;
    plan.stop = is_interrupted;
    plan.progress_context = &watch;
    fulcrum_progress_start(&watch.progress, context);
    enum fulcrum_status status = fulcrum_reference_fit_run(&plan, out, err);
    fulcrum_progress_end(&watch.progress);
    return status;
}

/* Whether all draws are there that were wanted. */
static bool is_whole(const struct fulcrum_fit_outcome *result)
{
    assert(result->settings != NULL);
    return result->fit->stopped_in[0] == '\0' ||
           result->fit->draw_count >= (size_t)result->settings->draws;
}

static void describe_quality(
    const struct fulcrum_fit_outcome *result, char *out, size_t size)
{
    const struct fulcrum_reference_fit *fit = result->fit;
    char draws[100] = "no draws; the best parameters, with a spread by slopes there";
    if (fit->draw_count > 0) {
        (void)snprintf(draws, sizeof draws,
            "%zu draws worth %.0f; the best parameters, with the spread of the "
            "posterior",
            fit->draw_count, fit->effective_count);
    }
    (void)snprintf(out, size, "objective %.4g, misfit %.4g; %s%s",
        fit->misfit + fit->penalty, fit->misfit, draws,
        is_whole(result) ? "" : "; stopped before there were all draws");
}

/* How good it is, what it saw, and how to make it again. */
static enum fulcrum_status set_notes(const struct fulcrum_fit_outcome *result,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct fulcrum_note text;
    /* What the priors say of themselves is no longer so. */
    TRY(fit_note_set(calibration, "origin", "", err));
    TRY(set_seen(result->fit, inputs, calibration, err));
    TRY(fulcrum_fit_recipe_write(result->settings, text.text, sizeof text.text, err));
    TRY(fit_note_set(calibration, FULCRUM_NOTE_FIT_ARGUMENTS, text.text, err));
    describe_quality(result, text.text, sizeof text.text);
    return fit_note_set(calibration, FULCRUM_NOTE_FIT, text.text, err);
}

static void set_names(const struct fulcrum_fit_inputs *inputs, const char *name,
    struct fulcrum_calibration *calibration)
{
    char base[64];
    (void)snprintf(base, sizeof base, "%s", calibration->name);
    (void)snprintf(calibration->title, sizeof calibration->title,
        "%.60s, fitted to %s%s", base, inputs->references[0]->name,
        inputs->reference_count > 1 ? " and others" : "");
    (void)snprintf(calibration->name, sizeof calibration->name, "%s", name);
}

/* What was not fitted stays as the calibrations before have it. */
static enum fulcrum_status fill(const struct fulcrum_fit_outcome *result,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    char source[240];
    (void)snprintf(source, sizeof source, "fitted to %zu references, %s first",
        inputs->reference_count, inputs->references[0]->name);
    TRY(fulcrum_reference_fit_apply(result->fit, source, calibration, err));
    return set_notes(result, inputs, calibration, err);
}

enum fulcrum_status fulcrum_fit_job_calibration(
    const struct fulcrum_fit_outcome *result, struct fulcrum_fit_inputs *inputs,
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *last =
        inputs->calibrations[inputs->calibration_count - 1];
    TRY(fill(result, inputs, last, err));
    last->complete = last->complete && is_whole(result);
    set_names(inputs, name, last);
    inputs->calibration_count--;
    *out = last;
    return FULCRUM_OK;
}

static enum fulcrum_status repeat(const struct fulcrum_fit_settings *settings,
    const char *name, struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_inputs *inputs = NULL;
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(fulcrum_fit_job_run(settings, inputs, context, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped"));
    }
    const struct fulcrum_fit_outcome result = {settings, &fit};
    status = fulcrum_fit_job_calibration(&result, inputs, name, out, err);
end:
    fulcrum_reference_fit_clear(&fit);
    fulcrum_fit_inputs_free(inputs);
    return status;
}

enum fulcrum_status fulcrum_fit_repeat(const char *arguments, const char *name,
    const struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_context own = *context;
    struct fulcrum_fit_recipe *recipe = NULL;
    enum fulcrum_status status = fulcrum_fit_recipe_parse(arguments, &recipe, err);
    if (status == FULCRUM_OK) {
        status = repeat(fulcrum_fit_recipe_settings(recipe), name, &own, out, err);
    }
    fulcrum_fit_recipe_free(recipe);
    return status;
}
