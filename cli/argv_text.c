/* argv_text.c - a command line as words, and as a line for people. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/argv_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "presets/result/quantity_text.h"

void fulcrum_argv_text_add(struct fulcrum_argv_text *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *word = fulcrum_format_list(format, args);
    va_end(args);
    char **items = fulcrum_allocate(words->count + 2, sizeof *items);
    if (words->count > 0) {
        memcpy(items, words->items, words->count * sizeof *items);
    }
    items[words->count++] = word;
    free(words->items);
    words->items = items;
}

static void add_pair(
    struct fulcrum_argv_text *words, const char *name, const char *value)
{
    if (value != NULL) {
        fulcrum_argv_text_add(words, "%s", name);
        fulcrum_argv_text_add(words, "%s", value);
    }
}

void fulcrum_argv_text_option(struct fulcrum_argv_text *words,
    const struct fulcrum_option *row, const void *settings, const char *letters)
{
    char name[40];
    bool is_brief = row->letter != '\0' && strchr(letters, row->letter) != NULL;
    (void)snprintf(name, sizeof name, "--%s", row->name);
    if (is_brief) {
        (void)snprintf(name, sizeof name, "-%c", row->letter);
    }
    const void *member = (const char *)settings + row->offset;
    const struct fulcrum_text_list *list = member;
    switch (row->kind) {
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        if (!isnan(*(const double *)member)) {
            char number[FULCRUM_NUMBER_SIZE];
            (void)fulcrum_number_text_exact(*(const double *)member, number);
            add_pair(words, name, number);
        }
        break;
    case FULCRUM_OPTION_TEXT:
    case FULCRUM_OPTION_FILE:
        add_pair(words, name, *(const char *const *)member);
        break;
    case FULCRUM_OPTION_CHOICE:
        if (*(const int *)member >= 0) {
            add_pair(words, name, row->choice(*(const int *)member));
        }
        break;
    case FULCRUM_OPTION_LIST:
        for (size_t i = 0; i < list->count; i++) {
            add_pair(words, name, list->items[i]);
        }
        break;
    case FULCRUM_OPTION_FLAG:
    case FULCRUM_OPTION_HELP:
        break;
    }
}

bool fulcrum_argv_text_have(const struct fulcrum_argv_text *words, const char *start)
{
    size_t i = 0;
    while (i < words->count && strncmp(words->items[i], start, strlen(start)) != 0) {
        i++;
    }
    return i < words->count;
}

void fulcrum_argv_text_clear(struct fulcrum_argv_text *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i]);
    }
    free(words->items);
    *words = (struct fulcrum_argv_text){.count = 0};
}

void fulcrum_argv_text_line(
    const struct fulcrum_argv_text *words, struct fulcrum_string *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_=+,./:@%";
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        bool is_plain = word[0] != '\0' && word[strspn(word, plain)] == '\0';
        fulcrum_string_add(out, "%s%s", i > 0 ? " " : "", is_plain ? word : "'");
        /* Within quotes nothing is special but a quote: it is put between two parts. */
        for (; !is_plain && *word != '\0'; word++) {
            fulcrum_string_add(out, *word == '\'' ? "'\\''" : "%c", *word);
        }
        fulcrum_string_add(out, "%s", is_plain ? "" : "'");
    }
}
