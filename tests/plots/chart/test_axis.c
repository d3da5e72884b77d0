/* test_axis.c - ticks are round, few, in order and told apart; positions are exact. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/panel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static struct fulcrum_limits span_between(double lo, double hi)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add(&span, lo);
    fulcrum_limits_add(&span, hi);
    return span;
}

static struct fulcrum_axis fitted(
    double lo, double hi, enum fulcrum_axis_kind kind, double ticks_wanted)
{
    struct fulcrum_axis axis = {.from = 0.0, .to = 100.0};
    struct fulcrum_limits span = span_between(lo, hi);
    const struct fulcrum_axis_options options = {
        .kind = kind, .ticks_wanted = ticks_wanted};
    fulcrum_axis_fit(&axis, &span, &options);
    return axis;
}

static int repeats(const struct fulcrum_axis *axis, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(axis->ticks[i].label, axis->ticks[j].label) == 0) {
            return 1;
        }
    }
    return 0;
}

static void check_tick(const struct fulcrum_axis *axis, size_t i)
{
    const struct fulcrum_tick *tick = &axis->ticks[i];
    int inside = tick->value >= axis->lo && tick->value <= axis->hi;
    int beyond_last = i == 0 || tick->value > axis->ticks[i - 1].value;
    int told_apart = tick->label[0] == '\0' || !repeats(axis, i);
    CU_ASSERT_TRUE(inside);
    CU_ASSERT_TRUE(beyond_last);
    CU_ASSERT_TRUE(told_apart);
    CU_ASSERT_STRING_NOT_EQUAL(tick->label, "-0");
}

static void check_axis(const struct fulcrum_axis *axis, double wanted)
{
    size_t labelled = 0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        check_tick(axis, i);
        labelled += axis->ticks[i].label[0] != '\0' ? 1U : 0U;
    }
    CU_ASSERT(axis->lo < axis->hi);
    CU_ASSERT(axis->tick_count <= FULCRUM_TICKS_MAX);
    CU_ASSERT(labelled >= 2);
    /* Logarithmic axes may add 2 and 5 between powers. */
    CU_ASSERT((double)labelled <= 2.0 * fmax(wanted, 2.0) + 3.0);
}

static void check_every_kind(double lo, double hi)
{
    static const enum fulcrum_axis_kind kinds[] = {
        FULCRUM_AXIS_LINEAR, FULCRUM_AXIS_LOG, FULCRUM_AXIS_LOG2, FULCRUM_AXIS_AUTO};
    const size_t wanted_count = 14;
    for (size_t i = 0; i < 4 * wanted_count; i++) {
        double wanted = 1.0 + (double)(i % wanted_count);
        struct fulcrum_axis axis = fitted(lo, hi, kinds[i / wanted_count], wanted);
        check_axis(&axis, wanted);
    }
}

TEST(test_ticks_are_ordered_inside_and_distinct)
{
    static const double ends[][2] = {{0, 1}, {0, 17200}, {1, 1e9}, {1e-4, 1e5},
        {0.03, 24}, {1, 512}, {3, 3}, {0, 0}, {-5, 3}, {1e6, 1e6 + 1}, {1e12, 1e12 + 1},
        {5, 7}, {0.25, 0.3}, {999, 1001}, {1, 1.6}, {1e-9, 2e-9}, {1e-300, 1e300},
        {1e-320, 1e308}, {-1e308, 1e308}, {0, 1e-320}};
    for (size_t i = 0; i < LENGTH(ends); i++) {
        check_every_kind(ends[i][0], ends[i][1]);
    }
}

TEST(test_room_around_the_values_does_not_overflow)
{
    struct fulcrum_limits span = span_between(1e-299, 1e308);
    for (int kind = FULCRUM_AXIS_LINEAR; kind <= FULCRUM_AXIS_AUTO; kind++) {
        struct fulcrum_axis axis = {.from = 0.0, .to = 100.0};
        const struct fulcrum_axis_options options = {
            .kind = (enum fulcrum_axis_kind)kind, .ticks_wanted = 5, .pad_frac = 0.1};
        fulcrum_axis_fit(&axis, &span, &options);
        CU_ASSERT(isfinite(axis.hi) && axis.hi > 1.0);
        CU_ASSERT(kind == FULCRUM_AXIS_LINEAR || axis.lo < 1e-290);
        CU_ASSERT(axis.tick_count >= 2);
    }
}

TEST(test_linear_ticks_are_the_expected_ones)
{
    struct fulcrum_axis axis = fitted(0.0, 10000.0, FULCRUM_AXIS_LINEAR, 6.0);
    static const char *const labels[] = {"0", "2k", "4k", "6k", "8k", "10k"};
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 6);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_STRING_EQUAL(axis.ticks[i].label, labels[i]);
        assert_close("tick", axis.ticks[i].value, 2000.0 * (double)i, 1e-12);
    }
}

TEST(test_log_ticks_label_powers_and_mark_the_rest)
{
    struct fulcrum_axis axis = fitted(1.0, 1e4, FULCRUM_AXIS_LOG, 5.0);
    size_t labelled = 0;
    for (size_t i = 0; i < axis.tick_count; i++) {
        double power = log10(axis.ticks[i].value);
        bool is_power = fabs(power - round(power)) < 1e-12;
        CU_ASSERT_EQUAL(axis.ticks[i].label[0] != '\0', is_power);
        labelled += is_power ? 1U : 0U;
    }
    CU_ASSERT_EQUAL(labelled, 5);
    CU_ASSERT_EQUAL(axis.tick_count, 4 * 9 + 1);
    axis = fitted(1.0, 1024.0, FULCRUM_AXIS_LOG2, 11.0);
    CU_ASSERT_EQUAL(axis.tick_count, 11);
    CU_ASSERT_STRING_EQUAL(axis.ticks[10].label, "1024");
}

TEST(test_auto_turns_logarithmic_beyond_three_decades)
{
    CU_ASSERT_EQUAL(
        fitted(1.0, 900.0, FULCRUM_AXIS_AUTO, 5.0).kind, FULCRUM_AXIS_LINEAR);
    CU_ASSERT_EQUAL(fitted(1.0, 1100.0, FULCRUM_AXIS_AUTO, 5.0).kind, FULCRUM_AXIS_LOG);
    CU_ASSERT_EQUAL(fitted(0.0, 1e9, FULCRUM_AXIS_AUTO, 5.0).kind, FULCRUM_AXIS_LINEAR);
}

TEST(test_positions_follow_the_scale)
{
    struct fulcrum_axis axis = fitted(0.0, 8.0, FULCRUM_AXIS_LINEAR, 5.0);
    assert_close("linear", fulcrum_axis_at(&axis, 2.0), 25.0, 1e-12);
    assert_close("beyond", fulcrum_axis_at(&axis, 99.0), 100.0, 1e-12);
    axis = fitted(1.0, 16.0, FULCRUM_AXIS_LOG2, 5.0);
    assert_close("logarithmic", fulcrum_axis_at(&axis, 2.0), 25.0, 1e-12);
    CU_ASSERT_FALSE(fulcrum_axis_shows(axis.kind, 0.0));
    CU_ASSERT_FALSE(fulcrum_axis_shows(axis.kind, (double)NAN));
    CU_ASSERT_TRUE(fulcrum_axis_shows(axis.kind, 1e9));
}

TEST(test_spans_leave_out_what_is_not_finite)
{
    struct fulcrum_limits span = span_between((double)NAN, INFINITY);
    CU_ASSERT(span.lo > span.hi);
    fulcrum_limits_add(&span, -1.0);
    CU_ASSERT(span.lo <= span.hi);
    CU_ASSERT(isinf(span.lo_positive));
    fulcrum_limits_add(&span, 4.0);
    assert_close("positive", span.lo_positive, 4.0, 0.0);
}

TEST(test_si_text_is_short_and_exact)
{
    static const struct {
        double value;
        int digits;
        const char *unit;
        const char *text;
    } rows[] = {{0.0, 3, NULL, "0"}, {17234.0, 3, NULL, "17.2k"},
        {2.5e6, 3, NULL, "2.5M"}, {999.9, 3, NULL, "1k"}, {0.0625, 3, NULL, "0.0625"},
        {2e-5, 3, NULL, "2e-5"}, {5e-5, 3, "s", "50 µs"}, {0.123, 2, "s", "120 ms"},
        {-1500.0, 3, NULL, "-1.5k"}, {(double)NAN, 3, NULL, "unknown"},
        {1e9, 3, NULL, "1G"}, {12.0, 3, "W", "12 W"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct fulcrum_number_text text =
            fulcrum_si_text(rows[i].value, rows[i].digits, rows[i].unit);
        CU_ASSERT_STRING_EQUAL(text.chars, rows[i].text);
        if (strcmp(text.chars, rows[i].text) != 0) {
            (void)fprintf(
                stderr, "\n  '%s' should be '%s'\n", text.chars, rows[i].text);
        }
    }
}

TEST(test_best_tells_peak_plateau_end_and_flat_apart)
{
    static const double x[] = {1, 2, 4, 8, 16};
    static const struct {
        double y[5];
        enum fulcrum_goal goal;
        enum fulcrum_best_shape shape;
        double marked_x;
        const char *sentence;
    } rows[] = {
        {{1, 5, 9, 5, 1}, FULCRUM_GOAL_MOST, FULCRUM_BEST_PEAK, 4, "best 9 at 4 x"},
        {{9, 5, 3, 5, 9}, FULCRUM_GOAL_LEAST, FULCRUM_BEST_PEAK, 4, "best 3 at 4 x"},
        {{10, 500, 995, 996, 1000}, FULCRUM_GOAL_MOST, FULCRUM_BEST_PLATEAU, 4,
            "within 1 % of the best (1k) at 4 x already"},
        {{10, 500, 985, 989, 1000}, FULCRUM_GOAL_MOST, FULCRUM_BEST_AT_END, 16,
            "still improving where the chart ends: 1k at 16 x"},
        {{1, 2, 3, 4, 5}, FULCRUM_GOAL_MOST, FULCRUM_BEST_AT_END, 16,
            "still improving where the chart ends: 5 at 16 x"},
        {{5, 4, 3, 2, 1}, FULCRUM_GOAL_MOST, FULCRUM_BEST_AT_START, 1,
            "best where the chart begins: 5 at 1 x"},
        {{7, 7, 7, 7, 7}, FULCRUM_GOAL_MOST, FULCRUM_BEST_FLAT, 1,
            "within 1 % of 7 everywhere"},
        {{NAN, NAN, 3, NAN, NAN}, FULCRUM_GOAL_LEAST, FULCRUM_BEST_ALONE, 4,
            "3 at 4 x, the only point"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_panel_point points[5];
        for (size_t k = 0; k < 5; k++) {
            points[k] = (struct fulcrum_panel_point){.x = x[k], .y = rows[i].y[k]};
        }
        struct fulcrum_best best = fulcrum_best_find(points, 5, rows[i].goal);
        char sentence[128];
        fulcrum_best_sentence(sentence, sizeof sentence, &best, "x");
        CU_ASSERT_EQUAL(best.shape, rows[i].shape);
        CU_ASSERT_STRING_EQUAL(sentence, rows[i].sentence);
        assert_close("marked", best.x, rows[i].marked_x, 0.0);
    }
    const struct fulcrum_panel_point none = {.x = 1.0, .y = (double)NAN};
    CU_ASSERT_EQUAL(
        fulcrum_best_find(&none, 1, FULCRUM_GOAL_MOST).shape, FULCRUM_BEST_NONE);
}
