/* measure_record.c - the stages of `fulcrum measure --record`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/measure_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "calibrate/measured_reference.h"
#include "model/try.h"

/* "8 actors", and what else tells configurations apart where it is not usual. */
static void write_name(
    char *out, size_t size, const struct fulcrum_measure_config *config, int has_rules)
{
    char envs[32] = "";
    char rule[48] = "";
    if (config->envs_per_actor > 1) {
        (void)snprintf(envs, sizeof envs, " of %zu", config->envs_per_actor);
    }
    if (has_rules) {
        fulcrum_measured_series(config, rule, sizeof rule);
    }
    (void)snprintf(out, size, "%zu actor%s%s%s%s", config->actor_count,
        config->actor_count == 1 ? "" : "s", envs, has_rules ? ", " : "", rule);
}

/* Whether configurations differ in how they batch. */
static int has_rules(const struct fulcrum_stages_measurement *found)
{
    const struct fulcrum_measure_config *first = &found->items[0].config;
    for (size_t i = 1; i < found->count; i++) {
        const struct fulcrum_measure_config *config = &found->items[i].config;
        if (config->policy != first->policy || config->batch_size < first->batch_size ||
            config->batch_size > first->batch_size ||
            config->population_frac < first->population_frac ||
            config->population_frac > first->population_frac) {
            return 1;
        }
    }
    return 0;
}

enum fulcrum_status fulcrum_measure_record_take(struct fulcrum_measure_record *out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err)
{
    *out = (struct fulcrum_measure_record){.found = NULL};
    TRY(fulcrum_measure_stages(&out->found, options, err));
    const struct fulcrum_stages_measurement *found = out->found;
    out->runs = calloc(found->count, sizeof *out->runs);
    out->names = calloc(found->count, sizeof *out->names);
    if (out->runs == NULL || out->names == NULL) {
        fulcrum_measure_record_clear(out);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "names of runs");
    }
    int names_rules = has_rules(found);
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured_stages *item = &found->items[i];
        if (item->failure[0] == '\0') {
            char *name = out->names[out->run_count];
            write_name(name, sizeof out->names[0], &item->config, names_rules);
            out->runs[out->run_count++] =
                (struct fulcrum_stage_run){name, &item->times, item, NULL};
        }
    }
    return FULCRUM_OK;
}

/* The configuration's place among the points: those that have windows, in order. */
static const struct fulcrum_stage_prediction *prediction_of(
    const struct fulcrum_measure_record *record,
    const struct fulcrum_measurement *measurement,
    const struct fulcrum_measured_stages *item)
{
    size_t index = (size_t)(item - record->found->items);
    size_t point = 0;
    if (index >= measurement->count || measurement->items[index].window_count == 0) {
        return NULL;
    }
    for (size_t i = 0; i < index; i++) {
        point += measurement->items[i].window_count > 0 ? 1 : 0;
    }
    return &record->predicted[point];
}

enum fulcrum_status fulcrum_measure_record_predict(
    struct fulcrum_measure_record *record, const struct fulcrum_measured_points *points,
    struct fulcrum_error *err)
{
    free(record->predicted);
    record->predicted =
        calloc(points->reference->point_count + 1, sizeof *record->predicted);
    if (record->predicted == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "predictions of stages");
    }
    TRY(fulcrum_stage_predict(points->reference, points->calibration,
        points->predictions, record->predicted, err));
    for (size_t i = 0; i < record->run_count; i++) {
        struct fulcrum_stage_run *run = &record->runs[i];
        run->predicted = prediction_of(record, points->measurement, run->measured);
    }
    return FULCRUM_OK;
}

void fulcrum_measure_record_clear(struct fulcrum_measure_record *record)
{
    fulcrum_stages_measurement_free(record->found);
    free(record->runs);
    free(record->names);
    free(record->predicted);
    *record = (struct fulcrum_measure_record){.found = NULL};
}
