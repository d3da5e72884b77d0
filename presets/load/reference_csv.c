/* reference_csv.c - measured throughput from tables that people keep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * First the header says what each column is, then each row becomes a point. Columns are
 * named like the members of reference files: a path of a field, a quantity, and beside
 * it "<quantity>_half_width". Faults are gathered, so that a file is mended in one go.
 */

#include "presets/load/reference_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/csv.h"
#include "presets/io/reader.h"

#define CSV_SERIES     "series"
#define CSV_BASE       "is_base"
#define CSV_HALF_WIDTH "_half_width"

/* What is observed. The first four say the same of a run in other words. */
enum csv_quantity {
    CSV_STEPS_PER_S,
    CSV_FRAMES_PER_S,
    CSV_SPEEDUP,
    CSV_RUNTIME_REL,
    CSV_GPU_W,
    CSV_QUANTITIES
};

enum {
    CSV_WORD_SERIES = 2 * CSV_QUANTITIES,
    CSV_WORD_BASE,
    CSV_WORD_ENV_COUNT,
    CSV_WORD_ACTORS,
    CSV_WORDS
};

/* Names of quantities, of their half-widths, and of the other columns. */
static const char *const words[CSV_WORDS] = {"steps_per_s", "frames_per_s", "speedup",
    "runtime_rel", "gpu_w", "steps_per_s" CSV_HALF_WIDTH, "frames_per_s" CSV_HALF_WIDTH,
    "speedup" CSV_HALF_WIDTH, "runtime_rel" CSV_HALF_WIDTH, "gpu_w" CSV_HALF_WIDTH,
    CSV_SERIES, CSV_BASE, FULCRUM_REFERENCE_ENV_COUNT, "actors"};

/* What frameworks print: agent steps a second, and environments of all actors. */
static const struct {
    const char *name;
    size_t word;
} framework_words[] = {{"fps", CSV_STEPS_PER_S}, {"sps", CSV_STEPS_PER_S},
    {"n_envs", CSV_WORD_ENV_COUNT}, {"num_envs", CSV_WORD_ENV_COUNT}};

enum { CSV_RATES = CSV_GPU_W };

struct csv_field {
    size_t column;
    const struct fulcrum_field *field;
};

struct csv_reader {
    const char *path;
    const struct fulcrum_design *design;
    struct fulcrum_csv *table;
    struct fulcrum_reference *reference;
    size_t column[CSV_WORDS]; /* where each word stands;
                                         CSV_COLUMN_NONE: nowhere */
    size_t field_count;
    struct csv_field *fields; /* columns that set fields */
    size_t base;              /* the row that ratios refer to */
    struct fulcrum_reader faults;
};

#define CSV_COLUMN_NONE ((size_t)-1)

/* Whether the file has a column of that word. */
static bool csv_has(const struct csv_reader *reader, size_t word)
{
    return reader->column[word] != CSV_COLUMN_NONE;
}

/* Room for `count` items and one more; a fault where memory ran out. */
static void *csv_room(struct csv_reader *reader, size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (items == NULL) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_NO_MEMORY, "no memory");
    }
    return items;
}

/* Adds a fault: a cell that does not hold what its column should. */
static void csv_fault_cell(struct csv_reader *reader, size_t row, size_t column,
    enum fulcrum_status status, const char *expected)
{
    fulcrum_reader_fault(&reader->faults, status, "line %zu: %s = %.60s: expected %s",
        fulcrum_csv_line(reader->table, row),
        fulcrum_csv_column_name(reader->table, column),
        fulcrum_csv_text(reader->table, row, column), expected);
}

/* A cell as a number: NAN where it is empty, and where it is a fault. */
static double csv_read_number(struct csv_reader *reader, size_t row, size_t column)
{
    double value = (double)NAN;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (fulcrum_csv_number(reader->table, row, column, &value, &failure) !=
        FULCRUM_OK) {
        (void)fulcrum_fail_more(
            &reader->faults.faults, failure.status, "%s", failure.detail);
        value = (double)NAN;
    }
    return value;
}

static bool is_blank(const struct csv_reader *reader, size_t row, size_t column)
{
    const char *text = fulcrum_csv_text(reader->table, row, column);
    return text[strspn(text, " \t")] == '\0';
}

/* Whether a design would take the value is asked of one that nobody keeps. */
static void read_field(struct csv_reader *reader, size_t row, size_t which,
    struct fulcrum_reference_setting *out)
{
    const struct fulcrum_field *field = reader->fields[which].field;
    size_t column = reader->fields[which].column;
    const char *text = fulcrum_csv_text(reader->table, row, column);
    struct fulcrum_design design = *reader->design;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status status = FULCRUM_OK;
    (void)snprintf(out->path, sizeof out->path, "%s", field->path);
    out->number = (double)NAN;
    if (is_blank(reader, row, column)) {
        csv_fault_cell(
            reader, row, column, FULCRUM_ERR_MISSING, "a value in every row");
        return;
    }
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        (void)snprintf(out->text, sizeof out->text, "%s", text);
        status = fulcrum_field_set_text(field, &design, text, &failure);
    } else {
        out->number = csv_read_number(reader, row, column);
        status = isnan(out->number)
                     ? FULCRUM_OK
                     : fulcrum_field_set_number(field, &design, out->number, &failure);
    }
    if (status != FULCRUM_OK) {
        /* The words with which a field refuses a value say what it expects. */
        static const char expected[] = "expected ";
        const char *at = strstr(failure.detail, expected);
        csv_fault_cell(reader, row, column, failure.status,
            at != NULL ? at + sizeof expected - 1 : "another value");
    }
}

static void read_env_count(
    struct csv_reader *reader, size_t row, struct fulcrum_reference_setting *out)
{
    size_t column = reader->column[CSV_WORD_ENV_COUNT];
    double count = csv_read_number(reader, row, column);
    (void)snprintf(out->path, sizeof out->path, "%s", FULCRUM_REFERENCE_ENV_COUNT);
    out->number = count;
    if (!(count >= 1.0 && count <= FULCRUM_REFERENCE_MOST && count == floor(count))) {
        csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "a whole number above 0");
    }
}

/* 1 where the row has this quantity; frames become steps. */
static int read_observation(struct csv_reader *reader, size_t row, size_t quantity,
    struct fulcrum_observation *out)
{
    size_t column = reader->column[quantity];
    if (column == CSV_COLUMN_NONE) {
        return 0;
    }
    double value = csv_read_number(reader, row, column);
    double per_step =
        quantity == CSV_FRAMES_PER_S ? reader->design->workload.frame_skip : 1.0;
    *out = (struct fulcrum_observation){.value = value};
    if (value <= 0.0 || value > FULCRUM_REFERENCE_MOST) {
        csv_fault_cell(reader, row, column, FULCRUM_ERR_RANGE, "a number above 0");
    }
    size_t half_column = reader->column[CSV_QUANTITIES + quantity];
    out->half_width = (double)NAN;
    if (half_column != CSV_COLUMN_NONE) {
        out->half_width = csv_read_number(reader, row, half_column);
        if (out->half_width < 0.0 || out->half_width > FULCRUM_REFERENCE_MOST) {
            csv_fault_cell(
                reader, row, half_column, FULCRUM_ERR_RANGE, "a number not below 0");
        } else if (is_blank(reader, row, reader->column[quantity]) &&
                   !isnan(out->half_width)) {
            csv_fault_cell(reader, row, half_column, FULCRUM_ERR_MISSING,
                "nothing where the value itself is not given");
        }
    }
    (void)snprintf(out->quantity, sizeof out->quantity, "%s",
        words[quantity == CSV_FRAMES_PER_S ? CSV_STEPS_PER_S : quantity]);
    out->value /= per_step;
    out->half_width /= per_step;
    return !isnan(value);
}

/* Speed and time of one run, said twice, would count twice. */
static void read_observations(
    struct csv_reader *reader, size_t row, struct fulcrum_reference_point *point)
{
    size_t rates = 0;
    bool is_observed = false;
    point->observations = csv_room(reader, CSV_QUANTITIES, sizeof *point->observations);
    if (point->observations == NULL) {
        return;
    }
    for (size_t i = 0; i < CSV_QUANTITIES; i++) {
        is_observed = is_observed ||
                      (csv_has(reader, i) && !is_blank(reader, row, reader->column[i]));
        if (read_observation(
                reader, row, i, &point->observations[point->observation_count])) {
            point->observation_count++;
            rates += i < CSV_RATES ? 1 : 0;
        }
    }
    if (rates > 1) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_FORMAT,
            "line %zu: %zu of steps_per_s, frames_per_s, speedup and runtime_rel: "
            "expected one of them in a row",
            fulcrum_csv_line(reader->table, row), rates);
    }
    if (!is_observed) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_MISSING,
            "line %zu: nothing was observed in this row",
            fulcrum_csv_line(reader->table, row));
    }
}

static void read_series(
    struct csv_reader *reader, size_t row, struct fulcrum_reference_point *point)
{
    size_t column = reader->column[CSV_WORD_SERIES];
    if (column == CSV_COLUMN_NONE) {
        return;
    }
    const char *text = fulcrum_csv_text(reader->table, row, column);
    size_t length = 0;
    while (text[length] != '\0' && fulcrum_utf8_length(text + length) > 0) {
        length += fulcrum_utf8_length(text + length);
    }
    if (text[length] != '\0' || length >= sizeof point->series) {
        csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "at most 63 bytes of UTF-8 text");
        return;
    }
    memcpy(point->series, text, length + 1);
}

bool fulcrum_reference_is_csv(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ".csv") == 0;
}

static void fault_column(struct csv_reader *reader, size_t column)
{
    const char *name = fulcrum_csv_column_name(reader->table, column);
    /* The name that a column of this name was most likely to have. */
    size_t i = fulcrum_nearest(name, words, CSV_WORDS, sizeof words[0]);
    const char *nearest = strchr(name, '.') == NULL && i < CSV_WORDS
                              ? words[i]
                              : fulcrum_field_nearest(name);
    fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_UNKNOWN_NAME,
        "column %zu: nothing is called '%.60s'%s%s%s", column + 1, name,
        nearest != NULL ? "; did you mean '" : "",
        nearest != NULL ? nearest : ": expected a field, an observed quantity, series",
        nearest != NULL ? "'?" : " or is_base");
}

static int sets_field(
    const struct csv_reader *reader, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < reader->field_count; i++) {
        if (reader->fields[i].field == field) {
            return 1;
        }
    }
    return 0;
}

static size_t word_of(const char *name)
{
    for (size_t i = 0; i < sizeof framework_words / sizeof framework_words[0]; i++) {
        if (strcmp(name, framework_words[i].name) == 0) {
            return framework_words[i].word;
        }
    }
    size_t i = 0;
    while (i < CSV_WORDS && strcmp(name, words[i]) != 0) {
        i++;
    }
    return i;
}

static void read_header(struct csv_reader *reader)
{
    size_t count = fulcrum_csv_column_count(reader->table);
    for (size_t i = 0; i < CSV_WORDS; i++) {
        reader->column[i] = CSV_COLUMN_NONE;
    }
    for (size_t column = 0; column < count; column++) {
        const char *name = fulcrum_csv_column_name(reader->table, column);
        size_t word = word_of(name);
        if (word < CSV_WORDS && csv_has(reader, word)) {
            fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_FORMAT,
                "column %zu: '%s' says again what column %zu says", column + 1, name,
                reader->column[word] + 1);
            continue;
        }
        if (word < CSV_WORDS) {
            reader->column[word] = column;
        }
        if (word > CSV_WORD_ENV_COUNT) {
            /* A column whose name is that of a field, or short for one. */
            const struct fulcrum_field *field = fulcrum_field_find(name);
            if (field == NULL || field->kind == FULCRUM_FIELD_TEXT) {
                fault_column(reader, column);
            } else if (sets_field(reader, field)) {
                fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_FORMAT,
                    "column %zu: '%s' sets %s, which an earlier column sets "
                    "already",
                    column + 1, name, field->path);
            } else {
                reader->fields[reader->field_count++] =
                    (struct csv_field){column, field};
            }
        }
    }
}

static bool is_relative(const struct csv_reader *reader)
{
    return csv_has(reader, CSV_SPEEDUP) || csv_has(reader, CSV_RUNTIME_REL);
}

/* The row that is marked, else the first. */
static void find_base(struct csv_reader *reader)
{
    size_t column = reader->column[CSV_WORD_BASE];
    size_t marks = 0;
    size_t count = column != CSV_COLUMN_NONE ? reader->reference->point_count : 0;
    for (size_t row = 0; row < count; row++) {
        double mark = csv_read_number(reader, row, column);
        if (!isnan(mark) && mark != 0.0 && mark != 1.0) {
            csv_fault_cell(reader, row, column, FULCRUM_ERR_RANGE, "1, 0 or nothing");
        }
        if (mark == 1.0) {
            reader->base = row;
            marks++;
        }
    }
    if (column != CSV_COLUMN_NONE && (marks != 1 || !is_relative(reader))) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_FORMAT,
            "column %zu: %s is 1 in %zu rows: expected it in the one row that "
            "speedup or runtime_rel refer to",
            column + 1, CSV_BASE, marks);
    }
}

static const struct fulcrum_observation *ratio_of(
    const struct fulcrum_reference_point *point)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, words[CSV_SPEEDUP]) == 0 ||
            strcmp(point->observations[i].quantity, words[CSV_RUNTIME_REL]) == 0) {
            return &point->observations[i];
        }
    }
    return NULL;
}

/* No figure is taken from the base itself, so what else its row observed gets a point
 * of its own. */
static void split_base(struct csv_reader *reader)
{
    struct fulcrum_reference *reference = reader->reference;
    const struct fulcrum_reference_point *base = &reference->points[reader->base];
    struct fulcrum_reference_point *other = &reference->points[reference->point_count];
    reference->is_relative = is_relative(reader);
    reference->relative_to = reader->base;
    if (!reference->is_relative || base->observation_count < 2) {
        return;
    }
    *other = *base;
    other->settings = csv_room(reader, base->setting_count, sizeof *base->settings);
    other->observations =
        csv_room(reader, base->observation_count, sizeof *base->observations);
    reference->point_count++;
    if (other->settings != NULL && other->observations != NULL) {
        memcpy(other->settings, base->settings,
            base->setting_count * sizeof *other->settings);
        /* The ratio is the first, as quantities are in one order. */
        other->observation_count--;
        memcpy(other->observations, base->observations + 1,
            other->observation_count * sizeof *other->observations);
    }
}

static void read_rows(struct csv_reader *reader)
{
    struct fulcrum_reference *reference = reader->reference;
    size_t count = fulcrum_csv_row_count(reader->table);
    reference->points = csv_room(reader, count, sizeof *reference->points);
    if (reference->points == NULL) {
        return;
    }
    for (size_t row = 0; row < count; row++) {
        /* Adds the row as a point of the reference; what is wrong with it to the
         * faults. */
        struct fulcrum_reference_point *point =
            &reference->points[reference->point_count++];
        point->index = row;
        read_series(reader, row, point);
        point->settings =
            csv_room(reader, reader->field_count, sizeof *point->settings);
        if (point->settings != NULL) {
            for (size_t i = 0; i < reader->field_count; i++) {
                read_field(reader, row, i, &point->settings[point->setting_count++]);
            }
            if (csv_has(reader, CSV_WORD_ENV_COUNT)) {
                read_env_count(reader, row, &point->settings[point->setting_count++]);
            }
        }
        read_observations(reader, row, point);
    }
    find_base(reader);
    /* What ratios refer to is 1 by what it means. */
    const struct fulcrum_observation *ratio =
        ratio_of(&reference->points[reader->base]);
    if (is_relative(reader) && reader->faults.faults.status == FULCRUM_OK &&
        (ratio == NULL || fabs(ratio->value - 1.0) > 1e-9)) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_RANGE,
            "line %zu: speedup or runtime_rel refer to this row: expected 1 here, "
            "or a column %s with 1 in another row",
            fulcrum_csv_line(reader->table, reader->base), CSV_BASE);
    }
    if (reader->faults.faults.status == FULCRUM_OK) {
        split_base(reader);
    }
}

/* Named by the file, with what that tells of where the numbers come from. */
static void set_head(struct csv_reader *reader)
{
    struct fulcrum_reference *reference = reader->reference;
    const struct fulcrum_design *design = reader->design;
    const char *slash = strrchr(reader->path, '/');
    const char *file = slash != NULL ? slash + 1 : reader->path;
    int length = (int)(strlen(file) - strlen(".csv"));
    const char *comment = fulcrum_csv_comment(reader->table, 0);
    reference->design = *design;
    reference->predictor = FULCRUM_PREDICTOR_THROUGHPUT;
    reference->frame_skip =
        csv_has(reader, CSV_FRAMES_PER_S) ? design->workload.frame_skip : 1.0;
    memcpy(reference->machine, design->machine.name, sizeof reference->machine);
    memcpy(reference->workload, design->workload.name, sizeof reference->workload);
    (void)snprintf(reference->name, sizeof reference->name, "%.*s",
        length > 0 ? length : (int)sizeof reference->name, file);
    (void)snprintf(
        reference->title, sizeof reference->title, "Measurements in %.140s", file);
    reference->sources = csv_room(reader, 1, sizeof *reference->sources);
    if (reference->sources != NULL) {
        struct fulcrum_reference_source *source = &reference->sources[0];
        reference->source_count = 1;
        (void)snprintf(source->part, sizeof source->part, "points");
        (void)snprintf(source->text, sizeof source->text, "%.180s%s%.180s",
            reader->path, comment[0] != '\0' ? ": " : "", comment);
    }
}

/* Rows are read where the header is understood: else each would be a fault. */
static enum fulcrum_status read_all(
    struct csv_reader *reader, struct fulcrum_error *err)
{
    size_t columns = fulcrum_csv_column_count(reader->table);
    reader->reference = calloc(1, sizeof *reader->reference);
    reader->fields = calloc(columns, sizeof *reader->fields);
    FAIL_IF(reader->reference == NULL || reader->fields == NULL, err,
        FULCRUM_ERR_NO_MEMORY, "%s", reader->path);
    read_header(reader);
    /* Half-widths without a value, environments counted twice, nothing observed. */
    bool has_quantity = 0;
    for (size_t i = 0; i < CSV_QUANTITIES; i++) {
        has_quantity = has_quantity || csv_has(reader, i);
        if (csv_has(reader, CSV_QUANTITIES + i) && !csv_has(reader, i)) {
            fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_MISSING,
                "column %zu: '%s' without a column '%s'",
                reader->column[CSV_QUANTITIES + i] + 1, words[CSV_QUANTITIES + i],
                words[i]);
        }
    }
    if (csv_has(reader, CSV_WORD_ENV_COUNT) &&
        sets_field(reader, fulcrum_field_find("run.actor_count"))) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_FORMAT,
            "column %zu: '%s' beside a column of actors: expected one of them",
            reader->column[CSV_WORD_ENV_COUNT] + 1, FULCRUM_REFERENCE_ENV_COUNT);
    }
    if (!has_quantity && reader->faults.faults.status == FULCRUM_OK) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_MISSING,
            "no column of what was observed: expected steps_per_s, frames_per_s, "
            "speedup, runtime_rel or gpu_w");
    }
    size_t count = fulcrum_csv_row_count(reader->table);
    if (count > FULCRUM_REFERENCE_CSV_ROWS_MOST) {
        fulcrum_reader_fault(&reader->faults, FULCRUM_ERR_RANGE,
            "%zu rows: expected at most %d", count,
            (int)FULCRUM_REFERENCE_CSV_ROWS_MOST);
    }
    if (reader->faults.faults.status == FULCRUM_OK) {
        read_rows(reader);
        set_head(reader);
    }
    return fulcrum_reader_finish(&reader->faults, err);
}

enum fulcrum_status fulcrum_reference_csv_load(const char *path,
    const struct fulcrum_design *design, struct fulcrum_reference **out,
    struct fulcrum_error *err)
{
    struct csv_reader reader = {
        .path = path, .design = design, .faults = {.file = path}};
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_csv_load(path, &reader.table, err));
    TRY_OR_END(read_all(&reader, err));
    *out = reader.reference;
    reader.reference = NULL;
end:
    fulcrum_csv_free(reader.table);
    free(reader.fields);
    fulcrum_reference_free(reader.reference);
    return status;
}
