/* cmd_memory.c - `fulcrum memory`: what a GPU's memory system does to a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three questions of one subject. Without factors: what every component costs, by
 * making it ideal. With factors for cache or bandwidth: the same work with another
 * memory system. With a gain that is known: which shares and exponents meet it.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/design_options.h"
#include "cli/options/solve_options.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/whatif/memory_report.h"
#include "model/try.h"

/* Draws behind the intervals: every set of ideal components has as many runs. */
#define MEMORY_DRAWS 200.0

/*
 * One standard deviation of the cache exponent, as a factor: 90 % of 0.5 x/ 1.3 are the
 * 0.3 to 0.7 (0.32 to 0.77) that Hartstein et al. 2006 find ("Cache miss behavior: is
 * it sqrt(2)?").
 */
#define EXPONENT_SPREAD_FACTOR 1.3
#define EXPONENT_PATH          "workload.network.cache_exponent"

/* Of a simulated estimate, where none is given: what is looked for are per cents. */
#define ESTIMATE_HALF_WIDTH_REL 0.002

enum { MACHINES_MOST = 16, FACTORS_MOST = 1024, GAINS_MOST = 16 };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *machines;
    const char *cache;
    const char *bandwidth;
    const char *gain;
    double compulsory_frac; /* NAN: not given */
};

/* Ranges of the options' lists, in the form that lists of fields are read by. */
static const struct fulcrum_field factor_field = {
    .path = "FACTORS", .kind = FULCRUM_FIELD_NUMBER, .least = 1e-3, .most = 1e6};
static const struct fulcrum_field gain_field = {
    .path = "GAINS", .kind = FULCRUM_FIELD_NUMBER, .least = 1e-6, .most = 1e6};

/* Inputs of one machine, read and prepared. */
struct subject {
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_prior *priors; /* those of the inputs and one more; may be NULL */
    struct fulcrum_design design; /* the point as it is */
    char calibrations[200];
};

/* Who is told how far the work is. */
struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    double first_frac; /* of the whole that this part begins at */
    double part_frac;
    const char *stage;
};

static int show(void *user, double done_frac)
{
    struct watch *watch = user;
    double whole = watch->first_frac + watch->part_frac * done_frac;
    fulcrum_progress_update(&watch->progress, fmin(1.0, whole), watch->stage);
    return *watch->stop != 0;
}

static void start(struct watch *watch, const struct fulcrum_context *context)
{
    watch->stop = fulcrum_interrupt_watch();
    watch->first_frac = 0.0;
    watch->part_frac = 1.0;
    fulcrum_progress_start(&watch->progress, context);
}

/* Accepts NULL. */
static void subject_free(struct subject *subject)
{
    if (subject != NULL) {
        fulcrum_scenario_free(subject->scenario);
        fulcrum_design_inputs_free(&subject->inputs);
        free(subject->priors);
        free(subject);
    }
}

/* The exponent is nobody's measurement: unless it is set, it is drawn too. */
static void add_exponent_prior(struct subject *subject)
{
    struct fulcrum_design_inputs *inputs = &subject->inputs;
    const struct fulcrum_field *exponent = fulcrum_field_find(EXPONENT_PATH);
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == exponent) {
            return;
        }
    }
    subject->priors =
        fulcrum_allocate(inputs->prior_count + 1, sizeof *subject->priors);
    for (size_t i = 0; i < inputs->prior_count; i++) {
        if (inputs->priors[i].field == exponent) {
            return;
        }
        subject->priors[i] = inputs->priors[i];
    }
    subject->priors[inputs->prior_count] =
        (struct fulcrum_prior){exponent, EXPONENT_SPREAD_FACTOR};
    inputs->scenario.priors = subject->priors;
    inputs->scenario.prior_count = inputs->prior_count + 1;
}

static enum fulcrum_status prepare_subject(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    TRY(fulcrum_design_inputs_load(&settings->design, context, &subject->inputs, err));
    add_exponent_prior(subject);
    TRY(fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, err));
    fulcrum_calibration_names(
        &subject->inputs, subject->calibrations, sizeof subject->calibrations);
    TRY(fulcrum_scenario_design(subject->scenario, &point, &subject->design, err));
    if (subject->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU) {
        TRY(fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "machine %s has no GPU whose memory system could be another",
            subject->design.machine.name));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status subject_new(const struct settings *settings,
    struct fulcrum_context *context, struct subject **out, struct fulcrum_error *err)
{
    struct subject *subject = fulcrum_allocate(1, sizeof *subject);
    enum fulcrum_status status = prepare_subject(settings, context, subject, err);
    if (status != FULCRUM_OK) {
        subject_free(subject);
        return status;
    }
    *out = subject;
    return FULCRUM_OK;
}

/* How estimates and draws are solved. */
struct solution {
    struct fulcrum_predict_options predict;
    struct fulcrum_solver_options estimate;
};

/* The machine of --machine and those of --machines, each with its costs. */
struct machines {
    size_t count;
    struct subject *subjects[MACHINES_MOST];
    struct fulcrum_component_costs costs[MACHINES_MOST];
    struct fulcrum_memory_components answers[MACHINES_MOST];
};

static enum fulcrum_status add_machine(const struct settings *settings,
    const char *name, struct fulcrum_context *context, struct machines *machines,
    struct fulcrum_error *err)
{
    struct settings of_machine = *settings;
    if (machines->count == MACHINES_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--machines: more than %d", (int)MACHINES_MOST - 1);
    }
    of_machine.design.machine = name;
    TRY(subject_new(&of_machine, context, &machines->subjects[machines->count], err));
    machines->count++;
    return FULCRUM_OK;
}

/* Names between commas. */
static enum fulcrum_status add_machines(const struct settings *settings,
    struct fulcrum_context *context, struct machines *machines,
    struct fulcrum_error *err)
{
    TRY(add_machine(settings, settings->design.machine, context, machines, err));
    const char *rest = settings->machines;
    while (rest != NULL) {
        char *name = fulcrum_list_part(&rest);
        enum fulcrum_status status =
            add_machine(settings, name, context, machines, err);
        free(name);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status find_costs(struct machines *machines,
    const struct solution *solution, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct watch watch;
    enum fulcrum_status status = FULCRUM_OK;
    start(&watch, context);
    for (size_t m = 0; m < machines->count && status == FULCRUM_OK; m++) {
        const struct subject *subject = machines->subjects[m];
        watch.first_frac = (double)m / (double)machines->count;
        watch.part_frac = 1.0 / (double)machines->count;
        watch.stage = subject->design.machine.name;
        const struct fulcrum_component_plan plan = {
            subject->scenario, solution->predict, &solution->estimate, show, &watch};
        status = fulcrum_component_costs_find(&plan, &machines->costs[m], err);
        machines->answers[m] = (struct fulcrum_memory_components){
            {&subject->design, subject->calibrations}, &machines->costs[m]};
    }
    fulcrum_progress_end(&watch.progress);
    return status;
}

/* What each component takes is told of batches for actors and of training steps. */
static enum fulcrum_status check_components(
    const struct fulcrum_design *design, struct fulcrum_error *err)
{
    if (!fulcrum_design_is_resident(design)) {
        return FULCRUM_OK;
    }
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "%s simulates on the GPU, whose components are not told apart: --cache and "
        "--bandwidth change its memory, 'fulcrum partition' tells its stages apart",
        design->workload.name);
}

static enum fulcrum_status answer_components(const struct settings *settings,
    const struct solution *solution, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct machines *machines = fulcrum_allocate(1, sizeof *machines);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(add_machines(settings, context, machines, err));
    TRY_OR_END(check_components(&machines->subjects[0]->design, err));
    TRY_OR_END(find_costs(machines, solution, context, err));
    for (size_t m = 0; m < machines->count; m++) {
        const struct subject *subject = machines->subjects[m];
        const struct fulcrum_component_costs *costs = &machines->costs[m];
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            if (costs->costs[i].is_stuck) {
                fulcrum_message_note(context,
                    "%s: made ideal, '%s' changes nothing: its share of GPU time is 0, "
                    "or "
                    "the calibration's machine does not say what it has of it",
                    subject->design.machine.name, fulcrum_ideal_meaning(i));
            }
        }
    }
    status = fulcrum_memory_report_components(
        machines->answers, machines->count, context, err);
end:
    for (size_t m = 0; m < machines->count; m++) {
        subject_free(machines->subjects[m]);
    }
    free(machines);
    return status;
}

/* Numbers of an option: increasing, "1,4,16" or "1:16:x2". */
struct list {
    double *values; /* owned */
    size_t count;
};

/* An option with its text, and the range of its numbers. */
struct list_option {
    const char *name;
    const struct fulcrum_field *field;
    const char *text;
};

static enum fulcrum_status read_list(const struct list_option *option,
    struct fulcrum_context *context, struct list *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_range_parse(
        option->field, option->text, &out->values, &out->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, option->name);
    }
    return FULCRUM_OK;
}

/* A grid of memory systems, the machine's own before all others. */
struct grid {
    struct list cache;
    struct list bandwidth;
    size_t count;
    struct fulcrum_memory_factors *factors;
    struct fulcrum_variant *versions;
};

static enum fulcrum_status make_factors(
    struct grid *grid, struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t cells = grid->cache.count * grid->bandwidth.count;
    if (cells > FACTORS_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--cache and --bandwidth: %zu memory systems: expected at most %d, "
            "'fulcrum explore' takes more",
            cells, (int)FACTORS_MOST);
    }
    grid->factors = fulcrum_allocate(cells + 1, sizeof *grid->factors);
    grid->versions = fulcrum_allocate(cells + 1, sizeof *grid->versions);
    grid->factors[grid->count++] = (struct fulcrum_memory_factors){1.0, 1.0};
    for (size_t i = 0; i < cells; i++) {
        const struct fulcrum_memory_factors factors = {
            grid->cache.values[i / grid->bandwidth.count],
            grid->bandwidth.values[i % grid->bandwidth.count]};
        if (factors.cache_rel != 1.0 || factors.bandwidth_rel != 1.0) {
            grid->factors[grid->count++] = factors;
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_grid(const struct settings *settings,
    struct fulcrum_context *context, struct grid *grid, struct fulcrum_error *err)
{
    const struct list_option cache = {
        "--cache", &factor_field, settings->cache != NULL ? settings->cache : "1"};
    const struct list_option bandwidth = {"--bandwidth", &factor_field,
        settings->bandwidth != NULL ? settings->bandwidth : "1"};
    TRY(read_list(&cache, context, &grid->cache, err));
    TRY(read_list(&bandwidth, context, &grid->bandwidth, err));
    return make_factors(grid, context, err);
}

/* One field times a factor, checked against the field's range. */
static enum fulcrum_status multiply(const struct fulcrum_design *design,
    const char *path, double factor, struct fulcrum_variant *version,
    struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    struct fulcrum_setting *setting = &version->settings[version->setting_count];
    double value = fulcrum_field_number(field, design);
    if (factor == 1.0) {
        return FULCRUM_OK;
    }
    FAIL_IF(isnan(value), err, FULCRUM_ERR_MISSING,
        "machine %s does not give %s: --set %s=VALUE", design->machine.name, path,
        path);
    FAIL_IF(!(value * factor >= field->least && value * factor <= field->most), err,
        FULCRUM_ERR_RANGE, "%.6g times %s is %.6g: expected a number from %.6g to %.6g",
        factor, path, value * factor, field->least, field->most);
    *setting = (struct fulcrum_setting){field, value * factor, NULL};
    version->setting_count++;
    return FULCRUM_OK;
}

static enum fulcrum_status make_versions(
    const struct fulcrum_design *design, struct grid *grid, struct fulcrum_error *err)
{
    for (size_t i = 0; i < grid->count; i++) {
        TRY(multiply(design, "machine.gpu.llc_byte", grid->factors[i].cache_rel,
            &grid->versions[i], err));
        TRY(multiply(design, "machine.gpu.dram_byte_per_s",
            grid->factors[i].bandwidth_rel, &grid->versions[i], err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status compare(const struct subject *subject, struct grid *grid,
    const struct solution *solution, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct watch watch = {.stage = "memory systems"};
    struct fulcrum_variants *variants = NULL;
    start(&watch, context);
    const struct fulcrum_variant_plan plan = {.scenario = subject->scenario,
        .variants = grid->versions,
        .count = grid->count,
        .predict = solution->predict,
        .estimate = &solution->estimate,
        .watch = show,
        .user = &watch};
    enum fulcrum_status status = fulcrum_variants_new(&plan, &variants, err);
    fulcrum_progress_end(&watch.progress);
    if (status == FULCRUM_OK) {
        const struct fulcrum_memory_what_if answer = {
            {&subject->design, subject->calibrations}, grid->factors, grid->count,
            variants};
        status = fulcrum_memory_report_what_if(&answer, context, err);
    }
    fulcrum_variants_free(variants);
    return status;
}

static enum fulcrum_status answer_what_if(const struct settings *settings,
    const struct solution *solution, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct subject *subject = NULL;
    struct grid grid = {.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_grid(settings, context, &grid, err));
    TRY_OR_END(subject_new(settings, context, &subject, err));
    TRY_OR_END(make_versions(&subject->design, &grid, err));
    status = compare(subject, &grid, solution, context, err);
end:
    subject_free(subject);
    free(grid.cache.values);
    free(grid.bandwidth.values);
    free(grid.factors);
    free(grid.versions);
    return status;
}

static enum fulcrum_status read_one(const char *option, const char *text,
    struct fulcrum_context *context, double *out, struct fulcrum_error *err)
{
    struct list list = {NULL, 0};
    const struct list_option wanted = {option, &factor_field, text};
    enum fulcrum_status status = read_list(&wanted, context, &list, err);
    if (status == FULCRUM_OK && list.count != 1) {
        status = fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "%s %s: with --gain expected one number", option, text);
    }
    *out = status == FULCRUM_OK ? list.values[0] : 1.0;
    free(list.values);
    return status;
}

/* A change for each gain. */
static enum fulcrum_status make_changes(const struct settings *settings,
    const struct list *gains, struct fulcrum_context *context,
    struct fulcrum_memory_change *changes, struct fulcrum_error *err)
{
    double cache_rel = 1.0;
    double bandwidth_rel = 1.0;
    TRY(read_one("--cache", settings->cache, context, &cache_rel, err));
    if (settings->bandwidth != NULL) {
        TRY(read_one("--bandwidth", settings->bandwidth, context, &bandwidth_rel, err));
    }
    for (size_t i = 0; i < gains->count; i++) {
        changes[i] =
            (struct fulcrum_memory_change){gains->values[i], cache_rel, bandwidth_rel,
                isnan(settings->compulsory_frac) ? 0.0 : settings->compulsory_frac};
        enum fulcrum_status status = fulcrum_memory_change_check(&changes[i], err);
        if (status == FULCRUM_ERR_RANGE) {
            context->exit_code = 2;
        }
        TRY(status);
    }
    return FULCRUM_OK;
}

/* The workload to be marked, with what is set of it; shares are the calibration's. */
static enum fulcrum_status load_workload(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    fulcrum_design_init(out);
    TRY(fulcrum_workload_load(settings->design.workload, out, NULL, err));
    for (size_t i = 0; i < settings->design.sets.count; i++) {
        struct fulcrum_setting setting;
        const char *text = settings->design.sets.items[i];
        TRY(fulcrum_setting_parse(text, context, &setting, err));
        TRY(setting.text != NULL
                ? fulcrum_field_set_text(setting.field, out, setting.text, err)
                : fulcrum_field_set_number(setting.field, out, setting.number, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status answer_gain(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    static const struct fulcrum_design empty;
    struct fulcrum_design design = empty;
    struct fulcrum_memory_change changes[GAINS_MOST];
    struct list gains = {NULL, 0};
    const struct list_option option = {"--gain", &gain_field, settings->gain};
    if (settings->cache == NULL) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "--gain needs --cache FACTOR: the gain of which change?");
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_list(&option, context, &gains, err));
    if (gains.count > GAINS_MOST) {
        TRY_OR_END(fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--gain: %zu gains: expected at most %d", gains.count, (int)GAINS_MOST));
    }
    TRY_OR_END(make_changes(settings, &gains, context, changes, err));
    if (settings->design.workload != NULL) {
        TRY_OR_END(load_workload(settings, context, &design, err));
    }
    const struct fulcrum_memory_families families = {changes, gains.count,
        settings->design.workload != NULL ? &design.workload : NULL};
    status = fulcrum_memory_report_families(&families, context, err);
end:
    free(gains.values);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct solution solution;
    bool has_factors = settings->cache != NULL || settings->bandwidth != NULL;
    if (settings->gain != NULL) {
        return answer_gain(settings, context, err);
    }
    if (!isnan(settings->compulsory_frac)) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
            "--compulsory goes with --gain: of a workload, --set "
            "workload.network.compulsory_frac=%.6g",
            settings->compulsory_frac);
    }
    if (has_factors && settings->machines != NULL) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
            "--machines compares components, not the factors of --cache and "
            "--bandwidth");
    }
    /*
     * Differences of some per cent want one method for all versions, and a sharp one:
     * estimates are simulated, draws solved by equations, unless a method is asked for.
     */
    TRY(fulcrum_solve_settings_read(
        &settings->solve, MEMORY_DRAWS, context, &solution.predict, err));
    solution.estimate = solution.predict.solver;
    if (solution.estimate.method == FULCRUM_METHOD_AUTO) {
        solution.predict.solver.method = FULCRUM_METHOD_FAST;
        solution.estimate.method = FULCRUM_METHOD_SIMULATE;
        if (!(solution.estimate.half_width_rel > 0.0)) {
            solution.estimate.half_width_rel = ESTIMATE_HALF_WIDTH_REL;
        }
    }
    return has_factors ? answer_what_if(settings, &solution, context, err)
                       : answer_components(settings, &solution, context, err);
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "machines", offsetof(struct settings, machines), "A,B,C",
        .help = "further machines whose components are made ideal"),
    FULCRUM_OPTION(TEXT, "cache", offsetof(struct settings, cache), "FACTORS",
        .help = "last-level caches to compare, as multiples of the machine's own: "
                "1,4,16 or 1:16:x2"),
    FULCRUM_OPTION(TEXT, "bandwidth", offsetof(struct settings, bandwidth), "FACTORS",
        .help = "memory bandwidths, likewise"),
    FULCRUM_OPTION(TEXT, "gain", offsetof(struct settings, gain), "GAINS",
        .help = "gains that one change of --cache and --bandwidth is known to have "
                "(0.31: 1.31 times as fast); tells which shares of GPU time and "
                "exponents meet them"),
    FULCRUM_OPTION(NUMBER, "compulsory", offsetof(struct settings, compulsory_frac),
        "FRACTION", .least = 0.0, .most = 1.0,
        .help = "share of memory traffic that no cache saves, for --gain"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Memory", rows, 0},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -c v100-inci2020 -a 256",
        "what each component of a V100 costs R2D2, on the GPU and end to end"},
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -a 256 --cache 1,4,16 "
     "--bandwidth 1,1.6",
        "the same run with larger caches and faster memory"},
    {"fulcrum memory --gain 0.31,0.35 --cache 16 --bandwidth 1.6 -w r2d2-atari",
        "what a published gain says of share and exponent, with R2D2 beside it"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_memory = {
    .name = "memory",
    .summary = "what a GPU's memory system does to a run: components, cache, bandwidth",
    .description =
        "Without factors: makes memory bandwidth, latencies, the filling of SMs, "
        "arithmetic, kernel launches and the host ideal, in every combination, and "
        "says "
        "what each is of GPU time and of the time of a run. GPU time is a sum, so that "
        "its shares have no order; those of a run are told in the order of the rows, "
        "with the least, the mean and the most over all orders. The shares of kernels "
        "on the calibration's own GPU are what the workload says; what follows for "
        "other "
        "GPUs, and for the run, is computed.\n\n"
        "With --cache or --bandwidth: the same work with another memory system, beside "
        "the machine as it is. The exponent by which traffic falls with the cache is "
        "drawn (x or / 1.3) unless it is set.\n\n"
        "With --gain: all pairs of DRAM-bound share and cache exponent that meet a "
        "gain "
        "at one change. One number cannot tell the two apart.\n\n"
        "Versions are compared draw by draw. Estimates are simulated to 0.2 %, draws "
        "solved by equations, unless --method asks for one method.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
