/* answer.c - what comes of one line of a stream of networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/solver.h"
#include "model/stream.h"

static enum fulcrum_status solve_network(struct fulcrum_answer *out, size_t number,
    const struct fulcrum_solver_options *options)
{
    struct fulcrum_solver_options own = *options;
    own.seed = fulcrum_stream_seed(options->seed, number, 0);
    return fulcrum_solve(&out->network.network, &own, &out->solution, &out->failure);
}

static enum fulcrum_status solve_product_form(
    struct fulcrum_answer *out, enum fulcrum_method method)
{
    const struct fulcrum_product_form_network *network =
        &out->network.product_form.network;
    if (method != FULCRUM_METHOD_AUTO && method != FULCRUM_METHOD_PRODUCT_FORM) {
        return fulcrum_fail(&out->failure, FULCRUM_ERR_UNSUPPORTED,
            "a product_form_network has no method %s: expected %s or %s",
            fulcrum_method_name(method), fulcrum_method_name(FULCRUM_METHOD_AUTO),
            fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
    }
    out->loads = calloc(network->station_count + 1, sizeof *out->loads);
    if (out->loads == NULL) {
        return fulcrum_fail(&out->failure, FULCRUM_ERR_NO_MEMORY, "out of memory");
    }
    return fulcrum_product_form_solve(
        network, &out->cycles_per_s, out->loads, &out->failure);
}

void fulcrum_answer_find(struct fulcrum_answer *out, const struct fulcrum_line *line,
    const struct fulcrum_solver_options *options)
{
    char label[40];
    *out = (struct fulcrum_answer){.status = FULCRUM_OK};
    (void)snprintf(label, sizeof label, "line %zu", line->number);
    if (line->is_too_long) {
        out->status = fulcrum_fail(&out->failure, FULCRUM_ERR_FORMAT,
            "%s: is longer than %zu bytes", label, FULCRUM_LINE_MOST_BYTE);
        return;
    }
    out->status = fulcrum_network_line_parse(
        &out->network, label, line->text, line->length, &out->failure);
    if (out->status == FULCRUM_OK) {
        out->status = out->network.kind == FULCRUM_KIND_NETWORK
                          ? solve_network(out, line->number, options)
                          : solve_product_form(out, options->method);
        if (out->status != FULCRUM_OK) {
            (void)fulcrum_fail_in(&out->failure, out->status, label);
        }
    }
}

void fulcrum_answer_clear(struct fulcrum_answer *answer)
{
    fulcrum_network_line_clear(&answer->network);
    free(answer->loads);
    answer->loads = NULL;
    free(answer->json);
    answer->json = NULL;
}
