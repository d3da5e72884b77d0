/* argv_text.h - a command line as words, and as a line for people. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ARGV_TEXT_H
#define FULCRUM_CLI_ARGV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/option.h"
#include "model/status.h"
#include "model/string.h"

/* {0} is a legal start. Owns its words; without memory the program ends. */
struct fulcrum_argv_text {
    size_t count;
    char **items; /* NULL after the last one; NULL without words */
};

/* Adds one word, made as by printf. */
void fulcrum_argv_text_add(struct fulcrum_argv_text *words, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/*
 * Adds an option with its value, for a list each of them; nothing where it is not
 * given. Flags are left out.
 *   settings  parsed, as the row's group places it
 *   letters   "mw": options that are written as "-m", "-w"; others as "--name"
 */
void fulcrum_argv_text_option(struct fulcrum_argv_text *words,
    const struct fulcrum_option *row, const void *settings, const char *letters);

/* Whether one of the words begins so. */
bool fulcrum_argv_text_have(const struct fulcrum_argv_text *words, const char *start);

/* Leaves it empty. */
void fulcrum_argv_text_clear(struct fulcrum_argv_text *words);

/* Adds all words as a shell reads them back: other than plain characters in quotes. */
void fulcrum_argv_text_line(
    const struct fulcrum_argv_text *words, struct fulcrum_string *out);

#endif
