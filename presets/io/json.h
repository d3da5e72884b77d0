/* json.h - JSON documents: built and written, the same bytes each time, and read. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_JSON_H
#define FULCRUM_PRESETS_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

struct json_object; /* json-c's */
struct fulcrum_string;

/*
 * A value being built. Members come out in the order they were added; numbers with 17
 * significant digits at most (the shortest that reads back the same), whole numbers
 * without a fraction, NAN and infinities as null. A call that runs out of memory marks
 * the document, and fulcrum_json_text reports it, so that builders need no check after
 * each member. Text that is no UTF-8 is mended with U+FFFD.
 *
 * NULL where memory ran out; every call below accepts NULL. json_object_put frees the
 * document with everything below it.
 */
struct json_object *fulcrum_json_new_object(void);

/* The values below become members of an object, or without a key (NULL) the next
 * elements of an array. */

/* A number; null where it is not finite. */
void fulcrum_json_add_number(struct json_object *parent, const char *key, double value);
/* A copy of `value`. */
void fulcrum_json_add_text(
    struct json_object *parent, const char *key, const char *value);
/* true or false. */
void fulcrum_json_add_flag(struct json_object *parent, const char *key, bool value);
/* An array of `count` numbers. */
void fulcrum_json_add_numbers(
    struct json_object *parent, const char *key, const double *values, size_t count);
/* An empty object or array; borrowed, lives as long as the document. */
struct json_object *fulcrum_json_add_object(
    struct json_object *parent, const char *key);
struct json_object *fulcrum_json_add_array(struct json_object *parent, const char *key);

/* A value of json-c's, which is taken over. */
void fulcrum_json_add_value(
    struct json_object *parent, const char *key, struct json_object *value);

/* Adds a text as it stands in JSON, in quotation marks. */
void fulcrum_json_quote(struct fulcrum_string *out, const char *text);
/* The same of a number. */
void fulcrum_json_number(struct fulcrum_string *out, double value);

enum fulcrum_json_layout { FULCRUM_JSON_PRETTY, FULCRUM_JSON_LINE };

/*
 * The document as text, ending in a newline.
 *   out      the caller frees it with free()
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_json_text(struct json_object *json,
    enum fulcrum_json_layout layout, char **out, struct fulcrum_error *err);

/*
 * Writes a document as a file of its own, pretty, and frees it either way.
 *   path     "-" or NULL: standard output
 *   fails    FULCRUM_ERR_NO_MEMORY, or as fulcrum_output_open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_json_save(
    struct json_object *json, const char *path, struct fulcrum_error *err);

/* Documents that are read. */

/*
 * Reads the one object that a file holds. Refused, with line and column: anything but
 * RFC 8259 JSON in UTF-8, text behind the object, a key given twice, values nested
 * more than 32 deep. Numbers that no double holds are left to whoever reads them.
 *   out      the caller gives it back with fulcrum_document_free
 *   fails    as fulcrum_text_file_read, and FULCRUM_ERR_FORMAT
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_document_read(
    const char *path, struct json_object **out, struct fulcrum_error *err);

/*
 * The same from memory.
 *   label    names the text in messages, or its line
 *   is_line  of a stream: messages give the column alone
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_document_parse(const char *label,
    bool is_line, const char *text, struct json_object **out,
    struct fulcrum_error *err);

void fulcrum_document_free(struct json_object *document);

/*
 * Reads a file of lines, each an object: a head, rows, and for a last one with the
 * member "finding" a tail. Makes one object of the members of head and tail, and the
 * rows as an array, "points". Blank lines are left out.
 *   out      the caller gives it back with fulcrum_document_free
 *   fails    as fulcrum_document_read; the detail names file, line and column
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_json_lines_read(
    const char *path, struct json_object **out, struct fulcrum_error *err);

#endif
