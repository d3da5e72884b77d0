/* file_header.c - kind, name and title, which begin every file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/file_header.h"

#include <string.h>

const char *fulcrum_preset_kind_name(enum fulcrum_preset_kind kind)
{
    static const char *const names[] = {
        "machine", "workload", "calibration", "reference", "partition"};
    size_t i = (size_t)kind;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

int fulcrum_file_header_read(const struct fulcrum_node *root,
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
    int good = out->is_kind;
    struct fulcrum_node name = fulcrum_node_member(root, "name");
    if (name.json == NULL) {
        fulcrum_node_fault(&name, FULCRUM_ERR_MISSING, "expected text");
        good = 0;
    } else if (!fulcrum_node_text(&name, out->name, sizeof out->name)) {
        good = 0;
    } else if (out->name[0] == '\0') {
        fulcrum_node_fault(&name, FULCRUM_ERR_RANGE, "expected some text");
        good = 0;
    }
    struct fulcrum_node title = fulcrum_node_member(root, "title");
    if (title.json == NULL) {
        memcpy(out->title, out->name, sizeof out->name);
    } else if (!fulcrum_node_text(&title, out->title, sizeof out->title)) {
        good = 0;
    }
    return good;
}

void fulcrum_file_header_check_schema(
    const struct fulcrum_node *node, const char *name, int version)
{
    static const char *const keys[] = {"name", "version", NULL};
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_node own = fulcrum_node_member(node, "name");
    char text[64];
    if (fulcrum_node_text(&own, text, sizeof text) && strcmp(text, name) != 0) {
        fulcrum_node_fault(&own, FULCRUM_ERR_FORMAT, "expected \"%s\"", name);
    }
    struct fulcrum_node given = fulcrum_node_member(node, "version");
    double number = 0.0;
    if (fulcrum_node_number(&given, &number) && number != (double)version) {
        fulcrum_node_fault(&given, FULCRUM_ERR_FORMAT,
            "expected %d, the version that this program reads", version);
    }
}
