/* best.h - the best point of a curve, and a sentence about it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_BEST_H
#define FULCRUM_PLOTS_BEST_H

#include <stddef.h>

enum fulcrum_goal { FULCRUM_GOAL_MOST, FULCRUM_GOAL_LEAST };

enum fulcrum_best_shape {
    FULCRUM_BEST_NONE,     /* no usable point */
    FULCRUM_BEST_ALONE,    /* one usable point */
    FULCRUM_BEST_FLAT,     /* all within 1 % of the best */
    FULCRUM_BEST_PLATEAU,  /* a smaller x is within 1 % of the best */
    FULCRUM_BEST_AT_START, /* the smallest x: less might be better */
    FULCRUM_BEST_AT_END,   /* the largest x: more might be better */
    FULCRUM_BEST_PEAK
};

struct fulcrum_best {
    enum fulcrum_best_shape shape;
    double x; /* of the point to mark: on a plateau the smallest x within 1 % */
    double y;
    double best_y;
};

/* Looks at `count` points with increasing x; values that are not finite are skipped. */
struct fulcrum_best fulcrum_best_find(
    const double *x, const double *y, size_t count, enum fulcrum_goal goal);

/*
 * Says it in words, "best 17.2k at 0.31". `unit` is that of y as for fulcrum_si_text,
 * `x_name` what x counts, "" for nothing.
 */
void fulcrum_best_sentence(char *out, size_t size, const struct fulcrum_best *best,
    const char *x_name, const char *unit);

/* "0.0625", "1024": x values as people write them. */
void fulcrum_plain_text(char *out, size_t size, double value);

#endif
