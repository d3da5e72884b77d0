/* test_plot_partition.c - what `fulcrum partition` wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

#define HEAD                                                                           \
    "placement,layout,steps_per_s,speedup,speedup_lo,speedup_hi,stages,"               \
    "part_instances,sm_frac,busy_frac\n"

/* The first panel has a row for each placement, and the second its gain. */
TEST(test_parts_are_gathered_by_placement)
{
    static const struct drawing drawing = {"p.csv",
        HEAD "exclusive,,100,1,1,1,simulation + agent,1,1,1\n"
             "time-sliced x 2,,130,1.3,1.1,1.5,simulation + agent,2,1,0.6\n"
             "\"slices, best\",4g + 3g,90,0.9,,,simulation,1,0.5,1\n"
             "\"slices, best\",4g + 3g,90,0.9,,,agent,1,0.4,0.2\n"
             "\"slices, as asked\",1g,,,,,,,,\n",
        {{"exclusive", 2}, {"time-sliced x 2", 2}, {"slices, best: 4g + 3g", 2},
            {"slices, as asked: 1g", 2}, {"cannot run", 2}, {"100 %", 1}, {"60 %", 0},
            {"50 %", 1}, {"40 %", 1}, {"simulation + agent", 1}, {"130 steps/s", 1},
            {"1.30 (1.10 to 1.50)", 1}, {"0.90", 1}, {"(", 2},
            {"interval of the gain", 1}, {"w on parts of one", 0},
            {"Training on parts of a GPU", 1}}};
    const struct fulcrum_plot_job options = {.width_pt = 640.0, .height_pt = 560.0};
    assert_drawing("partition", &drawing, &options);
}

/* Rows of one placement with stages of so many kinds. */
static const char *many(char *out, size_t size, int rows, int kinds)
{
    (void)snprintf(out, size, "%s", HEAD);
    for (int i = 0; i < rows; i++) {
        size_t used = strlen(out);
        (void)snprintf(
            out + used, size - used, "odd,,100,1,1,1,stage %d,1,0.05,1\n", i % kinds);
    }
    return out;
}

/* What a chart cannot show is refused by name. Bars are counted: as many as no GPU
 * holds, none or half a one cannot be drawn. */
TEST(test_odd_parts_are_refused)
{
    char parts[2000];
    char kinds[2000];
    const struct refusal cases[] = {
        {HEAD "e,,100,1,1,1,all,1e308,1,1\n", FULCRUM_ERR_RANGE,
            "e: part_instances = "},
        {HEAD "e,,100,1,1,1,all,0,1,1\n", FULCRUM_ERR_RANGE, "e: part_instances = "},
        {HEAD "e,,100,1,1,1,all,1.5,1,1\n", FULCRUM_ERR_RANGE, "e: part_instances = "},
        {HEAD "e,,100,1,1,1,all,-1,1,1\n", FULCRUM_ERR_RANGE,
            "row 1: part_instances is -1"},
        {HEAD "exclusive,,100,1,1,1,all,one,1,1\n", FULCRUM_ERR_FORMAT,
            "part_instances = 'one'"},
        {HEAD "odd,,100,1,1,1,all,1,1.5,1\n", FULCRUM_ERR_RANGE, "odd: sm_frac of all"},
        {HEAD "odd,,100,1,1,1,all,1,0.5,1.5\n", FULCRUM_ERR_RANGE,
            "odd: busy_frac of all"},
        {HEAD "odd,,100,,1,1,all,1,0.5,1\n", FULCRUM_ERR_RANGE, "odd: speedup is not"},
        {many(parts, sizeof parts, 17, 1), FULCRUM_ERR_RANGE,
            "odd: more than 16 parts"},
        {many(kinds, sizeof kinds, 9, 9), FULCRUM_ERR_RANGE,
            "more than 8 different stages"},
    };
    assert_refusals("partition", "p.csv", cases, LENGTH(cases));
}
