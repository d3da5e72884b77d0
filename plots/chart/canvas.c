/* canvas.c - keeps what was drawn on a page, with the boxes it covers, and writes it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "plots/chart/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "model/string.h"
#include "model/try.h"

/*
 * A slanted line fills little of its bounding box; pieces this short make the recorded
 * boxes follow it.
 */
static const double piece_pt = 5.0;

enum mark_kind {
    MARK_STROKE,
    MARK_FILL,
    MARK_RECTS, /* two opposite corners each */
    MARK_TEXT
};

/* One thing drawn. */
struct mark {
    enum mark_kind kind;
    struct fulcrum_pen pen;
    struct fulcrum_spot *spots; /* a text has one, its anchor; as the text borrowed */
    size_t count;
    struct fulcrum_text style;
    const char *text; /* NULL but for texts */
};

struct fulcrum_canvas {
    struct fulcrum_extent extent;
    PangoContext *context;
    GArray *marks;    /* struct mark */
    GArray *boxes;    /* struct fulcrum_box */
    GPtrArray *rooms; /* what all others borrow; owned */
    struct fulcrum_captions captions;
    struct fulcrum_error failure;
};

/* Whoever reads the same page twice must get the same bytes, so time stands still. */
static const char pdf_date[] = "2000-01-01T00:00:00Z";
static const char font_families[] = "DejaVu Sans, Liberation Sans, sans-serif";
static const double pi = 3.14159265358979323846;
static const double default_scale = 2.0; /* pixels a point */

enum file_type { FILE_SVG, FILE_PDF, FILE_PNG };

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

static struct fulcrum_extent extent_of(PangoLayout *layout)
{
    int width = 0;
    int height = 0;
    pango_layout_get_size(layout, &width, &height);
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

/* Lengths in points, chosen to differ at a glance in grey print. */
static const struct {
    double lengths[4];
    int count;
    const char *text; /* as SVG has them; NULL: solid */
} dashes[] = {
    [FULCRUM_DASH_SOLID] = {{0}, 0, NULL},
    [FULCRUM_DASH_LONG] = {{7.0, 3.0}, 2, "7 3"},
    [FULCRUM_DASH_SHORT] = {{3.5, 2.5}, 2, "3.5 2.5"},
    [FULCRUM_DASH_DOT] = {{1.2, 2.2}, 2, "1.2 2.2"},
    [FULCRUM_DASH_MIXED] = {{7.0, 2.5, 1.5, 2.5}, 4, "7 2.5 1.5 2.5"},
};

/* Cairo takes shares of 1. */
static void set_colour(cairo_t *cr, unsigned rgb, double opacity)
{
    cairo_set_source_rgba(cr, (double)(rgb >> 16U & 0xFFU) / 255.0,
        (double)(rgb >> 8U & 0xFFU) / 255.0, (double)(rgb & 0xFFU) / 255.0, opacity);
}

static void draw_path(cairo_t *cr, const struct mark *mark)
{
    const struct fulcrum_spot *spots = mark->spots;
    cairo_new_path(cr);
    if (mark->kind == MARK_RECTS) {
        /* `count` spots: two opposite corners of each. */
        for (size_t i = 0; i + 1 < mark->count; i += 2) {
            cairo_rectangle(cr, spots[i].x, spots[i].y, spots[i + 1].x - spots[i].x,
                spots[i + 1].y - spots[i].y);
        }
    } else {
        for (size_t i = 0; i < mark->count; i++) {
            cairo_line_to(cr, spots[i].x, spots[i].y);
        }
    }
    set_colour(cr, mark->pen.rgb, mark->pen.opacity);
    if (mark->kind != MARK_STROKE) {
        cairo_fill(cr);
        return;
    }
    cairo_set_line_width(cr, mark->pen.width_pt);
    cairo_set_dash(
        cr, dashes[mark->pen.dash].lengths, dashes[mark->pen.dash].count, 0.0);
    cairo_stroke(cr);
}

/* Cairo's view of a file, which is written at once when it is complete. */
static cairo_status_t write_bytes(
    void *closure, const unsigned char *bytes, unsigned length)
{
    (void)g_byte_array_append(closure, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *new_surface(const struct fulcrum_canvas *canvas,
    enum file_type type, double scale, GByteArray *file)
{
    double width_pt = canvas->extent.width_pt;
    double height_pt = canvas->extent.height_pt;
    if (type == FILE_SVG) {
        return cairo_svg_surface_create_for_stream(
            write_bytes, file, width_pt, height_pt);
    }
    if (type == FILE_PDF) {
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

static cairo_status_t render(const struct fulcrum_canvas *canvas, enum file_type type,
    double scale, GByteArray *file)
{
    cairo_surface_t *surface = new_surface(canvas, type, scale, file);
    cairo_t *cr = cairo_create(surface);
    /* Paper first: SVG and PNG would be transparent otherwise. */
    set_colour(cr, 0xFFFFFF, 1.0);
    cairo_paint(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (guint i = 0; i < canvas->marks->len; i++) {
        const struct mark *mark = &g_array_index(canvas->marks, struct mark, i);
        if (mark->kind == MARK_TEXT) {
            /* The anchor is the point that rotation leaves in place. */
            PangoLayout *layout = new_layout(canvas->context, &mark->style, mark->text);
            struct fulcrum_extent extent = extent_of(layout);
            cairo_save(cr);
            cairo_translate(cr, mark->spots[0].x, mark->spots[0].y);
            cairo_rotate(cr, mark->style.is_upright ? -pi / 2.0 : 0.0);
            cairo_move_to(cr, -mark->style.anchor_x * extent.width_pt,
                -mark->style.anchor_y * extent.height_pt);
            set_colour(cr, mark->style.rgb, 1.0);
            pango_cairo_show_layout(cr, layout);
            cairo_restore(cr);
            g_object_unref(layout);
        } else {
            draw_path(cr, mark);
        }
    }
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && type == FILE_PNG) {
        status = cairo_surface_write_to_png_stream(surface, write_bytes, file);
    }
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_status(surface);
    }
    cairo_surface_destroy(surface);
    return status;
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
    struct fulcrum_canvas *canvas = g_new0(struct fulcrum_canvas, 1);
    canvas->extent = (struct fulcrum_extent){width_pt, height_pt};
    /*
     * Hinting would make sizes depend on the resolution: off, so that a layout that was
     * measured once fits all file types.
     */
    PangoContext *context =
        pango_font_map_create_context(pango_cairo_font_map_get_default());
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    pango_cairo_context_set_resolution(context, 72.0);
    cairo_font_options_destroy(options);
    canvas->context = context;
    canvas->marks = g_array_new(FALSE, TRUE, sizeof(struct mark));
    canvas->boxes = g_array_new(FALSE, TRUE, sizeof(struct fulcrum_box));
    canvas->rooms = g_ptr_array_new_with_free_func(g_free);
    *out = canvas;
    return FULCRUM_OK;
}

void fulcrum_canvas_free(struct fulcrum_canvas *canvas)
{
    if (canvas == NULL) {
        return;
    }
    g_array_unref(canvas->marks);
    g_array_unref(canvas->boxes);
    g_ptr_array_unref(canvas->rooms);
    g_object_unref(canvas->context);
    g_free(canvas);
}

struct fulcrum_extent fulcrum_canvas_extent(const struct fulcrum_canvas *canvas)
{
    return canvas->extent;
}

struct fulcrum_captions *fulcrum_canvas_captions(struct fulcrum_canvas *canvas)
{
    return &canvas->captions;
}

const struct fulcrum_box *fulcrum_canvas_boxes(
    const struct fulcrum_canvas *canvas, size_t *count)
{
    *count = canvas->boxes->len;
    return &g_array_index(canvas->boxes, struct fulcrum_box, 0);
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

/* Takes what GLib allocated. */
static void *keep(struct fulcrum_canvas *canvas, void *room)
{
    g_ptr_array_add(canvas->rooms, room);
    return room;
}

void *fulcrum_canvas_room(struct fulcrum_canvas *canvas, size_t count, size_t size)
{
    return keep(canvas, g_malloc0_n(count + 1, size));
}

const char *fulcrum_canvas_print(struct fulcrum_canvas *canvas, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return keep(canvas, text);
}

const char *fulcrum_canvas_join(struct fulcrum_canvas *canvas, const char *text,
    const char *between, const char *more)
{
    bool has_text = text != NULL && text[0] != '\0';
    bool has_more = more != NULL && more[0] != '\0';
    return fulcrum_canvas_print(canvas, "%s%s%s", has_text ? text : "",
        has_text && has_more ? between : "", has_more ? more : "");
}

int fulcrum_rect_overlap(struct fulcrum_rect a, struct fulcrum_rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

struct fulcrum_spot fulcrum_rect_centre(struct fulcrum_rect rect)
{
    return (struct fulcrum_spot){(rect.x0 + rect.x1) / 2.0, (rect.y0 + rect.y1) / 2.0};
}

struct fulcrum_rect fulcrum_rect_around(
    struct fulcrum_spot centre, struct fulcrum_extent extent)
{
    double half_x = extent.width_pt / 2.0;
    double half_y = extent.height_pt / 2.0;
    return (struct fulcrum_rect){
        centre.x - half_x, centre.y - half_y, centre.x + half_x, centre.y + half_y};
}

/* Boxes are for layout and tests; a canvas that failed records nothing more. */
static void record(struct fulcrum_canvas *canvas, struct fulcrum_box box)
{
    if (box.kind != FULCRUM_BOX_NONE && canvas->failure.status == FULCRUM_OK) {
        g_array_append_val(canvas->boxes, box);
    }
}

void fulcrum_canvas_record(
    struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind, struct fulcrum_rect rect)
{
    record(canvas, (struct fulcrum_box){kind, rect, NULL});
}

/* The new mark, its spots copied in; NULL after a failure. */
static struct mark *add_mark(struct fulcrum_canvas *canvas, enum mark_kind kind,
    const struct fulcrum_pen *pen, const struct fulcrum_spot *spots, size_t count)
{
    if (canvas->failure.status != FULCRUM_OK) {
        return NULL;
    }
    struct mark mark = {.kind = kind,
        .pen = *pen,
        .spots = fulcrum_canvas_room(canvas, count, sizeof *spots),
        .count = count};
    /* Zero members of a pen mean the usual value, so that initialisers stay short. */
    mark.pen.opacity = pen->opacity > 0.0 ? pen->opacity : 1.0;
    mark.pen.width_pt = pen->width_pt > 0.0 ? pen->width_pt : 1.0;
    memcpy(mark.spots, spots, count * sizeof *spots);
    g_array_append_val(canvas->marks, mark);
    return &g_array_index(canvas->marks, struct mark, canvas->marks->len - 1);
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
    const struct mark *mark =
        count >= 2 ? add_mark(canvas, MARK_STROKE, pen, spots, count) : NULL;
    bool is_recorded = mark != NULL && pen->kind != FULCRUM_BOX_NONE;
    for (size_t i = 1; i < count && is_recorded; i++) {
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
    if (count >= 3) {
        (void)add_mark(canvas, MARK_FILL, pen, spots, count);
    }
}

void fulcrum_canvas_fill_rect(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, struct fulcrum_rect rect)
{
    const struct fulcrum_spot spots[] = {
        {rect.x0, rect.y0}, {rect.x1, rect.y0}, {rect.x1, rect.y1}, {rect.x0, rect.y1}};
    fulcrum_canvas_fill(canvas, pen, spots, 4);
}

void fulcrum_canvas_border(struct fulcrum_canvas *canvas, const struct fulcrum_pen *pen,
    struct fulcrum_rect rect)
{
    const struct fulcrum_spot spots[] = {{rect.x0, rect.y0}, {rect.x1, rect.y0},
        {rect.x1, rect.y1}, {rect.x0, rect.y1}, {rect.x0, rect.y0}};
    fulcrum_canvas_stroke(canvas, pen, spots, 5);
}

void fulcrum_canvas_fill_rects(struct fulcrum_canvas *canvas,
    const struct fulcrum_pen *pen, const struct fulcrum_rect *rects, size_t count)
{
    /* A rectangle is two spots: its corners. */
    if (count > 0) {
        (void)add_mark(canvas, MARK_RECTS, pen, (const void *)rects, 2 * count);
    }
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

void fulcrum_canvas_star(struct fulcrum_canvas *canvas, struct fulcrum_spot spot)
{
    /* A halo keeps it readable on lines and colours. */
    const struct fulcrum_marker halo = {FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 13.5};
    const struct fulcrum_marker star = {FULCRUM_MARKER_STAR, FULCRUM_MARKER_FULL, 9.0};
    const struct fulcrum_pen paper = fulcrum_palette_rule(FULCRUM_GROUND_PAPER, 1.0);
    struct fulcrum_pen ink = fulcrum_palette_rule(FULCRUM_TONE_INK, 0.5);
    ink.kind = FULCRUM_BOX_DATA;
    fulcrum_canvas_marker(canvas, &paper, &halo, spot);
    fulcrum_canvas_marker(canvas, &ink, &star, spot);
}

struct fulcrum_extent fulcrum_canvas_measure(const struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return (struct fulcrum_extent){0.0, 0.0};
    }
    PangoLayout *layout = new_layout(canvas->context, style, text);
    struct fulcrum_extent extent = extent_of(layout);
    g_object_unref(layout);
    return extent;
}

void fulcrum_canvas_text(struct fulcrum_canvas *canvas,
    const struct fulcrum_text *style, struct fulcrum_spot spot, const char *text)
{
    const struct fulcrum_pen none = {.kind = FULCRUM_BOX_NONE};
    bool is_any = text != NULL && text[0] != '\0';
    struct mark *mark = is_any ? add_mark(canvas, MARK_TEXT, &none, &spot, 1) : NULL;
    if (mark == NULL) {
        return;
    }
    mark->text = fulcrum_canvas_print(canvas, "%s", text);
    mark->style = *style;
    /* The rectangle that a text covers on the page. */
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, style, text);
    double left = -style->anchor_x * extent.width_pt;
    double top = -style->anchor_y * extent.height_pt;
    double right = left + extent.width_pt;
    double bottom = top + extent.height_pt;
    struct fulcrum_rect rect = style->is_upright
                                   ? (struct fulcrum_rect){spot.x + top, spot.y - right,
                                         spot.x + bottom, spot.y - left}
                                   : (struct fulcrum_rect){spot.x + left, spot.y + top,
                                         spot.x + right, spot.y + bottom};
    record(canvas, (struct fulcrum_box){FULCRUM_BOX_TEXT, rect, mark->text});
}

/* Endings are compared without case, as cameras and some systems write .PNG. */
static enum fulcrum_status type_of(
    const char *path, enum file_type *out, struct fulcrum_error *err)
{
    static const char *const endings[] = {
        [FILE_SVG] = ".svg", [FILE_PDF] = ".pdf", [FILE_PNG] = ".png"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (length > 4 && strcasecmp(path + length - 4, endings[i]) == 0) {
            *out = (enum file_type)i;
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_RANGE,
        "%s: a chart's file must end in .svg, .pdf or .png", path);
}

static enum fulcrum_status png_scale(double png_width_px, struct fulcrum_extent extent,
    double *out, struct fulcrum_error *err)
{
    const double least_px = 16.0;
    const double most_px = 16384.0;
    double scale = default_scale;
    if (png_width_px != 0.0) {
        scale = png_width_px / extent.width_pt;
    }
    double width_px = extent.width_pt * scale;
    double height_px = extent.height_pt * scale;
    /* Written so that NaN fails. */
    FAIL_IF(!(width_px >= least_px && height_px >= least_px && width_px <= most_px &&
                height_px <= most_px),
        err, FULCRUM_ERR_RANGE,
        "picture of %.4g x %.4g pixels: each side must be in [%g, %g]", width_px,
        height_px, least_px, most_px);
    *out = scale;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_canvas_write(const struct fulcrum_canvas *canvas,
    const char *path, double png_width_px, FILE *file, struct fulcrum_error *err)
{
    enum file_type type = FILE_SVG;
    double scale = default_scale;
    TRY(type_of(path, &type, err));
    TRY(png_scale(png_width_px, canvas->extent, &scale, err));
    TRY(fulcrum_canvas_status(canvas, err));
    GByteArray *bytes = g_byte_array_new();
    cairo_status_t status = render(canvas, type, scale, bytes);
    if (type == FILE_SVG) {
        /*
         * Cairo 1.16 names the outermost group after a counter of the process
         * ("surface6"), which would make a page's bytes depend on what was saved before
         * it.
         */
        static const char start[] = "<g id=\"surface";
        const char *group =
            g_strstr_len((const char *)bytes->data, (gssize)bytes->len, start);
        if (group != NULL) {
            const char *number = group + sizeof start - 1;
            (void)g_byte_array_remove_range(bytes,
                (guint)(number - (const char *)bytes->data),
                (guint)strspn(number, "0123456789"));
        }
    }
    if (status == CAIRO_STATUS_SUCCESS &&
        fwrite(bytes->data, 1, bytes->len, file) != bytes->len) {
        status = CAIRO_STATUS_WRITE_ERROR;
    }
    g_byte_array_unref(bytes);
    FAIL_IF(status != CAIRO_STATUS_SUCCESS, err,
        status == CAIRO_STATUS_NO_MEMORY ? FULCRUM_ERR_NO_MEMORY : FULCRUM_ERR_FILE,
        "%s: %s", path, cairo_status_to_string(status));
    return FULCRUM_OK;
}

/*
 * Cairo's own SVG has each glyph as a shape with an id that begins anew in every file,
 * and so many bytes. A document has fonts: what it takes is where lines break, and that
 * other fonts are seldom wider than the one measured.
 */

/* Below this, opacities and coordinates are not told apart. */
static const double opaque = 0.999;

static void put_escaped(FILE *file, const char *text)
{
    static const struct fulcrum_escape escapes[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\0', NULL}};
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, "?", &piece, &length);
        (void)fwrite(piece, 1, length, file);
    }
}

/* To a tenth of a point, and without a minus before 0. */
static double tenths(double pt)
{
    return round(pt * 10.0) / 10.0 + 0.0;
}

/* ' fill="#0072b2" fill-opacity="0.2"' */
static void put_paint(FILE *file, const char *what, const struct fulcrum_pen *pen)
{
    (void)fprintf(file, " %s=\"#%06x\"", what, pen->rgb);
    if (pen->opacity > 0.0 && pen->opacity < opaque) {
        (void)fprintf(file, " %s-opacity=\"%.3g\"", what, pen->opacity);
    }
}

static void put_path(FILE *file, const struct mark *mark)
{
    bool is_fill = mark->kind == MARK_FILL;
    (void)fputs(is_fill ? "<polygon" : "<polyline fill=\"none\"", file);
    put_paint(file, is_fill ? "fill" : "stroke", &mark->pen);
    if (!is_fill) {
        (void)fprintf(file, " stroke-width=\"%g\"", tenths(mark->pen.width_pt));
        if (dashes[mark->pen.dash].text != NULL) {
            (void)fprintf(
                file, " stroke-dasharray=\"%s\"", dashes[mark->pen.dash].text);
        }
    }
    (void)fputs(" points=\"", file);
    for (size_t i = 0; i < mark->count; i++) {
        (void)fprintf(file, "%s%g,%g", i > 0 ? " " : "", tenths(mark->spots[i].x),
            tenths(mark->spots[i].y));
    }
    (void)fputs("\"/>\n", file);
}

/* All in one path: from a corner along, down and back. */
static void put_rects(FILE *file, const struct mark *mark)
{
    const struct fulcrum_spot *spots = mark->spots;
    (void)fputs("<path", file);
    put_paint(file, "fill", &mark->pen);
    (void)fputs(" d=\"", file);
    for (size_t i = 0; i + 1 < mark->count; i += 2) {
        double width = tenths(spots[i + 1].x - spots[i].x);
        (void)fprintf(file, "M%g %gh%gv%gh%gz", tenths(spots[i].x), tenths(spots[i].y),
            width, tenths(spots[i + 1].y - spots[i].y), 0.0 - width);
    }
    (void)fputs("\"/>\n", file);
}

/* One line of a text; `at` is its start, before rotation relative to the anchor. */
static void put_line(FILE *file, const struct mark *mark, struct fulcrum_spot at,
    const char *text_anchor)
{
    const struct fulcrum_text *style = &mark->style;
    struct fulcrum_spot anchor = mark->spots[0];
    (void)fputs("<text", file);
    if (style->is_upright) {
        (void)fprintf(file, " transform=\"translate(%g %g) rotate(-90)\"",
            tenths(anchor.x), tenths(anchor.y));
        anchor = (struct fulcrum_spot){0.0, 0.0};
    }
    (void)fprintf(file, " x=\"%g\" y=\"%g\"%s font-size=\"%g\"%s fill=\"#%06x\">",
        tenths(anchor.x + at.x), tenths(anchor.y + at.y), text_anchor,
        tenths(style->size_pt),
        style->weight == FULCRUM_TEXT_BOLD ? " font-weight=\"bold\"" : "", style->rgb);
}

static void put_text(FILE *file, PangoContext *context, const struct mark *mark)
{
    PangoLayout *layout = new_layout(context, &mark->style, mark->text);
    PangoLayoutIter *at = pango_layout_get_iter(layout);
    struct fulcrum_extent extent = extent_of(layout);
    double anchor_x = mark->style.anchor_x;
    /* Several lines are flush left in their box, as Pango sets them. A single one stays
     * where it is at its anchor, whatever width the reader's font has. */
    bool is_alone = pango_layout_get_line_count(layout) == 1 && anchor_x > 0.0;
    const char *end =
        anchor_x > 0.75 ? " text-anchor=\"end\"" : " text-anchor=\"middle\"";
    double x = is_alone ? 0.0 : -anchor_x * extent.width_pt;
    do {
        char *words = line_text(pango_layout_iter_get_line_readonly(at));
        double y = (double)pango_layout_iter_get_baseline(at) / PANGO_SCALE -
                   mark->style.anchor_y * extent.height_pt;
        put_line(file, mark, (struct fulcrum_spot){x, y}, is_alone ? end : "");
        put_escaped(file, words);
        (void)fputs("</text>\n", file);
        g_free(words);
    } while (pango_layout_iter_next_line(at));
    pango_layout_iter_free(at);
    g_object_unref(layout);
}

enum fulcrum_status fulcrum_canvas_write_svg(const struct fulcrum_canvas *canvas,
    const char *label, FILE *file, struct fulcrum_error *err)
{
    TRY(fulcrum_canvas_status(canvas, err));
    struct fulcrum_extent extent = canvas->extent;
    (void)fprintf(file,
        "<svg class=\"chart\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"",
        tenths(extent.width_pt), tenths(extent.height_pt));
    put_escaped(file, label);
    (void)fputs("\">\n", file);
    for (guint i = 0; i < canvas->marks->len; i++) {
        const struct mark *mark = &g_array_index(canvas->marks, struct mark, i);
        if (mark->kind == MARK_RECTS) {
            put_rects(file, mark);
        } else if (mark->kind != MARK_TEXT) {
            put_path(file, mark);
        } else {
            put_text(file, canvas->context, mark);
        }
    }
    (void)fputs("</svg>\n", file);
    return FULCRUM_OK;
}
