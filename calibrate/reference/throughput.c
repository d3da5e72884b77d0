/* throughput.c - what the network model says of references of throughput, and what is
 * shown beside it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several references may ask for the same design point (40 actors as the end of one
 * ratio and the start of the next), so points are listed first and figures refer to
 * them. Each thread has a predictor of each scenario; what they share is not written to
 * while they work.
 */
#include "calibrate/reference/throughput.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/posterior.h"
#include "calibrate/reference/validation.h"
#include "model/fast/steady.h"
#include "model/number.h"
#include "model/predict/predict.h"
#include "model/predict/to_network.h"
#include "model/try.h"
#include "presets/load/preset.h"

enum { PATHS_MOST = 24 };

enum measure {
    RATE,
    SPEEDUP,
    RUNTIME_REL,
    CPU_W,
    GPU_W,
    TRAIN_PERIOD,
    TRAIN_BUSY,
    MEASURES
};

static const char *const quantities[MEASURES] = {"steps_per_s", "speedup",
    "runtime_rel", "cpu_w", "gpu_w", "train_period_s", "gpu_train_busy_frac"};

struct place {
    size_t reference; /* whose design it stands on */
    size_t setting_count;
    struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
    double factor; /* of its rate: what a simulation makes of it */
};

struct solved {
    double steps_per_s;
    double cpu_w;
    double gpu_w;
    double train_period_s;
    double gpu_train_busy_frac;
};

struct context {
    struct fulcrum_throughput *model;
    struct fulcrum_predictor *
        *predictors;       /* one per reference; borrowed, as the next */
    struct solved *solved; /* one per place */
};

struct fulcrum_throughput {
    struct fulcrum_throughput_plan plan;
    const struct fulcrum_field *fields[PATHS_MOST];
    struct fulcrum_scenario **scenarios; /* one per reference */
    struct place *places;
    size_t place_count;
    struct fulcrum_figure *figures;
    size_t figure_count;
    struct context *own; /* one per thread, as the next three */
    void **contexts;     /* places of those */
    struct fulcrum_predictor **predictors;
    struct solved *solved;
};

static bool has_same_settings(const struct place *a, const struct place *b)
{
    bool is_same = a->setting_count == b->setting_count;
    for (size_t i = 0; is_same && i < a->setting_count; i++) {
        const struct fulcrum_setting *x = &a->settings[i];
        const struct fulcrum_setting *y = &b->settings[i];
        bool has_text = x->text != NULL && y->text != NULL;
        is_same = x->field == y->field && !(fabs(x->number - y->number) > 0.0) &&
                  (has_text ? strcmp(x->text, y->text) == 0 : x->text == y->text);
    }
    return is_same;
}

/* Whether a point means the same in both; names do not matter. */
static bool has_same_design(
    const struct fulcrum_reference *a, const struct fulcrum_reference *b)
{
    size_t count = 0;
    bool is_same = 1;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; a != b && is_same && i < count; i++) {
        double x = fulcrum_field_number(&fields[i], &a->design);
        double y = fulcrum_field_number(&fields[i], &b->design);
        is_same =
            fields[i].kind == FULCRUM_FIELD_TEXT || x == y || (isnan(x) && isnan(y));
    }
    return is_same;
}

/* The place of a point, which is new or has been asked for before. */
static enum fulcrum_status find_place(struct fulcrum_throughput *model,
    size_t reference, size_t point, size_t *out, struct fulcrum_error *err)
{
    const struct fulcrum_reference *const *references = model->plan.references;
    struct place place = {.reference = reference, .factor = 1.0};
    TRY(fulcrum_point_settings(
        references[reference], point, place.settings, &place.setting_count, err));
    size_t i = 0;
    while (i < model->place_count &&
           !(has_same_settings(&model->places[i], &place) &&
               has_same_design(
                   references[model->places[i].reference], references[reference]))) {
        i++;
    }
    if (i == model->place_count) {
        model->places[model->place_count++] = place;
    }
    *out = i;
    return FULCRUM_OK;
}

/* Whether the machine, a calibration that holds for it or the plan gives a field. */
static bool is_given(const struct fulcrum_throughput_plan *plan,
    const struct fulcrum_design *design, const char *path)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    bool is_found = !isnan(fulcrum_field_number(field, design));
    for (size_t i = 0; i < plan->calibration_count && !is_found; i++) {
        const struct fulcrum_calibration *calibration = plan->calibrations[i];
        is_found = fulcrum_calibration_parameter(calibration, path) != NULL &&
                   fulcrum_calibration_holds(calibration, &design->machine, path);
    }
    for (size_t i = 0; i < plan->path_count && !is_found; i++) {
        is_found = strcmp(plan->paths[i], path) == 0;
    }
    for (size_t i = 0; i < plan->setting_count && !is_found; i++) {
        is_found = plan->settings[i].field == field;
    }
    return is_found;
}

/* Watts that nothing gives are not predicted: (12) and (13) need all their fields. */
static bool knows_watts(const struct fulcrum_throughput_plan *plan,
    const struct fulcrum_design *design, const char *quantity)
{
    static const char *const needed[2][3] = {
        {"machine.cpu.idle_w", "machine.cpu.core_idle_w", "machine.cpu.core_dynamic_w"},
        {"machine.gpu.idle_w", "machine.gpu.floor_w", "machine.gpu.dynamic_w"}};
    bool is_gpu = strcmp(quantity, "gpu_w") == 0;
    if (!is_gpu && strcmp(quantity, "cpu_w") != 0) {
        return 1;
    }
    bool follow = !is_gpu && is_given(plan, design, "machine.cpu.core_tdp_w") &&
                  is_given(plan, design, "machine.cpu.idle_tdp_frac") &&
                  is_given(plan, design, "machine.cpu.load_tdp_frac");
    for (size_t i = 0; i < 3 && !follow; i++) {
        if (!is_given(plan, design, needed[is_gpu][i])) {
            return 0;
        }
    }
    return !is_gpu || design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
}

static enum fulcrum_status add_figure(struct fulcrum_throughput *model,
    size_t reference, size_t point, size_t observation, struct fulcrum_error *err)
{
    const struct fulcrum_reference *from = model->plan.references[reference];
    const struct fulcrum_observation *seen =
        &from->points[point].observations[observation];
    struct fulcrum_figure figure = {.reference = reference,
        .point = point,
        .observation = observation,
        .value = seen->value,
        .half_width = seen->half_width};
    if (!knows_watts(&model->plan, &from->design, seen->quantity)) {
        return FULCRUM_OK;
    }
    size_t i = 0;
    while (i < MEASURES && strcmp(quantities[i], seen->quantity) != 0) {
        i++;
    }
    FAIL_IF(i == MEASURES, err, FULCRUM_ERR_UNSUPPORTED,
        "%s: nothing predicts '%s' (expected steps_per_s, speedup, runtime_rel, "
        "cpu_w, gpu_w, train_period_s or gpu_train_busy_frac)",
        from->name, seen->quantity);
    figure.measure = (int)i;
    FAIL_IF((figure.measure == SPEEDUP || figure.measure == RUNTIME_REL) &&
                !from->is_relative,
        err, FULCRUM_ERR_MISSING,
        "%s: %s needs relative_to, the point that it refers to", from->name,
        seen->quantity);

    FAIL_IF(!(seen->value > 0.0), err, FULCRUM_ERR_RANGE,
        "reference %s: points[%zu].observed.%s = %.6g, above 0 expected", from->name,
        from->points[point].index, seen->quantity, seen->value);
    TRY(find_place(model, reference, point, &figure.place, err));
    if (from->is_relative) {
        TRY(find_place(model, reference, from->relative_to, &figure.relative_to, err));
    }
    model->figures[model->figure_count++] = figure;
    return FULCRUM_OK;
}

/* Finds the fields, and makes room for the most figures, and the most places: each
 * observation has one, and each reference one more that the others may refer to. */
static enum fulcrum_status begin_figures(
    struct fulcrum_throughput *model, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan *plan = &model->plan;
    FAIL_IF(plan->path_count > PATHS_MOST, err, FULCRUM_ERR_RANGE,
        "%zu parameters to fit: expected at most %d", plan->path_count,
        (int)PATHS_MOST);
    for (size_t i = 0; i < plan->path_count; i++) {
        const struct fulcrum_field *field = fulcrum_field_find(plan->paths[i]);
        bool is_number = field != NULL && (field->kind == FULCRUM_FIELD_NUMBER ||
                                              field->kind == FULCRUM_FIELD_COUNT);
        FAIL_IF(!is_number, err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: expected a field of a design that is a number", plan->paths[i]);
        model->fields[i] = field;
    }
    size_t references = plan->reference_count > 0 ? plan->reference_count : 1;
    size_t most = 1;
    for (size_t r = 0; r < plan->reference_count; r++) {
        most++;
        for (size_t p = 0; p < plan->references[r]->point_count; p++) {
            most += plan->references[r]->points[p].observation_count;
        }
    }
    model->scenarios = calloc(references, sizeof(struct fulcrum_scenario *));
    model->places = calloc(most, sizeof *model->places);
    model->figures = calloc(most, sizeof *model->figures);
    model->own = calloc(plan->thread_count, sizeof *model->own);
    model->contexts = calloc(plan->thread_count, sizeof(void *));
    model->predictors =
        calloc(plan->thread_count * references, sizeof(struct fulcrum_predictor *));
    model->solved = calloc(plan->thread_count * most, sizeof *model->solved);
    FAIL_IF(model->scenarios == NULL || model->places == NULL ||
                model->figures == NULL || model->own == NULL ||
                model->contexts == NULL || model->predictors == NULL ||
                model->solved == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "no memory for references");
    for (size_t i = 0; i < plan->thread_count; i++) {
        model->own[i] = (struct context){
            model, model->predictors + i * references, model->solved + i * most};
        model->contexts[i] = &model->own[i];
    }
    return FULCRUM_OK;
}

static enum fulcrum_status make_predictors(
    struct fulcrum_throughput *model, size_t reference, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan *plan = &model->plan;
    const struct fulcrum_scenario_inputs inputs = {
        .base = &plan->references[reference]->design,
        .calibrations = plan->calibrations,
        .calibration_count = plan->calibration_count,
        .settings = plan->settings,
        .setting_count = plan->setting_count};
    enum fulcrum_status status =
        fulcrum_scenario_new(&inputs, &model->scenarios[reference], err);
    for (size_t i = 0; i < plan->thread_count && status == FULCRUM_OK; i++) {
        status = fulcrum_predictor_new(
            model->scenarios[reference], &model->own[i].predictors[reference], err);
    }
    return status == FULCRUM_OK
               ? status
               : fulcrum_fail_in(err, status, plan->references[reference]->name);
}

enum fulcrum_status fulcrum_throughput_new(const struct fulcrum_throughput_plan *plan,
    struct fulcrum_throughput **out, struct fulcrum_error *err)
{
    struct fulcrum_throughput *model = calloc(1, sizeof *model);
    TRY_MEMORY(model, err, "no memory for references");
    model->plan = *plan;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(begin_figures(model, err));
    for (size_t r = 0; r < plan->reference_count; r++) {
        const struct fulcrum_reference *from = model->plan.references[r];
        for (size_t p = 0; p < from->point_count; p++) {
            bool is_base = from->is_relative && p == from->relative_to;
            size_t count = is_base ? 0 : from->points[p].observation_count;
            for (size_t i = 0; i < count; i++) {
                TRY_OR_END(add_figure(model, r, p, i, err));
            }
        }
    }
    for (size_t r = 0; r < plan->reference_count; r++) {
        TRY_OR_END(make_predictors(model, r, err));
    }
    *out = model;
    return FULCRUM_OK;
end:
    fulcrum_throughput_free(model);
    return status;
}

void fulcrum_throughput_free(struct fulcrum_throughput *model)
{
    if (model == NULL) {
        return;
    }
    size_t references = model->plan.reference_count;
    size_t predictors = model->plan.thread_count * references;
    for (size_t i = 0; model->predictors != NULL && i < predictors; i++) {
        fulcrum_predictor_free(model->predictors[i]);
    }
    for (size_t r = 0; model->scenarios != NULL && r < references; r++) {
        fulcrum_scenario_free(model->scenarios[r]);
    }
    free((void *)model->scenarios);
    free(model->places);
    free(model->figures);
    free(model->own);
    free((void *)model->contexts);
    free((void *)model->predictors);
    free(model->solved);
    free(model);
}

const struct fulcrum_figure *fulcrum_throughput_figures(
    const struct fulcrum_throughput *model, size_t *count)
{
    *count = model->figure_count;
    return model->figures;
}

void *const *fulcrum_throughput_contexts(const struct fulcrum_throughput *model)
{
    return model->contexts;
}

struct trial {
    const double *parameter;
    struct fulcrum_solver_options solver;
    bool wants_bound; /* rather than a solution */
};

static enum fulcrum_status solve_place(const struct context *context,
    const struct place *place, const struct trial *trial, struct solved *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_throughput *model = context->model;
    struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST + PATHS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < model->plan.path_count; i++) {
        const struct fulcrum_field *field = model->fields[i];
        double value = fmax(field->least, fmin(field->most, trial->parameter[i]));
        settings[count++] = (struct fulcrum_setting){field, value, NULL};
    }
    for (size_t i = 0; i < place->setting_count; i++) {
        settings[count++] = place->settings[i];
    }
    struct fulcrum_point point = {.varied = settings, .varied_count = count};
    if (trial->wants_bound) {
        struct fulcrum_predictor *predictor = context->predictors[place->reference];
        const struct fulcrum_design *design = NULL;
        struct fulcrum_replicas replicas;
        TRY(fulcrum_predictor_design(predictor, &point, &design, err));
        TRY(fulcrum_design_to_network(design, &replicas, err));
        const struct fulcrum_network *network = &replicas.network;
        struct fulcrum_cpu_drain drain;
        fulcrum_cpu_drain_init(
            &drain, &network->cpu, network->actors, network->step.mean_s);
        out->steps_per_s = replicas.count * replicas.steps_per_request *
                           fulcrum_ceiling_per_s(network, &drain);
        out->cpu_w = out->gpu_w = NAN;
        out->train_period_s = out->gpu_train_busy_frac = NAN;
        return FULCRUM_OK;
    }
    struct fulcrum_predict_options options = {.solver = trial->solver};
    struct fulcrum_prediction prediction;
    TRY(fulcrum_predictor_run(
        context->predictors[place->reference], &point, &options, &prediction, err));
    out->steps_per_s = prediction.value[FULCRUM_OUTPUT_steps_per_s];
    out->cpu_w = prediction.value[FULCRUM_OUTPUT_cpu_w];
    out->gpu_w = prediction.value[FULCRUM_OUTPUT_gpu_w];
    out->train_period_s = prediction.value[FULCRUM_OUTPUT_train_period_s];
    out->gpu_train_busy_frac = prediction.value[FULCRUM_OUTPUT_gpu_train_busy_frac];
    return FULCRUM_OK;
}

static int fill_figures(
    struct context *own, const struct trial *trial, bool is_corrected, double *out)
{
    const struct fulcrum_throughput *model = own->model;
    assert(model != NULL);
    for (size_t i = 0; i < model->place_count; i++) {
        const struct place *place = &model->places[i];
        if (solve_place(own, place, trial, &own->solved[i], NULL) != FULCRUM_OK) {
            return 0;
        }
        double factor = is_corrected ? place->factor : 1.0;
        own->solved[i].steps_per_s *= factor;
        own->solved[i].train_period_s /= factor;
        own->solved[i].gpu_train_busy_frac *= factor;
    }
    for (size_t i = 0; i < model->figure_count; i++) {
        const struct fulcrum_figure *figure = &model->figures[i];
        const struct solved *at = &own->solved[figure->place];
        const struct solved *base = &own->solved[figure->relative_to];
        const double values[MEASURES] = {[RATE] = at->steps_per_s,
            [SPEEDUP] = at->steps_per_s / base->steps_per_s,
            [RUNTIME_REL] = base->steps_per_s / at->steps_per_s,
            [CPU_W] = at->cpu_w,
            [GPU_W] = at->gpu_w,
            [TRAIN_PERIOD] = at->train_period_s,
            [TRAIN_BUSY] = at->gpu_train_busy_frac};
        out[i] = values[figure->measure];
    }
    return 1;
}

int fulcrum_throughput_forward(void *context, const double *parameter, double *out)
{
    const struct trial trial = {
        .parameter = parameter, .solver = {.method = FULCRUM_METHOD_FAST}};
    return fill_figures(context, &trial, 1, out);
}

enum fulcrum_status fulcrum_throughput_correct(struct fulcrum_throughput *model,
    const double *parameter, const struct fulcrum_solver_options *solver,
    struct fulcrum_error *err)
{
    const struct trial quick = {
        .parameter = parameter, .solver = {.method = FULCRUM_METHOD_FAST}};
    const struct trial exact = {.parameter = parameter, .solver = *solver};
    const struct context *own = &model->own[0];
    for (size_t i = 0; i < model->place_count; i++) {
        struct place *place = &model->places[i];
        struct solved fast;
        struct solved simulated;
        FAIL_IF(model->plan.stop != NULL && model->plan.stop(model->plan.watcher), err,
            FULCRUM_ERR_INTERRUPTED, "stopped simulations");
        TRY(solve_place(own, place, &quick, &fast, err));
        TRY(solve_place(own, place, &exact, &simulated, err));
        place->factor = simulated.steps_per_s / fast.steps_per_s;
    }
    return FULCRUM_OK;
}

/* The small formulas: N / (a + b N), under a ceiling or without one. */

/* How sharply the ceiling bends the hyperbola: p of (22), docs/frameworks.md. */
#define FULCRUM_FORMULA_KNEE 5.0

/* Priors of docs/frameworks.md equation (22), standard deviations of logarithms. */
#define RATE_FRAMES_PER_S 40e3
#define RATE_SD           1.0
#define CAP_SD            0.15

/* Of what has no prior: wide beside what any two points leave open. */
#define FREE_SD 3.0

enum { LATENCY, PER_ITEM, CAP, PARAMETERS };

double fulcrum_formula_rate(const struct fulcrum_formula *formula, double env_count)
{
    double free_per_s =
        env_count / (formula->latency_s + formula->per_item_s * env_count);
    /* From the lesser of the two, so that no power leaves the range of a double. */
    double less = fmin(free_per_s, formula->cap_per_s);
    double more = fmax(free_per_s, formula->cap_per_s);
    return less * pow(1.0 + pow(less / more, FULCRUM_FORMULA_KNEE),
                      -1.0 / FULCRUM_FORMULA_KNEE);
}

static struct fulcrum_formula formula_of(
    const struct fulcrum_formula_plan *plan, const double *parameter)
{
    return (struct fulcrum_formula){.latency_s = parameter[LATENCY],
        .per_item_s = parameter[PER_ITEM],
        .cap_per_s = isnan(plan->ceiling_per_s) ? HUGE_VAL : parameter[CAP]};
}

static int forward(void *context, const double *parameter, double *out)
{
    const struct fulcrum_formula_plan *plan = context;
    struct fulcrum_formula formula = formula_of(plan, parameter);
    for (size_t i = 0; i < plan->count; i++) {
        out[i] = log(fulcrum_formula_rate(&formula, plan->env_count[i]));
    }
    return 1;
}

/* The hyperbola through the ends of the curve, where they have one. Returns how many
 * there are. */
static size_t list_beliefs(
    const struct fulcrum_formula_plan *plan, struct fulcrum_belief out[PARAMETERS])
{
    size_t last = plan->count - 1;
    double first_s = plan->env_count[0] / plan->steps_per_s[0];
    double last_s = plan->env_count[last] / plan->steps_per_s[last];
    double apart = plan->env_count[last] - plan->env_count[0];
    double per_item_s = fabs(apart) > 0.0 ? (last_s - first_s) / apart : 0.0;
    double latency_s = first_s - per_item_s * plan->env_count[0];
    if (!(per_item_s > 0.0) || !(latency_s > 0.0)) {
        per_item_s = 0.5 / plan->steps_per_s[0];
        latency_s = 0.5 * first_s;
    }
    bool has_ceiling = !isnan(plan->ceiling_per_s);
    out[LATENCY] = (struct fulcrum_belief){
        .path = "a", .scale = FULCRUM_SCALE_LOG, .value = latency_s, .sd = FREE_SD};
    out[PER_ITEM] = (struct fulcrum_belief){.path = "b",
        .scale = FULCRUM_SCALE_LOG,
        .value = has_ceiling ? plan->frame_skip / RATE_FRAMES_PER_S : per_item_s,
        .sd = has_ceiling ? RATE_SD : FREE_SD};
    out[CAP] = (struct fulcrum_belief){.path = "C",
        .scale = FULCRUM_SCALE_LOG,
        .value = FULCRUM_FORMULA_CAP_OF_CEILING * plan->ceiling_per_s,
        .sd = CAP_SD};
    return has_ceiling ? PARAMETERS : CAP;
}

enum fulcrum_status fulcrum_formula_fit(const struct fulcrum_formula_plan *plan,
    struct fulcrum_formula *out, struct fulcrum_error *err)
{
    FAIL_IF(plan->ceiling_per_s <= 0.0, err, FULCRUM_ERR_RANGE,
        "ceiling = %g: expected a number above 0, or none", plan->ceiling_per_s);
    for (size_t i = 0; i < plan->count; i++) {
        FAIL_IF(!(plan->env_count[i] > 0.0) || !(plan->steps_per_s[i] > 0.0) ||
                    isinf(plan->env_count[i]) || isinf(plan->steps_per_s[i]),
            err, FULCRUM_ERR_RANGE,
            "%g steps/s of %g environments: expected numbers above 0",
            plan->steps_per_s[i], plan->env_count[i]);
    }
    FAIL_IF(plan->count < 2, err, FULCRUM_ERR_RANGE,
        "%zu points for a formula: expected 2 or more", plan->count);

    struct fulcrum_datum *data = calloc(plan->count + 1, sizeof *data);
    TRY_MEMORY(data, err, "no memory for a formula");
    for (size_t i = 0; i < plan->count; i++) {
        data[i] = (struct fulcrum_datum){log(plan->steps_per_s[i]), plan->noise_rel};
    }
    /* GSL's callbacks take what they are given as not constant; nothing is changed. */
    struct fulcrum_formula_plan own = *plan;
    void *context = &own;
    struct fulcrum_belief beliefs[PARAMETERS];
    const struct fulcrum_posterior_problem problem = {.beliefs = beliefs,
        .belief_count = list_beliefs(plan, beliefs),
        .data = data,
        .datum_count = plan->count,
        .forward = forward,
        .contexts = &context,
        .thread_count = 1};
    struct fulcrum_posterior_mode mode = {.misfit = 0.0};
    enum fulcrum_status status = fulcrum_posterior_mode_find(&problem, 1, &mode, err);
    if (status == FULCRUM_OK) {
        *out = formula_of(plan, mode.value);
    }
    fulcrum_posterior_mode_clear(&mode);
    free(data);
    return status;
}

/* The predictions, and what they are shown beside. */

/* Of a published point without repetitions: small formulas weigh it by this. */
#define FORMULA_NOISE_REL 0.03

struct job {
    const struct fulcrum_reference *reference;
    const struct fulcrum_calibration *calibration;
    struct fulcrum_comparison *out;
    struct fulcrum_throughput *model; /* of the baselines */
    struct fulcrum_prediction *points;
    double *drawn_per_s; /* point by point, FULCRUM_POINT_DRAWS each */
    double *bare_per_s;  /* in the same allocation, as the doublings of each point */
    double *doublings;
    double *work;      /* of the draws of one figure, or of one of all figures; the
                          next two share its allocation */
    double *env_count; /* the fitted points of one series */
    double *steps_per_s;
    size_t fitted_count;
};

/* Of rates draw by draw; draws that cannot run are left out. */
static struct fulcrum_interval interval_of(
    const struct job *job, const double *per_s, const double *under)
{
    size_t count = 0;
    for (size_t k = 0; k < FULCRUM_POINT_DRAWS; k++) {
        double value = per_s[k] / (under != NULL ? under[k] : 1.0);
        if (!isnan(value)) {
            job->work[count++] = value;
        }
    }
    return fulcrum_interval_of(job->work, count);
}

/* The rate of one point over that of another: their errors are shared. */
static void set_ratio(
    const struct job *job, size_t over, size_t under, struct fulcrum_compared *item)
{
    const struct fulcrum_interval interval =
        interval_of(job, job->drawn_per_s + over * FULCRUM_POINT_DRAWS,
            job->drawn_per_s + under * FULCRUM_POINT_DRAWS);
    item->predicted = interval.median;
    item->lo = interval.lo;
    item->hi = interval.hi;
}

static void set_prediction(
    const struct job *job, enum measure measure, struct fulcrum_compared *item)
{
    static const enum fulcrum_predicted outputs[MEASURES] = {
        [RATE] = FULCRUM_OUTPUT_steps_per_s,
        [CPU_W] = FULCRUM_OUTPUT_cpu_w,
        [GPU_W] = FULCRUM_OUTPUT_gpu_w,
        [TRAIN_PERIOD] = FULCRUM_OUTPUT_train_period_s,
        [TRAIN_BUSY] = FULCRUM_OUTPUT_gpu_train_busy_frac};
    const struct fulcrum_prediction *point = &job->points[item->point];
    if (measure == SPEEDUP) {
        set_ratio(job, item->point, job->reference->relative_to, item);
    } else if (measure == RUNTIME_REL) {
        set_ratio(job, job->reference->relative_to, item->point, item);
    } else {
        item->predicted = point->value[outputs[measure]];
        item->lo = point->lo[outputs[measure]];
        item->hi = point->hi[outputs[measure]];
    }
    if (measure == RATE) {
        /* What the interval would be without the model's discrepancy. */
        item->bare =
            interval_of(job, job->bare_per_s + item->point * FULCRUM_POINT_DRAWS, NULL);
        item->doublings = job->doublings[item->point];
        item->discrepancy =
            fulcrum_calibration_note(job->calibration, FULCRUM_NOTE_FITTED_TO) != NULL;
    }
}

/* Where an item is one of a curve of `series` over environments: their number, else
 * NAN. */
static double env_count_of(
    const struct job *job, const struct fulcrum_compared *item, const char *series)
{
    const struct fulcrum_reference_point *point = &job->reference->points[item->point];
    bool is_rate =
        strcmp(point->observations[item->observation].quantity, "steps_per_s") == 0;
    if (!is_rate || point->setting_count != 1 || strcmp(point->series, series) != 0) {
        return (double)NAN;
    }
    if (strcmp(point->settings[0].path, "run.env_count") == 0) {
        return point->settings[0].number;
    }
    return strcmp(point->settings[0].path, "run.actor_count") == 0
               ? point->settings[0].number * job->reference->design.run.envs_per_actor
               : (double)NAN;
}

/* A formula that cannot be fitted is left out. */
static void add_formula(struct job *job, const char *series, double ceiling_per_s,
    enum fulcrum_baseline baseline)
{
    const struct fulcrum_formula_plan plan = {.env_count = job->env_count,
        .steps_per_s = job->steps_per_s,
        .count = job->fitted_count,
        .ceiling_per_s = ceiling_per_s,
        .noise_rel = FORMULA_NOISE_REL,
        .frame_skip = job->reference->frame_skip};
    struct fulcrum_formula formula;
    if (fulcrum_formula_fit(&plan, &formula, NULL) != FULCRUM_OK) {
        return;
    }
    for (size_t i = 0; i < job->out->count; i++) {
        struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job, item, series);
        if (!isnan(env_count)) {
            item->baseline[baseline] = fulcrum_formula_rate(&formula, env_count);
        }
    }
}

/* Curves over environments of which a fit has seen a part: the same part for all. */
static void add_formulas(struct job *job, const char *series)
{
    /* What the environments alone would do on the machine. */
    const struct fulcrum_quantity *ceiling =
        fulcrum_calibration_quantity(job->calibration, "simulation_ceiling_per_s");
    job->fitted_count = 0;
    for (size_t i = 0; i < job->out->count; i++) {
        const struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job, item, series);
        if (item->is_fitted && !isnan(env_count)) {
            job->env_count[job->fitted_count] = env_count;
            job->steps_per_s[job->fitted_count++] = item->observed;
        }
    }
    if (ceiling != NULL && !isnan(ceiling->value)) {
        add_formula(job, series, ceiling->value, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
    }
    add_formula(job, series, (double)NAN, FULCRUM_BASELINE_HYPERBOLA);
}

static enum fulcrum_status predict_figures(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan plan = {.references = &job->reference,
        .reference_count = 1,
        .calibrations = &job->calibration,
        .calibration_count = 1,
        .thread_count = 1};
    TRY(fulcrum_throughput_new(&plan, &job->model, err));
    size_t points = job->reference->point_count;
    size_t count = job->model->figure_count;
    size_t most = FULCRUM_POINT_DRAWS + count;
    job->points = calloc(points + 1, sizeof *job->points);
    job->drawn_per_s =
        calloc(points * (2 * FULCRUM_POINT_DRAWS + 1) + 1, sizeof *job->drawn_per_s);
    job->work = calloc(3 * most, sizeof *job->work);
    FAIL_IF(job->points == NULL || job->drawn_per_s == NULL || job->work == NULL, err,
        FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
    job->env_count = job->work + most;
    job->steps_per_s = job->work + 2 * most;
    job->bare_per_s = job->drawn_per_s + points * FULCRUM_POINT_DRAWS;
    job->doublings = job->bare_per_s + points * FULCRUM_POINT_DRAWS;
    const struct fulcrum_reference_prediction to = {.points = job->points,
        .drawn_per_s = job->drawn_per_s,
        .bare_per_s = job->bare_per_s,
        .doublings = job->doublings};
    TRY(fulcrum_reference_predict(job->reference, job->calibration, &to, err));
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_figure *figure = &job->model->figures[i];
        struct fulcrum_compared *item = fulcrum_comparison_add(
            job->out, figure->point, figure->observation, (double)NAN);
        set_prediction(job, (enum measure)figure->measure, item);
        item->is_fitted = fulcrum_fitted_points_point(
            job->calibration, job->reference, figure->point);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_throughput(struct fulcrum_comparison *out,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct job job = {
        .reference = out->reference, .calibration = calibration, .out = out};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(predict_figures(&job, err));
    /* The least of the asymptotic bounds, and the product form, neither corrected. */
    static const enum fulcrum_baseline baselines[] = {
        FULCRUM_BASELINE_TEXTBOOK, FULCRUM_BASELINE_BOUNDS};
    for (size_t k = 0; k < 2; k++) {
        static const double none = 0.0;
        const struct trial trial = {.parameter = &none,
            .solver = {.method = FULCRUM_METHOD_PRODUCT_FORM},
            .wants_bound = k == 1};
        bool can_run = fill_figures(&job.model->own[0], &trial, 0, job.work) != 0;
        for (size_t i = 0; i < job.out->count && can_run; i++) {
            job.out->items[i].baseline[baselines[k]] = job.work[i];
        }
    }
    const char *last = NULL;
    for (size_t i = 0; i < out->count && !job.reference->is_relative; i++) {
        const char *series = job.reference->points[out->items[i].point].series;
        if (last == NULL || strcmp(series, last) != 0) {
            add_formulas(&job, series);
        }
        last = series;
    }
end:
    fulcrum_throughput_free(job.model);
    free(job.points);
    free(job.drawn_per_s);
    free(job.work);
    return status;
}

#define SEED           1
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

enum fulcrum_status fulcrum_point_settings(const struct fulcrum_reference *reference,
    size_t point, struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    FAIL_IF(from->setting_count > FULCRUM_POINT_SETTINGS_MOST, err, FULCRUM_ERR_RANGE,
        "%s: point %zu sets %zu fields: expected at most %d", reference->name, point,
        from->setting_count, (int)FULCRUM_POINT_SETTINGS_MOST);
    for (size_t i = 0; i < from->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &from->settings[i];
        bool counts_envs = strcmp(setting->path, "run.env_count") == 0;
        const struct fulcrum_field *field =
            fulcrum_field_find(counts_envs ? "run.actor_count" : setting->path);
        FAIL_IF(field == NULL, err, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: points are set by '%s', which is no field of a design",
            reference->name, setting->path);
        double per_actor = counts_envs ? reference->design.run.envs_per_actor : 1.0;
        out[i] = (struct fulcrum_setting){.field = field,
            .number = setting->number / per_actor,
            .text = setting->text[0] != '\0' ? setting->text : NULL};
    }
    *count = from->setting_count;
    return FULCRUM_OK;
}

static enum fulcrum_status predict_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, struct fulcrum_prediction *out,
    double *drawn_per_s, struct fulcrum_error *err)
{
    const struct fulcrum_predict_options options = {
        .solver = {.method = FULCRUM_METHOD_SIMULATE,
            .seed = SEED,
            .half_width_rel = HALF_WIDTH_REL,
            .max_steps = MOST_STEPS},
        .draws = FULCRUM_POINT_DRAWS};
    size_t count = 0;
    TRY(fulcrum_predictor_run(predictor, point, &options, out, err));
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    for (size_t k = 0; drawn_per_s != NULL && k < count; k++) {
        drawn_per_s[k] = draws[k * FULCRUM_OUTPUT_COUNT + FULCRUM_OUTPUT_steps_per_s];
    }
    return FULCRUM_OK;
}

/* Which stages the model has a run's threads in. */

/*
 * A solution knows stations, a recorder threads. By Little's law the mean number of
 * requests at a station is their rate times the time that each is there, and each
 * request being worked on keeps a thread: so busy shares and residence times are
 * numbers of threads, and what is left of the threads waits.
 */

static enum fulcrum_status predict_stages(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *at, const struct fulcrum_prediction *point,
    struct fulcrum_stage_prediction *out, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    const struct fulcrum_design *design = NULL;
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    TRY(fulcrum_predictor_design(predictor, at, &design, err));
    TRY(fulcrum_design_to_network(design, &replicas, err));
    /* Solving adds to the step what waking the server takes of it. */
    TRY(fulcrum_solve_pausing(&replicas, &fast, &solution, err));
    /* Of the time that a thread is at a step, the environments' own share. */
    double whole_s = replicas.network.step.mean_s;
    double own_s = design->workload.step.mean_s * replicas.steps_per_request;
    double step_frac = whole_s > 0.0 ? fmin(own_s / whole_s, 1.0) : 0.0;
    /* One consistent cycle: that of the best fit, as the model itself has it. */
    const double *value = point->at_fit;
    double off = design->run.drift * fulcrum_design_discrepancy(design);
    double *threads = out->thread_count;
    double servers = replicas.count;
    bool trains = replicas.network.training.env_steps_per_train_step > 0.0;
    out->steps_per_s = value[FULCRUM_OUTPUT_steps_per_s] / off;
    out->requests_per_s = out->steps_per_s / replicas.steps_per_request;
    out->residence = (struct fulcrum_residence){value[FULCRUM_OUTPUT_cpu_residence_s],
        value[FULCRUM_OUTPUT_host_residence_s], value[FULCRUM_OUTPUT_gpu_residence_s],
        value[FULCRUM_OUTPUT_delay_s]};
    double stepping = value[FULCRUM_OUTPUT_cpu_thread_busy_frac] * servers *
                      fulcrum_cpu_servers(&replicas.network.cpu);
    double batches_per_s = out->steps_per_s / value[FULCRUM_OUTPUT_mean_batch];
    double inferring = batches_per_s * out->residence.gpu_s;
    /* What sharing the learner adds to one of the two it adds to the other. */
    double shared = inferring - servers * value[FULCRUM_OUTPUT_gpu_inference_busy_frac];
    double training =
        trains ? servers * value[FULCRUM_OUTPUT_gpu_train_busy_frac] + shared : 0.0;
    double handing =
        servers * value[FULCRUM_OUTPUT_host_busy_frac] + stepping * (1.0 - step_frac);
    threads[FULCRUM_STAGE_SIMULATION] = stepping * step_frac;
    threads[FULCRUM_STAGE_INFERENCE] = inferring;
    threads[FULCRUM_STAGE_TRAINING] = training;
    threads[FULCRUM_STAGE_HANDOFF] = handing;
    threads[FULCRUM_STAGE_REPLAY] = FULCRUM_UNKNOWN;
    threads[FULCRUM_STAGE_WAIT] = servers * (trains ? 2.0 : 1.0) + point->actor_count -
                                  stepping * step_frac - inferring - training - handing;
    return FULCRUM_OK;
}

/* Points say themselves how fast the machine was, but for what it changed meanwhile. */
static enum fulcrum_status add_drift(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    const struct fulcrum_parameter *then =
        fulcrum_calibration_parameter(calibration, "run.drift");
    struct fulcrum_parameter drift = {.path = "run.drift",
        .value = 1.0,
        .scale = FULCRUM_SCALE_LOG,
        .origin = FULCRUM_ORIGIN_MEASURED};
    drift.standard_error = hypot(
        then != NULL ? then->standard_error / then->value : 0.0, reference->drift_sd);
    if (*out == NULL) {
        TRY(fulcrum_calibration_new(out, err));
    }
    return fulcrum_calibration_add_parameter(*out, &drift, err);
}

/* The discrepancy that goes with a calibration, learnt without the reference. */
static enum fulcrum_status load_discrepancy(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_calibration **out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_discrepancy_load(&calibration, 1, out, err));
    if (reference->drift_sd > 0.0) {
        TRY(add_drift(reference, calibration, out, err));
    }
    for (size_t i = 0; *out != NULL && i < (*out)->parameter_count; i++) {
        struct fulcrum_parameter parameter = (*out)->parameters[i];
        char name[FULCRUM_DISCREPANCY_NAME_SIZE];
        fulcrum_discrepancy_without(parameter.path, reference->name, name);
        const struct fulcrum_quantity *without =
            fulcrum_calibration_quantity(*out, name);
        if (without != NULL) {
            parameter.value = without->value;
            parameter.standard_error =
                without->value * log(without->hi / without->value);
            TRY(fulcrum_calibration_add_parameter(*out, &parameter, err));
        }
    }
    return FULCRUM_OK;
}

/* Takes what the model is off by out of the draws of a point. */
static enum fulcrum_status make_bare(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_reference_prediction *out,
    size_t index, struct fulcrum_error *err)
{
    struct fulcrum_point drawn = *point;
    const struct fulcrum_design *design = NULL;
    const double *drawn_per_s = out->drawn_per_s + index * FULCRUM_POINT_DRAWS;
    double *bare_per_s = out->bare_per_s + index * FULCRUM_POINT_DRAWS;
    for (size_t k = 0; k < FULCRUM_POINT_DRAWS; k++) {
        drawn.draw = k + 1;
        bare_per_s[k] = drawn_per_s[k];
        if (!isnan(drawn_per_s[k])) {
            TRY(fulcrum_predictor_design(predictor, &drawn, &design, err));
            bare_per_s[k] /= fulcrum_design_discrepancy(design);
        }
    }
    TRY(fulcrum_predictor_design(predictor, point, &design, err));
    out->doublings[index] = fulcrum_design_doublings_unseen(design);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference_prediction *out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *discrepancy = NULL;
    TRY(load_discrepancy(reference, calibration, &discrepancy, err));
    const struct fulcrum_calibration *const calibrations[] = {calibration, discrepancy};
    const struct fulcrum_scenario_inputs inputs = {.base = &reference->design,
        .calibrations = calibrations,
        .calibration_count = discrepancy != NULL ? 2 : 1};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_predictor *predictor = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_new(&inputs, &scenario, err));
    TRY_OR_END(fulcrum_predictor_new(scenario, &predictor, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_setting settings[FULCRUM_POINT_SETTINGS_MOST];
        struct fulcrum_point point = {.varied = settings, .seed = SEED};
        double *drawn_per_s = out->drawn_per_s != NULL
                                  ? out->drawn_per_s + i * FULCRUM_POINT_DRAWS
                                  : NULL;
        TRY_OR_END(
            fulcrum_point_settings(reference, i, settings, &point.varied_count, err));
        TRY_OR_END(predict_point(predictor, &point, &out->points[i], drawn_per_s, err));
        if (out->bare_per_s != NULL) {
            TRY_OR_END(make_bare(predictor, &point, out, i, err));
        }
        if (out->stages != NULL) {
            TRY_OR_END(predict_stages(
                predictor, &point, &out->points[i], &out->stages[i], err));
        }
    }
end:
    fulcrum_predictor_free(predictor);
    fulcrum_scenario_free(scenario);
    fulcrum_calibration_free(discrepancy);
    return status;
}
