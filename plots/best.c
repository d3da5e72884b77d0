/* best.c - the best point of a curve, and a sentence about it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/best.h"

#include <math.h>
#include <stdio.h>

#include "plots/axis.h"

static const double plateau_frac = 0.01;

/* Ties go to the earlier point, so this is strict. */
static int better(double a, double b, enum fulcrum_goal goal)
{
    return goal == FULCRUM_GOAL_MOST ? a > b : a < b;
}

/* Relative to the best itself, so that the unit does not matter. */
static int near_best(double y, double best_y)
{
    return fabs(y - best_y) <= plateau_frac * fabs(best_y);
}

/* What one pass over the usable points finds. */
struct scan {
    size_t usable;
    size_t near;    /* of them, within 1 % of the best */
    double first_x; /* smallest x within 1 % of the best */
    double first_y;
    double least_x; /* of the usable points */
    double last_x;
};

/* Needs the best value first: "within 1 %" is relative to it. */
static struct scan scan_points(
    const double *x, const double *y, size_t count, double best_y)
{
    struct scan scan = {.first_x = INFINITY, .least_x = INFINITY, .last_x = -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            continue;
        }
        scan.usable++;
        scan.least_x = fmin(scan.least_x, x[i]);
        scan.last_x = fmax(scan.last_x, x[i]);
        if (near_best(y[i], best_y)) {
            scan.near++;
            scan.first_y = x[i] < scan.first_x ? y[i] : scan.first_y;
            scan.first_x = fmin(scan.first_x, x[i]);
        }
    }
    return scan;
}

/* The order matters: a flat curve is also a plateau, and a plateau may reach an end. */
static enum fulcrum_best_shape shape_of(const struct scan *scan, double best_x)
{
    if (scan->usable == 1) {
        return FULCRUM_BEST_ALONE;
    }
    if (scan->near == scan->usable) {
        return FULCRUM_BEST_FLAT;
    }
    if (scan->first_x < best_x) {
        return FULCRUM_BEST_PLATEAU;
    }
    if (best_x <= scan->least_x) {
        return FULCRUM_BEST_AT_START;
    }
    return best_x < scan->last_x ? FULCRUM_BEST_PEAK : FULCRUM_BEST_AT_END;
}

struct fulcrum_best fulcrum_best_find(
    const double *x, const double *y, size_t count, enum fulcrum_goal goal)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i]) && isfinite(y[i]) &&
            (best == count || better(y[i], y[best], goal))) {
            best = i;
        }
    }
    if (best == count) {
        return (struct fulcrum_best){.shape = FULCRUM_BEST_NONE};
    }
    struct scan scan = scan_points(x, y, count, y[best]);
    return (struct fulcrum_best){.shape = shape_of(&scan, x[best]),
        .x = scan.first_x,
        .y = scan.first_y,
        .best_y = y[best]};
}

void fulcrum_plain_text(char *out, size_t size, double value)
{
    if (fabs(value) >= 1000.0 && fabs(value) < 1e5) {
        (void)snprintf(out, size, "%.0f", value);
    } else {
        fulcrum_si_text(out, size, value, 3, NULL);
    }
}

void fulcrum_best_sentence(char *out, size_t size, const struct fulcrum_best *best,
    const char *x_name, const char *unit)
{
    char at[48];
    char y[48];
    char top[48];
    fulcrum_plain_text(at, sizeof at, best->x);
    fulcrum_si_text(y, sizeof y, best->y, 3, unit);
    fulcrum_si_text(top, sizeof top, best->best_y, 3, unit);
    const char *space = x_name[0] != '\0' ? " " : "";
    switch (best->shape) {
    case FULCRUM_BEST_NONE:
        (void)snprintf(out, size, "%s", "");
        break;
    case FULCRUM_BEST_ALONE:
        (void)snprintf(out, size, "%s at %s%s%s, the only point", y, at, space, x_name);
        break;
    case FULCRUM_BEST_FLAT:
        (void)snprintf(out, size, "within 1 %% of %s everywhere", top);
        break;
    case FULCRUM_BEST_PLATEAU:
        (void)snprintf(out, size, "within 1 %% of the best (%s) at %s%s%s already", top,
            at, space, x_name);
        break;
    case FULCRUM_BEST_AT_START:
        (void)snprintf(out, size, "best where the chart begins: %s at %s%s%s", y, at,
            space, x_name);
        break;
    case FULCRUM_BEST_AT_END:
        (void)snprintf(out, size, "still improving where the chart ends: %s at %s%s%s",
            y, at, space, x_name);
        break;
    case FULCRUM_BEST_PEAK:
        (void)snprintf(out, size, "best %s at %s%s%s", y, at, space, x_name);
        break;
    }
}
