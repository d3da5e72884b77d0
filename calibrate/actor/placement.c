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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/host.h"
#include "model/try.h"

static struct fulcrum_cpu_list list_of(const cpu_set_t *set)
{
    struct fulcrum_cpu_list list = {.count = 0};
    for (unsigned cpu = 0; cpu < FULCRUM_PLACEMENT_CPU_MOST; cpu++) {
        if (CPU_ISSET(cpu, set)) {
            list.cpu[list.count++] = (unsigned short)cpu;
        }
    }
    return list;
}

static cpu_set_t set_of(const struct fulcrum_cpu_list *list)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < list->count; i++) {
        CPU_SET(list->cpu[i], &set);
    }
    return set;
}

enum fulcrum_status fulcrum_cpu_list_allowed(
    struct fulcrum_cpu_list *out, struct fulcrum_error *err)
{
    cpu_set_t set;
    FAIL_IF(pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0, err,
        FULCRUM_ERR_UNSUPPORTED, "the processors of this process: %s", strerror(errno));
    *out = list_of(&set);
    return FULCRUM_OK;
}

int fulcrum_cpu_list_bind(const struct fulcrum_cpu_list *list)
{
    const cpu_set_t set = set_of(list);
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

static enum fulcrum_status add_range(cpu_set_t *out,
    const struct fulcrum_cpu_list *allowed, const long range[2],
    struct fulcrum_error *err)
{
    const cpu_set_t known = set_of(allowed);
    for (long cpu = range[0]; cpu <= range[1]; cpu++) {
        if (!CPU_ISSET((unsigned)cpu, &known)) {
            char text[128];
            fulcrum_cpu_list_write(allowed, text, sizeof text);
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "processor %ld is none that this process may use: %s", cpu, text);
        }
        CPU_SET((unsigned)cpu, out);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_cpu_list_read(
    struct fulcrum_cpu_list *out, const char *text, struct fulcrum_error *err)
{
    struct fulcrum_cpu_list allowed = {.count = 0};
    cpu_set_t found;
    const char *at = text;
    TRY(fulcrum_cpu_list_allowed(&allowed, err));
    CPU_ZERO(&found);
    while (*at != '\0') {
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
        TRY(add_range(&found, &allowed, range, err));
    }
    *out = list_of(&found);
    return FULCRUM_OK;
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

/* The cores that a list lies on, by numbers as fulcrum_host_find_cores has them. */
static cpu_set_t cores_of(
    const unsigned short *core_of, const struct fulcrum_cpu_list *list)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (size_t i = 0; i < list->count; i++) {
        CPU_SET(core_of[list->cpu[i]], &cores);
    }
    return cores;
}

/* All processors on cores that `others` does not touch. */
static struct fulcrum_cpu_list rest_of(const unsigned short *core_of,
    const struct fulcrum_cpu_list *allowed, const struct fulcrum_cpu_list *others)
{
    const cpu_set_t taken = cores_of(core_of, others);
    struct fulcrum_cpu_list rest = {.count = 0};
    for (size_t i = 0; i < allowed->count; i++) {
        if (!CPU_ISSET(core_of[allowed->cpu[i]], &taken)) {
            rest.cpu[rest.count++] = allowed->cpu[i];
        }
    }
    return rest;
}

enum fulcrum_status fulcrum_placement_complete(
    struct fulcrum_placement *placement, struct fulcrum_error *err)
{
    struct fulcrum_cpu_list allowed = {.count = 0};
    TRY(fulcrum_cpu_list_allowed(&allowed, err));
    unsigned short core_of[CPU_SETSIZE];
    fulcrum_host_find_cores(core_of, CPU_SETSIZE);
    struct fulcrum_cpu_list *server = &placement->server;
    if (server->count == 0) {
        /* The last core that the actors do not have. */
        struct fulcrum_cpu_list rest = rest_of(core_of, &allowed, &placement->actors);
        for (size_t i = 0; i < rest.count; i++) {
            if (core_of[rest.cpu[i]] == core_of[rest.cpu[rest.count - 1]]) {
                server->cpu[server->count++] = rest.cpu[i];
            }
        }
    }
    if (placement->actors.count == 0) {
        placement->actors = rest_of(core_of, &allowed, server);
    }
    cpu_set_t cores = cores_of(core_of, &allowed);
    if (placement->actors.count == 0 && CPU_COUNT(&cores) == 1) {
        placement->actors = allowed;
    }
    FAIL_IF(placement->actors.count == 0 || server->count == 0, err,
        FULCRUM_ERR_INFEASIBLE, "no core is left for the %s",
        server->count == 0 ? "server" : "actors");
    cores = cores_of(core_of, &placement->actors);
    placement->actor_core_count = (size_t)CPU_COUNT(&cores);
    const cpu_set_t of_server = cores_of(core_of, server);
    cpu_set_t both;
    CPU_AND(&both, &cores, &of_server);
    placement->is_apart = CPU_COUNT(&both) == 0;
    return FULCRUM_OK;
}
