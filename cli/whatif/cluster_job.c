/* cluster_job.c - one training over numbers of GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every point is a design point like any other: machines, GPUs of each, GPUs of a
 * worker and what becomes of the batch are fields. Whole runs are predicted; training
 * steps alone are what the model makes of one GPU's, without the network of actors.
 * Each draw of the scenario is one sample, in which all points are looked at.
 */

#include "cli/whatif/cluster_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/cluster.h"
#include "model/interval.h"
#include "model/predict/predict.h"
#include "model/predict/to_network.h"
#include "model/quantity.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* What draws make of one training over numbers of GPUs. */

/*
 * The ends of two intervals say little about which of two rows is the better one: most
 * of what is not known, such as how long a training step takes, is the same for both.
 * So speed-ups, gains and who is best are found in each draw, and counted.
 */

struct fulcrum_cluster_draws {
    size_t row_count;
    size_t draw_count;
    double *values; /* slot x draw x FULCRUM_CLUSTER_VALUES */
    double *column; /* draw_count, to be sorted */
};

static double *cells(
    const struct fulcrum_cluster_draws *draws, size_t slot, size_t draw)
{
    return draws->values + (slot * draws->draw_count + draw) * FULCRUM_CLUSTER_VALUES;
}

enum fulcrum_status fulcrum_cluster_draws_new(size_t row_count, size_t draw_count,
    struct fulcrum_cluster_draws **out, struct fulcrum_error *err)
{
    struct fulcrum_cluster_draws *draws = calloc(1, sizeof *draws);
    size_t count = (row_count + 1) * draw_count;
    if (draws != NULL) {
        *draws = (struct fulcrum_cluster_draws){row_count, draw_count,
            calloc(count, FULCRUM_CLUSTER_VALUES * sizeof *draws->values),
            calloc(draw_count + 1, sizeof *draws->column)};
    }
    if (draws == NULL || draws->values == NULL || draws->column == NULL) {
        fulcrum_cluster_draws_free(draws);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu draws of %zu points",
            draw_count, row_count);
    }
    for (size_t i = 0; i < count * FULCRUM_CLUSTER_VALUES; i++) {
        draws->values[i] = FULCRUM_UNKNOWN;
    }
    *out = draws;
    return FULCRUM_OK;
}

void fulcrum_cluster_draws_free(struct fulcrum_cluster_draws *draws)
{
    if (draws != NULL) {
        free(draws->values);
        free(draws->column);
        free(draws);
    }
}

void fulcrum_cluster_draws_put(struct fulcrum_cluster_draws *draws, size_t slot,
    size_t draw, const struct fulcrum_cluster_row *row)
{
    double *out = cells(draws, slot, draw);
#define X(name, member) out[FULCRUM_CLUSTER_##name] = row->member;
    FULCRUM_CLUSTER_VALUE_LIST(X)
#undef X
}

/* Of the draws that have the value; nothing where it is not known at all. */
static struct fulcrum_interval interval_of(const struct fulcrum_cluster_draws *draws,
    size_t row, enum fulcrum_cluster_value value)
{
    size_t count = 0;
    for (size_t k = 0; k < draws->draw_count; k++) {
        double drawn = cells(draws, row, k)[value];
        if (isfinite(drawn)) {
            draws->column[count++] = drawn;
        }
    }
    return fulcrum_interval_of(draws->column, count);
}

/* NAN: a draw that cannot run. */
static double cluster_draws_done_in_s(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, size_t row, size_t draw)
{
    return cells(
        draws, row, draw)[rows->is_by_quality ? FULCRUM_CLUSTER_quality_runtime_s
                                              : FULCRUM_CLUSTER_runtime_s];
}

/* Time of the data-parallel row over that of a hybrid one, in one draw. */
static double gain_of(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, size_t row, size_t draw)
{
    size_t plain = fulcrum_cluster_plain_of(rows, row);
    return plain < rows->count && plain != row
               ? cluster_draws_done_in_s(draws, rows, plain, draw) /
                     cluster_draws_done_in_s(draws, rows, row, draw)
               : FULCRUM_UNKNOWN;
}

static void judge_gain(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, size_t row)
{
    size_t count = 0;
    size_t sooner = 0;
    for (size_t k = 0; k < draws->draw_count; k++) {
        double gain = gain_of(draws, rows, row, k);
        if (isfinite(gain)) {
            draws->column[count++] = gain;
            sooner += gain > 1.0;
        }
    }
    struct fulcrum_interval interval = fulcrum_interval_of(draws->column, count);
    rows->rows[row].gain.lo = interval.lo;
    rows->rows[row].gain.hi = interval.hi;
    rows->rows[row].sooner_frac =
        count > 0 ? (double)sooner / (double)count : FULCRUM_UNKNOWN;
}

/* 1 where no rival is done sooner in the draw; of equals the first. NAN: some rival, or
 * the row itself, cannot run in it. */
static double cluster_draws_is_best(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, size_t row, size_t draw)
{
    struct fulcrum_cluster_rivals rivals = fulcrum_cluster_rivals_of(rows, row);
    double own = cluster_draws_done_in_s(draws, rows, row, draw);
    double best = 1.0;
    for (size_t i = rivals.from; i < rivals.to; i++) {
        double lead = own - cluster_draws_done_in_s(draws, rows, i, draw);
        if (isnan(lead)) {
            return FULCRUM_UNKNOWN;
        }
        best = lead > 0.0 || (i < row && !(lead < 0.0)) ? 0.0 : best;
    }
    return best;
}

static void judge_best(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, size_t row)
{
    double count = 0.0;
    double best = 0.0;
    for (size_t k = 0; k < draws->draw_count; k++) {
        double is = cluster_draws_is_best(draws, rows, row, k);
        count += isnan(is) ? 0.0 : 1.0;
        best += isnan(is) ? 0.0 : is;
    }
    rows->rows[row].best_frac = count > 0.0 ? best / count : FULCRUM_UNKNOWN;
}

/*
 * The fewest GPUs from which the hybrid is done sooner in draw k; INFINITY: none of the
 * counts; NAN: nothing to compare ran.
 */
static double crossover_in(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows,
    const struct fulcrum_cluster_crossover *crossover, size_t k)
{
    double least = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        bool is_its = row->scaling == crossover->scaling &&
                      fabs(row->layout.model_parallel_count -
                           crossover->model_parallel_count) < 0.5;
        double gain = is_its ? gain_of(draws, rows, i, k) : FULCRUM_UNKNOWN;
        if (!isnan(gain)) {
            least = fmin(least, gain > 1.0 ? row->device_count : (double)INFINITY);
        }
    }
    return least;
}

static void judge_crossover(const struct fulcrum_cluster_draws *draws,
    const struct fulcrum_cluster_rows *rows, struct fulcrum_cluster_crossover *out)
{
    size_t count = 0;
    size_t found = 0;
    for (size_t k = 0; k < draws->draw_count; k++) {
        double at = crossover_in(draws, rows, out, k);
        if (!isnan(at)) {
            draws->column[count++] = at;
            found += isfinite(at) ? 1 : 0;
        }
    }
    out->interval = fulcrum_interval_among(draws->column, count);
    out->found_frac = count > 0 ? (double)found / (double)count : FULCRUM_UNKNOWN;
}

void fulcrum_cluster_draws_judge(
    struct fulcrum_cluster_draws *draws, struct fulcrum_cluster_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        /* Over one GPU in the same draw. */
        for (size_t k = 0; k < draws->draw_count; k++) {
            double *own = cells(draws, i, k);
            const double *one = cells(draws, draws->row_count, k);
            own[FULCRUM_CLUSTER_speedup] =
                own[FULCRUM_CLUSTER_steps_per_s] / one[FULCRUM_CLUSTER_steps_per_s];
            own[FULCRUM_CLUSTER_quality_speedup] =
                one[FULCRUM_CLUSTER_quality_runtime_s] /
                own[FULCRUM_CLUSTER_quality_runtime_s];
        }
        for (size_t v = 0; v < FULCRUM_CLUSTER_VALUES; v++) {
            rows->rows[i].interval[v] =
                interval_of(draws, i, (enum fulcrum_cluster_value)v);
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        judge_gain(draws, rows, i);
        judge_best(draws, rows, i);
    }
    for (size_t i = 0; i < rows->crossover_count; i++) {
        judge_crossover(draws, rows, &rows->crossovers[i]);
    }
}

enum { VARIED = 6 };

/* What one point sets on top of the scenario's settings. */
struct varied {
    size_t count;
    struct fulcrum_setting settings[VARIED];
};

static void vary(struct varied *varied, const char *path, double value)
{
    varied->settings[varied->count++] =
        (struct fulcrum_setting){fulcrum_field_find(path), value, NULL};
}

static struct varied settings_of(
    const struct fulcrum_cluster_plan *plan, const struct fulcrum_cluster_row *row)
{
    struct varied varied = {.count = 0};
    vary(&varied, "run.node_count", row->layout.node_count);
    vary(&varied, "run.gpu_count", row->layout.node_device_count);
    vary(&varied, "run.model_parallel_gpu_count", row->layout.model_parallel_count);
    varied.settings[varied.count++] =
        (struct fulcrum_setting){fulcrum_field_find("run.batch_scaling"), 0.0,
            fulcrum_batch_scaling_name(row->scaling)};
    if (!isnan(plan->actors_per_gpu)) {
        vary(&varied, "run.actor_count",
            plan->actors_per_gpu * row->layout.node_device_count);
    }
    if (!isnan(plan->speedup_2)) {
        vary(&varied, "workload.training.model_parallel_frac",
            fulcrum_model_parallel_frac(plan->speedup_2, 2.0));
    }
    return varied;
}

/* What training alone does: agent steps at the pace that it takes them. */
static void run_steps(
    const struct fulcrum_design *design, struct fulcrum_cluster_row *row)
{
    struct fulcrum_workload workload = design->workload;
    struct fulcrum_replicas replicas = {.steps_per_request = 1.0};
    fulcrum_shard_times(design, &workload);
    fulcrum_shard_training(design, workload.training.train_step_s, &replicas);
    double share =
        row->scaling == FULCRUM_BATCH_STRONG ? 1.0 : replicas.training.worker_count;
    row->step = replicas.training;
    row->flags = design->flags | replicas.flags;
    row->steps_per_s =
        workload.training.env_steps_per_train_step * share / row->step.step_s;
    row->runtime_s = workload.total_env_steps / row->steps_per_s;
    row->quality_runtime_s = row->runtime_s * row->step.epochs_rel;
}

/* Of a whole run, predicted. */
static void take_outputs(const double *outputs, struct fulcrum_cluster_row *row)
{
    row->steps_per_s = outputs[FULCRUM_OUTPUT_steps_per_s];
    row->runtime_s = outputs[FULCRUM_OUTPUT_runtime_s];
    row->quality_runtime_s = outputs[FULCRUM_OUTPUT_quality_runtime_s];
}

/* The points of a job, and where their draws go. */
struct work {
    const struct fulcrum_cluster_plan *plan;
    struct fulcrum_predictor *predictor;
    struct fulcrum_cluster_draws *draws; /* NULL: none are taken */
    double *drawn; /* of a whole run: draws x FULCRUM_OUTPUT_COUNT */
};

/* What the row is in each draw; one that cannot run stays unknown. */
static void run_draws(const struct work *work, const struct fulcrum_point *point,
    const struct fulcrum_cluster_row *row, size_t slot)
{
    struct fulcrum_point drawn = *point;
    drawn.seed = work->plan->predict.solver.seed;
    size_t draws = work->draws != NULL ? (size_t)work->plan->predict.draws : 0;
    for (size_t k = 0; k < draws; k++) {
        struct fulcrum_cluster_row own = *row;
        const struct fulcrum_design *design = NULL;
        drawn.draw = k + 1;
        if (fulcrum_predictor_design(work->predictor, &drawn, &design, NULL) !=
            FULCRUM_OK) {
            continue;
        }
        run_steps(design, &own);
        if (work->plan->scope == FULCRUM_CLUSTER_WHOLE) {
            take_outputs(work->drawn + k * FULCRUM_OUTPUT_COUNT, &own);
        }
        fulcrum_cluster_draws_put(work->draws, slot, k, &own);
    }
}

static enum fulcrum_status run_whole(const struct work *work,
    const struct fulcrum_point *point, struct fulcrum_cluster_row *row,
    struct fulcrum_error *err)
{
    struct fulcrum_prediction prediction;
    TRY(fulcrum_predictor_run(
        work->predictor, point, &work->plan->predict, &prediction, err));
    row->flags |= prediction.flags;
    row->solver_error_rel = prediction.solver_error_rel;
    take_outputs(prediction.value, row);
    /* The draws are gone with the first design that is asked for. */
    size_t count = 0;
    const double *drawn = fulcrum_predictor_draws(work->predictor, &count);
    if (drawn != NULL && work->drawn != NULL) {
        memcpy(work->drawn, drawn, count * FULCRUM_OUTPUT_COUNT * sizeof *work->drawn);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run_point(const struct work *work,
    struct fulcrum_cluster_row *row, size_t slot, struct fulcrum_error *err)
{
    const struct varied varied = settings_of(work->plan, row);
    const struct fulcrum_point point = {varied.settings, varied.count, 0, 0};
    const struct fulcrum_design *design = NULL;
    TRY(fulcrum_predictor_design(work->predictor, &point, &design, err));
    run_steps(design, row);
    if (work->plan->scope == FULCRUM_CLUSTER_WHOLE) {
        TRY(run_whole(work, &point, row, err));
    }
    run_draws(work, &point, row, slot);
    return FULCRUM_OK;
}

/* Batches have to be divided in whole samples. */
static bool is_divisible(
    const struct fulcrum_cluster_plan *plan, const struct fulcrum_cluster_row *row)
{
    double batch = plan->design->workload.training.batch_size;
    double workers = row->device_count / row->layout.model_parallel_count;
    return row->scaling != FULCRUM_BATCH_STRONG || !(workers > batch);
}

static enum fulcrum_status add_row(const struct work *work,
    struct fulcrum_cluster_row *row, struct fulcrum_cluster_rows *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_cluster_plan *plan = work->plan;
    struct fulcrum_error unfit = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_layout_spread(row->device_count, plan->design->machine.gpu.count,
            row->layout.model_parallel_count, &row->layout, &unfit);
    if (status != FULCRUM_OK || !is_divisible(plan, row)) {
        out->left_out_count++;
        return FULCRUM_OK;
    }
    TRY(run_point(work, row, out->count, err));
    out->rows[out->count++] = *row;
    return FULCRUM_OK;
}

/* The numbers of one point among all, as digits of its index. */
static struct fulcrum_cluster_row row_at(
    const struct fulcrum_cluster_plan *plan, size_t index)
{
    size_t parts = plan->model_parallel_count_count;
    size_t devices = plan->device_count_count;
    struct fulcrum_cluster_row row = {
        .scaling = plan->scaling[index / (parts * devices)],
        .device_count = plan->device_count[index / parts % devices],
        .gain = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN},
        .sooner_frac = FULCRUM_UNKNOWN,
        .best_frac = FULCRUM_UNKNOWN};
    for (size_t i = 0; i < FULCRUM_CLUSTER_VALUES; i++) {
        row.interval[i] = (struct fulcrum_interval){FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    }
    row.layout.model_parallel_count = plan->model_parallel_count[index % parts];
    return row;
}

/* Speed-ups are those over one GPU of the same machine, asked for or not. */
static enum fulcrum_status add_speedups(const struct work *work, size_t slot,
    struct fulcrum_cluster_rows *out, struct fulcrum_error *err)
{
    struct fulcrum_cluster_row one = {.device_count = 1.0, .layout = {1.0, 1.0, 1.0}};
    TRY(run_point(work, &one, slot, err));
    out->is_by_quality = 1;
    for (size_t i = 0; i < out->count; i++) {
        struct fulcrum_cluster_row *row = &out->rows[i];
        row->speedup = row->steps_per_s / one.steps_per_s;
        row->quality_speedup = one.quality_runtime_s / row->quality_runtime_s;
        out->is_by_quality = out->is_by_quality && !isnan(row->quality_runtime_s);
    }
    return FULCRUM_OK;
}

static double done_in_s(
    const struct fulcrum_cluster_rows *rows, const struct fulcrum_cluster_row *row)
{
    return rows->is_by_quality ? row->quality_runtime_s : row->runtime_s;
}

static int are_rivals(
    const struct fulcrum_cluster_row *a, const struct fulcrum_cluster_row *b)
{
    return a->scaling == b->scaling && fabs(a->device_count - b->device_count) < 0.5;
}

/* They stand together: rows are in the order of scaling, devices, devices of a worker.
 */
struct fulcrum_cluster_rivals fulcrum_cluster_rivals_of(
    const struct fulcrum_cluster_rows *rows, size_t row)
{
    struct fulcrum_cluster_rivals rivals = {row, row + 1};
    while (
        rivals.from > 0 && are_rivals(&rows->rows[rivals.from - 1], &rows->rows[row])) {
        rivals.from--;
    }
    while (rivals.to < rows->count &&
           are_rivals(&rows->rows[rivals.to], &rows->rows[row])) {
        rivals.to++;
    }
    return rivals;
}

/* Of equals the first, which has fewer GPUs to a worker. */
static bool is_best(const struct fulcrum_cluster_rows *rows, size_t row)
{
    const struct fulcrum_cluster_row *own = &rows->rows[row];
    struct fulcrum_cluster_rivals rivals = fulcrum_cluster_rivals_of(rows, row);
    for (size_t i = rivals.from; i < rivals.to; i++) {
        double lead = done_in_s(rows, own) - done_in_s(rows, &rows->rows[i]);
        if (lead > 0.0 || (i < row && !(lead < 0.0))) {
            return 0;
        }
    }
    return 1;
}

/* Of its rivals the first, if any. */
size_t fulcrum_cluster_plain_of(const struct fulcrum_cluster_rows *rows, size_t row)
{
    size_t first = fulcrum_cluster_rivals_of(rows, row).from;
    return rows->rows[first].layout.model_parallel_count < 1.5 ? first : rows->count;
}

/* How much sooner the hybrid rows are done. */
static void find_gains(struct fulcrum_cluster_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct fulcrum_cluster_row *row = &rows->rows[i];
        size_t plain = fulcrum_cluster_plain_of(rows, i);
        if (plain < rows->count && plain != i) {
            row->gain.value =
                done_in_s(rows, &rows->rows[plain]) / done_in_s(rows, row);
        }
    }
}

static double find_crossover(
    const struct fulcrum_cluster_rows *rows, int scaling, double model_parallel_count)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        if (row->scaling == scaling &&
            fabs(row->layout.model_parallel_count - model_parallel_count) < 0.5 &&
            row->gain.value > 1.0) {
            return row->device_count;
        }
    }
    return (double)NAN;
}

static void find_crossovers(
    const struct fulcrum_cluster_plan *plan, struct fulcrum_cluster_rows *out)
{
    size_t parts_count = plan->model_parallel_count_count;
    for (size_t i = 0; i < plan->scaling_count * parts_count; i++) {
        double parts = plan->model_parallel_count[i % parts_count];
        int scaling = plan->scaling[i / parts_count];
        if (parts > 1.0) {
            out->crossovers[out->crossover_count++] =
                (struct fulcrum_cluster_crossover){.scaling = scaling,
                    .model_parallel_count = parts,
                    .device_count = find_crossover(out, scaling, parts),
                    .interval = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN},
                    .found_frac = FULCRUM_UNKNOWN};
        }
    }
}

static enum fulcrum_status run_points(const struct work *work, size_t points,
    struct fulcrum_cluster_rows *out, struct fulcrum_error *err)
{
    const struct fulcrum_cluster_plan *plan = work->plan;
    for (size_t i = 0; i < points; i++) {
        struct fulcrum_cluster_row row = row_at(plan, i);
        FAIL_IF(plan->watch != NULL &&
                    plan->watch(plan->user, (double)i / (double)points) != 0,
            err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        TRY(add_row(work, &row, out, err));
    }
    FAIL_IF(out->count == 0, err, FULCRUM_ERR_NO_FIT,
        "none of the numbers of GPUs can be laid out on machines of %.6g GPUs each",
        plan->design->machine.gpu.count);
    return FULCRUM_OK;
}

/* The caller ends it, after a failure too. */
static enum fulcrum_status start(struct work *work, size_t points,
    struct fulcrum_cluster_rows *out, struct fulcrum_error *err)
{
    const struct fulcrum_cluster_plan *plan = work->plan;
    size_t draws = (size_t)plan->predict.draws;
    *out = (struct fulcrum_cluster_rows){.rows = calloc(points, sizeof *out->rows),
        .crossovers = calloc(plan->scaling_count * plan->model_parallel_count_count,
            sizeof *out->crossovers),
        .draw_count = draws};
    FAIL_IF(out->rows == NULL || out->crossovers == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "%zu points", points);
    if (draws > 0) {
        work->drawn = calloc(draws, FULCRUM_OUTPUT_COUNT * sizeof *work->drawn);
        TRY_MEMORY(work->drawn, err, "%zu draws", draws);
        TRY(fulcrum_cluster_draws_new(points, draws, &work->draws, err));
    }
    return fulcrum_predictor_new(plan->scenario, &work->predictor, err);
}

enum fulcrum_status fulcrum_cluster_rows_find(const struct fulcrum_cluster_plan *plan,
    struct fulcrum_cluster_rows *out, struct fulcrum_error *err)
{
    size_t points = plan->scaling_count * plan->device_count_count *
                    plan->model_parallel_count_count;
    struct work work = {.plan = plan};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(start(&work, points, out, err));
    TRY_OR_END(run_points(&work, points, out, err));
    TRY_OR_END(add_speedups(&work, points, out, err));
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i].is_best = is_best(out, i);
    }
    find_gains(out);
    find_crossovers(plan, out);
    if (work.draws != NULL) {
        fulcrum_cluster_draws_judge(work.draws, out);
    }
end:
    fulcrum_predictor_free(work.predictor);
    fulcrum_cluster_draws_free(work.draws);
    free(work.drawn);
    return status;
}

void fulcrum_cluster_rows_clear(struct fulcrum_cluster_rows *rows)
{
    free(rows->rows);
    free(rows->crossovers);
    *rows = (struct fulcrum_cluster_rows){.count = 0};
}
