/* report_point.c - the predicted point: outputs, time, power, accuracy, inputs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/baseline.h"
#include "cli/report/report_section.h"
#include "presets/load/preset_folders.h"

/* Rows that are gathered here to be written as a table. */
static struct fulcrum_table *new_rows(struct fulcrum_result **out)
{
    *out = fulcrum_result_new(NULL);
    return fulcrum_result_table(*out, "rows", NULL);
}

static void add_output(struct fulcrum_table *table, const char *key,
    struct fulcrum_report_case *machine, const char *output)
{
    fulcrum_plot_cell_add(
        table, key, fulcrum_report_output(machine, output != NULL ? output : ""));
}

static void write_prediction(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_result *rows = NULL;
    struct fulcrum_table *table = new_rows(&rows);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        const char *name = fulcrum_output_name(i);
        if (isfinite(fulcrum_report_output(machine, name).number)) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "quantity", NULL, name);
            add_output(table, "value", machine, name);
            fulcrum_table_text(table, "meaning", NULL, fulcrum_output_meaning(i));
        }
    }
    fulcrum_report_table(rows, machine,
        (struct fulcrum_html_view){.caption = "Every output of the prediction",
            .look = "stack",
            .columns = "quantity=quantity;value:named=value;meaning=meaning"},
        out);
    /* Notes of the solver and of where numbers come from, and what `predict` warned
     * of. */
    const struct fulcrum_result *point = machine->point;
    const struct fulcrum_table *flags = fulcrum_result_table_of(point, "flags");
    size_t count = flags != NULL ? fulcrum_table_rows(flags) : 0;
    (void)fputs(count > 0 ? "<p>To be known about it:</p>\n<ul>\n" : "", out);
    for (size_t i = 0; i < count; i++) {
        fulcrum_html_element(out, "li", "%s", fulcrum_table_cell(flags, i, 0).text);
    }
    (void)fputs(count > 0 ? "</ul>\n" : "", out);
    fulcrum_report_made_with(fulcrum_report_predicted(machine), out);
}

const struct fulcrum_report_section fulcrum_report_prediction = {
    .id = "prediction",
    .title = "The prediction in full",
    .lines = {"predict"},
    .write = write_prediction,
};

/* A row of a table of outputs; none where the first one is not known. */
struct output_row {
    const char *words;
    const char *outputs[3]; /* NULL: none */
};

/* Where an observation is between two actions, in the order that it gets there. */
static const struct output_row stages[] = {
    {"waiting for a thread, and stepping", {"cpu_residence_s"}},
    {"waiting for a batch, and on the host", {"host_residence_s"}},
    {"waiting for the learner's device, and on it", {"gpu_residence_s"}},
    {"on the way back", {"delay_s"}},
};

enum { STAGES = sizeof stages / sizeof stages[0] };

/* The cycle at the design itself; nothing where its parts are not known. */
static void write_cycle(struct fulcrum_report_case *machine, FILE *out)
{
    double cycle_s = 0.0;
    for (size_t i = 0; i < STAGES; i++) {
        double value = fulcrum_report_output(machine, stages[i].outputs[0]).number;
        cycle_s += isfinite(value) ? value : 0.0;
    }
    if (!(cycle_s > 0.0)) {
        return;
    }
    struct fulcrum_result *rows = NULL;
    struct fulcrum_table *table = new_rows(&rows);
    for (size_t i = 0; i < STAGES; i++) {
        double value = fulcrum_report_output(machine, stages[i].outputs[0]).number;
        if (value > 0.0) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "stage", NULL, stages[i].words);
            add_output(table, "residence_s", machine, stages[i].outputs[0]);
            fulcrum_table_number(table, "cycle_frac", NULL, value / cycle_s);
        }
    }
    char text[FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(cycle_s, "s", text);
    fulcrum_html_element(out, "p",
        "From one step of an environment to its next pass %s on average.", text);
    /* One bar of parts; the table below it says what they are, in the same colours. */
    double x = 0.0;
    (void)fputs(
        "<svg class=\"bar\" viewBox=\"0 0 600 28\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"",
        out);
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        fulcrum_html_print(out, "%s%s %.0f %%", i > 0 ? ", " : "",
            fulcrum_table_at(table, i, "stage").text,
            100.0 * fulcrum_table_at(table, i, "cycle_frac").number);
    }
    (void)fputs("\">", out);
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        double width = 600.0 * fulcrum_table_at(table, i, "cycle_frac").number;
        (void)fprintf(out,
            "<rect class=\"s%zu\" x=\"%.1f\" width=\"%.1f\" height=\"28\"/>", i, x,
            width);
        x += width;
    }
    (void)fputs("</svg>\n", out);
    fulcrum_report_table(rows, machine,
        (struct fulcrum_html_view){.caption = "Where the time of a cycle goes",
            .look = "parts",
            .columns = "stage=an observation is;residence_s=for;cycle_frac=share"},
        out);
}

static void write_outputs(struct fulcrum_report_case *machine,
    const struct output_row *parts, const char *const keys[3],
    struct fulcrum_html_view view, FILE *out)
{
    struct fulcrum_result *rows = NULL;
    struct fulcrum_table *table = new_rows(&rows);
    for (; parts->words != NULL; parts++) {
        if (isfinite(fulcrum_report_output(machine, parts->outputs[0]).number)) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "part", NULL, parts->words);
            for (size_t k = 0; k < 3 && keys[k] != NULL; k++) {
                add_output(table, keys[k], machine, parts->outputs[k]);
            }
        }
    }
    fulcrum_report_table(rows, machine, view, out);
}

/* Of the sweep over the number of actors. */
static void draw_breakdown(struct fulcrum_report_case *machine, const char *label,
    int parts, enum fulcrum_row_scale scale, FILE *out)
{
    const struct fulcrum_report_figure figure = {
        .label = label,
        .content = FULCRUM_PLOT_SWEEP,
        .chart = &fulcrum_chart_breakdown,
        .height_pt = 360.0,
        .narrow_height_pt = 400.0,
        .parts = parts,
        .scale = scale,
    };
    fulcrum_report_draw(&figure, fulcrum_report_first(machine, "actors"), out);
}

static void write_time(struct fulcrum_report_case *machine, FILE *out)
{
    write_cycle(machine, out);
    static const char *const keys[3] = {"busy_frac"};
    static const struct output_row parts[] = {
        {"threads open to actors", {"cpu_thread_busy_frac"}},
        {"host stage", {"host_busy_frac"}},
        {"learner's device", {"gpu_busy_frac"}},
        {"of that, with inference", {"gpu_inference_busy_frac"}},
        {"of that, with training", {"gpu_train_busy_frac"}},
        {"SMs, as power counts them", {"sm_active_frac"}},
        {.words = NULL},
    };
    write_outputs(machine, parts, keys,
        (struct fulcrum_html_view){.caption = "How busy each part is",
            .columns = "part=part;busy_frac:0:1=from 0 to 100 %;busy_frac=busy"},
        out);
    draw_breakdown(machine, "Where the time of a cycle goes, over the number of actors",
        0, FULCRUM_ROW_SHARE, out);
}

const struct fulcrum_report_section fulcrum_report_time = {
    .id = "time",
    .title = "Where the time goes",
    .write = write_time,
};

static void write_power(struct fulcrum_report_case *machine, FILE *out)
{
    static const char *const keys[3] = {"part_w", "part_j", "steps_per_j"};
    static const struct output_row parts[] = {
        {"processors", {"cpu_w"}},
        {"GPUs used", {"gpu_w", "gpu_j", "steps_per_j_gpu"}},
        {"everything, behind the plug", {"system_w", "system_j", "steps_per_j_system"}},
        {.words = NULL},
    };
    if (!isfinite(fulcrum_report_output(machine, "system_w").number)) {
        fulcrum_html_element(
            out, "p class=\"note\"", "No watts are known of this machine.");
        return;
    }
    write_outputs(machine, parts, keys,
        (struct fulcrum_html_view){.caption = "Power and energy of the design",
            .columns = "part=of;part_w=power;part_j=the whole training;"
                       "steps_per_j=steps"},
        out);
    if (isfinite(fulcrum_report_output(machine, "gpu_w").number)) {
        draw_breakdown(machine,
            "What draws the power behind the plug, over the number of actors", 1,
            FULCRUM_ROW_AMOUNT, out);
    }
}

const struct fulcrum_report_section fulcrum_report_power = {
    .id = "power",
    .title = "Power and energy",
    .write = write_power,
};

/* Points of one reference, calibration and quantity that a fit has seen, or has not. */
struct error_set {
    const char *texts[4]; /* as set_keys has them */
    double count;
    double sum;
    double largest;
};

static const char *const set_keys[4] = {"reference", "quantity", "calibration", "kind"};

static void add_error(struct error_set *set, double error)
{
    set->count += 1.0;
    set->sum += error;
    set->largest = fmax(set->largest, error);
}

/* The set of a point; new ones are counted. */
static struct error_set *set_of(struct error_set *sets, size_t *count,
    const struct fulcrum_table *points, size_t row)
{
    struct error_set set = {.count = 0.0};
    for (size_t k = 0; k < 4; k++) {
        set.texts[k] = fulcrum_chart_words(points, row, set_keys[k]);
    }
    for (size_t i = 0; i < *count; i++) {
        size_t k = 0;
        while (k < 4 && strcmp(sets[i].texts[k], set.texts[k]) == 0) {
            k++;
        }
        if (k == 4) {
            return &sets[i];
        }
    }
    sets[*count] = set;
    return &sets[(*count)++];
}

static void add_set(struct fulcrum_table *table, const struct error_set *set)
{
    bool is_fitted = strcmp(set->texts[3], "fitted") == 0;
    if (set->count > 0.0) {
        fulcrum_table_row(table);
        fulcrum_plot_print(table, "set", "%s: %s", set->texts[0], set->texts[1]);
        fulcrum_table_text(table, "seen", NULL, is_fitted ? "by the fit" : "no");
        fulcrum_table_number(table, "points", NULL, set->count);
        fulcrum_table_number(table, "mean_frac", NULL, set->sum / set->count);
        fulcrum_table_number(table, "most_frac", NULL, set->largest);
    }
}

/*
 * Adds sets that were predicted from a calibration in use here, then all that no fit
 * has seen of the model's main quantity. Returns how many of the former there are.
 */
static size_t add_sets(
    struct fulcrum_table *table, const struct fulcrum_table *points, const char *used)
{
    size_t rows = fulcrum_table_rows(points);
    struct error_set *sets = fulcrum_allocate(rows, sizeof *sets);
    struct error_set all = {
        .texts = {"all references of throughput", "steps_per_s", "", ""}};
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        double observed = fulcrum_table_at(points, i, "observed").number;
        double error =
            fabs(fulcrum_table_at(points, i, "predicted").number - observed) /
            fabs(observed);
        const char *calibration = fulcrum_chart_words(points, i, "calibration");
        if (!isfinite(error) || calibration[0] == '\0') {
            continue;
        }
        if (strstr(used, calibration) != NULL) {
            add_error(set_of(sets, &count, points, i), error);
        }
        if (!fulcrum_plot_says(points, i, "kind", "fitted") &&
            fulcrum_plot_says(points, i, "quantity", "steps_per_s")) {
            add_error(&all, error);
        }
    }
    for (size_t i = 0; i < count; i++) {
        add_set(table, &sets[i]);
    }
    add_set(table, &all);
    free(sets);
    return count;
}

static void write_accuracy(struct fulcrum_report_case *machine, FILE *out)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct fulcrum_result *baseline = NULL;
    struct fulcrum_error unheard = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_preset_find_file("baseline.json", path, &unheard);
    if (status == FULCRUM_OK) {
        status = fulcrum_baseline_read(path, &baseline, &unheard);
    }
    if (status == FULCRUM_OK) {
        const struct fulcrum_table *points =
            fulcrum_result_table_of(baseline, "points");
        struct fulcrum_result *rows = NULL;
        struct fulcrum_table *table = new_rows(&rows);
        size_t found = add_sets(
            table, points, fulcrum_result_text_of(machine->point, "calibration"));
        (void)fputs("<p>Predictions that came with this version, beside published and "
                    "measured figures; points that a fit has seen prove nothing.</p>\n",
            out);
        fulcrum_report_table(rows, NULL,
            (struct fulcrum_html_view){.caption = "Errors where the truth is known",
                .columns = "set=compared with;seen=seen before;points=points;"
                           "mean_frac=mean error;most_frac=largest"},
            out);
        if (found == 0) {
            fulcrum_html_element(out, "p class=\"note\"",
                "No published or measured figure has been compared with a prediction "
                "from this calibration: of its accuracy nothing is known.");
        }
    } else {
        fulcrum_html_element(out, "p class=\"note\"",
            "No stored predictions were found: %s.", unheard.detail);
    }
    fulcrum_result_free(baseline);
}

const struct fulcrum_report_section fulcrum_report_accuracy = {
    .id = "accuracy",
    .title = "How accurate is this?",
    .write = write_accuracy,
};

/* Origins as predict names them, from what is surest to what is not. */
static const struct origin {
    const char *kind;
    const char *cell;
    const char *counted; /* after a number of values */
} origins[] = {
    {"measured", "measured", "measured"},
    {"fitted", "fitted", "fitted"},
    {"source", "named source", "from a named source"},
    {"prior", "prior", "priors, which are estimates with a spread"},
    {"set", "set here", "set for this report"},
    {"default", "default", "defaults"},
};

enum { ORIGINS = sizeof origins / sizeof origins[0] };

/* "measured: 3, priors: 4"; the number of an origin that is none stays out. */
static void count_origins(const struct fulcrum_table *inputs, FILE *out)
{
    size_t rows = fulcrum_table_rows(inputs);
    fulcrum_html_print(out, "%zu values are behind the prediction", rows);
    for (size_t k = 0; k < ORIGINS; k++) {
        size_t count = 0;
        for (size_t i = 0; i < rows; i++) {
            const char *kind = fulcrum_table_at(inputs, i, "origin").text;
            count += strcmp(origins[k].kind, kind) == 0 ? 1 : 0;
        }
        if (count > 0 || k == 0) {
            fulcrum_html_print(
                out, "%s%zu %s", k == 0 ? ": " : ", ", count, origins[k].counted);
        }
    }
    (void)fputs(".", out);
}

/* As --set takes it; texts as they are. */
static void add_input(
    struct fulcrum_table *table, const struct fulcrum_table *inputs, size_t i)
{
    struct fulcrum_cell value = fulcrum_table_at(inputs, i, "value");
    const char *unit = fulcrum_chart_words(inputs, i, "unit");
    const char *kind = fulcrum_chart_words(inputs, i, "origin");
    const char *from = fulcrum_chart_words(inputs, i, "from");
    const char *source = fulcrum_chart_words(inputs, i, "source");
    struct fulcrum_string whence = {0};
    fulcrum_table_row(table);
    fulcrum_table_text(table, "field", NULL, fulcrum_chart_words(inputs, i, "field"));
    if (value.text != NULL) {
        fulcrum_table_text(table, "value", NULL, value.text);
    } else {
        fulcrum_plot_print(table, "value", "%.6g%s%s", value.number,
            unit[0] != '\0' ? "\xC2\xA0" : "", unit);
    }
    for (size_t k = 0; k < ORIGINS; k++) {
        kind = strcmp(origins[k].kind, kind) == 0 ? origins[k].cell : kind;
    }
    fulcrum_table_text(table, "origin", NULL, kind);
    fulcrum_string_add(&whence, "%s%s%s", from,
        from[0] != '\0' && source[0] != '\0' ? ": " : "", source);
    fulcrum_table_text(table, "from", NULL, fulcrum_string_get(&whence));
    fulcrum_string_clear(&whence);
}

static void write_inputs(struct fulcrum_report_case *machine, FILE *out)
{
    static const struct part {
        const char *prefix;
        const char *caption;
    } parts[] = {{"machine.", "The machine"}, {"workload.", "The workload"},
        {"run.", "The run"}};
    const struct fulcrum_table *inputs =
        fulcrum_result_table_of(machine->point, "inputs");
    (void)fputs("<p>", out);
    count_origins(inputs, out);
    (void)fputs(" Each can be changed with <code>--set FIELD=VALUE</code>.</p>\n", out);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        struct fulcrum_result *rows = NULL;
        struct fulcrum_table *table = new_rows(&rows);
        for (size_t i = 0; i < fulcrum_table_rows(inputs); i++) {
            const char *path = fulcrum_table_at(inputs, i, "field").text;
            if (strncmp(path, parts[k].prefix, strlen(parts[k].prefix)) == 0) {
                add_input(table, inputs, i);
            }
        }
        fulcrum_report_table(rows, NULL,
            (struct fulcrum_html_view){.caption = parts[k].caption,
                .look = "stack",
                .columns = "field:code=field;value=value;origin:class=origin;"
                           "from=from"},
            out);
    }
}

const struct fulcrum_report_section fulcrum_report_inputs = {
    .id = "inputs",
    .title = "Inputs and where they come from",
    .write = write_inputs,
};

/* Calibrations that were named, then the workload's own where it is in use. */
static bool ask_calibrations(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    const char *own = fulcrum_report_field_text(machine, "workload.calibration");
    const char *used = fulcrum_result_text_of(machine->point, "calibration");
    const struct fulcrum_text_list *named = &machine->job->calibrations;
    const char *asked = i < named->count ? named->items[i] : NULL;
    if (i == named->count && own[0] != '\0' && strstr(used, own) != NULL) {
        asked = own;
    }
    if (asked != NULL) {
        fulcrum_report_words(words, "show calibration");
        fulcrum_argv_text_add(words, "%s", asked);
    }
    return asked != NULL;
}

static void write_calibrations(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "calibrations");
    for (size_t i = 0; i < replies->count; i++) {
        const struct fulcrum_result *result = replies->items[i].result;
        if (!fulcrum_report_has_answer(&replies->items[i], out)) {
            continue;
        }
        (void)fputs("<p><strong>", out);
        fulcrum_html_text(out, fulcrum_result_text_of(result, "name"));
        (void)fputs("</strong>: ", out);
        fulcrum_html_text(out, fulcrum_result_text_of(result, "title"));
        (void)fputs(".</p>\n", out);
        (void)fulcrum_html_table(out, fulcrum_result_table_of(result, "fits"),
            &(struct fulcrum_html_view){.caption = "Fits of the calibration",
                .columns = "name=fit;form=form;point_count=points;"
                           "mape_frac=mean error;max_frac=largest;warning=warning"});
        const struct fulcrum_table *notes = fulcrum_result_table_of(result, "notes");
        size_t count = notes != NULL ? fulcrum_table_rows(notes) : 0;
        (void)fputs(count > 0 ? "<dl class=\"notes\">\n" : "", out);
        for (size_t j = 0; j < count; j++) {
            (void)fputs("<div><dt>", out);
            fulcrum_html_text(out, fulcrum_table_at(notes, j, "key").text);
            (void)fputs("</dt><dd>", out);
            fulcrum_html_text(out, fulcrum_table_at(notes, j, "text").text);
            (void)fputs("</dd></div>\n", out);
        }
        (void)fputs(count > 0 ? "</dl>\n" : "", out);
    }
}

const struct fulcrum_report_section fulcrum_report_calibrations = {
    .id = "calibrations",
    .title = "Calibrations",
    .ask_each = ask_calibrations,
    .write = write_calibrations,
};

static void write_method(struct fulcrum_report_case *machine, FILE *out)
{
    const struct fulcrum_result *point = machine->point;
    double draws = fulcrum_result_number_of(point, "intervals/draws");
    double error = fulcrum_result_number_of(point, "solver_error_rel");
    (void)fputs("<p>A closed queueing network of actors, host and learner is solved "
                "for each point. ",
        out);
    fulcrum_html_print(out, "The point of %s: method %s", machine->name,
        fulcrum_result_text_of(point, "method"));
    if (error > 0.0) {
        fulcrum_html_print(out, ", accurate to %.2g %%", 100.0 * error);
    }
    if (draws > 0.0) {
        fulcrum_html_print(out,
            ". Intervals go from the 5th to the 95th percentile over %.6g draws of "
            "what the calibration and the priors leave uncertain; they do not hold "
            "what the model itself gets wrong",
            draws);
    } else {
        (void)fputs(". No intervals were asked for", out);
    }
    fulcrum_html_print(out,
        ". Seed %.0f; the same inputs and seed give the same bytes.",
        machine->job->seed);
    (void)fputs("</p>\n<p>This file was made with fulcrum " FULCRUM_VERSION
                " by</p>\n<pre><code>",
        out);
    fulcrum_report_print_words(&machine->job->line, out);
    (void)fputs(" -o report.html</code></pre>\n", out);
}

const struct fulcrum_report_section fulcrum_report_method = {
    .id = "method",
    .title = "Method, and how to make this again",
    .scope = FULCRUM_REPORT_ALL,
    .write = write_method,
};
