/* worker.h - one environment that lives in a process of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WORKER_WORKER_H
#define FULCRUM_CALIBRATE_WORKER_WORKER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "calibrate/actor/actor.h"
#include "calibrate/worker/worker_process.h"
#include "calibrate/worker/worker_protocol.h"
#include "model/status.h"

/* What the workers of one actor have in common. */
struct fulcrum_worker_job {
    char *const *argv; /* NULL-terminated; borrowed */
    char what[200];    /* for messages: "env plug-in ./mine.so" */
    double limit_s;    /* of a start, a step, a reset */
    double frame_skip; /* asked for; 0: the environment's own */
};

struct fulcrum_worker; /* opaque; used by one thread at a time but for cpu_s */

/*
 * Starts the process and asks it what its environment is like, without waiting.
 *   job      borrowed as long as the worker lives
 *   number   of the environment, from 1, for messages; 0: none
 *   out      given back with fulcrum_worker_free
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (no process)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_start(struct fulcrum_worker **out,
    const struct fulcrum_worker_job *job, size_t number, struct fulcrum_error *err);

/*
 * Waits for that answer and checks it.
 *   out      texts end in a zero byte; sizes are within the limits of fulcrum_env.h
 *   fails    FULCRUM_ERR_ENVIRONMENT
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_describe(
    struct fulcrum_worker *worker, struct fulcrum_worker_description *out,
    struct fulcrum_error *err);

/*
 * Makes the environment, after it has been described, and resets it.
 *   fails    FULCRUM_ERR_ENVIRONMENT, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_create(
    struct fulcrum_worker *worker, uint64_t seed, struct fulcrum_error *err);

/* As the members of struct fulcrum_actor. */
enum fulcrum_step_result fulcrum_worker_step(
    struct fulcrum_worker *worker, const float *action, void *observation);

enum fulcrum_step_result fulcrum_worker_reset(
    struct fulcrum_worker *worker, void *observation);

enum fulcrum_step_result fulcrum_worker_step_many(struct fulcrum_worker *worker,
    const struct fulcrum_action_rows *rows, size_t count, void *observation,
    struct fulcrum_step_log *log);

const char *fulcrum_worker_failure(const struct fulcrum_worker *worker);

double fulcrum_worker_cpu_s(const struct fulcrum_worker *worker);

double fulcrum_worker_memory_byte(const struct fulcrum_worker *worker);

/*
 * Gives the environment `grace_s` to end by itself, then kills the process.
 * Returns 0 where it did not take the chance. Accepts NULL.
 */
int fulcrum_worker_free(struct fulcrum_worker *worker, double grace_s);

/* Commands, replies, and what is made of their absence. */

/* Where everything lies; the observation ends right before the guard page. */
struct fulcrum_worker_layout {
    size_t row_count;
    size_t action_offset;
    size_t time_offset;
    size_t observation_offset;
    size_t memory_byte;
    size_t row_byte;
};

struct fulcrum_worker {
    const struct fulcrum_worker_job *job;
    size_t number;
    struct fulcrum_worker_process process;
    struct fulcrum_worker_description description;
    unsigned char *memory; /* NULL before create */
    /* Ours: the words in the memory are the worker's to spoil. */
    struct fulcrum_worker_layout layout;
    size_t observation_byte;
    const float *table; /* whose rows were copied; NULL: none yet */
    size_t table_row_count;
    size_t exchange_count;
    pid_t caller;         /* the thread of the last exchange */
    atomic_int is_failed; /* any thread may ask for CPU time meanwhile */
    char failure[1600];
};

/* A word of the shared memory, which the worker may write at any time. */
volatile uint64_t *fulcrum_worker_word(
    const struct fulcrum_worker *worker, enum fulcrum_worker_word which);

#endif
