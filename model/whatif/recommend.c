/* recommend.c - what to buy: objectives and limits, the fewest that suffice, the
 * threads it needs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/recommend.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/*
 * Prices, the price of electricity and the years are the user's: nothing here has one.
 * A machine whose price is not known takes no part in a question of money, as it would
 * otherwise win it. Cooling, space, people and what a machine is worth afterwards are
 * not counted, nor what it would do in idle hours.
 */

#define HOUR_S   3600.0
#define YEAR_S   (365.25 * 24.0 * HOUR_S)
#define W_PER_KW 1000.0

const char *fulcrum_objective_name(int goal)
{
    static const char *const names[FULCRUM_OBJECTIVE_COUNT] = {
        "fastest", "cheapest", "efficient"};
    return goal >= 0 && goal < (int)FULCRUM_OBJECTIVE_COUNT ? names[goal] : NULL;
}

/* How often `each` fits into a limit; fmin leaves out what is not known. */
static double fitting(double count, double each, double most)
{
    return each > 0.0 ? fmin(count, floor(most / each)) : count;
}

double fulcrum_candidate_machine_count(
    const struct fulcrum_candidate_machine *offer, const struct fulcrum_need *need)
{
    double count = 1.0;
    if (need->fills) {
        count = fitting(need->most_machines, offer->system_w, need->most_w);
        count = fitting(count, offer->price, need->most_price);
        count =
            fmax(1.0, fitting(count, offer->rack_unit_count, need->most_rack_units));
    } else if (!isnan(need->least_steps_per_s)) {
        count = fmax(1.0, ceil(need->least_steps_per_s / offer->steps_per_s));
    }
    return fmin(count, need->most_machines);
}

/* A limit that there is, and a value that is not within it. */
static unsigned exceeds(double value, double most, enum fulcrum_miss miss)
{
    return !isnan(most) && value > most ? (unsigned)miss : 0U;
}

static unsigned is_missing(double value, bool is_wanted, enum fulcrum_miss miss)
{
    return is_wanted && isnan(value) ? (unsigned)miss : 0U;
}

void fulcrum_cost_of(const struct fulcrum_candidate_machine *offer,
    double machine_count, const struct fulcrum_need *need, struct fulcrum_cost *out)
{
    double life_s = need->years * YEAR_S;
    double kwh = machine_count * offer->system_w * life_s / (HOUR_S * W_PER_KW);
    out->machine_count = machine_count;
    out->steps_per_s = machine_count * offer->steps_per_s;
    out->system_w = machine_count * offer->system_w;
    out->steps_per_j = offer->steps_per_s / offer->system_w;
    out->price = machine_count * offer->price;
    out->rack_unit_count = machine_count * offer->rack_unit_count;
    /* Without a price of electricity the watts need not be known either. */
    out->electricity = need->electricity_per_kwh > 0.0 ? kwh * need->electricity_per_kwh
                                                       : need->electricity_per_kwh;
    out->cost = out->price + out->electricity;
    out->cost_per_step = out->cost / (out->steps_per_s * life_s);
    out->training_cost = out->cost_per_step * need->total_env_steps;
    bool counts_money = need->goal == FULCRUM_OBJECTIVE_CHEAPEST;
    bool has_electricity = counts_money && need->electricity_per_kwh > 0.0;
    bool counts_watts = need->goal == FULCRUM_OBJECTIVE_EFFICIENT || has_electricity ||
                        !isnan(need->most_w);
    unsigned misses =
        exceeds(out->system_w, need->most_w, FULCRUM_MISS_WATTS) |
        exceeds(out->price, need->most_price, FULCRUM_MISS_PRICE) |
        exceeds(out->rack_unit_count, need->most_rack_units, FULCRUM_MISS_RACK_UNITS);
    misses |= is_missing(out->system_w, counts_watts, FULCRUM_MISS_NO_WATTS) |
              is_missing(out->price, counts_money || !isnan(need->most_price),
                  FULCRUM_MISS_NO_PRICE) |
              is_missing(out->rack_unit_count, !isnan(need->most_rack_units),
                  FULCRUM_MISS_NO_RACK_UNITS);
    if (!isnan(need->least_steps_per_s) &&
        !(out->steps_per_s >= need->least_steps_per_s)) {
        misses |= (unsigned)FULCRUM_MISS_RATE;
    }
    out->misses = misses;
}

double fulcrum_cost_merit(const struct fulcrum_cost *cost, enum fulcrum_objective goal)
{
    switch (goal) {
    case FULCRUM_OBJECTIVE_FASTEST:
        return cost->steps_per_s;
    case FULCRUM_OBJECTIVE_CHEAPEST:
        return -cost->cost_per_step;
    case FULCRUM_OBJECTIVE_EFFICIENT:
        return cost->steps_per_j;
    case FULCRUM_OBJECTIVE_COUNT:
    default:
        return FULCRUM_UNKNOWN;
    }
}

size_t fulcrum_cost_best(
    const struct fulcrum_cost *costs, size_t count, enum fulcrum_objective goal)
{
    size_t best = count;
    double best_merit = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        double merit = fulcrum_cost_merit(&costs[i], goal);
        if (costs[i].misses == 0U && !isnan(merit) &&
            (best == count || merit > best_merit)) {
            best = i;
            best_merit = merit;
        }
    }
    return best;
}

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
    double *value; /* of each place; NAN: not asked for; 0: has none */
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

static bool is_known(const struct search *search, size_t place)
{
    return !isnan(search->value[place]);
}

static enum fulcrum_status ask(
    struct search *search, size_t place, struct fulcrum_error *err)
{
    if (is_known(search, place)) {
        return FULCRUM_OK;
    }
    double value = FULCRUM_UNKNOWN;
    TRY(search->curve->ask(search->curve->context, place, &value, err));
    search->value[place] = value > 0.0 ? value : 0.0;
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

/* Valleys on one side of the best: how far values fall below one farther from it. */
static double valley_of(const struct search *search, size_t from, size_t to, int step)
{
    double brim = 0.0;
    double deepest = 0.0;
    for (size_t i = from; i != to; i += (size_t)step) {
        if (search->value[i] > 0.0) {
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
        if (is_known(search, i) && !(search->value[i] > 0.0) && seen) {
            return true;
        }
        seen = seen || search->value[i] > 0.0;
    }
    return false;
}

static void look(const struct search *search, struct state *out)
{
    /* The best, and the first that reaches the share of it. */
    out->best_value = 0.0;
    for (size_t i = 0; i < search->count; i++) {
        if (search->value[i] > out->best_value) {
            out->best = i;
            out->best_value = search->value[i];
        }
    }
    out->candidate = out->best;
    for (size_t i = out->best; i-- > 0;) {
        if (search->value[i] >= search->share * out->best_value) {
            out->candidate = i;
        }
    }
    out->wiggle_frac = fmax(valley_of(search, 0, out->best, 1),
        valley_of(search, search->count - 1, out->best, -1));
    out->is_torn = is_torn(search);
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
        /* The gap after `from`, a known place. */
        struct gap gap = {.from = i, .to = i + 1};
        while (gap.to < search->count && !is_known(search, gap.to)) {
            gap.to++;
        }
        double ends = fmax(
            search->value[i], gap.to < search->count ? search->value[gap.to] : 0.0);
        gap.bound = ends * (1.0 + VALLEYS_HIDDEN * state->wiggle_frac);
        /* Values may rise and fall once: beside the best one nothing bounds them. */
        if (gap.from == state->best || gap.to == state->best) {
            gap.bound = INFINITY;
        }
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
        if (!is_known(search, at)) {
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
    struct search search = {
        curve, count, share, calloc(count, sizeof *search.value), 0};
    TRY_MEMORY(search.value, err, "a curve");
    for (size_t i = 0; i < count; i++) {
        search.value[i] = FULCRUM_UNKNOWN;
    }
    enum fulcrum_status status = run(&search, out, err);
    free(search.value);
    return status;
}

/*
 * The question is put to one curve, a metric over the values of one field, and then to
 * the curve of each draw: the interval is that of the answers.
 */

/* A metric that grows by more than this over the last quarter has no plateau yet. */
#define RISING_FRAC 0.01

/* One question under way. */
struct curve {
    const struct fulcrum_fewest_plan *plan;
    struct fulcrum_sweep_plan single; /* draws are asked for one by one */
    struct fulcrum_sweep_probe *probe;
    struct fulcrum_sweep_point *points; /* as far as asked for */
    bool *known;
    size_t draw; /* at hand; 0: the estimate */
    struct fulcrum_fewest_answer *answer;
    double *columns[3]; /* draws: values, metrics, bests */
};

/* Of a fulcrum_asked_curve: the metric at a place, of the draw at hand. */
static enum fulcrum_status ask_curve(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    struct curve *curve = context;
    const struct fulcrum_fewest_plan *plan = curve->plan;
    double done_frac = (double)curve->draw / (plan->sweep.predict.draws + 1.0);
    FAIL_IF(plan->watch(plan->watcher, done_frac) != 0, err, FULCRUM_ERR_INTERRUPTED,
        "interrupted");
    /* Points whose estimate failed keep their status, and every draw of them fails too.
     */
    if (!curve->known[place]) {
        curve->known[place] = true;
        curve->answer->predicted += fulcrum_sweep_probe_point(curve->probe, place,
                                        &curve->points[place], NULL) == FULCRUM_OK;
    }
    const struct fulcrum_sweep_point *point = &curve->points[place];
    double values[FULCRUM_OUTPUT_COUNT];
    *out = FULCRUM_UNKNOWN;
    if (point->status == FULCRUM_OK && curve->draw == 0) {
        *out = point->prediction.value[plan->metric];
    } else if (point->status == FULCRUM_OK) {
        curve->answer->predicted++;
        if (fulcrum_sweep_probe_draw(curve->probe, point, curve->draw, values) ==
            FULCRUM_OK) {
            *out = values[plan->metric];
        }
    }
    return FULCRUM_OK;
}

/* The median of the draws' answers, and of their bests, in place of the estimate's. */
static enum fulcrum_status move_to_median(
    struct curve *curve, struct fulcrum_error *err)
{
    struct fulcrum_fewest_answer *answer = curve->answer;
    const double *values = curve->plan->sweep.axes->values;
    answer->found.place = 0;
    while (values[answer->found.place] < answer->value.median) {
        answer->found.place++;
    }
    answer->found.best_value = answer->best.median;
    curve->draw = 0;
    TRY(ask_curve(curve, answer->found.place, &answer->found.value, err));
    answer->prediction = curve->points[answer->found.place].prediction;
    return FULCRUM_OK;
}

static enum fulcrum_status ask_draws(struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_fewest_plan *plan = curve->plan;
    struct fulcrum_fewest_answer *answer = curve->answer;
    const struct fulcrum_asked_curve asked = {
        ask_curve, curve, plan->sweep.axes->count};
    size_t count = 0;
    size_t metric_count = 0;
    size_t draw_count = (size_t)plan->sweep.predict.draws;
    for (curve->draw = 1; curve->draw <= draw_count; curve->draw++) {
        struct fulcrum_fewest found = {.place = 0};
        enum fulcrum_status status =
            fulcrum_fewest_find(&asked, plan->share, &found, err);
        if (status == FULCRUM_OK) {
            curve->columns[0][count] = plan->sweep.axes->values[found.place];
            curve->columns[2][count++] = found.best_value;
        } else if (status != FULCRUM_ERR_INFEASIBLE) {
            return status;
        }
    }
    answer->draws = (double)count;
    answer->value = fulcrum_interval_among(curve->columns[0], count);
    answer->best = fulcrum_interval_of(curve->columns[2], count);
    if (!isnan(answer->value.median)) {
        TRY(move_to_median(curve, err));
    }
    for (curve->draw = 1; curve->draw <= draw_count; curve->draw++) {
        double at_answer = FULCRUM_UNKNOWN;
        TRY(ask_curve(curve, answer->found.place, &at_answer, err));
        if (!isnan(at_answer)) {
            curve->columns[1][metric_count++] = at_answer;
        }
    }
    answer->metric = fulcrum_interval_of(curve->columns[1], metric_count);
    answer->found.value =
        isnan(answer->metric.median) ? answer->found.value : answer->metric.median;
    return FULCRUM_OK;
}

/* A curve of which no more is asked than whether it reaches a threshold, where values
 * are wrong by their errors, all up or all down. */
struct shifted {
    struct curve *curve;
    double threshold;
    double sign;
};

/* Of a fulcrum_asked_curve. */
static enum fulcrum_status ask_shifted(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    const struct shifted *shifted = context;
    const struct fulcrum_fewest_answer *answer = shifted->curve->answer;
    TRY(ask_curve(shifted->curve, place, out, err));
    if (!isnan(*out)) {
        /* The best one's share of itself is not off. */
        double own_rel = shifted->curve->points[place].prediction.solver_error_rel;
        double error_rel =
            place == answer->found.best ? 0.0 : hypot(own_rel, answer->best_error_rel);
        *out = fmin(*out * (1.0 + shifted->sign * error_rel), shifted->threshold);
    }
    return FULCRUM_OK;
}

/* The answer if every value were as far up, or down, as it may be. */
static enum fulcrum_status shift_answer(
    struct curve *curve, double sign, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_fewest *best = &curve->answer->found;
    struct shifted shifted = {curve, curve->plan->share * best->best_value, sign};
    /* The best is the last place that the answer can be. */
    const struct fulcrum_asked_curve asked = {ask_shifted, &shifted, best->best + 1};
    struct fulcrum_fewest found = {.place = 0};
    TRY(fulcrum_fewest_find(&asked, 1.0, &found, err));
    *out = curve->plan->sweep.axes->values[found.place];
    return FULCRUM_OK;
}

static enum fulcrum_status ask_estimate(struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_axis *axis = curve->plan->sweep.axes;
    const size_t last_place = axis->count - 1;
    const struct fulcrum_asked_curve asked = {ask_curve, curve, axis->count};
    enum fulcrum_status status =
        fulcrum_fewest_find(&asked, curve->plan->share, &curve->answer->found, err);
    if (status == FULCRUM_ERR_INFEASIBLE) {
        /* All points fail alike, most often: the last one says why. */
        TRY(fulcrum_sweep_probe_point(
            curve->probe, last_place, &curve->points[last_place], err));
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s is not known at any value of %s",
            fulcrum_output_name(curve->plan->metric), axis->field->path);
    }
    TRY(status);
    double before = FULCRUM_UNKNOWN;
    double last = FULCRUM_UNKNOWN;
    TRY(ask_curve(curve, last_place - last_place / 4, &before, err));
    TRY(ask_curve(curve, last_place, &last, err));
    curve->answer->is_rising = last_place > 0 && last > (1.0 + RISING_FRAC) * before;
    /* How far the answer moves within the solver's error, which is that of the rate. */
    struct fulcrum_fewest_answer *answer = curve->answer;
    const struct fulcrum_fewest *found = &answer->found;
    size_t metric = curve->plan->metric;
    bool goes_with_rate = metric == FULCRUM_OUTPUT_steps_per_s ||
                          metric == FULCRUM_OUTPUT_frames_per_s ||
                          metric == FULCRUM_OUTPUT_steps_per_j_gpu ||
                          metric == FULCRUM_OUTPUT_steps_per_j_system;
    answer->prediction = curve->points[found->place].prediction;
    answer->best_error_rel = curve->points[found->best].prediction.solver_error_rel;
    answer->within = (struct fulcrum_interval){
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, axis->values[found->place]};
    if (!goes_with_rate) {
        return FULCRUM_OK;
    }
    double lo = 0.0;
    double hi = 0.0;
    TRY(shift_answer(curve, 1.0, &lo, err));
    TRY(shift_answer(curve, -1.0, &hi, err));
    /* Errors change by leaps, which a search may step over. */
    double at = curve->plan->sweep.axes->values[found->place];
    answer->within = (struct fulcrum_interval){fmin(lo, at), fmax(hi, at), at};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fewest_answer_find(const struct fulcrum_fewest_plan *plan,
    struct fulcrum_fewest_answer *out, struct fulcrum_error *err)
{
    size_t places = plan->sweep.axes->count;
    size_t draws = (size_t)plan->sweep.predict.draws;
    double *numbers = calloc(3 * draws + 1, sizeof *numbers);
    struct curve curve = {.plan = plan,
        .single = plan->sweep,
        .points = calloc(places, sizeof *curve.points),
        .known = calloc(places, sizeof *curve.known),
        .answer = out,
        .columns = {numbers, numbers + draws, numbers + 2 * draws}};
    enum fulcrum_status status = FULCRUM_OK;
    *out = (struct fulcrum_fewest_answer){.predicted = 0};
    curve.single.predict.draws = 0.0;
    if (numbers == NULL || curve.points == NULL || curve.known == NULL) {
        (void)fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "points of a curve");
        status = FULCRUM_ERR_NO_MEMORY;
        goto end;
    }
    TRY_OR_END(
        fulcrum_sweep_probe_new(plan->scenario, &curve.single, &curve.probe, err));
    TRY_OR_END(ask_estimate(&curve, err));
    status = ask_draws(&curve, err);
end:
    fulcrum_sweep_probe_free(curve.probe);
    free(numbers);
    free(curve.points);
    free(curve.known);
    return status;
}

/*
 * Throughput over threads rises to a plateau that other stations set: GPU, learner,
 * host. The plateau is found by doubling, which needs few predictions however far it
 * is; where two doublings in a row add next to nothing it is taken as reached. The
 * first of the doubled counts that is near it and the one before enclose the answer.
 */

enum { DOUBLINGS_MOST = 24 };

/* Two doublings that add less than this in all end the search for the plateau. */
#define FLAT_REL 0.002

/* Where an answer nearby is known, doubling begins this far below it. */
#define NEAR_FACTOR 4.0

/* One search under way. */
struct need_search {
    const struct fulcrum_thread_need_plan *plan;
    struct fulcrum_predictor *predictor;
    uint64_t draw;
    struct fulcrum_setting settings[FULCRUM_THREAD_NEED_SETTINGS_MOST + 2];
    size_t threads;  /* index of the setting of threads */
    double per_core; /* threads */
    double replicas;
};

/* How many threads, and what comes of them. */
struct probe {
    double cores;
    double steps_per_s; /* 0: cannot run */
};

static void set_actors(struct need_search *need, double actors)
{
    need->settings[need->threads + 1].number = actors;
}

/* 0: cannot run. */
static double predict(struct need_search *need, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = need->plan;
    bool chooses = plan->actors_per_thread > 0.0 || plan->actor_choice_count > 0;
    const struct fulcrum_point point = {need->settings,
        need->threads + (chooses ? 2 : 1), need->draw, plan->solver.seed};
    const struct fulcrum_predict_options options = {.solver = plan->solver};
    struct fulcrum_prediction prediction;
    return fulcrum_predictor_run(need->predictor, &point, &options, &prediction, err) ==
                   FULCRUM_OK
               ? prediction.value[FULCRUM_OUTPUT_steps_per_s]
               : 0.0;
}

static struct probe probe_at(
    struct need_search *need, double cores, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = need->plan;
    double threads = cores * need->per_core;
    struct probe probe = {cores, 0.0};
    need->settings[need->threads].number = threads;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        set_actors(need, plan->actor_choices[i]);
        probe.steps_per_s = fmax(probe.steps_per_s, predict(need, err));
    }
    if (plan->actor_choice_count == 0) {
        double each = round(threads * plan->actors_per_thread / need->replicas);
        set_actors(need, need->replicas * fmax(1.0, each));
        probe.steps_per_s = predict(need, err);
    }
    return probe;
}

/* Every third probe halves what is left, whatever the rates say. */
#define HALVE_EVERY 3

/*
 * The least of (low, high] that reaches `wanted`, as far as the rate rises: regula
 * falsi in the logarithm of the rate, with the end that stays given half its weight
 * (Illinois).
 */
static struct probe descend(
    struct need_search *need, struct probe low, struct probe high, double wanted)
{
    double below = log(low.steps_per_s / wanted); /* -INFINITY: cannot run */
    double above = log(high.steps_per_s / wanted);
    for (int i = 1; high.cores - low.cores > 1.5; i++) {
        bool halves = i % HALVE_EVERY == 0 || !isfinite(below);
        double share = halves ? 0.5 : below / (below - above);
        double cores = floor(low.cores + share * (high.cores - low.cores));
        cores = fmin(fmax(cores, low.cores + 1.0), high.cores - 1.0);
        struct probe middle = probe_at(need, cores, NULL);
        bool reaches = middle.steps_per_s >= wanted;
        double off = log(middle.steps_per_s / wanted);
        below = reaches ? 0.5 * below : off;
        above = reaches ? off : 0.5 * above;
        low = reaches ? low : middle;
        high = reaches ? middle : high;
    }
    return high;
}

/* Threads per core and replicas do not depend on how many threads there are. */
static enum fulcrum_status start(struct need_search *need, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = need->plan;
    assert(plan->setting_count <= FULCRUM_THREAD_NEED_SETTINGS_MOST);
    for (size_t i = 0; i < plan->setting_count; i++) {
        need->settings[i] = plan->settings[i];
    }
    const size_t threads = plan->setting_count;
    const struct fulcrum_setting actors = {
        fulcrum_field_find("run.actor_count"), 1.0, NULL};
    bool chooses = plan->actors_per_thread > 0.0 || plan->actor_choice_count > 0;
    const struct fulcrum_design *design = NULL;
    const struct fulcrum_point point = {
        need->settings, threads + (chooses ? 1 : 0), need->draw, plan->solver.seed};
    need->settings[threads] = actors;
    TRY(fulcrum_predictor_design(need->predictor, &point, &design, err));
    need->per_core = design->machine.cpu.thread_count / design->machine.cpu.core_count;
    need->replicas = fulcrum_shard_count(design);
    need->threads = threads;
    need->settings[threads].field = fulcrum_field_find("machine.cpu.thread_count");
    need->settings[threads + 1] = actors;
    return FULCRUM_OK;
}

/* Numbers of cores, each twice the one before, up to the plateau. */
struct climb {
    struct probe probes[DOUBLINGS_MOST];
    size_t count;
    double plateau; /* steps per second; 0: nothing runs */
};

static struct climb climb_from(
    struct need_search *need, double cores, struct fulcrum_error *err)
{
    struct climb out = {.count = 0};
    double most = need->plan->most_threads / need->per_core;
    double before = 0.0; /* the plateau before the last doubling */
    bool is_flat = false;
    while (out.count < DOUBLINGS_MOST && cores <= most && !is_flat) {
        out.probes[out.count] = probe_at(need, cores, err);
        double now = fmax(out.plateau, out.probes[out.count++].steps_per_s);
        is_flat = out.count > 2 && before > 0.0 && now <= before * (1.0 + FLAT_REL);
        before = out.plateau;
        out.plateau = now;
        cores *= 2.0;
    }
    return out;
}

enum fulcrum_status fulcrum_thread_need_find(
    const struct fulcrum_thread_need_plan *plan, struct fulcrum_predictor *predictor,
    uint64_t draw, struct fulcrum_thread_need *out, struct fulcrum_error *err)
{
    struct need_search need = {.plan = plan, .predictor = predictor, .draw = draw};
    TRY(start(&need, err));
    struct fulcrum_error fault = {FULCRUM_OK, ""};
    double least = ceil(need.replicas);
    double cores = least;
    while (plan->near_thread_count > NEAR_FACTOR * 2.0 * cores * need.per_core) {
        cores *= 2.0;
    }
    struct climb climb = climb_from(&need, cores, &fault);
    if (cores > least &&
        climb.probes[0].steps_per_s >= plan->plateau_frac * climb.plateau) {
        climb = climb_from(&need, least, &fault); /* not near at all */
    }
    const struct probe *climbed = climb.probes;
    size_t count = climb.count;
    FAIL_IF(!(climb.plateau > 0.0), err, FULCRUM_ERR_INFEASIBLE,
        "no number of threads up to %.6g can run: %s", plan->most_threads,
        count > 0 ? fault.detail : "fewer than a core for each GPU");
    double wanted = plan->plateau_frac * climb.plateau;
    size_t first = 0;
    while (first + 1 < count && climbed[first].steps_per_s < wanted) {
        first++;
    }
    struct probe found =
        first == 0 ? climbed[0]
                   : descend(&need, climbed[first - 1], climbed[first], wanted);
    *out = (struct fulcrum_thread_need){
        .thread_count = found.cores * need.per_core,
        .steps_per_s = found.steps_per_s,
        .plateau_steps_per_s = climb.plateau,
        .is_rising = count < 3 || climbed[count - 1].steps_per_s >
                                      climbed[count - 3].steps_per_s * (1.0 + FLAT_REL),
    };
    return FULCRUM_OK;
}
