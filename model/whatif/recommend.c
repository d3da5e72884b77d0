/* recommend.c - which machine, for what it costs, and how sure that is. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prices, the price of electricity and the years are the user's: nothing here has one.
 * A machine whose price is not known takes no part in a question of money, as it would
 * otherwise win it. Cooling, space, people and what a machine is worth afterwards are
 * not counted, nor what it would do in idle hours.
 */
#include "model/whatif/recommend.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

#include "model/interval.h"
#include "model/quantity.h"

#define HOUR_S    3600.0
#define YEAR_S    (365.25 * 24.0 * HOUR_S)
#define W_PER_KW  1000.0
#define HALF_TIES 0.5

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
    if (need->fills != 0) {
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

static unsigned misses_of(
    const struct fulcrum_cost *cost, const struct fulcrum_need *need)
{
    bool counts_money = need->goal == FULCRUM_OBJECTIVE_CHEAPEST;
    bool has_electricity = counts_money && need->electricity_per_kwh > 0.0;
    bool counts_watts = need->goal == FULCRUM_OBJECTIVE_EFFICIENT || has_electricity ||
                        !isnan(need->most_w);
    unsigned misses =
        exceeds(cost->system_w, need->most_w, FULCRUM_MISS_WATTS) |
        exceeds(cost->price, need->most_price, FULCRUM_MISS_PRICE) |
        exceeds(cost->rack_unit_count, need->most_rack_units, FULCRUM_MISS_RACK_UNITS);
    misses |= is_missing(cost->system_w, counts_watts, FULCRUM_MISS_NO_WATTS) |
              is_missing(cost->price, counts_money || !isnan(need->most_price),
                  FULCRUM_MISS_NO_PRICE) |
              is_missing(cost->rack_unit_count, !isnan(need->most_rack_units),
                  FULCRUM_MISS_NO_RACK_UNITS);
    if (!isnan(need->least_steps_per_s) &&
        !(cost->steps_per_s >= need->least_steps_per_s)) {
        misses |= (unsigned)FULCRUM_MISS_RATE;
    }
    return misses;
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
    out->misses = misses_of(out, need);
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

void fulcrum_contest_of(const struct fulcrum_paired *paired, enum fulcrum_sense sense,
    double *column, struct fulcrum_contest *out)
{
    double won = 0.0;
    size_t count = 0;
    for (size_t k = 0; k < paired->count; k++) {
        double gain = paired->a[k] - paired->b[k];
        if (!isnan(gain)) {
            gain = sense == FULCRUM_SENSE_MORE ? gain : -gain;
            won += gain > 0.0 ? 1.0 : (gain < 0.0 ? 0.0 : HALF_TIES);
            column[count++] = paired->a[k] / paired->b[k];
        }
    }
    const struct fulcrum_interval interval = fulcrum_interval_of(column, count);
    out->draw_count = count;
    out->ratio_lo = interval.lo;
    out->ratio_hi = interval.hi;
    out->beats_frac = count > 0 ? won / (double)count : FULCRUM_UNKNOWN;
    /* The column is sorted by now. */
    out->ratio = isnan(interval.lo)
                     ? FULCRUM_UNKNOWN
                     : gsl_stats_median_from_sorted_data(column, 1, count);
}
