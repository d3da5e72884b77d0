/* argv_text.c - a command line as words, and as a line for people. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/argv_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fulcrum_argv_text_add(struct fulcrum_argv_text *words, const char *format, ...)
{
    char *word = NULL;
    size_t size = 0;
    FILE *stream =
        words->count < FULCRUM_WORDS_MOST ? open_memstream(&word, &size) : NULL;
    if (stream == NULL) {
        words->is_short = 1;
        return;
    }
    va_list args;
    va_start(args, format);
    int length = vfprintf(stream, format, args);
    va_end(args);
    if (fclose(stream) != 0 || length < 0) {
        free(word);
        words->is_short = 1;
        return;
    }
    words->items[words->count++] = word;
}

void fulcrum_argv_text_append(
    struct fulcrum_argv_text *words, const struct fulcrum_argv_text *other)
{
    for (size_t i = 0; i < other->count; i++) {
        fulcrum_argv_text_add(words, "%s", other->items[i]);
    }
    words->is_short = words->is_short || other->is_short;
}

int fulcrum_argv_text_have(const struct fulcrum_argv_text *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}

void fulcrum_argv_text_clear(struct fulcrum_argv_text *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i]);
    }
    *words = (struct fulcrum_argv_text){.count = 0};
}

/* Within quotes nothing is special but a quote: it is put between two quoted parts. */
void fulcrum_argv_text_word(const char *word, FILE *stream)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_=+,./:@%";
    bool is_plain = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    if (is_plain) {
        (void)fputs(word, stream);
        return;
    }
    (void)fputc('\'', stream);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            (void)fputs("'\\''", stream);
        } else {
            (void)fputc(*word, stream);
        }
    }
    (void)fputc('\'', stream);
}

void fulcrum_argv_text_print(const struct fulcrum_argv_text *words, FILE *stream)
{
    for (size_t i = 0; i < words->count; i++) {
        (void)fputs(i > 0 ? " " : "", stream);
        fulcrum_argv_text_word(words->items[i], stream);
    }
}
