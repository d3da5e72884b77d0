/* shared_library.h - libraries of others, opened at run time where they are there. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_SHARED_LIBRARY_H
#define FULCRUM_CALIBRATE_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

/* A function of the library and its place in a table of function pointers. */
struct fulcrum_symbol {
    const char *name;
    size_t offset;    /* of the pointer in the table, in bytes */
    bool is_optional; /* newer versions only: its pointer is NULL where it is not there
                       */
};

/*
 * Opens the library whose path is in the environment variable `variable`, or, where
 * that is not set or empty, the first of `names` that the system's loader finds.
 *   names    NULL-terminated, the preferred one first
 *   out      set on success only; given back with fulcrum_shared_library_close
 *   fails    FULCRUM_ERR_UNSUPPORTED: one line says what was looked for, and why a
 *            library that was there could not be loaded
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_shared_library_open(void **out,
    const char *variable, const char *const *names, struct fulcrum_error *err);

/*
 * The library stays mapped: drivers keep threads and handlers that outlive their use.
 * Accepts NULL.
 */
void fulcrum_shared_library_close(void *library);

/*
 * Fills `table` with the addresses of `count` symbols.
 *   fails    FULCRUM_ERR_UNSUPPORTED: the first that is missing and not optional
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_shared_library_bind(void *library,
    void *table, const struct fulcrum_symbol *symbols, size_t count,
    struct fulcrum_error *err);

#endif
