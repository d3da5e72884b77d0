/* palette.c - colours, dashes, markers and text sizes that all charts share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "plots/chart/canvas.h"

struct line_style {
    unsigned rgb;
    enum fulcrum_dash dash;
    enum fulcrum_marker_shape shape;
};

static const struct line_style line_styles[] = {
    {0x0072B2, FULCRUM_DASH_SOLID, FULCRUM_MARKER_CIRCLE},   /* blue */
    {0xD55E00, FULCRUM_DASH_LONG, FULCRUM_MARKER_SQUARE},    /* vermillion */
    {0x009E73, FULCRUM_DASH_SHORT, FULCRUM_MARKER_TRIANGLE}, /* bluish green */
    {0xCC79A7, FULCRUM_DASH_MIXED, FULCRUM_MARKER_DIAMOND},  /* reddish purple */
    {0xE69F00, FULCRUM_DASH_DOT, FULCRUM_MARKER_WEDGE},      /* orange */
    {0x000000, FULCRUM_DASH_SOLID, FULCRUM_MARKER_STAR},     /* black */
    {0x56B4E9, FULCRUM_DASH_LONG, FULCRUM_MARKER_CIRCLE},    /* sky blue */
    {0x585858, FULCRUM_DASH_SHORT, FULCRUM_MARKER_SQUARE},   /* grey, not of the set */
    {0x5B3A1E, FULCRUM_DASH_MIXED, FULCRUM_MARKER_TRIANGLE}, /* brown, likewise */
};

/* Wraps around: more series than styles are not told apart by more colours either. */
static const struct line_style *style_of(size_t i)
{
    return &line_styles[i % (sizeof line_styles / sizeof line_styles[0])];
}

struct fulcrum_pen fulcrum_palette_pen(size_t i)
{
    const struct line_style *style = style_of(i);
    return (struct fulcrum_pen){.rgb = style->rgb,
        .opacity = 1.0,
        .width_pt = 1.5,
        .dash = style->dash,
        .kind = FULCRUM_BOX_DATA};
}

struct fulcrum_pen fulcrum_palette_rule(unsigned rgb, double width_pt)
{
    return (struct fulcrum_pen){
        .rgb = rgb, .width_pt = width_pt, .kind = FULCRUM_BOX_NONE};
}

struct fulcrum_marker fulcrum_palette_marker(size_t i)
{
    return (struct fulcrum_marker){
        .shape = style_of(i)->shape, .fill = FULCRUM_MARKER_FULL, .size_pt = 4.5};
}

const struct fulcrum_shade *fulcrum_palette_shades(size_t *count)
{
    static const struct fulcrum_shade shades[] = {
        {FULCRUM_GROUND_PAPER, 0x16191D},
        {FULCRUM_GROUND_EMPTY, 0x21262B},
        {FULCRUM_TONE_INK, 0xE9EAEC},
        {FULCRUM_TONE_SOFT, 0xB0B6BD},
        {FULCRUM_TONE_MUTED, 0x8D949C},
        {FULCRUM_TONE_GRID, 0x353B42},
        {0x0072B2, 0x2094E3},
        {0xD55E00, 0xE56313},
        {0x009E73, 0x39C59A},
        {0xCC79A7, 0xEDC0D9},
        {0xE69F00, 0xF2B746},
        {0x000000, 0xFFFFFF},
        {0x56B4E9, 0x58BEF7},
        {0x585858, 0x7E8389},
        {0x5B3A1E, 0xC08D62},
    };
    *count = sizeof shades / sizeof shades[0];
    return shades;
}

/* Red, green or blue at `shift`, between two colours. */
static unsigned mix(unsigned from, unsigned to, double share_frac, unsigned shift)
{
    double a = (double)(from >> shift & 0xFFU);
    double b = (double)(to >> shift & 0xFFU);
    return (unsigned)lround(a + (b - a) * share_frac) << shift;
}

/* On colours that are the same on paper and on a dark screen: no shade replaces them.
 */
static const unsigned light_ink = 0xFDFDFD;
static const unsigned dark_ink = 0x101010;

unsigned fulcrum_palette_heat(double share_frac)
{
    static const unsigned stops[] = {0x440154, 0x481A6C, 0x472F7D, 0x414487, 0x39568C,
        0x31688E, 0x2A788E, 0x23888E, 0x1F988B, 0x22A884, 0x35B779, 0x54C568, 0x7AD151,
        0xA5DB36, 0xD2E21B, 0xFDE725};
    const size_t count = sizeof stops / sizeof stops[0];
    const double last = (double)count - 1.0;
    double at = fmin(fmax(share_frac, 0.0), 1.0) * last;
    size_t i = (size_t)fmin(floor(at), last - 1.0);
    double rest = at - (double)i;
    return mix(stops[i], stops[i + 1], rest, 16) |
           mix(stops[i], stops[i + 1], rest, 8) | mix(stops[i], stops[i + 1], rest, 0);
}

unsigned fulcrum_palette_heat_ink(double share_frac)
{
    /* Where both have a contrast of 4.3 to 1 with the colour. */
    const double even_frac = 0.45;
    return share_frac < even_frac ? light_ink : dark_ink;
}

/* Red, green or blue at `shift`, as a share of its full light: sRGB, IEC 61966-2-1. */
static double light_of(unsigned rgb, unsigned shift)
{
    double share = (double)(rgb >> shift & 0xFFU) / 255.0;
    return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

unsigned fulcrum_palette_ink_on(unsigned rgb)
{
    const double least_contrast = 3.0;
    double luminance = 0.2126 * light_of(rgb, 16) + 0.7152 * light_of(rgb, 8) +
                       0.0722 * light_of(rgb, 0);
    double contrast = 1.05 / (luminance + 0.05);
    return contrast >= least_contrast ? FULCRUM_GROUND_PAPER : dark_ink;
}

struct fulcrum_text fulcrum_palette_text(enum fulcrum_text_role role)
{
    static const struct fulcrum_text texts[] = {
        [FULCRUM_TEXT_TITLE] = {.size_pt = 12.0,
            .rgb = FULCRUM_TONE_INK,
            .weight = FULCRUM_TEXT_BOLD},
        [FULCRUM_TEXT_SUBTITLE] = {.size_pt = 8.5, .rgb = FULCRUM_TONE_SOFT},
        [FULCRUM_TEXT_PANEL_TITLE] = {.size_pt = 8.5,
            .rgb = FULCRUM_TONE_INK,
            .weight = FULCRUM_TEXT_BOLD},
        [FULCRUM_TEXT_FINDING] = {.size_pt = 8.0, .rgb = FULCRUM_TONE_INK},
        [FULCRUM_TEXT_AXIS] = {.size_pt = 8.0, .rgb = FULCRUM_TONE_INK},
        [FULCRUM_TEXT_TICK] = {.size_pt = 7.5, .rgb = FULCRUM_TONE_SOFT},
        [FULCRUM_TEXT_LEGEND] = {.size_pt = 8.0, .rgb = FULCRUM_TONE_INK},
        [FULCRUM_TEXT_FLAG] = {.size_pt = 7.5, .rgb = FULCRUM_TONE_SOFT},
        [FULCRUM_TEXT_FOOTNOTE] = {.size_pt = 7.0, .rgb = FULCRUM_TONE_SOFT},
        [FULCRUM_TEXT_EMPTY] = {.size_pt = 9.0, .rgb = FULCRUM_TONE_MUTED},
    };
    return texts[role];
}

struct fulcrum_text fulcrum_palette_anchored(
    enum fulcrum_text_role role, double anchor_x, double anchor_y)
{
    struct fulcrum_text style = fulcrum_palette_text(role);
    style.anchor_x = anchor_x;
    style.anchor_y = anchor_y;
    return style;
}

double fulcrum_palette_height_pt(
    const struct fulcrum_canvas *canvas, enum fulcrum_text_role role)
{
    struct fulcrum_text style = fulcrum_palette_text(role);
    return fulcrum_canvas_measure(canvas, &style, "Xg").height_pt;
}
