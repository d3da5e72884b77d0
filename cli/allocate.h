/* allocate.h - memory of the front end: where it runs out, the program ends. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ALLOCATE_H
#define FULCRUM_CLI_ALLOCATE_H

#include <stddef.h>

#include "model/status.h"

/*
 * Zeroed memory for small objects, never NULL: without memory the program says so and
 * exits with code 1. Sizes that users choose are asked of calloc, and refused.
 */
void *fulcrum_allocate(size_t count, size_t size_byte);

/* The formatted text in memory of its own, which the caller frees; never NULL. */
char *fulcrum_format(const char *format, ...) FULCRUM_PRINTF(1, 2);

#endif
