/* cmd_measure.c - `fulcrum measure`: the real pipeline, beside its prediction. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors, central inference and, if wanted, training run for real on this machine, one
 * configuration after the other. A calibration that was taken beforehand, and has seen
 * none of it, says what to expect; the errors are what the model is worth here.
 */
#define _POSIX_C_SOURCE 200809L /* access, getcwd */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/probe/probe.h"
#include "calibrate/reference/measured_result.h"
#include "cli/command/measure_job.h"
#include "cli/message.h"
#include "cli/whatif/whatif.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

/* Mean sleep before a call of a tool, unless told. */
#define DECODE_S 0.5

/* Where the reference goes unless told. */
static const char standard_path[] = "measured.json";

#define SETTING(member) offsetof(struct fulcrum_measure_settings, member)

static const struct fulcrum_option what_rows[] = {
    FULCRUM_OPTION(TEXT, "actors", SETTING(actors), "RANGE", .letter = 'a',
        .fallback = "1:64:x2", .help = "numbers of actors, as for `explore --vary`"),
    FULCRUM_OPTION(TEXT, "envs", SETTING(envs), "RANGE", .fallback = "1",
        .help = "environments that each actor steps in turn"),
    FULCRUM_OPTION(LIST, "batching", SETTING(batching), "RULE", .letter = 'b',
        .help = "greedy (take what waits), greedy:N (at most N), half (wait for half "
                "of all environments, as SEED RL does) or fixed:N; default: greedy"),
    FULCRUM_OPTION(FLAG, "train", SETTING(trains), NULL,
        .help = "a learner trains beside inference, at the workload's ratio"),
    FULCRUM_OPTION(NUMBER, "decode", SETTING(decode_s), "SECONDS", .unit = "s",
        .least = 0.0, .most = 3600.0,
        .help = "sandbox: mean of the sleep before a call, which stands for decoding "
                "(0.5)"),
    FULCRUM_OPTION(FILE, "calibration", SETTING(calibration), "FILE", .letter = 'c',
        .help = "taken beforehand with the same actor, network and learner: predicts "
                "each point; without it, the pieces are timed between the windows, "
                "for as long as these take, and predict it"),
    FULCRUM_OPTION(COUNT, "record", SETTING(record_pairs), "PAIRS", .fallback = "0",
        .least = 0.0, .most = 10000.0,
        .help = "pairs of extra windows per point, one with its stages recorded, one "
                "without: shows where the time goes and what recording costs"),
    FULCRUM_OPTION(FILE, "trace", SETTING(trace), "FILE",
        .help = "with --record: the stages of the last point, to be opened at "
                "https://ui.perfetto.dev"),
    {.name = NULL},
};

static const struct fulcrum_option how_rows[] = {
    FULCRUM_OPTION(TEXT, "actor-cpus", SETTING(actor_cpus), "LIST",
        .help = "logical CPUs of the actors, such as 0-6; default: all cores but the "
                "server's"),
    FULCRUM_OPTION(TEXT, "server-cpus", SETTING(server_cpus), "LIST",
        .help = "logical CPUs of inference and training; default: the last core's"),
    FULCRUM_OPTION(NUMBER, "window", SETTING(window_s), "SECONDS", .unit = "s",
        .fallback = "1", .least = 0.05, .most = 3600.0,
        .help = "length of one measurement"),
    FULCRUM_OPTION(COUNT, "windows", SETTING(windows), "N", .fallback = "5",
        .least = 1.0, .most = 1000.0,
        .help = "undisturbed windows wanted of each point"),
    FULCRUM_OPTION(COUNT, "most-windows", SETTING(most_windows), "N", .fallback = "10",
        .least = 1.0, .most = 10000.0,
        .help = "give up on a point after this many windows, however disturbed"),
    FULCRUM_OPTION(NUMBER, "wait", SETTING(wait_s), "SECONDS", .fallback = "10",
        .least = 0.0, .most = 3600.0, .unit = "s",
        .help = "longest wait for a calm machine before a window"),
    FULCRUM_OPTION(COUNT, "train-steps", SETTING(train_steps), "N", .fallback = "20",
        .least = 1.0, .most = 1e6,
        .help = "with --train: least training steps of a window"),
    FULCRUM_OPTION(COUNT, "copy-weights", SETTING(steps_per_copy), "N", .fallback = "8",
        .least = 0.0, .most = 1e6,
        .help = "with --train: training steps between copies of the weights to "
                "inference; 0: never"),
    FULCRUM_OPTION_SEED(SETTING(seed), "of actions, environments and weights"),
    FULCRUM_OPTION(TEXT, "name", SETTING(name), "NAME",
        .help = "of the reference that is written; \"measured\" without it"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"What to measure", what_rows, 0},
    {"Environment", fulcrum_actor_option_rows,
        offsetof(struct fulcrum_measure_settings, actor)},
    {"Network", fulcrum_learner_option_rows,
        offsetof(struct fulcrum_measure_settings, learner)},
    {"How", how_rows, 0},
    {.rows = NULL},
};

enum { RULES_MOST = 8 };

/* "greedy", "half", "fixed:32", "greedy:64": how a configuration batches. */
static enum fulcrum_status read_rule(const char *text, struct fulcrum_context *context,
    struct fulcrum_measure_config *out, struct fulcrum_error *err)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    bool is_greedy = length == 6 && strncmp(text, "greedy", length) == 0;
    bool is_fixed = length == 5 && strncmp(text, "fixed", length) == 0;
    bool is_half = strcmp(text, "half") == 0;
    double size = 0.0;
    bool is_wrong = !(is_greedy || is_half || (is_fixed && colon != NULL));
    if (!is_wrong && colon != NULL) {
        is_wrong =
            fulcrum_number_parse("--batching", colon + 1, &size, NULL) != FULCRUM_OK ||
            !(size >= 1.0 && size <= 1e6 && size == floor(size));
    }
    FULCRUM_USAGE_IF(is_wrong, context, err, FULCRUM_ERR_FORMAT,
        "--batching %s: expected greedy, greedy:N (at most N observations), half "
        "(of all environments, as SEED RL waits) or fixed:N",
        text);
    *out = (struct fulcrum_measure_config){
        .policy = is_greedy ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED,
        .batch_size = size,
        .population_frac = is_half ? 0.5 : 0.0};
    return FULCRUM_OK;
}

/* Every rule with every number of environments and of actors. */
static enum fulcrum_status read_configs(const struct fulcrum_measure_settings *settings,
    struct fulcrum_context *context, struct fulcrum_measure_inputs *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_text_list *given = &settings->batching;
    struct fulcrum_numbers actors = {
        .option = "--actors", .field = fulcrum_field_find("run.actor_count")};
    struct fulcrum_numbers envs = {
        .option = "--envs", .field = fulcrum_field_find("run.envs_per_actor")};
    struct fulcrum_measure_config rules[RULES_MOST] = {
        {.policy = FULCRUM_BATCH_GREEDY}};
    enum fulcrum_status status = FULCRUM_OK;
    FULCRUM_USAGE_IF(given->count > RULES_MOST, context, err, FULCRUM_ERR_RANGE,
        "--batching is given %zu times: at most %d", given->count, (int)RULES_MOST);
    for (size_t i = 0; i < given->count; i++) {
        TRY(read_rule(given->items[i], context, &rules[i], err));
    }
    TRY_OR_END(fulcrum_numbers_read(&actors, settings->actors, context, err));
    TRY_OR_END(fulcrum_numbers_read(&envs, settings->envs, context, err));
    size_t per_rule = envs.count * actors.count;
    size_t count = (given->count > 0 ? given->count : 1) * per_rule;
    out->configs = calloc(count + 1, sizeof *out->configs);
    if (out->configs == NULL) {
        status = FULCRUM_ERR_NO_MEMORY;
        (void)fulcrum_fail(err, status, "%zu configurations", count);
        goto end;
    }
    for (size_t i = 0; i < count; i++) {
        out->configs[i] = rules[i / per_rule];
        out->configs[i].actor_count = (size_t)actors.values[i % actors.count];
        out->configs[i].envs_per_actor =
            (size_t)envs.values[i / actors.count % envs.count];
    }
    out->options.configs = out->configs;
    out->options.config_count = count;
end:
    free(actors.values);
    free(envs.values);
    return status;
}

/* What trains, as the workload says. */
static enum fulcrum_status read_training(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err)
{
    const struct fulcrum_workload_training *training = &out->base.workload.training;
    if (!settings->trains) {
        return FULCRUM_OK;
    }
    bool alternates = out->base.workload.loop == (int)FULCRUM_LOOP_ALTERNATING;
    bool is_whole = training->env_steps_per_train_step > 0.0 &&
                    training->batch_size >= 1.0 &&
                    (!alternates || out->base.workload.rollout_length >= 1.0);
    FULCRUM_USAGE_IF(settings->learner.workload == NULL || !is_whole, context, err,
        FULCRUM_ERR_MISSING,
        "--train needs a --workload with training.env_steps_per_train_step, "
        "training.batch_size and, where its loop alternates, rollout_length");
    out->options.training = (struct fulcrum_measure_training){
        .env_steps_per_train_step = training->env_steps_per_train_step,
        .queue_train_steps = training->queue_train_steps,
        .rollout_length = alternates ? out->base.workload.rollout_length : 0.0,
        .batch = (size_t)training->batch_size,
        .unroll = isnan(training->unroll_length) ? 1 : (size_t)training->unroll_length,
        .burn_in =
            isnan(training->burn_in_length) ? 0 : (size_t)training->burn_in_length,
        .steps_per_copy = (size_t)settings->steps_per_copy};
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
    FULCRUM_USAGE_IF(
        status != FULCRUM_OK, context, err, status, "%s: %s", option, why.detail);
    return FULCRUM_OK;
}

static bool is_tools(const struct fulcrum_measure_settings *settings)
{
    const char *name = fulcrum_actor_settings_name(&settings->actor);
    const struct fulcrum_actor *actor = name != NULL ? fulcrum_actor_find(name) : NULL;
    return actor != NULL && actor->is_tools;
}

/* Whether a framework's own loop is measured, or trajectories of agents: which have all
 * that follows in them. */
static bool is_loop(const struct fulcrum_measure_settings *settings)
{
    const char *name = fulcrum_actor_settings_name(&settings->actor);
    const struct fulcrum_actor *actor = name != NULL ? fulcrum_actor_find(name) : NULL;
    return actor != NULL && (actor->time != NULL || actor->is_tools);
}

/* Priors of the machine, and the workload; one that fits the network where none is
 * named. */
static enum fulcrum_status read_base(const struct fulcrum_measure_settings *settings,
    struct fulcrum_context *context, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    struct fulcrum_learner_settings learner = settings->learner;
    struct fulcrum_design design;
    fulcrum_design_init(out);
    if (learner.workload == NULL && is_loop(settings)) {
        return fulcrum_machine_find("this", out, NULL, err);
    }
    if (learner.workload == NULL) {
        learner.workload = learner.network == FULCRUM_NETWORK_R2D2
                               ? "r2d2-atari"
                               : "ppo-mujoco-humanoid";
    }
    TRY(fulcrum_learner_settings_read(&learner, context, &design, err));
    TRY(fulcrum_machine_find("this", out, NULL, err));
    out->workload = design.workload;
    return FULCRUM_OK;
}

/* One of another environment or network says nothing of this run. */
static enum fulcrum_status read_calibration(
    const struct fulcrum_measure_settings *settings, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    if (settings->calibration == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_calibration_load(settings->calibration, out, err));
    char wanted[96];
    const char *actor = fulcrum_actor_settings_name(&settings->actor);
    const char *has_actor = fulcrum_calibration_note(*out, "actor");
    const char *has_learner = fulcrum_calibration_note(*out, "learner");
    size_t length = has_actor != NULL ? strcspn(has_actor, " :") : 0;
    (void)snprintf(wanted, sizeof wanted, "%s, network %s", settings->learner.learner,
        fulcrum_learner_network_name(
            (enum fulcrum_learner_network)settings->learner.network));
    FAIL_IF(has_learner != NULL && strcmp(has_learner, wanted) != 0, err,
        FULCRUM_ERR_INFEASIBLE, "%s was taken with learner %s; this run has %s",
        settings->calibration, has_learner, wanted);
    FAIL_IF(actor != NULL && length > 0 &&
                (strlen(actor) != length || strncmp(has_actor, actor, length) != 0),
        err, FULCRUM_ERR_INFEASIBLE, "%s was taken with actor %.*s; this run has %s",
        settings->calibration, (int)length, has_actor, actor);
    return FULCRUM_OK;
}

/* "-": standard output gets the document, and no file is written. */
static const char *output_path(const struct fulcrum_context *context)
{
    return context->output_path != NULL ? context->output_path : standard_path;
}

enum fulcrum_status fulcrum_measure_inputs_load(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err)
{
    struct fulcrum_measure_options *options = &out->options;
    *out = (struct fulcrum_measure_inputs){
        .options = {.actor = fulcrum_actor_settings_name(&settings->actor),
            .actor_options = fulcrum_actor_settings_options(&settings->actor),
            .learner = settings->learner.learner,
            .device_index = (size_t)settings->learner.device,
            .sm_count = isnan(settings->learner.sms) ? 0.0 : settings->learner.sms,
            .network = (enum fulcrum_learner_network)settings->learner.network,
            .seed = (uint64_t)settings->seed,
            .decode_s = isnan(settings->decode_s) ? DECODE_S : settings->decode_s,
            .window_s = settings->window_s,
            .window_count = (size_t)settings->windows,
            .most_windows = (size_t)fmax(settings->most_windows, settings->windows),
            .calm_wait_s = settings->wait_s,
            .train_steps_least = settings->train_steps,
            /* A document on standard output has no file beside it. */
            .times_pieces = settings->calibration == NULL &&
                            strcmp(output_path(context), "-") != 0}};
    TRY(fulcrum_actor_settings_check(
        &settings->actor, settings->learner.learner, context, err));
    FULCRUM_USAGE_IF(
        is_loop(settings) && (settings->trains || settings->record_pairs > 0.0 ||
                                 settings->batching.count > 0),
        context, err, FULCRUM_ERR_UNSUPPORTED,
        "--train, --batching and --record are for pipelines of fulcrum's own: %s "
        "trains and batches as it does",
        fulcrum_actor_settings_name(&settings->actor));
    bool calls = is_tools(settings);
    FULCRUM_USAGE_IF(!isnan(settings->decode_s) && !calls, context, err,
        FULCRUM_ERR_UNSUPPORTED, "--decode %g is for --actor sandbox",
        settings->decode_s);
    FULCRUM_USAGE_IF(calls && strcmp(settings->envs, "1") != 0, context, err,
        FULCRUM_ERR_RANGE, "--envs %s: expected 1, as a trajectory has one sandbox",
        settings->envs);
    TRY(read_base(settings, context, &out->base, err));
    TRY(read_training(settings, context, out, err));
    TRY(read_configs(settings, context, out, err));
    TRY(read_cpus("--actor-cpus", settings->actor_cpus, &options->placement.actors,
        context, err));
    TRY(read_cpus("--server-cpus", settings->server_cpus, &options->placement.server,
        context, err));
    /* Later it is too late to find out that there is no such file. */
    return read_calibration(settings, &out->calibration, err);
}

void fulcrum_measure_inputs_clear(struct fulcrum_measure_inputs *inputs)
{
    free(inputs->configs);
    fulcrum_calibration_free(inputs->calibration);
    *inputs = (struct fulcrum_measure_inputs){.configs = NULL};
}

/* Everything that one run of the command works with. */
struct job {
    const struct fulcrum_measure_settings *settings;
    struct fulcrum_measure_inputs inputs;
    struct fulcrum_measurement *found;
    struct fulcrum_reference *reference;
    struct fulcrum_prediction *predictions; /* of each point; NULL: none */
    struct fulcrum_stages_measurement *stages;
    struct fulcrum_stage_prediction *stage_predictions;
    const char *calibration; /* its file as the user knows it; NULL: none */
    char *pieces_path;       /* of a calibration that was taken here; owned */
    char *calibration_path;  /* from the root; owned */
};

/*
 * The calibration as the reference's file names it: relative paths of a file start in
 * its folder, so one that lies there is named alone, and another from the root.
 */
static const char *calibration_name(struct job *job, const char *path)
{
    const char *name = job->calibration;
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (name == NULL || strncmp(name, path, folder) == 0) {
        return name != NULL ? name + folder : NULL;
    }
    /* A preset's name is that of no file. */
    char here[1024];
    if (name[0] == '/' || access(name, R_OK) != 0 ||
        getcwd(here, sizeof here) == NULL) {
        return name;
    }
    job->calibration_path = fulcrum_format("%s/%s", here, name);
    return job->calibration_path;
}

static enum fulcrum_status make_reference(
    struct job *job, const char *path, struct fulcrum_error *err)
{
    const char *name = job->settings->name;
    struct fulcrum_measured_plan plan = {.measurement = job->found,
        .calibration = job->inputs.calibration,
        .is_beside = job->pieces_path != NULL,
        .calibration_name = calibration_name(job, path),
        .base = &job->inputs.base,
        .training = &job->inputs.options.training,
        .name = name != NULL ? name : "measured"};
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_measured_reference(&plan, &job->reference, &why);
    if (status != FULCRUM_ERR_MISSING || job->inputs.calibration == NULL) {
        return status == FULCRUM_OK ? status
                                    : fulcrum_fail(err, status, "%s", why.detail);
    }
    /* What was measured is kept, whatever the calibration lacks. */
    fulcrum_message_warn("nothing is predicted: %s", why.detail);
    fulcrum_calibration_free(job->inputs.calibration);
    job->inputs.calibration = NULL;
    plan.calibration = NULL;
    return fulcrum_measured_reference(&plan, &job->reference, err);
}

/* What cannot be predicted is told, and costs nothing that was measured. */
static void predict_points(struct job *job, struct fulcrum_context *context)
{
    const struct fulcrum_calibration *calibration = job->inputs.calibration;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (calibration == NULL) {
        return;
    }
    size_t count = job->reference->point_count;
    job->predictions = fulcrum_allocate(count, sizeof *job->predictions);
    if (job->stages != NULL) {
        job->stage_predictions =
            fulcrum_allocate(count, sizeof *job->stage_predictions);
    }
    const struct fulcrum_reference_prediction to = {
        .points = job->predictions, .stages = job->stage_predictions};
    if (fulcrum_reference_predict(job->reference, calibration, &to, &why) !=
        FULCRUM_OK) {
        fulcrum_message_warn("nothing is predicted: %s", why.detail);
        free(job->predictions);
        free(job->stage_predictions);
        job->predictions = NULL;
        job->stage_predictions = NULL;
        context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
    }
}

/* Incomplete ones are kept, too, but nothing is predicted from them. */
static enum fulcrum_status keep_pieces(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_calibration *pieces = job->found->pieces;
    if (pieces == NULL) {
        return FULCRUM_OK;
    }
    job->pieces_path = fulcrum_path_beside(output_path(context), "pieces");
    TRY(fulcrum_calibration_save(pieces, job->pieces_path, err));
    if (pieces->complete) {
        job->calibration = job->pieces_path;
        job->inputs.calibration = pieces;
        job->found->pieces = NULL;
        fulcrum_message_note(
            context, "%s: the pieces, timed between the windows", job->pieces_path);
    } else {
        fulcrum_message_warn("%s: the pieces; nothing is predicted from them: %s",
            job->pieces_path, fulcrum_calibration_note(pieces, "incomplete"));
        context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status hand_out(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = output_path(context);
    /* Points that failed are named; the others are kept, and the exit code tells. */
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
    TRY(keep_pieces(job, context, err));
    TRY(make_reference(job, path, err));
    TRY(fulcrum_reference_save(job->reference, path, err));
    if (strcmp(path, "-") == 0) {
        return FULCRUM_OK;
    }
    fulcrum_message_note(context, "%s%s%s%s%s", path,
        job->inputs.calibration != NULL ? ": `fulcrum validate " : "",
        job->inputs.calibration != NULL ? path : "",
        job->inputs.calibration != NULL ? "` predicts it again" : "",
        job->found->is_complete ? "" : "; stopped early");
    predict_points(job, context);
    const struct fulcrum_measured_points points = {.measurement = job->found,
        .calibration = job->inputs.calibration,
        .is_beside = job->pieces_path != NULL,
        .predictions = job->predictions,
        .stages = job->stages,
        .stage_predictions = job->stage_predictions};
    return fulcrum_context_show(context, fulcrum_measured_result(&points), err);
}

static enum fulcrum_status measure(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_progress watch;
    fulcrum_watch_start(&watch, context, NULL);
    job->inputs.options.listener = (struct fulcrum_listener){
        fulcrum_progress_stops, fulcrum_progress_show, &watch};
    enum fulcrum_status status =
        fulcrum_measure(&job->found, &job->inputs.options, err);
    if (status == FULCRUM_OK && job->settings->record_pairs > 0.0) {
        /* Where the time goes, in windows of its own: with a recorder and without, by
         * turns. */
        const struct fulcrum_measure_stages_options options = {
            .measure = &job->inputs.options,
            .pair_count = (size_t)job->settings->record_pairs,
            .trace_path = job->settings->trace};
        status = fulcrum_measure_stages(&job->stages, &options, err);
    }
    fulcrum_progress_end(&watch);
    if (job->found == NULL) {
        return status;
    }
    status = fulcrum_progress_settle(status, context, err);
    /* What was measured is kept even where the recording failed. */
    enum fulcrum_status handed =
        hand_out(job, context, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? handed : status;
}

static enum fulcrum_status run_measure(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data};
    job.calibration = job.settings->calibration;
    const char *trace = job.settings->trace;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_measure_inputs_load(job.settings, context, &job.inputs, err));
    if (trace != NULL && job.settings->record_pairs < 1.0) {
        TRY_OR_END(fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "--trace %s needs --record: nothing is recorded without it", trace));
    }
    if (trace != NULL) {
        TRY_OR_END(fulcrum_output_check(trace, err));
    }
    TRY_OR_END(fulcrum_output_check(output_path(context), err));
    status = measure(&job, context, err);
end:
    free(job.predictions);
    free(job.stage_predictions);
    free(job.calibration_path);
    free(job.pieces_path);
    fulcrum_reference_free(job.reference);
    fulcrum_measure_inputs_clear(&job.inputs);
    fulcrum_measurement_free(job.found);
    fulcrum_stages_measurement_free(job.stages);
    return status;
}

static const struct fulcrum_example examples[] = {
    {"fulcrum measure -c calibration.json",
        "humanoid and R2D2 with 1 to 64 actors, beside what the calibration predicts"},
    {"fulcrum measure -c c.json --envs 1,4 -b greedy -b half -o mine.json",
        "two batching rules, one and four environments an actor"},
    {"fulcrum measure --actor cartpole --network mlp --actors 1:8:x2 --window 0.3",
        "a quick look"},
    {"fulcrum measure --framework sb3-ppo --env HalfCheetah-v5 --actors 1:8:x2",
        "PPO of Stable-Baselines3, beside what its pieces predict"},
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
        "measured in several windows, in rounds; a window counts as disturbed if a "
        "reference loop (the canary) ran slowly or other programs were busy. Writes a "
        "reference file (-o, else measured.json) that `fulcrum validate` predicts "
        "again, and prints measured beside predicted.\n\nCtrl-C keeps what was "
        "measured so far. A point that fails, such as an environment that crashes, is "
        "named; the others are kept and the exit code is 1.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_measure_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_measure,
};
