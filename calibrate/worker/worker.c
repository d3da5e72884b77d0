/* worker.c - environments of the user's own, each in a process of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker runs a shared object with the functions of fulcrum_env.h, or a Python
 * interpreter with an environment of Gymnasium. One command, one reply, over a socket;
 * actions and observations lie in memory that both sides map (worker_protocol.h). What
 * comes back is believed as far as it can be true. Where anything goes wrong every
 * later call fails at once.
 */
#define _GNU_SOURCE

#include "calibrate/worker/worker.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "calibrate/actor/actor.h"
#include "calibrate/fulcrum_env.h"
#include "calibrate/stopwatch.h"
#include "calibrate/worker/worker_protocol.h"
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

/* Of this machine's memory, for a worker with all that it has started. */
#define MEMORY_MOST_FRAC 0.5

/* Between two looks at it. */
#define MEMORY_LOOK_S 0.25

/* An environment may take so long to be destroyed, unless its limit is shorter. */
#define GRACE_S 1.0

/* A worker whose end was seen on the socket is about to become a zombie. */
#define DEATH_S 0.5

#define ARGUMENT_MAX 12

/* Two actors that differ in what their workers run. */
struct fulcrum_actor_shared {
    char what[200];                         /* for messages: "env plug-in ./mine.so" */
    double limit_s;                         /* of a start, a step, a reset */
    double most_byte;                       /* of memory, each */
    double frame_skip;                      /* asked for; 0: the environment's own */
    char program[FULCRUM_WORKER_PATH_SIZE]; /* fulcrum-worker */
    char parent[24];                        /* process id */
    char path[FULCRUM_WORKER_PATH_SIZE];    /* plug-in, or fulcrum_gym.py */
    char python[FULCRUM_WORKER_PATH_SIZE];
    char loop[32]; /* "": environments that are stepped one by one */
    char env_id[256];
    char loop_text[4][FULCRUM_WORKER_PATH_SIZE];   /* vector, net, make, arguments */
    char *argv[ARGUMENT_MAX];                      /* NULL-terminated */
    struct fulcrum_worker_description description; /* of the first environment */
    struct fulcrum_env *first; /* loops: what was looked at, until it is taken */
    atomic_size_t made_count;
    atomic_ullong first_seed; /* of the first environment: numbers count from it */
    atomic_int is_rude;       /* one did not end when asked to: the others are killed */
};

/* Where everything lies; the observation ends right before the guard page. */
struct layout {
    size_t row_count;
    size_t action_offset;
    size_t time_offset;
    size_t observation_offset;
    size_t memory_byte;
    size_t row_byte;
};

struct fulcrum_env {
    struct fulcrum_actor_shared *shared;
    uint64_t seed;
    size_t number; /* from 1, for messages; 0: none */
    struct fulcrum_worker_process process;
    struct fulcrum_worker_description description;
    bool is_described;
    unsigned char *memory; /* NULL before create */
    /* Ours: the words in the memory are the worker's to spoil. */
    struct layout layout;
    size_t observation_byte;
    const float *table; /* whose rows were copied; NULL: none yet */
    size_t table_row_count;
    size_t exchange_count;
    double looked_s;      /* when its memory was last looked at */
    pid_t caller;         /* the thread of the last exchange */
    atomic_int is_failed; /* any thread may ask for CPU time meanwhile */
    char failure[1600];
};

/* A word of the shared memory, which the worker may write at any time. */
static volatile uint64_t *word_of(
    const struct fulcrum_env *worker, enum fulcrum_worker_word which)
{
    return (volatile uint64_t *)(void *)worker->memory + which;
}

/* One line of what may be the environment's own words. */
static void make_line(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
    }
}

/*
 * Kills the worker and keeps why, on one line behind the environment's name. What comes
 * after the first failure follows from it, and is not kept.
 */
static void worker_fail(struct fulcrum_env *worker, const char *format, ...)
{
    if (atomic_load(&worker->is_failed)) {
        return;
    }
    struct fulcrum_error text;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text.detail, sizeof text.detail, format, args);
    va_end(args);
    make_line(text.detail);
    char number[40] = "";
    if (worker->number > 0) {
        (void)snprintf(number, sizeof number, ", environment %zu", worker->number);
    }
    (void)snprintf(worker->failure, sizeof worker->failure, "%s%s: %.1300s",
        worker->shared->what, number, text.detail);
    atomic_store(&worker->is_failed, 1);
    fulcrum_worker_process_end(&worker->process);
}

/* Steps that it has begun, by its own account. */
static unsigned long long step_of(const struct fulcrum_env *worker)
{
    return worker->memory != NULL ? *word_of(worker, FULCRUM_WORKER_STEP_NUMBER) : 0;
}

/* The call that it is inside: "step 12", "the reset after step 12"; "" for none. */
static void name_call(
    const struct fulcrum_env *worker, uint32_t code, char *out, size_t out_byte)
{
    uint64_t phase = worker->memory != NULL ? *word_of(worker, FULCRUM_WORKER_PHASE)
                                            : (uint64_t)FULCRUM_WORKER_WAITS;
    unsigned long long step = step_of(worker);
    out[0] = '\0';
    if (phase == FULCRUM_WORKER_RESETS && step == 0) {
        (void)snprintf(out, out_byte, "its first reset");
    } else if (phase == FULCRUM_WORKER_RESETS) {
        (void)snprintf(out, out_byte, "the reset after step %llu", step);
    } else if (phase == FULCRUM_WORKER_STEPS && code != FULCRUM_WORKER_CREATE) {
        (void)snprintf(out, out_byte, "step %llu", step);
    }
}

/* "in step 12", "in the reset after step 12", "after step 12". */
static void tell_place(
    const struct fulcrum_env *worker, uint32_t code, char *out, size_t out_byte)
{
    char call[60];
    name_call(worker, code, call, sizeof call);
    if (call[0] != '\0') {
        (void)snprintf(out, out_byte, "in %s", call);
    } else if (code == FULCRUM_WORKER_DESCRIBE || code == FULCRUM_WORKER_CREATE) {
        (void)snprintf(out, out_byte, "while it %s",
            code == FULCRUM_WORKER_DESCRIBE ? "started" : "was created");
    } else {
        (void)snprintf(out, out_byte, "after step %llu", step_of(worker));
    }
}

static void fail_dead(struct fulcrum_env *worker, uint32_t code)
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

static void fail_late(struct fulcrum_env *worker, uint32_t code)
{
    char call[60];
    double limit_s = worker->shared->limit_s;
    name_call(worker, code, call, sizeof call);
    if (call[0] != '\0') {
        worker_fail(worker, "%s has not returned for %.3g s", call, limit_s);
    } else if (code == FULCRUM_WORKER_DESCRIBE || code == FULCRUM_WORKER_CREATE) {
        worker_fail(worker, "has not %s within %.3g s; --env-limit allows more",
            code == FULCRUM_WORKER_DESCRIBE ? "started" : "been created", limit_s);
    } else {
        worker_fail(worker, "has not answered for %.3g s, after step %llu", limit_s,
            step_of(worker));
    }
}

/* Takes what it has printed. Fails where that is more than anyone should. */
static int worker_stays_quiet(struct fulcrum_env *worker)
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

/* Fails where it has taken more memory than it should. */
static int worker_stays_small(struct fulcrum_env *worker, uint32_t code)
{
    double now_s = fulcrum_wall_s();
    if (now_s - worker->looked_s < MEMORY_LOOK_S) {
        return 1;
    }
    worker->looked_s = now_s;
    double most_byte = worker->shared->most_byte;
    double byte = fulcrum_worker_process_excess_byte(&worker->process, most_byte);
    if (byte > 0.0) {
        char place[80];
        tell_place(worker, code, place, sizeof place);
        worker_fail(worker,
            "has taken %.0f bytes of memory %s, and may take %.0f; "
            "FULCRUM_WORKER_MEMORY_BYTE allows more",
            byte, place, most_byte);
    }
    return !(byte > 0.0);
}

/* Changes with every step and every reset. */
static uint64_t progress(const struct fulcrum_env *worker)
{
    return worker->memory != NULL ? *word_of(worker, FULCRUM_WORKER_STEP_NUMBER) +
                                        *word_of(worker, FULCRUM_WORKER_RESET_NUMBER)
                                  : 0;
}

struct patience {
    uint64_t progress;
    double until_s;
};

/* A slice went by without a reply. Returns 0 where that was the last. */
static bool may_wait(
    struct fulcrum_env *worker, struct patience *patience, uint32_t code)
{
    if (!worker_stays_quiet(worker) || !worker_stays_small(worker, code)) {
        return 0;
    }
    uint64_t now = progress(worker);
    if (now != patience->progress) {
        patience->progress = now;
        patience->until_s = fulcrum_wall_s() + worker->shared->limit_s;
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

static int receive(struct fulcrum_env *worker, void *out, size_t byte, uint32_t code)
{
    struct patience patience = {
        progress(worker), fulcrum_wall_s() + worker->shared->limit_s};
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
static int worker_answer(struct fulcrum_env *worker, uint32_t code,
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
    struct fulcrum_env *worker, const struct fulcrum_worker_command *command)
{
    /* 32 bytes always fit: the last command was answered before. */
    ssize_t sent = -1;
    do {
        sent = send(worker->process.socket, command, sizeof *command, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof *command) {
        fail_dead(worker, command->code);
    }
    return sent == (ssize_t)sizeof *command;
}

/* Exchanges between two looks at what it prints. */
#define DRAIN_EVERY 256

/* As much as this of the caller's table of actions is used. */
#define ROWS_BYTE_MAX ((size_t)1 << 20)
#define ROW_COUNT_MAX ((size_t)4096)
#define TIME_COUNT    ((size_t)4096)

static int guards_hold(const unsigned char *from, const unsigned char *to)
{
    unsigned different = 0;
    for (; from < to; from++) {
        different |= *from ^ (unsigned)FULCRUM_WORKER_GUARD;
    }
    return different == 0;
}

static struct fulcrum_worker_command command_of(
    enum fulcrum_worker_code code, uint64_t first, uint64_t second, uint64_t third)
{
    return (struct fulcrum_worker_command){
        FULCRUM_WORKER_MAGIC, (uint32_t)code, {first, second, third}};
}

/* One command and its reply. `reply` is set where the result is 1. */
static int exchange(struct fulcrum_env *worker, struct fulcrum_worker_command command,
    struct fulcrum_worker_reply *reply)
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
    if (!worker_tell(worker, &command) ||
        !worker_answer(worker, command.code, reply, NULL, 0)) {
        return 0;
    }
    worker->exchange_count++;
    if (worker->exchange_count % DRAIN_EVERY == 0 &&
        (!worker_stays_quiet(worker) || !worker_stays_small(worker, command.code))) {
        return 0;
    }
    /* The observation that was handed over is whole and within its bounds. */
    const unsigned char *observation =
        worker->memory + worker->layout.observation_offset;
    const unsigned char *end = observation + worker->observation_byte;
    unsigned long long step = *word_of(worker, FULCRUM_WORKER_STEP_NUMBER);
    if (!guards_hold(observation - FULCRUM_WORKER_GUARD_BYTE, observation) ||
        !guards_hold(end, end + FULCRUM_WORKER_GUARD_BYTE)) {
        worker_fail(worker,
            "wrote outside of its observation of %zu bytes, in step %llu or before",
            worker->observation_byte, step);
        return 0;
    }
    if (worker->description.observation_kind == FULCRUM_ENV_FLOAT32) {
        const float *values = (const float *)(const void *)observation;
        size_t count = (size_t)worker->description.observation_count;
        size_t place = fulcrum_worker_first_odd(values, count);
        if (place < count) {
            worker_fail(worker, "element %zu of the observation after step %llu is %g",
                place, step, (double)values[place]);
            return 0;
        }
    }
    return 1;
}

static void copy_observation(const struct fulcrum_env *worker, void *observation)
{
    memcpy(observation, worker->memory + worker->layout.observation_offset,
        worker->observation_byte);
}

/* Starts a process and asks it what its environment is like, without waiting. */
static enum fulcrum_status worker_start(struct fulcrum_actor_shared *shared,
    uint64_t seed, size_t number, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *worker = calloc(1, sizeof *worker);
    TRY_MEMORY(worker, err, "%s", shared->what);
    worker->shared = shared;
    worker->seed = seed;
    worker->number = number;
    enum fulcrum_status status =
        fulcrum_worker_process_start(&worker->process, shared->argv, err);
    if (status != FULCRUM_OK) {
        free(worker);
        return status;
    }
    double slice_s = fmin(SLICE_S, 0.25 * shared->limit_s);
    struct timeval slice = {0, (suseconds_t)fmax(1e6 * slice_s, 1.0)};
    (void)setsockopt(
        worker->process.socket, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
    struct fulcrum_worker_command command = command_of(FULCRUM_WORKER_DESCRIBE,
        FULCRUM_WORKER_PROTOCOL, (uint64_t)shared->frame_skip, 0);
    /* Where it is dead already, worker_describe says so. */
    (void)send(worker->process.socket, &command, sizeof command, MSG_NOSIGNAL);
    *out = worker;
    return FULCRUM_OK;
}

static enum fulcrum_status worker_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    /* Seeds count up from that of the first environment. */
    if (atomic_fetch_add(&shared->made_count, 1) == 0) {
        atomic_store(&shared->first_seed, seed);
    }
    size_t number = (size_t)(seed - atomic_load(&shared->first_seed)) + 1;
    if (shared->first != NULL) {
        *out = shared->first;
        (*out)->seed = seed;
        (*out)->number = number;
        shared->first = NULL;
        return FULCRUM_OK;
    }
    return worker_start(shared, seed, number, out, err);
}

static size_t observation_byte(const struct fulcrum_worker_description *description)
{
    size_t element =
        description->observation_kind == FULCRUM_ENV_FLOAT32 ? sizeof(float) : 1;
    return (size_t)description->observation_count * element;
}

/* What a worker says of itself is believed only as far as it can be true. */
static bool is_sane(struct fulcrum_env *worker)
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
    } else if (worker->shared->frame_skip > 0.0 &&
               fabs(told->frame_skip - worker->shared->frame_skip) > 0.0) {
        worker_fail(worker, "has a frame skip of %g and takes no other (asked for: %g)",
            told->frame_skip, worker->shared->frame_skip);
    } else {
        return 1;
    }
    return 0;
}

static enum fulcrum_status status_of(
    const struct fulcrum_env *worker, bool is_good, struct fulcrum_error *err)
{
    return is_good ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_ENVIRONMENT, "%s", worker->failure);
}

/* Waits for the answer to a start, and checks it. */
static enum fulcrum_status worker_describe(
    struct fulcrum_env *worker, struct fulcrum_error *err)
{
    struct fulcrum_worker_reply reply;
    worker->is_described = worker->is_described ||
                           (worker_answer(worker, FULCRUM_WORKER_DESCRIBE, &reply,
                                &worker->description, sizeof worker->description) &&
                               is_sane(worker));
    return status_of(worker, worker->is_described, err);
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static struct layout lay_out(const struct fulcrum_env *worker)
{
    size_t row_byte = (size_t)worker->description.action_count * sizeof(float);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct layout layout = {
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

static enum fulcrum_status worker_await(
    struct fulcrum_env *worker, struct fulcrum_error *err)
{
    const struct fulcrum_worker_description *first = &worker->shared->description;
    const struct fulcrum_worker_description *own = &worker->description;
    TRY(worker_describe(worker, err));
    FAIL_IF(own->observation_kind != first->observation_kind ||
                own->observation_count != first->observation_count ||
                own->action_count != first->action_count,
        err, FULCRUM_ERR_ENVIRONMENT,
        "%s: an environment describes itself otherwise than the first one did",
        worker->shared->what);
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
        "%s: %zu bytes of shared memory", worker->shared->what, byte);
    (void)close(fd);
    worker->process.memory_fd = -1;
    worker->memory = memory;
    const struct layout *layout = &worker->layout;
    unsigned char *observation = worker->memory + layout->observation_offset;
    unsigned char *end = worker->memory + layout->memory_byte;
    memset(observation - FULCRUM_WORKER_GUARD_BYTE, FULCRUM_WORKER_GUARD,
        (size_t)(end - observation) + FULCRUM_WORKER_GUARD_BYTE);
    memset(observation, 0, worker->observation_byte);
    *word_of(worker, FULCRUM_WORKER_MEMORY_BYTE) = layout->memory_byte;
    *word_of(worker, FULCRUM_WORKER_ACTION_OFFSET) = layout->action_offset;
    *word_of(worker, FULCRUM_WORKER_ROW_COUNT) = layout->row_count;
    *word_of(worker, FULCRUM_WORKER_TIME_OFFSET) = layout->time_offset;
    *word_of(worker, FULCRUM_WORKER_TIME_COUNT) = TIME_COUNT;
    *word_of(worker, FULCRUM_WORKER_OBSERVATION_OFFSET) = layout->observation_offset;
    *word_of(worker, FULCRUM_WORKER_OBSERVATION_BYTE) = worker->observation_byte;
    struct fulcrum_worker_reply reply;
    return status_of(worker,
        exchange(worker, command_of(FULCRUM_WORKER_CREATE, worker->seed, 0, 0), &reply),
        err);
}

static unsigned char *row_at(const struct fulcrum_env *worker, size_t row)
{
    const struct layout *layout = &worker->layout;
    return worker->memory + layout->action_offset + row * layout->row_byte;
}

static enum fulcrum_step_result worker_step(
    struct fulcrum_env *worker, const float *action, void *observation)
{
    if (worker->memory == NULL) {
        return FULCRUM_STEP_FAILED;
    }
    size_t row = worker->layout.row_count;
    memcpy(row_at(worker, row), action, worker->layout.row_byte);
    struct fulcrum_worker_reply reply;
    if (!exchange(worker, command_of(FULCRUM_WORKER_STEP, row, 0, 0), &reply)) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return reply.result == FULCRUM_WORKER_END ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

static enum fulcrum_step_result worker_reset(
    struct fulcrum_env *worker, void *observation)
{
    struct fulcrum_worker_reply reply;
    if (worker->memory == NULL ||
        !exchange(worker, command_of(FULCRUM_WORKER_RESET, 0, 0, 0), &reply)) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return FULCRUM_STEP_ON;
}

/* The table is copied once, as far as there is room. Returns how many rows there are.
 */
static size_t bring_rows(
    struct fulcrum_env *worker, const struct fulcrum_action_rows *rows)
{
    size_t room = worker->layout.row_count;
    if (worker->table != rows->values) {
        size_t count = rows->row_count < room ? rows->row_count : room;
        memcpy(row_at(worker, 0), rows->values, count * worker->layout.row_byte);
        *word_of(worker, FULCRUM_WORKER_ROW_COUNT) = count;
        worker->table = rows->values;
        worker->table_row_count = count;
    }
    return worker->table_row_count;
}

/* One exchange of a call of step_many. */
static int run_piece(struct fulcrum_env *worker, size_t step_count, size_t first,
    struct fulcrum_step_log *log)
{
    struct fulcrum_worker_reply reply;
    size_t stride = log->stride;
    if (!exchange(worker, command_of(FULCRUM_WORKER_RUN, step_count, first, stride),
            &reply)) {
        return 0;
    }
    if (reply.reset_count > step_count) {
        worker_fail(worker, "speaks the protocol wrongly: %llu resets in %zu steps",
            (unsigned long long)reply.reset_count, step_count);
        return 0;
    }
    const double *times =
        (const double *)(const void *)(worker->memory + worker->layout.time_offset);
    if (stride > 0) {
        size_t time_count = step_count / stride;
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

static enum fulcrum_step_result worker_step_many(struct fulcrum_env *worker,
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
        is_good = run_piece(worker, piece, (rows->first + done) % row_count, &at);
        done += piece;
    }
    log->reset_count = at.reset_count;
    if (!is_good) {
        return FULCRUM_STEP_FAILED;
    }
    copy_observation(worker, observation);
    return FULCRUM_STEP_ON;
}

static const char *worker_failure(const struct fulcrum_env *worker)
{
    return worker->failure;
}

static double worker_cpu_s(const struct fulcrum_env *worker)
{
    return atomic_load_explicit(&worker->is_failed, memory_order_relaxed)
               ? 0.0
               : fulcrum_worker_process_cpu_s(&worker->process);
}

static double worker_memory_byte(const struct fulcrum_env *worker)
{
    return fulcrum_worker_process_memory_byte(&worker->process);
}

static enum fulcrum_status worker_time(struct fulcrum_env *worker,
    struct fulcrum_loop_task task, double out[FULCRUM_LOOP_FIGURES],
    struct fulcrum_error *err)
{
    struct fulcrum_worker_reply reply;
    bool is_good = exchange(worker,
        command_of(FULCRUM_WORKER_TIME, task.piece, task.env_count,
            (uint64_t)(1e6 * task.time_s)),
        &reply);
    TRY(status_of(worker, is_good, err));
    memcpy(out, worker->memory + worker->layout.time_offset,
        FULCRUM_LOOP_FIGURES * sizeof *out);
    for (size_t i = 0; i < FULCRUM_LOOP_FIGURES && is_good; i++) {
        is_good = out[i] >= 0.0 && out[i] < FULCRUM_LOOP_FIGURE_MAX;
        if (!is_good) {
            worker_fail(worker, "figure %zu of what it timed is %g", i, out[i]);
        }
    }
    return status_of(worker, is_good, err);
}

/* Asks it to end; the reply comes when the environment is destroyed. */
static int ends_well(struct fulcrum_env *worker, double grace_s)
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

/* Where the environment does not end by itself, the process is killed. */
static void worker_env_free(struct fulcrum_env *worker)
{
    if (worker == NULL) {
        return;
    }
    struct fulcrum_actor_shared *shared = worker->shared;
    if (!ends_well(worker,
            atomic_load(&shared->is_rude) ? 0.0 : fmin(GRACE_S, shared->limit_s))) {
        atomic_store(&shared->is_rude, 1);
    }
    fulcrum_worker_process_end(&worker->process);
    if (worker->memory != NULL) {
        (void)munmap(worker->memory, worker->layout.memory_byte);
    }
    free(worker);
}

static void worker_close(struct fulcrum_actor_shared *shared)
{
    worker_env_free(shared->first);
    free(shared);
}

/*
 * Starts one worker to see what its environments are like. Frameworks take seconds to
 * import: theirs is kept for the first environment.
 */
static enum fulcrum_status look(
    struct fulcrum_actor_shared *shared, struct fulcrum_error *err)
{
    struct fulcrum_env *worker = NULL;
    TRY(worker_start(shared, 0, 0, &worker, err));
    enum fulcrum_status status = worker_describe(worker, err);
    shared->description = worker->description;
    if (status == FULCRUM_OK && shared->loop[0] != '\0') {
        shared->first = worker;
    } else {
        worker_env_free(worker);
    }
    return status;
}

static enum fulcrum_status set_limits(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    double limit_s = options != NULL ? options->limit_s : 0.0;
    if (limit_s == 0.0) {
        limit_s =
            shared->loop[0] != '\0' ? FULCRUM_LOOP_LIMIT_S : FULCRUM_ACTOR_LIMIT_S;
    }
    FAIL_IF(
        !(limit_s >= FULCRUM_ACTOR_LIMIT_MIN_S && limit_s <= FULCRUM_ACTOR_LIMIT_MAX_S),
        err, FULCRUM_ERR_RANGE, "limit_s = %g is outside [%g, %g]", limit_s,
        FULCRUM_ACTOR_LIMIT_MIN_S, FULCRUM_ACTOR_LIMIT_MAX_S);
    shared->limit_s = limit_s;
    const char *told = getenv("FULCRUM_WORKER_MEMORY_BYTE");
    shared->most_byte = told != NULL
                            ? strtod(told, NULL)
                            : MEMORY_MOST_FRAC * (double)sysconf(_SC_PHYS_PAGES) *
                                  (double)sysconf(_SC_PAGESIZE);
    FAIL_IF(!(shared->most_byte > 0.0), err, FULCRUM_ERR_RANGE,
        "FULCRUM_WORKER_MEMORY_BYTE = %s: expected a number of bytes", told);
    /* 0 leaves the choice to the environment. */
    return fulcrum_actor_frame_skip(&shared->frame_skip, options, 0.0, err);
}

/* What its workers run: `set` adds their arguments. */
struct kind {
    const char *loop; /* "": environments that are stepped one by one */
    enum fulcrum_status (*set)(struct fulcrum_actor_shared *shared,
        const struct fulcrum_actor_options *options, struct fulcrum_error *err);
};

/* Memory of the actor, with what all kinds need. */
static enum fulcrum_status open_with(struct kind kind,
    const struct fulcrum_actor_options *options, struct fulcrum_actor_shared **out,
    struct fulcrum_actor_info *info, struct fulcrum_error *err)
{
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "an actor");
    (void)snprintf(shared->parent, sizeof shared->parent, "%ld", (long)getpid());
    shared->argv[0] = shared->program;
    shared->argv[1] = shared->parent;
    (void)snprintf(shared->loop, sizeof shared->loop, "%s", kind.loop);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(set_limits(shared, options, err));
    TRY_OR_END(kind.set(shared, options, err));
    TRY_OR_END(fulcrum_worker_find_program(shared->program, err));
    TRY_OR_END(look(shared, err));
    const struct fulcrum_worker_description *told = &shared->description;
    *info = (struct fulcrum_actor_info){
        .observation_kind = told->observation_kind == 1 ? FULCRUM_OBSERVE_FLOAT32
                                                        : FULCRUM_OBSERVE_UINT8,
        .observation_count = (size_t)told->observation_count,
        .action_count = (size_t)told->action_count,
        .frame_skip = told->frame_skip,
    };
    (void)snprintf(info->detail, sizeof info->detail, "%s%s%.110s", told->name,
        told->detail[0] != '\0' ? ": " : "", told->detail);
    make_line(info->detail);
    *out = shared;
    return FULCRUM_OK;
end:
    worker_close(shared);
    return status;
}

/* The loader's own complaint would come from a process, with a path of the loader's. */
static bool is_shared_object(const char *path)
{
    char head[SELFMAG] = "";
    FILE *file = fopen(path, "rbe");
    size_t got = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return got == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static enum fulcrum_status set_plugin(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    const char *path = options != NULL ? options->plugin : NULL;
    FAIL_IF(path == NULL, err, FULCRUM_ERR_MISSING,
        "needs a shared object: --plugin ./libmine.so");
    struct stat there;
    /* With its folder, or the loader would look among the system's libraries. */
    FAIL_IF(strlen(path) >= sizeof shared->path ||
                realpath(path, shared->path) == NULL || stat(shared->path, &there) != 0,
        err, FULCRUM_ERR_FILE, "env plug-in %s: %s", path,
        strlen(path) >= sizeof shared->path ? "too long a path" : strerror(errno));
    FAIL_IF(!S_ISREG(there.st_mode), err, FULCRUM_ERR_FILE,
        "env plug-in %s is not a regular file", path);
    FAIL_IF(!is_shared_object(shared->path), err, FULCRUM_ERR_FORMAT,
        "env plug-in %s is not a shared object (no ELF header)", path);
    size_t length = strlen(path);
    (void)snprintf(shared->what, sizeof shared->what, "env plug-in %s%s",
        length > 150 ? "..." : "", length > 150 ? path + (length - 147) : path);
    static char mode[] = "plugin";
    shared->argv[2] = mode;
    shared->argv[3] = shared->path;
    return FULCRUM_OK;
}

static enum fulcrum_status copy_text(char *out, size_t out_byte, const char *text,
    const char *what, struct fulcrum_error *err)
{
    FAIL_IF(text[0] == '\0' || strlen(text) >= out_byte, err, FULCRUM_ERR_RANGE,
        "%s has %zu bytes, expected 1 to %zu", what, strlen(text), out_byte - 1);
    memcpy(out, text, strlen(text) + 1);
    return FULCRUM_OK;
}

static enum fulcrum_status set_python(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, const char *program,
    struct fulcrum_error *err)
{
    TRY(copy_text(shared->python, sizeof shared->python,
        options->python != NULL ? options->python : "python3",
        "the path of the interpreter", err));
    TRY(fulcrum_worker_find_python(shared->path, program, err));
    static char mode[] = "exec";
    char *const arguments[] = {mode, shared->python, shared->path};
    memcpy(shared->argv + 2, arguments, sizeof arguments);
    return FULCRUM_OK;
}

static enum fulcrum_status set_gym(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    FAIL_IF(options == NULL || options->env_id == NULL, err, FULCRUM_ERR_MISSING,
        "needs an environment: --env CartPole-v1");
    TRY(copy_text(shared->env_id, sizeof shared->env_id, options->env_id,
        "the name of the environment", err));
    (void)snprintf(shared->what, sizeof shared->what, "Gymnasium environment %.150s",
        shared->env_id);
    shared->argv[5] = shared->env_id;
    return set_python(shared, options, "/fulcrum_gym.py", err);
}

/* The arguments of fulcrum_loop.py, where "" means that nothing was said. */
static enum fulcrum_status set_loop(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    FAIL_IF(options == NULL || (options->env_id == NULL && options->make == NULL), err,
        FULCRUM_ERR_MISSING, "needs an environment: --env CartPole-v1, or --make");
    const struct {
        const char *text;
        const char *what;
    } rows[] = {{options->vector, "--vector"}, {options->net, "--net"},
        {options->make, "--make"}, {options->arguments, "--args"}};
    if (options->env_id != NULL) {
        TRY(copy_text(shared->env_id, sizeof shared->env_id, options->env_id,
            "the name of the environment", err));
    }
    shared->argv[5] = shared->loop;
    shared->argv[6] = shared->env_id;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        shared->argv[7 + i] = shared->loop_text[i];
        if (rows[i].text != NULL) {
            TRY(copy_text(shared->loop_text[i], sizeof shared->loop_text[i],
                rows[i].text, rows[i].what, err));
        }
    }
    (void)snprintf(shared->what, sizeof shared->what, "%s of %.150s", shared->loop,
        options->env_id != NULL ? options->env_id : options->make);
    return set_python(shared, options, "/fulcrum_loop.py", err);
}

#define WORKER(symbol, told_name, told_summary, time_or_null, told_loop, setter)       \
    static enum fulcrum_status symbol##_open(                                          \
        const struct fulcrum_actor_options *options,                                   \
        struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,            \
        struct fulcrum_error *err)                                                     \
    {                                                                                  \
        return open_with(                                                              \
            (struct kind){(told_loop), (setter)}, options, out, info, err);            \
    }                                                                                  \
    const struct fulcrum_actor fulcrum_actor_##symbol = {                              \
        .name = (told_name),                                                           \
        .summary = (told_summary),                                                     \
        .open = symbol##_open,                                                         \
        .close = worker_close,                                                         \
        .env_new = worker_env_new,                                                     \
        .env_free = worker_env_free,                                                   \
        .step = worker_step,                                                           \
        .reset = worker_reset,                                                         \
        .await = worker_await,                                                         \
        .failure = worker_failure,                                                     \
        .step_many = worker_step_many,                                                 \
        .cpu_s = worker_cpu_s,                                                         \
        .memory_byte = worker_memory_byte,                                             \
        .time = (time_or_null),                                                        \
    };

WORKER(plugin, "plugin",
    "an environment of one's own in C (--plugin; docs/environments.md)", NULL, "",
    set_plugin)
WORKER(
    gym, "gym", "any environment of Gymnasium (--env; needs Python)", NULL, "", set_gym)

/* Loops of training frameworks, in fulcrum_loop.py and the folder frameworks. */
#define LOOP(symbol, name, summary)                                                    \
    WORKER(symbol, name, summary, worker_time, name, set_loop)

FULCRUM_VECTORS(LOOP)
FULCRUM_FRAMEWORKS(LOOP)
LOOP(torch_learner, "torch-learner", "networks of PyTorch, for the learner torch")
