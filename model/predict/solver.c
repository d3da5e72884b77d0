/* solver.c - the table of methods, and the choice among them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/solver.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "model/exact/chain.h"
#include "model/exact/textbook.h"
#include "model/fast/fast.h"
#include "model/simulate/simulate.h"
#include "model/try.h"

/* What a simulation aims at unless told otherwise. */
#define DEFAULT_HALF_WIDTH_REL 0.01

static enum fulcrum_status solve_fast(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    struct fulcrum_step_table table;
    table.count = 0;
    return fulcrum_fast_solve(
        network, options->step_table != NULL ? options->step_table : &table, out, err);
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

enum fulcrum_status fulcrum_solve(const struct fulcrum_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    size_t method = (size_t)options->method;
    assert(method < sizeof methods / sizeof methods[0]);
    struct fulcrum_solution found = {.flags = 0};
    TRY(methods[method].solve(network, options, &found, err));
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
