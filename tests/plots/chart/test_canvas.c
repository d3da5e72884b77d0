/* test_canvas.c - boxes, label places, and files that appear whole or not at all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "plots/chart/canvas.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/chart/axis.h"
#include "tests/support/suite.h"

static const struct fulcrum_text plain = {.size_pt = 10.0};

static struct fulcrum_canvas *new_canvas(void)
{
    struct fulcrum_canvas *canvas = NULL;
    ASSERT_OK(fulcrum_canvas_new(&canvas, 400.0, 300.0, NULL));
    return canvas;
}

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
    struct fulcrum_canvas *canvas = new_canvas();
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
    style.rotation_deg = 90.0;
    fulcrum_canvas_text(canvas, &style, (struct fulcrum_spot){200, 100}, "throughput");
    box = last_box(canvas);
    assert_close("end", box.rect.y0, 100.0, 1e-9);
    assert_close("start", box.rect.y1, 100.0 + extent.width_pt, 1e-9);
    assert_close("middle", (box.rect.x0 + box.rect.x1) / 2.0, 200.0, 1e-9);
    fulcrum_canvas_free(canvas);
}

TEST(test_long_text_wraps_then_is_cut)
{
    struct fulcrum_canvas *canvas = new_canvas();
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
    struct fulcrum_canvas *canvas = new_canvas();
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
    struct fulcrum_canvas *canvas = new_canvas();
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
    struct fulcrum_canvas *canvas = new_canvas();
    ASSERT_OK(fulcrum_canvas_status(canvas, NULL));
    (void)fulcrum_fail(
        fulcrum_canvas_failure(canvas), FULCRUM_ERR_NO_MEMORY, "no memory");
    fulcrum_canvas_text(canvas, &plain, (struct fulcrum_spot){9, 9}, "ignored");
    size_t count = 1;
    (void)fulcrum_canvas_boxes(canvas, &count);
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_EQUAL(fulcrum_canvas_status(canvas, NULL), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(fulcrum_canvas_write(canvas, "x.svg", NULL, stdout, NULL),
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
    struct fulcrum_canvas *canvas = new_canvas();
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
    CU_ASSERT(apart[0].shown && apart[1].shown);
    /* One place for all: three rows on two sides hold six. */
    struct fulcrum_flag_post crowd[9];
    for (size_t i = 0; i < 9; i++) {
        crowd[i] = (struct fulcrum_flag_post){.x = 150.0, .width_pt = 60.0};
    }
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(crowd, 9, &room), 3);
    size_t shown = 0;
    for (size_t i = 0; i < 9; i++) {
        shown += crowd[i].shown ? 1U : 0U;
    }
    CU_ASSERT_EQUAL(shown, 6);
    struct fulcrum_flag_post wide[] = {{.x = 150, .width_pt = 400}};
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(wide, 1, &room), 0);
    CU_ASSERT_FALSE(wide[0].shown);
    CU_ASSERT_EQUAL(fulcrum_flag_posts_place(NULL, 0, &room), 0);
}

/* A folder of this test's own, and a picture with some of everything. */
struct files {
    char folder[64];
    char path[128];
    struct fulcrum_canvas *canvas;
};

static void files_open(struct files *files)
{
    (void)snprintf(files->folder, sizeof files->folder, "/tmp/fulcrum-canvas-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(files->folder));
    files->canvas = new_canvas();
    const struct fulcrum_pen pen = fulcrum_palette_pen(1);
    const struct fulcrum_spot spots[] = {{20, 20}, {200, 90}, {380, 30}, {20, 20}};
    const struct fulcrum_marker marker = fulcrum_palette_marker(1);
    fulcrum_canvas_stroke(files->canvas, &pen, spots, 4);
    fulcrum_canvas_fill(files->canvas, &pen, spots, 3);
    fulcrum_canvas_marker(files->canvas, &pen, &marker, spots[1]);
    struct fulcrum_text style = plain;
    style.rotation_deg = 30.0;
    fulcrum_canvas_text(
        files->canvas, &style, (struct fulcrum_spot){200, 200}, "steps per joule, µs");
    /* Not UTF-8: must neither warn nor break the file. */
    fulcrum_canvas_text(
        files->canvas, &style, (struct fulcrum_spot){100, 250}, "\xff\xfe");
}

static void files_name(struct files *files, const char *name)
{
    (void)snprintf(files->path, sizeof files->path, "%s/%s", files->folder, name);
}

/* Removes one entry of the folder; nothing half-written may lie about. */
static void remove_entry(const struct files *files, const char *name)
{
    CU_ASSERT_PTR_NULL(strstr(name, ".tmp"));
    if (name[0] != '.') {
        char path[400];
        (void)snprintf(path, sizeof path, "%s/%s", files->folder, name);
        CU_ASSERT_EQUAL(unlink(path), 0);
    }
}

static void files_close(struct files *files)
{
    DIR *folder = opendir(files->folder);
    CU_ASSERT_PTR_NOT_NULL(folder);
    if (folder != NULL) {
        for (struct dirent *entry = readdir(folder); entry != NULL;
             entry = readdir(folder)) {
            remove_entry(files, entry->d_name);
        }
        (void)closedir(folder);
    }
    CU_ASSERT_EQUAL(rmdir(files->folder), 0);
    fulcrum_canvas_free(files->canvas);
}

/* The whole file; the caller frees it. */
static unsigned char *read_file(const char *path, size_t *length)
{
    const size_t most = 1000000;
    unsigned char *bytes = calloc(most, 1);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    *length = fread(bytes, 1, most, file);
    (void)fclose(file);
    CU_ASSERT(*length > 100 && *length < most);
    return bytes;
}

static enum fulcrum_status save(const struct files *files,
    const struct fulcrum_save_options *options, struct fulcrum_error *err)
{
    FILE *file = fopen(files->path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    enum fulcrum_status status =
        fulcrum_canvas_write(files->canvas, files->path, options, file, err);
    CU_ASSERT_EQUAL(fclose(file), 0);
    if (status != FULCRUM_OK) {
        CU_ASSERT_EQUAL(unlink(files->path), 0);
    }
    return status;
}

static unsigned char *save_and_read(const struct files *files, size_t *length)
{
    ASSERT_OK(save(files, NULL, NULL));
    return read_file(files->path, length);
}

static void check_file(const struct files *files, const char *start)
{
    size_t lengths[2] = {0, 0};
    unsigned char *first = save_and_read(files, &lengths[0]);
    unsigned char *second = save_and_read(files, &lengths[1]);
    CU_ASSERT_EQUAL(memcmp(first, start, strlen(start)), 0);
    CU_ASSERT_EQUAL(lengths[0], lengths[1]);
    CU_ASSERT_EQUAL(memcmp(first, second, lengths[0]), 0);
    free(first);
    free(second);
}

TEST(test_files_have_their_signature_and_the_same_bytes_again)
{
    static const struct {
        const char *name;
        const char *start;
    } rows[] = {{"a.svg", "<?xml"}, {"a.pdf", "%PDF-"}, {"a.png", "\x89PNG"},
        {"UPPER.SVG", "<?xml"}};
    struct files files = {.canvas = NULL};
    files_open(&files);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        files_name(&files, rows[i].name);
        check_file(&files, rows[i].start);
    }
    files_close(&files);
}

/* Big-endian, where PNG puts it. */
static double png_width(const char *path)
{
    size_t length = 0;
    unsigned char *bytes = read_file(path, &length);
    double width = 0.0;
    for (size_t i = 16; i < 20; i++) {
        width = width * 256.0 + bytes[i];
    }
    free(bytes);
    return width;
}

TEST(test_png_has_the_wanted_width)
{
    static const struct {
        struct fulcrum_save_options options;
        double width_px;
    } rows[] = {{{0}, 800.0}, {{.png_scale = 1.5}, 600.0},
        {{.png_scale = 3.0, .png_width_px = 1000.0}, 1000.0}};
    struct files files = {.canvas = NULL};
    files_open(&files);
    files_name(&files, "a.png");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        ASSERT_OK(save(&files, &rows[i].options, NULL));
        assert_close("width", png_width(files.path), rows[i].width_px, 0.0);
    }
    files_close(&files);
}

TEST(test_save_names_what_is_wrong)
{
    struct files files = {.canvas = NULL};
    files_open(&files);
    struct fulcrum_error err = {FULCRUM_OK, ""};
    static const char *const names[] = {"a.gif", "a", ".svgz", "a.svg.txt"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        files_name(&files, names[i]);
        CU_ASSERT_EQUAL(save(&files, NULL, &err), FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, ".svg, .pdf or .png"));
    }
    files_name(&files, "a.png");
    const struct fulcrum_save_options huge = {.png_width_px = 1e6};
    CU_ASSERT_EQUAL(save(&files, &huge, &err), FULCRUM_ERR_RANGE);
    const struct fulcrum_save_options tiny = {.png_scale = -1.0};
    CU_ASSERT_EQUAL(save(&files, &tiny, &err), FULCRUM_ERR_RANGE);
    files_close(&files);
}

/* Whenever the library reports it. */
TEST(test_a_full_disk_is_noticed)
{
    struct files files = {.canvas = NULL};
    files_open(&files);
    FILE *full = fopen("/dev/full", "wb");
    if (full != NULL) {
        (void)setvbuf(full, NULL, _IONBF, 0);
        ASSERT_FAILS(fulcrum_canvas_write(files.canvas, "a.png", NULL, full, &err),
            FULCRUM_ERR_FILE, "a.png");
        (void)fclose(full);
    }
    files_close(&files);
}
