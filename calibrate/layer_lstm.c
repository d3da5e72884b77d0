/* layer_lstm.c - the sizes and first weights of a long short-term memory layer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_lstm.h"

enum { GATE_COUNT = 4 };

size_t fulcrum_lstm_gate_count(const struct fulcrum_lstm *layer)
{
    return GATE_COUNT * layer->unit_count;
}

size_t fulcrum_lstm_recurrent_offset(const struct fulcrum_lstm *layer)
{
    return layer->offset + layer->input_count * fulcrum_lstm_gate_count(layer);
}

size_t fulcrum_lstm_bias_offset(const struct fulcrum_lstm *layer)
{
    return fulcrum_lstm_recurrent_offset(layer) +
           layer->unit_count * fulcrum_lstm_gate_count(layer);
}

size_t fulcrum_lstm_parameter_count(const struct fulcrum_lstm *layer)
{
    return fulcrum_lstm_bias_offset(layer) + fulcrum_lstm_gate_count(layer) -
           layer->offset;
}

double fulcrum_lstm_mac_count(const struct fulcrum_lstm *layer)
{
    return (double)(layer->input_count + layer->unit_count) *
           (double)fulcrum_lstm_gate_count(layer);
}

void fulcrum_lstm_init(
    const struct fulcrum_lstm *layer, float *parameters, struct fulcrum_random *random)
{
    size_t width = fulcrum_lstm_gate_count(layer);
    fulcrum_layer_fill(parameters + layer->offset, layer->input_count * width,
        layer->input_count + layer->unit_count, random);
    fulcrum_layer_fill(parameters + fulcrum_lstm_recurrent_offset(layer),
        layer->unit_count * width, 2 * layer->unit_count, random);
    float *forget = parameters + fulcrum_lstm_bias_offset(layer) + layer->unit_count;
    for (size_t i = 0; i < layer->unit_count; i++) {
        forget[i] = 1.0F;
    }
}
