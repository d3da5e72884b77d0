/* test_canvas.c - boxes, label places, and the files that are written. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "plots/chart/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/chart/axis.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

static const struct fulcrum_extent page = {400.0, 300.0};
static const struct fulcrum_text plain = {.size_pt = 10.0};

static struct fulcrum_box last_box(const struct fulcrum_canvas *canvas)
{
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    CU_ASSERT_FATAL(count > 0);
    return boxes[count - 1];
}

TEST(test_new_refuses_pages_out_of_range)
{
    static const double sides[][2] = {
        {0, 300}, {300, 239}, {4001, 300}, {NAN, 300}, {300, INFINITY}};
    for (size_t i = 0; i < LENGTH(sides); i++) {
        struct fulcrum_canvas *canvas = NULL;
        CU_ASSERT_EQUAL(fulcrum_canvas_new(&canvas, sides[i][0], sides[i][1], NULL),
            FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NULL(canvas);
    }
    fulcrum_canvas_free(NULL);
}

TEST(test_text_box_follows_anchor_and_rotation)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, &plain, "throughput");
    CU_ASSERT(extent.width_pt > 30.0 && extent.width_pt < 90.0);
    CU_ASSERT(extent.height_pt > 9.0 && extent.height_pt < 15.0);
    struct fulcrum_text style = plain;
    style.anchor_x = 1.0;
    style.anchor_y = 0.5;
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){200, 100}, "throughput");
    struct fulcrum_box box = last_box(canvas);
    CU_ASSERT_EQUAL(box.kind, FULCRUM_BOX_TEXT);
    CU_ASSERT_STRING_EQUAL(box.text, "throughput");
    assert_close("right", box.rect.x1, 200.0, 1e-12);
    assert_close("left", box.rect.x0, 200.0 - extent.width_pt, 1e-12);
    assert_close("top", box.rect.y0, 100.0 - extent.height_pt / 2.0, 1e-12);
    /* A quarter turn: width and height change places, the anchor stays. */
    style.is_upright = true;
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){200, 100}, "throughput");
    box = last_box(canvas);
    assert_close("end", box.rect.y0, 100.0, 1e-9);
    assert_close("start", box.rect.y1, 100.0 + extent.width_pt, 1e-9);
    assert_close("middle", (box.rect.x0 + box.rect.x1) / 2.0, 200.0, 1e-9);
    fulcrum_canvas_free(canvas);
}

TEST(test_long_text_wraps_then_is_cut)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const char *text = "one two three four five six seven eight nine ten eleven twelve";
    double line_pt = fulcrum_canvas_measure(canvas, &plain, text).height_pt;
    struct fulcrum_text style = plain;
    style.width_max_pt = 100.0;
    for (int lines = 1; lines <= 3; lines++) {
        style.lines_max = lines;
        struct fulcrum_extent extent = fulcrum_canvas_measure(canvas, &style, text);
        CU_ASSERT(extent.width_pt <= 100.01);
        assert_close("height", extent.height_pt, lines * line_pt, 0.02);
    }
    style.lines_max = 1;
    assert_close("paragraphs", fulcrum_canvas_measure(canvas, &style, "a\nb").height_pt,
        2.0 * line_pt, 0.02);
    CU_ASSERT(fulcrum_canvas_measure(canvas, &plain, "").width_pt <= 0.0);
    CU_ASSERT(fulcrum_canvas_measure(canvas, &plain, NULL).width_pt <= 0.0);
    fulcrum_canvas_free(canvas);
}

TEST(test_lines_are_recorded_in_pieces)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_pen pen = {.kind = FULCRUM_BOX_DATA, .width_pt = 1.0};
    const struct fulcrum_spot line[] = {{50, 50}, {150, 150}};
    fulcrum_canvas_stroke(canvas, &pen, line, 2);
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    CU_ASSERT(count >= 20);
    /* The corner beside the diagonal is free, the diagonal is not. */
    const struct fulcrum_rect corner = {120, 50, 150, 80};
    const struct fulcrum_rect middle = {95, 95, 105, 105};
    size_t in_corner = 0;
    size_t in_middle = 0;
    for (size_t i = 0; i < count; i++) {
        in_corner += fulcrum_rect_overlap(boxes[i].rect, corner) ? 1U : 0U;
        in_middle += fulcrum_rect_overlap(boxes[i].rect, middle) ? 1U : 0U;
    }
    CU_ASSERT_EQUAL(in_corner, 0);
    CU_ASSERT(in_middle > 0);
    fulcrum_canvas_free(canvas);
}

TEST(test_markers_are_recorded_at_their_size)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    for (int shape = FULCRUM_MARKER_CIRCLE; shape <= FULCRUM_MARKER_STAR; shape++) {
        const struct fulcrum_pen pen = {.kind = FULCRUM_BOX_DATA};
        const struct fulcrum_marker marker = {
            (enum fulcrum_marker_shape)shape, FULCRUM_MARKER_HOLLOW, 6.0};
        fulcrum_canvas_marker(
            canvas, &pen, &marker, (struct fulcrum_spot){10.0 * shape + 20.0, 40.0});
        struct fulcrum_rect rect = last_box(canvas).rect;
        assert_close("width", rect.x1 - rect.x0, 6.0, 1e-12);
        assert_close("centre", rect.x0 + 3.0, 10.0 * shape + 20.0, 1e-12);
    }
    fulcrum_canvas_free(canvas);
}

TEST(test_a_shortage_is_kept)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(fulcrum_canvas_status(canvas, NULL));
    (void)fulcrum_fail(
        fulcrum_canvas_failure(canvas), FULCRUM_ERR_NO_MEMORY, "no memory");
    fulcrum_canvas_text(canvas, &plain, (struct fulcrum_spot){9, 9}, "ignored");
    size_t count = 1;
    (void)fulcrum_canvas_boxes(canvas, &count);
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_EQUAL(fulcrum_canvas_status(canvas, NULL), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(fulcrum_canvas_write(canvas, "x.svg", 0.0, stdout, NULL),
        FULCRUM_ERR_NO_MEMORY);
    fulcrum_canvas_free(canvas);
}

static void check_styles_differ(size_t i, size_t j)
{
    struct fulcrum_pen a = fulcrum_palette_pen(i);
    struct fulcrum_pen b = fulcrum_palette_pen(j);
    CU_ASSERT_NOT_EQUAL(a.rgb, b.rgb);
    CU_ASSERT_NOT_EQUAL(
        fulcrum_palette_marker(i).shape, fulcrum_palette_marker(j).shape);
    /* There are five dashes; black is told apart by being dark. */
    CU_ASSERT(i == 5 || a.dash != b.dash);
}

TEST(test_colours_dashes_and_markers_differ)
{
    for (size_t i = 0; i < 36; i++) {
        if (i / 6 > i % 6) {
            check_styles_differ(i / 6, i % 6);
        }
    }
    CU_ASSERT_EQUAL(fulcrum_palette_pen(0).rgb, 0x0072B2);
}

TEST(test_label_avoids_marks_or_gives_up)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_rect bounds = {50, 50, 250, 250};
    const struct fulcrum_spot mark = {150, 150};
    const struct fulcrum_rect above = {100, 120, 200, 147};
    fulcrum_canvas_record(canvas, FULCRUM_BOX_DATA, above);
    CU_ASSERT_TRUE(fulcrum_label_near(canvas, &plain, mark, bounds, "9.2k"));
    struct fulcrum_rect placed = last_box(canvas).rect;
    CU_ASSERT_FALSE(fulcrum_rect_overlap(placed, above));
    CU_ASSERT(placed.x0 >= bounds.x0 && placed.x1 <= bounds.x1);
    /* A full panel leaves no place, and nothing is drawn. */
    fulcrum_canvas_record(canvas, FULCRUM_BOX_DATA, bounds);
    size_t before = 0;
    size_t after = 0;
    (void)fulcrum_canvas_boxes(canvas, &before);
    CU_ASSERT_FALSE(fulcrum_label_near(canvas, &plain, mark, bounds, "9.2k"));
    (void)fulcrum_canvas_boxes(canvas, &after);
    CU_ASSERT_EQUAL(before, after);
    fulcrum_canvas_free(canvas);
}

TEST(test_flags_share_rows_only_where_they_fit)
{
    const struct fulcrum_flag_room room = {0.0, 300.0, 3};
    struct fulcrum_flag_post apart[] = {
        {.x = 50, .width_pt = 40}, {.x = 150, .width_pt = 40}};
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(apart, 2, &room), 1);
    CU_ASSERT(apart[0].is_shown && apart[1].is_shown);
    /* One place for all: three rows on two sides hold six. */
    struct fulcrum_flag_post crowd[9];
    for (size_t i = 0; i < 9; i++) {
        crowd[i] = (struct fulcrum_flag_post){.x = 150.0, .width_pt = 60.0};
    }
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(crowd, 9, &room), 3);
    size_t shown = 0;
    for (size_t i = 0; i < 9; i++) {
        shown += crowd[i].is_shown ? 1U : 0U;
    }
    CU_ASSERT_EQUAL(shown, 6);
    struct fulcrum_flag_post wide[] = {{.x = 150, .width_pt = 400}};
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(wide, 1, &room), 0);
    CU_ASSERT_FALSE(wide[0].is_shown);
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(NULL, 0, &room), 0);
}

/* A picture with some of everything. */
static struct fulcrum_canvas *new_picture(void)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    const struct fulcrum_pen pen = fulcrum_palette_pen(1);
    const struct fulcrum_spot spots[] = {{20, 20}, {200, 90}, {380, 30}, {20, 20}};
    const struct fulcrum_marker marker = fulcrum_palette_marker(1);
    fulcrum_canvas_stroke(canvas, &pen, spots, 4);
    fulcrum_canvas_fill(canvas, &pen, spots, 3);
    fulcrum_canvas_marker(canvas, &pen, &marker, spots[1]);
    struct fulcrum_text style = plain;
    style.is_upright = true;
    fulcrum_canvas_text(
        canvas, &style, (struct fulcrum_spot){200, 200}, "steps per joule, µs");
    /* Not UTF-8: must neither warn nor break the file. */
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){100, 250}, "\xff\xfe");
    return canvas;
}

/* The whole file; the caller frees it. */
struct bytes {
    char *data;
    size_t length;
};

static enum fulcrum_status save(
    const char *name, double width_px, struct bytes *out, struct fulcrum_error *err)
{
    struct fulcrum_canvas *canvas = new_picture();
    FILE *file = open_memstream(&out->data, &out->length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    enum fulcrum_status status =
        fulcrum_canvas_write(canvas, name, width_px, file, err);
    CU_ASSERT_EQUAL(fclose(file), 0);
    fulcrum_canvas_free(canvas);
    return status;
}

TEST(test_files_have_their_signature_and_the_same_bytes_again)
{
    static const struct {
        const char *name;
        const char *start;
    } rows[] = {{"a.svg", "<?xml"}, {"a.pdf", "%PDF-"}, {"a.png", "\x89PNG"},
        {"UPPER.SVG", "<?xml"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bytes first = {NULL, 0};
        struct bytes second = {NULL, 0};
        ASSERT_OK(save(rows[i].name, 0.0, &first, NULL));
        ASSERT_OK(save(rows[i].name, 0.0, &second, NULL));
        CU_ASSERT_FATAL(first.length > 100 && first.length == second.length);
        CU_ASSERT_EQUAL(memcmp(first.data, rows[i].start, strlen(rows[i].start)), 0);
        CU_ASSERT_EQUAL(memcmp(first.data, second.data, first.length), 0);
        free(first.data);
        free(second.data);
    }
}

TEST(test_png_has_the_wanted_width)
{
    static const double widths_px[][2] = {{0.0, 800.0}, {1000.0, 1000.0}};
    for (size_t i = 0; i < LENGTH(widths_px); i++) {
        struct bytes png = {NULL, 0};
        double width = 0.0;
        ASSERT_OK(save("a.png", widths_px[i][0], &png, NULL));
        /* Big-endian, where PNG puts it. */
        for (size_t k = 16; k < 20; k++) {
            width = width * 256.0 + (unsigned char)png.data[k];
        }
        assert_close("width", width, widths_px[i][1], 0.0);
        free(png.data);
    }
}

TEST(test_save_names_what_is_wrong)
{
    static const struct {
        const char *name;
        double width_px;
        const char *fault;
    } rows[] = {{"a.gif", 0.0, ".svg, .pdf or .png"}, {"a", 0.0, ".svg, .pdf or .png"},
        {".svgz", 0.0, ".svg, .pdf or .png"}, {"a.svg.txt", 0.0, ".svg, .pdf or .png"},
        {"a.png", 1e6, "[16, 16384]"}, {"a.png", -1.0, "[16, 16384]"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bytes none = {NULL, 0};
        ASSERT_FAILS(save(rows[i].name, rows[i].width_px, &none, &err),
            FULCRUM_ERR_RANGE, rows[i].fault);
        free(none.data);
    }
}

/* Whenever the library reports it. */
TEST(test_a_full_disk_is_noticed)
{
    struct fulcrum_canvas *canvas = new_picture();
    FILE *full = fopen("/dev/full", "wb");
    if (full != NULL) {
        (void)setvbuf(full, NULL, _IONBF, 0);
        ASSERT_FAILS(fulcrum_canvas_write(canvas, "a.png", 0.0, full, &err),
            FULCRUM_ERR_FILE, "a.png");
        (void)fclose(full);
    }
    fulcrum_canvas_free(canvas);
}
