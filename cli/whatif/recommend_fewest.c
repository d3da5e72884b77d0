/* recommend_fewest.c - fewest threads, or values of any field, for a share of the best.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question is put to one curve, a metric over the values of one field, and then to
 * the curve of each draw: the interval is that of the answers. Curves are asked for as
 * few places as the search needs (model/whatif/recommend.h). The actors of a place
 * follow the rule that `explore` has, and are those of the estimate in every draw.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/whatif/candidates.h"
#include "model/design/design.h"
#include "model/interval.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/study/sweep.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/result/quantity_text.h"

/* Draws behind the interval of an answer. */
#define FEWEST_DRAWS 48.0

/* Values beyond which a curve takes too much memory to be of use. */
enum { VALUES_MOST = 20000, FEW_PREDICTIONS = 50 };

/* Threads, and actors, that are looked at where no range is given. */
#define MOST_THREADS    1024.0
#define MOST_PER_THREAD 16.0
#define FEW_ACTORS      512.0

/* A metric that grows by more than this over the last quarter has no plateau yet. */
#define RISING_FRAC 0.01

struct question {
    const struct fulcrum_recommend_settings *settings;
    const struct fulcrum_design_inputs *inputs;
    struct fulcrum_context *context;
    struct fulcrum_sweep_axis axis;
    double *values; /* of the axis */
    double *actor_choices;
    struct fulcrum_sweep_plan plan;
    char actors_rule[96]; /* for people; "": the actors vary */
    size_t metric;
    struct fulcrum_sweep_probe *probe;
    struct fulcrum_sweep_point *points; /* as far as asked for */
    unsigned char *known;
    size_t draw; /* of the curve at hand; 0: the estimate */
    size_t predicted;
    const volatile sig_atomic_t *stop;
    struct fulcrum_progress progress;
};

/* What is answered. */
struct answer {
    struct fulcrum_fewest found; /* on the estimate's curve */
    struct fulcrum_interval value;
    struct fulcrum_interval metric; /* at the answer */
    struct fulcrum_interval best;
    double draws; /* that have an answer */
    bool is_rising;
    double error_rel; /* of the solver, at the answer */
    double best_error_rel;
    struct fulcrum_interval within; /* of the answer, as far as the solver goes */
};

/* Points whose estimate failed keep their status, and every draw of them fails too. */
static void know_point(struct question *question, size_t place)
{
    if (!question->known[place]) {
        question->known[place] = 1;
        enum fulcrum_status status = fulcrum_sweep_probe_point(
            question->probe, place, &question->points[place], NULL);
        question->predicted += status == FULCRUM_OK;
    }
}

/* A search that is over at once shows none. */
static void show_progress(struct question *question)
{
    if (question->predicted < FEW_PREDICTIONS) {
        return;
    }
    double curves = question->plan.predict.draws + 1.0;
    char stage[96];
    (void)snprintf(stage, sizeof stage, "%zu predictions", question->predicted);
    fulcrum_progress_update(
        &question->progress, (double)question->draw / curves, stage);
}

/* Of a fulcrum_asked_curve: the metric at a place, of the draw at hand. */
static enum fulcrum_status ask_curve(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    struct question *question = context;
    FAIL_IF(*question->stop != 0, err, FULCRUM_ERR_INTERRUPTED, "interrupted");
    know_point(question, place);
    const struct fulcrum_sweep_point *point = &question->points[place];
    double values[FULCRUM_OUTPUT_COUNT];
    *out = FULCRUM_UNKNOWN;
    if (point->status == FULCRUM_OK && question->draw == 0) {
        *out = point->prediction.value[question->metric];
    } else if (point->status == FULCRUM_OK) {
        question->predicted++;
        if (fulcrum_sweep_probe_draw(
                question->probe, point, question->draw, values, NULL) == FULCRUM_OK) {
            *out = values[question->metric];
        }
    }
    show_progress(question);
    return FULCRUM_OK;
}

/* Columns of numbers over the draws. */
struct columns {
    double *value;
    double *metric;
    double *best;
};

static enum fulcrum_status ask_draws(struct question *question, struct answer *answer,
    const struct columns *columns, struct fulcrum_error *err)
{
    size_t count = 0;
    size_t metric_count = 0;
    double share = question->settings->share_percent / 100.0;
    size_t draw_count = (size_t)question->plan.predict.draws;
    const struct fulcrum_asked_curve curve = {
        ask_curve, question, question->axis.count};
    for (question->draw = 1; question->draw <= draw_count; question->draw++) {
        struct fulcrum_fewest found;
        enum fulcrum_status status = fulcrum_fewest_find(&curve, share, &found, err);
        if (status == FULCRUM_OK) {
            columns->value[count] = question->values[found.place];
            columns->best[count++] = found.best_value;
        } else if (status != FULCRUM_ERR_INFEASIBLE) {
            return status;
        }
        double at_answer = FULCRUM_UNKNOWN;
        status = ask_curve(question, answer->found.place, &at_answer, err);
        if (status == FULCRUM_OK && !isnan(at_answer)) {
            columns->metric[metric_count++] = at_answer;
        }
    }
    answer->draws = (double)count;
    answer->value = fulcrum_interval_among(columns->value, count);
    answer->best = fulcrum_interval_of(columns->best, count);
    answer->metric = fulcrum_interval_of(columns->metric, metric_count);
    return FULCRUM_OK;
}

/* A curve of which no more is asked than whether it reaches a threshold, where values
 * are wrong by their errors, all up or all down.
 */
struct shifted {
    struct question *question;
    double threshold;
    double sign;
    size_t best; /* its share of itself is not off */
    double best_error_rel;
};

/* Of a fulcrum_asked_curve. */
static enum fulcrum_status ask_shifted(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    const struct shifted *shifted = context;
    TRY(ask_curve(shifted->question, place, out, err));
    if (!isnan(*out)) {
        double own_rel = shifted->question->points[place].prediction.solver_error_rel;
        double error_rel =
            place == shifted->best ? 0.0 : hypot(own_rel, shifted->best_error_rel);
        *out = fmin(*out * (1.0 + shifted->sign * error_rel), shifted->threshold);
    }
    return FULCRUM_OK;
}

/* The answer if every value were as far up, or down, as it may be. */
static enum fulcrum_status shift_answer(struct question *question,
    struct answer *answer, double sign, double *out, struct fulcrum_error *err)
{
    struct shifted shifted = {question,
        question->settings->share_percent / 100.0 * answer->found.best_value, sign,
        answer->found.best, answer->best_error_rel};
    /* The best is the last place that the answer can be. */
    const struct fulcrum_asked_curve curve = {
        ask_shifted, &shifted, answer->found.best + 1};
    struct fulcrum_fewest found;
    TRY(fulcrum_fewest_find(&curve, 1.0, &found, err));
    *out = question->values[found.place];
    return FULCRUM_OK;
}

static enum fulcrum_status ask_solver(
    struct question *question, struct answer *answer, struct fulcrum_error *err)
{
    const struct fulcrum_fewest *found = &answer->found;
    answer->error_rel = question->points[found->place].prediction.solver_error_rel;
    answer->best_error_rel = question->points[found->best].prediction.solver_error_rel;
    answer->within = (struct fulcrum_interval){FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    /* Whether a metric is off by as much as the rate, of which a solver tells its
     * error. */
    size_t metric = question->metric;
    bool goes_with_rate = metric == FULCRUM_OUTPUT_steps_per_s ||
                          metric == FULCRUM_OUTPUT_frames_per_s ||
                          metric == FULCRUM_OUTPUT_steps_per_j_gpu ||
                          metric == FULCRUM_OUTPUT_steps_per_j_system;
    if (!goes_with_rate) {
        return FULCRUM_OK;
    }
    double lo = 0.0;
    double hi = 0.0;
    TRY(shift_answer(question, answer, 1.0, &lo, err));
    TRY(shift_answer(question, answer, -1.0, &hi, err));
    /* Errors change by leaps, which a search may step over. */
    double at = question->values[found->place];
    answer->within = (struct fulcrum_interval){fmin(lo, at), fmax(hi, at)};
    return FULCRUM_OK;
}

static enum fulcrum_status ask_estimate(
    struct question *question, struct answer *answer, struct fulcrum_error *err)
{
    size_t count = question->axis.count;
    const struct fulcrum_asked_curve curve = {ask_curve, question, count};
    enum fulcrum_status status = fulcrum_fewest_find(
        &curve, question->settings->share_percent / 100.0, &answer->found, err);
    if (status == FULCRUM_ERR_INFEASIBLE) {
        /* All points fail alike, most often: the first one says why. */
        TRY(fulcrum_sweep_probe_point(question->probe, question->axis.count - 1,
            &question->points[question->axis.count - 1], err));
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s is not known at any value of %s", fulcrum_output_name(question->metric),
            question->axis.field->path);
    }
    TRY(status);
    double before = FULCRUM_UNKNOWN;
    double last = FULCRUM_UNKNOWN;
    TRY(ask_curve(question, (count - 1) - (count - 1) / 4, &before, err));
    TRY(ask_curve(question, count - 1, &last, err));
    answer->is_rising = count > 1 && last > (1.0 + RISING_FRAC) * before;
    return ask_solver(question, answer, err);
}

static enum fulcrum_status ask(
    struct question *question, struct answer *answer, struct fulcrum_error *err)
{
    size_t draw_count = (size_t)question->plan.predict.draws;
    double *numbers = calloc(3 * draw_count + 1, sizeof *numbers);
    TRY_MEMORY(numbers, err, "draws of an answer");
    const struct columns columns = {
        numbers, numbers + draw_count, numbers + 2 * draw_count};
    fulcrum_progress_start(&question->progress, question->context);
    enum fulcrum_status status = ask_estimate(question, answer, err);
    if (status == FULCRUM_OK) {
        status = ask_draws(question, answer, &columns, err);
    }
    fulcrum_progress_end(&question->progress);
    free(numbers);
    return status;
}

static enum fulcrum_status fill_values(struct question *question, double first,
    double last, double step, struct fulcrum_error *err)
{
    double length = floor((last - first) / step) + 1.0;
    size_t count = length >= 1.0 ? (size_t)fmin(length, VALUES_MOST) : 1;
    question->values = calloc(count, sizeof *question->values);
    TRY_MEMORY(question->values, err, "a range");
    for (size_t i = 0; i < count; i++) {
        question->values[i] = first + step * (double)i;
    }
    question->axis.count = count;
    return FULCRUM_OK;
}

/* The number that a setting gives, or the preset. */
static double number_of(const struct question *question, const char *path)
{
    const struct fulcrum_design_inputs *inputs = question->inputs;
    const struct fulcrum_field *field = fulcrum_field_find(path);
    double value = fulcrum_field_number(field, &inputs->base);
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == field) {
            value = inputs->settings[i].number;
        }
    }
    return value;
}

/* Whole cores, up to well beyond the machine's own. */
static enum fulcrum_status fill_threads(
    struct question *question, struct fulcrum_error *err)
{
    double threads = number_of(question, "machine.cpu.thread_count");
    double cores = number_of(question, "machine.cpu.core_count");
    double step = threads > cores && cores > 0.0 ? round(threads / cores) : 1.0;
    double last = threads > 0.0 ? fmax(MOST_THREADS, 2.0 * threads) : MOST_THREADS;
    return fill_values(question, step, last, step, err);
}

/* What the GPUs in use can share, up to many to a thread. */
static enum fulcrum_status fill_actors(
    struct question *question, struct fulcrum_error *err)
{
    double threads = number_of(question, "machine.cpu.thread_count");
    bool has_gpu =
        question->inputs->base.machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    double step =
        number_of(question, has_gpu ? "run.gpu_count" : "machine.learner_core_count");
    double last =
        threads > 0.0 ? fmax(FEW_ACTORS, MOST_PER_THREAD * threads) : FEW_ACTORS;
    return fill_values(question, step, last, step, err);
}

static enum fulcrum_status read_range(struct question *question, const char *option,
    const char *range, struct fulcrum_error *err)
{
    size_t count = 0;
    enum fulcrum_status status = fulcrum_range_parse(
        question->axis.field, range, &question->values, &count, err);
    if (status == FULCRUM_OK && count > VALUES_MOST) {
        status = fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "%s: %zu values, expected at most %d", range, count, (int)VALUES_MOST);
    }
    if (status != FULCRUM_OK) {
        question->context->exit_code = 2;
        return fulcrum_fail_in(err, status, option);
    }
    question->axis.count = count;
    return FULCRUM_OK;
}

static enum fulcrum_status read_axis(
    struct question *question, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = question->settings;
    if (strcmp(settings->question, "fewest") == 0) {
        /* "PATH=RANGE" of --vary. */
        const char *text = question->settings->vary;
        char path[96];
        size_t length = text != NULL ? strcspn(text, "=") : 0;
        FULCRUM_USAGE_IF(length == 0 || length >= sizeof path || text[length] != '=',
            question->context, err, FULCRUM_ERR_FORMAT,
            "recommend fewest takes --vary PATH=RANGE, such as "
            "run.sm_count=4:80:4");
        (void)snprintf(path, sizeof path, "%.*s", (int)length, text);
        question->axis.field = fulcrum_field_parse(path, question->context, err);
        if (question->axis.field == NULL) {
            return fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
        }
        return read_range(question, "--vary", text + length + 1, err);
    }
    FULCRUM_USAGE_IF(settings->vary != NULL, question->context, err, FULCRUM_ERR_RANGE,
        "--vary goes with 'recommend fewest': --range gives the %s",
        settings->question);
    int are_threads = strcmp(settings->question, "threads") == 0;
    question->axis.field = fulcrum_field_find(
        are_threads ? "machine.cpu.thread_count" : "run.actor_count");
    FAIL_IF(question->axis.field == NULL, err, FULCRUM_ERR_UNKNOWN_NAME, "%s",
        settings->question);
    if (settings->range != NULL) {
        return read_range(question, "--range", settings->range, err);
    }
    return are_threads ? fill_threads(question, err) : fill_actors(question, err);
}

/* One of the ways in which the number of actors comes about. */
static enum fulcrum_status read_actors_rule(
    struct question *question, struct fulcrum_error *err)
{
    const struct fulcrum_actors_rule *rule = &question->settings->actors;
    int varies = question->axis.field == fulcrum_field_find("run.actor_count");
    double count = number_of(question, "run.actor_count");
    TRY(fulcrum_actors_rule_check(rule, varies + !isnan(count),
        varies ? "the actors vary: no --actors, --actors-per-thread or --best-actors "
                 "goes with that"
               : "give the number of actors in one way: --actors, --actors-per-thread "
                 "or --best-actors",
        question->context, err));
    TRY(fulcrum_actors_rule_choices(rule, &question->actor_choices,
        &question->plan.actor_choice_count, question->context, err));
    question->plan.actor_choices = question->actor_choices;
    char *text = question->actors_rule;
    size_t size = sizeof question->actors_rule;
    if (rule->best_of != NULL) {
        fulcrum_actors_rule_text(rule, text, size);
    } else if (!isnan(count)) {
        (void)snprintf(text, size, "%.6g", count);
    } else if (!varies && isnan(rule->per_thread) &&
               fulcrum_design_is_resident(&question->inputs->base)) {
        (void)snprintf(text, size, "%s", fulcrum_actors_rule_none);
    } else if (!varies) {
        question->plan.actors_per_thread = fulcrum_actors_rule_per_thread(rule);
        fulcrum_actors_rule_text(rule, text, size);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_metric(
    struct question *question, struct fulcrum_error *err)
{
    TRY(fulcrum_recommend_metric(question->settings->metric, FULCRUM_OUTPUT_steps_per_s,
        question->context, &question->metric, err));
    FULCRUM_USAGE_IF(fulcrum_output_sense(question->metric) != FULCRUM_SENSE_MORE,
        question->context, err, FULCRUM_ERR_RANGE,
        "--metric %s: expected an output of which more is better",
        question->settings->metric);
    return FULCRUM_OK;
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
    const char *path = question->axis.field->path;
    for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
        if (strcmp(path, nouns[i][0]) == 0) {
            return nouns[i][1];
        }
    }
    return path;
}

/* "1 of 8 GPUs; actors: 6.4 per hardware thread": what the question leaves as it is. */
static void add_run(struct fulcrum_result *result, const struct question *question)
{
    struct fulcrum_string text = {0};
    if (question->inputs->base.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
        question->axis.field != fulcrum_field_find("run.gpu_count")) {
        fulcrum_string_add(&text, "%.6g of %.6g GPUs",
            number_of(question, "run.gpu_count"),
            number_of(question, "machine.gpu.count"));
    }
    if (question->actors_rule[0] != '\0') {
        fulcrum_string_add(
            &text, "%sactors: %s", text.length > 0 ? "; " : "", question->actors_rule);
    }
    fulcrum_result_text(result, "run", "run", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

/* The answer in one sentence. */
static void add_finding(struct fulcrum_result *result, const struct question *question,
    const struct answer *answer)
{
    const struct fulcrum_sweep_axis *axis = &question->axis;
    const char *metric = fulcrum_output_name(question->metric);
    char best[FULCRUM_QUANTITY_SIZE];
    struct fulcrum_string text = {0};
    fulcrum_quantity_plain(answer->found.best_value, fulcrum_unit_of(metric), best);
    fulcrum_string_add(
        &text, "%.6g %s", axis->values[answer->found.place], noun_of(question));
    if (!isnan(answer->value.lo)) {
        fulcrum_string_add(&text, " (90 %% interval %.6g to %.6g)", answer->value.lo,
            answer->value.hi);
    }
    fulcrum_string_add(&text, " reach %.4g %% of the best %s, %s, which %.6g have",
        question->settings->share_percent, metric, best,
        axis->values[answer->found.best]);
    fulcrum_result_text(result, "finding", "found", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

static void add_row(struct fulcrum_table *table, const char *name, double value,
    struct fulcrum_interval interval, const char *meaning)
{
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", "quantity", name);
    fulcrum_table_number(table, "value", "value", value);
    fulcrum_table_number(table, "lo", "5 %", interval.lo);
    fulcrum_table_number(table, "hi", "95 %", interval.hi);
    fulcrum_table_text(table, "meaning", "meaning", meaning);
}

static void add_answer(struct fulcrum_table *table, const struct question *question,
    const struct answer *answer)
{
    static const struct fulcrum_interval none = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    const struct fulcrum_fewest *found = &answer->found;
    const char *metric = fulcrum_output_name(question->metric);
    char best[80];
    char best_at[140];
    (void)snprintf(best, sizeof best, "best_%s", metric);
    (void)snprintf(best_at, sizeof best_at, "best_%s", question->axis.field->path);
    add_row(table, question->axis.field->path, question->values[found->place],
        answer->value, "fewest that reach the share of the best");
    add_row(table, metric, found->value, answer->metric, "there");
    add_row(table, "actor_count", question->points[found->place].prediction.actor_count,
        none, "there");
    add_row(table, best, found->best_value, answer->best, "best of the range");
    add_row(table, best_at, question->values[found->best], none, "where it is");
    add_row(table, "share_frac", found->value / found->best_value, none,
        "of the best, where the fewest are");
    add_row(table, "draw_count", answer->draws, none, "draws that have an answer");
    add_row(table, "prediction_count", (double)question->predicted, none,
        "points and draws that were predicted");
    add_row(table, "grid_count",
        (double)question->axis.count * (question->plan.predict.draws + 1.0), none,
        "what the whole range would have taken");
    add_row(table, "wiggle_frac", found->wiggle_frac, none,
        "deepest valley of the curve: 0 where it rises, or rises and falls");
    add_row(table, "solver_error_rel", answer->error_rel, none,
        "of steps_per_s there, at 95 %: not among the draws");
    add_row(table, "best_solver_error_rel", answer->best_error_rel, none,
        "of steps_per_s where the best is, likewise");
    add_row(table, "within_solver_error", question->values[found->place],
        answer->within, "the fewest again; ends by the solver's error, not by draws");
}

/* What of the answer is the solver's, where that changes anything. */
static void add_note(struct fulcrum_result *result, const struct question *question,
    const struct answer *answer, enum fulcrum_method method)
{
    const struct fulcrum_interval *within = &answer->within;
    fulcrum_result_note(result, "notes", NULL);
    if (within->hi > within->lo) {
        fulcrum_result_note_print(result, "notes",
            "the share lies within the solver's error (%.2g %% at the answer, %.2g %% "
            "at the best): as far as that goes, the fewest are from %.6g to %.6g %s%s",
            100.0 * answer->error_rel, 100.0 * answer->best_error_rel, within->lo,
            within->hi, noun_of(question),
            method == FULCRUM_METHOD_SIMULATE ? ""
                                              : "; --method simulate knows better");
    }
}

static enum fulcrum_status show(const struct question *question,
    const struct answer *answer, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_design *base = &question->inputs->base;
    const char *metric = fulcrum_output_name(question->metric);
    enum fulcrum_method method =
        question->points[answer->found.place].prediction.method;
    char calibrations[200];
    fulcrum_calibration_names(question->inputs, calibrations, sizeof calibrations);
    fulcrum_result_text(result, "question", NULL, question->settings->question);
    fulcrum_result_text(result, "machine", "machine", base->machine.name);
    fulcrum_result_text(result, "workload", "workload", base->workload.name);
    fulcrum_result_text(result, "calibration", "calibration", calibrations);
    add_run(result, question);
    fulcrum_result_text(result, "field", NULL, question->axis.field->path);
    fulcrum_result_text(result, "metric", NULL, metric);
    fulcrum_result_number(
        result, "wanted_share_frac", NULL, question->settings->share_percent / 100.0);
    fulcrum_result_flag(result, "still_rising", NULL, answer->is_rising);
    fulcrum_result_text(result, "method", "method", fulcrum_method_name(method));
    fulcrum_result_number(result, "solver_error_rel", NULL, answer->error_rel);
    add_finding(result, question, answer);
    add_answer(fulcrum_result_table(result, "answer", ""), question, answer);
    add_note(result, question, answer, method);
    TRY(fulcrum_context_show(question->context, result, err));
    if (answer->is_rising) {
        fulcrum_message_warn("%s still rises at %.6g %s: there is no plateau within "
                             "the range",
            metric, question->values[question->axis.count - 1], noun_of(question));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status answer_question(
    struct question *question, struct fulcrum_error *err)
{
    /* Draws are asked for one by one. */
    struct fulcrum_sweep_plan single = question->plan;
    single.predict.draws = 0.0;
    struct fulcrum_scenario *scenario = NULL;
    struct answer answer = {.is_rising = 0};
    question->points = calloc(question->axis.count, sizeof *question->points);
    question->known = calloc(question->axis.count, sizeof *question->known);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(question->points != NULL && question->known != NULL
                   ? fulcrum_scenario_new(&question->inputs->scenario, &scenario, err)
                   : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "points of a curve"));
    TRY_OR_END(fulcrum_sweep_probe_new(scenario, &single, &question->probe, err));
    question->stop = fulcrum_interrupt_watch();
    TRY_OR_END(ask(question, &answer, err));
    status = show(question, &answer, err);
end:
    fulcrum_sweep_probe_free(question->probe);
    fulcrum_scenario_free(scenario);
    free(question->points);
    free(question->known);
    return status;
}

enum fulcrum_status fulcrum_recommend_fewest(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_design_inputs *inputs = fulcrum_allocate(1, sizeof *inputs);
    struct question question = {
        .settings = settings, .inputs = inputs, .context = context};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_design_inputs_load(&settings->design, context, inputs, err));
    /* Everything that is refused comes before the first prediction. */
    TRY_OR_END(read_axis(&question, err));
    TRY_OR_END(read_actors_rule(&question, err));
    TRY_OR_END(read_metric(&question, err));
    question.axis.values = question.values;
    question.plan.axes = &question.axis;
    question.plan.axis_count = 1;
    TRY_OR_END(fulcrum_recommend_options(
        settings, FEWEST_DRAWS, context, &question.plan.predict, err));
    status = answer_question(&question, err);
end:
    free(question.values);
    free(question.actor_choices);
    fulcrum_design_inputs_free(inputs);
    free(inputs);
    return status;
}
