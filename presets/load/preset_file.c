/* preset_file.c - what all files have: kind, name, title, and parts by a table. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/preset_file.h"

#include <assert.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/json.h"

const char *fulcrum_preset_kind_name(int kind)
{
    static const char *const names[] = {
        "machine", "workload", "calibration", "reference", "partition"};
    return FULCRUM_NAMED(names, kind);
}

bool fulcrum_file_header_read(const struct fulcrum_node *root,
    enum fulcrum_preset_kind kind, struct fulcrum_file_header *out)
{
    const char *expected = fulcrum_preset_kind_name(kind);
    struct fulcrum_node node = fulcrum_node_member(root, "kind");
    char text[32] = "";
    memset(out, 0, sizeof *out);
    if (node.json == NULL) {
        fulcrum_node_fault(&node, FULCRUM_ERR_MISSING, "expected \"%s\"", expected);
    } else if (fulcrum_node_text(&node, text, sizeof text)) {
        out->is_kind = strcmp(text, expected) == 0;
        if (!out->is_kind) {
            fulcrum_node_fault(&node, FULCRUM_ERR_FORMAT, "expected \"%s\"", expected);
        }
    }
    bool good = out->is_kind;
    struct fulcrum_node name = fulcrum_node_member(root, "name");
    if (name.json == NULL) {
        fulcrum_node_fault(&name, FULCRUM_ERR_MISSING, "expected text");
        good = false;
    } else if (!fulcrum_node_words(&name, out->name, sizeof out->name)) {
        good = false;
    }
    struct fulcrum_node title = fulcrum_node_member(root, "title");
    if (title.json == NULL) {
        memcpy(out->title, out->name, sizeof out->name);
        return good;
    }
    return fulcrum_node_text(&title, out->title, sizeof out->title) && good;
}

void fulcrum_file_header_write(struct json_object *root, enum fulcrum_preset_kind kind,
    const char *name, const char *title)
{
    char schema_name[32];
    const char *kind_name = fulcrum_preset_kind_name(kind);
    struct json_object *schema = fulcrum_json_add_object(root, "schema");
    (void)snprintf(schema_name, sizeof schema_name, "fulcrum-%s", kind_name);
    fulcrum_json_add_text(schema, "name", schema_name);
    fulcrum_json_add_number(schema, "version", FULCRUM_FILE_VERSION);
    fulcrum_json_add_text(root, "kind", kind_name);
    fulcrum_json_add_text(root, "name", name);
    fulcrum_json_add_text(root, "title", title);
}

/* A file of a later version may mean something else by the same key. */
static void check_schema(const struct fulcrum_node *root, enum fulcrum_preset_kind kind)
{
    static const char *const keys[] = {"name", "version", NULL};
    char expected[32];
    char text[64];
    double version = 0.0;
    struct fulcrum_node node = fulcrum_node_member(root, "schema");
    if (!fulcrum_node_is_object(&node)) {
        return;
    }
    fulcrum_node_check_keys(&node, keys);
    struct fulcrum_node name = fulcrum_node_member(&node, "name");
    (void)snprintf(
        expected, sizeof expected, "fulcrum-%s", fulcrum_preset_kind_name(kind));
    if (fulcrum_node_text(&name, text, sizeof text) && strcmp(text, expected) != 0) {
        fulcrum_node_fault(&name, FULCRUM_ERR_FORMAT, "expected \"%s\"", expected);
    }
    struct fulcrum_node given = fulcrum_node_member(&node, "version");
    if (fulcrum_node_number(&given, &version) && version != FULCRUM_FILE_VERSION) {
        fulcrum_node_fault(&given, FULCRUM_ERR_FORMAT,
            "expected %d, the version that this program reads", FULCRUM_FILE_VERSION);
    }
}

/* What is absent stays as it is; null counts as absent. */
static void read_part(
    const struct fulcrum_node *root, const struct fulcrum_file_part *part, void *loaded)
{
    size_t count = 0;
    struct fulcrum_node node = fulcrum_node_member(root, part->row.key);
    if (part->read == NULL) {
        fulcrum_record_read_row(root, &part->row, loaded);
    } else if (node.json == NULL && part->row.is_optional) {
        return;
    } else if (!part->is_list) {
        part->read(&node, loaded);
    } else if (fulcrum_node_is_array(&node, &count)) {
        for (size_t i = 0; i < count; i++) {
            struct fulcrum_node element = fulcrum_node_element(&node, i);
            if (fulcrum_node_is_object(&element)) {
                part->read(&element, loaded);
            }
        }
    }
}

enum fulcrum_status fulcrum_file_load(const struct fulcrum_file_form *form,
    const char *path, void *loaded, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
    struct fulcrum_file_header head;
    TRY(fulcrum_document_read(path, &document, err));
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    (void)fulcrum_file_header_read(&root, form->kind, &head);
    if (head.is_kind) {
        char *names = loaded;
        memcpy(names, head.name, sizeof head.name);
        memcpy(names + sizeof head.name, head.title, sizeof head.title);
        const char *keys[FULCRUM_FILE_PARTS_MOST + 5] = {
            "kind", "name", "title", "schema"};
        size_t count = 4;
        check_schema(&root, form->kind);
        for (const struct fulcrum_file_part *part = form->parts; part->row.key != NULL;
             part++) {
            assert(count < FULCRUM_FILE_PARTS_MOST + 4);
            keys[count++] = part->row.key;
            read_part(&root, part, loaded);
        }
        fulcrum_node_check_keys(&root, keys);
        if (form->check != NULL) {
            form->check(&root, loaded);
        }
    }
    json_object_put(document);
    return fulcrum_reader_finish(&reader, err);
}
