/* test_mig.c - which instances of a GPU fit together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/mig.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

/* The A100's profiles as its driver lists them, without those of twice the memory. */
static struct fulcrum_mig a100(void)
{
    struct fulcrum_mig mig = {.name = "made",
        .compute_slice_count = 7,
        .memory_slice_count = 8,
        .sm_count = 108,
        .memory_byte = 40e9,
        .profile_count = 5};
    static const struct {
        const char *name;
        double compute;
        double memory;
        double most;
        size_t start_count;
        double starts[7];
    } rows[] = {
        {"1g", 1, 1, 7, 7, {0, 1, 2, 3, 4, 5, 6}},
        {"2g", 2, 2, 3, 3, {0, 2, 4}},
        {"3g", 3, 4, 2, 2, {0, 4}},
        {"4g", 4, 4, 1, 1, {0}},
        {"7g", 7, 8, 1, 1, {0}},
    };
    for (size_t i = 0; i < mig.profile_count; i++) {
        struct fulcrum_mig_profile *profile = &mig.profiles[i];
        *profile = (struct fulcrum_mig_profile){.compute_slice_count = rows[i].compute,
            .memory_slice_count = rows[i].memory,
            .cache_slice_count = rows[i].memory,
            .sm_count = 14 * rows[i].compute,
            .memory_byte = 5e9 * rows[i].memory,
            .most_count = rows[i].most,
            .start_count = rows[i].start_count};
        memcpy(profile->name, rows[i].name, strlen(rows[i].name) + 1);
        memcpy(profile->starts, rows[i].starts, sizeof rows[i].starts);
    }
    return mig;
}

static const struct fulcrum_mig_layout *find(
    const struct fulcrum_mig_layout *layouts, size_t count, const char *counts)
{
    for (size_t i = 0; i < count; i++) {
        int same = 1;
        for (size_t k = 0; k < 5; k++) {
            same = same && layouts[i].counts[k] == counts[k] - '0';
        }
        if (same) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* The caller frees them. */
static struct fulcrum_mig_layout *layouts_of(
    const struct fulcrum_mig *mig, size_t *count)
{
    struct fulcrum_mig_layout *layouts = NULL;
    ASSERT_OK(fulcrum_mig_layouts(mig, &layouts, count, NULL));
    return layouts;
}

/*
 * Known sets of instances: those that nos keeps for the A100-SXM4-40GB
 * (github.com/nebuly-ai/nos, pkg/gpu/mig/known_configs.go), and 4g beside 3g, which
 * the MIG User Guide's diagram has; as numbers of 1g, 2g, 3g, 4g and 7g.
 */
TEST(test_known_layouts_of_an_a100_are_found)
{
    static const char *const known[] = {"00001", "11010", "30010", "00200", "11100",
        "30100", "02100", "21100", "13000", "32000", "51000", "70000", "00110"};
    struct fulcrum_mig mig = a100();
    size_t count = 0;
    struct fulcrum_mig_layout *layouts = layouts_of(&mig, &count);
    for (size_t i = 0; i < LENGTH(known); i++) {
        CU_ASSERT_PTR_NOT_NULL(find(layouts, count, known[i]));
    }
    free(layouts);
}

/* 4g beside 4g has the memory slices but eight compute slices; 3g beside 3g and 1g has
 * the compute slices, and every memory slice taken. */
TEST(test_what_does_not_fit_is_not_found)
{
    static const char *const wrong[] = {
        "00020", "10200", "00101", "80000", "04000", "40010", "03100", "12010"};
    struct fulcrum_mig mig = a100();
    size_t count = 0;
    struct fulcrum_mig_layout *layouts = layouts_of(&mig, &count);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        CU_ASSERT_PTR_NULL(find(layouts, count, wrong[i]));
    }
    free(layouts);
}

/*
 * By another way: each of the eight places holds nothing or begins a profile, all
 * 6^8 combinations, by hand.
 */
struct tally {
    size_t sets; /* different sets of instances */
    unsigned char seen[8][4][3][2][2];
};

static int place_all(
    const struct fulcrum_mig *mig, unsigned long code, unsigned char counts[5])
{
    unsigned taken = 0;
    double compute = 0;
    memset(counts, 0, 5);
    for (unsigned start = 0; start < 8; start++, code /= 6) {
        unsigned long i = code % 6;
        if (i == 5) {
            continue;
        }
        const struct fulcrum_mig_profile *profile = &mig->profiles[i];
        bool may_start = 0;
        for (size_t k = 0; k < profile->start_count; k++) {
            may_start = may_start || profile->starts[k] == (double)start;
        }
        unsigned slices = ((1U << (unsigned)profile->memory_slice_count) - 1U) << start;
        if (!may_start || (taken & slices) != 0U) {
            return 0;
        }
        taken |= slices;
        compute += profile->compute_slice_count;
        counts[i]++;
    }
    for (size_t i = 0; i < 5; i++) {
        compute = counts[i] > mig->profiles[i].most_count ? 99 : compute;
    }
    return compute <= 7;
}

TEST(test_layouts_agree_with_every_combination)
{
    struct fulcrum_mig mig = a100();
    static struct tally tally;
    unsigned char counts[5];
    for (unsigned long code = 0; code < 1679616UL; code++) {
        if (place_all(&mig, code, counts)) {
            unsigned char *seen =
                &tally.seen[counts[0]][counts[1]][counts[2]][counts[3]][counts[4]];
            tally.sets += *seen == 0;
            *seen = 1;
        }
    }
    size_t count = 0;
    struct fulcrum_mig_layout *layouts = layouts_of(&mig, &count);
    CU_ASSERT_EQUAL(count + 1, tally.sets); /* the empty one */
    for (size_t i = 0; i < count; i++) {
        const unsigned char *c = layouts[i].counts;
        CU_ASSERT_EQUAL(tally.seen[c[0]][c[1]][c[2]][c[3]][c[4]], 1);
    }
    free(layouts);
}

TEST(test_a_media_extension_adds_no_layout)
{
    struct fulcrum_mig mig = a100();
    size_t plain = 0;
    size_t extended = 0;
    free(layouts_of(&mig, &plain));
    mig.profiles[5] = mig.profiles[0];
    mig.profiles[5].is_media_extension = 1;
    mig.profile_count = 6;
    free(layouts_of(&mig, &extended));
    CU_ASSERT_EQUAL(extended, plain);
}

TEST(test_a_layout_is_read_and_written)
{
    struct fulcrum_mig mig = a100();
    struct fulcrum_mig_layout layout;
    char text[80];
    ASSERT_OK(fulcrum_mig_layout_parse(&mig, "1g,3g,2g,1g", &layout, NULL));
    CU_ASSERT_EQUAL(layout.instance_count, 4);
    fulcrum_mig_layout_text(&mig, &layout, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "3g + 2g + 2 x 1g");
    fulcrum_mig_layout_text(&mig, &layout, text, 6);
    CU_ASSERT_STRING_EQUAL(text, "3g + ");
}

TEST(test_each_fault_of_a_layout_is_named)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } rows[] = {
        {"4g,4g", FULCRUM_ERR_INFEASIBLE, "2 instances of 4g: expected at most 1"},
        {"3g,3g,1g", FULCRUM_ERR_INFEASIBLE, "7 of 7 compute slices, 9 of 8"},
        {"4g,2g,2g", FULCRUM_ERR_INFEASIBLE, "8 of 7 compute slices"},
        {"5g", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"5g\": expected one of 1g, 2g"},
        {"", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"\""},
        {"1g,,1g", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"\""},
        {"1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g", FULCRUM_ERR_INFEASIBLE,
            "more than 16"},
    };
    struct fulcrum_mig mig = a100();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_mig_layout layout;
        ASSERT_FAILS(fulcrum_mig_layout_parse(&mig, rows[i].text, &layout, &err),
            rows[i].status, rows[i].part);
    }
}

/* 3g and 3g and nothing else: a first choice may have to be taken back. */
TEST(test_places_are_tried_until_all_have_one)
{
    struct fulcrum_mig mig = a100();
    struct fulcrum_mig_layout layout;
    static const char *const good[] = {
        "3g,2g,1g,1g", "3g,1g,1g,1g,1g", "2g,2g,2g,1g", "3g,2g,2g", "4g,3g", "7g"};
    for (size_t i = 0; i < LENGTH(good); i++) {
        ASSERT_OK(fulcrum_mig_layout_parse(&mig, good[i], &layout, NULL));
    }
}

TEST(test_each_fault_of_a_gpu_is_named)
{
    struct fulcrum_mig good = a100();
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_mig_check(&good, NULL));
    struct fulcrum_mig mig = good;
    mig.profiles[2].starts[1] = 5;
    mig.profiles[1].sm_count = 200;
    memcpy(mig.profiles[4].name, "1g", 3);
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[2].starts[1] = 5"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[1].sm_count = 200"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[4].name = \"1g\""));
    mig = good;
    mig.profile_count = 0;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_MISSING);
    mig = good;
    mig.profiles[0].start_count = 0;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_MISSING);
    mig = good;
    mig.compute_slice_count = 17;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_RANGE);
}
