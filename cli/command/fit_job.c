/* fit_job.c - one fit: what is computed, and the calibration made of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/fit_job.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "cli/message.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "model/status.h"
#include "model/try.h"

#define FULCRUM_NOTE_FIT "fit"

/*
 * Both as "A, B, C". `fitted_to` has NAME or NAME:SERIES of each reference, those that
 * the priors were fitted to as well. `held_out` has NAME:INDEX of each point of them
 * that neither this fit nor one of its priors saw, with its index in the file, from 0.
 */
struct fulcrum_fit_notes {
    char fitted_to[sizeof((struct fulcrum_note *)0)->text];
    char held_out[sizeof((struct fulcrum_note *)0)->text];
};

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
    char *out;
    size_t size;
    size_t used; /* size or more: did not fit */
};

static void put(struct writer *writer, char letter)
{
    if (writer->used + 1 < writer->size) {
        writer->out[writer->used] = letter;
        writer->out[writer->used + 1] = '\0';
    }
    writer->used++;
}

static void put_text(struct writer *writer, const char *text)
{
    while (*text != '\0') {
        put(writer, *text++);
    }
}

/* 'it'\''s': quoted where a shell would see more than letters. */
static void put_word(struct writer *writer, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=.,:/@%";
    if (writer->used > 0) {
        put(writer, ' ');
    }
    if (*word != '\0' && strspn(word, plain) == strlen(word)) {
        put_text(writer, word);
        return;
    }
    put(writer, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            put_text(writer, "'\\''");
        } else {
            put(writer, *word);
        }
    }
    put(writer, '\'');
}

static void put_option(
    struct writer *writer, const struct fulcrum_option *row, const char *value)
{
    char name[64];
    (void)snprintf(name, sizeof name, "--%s", row->name);
    put_word(writer, name);
    if (value != NULL) {
        put_word(writer, value);
    }
}

static void put_number(
    struct writer *writer, const struct fulcrum_option *row, double value)
{
    if (!isnan(value)) {
        char text[FULCRUM_NUMBER_SIZE];
        (void)fulcrum_number_text_exact(value, text);
        put_option(writer, row, text);
    }
}

static void put_list(struct writer *writer, const struct fulcrum_option *row,
    const struct fulcrum_text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        put_option(writer, row, list->items[i]);
    }
}

static void put_flag(
    struct writer *writer, const struct fulcrum_option *row, bool is_given)
{
    if (is_given && strcmp(row->name, FULCRUM_FIT_LEAVE_ONE_OUT) != 0) {
        put_option(writer, row, NULL);
    }
}

static void put_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct writer *writer = user;
    const void *member = (const char *)writer->settings + group->offset + row->offset;
    switch (row->kind) {
    case FULCRUM_OPTION_FLAG:
        put_flag(writer, row, *(const bool *)member);
        break;
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        put_number(writer, row, *(const double *)member);
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
        put_list(writer, row, member);
        break;
    case FULCRUM_OPTION_HELP:
        break;
    }
}

enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, char *out, size_t size,
    struct fulcrum_error *err)
{
    struct writer writer = {.settings = settings, .out = out, .size = size};
    assert(size > 0);
    out[0] = '\0';
    for (size_t i = 0; i < settings->references.count; i++) {
        char path[1024];
        const char *word = settings->references.items[i];
        /* A file called "-x.csv" would be read as an option. */
        (void)snprintf(path, sizeof path, "./%s", word);
        put_word(&writer, word[0] == '-' ? path : word);
    }
    fulcrum_options_each(&syntax, put_row, &writer);
    return writer.used < size
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "the arguments of this fit are %zu bytes long: a calibration "
                     "keeps at most %zu",
                     writer.used, size - 1);
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

enum { ITEM_SIZE = 192 };

/* The next item of "A, B, C"; 0 at the end. */
static int next_item(const char **list, char out[ITEM_SIZE])
{
    if (*list == NULL || **list == '\0') {
        return 0;
    }
    const char *end = strstr(*list, ", ");
    size_t length = end != NULL ? (size_t)(end - *list) : strlen(*list);
    (void)snprintf(out, ITEM_SIZE, "%.*s", (int)length, *list);
    *list = end != NULL ? end + 2 : NULL;
    return 1;
}

/* Adds an item that is not there; a list that is full is found out by its length. */
static enum fulcrum_status add_item(
    char *list, size_t size, const char *item, struct fulcrum_error *err)
{
    size_t used = strlen(list);
    if (fulcrum_fitted_points_list_has(list, item)) {
        return FULCRUM_OK;
    }
    FAIL_IF(used + strlen(item) + 3 > size, err, FULCRUM_ERR_RANGE,
        "the references of this fit and their points are too many for a note of "
        "%zu bytes",
        size - 1);
    (void)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", item);
    return FULCRUM_OK;
}

/* Whether a list of references has the one of "NAME:INDEX", whole or one series. */
static int names_reference_of(const char *list, const char *point)
{
    char name[ITEM_SIZE];
    const char *colon = strrchr(point, ':');
    size_t length = colon != NULL ? (size_t)(colon - point) : strlen(point);
    (void)snprintf(name, sizeof name, "%.*s", (int)length, point);
    return fulcrum_fitted_points_list_has_part(list, name);
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

static enum fulcrum_status list_references(const struct fulcrum_fit_inputs *inputs,
    char *out, size_t size, struct fulcrum_error *err)
{
    for (size_t i = 0; i < inputs->reference_count; i++) {
        const struct fulcrum_fit_reference *item = &inputs->items[i];
        char name[ITEM_SIZE];
        (void)snprintf(name, sizeof name, "%s%s%s", item->reference->name,
            item->series[0] != '\0' ? ":" : "", item->series);
        TRY(add_item(out, size, name, err));
    }
    return FULCRUM_OK;
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

/* Points of this fit that it did not see, whatever its priors did. */
static enum fulcrum_status list_held_out(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, char *out, size_t size,
    struct fulcrum_error *err)
{
    for (size_t i = 0; i < fit->figure_count; i++) {
        const struct fulcrum_figure *figure = &fit->figures[i].figure;
        const struct fulcrum_fit_reference *item = &inputs->items[figure->reference];
        char point[ITEM_SIZE];
        (void)snprintf(point, sizeof point, "%s:%zu", item->reference->name,
            item->reference->points[figure->point].index);
        if (!is_seen(fit, figure)) {
            TRY(add_item(out, size, point, err));
        }
    }
    return FULCRUM_OK;
}

/* Whether some fit named the point's reference and did not hold it out. */
static bool was_seen(const struct fulcrum_fit_inputs *inputs,
    const struct fulcrum_fit_notes *own, const char *point)
{
    if (names_reference_of(own->fitted_to, point) &&
        !fulcrum_fitted_points_list_has(own->held_out, point)) {
        return 1;
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        const struct fulcrum_calibration *prior = inputs->calibrations[i];
        if (names_reference_of(
                fulcrum_calibration_note(prior, FULCRUM_NOTE_FITTED_TO), point) &&
            !fulcrum_fitted_points_list_has(
                fulcrum_calibration_note(prior, FULCRUM_NOTE_HELD_OUT), point)) {
            return 1;
        }
    }
    return 0;
}

/* Adds the items of a list; of points those alone that nobody saw. */
static enum fulcrum_status add_items(const struct fulcrum_fit_inputs *inputs,
    const struct fulcrum_fit_notes *own, const char *list, char *out,
    struct fulcrum_error *err)
{
    char item[ITEM_SIZE];
    while (next_item(&list, item)) {
        if (own == NULL || !was_seen(inputs, own, item)) {
            TRY(add_item(out, sizeof own->held_out, item, err));
        }
    }
    return FULCRUM_OK;
}

/*
 *   fails    FULCRUM_ERR_RANGE (too many for a note)
 */
static enum fulcrum_status fit_notes_make(const struct fulcrum_reference_fit *fit,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_fit_notes *out,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_notes own = {"", ""};
    *out = own;
    TRY(list_references(inputs, own.fitted_to, sizeof own.fitted_to, err));
    TRY(list_held_out(fit, inputs, own.held_out, sizeof own.held_out, err));
    TRY(add_items(inputs, NULL, own.fitted_to, out->fitted_to, err));
    TRY(add_items(inputs, &own, own.held_out, out->held_out, err));
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        const struct fulcrum_calibration *prior = inputs->calibrations[i];
        TRY(add_items(inputs, NULL,
            fulcrum_calibration_note(prior, FULCRUM_NOTE_FITTED_TO), out->fitted_to,
            err));
        TRY(add_items(inputs, &own,
            fulcrum_calibration_note(prior, FULCRUM_NOTE_HELD_OUT), out->held_out,
            err));
    }
    return FULCRUM_OK;
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
    const struct fulcrum_reference_fit *fit = result->fit;
    struct fulcrum_fit_notes notes;
    struct fulcrum_note text;
    enum fulcrum_status status = fit_notes_make(fit, inputs, &notes, err);
    if (status == FULCRUM_OK) {
        /* What the priors say of themselves is no longer so. */
        status = fit_note_set(calibration, "origin", "", err);
    }
    if (status == FULCRUM_OK) {
        status =
            fit_note_set(calibration, FULCRUM_NOTE_FITTED_TO, notes.fitted_to, err);
    }
    if (status == FULCRUM_OK) {
        status = fit_note_set(calibration, FULCRUM_NOTE_HELD_OUT, notes.held_out, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_fit_recipe_write(
            result->settings, text.text, sizeof text.text, err);
    }
    if (status == FULCRUM_OK) {
        status = fit_note_set(calibration, FULCRUM_NOTE_FIT_ARGUMENTS, text.text, err);
    }
    describe_quality(result, text.text, sizeof text.text);
    return status == FULCRUM_OK
               ? fit_note_set(calibration, FULCRUM_NOTE_FIT, text.text, err)
               : status;
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
