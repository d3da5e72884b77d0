/* exchange.h - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_EXCHANGE_H
#define FULCRUM_CALIBRATE_EXCHANGE_H

#include <stddef.h>

#include "model/status.h"

/*
 * `count` actor threads around one mutex, each with a condition variable of its own;
 * the server is the calling thread. Nobody computes: what is left is the hand-off.
 */
struct fulcrum_exchange;

/*
 *   out      given back with fulcrum_exchange_free
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (a thread cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_exchange_new(
    struct fulcrum_exchange **out, size_t count, struct fulcrum_error *err);

/* Ends and joins the actors. Accepts NULL. */
void fulcrum_exchange_free(struct fulcrum_exchange *exchange);

/*
 * Waits until every actor has handed in its request, then answers all of them.
 * Returns the wall-clock time from the first answer to when the actor that got it ran
 * again; known once that actor is back, so of the batch before. 0 for the first batch.
 */
double fulcrum_exchange_serve(struct fulcrum_exchange *exchange);

#endif
