/* report_inputs.c - every value behind an HTML report, and where it came from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/report/report_section.h"
#include "model/design/design.h"

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

static const char *origin_words(const char *kind)
{
    for (size_t i = 0; i < ORIGINS; i++) {
        if (strcmp(origins[i].kind, kind) == 0) {
            return origins[i].cell;
        }
    }
    return kind;
}

/* The row of a field in the document of a prediction; no value where it is not in
 * force. */
static struct fulcrum_node row_of(struct fulcrum_report_case *machine, const char *path)
{
    struct fulcrum_node root = fulcrum_reply_root(fulcrum_report_predicted(machine));
    struct fulcrum_node inputs = fulcrum_node_member(&root, "inputs");
    return fulcrum_node_member(&inputs, path);
}

static void count_origins(struct fulcrum_report_case *machine, FILE *out)
{
    size_t counts[ORIGINS] = {0};
    size_t all = 0;
    size_t field_count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&field_count);
    for (size_t i = 0; i < field_count; i++) {
        struct fulcrum_node row = row_of(machine, fields[i].path);
        char kind[32];
        fulcrum_node_member_text(&row, "origin", kind, sizeof kind);
        for (size_t k = 0; k < ORIGINS; k++) {
            counts[k] += strcmp(origins[k].kind, kind) == 0 ? 1 : 0;
        }
        all += kind[0] != '\0' ? 1 : 0;
    }
    fulcrum_html_print(out, "%zu values are behind the prediction", all);
    for (size_t k = 0; k < ORIGINS; k++) {
        if (counts[k] > 0 || k == 0) {
            fulcrum_html_print(
                out, "%s%zu %s", k == 0 ? ": " : ", ", counts[k], origins[k].counted);
        }
    }
    (void)fputs(".", out);
}

static void write_field(
    struct fulcrum_report_case *machine, const struct fulcrum_field *field, FILE *out)
{
    struct fulcrum_node row = row_of(machine, field->path);
    char kind[32];
    char from[200];
    char source[1200];
    if (row.json == NULL) {
        return;
    }
    fulcrum_node_member_text(&row, "origin", kind, sizeof kind);
    fulcrum_node_member_text(&row, "from", from, sizeof from);
    fulcrum_node_member_text(&row, "source", source, sizeof source);
    (void)fputs("<tr><th scope=\"row\"><code>", out);
    fulcrum_html_text(out, field->path);
    (void)fputs("</code></th>", out);
    /* As --set takes it; texts as they are. */
    char unit[32];
    char text[200];
    double number = fulcrum_node_member_number(&row, "value");
    fulcrum_node_member_text(&row, "unit", unit, sizeof unit);
    if (isfinite(number)) {
        (void)snprintf(text, sizeof text, "%.6g%s%s", number,
            unit[0] != '\0' ? "\xC2\xA0" : "", unit);
    } else {
        fulcrum_node_member_text(&row, "value", text, sizeof text);
    }
    fulcrum_html_cell(out, text);
    (void)fputs("<td class=\"origin-", out);
    fulcrum_html_text(out, kind);
    (void)fputs("\">", out);
    fulcrum_html_text(out, origin_words(kind));
    (void)fputs("</td><td class=\"source\">", out);
    fulcrum_html_print(out, "%s%s%s", from,
        from[0] != '\0' && source[0] != '\0' ? ": " : "",
        source[0] != '\0' ? source : "");
    (void)fputs("</td></tr>\n", out);
}

static void write_fields(
    struct fulcrum_report_case *machine, const char *prefix, FILE *out)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(fields[i].path, prefix, strlen(prefix)) == 0) {
            write_field(machine, &fields[i], out);
        }
    }
}

static enum fulcrum_status write_inputs(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const char *const headings[] = {"field", "value", "origin", "from"};
    static const struct part {
        const char *prefix;
        const char *caption;
    } parts[] = {{"machine.", "The machine"}, {"workload.", "The workload"},
        {"run.", "The run"}};
    (void)job;
    (void)err;
    (void)fputs("<p>", out);
    count_origins(machine, out);
    (void)fputs(" Each can be changed with <code>--set FIELD=VALUE</code>.</p>\n", out);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        fulcrum_html_stack_begin(
            out, parts[k].caption, headings, sizeof headings / sizeof headings[0]);
        write_fields(machine, parts[k].prefix, out);
        fulcrum_html_table_end(out);
    }
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_inputs = {
    .id = "inputs",
    .title = "Inputs and where they come from",
    .scope = FULCRUM_REPORT_EACH,
    .write = write_inputs,
};

/* Calibrations that were named, then the workload's own where it is in use. */
static int ask_calibrations(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    char own[200];
    char used[400];
    size_t named = 0;
    for (size_t k = 0; k + 1 < machine->design.count; k++) {
        if (strcmp(machine->design.items[k], "-c") == 0 && named++ == i) {
            fulcrum_argv_text_add(words, "show");
            fulcrum_argv_text_add(words, "calibration");
            fulcrum_argv_text_add(words, "%s", machine->design.items[k + 1]);
            return 1;
        }
    }
    struct fulcrum_node row = row_of(machine, "workload.calibration");
    fulcrum_node_member_text(&row, "value", own, sizeof own);
    fulcrum_reply_text(
        fulcrum_report_predicted(machine), "calibration", used, sizeof used);
    if (i != named || own[0] == '\0' || strstr(used, own) == NULL) {
        return 0;
    }
    fulcrum_argv_text_add(words, "show");
    fulcrum_argv_text_add(words, "calibration");
    fulcrum_argv_text_add(words, "%s", own);
    return 1;
}

static void write_fit(const struct fulcrum_node *fit, FILE *out)
{
    char text[400];
    char number[FULCRUM_QUANTITY_SIZE];
    fulcrum_node_member_text(fit, "name", text, sizeof text);
    fulcrum_html_row_begin(out, text);
    fulcrum_node_member_text(fit, "form", text, sizeof text);
    fulcrum_html_cell(out, text);
    fulcrum_number_words(fulcrum_node_member_number(fit, "point_count"), 4, number);
    fulcrum_html_cell_number(out, number);
    fulcrum_quantity_words(fulcrum_node_member_number(fit, "mape_frac"), "%", number);
    fulcrum_html_cell_number(out, number);
    fulcrum_quantity_words(fulcrum_node_member_number(fit, "max_frac"), "%", number);
    fulcrum_html_cell_number(out, number);
    fulcrum_node_member_text(fit, "warning", text, sizeof text);
    fulcrum_html_cell(out, text);
    fulcrum_html_row_end(out);
}

static void write_fits(struct fulcrum_node *root, FILE *out)
{
    static const char *const headings[] = {
        "fit", "form", "#points", "#mean error", "#largest", "warning"};
    struct fulcrum_node fits = fulcrum_node_member(root, "fits");
    size_t count = fulcrum_node_count(&fits);
    if (count == 0) {
        return;
    }
    fulcrum_html_table_begin(
        out, "Fits of the calibration", headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node fit = fulcrum_node_element(&fits, i);
        write_fit(&fit, out);
    }
    fulcrum_html_table_end(out);
}

static void write_notes(struct fulcrum_node *root, FILE *out)
{
    struct fulcrum_node notes = fulcrum_node_member(root, "notes");
    size_t count = fulcrum_node_count(&notes);
    if (count == 0) {
        return;
    }
    (void)fputs("<dl class=\"notes\">\n", out);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node note = fulcrum_node_element(&notes, i);
        char key[100];
        char text[2000];
        fulcrum_node_member_text(&note, "key", key, sizeof key);
        fulcrum_node_member_text(&note, "text", text, sizeof text);
        (void)fputs("<div><dt>", out);
        fulcrum_html_text(out, key);
        (void)fputs("</dt><dd>", out);
        fulcrum_html_text(out, text);
        (void)fputs("</dd></div>\n", out);
    }
    (void)fputs("</dl>\n", out);
}

static enum fulcrum_status write_calibrations(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "calibrations");
    (void)job;
    (void)err;
    for (size_t i = 0; i < replies->count; i++) {
        struct fulcrum_reply *reply = &replies->items[i];
        char name[200];
        char title[600];
        if (!fulcrum_report_has_answer(reply, out)) {
            continue;
        }
        struct fulcrum_node root = fulcrum_reply_root(reply);
        fulcrum_reply_text(reply, "name", name, sizeof name);
        fulcrum_reply_text(reply, "title", title, sizeof title);
        (void)fputs("<p><strong>", out);
        fulcrum_html_text(out, name);
        (void)fputs("</strong>: ", out);
        fulcrum_html_text(out, title);
        (void)fputs(".</p>\n", out);
        write_fits(&root, out);
        write_notes(&root, out);
    }
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_calibrations = {
    .id = "calibrations",
    .title = "Calibrations",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_calibrations,
    .write = write_calibrations,
};

static enum fulcrum_status write_method(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    struct fulcrum_reply *predicted = fulcrum_report_predicted(machine);
    struct fulcrum_node root = fulcrum_reply_root(predicted);
    struct fulcrum_node intervals = fulcrum_node_member(&root, "intervals");
    double draws = fulcrum_node_member_number(&intervals, "draws");
    double error = fulcrum_reply_number(predicted, "solver_error_rel");
    char method[64];
    (void)err;
    fulcrum_reply_text(predicted, "method", method, sizeof method);
    (void)fputs(
        "<p>A closed queueing network of actors, host and learner is solved for "
        "each point. ",
        out);
    fulcrum_html_print(out, "The point of %s: method %s", machine->name, method);
    if (error > 0.0) {
        fulcrum_html_print(out, ", accurate to %.2g %%", 100.0 * error);
    }
    if (draws > 0.0) {
        fulcrum_html_print(out,
            ". Intervals go from the 5th to the 95th percentile over %.6g draws of "
            "what "
            "the calibration and the priors leave uncertain; they do not hold what the "
            "model itself gets wrong",
            draws);
    } else {
        (void)fputs(". No intervals were asked for", out);
    }
    fulcrum_html_print(out,
        ". Seed %.0f; the same inputs and seed give the same bytes.",
        job->settings->solve.solver.seed);
    (void)fputs("</p>\n<p>This file was made with fulcrum " FULCRUM_VERSION
                " by</p>\n<pre><code>",
        out);
    fulcrum_report_print_words(&job->line, out);
    (void)fputs(" -o report.html</code></pre>\n", out);
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_method = {
    .id = "method",
    .title = "Method, and how to make this again",
    .scope = FULCRUM_REPORT_ALL,
    .write = write_method,
};

/* Several machines of an HTML report beside each other. */

/* What is compared, each in a table of its own: a dot needs the width of a phone. */
static const struct metric {
    const char *output;
    const char *caption;
    const char *unit_words;
} metrics[] = {
    {"steps_per_s", "Throughput, steps per second", "#steps/s"},
    {"steps_per_j_gpu", "Performance per GPU watt, steps per joule", "#steps/J"},
    {"steps_per_j_system", "Performance per system watt, steps per joule", "#steps/J"},
    {"runtime_s", "The whole training", "#time"},
    {"system_w", "Power behind the plug", "#watts"},
};

/* From zero to the largest end of any interval. */
static double reach(struct fulcrum_report_job *job, const char *output)
{
    double most = 0.0;
    for (size_t i = 0; i < job->case_count; i++) {
        struct fulcrum_report_output found =
            fulcrum_report_output_of(job->cases[i], output);
        most = fmax(most, fmax(isfinite(found.value) ? found.value : 0.0,
                              isfinite(found.hi) ? found.hi : 0.0));
    }
    return most;
}

static void write_row(struct fulcrum_report_case *machine, const struct metric *metric,
    double most, FILE *out)
{
    struct fulcrum_report_output found =
        fulcrum_report_output_of(machine, metric->output);
    const char *unit = found.unit[0] == '1' ? "" : found.unit;
    char text[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(found.value, unit, text);
    fulcrum_range_words(found.lo, found.hi, found.value, unit, range);
    const struct fulcrum_whisker whisker = {
        found.value, found.lo, found.hi, 0.0, most, (double)NAN};
    fulcrum_html_row_begin(out, machine->name);
    fulcrum_html_cell_whisker(out, &whisker, text);
    fulcrum_html_cell_value(out, text, range);
    fulcrum_html_row_end(out);
}

/* What holds each machine back, and its ratios. */
static void write_facts(struct fulcrum_report_job *job, FILE *out)
{
    static const char *const headings[] = {"machine", "held back by", "#threads",
        "#GPUs in use", "#CPU/GPU ratio in use", "#of the whole machine"};
    fulcrum_html_table_begin(
        out, "What the machines are", headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < job->case_count; i++) {
        struct fulcrum_report_case *machine = job->cases[i];
        const double numbers[] = {
            fulcrum_report_field(machine, "machine.cpu.thread_count"),
            fulcrum_report_has_gpu(machine)
                ? fulcrum_report_field(machine, "run.gpu_count")
                : (double)NAN,
            fulcrum_report_output_of(machine, "cpu_gpu_ratio_used").value,
            fulcrum_report_output_of(machine, "cpu_gpu_ratio_machine").value,
        };
        char text[FULCRUM_QUANTITY_SIZE];
        fulcrum_html_row_begin(out, machine->name);
        fulcrum_reply_text(
            fulcrum_report_predicted(machine), "bottleneck", text, sizeof text);
        fulcrum_html_cell(out, text);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            fulcrum_number_words(numbers[k], 3, text);
            fulcrum_html_cell_number(out, text);
        }
        fulcrum_html_row_end(out);
    }
    fulcrum_html_table_end(out);
}

static enum fulcrum_status write_machines(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    (void)machine;
    (void)err;
    (void)fputs("<p>The same workload, actors and settings on each machine. Dots are "
                "predictions, lines their 90 % intervals, from zero at the left. The "
                "intervals of two machines share much of what is uncertain: that they "
                "overlap does not say that the machines are alike.</p>\n",
        out);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const struct metric *metric = &metrics[i];
        const char *const headings[] = {"machine", "from zero", metric->unit_words};
        double most = reach(job, metric->output);
        if (!(most > 0.0)) {
            continue;
        }
        fulcrum_html_table_begin(
            out, metric->caption, headings, sizeof headings / sizeof headings[0]);
        for (size_t k = 0; k < job->case_count; k++) {
            write_row(job->cases[k], metric, most, out);
        }
        fulcrum_html_table_end(out);
    }
    write_facts(job, out);
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_machines = {
    .id = "machines",
    .title = "Machines compared",
    .scope = FULCRUM_REPORT_SEVERAL,
    .write = write_machines,
};
