/* placements.c - ways to place one workload's stages on one GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads that simulate on the GPU are placed by model/predict/partition.h. Of those
 * with actors on the CPU only whole loops on equal parts are known, which the network's
 * solver answers (run.instances_per_gpu). Every row is answered again in every draw;
 * one that chooses may choose otherwise there.
 */
#include "model/whatif/placements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/design/memory_system.h"
#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/study/study.h"
#include "model/try.h"

static void ask(struct fulcrum_placements *plan,
    enum fulcrum_placement_question question, double instances)
{
    static const char *const names[] = {
        [FULCRUM_PLACE_EXCLUSIVE] = "exclusive",
        [FULCRUM_PLACE_TIME_SLICED] = "time-sliced",
        [FULCRUM_PLACE_EQUAL_SHARES] = "shares, equal",
        [FULCRUM_PLACE_APART] = "shares, a process a stage",
        [FULCRUM_PLACE_BEST_SHARES] = "shares, best",
        [FULCRUM_PLACE_GIVEN_SHARES] = "shares, as asked",
        [FULCRUM_PLACE_BEST_SLICES] = "slices, best",
        [FULCRUM_PLACE_GIVEN_SLICES] = "slices, as asked",
    };
    struct fulcrum_placement *row = &plan->rows[plan->count++];
    *row = (struct fulcrum_placement){.question = question,
        .instances = instances,
        .steps_per_s = FULCRUM_UNKNOWN,
        .gpu_busy_frac = FULCRUM_UNKNOWN,
        .gpu_w = FULCRUM_UNKNOWN,
        .steps_per_j_gpu = FULCRUM_UNKNOWN};
    bool has_count =
        question == FULCRUM_PLACE_TIME_SLICED || question == FULCRUM_PLACE_EQUAL_SHARES;
    (void)snprintf(row->name, sizeof row->name, has_count ? "%s x %.0f" : "%s",
        names[question], instances);
}

/* 2, 4, 8, ... and the most there may be. */
static void ask_counts(struct fulcrum_placements *plan,
    enum fulcrum_placement_question question, double most)
{
    for (unsigned n = 2; n < most && n <= 16; n *= 2) {
        ask(plan, question, n);
    }
    if (most > 1.0) {
        ask(plan, question, most);
    }
}

static void ask_all(const struct fulcrum_sharing_terms *terms, bool is_resident,
    struct fulcrum_placements *plan)
{
    ask(plan, FULCRUM_PLACE_EXCLUSIVE, 1.0);
    if (!is_resident) {
        ask_counts(plan, FULCRUM_PLACE_EQUAL_SHARES, terms->instances);
        return;
    }
    ask_counts(plan, FULCRUM_PLACE_TIME_SLICED, terms->instances);
    ask_counts(plan, FULCRUM_PLACE_EQUAL_SHARES, terms->instances);
    ask(plan, FULCRUM_PLACE_APART, 1.0);
    if (terms->instances > 1.0) {
        ask(plan, FULCRUM_PLACE_BEST_SHARES, terms->instances);
    }
    if (terms->given_count > 0) {
        ask(plan, FULCRUM_PLACE_GIVEN_SHARES, 1.0);
    }
    if (terms->mig != NULL) {
        ask(plan, FULCRUM_PLACE_BEST_SLICES, 1.0);
    }
    if (terms->mig != NULL && terms->given_layout != NULL) {
        ask(plan, FULCRUM_PLACE_GIVEN_SLICES, 1.0);
    }
}

static struct fulcrum_gpu_sharing sharing_of(const struct fulcrum_sharing_terms *terms,
    const struct fulcrum_design *design, bool is_slices)
{
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
        .mig = is_slices ? terms->mig : NULL};
}

/* One design's stages on shares of the SMs, as a row asks. Environments are dealt out
 * whole: a process has one of them at least. */
static enum fulcrum_status place_shares(const struct fulcrum_placement *row,
    const struct fulcrum_sharing_terms *terms, const struct fulcrum_design *design,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    const struct fulcrum_gpu_sharing sharing = sharing_of(terms, design, 0);
    bool is_given = row->question == FULCRUM_PLACE_GIVEN_SHARES;
    bool is_dealt =
        !terms->envs_each && (row->question == FULCRUM_PLACE_TIME_SLICED ||
                                 row->question == FULCRUM_PLACE_EQUAL_SHARES);
    double env_count = design->workload.simulation.env_count;
    struct fulcrum_gpu_loop loop;
    fulcrum_resident_loop(design, &loop);
    FAIL_IF(is_dealt && row->instances > env_count, err, FULCRUM_ERR_INFEASIBLE,
        "%.6g environments cannot be dealt out to %.6g processes", env_count,
        row->instances);
    const struct fulcrum_grouping equal = {
        1, {{(1U << loop.count) - 1U, row->instances, 0.0}}};
    /* A process for every stage; shares of 0 are to be found. */
    struct fulcrum_grouping apart = {.count = loop.count};
    for (size_t i = 0; i < loop.count; i++) {
        apart.groups[i] = (struct fulcrum_stage_group){
            1U << i, 1.0, is_given ? terms->given_shares[i] : 0.0};
    }
    switch (row->question) {
    case FULCRUM_PLACE_TIME_SLICED:
        return fulcrum_place_time_sliced(&loop, &sharing, row->instances, out, err);
    case FULCRUM_PLACE_EQUAL_SHARES:
        return fulcrum_place_shares(&loop, &sharing, &equal, out, err);
    case FULCRUM_PLACE_APART:
    case FULCRUM_PLACE_GIVEN_SHARES:
        return fulcrum_place_shares(&loop, &sharing, &apart, out, err);
    case FULCRUM_PLACE_BEST_SHARES:
        /* No group has more processes than there are environments to deal out. */
        return fulcrum_place_best_shares(&loop, &sharing,
            terms->envs_each ? row->instances
                             : fmin(row->instances, fmax(2.0, env_count)),
            out, err);
    case FULCRUM_PLACE_EXCLUSIVE:
    case FULCRUM_PLACE_BEST_SLICES:
    case FULCRUM_PLACE_GIVEN_SLICES:
    default: /* one process has all turns, and memory to fit into */
        return fulcrum_place_time_sliced(&loop, &sharing, 1.0, out, err);
    }
}

/* The same on slices; the layout that a row chose names it. */
static enum fulcrum_status place_slices(struct fulcrum_placement *row,
    const struct fulcrum_sharing_terms *terms, const struct fulcrum_design *design,
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
    if (row->question == FULCRUM_PLACE_BEST_SLICES) {
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

static void put_rate(struct fulcrum_placement *row, double steps_per_s, double gpu_w)
{
    row->steps_per_s = steps_per_s;
    row->gpu_w = gpu_w;
    row->steps_per_j_gpu = steps_per_s / gpu_w;
}

static void keep_reason(struct fulcrum_placement *row, const struct fulcrum_error *why)
{
    (void)snprintf(row->reason, sizeof row->reason, "%.*s",
        (int)strcspn(why->detail, "\n"), why->detail);
}

static void place_stages(const struct fulcrum_sharing_terms *terms,
    const struct fulcrum_design *design, struct fulcrum_placement *row)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    bool is_slices = row->question == FULCRUM_PLACE_BEST_SLICES ||
                     row->question == FULCRUM_PLACE_GIVEN_SLICES;
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

/* Whole loops with actors on the CPU, in all draws: n instances on each GPU used. */
static void place_actors(const struct fulcrum_placement_plan *plan,
    struct fulcrum_predictor *predictor, struct fulcrum_study *study,
    struct fulcrum_placements *out, size_t index)
{
    struct fulcrum_placement *row = &out->rows[index];
    double gpu_count = out->design.run.gpu_count;
    static const enum fulcrum_predicted outputs[] = {
        FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_COUNT};
    const struct fulcrum_setting instances = {
        fulcrum_field_find("run.instances_per_gpu"), row->instances, NULL};
    const struct fulcrum_point point = {&instances, 1, 0, 0};
    struct fulcrum_prediction prediction;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    row->steps_per_s = FULCRUM_UNKNOWN;
    if (fulcrum_predictor_run(predictor, &point, &plan->predict, &prediction, &why) !=
        FULCRUM_OK) {
        keep_reason(row, &why);
        return;
    }
    fulcrum_study_keep(study, index, &prediction, predictor, outputs);
    const double *value = prediction.value;
    put_rate(row, value[FULCRUM_OUTPUT_steps_per_s] / gpu_count,
        value[FULCRUM_OUTPUT_gpu_w] / gpu_count);
    row->gpu_busy_frac = value[FULCRUM_OUTPUT_gpu_busy_frac];
    row->placed.instances = row->instances;
    row->placed.sm_active_frac = value[FULCRUM_OUTPUT_sm_active_frac];
    row->placed.sm_held_frac = FULCRUM_UNKNOWN;
    row->placed.sm_work_frac = FULCRUM_UNKNOWN;
    row->placed.memory_byte = FULCRUM_UNKNOWN;
}

/* Asked before each piece of work. */
static enum fulcrum_status watch(const struct fulcrum_placement_plan *plan, size_t done,
    size_t all, struct fulcrum_error *err)
{
    FAIL_IF(plan->watch(plan->watcher, (double)done / (double)all) != 0, err,
        FULCRUM_ERR_INTERRUPTED, "interrupted");
    return FULCRUM_OK;
}

/* Every row in one draw: itself in draw 0, where it cannot run nothing after that. */
static enum fulcrum_status answer_draw(const struct fulcrum_placement_plan *plan,
    struct fulcrum_study *study, size_t draw, struct fulcrum_placements *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, draw, plan->predict.solver.seed};
    struct fulcrum_design design = out->design;
    bool is_known = draw == 0 || fulcrum_scenario_design(plan->scenario, &point,
                                     &design, NULL) == FULCRUM_OK;
    for (size_t i = 0; i < out->count; i++) {
        struct fulcrum_placement row = out->rows[i];
        TRY(watch(
            plan, draw * out->count + i, (study->draw_count + 1) * out->count, err));
        if (draw > 0 && (isnan(row.steps_per_s) || !is_known)) {
            continue;
        }
        row.steps_per_s = FULCRUM_UNKNOWN;
        place_stages(plan->terms, &design, &row);
        *fulcrum_study_at(study, i, draw) = row.steps_per_s;
        if (draw == 0) {
            out->rows[i] = row;
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status answer_actors(const struct fulcrum_placement_plan *plan,
    struct fulcrum_study *study, struct fulcrum_placements *out,
    struct fulcrum_error *err)
{
    struct fulcrum_predictor *predictor = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY(fulcrum_predictor_new(plan->scenario, &predictor, err));
    for (size_t i = 0; i < out->count && status == FULCRUM_OK; i++) {
        place_actors(plan, predictor, study, out, i);
        status = watch(plan, i + 1, out->count, err);
    }
    fulcrum_predictor_free(predictor);
    return status;
}

enum fulcrum_status fulcrum_placements_find(const struct fulcrum_placement_plan *plan,
    struct fulcrum_placements *out, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    struct fulcrum_study *study = NULL;
    memset(out, 0, sizeof *out);
    TRY(fulcrum_scenario_design(plan->scenario, &point, &out->design, err));
    FAIL_IF(out->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU to be divided",
        out->design.machine.name);
    bool is_resident = fulcrum_design_is_resident(&out->design);
    ask_all(plan->terms, is_resident, out);
    if (is_resident) {
        fulcrum_resident_loop(&out->design, &out->loop);
    }
    TRY(fulcrum_study_new(out->count, 1, (size_t)plan->predict.draws, &study, err));
    out->draws = (double)study->draw_count;
    enum fulcrum_status status = FULCRUM_OK;
    if (!is_resident) {
        TRY_OR_END(answer_actors(plan, study, out, err));
    }
    for (size_t k = 0; is_resident && k <= study->draw_count; k++) {
        TRY_OR_END(answer_draw(plan, study, k, out, err));
    }
    if (isnan(out->rows[0].steps_per_s)) {
        TRY_OR_END(fulcrum_fail(
            err, FULCRUM_ERR_INFEASIBLE, "exclusive: %s", out->rows[0].reason));
    }
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i].speedup = fulcrum_study_ratio(study, i, 0, 0);
    }
end:
    fulcrum_study_free(study);
    return status;
}
