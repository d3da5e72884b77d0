/* sweep_optima.c - where each metric is best along each axis, and how sure that is. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include "cli/sweep_optima.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct fulcrum_sweep_optima {
    const struct fulcrum_sweep_plan *plan;
    struct fulcrum_sweep_profile *profile;
    size_t simulated; /* points */
};

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
    int is_alone; /* no other field varies */
    struct fulcrum_plateau plateau;
    enum shape shape;
    struct fulcrum_best_spread spread; /* draw_count 0: no draws */
    struct fulcrum_best_along along;
    /* The plateau's ends over the draws as ratios; NAN where that says nothing. */
    struct fulcrum_interval first_ratio;
    struct fulcrum_interval last_ratio;
};

struct fulcrum_sweep_optima *fulcrum_sweep_optima_new(
    const struct fulcrum_sweep_plan *plan)
{
    struct fulcrum_sweep_optima *optima = calloc(1, sizeof *optima);
    if (optima != NULL) {
        optima->plan = plan;
        if (fulcrum_sweep_profile_new(plan, &optima->profile, NULL) != FULCRUM_OK) {
            free(optima);
            optima = NULL;
        }
    }
    return optima;
}

void fulcrum_sweep_optima_free(struct fulcrum_sweep_optima *optima)
{
    if (optima != NULL) {
        fulcrum_sweep_profile_free(optima->profile);
        free(optima);
    }
}

void fulcrum_sweep_optima_add(struct fulcrum_sweep_optima *optima,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; optima != NULL && i < count; i++) {
        if (points[i].status == FULCRUM_OK) {
            fulcrum_sweep_profile_add(optima->profile, &points[i]);
            optima->simulated +=
                points[i].prediction.method == FULCRUM_METHOD_SIMULATE ? 1 : 0;
        }
    }
}

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
static struct fulcrum_interval ratios_at(const struct fulcrum_sweep_optima *optima,
    size_t metric, size_t axis, const struct fulcrum_interval *at)
{
    const struct fulcrum_sweep_axis *along = &optima->plan->axes[axis];
    struct fulcrum_interval ratios = {(double)NAN, (double)NAN};
    for (size_t i = 0; i < along->count; i++) {
        double ratio = fulcrum_sweep_profile_ratio(optima->profile, metric, axis, i);
        ratios.lo = along->values[i] <= at->lo ? ratio : ratios.lo;
        ratios.hi = along->values[i] <= at->hi ? ratio : ratios.hi;
    }
    return ratios;
}

static void find_draws(const struct fulcrum_sweep_optima *optima, size_t metric,
    size_t axis, struct statement *out)
{
    const struct fulcrum_interval unknown = {(double)NAN, (double)NAN};
    out->spread = fulcrum_sweep_best_spread(optima->plan->best, metric);
    out->along = fulcrum_sweep_best_along(optima->plan->best, metric, axis);
    out->first_ratio = out->is_alone
                           ? ratios_at(optima, metric, axis, &out->along.plateau_first)
                           : unknown;
    out->last_ratio = out->is_alone
                          ? ratios_at(optima, metric, axis, &out->along.plateau_last)
                          : unknown;
}

/* Returns 0 where there is nothing to say. */
static int find_statement(const struct fulcrum_sweep_optima *optima, size_t metric,
    size_t axis, struct statement *out)
{
    *out = (struct statement){
        .axis = &optima->plan->axes[axis], .is_alone = optima->plan->axis_count == 1};
    if (out->axis->count < 2 ||
        !fulcrum_sweep_profile_plateau(optima->profile, metric, axis, &out->plateau)) {
        return 0;
    }
    out->shape = shape_of(&out->plateau);
    if (optima->plan->best != NULL) {
        find_draws(optima, metric, axis, out);
    }
    return 1;
}

/* Text that grows; what does not fit is left out. */
struct text {
    char *out;
    size_t size;
    size_t used;
};

static void add(struct text *text, const char *format, ...) FULCRUM_PRINTF(2, 3);

static void add(struct text *text, const char *format, ...)
{
    if (text->used >= text->size) {
        return;
    }
    va_list args;
    va_start(args, format);
    int length =
        vsnprintf(text->out + text->used, text->size - text->used, format, args);
    va_end(args);
    text->used += length > 0 ? (size_t)length : 0;
}

/* " (LO to HI)" beside an end of a plateau, where it is known and not sharp. */
static void add_end(struct text *text, const struct fulcrum_interval *end)
{
    if (end->lo < end->hi) {
        add(text, " (%.4g to %.4g)", end->lo, end->hi);
    }
}

/* "; as CPU/GPU ratio 1, 0.9 to 1.5, within 5 % from 0.75 to 2"; a field that does not
 * move the ratio needs no such words. */
static void add_ratio(struct text *text, const struct statement *statement)
{
    const struct fulcrum_plateau *plateau = &statement->plateau;
    const struct fulcrum_interval *ratio = &statement->spread.ratio;
    int has_draws = statement->spread.draw_count > 1;
    int draws_move = statement->is_alone && has_draws && ratio->lo < ratio->hi;
    if (!draws_move && !(plateau->least_ratio < plateau->most_ratio)) {
        return;
    }
    add(text, "; as CPU/GPU ratio %.3g", plateau->best_ratio);
    if (has_draws) {
        add(text, ", %.3g to %.3g", ratio->lo, ratio->hi);
    }
    add(text, ", within 5 %% from %.3g", plateau->least_ratio);
    add_end(text, &statement->first_ratio);
    add(text, " to %.3g", plateau->most_ratio);
    add_end(text, &statement->last_ratio);
}

/* What a plateau that reaches an end means, and in how many draws it does. */
static void add_shape(struct text *text, const struct statement *statement)
{
    static const char *const words[] = {"", ": it rises to the end of the sweep",
        ": it falls from the beginning of the sweep",
        ", the end of the sweep: a plateau and no optimum",
        ", from the beginning of the sweep: a plateau and no optimum",
        ", the whole sweep: it is flat"};
    add(text, "%s", words[statement->shape]);
    int from_first =
        statement->shape == FALLS || statement->shape == PLATEAU_FROM_FIRST;
    double near_frac =
        from_first ? statement->along.first_near_frac : statement->along.last_near_frac;
    if (statement->spread.draw_count > 1 && statement->shape != OPTIMUM &&
        !isnan(near_frac)) {
        add(text, " (%s within 5 %% of the best in %.0f %% of the draws)",
            from_first ? "its beginning is" : "its end is", 100.0 * near_frac);
    }
}

int fulcrum_sweep_optima_text(const struct fulcrum_sweep_optima *optima, size_t metric,
    size_t axis, char *out, size_t size)
{
    struct statement statement;
    out[0] = '\0';
    if (optima == NULL || !find_statement(optima, metric, axis, &statement)) {
        return 0;
    }
    struct text text = {out, size, 0};
    const double *values = statement.axis->values;
    const struct fulcrum_plateau *plateau = &statement.plateau;
    add(&text, "%s over %s is best at %.6g", metric_words[metric],
        statement.axis->field->path, values[plateau->best]);
    if (statement.spread.draw_count > 1) {
        add(&text, ", 90 %% interval %.6g to %.6g of %zu draws%s",
            statement.along.at.lo, statement.along.at.hi, statement.spread.draw_count,
            optima->simulated > 0 ? ", whose simulation adds noise" : "");
    }
    add(&text, "; within 5 %% of that from %.6g", values[plateau->first]);
    add_end(&text, &statement.along.plateau_first);
    add(&text, " to %.6g", values[plateau->last]);
    add_end(&text, &statement.along.plateau_last);
    if (plateau->count < plateau->last - plateau->first + 1) {
        add(&text, ", with gaps");
    }
    add_shape(&text, &statement);
    add_ratio(&text, &statement);
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
static void add_metric(
    const struct fulcrum_sweep_optima *optima, size_t metric, struct fulcrum_json *all)
{
    const char *name = fulcrum_output_name(fulcrum_sweep_metric(metric));
    struct fulcrum_json *object = NULL;
    struct fulcrum_json *axes = NULL;
    for (size_t i = 0; i < optima->plan->axis_count; i++) {
        struct statement statement;
        if (!find_statement(optima, metric, i, &statement)) {
            continue;
        }
        if (object == NULL) {
            const struct fulcrum_best_spread *spread = &statement.spread;
            object = fulcrum_json_append_object(all);
            fulcrum_json_add_text(object, "output", name);
            fulcrum_json_add_number(object, "draws", (double)spread->draw_count);
            fulcrum_json_add_number(
                object, "simulated_points", (double)optima->simulated);
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
    const struct fulcrum_sweep_optima *optima, struct fulcrum_json *parent)
{
    struct fulcrum_json *all = fulcrum_json_add_array(parent, "optima");
    for (size_t i = 0; optima != NULL && i < FULCRUM_SWEEP_METRICS; i++) {
        add_metric(optima, i, all);
    }
}
