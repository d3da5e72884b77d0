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
#include "cli/output/sweep_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/string.h"

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
    struct fulcrum_sweep_finding *finding = fulcrum_allocate(1, sizeof *finding);
    finding->plan = plan;
    finding->tracks[0].output = FULCRUM_OUTPUT_steps_per_s;
    finding->tracks[1].output = FULCRUM_OUTPUT_steps_per_j_gpu;
    finding->tracks[2].output = FULCRUM_OUTPUT_steps_per_j_system;
    return finding;
}

void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding)
{
    for (size_t i = 0; finding != NULL && i < TRACKS; i++) {
        free(finding->tracks[i].records);
    }
    free(finding);
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

/* Moves the records that count to the beginning, with room for one more. */
static void make_room(struct track *track)
{
    size_t kept = track->count - track->first;
    struct record *records = track->records;
    if (2 * kept >= track->capacity) {
        track->capacity = kept < 8 ? 16 : 4 * kept;
        records = fulcrum_allocate(track->capacity, sizeof *records);
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
    if (value > last * (1.0 + RECORD_STEP_REL)) {
        if (track->count == track->capacity) {
            make_room(track);
        }
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
    const struct record *record, struct fulcrum_string *out)
{
    double ratio = record->cpu_gpu_ratio;
    if (!isnan(ratio)) {
        fulcrum_string_add(out, "CPU/GPU ratio %.3g (", ratio);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        const char *path = plan->axes[i].field->path;
        if (strcmp(path, "run.actor_count") != 0) {
            fulcrum_string_add(out, "%s = %.6g, ", path, record->varied[i]);
        }
    }
    fulcrum_string_add(
        out, "%.6g actors%s", record->actor_count, isnan(ratio) ? "" : ")");
}

/* Where the metric comes within 5 % of its best, or nothing where it is not known. */
static void describe_plateau(const struct fulcrum_sweep_finding *finding,
    const struct track *track, const char *what, struct fulcrum_string *out)
{
    if (track->first < track->count) {
        double best = track->best.value;
        fulcrum_string_add(out,
            best >= 1e4 ? "%s comes within 5 %% of its best, %.0f, at "
                        : "%s comes within 5 %% of its best, %.4g, at ",
            what, best);
        describe_point(finding->plan, &track->records[track->first], out);
    }
}

void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size)
{
    if (finding == NULL || !(finding->tracks[0].best.value > 0.0)) {
        (void)snprintf(out, size, "no point of the sweep can run");
        return;
    }
    struct fulcrum_string text = {.chars = NULL};
    describe_plateau(finding, &finding->tracks[0], "throughput in steps/s", &text);
    describe_plateau(
        finding, &finding->tracks[1], "; performance per GPU watt in steps/J", &text);
    const struct record *best = &finding->tracks[2].best;
    if (best->value > 0.0) {
        fulcrum_string_add(&text,
            "; performance per system watt is best, %.3g steps/J, at ", best->value);
        describe_point(finding->plan, best, &text);
    }
    (void)snprintf(out, size, "%s", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}
