/* discrepancy.c - what the model itself is off by, learnt from unseen points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ln(observed / median) of a point is taken as normal, with the variance of its
 * parameters on that side of the median, which draws have told, and a mean and variance
 * that are common to all predictions of its kind: the discrepancy's. Maximum likelihood
 * finds both; every set weighs the same. Points of one curve share much of what they
 * are off by, so the curves count as what is known: the 90 % interval of another run is
 * that of Student's t of so many less one, with the error of the mean in it.
 *
 * A set is judged by a discrepancy that was learnt without it.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/reference/throughput.h"
#include "calibrate/reference/validation.h"
#include "model/number.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/load/preset.h"

struct data {
    const struct fulcrum_validation *sets;
    size_t count;
    size_t which;         /* of fulcrum_discrepancy_names */
    const char *left_out; /* a reference; "": none */
    bool is_beyond; /* points beyond what a fit has seen, rather than the others */
    double mean;    /* that these have as well */
    double known;   /* and a deviation */
};

void fulcrum_discrepancy_without(const char *path, const char *reference, char *out)
{
    (void)snprintf(out, FULCRUM_DISCREPANCY_NAME_SIZE, "%.20s without %.34s",
        strrchr(path, '.') + 1, reference);
}

static bool counts(const struct data *data, const struct fulcrum_validation *set,
    const struct fulcrum_compared *item)
{
    return !set->is_carried_over && !item->is_fitted && !isnan(item->bare.median) &&
           item->discrepancy == data->which &&
           (item->doublings > 0.0) == data->is_beyond &&
           strcmp(set->reference->name, data->left_out) != 0;
}

/* What the sets' points say of a mean and a variance, each set as much as the others.
 */
struct sums {
    double weight; /* of offs for the mean */
    double off;    /* weighted */
    double slope;  /* of the log likelihood by the variance */
    size_t points;
};

/* Whether an item is the first counted one of its curve; disturbed points are of it. */
static bool begins_curve(
    const struct data *data, const struct fulcrum_validation *set, size_t k)
{
    const struct fulcrum_reference_point *points = set->reference->points;
    const char *name = points[set->comparison.items[k].point].series;
    const char *end = strstr(name, FULCRUM_MEASURED_DISTURBED);
    size_t length = end != NULL ? (size_t)(end - name) : strlen(name);
    for (size_t i = 0; i < k; i++) {
        const struct fulcrum_compared *item = &set->comparison.items[i];
        const char *other = points[item->point].series;
        if (counts(data, set, item) && strncmp(other, name, length) == 0 &&
            (other[length] == '\0' ||
                strcmp(other + length, FULCRUM_MEASURED_DISTURBED) == 0)) {
            return false;
        }
    }
    return true;
}

static void add_set(const struct data *data, const struct fulcrum_validation *set,
    double mean, double variance, struct sums *sums)
{
    struct sums own = {.points = 0};
    for (size_t k = 0; k < set->comparison.count; k++) {
        const struct fulcrum_compared *item = &set->comparison.items[k];
        if (!counts(data, set, item)) {
            continue;
        }
        const struct fulcrum_interval *bare = &item->bare;
        double off = log(item->observed / bare->median);
        double end = off < mean ? bare->median / bare->lo : bare->hi / bare->median;
        double sd = log(end) / FULCRUM_HALF_OF_90;
        double times = data->is_beyond ? item->doublings * item->doublings : 1.0;
        double all = sd * sd + data->known * data->known + times * variance;
        double apart = (off - mean) / all;
        own.weight += 1.0 / all;
        own.off += off / all;
        own.slope += times * (apart * apart - 1.0 / all);
        own.points++;
    }
    double share = own.points > 0 ? 1.0 / (double)own.points : 0.0;
    sums->weight += share * own.weight;
    sums->off += share * own.off;
    sums->slope += share * own.slope;
    sums->points += own.points;
}

static size_t count_curves(const struct data *data)
{
    size_t curves = 0;
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_validation *set = &data->sets[i];
        for (size_t k = 0; k < set->comparison.count; k++) {
            curves += counts(data, set, &set->comparison.items[k]) &&
                              begins_curve(data, set, k)
                          ? 1
                          : 0;
        }
    }
    return curves;
}

static struct sums sums_at(const struct data *data, double mean, double variance)
{
    struct sums sums = {.points = 0};
    for (size_t i = 0; i < data->count; i++) {
        add_set(data, &data->sets[i], mean, variance, &sums);
    }
    return sums;
}

/* At the mean that is most likely with a variance, but for what data->mean fixes. */
static struct sums best_sums_at(const struct data *data, double variance, double *mean)
{
    enum { TURNS = 30 };
    struct sums sums = sums_at(data, data->mean, variance);
    *mean = data->mean;
    for (int i = 0; i < TURNS && !data->is_beyond && sums.points > 0; i++) {
        *mean = sums.off / sums.weight;
        sums = sums_at(data, *mean, variance);
    }
    return sums;
}

/* A mean and a deviation of ln(rate); the latter 0 where what else is known is enough.
 */
struct law {
    double mean;
    double deviation; /* most likely */
    double stated;    /* for the 90 % interval of Student's t */
    size_t points;
    size_t curves;
};

static struct law law_of(const struct data *data)
{
    enum { HALVINGS = 60 };
    struct law law;
    double low = 1e-12; /* variances */
    double high = 1.0;
    struct sums sums = best_sums_at(data, low, &law.mean);
    bool is_enough = sums.slope <= 0.0;
    for (int i = 0; i < HALVINGS && !is_enough; i++) {
        double middle = sqrt(low * high);
        bool is_low = best_sums_at(data, middle, &law.mean).slope > 0.0;
        low = is_low ? middle : low;
        high = is_low ? high : middle;
    }
    /* A mean that is learnt, too, takes one degree of freedom and is itself uncertain.
     */
    law.curves = count_curves(data);
    double n = fmax((double)law.curves, 2.0);
    double freedom = data->is_beyond ? n : n - 1.0;
    double of_mean = data->is_beyond ? 1.0 : sqrt(1.0 + 1.0 / n);
    law.deviation = is_enough ? 0.0 : sqrt(low);
    law.stated = law.deviation * of_mean * gsl_cdf_tdist_Pinv(0.95, freedom) /
                 FULCRUM_HALF_OF_90;
    law.points = sums.points;
    return law;
}

/* Both laws without a reference, or with all: of the discrepancy, and of what points
 * beyond those that a fit has seen are off by besides. */
struct laws {
    struct law law[2];
};

static const char *const paths[2] = {"run.discrepancy", "run.extrapolation"};

static struct laws laws_without(const struct data *all, const char *reference)
{
    struct laws out;
    struct data data = *all;
    data.left_out = reference;
    data.is_beyond = false;
    out.law[0] = law_of(&data);
    data.is_beyond = true;
    data.mean = out.law[0].mean;
    data.known = out.law[0].deviation;
    out.law[1] = law_of(&data);
    out.law[1].mean = 0.0;
    return out;
}

static enum fulcrum_status add_parameters(
    const struct laws *laws, struct fulcrum_calibration *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        const struct law *law = &laws->law[i];
        double value = exp(law->mean);
        struct fulcrum_parameter parameter = {.value = value,
            .standard_error = value * law->stated,
            .scale = FULCRUM_SCALE_LOG,
            .origin = FULCRUM_ORIGIN_FITTED};
        (void)snprintf(parameter.path, sizeof parameter.path, "%s", paths[i]);
        (void)snprintf(parameter.source, sizeof parameter.source,
            "maximum likelihood over %zu points of %zu curves that no fit has seen; "
            "docs/model.md \"What an interval means\"",
            law->points, law->curves);
        if (law->points > 0) {
            TRY(fulcrum_calibration_add_parameter(out, &parameter, err));
        }
    }
    FAIL_IF(out->parameter_count == 0, err, FULCRUM_ERR_NO_FIT,
        "%s: none of the references has points to learn it from", out->name);
    return FULCRUM_OK;
}

/* The value, and one stated deviation to either side of it. */
static enum fulcrum_status add_quantities(const struct laws *laws,
    const char *reference, struct fulcrum_calibration *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        const struct law *law = &laws->law[i];
        struct fulcrum_quantity quantity = {.value = exp(law->mean),
            .lo = exp(law->mean - law->stated),
            .hi = exp(law->mean + law->stated)};
        fulcrum_discrepancy_without(paths[i], reference, quantity.name);
        if (law->points > 0) {
            TRY(fulcrum_calibration_add_quantity(out, &quantity, err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_laws(
    struct data *data, struct fulcrum_calibration *out, struct fulcrum_error *err)
{
    struct fulcrum_string names = {0};
    struct laws laws = laws_without(data, "");
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(add_parameters(&laws, out, err));
    for (size_t i = 0; i < data->count; i++) {
        const struct fulcrum_validation *set = &data->sets[i];
        bool is_among = false;
        for (size_t k = 0; k < 2 * set->comparison.count; k++) {
            data->is_beyond = k % 2 != 0;
            is_among = is_among || counts(data, set, &set->comparison.items[k / 2]);
        }
        if (is_among) {
            laws = laws_without(data, set->reference->name);
            TRY_OR_END(add_quantities(&laws, set->reference->name, out, err));
            fulcrum_string_add(
                &names, "%s%s", names.length > 0 ? ", " : "", set->reference->name);
        }
    }
    TRY_OR_END(fulcrum_calibration_add_note(
        out, "learnt_from", fulcrum_string_get(&names), err));
end:
    fulcrum_string_clear(&names);
    return status;
}

enum fulcrum_status fulcrum_discrepancy_learn(const struct fulcrum_validation *sets,
    size_t count, size_t which, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    struct data data = {.sets = sets, .count = count, .which = which, .left_out = ""};
    struct fulcrum_calibration *stored = NULL;
    struct fulcrum_calibration *learnt = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(
        fulcrum_calibration_load(fulcrum_discrepancy_names[which], &stored, err));
    TRY_OR_END(fulcrum_calibration_new(&learnt, err));
    memcpy(learnt->name, stored->name, sizeof learnt->name);
    memcpy(learnt->title, stored->title, sizeof learnt->title);
    learnt->complete = true;
    learnt->machine = stored->machine;
    TRY_OR_END(add_laws(&data, learnt, err));
    *out = learnt;
    learnt = NULL;
end:
    fulcrum_calibration_free(learnt);
    fulcrum_calibration_free(stored);
    return status;
}
