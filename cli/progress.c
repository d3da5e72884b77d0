/* progress.c - how far a long command is, and how long it still takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24, LINE_SIZE = 160, SCREEN_WIDTH = 79 };

static const double bar_interval_s = 0.2;
static const double line_interval_s = 10.0;
/* Before this an estimate of the time left is a guess. */
static const double estimate_after_frac = 0.02;

static double monotonic_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void fulcrum_progress_init(struct fulcrum_progress *out, FILE *stream,
    enum fulcrum_progress_style style, double (*clock_s)(void))
{
    *out = (struct fulcrum_progress){.stream = stream,
        .program = FULCRUM_PROGRAM,
        .style = style,
        .clock_s = clock_s,
        .start_s = clock_s()};
    out->shown_s = out->start_s - 1.0;
}

void fulcrum_progress_start(
    struct fulcrum_progress *out, const struct fulcrum_context *context)
{
    enum fulcrum_progress_style style =
        isatty(STDERR_FILENO) ? FULCRUM_PROGRESS_BAR : FULCRUM_PROGRESS_LINES;
    fulcrum_progress_init(
        out, stderr, context->quiet ? FULCRUM_PROGRESS_SILENT : style, monotonic_s);
    if (context->program != NULL) {
        out->program = context->program;
    }
}

static void format_left(
    const struct fulcrum_progress *progress, double done_frac, char *out, size_t size)
{
    double elapsed_s = progress->clock_s() - progress->start_s;
    if (done_frac < estimate_after_frac) {
        (void)snprintf(out, size, "--:-- left");
        return;
    }
    double left_s = elapsed_s * (1.0 - done_frac) / done_frac;
    double minutes = (double)(long)(left_s / 60.0);
    (void)snprintf(out, size, "%.0f:%02.0f left", minutes,
        (double)(long)(left_s - 60.0 * minutes));
}

static void draw_bar(
    struct fulcrum_progress *progress, double done_frac, const char *stage)
{
    char left[32];
    char cells[BAR_CELLS + 1];
    char line[LINE_SIZE];
    int filled = (int)(done_frac * BAR_CELLS);
    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', (size_t)filled);
    cells[BAR_CELLS] = '\0';
    format_left(progress, done_frac, left, sizeof left);
    (void)snprintf(line, sizeof line, "[%s] %3.0f %%  %s  %s", cells, 100.0 * done_frac,
        left, stage);
    line[SCREEN_WIDTH] = '\0';
    /* Blanks cover what is left of a longer line before. */
    (void)fprintf(progress->stream, "\r%-*s", progress->width, line);
    progress->width = (int)strlen(line);
}

void fulcrum_progress_update(
    struct fulcrum_progress *progress, double done_frac, const char *stage)
{
    assert(done_frac >= 0.0 && done_frac <= 1.0);
    if (progress->style == FULCRUM_PROGRESS_SILENT) {
        return;
    }
    int is_bar = progress->style == FULCRUM_PROGRESS_BAR;
    double now_s = progress->clock_s();
    double interval_s = is_bar ? bar_interval_s : line_interval_s;
    int was_shown = progress->shown_s >= progress->start_s;
    if (was_shown && now_s - progress->shown_s < interval_s) {
        return;
    }
    progress->shown_s = now_s;
    if (is_bar) {
        draw_bar(progress, done_frac, stage);
    } else {
        char left[32];
        format_left(progress, done_frac, left, sizeof left);
        (void)fprintf(progress->stream, "%s: %3.0f %%, %s: %s\n", progress->program,
            100.0 * done_frac, left, stage);
    }
    (void)fflush(progress->stream);
}

void fulcrum_progress_end(struct fulcrum_progress *progress)
{
    if (progress->style == FULCRUM_PROGRESS_BAR && progress->width > 0) {
        (void)fprintf(progress->stream, "\r%*s\r", progress->width, "");
        (void)fflush(progress->stream);
        progress->width = 0;
    }
}
