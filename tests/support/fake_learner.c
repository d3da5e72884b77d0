/* fake_learner.c - a learner on a GPU of the test's own, and the joules it draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/fake_learner.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calibrate/stopwatch.h"

struct fulcrum_learner_state {
    struct fulcrum_learner_options options;
    double sm_frac;
    unsigned char input[64];
};

/* The GPU as it stands, and the thread that lets its counter run. */
struct board {
    pthread_mutex_t lock;
    pthread_t ticker;
    struct fake_nvml *fake;
    int ends;
    bool is_broken;
    size_t limit;
    int open_count;
    double activity; /* of all SMs */
    double last_s;
    double energy_j;
    unsigned long long counted_mj;
};

static struct board *board(void)
{
    static struct board board = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &board;
}

/* Under the lock: joules up to now go to the counter. */
static void advance(struct board *gpu)
{
    double now_s = fulcrum_wall_s();
    double watts = FAKE_IDLE_W + (gpu->open_count > 0 ? FAKE_FLOOR_W : 0) +
                   FAKE_DYNAMIC_W * gpu->activity;
    gpu->energy_j += watts * (now_s - gpu->last_s);
    gpu->last_s = now_s;
    unsigned long long total_mj = (unsigned long long)(1e3 * gpu->energy_j);
    if (gpu->fake != NULL) {
        atomic_fetch_add(&gpu->fake->gpu[0].energy_mj, total_mj - gpu->counted_mj);
        gpu->fake->gpu[0].power_mw = (unsigned)(1e3 * watts);
    }
    gpu->counted_mj = total_mj;
}

static void set_activity(double activity)
{
    struct board *gpu = board();
    (void)pthread_mutex_lock(&gpu->lock);
    advance(gpu);
    gpu->activity = activity;
    (void)pthread_mutex_unlock(&gpu->lock);
}

static void hold(int more)
{
    struct board *gpu = board();
    (void)pthread_mutex_lock(&gpu->lock);
    advance(gpu);
    gpu->open_count += more;
    (void)pthread_mutex_unlock(&gpu->lock);
}

static void *tick(void *argument)
{
    struct board *gpu = argument;
    int ends = 0;
    while (!ends) {
        (void)pthread_mutex_lock(&gpu->lock);
        advance(gpu);
        ends = gpu->ends;
        (void)pthread_mutex_unlock(&gpu->lock);
        fulcrum_sleep_s(1e-3);
    }
    return NULL;
}

void fake_learner_start(struct fake_nvml *fake)
{
    struct board *gpu = board();
    (void)pthread_mutex_lock(&gpu->lock);
    gpu->fake = fake;
    gpu->ends = 0;
    gpu->is_broken = 0;
    gpu->limit = 0;
    gpu->last_s = fulcrum_wall_s();
    (void)pthread_mutex_unlock(&gpu->lock);
    if (pthread_create(&gpu->ticker, NULL, tick, gpu) != 0) {
        exit(EXIT_FAILURE);
    }
}

void fake_learner_stop(void)
{
    struct board *gpu = board();
    (void)pthread_mutex_lock(&gpu->lock);
    gpu->ends = 1;
    (void)pthread_mutex_unlock(&gpu->lock);
    (void)pthread_join(gpu->ticker, NULL);
    gpu->fake = NULL;
}

void fake_learner_limit(size_t train_batch)
{
    board()->limit = train_batch;
}

void fake_learner_break(void)
{
    board()->is_broken = 1;
}

static enum fulcrum_status fake_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    if (board()->limit > 0 && options->train_batch > board()->limit) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a batch of %zu does not fit",
            options->train_batch);
    }
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        exit(EXIT_FAILURE);
    }
    state->options = *options;
    state->sm_frac = 1;
    hold(1);
    *info = (struct fulcrum_learner_info){.input_byte = sizeof state->input,
        .device = {.is_gpu = 1,
            .name = "Fake H200",
            .uuid = FAKE_UUID,
            .sm_count = FAKE_SM_COUNT,
            .granted_sm_count = FAKE_SM_COUNT,
            .least_sm_count = 8,
            .sm_step = 8}};
    *out = state;
    return FULCRUM_OK;
}

static void fake_close(struct fulcrum_learner_state *state)
{
    if (state != NULL) {
        hold(-1);
    }
    free(state);
}

static void *fake_input(struct fulcrum_learner_state *state)
{
    return state->input;
}

static enum fulcrum_status work(
    double activity, double seconds, struct fulcrum_error *err)
{
    if (board()->is_broken) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "the device failed");
    }
    set_activity(activity);
    fulcrum_sleep_s(seconds);
    set_activity(0);
    return FULCRUM_OK;
}

static enum fulcrum_status fake_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    action[batch - 1] = 0;
    return work(FAKE_INFERENCE_REL * state->sm_frac, 2e-3, err);
}

static enum fulcrum_status fake_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    *loss = 0;
    return work(state->sm_frac, 4e-3, err);
}

static enum fulcrum_status fake_grant(struct fulcrum_learner_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    if (sm_count > FAKE_SM_COUNT) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "%g SMs", sm_count);
    }
    *granted = sm_count > 0 ? sm_count : FAKE_SM_COUNT;
    state->sm_frac = *granted / FAKE_SM_COUNT;
    return FULCRUM_OK;
}

const struct fulcrum_learner fake_learner = {
    .name = "fake",
    .summary = "joules of a test",
    .open = fake_open,
    .close = fake_close,
    .input = fake_input,
    .forward = fake_forward,
    .train = fake_train,
    .clock = FULCRUM_CLOCK_WALL,
    .grant = fake_grant,
};
