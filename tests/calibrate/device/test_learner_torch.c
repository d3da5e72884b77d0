/* test_learner_torch.c - modules of PyTorch: what they cost, and what goes wrong. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/probe/calibrate.h"
#include "tests/support/gym_python.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct fulcrum_learner *const torch = &fulcrum_learner_torch;

/* The interpreter; filled by the set-up. */
static char *python(void)
{
    static char path[4096] = "";
    return path;
}

static struct fulcrum_learner_options options_of(
    enum fulcrum_learner_network network, const char *make)
{
    return (struct fulcrum_learner_options){.network = network,
        .max_batch = 256,
        .input_count = 4,
        .action_count = 1,
        .train_batch = 1,
        .train_unroll = 2,
        .train_burn_in = 1,
        .seed = 3,
        .make = make,
        .python = python()};
}

static struct fulcrum_learner_state *opened(
    const struct fulcrum_learner_options *options, struct fulcrum_learner_info *info)
{
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = torch->open(options, &state, info, &err);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    ASSERT_OK(status);
    return state;
}

/* CPU seconds of one repeat: the least of a few, as others use the machine too. */
static double work_s(struct fulcrum_learner_state *state, size_t batch)
{
    double least_s = HUGE_VAL;
    for (int i = 0; i < 5; i++) {
        struct fulcrum_span span;
        ASSERT_OK(torch->time(state, batch, 2, &span, NULL));
        CU_ASSERT(span.wall_s > 0.0 && span.cpu_s > 0.0);
        least_s = fmin(least_s, span.cpu_s / 2.0);
    }
    return least_s;
}

TEST(test_more_work_takes_longer)
{
    static const struct {
        enum fulcrum_learner_network network;
        const char *make;
        size_t input_byte;
        size_t train_batch; /* against 1 */
    } rows[] = {
        {FULCRUM_NETWORK_MLP, NULL, 16, 4096},
        {FULCRUM_NETWORK_MLP, "cnn", 28224, 16},
        {FULCRUM_NETWORK_R2D2, NULL, 28224, 8},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_learner_options options =
            options_of(rows[i].network, rows[i].make);
        struct fulcrum_learner_info info;
        struct fulcrum_learner_info more;
        struct fulcrum_learner_state *small = opened(&options, &info);
        options.sibling = small;
        options.train_batch = rows[i].train_batch;
        struct fulcrum_learner_state *large = opened(&options, &more);
        CU_ASSERT_EQUAL(info.input_byte, rows[i].input_byte);
        CU_ASSERT(info.cost.parameter_count > 100000);
        CU_ASSERT(info.cost.forward_flop > (double)info.cost.parameter_count);
        CU_ASSERT(more.cost.train_step_flop > 2.0 * info.cost.train_step_flop);
        assert_part(info.device.detail, "PyTorch ");
        memset(torch->input(small), 1, options.max_batch * info.input_byte);
        CU_ASSERT(work_s(small, 256) > 2.0 * work_s(small, 1));
        CU_ASSERT(work_s(large, 0) > work_s(small, 0));
        torch->close(large);
        torch->close(small);
    }
}

TEST(test_a_module_of_ones_own_is_counted)
{
    struct scratch scratch = scratch_new();
    char make[300];
    (void)snprintf(make, sizeof make, "%s:make",
        scratch_put(&scratch, "net.py",
            "from torch import nn\n"
            "def make(observations, actions):\n"
            "    return nn.Sequential(nn.Linear(observations, 64), nn.Tanh(),\n"
            "                         nn.Linear(64, actions))\n"));
    const struct fulcrum_learner_options options =
        options_of(FULCRUM_NETWORK_MLP, make);
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = opened(&options, &info);
    int action[2] = {-1, -1};
    double loss = NAN;
    CU_ASSERT_EQUAL(info.cost.parameter_count, 5 * 64 + 65);
    CU_ASSERT_DOUBLE_EQUAL(info.cost.forward_flop, 2 * 5 * 64, 0.5);
    ASSERT_OK(torch->forward(state, 2, action, NULL));
    ASSERT_OK(torch->train(state, &loss, NULL));
    CU_ASSERT(action[1] == 0 && isfinite(loss));
    double copy_s = NAN;
    double memory_byte = NAN;
    ASSERT_OK(torch->usage(state, 64, &copy_s, &memory_byte, NULL));
    CU_ASSERT(info.device.is_gpu ? copy_s > 0.0 : copy_s == 0.0);
    CU_ASSERT(memory_byte > 4.0 * (double)info.cost.parameter_count);
    torch->close(state);
    scratch_free(&scratch);
}

/* A file with `text`, of which make is used. */
static void assert_refusal(const char *text, const char *says)
{
    struct scratch scratch = scratch_new();
    char make[300];
    (void)snprintf(make, sizeof make, "%s:make", scratch_put(&scratch, "net.py", text));
    const struct fulcrum_learner_options options =
        options_of(FULCRUM_NETWORK_MLP, make);
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_learner_info info;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        torch->open(&options, &state, &info, &err), FULCRUM_ERR_UNSUPPORTED);
    assert_part(err.detail, says);
    scratch_free(&scratch);
}

TEST(test_what_is_wrong_with_a_module_is_named)
{
    assert_refusal(
        "from torch import nn\ndef mine(o, a):\n    return nn.Linear(o, a)\n",
        "has no function make");
    assert_refusal("def make(o, a):\n    raise ValueError('no such size')\n",
        "ValueError: no such size");
    assert_refusal(
        "def make(o, a):\n    return 3\n", "a int, expected a torch.nn.Module");
    assert_refusal(
        "from torch import nn\ndef make(o, a):\n    return nn.Linear(3, a)\n",
        "shapes cannot be multiplied");
}

TEST(test_what_is_not_there_is_named)
{
    struct scratch scratch = scratch_new();
    const struct {
        enum fulcrum_learner_network network;
        enum fulcrum_status status;
        const char *make;
        const char *path; /* PYTHONPATH */
        const char *says;
    } rows[] = {
        {FULCRUM_NETWORK_MLP, FULCRUM_ERR_UNSUPPORTED, "no_such_module:make", "",
            "No module named 'no_such_module'"},
        {FULCRUM_NETWORK_MLP, FULCRUM_ERR_UNSUPPORTED, "no_colon", "",
            "expected MODULE:FACTORY or FILE.py:FACTORY"},
        {FULCRUM_NETWORK_MLP, FULCRUM_ERR_UNSUPPORTED, NULL, scratch.folder,
            "has no torch (gone): install it there"},
        {FULCRUM_NETWORK_R2D2, FULCRUM_ERR_RANGE, "some:module", "",
            "trains on samples: --network mlp"},
        {FULCRUM_NETWORK_MLP, FULCRUM_ERR_RANGE, "r2d2", "",
            "trains on sequences: --network r2d2"},
    };
    (void)scratch_put(&scratch, "torch.py", "raise ImportError('gone')\n");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct fulcrum_learner_options options =
            options_of(rows[i].network, rows[i].make);
        struct fulcrum_learner_state *state = NULL;
        struct fulcrum_learner_info info;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        (void)setenv("PYTHONPATH", rows[i].path, 1);
        CU_ASSERT_EQUAL(torch->open(&options, &state, &info, &err), rows[i].status);
        assert_part(err.detail, rows[i].says);
    }
    (void)unsetenv("PYTHONPATH");
    scratch_free(&scratch);
}

TEST(test_a_calibration_has_its_times)
{
    static const char *const paths[] = {"workload.network.per_batch_s",
        "workload.network.per_item_s", "workload.training.train_step_s"};
    const struct fulcrum_calibrate_options options = {
        .actor = "cartpole",
        .actor_options = {.python = python()},
        .learner = "torch",
        .network = FULCRUM_NETWORK_MLP,
        .budget_s = 20.0,
        .max_threads = 1,
        .seed = 11,
        .meter_root = "/nonexistent",
    };
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_calibrate(&calibration, &options, &err));
    double sum_s = 0.0;
    for (size_t i = 0; i < LENGTH(paths); i++) {
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(calibration, paths[i]);
        CU_ASSERT_PTR_NOT_NULL(parameter);
        CU_ASSERT(parameter != NULL && parameter->value >= 0.0);
        sum_s += parameter != NULL ? parameter->value : 0.0;
    }
    CU_ASSERT(sum_s > 0.0);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_calibration_note(calibration, "learner"), "torch, network mlp");
    assert_part(fulcrum_calibration_note(calibration, "library"), "mlp, PyTorch ");
    fulcrum_calibration_free(calibration);
}

SUITE_SETUP
{
    if (!gym_python_find("tests/gym_python.sh torch", python())) {
        (void)fprintf(stderr,
            "skipped: no Python with PyTorch; FULCRUM_GYM_PYTHON may name one\n");
        return 77;
    }
    /* Threads that wait for each other are slow where others use the cores. */
    (void)setenv("OMP_NUM_THREADS", "1", 1);
    return 0;
}
