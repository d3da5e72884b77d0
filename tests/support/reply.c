/* reply.c - what a command line finds, asked in this process. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strtok_r */

#include "tests/support/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

void reply_words(struct fulcrum_reply *out, const char *line)
{
    char *words = strdup(line);
    char *rest = NULL;
    CU_ASSERT_FATAL(words != NULL);
    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        fulcrum_argv_text_add(&out->words, "%s", word);
    }
    free(words);
}

struct fulcrum_result *reply_to(const char *line)
{
    struct fulcrum_reply reply = {.result = NULL};
    reply_words(&reply, line);
    fulcrum_reply_ask(&reply);
    struct fulcrum_result *result = reply.result;
    if (result == NULL) {
        (void)fprintf(stderr, "%s: %s\n", line, reply.refusal.detail);
    }
    reply.result = NULL;
    fulcrum_reply_clear(&reply);
    return result;
}

const struct fulcrum_table *reply_rows(const struct fulcrum_result *result)
{
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (item->table != NULL && !item->is_list) {
            return item->table;
        }
    }
    return NULL;
}
