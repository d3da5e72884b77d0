/* reference.c - what references and their predictors are called. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/reference.h"

#include "model/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fulcrum_reference_free(struct fulcrum_reference *reference)
{
    if (reference == NULL) {
        return;
    }
    for (size_t i = 0; i < reference->point_count; i++) {
        free(reference->points[i].settings);
        free(reference->points[i].observations);
    }
    free(reference->points);
    free(reference->sources);
    free(reference->calibrations);
    free(reference);
}

/* "'A', 'B', 'C'" */
static void list_series(
    const struct fulcrum_reference *reference, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < reference->point_count && used < size; i++) {
        const char *series = reference->points[i].series;
        size_t k = 0;
        while (k < i && strcmp(reference->points[k].series, series) != 0) {
            k++;
        }
        if (k == i) {
            used += (size_t)snprintf(
                out + used, size - used, "%s'%s'", used > 0 ? ", " : "", series);
        }
    }
}

static bool has_series(const struct fulcrum_reference *reference, const char *series)
{
    bool refers = !reference->is_relative;
    bool found = false;
    for (size_t i = 0; i < reference->point_count; i++) {
        bool is_one = strcmp(reference->points[i].series, series) == 0;
        found = found || is_one;
        refers = refers || (is_one && i == reference->relative_to);
    }
    return found && refers;
}

enum fulcrum_status fulcrum_reference_keep_series(
    struct fulcrum_reference *reference, const char *series, struct fulcrum_error *err)
{
    if (!has_series(reference, series)) {
        char list[400];
        FAIL_IF(has_series(reference, ""), err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: no series '%s' to take by itself: expected %s alone, whose points "
            "have no series",
            reference->name, series, reference->name);
        list_series(reference, list, sizeof list);
        return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: no series '%s' to take by itself: expected one of %s", reference->name,
            series, list);
    }
    size_t kept = 0;
    size_t relative_to = reference->relative_to;
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_reference_point *point = &reference->points[i];
        if (strcmp(point->series, series) != 0) {
            free(point->settings);
            free(point->observations);
            continue;
        }
        reference->relative_to = i == relative_to ? kept : reference->relative_to;
        reference->points[kept++] = *point;
    }
    reference->point_count = kept;
    return FULCRUM_OK;
}

const char *fulcrum_reference_calibration(
    const struct fulcrum_reference *reference, const char *series)
{
    for (size_t i = 0; i < reference->calibration_count; i++) {
        if (strcmp(reference->calibrations[i].series, series) == 0) {
            return reference->calibrations[i].calibration;
        }
    }
    return reference->calibration[0] != '\0' ? reference->calibration
                                             : reference->design.workload.calibration;
}

const struct fulcrum_reference_setting *fulcrum_reference_find_setting(
    const struct fulcrum_reference_point *point, const char *path)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        if (strcmp(point->settings[i].path, path) == 0) {
            return &point->settings[i];
        }
    }
    return NULL;
}

struct fulcrum_observation *fulcrum_reference_find_observation(
    const struct fulcrum_reference_point *point, const char *quantity)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, quantity) == 0) {
            return &point->observations[i];
        }
    }
    return NULL;
}

bool fulcrum_reference_begins_series(
    const struct fulcrum_reference *reference, size_t point)
{
    for (size_t i = 0; i < point; i++) {
        if (strcmp(reference->points[i].series, reference->points[point].series) == 0) {
            return false;
        }
    }
    return true;
}

static const struct {
    const char *name;
    const char *meaning;
} predictors[] = {
#define X(kind, name, meaning) {name, meaning},
    FULCRUM_PREDICTOR_LIST(X)
#undef X
};

const char *fulcrum_predictor_name(int predictor)
{
    return (size_t)predictor < FULCRUM_PREDICTOR_COUNT ? predictors[predictor].name
                                                       : NULL;
}

const char *fulcrum_predictor_meaning(size_t predictor)
{
    return predictor < FULCRUM_PREDICTOR_COUNT ? predictors[predictor].meaning : NULL;
}
