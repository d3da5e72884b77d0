/* test_placement.c - lists of processors are read and written, and what is left open
 * is shared out by cores.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_getcpu */
#include "calibrate/actor/placement.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/host.h"
#include "tests/support/suite.h"

/* What this process may use. Cases that bind themselves put it back. */
static struct fulcrum_cpu_list allowed(void)
{
    struct fulcrum_cpu_list list;
    ASSERT_OK(fulcrum_cpu_list_allowed(&list, NULL));
    CU_ASSERT_FATAL(list.count >= 1);
    return list;
}

static int holds(const struct fulcrum_cpu_list *list, unsigned cpu)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->cpu[i] == cpu) {
            return 1;
        }
    }
    return 0;
}

static unsigned core_of(unsigned cpu)
{
    unsigned short cores[FULCRUM_PLACEMENT_CPU_MOST];
    fulcrum_host_find_cores(cores, FULCRUM_PLACEMENT_CPU_MOST);
    return cores[cpu];
}

static size_t count_cores(const struct fulcrum_cpu_list *list)
{
    struct fulcrum_cpu_list seen = {.count = 0};
    for (size_t i = 0; i < list->count; i++) {
        unsigned core = core_of(list->cpu[i]);
        if (!holds(&seen, core)) {
            seen.cpu[seen.count++] = (unsigned short)core;
        }
    }
    return seen.count;
}

/* Processors of one core of `list`: its first or its last. */
static struct fulcrum_cpu_list one_core(const struct fulcrum_cpu_list *list, size_t of)
{
    struct fulcrum_cpu_list core = {.count = 0};
    for (size_t i = 0; i < list->count; i++) {
        if (core_of(list->cpu[i]) == core_of(list->cpu[of])) {
            core.cpu[core.count++] = list->cpu[i];
        }
    }
    return core;
}

static void assert_same(
    const struct fulcrum_cpu_list *found, const struct fulcrum_cpu_list *expected)
{
    CU_ASSERT_EQUAL(found->count, expected->count);
    for (size_t i = 0; i < found->count && i < expected->count; i++) {
        CU_ASSERT_EQUAL(found->cpu[i], expected->cpu[i]);
    }
}

static const struct {
    size_t count;
    unsigned short cpu[8];
    const char *text;
} lists[] = {
    {0, {0}, ""},
    {1, {7}, "7"},
    {2, {0, 1}, "0-1"},
    {5, {0, 1, 2, 3, 8}, "0-3,8"},
    {4, {1, 3, 5, 7}, "1,3,5,7"},
    {6, {0, 2, 3, 9, 10, 1023}, "0,2-3,9-10,1023"},
};

TEST(test_lists_are_written_as_ranges)
{
    for (size_t i = 0; i < LENGTH(lists); i++) {
        struct fulcrum_cpu_list list = {.count = lists[i].count};
        memcpy(list.cpu, lists[i].cpu, sizeof lists[i].cpu);
        char text[64];
        fulcrum_cpu_list_write(&list, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, lists[i].text);
    }
}

TEST(test_a_list_that_is_too_long_is_cut_within_its_room)
{
    struct fulcrum_cpu_list list = {.count = 400};
    for (size_t i = 0; i < list.count; i++) {
        list.cpu[i] = (unsigned short)(2 * i);
    }
    char text[41];
    memset(text, '#', sizeof text);
    fulcrum_cpu_list_write(&list, text, sizeof text - 1);
    CU_ASSERT_EQUAL(text[sizeof text - 1], '#');
    CU_ASSERT(strlen(text) < sizeof text - 1);
    CU_ASSERT_EQUAL(strncmp(text, "0,2,4,6", 7), 0);
}

TEST(test_what_is_written_is_read_again)
{
    struct fulcrum_cpu_list all = allowed();
    struct fulcrum_cpu_list read;
    char text[512];
    fulcrum_cpu_list_write(&all, text, sizeof text);
    ASSERT_OK(fulcrum_cpu_list_read(&read, text, NULL));
    assert_same(&read, &all);
    ASSERT_OK(fulcrum_cpu_list_read(&read, "", NULL));
    CU_ASSERT_EQUAL(read.count, 0);
}

/* Given twice, or last first: one processor is one, and they are sorted. */
TEST(test_doubles_and_disorder_do_no_harm)
{
    struct fulcrum_cpu_list all = allowed();
    unsigned first = all.cpu[0];
    unsigned last = all.cpu[all.count - 1];
    char text[64];
    (void)snprintf(text, sizeof text, "%u,%u,%u", last, first, last);
    struct fulcrum_cpu_list read;
    ASSERT_OK(fulcrum_cpu_list_read(&read, text, NULL));
    CU_ASSERT_EQUAL(read.count, first == last ? 1 : 2);
    CU_ASSERT_EQUAL(read.cpu[0], first);
    CU_ASSERT_EQUAL(read.cpu[read.count - 1], last);
}

static const struct {
    const char *text;
    enum fulcrum_status status;
    const char *part;
} wrong[] = {
    {"zero", FULCRUM_ERR_FORMAT, "zero: expected processors such as 0-3,8"},
    {"-1", FULCRUM_ERR_FORMAT, "-1: expected processors"},
    {"0-", FULCRUM_ERR_FORMAT, "0-: expected processors"},
    {"0,", FULCRUM_ERR_FORMAT, "0,: expected processors"},
    {",0", FULCRUM_ERR_FORMAT, ",0: expected processors"},
    {"0 1", FULCRUM_ERR_FORMAT, "0 1: expected processors"},
    {"1-0", FULCRUM_ERR_FORMAT, "1-0: expected processors"},
    {"0x1", FULCRUM_ERR_FORMAT, "0x1: expected processors"},
    {"1e1", FULCRUM_ERR_FORMAT, "1e1: expected processors"},
    {"1023", FULCRUM_ERR_RANGE, "processor 1023 is none that this process may use"},
    {"1024", FULCRUM_ERR_RANGE, "processor 1024 is none"},
    {"99999999999999999999", FULCRUM_ERR_RANGE, "processor 1024 is none"},
};

TEST(test_wrong_lists_are_named)
{
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct fulcrum_cpu_list read;
        ASSERT_FAILS(fulcrum_cpu_list_read(&read, wrong[i].text, &err), wrong[i].status,
            wrong[i].part);
    }
}

TEST(test_the_standard_placement_keeps_the_last_core_for_the_server)
{
    struct fulcrum_cpu_list all = allowed();
    struct fulcrum_placement placement = {.is_apart = 0};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    struct fulcrum_cpu_list last = one_core(&all, all.count - 1);
    assert_same(&placement.server, &last);
    size_t cores = count_cores(&all);
    CU_ASSERT_EQUAL(placement.is_apart, cores > 1);
    CU_ASSERT_EQUAL(placement.actor_core_count, cores > 1 ? cores - 1 : 1);
    size_t shared = 0;
    for (size_t i = 0; i < placement.actors.count; i++) {
        shared += (size_t)holds(&last, placement.actors.cpu[i]);
    }
    CU_ASSERT_EQUAL(shared, cores > 1 ? 0 : last.count);
    CU_ASSERT_EQUAL(
        placement.actors.count, cores > 1 ? all.count - last.count : last.count);
}

/* The processors of one core: both sides get it, and the result says so. */
TEST(test_one_core_is_shared)
{
    struct fulcrum_cpu_list all = allowed();
    struct fulcrum_cpu_list core = one_core(&all, 0);
    CU_ASSERT_FATAL(fulcrum_cpu_list_bind(&core));
    struct fulcrum_placement placement = {.is_apart = 1};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    assert_same(&placement.actors, &core);
    assert_same(&placement.server, &core);
    CU_ASSERT_FALSE(placement.is_apart);
    CU_ASSERT_EQUAL(placement.actor_core_count, 1);
    CU_ASSERT(fulcrum_cpu_list_bind(&all));
}

TEST(test_what_one_side_takes_the_other_does_not_get)
{
    struct fulcrum_cpu_list all = allowed();
    if (count_cores(&all) < 2) {
        return; /* test_one_core_is_shared has the rest */
    }
    struct fulcrum_cpu_list first = one_core(&all, 0);
    struct fulcrum_placement placement = {.actors = {.count = 0}, .server = first};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    CU_ASSERT(placement.is_apart);
    CU_ASSERT_EQUAL(placement.actors.count, all.count - first.count);
    CU_ASSERT_FALSE(holds(&placement.actors, first.cpu[0]));
    placement = (struct fulcrum_placement){.actors = first};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    CU_ASSERT(placement.is_apart);
    CU_ASSERT_FALSE(holds(&placement.server, first.cpu[0]));
}

TEST(test_lists_that_overlap_are_taken_and_told)
{
    struct fulcrum_cpu_list all = allowed();
    struct fulcrum_placement placement = {.actors = all, .server = one_core(&all, 0)};
    ASSERT_OK(fulcrum_placement_complete(&placement, NULL));
    CU_ASSERT_FALSE(placement.is_apart);
    CU_ASSERT_EQUAL(placement.actor_core_count, count_cores(&all));
}

TEST(test_a_side_without_a_core_is_refused)
{
    struct fulcrum_cpu_list all = allowed();
    struct fulcrum_placement placement = {.actors = all};
    ASSERT_FAILS(fulcrum_placement_complete(&placement, &err), FULCRUM_ERR_INFEASIBLE,
        "no core is left for the server");
    if (count_cores(&all) > 1) {
        placement = (struct fulcrum_placement){.server = all};
        ASSERT_FAILS(fulcrum_placement_complete(&placement, &err),
            FULCRUM_ERR_INFEASIBLE, "no core is left for the actors");
    }
}

TEST(test_a_thread_runs_where_it_is_bound)
{
    struct fulcrum_cpu_list all = allowed();
    for (size_t i = 0; i < all.count; i++) {
        struct fulcrum_cpu_list one = {.count = 1, .cpu = {all.cpu[i]}};
        CU_ASSERT(fulcrum_cpu_list_bind(&one));
        CU_ASSERT_EQUAL(sched_getcpu(), (int)all.cpu[i]);
        struct fulcrum_cpu_list now = allowed();
        assert_same(&now, &one);
    }
    CU_ASSERT(fulcrum_cpu_list_bind(&all));
    struct fulcrum_cpu_list again = allowed();
    assert_same(&again, &all);
    struct fulcrum_cpu_list none = {.count = 0};
    CU_ASSERT_FALSE(fulcrum_cpu_list_bind(&none));
}

/* A core is named by the least of its processors; nobody lies on one above himself. */
TEST(test_cores_are_named_by_their_first_processor)
{
    unsigned short cores[FULCRUM_PLACEMENT_CPU_MOST];
    fulcrum_host_find_cores(cores, FULCRUM_PLACEMENT_CPU_MOST);
    struct fulcrum_cpu_list all = allowed();
    for (size_t i = 0; i < all.count; i++) {
        unsigned cpu = all.cpu[i];
        CU_ASSERT(cores[cpu] <= cpu);
        CU_ASSERT_EQUAL(cores[cores[cpu]], cores[cpu]);
    }
    CU_ASSERT_EQUAL(cores[FULCRUM_PLACEMENT_CPU_MOST - 1],
        FULCRUM_PLACEMENT_CPU_MOST - 1); /* none here: a core of its own */
}
