/* texts.h - an empty canvas, and what a canvas says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_TEXTS_H
#define FULCRUM_TESTS_TEXTS_H

#include <string.h>

#include "plots/chart/canvas.h"
#include "tests/support/suite.h"

/* A page of that size. */
static inline struct fulcrum_canvas *new_canvas(struct fulcrum_extent page)
{
    struct fulcrum_canvas *canvas = NULL;
    ASSERT_OK(fulcrum_canvas_new(&canvas, page.width_pt, page.height_pt, NULL));
    return canvas;
}

/* Texts on the canvas that contain `part`. */
static inline size_t count_texts(const struct fulcrum_canvas *canvas, const char *part)
{
    size_t count = 0;
    size_t found = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        int holds = boxes[i].text != NULL && strstr(boxes[i].text, part) != NULL;
        found += holds ? 1U : 0U;
    }
    return found;
}

#endif
