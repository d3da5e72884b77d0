/* product_form.c - exact solution of closed product-form queueing networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Buzen's convolution. The chance of a state is a product of one factor per station,
 * f(k) = product over j <= k of demand / rate(j), divided by the sum G of all of them.
 * The distribution at one station needs its own f and the convolution of those of all
 * others; these convolutions are formed by halving the set of stations again and again,
 * so that none is computed more than about log2(stations) times. Every sum has positive
 * terms only: nothing cancels.
 *
 * As f(k) x^k gives the same chances with any x, x is the throughput of an open network
 * with as many customers, near that of the closed one. Then each f x^k, scaled to a
 * largest value of about 1, has what counts near that value: what leaves the range of
 * double has no chance.
 *
 * Mean value analysis with servers or rates in plural is shorter, and is not used: its
 * chance of an empty station is 1 minus the others, which loses all digits from some
 * sixty customers at sixteen servers on.
 */

#include "model/exact/product_form.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/status.h"
#include "model/try.h"

/* What a product-form network may hold. */

#define MOST_CUSTOMERS 1e5
#define MOST_STATIONS  1000 /* the depth of the solver's halving rests on it */

/* Quotients of any two of these are far inside the range of double. */
static const double times_s[2] = {1e-15, 1e9};
static const double visits[2] = {1e-9, 1e9};
static const double rates[2] = {1e-9, 1e9};

/* 0 or within a range; written so that NaN fails. */
static void check_value(
    struct fulcrum_error *faults, const char *name, double value, const double range[2])
{
    if (!(value == 0.0 || (value >= range[0] && value <= range[1]))) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "%s = %g is neither 0 nor inside [%g, %g]", name, value, range[0],
            range[1]);
    }
}

static void check_rates(
    struct fulcrum_error *faults, const struct fulcrum_product_form_station *station)
{
    if (station->rate == NULL || station->rate_count == 0) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "rate is empty; type ld needs one for each number of customers");
        return;
    }
    for (size_t i = 0; i < station->rate_count; i++) {
        if (!(station->rate[i] >= rates[0] && station->rate[i] <= rates[1])) {
            (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
                "rate[%zu] = %g is outside [%g, %g]", i, station->rate[i], rates[0],
                rates[1]);
        }
    }
}

static void check_type(
    struct fulcrum_error *faults, const struct fulcrum_product_form_station *station)
{
    if (fulcrum_product_form_type_name(station->type) == NULL) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "type = %d is none of the known choices", (int)station->type);
    }
    double servers = station->servers;
    if (station->type == FULCRUM_STATION_MULTI &&
        !(servers >= 1.0 && servers <= rates[1] && floor(servers) >= servers)) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "servers = %g is outside [1, %g] or not whole", servers, rates[1]);
    }
    if (station->type == FULCRUM_STATION_LD) {
        check_rates(faults, station);
    }
}

static void check_whole(
    struct fulcrum_error *faults, const struct fulcrum_product_form_network *network)
{
    double customers = network->customers;
    if (!(customers >= 1.0 && customers <= MOST_CUSTOMERS &&
            floor(customers) >= customers)) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "customers = %g is outside [1, %g] or not whole", customers,
            MOST_CUSTOMERS);
    }
    check_value(faults, "think_s", network->think_s, times_s);
    if (network->station_count > MOST_STATIONS) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE, "%zu stations; at most %d",
            network->station_count, MOST_STATIONS);
    }
}

enum fulcrum_status fulcrum_product_form_check(
    const struct fulcrum_product_form_network *network, struct fulcrum_error *err)
{
    struct fulcrum_error faults = {FULCRUM_OK, ""};
    check_whole(&faults, network);
    double sum_s = network->think_s;
    for (size_t i = 0; i < network->station_count; i++) {
        const struct fulcrum_product_form_station *station = &network->stations[i];
        struct fulcrum_error own = {FULCRUM_OK, ""};
        check_value(&own, "service_s", station->service_s, times_s);
        check_value(&own, "visits", station->visits, visits);
        check_type(&own, station);
        if (own.status != FULCRUM_OK) {
            (void)fulcrum_fail_more(
                &faults, own.status, "%s: %s", station->name, own.detail);
        }
        sum_s += station->service_s * station->visits;
    }
    if (faults.status == FULCRUM_OK && !(sum_s > 0.0)) {
        (void)fulcrum_fail_more(&faults, FULCRUM_ERR_INFEASIBLE,
            "think_s and all services are 0: nothing takes time");
    }
    if (faults.status != FULCRUM_OK && err != NULL) {
        *err = faults;
    }
    return faults.status;
}

const char *fulcrum_product_form_type_name(enum fulcrum_product_form_type type)
{
    static const char *const names[] = {"queue", "multi", "delay", "ld"};
    size_t i = (size_t)type;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

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
    struct fulcrum_product_form_station delay; /* all delays */
    double guess;                              /* x, of the throughput in units */
    /* Series of the chances, but for a factor, of 0 to N customers: */
    double *room; /* what all of them stand in */
    double *here; /* at one station */
    double *scratch;
    double *without[DEPTHS]; /* [depth]: at all stations but those that are looked at */
    int *power;              /* of 2, of each of `here` while it is formed */
    double cycles_per_unit;  /* 0 as long as no station has told */
    bool agree;              /* all stations have told the same */
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

static bool can_queue(const struct fulcrum_product_form_station *station)
{
    return station->type != FULCRUM_STATION_DELAY && demand_s(station) > 0.0;
}

static bool allocate(struct solver *solver)
{
    size_t length = solver->customers + 1;
    solver->queueing =
        calloc(solver->network->station_count + 1, sizeof *solver->queueing);
    solver->power = calloc(length, sizeof *solver->power);
    solver->room = calloc(length * (DEPTHS + 2), sizeof *solver->room);
    if (solver->queueing == NULL || solver->power == NULL || solver->room == NULL) {
        return false;
    }
    solver->here = solver->room;
    solver->scratch = solver->room + length;
    for (size_t i = 0; i < DEPTHS; i++) {
        solver->without[i] = solver->room + (i + 2) * length;
    }
    return true;
}

static double load_of(
    const struct solver *solver, const struct fulcrum_product_form_station *station)
{
    return demand_s(station) / solver->unit_s * solver->guess;
}

/* f(k) x^k of a station into `here`. */
static void weigh(
    struct solver *solver, const struct fulcrum_product_form_station *station)
{
    double *here = solver->here;
    double load = load_of(solver, station);
    int most = 0;
    here[0] = 1.0;
    solver->power[0] = 0;
    for (size_t k = 1; k <= solver->customers; k++) {
        int step = 0;
        here[k] = frexp(here[k - 1] * (load / rate_at(station, k)), &step);
        solver->power[k] = solver->power[k - 1] + step;
        most = solver->power[k] > most ? solver->power[k] : most;
    }
    for (size_t k = 0; k <= solver->customers; k++) {
        here[k] = ldexp(here[k], solver->power[k] - most);
    }
}

/* The station by its place among those that queue; after them all delays. */
static const struct fulcrum_product_form_station *place_of(
    const struct solver *solver, size_t i)
{
    return i < solver->queueing_count ? &solver->network->stations[solver->queueing[i]]
                                      : &solver->delay;
}

/* Mean customers of the open network, of which no place holds more than N. */
static double open_customers(struct solver *solver, double cycles_per_unit)
{
    double customers = 0.0;
    solver->guess = cycles_per_unit;
    for (size_t i = 0; i <= solver->queueing_count; i++) {
        weigh(solver, place_of(solver, i));
        double sum = 0.0;
        double moment = 0.0;
        for (size_t k = 0; k <= solver->customers; k++) {
            sum += solver->here[k];
            moment += solver->here[k] * (double)k;
        }
        customers += moment / sum;
    }
    return customers;
}

/* Whether a station can hold all customers at this x. */
static bool holds_all(struct solver *solver)
{
    bool holds = false;
    for (size_t i = 0; i < solver->queueing_count && !holds; i++) {
        weigh(solver, place_of(solver, i));
        holds = solver->here[solver->customers] > 1e-100;
    }
    return holds;
}

/*
 * 1, what the slowest station does, is enough where that can hold whoever is not
 * elsewhere. More is for stations that are quick as long as few are there.
 */
static void guess_throughput(struct solver *solver)
{
    double low = 1e-70;
    double high = 1.0;
    if (open_customers(solver, high) <= solver->network->customers) {
        if (holds_all(solver)) {
            return;
        }
        low = 1.0;
        high = 1e70;
    }
    while (high > low * (1.0 + 1e-6)) {
        double middle = sqrt(low * high);
        if (open_customers(solver, middle) > solver->network->customers) {
            high = middle;
        } else {
            low = middle;
        }
    }
    solver->guess = high;
}

/* Sum of up[i] x last[-i]: four sums, so that no addition waits for the one before. */
static double dot(const double *up, const double *last, size_t count)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            sum[j] += up[i + j] * *(last - i - j);
        }
    }
    for (; i < count; i++) {
        sum[0] += up[i] * *(last - i);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* out = in, convolved with the station of `here`; the largest value becomes 1. */
static void convolve(const struct solver *solver,
    const struct fulcrum_product_form_station *station, const double *in, double *out)
{
    const double *here = solver->here;
    size_t knee = settled_at(station) - 1; /* from here on `here` is geometric */
    double ratio = load_of(solver, station) / rate_at(station, knee + 1);
    double tail = 0.0; /* sum over k from `knee` on */
    double most = 0.0;
    if (ratio > 1.0) {
        knee = solver->customers + 1;
    }
    for (size_t n = 0; n <= solver->customers; n++) {
        tail = n >= knee ? tail * ratio + here[knee] * in[n - knee] : 0.0;
        out[n] = tail + dot(here, in + n, knee <= n ? knee : n + 1);
        most = fmax(most, out[n]);
    }
    for (size_t n = 0; n <= solver->customers; n++) {
        out[n] /= most;
    }
}

/* without[depth + 1] = without[depth], convolved with `count` stations more. */
static void take_in(struct solver *solver, size_t first, size_t count, size_t depth)
{
    const double *from = solver->without[depth];
    for (size_t i = first; i < first + count; i++) {
        const struct fulcrum_product_form_station *station = place_of(solver, i);
        weigh(solver, station);
        convolve(solver, station, from, solver->scratch);
        double *formed = solver->scratch;
        solver->scratch = solver->without[depth + 1];
        solver->without[depth + 1] = formed;
        from = formed;
    }
}

static void tell_station(struct solver *solver, size_t index, size_t depth)
{
    const struct fulcrum_product_form_station *station =
        &solver->network->stations[index];
    struct fulcrum_product_form_load *load = &solver->loads[index];
    size_t customers = solver->customers;
    double sum = 0.0;
    weigh(solver, station);
    for (size_t k = 0; k <= customers; k++) {
        solver->here[k] *= solver->without[depth][customers - k];
        sum += solver->here[k];
    }
    double busy = 0.0;
    double mean = 0.0;
    double rate = 0.0;
    for (size_t k = 0; k <= customers; k++) {
        double chance = solver->here[k] / sum;
        if (load->chance != NULL) {
            load->chance[k] = chance;
        }
        if (k > 0) {
            busy += chance;
            mean += chance * (double)k;
            rate += chance * rate_at(station, k);
        }
    }
    /* Every station must see the same customers pass. */
    double cycles_per_unit = rate * solver->unit_s / demand_s(station);
    if (!(solver->cycles_per_unit > 0.0)) {
        solver->cycles_per_unit = cycles_per_unit;
    }
    double apart = fabs(cycles_per_unit - solver->cycles_per_unit);
    solver->agree &= apart <= TOLERANCE_REL * solver->cycles_per_unit;
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
        bool has_chance =
            station->type != FULCRUM_STATION_DELAY && load->chance != NULL;
        for (size_t k = 0; has_chance && k <= solver->customers; k++) {
            load->chance[k] = k == 0 ? 1.0 : 0.0;
        }
    }
}

static enum fulcrum_status solve(
    struct solver *solver, double *cycles_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_product_form_network *network = solver->network;
    FAIL_IF(!allocate(solver), err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a product form of %g customers", network->customers);
    for (size_t i = 0; i < network->station_count; i++) {
        if (can_queue(&network->stations[i])) {
            solver->queueing[solver->queueing_count++] = i;
        }
    }
    guess_throughput(solver);
    weigh(solver, &solver->delay);
    memcpy(solver->without[0], solver->here,
        (solver->customers + 1) * sizeof *solver->here);
    if (solver->queueing_count > 0) {
        tell(solver, 0, solver->queueing_count, 0);
        *cycles_per_s = solver->cycles_per_unit / solver->unit_s;
    } else {
        *cycles_per_s = network->customers / solver->unit_s;
    }
    tell_the_rest(solver, *cycles_per_s);
    FAIL_IF(!solver->agree, err, FULCRUM_ERR_NUMERIC,
        "the stations disagree on the throughput");
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
        .delay = {.type = FULCRUM_STATION_DELAY,
            .service_s = delay_s(network),
            .visits = 1.0},
        .agree = 1};
    enum fulcrum_status status = solve(&solver, cycles_per_s, err);
    free(solver.queueing);
    free(solver.power);
    free(solver.room);
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
    FAIL_IF(!(cycles_per_s >= least * (1.0 - TOLERANCE_REL) &&
                cycles_per_s <= most * (1.0 + TOLERANCE_REL)),
        err, FULCRUM_ERR_NUMERIC,
        "a throughput of %g per second is outside its bounds [%g, %g]", cycles_per_s,
        least, most);
    double sum = cycles_per_s * network->think_s;
    for (size_t i = 0; i < network->station_count; i++) {
        double here = loads[i].mean_customers;
        FAIL_IF(!(here >= 0.0 && loads[i].busy_frac >= 0.0 &&
                    loads[i].busy_frac <= 1.0 + TOLERANCE_REL),
            err, FULCRUM_ERR_NUMERIC,
            "%s: %g customers and a busy share of %g cannot be",
            network->stations[i].name, here, loads[i].busy_frac);
        sum += here;
    }
    FAIL_IF(!(fabs(sum - network->customers) <= TOLERANCE_REL * network->customers),
        err, FULCRUM_ERR_NUMERIC,
        "the customers at all places add up to %.12g instead of %g", sum,
        network->customers);
    return FULCRUM_OK;
}
