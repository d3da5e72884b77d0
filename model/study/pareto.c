/* pareto.c - of a stream of points those that no other beats in every metric. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nearly every point of a large sweep is beaten by one that came before, so a point is
 * first held against the front as it stands. What passes waits with others until they
 * are as many as the front: then both are sorted and swept once (Kung, Luccio,
 * Preparata, "On finding the maxima of a set of vectors", J. ACM 22, 1975). With points
 * in falling order of the first metric nothing can be beaten by what comes later, and
 * what came earlier beats a point where the best third metric among those with as good
 * a second one is as good as its own: a prefix maximum over ranks (Fenwick, 1994). That
 * is O(log n) a point, for two metrics, whose third is 0, as for three.
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
    RUN = 64            /* points of the front under one bound */
};

struct entry {
    double key[FULCRUM_PARETO_METRICS_MOST];
    size_t index;
};

struct fulcrum_pareto {
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    size_t metric_count;
    size_t left_out;
    struct entry *front; /* in falling order of keys */
    size_t front_count;
    struct entry *bounds; /* of each RUN points of the front: the best of each key */
    size_t killer;        /* of the front: what beat a point last, likely again */
    struct entry *fresh;
    size_t fresh_count;
    size_t fresh_capacity;
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
        free(pareto->front);
        free(pareto->bounds);
        free(pareto->fresh);
        free(pareto->indices);
        free(pareto);
    }
}

size_t fulcrum_pareto_left_out(const struct fulcrum_pareto *pareto)
{
    return pareto->left_out;
}

/* As good as `other` in every key. */
static bool reaches(const struct entry *entry, const struct entry *other)
{
    return entry->key[0] >= other->key[0] && entry->key[1] >= other->key[1] &&
           entry->key[2] >= other->key[2];
}

static bool beats(const struct entry *entry, const struct entry *other)
{
    return reaches(entry, other) && !reaches(other, entry);
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

static bool is_beaten_in_run(
    struct fulcrum_pareto *pareto, size_t run, const struct entry *entry)
{
    size_t end = (run + 1) * RUN;
    end = end < pareto->front_count ? end : pareto->front_count;
    for (size_t i = run * RUN; i < end; i++) {
        if (beats(&pareto->front[i], entry)) {
            pareto->killer = i;
            return true;
        }
    }
    return false;
}

/* By a point of the front as it stands. */
static bool is_beaten(struct fulcrum_pareto *pareto, const struct entry *entry)
{
    if (pareto->killer < pareto->front_count &&
        beats(&pareto->front[pareto->killer], entry)) {
        return true;
    }
    size_t run_count = (pareto->front_count + RUN - 1) / RUN;
    for (size_t i = 0; i < run_count && pareto->bounds[i].key[0] >= entry->key[0];
         i++) {
        if (reaches(&pareto->bounds[i], entry) && is_beaten_in_run(pareto, i, entry)) {
            return true;
        }
    }
    return false;
}

/* What a sweep needs beside the points: ranks by the second key, and maxima by rank. */
struct ranked {
    double key;
    size_t at;
};
struct sweep {
    struct entry *entries; /* front and fresh ones, in order */
    struct ranked *ranked;
    size_t *rank;   /* from 1, of each entry: the better the lower, equal ones alike */
    double *maxima; /* Fenwick tree over ranks of the third key */
    size_t count;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    return (x->key < y->key) - (x->key > y->key);
}

static void fill_ranks(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        sweep->ranked[i] = (struct ranked){sweep->entries[i].key[1], i};
        sweep->maxima[i + 1] = -INFINITY;
    }
    qsort(sweep->ranked, sweep->count, sizeof *sweep->ranked, compare_ranked);
    size_t rank = 1;
    for (size_t i = 0; i < sweep->count; i++) {
        rank += i > 0 && sweep->ranked[i].key < sweep->ranked[i - 1].key;
        sweep->rank[sweep->ranked[i].at] = rank;
    }
}

/* The best third key up to a rank. */
static double maximum_to(const struct sweep *sweep, size_t rank)
{
    double maximum = -INFINITY;
    for (size_t i = rank; i > 0; i -= i & (~i + 1)) {
        maximum = fmax(maximum, sweep->maxima[i]);
    }
    return maximum;
}

static void raise_at(const struct sweep *sweep, size_t rank, double key)
{
    for (size_t i = rank; i <= sweep->count; i += i & (~i + 1)) {
        sweep->maxima[i] = fmax(sweep->maxima[i], key);
    }
}

/* The end of the run of points that are equal to the one at `first`. */
static size_t end_of_equals(const struct sweep *sweep, size_t first)
{
    size_t end = first + 1;
    /* In order, so that what reaches the first is no better either. */
    while (
        end < sweep->count && reaches(&sweep->entries[end], &sweep->entries[first])) {
        end++;
    }
    return end;
}

/* Moves what is not beaten to the beginning; returns how many that are. */
static size_t keep_unbeaten(const struct sweep *sweep)
{
    size_t kept = 0;
    size_t end = 0;
    for (size_t i = 0; i < sweep->count; i = end) {
        /* Equal points share their fate, and do not beat each other. */
        double third = sweep->entries[i].key[2];
        size_t rank = sweep->rank[i];
        end = end_of_equals(sweep, i);
        if (maximum_to(sweep, rank) < third) {
            size_t count = end - i;
            memmove(&sweep->entries[kept], &sweep->entries[i],
                count * sizeof *sweep->entries);
            kept += count;
            raise_at(sweep, rank, third);
        }
    }
    return kept;
}

static void fill_bounds(struct fulcrum_pareto *pareto)
{
    for (size_t i = 0; i < pareto->front_count; i++) {
        const struct entry *entry = &pareto->front[i];
        struct entry *bound = &pareto->bounds[i / RUN];
        *bound = i % RUN == 0 ? *entry : *bound;
        for (size_t j = 0; j < FULCRUM_PARETO_METRICS_MOST; j++) {
            bound->key[j] = fmax(bound->key[j], entry->key[j]);
        }
    }
}

/* Hands front and fresh points over to `sweep`, and gives their room back. */
static void hand_over(struct fulcrum_pareto *pareto, struct sweep *sweep)
{
    if (pareto->front_count > 0) {
        memcpy(sweep->entries, pareto->front,
            pareto->front_count * sizeof *sweep->entries);
    }
    memcpy(sweep->entries + pareto->front_count, pareto->fresh,
        pareto->fresh_count * sizeof *sweep->entries);
    free(pareto->front);
    free(pareto->fresh);
    pareto->front = NULL;
    pareto->front_count = 0;
    pareto->fresh = NULL;
    pareto->fresh_count = 0;
    pareto->fresh_capacity = 0;
}

/* Joins front and fresh points in `sweep`, sweeps, and makes the result the front. */
static enum fulcrum_status sweep_all(struct fulcrum_pareto *pareto, struct sweep *sweep)
{
    size_t count = pareto->front_count + pareto->fresh_count;
    sweep->count = count;
    sweep->entries = calloc(count, sizeof *sweep->entries);
    sweep->ranked = calloc(count, sizeof *sweep->ranked);
    sweep->rank = calloc(count, sizeof *sweep->rank);
    sweep->maxima = calloc(count + 1, sizeof *sweep->maxima);
    struct entry *bounds = calloc(count / RUN + 1, sizeof *bounds);
    if (sweep->entries == NULL || sweep->ranked == NULL || sweep->rank == NULL ||
        sweep->maxima == NULL || bounds == NULL) {
        free(bounds);
        return FULCRUM_ERR_NO_MEMORY;
    }
    hand_over(pareto, sweep);
    qsort(sweep->entries, count, sizeof *sweep->entries, compare_entries);
    fill_ranks(sweep);
    pareto->front_count = keep_unbeaten(sweep);
    free(pareto->bounds);
    pareto->front = sweep->entries;
    pareto->bounds = bounds;
    sweep->entries = NULL;
    fill_bounds(pareto);
    return FULCRUM_OK;
}

static enum fulcrum_status settle(
    struct fulcrum_pareto *pareto, struct fulcrum_error *err)
{
    if (pareto->fresh_count == 0) {
        return FULCRUM_OK;
    }
    struct sweep sweep = {.count = 0};
    enum fulcrum_status status = sweep_all(pareto, &sweep);
    free(sweep.entries);
    free(sweep.ranked);
    free(sweep.rank);
    free(sweep.maxima);
    FAIL_IF(status != FULCRUM_OK, err, status, "a front");
    FAIL_IF(pareto->front_count > FULCRUM_PARETO_POINTS_MOST, err, FULCRUM_ERR_RANGE,
        "more than %d points are on the front, and none may be left out: expected "
        "metrics that beat more points, or fewer values of fields that change no "
        "metric",
        (int)FULCRUM_PARETO_POINTS_MOST);
    return FULCRUM_OK;
}

/* So many wait before a sweep. */
static size_t fresh_most(const struct fulcrum_pareto *pareto)
{
    return pareto->front_count > FRESH_LEAST ? pareto->front_count : FRESH_LEAST;
}

/* Room for one more that waits. */
static enum fulcrum_status grow_fresh(
    struct fulcrum_pareto *pareto, struct fulcrum_error *err)
{
    if (pareto->fresh_count >= fresh_most(pareto)) {
        TRY(settle(pareto, err));
    }
    if (pareto->fresh_count < pareto->fresh_capacity) {
        return FULCRUM_OK;
    }
    size_t most = fresh_most(pareto);
    size_t capacity = 2 * pareto->fresh_capacity + RUN;
    capacity = capacity < most ? capacity : most;
    struct entry *grown = realloc(pareto->fresh, capacity * sizeof *grown);
    TRY_MEMORY(grown, err, "a front");
    pareto->fresh = grown;
    pareto->fresh_capacity = capacity;
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
    if (is_beaten(pareto, &entry)) {
        return FULCRUM_OK;
    }
    TRY(grow_fresh(pareto, err));
    pareto->fresh[pareto->fresh_count++] = entry;
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
        pareto->indices[i] = pareto->front[i].index;
    }
    qsort(
        pareto->indices, pareto->front_count, sizeof *pareto->indices, compare_indices);
    *out = pareto->indices;
    *count = pareto->front_count;
    return FULCRUM_OK;
}
