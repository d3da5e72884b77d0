/* reference_csv_state.h - a CSV file of measurements while it is read. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_REFERENCE_CSV_STATE_H
#define FULCRUM_PRESETS_REFERENCE_CSV_STATE_H

#include "model/reference.h"
#include "presets/reference_file.h"
#include "presets/table.h"

#define FULCRUM_CSV_SERIES     "series"
#define FULCRUM_CSV_BASE       "is_base"
#define FULCRUM_CSV_HALF_WIDTH "_half_width"

/* What is observed. The first four say the same of a run in other words. */
enum fulcrum_csv_quantity {
    FULCRUM_CSV_STEPS_PER_S,
    FULCRUM_CSV_FRAMES_PER_S,
    FULCRUM_CSV_SPEEDUP,
    FULCRUM_CSV_RUNTIME_REL,
    FULCRUM_CSV_GPU_W,
    FULCRUM_CSV_QUANTITIES
};
enum { FULCRUM_CSV_RATES = FULCRUM_CSV_GPU_W };

enum {
    FULCRUM_CSV_WORD_SERIES = 2 * FULCRUM_CSV_QUANTITIES,
    FULCRUM_CSV_WORD_BASE,
    FULCRUM_CSV_WORD_ENV_COUNT,
    FULCRUM_CSV_WORD_ACTORS,
    FULCRUM_CSV_WORDS
};

struct fulcrum_csv_reader {
    const char *path;
    const struct fulcrum_design *design;
    struct fulcrum_table *table;
    struct fulcrum_reference *reference;
    size_t column[FULCRUM_CSV_WORDS]; /* where each word stands;
                                         FULCRUM_CSV_COLUMN_NONE: nowhere */
    size_t field_count;
    size_t *field_column; /* columns that set fields, and the fields */
    const struct fulcrum_field **fields;
    size_t base; /* the row that ratios refer to */
    struct fulcrum_error faults;
};

#define FULCRUM_CSV_COLUMN_NONE ((size_t)-1)

/* Names of quantities, of their half-widths, and of the other columns. */
extern const char *const fulcrum_csv_words[FULCRUM_CSV_WORDS];

/* Whether the file has a column of that word. */
int fulcrum_csv_has(const struct fulcrum_csv_reader *reader, size_t word);

/* Adds the row as a point of the reference; what is wrong with it to the faults. */
void fulcrum_csv_read_row(struct fulcrum_csv_reader *reader, size_t row);

/* A cell as a number: NAN where it is empty, and where it is a fault. */
double fulcrum_csv_read_number(
    struct fulcrum_csv_reader *reader, size_t row, size_t column);

/* Adds a fault: a cell that does not hold what its column should. */
void fulcrum_csv_fault_cell(struct fulcrum_csv_reader *reader, size_t row,
    size_t column, enum fulcrum_status status, const char *expected);

#endif
