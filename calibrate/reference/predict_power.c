/* predict_power.c - references of kind gpu_power and server_power: every other load
 * predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No published curve of watts says how many SMs were active. What a GPU gets done in a
 * second stands for it: the same token or step costs about the same arithmetic whenever
 * it is made. A load that was set is taken as it is.
 */

#include "calibrate/reference/predictors.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/reference/comparison.h"
#include "calibrate/statistics.h"
#include "model/design/reference.h"
#include "model/predict/power.h"
#include "model/status.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* References of kind server_prior: watts from a machine's priors. */

/*
 * Two loads of a server leave nothing to predict once they are fitted. But they can
 * judge what the presets say of watts where nobody measured: the equation is the
 * product's own, model/predict/power.h, at a load that is set instead of solved for.
 */

static const double interval_tail = 0.05;

/* The fields of (13). */
static const char *const drawn[] = {"machine.cpu.idle_w", "machine.cpu.core_idle_w",
    "machine.cpu.core_dynamic_w", "machine.cpu.smt_power_frac", "machine.rest_w",
    "machine.psu_efficiency_frac"};

enum { DRAWN = sizeof drawn / sizeof drawn[0], DRAWS = 2000 };

/* What each draw multiplies each field by; the same for all points. */
struct draws {
    bool is_known;
    double factor[DRAWS][DRAWN];
};

static enum fulcrum_status check_machine(
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &reference->design;
    FAIL_IF(design->machine.accelerator != FULCRUM_ACCELERATOR_CPU, err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: machine.accelerator = gpu, cpu expected", reference->name);
    for (size_t i = 0; i < DRAWN; i++) {
        FAIL_IF(isnan(fulcrum_field_number(fulcrum_field_find(drawn[i]), design)), err,
            FULCRUM_ERR_MISSING, "reference %s: %s is missing, expected in its machine",
            reference->name, drawn[i]);
    }
    return FULCRUM_OK;
}

/* A preset's spreads; a machine within the reference has none. */
static enum fulcrum_status find_spreads(const struct fulcrum_reference *reference,
    double spread[DRAWN], bool *is_known, struct fulcrum_error *err)
{
    struct fulcrum_sources sources = {.count = 0};
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    enum fulcrum_status status =
        fulcrum_machine_load(reference->machine, &design, &sources, err);
    *is_known = status == FULCRUM_OK;
    if (status == FULCRUM_ERR_UNKNOWN_NAME) {
        return FULCRUM_OK;
    }
    for (size_t i = 0; i < DRAWN && status == FULCRUM_OK; i++) {
        const struct fulcrum_source *source = fulcrum_sources_find(&sources, drawn[i]);
        spread[i] = source != NULL && source->is_prior ? source->spread_factor : 1;
    }
    fulcrum_sources_free(&sources);
    return status;
}

static enum fulcrum_status draw(const struct fulcrum_reference *reference,
    struct draws *out, struct fulcrum_error *err)
{
    double spread[DRAWN];
    TRY(find_spreads(reference, spread, &out->is_known, err));
    if (!out->is_known) {
        return FULCRUM_OK;
    }
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    TRY_MEMORY(rng, err, "no memory to draw watts");
    for (size_t i = 0; i < DRAWS; i++) {
        for (size_t j = 0; j < DRAWN; j++) {
            out->factor[i][j] = exp(gsl_ran_ugaussian(rng) * log(spread[j]));
        }
    }
    gsl_rng_free(rng);
    return FULCRUM_OK;
}

static double server_w(const struct fulcrum_design *design, double load_frac)
{
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    const struct fulcrum_replicas replicas = {.count = 1,
        .node_count = 1,
        .network = {.cpu = {
                        .core_count = cpu->core_count,
                        .thread_count = cpu->thread_count,
                    }}};
    const struct fulcrum_solution solution = {
        .cpu_thread_busy_frac = load_frac, .cpu_core_busy_frac = load_frac};
    return fulcrum_power_of(design, &replicas, &solution).system_w;
}

static void multiply(struct fulcrum_design *design, const double factor[DRAWN])
{
    for (size_t j = 0; j < DRAWN; j++) {
        const struct fulcrum_field *field = fulcrum_field_find(drawn[j]);
        double value = fulcrum_field_number(field, design) * factor[j];
        value = fmin(fmax(value, field->least), field->most);
        memcpy((char *)design + field->offset, &value, sizeof value);
    }
}

static void predict_watts_add_interval(struct fulcrum_compared *item,
    const struct draws *draws, const struct fulcrum_design *design, double load_frac)
{
    double watts[DRAWS];
    if (!draws->is_known) {
        return;
    }
    for (size_t i = 0; i < DRAWS; i++) {
        struct fulcrum_design one = *design;
        multiply(&one, draws->factor[i]);
        watts[i] = server_w(&one, load_frac);
    }
    gsl_sort(watts, 1, DRAWS);
    item->lo = fulcrum_statistics_quantile(watts, DRAWS, interval_tail);
    item->hi = fulcrum_statistics_quantile(watts, DRAWS, 1 - interval_tail);
}

/* Words and conditions of the source that are no field change nothing. */
static enum fulcrum_status apply_setting(
    const struct fulcrum_reference_setting *setting, struct fulcrum_design *design,
    double *load_frac, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(setting->path);
    if (strcmp(setting->path, "load_frac") == 0) {
        *load_frac = setting->number;
        return FULCRUM_OK;
    }
    return field != NULL && setting->text[0] == '\0'
               ? fulcrum_field_set_number(field, design, setting->number, err)
               : FULCRUM_OK;
}

static enum fulcrum_status check_point(const struct fulcrum_reference *reference,
    size_t point, const struct fulcrum_cpu *cpu, double load_frac,
    struct fulcrum_error *err)
{
    if (!(load_frac >= 0 && load_frac <= 1)) {
        return fulcrum_fail(err,
            isnan(load_frac) ? FULCRUM_ERR_MISSING : FULCRUM_ERR_RANGE,
            "reference %s: points[%zu].set.load_frac = %.6g, a share from 0 to 1 "
            "expected",
            reference->name, point, load_frac);
    }
    FAIL_IF(isnan(cpu->core_count) || isnan(cpu->thread_count), err,
        FULCRUM_ERR_MISSING,
        "reference %s: points[%zu] has no machine.cpu.core_count or no "
        "machine.cpu.thread_count, counts expected in its settings or the machine",
        reference->name, point);
    return FULCRUM_OK;
}

/* The point's load, and the machine with what the point sets of it. */
static enum fulcrum_status read_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_design *design, double *load_frac,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    *load_frac = (double)NAN;
    *design = reference->design;
    for (size_t i = 0; i < from->setting_count; i++) {
        TRY(apply_setting(&from->settings[i], design, load_frac, err));
    }
    return check_point(reference, point, &design->machine.cpu, *load_frac, err);
}

static enum fulcrum_status find_server_w(const struct fulcrum_reference *reference,
    size_t point, size_t *observation, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    for (size_t i = 0; i < from->observation_count; i++) {
        if (strcmp(from->observations[i].quantity, "server_w") != 0) {
            continue;
        }
        *observation = i;
        return from->observations[i].value > 0
                   ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                         "reference %s: points[%zu].observed.server_w = %.6g, above 0 "
                         "expected",
                         reference->name, point, from->observations[i].value);
    }
    return fulcrum_fail(err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no server_w, watts expected",
        reference->name, point);
}

static enum fulcrum_status predict_point(const struct draws *draws, size_t point,
    struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    double load_frac = 0;
    size_t observation = 0;
    TRY(read_settings(comparison->reference, point, &design, &load_frac, err));
    TRY(find_server_w(comparison->reference, point, &observation, err));
    struct fulcrum_compared *item = fulcrum_comparison_add(
        comparison, point, observation, server_w(&design, load_frac));
    predict_watts_add_interval(item, draws, &design, load_frac);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_watts(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct draws draws;
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_machine(reference, err));
    TRY_OR_END(draw(reference, &draws, err));
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        TRY_OR_END(predict_point(&draws, i, &comparison, err));
    }
end:
    return fulcrum_comparison_end(&comparison, status, out);
}

/*
 * Where points are too few to tell alpha: the power law that is nearest over [0, 1] to
 * 2 U - U^1.4 of servers in use (Fan et al. 2007, ISCA); straight lines are 1.2
 * standard deviations away.
 */
static const double alpha_prior = 0.72;
static const double alpha_factor = 1.3;

/* From as many fitted loads on alpha is free, without a prior (as in fit_forms.c). */
enum { LOADS_FOR_ALPHA = 5 };

/* What a power law leaves on curves of watts, beside the prior. */
static const double noise_rel = 0.05;

/* Two for the fit, one to be predicted. */
enum { LEAST_LOADS = 3 };

struct reading {
    double load; /* orders the readings */
    double rate; /* work per second; NAN where the load is the activity */
    double watts;
    double active_frac;
    size_t point;
    size_t observation;
    bool is_fitted;
};

/* The readings of one curve by rising load; x and y: those that are fitted. */
struct curve {
    const struct fulcrum_reference *reference;
    const struct fulcrum_reference_point *first;
    size_t count;
    struct reading *readings;
    size_t fitted_count;
    size_t fitted_load_count;
    double *x;
    double *y;
    bool has_rates;
};

static void curve_free(struct curve *curve)
{
    free(curve->readings);
    free(curve->x);
    free(curve->y);
}

static enum fulcrum_status curve_new(
    struct curve *out, const struct fulcrum_reference *reference)
{
    size_t most = reference->point_count;
    struct curve curve = {.reference = reference,
        .readings = calloc(most, sizeof *curve.readings),
        .x = calloc(most, sizeof *curve.x),
        .y = calloc(most, sizeof *curve.y)};
    if (curve.readings == NULL || curve.x == NULL || curve.y == NULL) {
        curve_free(&curve);
        return FULCRUM_ERR_NO_MEMORY;
    }
    *out = curve;
    return FULCRUM_OK;
}

/* 1 where every setting in words of `a` is one of `b` too. */
static bool has_words_of(
    const struct fulcrum_reference_point *a, const struct fulcrum_reference_point *b)
{
    for (size_t i = 0; i < a->setting_count; i++) {
        const struct fulcrum_reference_setting *other =
            fulcrum_reference_find_setting(b, a->settings[i].path);
        if (a->settings[i].text[0] != '\0' &&
            (other == NULL || strcmp(other->text, a->settings[i].text) != 0)) {
            return 0;
        }
    }
    return 1;
}

static bool is_same_curve(
    const struct fulcrum_reference_point *a, const struct fulcrum_reference_point *b)
{
    return strcmp(a->series, b->series) == 0 && has_words_of(a, b) &&
           has_words_of(b, a);
}

static const struct fulcrum_reference_setting *find_share(
    const struct fulcrum_reference_point *point)
{
    const struct fulcrum_reference_setting *load =
        fulcrum_reference_find_setting(point, "load_frac");
    return load != NULL ? load : fulcrum_reference_find_setting(point, "gpu_util_frac");
}

static const struct fulcrum_reference_setting *find_number(
    const struct fulcrum_reference_point *point)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        if (isfinite(point->settings[i].number)) {
            return &point->settings[i];
        }
    }
    return NULL;
}

/* Index among the observations of a point; their count where there is none. */
static size_t find_rate(const struct fulcrum_reference_point *point)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, "tokens_per_s") == 0 ||
            strcmp(point->observations[i].quantity, "steps_per_s") == 0) {
            return i;
        }
    }
    return point->observation_count;
}

static size_t find_watts(const struct fulcrum_reference *reference, size_t point)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    for (size_t i = 0; i < from->observation_count; i++) {
        const char *quantity = from->observations[i].quantity;
        size_t length = strlen(quantity);
        bool is_watts = length > 2 && strcmp(quantity + length - 2, "_w") == 0;
        if (reference->predictor == FULCRUM_PREDICTOR_GPU_POWER
                ? strcmp(quantity, "gpu_w") == 0
                : is_watts) {
            return i;
        }
    }
    return from->observation_count;
}

static enum fulcrum_status read_share(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference_setting *share =
        find_share(&curve->reference->points[reading->point]);
    FAIL_IF(share == NULL, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set has no load_frac or gpu_util_frac, one "
        "expected as in points[%zu]",
        curve->reference->name, reading->point,
        (size_t)(curve->first - curve->reference->points));
    FAIL_IF(!(share->number >= 0 && share->number <= 1), err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].set.%s = %.6g, a share from 0 to 1 expected",
        curve->reference->name, reading->point, share->path, share->number);
    reading->load = share->number;
    reading->active_frac = share->number;
    return FULCRUM_OK;
}

/* Activity by what is done in a second: known once the fitted points are. */
static enum fulcrum_status read_rate(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    const struct fulcrum_reference_point *point = &reference->points[reading->point];
    const struct fulcrum_reference_setting *load = find_number(point);
    size_t rate = find_rate(point);
    FAIL_IF(load == NULL || rate == point->observation_count, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu] has no activity, expected set.load_frac, "
        "set.gpu_util_frac, or a number that is set beside an observed "
        "tokens_per_s or steps_per_s",
        reference->name, reading->point);
    reading->load = load->number;
    reading->rate = point->observations[rate].value;
    FAIL_IF(!isfinite(reading->rate) || !(reading->rate > 0), err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].observed.%s = %.6g, above 0 expected",
        reference->name, reading->point, point->observations[rate].quantity,
        reading->rate);
    return FULCRUM_OK;
}

static enum fulcrum_status read_watts(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    const struct fulcrum_reference_point *point = &reference->points[reading->point];
    reading->observation = find_watts(reference, reading->point);
    FAIL_IF(reading->observation == point->observation_count, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no watts, %s expected", reference->name,
        reading->point,
        reference->predictor == FULCRUM_PREDICTOR_GPU_POWER
            ? "gpu_w"
            : "a quantity that ends in _w");
    reading->watts = point->observations[reading->observation].value;
    FAIL_IF(!isfinite(reading->watts) || !(reading->watts > 0), err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].observed.%s = %.6g, above 0 expected",
        reference->name, reading->point,
        point->observations[reading->observation].quantity, reading->watts);
    return FULCRUM_OK;
}

static int by_load(const void *left, const void *right)
{
    const struct reading *a = left;
    const struct reading *b = right;
    if (a->load < b->load || a->load > b->load) {
        return a->load < b->load ? -1 : 1;
    }
    return a->point < b->point ? -1 : 1;
}

/* Shares of the largest rate that the fit sees; more than that is full activity. */
static void set_activity(struct curve *curve)
{
    double most = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->readings[i].is_fitted) {
            most = fmax(most, curve->readings[i].rate);
        }
    }
    for (size_t i = 0; i < curve->count; i++) {
        curve->readings[i].active_frac = fmin(1, curve->readings[i].rate / most);
    }
}

/* Marks the first, third, ... load; repeats of a load stay together. */
static enum fulcrum_status hold_out(struct curve *curve, struct fulcrum_error *err)
{
    size_t different = 0;
    qsort(curve->readings, curve->count, sizeof *curve->readings, by_load);
    for (size_t i = 0; i < curve->count; i++) {
        struct reading *reading = &curve->readings[i];
        different += i == 0 || reading->load > curve->readings[i - 1].load;
        reading->is_fitted = different % 2 == 1;
    }
    FAIL_IF(different < LEAST_LOADS, err, FULCRUM_ERR_NO_FIT,
        "reference %s: the curve of points[%zu] has %zu different loads, at least "
        "%d expected",
        curve->reference->name, (size_t)(curve->first - curve->reference->points),
        different, LEAST_LOADS);
    curve->fitted_load_count = (different + 1) / 2;
    if (curve->has_rates) {
        set_activity(curve);
    }
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->readings[i].is_fitted) {
            curve->x[curve->fitted_count] = curve->readings[i].active_frac;
            curve->y[curve->fitted_count++] = curve->readings[i].watts;
        }
    }
    return FULCRUM_OK;
}

/* The first point of a curve says how its activity is known. */
static enum fulcrum_status collect(
    struct curve *curve, size_t first, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    curve->first = &reference->points[first];
    curve->count = 0;
    curve->fitted_count = 0;
    curve->has_rates = find_share(curve->first) == NULL;
    for (size_t i = first; i < reference->point_count; i++) {
        if (!is_same_curve(curve->first, &reference->points[i])) {
            continue;
        }
        struct reading *reading = &curve->readings[curve->count++];
        *reading = (struct reading){.point = i, .rate = (double)NAN};
        TRY(curve->has_rates ? read_rate(curve, reading, err)
                             : read_share(curve, reading, err));
        TRY(read_watts(curve, reading, err));
    }
    return hold_out(curve, err);
}

static enum fulcrum_status fit_curve(
    struct fulcrum_power_fit *out, const struct curve *curve, struct fulcrum_error *err)
{
    double idle_w = curve->reference->design.machine.gpu.idle_w;
    struct fulcrum_power_options options = {.form = FULCRUM_POWER_AUTO};
    if (curve->has_rates && idle_w > 0) {
        options.least_idle_w = idle_w;
    }
    if (curve->fitted_load_count < LOADS_FOR_ALPHA) {
        options.alpha = alpha_prior;
        options.alpha_factor = alpha_factor;
        options.noise_rel = noise_rel;
    }
    const struct fulcrum_samples samples = {
        curve->reference->name, curve->x, curve->y, curve->fitted_count};
    return fulcrum_fit_power_with(out, &samples, &options, err);
}

/* Parameters and noise; Student's quantile where the residuals tell the noise. */
static void add_interval(
    struct fulcrum_compared *item, const struct fulcrum_power_fit *fit, double active)
{
    double error_w = fulcrum_power_fit_error_w(fit, active);
    if (isnan(error_w)) {
        return;
    }
    double freedom = fit->fit.residuals.degrees_of_freedom;
    double quantile = freedom >= 1 ? gsl_cdf_tdist_Qinv(interval_tail, freedom)
                                   : gsl_cdf_ugaussian_Qinv(interval_tail);
    double reach = quantile * hypot(error_w, fit->fit.noise_rel * item->predicted);
    item->lo = fmax(0, item->predicted - reach);
    item->hi = item->predicted + reach;
}

static enum fulcrum_status predict_one(struct curve *curve, size_t first,
    struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    struct fulcrum_power_fit fit = {0};
    TRY(collect(curve, first, err));
    TRY(fit_curve(&fit, curve, err));
    for (size_t i = 0; i < curve->count; i++) {
        const struct reading *reading = &curve->readings[i];
        struct fulcrum_compared *item =
            fulcrum_comparison_add(comparison, reading->point, reading->observation,
                fulcrum_power_fit_w(&fit, reading->active_frac));
        item->is_fitted = reading->is_fitted;
        add_interval(item, &fit, reading->active_frac);
        /* In proportion to activity between the idle draw and the rated power of the
         * GPU. */
        double active = reading->active_frac;
        const struct fulcrum_gpu *gpu = &curve->reference->design.machine.gpu;
        if (curve->reference->predictor == FULCRUM_PREDICTOR_GPU_POWER) {
            item->baseline[FULCRUM_BASELINE_BOUNDS] =
                gpu->idle_w + active * (gpu->tdp_w - gpu->idle_w);
        }
    }
    return FULCRUM_OK;
}

static bool is_first_of_curve(const struct fulcrum_reference *reference, size_t point)
{
    for (size_t i = 0; i < point; i++) {
        if (is_same_curve(&reference->points[i], &reference->points[point])) {
            return 0;
        }
    }
    return 1;
}

enum fulcrum_status fulcrum_predict_power(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    FAIL_IF(reference->point_count == 0, err, FULCRUM_ERR_NO_FIT,
        "reference %s: points is empty, curves expected", reference->name);
    struct curve curve = {0};
    FAIL_IF(curve_new(&curve, reference) != FULCRUM_OK, err, FULCRUM_ERR_NO_MEMORY,
        "no memory for %zu points of reference %s", reference->point_count,
        reference->name);
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        if (is_first_of_curve(reference, i)) {
            TRY_OR_END(predict_one(&curve, i, &comparison, err));
        }
    }
end:
    curve_free(&curve);
    return fulcrum_comparison_end(&comparison, status, out);
}
