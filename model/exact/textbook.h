/* textbook.h - the network as a textbook would solve it, to compare with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_EXACT_TEXTBOOK_H
#define FULCRUM_MODEL_EXACT_TEXTBOOK_H

#include "model/network/network.h"

/*
 * Solves a network that fulcrum_network_check accepts as if it had a product form: a
 * baseline, known to be wrong for batches (FULCRUM_FLAG_TEXTBOOK is always set);
 * docs/model.md "Product form". The bottleneck is not set.
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (beyond the ranges of fulcrum_product_form_check),
 *            FULCRUM_ERR_NUMERIC, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_textbook_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err);

#endif
