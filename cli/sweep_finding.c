/* sweep_finding.c - what a sweep found, in one sentence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/sweep_finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A metric within this share of its best counts as its plateau. */
#define PLATEAU_FRAC 0.95

/*
 * The points that beat every earlier one: the first point on the plateau of the best is
 * always among them, and there are few.
 */
struct record {
    double value;
    struct fulcrum_sweep_point point;
};

struct track {
    enum fulcrum_predicted output;
    size_t count;
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

/* Drops the records that can no longer be the first on the plateau. */
static size_t drop_low_records(struct track *track, double best)
{
    size_t first = 0;
    while (first < track->count && track->records[first].value < PLATEAU_FRAC * best) {
        first++;
    }
    for (size_t i = first; i < track->count; i++) {
        track->records[i - first] = track->records[i];
    }
    return track->count - first;
}

static void add_record(struct track *track, const struct fulcrum_sweep_point *point)
{
    double value = point->prediction.value[track->output];
    double best = track->count > 0 ? track->records[track->count - 1].value : 0.0;
    if (!(value > best)) {
        return;
    }
    track->count = drop_low_records(track, value);
    if (track->count == track->capacity) {
        size_t capacity = track->capacity == 0 ? 16 : 2 * track->capacity;
        struct record *larger = calloc(capacity, sizeof *larger);
        if (larger == NULL) {
            return;
        }
        for (size_t i = 0; i < track->count; i++) {
            larger[i] = track->records[i];
        }
        free(track->records);
        track->records = larger;
        track->capacity = capacity;
    }
    track->records[track->count].value = value;
    track->records[track->count].point = *point;
    track->count++;
}

void fulcrum_sweep_finding_add(
    struct fulcrum_sweep_finding *finding, const struct fulcrum_sweep_point *point)
{
    for (size_t i = 0; finding != NULL && point->status == FULCRUM_OK && i < TRACKS;
         i++) {
        add_record(&finding->tracks[i], point);
    }
}

static const struct record *best_record(const struct track *track)
{
    return track->count > 0 ? &track->records[track->count - 1] : NULL;
}

/* "CPU/GPU ratio 1 (machine.cpu.thread_count = 640, 4096 actors)" */
static void describe_point(const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_sweep_point *point, char *out, size_t size)
{
    double ratio = point->prediction.value[FULCRUM_OUTPUT_cpu_gpu_ratio_used];
    int length = isnan(ratio) ? 0 : snprintf(out, size, "CPU/GPU ratio %.3g (", ratio);
    size_t used = length > 0 ? (size_t)length : 0;
    for (size_t i = 0; i < plan->axis_count && used < size; i++) {
        const char *path = plan->axes[i].field->path;
        if (strcmp(path, "run.actor_count") == 0) {
            continue;
        }
        length =
            snprintf(out + used, size - used, "%s = %.6g, ", path, point->varied[i]);
        used += length > 0 ? (size_t)length : 0;
    }
    if (used < size) {
        length = snprintf(
            out + used, size - used, "%.6g actors", point->prediction.actor_count);
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
    if (track->count > 0) {
        char place[400];
        describe_point(finding->plan, &track->records[0].point, place, sizeof place);
        double best = best_record(track)->value;
        (void)snprintf(out, size,
            best >= 1e4 ? "%s comes within 5 %% of its best, %.0f, at %s"
                        : "%s comes within 5 %% of its best, %.4g, at %s",
            what, best, place);
    }
}

void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size)
{
    if (finding == NULL || finding->tracks[0].count == 0) {
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
    const struct record *best = best_record(&finding->tracks[2]);
    if (best != NULL) {
        char place[400];
        describe_point(finding->plan, &best->point, place, sizeof place);
        (void)snprintf(per_system, sizeof per_system,
            "; performance per system watt is best, %.3g steps/J, at %s", best->value,
            place);
    }
    (void)snprintf(out, size, "%s%s%s", rate, per_gpu, per_system);
}
