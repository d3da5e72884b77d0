/* test_calibration_file.c - calibrations come back as they were saved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/string.h"
#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define SCHEMA  "\"schema\":{\"name\":\"fulcrum-calibration\",\"version\":1},"
#define HEAD    "{" SCHEMA "\"kind\":\"calibration\",\"name\":\"c\","
#define MACHINE "\"machine\":\"dgx-1\","
#define STEP                                                                           \
    "{\"path\":\"workload.step.mean_s\",\"value\":0.002,\"standard_error\":0.001,"     \
    "\"scale\":\"log\",\"origin\":\"prior\",\"source\":\"s\"}"
#define HOST                                                                           \
    "{\"path\":\"workload.host.delay_s\",\"value\":0.001,\"standard_error\":0.001,"    \
    "\"scale\":\"linear\",\"origin\":\"fitted\",\"source\":\"s\"}"

static enum fulcrum_status load(
    const char *content, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, "c.json", content);
    enum fulcrum_status status = fulcrum_calibration_load(path, out, err);
    scratch_free(&scratch);
    return status;
}

TEST(test_the_nearest_preset_is_suggested)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_FAILS(fulcrum_calibration_load("v100prior", &calibration, &err),
        FULCRUM_ERR_UNKNOWN_NAME, "did you mean v100-prior?");
}

TEST(test_an_absent_covariance_is_diagonal)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(
        load(HEAD MACHINE "\"parameters\":[" STEP "," HOST "]}", &calibration, NULL));
    CU_ASSERT_STRING_EQUAL(calibration->machine.name, "dgx-1");
    CU_ASSERT_STRING_EQUAL(calibration->title, "c");
    CU_ASSERT_EQUAL(calibration->complete, 1);
    assert_close("variance", calibration->covariance[0], 1e-6, 1e-12);
    CU_ASSERT_EQUAL(calibration->covariance[1], 0.0);
    fulcrum_calibration_free(calibration);
}

static void add_parameters(struct fulcrum_calibration *calibration)
{
    static const struct fulcrum_parameter parameters[] = {
        {"workload.step.mean_s", NULL, 1.0 / 3.0, 0.1 / 3.0, FULCRUM_SCALE_LOG,
            FULCRUM_ORIGIN_FITTED, "fit of \"throughput\""},
        {"machine.cpu.smt_yield_frac", NULL, 0.25, 0.07, FULCRUM_SCALE_LOGIT,
            FULCRUM_ORIGIN_PRIOR, "\xc2\xb1 0.07\n"},
        {"workload.host.delay_s", NULL, 4e-4, 0.0, FULCRUM_SCALE_LINEAR,
            FULCRUM_ORIGIN_MEASURED, ""},
    };
    for (size_t i = 0; i < 3; i++) {
        ASSERT_OK(fulcrum_calibration_add_parameter(calibration, &parameters[i], NULL));
    }
    ASSERT_OK(fulcrum_calibration_set_covariance(calibration, "workload.step.mean_s",
        "machine.cpu.smt_yield_frac", -0.3 * 0.07 * 0.1 / 3.0, NULL));
    const double draws[] = {1.0 / 7.0, NAN, 3e-4, 0.3, NAN, 5e-4};
    ASSERT_OK(fulcrum_calibration_set_draws(calibration, draws, 2, NULL));
}

/* Every part is there, with values that plain decimals do not hold. */
static struct fulcrum_calibration *full_calibration(void)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load("dgx-1", &design, NULL, NULL));
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    (void)snprintf(calibration->name, sizeof calibration->name, "full");
    (void)snprintf(calibration->title, sizeof calibration->title, "all \"parts\"");
    calibration->complete = 0;
    calibration->machine = design.machine;
    calibration->machine.cpu.clock_hz = 2.2e9 / 7.0;
    calibration->machine.cpu.idle_w = (double)NAN;
    add_parameters(calibration);
    static const double x[] = {1.0, 2.0, 4.0};
    static const double y[] = {1.0, 1.9 / 0.97, 3.7 / 1.1};
    static const double samples[] = {0.1 + 0.2, (double)NAN, 5e-324};
    ASSERT_OK(fulcrum_calibration_set_capacity(calibration, y, 3, NULL));
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, x, y, 3, NULL));
    ASSERT_OK(fulcrum_time_table_set(&calibration->handoff_time, x, x, 2, NULL));
    struct fulcrum_series series = {
        "throughput", "steps/s", "threads", "alone", 3, NULL, NULL, NULL, NULL};
    double columns[4][3];
    memcpy(columns[0], x, sizeof x);
    memcpy(columns[1], samples, sizeof samples);
    memcpy(columns[2], y, sizeof y);
    memcpy(columns[3], (const double[]){0.0, 1.0, 0.0}, sizeof columns[3]);
    series.x = columns[0];
    series.value = columns[1];
    series.canary_rel = columns[2];
    series.disturbed = columns[3];
    ASSERT_OK(fulcrum_calibration_add_series(calibration, &series, NULL));
    static const struct fulcrum_quantity quantity = {
        "reset_mean_s", 0.1, 0.09, 1.0 / 9.0, "s"};
    static const struct fulcrum_fit_report fit = {
        "cpu_curve", "p-norm", 12, 0.03, 0.031, 0.1, -0.01, "few points"};
    ASSERT_OK(fulcrum_calibration_add_quantity(calibration, &quantity, NULL));
    ASSERT_OK(fulcrum_calibration_add_fit(calibration, &fit, NULL));
    ASSERT_OK(fulcrum_calibration_add_note(calibration, "kernel", "6.1", NULL));
    return calibration;
}

/* NAN is a value here: not known. */
static void tell_numbers(
    struct fulcrum_string *out, const char *what, const double *values, size_t count)
{
    fulcrum_string_add(out, "%s", what);
    for (size_t i = 0; i < count; i++) {
        fulcrum_string_add(out, isnan(values[i]) ? " ?" : " %.17g", values[i]);
    }
    fulcrum_string_add(out, "\n");
}

static void tell_machine(
    struct fulcrum_string *out, const struct fulcrum_machine *machine)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = *machine;
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    fulcrum_string_add(out, "'%s' '%s'\n", machine->name, machine->title);
    for (size_t i = 0; i < count; i++) {
        double value = fulcrum_field_number(&fields[i], &design);
        fulcrum_string_add(out, "'%s' ", fulcrum_field_text(&fields[i], &design));
        tell_numbers(out, fields[i].path, &value, 1);
    }
}

static void tell_lists(struct fulcrum_string *out, const struct fulcrum_calibration *of)
{
    for (size_t i = 0; i < of->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &of->parameters[i];
        fulcrum_string_add(out, "%s '%s' %.17g %.17g %d %d\n", parameter->path,
            parameter->source, parameter->value, parameter->standard_error,
            (int)parameter->scale, (int)parameter->origin);
    }
    for (size_t i = 0; i < of->series_count; i++) {
        const struct fulcrum_series *series = &of->series[i];
        fulcrum_string_add(out, "'%s' '%s' '%s' '%s'\n", series->name, series->unit,
            series->x_name, series->condition);
        tell_numbers(out, "x", series->x, series->count);
        tell_numbers(out, "value", series->value, series->count);
        tell_numbers(out, "canary", series->canary_rel, series->count);
        tell_numbers(out, "disturbed", series->disturbed, series->count);
    }
    for (size_t i = 0; i < of->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &of->quantities[i];
        fulcrum_string_add(out, "quantity '%s' %.17g %.17g %.17g '%s'\n",
            quantity->name, quantity->value, quantity->lo, quantity->hi,
            quantity->unit);
    }
    for (size_t i = 0; i < of->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &of->fits[i];
        fulcrum_string_add(out, "fit '%s' '%s' '%s' %zu %.17g %.17g %.17g %.17g\n",
            fit->name, fit->form, fit->warning, fit->point_count, fit->mape_frac,
            fit->smape_frac, fit->max_frac, fit->bias_frac);
    }
    for (size_t i = 0; i < of->note_count; i++) {
        fulcrum_string_add(out, "'%s' '%s'\n", of->notes[i].key, of->notes[i].text);
    }
}

static struct fulcrum_string tell(const struct fulcrum_calibration *of)
{
    struct fulcrum_string out = {0};
    size_t n = of->parameter_count;
    fulcrum_string_add(&out, "'%s' '%s' %d\n", of->name, of->title, of->complete);
    tell_machine(&out, &of->machine);
    tell_lists(&out, of);
    tell_numbers(&out, "covariance", of->covariance, n * n);
    tell_numbers(&out, "draws", of->draws, of->draw_count * n);
    tell_numbers(&out, "capacity", of->capacity, of->capacity_count);
    tell_numbers(&out, "size", of->batch_time.size, of->batch_time.count);
    tell_numbers(&out, "time_s", of->batch_time.time_s, of->batch_time.count);
    tell_numbers(&out, "size", of->handoff_time.size, of->handoff_time.count);
    tell_numbers(&out, "time_s", of->handoff_time.time_s, of->handoff_time.count);
    return out;
}

static void assert_same(
    const struct fulcrum_calibration *a, const struct fulcrum_calibration *b)
{
    struct fulcrum_string left = tell(a);
    struct fulcrum_string right = tell(b);
    assert_part(fulcrum_string_get(&left), "fit 'cpu_curve'");
    CU_ASSERT_STRING_EQUAL(fulcrum_string_get(&left), fulcrum_string_get(&right));
    fulcrum_string_clear(&left);
    fulcrum_string_clear(&right);
}

TEST(test_a_saved_calibration_comes_back)
{
    struct scratch scratch = scratch_new();
    const char *first = scratch_at(&scratch, "first.json");
    const char *second = scratch_at(&scratch, "second.json");
    struct fulcrum_calibration *saved = full_calibration();
    struct fulcrum_calibration *loaded = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_calibration_save(saved, first, &err));
    ASSERT_OK(fulcrum_calibration_load(first, &loaded, &err));
    if (loaded != NULL) {
        assert_same(saved, loaded);
        ASSERT_OK(fulcrum_calibration_save(loaded, second, &err));
    }
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    char *a = scratch_read(first);
    char *b = scratch_read(second);
    CU_ASSERT(strlen(a) > 0);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
    fulcrum_calibration_free(saved);
    fulcrum_calibration_free(loaded);
    scratch_free(&scratch);
}

TEST(test_of_two_notes_with_one_key_the_later_is_saved)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "c.json");
    struct fulcrum_calibration *saved = full_calibration();
    struct fulcrum_calibration *loaded = NULL;
    ASSERT_OK(fulcrum_calibration_add_note(saved, "kernel", "6.2", NULL));
    ASSERT_OK(fulcrum_calibration_save(saved, path, NULL));
    ASSERT_OK(fulcrum_calibration_load(path, &loaded, NULL));
    CU_ASSERT_EQUAL_FATAL(loaded->note_count, 1);
    CU_ASSERT_STRING_EQUAL(loaded->notes[0].text, "6.2");
    fulcrum_calibration_free(saved);
    fulcrum_calibration_free(loaded);
    scratch_free(&scratch);
}

TEST(test_what_cannot_be_saved_says_why)
{
    struct fulcrum_calibration *calibration = full_calibration();
    ASSERT_FAILS(fulcrum_calibration_save(calibration, "/absent/c.json", &err),
        FULCRUM_ERR_FILE, "/absent/c.json: cannot be written");
    calibration->name[0] = '\0';
    CU_ASSERT_EQUAL(
        fulcrum_calibration_save(calibration, "/dev/null", NULL), FULCRUM_ERR_MISSING);
    fulcrum_calibration_free(calibration);
}

SUITE_SETUP
{
    (void)unsetenv("FULCRUM_PRESETS");
    return 0;
}
