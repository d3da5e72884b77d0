/* axis.h - maps values to the page and chooses ticks that people find round. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_AXIS_H
#define FULCRUM_PLOTS_AXIS_H

#include <stddef.h>

enum fulcrum_axis_kind {
    FULCRUM_AXIS_LINEAR,
    FULCRUM_AXIS_LOG,  /* ticks at powers of ten, and at 2 and 5 times them */
    FULCRUM_AXIS_LOG2, /* ticks at powers of two: threads, batches */
    FULCRUM_AXIS_AUTO  /* linear, or LOG where values span more than three decades */
};

enum { FULCRUM_TICKS_MAX = 96, FULCRUM_TICK_LABEL_SIZE = 32 };

struct fulcrum_tick {
    double value;
    int rank; /* 0 most important; labels of lower rank give way */
    char label[FULCRUM_TICK_LABEL_SIZE]; /* "" on minor ticks */
};

/* The values an axis has to show. Start with fulcrum_limits_none. */
struct fulcrum_limits {
    double lo; /* above hi while there is none */
    double hi;
    double lo_positive; /* infinite while there is none */
};

struct fulcrum_axis {
    enum fulcrum_axis_kind kind; /* never AUTO once fitted */
    double lo;                   /* values at the ends */
    double hi;
    double from; /* positions at the ends, in points; set by the caller */
    double to;
    size_t tick_count;
    struct fulcrum_tick ticks[FULCRUM_TICKS_MAX];
};

struct fulcrum_axis_options {
    enum fulcrum_axis_kind kind;
    double ticks_wanted; /* labelled ones, at least 2 */
    double pad_frac;     /* room beyond the outermost values, as a share of the axis */
    int from_zero;       /* a linear axis of values >= 0 begins at 0 */
    const char *unit; /* follows each tick's label: "s" gives 50 µs; NULL for none */
};

/* Limits that no value was added to. */
struct fulcrum_limits fulcrum_limits_none(void);

/* Widens the span, to 1e300 at most; values that are not finite are left out. */
void fulcrum_limits_add(struct fulcrum_limits *span, double value);

/* 1 where an axis of this kind has a value to show. */
int fulcrum_limits_usable(
    const struct fulcrum_limits *span, enum fulcrum_axis_kind kind);

/*
 * Chooses limits around the span and ticks between them. A span without usable values
 * gives an axis from 0 to 1 (logarithmic: 1 to 10). from and to are left alone.
 */
void fulcrum_axis_fit(struct fulcrum_axis *axis, const struct fulcrum_limits *span,
    const struct fulcrum_axis_options *options);

/* 1 where the value has a place on the axis: finite, and positive if logarithmic. */
int fulcrum_axis_shows(const struct fulcrum_axis *axis, double value);

/* Position of a value that the axis shows; values beyond an end lie on that end. */
double fulcrum_axis_at(const struct fulcrum_axis *axis, double value);

/*
 * "2.5M", "17.2k", "0.0625", with a unit "50 µs": `digits` significant digits at most,
 * "unknown" for NaN.
 */
void fulcrum_si_text(
    char *out, size_t size, double value, int digits, const char *unit);

#endif
