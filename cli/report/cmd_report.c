/* cmd_report.c - `fulcrum report`: one HTML file that says it all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/report/report_section.h"
#include "model/parallel.h"
#include "model/try.h"
#include "presets/io/json.h"

/* A sweep writes its rows as they come, and other commands may print too. */
static enum fulcrum_status read_printed(
    struct fulcrum_reply *reply, const char *text, struct fulcrum_error *err)
{
    const char *command = reply->words.items[0];
    struct json_object *document = NULL;
    TRY(fulcrum_document_parse(command, 0, text, &document, err));
    enum fulcrum_status status =
        fulcrum_result_of_document(command, document, &reply->result, err);
    fulcrum_document_free(document);
    return status;
}

void fulcrum_reply_ask(struct fulcrum_reply *reply)
{
    const struct fulcrum_command *command =
        fulcrum_command_find(fulcrum_commands(), reply->words.items[0]);
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    char *settings = fulcrum_allocate(1, syntax.size);
    char *text = NULL;
    size_t size = 0;
    struct fulcrum_context context = {.format = FULCRUM_FORMAT_JSON,
        .keeps = &reply->result,
        .quiet = true,
        .out = open_memstream(&text, &size),
        .warnings = open_memstream(&reply->warnings, &size)};
    enum fulcrum_status status = fulcrum_options_parse(&syntax.syntax, settings,
        (int)reply->words.count, reply->words.items, &reply->refusal);
    if (status != FULCRUM_OK) {
        context.exit_code = FULCRUM_EXIT_USAGE;
    } else if (context.out != NULL && context.warnings != NULL) {
        status = command->run(settings, &context, &reply->refusal);
    } else {
        status = fulcrum_fail(&reply->refusal, FULCRUM_ERR_NO_MEMORY, "out of memory");
    }
    bool is_whole = context.out != NULL && fclose(context.out) == 0;
    is_whole = context.warnings != NULL && fclose(context.warnings) == 0 && is_whole;
    reply->exit_code = context.exit_code;
    if (status == FULCRUM_OK && reply->result == NULL && is_whole &&
        context.exit_code != FULCRUM_EXIT_INTERRUPTED) {
        (void)read_printed(reply, text, &reply->refusal);
    }
    free(text);
    fulcrum_options_free(&syntax.syntax, settings);
    free(settings);
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

enum {
    QUESTIONS_MOST = FULCRUM_REPORT_MACHINES_MOST * FULCRUM_REPORT_SECTIONS_MOST *
                     FULCRUM_REPORT_QUESTIONS_MOST
};

/* Questions under way: they depend on the prediction, and not on each other. */
struct asking {
    const struct settings *settings;
    struct fulcrum_report_job *job;
    const volatile sig_atomic_t *stop;
    pthread_mutex_t shown; /* held to tell of progress */
    struct fulcrum_progress progress;
    struct question {
        struct fulcrum_reply *reply;
        const char *title; /* of its section */
    } questions[QUESTIONS_MOST];
    size_t count;
    size_t done;
};

static bool has_option(const struct fulcrum_command *command, const char *name)
{
    for (const struct fulcrum_option_group *group = command->groups;
         group != NULL && group->rows != NULL; group++) {
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a question chooses itself what the option of the report would set. */
static bool is_chosen(const struct fulcrum_argv_text *words, const char *name)
{
    char option[40];
    (void)snprintf(option, sizeof option, "--%s", name);
    return fulcrum_argv_text_have(words, option) ||
           (strcmp(name, "actors") == 0 &&
               (fulcrum_argv_text_have(words, "run.actor_count=") ||
                   fulcrum_argv_text_have(words, "--best-actors")));
}

/* A table over GPUs refuses settings of what it goes by itself. */
static void add_node_settings(
    const struct fulcrum_text_list *sets, struct fulcrum_argv_text *words)
{
    for (size_t i = 0; i < sets->count; i++) {
        if (strncmp(sets->items[i], "run.gpu_count=", 14) != 0 &&
            strncmp(sets->items[i], "run.actor_count=", 16) != 0) {
            fulcrum_argv_text_add(words, "--set");
            fulcrum_argv_text_add(words, "%s", sets->items[i]);
        }
    }
}

/*
 * Adds options of the report that differ from the commands' own, so that lines stay
 * short: all but the machines.
 *   command  takes those that it has and the words leave open; NULL: all
 */
static void add_options(const struct settings *settings,
    const struct fulcrum_command *command, struct fulcrum_argv_text *words)
{
    for (const struct fulcrum_option_group *group = groups + 1; group->rows != NULL;
         group++) {
        const char *block = (const char *)settings + group->offset;
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            if (!fulcrum_option_is_set(row, block) ||
                (command != NULL &&
                    (!has_option(command, row->name) || is_chosen(words, row->name)))) {
                continue;
            }
            if (command == &fulcrum_command_node && strcmp(row->name, "set") == 0) {
                add_node_settings(&settings->design.sets, words);
            } else {
                fulcrum_argv_text_option(words, row, block, "mwc");
            }
        }
    }
}

static void add_questions(struct asking *asking,
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, section->id);
    while (replies->count < FULCRUM_REPORT_QUESTIONS_MOST) {
        struct fulcrum_reply *reply = &replies->items[replies->count];
        if (!fulcrum_report_question(section, machine, replies->count, &reply->words)) {
            fulcrum_argv_text_clear(&reply->words);
            break;
        }
        replies->count++;
        if (reply->words.count > 0) {
            const struct fulcrum_command *command =
                fulcrum_command_find(fulcrum_commands(), reply->words.items[0]);
            if (has_option(command, "machine")) {
                fulcrum_argv_text_add(&reply->words, "-m");
                fulcrum_argv_text_add(&reply->words, "%s", machine->preset);
                add_options(asking->settings, command, &reply->words);
            }
            asking->questions[asking->count++] =
                (struct question){reply, section->title};
        }
    }
}

static void ask(void *data, size_t index)
{
    struct asking *asking = data;
    if (*asking->stop == 0) {
        fulcrum_reply_ask(asking->questions[index].reply);
    }
    (void)pthread_mutex_lock(&asking->shown);
    asking->done++;
    fulcrum_progress_update(&asking->progress,
        (double)asking->done / (double)asking->count, asking->questions[index].title);
    (void)pthread_mutex_unlock(&asking->shown);
}

static enum fulcrum_status ask_all(
    struct asking *asking, struct fulcrum_context *context, struct fulcrum_error *err)
{
    asking->done = 0;
    fulcrum_parallel_each(asking->count, ask, asking);
    if (*asking->stop != 0) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
    }
    return FULCRUM_OK;
}

/* Without the prediction there is nothing to report: its refusal is the command's. What
 * it warned of becomes notes, said once: a file that is sent has no standard error. */
static enum fulcrum_status take_prediction(struct fulcrum_report_case *machine,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_reply *reply = fulcrum_report_predicted(machine);
    char *rest = NULL;
    if (reply->result == NULL) {
        context->exit_code = reply->exit_code;
        return fulcrum_fail(err, reply->refusal.status, "%s", reply->refusal.detail);
    }
    for (char *line = strtok_r(reply->warnings, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        fulcrum_message_warn("%s", line);
        fulcrum_result_note(reply->result, "flags", line);
    }
    reply->warnings[0] = '\0';
    machine->point = reply->result;
    const char *name = fulcrum_result_text_of(reply->result, "machine");
    const char *cpu = fulcrum_report_field_text(machine, "machine.cpu.name");
    bool is_here = strcmp(name, "this") == 0 && cpu[0] != '\0';
    (void)snprintf(machine->name, sizeof machine->name, "%s%s%s",
        is_here ? "this machine (" : name, is_here ? cpu : "", is_here ? ")" : "");
    return FULCRUM_OK;
}

/* First the predictions, on which everything else depends. */
static enum fulcrum_status ask_machines(
    struct asking *asking, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    struct fulcrum_report_job *job = asking->job;
    for (size_t i = 0; i < job->case_count; i++) {
        add_questions(asking, &fulcrum_report_prediction, job->cases[i]);
    }
    TRY(ask_all(asking, context, err));
    asking->count = 0;
    for (size_t i = 0; i < job->case_count; i++) {
        TRY(take_prediction(job->cases[i], context, err));
        for (size_t k = 0; sections[k] != NULL; k++) {
            if (sections[k] != &fulcrum_report_prediction &&
                fulcrum_report_asks(sections[k]) &&
                fulcrum_report_is_wanted(job, sections[k])) {
                add_questions(asking, sections[k], job->cases[i]);
            }
        }
    }
    return ask_all(asking, context, err);
}

static void clear_job(struct fulcrum_report_job *job)
{
    for (size_t i = 0; i < job->case_count; i++) {
        for (size_t k = 0; k < FULCRUM_REPORT_SECTIONS_MOST; k++) {
            struct fulcrum_report_replies *replies = &job->cases[i]->sections[k];
            for (size_t j = 0; j < replies->count; j++) {
                fulcrum_reply_clear(&replies->items[j]);
            }
        }
        free(job->cases[i]);
    }
    fulcrum_argv_text_clear(&job->line);
}

static enum fulcrum_status run_report(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    /* What can be refused before anything is asked. */
    FULCRUM_USAGE_IF(settings->machines.count > FULCRUM_REPORT_MACHINES_MOST, context,
        err, FULCRUM_ERR_RANGE,
        "--machine is given %zu times: a report takes at most %d",
        settings->machines.count, (int)FULCRUM_REPORT_MACHINES_MOST);
    TRY(fulcrum_machine_names_check(&settings->machines, context, err));
    for (size_t i = 0; i < settings->sections.count; i++) {
        TRY(fulcrum_name_check(settings->sections.items[i], "section",
            fulcrum_report_section_name, context, err));
    }
    struct fulcrum_report_job job = {.sections = settings->sections,
        .calibrations = settings->design.calibrations,
        .title = settings->title,
        .seed = settings->solve.solver.seed};
    struct asking asking = {.settings = settings,
        .job = &job,
        .stop = fulcrum_interrupt_watch(),
        .shown = PTHREAD_MUTEX_INITIALIZER};
    fulcrum_report_words(&job.line, "fulcrum report");
    for (size_t i = 0; i < settings->machines.count; i++) {
        const char *preset = settings->machines.items[i];
        struct fulcrum_report_case *added = fulcrum_allocate(1, sizeof *added);
        added->job = &job;
        added->preset = preset;
        fulcrum_argv_text_add(&job.line, "-m");
        fulcrum_argv_text_add(&job.line, "%s", preset);
        job.cases[job.case_count++] = added;
    }
    add_options(settings, NULL, &job.line);
    fulcrum_progress_start(&asking.progress, context);
    enum fulcrum_status status = ask_machines(&asking, context, err);
    fulcrum_progress_end(&asking.progress);
    if (status == FULCRUM_OK) {
        fulcrum_report_document_write(&job, context->out);
        long size = ftell(context->out);
        if (size > 0 && context->output_path != NULL) {
            fulcrum_message_note(context,
                "%s: %.0f kB, nothing else is needed to read it", context->output_path,
                (double)size / 1000.0);
        }
    }
    clear_job(&job);
    return status;
}

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
