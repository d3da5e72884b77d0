/* wide_series.h - series that span thousands of decades, and their convolution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WIDE_SERIES_H
#define FULCRUM_MODEL_WIDE_SERIES_H

#include <stddef.h>

/* mantissa x 2^(512 power), mantissa 0 or within 2^-256 and 2^256. */
struct fulcrum_wide {
    double mantissa;
    int power;
};

/* Values that are not negative; those beyond `length` are 0. */
struct fulcrum_wide_series {
    double *mantissa;
    int *power;
    size_t *begin; /* [i]: first of the run of equal powers that i belongs to */
    size_t *end;   /* [begin]: one past the last of that run */
    size_t room;
    size_t length;
};

/* A series that ends as a geometric one: from [knee] on each is `ratio` x the last. */
struct fulcrum_wide_kernel {
    struct fulcrum_wide_series head; /* [0..knee] at least, where so many are used */
    size_t knee;
    double ratio;
};

/* An empty series. Returns 0 where there is no memory; _clear is called all the same.
 */
int fulcrum_wide_series_init(struct fulcrum_wide_series *series, size_t room);
void fulcrum_wide_series_clear(struct fulcrum_wide_series *series);

/* Adds a value at the end; there must be room. */
void fulcrum_wide_series_append(
    struct fulcrum_wide_series *series, struct fulcrum_wide value);

struct fulcrum_wide fulcrum_wide_series_at(
    const struct fulcrum_wide_series *series, size_t index);

/* `factor` at most 2^700 apart from 1 in either direction, or 0. */
struct fulcrum_wide fulcrum_wide_times(struct fulcrum_wide value, double factor);
struct fulcrum_wide fulcrum_wide_product(
    struct fulcrum_wide one, struct fulcrum_wide other);
struct fulcrum_wide fulcrum_wide_sum(
    struct fulcrum_wide one, struct fulcrum_wide other);

/* one / other as a double, which must be able to hold it; `other` is not 0. */
double fulcrum_wide_ratio(struct fulcrum_wide one, struct fulcrum_wide other);

/*
 * out[n] = sum over k of kernel[k] x in[n - k], for as many n as `out` has room. Takes
 * about knee multiplications a value.
 */
void fulcrum_wide_convolve(struct fulcrum_wide_series *out,
    const struct fulcrum_wide_kernel *kernel, const struct fulcrum_wide_series *in);

#endif
