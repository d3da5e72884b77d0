/* placement.c - which processors the actors may use, and which the server. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Left to itself the scheduler puts two threads that only talk to each other on one
 * core, and moves threads while they are timed. Which hardware threads share a core is
 * found out by host.c.
 */
#define _GNU_SOURCE /* sched_getaffinity, pthread_setaffinity_np */

#include "calibrate/actor/placement.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/host.h"
#include "model/try.h"

static int holds(const struct fulcrum_cpu_list *list, unsigned cpu)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->cpu[i] == cpu) {
            return 1;
        }
    }
    return 0;
}

static void add(struct fulcrum_cpu_list *list, unsigned cpu)
{
    if (list->count < FULCRUM_PLACEMENT_CPU_MOST && !holds(list, cpu)) {
        list->cpu[list->count++] = (unsigned short)cpu;
    }
}

enum fulcrum_status fulcrum_cpu_list_allowed(
    struct fulcrum_cpu_list *out, struct fulcrum_error *err)
{
    cpu_set_t set;
    FAIL_IF(pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0, err,
        FULCRUM_ERR_UNSUPPORTED, "the processors of this process: %s", strerror(errno));
    out->count = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            add(out, cpu);
        }
    }
    return FULCRUM_OK;
}

int fulcrum_cpu_list_bind(const struct fulcrum_cpu_list *list)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < list->count; i++) {
        CPU_SET(list->cpu[i], &set);
    }
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/* One number of a list; the text moves on behind it. -1: there is none. */
static long read_number(const char **text)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**text)) {
        return -1;
    }
    errno = 0;
    long number = strtol(*text, &end, 10);
    *text = end;
    return errno == 0 && number < CPU_SETSIZE ? number : CPU_SETSIZE;
}

static enum fulcrum_status add_range(struct fulcrum_cpu_list *out,
    const struct fulcrum_cpu_list *allowed, const long range[2],
    struct fulcrum_error *err)
{
    for (long cpu = range[0]; cpu <= range[1]; cpu++) {
        if (!holds(allowed, (unsigned)cpu)) {
            char text[128];
            fulcrum_cpu_list_write(allowed, text, sizeof text);
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "processor %ld is none that this process may use: %s", cpu, text);
        }
        add(out, (unsigned)cpu);
    }
    return FULCRUM_OK;
}

static int compare_processors(const void *a, const void *b)
{
    unsigned short left = *(const unsigned short *)a;
    unsigned short right = *(const unsigned short *)b;
    return (left > right) - (left < right);
}

enum fulcrum_status fulcrum_cpu_list_read(
    struct fulcrum_cpu_list *out, const char *text, struct fulcrum_error *err)
{
    struct fulcrum_cpu_list allowed = {.count = 0};
    const char *at = text;
    enum fulcrum_status status = fulcrum_cpu_list_allowed(&allowed, err);
    out->count = 0;
    while (status == FULCRUM_OK && *at != '\0') {
        long range[2] = {read_number(&at), 0};
        range[1] = range[0];
        if (range[0] >= 0 && *at == '-') {
            at++;
            range[1] = read_number(&at);
        }
        bool is_followed = *at == ',' && at[1] != '\0';
        FAIL_IF(range[0] < 0 || range[1] < range[0] || !(is_followed || *at == '\0'),
            err, FULCRUM_ERR_FORMAT, "%s: expected processors such as 0-3,8", text);
        at += is_followed;
        status = add_range(out, &allowed, range, err);
    }
    qsort(out->cpu, out->count, sizeof out->cpu[0], compare_processors);
    return status;
}

void fulcrum_cpu_list_write(
    const struct fulcrum_cpu_list *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && used + 16 < size;) {
        size_t last = i;
        while (last + 1 < list->count && list->cpu[last + 1] == list->cpu[last] + 1) {
            last++;
        }
        const char *comma = i > 0 ? "," : "";
        int length = last > i ? snprintf(text + used, size - used, "%s%u-%u", comma,
                                    (unsigned)list->cpu[i], (unsigned)list->cpu[last])
                              : snprintf(text + used, size - used, "%s%u", comma,
                                    (unsigned)list->cpu[i]);
        used += (size_t)length;
        i = last + 1;
    }
}

/* As fulcrum_host_find_cores has it. */
struct cores {
    unsigned short core_of[CPU_SETSIZE];
};

static size_t count_cores(
    const struct cores *cores, const struct fulcrum_cpu_list *list)
{
    struct fulcrum_cpu_list seen = {.count = 0};
    for (size_t i = 0; i < list->count; i++) {
        add(&seen, cores->core_of[list->cpu[i]]);
    }
    return seen.count;
}

/* Whether a processor lies on a core of the list. */
static int touches(
    const struct cores *cores, const struct fulcrum_cpu_list *list, unsigned cpu)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cores->core_of[list->cpu[i]] == cores->core_of[cpu]) {
            return 1;
        }
    }
    return 0;
}

/* All processors on cores that `others` does not touch. */
static void take_rest(const struct cores *cores, const struct fulcrum_cpu_list *allowed,
    const struct fulcrum_cpu_list *others, struct fulcrum_cpu_list *out)
{
    out->count = 0;
    for (size_t i = 0; i < allowed->count; i++) {
        if (!touches(cores, others, allowed->cpu[i])) {
            add(out, allowed->cpu[i]);
        }
    }
}

enum fulcrum_status fulcrum_placement_complete(
    struct fulcrum_placement *placement, struct fulcrum_error *err)
{
    struct fulcrum_cpu_list allowed = {.count = 0};
    TRY(fulcrum_cpu_list_allowed(&allowed, err));
    struct cores cores = {{0}};
    fulcrum_host_find_cores(cores.core_of, CPU_SETSIZE);
    if (placement->server.count == 0) {
        /* The last core that the actors do not have. */
        struct fulcrum_cpu_list rest = {.count = 0};
        take_rest(&cores, &allowed, &placement->actors, &rest);
        for (size_t i = 0; i < rest.count; i++) {
            unsigned last = rest.cpu[rest.count - 1];
            if (cores.core_of[rest.cpu[i]] == cores.core_of[last]) {
                add(&placement->server, rest.cpu[i]);
            }
        }
    }
    if (placement->actors.count == 0) {
        take_rest(&cores, &allowed, &placement->server, &placement->actors);
    }
    if (placement->actors.count == 0 && count_cores(&cores, &allowed) == 1) {
        placement->actors = allowed;
    }
    FAIL_IF(placement->actors.count == 0 || placement->server.count == 0, err,
        FULCRUM_ERR_INFEASIBLE, "no core is left for the %s",
        placement->server.count == 0 ? "server" : "actors");
    placement->actor_core_count = count_cores(&cores, &placement->actors);
    placement->is_apart = 1;
    for (size_t i = 0; i < placement->actors.count; i++) {
        if (touches(&cores, &placement->server, placement->actors.cpu[i])) {
            placement->is_apart = 0;
        }
    }
    return FULCRUM_OK;
}
