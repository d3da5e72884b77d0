/* thread_need.c - the fewest CPU threads that keep a run's GPUs near their plateau. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Throughput over threads rises to a plateau that other stations set: GPU, learner,
 * host. The plateau is found by doubling, which needs few predictions however far it
 * is; where two doublings in a row add next to nothing it is taken as reached. The
 * first of the doubled counts that is near it and the one before enclose the answer.
 */
#include "model/whatif/recommend.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "model/predict/to_network.h"
#include "model/try.h"

enum { DOUBLINGS_MOST = 24 };

/* Two doublings that add less than this in all end the search for the plateau. */
#define FLAT_REL 0.002

/* One search under way. */
struct search {
    const struct fulcrum_thread_need_plan *plan;
    struct fulcrum_predictor *predictor;
    uint64_t draw;
    struct fulcrum_setting settings[FULCRUM_THREAD_NEED_SETTINGS_MOST + 2];
    size_t threads;  /* index of the setting of threads */
    double per_core; /* threads */
    double replicas;
};

/* How many threads, and what comes of them. */
struct probe {
    double cores;
    double steps_per_s; /* 0: cannot run */
};

static void set_actors(struct search *search, double actors)
{
    search->settings[search->threads + 1].number = actors;
}

static enum fulcrum_status predict(
    struct search *search, double *steps_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = search->plan;
    bool chooses = plan->actors_per_thread > 0.0 || plan->actor_choice_count > 0;
    const struct fulcrum_point point = (struct fulcrum_point){search->settings,
        search->threads + (chooses ? 2 : 1), search->draw, plan->solver.seed};
    const struct fulcrum_predict_options options = {.solver = search->plan->solver};
    struct fulcrum_prediction prediction;
    enum fulcrum_status status =
        fulcrum_predictor_run(search->predictor, &point, &options, &prediction, err);
    *steps_per_s =
        status == FULCRUM_OK ? prediction.value[FULCRUM_OUTPUT_steps_per_s] : 0.0;
    return status;
}

static enum fulcrum_status predict_best(
    struct search *search, double *steps_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = search->plan;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    *steps_per_s = 0.0;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        double rate = 0.0;
        set_actors(search, plan->actor_choices[i]);
        enum fulcrum_status tried = predict(search, &rate, err);
        *steps_per_s = fmax(*steps_per_s, rate);
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    return status;
}

static enum fulcrum_status predict_at(
    struct search *search, struct probe *probe, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = search->plan;
    double threads = probe->cores * search->per_core;
    search->settings[search->threads].number = threads;
    if (plan->actor_choice_count > 0) {
        return predict_best(search, &probe->steps_per_s, err);
    }
    if (plan->actors_per_thread > 0.0) {
        double each = round(threads * plan->actors_per_thread / search->replicas);
        set_actors(search, search->replicas * fmax(1.0, each));
    }
    return predict(search, &probe->steps_per_s, err);
}

/* Doubles the cores; `out` gets every count. Returns how many there are. */
static size_t climb(struct search *search, struct probe *out, struct fulcrum_error *err)
{
    double most = search->plan->most_threads / search->per_core;
    double cores = ceil(search->replicas);
    double best[2] = {0.0, 0.0}; /* before the last doubling and the one before it */
    size_t count = 0;
    bool is_flat = false;
    while (count < DOUBLINGS_MOST && cores <= most && !is_flat) {
        struct probe *probe = &out[count++];
        probe->cores = cores;
        (void)predict_at(search, probe, err);
        double now = fmax(best[1], probe->steps_per_s);
        is_flat = count > 2 && best[0] > 0.0 && now <= best[0] * (1.0 + FLAT_REL);
        best[0] = best[1];
        best[1] = now;
        cores *= 2.0;
    }
    return count;
}

/* The least of (low, high] that reaches `wanted`, as far as the rate rises. */
static struct probe descend(
    struct search *search, double low, struct probe high, double wanted)
{
    while (high.cores - low > 1.5) {
        struct probe middle = {floor(0.5 * (low + high.cores)), 0.0};
        (void)predict_at(search, &middle, NULL);
        if (middle.steps_per_s >= wanted) {
            high = middle;
        } else {
            low = middle.cores;
        }
    }
    return high;
}

/* Threads per core and replicas do not depend on how many threads there are. */
static enum fulcrum_status start(struct search *search, struct fulcrum_error *err)
{
    const struct fulcrum_thread_need_plan *plan = search->plan;
    assert(plan->setting_count <= FULCRUM_THREAD_NEED_SETTINGS_MOST);
    for (size_t i = 0; i < plan->setting_count; i++) {
        search->settings[i] = plan->settings[i];
    }
    search->threads = plan->setting_count;
    search->settings[search->threads].field =
        fulcrum_field_find("machine.cpu.thread_count");
    search->settings[search->threads + 1] =
        (struct fulcrum_setting){fulcrum_field_find("run.actor_count"), 1.0, NULL};
    struct fulcrum_point point = {
        search->settings, search->threads, search->draw, plan->solver.seed};
    const struct fulcrum_design *design = NULL;
    struct fulcrum_setting with_actor[FULCRUM_THREAD_NEED_SETTINGS_MOST + 1];
    if (plan->actors_per_thread > 0.0 || plan->actor_choice_count > 0) {
        for (size_t i = 0; i < search->threads; i++) {
            with_actor[i] = search->settings[i];
        }
        with_actor[search->threads] = search->settings[search->threads + 1];
        point.varied = with_actor;
        point.varied_count = search->threads + 1;
    }
    TRY(fulcrum_predictor_design(search->predictor, &point, &design, err));
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    search->per_core = cpu->thread_count / cpu->core_count;
    search->replicas = fulcrum_shard_count(design);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_thread_need_find(
    const struct fulcrum_thread_need_plan *plan, struct fulcrum_predictor *predictor,
    uint64_t draw, struct fulcrum_thread_need *out, struct fulcrum_error *err)
{
    struct search search = {.plan = plan, .predictor = predictor, .draw = draw};
    TRY(start(&search, err));
    struct probe climbed[DOUBLINGS_MOST] = {{0.0, 0.0}};
    struct fulcrum_error fault = {FULCRUM_OK, ""};
    size_t count = climb(&search, climbed, &fault);
    double plateau = 0.0;
    for (size_t i = 0; i < count; i++) {
        plateau = fmax(plateau, climbed[i].steps_per_s);
    }
    FAIL_IF(!(plateau > 0.0), err, FULCRUM_ERR_INFEASIBLE,
        "no number of threads up to %.6g can run: %s", plan->most_threads,
        count > 0 ? fault.detail : "fewer than a core for each GPU");
    double wanted = plan->plateau_frac * plateau;
    size_t first = 0;
    while (first + 1 < count && climbed[first].steps_per_s < wanted) {
        first++;
    }
    struct probe found =
        first == 0 ? climbed[0]
                   : descend(&search, climbed[first - 1].cores, climbed[first], wanted);
    *out = (struct fulcrum_thread_need){
        .thread_count = found.cores * search.per_core,
        .steps_per_s = found.steps_per_s,
        .plateau_steps_per_s = plateau,
        .is_rising = count < 3 || climbed[count - 1].steps_per_s >
                                      climbed[count - 3].steps_per_s * (1.0 + FLAT_REL),
    };
    return FULCRUM_OK;
}
