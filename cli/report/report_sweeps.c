/* report_sweeps.c - sections of an HTML report that sweep one field of the design. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/report/report_section.h"

enum { VALUES_MOST = 40 };

/* The values of an axis under way: rising, each once. */
struct values {
    double items[VALUES_MOST];
    size_t count;
};

/* Keeps the order; what is there already is left out. */
static void add_value(struct values *values, double value)
{
    size_t at = values->count;
    while (at > 0 && values->items[at - 1] > value - 0.5) {
        at--;
    }
    if (values->count == VALUES_MOST ||
        (at < values->count && values->items[at] < value + 0.5)) {
        return;
    }
    memmove(&values->items[at + 1], &values->items[at],
        (values->count - at) * sizeof values->items[0]);
    values->items[at] = value;
    values->count++;
}

/* "A,B,C" */
static void write_values(const struct values *values, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < values->count && used < size; i++) {
        int length = snprintf(
            out + used, size - used, "%s%.0f", i > 0 ? "," : "", values->items[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* "-v", "PATH=A,B,C". */
static void add_axis(
    struct fulcrum_argv_text *words, const char *path, const struct values *values)
{
    char list[VALUES_MOST * 20];
    write_values(values, list, sizeof list);
    fulcrum_argv_text_add(words, "explore");
    fulcrum_argv_text_add(words, "-v");
    fulcrum_argv_text_add(words, "%s=%s", path, list);
}

/* Whether there are actors on threads whose numbers could be others. */
static bool has_actors(struct fulcrum_report_case *machine)
{
    return fulcrum_report_field(machine, "machine.cpu.thread_count") > 0.0 &&
           !fulcrum_report_is_resident(machine);
}

/* A whole number of cores' threads, and no fewer than one core has. */
static double whole_threads(struct fulcrum_report_case *machine, double threads)
{
    double cores = fulcrum_report_field(machine, "machine.cpu.core_count");
    double all = fulcrum_report_field(machine, "machine.cpu.thread_count");
    double per_core = cores > 0.0 && all >= cores ? round(all / cores) : 1.0;
    return fmax(per_core, per_core * round(threads / per_core));
}

/* Ratios from 1/16 to 4, half an octave apart: those of machines there are, and well
 * past the knee. Without GPUs there are no SMs: the threads themselves, 1/8 to 8-fold.
 */
static struct values ratio_threads(struct fulcrum_report_case *machine)
{
    double sms = fulcrum_report_field(machine, "run.sm_count") *
                 fulcrum_report_field(machine, "run.gpu_count");
    double threads = fulcrum_report_field(machine, "machine.cpu.thread_count");
    bool has_gpu = fulcrum_report_has_gpu(machine) && sms > 0.0;
    double unit = has_gpu ? sms : threads;
    int first = has_gpu ? -8 : -6;
    int last = has_gpu ? 4 : 6;
    /* A learner on cores leaves the actors at least one more. */
    double taken =
        has_gpu ? 0.0 : fulcrum_report_field(machine, "machine.learner_core_count");
    double least = whole_threads(machine, 1.0) * (taken + 1.0);
    struct values values = {.count = 0};
    for (int i = first; i <= last; i++) {
        add_value(
            &values, fmax(least, whole_threads(machine, unit * pow(2.0, i / 2.0))));
    }
    add_value(&values, threads);
    return values;
}

/*
 * From too few actors to hide anything, a fifth of the SMs, in numbers that the GPUs
 * can share; 64 times as many are far more than enough.
 */
static double actors_least(struct fulcrum_report_case *machine)
{
    bool has_gpu = fulcrum_report_has_gpu(machine);
    double gpus = has_gpu ? fulcrum_report_field(machine, "run.gpu_count") : 1.0;
    double unit = has_gpu ? fulcrum_report_field(machine, "run.sm_count") / 5.0
                          : fulcrum_report_field(machine, "machine.cpu.thread_count");
    return gpus * pow(2.0, fmax(0.0, round(log2(unit))));
}

static int ask_ratio(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i > 0 || !has_actors(machine)) {
        return 0;
    }
    struct values values = ratio_threads(machine);
    add_axis(words, "machine.cpu.thread_count", &values);
    /*
     * Each point takes the fastest number of actors: with that of the design the best
     * ratio would be the actors' and not the machine's.
     */
    double least = actors_least(machine);
    fulcrum_argv_text_add(words, "--best-actors");
    fulcrum_argv_text_add(words, "%.0f:%.0f:x2", least, 64.0 * least);
    return 1;
}

static enum fulcrum_status write_ratio(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Throughput and performance per watt against the CPU/GPU ratio",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_lines,
        .chart = &fulcrum_chart_ratio,
        .height_pt = 500.0,
        .narrow_height_pt = 480.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "ratio")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs("<p>The ratio is that of hardware threads to the SMs in use. Here the "
                "threads change and the GPUs do not; each point has as many actors as "
                "make it fastest.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    fulcrum_report_best_table(reply, FULCRUM_REPORT_AXIS_RATIO, "CPU/GPU ratio", out);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_ratio = {
    .id = "ratio",
    .title = "CPU/GPU ratio",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_ratio,
    .write = write_ratio,
};

/* A sixteenth to sixteen times as many, in numbers that the GPUs can share. */
static int ask_actors(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    const int octaves = 4;
    double actors = fulcrum_report_field(machine, "run.actor_count");
    double gpus = fulcrum_report_has_gpu(machine)
                      ? fulcrum_report_field(machine, "run.gpu_count")
                      : 1.0;
    if (i > 0 || !has_actors(machine) || !(actors > 0.0) || !(gpus > 0.0)) {
        return 0;
    }
    struct values values = {.count = 0};
    for (int k = -octaves; k <= octaves; k++) {
        double wanted = actors * pow(2.0, k);
        add_value(&values, gpus * fmax(1.0, round(wanted / gpus)));
    }
    add_axis(words, "run.actor_count", &values);
    return 1;
}

static enum fulcrum_status write_actors(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Runtime, watts and performance per watt against the number of actors",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_lines,
        .chart = &fulcrum_chart_actors,
        .height_pt = 500.0,
        .narrow_height_pt = 500.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "actors")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs("<p>The machine stays as it is; more actors hide the time that each "
                "one waits, until something is busy all the time.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    fulcrum_report_best_table(
        reply, FULCRUM_REPORT_AXIS_FIELD, "number of actors", out);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_actors = {
    .id = "actors",
    .title = "Number of actors",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_actors,
    .write = write_actors,
};

/* Both at once: equations only, as colours show no more than their errors. */
static int ask_plane(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i > 0 || !has_actors(machine)) {
        return 0;
    }
    struct values across = ratio_threads(machine);
    char list[VALUES_MOST * 20];
    write_values(&across, list, sizeof list);
    fulcrum_argv_text_add(words, "explore");
    fulcrum_argv_text_add(words, "-v");
    fulcrum_argv_text_add(words, "machine.cpu.thread_count=%s", list);
    fulcrum_argv_text_add(words, "-v");
    fulcrum_argv_text_add(words, "run.actor_count=%.0f:%.0f:x2", actors_least(machine),
        64.0 * actors_least(machine));
    fulcrum_argv_text_add(words, "--intervals");
    fulcrum_argv_text_add(words, "none");
    fulcrum_argv_text_add(words, "--method");
    fulcrum_argv_text_add(words, "fast");
    return 1;
}

static enum fulcrum_status write_plane(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Throughput over CPU threads and actors",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_heat,
        .height_pt = 420.0,
        .narrow_height_pt = 360.0,
    };
    struct fulcrum_reply *reply =
        &fulcrum_report_replies_of(machine, "plane")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs("<p>Threads hide nothing without actors, nor actors without threads: "
                "lines are shares of the best.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_plane = {
    .id = "plane",
    .title = "Threads and actors together",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_plane,
    .write = write_plane,
};

/* From a sixteenth of the SMs to all of them, compared with all. */
static int ask_sms(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    static const double shares[] = {
        1.0 / 16.0, 1.0 / 8.0, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0};
    double sms = fulcrum_report_field(machine, "run.sm_count");
    if (i > 0 || !fulcrum_report_has_gpu(machine) || !(sms >= 2.0)) {
        return 0;
    }
    struct values values = {.count = 0};
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
        add_value(&values, fmax(1.0, round(sms * shares[k])));
    }
    add_axis(words, "run.sm_count", &values);
    fulcrum_argv_text_add(words, "--relative-to");
    fulcrum_argv_text_add(words, "%zu", values.count - 1);
    return 1;
}

static enum fulcrum_status write_sms(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const struct fulcrum_report_figure figure = {
        .label = "Runtime relative to that on all SMs, against the SMs in use",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_lines,
        .chart = &fulcrum_chart_sm,
        .height_pt = 420.0,
        .narrow_height_pt = 420.0,
    };
    struct fulcrum_reply *reply = &fulcrum_report_replies_of(machine, "sms")->items[0];
    (void)job;
    if (!fulcrum_report_has_answer(reply, out)) {
        return FULCRUM_OK;
    }
    (void)fputs(
        "<p>What training on a part of the GPU's SMs would cost: where the line "
        "stays near 1, a smaller GPU would do.</p>\n",
        out);
    enum fulcrum_status status = fulcrum_report_draw(&figure, reply, out, err);
    fulcrum_report_made_with(reply, out);
    return status;
}

const struct fulcrum_report_section fulcrum_report_sms = {
    .id = "sms",
    .title = "SMs in use",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_sms,
    .write = write_sms,
};

/* An output with its interval; NULL leaves the cell empty. */
static void write_power_cell(
    struct fulcrum_report_case *machine, const char *name, FILE *out)
{
    char value[FULCRUM_QUANTITY_SIZE] = "";
    char range[2 * FULCRUM_QUANTITY_SIZE] = "";
    if (name != NULL) {
        struct fulcrum_report_output output = fulcrum_report_output_of(machine, name);
        const char *unit = output.unit[0] == '1' ? "" : output.unit;
        fulcrum_quantity_words(output.value, unit, value);
        fulcrum_range_words(output.lo, output.hi, output.value, unit, range);
    }
    fulcrum_html_cell_value(out, value, range);
}

static enum fulcrum_status write_power(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const char *const headings[] = {
        "of", "#watts", "#the whole training", "#steps per joule"};
    static const struct part {
        const char *name;
        const char *watts;
        const char *joules;
        const char *steps_per_j;
    } parts[] = {
        {"processors", "cpu_w", NULL, NULL},
        {"GPUs used", "gpu_w", "gpu_j", "steps_per_j_gpu"},
        {"everything, behind the plug", "system_w", "system_j", "steps_per_j_system"},
    };
    static const struct fulcrum_report_figure figure = {
        .label = "What draws the power behind the plug, over the number of actors",
        .content = FULCRUM_PLOT_SWEEP,
        .draw = fulcrum_plot_breakdown,
        .height_pt = 360.0,
        .narrow_height_pt = 400.0,
        .breakdown = {&fulcrum_bars_watts, FULCRUM_ROW_AMOUNT},
    };
    struct fulcrum_report_replies *sweeps =
        fulcrum_report_replies_of(machine, "actors");
    (void)job;
    if (!isfinite(fulcrum_report_output_of(machine, "system_w").value)) {
        (void)fputs("<p class=\"note\">Of this machine no watts are known.</p>\n", out);
        return FULCRUM_OK;
    }
    char caption[FULCRUM_REPORT_CAPTION_SIZE];
    fulcrum_html_table_begin(out,
        fulcrum_report_caption(machine, "Power and energy of the design", caption),
        headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        fulcrum_html_row_begin(out, parts[i].name);
        write_power_cell(machine, parts[i].watts, out);
        write_power_cell(machine, parts[i].joules, out);
        write_power_cell(machine, parts[i].steps_per_j, out);
        fulcrum_html_row_end(out);
    }
    fulcrum_html_table_end(out);
    bool has_gpu_watts = isfinite(fulcrum_report_output_of(machine, "gpu_w").value);
    return has_gpu_watts && sweeps->count > 0 && sweeps->items[0].document != NULL
               ? fulcrum_report_draw(&figure, &sweeps->items[0], out, err)
               : FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_power = {
    .id = "power",
    .title = "Power and energy",
    .scope = FULCRUM_REPORT_EACH,
    .write = write_power,
};
