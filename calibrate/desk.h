/* desk.h - requests of many threads to one server, and its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DESK_H
#define FULCRUM_CALIBRATE_DESK_H

#include <stddef.h>

#include "model/status.h"

/*
 * A queue under a mutex, a condition variable on which the server waits for requests
 * enough, and a semaphore for each seat on which its thread waits for the answer: what
 * a plain implementation of a central inference server does. The calibration times this
 * very code with nothing behind it, and real runs pass their requests through it.
 */
struct fulcrum_desk; /* opaque */

/*
 *   seat_count  threads that may ask; each uses a seat of its own, from 0
 *   out         given back with fulcrum_desk_free, once nobody waits at it any more
 *   fails       FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_desk_new(
    struct fulcrum_desk **out, size_t seat_count, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_desk_free(struct fulcrum_desk *desk);

/*
 * Hands in the request of a seat; fulcrum_desk_await takes the answer. Returns 0 once
 * the desk is closed.
 */
int fulcrum_desk_hand_in(struct fulcrum_desk *desk, size_t seat);

/* Waits for the answer to the seat's request. Returns 0 once the desk is closed. */
int fulcrum_desk_await(struct fulcrum_desk *desk, size_t seat);

/*
 * The server's side: waits until `least` requests (1..seat_count) are there, then takes
 * all that are, at most `most`, in the order of their arrival.
 *   seats   room for `most`
 * Returns how many; 0 once the desk is closed.
 */
size_t fulcrum_desk_collect(
    struct fulcrum_desk *desk, size_t least, size_t most, size_t *seats);

/* Lets the threads of `count` seats go on. */
void fulcrum_desk_answer(struct fulcrum_desk *desk, const size_t *seats, size_t count);

/* Requests that wait to be collected, now. */
size_t fulcrum_desk_waiting(struct fulcrum_desk *desk);

/* Sends everybody home: whoever waits, and whoever comes. May be called twice. */
void fulcrum_desk_close(struct fulcrum_desk *desk);

#endif
