/* plot_measured.c - chart data from what was measured end to end, and predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of one batching rule and number of environments per actor make one panel, in
 * the order in which they are met; within it, they follow the actors. So do points of
 * one series of a reference, which are predicted anew.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

enum {
    NAME_SIZE = 80,
    TEXT_SIZE = 128,
    NOTE_SIZE = 256,
    COLUMN_COUNT = 7,
    MARK_COUNT = 3
};

/* Columns that become arrays of a panel, in the order of `struct row`. */
static const char *const columns[COLUMN_COUNT + 1] = {"actors", "measured_steps_per_s",
    "measured_lo", "measured_hi", "predicted_steps_per_s", "predicted_lo",
    "predicted_hi"};

struct row {
    size_t panel;
    double values[COLUMN_COUNT];
    bool is_disturbed;
    bool is_failed;
    bool is_seen; /* by the fit behind the prediction */
};

struct name {
    char text[NAME_SIZE];
};

struct plot_measured {
    size_t count;
    struct row *rows;
    double *values[COLUMN_COUNT];
    unsigned char *marks[MARK_COUNT]; /* disturbed, failed, seen */
    size_t panel_count;
    struct fulcrum_measured_panel *panels;
    struct name *names; /* of panels */
    size_t unmeasured;
    size_t disturbed;
    size_t failed;
    size_t seen;
    char failure[NOTE_SIZE]; /* the first one */
    bool is_reference;
    const char *x_name; /* "actor" or "environment" */
    char title[4 * TEXT_SIZE];
    char subtitle[6 * TEXT_SIZE];
    char footnote[3 * NOTE_SIZE];
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

static size_t find_panel(struct plot_measured *plot, const struct name *name)
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
static enum fulcrum_status read_marks(struct plot_measured *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct row *row = &plot->rows[i];
    char note[NOTE_SIZE];
    double windows = 0.0;
    double disturbed = 0.0;
    fulcrum_plot_rows_text(rows, i, "note", note, sizeof note);
    const struct fulcrum_plot_cell cells[] = {
        {"windows", &windows}, {"disturbed_windows", &disturbed}, {.column = NULL}};
    enum fulcrum_status status = fulcrum_plot_rows_cells(rows, i, cells, err);
    bool is_stopped = strcmp(note, "not measured") == 0;
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

static enum fulcrum_status read_row(struct plot_measured *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct row *row = &plot->rows[i];
    char batching[NAME_SIZE];
    double envs = 0.0;
    struct name name = {""};
    TRY(fulcrum_plot_rows_numbers(rows, i, columns, row->values, err));
    TRY(fulcrum_plot_rows_number(rows, i, "envs_per_actor", &envs, err));
    FAIL_IF(!(row->values[0] > 0.0), err, FULCRUM_ERR_FORMAT,
        "point %zu: actors = %g: expected a number above 0", i, row->values[0]);
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
static void fill_panel(struct plot_measured *plot, size_t first, size_t count)
{
    double *const *values = plot->values;
    size_t i = plot->rows[first].panel;
    bool is_predicted = any_known(values[4] + first, count);
    plot->panels[i] = (struct fulcrum_measured_panel){.name = plot->names[i].text,
        .actor_count = values[0] + first,
        .steps_per_s = values[1] + first,
        .lo = values[2] + first,
        .hi = values[3] + first,
        .disturbed = plot->marks[0] + first,
        .failed = plot->marks[1] + first,
        .seen = plot->marks[2] + first,
        .predicted = {.value = is_predicted ? values[4] + first : NULL,
            .lo = is_predicted ? values[5] + first : NULL,
            .hi = is_predicted ? values[6] + first : NULL},
        .count = count};
}

static void fill_panels(struct plot_measured *plot)
{
    qsort(plot->rows, plot->count, sizeof *plot->rows, compare_rows);
    for (size_t i = 0; i < plot->count; i++) {
        for (size_t k = 0; k < COLUMN_COUNT; k++) {
            plot->values[k][i] = plot->rows[i].values[k];
        }
        plot->marks[0][i] = (unsigned char)plot->rows[i].is_disturbed;
        plot->marks[1][i] = (unsigned char)plot->rows[i].is_failed;
        plot->marks[2][i] = (unsigned char)plot->rows[i].is_seen;
    }
    size_t first = 0;
    for (size_t i = 0; i < plot->count; i++) {
        if (i + 1 == plot->count || plot->rows[i + 1].panel != plot->rows[i].panel) {
            fill_panel(plot, first, i + 1 - first);
            first = i + 1;
        }
    }
}

/* What the file says of all its points; a table names nothing. */
struct texts {
    char actor[TEXT_SIZE];
    char machine[TEXT_SIZE];
    char learner[TEXT_SIZE];
    char calibration[TEXT_SIZE];
};

static void read_texts(const struct fulcrum_plot_rows *rows, struct texts *out)
{
    *out = (struct texts){.actor = ""};
    if (fulcrum_plot_rows_count(rows) > 0) {
        fulcrum_plot_rows_text(rows, 0, "actor", out->actor, sizeof out->actor);
        fulcrum_plot_rows_text(rows, 0, "machine", out->machine, sizeof out->machine);
        fulcrum_plot_rows_text(rows, 0, "learner", out->learner, sizeof out->learner);
        fulcrum_plot_rows_text(
            rows, 0, "calibration", out->calibration, sizeof out->calibration);
    }
}

/* "mujoco-humanoid on CPU: measured against predicted" */
static void write_title(struct plot_measured *plot, const struct texts *texts)
{
    bool is_predicted = any_known(plot->values[4], plot->count);
    const char *what =
        is_predicted ? "easured against predicted" : "easured end to end";
    if (texts->actor[0] != '\0' && texts->machine[0] != '\0') {
        (void)snprintf(plot->title, sizeof plot->title, "%s on %s: m%s", texts->actor,
            texts->machine, what);
    } else {
        (void)snprintf(plot->title, sizeof plot->title, "M%s", what);
    }
}

/* Over all panels; the largest is that of one of them, at the index `at` of it. */
static struct fulcrum_measured_errors add_up(const struct plot_measured *plot,
    const struct fulcrum_measured_panel **worst, size_t *at)
{
    struct fulcrum_measured_errors errors = {.count = 0};
    for (size_t i = 0; i < plot->panel_count; i++) {
        struct fulcrum_measured_errors before = errors;
        fulcrum_measured_errors_add(&errors, at, &plot->panels[i]);
        if (before.count == 0 ||
            fabs(errors.largest_frac) > fabs(before.largest_frac)) {
            *worst = &plot->panels[i];
        }
    }
    return errors;
}

static const char *why_no_errors(const struct plot_measured *plot)
{
    if (any_known(plot->values[4], plot->count)) {
        return "no point to compare: all disturbed or seen by a fit";
    }
    return plot->is_reference
               ? "nothing was predicted"
               : "nothing was predicted: `fulcrum measure --calibration FILE` does";
}

/* The sentence on errors. */
static void write_errors(const struct plot_measured *plot, char *out, size_t size)
{
    const struct fulcrum_measured_panel *panel = NULL;
    size_t worst = 0;
    struct fulcrum_measured_errors errors = add_up(plot, &panel, &worst);
    if (errors.count == 0 || panel == NULL) {
        (void)snprintf(out, size, "%s", why_no_errors(plot));
        return;
    }
    const char *what = plot->seen > 0 ? " that no fit has seen" : "";
    (void)snprintf(out, size,
        "%zu %spoint%s%s: mean |error| %.3g %%, largest %+.3g %% (%s, %.6g %s%s)",
        errors.count, plot->disturbed > 0 || !plot->is_reference ? "undisturbed " : "",
        errors.count == 1 ? "" : "s", what,
        100.0 * errors.sum_frac / (double)errors.count, 100.0 * errors.largest_frac,
        panel->name, panel->actor_count[worst], plot->x_name,
        panel->actor_count[worst] == 1.0 ? "" : "s");
}

static void write_subtitle(struct plot_measured *plot, const struct texts *texts)
{
    char errors[2 * TEXT_SIZE];
    write_errors(plot, errors, sizeof errors);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%s%s%s%s%s",
        texts->learner[0] != '\0' ? "learner " : "", texts->learner,
        texts->learner[0] != '\0' ? ", " : "",
        texts->calibration[0] != '\0' ? "calibration " : "", texts->calibration,
        texts->calibration[0] != '\0' ? "; " : "", errors);
}

/* Sentences of what the panels leave out. */
static void write_footnote(struct plot_measured *plot)
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

static struct plot_measured *new_plot(struct fulcrum_plot_room *room, size_t count)
{
    struct plot_measured *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->x_name = "actor";
    plot->count = count;
    plot->rows = fulcrum_plot_room_take(room, count + 1, sizeof *plot->rows);
    plot->panels = fulcrum_plot_room_take(room, count + 1, sizeof *plot->panels);
    plot->names = fulcrum_plot_room_take(room, count + 1, sizeof *plot->names);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        plot->values[k] = fulcrum_plot_room_take(room, count + 1, sizeof(double));
    }
    for (size_t k = 0; k < MARK_COUNT; k++) {
        plot->marks[k] = fulcrum_plot_room_take(room, count + 1, 1);
    }
    return plot;
}

static struct fulcrum_measured_data data_of(
    const struct plot_measured *plot, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_measured_data){
        .text = fulcrum_plot_text(words, plot->title, plot->subtitle, plot->footnote),
        .panels = plot->panels,
        .panel_count = plot->panel_count,
        .x_label = strcmp(plot->x_name, "actor") == 0 ? "actors" : "environments",
        .measured_name = plot->is_reference ? "observed" : NULL,
        .range_name = plot->is_reference ? "its half-width" : NULL,
        .interval_name = "90 % interval",
    };
}

enum fulcrum_status fulcrum_plot_measured_data(const struct fulcrum_plot_rows *points,
    struct fulcrum_plot_room *room, struct fulcrum_measured_data *out,
    struct fulcrum_error *err)
{
    size_t count = fulcrum_plot_rows_count(points);
    struct plot_measured *plot = new_plot(room, count);
    for (size_t i = 0; i < count; i++) {
        TRY(read_row(plot, points, i, err));
    }
    struct texts texts;
    read_texts(points, &texts);
    fill_panels(plot);
    write_title(plot, &texts);
    write_subtitle(plot, &texts);
    write_footnote(plot);
    *out = data_of(plot, &room->words);
    return FULCRUM_OK;
}

/* The rate that was observed at a point, beside its number of actors or environments.
 */
static const struct fulcrum_observation *find_rate(
    const struct fulcrum_reference_point *point, const char *path)
{
    if (fulcrum_reference_find_setting(point, path) == NULL) {
        return NULL;
    }
    for (size_t k = 0; k < point->observation_count; k++) {
        if (strcmp(point->observations[k].quantity, "steps_per_s") == 0) {
            return &point->observations[k];
        }
    }
    return NULL;
}

static void add_point(struct plot_measured *plot,
    const struct fulcrum_reference_point *point, const char *path)
{
    const struct fulcrum_observation *rate = find_rate(point, path);
    struct row *row = &plot->rows[plot->count++];
    *row = (struct row){
        .values = {fulcrum_reference_find_setting(point, path)->number, rate->value,
            rate->value - rate->half_width, rate->value + rate->half_width, (double)NAN,
            (double)NAN, (double)NAN}};
    /* "greedy K=4 disturbed" is a point of the panel "greedy, 4 envs per actor". */
    static const char end[] = " disturbed";
    const size_t end_length = sizeof end - 1;
    const struct fulcrum_reference_setting *envs =
        fulcrum_reference_find_setting(point, "run.envs_per_actor");
    struct name name = {""};
    char series[NAME_SIZE];
    (void)snprintf(series, sizeof series, "%s", point->series);
    size_t length = strlen(series);
    row->is_disturbed =
        length > end_length && strcmp(series + length - end_length, end) == 0;
    series[row->is_disturbed ? length - end_length : length] = '\0';
    bool is_ours = strstr(series, " K=") != NULL && envs != NULL;
    write_name(&name, series[0] != '\0' ? series : "observed",
        is_ours ? envs->number : (double)NAN);
    row->panel = find_panel(plot, &name);
    plot->disturbed += row->is_disturbed ? 1U : 0U;
}

/* `last` is the row of the point. */
static void add_prediction(struct row *last,
    const struct fulcrum_comparison *comparison, size_t point, size_t observation)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        if (item->point == point && item->observation == observation) {
            last->values[4] = item->predicted;
            last->values[5] = item->lo;
            last->values[6] = item->hi;
            last->is_seen = item->is_fitted;
        }
    }
}

static void write_reference(
    struct plot_measured *plot, const struct fulcrum_validation *validation)
{
    const struct fulcrum_reference *reference = validation->reference;
    struct texts texts = {.actor = ""};
    (void)snprintf(plot->title, sizeof plot->title, "%s", reference->title);
    const char *slash = strrchr(validation->calibration, '/');
    (void)snprintf(texts.calibration, sizeof texts.calibration, "%.127s",
        slash != NULL ? slash + 1 : validation->calibration);
    write_subtitle(plot, &texts);
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "%zu of %zu points were seen by the fit behind their predictions. %s",
        plot->seen, plot->count, validation->reason);
}

/* Counts of actors, unless no point has one. */
static const char *x_path_of(const struct fulcrum_reference *reference)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        if (find_rate(&reference->points[i], "run.actor_count") != NULL) {
            return "run.actor_count";
        }
    }
    return "run.env_count";
}

static void add_points(struct plot_measured *plot,
    const struct fulcrum_validation *validation, const char *path)
{
    const struct fulcrum_reference *reference = validation->reference;
    plot->count = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        const struct fulcrum_observation *rate = find_rate(point, path);
        if (rate != NULL) {
            add_point(plot, point, path);
            struct row *row = &plot->rows[plot->count - 1];
            add_prediction(
                row, &validation->comparison, i, (size_t)(rate - point->observations));
            plot->seen += row->is_seen ? 1U : 0U;
        }
    }
}

enum fulcrum_status fulcrum_plot_measured_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_plot_room *room,
    struct fulcrum_measured_data *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = validation->reference;
    const char *path = x_path_of(reference);
    struct plot_measured *plot = new_plot(room, reference->point_count);
    plot->is_reference = 1;
    plot->x_name = strcmp(path, "run.actor_count") == 0 ? "actor" : "environment";
    add_points(plot, validation, path);
    FAIL_IF(plot->count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point gives steps_per_s at a number of actors or "
        "environments",
        reference->name);
    fill_panels(plot);
    write_reference(plot, validation);
    *out = data_of(plot, &room->words);
    return FULCRUM_OK;
}
