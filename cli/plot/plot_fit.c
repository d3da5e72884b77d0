/* plot_fit.c - what charts of fits and sensitivities need beside the columns of a file.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_job.h"
#include "model/design/design.h"
#include "model/interval.h"
#include "model/try.h"
#include "plots/chart/axis.h"
#include "plots/spec/charts.h"

enum { TEXT_SIZE = 160, NUMBER_SIZE = 32 };

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;
/* Sorts behind all that is known. */
static const double last_rank = 1e300;

static void add_span(
    struct fulcrum_table *table, const char *key, struct fulcrum_interval span)
{
    fulcrum_table_estimate(table, key, NULL, (double)NAN, span.lo, span.hi);
}

static struct fulcrum_interval around(double centre, double half)
{
    return (struct fulcrum_interval){centre - half, centre + half};
}

/* Numbers of one row, in the order of `keys`, which end with NULL. */
static enum fulcrum_status read_numbers(const struct fulcrum_table *table, size_t row,
    const char *const *keys, double *out, struct fulcrum_error *err)
{
    for (size_t k = 0; keys[k] != NULL; k++) {
        struct fulcrum_cell cell = fulcrum_table_at(table, row, keys[k]);
        bool is_number =
            isfinite(cell.number) || cell.text == NULL || cell.text[0] == '\0';
        FAIL_IF(!is_number, err, FULCRUM_ERR_FORMAT,
            "row %zu: %s = %s: expected a number", row + 1, keys[k], cell.text);
        out[k] = cell.number;
    }
    return FULCRUM_OK;
}

/* --- Fits --- */

/* On the scale where the error of a parameter is taken to be normal. */
static double on_scale(enum fulcrum_scale scale, double value)
{
    switch (scale) {
    case FULCRUM_SCALE_LOG:
        return value > 0.0 ? log(value) : (double)NAN;
    case FULCRUM_SCALE_LOGIT:
        return value > 0.0 && value < 1.0 ? log(value / (1.0 - value)) : (double)NAN;
    case FULCRUM_SCALE_LINEAR:
    default:
        return value;
    }
}

static enum fulcrum_status read_scale(const struct fulcrum_table *table, size_t row,
    enum fulcrum_scale *out, struct fulcrum_error *err)
{
    const char *name = fulcrum_plot_text(table, row, "scale");
    for (int i = 0; fulcrum_scale_name((enum fulcrum_scale)i) != NULL; i++) {
        if (strcmp(fulcrum_scale_name((enum fulcrum_scale)i), name) == 0) {
            *out = (enum fulcrum_scale)i;
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "parameters[%zu].scale = '%s': expected linear, log or logit", row, name);
}

/* A parameter in natural units. */
enum { PRIOR, PRIOR_SD, BEST, LOW, HIGH, SD_FRAC, PARAMETER_CELLS };

static const char *const parameter_columns[PARAMETER_CELLS + 1] = {"prior", "prior_sd",
    "fitted", "posterior_low", "posterior_high", "posterior_sd_frac"};

/* What it means in words, or its path, and "20 us: 44 us (28 us to 66 us)". */
static void add_parameter_words(
    struct fulcrum_table *table, const char *path, const double cells[PARAMETER_CELLS])
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    const char *unit = field != NULL && field->unit[0] != '\0' ? field->unit : NULL;
    const double numbers[] = {cells[PRIOR], cells[BEST], cells[LOW], cells[HIGH]};
    char texts[4][NUMBER_SIZE];
    char text[TEXT_SIZE];
    for (size_t i = 0; i < 4; i++) {
        fulcrum_si_text(texts[i], sizeof texts[i], numbers[i], 2, unit);
    }
    int used = snprintf(text, sizeof text, "%s \xe2\x86\x92 %s", texts[0], texts[1]);
    if (isfinite(cells[LOW])) {
        (void)snprintf(
            text + used, sizeof text - (size_t)used, " (%s to %s)", texts[2], texts[3]);
    }
    fulcrum_table_text(
        table, "shown_name", NULL, field != NULL ? field->meaning : path);
    fulcrum_table_text(table, "shown_text", NULL, text);
}

/* Without draws a fit knows the spread around its best values alone. */
static enum fulcrum_status add_parameter(struct fulcrum_table *table, size_t i,
    bool *is_by_slopes, struct fulcrum_error *err)
{
    const struct fulcrum_interval none = {(double)NAN, (double)NAN};
    double cells[PARAMETER_CELLS] = {0.0};
    enum fulcrum_scale scale = FULCRUM_SCALE_LINEAR;
    TRY(read_scale(table, i, &scale, err));
    TRY(read_numbers(table, i, parameter_columns, cells, err));
    double unit = cells[PRIOR_SD];
    FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
        "parameters[%zu].prior_sd = %g: expected a number above 0", i, unit);
    double centre = on_scale(scale, cells[PRIOR]);
    double fitted = (on_scale(scale, cells[BEST]) - centre) / unit;
    struct fulcrum_interval span = around(fitted, normal_90 * cells[SD_FRAC]);
    if (!isnan(cells[LOW]) && !isnan(cells[HIGH])) {
        span.lo = (on_scale(scale, cells[LOW]) - centre) / unit;
        span.hi = (on_scale(scale, cells[HIGH]) - centre) / unit;
    }
    *is_by_slopes = *is_by_slopes || (isnan(cells[LOW]) && isfinite(span.lo));
    bool is_identified =
        strcmp(fulcrum_plot_text(table, i, "verdict"), "identified") == 0;
    fulcrum_table_return(table, i);
    add_parameter_words(table, fulcrum_plot_text(table, i, "path"), cells);
    add_span(table, "prior_z", around(0.0, normal_90));
    add_span(table, "posterior_z", is_identified ? span : none);
    add_span(table, "open_z", is_identified ? none : span);
    fulcrum_table_number(table, "fitted_z", NULL, fitted);
    /* What the data say most of is first. */
    fulcrum_table_number(
        table, "rank", NULL, isnan(cells[SD_FRAC]) ? last_rank : cells[SD_FRAC]);
    return FULCRUM_OK;
}

/* "5.8: fitted 5.81, from others 6.1". */
static void add_figure_words(
    struct fulcrum_table *table, size_t i, const double numbers[3])
{
    char texts[3][NUMBER_SIZE];
    char text[TEXT_SIZE];
    double point = fulcrum_plot_number(table, i, "point");
    bool is_held_out = isnan(fulcrum_plot_number(table, i, "sd"));
    for (size_t k = 0; k < 3; k++) {
        fulcrum_si_text(texts[k], sizeof texts[k], numbers[k], 3, NULL);
    }
    /* A figure without a deviation was predicted alone. */
    (void)snprintf(text, sizeof text, "%s, point %.0f: %s%s",
        fulcrum_plot_text(table, i, "reference"), point,
        fulcrum_plot_text(table, i, "quantity"), is_held_out ? ", held out" : "");
    fulcrum_table_text(table, "shown_name", NULL, text);
    (void)snprintf(text, sizeof text, "%s: fitted %s%s%s", texts[0], texts[1],
        isnan(numbers[2]) ? "" : ", from others ", isnan(numbers[2]) ? "" : texts[2]);
    fulcrum_table_text(table, "shown_text", NULL, text);
}

/* Relative to what was observed. */
static enum fulcrum_status add_figure(
    struct fulcrum_table *table, size_t i, struct fulcrum_error *err)
{
    enum {
        OBSERVED,
        SD,
        PRIOR_LOW,
        PRIOR_HIGH,
        FITTED,
        SIMULATED,
        MEAN,
        MEAN_SD,
        OTHERS,
        OTHERS_SD,
        CELLS
    };
    static const char *const columns[CELLS + 1] = {"observed", "sd", "prior_low",
        "prior_high", "fitted", "simulated", "posterior_mean", "posterior_sd",
        "held_out_mean", "held_out_sd"};
    double cells[CELLS] = {0.0};
    TRY(read_numbers(table, i, columns, cells, err));
    double unit = cells[OBSERVED];
    FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
        "figures[%zu].observed = %g: expected a number above 0", i, unit);
    /* What the parameters themselves give; simulations of it are closest to the model.
     */
    double best = isnan(cells[SIMULATED]) ? cells[FITTED] : cells[SIMULATED];
    fulcrum_table_return(table, i);
    add_figure_words(table, i, (double[]){unit, best, cells[OTHERS]});
    add_span(table, "prior_rel",
        (struct fulcrum_interval){cells[PRIOR_LOW] / unit, cells[PRIOR_HIGH] / unit});
    add_span(table, "others_rel",
        around(cells[OTHERS] / unit, normal_90 * cells[OTHERS_SD] / unit));
    add_span(table, "posterior_rel",
        around(cells[MEAN] / unit, normal_90 * cells[MEAN_SD] / unit));
    add_span(table, "observed_rel", around(1.0, cells[SD] / unit));
    fulcrum_table_number(table, "fitted_rel", NULL, best / unit);
    return FULCRUM_OK;
}

/* How many parameters say more than their priors. */
static void add_fit_words(struct fulcrum_result *result, struct fulcrum_table *table,
    size_t figure_count, bool is_by_slopes)
{
    size_t count = fulcrum_table_rows(table);
    size_t identified = 0;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < count; i++) {
        identified +=
            strcmp(fulcrum_plot_text(table, i, "verdict"), "identified") == 0 ? 1 : 0;
    }
    (void)snprintf(text, sizeof text, "%zu of %zu told apart from their priors",
        identified, count);
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_return(table, i);
        fulcrum_table_text(table, "headline", NULL, text);
    }
    fulcrum_result_text(result, "title", NULL, "Priors, and what a fit left of them");
    fulcrum_result_print(result, "subtitle", NULL,
        "%zu parameters, %zu figures; right: prior and best fit%s", count, figure_count,
        is_by_slopes ? "; no draws: spread from the slopes at the best fit"
                     : ", 90 % of the posterior in brackets");
    /* Ctrl-C leaves the best values without all that was to be said of them. */
    const struct fulcrum_item *complete = fulcrum_result_find(result, "complete");
    if (complete != NULL && complete->cell.number == 0.0) {
        fulcrum_result_text(
            result, "footnote", NULL, "The fit was interrupted: not all was computed.");
    }
}

enum fulcrum_status fulcrum_plot_fit_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    (void)job;
    struct fulcrum_table *parameters = fulcrum_plot_table(result, "parameters");
    struct fulcrum_table *figures = fulcrum_plot_table(result, "figures");
    bool is_by_slopes = false;
    for (size_t i = 0; i < fulcrum_table_rows(parameters); i++) {
        TRY(add_parameter(parameters, i, &is_by_slopes, err));
    }
    for (size_t i = 0; i < fulcrum_table_rows(figures); i++) {
        TRY(add_figure(figures, i, err));
    }
    add_fit_words(result, parameters, fulcrum_table_rows(figures), is_by_slopes);
    return FULCRUM_OK;
}

/* --- Sensitivities --- */

/* Numbers of a row of the file, in this order. */
enum cell {
    FIELD_LO,
    FIELD_HI,
    FIRST,
    FIRST_ERROR,
    TOTAL,
    TOTAL_ERROR,
    SWING_LO,
    SWING_HI,
    VALUE,
    METRIC_LO,
    METRIC_HI,
    INTERACTION,
    CELLS
};

static const char *const cell_columns[CELLS + 1] = {"field_lo", "field_hi",
    "first_frac", "first_error", "total_frac", "total_error", "swing_lo", "swing_hi",
    "metric_value", "metric_lo", "metric_hi", "interaction_frac"};

/* Rows of one metric, which follow each other. */
struct metric {
    size_t end;
    double longest; /* of its bars */
    const char *name;
    const char *unit;
    const char *shown; /* the unit where it takes prefixes; else NULL */
};

/* From the least to the most of the value and both ends, which may not be known. */
static struct fulcrum_interval reach_of(const double cells[CELLS])
{
    double value = cells[VALUE];
    return (struct fulcrum_interval){
        fmin(fmin(cells[SWING_LO], cells[SWING_HI]), value),
        fmax(fmax(cells[SWING_LO], cells[SWING_HI]), value)};
}

/* Units that take prefixes: s, W, J, Hz, byte; NULL for rates, shares and counts. */
static const char *shown_unit(const char *unit)
{
    return unit[0] != '\0' && strpbrk(unit, "/1 ") == NULL ? unit : NULL;
}

static enum fulcrum_status read_metric(const struct fulcrum_table *table, size_t first,
    struct metric *out, struct fulcrum_error *err)
{
    *out = (struct metric){.end = first,
        .name = fulcrum_plot_text(table, first, "metric"),
        .unit = fulcrum_plot_text(table, first, "unit"),
        .shown = shown_unit(fulcrum_plot_text(table, first, "unit"))};
    do {
        double cells[CELLS] = {0.0};
        TRY(read_numbers(table, out->end, cell_columns, cells, err));
        FAIL_IF(!isfinite(cells[VALUE]), err, FULCRUM_ERR_RANGE,
            "%s: its value is not known: bars have nowhere to start", out->name);
        struct fulcrum_interval reach = reach_of(cells);
        out->longest = fmax(out->longest, reach.hi - reach.lo);
        out->end++;
    } while (out->end < fulcrum_table_rows(table) &&
             strcmp(fulcrum_plot_text(table, out->end, "metric"), out->name) == 0);
    return FULCRUM_OK;
}

/* What is the same for all rows of a metric. */
static void add_headline(
    struct fulcrum_table *table, const struct metric *metric, const double cells[CELLS])
{
    char text[2 * TEXT_SIZE];
    char lo[NUMBER_SIZE];
    char hi[NUMBER_SIZE];
    (void)snprintf(text, sizeof text, "%s%s%s", metric->name,
        metric->unit[0] != '\0' ? ", " : "", metric->unit);
    fulcrum_table_text(table, "panel", NULL, text);
    fulcrum_table_text(
        table, "axis_unit", NULL, metric->shown != NULL ? metric->shown : "");
    fulcrum_si_text(lo, sizeof lo, cells[METRIC_LO], 3, metric->shown);
    fulcrum_si_text(hi, sizeof hi, cells[METRIC_HI], 3, metric->shown);
    int used = snprintf(
        text, sizeof text, "90 %% between %s and %s with all fields at once", lo, hi);
    if (isfinite(cells[INTERACTION])) {
        (void)snprintf(text + used, sizeof text - (size_t)used,
            "; interactions %.0f %% of the variance",
            100.0 * fmax(0.0, cells[INTERACTION]));
    }
    fulcrum_table_text(table, "headline", NULL, text);
}

/* "0.57 ms to 3.94 ms"; "" of several numbers. */
static void add_reach(
    struct fulcrum_table *table, size_t row, const double cells[CELLS])
{
    char text[TEXT_SIZE] = "";
    if (isfinite(cells[FIELD_LO]) && isfinite(cells[FIELD_HI])) {
        const char *unit = fulcrum_plot_text(table, row, "field_unit");
        char lo[NUMBER_SIZE];
        char hi[NUMBER_SIZE];
        fulcrum_si_text(lo, sizeof lo, cells[FIELD_LO], 3, shown_unit(unit));
        fulcrum_si_text(hi, sizeof hi, cells[FIELD_HI], 3, shown_unit(unit));
        (void)snprintf(text, sizeof text, "%s to %s", lo, hi);
    }
    fulcrum_table_text(table, "reach", NULL, text);
}

/* Three digits for bars as long as the value, one more for each power of ten below
 * that.
 */
static int digits_for(double value, double longest)
{
    bool is_known = fabs(value) > 0.0 && longest > 0.0;
    double extra = is_known ? log10(fabs(value) / longest) : 0.0;
    return (int)fmin(3.0 + ceil(fmax(0.0, extra)), 6.0);
}

/* What the metric is at an end of its bars, where that is not next to its value. */
static void add_end(struct fulcrum_table *table, const char *key,
    const struct metric *metric, double end, double value)
{
    char text[NUMBER_SIZE] = "";
    if (fabs(end - value) > 2e-3 * metric->longest) {
        fulcrum_si_text(
            text, sizeof text, end, digits_for(value, metric->longest), metric->shown);
    }
    fulcrum_table_text(table, key, NULL, text);
}

static void add_bars(
    struct fulcrum_table *table, const struct metric *metric, const double cells[CELLS])
{
    static const struct {
        enum cell end;
        const char *whole;
        const char *half;
    } bars[] = {{SWING_LO, "low", "low_half"}, {SWING_HI, "high", "high_half"}};
    const struct fulcrum_interval none = {(double)NAN, (double)NAN};
    double value = cells[VALUE];
    struct fulcrum_interval reach = reach_of(cells);
    bool is_one_sided = (cells[SWING_LO] - value) * (cells[SWING_HI] - value) > 0.0;
    for (size_t k = 0; k < 2; k++) {
        double end = cells[bars[k].end];
        struct fulcrum_interval bar = {fmin(end, value), fmax(end, value)};
        bar = isfinite(end) ? bar : none;
        add_span(table, bars[k].whole, is_one_sided ? none : bar);
        add_span(table, bars[k].half, is_one_sided ? bar : none);
    }
    add_end(table, "least", metric, reach.lo, value);
    add_end(table, "most", metric, reach.hi, value);
    /* Longest bars first; neither a bar nor a share that could be seen: only counted.
     */
    double effect = reach.hi - reach.lo;
    double total = isnan(cells[TOTAL]) ? 0.0 : cells[TOTAL];
    bool is_small = effect < 2e-3 * metric->longest && cells[TOTAL] < 1.5e-3;
    double size = metric->longest > 0.0 ? effect / metric->longest : 0.0;
    fulcrum_table_number(
        table, "rank", NULL, is_small ? (double)NAN : -size - 1e-9 * total);
}

static void add_shares(struct fulcrum_table *table, const double cells[CELLS])
{
    const struct fulcrum_interval none = {(double)NAN, (double)NAN};
    char text[TEXT_SIZE] = "not told";
    bool is_known = isfinite(cells[FIRST]) && isfinite(cells[TOTAL]);
    struct fulcrum_interval error = {fmax(0.0, cells[TOTAL] - cells[TOTAL_ERROR]),
        fmin(1.0, cells[TOTAL] + cells[TOTAL_ERROR])};
    if (is_known) {
        (void)snprintf(text, sizeof text, "%.2f   %.2f", fmax(0.0, cells[FIRST]),
            fmax(0.0, cells[TOTAL]));
    }
    fulcrum_table_text(table, "shares", NULL, text);
    add_span(table, "total_share",
        is_known ? (struct fulcrum_interval){0.0, fmax(0.0, cells[TOTAL])} : none);
    add_span(table, "first_share",
        is_known ? (struct fulcrum_interval){0.0, fmax(0.0, cells[FIRST])} : none);
    add_span(table, "total_bar", is_known && cells[TOTAL_ERROR] > 0.0 ? error : none);
}

static void add_tornado_words(
    struct fulcrum_result *result, const struct fulcrum_table *table)
{
    static const char *const keys[] = {
        "workload", "machine", "calibration", "actors_rule", "compared_to"};
    const char *texts[5];
    for (size_t i = 0; i < 5; i++) {
        texts[i] = fulcrum_plot_text_of(result, table, keys[i]);
    }
    if (texts[1][0] != '\0') {
        fulcrum_result_print(result, "subtitle", NULL,
            "%s on %s; calibration %s; actors %s%s%s", texts[0], texts[1], texts[2],
            texts[3], texts[4][0] != '\0' ? "; compared to " : "", texts[4]);
    }
}

enum fulcrum_status fulcrum_plot_tornado_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    (void)job;
    struct fulcrum_table *table = fulcrum_plot_table(result, "rows");
    size_t metrics = 0;
    for (size_t i = 0; i < fulcrum_table_rows(table);) {
        struct metric metric;
        FAIL_IF(metrics++ == FULCRUM_BAR_GROUPS_MAX, err, FULCRUM_ERR_RANGE,
            "more than %d metrics: expected fewer, by --metric of 'fulcrum "
            "sensitivity'",
            (int)FULCRUM_BAR_GROUPS_MAX);
        TRY(read_metric(table, i, &metric, err));
        for (; i < metric.end; i++) {
            double cells[CELLS] = {0.0};
            TRY(read_numbers(table, i, cell_columns, cells, err));
            fulcrum_table_return(table, i);
            add_headline(table, &metric, cells);
            add_reach(table, i, cells);
            add_bars(table, &metric, cells);
            add_shares(table, cells);
        }
    }
    add_tornado_words(result, table);
    return FULCRUM_OK;
}
