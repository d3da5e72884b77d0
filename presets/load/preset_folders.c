/* preset_folders.c - the folders that hold presets, and files in them by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders are searched in order and the first file of a name counts, so that users can
 * put their own preset before a shipped one. Names are file names without the ending:
 * nothing has to be registered, and no file need be read to find one.
 */
#define _GNU_SOURCE /* realpath */

#include "presets/load/preset_folders.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/load/preset_file.h"

enum { MAX_FOLDERS = 3 };

/* The first that has a name wins. */
struct folders {
    const char *path[MAX_FOLDERS];
    size_t count;
    char beside_program[PATH_MAX];
};

struct entries {
    struct fulcrum_preset_entry *items;
    size_t count;
};

/*
 * ../share/fulcrum/presets, seen from the folder of the running program: an installed
 * tree may be moved, and a build tree has a link there. Returns 0 where there is none.
 */
static int find_beside_program(char out[PATH_MAX])
{
    static const char data[] = "/../share/fulcrum/presets";
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    while (length > 0 && program[length - 1] != '/') {
        length--;
    }
    if (length <= 0 || (size_t)length + sizeof data > sizeof program) {
        return 0;
    }
    memcpy(program + length, data, sizeof data);
    return realpath(program, out) != NULL;
}

/*
 * A wrong $FULCRUM_PRESETS is a fault rather than an empty folder: presets of the same
 * name from elsewhere would be used without a word.
 */
static enum fulcrum_status find_folders(struct folders *out, struct fulcrum_error *err)
{
    out->count = 0;
    const char *own = getenv("FULCRUM_PRESETS");
    if (own != NULL && own[0] != '\0') {
        struct stat there;
        FAIL_IF(stat(own, &there) != 0 || !S_ISDIR(there.st_mode), err,
            FULCRUM_ERR_FILE, "FULCRUM_PRESETS = %s: expected a folder", own);
        out->path[out->count++] = own;
    }
    if (find_beside_program(out->beside_program)) {
        out->path[out->count++] = out->beside_program;
    }
    out->path[out->count++] = FULCRUM_DATA_DIR;
    return FULCRUM_OK;
}

/* "FOLDER/machines/NAME.json"; returns 0 where it does not fit. */
static int join(char out[FULCRUM_PRESET_PATH_SIZE], const char *folder,
    enum fulcrum_preset_kind kind, const char *file)
{
    int length = snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%s/%ss/%s", folder,
        fulcrum_preset_kind_name(kind), file);
    return length > 0 && length < FULCRUM_PRESET_PATH_SIZE;
}

/* The first file of that name below the folders. */
static bool is_in_folders(
    const struct folders *folders, const char *file, char out[FULCRUM_PRESET_PATH_SIZE])
{
    struct stat there;
    for (size_t i = 0; i < folders->count; i++) {
        int length =
            snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%s/%s", folders->path[i], file);
        if (length > 0 && length < FULCRUM_PRESET_PATH_SIZE && stat(out, &there) == 0) {
            return true;
        }
    }
    return false;
}

static enum fulcrum_status add_entry(struct entries *entries, const char *prefix,
    size_t length, const char *path, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry entry = {"", "", ""};
    FAIL_IF(length >= sizeof entry.name, err, FULCRUM_ERR_FILE,
        "%s: expected a name of at most %zu bytes", path, sizeof entry.name - 1);
    memcpy(entry.name, prefix, length);
    memcpy(entry.file, path, strlen(path) + 1);
    for (size_t i = 0; i < entries->count; i++) {
        if (strcmp(entries->items[i].name, entry.name) == 0) {
            return FULCRUM_OK;
        }
    }
    struct fulcrum_preset_entry *grown =
        realloc(entries->items, (entries->count + 1) * sizeof *grown);
    TRY_MEMORY(grown, err, "a list of presets");
    entries->items = grown;
    entries->items[entries->count++] = entry;
    return FULCRUM_OK;
}

/* Length of a file's name without ".json"; 0 where it is no preset. */
static size_t prefix_length(const char *file)
{
    size_t length = strlen(file);
    if (file[0] == '.' || length <= 5 || strcmp(file + length - 5, ".json") != 0) {
        return 0;
    }
    return length - 5;
}

static int compare_names(const void *a, const void *b)
{
    const struct fulcrum_preset_entry *left = a;
    const struct fulcrum_preset_entry *right = b;
    return strcmp(left->name, right->name);
}

/* Names and files, sorted; titles are still empty. */
static enum fulcrum_status list_names(
    enum fulcrum_preset_kind kind, struct entries *out, struct fulcrum_error *err)
{
    struct folders folders;
    TRY(find_folders(&folders, err));
    for (size_t i = 0; i < folders.count; i++) {
        /* A folder that is absent holds nothing: not every one is installed. */
        const char *folder = folders.path[i];
        char path[FULCRUM_PRESET_PATH_SIZE];
        DIR *listing = join(path, folder, kind, "") ? opendir(path) : NULL;
        enum fulcrum_status status = FULCRUM_OK;
        struct dirent *file = listing != NULL ? readdir(listing) : NULL;
        while (file != NULL && status == FULCRUM_OK) {
            size_t length = prefix_length(file->d_name);
            if (length > 0 && join(path, folder, kind, file->d_name)) {
                status = add_entry(out, file->d_name, length, path, err);
            }
            file = readdir(listing);
        }
        if (listing != NULL) {
            (void)closedir(listing);
        }
        TRY(status);
    }
    if (out->count > 0) {
        qsort(out->items, out->count, sizeof *out->items, compare_names);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_preset_list(enum fulcrum_preset_kind kind,
    struct fulcrum_preset_entry **out, size_t *count, struct fulcrum_error *err)
{
    struct entries entries = {NULL, 0};
    struct fulcrum_reader reader = {"", {FULCRUM_OK, ""}};
    enum fulcrum_status status;
    TRY_OR_END(list_names(kind, &entries, err));
    for (size_t i = 0; i < entries.count; i++) {
        /* A name other than the file's would be listed, and then not be found. */
        struct fulcrum_preset_entry *entry = &entries.items[i];
        struct json_object *document = NULL;
        struct fulcrum_error failure = {FULCRUM_OK, ""};
        if (fulcrum_document_read(entry->file, &document, &failure) != FULCRUM_OK) {
            (void)fulcrum_fail_more(
                &reader.faults, failure.status, "%s", failure.detail);
            continue;
        }
        reader.file = entry->file;
        struct fulcrum_node root = fulcrum_node_root(&reader, document);
        struct fulcrum_file_header head;
        if (fulcrum_file_header_read(&root, kind, &head)) {
            memcpy(entry->title, head.title, sizeof head.title);
            if (strcmp(head.name, entry->name) != 0) {
                struct fulcrum_node name = fulcrum_node_member(&root, "name");
                fulcrum_node_fault(&name, FULCRUM_ERR_FORMAT,
                    "expected \"%s\", as the file is called", entry->name);
            }
        }
        /* References are read for what they predict elsewhere; here what all files
         * have. */
        struct fulcrum_node source = fulcrum_node_member(&root, "source");
        if (kind == FULCRUM_PRESET_REFERENCE) {
            (void)fulcrum_node_is_object(&source);
        }
        fulcrum_document_free(document);
    }
    TRY_OR_END(fulcrum_reader_finish(&reader, err));
    *out = entries.items;
    *count = entries.count;
    return FULCRUM_OK;
end:
    free(entries.items);
    return status;
}

/* Suggests by file names alone, so that a broken neighbour does not get in the way. */
static enum fulcrum_status fail_unknown(
    enum fulcrum_preset_kind kind, const char *name, struct fulcrum_error *err)
{
    struct entries entries = {NULL, 0};
    const char *noun = fulcrum_preset_kind_name(kind);
    enum fulcrum_status status = list_names(kind, &entries, err);
    if (status == FULCRUM_OK && entries.count == 0) {
        /* Without the name: the user may not have given it, as the machine at hand
         * needs one. */
        struct folders folders;
        char searched[1000] = "";
        TRY(find_folders(&folders, err));
        const struct fulcrum_names all = {folders.path, folders.count, sizeof(char *)};
        (void)fulcrum_names_join(&all, searched, sizeof searched);
        return fulcrum_fail(err, FULCRUM_ERR_FILE,
            "there is no %s preset in %s: FULCRUM_PRESETS names the folder 'presets' "
            "that came with the program",
            noun, searched);
    }
    if (status == FULCRUM_OK) {
        const char **names = calloc(entries.count + 1, sizeof *names);
        size_t known = names != NULL ? entries.count : 0;
        for (size_t i = 0; i < known; i++) {
            names[i] = entries.items[i].name;
        }
        size_t nearest = fulcrum_nearest(name, names, known, sizeof *names);
        if (nearest < known) {
            status = fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
                "\"%.80s\" is no %s preset; did you mean %s?", name, noun,
                names[nearest]);
        } else {
            const struct fulcrum_names all = {names, known, sizeof *names};
            /* Nothing is near: all there are, or where to see them. */
            char expected[400];
            if (!fulcrum_names_join(&all, expected, sizeof expected)) {
                (void)snprintf(
                    expected, sizeof expected, "one of 'fulcrum list %ss'", noun);
            }
            status = fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
                "\"%.80s\" is no %s preset: expected %s, or a JSON file", name, noun,
                expected);
        }
        free(names);
    }
    free(entries.items);
    return status;
}

enum fulcrum_status fulcrum_preset_find(enum fulcrum_preset_kind kind, const char *name,
    const char *from, char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err)
{
    if (strchr(name, '/') != NULL || prefix_length(name) > 0) {
        const char *slash = from != NULL && name[0] != '/' ? strrchr(from, '/') : NULL;
        int folder = slash != NULL ? (int)(slash - from) + 1 : 0;
        int length = snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%.*s%s", folder,
            slash != NULL ? from : "", name);
        FAIL_IF(length < 0 || length >= FULCRUM_PRESET_PATH_SIZE, err, FULCRUM_ERR_FILE,
            "%.80s...: expected a path of at most %d bytes", name,
            FULCRUM_PRESET_PATH_SIZE - 1);
        return FULCRUM_OK;
    }
    struct folders folders;
    TRY(find_folders(&folders, err));
    char file[100];
    int length = snprintf(
        file, sizeof file, "%ss/%s.json", fulcrum_preset_kind_name(kind), name);
    bool is_name = name[0] != '\0' && length > 0 && (size_t)length < sizeof file;
    return is_name && is_in_folders(&folders, file, out)
               ? FULCRUM_OK
               : fail_unknown(kind, name, err);
}

enum fulcrum_status fulcrum_preset_find_file(
    const char *file, char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err)
{
    struct folders folders;
    TRY(find_folders(&folders, err));
    assert(folders.count > 0);
    FAIL_IF(!is_in_folders(&folders, file, out), err, FULCRUM_ERR_FILE,
        "%s: not in the presets' folder %s", file, folders.path[0]);
    return FULCRUM_OK;
}
