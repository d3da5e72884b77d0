/* worker_talk.h - commands, replies, and what is made of their absence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WORKER_TALK_H
#define FULCRUM_CALIBRATE_WORKER_TALK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "calibrate/worker.h"
#include "calibrate/worker_process.h"
#include "calibrate/worker_protocol.h"
#include "model/status.h"

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

/*
 * Kills the worker and keeps why, on one line behind the environment's name. What comes
 * after the first failure follows from it, and is not kept.
 */
void fulcrum_worker_fail(struct fulcrum_worker *worker, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* Sends a command. Returns 0 where the worker failed, here and below. */
int fulcrum_worker_tell(
    struct fulcrum_worker *worker, const struct fulcrum_worker_command *command);

/*
 * Receives the reply to `code`, with a payload of exactly so many bytes, within the
 * limit: that of a step, not of the run that it is part of.
 */
int fulcrum_worker_answer(struct fulcrum_worker *worker, uint32_t code,
    struct fulcrum_worker_reply *reply, void *payload, size_t payload_byte);

/* Takes what it has printed. Fails where that is more than anyone should. */
int fulcrum_worker_stays_quiet(struct fulcrum_worker *worker);

/* Seconds that a worker is waited for in one go. */
double fulcrum_worker_slice_s(const struct fulcrum_worker_job *job);

#endif
