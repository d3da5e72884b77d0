/* cmd_memory.c - `fulcrum memory`: what a GPU's memory system does to a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two questions of one subject. Without factors: what every component costs, by
 * making it ideal. With factors for cache or bandwidth: the same work with another
 * memory system.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/whatif/whatif.h"
#include "model/predict/solver.h"
#include "model/result.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"

/*
 * One standard deviation of the cache exponent, as a factor: 90 % of 0.5 x/ 1.3 are the
 * 0.3 to 0.7 (0.32 to 0.77) that Hartstein et al. 2006 find ("Cache miss behavior: is
 * it sqrt(2)?").
 */
#define EXPONENT_SPREAD_FACTOR 1.3
#define EXPONENT_PATH          "workload.network.cache_exponent"

enum { MACHINES_MOST = 16, FACTORS_MOST = 1024 };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *machines;
    const char *cache;
    const char *bandwidth;
};

/* The range of factors, in the form that lists of fields are read by. */
static const struct fulcrum_field factor_field = {
    .path = "FACTORS", .kind = FULCRUM_FIELD_NUMBER, .least = 1e-3, .most = 1e6};

static enum fulcrum_status read_machine(const struct settings *settings,
    const char *name, struct fulcrum_context *context, struct fulcrum_subject *out,
    struct fulcrum_error *err)
{
    struct fulcrum_design_settings design = settings->design;
    design.machine = name;
    TRY(fulcrum_subject_read(&design, context, out, err));
    /* The exponent is nobody's measurement: unless it is set, it is drawn too. */
    struct fulcrum_design_inputs *inputs = &out->inputs;
    const struct fulcrum_field *exponent = fulcrum_field_find(EXPONENT_PATH);
    size_t count = inputs->prior_count;
    bool is_known = fulcrum_inputs_set(inputs, EXPONENT_PATH);
    struct fulcrum_prior *priors = fulcrum_allocate(count + 1, sizeof *priors);
    for (size_t i = 0; i < count; i++) {
        priors[i] = inputs->priors[i];
        is_known = is_known || priors[i].field == exponent;
    }
    priors[count] = (struct fulcrum_prior){exponent, EXPONENT_SPREAD_FACTOR};
    fulcrum_inputs_give_priors(inputs, priors, is_known ? count : count + 1);
    TRY(fulcrum_subject_prepare(out, NULL, 0, err));
    FAIL_IF(out->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU, so no memory system to change",
        out->design.machine.name);
    return FULCRUM_OK;
}

/* That of --machine and those of --machines, names between commas. */
static enum fulcrum_status read_machines(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_subject *machines, size_t *count,
    struct fulcrum_error *err)
{
    const char *rest = settings->machines;
    TRY(read_machine(
        settings, settings->design.machine, context, &machines[(*count)++], err));
    while (rest != NULL) {
        char *name = fulcrum_list_part(&rest);
        enum fulcrum_status status =
            *count == MACHINES_MOST
                ? fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
                      "--machines: more than %d", (int)MACHINES_MOST - 1)
                : read_machine(settings, name, context, &machines[(*count)++], err);
        free(name);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
    }
    return FULCRUM_OK;
}

/* Shares of GPU time and of a run, machine by machine. */
static enum fulcrum_status find_costs(struct fulcrum_subject *machines, size_t count,
    struct fulcrum_study_plan *plan, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_progress *watch = plan->watcher;
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-memory");
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_result_text(
        result, "workload", "workload", machines[0].design.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", machines[0].calibrations);
    struct fulcrum_cost_tables tables = {result,
        fulcrum_result_table(result, "machines", ""),
        fulcrum_result_table(result, "components",
            "shares of GPU time, and of a run with components made ideal in this order "
            "(least, mean, most: over all orders); speed-up from each alone"),
        NULL, 0};
    fulcrum_table_make_main(tables.components);
    fulcrum_watch_start(watch, context, "");
    for (size_t m = 0; m < count && status == FULCRUM_OK; m++) {
        plan->scenario = machines[m].scenario;
        tables.calibration = machines[m].calibrations;
        watch->first_frac = (double)m / (double)count;
        watch->part_frac = 1.0 / (double)count;
        watch->stage = machines[m].design.machine.name;
        status = fulcrum_component_costs_add(plan, &tables, err);
    }
    fulcrum_progress_end(watch);
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    if (count == 1) {
        fulcrum_table_hide(tables.components, "machine");
    }
    /* No watts are shown here: where they come from does not matter. */
    fulcrum_flags_add(tables.flags & ~(unsigned)FULCRUM_FLAG_WATTS_ASSUMED, result);
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status answer_components(const struct settings *settings,
    struct fulcrum_study_plan *plan, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_subject *machines =
        fulcrum_allocate(MACHINES_MOST, sizeof *machines);
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_machines(settings, context, machines, &count, err));
    /* What each component takes is told of batches for actors and of training
     * steps. */
    if (fulcrum_design_is_resident(&machines[0].design)) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "%s simulates on the GPU, so components cannot be separated: use --cache "
            "and --bandwidth, or 'fulcrum partition' for its stages",
            machines[0].design.workload.name));
    }
    status = find_costs(machines, count, plan, context, err);
end:
    for (size_t m = 0; m < count; m++) {
        fulcrum_subject_clear(&machines[m]);
    }
    free(machines);
    return status;
}

/* One memory system beside the machine's own. */
struct version {
    double cache_rel;
    double bandwidth_rel;
    struct fulcrum_setting settings[2];
};

/* A grid of memory systems, the machine's own before all others. */
struct grid {
    struct fulcrum_subject subject;
    struct fulcrum_numbers cache;
    struct fulcrum_numbers bandwidth;
    size_t count;
    struct version *versions;
    struct fulcrum_point *designs;
    struct fulcrum_study *study;
};

/* One field times a factor, checked against the field's range. */
static enum fulcrum_status multiply(const struct fulcrum_design *design,
    const char *path, double factor, struct fulcrum_setting *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    double value = fulcrum_field_number(field, design);
    FAIL_IF(isnan(value), err, FULCRUM_ERR_MISSING,
        "machine %s does not give %s: --set %s=VALUE", design->machine.name, path,
        path);
    FAIL_IF(!(value * factor >= field->least && value * factor <= field->most), err,
        FULCRUM_ERR_RANGE, "%.6g times %s is %.6g: expected a number from %.6g to %.6g",
        factor, path, value * factor, field->least, field->most);
    *out = (struct fulcrum_setting){field, value * factor, NULL};
    return FULCRUM_OK;
}

static enum fulcrum_status add_version(struct grid *grid, double cache_rel,
    double bandwidth_rel, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &grid->subject.design;
    struct version *version = &grid->versions[grid->count];
    struct fulcrum_point *point = &grid->designs[grid->count++];
    *version = (struct version){.cache_rel = cache_rel, .bandwidth_rel = bandwidth_rel};
    point->varied = version->settings;
    if (cache_rel != 1.0) {
        TRY(multiply(design, "machine.gpu.llc_byte", cache_rel,
            &version->settings[point->varied_count++], err));
    }
    if (bandwidth_rel != 1.0) {
        TRY(multiply(design, "machine.gpu.dram_byte_per_s", bandwidth_rel,
            &version->settings[point->varied_count++], err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_grid(const struct settings *settings,
    struct fulcrum_context *context, struct grid *grid, struct fulcrum_error *err)
{
    const char *cache = settings->cache != NULL ? settings->cache : "1";
    const char *bandwidth = settings->bandwidth != NULL ? settings->bandwidth : "1";
    grid->cache = (struct fulcrum_numbers){"--cache", &factor_field, NULL, 0};
    grid->bandwidth = (struct fulcrum_numbers){"--bandwidth", &factor_field, NULL, 0};
    TRY(fulcrum_numbers_read(&grid->cache, cache, context, err));
    TRY(fulcrum_numbers_read(&grid->bandwidth, bandwidth, context, err));
    size_t cells = grid->cache.count * grid->bandwidth.count;
    FULCRUM_USAGE_IF(cells > FACTORS_MOST, context, err, FULCRUM_ERR_RANGE,
        "--cache and --bandwidth: %zu memory systems: expected at most %d, "
        "'fulcrum explore' takes more",
        cells, (int)FACTORS_MOST);
    TRY(read_machine(settings, settings->design.machine, context, &grid->subject, err));
    grid->versions = fulcrum_allocate(cells + 1, sizeof *grid->versions);
    grid->designs = fulcrum_allocate(cells + 1, sizeof *grid->designs);
    TRY(add_version(grid, 1.0, 1.0, err));
    for (size_t i = 0; i < cells; i++) {
        double cache_rel = grid->cache.values[i / grid->bandwidth.count];
        double bandwidth_rel = grid->bandwidth.values[i % grid->bandwidth.count];
        if (cache_rel != 1.0 || bandwidth_rel != 1.0) {
            TRY(add_version(grid, cache_rel, bandwidth_rel, err));
        }
    }
    return FULCRUM_OK;
}

static void add_system(struct fulcrum_table *table, const struct grid *grid, size_t i)
{
    static const struct {
        const char *key;
        const char *title;
        enum fulcrum_memory_value value;
        bool is_ratio;
    } columns[] = {
        {"gpu_time_rel", "GPU time", FULCRUM_MEMORY_GPU, true},
        {"steps_per_s", "steps", FULCRUM_MEMORY_STEPS_PER_S, false},
        {"speedup", "speed-up", FULCRUM_MEMORY_STEPS_PER_S, true},
        {"steps_per_j_gpu_rel", "per GPU joule", FULCRUM_MEMORY_STEPS_PER_J_GPU, true},
        {"steps_per_j_system_rel", "per system joule",
            FULCRUM_MEMORY_STEPS_PER_J_SYSTEM, true},
    };
    const struct fulcrum_gpu *gpu = &grid->subject.design.machine.gpu;
    const struct version *version = &grid->versions[i];
    const double *values = fulcrum_study_at(grid->study, i, 0);
    fulcrum_table_row(table);
    fulcrum_table_number(table, "cache_rel", "cache", version->cache_rel);
    fulcrum_table_number(table, "bandwidth_rel", "bandwidth", version->bandwidth_rel);
    fulcrum_table_number(table, "llc_byte", NULL, gpu->llc_byte * version->cache_rel);
    fulcrum_table_number(
        table, "dram_byte_per_s", NULL, gpu->dram_byte_per_s * version->bandwidth_rel);
    fulcrum_table_number(
        table, "inference_s", "batch time", values[FULCRUM_MEMORY_INFERENCE]);
    fulcrum_table_number(
        table, "train_step_s", "training step", values[FULCRUM_MEMORY_TRAIN_STEP]);
    for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++) {
        fulcrum_table_ratio(table, columns[j].key, columns[j].title,
            columns[j].is_ratio
                ? fulcrum_study_ratio(grid->study, i, 0, columns[j].value)
                : fulcrum_study_value(grid->study, i, columns[j].value));
    }
}

static enum fulcrum_status answer_systems(const struct settings *settings,
    struct fulcrum_study_plan *plan, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct grid *grid = fulcrum_allocate(1, sizeof *grid);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_grid(settings, context, grid, err));
    plan->scenario = grid->subject.scenario;
    fulcrum_watch_start(plan->watcher, context, "memory systems");
    status = fulcrum_memory_study(plan, grid->designs, grid->count, &grid->study, err);
    fulcrum_progress_end(plan->watcher);
    TRY_OR_END(status);
    /* The same work with other memory systems, over the machine's own. */
    const struct fulcrum_design *design = &grid->subject.design;
    const struct fulcrum_workload_network *network = &design->workload.network;
    const struct fulcrum_prediction *prediction = &grid->study->predictions[0];
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-memory");
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "gpu", "GPU", design->machine.gpu.name);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(
        result, "calibration", "calibration", grid->subject.calibrations);
    fulcrum_result_number(result, "actor_count", "actors", design->run.actor_count);
    fulcrum_result_number(result, "gpu_count", NULL, design->run.gpu_count);
    fulcrum_result_number(result, "batch_size", "mean batch",
        prediction->value[FULCRUM_OUTPUT_mean_batch]);
    fulcrum_result_text(
        result, "method", "method", fulcrum_method_name(prediction->method));
    fulcrum_result_number(
        result, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_result_number(
        result, "dram_frac", "GPU time bound by DRAM", network->dram_frac);
    fulcrum_result_number(
        result, "cache_exponent", "cache exponent", network->cache_exponent);
    fulcrum_result_number(result, "draws", NULL, (double)grid->study->draw_count);
    struct fulcrum_table *table = fulcrum_result_table(
        result, "factors", "relative to the machine's own memory system");
    for (size_t i = 0; i < grid->count; i++) {
        add_system(table, grid, i);
    }
    fulcrum_flags_add(prediction->flags, result);
    status = fulcrum_context_show(context, result, err);
end:
    fulcrum_study_free(grid->study);
    fulcrum_subject_clear(&grid->subject);
    free(grid->cache.values);
    free(grid->bandwidth.values);
    free(grid->versions);
    free(grid->designs);
    free(grid);
    return status;
}

static enum fulcrum_status run_memory(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    bool has_factors = settings->cache != NULL || settings->bandwidth != NULL;
    struct fulcrum_progress watch;
    struct fulcrum_study_plan plan = {.watch = fulcrum_watch_show, .watcher = &watch};
    FULCRUM_USAGE_IF(has_factors && settings->machines != NULL, context, err,
        FULCRUM_ERR_UNSUPPORTED,
        "--machines compares components, not the factors of --cache and "
        "--bandwidth");
    /* Differences of some per cent want one method for all versions, without noise. */
    TRY(fulcrum_solve_settings_read(
        &settings->solve, FULCRUM_DRAWS, context, &plan.predict, err));
    if (plan.predict.solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        plan.predict.solver.method = FULCRUM_METHOD_FAST;
    }
    return has_factors ? answer_systems(settings, &plan, context, err)
                       : answer_components(settings, &plan, context, err);
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "machines", offsetof(struct settings, machines), "A,B,C",
        .help = "more machines to idealise"),
    FULCRUM_OPTION(TEXT, "cache", offsetof(struct settings, cache), "FACTORS",
        .help =
            "last-level caches, as multiples of the machine's own: 1,4,16 or 1:16:x2"),
    FULCRUM_OPTION(TEXT, "bandwidth", offsetof(struct settings, bandwidth), "FACTORS",
        .help = "memory bandwidths, likewise"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Memory", rows, 0},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -c v100-inci2020 -a 256",
        "what each component of a V100 costs R2D2, on the GPU and end to end"},
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -a 256 --cache 1,4,16 "
     "--bandwidth 1,1.6",
        "the same run with larger caches and faster memory"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_memory = {
    .name = "memory",
    .summary = "show what limits a run on a GPU: components, cache, bandwidth",
    .description =
        "Without --cache or --bandwidth: makes DRAM bandwidth, latencies, SM "
        "utilisation, arithmetic, kernel launches and the host ideal in every "
        "combination, and reports what each one costs in GPU time and run time. GPU "
        "time is a sum, so its shares do not depend on the order. Shares of a run do: "
        "they are given in the order of the rows, with their least, mean and most over "
        "all orders. On the calibration's own GPU the kernels' shares are those of the "
        "workload; other GPUs and the run are computed from them.\n\nWith --cache or "
        "--bandwidth: runs the same work with other memory systems, relative to the "
        "machine's own. The exponent with which traffic falls as the cache grows is "
        "drawn (x or / 1.3) unless it is set.\n\nVersions are compared draw by draw. "
        "Equations solve them unless --method or --half-width asks for more.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_memory,
};
