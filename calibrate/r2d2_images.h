/* r2d2_images.h - the convolutions of the R2D2 network, a few images at a time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_R2D2_IMAGES_H
#define FULCRUM_CALIBRATE_R2D2_IMAGES_H

#include "calibrate/r2d2_layers.h"

/*
 * Images that go through the convolutions together: this bounds their windows, 0.4 MB
 * an image in the first layer. Between 1 and 16 the speed is the same within 10 %.
 */
enum { FULCRUM_R2D2_CHUNK = 8 };

/* Fills the trace's `conv` for every row of the batch. */
void fulcrum_r2d2_forward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace);

/* From the gradient of the last convolution, `gradients->conv`, to the parameters. */
void fulcrum_r2d2_backward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients);

#endif
