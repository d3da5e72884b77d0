/* test_partition_data.c - partition files: those shipped. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "tests/support/suite.h"

/* What the MIG User Guide's tables have in common: 7 compute slices, one profile each
 * of 1, 2, 3, 4 and 7 of them besides 1 with twice the memory and 1 with media. */
static void assert_as_in_the_guide(const struct fulcrum_mig *mig)
{
    static const double compute[] = {1, 1, 1, 2, 3, 4, 7};
    static const double most[] = {7, 1, 4, 3, 2, 1, 1};
    CU_ASSERT_EQUAL_FATAL(mig->profile_count, 7);
    for (size_t k = 0; k < 7; k++) {
        const struct fulcrum_mig_profile *profile = &mig->profiles[k];
        CU_ASSERT_EQUAL(profile->compute_slice_count, compute[k]);
        CU_ASSERT_EQUAL(profile->most_count, most[k]);
        CU_ASSERT_EQUAL(profile->is_media_extension, k == 1);
        CU_ASSERT(profile->memory_byte * mig->memory_slice_count <=
                  1.01 * mig->memory_byte * profile->memory_slice_count);
    }
}

TEST(test_shipped_partitions_are_as_the_guide_tells)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_PARTITION, &entries, &count, NULL));
    CU_ASSERT(count >= 5);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_partition *partition = NULL;
        ASSERT_OK(fulcrum_partition_load(entries[i].name, &partition, NULL));
        assert_as_in_the_guide(&partition->mig);
        CU_ASSERT(partition->source_count >= 3);
        free(partition);
    }
    free(entries);
}

/* The driver's listing of an A100 with 40 GB. */
TEST(test_an_a100_has_14_sms_a_slice)
{
    struct fulcrum_partition *partition = NULL;
    ASSERT_OK(fulcrum_partition_load("a100-40gb", &partition, NULL));
    size_t i = fulcrum_mig_find(&partition->mig, "3g.20gb");
    CU_ASSERT_EQUAL(partition->mig.profiles[i].sm_count, 42);
    CU_ASSERT_EQUAL(partition->mig.profiles[i].memory_slice_count, 4);
    i = fulcrum_mig_find(&partition->mig, "7g.40gb");
    CU_ASSERT_EQUAL(partition->mig.profiles[i].sm_count, 98);
    free(partition);
}

TEST(test_the_partition_of_a_gpu_is_found_by_its_name)
{
    struct fulcrum_partition *partition = NULL;
    ASSERT_OK(fulcrum_partition_of_gpu("NVIDIA H100-SXM5-80GB", &partition, NULL));
    CU_ASSERT_STRING_EQUAL(partition->mig.name, "h100-80gb");
    free(partition);
    ASSERT_FAILS(fulcrum_partition_of_gpu("NVIDIA V100", &partition, &err),
        FULCRUM_ERR_UNSUPPORTED, "a100-40gb, a100-80gb");
}
