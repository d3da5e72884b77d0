/* cmd_report.c - `fulcrum report`: one HTML file that says it all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/report/report_section.h"
#include "model/try.h"

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
static int chooses_actors(const struct fulcrum_argv_text *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], "--actors-per-thread") == 0 ||
            strcmp(words->items[i], "--best-actors") == 0 ||
            strcmp(words->items[i], "--actors-per-gpu") == 0 ||
            strncmp(words->items[i], "run.actor_count=", 16) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Settings that a table over GPUs refuses, as it goes by them itself. */
static bool is_of_node(const char *setting)
{
    static const char *const paths[] = {"run.gpu_count=", "run.actor_count="};
    return strncmp(setting, paths[0], strlen(paths[0])) == 0 ||
           strncmp(setting, paths[1], strlen(paths[1])) == 0;
}

/* An option that a command may have. */
struct search {
    const char *name;
    bool is_found;
};

static void look_at(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct search *search = user;
    (void)group;
    search->is_found |= strcmp(row->name, search->name) == 0;
}

static bool has_option(const struct fulcrum_command *command, const char *name)
{
    struct fulcrum_command_syntax syntax;
    struct search search = {.name = name};
    fulcrum_command_syntax_init(command, &syntax);
    fulcrum_options_each(&syntax.syntax, look_at, &search);
    return search.is_found;
}

/* Options of the report, but for those that the question sets itself, and those that
 * the command has not. */
static void append_solver(
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

/* Question `i` of a section; *go_on becomes 0 where it has none any more. */
static enum fulcrum_status ask_one(struct asking *asking,
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine,
    int *go_on, struct fulcrum_error *err)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, section->id);
    struct fulcrum_reply *reply = &replies->items[replies->count];
    *go_on = section->ask(machine, replies->count, &reply->words);
    if (!*go_on) {
        fulcrum_argv_text_clear(&reply->words);
        return FULCRUM_OK;
    }
    replies->count++;
    if (reply->words.count > 0 && reply->words.items[0][0] == '\0') {
        fulcrum_argv_text_clear(&reply->words);
        return FULCRUM_OK;
    }
    bool is_design =
        reply->words.count > 0 && strcmp(reply->words.items[0], "show") != 0;
    if (is_design) {
        bool has_actors = chooses_actors(&reply->words);
        /* The options of the design, as far as the command takes them. */
        bool is_node = strcmp(reply->words.items[0], "node") == 0;
        for (size_t i = 0; i + 1 < machine->design.count; i += 2) {
            const char *value = machine->design.items[i + 1];
            if (!is_node || !is_of_node(value)) {
                fulcrum_argv_text_add(&reply->words, "%s", machine->design.items[i]);
                fulcrum_argv_text_add(&reply->words, "%s", value);
            }
        }
        reply->words.is_short = reply->words.is_short || machine->design.is_short;
        if (!has_actors) {
            fulcrum_argv_text_append(&reply->words, &machine->actors);
        }
        append_solver(&reply->words, &machine->solver);
    }
    return fulcrum_reply_ask(reply, asking->context, err);
}

static enum fulcrum_status ask_section(struct asking *asking,
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine,
    struct fulcrum_error *err)
{
    int go_on = 1;
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
    if (reply->document == NULL) {
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
    fulcrum_report_name(machine);
    return FULCRUM_OK;
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

/* The prediction always is: everything else depends on it. */
static bool is_asked(const struct fulcrum_report_settings *settings,
    const struct fulcrum_report_section *section)
{
    return section == &fulcrum_report_prediction ||
           (section->ask != NULL && is_wanted(settings, section->id));
}

static enum fulcrum_status ask_machine(struct asking *asking,
    struct fulcrum_report_case *machine, struct fulcrum_error *err)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    TRY(ask_prediction(asking, machine, err));
    for (size_t i = 0; sections[i] != NULL; i++) {
        if (sections[i] != &fulcrum_report_prediction &&
            is_asked(asking->job->settings, sections[i])) {
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
        asking.section_count += is_asked(job->settings, sections[i]) ? 1 : 0;
    }
    fulcrum_progress_start(&asking.progress, context);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; status == FULCRUM_OK && i < job->case_count; i++) {
        status = ask_machine(&asking, job->cases[i], err);
    }
    fulcrum_progress_end(&asking.progress);
    return status;
}

static enum fulcrum_status check_sections(
    const struct fulcrum_report_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    for (size_t i = 0; i < settings->sections.count; i++) {
        TRY(fulcrum_name_check(settings->sections.items[i], "section",
            fulcrum_report_section_name, context, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_report_settings *settings = data;
    struct fulcrum_report_job *job = NULL;
    enum fulcrum_status status = check_sections(settings, context, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_report_job_new(settings, &job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = ask_all(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_report_document_write(job, context->out, err);
    }
    long size = status == FULCRUM_OK ? ftell(context->out) : -1;
    if (size > 0 && context->output_path != NULL) {
        fulcrum_message_note(context, "%s: %.0f kB, nothing else is needed to read it",
            context->output_path, (double)size / 1000.0);
    }
    fulcrum_report_job_free(job);
    return status;
}

static const struct fulcrum_option document_rows[] = {
    FULCRUM_OPTION(TEXT, "title", offsetof(struct fulcrum_report_settings, title),
        "TEXT", .help = "in place of 'WORKLOAD on MACHINE'"),
    FULCRUM_OPTION(LIST, "section", offsetof(struct fulcrum_report_settings, sections),
        "NAME", .choice = fulcrum_report_section_name,
        .help = "write this section below the summary, and no others but those named "
                "in the same way; all that apply unless given"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Machines", fulcrum_machines_option_rows,
        offsetof(struct fulcrum_report_settings, machines)},
    {"Design", FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE,
        offsetof(struct fulcrum_report_settings, design)},
    {"Document", document_rows, 0},
    {"Solution", fulcrum_solver_option_rows,
        offsetof(struct fulcrum_report_settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows,
        offsetof(struct fulcrum_report_settings, solve)},
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
        "most, the number of actors, where the time goes, power, the SMs in use, what "
        "the parts of the GPU take, placements on parts of it, training on more of "
        "them, which uncertain number matters, every predicted output with its "
        "interval, how accurate such predictions have been, and every value that went "
        "in with where it came from. Each section names the command line that makes "
        "its numbers.\n\n"
        "The file needs nothing else: charts are part of it, there are no scripts, and "
        "nothing is loaded from elsewhere. It reads on a phone, on paper, and on dark "
        "screens. The same inputs and seed give the same bytes.\n\n"
        "A section that does not apply is left out; one that cannot be worked out says "
        "why.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_report_settings),
    .output = FULCRUM_OUTPUT_TEXT,
    .run = run,
};
