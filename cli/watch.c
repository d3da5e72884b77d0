/* watch.c - a long measurement: its progress on the screen, and Ctrl-C. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch.h"

#include "cli/interrupt.h"
#include "cli/message.h"

void fulcrum_watch_start(
    struct fulcrum_watch *watch, const struct fulcrum_context *context)
{
    watch->interrupted = fulcrum_interrupt_watch();
    fulcrum_progress_start(&watch->progress, context);
}

void fulcrum_watch_end(struct fulcrum_watch *watch)
{
    fulcrum_progress_end(&watch->progress);
}

enum fulcrum_status fulcrum_watch_settle(enum fulcrum_status status,
    struct fulcrum_context *context, const struct fulcrum_error *err)
{
    if (status != FULCRUM_ERR_INTERRUPTED) {
        return status;
    }
    context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    fulcrum_message_note(context, "%s", err != NULL ? err->detail : "stopped");
    return FULCRUM_OK;
}

int fulcrum_watch_stops(void *watch)
{
    const struct fulcrum_watch *own = watch;
    return *own->interrupted != 0;
}

void fulcrum_watch_show(void *watch, const struct fulcrum_calibrate_progress *progress)
{
    struct fulcrum_watch *own = watch;
    fulcrum_progress_update(&own->progress, progress->done_frac, progress->what);
}
