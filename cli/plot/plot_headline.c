/* plot_headline.c - the words around a chart, from the points that it shows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/plot/plot_rows.h"
#include "model/design/design.h"
#include "model/status.h"
#include "model/try.h"
#include "plots/chart/chart.h"
#include "presets/load/preset.h"

bool fulcrum_plot_row_is_ok(const struct fulcrum_plot_rows *rows, size_t row)
{
    char text[8];
    fulcrum_plot_rows_text(rows, row, "status", text, sizeof text);
    return strcmp(text, "ok") == 0 || !fulcrum_plot_rows_have(rows, "status");
}

/* The text of the first row in a column; "" where there is none. */
static void first_text(
    const struct fulcrum_plot_points *points, const char *name, char *out, size_t size)
{
    out[0] = '\0';
    if (points->count > 0) {
        fulcrum_plot_rows_text(points->rows, points->order[0], name, out, size);
    }
}

static void append(char *text, size_t size, const char *before, const char *what)
{
    size_t used = strlen(text);
    if (what[0] != '\0' && strstr(text, what) == NULL) {
        (void)snprintf(
            text + used, size - used, "%s%s%s", used > 0 ? "; " : "", before, what);
    }
}

void fulcrum_plot_headline_add_note(
    struct fulcrum_plot_headline *headline, const char *text)
{
    append(headline->footnote, sizeof headline->footnote, "", text);
}

double fulcrum_plot_points_constant(
    const struct fulcrum_plot_points *points, const char *path)
{
    const char *column = strcmp(path, "run.actor_count") == 0 ? "actor_count" : path;
    double value = (double)NAN;
    for (size_t i = 0; i < points->count; i++) {
        double here = (double)NAN;
        if (fulcrum_plot_rows_number(
                points->rows, points->order[i], column, &here, NULL) != FULCRUM_OK ||
            (i > 0 && !(fabs(here - value) <= 1e-9 * fabs(value)))) {
            return (double)NAN;
        }
        value = here;
    }
    return value;
}

/* How many actors there are, or where their numbers come from. */
static void add_actors(struct fulcrum_plot_headline *headline,
    const struct fulcrum_plot_points *points, const char *rule)
{
    double actors = fulcrum_plot_points_constant(points, "run.actor_count");
    if (isnan(actors)) {
        append(headline->subtitle, sizeof headline->subtitle, "actors ", rule);
    } else {
        char count[48];
        (void)snprintf(count, sizeof count, "%.0f actors", actors);
        append(headline->subtitle, sizeof headline->subtitle, "", count);
    }
}

void fulcrum_plot_headline_fill(
    struct fulcrum_plot_headline *headline, const struct fulcrum_plot_points *points)
{
    char machine[120];
    char workload[120];
    char rule[200];
    first_text(points, "machine", machine, sizeof machine);
    first_text(points, "workload", workload, sizeof workload);
    first_text(points, "actors_rule", rule, sizeof rule);
    first_text(
        points, "calibration", headline->calibration, sizeof headline->calibration);
    (void)snprintf(headline->title, sizeof headline->title, "%s%s%s", workload,
        workload[0] != '\0' && machine[0] != '\0' ? " on " : "", machine);
    append(headline->subtitle, sizeof headline->subtitle, "calibration ",
        headline->calibration);
    add_actors(headline, points, rule);
    /* Each different flag of any point once. */
    for (size_t i = 0; i < points->count; i++) {
        char flags[600];
        fulcrum_plot_rows_text(
            points->rows, points->order[i], "flags", flags, sizeof flags);
        const char *at = flags;
        while (*at != '\0') {
            char flag[160];
            size_t length = strcspn(at, ";");
            (void)snprintf(flag, sizeof flag, "%.*s", (int)length, at);
            fulcrum_plot_headline_add_note(headline, flag);
            at += length;
            at += strspn(at, "; ");
        }
    }
}

struct fulcrum_chart_text fulcrum_plot_text(const struct fulcrum_plot_words *words,
    const char *title, const char *subtitle, const char *footnote)
{
    return (struct fulcrum_chart_text){
        .title = words->title != NULL ? words->title : title,
        .subtitle = words->subtitle != NULL ? words->subtitle : subtitle,
        .footnote = footnote};
}

struct fulcrum_plot_block {
    struct fulcrum_plot_block *next;
    max_align_t bytes[];
};

void *fulcrum_plot_room_take(struct fulcrum_plot_room *room, size_t count, size_t size)
{
    struct fulcrum_plot_block *block =
        fulcrum_allocate(1, sizeof *block + count * size);
    block->next = room->blocks;
    room->blocks = block;
    return block->bytes;
}

void fulcrum_plot_room_clear(struct fulcrum_plot_room *room)
{
    while (room->blocks != NULL) {
        struct fulcrum_plot_block *next = room->blocks->next;
        free(room->blocks);
        room->blocks = next;
    }
}

struct fulcrum_chart_text fulcrum_plot_headline_text(
    const struct fulcrum_plot_headline *headline,
    const struct fulcrum_plot_words *words)
{
    return fulcrum_plot_text(
        words, headline->title, headline->subtitle, headline->footnote);
}

/* Machines that people know, to be marked on charts. */

/* Machines named unless others are asked for. */
#define STANDARD_MACHINES                                                              \
    "dgx-1-inci2020,dgx-1,dgx-2,dgx-a100,dgx-h100,dgx-b200,gb200-nvl72"

enum fulcrum_status fulcrum_plot_landmarks_load(
    const char *list, struct fulcrum_plot_landmarks *out, struct fulcrum_error *err)
{
    const char *rest = list != NULL ? list : STANDARD_MACHINES;
    rest = strcmp(rest, "none") == 0 ? NULL : rest;
    out->count = 0;
    while (rest != NULL) {
        FAIL_IF(out->count == FULCRUM_PLOT_LANDMARKS_MAX, err, FULCRUM_ERR_RANGE,
            "--machines: more than %d", (int)FULCRUM_PLOT_LANDMARKS_MAX);
        char *name = fulcrum_list_part(&rest);
        (void)snprintf(out->names[out->count], sizeof out->names[0], "%s", name);
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        enum fulcrum_status status = fulcrum_machine_load(name, &design, NULL, err);
        free(name);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
        out->machines[out->count++] = design.machine;
    }
    return FULCRUM_OK;
}
