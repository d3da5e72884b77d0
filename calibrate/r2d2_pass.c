/* r2d2_pass.c - forward and backward through the layers of the R2D2 network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/r2d2_layers.h"

#include <assert.h>
#include <string.h>

#include "calibrate/layer_duel.h"
#include "calibrate/r2d2_images.h"

/* dense output, last reward, one-hot last action */
static void join_core_input(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_batch *batch, const struct fulcrum_r2d2_trace *trace)
{
    size_t rows = batch->step_count * batch->batch_count;
    size_t dense = layers->dense.output_count;
    size_t width = layers->lstm.input_count;
    for (size_t i = 0; i < rows; i++) {
        float *row = trace->core_input + i * width;
        memcpy(row, trace->dense + i * dense, dense * sizeof *row);
        memset(row + dense, 0, (width - dense) * sizeof *row);
        row[dense] = batch->last_reward[i];
        row[dense + 1 + (size_t)batch->last_action[i]] = 1.0F;
    }
}

void fulcrum_r2d2_forward_core(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    struct fulcrum_r2d2_trace *trace)
{
    fulcrum_r2d2_forward_images(layers, parameters, batch, trace);
    struct fulcrum_pass pass = {.parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = trace->conv[FULCRUM_R2D2_CONV_COUNT - 1],
        .output = trace->dense};
    fulcrum_dense_forward(&layers->dense, &pass);
    join_core_input(layers, batch, trace);
    trace->core.step_count = batch->step_count;
    trace->core.batch_count = batch->batch_count;
    pass.input = trace->core_input;
    fulcrum_lstm_forward(&layers->lstm, &pass, &trace->core);
}

/* Step 0 of the LSTM's output is the state before the first row. */
static const float *core_output(
    const struct fulcrum_r2d2_layers *layers, const struct fulcrum_r2d2_trace *trace)
{
    return trace->core.hidden + trace->core.batch_count * layers->lstm.unit_count;
}

void fulcrum_r2d2_forward_heads(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_trace *trace)
{
    size_t rows = trace->core.step_count * trace->core.batch_count;
    struct fulcrum_pass pass = {.parameters = parameters, .row_count = rows};
    pass.input = core_output(layers, trace);
    pass.output = trace->value_hidden;
    fulcrum_dense_forward(&layers->value_hidden, &pass);
    pass.output = trace->advantage_hidden;
    fulcrum_dense_forward(&layers->advantage_hidden, &pass);
    pass.input = trace->value_hidden;
    pass.output = trace->value;
    fulcrum_dense_forward(&layers->value, &pass);
    pass.input = trace->advantage_hidden;
    pass.output = trace->advantage;
    fulcrum_dense_forward(&layers->advantage, &pass);
    struct fulcrum_duel duel = {rows, layers->action_count};
    fulcrum_duel_forward(duel, trace->value, trace->advantage, trace->q);
}

/* One head: a linear layer on a hidden one. */
struct head {
    const struct fulcrum_dense *hidden;
    const struct fulcrum_dense *last;
    float *hidden_output;
    float *last_gradient;
    float *input_gradient;
};

static void backward_head(const struct head *head, const struct fulcrum_pass *pass,
    const float *input, float *hidden_gradient)
{
    struct fulcrum_pass last = *pass;
    last.input = head->hidden_output;
    last.output_gradient = head->last_gradient;
    last.input_gradient = hidden_gradient;
    fulcrum_dense_backward(head->last, &last);
    struct fulcrum_pass hidden = *pass;
    hidden.input = input;
    hidden.output = head->hidden_output;
    hidden.output_gradient = hidden_gradient;
    hidden.input_gradient = head->input_gradient;
    fulcrum_dense_backward(head->hidden, &hidden);
}

static void backward_heads(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_pass *pass, const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    struct fulcrum_duel duel = {pass->row_count, layers->action_count};
    struct head value = {&layers->value_hidden, &layers->value, trace->value_hidden,
        gradients->value, gradients->core.hidden};
    struct head advantage = {&layers->advantage_hidden, &layers->advantage,
        trace->advantage_hidden, gradients->advantage, gradients->head_input};
    const float *input = core_output(layers, trace);
    size_t count = pass->row_count * layers->lstm.unit_count;
    fulcrum_duel_backward(duel, gradients->q, gradients->value, gradients->advantage);
    backward_head(&value, pass, input, gradients->head_hidden);
    backward_head(&advantage, pass, input, gradients->head_hidden);
    for (size_t i = 0; i < count; i++) {
        gradients->core.hidden[i] += gradients->head_input[i];
    }
}

/* The dense layer's share of the joined input. */
static void split_core_gradient(const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_gradients *gradients, size_t row_count)
{
    size_t dense = layers->dense.output_count;
    for (size_t i = 0; i < row_count; i++) {
        memcpy(gradients->dense + i * dense,
            gradients->core_input + i * layers->lstm.input_count,
            dense * sizeof *gradients->dense);
    }
}

void fulcrum_r2d2_backward_layers(const struct fulcrum_r2d2_layers *layers,
    const float *parameters, const struct fulcrum_r2d2_batch *batch,
    const struct fulcrum_r2d2_trace *trace,
    const struct fulcrum_r2d2_gradients *gradients)
{
    assert(batch->batch_count == trace->core.batch_count);
    struct fulcrum_pass pass = {.parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .gradients = gradients->parameters};
    backward_heads(layers, &pass, trace, gradients);
    pass.input = trace->core_input;
    pass.input_gradient = gradients->core_input;
    fulcrum_lstm_backward(&layers->lstm, &pass, &trace->core, &gradients->core);
    split_core_gradient(layers, gradients, pass.row_count);
    pass.input = trace->conv[FULCRUM_R2D2_CONV_COUNT - 1];
    pass.output = trace->dense;
    pass.output_gradient = gradients->dense;
    pass.input_gradient = gradients->conv;
    fulcrum_dense_backward(&layers->dense, &pass);
    fulcrum_r2d2_backward_images(layers, parameters, batch, trace, gradients);
}
