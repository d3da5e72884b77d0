/* network_text.h - a network as a line for `fulcrum solve`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_NETWORK_TEXT_H
#define FULCRUM_TESTS_NETWORK_TEXT_H

#include "model/network.h"

/* Prints a network without tables to standard output, to be solved again by hand. */
void network_print(const struct fulcrum_network *network);

#endif
