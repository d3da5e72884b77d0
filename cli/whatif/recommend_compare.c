/* recommend_compare.c - one design beside another, draw by draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "cli/whatif/candidates.h"
#include "model/design/design.h"
#include "model/quantity.h"
#include "model/study/sweep.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/io/json.h"

/* Draws behind a share of them: 400 tell 0.9 from 0.95. */
#define COMPARE_DRAWS 400.0

enum { SIDES = 2, METRICS_MOST = 3 };

struct match {
    const struct fulcrum_recommend_settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_predict_options options;
    struct fulcrum_candidate sides[SIDES];
    size_t metrics[METRICS_MOST];
    size_t metric_count;
    double *columns; /* three numbers per draw */
};

static enum fulcrum_status read_metrics(struct match *match, struct fulcrum_error *err)
{
    static const size_t usual[METRICS_MOST] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system};
    if (match->settings->metric == NULL) {
        memcpy(match->metrics, usual, sizeof usual);
        match->metric_count = METRICS_MOST;
        return FULCRUM_OK;
    }
    match->metric_count = 1;
    TRY(fulcrum_recommend_metric(match->settings->metric, FULCRUM_OUTPUT_steps_per_s,
        match->context, &match->metrics[0], err));
    FULCRUM_USAGE_IF(fulcrum_output_sense(match->metrics[0]) == FULCRUM_SENSE_NONE,
        match->context, err, FULCRUM_ERR_RANGE,
        "--metric %s: it may be better either way", match->settings->metric);
    return FULCRUM_OK;
}

/* "dgx-a100, run.sm_count=54" */
static void write_name(
    const char *machine, const struct fulcrum_text_list *own, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", machine);
    for (size_t i = 0; i < own->count; i++) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, ", %s", own->items[i]);
    }
}

static enum fulcrum_status load_side(
    struct match *match, size_t side, const char *machine, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = match->settings;
    const struct fulcrum_text_list *own =
        side == 0 ? &settings->a_sets : &settings->b_sets;
    struct fulcrum_design_settings design = settings->design;
    design.machine = machine;
    /* The user's own settings, then those of one side. */
    struct fulcrum_text_list *sets = &design.sets;
    sets->items = fulcrum_allocate(sets->count + own->count, sizeof *sets->items);
    for (size_t i = 0; i < sets->count; i++) {
        sets->items[i] = settings->design.sets.items[i];
    }
    for (size_t i = 0; i < own->count; i++) {
        sets->items[sets->count++] = own->items[i];
    }
    write_name(machine, own, match->sides[side].name, sizeof match->sides[side].name);
    enum fulcrum_status status =
        fulcrum_candidate_load(&design, match->context, &match->sides[side], err);
    free((void *)sets->items);
    return status;
}

/* Two machines, or one under two settings. */
static enum fulcrum_status load_sides(struct match *match, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = match->settings;
    const struct fulcrum_text_list *names = &settings->names;
    bool has_sets = settings->a_sets.count + settings->b_sets.count > 0;
    const char *single = names->count == 1 ? names->items[0] : settings->design.machine;
    FULCRUM_USAGE_IF(names->count > SIDES ||
                         (names->count > 0 && settings->design.machine != NULL) ||
                         (names->count < SIDES && (single == NULL || !has_sets)),
        match->context, err, FULCRUM_ERR_MISSING,
        "recommend compare takes two machines, or one with --a-set or --b-set");
    for (size_t i = 0; i < SIDES; i++) {
        TRY(load_side(match, i, names->count == SIDES ? names->items[i] : single, err));
    }
    fulcrum_contenders_align(match->sides, SIDES);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_sides(struct match *match, struct fulcrum_error *err)
{
    const volatile sig_atomic_t *stop = fulcrum_interrupt_watch();
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_progress_start(&progress, match->context);
    for (size_t i = 0; i < SIDES && status == FULCRUM_OK; i++) {
        struct fulcrum_candidate *side = &match->sides[i];
        fulcrum_progress_update(&progress, (double)i / (double)SIDES, side->name);
        status = fulcrum_candidate_predict(
            side, &match->settings->actors, &match->options, match->context, err);
        if (status == FULCRUM_OK && side->reason[0] != '\0') {
            status = fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE, "%s cannot run: %s",
                side->name, side->reason);
        }
        if (*stop != 0) {
            status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        }
    }
    fulcrum_progress_end(&progress);
    return status;
}

static const struct fulcrum_report_head columns[] = {
    {"metric", FULCRUM_COLUMN_TEXT, NULL},
    {"better", FULCRUM_COLUMN_TEXT, NULL},
    FULCRUM_COLUMN_ENDS("a", "A"),
    FULCRUM_COLUMN_ENDS("b", "B"),
    {"ratio", FULCRUM_COLUMN_NUMBER, "A / B"},
    {"ratio_median", FULCRUM_COLUMN_NUMBER, "A / B"},
    {"ratio_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"ratio_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"a_beats_b_frac", FULCRUM_COLUMN_NUMBER, "A beats B"},
    {"draw_count", FULCRUM_COLUMN_NUMBER, "draws"},
};

static void duel_of(
    const struct match *match, size_t metric, struct fulcrum_contest *out)
{
    size_t draws = match->sides[0].draw_count;
    double *a = match->columns;
    double *b = match->columns + draws;
    fulcrum_candidate_column(&match->sides[0], metric, a);
    fulcrum_candidate_column(&match->sides[1], metric, b);
    const struct fulcrum_paired paired = {a, b, draws};
    fulcrum_contest_of(
        &paired, fulcrum_output_sense(metric), match->columns + 2 * draws, out);
}

static void add_side(
    struct fulcrum_report *report, const struct fulcrum_candidate *side, size_t metric)
{
    const struct fulcrum_prediction *prediction = &side->point.prediction;
    bool has_interval = prediction->has_interval;
    FULCRUM_REPORT_NUMBERS(report, prediction->value[metric],
        has_interval ? prediction->lo[metric] : FULCRUM_UNKNOWN,
        has_interval ? prediction->hi[metric] : FULCRUM_UNKNOWN);
}

/* "A beats B in steps_per_s with probability 0.97" */
static void write_sentence(const struct match *match, char *out, size_t size)
{
    struct fulcrum_contest duel;
    duel_of(match, match->metrics[0], &duel);
    const char *metric = fulcrum_output_name(match->metrics[0]);
    if (isnan(duel.beats_frac)) {
        (void)snprintf(
            out, size, "how sure A beats B in %s is not known without draws", metric);
        return;
    }
    (void)snprintf(out, size,
        "A beats B in %s with probability %.3g: the median of A / B is %.4g (90 %% "
        "interval %.4g to %.4g)",
        metric, duel.beats_frac, duel.ratio, duel.ratio_lo, duel.ratio_hi);
}

/* Where more is better of each metric, and draws are told above, people need not read
 * it in every row; nor a quotient of two numbers beside each other. */
static void hide_columns(const struct match *match, struct fulcrum_report *report)
{
    size_t more = 0;
    for (size_t i = 0; i < match->metric_count; i++) {
        more += fulcrum_output_sense(match->metrics[i]) == FULCRUM_SENSE_MORE ? 1 : 0;
    }
    if (more == match->metric_count) {
        fulcrum_report_hide(report, "better");
    }
    fulcrum_report_hide(report, "draw_count");
    if (match->sides[0].draw_count > 0) {
        fulcrum_report_hide(report, "ratio");
    }
    fulcrum_report_hide_empty(report);
}

/* "A: dgx-1, 1 of 8 GPUs, 1280 actors": one GPU is used unless more are asked for. */
static void print_side(const struct fulcrum_candidate *side, char letter, FILE *stream)
{
    const struct fulcrum_design *design = &side->design;
    (void)fprintf(stream, "%c: %s, ", letter, side->name);
    if (design->machine.accelerator == FULCRUM_ACCELERATOR_GPU) {
        (void)fprintf(stream, "%.6g of %.6g GPUs, ", design->run.gpu_count,
            design->machine.gpu.count);
    }
    double count = side->point.prediction.actor_count;
    const char *kind = fulcrum_design_is_resident(design) ? "process" : "actor";
    const char *plural = kind[0] == 'p' ? "es" : "s";
    (void)fprintf(stream, "%.6g %s%s\n", count, kind, count > 1.0 ? plural : "");
}

static void add_design(struct fulcrum_json *document, const char *key,
    const struct fulcrum_candidate *side)
{
    char calibrations[200];
    struct fulcrum_json *design = fulcrum_json_add_object(document, key);
    fulcrum_calibration_names(&side->inputs, calibrations, sizeof calibrations);
    fulcrum_json_add_text(design, "name", side->name);
    fulcrum_json_add_text(design, "machine", side->inputs.base.machine.name);
    fulcrum_json_add_text(design, "calibration", calibrations);
    fulcrum_json_add_number(design, "gpu_count", side->design.run.gpu_count);
    fulcrum_json_add_number(design, "actor_count", side->point.prediction.actor_count);
    fulcrum_json_add_number(
        design, "solver_error_rel", side->point.prediction.solver_error_rel);
}

static enum fulcrum_status print_json(const struct match *match,
    const struct fulcrum_report *report, const char *sentence,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-recommend");
    fulcrum_json_add_text(document, "question", "compare");
    fulcrum_json_add_text(document, "workload", match->settings->design.workload);
    add_design(document, "a", &match->sides[0]);
    add_design(document, "b", &match->sides[1]);
    fulcrum_report_to_json(report, document);
    fulcrum_json_add_text(document, "finding", sentence);
    return fulcrum_report_print_document(document, match->context, err);
}

static enum fulcrum_status print_match(
    const struct match *match, struct fulcrum_error *err)
{
    struct fulcrum_context *context = match->context;
    char sentence[400];
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("metrics", columns);
    for (size_t i = 0; i < match->metric_count; i++) {
        size_t metric = match->metrics[i];
        struct fulcrum_contest duel;
        duel_of(match, metric, &duel);
        const double *a = match->sides[0].point.prediction.value;
        const double *b = match->sides[1].point.prediction.value;
        FULCRUM_REPORT_TEXTS(report, fulcrum_output_name(metric),
            fulcrum_output_sense(metric) == FULCRUM_SENSE_MORE ? "more" : "less");
        add_side(report, &match->sides[0], metric);
        add_side(report, &match->sides[1], metric);
        FULCRUM_REPORT_NUMBERS(report, a[metric] / b[metric], duel.ratio, duel.ratio_lo,
            duel.ratio_hi, duel.beats_frac, (double)duel.draw_count);
    }
    write_sentence(match, sentence, sizeof sentence);
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(match, report, sentence, err);
    } else if (context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(report, "fulcrum-recommend", context, err);
    } else {
        for (size_t i = 0; i < SIDES; i++) {
            print_side(&match->sides[i], i == 0 ? 'A' : 'B', context->out);
        }
        (void)fprintf(
            context->out, "%s: %s\n", match->settings->design.workload, sentence);
        if (match->sides[0].draw_count > 0) {
            (void)fprintf(context->out,
                "5 and 95 %% of %zu draws, the same worlds for A and B\n",
                match->sides[0].draw_count);
        }
        (void)fputc('\n', context->out);
        hide_columns(match, report);
        fulcrum_report_print_table(report, context->out, 0);
    }
    fulcrum_report_free(report);
    return status;
}

enum fulcrum_status fulcrum_recommend_compare(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct match *match = fulcrum_allocate(1, sizeof *match);
    match->settings = settings;
    match->context = context;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_metrics(match, err));
    TRY_OR_END(fulcrum_recommend_options(
        settings, COMPARE_DRAWS, context, &match->options, err));
    TRY_OR_END(load_sides(match, err));
    TRY_OR_END(predict_sides(match, err));
    match->columns =
        calloc(3 * (size_t)match->options.draws + 1, sizeof *match->columns);
    if (match->columns == NULL) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a comparison"));
    }
    status = print_match(match, err);
end:
    for (size_t i = 0; i < SIDES; i++) {
        fulcrum_candidate_clear(&match->sides[i]);
    }
    free(match->columns);
    free(match);
    return status;
}
