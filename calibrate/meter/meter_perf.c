/* meter_perf.c - RAPL energy counters through the kernel's performance events. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calibrate/meter/meter.h"
#include "model/try.h"

static const char unit_folder[] = "sys/bus/event_source/devices/power";

struct perf_event {
    uint32_t type;      /* of the measuring unit */
    uint64_t config;    /* of the event */
    double j_per_count; /* > 0 */
};

/* Reads `root`/unit/events/`name``suffix`; `path` stays for error details. */
static enum fulcrum_status read_event_file(char path[FULCRUM_METER_PATH_SIZE],
    char line[64], const char *const part[3], struct fulcrum_error *err)
{
    TRY(fulcrum_meter_path(
        path, err, "%s/%s/events/%s%s", part[0], unit_folder, part[1], part[2]));
    return fulcrum_meter_read_line(path, line, 64, err);
}

static enum fulcrum_status read_event(struct perf_event *out, const char *root,
    const char *name, struct fulcrum_error *err)
{
    char path[FULCRUM_METER_PATH_SIZE];
    char line[64];
    char *end = NULL;
    uint64_t type = 0;
    TRY(fulcrum_meter_path(path, err, "%s/%s/type", root, unit_folder));
    TRY(fulcrum_meter_read_count(path, &type, err));
    FAIL_IF(type > UINT32_MAX, err, FULCRUM_ERR_FORMAT, "%s: too large", path);
    /* "event=0x02": the only term that the energy events have. */
    TRY(read_event_file(path, line, (const char *const[]){root, name, ""}, err));
    bool is_named = strncmp(line, "event=", 6) == 0;
    errno = 0;
    unsigned long long config = is_named ? strtoull(line + 6, &end, 0) : 0;
    FAIL_IF(!is_named || end == line + 6 || *end != '\0' || errno != 0, err,
        FULCRUM_ERR_FORMAT, "%s: \"%s\" is not event=<number>", path, line);
    TRY(read_event_file(path, line, (const char *const[]){root, name, ".scale"}, err));
    double j_per_count = strtod(line, &end);
    FAIL_IF(end == line || *end != '\0' || !isfinite(j_per_count) || j_per_count <= 0,
        err, FULCRUM_ERR_FORMAT, "%s: \"%s\" is not a number above 0", path, line);
    TRY(read_event_file(path, line, (const char *const[]){root, name, ".unit"}, err));
    FAIL_IF(strcmp(line, "Joules") != 0, err, FULCRUM_ERR_FORMAT,
        "%s: \"%s\" is not Joules", path, line);
    *out = (struct perf_event){(uint32_t)type, config, j_per_count};
    return FULCRUM_OK;
}

/* One number or range at `*text`; 0 if there is none. */
static int take_range(const char **text, long *first, long *last)
{
    const long most = 1L << 20;
    char *end = NULL;
    *first = strtol(*text, &end, 10);
    if (end == *text || *first < 0) {
        return 0;
    }
    *last = *first;
    if (*end == '-') {
        const char *rest = end + 1;
        *last = strtol(rest, &end, 10);
        if (end == rest) {
            return 0;
        }
    }
    *text = end;
    return *last >= *first && *last < most;
}

/* More packages than any machine has; two events each. */
enum { MOST_PACKAGES = 64, MOST_DOMAINS = 2 * MOST_PACKAGES };

struct fulcrum_meter_state {
    struct fulcrum_meter_domain domain[MOST_DOMAINS];
    double j_per_count[MOST_DOMAINS];
    int file[MOST_DOMAINS];
    size_t count;
};

static void perf_close(struct fulcrum_meter_state *state)
{
    for (size_t i = 0; state != NULL && i < state->count; i++) {
        (void)close(state->file[i]);
    }
    free(state);
}

/* One domain per package for one event; `list` is such as "0,18-19". */
static enum fulcrum_status add_event(struct fulcrum_meter_state *state,
    const struct perf_event *event, const struct fulcrum_meter_domain *kind,
    const char *list, struct fulcrum_error *err)
{
    int cpu[MOST_PACKAGES];
    size_t package_count = 0;
    const char *text = list;
    long first = 0;
    long last = 0;
    int more = 1;
    while (more) {
        FAIL_IF(!take_range(&text, &first, &last) || (*text != ',' && *text != '\0') ||
                    (size_t)(last - first) >= MOST_PACKAGES - package_count,
            err, FULCRUM_ERR_FORMAT, "\"%s\" is not a list of at most %d processors",
            list, MOST_PACKAGES);
        for (long i = first; i <= last; i++) {
            cpu[package_count++] = (int)i;
        }
        more = *text++ == ',';
    }
    for (size_t i = 0; i < package_count; i++) {
        /* Counts from now on, whatever runs on the package. */
        struct perf_event_attr attr = {
            .size = sizeof attr, .type = event->type, .config = event->config};
        int file = (int)syscall(
            SYS_perf_event_open, &attr, -1, cpu[i], -1, PERF_FLAG_FD_CLOEXEC);
        FAIL_IF(file < 0 && (errno == EACCES || errno == EPERM), err,
            FULCRUM_ERR_UNSUPPORTED,
            "perf_event_open on processor %d: not permitted; run as root, grant "
            "CAP_PERFMON, or set kernel.perf_event_paranoid to 0",
            cpu[i]);
        FAIL_IF(file < 0, err, FULCRUM_ERR_UNSUPPORTED,
            "perf_event_open on processor %d: %s", cpu[i], strerror(errno));
        struct fulcrum_meter_domain *domain = &state->domain[state->count];
        *domain = *kind;
        domain->least_window_s = FULCRUM_RAPL_LEAST_WINDOW_S;
        (void)snprintf(domain->name, sizeof domain->name, "%.20s-%zu", kind->name, i);
        state->file[state->count] = file;
        state->j_per_count[state->count++] = event->j_per_count;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status open_events(
    struct fulcrum_meter_state *state, const char *root, struct fulcrum_error *err)
{
    static const struct fulcrum_meter_domain package = {.name = "package",
        .scope = FULCRUM_METER_CPU_PACKAGE,
        .detail = "RAPL counter, event power/energy-pkg"};
    static const struct fulcrum_meter_domain dram = {.name = "dram",
        .scope = FULCRUM_METER_DRAM,
        .detail = "RAPL counter, event power/energy-ram"};
    char path[FULCRUM_METER_PATH_SIZE];
    char list[512];
    struct perf_event event = {0};
    TRY(read_event(&event, root, "energy-pkg", err));
    TRY(fulcrum_meter_path(path, err, "%s/%s/cpumask", root, unit_folder));
    TRY(fulcrum_meter_read_line(path, list, sizeof list, err));
    TRY(add_event(state, &event, &package, list, err));
    /* Memory is counted on servers only; its absence is no fault. */
    if (read_event(&event, root, "energy-ram", NULL) == FULCRUM_OK) {
        TRY(add_event(state, &event, &dram, list, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status perf_open(
    const char *root, struct fulcrum_meter_state **out, struct fulcrum_error *err)
{
    struct fulcrum_meter_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "perf meter");
    if (open_events(state, root, err) != FULCRUM_OK) {
        perf_close(state);
        /* Whatever is wrong with the files, this meter does not work here. */
        return fulcrum_fail_in(err, FULCRUM_ERR_UNSUPPORTED, "power events");
    }
    *out = state;
    return FULCRUM_OK;
}

static const struct fulcrum_meter_domain *perf_domains(
    const struct fulcrum_meter_state *state, size_t *count)
{
    *count = state->count;
    return state->domain;
}

/* The kernel widens the counter to 64 bits itself: no wrap to undo. */
static enum fulcrum_status perf_read(
    struct fulcrum_meter_state *state, double *energy_j, struct fulcrum_error *err)
{
    double now_j[MOST_DOMAINS] = {0};
    for (size_t i = 0; i < state->count; i++) {
        uint64_t value = 0;
        FAIL_IF(read(state->file[i], &value, sizeof value) != (ssize_t)sizeof value,
            err, FULCRUM_ERR_FILE, "energy counter of %s: %s", state->domain[i].name,
            strerror(errno));
        now_j[i] = (double)value * state->j_per_count[i];
    }
    memcpy(energy_j, now_j, state->count * sizeof *energy_j);
    return FULCRUM_OK;
}

const struct fulcrum_meter fulcrum_meter_perf = {
    .name = "perf",
    .summary = "CPU packages and memory, RAPL counters as performance events",
    .scope = FULCRUM_METER_CPU_PACKAGE,
    .open = perf_open,
    .close = perf_close,
    .domains = perf_domains,
    .read = perf_read,
};
