/* cmd_frameworks.c - `fulcrum-bench frameworks`: published frameworks, predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/commands.h"
#include "bench/frameworks.h"
#include "cli/output/report.h"
#include "model/try.h"

/* In the order of enum fulcrum_framework_rule. Files get fractions, people percent. */
static const struct fulcrum_report_head columns[] = {
    {"left_out", FULCRUM_COLUMN_TEXT, "left out"},
    {"framework", FULCRUM_COLUMN_TEXT, NULL},
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"points", FULCRUM_COLUMN_NUMBER, NULL},
    {"network_mape_frac", FULCRUM_COLUMN_NUMBER, "network %"},
    {"network_max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"capped_hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "capped hyperbola %"},
    {"capped_hyperbola_max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "hyperbola %"},
    {"hyperbola_max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"capped_steps_mape_frac", FULCRUM_COLUMN_NUMBER, "capped, step %"},
    {"capped_steps_max_frac", FULCRUM_COLUMN_NUMBER, "max"},
};

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    (void)data;
    struct fulcrum_framework_rows rows = {.count = 0};
    TRY(fulcrum_frameworks_run(&rows, err));
    struct fulcrum_report *report =
        fulcrum_report_new("frameworks", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < rows.count; i++) {
        const struct fulcrum_framework_row *row = &rows.items[i];
        double unit = context->format == FULCRUM_FORMAT_TABLE ? 100.0 : 1.0;
        fulcrum_report_add_text(report, row->left_out);
        fulcrum_report_add_text(report, row->series);
        fulcrum_report_add_text(report, row->reference);
        fulcrum_report_add_number(
            report, (double)row->errors[FULCRUM_FRAMEWORK_NETWORK].count);
        for (size_t rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
            fulcrum_report_add_number(report, unit * row->errors[rule].mape_frac);
            fulcrum_report_add_number(report, unit * row->errors[rule].max_frac);
        }
    }
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-bench-frameworks", context, err);
    fulcrum_report_free(report);
    fulcrum_framework_rows_clear(&rows);
    return status;
}

static const struct fulcrum_example examples[] = {
    {"fulcrum-bench frameworks", "five frameworks on ten cores, three environments"},
    {"fulcrum validate sf-fig3-36-core-atari --points",
        "the same calibrations on another machine, point by point"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_bench_command_frameworks = {
    .program = FULCRUM_BENCH_PROGRAM,
    .name = "frameworks",
    .summary = "errors on published frameworks, beside formulas of a few numbers",
    .description =
        "Predicts what Sample Factory's authors measured of five frameworks on ten "
        "cores, and tells mean and largest error of the points that no fit has seen: "
        "numbers of environments other than the 20, 80 and 320 that the calibrations "
        "were fitted to, then all points of one environment from SEED RL on the other "
        "two. Beside the network stand the capped hyperbola and N / (a + b N), fitted "
        "to the same points; where an environment is left out also the capped "
        "hyperbola that knows the time of a step of each.\n\n"
        "docs/frameworks.md says how the set-up was chosen, which matters here, and "
        "what follows.",
    .examples = examples,
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_TABLE,
    .run = run,
};
