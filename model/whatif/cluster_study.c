/* cluster_study.c - one training over numbers of GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every row is a design like any other: machines, GPUs of each, GPUs of a worker and
 * what becomes of the batch are fields. Whole runs are predicted; training steps alone
 * follow from the design, without the network of actors. The ends of two intervals say
 * little about which of two rows is better, as most of what is uncertain, such as how
 * long a training step takes, is the same for both: rows are compared within each draw.
 */
#include "model/whatif/cluster_study.h"

#include <math.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/try.h"

enum { SETTINGS_MOST = 6 };

/* Designs of a plan in the making. */
struct work {
    const struct fulcrum_cluster_plan *plan;
    struct fulcrum_cluster_rows *rows;
    struct fulcrum_point *designs; /* one GPU, then the rows */
    struct fulcrum_setting (*settings)[SETTINGS_MOST];
};

static void vary(struct fulcrum_setting *settings, struct fulcrum_point *design,
    const char *path, double value)
{
    settings[design->varied_count++] =
        (struct fulcrum_setting){fulcrum_field_find(path), value, NULL};
}

static void set_design(
    const struct work *work, size_t index, const struct fulcrum_cluster_row *row)
{
    const struct fulcrum_cluster_plan *plan = work->plan;
    struct fulcrum_setting *settings = work->settings[index];
    struct fulcrum_point *design = &work->designs[index];
    const struct fulcrum_layout *layout = &row->layout;
    *design = (struct fulcrum_point){.varied = settings};
    vary(settings, design, "run.node_count", layout->node_count);
    vary(settings, design, "run.gpu_count", layout->node_device_count);
    vary(
        settings, design, "run.model_parallel_gpu_count", layout->model_parallel_count);
    vary(settings, design, "run.batch_scaling", 0.0);
    settings[design->varied_count - 1].text = fulcrum_batch_scaling_name(row->scaling);
    if (!isnan(plan->actors_per_gpu)) {
        vary(settings, design, "run.actor_count",
            plan->actors_per_gpu * layout->node_device_count);
    }
    if (!isnan(plan->speedup_2)) {
        vary(settings, design, "workload.training.model_parallel_frac",
            fulcrum_model_parallel_frac(plan->speedup_2, 2.0));
    }
}

/* Rows for all points that can be laid out, with whole samples for every worker. */
static void lay_out(const struct work *work)
{
    const struct fulcrum_cluster_plan *plan = work->plan;
    struct fulcrum_cluster_rows *out = work->rows;
    size_t parts = plan->parts.count;
    size_t devices = plan->devices.count;
    double batch = plan->design->workload.training.batch_size;
    for (size_t i = 0; i < plan->scaling_count * devices * parts; i++) {
        struct fulcrum_cluster_row row = {
            .scaling = plan->scalings[i / (parts * devices)],
            .device_count = plan->devices.values[i / parts % devices]};
        double split = plan->parts.values[i % parts];
        bool has_samples =
            row.scaling != FULCRUM_BATCH_STRONG || !(row.device_count / split > batch);
        if (has_samples &&
            fulcrum_layout_spread(row.device_count, plan->design->machine.gpu.count,
                split, &row.layout, NULL) == FULCRUM_OK) {
            out->rows[out->count++] = row;
            set_design(work, out->count, &row);
        } else {
            out->left_out_count++;
        }
    }
}

/* Of study.h: what a training step does, and of steps alone the pace that they set. */
static void add_step(void *context, struct fulcrum_study *study, size_t index,
    size_t draw, const struct fulcrum_design *design)
{
    const struct work *work = context;
    double *values = fulcrum_study_at(study, index, draw);
    struct fulcrum_workload workload = design->workload;
    struct fulcrum_replicas replicas = {.steps_per_request = 1.0};
    fulcrum_shard_times(design, &workload);
    fulcrum_shard_training(design, &workload, &replicas);
    const struct fulcrum_cluster_step *step = &replicas.training;
    values[FULCRUM_CLUSTER_COMPUTE] = step->compute_s;
    values[FULCRUM_CLUSTER_ALLREDUCE] = step->exposed_s;
    values[FULCRUM_CLUSTER_TRAIN_STEP] = step->step_s;
    values[FULCRUM_CLUSTER_EFFICIENCY] = step->efficiency;
    values[FULCRUM_CLUSTER_EPOCHS] = step->epochs_rel;
    values[FULCRUM_CLUSTER_WORKERS] = step->worker_count;
    values[FULCRUM_CLUSTER_BATCH] = step->global_batch_size;
    if (work->plan->steps_alone) {
        bool is_strong = design->run.batch_scaling == FULCRUM_BATCH_STRONG;
        double rate = workload.training.env_steps_per_train_step *
                      (is_strong ? 1.0 : step->worker_count) / step->step_s;
        values[FULCRUM_CLUSTER_STEPS_PER_S] = rate;
        values[FULCRUM_CLUSTER_RUNTIME] = workload.total_env_steps / rate;
        values[FULCRUM_CLUSTER_QUALITY_RUNTIME] =
            values[FULCRUM_CLUSTER_RUNTIME] * step->epochs_rel;
    }
    const double *one = fulcrum_study_at(study, 0, draw);
    values[FULCRUM_CLUSTER_SPEEDUP] =
        values[FULCRUM_CLUSTER_STEPS_PER_S] / one[FULCRUM_CLUSTER_STEPS_PER_S];
    values[FULCRUM_CLUSTER_QUALITY_SPEEDUP] =
        one[FULCRUM_CLUSTER_QUALITY_RUNTIME] / values[FULCRUM_CLUSTER_QUALITY_RUNTIME];
    if (draw == 0 && index > 0) {
        struct fulcrum_cluster_row *row = &work->rows->rows[index - 1];
        row->flags = design->flags | replicas.flags | study->predictions[index].flags;
        row->solver_error_rel = study->predictions[index].solver_error_rel;
    }
}

static int are_rivals(
    const struct fulcrum_cluster_row *a, const struct fulcrum_cluster_row *b)
{
    return a->scaling == b->scaling && fabs(a->device_count - b->device_count) < 0.5;
}

/* They are neighbours: rows are by scaling, devices, devices of a worker. */
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

size_t fulcrum_cluster_plain_of(const struct fulcrum_cluster_rows *rows, size_t row)
{
    size_t first = fulcrum_cluster_rivals_of(rows, row).from;
    return rows->rows[first].layout.model_parallel_count < 1.5 ? first : rows->count;
}

struct fulcrum_ratio fulcrum_cluster_value(const struct fulcrum_cluster_rows *rows,
    size_t row, enum fulcrum_cluster_value value)
{
    return fulcrum_study_value(rows->study, row + 1, value);
}

/* One row, of which a draw is asked. */
struct asked {
    const struct fulcrum_cluster_rows *rows;
    size_t row;
};

static double done_in_s(
    const struct fulcrum_cluster_rows *rows, size_t row, size_t draw)
{
    return fulcrum_study_at(rows->study, row + 1,
        draw)[rows->is_by_quality ? FULCRUM_CLUSTER_QUALITY_RUNTIME
                                  : FULCRUM_CLUSTER_RUNTIME];
}

static double gain_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    size_t plain = fulcrum_cluster_plain_of(asked->rows, asked->row);
    return plain < asked->rows->count && plain != asked->row
               ? done_in_s(asked->rows, plain, draw) /
                     done_in_s(asked->rows, asked->row, draw)
               : FULCRUM_UNKNOWN;
}

static double is_sooner_in(const void *context, size_t draw)
{
    double gain = gain_in(context, draw);
    return isfinite(gain) ? (double)(gain > 1.0) : FULCRUM_UNKNOWN;
}

/* 1 where no rival ends sooner; of equals the first, which has fewer GPUs to a worker.
 * NAN: a rival, or the row itself, cannot run. */
static double is_best_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    struct fulcrum_cluster_rivals rivals =
        fulcrum_cluster_rivals_of(asked->rows, asked->row);
    double own = done_in_s(asked->rows, asked->row, draw);
    double best = 1.0;
    for (size_t i = rivals.from; i < rivals.to; i++) {
        double lead = own - done_in_s(asked->rows, i, draw);
        if (isnan(lead)) {
            return FULCRUM_UNKNOWN;
        }
        best = lead > 0.0 || (i < asked->row && !(lead < 0.0)) ? 0.0 : best;
    }
    return best;
}

/* The fewest GPUs from which the hybrid ends sooner; INFINITY: none of the counts; NAN:
 * nothing to compare ran. */
static double crossover_in(const struct fulcrum_cluster_rows *rows,
    const struct fulcrum_cluster_crossover *crossover, size_t draw)
{
    double least = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_cluster_row *row = &rows->rows[i];
        const struct asked asked = {rows, i};
        bool is_its =
            row->scaling == crossover->scaling &&
            fabs(row->layout.model_parallel_count - crossover->part_count) < 0.5;
        double gain = is_its ? gain_in(&asked, draw) : FULCRUM_UNKNOWN;
        if (!isnan(gain)) {
            least = fmin(least, gain > 1.0 ? row->device_count : (double)INFINITY);
        }
    }
    return least;
}

void fulcrum_cluster_rows_judge(struct fulcrum_cluster_rows *rows)
{
    rows->is_by_quality = true;
    for (size_t i = 0; i < rows->count; i++) {
        const double *values = fulcrum_study_at(rows->study, i + 1, 0);
        rows->is_by_quality &= !isnan(values[FULCRUM_CLUSTER_QUALITY_RUNTIME]);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct asked asked = {rows, i};
        struct fulcrum_cluster_row *row = &rows->rows[i];
        row->is_best = is_best_in(&asked, 0) > 0.0;
        row->best_frac = fulcrum_study_share(rows->study, is_best_in, &asked);
        row->gain = fulcrum_study_interval(rows->study, gain_in, &asked);
        row->sooner_frac = fulcrum_study_share(rows->study, is_sooner_in, &asked);
    }
    for (size_t i = 0; i < rows->crossover_count; i++) {
        double *column = rows->study->column;
        double found = 0.0;
        size_t count = 0;
        for (size_t k = 1; k <= rows->study->draw_count; k++) {
            double at = crossover_in(rows, &rows->crossovers[i], k);
            if (!isnan(at)) {
                column[count++] = at;
                found += isfinite(at) ? 1.0 : 0.0;
            }
        }
        struct fulcrum_interval interval = fulcrum_interval_among(column, count);
        double at = isnan(interval.median) ? crossover_in(rows, &rows->crossovers[i], 0)
                                           : interval.median;
        rows->crossovers[i].device_count = (struct fulcrum_ratio){
            isfinite(at) ? at : FULCRUM_UNKNOWN, interval.lo, interval.hi};
        rows->crossovers[i].found_frac =
            count > 0 ? found / (double)count : FULCRUM_UNKNOWN;
    }
}

static enum fulcrum_status run_work(struct work *work, struct fulcrum_error *err)
{
    static const enum fulcrum_predicted outputs[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_runtime_s, FULCRUM_OUTPUT_quality_runtime_s,
        FULCRUM_OUTPUT_COUNT};
    const struct fulcrum_cluster_plan *plan = work->plan;
    struct fulcrum_cluster_rows *out = work->rows;
    const struct fulcrum_cluster_row one = {.layout = {1.0, 1.0, 1.0, 0.0}};
    set_design(work, 0, &one);
    lay_out(work);
    FAIL_IF(out->count == 0, err, FULCRUM_ERR_NO_FIT,
        "none of the numbers of GPUs can be laid out on machines of %.6g GPUs each",
        plan->design->machine.gpu.count);
    const struct fulcrum_study_plan study = {.scenario = plan->scenario,
        .designs = work->designs,
        .design_count = out->count + 1,
        .outputs = plan->steps_alone ? NULL : outputs,
        .value_count = FULCRUM_CLUSTER_VALUES,
        .predict = plan->predict,
        .add = add_step,
        .context = work,
        .watch = plan->watch,
        .watcher = plan->watcher};
    TRY(fulcrum_study_run(&study, &out->study, err));
    for (size_t i = 0; i < plan->scaling_count * plan->parts.count; i++) {
        double parts = plan->parts.values[i % plan->parts.count];
        if (parts > 1.0) {
            out->crossovers[out->crossover_count++] =
                (struct fulcrum_cluster_crossover){
                    .scaling = plan->scalings[i / plan->parts.count],
                    .part_count = parts};
        }
    }
    fulcrum_cluster_rows_judge(out);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_cluster_rows_find(const struct fulcrum_cluster_plan *plan,
    struct fulcrum_cluster_rows *out, struct fulcrum_error *err)
{
    size_t points = plan->scaling_count * plan->devices.count * plan->parts.count;
    struct work work = {plan, out, calloc(points + 1, sizeof *work.designs),
        calloc(points + 1, sizeof *work.settings)};
    *out = (struct fulcrum_cluster_rows){.rows = calloc(points, sizeof *out->rows),
        .crossovers =
            calloc(plan->scaling_count * plan->parts.count, sizeof *out->crossovers)};
    enum fulcrum_status status =
        work.designs == NULL || work.settings == NULL || out->rows == NULL ||
                out->crossovers == NULL
            ? fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu points", points)
            : run_work(&work, err);
    free(work.designs);
    free(work.settings);
    return status;
}

void fulcrum_cluster_rows_clear(struct fulcrum_cluster_rows *rows)
{
    free(rows->rows);
    free(rows->crossovers);
    fulcrum_study_free(rows->study);
    *rows = (struct fulcrum_cluster_rows){.count = 0};
}
