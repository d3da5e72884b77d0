/* chart_draw.c - what drawing any chart begins and ends with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart.h"
#include "plots/page.h"

/* Pictures are too large for the stack of a thread: panels hold their ticks. */
static enum fulcrum_status draw_in_room(const struct fulcrum_chart *chart,
    struct fulcrum_canvas *canvas, const void *data, struct fulcrum_error *err)
{
    void *room = calloc(1, chart->room_byte);
    if (room == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a chart");
    }
    enum fulcrum_status status = chart->draw(canvas, room, data, err);
    if (chart->clear != NULL) {
        chart->clear(room);
    }
    free(room);
    return status;
}

enum fulcrum_status fulcrum_chart_draw(const struct fulcrum_chart *chart,
    struct fulcrum_canvas *canvas, const void *data, struct fulcrum_error *err)
{
    TRY(fulcrum_page_check(canvas, err));
    if (data != NULL && chart->check != NULL) {
        TRY(chart->check(data, err));
    }
    if (data == NULL) {
        const struct fulcrum_page page = {.title = NULL};
        fulcrum_page_draw_empty(canvas, &page);
        return fulcrum_canvas_status(canvas, err);
    }
    return draw_in_room(chart, canvas, data, err);
}
