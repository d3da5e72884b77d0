/* reference_load.h - published or measured points from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_REFERENCE_LOAD_H
#define FULCRUM_PRESETS_REFERENCE_LOAD_H

#include "model/reference.h"
#include "model/status.h"

/*
 * Reads a reference with its machine and workload; observed "frames_per_s" becomes
 * "steps_per_s".
 *   name     a preset's name or the path of a JSON file
 *   out      set on success only; the caller frees it with fulcrum_reference_free
 *   fails    as fulcrum_machine_load (presets/preset.h)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_load(
    const char *name, struct fulcrum_reference **out, struct fulcrum_error *err);

#endif
