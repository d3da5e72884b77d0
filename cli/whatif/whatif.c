/* whatif.c - what the commands share that compare designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/whatif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/option.h"
#include "model/try.h"

enum fulcrum_status fulcrum_subject_read(const struct fulcrum_design_settings *settings,
    struct fulcrum_context *context, struct fulcrum_subject *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_design_inputs_load(settings, context, &out->inputs, err));
    size_t used = 0;
    (void)snprintf(out->calibrations, sizeof out->calibrations, "none");
    for (size_t i = 0; i < out->inputs.named_count && used < sizeof out->calibrations;
         i++) {
        int length = snprintf(out->calibrations + used, sizeof out->calibrations - used,
            "%s%s", i > 0 ? ", " : "", out->inputs.calibrations[i]->name);
        used += length > 0 ? (size_t)length : 0;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_subject_prepare(struct fulcrum_subject *subject,
    const struct fulcrum_setting *settings, size_t count, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {settings, count, 0, 0};
    TRY(fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, err));
    return fulcrum_scenario_design(subject->scenario, &point, &subject->design, err);
}

void fulcrum_subject_clear(struct fulcrum_subject *subject)
{
    fulcrum_scenario_free(subject->scenario);
    fulcrum_design_inputs_free(&subject->inputs);
    subject->scenario = NULL;
}

double fulcrum_inputs_number(
    const struct fulcrum_design_inputs *inputs, const char *path)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    double value = fulcrum_field_number(field, &inputs->base);
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == field) {
            value = inputs->settings[i].number;
        }
    }
    return value;
}

bool fulcrum_inputs_set(const struct fulcrum_design_inputs *inputs, const char *path)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    size_t i = 0;
    while (i < inputs->setting_count && inputs->settings[i].field != field) {
        i++;
    }
    return i < inputs->setting_count;
}

void fulcrum_inputs_add(
    struct fulcrum_design_inputs *inputs, const char *path, double number)
{
    size_t count = inputs->setting_count;
    struct fulcrum_setting *settings = fulcrum_allocate(count + 1, sizeof *settings);
    for (size_t i = 0; i < count; i++) {
        settings[i] = inputs->settings[i];
    }
    settings[count] = (struct fulcrum_setting){fulcrum_field_find(path), number, NULL};
    free(inputs->settings);
    inputs->settings = settings;
    inputs->setting_count = count + 1;
    inputs->scenario.settings = settings;
    inputs->scenario.setting_count = count + 1;
}

void fulcrum_inputs_give_priors(
    struct fulcrum_design_inputs *inputs, struct fulcrum_prior *priors, size_t count)
{
    free(inputs->priors);
    inputs->priors = priors;
    inputs->prior_count = count;
    inputs->scenario.priors = priors;
    inputs->scenario.prior_count = count;
}

enum fulcrum_status fulcrum_numbers_read(struct fulcrum_numbers *out, const char *text,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_range_parse(out->field, text, &out->values, &out->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = FULCRUM_EXIT_USAGE;
        return fulcrum_fail_in(err, status, out->option);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_actors_settle(const struct fulcrum_actors_rule *rule,
    const struct fulcrum_design_inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_actors *out, struct fulcrum_error *err)
{
    double fixed = fulcrum_inputs_number(inputs, "run.actor_count");
    bool is_given = rule->best_of != NULL || !isnan(rule->per_thread);
    TRY(fulcrum_actors_rule_check(rule, !isnan(fixed),
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--best-actors",
        context, err));
    TRY(fulcrum_actors_rule_choices(
        rule, &out->choices, &out->choice_count, context, err));
    if (!isnan(fixed)) {
        (void)snprintf(out->text, sizeof out->text, "%.10g", fixed);
    } else if (!is_given && fulcrum_design_is_resident(&inputs->base)) {
        (void)snprintf(out->text, sizeof out->text, "%s", fulcrum_actors_rule_none);
    } else {
        out->per_thread =
            rule->best_of == NULL ? fulcrum_actors_rule_per_thread(rule) : 0.0;
        fulcrum_actors_rule_text(rule, out->text, sizeof out->text);
    }
    return FULCRUM_OK;
}
