/* cmd_list.c - `fulcrum list`: what there is to choose from, and what works here. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/actor.h"
#include "calibrate/device/learner.h"
#include "calibrate/meter/meter.h"
#include "cli/message.h"
#include "model/string.h"
#include "model/try.h"
#include "plots/spec/charts.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

/* `fulcrum schema`: the JSON Schema of a kind of file. */

struct settings {
    const char *kind;
};

enum fulcrum_status fulcrum_preset_kind_parse(const char *name,
    struct fulcrum_context *context, enum fulcrum_preset_kind *out,
    struct fulcrum_error *err)
{
    for (int kind = 0; fulcrum_preset_kind_name(kind) != NULL; kind++) {
        if (strcmp(fulcrum_preset_kind_name(kind), name) == 0) {
            *out = (enum fulcrum_preset_kind)kind;
            return FULCRUM_OK;
        }
    }
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "KIND '%s' is not one of machine, workload, calibration, reference or "
        "partition",
        name);
}

static enum fulcrum_status run_schema(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    enum fulcrum_preset_kind kind = FULCRUM_PRESET_MACHINE;
    char *text = NULL;
    TRY(fulcrum_preset_kind_parse(settings->kind, context, &kind, err));
    TRY(fulcrum_preset_schema(kind, &text, err));
    (void)fputs(text, context->out);
    free(text);
    return FULCRUM_OK;
}

static const struct fulcrum_argument schema_arguments[] = {
    {"KIND", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, kind),
        fulcrum_preset_kind_name,
        "machine, workload, calibration, reference or partition"},
    {.name = NULL},
};

static const struct fulcrum_example schema_examples[] = {
    {"fulcrum schema machine -o machine.schema.json",
        "lets an editor check machine files while you write them"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of a kind of file",
    .description =
        "Prints the JSON Schema (draft 2020-12) of machine, workload, calibration, "
        "reference or partition files: every key with its type, unit, range and "
        "meaning.",
    .examples = schema_examples,
    .arguments = schema_arguments,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_TEXT,
    .run = run_schema,
};

/* Adds the rows of one kind; those of presets are a table each. */
struct kind {
    const char *name;
    void (*add)(struct fulcrum_table *table); /* NULL: presets */
    enum fulcrum_preset_kind preset_kind;
};

static void add_entry(struct fulcrum_table *table, const char *kind, const char *name,
    const char *title, const struct fulcrum_error *err)
{
    char reason[sizeof err->detail];
    (void)snprintf(reason, sizeof reason, "%s", err->detail);
    for (char *end = strchr(reason, '\n'); end != NULL; end = strchr(end, '\n')) {
        *end = ' ';
    }
    fulcrum_table_row(table);
    fulcrum_table_text(table, "kind", "kind", kind);
    fulcrum_table_text(table, "name", "name", name);
    fulcrum_table_text(
        table, "available", "available", err->status == FULCRUM_OK ? "yes" : "no");
    fulcrum_table_text(table, "title", "title", title);
    fulcrum_table_text(table, "reason", NULL, reason);
}

static void add_actors(struct fulcrum_table *table)
{
    const struct fulcrum_actor_options standard = {.frame_skip = 0.0};
    const struct fulcrum_actor *const *actor = fulcrum_actors();
    for (; *actor != NULL; actor++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_actor_shared *shared = NULL;
        struct fulcrum_actor_info info;
        enum fulcrum_status status = (*actor)->open(&standard, &shared, &info, &err);
        if (status == FULCRUM_OK) {
            (*actor)->close(shared);
        }
        /* Nothing but a name is missing, and the reason says which option has it. */
        if (status == FULCRUM_ERR_MISSING) {
            err.status = FULCRUM_OK;
        }
        add_entry(table, "actor", (*actor)->name, (*actor)->summary, &err);
    }
}

static void add_learners(struct fulcrum_table *table)
{
    /* The smallest learner there is: enough to know whether one can be had. */
    static const struct fulcrum_learner_options smallest = {
        .network = FULCRUM_NETWORK_MLP,
        .max_batch = 1,
        .input_count = 1,
        .action_count = 1,
        .train_batch = 1,
        .train_unroll = 1,
    };
    const struct fulcrum_learner *const *learner = fulcrum_learners();
    for (; *learner != NULL; learner++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_learner_state *state = NULL;
        struct fulcrum_learner_info info;
        enum fulcrum_status status = (*learner)->open(&smallest, &state, &info, &err);
        if (status == FULCRUM_OK) {
            (*learner)->close(state);
        }
        if (status == FULCRUM_ERR_MISSING) {
            err.status = FULCRUM_OK;
        }
        add_entry(table, "learner", (*learner)->name, (*learner)->summary, &err);
    }
}

static void add_meters(struct fulcrum_table *table)
{
    const struct fulcrum_meter *const *meter = fulcrum_meters();
    for (; *meter != NULL; meter++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_meter_state *state = NULL;
        enum fulcrum_status status = (*meter)->open("", &state, &err);
        if (status == FULCRUM_OK) {
            /* What it reads, in the place of a reason: "gpu-0: NVIDIA ...". */
            size_t count = 0;
            const struct fulcrum_meter_domain *domain =
                (*meter)->domains(state, &count);
            for (size_t i = 0; i < count; i++) {
                size_t length = strlen(err.detail);
                (void)snprintf(err.detail + length, sizeof err.detail - length,
                    "%s%s: %s", i > 0 ? "; " : "", domain[i].name, domain[i].detail);
            }
            (*meter)->close(state);
        }
        add_entry(table, "meter", (*meter)->name, (*meter)->summary, &err);
    }
}

static void add_charts(struct fulcrum_table *table)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const struct fulcrum_chart *const *chart = fulcrum_charts();
    for (; *chart != NULL; chart++) {
        add_entry(table, "chart", (*chart)->name, (*chart)->summary, &err);
    }
}

static const struct kind kinds[] = {
    {"machines", NULL, FULCRUM_PRESET_MACHINE},
    {"workloads", NULL, FULCRUM_PRESET_WORKLOAD},
    {"calibrations", NULL, FULCRUM_PRESET_CALIBRATION},
    {"references", NULL, FULCRUM_PRESET_REFERENCE},
    {"partitions", NULL, FULCRUM_PRESET_PARTITION},
    {.name = "actors", .add = add_actors},
    {.name = "learners", .add = add_learners},
    {.name = "meters", .add = add_meters},
    {.name = "charts", .add = add_charts},
};

enum { KIND_COUNT = (int)(sizeof kinds / sizeof kinds[0]) };

static const char *kind_name(int index)
{
    return index < KIND_COUNT ? kinds[index].name : NULL;
}

static enum fulcrum_status add_presets(struct fulcrum_table *table,
    enum fulcrum_preset_kind kind, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    TRY(fulcrum_preset_list(kind, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_preset_entry *entry = &entries[i];
        struct fulcrum_reference *reference = NULL;
        struct fulcrum_error why = {FULCRUM_OK, ""};
        if (kind != FULCRUM_PRESET_REFERENCE ||
            fulcrum_reference_load(entry->file, &reference, &why) != FULCRUM_OK) {
            add_entry(
                table, fulcrum_preset_kind_name(kind), entry->name, entry->title, &why);
            continue;
        }
        /* A reference is there for predictions: "no" where nothing predicts its
         * points. */
        char *title = fulcrum_format("%s (%s, %zu point%s)", entry->title,
            fulcrum_predictor_name(reference->predictor), reference->point_count,
            reference->point_count == 1 ? "" : "s");
        if (reference->predictor == FULCRUM_PREDICTOR_NONE) {
            (void)fulcrum_fail(&why, FULCRUM_ERR_UNSUPPORTED, "%s",
                fulcrum_predictor_meaning(reference->predictor));
        }
        add_entry(table, "reference", entry->name, title, &why);
        free(title);
        fulcrum_reference_free(reference);
    }
    free(entries);
    return FULCRUM_OK;
}

static bool is_wanted(const struct kind *kind, const char *name)
{
    return name == NULL || strcmp(kind->name, name) == 0;
}

static enum fulcrum_status run_list(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    const char *wanted = settings->kind;
    const struct fulcrum_names names = {&kinds[0].name, KIND_COUNT, sizeof kinds[0]};
    enum fulcrum_status status = FULCRUM_OK;
    bool is_known = false;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        is_known = is_known || is_wanted(&kinds[i], wanted);
    }
    if (!is_known) {
        char hint[200];
        fulcrum_names_hint(&names, wanted, hint, sizeof hint);
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown kind '%s'%s", wanted, hint);
    }
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-list");
    struct fulcrum_table *table = fulcrum_result_table(result, "entries", "");
    for (size_t i = 0; i < KIND_COUNT && status == FULCRUM_OK; i++) {
        if (is_wanted(&kinds[i], wanted) && kinds[i].add != NULL) {
            kinds[i].add(table);
        } else if (is_wanted(&kinds[i], wanted)) {
            status = add_presets(table, kinds[i].preset_kind, err);
        }
    }
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    /* Too long for a column: people read reasons below the table. */
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        const char *reason = fulcrum_table_at(table, i, "reason").text;
        if (reason != NULL && reason[0] != '\0') {
            char *note = fulcrum_format(
                "%s: %s", fulcrum_table_at(table, i, "name").text, reason);
            fulcrum_result_note(result, "notes", note);
            free(note);
        }
    }
    return fulcrum_context_show(context, result, err);
}

static const struct fulcrum_argument arguments[] = {
    {"KIND", FULCRUM_ARGUMENT_OPTIONAL, offsetof(struct settings, kind), kind_name,
        "machines, workloads, calibrations, references, partitions, actors, learners, "
        "meters or charts; default: all"},
    {.name = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum list machines", "the machines whose data come with fulcrum"},
    {"fulcrum list meters", "what watts can be read from here, or what is missing"},
    {"fulcrum list actors --format json",
        "the environments that can be measured, and why one cannot be here"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_list = {
    .name = "list",
    .summary = "list presets, actors, learners, power meters and charts",
    .description =
        "Lists what there is to choose from. Tries each actor, learner and power meter "
        "here, and says what is missing where one does not work. For references it "
        "shows what they are compared with and how many points they have.",
    .examples = examples,
    .arguments = arguments,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_list,
};
