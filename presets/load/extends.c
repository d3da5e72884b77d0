/* extends.c - the fields of a preset with those of every preset that it extends. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/try.h"
#include "presets/io/document.h"
#include "presets/load/fields_io.h"
#include "presets/load/preset_file.h"
#include "presets/load/preset_folders.h"

enum { MAX_LINKS = 16 };

/* A file, and what it extends after it. */
struct chain {
    struct {
        char path[FULCRUM_PRESET_PATH_SIZE];
        struct json_object *document;
    } links[MAX_LINKS];
    size_t count;
};

/* The same file by whatever path it is reached. */
static bool is_in_chain(const struct chain *chain, const char *path)
{
    struct stat wanted;
    if (stat(path, &wanted) != 0) {
        return 0;
    }
    for (size_t i = 0; i < chain->count; i++) {
        struct stat there;
        if (stat(chain->links[i].path, &there) == 0 && there.st_dev == wanted.st_dev &&
            there.st_ino == wanted.st_ino) {
            return 1;
        }
    }
    return 0;
}

/* A new last link, which the chain owns from here on. */
static enum fulcrum_status chain_read(
    struct chain *chain, const char *path, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    TRY(fulcrum_document_read(path, &document, err));
    memcpy(chain->links[chain->count].path, path, strlen(path) + 1);
    chain->links[chain->count].document = document;
    chain->count++;
    return FULCRUM_OK;
}

/* Reads what the last link extends; returns 1 if there is a new last link. */
static int chain_extend(
    struct chain *chain, struct fulcrum_reader *reader, enum fulcrum_preset_kind kind)
{
    reader->file = chain->links[chain->count - 1].path;
    struct fulcrum_node root =
        fulcrum_node_root(reader, chain->links[chain->count - 1].document);
    struct fulcrum_node node = fulcrum_node_member(&root, "extends");
    char name[FULCRUM_PRESET_PATH_SIZE];
    if (node.json == NULL || !fulcrum_node_text(&node, name, sizeof name)) {
        return 0;
    }
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (fulcrum_preset_find(kind, name, reader->file, path, &failure) != FULCRUM_OK) {
        fulcrum_node_fault(&node, failure.status, "%s", failure.detail);
        return 0;
    }
    if (is_in_chain(chain, path) || chain->count == MAX_LINKS) {
        fulcrum_node_fault(&node, FULCRUM_ERR_FORMAT,
            "expected a chain of at most %d presets without a circle", MAX_LINKS);
        return 0;
    }
    if (chain_read(chain, path, &failure) != FULCRUM_OK) {
        fulcrum_node_fault(&node, failure.status, "%s", failure.detail);
        return 0;
    }
    return 1;
}

/* From the last link to the first, each over what those before it gave. */
static void apply_chain(const struct chain *chain, struct fulcrum_reader *reader,
    struct fulcrum_fields_io *io, struct fulcrum_file_header *head)
{
    for (size_t i = chain->count; i > 0; i--) {
        reader->file = chain->links[i - 1].path;
        struct fulcrum_node root =
            fulcrum_node_root(reader, chain->links[i - 1].document);
        (void)fulcrum_file_header_read(&root, io->kind, head);
        if (head->is_kind) {
            fulcrum_fields_io_apply(io, &root, head->name);
        }
    }
}

enum fulcrum_status fulcrum_fields_io_load(struct fulcrum_fields_io *io,
    struct fulcrum_file_header *head, const char *name, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    TRY(fulcrum_preset_find(io->kind, name, NULL, path, err));
    struct chain *chain = calloc(1, sizeof *chain);
    TRY_MEMORY(chain, err, "%s", path);
    enum fulcrum_status status = chain_read(chain, path, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
        while (chain_extend(chain, &reader, io->kind)) {
        }
        apply_chain(chain, &reader, io, head);
        status = fulcrum_reader_finish(&reader, err);
    }
    for (size_t i = 0; i < chain->count; i++) {
        fulcrum_document_free(chain->links[i].document);
    }
    chain->count = 0;
    free(chain);
    return status;
}
