/* partition_file.h - how a GPU can be cut into instances, from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_PARTITION_FILE_H
#define FULCRUM_PRESETS_LOAD_PARTITION_FILE_H

#include "model/predict/partition.h"
#include "model/status.h"

enum { FULCRUM_PARTITION_SOURCES_MOST = 8 };

/* Where one part was read: "profiles", "sm_count"... */
struct fulcrum_partition_source {
    char part[32];
    char text[400];
};

/* A file of kind partition. Plain values: nothing to free but itself. */
struct fulcrum_partition {
    struct fulcrum_mig mig;
    size_t source_count;
    struct fulcrum_partition_source sources[FULCRUM_PARTITION_SOURCES_MOST];
};

/*
 *   name     a preset's name ("a100-40gb") or the path of a JSON file
 *   out      the caller frees it with free()
 *   fails    as fulcrum_machine_load, fulcrum_mig_check; a file without the source of
 *            its profiles is FULCRUM_ERR_FORMAT
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_partition_load(
    const char *name, struct fulcrum_partition **out, struct fulcrum_error *err);

/*
 * The preset for a model of GPU, by its name in machine files.
 *   out      the caller frees it with free()
 *   fails    FULCRUM_ERR_UNSUPPORTED (no preset is for that GPU; the detail lists those
 *            there are)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_partition_of_gpu(
    const char *gpu, struct fulcrum_partition **out, struct fulcrum_error *err);

#endif
