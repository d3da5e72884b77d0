/* validate_job.c - references with what is predicted of them, as `validate` wants. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/validate_job.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* Results, stored ones too, are told apart by the names of their references. */
static enum fulcrum_status check_names(const struct fulcrum_validate_job *job,
    const char *const *texts, struct fulcrum_error *err)
{
    size_t last = job->reference_count - 1;
    const char *name = job->references[last]->name;
    for (size_t i = 0; i < last; i++) {
        FAIL_IF(strcmp(job->references[i]->name, name) == 0, err, FULCRUM_ERR_RANGE,
            "%s and %s are both named '%s': expected references of different names",
            texts[i], texts[last], name);
    }
    return FULCRUM_OK;
}

/* Those that the user named, or every preset. */
static enum fulcrum_status load_references(struct fulcrum_validate_job *job,
    const struct fulcrum_validate_plan *plan, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = plan->references;
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = names->count;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_check_host(names, &plan->host, context, err));
    if (names->count == 0) {
        TRY_OR_END(
            fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, err));
    }
    job->references = fulcrum_allocate(count, sizeof(struct fulcrum_reference *));
    for (size_t i = 0; i < count; i++) {
        const char *text = names->count > 0 ? names->items[i] : entries[i].name;
        TRY_OR_END(fulcrum_reference_text_load(
            text, &plan->host, context, &job->references[i], err));
        job->reference_count++;
        if (names->count > 0) {
            TRY_OR_END(check_names(job, (const char *const *)names->items, err));
        }
    }
end:
    free(entries);
    return status;
}

static enum fulcrum_status add_calibration(
    struct fulcrum_validate_job *job, const char *name, struct fulcrum_error *err)
{
    struct fulcrum_calibration *loaded = NULL;
    TRY(fulcrum_calibration_load(name, &loaded, err));
    job->calibrations[job->calibration_count++] = loaded;
    return FULCRUM_OK;
}

/* Presets that were not fitted to any reference are of no use here. */
static void drop_unfitted(struct fulcrum_validate_job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->calibration_count; i++) {
        if (fulcrum_calibration_note(job->calibrations[i], FULCRUM_NOTE_FITTED_TO) !=
            NULL) {
            job->calibrations[kept++] = job->calibrations[i];
        } else {
            fulcrum_calibration_free(job->calibrations[i]);
        }
    }
    job->calibration_count = kept;
}

/* The one that the user named, or every preset that was fitted. */
static enum fulcrum_status load_calibrations(
    struct fulcrum_validate_job *job, const char *given, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 1;
    enum fulcrum_status status = FULCRUM_OK;
    if (given == NULL) {
        TRY_OR_END(
            fulcrum_preset_list(FULCRUM_PRESET_CALIBRATION, &entries, &count, err));
    }
    job->calibrations = fulcrum_allocate(count, sizeof(struct fulcrum_calibration *));
    for (size_t i = 0; i < count; i++) {
        TRY_OR_END(add_calibration(job, given != NULL ? given : entries[i].name, err));
    }
    if (given == NULL) {
        drop_unfitted(job);
    }
end:
    free(entries);
    return status;
}

bool fulcrum_validate_is_fitted(const struct fulcrum_validate_job *job,
    const struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < job->reference_count; i++) {
        if (fulcrum_fitted_points_part(calibration, job->references[i])) {
            return 1;
        }
    }
    return 0;
}

/* The next set; `calibration` NULL: what the reference names. */
static enum fulcrum_status add_set(struct fulcrum_validate_job *job,
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_validate(reference, calibration, &job->sets[job->count], err);
    job->count += status == FULCRUM_OK ? 1 : 0;
    return status;
}

/* Also from each calibration that was fitted to the reference as a whole. */
static enum fulcrum_status add_sets(struct fulcrum_validate_job *job,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    size_t first = job->count;
    TRY(add_set(job, reference, NULL, err));
    for (size_t i = 0; i < job->calibration_count; i++) {
        const struct fulcrum_calibration *fitted = job->calibrations[i];
        bool is_new = strcmp(job->sets[first].calibration, fitted->name) != 0;
        if (is_new && fulcrum_fitted_points_whole(fitted, reference)) {
            TRY(add_set(job, reference, fitted, err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict(struct fulcrum_validate_job *job, bool is_given,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t most = job->reference_count * (job->calibration_count + 1);
    job->sets = fulcrum_allocate(most, sizeof *job->sets);
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_progress_start(&progress, context);
    for (size_t i = 0; i < job->reference_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_reference *reference = job->references[i];
        double done_frac = (double)i / (double)job->reference_count;
        fulcrum_progress_update(&progress, done_frac, reference->name);
        status = is_given ? add_set(job, reference, job->calibrations[0], err)
                          : add_sets(job, reference, err);
    }
    fulcrum_progress_end(&progress);
    return status;
}

enum fulcrum_status fulcrum_validate_job_run(const struct fulcrum_validate_plan *plan,
    struct fulcrum_context *context, struct fulcrum_validate_job *out,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_validate_job){.count = 0};
    TRY(load_references(out, plan, context, err));
    TRY(load_calibrations(out, plan->calibration, err));
    return predict(out, plan->calibration != NULL, context, err);
}

void fulcrum_validate_job_clear(struct fulcrum_validate_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        fulcrum_validation_clear(&job->sets[i]);
    }
    for (size_t i = 0; i < job->reference_count; i++) {
        fulcrum_reference_free(job->references[i]);
    }
    for (size_t i = 0; i < job->calibration_count; i++) {
        fulcrum_calibration_free(job->calibrations[i]);
    }
    free(job->sets);
    free((void *)job->references);
    free((void *)job->calibrations);
    *job = (struct fulcrum_validate_job){.count = 0};
}

enum fulcrum_comparison_filter fulcrum_validate_filter(
    const struct fulcrum_validation *set)
{
    return fulcrum_comparison_errors(
               &set->comparison, NULL, FULCRUM_COMPARE_PREDICTED, -1)
                       .count > 0
               ? FULCRUM_COMPARE_PREDICTED
               : FULCRUM_COMPARE_FITTED;
}

const struct fulcrum_observation *fulcrum_validate_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item)
{
    return &comparison->reference->points[item->point].observations[item->observation];
}
