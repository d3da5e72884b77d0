/* result_write.h - what the writers of results share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_RESULT_RESULT_WRITE_H
#define FULCRUM_PRESETS_RESULT_RESULT_WRITE_H

#include "model/string.h"
#include "presets/io/json.h"
#include "presets/result/quantity_text.h"
#include "presets/result/result_io.h"

/* Without `skipped`, whose rows are written elsewhere; NULL: with all. The caller frees
 * it with json_object_put. */
struct json_object *fulcrum_result_json(
    const struct fulcrum_result *result, const struct fulcrum_table *skipped);

/* Adds one text cell of CSV: quoted where RFC 4180 asks for it. */
void fulcrum_csv_add(struct fulcrum_string *row, const char *text);

/* Whether there is a number, or some text. */
bool fulcrum_cell_is_known(const struct fulcrum_cell *cell);

/* Of reports, or ASCII for terminals. */
enum fulcrum_style { FULCRUM_STYLE_WORDS, FULCRUM_STYLE_PLAIN };

/* A cell as people read it. */
struct fulcrum_shown_cell {
    const char *value; /* the cell's text, a word or `number` */
    char number[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE]; /* its interval; "": none */
};

void fulcrum_cell_show(const struct fulcrum_cell *cell, enum fulcrum_value_kind kind,
    const char *unit, enum fulcrum_style style, struct fulcrum_shown_cell *out);

/* Whether a column is shown: it has a title, is not hidden and says something. */
bool fulcrum_column_is_shown(
    const struct fulcrum_table *table, size_t column, bool all);

/* The title, or the key where there is none. */
const char *fulcrum_shown_title(const char *title, const char *key);

void fulcrum_result_text_write(const struct fulcrum_result *result,
    const struct fulcrum_text_layout *layout, FILE *stream);
void fulcrum_result_markdown(const struct fulcrum_result *result, FILE *stream);
void fulcrum_result_html(const struct fulcrum_result *result, FILE *stream);

#endif
