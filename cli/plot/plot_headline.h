/* plot_headline.h - the words around a chart, from the points that it shows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PLOT_PLOT_HEADLINE_H
#define FULCRUM_CLI_PLOT_PLOT_HEADLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/plot/plot_rows.h"
#include "model/design/machine.h"
#include "model/status.h"
#include "plots/chart/chart.h"

/* Words that replace the ones made from the data; each may be NULL. */
struct fulcrum_plot_words {
    const char *title;
    const char *subtitle;
};

/* The words that were given, else these; `footnote` may be NULL. All are borrowed. */
struct fulcrum_chart_text fulcrum_plot_text(const struct fulcrum_plot_words *words,
    const char *title, const char *subtitle, const char *footnote);

/* Memory that the data of one chart borrow, given back as a whole. */
struct fulcrum_plot_room {
    struct fulcrum_plot_block *blocks;
};

/* `count` objects of `size` bytes, all zero; without memory the program ends. */
void *fulcrum_plot_room_take(struct fulcrum_plot_room *room, size_t count, size_t size);

void fulcrum_plot_room_clear(struct fulcrum_plot_room *room);

/* Rows of `fulcrum explore` that a chart shows. Borrowed. */
struct fulcrum_plot_points {
    const struct fulcrum_plot_rows *rows;
    const size_t *order; /* `count` indices of rows */
    size_t count;
};

struct fulcrum_plot_headline {
    char calibration[200]; /* "" where it is not known */
    char title[300];
    char subtitle[400];
    char footnote[900];
};

/* Workload, machine, calibration, actors, and each flag of any point once. */
void fulcrum_plot_headline_fill(
    struct fulcrum_plot_headline *headline, const struct fulcrum_plot_points *points);

/* A sentence for the footnote, once. */
void fulcrum_plot_headline_add_note(
    struct fulcrum_plot_headline *headline, const char *text);

/* Borrows from both. */
struct fulcrum_chart_text fulcrum_plot_headline_text(
    const struct fulcrum_plot_headline *headline,
    const struct fulcrum_plot_words *words);

/* A number that all points have in common, such as "run.sm_count"; NAN: not known. */
double fulcrum_plot_points_constant(
    const struct fulcrum_plot_points *points, const char *path);

/* 1 where the point could run, or nothing says that it could not. */
bool fulcrum_plot_row_is_ok(const struct fulcrum_plot_rows *rows, size_t row);

/* Machines that people know, to be marked on charts. */

enum { FULCRUM_PLOT_LANDMARKS_MAX = 12 };

struct fulcrum_plot_landmarks {
    struct fulcrum_machine machines[FULCRUM_PLOT_LANDMARKS_MAX];
    char names[FULCRUM_PLOT_LANDMARKS_MAX][64]; /* as they were given */
    size_t count;
};

/*
 *   list     presets or files, separated by commas; "none"; NULL: the DGX systems
 *   fails    FULCRUM_ERR_RANGE (too many), as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plot_landmarks_load(
    const char *list, struct fulcrum_plot_landmarks *out, struct fulcrum_error *err);

#endif
