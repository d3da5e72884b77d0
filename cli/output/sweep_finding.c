/* sweep_finding.c - what a sweep found, in sentences: the best points and how sure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where throughput ends to grow is worth more than where its last promille is, so the
 * sentence names the first point within a few per cent of the best. Which one that is
 * shows at the end only. It is always among the points that beat every earlier one;
 * of those, the ones that are still near enough to the best are kept, and none that
 * beats the one before by next to nothing: a sweep that creeps up to its best would
 * otherwise be kept whole.
 */
#include "cli/output/sweep_columns.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/string.h"

/* A metric within this share of its best counts as its plateau. */
#define PLATEAU_FRAC 0.95
/* Records are this much apart: at most 5130 of them on the plateau. */
#define RECORD_STEP_REL 1e-5

/* What the sentence says of a point. */
struct record {
    double value;
    double cpu_gpu_ratio;
    double actor_count;
    double varied[FULCRUM_SWEEP_AXES_MOST];
};

struct track {
    enum fulcrum_predicted output;
    struct record best;
    size_t first; /* records before it have fallen behind */
    size_t count; /* those included */
    size_t capacity;
    struct record *records;
};

enum { TRACKS = 3 };

struct fulcrum_sweep_finding {
    const struct fulcrum_sweep_plan *plan;
    struct track tracks[TRACKS];
    struct fulcrum_sweep_profile *profile; /* NULL: no optima are told */
    size_t simulated;                      /* points */
};

struct fulcrum_sweep_finding *fulcrum_sweep_finding_new(
    const struct fulcrum_sweep_plan *plan)
{
    struct fulcrum_sweep_finding *finding = fulcrum_allocate(1, sizeof *finding);
    finding->plan = plan;
    finding->tracks[0].output = FULCRUM_OUTPUT_steps_per_s;
    finding->tracks[1].output = FULCRUM_OUTPUT_steps_per_j_gpu;
    finding->tracks[2].output = FULCRUM_OUTPUT_steps_per_j_system;
    return finding;
}

enum fulcrum_status fulcrum_sweep_finding_keep_optima(
    struct fulcrum_sweep_finding *finding, struct fulcrum_error *err)
{
    return fulcrum_sweep_profile_new(finding->plan, &finding->profile, err);
}

void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding)
{
    if (finding != NULL) {
        for (size_t i = 0; i < TRACKS; i++) {
            free(finding->tracks[i].records);
        }
        fulcrum_sweep_profile_free(finding->profile);
    }
    free(finding);
}

/* A whole point would be ten times as large. */
static struct record record_of(
    const struct fulcrum_sweep_point *point, enum fulcrum_predicted output)
{
    const struct fulcrum_prediction *prediction = &point->prediction;
    struct record record = {.value = prediction->value[output],
        .cpu_gpu_ratio = prediction->value[FULCRUM_OUTPUT_cpu_gpu_ratio_used],
        .actor_count = prediction->actor_count};
    memcpy(record.varied, point->varied, sizeof record.varied);
    return record;
}

/* Moves the records that count to the beginning, with room for one more. */
static void drop_fallen_records(struct track *track)
{
    size_t kept = track->count - track->first;
    struct record *records = track->records;
    if (2 * kept >= track->capacity) {
        track->capacity = kept < 8 ? 16 : 4 * kept;
        records = fulcrum_allocate(track->capacity, sizeof *records);
    }
    for (size_t i = 0; i < kept; i++) {
        records[i] = track->records[track->first + i];
    }
    if (records != track->records) {
        free(track->records);
        track->records = records;
    }
    track->first = 0;
    track->count = kept;
}

static void add_point(struct track *track, const struct fulcrum_sweep_point *point)
{
    double value = point->prediction.value[track->output];
    if (!(value > track->best.value)) {
        return;
    }
    track->best = record_of(point, track->output);
    while (track->first < track->count &&
           track->records[track->first].value < PLATEAU_FRAC * value) {
        track->first++;
    }
    double last =
        track->first < track->count ? track->records[track->count - 1].value : 0.0;
    if (value > last * (1.0 + RECORD_STEP_REL)) {
        if (track->count == track->capacity) {
            drop_fallen_records(track);
        }
        track->records[track->count++] = track->best;
    }
}

void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (points[i].status != FULCRUM_OK) {
            continue;
        }
        for (size_t j = 0; j < TRACKS; j++) {
            add_point(&finding->tracks[j], &points[i]);
        }
        if (finding->profile != NULL) {
            fulcrum_sweep_profile_add(finding->profile, &points[i]);
            finding->simulated +=
                points[i].prediction.method == FULCRUM_METHOD_SIMULATE ? 1 : 0;
        }
    }
}

/* "CPU/GPU ratio 1 (machine.cpu.thread_count = 640, 4096 actors)" */
static void describe_point(const struct fulcrum_sweep_plan *plan,
    const struct record *record, struct fulcrum_string *out)
{
    double ratio = record->cpu_gpu_ratio;
    if (!isnan(ratio)) {
        fulcrum_string_add(out, "CPU/GPU ratio %.3g (", ratio);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        const char *path = plan->axes[i].field->path;
        if (strcmp(path, "run.actor_count") != 0) {
            fulcrum_string_add(out, "%s = %.6g, ", path, record->varied[i]);
        }
    }
    fulcrum_string_add(
        out, "%.6g actors%s", record->actor_count, isnan(ratio) ? "" : ")");
}

/* Where the metric comes within 5 % of its best, or nothing where it is not known. */
static void describe_plateau(const struct fulcrum_sweep_finding *finding,
    const struct track *track, const char *what, struct fulcrum_string *out)
{
    if (track->first < track->count) {
        double best = track->best.value;
        fulcrum_string_add(out,
            best >= 1e4 ? "%s comes within 5 %% of its best, %.0f, at "
                        : "%s comes within 5 %% of its best, %.4g, at ",
            what, best);
        describe_point(finding->plan, &track->records[track->first], out);
    }
}

void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size)
{
    if (!(finding->tracks[0].best.value > 0.0)) {
        (void)snprintf(out, size, "no point of the sweep can run");
        return;
    }
    struct fulcrum_string text = {.chars = NULL};
    describe_plateau(finding, &finding->tracks[0], "throughput in steps/s", &text);
    describe_plateau(
        finding, &finding->tracks[1], "; performance per GPU watt in steps/J", &text);
    const struct record *best = &finding->tracks[2].best;
    if (best->value > 0.0) {
        fulcrum_string_add(&text,
            "; performance per system watt is best, %.3g steps/J, at ", best->value);
        describe_point(finding->plan, best, &text);
    }
    (void)snprintf(out, size, "%s", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

/* Where each metric is best along each axis, and how sure that is. */

/*
 * A best point always exists, even of a metric that rises all along and is within a
 * promille of its best from the middle on. So beside the best stands the plateau, the
 * values within 5 % of it: a plateau that reaches an end of the sweep is called one,
 * and only what falls on both sides is called an optimum.
 *
 * The interval is of the best point over the draws of the calibration, not of the
 * metric at that point. Where the draws were simulated, their noise moves the best
 * among points that are near each other, and the sentence says so.
 */

/* Words for metrics, in the order of fulcrum_sweep_metric. */
static const char *const metric_words[FULCRUM_SWEEP_METRICS] = {
    "throughput", "performance per GPU watt", "performance per system watt"};

/* What a metric does along an axis. */
enum shape { OPTIMUM, RISES, FALLS, PLATEAU_TO_LAST, PLATEAU_FROM_FIRST, FLAT };

static const char *const shape_names[] = {
    "optimum", "rises", "falls", "plateau-to-last", "plateau-from-first", "flat"};

/* All there is to say about one metric along one axis. */
struct statement {
    const struct fulcrum_sweep_axis *axis;
    bool is_alone; /* no other field varies */
    struct fulcrum_plateau plateau;
    enum shape shape;
    struct fulcrum_best_spread spread; /* draw_count 0: no draws */
    struct fulcrum_best_along along;
    /* The plateau's ends over the draws as ratios; NAN where that says nothing. */
    struct fulcrum_interval first_ratio;
    struct fulcrum_interval last_ratio;
};

/* Values at which nothing can run are no part of the sweep here. */
static enum shape shape_of(const struct fulcrum_plateau *plateau)
{
    int at_first = plateau->first == plateau->first_run;
    int at_last = plateau->last == plateau->last_run;
    if (at_first && at_last) {
        return FLAT;
    }
    if (at_last) {
        return plateau->count > 1 ? PLATEAU_TO_LAST : RISES;
    }
    if (at_first) {
        return plateau->count > 1 ? PLATEAU_FROM_FIRST : FALLS;
    }
    return OPTIMUM;
}

/* Values of an axis as CPU/GPU ratios. */
static struct fulcrum_interval ratios_at(const struct fulcrum_sweep_finding *finding,
    size_t metric, size_t axis, const struct fulcrum_interval *at)
{
    const struct fulcrum_sweep_axis *along = &finding->plan->axes[axis];
    struct fulcrum_interval ratios = {(double)NAN, (double)NAN};
    for (size_t i = 0; i < along->count; i++) {
        double ratio = fulcrum_sweep_profile_ratio(finding->profile, metric, axis, i);
        ratios.lo = along->values[i] <= at->lo ? ratio : ratios.lo;
        ratios.hi = along->values[i] <= at->hi ? ratio : ratios.hi;
    }
    return ratios;
}

/* Returns 0 where there is nothing to say. */
static int find_statement(const struct fulcrum_sweep_finding *finding, size_t metric,
    size_t axis, struct statement *out)
{
    *out = (struct statement){
        .axis = &finding->plan->axes[axis], .is_alone = finding->plan->axis_count == 1};
    if (out->axis->count < 2 ||
        !fulcrum_sweep_profile_plateau(finding->profile, metric, axis, &out->plateau)) {
        return 0;
    }
    out->shape = shape_of(&out->plateau);
    if (finding->plan->best != NULL) {
        const struct fulcrum_interval unknown = {(double)NAN, (double)NAN};
        out->spread = fulcrum_sweep_best_spread(finding->plan->best, metric);
        out->along = fulcrum_sweep_best_along(finding->plan->best, metric, axis);
        out->first_ratio =
            out->is_alone ? ratios_at(finding, metric, axis, &out->along.plateau_first)
                          : unknown;
        out->last_ratio =
            out->is_alone ? ratios_at(finding, metric, axis, &out->along.plateau_last)
                          : unknown;
    }
    return 1;
}

/* " (LO to HI)" beside an end of a plateau, where it is known and not sharp. */
static void add_end(struct fulcrum_string *text, const struct fulcrum_interval *end)
{
    if (end->lo < end->hi) {
        fulcrum_string_add(text, " (%.4g to %.4g)", end->lo, end->hi);
    }
}

/* "; as CPU/GPU ratio 1, 0.9 to 1.5, within 5 % from 0.75 to 2"; a field that does not
 * move the ratio needs no such words. */
static void add_ratio(struct fulcrum_string *text, const struct statement *statement)
{
    const struct fulcrum_plateau *plateau = &statement->plateau;
    const struct fulcrum_interval *ratio = &statement->spread.ratio;
    bool has_draws = statement->spread.draw_count > 1;
    int draws_move = statement->is_alone && has_draws && ratio->lo < ratio->hi;
    if (!draws_move && !(plateau->least_ratio < plateau->most_ratio)) {
        return;
    }
    fulcrum_string_add(text, "; as CPU/GPU ratio %.3g", plateau->best_ratio);
    if (has_draws) {
        fulcrum_string_add(text, ", %.3g to %.3g", ratio->lo, ratio->hi);
    }
    fulcrum_string_add(text, ", within 5 %% from %.3g", plateau->least_ratio);
    add_end(text, &statement->first_ratio);
    fulcrum_string_add(text, " to %.3g", plateau->most_ratio);
    add_end(text, &statement->last_ratio);
}

int fulcrum_sweep_optima_text(const struct fulcrum_sweep_finding *finding,
    size_t metric, size_t axis, char *out, size_t size)
{
    struct statement statement;
    out[0] = '\0';
    if (finding->profile == NULL ||
        !find_statement(finding, metric, axis, &statement)) {
        return 0;
    }
    struct fulcrum_string text = {.chars = NULL};
    const double *values = statement.axis->values;
    const struct fulcrum_plateau *plateau = &statement.plateau;
    fulcrum_string_add(&text, "%s over %s is best at %.6g", metric_words[metric],
        statement.axis->field->path, values[plateau->best]);
    if (statement.spread.draw_count > 1) {
        fulcrum_string_add(&text, ", 90 %% interval %.6g to %.6g of %zu draws%s",
            statement.along.at.lo, statement.along.at.hi, statement.spread.draw_count,
            finding->simulated > 0 ? ", whose simulation adds noise" : "");
    }
    fulcrum_string_add(
        &text, "; within 5 %% of that from %.6g", values[plateau->first]);
    add_end(&text, &statement.along.plateau_first);
    fulcrum_string_add(&text, " to %.6g", values[plateau->last]);
    add_end(&text, &statement.along.plateau_last);
    if (plateau->count < plateau->last - plateau->first + 1) {
        fulcrum_string_add(&text, ", with gaps");
    }
    /* What a plateau that reaches an end means, and in how many draws it does. */
    static const char *const words[] = {"", ": it rises to the end of the sweep",
        ": it falls from the beginning of the sweep",
        ", the end of the sweep: a plateau and no optimum",
        ", from the beginning of the sweep: a plateau and no optimum",
        ", the whole sweep: it is flat"};
    fulcrum_string_add(&text, "%s", words[statement.shape]);
    int from_first = statement.shape == FALLS || statement.shape == PLATEAU_FROM_FIRST;
    double near_frac =
        from_first ? statement.along.first_near_frac : statement.along.last_near_frac;
    if (statement.spread.draw_count > 1 && statement.shape != OPTIMUM &&
        !isnan(near_frac)) {
        fulcrum_string_add(&text,
            " (%s within 5 %% of the best in %.0f %% of the draws)",
            from_first ? "its beginning is" : "its end is", 100.0 * near_frac);
    }
    add_ratio(&text, &statement);
    (void)snprintf(out, size, "%s", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
    return 1;
}

/* "KEY": [lo, hi], or null without draws. */
static void add_interval(struct fulcrum_json *object, const char *key,
    const struct fulcrum_interval *interval, size_t draw_count)
{
    if (draw_count > 1 && !isnan(interval->lo)) {
        const double ends[] = {interval->lo, interval->hi};
        fulcrum_json_add_numbers(object, key, ends, 2);
    } else {
        fulcrum_json_add_null(object, key);
    }
}

static void add_axis(struct fulcrum_json *axes, const struct statement *statement)
{
    const struct fulcrum_plateau *plateau = &statement->plateau;
    const struct fulcrum_best_along *along = &statement->along;
    const double *values = statement->axis->values;
    size_t draws = statement->spread.draw_count;
    struct fulcrum_json *object = fulcrum_json_append_object(axes);
    fulcrum_json_add_text(object, "path", statement->axis->field->path);
    fulcrum_json_add_text(object, "shape", shape_names[statement->shape]);
    fulcrum_json_add_number(object, "best", values[plateau->best]);
    add_interval(object, "best_interval", &along->at, draws);
    const double ends[] = {values[plateau->first], values[plateau->last]};
    fulcrum_json_add_numbers(object, "plateau", ends, 2);
    add_interval(object, "plateau_first_interval", &along->plateau_first, draws);
    add_interval(object, "plateau_last_interval", &along->plateau_last, draws);
    const double ratios[] = {plateau->least_ratio, plateau->most_ratio};
    fulcrum_json_add_numbers(object, "plateau_cpu_gpu_ratio_used", ratios, 2);
    fulcrum_json_add_number(object, "plateau_value_count", (double)plateau->count);
    fulcrum_json_add_number(
        object, "first_near_frac", draws > 1 ? along->first_near_frac : (double)NAN);
    fulcrum_json_add_number(
        object, "last_near_frac", draws > 1 ? along->last_near_frac : (double)NAN);
}

/* One metric; what does not depend on the axis comes from the last that is told. */
static void add_metric(const struct fulcrum_sweep_finding *finding, size_t metric,
    struct fulcrum_json *all)
{
    const char *name = fulcrum_output_name(fulcrum_sweep_metric(metric));
    struct fulcrum_json *object = NULL;
    struct fulcrum_json *axes = NULL;
    for (size_t i = 0; i < finding->plan->axis_count; i++) {
        struct statement statement;
        if (!find_statement(finding, metric, i, &statement)) {
            continue;
        }
        if (object == NULL) {
            const struct fulcrum_best_spread *spread = &statement.spread;
            object = fulcrum_json_append_object(all);
            fulcrum_json_add_text(object, "output", name);
            fulcrum_json_add_number(object, "draws", (double)spread->draw_count);
            fulcrum_json_add_number(
                object, "simulated_points", (double)finding->simulated);
            add_interval(object, "value_interval", &spread->value, spread->draw_count);
            fulcrum_json_add_number(
                object, "cpu_gpu_ratio_used", statement.plateau.best_ratio);
            add_interval(object, "cpu_gpu_ratio_used_interval", &spread->ratio,
                spread->draw_count);
            axes = fulcrum_json_add_array(object, "axes");
        }
        add_axis(axes, &statement);
    }
}

void fulcrum_sweep_optima_json(
    const struct fulcrum_sweep_finding *finding, struct fulcrum_json *parent)
{
    struct fulcrum_json *all = fulcrum_json_add_array(parent, "optima");
    for (size_t i = 0; finding->profile != NULL && i < FULCRUM_SWEEP_METRICS; i++) {
        add_metric(finding, i, all);
    }
}
