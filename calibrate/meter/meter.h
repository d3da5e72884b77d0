/* meter.h - power meters behind one interface. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_METER_H
#define FULCRUM_CALIBRATE_METER_METER_H

#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

/* One-line files of the kernel. */

/* Room for a path below the kernel's folders. */
#define FULCRUM_METER_PATH_SIZE 1024

/* RAPL counters tick about once a millisecond: shorter windows would read steps. */
#define FULCRUM_RAPL_LEAST_WINDOW_S 0.01

/* Joins printf-style parts; FULCRUM_ERR_UNSUPPORTED where the path is too long. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_path(
    char path[FULCRUM_METER_PATH_SIZE], struct fulcrum_error *err, const char *format,
    ...) FULCRUM_PRINTF(3, 4);

/*
 * First line of a file without its end.
 *   fails    FULCRUM_ERR_FILE: the detail has path and reason, and what to do where
 *            permission is what lacks; FULCRUM_ERR_FORMAT (empty or too long)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_read_line(
    const char *path, char *line, size_t size, struct fulcrum_error *err);

/* A whole decimal number and nothing else; fails as above, FORMAT for garbage. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_read_count(
    const char *path, uint64_t *out, struct fulcrum_error *err);

#define FULCRUM_METER_DOUBT_SIZE 240

/* Writes why something cannot be believed, unless `text` holds a doubt already. */
void fulcrum_meter_doubt(char text[FULCRUM_METER_DOUBT_SIZE], const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* What a domain's joules cover. */
enum fulcrum_meter_scope {
    FULCRUM_METER_CPU_PACKAGE,
    FULCRUM_METER_DRAM,
    FULCRUM_METER_GPU, /* the whole board, its memory included */
    FULCRUM_METER_SCOPE_COUNT
};

struct fulcrum_meter_domain {
    char name[48]; /* "package-0", "gpu-0" */
    enum fulcrum_meter_scope scope;
    /*
     * Two readings nearer to each other than this have a difference that means nothing:
     * counters tick, and the watts behind some of them are averages over the past.
     * Whoever reads must keep to it; > 0.
     */
    double least_window_s;
    double most_window_s; /* longer and a counter may have wrapped twice; 0: any */
    /* What is read still shows the load of so long ago: wait it out after a change. */
    double settle_s;
    char detail[240]; /* how it is read, and of what: "NVIDIA A100 GPU-..., ..." */
};

struct fulcrum_meter_state; /* opaque: open files */

/* One source of energy readings. */
struct fulcrum_meter {
    const char *name;
    const char *summary;
    enum fulcrum_meter_scope scope; /* what it is there for; every one has some of it */
    /*
     *   root     where the kernel's files are, "" for this machine's (tests give a
     *            folder)
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_UNSUPPORTED: the detail says what is missing and how a
     *            user may provide it; FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*open)(
        const char *root, struct fulcrum_meter_state **out, struct fulcrum_error *err);
    void (*close)(struct fulcrum_meter_state *state);
    /* Borrowed; `count` domains. */
    const struct fulcrum_meter_domain *(*domains)(
        const struct fulcrum_meter_state *state, size_t *count);
    /*
     * Joules since `open`, one per domain in `energy_j`; counters that wrapped once
     * between two reads are unwrapped, so read at least every `most_window_s`. A domain
     * that has no reading while others have gets NAN, never zero; a difference across
     * its NAN means nothing, even where it can be read again.
     *   fails    FULCRUM_ERR_FILE: none can be read; `energy_j` is then unchanged
     */
    enum fulcrum_status (*read)(
        struct fulcrum_meter_state *state, double *energy_j, struct fulcrum_error *err);
    /*
     * Why the last `read` gave domain `index` NAN, its name included; "" where it gave
     * joules. Borrowed until the next read. NULL where one domain is never read without
     * the others.
     */
    const char *(*why)(const struct fulcrum_meter_state *state, size_t index);
};

/* NULL-terminated, in the order of preference and of `fulcrum list meters`. Static. */
const struct fulcrum_meter *const *fulcrum_meters(void);

/*
 * Opens the first meter for `scope` that works here.
 *   meter, out  set on success only; `out` is given back with (*meter)->close
 *   fails       FULCRUM_ERR_UNSUPPORTED: one line per meter for it says why
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_open_first(
    const struct fulcrum_meter **meter, struct fulcrum_meter_state **out,
    enum fulcrum_meter_scope scope, const char *root, struct fulcrum_error *err);

extern const struct fulcrum_meter fulcrum_meter_powercap;
extern const struct fulcrum_meter fulcrum_meter_perf;
extern const struct fulcrum_meter fulcrum_meter_nvml;

#endif
