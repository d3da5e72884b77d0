/* preset_file.h - what all files have: kind, name, title, and parts by a table. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_PRESET_FILE_H
#define FULCRUM_PRESETS_LOAD_PRESET_FILE_H

#include <stdbool.h>

#include "model/design/design.h"
#include "presets/io/reader.h"
#include "presets/io/record.h"
#include "presets/load/preset_kind.h"

/* Of the "schema" that files written by programs begin with, whose name is "fulcrum-"
 * and the kind; raised when a file of the old form would be misread. */
#define FULCRUM_FILE_VERSION 1

struct fulcrum_file_header {
    bool is_kind; /* the file is of the kind asked for */
    char name[64];
    char title[160]; /* the name where none is given */
};

/* Returns true, or adds faults and returns false. */
bool fulcrum_file_header_read(const struct fulcrum_node *root,
    enum fulcrum_preset_kind kind, struct fulcrum_file_header *out);

/* Begins a document with schema, kind, name and title. */
void fulcrum_file_header_write(struct json_object *root, enum fulcrum_preset_kind kind,
    const char *name, const char *title);

/* A member of the outermost object. */
struct fulcrum_file_part {
    struct fulcrum_record_row row;
    /* Adds it to what is loaded, or faults to the node's reader; NULL: by the row. */
    void (*read)(const struct fulcrum_node *node, void *loaded);
    bool is_list; /* of objects, each of which is read */
};

struct fulcrum_file_form {
    enum fulcrum_preset_kind kind;
    /* In the order in which they are read, beside what the header holds; key NULL after
     * the last one. */
    const struct fulcrum_file_part *parts;
    /* What can be said once every part was read; NULL: nothing. */
    void (*check)(const struct fulcrum_node *root, void *loaded);
};

enum { FULCRUM_FILE_PARTS_MOST = 16 };

/*
 * Loads a file of one form.
 *   loaded   begins with name and title, as struct fulcrum_file_header has them; is not
 *            to be used after a failure, as parts may be missing
 *   fails    as fulcrum_document_read; FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE and
 *            others: all faults of the file
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_file_load(
    const struct fulcrum_file_form *form, const char *path, void *loaded,
    struct fulcrum_error *err);

/* Whether the field belongs to machine or workload files. */
bool fulcrum_preset_has_field(
    enum fulcrum_preset_kind kind, const struct fulcrum_field *field);

/*
 * Adds every given field of the kind to `object`, nested as their paths say.
 *   base     fields that have the same value there are left out; NULL: none
 */
void fulcrum_preset_write_half(const struct fulcrum_design *design,
    const struct fulcrum_design *base, enum fulcrum_preset_kind kind,
    struct json_object *object);

/* The records that files hold lists of, for the JSON Schema. */
extern const struct fulcrum_record fulcrum_parameter_record;
extern const struct fulcrum_record fulcrum_series_record;
extern const struct fulcrum_record fulcrum_quantity_record;
extern const struct fulcrum_record fulcrum_fit_record;
extern const struct fulcrum_record fulcrum_profile_record;

#endif
