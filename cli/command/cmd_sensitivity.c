/* cmd_sensitivity.c - `fulcrum sensitivity`: which number matters most. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/command/sensitivity_inputs.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/design/design.h"
#include "model/parallel.h"
#include "model/predict/solver.h"
#include "model/result.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/result/quantity_text.h"

/* Replicates of the design: as many errors as there can be estimated from. */
enum { REPLICATES = 8 };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solver_settings solver;
    struct fulcrum_text_list vary;
    struct fulcrum_text_list base;
    const char *metrics;
    const char *along;
    struct fulcrum_actors_rule actors; /* its best_of is NULL */
    double samples;
};

/* An analysis under way. */
struct job {
    struct fulcrum_design_inputs design;
    struct fulcrum_sensitivity_inputs inputs;
    struct fulcrum_sensitivity_plan plan;
    struct fulcrum_sensitivity *result;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    char calibrations[200];
    char actors_rule[80];
    double seed;
};

/* An input as it is ranked for one metric. */
struct rank {
    size_t input;
    double total;
    double bar;
};

static int is_stopped(void *context)
{
    const struct job *job = context;
    return *job->stop != 0;
}

static void show_progress(void *context, size_t done_count, size_t all_count)
{
    struct job *job = context;
    char stage[64];
    (void)snprintf(
        stage, sizeof stage, "%zu of %zu evaluations", done_count, all_count);
    fulcrum_progress_update(
        &job->progress, (double)done_count / (double)all_count, stage);
}

/* Does anything say how many actors there are? */
static int gives_actors(const struct settings *settings, const struct job *job)
{
    const struct fulcrum_field *actors = fulcrum_field_find("run.actor_count");
    bool is_given = !isnan(settings->design.actor_count) ||
                    !isnan(fulcrum_field_number(actors, &job->design.base)) ||
                    fulcrum_sensitivity_inputs_vary(&job->inputs, actors);
    for (size_t i = 0; i < job->design.setting_count; i++) {
        is_given = is_given || job->design.settings[i].field == actors;
    }
    return is_given;
}

static enum fulcrum_status settle_actors(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    bool is_given = gives_actors(settings, job);
    TRY(fulcrum_actors_rule_check(&settings->actors, is_given,
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--vary actors=LO:HI",
        context, err));
    if (!is_given && isnan(settings->actors.per_thread) &&
        fulcrum_design_is_resident(&job->design.base)) {
        (void)snprintf(
            job->actors_rule, sizeof job->actors_rule, "%s", fulcrum_actors_rule_none);
        return FULCRUM_OK;
    }
    if (!is_given) {
        job->plan.actors_per_thread = fulcrum_actors_rule_per_thread(&settings->actors);
        fulcrum_actors_rule_text(
            &settings->actors, job->actors_rule, sizeof job->actors_rule);
        return FULCRUM_OK;
    }
    const struct fulcrum_field *actors = fulcrum_field_find("run.actor_count");
    double count = settings->design.actor_count;
    for (size_t i = 0; i < job->design.setting_count; i++) {
        if (job->design.settings[i].field == actors) {
            count = job->design.settings[i].number;
        }
    }
    if (fulcrum_sensitivity_inputs_vary(&job->inputs, actors)) {
        (void)snprintf(job->actors_rule, sizeof job->actors_rule, "varied");
    } else {
        (void)snprintf(job->actors_rule, sizeof job->actors_rule, "%.6g", count);
    }
    return FULCRUM_OK;
}

/* Rows are a power of two in each replicate. */
static size_t rows_for(double samples)
{
    size_t count = 1;
    while ((double)(count * REPLICATES) < samples) {
        count *= 2;
    }
    return count;
}

static void fill_plan(const struct settings *settings, struct job *job)
{
    struct fulcrum_sensitivity_plan *plan = &job->plan;
    const struct fulcrum_sensitivity_inputs *inputs = &job->inputs;
    plan->scenario = &job->design.scenario;
    plan->inputs = inputs->inputs;
    plan->input_count = inputs->input_count;
    plan->outputs = inputs->outputs;
    plan->output_count = inputs->output_count;
    plan->base = inputs->base;
    plan->base_count = inputs->base_count;
    plan->axis = inputs->axis.count > 0 ? &inputs->axis : NULL;
    fulcrum_solver_settings_read(&settings->solver, &plan->solver);
    job->seed = settings->solver.seed;
    /* What tens of thousands of simulations take, nobody wants to find out unasked. */
    if (plan->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solver.half_width_rel)) {
        plan->solver.method = FULCRUM_METHOD_FAST;
    }
    plan->sobol = (struct fulcrum_sobol_options){
        .row_count = rows_for(settings->samples),
        .replicate_count = REPLICATES,
        .worker_count = fulcrum_parallel_threads(),
        .seed = plan->solver.seed,
    };
    plan->is_stopped = is_stopped;
    plan->progress = show_progress;
    plan->context = job;
}

static enum fulcrum_status read_job(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sensitivity_request request = {
        &settings->vary, &settings->base, settings->metrics, settings->along};
    TRY(fulcrum_design_inputs_load(&settings->design, context, &job->design, err));
    TRY(fulcrum_sensitivity_inputs_read(
        &request, &job->design, context, &job->inputs, err));
    TRY(settle_actors(settings, context, job, err));
    fill_plan(settings, job);
    return FULCRUM_OK;
}

/* Whether the metric is known with nothing varied. */
static bool is_known(const struct job *job, size_t output)
{
    return !isnan(job->result->values[output]);
}

/* A metric that was asked for by name must be there; of the usual ones, one. */
static enum fulcrum_status judge_metrics(
    const struct job *job, struct fulcrum_error *err)
{
    size_t known = 0;
    for (size_t o = 0; o < job->inputs.output_count; o++) {
        FAIL_IF(!is_known(job, o) && job->inputs.outputs_asked, err,
            FULCRUM_ERR_MISSING,
            "--metric %s: it does not apply to this machine, or is not known",
            job->inputs.metrics[o].name);
        known += (size_t)is_known(job, o);
    }
    return known > 0 ? FULCRUM_OK
                     : fulcrum_fail(err, FULCRUM_ERR_MISSING, "no metric is known");
}

static bool is_told(const struct fulcrum_sobol_spread *spread)
{
    return (double)spread->dropped_count <=
           FULCRUM_SOBOL_DROPPED_MOST_FRAC * (double)spread->row_count;
}

/*
 * Rows that were dropped are told, once where it is the same rows of every metric;
 * where they are too many there is no answer.
 */
static enum fulcrum_status judge_rows(const struct job *job, struct fulcrum_error *err)
{
    size_t told = 0;
    size_t warned_count = 0;
    for (size_t o = 0; o < job->inputs.output_count; o++) {
        struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(job->result->sobol, o);
        told += (size_t)is_told(&spread);
    }
    FAIL_IF(told == 0, err, FULCRUM_ERR_INFEASIBLE,
        "too much of these ranges cannot run: %s", job->result->reason);
    for (size_t o = 0; o < job->inputs.output_count; o++) {
        struct fulcrum_sobol_spread spread =
            fulcrum_sobol_spread(job->result->sobol, o);
        if (spread.dropped_count != warned_count && spread.dropped_count > 0 &&
            is_known(job, o)) {
            warned_count = spread.dropped_count;
            fulcrum_message_warn("%s: %zu of %zu rows cannot run%s: %s",
                job->inputs.metrics[o].name, spread.dropped_count, spread.row_count,
                is_told(&spread) ? " and are left out, which narrows the ranges"
                                 : ", too many for shares of variance",
                job->result->reason);
        }
    }
    return FULCRUM_OK;
}

/* Larger totals first, then longer bars; what is not known last, in its order. */
static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a;
    const struct rank *y = b;
    if (x->total != y->total) {
        return x->total < y->total ? 1 : -1;
    }
    if (x->bar != y->bar) {
        return x->bar < y->bar ? 1 : -1;
    }
    return x->input < y->input ? -1 : 1;
}

/* Too little to be worth a line of the table for people. */
static bool is_small(const struct rank *rank)
{
    return rank->total >= 0.0 && rank->total < 0.001;
}

/* The caller frees it. */
static struct rank *rank_inputs(const struct job *job, size_t output)
{
    size_t count = job->inputs.input_count;
    struct rank *ranks = fulcrum_allocate(count, sizeof *ranks);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_effect effect =
            fulcrum_sensitivity_effect(job->result, output, i);
        double total = fulcrum_sobol_index(job->result->sobol, output, i).total;
        double bar = fabs(effect.hi - effect.lo);
        ranks[i] =
            (struct rank){i, isnan(total) ? -1.0 : total, isnan(bar) ? -1.0 : bar};
    }
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    return ranks;
}

/* "" of a factor and of several numbers. */
static const char *field_unit(const struct fulcrum_sensitivity_input *input)
{
    if (input->span != NULL) {
        return input->span->field->unit;
    }
    bool is_one = input->uncertain_count == 1 && input->uncertain->field != NULL;
    return is_one ? input->uncertain->field->unit : "";
}

/* A row of the file: everything about one input and one metric. */
static void add_row(
    struct fulcrum_table *table, const struct job *job, size_t output, size_t input)
{
    const struct fulcrum_sensitivity_metric *metric = &job->inputs.metrics[output];
    const struct fulcrum_sensitivity_words *words = &job->inputs.words[input];
    const struct fulcrum_reach *reach = &job->result->reaches[input];
    struct fulcrum_sobol_index index =
        fulcrum_sobol_index(job->result->sobol, output, input);
    struct fulcrum_effect effect =
        fulcrum_sensitivity_effect(job->result, output, input);
    struct fulcrum_sobol_spread spread =
        fulcrum_sobol_spread(job->result->sobol, output);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "metric", NULL, metric->name);
    fulcrum_table_text(table, "unit", NULL, metric->unit);
    fulcrum_table_text(table, "field", NULL, words->label);
    fulcrum_table_text(table, "source", NULL, words->source);
    fulcrum_table_text(
        table, "field_unit", NULL, field_unit(&job->inputs.inputs[input]));
    fulcrum_table_number(table, "field_lo", NULL, reach->lo);
    fulcrum_table_number(table, "field_value", NULL, reach->value);
    fulcrum_table_number(table, "field_hi", NULL, reach->hi);
    fulcrum_table_number(table, "first_frac", NULL, index.first);
    fulcrum_table_number(table, "first_error", NULL, index.first_error);
    fulcrum_table_number(table, "total_frac", NULL, index.total);
    fulcrum_table_number(table, "total_error", NULL, index.total_error);
    fulcrum_table_number(table, "swing_lo", NULL, effect.lo);
    fulcrum_table_number(table, "swing_hi", NULL, effect.hi);
    fulcrum_table_number(table, "metric_value", NULL, job->result->values[output]);
    fulcrum_table_number(table, "metric_mean", NULL, spread.mean);
    fulcrum_table_number(table, "metric_sd", NULL, spread.sd);
    fulcrum_table_number(table, "metric_lo", NULL, spread.lo);
    fulcrum_table_number(table, "metric_hi", NULL, spread.hi);
    fulcrum_table_number(table, "interaction_frac", NULL, spread.interaction_frac);
    fulcrum_table_number(table, "interaction_error", NULL, spread.interaction_error);
    fulcrum_table_number(table, "rows", NULL, (double)spread.row_count);
    fulcrum_table_number(table, "dropped_rows", NULL, (double)spread.dropped_count);
}

/* "33.4 +- 5.1 %" */
static void add_share(
    struct fulcrum_table *table, const char *key, double share, double error)
{
    char text[48] = "";
    if (!isnan(share)) {
        (void)snprintf(
            text, sizeof text, "%4.1f +- %.1f %%", 100.0 * share, 100.0 * error);
    }
    fulcrum_table_text(table, key, key, text);
}

/* What people see of it. */
static void add_shown_row(
    struct fulcrum_table *table, const struct job *job, size_t output, size_t input)
{
    const struct fulcrum_reach *reach = &job->result->reaches[input];
    const char *unit = field_unit(&job->inputs.inputs[input]);
    struct fulcrum_sobol_index index =
        fulcrum_sobol_index(job->result->sobol, output, input);
    struct fulcrum_effect effect =
        fulcrum_sensitivity_effect(job->result, output, input);
    char text[2 * FULCRUM_QUANTITY_SIZE] = "";
    fulcrum_table_row(table);
    fulcrum_table_text(table, "field", "field", job->inputs.words[input].label);
    if (isfinite(reach->value)) {
        fulcrum_quantity_plain(reach->value, unit, text);
    }
    fulcrum_table_text(table, "value", "value", text);
    fulcrum_range_plain(reach->lo, reach->hi, reach->value, unit, text);
    fulcrum_table_text(table, "range", "5 % to 95 %", text);
    add_share(table, "first", index.first, index.first_error);
    add_share(table, "total", index.total, index.total_error);
    fulcrum_table_number(table, "swing_lo", "at 5 %", effect.lo);
    fulcrum_table_number(table, "swing_hi", "at 95 %", effect.hi);
    fulcrum_table_text(table, "source", "from", job->inputs.words[input].source);
}

/* "5035/s (90 %: 2971 to 6917/s); interactions 6 %" */
static void add_spread(struct fulcrum_result *result, const struct job *job,
    size_t output, const struct fulcrum_sobol_spread *spread)
{
    const struct fulcrum_sensitivity_metric *metric = &job->inputs.metrics[output];
    double value = job->result->values[output];
    char number[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_plain(value, metric->unit, number);
    fulcrum_range_plain(spread->lo, spread->hi, value, metric->unit, range);
    char *end =
        spread->is_constant ? fulcrum_format(": nothing varied changes it")
        : isnan(spread->interaction_frac)
            ? fulcrum_format("%s", "")
            : fulcrum_format("; interactions %.1f %% (+- %.1f)",
                  100.0 * spread->interaction_frac, 100.0 * spread->interaction_error);
    char *key = fulcrum_format("spread/%s", metric->name);
    fulcrum_result_gap(result);
    fulcrum_result_print(
        result, key, metric->name, "%s (90 %%: %s)%s", number, range, end);
    free(key);
    free(end);
}

/* Inputs too small for a line of the table, and the one that would narrow it most. */
static void add_finding(struct fulcrum_result *result, const struct job *job,
    size_t output, const struct rank *ranks)
{
    struct fulcrum_string small = {.chars = NULL};
    const struct fulcrum_sensitivity_words *words = job->inputs.words;
    struct fulcrum_sobol_index most = {.first = 0.0};
    size_t best = 0;
    for (size_t i = 0; i < job->inputs.input_count; i++) {
        struct fulcrum_sobol_index index =
            fulcrum_sobol_index(job->result->sobol, output, ranks[i].input);
        if (index.first > most.first) {
            most = index;
            best = ranks[i].input;
        }
        if (is_small(&ranks[i])) {
            fulcrum_string_add(&small, "%s%s", small.length > 0 ? ", " : "",
                words[ranks[i].input].label);
        }
    }
    const char *name = job->inputs.metrics[output].name;
    char *key = fulcrum_format("small/%s", name);
    fulcrum_result_text(result, key, "below 0.1 %", fulcrum_string_get(&small));
    free(key);
    fulcrum_string_clear(&small);
    if (most.first > 0.0) {
        key = fulcrum_format("finding/%s", name);
        fulcrum_result_print(result, key, "found",
            "%.0f %% (+- %.0f) of the variance is due to %s alone", 100.0 * most.first,
            100.0 * most.first_error, words[best].label);
        free(key);
    }
}

/* One metric: all rows into `file`, what matters into a table for people. */
static void add_metric(struct fulcrum_result *result, struct fulcrum_table *file,
    const struct job *job, size_t output)
{
    struct fulcrum_sobol_spread spread =
        fulcrum_sobol_spread(job->result->sobol, output);
    struct rank *ranks = rank_inputs(job, output);
    add_spread(result, job, output, &spread);
    struct fulcrum_table *shown =
        spread.is_constant ? NULL : fulcrum_result_table(result, "", "");
    for (size_t i = 0; i < job->inputs.input_count; i++) {
        add_row(file, job, output, ranks[i].input);
        if (!is_small(&ranks[i])) {
            add_shown_row(shown, job, output, ranks[i].input);
        }
    }
    if (!spread.is_constant) {
        add_finding(result, job, output, ranks);
    }
    free(ranks);
}

/* Metric after metric, inputs with the largest total share first. */
static enum fulcrum_status show(const struct job *job, bool is_complete,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-sensitivity");
    struct fulcrum_string base = {.chars = NULL};
    for (size_t i = 0; i < job->inputs.base_count; i++) {
        fulcrum_string_add(&base, "%s%s=%.6g", i > 0 ? ", " : "",
            job->inputs.base[i].field->path, job->inputs.base[i].number);
    }
    fulcrum_result_text(result, "machine", "machine", job->design.base.machine.name);
    fulcrum_result_text(result, "workload", "workload", job->design.base.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", job->calibrations);
    fulcrum_result_text(result, "actors_rule", "actors", job->actors_rule);
    fulcrum_result_text(
        result, "compared_to", "compared to", fulcrum_string_get(&base));
    fulcrum_string_clear(&base);
    fulcrum_result_text(
        result, "method", NULL, fulcrum_method_name(job->plan.solver.method));
    fulcrum_result_number(result, "seed", NULL, job->seed);
    fulcrum_result_number(result, "replicates", NULL,
        (double)fulcrum_sobol_replicates(job->result->sobol));
    fulcrum_result_flag(result, "complete", NULL, is_complete);
    fulcrum_result_text(result, "cannot_run", NULL, job->result->reason);
    struct fulcrum_table *file = fulcrum_result_table(result, "rows", NULL);
    fulcrum_table_make_main(file);
    for (size_t o = 0; o < job->inputs.output_count; o++) {
        if (is_known(job, o)) {
            add_metric(result, file, job, o);
        }
    }
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status analyse(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    fulcrum_calibration_names(
        &job->design, job->calibrations, sizeof job->calibrations);
    job->stop = fulcrum_interrupt_watch();
    fulcrum_progress_start(&job->progress, context);
    enum fulcrum_status status = fulcrum_sensitivity_run(&job->plan, &job->result, err);
    fulcrum_progress_end(&job->progress);
    bool is_kept = status == FULCRUM_ERR_INTERRUPTED && job->result != NULL;
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED && !is_kept, err, status,
        "interrupted: fewer than two replicates were done, which tell nothing");
    if (status != FULCRUM_OK && !is_kept) {
        return status;
    }
    if (is_kept) {
        fulcrum_message_warn("interrupted: from %zu of %d replicates",
            fulcrum_sobol_replicates(job->result->sobol), (int)REPLICATES);
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    }
    TRY(judge_metrics(job, err));
    TRY(judge_rows(job, err));
    return show(job, !is_kept, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = calloc(1, sizeof *job);
    TRY_MEMORY(job, err, "a sensitivity analysis");
    enum fulcrum_status status = read_job(settings, context, job, err);
    if (status == FULCRUM_OK) {
        status = analyse(job, context, err);
    }
    fulcrum_sensitivity_free(job->result);
    fulcrum_sensitivity_inputs_free(&job->inputs);
    fulcrum_design_inputs_free(&job->design);
    free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "vary", offsetof(struct settings, vary), "PATH[=LO:HI[:log]]",
        .letter = 'v',
        .help = "field that varies, uniformly or log-uniformly between two ends, or "
                "without a range as its prior or calibration has it; 'uncertain': all "
                "that have one, as without this option"),
    FULCRUM_OPTION(TEXT, "metric", offsetof(struct settings, metrics), "A,B,C",
        .help = "outputs asked about: steps_per_s, gpu_w, ...; with --base speedup, "
                "runtime_rel or any output with _rel; with --along best:OUTPUT; rate "
                "and both performances per watt unless given"),
    FULCRUM_OPTION(LIST, "base", offsetof(struct settings, base), "PATH=VALUE",
        .help = "what is different at the point that metrics are divided by; the rest "
                "is the same world"),
    FULCRUM_OPTION(TEXT, "along", offsetof(struct settings, along), "PATH=RANGE",
        .help = "field whose best value is asked about, and where to look for it, as "
                "for 'explore --vary'"),
    FULCRUM_OPTION(COUNT, "samples", offsetof(struct settings, samples), "N",
        .letter = 'n', .fallback = "2048", .least = 16.0, .most = 1048576.0,
        .help = "rows of the design, each 2 evaluations and 2 more for every field; "
                "made 8 times a power of two"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Sensitivity", rows, 0},
    {"Actors", FULCRUM_ACTORS_RULE_ROWS_BUT_BEST, offsetof(struct settings, actors)},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solver)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum sensitivity -m dgx-1 -w r2d2-atari",
        "which number, measured better, would narrow the prediction most"},
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari --actors 40 "
     "--base actors=4",
        "the same of the speed-up from 4 to 40 actors"},
    {"fulcrum sensitivity -m dgx-a100 -w r2d2-atari --actors 256 "
     "-v machine.cpu.thread_count=64:512:log -v machine.gpu.sm_count=54:132",
        "threads or SMs: what the rate follows over these ranges"},
    {"fulcrum sensitivity -m dgx-1-inci2020 -w r2d2-atari "
     "--along machine.cpu.thread_count=20:320:x1.4 --actors-per-thread 6.4",
        "what decides how many threads are best"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_sensitivity = {
    .name = "sensitivity",
    .summary = "say which uncertain or varied numbers a prediction's spread comes from",
    .description =
        "Parts the variance of each metric among the fields that vary: `first` is the "
        "share that would go, on average, if the field alone became known, `total` "
        "what "
        "would be left if all others did; what the first-order shares leave is due to "
        "interactions. Beside them stands what the metric is with the field at its 5 % "
        "and 95 % point and all others at their values.\n\n"
        "Without --vary all fields vary that the presets mark as priors or the "
        "calibrations give an error for. Numbers that depend on each other are one "
        "field: shares of variance assume independence. Counts take whole numbers. "
        "Where "
        "nothing says how many actors there are, 6.4 per hardware thread, the paper's "
        "256 on 40.\n\n"
        "Standard errors come from 8 independent replicates of the design. Designs "
        "that "
        "cannot run are left out row by row and counted; above a tenth of the rows no "
        "share is told. Points are solved by the fast equations unless --method or "
        "--half-width asks for more.\n\n"
        "The same inputs and seed give the same bytes, whatever the number of threads. "
        "After Ctrl-C the result is that of the whole replicates, if there are two. "
        "`fulcrum plot FILE` draws what --format json or csv wrote as a tornado chart.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
