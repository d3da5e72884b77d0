/* worker_protocol.h - what a process that steps an environment is told, and answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * docs/environments.md has all of this byte by byte, for workers in other languages.
 * Integers and floats are those of the machine; no struct has padding.
 */
#ifndef FULCRUM_CALIBRATE_WORKER_WORKER_PROTOCOL_H
#define FULCRUM_CALIBRATE_WORKER_WORKER_PROTOCOL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define FULCRUM_WORKER_PROTOCOL 1
#define FULCRUM_WORKER_MAGIC    UINT32_C(0x314b5746) /* "FWK1" on x86 */

/* File descriptors of a worker beside the three usual ones. */
#define FULCRUM_WORKER_SOCKET_FD 3
#define FULCRUM_WORKER_MEMORY_FD 4

enum fulcrum_worker_code {
    FULCRUM_WORKER_DESCRIBE = 1, /* value: protocol version, frame skip or 0 */
    FULCRUM_WORKER_CREATE,       /* value: seed */
    FULCRUM_WORKER_RESET,
    FULCRUM_WORKER_STEP, /* value: row of actions */
    FULCRUM_WORKER_RUN,  /* value: count, first row, steps to a time or 0 */
    FULCRUM_WORKER_CLOSE,
    FULCRUM_WORKER_TIME /* value: enum fulcrum_loop_piece, environments, microseconds;
                           its figures are the first times of the shared memory */
};

struct fulcrum_worker_command {
    uint32_t magic;
    uint32_t code;
    uint64_t value[3];
};

enum fulcrum_worker_result {
    FULCRUM_WORKER_ON,
    FULCRUM_WORKER_END,
    FULCRUM_WORKER_FAILED /* the payload says why */
};

struct fulcrum_worker_reply {
    uint32_t magic;
    uint32_t code;   /* of the command */
    uint32_t result; /* enum fulcrum_worker_result */
    uint32_t payload_byte;
    uint64_t reset_count; /* of a run */
    uint64_t zero;
};

/* Most text of a failure. */
#define FULCRUM_WORKER_TEXT_BYTE 1000

/* Payload of the answer to FULCRUM_WORKER_DESCRIBE. */
struct fulcrum_worker_description {
    uint32_t observation_kind; /* 1: float32, 2: uint8 */
    uint32_t zero;
    uint64_t observation_count;
    uint64_t action_count;
    double frame_skip;
    char name[64];    /* texts end in a zero byte */
    char detail[160]; /* versions of libraries */
};

/*
 * Words at the start of the shared memory. The worker writes the first three as it goes
 * along, so that the other side can say where it stopped; the rest is written for it
 * before FULCRUM_WORKER_CREATE.
 */
enum fulcrum_worker_word {
    FULCRUM_WORKER_STEP_NUMBER, /* of the step at hand or just done, from 1 */
    FULCRUM_WORKER_RESET_NUMBER,
    FULCRUM_WORKER_PHASE,
    FULCRUM_WORKER_MEMORY_BYTE,
    FULCRUM_WORKER_ACTION_OFFSET, /* rows of float32 */
    FULCRUM_WORKER_ROW_COUNT, /* room for so many and one more; at a run: rows in use */
    FULCRUM_WORKER_TIME_OFFSET,        /* float64: steps, then resets */
    FULCRUM_WORKER_TIME_COUNT,         /* room for as many of each */
    FULCRUM_WORKER_OBSERVATION_OFFSET, /* a multiple of 64 */
    FULCRUM_WORKER_OBSERVATION_BYTE,
    FULCRUM_WORKER_WORD_COUNT
};

enum fulcrum_worker_phase {
    FULCRUM_WORKER_WAITS,
    FULCRUM_WORKER_RESETS,
    FULCRUM_WORKER_STEPS
};

/* Around the observation, and all of the last page, which a worker may protect. */
#define FULCRUM_WORKER_GUARD      0xA5
#define FULCRUM_WORKER_GUARD_BYTE 64

/* The place of the first element that is no finite number; `count` where all are. */
static inline size_t fulcrum_worker_first_odd(const float *values, size_t count)
{
    /* Zero times anything but a finite value is no number: the loop has no branch. */
    float sum = 0.0F;
    for (size_t i = 0; i < count; i++) {
        sum += 0.0F * values[i];
    }
    size_t place = sum == 0.0F ? count : 0;
    while (place < count && isfinite(values[place])) {
        place++;
    }
    return place;
}

#endif
