/* cmd_show.c - `fulcrum show`: one preset in full, with the source of each value. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/output/show.h"
#include "model/nearest.h"
#include "model/try.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

struct settings {
    const char *kind_or_name;
    const char *name;
};

static const enum fulcrum_preset_kind shown_kinds[] = {FULCRUM_PRESET_MACHINE,
    FULCRUM_PRESET_WORKLOAD, FULCRUM_PRESET_CALIBRATION, FULCRUM_PRESET_REFERENCE,
    FULCRUM_PRESET_PARTITION};

enum { KIND_COUNT = sizeof shown_kinds / sizeof shown_kinds[0] };

static const char *kind_name(int index)
{
    return index < KIND_COUNT ? fulcrum_preset_kind_name(shown_kinds[index]) : NULL;
}

static enum fulcrum_status show_machine(
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    enum fulcrum_status status = fulcrum_machine_find(name, &design, &sources, err);
    if (status == FULCRUM_OK) {
        bool is_here = strcmp(name, "this") == 0;
        struct fulcrum_shown_design shown = {
            .kind = FULCRUM_PRESET_MACHINE,
            .name = design.machine.name,
            .title = is_here ? "the machine at hand" : design.machine.title,
            .unsourced = is_here ? "found here or default" : "default",
            .design = &design,
            .sources = &sources,
        };
        status = fulcrum_show_design(&shown, context, err);
    }
    fulcrum_sources_free(&sources);
    return status;
}

static enum fulcrum_status show_workload(
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    enum fulcrum_status status = fulcrum_workload_load(name, &design, &sources, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_shown_design shown = {
            .kind = FULCRUM_PRESET_WORKLOAD,
            .name = design.workload.name,
            .title = design.workload.title,
            .unsourced = "default",
            .design = &design,
            .sources = &sources,
        };
        status = fulcrum_show_design(&shown, context, err);
    }
    fulcrum_sources_free(&sources);
    return status;
}

static enum fulcrum_status show_calibration(
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = fulcrum_calibration_load(name, &calibration, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_show_calibration(calibration, context, err);
    }
    fulcrum_calibration_free(calibration);
    return status;
}

static enum fulcrum_status show_reference(
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    enum fulcrum_status status = fulcrum_reference_load(name, &reference, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_show_reference(reference, context, err);
    }
    fulcrum_reference_free(reference);
    return status;
}

static enum fulcrum_status show_partition(
    const char *name, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_partition *partition = NULL;
    enum fulcrum_status status = fulcrum_partition_load(name, &partition, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_show_partition(partition, context, err);
    }
    free(partition);
    return status;
}

/* What is known of a name that was given without its kind. */
struct guess {
    const char *name;
    size_t found_count;
    enum fulcrum_preset_kind kind; /* where it was found last */
    size_t least_distance;
    char nearest[64]; /* the preset nearest to it; "": none is near */
};

static enum fulcrum_status look_among(
    enum fulcrum_preset_kind kind, struct guess *guess, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    enum fulcrum_status status = fulcrum_preset_list(kind, &entries, &count, err);
    for (size_t i = 0; status == FULCRUM_OK && i < count; i++) {
        size_t distance = fulcrum_edit_distance(guess->name, entries[i].name);
        if (distance == 0) {
            guess->kind = kind;
            guess->found_count++;
        }
        if (distance < guess->least_distance) {
            guess->least_distance = distance;
            memcpy(guess->nearest, entries[i].name, sizeof guess->nearest);
        }
    }
    free(entries);
    return status;
}

static enum fulcrum_status guess_kind(const char *name, struct fulcrum_context *context,
    enum fulcrum_preset_kind *out, struct fulcrum_error *err)
{
    struct guess guess = {.name = name,
        .kind = FULCRUM_PRESET_MACHINE,
        .least_distance = strlen(name) / 2};
    guess.found_count = (size_t)(strcmp(name, "this") == 0);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        TRY(look_among(shown_kinds[i], &guess, err));
    }
    if (guess.found_count != 1) {
        FULCRUM_USAGE_IF(guess.found_count > 1, context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "more than one preset is called '%s': put machine, workload, "
            "calibration, "
            "reference or partition before it",
            guess.name);
        bool is_near = guess.nearest[0] != '\0';
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "no preset is called '%s'%s%s%s (before the path of a file goes its kind)",
            guess.name,
            is_near ? "; did you mean '" : ": 'fulcrum list' shows what there is",
            guess.nearest, is_near ? "'?" : "");
    }
    *out = guess.kind;
    return FULCRUM_OK;
}

static enum fulcrum_status find_kind(const char *name, struct fulcrum_context *context,
    enum fulcrum_preset_kind *out, struct fulcrum_error *err)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kind_name(i), name) == 0) {
            *out = shown_kinds[i];
            return FULCRUM_OK;
        }
    }
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "KIND '%s' is not one of machine, workload, calibration, reference or "
        "partition",
        name);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    enum fulcrum_preset_kind kind = FULCRUM_PRESET_MACHINE;
    const char *name = settings->name;
    enum fulcrum_status status;
    if (name != NULL) {
        status = find_kind(settings->kind_or_name, context, &kind, err);
    } else {
        name = settings->kind_or_name;
        status = guess_kind(name, context, &kind, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    switch (kind) {
    case FULCRUM_PRESET_MACHINE:
        return show_machine(name, context, err);
    case FULCRUM_PRESET_WORKLOAD:
        return show_workload(name, context, err);
    case FULCRUM_PRESET_CALIBRATION:
        return show_calibration(name, context, err);
    case FULCRUM_PRESET_PARTITION:
        return show_partition(name, context, err);
    case FULCRUM_PRESET_REFERENCE:
        break;
    }
    return show_reference(name, context, err);
}

static const struct fulcrum_argument arguments[] = {
    {"KIND", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, kind_or_name), kind_name,
        "machine, workload, calibration, reference or partition; may be left out "
        "before "
        "the name of a preset"},
    {"NAME", FULCRUM_ARGUMENT_OPTIONAL, offsetof(struct settings, name), NULL,
        "a preset, a JSON file, or for machines 'this': the machine at hand"},
    {.name = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum show dgx-1", "each figure of the machine, with its source"},
    {"fulcrum show machine this", "what fulcrum found out about this machine"},
    {"fulcrum show njit-mig-sm-scaling --format csv",
        "published points, one row for each observed quantity"},
    {"fulcrum show a100-40gb", "the instances that a GPU can be cut into"},
    {"fulcrum show calibration out/calibration.json",
        "parameters with their errors, how well the curves fit, and warnings"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_show = {
    .name = "show",
    .summary = "show a machine, workload, calibration, reference or partition in full",
    .description =
        "Prints one preset or file with inheritance resolved: each value with its "
        "unit, "
        "where it was read, or that it is a prior and how far off it may be, and which "
        "preset it came from.\n\nOf a calibration it prints the parameters with their "
        "standard errors, the fits with their errors and warnings, and the notes on "
        "how "
        "it was measured. Of a reference it prints its points, frames converted to "
        "steps, and where they were read. Of a partition it prints the profiles that a "
        "GPU "
        "can be cut into and which sets of them fill it.",
    .examples = examples,
    .arguments = arguments,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
