/* validation.c - every reference predicted by what predicts its kind. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/validation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/predictors.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* What predicts a kind of reference; throughput takes a calibration as well. */
static const struct {
    enum fulcrum_status (*predict)(
        struct fulcrum_comparison *out, struct fulcrum_error *err);
    const char *identity; /* what parameters are computed from, and so left out */
} kinds[FULCRUM_PREDICTOR_COUNT] = {
    [FULCRUM_PREDICTOR_CPU_CURVE] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_GPU_POWER] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SERVER_POWER] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SM_SCALING] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_NODE_SCALING] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SERVER_PRIOR] = {fulcrum_predict_watts, NULL},
    [FULCRUM_PREDICTOR_GPU_PARTS] = {fulcrum_predict_parts,
        "identity: serving_gpu_util_gain_mean_frac, which the SMs that simulation "
        "keeps busy are computed from"},
    [FULCRUM_PREDICTOR_MEMORY_GAIN] = {fulcrum_predict_memory,
        "identity: the first gain, which the parameters are computed from; no gains: "
        "figures that describe the GPUs"},
};

/* Room for every observation of the reference. */
static enum fulcrum_status begin_comparison(struct fulcrum_comparison *out,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < reference->point_count; i++) {
        most += reference->points[i].observation_count;
    }
    *out = (struct fulcrum_comparison){
        .reference = reference, .items = calloc(most, sizeof *out->items)};
    TRY_MEMORY(out->items, err, "no memory to compare %zu observations", most);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_reference(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err)
{
    enum fulcrum_predictor_kind kind = reference->predictor;
    struct fulcrum_comparison found;
    enum fulcrum_status status = begin_comparison(&found, reference, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (kind == FULCRUM_PREDICTOR_THROUGHPUT) {
        status = fulcrum_predict_throughput(&found, calibration, err);
    } else if (kinds[kind].predict != NULL) {
        status = kinds[kind].predict(&found, err);
    } else {
        status = fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "nothing predicts %s yet",
            kind == FULCRUM_PREDICTOR_NONE ? "points of this kind"
                                           : fulcrum_predictor_meaning(kind));
    }
    if (status == FULCRUM_OK) {
        *out = found;
    } else {
        fulcrum_comparison_clear(&found);
    }
    return status;
}

static const char *calibration_of(
    const struct fulcrum_reference *reference, size_t point)
{
    return fulcrum_reference_calibration(reference, reference->points[point].series);
}

/* Adds "a, b"; what does not fit is left out. */
static void append_text(char *list, size_t size, const char *gap, const char *text)
{
    size_t used = strlen(list);
    (void)snprintf(list + used, size - used, "%s%s", list[0] != '\0' ? gap : "", text);
}

/* Adds what an error says, on one line and once: reasons are cells of tables. */
static void add_reason(struct fulcrum_validation *out, const char *detail)
{
    while (*detail != '\0') {
        char line[sizeof out->reason];
        size_t length = strcspn(detail, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, detail);
        if (strstr(out->reason, line) == NULL) {
            append_text(out->reason, sizeof out->reason, "; ", line);
        }
        detail += detail[length] == '\n' ? length + 1 : length;
    }
}

/* How many times a quantity was observed, but for what ratios refer to. */
static size_t count_observed(
    const struct fulcrum_reference *reference, const char *quantity)
{
    size_t count = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        bool is_base = reference->is_relative && i == reference->relative_to;
        for (size_t k = 0; k < point->observation_count && !is_base; k++) {
            count += strcmp(point->observations[k].quantity, quantity) == 0 ? 1 : 0;
        }
    }
    return count;
}

/* "cpu_w: neither the machine nor NAME says how many watts it draws" */
static void note_unknown_watts(const struct fulcrum_calibration *calibration,
    const struct fulcrum_comparison *found, struct fulcrum_validation *out)
{
    static const char *const quantities[] = {"cpu_w", "gpu_w"};
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        size_t predicted = 0;
        for (size_t k = 0; k < found->count; k++) {
            const struct fulcrum_compared *item = &found->items[k];
            const char *quantity = found->reference->points[item->point]
                                       .observations[item->observation]
                                       .quantity;
            predicted += strcmp(quantity, quantities[i]) == 0 ? 1 : 0;
        }
        if (predicted < count_observed(found->reference, quantities[i])) {
            char why[200];
            (void)snprintf(why, sizeof why,
                "%s: neither the machine nor %s says how much it draws", quantities[i],
                calibration->name);
            add_reason(out, why);
        }
    }
}

static void note_calibration(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out)
{
    (void)snprintf(out->calibration, sizeof out->calibration, "%s",
        out->calibration[0] == '\0' ? calibration->name : "by series");
    if (strcmp(calibration->machine.name, reference->design.machine.name) != 0) {
        out->is_carried_over = 1;
    }
}

/* What cannot be predicted is a reason, not a failure. */
static enum fulcrum_status predict_or_note(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_validation *notes, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_predict_reference(reference, calibration, out, &why);
    FAIL_IF(
        status == FULCRUM_ERR_NO_MEMORY, err, status, "%s: no memory", reference->name);
    if (status != FULCRUM_OK) {
        /* Kinds of points that nothing predicts are no fault of the reference. */
        add_reason(notes, why.detail);
        notes->has_failed = notes->has_failed || status != FULCRUM_ERR_UNSUPPORTED;
    } else if (calibration != NULL) {
        note_unknown_watts(calibration, out, notes);
    }
    return FULCRUM_OK;
}

/* The points of all series that name the calibration. */
static enum fulcrum_status predict_from(const struct fulcrum_reference *reference,
    const char *name, struct fulcrum_validation *out, struct fulcrum_error *err)
{
    struct fulcrum_reference view = *reference; /* of these points alone */
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_comparison found = {.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    size_t *origin = calloc(reference->point_count, sizeof *origin);
    view.points = calloc(reference->point_count, sizeof *view.points);
    view.point_count = 0;
    if (origin == NULL || view.points == NULL) {
        status = FULCRUM_ERR_NO_MEMORY;
        (void)fulcrum_fail(err, status, "no memory for a reference");
        goto end;
    }
    for (size_t i = 0; i < reference->point_count; i++) {
        /* What ratios refer to belongs to every part: it is no figure itself. */
        bool is_base = reference->is_relative && i == reference->relative_to;
        if (is_base || strcmp(calibration_of(reference, i), name) == 0) {
            view.relative_to =
                i == reference->relative_to ? view.point_count : view.relative_to;
            view.points[view.point_count] = reference->points[i];
            origin[view.point_count++] = i;
        }
    }
    TRY_OR_END(fulcrum_calibration_load(name, &calibration, err));
    TRY_OR_END(predict_or_note(&view, calibration, &found, out, err));
    if (found.reference != NULL && calibration != NULL) {
        note_calibration(reference, calibration, out);
    }
    for (size_t i = 0; i < found.count; i++) {
        struct fulcrum_compared *to = &out->comparison.items[out->comparison.count++];
        *to = found.items[i];
        to->point = origin[to->point];
    }
end:
    fulcrum_comparison_clear(&found);
    fulcrum_calibration_free(calibration);
    free(view.points);
    free(origin);
    return status;
}

static bool is_first_of(const struct fulcrum_reference *reference, size_t point)
{
    for (size_t i = 0; i < point; i++) {
        if (strcmp(calibration_of(reference, i), calibration_of(reference, point)) ==
            0) {
            return 0;
        }
    }
    return 1;
}

/* "no calibration goes with 'A', 'B'" */
static void name_series_without(
    const struct fulcrum_reference *reference, struct fulcrum_validation *out)
{
    char list[300] = "";
    for (size_t i = 0; i < reference->point_count; i++) {
        if (calibration_of(reference, i)[0] == '\0' &&
            fulcrum_reference_begins_series(reference, i)) {
            char quoted[70];
            (void)snprintf(quoted, sizeof quoted, "'%s'", reference->points[i].series);
            append_text(list, sizeof list, ", ", quoted);
        }
    }
    if (list[0] != '\0' && reference->calibration_count > 0) {
        append_text(
            out->reason, sizeof out->reason, "; ", "no calibration goes with series ");
        append_text(out->reason, sizeof out->reason, "", list);
    } else if (list[0] != '\0') {
        append_text(out->reason, sizeof out->reason, "; ",
            "no calibration goes with its workload");
    }
}

static int by_point(const void *left, const void *right)
{
    const struct fulcrum_compared *a = left;
    const struct fulcrum_compared *b = right;
    if (a->point != b->point) {
        return a->point < b->point ? -1 : 1;
    }
    return a->observation < b->observation ? -1 : 1;
}

/* Each series from its own calibration. */
static enum fulcrum_status predict_by_series(const struct fulcrum_reference *reference,
    struct fulcrum_validation *out, struct fulcrum_error *err)
{
    TRY(begin_comparison(&out->comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        const char *name = calibration_of(reference, i);
        if (name[0] != '\0' && is_first_of(reference, i)) {
            TRY(predict_from(reference, name, out, err));
        }
    }
    name_series_without(reference, out);
    out->has_failed = out->has_failed || out->comparison.count == 0;
    qsort(out->comparison.items, out->comparison.count, sizeof *out->comparison.items,
        by_point);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_validate(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out,
    struct fulcrum_error *err)
{
    bool is_throughput = reference->predictor == FULCRUM_PREDICTOR_THROUGHPUT;
    *out = (struct fulcrum_validation){.reference = reference};
    if (reference->not_predicted[0] != '\0') {
        (void)snprintf(out->reason, sizeof out->reason, "%s", reference->not_predicted);
        return FULCRUM_OK;
    }
    if (is_throughput && calibration == NULL) {
        enum fulcrum_status status = predict_by_series(reference, out, err);
        if (status != FULCRUM_OK) {
            fulcrum_validation_clear(out);
        }
        return status;
    }
    if (is_throughput) {
        note_calibration(reference, calibration, out);
    }
    TRY(predict_or_note(
        reference, is_throughput ? calibration : NULL, &out->comparison, out, err));
    if (out->comparison.reference != NULL &&
        kinds[reference->predictor].identity != NULL) {
        add_reason(out, kinds[reference->predictor].identity);
    }
    return FULCRUM_OK;
}

void fulcrum_validation_clear(struct fulcrum_validation *validation)
{
    fulcrum_comparison_clear(&validation->comparison);
}
