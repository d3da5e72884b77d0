/* answer.h - what comes of one line of a stream of networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ANSWER_H
#define FULCRUM_CLI_ANSWER_H

#include "cli/line_stream.h"
#include "model/product_form.h"
#include "model/solution.h"
#include "presets/network_line.h"

struct fulcrum_answer {
    struct fulcrum_network_line network; /* after a failure kind and name alone */
    enum fulcrum_status status;
    struct fulcrum_error failure;            /* one line, from "line N" on */
    struct fulcrum_solution solution;        /* of FULCRUM_KIND_NETWORK */
    double cycles_per_s;                     /* of FULCRUM_KIND_PRODUCT_FORM, as are */
    struct fulcrum_product_form_load *loads; /* one for each station, owned */
    char *json;                              /* one line; NULL until asked for */
};

/*
 * Reads and solves one line. Random streams derive from the seed and the line's number.
 * May run on several threads, each with its own line and answer.
 *   out      its owner calls fulcrum_answer_clear
 */
void fulcrum_answer_find(struct fulcrum_answer *out, const struct fulcrum_line *line,
    const struct fulcrum_solver_options *options);

/*
 * Makes the line of JSON that stands for the answer, or for why there is none.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_answer_make_json(
    struct fulcrum_answer *answer, struct fulcrum_error *err);

/* Frees what the answer owns. A zeroed answer is accepted. */
void fulcrum_answer_clear(struct fulcrum_answer *answer);

#endif
