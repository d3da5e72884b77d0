/* argv_text.h - a command line as words, and as a line for people. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ARGV_TEXT_H
#define FULCRUM_CLI_ARGV_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/status.h"

enum { FULCRUM_WORDS_MOST = 96 };

/* {0} is a legal start. Owns its words. */
struct fulcrum_argv_text {
    size_t count;
    char *items[FULCRUM_WORDS_MOST + 1]; /* NULL after the last one */
    bool is_short;                       /* of memory or of room: a word is missing */
};

/* Adds one word, made as by printf. */
void fulcrum_argv_text_add(struct fulcrum_argv_text *words, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* Adds copies of all words of `other`. */
void fulcrum_argv_text_append(
    struct fulcrum_argv_text *words, const struct fulcrum_argv_text *other);

/* 1 where one of the words is this one. */
int fulcrum_argv_text_have(const struct fulcrum_argv_text *words, const char *word);

/* Leaves it empty. */
void fulcrum_argv_text_clear(struct fulcrum_argv_text *words);

/* One word, in quotes where it has other than plain characters. */
void fulcrum_argv_text_word(const char *word, FILE *stream);

/* As a shell reads it back: words with other than plain characters in quotes. */
void fulcrum_argv_text_print(const struct fulcrum_argv_text *words, FILE *stream);

#endif
