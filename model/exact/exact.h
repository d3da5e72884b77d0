/* exact.h - exact solution of closed product-form queueing networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_EXACT_EXACT_H
#define FULCRUM_MODEL_EXACT_EXACT_H

#include <stddef.h>

#include "model/network/network.h"
#include "model/status.h"

enum fulcrum_product_form_type {
    FULCRUM_STATION_QUEUE, /* one server */
    FULCRUM_STATION_MULTI, /* `servers` alike, one line */
    FULCRUM_STATION_DELAY, /* a server for everybody */
    FULCRUM_STATION_LD     /* load-dependent: `rate` by the number of customers */
};

struct fulcrum_product_form_station {
    char name[64];
    enum fulcrum_product_form_type type;
    double service_s; /* mean of one visit, by one server at rate 1 */
    double visits;    /* per cycle of a customer */
    double servers;   /* multi only: a whole number >= 1 */
    /* ld only, borrowed: with j customers one leaves every service_s / rate[j - 1] on
       average; held beyond its end. */
    const double *rate;
    size_t rate_count;
};

struct fulcrum_product_form_network {
    char name[64];
    double customers; /* N, a whole number >= 1 */
    double think_s;   /* per cycle, spent at no station */
    const struct fulcrum_product_form_station *stations; /* borrowed */
    size_t station_count;
};

/* What one station does. */
struct fulcrum_product_form_load {
    double mean_customers;
    double residence_s; /* all visits of a cycle, waiting and served */
    double busy_frac;   /* queue, multi: mean share of servers that serve; ld: share of
                           time with a customer; delay: 0 */
    double *chance;     /* set by the caller: NULL, or room for customers + 1 chances of
                           0, 1, ... customers here; a delay leaves it as it is */
};

/*
 * Everything the solution relies on: finite, in range, something takes time.
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE; the detail names station, field
 *            and value
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_product_form_check(
    const struct fulcrum_product_form_network *network, struct fulcrum_error *err);

/*
 * Throughput and loads (one for each station) of a network that
 * fulcrum_product_form_check accepts, by convolution; docs/model.md "Product form".
 *   fails    FULCRUM_ERR_NUMERIC (the result failed audit),
 *            FULCRUM_ERR_NO_MEMORY; what was set is then not to be used
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_product_form_solve(
    const struct fulcrum_product_form_network *network, double *cycles_per_s,
    struct fulcrum_product_form_load *loads, struct fulcrum_error *err);

/* Names as they stand in files; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_product_form_type_name(int type);

/*
 * Solves a network that fulcrum_network_check accepts as if it had a product form: a
 * baseline, known to be wrong for batches (FULCRUM_FLAG_TEXTBOOK is always set);
 * docs/model.md "Product form". The bottleneck is not set.
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (beyond the ranges of fulcrum_product_form_check),
 *            FULCRUM_ERR_NUMERIC, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_textbook_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err);

#endif
