/* test_thread_need.c - fewest threads near the plateau: closed forms, brute force; and
 * the first place that reaches a share of the best, asked for seldom. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/recommend.h"

#include <math.h>

#include "model/number.h"
#include "model/parallel.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

struct fixture {
    struct fulcrum_design base;
    struct fulcrum_prior prior;
    struct fulcrum_scenario_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_predictor *predictor;
    struct fulcrum_setting settings[2];
    struct fulcrum_thread_need_plan plan;
};

/* A new one, in place of that of the case before; its design is to be filled. */
static struct fixture *fixture_of(void)
{
    static struct fixture f;
    fulcrum_predictor_free(f.predictor);
    fulcrum_scenario_free(f.scenario);
    f = (struct fixture){.scenario = NULL};
    return &f;
}

static void start(struct fixture *f, double gpus, double learners)
{
    f->prior = (struct fulcrum_prior){fulcrum_field_find("workload.step.mean_s"), 1.6};
    f->inputs = (struct fulcrum_scenario_inputs){
        .base = &f->base, .priors = &f->prior, .prior_count = 1};
    ASSERT_OK(fulcrum_scenario_new(&f->inputs, &f->scenario, NULL));
    ASSERT_OK(fulcrum_predictor_new(f->scenario, &f->predictor, NULL));
    f->settings[0] =
        (struct fulcrum_setting){fulcrum_field_find("run.gpu_count"), gpus, NULL};
    f->settings[1] = (struct fulcrum_setting){
        fulcrum_field_find("run.learner_gpu_count"), learners, NULL};
    f->plan = (struct fulcrum_thread_need_plan){.settings = f->settings,
        .setting_count = 2,
        .plateau_frac = 0.95,
        .actors_per_thread = 6.4,
        .most_threads = 1e5,
        .solver = {.method = FULCRUM_METHOD_FAST, .seed = 1}};
}

static struct fulcrum_thread_need need_of(struct fixture *f, uint64_t draw)
{
    struct fulcrum_thread_need need = {.thread_count = 0.0};
    ASSERT_OK(fulcrum_thread_need_find(&f->plan, f->predictor, draw, &need, NULL));
    return need;
}

/* Steps per second with so many threads, predicted as anybody would. */
static double rate_at(const struct fixture *f, double threads, uint64_t draw)
{
    double replicas = f->settings[0].number - f->settings[1].number;
    double actors = replicas * fmax(1.0, round(threads * 6.4 / replicas));
    const struct fulcrum_setting varied[] = {f->settings[0], f->settings[1],
        {fulcrum_field_find("machine.cpu.thread_count"), threads, NULL},
        {fulcrum_field_find("run.actor_count"), actors, NULL}};
    const struct fulcrum_point point = {varied, 4, draw, f->plan.solver.seed};
    const struct fulcrum_predict_options options = {.solver = f->plan.solver};
    struct fulcrum_prediction out;
    ASSERT_OK(fulcrum_predict(f->scenario, &point, &options, &out, NULL));
    return out.value[FULCRUM_OUTPUT_steps_per_s];
}

/* A learner that gives K / t_T at most, beside steps that take all threads. */
static struct fixture *learner_bound(void)
{
    struct fixture *f = fixture_of();
    f->base = gpu_design();
    f->base.workload.training.env_steps_per_train_step = 1000;
    f->base.workload.training.train_step_s = 0.1;
    f->base.workload.training.queue_train_steps = 3;
    return f;
}

/* Greedy batches of endless actors: threads do c(T) / t_e until the learner is full. */
TEST(test_a_full_learner_needs_the_threads_of_its_rate)
{
    struct fixture *f = learner_bound();
    start(f, 2, 1);
    struct fulcrum_thread_need need = need_of(f, 0);
    assert_close("plateau", need.plateau_steps_per_s, 1e4, 1e-6);
    CU_ASSERT_EQUAL(need.is_rising, 0);
    /* c = P (1 + y) of cores with both threads busy all the time, none reserved. */
    double cores = 0.95 * 1e4 * 2e-3 / 1.25;
    CU_ASSERT(need.thread_count >= 2 * cores - 1e-9);
    CU_ASSERT(need.thread_count <= 2 * (cores + 2.0));
}

static void check_against_all(struct fixture *f, uint64_t draw)
{
    struct fulcrum_thread_need need = need_of(f, draw);
    double wanted = f->plan.plateau_frac * need.plateau_steps_per_s;
    CU_ASSERT(need.steps_per_s >= wanted);
    assert_close("rate", need.steps_per_s, rate_at(f, need.thread_count, draw), 1e-12);
    double replicas = f->settings[0].number - f->settings[1].number;
    double first = NAN;
    double best = 0.0;
    for (int core = (int)replicas; core < 8 * (int)need.thread_count; core++) {
        double rate = rate_at(f, 2.0 * core, draw);
        first = isnan(first) && rate >= wanted ? 2.0 * core : first;
        best = fmax(best, rate);
        core += core > 4 * (int)need.thread_count ? 50 : 0;
    }
    /* Doubling sees the plateau; actors are rounded, so the rate may dip by a core. */
    CU_ASSERT(best <= need.plateau_steps_per_s * 1.01);
    CU_ASSERT(first <= need.thread_count);
    CU_ASSERT(need.thread_count <= fmax(first + 2.0 * replicas, 1.02 * first));
    if (need.thread_count > 2.0 * replicas) {
        CU_ASSERT(rate_at(f, need.thread_count - 2.0, draw) < wanted);
    }
    /* A start near the answer, below it or far beyond it leads to the same plateau. */
    static const double near[] = {1.0, 0.2, 100.0};
    for (size_t i = 0; i < LENGTH(near); i++) {
        f->plan.near_thread_count = near[i] * need.thread_count;
        struct fulcrum_thread_need again = need_of(f, draw);
        assert_close(
            "plateau", again.plateau_steps_per_s, need.plateau_steps_per_s, 0.002);
        CU_ASSERT(
            again.steps_per_s >= f->plan.plateau_frac * again.plateau_steps_per_s);
        CU_ASSERT(again.thread_count >= first);
        CU_ASSERT(again.thread_count <= fmax(first + 2.0 * replicas, 1.02 * first));
    }
    f->plan.near_thread_count = 0.0;
}

TEST(test_bisection_agrees_with_trying_every_count)
{
    static const double runs[][2] = {{1, 0}, {3, 0}, {8, 0}, {2, 1}, {5, 2}, {8, 7}};
    for (size_t i = 0; i < LENGTH(runs); i++) {
        struct fixture *f = fixture_of();
        f->base = gpu_design();
        f->base.workload.host.reserved_threads = 3;
        f->base.workload.host.per_batch_s = 1e-3;
        f->base.workload.training.env_steps_per_train_step = 3360;
        f->base.workload.training.train_step_s = 0.2;
        f->base.workload.training.queue_train_steps = 2.4;
        start(f, runs[i][0], runs[i][1]);
        check_against_all(f, 0);
        check_against_all(f, 3);
    }
}

/* A plateau wanted in full needs more; of a half, fewer; never more GPUs fewer. */
TEST(test_needs_rise_with_what_is_wanted)
{
    double last = 0.0;
    for (int i = 1; i < 10; i++) {
        struct fixture *f = learner_bound();
        start(f, 4, 0);
        f->plan.plateau_frac = 0.1 * i;
        double now = need_of(f, 0).thread_count;
        CU_ASSERT(now >= last);
        last = now;
    }
}

TEST(test_draws_are_worlds_of_their_own)
{
    struct fixture *f = learner_bound();
    start(f, 2, 1);
    double one = need_of(f, 1).thread_count;
    double two = need_of(f, 2).thread_count;
    CU_ASSERT_NOT_EQUAL(one, two);
    CU_ASSERT_EQUAL(need_of(f, 1).thread_count, one);
}

TEST(test_actors_may_be_fixed_or_chosen)
{
    static const double choices[] = {16, 64, 256, 1024};
    struct fixture *f = learner_bound();
    f->base.run.actor_count = 64;
    start(f, 2, 1);
    f->plan.actors_per_thread = 0.0;
    struct fulcrum_thread_need fixed = need_of(f, 0);
    f->plan.actor_choices = choices;
    f->plan.actor_choice_count = 4;
    struct fulcrum_thread_need best = need_of(f, 0);
    CU_ASSERT(best.plateau_steps_per_s >= fixed.plateau_steps_per_s * (1 - 1e-9));
    CU_ASSERT(fixed.plateau_steps_per_s > 0.0);
}

TEST(test_what_cannot_run_is_said)
{
    struct fixture *f = learner_bound();
    start(f, 2, 2);
    struct fulcrum_thread_need need = {.thread_count = -1.0};
    CU_ASSERT_EQUAL(fulcrum_thread_need_find(&f->plan, f->predictor, 0, &need, NULL),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(need.thread_count, -1.0);
    f->settings[1].number = 1;
    f->plan.most_threads = 1;
    ASSERT_FAILS(fulcrum_thread_need_find(&f->plan, f->predictor, 0, &need, &err),
        FULCRUM_ERR_INFEASIBLE, "threads up to 1");
    f->plan.most_threads = 4;
    need = need_of(f, 0);
    CU_ASSERT_EQUAL(need.is_rising, 1);
}

enum { PLACES_MOST = 2000 };

struct drawn_curve {
    double value[PLACES_MOST];
    size_t count;
    size_t asked[PLACES_MOST]; /* how often */
    size_t fails_at;           /* a place; count: nowhere */
};

static enum fulcrum_status value_of(
    void *context, size_t place, double *out, struct fulcrum_error *err)
{
    struct drawn_curve *curve = context;
    if (place == curve->fails_at) {
        return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped");
    }
    curve->asked[place]++;
    *out = curve->value[place];
    return FULCRUM_OK;
}

static void reset(struct drawn_curve *curve, size_t count)
{
    curve->count = count;
    curve->fails_at = count;
    for (size_t i = 0; i < count; i++) {
        curve->asked[i] = 0;
    }
}

static size_t by_all_places(const struct drawn_curve *curve, double share)
{
    double best = 0.0;
    for (size_t i = 0; i < curve->count; i++) {
        best = curve->value[i] > best ? curve->value[i] : best;
    }
    size_t first = 0;
    while (!(curve->value[first] >= share * best)) {
        first++;
    }
    return first;
}

/* Returns how many places were asked for, each of them once. */
static size_t check(struct drawn_curve *curve, double share)
{
    struct fulcrum_fewest found = {.asked = 0};
    size_t count = curve->count;
    const struct fulcrum_asked_curve asked_of = {value_of, curve, count};
    reset(curve, count);
    ASSERT_OK(fulcrum_fewest_find(&asked_of, share, &found, NULL));
    CU_ASSERT_EQUAL(found.place, by_all_places(curve, share));
    CU_ASSERT_EQUAL(found.value, curve->value[found.place]);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT(curve->asked[i] <= 1);
        asked += curve->asked[i];
    }
    CU_ASSERT_EQUAL(asked, found.asked);
    return asked;
}

/* A number in [0, 1), the k-th of a stream. */
static double fraction(uint64_t seed, uint64_t k)
{
    return (double)(fulcrum_stream_seed(seed, k, 0) >> 11U) / 9007199254740992.0;
}

static const double shares[] = {0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0};
enum { SHARES = LENGTH(shares) };

/* Checks each share; returns the most places that one took. */
static size_t most_asked(struct drawn_curve *curve)
{
    size_t most = 0;
    for (size_t j = 0; j < SHARES; j++) {
        size_t asked = check(curve, shares[j]);
        most = asked > most ? asked : most;
    }
    return most;
}

/* x / (1 + x^p)^(1/p): a line, a knee and a plateau, level to the last digit. */
TEST(test_a_rising_curve_takes_a_few_places)
{
    static struct drawn_curve curve;
    for (uint64_t seed = 0; seed < 40; seed++) {
        reset(&curve, 100 + (size_t)(fraction(1, seed) * 1900.0));
        double knee = 2.0 + fraction(2, seed) * (double)curve.count;
        double sharpness = 1.0 + 20.0 * fraction(3, seed);
        for (size_t i = 0; i < curve.count; i++) {
            double x = ((double)i + 1.0) / knee;
            curve.value[i] = x / pow(1.0 + pow(x, sharpness), 1.0 / sharpness);
        }
        CU_ASSERT(most_asked(&curve) < 26 + 52);
    }
}

/* Performance per watt rises and falls; the top is narrow, and nowhere near an end. */
TEST(test_a_curve_with_one_top_takes_a_few_places)
{
    static struct drawn_curve curve;
    for (uint64_t seed = 0; seed < 40; seed++) {
        reset(&curve, 600);
        double top = fraction(4, seed) * 600.0;
        double width = 4.0 + 100.0 * fraction(5, seed);
        for (size_t i = 0; i < curve.count; i++) {
            curve.value[i] = 1.0 / (1.0 + fabs((double)i - top) / width);
        }
        CU_ASSERT(most_asked(&curve) < 26 + 72);
    }
}

/* Actors that are rounded to what GPUs share make teeth. */
TEST(test_teeth_of_any_period_are_seen)
{
    static struct drawn_curve curve;
    for (size_t period = 2; period < 40; period++) {
        reset(&curve, 500);
        double depth = 0.01 + 0.002 * (double)period;
        for (size_t i = 0; i < curve.count; i++) {
            double tooth = (double)(i % period) / (double)period;
            curve.value[i] = fmin(1.0, 0.01 * (double)i) * (1.0 - depth * tooth);
        }
        (void)most_asked(&curve);
    }
}

/* Too few actors for a batch, and too many for the machine. */
TEST(test_places_without_a_value_are_passed_over)
{
    static struct drawn_curve curve;
    reset(&curve, 400);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i < 37 ? FULCRUM_UNKNOWN : 1.0 - exp(-0.02 * (double)(i - 30));
    }
    CU_ASSERT(check(&curve, 0.9) < 72);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i % 8 == 5 ? (double)i : FULCRUM_UNKNOWN;
    }
    CU_ASSERT_EQUAL(check(&curve, 0.9), curve.count);
}

TEST(test_short_curves_are_known_whole)
{
    static struct drawn_curve curve;
    for (size_t count = 1; count <= 48; count++) {
        reset(&curve, count);
        for (size_t i = 0; i < count; i++) {
            curve.value[i] = 1.0 + fraction(6 + count, i);
        }
        CU_ASSERT_EQUAL(check(&curve, 0.9), count);
    }
}

TEST(test_failures_are_told)
{
    static struct drawn_curve curve;
    struct fulcrum_fewest found = {.asked = 77};
    const struct fulcrum_asked_curve whole = {value_of, &curve, 300};
    const struct fulcrum_asked_curve empty = {value_of, &curve, 0};
    reset(&curve, 300);
    for (size_t i = 0; i < curve.count; i++) {
        curve.value[i] = i % 2 == 0 ? FULCRUM_UNKNOWN : 0.0;
    }
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&whole, 0.9, &found, NULL), FULCRUM_ERR_INFEASIBLE);
    curve.fails_at = 299;
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&whole, 0.9, &found, NULL), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(
        fulcrum_fewest_find(&empty, 0.9, &found, NULL), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_EQUAL(found.asked, 77);
}
