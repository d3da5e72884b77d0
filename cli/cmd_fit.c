/* cmd_fit.c - `fulcrum fit`: parameters fitted to published or measured references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/fit_job.h"
#include "cli/fit_notes.h"
#include "cli/fit_print.h"
#include "cli/fit_recipe.h"
#include "cli/message.h"
#include "model/try.h"
#include "presets/output.h"
#include "presets/preset.h"

/* The stem of the file's name. */
static void name_calibration(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file);
    (void)snprintf(out, size, "%.*s", (int)length, file);
}

/* Whether a file could be written, before the fit takes its time. */
static enum fulcrum_status check_output(const struct fulcrum_fit_settings *settings,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_note note;
    if (context->output_path == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_output_check(context->output_path, err));
    return fulcrum_fit_recipe_write(settings, note.text, sizeof note.text, err);
}

static enum fulcrum_status save(const struct fulcrum_fit_result *result,
    struct fulcrum_fit_inputs *inputs, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    char name[64];
    struct fulcrum_calibration *calibration = NULL;
    name_calibration(context->output_path, name, sizeof name);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_job_calibration(result, inputs, name, &calibration, err));
    TRY_OR_END(fulcrum_calibration_save(calibration, context->output_path, err));
    fulcrum_message_note(context, "%s%s", context->output_path,
        calibration->complete ? "" : " is marked incomplete");
end:
    fulcrum_calibration_free(calibration);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_fit_settings *settings = data;
    struct fulcrum_fit_inputs *inputs = NULL;
    struct fulcrum_reference_fit fit = {.misfit = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_fit_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(check_output(settings, context, err));
    TRY_OR_END(fulcrum_fit_job_run(settings, inputs, context, &fit, err));
    if (fit.stopped_in[0] != '\0') {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        fulcrum_message_note(context,
            "stopped in stage '%s': this is what there was by then", fit.stopped_in);
    }
    TRY_OR_END(fulcrum_fit_print(&fit, inputs, context, err));
    if (context->output_path != NULL) {
        const struct fulcrum_fit_result result = {settings, &fit};
        TRY_OR_END(save(&result, inputs, context, err));
    }
end:
    fulcrum_reference_fit_clear(&fit);
    fulcrum_fit_inputs_free(inputs);
    return status;
}

static const struct fulcrum_example examples[] = {
    {"fulcrum fit inci2020-fig3-text inci2020-fig3-further-text inci2020-fig4-text "
     "--hold-out 2 --leave-one-out -o fitted.json",
        "the three ratios of the paper, and what each is worth"},
    {"fulcrum fit inci2020-fig3-text -s workload.host.per_item_s=0 --draws 0",
        "how well it goes without a serial cost per observation"},
    {"fulcrum fit -m dgx-1 -w r2d2-atari runs.csv --free auto -o runs-fitted.json",
        "measurements of one's own, in columns 'actors' and 'steps_per_s'"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_fit = {
    .name = "fit",
    .summary = "fit parameters to published or measured throughput",
    .description =
        "Fits parameters of the network model to references of throughput, published "
        "ones or a CSV file of measurements (docs/fit.md). Values and "
        "errors of calibrations are the priors; the fit says what they predict before "
        "it, the best parameters (maximum a posteriori), and what is left of the "
        "priors (draws of the posterior by sequential Monte Carlo). A parameter of "
        "which three quarters of the prior's standard deviation are left was not "
        "identified.\n\n"
        "A few figures can be met by many parameters: meeting them proves little. "
        "--leave-one-out predicts each from the others.\n\n"
        "The fast method is corrected by simulations at the best parameters; the "
        "column 'simulated' is the mean of three more. With -o, a calibration is "
        "written that predict and explore take with -c; its notes tell what it was "
        "fitted to and how to make it again.\n\n"
        "Ctrl-C keeps the best parameters, and the draws made so far, once there are "
        "any.",
    .examples = examples,
    .arguments = fulcrum_fit_arguments,
    .groups = fulcrum_fit_groups,
    .settings_size = sizeof(struct fulcrum_fit_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run,
};
