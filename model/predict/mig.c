/* mig.c - a GPU cut into instances by hardware: profiles, and which fit together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instances lie side by side on the memory slices (8 of them): a profile takes so many
 * from one of a few starts. Compute slices (7) are counted only. With few slices every
 * placement can be tried, and the same instances at other places are the same layout.
 */
#include "model/predict/partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

size_t fulcrum_mig_find(const struct fulcrum_mig *mig, const char *name)
{
    size_t i = 0;
    while (i < mig->profile_count && strcmp(mig->profiles[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void check_profile(
    const struct fulcrum_mig *mig, size_t i, struct fulcrum_error *found)
{
    const struct fulcrum_mig_profile *profile = &mig->profiles[i];
#define PROFILE(member) #member, offsetof(struct fulcrum_mig_profile, member)
    const struct fulcrum_range ranges[] = {
        {PROFILE(compute_slice_count), 1.0, mig->compute_slice_count,
            FULCRUM_RANGE_WHOLE},
        {PROFILE(memory_slice_count), 1.0, mig->memory_slice_count,
            FULCRUM_RANGE_WHOLE},
        {PROFILE(cache_slice_count), 1.0, mig->memory_slice_count, FULCRUM_RANGE_WHOLE},
        {PROFILE(sm_count), 1.0, mig->sm_count, FULCRUM_RANGE_WHOLE},
        {PROFILE(memory_byte), 1.0, mig->memory_byte, FULCRUM_RANGE_WHOLE},
        {PROFILE(most_count), 1.0, mig->compute_slice_count, FULCRUM_RANGE_WHOLE},
        {PROFILE(copy_engine_count), 0.0, 1e3, FULCRUM_RANGE_WHOLE},
        {PROFILE(decoder_count), 0.0, 1e3, FULCRUM_RANGE_WHOLE},
        {PROFILE(jpeg_count), 0.0, 1e3, FULCRUM_RANGE_WHOLE},
        {PROFILE(ofa_count), 0.0, 1e3, FULCRUM_RANGE_WHOLE},
        {PROFILE(is_media_extension), 0.0, 1.0, FULCRUM_RANGE_WHOLE},
    };
#undef PROFILE
    char where[32];
    (void)snprintf(where, sizeof where, "profiles[%zu].", i);
    fulcrum_check_ranges(
        found, where, profile, ranges, sizeof ranges / sizeof ranges[0]);
    FAULT_IF(profile->name[0] == '\0' || fulcrum_mig_find(mig, profile->name) != i,
        found, FULCRUM_ERR_RANGE,
        "profiles[%zu].name = \"%s\": expected a name that no other has", i,
        profile->name);
    FAULT_IF(profile->start_count == 0, found, FULCRUM_ERR_MISSING,
        "profiles[%zu].starts is empty: expected one place or more", i);
    for (size_t k = 0; k < profile->start_count; k++) {
        double start = profile->starts[k];
        double end = start + profile->memory_slice_count;
        if (!(start >= 0.0 && start == floor(start) &&
                end <= mig->memory_slice_count)) {
            (void)fulcrum_fail_more(found, FULCRUM_ERR_RANGE,
                "profiles[%zu].starts[%zu] = %.6g: expected a whole number from 0 to "
                "%.6g, so that %.6g slices follow",
                i, k, start, mig->memory_slice_count - profile->memory_slice_count,
                profile->memory_slice_count);
        } else if (k > 0 && start <= profile->starts[k - 1]) {
            (void)fulcrum_fail_more(found, FULCRUM_ERR_RANGE,
                "profiles[%zu].starts[%zu] = %.6g: expected more than the start "
                "before, %.6g",
                i, k, start, profile->starts[k - 1]);
        }
    }
}

enum fulcrum_status fulcrum_mig_check(
    const struct fulcrum_mig *mig, struct fulcrum_error *err)
{
    struct fulcrum_error found = {FULCRUM_OK, ""};
#define MIG(member) #member, offsetof(struct fulcrum_mig, member)
    static const struct fulcrum_range ranges[] = {
        {MIG(compute_slice_count), 1.0, FULCRUM_MIG_INSTANCES_MOST,
            FULCRUM_RANGE_WHOLE},
        {MIG(memory_slice_count), 1.0, FULCRUM_MIG_SLICES_MOST, FULCRUM_RANGE_WHOLE},
        {MIG(sm_count), 1.0, 1e4, FULCRUM_RANGE_WHOLE},
        {MIG(memory_byte), 1e6, 1e15, FULCRUM_RANGE_WHOLE},
    };
#undef MIG
    fulcrum_check_ranges(&found, "", mig, ranges, sizeof ranges / sizeof ranges[0]);
    FAULT_IF(mig->profile_count == 0, &found, FULCRUM_ERR_MISSING,
        "profiles is empty: expected one profile or more");
    bool is_sound = found.status == FULCRUM_OK;
    for (size_t i = 0; is_sound && i < mig->profile_count; i++) {
        check_profile(mig, i, &found);
    }
    if (found.status != FULCRUM_OK && err != NULL) {
        *err = found;
    }
    return found.status;
}

/* Instances that are in place, by profile, and the slices that they take. */
struct placing {
    const struct fulcrum_mig *mig;
    unsigned char counts[FULCRUM_MIG_PROFILES_MOST];
    unsigned taken; /* memory slices, a bit each */
    double compute_left;
};

static unsigned slices_of(const struct fulcrum_mig_profile *profile, double start)
{
    unsigned ones = (1U << (unsigned)profile->memory_slice_count) - 1U;
    return ones << (unsigned)start;
}

/* Whether one more instance of profile i fits from its k-th start. */
static bool has_room(const struct placing *placing, size_t i, size_t k)
{
    const struct fulcrum_mig_profile *profile = &placing->mig->profiles[i];
    return placing->counts[i] < profile->most_count &&
           profile->compute_slice_count <= placing->compute_left &&
           (placing->taken & slices_of(profile, profile->starts[k])) == 0U;
}

static struct placing with_one_more(const struct placing *placing, size_t i, size_t k)
{
    const struct fulcrum_mig_profile *profile = &placing->mig->profiles[i];
    struct placing more = *placing;
    more.counts[i]++;
    more.taken |= slices_of(profile, profile->starts[k]);
    more.compute_left -= profile->compute_slice_count;
    return more;
}

/* Media extensions count as the profile that they extend. */
static bool is_plain(const struct fulcrum_mig *mig, size_t i)
{
    return !(mig->profiles[i].is_media_extension > 0.0);
}

static bool has_room_anywhere(const struct placing *placing, size_t i)
{
    size_t starts = placing->mig->profiles[i].start_count;
    size_t k = 0;
    while (k < starts && !has_room(placing, i, k)) {
        k++;
    }
    return k < starts;
}

static bool is_full(const struct placing *placing)
{
    for (size_t i = 0; i < placing->mig->profile_count; i++) {
        if (is_plain(placing->mig, i) && has_room_anywhere(placing, i)) {
            return false;
        }
    }
    return true;
}

static struct placing empty_gpu(const struct fulcrum_mig *mig)
{
    return (struct placing){.mig = mig, .compute_left = mig->compute_slice_count};
}

struct layouts {
    struct fulcrum_mig_layout *items;
    size_t count;
    size_t room;
};

static struct fulcrum_mig_layout *find_layout(
    const struct layouts *layouts, const unsigned char *counts)
{
    for (size_t i = 0; i < layouts->count; i++) {
        if (memcmp(layouts->items[i].counts, counts, FULCRUM_MIG_PROFILES_MOST) == 0) {
            return &layouts->items[i];
        }
    }
    return NULL;
}

/* A layout is full where every placement of it is. */
static enum fulcrum_status add_layout(
    struct layouts *layouts, const struct placing *placing)
{
    struct fulcrum_mig_layout *known = find_layout(layouts, placing->counts);
    if (known != NULL) {
        known->is_full = known->is_full && is_full(placing);
        return FULCRUM_OK;
    }
    if (layouts->count == layouts->room) {
        size_t room = layouts->room == 0 ? 64 : 2 * layouts->room;
        struct fulcrum_mig_layout *grown =
            realloc(layouts->items, room * sizeof *grown);
        if (grown == NULL) {
            return FULCRUM_ERR_NO_MEMORY;
        }
        layouts->items = grown;
        layouts->room = room;
    }
    struct fulcrum_mig_layout *layout = &layouts->items[layouts->count++];
    memcpy(layout->counts, placing->counts, sizeof layout->counts);
    size_t sum = 0;
    for (size_t i = 0; i < FULCRUM_MIG_PROFILES_MOST; i++) {
        sum += placing->counts[i];
    }
    layout->instance_count = sum;
    layout->is_full = is_full(placing);
    return FULCRUM_OK;
}

/*
 * Adds the layouts of every placement that has more instances than this one, all behind
 * the last slice taken, so that every placement comes up once.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there can be instances */
static enum fulcrum_status add_layouts(
    struct layouts *layouts, const struct placing *placing)
{
    for (size_t i = 0; i < placing->mig->profile_count; i++) {
        const struct fulcrum_mig_profile *profile = &placing->mig->profiles[i];
        size_t starts = is_plain(placing->mig, i) ? profile->start_count : 0;
        for (size_t k = 0; k < starts; k++) {
            bool is_behind = (placing->taken >> (unsigned)profile->starts[k]) == 0U;
            if (!is_behind || !has_room(placing, i, k)) {
                continue;
            }
            const struct placing more = with_one_more(placing, i, k);
            TRY(add_layout(layouts, &more));
            TRY(add_layouts(layouts, &more));
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_mig_layouts(const struct fulcrum_mig *mig,
    struct fulcrum_mig_layout **out, size_t *count, struct fulcrum_error *err)
{
    struct layouts layouts = {NULL, 0, 0};
    const struct placing empty = empty_gpu(mig);
    enum fulcrum_status status = add_layouts(&layouts, &empty);
    if (status != FULCRUM_OK) {
        free(layouts.items);
        return fulcrum_fail(err, status, "layouts of %s", mig->name);
    }
    *out = layouts.items;
    *count = layouts.count;
    return FULCRUM_OK;
}

/* Whether what is wanted beyond this placement has places, the largest first. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there can be instances */
static bool can_place(const struct placing *placing, const unsigned char *wanted)
{
    size_t i = placing->mig->profile_count;
    while (i > 0 && placing->counts[i - 1] == wanted[i - 1]) {
        i--;
    }
    bool fits = i == 0;
    for (size_t k = 0; !fits && k < placing->mig->profiles[i - 1].start_count; k++) {
        if (has_room(placing, i - 1, k)) {
            const struct placing more = with_one_more(placing, i - 1, k);
            fits = can_place(&more, wanted);
        }
    }
    return fits;
}

static void list_profiles(const struct fulcrum_mig *mig, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < mig->profile_count && used < size; i++) {
        used += (size_t)snprintf(
            out + used, size - used, "%s%s", i > 0 ? ", " : "", mig->profiles[i].name);
    }
}

static enum fulcrum_status fail_fit(const struct fulcrum_mig *mig,
    const struct fulcrum_mig_layout *layout, struct fulcrum_error *err)
{
    double compute = 0.0;
    double memory = 0.0;
    char text[160];
    fulcrum_mig_layout_text(mig, layout, text, sizeof text);
    for (size_t i = 0; i < mig->profile_count; i++) {
        compute += layout->counts[i] * mig->profiles[i].compute_slice_count;
        memory += layout->counts[i] * mig->profiles[i].memory_slice_count;
        FAIL_IF(layout->counts[i] > mig->profiles[i].most_count, err,
            FULCRUM_ERR_INFEASIBLE, "%s: %d instances of %s: expected at most %.6g",
            mig->name, layout->counts[i], mig->profiles[i].name,
            mig->profiles[i].most_count);
    }
    return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
        "%s: %s do not fit side by side: %.6g of %.6g compute slices, %.6g of %.6g "
        "memory slices, each from one of its profile's starts",
        mig->name, text, compute, mig->compute_slice_count, memory,
        mig->memory_slice_count);
}

enum fulcrum_status fulcrum_mig_layout_parse(const struct fulcrum_mig *mig,
    const char *text, struct fulcrum_mig_layout *out, struct fulcrum_error *err)
{
    struct fulcrum_mig_layout layout = {.instance_count = 0};
    const char *rest = text;
    while (rest != NULL) {
        char name[40];
        size_t length = strcspn(rest, ",");
        (void)snprintf(
            name, sizeof name, "%.*s", (int)(length < 39 ? length : 39), rest);
        /* Adds one name of a list. */
        size_t i = fulcrum_mig_find(mig, name);
        if (i == mig->profile_count) {
            char list[240];
            list_profiles(mig, list, sizeof list);
            return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
                "%s: no profile \"%s\": expected one of %s", mig->name, name, list);
        }
        FAIL_IF(layout.instance_count == FULCRUM_MIG_INSTANCES_MOST, err,
            FULCRUM_ERR_INFEASIBLE, "%s: more than %d instances on one GPU", mig->name,
            (int)FULCRUM_MIG_INSTANCES_MOST);
        layout.counts[i]++;
        layout.instance_count++;
        rest = rest[length] == ',' ? rest + length + 1 : NULL;
    }
    const struct placing empty = empty_gpu(mig);
    if (!can_place(&empty, layout.counts)) {
        return fail_fit(mig, &layout, err);
    }
    *out = layout;
    return FULCRUM_OK;
}

void fulcrum_mig_layout_text(const struct fulcrum_mig *mig,
    const struct fulcrum_mig_layout *layout, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = mig->profile_count; i-- > 0 && used < size;) {
        if (layout->counts[i] == 0) {
            continue;
        }
        const char *gap = used > 0 ? " + " : "";
        if (layout->counts[i] > 1) {
            used += (size_t)snprintf(out + used, size - used, "%s%d x %s", gap,
                layout->counts[i], mig->profiles[i].name);
        } else {
            used += (size_t)snprintf(
                out + used, size - used, "%s%s", gap, mig->profiles[i].name);
        }
    }
}
