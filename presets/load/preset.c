/* preset.c - machines and workloads, each from files or inside another one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which keys there are is asked of the field table (model/design/field.c): a member of
 * an object is a field if its path is one, and a group if fields lie below it. Files
 * are applied one over the other from the farthest ancestor down, and each field keeps
 * the name of the file it came from, beside its source. Numbers without a source are
 * faults, because a preset is only worth as much as its sources.
 */
#include "presets/load/preset.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/load/preset_file.h"

/* One machine or workload being put together from a file and those it extends. */
struct fields_io {
    enum fulcrum_preset_kind kind;
    struct fulcrum_design design;
    /* One per row of fulcrum_fields; path "": none. NULL: not asked for. */
    struct fulcrum_source *sources;
};

/* A spread beyond this says nothing any more. */
#define MAX_SPREAD_FACTOR 1000.0

/* The first field from `i` on that lies below a path, or the count of fields. */
static size_t next_below(const char *path, size_t i)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    size_t length = strlen(path);
    while (i < count && (strncmp(fields[i].path, path, length) != 0 ||
                            fields[i].path[length] != '.')) {
        i++;
    }
    return i;
}

/* "machine.gpu" is a group because fields lie below it; there is no list of groups. */
static bool is_group(const char *path)
{
    size_t count = 0;
    (void)fulcrum_fields(&count);
    return next_below(path, 0) < count;
}

static void check_text(const struct fulcrum_node *node)
{
    char text[sizeof(((struct fulcrum_source *)NULL)->text)];
    (void)fulcrum_node_words(node, text, sizeof text);
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
    struct json_object_iter member;
    json_object_object_foreachC(map->json, member)
    {
        char path[160];
        struct fulcrum_node entry = fulcrum_node_member(map, member.key);
        (void)snprintf(
            path, sizeof path, "%s.%s", fulcrum_preset_kind_name(kind), member.key);
        if (fulcrum_field_find(path) == NULL && !is_group(path)) {
            fulcrum_reader_fault(entry.reader, FULCRUM_ERR_FORMAT,
                "%s: unknown key: expected a field or a group of fields", entry.path);
        }
        check(&entry);
    }
}

static bool is_text(const struct fulcrum_node *node)
{
    return json_object_is_type(node->json, json_type_string);
}

/* Entries that cover_check refused are taken too: one fault each is enough. */
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
    if (is_text(&text)) {
        (void)snprintf(
            out->text, sizeof out->text, "%s", json_object_get_string(text.json));
    }
    return out->is_prior || text.json != NULL;
}

/*
 * The entry with the longest key that covers `path` ("gpu.idle_w"): that field itself
 * or a group around it; a prior beats a source with the same key. A source that is a
 * text covers what has no entry. Returns 0 if none.
 *   out      text, is_prior and spread_factor are set
 */
static int cover_find(
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
            struct fulcrum_node all = fulcrum_node_member(root, "source");
            return is_text(&all) && snprintf(out->text, sizeof out->text, "%s",
                                        json_object_get_string(all.json)) > 0;
        }
        *dot = '\0';
    }
}

enum { MAX_PENDING = 32, PATH_SIZE = 64 };

/* An object whose members are still to be read. */
struct pending {
    struct fulcrum_node node;
    char path[PATH_SIZE]; /* of the group in the field table: "machine.gpu" */
};

struct walk {
    struct fields_io *io;
    const struct fulcrum_node *root; /* where sources stand; NULL: not asked for */
    const char *name;                /* of the preset */
    struct pending pending[MAX_PENDING];
    size_t count;
};

bool fulcrum_preset_has_field(
    enum fulcrum_preset_kind kind, const struct fulcrum_field *field)
{
    const char *name = fulcrum_preset_kind_name(kind);
    size_t length = strlen(name);
    return strncmp(field->path, name, length) == 0 && field->path[length] == '.';
}

static struct fulcrum_source *source_of(
    const struct fields_io *io, const struct fulcrum_field *field)
{
    size_t count = 0;
    return &io->sources[field - fulcrum_fields(&count)];
}

/* What a parent gave is forgotten with its source. */
static void take_back(struct fields_io *io, const struct fulcrum_field *field)
{
    struct fulcrum_design blank;
    fulcrum_design_init(&blank);
    memcpy((char *)&io->design + field->offset, (const char *)&blank + field->offset,
        field->size);
    if (io->sources != NULL) {
        memset(source_of(io, field), 0, sizeof(struct fulcrum_source));
    }
}

static void apply_field(const struct walk *walk, const struct fulcrum_node *node,
    const struct fulcrum_field *field)
{
    if (node->json == NULL) {
        take_back(walk->io, field);
        return;
    }
    struct fulcrum_design *design = &walk->io->design;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status status;
    if (field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT) {
        /* What is no number becomes NAN, which no field takes. */
        status =
            fulcrum_field_set_number(field, design, fulcrum_node_value(node), &failure);
    } else {
        /* No choice is called "": a value of another type lists the choices too. */
        char text[256] = "";
        if ((is_text(node) || field->kind == FULCRUM_FIELD_TEXT) &&
            !fulcrum_node_text(node, text, sizeof text)) {
            return;
        }
        status = fulcrum_field_set_text(field, design, text, &failure);
    }
    if (status != FULCRUM_OK) {
        /* The field's setter knows what was expected, the node what stood there. */
        const char *expected = strstr(failure.detail, "expected");
        fulcrum_node_fault(
            node, status, "%s", expected != NULL ? expected : failure.detail);
    } else if (walk->root != NULL) {
        struct fulcrum_source *source = source_of(walk->io, field);
        memset(source, 0, sizeof *source);
        const char *relative = strchr(field->path, '.') + 1;
        if (!cover_find(walk->root, relative, source) &&
            field->kind != FULCRUM_FIELD_TEXT) {
            fulcrum_node_fault(node, FULCRUM_ERR_MISSING,
                "no source: expected an entry of \"source\" or \"prior\" that covers "
                "it, or one text as \"source\" of all values");
        }
        (void)snprintf(source->path, sizeof source->path, "%s", field->path);
        (void)snprintf(source->file, sizeof source->file, "%s", walk->name);
    }
}

static void enter_group(
    struct walk *walk, const struct fulcrum_node *node, const char *path)
{
    if (node->json == NULL) {
        /* null for a whole group takes all of it back. */
        size_t count = 0;
        const struct fulcrum_field *fields = fulcrum_fields(&count);
        for (size_t i = next_below(path, 0); i < count; i = next_below(path, i + 1)) {
            take_back(walk->io, &fields[i]);
        }
    } else if (fulcrum_node_is_object(node) && walk->count < MAX_PENDING) {
        struct pending *next = &walk->pending[walk->count++];
        next->node = *node;
        (void)snprintf(next->path, sizeof next->path, "%s", path);
    }
}

/* The field of this kind nearest to `path`; NULL where none is near. */
static const struct fulcrum_field *nearest_field(
    const struct walk *walk, const char *path)
{
    const char *nearest = fulcrum_field_nearest(path);
    const struct fulcrum_field *field =
        nearest != NULL ? fulcrum_field_find(nearest) : NULL;
    return field != NULL && fulcrum_preset_has_field(walk->io->kind, field) ? field
                                                                            : NULL;
}

/* A key in the wrong group is found by its end, a mistyped one by its whole path. */
static void fault_unknown(
    const struct walk *walk, const struct fulcrum_node *node, const char *path)
{
    const struct fulcrum_field *field = nearest_field(walk, strrchr(path, '.') + 1);
    if (field == NULL) {
        field = nearest_field(walk, path);
    }
    fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT, "%s: unknown key%s%s%s",
        node->path, field != NULL ? "; did you mean " : "",
        field != NULL ? strchr(field->path, '.') + 1 : "", field != NULL ? "?" : "");
}

/* Members of the outermost object that are no fields. */
static bool is_heading(const struct walk *walk, const char *key)
{
    static const char *const headings[] = {
        "name", "title", "kind", "extends", "source", "prior"};
    size_t count = walk->root != NULL ? sizeof headings / sizeof headings[0] : 2;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(headings[i], key) == 0) {
            return 1;
        }
    }
    return 0;
}

/*
 * Sets every field that a file gives, with its source; null takes a field back. Adds a
 * fault for each unknown key, wrong value, and number or choice without source. A list
 * of objects to visit stands in for recursion: files decide how deep it goes.
 *   name     of the preset that gives them; NULL: an object without sources
 */
static void apply(
    struct fields_io *io, const struct fulcrum_node *root, const char *name)
{
    struct walk walk = {.io = io, .root = name != NULL ? root : NULL, .name = name};
    if (name != NULL) {
        struct fulcrum_node source = fulcrum_node_member(root, "source");
        struct fulcrum_node prior = fulcrum_node_member(root, "prior");
        if (is_text(&source)) {
            check_text(&source);
        } else {
            check_entries(&source, io->kind, check_text);
        }
        check_entries(&prior, io->kind, check_prior);
    }
    enter_group(&walk, root, fulcrum_preset_kind_name(io->kind));
    for (size_t i = 0; i < walk.count; i++) {
        struct pending group = walk.pending[i];
        struct json_object_iter member;
        json_object_object_foreachC(group.node.json, member)
        {
            const char *key = member.key;
            char path[PATH_SIZE + 128];
            (void)snprintf(path, sizeof path, "%s.%.100s", group.path, key);
            struct fulcrum_node node = fulcrum_node_member(&group.node, key);
            const struct fulcrum_field *field = fulcrum_field_find(path);
            bool is_outermost = strchr(group.path, '.') == NULL;
            if (field != NULL) {
                apply_field(&walk, &node, field);
            } else if (is_group(path)) {
                enter_group(&walk, &node, path);
            } else if (!is_outermost || !is_heading(&walk, key)) {
                fault_unknown(&walk, &node, path);
            }
        }
    }
}

/* Whether a field has a value, and another than in `base`, which may be NULL. */
static bool is_given(const struct fulcrum_field *field,
    const struct fulcrum_design *design, const struct fulcrum_design *base)
{
    if (base != NULL && field->kind != FULCRUM_FIELD_TEXT &&
        fulcrum_field_number(field, design) == fulcrum_field_number(field, base)) {
        return 0;
    }
    if (field->kind == FULCRUM_FIELD_TEXT) {
        return fulcrum_field_text(field, design)[0] != '\0';
    }
    return !isnan(fulcrum_field_number(field, design));
}

void fulcrum_preset_write_half(const struct fulcrum_design *design,
    const struct fulcrum_design *base, enum fulcrum_preset_kind kind,
    struct json_object *object)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_field *field = &fields[i];
        if (!fulcrum_preset_has_field(kind, field) || !is_given(field, design, base)) {
            continue;
        }
        /* "machine.gpu.idle_w": group "gpu", key "idle_w"; no path is deeper. */
        const char *key = strchr(field->path, '.') + 1;
        const char *dot = strchr(key, '.');
        struct json_object *target = object;
        if (dot != NULL) {
            char name[PATH_SIZE];
            (void)snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
            if (!json_object_object_get_ex(object, name, &target)) {
                target = fulcrum_json_add_object(object, name);
            }
            key = dot + 1;
        }
        if (field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT) {
            fulcrum_json_add_number(target, key, fulcrum_field_number(field, design));
        } else {
            fulcrum_json_add_text(target, key, fulcrum_field_text(field, design));
        }
    }
}

enum fulcrum_status fulcrum_workload_save(const struct fulcrum_design *design,
    const char *source, const char *path, struct fulcrum_error *err)
{
    struct fulcrum_design blank;
    struct json_object *root = fulcrum_json_new_object();
    fulcrum_design_init(&blank);
    fulcrum_json_add_text(
        root, "kind", fulcrum_preset_kind_name(FULCRUM_PRESET_WORKLOAD));
    fulcrum_json_add_text(root, "name", design->workload.name);
    fulcrum_json_add_text(root, "title", design->workload.title);
    fulcrum_preset_write_half(design, &blank, FULCRUM_PRESET_WORKLOAD, root);
    fulcrum_json_add_text(root, "source", source);
    return fulcrum_json_save(root, path, err);
}

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
    enum fulcrum_status status =
        fulcrum_preset_find(kind, name, reader->file, path, &failure);
    if (status == FULCRUM_OK &&
        (is_in_chain(chain, path) || chain->count == MAX_LINKS)) {
        fulcrum_node_fault(&node, FULCRUM_ERR_FORMAT,
            "expected a chain of at most %d presets without a circle", MAX_LINKS);
        return 0;
    }
    if (status != FULCRUM_OK || chain_read(chain, path, &failure) != FULCRUM_OK) {
        fulcrum_node_fault(&node, failure.status, "%s", failure.detail);
        return 0;
    }
    return 1;
}

static enum fulcrum_status fields_io_load(struct fields_io *io,
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
        /* From the last link to the first, each over what those before it gave. */
        for (size_t i = chain->count; i > 0; i--) {
            reader.file = chain->links[i - 1].path;
            struct fulcrum_node root =
                fulcrum_node_root(&reader, chain->links[i - 1].document);
            (void)fulcrum_file_header_read(&root, io->kind, head);
            if (head->is_kind) {
                apply(io, &root, head->name);
            }
        }
        status = fulcrum_reader_finish(&reader, err);
    }
    for (size_t i = 0; i < chain->count; i++) {
        json_object_put(chain->links[i].document);
    }
    free(chain);
    return status;
}
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
    const struct fields_io *io, struct fulcrum_error *err)
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

/* Takes the kind's half over, but for its name and title: where they stand. */
static char *take_half(
    struct fulcrum_design *design, const struct fields_io *io, char **title)
{
    if (io->kind == FULCRUM_PRESET_MACHINE) {
        design->machine = io->design.machine;
        *title = design->machine.title;
        return design->machine.name;
    }
    design->workload = io->design.workload;
    *title = design->workload.title;
    return design->workload.name;
}

/* The kind's half of the design, with the name and title of the first file. */
static enum fulcrum_status load(enum fulcrum_preset_kind kind, const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    size_t count = 0;
    (void)fulcrum_fields(&count);
    struct fields_io io = {.kind = kind, .sources = calloc(count, sizeof *io.sources)};
    struct fulcrum_file_header head;
    enum fulcrum_status status;
    TRY_MEMORY(io.sources, err, "the sources of a preset");
    fulcrum_design_init(&io.design);
    TRY_OR_END(fields_io_load(&io, &head, name, err));
    if (sources != NULL) {
        TRY_OR_END(append_sources(sources, &io, err));
    }
    char *title = NULL;
    memcpy(take_half(design, &io, &title), head.name, sizeof head.name);
    memcpy(title, head.title, sizeof head.title);
end:
    free(io.sources);
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

void fulcrum_preset_read_half(const struct fulcrum_node *node,
    enum fulcrum_preset_kind kind, enum fulcrum_preset_kind file,
    struct fulcrum_design *design)
{
    struct fields_io io = {.kind = kind};
    if (json_object_is_type(node->json, json_type_string)) {
        char name[FULCRUM_PRESET_PATH_SIZE];
        if (fulcrum_node_text(node, name, sizeof name)) {
            char path[FULCRUM_PRESET_PATH_SIZE];
            struct fulcrum_error failure = {FULCRUM_OK, ""};
            if (fulcrum_preset_find(kind, name, node->reader->file, path, &failure) !=
                    FULCRUM_OK ||
                load(kind, path, design, NULL, &failure) != FULCRUM_OK) {
                fulcrum_node_fault(node, failure.status, "%s", failure.detail);
            }
        }
        return;
    }
    if (!json_object_is_type(node->json, json_type_object)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT,
            "expected the name of a %s preset, or an object",
            fulcrum_preset_kind_name(kind));
        return;
    }
    fulcrum_design_init(&io.design);
    apply(&io, node, NULL);
    char *title = NULL;
    char *name = take_half(design, &io, &title);
    struct fulcrum_node name_node = fulcrum_node_member(node, "name");
    if (file != FULCRUM_PRESET_CALIBRATION) {
        (void)fulcrum_node_words(&name_node, name, sizeof design->machine.name);
    } else if (name_node.json != NULL) {
        (void)fulcrum_node_text(&name_node, name, sizeof design->machine.name);
    }
    struct fulcrum_node title_node = fulcrum_node_member(node, "title");
    if (title_node.json != NULL) {
        (void)fulcrum_node_text(&title_node, title, sizeof design->machine.title);
    }
}
