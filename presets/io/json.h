/* json.h - building and writing JSON documents, the same bytes for the same content. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_JSON_H
#define FULCRUM_PRESETS_IO_JSON_H

#include <stddef.h>

#include "model/status.h"

/*
 * One JSON value being built. Members come out in the order they were added; numbers
 * with 17 significant digits at most (the shortest that reads back the same), whole
 * numbers without a fraction, NAN and infinities as null. A call that runs out of
 * memory marks the document, and fulcrum_json_text reports it, so that builders need no
 * check after each member. Text that is no UTF-8 is mended with U+FFFD.
 */
struct fulcrum_json;

/* NULL where memory ran out; every call below accepts NULL. */
struct fulcrum_json *fulcrum_json_new_object(void);

/* Frees the document with everything below it; only for the outermost value. */
void fulcrum_json_free(struct fulcrum_json *json);

/* A number; null where it is not finite. */
void fulcrum_json_add_number(
    struct fulcrum_json *object, const char *key, double value);
/* A copy of `value`. */
void fulcrum_json_add_text(
    struct fulcrum_json *object, const char *key, const char *value);
/* true or false. */
void fulcrum_json_add_flag(struct fulcrum_json *object, const char *key, int value);
/* null: asked for, but not known. */
void fulcrum_json_add_null(struct fulcrum_json *object, const char *key);
/* An array of `count` numbers. */
void fulcrum_json_add_numbers(
    struct fulcrum_json *object, const char *key, const double *values, size_t count);
/* An empty object or array as a member; borrowed, lives as long as the document. */
struct fulcrum_json *fulcrum_json_add_object(
    struct fulcrum_json *object, const char *key);
/* An empty array as a member; borrowed in the same way. */
struct fulcrum_json *fulcrum_json_add_array(
    struct fulcrum_json *object, const char *key);
/* The same as the next element of an array. */
struct fulcrum_json *fulcrum_json_append_object(struct fulcrum_json *array);
/* An empty array as the next element; borrowed in the same way. */
struct fulcrum_json *fulcrum_json_append_array(struct fulcrum_json *array);
/* A number as the next element; null where it is not finite. */
void fulcrum_json_append_number(struct fulcrum_json *array, double value);
/* A copy of `value` as the next element. */
void fulcrum_json_append_text(struct fulcrum_json *array, const char *value);

enum fulcrum_json_layout { FULCRUM_JSON_PRETTY, FULCRUM_JSON_LINE };

/*
 * The document as text, ending in a newline.
 *   out      the caller frees it with free()
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_json_text(
    const struct fulcrum_json *json, enum fulcrum_json_layout layout, char **out,
    struct fulcrum_error *err);

/*
 * Writes a document as a file of its own, pretty, and frees it either way.
 *   path     "-" or NULL: standard output
 *   fails    FULCRUM_ERR_NO_MEMORY, or as fulcrum_output_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_json_save(
    struct fulcrum_json *json, const char *path, struct fulcrum_error *err);

#endif
