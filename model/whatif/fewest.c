/* fewest.c - the first place of a curve that reaches a share of its best. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer needs the best value only as far as it decides which place comes first: a
 * plateau that is level within a hair need not be searched for its highest point. So
 * two bounds of the best are kept. From below, the best value known. From above, what
 * gaps may hide: nothing beyond their ends while all values seen rise and fall but
 * once, else more, by the rule of the header. The search ends when the candidate, the
 * first place known that reaches the share of the lower bound, also reaches that of the
 * upper, and no gap before it may hide another.
 *
 * Places asked for at first are as far apart as they are many, and moved by a part of
 * that which never repeats, so that a saw tooth of any period shows.
 */
#include "model/whatif/recommend.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "model/try.h"

/* Places asked for before anything is known, and on a side of what must be sure before
 * an answer is believed. */
enum { FIRST_PLACES = 24, LAST_PLACES = 12 };

/* The golden section: multiples of it, modulo 1, stay as even as can be. */
#define GOLDEN_FRAC 0.6180339887498949

/* What a gap may hide beyond its ends, in valleys seen. */
#define VALLEYS_HIDDEN 2.0

struct search {
    const struct fulcrum_asked_curve *curve;
    size_t count; /* of places */
    double share;
    double *value;        /* of each place; NAN: has none */
    unsigned char *known; /* whether it was asked for */
    size_t asked;
};

/* What is known of the curve so far. */
struct state {
    size_t best;
    double best_value; /* 0: no place has a value yet */
    size_t candidate;
    double wiggle_frac;
    bool is_torn; /* a place without a value comes after one that has one */
};

/* A gap between known places that is to be looked into. */
struct gap {
    size_t from;
    size_t to;
    double bound;
    bool is_wanted;
};

static enum fulcrum_status ask(
    struct search *search, size_t place, struct fulcrum_error *err)
{
    if (search->known[place]) {
        return FULCRUM_OK;
    }
    double value = FULCRUM_UNKNOWN;
    TRY(search->curve->ask(search->curve->context, place, &value, err));
    search->value[place] = value > 0.0 ? value : FULCRUM_UNKNOWN;
    search->known[place] = 1;
    search->asked++;
    return FULCRUM_OK;
}

static enum fulcrum_status ask_all(struct search *search, struct fulcrum_error *err)
{
    for (size_t i = 0; i < search->count; i++) {
        TRY(ask(search, i, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status ask_first(struct search *search, struct fulcrum_error *err)
{
    if (search->count <= 2 * (size_t)FIRST_PLACES) {
        return ask_all(search, err);
    }
    TRY(ask(search, search->count - 1, err));
    TRY(ask(search, 0, err));
    for (size_t i = 0; i < FIRST_PLACES; i++) {
        double turn = (double)i * GOLDEN_FRAC;
        double at = ((double)i + turn - floor(turn)) / (double)FIRST_PLACES;
        TRY(ask(search, (size_t)(at * (double)search->count), err));
    }
    return FULCRUM_OK;
}

static bool has_value(const struct search *search, size_t place)
{
    return search->known[place] && !isnan(search->value[place]);
}

/* Valleys on one side of the best: how far values fall below one farther from it. */
static double valley_of(const struct search *search, size_t from, size_t to, int step)
{
    double brim = 0.0;
    double deepest = 0.0;
    for (size_t i = from; i != to; i += (size_t)step) {
        if (has_value(search, i)) {
            brim = fmax(brim, search->value[i]);
            deepest = fmax(deepest, 1.0 - search->value[i] / brim);
        }
    }
    return deepest;
}

/* A place without a value after one that has one: there may be more of either. */
static bool is_torn(const struct search *search)
{
    bool seen = false;
    for (size_t i = 0; i < search->count; i++) {
        if (search->known[i] && !has_value(search, i) && seen) {
            return true;
        }
        seen = seen || has_value(search, i);
    }
    return false;
}

static void look(const struct search *search, struct state *out)
{
    /* The best, and the first that reaches the share of it. */
    out->best_value = 0.0;
    for (size_t i = 0; i < search->count; i++) {
        if (has_value(search, i) && search->value[i] > out->best_value) {
            out->best = i;
            out->best_value = search->value[i];
        }
    }
    out->candidate = out->best;
    for (size_t i = out->best; i-- > 0;) {
        if (has_value(search, i) &&
            search->value[i] >= search->share * out->best_value) {
            out->candidate = i;
        }
    }
    out->wiggle_frac = fmax(valley_of(search, 0, out->best, 1),
        valley_of(search, search->count - 1, out->best, -1));
    out->is_torn = is_torn(search);
}

static double known_value(const struct search *search, size_t place)
{
    return has_value(search, place) ? search->value[place] : 0.0;
}

/* The gap after `from`, a known place. */
static struct gap gap_after(
    const struct search *search, const struct state *state, size_t from)
{
    struct gap gap = {.from = from, .to = from + 1};
    while (gap.to < search->count && !search->known[gap.to]) {
        gap.to++;
    }
    double ends = fmax(known_value(search, gap.from),
        gap.to < search->count ? known_value(search, gap.to) : 0.0);
    gap.bound = ends * (1.0 + VALLEYS_HIDDEN * state->wiggle_frac);
    /* Values may rise and fall once: beside the best one nothing bounds them. */
    if (gap.from == state->best || gap.to == state->best) {
        gap.bound = INFINITY;
    }
    return gap;
}

/*
 * Of all gaps one that must be looked into: the first before the candidate that may
 * hide another, else the one that may hide the best of bests, if that would move it.
 */
static struct gap wanted_gap(const struct search *search, const struct state *state)
{
    struct gap highest = {.bound = 0.0};
    double enough = search->share * state->best_value;
    double candidate_value = search->value[state->candidate];
    for (size_t i = 0; i < search->count;) {
        struct gap gap = gap_after(search, state, i);
        bool is_open = gap.to > gap.from + 1;
        /* On the way up, what lies before the best is bounded by it. */
        bool may_be_first = is_open && gap.from < state->candidate &&
                            (gap.bound >= enough || gap.to == state->candidate);
        if (may_be_first) {
            gap.is_wanted = 1;
            return gap;
        }
        if (is_open && gap.bound > highest.bound) {
            highest = gap;
        }
        i = gap.to;
    }
    highest.is_wanted = search->share * highest.bound > candidate_value;
    return highest;
}

/* A place that is not known within LAST_PLACES of another, on that side; else it. */
static size_t unknown_beside(const struct search *search, size_t place, int step)
{
    size_t at = place;
    for (size_t i = 0; i < LAST_PLACES; i++) {
        at += (size_t)step;
        if (at >= search->count) { /* below 0 wraps */
            return place;
        }
        if (!search->known[at]) {
            return at;
        }
    }
    return place;
}

/*
 * What is looked at before an answer is believed: the places before it, and where those
 * or others have shown valleys, the places around the best. Returns the number of
 * places where nothing is left.
 */
static size_t unknown_near(const struct search *search, const struct state *state)
{
    size_t before = unknown_beside(search, state->candidate, -1);
    if (before != state->candidate) {
        return before;
    }
    for (int step = -1; step <= 1 && state->wiggle_frac > 0.0; step += 2) {
        size_t beside = unknown_beside(search, state->best, step);
        if (beside != state->best) {
            return beside;
        }
    }
    return search->count;
}

static enum fulcrum_status narrow(
    struct search *search, struct state *state, struct fulcrum_error *err)
{
    for (;;) {
        look(search, state);
        /* Where half is known, the rest costs less than to choose from it. */
        if (state->is_torn || state->best_value <= 0.0 ||
            2 * search->asked > search->count) {
            TRY(ask_all(search, err));
            look(search, state);
            return FULCRUM_OK;
        }
        struct gap gap = wanted_gap(search, state);
        size_t near = unknown_near(search, state);
        if (gap.is_wanted) {
            TRY(ask(search, gap.from + (gap.to - gap.from) / 2, err));
        } else if (near < search->count) {
            TRY(ask(search, near, err));
        } else {
            return FULCRUM_OK;
        }
    }
}

static enum fulcrum_status run(
    struct search *search, struct fulcrum_fewest *out, struct fulcrum_error *err)
{
    struct state state = {.best = 0};
    TRY(ask_first(search, err));
    TRY(narrow(search, &state, err));
    FAIL_IF(
        !(state.best_value > 0.0), err, FULCRUM_ERR_INFEASIBLE, "no place has a value");
    *out = (struct fulcrum_fewest){.place = state.candidate,
        .value = search->value[state.candidate],
        .best = state.best,
        .best_value = state.best_value,
        .asked = search->asked,
        .wiggle_frac = state.wiggle_frac};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fewest_find(const struct fulcrum_asked_curve *curve,
    double share, struct fulcrum_fewest *out, struct fulcrum_error *err)
{
    assert(share > 0.0 && share <= 1.0);
    size_t count = curve->count;
    FAIL_IF(count == 0, err, FULCRUM_ERR_INFEASIBLE, "a curve of no places");
    struct search search = {curve, count, share, NULL, NULL, 0};
    search.value = calloc(count, sizeof *search.value);
    search.known = calloc(count, sizeof *search.known);
    enum fulcrum_status status =
        search.value != NULL && search.known != NULL
            ? run(&search, out, err)
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a curve");
    free(search.value);
    free(search.known);
    return status;
}
