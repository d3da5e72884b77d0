/* solve_options.c - the options that say how networks and design points are solved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/options.h"

#include <math.h>
#include <string.h>

#include "model/predict/solver.h"

#define DRAWS_LEAST 2.0
#define DRAWS_MOST  1e6

static const char *method_name(int index)
{
    return fulcrum_method_name((enum fulcrum_method)index);
}

#define SETTING(member) offsetof(struct fulcrum_solver_settings, member)

const struct fulcrum_option fulcrum_solver_option_rows[] = {
    FULCRUM_OPTION(CHOICE, "method", SETTING(method), "METHOD", .fallback = "auto",
        .choice = method_name,
        .help = "auto uses 'fast' where its error is within --half-width, else "
                "'simulate'; chain is exact for exponential steps; product-form is the "
                "textbook baseline"),
    FULCRUM_OPTION(NUMBER, "half-width", SETTING(half_width_rel), "FRACTION",
        .least = 1e-5, .most = 0.5,
        .help = "simulations stop when the 95 % interval is within +-FRACTION; also "
                "the largest error of the equations that auto accepts; default: 0.01"),
    FULCRUM_OPTION_SEED(
        SETTING(seed), "of random numbers; the same seed gives the same bytes"),
    FULCRUM_OPTION(COUNT, "max-steps", SETTING(max_steps), "N", .fallback = "2e7",
        .least = 1e3, .most = 1e12,
        .help = "limit on simulated steps, even if --half-width is not met"),
    {.name = NULL},
};

const struct fulcrum_option fulcrum_interval_option_rows[] = {
    FULCRUM_OPTION(TEXT, "intervals",
        offsetof(struct fulcrum_solve_settings, intervals), "DRAWS",
        .help = "draws behind each 90 % interval; 'none' for no intervals"),
    {.name = NULL},
};

void fulcrum_solver_settings_read(
    const struct fulcrum_solver_settings *settings, struct fulcrum_solver_options *out)
{
    *out = (struct fulcrum_solver_options){
        .method = (enum fulcrum_method)settings->method,
        .seed = (uint64_t)settings->seed,
        .half_width_rel =
            isnan(settings->half_width_rel) ? 0.0 : settings->half_width_rel,
        .max_steps = settings->max_steps,
    };
}

enum fulcrum_status fulcrum_solve_settings_read(
    const struct fulcrum_solve_settings *settings, double draws,
    struct fulcrum_context *context, struct fulcrum_predict_options *out,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_predict_options){.draws = draws};
    fulcrum_solver_settings_read(&settings->solver, &out->solver);
    const char *text = settings->intervals;
    if (text == NULL || strcmp(text, "none") == 0) {
        out->draws = text == NULL ? draws : 0.0;
        return FULCRUM_OK;
    }
    enum fulcrum_status status =
        fulcrum_number_parse("--intervals", text, &out->draws, NULL);
    if (status == FULCRUM_OK && !(out->draws <= 0.0 && out->draws >= 0.0) &&
        !(out->draws >= DRAWS_LEAST && out->draws <= DRAWS_MOST &&
            out->draws == floor(out->draws))) {
        status = FULCRUM_ERR_RANGE;
    }
    return status == FULCRUM_OK
               ? status
               : fulcrum_usage_fail(context, err, status,
                     "--intervals %s: expected 'none' or a whole number from 2 to "
                     "1000000",
                     text);
}
