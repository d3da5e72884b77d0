/* output.c - writes a page as SVG, PDF or PNG. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>

#include "model/try.h"
#include "plots/chart/canvas.h"

static const double default_scale = 2.0;

/* Endings are compared without case, as cameras and some systems write .PNG. */
static enum fulcrum_status file_type(
    const char *path, enum fulcrum_file_type *out, struct fulcrum_error *err)
{
    static const char *const endings[] = {[FULCRUM_FILE_SVG] = ".svg",
        [FULCRUM_FILE_PDF] = ".pdf",
        [FULCRUM_FILE_PNG] = ".png"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (length > 4 && strcasecmp(path + length - 4, endings[i]) == 0) {
            *out = (enum fulcrum_file_type)i;
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_RANGE,
        "%s: a chart's file must end in .svg, .pdf or .png", path);
}

/* A width in pixels goes before a scale. */
static enum fulcrum_status png_scale(const struct fulcrum_save_options *options,
    struct fulcrum_extent extent, double *out, struct fulcrum_error *err)
{
    const double least_px = 16.0;
    const double most_px = 16384.0;
    double scale = default_scale;
    if (options != NULL && options->png_width_px != 0.0) {
        scale = options->png_width_px / extent.width_pt;
    } else if (options != NULL && options->png_scale != 0.0) {
        scale = options->png_scale;
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
    const char *path, const struct fulcrum_save_options *options, FILE *file,
    struct fulcrum_error *err)
{
    enum fulcrum_file_type type = FULCRUM_FILE_SVG;
    double scale = default_scale;
    TRY(file_type(path, &type, err));
    TRY(png_scale(options, fulcrum_canvas_extent(canvas), &scale, err));
    TRY(fulcrum_canvas_status(canvas, err));
    struct fulcrum_drawing drawing = fulcrum_canvas_drawing(canvas);
    enum fulcrum_status status = fulcrum_render(&drawing, type, scale, file, err);
    return status == FULCRUM_OK ? status : fulcrum_fail_in(err, status, path);
}
