/* plot_fit.c - chart data from the parameters and figures of a fit. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/design/design.h"
#include "model/try.h"
#include "plots/chart/axis.h"

enum { TEXT_SIZE = 120, NUMBER_SIZE = 24 };

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;

struct plot_fit {
    size_t row_count;
    struct fulcrum_posterior_row *rows;
    double *sd_frac; /* of the posterior over the prior, in the order of rows */
    char (*texts)[TEXT_SIZE]; /* of rows, then of figures */
    char (*names)[TEXT_SIZE];
    size_t figure_count;
    struct fulcrum_posterior_figure *figures;
    bool is_by_slopes; /* some spread is not from draws */
    char subtitle[160];
};

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

static enum fulcrum_status read_scale(const struct fulcrum_plot_rows *rows, size_t row,
    enum fulcrum_scale *out, struct fulcrum_error *err)
{
    char name[32];
    fulcrum_plot_rows_text(rows, row, "scale", name, sizeof name);
    for (int i = 0; fulcrum_scale_name((enum fulcrum_scale)i) != NULL; i++) {
        if (strcmp(fulcrum_scale_name((enum fulcrum_scale)i), name) == 0) {
            *out = (enum fulcrum_scale)i;
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "parameters[%zu].scale = '%s': expected linear, log or logit", row, name);
}

/* What a parameter means, in words; its path where nothing is known of it. */
static void name_parameter(
    const struct fulcrum_plot_rows *rows, size_t row, char out[TEXT_SIZE])
{
    char path[64];
    fulcrum_plot_rows_text(rows, row, "path", path, sizeof path);
    const struct fulcrum_field *field = fulcrum_field_find(path);
    (void)snprintf(out, TEXT_SIZE, "%s", field != NULL ? field->meaning : path);
}

static const char *unit_of(const struct fulcrum_plot_rows *rows, size_t row)
{
    char path[64];
    fulcrum_plot_rows_text(rows, row, "path", path, sizeof path);
    const struct fulcrum_field *field = fulcrum_field_find(path);
    return field != NULL && field->unit[0] != '\0' ? field->unit : NULL;
}

/* A parameter in natural units. */
struct parameter {
    double prior;
    double prior_sd;
    double fitted;
    double low;
    double high;
    double sd_frac;
};

/* "20 us: 44 us (28 us to 66 us)". */
static void write_parameter(
    const struct parameter *parameter, const char *unit, char out[TEXT_SIZE])
{
    char prior[NUMBER_SIZE];
    char fitted[NUMBER_SIZE];
    char low[NUMBER_SIZE];
    char high[NUMBER_SIZE];
    fulcrum_si_text(prior, sizeof prior, parameter->prior, 2, unit);
    fulcrum_si_text(fitted, sizeof fitted, parameter->fitted, 2, unit);
    fulcrum_si_text(low, sizeof low, parameter->low, 2, unit);
    fulcrum_si_text(high, sizeof high, parameter->high, 2, unit);
    if (isfinite(parameter->low)) {
        (void)snprintf(
            out, TEXT_SIZE, "%s \xe2\x86\x92 %s (%s to %s)", prior, fitted, low, high);
    } else {
        (void)snprintf(out, TEXT_SIZE, "%s \xe2\x86\x92 %s", prior, fitted);
    }
}

static enum fulcrum_status read_parameter(struct plot_fit *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct parameter parameter;
    enum fulcrum_scale scale = FULCRUM_SCALE_LINEAR;
    char verdict[32];
    const struct fulcrum_plot_cell cells[] = {{"prior", &parameter.prior},
        {"prior_sd", &parameter.prior_sd}, {"fitted", &parameter.fitted},
        {"posterior_low", &parameter.low}, {"posterior_high", &parameter.high},
        {"posterior_sd_frac", &parameter.sd_frac}, {NULL, NULL}};
    TRY(read_scale(rows, i, &scale, err));
    TRY(fulcrum_plot_rows_cells(rows, i, cells, err));
    FAIL_IF(!(parameter.prior_sd > 0.0), err, FULCRUM_ERR_RANGE,
        "parameters[%zu].prior_sd = %g: expected a number above 0", i,
        parameter.prior_sd);
    struct fulcrum_posterior_row *row = &plot->rows[i];
    /* Without draws a fit knows the spread around its best values alone. */
    double centre = on_scale(scale, parameter.prior);
    double unit = parameter.prior_sd;
    double fitted = (on_scale(scale, parameter.fitted) - centre) / unit;
    double half = normal_90 * parameter.sd_frac;
    bool has_draws = !isnan(parameter.low) && !isnan(parameter.high);
    *row = (struct fulcrum_posterior_row){
        .fitted = fitted,
        .lo = has_draws ? (on_scale(scale, parameter.low) - centre) / unit
                        : fitted - half,
        .hi = has_draws ? (on_scale(scale, parameter.high) - centre) / unit
                        : fitted + half,
    };
    plot->is_by_slopes =
        plot->is_by_slopes || (isnan(parameter.low) && isfinite(row->lo));
    name_parameter(rows, i, plot->names[i]);
    write_parameter(&parameter, unit_of(rows, i), plot->texts[i]);
    fulcrum_plot_rows_text(rows, i, "verdict", verdict, sizeof verdict);
    row->name = plot->names[i];
    row->text = plot->texts[i];
    row->is_identified = strcmp(verdict, "identified") == 0;
    plot->sd_frac[i] = parameter.sd_frac;
    return FULCRUM_OK;
}

/* Few rows: each is moved up to where it belongs. What the data say most of is first.
 */
static void sort_rows(struct plot_fit *plot)
{
    for (size_t i = 1; i < plot->row_count; i++) {
        struct fulcrum_posterior_row row = plot->rows[i];
        double sd_frac = plot->sd_frac[i];
        size_t at = i;
        while (at > 0 && plot->sd_frac[at - 1] > sd_frac) {
            plot->rows[at] = plot->rows[at - 1];
            plot->sd_frac[at] = plot->sd_frac[at - 1];
            at--;
        }
        plot->rows[at] = row;
        plot->sd_frac[at] = sd_frac;
    }
}

/* A figure in its own unit. */
struct figure {
    double observed;
    double sd;
    double prior_low;
    double prior_high;
    double fitted;
    double simulated;
    double mean;
    double mean_sd;
    double others;
    double others_sd;
    double point;
};

/* What the parameters themselves give; simulations of it are closest to the model. */
static double best_of(const struct figure *figure)
{
    return isnan(figure->simulated) ? figure->fitted : figure->simulated;
}

static void write_figure(const struct figure *figure, char out[TEXT_SIZE])
{
    char observed[NUMBER_SIZE];
    char best[NUMBER_SIZE];
    char others[NUMBER_SIZE];
    fulcrum_si_text(observed, sizeof observed, figure->observed, 3, NULL);
    fulcrum_si_text(best, sizeof best, best_of(figure), 3, NULL);
    fulcrum_si_text(others, sizeof others, figure->others, 3, NULL);
    (void)snprintf(out, TEXT_SIZE, "%s: fitted %s%s%s", observed, best,
        isnan(figure->others) ? "" : ", from others ",
        isnan(figure->others) ? "" : others);
}

static enum fulcrum_status read_figure(struct plot_fit *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    struct figure figure;
    const struct fulcrum_plot_cell cells[] = {{"observed", &figure.observed},
        {"sd", &figure.sd}, {"prior_low", &figure.prior_low},
        {"prior_high", &figure.prior_high}, {"fitted", &figure.fitted},
        {"simulated", &figure.simulated}, {"posterior_mean", &figure.mean},
        {"posterior_sd", &figure.mean_sd}, {"held_out_mean", &figure.others},
        {"held_out_sd", &figure.others_sd}, {"point", &figure.point}, {NULL, NULL}};
    char reference[64];
    char quantity[32];
    TRY(fulcrum_plot_rows_cells(rows, i, cells, err));
    FAIL_IF(!(figure.observed > 0.0), err, FULCRUM_ERR_RANGE,
        "figures[%zu].observed = %g: expected a number above 0", i, figure.observed);
    size_t at = plot->row_count + i;
    fulcrum_plot_rows_text(rows, i, "reference", reference, sizeof reference);
    fulcrum_plot_rows_text(rows, i, "quantity", quantity, sizeof quantity);
    /* A figure without a deviation was predicted alone. */
    (void)snprintf(plot->names[at], TEXT_SIZE, "%s, point %.0f: %s%s", reference,
        figure.point, quantity, isnan(figure.sd) ? ", held out" : "");
    write_figure(&figure, plot->texts[at]);
    double unit = figure.observed;
    plot->figures[i] = (struct fulcrum_posterior_figure){
        .sd = figure.sd / unit,
        .prior_lo = figure.prior_low / unit,
        .prior_hi = figure.prior_high / unit,
        .posterior_lo = (figure.mean - normal_90 * figure.mean_sd) / unit,
        .posterior_hi = (figure.mean + normal_90 * figure.mean_sd) / unit,
        .others_lo = (figure.others - normal_90 * figure.others_sd) / unit,
        .others_hi = (figure.others + normal_90 * figure.others_sd) / unit,
        .fitted = best_of(&figure) / unit,
    };
    plot->figures[i].name = plot->names[at];
    plot->figures[i].text = plot->texts[at];
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_fit_data(const struct fulcrum_plot_rows *parameters,
    const struct fulcrum_plot_rows *figures, struct fulcrum_plot_room *room,
    struct fulcrum_posterior_data *out, struct fulcrum_error *err)
{
    struct plot_fit *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->row_count = fulcrum_plot_rows_count(parameters);
    plot->figure_count = fulcrum_plot_rows_count(figures);
    size_t row_room = plot->row_count + 1;
    size_t room_for_all = row_room + plot->figure_count + 1;
    plot->rows = fulcrum_plot_room_take(room, row_room, sizeof *plot->rows);
    plot->sd_frac = fulcrum_plot_room_take(room, row_room, sizeof *plot->sd_frac);
    plot->figures =
        fulcrum_plot_room_take(room, plot->figure_count + 1, sizeof *plot->figures);
    plot->names = fulcrum_plot_room_take(room, room_for_all, sizeof *plot->names);
    plot->texts = fulcrum_plot_room_take(room, room_for_all, sizeof *plot->texts);
    for (size_t i = 0; i < plot->row_count; i++) {
        TRY(read_parameter(plot, parameters, i, err));
    }
    for (size_t i = 0; i < plot->figure_count; i++) {
        TRY(read_figure(plot, figures, i, err));
    }
    sort_rows(plot);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "%zu parameters, %zu figures; right: prior and best fit%s", plot->row_count,
        plot->figure_count,
        plot->is_by_slopes ? "; no draws: spread from the slopes at the best fit"
                           : ", 90 % of the posterior in brackets");
    *out = (struct fulcrum_posterior_data){
        .text = fulcrum_plot_text(
            &room->words, "Priors, and what a fit left of them", plot->subtitle, NULL),
        .rows = plot->rows,
        .row_count = plot->row_count,
        .figures = plot->figures,
        .figure_count = plot->figure_count,
    };
    return FULCRUM_OK;
}
