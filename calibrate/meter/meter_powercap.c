/* meter_powercap.c - RAPL energy counters through the kernel's powercap files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel shows RAPL counters as files: microjoules that wrap at a range of their
 * own. One wrap between two readings is seen; at full power it takes a minute or more
 * to the next. Sums run over the packages; a zone below a package (its memory) is
 * counted apart, never twice. Reading needs root on most systems since 2020
 * (CVE-2020-8694): then the meter says that it is not available.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/meter/meter.h"
#include "model/try.h"

/* A zone of the kernel: one energy counter that wraps at its range. */
struct zone {
    char path[FULCRUM_METER_PATH_SIZE]; /* of energy_uj */
    uint64_t range_uj;
    uint64_t last_uj;
    double energy_j;
};

struct fulcrum_meter_state {
    struct fulcrum_meter_domain *domain; /* behind the zones */
    size_t count;
    struct zone zone[];
};

/* "intel-rapl:0" and "intel-rapl:0:1"; AMD's too. The -mmio twins count twice. */
static int is_zone(const struct dirent *entry)
{
    return strncmp(entry->d_name, "intel-rapl:", 11) == 0;
}

/*
 * Names a zone by what it covers. Returns 0 for parts of a package and for the whole
 * platform, which would count twice.
 */
static int name_domain(
    struct fulcrum_meter_domain *domain, const char *folder, const char *kernel_name)
{
    if (strncmp(kernel_name, "package", 7) == 0) {
        domain->scope = FULCRUM_METER_CPU_PACKAGE;
        (void)snprintf(domain->name, sizeof domain->name, "%s", kernel_name);
        return 1;
    }
    if (strcmp(kernel_name, "dram") == 0) {
        domain->scope = FULCRUM_METER_DRAM;
        (void)snprintf(domain->name, sizeof domain->name, "dram-%s",
            folder + strlen("intel-rapl:"));
        *(domain->name + strcspn(domain->name, ":")) = '\0';
        return 1;
    }
    return 0;
}

/* Adds the zone in `base`/`folder` if it is one to count. */
static enum fulcrum_status add_zone(struct fulcrum_meter_state *state, const char *base,
    const char *folder, struct fulcrum_error *err)
{
    char path[FULCRUM_METER_PATH_SIZE];
    char name[40];
    struct zone *zone = &state->zone[state->count];
    TRY(fulcrum_meter_path(path, err, "%s/%s/name", base, folder));
    TRY(fulcrum_meter_read_line(path, name, sizeof name, err));
    if (!name_domain(&state->domain[state->count], folder, name)) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_meter_path(path, err, "%s/%s/max_energy_range_uj", base, folder));
    TRY(fulcrum_meter_read_count(path, &zone->range_uj, err));
    TRY(fulcrum_meter_path(zone->path, err, "%s/%s/energy_uj", base, folder));
    TRY(fulcrum_meter_read_count(zone->path, &zone->last_uj, err));
    /* What readings of a zone may be used for. No package draws a kilowatt for long. */
    struct fulcrum_meter_domain *domain = &state->domain[state->count++];
    const double most_w = 1000;
    const double j_per_uj = 1e-6;
    domain->least_window_s = FULCRUM_RAPL_LEAST_WINDOW_S;
    domain->most_window_s = (double)zone->range_uj * j_per_uj / most_w;
    (void)snprintf(
        domain->detail, sizeof domain->detail, "RAPL counter %.200s", zone->path);
    return FULCRUM_OK;
}

static void powercap_close(struct fulcrum_meter_state *state)
{
    free(state);
}

/* Keeps the detail: what is wrong with a file means something else to the caller. */
static enum fulcrum_status restate(
    struct fulcrum_error *err, enum fulcrum_status status)
{
    if (err != NULL) {
        err->status = status;
    }
    return status;
}

static enum fulcrum_status open_zones(struct fulcrum_meter_state *state,
    const char *base, struct dirent **entry, int count, struct fulcrum_error *err)
{
    state->domain = (void *)&state->zone[count + 1];
    for (int i = 0; i < count; i++) {
        if (add_zone(state, base, entry[i]->d_name, err) != FULCRUM_OK) {
            return restate(err, FULCRUM_ERR_UNSUPPORTED);
        }
    }
    FAIL_IF(state->count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "%s has no package to read; load the module intel_rapl_msr, or use a "
        "machine that is not virtual",
        base);
    return FULCRUM_OK;
}

static enum fulcrum_status powercap_open(
    const char *root, struct fulcrum_meter_state **out, struct fulcrum_error *err)
{
    char base[FULCRUM_METER_PATH_SIZE];
    TRY(fulcrum_meter_path(base, err, "%s/sys/class/powercap", root));
    struct dirent **entry = NULL;
    int count = scandir(base, &entry, is_zone, alphasort);
    FAIL_IF(count < 0, err, FULCRUM_ERR_UNSUPPORTED,
        "%s: %s; the kernel has no powercap (or hides it from this container)", base,
        strerror(errno));
    struct fulcrum_meter_state *state =
        calloc(1, sizeof *state + ((size_t)count + 1) *
                                      (sizeof *state->zone + sizeof *state->domain));
    enum fulcrum_status status =
        state == NULL ? fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%d zones", count)
                      : open_zones(state, base, entry, count, err);
    for (int i = 0; i < count; i++) {
        free(entry[i]);
    }
    free(entry);
    if (status != FULCRUM_OK) {
        powercap_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

static const struct fulcrum_meter_domain *powercap_domains(
    const struct fulcrum_meter_state *state, size_t *count)
{
    *count = state->count;
    return state->domain;
}

/* Joules from `zone->last_uj` to `now_uj`, over the wrap if there was one. */
static double advance_j(const struct zone *zone, uint64_t now_uj)
{
    const double j_per_uj = 1e-6;
    if (now_uj >= zone->last_uj) {
        return (double)(now_uj - zone->last_uj) * j_per_uj;
    }
    uint64_t to_range =
        zone->range_uj > zone->last_uj ? zone->range_uj - zone->last_uj : 0;
    return ((double)to_range + (double)now_uj) * j_per_uj;
}

static enum fulcrum_status powercap_read(
    struct fulcrum_meter_state *state, double *energy_j, struct fulcrum_error *err)
{
    for (size_t i = 0; i < state->count; i++) {
        struct zone *zone = &state->zone[i];
        uint64_t now_uj = 0;
        if (fulcrum_meter_read_count(zone->path, &now_uj, err) != FULCRUM_OK) {
            return restate(err, FULCRUM_ERR_FILE);
        }
        zone->energy_j += advance_j(zone, now_uj);
        zone->last_uj = now_uj;
    }
    /* Only now, so that a failure leaves the caller's numbers alone. */
    for (size_t i = 0; i < state->count; i++) {
        energy_j[i] = state->zone[i].energy_j;
    }
    return FULCRUM_OK;
}

const struct fulcrum_meter fulcrum_meter_powercap = {
    .name = "powercap",
    .summary = "CPU packages and memory, RAPL counters in /sys/class/powercap",
    .scope = FULCRUM_METER_CPU_PACKAGE,
    .open = powercap_open,
    .close = powercap_close,
    .domains = powercap_domains,
    .read = powercap_read,
};
