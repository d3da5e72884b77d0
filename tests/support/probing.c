/* probing.c - probes visited by themselves, and what calibrations say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/probing.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

bool probing_has_learner(void)
{
    const struct fulcrum_learner_options options = {.network = FULCRUM_NETWORK_MLP,
        .max_batch = 1,
        .input_count = 4,
        .action_count = 1,
        .train_batch = 1,
        .train_unroll = 1};
    const struct fulcrum_learner *learner = fulcrum_learner_find("cpu");
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_learner_info info;
    if (learner == NULL || learner->open(&options, &state, &info, NULL) != FULCRUM_OK) {
        return false;
    }
    learner->close(state);
    return true;
}

struct fulcrum_calibration *probing_report(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *state)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    CU_ASSERT_EQUAL(fulcrum_probe_report(probe, state, calibration, &err), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_calibration_check(calibration, &err), FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    return calibration;
}

bool probing_stop(void *user)
{
    (void)user;
    return true;
}

struct fulcrum_calibration *probing_run(const struct fulcrum_probe *probe,
    struct fulcrum_bench *bench, int visits, double visit_s)
{
    struct fulcrum_probe_state state;
    ASSERT_OK(fulcrum_probe_open(probe, &state, bench, NULL));
    for (int i = 0; i < visits; i++) {
        CU_ASSERT_EQUAL(
            probe->visit(&state, fulcrum_wall_s() + visit_s, NULL), FULCRUM_OK);
    }
    struct fulcrum_calibration *calibration = probing_report(probe, &state);
    fulcrum_probe_close(probe, &state);
    return calibration;
}

double probing_value(const struct fulcrum_calibration *calibration, const char *name)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, name);
    const struct fulcrum_quantity *quantity =
        fulcrum_calibration_quantity(calibration, name);
    return parameter != NULL  ? parameter->value
           : quantity != NULL ? quantity->value
                              : (double)NAN;
}

const char *probing_note(const struct fulcrum_calibration *calibration, const char *key)
{
    const char *text = fulcrum_calibration_note(calibration, key);
    return text != NULL ? text : "";
}

const struct fulcrum_series *probing_series(
    const struct fulcrum_calibration *calibration, const char *name,
    const char *condition)
{
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        if (strcmp(series->name, name) == 0 &&
            (condition == NULL || strcmp(series->condition, condition) == 0)) {
            return series;
        }
    }
    return NULL;
}
