/* plot_breakdown.c - stacked bars from sweeps and predictions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_source.h"
#include "model/try.h"
#include "plots/chart/axis.h"

enum { PARTS_MOST = 4, NAME_SIZE = 120, TEXT_SIZE = 64 };

/* Less than nothing by rounding alone. */
static const double slack_frac = 1e-9;

/*
 * Columns that make the parts; the last one is what they leave of the column `whole`
 * where there is such, or of 1 where that is "".
 */
static const struct layout {
    const char *name;
    const char *title;
    const char *x_label;
    const char *unit;
    const char *columns[PARTS_MOST]; /* NULL: what is left */
    const char *part_names[PARTS_MOST];
    size_t part_styles[PARTS_MOST]; /* processors, GPUs and the rest keep theirs */
    const char *whole;              /* NULL: the parts are all there is */
    /* Its interval is that of the whole, relative to it, or the inverse; NULL: none. */
    const char *interval_of;
    bool is_inverse;
    size_t part_count;
} layouts[FULCRUM_PLOT_PARTS] = {
    [FULCRUM_PLOT_CYCLE] = {.name = "cycle",
        .title = "An actor's cycle, from one request to the next",
        .x_label = "time of a cycle",
        .unit = "s",
        .columns = {"cpu_residence_s", "host_residence_s", "gpu_residence_s",
            "delay_s"},
        .part_names = {"CPU: waits for a thread, steps",
            "host: waits for a batch, hand-off", "GPU: waits for it, inference",
            "delivery of the action"},
        .part_styles = {0, 2, 1, 7},
        /* Little's law: what the actors there are divided by their rate. */
        .interval_of = "steps_per_s",
        .is_inverse = 1,
        .part_count = 4},
    [FULCRUM_PLOT_WATTS] = {.name = "watts",
        .title = "Power behind the plug",
        .x_label = "watts",
        .unit = "W",
        .columns = {"cpu_w", "gpu_w", NULL},
        .part_names = {"processors", "GPUs used",
            "the rest: other GPUs, memory, fans, losses"},
        .part_styles = {0, 1, 7},
        .whole = "system_w",
        .interval_of = "system_w",
        .part_count = 3},
    [FULCRUM_PLOT_GPU] = {.name = "gpu",
        .title = "What a GPU is busy with",
        .x_label = "share of its time",
        .columns = {"gpu_inference_busy_frac", "gpu_train_busy_frac", NULL},
        .part_names = {"inference", "training", "idle"},
        .part_styles = {1, 2, 7},
        .whole = "",
        .part_count = 3},
};

/* What files may have in common, and else are told apart by. */
enum common { WORKLOAD, MACHINE, CALIBRATION, COMMONS };
static const char *const common_columns[COMMONS] = {
    "workload", "machine", "calibration"};

struct plot_breakdown {
    const struct layout *layout;
    size_t count;
    struct fulcrum_breakdown_row *rows;
    char (*names)[NAME_SIZE];
    char (*texts)[TEXT_SIZE];
    char common[COMMONS][NAME_SIZE]; /* "": files differ in it */
    struct fulcrum_plot_headline headline;
};

const char *fulcrum_plot_parts_name(int parts)
{
    return parts >= 0 && parts < FULCRUM_PLOT_PARTS ? layouts[parts].name : NULL;
}

static enum fulcrum_status read_whole(const struct fulcrum_plot_breakdown_file *file,
    const struct layout *layout, size_t row, double *out, struct fulcrum_error *err)
{
    *out = 1.0;
    return layout->whole[0] != '\0'
               ? fulcrum_plot_rows_number(file->rows, row, layout->whole, out, err)
               : FULCRUM_OK;
}

/* Unknown parts leave a point without a bar: `is_known` is 0 then. */
static enum fulcrum_status read_parts(const struct fulcrum_plot_breakdown_file *file,
    const struct layout *layout, size_t row, struct fulcrum_breakdown_row *out,
    struct fulcrum_error *err)
{
    double sum = 0.0;
    for (size_t k = 0; k < layout->part_count; k++) {
        const char *column = layout->columns[k];
        TRY(column != NULL
                ? fulcrum_plot_rows_number(file->rows, row, column, &out->parts[k], err)
                : read_whole(file, layout, row, &out->parts[k], err));
        if (column == NULL) {
            /* What the parts before it leave; not known where one of them is not. */
            double whole = out->parts[k];
            double rest = whole - sum;
            out->parts[k] = rest < 0.0 && rest >= -slack_frac * sum ? 0.0 : rest;
        }
        FAIL_IF(out->parts[k] < 0.0, err, FULCRUM_ERR_FORMAT,
            "point %zu: %s is %g: expected parts of 0 or more", row + 1,
            column != NULL ? column : "what is left of the whole", out->parts[k]);
        sum += out->parts[k];
    }
    return FULCRUM_OK;
}

static double whole_of(
    const struct fulcrum_breakdown_row *row, const struct layout *layout)
{
    double whole = 0.0;
    for (size_t k = 0; k < layout->part_count; k++) {
        whole += row->parts[k];
    }
    return whole;
}

/* Relative to its own value, so that what parts do not add up to makes no shift. */
static enum fulcrum_status read_interval(const struct fulcrum_plot_breakdown_file *file,
    const struct layout *layout, size_t row, struct fulcrum_breakdown_row *out,
    struct fulcrum_error *err)
{
    struct fulcrum_interval interval = {(double)NAN, (double)NAN};
    double value = (double)NAN;
    out->lo = (double)NAN;
    out->hi = (double)NAN;
    if (layout->interval_of == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_plot_rows_number(file->rows, row, layout->interval_of, &value, err));
    TRY(fulcrum_plot_rows_interval(
        file->rows, row, layout->interval_of, &interval, err));
    if (value > 0.0 && interval.lo > 0.0) {
        double lo_rel = interval.lo / value;
        double hi_rel = interval.hi / value;
        double whole = whole_of(out, layout);
        out->lo = whole * (layout->is_inverse ? 1.0 / hi_rel : lo_rel);
        out->hi = whole * (layout->is_inverse ? 1.0 / lo_rel : hi_rel);
    }
    return FULCRUM_OK;
}

/* "64 actors", "sm_count 40". */
static void name_value(char *out, size_t size, const char *path, double value)
{
    static const struct {
        const char *path;
        const char *one;
    } words[] = {{"run.actor_count", "actor"}, {"run.gpu_count", "GPU"},
        {"run.sm_count", "SM"}, {"machine.gpu.sm_count", "SM"},
        {"machine.gpu.count", "GPU"}, {"machine.cpu.thread_count", "thread"},
        {"run.node_count", "node"}};
    bool is_one = value == 1.0;
    char number[48];
    (void)snprintf(number, sizeof number, "%.6g", value);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].path, path) == 0) {
            (void)snprintf(
                out, size, "%s %s%s", number, words[i].one, is_one ? "" : "s");
            return;
        }
    }
    const char *dot = strrchr(path, '.');
    (void)snprintf(out, size, "%s %s", dot != NULL ? dot + 1 : path, number);
}

static void append(char *text, size_t size, const char *between, const char *what)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? between : "", what);
}

/* What files differ in comes first, then what varies in this one. */
static enum fulcrum_status write_name(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_file *file,
    const struct fulcrum_plot_fields *fields, size_t row, struct fulcrum_error *err)
{
    char *name = plot->names[plot->count];
    for (size_t k = 0; k < COMMONS; k++) {
        char text[NAME_SIZE];
        fulcrum_plot_rows_text(file->rows, row, common_columns[k], text, sizeof text);
        if (plot->common[k][0] == '\0' && text[0] != '\0') {
            append(name, NAME_SIZE, ", ", text);
        }
    }
    for (size_t i = 0; i < fields->count; i++) {
        double value = (double)NAN;
        char text[NAME_SIZE];
        TRY(fulcrum_plot_rows_number(file->rows, row, fields->paths[i], &value, err));
        name_value(text, sizeof text, fields->paths[i], value);
        append(name, NAME_SIZE, ", ", text);
    }
    if (name[0] == '\0') {
        append(name, NAME_SIZE, "",
            plot->common[MACHINE][0] != '\0' ? plot->common[MACHINE] : file->name);
    }
    return FULCRUM_OK;
}

/* Points of one file. */
static enum fulcrum_status add_file(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_file *file, struct fulcrum_error *err)
{
    const struct layout *layout = plot->layout;
    struct fulcrum_plot_fields fields;
    TRY(fulcrum_plot_fields_find(file->rows, &fields, err));
    for (size_t row = 0; row < fulcrum_plot_rows_count(file->rows); row++) {
        char *text = plot->texts[plot->count];
        struct fulcrum_breakdown_row bar = {
            .name = plot->names[plot->count], .text = text};
        if (!fulcrum_plot_row_is_ok(file->rows, row)) {
            continue;
        }
        TRY(read_parts(file, layout, row, &bar, err));
        TRY(read_interval(file, layout, row, &bar, err));
        if (isnan(whole_of(&bar, layout))) {
            continue;
        }
        TRY(write_name(plot, file, &fields, row, err));
        /* "15.6 ms, 16.4k steps/s". */
        double rate = (double)NAN;
        if (layout->unit != NULL) {
            fulcrum_si_text(text, TEXT_SIZE, whole_of(&bar, layout), 3, layout->unit);
        }
        if (fulcrum_plot_rows_number(file->rows, row, "steps_per_s", &rate, NULL) ==
                FULCRUM_OK &&
            isfinite(rate)) {
            char number[40];
            char words[56];
            fulcrum_si_text(number, sizeof number, rate, 3, NULL);
            (void)snprintf(words, sizeof words, "%s steps/s", number);
            append(text, TEXT_SIZE, ", ", words);
        }
        plot->rows[plot->count++] = bar;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_columns(const struct fulcrum_plot_breakdown_file *file,
    const struct layout *layout, struct fulcrum_error *err)
{
    for (size_t k = 0; k < layout->part_count; k++) {
        const char *column =
            layout->columns[k] != NULL ? layout->columns[k] : layout->whole;
        FAIL_IF(column[0] != '\0' && !fulcrum_plot_rows_have(file->rows, column), err,
            FULCRUM_ERR_FORMAT,
            "no column '%s': a breakdown of %s is drawn from what 'fulcrum "
            "explore' or 'fulcrum predict' wrote",
            column, layout->name);
    }
    return FULCRUM_OK;
}

/* Texts that all points of all files share. */
static void find_common(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_file *files, size_t count)
{
    for (size_t k = 0; k < COMMONS; k++) {
        bool is_common = 1;
        fulcrum_plot_rows_text(
            files[0].rows, 0, common_columns[k], plot->common[k], NAME_SIZE);
        for (size_t i = 0; i < count; i++) {
            char text[NAME_SIZE];
            fulcrum_plot_rows_text(
                files[i].rows, 0, common_columns[k], text, sizeof text);
            is_common = is_common && strcmp(text, plot->common[k]) == 0;
        }
        if (!is_common) {
            plot->common[k][0] = '\0';
        }
    }
}

/* Flags of every file, each once. */
static void add_flags(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_file *file, struct fulcrum_plot_room *room)
{
    size_t count = fulcrum_plot_rows_count(file->rows);
    size_t failed = 0;
    size_t *order = fulcrum_plot_room_take(room, count + 1, sizeof *order);
    for (size_t row = 0; row < count; row++) {
        order[row - failed] = row;
        failed += fulcrum_plot_row_is_ok(file->rows, row) ? 0U : 1U;
    }
    const struct fulcrum_plot_points points = {file->rows, order, count - failed};
    fulcrum_plot_headline_fill(&plot->headline, &points);
    if (failed > 0) {
        char note[200];
        (void)snprintf(note, sizeof note, "%.120s: %zu of %zu points cannot run",
            file->name, failed, count);
        fulcrum_plot_headline_add_note(&plot->headline, note);
    }
}

/* Of what the files share; after their flags, whose words are of one file. */
static void write_title(struct plot_breakdown *plot)
{
    const char *workload = plot->common[WORKLOAD];
    const char *machine = plot->common[MACHINE];
    const char *calibration = plot->common[CALIBRATION];
    (void)snprintf(plot->headline.title, sizeof plot->headline.title, "%s%s%s",
        workload, workload[0] != '\0' && machine[0] != '\0' ? " on " : "", machine);
    (void)snprintf(plot->headline.subtitle, sizeof plot->headline.subtitle, "%s%s",
        calibration[0] != '\0' ? "calibration " : "", calibration);
}

/* Groups of several bars each are set apart by an empty row. */
static void add_gap(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_file *files, size_t count)
{
    bool has_groups = 0;
    for (size_t i = 0; i < count; i++) {
        has_groups = has_groups || fulcrum_plot_rows_count(files[i].rows) > 1;
    }
    if (has_groups && plot->count > 0) {
        plot->rows[plot->count++] = (struct fulcrum_breakdown_row){.name = ""};
    }
}

static enum fulcrum_status fill(struct plot_breakdown *plot,
    const struct fulcrum_plot_breakdown_files *list, struct fulcrum_plot_room *room,
    struct fulcrum_error *err)
{
    const struct fulcrum_plot_breakdown_file *files = list->items;
    size_t count = list->count;
    find_common(plot, files, count);
    for (size_t i = 0; i < count; i++) {
        size_t before = plot->count;
        enum fulcrum_status status = check_columns(&files[i], plot->layout, err);
        if (status == FULCRUM_OK) {
            add_gap(plot, files, count);
            before = plot->count;
            status = add_file(plot, &files[i], err);
        }
        if (status == FULCRUM_OK) {
            add_flags(plot, &files[i], room);
        }
        if (status == FULCRUM_OK && plot->count == before) {
            status = fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                "no point has a breakdown of %s", plot->layout->name);
        }
        if (status != FULCRUM_OK) {
            bool is_named =
                strncmp(err->detail, files[i].name, strlen(files[i].name)) == 0;
            return is_named ? status : fulcrum_fail_in(err, status, files[i].name);
        }
    }
    write_title(plot);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_breakdown_data(
    const struct fulcrum_plot_breakdown_files *files,
    const struct fulcrum_plot_breakdown_options *options,
    struct fulcrum_plot_room *room, struct fulcrum_breakdown_data *out,
    struct fulcrum_error *err)
{
    struct fulcrum_error own = {FULCRUM_OK, ""};
    size_t row_count = files->count + 1;
    for (size_t i = 0; i < files->count; i++) {
        row_count += fulcrum_plot_rows_count(files->items[i].rows);
    }
    const struct layout *layout = &layouts[options->parts];
    struct plot_breakdown *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->rows = fulcrum_plot_room_take(room, row_count, sizeof *plot->rows);
    plot->names = fulcrum_plot_room_take(room, row_count, sizeof *plot->names);
    plot->texts = fulcrum_plot_room_take(room, row_count, sizeof *plot->texts);
    plot->layout = layout;
    TRY(fill(plot, files, room, err != NULL ? err : &own));
    bool is_share = options->scale == FULCRUM_ROW_SHARE;
    *out = (struct fulcrum_breakdown_data){
        .text = fulcrum_plot_headline_text(&plot->headline, &room->words),
        .title = layout->title,
        .x_label = is_share ? "share of the whole" : layout->x_label,
        .unit = layout->unit,
        .interval_name = "90 % interval of the whole",
        .scale = options->scale,
        .part_count = layout->part_count,
        .rows = plot->rows,
        .count = plot->count,
    };
    for (size_t k = 0; k < layout->part_count; k++) {
        out->part_names[k] = layout->part_names[k];
        out->part_styles[k] = layout->part_styles[k];
    }
    return FULCRUM_OK;
}
