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

enum { NUMBER_SIZE = 32 };

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;
/* Sorts behind all that is known. */
static const double last_rank = 1e300;

static void add_span(struct fulcrum_table *table, const char *key, double lo, double hi)
{
    fulcrum_table_estimate(table, key, NULL, (double)NAN, lo, hi);
}

/* Whether the data say more of a parameter than its prior. */
static bool is_identified(const struct fulcrum_table *parameters, size_t row)
{
    return fulcrum_plot_says(parameters, row, "verdict", "identified");
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

/* What it means in words, or its path, and "20 us: 44 us (28 us to 66 us)". */
static void add_parameter_words(struct fulcrum_table *table, size_t row)
{
    static const char *const keys[] = {
        "prior", "fitted", "posterior_low", "posterior_high"};
    const char *path = fulcrum_plot_text(table, row, "path");
    const struct fulcrum_field *field = fulcrum_field_find(path);
    const char *unit = field != NULL && field->unit[0] != '\0' ? field->unit : NULL;
    char texts[4][NUMBER_SIZE];
    for (size_t i = 0; i < 4; i++) {
        fulcrum_si_text(texts[i], sizeof texts[i],
            fulcrum_plot_number(table, row, keys[i]), 2, unit);
    }
    bool has_span = isfinite(fulcrum_plot_number(table, row, "posterior_low"));
    fulcrum_table_text(
        table, "shown_name", NULL, field != NULL ? field->meaning : path);
    fulcrum_plot_print(table, "shown_text", "%s \xe2\x86\x92 %s%s%s%s%s%s", texts[0],
        texts[1], has_span ? " (" : "", has_span ? texts[2] : "",
        has_span ? " to " : "", has_span ? texts[3] : "", has_span ? ")" : "");
}

/* In prior standard deviations. Without draws a fit knows the spread around its best
 * values alone. */
static enum fulcrum_status add_parameter(struct fulcrum_table *table, size_t row,
    bool *is_by_slopes, struct fulcrum_error *err)
{
    enum fulcrum_scale scale = FULCRUM_SCALE_LINEAR;
    double unit = fulcrum_plot_number(table, row, "prior_sd");
    double sd = fulcrum_plot_number(table, row, "posterior_sd_frac");
    double low = fulcrum_plot_number(table, row, "posterior_low");
    double high = fulcrum_plot_number(table, row, "posterior_high");
    TRY(read_scale(table, row, &scale, err));
    FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
        "parameters[%zu].prior_sd = %g: expected a number above 0", row, unit);
    double centre = on_scale(scale, fulcrum_plot_number(table, row, "prior"));
    double fitted =
        (on_scale(scale, fulcrum_plot_number(table, row, "fitted")) - centre) / unit;
    bool has_span = !isnan(low) && !isnan(high);
    double lo =
        has_span ? (on_scale(scale, low) - centre) / unit : fitted - normal_90 * sd;
    double hi =
        has_span ? (on_scale(scale, high) - centre) / unit : fitted + normal_90 * sd;
    *is_by_slopes = *is_by_slopes || (isnan(low) && isfinite(lo));
    fulcrum_table_return(table, row);
    add_parameter_words(table, row);
    add_span(table, "prior_z", -normal_90, normal_90);
    add_span(table, is_identified(table, row) ? "posterior_z" : "open_z", lo, hi);
    fulcrum_table_number(table, "fitted_z", NULL, fitted);
    /* What the data say most of is first. */
    fulcrum_table_number(table, "rank", NULL, isnan(sd) ? last_rank : sd);
    return FULCRUM_OK;
}

/* "5.8: fitted 5.81, from others 6.1". */
static void add_figure_words(
    struct fulcrum_table *table, size_t row, const double numbers[3])
{
    char texts[3][NUMBER_SIZE];
    bool is_held_out = isnan(fulcrum_plot_number(table, row, "sd"));
    for (size_t k = 0; k < 3; k++) {
        fulcrum_si_text(texts[k], sizeof texts[k], numbers[k], 3, NULL);
    }
    /* A figure without a deviation was predicted alone. */
    fulcrum_plot_print(table, "shown_name", "%s, point %.0f: %s%s",
        fulcrum_plot_text(table, row, "reference"),
        fulcrum_plot_number(table, row, "point"),
        fulcrum_plot_text(table, row, "quantity"), is_held_out ? ", held out" : "");
    fulcrum_plot_print(table, "shown_text", "%s: fitted %s%s%s", texts[0], texts[1],
        isnan(numbers[2]) ? "" : ", from others ", isnan(numbers[2]) ? "" : texts[2]);
}

/* Relative to what was observed. */
static enum fulcrum_status add_figure(
    struct fulcrum_table *table, size_t row, struct fulcrum_error *err)
{
    double unit = fulcrum_plot_number(table, row, "observed");
    FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
        "figures[%zu].observed = %g: expected a number above 0", row, unit);
    double sd = fulcrum_plot_number(table, row, "sd") / unit;
    double others = fulcrum_plot_number(table, row, "held_out_mean");
    double mean = fulcrum_plot_number(table, row, "posterior_mean") / unit;
    double mean_half =
        normal_90 * fulcrum_plot_number(table, row, "posterior_sd") / unit;
    double others_half =
        normal_90 * fulcrum_plot_number(table, row, "held_out_sd") / unit;
    double best = fulcrum_plot_number(table, row, "simulated");
    /* What the parameters themselves give; simulations of it are closest to the model.
     */
    best = isnan(best) ? fulcrum_plot_number(table, row, "fitted") : best;
    fulcrum_table_return(table, row);
    add_figure_words(table, row, (double[]){unit, best, others});
    add_span(table, "prior_rel", fulcrum_plot_number(table, row, "prior_low") / unit,
        fulcrum_plot_number(table, row, "prior_high") / unit);
    add_span(
        table, "others_rel", others / unit - others_half, others / unit + others_half);
    add_span(table, "posterior_rel", mean - mean_half, mean + mean_half);
    add_span(table, "observed_rel", 1.0 - sd, 1.0 + sd);
    fulcrum_table_number(table, "fitted_rel", NULL, best / unit);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_fit_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const parameter_columns[] = {"prior", "prior_sd", "fitted",
        "posterior_low", "posterior_high", "posterior_sd_frac", NULL};
    static const char *const figure_columns[] = {"observed", "sd", "prior_low",
        "prior_high", "fitted", "simulated", "posterior_mean", "posterior_sd",
        "held_out_mean", "held_out_sd", NULL};
    struct fulcrum_table *parameters = fulcrum_chart_table(result, "parameters");
    struct fulcrum_table *figures = fulcrum_chart_table(result, "figures");
    size_t count = fulcrum_table_rows(parameters);
    size_t identified = 0;
    bool is_by_slopes = false;
    (void)job;
    TRY(fulcrum_plot_check_numbers(parameters, parameter_columns, err));
    TRY(fulcrum_plot_check_numbers(figures, figure_columns, err));
    for (size_t i = 0; i < count; i++) {
        TRY(add_parameter(parameters, i, &is_by_slopes, err));
        identified += is_identified(parameters, i) ? 1 : 0;
    }
    for (size_t i = 0; i < fulcrum_table_rows(figures); i++) {
        TRY(add_figure(figures, i, err));
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_return(parameters, i);
        fulcrum_plot_print(parameters, "headline",
            "%zu of %zu told apart from their priors", identified, count);
    }
    fulcrum_result_text(result, "title", NULL, "Priors, and what a fit left of them");
    fulcrum_result_print(result, "subtitle", NULL,
        "%zu parameters, %zu figures; right: prior and best fit%s", count,
        fulcrum_table_rows(figures),
        is_by_slopes ? "; no draws: spread from the slopes at the best fit"
                     : ", 90 % of the posterior in brackets");
    /* Ctrl-C leaves the best values without all that was to be said of them. */
    if (fulcrum_result_number_of(result, "complete") == 0.0) {
        fulcrum_result_text(
            result, "footnote", NULL, "The fit was interrupted: not all was computed.");
    }
    return FULCRUM_OK;
}

/* --- Sensitivities --- */

/* Rows of one metric, which follow each other. */
struct metric {
    size_t end;
    double longest; /* of its bars */
    const char *name;
    const char *unit;
    const char *shown; /* the unit where it takes prefixes; else NULL */
};

/* Units that take prefixes: s, W, J, Hz, byte; NULL for rates, shares and counts. */
static const char *shown_unit(const char *unit)
{
    return unit[0] != '\0' && strpbrk(unit, "/1 ") == NULL ? unit : NULL;
}

/* From the least to the most of the value and both ends, which may not be known. */
static struct fulcrum_interval reach_of(const struct fulcrum_table *table, size_t row)
{
    double value = fulcrum_plot_number(table, row, "metric_value");
    double lo = fulcrum_plot_number(table, row, "swing_lo");
    double hi = fulcrum_plot_number(table, row, "swing_hi");
    return (struct fulcrum_interval){
        fmin(fmin(lo, hi), value), fmax(fmax(lo, hi), value)};
}

static enum fulcrum_status read_metric(const struct fulcrum_table *table, size_t first,
    struct metric *out, struct fulcrum_error *err)
{
    *out = (struct metric){.end = first,
        .name = fulcrum_plot_text(table, first, "metric"),
        .unit = fulcrum_plot_text(table, first, "unit"),
        .shown = shown_unit(fulcrum_plot_text(table, first, "unit"))};
    do {
        FAIL_IF(!isfinite(fulcrum_plot_number(table, out->end, "metric_value")), err,
            FULCRUM_ERR_RANGE, "%s: its value is not known: bars have nowhere to start",
            out->name);
        struct fulcrum_interval reach = reach_of(table, out->end);
        out->longest = fmax(out->longest, reach.hi - reach.lo);
        out->end++;
    } while (out->end < fulcrum_table_rows(table) &&
             fulcrum_plot_says(table, out->end, "metric", out->name));
    return FULCRUM_OK;
}

/* What is the same for all rows of a metric, and "0.57 ms to 3.94 ms" of a field; ""
 * of several numbers. */
static void add_metric_words(
    struct fulcrum_table *table, const struct metric *metric, size_t row)
{
    char lo[NUMBER_SIZE];
    char hi[NUMBER_SIZE];
    char interactions[80] = "";
    double interaction = fulcrum_plot_number(table, row, "interaction_frac");
    fulcrum_plot_print(table, "panel", "%s%s%s", metric->name,
        metric->unit[0] != '\0' ? ", " : "", metric->unit);
    fulcrum_table_text(
        table, "axis_unit", NULL, metric->shown != NULL ? metric->shown : "");
    fulcrum_si_text(
        lo, sizeof lo, fulcrum_plot_number(table, row, "metric_lo"), 3, metric->shown);
    fulcrum_si_text(
        hi, sizeof hi, fulcrum_plot_number(table, row, "metric_hi"), 3, metric->shown);
    if (isfinite(interaction)) {
        (void)snprintf(interactions, sizeof interactions,
            "; interactions %.0f %% of the variance", 100.0 * fmax(0.0, interaction));
    }
    fulcrum_plot_print(table, "headline",
        "90 %% between %s and %s with all fields at once%s", lo, hi, interactions);
    double least = fulcrum_plot_number(table, row, "field_lo");
    double most = fulcrum_plot_number(table, row, "field_hi");
    bool is_known = isfinite(least) && isfinite(most);
    const char *unit = shown_unit(fulcrum_plot_text(table, row, "field_unit"));
    fulcrum_si_text(lo, sizeof lo, least, 3, unit);
    fulcrum_si_text(hi, sizeof hi, most, 3, unit);
    fulcrum_plot_print(table, "reach", "%s%s%s", is_known ? lo : "",
        is_known ? " to " : "", is_known ? hi : "");
}

/* What the metric is at an end of its bars, where that is not next to its value: three
 * digits for bars as long as the value, one more for each power of ten below that. */
static void add_end(struct fulcrum_table *table, const char *key,
    const struct metric *metric, double end, double value)
{
    char text[NUMBER_SIZE] = "";
    bool is_known = fabs(value) > 0.0 && metric->longest > 0.0;
    double extra = is_known ? log10(fabs(value) / metric->longest) : 0.0;
    int digits = (int)fmin(3.0 + ceil(fmax(0.0, extra)), 6.0);
    if (fabs(end - value) > 2e-3 * metric->longest) {
        fulcrum_si_text(text, sizeof text, end, digits, metric->shown);
    }
    fulcrum_table_text(table, key, NULL, text);
}

static void add_bars(
    struct fulcrum_table *table, const struct metric *metric, size_t row)
{
    static const struct {
        const char *end;
        const char *whole;
        const char *half;
    } bars[] = {{"swing_lo", "low", "low_half"}, {"swing_hi", "high", "high_half"}};
    double value = fulcrum_plot_number(table, row, "metric_value");
    double total = fulcrum_plot_number(table, row, "total_frac");
    struct fulcrum_interval reach = reach_of(table, row);
    bool is_one_sided = (fulcrum_plot_number(table, row, "swing_lo") - value) *
                            (fulcrum_plot_number(table, row, "swing_hi") - value) >
                        0.0;
    for (size_t k = 0; k < 2; k++) {
        double end = fulcrum_plot_number(table, row, bars[k].end);
        if (isfinite(end)) {
            add_span(table, is_one_sided ? bars[k].half : bars[k].whole,
                fmin(end, value), fmax(end, value));
        }
    }
    add_end(table, "least", metric, reach.lo, value);
    add_end(table, "most", metric, reach.hi, value);
    /* Longest bars first; neither a bar nor a share that could be seen: only counted.
     */
    double effect = reach.hi - reach.lo;
    double size = metric->longest > 0.0 ? effect / metric->longest : 0.0;
    bool is_small = effect < 2e-3 * metric->longest && total < 1.5e-3;
    fulcrum_table_number(table, "rank", NULL,
        is_small ? (double)NAN : -size - 1e-9 * (isnan(total) ? 0.0 : total));
}

static void add_variance_shares(struct fulcrum_table *table, size_t row)
{
    double first = fulcrum_plot_number(table, row, "first_frac");
    double total = fulcrum_plot_number(table, row, "total_frac");
    double error = fulcrum_plot_number(table, row, "total_error");
    if (!isfinite(first) || !isfinite(total)) {
        fulcrum_table_text(table, "shares", NULL, "not told");
        return;
    }
    fulcrum_plot_print(
        table, "shares", "%.2f   %.2f", fmax(0.0, first), fmax(0.0, total));
    add_span(table, "total_share", 0.0, fmax(0.0, total));
    add_span(table, "first_share", 0.0, fmax(0.0, first));
    if (error > 0.0) {
        add_span(
            table, "total_bar", fmax(0.0, total - error), fmin(1.0, total + error));
    }
}

enum fulcrum_status fulcrum_plot_tornado_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const numbers[] = {"field_lo", "field_hi", "first_frac",
        "first_error", "total_frac", "total_error", "swing_lo", "swing_hi",
        "metric_value", "metric_lo", "metric_hi", "interaction_frac", NULL};
    static const char *const keys[] = {
        "workload", "machine", "calibration", "actors_rule", "compared_to"};
    const char *texts[5];
    struct fulcrum_table *table = fulcrum_chart_table(result, "rows");
    size_t metrics = 0;
    (void)job;
    TRY(fulcrum_plot_check_numbers(table, numbers, err));
    for (size_t i = 0; i < fulcrum_table_rows(table);) {
        struct metric metric;
        FAIL_IF(metrics++ == FULCRUM_BAR_GROUPS_MAX, err, FULCRUM_ERR_RANGE,
            "more than %d metrics: expected fewer, by --metric of 'fulcrum "
            "sensitivity'",
            (int)FULCRUM_BAR_GROUPS_MAX);
        TRY(read_metric(table, i, &metric, err));
        for (; i < metric.end; i++) {
            fulcrum_table_return(table, i);
            add_metric_words(table, &metric, i);
            add_bars(table, &metric, i);
            add_variance_shares(table, i);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        texts[i] = fulcrum_plot_text_of(result, table, keys[i]);
    }
    if (texts[1][0] != '\0') {
        fulcrum_result_print(result, "subtitle", NULL,
            "%s on %s; calibration %s; actors %s%s%s", texts[0], texts[1], texts[2],
            texts[3], texts[4][0] != '\0' ? "; compared to " : "", texts[4]);
    }
    return FULCRUM_OK;
}
