/* cmd_predict.c - `fulcrum predict`: everything about one design point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/whatif/whatif.h"
#include "model/number.h"
#include "model/predict/solver.h"
#include "model/string.h"
#include "model/try.h"

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
};

static bool is_gpu(const struct fulcrum_design *design)
{
    return design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
}

static void add_outputs(
    struct fulcrum_result *result, const struct fulcrum_prediction *prediction)
{
    bool has = prediction->has_interval;
    const double ends[] = {
        prediction->solver_lo_steps_per_s, prediction->solver_hi_steps_per_s};
    fulcrum_result_text(
        result, "method", "method", fulcrum_method_name(prediction->method));
    fulcrum_result_number(
        result, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_result_text(result, "bottleneck", "bottleneck",
        fulcrum_bottleneck_name(prediction->bottleneck));
    fulcrum_result_number(result, "bottleneck_agree_frac",
        has ? "draws that agree" : NULL, prediction->bottleneck_agree_frac);
    fulcrum_result_numbers(result, "solver_interval_steps_per_s", ends, 2);
    fulcrum_result_gap(result);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        fulcrum_result_estimate(result, fulcrum_output_name(i), fulcrum_output_title(i),
            prediction->value[i], has ? prediction->lo[i] : FULCRUM_UNKNOWN,
            has ? prediction->hi[i] : FULCRUM_UNKNOWN);
        fulcrum_result_explain(result, fulcrum_output_meaning(i));
    }
    if (has) {
        fulcrum_result_number(result, "intervals/coverage_frac", NULL, 0.9);
        fulcrum_result_number(result, "intervals/draws", NULL, prediction->draws);
        for (size_t i = 0; i < FULCRUM_PARTS; i++) {
            char key[80];
            (void)snprintf(key, sizeof key, "interval_variance_frac/%s",
                fulcrum_interval_part_name(i));
            fulcrum_result_number(result, key, NULL, prediction->part_frac[i]);
        }
    }
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        char key[80];
        (void)snprintf(key, sizeof key, "at_fit/%s", fulcrum_output_name(i));
        fulcrum_result_number(result, key, NULL, prediction->at_fit[i]);
    }
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        char key[80];
        (void)snprintf(key, sizeof key, "units/%s", fulcrum_output_name(i));
        fulcrum_result_text(result, key, NULL, fulcrum_output_unit(i));
    }
    fulcrum_flags_add(prediction->flags, result);
}

/* Where the value of a field came from. */
struct origin {
    const char *kind; /* set | measured | fitted | prior | source | default */
    const char *from; /* name of a calibration or preset, or "" */
    const char *text; /* the source, or "" */
};

/* A calibration counts only where it gave the value, the last one first: its learner-
 * side times do not on a machine with another kind of accelerator. */
static struct origin origin_of(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == field) {
            return (struct origin){"set", "", ""};
        }
    }
    /* The form of the CPU curve comes with its parameters. */
    bool is_curve = strcmp(field->path, "machine.cpu.curve") == 0;
    const char *path = is_curve ? "machine.cpu.knee" : field->path;
    for (size_t i = inputs->calibration_count; i-- > 0;) {
        const struct fulcrum_calibration *calibration = inputs->calibrations[i];
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(calibration, path);
        if (parameter != NULL &&
            fulcrum_calibration_holds(calibration, &inputs->base.machine, path)) {
            return (struct origin){fulcrum_origin_name(parameter->origin),
                calibration->name, parameter->source};
        }
    }
    const struct fulcrum_source *source =
        fulcrum_sources_find(&inputs->sources, field->path);
    return source == NULL ? (struct origin){"default", "", ""}
                          : (struct origin){source->is_prior ? "prior" : "source",
                                source->file, source->text};
}

/* Every value in force with its origin: what was measured, fitted, a prior or set. */
static void add_inputs(
    struct fulcrum_result *result, const struct fulcrum_subject *subject)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    struct fulcrum_table *table = fulcrum_result_table(result, "inputs", NULL);
    fulcrum_table_make_keyed(table);
    for (size_t i = 0; i < count; i++) {
        double value = fulcrum_field_number(&fields[i], &subject->design);
        const char *text = fulcrum_field_text(&fields[i], &subject->design);
        if (isnan(value) && text[0] == '\0') {
            continue;
        }
        struct origin origin = origin_of(&subject->inputs, &fields[i]);
        fulcrum_table_row(table);
        fulcrum_table_text(table, "field", "field", fields[i].path);
        if (text[0] != '\0') {
            fulcrum_table_text(table, "value", "value", text);
        } else {
            fulcrum_table_number(table, "value", "value", value);
        }
        fulcrum_table_text(table, "unit", NULL, fields[i].unit);
        fulcrum_table_text(table, "origin", "origin", origin.kind);
        fulcrum_table_text(table, "from", "from", origin.from);
        fulcrum_table_text(table, "source", "source", origin.text);
    }
}

static enum fulcrum_status run_predict(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    struct fulcrum_predict_options options;
    struct fulcrum_prediction prediction;
    TRY(fulcrum_solve_settings_read(
        &settings->solve, FULCRUM_DRAWS, context, &options, err));
    struct fulcrum_subject *subject = fulcrum_allocate(1, sizeof *subject);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_subject_read(&settings->design, context, subject, err));
    TRY_OR_END(fulcrum_subject_prepare(subject, NULL, 0, err));
    TRY_OR_END(fulcrum_predict(subject->scenario, &point, &options, &prediction, err));
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-predict");
    const struct fulcrum_design *design = &subject->design;
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(result, "calibration", "calibration", subject->calibrations);
    /* "40 actors x 1 environments on 40 threads, 1 of 8 GPUs, 80 of 80 SMs each" */
    const struct fulcrum_run *asked = &design->run;
    const struct fulcrum_machine *machine = &design->machine;
    struct fulcrum_string text = {0};
    bool has_agents = fulcrum_design_has_agents(design);
    fulcrum_string_add(&text, "%.6g %s", asked->actor_count,
        fulcrum_design_actor_noun(design, has_agents ? asked->actor_count : 0.0));
    if (!has_agents) {
        fulcrum_string_add(&text, " x %.6g environments", asked->envs_per_actor);
    }
    fulcrum_string_add(&text, " on %.6g threads, ", machine->cpu.thread_count);
    if (is_gpu(design)) {
        fulcrum_string_add(&text, "%.6g of %.6g GPUs, %.6g of %.6g SMs each",
            asked->gpu_count, machine->gpu.count, asked->sm_count,
            machine->gpu.sm_count);
    } else if (has_agents) {
        fulcrum_string_add(&text, "%.6g cores", machine->cpu.core_count);
    } else {
        fulcrum_string_add(&text, "%.6g learner core(s) of %.6g cores",
            machine->learner_core_count, machine->cpu.core_count);
    }
    if (asked->instances_per_gpu > 1.0) {
        fulcrum_string_add(&text, ", in %.6g instances", asked->instances_per_gpu);
    }
    fulcrum_result_text(result, "run", "run", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
    fulcrum_result_number(result, "actor_count", NULL, design->run.actor_count);
    fulcrum_result_number(result, "envs_per_actor", NULL, design->run.envs_per_actor);
    fulcrum_result_number(result, "gpu_count", NULL,
        is_gpu(design) ? design->run.gpu_count : FULCRUM_UNKNOWN);
    fulcrum_result_number(result, "sm_count", NULL,
        is_gpu(design) ? design->run.sm_count : FULCRUM_UNKNOWN);
    add_outputs(result, &prediction);
    add_inputs(result, subject);
    status = fulcrum_context_show(context, result, err);
end:
    fulcrum_subject_clear(subject);
    free(subject);
    return status;
}

static const struct fulcrum_option_group groups[] = {
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum predict -m dgx-1-inci2020 -w r2d2-atari --actors 40",
        "one V100 beside 40 threads, with the committed priors"},
    {"fulcrum predict -m this -w ppo-mujoco-ant -c c.json --actors 8",
        "this machine, from a calibration taken here"},
    {"fulcrum predict -m dgx-a100 -w r2d2-atari --actors 256 --set run.sm_count=54",
        "half of an A100's SMs"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_predict = {
    .name = "predict",
    .summary =
        "predict one design point: rate, runtime, utilisation, watts, bottleneck",
    .description =
        "Predicts what one machine does with one workload: steps per second, runtime, "
        "how busy each station is, watts, performance per GPU watt and per system "
        "watt, and what holds it back. Values are medians of draws, intervals go from "
        "5 % to 95 % of them. A draw varies the calibration's parameters, values "
        "marked as priors, the machine's drift and what the model itself is off "
        "by.\n\n"
        "Uses one GPU; --set run.gpu_count=N uses more. GPU watts cover the GPUs in "
        "use; system watts cover everything installed, with unused GPUs idle. Times "
        "measured on another machine are scaled, and flagged.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_predict,
};
