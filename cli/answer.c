/* answer.c - what comes of one line of a stream of networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/stream.h"

static enum fulcrum_status solve_network(struct fulcrum_answer *out, size_t number,
    const struct fulcrum_solver_options *options)
{
    struct fulcrum_solver_options own = *options;
    own.seed = fulcrum_stream_seed(options->seed, number, 0);
    return fulcrum_solve(&out->network.network, &own, &out->solution, &out->failure);
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
        out->status = solve_network(out, line->number, options);
        if (out->status != FULCRUM_OK) {
            (void)fulcrum_fail_in(&out->failure, out->status, label);
        }
    }
}

void fulcrum_answer_clear(struct fulcrum_answer *answer)
{
    fulcrum_network_line_clear(&answer->network);
    free(answer->json);
    answer->json = NULL;
}
