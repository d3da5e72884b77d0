/* test_thread_need.c - fewest threads near the plateau: closed forms, brute force. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/recommend.h"

#include <math.h>
#include <string.h>

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
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_thread_need_find(&f->plan, f->predictor, draw, &need, &err));
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
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_thread_need_find(&f->plan, f->predictor, 0, &need, &err),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(need.thread_count, -1.0);
    f->settings[1].number = 1;
    f->plan.most_threads = 1;
    CU_ASSERT_EQUAL(fulcrum_thread_need_find(&f->plan, f->predictor, 0, &need, &err),
        FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "threads up to 1"));
    f->plan.most_threads = 4;
    ASSERT_OK(fulcrum_thread_need_find(&f->plan, f->predictor, 0, &need, &err));
    CU_ASSERT_EQUAL(need.is_rising, 1);
}
