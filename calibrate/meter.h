/* meter.h - power meters behind one interface. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_H
#define FULCRUM_CALIBRATE_METER_H

#include <stddef.h>

#include "model/status.h"

/* What a domain's joules cover. */
enum fulcrum_meter_scope { FULCRUM_METER_CPU_PACKAGE, FULCRUM_METER_DRAM };

struct fulcrum_meter_domain {
    char name[48]; /* "package-0" */
    enum fulcrum_meter_scope scope;
};

struct fulcrum_meter_state; /* opaque: open files */

/* One source of energy readings. */
struct fulcrum_meter {
    const char *name;
    const char *summary;
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
     * between two reads are unwrapped, so read at least every 30 s under load.
     *   fails    FULCRUM_ERR_FILE; `energy_j` is then unchanged, never zero
     */
    enum fulcrum_status (*read)(
        struct fulcrum_meter_state *state, double *energy_j, struct fulcrum_error *err);
};

/* NULL-terminated, in the order of preference and of `fulcrum list meters`. Static. */
const struct fulcrum_meter *const *fulcrum_meters(void);

/* NULL if there is none of that name. */
const struct fulcrum_meter *fulcrum_meter_find(const char *name);

/*
 * Opens the first meter of the table that works here.
 *   meter, out  set on success only; `out` is given back with (*meter)->close
 *   fails       FULCRUM_ERR_UNSUPPORTED: one line per meter says why
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_meter_open_first(
    const struct fulcrum_meter **meter, struct fulcrum_meter_state **out,
    const char *root, struct fulcrum_error *err);

#endif
