/* output.c - writes a page to a file that appears whole or not at all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "model/try.h"
#include "plots/render.h"

static const double default_scale = 2.0;

/* Room for ".tmp", a process id, a counter and the end. */
enum { SUFFIX_SIZE = 40, NAME_TRIES = 100 };

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
    if (!(width_px >= least_px && height_px >= least_px && width_px <= most_px &&
            height_px <= most_px)) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "picture of %.4g x %.4g pixels: each side must be in [%g, %g]", width_px,
            height_px, least_px, most_px);
    }
    *out = scale;
    return FULCRUM_OK;
}

/*
 * Unlike mkstemp, this leaves the permissions to the user's umask, as for any file that
 * a program writes.
 */
static FILE *create(const char *name)
{
    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return NULL;
    }
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) {
        (void)close(descriptor);
        (void)unlink(name);
    }
    return file;
}

/* A new file beside `path`; its name is written to `name`. */
static FILE *open_beside(const char *path, char *name, size_t size)
{
    FILE *file = NULL;
    errno = EEXIST;
    for (int i = 0; i < NAME_TRIES && file == NULL && errno == EEXIST; i++) {
        (void)snprintf(name, size, "%s.tmp%ld-%d", path, (long)getpid(), i);
        file = create(name);
    }
    return file;
}

/* Reads errno, so it must come right after the failure. */
static enum fulcrum_status fail_file(struct fulcrum_error *err, const char *path)
{
    char reason[128] = "";
    if (strerror_r(errno, reason, sizeof reason) != 0) {
        (void)snprintf(reason, sizeof reason, "error %d", errno);
    }
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s cannot be written: %s", path, reason);
}

/* The data must be on the disk before the name is, or a crash leaves an empty file. */
static enum fulcrum_status finish(
    FILE *file, const char *name, const char *path, struct fulcrum_error *err)
{
    int written = fflush(file) == 0 && fsync(fileno(file)) == 0;
    int closed = fclose(file) == 0;
    if (!written || !closed || rename(name, path) != 0) {
        return fail_file(err, path);
    }
    return FULCRUM_OK;
}

struct target {
    const char *path;
    enum fulcrum_file_type type;
    double scale;
};

/* A reader of the path sees the old file or the new one, never a part. */
static enum fulcrum_status write_beside_and_rename(
    const struct fulcrum_drawing *drawing, const struct target *target,
    struct fulcrum_error *err)
{
    size_t size = strlen(target->path) + SUFFIX_SIZE;
    char *name = calloc(size, 1);
    if (name == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a file name");
    }
    FILE *file = open_beside(target->path, name, size);
    if (file == NULL) {
        enum fulcrum_status failure = fail_file(err, target->path);
        free(name);
        return failure;
    }
    enum fulcrum_status status =
        fulcrum_render(drawing, target->type, target->scale, file, err);
    if (status == FULCRUM_OK) {
        status = finish(file, name, target->path, err);
    } else {
        (void)fclose(file);
        status = fulcrum_fail_in(err, status, target->path);
    }
    if (status != FULCRUM_OK) {
        (void)unlink(name);
    }
    free(name);
    return status;
}

enum fulcrum_status fulcrum_canvas_save(const struct fulcrum_canvas *canvas,
    const char *path, const struct fulcrum_save_options *options,
    struct fulcrum_error *err)
{
    struct target target = {.path = path};
    TRY(file_type(path, &target.type, err));
    TRY(png_scale(options, fulcrum_canvas_extent(canvas), &target.scale, err));
    TRY(fulcrum_canvas_status(canvas, err));
    struct fulcrum_drawing drawing = fulcrum_canvas_drawing(canvas);
    return write_beside_and_rename(&drawing, &target, err);
}
