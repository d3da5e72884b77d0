/* wide_series.c - series that span thousands of decades, and their convolution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The normalisation constants of a queueing network with thousands of customers leave
 * the range of double in both directions, and no single factor brings all of them back.
 * So each value has an exponent of its own, in steps of 2^512. The step is so coarse
 * that neighbours nearly always share it: products of two runs are summed as plain
 * doubles, and exponents are looked at once a run.
 */
#include "model/wide_series.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define POWER_BITS    512
#define MANTISSA_LOW  0x1p-256
#define MANTISSA_HIGH 0x1p256
/* From so many powers apart on, the smaller one is nothing beside the larger. */
#define FAR_POWERS 4

int fulcrum_wide_series_init(struct fulcrum_wide_series *series, size_t room)
{
    *series = (struct fulcrum_wide_series){.room = room};
    series->mantissa = calloc(room, sizeof *series->mantissa);
    series->power = calloc(room, sizeof *series->power);
    series->begin = calloc(room, sizeof *series->begin);
    series->end = calloc(room, sizeof *series->end);
    return series->mantissa != NULL && series->power != NULL && series->begin != NULL &&
           series->end != NULL;
}

void fulcrum_wide_series_clear(struct fulcrum_wide_series *series)
{
    free(series->mantissa);
    free(series->power);
    free(series->begin);
    free(series->end);
}

void fulcrum_wide_series_append(
    struct fulcrum_wide_series *series, struct fulcrum_wide value)
{
    size_t i = series->length;
    assert(i < series->room);
    int goes_on = i > 0 && series->power[i - 1] == value.power;
    series->mantissa[i] = value.mantissa;
    series->power[i] = value.power;
    series->begin[i] = goes_on ? series->begin[i - 1] : i;
    series->length = i + 1;
    series->end[series->begin[i]] = series->length;
}

struct fulcrum_wide fulcrum_wide_series_at(
    const struct fulcrum_wide_series *series, size_t index)
{
    if (index >= series->length) {
        return (struct fulcrum_wide){0.0, 0};
    }
    return (struct fulcrum_wide){series->mantissa[index], series->power[index]};
}

/* Brings the mantissa back into its range. */
static struct fulcrum_wide settled(double mantissa, int power)
{
    while (mantissa >= MANTISSA_HIGH) {
        mantissa = ldexp(mantissa, -POWER_BITS);
        power++;
    }
    while (mantissa < MANTISSA_LOW && mantissa > 0.0) {
        mantissa = ldexp(mantissa, POWER_BITS);
        power--;
    }
    return (struct fulcrum_wide){mantissa, power};
}

struct fulcrum_wide fulcrum_wide_times(struct fulcrum_wide value, double factor)
{
    return settled(value.mantissa * factor, value.power);
}

struct fulcrum_wide fulcrum_wide_product(
    struct fulcrum_wide one, struct fulcrum_wide other)
{
    return settled(one.mantissa * other.mantissa, one.power + other.power);
}

/* A value moved to a higher power: what is far below becomes 0. */
static double at_power(struct fulcrum_wide value, int power)
{
    int steps = power - value.power;
    return steps < FAR_POWERS ? ldexp(value.mantissa, -POWER_BITS * steps) : 0.0;
}

struct fulcrum_wide fulcrum_wide_sum(struct fulcrum_wide one, struct fulcrum_wide other)
{
    if (!(one.mantissa > 0.0)) {
        return other;
    }
    if (!(other.mantissa > 0.0)) {
        return one;
    }
    int power = one.power > other.power ? one.power : other.power;
    return settled(at_power(one, power) + at_power(other, power), power);
}

double fulcrum_wide_ratio(struct fulcrum_wide one, struct fulcrum_wide other)
{
    return at_power(
        (struct fulcrum_wide){one.mantissa / other.mantissa, one.power}, other.power);
}

/* Four sums, so that no addition waits for the one before. */
static double dot(const double *up, const double *down, size_t count)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        sum[0] += up[i] * *(down - i);
        sum[1] += up[i + 1] * *(down - i - 1);
        sum[2] += up[i + 2] * *(down - i - 2);
        sum[3] += up[i + 3] * *(down - i - 3);
    }
    for (; i < count; i++) {
        sum[0] += up[i] * *(down - i);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static size_t least_of(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Sum over k below `knee` of head[k] x in[n - k], run by run. */
static struct fulcrum_wide head_sum(const struct fulcrum_wide_series *head, size_t knee,
    const struct fulcrum_wide_series *in, size_t n)
{
    struct fulcrum_wide sum = {0.0, 0};
    size_t stop = least_of(knee, n + 1);
    size_t k = n < in->length ? 0 : n + 1 - in->length;
    while (k < stop) {
        size_t from = n - k;
        size_t count = least_of(head->end[head->begin[k]], stop) - k;
        count = least_of(count, from + 1 - in->begin[from]);
        double part = dot(head->mantissa + k, in->mantissa + from, count);
        sum = fulcrum_wide_sum(sum, settled(part, head->power[k] + in->power[from]));
        k += count;
    }
    return sum;
}

void fulcrum_wide_convolve(struct fulcrum_wide_series *out,
    const struct fulcrum_wide_kernel *kernel, const struct fulcrum_wide_series *in)
{
    const struct fulcrum_wide_series *head = &kernel->head;
    struct fulcrum_wide tail = {0.0, 0}; /* sum over k from `knee` on */
    out->length = 0;
    for (size_t n = 0; n < out->room; n++) {
        if (n >= kernel->knee) {
            struct fulcrum_wide newest =
                fulcrum_wide_product(fulcrum_wide_series_at(head, kernel->knee),
                    fulcrum_wide_series_at(in, n - kernel->knee));
            tail = fulcrum_wide_sum(fulcrum_wide_times(tail, kernel->ratio), newest);
        }
        fulcrum_wide_series_append(
            out, fulcrum_wide_sum(head_sum(head, kernel->knee, in, n), tail));
    }
}
