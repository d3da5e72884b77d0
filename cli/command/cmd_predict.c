/* cmd_predict.c - `fulcrum predict`: everything about one design point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "presets/io/json.h"

/* Draws behind the intervals of a single point. */
#define PREDICT_DRAWS 200.0

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
};

/* What was asked and what came out. */
struct answer {
    const struct fulcrum_design_inputs *inputs;
    struct fulcrum_design design; /* the point, with every value in force */
    struct fulcrum_prediction prediction;
    char calibrations[200];
};

static const struct fulcrum_column columns[] = {
    {"name", FULCRUM_COLUMN_TEXT, "quantity"},
    {"value", FULCRUM_COLUMN_NUMBER, NULL},
    {"lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"unit", FULCRUM_COLUMN_TEXT, NULL},
    {"meaning", FULCRUM_COLUMN_TEXT, NULL},
};

static struct fulcrum_report *report_outputs(
    const struct fulcrum_prediction *prediction)
{
    struct fulcrum_report *report =
        fulcrum_report_new("outputs", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        double lo = prediction->has_interval ? prediction->lo[i] : (double)NAN;
        double hi = prediction->has_interval ? prediction->hi[i] : (double)NAN;
        fulcrum_report_add_text(report, fulcrum_output_name(i));
        fulcrum_report_add_number(report, prediction->value[i]);
        fulcrum_report_add_number(report, lo);
        fulcrum_report_add_number(report, hi);
        fulcrum_report_add_text(report, fulcrum_output_unit(i));
        fulcrum_report_add_text(report, fulcrum_output_meaning(i));
    }
    return report;
}

static bool is_gpu(const struct answer *answer)
{
    return answer->design.machine.accelerator == FULCRUM_ACCELERATOR_GPU;
}

static void print_table(const struct answer *answer, FILE *stream)
{
    char run_text[400];
    /* "40 actors x 1 environment on 1 of 8 GPUs, 80 of 80 SMs each" */
    char *out = run_text;
    size_t size = sizeof run_text;
    const struct fulcrum_design *design = &answer->design;
    char place[120];
    char parts[48] = "";
    if (design->run.instances_per_gpu > 1.0) {
        (void)snprintf(
            parts, sizeof parts, ", in %.6g instances", design->run.instances_per_gpu);
    }
    if (is_gpu(answer)) {
        (void)snprintf(place, sizeof place, "%.6g of %.6g GPUs, %.6g of %.6g SMs each",
            design->run.gpu_count, design->machine.gpu.count, design->run.sm_count,
            design->machine.gpu.sm_count);
    } else {
        (void)snprintf(place, sizeof place, "%.6g learner core(s) of %.6g cores",
            design->machine.learner_core_count, design->machine.cpu.core_count);
    }
    const char *who = fulcrum_design_is_resident(design) ? "processes" : "actors";
    (void)snprintf(out, size, "%.6g %s x %.6g environments on %.6g threads, %s%s",
        design->run.actor_count, who, design->run.envs_per_actor,
        design->machine.cpu.thread_count, place, parts);
    (void)fprintf(stream,
        "machine      %s\nworkload     %s\ncalibration  %s\nrun          %s\n",
        answer->design.machine.name, answer->design.workload.name, answer->calibrations,
        run_text);
    (void)fprintf(
        stream, "method       %s", fulcrum_method_name(answer->prediction.method));
    if (answer->prediction.solver_error_rel > 0.0) {
        (void)fprintf(stream, " (+-%.2g %% at 95 %%)",
            100.0 * answer->prediction.solver_error_rel);
    }
    (void)fprintf(stream, "\nbottleneck   %s",
        fulcrum_bottleneck_name(answer->prediction.bottleneck));
    if (answer->prediction.has_interval) {
        (void)fprintf(stream, " (in %.0f %% of %.6g draws)",
            100.0 * answer->prediction.bottleneck_agree_frac, answer->prediction.draws);
    }
    (void)fputc('\n', stream);
    (void)fputc('\n', stream);
    struct fulcrum_report *report = report_outputs(&answer->prediction);
    fulcrum_report_print_table(report, stream, 0);
    fulcrum_report_free(report);
    (void)fputc('\n', stream);
    unsigned flags = answer->prediction.flags;
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT; i++) {
        if ((flags & (1U << (unsigned)i)) != 0U) {
            (void)fprintf(
                stream, "note: %s\n", fulcrum_flag_text((enum fulcrum_flag_index)i));
        }
    }
}

static void add_intervals(
    struct fulcrum_json *document, const struct fulcrum_prediction *prediction)
{
    if (!prediction->has_interval) {
        fulcrum_json_add_null(document, "intervals");
        return;
    }
    struct fulcrum_json *intervals = fulcrum_json_add_object(document, "intervals");
    fulcrum_json_add_number(intervals, "coverage_frac", 0.9);
    fulcrum_json_add_number(intervals, "draws", prediction->draws);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        double ends[] = {prediction->lo[i], prediction->hi[i]};
        fulcrum_json_add_numbers(intervals, fulcrum_output_name(i), ends, 2);
    }
}

static void add_outputs(
    struct fulcrum_json *document, const struct fulcrum_prediction *prediction)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        fulcrum_json_add_number(document, fulcrum_output_name(i), prediction->value[i]);
    }
    fulcrum_json_add_text(
        document, "bottleneck", fulcrum_bottleneck_name(prediction->bottleneck));
    fulcrum_json_add_number(
        document, "bottleneck_agree_frac", prediction->bottleneck_agree_frac);
    fulcrum_json_add_text(document, "method", fulcrum_method_name(prediction->method));
    fulcrum_json_add_number(document, "solver_error_rel", prediction->solver_error_rel);
    double ends[] = {
        prediction->solver_lo_steps_per_s, prediction->solver_hi_steps_per_s};
    fulcrum_json_add_numbers(document, "solver_interval_steps_per_s", ends, 2);
    fulcrum_flags_to_json(prediction->flags, document);
}

/* Every value in force with its origin: what was measured, fitted, a prior or set. */
static void add_inputs(struct fulcrum_json *document, const struct answer *answer)
{
    struct fulcrum_json *list = fulcrum_json_add_object(document, "inputs");
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        double value = fulcrum_field_number(&fields[i], &answer->design);
        const char *text = fulcrum_field_text(&fields[i], &answer->design);
        if (isnan(value) && text[0] == '\0') {
            continue;
        }
        struct fulcrum_origin_note note = fulcrum_origin_of(answer->inputs, &fields[i]);
        struct fulcrum_json *row = fulcrum_json_add_object(list, fields[i].path);
        if (text[0] != '\0') {
            fulcrum_json_add_text(row, "value", text);
        } else {
            fulcrum_json_add_number(row, "value", value);
        }
        fulcrum_json_add_text(row, "unit", fields[i].unit);
        fulcrum_json_add_text(row, "origin", note.kind);
        fulcrum_json_add_text(row, "from", note.from);
        fulcrum_json_add_text(row, "source", note.text);
    }
}

static enum fulcrum_status print_json(const struct answer *answer,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-predict");
    fulcrum_json_add_text(document, "machine", answer->design.machine.name);
    fulcrum_json_add_text(document, "workload", answer->design.workload.name);
    fulcrum_json_add_text(document, "calibration", answer->calibrations);
    fulcrum_json_add_number(document, "actor_count", answer->design.run.actor_count);
    fulcrum_json_add_number(
        document, "envs_per_actor", answer->design.run.envs_per_actor);
    fulcrum_json_add_number(document, "gpu_count",
        is_gpu(answer) ? answer->design.run.gpu_count : (double)NAN);
    fulcrum_json_add_number(document, "sm_count",
        is_gpu(answer) ? answer->design.run.sm_count : (double)NAN);
    add_outputs(document, &answer->prediction);
    add_intervals(document, &answer->prediction);
    struct fulcrum_json *units = fulcrum_json_add_object(document, "units");
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        fulcrum_json_add_text(units, fulcrum_output_name(i), fulcrum_output_unit(i));
    }
    add_inputs(document, answer);
    return fulcrum_report_print_document(document, context, err);
}

static enum fulcrum_status print_answer(const struct answer *answer,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(answer, context, err);
    }
    if (context->format == FULCRUM_FORMAT_TABLE) {
        print_table(answer, context->out);
        return FULCRUM_OK;
    }
    struct fulcrum_report *report = report_outputs(&answer->prediction);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-predict", context, err);
    fulcrum_report_free(report);
    return status;
}

static enum fulcrum_status predict(const struct fulcrum_design_inputs *inputs,
    const struct fulcrum_predict_options *options, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_scenario *scenario = NULL;
    TRY(fulcrum_scenario_new(&inputs->scenario, &scenario, err));
    struct answer *answer = calloc(1, sizeof *answer);
    if (answer == NULL) {
        fulcrum_scenario_free(scenario);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a prediction");
    }
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    answer->inputs = inputs;
    fulcrum_calibration_names(
        inputs, answer->calibrations, sizeof answer->calibrations);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_design(scenario, &point, &answer->design, err));
    TRY_OR_END(fulcrum_predict(scenario, &point, options, &answer->prediction, err));
    status = print_answer(answer, context, err);
end:
    free(answer);
    fulcrum_scenario_free(scenario);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct fulcrum_predict_options options;
    TRY(fulcrum_solve_settings_read(
        &settings->solve, PREDICT_DRAWS, context, &options, err));
    struct fulcrum_design_inputs *inputs = calloc(1, sizeof *inputs);
    TRY_MEMORY(inputs, err, "a design");
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_design_inputs_load(&settings->design, context, inputs, err));
    status = predict(inputs, &options, context, err);
end:
    fulcrum_design_inputs_free(inputs);
    free(inputs);
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
        "how "
        "busy each station is, watts, performance per GPU watt and per system watt, "
        "and "
        "what holds it back. Intervals (5 % to 95 %) come from draws of the "
        "calibration's "
        "parameters and of values marked as priors.\n\n"
        "One GPU is used unless --set run.gpu_count=N says otherwise; GPU watts are of "
        "the GPUs used, system watts of everything installed, unused GPUs idle. Times "
        "that belong to another machine are scaled, and said to be.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
