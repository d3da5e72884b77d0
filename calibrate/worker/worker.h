/* worker.h - environments in processes of their own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WORKER_WORKER_H
#define FULCRUM_CALIBRATE_WORKER_WORKER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "calibrate/actor/actor.h"
#include "calibrate/worker/worker_protocol.h"
#include "model/status.h"

/* A child process that cannot harm us, nor outlive us. */

#define FULCRUM_WORKER_PATH_SIZE 4096

/*
 * The program that every worker starts as: $FULCRUM_WORKER, else beside this program,
 * in ../libexec/fulcrum, or where it was installed.
 *   fails    FULCRUM_ERR_UNSUPPORTED (it is in none of these places)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_find_program(
    char out[FULCRUM_WORKER_PATH_SIZE], struct fulcrum_error *err);

/* The same for share/fulcrum/fulcrum_gym.py. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_find_gym(
    char out[FULCRUM_WORKER_PATH_SIZE], struct fulcrum_error *err);

/* The last thing that a worker printed, and how much it printed in all. */
struct fulcrum_worker_output {
    char tail[2048];
    size_t tail_byte;
    size_t total_byte;
};

struct fulcrum_worker_process {
    pid_t pid; /* 0: none, or reaped */
    int socket;
    int output_fd; /* of what it prints, never blocks */
    int memory_fd;
    clockid_t clock; /* of its CPU time */
    int exit_status; /* as of waitpid, once it has been reaped */
    struct fulcrum_worker_output output;
};

/*
 * Starts `argv` (NULL-terminated; argv[0] is the path of the program) with a socket, an
 * empty shared memory and its output in a pipe. It leads a process group of its own,
 * writes no core file and dies with the thread that called this.
 *   out      given back with fulcrum_worker_process_end
 *   fails    FULCRUM_ERR_UNSUPPORTED (no process, no descriptors)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_process_start(
    struct fulcrum_worker_process *out, char *const *argv, struct fulcrum_error *err);

/* Kills the process group, reaps the process and closes what belongs to it. */
void fulcrum_worker_process_end(struct fulcrum_worker_process *process);

/* 1 where the process has ended by itself within `limit_s`; it is reaped then. */
int fulcrum_worker_process_ended(
    struct fulcrum_worker_process *process, double limit_s);

/* "exited with code 3", "died of signal 11 (segmentation fault)". */
void fulcrum_worker_process_describe_end(
    const struct fulcrum_worker_process *process, char *out, size_t out_byte);

/* Takes what it has printed by now; returns how many bytes of it. */
size_t fulcrum_worker_process_drain(struct fulcrum_worker_process *process);

/* The last line that it printed, without control characters; "" where there is none. */
void fulcrum_worker_process_last_words(
    const struct fulcrum_worker_process *process, char *out, size_t out_byte);

/*
 * Lets the process run where the calling thread may: an actor that is bound to some
 * processors means its environment's too.
 */
void fulcrum_worker_process_follow(const struct fulcrum_worker_process *process);

/* CPU seconds so far; 0 once it has been reaped. Any thread may ask. */
double fulcrum_worker_process_cpu_s(const struct fulcrum_worker_process *process);

/* Bytes in memory that no other process has. */
double fulcrum_worker_process_memory_byte(const struct fulcrum_worker_process *process);

/* One environment that lives in a process of its own. */

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
