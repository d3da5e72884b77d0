/* sweep_finding.c - what a sweep found, in one sentence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where throughput ends to grow is worth more than where its last promille is, so the
 * sentence names the first point within a few per cent of the best. Which one that is
 * shows at the end only. It is always among the points that beat every earlier one;
 * of those, the ones that are still near enough to the best are kept, and none that
 * beats the one before by next to nothing: a sweep that creeps up to its best would
 * otherwise be kept whole.
 */
#include "cli/result/sweep_finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A metric within this share of its best counts as its plateau. */
#define PLATEAU_FRAC 0.95
/* Records are this much apart: at most 5130 of them on the plateau. */
#define RECORD_STEP_REL 1e-5

/* What the sentence says of a point. */
struct record {
    double value;
    double cpu_gpu_ratio;
    double actor_count;
    double varied[FULCRUM_SWEEP_AXES_MOST];
};

struct track {
    enum fulcrum_predicted output;
    struct record best;
    size_t first; /* records before it have fallen behind */
    size_t count; /* those included */
    size_t capacity;
    struct record *records;
};

enum { TRACKS = 3 };

struct fulcrum_sweep_finding {
    const struct fulcrum_sweep_plan *plan;
    struct track tracks[TRACKS];
};

struct fulcrum_sweep_finding *fulcrum_sweep_finding_new(
    const struct fulcrum_sweep_plan *plan)
{
    struct fulcrum_sweep_finding *finding = calloc(1, sizeof *finding);
    if (finding != NULL) {
        finding->plan = plan;
        finding->tracks[0].output = FULCRUM_OUTPUT_steps_per_s;
        finding->tracks[1].output = FULCRUM_OUTPUT_steps_per_j_gpu;
        finding->tracks[2].output = FULCRUM_OUTPUT_steps_per_j_system;
    }
    return finding;
}

void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding)
{
    for (size_t i = 0; finding != NULL && i < TRACKS; i++) {
        free(finding->tracks[i].records);
    }
    free(finding);
}

/* Moves the records that count to the beginning, with room for one more; 0: no memory.
 */
static int make_room(struct track *track)
{
    size_t kept = track->count - track->first;
    struct record *records = track->records;
    if (2 * kept >= track->capacity) {
        size_t capacity = kept < 8 ? 16 : 4 * kept;
        records = calloc(capacity, sizeof *records);
        if (records == NULL) {
            return 0;
        }
        track->capacity = capacity;
    }
    for (size_t i = 0; i < kept; i++) {
        records[i] = track->records[track->first + i];
    }
    if (records != track->records) {
        free(track->records);
        track->records = records;
    }
    track->first = 0;
    track->count = kept;
    return 1;
}

/* A whole point would be ten times as large. */
static struct record record_of(
    const struct fulcrum_sweep_point *point, enum fulcrum_predicted output)
{
    const struct fulcrum_prediction *prediction = &point->prediction;
    struct record record = {.value = prediction->value[output],
        .cpu_gpu_ratio = prediction->value[FULCRUM_OUTPUT_cpu_gpu_ratio_used],
        .actor_count = prediction->actor_count};
    memcpy(record.varied, point->varied, sizeof record.varied);
    return record;
}

static void add_point(struct track *track, const struct fulcrum_sweep_point *point)
{
    double value = point->prediction.value[track->output];
    if (!(value > track->best.value)) {
        return;
    }
    track->best = record_of(point, track->output);
    while (track->first < track->count &&
           track->records[track->first].value < PLATEAU_FRAC * value) {
        track->first++;
    }
    double last =
        track->first < track->count ? track->records[track->count - 1].value : 0.0;
    if (value > last * (1.0 + RECORD_STEP_REL) &&
        (track->count < track->capacity || make_room(track))) {
        track->records[track->count++] = track->best;
    }
}

void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; finding != NULL && i < count; i++) {
        for (size_t j = 0; points[i].status == FULCRUM_OK && j < TRACKS; j++) {
            add_point(&finding->tracks[j], &points[i]);
        }
    }
}

/* "CPU/GPU ratio 1 (machine.cpu.thread_count = 640, 4096 actors)" */
static void describe_point(const struct fulcrum_sweep_plan *plan,
    const struct record *record, char *out, size_t size)
{
    double ratio = record->cpu_gpu_ratio;
    int length = isnan(ratio) ? 0 : snprintf(out, size, "CPU/GPU ratio %.3g (", ratio);
    size_t used = length > 0 ? (size_t)length : 0;
    for (size_t i = 0; i < plan->axis_count && used < size; i++) {
        const char *path = plan->axes[i].field->path;
        if (strcmp(path, "run.actor_count") == 0) {
            continue;
        }
        length =
            snprintf(out + used, size - used, "%s = %.6g, ", path, record->varied[i]);
        used += length > 0 ? (size_t)length : 0;
    }
    if (used < size) {
        length = snprintf(out + used, size - used, "%.6g actors", record->actor_count);
        used += length > 0 ? (size_t)length : 0;
    }
    if (used < size && !isnan(ratio)) {
        (void)snprintf(out + used, size - used, ")");
    }
}

/* Where the metric comes within 5 % of its best, or "" where it is not known. */
static void describe_plateau(const struct fulcrum_sweep_finding *finding,
    const struct track *track, const char *what, char *out, size_t size)
{
    out[0] = '\0';
    if (track->first < track->count) {
        char place[400];
        describe_point(
            finding->plan, &track->records[track->first], place, sizeof place);
        double best = track->best.value;
        (void)snprintf(out, size,
            best >= 1e4 ? "%s comes within 5 %% of its best, %.0f, at %s"
                        : "%s comes within 5 %% of its best, %.4g, at %s",
            what, best, place);
    }
}

void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size)
{
    if (finding == NULL || !(finding->tracks[0].best.value > 0.0)) {
        (void)snprintf(out, size, "no point of the sweep can run");
        return;
    }
    char rate[520];
    char per_gpu[520];
    char per_system[520] = "";
    describe_plateau(
        finding, &finding->tracks[0], "throughput in steps/s", rate, sizeof rate);
    describe_plateau(finding, &finding->tracks[1],
        "; performance per GPU watt in steps/J", per_gpu, sizeof per_gpu);
    const struct record *best = &finding->tracks[2].best;
    if (best->value > 0.0) {
        char place[400];
        describe_point(finding->plan, best, place, sizeof place);
        (void)snprintf(per_system, sizeof per_system,
            "; performance per system watt is best, %.3g steps/J, at %s", best->value,
            place);
    }
    (void)snprintf(out, size, "%s%s%s", rate, per_gpu, per_system);
}
