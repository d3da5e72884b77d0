/* fit_job.c - one fit: what is computed, and the calibration made of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/fit_job.h"

#include <stdio.h>
#include <string.h>

#include "cli/fit_notes.h"
#include "cli/fit_recipe.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "model/try.h"

struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *interrupted;
};

static void show_progress(void *context, double done_frac, const char *stage)
{
    struct watch *watch = context;
    fulcrum_progress_update(&watch->progress, done_frac, stage);
}

static int is_interrupted(void *context)
{
    const struct watch *watch = context;
    return *watch->interrupted != 0;
}

enum fulcrum_status fulcrum_fit_job_run(const struct fulcrum_fit_settings *settings,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_reference_fit *out, struct fulcrum_error *err)
{
    struct watch watch = {.interrupted = fulcrum_interrupt_watch()};
    struct fulcrum_reference_fit_plan plan = fulcrum_fit_inputs_plan(inputs, settings);
    plan.progress = show_progress;
    plan.stop = is_interrupted;
    plan.progress_context = &watch;
    fulcrum_progress_start(&watch.progress, context);
    enum fulcrum_status status = fulcrum_reference_fit_run(&plan, out, err);
    fulcrum_progress_end(&watch.progress);
    return status;
}

/* Whether all draws are there that were wanted. */
static int is_whole(const struct fulcrum_fit_result *result)
{
    return result->fit->stopped_in[0] == '\0' ||
           result->fit->draw_count >= (size_t)result->settings->draws;
}

static void describe_quality(
    const struct fulcrum_fit_result *result, char *out, size_t size)
{
    const struct fulcrum_reference_fit *fit = result->fit;
    char draws[100] = "no draws; the best parameters, with a spread by slopes there";
    if (fit->draw_count > 0) {
        (void)snprintf(draws, sizeof draws,
            "%zu draws worth %.0f; the best parameters, with the spread of the "
            "posterior",
            fit->draw_count, fit->effective_count);
    }
    (void)snprintf(out, size, "objective %.4g, misfit %.4g; %s%s",
        fit->misfit + fit->penalty, fit->misfit, draws,
        is_whole(result) ? "" : "; stopped before there were all draws");
}

/* How good it is, what it saw, and how to make it again. */
static enum fulcrum_status set_notes(const struct fulcrum_fit_result *result,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference_fit *fit = result->fit;
    struct fulcrum_fit_notes notes;
    struct fulcrum_note text;
    enum fulcrum_status status = fulcrum_fit_notes_make(fit, inputs, &notes, err);
    if (status == FULCRUM_OK) {
        /* What the priors say of themselves is no longer so. */
        status = fulcrum_fit_note_set(calibration, "origin", "", err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_fit_note_set(
            calibration, FULCRUM_NOTE_FITTED_TO, notes.fitted_to, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_fit_note_set(
            calibration, FULCRUM_NOTE_HELD_OUT, notes.held_out, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_fit_recipe_write(
            result->settings, text.text, sizeof text.text, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_fit_note_set(
            calibration, FULCRUM_NOTE_FIT_ARGUMENTS, text.text, err);
    }
    describe_quality(result, text.text, sizeof text.text);
    return status == FULCRUM_OK
               ? fulcrum_fit_note_set(calibration, FULCRUM_NOTE_FIT, text.text, err)
               : status;
}

static void set_names(const struct fulcrum_fit_inputs *inputs, const char *name,
    struct fulcrum_calibration *calibration)
{
    char base[64];
    (void)snprintf(base, sizeof base, "%s", calibration->name);
    (void)snprintf(calibration->title, sizeof calibration->title,
        "%.60s, fitted to %s%s", base, inputs->references[0]->name,
        inputs->reference_count > 1 ? " and others" : "");
    (void)snprintf(calibration->name, sizeof calibration->name, "%s", name);
}

/* What was not fitted stays as the calibrations before have it. */
static enum fulcrum_status fill(const struct fulcrum_fit_result *result,
    const struct fulcrum_fit_inputs *inputs, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    char source[240];
    (void)snprintf(source, sizeof source, "fitted to %zu references, %s first",
        inputs->reference_count, inputs->references[0]->name);
    TRY(fulcrum_reference_fit_apply(result->fit, source, calibration, err));
    return set_notes(result, inputs, calibration, err);
}

enum fulcrum_status fulcrum_fit_job_calibration(const struct fulcrum_fit_result *result,
    struct fulcrum_fit_inputs *inputs, const char *name,
    struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *last =
        inputs->calibrations[inputs->calibration_count - 1];
    TRY(fill(result, inputs, last, err));
    last->complete = last->complete && is_whole(result);
    set_names(inputs, name, last);
    inputs->calibration_count--;
    *out = last;
    return FULCRUM_OK;
}

static enum fulcrum_status repeat(const struct fulcrum_fit_settings *settings,
    const char *name, struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_inputs *inputs = NULL;
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(fulcrum_fit_job_run(settings, inputs, context, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped"));
    }
    const struct fulcrum_fit_result result = {settings, &fit};
    status = fulcrum_fit_job_calibration(&result, inputs, name, out, err);
end:
    fulcrum_reference_fit_clear(&fit);
    fulcrum_fit_inputs_free(inputs);
    return status;
}

enum fulcrum_status fulcrum_fit_repeat(const char *arguments, const char *name,
    const struct fulcrum_context *context, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct fulcrum_context own = *context;
    struct fulcrum_fit_recipe *recipe = NULL;
    enum fulcrum_status status = fulcrum_fit_recipe_parse(arguments, &recipe, err);
    if (status == FULCRUM_OK) {
        status = repeat(fulcrum_fit_recipe_settings(recipe), name, &own, out, err);
    }
    fulcrum_fit_recipe_free(recipe);
    return status;
}
