/* meter.c - the table of power meters. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/meter/meter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

enum fulcrum_status fulcrum_meter_path(char path[FULCRUM_METER_PATH_SIZE],
    struct fulcrum_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, FULCRUM_METER_PATH_SIZE, format, args);
    va_end(args);
    FAIL_IF(length < 0 || length >= FULCRUM_METER_PATH_SIZE, err,
        FULCRUM_ERR_UNSUPPORTED, "%.60s...: path too long", path);
    return FULCRUM_OK;
}

/* Energy counters leak what other users compute, so kernels keep them for root. */
static enum fulcrum_status fail_unreadable(
    const char *path, int reason, struct fulcrum_error *err)
{
    FAIL_IF(reason == EACCES || reason == EPERM, err, FULCRUM_ERR_FILE,
        "%s may be read by root only: run as root, or allow it once with "
        "`sudo chmod a+r %s`",
        path, path);
    return fulcrum_fail(err, FULCRUM_ERR_FILE, "%s: %s", path, strerror(reason));
}

enum fulcrum_status fulcrum_meter_read_line(
    const char *path, char *line, size_t size, struct fulcrum_error *err)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return fail_unreadable(path, errno, err);
    }
    errno = 0;
    char *got = fgets(line, (int)size, file);
    int reason = errno;
    (void)fclose(file);
    if (got == NULL && reason != 0) {
        return fail_unreadable(path, reason, err);
    }
    size_t length = got == NULL ? 0 : strcspn(line, "\n");
    FAIL_IF(length == 0 || length + 1 >= size, err, FULCRUM_ERR_FORMAT, "%s: %s", path,
        length == 0 ? "empty" : "line too long");
    line[length] = '\0';
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_meter_read_count(
    const char *path, uint64_t *out, struct fulcrum_error *err)
{
    char line[64] = "";
    TRY(fulcrum_meter_read_line(path, line, sizeof line, err));
    char *end = NULL;
    errno = 0;
    uintmax_t value = strtoumax(line, &end, 10);
    /* strtoumax takes signs and leading blanks; the kernel writes neither. */
    int plain = line[0] >= '0' && line[0] <= '9' && *end == '\0';
    FAIL_IF(!plain || errno != 0 || value > UINT64_MAX, err, FULCRUM_ERR_FORMAT,
        "%s: \"%s\" is not a whole number >= 0", path, line);
    *out = (uint64_t)value;
    return FULCRUM_OK;
}

void fulcrum_meter_doubt(char text[FULCRUM_METER_DOUBT_SIZE], const char *format, ...)
{
    if (text[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(text, FULCRUM_METER_DOUBT_SIZE, format, args);
        va_end(args);
    }
}

const struct fulcrum_meter *const *fulcrum_meters(void)
{
    static const struct fulcrum_meter *const meters[] = {
        &fulcrum_meter_powercap, &fulcrum_meter_perf, &fulcrum_meter_nvml, NULL};
    return meters;
}

enum fulcrum_status fulcrum_meter_open_first(const struct fulcrum_meter **meter,
    struct fulcrum_meter_state **out, enum fulcrum_meter_scope scope, const char *root,
    struct fulcrum_error *err)
{
    struct fulcrum_error all = {FULCRUM_OK, ""};
    for (const struct fulcrum_meter *const *m = fulcrum_meters(); *m != NULL; m++) {
        struct fulcrum_error one = {FULCRUM_OK, ""};
        if ((*m)->scope != scope) {
            continue;
        }
        enum fulcrum_status status = (*m)->open(root, out, &one);
        if (status == FULCRUM_OK) {
            *meter = *m;
            return FULCRUM_OK;
        }
        (void)fulcrum_fail_more(&all, status, "%s: %s", (*m)->name, one.detail);
    }
    FAIL_IF(all.status == FULCRUM_OK, err, FULCRUM_ERR_UNSUPPORTED, "no meter for it");
    return fulcrum_fail(err, all.status, "%s", all.detail);
}
