/* partition_plan.c - placements of one workload on one GPU, asked about and answered.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads that simulate on the GPU are placed by model/predict/partition.h. Of those
 * with actors on the CPU only whole loops on equal parts are known, which the network's
 * solver answers (run.instances_per_gpu). Intervals ask every row again with draws of
 * the calibrations; a row that chooses may choose otherwise in a draw.
 */
#include "cli/whatif/partition_plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/memory_system.h"
#include "model/interval.h"
#include "model/predict/partition.h"
#include "model/predict/power.h"
#include "model/quantity.h"
#include "model/try.h"

static struct fulcrum_plan_row *add_row(
    struct fulcrum_plan *plan, enum fulcrum_plan_question question, double instances)
{
    struct fulcrum_plan_row *row = &plan->rows[plan->count++];
    *row = (struct fulcrum_plan_row){.question = question,
        .instances = instances,
        .steps_per_s = FULCRUM_UNKNOWN,
        .speedup = FULCRUM_UNKNOWN,
        .speedup_lo = FULCRUM_UNKNOWN,
        .speedup_hi = FULCRUM_UNKNOWN,
        .gpu_busy_frac = FULCRUM_UNKNOWN,
        .gpu_w = FULCRUM_UNKNOWN,
        .steps_per_j_gpu = FULCRUM_UNKNOWN};
    return row;
}

static void name_row(struct fulcrum_plan_row *row)
{
    static const char *const names[] = {
        [FULCRUM_PLAN_EXCLUSIVE] = "exclusive",
        [FULCRUM_PLAN_TIME_SLICED] = "time-sliced",
        [FULCRUM_PLAN_EQUAL_SHARES] = "shares, equal",
        [FULCRUM_PLAN_APART] = "shares, a process a stage",
        [FULCRUM_PLAN_BEST_SHARES] = "shares, best",
        [FULCRUM_PLAN_GIVEN_SHARES] = "shares, as asked",
        [FULCRUM_PLAN_BEST_SLICES] = "slices, best",
        [FULCRUM_PLAN_GIVEN_SLICES] = "slices, as asked",
    };
    bool has_count = row->question == FULCRUM_PLAN_TIME_SLICED ||
                     row->question == FULCRUM_PLAN_EQUAL_SHARES;
    if (has_count) {
        (void)snprintf(row->name, sizeof row->name, "%s x %.0f", names[row->question],
            row->instances);
    } else {
        (void)snprintf(row->name, sizeof row->name, "%s", names[row->question]);
    }
}

/* 2, 4, 8, ... and the most there may be. */
static void add_counts(
    struct fulcrum_plan *plan, enum fulcrum_plan_question question, double most)
{
    for (unsigned n = 2; n < most && n <= 16; n *= 2) {
        (void)add_row(plan, question, n);
    }
    if (most > 1.0) {
        (void)add_row(plan, question, most);
    }
}

static void list_rows(
    const struct fulcrum_plan_terms *terms, bool is_resident, struct fulcrum_plan *plan)
{
    (void)add_row(plan, FULCRUM_PLAN_EXCLUSIVE, 1.0);
    if (is_resident) {
        add_counts(plan, FULCRUM_PLAN_TIME_SLICED, terms->instances);
    }
    add_counts(plan, FULCRUM_PLAN_EQUAL_SHARES, terms->instances);
    if (is_resident) {
        (void)add_row(plan, FULCRUM_PLAN_APART, 1.0);
        if (terms->instances > 1.0) {
            (void)add_row(plan, FULCRUM_PLAN_BEST_SHARES, terms->instances);
        }
        if (terms->given_count > 0) {
            (void)add_row(plan, FULCRUM_PLAN_GIVEN_SHARES, 1.0);
        }
    }
    if (is_resident && terms->partition != NULL) {
        (void)add_row(plan, FULCRUM_PLAN_BEST_SLICES, 1.0);
        if (terms->given_layout != NULL) {
            (void)add_row(plan, FULCRUM_PLAN_GIVEN_SLICES, 1.0);
        }
    }
    for (size_t i = 0; i < plan->count; i++) {
        name_row(&plan->rows[i]);
    }
}

static struct fulcrum_gpu_sharing sharing_of(const struct fulcrum_plan_terms *terms,
    const struct fulcrum_design *design, bool is_slices)
{
    const struct fulcrum_partition *partition = is_slices ? terms->partition : NULL;
    const struct fulcrum_gpu *gpu = &design->machine.gpu;
    /* Of a cache of unknown size the parts are known, not what fits into them. */
    struct fulcrum_cache_law plain = fulcrum_cache_law_of(&design->workload.network);
    plain.working_set_byte = (double)NAN;
    bool is_known = !isnan(gpu->llc_byte);
    double copy = gpu->dram_byte_per_s / 2.0;
    double shared = isnan(terms->share_byte_per_s) ? copy : terms->share_byte_per_s;
    double byte_per_s = is_slices ? terms->slice_byte_per_s : shared;
    return (struct fulcrum_gpu_sharing){
        .byte_per_s = isnan(byte_per_s) ? (double)INFINITY : byte_per_s,
        .overhead_frac = terms->overhead_frac,
        .switch_frac = terms->switch_frac,
        .least_sm_frac = 1.0 / design->run.sm_count,
        .cache_byte = is_known ? gpu->llc_byte : 1.0,
        .cache_law = is_known ? fulcrum_cache_law_of(&design->workload.network) : plain,
        .envs_each = terms->envs_each,
        .mig = partition != NULL ? &partition->mig : NULL};
}

static struct fulcrum_grouping one_group(
    const struct fulcrum_gpu_loop *loop, double instances)
{
    return (struct fulcrum_grouping){1, {{(1U << loop->count) - 1U, instances, 0.0}}};
}

/* Environments are dealt out whole: a process has one of them at least. */
static enum fulcrum_status check_dealt(const struct fulcrum_plan_row *row,
    const struct fulcrum_plan_terms *terms, const struct fulcrum_design *design,
    struct fulcrum_error *err)
{
    double env_count = design->workload.simulation.env_count;
    bool is_dealt =
        !terms->envs_each && (row->question == FULCRUM_PLAN_TIME_SLICED ||
                                 row->question == FULCRUM_PLAN_EQUAL_SHARES);
    return is_dealt && row->instances > env_count
               ? fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
                     "%.6g environments cannot be dealt out to %.6g processes",
                     env_count, row->instances)
               : FULCRUM_OK;
}

/* One design's stages on shares of the SMs, as a row asks. */
static enum fulcrum_status place_shares(const struct fulcrum_plan_row *row,
    const struct fulcrum_plan_terms *terms, const struct fulcrum_design *design,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    bool is_given = row->question == FULCRUM_PLAN_GIVEN_SHARES;
    const struct fulcrum_gpu_sharing sharing = sharing_of(terms, design, 0);
    struct fulcrum_gpu_loop loop;
    fulcrum_resident_loop(design, &loop);
    const struct fulcrum_grouping equal = one_group(&loop, row->instances);
    /* A process for every stage; shares NULL: to be found. */
    const double *shares = is_given ? terms->given_shares : NULL;
    struct fulcrum_grouping grouping = {.count = loop.count};
    for (size_t i = 0; i < loop.count; i++) {
        grouping.groups[i] = (struct fulcrum_stage_group){
            1U << i, 1.0, shares != NULL ? shares[i] : 0.0};
    }
    const struct fulcrum_grouping apart = grouping;
    double env_count = design->workload.simulation.env_count;
    /* No group has more processes than there are environments to deal out. */
    double most =
        terms->envs_each ? row->instances : fmin(row->instances, fmax(2.0, env_count));
    TRY(check_dealt(row, terms, design, err));
    switch (row->question) {
    case FULCRUM_PLAN_TIME_SLICED:
        return fulcrum_place_time_sliced(&loop, &sharing, row->instances, out, err);
    case FULCRUM_PLAN_EQUAL_SHARES:
        return fulcrum_place_shares(&loop, &sharing, &equal, out, err);
    case FULCRUM_PLAN_APART:
    case FULCRUM_PLAN_GIVEN_SHARES:
        return fulcrum_place_shares(&loop, &sharing, &apart, out, err);
    case FULCRUM_PLAN_BEST_SHARES:
        return fulcrum_place_best_shares(&loop, &sharing, most, out, err);
    case FULCRUM_PLAN_EXCLUSIVE:
    case FULCRUM_PLAN_BEST_SLICES:
    case FULCRUM_PLAN_GIVEN_SLICES:
    default: /* one process has all turns, and memory to fit into */
        return fulcrum_place_time_sliced(&loop, &sharing, 1.0, out, err);
    }
}

/* The same on slices; the layout that a row chose names it. */
static enum fulcrum_status place_slices(struct fulcrum_plan_row *row,
    const struct fulcrum_plan_terms *terms, const struct fulcrum_design *design,
    struct fulcrum_error *err)
{
    const struct fulcrum_gpu_sharing sharing = sharing_of(terms, design, 1);
    struct fulcrum_mig_layout layout = {.instance_count = 0};
    struct fulcrum_gpu_loop loop;
    enum fulcrum_status status = FULCRUM_OK;
    FAIL_IF(design->run.sm_count < design->machine.gpu.sm_count, err,
        FULCRUM_ERR_INFEASIBLE, "slices are cut from all %.6g SMs: run.sm_count = %.6g",
        design->machine.gpu.sm_count, design->run.sm_count);
    fulcrum_resident_loop(design, &loop);
    if (row->question == FULCRUM_PLAN_BEST_SLICES) {
        status = fulcrum_place_best_layout(&loop, &sharing, &row->placed, &layout, err);
    } else {
        layout = *terms->given_layout;
        status = fulcrum_place_layout(&loop, &sharing, &layout, &row->placed, err);
    }
    if (status == FULCRUM_OK) {
        fulcrum_mig_layout_text(sharing.mig, &layout, row->layout, sizeof row->layout);
    }
    return status;
}

static void put_rate(struct fulcrum_plan_row *row, double steps_per_s, double gpu_w)
{
    row->steps_per_s = steps_per_s;
    row->gpu_w = gpu_w;
    row->steps_per_j_gpu = steps_per_s / gpu_w;
}

static void keep_reason(struct fulcrum_plan_row *row, const struct fulcrum_error *why)
{
    size_t length = strcspn(why->detail, "\n");
    length = length < sizeof row->reason ? length : sizeof row->reason - 1;
    memcpy(row->reason, why->detail, length);
    row->reason[length] = '\0';
}

static void answer_resident(const struct fulcrum_plan_terms *terms,
    const struct fulcrum_design *design, struct fulcrum_plan_row *row)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    bool is_slices = row->question == FULCRUM_PLAN_BEST_SLICES ||
                     row->question == FULCRUM_PLAN_GIVEN_SLICES;
    enum fulcrum_status status =
        is_slices ? place_slices(row, terms, design, &why)
                  : place_shares(row, terms, design, &row->placed, &why);
    if (status != FULCRUM_OK) {
        row->placed.part_count = 0;
        keep_reason(row, &why);
        return;
    }
    put_rate(row, row->placed.steps_per_s,
        fulcrum_gpu_power(&design->machine.gpu, row->placed.sm_active_frac,
            design->run.sm_count / design->machine.gpu.sm_count));
}

/* Everything that rows are answered with. */
struct work {
    const struct fulcrum_plan_ask *ask;
    struct fulcrum_plan *plan;
};

static bool is_stopped(const struct work *work, double done_frac, const char *stage)
{
    fulcrum_progress_update(work->ask->progress, done_frac, stage);
    return *work->ask->stop != 0;
}

/* Whole loops with actors on the CPU: n instances on each GPU used. */
static enum fulcrum_status answer_actors(
    const struct work *work, struct fulcrum_plan_row *row, uint64_t draw, double *rate)
{
    const struct fulcrum_setting instances = {
        fulcrum_field_find("run.instances_per_gpu"), row->instances, NULL};
    const struct fulcrum_point point = {
        &instances, 1, draw, work->ask->options->solver.seed};
    struct fulcrum_predict_options options = *work->ask->options;
    struct fulcrum_prediction prediction;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    options.draws = 0.0;
    enum fulcrum_status status =
        fulcrum_predict(work->ask->scenario, &point, &options, &prediction, &why);
    if (status != FULCRUM_OK) {
        keep_reason(row, &why);
        return status;
    }
    double gpus = work->plan->design.run.gpu_count;
    *rate = prediction.value[FULCRUM_OUTPUT_steps_per_s] / gpus;
    if (draw == 0) {
        put_rate(row, *rate, prediction.value[FULCRUM_OUTPUT_gpu_w] / gpus);
        row->placed.instances = row->instances;
        row->gpu_busy_frac = prediction.value[FULCRUM_OUTPUT_gpu_busy_frac];
        row->placed.sm_held_frac = FULCRUM_UNKNOWN;
        row->placed.sm_active_frac = prediction.value[FULCRUM_OUTPUT_sm_active_frac];
        row->placed.sm_work_frac = FULCRUM_UNKNOWN;
        row->placed.memory_byte = FULCRUM_UNKNOWN;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status answer_all(const struct work *work)
{
    struct fulcrum_plan *plan = work->plan;
    bool is_resident = fulcrum_design_is_resident(&plan->design);
    for (size_t i = 0; i < plan->count; i++) {
        double rate = FULCRUM_UNKNOWN;
        if (is_stopped(work, (double)i / (double)plan->count, "placements")) {
            return FULCRUM_ERR_INTERRUPTED;
        }
        if (is_resident) {
            answer_resident(work->ask->terms, &plan->design, &plan->rows[i]);
        } else if (answer_actors(work, &plan->rows[i], 0, &rate) ==
                   FULCRUM_ERR_NO_MEMORY) {
            return FULCRUM_ERR_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < plan->count; i++) {
        plan->rows[i].speedup = plan->rows[i].steps_per_s / plan->rows[0].steps_per_s;
    }
    return FULCRUM_OK;
}

/* Rates of every row in one draw; NAN where it cannot run. */
static void draw_rates(const struct work *work, uint64_t draw, double *rates)
{
    struct fulcrum_plan *plan = work->plan;
    const struct fulcrum_point point = {NULL, 0, draw, work->ask->options->solver.seed};
    bool is_resident = fulcrum_design_is_resident(&plan->design);
    struct fulcrum_design design;
    bool is_known = !is_resident || fulcrum_scenario_design(work->ask->scenario, &point,
                                        &design, NULL) == FULCRUM_OK;
    for (size_t i = 0; i < plan->count; i++) {
        struct fulcrum_plan_row *row = &plan->rows[i];
        struct fulcrum_plan_row scratch = *row;
        rates[i] = FULCRUM_UNKNOWN;
        if (isnan(row->steps_per_s) || !is_known) {
            continue;
        }
        if (is_resident) {
            answer_resident(work->ask->terms, &design, &scratch);
            rates[i] = scratch.placed.part_count > 0 ? scratch.placed.steps_per_s
                                                     : FULCRUM_UNKNOWN;
        } else if (answer_actors(work, &scratch, draw, &rates[i]) != FULCRUM_OK) {
            rates[i] = FULCRUM_UNKNOWN;
        }
    }
}

/* The interval of one row's speed-ups over the draws that ran. */
static void put_interval(
    struct fulcrum_plan *plan, size_t i, const double *rates, size_t draws)
{
    double *speedups = calloc(draws + 1, sizeof *speedups);
    size_t ran = 0;
    for (size_t k = 0; speedups != NULL && k < draws; k++) {
        const double *row = rates + k * plan->count;
        if (!isnan(row[i]) && !isnan(row[0])) {
            speedups[ran++] = row[i] / row[0];
        }
    }
    if (ran > 1) {
        struct fulcrum_interval interval = fulcrum_interval_of(speedups, ran);
        plan->rows[i].speedup_lo = interval.lo;
        plan->rows[i].speedup_hi = interval.hi;
    }
    free(speedups);
}

static enum fulcrum_status add_intervals(const struct work *work)
{
    struct fulcrum_plan *plan = work->plan;
    size_t draws = (size_t)work->ask->options->draws;
    double *rates = calloc(draws * plan->count + 1, sizeof *rates);
    enum fulcrum_status status = rates != NULL ? FULCRUM_OK : FULCRUM_ERR_NO_MEMORY;
    for (size_t k = 0; status == FULCRUM_OK && k < draws; k++) {
        if (is_stopped(work, (double)k / (double)draws, "intervals")) {
            status = FULCRUM_ERR_INTERRUPTED;
        } else {
            draw_rates(work, (uint64_t)k + 1, rates + k * plan->count);
        }
    }
    for (size_t i = 0; status == FULCRUM_OK && i < plan->count; i++) {
        put_interval(plan, i, rates, draws);
    }
    plan->draws = (double)draws;
    free(rates);
    return status;
}

enum fulcrum_status fulcrum_plan_make(const struct fulcrum_plan_ask *ask,
    struct fulcrum_plan *out, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    memset(out, 0, sizeof *out);
    TRY(fulcrum_scenario_design(ask->scenario, &point, &out->design, err));
    FAIL_IF(out->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU to be divided",
        out->design.machine.name);
    bool is_resident = fulcrum_design_is_resident(&out->design);
    const struct work work = {ask, out};
    list_rows(ask->terms, is_resident, out);
    if (is_resident) {
        fulcrum_resident_loop(&out->design, &out->loop);
    }
    enum fulcrum_status status = answer_all(&work);
    if (status == FULCRUM_OK && ask->options->draws >= 1.0) {
        status = add_intervals(&work);
    }
    FAIL_IF(status == FULCRUM_OK && isnan(out->rows[0].steps_per_s), err,
        FULCRUM_ERR_INFEASIBLE, "exclusive: %s", out->rows[0].reason);
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED, err, status, "interrupted");
    return status == FULCRUM_OK ? status
                                : fulcrum_fail(err, status, "placements of %s",
                                      out->design.workload.name);
}
