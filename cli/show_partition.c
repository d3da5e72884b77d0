/* show_partition.c - a partition: its profiles, and which of them fill the GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "cli/report.h"
#include "cli/show.h"
#include "model/try.h"
#include "presets/json.h"

static const struct fulcrum_column profile_columns[] = {
    {"profile", FULCRUM_COLUMN_TEXT, NULL},
    {"most_count", FULCRUM_COLUMN_NUMBER, "most"},
    {"compute_slice_count", FULCRUM_COLUMN_NUMBER, "compute slices"},
    {"sm_count", FULCRUM_COLUMN_NUMBER, "SMs"},
    {"sm_frac", FULCRUM_COLUMN_NUMBER, "of all SMs"},
    {"memory_slice_count", FULCRUM_COLUMN_NUMBER, "memory slices"},
    {"dram_frac", FULCRUM_COLUMN_NUMBER, "of bandwidth"},
    {"cache_frac", FULCRUM_COLUMN_NUMBER, "of cache"},
    {"memory_byte", FULCRUM_COLUMN_NUMBER, NULL},
    {"copy_engine_count", FULCRUM_COLUMN_NUMBER, "copy engines"},
    {"decoder_count", FULCRUM_COLUMN_NUMBER, "decoders"},
    {"starts", FULCRUM_COLUMN_TEXT, "from memory slice"},
};

static const struct fulcrum_column layout_columns[] = {
    {"layout", FULCRUM_COLUMN_TEXT, "fills the GPU"},
    {"instance_count", FULCRUM_COLUMN_NUMBER, "instances"},
    {"sm_count", FULCRUM_COLUMN_NUMBER, "SMs"},
    {"memory_slice_count", FULCRUM_COLUMN_NUMBER, "memory slices"},
};

static const struct fulcrum_column source_columns[] = {
    {"part", FULCRUM_COLUMN_TEXT, "source of"},
    {"text", FULCRUM_COLUMN_TEXT, NULL},
};

static void format_starts(
    const struct fulcrum_mig_profile *profile, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t k = 0; k < profile->start_count && used < size; k++) {
        used += (size_t)snprintf(
            out + used, size - used, "%s%.0f", k > 0 ? " " : "", profile->starts[k]);
    }
}

static struct fulcrum_report *profiles_of(const struct fulcrum_mig *mig)
{
    struct fulcrum_report *report = fulcrum_report_new("profiles", profile_columns,
        sizeof profile_columns / sizeof profile_columns[0]);
    for (size_t i = 0; i < mig->profile_count; i++) {
        const struct fulcrum_mig_profile *profile = &mig->profiles[i];
        char starts[64];
        format_starts(profile, starts, sizeof starts);
        fulcrum_report_add_text(report, profile->name);
        fulcrum_report_add_number(report, profile->most_count);
        fulcrum_report_add_number(report, profile->compute_slice_count);
        fulcrum_report_add_number(report, profile->sm_count);
        fulcrum_report_add_number(report, profile->sm_count / mig->sm_count);
        fulcrum_report_add_number(report, profile->memory_slice_count);
        fulcrum_report_add_number(
            report, profile->memory_slice_count / mig->memory_slice_count);
        fulcrum_report_add_number(
            report, profile->cache_slice_count / mig->memory_slice_count);
        fulcrum_report_add_number(report, profile->memory_byte);
        fulcrum_report_add_number(report, profile->copy_engine_count);
        fulcrum_report_add_number(report, profile->decoder_count);
        fulcrum_report_add_text(report, starts);
    }
    return report;
}

static void add_layout(struct fulcrum_report *report, const struct fulcrum_mig *mig,
    const struct fulcrum_mig_layout *layout)
{
    char text[160];
    double sms = 0.0;
    double slices = 0.0;
    fulcrum_mig_layout_text(mig, layout, text, sizeof text);
    for (size_t i = 0; i < mig->profile_count; i++) {
        sms += layout->counts[i] * mig->profiles[i].sm_count;
        slices += layout->counts[i] * mig->profiles[i].memory_slice_count;
    }
    fulcrum_report_add_text(report, text);
    fulcrum_report_add_number(report, (double)layout->instance_count);
    fulcrum_report_add_number(report, sms);
    fulcrum_report_add_number(report, slices);
}

static enum fulcrum_status layouts_of(const struct fulcrum_mig *mig,
    struct fulcrum_report **out, struct fulcrum_error *err)
{
    struct fulcrum_mig_layout *layouts = NULL;
    size_t count = 0;
    TRY(fulcrum_mig_layouts(mig, &layouts, &count, err));
    *out = fulcrum_report_new(
        "layouts", layout_columns, sizeof layout_columns / sizeof layout_columns[0]);
    for (size_t i = 0; i < count; i++) {
        if (layouts[i].is_full) {
            add_layout(*out, mig, &layouts[i]);
        }
    }
    free(layouts);
    return FULCRUM_OK;
}

static struct fulcrum_report *sources_of(const struct fulcrum_partition *partition)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sources", source_columns, sizeof source_columns / sizeof source_columns[0]);
    for (size_t i = 0; i < partition->source_count; i++) {
        fulcrum_report_add_text(report, partition->sources[i].part);
        fulcrum_report_add_text(report, partition->sources[i].text);
    }
    return report;
}

/* The three tables of a partition. */
struct tables {
    struct fulcrum_report *profiles;
    struct fulcrum_report *layouts;
    struct fulcrum_report *sources;
};

static enum fulcrum_status print_json(const struct fulcrum_mig *mig,
    const struct tables *tables, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-show");
    fulcrum_json_add_text(document, "kind", "partition");
    fulcrum_json_add_text(document, "name", mig->name);
    fulcrum_json_add_text(document, "title", mig->title);
    fulcrum_json_add_text(document, "gpu", mig->gpu);
    fulcrum_json_add_number(document, "sm_count", mig->sm_count);
    fulcrum_json_add_number(document, "memory_byte", mig->memory_byte);
    fulcrum_json_add_number(document, "compute_slice_count", mig->compute_slice_count);
    fulcrum_json_add_number(document, "memory_slice_count", mig->memory_slice_count);
    fulcrum_report_to_json(tables->profiles, document);
    fulcrum_report_to_json(tables->layouts, document);
    fulcrum_report_to_json(tables->sources, document);
    return fulcrum_report_print_document(document, context, err);
}

static void print_table(const struct fulcrum_mig *mig, const struct tables *tables,
    const struct fulcrum_context *context)
{
    FILE *stream = context->out;
    (void)fprintf(stream, "partition %s: %s\n\n", mig->name, mig->title);
    (void)fprintf(stream,
        "%s: %.6g SMs, %.6g compute slices, %.6g memory slices of %.6g GB in all\n\n",
        mig->gpu, mig->sm_count, mig->compute_slice_count, mig->memory_slice_count,
        mig->memory_byte / 1e9);
    fulcrum_report_print_table(tables->profiles, stream, 0);
    (void)fputc('\n', stream);
    fulcrum_report_print_table(tables->layouts, stream, 0);
    (void)fputc('\n', stream);
    fulcrum_report_print_table(tables->sources, stream, 0);
}

enum fulcrum_status fulcrum_show_partition(const struct fulcrum_partition *partition,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_mig *mig = &partition->mig;
    struct tables tables = {.layouts = NULL};
    enum fulcrum_status status = layouts_of(mig, &tables.layouts, err);
    tables.profiles = profiles_of(mig);
    tables.sources = sources_of(partition);
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(mig, &tables, context, err);
    } else if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE) {
        print_table(mig, &tables, context);
    } else if (status == FULCRUM_OK) {
        status = fulcrum_report_print(tables.profiles, "fulcrum-show", context, err);
    }
    fulcrum_report_free(tables.profiles);
    fulcrum_report_free(tables.layouts);
    fulcrum_report_free(tables.sources);
    return status;
}
