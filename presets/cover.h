/* cover.h - which entry of a file's "source" or "prior" stands behind a field. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_COVER_H
#define FULCRUM_PRESETS_COVER_H

#include "presets/preset_kind.h"
#include "presets/reader.h"

/* Adds a fault for each entry of "source" and "prior" that is malformed or covers no
 * field. */
void fulcrum_cover_check(
    const struct fulcrum_node *root, enum fulcrum_preset_kind kind);

/*
 * The entry with the longest key that covers `path` ("gpu.idle_w"): that field itself
 * or a group around it; a prior beats a source with the same key. Returns 0 if none.
 *   out      text, is_prior and spread_factor are set
 */
int fulcrum_cover_find(
    const struct fulcrum_node *root, const char *path, struct fulcrum_source *out);

#endif
