/* test_calibrate.c - short real calibrations are complete, consistent and stoppable. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "calibrate/probe/calibrate.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/actor/placement.h"
#include "tests/support/fake_powercap.h"
#include "tests/support/probing.h"
#include "tests/support/suite.h"

/* Long enough for every probe to take its first samples. */
#define BUDGET_S 4.0

static const struct fulcrum_calibrate_options cheap = {
    .actor = "cartpole",
    .network = FULCRUM_NETWORK_MLP,
    .budget_s = BUDGET_S,
    .max_threads = 4,
    .seed = 7,
    .meter_root = "/nonexistent",
};

static int sample_is_whole(const struct fulcrum_series *series, size_t i)
{
    return isfinite(series->x[i]) && isfinite(series->value[i]) &&
           series->value[i] >= 0.0 && series->canary_rel[i] > 0.0 &&
           series->disturbed[i] <= 1.0;
}

static void assert_series_are_whole(const struct fulcrum_calibration *calibration)
{
    size_t broken_count = 0;
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        if (series->count == 0) {
            (void)printf("\n    %s is empty\n", series->name);
            broken_count++;
        }
        for (size_t j = 0; j < series->count; j++) {
            if (!sample_is_whole(series, j)) {
                (void)printf("\n    %s, sample %zu: %g at %g\n", series->name, j,
                    series->value[j], series->x[j]);
                broken_count++;
            }
        }
    }
    CU_ASSERT(calibration->series_count > 5);
    CU_ASSERT_EQUAL(broken_count, 0);
}

static void assert_quantities_are_positive(
    const struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &calibration->quantities[i];
        int good = isfinite(quantity->value) && quantity->value >= 0.0 &&
                   quantity->lo <= quantity->value * (1.0 + 1e-12) &&
                   quantity->hi >= quantity->value * (1.0 - 1e-12);
        if (!good) {
            (void)printf("\n    %s = %g in [%g, %g]\n", quantity->name, quantity->value,
                quantity->lo, quantity->hi);
        }
        CU_ASSERT(good);
    }
}

static void assert_is_there(
    const struct fulcrum_calibration *calibration, const char *const *names)
{
    for (; *names != NULL; names++) {
        double value = probing_value(calibration, *names);
        CU_ASSERT(isfinite(value));
        if (!isfinite(value)) {
            (void)printf("\n    %s is missing", *names);
        }
    }
}

TEST(test_calibration_holds_every_part)
{
    static const char *const expected[] = {"workload.step.mean_s", "workload.step.cv",
        "workload.network.per_batch_s", "workload.network.per_item_s",
        "workload.training.train_step_s", "workload.host.per_batch_s",
        "workload.host.per_item_s", "workload.host.delay_s", "actor_step_mean_s",
        "actor_step_median_s", "actor_step_without_reset_s", "reset_mean_s",
        "steps_per_episode", "inference_time_b1_s", "inference_time_b32_s",
        "inference_time_b256_s", "throughput_1_per_s", "train_step_flop", "duration_s",
        NULL};
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_SAYS(fulcrum_calibrate(&calibration, &cheap, &err), FULCRUM_OK, "");
    CU_ASSERT_EQUAL(calibration->complete, 1);
    CU_ASSERT_STRING_EQUAL(calibration->machine.name, "this");
    assert_is_there(calibration, expected);
    assert_series_are_whole(calibration);
    assert_quantities_are_positive(calibration);
    ASSERT_SAYS(fulcrum_calibration_check(calibration, &err), FULCRUM_OK, "");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_calibration_note(calibration, "power"), "not measured");
    CU_ASSERT_PTR_NOT_NULL(fulcrum_calibration_note(calibration, "cpu_model"));
    CU_ASSERT(calibration->batch_time.count >= 9);
    for (size_t i = 1; i < calibration->batch_time.count; i++) {
        CU_ASSERT(
            calibration->batch_time.size[i] > calibration->batch_time.size[i - 1]);
    }
    CU_ASSERT(calibration->capacity_count >= 2);
    assert_close("c(1)", calibration->capacity[0], 1.0, 1e-9);
    fulcrum_calibration_free(calibration);
}

/* Says stop once the run has come to `what`. */
struct stopper {
    const char *what;
    bool is_there;
    size_t calls;
    double last_frac;
};

static void note_progress(void *user, double done_frac, const char *what)
{
    struct stopper *stopper = user;
    stopper->calls++;
    CU_ASSERT(done_frac >= stopper->last_frac && done_frac <= 1.0);
    stopper->last_frac = done_frac;
    stopper->is_there = strcmp(what, stopper->what) == 0;
}

static bool stop_there(void *user)
{
    return ((struct stopper *)user)->is_there;
}

/* Where a run stops, whatever its budget: a NAN is no finding yet. */
TEST(test_stopped_calibration_keeps_what_was_measured)
{
    static const struct {
        const char *what;
        const char *actor; /* NULL: the first that is available */
        bool has_step;
    } cases[] = {{"preparing", "cartpole", false},
        {"memory of an environment", NULL, false},
        {"inference of a batch", "cartpole", true}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct stopper stopper = {.what = cases[i].what};
        struct fulcrum_calibrate_options options = cheap;
        options.actor = cases[i].actor;
        options.listener.progress = note_progress;
        options.listener.stop = stop_there;
        options.listener.user = &stopper;
        /* A long budget: only the stop can end it before the test's time is up. */
        options.budget_s = 30.0;
        struct fulcrum_calibration *found = NULL;
        CU_ASSERT_EQUAL(
            fulcrum_calibrate(&found, &options, NULL), FULCRUM_ERR_INTERRUPTED);
        CU_ASSERT_PTR_NOT_NULL_FATAL(found);
        if (found == NULL) {
            return;
        }
        CU_ASSERT(stopper.calls > 0);
        CU_ASSERT_EQUAL(found->complete, 0);
        CU_ASSERT_EQUAL(isfinite(probing_value(found, "workload.step.mean_s")) != 0,
            cases[i].has_step);
        CU_ASSERT(isnan(probing_value(found, "workload.network.per_item_s")));
        CU_ASSERT_EQUAL(strstr(probing_note(found, "actor"), "chosen") != NULL,
            options.actor == NULL);
        fulcrum_calibration_free(found);
    }
}

/* A busy machine may take longer to see every level: up to three times, ever longer. */
static struct fulcrum_calibration *calibrate_with_watts(const char *meter_root)
{
    struct fulcrum_calibrate_options options = cheap;
    struct fulcrum_calibration *calibration = NULL;
    options.meter_root = meter_root;
    for (int budget_s = 4; budget_s <= 16; budget_s *= 2) {
        options.budget_s = budget_s;
        fulcrum_calibration_free(calibration);
        calibration = NULL;
        ASSERT_SAYS(fulcrum_calibrate(&calibration, &options, &err), FULCRUM_OK, "");
        if (calibration == NULL ||
            fulcrum_calibration_parameter(calibration, "machine.cpu.idle_w") != NULL) {
            break;
        }
    }
    return calibration;
}

TEST(test_meter_that_opens_gives_watts)
{
    struct fake_powercap *fake = fake_powercap_new();
    struct fulcrum_calibration *calibration =
        calibrate_with_watts(fake_powercap_root(fake));
    fake_powercap_free(fake);
    CU_ASSERT_PTR_NOT_NULL_FATAL(calibration);
    if (calibration == NULL) {
        return;
    }
    /* The counter's thread may be late by some of the 0.3 s of a window. */
    double idle_w = probing_value(calibration, "machine.cpu.idle_w");
    assert_close("idle", idle_w, FAKE_POWERCAP_W, 0.4);
    assert_close("machine", calibration->machine.cpu.idle_w, idle_w, 0.0);
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
    fulcrum_calibration_free(calibration);
}

TEST(test_bad_options_are_refused)
{
    static const struct {
        struct fulcrum_calibrate_options options;
        enum fulcrum_status expected;
    } rows[] = {
        {{.budget_s = 0.1}, FULCRUM_ERR_RANGE},
        {{.budget_s = 1e6}, FULCRUM_ERR_RANGE},
        {{.budget_s = (double)NAN}, FULCRUM_ERR_RANGE},
        {{.nominal_train_batch = -1.0}, FULCRUM_ERR_RANGE},
        {{.max_threads = 1000000}, FULCRUM_ERR_RANGE},
        {{.actor = "walker"}, FULCRUM_ERR_UNKNOWN_NAME},
        {{.actor = "cartpole", .learner = "abacus"}, FULCRUM_ERR_UNKNOWN_NAME},
        {{.actor = "cartpole", .actor_options = {.frame_skip = 0.5}},
            FULCRUM_ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_calibration *calibration = NULL;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_calibrate(&calibration, &rows[i].options, &err), rows[i].expected);
        CU_ASSERT_PTR_NULL(calibration);
        CU_ASSERT(err.detail[0] != '\0');
    }
}

/* From the probe before the one that runs a thread for training on. */
static void refuse_threads(void *user, double done_frac, const char *what)
{
    (void)done_frac;
    pthread_attr_t *huge = user;
    if (strcmp(what, "inference beside training") == 0) {
        (void)pthread_setattr_default_np(huge);
    }
}

TEST(test_no_thread_leaves_the_caller_on_its_cores)
{
    pthread_attr_t usual;
    pthread_attr_t huge;
    CU_ASSERT_EQUAL_FATAL(pthread_getattr_default_np(&usual), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_getattr_default_np(&huge), 0);
    (void)pthread_attr_setstacksize(&huge, (size_t)1 << 60U);
    struct fulcrum_cpu_list before;
    struct fulcrum_cpu_list after;
    ASSERT_OK(fulcrum_cpu_list_allowed(&before, NULL));
    struct fulcrum_calibrate_options options = cheap;
    options.listener.progress = refuse_threads;
    options.listener.user = &huge;
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_error err = {.detail = ""};
    enum fulcrum_status status = fulcrum_calibrate(&calibration, &options, &err);
    (void)pthread_setattr_default_np(&usual);
    CU_ASSERT_NOT_EQUAL(status, FULCRUM_OK);
    assert_part(err.detail, "no thread for the learner");
    ASSERT_OK(fulcrum_cpu_list_allowed(&after, NULL));
    CU_ASSERT_EQUAL(after.count, before.count);
    fulcrum_calibration_free(calibration);
    (void)pthread_attr_destroy(&huge);
    (void)pthread_attr_destroy(&usual);
}

SUITE_SETUP
{
    return probing_has_learner() ? 0 : 77; /* skipped */
}
