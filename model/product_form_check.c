/* product_form_check.c - what a product-form network may hold. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "model/product_form.h"

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
    if (!(fabs(value) <= 0.0 || (value >= range[0] && value <= range[1]))) {
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

static void check_station(
    struct fulcrum_error *faults, const struct fulcrum_product_form_station *station)
{
    struct fulcrum_error own = {FULCRUM_OK, ""};
    check_value(&own, "service_s", station->service_s, times_s);
    check_value(&own, "visits", station->visits, visits);
    check_type(&own, station);
    if (own.status != FULCRUM_OK) {
        (void)fulcrum_fail_more(
            faults, own.status, "%s: %s", station->name, own.detail);
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
        check_station(&faults, station);
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
