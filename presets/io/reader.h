/* reader.h - text files, and values of a JSON document by path with their faults. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_READER_H
#define FULCRUM_PRESETS_IO_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

struct json_object; /* json-c's */

/* Collects the faults of one file, so that all are reported in one go. */
struct fulcrum_reader {
    const char *file; /* borrowed; comes first in each line */
    struct fulcrum_error faults;
};

/* A value and the path that leads to it: "gpu.sm_count", "parameters[2].value". */
struct fulcrum_node {
    struct fulcrum_reader *reader;
    struct json_object *json; /* borrowed; NULL: absent or null */
    char path[160];
};

/* Adds "FILE: text". */
void fulcrum_reader_fault(struct fulcrum_reader *reader, enum fulcrum_status status,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/* Adds "FILE: " and each line of a failure that happened elsewhere. */
void fulcrum_reader_adopt(
    struct fulcrum_reader *reader, const struct fulcrum_error *failure);

/* The first fault's status, with every line in `err`; FULCRUM_OK if there is none. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reader_finish(
    const struct fulcrum_reader *reader, struct fulcrum_error *err);

/* Adds "FILE: PATH = VALUE: text"; "FILE: PATH is not given: text" for no value. */
void fulcrum_node_fault(const struct fulcrum_node *node, enum fulcrum_status status,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/* The outermost value; both arguments must outlive every node below it. */
struct fulcrum_node fulcrum_node_root(
    struct fulcrum_reader *reader, struct json_object *document);
/* No value where `object` has no such member or is no object. */
struct fulcrum_node fulcrum_node_member(
    const struct fulcrum_node *object, const char *key);
/* No value beyond the end of `array`. */
struct fulcrum_node fulcrum_node_element(
    const struct fulcrum_node *array, size_t index);

/*
 * Each returns 1 and sets `out`, or adds a fault and returns 0; no value is a fault.
 * Text must be shorter than `size` bytes.
 */
int fulcrum_node_number(const struct fulcrum_node *node, double *out);
/* A copy of a string. */
int fulcrum_node_text(const struct fulcrum_node *node, char *out, size_t size);
/* The same of a text that is not empty. */
int fulcrum_node_words(const struct fulcrum_node *node, char *out, size_t size);
/* 1 for true, 0 for false. */
int fulcrum_node_flag(const struct fulcrum_node *node, bool *out);
/* 1, or a fault and 0. */
bool fulcrum_node_is_object(const struct fulcrum_node *node);
/* 1 and the number of elements, or a fault and 0. */
bool fulcrum_node_is_array(const struct fulcrum_node *node, size_t *count);

/* The number, or NAN where there is no finite one; adds no fault. */
double fulcrum_node_value(const struct fulcrum_node *node);

/* As fulcrum_node_number, but no value is NAN: "not measured". */
int fulcrum_node_measured(const struct fulcrum_node *node, double *out);

/*
 * An array of numbers.
 *   neutral  what becomes of elements that are no number, each a fault, and there must
 *            be one element or more; NULL: null is NAN, and at a fault nothing is read
 *   out      the caller frees it with free()
 */
bool fulcrum_node_numbers(const struct fulcrum_node *node, const double *neutral,
    double **out, size_t *count);

/*
 * An array of exactly `count` numbers; NULL after a fault. The caller frees it with
 * free().
 */
double *fulcrum_node_row(const struct fulcrum_node *node, size_t count);

/* Adds a fault for each member whose key is none of the NULL-terminated `known`. */
void fulcrum_node_check_keys(
    const struct fulcrum_node *object, const char *const *known);

/*
 * Reads a file of at most 64 MiB; "-" is standard input. A byte-order mark is taken
 * off; a zero byte follows the text.
 *   out      the caller frees it with free()
 *   fails    FULCRUM_ERR_FILE (absent, unreadable, a directory, too large),
 *            FULCRUM_ERR_FORMAT (empty, zero bytes inside), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_text_file_read(
    const char *path, char **out, struct fulcrum_error *err);

#endif
