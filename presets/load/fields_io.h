/* fields_io.h - the fields of a machine or workload, from JSON and to JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_FIELDS_IO_H
#define FULCRUM_PRESETS_LOAD_FIELDS_IO_H

#include "model/design/design.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/load/preset_kind.h"

/* One machine or workload being put together from a file and those it extends. */
struct fulcrum_fields_io {
    enum fulcrum_preset_kind kind;
    struct fulcrum_design design;
    struct fulcrum_design blank;    /* every field at its fallback */
    struct fulcrum_source *sources; /* one per row of fulcrum_fields; path "": none */
};

/* fails  FULCRUM_ERR_NO_MEMORY */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fields_io_init(
    struct fulcrum_fields_io *out, enum fulcrum_preset_kind kind,
    struct fulcrum_error *err);

struct fulcrum_file_header;

/*
 * The io of a preset with everything it extends; `head` is that of the first file.
 *   fails    as fulcrum_machine_load (presets/load/preset.h)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fields_io_load(
    struct fulcrum_fields_io *io, struct fulcrum_file_header *head, const char *name,
    struct fulcrum_error *err);

/* Frees what it holds. */
void fulcrum_fields_io_clear(struct fulcrum_fields_io *io);

/*
 * Sets every field that a file gives, with its source; null takes a field back. Adds a
 * fault for each unknown key, wrong value, and number or choice without source.
 *   name     of the preset that gives them
 */
void fulcrum_fields_io_apply(
    struct fulcrum_fields_io *io, const struct fulcrum_node *root, const char *name);

/* The same for an object without sources, as a calibration holds one. */
void fulcrum_fields_io_apply_bare(
    struct fulcrum_fields_io *io, const struct fulcrum_node *object);

/* Adds every given field of the kind to `object`, nested as their paths say. */
void fulcrum_fields_io_write(const struct fulcrum_design *design,
    enum fulcrum_preset_kind kind, struct json_object *object);

/* 1 if the field belongs to machine or workload files. */
int fulcrum_fields_io_has(
    enum fulcrum_preset_kind kind, const struct fulcrum_field *field);

#endif
