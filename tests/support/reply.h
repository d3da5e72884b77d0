/* reply.h - what a command line finds, asked in this process. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_REPLY_H
#define FULCRUM_TESTS_REPLY_H

#include "cli/report/report_section.h"

/* What is asked: the words of a line, with a space between them. */
void reply_words(struct fulcrum_reply *out, const char *line);

/* "explore -m dgx-1 ...", without quotes; NULL: it was refused. To be freed. */
struct fulcrum_result *reply_to(const char *line);

/* The first table of a result, which CSV would hold; NULL: none. */
const struct fulcrum_table *reply_rows(const struct fulcrum_result *result);

#endif
