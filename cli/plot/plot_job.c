/* plot_job.c - the charts there are, what each is drawn from, and the page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/output.h"

/* In place of a column: more than one field of the sweep varies. */
static const char two_fields[] = "two fields";

#define PLOT(NAME, CONTENT, ROWS, ...)                                                 \
    {                                                                                  \
        .chart = &fulcrum_chart_##NAME, .content = FULCRUM_PLOT_##CONTENT,             \
        .rows = FULCRUM_PLOT_##ROWS, __VA_ARGS__                                       \
    }

#define WORKLOAD_ON_MACHINE .title = "[{workload}][ on ^{machine}]"
#define CALIBRATION         .subtitle = "[calibration {calibration}]"
#define CYCLE                                                                          \
    .add = fulcrum_plot_breakdown_add, .bars = &fulcrum_bars_cycle,                    \
    WORKLOAD_ON_MACHINE, CALIBRATION
#define SPEEDUPS                                                                       \
    .add = fulcrum_plot_efficiency_add,                                                \
    .subtitle = "lines: a ring all-reduce fitted to the hollow points"
#define MEASURED                                                                       \
    .add = fulcrum_plot_measured_add,                                                  \
    .numbers = "actors envs_per_actor measured_steps_per_s measured_lo measured_hi "   \
               "predicted_steps_per_s predicted_lo predicted_hi windows "              \
               "disturbed_windows"

/* Of rows that would do, the first is taken. */
static const struct fulcrum_plot plots[] = {
    PLOT(pareto, SWEEP, READ, .add = fulcrum_plot_pareto_add, .column = "point"),
    PLOT(heat, SWEEP, READ, .add = fulcrum_plot_heat_add, .column = two_fields,
        WORKLOAD_ON_MACHINE,
        .subtitle = "[calibration {calibration}]"
                    "[; ^{actor_count} actors|; ^actors {actors_rule}]"),
    PLOT(actors, SWEEP, READ, .column = "run.actor_count"),
    PLOT(sm, SWEEP, LAID, .add = fulcrum_plot_published_add, .column = "run.sm_count"),
    PLOT(ratio, SWEEP, LAID, .add = fulcrum_plot_ratio_add),
    PLOT(busy, SWEEP, READ, .add = NULL),
    PLOT(agents, SWEEP, READ, WORKLOAD_ON_MACHINE, CALIBRATION),
    PLOT(runtime, SWEEP, LAID, .add = fulcrum_plot_published_add),
    PLOT(power, SWEEP, LAID, .add = fulcrum_plot_published_add),
    PLOT(breakdown, SWEEP, MADE, CYCLE),
    PLOT(breakdown, PREDICTION, MADE, CYCLE),
    PLOT(measured, MEASURED, READ, MEASURED,
        .title = "[{actor} on {machine}: m|M]easured "
                 "[against {compared_with}|end to end]"),
    PLOT(measured, REFERENCE, PREDICTED, MEASURED, .column = "steps_per_s"),
    PLOT(stages, STAGES, READ, .bars = &fulcrum_bars_stages),
    PLOT(stages, REFERENCE, MADE, .add = fulcrum_plot_stages_add,
        .bars = &fulcrum_bars_stages, .column = "simulation_frac"),
    PLOT(scaling, SCALING, READ, .add = fulcrum_plot_scaling_add,
        .numbers = "gpu_count model_parallel_gpu_count",
        .title = "Training [{workload}|one workload] on many GPUs",
        .subtitle = "[{machine_title}][; ^{scope}]"),
    PLOT(efficiency, REFERENCE, PREDICTED, SPEEDUPS, .column = "speedup_over_one_node"),
    PLOT(efficiency, REFERENCE, PREDICTED, SPEEDUPS, .column = "speedup_over_one_gpu"),
    PLOT(gpu_time, REFERENCE, MADE, .add = fulcrum_plot_gpu_time_add,
        .bars = &fulcrum_bars_published),
    PLOT(gpu_time, COMPONENTS, READ, .add = fulcrum_plot_components_add,
        .bars = &fulcrum_bars_components, .numbers = "gpu_s gpu_frac run_frac",
        .subtitle = "[workload {workload}; ][calibration {calibration}; ]each "
                    "component made ideal in turn: what is gone is its part"),
    PLOT(memory, MEMORY, READ, .add = NULL),
    PLOT(partition, PLACEMENTS, READ, .bars = &fulcrum_bars_partition,
        .title = "[{workload}|Training] on parts of [one {gpu}|a GPU]", CALIBRATION),
    PLOT(upgrade, UPGRADES, READ, .bars = &fulcrum_bars_upgrade),
    PLOT(node, NODE, READ, .add = NULL),
    PLOT(coverage, VALIDATION, READ, .add = fulcrum_plot_coverage_add,
        .numbers = "nominal_frac observed_frac points",
        .title = "Do intervals hold what they say?",
        .subtitle = "points that no fit has seen, by what is predicted"),
    PLOT(parity, VALIDATION, READ, .add = fulcrum_plot_parity_add,
        .numbers = "observed half_width predicted",
        .title = "Predicted against measured"),
    PLOT(posterior, FIT, READ, .add = fulcrum_plot_fit_add,
        .bars = &fulcrum_bars_posterior,
        .numbers = "prior prior_sd fitted posterior_low posterior_high "
                   "posterior_sd_frac observed sd prior_low prior_high simulated "
                   "posterior_mean posterior_sd held_out_mean held_out_sd",
        .title = "Priors, and what a fit left of them"),
    PLOT(tornado, SENSITIVITY, READ, .add = fulcrum_plot_tornado_add,
        .bars = &fulcrum_bars_tornado,
        .numbers = "field_lo field_hi first_frac first_error total_frac total_error "
                   "swing_lo swing_hi metric_value metric_lo metric_hi "
                   "interaction_frac",
        .subtitle = "[{workload} on {machine}; calibration {calibration}; actors "
                    "{actors_rule}][; ^compared to {compared_to}]"),
    PLOT(calibration, CALIBRATION, MADE, .add = fulcrum_plot_calibration_add),
    PLOT(sm_time, CALIBRATION, MADE, .add = fulcrum_plot_sm_time_add),
};

enum { PLOT_COUNT = sizeof plots / sizeof plots[0] };

const struct fulcrum_plot *fulcrum_plot_find(
    const char *chart, enum fulcrum_plot_content content)
{
    const struct fulcrum_plot *found = NULL;
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        bool is_better =
            found == NULL || (plots[i].content == content && found->content != content);
        if (is_better && strcmp(plots[i].chart->name, chart) == 0) {
            found = &plots[i];
        }
    }
    return found;
}

/* Whether what is in the source asks for the chart. */
static bool is_asked(
    const struct fulcrum_plot *plot, const struct fulcrum_plot_source *source)
{
    const struct fulcrum_table *points = fulcrum_chart_table(source->result, "points");
    const struct fulcrum_reference *reference = source->reference;
    bool is_there = false;
    if (plot->column == NULL || plot->content != source->content) {
        return plot->content == source->content;
    }
    if (plot->column == two_fields) {
        return fulcrum_plot_fields_of(points).count > 1;
    }
    for (size_t i = 0; reference != NULL && i < reference->point_count; i++) {
        is_there |= fulcrum_reference_find_observation(
                        &reference->points[i], plot->column) != NULL;
    }
    return is_there ||
           fulcrum_table_find(points, plot->column) < fulcrum_table_columns(points);
}

enum fulcrum_status fulcrum_plot_choose(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_plot_source *source = &job->source;
    size_t i = 0;
    if (job->chart != NULL) {
        job->plot = fulcrum_plot_find(job->chart, source->content);
        return FULCRUM_OK;
    }
    FAIL_IF(source->content == FULCRUM_PLOT_SWEEP &&
                fulcrum_chart_table(source->result, "points") == NULL,
        err, FULCRUM_ERR_FORMAT,
        "%s: points is not given: expected an array of objects", source->name);
    while (!is_asked(&plots[i], source)) {
        i++;
    }
    job->plot = &plots[i];
    return FULCRUM_OK;
}

/* What words are filled in from. */
struct filling {
    const struct fulcrum_result *result;
    const struct fulcrum_table *table;
};

/* Adds the value of the key in "{key}" at `words`; false where it is not known. */
static bool fill_key(
    struct fulcrum_string *out, const char *words, const struct filling *from)
{
    char key[32];
    (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(words, "}") - 1, words + 1);
    const char *text = fulcrum_plot_text_of(from->result, from->table, key);
    double number = fulcrum_table_constant(from->table, key);
    if (text[0] != '\0') {
        fulcrum_string_add(out, "%s", text);
    } else if (isfinite(number)) {
        fulcrum_string_add(out, "%.10g", number);
    }
    return text[0] != '\0' || isfinite(number);
}

static void cut(struct fulcrum_string *text, size_t length)
{
    if (text->length > length) {
        text->length = length;
        text->chars[length] = '\0';
    }
}

/* As struct fulcrum_plot has it. */
static void fill(
    struct fulcrum_string *out, const char *words, const struct filling *from)
{
    size_t kept = 0; /* before what may be dropped */
    for (; *words != '\0'; words++) {
        if (*words == '[') {
            kept = out->length;
        } else if (*words == '^') {
            cut(out, kept > 0 ? out->length : 0);
        } else if (*words == '|') {
            words = strchr(words, ']');
        } else if (*words == '{' && fill_key(out, words, from)) {
            words = strchr(words, '}');
        } else if (*words == '{') {
            cut(out, kept);
            words = strpbrk(words, "|]");
        } else if (*words != ']') {
            fulcrum_string_add(out, "%c", *words);
        }
    }
}

/* The key of the rows that the chart shows. */
static const char *table_of(const struct fulcrum_plot_job *job)
{
    const struct fulcrum_plot *plot = job->plot;
    const char *key = plot->chart->lines != NULL ? plot->chart->lines->table : "points";
    return plot->bars != NULL ? plot->bars->table : key;
}

/* Faults of a cell name the file already, those of other files these. */
static enum fulcrum_status name_file(const struct fulcrum_plot_job *job,
    enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *name = job->source.name;
    bool is_named = status == FULCRUM_OK || status == FULCRUM_ERR_FILE ||
                    strncmp(err->detail, name, strlen(name)) == 0;
    return is_named ? status : fulcrum_fail_in(err, status, name);
}

static enum fulcrum_status check_numbers(
    const struct fulcrum_table *table, const char *columns, struct fulcrum_error *err)
{
    while (columns != NULL && *columns != '\0') {
        char key[64];
        int length = (int)strcspn(columns, " ");
        (void)snprintf(key, sizeof key, "%.*s", length, columns);
        TRY(fulcrum_table_check_numbers(table, key, err));
        columns += length;
        columns += strspn(columns, " ");
    }
    return FULCRUM_OK;
}

/* What the file holds is checked and added to; a report draws a result twice, and what
 * is added is added once. */
static enum fulcrum_status add_to_file(
    const struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_plot *plot = job->plot;
    struct fulcrum_result *result = job->source.result;
    char key[64];
    (void)snprintf(key, sizeof key, "drawn as %s", plot->chart->name);
    if (plot->add == NULL || fulcrum_result_find(result, key) != NULL) {
        return FULCRUM_OK;
    }
    TRY(check_numbers(fulcrum_chart_table(result, table_of(job)), plot->numbers, err));
    if (plot->bars != NULL && plot->bars->panels[1].table != NULL) {
        TRY(check_numbers(fulcrum_result_table_of(result, plot->bars->panels[1].table),
            plot->numbers, err));
    }
    TRY(plot->add(job, result, err));
    fulcrum_result_flag(result, key, NULL, true);
    return fulcrum_result_check(result, err);
}

enum fulcrum_status fulcrum_plot_prepare(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_plot *plot = job->plot;
    fulcrum_result_free(job->made);
    job->made = NULL;
    if (plot->rows == FULCRUM_PLOT_READ || plot->rows == FULCRUM_PLOT_LAID) {
        const struct fulcrum_chart *chart = job->plot->chart;
        const char *name = job->source.name;
        const char *key = table_of(job);
        const struct fulcrum_table *table =
            fulcrum_chart_table(job->source.result, key);
        const struct fulcrum_item *item = fulcrum_result_find(job->source.result, key);
        FAIL_IF(table == NULL, err, FULCRUM_ERR_FORMAT,
            "%s: %s is not given: expected an array of objects", name, key);
        FAIL_IF(item != NULL && item->is_list, err, FULCRUM_ERR_FORMAT,
            "%s: %s[0]: expected an object", name, key);
        /* Charts that compare have a page that says so. */
        bool may_be_empty =
            chart == &fulcrum_chart_parity || chart == &fulcrum_chart_measured;
        FAIL_IF(!may_be_empty && fulcrum_table_rows(table) == 0, err,
            FULCRUM_ERR_FORMAT, "%s: there is no row in it: nothing to draw", name);
        enum fulcrum_status status = add_to_file(job, err);
        return plot->rows == FULCRUM_PLOT_READ ? name_file(job, status, err) : status;
    }
    if (plot->rows == FULCRUM_PLOT_PREDICTED && job->validation.reference == NULL) {
        TRY(fulcrum_validate(job->source.reference, NULL, &job->validation, err));
    }
    job->made = fulcrum_result_new(NULL);
    TRY(plot->add(job, job->made, err));
    return fulcrum_result_check(job->made, err);
}

enum fulcrum_status fulcrum_plot_draw(struct fulcrum_plot_job *job,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    TRY(fulcrum_plot_prepare(job, err));
    const struct fulcrum_plot *plot = job->plot;
    const struct fulcrum_result *result =
        job->made != NULL ? job->made : job->source.result;
    const struct filling from = {result, fulcrum_chart_table(result, table_of(job))};
    struct fulcrum_string title = {0};
    struct fulcrum_string subtitle = {0};
    fill(&title, job->title == NULL && plot->title != NULL ? plot->title : "", &from);
    fill(&subtitle,
        job->subtitle == NULL && plot->subtitle != NULL ? plot->subtitle : "", &from);
    const struct fulcrum_chart_text text = {
        title.length > 0 ? fulcrum_string_get(&title) : job->title,
        subtitle.length > 0 ? fulcrum_string_get(&subtitle) : job->subtitle, NULL};
    enum fulcrum_status status = FULCRUM_OK;
    if (plot->bars != NULL) {
        const struct fulcrum_bar_chart_data data = {.text = text,
            .chart = plot->chart == &fulcrum_chart_breakdown
                         ? fulcrum_breakdowns[job->parts]
                         : plot->bars,
            .result = result,
            .as_shares = job->scale == FULCRUM_ROW_SHARE};
        status = fulcrum_chart_draw(plot->chart, canvas, &data, err);
    } else if (plot->chart == &fulcrum_chart_heat) {
        status = fulcrum_plot_heat_draw(job, result, &text, canvas, err);
    } else {
        const struct fulcrum_line_chart_data data = {
            .text = text, .chart = plot->chart, .result = result};
        status = fulcrum_chart_draw(plot->chart, canvas, &data, err);
    }
    fulcrum_string_clear(&title);
    fulcrum_string_clear(&subtitle);
    bool is_own = job->made != NULL && job->plot->bars != NULL;
    return is_own ? status : name_file(job, status, err);
}

void fulcrum_plot_clear(struct fulcrum_plot_job *job)
{
    fulcrum_plot_source_close(&job->source);
    fulcrum_validation_clear(&job->validation);
    fulcrum_result_free(job->made);
}

enum fulcrum_status fulcrum_plot_write(const struct fulcrum_canvas *canvas,
    const char *path, double png_width_px, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    enum fulcrum_status status = fulcrum_canvas_write(
        canvas, path, png_width_px, fulcrum_output_stream(output), err);
    if (status != FULCRUM_OK) {
        fulcrum_output_discard(output);
        return status;
    }
    return fulcrum_output_commit(output, err);
}
