/* plot_source.c - the file behind a chart: what it holds; what several charts need. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat */

#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "model/design/design.h"
#include "model/number.h"
#include "model/try.h"
#include "presets/io/csv.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

double fulcrum_plot_number(
    const struct fulcrum_table *table, size_t row, const char *key)
{
    return fulcrum_table_at(table, row, key).number;
}

bool fulcrum_plot_says(
    const struct fulcrum_table *table, size_t row, const char *key, const char *text)
{
    return strcmp(fulcrum_chart_words(table, row, key), text) == 0;
}

void fulcrum_plot_cell_add(
    struct fulcrum_table *table, const char *key, struct fulcrum_cell cell)
{
    fulcrum_table_estimate(table, key, NULL, cell.number, cell.lo, cell.hi);
}

void fulcrum_plot_print(
    struct fulcrum_table *table, const char *key, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fulcrum_table_text(table, key, NULL, text);
}

bool fulcrum_plot_ran(const struct fulcrum_table *table, size_t row)
{
    const char *status = fulcrum_table_at(table, row, "status").text;
    return status == NULL || strcmp(status, "ok") == 0;
}

size_t fulcrum_plot_flags_add(
    struct fulcrum_string *out, const struct fulcrum_table *table)
{
    size_t failed = 0;
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        if (fulcrum_plot_ran(table, i)) {
            fulcrum_string_add_parts(out, fulcrum_table_at(table, i, "flags").text);
        } else {
            failed++;
        }
    }
    return failed;
}

const char *fulcrum_plot_text_of(const struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *key)
{
    const char *text = fulcrum_result_text_of(result, key);
    return text[0] != '\0' ? text : fulcrum_chart_words(table, 0, key);
}

/* Whether more than one number is in a column. */
static bool varies(const struct fulcrum_table *table, size_t column)
{
    double first = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        double value = fulcrum_table_cell(table, i, column).number;
        first = isnan(first) ? value : first;
        if (value != first && !isnan(value)) {
            return true;
        }
    }
    return false;
}

struct fulcrum_plot_fields fulcrum_plot_fields_of(const struct fulcrum_table *table)
{
    static const char *const parts[] = {
        "machine.", "workload.", "calibration.", "run."};
    struct fulcrum_plot_fields fields = {0};
    size_t most = sizeof fields.columns / sizeof fields.columns[0];
    for (size_t j = 0; j < fulcrum_table_columns(table) && fields.count < most; j++) {
        const char *key = fulcrum_table_column(table, j).key;
        bool is_field = false;
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            is_field |= strncmp(key, parts[k], strlen(parts[k])) == 0;
        }
        if (is_field && varies(table, j)) {
            fields.columns[fields.count++] = j;
        }
    }
    return fields;
}

/* What one of a field is called; NULL: nothing but the field's name. */
static const char *word_of(const char *path)
{
    static const struct {
        const char *path;
        const char *one;
    } words[] = {{"run.actor_count", "actor"}, {"run.gpu_count", "GPU"},
        {"run.sm_count", "SM"}, {"machine.gpu.sm_count", "SM"},
        {"machine.gpu.count", "GPU"}, {"machine.cpu.thread_count", "thread"},
        {"run.node_count", "node"}};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (strcmp(words[k].path, path) == 0) {
            return words[k].one;
        }
    }
    return NULL;
}

void fulcrum_plot_fields_name(struct fulcrum_string *out,
    const struct fulcrum_table *table, const struct fulcrum_plot_fields *fields,
    size_t row)
{
    for (size_t i = 0; i < fields->count; i++) {
        const char *path = fulcrum_table_column(table, fields->columns[i]).key;
        double value = fulcrum_table_cell(table, row, fields->columns[i]).number;
        const char *dot = strrchr(path, '.');
        const char *one = word_of(path);
        fulcrum_string_add(out, "%s", out->length > 0 ? ", " : "");
        if (one != NULL) {
            fulcrum_string_add(out, "%.6g %s%s", value, one, value == 1.0 ? "" : "s");
        } else {
            fulcrum_string_add(out, "%s %.6g", dot != NULL ? dot + 1 : path, value);
        }
    }
}

void fulcrum_plot_guide_add(struct fulcrum_result *result, int panel, const char *group,
    double x, const char *text)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, "guides");
    struct fulcrum_table *guides =
        item != NULL ? item->table : fulcrum_result_table(result, "guides", NULL);
    fulcrum_table_row(guides);
    fulcrum_table_number(guides, "panel", NULL, panel);
    fulcrum_table_text(guides, "group", NULL, group);
    fulcrum_table_number(guides, "x", NULL, x);
    fulcrum_table_text(guides, "text", NULL, text);
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

/* What files hold, and how it is told: a document by its schema, and where that stands
 * for two by a table of its own; a CSV file by its columns. */
static const struct kind {
    const char *schema;
    const char *words;
    const char *columns[2];
    const char *table;
} kinds[FULCRUM_PLOT_CONTENTS] = {
    [FULCRUM_PLOT_SWEEP] = {"fulcrum-explore", "a sweep of 'fulcrum explore'"},
    [FULCRUM_PLOT_PREDICTION] = {"fulcrum-predict", "the JSON of 'fulcrum predict'"},
    [FULCRUM_PLOT_VALIDATION] = {"fulcrum-validate", "the points of 'fulcrum validate'",
        {"predicted", "observed"}},
    [FULCRUM_PLOT_FIT] = {"fulcrum-fit", "the JSON of 'fulcrum fit'"},
    [FULCRUM_PLOT_STAGES] = {"fulcrum-measure",
        "the stages that 'fulcrum measure' recorded", {"stage", "cpu_only_frac"},
        "stages"},
    [FULCRUM_PLOT_MEASURED] = {"fulcrum-measure", "the points of 'fulcrum measure'",
        {"measured_steps_per_s", "measured_steps_per_s"}, "points"},
    [FULCRUM_PLOT_NODE] = {"fulcrum-node", "what 'fulcrum node' wrote",
        {"learner_gpu_count", "threads_needed"}},
    [FULCRUM_PLOT_SENSITIVITY] = {"fulcrum-sensitivity",
        "what 'fulcrum sensitivity' found", {"swing_lo", "total_frac"}},
    [FULCRUM_PLOT_SCALING] = {"fulcrum-cluster", "what 'fulcrum cluster' wrote",
        {"quality_speedup", "quality_speedup"}},
    [FULCRUM_PLOT_UPGRADES] = {"fulcrum-recommend", "upgrades of 'recommend upgrade'",
        {"upgrade", "speedup"}},
    [FULCRUM_PLOT_PLACEMENTS] = {"fulcrum-placements",
        "the placements of 'fulcrum partition'", {"placement", "sm_frac"}},
    [FULCRUM_PLOT_MEMORY] = {"fulcrum-memory", "factors of 'fulcrum memory'",
        {"cache_rel", "bandwidth_rel"}, "factors"},
    [FULCRUM_PLOT_COMPONENTS] = {"fulcrum-memory", "the components of 'fulcrum memory'",
        {"component", "gpu_s"}, "components"},
    [FULCRUM_PLOT_CALIBRATION] = {"fulcrum-calibration", "a calibration"},
    [FULCRUM_PLOT_REFERENCE] = {"fulcrum-reference", "a reference"},
};

const char *fulcrum_plot_content_words(enum fulcrum_plot_content content)
{
    return kinds[content].words;
}

/* What each command wrote has a schema or, as CSV, columns of its own. */
static bool is_of_kind(
    const struct kind *kind, const char *schema, const struct fulcrum_table *rows)
{
    size_t count = fulcrum_table_columns(rows);
    return rows == NULL ? strcmp(kind->schema, schema) == 0
                        : kind->columns[0] != NULL &&
                              fulcrum_table_find(rows, kind->columns[0]) < count &&
                              fulcrum_table_find(rows, kind->columns[1]) < count;
}

static bool has_table(const struct fulcrum_plot_source *source, int content)
{
    const char *key = kinds[content].table;
    return key != NULL && fulcrum_result_table_of(source->result, key) != NULL;
}

/* References name their kind beside the schema; old ones may have the kind alone. Of
 * two contents of one schema that which is there and asked for counts, else the last.
 */
static enum fulcrum_status find_content(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    const char *name = fulcrum_result_schema(source->result);
    const char *kind = fulcrum_result_text_of(source->result, "kind");
    bool has_name = name[0] != '\0';
    const struct fulcrum_table *rows =
        has_name ? NULL : fulcrum_result_table_of(source->result, "rows");
    enum fulcrum_plot_content found =
        rows != NULL ? FULCRUM_PLOT_SWEEP : FULCRUM_PLOT_CONTENTS;
    char schema[80];
    (void)snprintf(schema, sizeof schema, "%s%.60s", has_name ? "" : "fulcrum-",
        has_name ? name : kind);
    for (int i = 0; i < FULCRUM_PLOT_CONTENTS; i++) {
        bool stays = found < FULCRUM_PLOT_CONTENTS && has_table(source, (int)found) &&
                     (found == expected || !has_table(source, i));
        if (is_of_kind(&kinds[i], schema, rows) && !stays) {
            found = (enum fulcrum_plot_content)i;
        }
    }
    FAIL_IF(rows == NULL && !has_name && kind[0] == '\0', err, FULCRUM_ERR_FORMAT,
        "%s: schema is not given: expected what explore, validate, fit, measure "
        "or calibrate wrote, or a reference",
        source->name);
    FAIL_IF(found == FULCRUM_PLOT_CONTENTS, err, FULCRUM_ERR_FORMAT,
        "%s: its schema is %s: no chart is drawn from that", source->name, schema);
    source->content = found;
    return FULCRUM_OK;
}

static bool has_preset(enum fulcrum_preset_kind kind, const char *name)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    return fulcrum_preset_find(kind, name, NULL, path, NULL) == FULCRUM_OK;
}

/* What can be read but once is believed to hold what it is said to hold. */
static enum fulcrum_status read_stream(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    struct fulcrum_csv *csv = NULL;
    if (expected == FULCRUM_PLOT_FIT || expected == FULCRUM_PLOT_PREDICTION) {
        return fulcrum_result_read(source->name, &source->result, err);
    }
    TRY(fulcrum_csv_load(source->name, &csv, err));
    enum fulcrum_status status = fulcrum_result_of_csv(csv, &source->result, err);
    fulcrum_csv_free(csv);
    return status;
}

/* A file, or a preset; what is none of them is opened for its message. */
static enum fulcrum_status read_source(struct fulcrum_plot_source *source,
    enum fulcrum_plot_content expected, struct fulcrum_error *err)
{
    const char *dot = strrchr(source->name, '.');
    struct stat there;
    bool is_there = stat(source->name, &there) == 0;
    bool is_file =
        (is_there && S_ISREG(there.st_mode)) ||
        (dot != NULL && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".jsonl") == 0));
    if (!is_there && has_preset(FULCRUM_PRESET_REFERENCE, source->name)) {
        source->content = FULCRUM_PLOT_REFERENCE;
    } else if (!is_there && has_preset(FULCRUM_PRESET_CALIBRATION, source->name)) {
        source->content = FULCRUM_PLOT_CALIBRATION;
    } else if (is_file || expected < FULCRUM_PLOT_CALIBRATION) {
        TRY(is_file ? fulcrum_result_read(source->name, &source->result, err)
                    : read_stream(source, expected, err));
        return find_content(source, expected, err);
    } else {
        source->content = expected == FULCRUM_PLOT_REFERENCE ? FULCRUM_PLOT_REFERENCE
                                                             : FULCRUM_PLOT_CALIBRATION;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_source_open(const char *name,
    enum fulcrum_plot_content expected, struct fulcrum_plot_source *out,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_source source = {.name = name};
    enum fulcrum_status status;
    TRY_OR_END(read_source(&source, expected, err));
    if (source.content == FULCRUM_PLOT_CALIBRATION) {
        TRY_OR_END(fulcrum_calibration_load(name, &source.calibration, err));
    } else if (source.content == FULCRUM_PLOT_REFERENCE) {
        TRY_OR_END(fulcrum_reference_load(name, &source.reference, err));
    }
    *out = source;
    return FULCRUM_OK;
end:
    fulcrum_plot_source_close(&source);
    return status;
}

void fulcrum_plot_source_close(struct fulcrum_plot_source *source)
{
    if (!source->is_lent) {
        fulcrum_result_free(source->result);
    }
    fulcrum_calibration_free(source->calibration);
    fulcrum_reference_free(source->reference);
    *source = (struct fulcrum_plot_source){.name = NULL};
}
