/* test_inline_svg.c - pages as elements of a document, captions, dark shades. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/spec/charts.h"
#include "tests/support/colour.h"
#include "tests/support/markup.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

static const struct fulcrum_extent page = {300.0, 340.0};

/* The caller frees it. */
static char *svg_of(const struct fulcrum_canvas *canvas, const char *label)
{
    FILE *out = stream_new();
    ASSERT_OK(fulcrum_canvas_write_svg(canvas, label, out, NULL));
    return stream_text(out);
}

TEST(test_lines_and_areas_have_their_coordinates)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_spot spots[] = {
        {0.04, -0.04}, {10.0, 20.25}, {-30.06, 299.96}};
    const struct fulcrum_pen line = {
        .rgb = 0x0072B2, .width_pt = 1.5, .dash = FULCRUM_DASH_LONG};
    const struct fulcrum_pen area = {.rgb = 0xFFFFFF, .opacity = 0.2};
    fulcrum_canvas_stroke(canvas, &line, spots, 3);
    fulcrum_canvas_fill(canvas, &area, spots, 3);
    char *svg = svg_of(canvas, "a \"label\" <&>");
    assert_part(svg, "<svg class=\"chart\" viewBox=\"0 0 300 340\" role=\"img\" "
                     "aria-label=\"a &quot;label&quot; &lt;&amp;&gt;\">");
    assert_part(svg, "<polyline fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.5\" "
                     "stroke-dasharray=\"7 3\" points=\"0,0 10,20.3 -30.1,300\"/>");
    assert_part(svg,
        "<polygon fill=\"#ffffff\" fill-opacity=\"0.2\" points=\"0,0 10,20.3 "
        "-30.1,300\"/>");
    CU_ASSERT_PTR_NULL(strstr(svg, "<?xml"));
    CU_ASSERT_PTR_NULL(strstr(svg, " id="));
    free(svg);
    fulcrum_canvas_free(canvas);
}

/* Of one colour in one element, however many there are. */
TEST(test_rectangles_share_a_path)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_rect rects[] = {
        {1.0, 2.0, 4.5, 3.0}, {10.0, 20.0, 12.0, 24.0}};
    const struct fulcrum_pen pen = {.rgb = 0x440154};
    fulcrum_canvas_fill_rects(canvas, &pen, rects, 2);
    fulcrum_canvas_fill_rects(canvas, &pen, rects, 0);
    char *svg = svg_of(canvas, "rectangles");
    assert_part(svg, "<path fill=\"#440154\" d=\"M1 2h3.5v1h-3.5zM10 20h2v4h-2z\"/>");
    CU_ASSERT_EQUAL(markup_count(svg, "<path"), 1);
    free(svg);
    fulcrum_canvas_free(canvas);
}

TEST(test_texts_stay_texts)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    struct fulcrum_text style = {.size_pt = 8.0, .rgb = 0x1A1A1A};
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){10.0, 10.0}, "a < b & c");
    style.anchor_x = 1.0;
    style.weight = FULCRUM_TEXT_BOLD;
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){200.0, 10.0}, "right");
    style.anchor_x = 0.5;
    style.is_upright = true;
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){20.0, 100.0}, "turned");
    char *svg = svg_of(canvas, "texts");
    assert_part(svg, ">a &lt; b &amp; c</text>");
    assert_part(svg, "<text x=\"200\"");
    CU_ASSERT_EQUAL(markup_count(svg, "text-anchor=\"end\""), 1);
    CU_ASSERT_EQUAL(markup_count(svg, "text-anchor=\"middle\""), 1);
    CU_ASSERT_EQUAL(markup_count(svg, "font-weight=\"bold\""), 2);
    assert_part(svg, "transform=\"translate(20 100) rotate(-90)\"");
    CU_ASSERT_EQUAL(markup_count(svg, "fill=\"#1a1a1a\""), 3);
    free(svg);
    fulcrum_canvas_free(canvas);
}

/* Where y="..." of the i-th text stands. */
static double baseline(const char *svg, size_t i)
{
    const char *at = svg;
    for (size_t k = 0; k <= i && at != NULL; k++) {
        at = strstr(at + 1, "<text");
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    const char *y = at != NULL ? strstr(at, " y=\"") : NULL;
    return y != NULL ? strtod(y + 4, NULL) : (double)NAN;
}

TEST(test_long_texts_break_into_lines_and_end_in_an_ellipsis)
{
    static const char words[] =
        "one two three four five six seven eight nine ten eleven "
        "twelve thirteen fourteen fifteen sixteen seventeen";
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_text style = {
        .size_pt = 8.0, .width_max_pt = 100.0, .lines_max = 3};
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){0.0, 50.0}, words);
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, &style, words);
    char *svg = svg_of(canvas, "lines");
    CU_ASSERT_EQUAL_FATAL(markup_count(svg, "<text"), 3);
    CU_ASSERT_EQUAL(markup_count(svg, "\xE2\x80\xA6</text>"), 1);
    assert_part(svg, ">one two");
    CU_ASSERT_PTR_NULL(strstr(svg, "seventeen"));
    double step = baseline(svg, 1) - baseline(svg, 0);
    assert_close("line", baseline(svg, 2) - baseline(svg, 1), step, 0.05);
    assert_close("height", 3.0 * step, extent.height_pt, 0.05);
    CU_ASSERT(baseline(svg, 0) > 50.0 && baseline(svg, 0) < 50.0 + step);
    free(svg);
    fulcrum_canvas_free(canvas);
}

TEST(test_paragraphs_keep_their_lines)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_text style = {
        .size_pt = 8.0, .anchor_x = 1.0, .anchor_y = 1.0};
    fulcrum_canvas_text(
        canvas, &style, (struct fulcrum_spot){100.0, 100.0}, "first\nsecond");
    char *svg = svg_of(canvas, "paragraphs");
    assert_part(svg, ">first</text>");
    assert_part(svg, ">second</text>");
    CU_ASSERT(baseline(svg, 1) > baseline(svg, 0) && baseline(svg, 1) < 100.0);
    free(svg);
    fulcrum_canvas_free(canvas);
}

static enum fulcrum_status draw(struct fulcrum_canvas *canvas)
{
    static const double x[] = {0.1, 0.5, 2.0};
    static const double y[] = {100.0, 400.0, 500.0};
    static const double lo[] = {50.0, 300.0, 400.0};
    static const double hi[] = {200.0, 500.0, 700.0};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-explore");
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < 3; i++) {
        fulcrum_table_row(table);
        fulcrum_table_number(table, "cpu_gpu_ratio_used", NULL, x[i]);
        fulcrum_table_estimate(table, "steps_per_s", NULL, y[i], lo[i], hi[i]);
    }
    const struct fulcrum_line_chart_data data = {
        .text = {"The title", "the subtitle", "the footnote"},
        .chart = &fulcrum_chart_ratio,
        .result = result};
    enum fulcrum_status status =
        fulcrum_chart_draw(&fulcrum_chart_ratio, canvas, &data, NULL);
    fulcrum_result_free(result);
    return status;
}

TEST(test_captions_are_kept_instead_of_drawn)
{
    struct fulcrum_canvas *drawn = new_canvas(page);
    struct fulcrum_canvas *bare = new_canvas(page);
    const struct fulcrum_captions *captions = fulcrum_canvas_captions(bare);
    fulcrum_canvas_captions(bare)->are_kept = true;
    ASSERT_OK(draw(drawn));
    ASSERT_OK(draw(bare));
    char *with = svg_of(drawn, "with");
    char *without = svg_of(bare, "without");
    CU_ASSERT_EQUAL(
        markup_count(with, "The title") + markup_count(with, "the footnote"), 2);
    CU_ASSERT_EQUAL(
        markup_count(without, "The title") + markup_count(without, "the footnote"), 0);
    CU_ASSERT_STRING_EQUAL(captions->title, "The title");
    CU_ASSERT_STRING_EQUAL(captions->subtitle, "the subtitle");
    CU_ASSERT_STRING_EQUAL(captions->footnote, "the footnote");
    free(with);
    free(without);
    fulcrum_canvas_free(drawn);
    fulcrum_canvas_free(bare);
}

TEST(test_an_empty_caption_is_none)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    fulcrum_canvas_captions(canvas)->are_kept = true;
    fulcrum_page_draw(canvas, &(struct fulcrum_page){.title = ""});
    CU_ASSERT_PTR_NULL(fulcrum_canvas_captions(canvas)->title);
    CU_ASSERT_PTR_NULL(fulcrum_canvas_captions(canvas)->footnote);
    fulcrum_canvas_free(canvas);
}

TEST(test_the_same_page_gives_the_same_bytes)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(draw(canvas));
    char *first = svg_of(canvas, "x");
    char *second = svg_of(canvas, "x");
    CU_ASSERT_STRING_EQUAL(first, second);
    CU_ASSERT_PTR_NULL(strstr(first, "nan"));
    free(first);
    free(second);
    fulcrum_canvas_free(canvas);
}

TEST(test_a_page_short_of_memory_is_not_written)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    (void)fulcrum_fail(
        fulcrum_canvas_failure(canvas), FULCRUM_ERR_NO_MEMORY, "no memory");
    CU_ASSERT_EQUAL(
        fulcrum_canvas_write_svg(canvas, "x", stdout, NULL), FULCRUM_ERR_NO_MEMORY);
    fulcrum_canvas_free(canvas);
}

/* The product of a matrix and a colour, each part in [0, 1]. */
static void seen(const double matrix[3][3], const double light[3], double out[3])
{
    for (size_t i = 0; i < 3; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < 3; k++) {
            sum += matrix[i][k] * light[k];
        }
        out[i] = fmin(fmax(sum, 0.0), 1.0);
    }
}

/* CIE 1976 L*a*b* under D65, of what an eye with that matrix sees of a colour. */
static void lab_of(unsigned rgb, const double matrix[3][3], double out[3])
{
    /* Of sRGB to CIE XYZ, over the white point. */
    static const double to_xyz[3][3] = {
        {0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047},
        {0.2126729, 0.7151522, 0.0721750},
        {0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883}};
    const double knee = 6.0 / 29.0;
    double light[3];
    double simulated[3];
    double xyz[3];
    light_of(rgb, light);
    seen(matrix, light, simulated);
    seen(to_xyz, simulated, xyz);
    for (size_t i = 0; i < 3; i++) {
        xyz[i] = xyz[i] > knee * knee * knee
                     ? cbrt(xyz[i])
                     : xyz[i] / (3.0 * knee * knee) + 4.0 / 29.0;
    }
    out[0] = 116.0 * xyz[1] - 16.0;
    out[1] = 500.0 * (xyz[0] - xyz[1]);
    out[2] = 200.0 * (xyz[1] - xyz[2]);
}

static unsigned shade_of(unsigned rgb)
{
    size_t shade_count = 0;
    const struct fulcrum_shade *shades = fulcrum_palette_shades(&shade_count);
    for (size_t i = 0; i < shade_count; i++) {
        if (shades[i].rgb == rgb) {
            return shades[i].dark_rgb;
        }
    }
    CU_ASSERT(!"a colour without a dark shade");
    return rgb;
}

/* 4.5 is what WCAG asks of text, 3 of graphics. */
TEST(test_dark_shades_can_be_read)
{
    unsigned paper = shade_of(FULCRUM_GROUND_PAPER);
    CU_ASSERT(contrast(shade_of(FULCRUM_TONE_INK), paper) > 12.0);
    CU_ASSERT(contrast(shade_of(FULCRUM_TONE_SOFT), paper) > 7.0);
    CU_ASSERT(contrast(shade_of(FULCRUM_TONE_MUTED), paper) > 4.5);
    CU_ASSERT(contrast(shade_of(FULCRUM_TONE_GRID), paper) < 2.0);
    (void)shade_of(FULCRUM_GROUND_EMPTY);
}

TEST(test_dark_styles_can_be_read)
{
    enum { STYLES = 9 };
    unsigned paper = shade_of(FULCRUM_GROUND_PAPER);
    for (size_t i = 0; i < STYLES; i++) {
        CU_ASSERT(contrast(shade_of(fulcrum_palette_pen(i).rgb), paper) > 4.5);
    }
}

/* Machado, Oliveira and Fernandes 2009, severity 1. A difference of 2.3 is just seen;
 * Okabe and Ito's own colours are 17.9 apart at least. */
TEST(test_styles_are_told_apart_without_red_or_green_cones)
{
    enum { STYLES = 9, EYES = 3 };
    static const double eyes[EYES][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
            {-0.003882, -0.048116, 1.051998}},
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
            {-0.011820, 0.042940, 0.968881}}};
    const double least = 17.0;
    for (size_t k = 0; k < 2 * (size_t)EYES; k++) {
        double labs[STYLES + 1][3];
        unsigned paper = FULCRUM_GROUND_PAPER;
        for (size_t i = 0; i <= STYLES; i++) {
            unsigned rgb = i < STYLES ? fulcrum_palette_pen(i).rgb : paper;
            lab_of(k < EYES ? rgb : shade_of(rgb), eyes[k % EYES], labs[i]);
        }
        for (size_t n = 0; n < (STYLES + 1) * (size_t)STYLES; n++) {
            size_t i = n / STYLES;
            size_t j = n % STYLES;
            double apart = sqrt(pow(labs[i][0] - labs[j][0], 2.0) +
                                pow(labs[i][1] - labs[j][1], 2.0) +
                                pow(labs[i][2] - labs[j][2], 2.0));
            CU_ASSERT(i == j || apart >= least);
        }
    }
}

/* Labels inside bars, on paper and on a dark screen. */
TEST(test_texts_on_colours_can_be_read)
{
    for (size_t i = 0; i < 9; i++) {
        unsigned rgb = fulcrum_palette_pen(i).rgb;
        unsigned ink = fulcrum_palette_ink_on(rgb);
        unsigned dark_ink = ink == FULCRUM_GROUND_PAPER ? shade_of(ink) : ink;
        CU_ASSERT(contrast(ink, rgb) >= 3.0);
        CU_ASSERT(contrast(dark_ink, shade_of(rgb)) >= 4.5);
    }
    CU_ASSERT_EQUAL(fulcrum_palette_ink_on(0x000000), FULCRUM_GROUND_PAPER);
    CU_ASSERT_NOT_EQUAL(fulcrum_palette_ink_on(0xFFFFFF), FULCRUM_GROUND_PAPER);
}
