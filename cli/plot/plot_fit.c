/* plot_fit.c - what charts of fits and sensitivities need beside the columns of a file.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "cli/plot/plot_job.h"
#include "model/design/design.h"
#include "model/interval.h"
#include "model/quantity.h"
#include "model/try.h"
#include "plots/chart/axis.h"
#include "plots/spec/charts.h"

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;
/* Sorts behind all that is known. */
static const double last_rank = 1e300;

static void add_span(struct fulcrum_table *table, const char *key, double lo, double hi)
{
    fulcrum_table_estimate(table, key, NULL, (double)NAN, lo, hi);
}

/* --- Fits --- */

/* "20 us": a number of up to `digits`, with the unit where it takes prefixes. */
struct number_text {
    char chars[32];
};

static struct number_text si(double value, int digits, const char *unit)
{
    struct number_text text;
    fulcrum_si_text(text.chars, sizeof text.chars, value, digits, unit);
    return text;
}

/* On the scale where the error of a parameter is taken to be normal. */
static double on_scale(enum fulcrum_scale scale, double value)
{
    bool is_inside = scale == FULCRUM_SCALE_LINEAR ||
                     (value > 0.0 && (scale == FULCRUM_SCALE_LOG || value < 1.0));
    return is_inside ? fulcrum_fit_to_scale(scale, value) : FULCRUM_UNKNOWN;
}

/*
 * In prior standard deviations. Without draws a fit knows the spread around its best
 * values alone. Words are what it means, or its path, and "20 us: 44 us (28 us to
 * 66 us)".
 */
static enum fulcrum_status add_parameter(
    struct fulcrum_table *table, size_t row, struct fulcrum_error *err)
{
    const char *scale_name = fulcrum_plot_text(table, row, "scale");
    const char *path = fulcrum_plot_text(table, row, "path");
    const struct fulcrum_field *field = fulcrum_field_find(path);
    const char *unit = field != NULL && field->unit[0] != '\0' ? field->unit : NULL;
    double prior = fulcrum_plot_number(table, row, "prior");
    double prior_sd = fulcrum_plot_number(table, row, "prior_sd");
    double fitted = fulcrum_plot_number(table, row, "fitted");
    double low = fulcrum_plot_number(table, row, "posterior_low");
    double high = fulcrum_plot_number(table, row, "posterior_high");
    double sd = fulcrum_plot_number(table, row, "posterior_sd_frac");
    bool is_identified = fulcrum_plot_says(table, row, "verdict", "identified");
    enum fulcrum_scale scale = FULCRUM_SCALE_LINEAR;
    while (fulcrum_scale_name(scale) != NULL &&
           strcmp(fulcrum_scale_name(scale), scale_name) != 0) {
        scale++;
    }
    FAIL_IF(fulcrum_scale_name(scale) == NULL, err, FULCRUM_ERR_FORMAT,
        "parameters[%zu].scale = '%s': expected linear, log or logit", row, scale_name);
    FAIL_IF(!(prior_sd > 0.0), err, FULCRUM_ERR_RANGE,
        "parameters[%zu].prior_sd = %g: expected a number above 0", row, prior_sd);
    double centre = on_scale(scale, prior);
    double best = (on_scale(scale, fitted) - centre) / prior_sd;
    double lo = (on_scale(scale, low) - centre) / prior_sd;
    double hi = (on_scale(scale, high) - centre) / prior_sd;
    if (isnan(low) || isnan(high)) {
        lo = best - normal_90 * sd;
        hi = best + normal_90 * sd;
    }
    fulcrum_table_return(table, row);
    fulcrum_table_text(
        table, "shown_name", NULL, field != NULL ? field->meaning : path);
    if (isfinite(low)) {
        fulcrum_plot_print(table, "shown_text", "%s \xe2\x86\x92 %s (%s to %s)",
            si(prior, 2, unit).chars, si(fitted, 2, unit).chars, si(low, 2, unit).chars,
            si(high, 2, unit).chars);
    } else {
        fulcrum_plot_print(table, "shown_text", "%s \xe2\x86\x92 %s",
            si(prior, 2, unit).chars, si(fitted, 2, unit).chars);
    }
    add_span(table, "prior_z", -normal_90, normal_90);
    add_span(table, is_identified ? "posterior_z" : "open_z", lo, hi);
    fulcrum_table_number(table, "fitted_z", NULL, best);
    /* What the data say most of is first. */
    fulcrum_table_number(table, "rank", NULL, isnan(sd) ? last_rank : sd);
    return FULCRUM_OK;
}

/* Relative to what was observed; words are "5.8: fitted 5.81, from others 6.1". */
static enum fulcrum_status add_figure(
    struct fulcrum_table *table, size_t row, struct fulcrum_error *err)
{
    double unit = fulcrum_plot_number(table, row, "observed");
    double sd = fulcrum_plot_number(table, row, "sd");
    double prior_low = fulcrum_plot_number(table, row, "prior_low");
    double prior_high = fulcrum_plot_number(table, row, "prior_high");
    double others = fulcrum_plot_number(table, row, "held_out_mean");
    double others_sd = fulcrum_plot_number(table, row, "held_out_sd");
    double mean = fulcrum_plot_number(table, row, "posterior_mean");
    double mean_sd = fulcrum_plot_number(table, row, "posterior_sd");
    double best = fulcrum_plot_number(table, row, "simulated");
    FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
        "figures[%zu].observed = %g: expected a number above 0", row, unit);
    /* What the parameters themselves give; simulations of it are closest to the model.
     */
    best = isnan(best) ? fulcrum_plot_number(table, row, "fitted") : best;
    fulcrum_table_return(table, row);
    /* A figure without a deviation was predicted alone. */
    fulcrum_plot_print(table, "shown_name", "%s, point %.0f: %s%s",
        fulcrum_plot_text(table, row, "reference"),
        fulcrum_plot_number(table, row, "point"),
        fulcrum_plot_text(table, row, "quantity"), isnan(sd) ? ", held out" : "");
    fulcrum_plot_print(table, "shown_text", "%s: fitted %s%s%s",
        si(unit, 3, NULL).chars, si(best, 3, NULL).chars,
        isnan(others) ? "" : ", from others ",
        isnan(others) ? "" : si(others, 3, NULL).chars);
    add_span(table, "prior_rel", prior_low / unit, prior_high / unit);
    add_span(table, "others_rel", (others - normal_90 * others_sd) / unit,
        (others + normal_90 * others_sd) / unit);
    add_span(table, "posterior_rel", (mean - normal_90 * mean_sd) / unit,
        (mean + normal_90 * mean_sd) / unit);
    add_span(table, "observed_rel", 1.0 - sd / unit, 1.0 + sd / unit);
    fulcrum_table_number(table, "fitted_rel", NULL, best / unit);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_fit_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *parameters = fulcrum_chart_table(result, "parameters");
    struct fulcrum_table *figures = fulcrum_chart_table(result, "figures");
    size_t count = fulcrum_table_rows(parameters);
    size_t identified = 0;
    bool is_by_slopes = false;
    (void)job;
    for (size_t i = 0; i < count; i++) {
        TRY(add_parameter(parameters, i, err));
        bool is_identified = fulcrum_plot_says(parameters, i, "verdict", "identified");
        const char *span = is_identified ? "posterior_z" : "open_z";
        identified += is_identified ? 1 : 0;
        is_by_slopes |= isnan(fulcrum_plot_number(parameters, i, "posterior_low")) &&
                        isfinite(fulcrum_table_at(parameters, i, span).lo);
    }
    for (size_t i = 0; i < fulcrum_table_rows(figures); i++) {
        TRY(add_figure(figures, i, err));
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_return(parameters, i);
        fulcrum_plot_print(parameters, "headline",
            "%zu of %zu told apart from their priors", identified, count);
    }
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
    double interaction = fulcrum_plot_number(table, row, "interaction_frac");
    double lo = fulcrum_plot_number(table, row, "metric_lo");
    double hi = fulcrum_plot_number(table, row, "metric_hi");
    double least = fulcrum_plot_number(table, row, "field_lo");
    double most = fulcrum_plot_number(table, row, "field_hi");
    const char *unit = shown_unit(fulcrum_plot_text(table, row, "field_unit"));
    char interactions[80] = "";
    if (isfinite(interaction)) {
        (void)snprintf(interactions, sizeof interactions,
            "; interactions %.0f %% of the variance", 100.0 * fmax(0.0, interaction));
    }
    fulcrum_plot_print(table, "panel", "%s%s%s", metric->name,
        metric->unit[0] != '\0' ? ", " : "", metric->unit);
    fulcrum_table_text(
        table, "axis_unit", NULL, metric->shown != NULL ? metric->shown : "");
    fulcrum_plot_print(table, "headline",
        "90 %% between %s and %s with all fields at once%s",
        si(lo, 3, metric->shown).chars, si(hi, 3, metric->shown).chars, interactions);
    if (isfinite(least) && isfinite(most)) {
        fulcrum_plot_print(table, "reach", "%s to %s", si(least, 3, unit).chars,
            si(most, 3, unit).chars);
    } else {
        fulcrum_table_text(table, "reach", NULL, "");
    }
}

/* What the metric is at an end of its bars, where that is not next to its value: three
 * digits for bars as long as the value, one more for each power of ten below that. */
static void add_end(struct fulcrum_table *table, const char *key,
    const struct metric *metric, double end, double value)
{
    bool is_known = fabs(value) > 0.0 && metric->longest > 0.0;
    double extra = is_known ? log10(fabs(value) / metric->longest) : 0.0;
    int digits = (int)fmin(3.0 + ceil(fmax(0.0, extra)), 6.0);
    bool is_told = fabs(end - value) > 2e-3 * metric->longest;
    fulcrum_table_text(
        table, key, NULL, is_told ? si(end, digits, metric->shown).chars : "");
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
    struct fulcrum_table *table = fulcrum_chart_table(result, "rows");
    size_t metrics = 0;
    (void)job;
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
    return FULCRUM_OK;
}
