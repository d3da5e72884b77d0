/* render_cairo.c - draws a page with Cairo and sets its text with Pango. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "plots/render.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>

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

struct fulcrum_typesetter *fulcrum_typesetter_new(void)
{
    struct fulcrum_typesetter *typesetter = calloc(1, sizeof *typesetter);
    if (typesetter != NULL) {
        typesetter->context = new_context();
    }
    return typesetter;
}

void fulcrum_typesetter_free(struct fulcrum_typesetter *typesetter)
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

/* Lengths in points, chosen to differ at a glance in grey print. */
static void set_dash(cairo_t *cr, const struct fulcrum_pen *pen)
{
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
    cairo_set_dash(cr, dashes[pen->dash].lengths, dashes[pen->dash].count, 0.0);
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
    set_dash(cr, &mark->pen);
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

/* Paper first: SVG and PNG would be transparent otherwise. */
static void draw_page(cairo_t *cr, const struct fulcrum_drawing *drawing)
{
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

const char *fulcrum_render_refusal(void)
{
    return NULL;
}

static cairo_status_t render_to(const struct fulcrum_drawing *drawing,
    enum fulcrum_file_type type, double scale, FILE *file)
{
    cairo_surface_t *surface = new_surface(drawing, type, scale, file);
    cairo_t *cr = cairo_create(surface);
    draw_page(cr, drawing);
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
