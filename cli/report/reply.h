/* reply.h - what one command of the program answers to another. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REPORT_REPLY_H
#define FULCRUM_CLI_REPORT_REPLY_H

#include "cli/command.h"
#include "cli/result/quantity_text.h"
#include "presets/io/reader.h"

/*
 * A command line and the JSON that came of it. {0} is a legal start: nothing was asked.
 * Its owner calls fulcrum_reply_clear.
 */
struct fulcrum_reply {
    struct fulcrum_argv_text words; /* "explore", "-m", ...: without --format */
    struct json_object *document;   /* NULL: there is none, see `refusal` */
    struct fulcrum_error refusal;   /* why; "" where nothing was asked */
    char *warnings;                 /* lines; NULL: none */
    int exit_code;                  /* that the command would have given */
    struct fulcrum_reader unheard;  /* faults of what is looked up go here */
};

/*
 * Runs the command line `reply->words`, quietly and in this process, with --format
 * json. That the command refuses or cannot do it is an answer too: document stays NULL.
 *   context  gets the exit code of a command that was stopped
 *   fails    FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_FORMAT (what
 *            it wrote cannot be read)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reply_ask(struct fulcrum_reply *reply,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_reply_clear(struct fulcrum_reply *reply);

/* The document itself; no value where there is none. Borrows from the reply. */
struct fulcrum_node fulcrum_reply_root(struct fulcrum_reply *reply);

/* A number of the outermost object; NAN where there is none. */
double fulcrum_reply_number(struct fulcrum_reply *reply, const char *key);

/* A copy of a text of it, cut to `size`; "" where there is none. */
void fulcrum_reply_text(
    struct fulcrum_reply *reply, const char *key, char *out, size_t size);

/* The text of a member of any object; "" where there is none, or it is longer. */
void fulcrum_node_member_text(
    const struct fulcrum_node *object, const char *key, char *out, size_t size);

/* The number of a member of any object; NAN where there is none. */
double fulcrum_node_member_number(const struct fulcrum_node *object, const char *key);

/* Elements of an array; 0 where it is none. */
size_t fulcrum_node_count(const struct fulcrum_node *array);

#endif
