/* product_form.c - exact solution of closed product-form queueing networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Buzen's convolution. The chance of a state is a product of one factor per station,
 * f(k) = product over j <= k of demand / rate(j), divided by the sum G of all of them.
 * The distribution at one station needs its own f and the convolution of those of all
 * others; these convolutions are formed by halving the set of stations again and again,
 * so that none is computed more than about log2(stations) times. Every sum has positive
 * terms only, in numbers of wide range: nothing cancels and nothing overflows.
 *
 * Mean value analysis with servers or rates in plural is shorter, and is not used: its
 * chance of an empty station is 1 minus the others, which loses all digits from some
 * sixty customers at sixteen servers on.
 */
#include "model/product_form.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "model/wide_series.h"

/* Halving 1000 stations leaves one after this many times. */
enum { MOST_DEPTH = 10, DEPTHS = MOST_DEPTH + 2 };

/* Rounding of 1e5 factors and terms stays far below this. */
#define TOLERANCE_REL 1e-9

struct solver {
    const struct fulcrum_product_form_network *network;
    struct fulcrum_product_form_load *loads;
    size_t customers;
    double unit_s;    /* what demands are divided by, to keep them within reach of 1 */
    size_t *queueing; /* indices of the stations where one can have to wait */
    size_t queueing_count;
    struct fulcrum_wide_kernel kernel;
    struct fulcrum_wide_series scratch;
    /* [depth]: of all stations but those that are looked at. */
    struct fulcrum_wide_series without[DEPTHS];
    double cycles_per_unit; /* 0 as long as no station has told */
    int agree;              /* all stations have told the same */
};

static double demand_s(const struct fulcrum_product_form_station *station)
{
    return station->service_s * station->visits;
}

/* With j >= 1 customers. */
static double rate_at(const struct fulcrum_product_form_station *station, size_t j)
{
    switch (station->type) {
    case FULCRUM_STATION_MULTI:
        return fmin((double)j, station->servers);
    case FULCRUM_STATION_DELAY:
        return (double)j;
    case FULCRUM_STATION_LD:
        j = j <= station->rate_count ? j : station->rate_count;
        return station->rate[j - 1];
    case FULCRUM_STATION_QUEUE:
    default:
        return 1.0;
    }
}

/* From how many customers on the rate stays as it is. */
static size_t settled_at(const struct fulcrum_product_form_station *station)
{
    if (station->type == FULCRUM_STATION_MULTI) {
        return (size_t)station->servers;
    }
    size_t count = station->type == FULCRUM_STATION_LD ? station->rate_count : 1;
    while (count > 1 && !(station->rate[count - 2] < station->rate[count - 1]) &&
           !(station->rate[count - 2] > station->rate[count - 1])) {
        count--;
    }
    return count;
}

/* Time of all delays, which together are one. */
static double delay_s(const struct fulcrum_product_form_network *network)
{
    double sum_s = network->think_s;
    for (size_t i = 0; i < network->station_count; i++) {
        if (network->stations[i].type == FULCRUM_STATION_DELAY) {
            sum_s += demand_s(&network->stations[i]);
        }
    }
    return sum_s;
}

static int can_queue(const struct fulcrum_product_form_station *station)
{
    return station->type != FULCRUM_STATION_DELAY && demand_s(station) > 0.0;
}

static int allocate(struct solver *solver)
{
    size_t room = solver->customers + 1;
    int fits = 1;
    solver->queueing =
        calloc(solver->network->station_count + 1, sizeof *solver->queueing);
    fits &= solver->queueing != NULL;
    fits &= fulcrum_wide_series_init(&solver->kernel.head, room);
    fits &= fulcrum_wide_series_init(&solver->scratch, room);
    for (size_t i = 0; i < DEPTHS; i++) {
        fits &= fulcrum_wide_series_init(&solver->without[i], room);
    }
    return fits;
}

static void clear(struct solver *solver)
{
    free(solver->queueing);
    fulcrum_wide_series_clear(&solver->kernel.head);
    fulcrum_wide_series_clear(&solver->scratch);
    for (size_t i = 0; i < DEPTHS; i++) {
        fulcrum_wide_series_clear(&solver->without[i]);
    }
}

/* f(0), f(1), ... of all delays together; a single 1 where there are none. */
static void begin_with_delays(struct solver *solver)
{
    struct fulcrum_wide_series *series = &solver->without[0];
    double share = delay_s(solver->network) / solver->unit_s;
    struct fulcrum_wide value = {1.0, 0};
    fulcrum_wide_series_append(series, value);
    for (size_t n = 1; n <= solver->customers && share > 0.0; n++) {
        value = fulcrum_wide_times(value, share / (double)n);
        fulcrum_wide_series_append(series, value);
    }
}

/* f(0) to f(last) of a station into the kernel. */
static void set_kernel(struct solver *solver,
    const struct fulcrum_product_form_station *station, size_t last)
{
    struct fulcrum_wide_series *head = &solver->kernel.head;
    double demand = demand_s(station) / solver->unit_s;
    struct fulcrum_wide value = {1.0, 0};
    head->length = 0;
    fulcrum_wide_series_append(head, value);
    for (size_t n = 1; n <= last; n++) {
        value = fulcrum_wide_times(value, demand / rate_at(station, n));
        fulcrum_wide_series_append(head, value);
    }
    size_t settled = settled_at(station);
    solver->kernel.knee = settled - 1;
    solver->kernel.ratio = demand / rate_at(station, settled);
}

/* without[depth + 1] = without[depth], convolved with `count` stations more. */
static void take_in(struct solver *solver, size_t first, size_t count, size_t depth)
{
    const struct fulcrum_wide_series *from = &solver->without[depth];
    for (size_t i = first; i < first + count; i++) {
        const struct fulcrum_product_form_station *station =
            &solver->network->stations[solver->queueing[i]];
        size_t knee = settled_at(station) - 1;
        set_kernel(
            solver, station, knee < solver->customers ? knee : solver->customers);
        fulcrum_wide_convolve(&solver->scratch, &solver->kernel, from);
        struct fulcrum_wide_series formed = solver->scratch;
        solver->scratch = solver->without[depth + 1];
        solver->without[depth + 1] = formed;
        from = &solver->without[depth + 1];
    }
}

/* The weight of k customers at the station of the kernel, N - k at all others. */
static struct fulcrum_wide weight(
    const struct solver *solver, const struct fulcrum_wide_series *others, size_t k)
{
    return fulcrum_wide_product(fulcrum_wide_series_at(&solver->kernel.head, k),
        fulcrum_wide_series_at(others, solver->customers - k));
}

/* Every station must see the same customers pass. */
static void note_throughput(struct solver *solver, double cycles_per_unit)
{
    if (!(solver->cycles_per_unit > 0.0)) {
        solver->cycles_per_unit = cycles_per_unit;
    }
    double apart = fabs(cycles_per_unit - solver->cycles_per_unit);
    solver->agree &= apart <= TOLERANCE_REL * solver->cycles_per_unit;
}

static void tell_station(struct solver *solver, size_t index, size_t depth)
{
    const struct fulcrum_product_form_station *station =
        &solver->network->stations[index];
    struct fulcrum_product_form_load *load = &solver->loads[index];
    const struct fulcrum_wide_series *others = &solver->without[depth];
    set_kernel(solver, station, solver->customers);
    struct fulcrum_wide sum = {0.0, 0};
    for (size_t k = 0; k <= solver->customers; k++) {
        sum = fulcrum_wide_sum(sum, weight(solver, others, k));
    }
    double busy = 0.0;
    double mean = 0.0;
    double rate = 0.0;
    for (size_t k = 0; k <= solver->customers; k++) {
        double chance = fulcrum_wide_ratio(weight(solver, others, k), sum);
        if (load->chance != NULL) {
            load->chance[k] = chance;
        }
        if (k > 0) {
            busy += chance;
            mean += chance * (double)k;
            rate += chance * rate_at(station, k);
        }
    }
    note_throughput(solver, rate * solver->unit_s / demand_s(station));
    load->mean_customers = mean;
    load->busy_frac =
        station->type == FULCRUM_STATION_MULTI ? rate / station->servers : busy;
}

/* Tells of `count` stations; the others are in without[depth]. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as log2 of the stations */
static void tell(struct solver *solver, size_t first, size_t count, size_t depth)
{
    assert(depth + 1 < DEPTHS || count == 1);
    if (count == 1) {
        tell_station(solver, solver->queueing[first], depth);
        return;
    }
    size_t half = count / 2;
    take_in(solver, first + half, count - half, depth);
    tell(solver, first, half, depth + 1);
    take_in(solver, first, half, depth);
    tell(solver, first + half, count - half, depth + 1);
}

/* The demand of the station that limits the throughput, or else the delay. */
static double unit_s(const struct fulcrum_product_form_network *network)
{
    double longest_s = 0.0;
    for (size_t i = 0; i < network->station_count; i++) {
        const struct fulcrum_product_form_station *station = &network->stations[i];
        if (can_queue(station)) {
            double most = rate_at(station, (size_t)network->customers);
            longest_s = fmax(longest_s, demand_s(station) / most);
        }
    }
    return longest_s > 0.0 ? longest_s : delay_s(network);
}

/* What follows from the throughput alone. */
static void tell_the_rest(struct solver *solver, double cycles_per_s)
{
    for (size_t i = 0; i < solver->network->station_count; i++) {
        const struct fulcrum_product_form_station *station =
            &solver->network->stations[i];
        struct fulcrum_product_form_load *load = &solver->loads[i];
        if (can_queue(station)) {
            load->residence_s = load->mean_customers / cycles_per_s;
            continue;
        }
        load->residence_s = demand_s(station);
        load->mean_customers = cycles_per_s * load->residence_s;
        load->busy_frac = 0.0;
        int has_chance = station->type != FULCRUM_STATION_DELAY && load->chance != NULL;
        for (size_t k = 0; has_chance && k <= solver->customers; k++) {
            load->chance[k] = k == 0 ? 1.0 : 0.0;
        }
    }
}

static enum fulcrum_status solve(
    struct solver *solver, double *cycles_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_product_form_network *network = solver->network;
    if (!allocate(solver)) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for a product form of %g customers", network->customers);
    }
    for (size_t i = 0; i < network->station_count; i++) {
        if (can_queue(&network->stations[i])) {
            solver->queueing[solver->queueing_count++] = i;
        }
    }
    begin_with_delays(solver);
    if (solver->queueing_count > 0) {
        tell(solver, 0, solver->queueing_count, 0);
        *cycles_per_s = solver->cycles_per_unit / solver->unit_s;
    } else {
        *cycles_per_s = network->customers / solver->unit_s;
    }
    tell_the_rest(solver, *cycles_per_s);
    if (!solver->agree) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NUMERIC, "the stations disagree on the throughput");
    }
    return fulcrum_product_form_audit(network, *cycles_per_s, solver->loads, err);
}

enum fulcrum_status fulcrum_product_form_solve(
    const struct fulcrum_product_form_network *network, double *cycles_per_s,
    struct fulcrum_product_form_load *loads, struct fulcrum_error *err)
{
    struct solver solver = {.network = network,
        .loads = loads,
        .customers = (size_t)network->customers,
        .unit_s = unit_s(network),
        .agree = 1};
    enum fulcrum_status status = solve(&solver, cycles_per_s, err);
    clear(&solver);
    return status;
}

/* The least and the most that one customer, or the whole station, gets done. */
struct limits {
    double least_each;
    double most_each;
    double most;
};

static struct limits limits_of(
    const struct fulcrum_product_form_station *station, size_t customers)
{
    struct limits found = {(double)INFINITY, 0.0, 0.0};
    for (size_t j = 1; j <= customers; j++) {
        double rate = rate_at(station, j);
        found.least_each = fmin(found.least_each, rate / (double)j);
        found.most_each = fmax(found.most_each, rate / (double)j);
        found.most = fmax(found.most, rate);
    }
    return found;
}

/*
 * A customer spends at least demand / most_each and at most demand / least_each of its
 * cycle at a station, and N customers take at least N cycles of the slowest station.
 */
static void bound_throughput(
    const struct fulcrum_product_form_network *network, double *least, double *most)
{
    double quick_s = 0.0;
    double slow_s = 0.0;
    double crowd_per_s = (double)INFINITY;
    for (size_t i = 0; i < network->station_count; i++) {
        const struct fulcrum_product_form_station *station = &network->stations[i];
        double each_s = demand_s(station);
        if (each_s > 0.0) {
            struct limits limits = limits_of(station, (size_t)network->customers);
            quick_s += each_s / limits.most_each;
            slow_s += each_s / limits.least_each;
            crowd_per_s = fmin(crowd_per_s, limits.most / each_s);
        }
    }
    *least = network->customers / (network->think_s + slow_s);
    *most = fmin(network->customers / (network->think_s + quick_s), crowd_per_s);
}

enum fulcrum_status fulcrum_product_form_audit(
    const struct fulcrum_product_form_network *network, double cycles_per_s,
    const struct fulcrum_product_form_load *loads, struct fulcrum_error *err)
{
    double least = 0.0;
    double most = 0.0;
    bound_throughput(network, &least, &most);
    /* Written so that NaN fails. */
    if (!(cycles_per_s >= least * (1.0 - TOLERANCE_REL) &&
            cycles_per_s <= most * (1.0 + TOLERANCE_REL))) {
        return fulcrum_fail(err, FULCRUM_ERR_NUMERIC,
            "a throughput of %g per second is outside its bounds [%g, %g]",
            cycles_per_s, least, most);
    }
    double sum = cycles_per_s * network->think_s;
    for (size_t i = 0; i < network->station_count; i++) {
        double here = loads[i].mean_customers;
        if (!(here >= 0.0 && loads[i].busy_frac >= 0.0 &&
                loads[i].busy_frac <= 1.0 + TOLERANCE_REL)) {
            return fulcrum_fail(err, FULCRUM_ERR_NUMERIC,
                "%s: %g customers and a busy share of %g cannot be",
                network->stations[i].name, here, loads[i].busy_frac);
        }
        sum += here;
    }
    if (!(fabs(sum - network->customers) <= TOLERANCE_REL * network->customers)) {
        return fulcrum_fail(err, FULCRUM_ERR_NUMERIC,
            "the customers at all places add up to %.12g instead of %g", sum,
            network->customers);
    }
    return FULCRUM_OK;
}
