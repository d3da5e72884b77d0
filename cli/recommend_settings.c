/* recommend_settings.c - what the questions of `fulcrum recommend` have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recommend_settings.h"

#include <math.h>

#include "model/nearest.h"
#include "model/try.h"

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
