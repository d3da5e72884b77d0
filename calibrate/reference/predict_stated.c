/* predict_stated.c - references predicted from what is stated, with nothing fitted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* fnmatch */
#include <fnmatch.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/validation.h"
#include "model/design/memory_system.h"
#include "model/number.h"
#include "model/predict/partition.h"
#include "model/predict/to_network.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* server_prior: watts from a machine's priors. */

/*
 * Two loads of a server leave nothing to predict once they are fitted. But they can
 * judge what the presets say of watts where nobody measured: the equation is the
 * product's own, model/predict/to_network.h, at a load that is set instead of solved
 * for.
 */

/* The fields of (13), and what they follow from where they are not given. */
static const char *const drawn[] = {"machine.cpu.idle_w", "machine.cpu.core_idle_w",
    "machine.cpu.core_dynamic_w", "machine.cpu.smt_power_frac", "machine.rest_w",
    "machine.psu_efficiency_frac", "machine.cpu.core_tdp_w",
    "machine.cpu.idle_tdp_frac", "machine.cpu.load_tdp_frac", "machine.rest_tdp_frac"};
enum { NEEDED = 6 };

enum { DRAWN = sizeof drawn / sizeof drawn[0], DRAWS = 2000 };

/* What each draw multiplies each field by; the same for all points. */
struct draws {
    bool is_known;
    double factor[DRAWS][DRAWN];
};

/* By a preset's spreads; a machine within the reference has none. */
static enum fulcrum_status draw_factors(const struct fulcrum_reference *reference,
    struct draws *out, struct fulcrum_error *err)
{
    struct fulcrum_sources sources = {.count = 0};
    struct fulcrum_design design;
    double spread[DRAWN];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    TRY_MEMORY(rng, err, "no memory to draw watts");
    fulcrum_design_init(&design);
    enum fulcrum_status status =
        fulcrum_machine_load(reference->machine, &design, &sources, err);
    out->is_known = status == FULCRUM_OK;
    for (size_t j = 0; j < DRAWN && out->is_known; j++) {
        const struct fulcrum_source *source = fulcrum_sources_find(&sources, drawn[j]);
        spread[j] = source != NULL && source->is_prior ? source->spread_factor : 1;
    }
    for (size_t i = 0; i < DRAWS && out->is_known; i++) {
        for (size_t j = 0; j < DRAWN; j++) {
            out->factor[i][j] = exp(gsl_ran_ugaussian(rng) * log(spread[j]));
        }
    }
    fulcrum_sources_free(&sources);
    gsl_rng_free(rng);
    return status == FULCRUM_ERR_UNKNOWN_NAME ? FULCRUM_OK : status;
}

static double server_w(const struct fulcrum_design *given, double load_frac)
{
    struct fulcrum_design filled = *given;
    const struct fulcrum_design *design = &filled;
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    fulcrum_machine_fill_watts(&filled.machine);
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

/*
 * The point's load, and the machine with what the point sets of it. Words and
 * conditions of the source that are no field change nothing.
 */
static enum fulcrum_status read_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_design *design, double *load_frac,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    *load_frac = (double)NAN;
    *design = reference->design;
    for (size_t i = 0; i < from->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &from->settings[i];
        const struct fulcrum_field *field = fulcrum_field_find(setting->path);
        if (strcmp(setting->path, "load_frac") == 0) {
            *load_frac = setting->number;
        } else if (field != NULL && setting->text[0] == '\0') {
            TRY(fulcrum_field_set_number(field, design, setting->number, err));
        }
    }
    FAIL_IF(!(*load_frac >= 0 && *load_frac <= 1), err,
        isnan(*load_frac) ? FULCRUM_ERR_MISSING : FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].set.load_frac = %.6g, a share from 0 to 1 expected",
        reference->name, point, *load_frac);
    FAIL_IF(isnan(cpu->core_count) || isnan(cpu->thread_count), err,
        FULCRUM_ERR_MISSING,
        "reference %s: points[%zu] has no machine.cpu.core_count or no "
        "machine.cpu.thread_count, counts expected in its settings or the machine",
        reference->name, point);
    return FULCRUM_OK;
}

/* Multiplies what is known of a machine, but for what the point says. */
static void vary(const struct fulcrum_reference_point *point,
    const double factor[DRAWN], struct fulcrum_design *design)
{
    for (size_t j = 0; j < DRAWN; j++) {
        const struct fulcrum_field *field = fulcrum_field_find(drawn[j]);
        double value = fulcrum_field_number(field, design) * factor[j];
        if (!isnan(value) && fulcrum_reference_find_setting(point, drawn[j]) == NULL) {
            value = fmin(fmax(value, field->least), field->most);
            memcpy((char *)design + field->offset, &value, sizeof value);
        }
    }
}

static enum fulcrum_status predict_server(const struct draws *draws, size_t point,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = out->reference;
    size_t i = fulcrum_observed_find(&reference->points[point], "server_w");
    struct fulcrum_design design;
    double load_frac = 0;
    TRY(read_settings(reference, point, &design, &load_frac, err));
    TRY(fulcrum_observed_check(reference, point, i, "server_w, watts expected", err));
    struct fulcrum_compared *item =
        fulcrum_comparison_add(out, point, i, server_w(&design, load_frac));
    if (draws->is_known) {
        double watts[DRAWS];
        for (size_t k = 0; k < DRAWS; k++) {
            struct fulcrum_design one = design;
            vary(&reference->points[point], draws->factor[k], &one);
            watts[k] = server_w(&one, load_frac);
        }
        const struct fulcrum_interval interval = fulcrum_interval_of(watts, DRAWS);
        item->predicted = interval.median;
        item->lo = interval.lo;
        item->hi = interval.hi;
    }
    item->is_fitted =
        fulcrum_reference_find_setting(&reference->points[point], "is_fitted") != NULL;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_watts(
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = out->reference;
    const struct fulcrum_design *design = &reference->design;
    struct draws draws;
    FAIL_IF(design->machine.accelerator != FULCRUM_ACCELERATOR_CPU, err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: machine.accelerator = gpu, cpu expected", reference->name);
    struct fulcrum_design filled = *design;
    /* Counts may come with the points. */
    filled.machine.cpu.core_count = fmax(filled.machine.cpu.core_count, 1.0);
    fulcrum_machine_fill_watts(&filled.machine);
    for (size_t i = 0; i < NEEDED; i++) {
        FAIL_IF(isnan(fulcrum_field_number(fulcrum_field_find(drawn[i]), &filled)), err,
            FULCRUM_ERR_MISSING, "reference %s: %s is missing, expected in its machine",
            reference->name, drawn[i]);
    }
    TRY(draw_factors(reference, &draws, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        TRY(predict_server(&draws, i, out, err));
    }
    return FULCRUM_OK;
}

/* memory_gain: caches and bandwidth. */

/* The usual exponent, and the ends of those that Hartstein et al. 2006 find. */
static const double usual_exponent = 0.5;
static const double end_exponents[] = {0.3, 0.7};

/* A point's change, as far as it sets one. */
static bool read_change(
    const struct fulcrum_reference_point *point, struct fulcrum_memory_change *out)
{
    const struct fulcrum_reference_setting *cache =
        fulcrum_reference_find_setting(point, "cache_rel");
    const struct fulcrum_reference_setting *bandwidth =
        fulcrum_reference_find_setting(point, "bandwidth_rel");
    if (cache == NULL || bandwidth == NULL) {
        return 0;
    }
    *out = (struct fulcrum_memory_change){
        .cache_rel = cache->number, .bandwidth_rel = bandwidth->number};
    return 1;
}

/* Rates add up, so that so many fewer GPUs do the same. */
static bool is_fewer(const char *quantity)
{
    return strcmp(quantity, "fewer_gpus_frac") == 0;
}

/* The first gain of a series, with the change that has it. */
struct family {
    struct fulcrum_memory_change change;
    size_t point;
    size_t observation;
};

static bool find_family(
    const struct fulcrum_reference *reference, const char *series, struct family *out)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        size_t k = fulcrum_observed_find(point, "*_gain_frac");
        if (strcmp(point->series, series) == 0 && k < point->observation_count &&
            read_change(point, &out->change)) {
            out->change.gain_frac = point->observations[k].value;
            out->point = i;
            out->observation = k;
            return 1;
        }
    }
    return 0;
}

/* A quantity at another change of the member with this exponent; NAN: there is none. */
static double quantity_at(const struct family *family,
    const struct fulcrum_memory_change *change, double exponent, const char *quantity)
{
    bool is_same = fabs(family->change.cache_rel - change->cache_rel) <=
                       1e-9 * family->change.cache_rel &&
                   fabs(family->change.bandwidth_rel - change->bandwidth_rel) <=
                       1e-9 * family->change.bandwidth_rel;
    double gain =
        is_same ? family->change.gain_frac
                : fulcrum_memory_gain_frac(change,
                      fulcrum_memory_dram_frac(&family->change, exponent), exponent);
    return is_fewer(quantity) ? gain / (1.0 + gain) : gain;
}

static enum fulcrum_status predict_change(
    size_t index, struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = out->reference;
    const struct fulcrum_reference_point *point = &reference->points[index];
    struct fulcrum_memory_change change;
    struct family family;
    if (!read_change(point, &change) ||
        !find_family(reference, point->series, &family)) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_memory_change_check(&family.change, err);
    if (status == FULCRUM_OK &&
        isnan(fulcrum_memory_dram_frac(&family.change, usual_exponent))) {
        status = fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "no share meets a gain of %.6g at an exponent of %.2g",
            family.change.gain_frac, usual_exponent);
    }
    TRY(status == FULCRUM_OK ? FULCRUM_OK
                             : fulcrum_fail_in(err, status, reference->name));
    for (size_t k = 0; k < point->observation_count; k++) {
        const char *quantity = point->observations[k].quantity;
        /* That the family's own gain is met is an identity. */
        if ((index == family.point && k == family.observation) ||
            !(fnmatch("*_gain_frac", quantity, 0) == 0 || is_fewer(quantity))) {
            continue;
        }
        TRY(fulcrum_observed_check(reference, index, k, quantity, err));
        struct fulcrum_compared *item = fulcrum_comparison_add(
            out, index, k, quantity_at(&family, &change, usual_exponent, quantity));
        double a = quantity_at(&family, &change, end_exponents[0], quantity);
        double b = quantity_at(&family, &change, end_exponents[1], quantity);
        /* At the same change every member of the family says the same. */
        item->lo = a < b || a > b ? fmin(a, b) : (double)NAN;
        item->hi = a < b || a > b ? fmax(a, b) : (double)NAN;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_memory(
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    for (size_t i = 0; i < out->reference->point_count; i++) {
        TRY(predict_change(i, out, err));
    }
    FAIL_IF(out->count == 0, err, FULCRUM_ERR_MISSING,
        "reference %s: no point sets cache_rel and bandwidth_rel and observes a "
        "gain, such as training_gain_frac, beside the first of its series",
        out->reference->name);
    return FULCRUM_OK;
}

/* gpu_parts: gains of processes on parts of a GPU. */

/*
 * The law is model/predict/partition.h's: a stage that keeps a share u of the SMs busy
 * for a time T has u T of work that goes with its share of the SMs, and (1 - u) T that
 * no share shortens. Ratios of T and u are published, one absolute u is not. It is read
 * from one pair of published numbers: work per second and utilisation rise together,
 * so that their ratio is the utilisation alone, whatever the number of instances.
 */

/* Instances that a GPU can be cut into: 7 compute slices. */
static const double most_instances = 7.0;

/* What a publication states of simulation s, agent a and training t: times alone on a
 * GPU, SMs that they keep busy meanwhile, and what it costs not to be alone. */
enum stated { TIME_AGENT, TIME_TRAINING, SM_AGENT, SM_TRAINING, LAUNCH, TALK, STATED };

static enum fulcrum_status read_stated(const struct fulcrum_reference *reference,
    const char *quantity, double *out, struct fulcrum_error *err)
{
    FAIL_IF(!(reference->point_count > 0), err, FULCRUM_ERR_MISSING,
        "reference %s: points is empty, one point expected", reference->name);
    const struct fulcrum_reference_point *point = &reference->points[0];
    size_t i = fulcrum_observed_find(point, quantity);
    FAIL_IF(i == point->observation_count || !(point->observations[i].value > 0.0), err,
        FULCRUM_ERR_MISSING,
        "reference %s: points[0].observed.%s is missing, a number above 0 expected",
        reference->name, quantity);
    *out = point->observations[i].value;
    return FULCRUM_OK;
}

static void add_stage(
    struct fulcrum_gpu_loop *loop, const char *name, double time_s, double busy_frac)
{
    struct fulcrum_gpu_stage *stage = &loop->stages[loop->count++];
    *stage = (struct fulcrum_gpu_stage){
        .per_round = {
            .latency_s = time_s * (1.0 - busy_frac), .sm_s = time_s * busy_frac}};
    (void)snprintf(stage->name, sizeof stage->name, "%s", name);
}

/*
 * One round of serving (simulation and agent) or of training, where simulation takes 1
 * second and `busy_frac` of the SMs, by whole loops with environments of their own on
 * equal shares of the SMs.
 *   utilisation  the share of the SMs that a loop alone keeps busy
 * Returns the gain over one loop alone.
 */
static double parts_gain(
    const double stated[STATED], double busy_frac, bool trains, double *utilisation)
{
    struct fulcrum_gpu_loop loop = {.steps = 1.0, .memory_byte = (double)INFINITY};
    struct fulcrum_placed alone;
    struct fulcrum_placed placed;
    const struct fulcrum_gpu_sharing sharing = {.byte_per_s = (double)INFINITY,
        .overhead_frac =
            (1.0 + stated[LAUNCH]) * (1.0 + (trains ? stated[TALK] : 0.0)) - 1.0,
        .envs_each = 1};
    add_stage(&loop, "simulation", 1.0, busy_frac);
    add_stage(&loop, "agent", 1.0 / stated[TIME_AGENT], busy_frac / stated[SM_AGENT]);
    if (trains) {
        add_stage(&loop, "training", 1.0 / stated[TIME_TRAINING],
            busy_frac / stated[SM_TRAINING]);
    }
    const struct fulcrum_grouping whole = {
        1, {{(1U << loop.count) - 1U, most_instances, 0.0}}};
    fulcrum_place_exclusive(&loop, &alone);
    *utilisation = alone.sm_work_frac;
    /* Memory is all that placements fail by, and of that there is no end. */
    return fulcrum_place_shares(&loop, &sharing, &whole, &placed, NULL) == FULCRUM_OK
               ? placed.rounds_per_s / alone.rounds_per_s
               : FULCRUM_UNKNOWN;
}

enum fulcrum_status fulcrum_predict_parts(
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    static const char *const names[STATED] = {[TIME_AGENT] = "t_s_over_t_a",
        [TIME_TRAINING] = "t_s_over_t_t",
        [SM_AGENT] = "r_s_over_r_a",
        [SM_TRAINING] = "r_s_over_r_t",
        [LAUNCH] = "kernel_launch_overhead_frac",
        [TALK] = "communication_overhead_frac"};
    static const struct {
        const char *quantity;
        bool trains;
        bool is_utilisation; /* that is gained, rather than work per second */
    } rows[] = {
        {"serving_speedup_most", 0, 0},
        {"training_over_nccl_most", 1, 0},
        {"training_over_horovod_most", 1, 0},
        {"serving_gpu_util_gain_most_frac", 0, 1},
        {"training_gpu_util_gain_most_frac", 1, 1},
    };
    const struct fulcrum_reference *reference = out->reference;
    double stated[STATED];
    for (size_t i = 0; i < STATED; i++) {
        TRY(read_stated(reference, names[i], &stated[i], err));
    }
    /* gain - 1 times the utilisation alone is what utilisation gains. */
    double mean = 0.0;
    double more = 0.0;
    double utilisation = 0.0;
    TRY(read_stated(reference, "serving_speedup_mean", &mean, err));
    TRY(read_stated(reference, "serving_gpu_util_gain_mean_frac", &more, err));
    (void)parts_gain(stated, 1.0, 0, &utilisation);
    double busy = more / (mean - 1.0) / utilisation;
    FAIL_IF(!(busy > 0.0 && busy <= 1.0), err, FULCRUM_ERR_RANGE,
        "reference %s: a gain of %.4g beside %.4g more utilisation would keep %.4g "
        "of the SMs busy: expected at most 1",
        reference->name, mean, more, busy);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t k = fulcrum_observed_find(&reference->points[0], rows[i].quantity);
        if (k == reference->points[0].observation_count) {
            continue;
        }
        double alone = 0.0;
        double gain = parts_gain(stated, busy, rows[i].trains, &alone);
        struct fulcrum_compared *item = fulcrum_comparison_add(
            out, 0, k, rows[i].is_utilisation ? (gain - 1.0) * alone : gain);
        /* Of any number of instances, without overhead. */
        item->baseline[FULCRUM_BASELINE_BOUNDS] =
            rows[i].is_utilisation ? 1.0 - alone : 1.0 / alone;
    }
    return FULCRUM_OK;
}
