/* meter_perf_event.c - how the kernel describes its energy events. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/meter_perf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/meter_file.h"
#include "model/try.h"

static const char unit_folder[] = "sys/bus/event_source/devices/power";

/* "event=0x02": the only term that the energy events have. */
static enum fulcrum_status parse_config(
    uint64_t *out, const char *path, const char *line, struct fulcrum_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = 0;
    int named = strncmp(line, "event=", 6) == 0;
    if (named) {
        value = strtoull(line + 6, &end, 0);
    }
    if (!named || end == line + 6 || *end != '\0' || errno != 0) {
        return fulcrum_fail(
            err, FULCRUM_ERR_FORMAT, "%s: \"%s\" is not event=<number>", path, line);
    }
    *out = value;
    return FULCRUM_OK;
}

static enum fulcrum_status parse_scale(
    double *out, const char *path, const char *line, struct fulcrum_error *err)
{
    char *end = NULL;
    double value = strtod(line, &end);
    if (end == line || *end != '\0' || !isfinite(value) || value <= 0) {
        return fulcrum_fail(
            err, FULCRUM_ERR_FORMAT, "%s: \"%s\" is not a number above 0", path, line);
    }
    *out = value;
    return FULCRUM_OK;
}

/* Reads `root`/unit/events/`name``suffix`; `path` stays for error details. */
static enum fulcrum_status read_event_file(char path[FULCRUM_METER_PATH_SIZE],
    char line[64], const char *const part[3], struct fulcrum_error *err)
{
    TRY(fulcrum_meter_path(
        path, err, "%s/%s/events/%s%s", part[0], unit_folder, part[1], part[2]));
    return fulcrum_meter_read_line(path, line, 64, err);
}

static enum fulcrum_status read_type(
    uint32_t *out, const char *root, struct fulcrum_error *err)
{
    char path[FULCRUM_METER_PATH_SIZE];
    uint64_t type = 0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_meter_path(path, err, "%s/%s/type", root, unit_folder));
    TRY_OR_END(fulcrum_meter_read_count(path, &type, err));
    if (type > UINT32_MAX) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_FORMAT, "%s: too large", path));
    }
end:
    *out = (uint32_t)type;
    return status;
}

enum fulcrum_status fulcrum_perf_event_read(struct fulcrum_perf_event *out,
    const char *root, const char *name, struct fulcrum_error *err)
{
    char path[FULCRUM_METER_PATH_SIZE];
    char line[64];
    struct fulcrum_perf_event event = {0};
    enum fulcrum_status status = read_type(&event.type, root, err);
    if (status == FULCRUM_OK) {
        status =
            read_event_file(path, line, (const char *const[]){root, name, ""}, err);
    }
    if (status == FULCRUM_OK) {
        status = parse_config(&event.config, path, line, err);
    }
    if (status == FULCRUM_OK) {
        status = read_event_file(
            path, line, (const char *const[]){root, name, ".scale"}, err);
    }
    if (status == FULCRUM_OK) {
        status = parse_scale(&event.j_per_count, path, line, err);
    }
    if (status == FULCRUM_OK) {
        status = read_event_file(
            path, line, (const char *const[]){root, name, ".unit"}, err);
    }
    if (status == FULCRUM_OK && strcmp(line, "Joules") != 0) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_FORMAT, "%s: \"%s\" is not Joules", path, line);
    }
    if (status == FULCRUM_OK) {
        *out = event;
    }
    return status;
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

enum fulcrum_status fulcrum_perf_cpu_list(int *cpu, size_t *count, size_t capacity,
    const char *list, struct fulcrum_error *err)
{
    const char *text = list;
    size_t found = 0;
    long first = 0;
    long last = 0;
    int more = 1;
    while (more) {
        if (!take_range(&text, &first, &last) || (*text != ',' && *text != '\0') ||
            (size_t)(last - first) >= capacity - found) {
            return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
                "\"%s\" is not a list of at most %zu processors", list, capacity);
        }
        for (long i = first; i <= last; i++) {
            cpu[found++] = (int)i;
        }
        more = *text++ == ',';
    }
    *count = found;
    return FULCRUM_OK;
}
