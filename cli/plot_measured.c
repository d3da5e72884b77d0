/* plot_measured.c - chart data from what `fulcrum measure` wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of one batching rule and number of environments per actor make one panel, in
 * the order in which they are met; within it, they follow the actors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"

enum { NAME_SIZE = 80, TEXT_SIZE = 128, NOTE_SIZE = 256, COLUMN_COUNT = 7 };

/* Columns that become arrays of a panel, in the order of `struct row`. */
static const char *const columns[COLUMN_COUNT] = {"actors", "measured_steps_per_s",
    "measured_lo", "measured_hi", "predicted_steps_per_s", "predicted_lo",
    "predicted_hi"};

struct row {
    size_t panel;
    double values[COLUMN_COUNT];
    int is_disturbed;
    int is_failed;
};

struct name {
    char text[NAME_SIZE];
};

struct fulcrum_plot_measured {
    size_t count;
    struct row *rows;
    double *values[COLUMN_COUNT];
    unsigned char *marks[2]; /* disturbed, failed */
    size_t panel_count;
    struct fulcrum_measured_panel *panels;
    struct name *names; /* of panels */
    size_t unmeasured;
    size_t disturbed;
    size_t failed;
    char failure[NOTE_SIZE]; /* the first one */
    char title[4 * TEXT_SIZE];
    char subtitle[4 * TEXT_SIZE];
    char footnote[2 * NOTE_SIZE];
};

/* "greedy K=4" becomes "greedy, 4 envs per actor". */
static void write_name(struct name *out, const char *batching, double envs)
{
    const char *end = strstr(batching, " K=");
    size_t length = end != NULL ? (size_t)(end - batching) : strlen(batching);
    (void)snprintf(out->text, sizeof out->text, "%.*s", (int)length, batching);
    size_t used = strlen(out->text);
    if (!isnan(envs)) {
        (void)snprintf(out->text + used, sizeof out->text - used, ", %.6g %s", envs,
            envs == 1.0 ? "env per actor" : "envs per actor");
    }
}

static size_t find_panel(struct fulcrum_plot_measured *plot, const struct name *name)
{
    size_t i = 0;
    while (i < plot->panel_count && strcmp(plot->names[i].text, name->text) != 0) {
        i++;
    }
    if (i == plot->panel_count) {
        plot->names[plot->panel_count++] = *name;
    }
    return i;
}

/* What the note says of a row: the reason of a failure, or a word of the program's. */
static enum fulcrum_status read_marks(struct fulcrum_plot_measured *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct row *row = &plot->rows[i];
    char note[NOTE_SIZE];
    double windows = 0.0;
    double disturbed = 0.0;
    fulcrum_plot_rows_text(rows, i, "note", note, sizeof note);
    enum fulcrum_status status =
        fulcrum_plot_rows_number(rows, i, "windows", &windows, err);
    if (status == FULCRUM_OK) {
        status =
            fulcrum_plot_rows_number(rows, i, "disturbed_windows", &disturbed, err);
    }
    int is_stopped = strcmp(note, "not measured") == 0;
    /* A point that failed later on may have been disturbed before. */
    row->is_disturbed = strcmp(note, "disturbed") == 0 || disturbed > 0.5 * windows;
    row->is_failed = note[0] != '\0' && strcmp(note, "disturbed") != 0 && !is_stopped;
    if (row->is_failed && plot->failed == 0) {
        memcpy(plot->failure, note, sizeof note);
    }
    plot->failed += row->is_failed ? 1U : 0U;
    plot->unmeasured += is_stopped ? 1U : 0U;
    plot->disturbed += row->is_disturbed && isfinite(row->values[1]) ? 1U : 0U;
    return status;
}

static enum fulcrum_status read_row(struct fulcrum_plot_measured *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct row *row = &plot->rows[i];
    char batching[NAME_SIZE];
    double envs = 0.0;
    struct name name;
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        enum fulcrum_status status =
            fulcrum_plot_rows_number(rows, i, columns[k], &row->values[k], err);
        if (status != FULCRUM_OK) {
            return status;
        }
    }
    enum fulcrum_status status =
        fulcrum_plot_rows_number(rows, i, "envs_per_actor", &envs, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (!(row->values[0] > 0.0)) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "point %zu: actors = %g: expected a number above 0", i, row->values[0]);
    }
    fulcrum_plot_rows_text(rows, i, "batching", batching, sizeof batching);
    write_name(&name, batching, envs);
    row->panel = find_panel(plot, &name);
    return read_marks(plot, rows, i, err);
}

/* For qsort: panel by panel, each over its actors. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *left = a;
    const struct row *right = b;
    if (left->panel != right->panel) {
        return left->panel < right->panel ? -1 : 1;
    }
    return (left->values[0] > right->values[0]) - (left->values[0] < right->values[0]);
}

static int any_known(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            return 1;
        }
    }
    return 0;
}

/* The rows of one panel lie side by side by now. */
static void fill_panel(struct fulcrum_plot_measured *plot, size_t first, size_t count)
{
    double *const *values = plot->values;
    size_t i = plot->rows[first].panel;
    int is_predicted = any_known(values[4] + first, count);
    plot->panels[i] = (struct fulcrum_measured_panel){.name = plot->names[i].text,
        .actor_count = values[0] + first,
        .steps_per_s = values[1] + first,
        .lo = values[2] + first,
        .hi = values[3] + first,
        .disturbed = plot->marks[0] + first,
        .failed = plot->marks[1] + first,
        .predicted = {.value = is_predicted ? values[4] + first : NULL,
            .lo = is_predicted ? values[5] + first : NULL,
            .hi = is_predicted ? values[6] + first : NULL},
        .count = count};
}

static void fill_panels(struct fulcrum_plot_measured *plot)
{
    qsort(plot->rows, plot->count, sizeof *plot->rows, compare_rows);
    for (size_t i = 0; i < plot->count; i++) {
        for (size_t k = 0; k < COLUMN_COUNT; k++) {
            plot->values[k][i] = plot->rows[i].values[k];
        }
        plot->marks[0][i] = (unsigned char)plot->rows[i].is_disturbed;
        plot->marks[1][i] = (unsigned char)plot->rows[i].is_failed;
    }
    size_t first = 0;
    for (size_t i = 0; i < plot->count; i++) {
        if (i + 1 == plot->count || plot->rows[i + 1].panel != plot->rows[i].panel) {
            fill_panel(plot, first, i + 1 - first);
            first = i + 1;
        }
    }
}

/* "mujoco-humanoid on CPU: measured against predicted"; a table names neither. */
static void write_title(
    struct fulcrum_plot_measured *plot, const struct fulcrum_plot_rows *rows)
{
    char actor[TEXT_SIZE] = "";
    char machine[TEXT_SIZE] = "";
    int is_predicted = plot->count > 0 && any_known(plot->values[4], plot->count);
    if (plot->count > 0) {
        fulcrum_plot_rows_text(rows, 0, "actor", actor, sizeof actor);
        fulcrum_plot_rows_text(rows, 0, "machine", machine, sizeof machine);
    }
    const char *what =
        is_predicted ? "easured against predicted" : "easured end to end";
    if (actor[0] != '\0' && machine[0] != '\0') {
        (void)snprintf(
            plot->title, sizeof plot->title, "%s on %s: m%s", actor, machine, what);
    } else {
        (void)snprintf(plot->title, sizeof plot->title, "M%s", what);
    }
}

/* The sentence on errors, over all panels. */
static void write_errors(
    const struct fulcrum_plot_measured *plot, char *out, size_t size)
{
    struct fulcrum_measured_errors errors = {.count = 0};
    size_t worst_panel = 0;
    size_t worst = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        double before = errors.largest_frac;
        size_t count = errors.count;
        fulcrum_measured_errors_add(&errors, &worst, &plot->panels[i]);
        int is_new = errors.count > 0 &&
                     (count == 0 || fabs(errors.largest_frac) > fabs(before));
        worst_panel = is_new ? i : worst_panel;
    }
    if (errors.count == 0) {
        (void)snprintf(out, size, "%s",
            any_known(plot->values[4], plot->count)
                ? "no undisturbed point to compare"
                : "nothing was predicted: `fulcrum measure --calibration FILE` does");
        return;
    }
    (void)snprintf(out, size,
        "%zu undisturbed point%s: mean |error| %.3g %%, largest %+.3g %% (%s, %.6g "
        "actor%s)",
        errors.count, errors.count == 1 ? "" : "s",
        100.0 * errors.sum_frac / (double)errors.count, 100.0 * errors.largest_frac,
        plot->panels[worst_panel].name, plot->panels[worst_panel].actor_count[worst],
        plot->panels[worst_panel].actor_count[worst] == 1.0 ? "" : "s");
}

static void write_subtitle(
    struct fulcrum_plot_measured *plot, const struct fulcrum_plot_rows *rows)
{
    char learner[TEXT_SIZE] = "";
    char calibration[TEXT_SIZE] = "";
    char errors[2 * TEXT_SIZE];
    if (plot->count > 0) {
        fulcrum_plot_rows_text(rows, 0, "learner", learner, sizeof learner);
        fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    }
    write_errors(plot, errors, sizeof errors);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%s%s%s%s",
        learner[0] != '\0' ? "learner " : "", learner, learner[0] != '\0' ? ", " : "",
        calibration[0] != '\0' ? "calibration " : "", calibration,
        calibration[0] != '\0' ? "; " : "");
    size_t used = strlen(plot->subtitle);
    (void)snprintf(plot->subtitle + used, sizeof plot->subtitle - used, "%s", errors);
}

/* Sentences of what the panels leave out. */
static void write_footnote(struct fulcrum_plot_measured *plot)
{
    size_t used = 0;
    const size_t size = sizeof plot->footnote;
    if (plot->disturbed > 0) {
        (void)snprintf(plot->footnote, size,
            "%zu of %zu points disturbed, by other programs or a processor that was "
            "slower than usual. ",
            plot->disturbed, plot->count);
        used = strlen(plot->footnote);
    }
    if (plot->unmeasured > 0) {
        (void)snprintf(plot->footnote + used, size - used,
            "Stopped early: %zu of %zu points not measured. ", plot->unmeasured,
            plot->count);
        used = strlen(plot->footnote);
    }
    if (plot->failed > 0) {
        (void)snprintf(plot->footnote + used, size - used,
            "%zu of %zu points failed%s%s", plot->failed, plot->count,
            plot->failed > 1 ? ", the first: " : ": ", plot->failure);
    }
}

static enum fulcrum_status make_room(
    struct fulcrum_plot_measured *plot, size_t count, struct fulcrum_error *err)
{
    int is_full = 1;
    plot->count = count;
    plot->rows = calloc(count + 1, sizeof *plot->rows);
    plot->panels = calloc(count + 1, sizeof *plot->panels);
    plot->names = calloc(count + 1, sizeof *plot->names);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        plot->values[k] = calloc(count + 1, sizeof *plot->values[k]);
        is_full = is_full && plot->values[k] != NULL;
    }
    for (size_t k = 0; k < 2; k++) {
        plot->marks[k] = calloc(count + 1, sizeof *plot->marks[k]);
        is_full = is_full && plot->marks[k] != NULL;
    }
    return is_full && plot->rows != NULL && plot->panels != NULL && plot->names != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu points", count);
}

enum fulcrum_status fulcrum_plot_measured_new(const struct fulcrum_plot_rows *points,
    struct fulcrum_plot_measured **out, struct fulcrum_error *err)
{
    size_t count = fulcrum_plot_rows_count(points);
    struct fulcrum_plot_measured *plot = calloc(1, sizeof *plot);
    if (plot == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the chart of a measurement");
    }
    enum fulcrum_status status = make_room(plot, count, err);
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        status = read_row(plot, points, i, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_measured_free(plot);
        return status;
    }
    fill_panels(plot);
    write_title(plot, points);
    write_subtitle(plot, points);
    write_footnote(plot);
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_measured_free(struct fulcrum_plot_measured *plot)
{
    if (plot == NULL) {
        return;
    }
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        free(plot->values[k]);
    }
    free(plot->marks[0]);
    free(plot->marks[1]);
    free(plot->names);
    free(plot->panels);
    free(plot->rows);
    free(plot);
}

struct fulcrum_measured_data fulcrum_plot_measured_data(
    const struct fulcrum_plot_measured *plot, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_measured_data){
        .text = {.title = words->title != NULL ? words->title : plot->title,
            .subtitle = words->subtitle != NULL ? words->subtitle : plot->subtitle,
            .footnote = plot->footnote},
        .panels = plot->panels,
        .panel_count = plot->panel_count,
        .interval_name = "90 % interval",
    };
}
