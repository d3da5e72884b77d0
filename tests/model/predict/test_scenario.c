/* test_scenario.c - what is in force, and what is left to chance. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/scenario.c" /* NOLINT(bugprone-suspicious-include) */

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/sampler.h"
#include "model/design/scale.h"
#include "model/network/network.h"
#include "model/number.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { CALIBRATIONS_MOST = 2, SLOTS_MOST = 32 };

/* A scenario and what it borrows. */
struct fixture {
    struct fulcrum_design base;
    struct fulcrum_calibration *calibrations[CALIBRATIONS_MOST];
    struct fulcrum_setting settings[4];
    struct fulcrum_prior priors[2];
    struct fulcrum_scenario_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_uncertain_input *uncertain; /* `count` of them */
    size_t count;
    double score[SLOTS_MOST];
};

static struct fulcrum_calibration *add_calibration(
    struct fixture *fixture, const struct fulcrum_machine *machine)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine = *machine;
    fixture->calibrations[fixture->inputs.calibration_count++] = calibration;
    return calibration;
}

static void set(struct fixture *fixture, const char *path, double value)
{
    fixture->settings[fixture->inputs.setting_count++] =
        (struct fulcrum_setting){fulcrum_field_find(path), value, NULL};
}

static void borrow(struct fixture *fixture)
{
    fixture->inputs.base = &fixture->base;
    fixture->inputs.calibrations =
        (const struct fulcrum_calibration *const *)fixture->calibrations;
    fixture->inputs.settings = fixture->settings;
    fixture->inputs.priors = fixture->priors;
}

static void start(struct fixture *fixture)
{
    borrow(fixture);
    fulcrum_scenario_free(fixture->scenario);
    ASSERT_OK(fulcrum_scenario_new(&fixture->inputs, &fixture->scenario, NULL));
}

static void in_gpu_design(void (*check)(struct fixture *f))
{
    struct fixture f = {.base = gpu_design()};
    check(&f);
    fulcrum_scenario_free(f.scenario);
    for (size_t i = 0; i < CALIBRATIONS_MOST; i++) {
        fulcrum_calibration_free(f.calibrations[i]);
    }
    free(f.uncertain);
}

#define DESIGN_TEST(function) TEST_EACH(function, in_gpu_design, struct fixture *f)

static struct fulcrum_design design_of(
    const struct fixture *fixture, const struct fulcrum_point *point)
{
    struct fulcrum_design design;
    ASSERT_OK(fulcrum_scenario_design(fixture->scenario, point, &design, NULL));
    return design;
}

static const struct fulcrum_point nominal = {NULL, 0, 0, 0};

DESIGN_TEST(test_a_setting_wins_over_a_calibration_over_a_preset)
{
    struct fulcrum_calibration *first = add_calibration(f, &f->base.machine);
    designs_add_log(first, "workload.step.mean_s", 3e-3, 1e-4);
    designs_add_parameter(first, "workload.step.cv", 0.7, 0.1, FULCRUM_SCALE_LINEAR);
    designs_add_parameter(
        first, "machine.cpu.smt_yield_frac", 0.4, 0, FULCRUM_SCALE_LOGIT);
    struct fulcrum_calibration *second = add_calibration(f, &f->base.machine);
    designs_add_log(second, "workload.step.mean_s", 4e-3, 1e-4);
    set(f, "workload.step.cv", 0.9);
    start(f);
    struct fulcrum_design design = design_of(f, &nominal);
    CU_ASSERT_EQUAL(design.workload.step.mean_s, 4e-3);
    CU_ASSERT_EQUAL(design.workload.step.cv, 0.9);
    CU_ASSERT_EQUAL(design.machine.cpu.smt_yield_frac, 0.4);
    CU_ASSERT_EQUAL(design.workload.network.per_batch_s, 1.2e-3);
    CU_ASSERT_EQUAL(design.flags, FULCRUM_FLAG_WATTS_ASSUMED);
    struct fulcrum_setting varied = {
        fulcrum_field_find("workload.step.mean_s"), 5e-3, NULL};
    struct fulcrum_point point = {&varied, 1, 0, 0};
    CU_ASSERT_EQUAL(design_of(f, &point).workload.step.mean_s, 5e-3);
}

DESIGN_TEST(test_cores_follow_a_varied_thread_count)
{
    start(f);
    struct fulcrum_setting varied[] = {
        {fulcrum_field_find("machine.cpu.thread_count"), 100, NULL},
        {fulcrum_field_find("machine.cpu.core_count"), 25, NULL}};
    struct fulcrum_point threads_only = {varied, 1, 0, 0};
    struct fulcrum_point both = {varied, 2, 0, 0};
    CU_ASSERT_EQUAL(design_of(f, &threads_only).machine.cpu.core_count, 50.0);
    CU_ASSERT_EQUAL(design_of(f, &both).machine.cpu.core_count, 25.0);
    CU_ASSERT_EQUAL(design_of(f, &both).machine.cpu.thread_count, 100.0);
}

DESIGN_TEST(test_times_are_scaled_to_the_machine_and_flagged)
{
    struct fulcrum_machine reference = f->base.machine;
    (void)strcpy(f->base.machine.cpu.name, "EPYC");
    (void)strcpy(f->base.machine.gpu.name, "A100");
    f->base.machine.cpu.single_thread_speed_rel = 2.0;
    f->base.machine.gpu.sm_count = 160;
    f->base.run.sm_count = (double)NAN;
    struct fulcrum_calibration *calibration = add_calibration(f, &reference);
    designs_add_log(calibration, "workload.step.mean_s", 2e-3, 1e-4);
    designs_add_log(calibration, "workload.network.per_item_s", 6e-6, 1e-6);
    start(f);
    struct fulcrum_design design = design_of(f, &nominal);
    assert_close("t_e", design.workload.step.mean_s, 1e-3, 1e-12);
    assert_close("g1", design.workload.network.per_item_s, 6e-6 * (1 - 0.285), 1e-12);
    CU_ASSERT_EQUAL(design.run.sm_count, 160.0);
    CU_ASSERT((design.flags & FULCRUM_FLAG_SCALED) != 0);
}

DESIGN_TEST(test_learner_times_stay_with_their_kind_of_device)
{
    struct fulcrum_design cpu = cpu_design();
    f->base.workload.network.per_batch_s = (double)NAN;
    struct fulcrum_calibration *calibration = add_calibration(f, &cpu.machine);
    designs_add_log(calibration, "workload.step.mean_s", 1e-4, 0);
    designs_add_log(calibration, "workload.network.per_batch_s", 1e-3, 0);
    start(f);
    struct fulcrum_design design;
    ASSERT_FAILS(fulcrum_scenario_design(f->scenario, &nominal, &design, &err),
        FULCRUM_ERR_MISSING, "workload.network.per_batch_s");
    ASSERT_FAILS(fulcrum_scenario_design(f->scenario, &nominal, &design, &err),
        FULCRUM_ERR_MISSING, "left out");
    CU_ASSERT_EQUAL(design.workload.step.mean_s, 1e-4);
    CU_ASSERT((design.flags & FULCRUM_FLAG_OTHER_LEARNER) != 0);
}

DESIGN_TEST(test_tables_hold_only_where_they_were_measured)
{
    static const double capacity[] = {1.0, 1.9, 2.7};
    static const double size[] = {1, 8};
    static const double time_s[] = {1e-3, 2e-3};
    f->base = cpu_design();
    struct fulcrum_calibration *calibration = add_calibration(f, &f->base.machine);
    ASSERT_OK(fulcrum_calibration_set_capacity(calibration, capacity, 3, NULL));
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, size, time_s, 2, NULL));
    designs_add_log(calibration, "workload.network.per_batch_s", 1e-3, 0);
    designs_add_log(calibration, "workload.network.per_item_s", 1e-4, 0);
    start(f);
    struct fulcrum_design design = design_of(f, &nominal);
    CU_ASSERT_EQUAL(design.machine.cpu.curve, FULCRUM_CURVE_TABLE);
    CU_ASSERT_EQUAL(design.capacity_count, 3);
    CU_ASSERT_EQUAL(design.batch_time.count, 2);
    assert_close("table's t0", design.batch_time.per_batch_s, 1e-3, 0.0);
    assert_close("table's t1", design.batch_time.per_item_s, 1e-4, 0.0);
    /* A parameter of the form that is given, in a sweep or by the user, is used. */
    const struct fulcrum_setting varied[] = {
        {fulcrum_field_find("machine.cpu.thread_count"), 16, NULL},
        {fulcrum_field_find("machine.cpu.knee"), 3, NULL}};
    for (size_t i = 0; i < LENGTH(varied); i++) {
        const struct fulcrum_point point = {&varied[i], 1, 0, 0};
        design = design_of(f, &point);
        CU_ASSERT_EQUAL(design.machine.cpu.curve, FULCRUM_CURVE_SATURATING);
        CU_ASSERT_EQUAL(design.capacity_count, 0);
    }
    CU_ASSERT_EQUAL(design.batch_time.count, 2);
    set(f, "workload.network.per_batch_s", 0);
    set(f, "workload.network.per_item_s", 0);
    start(f);
    design = design_of(f, &nominal);
    CU_ASSERT_EQUAL(design.machine.cpu.curve, FULCRUM_CURVE_TABLE);
    CU_ASSERT_EQUAL(design.batch_time.count, 0);
}

DESIGN_TEST(test_watts_are_taken_only_for_the_cpu_they_were_measured_on)
{
    f->base = cpu_design();
    struct fulcrum_machine elsewhere = f->base.machine;
    (void)strcpy(elsewhere.cpu.name, "Another");
    struct fulcrum_calibration *calibration = add_calibration(f, &elsewhere);
    designs_add_parameter(
        calibration, "machine.cpu.core_dynamic_w", 9, 1, FULCRUM_SCALE_LINEAR);
    start(f);
    CU_ASSERT_EQUAL(design_of(f, &nominal).machine.cpu.core_dynamic_w, 4.2);
    CU_ASSERT((design_of(f, &nominal).flags & FULCRUM_FLAG_WATTS_ASSUMED) != 0);
    (void)strcpy(calibration->machine.cpu.name, "Eight");
    CU_ASSERT_EQUAL(design_of(f, &nominal).machine.cpu.core_dynamic_w, 9.0);
    CU_ASSERT((design_of(f, &nominal).flags & FULCRUM_FLAG_WATTS_ASSUMED) == 0);
}

DESIGN_TEST(test_draws_repeat_for_a_seed_and_spread_priors)
{
    f->priors[0] =
        (struct fulcrum_prior){fulcrum_field_find("machine.gpu.idle_w"), 1.3};
    f->inputs.prior_count = 1;
    struct fulcrum_calibration *calibration = add_calibration(f, &f->base.machine);
    designs_add_log(calibration, "workload.step.mean_s", 2e-3, 2e-4);
    start(f);
    double square_idle = 0;
    double square_step = 0;
    enum { DRAWS = 4000 };
    for (size_t k = 1; k <= DRAWS; k++) {
        struct fulcrum_point point = {NULL, 0, k, 5};
        struct fulcrum_design design = design_of(f, &point);
        double idle = log(design.machine.gpu.idle_w / 40) / log(1.3);
        double step = log(design.workload.step.mean_s / 2e-3) / 0.1;
        square_idle += idle * idle / DRAWS;
        square_step += step * step / DRAWS;
    }
    CU_ASSERT_DOUBLE_EQUAL(square_idle, 1.0, 4 * sqrt(2.0 / DRAWS));
    CU_ASSERT_DOUBLE_EQUAL(square_step, 1.0, 4 * sqrt(2.0 / DRAWS));
    struct fulcrum_point seventh = {NULL, 0, 7, 5};
    struct fulcrum_point other_seed = {NULL, 0, 7, 6};
    CU_ASSERT_EQUAL(design_of(f, &seventh).workload.step.mean_s,
        design_of(f, &seventh).workload.step.mean_s);
    CU_ASSERT_NOT_EQUAL(design_of(f, &seventh).workload.step.mean_s,
        design_of(f, &other_seed).workload.step.mean_s);
}

/* A share of math near 0 with an error is drawn below 0 and moved back to it; the three
 * others, wholly dependent on it, are then more than all. */
DESIGN_TEST(test_drawn_shares_of_gpu_time_sum_to_one)
{
    static const char *const paths[] = {"workload.network.math_frac",
        "workload.network.sm_frac", "workload.network.dram_frac",
        "workload.network.latency_frac"};
    static const double slopes[] = {1.0, -0.4, -0.3, -0.3};
    struct fulcrum_calibration *calibration = add_calibration(f, &f->base.machine);
    designs_add_log(calibration, "workload.training.train_step_s", 0.2, 1e-3);
    for (size_t i = 0; i < 4; i++) {
        double value = i == 0 ? 0.03 : -0.97 * slopes[i];
        designs_add_parameter(
            calibration, paths[i], value, 0.05 * fabs(slopes[i]), FULCRUM_SCALE_LINEAR);
    }
    for (size_t i = 0; i < 16; i++) {
        ASSERT_OK(fulcrum_calibration_set_covariance(calibration, paths[i / 4],
            paths[i % 4], 0.0025 * slopes[i / 4] * slopes[i % 4], NULL));
    }
    start(f);
    double most = 0.0;
    for (size_t k = 1; k <= 200; k++) {
        struct fulcrum_point point = {NULL, 0, k, 5};
        struct fulcrum_design design = design_of(f, &point);
        const struct fulcrum_workload_network *network = &design.workload.network;
        CU_ASSERT_DOUBLE_EQUAL(network->math_frac + network->sm_frac +
                                   network->dram_frac + network->latency_frac,
            1.0, 1e-6);
        most = fmax(most, network->math_frac);
    }
    CU_ASSERT(most > 0.1);
}

/* Some values that the field takes, each another one. */
static double value_of(const struct fulcrum_field *field, size_t i)
{
    double low = fmax(field->least, 1.0);
    double high = fmin(field->most, 2.0 * low + 62.0);
    double value = high > low ? low + (high - low) * 0.25 * (double)(i + 1)
                              : field->most / (double)(i + 1);
    return field->kind == FULCRUM_FIELD_COUNT ? floor(value) : value;
}

static int same_times(
    const struct fulcrum_batch_time *a, const struct fulcrum_batch_time *b)
{
    return a->size == b->size && a->time_s == b->time_s && a->count == b->count &&
           a->per_batch_s == b->per_batch_s && a->per_item_s == b->per_item_s;
}

/* Every number and count; choices by name. NAN equals NAN. */
static int same_designs(const struct fulcrum_design *a, const struct fulcrum_design *b)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    int same = a->flags == b->flags && a->capacity == b->capacity &&
               a->capacity_count == b->capacity_count &&
               same_times(&a->batch_time, &b->batch_time) &&
               same_times(&a->handoff_time, &b->handoff_time);
    for (size_t i = 0; i < count; i++) {
        double x = fulcrum_field_number(&fields[i], a);
        double y = fulcrum_field_number(&fields[i], b);
        same = same && (x == y || (isnan(x) && isnan(y)));
        same = same && strcmp(fulcrum_field_text(&fields[i], a),
                           fulcrum_field_text(&fields[i], b)) == 0;
    }
    return same;
}

/* A calibration of another machine, so that everything that can be scaled is. */
static void start_scaled(struct fixture *fixture, const double *capacity)
{
    static const double size[] = {1, 8};
    static const double time_s[] = {1e-3, 2e-3};
    struct fulcrum_gpu *gpu = &fixture->base.machine.gpu;
    gpu->clock_hz = 1.5e9;
    gpu->flop_per_sm_cycle = 128;
    gpu->dram_byte_per_s = 9e11;
    gpu->llc_byte = 6e6;
    fixture->base.machine.link.host_byte_per_s = 1.6e10;
    fixture->base.workload.network.observation_byte = 28224;
    struct fulcrum_machine reference = fixture->base.machine;
    (void)strcpy(gpu->name, "A100");
    gpu->llc_byte = 4e7;
    fixture->base.machine.link.host_byte_per_s = 3.2e10;
    fixture->base.machine.cpu.single_thread_speed_rel = 2.0;
    fixture->base.run.sm_count = (double)NAN;
    struct fulcrum_calibration *calibration = add_calibration(fixture, &reference);
    designs_add_log(calibration, "workload.step.mean_s", 2e-3, 1e-4);
    designs_add_log(calibration, "workload.host.per_item_s", 1e-6, 1e-7);
    designs_add_log(calibration, "workload.network.per_batch_s", 1e-3, 1e-4);
    designs_add_log(calibration, "workload.network.per_item_s", 6e-6, 1e-6);
    designs_add_parameter(
        calibration, "machine.cpu.smt_yield_frac", 0.4, 0, FULCRUM_SCALE_LOGIT);
    ASSERT_OK(fulcrum_time_table_set(&calibration->batch_time, size, time_s, 2, NULL));
    if (capacity != NULL) {
        ASSERT_OK(fulcrum_calibration_set_capacity(calibration, capacity, 3, NULL));
    }
    set(fixture, "workload.host.delay_s", 3e-4);
    fixture->priors[0] = (struct fulcrum_prior){
        fulcrum_field_find("workload.training.train_step_s"), 1.5};
    fixture->priors[1] =
        (struct fulcrum_prior){fulcrum_field_find("machine.gpu.llc_byte"), 1.2};
    fixture->inputs.prior_count = 2;
    fixture->base.workload.training.train_step_s = 1e-2;
    start(fixture);
}

/* The same point the long way and along the prefix, which has seen others. */
static void compare_designs(const struct fixture *f, const struct fulcrum_point *point,
    struct fulcrum_design_common_prefix *prefix)
{
    struct fulcrum_design whole = {.flags = 0};
    struct fulcrum_design along = {.flags = 0};
    enum fulcrum_status status =
        fulcrum_scenario_design(f->scenario, point, &whole, NULL);
    CU_ASSERT_EQUAL(
        fulcrum_scenario_design_along(f->scenario, prefix, point, &along, NULL),
        status);
    CU_ASSERT(status != FULCRUM_OK || same_designs(&whole, &along));
}

/* Any field, alone and beside another one, drawn and not. */
static void compare_along(
    const struct fixture *f, const struct fulcrum_field *field, const char *other)
{
    struct fulcrum_design_common_prefix prefix = {.is_set = 0};
    struct fulcrum_setting varied[2] = {
        {field, 0.0, NULL}, {fulcrum_field_find(other), 0.0, NULL}};
    for (size_t i = 0; i < 12; i++) {
        varied[0].number = value_of(field, i % 2);
        varied[1].number = value_of(varied[1].field, i / 2 % 3);
        bool is_alone = varied[0].field == varied[1].field || i % 6 > 3;
        const struct fulcrum_point point = {varied, is_alone ? 1 : 2, i / 4, 5 + i / 8};
        compare_designs(f, &point, &prefix);
    }
}

static void compare_all_along(const struct fixture *f)
{
    static const char *const others[] = {"machine.cpu.thread_count",
        "machine.cpu.core_count", "run.actor_count", "machine.gpu.sm_count"};
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        bool is_number = fields[i].kind == FULCRUM_FIELD_NUMBER ||
                         fields[i].kind == FULCRUM_FIELD_COUNT;
        for (size_t j = 0; is_number && j < LENGTH(others); j++) {
            compare_along(f, &fields[i], others[j]);
        }
    }
}

DESIGN_TEST(test_a_stem_gives_the_same_designs_whatever_varies)
{
    start_scaled(f, NULL);
    compare_all_along(f);
}

DESIGN_TEST(test_a_stem_gives_the_same_designs_from_a_table)
{
    static const double capacity[] = {1.0, 1.9, 2.7};
    start_scaled(f, capacity);
    compare_all_along(f);
}

DESIGN_TEST(test_a_stem_knows_draws_texts_and_failures)
{
    start_scaled(f, NULL);
    struct fulcrum_design_common_prefix prefix = {0};
    static const char *const gpus[] = {"V100", "A100"};
    for (size_t i = 0; i < 4; i++) {
        char name[8] = ""; /* the same place, another text */
        memcpy(name, gpus[i % 2], strlen(gpus[i % 2]));
        const struct fulcrum_setting varied = {
            fulcrum_field_find("machine.gpu.name"), 0.0, name};
        const struct fulcrum_point point = {&varied, 1, i / 2, 5};
        compare_designs(f, &point, &prefix);
    }
    const struct fulcrum_setting bad = {
        fulcrum_field_find("machine.gpu.sm_count"), 0.5, NULL};
    const struct fulcrum_point point = {&bad, 1, 0, 0};
    struct fulcrum_design ignored;
    CU_ASSERT_EQUAL(
        fulcrum_scenario_design_along(f->scenario, &prefix, &point, &ignored, NULL),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(prefix.is_set, 0);
}

DESIGN_TEST(test_settings_out_of_range_are_refused)
{
    set(f, "machine.gpu.sm_count", 0);
    borrow(f);
    CU_ASSERT_EQUAL(
        fulcrum_scenario_new(&f->inputs, &f->scenario, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NULL(f->scenario);
    fulcrum_scenario_free(NULL);
}

static void list_inputs(struct fixture *f)
{
    free(f->uncertain);
    f->uncertain = NULL;
    ASSERT_OK(
        fulcrum_uncertain_inputs_list(&f->inputs, &f->uncertain, &f->count, NULL));
    if (f->uncertain == NULL) {
        abort();
    }
}

/* Two correlated numbers, one by itself, one known exactly; and two priors. */
static void start_uncertain(struct fixture *f)
{
    struct fulcrum_calibration *calibration = add_calibration(f, &f->base.machine);
    designs_add_log(calibration, "workload.host.per_batch_s", 1e-3, 1e-4);
    designs_add_log(calibration, "workload.step.mean_s", 2e-3, 2e-4);
    designs_add_log(calibration, "workload.host.per_item_s", 2e-5, 2e-6);
    designs_add_log(calibration, "workload.host.delay_s", 4e-4, 0.0);
    ASSERT_OK(
        fulcrum_calibration_set_covariance(calibration, "workload.host.per_batch_s",
            "workload.host.per_item_s", 0.6 * 1e-4 * 2e-6, NULL));
    f->priors[0] = (struct fulcrum_prior){fulcrum_field_find("machine.rest_w"), 1.5};
    f->priors[1] =
        (struct fulcrum_prior){fulcrum_field_find("workload.step.mean_s"), 1.3};
    f->inputs.prior_count = 2;
    borrow(f);
    list_inputs(f);
}

/* The chance of a field; NULL: it has none. */
static const struct fulcrum_uncertain_input *find(
    const struct fixture *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct fulcrum_field *field = f->uncertain[i].field;
        if (field != NULL && strcmp(field->path, path) == 0) {
            return &f->uncertain[i];
        }
    }
    return NULL;
}

/* A prior below a calibration is not asked; what is known exactly is not left open. */
DESIGN_TEST(test_what_is_in_force_has_a_chance)
{
    start_uncertain(f);
    CU_ASSERT_EQUAL_FATAL(f->count, 4);
    const struct fulcrum_uncertain_input *step = find(f, "workload.step.mean_s");
    const struct fulcrum_uncertain_input *rest = find(f, "machine.rest_w");
    CU_ASSERT(step != NULL && step->kind == FULCRUM_UNCERTAIN_PARAMETER);
    CU_ASSERT(rest != NULL && rest->kind == FULCRUM_UNCERTAIN_PRIOR);
    CU_ASSERT_PTR_NULL(find(f, "workload.host.delay_s"));
}

DESIGN_TEST(test_covariance_makes_a_group)
{
    start_uncertain(f);
    const struct fulcrum_uncertain_input *batch = find(f, "workload.host.per_batch_s");
    const struct fulcrum_uncertain_input *item = find(f, "workload.host.per_item_s");
    const struct fulcrum_uncertain_input *step = find(f, "workload.step.mean_s");
    if (batch != NULL && item != NULL && step != NULL) {
        CU_ASSERT_EQUAL(batch->group, item->group);
        CU_ASSERT_NOT_EQUAL(batch->group, step->group);
        CU_ASSERT_EQUAL(item - batch, 1); /* beside each other */
    }
    CU_ASSERT(batch != NULL && item != NULL && step != NULL);
}

DESIGN_TEST(test_settings_and_later_calibrations_leave_no_chance)
{
    start_uncertain(f);
    set(f, "machine.rest_w", 90.0);
    designs_add_log(
        add_calibration(f, &f->base.machine), "workload.step.mean_s", 3e-3, 0.0);
    list_inputs(f);
    CU_ASSERT_EQUAL(f->count, 2);
    CU_ASSERT_PTR_NULL(find(f, "machine.rest_w"));
    CU_ASSERT_PTR_NULL(find(f, "workload.step.mean_s"));
}

/* Another processor or GPU: one factor for all of its times, as draws have it. */
DESIGN_TEST(test_scaled_times_have_a_chance_of_their_own)
{
    start_uncertain(f);
    (void)strcpy(f->base.machine.cpu.name, "another");
    list_inputs(f);
    size_t cpu = 0;
    for (size_t i = 0; i < f->count; i++) {
        cpu += f->uncertain[i].kind == FULCRUM_UNCERTAIN_CPU_SCALE;
        CU_ASSERT_NOT_EQUAL(f->uncertain[i].kind, FULCRUM_UNCERTAIN_GPU_SCALE);
    }
    CU_ASSERT_EQUAL(cpu, 1);
    (void)strcpy(f->base.machine.gpu.name, "another");
    list_inputs(f);
    CU_ASSERT_EQUAL(f->count, 6);
}

static struct fulcrum_design design_in(const struct fixture *f, const double *score)
{
    struct fulcrum_design design;
    ASSERT_OK(fulcrum_scenario_design_in(f->scenario, score, &nominal, &design, NULL));
    return design;
}

static void start_scenario(struct fixture *f)
{
    start_uncertain(f);
    start(f);
    CU_ASSERT_FATAL(fulcrum_uncertain_input_slots(&f->inputs) <= SLOTS_MOST);
    for (size_t i = 0; i < SLOTS_MOST; i++) {
        f->score[i] = FULCRUM_UNKNOWN;
    }
}

DESIGN_TEST(test_no_score_is_the_design_itself)
{
    start_scenario(f);
    struct fulcrum_design a = design_of(f, &nominal);
    struct fulcrum_design b = design_in(f, f->score);
    CU_ASSERT_EQUAL(a.workload.step.mean_s, b.workload.step.mean_s);
    CU_ASSERT_EQUAL(a.workload.host.per_batch_s, b.workload.host.per_batch_s);
    CU_ASSERT_EQUAL(a.workload.host.delay_s, b.workload.host.delay_s);
    CU_ASSERT_EQUAL(a.machine.rest_w, b.machine.rest_w);
}

/* One score at a time: its own field moves as its law says, and nothing else does. */
DESIGN_TEST(test_a_score_moves_its_own_number)
{
    start_scenario(f);
    const struct fulcrum_uncertain_input *step = find(f, "workload.step.mean_s");
    const struct fulcrum_uncertain_input *rest = find(f, "machine.rest_w");
    if (step != NULL && rest != NULL) {
        f->score[step->slot] = 2.0;
        struct fulcrum_design design = design_in(f, f->score);
        assert_close("step", design.workload.step.mean_s, 2e-3 * exp(0.2), 1e-6);
        assert_close("told", fulcrum_uncertain_input_value(&f->inputs, step, 2.0),
            2e-3 * exp(0.2), 1e-12);
        CU_ASSERT_EQUAL(design.machine.rest_w, 100.0);
        CU_ASSERT_EQUAL(design.workload.host.per_batch_s, 1e-3);
        f->score[rest->slot] = -1.0;
        design = design_in(f, f->score);
        assert_close("rest", design.machine.rest_w, 100.0 / 1.5, 1e-12);
        assert_close("told", fulcrum_uncertain_input_value(&f->inputs, rest, -1.0),
            100.0 / 1.5, 1e-12);
    }
    CU_ASSERT(step != NULL && rest != NULL);
}

DESIGN_TEST(test_a_scale_moves_all_times)
{
    start_scenario(f);
    (void)strcpy(f->base.machine.cpu.name, "another");
    start(f);
    struct fulcrum_design before = design_in(f, f->score);
    f->score[FULCRUM_SLOT_CPU_SCALE] = 1.0;
    struct fulcrum_design after = design_in(f, f->score);
    assert_close("step", after.workload.step.mean_s / before.workload.step.mean_s,
        FULCRUM_CPU_SPREAD_FACTOR, 1e-12);
    assert_close("host",
        after.workload.host.per_batch_s / before.workload.host.per_batch_s,
        FULCRUM_CPU_SPREAD_FACTOR, 1e-12);
}

/* Normal scores give the correlation, mean and spread that draws have. */
DESIGN_TEST(test_scores_of_a_group_keep_its_correlation)
{
    enum { WORLDS = 4000 };
    start_scenario(f);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    double sum[5] = {0.0};
    for (size_t k = 0; k < WORLDS; k++) {
        for (size_t i = 0; i < f->count; i++) {
            f->score[f->uncertain[i].slot] = gsl_ran_ugaussian(rng);
        }
        struct fulcrum_design design = design_in(f, f->score);
        double x = log(design.workload.host.per_batch_s / 1e-3) / 0.1;
        double y = log(design.workload.host.per_item_s / 2e-5) / 0.1;
        double z = log(design.workload.step.mean_s / 2e-3) / 0.1;
        const double terms[] = {x, x * x, y * y, x * y, x * z};
        for (size_t i = 0; i < 5; i++) {
            sum[i] += terms[i] / WORLDS;
        }
    }
    double sigma = 1.0 / sqrt(WORLDS);
    CU_ASSERT_DOUBLE_EQUAL(sum[0], 0.0, 4.0 * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[1], 1.0, 4.0 * sqrt(2.0) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[2], 1.0, 4.0 * sqrt(2.0) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[3], 0.6, 4.0 * sqrt(1.36) * sigma);
    CU_ASSERT_DOUBLE_EQUAL(sum[4], 0.0, 4.0 * sigma);
    gsl_rng_free(rng);
}

/* Kept draws are one chance: its score chooses a row, all rows equally often. */
DESIGN_TEST(test_kept_draws_are_one_chance)
{
    start_scenario(f);
    const double kept[] = {1e-3, FULCRUM_UNKNOWN, 1e-5, FULCRUM_UNKNOWN, 3e-3,
        FULCRUM_UNKNOWN, 3e-5, FULCRUM_UNKNOWN};
    ASSERT_OK(fulcrum_calibration_set_draws(f->calibrations[0], kept, 2, NULL));
    start(f);
    list_inputs(f);
    size_t rows = f->count;
    for (size_t i = 0; i < f->count; i++) {
        rows = f->uncertain[i].kind == FULCRUM_UNCERTAIN_DRAWS ? i : rows;
    }
    CU_ASSERT_EQUAL(f->count, 3);
    CU_ASSERT_FATAL(rows < f->count);
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.host.per_item_s, 2e-5);
    f->score[f->uncertain[rows].slot] = -0.1;
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.host.per_item_s, 1e-5);
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.host.per_batch_s, 1e-3);
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.step.mean_s, 2e-3);
    f->score[f->uncertain[rows].slot] = 0.1;
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.host.per_batch_s, 3e-3);
    f->score[f->uncertain[rows].slot] = 40.0; /* beyond the last row there is none */
    CU_ASSERT_EQUAL(design_in(f, f->score).workload.host.per_batch_s, 3e-3);
    CU_ASSERT(
        isnan(fulcrum_uncertain_input_value(&f->inputs, &f->uncertain[rows], 1.0)));
}

/* PCIe 3.0 x16 and 5.0 x16, spec rates. */
#define PCIE_3 15.75e9
#define PCIE_5 63e9

/* g1 of a calibration at `reference`, laid over a machine with another link. */
static double item_s_at(const struct fulcrum_design *base, double item_s,
    double reference_byte_per_s, unsigned *flags)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine = base->machine;
    calibration->machine.link.host_byte_per_s = reference_byte_per_s;
    designs_add_parameter(
        calibration, "workload.network.per_item_s", item_s, 0.0, FULCRUM_SCALE_LINEAR);
    struct applied applied = {.calibration = NULL};
    ASSERT_OK(applied_init(&applied, calibration, NULL));
    const struct luck luck = {.cpu_spread = 1.0, .gpu_spread = 1.0};
    struct fulcrum_design design = *base;
    ASSERT_OK(apply_calibration(&applied, &base->workload, &luck, &design));
    applied_clear(&applied);
    fulcrum_calibration_free(calibration);
    *flags = design.flags;
    return design.workload.network.per_item_s;
}

TEST(test_a_calibration_is_moved_to_another_link)
{
    struct fulcrum_design base = gpu_design();
    base.machine.link.host_byte_per_s = PCIE_5;
    base.workload.network.observation_byte = 28224;
    unsigned flags = 0;
    CU_ASSERT_EQUAL(item_s_at(&base, 6e-6, PCIE_5, &flags), 6e-6);
    CU_ASSERT_EQUAL(flags, 0U);
    CU_ASSERT_EQUAL(item_s_at(&base, 6e-6, (double)NAN, &flags), 6e-6);
    assert_close("faster link", item_s_at(&base, 6e-6, PCIE_3, &flags),
        6e-6 - 28224 * 0.75 / PCIE_3, 1e-12);
    CU_ASSERT((flags & FULCRUM_FLAG_SCALED) != 0U);
    /* More cannot be saved than was measured. */
    CU_ASSERT_EQUAL(item_s_at(&base, 1e-6, PCIE_3, &flags), 0.0);
}
