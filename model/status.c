/* status.c - what a call returns, and the text that explains a failure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum fulcrum_status fulcrum_fail(
    struct fulcrum_error *err, enum fulcrum_status status, const char *format, ...)
{
    if (err == NULL) {
        return status;
    }
    va_list args;
    va_start(args, format);
    err->status = status;
    (void)vsnprintf(err->detail, sizeof err->detail, format, args);
    va_end(args);
    return status;
}

enum fulcrum_status fulcrum_fail_more(
    struct fulcrum_error *err, enum fulcrum_status status, const char *format, ...)
{
    if (err == NULL) {
        return status;
    }
    if (err->status == FULCRUM_OK) {
        err->status = status;
        err->detail[0] = '\0';
    }
    size_t used = strlen(err->detail);
    size_t start = used > 0 ? used + 1 : 0;
    size_t room = sizeof err->detail - start;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->detail + start, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room) {
        err->detail[used] = '\0';
    } else if (used > 0) {
        err->detail[used] = '\n';
    }
    return err->status;
}

enum fulcrum_status fulcrum_fail_in(
    struct fulcrum_error *err, enum fulcrum_status status, const char *context)
{
    if (err != NULL) {
        char detail[sizeof err->detail];
        memcpy(detail, err->detail, sizeof detail);
        (void)fulcrum_fail(err, status, "%s: %s", context, detail);
    }
    return status;
}

static bool is_good(const struct fulcrum_range *range, double value)
{
    /* Written so that NaN fails every comparison. */
    bool is_inside = value >= range->low && value <= range->high;
    bool is_open = range->kind == FULCRUM_RANGE_POSITIVE;
    bool is_whole = range->kind == FULCRUM_RANGE_WHOLE;
    bool or_zero = range->kind == FULCRUM_RANGE_OR_ZERO;
    return is_inside ? (!is_open || value > range->low) &&
                           (!is_whole || floor(value) >= value)
                     : or_zero && value == 0.0;
}

static void tell_range(struct fulcrum_error *faults, const char *where,
    const struct fulcrum_range *range, double value)
{
    bool is_open = range->kind == FULCRUM_RANGE_POSITIVE;
    if (range->kind == FULCRUM_RANGE_OR_ZERO) {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "%s%s = %g is neither 0 nor inside [%g, %g]", where, range->name, value,
            range->low, range->high);
    } else {
        (void)fulcrum_fail_more(faults, FULCRUM_ERR_RANGE,
            "%s%s = %g is outside %s%g, %g]%s", where, range->name, value,
            is_open ? "(" : "[", range->low, range->high,
            range->kind == FULCRUM_RANGE_WHOLE ? " or not whole" : "");
    }
}

void fulcrum_check_range(struct fulcrum_error *faults, const char *where,
    const struct fulcrum_range *range, double value)
{
    if (!is_good(range, value)) {
        tell_range(faults, where, range, value);
    }
}

void fulcrum_check_ranges(struct fulcrum_error *faults, const char *where,
    const void *object, const struct fulcrum_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)object + ranges[i].offset, sizeof value);
        if (!is_good(&ranges[i], value)) {
            tell_range(faults, where, &ranges[i], value);
        }
    }
}

const char *fulcrum_status_text(enum fulcrum_status status)
{
    static const char *const texts[] = {
#define X(code, text) text,
        FULCRUM_STATUS_LIST(X)
#undef X
    };
    size_t i = (size_t)status;
    return i < sizeof texts / sizeof texts[0] ? texts[i] : "unknown status";
}
