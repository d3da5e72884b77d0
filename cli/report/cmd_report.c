/* cmd_report.c - `fulcrum report`: one HTML file that says it all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/report/report_section.h"
#include "model/predict/predict.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "presets/io/document.h"

/* What one command of the program answers to another. */

/* The answer of a command under way. */
struct hearing {
    struct fulcrum_result *result; /* NULL: it printed JSON */
    char *text;
    size_t length;
    char *warnings;
    size_t warnings_length;
    struct fulcrum_error refusal;
    int exit_code;
};

/* Settings that were parsed; `out` is where results go. */
static enum fulcrum_status run_parsed(const struct fulcrum_command *command,
    const char *settings, const struct fulcrum_command_syntax *syntax,
    struct hearing *hearing)
{
    const void *block = settings + syntax->common_offset;
    const struct fulcrum_common_settings *common = block;
    struct fulcrum_context context = {.format = (enum fulcrum_format)common->format,
        .keeps = &hearing->result,
        .quiet = true};
    context.out = open_memstream(&hearing->text, &hearing->length);
    context.warnings = open_memstream(&hearing->warnings, &hearing->warnings_length);
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    if (context.out != NULL && context.warnings != NULL) {
        status = command->run(settings, &context, &hearing->refusal);
    }
    hearing->exit_code = context.exit_code;
    bool is_whole = context.out != NULL && fclose(context.out) == 0;
    is_whole = context.warnings != NULL && fclose(context.warnings) == 0 && is_whole;
    return is_whole ? status : FULCRUM_ERR_NO_MEMORY;
}

static enum fulcrum_status run_words(const struct fulcrum_command *command,
    const struct fulcrum_argv_text *words, struct hearing *hearing)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    char *settings = calloc(1, syntax.size);
    if (settings == NULL) {
        return FULCRUM_ERR_NO_MEMORY;
    }
    enum fulcrum_status status = fulcrum_options_parse(
        &syntax.syntax, settings, (int)words->count, words->items, &hearing->refusal);
    if (status == FULCRUM_OK) {
        status = run_parsed(command, settings, &syntax, hearing);
    } else {
        hearing->exit_code = FULCRUM_EXIT_USAGE;
    }
    fulcrum_options_free(&syntax.syntax, settings);
    free(settings);
    return status;
}

/* A sweep writes its rows as they come, and other commands may print too. */
static enum fulcrum_status read_printed(
    const char *command, struct hearing *hearing, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    TRY(fulcrum_document_parse(
        command, hearing->text, hearing->length, &document, err));
    enum fulcrum_status status =
        fulcrum_result_of_document(command, document, &hearing->result, err);
    fulcrum_document_free(document);
    return status;
}

/* What was heard becomes a result, a reason, or a failure of the asking itself. */
static enum fulcrum_status take_answer(struct fulcrum_reply *reply,
    struct hearing *hearing, enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *command = reply->words.items[0];
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED ||
                hearing->exit_code == FULCRUM_EXIT_INTERRUPTED,
        err, FULCRUM_ERR_INTERRUPTED, "interrupted");
    FAIL_IF(status == FULCRUM_ERR_NO_MEMORY, err, status, "'%s' ran out of memory",
        command);
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(&reply->refusal, status, "%s",
            hearing->refusal.detail[0] != '\0' ? hearing->refusal.detail
                                               : fulcrum_status_text(status));
        return FULCRUM_OK;
    }
    if (hearing->result == NULL) {
        TRY(read_printed(command, hearing, err));
    }
    reply->result = hearing->result;
    hearing->result = NULL;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reply_ask(struct fulcrum_reply *reply,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct hearing hearing = {.text = NULL, .refusal = {FULCRUM_OK, ""}};
    struct fulcrum_argv_text words = {.count = 0};
    fulcrum_argv_text_append(&words, &reply->words);
    fulcrum_argv_text_add(&words, "--format");
    fulcrum_argv_text_add(&words, "json");
    const struct fulcrum_command *command =
        fulcrum_command_find(fulcrum_commands(), reply->words.items[0]);
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    if (!words.is_short && command != NULL) {
        status = run_words(command, &words, &hearing);
    }
    reply->exit_code = hearing.exit_code;
    if (hearing.exit_code == FULCRUM_EXIT_INTERRUPTED) {
        context->exit_code = hearing.exit_code;
    }
    status = take_answer(reply, &hearing, status, err);
    free(reply->warnings);
    reply->warnings = hearing.warnings;
    free(hearing.text);
    fulcrum_result_free(hearing.result);
    fulcrum_argv_text_clear(&words);
    return status;
}

void fulcrum_reply_clear(struct fulcrum_reply *reply)
{
    fulcrum_result_free(reply->result);
    fulcrum_argv_text_clear(&reply->words);
    free(reply->warnings);
    *reply = (struct fulcrum_reply){.result = NULL};
}

/* The options of a report: those of a design, but for any number of machines. */
struct settings {
    struct fulcrum_text_list machines;
    struct fulcrum_design_settings design; /* its machine is each of those in turn */
    struct fulcrum_solve_settings solve;
    const char *title;
    struct fulcrum_text_list sections;
};

/* An option and its value, made as by printf. */
#define ADD_OPTION(words, name, ...)                                                   \
    (fulcrum_argv_text_add(words, name), fulcrum_argv_text_add(words, __VA_ARGS__))

/* Options that every question about the workload has, whatever the machine. */
static void add_design(const struct settings *settings, struct fulcrum_argv_text *words)
{
    if (settings->design.workload != NULL) {
        ADD_OPTION(words, "-w", "%s", settings->design.workload);
    }
    for (size_t i = 0; i < settings->design.calibrations.count; i++) {
        ADD_OPTION(words, "-c", "%s", settings->design.calibrations.items[i]);
    }
    for (size_t i = 0; i < settings->design.sets.count; i++) {
        ADD_OPTION(words, "--set", "%s", settings->design.sets.items[i]);
    }
}

static void add_actors(const struct settings *settings, struct fulcrum_argv_text *words)
{
    if (!isnan(settings->design.actor_count)) {
        ADD_OPTION(words, "--actors", "%.0f", settings->design.actor_count);
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
        ADD_OPTION(words, "--method", "%s",
            fulcrum_method_name((enum fulcrum_method)solver->method));
    }
    if (!isnan(solver->half_width_rel)) {
        ADD_OPTION(words, "--half-width", "%.17g", solver->half_width_rel);
    }
    if (fabs(solver->seed - usual_seed) > 0.0) {
        ADD_OPTION(words, "--seed", "%.0f", solver->seed);
    }
    if (fabs(solver->max_steps - usual_steps) > 0.0) {
        ADD_OPTION(words, "--max-steps", "%.0f", solver->max_steps);
    }
    if (solve->intervals != NULL) {
        ADD_OPTION(words, "--intervals", "%s", solve->intervals);
    }
}

static void add_line(const struct settings *settings, struct fulcrum_argv_text *line)
{
    fulcrum_report_words(line, "fulcrum report");
    for (size_t i = 0; i < settings->machines.count; i++) {
        ADD_OPTION(line, "-m", "%s", settings->machines.items[i]);
    }
    add_design(settings, line);
    add_actors(settings, line);
    add_solver(&settings->solve, line);
    for (size_t i = 0; i < settings->sections.count; i++) {
        ADD_OPTION(line, "--section", "%s", settings->sections.items[i]);
    }
    if (settings->title != NULL) {
        ADD_OPTION(line, "--title", "%s", settings->title);
    }
}

static void add_case(struct fulcrum_report_job *job, const struct settings *settings,
    const char *machine)
{
    struct fulcrum_report_case *added = fulcrum_allocate(1, sizeof *added);
    added->job = job;
    (void)snprintf(added->name, sizeof added->name, "%s", machine);
    ADD_OPTION(&added->design, "-m", "%s", machine);
    add_design(settings, &added->design);
    add_actors(settings, &added->actors);
    add_solver(&settings->solve, &added->solver);
    job->line.is_short = job->line.is_short || added->design.is_short;
    job->cases[job->case_count++] = added;
}

static void clear_job(struct fulcrum_report_job *job)
{
    for (size_t i = 0; i < job->case_count; i++) {
        struct fulcrum_report_case *machine = job->cases[i];
        for (size_t k = 0; k < FULCRUM_REPORT_SECTIONS_MOST; k++) {
            for (size_t j = 0; j < machine->sections[k].count; j++) {
                fulcrum_reply_clear(&machine->sections[k].items[j]);
            }
        }
        fulcrum_argv_text_clear(&machine->design);
        fulcrum_argv_text_clear(&machine->actors);
        fulcrum_argv_text_clear(&machine->solver);
        free(machine);
    }
    fulcrum_argv_text_clear(&job->line);
}

/* The caller clears the job, after a failure too. */
static enum fulcrum_status plan_job(const struct settings *settings,
    struct fulcrum_report_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    FULCRUM_USAGE_IF(settings->machines.count > FULCRUM_REPORT_MACHINES_MOST, context,
        err, FULCRUM_ERR_RANGE,
        "--machine is given %zu times: a report takes at most %d",
        settings->machines.count, (int)FULCRUM_REPORT_MACHINES_MOST);
    TRY(fulcrum_machine_names_check(&settings->machines, context, err));
    for (size_t i = 0; i < settings->sections.count; i++) {
        TRY(fulcrum_name_check(settings->sections.items[i], "section",
            fulcrum_report_section_name, context, err));
    }
    job->sections = settings->sections;
    job->title = settings->title;
    job->seed = settings->solve.solver.seed;
    add_line(settings, &job->line);
    for (size_t i = 0; i < settings->machines.count; i++) {
        add_case(job, settings, settings->machines.items[i]);
    }
    FAIL_IF(job->line.is_short, err, FULCRUM_ERR_RANGE,
        "a report takes a command line of at most %d words", (int)FULCRUM_WORDS_MOST);
    return FULCRUM_OK;
}

/* Questions under way. */
struct asking {
    struct fulcrum_report_job *job;
    struct fulcrum_context *context;
    const volatile sig_atomic_t *stop;
    struct fulcrum_progress progress;
    size_t section_count;
    size_t done;
};

/* A question that chooses the actors itself goes without those of the design. */
static bool chooses_actors(const struct fulcrum_argv_text *words)
{
    bool is_axis = false;
    for (size_t i = 0; i < words->count; i++) {
        is_axis = is_axis || strncmp(words->items[i], "run.actor_count=", 16) == 0;
    }
    return is_axis || fulcrum_argv_text_have(words, "--actors-per-thread") ||
           fulcrum_argv_text_have(words, "--best-actors") ||
           fulcrum_argv_text_have(words, "--actors-per-gpu");
}

/* Settings that a table over GPUs refuses, as it goes by them itself. */
static bool is_of_node(const char *setting)
{
    static const char *const paths[] = {"run.gpu_count=", "run.actor_count="};
    return strncmp(setting, paths[0], strlen(paths[0])) == 0 ||
           strncmp(setting, paths[1], strlen(paths[1])) == 0;
}

static bool has_option(const struct fulcrum_command *command, const char *name)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    for (const struct fulcrum_option_group *group = syntax.groups; group->rows != NULL;
         group++) {
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Options of the report, but for those that the question sets itself, and those that
 * the command has not. */
static void append_solver_options(
    struct fulcrum_argv_text *words, const struct fulcrum_argv_text *solver)
{
    const struct fulcrum_command *command =
        fulcrum_command_find(fulcrum_commands(), words->items[0]);
    for (size_t i = 0; command != NULL && i + 1 < solver->count; i += 2) {
        const char *option = solver->items[i];
        if (!fulcrum_argv_text_have(words, option) && has_option(command, option + 2)) {
            fulcrum_argv_text_add(words, "%s", option);
            fulcrum_argv_text_add(words, "%s", solver->items[i + 1]);
        }
    }
}

/* The options of the design, as far as the command takes them. */
static void append_design_options(
    struct fulcrum_argv_text *words, const struct fulcrum_report_case *machine)
{
    bool has_actors = chooses_actors(words);
    bool is_node = strcmp(words->items[0], "node") == 0;
    for (size_t i = 0; i + 1 < machine->design.count; i += 2) {
        const char *value = machine->design.items[i + 1];
        if (!is_node || !is_of_node(value)) {
            fulcrum_argv_text_add(words, "%s", machine->design.items[i]);
            fulcrum_argv_text_add(words, "%s", value);
        }
    }
    words->is_short = words->is_short || machine->design.is_short;
    if (!has_actors) {
        fulcrum_argv_text_append(words, &machine->actors);
    }
    append_solver_options(words, &machine->solver);
}

/* Question `i` of a section; *go_on becomes false where it has none any more. */
static enum fulcrum_status ask_one(struct asking *asking,
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine,
    bool *go_on, struct fulcrum_error *err)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, section->id);
    struct fulcrum_reply *reply = &replies->items[replies->count];
    *go_on = fulcrum_report_question(section, machine, replies->count, &reply->words);
    replies->count += *go_on ? 1 : 0;
    if (!*go_on) {
        fulcrum_argv_text_clear(&reply->words);
    }
    if (reply->words.count == 0) {
        return FULCRUM_OK;
    }
    if (strcmp(reply->words.items[0], "show") != 0) {
        append_design_options(&reply->words, machine);
    }
    return fulcrum_reply_ask(reply, asking->context, err);
}

static enum fulcrum_status ask_section(struct asking *asking,
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine,
    struct fulcrum_error *err)
{
    bool go_on = true;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < FULCRUM_REPORT_QUESTIONS_MOST && go_on; i++) {
        status = ask_one(asking, section, machine, &go_on, err);
        if (status == FULCRUM_OK && *asking->stop != 0) {
            asking->context->exit_code = FULCRUM_EXIT_INTERRUPTED;
            status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        }
        if (status != FULCRUM_OK) {
            break;
        }
    }
    asking->done++;
    double all = (double)(asking->section_count * asking->job->case_count);
    fulcrum_progress_update(
        &asking->progress, (double)asking->done / all, section->title);
    return status;
}

/* Takes the name from the prediction; "this" says what it is. */
static void name_case(struct fulcrum_report_case *machine)
{
    const char *name = fulcrum_result_text_of(fulcrum_report_point(machine), "machine");
    const char *cpu = fulcrum_report_field_text(machine, "machine.cpu.name");
    if (strcmp(name, "this") == 0 && cpu[0] != '\0') {
        (void)snprintf(machine->name, sizeof machine->name, "this machine (%s)", cpu);
    } else if (name[0] != '\0') {
        (void)snprintf(machine->name, sizeof machine->name, "%s", name);
    }
}

/* Without the prediction there is nothing to report: its refusal is the command's. */
static enum fulcrum_status ask_prediction(struct asking *asking,
    struct fulcrum_report_case *machine, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        ask_section(asking, &fulcrum_report_prediction, machine, err);
    struct fulcrum_reply *reply = fulcrum_report_predicted(machine);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (reply->result == NULL) {
        asking->context->exit_code = reply->exit_code;
        return fulcrum_fail(err, reply->refusal.status, "%s", reply->refusal.detail);
    }
    /* Once, though every question would say so again. */
    const char *at = reply->warnings != NULL ? reply->warnings : "";
    while (*at != '\0') {
        size_t length = strcspn(at, "\n");
        fulcrum_message_warn("%.*s", (int)length, at);
        at += length + (at[length] == '\n');
    }
    name_case(machine);
    return FULCRUM_OK;
}

/* The prediction always is: everything else depends on it. */
static bool is_asked(
    const struct fulcrum_report_job *job, const struct fulcrum_report_section *section)
{
    return section == &fulcrum_report_prediction ||
           ((section->ask != NULL || section->line != NULL) &&
               fulcrum_report_is_wanted(job, section));
}

static enum fulcrum_status ask_machine(struct asking *asking,
    struct fulcrum_report_case *machine, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    TRY(ask_prediction(asking, machine, err));
    for (size_t i = 0; sections[i] != NULL; i++) {
        if (sections[i] != &fulcrum_report_prediction &&
            is_asked(asking->job, sections[i])) {
            TRY(ask_section(asking, sections[i], machine, err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status ask_all(struct fulcrum_report_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    struct asking asking = {
        .job = job, .context = context, .stop = fulcrum_interrupt_watch()};
    for (size_t i = 0; sections[i] != NULL; i++) {
        asking.section_count += is_asked(job, sections[i]) ? 1 : 0;
    }
    fulcrum_progress_start(&asking.progress, context);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; status == FULCRUM_OK && i < job->case_count; i++) {
        status = ask_machine(&asking, job->cases[i], err);
    }
    fulcrum_progress_end(&asking.progress);
    return status;
}

static enum fulcrum_status run_report(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report_job job = {.case_count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(plan_job(data, &job, context, err));
    TRY_OR_END(ask_all(&job, context, err));
    fulcrum_report_document_write(&job, context->out);
    long size = ftell(context->out);
    if (size > 0 && context->output_path != NULL) {
        fulcrum_message_note(context, "%s: %.0f kB, nothing else is needed to read it",
            context->output_path, (double)size / 1000.0);
    }
end:
    clear_job(&job);
    return status;
}

static const struct fulcrum_option document_rows[] = {
    FULCRUM_OPTION(TEXT, "title", offsetof(struct settings, title), "TEXT",
        .help = "in place of 'WORKLOAD on MACHINE'"),
    FULCRUM_OPTION(LIST, "section", offsetof(struct settings, sections), "NAME",
        .choice = fulcrum_report_section_name,
        .help = "write only this section below the summary, and others named the same "
                "way; default: all that apply"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Machines", fulcrum_machines_option_rows, offsetof(struct settings, machines)},
    {"Design", FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE,
        offsetof(struct settings, design)},
    {"Document", document_rows, 0},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum report -m dgx-1-inci2020 -w r2d2-atari --actors 40 -o report.html",
        "everything about one V100 beside 40 threads"},
    {"fulcrum report -m dgx-1 -m dgx-a100 -m dgx-h100 -w r2d2-atari --actors 256 "
     "-o compare.html",
        "three machines beside each other"},
    {"fulcrum report -m this -w ppo-mujoco-ant -c c.json --actors 8 --section ratio "
     "--section inputs -o short.html",
        "this machine, from a calibration taken here, in short"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_report = {
    .name = "report",
    .summary = "write one HTML file to send: answer, charts, inputs, how it was made",
    .description =
        "Asks the other commands about a design and writes what they answer into one "
        "HTML file: a summary in plain words, the CPU/GPU ratio, what would change "
        "most, the number of actors, where the time goes, power, the SMs in use, the "
        "time of each part of the GPU, placements on slices of a GPU, training on more "
        "GPUs, which uncertain number matters, every predicted output with its "
        "interval, how accurate such predictions have been, and every input with its "
        "source. Each section names the command line that makes its numbers.\n\n"
        "The file needs nothing else: charts are part of it, there are no scripts, and "
        "nothing is loaded from elsewhere. It reads on a phone, on paper, and on dark "
        "screens. The same inputs and seed give the same bytes.\n\n"
        "A section that does not apply is left out; one that fails says why.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_TEXT,
    .run = run_report,
};
