/* plot_scaling.c - chart data from what `fulcrum cluster` wrote, and from speed-ups. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/predictors.h"
#include "cli/plot/plot_data.h"
#include "model/try.h"

enum {
    LINES = 6, /* ways to split a network, curves of a reference */
    POINTS_MOST = 1024,
    PANELS = FULCRUM_LINES_PANELS_MAX,
    NAME_SIZE = 80,
    IDEAL_STYLE = 7
};

/* What of a row is drawn: x, then y for each panel. NAN: not in that panel. */
struct line {
    double key;
    char name[NAME_SIZE];
    size_t count;
    double x[POINTS_MOST];
    double y[PANELS][POINTS_MOST];
    double lo[PANELS][POINTS_MOST]; /* of y */
    double hi[PANELS][POINTS_MOST];
    double sooner[PANELS][POINTS_MOST]; /* share of draws that this line wins in */
    unsigned char hollow[POINTS_MOST];
    double observed[POINTS_MOST]; /* of a reference */
};

struct plot_scaling {
    size_t line_count;
    struct line lines[LINES];
    double ideal_x[2];
    double ideal_y[2];
    size_t guide_count[PANELS];
    double guides[PANELS][LINES];
    char findings[PANELS][200];
    struct fulcrum_lines_line drawn[PANELS][FULCRUM_LINES_MAX];
    struct fulcrum_lines_panel panels[PANELS];
    struct fulcrum_lines_data data;
    char of_reference[64]; /* title of the one panel of a reference */
    char title[200];
    char subtitle[300];
    char footnote[300];
};

/* The line of a key, new where it is the first; NULL: too many. */
static struct line *line_of(struct plot_scaling *plot, double key)
{
    for (size_t i = 0; i < plot->line_count; i++) {
        if (fabs(plot->lines[i].key - key) <= 1e-9 * fabs(key)) {
            return &plot->lines[i];
        }
    }
    if (plot->line_count == LINES) {
        return NULL;
    }
    struct line *line = &plot->lines[plot->line_count++];
    line->key = key;
    return line;
}

static enum fulcrum_status fail_many(struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_RANGE,
        "more curves than %d, or more points of one than %d: fewer GPUs to a worker "
        "or numbers of GPUs",
        (int)LINES, (int)POINTS_MOST);
}

/* The point of a line at x, new where it is the first; POINTS_MOST: too many. */
static size_t point_of(struct line *line, double x)
{
    for (size_t i = 0; i < line->count; i++) {
        if (fabs(line->x[i] - x) <= 1e-12 * x) {
            return i;
        }
    }
    if (line->count == POINTS_MOST) {
        return POINTS_MOST;
    }
    line->x[line->count] = x;
    for (size_t k = 0; k < PANELS; k++) {
        line->y[k][line->count] = (double)NAN;
        line->lo[k][line->count] = (double)NAN;
        line->hi[k][line->count] = (double)NAN;
        line->sooner[k][line->count] = (double)NAN;
    }
    return line->count++;
}

/* --- Rows of GPUs ------------------------------------------------------------------
 */

/* Panels, from above. */
enum { QUALITY, WEAK, STRONG };

enum scaling_cell {
    GPUS,
    PARTS,
    SPEEDUP,
    SPEEDUP_LO,
    SPEEDUP_HI,
    QUALITY_SPEEDUP,
    QUALITY_SPEEDUP_LO,
    QUALITY_SPEEDUP_HI,
    SOONER,
    CELLS
};

static const char *const columns[CELLS + 1] = {"gpu_count", "model_parallel_gpu_count",
    "speedup", "speedup_lo", "speedup_hi", "quality_speedup", "quality_speedup_lo",
    "quality_speedup_hi", "hybrid_sooner_frac"};

/* A value and its interval, `cells` from its column on. */
static void take_value(
    struct line *line, size_t panel, size_t point, const double *cells)
{
    line->y[panel][point] = cells[0];
    line->lo[panel][point] = cells[1];
    line->hi[panel][point] = cells[2];
}

static enum fulcrum_status take_row(struct plot_scaling *plot,
    const struct fulcrum_plot_rows *rows, size_t row, struct fulcrum_error *err)
{
    char scaling[16];
    double cells[CELLS];
    TRY(fulcrum_plot_rows_numbers(rows, row, columns, cells, err));
    FAIL_IF(!(cells[GPUS] >= 1.0) || !(cells[PARTS] >= 1.0), err, FULCRUM_ERR_FORMAT,
        "row %zu: gpu_count and model_parallel_gpu_count expected from 1", row + 1);
    struct line *line = line_of(plot, cells[PARTS]);
    size_t point = line != NULL ? point_of(line, cells[GPUS]) : POINTS_MOST;
    if (point == POINTS_MOST) {
        return fail_many(err);
    }
    fulcrum_plot_rows_text(rows, row, "scaling", scaling, sizeof scaling);
    if (strcmp(scaling, "strong") == 0) {
        take_value(line, STRONG, point, &cells[SPEEDUP]);
        line->sooner[STRONG][point] = cells[SOONER];
    } else {
        take_value(line, WEAK, point, &cells[SPEEDUP]);
        take_value(line, QUALITY, point, &cells[QUALITY_SPEEDUP]);
        /* Where times to a quality are known, draws are compared by these. */
        line->sooner[isnan(cells[QUALITY_SPEEDUP]) ? WEAK : QUALITY][point] =
            cells[SOONER];
    }
    return FULCRUM_OK;
}

/* Whether a line has a value of a panel, for more GPUs than `beyond`. */
static int line_has(const struct line *line, size_t panel, double beyond)
{
    for (size_t i = 0; i < line->count; i++) {
        if (line->x[i] > beyond && !isnan(line->y[panel][i])) {
            return 1;
        }
    }
    return 0;
}

static bool has_values(const struct plot_scaling *plot, size_t panel, double beyond)
{
    for (size_t i = 0; i < plot->line_count; i++) {
        if (line_has(&plot->lines[i], panel, beyond)) {
            return 1;
        }
    }
    return 0;
}

static const struct line *find_plain(const struct plot_scaling *plot)
{
    for (size_t i = 0; i < plot->line_count; i++) {
        if (plot->lines[i].key < 1.5) {
            return &plot->lines[i];
        }
    }
    return NULL;
}

/* One of a line's `values`, that at x; NAN: it has none. */
static double value_at(const struct line *line, const double *values, double x)
{
    for (size_t i = 0; i < line->count; i++) {
        if (fabs(line->x[i] - x) < 0.5) {
            return values[i];
        }
    }
    return (double)NAN;
}

/* The fewest GPUs at which a line is above the data-parallel one; NAN: none. */
static double crossover_of(
    const struct line *hybrid, const struct line *plain, size_t panel)
{
    double least = (double)NAN;
    for (size_t i = 0; i < hybrid->count; i++) {
        if (hybrid->y[panel][i] > value_at(plain, plain->y[panel], hybrid->x[i]) &&
            !(hybrid->x[i] > least)) {
            least = hybrid->x[i];
        }
    }
    return least;
}

/* "2 to a worker win from 64 GPUs on (93 % of draws)", behind what is there. */
static void add_finding(
    struct plot_scaling *plot, size_t panel, const struct line *line, double at)
{
    char *finding = plot->findings[panel];
    size_t used = strlen(finding);
    double share = value_at(line, line->sooner[panel], at);
    char draws[40] = "";
    if (!isnan(share)) {
        (void)snprintf(draws, sizeof draws, " (%.3g %% of draws)", 100.0 * share);
    }
    (void)snprintf(finding + used, sizeof plot->findings[panel] - used,
        "%s%.6g to a worker win from %.6g GPUs on%s", used > 0 ? ", " : "", line->key,
        at, draws);
}

static void find_crossovers(struct plot_scaling *plot, size_t panel)
{
    const struct line *plain = find_plain(plot);
    for (size_t i = 0; i < plot->line_count && plain != NULL; i++) {
        const struct line *line = &plot->lines[i];
        double at = line != plain ? crossover_of(line, plain, panel) : (double)NAN;
        if (!isnan(at)) {
            plot->guides[panel][plot->guide_count[panel]++] = at;
            add_finding(plot, panel, line, at);
        }
    }
}

static void draw_ideal(struct plot_scaling *plot, struct fulcrum_lines_line *out)
{
    plot->ideal_x[0] = 1.0;
    plot->ideal_x[1] = 1.0;
    for (size_t i = 0; i < plot->line_count; i++) {
        for (size_t k = 0; k < plot->lines[i].count; k++) {
            plot->ideal_x[1] = fmax(plot->ideal_x[1], plot->lines[i].x[k]);
        }
    }
    memcpy(plot->ideal_y, plot->ideal_x, sizeof plot->ideal_y);
    *out = (struct fulcrum_lines_line){.name = "as many times one GPU",
        .x = plot->ideal_x,
        .y = plot->ideal_y,
        .count = 2,
        .style = IDEAL_STYLE,
        .look = FULCRUM_LINE_SMOOTH};
}

/* An interval that can be seen: one GPU is always as fast as one GPU. */
static bool has_band(const struct line *line, size_t panel)
{
    for (size_t i = 0; i < line->count; i++) {
        if (line->hi[panel][i] > line->lo[panel][i]) {
            return 1;
        }
    }
    return 0;
}

static void add_scaling_panel(struct plot_scaling *plot, size_t panel)
{
    static const char *const titles[PANELS] = {
        "Weak scaling: time to the same quality, one GPU over this",
        "Weak scaling: steps per second over one GPU",
        "Strong scaling: steps per second over one GPU"};
    struct fulcrum_lines_line *drawn = plot->drawn[panel];
    draw_ideal(plot, &drawn[0]);
    for (size_t i = 0; i < plot->line_count; i++) {
        const struct line *line = &plot->lines[i];
        drawn[i + 1] = (struct fulcrum_lines_line){.name = line->name,
            .x = line->x,
            .y = line->y[panel],
            .lo = line->lo[panel],
            .hi = line->hi[panel],
            .count = line->count,
            .style = i,
            .look = FULCRUM_LINE_MARKED};
        if (has_band(line, panel)) {
            plot->data.interval_name = "90 % interval";
        }
    }
    plot->panels[plot->data.panel_count++] =
        (struct fulcrum_lines_panel){.title = titles[panel],
            .finding = plot->findings[panel][0] != '\0' ? plot->findings[panel] : NULL,
            .lines = drawn,
            .line_count = plot->line_count + 1,
            .guides = plot->guides[panel],
            .guide_count = plot->guide_count[panel],
            .y_kind = FULCRUM_AXIS_LOG2};
}

static void fill_scaling(
    struct plot_scaling *plot, const struct fulcrum_plot_rows *rows)
{
    char machine[96];
    char workload[64];
    char scope[64];
    fulcrum_plot_rows_text(rows, 0, "machine_title", machine, sizeof machine);
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "scope", scope, sizeof scope);
    for (size_t i = 0; i < plot->line_count; i++) {
        struct line *line = &plot->lines[i];
        if (line->key < 1.5) {
            (void)snprintf(line->name, sizeof line->name, "data-parallel");
        } else {
            (void)snprintf(line->name, sizeof line->name,
                "hybrid, %.6g GPUs to a worker", line->key);
        }
    }
    /* A panel of quality says something where more than one GPU's is known. */
    size_t first = has_values(plot, QUALITY, 1.5) ? QUALITY : WEAK;
    for (size_t panel = first; panel < PANELS; panel++) {
        if (has_values(plot, panel, 0.0)) {
            find_crossovers(plot, panel);
            add_scaling_panel(plot, panel);
        }
    }
    (void)snprintf(plot->title, sizeof plot->title, "Training %s on many GPUs",
        workload[0] != '\0' ? workload : "one workload");
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%s", machine,
        machine[0] != '\0' && scope[0] != '\0' ? "; " : "", scope);
    plot->data.x_label = "GPUs";
    plot->data.x_kind = FULCRUM_AXIS_LOG2;
}

/* --- References --------------------------------------------------------------------
 */

static double nodes_of(const struct fulcrum_reference_point *point)
{
    const struct fulcrum_reference_setting *nodes =
        fulcrum_reference_find_setting(point, fulcrum_scaling_words_of(point)->setting);
    return nodes != NULL ? nodes->number : (double)NAN;
}

/* Speed-ups over as many machines: what is lost is easier seen than in speed-ups. */
static enum fulcrum_status take_compared(struct plot_scaling *plot,
    const struct fulcrum_comparison *comparison, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_compared *item = &comparison->items[i];
    const struct fulcrum_reference_point *from =
        &comparison->reference->points[item->point];
    double nodes = nodes_of(from);
    int begins = fulcrum_reference_begins_series(comparison->reference, item->point);
    size_t series = plot->line_count + (begins ? 1 : 0);
    struct line *line = line_of(plot, (double)series);
    size_t point = line != NULL ? point_of(line, nodes) : POINTS_MOST;
    if (point == POINTS_MOST) {
        return fail_many(err);
    }
    (void)snprintf(line->name, sizeof line->name, "%s, predicted", from->series);
    line->y[0][point] = item->predicted / nodes;
    line->observed[point] = item->observed / nodes;
    line->hollow[point] = item->is_fitted ? 1 : 0;
    return FULCRUM_OK;
}

static void fill_reference(
    struct plot_scaling *plot, const struct fulcrum_reference *reference)
{
    size_t count = plot->line_count;
    const char *plural = fulcrum_scaling_words_of(&reference->points[0])->plural;
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &plot->lines[i];
        plot->drawn[0][i] = (struct fulcrum_lines_line){.name = line->name,
            .x = line->x,
            .y = line->y[0],
            .count = line->count,
            .style = i,
            .look = FULCRUM_LINE_SMOOTH};
        plot->drawn[0][count + i] =
            (struct fulcrum_lines_line){.name = i == 0 ? "published, held out" : NULL,
                .x = line->x,
                .y = line->observed,
                .hollow = line->hollow,
                .count = line->count,
                .style = i,
                .look = FULCRUM_LINE_POINTS};
    }
    (void)snprintf(plot->of_reference, sizeof plot->of_reference,
        "Speed-up over as many %s", plural);
    plot->panels[0] = (struct fulcrum_lines_panel){.title = plot->of_reference,
        .lines = plot->drawn[0],
        .line_count = 2 * count,
        .y_kind = FULCRUM_AXIS_LINEAR};
    plot->data.panel_count = 1;
    plot->data.x_label = plural;
    plot->data.x_kind = FULCRUM_AXIS_LOG2;
    plot->data.hollow_name = "published, seen by the fit";
    (void)snprintf(plot->title, sizeof plot->title, "%s", reference->title);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "lines: a ring all-reduce fitted to the hollow points");
}

static void write_text(struct plot_scaling *plot,
    const struct fulcrum_plot_words *words, struct fulcrum_lines_data *out)
{
    bool has_guides = false;
    for (size_t i = 0; i < PANELS; i++) {
        has_guides |= plot->guide_count[i] > 0;
    }
    plot->data.text = fulcrum_plot_text(words, plot->title, plot->subtitle,
        plot->footnote[0] != '\0' ? plot->footnote : NULL);
    plot->data.guide_name = has_guides ? "hybrid begins to win" : NULL;
    plot->data.panels = plot->panels;
    *out = plot->data;
}

enum fulcrum_status fulcrum_plot_scaling_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_lines_data *out,
    struct fulcrum_error *err)
{
    FAIL_IF(fulcrum_plot_rows_count(rows) == 0, err, FULCRUM_ERR_FORMAT,
        "no rows: numbers of GPUs expected");
    struct plot_scaling *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        TRY(take_row(plot, rows, i, err));
    }
    fill_scaling(plot, rows);
    write_text(plot, &room->words, out);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_scaling_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_plot_room *room,
    struct fulcrum_lines_data *out, struct fulcrum_error *err)
{
    FAIL_IF(validation->reference->predictor != FULCRUM_PREDICTOR_NODE_SCALING, err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no speedup_over_one_node: expected one like "
        "gmidrl-table5-multinode",
        validation->reference->name);
    FAIL_IF(validation->comparison.count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: %s", validation->reference->name, validation->reason);
    struct plot_scaling *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < validation->comparison.count; i++) {
        TRY(take_compared(plot, &validation->comparison, i, err));
    }
    fill_reference(plot, validation->reference);
    write_text(plot, &room->words, out);
    return FULCRUM_OK;
}
