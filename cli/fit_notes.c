/* fit_notes.c - what a fitted calibration says of the data it has seen. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Priors may come from a fit themselves. What they saw this fit has seen, so that lists
 * of both are put together: a point counts as held out only where nobody saw it.
 */
#include "cli/fit_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"

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
    if (fulcrum_seen_list_has(list, item)) {
        return FULCRUM_OK;
    }
    if (used + strlen(item) + 3 > size) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "the references of this fit and their points are too many for a note of "
            "%zu bytes",
            size - 1);
    }
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
    return fulcrum_seen_list_has_part(list, name);
}

enum fulcrum_status fulcrum_fit_note_set(struct fulcrum_calibration *calibration,
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
static int is_seen(
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
static int was_seen(const struct fulcrum_fit_inputs *inputs,
    const struct fulcrum_fit_notes *own, const char *point)
{
    if (names_reference_of(own->fitted_to, point) &&
        !fulcrum_seen_list_has(own->held_out, point)) {
        return 1;
    }
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        const struct fulcrum_calibration *prior = inputs->calibrations[i];
        if (names_reference_of(
                fulcrum_calibration_note(prior, FULCRUM_NOTE_FITTED_TO), point) &&
            !fulcrum_seen_list_has(
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

enum fulcrum_status fulcrum_fit_notes_make(const struct fulcrum_reference_fit *fit,
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
