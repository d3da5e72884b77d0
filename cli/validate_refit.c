/* validate_refit.c - fits of calibrations, repeated and compared. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate_refit.h"

#include "cli/fit_job.h"
#include "cli/message.h"
#include "cli/moved.h"
#include "model/try.h"

static void compare_parameter(const struct fulcrum_calibration *stored,
    const struct fulcrum_parameter *from, const struct fulcrum_parameter *to,
    double most_rel, struct fulcrum_check_list *checks)
{
    int value_moved =
        to == NULL || fulcrum_moved_rel(from->value, to->value) > most_rel;
    int error_moved = to == NULL || fulcrum_moved_rel(from->standard_error,
                                        to->standard_error) > most_rel;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->name,
        value_moved || error_moved ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_PASSED,
        "fitted again: %s", from->path);
    if (to == NULL) {
        fulcrum_check_say(check, "is no parameter any more");
    } else if (value_moved) {
        fulcrum_check_say(
            check, "comes out as %.6g, %.6g stored", to->value, from->value);
    } else if (error_moved) {
        fulcrum_check_say(check, "has a standard error of %.6g, %.6g stored",
            to->standard_error, from->standard_error);
    }
}

static enum fulcrum_status refit(const struct fulcrum_calibration *stored,
    double most_rel, const struct fulcrum_context *context,
    struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    const char *arguments = fulcrum_calibration_note(stored, "fit_arguments");
    if (arguments == NULL) {
        fulcrum_check_say(fulcrum_check_list_add(checks, stored->name,
                              FULCRUM_CHECK_SKIPPED, "fitted again"),
            "it has no note fit_arguments");
        return FULCRUM_OK;
    }
    struct fulcrum_calibration *again = NULL;
    fulcrum_message_note(context, "fit %s", arguments);
    enum fulcrum_status status =
        fulcrum_fit_repeat(arguments, stored->name, context, &again, err);
    if (status != FULCRUM_OK) {
        return fulcrum_fail_in(err, status, stored->name);
    }
    for (size_t i = 0; i < stored->parameter_count; i++) {
        const struct fulcrum_parameter *from = &stored->parameters[i];
        compare_parameter(stored, from,
            fulcrum_calibration_parameter(again, from->path), most_rel, checks);
    }
    fulcrum_calibration_free(again);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_validate_refit(const struct fulcrum_validate_job *job,
    double most_rel, const struct fulcrum_context *context,
    struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    for (size_t i = 0; i < job->calibration_count; i++) {
        if (fulcrum_validate_is_fitted(job, job->calibrations[i])) {
            TRY(refit(job->calibrations[i], most_rel, context, checks, err));
        }
    }
    return FULCRUM_OK;
}
