/* reference_save.h - references into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_REFERENCE_SAVE_H
#define FULCRUM_PRESETS_REFERENCE_SAVE_H

#include "model/reference.h"
#include "model/status.h"

/*
 * Writes what fulcrum_reference_load reads, machine and workload as objects. Rates are
 * in steps; the frame skip is told by the workload.
 *   path     "-" or NULL: standard output
 *   fails    FULCRUM_ERR_MISSING (no name, or no source of the points),
 *            FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_save(
    const struct fulcrum_reference *reference, const char *path,
    struct fulcrum_error *err);

#endif
