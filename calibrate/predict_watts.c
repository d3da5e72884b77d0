/* predict_watts.c - references of kind server_prior: watts from a machine's priors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two loads of a server leave nothing to predict once they are fitted. But they can
 * judge what the presets say of watts where nobody measured: the equation is the
 * product's own, model/power.h, at a load that is set instead of solved for.
 */
#include "calibrate/predict_watts.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "model/power.h"
#include "model/try.h"
#include "presets/preset.h"

static const double interval_tail = 0.05;

/* The fields of (13). */
static const char *const drawn[] = {"machine.cpu.idle_w", "machine.cpu.core_idle_w",
    "machine.cpu.core_dynamic_w", "machine.cpu.smt_power_frac", "machine.rest_w",
    "machine.psu_efficiency_frac"};

enum { DRAWN = sizeof drawn / sizeof drawn[0], DRAWS = 2000 };

/* What each draw multiplies each field by; the same for all points. */
struct draws {
    int is_known;
    double factor[DRAWS][DRAWN];
};

static enum fulcrum_status check_machine(
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &reference->design;
    if (design->machine.accelerator != FULCRUM_ACCELERATOR_CPU) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "reference %s: machine.accelerator = gpu, cpu expected", reference->name);
    }
    for (size_t i = 0; i < DRAWN; i++) {
        if (isnan(fulcrum_field_number(fulcrum_field_find(drawn[i]), design))) {
            return fulcrum_fail(err, FULCRUM_ERR_MISSING,
                "reference %s: %s is missing, expected in its machine", reference->name,
                drawn[i]);
        }
    }
    return FULCRUM_OK;
}

/* A preset's spreads; a machine within the reference has none. */
static enum fulcrum_status find_spreads(const struct fulcrum_reference *reference,
    double spread[DRAWN], int *is_known, struct fulcrum_error *err)
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
    if (rng == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory to draw watts");
    }
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
    const struct fulcrum_shards shards = {.count = 1,
        .node_count = 1,
        .network = {.cpu = {
                        .core_count = cpu->core_count,
                        .thread_count = cpu->thread_count,
                    }}};
    const struct fulcrum_solution solution = {
        .cpu_thread_busy_frac = load_frac, .cpu_core_busy_frac = load_frac};
    return fulcrum_power_of(design, &shards, &solution).system_w;
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

static void add_interval(struct fulcrum_compared *item, const struct draws *draws,
    const struct fulcrum_design *design, double load_frac)
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
    if (isnan(cpu->core_count) || isnan(cpu->thread_count)) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: points[%zu] has no machine.cpu.core_count or no "
            "machine.cpu.thread_count, counts expected in its settings or the machine",
            reference->name, point);
    }
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
    add_interval(item, draws, &design, load_frac);
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
