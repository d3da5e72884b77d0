/* recommend_upgrade.c - which part of a machine to double first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "cli/message.h"
#include "cli/whatif/candidates.h"
#include "model/try.h"

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

static const enum fulcrum_predicted outputs[] = {FULCRUM_OUTPUT_steps_per_s,
    FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
    FULCRUM_OUTPUT_COUNT};

static struct fulcrum_result *result_of(const struct fulcrum_candidates *list)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_subject *subject = &list->items[0].subject;
    fulcrum_result_text(result, "question", NULL, "upgrade");
    fulcrum_result_text(result, "machine", "machine", subject->design.machine.name);
    fulcrum_result_text(result, "workload", "workload", subject->design.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", subject->calibrations);
    struct fulcrum_table *table = fulcrum_result_table(result, "upgrades", "");
    for (size_t i = 0; i < DESIGNS; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "upgrade", "twice the", upgrades[i].title);
        fulcrum_table_number(
            table, "actor_count", "actors", list->study->predictions[i].actor_count);
        fulcrum_table_ratio(
            table, "speedup", "speed-up", fulcrum_study_ratio(list->study, i, 0, 0));
        fulcrum_table_ratio(table, "steps_per_j_gpu_rel", "steps/GPU joule",
            fulcrum_study_ratio(list->study, i, 0, 1));
        fulcrum_table_ratio(table, "steps_per_j_system_rel", "steps/system joule",
            fulcrum_study_ratio(list->study, i, 0, 2));
        fulcrum_table_text(table, "reason", "cannot run", list->items[i].reason);
    }
    return result;
}

enum fulcrum_status fulcrum_recommend_upgrade(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_candidates list = {
        .settings = settings, .context = context, .outputs = outputs, .count = DESIGNS};
    enum fulcrum_status status = FULCRUM_OK;
    list.items = fulcrum_allocate(DESIGNS, sizeof *list.items);
    TRY_OR_END(fulcrum_recommend_options(settings, 200.0, context, &list.options, err));
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
    status = fulcrum_context_show(context, result_of(&list), err);
end:
    fulcrum_candidates_clear(&list);
    return status;
}
