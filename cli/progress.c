/* progress.c - how far a long command is, and how long it still takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "cli/message.h"

enum { BAR_CELLS = 24, LINE_SIZE = 160, SCREEN_WIDTH = 79 };

static const double bar_interval_s = 0.2;
/* A log gets no line of what is soon done, and fewer of what takes long. */
static const double least_line_interval_s = 10.0;
static const double most_line_interval_s = 60.0;
/* Before this an estimate of the time left is a guess. */
static const double estimate_after_frac = 0.02;

void fulcrum_progress_init(struct fulcrum_progress *out, FILE *stream,
    enum fulcrum_progress_style style, double (*clock_s)(void))
{
    *out = (struct fulcrum_progress){.stream = stream,
        .program = FULCRUM_PROGRAM,
        .style = style,
        .clock_s = clock_s,
        .start_s = clock_s()};
    out->due_s = out->start_s;
    if (style == FULCRUM_PROGRESS_LINES) {
        out->due_s += least_line_interval_s;
    }
}

void fulcrum_progress_start(
    struct fulcrum_progress *out, const struct fulcrum_context *context)
{
    enum fulcrum_progress_style style =
        isatty(STDERR_FILENO) ? FULCRUM_PROGRESS_BAR : FULCRUM_PROGRESS_LINES;
    fulcrum_progress_init(
        out, stderr, context->quiet ? FULCRUM_PROGRESS_SILENT : style, fulcrum_wall_s);
    if (context->program != NULL) {
        out->program = context->program;
    }
}

void fulcrum_progress_update(
    struct fulcrum_progress *progress, double done_frac, const char *stage)
{
    assert(done_frac >= 0.0 && done_frac <= 1.0);
    if (progress->style == FULCRUM_PROGRESS_SILENT) {
        return;
    }
    double now_s = progress->clock_s();
    if (now_s < progress->due_s) {
        return;
    }
    char left[32];
    double elapsed_s = now_s - progress->start_s;
    /* "2:05 left"; "" where nothing tells yet. */
    left[0] = '\0';
    if (!(done_frac < estimate_after_frac)) {
        double left_s = elapsed_s * (1.0 - done_frac) / done_frac;
        double minutes = (double)(long)(left_s / 60.0);
        (void)snprintf(left, sizeof left, "%.0f:%02.0f left", minutes,
            (double)(long)(left_s - 60.0 * minutes));
    }
    if (progress->style == FULCRUM_PROGRESS_BAR) {
        char cells[BAR_CELLS + 1];
        char line[LINE_SIZE];
        int filled = (int)(done_frac * BAR_CELLS);
        memset(cells, '.', BAR_CELLS);
        memset(cells, '#', (size_t)filled);
        cells[BAR_CELLS] = '\0';
        (void)snprintf(line, sizeof line, "[%s] %3.0f %%  %s  %s", cells,
            100.0 * done_frac, left[0] != '\0' ? left : "--:-- left", stage);
        line[SCREEN_WIDTH] = '\0';
        /* Blanks cover what is left of a longer line before. */
        (void)fprintf(progress->stream, "\r%-*s", progress->width, line);
        progress->width = (int)strlen(line);
        progress->due_s = now_s + bar_interval_s;
    } else {
        (void)fprintf(progress->stream, "%s: %3.0f %%%s%s: %s\n", progress->program,
            100.0 * done_frac, left[0] != '\0' ? ", " : "", left, stage);
        progress->due_s =
            now_s + fmin(fmax(elapsed_s, least_line_interval_s), most_line_interval_s);
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

enum fulcrum_status fulcrum_progress_settle(enum fulcrum_status status,
    struct fulcrum_context *context, const struct fulcrum_error *err)
{
    if (status != FULCRUM_ERR_INTERRUPTED) {
        return status;
    }
    context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    fulcrum_message_note(context, "%s", err != NULL ? err->detail : "stopped");
    return FULCRUM_OK;
}

bool fulcrum_progress_stops(void *progress)
{
    return *((const struct fulcrum_progress *)progress)->interrupted != 0;
}

void fulcrum_progress_show(void *progress, double done_frac, const char *what)
{
    fulcrum_progress_update(progress, done_frac, what);
}

void fulcrum_watch_start(struct fulcrum_progress *out,
    const struct fulcrum_context *context, const char *stage)
{
    fulcrum_progress_start(out, context);
    out->interrupted = fulcrum_interrupt_watch();
    out->stage = stage;
    out->part_frac = 1.0;
}

int fulcrum_watch_show(void *progress, double done_frac)
{
    struct fulcrum_progress *own = progress;
    double whole = own->first_frac + own->part_frac * done_frac;
    fulcrum_progress_update(own, fmin(1.0, whole), own->stage);
    return *own->interrupted != 0;
}

int fulcrum_watch_stopped(void *progress)
{
    return fulcrum_progress_stops(progress) ? 1 : 0;
}
