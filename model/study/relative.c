/* relative.c - one design point beside another, draw by draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdlib.h>

#include "model/interval.h"
#include "model/try.h"

struct row {
    const char *name;
    enum fulcrum_predicted output;
};

static const struct row rows[] = {
#define X(name, output, meaning) {#name, FULCRUM_OUTPUT_##output},
    FULCRUM_RELATIVE_LIST(X)
#undef X
};

const char *fulcrum_relative_name(size_t relative)
{
    return relative < FULCRUM_RELATIVE_COUNT ? rows[relative].name : NULL;
}

struct fulcrum_yardstick {
    double value[FULCRUM_RELATIVE_COUNT];
    size_t draw_count;
    double *draws; /* draw_count x FULCRUM_RELATIVE_COUNT, NAN where one cannot run */
};

enum fulcrum_status fulcrum_yardstick_new(const struct fulcrum_predictor *predictor,
    const struct fulcrum_prediction *prediction, struct fulcrum_yardstick **out,
    struct fulcrum_error *err)
{
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    struct fulcrum_yardstick *yardstick = calloc(1, sizeof *yardstick);
    TRY_MEMORY(yardstick, err, "draws of a point");
    yardstick->draws =
        calloc(count * FULCRUM_RELATIVE_COUNT + 1, sizeof *yardstick->draws);
    if (yardstick->draws == NULL) {
        free(yardstick);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a point");
    }
    yardstick->draw_count = count;
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
        yardstick->value[i] = prediction->value[rows[i].output];
        for (size_t k = 0; k < count; k++) {
            yardstick->draws[k * FULCRUM_RELATIVE_COUNT + i] =
                draws[k * FULCRUM_OUTPUT_COUNT + rows[i].output];
        }
    }
    *out = yardstick;
    return FULCRUM_OK;
}

void fulcrum_yardstick_free(struct fulcrum_yardstick *yardstick)
{
    if (yardstick != NULL) {
        free(yardstick->draws);
        free(yardstick);
    }
}

/* Ratio `i` of the draws that ran at both points; returns how many those are. */
static size_t collect_ratios(const struct fulcrum_yardstick *yardstick,
    const struct fulcrum_predictor *predictor, size_t i, double *column)
{
    size_t count = 0;
    size_t known = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    for (size_t k = 0; k < count && k < yardstick->draw_count; k++) {
        double ratio = draws[k * FULCRUM_OUTPUT_COUNT + rows[i].output] /
                       yardstick->draws[k * FULCRUM_RELATIVE_COUNT + i];
        if (!isnan(ratio)) {
            column[known++] = ratio;
        }
    }
    return known;
}

void fulcrum_yardstick_compare(const struct fulcrum_yardstick *yardstick,
    const struct fulcrum_predictor *predictor,
    const struct fulcrum_prediction *prediction, double *column,
    struct fulcrum_ratio *out)
{
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
        size_t known = collect_ratios(yardstick, predictor, i, column);
        struct fulcrum_interval interval = fulcrum_interval_of(column, known);
        out[i].value = prediction->value[rows[i].output] / yardstick->value[i];
        out[i].lo = interval.lo;
        out[i].hi = interval.hi;
    }
}
