/* cmd_measure.c - `fulcrum measure`: the real pipeline, beside its prediction. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors, central inference and, if wanted, training run for real on this machine, one
 * configuration after the other. A calibration that was taken beforehand, and has seen
 * none of it, says what to expect; the errors are what the model is worth here.
 */
#define _POSIX_C_SOURCE 200809L /* access, getcwd */

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/measure.h"
#include "calibrate/measured_reference.h"
#include "calibrate/reference_prediction.h"
#include "cli/actor_options.h"
#include "cli/command.h"
#include "cli/design_options.h"
#include "cli/learner_options.h"
#include "cli/measure_record.h"
#include "cli/measure_report.h"
#include "cli/message.h"
#include "cli/range.h"
#include "cli/watch.h"
#include "presets/json.h"
#include "presets/output.h"
#include "presets/preset.h"
#include "presets/reference_save.h"

/* Where the reference goes unless told. */
static const char standard_path[] = "measured.json";

enum { RULES_MOST = 8 };

struct settings {
    struct fulcrum_actor_settings actor;
    struct fulcrum_learner_settings learner;
    const char *calibration;
    const char *actors;
    const char *envs;
    struct fulcrum_text_list batching;
    int trains;
    const char *actor_cpus;
    const char *server_cpus;
    double window_s;
    double windows;
    double most_windows;
    double wait_s;
    double train_steps;
    double steps_per_copy;
    double seed;
    const char *name;
    double record_pairs;
    const char *trace;
};

/* A batching rule as on the command line. */
struct rule {
    enum fulcrum_batch_policy policy;
    double size;
    double population_frac;
};

/* Everything that one run of the command works with. */
struct job {
    const struct settings *settings;
    struct fulcrum_design base; /* machine and workload before anything is measured */
    struct fulcrum_calibration *calibration; /* NULL: none */
    struct rule rules[RULES_MOST];
    size_t rule_count;
    double *actors;
    size_t actor_count;
    double *envs;
    size_t env_count;
    struct fulcrum_measure_config *configs;
    struct fulcrum_measure_options options;
    struct fulcrum_measurement *found;
    struct fulcrum_reference *reference;
    struct fulcrum_prediction *predictions;
    struct fulcrum_measure_record record;
    char *calibration_path; /* from the root; owned */
};

/* "greedy", "half", "fixed:32", "greedy:64". */
static enum fulcrum_status read_rule(const char *text, struct rule *out,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    int is_greedy = length == 6 && strncmp(text, "greedy", length) == 0;
    int is_fixed = length == 5 && strncmp(text, "fixed", length) == 0;
    int is_half = strcmp(text, "half") == 0;
    double size = 0.0;
    int is_wrong = !(is_greedy || is_half || (is_fixed && colon != NULL));
    if (!is_wrong && colon != NULL) {
        is_wrong =
            fulcrum_number_parse("--batching", colon + 1, &size, NULL) != FULCRUM_OK ||
            !(size >= 1.0 && size <= 1e6 && size == floor(size));
    }
    if (is_wrong) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_FORMAT,
            "--batching %s: expected greedy, greedy:N (at most N observations), half "
            "(of all environments, as SEED RL waits) or fixed:N",
            text);
    }
    *out =
        (struct rule){.policy = is_greedy ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED,
            .size = size,
            .population_frac = is_half ? 0.5 : 0.0};
    return FULCRUM_OK;
}

static enum fulcrum_status read_rules(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *given = &job->settings->batching;
    if (given->count > RULES_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--batching is given %zu times: at most %d", given->count, (int)RULES_MOST);
    }
    job->rules[0] = (struct rule){.policy = FULCRUM_BATCH_GREEDY};
    job->rule_count = given->count > 0 ? given->count : 1;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < given->count && status == FULCRUM_OK; i++) {
        status = read_rule(given->items[i], &job->rules[i], context, err);
    }
    return status;
}

/* A range of counts as on the command line. */
struct count_range {
    const char *option;
    const char *path; /* of the field whose range holds */
    const char *text;
    double **values;
    size_t *count;
};

static enum fulcrum_status read_ranges(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    const struct count_range ranges[] = {
        {"--actors", "run.actor_count", settings->actors, &job->actors,
            &job->actor_count},
        {"--envs", "run.envs_per_actor", settings->envs, &job->envs, &job->env_count},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct count_range *range = &ranges[i];
        struct fulcrum_error why = {FULCRUM_OK, ""};
        enum fulcrum_status status =
            fulcrum_range_parse(fulcrum_field_find(range->path), range->text,
                range->values, range->count, &why);
        if (status != FULCRUM_OK) {
            return fulcrum_usage_fail(context, err, status, "%s %s: %s", range->option,
                range->text, why.detail);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status make_configs(struct job *job, struct fulcrum_error *err)
{
    size_t count = job->rule_count * job->env_count * job->actor_count;
    job->configs = calloc(count + 1, sizeof *job->configs);
    if (job->configs == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu configurations", count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &job->rules[i / (job->env_count * job->actor_count)];
        double envs = job->envs[i / job->actor_count % job->env_count];
        job->configs[i] = (struct fulcrum_measure_config){
            .actor_count = (size_t)job->actors[i % job->actor_count],
            .envs_per_actor = (size_t)envs,
            .policy = rule->policy,
            .batch_size = rule->size,
            .population_frac = rule->population_frac};
    }
    job->options.configs = job->configs;
    job->options.config_count = count;
    return FULCRUM_OK;
}

/* What trains, as the workload says. */
static enum fulcrum_status read_training(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_workload_training *training = &job->base.workload.training;
    if (!job->settings->trains) {
        return FULCRUM_OK;
    }
    int is_whole =
        training->env_steps_per_train_step > 0.0 && training->batch_size >= 1.0;
    if (job->settings->learner.workload == NULL || !is_whole) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "--train needs a --workload with training.env_steps_per_train_step and "
            "training.batch_size");
    }
    job->options.training = (struct fulcrum_measure_training){
        .env_steps_per_train_step = training->env_steps_per_train_step,
        .queue_train_steps = training->queue_train_steps,
        .batch = (size_t)training->batch_size,
        .unroll = isnan(training->unroll_length) ? 1 : (size_t)training->unroll_length,
        .burn_in =
            isnan(training->burn_in_length) ? 0 : (size_t)training->burn_in_length,
        .steps_per_copy = (size_t)job->settings->steps_per_copy};
    return FULCRUM_OK;
}

static enum fulcrum_status read_cpus(const char *option, const char *text,
    struct fulcrum_cpu_list *out, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (text == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_cpu_list_read(out, text, &why);
    return status == FULCRUM_OK
               ? status
               : fulcrum_usage_fail(context, err, status, "%s: %s", option, why.detail);
}

static enum fulcrum_status read_placement(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    struct fulcrum_placement *placement = &job->options.placement;
    enum fulcrum_status status = read_cpus(
        "--actor-cpus", settings->actor_cpus, &placement->actors, context, err);
    return status == FULCRUM_OK ? read_cpus("--server-cpus", settings->server_cpus,
                                      &placement->server, context, err)
                                : status;
}

static const char *note_of(
    const struct fulcrum_calibration *calibration, const char *key)
{
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) == 0) {
            return calibration->notes[i].text;
        }
    }
    return "";
}

/* One of another environment or network says nothing of this run. */
static enum fulcrum_status check_calibration(
    const struct job *job, struct fulcrum_error *err)
{
    char wanted[96];
    const char *actor = job->settings->actor.actor;
    const char *has_actor = note_of(job->calibration, "actor");
    const char *has_learner = note_of(job->calibration, "learner");
    (void)snprintf(wanted, sizeof wanted, "%s, network %s",
        job->settings->learner.learner,
        fulcrum_learner_network_name(job->options.network));
    if (has_learner[0] != '\0' && strcmp(has_learner, wanted) != 0) {
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s was taken with learner %s; this run has %s", job->settings->calibration,
            has_learner, wanted);
    }
    size_t length = strcspn(has_actor, " :");
    if (actor != NULL && length > 0 &&
        (strlen(actor) != length || strncmp(has_actor, actor, length) != 0)) {
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s was taken with actor %.*s; this run has %s", job->settings->calibration,
            (int)length, has_actor, actor);
    }
    return FULCRUM_OK;
}

/* Later it is too late to find out that there is no such file. */
static enum fulcrum_status read_calibration(struct job *job, struct fulcrum_error *err)
{
    if (job->settings->calibration == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status =
        fulcrum_calibration_load(job->settings->calibration, &job->calibration, err);
    return status == FULCRUM_OK ? check_calibration(job, err) : status;
}

/* Priors of the machine, and the workload; one that fits the network where none is
 * named. */
static enum fulcrum_status read_base(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_learner_settings settings = job->settings->learner;
    if (settings.workload == NULL) {
        settings.workload = settings.network == FULCRUM_NETWORK_R2D2
                                ? "r2d2-atari"
                                : "ppo-mujoco-humanoid";
    }
    struct fulcrum_design design;
    enum fulcrum_status status =
        fulcrum_learner_settings_read(&settings, context, &design, err);
    fulcrum_design_init(&job->base);
    if (status == FULCRUM_OK) {
        status = fulcrum_machine_find("this", &job->base, NULL, err);
    }
    job->base.workload = design.workload;
    return status;
}

static enum fulcrum_status read_job(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    job->options = (struct fulcrum_measure_options){.actor = settings->actor.actor,
        .actor_options = fulcrum_actor_settings_options(&settings->actor),
        .learner = settings->learner.learner,
        .device_index = (size_t)settings->learner.device,
        .sm_count = isnan(settings->learner.sms) ? 0.0 : settings->learner.sms,
        .network = (enum fulcrum_learner_network)settings->learner.network,
        .seed = (uint64_t)settings->seed,
        .window_s = settings->window_s,
        .window_count = (size_t)settings->windows,
        .most_windows = (size_t)fmax(settings->most_windows, settings->windows),
        .calm_wait_s = settings->wait_s,
        .train_steps_least = settings->train_steps};
    enum fulcrum_status status =
        fulcrum_actor_settings_check(&settings->actor, context, err);
    if (status == FULCRUM_OK) {
        status = read_base(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = read_training(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = read_rules(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = read_ranges(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = make_configs(job, err);
    }
    if (status == FULCRUM_OK) {
        status = read_placement(job, context, err);
    }
    return status == FULCRUM_OK ? read_calibration(job, err) : status;
}

static void clear_job(struct job *job)
{
    free(job->actors);
    free(job->envs);
    free(job->configs);
    free(job->predictions);
    free(job->calibration_path);
    fulcrum_reference_free(job->reference);
    fulcrum_calibration_free(job->calibration);
    fulcrum_measurement_free(job->found);
    fulcrum_measure_record_clear(&job->record);
}

/* NULL: standard output gets the document, and no file is written. */
static const char *output_path(const struct fulcrum_context *context)
{
    return context->output_path != NULL ? context->output_path : standard_path;
}

/* NULL: a path from the root already, or a preset's name, which is that of no file. */
static char *path_from_root(const char *name)
{
    char folder[1024];
    if (name[0] == '/' || access(name, R_OK) != 0 ||
        getcwd(folder, sizeof folder) == NULL) {
        return NULL;
    }
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = calloc(size, sizeof *path);
    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

/*
 * The calibration as the reference's file names it: relative paths of a file start in
 * its folder, so one that lies there is named alone, and another from the root.
 */
static const char *calibration_name(struct job *job, const char *path)
{
    const char *name = job->settings->calibration;
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (name == NULL || strncmp(name, path, folder) == 0) {
        return name != NULL ? name + folder : NULL;
    }
    job->calibration_path = path_from_root(name);
    return job->calibration_path != NULL ? job->calibration_path : name;
}

static enum fulcrum_status make_reference(
    struct job *job, const char *path, struct fulcrum_error *err)
{
    const char *name = job->settings->name;
    struct fulcrum_measured_plan plan = {.measurement = job->found,
        .calibration = job->calibration,
        .calibration_name = calibration_name(job, path),
        .base = &job->base,
        .training = &job->options.training,
        .name = name != NULL ? name : "measured"};
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_measured_reference(&plan, &job->reference, &why);
    if (status != FULCRUM_ERR_MISSING || job->calibration == NULL) {
        return status == FULCRUM_OK ? status
                                    : fulcrum_fail(err, status, "%s", why.detail);
    }
    /* What was measured is kept, whatever the calibration lacks. */
    fulcrum_message_warn("nothing is predicted: %s", why.detail);
    fulcrum_calibration_free(job->calibration);
    job->calibration = NULL;
    plan.calibration = NULL;
    return fulcrum_measured_reference(&plan, &job->reference, err);
}

/* What cannot be predicted is told, and costs nothing that was measured. */
static void predict(struct job *job, struct fulcrum_context *context)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (job->calibration == NULL) {
        return;
    }
    job->predictions = calloc(job->reference->point_count, sizeof *job->predictions);
    enum fulcrum_status status =
        job->predictions != NULL
            ? fulcrum_reference_predict(
                  job->reference, job->calibration, job->predictions, NULL, &why)
            : fulcrum_fail(&why, FULCRUM_ERR_NO_MEMORY, "predictions");
    if (status == FULCRUM_OK && job->record.run_count > 0) {
        status = fulcrum_measure_record_predict(&job->record, job->found,
            job->reference, job->calibration, job->predictions, &why);
    }
    if (status != FULCRUM_OK) {
        fulcrum_message_warn("nothing is predicted: %s", why.detail);
        free(job->predictions);
        job->predictions = NULL;
        context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
    }
}

static enum fulcrum_status print(
    const struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_result result = {.measurement = job->found,
        .predictions = job->predictions,
        .calibration = job->calibration};
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-measure");
        fulcrum_measure_report_to_json(&result, document);
        if (job->record.run_count > 0) {
            fulcrum_stage_report_to_json(
                job->record.runs, job->record.run_count, document);
        }
        return fulcrum_report_print_document(document, context, err);
    }
    struct fulcrum_column room[FULCRUM_MEASURE_COLUMNS];
    int is_for_people = context->format == FULCRUM_FORMAT_TABLE;
    struct fulcrum_report *points =
        fulcrum_measure_report_points(&result, is_for_people, room);
    enum fulcrum_status status =
        fulcrum_report_print(points, "fulcrum-measure", context, err);
    fulcrum_report_free(points);
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE) {
        (void)fputc('\n', context->out);
        fulcrum_measure_report_notes(&result, context->out);
        if (job->record.run_count > 0) {
            (void)fputc('\n', context->out);
            status = fulcrum_stage_report_print(
                job->record.runs, job->record.run_count, context, err);
        }
    }
    return status;
}

/* Points that failed are named; the others are kept, and the exit code tells. */
static void tell_failures(const struct job *job, struct fulcrum_context *context)
{
    for (size_t i = 0; i < job->found->count; i++) {
        const struct fulcrum_measured *item = &job->found->items[i];
        if (item->failure[0] != '\0') {
            char rule[48];
            fulcrum_measured_series(&item->config, rule, sizeof rule);
            fulcrum_message_warn(
                "%zu actors, %s: %s", item->config.actor_count, rule, item->failure);
            context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
        }
    }
}

static enum fulcrum_status hand_out(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = output_path(context);
    tell_failures(job, context);
    enum fulcrum_status status = make_reference(job, path, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_reference_save(job->reference, path, err);
    }
    if (status != FULCRUM_OK || strcmp(path, "-") == 0) {
        return status;
    }
    fulcrum_message_note(context, "%s%s%s%s%s", path,
        job->calibration != NULL ? ": `fulcrum validate " : "",
        job->calibration != NULL ? path : "",
        job->calibration != NULL ? "` predicts it again" : "",
        job->found->is_complete ? "" : "; stopped early");
    predict(job, context);
    return print(job, context, err);
}

/* Where the time goes, in windows of its own: with a recorder and without, by turns. */
static enum fulcrum_status take_record(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_measure_stages_options options = {.measure = &job->options,
        .pair_count = (size_t)job->settings->record_pairs,
        .trace_path = job->settings->trace};
    return options.pair_count > 0
               ? fulcrum_measure_record_take(&job->record, &options, err)
               : FULCRUM_OK;
}

static enum fulcrum_status measure(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_watch watch;
    fulcrum_watch_start(&watch, context);
    job->options.stop = fulcrum_watch_stops;
    job->options.progress = fulcrum_watch_show;
    job->options.user = &watch;
    enum fulcrum_status status = fulcrum_measure(&job->found, &job->options, err);
    if (status == FULCRUM_OK) {
        status = take_record(job, err);
    }
    fulcrum_watch_end(&watch);
    if (job->found == NULL) {
        return status;
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        fulcrum_message_note(context, "%s", err != NULL ? err->detail : "stopped");
        status = FULCRUM_OK;
    }
    /* What was measured is kept even where the recording failed. */
    enum fulcrum_status handed =
        hand_out(job, context, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? handed : status;
}

static enum fulcrum_status check_trace(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    return settings->record_pairs < 1.0
               ? fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
                     "--trace %s needs --record: nothing is recorded without it",
                     settings->trace)
               : fulcrum_output_check(settings->trace, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data};
    enum fulcrum_status status = read_job(&job, context, err);
    if (status == FULCRUM_OK && job.settings->trace != NULL) {
        status = check_trace(job.settings, context, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_output_check(output_path(context), err);
    }
    if (status == FULCRUM_OK) {
        status = measure(&job, context, err);
    }
    clear_job(&job);
    return status;
}

#define SETTING(member) offsetof(struct settings, member)

static const struct fulcrum_option what_rows[] = {
    {.name = "actors",
        .letter = 'a',
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(actors),
        .value = "RANGE",
        .fallback = "1:64:x2",
        .help = "numbers of actors, as for `explore --vary`"},
    {.name = "envs",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(envs),
        .value = "RANGE",
        .fallback = "1",
        .help = "environments that each actor steps in turn"},
    {.name = "batching",
        .letter = 'b',
        .kind = FULCRUM_OPTION_LIST,
        .offset = SETTING(batching),
        .value = "RULE",
        .help = "greedy (takes what waits), greedy:N, half (of all environments, as "
                "SEED RL waits for) or fixed:N; may be repeated; greedy without it"},
    {.name = "train",
        .kind = FULCRUM_OPTION_FLAG,
        .offset = SETTING(trains),
        .help = "a learner trains beside inference, at the workload's ratio"},
    {.name = "calibration",
        .letter = 'c',
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(calibration),
        .value = "FILE",
        .help = "taken beforehand with the same actor, network and learner: predicts "
                "each point"},
    {.name = "record",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(record_pairs),
        .value = "PAIRS",
        .fallback = "0",
        .least = 0.0,
        .most = 10000.0,
        .help = "afterwards, so many pairs of windows of each point, one with its "
                "stages recorded: where the time goes, and what recording costs"},
    {.name = "trace",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(trace),
        .value = "FILE",
        .help = "with --record: the stages of the last point, to be opened at "
                "https://ui.perfetto.dev"},
    {.name = NULL},
};

static const struct fulcrum_option how_rows[] = {
    {.name = "actor-cpus",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(actor_cpus),
        .value = "LIST",
        .help = "processors of the actors, such as 0-6; without it those of every core "
                "but the server's"},
    {.name = "server-cpus",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(server_cpus),
        .value = "LIST",
        .help = "processors of inference and training; without it the last core's"},
    {.name = "window",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = SETTING(window_s),
        .value = "SECONDS",
        .unit = "s",
        .fallback = "1",
        .least = 0.05,
        .most = 3600.0,
        .help = "length of one measurement"},
    {.name = "windows",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(windows),
        .value = "N",
        .fallback = "5",
        .least = 1.0,
        .most = 1000.0,
        .help = "undisturbed windows wanted of each point"},
    {.name = "most-windows",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(most_windows),
        .value = "N",
        .fallback = "10",
        .least = 1.0,
        .most = 10000.0,
        .help = "windows after which a point that is disturbed again and again is left "
                "as it is"},
    {.name = "wait",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = SETTING(wait_s),
        .value = "SECONDS",
        .fallback = "10",
        .least = 0.0,
        .most = 3600.0,
        .unit = "s",
        .help =
            "longest wait before a window until the canary tells of a calm machine"},
    {.name = "train-steps",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(train_steps),
        .value = "N",
        .fallback = "20",
        .least = 1.0,
        .most = 1e6,
        .help = "with --train: least training steps of a window"},
    {.name = "copy-weights",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(steps_per_copy),
        .value = "N",
        .fallback = "8",
        .least = 0.0,
        .most = 1e6,
        .help =
            "with --train: inference gets the trained weights after every N training "
            "steps; 0: never"},
    {.name = "seed",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(seed),
        .value = "N",
        .fallback = "1",
        .least = 0.0,
        .most = 9007199254740992.0,
        .help = "of actions, environments and weights"},
    {.name = "name",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(name),
        .value = "NAME",
        .help = "of the reference that is written; \"measured\" without it"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"What to measure", what_rows, 0},
    {"Environment", fulcrum_actor_option_rows, offsetof(struct settings, actor)},
    {"Network", fulcrum_learner_option_rows, offsetof(struct settings, learner)},
    {"How", how_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum measure -c calibration.json",
        "humanoid and R2D2 with 1 to 64 actors, beside what the calibration predicts"},
    {"fulcrum measure -c c.json --envs 1,4 -b greedy -b half -o mine.json",
        "two batching rules, one and four environments an actor"},
    {"fulcrum measure --actor cartpole --network mlp --actors 1:8:x2 --window 0.3",
        "a quick look without a prediction"},
    {"fulcrum measure --network mlp --actors 1,8,64 --record 20 --trace trace.json",
        "where the time goes"},
    {"fulcrum validate mine.json --points", "the same errors, later"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_measure = {
    .name = "measure",
    .summary = "run the real pipeline end to end, beside what a calibration predicts",
    .description =
        "Actor threads step real environments, a central server batches their requests "
        "and runs the real network, and with --train a learner trains from a replay "
        "buffer beside it; actors and server have cores of their own. Each point is "
        "measured in several windows, in rounds; windows beside a slow canary loop or "
        "other busy programs count as disturbed. Writes a reference file (-o, else "
        "measured.json) that `fulcrum validate` predicts again, and prints measured "
        "beside predicted.\n\n"
        "Ctrl-C keeps what was measured so far. A point that fails, such as an "
        "environment that crashes, is named; the others are kept and the exit code "
        "is 1.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run,
};
