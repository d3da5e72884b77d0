/* solver.c - the table of methods, and the choice among them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/solver.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "model/exact/chain.h"
#include "model/exact/exact.h"
#include "model/fast/steady.h"
#include "model/simulate/simulate.h"
#include "model/try.h"

/* What a simulation aims at unless told otherwise. */
#define DEFAULT_HALF_WIDTH_REL 0.01

static enum fulcrum_status solve_fast(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    struct fulcrum_fast_room room;
    room.table.count = 0;
    room.kept = NULL;
    room.recalled_count = 0;
    fulcrum_fast_forget(&room);
    return fulcrum_fast_solve(
        network, options->room != NULL ? options->room : &room, out, err);
}

/* Equations where they are good enough for what is asked. */
static enum fulcrum_status solve_auto(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    double wanted = options->half_width_rel > 0.0 ? options->half_width_rel
                                                  : DEFAULT_HALF_WIDTH_REL;
    enum fulcrum_status status = solve_fast(network, options, out, err);
    if (status != FULCRUM_OK || out->error_rel <= wanted) {
        return status;
    }
    return fulcrum_simulate(network, options, out, err);
}

static enum fulcrum_status solve_chain(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    (void)options;
    return fulcrum_chain_solve(network, out, err);
}

static enum fulcrum_status solve_product_form(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    (void)options;
    return fulcrum_textbook_solve(network, out, err);
}

struct method {
    const char *name;
    enum fulcrum_status (*solve)(const struct fulcrum_network *network,
        const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
        struct fulcrum_error *err);
};

/* In the order of enum fulcrum_method. */
static const struct method methods[] = {
    {"auto", solve_auto},
    {"fast", solve_fast},
    {"chain", solve_chain},
    {"product-form", solve_product_form},
    {"simulate", fulcrum_simulate},
};

static bool beyond_batch_table(const struct fulcrum_batch_time *time, double batch)
{
    double slack = 1e-9 * batch;
    return time->count > 0 && (batch > time->size[time->count - 1] + slack ||
                                  batch < time->size[0] - slack);
}

/*
 * What alternates is solved in turns: K steps without any training, then a training
 * step without any other work. Shares of time are those of the first turn, thinned;
 * actors wait out the second one before their next batch. docs/model.md "Loops".
 */
static enum fulcrum_status solve_in_turns(const struct method *method,
    const struct fulcrum_network *network, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err)
{
    struct fulcrum_network rollout = *network;
    rollout.training = (struct fulcrum_training){.env_steps_per_train_step = 0.0};
    TRY(method->solve(&rollout, options, out, err));
    double period = network->training.env_steps_per_train_step;
    double rollout_s = period / out->steps_per_s;
    double share = rollout_s / (rollout_s + network->training.train_step_s);
    double *const shared[] = {&out->steps_per_s, &out->cpu_thread_busy_frac,
        &out->cpu_core_busy_frac, &out->host_busy_frac, &out->gpu_inference_busy_frac};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        *shared[i] *= share;
    }
    if (out->has_interval) {
        out->steps_per_s_lo =
            1.0 / (1.0 / out->steps_per_s_lo + network->training.train_step_s / period);
        out->steps_per_s_hi =
            1.0 / (1.0 / out->steps_per_s_hi + network->training.train_step_s / period);
    }
    out->error_rel *= share;
    out->gpu_train_busy_frac = 1.0 - share;
    out->gpu_busy_frac = out->gpu_busy_frac * share + out->gpu_train_busy_frac;
    out->residence.gpu_s += network->actors / period * network->training.train_step_s;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_solve(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    size_t method = (size_t)options->method;
    assert(method < sizeof methods / sizeof methods[0]);
    struct fulcrum_solution found = {.flags = 0};
    bool takes_turns = network->loop == FULCRUM_LOOP_ALTERNATING &&
                       network->training.env_steps_per_train_step > 0.0 &&
                       options->method != FULCRUM_METHOD_SIMULATE;
    TRY(takes_turns ? solve_in_turns(&methods[method], network, options, &found, err)
                    : methods[method].solve(network, options, &found, err));
    found.bottleneck = fulcrum_bottleneck_of(&found);
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    double most_stepping = fmin(network->actors, fulcrum_cpu_servers(cpu));
    bool is_beyond_table = beyond_batch_table(&network->host, found.mean_batch) ||
                           beyond_batch_table(&network->gpu, found.mean_batch) ||
                           (cpu->curve == FULCRUM_CURVE_TABLE &&
                               most_stepping > (double)cpu->capacity_count);
    found.flags |= is_beyond_table ? (unsigned)FULCRUM_FLAG_BEYOND_TABLE : 0U;
    *out = found;
    return FULCRUM_OK;
}

const char *fulcrum_method_name(int method)
{
    size_t i = (size_t)method;
    return i < sizeof methods / sizeof methods[0] ? methods[i].name : NULL;
}
