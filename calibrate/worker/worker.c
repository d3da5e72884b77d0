/* worker.c - one environment that lives in a process of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One command, one reply, over a socket; actions and observations lie
 * in memory that both sides map (worker_protocol.h). What comes back is believed as far
 * as it can be true. Where anything goes wrong every later call fails at once.
 */
#define _GNU_SOURCE

#include "calibrate/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include "calibrate/actor/actor.h"
#include "calibrate/fulcrum_env.h"
#include "calibrate/stopwatch.h"
#include "calibrate/worker/worker_protocol.h"
#include "model/status.h"
#include "model/try.h"

/* Commands, replies, and what is made of their absence. */

/*
 * Whatever a worker does, the caller is back within the limit: replies are awaited in
 * short slices, between which the worker's output is taken and its progress looked at.
 * The first thing that goes wrong is put into words and the process is killed.
 */

/* Longest wait for a reply between two looks at the worker. */
#define SLICE_S 0.05

/* What a worker may print; more would be part of what is timed. */
#define OUTPUT_BYTE_MAX ((size_t)1 << 20)

/* So much of its output at once means that it waits to print more; it may, so long. */
#define FULL_BYTE ((size_t)1 << 15)
#define REFILL_S  1e-3

/* A worker whose end was seen on the socket is about to become a zombie. */
#define DEATH_S 0.5

/* Seconds that a worker is waited for in one go. */
static double worker_slice_s(const struct fulcrum_worker_job *job)
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

/*
 * Kills the worker and keeps why, on one line behind the environment's name. What comes
 * after the first failure follows from it, and is not kept.
 */
static void worker_fail(struct fulcrum_worker *worker, const char *format, ...)
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
    bool has_words = words[0] != '\0';
    if (fulcrum_worker_process_ended(&worker->process, DEATH_S)) {
        fulcrum_worker_process_describe_end(&worker->process, end, sizeof end);
    } else {
        (void)snprintf(end, sizeof end, "closed its end of the connection");
    }
    worker_fail(worker, "%s %s%s%s%s", end, place, has_words ? " (last words: " : "",
        words, has_words ? ")" : "");
}

static void fail_late(struct fulcrum_worker *worker, uint32_t code)
{
    struct place place = place_of(worker);
    double limit_s = worker->job->limit_s;
    if (code == FULCRUM_WORKER_DESCRIBE) {
        worker_fail(worker, "has not started within %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_RESETS && place.step == 0) {
        worker_fail(worker, "its first reset has not returned for %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_RESETS) {
        worker_fail(worker, "the reset after step %llu has not returned for %.3g s",
            place.step, limit_s);
    } else if (code == FULCRUM_WORKER_CREATE) {
        worker_fail(worker, "has not been created within %.3g s", limit_s);
    } else if (place.phase == FULCRUM_WORKER_STEPS) {
        worker_fail(
            worker, "step %llu has not returned for %.3g s", place.step, limit_s);
    } else {
        worker_fail(worker, "has not answered for %.3g s, after step %llu", limit_s,
            place.step);
    }
}

/* Takes what it has printed. Fails where that is more than anyone should. */
static int worker_stays_quiet(struct fulcrum_worker *worker)
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
    worker_fail(worker,
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
static bool may_wait(
    struct fulcrum_worker *worker, struct patience *patience, uint32_t code)
{
    if (!worker_stays_quiet(worker)) {
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

static int receive(struct fulcrum_worker *worker, void *out, size_t byte, uint32_t code)
{
    struct patience patience = {
        progress(worker), fulcrum_wall_s() + worker->job->limit_s};
    size_t done = 0;
    while (done < byte) {
        ssize_t got = recv(worker->process.socket, (char *)out + done, byte - done, 0);
        bool is_open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (!is_open) {
            /* The other end is closed. */
            if (done > 0) {
                worker_fail(worker,
                    "ended in the middle of a reply, after %zu of %zu bytes", done,
                    byte);
            } else {
                fail_dead(worker, code);
            }
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

/*
 * Receives the reply to `code`, with a payload of exactly so many bytes, within the
 * limit: that of a step, not of the run that it is part of.
 */
static int worker_answer(struct fulcrum_worker *worker, uint32_t code,
    struct fulcrum_worker_reply *reply, void *payload, size_t payload_byte)
{
    if (!receive(worker, reply, sizeof *reply, code)) {
        return 0;
    }
    const char *fault = fault_of(reply, code, payload_byte);
    if (fault != NULL) {
        worker_fail(worker,
            "speaks the protocol wrongly: what it sent after command %u %s (magic "
            "%#x, command %u, result %u, payload of %u bytes)",
            code, fault, reply->magic, reply->code, reply->result, reply->payload_byte);
        return 0;
    }
    if (reply->result == FULCRUM_WORKER_FAILED) {
        size_t byte = reply->payload_byte;
        char text[FULCRUM_WORKER_TEXT_BYTE + 1] = "";
        if (receive(worker, text, byte, code)) {
            worker_fail(
                worker, "%s", text[0] != '\0' ? text : "failed without saying why");
        }
        return 0;
    }
    return receive(worker, payload, payload_byte, code);
}

/* Sends a command. Returns 0 where the worker failed, here and below. */
static int worker_tell(
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

/* Exchanges between two looks at what it prints. */
#define DRAIN_EVERY 256

/* As much as this of the caller's table of actions is used. */
#define ROWS_BYTE_MAX ((size_t)1 << 20)
#define ROW_COUNT_MAX ((size_t)4096)
#define TIME_COUNT    ((size_t)4096)

static bool is_element_finite(const float *values, size_t count, size_t *place)
{
    /* Zero times anything but a finite value is no number: the loop has no branch. */
    float sum = 0.0F;
    for (size_t i = 0; i < count; i++) {
        sum += 0.0F * values[i];
    }
    if (sum == 0.0F) {
        return 1;
    }
    *place = 0;
    while (isfinite(values[*place])) {
        (*place)++;
    }
    return 0;
}

static int guards_hold(const unsigned char *from, const unsigned char *to)
{
    unsigned different = 0;
    for (; from < to; from++) {
        different |= *from ^ (unsigned)FULCRUM_WORKER_GUARD;
    }
    return different == 0;
}

/* One command and its reply. `reply` is set where the result is 1. */
static int exchange(struct fulcrum_worker *worker,
    const struct fulcrum_worker_command *command, struct fulcrum_worker_reply *reply)
{
    if (atomic_load_explicit(&worker->is_failed, memory_order_relaxed)) {
        return 0;
    }
    /* Threads bind themselves to processors before they step, and not again later. */
    pid_t caller = gettid();
    if (caller != worker->caller) {
        fulcrum_worker_process_follow(&worker->process);
        worker->caller = caller;
    }
    if (!worker_tell(worker, command) ||
        !worker_answer(worker, command->code, reply, NULL, 0)) {
        return 0;
    }
    worker->exchange_count++;
    if (worker->exchange_count % DRAIN_EVERY == 0 && !worker_stays_quiet(worker)) {
        return 0;
    }
    /* The observation that was handed over is whole and within its bounds. */
    const unsigned char *observation =
        worker->memory + worker->layout.observation_offset;
    const unsigned char *end = observation + worker->observation_byte;
    unsigned long long step = *fulcrum_worker_word(worker, FULCRUM_WORKER_STEP_NUMBER);
    if (!guards_hold(observation - FULCRUM_WORKER_GUARD_BYTE, observation) ||
        !guards_hold(end, end + FULCRUM_WORKER_GUARD_BYTE)) {
        worker_fail(worker,
            "wrote outside of its observation of %zu bytes, in step %llu or before",
            worker->observation_byte, step);
        return 0;
    }
    size_t place = 0;
    if (worker->description.observation_kind == FULCRUM_ENV_FLOAT32 &&
        !is_element_finite((const float *)(const void *)observation,
            (size_t)worker->description.observation_count, &place)) {
        worker_fail(worker, "element %zu of the observation after step %llu is %g",
            place, step, (double)((const float *)(const void *)observation)[place]);
        return 0;
    }
    return 1;
}

static void copy_observation(const struct fulcrum_worker *worker, void *observation)
{
    memcpy(observation, worker->memory + worker->layout.observation_offset,
        worker->observation_byte);
}

static struct fulcrum_worker_command command_of(
    enum fulcrum_worker_code code, uint64_t first, uint64_t second, uint64_t third)
{
    return (struct fulcrum_worker_command){
        FULCRUM_WORKER_MAGIC, (uint32_t)code, {first, second, third}};
}

enum fulcrum_status fulcrum_worker_start(struct fulcrum_worker **out,
    const struct fulcrum_worker_job *job, size_t number, struct fulcrum_error *err)
{
    struct fulcrum_worker *worker = calloc(1, sizeof *worker);
    TRY_MEMORY(worker, err, "%s", job->what);
    worker->job = job;
    worker->number = number;
    enum fulcrum_status status =
        fulcrum_worker_process_start(&worker->process, job->argv, err);
    if (status != FULCRUM_OK) {
        free(worker);
        return status;
    }
    struct timeval slice = {0, (suseconds_t)fmax(1e6 * worker_slice_s(job), 1.0)};
    (void)setsockopt(
        worker->process.socket, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
    struct fulcrum_worker_command command = command_of(
        FULCRUM_WORKER_DESCRIBE, FULCRUM_WORKER_PROTOCOL, (uint64_t)job->frame_skip, 0);
    /* Where it is dead already, describe says so. */
    (void)send(worker->process.socket, &command, sizeof command, MSG_NOSIGNAL);
    *out = worker;
    return FULCRUM_OK;
}

static size_t observation_byte(const struct fulcrum_worker_description *description)
{
    size_t element =
        description->observation_kind == FULCRUM_ENV_FLOAT32 ? sizeof(float) : 1;
    return (size_t)description->observation_count * element;
}

/* What a worker says of itself is believed only as far as it can be true. */
static bool is_sane(struct fulcrum_worker *worker)
{
    struct fulcrum_worker_description *told = &worker->description;
    told->name[sizeof told->name - 1] = '\0';
    told->detail[sizeof told->detail - 1] = '\0';
    unsigned long long count = told->observation_count;
    unsigned long long actions = told->action_count;
    if (told->observation_kind != FULCRUM_ENV_FLOAT32 &&
        told->observation_kind != FULCRUM_ENV_UINT8) {
        worker_fail(worker, "describes observations of kind %u, expected 1 or 2",
            told->observation_kind);
    } else if (count == 0 || count > FULCRUM_ENV_OBSERVATION_BYTE_MAX ||
               observation_byte(told) > FULCRUM_ENV_OBSERVATION_BYTE_MAX) {
        worker_fail(worker,
            "describes observations of %llu elements, expected 1 to %d bytes", count,
            FULCRUM_ENV_OBSERVATION_BYTE_MAX);
    } else if (actions == 0 || actions > FULCRUM_ENV_ACTION_MAX) {
        worker_fail(worker, "describes %llu actions, expected 1 to %d", actions,
            FULCRUM_ENV_ACTION_MAX);
    } else if (!(told->frame_skip >= 1.0 && told->frame_skip <= 1000.0)) {
        worker_fail(worker, "describes a frame skip of %g, expected 1 to 1000",
            told->frame_skip);
    } else if (worker->job->frame_skip > 0.0 &&
               fabs(told->frame_skip - worker->job->frame_skip) > 0.0) {
        worker_fail(worker, "has a frame skip of %g and takes no other (asked for: %g)",
            told->frame_skip, worker->job->frame_skip);
    } else {
        return 1;
    }
    return 0;
}

static enum fulcrum_status status_of(
    const struct fulcrum_worker *worker, bool is_good, struct fulcrum_error *err)
{
    return is_good ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_ENVIRONMENT, "%s", worker->failure);
}

enum fulcrum_status fulcrum_worker_describe(struct fulcrum_worker *worker,
    struct fulcrum_worker_description *out, struct fulcrum_error *err)
{
    struct fulcrum_worker_reply reply;
    bool is_good = worker_answer(worker, FULCRUM_WORKER_DESCRIBE, &reply,
                       &worker->description, sizeof worker->description) &&
                   is_sane(worker);
    if (is_good) {
        *out = worker->description;
    }
    return status_of(worker, is_good, err);
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static struct fulcrum_worker_layout lay_out(const struct fulcrum_worker *worker)
{
    size_t row_byte = (size_t)worker->description.action_count * sizeof(float);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct fulcrum_worker_layout layout = {
        .row_count = ROWS_BYTE_MAX / row_byte, .row_byte = row_byte};
    if (layout.row_count > ROW_COUNT_MAX) {
        layout.row_count = ROW_COUNT_MAX;
    }
    layout.action_offset = page;
    layout.time_offset = page + round_up((layout.row_count + 1) * row_byte, page);
    size_t begin = layout.time_offset + round_up(2 * TIME_COUNT * sizeof(double), page);
    size_t room = round_up(worker->observation_byte, FULCRUM_WORKER_GUARD_BYTE);
    size_t guard = begin + round_up(room + FULCRUM_WORKER_GUARD_BYTE, page);
    layout.observation_offset = guard - room;
    layout.memory_byte = guard + page;
    return layout;
}

static void fill_memory(struct fulcrum_worker *worker)
{
    const struct fulcrum_worker_layout *layout = &worker->layout;
    unsigned char *observation = worker->memory + layout->observation_offset;
    unsigned char *end = worker->memory + layout->memory_byte;
    memset(observation - FULCRUM_WORKER_GUARD_BYTE, FULCRUM_WORKER_GUARD,
        (size_t)(end - observation) + FULCRUM_WORKER_GUARD_BYTE);
    memset(observation, 0, worker->observation_byte);
    *fulcrum_worker_word(worker, FULCRUM_WORKER_MEMORY_BYTE) = layout->memory_byte;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_ACTION_OFFSET) = layout->action_offset;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_ROW_COUNT) = layout->row_count;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_TIME_OFFSET) = layout->time_offset;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_TIME_COUNT) = TIME_COUNT;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_OBSERVATION_OFFSET) =
        layout->observation_offset;
    *fulcrum_worker_word(worker, FULCRUM_WORKER_OBSERVATION_BYTE) =
        worker->observation_byte;
}

static enum fulcrum_status share_memory(
    struct fulcrum_worker *worker, struct fulcrum_error *err)
{
    worker->observation_byte = observation_byte(&worker->description);
    worker->layout = lay_out(worker);
    size_t byte = worker->layout.memory_byte;
    int fd = worker->process.memory_fd;
    void *memory = MAP_FAILED;
    /* Sealed: a worker that cut it off would end us with a bus error. */
    if (ftruncate(fd, (off_t)byte) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
        memory = mmap(NULL, byte, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    FAIL_IF(memory == MAP_FAILED, err, FULCRUM_ERR_NO_MEMORY,
        "%s: %zu bytes of shared memory", worker->job->what, byte);
    (void)close(fd);
    worker->process.memory_fd = -1;
    worker->memory = memory;
    fill_memory(worker);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_worker_create(
    struct fulcrum_worker *worker, uint64_t seed, struct fulcrum_error *err)
{
    TRY(share_memory(worker, err));
    struct fulcrum_worker_command command =
        command_of(FULCRUM_WORKER_CREATE, seed, 0, 0);
    struct fulcrum_worker_reply reply;
    return status_of(worker, exchange(worker, &command, &reply), err);
}

static unsigned char *row_at(const struct fulcrum_worker *worker, size_t row)
{
    const struct fulcrum_worker_layout *layout = &worker->layout;
    return worker->memory + layout->action_offset + row * layout->row_byte;
}

enum fulcrum_step_result fulcrum_worker_step(
    struct fulcrum_worker *worker, const float *action, void *observation)
{
    if (worker->memory == NULL) {
        return FULCRUM_STEP_FAILED;
    }
    size_t row = worker->layout.row_count;
    memcpy(row_at(worker, row), action, worker->layout.row_byte);
    struct fulcrum_worker_command command = command_of(FULCRUM_WORKER_STEP, row, 0, 0);
    struct fulcrum_worker_reply reply;
    if (!exchange(worker, &command, &reply)) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return reply.result == FULCRUM_WORKER_END ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

enum fulcrum_step_result fulcrum_worker_reset(
    struct fulcrum_worker *worker, void *observation)
{
    struct fulcrum_worker_command command = command_of(FULCRUM_WORKER_RESET, 0, 0, 0);
    struct fulcrum_worker_reply reply;
    if (worker->memory == NULL || !exchange(worker, &command, &reply)) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return FULCRUM_STEP_ON;
}

/* The table is copied once, as far as there is room. Returns how many rows there are.
 */
static size_t bring_rows(
    struct fulcrum_worker *worker, const struct fulcrum_action_rows *rows)
{
    size_t room = worker->layout.row_count;
    if (worker->table != rows->values) {
        size_t count = rows->row_count < room ? rows->row_count : room;
        memcpy(row_at(worker, 0), rows->values, count * worker->layout.row_byte);
        *fulcrum_worker_word(worker, FULCRUM_WORKER_ROW_COUNT) = count;
        worker->table = rows->values;
        worker->table_row_count = count;
    }
    return worker->table_row_count;
}

/* One exchange of a call of step_many. */
static int run_piece(struct fulcrum_worker *worker,
    const struct fulcrum_worker_command *command, struct fulcrum_step_log *log)
{
    struct fulcrum_worker_reply reply;
    if (!exchange(worker, command, &reply)) {
        return 0;
    }
    unsigned long long step_count = command->value[0];
    if (reply.reset_count > step_count) {
        worker_fail(worker, "speaks the protocol wrongly: %llu resets in %llu steps",
            (unsigned long long)reply.reset_count, step_count);
        return 0;
    }
    const double *times =
        (const double *)(const void *)(worker->memory + worker->layout.time_offset);
    size_t stride = (size_t)command->value[2];
    if (stride > 0) {
        size_t time_count = (size_t)step_count / stride;
        memcpy(log->step_s, times, time_count * sizeof *times);
        log->step_s += time_count;
    }
    if (stride == 1) {
        memcpy(log->reset_s + log->reset_count, times + TIME_COUNT,
            (size_t)reply.reset_count * sizeof *times);
    }
    log->reset_count += (size_t)reply.reset_count;
    return 1;
}

enum fulcrum_step_result fulcrum_worker_step_many(struct fulcrum_worker *worker,
    const struct fulcrum_action_rows *rows, size_t count, void *observation,
    struct fulcrum_step_log *log)
{
    if (worker->memory == NULL) {
        return FULCRUM_STEP_FAILED;
    }
    struct fulcrum_step_log at = *log;
    at.reset_count = 0;
    size_t row_count = bring_rows(worker, rows);
    bool is_good = 1;
    for (size_t done = 0; done < count && is_good;) {
        size_t piece = count - done;
        size_t most = log->stride * TIME_COUNT;
        piece = log->stride > 0 && piece > most ? most : piece;
        size_t first = (rows->first + done) % row_count;
        struct fulcrum_worker_command command =
            command_of(FULCRUM_WORKER_RUN, piece, first, log->stride);
        is_good = run_piece(worker, &command, &at);
        done += piece;
    }
    log->reset_count = at.reset_count;
    if (!is_good) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return FULCRUM_STEP_ON;
}

const char *fulcrum_worker_failure(const struct fulcrum_worker *worker)
{
    return worker->failure;
}

double fulcrum_worker_cpu_s(const struct fulcrum_worker *worker)
{
    return atomic_load_explicit(&worker->is_failed, memory_order_relaxed)
               ? 0.0
               : fulcrum_worker_process_cpu_s(&worker->process);
}

double fulcrum_worker_memory_byte(const struct fulcrum_worker *worker)
{
    return fulcrum_worker_process_memory_byte(&worker->process);
}

/* Asks it to end; the reply comes when the environment is destroyed. */
static int ends_well(struct fulcrum_worker *worker, double grace_s)
{
    struct fulcrum_worker_command command = command_of(FULCRUM_WORKER_CLOSE, 0, 0, 0);
    if (worker->process.pid <= 0 || !(grace_s > 0.0) ||
        send(worker->process.socket, &command, sizeof command, MSG_NOSIGNAL) < 0) {
        return 1;
    }
    double until_s = fulcrum_wall_s() + grace_s;
    struct fulcrum_worker_reply reply;
    ssize_t got = -1;
    while (got < 0 && fulcrum_wall_s() < until_s) {
        (void)fulcrum_worker_process_drain(&worker->process);
        got = recv(worker->process.socket, &reply, sizeof reply, 0);
    }
    return got >= 0;
}

int fulcrum_worker_free(struct fulcrum_worker *worker, double grace_s)
{
    if (worker == NULL) {
        return 1;
    }
    int ended_well = ends_well(worker, grace_s);
    fulcrum_worker_process_end(&worker->process);
    if (worker->memory != NULL) {
        (void)munmap(worker->memory, worker->layout.memory_byte);
    }
    free(worker);
    return ended_well;
}
