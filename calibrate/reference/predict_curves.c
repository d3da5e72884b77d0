/* predict_curves.c - curves of which every other place is fitted and all predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is held out follows from the order of the places alone, forms and priors from
 * the kind of the reference and the name of the series. So there is nothing to choose
 * per curve.
 */
#define _POSIX_C_SOURCE 200809L

#include <fnmatch.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/reference/validation.h"
#include "model/agent/agent.h"
#include "model/design/cluster.h"
#include "model/design/scale.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/* Two for the fit, one between or beyond them to be predicted. */
enum { LEAST_PLACES = 3 };

static const double interval_tail = 0.05;

struct reading {
    double place; /* along the curve */
    double x;     /* what the form takes; the place, if nothing else is said */
    double y;     /* what was observed */
    const struct fulcrum_reference_point *from;
    size_t point; /* its index */
    size_t observation;
    bool is_fitted;
};

/* The readings of one curve by rising place. */
struct curve {
    const struct fulcrum_reference *reference;
    const struct fulcrum_reference_point *first;
    struct fulcrum_comparison *out;
    size_t count;
    struct reading *readings;
    size_t fitted_count; /* of the readings that the form is fitted to: */
    double *x;
    double *y;
    size_t fitted_places;
};

/* Fills the reading of the point that it names. */
typedef enum fulcrum_status read_point(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err);

/* What a setting may be, and how it is called in an error. */
struct range {
    double least;
    double most;
    const char *text;
};

static enum fulcrum_status read_place(const struct curve *curve,
    struct reading *reading, const char *path, const struct range *range,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference_setting *found =
        fulcrum_reference_find_setting(reading->from, path);
    FAIL_IF(found == NULL, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].set.%s is missing, %s expected",
        curve->reference->name, reading->point, path, range->text);
    bool is_inside = isfinite(found->number) && found->number >= range->least &&
                     found->number <= range->most;
    FAIL_IF(!is_inside, err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].set.%s = %.6g, %s expected", curve->reference->name,
        reading->point, path, found->number, range->text);
    reading->place = found->number;
    reading->x = found->number;
    return FULCRUM_OK;
}

size_t fulcrum_observed_find(
    const struct fulcrum_reference_point *point, const char *pattern)
{
    size_t i = 0;
    while (i < point->observation_count &&
           fnmatch(pattern, point->observations[i].quantity, 0) != 0) {
        i++;
    }
    return i;
}

enum fulcrum_status fulcrum_observed_check(const struct fulcrum_reference *reference,
    size_t point, size_t observation, const char *expected, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    FAIL_IF(observation == from->observation_count, err, FULCRUM_ERR_MISSING,
        "reference %s: points[%zu].observed has no %s", reference->name, point,
        expected);
    const struct fulcrum_observation *seen = &from->observations[observation];
    FAIL_IF(!isfinite(seen->value) || !(seen->value > 0), err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].observed.%s = %.6g, above 0 expected",
        reference->name, point, seen->quantity, seen->value);
    return FULCRUM_OK;
}

/* A rate of another kind, where the point has it, else that of steps. */
static const char *observed_of(
    const struct fulcrum_reference_point *point, const char *rate)
{
    return fulcrum_observed_find(point, rate) < point->observation_count
               ? rate
               : "steps_per_s";
}

static enum fulcrum_status read_observed(const struct curve *curve,
    struct reading *reading, const char *pattern, const char *expected,
    struct fulcrum_error *err)
{
    size_t i = fulcrum_observed_find(reading->from, pattern);
    TRY(fulcrum_observed_check(curve->reference, reading->point, i, expected, err));
    reading->observation = i;
    reading->y = reading->from->observations[i].value;
    return FULCRUM_OK;
}

static int by_place(const void *left, const void *right)
{
    const struct reading *a = left;
    const struct reading *b = right;
    if (a->place < b->place || a->place > b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return a->point < b->point ? -1 : 1;
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

/* Watts of one series are several curves where their settings in words differ. */
static bool is_same_curve(
    const struct fulcrum_reference *reference, size_t point, size_t other)
{
    const struct fulcrum_reference_point *a = &reference->points[point];
    const struct fulcrum_reference_point *b = &reference->points[other];
    bool is_power = reference->predictor == FULCRUM_PREDICTOR_GPU_POWER ||
                    reference->predictor == FULCRUM_PREDICTOR_SERVER_POWER;
    return strcmp(a->series, b->series) == 0 &&
           (!is_power || (has_words_of(a, b) && has_words_of(b, a)));
}

/*
 * Fills the curve with its points. The first, third, ... place above `beyond` is
 * fitted; repeats of a place stay together. Places up to there are known and teach
 * nothing: they count as fitted, and no form sees them.
 *   places   what they count, for the error: "worker counts"
 */
static enum fulcrum_status read_curve(struct curve *curve, read_point *read,
    const char *places, double beyond, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    size_t first = (size_t)(curve->first - reference->points);
    for (size_t i = first; i < reference->point_count; i++) {
        if (is_same_curve(reference, first, i)) {
            struct reading *reading = &curve->readings[curve->count++];
            *reading = (struct reading){.point = i, .from = &reference->points[i]};
            TRY(read(curve, reading, err));
        }
    }
    qsort(curve->readings, curve->count, sizeof *curve->readings, by_place);
    size_t different = 0;
    for (size_t i = 0; i < curve->count; i++) {
        struct reading *reading = &curve->readings[i];
        bool is_beyond = reading->place > beyond;
        different +=
            is_beyond && (i == 0 || reading->place > curve->readings[i - 1].place);
        reading->is_fitted = !is_beyond || different % 2 == 1;
        if (is_beyond && reading->is_fitted) {
            curve->x[curve->fitted_count] = reading->x;
            curve->y[curve->fitted_count++] = reading->y;
        }
    }
    curve->fitted_places = (different + 1) / 2;
    FAIL_IF(different < LEAST_PLACES, err, FULCRUM_ERR_NO_FIT,
        "reference %s: series \"%s\" from points[%zu] on has %zu different %s, at "
        "least "
        "%d expected",
        reference->name, curve->first->series, first, different, places,
        (int)LEAST_PLACES);
    return FULCRUM_OK;
}

static struct fulcrum_compared *add_prediction(
    const struct curve *curve, const struct reading *reading, double predicted)
{
    struct fulcrum_compared *item = fulcrum_comparison_add(
        curve->out, reading->point, reading->observation, predicted);
    item->is_fitted = reading->is_fitted;
    return item;
}

/* Student's quantile, or where points are too few to tell the noise the normal one. */
static double quantile(double freedom)
{
    return freedom >= 1 ? gsl_cdf_tdist_Qinv(interval_tail, freedom)
                        : gsl_cdf_ugaussian_Qinv(interval_tail);
}

static void set_interval_rel(struct fulcrum_compared *item, double reach)
{
    item->lo = item->predicted * exp(-reach);
    item->hi = item->predicted * exp(reach);
}

/* cpu_curve: environments alone over workers, docs/model.md "CPU curve". */

/*
 * Standard deviation of one published rate. EnvPool's For-loop rows repeat one thread's
 * work at every worker count, and scatter by 1.08, 1.22, 1.46, 1.56, 1.28 and 1.64 % in
 * the six tables: 1.4 % in the quadratic mean. What pipes add to it, nothing repeats.
 */
static const double cpu_noise_rel = 0.014;

/* How workers are coupled, by a word that the name of the series contains. */
struct coupling {
    const char *word;
    bool is_left_out; /* one thread without workers */
    enum fulcrum_actor_coupling coupling;
    enum fulcrum_actor_binding binding;
};

static enum fulcrum_status find_coupling(
    const struct curve *curve, const struct coupling **out, struct fulcrum_error *err)
{
    /* "async" ends in "sync": the order matters. */
    static const struct coupling couplings[] = {
        {"numa", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_PINNED},
        {"async", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_UNPINNED},
        {"Sample-Factory", 0, FULCRUM_ACTORS_ASYNC, FULCRUM_ACTORS_UNPINNED},
        {"sync", 0, FULCRUM_ACTORS_SYNC, FULCRUM_ACTORS_UNPINNED},
        {"Subprocess", 0, FULCRUM_ACTORS_PIPE, FULCRUM_ACTORS_UNPINNED},
        {"pipe", 0, FULCRUM_ACTORS_PIPE, FULCRUM_ACTORS_UNPINNED},
        {"For-loop", 1, FULCRUM_ACTORS_SYNC, FULCRUM_ACTORS_PINNED},
    };
    for (size_t i = 0; i < sizeof couplings / sizeof couplings[0]; i++) {
        if (strstr(curve->first->series, couplings[i].word) != NULL) {
            *out = &couplings[i];
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
        "reference %s: series \"%s\" names no coupling, expected async, sync, pipe, "
        "numa, Sample-Factory, Subprocess or For-loop in it",
        curve->reference->name, curve->first->series);
}

static enum fulcrum_status read_workers(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    static const struct range workers = {1, (double)INFINITY, "at least 1"};
    TRY(read_place(curve, reading, "workers", &workers, err));
    const char *rate = observed_of(reading->from, "frames_per_s");
    return read_observed(curve, reading, rate, "steps_per_s, a rate expected", err);
}

static enum fulcrum_status predict_workers(
    struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_cpu *cpu = &curve->reference->design.machine.cpu;
    const struct coupling *named = NULL;
    struct fulcrum_cpu_curve_fit fit;
    TRY(find_coupling(curve, &named, err));
    if (named->is_left_out) {
        return FULCRUM_OK;
    }
    TRY(read_curve(curve, read_workers, "worker counts", 0, err));
    bool is_noise_known = named->coupling != FULCRUM_ACTORS_PIPE;
    const struct fulcrum_cpu_curve_host host = {.core_count = cpu->core_count,
        .thread_count = cpu->thread_count,
        .socket_count = isnan(cpu->socket_count) ? 1 : cpu->socket_count,
        .coupling = named->coupling,
        .binding = named->binding,
        .noise_rel = is_noise_known ? cpu_noise_rel : 0,
        .is_noise_known = is_noise_known};
    const struct fulcrum_samples samples = {
        curve->first->series, curve->x, curve->y, curve->fitted_count};
    TRY(fulcrum_fit_cpu_curve(&fit, &samples, &host, err));
    /*
     * The covariance and the noise, both as much larger as the points lie further from
     * the form than the noise takes them; Student's quantile, as points are few.
     */
    const struct fulcrum_fit_residuals *residuals = &fit.fit.residuals;
    double freedom = fmax(1, residuals->degrees_of_freedom);
    double spread = residuals->rms_rel * sqrt((double)residuals->count / freedom);
    double excess = fmax(1, spread / fit.fit.noise_rel);
    for (size_t i = 0; i < curve->count; i++) {
        double n = curve->readings[i].x;
        struct fulcrum_compared *item = add_prediction(curve, &curve->readings[i],
            fulcrum_cpu_capacity(&fit.station, n) / fit.step_s);
        double sd =
            excess * hypot(fulcrum_cpu_curve_fit_error_rel(&fit, n), fit.fit.noise_rel);
        set_interval_rel(item, quantile(freedom) * sd);
        /*
         * Every thread is a server of its own: in proportion to the workers from the
         * first point on, until the threads are used up. Without think time, the
         * textbook's station of many servers does just that; so the two small formulas
         * are one.
         */
        double per_worker = curve->y[0] / fmin(curve->x[0], cpu->thread_count);
        item->baseline[FULCRUM_BASELINE_BOUNDS] =
            per_worker * fmin(n, cpu->thread_count);
        item->baseline[FULCRUM_BASELINE_TEXTBOOK] =
            item->baseline[FULCRUM_BASELINE_BOUNDS];
    }
    return FULCRUM_OK;
}

/* gpu_power and server_power: watts over activity, docs/model.md "Power". */

/*
 * No published curve of watts says how many SMs were active. What a GPU gets done in a
 * second stands for it: the same token or step costs about the same arithmetic whenever
 * it is made. A load that was set is taken as it is.
 */

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
static const double power_noise_rel = 0.05;

/* The setting of a share of the load; NULL: what is done in a second stands for it. */
static const char *share_path(const struct fulcrum_reference_point *point)
{
    return fulcrum_reference_find_setting(point, "load_frac") != NULL ? "load_frac"
           : fulcrum_reference_find_setting(point, "gpu_util_frac") != NULL
               ? "gpu_util_frac"
               : NULL;
}

static enum fulcrum_status read_watts(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    static const struct range share = {0, 1, "a share from 0 to 1"};
    bool is_gpu = curve->reference->predictor == FULCRUM_PREDICTOR_GPU_POWER;
    if (share_path(curve->first) == NULL) {
        /* Loads in the order of the first number that is set. */
        size_t load = 0;
        while (load < reading->from->setting_count &&
               !isfinite(reading->from->settings[load].number)) {
            load++;
        }
        const char *rate = observed_of(reading->from, "tokens_per_s");
        FAIL_IF(load == reading->from->setting_count ||
                    fulcrum_observed_find(reading->from, rate) ==
                        reading->from->observation_count,
            err, FULCRUM_ERR_MISSING,
            "reference %s: points[%zu] has no activity, expected set.load_frac, "
            "set.gpu_util_frac, or a number that is set beside an observed "
            "tokens_per_s or steps_per_s",
            curve->reference->name, reading->point);
        TRY(read_observed(curve, reading, rate, "rate", err));
        reading->place = reading->from->settings[load].number;
        reading->x = reading->y;

    } else {
        const char *path = share_path(reading->from);
        TRY(read_place(curve, reading, path != NULL ? path : "load_frac", &share, err));
    }
    return read_observed(curve, reading, is_gpu ? "gpu_w" : "?*_w",
        is_gpu ? "watts, gpu_w expected" : "watts, a quantity that ends in _w expected",
        err);
}

static enum fulcrum_status predict_loads(struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_gpu *gpu = &curve->reference->design.machine.gpu;
    bool is_gpu = curve->reference->predictor == FULCRUM_PREDICTOR_GPU_POWER;
    struct fulcrum_power_options options = {.form = FULCRUM_POWER_AUTO};
    struct fulcrum_power_fit fit;
    TRY(read_curve(curve, read_watts, "loads", -HUGE_VAL, err));
    if (share_path(curve->first) == NULL) {
        /* Shares of the largest rate that the fit sees; more than that is full
         * activity. */
        double most = 0;
        for (size_t i = 0; i < curve->fitted_count; i++) {
            most = fmax(most, curve->x[i]);
        }
        for (size_t i = 0; i < curve->fitted_count; i++) {
            curve->x[i] = fmin(1, curve->x[i] / most);
        }
        for (size_t i = 0; i < curve->count; i++) {
            curve->readings[i].x = fmin(1, curve->readings[i].x / most);
        }
        /* The constant term is the idle draw and a floor of unknown watts. */
        options.least_idle_w = gpu->idle_w > 0 ? gpu->idle_w : 0;
    }
    if (curve->fitted_places < LOADS_FOR_ALPHA) {
        options.alpha = alpha_prior;
        options.alpha_factor = alpha_factor;
        options.noise_rel = power_noise_rel;
    }
    const struct fulcrum_samples samples = {
        curve->reference->name, curve->x, curve->y, curve->fitted_count};
    TRY(fulcrum_fit_power(&fit, &samples, &options, err));
    for (size_t i = 0; i < curve->count; i++) {
        double active = curve->readings[i].x;
        struct fulcrum_compared *item = add_prediction(
            curve, &curve->readings[i], fulcrum_power_fit_w(&fit, active));
        double error_w = fulcrum_power_fit_error_w(&fit, active);
        double reach = quantile(fit.fit.residuals.degrees_of_freedom) *
                       hypot(error_w, fit.fit.noise_rel * item->predicted);
        item->lo = isnan(error_w) ? (double)NAN : fmax(0, item->predicted - reach);
        item->hi = item->predicted + reach;
        /* In proportion to activity between the GPU's idle draw and rated power. */
        if (is_gpu) {
            item->baseline[FULCRUM_BASELINE_BOUNDS] =
                gpu->idle_w + active * (gpu->tdp_w - gpu->idle_w);
        }
    }
    return FULCRUM_OK;
}

/* sm_scaling: docs/model.md "Work on a part of the SMs", (6). */

/*
 * What is tested is the law that the product scales GPU times by. So the share of
 * arithmetic is set in a workload, model/design/scale.h carries the workload over, and
 * the time is read from it: the equation stands there and nowhere else.
 */

/*
 * Standard deviation of one rate. Rates cannot grow faster than SMs by any law; those
 * of matrix products and fine-tuning on slices of an A100 grow by up to 3 % more.
 */
static const double sm_noise_rel = 0.03;

/*
 * Of the arithmetic's share of the time: that of any share between 0 and 1. The share
 * that it starts from is one R2D2 training's; other work has any.
 */
static const double share_sd = 0.29;

/* Above 0, so that a relative step from it is one. */
static const double least_share = 1e-4;

enum { TIME, SHARE, SM_PARAMETERS };

static enum fulcrum_status read_sm_count(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    const struct range counts = {
        1, curve->reference->design.machine.gpu.sm_count, "1 to machine.gpu.sm_count"};
    TRY(read_place(curve, reading, "run.sm_count", &counts, err));
    return read_observed(curve, reading, "*_per_*",
        "rate, a quantity with \"_per_\" in its name expected", err);
}

/* Work per second: a training step takes parameter[TIME] on all SMs. */
static double sm_rate(const double *parameter, double sm_count, const void *context)
{
    const struct fulcrum_design *design = context;
    struct fulcrum_workload workload = design->workload;
    workload.training.train_step_s = parameter[TIME];
    fulcrum_set_math_frac(&workload.network, parameter[SHARE]);
    const struct fulcrum_gpu_scale scale =
        fulcrum_sm_scale(&workload.network, design->machine.gpu.sm_count, sm_count);
    fulcrum_scale_gpu_times(&workload, &scale, 1);
    return 1 / workload.training.train_step_s;
}

/* Relative standard error of a rate that the parameters' covariance leaves. */
static double sm_error_rel(const struct fulcrum_fit_result *fit,
    const struct fulcrum_design *design, double sm_count)
{
    static const double step_rel = 1e-5;
    double slope[SM_PARAMETERS];
    for (size_t i = 0; i < SM_PARAMETERS; i++) {
        double low[] = {fit->parameter[TIME].value, fit->parameter[SHARE].value};
        double high[] = {low[TIME], low[SHARE]};
        low[i] -= step_rel * fit->parameter[i].value;
        high[i] += step_rel * fit->parameter[i].value;
        slope[i] =
            log(sm_rate(high, sm_count, design) / sm_rate(low, sm_count, design)) /
            (high[i] - low[i]);
    }
    return fulcrum_fit_error(fit, slope);
}

static enum fulcrum_status predict_sm_counts(
    struct curve *curve, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &curve->reference->design;
    struct fulcrum_fit_result fit;
    TRY(read_curve(curve, read_sm_count, "numbers of SMs", 0, err));
    const struct fulcrum_fit_parameter parameter[SM_PARAMETERS] = {
        [TIME] = {.name = "time_all_sm",
            .scale = FULCRUM_SCALE_LOG,
            .high = (double)INFINITY,
            .start = 1 / curve->y[curve->fitted_count - 1]},
        [SHARE] = {.name = "math_frac",
            .scale = FULCRUM_SCALE_LINEAR,
            .low = least_share,
            .high = 1,
            .start = fmax(least_share, design->workload.network.math_frac),
            .prior_sd = share_sd},
    };
    const struct fulcrum_fit_problem problem = {
        .points = {curve->first->series, curve->x, curve->y, curve->fitted_count},
        .model = sm_rate,
        .context = design,
        .parameter = parameter,
        .parameter_count = SM_PARAMETERS,
        .noise_rel = sm_noise_rel,
        .loss = FULCRUM_FIT_SQUARES};
    TRY(fulcrum_fit(&fit, &problem, err));
    const double found[] = {fit.parameter[TIME].value, fit.parameter[SHARE].value};
    for (size_t i = 0; i < curve->count; i++) {
        double sm_count = curve->readings[i].x;
        struct fulcrum_compared *item = add_prediction(
            curve, &curve->readings[i], sm_rate(found, sm_count, design));
        set_interval_rel(
            item, quantile((double)fit.residuals.count - SM_PARAMETERS) *
                      hypot(sm_error_rel(&fit, design, sm_count), fit.noise_rel));
        /* In proportion to SMs from the first fitted point. */
        item->baseline[FULCRUM_BASELINE_BOUNDS] = curve->y[0] * sm_count / curve->x[0];
    }
    return FULCRUM_OK;
}

/* node_scaling: docs/model.md "Training on many devices". */

/*
 * Published speed-ups tell neither bytes nor bandwidth nor the step that they are held
 * against, only their ratios. The ring is fitted because it is what large messages take
 * between few machines; the equation stands in model/design/cluster.c and nowhere else.
 * Steps are linear in both parameters, so the fit is one of linear least squares,
 * relative to the observed, over parameters that are not below 0. Two parameters for
 * two fitted points: what they say is judged by the point left out.
 */

/* In units of the step on one machine: V / BW, the gradients' time out of a machine,
 * and alpha, that of one message. */
enum { BYTES, LATENCY, NODE_PARAMETERS };

/* Speed-up of `node_count` machines over one by the ring of (15), weak scaling. */
static double node_speedup(const double *parameter, double node_count)
{
    /* Bytes are never 0, which would be no message at all, and no latency. */
    double byte_per_s = parameter[BYTES] > 0 ? 1 / parameter[BYTES] : (double)INFINITY;
    const struct fulcrum_cluster cluster = {.step_s = 1,
        .batch_size = 1,
        .gradient_byte = 1,
        .update_count = 1,
        .critical_batch_size = (double)INFINITY,
        .link = {.peer_byte_per_s = (double)INFINITY,
            .network_byte_per_s = byte_per_s,
            .network_latency_s = parameter[LATENCY]},
        .allreduce = FULCRUM_ALLREDUCE_RING};
    const struct fulcrum_layout layout = {node_count, 1, 1, 1};
    return fulcrum_cluster_step_of(&cluster, &layout).speedup;
}

static bool counts_gpus(const struct fulcrum_reference_point *point)
{
    return fulcrum_reference_find_setting(point, "gpu_count") != NULL;
}

const char *fulcrum_scaling_setting(const struct fulcrum_reference_point *point)
{
    return counts_gpus(point) ? "gpu_count" : "node_count";
}

static enum fulcrum_status read_speedup(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    static const struct range counts = {1, (double)INFINITY, "a count"};
    const char *setting = fulcrum_scaling_setting(reading->from);
    const char *quantity =
        counts_gpus(reading->from) ? "speedup_over_one_gpu" : "speedup_over_one_node";
    TRY(read_place(curve, reading, setting, &counts, err));
    FAIL_IF(floor(reading->place) < reading->place, err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].set.%s = %.6g, a count expected",
        curve->reference->name, reading->point, setting, reading->place);
    return read_observed(curve, reading, quantity, quantity, err);
}

/* Seconds of a ring of `node_count` machines on one byte, links as given. */
static double ring_s(double node_count, double byte_per_s, double latency_s)
{
    const struct fulcrum_link_level network = {node_count, byte_per_s, latency_s};
    return fulcrum_allreduce_s(FULCRUM_ALLREDUCE_RING, &network, 1, 1);
}

/* The fitted points as a linear problem, relative to what was observed: sums of
 * products of the terms, and of these with what they are to make up for. */
struct terms {
    double square[NODE_PARAMETERS];
    double rest[NODE_PARAMETERS];
    double cross;
};

/* N / speed-up is 1 and so much of each term. */
static struct terms terms_of(const struct curve *curve)
{
    struct terms sum = {.cross = 0.0};
    for (size_t i = 0; i < curve->fitted_count; i++) {
        double observed = curve->x[i] / curve->y[i]; /* step over that of one machine */
        double rest = 1 - 1 / observed;
        const double term[NODE_PARAMETERS] = {
            [BYTES] = ring_s(curve->x[i], 1, 0) / observed,
            [LATENCY] = ring_s(curve->x[i], (double)INFINITY, 1) / observed};
        for (size_t j = 0; j < NODE_PARAMETERS; j++) {
            sum.square[j] += term[j] * term[j];
            sum.rest[j] += term[j] * rest;
        }
        sum.cross += term[BYTES] * term[LATENCY];
    }
    return sum;
}

/* Least squares of two parameters that are not below 0: with both, else with the one
 * that explains more by itself. */
static void solve_terms(const struct terms *sum, double parameter[NODE_PARAMETERS])
{
    double explained = 0.0;
    double determinant =
        sum->square[BYTES] * sum->square[LATENCY] - sum->cross * sum->cross;
    for (size_t j = 0; j < NODE_PARAMETERS; j++) {
        size_t other = NODE_PARAMETERS - 1 - j;
        parameter[j] =
            (sum->square[other] * sum->rest[j] - sum->cross * sum->rest[other]) /
            determinant;
    }
    if (parameter[BYTES] >= 0.0 && parameter[LATENCY] >= 0.0) {
        return;
    }
    memset(parameter, 0, NODE_PARAMETERS * sizeof *parameter);
    for (size_t j = 0; j < NODE_PARAMETERS; j++) {
        double alone = fmax(0.0, sum->rest[j]) / sum->square[j];
        if (alone * sum->rest[j] > explained) {
            explained = alone * sum->rest[j];
            parameter[NODE_PARAMETERS - 1 - j] = 0.0;
            parameter[j] = alone;
        }
    }
}

/* One machine teaches nothing: on one the speed-up is 1 by definition. */
static enum fulcrum_status predict_node_counts(
    struct curve *curve, struct fulcrum_error *err)
{
    double parameter[NODE_PARAMETERS] = {0};
    TRY(read_curve(curve, read_speedup,
        counts_gpus(curve->first) ? "numbers of GPUs above one"
                                  : "numbers of machines above one",
        1, err));
    const struct terms terms = terms_of(curve);
    solve_terms(&terms, parameter);
    for (size_t i = 0; i < curve->count; i++) {
        double count = curve->readings[i].x;
        struct fulcrum_compared *item =
            add_prediction(curve, &curve->readings[i], node_speedup(parameter, count));
        item->baseline[FULCRUM_BASELINE_BOUNDS] = count;
    }
    return FULCRUM_OK;
}

/* decoding: docs/model.md "Agents", (A1). Each point is predicted from all others. */

/* Chosen, as the prior of the exponent, on half of the groups of ML.ENERGY's table. */
static const double decode_noise_rel = 0.05;
static const double active_start = 0.15; /* exponent of SM activity */
static const double active_sd = 0.15;

enum { ACTIVE, ACTIVE_EXPONENT, WATT_PARAMETERS };

/* Watts of one GPU of the instance. */
static double decode_watts(
    const double *parameter, double in_flight, const void *context)
{
    double active = parameter[ACTIVE] * pow(in_flight, parameter[ACTIVE_EXPONENT]);
    return fulcrum_gpu_power(context, fmin(active, 1.0), 1.0);
}

/* What is fitted to one quantity of a curve. */
struct decode_form {
    read_point *read;
    double (*value)(const double *parameter, double in_flight, const void *context);
    size_t parameter_count;
    struct fulcrum_fit_parameter parameter[FULCRUM_DECODE_PARAMETERS];
};

/* The reading `out_of`, from the others of the curve. */
static enum fulcrum_status predict_left_out(struct curve *curve,
    const struct decode_form *form, size_t out_of, struct fulcrum_error *err)
{
    struct fulcrum_fit_result fit;
    size_t count = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (i != out_of) {
            curve->x[count] = curve->readings[i].x;
            curve->y[count++] = curve->readings[i].y;
        }
    }
    const struct fulcrum_fit_problem problem = {
        .points = {curve->first->series, curve->x, curve->y, count},
        .model = form->value,
        .context = &curve->reference->design.machine.gpu,
        .parameter = form->parameter,
        .parameter_count = form->parameter_count,
        .noise_rel = decode_noise_rel,
        .start_count = 3,
        .loss = FULCRUM_FIT_SQUARES};
    TRY(fulcrum_fit(&fit, &problem, err));
    double found[FULCRUM_DECODE_PARAMETERS];
    for (size_t i = 0; i < form->parameter_count; i++) {
        found[i] = fit.parameter[i].value;
    }
    double in_flight = curve->readings[out_of].x;
    double predicted = form->value(found, in_flight, problem.context);
    double slope[FULCRUM_DECODE_PARAMETERS];
    for (size_t i = 0; i < form->parameter_count; i++) {
        double kept = found[i];
        double step = kept > 0.0 ? 1e-4 * kept : 1e-4;
        found[i] = kept + step;
        double changed = form->value(found, in_flight, problem.context);
        slope[i] = log(changed / predicted) / step;
        found[i] = kept;
    }
    struct fulcrum_compared *item =
        add_prediction(curve, &curve->readings[out_of], predicted);
    double error_rel = fulcrum_fit_error(&fit, slope);
    set_interval_rel(
        item, quantile((double)count - (double)form->parameter_count) *
                  hypot(isnan(error_rel) ? 0.0 : error_rel, fit.noise_rel));
    return FULCRUM_OK;
}

static enum fulcrum_status read_in_flight(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    static const struct range numbers = {1, (double)INFINITY, "at least 1"};
    TRY(read_place(curve, reading, "in_flight", &numbers, err));
    return read_observed(curve, reading, "tokens_per_s", "tokens_per_s", err);
}

static enum fulcrum_status read_watts_in_flight(
    const struct curve *curve, struct reading *reading, struct fulcrum_error *err)
{
    TRY(read_in_flight(curve, reading, err));
    return read_observed(curve, reading, "watts_per_gpu", "watts_per_gpu", err);
}

static enum fulcrum_status predict_decoding(
    struct curve *curve, struct fulcrum_error *err)
{
    TRY(read_curve(curve, read_in_flight, "numbers in flight", 0, err));
    const struct reading *last = &curve->readings[curve->count - 1];
    double token_s = curve->readings[0].x / curve->readings[0].y;
    double item_s = 1.0 / last->y;
    const struct fulcrum_fit_parameter active = {.name = "sm_active_frac",
        .scale = FULCRUM_SCALE_LINEAR,
        .low = 1e-3,
        .high = 1.0,
        .start = 0.4,
        .start_step = 0.2};
    const struct fulcrum_fit_parameter active_exponent = {.name = "active_exponent",
        .scale = FULCRUM_SCALE_LINEAR,
        .high = 2.0,
        .start = active_start,
        .prior_sd = active_sd};
    struct decode_form forms[] = {
        {read_in_flight, fulcrum_decode_rate, FULCRUM_DECODE_PARAMETERS, {{NULL}}},
        {read_watts_in_flight, decode_watts, WATT_PARAMETERS,
            {active, active_exponent}}};
    fulcrum_decode_parameters(forms->parameter, token_s, item_s);
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        curve->count = 0;
        curve->fitted_count = 0;
        TRY(read_curve(curve, forms[k].read, "numbers in flight", 0, err));
        for (size_t i = 0; i < curve->count; i++) {
            curve->readings[i].is_fitted = false;
            TRY(predict_left_out(curve, &forms[k], i, err));
        }
    }
    return FULCRUM_OK;
}

struct curve_kind {
    const char *needed[2]; /* fields of the design */
    enum fulcrum_status (*predict)(struct curve *curve, struct fulcrum_error *err);
};

static const struct curve_kind curve_kinds[FULCRUM_PREDICTOR_COUNT] = {
    [FULCRUM_PREDICTOR_CPU_CURVE] = {{"machine.cpu.core_count",
                                         "machine.cpu.thread_count"},
        predict_workers},
    [FULCRUM_PREDICTOR_GPU_POWER] = {{NULL}, predict_loads},
    [FULCRUM_PREDICTOR_SERVER_POWER] = {{NULL}, predict_loads},
    [FULCRUM_PREDICTOR_SM_SCALING] = {{"machine.gpu.sm_count"}, predict_sm_counts},
    [FULCRUM_PREDICTOR_NODE_SCALING] = {{NULL}, predict_node_counts},
    [FULCRUM_PREDICTOR_DECODING] = {{"machine.gpu.idle_w", "machine.gpu.dynamic_w"},
        predict_decoding},
};

enum fulcrum_status fulcrum_predict_curves(
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = out->reference;
    const struct curve_kind *kind = &curve_kinds[reference->predictor];
    size_t most = reference->point_count;
    FAIL_IF(most == 0, err, FULCRUM_ERR_NO_FIT,
        "reference %s: points is empty, curves expected", reference->name);
    for (size_t i = 0; i < 2 && kind->needed[i] != NULL; i++) {
        const struct fulcrum_field *field = fulcrum_field_find(kind->needed[i]);
        FAIL_IF(isnan(fulcrum_field_number(field, &reference->design)), err,
            FULCRUM_ERR_MISSING, "reference %s: %s is missing, a count expected",
            reference->name, field->path);
    }
    struct curve curve = {.reference = reference,
        .out = out,
        .readings = calloc(most, sizeof *curve.readings),
        .x = calloc(most, sizeof *curve.x),
        .y = calloc(most, sizeof *curve.y)};
    enum fulcrum_status status = FULCRUM_OK;
    if (curve.readings == NULL || curve.x == NULL || curve.y == NULL) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for %zu points of reference %s", most, reference->name));
    }
    for (size_t i = 0; i < most; i++) {
        size_t first = 0; /* of its curve */
        while (first < i && !is_same_curve(reference, first, i)) {
            first++;
        }
        if (first == i) {
            curve.first = &reference->points[i];
            curve.count = 0;
            curve.fitted_count = 0;
            TRY_OR_END(kind->predict(&curve, err));
        }
    }
end:
    free(curve.readings);
    free(curve.x);
    free(curve.y);
    return status;
}
