/* report_job.c - what one HTML report is about, and what other commands said of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity_text.h"
#include "cli/report_section.h"
#include "model/predict.h"
#include "model/solver.h"
#include "model/try.h"

/* Options that every question about the workload has, whatever the machine. */
static void add_design(
    const struct fulcrum_report_settings *settings, struct fulcrum_words *words)
{
    if (settings->design.workload != NULL) {
        fulcrum_words_add(words, "-w");
        fulcrum_words_add(words, "%s", settings->design.workload);
    }
    for (size_t i = 0; i < settings->design.calibrations.count; i++) {
        fulcrum_words_add(words, "-c");
        fulcrum_words_add(words, "%s", settings->design.calibrations.items[i]);
    }
    for (size_t i = 0; i < settings->design.sets.count; i++) {
        fulcrum_words_add(words, "--set");
        fulcrum_words_add(words, "%s", settings->design.sets.items[i]);
    }
}

static void add_actors(
    const struct fulcrum_report_settings *settings, struct fulcrum_words *words)
{
    if (!isnan(settings->design.actor_count)) {
        fulcrum_words_add(words, "--actors");
        fulcrum_words_add(words, "%.0f", settings->design.actor_count);
    }
}

/* Only what differs from the commands' own, so that lines stay short. */
static void add_solver(
    const struct fulcrum_solve_settings *solve, struct fulcrum_words *words)
{
    const double usual_seed = 1.0;
    const double usual_steps = 2e7;
    const struct fulcrum_solver_settings *solver = &solve->solver;
    if (solver->method != (int)FULCRUM_METHOD_AUTO) {
        fulcrum_words_add(words, "--method");
        fulcrum_words_add(
            words, "%s", fulcrum_method_name((enum fulcrum_method)solver->method));
    }
    if (!isnan(solver->half_width_rel)) {
        fulcrum_words_add(words, "--half-width");
        fulcrum_words_add(words, "%.17g", solver->half_width_rel);
    }
    if (fabs(solver->seed - usual_seed) > 0.0) {
        fulcrum_words_add(words, "--seed");
        fulcrum_words_add(words, "%.0f", solver->seed);
    }
    if (fabs(solver->max_steps - usual_steps) > 0.0) {
        fulcrum_words_add(words, "--max-steps");
        fulcrum_words_add(words, "%.0f", solver->max_steps);
    }
    if (solve->intervals != NULL) {
        fulcrum_words_add(words, "--intervals");
        fulcrum_words_add(words, "%s", solve->intervals);
    }
}

static void add_line(
    const struct fulcrum_report_settings *settings, struct fulcrum_words *line)
{
    fulcrum_words_add(line, "fulcrum");
    fulcrum_words_add(line, "report");
    for (size_t i = 0; i < settings->machines.count; i++) {
        fulcrum_words_add(line, "-m");
        fulcrum_words_add(line, "%s", settings->machines.items[i]);
    }
    add_design(settings, line);
    add_actors(settings, line);
    add_solver(&settings->solve, line);
    for (size_t i = 0; i < settings->sections.count; i++) {
        fulcrum_words_add(line, "--section");
        fulcrum_words_add(line, "%s", settings->sections.items[i]);
    }
    if (settings->title != NULL) {
        fulcrum_words_add(line, "--title");
        fulcrum_words_add(line, "%s", settings->title);
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
    fulcrum_words_add(&added->design, "-m");
    fulcrum_words_add(&added->design, "%s", machine);
    add_design(settings, &added->design);
    add_actors(settings, &added->actors);
    add_solver(&settings->solve, &added->solver);
    return added;
}

static enum fulcrum_status check(const struct fulcrum_report_settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (settings->machines.count > FULCRUM_REPORT_MACHINES_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--machine is given %zu times: a report takes at most %d",
            settings->machines.count, (int)FULCRUM_REPORT_MACHINES_MOST);
    }
    return fulcrum_machine_names_check(&settings->machines, context, err);
}

enum fulcrum_status fulcrum_report_job_new(
    const struct fulcrum_report_settings *settings, struct fulcrum_report_job **out,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    TRY(check(settings, context, err));
    struct fulcrum_report_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a report");
    }
    job->settings = settings;
    add_line(settings, &job->line);
    int is_short = job->line.is_short;
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
    fulcrum_words_clear(&machine->design);
    fulcrum_words_clear(&machine->actors);
    fulcrum_words_clear(&machine->solver);
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
    fulcrum_words_clear(&job->line);
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
    int has_intervals = isfinite(fulcrum_report_output_of(machine, "steps_per_s").lo);
    (void)snprintf(out, FULCRUM_REPORT_CAPTION_SIZE, "%.120s%s", text,
        has_intervals ? ", with 90 % intervals" : "");
    return out;
}

double fulcrum_report_field(struct fulcrum_report_case *machine, const char *path)
{
    struct fulcrum_node row = field_row(machine, path);
    return fulcrum_node_member_number(&row, "value");
}

int fulcrum_report_is_resident(struct fulcrum_report_case *machine)
{
    struct fulcrum_node row = field_row(machine, "workload.simulation.device");
    char device[16];
    fulcrum_node_member_text(&row, "value", device, sizeof device);
    return strcmp(device, "gpu") == 0;
}

int fulcrum_report_has_gpu(struct fulcrum_report_case *machine)
{
    return isfinite(
        fulcrum_reply_number(fulcrum_report_predicted(machine), "gpu_count"));
}
