/* candidates.c - what the questions of `fulcrum recommend` have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/candidates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/string.h"
#include "model/try.h"

/*
 * A draw is a stream of random numbers that priors take one after the other, in their
 * order, and calibrations after them. So each design gets a place for every prior that
 * any of them has.
 */

/* Actors to a hardware thread that a machine may choose from where nobody says. */
static const double actors_to_thread[] = {0.5, 1.0, 2.0, 4.0, 8.0, 16.0};
enum { CHOICES = sizeof actors_to_thread / sizeof actors_to_thread[0] };

/* 1, no spread, where the field is no prior. */
static double spread_of(
    const struct fulcrum_candidate *candidate, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < candidate->subject.inputs.prior_count; i++) {
        if (candidate->subject.inputs.priors[i].field == field) {
            return candidate->subject.inputs.priors[i].spread_factor;
        }
    }
    return 1.0;
}

/* Presets and settings, for the fields that no calibration gives: GPUs, price... */
static enum fulcrum_status find_design(
    struct fulcrum_candidate *candidate, struct fulcrum_error *err)
{
    const struct fulcrum_design_inputs *inputs = &candidate->subject.inputs;
    candidate->subject.design = inputs->base;
    for (size_t i = 0; i < inputs->setting_count; i++) {
        const struct fulcrum_setting *setting = &inputs->settings[i];
        TRY(setting->text != NULL
                ? fulcrum_field_set_text(
                      setting->field, &candidate->subject.design, setting->text, err)
                : fulcrum_field_set_number(setting->field, &candidate->subject.design,
                      setting->number, err));
    }
    return FULCRUM_OK;
}

/* What stands for a candidate that cannot run. */
static void give_up(struct fulcrum_candidate *candidate,
    struct fulcrum_prediction *prediction, const struct fulcrum_error *why)
{
    *prediction = fulcrum_prediction_unknown();
    size_t length = strcspn(why->detail, "\n");
    (void)snprintf(
        candidate->reason, sizeof candidate->reason, "%.*s", (int)length, why->detail);
}

static enum fulcrum_status predict_candidate(
    const struct fulcrum_candidates *list, size_t at, struct fulcrum_error *err)
{
    struct fulcrum_candidate *candidate = &list->items[at];
    struct fulcrum_subject *subject = &candidate->subject;
    struct fulcrum_prediction *prediction = &list->study->predictions[at];
    struct fulcrum_error why = {.status = FULCRUM_OK};
    if (fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, &why) !=
            FULCRUM_OK ||
        find_design(candidate, &why) != FULCRUM_OK) {
        give_up(candidate, prediction, &why);
        return FULCRUM_OK;
    }
    const struct fulcrum_actors_rule *rule = &list->settings->actors;
    TRY(fulcrum_actors_settle(
        rule, &subject->inputs, list->context, &candidate->actors, err));
    if (rule->best_of == NULL && isnan(rule->per_thread)) {
        candidate->actors.per_thread = 0.0;
        if (!fulcrum_inputs_set(&subject->inputs, "run.actor_count") &&
            !fulcrum_design_is_resident(&subject->design)) {
            /* Multiples of the GPUs, or learner cores, that share them. */
            const struct fulcrum_machine *machine = &candidate->subject.design.machine;
            struct fulcrum_actors *actors = &candidate->actors;
            double replicas = machine->accelerator == FULCRUM_ACCELERATOR_GPU
                                  ? candidate->subject.design.run.gpu_count
                                  : machine->learner_core_count;
            actors->choices = fulcrum_allocate(CHOICES, sizeof *actors->choices);
            actors->choice_count = CHOICES;
            for (size_t i = 0; i < CHOICES; i++) {
                double count = actors_to_thread[i] * machine->cpu.thread_count;
                actors->choices[i] = replicas * fmax(1.0, round(count / replicas));
            }
        }
    }
    const struct fulcrum_sweep_plan plan = {.predict = list->options,
        .actors_per_thread = candidate->actors.per_thread,
        .actor_choices = candidate->actors.choices,
        .actor_choice_count = candidate->actors.choice_count};
    struct fulcrum_sweep_probe *probe = NULL;
    struct fulcrum_sweep_point point = {.index = 0};
    TRY(fulcrum_sweep_probe_new(subject->scenario, &plan, &probe, err));
    if (fulcrum_sweep_probe_point(probe, 0, &point, &why) == FULCRUM_OK) {
        fulcrum_study_keep(list->study, at, &point.prediction,
            fulcrum_sweep_probe_predictor(probe), list->outputs);
    } else {
        give_up(candidate, prediction, &why);
    }
    fulcrum_sweep_probe_free(probe);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_candidates_predict(
    struct fulcrum_candidates *list, struct fulcrum_error *err)
{
    struct fulcrum_progress watch;
    enum fulcrum_status status = FULCRUM_OK;
    size_t output_count = 0;
    while (list->outputs[output_count] != FULCRUM_OUTPUT_COUNT) {
        output_count++;
    }
    TRY(fulcrum_study_new(
        list->count, output_count, (size_t)list->options.draws, &list->study, err));
    size_t field_count = 0;
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&field_count);
    const struct fulcrum_field **common =
        fulcrum_allocate(field_count, sizeof(const struct fulcrum_field *));
    for (size_t j = 0; j < field_count; j++) {
        bool is_prior = false;
        for (size_t i = 0; i < list->count && !is_prior; i++) {
            is_prior = spread_of(&list->items[i], &fields[j]) > 1.0;
        }
        if (is_prior) {
            common[count++] = &fields[j];
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        struct fulcrum_prior *priors = fulcrum_allocate(count, sizeof *priors);
        for (size_t j = 0; j < count; j++) {
            priors[j] = (struct fulcrum_prior){
                common[j], spread_of(&list->items[i], common[j])};
        }
        fulcrum_inputs_give_priors(&list->items[i].subject.inputs, priors, count);
    }
    free((void *)common);
    fulcrum_watch_start(&watch, list->context, "");
    for (size_t i = 0; i < list->count && status == FULCRUM_OK; i++) {
        watch.stage = fulcrum_string_get(&list->items[i].name);
        (void)fulcrum_watch_show(&watch, (double)i / (double)list->count);
        status = predict_candidate(list, i, err);
        if (fulcrum_progress_stops(&watch)) {
            status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        }
    }
    fulcrum_progress_end(&watch);
    return status;
}

void fulcrum_candidates_clear(struct fulcrum_candidates *list)
{
    for (size_t i = 0; i < list->count; i++) {
        fulcrum_string_clear(&list->items[i].name);
        fulcrum_subject_clear(&list->items[i].subject);
        free(list->items[i].actors.choices);
    }
    free(list->items);
    fulcrum_study_free(list->study);
    *list = (struct fulcrum_candidates){.items = NULL};
}

enum fulcrum_status fulcrum_recommend_options(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_predict_options *out, struct fulcrum_error *err)
{
    TRY(fulcrum_solve_settings_read(
        &settings->solve, FULCRUM_DRAWS, context, out, err));
    /* Simulated values are noisy, which matters where they are held against others. */
    if (out->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        out->solver.method = FULCRUM_METHOD_FAST;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_recommend_metric(const char *name,
    struct fulcrum_context *context, size_t *out, struct fulcrum_error *err)
{
    size_t found =
        name == NULL ? FULCRUM_OUTPUT_steps_per_s : fulcrum_output_find(name);
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
