/* design_options.c - machine, workload, calibrations, actors and how to solve. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the options --machine, --workload, --calibration, --set and --actors share in
 * all commands that predict. The workload's own calibration is loaded beneath the named
 * ones, unless one of them already measured a learner of the machine's kind.
 */

#include "cli/options/options.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/host.h"
#include "cli/message.h"
#include "cli/option.h"
#include "model/predict/solver.h"
#include "model/try.h"

enum { PATH_SIZE = 96 };

/* The preset with watts and SMT yield for a machine that is detected. */
#define HOST_PRIORS "generic-server"

/* Networks of one kind differ by less, for observations of different sizes. */
#define OTHER_NETWORK_FACTOR 2.0

#define SETTING(member) offsetof(struct fulcrum_design_settings, member)

const struct fulcrum_option fulcrum_design_option_rows[] = {
    FULCRUM_OPTION(TEXT, "machine", SETTING(machine), "NAME", .letter = 'm',
        .help = "preset or JSON file; 'this' is the machine at hand"),
    FULCRUM_OPTION(TEXT, "workload", SETTING(workload), "NAME", .letter = 'w',
        .help = "preset or JSON file"),
    FULCRUM_OPTION(LIST, "calibration", SETTING(calibrations), "NAME", .letter = 'c',
        .help = "preset or JSON file; replaces the workload's own, or is laid over it "
                "if its learner ran on another kind of device; later ones win"),
    FULCRUM_OPTION(COUNT, "actors", SETTING(actor_count), "N", .letter = 'a',
        .least = 1.0, .most = 1e7, .help = "short for --set run.actor_count=N"),
    FULCRUM_OPTION(LIST, "set", SETTING(sets), "PATH=VALUE", .letter = 's',
        .help = "overrides a field of machine, workload, calibration or run"),
    {.name = NULL},
};

const struct fulcrum_option fulcrum_machines_option_rows[] = {
    FULCRUM_OPTION(LIST, "machine", 0, "NAME", .letter = 'm',
        .help = "preset or JSON file; 'this' is the machine at hand; once for each of "
                "several machines"),
    {.name = NULL},
};

const struct fulcrum_field *fulcrum_field_parse(
    const char *path, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    if (field == NULL) {
        const char *nearest = fulcrum_field_nearest(path);
        (void)fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown field '%s'%s%s%s", path,
            nearest != NULL ? "; did you mean '"
                            : ": expected a path such as machine.gpu.sm_count, "
                              "workload.step.mean_s or run.actor_count "
                              "(docs/fields.md)",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    }
    return field;
}

enum fulcrum_status fulcrum_setting_parse(const char *text,
    struct fulcrum_context *context, struct fulcrum_setting *out,
    struct fulcrum_error *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    FULCRUM_USAGE_IF(length == 0 || length >= PATH_SIZE, context, err,
        FULCRUM_ERR_FORMAT, "'%s' is not of the form PATH=VALUE", text);
    char path[PATH_SIZE];
    memcpy(path, text, length);
    path[length] = '\0';
    const struct fulcrum_field *field = fulcrum_field_parse(path, context, err);
    if (field == NULL) {
        return FULCRUM_ERR_UNKNOWN_NAME;
    }
    /* A design to try the value on, for the same check as that of files. */
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    enum fulcrum_status status =
        fulcrum_field_set_text(field, &design, equals + 1, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return status;
    }
    bool is_number =
        field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT;
    out->field = field;
    out->number = fulcrum_field_number(field, &design);
    out->text = is_number ? NULL : equals + 1;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_settings_parse(const char *option,
    const struct fulcrum_text_list *texts, struct fulcrum_context *context,
    struct fulcrum_setting *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < texts->count; i++) {
        enum fulcrum_status status =
            fulcrum_setting_parse(texts->items[i], context, &out[i], err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, option);
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_machine_find(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    if (strcmp(name, "this") != 0) {
        return fulcrum_machine_load(name, design, sources, err);
    }
    TRY(fulcrum_machine_load(HOST_PRIORS, design, sources, err));
    /* What can be found out about this machine, over the priors for what cannot. */
    struct fulcrum_machine found;
    struct fulcrum_machine *machine = &design->machine;
    fulcrum_host_detect(&found);
    memcpy(machine->name, found.name, sizeof machine->name);
    memcpy(machine->title, found.title, sizeof machine->title);
    machine->accelerator = found.accelerator;
    machine->learner_core_count = found.learner_core_count;
    memcpy(machine->cpu.name, found.cpu.name, sizeof machine->cpu.name);
    machine->cpu.socket_count = found.cpu.socket_count;
    machine->cpu.core_count = found.cpu.core_count;
    machine->cpu.thread_count = found.cpu.thread_count;
    machine->cpu.clock_hz = found.cpu.clock_hz;
    machine->cpu.slice_s = found.cpu.slice_s;
    machine->cpu.curve = found.cpu.curve;
    return FULCRUM_OK;
}

static enum fulcrum_status fail_missing(
    const char *option, struct fulcrum_context *context, struct fulcrum_error *err)
{
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
        "option '--%s' is missing: 'fulcrum list %ss' shows what there is", option,
        option);
}

bool fulcrum_machine_is_list(const char *name)
{
    return strchr(name, ',') != NULL && strchr(name, '/') == NULL &&
           strstr(name, ".json") == NULL;
}

enum fulcrum_status fulcrum_machine_names_check(
    const struct fulcrum_text_list *machines, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (machines->count == 0) {
        return fail_missing("machine", context, err);
    }
    for (size_t i = 0; i < machines->count; i++) {
        const char *name = machines->items[i];
        FULCRUM_USAGE_IF(fulcrum_machine_is_list(name), context, err, FULCRUM_ERR_RANGE,
            "--machine %s: expected one machine; give --machine once for each", name);
        for (size_t k = 0; k < i; k++) {
            FULCRUM_USAGE_IF(strcmp(machines->items[k], name) == 0, context, err,
                FULCRUM_ERR_RANGE, "--machine %s is given twice", name);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status load_calibrations(
    const struct fulcrum_design_settings *settings, struct fulcrum_design_inputs *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = &settings->calibrations;
    out->calibration_count = 0;
    out->calibrations =
        fulcrum_allocate(names->count + 2, sizeof(struct fulcrum_calibration *));
    for (size_t i = 0; i < names->count; i++) {
        TRY(fulcrum_calibration_load(names->items[i], &out->calibrations[i], err));
        out->calibration_count++;
    }
    /* A GPU is not looked for: that this machine has one is known from the
     * calibration that was measured on it. */
    struct fulcrum_machine *machine = &out->base.machine;
    for (size_t i = 0; i < out->calibration_count; i++) {
        const struct fulcrum_machine *measured = &out->calibrations[i]->machine;
        if (measured->accelerator == FULCRUM_ACCELERATOR_GPU &&
            strcmp(machine->name, "this") == 0 && strcmp(measured->name, "this") == 0 &&
            strcmp(measured->cpu.name, machine->cpu.name) == 0) {
            machine->accelerator = FULCRUM_ACCELERATOR_GPU;
            machine->gpu = measured->gpu;
        }
    }
    /* Would the named calibrations leave the learner of this machine without times? */
    bool has_learner = false;
    for (size_t i = 0; i < out->calibration_count; i++) {
        has_learner = has_learner ||
                      out->calibrations[i]->machine.accelerator == machine->accelerator;
    }
    if (out->base.workload.calibration[0] != '\0' && !has_learner) {
        /* The workload's own goes below the named ones. */
        struct fulcrum_calibration *own = NULL;
        TRY(fulcrum_calibration_load(out->base.workload.calibration, &own, err));
        for (size_t i = out->calibration_count++; i > 0; i--) {
            out->calibrations[i] = out->calibrations[i - 1];
        }
        out->calibrations[0] = own;
    }
    struct fulcrum_calibration **last = &out->calibrations[out->calibration_count];
    out->named_count = out->calibration_count;
    TRY(fulcrum_discrepancy_load(
        (const struct fulcrum_calibration *const *)out->calibrations,
        out->calibration_count, last, err));
    out->calibration_count += *last != NULL ? 1 : 0;
    return FULCRUM_OK;
}

/*
 * What a calibration cannot stand for: the rest of its measurement, and learner times
 * of a network of another size, which are those of another workload.
 */
static void warn_of_limits(const struct fulcrum_context *context,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_workload_network *network)
{
    if (!calibration->complete) {
        fulcrum_message_warn_in(context,
            "calibration %s is incomplete: it was interrupted", calibration->name);
    }
    const struct fulcrum_quantity *measured =
        fulcrum_calibration_quantity(calibration, "network_parameter_count");
    if (measured == NULL || !(network->parameter_count > 0.0)) {
        return;
    }
    double ratio = measured->value / network->parameter_count;
    if (ratio > OTHER_NETWORK_FACTOR || ratio < 1.0 / OTHER_NETWORK_FACTOR) {
        fulcrum_message_warn_in(context,
            "calibration %s was taken with a network of %.4g parameters, the "
            "workload's has %.4g: learner times are those of the former",
            calibration->name, measured->value, network->parameter_count);
    }
}

enum fulcrum_status fulcrum_design_inputs_load(
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design_inputs *out, struct fulcrum_error *err)
{
    memset(out, 0, sizeof *out);
    fulcrum_design_init(&out->base);
    enum fulcrum_status status = FULCRUM_OK;
    if (settings->machine == NULL || settings->workload == NULL) {
        status = fail_missing(
            settings->machine == NULL ? "machine" : "workload", context, err);
        goto end;
    }
    TRY_OR_END(fulcrum_machine_find(settings->machine, &out->base, &out->sources, err));
    TRY_OR_END(
        fulcrum_workload_load(settings->workload, &out->base, &out->sources, err));
    out->settings = fulcrum_allocate(settings->sets.count + 1, sizeof *out->settings);
    TRY_OR_END(
        fulcrum_settings_parse("--set", &settings->sets, context, out->settings, err));
    out->setting_count = settings->sets.count;
    if (!isnan(settings->actor_count)) {
        struct fulcrum_setting *actors = &out->settings[out->setting_count++];
        actors->field = fulcrum_field_find("run.actor_count");
        actors->number = settings->actor_count;
        assert(actors->field != NULL);
    }
    /* Which calibration is the workload's own can be set like any other field. */
    for (size_t i = 0; i < out->setting_count; i++) {
        const struct fulcrum_setting *setting = &out->settings[i];
        if (strcmp(setting->field->path, "workload.calibration") == 0) {
            TRY_OR_END(
                fulcrum_field_set_text(setting->field, &out->base, setting->text, err));
        }
    }
    TRY_OR_END(load_calibrations(settings, out, err));
    for (size_t i = 0; i < out->calibration_count; i++) {
        warn_of_limits(context, out->calibrations[i], &out->base.workload.network);
    }
    /* The fields whose sources say that the value is a prior. */
    out->priors = fulcrum_allocate(out->sources.count, sizeof *out->priors);
    for (size_t i = 0; i < out->sources.count; i++) {
        const struct fulcrum_source *source = &out->sources.items[i];
        const struct fulcrum_field *field = fulcrum_field_find(source->path);
        if (source->is_prior && source->spread_factor > 1.0 && field != NULL) {
            struct fulcrum_prior *prior = &out->priors[out->prior_count++];
            prior->field = field;
            prior->spread_factor = source->spread_factor;
        }
    }
end:
    out->scenario = (struct fulcrum_scenario_inputs){
        .base = &out->base,
        .calibrations = (const struct fulcrum_calibration *const *)out->calibrations,
        .calibration_count = out->calibration_count,
        .settings = out->settings,
        .setting_count = out->setting_count,
        .priors = out->priors,
        .prior_count = out->prior_count,
    };
    return status;
}

void fulcrum_design_inputs_free(struct fulcrum_design_inputs *inputs)
{
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        fulcrum_calibration_free(inputs->calibrations[i]);
    }
    free((void *)inputs->calibrations);
    free(inputs->settings);
    free(inputs->priors);
    fulcrum_sources_free(&inputs->sources);
    memset(inputs, 0, sizeof *inputs);
}

/* How many actors: --actors. */

/* 256 actors on 40 threads, as Inci et al. 2020 ran most (arXiv:2012.04210). */
#define USUAL_PER_THREAD 6.4

const char fulcrum_actors_rule_none[] = "none, environments are simulated on GPUs";

const struct fulcrum_option fulcrum_actors_rule_rows[] = {
    FULCRUM_OPTION(TEXT, "best-actors", offsetof(struct fulcrum_actors_rule, best_of),
        "RANGE", .help = "each design takes the fastest actor count in RANGE"),
    FULCRUM_OPTION(NUMBER, "actors-per-thread",
        offsetof(struct fulcrum_actors_rule, per_thread), "X", .least = 1e-3,
        .most = 1e4,
        .help = "actors per hardware thread; Inci et al. 2020 used 6.4 (256 on 40)"),
    {.name = NULL},
};

enum fulcrum_status fulcrum_actors_rule_check(const struct fulcrum_actors_rule *rule,
    int other_ways, const char *refusal, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    int ways = other_ways + (rule->best_of != NULL) + !isnan(rule->per_thread);
    return ways <= 1
               ? FULCRUM_OK
               : fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE, "%s", refusal);
}

enum fulcrum_status fulcrum_actors_rule_choices(const struct fulcrum_actors_rule *rule,
    double **out, size_t *count, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (rule->best_of == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_range_parse(
        fulcrum_field_find("run.actor_count"), rule->best_of, out, count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, "--best-actors");
    }
    return FULCRUM_OK;
}

double fulcrum_actors_rule_per_thread(const struct fulcrum_actors_rule *rule)
{
    return isnan(rule->per_thread) ? USUAL_PER_THREAD : rule->per_thread;
}

void fulcrum_actors_rule_text(
    const struct fulcrum_actors_rule *rule, char *out, size_t size)
{
    if (rule->best_of != NULL) {
        (void)snprintf(out, size, "fastest of %s", rule->best_of);
        return;
    }
    (void)snprintf(out, size, "%.6g per hardware thread%s",
        fulcrum_actors_rule_per_thread(rule),
        isnan(rule->per_thread) ? ", as none were given" : "");
}

#define DRAWS_LEAST 2.0
#define DRAWS_MOST  1e6

static const char *method_name(int index)
{
    return fulcrum_method_name((enum fulcrum_method)index);
}

#define SOLVER_SETTING(member) offsetof(struct fulcrum_solver_settings, member)

const struct fulcrum_option fulcrum_solver_option_rows[] = {
    FULCRUM_OPTION(CHOICE, "method", SOLVER_SETTING(method), "METHOD",
        .fallback = "auto", .choice = method_name,
        .help = "auto uses 'fast' where its error is within --half-width, else "
                "'simulate'; chain is exact for exponential steps; product-form is the "
                "textbook baseline"),
    FULCRUM_OPTION(NUMBER, "half-width", SOLVER_SETTING(half_width_rel), "FRACTION",
        .least = 1e-5, .most = 0.5,
        .help = "simulations stop when the 95 % interval is within +-FRACTION; also "
                "the largest error of the equations that auto accepts; default: 0.01"),
    FULCRUM_OPTION_SEED(
        SOLVER_SETTING(seed), "of random numbers; the same seed gives the same bytes"),
    FULCRUM_OPTION(COUNT, "max-steps", SOLVER_SETTING(max_steps), "N",
        .fallback = "2e7", .least = 1e3, .most = 1e12,
        .help = "limit on simulated steps, even if --half-width is not met"),
    {.name = NULL},
};

const struct fulcrum_option fulcrum_interval_option_rows[] = {
    FULCRUM_OPTION(TEXT, "intervals",
        offsetof(struct fulcrum_solve_settings, intervals), "DRAWS",
        .help = "draws behind each 90 % interval; 'none' for no intervals"),
    {.name = NULL},
};

void fulcrum_solver_settings_read(
    const struct fulcrum_solver_settings *settings, struct fulcrum_solver_options *out)
{
    *out = (struct fulcrum_solver_options){
        .method = (enum fulcrum_method)settings->method,
        .seed = (uint64_t)settings->seed,
        .half_width_rel =
            isnan(settings->half_width_rel) ? 0.0 : settings->half_width_rel,
        .max_steps = settings->max_steps,
    };
}

enum fulcrum_status fulcrum_solve_settings_read(
    const struct fulcrum_solve_settings *settings, double draws,
    struct fulcrum_context *context, struct fulcrum_predict_options *out,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_predict_options){.draws = draws};
    fulcrum_solver_settings_read(&settings->solver, &out->solver);
    const char *text = settings->intervals;
    if (text == NULL || strcmp(text, "none") == 0) {
        out->draws = text == NULL ? draws : 0.0;
        return FULCRUM_OK;
    }
    enum fulcrum_status status =
        fulcrum_number_parse("--intervals", text, &out->draws, NULL);
    if (status == FULCRUM_OK && !(out->draws <= 0.0 && out->draws >= 0.0) &&
        !(out->draws >= DRAWS_LEAST && out->draws <= DRAWS_MOST &&
            out->draws == floor(out->draws))) {
        status = FULCRUM_ERR_RANGE;
    }
    return status == FULCRUM_OK
               ? status
               : fulcrum_usage_fail(context, err, status,
                     "--intervals %s: expected 'none' or a whole number from 2 to "
                     "1000000",
                     text);
}
