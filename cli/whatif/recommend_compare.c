/* recommend_compare.c - designs side by side, draw by draw: two, or one whose parts are
 * doubled. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/whatif/candidates.h"
#include "model/try.h"

enum { SIDES = 2 };

/* What designs are compared by, unless a metric is named. */
#define USUAL_METRICS                                                                  \
    {                                                                                  \
        FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_steps_per_j_gpu,                    \
            FULCRUM_OUTPUT_steps_per_j_system, FULCRUM_OUTPUT_COUNT                    \
    }

static enum fulcrum_status read_metrics(
    struct fulcrum_candidates *sides, struct fulcrum_error *err)
{
    const char *wanted = sides->settings->metric;
    size_t metric = 0;
    if (wanted == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_recommend_metric(wanted, sides->context, &metric, err));
    sides->outputs[0] = (enum fulcrum_predicted)metric;
    sides->outputs[1] = FULCRUM_OUTPUT_COUNT;
    FULCRUM_USAGE_IF(fulcrum_output_sense(metric) == FULCRUM_SENSE_NONE, sides->context,
        err, FULCRUM_ERR_RANGE, "--metric %s: neither more nor less of it is better",
        wanted);
    return FULCRUM_OK;
}

/* Two machines, or one under two settings. */
static enum fulcrum_status load_sides(
    struct fulcrum_candidates *sides, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = sides->settings;
    const struct fulcrum_text_list *names = &settings->names;
    bool has_sets = settings->a_sets.count + settings->b_sets.count > 0;
    const char *single = names->count == 1 ? names->items[0] : settings->design.machine;
    FULCRUM_USAGE_IF(names->count > SIDES ||
                         (names->count > 0 && settings->design.machine != NULL) ||
                         (names->count < SIDES && (single == NULL || !has_sets)),
        sides->context, err, FULCRUM_ERR_MISSING,
        "recommend compare takes two machines, or one with --a-set or --b-set");
    for (size_t i = 0; i < SIDES; i++) {
        /* The user's own settings, then those of one side. */
        const char *machine = names->count == SIDES ? names->items[i] : single;
        const struct fulcrum_text_list *own =
            i == 0 ? &settings->a_sets : &settings->b_sets;
        struct fulcrum_design_settings design = settings->design;
        struct fulcrum_candidate *candidate = &sides->items[i];
        struct fulcrum_text_list *sets = &design.sets;
        design.machine = machine;
        sets->items = fulcrum_allocate(sets->count + own->count, sizeof *sets->items);
        for (size_t j = 0; j < sets->count; j++) {
            sets->items[j] = settings->design.sets.items[j];
        }
        fulcrum_string_add(&candidate->name, "%s", machine);
        for (size_t j = 0; j < own->count; j++) {
            sets->items[sets->count++] = own->items[j];
            fulcrum_string_add(&candidate->name, ", %s", own->items[j]);
        }
        enum fulcrum_status status =
            fulcrum_subject_read(&design, sides->context, &candidate->subject, err);
        free((void *)sets->items);
        TRY(status);
    }
    return FULCRUM_OK;
}

/* The share of draws in which A is better. */
static double beats_frac(const struct fulcrum_candidates *sides, size_t i)
{
    return fulcrum_study_beats(sides->study, 0, 1, i,
        fulcrum_output_sense(sides->outputs[i]) == FULCRUM_SENSE_MORE);
}

/* "a/name" */
static const char *key_of(size_t side, const char *member, char room[64])
{
    (void)snprintf(room, 64, "%c/%s", side == 0 ? 'a' : 'b', member);
    return room;
}

/* "dgx-1, 1 of 8 GPUs, 1280 actors": one GPU is used unless more are asked for. */
static void add_side(
    struct fulcrum_result *result, size_t side, const struct fulcrum_candidates *sides)
{
    const struct fulcrum_candidate *candidate = &sides->items[side];
    const struct fulcrum_design *design = &candidate->subject.design;
    const struct fulcrum_prediction *prediction = &sides->study->predictions[side];
    const char *name = fulcrum_string_get(&candidate->name);
    double count = prediction->actor_count;
    char key[64];
    char *gpus = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU
                     ? fulcrum_format("%.6g of %.6g GPUs, ", design->run.gpu_count,
                           design->machine.gpu.count)
                     : fulcrum_format("%s", "");
    fulcrum_result_print(result, key_of(side, "run", key), side == 0 ? "A" : "B",
        "%s, %s%.6g %s", name, gpus, count, fulcrum_design_actor_noun(design, count));
    free(gpus);
    fulcrum_result_text(result, key_of(side, "name", key), NULL, name);
    fulcrum_result_text(result, key_of(side, "machine", key), NULL,
        candidate->subject.inputs.base.machine.name);
    fulcrum_result_text(result, key_of(side, "calibration", key), NULL,
        candidate->subject.calibrations);
    fulcrum_result_number(
        result, key_of(side, "gpu_count", key), NULL, design->run.gpu_count);
    fulcrum_result_number(result, key_of(side, "actor_count", key), NULL, count);
    fulcrum_result_number(result, key_of(side, "solver_error_rel", key), NULL,
        prediction->solver_error_rel);
}

static void add_finding(
    struct fulcrum_result *result, const struct fulcrum_candidates *sides)
{
    const char *metric = fulcrum_output_name(sides->outputs[0]);
    double beats = beats_frac(sides, 0);
    if (isnan(beats)) {
        fulcrum_result_print(result, "finding", "found",
            "without draws, the probability that A beats B in %s is unknown", metric);
        return;
    }
    struct fulcrum_ratio ratio = fulcrum_study_ratio(sides->study, 0, 1, 0);
    fulcrum_result_print(result, "finding", "found",
        "A beats B in %s with probability %.3g: A / B is %.4g (90 %% interval %.4g to "
        "%.4g)",
        metric, beats, ratio.value, ratio.lo, ratio.hi);
}

enum fulcrum_status fulcrum_recommend_compare(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_candidates sides = {.settings = settings,
        .context = context,
        .outputs = USUAL_METRICS,
        .count = SIDES};
    enum fulcrum_status status = FULCRUM_OK;
    sides.items = fulcrum_allocate(SIDES, sizeof *sides.items);
    TRY_OR_END(read_metrics(&sides, err));
    TRY_OR_END(fulcrum_recommend_options(settings, context, &sides.options, err));
    TRY_OR_END(load_sides(&sides, err));
    TRY_OR_END(fulcrum_candidates_predict(&sides, err));
    for (size_t i = 0; i < SIDES && status == FULCRUM_OK; i++) {
        if (sides.items[i].reason[0] != '\0') {
            status = fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE, "%s cannot run: %s",
                fulcrum_string_get(&sides.items[i].name), sides.items[i].reason);
        }
    }
    TRY_OR_END(status);
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    double draws = (double)sides.study->draw_count;
    fulcrum_result_text(result, "question", NULL, "compare");
    fulcrum_result_text(
        result, "workload", "workload", sides.settings->design.workload);
    for (size_t i = 0; i < SIDES; i++) {
        add_side(result, i, &sides);
    }
    fulcrum_result_number(
        result, "interval_draws", draws > 0.0 ? "common draws" : NULL, draws);
    add_finding(result, &sides);
    struct fulcrum_table *table = fulcrum_result_table(result, "metrics", "");
    bool has_less = false;
    for (size_t i = 0; sides.outputs[i] != FULCRUM_OUTPUT_COUNT; i++) {
        struct fulcrum_study *study = sides.study;
        enum fulcrum_predicted metric = sides.outputs[i];
        bool is_more = fulcrum_output_sense(metric) == FULCRUM_SENSE_MORE;
        fulcrum_table_row(table);
        fulcrum_table_text(table, "metric", "metric", fulcrum_output_name(metric));
        fulcrum_table_text(table, "better", "better", is_more ? "more" : "less");
        fulcrum_table_output(table, "a", "A", &study->predictions[0], metric);
        fulcrum_table_output(table, "b", "B", &study->predictions[1], metric);
        struct fulcrum_ratio ratio = fulcrum_study_ratio(study, 0, 1, i);
        fulcrum_table_ratio(table, "ratio", "A / B", ratio);
        fulcrum_table_number(
            table, "a_beats_b_frac", "A beats B", beats_frac(&sides, i));
        fulcrum_table_number(table, "draw_count", NULL, (double)study->column_count);
        has_less |= fulcrum_output_sense(sides.outputs[i]) == FULCRUM_SENSE_LESS;
    }
    if (!has_less) {
        fulcrum_table_hide(table, "better");
    }
    status = fulcrum_context_show(sides.context, result, err);
end:
    fulcrum_candidates_clear(&sides);
    return status;
}

/* Which part of a machine to double first. */

enum { PATHS_MOST = 2, DESIGNS = 9 };

/* Fields that are multiplied; those that nobody gives stay unknown. */
static const struct upgrade {
    const char *title;
    double factor;
    const char *paths[PATHS_MOST]; /* NULL: no more */
} upgrades[DESIGNS] = {
    {"as it is", 1.0, {NULL}},
    {"CPU threads", 2.0, {"machine.cpu.thread_count", "machine.cpu.core_count"}},
    {"speed of a CPU thread", 2.0, {"machine.cpu.single_thread_speed_rel"}},
    {"GPUs", 2.0, {"machine.gpu.count", "run.gpu_count"}},
    {"SMs of a GPU", 2.0, {"machine.gpu.sm_count"}},
    {"GPU clock", 2.0, {"machine.gpu.clock_hz"}},
    {"GPU memory bandwidth", 2.0, {"machine.gpu.dram_byte_per_s"}},
    {"GPU last-level cache", 2.0, {"machine.gpu.llc_byte"}},
    {"kernel launches a second", 0.5, {"machine.gpu.launch_rel"}},
};

enum fulcrum_status fulcrum_recommend_upgrade(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_candidates list = {.settings = settings,
        .context = context,
        .outputs = USUAL_METRICS,
        .count = DESIGNS};
    enum fulcrum_status status = FULCRUM_OK;
    list.items = fulcrum_allocate(DESIGNS, sizeof *list.items);
    TRY_OR_END(fulcrum_recommend_options(settings, context, &list.options, err));
    for (size_t i = 0; i < DESIGNS; i++) {
        struct fulcrum_candidate *candidate = &list.items[i];
        fulcrum_string_add(&candidate->name, "%s", upgrades[i].title);
        TRY_OR_END(
            fulcrum_subject_read(&settings->design, context, &candidate->subject, err));
        struct fulcrum_design_inputs *inputs = &candidate->subject.inputs;
        for (size_t k = 0; k < PATHS_MOST && upgrades[i].paths[k] != NULL; k++) {
            double value = fulcrum_inputs_number(inputs, upgrades[i].paths[k]);
            if (value > 0.0) {
                fulcrum_inputs_add(
                    inputs, upgrades[i].paths[k], upgrades[i].factor * value);
            }
        }
    }
    TRY_OR_END(fulcrum_candidates_predict(&list, err));
    if (list.items[0].reason[0] != '\0') {
        TRY_OR_END(
            fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE, "%s", list.items[0].reason));
    }
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_subject *subject = &list.items[0].subject;
    fulcrum_result_text(result, "question", NULL, "upgrade");
    fulcrum_result_text(result, "machine", "machine", subject->design.machine.name);
    fulcrum_result_text(result, "workload", "workload", subject->design.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", subject->calibrations);
    struct fulcrum_table *table = fulcrum_result_table(result, "upgrades", "");
    for (size_t i = 0; i < DESIGNS; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "upgrade", "twice the", upgrades[i].title);
        fulcrum_table_number(
            table, "actor_count", "actors", list.study->predictions[i].actor_count);
        fulcrum_table_ratio(
            table, "speedup", "speed-up", fulcrum_study_ratio(list.study, i, 0, 0));
        fulcrum_table_ratio(table, "steps_per_j_gpu_rel", "steps/GPU joule",
            fulcrum_study_ratio(list.study, i, 0, 1));
        fulcrum_table_ratio(table, "steps_per_j_system_rel", "steps/system joule",
            fulcrum_study_ratio(list.study, i, 0, 2));
        fulcrum_table_text(table, "reason", "cannot run", list.items[i].reason);
    }
    status = fulcrum_context_show(context, result, err);
end:
    fulcrum_candidates_clear(&list);
    return status;
}
