/* recommend_fewest.c - fewest threads, or values of any field, for a share of the best.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/whatif/candidates.h"
#include "model/number.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/result/quantity_text.h"

/* Values beyond which a curve takes too much memory to be of use. */
enum { VALUES_MOST = 20000 };

/* Threads, and actors, that are looked at where no range is given. */
#define MOST_THREADS    1024.0
#define MOST_PER_THREAD 16.0
#define FEW_ACTORS      512.0

struct question {
    const struct fulcrum_recommend_settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_subject subject; /* its design is not known: something is varied */
    struct fulcrum_numbers values;  /* of the field */
    struct fulcrum_actors actors;   /* the text is "" where they vary */
    struct fulcrum_fewest_plan plan;
    struct fulcrum_progress watch;
    struct fulcrum_fewest_answer answer;
};

static enum fulcrum_status read_range(struct question *question, const char *option,
    const char *range, struct fulcrum_error *err)
{
    question->values.option = option;
    TRY(fulcrum_numbers_read(&question->values, range, question->context, err));
    FULCRUM_USAGE_IF(question->values.count > VALUES_MOST, question->context, err,
        FULCRUM_ERR_RANGE, "%s: %s: %zu values, expected at most %d", option, range,
        question->values.count, (int)VALUES_MOST);
    return FULCRUM_OK;
}

/* Whole cores, up to well beyond the machine's own; or actors that the GPUs in use can
 * share, up to many to a thread. */
static enum fulcrum_status take_usual_range(
    struct question *question, bool are_threads, struct fulcrum_error *err)
{
    const struct fulcrum_design_inputs *inputs = &question->subject.inputs;
    double threads = fulcrum_inputs_number(inputs, "machine.cpu.thread_count");
    double cores = fulcrum_inputs_number(inputs, "machine.cpu.core_count");
    bool has_gpu = inputs->base.machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    double step = fulcrum_inputs_number(
        inputs, has_gpu ? "run.gpu_count" : "machine.learner_core_count");
    double last = fmax(FEW_ACTORS, MOST_PER_THREAD * threads);
    if (are_threads) {
        step = threads > cores && cores > 0.0 ? round(threads / cores) : 1.0;
        last = fmax(MOST_THREADS, 2.0 * threads);
    }
    char *range = fulcrum_format(
        "%.17g:%.17g:%.17g", step, fmax(step, fmin(last, step * VALUES_MOST)), step);
    enum fulcrum_status status = read_range(question, "--range", range, err);
    free(range);
    return status;
}

static enum fulcrum_status read_axis(
    struct question *question, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = question->settings;
    const char *text = settings->vary;
    if (strcmp(settings->question, "fewest") == 0) {
        /* "PATH=RANGE" of --vary. */
        size_t length = text != NULL ? strcspn(text, "=") : 0;
        FULCRUM_USAGE_IF(length == 0 || text[length] != '=', question->context, err,
            FULCRUM_ERR_FORMAT,
            "recommend fewest takes --vary PATH=RANGE, such as "
            "run.sm_count=4:80:4");
        char *path = fulcrum_format("%.*s", (int)length, text);
        question->values.field = fulcrum_field_parse(path, question->context, err);
        free(path);
        return question->values.field != NULL
                   ? read_range(question, "--vary", text + length + 1, err)
                   : fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
    }
    FULCRUM_USAGE_IF(text != NULL, question->context, err, FULCRUM_ERR_RANGE,
        "--vary goes with 'recommend fewest': --range gives the %s",
        settings->question);
    bool are_threads = strcmp(settings->question, "threads") == 0;
    question->values.field = fulcrum_field_find(
        are_threads ? "machine.cpu.thread_count" : "run.actor_count");
    return settings->range != NULL
               ? read_range(question, "--range", settings->range, err)
               : take_usual_range(question, are_threads, err);
}

/* What people count; the path of any other field. */
static const char *noun_of(const struct question *question)
{
    static const char *const nouns[][2] = {
        {"machine.cpu.thread_count", "hardware threads"},
        {"run.actor_count", "actors"},
        {"run.gpu_count", "GPUs"},
        {"run.sm_count", "SMs"},
    };
    const char *path = question->values.field->path;
    for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
        if (strcmp(path, nouns[i][0]) == 0) {
            return nouns[i][1];
        }
    }
    return path;
}

/* The answer in one sentence. */
static void add_finding(struct fulcrum_result *result, const struct question *question)
{
    const struct fulcrum_fewest_answer *answer = &question->answer;
    const double *values = question->values.values;
    const char *metric = fulcrum_output_name(question->plan.metric);
    char best[FULCRUM_QUANTITY_SIZE];
    char *interval = isnan(answer->value.lo)
                         ? fulcrum_format("%s", "")
                         : fulcrum_format(" (90 %% interval %.6g to %.6g)",
                               answer->value.lo, answer->value.hi);
    fulcrum_quantity_plain(answer->found.best_value, fulcrum_unit_of(metric), best);
    fulcrum_result_print(result, "finding", "found",
        "%.6g %s%s reach %.4g %% of the best %s, %s, which %.6g have",
        values[answer->found.place], noun_of(question), interval,
        question->settings->share_percent, metric, best, values[answer->found.best]);
    free(interval);
}

static void add_answer(struct fulcrum_table *table, const struct question *question)
{
    static const struct fulcrum_interval none = {
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    const struct fulcrum_fewest_answer *answer = &question->answer;
    const struct fulcrum_fewest *found = &answer->found;
    const struct fulcrum_prediction *there = &answer->prediction;
    const struct fulcrum_field *field = question->values.field;
    const double *values = question->values.values;
    const char *metric = fulcrum_output_name(question->plan.metric);
    double curves = question->plan.sweep.predict.draws + 1.0;
    char *best = fulcrum_format("best_%s", metric);
    char *best_at = fulcrum_format("best_%s", field->path);
    const struct {
        const char *name;
        double value;
        struct fulcrum_interval ends;
        const char *meaning;
    } quantities[] = {
        {field->path, values[found->place], answer->value,
            "fewest that reach the share of the best"},
        {metric, found->value, answer->metric, "there"},
        {"actor_count", there->actor_count, none, "there"},
        {best, found->best_value, answer->best, "best of the range"},
        {best_at, values[found->best], none, "where it is"},
        {"share_frac", found->value / found->best_value, none,
            "of the best, where the fewest are"},
        {"draw_count", answer->draws, none, "draws that have an answer"},
        {"prediction_count", (double)answer->predicted, none,
            "points and draws that were predicted"},
        {"grid_count", (double)question->values.count * curves, none,
            "what the whole range would have taken"},
        {"wiggle_frac", found->wiggle_frac, none,
            "deepest valley of the curve: 0 where it rises, or rises and falls"},
        {"solver_error_rel", there->solver_error_rel, none,
            "of steps_per_s there, at 95 %: not among the draws"},
        {"best_solver_error_rel", answer->best_error_rel, none,
            "of steps_per_s where the best is, likewise"},
        {"within_solver_error", answer->within.median, answer->within,
            "the fewest at the best fit; ends by the solver's error, not by draws"},
    };
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "name", "quantity", quantities[i].name);
        fulcrum_table_number(table, "value", "value", quantities[i].value);
        fulcrum_table_number(table, "lo", "5 %", quantities[i].ends.lo);
        fulcrum_table_number(table, "hi", "95 %", quantities[i].ends.hi);
        fulcrum_table_text(table, "meaning", "meaning", quantities[i].meaning);
    }
    free(best);
    free(best_at);
}

static enum fulcrum_status show(
    const struct question *question, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_design *base = &question->subject.inputs.base;
    const struct fulcrum_fewest_answer *answer = &question->answer;
    const char *metric = fulcrum_output_name(question->plan.metric);
    fulcrum_result_text(result, "question", NULL, question->settings->question);
    fulcrum_result_text(result, "machine", "machine", base->machine.name);
    fulcrum_result_text(result, "workload", "workload", base->workload.name);
    fulcrum_result_text(
        result, "calibration", "calibration", question->subject.calibrations);
    /* "1 of 8 GPUs; actors: 6.4 per hardware thread": what the question leaves as it
     * is. */
    const struct fulcrum_design_inputs *inputs = &question->subject.inputs;
    struct fulcrum_string text = {0};
    if (inputs->base.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
        question->values.field != fulcrum_field_find("run.gpu_count")) {
        fulcrum_string_add(&text, "%.6g of %.6g GPUs",
            fulcrum_inputs_number(inputs, "run.gpu_count"),
            fulcrum_inputs_number(inputs, "machine.gpu.count"));
    }
    if (question->actors.text[0] != '\0') {
        fulcrum_string_add(
            &text, "%sactors: %s", text.length > 0 ? "; " : "", question->actors.text);
    }
    fulcrum_result_text(result, "run", "run", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
    fulcrum_result_text(result, "field", NULL, question->values.field->path);
    fulcrum_result_text(result, "metric", NULL, metric);
    fulcrum_result_number(
        result, "wanted_share_frac", NULL, question->settings->share_percent / 100.0);
    fulcrum_result_flag(result, "still_rising", NULL, answer->is_rising);
    fulcrum_result_text(
        result, "method", "method", fulcrum_method_name(answer->prediction.method));
    fulcrum_result_number(
        result, "solver_error_rel", NULL, answer->prediction.solver_error_rel);
    add_finding(result, question);
    add_answer(fulcrum_result_table(result, "answer", ""), question);
    /* What of the answer is the solver's, where that changes anything. */
    const struct fulcrum_interval *within = &answer->within;
    fulcrum_result_note(result, "notes", NULL);
    if (within->hi > within->lo) {
        fulcrum_result_note_print(result, "notes",
            "the answer depends on the solver's error (%.2g %% at the answer, %.2g %% "
            "at the best): within it, the fewest are %.6g to %.6g %s%s",
            100.0 * answer->prediction.solver_error_rel, 100.0 * answer->best_error_rel,
            within->lo, within->hi, noun_of(question),
            answer->prediction.method == FULCRUM_METHOD_SIMULATE
                ? ""
                : "; --method simulate gives a sharper answer");
    }
    TRY(fulcrum_context_show(question->context, result, err));
    if (answer->is_rising) {
        fulcrum_message_warn("%s still rises at %.6g %s: there is no plateau within "
                             "the range",
            metric, question->values.values[question->values.count - 1],
            noun_of(question));
    }
    return FULCRUM_OK;
}

/* Everything that is refused comes before the first prediction. */
static enum fulcrum_status find_answer(
    struct question *question, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = question->settings;
    struct fulcrum_subject *subject = &question->subject;
    TRY(fulcrum_subject_read(&settings->design, question->context, subject, err));
    TRY(read_axis(question, err));
    /* One of the ways in which the number of actors comes about. */
    const struct fulcrum_design_inputs *inputs = &subject->inputs;
    bool are_varied = question->values.field == fulcrum_field_find("run.actor_count");
    TRY(are_varied
            ? fulcrum_actors_rule_check(&settings->actors,
                  1 + !isnan(fulcrum_inputs_number(inputs, "run.actor_count")),
                  "the actors vary: no --actors, --actors-per-thread or --best-actors "
                  "goes with that",
                  question->context, err)
            : fulcrum_actors_settle(&settings->actors, inputs, question->context,
                  &question->actors, err));
    /* Those that know when they are best. */
    size_t *metric = &question->plan.metric;
    TRY(fulcrum_recommend_metric(
        question->settings->metric, question->context, metric, err));
    FULCRUM_USAGE_IF(fulcrum_output_sense(*metric) != FULCRUM_SENSE_MORE,
        question->context, err, FULCRUM_ERR_RANGE,
        "--metric %s: expected an output of which more is better",
        question->settings->metric);
    const struct fulcrum_sweep_axis axis = {
        question->values.field, question->values.values, question->values.count};
    struct fulcrum_fewest_plan *plan = &question->plan;
    plan->sweep = (struct fulcrum_sweep_plan){.axes = &axis,
        .axis_count = 1,
        .actors_per_thread = question->actors.per_thread,
        .actor_choices = question->actors.choices,
        .actor_choice_count = question->actors.choice_count};
    plan->share = settings->share_percent / 100.0;
    plan->watch = fulcrum_watch_show;
    plan->watcher = &question->watch;
    TRY(fulcrum_recommend_options(
        settings, question->context, &plan->sweep.predict, err));
    TRY(fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, err));
    plan->scenario = subject->scenario;
    fulcrum_watch_start(&question->watch, question->context, "draws");
    enum fulcrum_status status =
        fulcrum_fewest_answer_find(plan, &question->answer, err);
    fulcrum_progress_end(&question->watch);
    TRY(status);
    return show(question, err);
}

enum fulcrum_status fulcrum_recommend_fewest(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct question *question = fulcrum_allocate(1, sizeof *question);
    question->settings = settings;
    question->context = context;
    enum fulcrum_status status = find_answer(question, err);
    free(question->values.values);
    free(question->actors.choices);
    fulcrum_subject_clear(&question->subject);
    free(question);
    return status;
}
