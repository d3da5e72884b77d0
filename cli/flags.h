/* flags.h - what a user must know about a solution, in words. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FLAGS_H
#define FULCRUM_CLI_FLAGS_H

#include <stddef.h>

#include "model/solution.h"
#include "presets/json.h"

/* The texts of all flags that are set, "; " between them, as far as they fit. */
void fulcrum_flags_join(unsigned flags, char *out, size_t size);

/* Adds them as an array of texts under "flags". */
void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object);

#endif
