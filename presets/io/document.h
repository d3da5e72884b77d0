/* document.h - strict reading of one JSON object from a file or from text. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_DOCUMENT_H
#define FULCRUM_PRESETS_IO_DOCUMENT_H

#include <stddef.h>

#include "model/status.h"

struct json_object; /* json-c's */

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
 *   label    names the text in messages
 *   text     a zero byte stands at text[length] and nowhere before
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_document_parse(const char *label,
    const char *text, size_t length, struct json_object **out,
    struct fulcrum_error *err);

/*
 * The same for one line of a stream, which `label` names ("line 3"): messages give the
 * column alone.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_document_parse_line(const char *label,
    const char *text, size_t length, struct json_object **out,
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
