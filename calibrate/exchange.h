/* exchange.h - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_EXCHANGE_H
#define FULCRUM_CALIBRATE_EXCHANGE_H

#include <stddef.h>

#include "model/status.h"

/*
 * `count` actor threads around one mutex, each with a condition variable of its own;
 * the server is the calling thread. Where there are two processors or more the server
 * keeps the first and the actors the others, as a learner's core and actors' cores do:
 * left to itself the scheduler puts two threads that only talk on one core.
 */
struct fulcrum_exchange;

/*
 *   think_s  what each actor computes between an answer and its next request: without
 *            it no core would ever fall idle, as in a real run
 *   out      given back with fulcrum_exchange_free; until then the calling thread is
 *            bound to its processor
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (a thread cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_exchange_new(
    struct fulcrum_exchange **out, size_t count, double think_s,
    struct fulcrum_error *err);

/* Ends and joins the actors. Accepts NULL. */
void fulcrum_exchange_free(struct fulcrum_exchange *exchange);

/* Waits until every actor has handed in its request. */
void fulcrum_exchange_collect(struct fulcrum_exchange *exchange);

/* Answers all of them. */
void fulcrum_exchange_answer(struct fulcrum_exchange *exchange);

/*
 * Wall time from an answer until the first actor ran again; known once that actor's
 * next request was collected, 0 before.
 */
double fulcrum_exchange_wake_s(const struct fulcrum_exchange *exchange);

/* 1 where server and actors have processors of their own. */
int fulcrum_exchange_is_apart(const struct fulcrum_exchange *exchange);

/* Computes for `seconds` of wall time. */
void fulcrum_spin_s(double seconds);

#endif
