/* worker_talk.c - commands, replies, and what is made of their absence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever a worker does, the caller is back within the limit: replies are awaited in
 * short slices, between which the worker's output is taken and its progress looked at.
 * The first thing that goes wrong is put into words and the process is killed.
 */
#define _GNU_SOURCE

#include "calibrate/worker_talk.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "calibrate/stopwatch.h"

/* Longest wait for a reply between two looks at the worker. */
#define SLICE_S 0.05

/* What a worker may print; more would be part of what is timed. */
#define OUTPUT_BYTE_MAX ((size_t)1 << 20)

/* So much of its output at once means that it waits to print more; it may, so long. */
#define FULL_BYTE ((size_t)1 << 15)
#define REFILL_S  1e-3

/* A worker whose end was seen on the socket is about to become a zombie. */
#define DEATH_S 0.5

double fulcrum_worker_slice_s(const struct fulcrum_worker_job *job)
{
    return fmin(SLICE_S, 0.25 * job->limit_s);
}

volatile uint64_t *fulcrum_worker_word(
    const struct fulcrum_worker *worker, enum fulcrum_worker_word which)
{
    return (volatile uint64_t *)(void *)worker->memory + which;
}

static void name_it(const struct fulcrum_worker *worker, char *out, size_t out_byte)
{
    if (worker->number > 0) {
        (void)snprintf(
            out, out_byte, "%s, environment %zu", worker->job->what, worker->number);
    } else {
        (void)snprintf(out, out_byte, "%s", worker->job->what);
    }
}

void fulcrum_worker_fail(struct fulcrum_worker *worker, const char *format, ...)
{
    if (atomic_load(&worker->is_failed)) {
        return;
    }
    struct fulcrum_error text;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text.detail, sizeof text.detail, format, args);
    va_end(args);
    /* One line: the words may be the environment's own. */
    for (char *at = text.detail; *at != '\0'; at++) {
        *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
    }
    char name[260];
    name_it(worker, name, sizeof name);
    (void)snprintf(
        worker->failure, sizeof worker->failure, "%s: %.1300s", name, text.detail);
    atomic_store(&worker->is_failed, 1);
    fulcrum_worker_process_end(&worker->process);
}

/* What the worker is at, by its own account. */
struct place {
    enum fulcrum_worker_phase phase;
    unsigned long long step;
};

static struct place place_of(const struct fulcrum_worker *worker)
{
    struct place place = {FULCRUM_WORKER_WAITS, 0};
    if (worker->memory != NULL) {
        uint64_t phase = *fulcrum_worker_word(worker, FULCRUM_WORKER_PHASE);
        place.step = *fulcrum_worker_word(worker, FULCRUM_WORKER_STEP_NUMBER);
        if (phase == FULCRUM_WORKER_RESETS || phase == FULCRUM_WORKER_STEPS) {
            place.phase = (enum fulcrum_worker_phase)phase;
        }
    }
    return place;
}

/* "in step 12", "in the reset after step 12", "after step 12". */
static void tell_place(
    const struct fulcrum_worker *worker, uint32_t code, char *out, size_t out_byte)
{
    struct place place = place_of(worker);
    if (code == FULCRUM_WORKER_DESCRIBE) {
        (void)snprintf(out, out_byte, "while it started");
    } else if (place.phase == FULCRUM_WORKER_RESETS && place.step == 0) {
        (void)snprintf(out, out_byte, "in its first reset");
    } else if (place.phase == FULCRUM_WORKER_RESETS) {
        (void)snprintf(out, out_byte, "in the reset after step %llu", place.step);
    } else if (code == FULCRUM_WORKER_CREATE) {
        (void)snprintf(out, out_byte, "while it was created");
    } else if (place.phase == FULCRUM_WORKER_STEPS) {
        (void)snprintf(out, out_byte, "in step %llu", place.step);
    } else {
        (void)snprintf(out, out_byte, "after step %llu", place.step);
    }
}

static void fail_dead(struct fulcrum_worker *worker, uint32_t code)
{
    char place[80];
    char words[400];
    char end[120];
    tell_place(worker, code, place, sizeof place);
    (void)fulcrum_worker_process_drain(&worker->process);
    fulcrum_worker_process_last_words(&worker->process, words, sizeof words);
    int has_words = words[0] != '\0';
    if (fulcrum_worker_process_ended(&worker->process, DEATH_S)) {
        fulcrum_worker_process_describe_end(&worker->process, end, sizeof end);
    } else {
        (void)snprintf(end, sizeof end, "closed its end of the connection");
    }
    fulcrum_worker_fail(worker, "%s %s%s%s%s", end, place,
        has_words ? " (last words: " : "", words, has_words ? ")" : "");
}

static void fail_late(struct fulcrum_worker *worker, uint32_t code)
{
    struct place place = place_of(worker);
    double limit_s = worker->job->limit_s;
    if (code == FULCRUM_WORKER_DESCRIBE) {
        fulcrum_worker_fail(worker, "has not started within %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_RESETS && place.step == 0) {
        fulcrum_worker_fail(
            worker, "its first reset has not returned for %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_RESETS) {
        fulcrum_worker_fail(worker,
            "the reset after step %llu has not returned for %.3g s", place.step,
            limit_s);
    } else if (code == FULCRUM_WORKER_CREATE) {
        fulcrum_worker_fail(worker, "has not been created within %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_STEPS) {
        fulcrum_worker_fail(
            worker, "step %llu has not returned for %.3g s", place.step, limit_s);
    } else {
        fulcrum_worker_fail(worker, "has not answered for %.3g s, after step %llu",
            limit_s, place.step);
    }
}

int fulcrum_worker_stays_quiet(struct fulcrum_worker *worker)
{
    const struct fulcrum_worker_output *output = &worker->process.output;
    /* A full pipe is full again at once where somebody prints for ever. */
    while (fulcrum_worker_process_drain(&worker->process) >= FULL_BYTE &&
           output->total_byte <= OUTPUT_BYTE_MAX) {
        fulcrum_sleep_s(REFILL_S);
    }
    if (output->total_byte <= OUTPUT_BYTE_MAX) {
        return 1;
    }
    char words[200];
    fulcrum_worker_process_last_words(&worker->process, words, sizeof words);
    fulcrum_worker_fail(worker,
        "printed more than %zu KiB, which would be timed as part of its steps; the end "
        "of it: %s",
        OUTPUT_BYTE_MAX >> 10, words);
    return 0;
}

/* Changes with every step and every reset. */
static uint64_t progress(const struct fulcrum_worker *worker)
{
    return worker->memory != NULL
               ? *fulcrum_worker_word(worker, FULCRUM_WORKER_STEP_NUMBER) +
                     *fulcrum_worker_word(worker, FULCRUM_WORKER_RESET_NUMBER)
               : 0;
}

struct patience {
    uint64_t progress;
    double until_s;
};

/* A slice went by without a reply. Returns 0 where that was the last. */
static int may_wait(
    struct fulcrum_worker *worker, struct patience *patience, uint32_t code)
{
    if (!fulcrum_worker_stays_quiet(worker)) {
        return 0;
    }
    uint64_t now = progress(worker);
    if (now != patience->progress) {
        patience->progress = now;
        patience->until_s = fulcrum_wall_s() + worker->job->limit_s;
    }
    if (fulcrum_wall_s() < patience->until_s) {
        return 1;
    }
    /* Its children may hold the socket of a worker that is dead. */
    if (fulcrum_worker_process_ended(&worker->process, 0.0)) {
        fail_dead(worker, code);
    } else {
        fail_late(worker, code);
    }
    return 0;
}

/* The other end is closed. */
static void fail_cut_off(
    struct fulcrum_worker *worker, uint32_t code, size_t done, size_t byte)
{
    if (done > 0) {
        fulcrum_worker_fail(worker,
            "ended in the middle of a reply, after %zu of %zu bytes", done, byte);
    } else {
        fail_dead(worker, code);
    }
}

static int receive(struct fulcrum_worker *worker, void *out, size_t byte, uint32_t code)
{
    struct patience patience = {
        progress(worker), fulcrum_wall_s() + worker->job->limit_s};
    size_t done = 0;
    while (done < byte) {
        ssize_t got = recv(worker->process.socket, (char *)out + done, byte - done, 0);
        int is_open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (!is_open) {
            fail_cut_off(worker, code, done, byte);
        }
        if (!is_open || (got < 0 && !may_wait(worker, &patience, code))) {
            return 0;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return 1;
}

/* What is wrong with a reply; NULL where nothing is. */
static const char *fault_of(
    const struct fulcrum_worker_reply *reply, uint32_t code, size_t payload_byte)
{
    if (reply->magic != FULCRUM_WORKER_MAGIC) {
        return "is no reply of this protocol";
    }
    if (reply->code != code) {
        return "answers another command";
    }
    if (reply->result > FULCRUM_WORKER_FAILED) {
        return "has an unknown result";
    }
    if (reply->result == FULCRUM_WORKER_FAILED) {
        return reply->payload_byte <= FULCRUM_WORKER_TEXT_BYTE
                   ? NULL
                   : "explains a failure in more than 1000 bytes";
    }
    return reply->payload_byte == payload_byte ? NULL : "has a payload of another size";
}

static void fail_told(struct fulcrum_worker *worker, uint32_t code, size_t byte)
{
    char text[FULCRUM_WORKER_TEXT_BYTE + 1] = "";
    if (receive(worker, text, byte, code)) {
        fulcrum_worker_fail(
            worker, "%s", text[0] != '\0' ? text : "failed without saying why");
    }
}

int fulcrum_worker_answer(struct fulcrum_worker *worker, uint32_t code,
    struct fulcrum_worker_reply *reply, void *payload, size_t payload_byte)
{
    if (!receive(worker, reply, sizeof *reply, code)) {
        return 0;
    }
    const char *fault = fault_of(reply, code, payload_byte);
    if (fault != NULL) {
        fulcrum_worker_fail(worker,
            "speaks the protocol wrongly: what it sent after command %u %s (magic "
            "%#x, command %u, result %u, payload of %u bytes)",
            code, fault, reply->magic, reply->code, reply->result, reply->payload_byte);
        return 0;
    }
    if (reply->result == FULCRUM_WORKER_FAILED) {
        fail_told(worker, code, reply->payload_byte);
        return 0;
    }
    return receive(worker, payload, payload_byte, code);
}

int fulcrum_worker_tell(
    struct fulcrum_worker *worker, const struct fulcrum_worker_command *command)
{
    /* 32 bytes always fit: the last command was answered before. */
    ssize_t sent = -1;
    do {
        sent = send(worker->process.socket, command, sizeof *command, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)sizeof *command) {
        return 1;
    }
    fail_dead(worker, command->code);
    return 0;
}
