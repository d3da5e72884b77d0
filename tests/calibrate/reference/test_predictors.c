/* test_predictors.c - each kind of reference: its law, what it looks at, bad input. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/validation.h"
#include "model/predict/partition.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

enum { MOST = 32 };

/* A reference in memory: at most two settings and two observations a point. */
struct made {
    struct fulcrum_reference reference;
    struct fulcrum_reference_point points[MOST];
    struct fulcrum_reference_setting settings[MOST][2];
    struct fulcrum_observation observed[MOST][12];
};

static void begin(struct made *made, enum fulcrum_predictor_kind kind)
{
    *made = (struct made){
        .reference = {.name = "made", .predictor = kind, .points = made->points}};
    fulcrum_design_init(&made->reference.design);
}

static void set_field(struct made *made, const char *path, double value)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    memcpy((char *)&made->reference.design + field->offset, &value, sizeof value);
}

static void add_setting(struct made *made, const char *path, double value)
{
    size_t i = made->reference.point_count - 1;
    struct fulcrum_reference_setting *setting =
        &made->settings[i][made->points[i].setting_count++];
    *setting = (struct fulcrum_reference_setting){.number = value};
    (void)snprintf(setting->path, sizeof setting->path, "%s", path);
}

static void add_observed(struct made *made, const char *quantity, double value)
{
    size_t i = made->reference.point_count - 1;
    struct fulcrum_observation *seen =
        &made->observed[i][made->points[i].observation_count++];
    *seen = (struct fulcrum_observation){.value = value, .half_width = (double)NAN};
    (void)snprintf(seen->quantity, sizeof seen->quantity, "%s", quantity);
}

static void add(struct made *made, const char *path, double place, const char *quantity,
    double value)
{
    size_t i = made->reference.point_count++;
    made->points[i] = (struct fulcrum_reference_point){
        .index = i, .settings = made->settings[i], .observations = made->observed[i]};
    if (path != NULL) {
        add_setting(made, path, place);
    }
    add_observed(made, quantity, value);
}

/* Of the last point. */
static void name_series(struct made *made, const char *series)
{
    struct fulcrum_reference_point *point =
        &made->points[made->reference.point_count - 1];
    (void)snprintf(point->series, sizeof point->series, "%s", series);
}

static struct fulcrum_comparison predict(const struct fulcrum_reference *reference)
{
    struct fulcrum_comparison out = {.count = 0};
    ASSERT_OK(fulcrum_predict_reference(reference, NULL, &out, NULL));
    return out;
}

static struct fulcrum_reference *load_reference(const char *name)
{
    struct fulcrum_reference *reference = NULL;
    ASSERT_OK(fulcrum_reference_load(name, &reference, NULL));
    return reference;
}

static double error_rel(const struct fulcrum_compared *item)
{
    return item->predicted / item->observed - 1;
}

static struct fulcrum_comparison_errors held_out_errors(
    const struct fulcrum_comparison *compared, int baseline)
{
    return fulcrum_comparison_errors(
        compared, NULL, FULCRUM_COMPARE_PREDICTED, baseline);
}

/* Curves of workers, written anew: (20) and (21) of docs/model.md. */

struct cpu_truth {
    double smt_yield_frac;
    double serial_frac;
    double knee;
};

static const struct cpu_truth async_prior = {0.30, 0.003, 2.1};
static const struct cpu_truth sync_prior = {0.30, 0.010, 1.3};
static const struct cpu_truth pipe_prior = {0.30, 0.065, 1.0};

static const double workers[] = {1, 2, 4, 8, 12, 16, 20, 24, 28, 32};
enum { WORKERS = LENGTH(workers) };

/* The bracket of (20) with (21): 16 cores of two threads. */
static double bracket(double n, const struct cpu_truth *truth, bool lockstep)
{
    double a = fmin(n, 16) + truth->smt_yield_frac * fmax(0, fmin(n, 32) - 16);
    if (lockstep && n > 16) {
        a = fmin(n, 32) * (1 + truth->smt_yield_frac) / 2;
    }
    double p = truth->knee;
    return pow(pow(a, -p) + pow(1.25 * 16, -p) + pow(truth->serial_frac, p), -1 / p);
}

/* (20); beyond half of the cores unpinned threads of two sockets are slower. */
static double cpu_rate(
    double n, const struct cpu_truth *truth, bool lockstep, bool is_spread_over_two)
{
    double one = bracket(1, truth, lockstep) * 1e-3;
    double rate = bracket(n, truth, lockstep) / one;
    double half = bracket(8, truth, lockstep) / one;
    return is_spread_over_two && n > 8 ? fmax(0.85 * rate, fmin(rate, half)) : rate;
}

static void begin_workers(struct made *made, double sockets)
{
    begin(made, FULCRUM_PREDICTOR_CPU_CURVE);
    set_field(made, "machine.cpu.core_count", 16);
    set_field(made, "machine.cpu.thread_count", 32);
    set_field(made, "machine.cpu.socket_count", sockets);
}

static void add_workers(
    struct made *made, const char *series, double count, double steps_per_s)
{
    add(made, "workers", count, "steps_per_s", steps_per_s);
    name_series(made, series);
}

/* Two curves, the points of both in no order, a little off; one count twice. */
static void make_workers(struct made *made)
{
    static const size_t order[] = {4, 0, 7, 2, 9, 5, 1, 8, 3, 6};
    begin_workers(made, 1);
    for (size_t i = 0; i < WORKERS; i++) {
        double n = workers[order[i]];
        add_workers(
            made, "async", n, cpu_rate(n, &async_prior, 0, 0) * (1 + 0.01 * sin(n)));
        add_workers(
            made, "sync", n, cpu_rate(n, &sync_prior, 1, 0) * (1 + 0.01 * cos(n)));
    }
    add_workers(made, "async", 4, 3900);
    add_workers(made, "For-loop", 1, 1);
    add_workers(made, "For-loop", 0, 0);
}

/* Truths at the priors, so that these agree with the points: exact everywhere. */
TEST(test_curves_of_workers_follow_the_form)
{
    static const struct {
        const char *series;
        const char *quantity; /* frames are predicted in frames */
        const struct cpu_truth *truth;
        double sockets;
        bool lockstep;
        bool is_spread_over_two;
    } cases[] = {
        {"EnvPool (async)", "steps_per_s", &async_prior, 1, 0, 0},
        {"EnvPool (async)", "frames_per_s", &async_prior, 2, 0, 1},
        {"EnvPool (numa+async)", "steps_per_s", &async_prior, 2, 0, 0},
        {"Sample-Factory", "steps_per_s", &async_prior, (double)NAN, 0, 0},
        {"EnvPool (sync)", "steps_per_s", &sync_prior, 1, 1, 0},
        {"EnvPool (sync)", "steps_per_s", &sync_prior, 2, 1, 1},
        {"Subprocess", "steps_per_s", &pipe_prior, 1, 1, 0},
        {"pipes of 2", "steps_per_s", &pipe_prior, 2, 1, 1},
    };
    for (size_t c = 0; c < LENGTH(cases); c++) {
        struct made made;
        begin_workers(&made, cases[c].sockets);
        for (size_t i = 0; i < WORKERS; i++) {
            add(&made, "workers", workers[i], cases[c].quantity,
                cpu_rate(workers[i], cases[c].truth, cases[c].lockstep,
                    cases[c].is_spread_over_two));
            name_series(&made, cases[c].series);
        }
        struct fulcrum_comparison compared = predict(&made.reference);
        CU_ASSERT_EQUAL_FATAL(compared.count, WORKERS);
        for (size_t i = 0; i < WORKERS; i++) {
            const struct fulcrum_compared *item = &compared.items[i];
            assert_close("rate", item->predicted, item->observed, 1e-6);
            CU_ASSERT_EQUAL(item->is_fitted, i % 2 == 0);
            CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
        }
        fulcrum_comparison_clear(&compared);
    }
}

TEST(test_every_other_count_of_workers_is_held_out)
{
    struct made made;
    size_t fitted = 0;
    make_workers(&made);
    struct fulcrum_comparison compared = predict(&made.reference);
    CU_ASSERT_EQUAL(compared.count, 2 * WORKERS + 1);
    for (size_t i = 0; i < compared.count; i++) {
        size_t rank = 0;
        while (workers[rank] < made.settings[compared.items[i].point][0].number) {
            rank++;
        }
        CU_ASSERT_EQUAL(compared.items[i].is_fitted, rank % 2 == 0);
        fitted += compared.items[i].is_fitted ? 1 : 0;
    }
    CU_ASSERT_EQUAL(fitted, WORKERS + 1);
    fulcrum_comparison_clear(&compared);
}

/* In proportion to workers from the first point on, until 8 threads are used up. */
TEST(test_workers_are_shown_beside_a_rate_per_worker)
{
    static const double expected[] = {1800, 3600, 7200, 7200};
    static const double counts[] = {2, 4, 8, 12};
    struct made made;
    begin_workers(&made, 1);
    set_field(&made, "machine.cpu.core_count", 4);
    set_field(&made, "machine.cpu.thread_count", 8);
    for (size_t i = 0; i < 4; i++) {
        add_workers(&made, "async", counts[i], 900 * counts[i] - 10 * (double)i);
    }
    struct fulcrum_comparison compared = predict(&made.reference);
    for (size_t i = 0; i < 4; i++) {
        const double *baseline = compared.items[i].baseline;
        assert_close("bound", baseline[FULCRUM_BASELINE_BOUNDS], expected[i], 1e-12);
        assert_close(
            "textbook", baseline[FULCRUM_BASELINE_TEXTBOOK], expected[i], 1e-12);
        CU_ASSERT(isnan(baseline[FULCRUM_BASELINE_HYPERBOLA]));
    }
    fulcrum_comparison_clear(&compared);
}

/* Truths from the priors, points with the noise that the predictor counts with. */
TEST(test_intervals_of_workers_cover_nine_in_ten)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double covered = 0;
    for (size_t repeat = 0; repeat < 100; repeat++) {
        double logit_y = log(0.3 / 0.7) + gsl_ran_gaussian(rng, 0.5);
        const struct cpu_truth truth = {1 / (1 + exp(-logit_y)),
            0.003 * exp(gsl_ran_gaussian(rng, log(1.5))),
            2.1 * exp(gsl_ran_gaussian(rng, log(1.3)))};
        struct made made;
        begin_workers(&made, 1);
        for (size_t i = 0; i < WORKERS; i++) {
            add_workers(&made, "async", workers[i],
                cpu_rate(workers[i], &truth, 0, 0) *
                    (1 + gsl_ran_gaussian(rng, 0.014)));
        }
        struct fulcrum_comparison compared = predict(&made.reference);
        covered += held_out_errors(&compared, -1).covered_frac / 100;
        fulcrum_comparison_clear(&compared);
    }
    gsl_rng_free(rng);
    (void)printf("\n    covered: %.3f\n    ", covered);
    /* Student's quantile and the excess that is never below 1 err on the wide side. */
    CU_ASSERT(covered > 0.87 && covered < 0.99);
}

/* Published curves of workers: means of held-out points by coupling, and beside those
 * of counting threads, which misses them by their own size. */
TEST(test_published_curves_of_workers_are_met)
{
    static const char *const names[] = {"envpool-atari-laptop",
        "envpool-atari-workstation", "envpool-atari-dgx-a100", "envpool-mujoco-laptop",
        "envpool-mujoco-workstation", "envpool-mujoco-dgx-a100"};
    static const char *const words[] = {
        "async", "Sample-Factory", "sync", "Subprocess"};
    static const size_t coupling[] = {0, 0, 1, 2}; /* by the first word of a series */
    static const size_t curve_count[] = {14, 6, 6};
    static const double most_mape[] = {0.03, 0.045, 0.08};
    double mape[3] = {0};
    size_t curves[3] = {0};
    double count = 0;
    double covered = 0;
    double bound = 0;
    for (size_t r = 0; r < LENGTH(names); r++) {
        struct fulcrum_reference *reference = load_reference(names[r]);
        struct fulcrum_comparison compared = predict(reference);
        struct fulcrum_comparison_errors own = held_out_errors(&compared, -1);
        struct fulcrum_comparison_errors other =
            held_out_errors(&compared, FULCRUM_BASELINE_BOUNDS);
        CU_ASSERT_EQUAL(own.count, other.count);
        CU_ASSERT(10 * own.mape_frac < other.mape_frac);
        count += (double)own.count;
        covered += own.covered_frac * (double)own.count;
        bound += other.mape_frac * (double)own.count;
        for (size_t i = 0; i < reference->point_count; i++) {
            const char *series = reference->points[i].series;
            size_t k = 0;
            while (k < 4 && strstr(series, words[k]) == NULL) {
                k++;
            }
            if (k < 4 && fulcrum_reference_begins_series(reference, i)) {
                curves[coupling[k]]++;
                mape[coupling[k]] += fulcrum_comparison_errors(
                    &compared, series, FULCRUM_COMPARE_PREDICTED, -1)
                                         .mape_frac;
            }
        }
        fulcrum_comparison_clear(&compared);
        fulcrum_reference_free(reference);
    }
    for (size_t k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL(curves[k], curve_count[k]);
        CU_ASSERT(mape[k] / (double)curves[k] <= most_mape[k]);
    }
    CU_ASSERT((mape[0] + mape[1] + mape[2]) / 26 <= 0.045);
    CU_ASSERT(bound / count > 1);
    /* Nine in ten, less two standard deviations of 130 points. */
    CU_ASSERT(covered / count >= 0.84);
}

/* Curves of watts. */

static const double rates[] = {100, 190, 340, 520, 640, 700, 830, 900, 1000};
enum { RATES = LENGTH(rates) };

/* Watts of the form, 120 + 400 U^0.6, behind the rates that U is taken from. */
static void make_gpu(struct made *made)
{
    begin(made, FULCRUM_PREDICTOR_GPU_POWER);
    for (size_t i = 0; i < RATES; i++) {
        add(made, "max_num_seqs", pow(2, (double)i), "tokens_per_s", rates[i]);
        add_observed(made, "gpu_w", 120 + 400 * pow(rates[i] / 1000, 0.6));
    }
}

/* A little off the form, which no fit can meet. */
static void make_gpu_off(struct made *made)
{
    make_gpu(made);
    for (size_t i = 0; i < RATES; i++) {
        made->observed[i][1].value *= 1 + 0.01 * sin((double)i);
    }
}

/* Four loads that are set, and watts of a straight line. */
static void make_loads(struct made *made)
{
    static const double loads[] = {0, 0.1, 0.5, 1};
    begin(made, FULCRUM_PREDICTOR_GPU_POWER);
    for (size_t i = 0; i < 4; i++) {
        add(made, "load_frac", loads[i], "gpu_w", 50 + 100 * loads[i]);
    }
}

static void make_rates(struct made *made)
{
    begin(made, FULCRUM_PREDICTOR_GPU_POWER);
    for (size_t i = 0; i < 4; i++) {
        add(made, "max_num_seqs", 1 + (double)i, "tokens_per_s", (double)i);
        add_observed(made, "gpu_w", 50 + 100 * (double)i);
    }
}

/* More work than in any fitted point is full activity, not more. The baseline: from
 * idle to rated watts in proportion, nothing where either is unknown. */
TEST(test_watts_of_a_gpu_are_predicted_from_rates)
{
    struct made made;
    make_gpu(&made);
    struct fulcrum_comparison compared = predict(&made.reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, RATES);
    for (size_t i = 0; i < RATES; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        assert_close("watts", item->predicted, item->observed, 1e-6);
        CU_ASSERT_EQUAL(item->is_fitted, i % 2 == 0);
        CU_ASSERT_EQUAL(item->observation, 1);
        CU_ASSERT(isnan(item->baseline[FULCRUM_BASELINE_BOUNDS]));
    }
    fulcrum_comparison_clear(&compared);
    made.observed[1][0].value = 1200;
    set_field(&made, "machine.gpu.idle_w", 60);
    set_field(&made, "machine.gpu.tdp_w", 660);
    compared = predict(&made.reference);
    assert_close("watts", compared.items[1].predicted, 520, 1e-6);
    for (size_t i = 0; i < RATES; i++) {
        assert_close("line", compared.items[i].baseline[FULCRUM_BASELINE_BOUNDS],
            60 + 600 * (i == 1 ? 1 : rates[i] / 1000), 1e-12);
    }
    fulcrum_comparison_clear(&compared);
}

/* Two series and two machines in words: four curves of four loads each, two of them
 * fitted. Alpha comes from the prior, so a curve of that alpha is met. */
TEST(test_watts_of_servers_are_predicted_from_loads)
{
    static const double loads[] = {0.5, 0, 1, 0.1};
    struct made made;
    begin(&made, FULCRUM_PREDICTOR_SERVER_POWER);
    for (size_t i = 0; i < 16; i++) {
        size_t curve = i / 4;
        double load = loads[i % 4];
        add(&made, "load_frac", load, "server_w",
            50 + 20 * (double)curve + 300 * (load > 0 ? pow(load, 0.72) : 0));
        name_series(&made, curve < 2 ? "first" : "second");
        add_setting(&made, "cpu", (double)NAN);
        (void)snprintf(made.settings[i][1].text, sizeof made.settings[i][1].text, "%s",
            curve % 2 == 0 ? "one" : "other");
    }
    struct fulcrum_comparison compared = predict(&made.reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, 16);
    for (size_t i = 0; i < 16; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        double load = made.settings[item->point][0].number;
        assert_close("watts", item->predicted, item->observed, 1e-6);
        CU_ASSERT_EQUAL(item->is_fitted, load < 0.05 || (load > 0.4 && load < 0.6));
        CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
    }
    fulcrum_comparison_clear(&compared);
}

/* Watts that fall to 1 W with the load, which no idle draw allows: with an idle draw of
 * 60 W known the constant term stays there. */
TEST(test_watts_keep_to_a_known_idle_draw)
{
    struct made made;
    make_gpu(&made);
    set_field(&made, "machine.gpu.idle_w", 60);
    for (size_t i = 0; i < RATES; i++) {
        made.observed[i][1].value = 1 + 500 * rates[i] / 1000;
    }
    struct fulcrum_comparison compared = predict(&made.reference);
    CU_ASSERT(compared.items[0].predicted > 60);
    fulcrum_comparison_clear(&compared);
}

/* Of the H100 each held-out point is met within 10 %, as it has to be. The B200's watts
 * do not rise with its load (667 W at 2751 tokens/s, 449 W at 4570): no rising curve
 * meets both, and the error says so. Teads: two points and a prior for alpha, mostly
 * missed at full load, which is extrapolated from half. SPECpower's servers from the
 * watts of generic-server, and GNMT on 4 and 16 GPUs of one machine: see below. */
TEST(test_published_watts_are_met)
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
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_reference *reference = load_reference(cases[i].name);
        struct fulcrum_comparison compared = predict(reference);
        struct fulcrum_comparison_errors errors = held_out_errors(&compared, -1);
        CU_ASSERT_EQUAL(errors.count, cases[i].held_out);
        CU_ASSERT(errors.mape_frac < cases[i].most_mape);
        CU_ASSERT(errors.max_frac > cases[i].least_max);
        CU_ASSERT(errors.max_frac < cases[i].most_max);
        fulcrum_comparison_clear(&compared);
        fulcrum_reference_free(reference);
    }
}

/* Decoding. */

static const double in_flight[] = {1, 4, 16, 64, 256};
enum { IN_FLIGHT = 5 };

/* T = 10 ms + 0.3 ms B^0.8, and activity 0.2 B^0.15 of 400 W beside 100 W. */
static void make_decoding(struct made *made)
{
    begin(made, FULCRUM_PREDICTOR_DECODING);
    set_field(made, "machine.gpu.idle_w", 60);
    set_field(made, "machine.gpu.floor_w", 40);
    set_field(made, "machine.gpu.dynamic_w", 400);
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        double b = in_flight[i];
        add(made, "in_flight", b, "tokens_per_s", b / (0.01 + 3e-4 * pow(b, 0.8)));
        add_observed(made, "watts_per_gpu", 100 + 80 * pow(b, 0.15));
    }
}

/* Each point from the others; the exponents' priors pull a little. */
TEST(test_decoding_is_predicted_from_the_other_points)
{
    struct made made;
    make_decoding(&made);
    struct fulcrum_comparison compared = predict(&made.reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, (size_t)IN_FLIGHT * 2);
    for (size_t i = 0; i < compared.count; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        CU_ASSERT(!item->is_fitted);
        assert_close("decoding", item->predicted, item->observed,
            made.points[item->point].index < IN_FLIGHT - 1 ? 0.02 : 0.06);
        CU_ASSERT(item->lo < item->observed && item->observed < item->hi);
    }
    fulcrum_comparison_clear(&compared);
}

/* A point that lies off does not hide: it is predicted by those that do not. */
TEST(test_a_point_off_its_curve_is_seen)
{
    struct made made;
    make_decoding(&made);
    double true_rate = made.observed[2][0].value;
    made.observed[2][0].value *= 0.5;
    struct fulcrum_comparison compared = predict(&made.reference);
    assert_close("the others say", compared.items[2].predicted, true_rate, 0.03);
    fulcrum_comparison_clear(&compared);
}

/* Curves of SMs. */

static const double sm_counts[] = {80, 10, 40, 20, 60, 5};
enum { SM_COUNTS = 6 };

/* Rates of a GPU of 80 SMs whose time is `math` / s beside what stays. */
static void make_sm(struct made *made, double math, double stays)
{
    begin(made, FULCRUM_PREDICTOR_SM_SCALING);
    set_field(made, "machine.gpu.sm_count", 80);
    for (size_t i = 0; i < SM_COUNTS; i++) {
        add(made, "run.sm_count", sm_counts[i], "tokens_per_s",
            1000 / (math * 80 / sm_counts[i] + stays));
    }
}

static void make_sm_of_any_share(struct made *made)
{
    make_sm(made, 0.7, 0.3);
}

/* The law with the shares of the model's own fallbacks: (6), and half of it fixed. */
TEST(test_work_on_a_part_of_the_sms_follows_the_law)
{
    static const double launch_bound[] = {0, 0.5};
    for (size_t c = 0; c < 2; c++) {
        struct made made;
        double moves = 1 - launch_bound[c];
        make_sm(&made, moves * 0.57, moves * 0.43 + launch_bound[c]);
        made.reference.design.workload.training.launch_bound_frac = launch_bound[c];
        struct fulcrum_comparison compared = predict(&made.reference);
        CU_ASSERT_EQUAL_FATAL(compared.count, SM_COUNTS);
        for (size_t i = 0; i < SM_COUNTS; i++) {
            const struct fulcrum_compared *item = &compared.items[i];
            double s = sm_counts[item->point];
            assert_close("rate", item->predicted, item->observed, 1e-6);
            CU_ASSERT(item->lo < item->predicted && item->predicted < item->hi);
            CU_ASSERT_EQUAL(
                item->is_fitted, s < 6 || (s > 15 && s < 30) || (s > 50 && s < 70));
            assert_close("in proportion", item->baseline[FULCRUM_BASELINE_BOUNDS],
                made.observed[SM_COUNTS - 1][0].value * s / 5, 1e-12);
        }
        fulcrum_comparison_clear(&compared);
    }
}

/* Limits: pure arithmetic goes with SMs, pure latency does not care for them. The prior
 * keeps a share from either end, which a factor of 16 in SMs makes little of. */
TEST(test_work_on_a_part_of_the_sms_has_its_limits)
{
    static const double tolerance[] = {0.005, 0.05};
    for (int math = 0; math < 2; math++) {
        struct made made;
        make_sm(&made, math, 1 - math);
        struct fulcrum_comparison compared = predict(&made.reference);
        const struct fulcrum_compared *all = &compared.items[SM_COUNTS - 1];
        assert_close("all SMs", all->predicted, 1000, tolerance[math]);
        CU_ASSERT(all->predicted < all->baseline[FULCRUM_BASELINE_BOUNDS]);
        fulcrum_comparison_clear(&compared);
    }
}

/* Slices of an A100, 14 and 42 SMs fitted. Between them the law is met by all four; at
 * 108 SMs, 2.6 times as many as the largest fitted, by matrix products alone:
 * fine-tuning and molecular dynamics stop growing, for reasons outside the SMs. And
 * what docs/whatifs.md says of seven small slices beside the whole, and of a + w / x
 * through both ends, which misses the middle of work that stops to grow. */
TEST(test_slices_of_an_a100_are_as_told)
{
    static const struct {
        const char *series;
        double most_between;
        double least_at_all; /* below: the whole GPU would be predicted after all */
        double most_at_all;
        double seven_small; /* 7 x 1g over the whole GPU */
        double middle;      /* error at 42 SMs of the law through 14 and 108 */
    } cases[] = {
        {"GEMM FP16", 0.02, 0, 0.10, 0.95, -0.04},
        {"GEMM TF32", 0.02, 0, 0.10, 0.98, 0.0},
        {"LLM fine-tuning", 0.05, 0.8, 1, 1.71, -0.23},
        {"GROMACS", 0.02, 0.8, 1.1, 2.55, -0.27},
    };
    static const double sms[] = {14, 28, 42, 108};
    struct fulcrum_reference *reference = load_reference("njit-mig-sm-scaling");
    struct fulcrum_comparison compared = predict(reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, 16);
    for (size_t i = 0; i < 4; i++) {
        const struct fulcrum_compared *item = &compared.items[4 * i];
        double error = fabs(error_rel(&item[3]));
        for (size_t k = 0; k < 4; k++) {
            const struct fulcrum_reference_point *point =
                &reference->points[item[k].point];
            CU_ASSERT_EQUAL(item[k].is_fitted, k % 2 == 0);
            CU_ASSERT_STRING_EQUAL(point->series, cases[i].series);
            CU_ASSERT_EQUAL(point->settings[0].number, sms[k]);
        }
        CU_ASSERT(fabs(error_rel(&item[1])) < cases[i].most_between);
        CU_ASSERT(error > cases[i].least_at_all && error < cases[i].most_at_all);
        double small = item[0].observed;
        double whole = item[3].observed;
        double work = (whole / small - 1) / (108.0 / 14 - 1);
        const struct fulcrum_gpu_stage stage = {
            .per_round = {.latency_s = 1 - work, .sm_s = work}};
        CU_ASSERT(fabs(7 * small / whole - cases[i].seven_small) < 0.01);
        assert_close(
            "small", fulcrum_gpu_stage_s(&stage, 14.0 / 108, 1), whole / small, 1e-12);
        double middle = whole / fulcrum_gpu_stage_s(&stage, 42.0 / 108, 1);
        CU_ASSERT(fabs(middle / item[2].observed - 1 - cases[i].middle) < 0.01);
    }
    CU_ASSERT(held_out_errors(&compared, -1).mape_frac < 0.27);
    CU_ASSERT(held_out_errors(&compared, -1).mape_frac <
              held_out_errors(&compared, FULCRUM_BASELINE_BOUNDS).mape_frac);
    fulcrum_comparison_clear(&compared);
    fulcrum_reference_free(reference);
}

/* Curves of machines and of the GPUs of one. */

static const double node_counts[] = {8, 1, 2, 16, 4};
enum { NODE_COUNTS = 5, CURVES = 4 };

/* A step of 1 that a ring of `byte` and `latency` lengthens: (15) written out. */
static void make_nodes(
    struct made *made, const char *counted, double byte, double latency)
{
    bool is_gpu = strcmp(counted, "gpu_count") == 0;
    begin(made, FULCRUM_PREDICTOR_NODE_SCALING);
    for (size_t i = 0; i < NODE_COUNTS; i++) {
        double n = node_counts[i];
        add(made, counted, n, is_gpu ? "speedup_over_one_gpu" : "speedup_over_one_node",
            n / (1 + 2 * (n - 1) / n * byte + 2 * (n - 1) * latency));
    }
}

static void make_machines(struct made *made)
{
    make_nodes(made, "node_count", 0.1, 0.003);
}

static void make_gpus(struct made *made)
{
    make_nodes(made, "gpu_count", 0.1, 0.003);
}

/* The same curve is the same whatever it counts, and is named by what it does. */
TEST(test_scaling_follows_the_ring)
{
    static const double costs[][2] = {{0.2, 0}, {0, 0.02}, {0.15, 0.01}, {0, 0}};
    static const char *const counted[] = {"node_count", "gpu_count"};
    for (size_t c = 0; c < 8; c++) {
        struct made made;
        make_nodes(&made, counted[c % 2], costs[c / 2][0], costs[c / 2][1]);
        CU_ASSERT_STRING_EQUAL(
            fulcrum_scaling_setting(&made.points[0]), counted[c % 2]);
        struct fulcrum_comparison compared = predict(&made.reference);
        CU_ASSERT_EQUAL(compared.count, NODE_COUNTS);
        for (size_t i = 0; i < compared.count; i++) {
            const struct fulcrum_compared *item = &compared.items[i];
            double nodes = node_counts[item->point];
            assert_close("speed-up", item->predicted, item->observed, 1e-9);
            CU_ASSERT_EQUAL(item->is_fitted, nodes < 3 || (nodes > 7 && nodes < 9));
            CU_ASSERT_EQUAL(item->baseline[FULCRUM_BASELINE_BOUNDS], nodes);
        }
        fulcrum_comparison_clear(&compared);
    }
}

/* More than so many times one machine: nothing below 0 explains it, and none is asked.
 */
TEST(test_more_than_in_proportion_is_met_by_no_cost)
{
    struct made made;
    make_nodes(&made, "node_count", 0, 0);
    for (size_t i = 0; i < NODE_COUNTS; i++) {
        made.observed[i][0].value *= node_counts[i] > 1.5 ? 1.1 : 1.0;
    }
    struct fulcrum_comparison compared = predict(&made.reference);
    for (size_t i = 0; i < compared.count; i++) {
        CU_ASSERT_EQUAL(
            compared.items[i].predicted, node_counts[compared.items[i].point]);
    }
    fulcrum_comparison_clear(&compared);
}

/* GNMT on the GPUs of one machine: 4 and 16 fitted, 8 predicted. */
TEST(test_eight_gpus_are_predicted_from_four_and_sixteen)
{
    struct fulcrum_reference *reference = load_reference("gnmt-dgx2-scaling");
    struct fulcrum_comparison compared = predict(reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, 8);
    for (size_t i = 0; i < compared.count; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        CU_ASSERT_EQUAL(item->is_fitted, i % 4 != 2);
        CU_ASSERT_TRUE(fabs(error_rel(item)) < (item->is_fitted ? 0.001 : 0.05));
    }
    fulcrum_comparison_clear(&compared);
    fulcrum_reference_free(reference);
}

/* The least largest error of any efficiency that does not rise with machines, by brute
 * force over e(2) >= e(4) >= e(8) on a grid as fine as the table is printed. */
static double least_residual(double two, double four, double eight)
{
    double least = (double)INFINITY;
    for (int i = 300; i <= 500; i++) {
        double e = i / 500.0;
        /* The others as near as order allows. */
        double worst = fmax(fabs(e / four - 1),
            fmax(fabs(fmax(e, two) / two - 1), fabs(fmin(e, eight) / eight - 1)));
        least = fmin(least, worst);
    }
    return least;
}

/* One, two, four and eight machines of each curve. Every error at 4 machines is at most
 * 20 %: the model is not made for this table. The dip there is below whatever falls
 * with machines, and no efficiency that does meets the table: what is left is not
 * noise, and near the least that there can be. */
TEST(test_four_machines_are_predicted_as_well_as_can_be)
{
    struct fulcrum_reference *reference = load_reference("gmidrl-table5-multinode");
    struct fulcrum_comparison compared = predict(reference);
    CU_ASSERT_EQUAL_FATAL(compared.count, (size_t)4 * CURVES);
    for (size_t i = 0; i < CURVES; i++) {
        const struct fulcrum_compared *item = &compared.items[4 * i];
        for (size_t k = 0; k < 4; k++) {
            CU_ASSERT_EQUAL(item[k].is_fitted, k != 2);
            CU_ASSERT_TRUE(fabs(error_rel(&item[k])) <= (k != 2 ? 0.07 : 0.20));
        }
        CU_ASSERT_TRUE(error_rel(&item[2]) > 0);
        double two = item[1].observed / 2;
        double four = item[2].observed / 4;
        double eight = item[3].observed / 8;
        /* Half the last digit printed is at most 0.3 % of any speed-up. */
        double residual = least_residual(two, four, eight);
        CU_ASSERT_TRUE(residual > 0.04);
        /* In closed form: e(4) and e(8) meet between, equally far from both. */
        double between = 2 * four * eight / (four + eight);
        CU_ASSERT_TRUE(fabs(residual - (between / four - 1)) < 2e-3);
        /* Whatever meets 2 and 8 and does not rise is off at 4 by so much at least. */
        double least = eight / four - 1;
        CU_ASSERT_TRUE(least > 0.09);
        CU_ASSERT_TRUE(error_rel(&item[2]) < least + 0.015);
    }
    fulcrum_comparison_clear(&compared);
    fulcrum_reference_free(reference);
}

/* Servers from priors. */

/* A server of 10 cores at three loads; its machine says 8. */
static void make_server(struct made *made)
{
    static const double loads[] = {0, 1, 0.5};
    static const struct {
        const char *path;
        double value;
    } fields[] = {{"machine.cpu.core_count", 8}, {"machine.cpu.thread_count", 20},
        {"machine.cpu.core_tdp_w", 4}, {"machine.cpu.idle_tdp_frac", 0.5},
        {"machine.cpu.load_tdp_frac", 1.7}, {"machine.cpu.smt_power_frac", 0.2},
        {"machine.rest_tdp_frac", 0.75}, {"machine.psu_efficiency_frac", 0.8}};
    begin(made, FULCRUM_PREDICTOR_SERVER_PRIOR);
    made->reference.design.machine.accelerator = FULCRUM_ACCELERATOR_CPU;
    (void)strcpy(made->reference.machine, "inline");
    for (size_t i = 0; i < LENGTH(fields); i++) {
        set_field(made, fields[i].path, fields[i].value);
    }
    for (size_t i = 0; i < 3; i++) {
        add(made, "load_frac", loads[i], "server_w", 100);
        add_setting(made, "machine.cpu.core_count", 10);
    }
}

static void make_server_with_gpu(struct made *made)
{
    make_server(made);
    made->reference.design.machine.accelerator = FULCRUM_ACCELERATOR_GPU;
}

/*
 * (13) by hand, 40 W rated: 20 of them asleep, half the packages', and 30 of the rest,
 * over 0.8; both threads of every core add 48 W; half of the load half of that. Watts
 * that are given are taken: (20 + 10 x 1 + 30) / 0.8 and 10 x 5 x 1.2. A machine that
 * is no preset has no spreads. A preset's: of all parts by a factor of 1.7 or less, so
 * that no interval can be wider than those of one part and of the rated power together,
 * nor nearly as narrow as the supply's alone.
 */
TEST(test_watts_of_a_server_follow_the_equation)
{
    static const double expected[] = {62.5, 122.5, 92.5};
    static const double as_given[] = {75, 150, 112.5};
    static const double quantile = 1.6448536;
    struct made made;
    make_server(&made);
    struct fulcrum_comparison plain = predict(&made.reference);
    (void)strcpy(made.reference.machine, "generic-server");
    struct fulcrum_comparison spread = predict(&made.reference);
    (void)strcpy(made.reference.machine, "inline");
    set_field(&made, "machine.cpu.idle_w", 20);
    set_field(&made, "machine.cpu.core_idle_w", 1);
    set_field(&made, "machine.cpu.core_dynamic_w", 5);
    set_field(&made, "machine.rest_w", 30);
    struct fulcrum_comparison given = predict(&made.reference);
    CU_ASSERT_EQUAL_FATAL(plain.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct fulcrum_compared *item = &spread.items[i];
        double up = log(item->hi / item->predicted);
        double down = log(item->predicted / item->lo);
        assert_close("watts", plain.items[i].predicted, expected[i], 1e-12);
        assert_close("given", given.items[i].predicted, as_given[i], 1e-12);
        assert_close("median", item->predicted, expected[i], 0.05);
        CU_ASSERT(!plain.items[i].is_fitted);
        CU_ASSERT(isnan(plain.items[i].lo) && isnan(plain.items[i].hi));
        CU_ASSERT(up > 0.3 && up < quantile * log(1.7 * 1.35));
        CU_ASSERT(down > 0.2 && down < quantile * log(1.7 * 1.35));
    }
    fulcrum_comparison_clear(&plain);
    fulcrum_comparison_clear(&spread);
    fulcrum_comparison_clear(&given);
}

/* SPECpower's servers from the shares of rated power in generic-server, which every
 * other one of them gave: those that gave none, at full load and asleep. */
TEST(test_watts_of_published_servers)
{
    struct fulcrum_reference *reference = load_reference("power-specpower-servers");
    struct fulcrum_comparison compared = predict(reference);
    size_t within = 0;
    CU_ASSERT_EQUAL_FATAL(compared.count, 22);
    for (size_t i = 0; i < compared.count; i++) {
        const struct fulcrum_compared *item = &compared.items[i];
        CU_ASSERT_EQUAL(item->is_fitted, i / 2 % 2 == 0);
        within += !item->is_fitted && item->lo <= item->observed &&
                  item->observed <= item->hi;
    }
    struct fulcrum_comparison_errors errors = held_out_errors(&compared, -1);
    CU_ASSERT_EQUAL(errors.count, 10);
    CU_ASSERT(errors.mape_frac < 0.2);
    CU_ASSERT(within >= 8);
    fulcrum_comparison_clear(&compared);
    fulcrum_reference_free(reference);
}

/* Gains of memory systems. */

static void add_gain(
    struct made *made, const double change[2], const char *quantity, double value)
{
    add(made, "cache_rel", change[0], quantity, value);
    add_setting(made, "bandwidth_rel", change[1]);
}

static void make_gain(struct made *made)
{
    static const double change[] = {16, 1.6};
    begin(made, FULCRUM_PREDICTOR_MEMORY_GAIN);
    add_gain(made, change, "training_gain_frac", 0.3);
}

/* Work of a share of 0.28 and an exponent of 0.5, at another change: (18) by hand. */
TEST(test_another_change_is_predicted_with_an_interval)
{
    static const double copa[] = {16, 1.6};
    static const double four[] = {4, 1};
    double at_four = 1 / (0.72 + 0.28 / 2) - 1;
    struct made made;
    begin(&made, FULCRUM_PREDICTOR_MEMORY_GAIN);
    add_gain(&made, copa, "training_gain_frac", 1 / (0.72 + 0.28 / 4 / 1.6) - 1);
    add_gain(&made, four, "training_gain_frac", at_four);
    add_gain(&made, four, "fewer_gpus_frac", 0.2);
    struct fulcrum_comparison found = predict(&made.reference);
    CU_ASSERT_EQUAL_FATAL(found.count, 2);
    assert_close("4 x", found.items[0].predicted, at_four, 1e-9);
    CU_ASSERT(found.items[0].lo < at_four && at_four < found.items[0].hi);
    assert_close("fewer", found.items[1].predicted, 0.14, 1e-9);
    CU_ASSERT(found.items[1].lo < 0.14 && 0.14 < found.items[1].hi);
    CU_ASSERT(!found.items[0].is_fitted);
    fulcrum_comparison_clear(&found);
}

/* At the same change every member of the family says the same, so the error of the
 * second figure is that of taking two kinds of work for one. */
TEST(test_copa_is_two_guesses)
{
    struct fulcrum_reference *reference = load_reference("copa-gpun");
    struct fulcrum_comparison found = predict(reference);
    CU_ASSERT_EQUAL_FATAL(found.count, 2);
    assert_close("inference", found.items[0].predicted, 0.31, 1e-12);
    CU_ASSERT_EQUAL(found.items[0].observed, 0.35);
    assert_close("GPUs", found.items[1].predicted, 0.31 / 1.31, 1e-12);
    CU_ASSERT(!found.items[0].is_fitted && !found.items[1].is_fitted);
    CU_ASSERT(isnan(found.items[0].lo));
    fulcrum_comparison_clear(&found);
    fulcrum_reference_free(reference);
}

/* Processes on parts of a GPU. */

/* What is published of stages: in units of the agent's time 7 and 9 rounds, of which
 * 6.1 and 6.5 times the busy share are work. A mean gain of 2 tells the busy share. */
static void make_parts_of(struct made *made, double busy, double launch, double talk)
{
    begin(made, FULCRUM_PREDICTOR_GPU_PARTS);
    add(made, NULL, 0, "t_s_over_t_a", 6);
    add_observed(made, "t_s_over_t_t", 3);
    add_observed(made, "r_s_over_r_a", 10);
    add_observed(made, "r_s_over_r_t", 5);
    add_observed(made, "kernel_launch_overhead_frac", launch);
    add_observed(made, "communication_overhead_frac", talk);
    add_observed(made, "serving_speedup_mean", 2);
    add_observed(made, "serving_gpu_util_gain_mean_frac", 6.1 * busy / 7);
    add_observed(made, "serving_speedup_most", 3);
    add_observed(made, "training_over_nccl_most", 3);
    add_observed(made, "serving_gpu_util_gain_most_frac", 0.3);
    add_observed(made, "training_gpu_util_gain_most_frac", 0.3);
}

static void make_parts(struct made *made)
{
    make_parts_of(made, 0.3, 0.045, 0.16);
}

/* Seven instances of serving and of training, and what they gain in utilisation. */
TEST(test_gains_of_parts_are_those_worked_out_by_hand)
{
    static const double busy[] = {1e-6, 0.1, 0.3, 0.8};
    static const double costs[][2] = {{1e-9, 1e-9}, {0.045, 0.16}};
    for (size_t c = 0; c < 8; c++) {
        double launch = costs[c / 4][0];
        double talk = costs[c / 4][1];
        double serving = 6.1 * busy[c % 4];
        double training = 6.5 * busy[c % 4];
        double gain_s = 7 * 7 / (7 + 6 * serving) / (1 + launch);
        double gain_t = 7 * 9 / (9 + 6 * training) / (1 + launch) / (1 + talk);
        const double expected[] = {
            gain_s, gain_t, (gain_s - 1) * serving / 7, (gain_t - 1) * training / 9};
        const double bounds[] = {
            7 / serving, 9 / training, 1 - serving / 7, 1 - training / 9};
        struct made made;
        make_parts_of(&made, busy[c % 4], launch, talk);
        struct fulcrum_comparison found = predict(&made.reference);
        CU_ASSERT_EQUAL_FATAL(found.count, 4);
        for (size_t i = 0; i < 4; i++) {
            const struct fulcrum_compared *item = &found.items[i];
            assert_close("gain", item->predicted, expected[i], 1e-8);
            assert_close(
                "bound", item->baseline[FULCRUM_BASELINE_BOUNDS], bounds[i], 1e-8);
            CU_ASSERT(item->predicted < bounds[i]);
        }
        fulcrum_comparison_clear(&found);
    }
}

/* What docs/whatifs.md says of the error of each prediction. */
TEST(test_published_gains_of_parts_are_predicted_as_told)
{
    static const struct {
        const char *quantity;
        double error;
    } told[] = {{"serving_speedup_most", 0.00}, {"training_over_nccl_most", 0.22},
        {"training_over_horovod_most", 0.08},
        {"serving_gpu_util_gain_most_frac", -0.08},
        {"training_gpu_util_gain_most_frac", -0.20}};
    struct fulcrum_reference *reference = load_reference("gmidrl-scalars");
    struct fulcrum_comparison found = predict(reference);
    CU_ASSERT_EQUAL_FATAL(found.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct fulcrum_compared *item = &found.items[i];
        CU_ASSERT_STRING_EQUAL(
            reference->points[0].observations[item->observation].quantity,
            told[i].quantity);
        CU_ASSERT(fabs(error_rel(item) - told[i].error) < 0.01);
        CU_ASSERT(item->predicted <= item->baseline[FULCRUM_BASELINE_BOUNDS]);
    }
    fulcrum_comparison_clear(&found);
    fulcrum_reference_free(reference);
}

/* Apart, no stage of the published ratios lets a round be shorter than simulation. */
TEST(test_stages_apart_have_their_ceiling)
{
    static const double times[] = {1, 1.0 / 6, 1.0 / 3};
    static const double shares[] = {1, 0.1, 0.2};
    const struct fulcrum_gpu_sharing sharing = {.byte_per_s = (double)INFINITY};
    for (size_t c = 0; c < 10; c++) {
        size_t quarter = c / 2;
        double busy = (double)quarter / 4;
        struct fulcrum_gpu_loop loop = {
            .steps = 1, .count = 2 + c % 2, .memory_byte = (double)INFINITY};
        struct fulcrum_grouping grouping = {.count = loop.count};
        struct fulcrum_placed alone;
        struct fulcrum_placed apart;
        double round_s = 0;
        for (size_t i = 0; i < loop.count; i++) {
            double work = busy * shares[i];
            loop.stages[i].per_round.latency_s = times[i] * (1 - work);
            loop.stages[i].per_round.sm_s = times[i] * work;
            grouping.groups[i] = (struct fulcrum_stage_group){1U << i, 1, 0};
            round_s += times[i];
        }
        fulcrum_place_exclusive(&loop, &alone);
        ASSERT_OK(fulcrum_place_shares(&loop, &sharing, &grouping, &apart, NULL));
        CU_ASSERT(apart.rounds_per_s / alone.rounds_per_s <= round_s * (1 + 1e-9));
    }
}

/* Predictions do not move, to the last bit, with what they are judged on. */
TEST(test_nothing_that_is_held_out_is_looked_at)
{
    static void (*const make[])(struct made *) = {make_workers, make_gpu_off,
        make_sm_of_any_share, make_machines, make_gpus, make_server, make_parts};
    for (size_t c = 0; c < LENGTH(make); c++) {
        struct made made;
        size_t moved = 0;
        make[c](&made);
        struct fulcrum_comparison before = predict(&made.reference);
        for (size_t i = 0; i < before.count; i++) {
            const struct fulcrum_compared *item = &before.items[i];
            made.observed[item->point][item->observation].value *=
                item->is_fitted ? 1 : 3;
            moved += item->is_fitted ? 0 : 1;
        }
        CU_ASSERT(moved > 0);
        struct fulcrum_comparison after = predict(&made.reference);
        for (size_t i = 0; i < before.count; i++) {
            CU_ASSERT_EQUAL(after.items[i].predicted, before.items[i].predicted);
        }
        fulcrum_comparison_clear(&before);
        fulcrum_comparison_clear(&after);
    }
}

/* Bad input. */

/* What is spoiled of point `at`. */
enum spoiled {
    NOTHING,
    POINTS,
    FIELD,
    SERIES,
    PATH,
    NUMBER,
    SECOND, /* setting's number */
    SETTINGS,
    QUANTITY,
    VALUE
};

struct fault {
    void (*make)(struct made *made);
    enum spoiled spoiled;
    unsigned at;
    const char *text;
    double number;
    enum fulcrum_status status;
    const char *detail;
};

static void copy_text(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text);
}

static void spoil(struct made *made, const struct fault *fault)
{
    size_t at = fault->at;
    switch (fault->spoiled) {
    case POINTS:
        made->reference.point_count = at;
        break;
    case FIELD:
        set_field(made, fault->text, fault->number);
        break;
    case SERIES:
        copy_text(made->points[at].series, sizeof made->points[at].series, fault->text);
        break;
    case PATH:
        copy_text(
            made->settings[at][0].path, sizeof made->settings[at][0].path, fault->text);
        break;
    case NUMBER:
        made->settings[at][0].number = fault->number;
        break;
    case SECOND:
        made->settings[at][1].number = fault->number;
        break;
    case SETTINGS:
        made->points[at].setting_count = 0;
        break;
    case QUANTITY:
        copy_text(made->observed[at][0].quantity, sizeof made->observed[at][0].quantity,
            fault->text);
        break;
    case VALUE:
        made->observed[at][0].value = fault->number;
        break;
    case NOTHING:
        break;
    }
}

static const struct fault faults[] = {
    {make_workers, PATH, 2, "actors", 0, FULCRUM_ERR_MISSING,
        "made: points[2].set.workers is"},
    {make_workers, NUMBER, 2, "", 0, FULCRUM_ERR_RANGE, "points[2].set.workers = 0"},
    {make_workers, QUANTITY, 2, "gpu_w", 0, FULCRUM_ERR_MISSING,
        "points[2].observed has no steps_per_s"},
    {make_workers, VALUE, 2, "", 0, FULCRUM_ERR_RANGE,
        "points[2].observed.steps_per_s = 0, above 0"},
    {make_workers, VALUE, 4, "", (double)NAN, FULCRUM_ERR_RANGE,
        "points[4].observed.steps_per_s = nan"},
    {make_workers, POINTS, 1, "", 0, FULCRUM_ERR_NO_FIT, "1 different worker counts"},
    {make_workers, POINTS, 4, "", 0, FULCRUM_ERR_NO_FIT, "2 different worker counts"},
    {make_workers, POINTS, 0, "", 0, FULCRUM_ERR_NO_FIT, "points is empty"},
    {make_workers, SERIES, 0, "threads", 0, FULCRUM_ERR_UNKNOWN_NAME,
        "\"threads\" names no coupling"},
    {make_workers, FIELD, 0, "machine.cpu.core_count", (double)NAN, FULCRUM_ERR_MISSING,
        "machine.cpu.core_count is missing"},
    {make_workers, FIELD, 0, "machine.cpu.thread_count", 8, FULCRUM_ERR_RANGE,
        "16 cores, 8 threads"},
    {make_loads, NUMBER, 2, "", 1.5, FULCRUM_ERR_RANGE,
        "made: points[2].set.load_frac = 1.5"},
    {make_loads, SETTINGS, 2, "", 0, FULCRUM_ERR_MISSING,
        "points[2].set.load_frac is missing"},
    {make_loads, SETTINGS, 0, "", 0, FULCRUM_ERR_MISSING, "points[0] has no activity"},
    {make_loads, QUANTITY, 2, "cpu_w", 0, FULCRUM_ERR_MISSING,
        "points[2].observed has no watts"},
    {make_loads, VALUE, 2, "", 0, FULCRUM_ERR_RANGE, "points[2].observed.gpu_w = 0"},
    {make_rates, NOTHING, 0, "", 0, FULCRUM_ERR_RANGE,
        "points[0].observed.tokens_per_s = 0"},
    {make_loads, POINTS, 2, "", 0, FULCRUM_ERR_NO_FIT, "2 different loads"},
    {make_loads, POINTS, 0, "", 0, FULCRUM_ERR_NO_FIT, "points is empty"},
    {make_sm_of_any_share, PATH, 2, "workers", 0, FULCRUM_ERR_MISSING,
        "made: points[2].set.run.sm_count is missing"},
    {make_sm_of_any_share, NUMBER, 2, "", 81, FULCRUM_ERR_RANGE,
        "points[2].set.run.sm_count = 81, 1 to"},
    {make_sm_of_any_share, QUANTITY, 2, "gpu_w", 0, FULCRUM_ERR_MISSING,
        "points[2].observed has no rate"},
    {make_sm_of_any_share, VALUE, 2, "", 0, FULCRUM_ERR_RANGE,
        "points[2].observed.tokens_per_s = 0"},
    {make_sm_of_any_share, FIELD, 0, "machine.gpu.sm_count", (double)NAN,
        FULCRUM_ERR_MISSING, "machine.gpu.sm_count is missing"},
    {make_sm_of_any_share, POINTS, 2, "", 0, FULCRUM_ERR_NO_FIT,
        "2 different numbers of SMs"},
    {make_machines, POINTS, 0, "", 0, FULCRUM_ERR_NO_FIT, "points is empty"},
    {make_machines, POINTS, 3, "", 0, FULCRUM_ERR_NO_FIT,
        "2 different numbers of machines above one"},
    {make_gpus, POINTS, 3, "", 0, FULCRUM_ERR_NO_FIT,
        "2 different numbers of GPUs above one"},
    {make_machines, NUMBER, 2, "", 2.5, FULCRUM_ERR_RANGE,
        "points[2].set.node_count = 2.5"},
    {make_machines, SETTINGS, 4, "", 0, FULCRUM_ERR_MISSING,
        "points[4].set.node_count"},
    {make_machines, QUANTITY, 1, "steps_per_s", 0, FULCRUM_ERR_MISSING,
        "no speedup_over_one_node"},
    {make_machines, VALUE, 0, "", -1, FULCRUM_ERR_RANGE, "points[0]"},
    {make_server, NUMBER, 1, "", 1.1, FULCRUM_ERR_RANGE,
        "made: points[1].set.load_frac = 1.1"},
    {make_server, PATH, 1, "load", 0, FULCRUM_ERR_MISSING,
        "points[1].set.load_frac = nan"},
    {make_server, SECOND, 1, "", -1, FULCRUM_ERR_RANGE, "machine.cpu.core_count"},
    {make_server, FIELD, 0, "machine.cpu.thread_count", (double)NAN,
        FULCRUM_ERR_MISSING, "points[0] has no machine.cpu.core_count"},
    {make_server, FIELD, 0, "machine.cpu.idle_tdp_frac", (double)NAN,
        FULCRUM_ERR_MISSING, "machine.cpu.idle_w is missing"},
    {make_server_with_gpu, NOTHING, 0, "", 0, FULCRUM_ERR_UNSUPPORTED,
        "machine.accelerator = gpu"},
    {make_server, QUANTITY, 1, "cpu_w", 0, FULCRUM_ERR_MISSING,
        "points[1].observed has no server_w"},
    {make_server, VALUE, 1, "", 0, FULCRUM_ERR_RANGE,
        "points[1].observed.server_w = 0, above 0"},
    {make_gain, QUANTITY, 0, "sm_count", 0, FULCRUM_ERR_MISSING,
        "no point sets cache_rel"},
    {make_gain, NUMBER, 0, "", 1, FULCRUM_ERR_RANGE, "made: 1 times"},
    {make_gain, VALUE, 0, "", -0.3, FULCRUM_ERR_RANGE, "a gain of -0.3"},
    {make_gain, VALUE, 0, "", 9, FULCRUM_ERR_INFEASIBLE, "no share meets"},
    {make_parts, VALUE, 0, "", 0, FULCRUM_ERR_MISSING,
        "points[0].observed.t_s_over_t_a"},
    {make_parts, VALUE, 0, "", 0.01, FULCRUM_ERR_RANGE, "expected at most 1"},
    {make_parts, POINTS, 0, "", 0, FULCRUM_ERR_MISSING, "points is empty"},
};

TEST(test_each_fault_is_named)
{
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct made made;
        struct fulcrum_comparison out = {.count = 0};
        faults[i].make(&made);
        spoil(&made, &faults[i]);
        ASSERT_FAILS(fulcrum_predict_reference(&made.reference, NULL, &out, &err),
            faults[i].status, faults[i].detail);
        CU_ASSERT_PTR_NULL(out.items);
    }
}
