/* test_plot_partition.c - what `fulcrum partition` wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

#define HEAD                                                                           \
    "placement,layout,steps_per_s,speedup,speedup_lo,speedup_hi,stages,"               \
    "part_instances,sm_frac,busy_frac\n"

/* Reads rows as the plot command does; the status is the data's. */
static enum fulcrum_status read_text(
    const char *text, struct fulcrum_partition_data *out, struct fulcrum_error *err)
{
    struct plot_file file;
    plot_file_open(&file, "p.csv", text, "parts");
    CU_ASSERT_EQUAL(file.source.content, FULCRUM_PLOT_PLACEMENTS);
    enum fulcrum_status status =
        fulcrum_plot_partition_data(file.rows, plot_file_room(), out, err);
    plot_file_close(&file);
    return status;
}

static void test_parts_are_gathered_by_placement(void)
{
    struct fulcrum_partition_data data;
    CU_ASSERT_EQUAL_FATAL(
        read_text(HEAD "exclusive,,100,1,1,1,simulation + agent,1,1,1\n"
                       "time-sliced x 2,,130,1.3,1.1,1.5,simulation + agent,2,1,0.6\n"
                       "\"slices, best\",4g + 3g,90,0.9,,,simulation,1,0.5,1\n"
                       "\"slices, best\",4g + 3g,90,0.9,,,agent,1,0.4,0.2\n"
                       "\"slices, as asked\",1g,,,,,,,,\n",
            &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(data.count, 4);
    CU_ASSERT_EQUAL(data.bars[1].takes_turns, 1);
    CU_ASSERT_EQUAL(data.bars[2].takes_turns, 0);
    CU_ASSERT_STRING_EQUAL(data.bars[2].name, "slices, best: 4g + 3g");
    CU_ASSERT_EQUAL(data.bars[2].part_count, 2);
    CU_ASSERT_EQUAL(data.bars[2].parts[1].kind, 2);
    suite_assert_close("share", data.bars[2].parts[1].sm_frac, 0.4, 0.0);
    suite_assert_close("hi", data.bars[1].speedup_hi, 1.5, 0.0);
    CU_ASSERT(isnan(data.bars[2].speedup_lo));
    CU_ASSERT(isnan(data.bars[3].steps_per_s));
    CU_ASSERT_EQUAL(data.bars[3].part_count, 0);
    CU_ASSERT_STRING_EQUAL(data.kinds[0], "simulation + agent");
    CU_ASSERT_PTR_NULL(data.kinds[3]);
    fulcrum_plot_room_clear(plot_file_room());
}

/* Bars are counted: as many as no GPU holds, none or half a one cannot be drawn. */
static void test_processes_that_cannot_be_counted_are_refused(void)
{
    static const char *const rows[] = {HEAD "e,,100,1,1,1,all,1e308,1,1\n",
        HEAD "e,,100,1,1,1,all,0,1,1\n", HEAD "e,,100,1,1,1,all,-1,1,1\n",
        HEAD "e,,100,1,1,1,all,1.5,1,1\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fulcrum_partition_data data;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(read_text(rows[i], &data, &err), FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "e: part_instances = "));
    }
}

static void test_what_is_no_number_is_named(void)
{
    struct fulcrum_partition_data data;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(read_text(HEAD "exclusive,,100,1,1,1,all,one,1,1\n", &data, &err),
        FULCRUM_ERR_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "one"));
}

static void test_too_many_kinds_are_refused(void)
{
    struct fulcrum_partition_data data;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    char text[2000] = HEAD;
    for (int i = 0; i < 9; i++) {
        size_t used = strlen(text);
        (void)snprintf(
            text + used, sizeof text - used, "shares,,100,1,1,1,stage %d,1,0.1,1\n", i);
    }
    CU_ASSERT_EQUAL(read_text(text, &data, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "kinds of processes"));
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_parts_are_gathered_by_placement),
        SUITE_CASE(test_processes_that_cannot_be_counted_are_refused),
        SUITE_CASE(test_what_is_no_number_is_named),
        SUITE_CASE(test_too_many_kinds_are_refused),
    };
    return suite_run(
        "plot_partition", cases, sizeof cases / sizeof cases[0], argc, argv);
}
