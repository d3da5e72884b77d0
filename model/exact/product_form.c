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

#include "model/exact/exact.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/try.h"

/*
 * Series that span thousands of decades, and their convolution. The normalisation
 * constants of a queueing network with thousands of customers leave the range of double
 * in both directions, and no single factor brings all of them back. So each value has
 * an exponent of its own, in steps of 2^512. The step is so coarse that neighbours
 * nearly always share it: products of two runs are summed as plain doubles, and
 * exponents are looked at once a run.
 */

#define POWER_BITS    512
#define MANTISSA_LOW  0x1p-256
#define MANTISSA_HIGH 0x1p256
/* From so many powers apart on, the smaller one is nothing beside the larger. */
#define FAR_POWERS 4

/* mantissa x 2^(512 power), mantissa 0 or within 2^-256 and 2^256. */
struct wide {
    double mantissa;
    int power;
};

/* Values that are not negative; those beyond `length` are 0. */
struct wide_series {
    double *mantissa;
    int *power;
    size_t *begin; /* [i]: first of the run of equal powers that i belongs to */
    size_t *end;   /* [begin]: one past the last of that run */
    size_t room;
    size_t length;
};

/* A series that ends as a geometric one: from [knee] on each is `ratio` x the last. */
struct wide_kernel {
    struct wide_series head; /* [0..knee] at least, where so many are used */
    size_t knee;
    double ratio;
};

/* An empty series. False where there is no memory; _clear is called all the same. */
static bool wide_series_init(struct wide_series *series, size_t room)
{
    *series = (struct wide_series){.room = room};
    series->mantissa = calloc(room, sizeof *series->mantissa);
    series->power = calloc(room, sizeof *series->power);
    series->begin = calloc(room, sizeof *series->begin);
    series->end = calloc(room, sizeof *series->end);
    return series->mantissa != NULL && series->power != NULL && series->begin != NULL &&
           series->end != NULL;
}

static void wide_series_clear(struct wide_series *series)
{
    free(series->mantissa);
    free(series->power);
    free(series->begin);
    free(series->end);
}

/* Adds a value at the end; there must be room. */
static void wide_series_append(struct wide_series *series, struct wide value)
{
    size_t i = series->length;
    assert(i < series->room);
    bool goes_on = i > 0 && series->power[i - 1] == value.power;
    series->mantissa[i] = value.mantissa;
    series->power[i] = value.power;
    series->begin[i] = goes_on ? series->begin[i - 1] : i;
    series->length = i + 1;
    series->end[series->begin[i]] = series->length;
}

static struct wide wide_series_at(const struct wide_series *series, size_t index)
{
    if (index >= series->length) {
        return (struct wide){0.0, 0};
    }
    return (struct wide){series->mantissa[index], series->power[index]};
}

/* Brings the mantissa back into its range. */
static struct wide normalised(double mantissa, int power)
{
    while (mantissa >= MANTISSA_HIGH) {
        mantissa = ldexp(mantissa, -POWER_BITS);
        power++;
    }
    while (mantissa < MANTISSA_LOW && mantissa > 0.0) {
        mantissa = ldexp(mantissa, POWER_BITS);
        power--;
    }
    return (struct wide){mantissa, power};
}

/* `factor` at most 2^700 apart from 1 in either direction, or 0. */
static struct wide wide_times(struct wide value, double factor)
{
    return normalised(value.mantissa * factor, value.power);
}

static struct wide wide_product(struct wide one, struct wide other)
{
    return normalised(one.mantissa * other.mantissa, one.power + other.power);
}

/* A value moved to a higher power: what is far below becomes 0. */
static double at_power(struct wide value, int power)
{
    int steps = power - value.power;
    return steps < FAR_POWERS ? ldexp(value.mantissa, -POWER_BITS * steps) : 0.0;
}

static struct wide wide_sum(struct wide one, struct wide other)
{
    if (!(one.mantissa > 0.0)) {
        return other;
    }
    if (!(other.mantissa > 0.0)) {
        return one;
    }
    int power = one.power > other.power ? one.power : other.power;
    return normalised(at_power(one, power) + at_power(other, power), power);
}

/* one / other as a double, which must be able to hold it; `other` is not 0. */
static double wide_ratio(struct wide one, struct wide other)
{
    return at_power(
        (struct wide){one.mantissa / other.mantissa, one.power}, other.power);
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

/*
 * out[n] = sum over k of kernel[k] x in[n - k], for as many n as `out` has room. Takes
 * about knee multiplications a value.
 */
static void wide_convolve(struct wide_series *out, const struct wide_kernel *kernel,
    const struct wide_series *in)
{
    const struct wide_series *head = &kernel->head;
    struct wide tail = {0.0, 0}; /* sum over k from `knee` on */
    out->length = 0;
    for (size_t n = 0; n < out->room; n++) {
        if (n >= kernel->knee) {
            struct wide newest = wide_product(wide_series_at(head, kernel->knee),
                wide_series_at(in, n - kernel->knee));
            tail = wide_sum(wide_times(tail, kernel->ratio), newest);
        }
        /* Sum over k below `knee` of head[k] x in[n - k], run by run. */
        struct wide sum = {0.0, 0};
        size_t stop = least_of(kernel->knee, n + 1);
        size_t k = n < in->length ? 0 : n + 1 - in->length;
        while (k < stop) {
            size_t from = n - k;
            size_t count = least_of(head->end[head->begin[k]], stop) - k;
            count = least_of(count, from + 1 - in->begin[from]);
            double part = dot(head->mantissa + k, in->mantissa + from, count);
            sum = wide_sum(sum, normalised(part, head->power[k] + in->power[from]));
            k += count;
        }
        wide_series_append(out, wide_sum(sum, tail));
    }
}

/* What a product-form network may hold. */

#define MOST_CUSTOMERS 1e5
#define MOST_STATIONS  1000 /* the depth of the solver's halving rests on it */

/* Quotients of any two times, visits or rates are far inside the range of double. */
#define STATION(member) #member, offsetof(struct fulcrum_product_form_station, member)
static const struct fulcrum_range station_ranges[] = {
    {STATION(service_s), 1e-15, 1e9, FULCRUM_RANGE_OR_ZERO},
    {STATION(visits), 1e-9, 1e9, FULCRUM_RANGE_OR_ZERO},
    {STATION(servers), 1.0, 1e9, FULCRUM_RANGE_WHOLE}, /* multi only */
};

#define NETWORK(member) #member, offsetof(struct fulcrum_product_form_network, member)
static const struct fulcrum_range network_ranges[] = {
    {NETWORK(customers), 1.0, MOST_CUSTOMERS, FULCRUM_RANGE_WHOLE},
    {NETWORK(think_s), 1e-15, 1e9, FULCRUM_RANGE_OR_ZERO},
};

enum fulcrum_status fulcrum_product_form_check(
    const struct fulcrum_product_form_network *network, struct fulcrum_error *err)
{
    struct fulcrum_error faults = {FULCRUM_OK, ""};
    fulcrum_check_ranges(&faults, "", network, network_ranges, 2);
    FAULT_IF(network->station_count > MOST_STATIONS, &faults, FULCRUM_ERR_RANGE,
        "%zu stations; at most %d", network->station_count, MOST_STATIONS);
    double sum_s = network->think_s;
    for (size_t i = 0; i < network->station_count; i++) {
        const struct fulcrum_product_form_station *station = &network->stations[i];
        struct fulcrum_error own = {FULCRUM_OK, ""};
        size_t count = station->type == FULCRUM_STATION_MULTI ? 3 : 2;
        fulcrum_check_ranges(&own, "", station, station_ranges, count);
        FAULT_IF(fulcrum_product_form_type_name(station->type) == NULL, &own,
            FULCRUM_ERR_RANGE, "type = %d is none of the known choices",
            (int)station->type);
        if (station->type == FULCRUM_STATION_LD) {
            FAULT_IF(station->rate == NULL || station->rate_count == 0, &own,
                FULCRUM_ERR_RANGE,
                "rate is empty; type ld needs one for each number of customers");
            for (size_t k = 0; station->rate != NULL && k < station->rate_count; k++) {
                double rate = station->rate[k];
                FAULT_IF(!(rate >= 1e-9 && rate <= 1e9), &own, FULCRUM_ERR_RANGE,
                    "rate[%zu] = %g is outside [1e-09, 1e+09]", k, rate);
            }
        }
        FAULT_IF(own.status != FULCRUM_OK, &faults, own.status, "%s: %s", station->name,
            own.detail);
        sum_s += station->service_s * station->visits;
    }
    FAULT_IF(faults.status == FULCRUM_OK && !(sum_s > 0.0), &faults,
        FULCRUM_ERR_INFEASIBLE, "think_s and all services are 0: nothing takes time");
    if (faults.status != FULCRUM_OK && err != NULL) {
        *err = faults;
    }
    return faults.status;
}

const char *fulcrum_product_form_type_name(int type)
{
    static const char *const names[] = {"queue", "multi", "delay", "ld"};
    return FULCRUM_NAMED(names, type);
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
    struct wide_kernel kernel;
    struct wide_series scratch;
    /* [depth]: of all stations but those that are looked at. */
    struct wide_series without[DEPTHS];
    double cycles_per_unit; /* 0 as long as no station has told */
    bool agree;             /* all stations have told the same */
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
    size_t room = solver->customers + 1;
    bool fits = true;
    solver->queueing =
        calloc(solver->network->station_count + 1, sizeof *solver->queueing);
    fits &= solver->queueing != NULL;
    fits &= wide_series_init(&solver->kernel.head, room);
    fits &= wide_series_init(&solver->scratch, room);
    for (size_t i = 0; i < DEPTHS; i++) {
        fits &= wide_series_init(&solver->without[i], room);
    }
    return fits;
}

/* f(0) to f(last) of a station into the kernel. */
static void set_kernel(struct solver *solver,
    const struct fulcrum_product_form_station *station, size_t last)
{
    struct wide_series *head = &solver->kernel.head;
    double demand = demand_s(station) / solver->unit_s;
    struct wide value = {1.0, 0};
    head->length = 0;
    wide_series_append(head, value);
    for (size_t n = 1; n <= last; n++) {
        value = wide_times(value, demand / rate_at(station, n));
        wide_series_append(head, value);
    }
    size_t settled = settled_at(station);
    solver->kernel.knee = settled - 1;
    solver->kernel.ratio = demand / rate_at(station, settled);
}

/* without[depth + 1] = without[depth], convolved with `count` stations more. */
static void take_in(struct solver *solver, size_t first, size_t count, size_t depth)
{
    const struct wide_series *from = &solver->without[depth];
    for (size_t i = first; i < first + count; i++) {
        const struct fulcrum_product_form_station *station =
            &solver->network->stations[solver->queueing[i]];
        size_t knee = settled_at(station) - 1;
        set_kernel(
            solver, station, knee < solver->customers ? knee : solver->customers);
        wide_convolve(&solver->scratch, &solver->kernel, from);
        struct wide_series formed = solver->scratch;
        solver->scratch = solver->without[depth + 1];
        solver->without[depth + 1] = formed;
        from = &solver->without[depth + 1];
    }
}

/* The weight of k customers at the station of the kernel, N - k at all others. */
static struct wide weight(
    const struct solver *solver, const struct wide_series *others, size_t k)
{
    return wide_product(wide_series_at(&solver->kernel.head, k),
        wide_series_at(others, solver->customers - k));
}

/* Tells of `count` stations; the others are in without[depth]. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as log2 of the stations */
static void tell(struct solver *solver, size_t first, size_t count, size_t depth)
{
    assert(depth + 1 < DEPTHS || count == 1);
    if (count == 1) {
        const struct fulcrum_product_form_station *station =
            &solver->network->stations[solver->queueing[first]];
        struct fulcrum_product_form_load *load =
            &solver->loads[solver->queueing[first]];
        set_kernel(solver, station, solver->customers);
        struct wide sum = {0.0, 0};
        for (size_t k = 0; k <= solver->customers; k++) {
            sum = wide_sum(sum, weight(solver, &solver->without[depth], k));
        }
        double busy = 0.0;
        double mean = 0.0;
        double rate = 0.0;
        for (size_t k = 0; k <= solver->customers; k++) {
            double chance = wide_ratio(weight(solver, &solver->without[depth], k), sum);
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

/* The least and the most that one customer, or the whole station, gets done. */
struct limits {
    double least_each;
    double most_each;
    double most;
};

/*
 * Holds any solution, wherever it comes from, to what each must obey: finite, within
 * the asymptotic bounds of the throughput, customers that add up to N. fails
 * FULCRUM_ERR_NUMERIC; the detail says what does not hold
 */
static enum fulcrum_status audit(const struct fulcrum_product_form_network *network,
    double cycles_per_s, const struct fulcrum_product_form_load *loads,
    struct fulcrum_error *err)
{
    double least = 0.0;
    double most = 0.0;
    /*
     * A customer spends at least demand / most_each and at most demand / least_each of
     * its cycle at a station, and N customers take at least N cycles of the slowest
     * station.
     */
    double quick_s = 0.0;
    double slow_s = 0.0;
    double crowd_per_s = (double)INFINITY;
    for (size_t i = 0; i < network->station_count; i++) {
        double each_s = demand_s(&network->stations[i]);
        if (each_s > 0.0) {
            struct limits limits = {(double)INFINITY, 0.0, 0.0};
            for (size_t j = 1; j <= (size_t)network->customers; j++) {
                double rate = rate_at(&network->stations[i], j);
                limits.least_each = fmin(limits.least_each, rate / (double)j);
                limits.most_each = fmax(limits.most_each, rate / (double)j);
                limits.most = fmax(limits.most, rate);
            }
            quick_s += each_s / limits.most_each;
            slow_s += each_s / limits.least_each;
            crowd_per_s = fmin(crowd_per_s, limits.most / each_s);
        }
    }
    least = network->customers / (network->think_s + slow_s);
    most = fmin(network->customers / (network->think_s + quick_s), crowd_per_s);
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
    /* f(0), f(1), ... of all delays together; a single 1 where there are none. */
    double share = delay_s(solver->network) / solver->unit_s;
    struct wide value = {1.0, 0};
    wide_series_append(&solver->without[0], value);
    for (size_t n = 1; n <= solver->customers && share > 0.0; n++) {
        value = wide_times(value, share / (double)n);
        wide_series_append(&solver->without[0], value);
    }
    if (solver->queueing_count > 0) {
        tell(solver, 0, solver->queueing_count, 0);
        *cycles_per_s = solver->cycles_per_unit / solver->unit_s;
    } else {
        *cycles_per_s = network->customers / solver->unit_s;
    }
    tell_the_rest(solver, *cycles_per_s);
    FAIL_IF(!solver->agree, err, FULCRUM_ERR_NUMERIC,
        "the stations disagree on the throughput");
    return audit(network, *cycles_per_s, solver->loads, err);
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
    free(solver.queueing);
    wide_series_clear(&solver.kernel.head);
    wide_series_clear(&solver.scratch);
    for (size_t i = 0; i < DEPTHS; i++) {
        wide_series_clear(&solver.without[i]);
    }
    return status;
}
