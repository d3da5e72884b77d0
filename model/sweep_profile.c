/* sweep_profile.c - the best estimate at each value of each axis of a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "model/sweep_best.h"

/* The best point at one value of an axis. */
struct peak {
    double value; /* 0: none yet */
    double ratio; /* cpu_gpu_ratio_used */
};

struct fulcrum_sweep_profile {
    const struct fulcrum_sweep_plan *plan;
    struct peak *peaks[FULCRUM_SWEEP_AXES_MOST]; /* values x FULCRUM_SWEEP_METRICS */
};

static int is_long(const struct fulcrum_sweep_axis *axis)
{
    return axis->count > FULCRUM_PROFILE_MOST;
}

enum fulcrum_status fulcrum_sweep_profile_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_profile **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_profile *profile = calloc(1, sizeof *profile);
    int is_there = profile != NULL;
    for (size_t i = 0; is_there && i < plan->axis_count; i++) {
        if (!is_long(&plan->axes[i])) {
            profile->peaks[i] = calloc(
                plan->axes[i].count * FULCRUM_SWEEP_METRICS, sizeof *profile->peaks[i]);
            is_there = profile->peaks[i] != NULL;
        }
    }
    if (!is_there) {
        fulcrum_sweep_profile_free(profile);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the best along each axis");
    }
    profile->plan = plan;
    *out = profile;
    return FULCRUM_OK;
}

void fulcrum_sweep_profile_free(struct fulcrum_sweep_profile *profile)
{
    for (size_t i = 0; profile != NULL && i < FULCRUM_SWEEP_AXES_MOST; i++) {
        free(profile->peaks[i]);
    }
    free(profile);
}

/* A point may be the best of each metric at its place on an axis. */
static void raise_peaks(struct peak *peaks, const double values[FULCRUM_OUTPUT_COUNT])
{
    for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
        double value = values[fulcrum_sweep_metric(j)];
        if (value > peaks[j].value) {
            peaks[j].value = value;
            peaks[j].ratio = values[FULCRUM_OUTPUT_cpu_gpu_ratio_used];
        }
    }
}

void fulcrum_sweep_profile_add(
    struct fulcrum_sweep_profile *profile, const struct fulcrum_sweep_point *point)
{
    const struct fulcrum_sweep_plan *plan = profile->plan;
    size_t index = point->index;
    for (size_t i = plan->axis_count; i-- > 0; index /= plan->axes[i].count) {
        size_t place = index % plan->axes[i].count;
        if (profile->peaks[i] != NULL) {
            raise_peaks(profile->peaks[i] + place * FULCRUM_SWEEP_METRICS,
                point->prediction.value);
        }
    }
}

static const struct peak *peak_at(
    const struct fulcrum_sweep_profile *profile, size_t metric, size_t axis, size_t i)
{
    return &profile->peaks[axis][i * FULCRUM_SWEEP_METRICS + metric];
}

/* The best value of an axis, and between which values anything can run. */
static double find_best(const struct fulcrum_sweep_profile *profile, size_t metric,
    size_t axis, struct fulcrum_plateau *out)
{
    size_t count = profile->peaks[axis] != NULL ? profile->plan->axes[axis].count : 0;
    double best = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct peak *peak = peak_at(profile, metric, axis, i);
        if (peak->value > 0.0) {
            out->first_run = best > 0.0 ? out->first_run : i;
            out->last_run = i;
        }
        if (peak->value > best) {
            best = peak->value;
            out->best = i;
            out->best_ratio = peak->ratio;
        }
    }
    return best;
}

int fulcrum_sweep_profile_plateau(const struct fulcrum_sweep_profile *profile,
    size_t metric, size_t axis, struct fulcrum_plateau *out)
{
    struct fulcrum_plateau found = {
        .least_ratio = FULCRUM_UNKNOWN, .most_ratio = FULCRUM_UNKNOWN};
    double best = find_best(profile, metric, axis, &found);
    if (!(best > 0.0)) {
        return 0;
    }
    for (size_t i = found.first_run; i <= found.last_run; i++) {
        const struct peak *peak = peak_at(profile, metric, axis, i);
        if (peak->value >= FULCRUM_PLATEAU_FRAC * best) {
            found.first = found.count > 0 ? found.first : i;
            found.last = i;
            found.count++;
            found.least_ratio = fmin(found.least_ratio, peak->ratio);
            found.most_ratio = fmax(found.most_ratio, peak->ratio);
        }
    }
    *out = found;
    return 1;
}

double fulcrum_sweep_profile_ratio(const struct fulcrum_sweep_profile *profile,
    size_t metric, size_t axis, size_t place)
{
    return peak_at(profile, metric, axis, place)->ratio;
}
