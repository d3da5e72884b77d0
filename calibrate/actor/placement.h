/* placement.h - which processors the actors may use, and which the server. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_PLACEMENT_H
#define FULCRUM_CALIBRATE_ACTOR_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

enum { FULCRUM_PLACEMENT_CPU_MOST = 1024 };

/* Processor numbers as the kernel counts them: hardware threads. */
struct fulcrum_cpu_list {
    size_t count;
    unsigned short cpu[FULCRUM_PLACEMENT_CPU_MOST]; /* increasing */
};

struct fulcrum_placement {
    struct fulcrum_cpu_list actors;
    struct fulcrum_cpu_list server; /* inference, and training where there is any */
    size_t actor_core_count;        /* cores that the actors' list lies on */
    bool is_apart;                  /* no core in both */
};

/*
 * Reads "0-3,8"; "" leaves the list empty.
 *   fails    FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE (a processor that there is not, or
 *            that this process may not use)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cpu_list_read(
    struct fulcrum_cpu_list *out, const char *text, struct fulcrum_error *err);

/* Writes it the same way into `text` of `size` bytes, cut where it is too long. */
void fulcrum_cpu_list_write(
    const struct fulcrum_cpu_list *list, char *text, size_t size);

/*
 * Takes what was given; where a list is empty the server gets the last core, with all
 * its hardware threads, and the actors every other one: those that the other list has
 * left. On one core both get it.
 *   fails    FULCRUM_ERR_INFEASIBLE (nothing is left)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_placement_complete(
    struct fulcrum_placement *placement, struct fulcrum_error *err);

/* Binds the calling thread to the processors of a list. Returns 0 where it cannot. */
int fulcrum_cpu_list_bind(const struct fulcrum_cpu_list *list);

/* What fulcrum_cpu_list_bind changed, to be put back: the calling thread's own. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cpu_list_allowed(
    struct fulcrum_cpu_list *out, struct fulcrum_error *err);

#endif
