/* agent.c - trajectories of agents: rates of the stations, and the exact solution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/agent.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/exact/exact.h"
#include "model/number.h"
#include "model/try.h"

/* Largest networks that --method product-form takes, and that auto takes to it: those
 * are solved sooner than simulated. */
#define EXACT_MOST 20000.0
#define EXACT_SOON 4000.0

/* Half width of what auto wants unless told: equations that are not flagged have it. */
#define DEFAULT_HALF_WIDTH_REL 0.035

const char *fulcrum_agent_coupling_name(int coupling)
{
    static const char *const names[] = {"alone", "in-turns", "one-off", "stream"};
    return FULCRUM_NAMED(names, coupling);
}

#define AT(part, member) offsetof(struct fulcrum_agent_##part, member)

static const struct fulcrum_range network_ranges[] = {
    {"live_count", AT(network, live_count), 1.0, 1e7, FULCRUM_RANGE_WHOLE},
    {"start_limit", AT(network, start_limit), 0.0, 1e7, FULCRUM_RANGE_WHOLE},
};

static const struct fulcrum_range decode_ranges[] = {
    {"instance_count", AT(decode, instance_count), 1.0, 1e6, FULCRUM_RANGE_WHOLE},
    {"per_token_s", AT(decode, per_token_s), 0.0, 1e4, FULCRUM_RANGE_REAL},
    {"per_item_s", AT(decode, per_item_s), 0.0, 1e4, FULCRUM_RANGE_REAL},
    {"item_exponent", AT(decode, item_exponent), 0.05, 1.0, FULCRUM_RANGE_OR_ZERO},
    {"per_context_s", AT(decode, per_context_s), 0.0, 1e4, FULCRUM_RANGE_REAL},
    {"per_prompt_s", AT(decode, per_prompt_s), 0.0, 1e4, FULCRUM_RANGE_REAL},
    {"most_items", AT(decode, most_items), 1.0, 1e7, FULCRUM_RANGE_OR_ZERO},
};

static const struct fulcrum_range trajectory_ranges[] = {
    {"turn_count", AT(trajectory, turn_count), 1.0, 1e6, FULCRUM_RANGE_REAL},
    {"turn_cv", AT(trajectory, turn_cv), 0.0, 10.0, FULCRUM_RANGE_REAL},
    {"output_tokens", AT(trajectory, output_tokens), 0.0, 1e8, FULCRUM_RANGE_REAL},
    {"output_cv", AT(trajectory, output_cv), 0.0, 10.0, FULCRUM_RANGE_REAL},
    {"output_limit", AT(trajectory, output_limit), 1.0, 1e8, FULCRUM_RANGE_OR_ZERO},
    {"prompt_tokens", AT(trajectory, prompt_tokens), 0.0, 1e8, FULCRUM_RANGE_REAL},
    {"context_tokens", AT(trajectory, context_tokens), 0.0, 1e8, FULCRUM_RANGE_REAL},
    {"tool_s", AT(trajectory, tool_s), 0.0, 1e6, FULCRUM_RANGE_REAL},
    {"tool_cv", AT(trajectory, tool_cv), 0.0, 10.0, FULCRUM_RANGE_REAL},
    {"delay_s", AT(trajectory, delay_s), 0.0, 1e6, FULCRUM_RANGE_REAL},
    {"start_s", AT(trajectory, start_s), 0.0, 1e6, FULCRUM_RANGE_REAL},
    {"verify_s", AT(trajectory, verify_s), 0.0, 1e6, FULCRUM_RANGE_REAL},
    {"verify_tokens", AT(trajectory, verify_tokens), 0.0, 1e8, FULCRUM_RANGE_REAL},
};

static const struct fulcrum_range trainer_ranges[] = {
    {"batch_size", AT(trainer, batch_size), 1.0, 1e7, FULCRUM_RANGE_WHOLE},
    {"group_size", AT(trainer, group_size), 1.0, 1e5, FULCRUM_RANGE_WHOLE},
    {"train_s", AT(trainer, train_s), 0.0, 1e6, FULCRUM_RANGE_POSITIVE},
    {"switch_s", AT(trainer, switch_s), 0.0, 1e6, FULCRUM_RANGE_REAL},
    {"staleness", AT(trainer, staleness), 0.0, 1e4, FULCRUM_RANGE_REAL},
};
#undef AT

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

enum fulcrum_status fulcrum_agent_check(
    const struct fulcrum_agent_network *network, struct fulcrum_error *err)
{
    struct fulcrum_error faults;
    fulcrum_error_clear(&faults);
    const struct fulcrum_agent_trainer *trainer = &network->trainer;
    fulcrum_check_ranges(
        &faults, "", network, network_ranges, COUNT_OF(network_ranges));
    fulcrum_check_ranges(
        &faults, "decode.", &network->decode, decode_ranges, COUNT_OF(decode_ranges));
    fulcrum_check_ranges(&faults, "trajectory.", &network->trajectory,
        trajectory_ranges, COUNT_OF(trajectory_ranges));
    fulcrum_cpu_station_check(&network->cpu, &faults);
    if (trainer->coupling != FULCRUM_AGENT_ALONE) {
        fulcrum_check_ranges(
            &faults, "trainer.", trainer, trainer_ranges, COUNT_OF(trainer_ranges));
        FAULT_IF(faults.status == FULCRUM_OK &&
                     fmod(trainer->batch_size, trainer->group_size) != 0.0,
            &faults, FULCRUM_ERR_INFEASIBLE,
            "trainer.batch_size = %g: expected whole groups of %g", trainer->batch_size,
            trainer->group_size);
    }
    if (faults.status == FULCRUM_OK) {
        struct fulcrum_agent_rates rates = fulcrum_agent_rates_of(network);
        FAULT_IF(
            !(fulcrum_agent_decode_s(&rates, 1.0) + rates.tool_s + rates.delay_s > 0.0),
            &faults, FULCRUM_ERR_INFEASIBLE,
            "trajectory: nothing takes time: expected output_tokens, tool_s or "
            "delay_s");
    }
    FAIL_IF(faults.status != FULCRUM_OK, err, faults.status, "%s", faults.detail);
    return FULCRUM_OK;
}

struct fulcrum_agent_output fulcrum_agent_output_of(
    const struct fulcrum_agent_trajectory *one)
{
    double mean = one->output_tokens;
    double limit = one->output_limit;
    if (!(limit > 0.0) || !(mean > 0.0)) {
        return (struct fulcrum_agent_output){mean, one->output_cv};
    }
    if (!(one->output_cv > 0.0)) {
        return (struct fulcrum_agent_output){fulcrum_min(mean, limit), 0.0};
    }
    /* Moments of min(L, limit), L lognormal. */
    double square = log1p(one->output_cv * one->output_cv);
    double sigma = sqrt(square);
    double at = log(limit / mean) / sigma;
    double cut = gsl_cdf_ugaussian_Q(at + 0.5 * sigma);
    double first = mean * gsl_cdf_ugaussian_P(at - 0.5 * sigma) + limit * cut;
    double second = mean * mean * exp(square) * gsl_cdf_ugaussian_P(at - 1.5 * sigma) +
                    limit * limit * cut;
    double variance = fulcrum_max(0.0, second - first * first);
    return (struct fulcrum_agent_output){first, sqrt(variance) / first};
}

struct fulcrum_agent_rates fulcrum_agent_rates_of(
    const struct fulcrum_agent_network *network)
{
    const struct fulcrum_agent_decode *decode = &network->decode;
    const struct fulcrum_agent_trajectory *one = &network->trajectory;
    double tokens =
        one->turn_count * fulcrum_agent_output_of(one).tokens + one->verify_tokens;
    /* Prompts come with visits: each keeps all that are in flight waiting. */
    double prompts = one->turn_count * one->prompt_tokens;
    double exponent = decode->item_exponent > 0.0 ? decode->item_exponent : 1.0;
    double linear_s = exponent < 1.0 ? 0.0 : tokens * decode->per_item_s;
    return (struct fulcrum_agent_rates){.network = network,
        .fixed_s = tokens * decode->per_token_s,
        .item_s = exponent < 1.0 ? tokens * decode->per_item_s : 0.0,
        .shared_s = linear_s + tokens * decode->per_context_s * one->context_tokens +
                    prompts * decode->per_prompt_s,
        .item_exponent = exponent,
        .most = decode->most_items > 0.0 ? decode->most_items * decode->instance_count
                                         : (double)INFINITY,
        .tool_s = one->turn_count * one->tool_s + one->verify_s,
        .delay_s = one->turn_count * one->delay_s};
}

double fulcrum_agent_decode_s(const struct fulcrum_agent_rates *rates, double each)
{
    double items_s =
        rates->item_s > 0.0 ? rates->item_s * pow(each, rates->item_exponent) : 0.0;
    return rates->fixed_s + items_s + rates->shared_s * each;
}

double fulcrum_agent_decode_per_s(const struct fulcrum_agent_rates *rates, double n)
{
    double inside = fulcrum_min(n, rates->most);
    double each = fulcrum_max(1.0, inside / rates->network->decode.instance_count);
    return inside / fulcrum_agent_decode_s(rates, each);
}

double fulcrum_agent_tools_per_s(const struct fulcrum_agent_rates *rates, double n)
{
    return fulcrum_cpu_capacity(&rates->network->cpu, n) / rates->tool_s;
}

double fulcrum_agent_starts_per_s(const struct fulcrum_agent_rates *rates, double n)
{
    double limit = rates->network->start_limit;
    return (limit > 0.0 ? fulcrum_min(n, limit) : n) /
           rates->network->trajectory.start_s;
}

/* Exact solution of the closed network, where nothing trains. */

enum { STARTS, DECODE, TOOLS, DELAY, STATIONS };

typedef double rate_of(const struct fulcrum_agent_rates *rates, double n);

static void add_means(const struct fulcrum_agent_rates *rates,
    struct fulcrum_product_form_load loads[STATIONS],
    struct fulcrum_agent_solution *out)
{
    const struct fulcrum_agent_network *network = rates->network;
    size_t live = (size_t)network->live_count;
    double instances = network->decode.instance_count;
    double servers = fulcrum_cpu_servers(&network->cpu);
    double busy = 0.0;
    double inside = 0.0;
    double running = 0.0;
    for (size_t j = 0; j <= live; j++) {
        double n = (double)j;
        double chance = loads[DECODE].chance[j];
        busy += chance * fulcrum_min(n, instances);
        inside += chance * fulcrum_min(n, rates->most);
        running += loads[TOOLS].chance[j] * fulcrum_min(n, servers);
    }
    out->load = (struct fulcrum_agent_load){.starting = loads[STARTS].mean_customers,
        .decoding = loads[DECODE].mean_customers,
        .at_tools = loads[TOOLS].mean_customers,
        .delayed = loads[DELAY].mean_customers};
    out->decode_busy_frac = busy / instances;
    out->mean_batch = busy > 0.0 ? inside / busy : 0.0;
    out->cpu_busy_frac = running / servers;
}

enum fulcrum_status fulcrum_agent_product_form(
    const struct fulcrum_agent_network *network, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err)
{
    static rate_of *const rate_ofs[STATIONS] = {fulcrum_agent_starts_per_s,
        fulcrum_agent_decode_per_s, fulcrum_agent_tools_per_s, NULL};
    FAIL_IF(network->trainer.coupling != FULCRUM_AGENT_ALONE, err,
        FULCRUM_ERR_UNSUPPORTED, "product-form takes no trainer: expected coupling %s",
        fulcrum_agent_coupling_name(FULCRUM_AGENT_ALONE));
    FAIL_IF(network->live_count > EXACT_MOST, err, FULCRUM_ERR_UNSUPPORTED,
        "product-form takes up to %g trajectories", EXACT_MOST);
    struct fulcrum_agent_rates rates = fulcrum_agent_rates_of(network);
    const double work_s[STATIONS] = {network->trajectory.start_s,
        fulcrum_agent_decode_s(&rates, 1.0), rates.tool_s, rates.delay_s};
    size_t live = (size_t)network->live_count;
    double *room = calloc((size_t)2 * STATIONS * (live + 1), sizeof *room);
    TRY_MEMORY(room, err, "%zu trajectories", live);
    struct fulcrum_product_form_station stations[STATIONS] = {
        {.name = "starts"}, {.name = "decode"}, {.name = "tools"}, {.name = "delay"}};
    struct fulcrum_product_form_load loads[STATIONS] = {{.mean_customers = 0.0}};
    for (size_t i = 0; i < STATIONS; i++) {
        double *rate = room + (size_t)2 * i * (live + 1);
        stations[i].type = i == DELAY ? FULCRUM_STATION_DELAY : FULCRUM_STATION_LD;
        stations[i].service_s = work_s[i];
        stations[i].visits = 1.0;
        stations[i].servers = 1.0;
        stations[i].rate = rate;
        stations[i].rate_count = i == DELAY ? 0 : live;
        loads[i].chance = rate + live + 1;
        loads[i].chance[0] = 1.0;
        for (size_t j = 0; j < live && i != DELAY; j++) {
            rate[j] = work_s[i] > 0.0 ? rate_ofs[i](&rates, (double)j + 1.0) * work_s[i]
                                      : 1.0;
        }
    }
    const struct fulcrum_product_form_network form = {.customers = network->live_count,
        .stations = stations,
        .station_count = STATIONS};
    struct fulcrum_agent_solution found = {
        .method = FULCRUM_METHOD_PRODUCT_FORM, .cycle_s = FULCRUM_UNKNOWN};
    enum fulcrum_status status =
        fulcrum_product_form_solve(&form, &found.trajectories_per_s, loads, err);
    if (status == FULCRUM_OK) {
        add_means(&rates, loads, &found);
        *out = found;
    }
    free(room);
    return status;
}

enum fulcrum_status fulcrum_agent_solve(const struct fulcrum_agent_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err)
{
    double half_width_rel = options->half_width_rel > 0.0 ? options->half_width_rel
                                                          : DEFAULT_HALF_WIDTH_REL;
    switch (options->method) {
    case FULCRUM_METHOD_PRODUCT_FORM:
        return fulcrum_agent_product_form(network, out, err);
    case FULCRUM_METHOD_SIMULATE:
        return fulcrum_agent_simulate(network, options, out, err);
    case FULCRUM_METHOD_FAST:
        fulcrum_agent_fast(network, out);
        return FULCRUM_OK;
    case FULCRUM_METHOD_AUTO:
        fulcrum_agent_fast(network, out);
        if (out->error_rel <= half_width_rel) {
            return FULCRUM_OK;
        }
        return network->trainer.coupling == FULCRUM_AGENT_ALONE &&
                       network->live_count <= EXACT_SOON
                   ? fulcrum_agent_product_form(network, out, err)
                   : fulcrum_agent_simulate(network, options, out, err);
    case FULCRUM_METHOD_CHAIN:
    default:
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "agents have no method chain: expected auto, fast, product-form or "
            "simulate");
    }
}
