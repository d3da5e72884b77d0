/* meter.c - the table of power meters. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/meter.h"

#include <stddef.h>
#include <string.h>

#include "calibrate/meter_record.h"

const struct fulcrum_meter *const *fulcrum_meters(void)
{
    static const struct fulcrum_meter *const meters[] = {
        &fulcrum_meter_powercap, &fulcrum_meter_perf, &fulcrum_meter_nvml, NULL};
    return meters;
}

const struct fulcrum_meter *fulcrum_meter_find(const char *name)
{
    for (const struct fulcrum_meter *const *m = fulcrum_meters(); *m != NULL; m++) {
        if (strcmp((*m)->name, name) == 0) {
            return *m;
        }
    }
    return NULL;
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
    if (all.status == FULCRUM_OK) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "no meter for it");
    }
    return fulcrum_fail(err, all.status, "%s", all.detail);
}
