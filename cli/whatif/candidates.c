/* candidates.c - what the questions of `fulcrum recommend` have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/candidates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/design/design.h"
#include "model/nearest.h"
#include "model/quantity.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* Designs beside each other, in the same samples. */

/*
 * Whether one design beats another is asked draw by draw: what is not known of the
 * workload is the same for both, and does not blur the answer. A draw is a stream of
 * random numbers that priors take one after the other, in their order, and calibrations
 * after them. So each design gets a place for every prior that any of them has.
 */

/* Actors to a hardware thread that a machine may choose from where nobody says. */
static const double actors_to_thread[] = {0.5, 1.0, 2.0, 4.0, 8.0, 16.0};
enum { CHOICES = sizeof actors_to_thread / sizeof actors_to_thread[0] };

bool fulcrum_candidate_sets(const struct fulcrum_candidate *candidate, const char *path)
{
    for (size_t i = 0; i < candidate->inputs.setting_count; i++) {
        const struct fulcrum_field *field = candidate->inputs.settings[i].field;
        if (field != NULL && strcmp(field->path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* 1, no spread, where the field is no prior. */
static double spread_of(
    const struct fulcrum_candidate *candidate, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < candidate->inputs.prior_count; i++) {
        if (candidate->inputs.priors[i].field == field) {
            return candidate->inputs.priors[i].spread_factor;
        }
    }
    return 1.0;
}

static void give_priors(struct fulcrum_candidate *candidate,
    const struct fulcrum_field *const *fields, size_t count)
{
    struct fulcrum_design_inputs *inputs = &candidate->inputs;
    struct fulcrum_prior *priors = fulcrum_allocate(count, sizeof *priors);
    for (size_t i = 0; i < count; i++) {
        priors[i] = (struct fulcrum_prior){fields[i], spread_of(candidate, fields[i])};
    }
    free(inputs->priors);
    inputs->priors = priors;
    inputs->prior_count = count;
    inputs->scenario.priors = priors;
    inputs->scenario.prior_count = count;
}

static bool is_prior(
    const struct fulcrum_candidates *list, const struct fulcrum_field *field)
{
    size_t i = 0;
    while (i < list->count && !(spread_of(&list->items[i], field) > 1.0)) {
        i++;
    }
    return i < list->count;
}

static void align(struct fulcrum_candidates *list)
{
    size_t field_count = 0;
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&field_count);
    const struct fulcrum_field **priors =
        fulcrum_allocate(field_count, sizeof(const struct fulcrum_field *));
    for (size_t j = 0; j < field_count; j++) {
        if (is_prior(list, &fields[j])) {
            priors[count++] = &fields[j];
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        give_priors(&list->items[i], priors, count);
    }
    free((void *)priors);
}

/* Multiples of the GPUs, or learner cores, that share them. */
static void offer_actors(struct fulcrum_candidate *candidate)
{
    const struct fulcrum_machine *machine = &candidate->design.machine;
    double replicas = machine->accelerator == FULCRUM_ACCELERATOR_GPU
                          ? candidate->design.run.gpu_count
                          : machine->learner_core_count;
    candidate->actor_choices =
        fulcrum_allocate(CHOICES, sizeof *candidate->actor_choices);
    for (size_t i = 0; i < CHOICES; i++) {
        double actors = actors_to_thread[i] * machine->cpu.thread_count;
        candidate->actor_choices[i] = replicas * fmax(1.0, round(actors / replicas));
    }
    candidate->actor_choice_count = CHOICES;
}

static enum fulcrum_status fill_plan(struct fulcrum_candidate *candidate,
    const struct fulcrum_actors_rule *rule, struct fulcrum_context *context,
    struct fulcrum_sweep_plan *plan, struct fulcrum_error *err)
{
    bool is_set = fulcrum_candidate_sets(candidate, "run.actor_count");
    TRY(fulcrum_actors_rule_check(rule, is_set,
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--best-actors",
        context, err));
    TRY(fulcrum_actors_rule_choices(
        rule, &candidate->actor_choices, &candidate->actor_choice_count, context, err));
    if (!isnan(rule->per_thread)) {
        plan->actors_per_thread = rule->per_thread;
    } else if (rule->best_of == NULL && !is_set &&
               !fulcrum_design_is_resident(&candidate->design)) {
        offer_actors(candidate);
    }
    plan->actor_choices = candidate->actor_choices;
    plan->actor_choice_count = candidate->actor_choice_count;
    return FULCRUM_OK;
}

/* Presets and settings, for the fields that no calibration gives: GPUs, price... */
static enum fulcrum_status find_design(
    struct fulcrum_candidate *candidate, struct fulcrum_error *err)
{
    const struct fulcrum_design_inputs *inputs = &candidate->inputs;
    candidate->design = inputs->base;
    for (size_t i = 0; i < inputs->setting_count; i++) {
        const struct fulcrum_setting *setting = &inputs->settings[i];
        TRY(setting->text != NULL ? fulcrum_field_set_text(setting->field,
                                        &candidate->design, setting->text, err)
                                  : fulcrum_field_set_number(setting->field,
                                        &candidate->design, setting->number, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status keep_draws(struct fulcrum_candidate *candidate,
    struct fulcrum_sweep_probe *probe, struct fulcrum_error *err)
{
    size_t count = 0;
    const double *draws =
        fulcrum_predictor_draws(fulcrum_sweep_probe_predictor(probe), &count);
    candidate->draws = calloc(count * FULCRUM_OUTPUT_COUNT + 1, sizeof *draws);
    TRY_MEMORY(candidate->draws, err, "draws of a point");
    if (count > 0) {
        memcpy(candidate->draws, draws, count * FULCRUM_OUTPUT_COUNT * sizeof *draws);
    }
    candidate->draw_count = count;
    return FULCRUM_OK;
}

/* What stands for a candidate that cannot run. */
static void give_up(
    struct fulcrum_candidate *candidate, const struct fulcrum_error *why)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        candidate->point.prediction.value[i] = FULCRUM_UNKNOWN;
    }
    candidate->point.prediction.actor_count = FULCRUM_UNKNOWN;
    size_t length = strcspn(why->detail, "\n");
    (void)snprintf(
        candidate->reason, sizeof candidate->reason, "%.*s", (int)length, why->detail);
}

static enum fulcrum_status predict_point(struct fulcrum_candidate *candidate,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_error *err)
{
    struct fulcrum_sweep_probe *probe = NULL;
    TRY(fulcrum_sweep_probe_new(candidate->scenario, plan, &probe, err));
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_error why = {.status = FULCRUM_OK};
    if (fulcrum_sweep_probe_point(probe, 0, &candidate->point, &why) == FULCRUM_OK) {
        status = keep_draws(candidate, probe, err);
    } else {
        give_up(candidate, &why);
    }
    fulcrum_sweep_probe_free(probe);
    return status;
}

static enum fulcrum_status predict(struct fulcrum_candidate *candidate,
    const struct fulcrum_candidates *list, struct fulcrum_error *err)
{
    struct fulcrum_sweep_plan plan = {.axis_count = 0, .predict = list->options};
    struct fulcrum_error why = {.status = FULCRUM_OK};
    enum fulcrum_status found =
        fulcrum_scenario_new(&candidate->inputs.scenario, &candidate->scenario, &why);
    if (found == FULCRUM_OK) {
        found = find_design(candidate, &why);
    }
    if (found != FULCRUM_OK) {
        give_up(candidate, &why);
        return FULCRUM_OK;
    }
    TRY(fill_plan(candidate, &list->settings->actors, list->context, &plan, err));
    return predict_point(candidate, &plan, err);
}

enum fulcrum_status fulcrum_candidates_predict(
    struct fulcrum_candidates *list, struct fulcrum_error *err)
{
    const volatile sig_atomic_t *stop = fulcrum_interrupt_watch();
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    align(list);
    fulcrum_progress_start(&progress, list->context);
    for (size_t i = 0; i < list->count && status == FULCRUM_OK; i++) {
        fulcrum_progress_update(&progress, (double)i / (double)list->count,
            fulcrum_string_get(&list->items[i].name));
        status = predict(&list->items[i], list, err);
        if (*stop != 0) {
            status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        }
    }
    fulcrum_progress_end(&progress);
    return status;
}

void fulcrum_candidate_column(
    const struct fulcrum_candidate *candidate, size_t output, double *column)
{
    for (size_t k = 0; k < candidate->draw_count; k++) {
        column[k] = candidate->draws[k * FULCRUM_OUTPUT_COUNT + output];
    }
}

void fulcrum_candidates_clear(struct fulcrum_candidates *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct fulcrum_candidate *candidate = &list->items[i];
        fulcrum_string_clear(&candidate->name);
        fulcrum_scenario_free(candidate->scenario);
        fulcrum_design_inputs_free(&candidate->inputs);
        free(candidate->actor_choices);
        free(candidate->draws);
    }
    free(list->items);
    *list = (struct fulcrum_candidates){.items = NULL};
}

enum fulcrum_status fulcrum_recommend_options(
    const struct fulcrum_recommend_settings *settings, double draws,
    struct fulcrum_context *context, struct fulcrum_predict_options *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_solve_settings_read(&settings->solve, draws, context, out, err));
    /* Simulated values are noisy, which matters where they are held against others. */
    if (out->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        out->solver.method = FULCRUM_METHOD_FAST;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_recommend_metric(const char *name, size_t fallback,
    struct fulcrum_context *context, size_t *out, struct fulcrum_error *err)
{
    size_t found = name == NULL ? fallback : fulcrum_output_find(name);
    if (found == FULCRUM_OUTPUT_COUNT) {
        char hint[FULCRUM_OUTPUT_HINT_BYTE];
        const struct fulcrum_names names = fulcrum_output_names();
        fulcrum_names_hint(&names, name, hint, sizeof hint);
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "--metric: unknown output '%s'%s", name, hint);
    }
    *out = found;
    return FULCRUM_OK;
}
