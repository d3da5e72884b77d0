/* test_predict_power.c - watts over load: what every other load says of the rest. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

enum { MOST = 32 };

/* A reference in memory: two settings and two observations a point, nothing to free. */
struct made {
    struct fulcrum_reference reference;
    struct fulcrum_reference_point points[MOST];
    struct fulcrum_reference_setting settings[MOST][2];
    struct fulcrum_observation observations[MOST][2];
};

static void make(struct made *made, enum fulcrum_predictor_kind predictor)
{
    *made = (struct made){.reference = {
                              .name = "made",
                              .predictor = predictor,
                              .points = made->points,
                          }};
    fulcrum_design_init(&made->reference.design);
}

static size_t add(struct made *made, const char *path, double load,
    const char *quantity, double watts)
{
    size_t i = made->reference.point_count++;
    made->settings[i][0] = (struct fulcrum_reference_setting){.number = load};
    (void)snprintf(
        made->settings[i][0].path, sizeof made->settings[i][0].path, "%s", path);
    made->observations[i][0] =
        (struct fulcrum_observation){.value = watts, .half_width = (double)NAN};
    (void)snprintf(made->observations[i][0].quantity,
        sizeof made->observations[i][0].quantity, "%s", quantity);
    made->points[i] = (struct fulcrum_reference_point){.setting_count = 1,
        .settings = made->settings[i],
        .observation_count = 1,
        .observations = made->observations[i]};
    return i;
}

/* Rates are published as quantities of their own, before or behind the watts. */
static void add_rate(struct made *made, size_t point, const char *quantity, double rate)
{
    struct fulcrum_observation *slots = made->observations[point];
    slots[1] = slots[0];
    slots[0] = (struct fulcrum_observation){.value = rate, .half_width = (double)NAN};
    (void)snprintf(slots[0].quantity, sizeof slots[0].quantity, "%s", quantity);
    made->points[point].observation_count = 2;
}

static void add_word(
    struct made *made, size_t point, const char *path, const char *text)
{
    struct fulcrum_reference_setting *setting = &made->settings[point][1];
    *setting = (struct fulcrum_reference_setting){.number = (double)NAN};
    (void)snprintf(setting->path, sizeof setting->path, "%s", path);
    (void)snprintf(setting->text, sizeof setting->text, "%s", text);
    made->points[point].setting_count = 2;
}

static const double rates[] = {100, 190, 340, 520, 640, 700, 830, 900, 1000};
enum { RATES = sizeof rates / sizeof rates[0] };

/* Watts of the form, 120 + 400 U^0.6, beside the rates that U is taken from. */
static void make_gpu(struct made *made)
{
    make(made, FULCRUM_PREDICTOR_GPU_POWER);
    for (size_t i = 0; i < RATES; i++) {
        size_t point = add(made, "max_num_seqs", pow(2, (double)i), "gpu_w",
            120 + 400 * pow(rates[i] / 1000, 0.6));
        add_rate(made, point, "tokens_per_s", rates[i]);
    }
}

static void test_power_of_the_form_is_predicted_from_rates(void)
{
    struct made made;
    make_gpu(&made);
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(compared.count, RATES);
    for (size_t i = 0; i < RATES; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        suite_assert_close("watts", item->predicted, item->observed, 1e-6);
        CU_ASSERT_EQUAL(item->is_fitted, i % 2 == 0);
        CU_ASSERT_EQUAL(item->observation, 1);
    }
    fulcrum_comparison_clear(&compared);
}

/* More work than in any fitted point is full activity, not more. */
static void test_power_beyond_the_fitted_rates_stays(void)
{
    struct made made;
    make_gpu(&made);
    made.observations[1][0].value = 1200;
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    suite_assert_close("watts", compared.items[1].predicted, 520, 1e-6);
    fulcrum_comparison_clear(&compared);
}

/* From idle to rated watts in proportion to activity; nothing where either is unknown.
 */
static void test_power_is_shown_beside_a_straight_line(void)
{
    struct made made;
    make_gpu(&made);
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT(isnan(compared.items[0].baseline[FULCRUM_BASELINE_BOUNDS]));
    fulcrum_comparison_clear(&compared);
    made.reference.design.machine.gpu.idle_w = 60;
    made.reference.design.machine.gpu.tdp_w = 660;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    for (size_t i = 0; i < RATES; i++) {
        suite_assert_close("line", compared.items[i].baseline[FULCRUM_BASELINE_BOUNDS],
            60 + 600 * rates[i] / 1000, 1e-12);
    }
    fulcrum_comparison_clear(&compared);
}

/* Two series and two machines in words: four curves of four loads each. */
static void make_four_curves(struct made *made)
{
    static const double loads[] = {0.5, 0, 1, 0.1};
    make(made, FULCRUM_PREDICTOR_SERVER_POWER);
    for (size_t i = 0; i < 16; i++) {
        size_t curve = i / 4;
        double load = loads[i % 4];
        double shape = load > 0 ? pow(load, 0.72) : 0;
        double idle_w = 50 + 20 * (double)curve;
        size_t point = add(made, "load_frac", load, "server_w", idle_w + 300 * shape);
        add_word(made, point, "cpu", curve % 2 == 0 ? "one" : "other");
        (void)snprintf(made->points[point].series, sizeof made->points[point].series,
            "%s", curve < 2 ? "first" : "second");
    }
}

/*
 * Four loads, two of them fitted: alpha comes from the prior, so a curve of that alpha
 * is met.
 */
static void test_power_of_the_form_is_predicted_from_loads(void)
{
    struct made made;
    make_four_curves(&made);
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(compared.count, 16);
    for (size_t i = 0; i < 16; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        double load = made.settings[item->point][0].number;
        suite_assert_close("watts", item->predicted, item->observed, 1e-6);
        CU_ASSERT_EQUAL(item->is_fitted, load < 0.05 || (load > 0.4 && load < 0.6));
        CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
    }
    fulcrum_comparison_clear(&compared);
}

/* Predictions do not move, to the last bit, with what they are judged on. */
static void test_power_does_not_look_at_what_is_held_out(void)
{
    struct made made;
    make_gpu(&made);
    struct fulcrum_comparison before = {0};
    struct fulcrum_comparison after = {0};
    for (size_t i = 0; i < RATES; i++) {
        made.observations[i][1].value *= 1 + 0.01 * sin((double)i);
    }
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &before, NULL), FULCRUM_OK);
    for (size_t i = 1; i < RATES; i += 2) {
        made.observations[i][1].value *= 3;
    }
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &after, NULL), FULCRUM_OK);
    for (size_t i = 0; i < RATES; i++) {
        suite_assert_close(
            "watts", after.items[i].predicted, before.items[i].predicted, 0.0);
    }
    fulcrum_comparison_clear(&before);
    fulcrum_comparison_clear(&after);
}

/*
 * Watts that fall to 1 W with the load, which no idle draw allows: with an idle draw of
 * 60 W known the constant term stays there.
 */
static void test_power_keeps_to_a_known_idle_draw(void)
{
    struct made made;
    make(&made, FULCRUM_PREDICTOR_GPU_POWER);
    made.reference.design.machine.gpu.idle_w = 60;
    for (size_t i = 0; i < RATES; i++) {
        size_t point = add(
            &made, "max_num_seqs", 1 + (double)i, "gpu_w", 1 + 500 * rates[i] / 1000);
        add_rate(&made, point, "steps_per_s", rates[i]);
    }
    struct fulcrum_comparison compared = {0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_power(&made.reference, &compared, NULL), FULCRUM_OK);
    CU_ASSERT(compared.items[0].predicted > 60);
    fulcrum_comparison_clear(&compared);
}

/* A fit under a lower bound of idle ends at the bound, and says so. */
static void test_fit_holds_idle_at_what_is_known(void)
{
    static const double x[] = {0.1, 0.3, 0.5, 0.7, 0.9, 1};
    static const double y[] = {30, 90, 150, 210, 270, 300};
    const struct fulcrum_samples samples = {"power", x, y, 6};
    const struct fulcrum_power_options options = {
        .form = FULCRUM_POWER_LAW, .least_idle_w = 20};
    struct fulcrum_power_fit fit;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_fit_power_with(&fit, &samples, &options, NULL), FULCRUM_OK);
    suite_assert_close("idle", fit.idle_w, 20, 1e-12);
    CU_ASSERT(fit.fit.parameter[0].marks & FULCRUM_FIT_AT_BOUND);
    CU_ASSERT(fit.alpha > 1);
}

/* At the ends the error of the watts is that of parameters. */
static void test_fit_tells_errors_of_watts(void)
{
    static const double x[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 0.2};
    static const double y[] = {50, 84, 148, 195, 266, 308, 352, 120};
    const struct fulcrum_samples samples = {"power", x, y, 8};
    struct fulcrum_power_fit fit;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_fit_power(&fit, &samples, FULCRUM_POWER_LAW, NULL), FULCRUM_OK);
    const double *c = fit.fit.covariance;
    suite_assert_close("idle", fulcrum_power_fit_error_w(&fit, 0),
        fit.fit.parameter[0].standard_error, 1e-9);
    suite_assert_close(
        "full", fulcrum_power_fit_error_w(&fit, 1), sqrt(c[0] + c[4] + 2 * c[1]), 1e-9);
    /* In between: the watts by moving each parameter along its covariance's column. */
    double bend = fit.dynamic_w * pow(0.5, fit.alpha) * log(0.5);
    double share = pow(0.5, fit.alpha);
    double variance = c[0] + share * share * c[4] + bend * bend * c[8] +
                      2 * (share * c[1] + bend * c[2] + share * bend * c[5]);
    suite_assert_close(
        "half", fulcrum_power_fit_error_w(&fit, 0.5), sqrt(variance), 1e-9);
    /* Two points leave nothing over to tell an error from. */
    const struct fulcrum_samples two = {"power", x, y, 2};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_fit_power(&fit, &two, FULCRUM_POWER_AFFINE, NULL), FULCRUM_OK);
    CU_ASSERT(isnan(fulcrum_power_fit_error_w(&fit, 0.5)));
}

static void test_fit_refuses_options_out_of_range(void)
{
    static const struct fulcrum_power_options cases[] = {
        {.least_idle_w = -1},
        {.least_idle_w = (double)NAN},
        {.alpha = 0.7, .alpha_factor = 1, .noise_rel = 0.05},
        {.alpha = 0.7, .alpha_factor = 1.3},
        {.alpha = 5, .alpha_factor = 1.3, .noise_rel = 0.05},
        {.alpha = -1, .alpha_factor = 1.3, .noise_rel = 0.05},
    };
    static const double x[] = {0, 0.5, 1};
    static const double y[] = {50, 80, 100};
    const struct fulcrum_samples samples = {"power", x, y, 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_power_fit fit;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_fit_power_with(&fit, &samples, &cases[i], &err), FULCRUM_ERR_RANGE);
        CU_ASSERT(strncmp(err.detail, "power: ", 7) == 0);
    }
}

static void spoil_load_range(struct made *made)
{
    made->settings[2][0].number = 1.5;
}

static void spoil_load_missing(struct made *made)
{
    made->points[2].setting_count = 0;
}

static void spoil_all_loads(struct made *made)
{
    for (size_t i = 0; i < made->reference.point_count; i++) {
        made->points[i].setting_count = 0;
    }
}

static void spoil_watts_missing(struct made *made)
{
    made->points[2].observation_count = 0;
}

static void spoil_watts_zero(struct made *made)
{
    made->observations[2][0].value = 0;
}

static void spoil_rate_zero(struct made *made)
{
    for (size_t i = 0; i < made->reference.point_count; i++) {
        (void)snprintf(made->settings[i][0].path, sizeof made->settings[i][0].path,
            "max_num_seqs");
        add_rate(made, i, "tokens_per_s", (double)i);
    }
}

static void spoil_one_point(struct made *made)
{
    made->reference.point_count = 1;
}

static void spoil_two_loads(struct made *made)
{
    made->reference.point_count = 2;
}

static void spoil_no_point(struct made *made)
{
    made->reference.point_count = 0;
}

static void test_power_refuses_what_it_cannot_fit(void)
{
    static const struct {
        void (*spoil)(struct made *made);
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {spoil_load_range, FULCRUM_ERR_RANGE, "made: points[2].set.load_frac = 1.5"},
        {spoil_load_missing, FULCRUM_ERR_MISSING, "points[2].set has no load_frac"},
        {spoil_all_loads, FULCRUM_ERR_MISSING, "points[0] has no activity"},
        {spoil_watts_missing, FULCRUM_ERR_MISSING, "points[2].observed has no watts"},
        {spoil_watts_zero, FULCRUM_ERR_RANGE, "points[2].observed.gpu_w = 0"},
        {spoil_rate_zero, FULCRUM_ERR_RANGE, "points[0].observed.tokens_per_s = 0"},
        {spoil_one_point, FULCRUM_ERR_NO_FIT, "1 different loads"},
        {spoil_two_loads, FULCRUM_ERR_NO_FIT, "2 different loads"},
        {spoil_no_point, FULCRUM_ERR_NO_FIT, "points is empty"},
    };
    static const double loads[] = {0, 0.1, 0.5, 1};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct made made;
        make(&made, FULCRUM_PREDICTOR_GPU_POWER);
        for (size_t i = 0; i < 4; i++) {
            (void)add(&made, "load_frac", loads[i], "gpu_w", 50 + 100 * loads[i]);
        }
        cases[c].spoil(&made);
        struct fulcrum_comparison compared = {0};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_predict_power(&made.reference, &compared, &err), cases[c].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[c].detail));
        CU_ASSERT_PTR_NULL(compared.items);
    }
}

/*
 * Of the H100 each held-out point is met within 10 %, as it has to be. The B200's watts
 * do not rise with its load (667 W at 2751 tokens/s, 449 W at 4570): no rising curve
 * meets both, and the error says so. Teads: two points and a prior for alpha, mostly
 * missed at full load, which is extrapolated from half.
 */
static void test_power_meets_published_curves(void)
{
    static const struct {
        const char *name;
        size_t held_out;
        double most_mape;
        double least_max; /* below: the curve would be predicted after all */
        double most_max;
    } cases[] = {
        {"power-mlenergy-llama8b-h100", 5, 0.03, 0, 0.10},
        {"power-mlenergy-qwen8b-h100", 5, 0.03, 0, 0.10},
        {"power-mlenergy-llama8b-b200", 4, 0.10, 0.10, 0.20},
        {"power-teads-ec2", 10, 0.08, 0, 0.13},
        {"power-teads-ec2-gpu", 6, 0.08, 0, 0.15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_reference *reference = NULL;
        struct fulcrum_comparison compared = {0};
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_reference_load(cases[i].name, &reference, NULL), FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_predict_power(reference, &compared, NULL), FULCRUM_OK);
        struct fulcrum_comparison_errors errors =
            fulcrum_comparison_errors(&compared, NULL, FULCRUM_COMPARE_PREDICTED, -1);
        (void)printf("\n    %-28s %.2f %% (most %.1f %%)", cases[i].name,
            100 * errors.mape_frac, 100 * errors.max_frac);
        CU_ASSERT_EQUAL(errors.count, cases[i].held_out);
        CU_ASSERT(errors.mape_frac < cases[i].most_mape);
        CU_ASSERT(errors.max_frac > cases[i].least_max);
        CU_ASSERT(errors.max_frac < cases[i].most_max);
        fulcrum_comparison_clear(&compared);
        fulcrum_reference_free(reference);
    }
    (void)printf("\n    ");
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_power_of_the_form_is_predicted_from_rates),
        SUITE_CASE(test_power_beyond_the_fitted_rates_stays),
        SUITE_CASE(test_power_is_shown_beside_a_straight_line),
        SUITE_CASE(test_power_of_the_form_is_predicted_from_loads),
        SUITE_CASE(test_power_does_not_look_at_what_is_held_out),
        SUITE_CASE(test_power_keeps_to_a_known_idle_draw),
        SUITE_CASE(test_fit_holds_idle_at_what_is_known),
        SUITE_CASE(test_fit_tells_errors_of_watts),
        SUITE_CASE(test_fit_refuses_options_out_of_range),
        SUITE_CASE(test_power_refuses_what_it_cannot_fit),
        SUITE_CASE(test_power_meets_published_curves),
    };
    return suite_run(
        "predict_power", cases, sizeof cases / sizeof cases[0], argc, argv);
}
