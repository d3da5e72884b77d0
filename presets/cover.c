/* cover.c - which entry of a file's "source" or "prior" stands behind a field. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/cover.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "model/design.h"

/* A spread beyond this says nothing any more. */
#define MAX_SPREAD_FACTOR 1000.0

/* 1 if `key` is a field of the kind or a group of them; paths without the kind. */
static int covers_any(enum fulcrum_preset_kind kind, const char *key)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s.%s", fulcrum_preset_kind_name(kind), key);
    size_t length = strlen(path);
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(fields[i].path, path, length) == 0 &&
            (fields[i].path[length] == '.' || fields[i].path[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

static void check_text(const struct fulcrum_node *node)
{
    char text[sizeof(((struct fulcrum_source *)NULL)->text)];
    if (fulcrum_node_text(node, text, sizeof text) && text[0] == '\0') {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected some text");
    }
}

static void check_prior(const struct fulcrum_node *node)
{
    static const char *const keys[] = {"spread_factor", "reason", NULL};
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_node spread = fulcrum_node_member(node, "spread_factor");
    double factor = fulcrum_node_value(&spread);
    if (!(factor >= 1.0 && factor <= MAX_SPREAD_FACTOR)) {
        fulcrum_node_fault(&spread, FULCRUM_ERR_RANGE, "expected a number from 1 to %g",
            MAX_SPREAD_FACTOR);
    }
    struct fulcrum_node reason = fulcrum_node_member(node, "reason");
    check_text(&reason);
}

/* An entry that covers nothing is most likely a mistyped path: its field has none. */
static void check_entries(const struct fulcrum_node *map, enum fulcrum_preset_kind kind,
    void (*check)(const struct fulcrum_node *entry))
{
    if (map->json == NULL || !fulcrum_node_is_object(map)) {
        return;
    }
    struct json_object_iterator at = json_object_iter_begin(map->json);
    struct json_object_iterator end = json_object_iter_end(map->json);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *key = json_object_iter_peek_name(&at);
        struct fulcrum_node entry = fulcrum_node_member(map, key);
        if (!covers_any(kind, key)) {
            fulcrum_reader_fault(entry.reader, FULCRUM_ERR_FORMAT,
                "%s: unknown key: expected a field or a group of fields", entry.path);
        }
        check(&entry);
    }
}

void fulcrum_cover_check(const struct fulcrum_node *root, enum fulcrum_preset_kind kind)
{
    struct fulcrum_node source = fulcrum_node_member(root, "source");
    struct fulcrum_node prior = fulcrum_node_member(root, "prior");
    check_entries(&source, kind, check_text);
    check_entries(&prior, kind, check_prior);
}

/* Entries that fulcrum_cover_check refused are taken too: one fault each is enough. */
static int find_entry(
    const struct fulcrum_node *root, const char *key, struct fulcrum_source *out)
{
    struct fulcrum_node prior = fulcrum_node_member(root, "prior");
    struct fulcrum_node source = fulcrum_node_member(root, "source");
    struct fulcrum_node entry = fulcrum_node_member(&prior, key);
    out->is_prior = entry.json != NULL;
    out->spread_factor = 1.0;
    struct fulcrum_node text = fulcrum_node_member(&source, key);
    if (out->is_prior) {
        struct fulcrum_node spread = fulcrum_node_member(&entry, "spread_factor");
        out->spread_factor = fulcrum_node_value(&spread);
        text = fulcrum_node_member(&entry, "reason");
    }
    if (json_object_is_type(text.json, json_type_string)) {
        (void)snprintf(
            out->text, sizeof out->text, "%s", json_object_get_string(text.json));
    }
    return out->is_prior || text.json != NULL;
}

int fulcrum_cover_find(
    const struct fulcrum_node *root, const char *path, struct fulcrum_source *out)
{
    char key[sizeof out->path];
    (void)snprintf(key, sizeof key, "%s", path);
    for (;;) {
        if (find_entry(root, key, out)) {
            return 1;
        }
        char *dot = strrchr(key, '.');
        if (dot == NULL) {
            return 0;
        }
        *dot = '\0';
    }
}
