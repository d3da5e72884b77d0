/* canvas.c - keeps what was drawn on a page, and which boxes it covers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "plots/chart/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/status.h"
#include "model/try.h"

/* Colours, dashes, markers and text sizes that all charts share. */

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

/* Draws a page with Cairo and sets its text with Pango. */

/* Whoever reads the same page twice must get the same bytes, so time stands still. */
static const char pdf_date[] = "2000-01-01T00:00:00Z";
static const char font_families[] = "DejaVu Sans, Liberation Sans, sans-serif";
static const double pi = 3.14159265358979323846;

struct fulcrum_typesetter {
    PangoContext *context;
};

/*
 * Hinting would make sizes depend on the resolution: off, so that a layout that was
 * measured once fits all file types.
 */
static PangoContext *new_context(void)
{
    PangoContext *context =
        pango_font_map_create_context(pango_cairo_font_map_get_default());
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    pango_cairo_context_set_resolution(context, 72.0);
    cairo_font_options_destroy(options);
    return context;
}

/* NULL where memory is short. */
static struct fulcrum_typesetter *typesetter_new(void)
{
    struct fulcrum_typesetter *typesetter = calloc(1, sizeof *typesetter);
    if (typesetter != NULL) {
        typesetter->context = new_context();
    }
    return typesetter;
}

/* Accepts NULL. */
static void typesetter_free(struct fulcrum_typesetter *typesetter)
{
    if (typesetter != NULL) {
        g_object_unref(typesetter->context);
        free(typesetter);
    }
}

/* Measured and drawn texts go through here, so they break lines alike. */
static PangoLayout *new_layout(
    PangoContext *context, const struct fulcrum_text *style, const char *text)
{
    PangoLayout *layout = pango_layout_new(context);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family_static(font, font_families);
    pango_font_description_set_size(font, (int)lround(style->size_pt * PANGO_SCALE));
    pango_font_description_set_weight(font,
        style->weight == FULCRUM_TEXT_BOLD ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    if (style->width_max_pt > 0.0) {
        pango_layout_set_width(layout, (int)ceil(style->width_max_pt * PANGO_SCALE));
        pango_layout_set_height(layout, style->lines_max > 0 ? -style->lines_max : -1);
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    }
    char *valid = g_utf8_make_valid(text, -1);
    pango_layout_set_text(layout, valid, -1);
    g_free(valid);
    return layout;
}

struct fulcrum_extent fulcrum_typesetter_extent(
    const struct fulcrum_typesetter *typesetter, const struct fulcrum_text *style,
    const char *text)
{
    PangoLayout *layout = new_layout(typesetter->context, style, text);
    int width = 0;
    int height = 0;
    pango_layout_get_size(layout, &width, &height);
    g_object_unref(layout);
    return (struct fulcrum_extent){
        (double)width / PANGO_SCALE, (double)height / PANGO_SCALE};
}

/* The text of a line, with an ellipsis for the run that stands for what was cut. */
static char *line_text(const PangoLayoutLine *line)
{
    const char *text = pango_layout_get_text(line->layout);
    GString *out = g_string_new(NULL);
    for (const GSList *at = line->runs; at != NULL; at = at->next) {
        const PangoGlyphItem *run = at->data;
        const PangoItem *item = run->item;
        if ((item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS) != 0) {
            g_string_append(out, "\xE2\x80\xA6");
        } else {
            g_string_append_len(out, text + item->offset, item->length);
        }
    }
    return g_string_free(out, FALSE);
}

enum fulcrum_status fulcrum_typesetter_break(
    const struct fulcrum_typesetter *typesetter, const struct fulcrum_text *style,
    const char *text, const struct fulcrum_line_taker *taker)
{
    PangoLayout *layout = new_layout(typesetter->context, style, text);
    PangoLayoutIter *at = pango_layout_get_iter(layout);
    struct fulcrum_text_line line = {
        .count = (size_t)pango_layout_get_line_count(layout)};
    do {
        char *words = line_text(pango_layout_iter_get_line_readonly(at));
        line.text = words;
        line.baseline_pt = (double)pango_layout_iter_get_baseline(at) / PANGO_SCALE;
        taker->take(taker->user, &line);
        g_free(words);
        line.index++;
    } while (pango_layout_iter_next_line(at));
    pango_layout_iter_free(at);
    g_object_unref(layout);
    return FULCRUM_OK;
}

/* Cairo takes shares of 1. */
static void set_colour(cairo_t *cr, unsigned rgb, double opacity)
{
    cairo_set_source_rgba(cr, (double)(rgb >> 16U & 0xFFU) / 255.0,
        (double)(rgb >> 8U & 0xFFU) / 255.0, (double)(rgb & 0xFFU) / 255.0, opacity);
}

/* `count` spots: two opposite corners of each. */
static void add_rects(cairo_t *cr, const struct fulcrum_spot *spots, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2) {
        cairo_rectangle(cr, spots[i].x, spots[i].y, spots[i + 1].x - spots[i].x,
            spots[i + 1].y - spots[i].y);
    }
}

static void draw_path(
    cairo_t *cr, const struct fulcrum_mark *mark, const struct fulcrum_spot *spots)
{
    cairo_new_path(cr);
    if (mark->kind == FULCRUM_MARK_RECTS) {
        add_rects(cr, spots, mark->count);
    } else {
        for (size_t i = 0; i < mark->count; i++) {
            cairo_line_to(cr, spots[i].x, spots[i].y);
        }
    }
    set_colour(cr, mark->pen.rgb, mark->pen.opacity);
    if (mark->kind != FULCRUM_MARK_STROKE) {
        cairo_fill(cr);
        return;
    }
    cairo_set_line_width(cr, mark->pen.width_pt);
    /* Lengths in points, chosen to differ at a glance in grey print. */
    static const struct {
        double lengths[4];
        int count;
    } dashes[] = {
        [FULCRUM_DASH_SOLID] = {{0}, 0},
        [FULCRUM_DASH_LONG] = {{7.0, 3.0}, 2},
        [FULCRUM_DASH_SHORT] = {{3.5, 2.5}, 2},
        [FULCRUM_DASH_DOT] = {{1.2, 2.2}, 2},
        [FULCRUM_DASH_MIXED] = {{7.0, 2.5, 1.5, 2.5}, 4},
    };
    cairo_set_dash(
        cr, dashes[mark->pen.dash].lengths, dashes[mark->pen.dash].count, 0.0);
    cairo_stroke(cr);
}

/* The anchor is the point that rotation leaves in place. */
static void draw_text(cairo_t *cr, PangoContext *context,
    const struct fulcrum_mark *mark, struct fulcrum_spot spot)
{
    PangoLayout *layout = new_layout(context, &mark->style, mark->text);
    int width = 0;
    int height = 0;
    pango_layout_get_size(layout, &width, &height);
    cairo_save(cr);
    cairo_translate(cr, spot.x, spot.y);
    cairo_rotate(cr, -mark->style.rotation_deg * pi / 180.0);
    cairo_move_to(cr, -mark->style.anchor_x * (double)width / PANGO_SCALE,
        -mark->style.anchor_y * (double)height / PANGO_SCALE);
    set_colour(cr, mark->style.rgb, 1.0);
    pango_cairo_show_layout(cr, layout);
    cairo_restore(cr);
    g_object_unref(layout);
}

/* Cairo's view of a file: partial writes are failures. */
static cairo_status_t write_bytes(
    void *closure, const unsigned char *bytes, unsigned length)
{
    FILE *file = closure;
    return fwrite(bytes, 1, length, file) == length ? CAIRO_STATUS_SUCCESS
                                                    : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *new_surface(const struct fulcrum_drawing *drawing,
    enum fulcrum_file_type type, double scale, FILE *file)
{
    double width_pt = drawing->extent.width_pt;
    double height_pt = drawing->extent.height_pt;
    if (type == FULCRUM_FILE_SVG) {
        return cairo_svg_surface_create_for_stream(
            write_bytes, file, width_pt, height_pt);
    }
    if (type == FULCRUM_FILE_PDF) {
        cairo_surface_t *surface =
            cairo_pdf_surface_create_for_stream(write_bytes, file, width_pt, height_pt);
        cairo_pdf_surface_set_metadata(
            surface, CAIRO_PDF_METADATA_CREATE_DATE, pdf_date);
        return surface;
    }
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
        (int)lround(width_pt * scale), (int)lround(height_pt * scale));
    cairo_surface_set_device_scale(surface, scale, scale);
    return surface;
}

static cairo_status_t render_to(const struct fulcrum_drawing *drawing,
    enum fulcrum_file_type type, double scale, FILE *file)
{
    cairo_surface_t *surface = new_surface(drawing, type, scale, file);
    cairo_t *cr = cairo_create(surface);
    /* Paper first: SVG and PNG would be transparent otherwise. */
    PangoContext *context = new_context();
    set_colour(cr, 0xFFFFFF, 1.0);
    cairo_rectangle(cr, 0.0, 0.0, drawing->extent.width_pt, drawing->extent.height_pt);
    cairo_fill(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < drawing->mark_count; i++) {
        const struct fulcrum_mark *mark = &drawing->marks[i];
        const struct fulcrum_spot *spots = drawing->spots + mark->first;
        if (mark->kind == FULCRUM_MARK_TEXT) {
            draw_text(cr, context, mark, spots[0]);
        } else {
            draw_path(cr, mark, spots);
        }
    }
    g_object_unref(context);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && type == FULCRUM_FILE_PNG) {
        status = cairo_surface_write_to_png_stream(surface, write_bytes, file);
    }
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_status(surface);
    }
    cairo_surface_destroy(surface);
    return status;
}

/*
 * Cairo 1.16 names the outermost group after a counter of the process ("surface6"),
 * which would make a page's bytes depend on what was saved before it.
 */
static int write_with_fixed_id(const char *svg, size_t length, FILE *file)
{
    static const char start[] = "<g id=\"surface";
    const char *group = strstr(svg, start);
    const char *kept = svg;
    if (group != NULL) {
        const char *number = group + sizeof start - 1;
        size_t before = (size_t)(number - svg);
        if (fwrite(svg, 1, before, file) != before) {
            return 0;
        }
        kept = number + strspn(number, "0123456789");
    }
    size_t rest = length - (size_t)(kept - svg);
    return fwrite(kept, 1, rest, file) == rest;
}

/* Written to memory first, as the id stands near the start. */
static cairo_status_t render_svg(
    const struct fulcrum_drawing *drawing, double scale, FILE *file)
{
    char *svg = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&svg, &length);
    if (memory == NULL) {
        return CAIRO_STATUS_NO_MEMORY;
    }
    cairo_status_t status = render_to(drawing, FULCRUM_FILE_SVG, scale, memory);
    if (fclose(memory) != 0) {
        status = CAIRO_STATUS_NO_MEMORY;
    }
    if (status == CAIRO_STATUS_SUCCESS && !write_with_fixed_id(svg, length, file)) {
        status = CAIRO_STATUS_WRITE_ERROR;
    }
    free(svg);
    return status;
}

enum fulcrum_status fulcrum_render(const struct fulcrum_drawing *drawing,
    enum fulcrum_file_type type, double scale, FILE *file, struct fulcrum_error *err)
{
    cairo_status_t status = type == FULCRUM_FILE_SVG
                                ? render_svg(drawing, scale, file)
                                : render_to(drawing, type, scale, file);
    if (status == CAIRO_STATUS_SUCCESS) {
        return FULCRUM_OK;
    }
    return fulcrum_fail(err,
        status == CAIRO_STATUS_NO_MEMORY ? FULCRUM_ERR_NO_MEMORY : FULCRUM_ERR_FILE,
        "%s", cairo_status_to_string(status));
}

/*
 * A slanted line fills little of its bounding box; pieces this short make the recorded
 * boxes follow it.
 */
static const double piece_pt = 5.0;

/* A growing array of one kind of item. */
struct pool {
    void *items;
    size_t item_size;
    size_t count;
    size_t capacity;
};

struct fulcrum_canvas {
    struct fulcrum_extent extent;
    struct fulcrum_typesetter *typesetter;
    struct pool marks; /* struct fulcrum_mark */
    struct pool spots; /* struct fulcrum_spot */
    struct pool boxes; /* struct fulcrum_box */
    bool keeps_captions;
    char *captions[FULCRUM_CAPTION_COUNT]; /* owned; NULL: none */
    struct pool rooms;                     /* void *: memory of pictures; owned */
    struct fulcrum_error failure;
};

/* Room for `count` more items, zeroed; NULL where memory is short. */
static void *pool_add(struct pool *pool, size_t count)
{
    size_t needed = pool->count + count;
    if (needed > pool->capacity) {
        size_t capacity = needed + pool->capacity + 64;
        void *items = calloc(capacity, pool->item_size);
        if (items == NULL) {
            return NULL;
        }
        if (pool->count > 0) {
            memcpy(items, pool->items, pool->count * pool->item_size);
        }
        free(pool->items);
        pool->items = items;
        pool->capacity = capacity;
    }
    unsigned char *base = pool->items;
    void *added = base + pool->count * pool->item_size;
    pool->count = needed;
    return added;
}

enum fulcrum_status fulcrum_canvas_new(struct fulcrum_canvas **out, double width_pt,
    double height_pt, struct fulcrum_error *err)
{
    const double least_pt = 240.0;
    const double most_pt = 4000.0;
    /* Written so that NaN fails. */
    FAIL_IF(!(width_pt >= least_pt && height_pt >= least_pt && width_pt <= most_pt &&
                height_pt <= most_pt),
        err, FULCRUM_ERR_RANGE,
        "page of %.4g x %.4g points: each side must be in [%g, %g]", width_pt,
        height_pt, least_pt, most_pt);
    struct fulcrum_canvas *canvas = calloc(1, sizeof *canvas);
    struct fulcrum_typesetter *typesetter = typesetter_new();
    if (canvas == NULL || typesetter == NULL) {
        free(canvas);
        typesetter_free(typesetter);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a page");
    }
    canvas->extent = (struct fulcrum_extent){width_pt, height_pt};
    canvas->typesetter = typesetter;
    canvas->marks.item_size = sizeof(struct fulcrum_mark);
    canvas->spots.item_size = sizeof(struct fulcrum_spot);
    canvas->boxes.item_size = sizeof(struct fulcrum_box);
    canvas->rooms.item_size = sizeof(void *);
    *out = canvas;
    return FULCRUM_OK;
}

void fulcrum_canvas_free(struct fulcrum_canvas *canvas)
{
    if (canvas == NULL) {
        return;
    }
    const struct fulcrum_mark *marks = canvas->marks.items;
    for (size_t i = 0; i < canvas->marks.count; i++) {
        free(marks[i].text);
    }
    free(canvas->marks.items);
    free(canvas->spots.items);
    free(canvas->boxes.items);
    void **rooms = canvas->rooms.items;
    for (size_t i = 0; i < canvas->rooms.count; i++) {
        free(rooms[i]);
    }
    free(rooms);
    for (size_t i = 0; i < FULCRUM_CAPTION_COUNT; i++) {
        free(canvas->captions[i]);
    }
    typesetter_free(canvas->typesetter);
    free(canvas);
}

struct fulcrum_extent fulcrum_canvas_extent(const struct fulcrum_canvas *canvas)
{
    return canvas->extent;
}

const struct fulcrum_typesetter *fulcrum_canvas_typesetter(
    const struct fulcrum_canvas *canvas)
{
    return canvas->typesetter;
}

void fulcrum_canvas_keep_captions(struct fulcrum_canvas *canvas)
{
    canvas->keeps_captions = 1;
}

bool fulcrum_canvas_keeps_captions(const struct fulcrum_canvas *canvas)
{
    return canvas->keeps_captions;
}

void fulcrum_canvas_set_caption(
    struct fulcrum_canvas *canvas, enum fulcrum_caption caption, const char *text)
{
    free(canvas->captions[caption]);
    canvas->captions[caption] = NULL;
    if (text == NULL || text[0] == '\0') {
        return;
    }
    canvas->captions[caption] = strdup(text);
    if (canvas->captions[caption] == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
    }
}

const char *fulcrum_canvas_caption(
    const struct fulcrum_canvas *canvas, enum fulcrum_caption caption)
{
    return canvas->captions[caption];
}

struct fulcrum_drawing fulcrum_canvas_drawing(const struct fulcrum_canvas *canvas)
{
    return (struct fulcrum_drawing){.extent = canvas->extent,
        .marks = canvas->marks.items,
        .mark_count = canvas->marks.count,
        .spots = canvas->spots.items};
}

const struct fulcrum_box *fulcrum_canvas_boxes(
    const struct fulcrum_canvas *canvas, size_t *count)
{
    *count = canvas->boxes.count;
    return canvas->boxes.items;
}

enum fulcrum_status fulcrum_canvas_status(
    const struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    enum fulcrum_status status = canvas->failure.status;
    return status == FULCRUM_OK
               ? status
               : fulcrum_fail(err, status, "%s", canvas->failure.detail);
}

struct fulcrum_error *fulcrum_canvas_failure(struct fulcrum_canvas *canvas)
{
    return &canvas->failure;
}

void fulcrum_canvas_out_of_memory(struct fulcrum_canvas *canvas)
{
    (void)fulcrum_fail(
        &canvas->failure, FULCRUM_ERR_NO_MEMORY, "no memory for a chart");
}

void *fulcrum_canvas_room(struct fulcrum_canvas *canvas, size_t count, size_t size)
{
    void **room = pool_add(&canvas->rooms, 1);
    if (room != NULL) {
        *room = calloc(count + 1, size);
    }
    if (room == NULL || *room == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return NULL;
    }
    return *room;
}

int fulcrum_rect_overlap(struct fulcrum_rect a, struct fulcrum_rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/* Boxes are for layout and tests; a canvas that failed records nothing more. */
static void record(struct fulcrum_canvas *canvas, struct fulcrum_box box)
{
    if (box.kind == FULCRUM_BOX_NONE || canvas->failure.status != FULCRUM_OK) {
        return;
    }
    struct fulcrum_box *added = pool_add(&canvas->boxes, 1);
    if (added == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return;
    }
    *added = box;
}

void fulcrum_canvas_record(
    struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind, struct fulcrum_rect rect)
{
    record(canvas, (struct fulcrum_box){kind, rect, NULL});
}

/* The new mark, its spots copied in; NULL after a failure. */
static struct fulcrum_mark *add_mark(struct fulcrum_canvas *canvas,
    enum fulcrum_mark_kind kind, const struct fulcrum_spot *spots, size_t count)
{
    if (canvas->failure.status != FULCRUM_OK) {
        return NULL;
    }
    size_t first = canvas->spots.count;
    struct fulcrum_spot *kept = pool_add(&canvas->spots, count);
    struct fulcrum_mark *mark = pool_add(&canvas->marks, 1);
    if (kept == NULL || mark == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return NULL;
    }
    memcpy(kept, spots, count * sizeof *spots);
    mark->kind = kind;
    mark->first = first;
    mark->count = count;
    return mark;
}

/* Zero members of a pen mean the usual value, so that initialisers stay short. */
static struct fulcrum_pen pen_with_defaults(const struct fulcrum_pen *pen)
{
    struct fulcrum_pen full = *pen;
    full.opacity = pen->opacity > 0.0 ? pen->opacity : 1.0;
    full.width_pt = pen->width_pt > 0.0 ? pen->width_pt : 1.0;
    return full;
}

/* The box of two spots in any order. */
static struct fulcrum_rect rect_around(
    struct fulcrum_spot a, struct fulcrum_spot b, double margin)
{
    return (struct fulcrum_rect){fmin(a.x, b.x) - margin, fmin(a.y, b.y) - margin,
        fmax(a.x, b.x) + margin, fmax(a.y, b.y) + margin};
}

/* One box per short piece, half the line's width around it. */
static void record_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot a, struct fulcrum_spot b)
{
    double longest = fmax(fabs(b.x - a.x), fabs(b.y - a.y));
    size_t pieces = (size_t)fmax(1.0, ceil(longest / piece_pt));
    struct fulcrum_spot from = a;
    for (size_t i = 1; i <= pieces; i++) {
        double share = (double)i / (double)pieces;
        struct fulcrum_spot to = {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
        struct fulcrum_rect rect = rect_around(from, to, pen->width_pt / 2.0);
        fulcrum_canvas_record(canvas, pen->kind, rect);
        from = to;
    }
}

void fulcrum_canvas_stroke(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count)
{
    if (count < 2) {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_STROKE, spots, count);
    if (mark == NULL) {
        return;
    }
    mark->pen = pen_with_defaults(pen);
    for (size_t i = 1; i < count && pen->kind != FULCRUM_BOX_NONE; i++) {
        record_line(canvas, &mark->pen, spots[i - 1], spots[i]);
    }
}

void fulcrum_canvas_line(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_spot from, struct fulcrum_spot to)
{
    const struct fulcrum_spot spots[] = {from, to};
    fulcrum_canvas_stroke(canvas, pen, spots, 2);
}

void fulcrum_canvas_fill(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_spot *spots, size_t count)
{
    if (count < 3) {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_FILL, spots, count);
    if (mark != NULL) {
        mark->pen = pen_with_defaults(pen);
    }
}

void fulcrum_canvas_fill_rect(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, struct fulcrum_rect rect)
{
    const struct fulcrum_spot spots[] = {
        {rect.x0, rect.y0}, {rect.x1, rect.y0}, {rect.x1, rect.y1}, {rect.x0, rect.y1}};
    fulcrum_canvas_fill(canvas, pen, spots, 4);
}

void fulcrum_canvas_fill_rects(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, const struct fulcrum_rect *rects, size_t count)
{
    struct fulcrum_spot *spots = calloc(2 * count + 1, sizeof *spots);
    if (spots == NULL) {
        fulcrum_canvas_out_of_memory(canvas);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        spots[2 * i] = (struct fulcrum_spot){rects[i].x0, rects[i].y0};
        spots[2 * i + 1] = (struct fulcrum_spot){rects[i].x1, rects[i].y1};
    }
    struct fulcrum_mark *mark =
        count > 0 ? add_mark(canvas, FULCRUM_MARK_RECTS, spots, 2 * count) : NULL;
    if (mark != NULL) {
        mark->pen = pen_with_defaults(pen);
    }
    free(spots);
}

void fulcrum_canvas_hatch(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect)
{
    const double gap_pt = 5.0;
    /* Along a line x + y is the same; what it is at the first and last one inside. */
    double first = ceil((rect.x0 + rect.y0) / gap_pt);
    double last = floor((rect.x1 + rect.y1) / gap_pt);
    size_t count = last >= first ? (size_t)(last - first) + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        double sum = (first + (double)i) * gap_pt;
        double left = fmax(rect.x0, sum - rect.y1);
        double right = fmin(rect.x1, sum - rect.y0);
        const struct fulcrum_spot line[] = {{left, sum - left}, {right, sum - right}};
        fulcrum_canvas_stroke(canvas, pen, line, 2);
    }
}

/* Corners on a circle, each `inner` as far out as the one before it in turn. */
struct outline {
    size_t corners;
    double start_turn; /* of the first corner, in turns from the right, downwards */
    double radius;     /* relative to half the marker's size */
    double inner;
};

enum { OUTLINE_CORNERS_MAX = 16 };

void fulcrum_canvas_marker(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    const struct fulcrum_marker *marker, struct fulcrum_spot spot)
{
    static const struct outline outlines[] = {
        [FULCRUM_MARKER_CIRCLE] = {16, 0.0, 1.0, 1.0},
        [FULCRUM_MARKER_SQUARE] = {4, 0.125, 1.25, 1.0},
        [FULCRUM_MARKER_TRIANGLE] = {3, 0.75, 1.3, 1.0},
        [FULCRUM_MARKER_DIAMOND] = {4, 0.0, 1.3, 1.0},
        [FULCRUM_MARKER_WEDGE] = {3, 0.25, 1.3, 1.0},
        [FULCRUM_MARKER_STAR] = {10, 0.75, 1.4, 0.45},
    };
    const struct outline *outline = &outlines[marker->shape];
    struct fulcrum_spot spots[OUTLINE_CORNERS_MAX + 1];
    double half_pt = marker->size_pt / 2.0;
    int hollow = marker->fill == FULCRUM_MARKER_HOLLOW;
    struct fulcrum_pen inside = *pen;
    /* A border of the inside's own colour is no more than some extra size. */
    double border_pt = hollow ? 0.0 : pen->width_pt / 2.0;
    inside.rgb = hollow ? FULCRUM_GROUND_PAPER : pen->rgb;
    /* One more than corners closes the outline. */
    for (size_t i = 0; i <= outline->corners; i++) {
        double turn = outline->start_turn + (double)i / (double)outline->corners;
        double reach = (half_pt + border_pt) * outline->radius *
                       (i % 2 == 1 ? outline->inner : 1.0);
        spots[i].x = spot.x + reach * cos(2.0 * pi * turn);
        spots[i].y = spot.y + reach * sin(2.0 * pi * turn);
    }
    fulcrum_canvas_fill(canvas, &inside, spots, outline->corners);
    if (hollow) {
        struct fulcrum_pen border = *pen;
        border.kind = FULCRUM_BOX_NONE;
        fulcrum_canvas_stroke(canvas, &border, spots, outline->corners + 1);
    }
    fulcrum_canvas_record(canvas, pen->kind, rect_around(spot, spot, half_pt));
}

struct fulcrum_extent fulcrum_canvas_measure(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return (struct fulcrum_extent){0.0, 0.0};
    }
    return fulcrum_typesetter_extent(canvas->typesetter, style, text);
}

/* The rectangle that fulcrum_canvas_text would cover on the page. */
static struct fulcrum_rect canvas_text_rect(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text)
{
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, style, text);
    double turn_rad = -style->rotation_deg * pi / 180.0;
    double left = -style->anchor_x * extent.width_pt;
    double top = -style->anchor_y * extent.height_pt;
    struct fulcrum_rect rect = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++) {
        double x = left + (corner % 2 == 1 ? extent.width_pt : 0.0);
        double y = top + (corner / 2 == 1 ? extent.height_pt : 0.0);
        double turned_x = spot.x + x * cos(turn_rad) - y * sin(turn_rad);
        double turned_y = spot.y + x * sin(turn_rad) + y * cos(turn_rad);
        rect.x0 = fmin(rect.x0, turned_x);
        rect.y0 = fmin(rect.y0, turned_y);
        rect.x1 = fmax(rect.x1, turned_x);
        rect.y1 = fmax(rect.y1, turned_y);
    }
    return rect;
}

void fulcrum_canvas_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return;
    }
    struct fulcrum_mark *mark = add_mark(canvas, FULCRUM_MARK_TEXT, &spot, 1);
    if (mark == NULL) {
        return;
    }
    mark->text = strdup(text);
    if (mark->text == NULL) {
        canvas->marks.count--;
        fulcrum_canvas_out_of_memory(canvas);
        return;
    }
    mark->style = *style;
    struct fulcrum_rect rect = canvas_text_rect(canvas, style, spot, text);
    record(canvas, (struct fulcrum_box){FULCRUM_BOX_TEXT, rect, mark->text});
}
