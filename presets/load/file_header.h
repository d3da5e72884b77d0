/* file_header.h - kind, name and title, which begin every file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_FILE_HEADER_H
#define FULCRUM_PRESETS_LOAD_FILE_HEADER_H

#include <stdbool.h>

#include "presets/io/reader.h"
#include "presets/load/preset_kind.h"

#define FULCRUM_CALIBRATION_SCHEMA "fulcrum-calibration"
/* Raised when a file of the old form would be misread. */
#define FULCRUM_CALIBRATION_VERSION 1

struct fulcrum_file_header {
    bool is_kind; /* 1: the file is of the kind asked for */
    char name[64];
    char title[160]; /* the name where none is given */
};

/* Returns 1, or adds faults and returns 0. */
int fulcrum_file_header_read(const struct fulcrum_node *root,
    enum fulcrum_preset_kind kind, struct fulcrum_file_header *out);

/*
 * Adds faults where the member "schema" is not of that name and version: a file of a
 * later version may mean something else by the same key.
 */
void fulcrum_file_header_check_schema(
    const struct fulcrum_node *node, const char *name, int version);

#endif
