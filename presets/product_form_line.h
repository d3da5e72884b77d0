/* product_form_line.h - a product-form network, read strictly from JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_PRODUCT_FORM_LINE_H
#define FULCRUM_PRESETS_PRODUCT_FORM_LINE_H

#include "model/product_form.h"

struct fulcrum_node;

/* A network with what it borrows. */
struct fulcrum_product_form_line {
    struct fulcrum_product_form_network network;
    struct fulcrum_product_form_station *stations; /* owned */
    double **rates;                                /* of each station, owned; or NULL */
};

/*
 * Adds faults for what is malformed, and those of fulcrum_product_form_check. A station
 * without a name is called by its place, "stations[2]".
 *   out      zeroed; its owner calls fulcrum_product_form_line_clear
 */
void fulcrum_product_form_line_read(
    const struct fulcrum_node *root, struct fulcrum_product_form_line *out);

/* Frees what the line owns. A zeroed line is accepted. */
void fulcrum_product_form_line_clear(struct fulcrum_product_form_line *line);

#endif
