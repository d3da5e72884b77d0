/* r2d2_images.c - the convolutions of the R2D2 network, a few images at a time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/r2d2_images.h"

enum { LAST = FULCRUM_R2D2_CONV_COUNT - 1 };

/* Bytes become floats in [0, 1]. */
static void scale_images(const struct fulcrum_conv *layer, const uint8_t *bytes,
    float *pixels, size_t row_count)
{
    size_t count = row_count * layer->height * layer->width * layer->channel_count;
    for (size_t i = 0; i < count; i++) {
        pixels[i] = (float)bytes[i] * (1.0F / 255.0F);
    }
}

/* Rows [first, first + count) of a batch; count is at most the chunk. */
struct chunk {
    size_t first;
    size_t count;
};

static struct chunk chunk_at(const struct fulcrum_r2d2_batch *batch, size_t first)
{
    size_t left = batch->step_count * batch->batch_count - first;
    return (struct chunk){
        first, left < FULCRUM_R2D2_CHUNK ? left : (size_t)FULCRUM_R2D2_CHUNK};
}

/* Where a layer's output of a chunk is: the first layers may keep one chunk only. */
static float *output_at(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_trace *trace, size_t layer, struct chunk chunk)
{
    size_t row = layer == LAST ? chunk.first : chunk.first % trace->conv_row_count;
    return trace->conv[layer] + row * fulcrum_conv_output_count(&layers->conv[layer]);
}

static void load_images(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_batch *batch, const struct fulcrum_r2d2_trace *trace,
    struct chunk chunk)
{
    const struct fulcrum_conv *layer = &layers->conv[0];
    size_t image_size = layer->height * layer->width * layer->channel_count;
    scale_images(layer, batch->image + chunk.first * image_size, trace->scratch->image,
        chunk.count);
}

void fulcrum_r2d2_forward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace)
{
    size_t rows = batch->step_count * batch->batch_count;
    for (size_t first = 0; first < rows; first += FULCRUM_R2D2_CHUNK) {
        struct chunk chunk = chunk_at(batch, first);
        struct fulcrum_pass pass = {.parameters = parameters,
            .row_count = chunk.count,
            .input = trace->scratch->image,
            .column = trace->scratch->column};
        load_images(layers, batch, trace, chunk);
        for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
            pass.output = output_at(layers, trace, i, chunk);
            fulcrum_conv_forward(&layers->conv[i], &pass);
            pass.input = pass.output;
        }
    }
}

static void backward_chunk(const struct fulcrum_r2d2_layers *layers,
    struct fulcrum_pass pass, const struct fulcrum_r2d2_trace *trace,
    struct chunk chunk)
{
    for (size_t i = LAST; i > 0; i--) {
        pass.input = output_at(layers, trace, i - 1, chunk);
        pass.output = output_at(layers, trace, i, chunk);
        pass.input_gradient = trace->scratch->gradient[i - 1];
        fulcrum_conv_backward(&layers->conv[i], &pass);
        pass.output_gradient = pass.input_gradient;
    }
    pass.input = trace->scratch->image;
    pass.output = output_at(layers, trace, 0, chunk);
    pass.input_gradient = NULL;
    fulcrum_conv_backward(&layers->conv[0], &pass);
}

void fulcrum_r2d2_backward_images(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    size_t rows = batch->step_count * batch->batch_count;
    size_t size = fulcrum_conv_output_count(&layers->conv[LAST]);
    for (size_t first = 0; first < rows; first += FULCRUM_R2D2_CHUNK) {
        struct chunk chunk = chunk_at(batch, first);
        struct fulcrum_pass pass = {.parameters = parameters,
            .row_count = chunk.count,
            .column = trace->scratch->column,
            .gradients = gradients->parameters,
            .output_gradient = gradients->conv + first * size};
        load_images(layers, batch, trace, chunk);
        backward_chunk(layers, pass, trace, chunk);
    }
}
