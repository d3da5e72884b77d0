/* test_sweep_pareto.c - metrics of a front as they are written, and said again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output/sweep_columns.h"

#include <string.h>

#include "tests/support/suite.h"

/* A sweep over threads and actors. */
struct fixture {
    struct fulcrum_sweep_axis axes[2];
    struct fulcrum_sweep_plan plan;
    struct fulcrum_context context;
    struct fulcrum_error err;
};

static void start(struct fixture *f)
{
    static const double values[] = {1.0, 2.0};
    memset(f, 0, sizeof *f);
    f->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), values, 2};
    f->axes[1] =
        (struct fulcrum_sweep_axis){fulcrum_field_find("run.actor_count"), values, 2};
    f->plan = (struct fulcrum_sweep_plan){.axes = f->axes, .axis_count = 2};
}

TEST(test_metrics_are_outputs_and_fields_with_their_sense)
{
    static const struct {
        const char *list;
        const char *text;
    } cases[] = {
        {"steps_per_s,system_w", "more steps_per_s against less system_w"},
        {"runtime_s,steps_per_j_gpu,machine.cpu.thread_count",
            "less runtime_s against more steps_per_j_gpu against less "
            "machine.cpu.thread_count"},
        {"steps_per_s:min,system_w:max", "less steps_per_s against more system_w"},
        {"actors:max,gpu_busy_frac", "more run.actor_count against more gpu_busy_frac"},
    };
    struct fixture f;
    start(&f);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_sweep_pareto pareto;
        char text[300];
        ASSERT_OK(fulcrum_sweep_pareto_parse(
            cases[i].list, &f.plan, &f.context, &pareto, &f.err));
        fulcrum_sweep_pareto_text(&pareto, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
    CU_ASSERT_EQUAL(f.context.exit_code, 0);
}

TEST(test_what_is_no_front_is_refused_with_a_reason)
{
    static const struct {
        const char *list;
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {"steps_per_s", FULCRUM_ERR_RANGE,
            "--pareto steps_per_s: expected two or three"},
        {"steps_per_s,gpu_w,cpu_w,gpu_j", FULCRUM_ERR_RANGE, "expected two or three"},
        {"gpu_w,gpu_w:max", FULCRUM_ERR_RANGE, "gpu_w is given twice"},
        {"actors,run.actor_count", FULCRUM_ERR_RANGE, "run.actor_count is given twice"},
        {"step_per_s,gpu_w", FULCRUM_ERR_UNKNOWN_NAME, "did you mean 'steps_per_s'?"},
        {"gpu_w,gpu_j:least", FULCRUM_ERR_FORMAT,
            "'gpu_j:least': expected :max or :min"},
        {"gpu_w,qqqqqqqq", FULCRUM_ERR_UNKNOWN_NAME,
            "'qqqqqqqq': expected steps_per_s, "},
        {"gpu_w,", FULCRUM_ERR_UNKNOWN_NAME, "unknown metric ''"},
        {"", FULCRUM_ERR_RANGE, "--pareto : expected two or three"},
        /* It does not vary. */
        {"gpu_w,machine.rest_w", FULCRUM_ERR_UNKNOWN_NAME, "'machine.rest_w'"},
    };
    struct fixture f;
    start(&f);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_sweep_pareto pareto = {.metric_count = 77};
        f.context.exit_code = 0;
        CU_ASSERT_EQUAL(fulcrum_sweep_pareto_parse(
                            cases[i].list, &f.plan, &f.context, &pareto, &f.err),
            cases[i].status);
        assert_part(f.err.detail, cases[i].detail);
        CU_ASSERT_EQUAL(f.context.exit_code, 2);
        CU_ASSERT_EQUAL(pareto.metric_count, 77);
    }
}
