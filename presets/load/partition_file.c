/* partition_file.c - how a GPU can be cut into instances, from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/partition_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/load/preset_file.h"
#include "presets/load/preset_folders.h"

#define PART(member)                                                                   \
    FULCRUM_RECORD_ROW(fulcrum_mig_profile, member, WHOLE, .neutral = 1.0, .least = 1.0)
/* What may be left out is 0. */
#define EXTRA(member)                                                                  \
    FULCRUM_RECORD_ROW(fulcrum_mig_profile, member, WHOLE, .is_optional = true)

static const struct fulcrum_record_row profile_rows[] = {
    FULCRUM_RECORD_ROW_TEXT(fulcrum_mig_profile, name),
    PART(compute_slice_count),
    PART(memory_slice_count),
    PART(cache_slice_count),
    PART(sm_count),
    PART(memory_byte),
    PART(most_count),
    EXTRA(copy_engine_count),
    EXTRA(decoder_count),
    EXTRA(jpeg_count),
    EXTRA(ofa_count),
    EXTRA(is_media_extension),
};
static const char *const profile_others[] = {"starts", NULL};
const struct fulcrum_record fulcrum_profile_record =
    FULCRUM_RECORD(fulcrum_mig_profile, profile_rows, profile_others);

static void read_starts(
    const struct fulcrum_node *node, struct fulcrum_mig_profile *profile)
{
    const double none = 0.0;
    double *values = NULL;
    size_t count = 0;
    if (!fulcrum_node_numbers(node, &none, &values, &count)) {
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

static void read_profiles(const struct fulcrum_node *array, void *loaded)
{
    struct fulcrum_partition *partition = loaded;
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return;
    }
    if (count > FULCRUM_MIG_PROFILES_MOST) {
        fulcrum_node_fault(array, FULCRUM_ERR_RANGE, "expected at most %d profiles",
            (int)FULCRUM_MIG_PROFILES_MOST);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_mig_profile *profile = &partition->mig.profiles[i];
        struct fulcrum_node node = fulcrum_node_element(array, i);
        if (fulcrum_record_read(&node, &fulcrum_profile_record, profile)) {
            struct fulcrum_node starts = fulcrum_node_member(&node, "starts");
            read_starts(&starts, profile);
        }
    }
    partition->mig.profile_count = count;
}

/* Keys of the file or of a profile that have a source of their own. */
static const char *const sourced[] = {"profiles", "starts", "sm_count", "memory_byte",
    "memory_slice_count", "cache_slice_count", "compute_slice_count", "gpu", NULL};

/* No number without a source: that of the profiles covers what has none of its own. */
static void read_sources(const struct fulcrum_node *map, void *loaded)
{
    struct fulcrum_partition *partition = loaded;
    if (!fulcrum_node_is_object(map)) {
        return;
    }
    fulcrum_node_check_keys(map, sourced);
    for (size_t i = 0; sourced[i] != NULL; i++) {
        struct fulcrum_node node = fulcrum_node_member(map, sourced[i]);
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

/* The description of the GPU begins a partition. */
#define WHOLE(member)                                                                  \
    {                                                                                  \
        FULCRUM_RECORD_ROW(fulcrum_mig, member, WHOLE, .neutral = 1.0, .least = 1.0),  \
            NULL, false                                                                \
    }

static const struct fulcrum_file_part parts[] = {
    WHOLE(compute_slice_count),
    WHOLE(memory_slice_count),
    WHOLE(sm_count),
    WHOLE(memory_byte),
    {FULCRUM_RECORD_ROW_TEXT(fulcrum_mig, gpu), NULL, false},
    {{.key = "profiles"}, read_profiles, false},
    {{.key = "source"}, read_sources, false},
    {{.key = NULL}, NULL, false},
};

/* The content is looked at once its form is right: one fault is not told twice. */
static void check_loaded(const struct fulcrum_node *root, void *loaded)
{
    const struct fulcrum_partition *partition = loaded;
    struct fulcrum_error found = {FULCRUM_OK, ""};
    if (root->reader->faults.status == FULCRUM_OK &&
        fulcrum_mig_check(&partition->mig, &found) != FULCRUM_OK) {
        fulcrum_reader_adopt(root->reader, &found);
    }
}

enum fulcrum_status fulcrum_partition_load(
    const char *name, struct fulcrum_partition **out, struct fulcrum_error *err)
{
    static const struct fulcrum_file_form form = {
        FULCRUM_PRESET_PARTITION, parts, check_loaded};
    char path[FULCRUM_PRESET_PATH_SIZE];
    TRY(fulcrum_preset_find(FULCRUM_PRESET_PARTITION, name, NULL, path, err));
    struct fulcrum_partition *partition = calloc(1, sizeof *partition);
    TRY_MEMORY(partition, err, "%s", name);
    enum fulcrum_status status = fulcrum_file_load(&form, path, partition, err);
    if (status != FULCRUM_OK) {
        free(partition);
        return status;
    }
    *out = partition;
    return FULCRUM_OK;
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
