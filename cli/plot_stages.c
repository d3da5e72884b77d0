/* plot_stages.c - shares of time by stage, published or measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reference gives one bar per point: shares named like the stages ("training_frac").
 * Publications that read shares off a figure do not tell CPU and GPU apart, and what
 * they leave open stays open. The rows of `fulcrum measure` give one bar per run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"
#include "model/stage_kind.h"
#include "model/try.h"

enum { ROWS_MOST = 64, NAME_SIZE = 96, TEXT_SIZE = 32 };

struct fulcrum_plot_stages {
    size_t count;
    struct fulcrum_stages_row rows[ROWS_MOST];
    char names[ROWS_MOST][NAME_SIZE];
    char texts[ROWS_MOST][TEXT_SIZE];
    char title[160];
    char subtitle[300];
    char footnote[400];
};

/* The stage whose name `text` begins with, followed by `end`; the count: none. */
static size_t kind_named(const char *text, const char *end)
{
    size_t k = 0;
    while (k < FULCRUM_STAGE_WORK_COUNT) {
        const char *name = fulcrum_stage_kind_name((enum fulcrum_stage_kind)k);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && strcmp(text + length, end) == 0) {
            break;
        }
        k++;
    }
    return k;
}

/* The next row, without shares; NULL where there are too many. */
static struct fulcrum_stages_row *add_row(struct fulcrum_plot_stages *plot)
{
    if (plot->count == ROWS_MOST) {
        return NULL;
    }
    size_t i = plot->count++;
    plot->rows[i] =
        (struct fulcrum_stages_row){.name = plot->names[i], .text = plot->texts[i]};
    return &plot->rows[i];
}

/* "DDPG", or "algorithm DDPG, simulator Ant" where a point sets more than one thing. */
static void write_name(char out[NAME_SIZE], const struct fulcrum_reference_point *point)
{
    int length = 0;
    out[0] = '\0';
    for (size_t k = 0; k < point->setting_count && length < NAME_SIZE; k++) {
        const struct fulcrum_reference_setting *setting = &point->settings[k];
        char value[80];
        if (setting->text[0] != '\0') {
            (void)snprintf(value, sizeof value, "%s", setting->text);
        } else {
            (void)snprintf(value, sizeof value, "%.6g", setting->number);
        }
        int is_alone = point->setting_count == 1 && setting->text[0] != '\0';
        length += snprintf(out + length, (size_t)(NAME_SIZE - length), "%s%s%s%s",
            k > 0 ? ", " : "", is_alone ? "" : setting->path, is_alone ? "" : " ",
            value);
    }
}

/* Returns how many stages the point has a share of. */
static size_t add_point(
    struct fulcrum_plot_stages *plot, const struct fulcrum_reference_point *point)
{
    struct fulcrum_stages_row row = {.idle_frac = 0.0};
    char text[TEXT_SIZE] = "";
    size_t found = 0;
    for (size_t k = 0; k < point->observation_count; k++) {
        const struct fulcrum_observation *observation = &point->observations[k];
        size_t kind = kind_named(observation->quantity, "_frac");
        if (kind < FULCRUM_STAGE_WORK_COUNT) {
            row.share_frac[kind][FULCRUM_STAGE_CPU_ONLY] = observation->value;
            found++;
        } else if (strcmp(observation->quantity, "runtime_s") == 0) {
            (void)snprintf(text, sizeof text, "of %.0f s", observation->value);
        }
    }
    struct fulcrum_stages_row *out = found > 0 ? add_row(plot) : NULL;
    if (out != NULL) {
        memcpy(out->share_frac, row.share_frac, sizeof row.share_frac);
        write_name(plot->names[plot->count - 1], point);
        memcpy(plot->texts[plot->count - 1], text, sizeof text);
    }
    return found;
}

/* The footnote says how far the shares of rows are from 1 in all. */
static void write_published(
    struct fulcrum_plot_stages *plot, const struct fulcrum_reference *reference)
{
    double least = INFINITY;
    double most = 0.0;
    for (size_t i = 0; i < plot->count; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
            sum += plot->rows[i].share_frac[k][FULCRUM_STAGE_CPU_ONLY];
        }
        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    (void)snprintf(plot->title, sizeof plot->title, "%s", reference->title);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "reference %s; machine %s, %s", reference->name, reference->machine,
        reference->design.machine.gpu.name);
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "Published shares, read one by one: they add up to %.2f to %.2f. The "
        "publication's stages on CPU and GPU are not told apart here.",
        least, most);
}

static enum fulcrum_status new_plot(
    struct fulcrum_plot_stages **out, struct fulcrum_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the chart of stages");
}

enum fulcrum_status fulcrum_plot_stages_of_reference(
    const struct fulcrum_reference *reference, struct fulcrum_plot_stages **out,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_stages *plot = NULL;
    TRY(new_plot(&plot, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        (void)add_point(plot, &reference->points[i]);
    }
    if (plot->count == 0) {
        fulcrum_plot_stages_free(plot);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "reference %s: no share of time by stage, such as simulation_frac: "
            "expected one like rlscope-fig5-stage-shares",
            reference->name);
    }
    write_published(plot, reference);
    *out = plot;
    return FULCRUM_OK;
}

/* One cell of a row of `fulcrum measure`; what is not known there has no chart. */
static enum fulcrum_status read_share(const struct fulcrum_plot_rows *rows, size_t i,
    const char *column, double *out, struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_number(rows, i, column, out, err));
    if (isnan(*out)) {
        char run[NAME_SIZE];
        fulcrum_plot_rows_text(rows, i, "run", run, sizeof run);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "run %s: %s is not known: shares of wall time need runs whose threads "
            "recorded all their cycles",
            run, column);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_stage(struct fulcrum_stages_row *row,
    const struct fulcrum_plot_rows *rows, size_t i, size_t kind,
    struct fulcrum_error *err)
{
    static const char *const columns[FULCRUM_STAGE_WHERE_COUNT] = {
        "cpu_only_frac", "gpu_only_frac", "cpu_and_gpu_frac"};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT && status == FULCRUM_OK; w++) {
        double *share = &row->share_frac[kind][w];
        status = read_share(rows, i, columns[w], share, err);
        row->is_split |= w != FULCRUM_STAGE_CPU_ONLY && *share > 0.0;
    }
    return status;
}

/* Rows of one run follow each other. */
static enum fulcrum_status add_measured(struct fulcrum_plot_stages *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    char run[NAME_SIZE];
    char stage[TEXT_SIZE];
    fulcrum_plot_rows_text(rows, i, "run", run, sizeof run);
    fulcrum_plot_rows_text(rows, i, "stage", stage, sizeof stage);
    if (plot->count == 0 || strcmp(plot->names[plot->count - 1], run) != 0) {
        if (add_row(plot) == NULL) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "more than %d runs: expected fewer", (int)ROWS_MOST);
        }
        memcpy(plot->names[plot->count - 1], run, sizeof run);
    }
    struct fulcrum_stages_row *row = &plot->rows[plot->count - 1];
    size_t kind = kind_named(stage, "");
    if (kind < FULCRUM_STAGE_WORK_COUNT) {
        return add_stage(row, rows, i, kind, err);
    }
    return strcmp(stage, "idle") == 0
               ? read_share(rows, i, "share_frac", &row->idle_frac, err)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_stages_of_rows(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_stages **out, struct fulcrum_error *err)
{
    struct fulcrum_plot_stages *plot = NULL;
    enum fulcrum_status status = new_plot(&plot, err);
    for (size_t i = 0; status == FULCRUM_OK && i < fulcrum_plot_rows_count(rows); i++) {
        status = add_measured(plot, rows, i, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_stages_free(plot);
        return status;
    }
    (void)snprintf(plot->title, sizeof plot->title, "Where the time of training goes");
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "measured; each moment is divided among the stages that were active in it, on "
        "any thread or device; what recording cost is taken off");
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_stages_free(struct fulcrum_plot_stages *plot)
{
    free(plot);
}

struct fulcrum_stages_data fulcrum_plot_stages_data(
    const struct fulcrum_plot_stages *plot, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_stages_data){
        .text = {.title = words->title != NULL ? words->title : plot->title,
            .subtitle = words->subtitle != NULL ? words->subtitle : plot->subtitle,
            .footnote = plot->footnote},
        .rows = plot->rows,
        .count = plot->count,
    };
}
