/* struct_io.h - objects of numbers, read into the members of a struct by rows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_STRUCT_IO_H
#define FULCRUM_PRESETS_IO_STRUCT_IO_H

#include <stddef.h>

#include "presets/io/reader.h"

struct fulcrum_struct_io_row {
    const char *key;
    size_t offset;    /* of the double in the struct that is filled */
    double otherwise; /* where it is left out or null; NAN: it must be given */
    double neutral;   /* after a fault: a value that makes no second one */
};

enum { FULCRUM_SECTION_KEYS_MOST = 16 };

/* An object: its numbers and the keys of what else it may hold. */
struct fulcrum_struct_io {
    const struct fulcrum_struct_io_row *rows;
    size_t count;
    const char *const *others; /* NULL-terminated */
};

/*
 * Fills the member of every row of the struct at `base`, with faults for unknown keys,
 * what is no number and what is missing. Returns 0 where `object` is given and no
 * object; no value is an object without members.
 */
int fulcrum_struct_io_read(const struct fulcrum_node *object,
    const struct fulcrum_struct_io *section, void *base);

/*
 * An array of one number or more. What is no number is a fault and becomes `neutral`.
 * Returns 1, or 0 where nothing was read.
 *   out      the caller frees it with free()
 */
int fulcrum_struct_io_numbers(
    const struct fulcrum_node *node, double neutral, double **out, size_t *count);

/* Names by index; NULL beyond the last one. */
typedef const char *fulcrum_struct_io_choice_name(int index);

/* The index of the name that stands there, or -1 after a fault. */
int fulcrum_struct_io_choice(
    const struct fulcrum_node *node, fulcrum_struct_io_choice_name *name);

#endif
