/* exchange.h - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_EXCHANGE_H
#define FULCRUM_CALIBRATE_EXCHANGE_H

#include <stddef.h>

#include "model/status.h"

/*
 * Actor threads around a desk as in a real run, with nothing behind it: the server is
 * the calling thread. Where there are two cores or more, server and actors get those of
 * the standard placement: left to itself the scheduler puts two threads that only talk
 * on one core.
 */
struct fulcrum_exchange;

struct fulcrum_exchange_plan {
    size_t actor_count;
    size_t item_count; /* observations of a request */
    size_t item_byte;  /* of one; the server copies them together */
    double think_s;    /* what an actor computes between an answer and its next request:
                          without it no core would ever fall idle, as in a real run */
};

/*
 *   out      given back with fulcrum_exchange_free; until then the calling thread is
 *            bound to the server's processors
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (a thread cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_exchange_new(
    struct fulcrum_exchange **out, const struct fulcrum_exchange_plan *plan,
    struct fulcrum_error *err);

/* Ends and joins the actors. Accepts NULL. */
void fulcrum_exchange_free(struct fulcrum_exchange *exchange);

/* Waits until every actor has handed in its request, and copies their observations. */
void fulcrum_exchange_collect(struct fulcrum_exchange *exchange);

/* Answers all of them. */
void fulcrum_exchange_answer(struct fulcrum_exchange *exchange);

/*
 * Wall time from an answer until the first actor ran again; known once that actor's
 * next request was collected, 0 before.
 */
double fulcrum_exchange_wake_s(const struct fulcrum_exchange *exchange);

/*
 * CPU time that the actors have spent on handing in and waking up, over their requests,
 * since the last call; to be called between a collect and its answer.
 */
double fulcrum_exchange_ask_s(struct fulcrum_exchange *exchange);

/* 1 where server and actors have cores of their own. */
int fulcrum_exchange_is_apart(const struct fulcrum_exchange *exchange);

/* Computes for `seconds` of the calling thread's CPU time. */
void fulcrum_spin_s(double seconds);

#endif
