/* network_cost.h - what one network costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_NETWORK_COST_H
#define FULCRUM_CALIBRATE_NETWORK_NETWORK_COST_H

#include <stddef.h>

/*
 * Work counts the multiply-adds of matrix products, two operations each; element-wise
 * functions, Adam and the windows of convolutions are left out (below 1 % of it).
 */
struct fulcrum_network_cost {
    size_t parameter_count;
    double forward_flop; /* per observation */
    double train_step_flop;
    size_t buffer_byte; /* weights, optimiser, replay and every buffer */
};

#endif
