/* partition_file.c - how a GPU can be cut into instances, from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/partition_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/document.h"
#include "presets/io/struct_io.h"
#include "presets/load/file_header.h"
#include "presets/load/preset_folders.h"

#define WHOLE(key)                                                                     \
    {                                                                                  \
#key, offsetof(struct fulcrum_mig, key), (double)NAN, 1.0                      \
    }
#define PART(key)                                                                      \
    {                                                                                  \
#key, offsetof(struct fulcrum_mig_profile, key), (double)NAN, 1.0              \
    }
/* What may be left out is 0. */
#define EXTRA(key)                                                                     \
    {                                                                                  \
#key, offsetof(struct fulcrum_mig_profile, key), 0.0, 0.0                      \
    }

static void read_starts(
    const struct fulcrum_node *node, struct fulcrum_mig_profile *profile)
{
    double *values = NULL;
    size_t count = 0;
    if (!fulcrum_struct_io_numbers(node, 0.0, &values, &count)) {
        return;
    }
    if (count > FULCRUM_MIG_SLICES_MOST) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected at most %d numbers",
            (int)FULCRUM_MIG_SLICES_MOST);
        count = 0;
    }
    if (count > 0) {
        memcpy(profile->starts, values, count * sizeof *values);
    }
    profile->start_count = count;
    free(values);
}

static void read_profile(
    const struct fulcrum_node *node, struct fulcrum_mig_profile *profile)
{
    static const struct fulcrum_struct_io_row rows[] = {PART(compute_slice_count),
        PART(memory_slice_count), PART(cache_slice_count), PART(sm_count),
        PART(memory_byte), PART(most_count), EXTRA(copy_engine_count),
        EXTRA(decoder_count), EXTRA(jpeg_count), EXTRA(ofa_count),
        EXTRA(is_media_extension)};
    static const char *const others[] = {"name", "starts", NULL};
    static const struct fulcrum_struct_io section = {
        rows, sizeof rows / sizeof rows[0], others};
    if (!fulcrum_struct_io_read(node, &section, profile)) {
        return;
    }
    struct fulcrum_node name = fulcrum_node_member(node, "name");
    struct fulcrum_node starts = fulcrum_node_member(node, "starts");
    (void)fulcrum_node_text(&name, profile->name, sizeof profile->name);
    read_starts(&starts, profile);
}

static void read_profiles(const struct fulcrum_node *root, struct fulcrum_mig *mig)
{
    struct fulcrum_node array = fulcrum_node_member(root, "profiles");
    size_t count = 0;
    if (!fulcrum_node_is_array(&array, &count)) {
        return;
    }
    if (count > FULCRUM_MIG_PROFILES_MOST) {
        fulcrum_node_fault(&array, FULCRUM_ERR_RANGE, "expected at most %d profiles",
            (int)FULCRUM_MIG_PROFILES_MOST);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node node = fulcrum_node_element(&array, i);
        read_profile(&node, &mig->profiles[i]);
    }
    mig->profile_count = count;
}

/* Keys of the file or of a profile that have a source of their own. */
static const char *const sourced[] = {"profiles", "starts", "sm_count", "memory_byte",
    "memory_slice_count", "cache_slice_count", "compute_slice_count", "gpu", NULL};

/* No number without a source: that of the profiles covers what has none of its own. */
static void read_sources(
    const struct fulcrum_node *root, struct fulcrum_partition *partition)
{
    struct fulcrum_node map = fulcrum_node_member(root, "source");
    if (!fulcrum_node_is_object(&map)) {
        return;
    }
    fulcrum_node_check_keys(&map, sourced);
    for (size_t i = 0; sourced[i] != NULL; i++) {
        struct fulcrum_node node = fulcrum_node_member(&map, sourced[i]);
        struct fulcrum_partition_source *source =
            &partition->sources[partition->source_count];
        if (node.json == NULL && i > 0) {
            continue;
        }
        if (fulcrum_node_text(&node, source->text, sizeof source->text)) {
            (void)snprintf(source->part, sizeof source->part, "%s", sourced[i]);
            partition->source_count++;
        }
    }
}

static void read_members(
    const struct fulcrum_node *root, struct fulcrum_partition *partition)
{
    static const struct fulcrum_struct_io_row rows[] = {WHOLE(compute_slice_count),
        WHOLE(memory_slice_count), WHOLE(sm_count), WHOLE(memory_byte)};
    static const char *const others[] = {
        "schema", "kind", "name", "title", "source", "gpu", "profiles", NULL};
    static const struct fulcrum_struct_io section = {
        rows, sizeof rows / sizeof rows[0], others};
    struct fulcrum_node schema = fulcrum_node_member(root, "schema");
    struct fulcrum_node gpu = fulcrum_node_member(root, "gpu");
    fulcrum_file_header_check_schema(
        &schema, FULCRUM_PARTITION_SCHEMA, FULCRUM_PARTITION_VERSION);
    (void)fulcrum_struct_io_read(root, &section, &partition->mig);
    (void)fulcrum_node_text(&gpu, partition->mig.gpu, sizeof partition->mig.gpu);
    read_profiles(root, &partition->mig);
    read_sources(root, partition);
}

static enum fulcrum_status read_partition(const char *path,
    struct json_object *document, struct fulcrum_partition *partition,
    struct fulcrum_error *err)
{
    struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_file_header head;
    (void)fulcrum_file_header_read(&root, FULCRUM_PRESET_PARTITION, &head);
    if (head.is_kind) {
        memcpy(partition->mig.name, head.name, sizeof head.name);
        memcpy(partition->mig.title, head.title, sizeof head.title);
        read_members(&root, partition);
        /* The content is looked at once its form is right: one fault is not told twice.
         */
        struct fulcrum_error found = {FULCRUM_OK, ""};
        if (reader.faults.status == FULCRUM_OK &&
            fulcrum_mig_check(&partition->mig, &found) != FULCRUM_OK) {
            fulcrum_reader_adopt(&reader, &found);
        }
    }
    return fulcrum_reader_finish(&reader, err);
}

enum fulcrum_status fulcrum_partition_load(
    const char *name, struct fulcrum_partition **out, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct json_object *document = NULL;
    struct fulcrum_partition *partition = calloc(1, sizeof *partition);
    enum fulcrum_status status;
    TRY_MEMORY(partition, err, "%s", name);
    TRY_OR_END(fulcrum_preset_find(FULCRUM_PRESET_PARTITION, name, NULL, path, err));
    TRY_OR_END(fulcrum_document_read(path, &document, err));
    TRY_OR_END(read_partition(path, document, partition, err));
    *out = partition;
    partition = NULL;
end:
    fulcrum_document_free(document);
    free(partition);
    return status;
}

enum fulcrum_status fulcrum_partition_of_gpu(
    const char *gpu, struct fulcrum_partition **out, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    struct fulcrum_partition *found = NULL;
    size_t count = 0;
    char list[300] = "";
    size_t used = 0;
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_preset_list(FULCRUM_PRESET_PARTITION, &entries, &count, err));
    for (size_t i = 0; found == NULL && i < count; i++) {
        TRY_OR_END(fulcrum_partition_load(entries[i].file, &found, err));
        if (strcmp(found->mig.gpu, gpu) != 0) {
            free(found);
            found = NULL;
        }
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                i > 0 ? ", " : "", entries[i].name);
        }
    }
    if (found == NULL) {
        status = fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "no partition preset is for the GPU \"%s\": there are %s", gpu, list);
    } else {
        *out = found;
    }
end:
    free(entries);
    return status;
}
