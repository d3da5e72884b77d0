/* report_prediction.c - the predicted point, and where the time of a cycle goes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/report/report_section.h"
#include "cli/validate/validate_job.h"
#include "model/predict/predict.h"
#include "presets/load/preset_folders.h"

static int ask_prediction(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    (void)machine;
    fulcrum_argv_text_add(words, "predict");
    return i == 0;
}

/* Notes of the solver and of where numbers come from. */
static void write_flags(struct fulcrum_reply *reply, FILE *out)
{
    struct fulcrum_node root = fulcrum_reply_root(reply);
    struct fulcrum_node flags = fulcrum_node_member(&root, "flags");
    size_t count = fulcrum_node_count(&flags);
    bool has_warnings = reply->warnings != NULL && reply->warnings[0] != '\0';
    if (count == 0 && !has_warnings) {
        return;
    }
    (void)fputs("<p>To be known about it:</p>\n<ul>\n", out);
    /* Lines of what `predict` warned of: a file that is sent has no standard error. */
    const char *at = reply->warnings != NULL ? reply->warnings : "";
    while (*at != '\0') {
        size_t length = strcspn(at, "\n");
        (void)fputs("<li>", out);
        fulcrum_html_print(out, "%.*s", (int)length, at);
        (void)fputs("</li>\n", out);
        at += length + (at[length] == '\n');
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node flag = fulcrum_node_element(&flags, i);
        char text[300];
        if (fulcrum_node_text(&flag, text, sizeof text)) {
            (void)fputs("<li>", out);
            fulcrum_html_text(out, text);
            (void)fputs("</li>\n", out);
        }
    }
    (void)fputs("</ul>\n", out);
}

static void write_output(struct fulcrum_report_case *machine, size_t i, FILE *out)
{
    const char *name = fulcrum_output_name(i);
    struct fulcrum_report_output output = fulcrum_report_output_of(machine, name);
    char value[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    if (!isfinite(output.value)) {
        return;
    }
    fulcrum_html_row_begin(out, name);
    fulcrum_quantity_words(output.value, output.unit, value);
    fulcrum_range_words(output.lo, output.hi, output.value, output.unit, range);
    fulcrum_html_cell_value(out, value, output.hi > output.lo ? range : "");
    fulcrum_html_cell(out, fulcrum_output_meaning(i));
    fulcrum_html_row_end(out);
}

static enum fulcrum_status write_prediction(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const char *const headings[] = {"quantity", "#value", "meaning"};
    struct fulcrum_reply *reply = fulcrum_report_predicted(machine);
    (void)job;
    (void)err;
    char caption[FULCRUM_REPORT_CAPTION_SIZE];
    fulcrum_html_stack_begin(out,
        fulcrum_report_caption(machine, "Every output of the prediction", caption),
        headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        write_output(machine, i, out);
    }
    fulcrum_html_table_end(out);
    write_flags(reply, out);
    fulcrum_report_made_with(reply, out);
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_prediction = {
    .id = "prediction",
    .title = "The prediction in full",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_prediction,
    .write = write_prediction,
};

/* Where an observation is between two actions, in the order that it gets there. */
static const struct stage {
    const char *output;
    const char *words;
} stages[] = {
    {"cpu_residence_s", "waiting for a thread, and stepping"},
    {"host_residence_s", "waiting for a batch, and on the host"},
    {"gpu_residence_s", "waiting for the learner's device, and on it"},
    {"delay_s", "on the way back"},
};

enum { STAGES = sizeof stages / sizeof stages[0] };

/* One bar of parts; the legend below says what they are. */
static void write_bar(const double *seconds, double cycle_s, FILE *out)
{
    double x = 0.0;
    (void)fputs(
        "<svg class=\"bar\" viewBox=\"0 0 600 28\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"",
        out);
    for (size_t i = 0; i < STAGES; i++) {
        fulcrum_html_print(out, "%s%s %.0f %%", i > 0 ? ", " : "", stages[i].words,
            100.0 * seconds[i] / cycle_s);
    }
    (void)fputs("\">", out);
    for (size_t i = 0; i < STAGES; i++) {
        double width = 600.0 * seconds[i] / cycle_s;
        (void)fprintf(out,
            "<rect class=\"s%zu\" x=\"%.1f\" width=\"%.1f\" height=\"28\"/>", i, x,
            width);
        x += width;
    }
    (void)fputs("</svg>\n", out);
}

static void write_stage_row(
    struct fulcrum_report_case *machine, size_t i, double cycle_s, FILE *out)
{
    struct fulcrum_report_output output =
        fulcrum_report_output_of(machine, stages[i].output);
    char text[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    (void)fprintf(out, "<tr><th scope=\"row\"><span class=\"key s%zu\"></span>", i);
    fulcrum_html_text(out, stages[i].words);
    (void)fputs("</th>", out);
    fulcrum_quantity_words(output.value, output.unit, text);
    fulcrum_range_words(output.lo, output.hi, output.value, output.unit, range);
    fulcrum_html_cell_value(out, text, range);
    fulcrum_quantity_words(output.value / cycle_s, "%", text);
    fulcrum_html_cell_number(out, text);
    fulcrum_html_row_end(out);
}

static void write_busy(struct fulcrum_report_case *machine, FILE *out)
{
    static const char *const headings[] = {"part", "from 0 to 100 %", "#busy"};
    static const struct part {
        const char *output;
        const char *words;
    } parts[] = {
        {"cpu_thread_busy_frac", "threads open to actors"},
        {"host_busy_frac", "host stage"},
        {"gpu_busy_frac", "learner's device"},
        {"gpu_inference_busy_frac", "of that, with inference"},
        {"gpu_train_busy_frac", "of that, with training"},
        {"sm_active_frac", "SMs, as power counts them"},
    };
    char caption[FULCRUM_REPORT_CAPTION_SIZE];
    fulcrum_html_table_begin(out,
        fulcrum_report_caption(machine, "How busy each part is", caption), headings,
        sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct fulcrum_report_output busy =
            fulcrum_report_output_of(machine, parts[i].output);
        char text[FULCRUM_QUANTITY_SIZE];
        char range[2 * FULCRUM_QUANTITY_SIZE];
        if (!isfinite(busy.value)) {
            continue;
        }
        fulcrum_html_row_begin(out, parts[i].words);
        fulcrum_quantity_words(busy.value, "%", text);
        fulcrum_range_words(busy.lo, busy.hi, busy.value, "%", range);
        const struct fulcrum_whisker whisker = {
            busy.value, busy.lo, busy.hi, 0.0, 1.0, (double)NAN};
        fulcrum_html_cell_whisker(out, &whisker, text);
        fulcrum_html_cell_value(out, text, range);
        fulcrum_html_row_end(out);
    }
    fulcrum_html_table_end(out);
}

/* The cycle at the design itself; nothing where its parts are not known. */
static void write_cycle(struct fulcrum_report_case *machine, FILE *out)
{
    static const char *const headings[] = {"an observation is", "#for", "#share"};
    double seconds[STAGES];
    double cycle_s = 0.0;
    for (size_t i = 0; i < STAGES; i++) {
        double value = fulcrum_report_output_of(machine, stages[i].output).value;
        seconds[i] = isfinite(value) ? value : 0.0;
        cycle_s += seconds[i];
    }
    if (!(cycle_s > 0.0)) {
        return;
    }
    char text[FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(cycle_s, "s", text);
    (void)fputs("<p>From one step of an environment to its next pass ", out);
    fulcrum_html_text(out, text);
    (void)fputs(" on average.</p>\n", out);
    write_bar(seconds, cycle_s, out);
    char caption[FULCRUM_REPORT_CAPTION_SIZE];
    fulcrum_html_table_begin(out,
        fulcrum_report_caption(machine, "Where the time of a cycle goes", caption),
        headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < STAGES; i++) {
        if (seconds[i] > 0.0) {
            write_stage_row(machine, i, cycle_s, out);
        }
    }
    fulcrum_html_table_end(out);
}

static enum fulcrum_status write_time(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Where the time of a cycle goes, over the number of actors",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_breakdown,
        .height_pt = 360.0,
        .narrow_height_pt = 400.0,
        .breakdown = {&fulcrum_bars_cycle, FULCRUM_ROW_SHARE},
    };
    struct fulcrum_report_replies *sweeps =
        fulcrum_report_replies_of(machine, "actors");
    (void)job;
    write_cycle(machine, out);
    write_busy(machine, out);
    return sweeps->count > 0 && sweeps->items[0].document != NULL
               ? fulcrum_report_draw(&figure, &sweeps->items[0], out, err)
               : FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_time = {
    .id = "time",
    .title = "Where the time goes",
    .scope = FULCRUM_REPORT_EACH,
    .write = write_time,
};

/* How far stored predictions are off where figures are known. */

/* Errors of one set of points. */
struct errors {
    size_t count;
    double sum;
    double largest;
};

static void add_point(struct errors *errors, const struct fulcrum_stored_point *point)
{
    double error = fabs(point->predicted - point->observed) / fabs(point->observed);
    if (!isfinite(error)) {
        return;
    }
    errors->count++;
    errors->sum += error;
    errors->largest = fmax(errors->largest, error);
}

static bool is_same_set(
    const struct fulcrum_stored_point *a, const struct fulcrum_stored_point *b)
{
    return strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->calibration, b->calibration) == 0 &&
           strcmp(a->quantity, b->quantity) == 0 && a->is_fitted == b->is_fitted;
}

/* Whether an earlier point belongs to the same set. */
static bool is_told(const struct fulcrum_baseline_run *baseline, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_same_set(&baseline->points[k], &baseline->points[i])) {
            return 1;
        }
    }
    return 0;
}

static void write_errors(const char *name, const char *quantity, const char *kind,
    const struct errors *errors, FILE *out)
{
    char text[FULCRUM_QUANTITY_SIZE];
    char label[200];
    (void)snprintf(label, sizeof label, "%.100s: %.80s", name, quantity);
    fulcrum_html_row_begin(out, label);
    fulcrum_html_cell(out, kind);
    fulcrum_number_words((double)errors->count, 6, text);
    fulcrum_html_cell_number(out, text);
    (void)snprintf(
        text, sizeof text, "%.1f %%", 100.0 * errors->sum / (double)errors->count);
    fulcrum_html_cell_number(out, text);
    (void)snprintf(text, sizeof text, "%.1f %%", 100.0 * errors->largest);
    fulcrum_html_cell_number(out, text);
    fulcrum_html_row_end(out);
}

static void write_set(
    const struct fulcrum_baseline_run *baseline, size_t first, FILE *out)
{
    const struct fulcrum_stored_point *point = &baseline->points[first];
    struct errors errors = {.count = 0};
    for (size_t i = first; i < baseline->count; i++) {
        if (is_same_set(&baseline->points[i], point)) {
            add_point(&errors, &baseline->points[i]);
        }
    }
    if (errors.count > 0) {
        write_errors(point->reference, point->quantity,
            point->is_fitted ? "by the fit" : "no", &errors, out);
    }
}

/* Sets that were predicted from a calibration in use here. */
static size_t write_relevant(
    const struct fulcrum_baseline_run *baseline, const char *used, FILE *out)
{
    size_t found = 0;
    for (size_t i = 0; i < baseline->count; i++) {
        const char *calibration = baseline->points[i].calibration;
        if (calibration[0] != '\0' && strstr(used, calibration) != NULL &&
            !is_told(baseline, i)) {
            write_set(baseline, i, out);
            found++;
        }
    }
    return found;
}

static void write_table(
    const struct fulcrum_baseline_run *baseline, const char *used, FILE *out)
{
    static const char *const headings[] = {
        "compared with", "seen before", "#points", "#mean error", "#largest"};
    fulcrum_html_table_begin(out, "Errors where the truth is known", headings,
        sizeof headings / sizeof headings[0]);
    size_t found = write_relevant(baseline, used, out);
    /* All that no fit has seen, of the model's main quantity. */
    struct errors errors = {.count = 0};
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *point = &baseline->points[i];
        if (!point->is_fitted && point->calibration[0] != '\0' &&
            strcmp(point->quantity, "steps_per_s") == 0) {
            add_point(&errors, point);
        }
    }
    if (errors.count > 0) {
        write_errors("all references of throughput", "steps_per_s", "no", &errors, out);
    }
    fulcrum_html_table_end(out);
    if (found == 0) {
        (void)fputs(
            "<p class=\"note\">No published or measured figure has been compared "
            "with a prediction from this calibration: of its accuracy nothing is "
            "known.</p>\n",
            out);
    }
}

static enum fulcrum_status write_accuracy(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    char used[400];
    struct fulcrum_baseline_run baseline = {.count = 0};
    struct fulcrum_error unheard = {FULCRUM_OK, ""};
    (void)job;
    fulcrum_reply_text(
        fulcrum_report_predicted(machine), "calibration", used, sizeof used);
    enum fulcrum_status status =
        fulcrum_preset_find_file("baseline.json", path, &unheard);
    if (status == FULCRUM_OK) {
        status = fulcrum_baseline_read(path, &baseline, &unheard);
    }
    if (status == FULCRUM_OK) {
        (void)fputs("<p>Predictions that came with this version, beside published and "
                    "measured figures; points that a fit has seen prove nothing.</p>\n",
            out);
        write_table(&baseline, used, out);
    } else {
        (void)fputs("<p class=\"note\">No stored predictions were found: ", out);
        fulcrum_html_text(out, unheard.detail);
        (void)fputs(".</p>\n", out);
    }
    fulcrum_baseline_clear(&baseline);
    return status == FULCRUM_ERR_NO_MEMORY
               ? fulcrum_fail(err, status, "stored predictions")
               : FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_accuracy = {
    .id = "accuracy",
    .title = "How accurate is this?",
    .scope = FULCRUM_REPORT_EACH,
    .write = write_accuracy,
};
