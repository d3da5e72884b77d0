/* preset_kind.h - the kinds of files, and where a value in one was read. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_PRESET_KIND_H
#define FULCRUM_PRESETS_LOAD_PRESET_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum fulcrum_preset_kind {
    FULCRUM_PRESET_MACHINE,
    FULCRUM_PRESET_WORKLOAD,
    FULCRUM_PRESET_CALIBRATION,
    FULCRUM_PRESET_REFERENCE,
    FULCRUM_PRESET_PARTITION
};

/* Where the value of one field was read, or that it is a prior. */
struct fulcrum_source {
    char path[64];  /* "machine.gpu.idle_w" */
    char text[240]; /* source, or the reason of a prior */
    bool is_prior;
    double spread_factor; /* priors: one standard deviation is x or / this; 1: none */
    char file[128];       /* name of the preset that gave it ("dgx-1") */
};

struct fulcrum_sources {
    size_t count;
    struct fulcrum_source *items; /* in the order of fulcrum_fields */
};

/* "machine", "workload", ...; NULL beyond the last one. */
const char *fulcrum_preset_kind_name(int kind);

#endif
