/* request_queue.h - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_REQUEST_QUEUE_H
#define FULCRUM_CALIBRATE_ACTOR_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/actor/stepper.h"
#include "model/status.h"

/*
 * A queue under a mutex, a condition variable on which the server waits for requests
 * enough, and a semaphore for each seat on which its thread waits for the answer: what
 * a plain implementation of a central inference server does. The calibration times this
 * very code, and real runs pass their requests through it.
 */
struct fulcrum_request_queue; /* opaque */

/*
 *   seat_count  threads that may ask; each uses a seat of its own, from 0
 *   out         given back with fulcrum_request_queue_free, once nobody waits at it any more
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_request_queue_new(
    struct fulcrum_request_queue **out, size_t seat_count, struct fulcrum_error *err);
void fulcrum_request_queue_free(struct fulcrum_request_queue *requests);

/*
 * Hands in the request of a seat; fulcrum_request_queue_await takes the answer. Returns
 * 0 once the request queue is closed.
 */
int fulcrum_request_queue_hand_in(struct fulcrum_request_queue *requests, size_t seat);

/* Waits for the answer to the seat's request. Returns 0 once the request queue is
 * closed. */
int fulcrum_request_queue_await(struct fulcrum_request_queue *requests, size_t seat);

/*
 * The server's side: waits until `least` requests (1..seat_count) are there, then takes
 * all that are, at most `most`, in the order of their arrival.
 *   seats   room for `most`
 * Returns how many; 0 once the request queue is closed.
 */
size_t fulcrum_request_queue_collect(
    struct fulcrum_request_queue *requests, size_t least, size_t most, size_t *seats);

/* Lets the threads of `count` seats go on. */
void fulcrum_request_queue_answer(
    struct fulcrum_request_queue *requests, const size_t *seats, size_t count);

/* Sends everybody home: whoever waits, and whoever comes. May be called twice. */
void fulcrum_request_queue_close(struct fulcrum_request_queue *requests);

/*
 * Actor threads around a request queue as in a real run, served by the calling thread.
 * Each waits for an answer, steps its environment and asks again. Where there are two
 * cores or more, server and actors get those of the standard placement: left to itself
 * the scheduler puts two threads that only talk on one core.
 */
struct fulcrum_handoff;

struct fulcrum_handoff_plan {
    size_t actor_count;
    size_t item_count; /* most observations of a request */
    size_t item_byte;  /* of one; the server copies them together */
    /* Whose environments they step; borrowed; NULL: they spin instead, */
    const struct fulcrum_stage *stage;
    double think_s;        /* for so much CPU time a turn */
    bool shares_processor; /* one processor for all actors, where they have several */
};

/* An actor's turn, from one answer to the next. */
struct fulcrum_handoff_turn {
    double asked_s; /* wall clock: its request had been handed in */
    double step_s;  /* CPU of its steps */
    double cpu_s;   /* CPU of its thread beyond them: mean over the actors; */
    double ask_s;   /* of that, handing its last request in */
};

/*
 *   out      given back with fulcrum_handoff_free; all actors wait
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (a thread cannot start), as
 *            fulcrum_stepper_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_handoff_new(struct fulcrum_handoff **out,
    const struct fulcrum_handoff_plan *plan, struct fulcrum_error *err);
void fulcrum_handoff_free(struct fulcrum_handoff *handoff);

/* Binds the calling thread to the server's processors, or gives it back its own. */
void fulcrum_handoff_serve(struct fulcrum_handoff *handoff, bool serves);

/* Lets the first `actor_count` actors go on, who all wait; each makes `item_count`
 * steps. */
void fulcrum_handoff_answer(
    struct fulcrum_handoff *handoff, size_t actor_count, size_t item_count);

/* Waits until `least` of them have handed in their requests, and takes all that are
 * there. Returns how many. */
size_t fulcrum_handoff_collect(struct fulcrum_handoff *handoff, size_t least);

/*
 * From the next answer on actors stay awake, and ask again after so much of the wall
 * clock instead of stepping; below 0: they step and sleep, as they did at first.
 */
void fulcrum_handoff_stay_awake(struct fulcrum_handoff *handoff, double gap_s);

/* Lets those go on whose requests were taken last. */
void fulcrum_handoff_reply(struct fulcrum_handoff *handoff);

/*
 * Copies the observations taken last.
 *   fails    FULCRUM_ERR_ENVIRONMENT; then it is good for freeing only
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_handoff_copy(
    struct fulcrum_handoff *handoff, struct fulcrum_error *err);

/*
 * The turn that ended with the last answer, of the first actor; to be called between a
 * collect and the next answer.
 */
struct fulcrum_handoff_turn fulcrum_handoff_turn(const struct fulcrum_handoff *handoff);

/* What steps took so far, in the actors' threads and in other processes. */
struct fulcrum_handoff_steps {
    double count;
    double cpu_s;
};

/* Of all actors; to be called while they all wait. */
struct fulcrum_handoff_steps fulcrum_handoff_steps(
    const struct fulcrum_handoff *handoff);

/* Processors that actors may run on. */
size_t fulcrum_handoff_thread_count(const struct fulcrum_handoff *handoff);

/* 1 where server and actors have cores of their own. */
bool fulcrum_handoff_is_apart(const struct fulcrum_handoff *handoff);

/* Computes for `seconds` of the calling thread's CPU time. */
void fulcrum_spin_s(double seconds);

#endif
