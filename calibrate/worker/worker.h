/* worker.h - a child process that cannot harm us, nor outlive us. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WORKER_WORKER_H
#define FULCRUM_CALIBRATE_WORKER_WORKER_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "model/status.h"

#define FULCRUM_WORKER_PATH_SIZE 4096

/*
 * The program that every worker starts as: $FULCRUM_WORKER, else beside this program,
 * in ../libexec/fulcrum, or where it was installed.
 *   fails    FULCRUM_ERR_UNSUPPORTED (it is in none of these places)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_find_program(
    char out[FULCRUM_WORKER_PATH_SIZE], struct fulcrum_error *err);

/* The same for a program in Python of share/fulcrum, "/fulcrum_gym.py". */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_find_python(
    char out[FULCRUM_WORKER_PATH_SIZE], const char *name, struct fulcrum_error *err);

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
 *   fails    FULCRUM_ERR_UNSUPPORTED (no process, no descriptors)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_worker_process_start(
    struct fulcrum_worker_process *out, char *const *argv, struct fulcrum_error *err);

/* Kills it with all that it has started, reaps it and closes what belongs to it. */
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

/* Bytes of it with all that it has started; 0 where they are within `most_byte`. */
double fulcrum_worker_process_excess_byte(
    const struct fulcrum_worker_process *process, double most_byte);

#endif
