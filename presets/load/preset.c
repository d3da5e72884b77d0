/* preset.c - machines and workloads, each from a file or inside another one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/preset.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/reader.h"
#include "presets/load/fields_io.h"
#include "presets/load/preset_file.h"
#include "presets/load/preset_folders.h"

void fulcrum_sources_free(struct fulcrum_sources *sources)
{
    free(sources->items);
    sources->items = NULL;
    sources->count = 0;
}

const struct fulcrum_source *fulcrum_sources_find(
    const struct fulcrum_sources *sources, const char *path)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->items[i].path, path) == 0) {
            return &sources->items[i];
        }
    }
    return NULL;
}

/* The caller's list changes only when everything else has succeeded. */
static enum fulcrum_status append_sources(struct fulcrum_sources *sources,
    const struct fulcrum_fields_io *io, struct fulcrum_error *err)
{
    size_t count = 0;
    (void)fulcrum_fields(&count);
    struct fulcrum_source *items =
        calloc(sources->count + count, sizeof *sources->items);
    TRY_MEMORY(items, err, "the sources of a preset");
    size_t used = sources->count;
    if (used > 0) {
        memcpy(items, sources->items, used * sizeof *items);
    }
    for (size_t i = 0; i < count; i++) {
        if (io->sources[i].path[0] != '\0') {
            items[used++] = io->sources[i];
        }
    }
    free(sources->items);
    sources->items = items;
    sources->count = used;
    return FULCRUM_OK;
}

/* The kind's half of the design, with the name and title of the first file. */
static enum fulcrum_status load(enum fulcrum_preset_kind kind, const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    struct fulcrum_fields_io io;
    struct fulcrum_file_header head;
    enum fulcrum_status status;
    TRY(fulcrum_fields_io_init(&io, kind, err));
    TRY_OR_END(fulcrum_fields_io_load(&io, &head, name, err));
    if (sources != NULL) {
        TRY_OR_END(append_sources(sources, &io, err));
    }
    if (kind == FULCRUM_PRESET_MACHINE) {
        design->machine = io.design.machine;
        memcpy(design->machine.name, head.name, sizeof head.name);
        memcpy(design->machine.title, head.title, sizeof head.title);
    } else {
        design->workload = io.design.workload;
        memcpy(design->workload.name, head.name, sizeof head.name);
        memcpy(design->workload.title, head.title, sizeof head.title);
    }
end:
    fulcrum_fields_io_clear(&io);
    return status;
}

enum fulcrum_status fulcrum_machine_load(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    return load(FULCRUM_PRESET_MACHINE, name, design, sources, err);
}

enum fulcrum_status fulcrum_workload_load(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    return load(FULCRUM_PRESET_WORKLOAD, name, design, sources, err);
}

static void read_named(const struct fulcrum_node *node, enum fulcrum_preset_kind kind,
    struct fulcrum_design *design)
{
    char name[FULCRUM_PRESET_PATH_SIZE];
    char path[FULCRUM_PRESET_PATH_SIZE];
    if (!fulcrum_node_text(node, name, sizeof name)) {
        return;
    }
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (fulcrum_preset_find(kind, name, node->reader->file, path, &failure) !=
            FULCRUM_OK ||
        load(kind, path, design, NULL, &failure) != FULCRUM_OK) {
        fulcrum_node_fault(node, failure.status, "%s", failure.detail);
    }
}

void fulcrum_preset_read_half(const struct fulcrum_node *node,
    enum fulcrum_preset_kind kind, enum fulcrum_preset_kind file,
    struct fulcrum_design *design)
{
    struct fulcrum_fields_io io;
    if (json_object_is_type(node->json, json_type_string)) {
        read_named(node, kind, design);
        return;
    }
    if (!json_object_is_type(node->json, json_type_object)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT,
            "expected the name of a %s preset, or an object",
            fulcrum_preset_kind_name(kind));
        return;
    }
    if (fulcrum_fields_io_init(&io, kind, NULL) != FULCRUM_OK) {
        fulcrum_reader_fault(
            node->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", node->path);
        return;
    }
    fulcrum_fields_io_apply_bare(&io, node);
    bool is_machine = kind == FULCRUM_PRESET_MACHINE;
    if (is_machine) {
        design->machine = io.design.machine;
    } else {
        design->workload = io.design.workload;
    }
    fulcrum_fields_io_clear(&io);
    char *name = is_machine ? design->machine.name : design->workload.name;
    char *title = is_machine ? design->machine.title : design->workload.title;
    struct fulcrum_node name_node = fulcrum_node_member(node, "name");
    bool needs_name = file != FULCRUM_PRESET_CALIBRATION;
    if ((needs_name || name_node.json != NULL) &&
        fulcrum_node_text(&name_node, name, sizeof design->machine.name) &&
        needs_name && name[0] == '\0') {
        fulcrum_node_fault(&name_node, FULCRUM_ERR_RANGE, "expected some text");
    }
    struct fulcrum_node title_node = fulcrum_node_member(node, "title");
    if (title_node.json != NULL) {
        (void)fulcrum_node_text(&title_node, title, sizeof design->machine.title);
    }
}
