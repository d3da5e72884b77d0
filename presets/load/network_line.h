/* network_line.h - one line of a stream of networks, read strictly from JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_NETWORK_LINE_H
#define FULCRUM_PRESETS_LOAD_NETWORK_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/agent/agent.h"
#include "model/exact/exact.h"
#include "model/network/network.h"
#include "model/status.h"

struct fulcrum_node;

/* A network with what it borrows. */
struct fulcrum_product_form_line {
    struct fulcrum_product_form_network network;
    struct fulcrum_product_form_station *stations; /* owned */
    double **rates;                                /* of each station, owned; or NULL */
};

/* What a line holds; the texts are what "kind" says. */
enum fulcrum_network_kind {
    FULCRUM_KIND_NETWORK,      /* "network", also where no kind is given */
    FULCRUM_KIND_PRODUCT_FORM, /* "product_form_network" */
    FULCRUM_KIND_AGENT,        /* "agent_network" */
    FULCRUM_NETWORK_KINDS
};

struct fulcrum_network_line {
    enum fulcrum_network_kind kind;
    bool has_name; /* 0: none was given, or it could not be read */
    char name[256];
    struct fulcrum_network network;
    struct fulcrum_agent_network agent;
    double *capacity; /* of the CPU of either, owned; NULL where no table was given */
    struct fulcrum_product_form_line product_form; /* of the other kind */
};

/*
 * Reads a network as docs/solve.md describes it and checks it, so that every solver may
 * be given the result.
 *   out      its owner calls fulcrum_network_line_clear, after a failure too, which
 *            leaves kind and name where they could be read
 *   label    which line it is, at most 60 bytes ("line 3"); begins the detail
 *   text     any bytes, a zero byte at text[length]
 *   fails    FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE: one line of
 *            detail with every fault, "; " between them; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_line_parse(
    struct fulcrum_network_line *out, const char *label, const char *text,
    size_t length, struct fulcrum_error *err);

/*
 * The line that reads as this network, without its end. The network has neither tables
 * nor a saturating curve.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_line_text(
    const struct fulcrum_network *network, char **out, struct fulcrum_error *err);

void fulcrum_network_line_clear(struct fulcrum_network_line *line);

#endif
