/* report_section.c - the sections of an HTML report, and the document around them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/options.h"
#include "cli/output/report.h"
#include "model/predict/predict.h"
#include "model/predict/solver.h"
#include "model/try.h"

/* What one HTML report is about, and what other commands said of it. */

/* Options that every question about the workload has, whatever the machine. */
static void add_design(
    const struct fulcrum_report_settings *settings, struct fulcrum_argv_text *words)
{
    if (settings->design.workload != NULL) {
        fulcrum_argv_text_add(words, "-w");
        fulcrum_argv_text_add(words, "%s", settings->design.workload);
    }
    for (size_t i = 0; i < settings->design.calibrations.count; i++) {
        fulcrum_argv_text_add(words, "-c");
        fulcrum_argv_text_add(words, "%s", settings->design.calibrations.items[i]);
    }
    for (size_t i = 0; i < settings->design.sets.count; i++) {
        fulcrum_argv_text_add(words, "--set");
        fulcrum_argv_text_add(words, "%s", settings->design.sets.items[i]);
    }
}

static void add_actors(
    const struct fulcrum_report_settings *settings, struct fulcrum_argv_text *words)
{
    if (!isnan(settings->design.actor_count)) {
        fulcrum_argv_text_add(words, "--actors");
        fulcrum_argv_text_add(words, "%.0f", settings->design.actor_count);
    }
}

/* Only what differs from the commands' own, so that lines stay short. */
static void add_solver(
    const struct fulcrum_solve_settings *solve, struct fulcrum_argv_text *words)
{
    const double usual_seed = 1.0;
    const double usual_steps = 2e7;
    const struct fulcrum_solver_settings *solver = &solve->solver;
    if (solver->method != (int)FULCRUM_METHOD_AUTO) {
        fulcrum_argv_text_add(words, "--method");
        fulcrum_argv_text_add(
            words, "%s", fulcrum_method_name((enum fulcrum_method)solver->method));
    }
    if (!isnan(solver->half_width_rel)) {
        fulcrum_argv_text_add(words, "--half-width");
        fulcrum_argv_text_add(words, "%.17g", solver->half_width_rel);
    }
    if (fabs(solver->seed - usual_seed) > 0.0) {
        fulcrum_argv_text_add(words, "--seed");
        fulcrum_argv_text_add(words, "%.0f", solver->seed);
    }
    if (fabs(solver->max_steps - usual_steps) > 0.0) {
        fulcrum_argv_text_add(words, "--max-steps");
        fulcrum_argv_text_add(words, "%.0f", solver->max_steps);
    }
    if (solve->intervals != NULL) {
        fulcrum_argv_text_add(words, "--intervals");
        fulcrum_argv_text_add(words, "%s", solve->intervals);
    }
}

static void add_line(
    const struct fulcrum_report_settings *settings, struct fulcrum_argv_text *line)
{
    fulcrum_argv_text_add(line, "fulcrum");
    fulcrum_argv_text_add(line, "report");
    for (size_t i = 0; i < settings->machines.count; i++) {
        fulcrum_argv_text_add(line, "-m");
        fulcrum_argv_text_add(line, "%s", settings->machines.items[i]);
    }
    add_design(settings, line);
    add_actors(settings, line);
    add_solver(&settings->solve, line);
    for (size_t i = 0; i < settings->sections.count; i++) {
        fulcrum_argv_text_add(line, "--section");
        fulcrum_argv_text_add(line, "%s", settings->sections.items[i]);
    }
    if (settings->title != NULL) {
        fulcrum_argv_text_add(line, "--title");
        fulcrum_argv_text_add(line, "%s", settings->title);
    }
}

static struct fulcrum_report_case *new_case(
    const struct fulcrum_report_settings *settings, const char *machine)
{
    struct fulcrum_report_case *added = calloc(1, sizeof *added);
    if (added == NULL) {
        return NULL;
    }
    (void)snprintf(added->name, sizeof added->name, "%s", machine);
    fulcrum_argv_text_add(&added->design, "-m");
    fulcrum_argv_text_add(&added->design, "%s", machine);
    add_design(settings, &added->design);
    add_actors(settings, &added->actors);
    add_solver(&settings->solve, &added->solver);
    return added;
}

static enum fulcrum_status check(const struct fulcrum_report_settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    FULCRUM_USAGE_IF(settings->machines.count > FULCRUM_REPORT_MACHINES_MOST, context,
        err, FULCRUM_ERR_RANGE,
        "--machine is given %zu times: a report takes at most %d",
        settings->machines.count, (int)FULCRUM_REPORT_MACHINES_MOST);
    return fulcrum_machine_names_check(&settings->machines, context, err);
}

enum fulcrum_status fulcrum_report_job_new(
    const struct fulcrum_report_settings *settings, struct fulcrum_report_job **out,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    TRY(check(settings, context, err));
    struct fulcrum_report_job *job = calloc(1, sizeof *job);
    TRY_MEMORY(job, err, "a report");
    job->settings = settings;
    add_line(settings, &job->line);
    bool is_short = job->line.is_short;
    for (size_t i = 0; i < settings->machines.count && !is_short; i++) {
        job->cases[i] = new_case(settings, settings->machines.items[i]);
        is_short = job->cases[i] == NULL || job->cases[i]->design.is_short;
        job->case_count += job->cases[i] != NULL ? 1 : 0;
    }
    if (is_short) {
        fulcrum_report_job_free(job);
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "a report takes a command line of at most %d words",
            (int)FULCRUM_WORDS_MOST);
    }
    *out = job;
    return FULCRUM_OK;
}

static void case_free(struct fulcrum_report_case *machine)
{
    for (size_t i = 0; i < FULCRUM_REPORT_SECTIONS_MOST; i++) {
        for (size_t k = 0; k < machine->sections[i].count; k++) {
            fulcrum_reply_clear(&machine->sections[i].items[k]);
        }
    }
    fulcrum_argv_text_clear(&machine->design);
    fulcrum_argv_text_clear(&machine->actors);
    fulcrum_argv_text_clear(&machine->solver);
    free(machine);
}

void fulcrum_report_job_free(struct fulcrum_report_job *job)
{
    if (job == NULL) {
        return;
    }
    for (size_t i = 0; i < job->case_count; i++) {
        case_free(job->cases[i]);
    }
    fulcrum_argv_text_clear(&job->line);
    free(job);
}

struct fulcrum_report_replies *fulcrum_report_replies_of(
    struct fulcrum_report_case *machine, const char *section)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    size_t i = 0;
    while (sections[i] != NULL && strcmp(sections[i]->id, section) != 0) {
        i++;
    }
    return &machine->sections[i]; /* the place after the last one stays empty */
}

struct fulcrum_reply *fulcrum_report_predicted(struct fulcrum_report_case *machine)
{
    return &fulcrum_report_replies_of(machine, "prediction")->items[0];
}

static struct fulcrum_node field_row(
    struct fulcrum_report_case *machine, const char *path)
{
    struct fulcrum_node root = fulcrum_reply_root(fulcrum_report_predicted(machine));
    struct fulcrum_node inputs = fulcrum_node_member(&root, "inputs");
    return fulcrum_node_member(&inputs, path);
}

void fulcrum_report_name(struct fulcrum_report_case *machine)
{
    struct fulcrum_reply *predicted = fulcrum_report_predicted(machine);
    struct fulcrum_node row = field_row(machine, "machine.cpu.name");
    char name[80];
    char cpu[80];
    fulcrum_reply_text(predicted, "machine", name, sizeof name);
    fulcrum_node_member_text(&row, "value", cpu, sizeof cpu);
    if (strcmp(name, "this") == 0 && cpu[0] != '\0') {
        (void)snprintf(machine->name, sizeof machine->name, "this machine (%s)", cpu);
    } else if (name[0] != '\0') {
        (void)snprintf(machine->name, sizeof machine->name, "%s", name);
    }
}

static const char *unit_of(const char *name)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        if (strcmp(fulcrum_output_name(i), name) == 0) {
            return fulcrum_shown_unit(name, fulcrum_output_unit(i));
        }
    }
    return "";
}

struct fulcrum_report_output fulcrum_report_output_of(
    struct fulcrum_report_case *machine, const char *name)
{
    struct fulcrum_reply *predicted = fulcrum_report_predicted(machine);
    struct fulcrum_node root = fulcrum_reply_root(predicted);
    struct fulcrum_node intervals = fulcrum_node_member(&root, "intervals");
    struct fulcrum_node ends = fulcrum_node_member(&intervals, name);
    struct fulcrum_node lo = fulcrum_node_element(&ends, 0);
    struct fulcrum_node hi = fulcrum_node_element(&ends, 1);
    return (struct fulcrum_report_output){
        .value = fulcrum_node_member_number(&root, name),
        .lo = lo.json != NULL ? fulcrum_node_value(&lo) : (double)NAN,
        .hi = hi.json != NULL ? fulcrum_node_value(&hi) : (double)NAN,
        .unit = unit_of(name),
    };
}

const char *fulcrum_report_caption(struct fulcrum_report_case *machine,
    const char *text, char out[FULCRUM_REPORT_CAPTION_SIZE])
{
    bool has_intervals = isfinite(fulcrum_report_output_of(machine, "steps_per_s").lo);
    (void)snprintf(out, FULCRUM_REPORT_CAPTION_SIZE, "%.120s%s", text,
        has_intervals ? ", with 90 % intervals" : "");
    return out;
}

double fulcrum_report_field(struct fulcrum_report_case *machine, const char *path)
{
    struct fulcrum_node row = field_row(machine, path);
    return fulcrum_node_member_number(&row, "value");
}

bool fulcrum_report_is_resident(struct fulcrum_report_case *machine)
{
    struct fulcrum_node row = field_row(machine, "workload.simulation.device");
    char device[16];
    fulcrum_node_member_text(&row, "value", device, sizeof device);
    return strcmp(device, "gpu") == 0;
}

bool fulcrum_report_has_gpu(struct fulcrum_report_case *machine)
{
    return isfinite(
        fulcrum_reply_number(fulcrum_report_predicted(machine), "gpu_count"));
}

const struct fulcrum_report_section *const *fulcrum_report_sections(void)
{
    static const struct fulcrum_report_section *const sections[] = {
        &fulcrum_report_summary,
        &fulcrum_report_machines,
        &fulcrum_report_ratio,
        &fulcrum_report_levers,
        &fulcrum_report_actors,
        &fulcrum_report_plane,
        &fulcrum_report_time,
        &fulcrum_report_power,
        &fulcrum_report_node,
        &fulcrum_report_sms,
        &fulcrum_report_memory,
        &fulcrum_report_partition,
        &fulcrum_report_cluster,
        &fulcrum_report_sensitivity,
        &fulcrum_report_prediction,
        &fulcrum_report_accuracy,
        &fulcrum_report_calibrations,
        &fulcrum_report_inputs,
        &fulcrum_report_method,
        NULL,
    };
    return sections;
}

/* The summary is always there. */
const char *fulcrum_report_section_name(int index)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    for (int i = 0; sections[i + 1] != NULL; i++) {
        if (i == index) {
            return sections[i + 1]->id;
        }
    }
    return NULL;
}

static bool is_wanted(const struct fulcrum_report_settings *settings, const char *id)
{
    for (size_t i = 0; i < settings->sections.count; i++) {
        if (strcmp(settings->sections.items[i], id) == 0) {
            return 1;
        }
    }
    return settings->sections.count == 0;
}

/* A section that asked and was not answered by any question does not apply. */
static int applies(const struct fulcrum_report_section *section, size_t place,
    const struct fulcrum_report_case *machine)
{
    return section->ask == NULL || machine->sections[place].count > 0;
}

/* Whether the section stands in this report at all. */
static bool is_written(const struct fulcrum_report_job *job, size_t place)
{
    const struct fulcrum_report_section *section = fulcrum_report_sections()[place];
    int any = 0;
    for (size_t i = 0; i < job->case_count; i++) {
        any |= applies(section, place, job->cases[i]);
    }
    return any && is_wanted(job->settings, section->id) && place > 0 &&
           (section->scope != FULCRUM_REPORT_SEVERAL || job->case_count > 1);
}

static enum fulcrum_status write_each(
    struct fulcrum_report_job *job, size_t place, FILE *out, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *section = fulcrum_report_sections()[place];
    size_t count = section->scope == FULCRUM_REPORT_EACH ? job->case_count : 1;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; status == FULCRUM_OK && i < count; i++) {
        struct fulcrum_report_case *machine = job->cases[i];
        if (!applies(section, place, machine)) {
            continue;
        }
        if (count > 1) {
            (void)fputs("<h3>", out);
            fulcrum_html_text(out, machine->name);
            (void)fputs("</h3>\n", out);
        }
        status = section->write(job, machine, out, err);
    }
    return status;
}

static enum fulcrum_status write_section(
    struct fulcrum_report_job *job, size_t place, FILE *out, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *section = fulcrum_report_sections()[place];
    (void)fprintf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", section->id,
        section->id);
    fulcrum_html_text(out, section->title);
    (void)fputs("</h2>\n", out);
    enum fulcrum_status status = write_each(job, place, out, err);
    (void)fputs("</section>\n", out);
    return status;
}

static void write_contents(const struct fulcrum_report_job *job, FILE *out)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    (void)fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (size_t i = 0; sections[i] != NULL; i++) {
        if (is_written(job, i)) {
            (void)fprintf(out, "<li><a href=\"#%s\">", sections[i]->id);
            fulcrum_html_text(out, sections[i]->title);
            (void)fputs("</a></li>\n", out);
        }
    }
    (void)fputs("</ul>\n</nav>\n", out);
}

/* "r2d2-atari on dgx-a100", or on how many machines. */
static void write_title(struct fulcrum_report_job *job, FILE *out)
{
    char workload[180];
    if (job->settings->title != NULL) {
        fulcrum_html_text(out, job->settings->title);
        return;
    }
    fulcrum_reply_text(
        fulcrum_report_predicted(job->cases[0]), "workload", workload, sizeof workload);
    if (job->case_count == 1) {
        fulcrum_html_print(out, "%s on %s", workload, job->cases[0]->name);
    } else {
        fulcrum_html_print(out, "%s on %zu machines", workload, job->case_count);
    }
}

static void write_head(struct fulcrum_report_job *job, FILE *out)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"generator\" content=\"fulcrum " FULCRUM_VERSION "\">\n"
                /* A browser asks a server for an icon unless it is given one. */
                "<link rel=\"icon\" href=\"data:,\">\n<title>",
        out);
    write_title(job, out);
    (void)fputs("</title>\n<style>\n", out);
    fulcrum_report_style(out);
    (void)fputs("</style>\n</head>\n<body>\n"
                "<a class=\"skip\" href=\"#content\">To the content</a>\n"
                "<header>\n<p class=\"kicker\">Fulcrum: CPU and GPU in balance</p>\n"
                "<h1>",
        out);
    write_title(job, out);
    (void)fputs("</h1>\n</header>\n<main id=\"content\">\n", out);
}

enum fulcrum_status fulcrum_report_document_write(
    struct fulcrum_report_job *job, FILE *out, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    write_head(job, out);
    enum fulcrum_status status = sections[0]->write(job, job->cases[0], out, err);
    write_contents(job, out);
    for (size_t i = 1; status == FULCRUM_OK && sections[i] != NULL; i++) {
        if (is_written(job, i)) {
            status = write_section(job, i, out, err);
        }
    }
    (void)fputs("</main>\n<footer>\n<p>Written by fulcrum " FULCRUM_VERSION
                " from models, calibrations and priors: predictions, not measurements, "
                "unless it says so.</p>\n</footer>\n</body>\n</html>\n",
        out);
    return status;
}
