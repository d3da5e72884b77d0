/* plot_source.c - the file behind a chart: what it holds, and what it says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat */

#include "cli/plot/plot_source.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "model/design/design.h"
#include "model/nearest.h"
#include "model/status.h"
#include "model/try.h"
#include "presets/io/csv.h"
#include "presets/load/preset.h"

static bool is_path(const char *column)
{
    static const char *const parts[] = {
        "machine.", "workload.", "calibration.", "run."};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strncmp(column, parts[i], strlen(parts[i])) == 0) {
            return true;
        }
    }
    return false;
}

void fulcrum_plot_field_label(char *out, size_t size, const char *path)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    if (field == NULL) {
        (void)snprintf(out, size, "%s", path);
        return;
    }
    /* What follows the first sentence is for lists of fields. */
    size_t length = strcspn(field->meaning, ";:");
    (void)snprintf(out, size, "%.*s%s%s (%s)", (int)length, field->meaning,
        field->unit[0] != '\0' ? ", " : "", field->unit, path);
}

/* What was read, as charts look at it. */

struct fulcrum_table *fulcrum_plot_table(
    const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    return item != NULL ? item->table : NULL;
}

struct fulcrum_table *fulcrum_plot_points(const struct fulcrum_result *result)
{
    struct fulcrum_table *points = fulcrum_plot_table(result, "points");
    return points != NULL ? points : fulcrum_plot_table(result, "rows");
}

double fulcrum_plot_number(
    const struct fulcrum_table *table, size_t row, const char *key)
{
    return fulcrum_table_at(table, row, key).number;
}

const char *fulcrum_plot_text(
    const struct fulcrum_table *table, size_t row, const char *key)
{
    const char *text = fulcrum_table_at(table, row, key).text;
    return text != NULL ? text : "";
}

bool fulcrum_plot_ran(const struct fulcrum_table *table, size_t row)
{
    const char *status = fulcrum_table_at(table, row, "status").text;
    return status == NULL || strcmp(status, "ok") == 0;
}

const char *fulcrum_plot_text_of(const struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *key)
{
    const char *text = fulcrum_result_text_of(result, key);
    return text[0] != '\0' ? text : fulcrum_plot_text(table, 0, key);
}

bool fulcrum_plot_varies(const struct fulcrum_table *table, size_t column)
{
    double first = (double)NAN;
    bool is_field = is_path(fulcrum_table_column(table, column).key);
    for (size_t i = 0; i < fulcrum_table_rows(table) && is_field; i++) {
        double value = fulcrum_table_cell(table, i, column).number;
        first = isnan(first) ? value : first;
        if (value != first && !isnan(value)) {
            return true;
        }
    }
    return false;
}

enum fulcrum_status fulcrum_plot_check_column(const struct fulcrum_table *table,
    const char *option, const char *column, struct fulcrum_error *err)
{
    enum { MOST = 256, HINT_BYTE = 1600 };
    const char *columns[MOST];
    char hint[HINT_BYTE];
    size_t count = fulcrum_table_columns(table);
    if (fulcrum_table_find(table, column) < count) {
        return FULCRUM_OK;
    }
    struct fulcrum_names names = {columns, 0, sizeof columns[0]};
    for (size_t j = 0; j < count && names.count < MOST; j++) {
        columns[names.count++] = fulcrum_table_column(table, j).key;
    }
    fulcrum_names_hint(&names, column, hint, sizeof hint);
    return fulcrum_fail(
        err, FULCRUM_ERR_FORMAT, "%s: no column '%s'%s", option, column, hint);
}

void fulcrum_plot_guide_add(
    struct fulcrum_result *result, const char *group, double x, const char *text)
{
    struct fulcrum_table *guides = fulcrum_plot_table(result, "guides");
    guides = guides != NULL ? guides : fulcrum_result_table(result, "guides", NULL);
    fulcrum_table_row(guides);
    fulcrum_table_number(guides, "panel", NULL, 0.0);
    fulcrum_table_text(guides, "group", NULL, group);
    fulcrum_table_number(guides, "x", NULL, x);
    fulcrum_table_text(guides, "text", NULL, text);
}

void fulcrum_plot_say(
    struct fulcrum_string *out, const char *words, const char *text, const char *end)
{
    if (text[0] != '\0') {
        fulcrum_string_add(out, "%s%s%s", words, text, end);
    }
}

void fulcrum_plot_title_add(struct fulcrum_result *out, const char *workload,
    const char *machine, const char *calibration)
{
    bool has_both = workload[0] != '\0' && machine[0] != '\0';
    fulcrum_result_print(
        out, "title", NULL, "%s%s%s", workload, has_both ? " on " : "", machine);
    fulcrum_result_print(out, "subtitle", NULL, "%s%s",
        calibration[0] != '\0' ? "calibration " : "", calibration);
}

enum fulcrum_status fulcrum_plot_next_machine(const char **list, char name[64],
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    char *part = fulcrum_list_part(list);
    (void)snprintf(name, 64, "%s", part);
    fulcrum_design_init(out);
    enum fulcrum_status status = fulcrum_machine_load(part, out, NULL, err);
    free(part);
    return status == FULCRUM_OK ? status : fulcrum_fail_in(err, status, "--machines");
}

int fulcrum_plot_compare(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

/* What files of one schema are, and whether charts read them row by row. */
static const struct kind {
    const char *schema;
    const char *words;
} kinds[FULCRUM_PLOT_CONTENTS] = {
    [FULCRUM_PLOT_SWEEP] = {"fulcrum-explore", "a sweep of 'fulcrum explore'"},
    [FULCRUM_PLOT_PREDICTION] = {"fulcrum-predict", "the JSON of 'fulcrum predict'"},
    [FULCRUM_PLOT_VALIDATION] = {"fulcrum-validate",
        "the points of 'fulcrum validate'"},
    [FULCRUM_PLOT_FIT] = {"fulcrum-fit", "the JSON of 'fulcrum fit'"},
    [FULCRUM_PLOT_MEASURED] = {"fulcrum-measure", "the points of 'fulcrum measure'"},
    [FULCRUM_PLOT_STAGES] = {"fulcrum-measure",
        "the stages that 'fulcrum measure' recorded"},
    [FULCRUM_PLOT_COMPONENTS] = {"fulcrum-memory",
        "the components of 'fulcrum memory'"},
    [FULCRUM_PLOT_MEMORY] = {"fulcrum-memory", "factors of 'fulcrum memory'"},
    [FULCRUM_PLOT_PLACEMENTS] = {"fulcrum-placements",
        "the placements of 'fulcrum partition'"},
    [FULCRUM_PLOT_UPGRADES] = {"fulcrum-recommend", "upgrades of 'recommend upgrade'"},
    [FULCRUM_PLOT_NODE] = {"fulcrum-node", "what 'fulcrum node' wrote"},
    [FULCRUM_PLOT_SCALING] = {"fulcrum-cluster", "what 'fulcrum cluster' wrote"},
    [FULCRUM_PLOT_SENSITIVITY] = {"fulcrum-sensitivity",
        "what 'fulcrum sensitivity' found"},
    [FULCRUM_PLOT_CALIBRATION] = {"fulcrum-calibration", "a calibration"},
    [FULCRUM_PLOT_REFERENCE] = {"fulcrum-reference", "a reference"},
};

const char *fulcrum_plot_content_words(enum fulcrum_plot_content content)
{
    return kinds[content].words;
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The first character that counts, of a file that can be read again; EOF for others. */
static int first_character(const char *path)
{
    struct stat there;
    FILE *file =
        stat(path, &there) == 0 && S_ISREG(there.st_mode) ? fopen(path, "r") : NULL;
    if (file == NULL) {
        return EOF;
    }
    int first = fgetc(file);
    while (first != EOF && isspace(first)) {
        first = fgetc(file);
    }
    (void)fclose(file);
    return first;
}

static bool have(
    const struct fulcrum_table *table, const char *column, const char *also)
{
    size_t count = fulcrum_table_columns(table);
    return fulcrum_table_find(table, column) < count &&
           (also == NULL || fulcrum_table_find(table, also) < count);
}

/* What each command wrote has columns of its own; the first that are found count. */
static enum fulcrum_status open_table(
    struct fulcrum_plot_source *source, struct fulcrum_error *err)
{
    static const struct {
        const char *columns[2]; /* all of them; the second may be NULL */
        enum fulcrum_plot_content content;
    } marks[] = {
        {{"component", "gpu_s"}, FULCRUM_PLOT_COMPONENTS},
        {{"cache_rel", "bandwidth_rel"}, FULCRUM_PLOT_MEMORY},
        {{"placement", "sm_frac"}, FULCRUM_PLOT_PLACEMENTS},
        {{"upgrade", "speedup"}, FULCRUM_PLOT_UPGRADES},
        {{"quality_speedup", NULL}, FULCRUM_PLOT_SCALING},
        {{"swing_lo", "total_frac"}, FULCRUM_PLOT_SENSITIVITY},
        {{"learner_gpu_count", "threads_needed"}, FULCRUM_PLOT_NODE},
        {{"measured_steps_per_s", NULL}, FULCRUM_PLOT_MEASURED},
        {{"stage", "cpu_only_frac"}, FULCRUM_PLOT_STAGES},
        {{"predicted", "observed"}, FULCRUM_PLOT_VALIDATION},
    };
    struct fulcrum_csv *csv = NULL;
    TRY(fulcrum_csv_load(source->name, &csv, err));
    enum fulcrum_status status = fulcrum_result_of_csv(csv, &source->result, err);
    fulcrum_csv_free(csv);
    source->content = FULCRUM_PLOT_SWEEP;
    const struct fulcrum_table *table = fulcrum_result_table_of(source->result, "rows");
    for (size_t i = sizeof marks / sizeof marks[0]; status == FULCRUM_OK && i > 0;
         i--) {
        if (have(table, marks[i - 1].columns[0], marks[i - 1].columns[1])) {
            source->content = marks[i - 1].content;
        }
    }
    return status;
}

static bool has_table(const struct fulcrum_plot_source *source, const char *key)
{
    return fulcrum_result_table_of(source->result, key) != NULL;
}

/* Schemas that stand for two contents are told apart by what is in them. */
static enum fulcrum_plot_content content_of(const struct fulcrum_plot_source *source,
    enum fulcrum_plot_content content, enum fulcrum_plot_content expected)
{
    if (content == FULCRUM_PLOT_MEASURED) {
        /* Points, stages or both: what is asked for, else points. */
        bool is_stages =
            has_table(source, "stages") &&
            (!has_table(source, "points") || expected == FULCRUM_PLOT_STAGES);
        return is_stages ? FULCRUM_PLOT_STAGES : FULCRUM_PLOT_MEASURED;
    }
    return content == FULCRUM_PLOT_COMPONENTS && !has_table(source, "components")
               ? FULCRUM_PLOT_MEMORY
               : content;
}

/* A document, or a sweep of many points that comes line by line. References name their
 * kind beside the schema; old ones may have the kind alone. */
static enum fulcrum_status open_document(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    TRY(fulcrum_result_read(source->name, &source->result, err));
    const char *name = fulcrum_result_schema(source->result);
    const char *kind = fulcrum_result_text_of(source->result, "kind");
    for (int i = 0; i < FULCRUM_PLOT_CONTENTS; i++) {
        const char *known = kinds[i].schema;
        if (strcmp(name, known) == 0 ||
            (name[0] == '\0' && strcmp(kind, known + strlen("fulcrum-")) == 0)) {
            source->content =
                content_of(source, (enum fulcrum_plot_content)i, expected);
            return FULCRUM_OK;
        }
    }
    FAIL_IF(name[0] == '\0' && kind[0] == '\0', err, FULCRUM_ERR_FORMAT,
        "%s: schema is not given: expected what explore, validate, fit, measure "
        "or calibrate wrote, or a reference",
        source->name);
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "%s: its schema is %s: no chart is drawn from that", source->name,
        name[0] != '\0' ? name : kind);
}

/* Whether there is a preset of that kind and name. */
static enum fulcrum_status has_preset(enum fulcrum_preset_kind kind, const char *name,
    bool *out, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    enum fulcrum_status status = fulcrum_preset_list(kind, &entries, &count, err);
    *out = 0;
    for (size_t i = 0; status == FULCRUM_OK && i < count; i++) {
        *out = *out || strcmp(entries[i].name, name) == 0;
    }
    free(entries);
    return status;
}

/* What can be read but once is believed to hold what it is said to hold. */
static enum fulcrum_status open_as(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    if (expected == FULCRUM_PLOT_FIT || expected == FULCRUM_PLOT_PREDICTION) {
        return open_document(source, expected, err);
    }
    if (expected < FULCRUM_PLOT_CALIBRATION) {
        return open_table(source, err);
    }
    source->content = expected == FULCRUM_PLOT_REFERENCE ? FULCRUM_PLOT_REFERENCE
                                                         : FULCRUM_PLOT_CALIBRATION;
    return FULCRUM_OK;
}

/* A preset's name; what is none of them is opened for its message. */
static enum fulcrum_status open_preset(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    bool is_reference = false;
    bool is_calibration = false;
    TRY(has_preset(FULCRUM_PRESET_REFERENCE, source->name, &is_reference, err));
    TRY(has_preset(FULCRUM_PRESET_CALIBRATION, source->name, &is_calibration, err));
    if (!is_reference && !is_calibration) {
        return open_as(source, expected, err);
    }
    source->content = is_reference ? FULCRUM_PLOT_REFERENCE : FULCRUM_PLOT_CALIBRATION;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_source_open(const char *name,
    enum fulcrum_plot_content expected, struct fulcrum_plot_source *out,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_source source = {.name = name};
    int first = first_character(name);
    struct stat there;
    enum fulcrum_status status = FULCRUM_OK;
    bool is_csv = ends_with(name, ".csv");
    if (ends_with(name, ".jsonl") || (first == '{' && !is_csv)) {
        status = open_document(&source, expected, err);
    } else if (is_csv || first != EOF) {
        status = open_table(&source, err);
    } else if (stat(name, &there) == 0) {
        status = open_as(&source, expected, err);
    } else {
        status = open_preset(&source, expected, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_source_close(&source);
        return status;
    }
    *out = source;
    return FULCRUM_OK;
}

void fulcrum_plot_source_close(struct fulcrum_plot_source *source)
{
    if (!source->is_lent) {
        fulcrum_result_free(source->result);
    }
    *source = (struct fulcrum_plot_source){.name = NULL};
}
