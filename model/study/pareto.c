/* pareto.c - of a stream of points those that no other beats in every metric. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points wait until they are as many as the front; then both are sorted and swept once
 * (Kung, Luccio, Preparata, "On finding the maxima of a set of vectors", J. ACM 22,
 * 1975). With points in falling order of the first metric nothing can be beaten by what
 * comes later, and what came earlier beats a point where the best third metric among
 * those with as good a second one is as good as its own: a prefix maximum over ranks
 * (Fenwick, 1994). That is O(log n) a point, for two metrics, whose third is 0, as for
 * three, and next to nothing beside the prediction of a point.
 *
 * Keys are the metrics with the sign that makes more better. Comparisons of doubles are
 * exact: two points are equal where the predictions are.
 */
#include "model/study/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

enum {
    FRESH_LEAST = 4096, /* that wait before a sweep */
    PROBES = 16
};

struct entry {
    double key[FULCRUM_PARETO_METRICS_MOST];
    size_t index;
    size_t rank; /* from 1, during a sweep: the better the second key the lower */
};

struct fulcrum_pareto {
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    size_t metric_count;
    size_t left_out;
    struct entry *entries; /* the front, in falling order of keys, then what waits */
    size_t front_count;
    size_t count;
    size_t capacity;
    size_t beater;   /* of the point last dropped, in the front */
    size_t *indices; /* what the caller has borrowed */
};

enum fulcrum_status fulcrum_pareto_new(const enum fulcrum_sense *senses,
    size_t metric_count, struct fulcrum_pareto **out, struct fulcrum_error *err)
{
    FAIL_IF(metric_count < 2 || metric_count > FULCRUM_PARETO_METRICS_MOST, err,
        FULCRUM_ERR_RANGE, "a front of %zu metrics: expected 2 or 3", metric_count);
    struct fulcrum_pareto *pareto = calloc(1, sizeof *pareto);
    TRY_MEMORY(pareto, err, "a front");
    memcpy(pareto->senses, senses, metric_count * sizeof *senses);
    pareto->metric_count = metric_count;
    *out = pareto;
    return FULCRUM_OK;
}

void fulcrum_pareto_free(struct fulcrum_pareto *pareto)
{
    if (pareto != NULL) {
        free(pareto->entries);
        free(pareto->indices);
        free(pareto);
    }
}

size_t fulcrum_pareto_left_out(const struct fulcrum_pareto *pareto)
{
    return pareto->left_out;
}

/* Falling keys, then rising index. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    for (size_t i = 0; i < FULCRUM_PARETO_METRICS_MOST; i++) {
        if (x->key[i] < y->key[i] || x->key[i] > y->key[i]) {
            return x->key[i] < y->key[i] ? 1 : -1;
        }
    }
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_second_keys(const void *a, const void *b)
{
    const struct entry *const *x = a;
    const struct entry *const *y = b;
    return ((*x)->key[1] < (*y)->key[1]) - ((*x)->key[1] > (*y)->key[1]);
}

/* The best third key up to a rank, of a Fenwick tree over ranks. */
static double maximum_to(const double *maxima, size_t rank)
{
    double maximum = -INFINITY;
    for (size_t i = rank; i > 0; i -= i & (~i + 1)) {
        maximum = fmax(maximum, maxima[i]);
    }
    return maximum;
}

/* As good as `other` in every key. */
static bool reaches(const struct entry *entry, const struct entry *other)
{
    return entry->key[0] >= other->key[0] && entry->key[1] >= other->key[1] &&
           entry->key[2] >= other->key[2];
}

/* By the beater of the point before, which is near in a sweep, or by one of a few
 * spread over the front: most points are, and need not wait. */
static bool is_soon_beaten(struct fulcrum_pareto *pareto, const struct entry *entry)
{
    for (size_t i = 0; i <= PROBES && i < pareto->front_count; i++) {
        size_t at = i == 0 ? pareto->beater : (i - 1) * pareto->front_count / PROBES;
        if (at < pareto->front_count && reaches(&pareto->entries[at], entry) &&
            !reaches(entry, &pareto->entries[at])) {
            pareto->beater = at;
            return true;
        }
    }
    return false;
}

/* Moves what is not beaten to the beginning; returns how many that are. Equal points
 * share their fate, and do not beat each other; in order, what reaches the first of
 * them is no better either. */
static size_t keep_unbeaten(struct entry *entries, size_t count, double *maxima)
{
    size_t kept = 0;
    size_t end = 0;
    for (size_t i = 0; i <= count; i++) {
        maxima[i] = -INFINITY;
    }
    for (size_t i = 0; i < count; i = end) {
        const struct entry first = entries[i];
        for (end = i + 1; end < count && reaches(&entries[end], &first);) {
            end++;
        }
        if (maximum_to(maxima, first.rank) < first.key[2]) {
            memmove(&entries[kept], &entries[i], (end - i) * sizeof *entries);
            kept += end - i;
            for (size_t k = first.rank; k <= count; k += k & (~k + 1)) {
                maxima[k] = fmax(maxima[k], first.key[2]);
            }
        }
    }
    return kept;
}

/* Makes the front of all points so far. */
static enum fulcrum_status settle(
    struct fulcrum_pareto *pareto, struct fulcrum_error *err)
{
    size_t count = pareto->count;
    if (count == pareto->front_count) {
        return FULCRUM_OK;
    }
    struct entry **by_second = calloc(count, sizeof(struct entry *));
    double *maxima = calloc(count + 1, sizeof *maxima);
    bool is_there = by_second != NULL && maxima != NULL;
    if (is_there) {
        qsort(pareto->entries, count, sizeof *pareto->entries, compare_entries);
        /* Equal second keys rank alike. */
        for (size_t i = 0; i < count; i++) {
            by_second[i] = &pareto->entries[i];
        }
        qsort((void *)by_second, count, sizeof(struct entry *), compare_second_keys);
        size_t rank = 1;
        for (size_t i = 0; i < count; i++) {
            rank += i > 0 && by_second[i]->key[1] < by_second[i - 1]->key[1];
            by_second[i]->rank = rank;
        }
        pareto->front_count = keep_unbeaten(pareto->entries, count, maxima);
        pareto->count = pareto->front_count;
    }
    free((void *)by_second);
    free(maxima);
    FAIL_IF(!is_there, err, FULCRUM_ERR_NO_MEMORY, "a front");
    FAIL_IF(pareto->front_count > FULCRUM_PARETO_POINTS_MOST, err, FULCRUM_ERR_RANGE,
        "more than %d points are on the front, and none may be left out: expected "
        "metrics that beat more points, or fewer values of fields that change no "
        "metric",
        (int)FULCRUM_PARETO_POINTS_MOST);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_pareto_add(struct fulcrum_pareto *pareto, size_t index,
    const double *values, struct fulcrum_error *err)
{
    struct entry entry = {.index = index};
    for (size_t i = 0; i < pareto->metric_count; i++) {
        if (!isfinite(values[i])) {
            pareto->left_out++;
            return FULCRUM_OK;
        }
        entry.key[i] = pareto->senses[i] == FULCRUM_SENSE_MORE ? values[i] : -values[i];
    }
    if (is_soon_beaten(pareto, &entry)) {
        return FULCRUM_OK;
    }
    if (pareto->count == pareto->capacity) {
        TRY(settle(pareto, err));
    }
    if (pareto->capacity < 2 * pareto->front_count + FRESH_LEAST) {
        size_t capacity = 4 * pareto->front_count + FRESH_LEAST;
        struct entry *grown = realloc(pareto->entries, capacity * sizeof *grown);
        TRY_MEMORY(grown, err, "a front");
        pareto->entries = grown;
        pareto->capacity = capacity;
    }
    pareto->entries[pareto->count++] = entry;
    return FULCRUM_OK;
}

static int compare_indices(const void *a, const void *b)
{
    const size_t *x = a;
    const size_t *y = b;
    return (*x > *y) - (*x < *y);
}

enum fulcrum_status fulcrum_pareto_front(struct fulcrum_pareto *pareto,
    const size_t **out, size_t *count, struct fulcrum_error *err)
{
    TRY(settle(pareto, err));
    free(pareto->indices);
    pareto->indices = calloc(pareto->front_count + 1, sizeof *pareto->indices);
    TRY_MEMORY(pareto->indices, err, "a front");
    for (size_t i = 0; i < pareto->front_count; i++) {
        pareto->indices[i] = pareto->entries[i].index;
    }
    qsort(
        pareto->indices, pareto->front_count, sizeof *pareto->indices, compare_indices);
    *out = pareto->indices;
    *count = pareto->front_count;
    return FULCRUM_OK;
}
