/* field.c - the table of a design's fields, and access to them by path. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table is made from the field lists of machine.h, workload.h and design.h, each
 * row with the offset of its member. Everything that names fields goes through it: JSON
 * files, --set, --vary, the schema, the documents, calibrations. A field that is added
 * there is thereby known everywhere.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/agent/agent.h"
#include "model/design/cluster.h"
#include "model/design/design.h"
#include "model/string.h"
#include "model/try.h"

static const char *workload_loop_name(int loop)
{
    return loop == (int)FULCRUM_LOOP_LOCAL ? "local" : fulcrum_loop_name(loop);
}

/* clang-format off */
#define KIND_NUMBER      FULCRUM_FIELD_NUMBER, NULL
#define KIND_COUNT       FULCRUM_FIELD_COUNT, NULL
#define KIND_TEXT        FULCRUM_FIELD_TEXT, NULL
#define KIND_WORD        FULCRUM_FIELD_TEXT, NULL
#define KIND_ACCELERATOR FULCRUM_FIELD_CHOICE, fulcrum_accelerator_name
#define KIND_CURVE       FULCRUM_FIELD_CHOICE, fulcrum_cpu_curve_name
#define KIND_FAMILY      FULCRUM_FIELD_CHOICE, fulcrum_workload_family_name
#define KIND_COUPLING    FULCRUM_FIELD_CHOICE, fulcrum_agent_coupling_name
#define KIND_DEVICE      FULCRUM_FIELD_CHOICE, fulcrum_simulation_device_name
#define KIND_LAW         FULCRUM_FIELD_CHOICE, fulcrum_step_law_name
#define KIND_POLICY      FULCRUM_FIELD_CHOICE, fulcrum_batch_policy_name
#define KIND_LOOP        FULCRUM_FIELD_CHOICE, workload_loop_name
#define KIND_ALLREDUCE   FULCRUM_FIELD_CHOICE, fulcrum_allreduce_name
#define KIND_BATCH_SCALING FULCRUM_FIELD_CHOICE, fulcrum_batch_scaling_name

static const struct fulcrum_field fields[] = {
#define X(place, member, kind, least, most, fallback, unit, meaning)                  \
    {#place "." #member, KIND_##kind, offsetof(struct fulcrum_design, place.member), /* NOLINT */            \
        sizeof(((struct fulcrum_design *)NULL)->place.member), least, most, fallback, \
        unit, meaning},
    FULCRUM_MACHINE_FIELDS(X)
    FULCRUM_WORKLOAD_FIELDS(X)
    FULCRUM_RUN_FIELDS(X)
#undef X
};
/* clang-format on */

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

const struct fulcrum_field *fulcrum_fields(size_t *count)
{
    *count = FIELD_COUNT;
    return fields;
}

const struct fulcrum_field *fulcrum_field_find(const char *path)
{
    /* The command line's short name. */
    path = strcmp(path, "actors") == 0 ? "run.actor_count" : path;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].path, path) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

/* A path that lacks its beginning ("sm_count") is nearest to the field it ends. */
const char *fulcrum_field_nearest(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t whole = strlen(fields[i].path);
        if (whole > length && fields[i].path[whole - length - 1] == '.' &&
            strcmp(fields[i].path + whole - length, path) == 0) {
            return fields[i].path;
        }
    }
    size_t i = fulcrum_nearest(path, &fields[0].path, FIELD_COUNT, sizeof fields[0]);
    return i < FIELD_COUNT ? fields[i].path : NULL;
}

enum fulcrum_status fulcrum_field_set_number(const struct fulcrum_field *field,
    struct fulcrum_design *design, double value, struct fulcrum_error *err)
{
    FAIL_IF(field->kind == FULCRUM_FIELD_CHOICE || field->kind == FULCRUM_FIELD_TEXT,
        err, FULCRUM_ERR_RANGE, "%s = %.6g: expected %s", field->path, value,
        field->kind == FULCRUM_FIELD_TEXT ? "text" : "one of its names");
    /* `!(a && b)` rather than comparisons turned round: NAN must fail too. */
    if (!(value >= field->least && value <= field->most &&
            !(field->kind == FULCRUM_FIELD_COUNT && value != floor(value)))) {
        bool is_count = field->kind == FULCRUM_FIELD_COUNT;
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s = %.6g: expected a %s from %.6g to %.6g", field->path, value,
            is_count ? "whole number" : "number", field->least, field->most);
    }
    memcpy((char *)design + field->offset, &value, sizeof value);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_field_set_text(const struct fulcrum_field *field,
    struct fulcrum_design *design, const char *value, struct fulcrum_error *err)
{
    if (field->kind == FULCRUM_FIELD_TEXT) {
        size_t length = strlen(value);
        FAIL_IF(length >= field->size, err, FULCRUM_ERR_RANGE,
            "%s is %zu bytes long: expected fewer than %zu", field->path, length,
            field->size);
        memcpy((char *)design + field->offset, value, length + 1);
        return FULCRUM_OK;
    }
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        char names[200] = "";
        size_t used = 0;
        for (int i = 0; field->choice(i) != NULL; i++) {
            if (strcmp(field->choice(i), value) == 0) {
                memcpy((char *)design + field->offset, &i, sizeof i);
                return FULCRUM_OK;
            }
            int length = snprintf(names + used, sizeof names - used, "%s%s",
                i > 0 ? ", " : "", field->choice(i));
            used +=
                length > 0 && (size_t)length < sizeof names - used ? (size_t)length : 0;
        }
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "%s = \"%s\": expected one of %s",
            field->path, value, names);
    }
    char *end = NULL;
    double number = strtod(value, &end);
    FAIL_IF(end == value || *end != '\0', err, FULCRUM_ERR_FORMAT,
        "%s = \"%s\": expected a number", field->path, value);
    return fulcrum_field_set_number(field, design, number, err);
}

double fulcrum_field_number(
    const struct fulcrum_field *field, const struct fulcrum_design *design)
{
    const char *member = (const char *)design + field->offset;
    if (field->kind == FULCRUM_FIELD_TEXT) {
        return NAN;
    }
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        int index;
        memcpy(&index, member, sizeof index);
        return (double)index;
    }
    double value;
    memcpy(&value, member, sizeof value);
    return value;
}

const char *fulcrum_field_text(
    const struct fulcrum_field *field, const struct fulcrum_design *design)
{
    if (field->kind == FULCRUM_FIELD_TEXT) {
        return (const char *)design + field->offset;
    }
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        const char *name = field->choice((int)fulcrum_field_number(field, design));
        return name != NULL ? name : "";
    }
    return "";
}

void fulcrum_design_init(struct fulcrum_design *out)
{
    *out = (struct fulcrum_design){.capacity_count = 0};
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].kind == FULCRUM_FIELD_NUMBER ||
            fields[i].kind == FULCRUM_FIELD_COUNT) {
            memcpy((char *)out + fields[i].offset, &fields[i].fallback, sizeof(double));
        }
    }
}
