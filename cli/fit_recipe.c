/* fit_recipe.c - the arguments of a fit as one text, to be repeated later. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Written from the option table and read by it, so that no option can be forgotten.
 */
#include "cli/fit_recipe.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number_text.h"

static const struct fulcrum_syntax syntax = {fulcrum_fit_groups, fulcrum_fit_arguments};

struct fulcrum_fit_recipe {
    struct fulcrum_fit_settings settings;
    char *text; /* cut into words in place */
    char **words;
    size_t count;
};

struct writer {
    const struct fulcrum_fit_settings *settings;
    char *out;
    size_t size;
    size_t used; /* size or more: did not fit */
};

static void put(struct writer *writer, char letter)
{
    if (writer->used + 1 < writer->size) {
        writer->out[writer->used] = letter;
        writer->out[writer->used + 1] = '\0';
    }
    writer->used++;
}

static void put_text(struct writer *writer, const char *text)
{
    while (*text != '\0') {
        put(writer, *text++);
    }
}

/* 'it'\''s': quoted where a shell would see more than letters. */
static void put_word(struct writer *writer, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=.,:/@%";
    if (writer->used > 0) {
        put(writer, ' ');
    }
    if (*word != '\0' && strspn(word, plain) == strlen(word)) {
        put_text(writer, word);
        return;
    }
    put(writer, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            put_text(writer, "'\\''");
        } else {
            put(writer, *word);
        }
    }
    put(writer, '\'');
}

static void put_option(
    struct writer *writer, const struct fulcrum_option *row, const char *value)
{
    char name[64];
    (void)snprintf(name, sizeof name, "--%s", row->name);
    put_word(writer, name);
    if (value != NULL) {
        put_word(writer, value);
    }
}

static void put_number(
    struct writer *writer, const struct fulcrum_option *row, double value)
{
    if (!isnan(value)) {
        char text[FULCRUM_NUMBER_SIZE];
        (void)fulcrum_number_text_exact(value, text);
        put_option(writer, row, text);
    }
}

static void put_list(struct writer *writer, const struct fulcrum_option *row,
    const struct fulcrum_text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        put_option(writer, row, list->items[i]);
    }
}

static void put_flag(
    struct writer *writer, const struct fulcrum_option *row, int is_given)
{
    if (is_given && strcmp(row->name, FULCRUM_FIT_LEAVE_ONE_OUT) != 0) {
        put_option(writer, row, NULL);
    }
}

static void put_row(const struct fulcrum_option_group *group,
    const struct fulcrum_option *row, void *user)
{
    struct writer *writer = user;
    const void *member = (const char *)writer->settings + group->offset + row->offset;
    switch (row->kind) {
    case FULCRUM_OPTION_FLAG:
        put_flag(writer, row, *(const int *)member);
        break;
    case FULCRUM_OPTION_NUMBER:
    case FULCRUM_OPTION_COUNT:
        put_number(writer, row, *(const double *)member);
        break;
    case FULCRUM_OPTION_TEXT:
    case FULCRUM_OPTION_FILE:
        if (*(const char *const *)member != NULL) {
            put_option(writer, row, *(const char *const *)member);
        }
        break;
    case FULCRUM_OPTION_CHOICE:
        if (*(const int *)member >= 0) {
            put_option(writer, row, row->choice(*(const int *)member));
        }
        break;
    case FULCRUM_OPTION_LIST:
        put_list(writer, row, member);
        break;
    case FULCRUM_OPTION_HELP:
        break;
    }
}

enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, char *out, size_t size,
    struct fulcrum_error *err)
{
    struct writer writer = {.settings = settings, .out = out, .size = size};
    assert(size > 0);
    out[0] = '\0';
    for (size_t i = 0; i < settings->references.count; i++) {
        char path[1024];
        const char *word = settings->references.items[i];
        /* A file called "-x.csv" would be read as an option. */
        (void)snprintf(path, sizeof path, "./%s", word);
        put_word(&writer, word[0] == '-' ? path : word);
    }
    fulcrum_options_each(&syntax, put_row, &writer);
    return writer.used < size
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "the arguments of this fit are %zu bytes long: a calibration "
                     "keeps at most %zu",
                     writer.used, size - 1);
}

/* Takes quotes and backslashes out of one word, in place; NULL: a quote stays open. */
static char *end_word(char *word)
{
    char *to = word;
    char *from = word;
    int is_quoted = 0;
    for (; *from != '\0' && (is_quoted || *from != ' '); from++) {
        if (*from == '\'') {
            is_quoted = !is_quoted;
        } else {
            from += *from == '\\' && !is_quoted && from[1] != '\0' ? 1 : 0;
            *to++ = *from;
        }
    }
    char *next = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return is_quoted ? NULL : next;
}

/* As main's arguments: the first is the program's name. */
static enum fulcrum_status split(
    struct fulcrum_fit_recipe *recipe, struct fulcrum_error *err)
{
    static char program[] = "fit";
    recipe->words[recipe->count++] = program;
    char *next = recipe->text + strspn(recipe->text, " ");
    while (*next != '\0') {
        recipe->words[recipe->count++] = next;
        next = end_word(next);
        if (next == NULL) {
            return fulcrum_fail(
                err, FULCRUM_ERR_FORMAT, "a quote is not closed in its last argument");
        }
        next += strspn(next, " ");
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe **out, struct fulcrum_error *err)
{
    size_t length = strlen(text);
    struct fulcrum_fit_recipe *recipe = calloc(1, sizeof *recipe);
    if (recipe != NULL) {
        recipe->text = calloc(length + 1, 1);
        /* Words have a blank between them. */
        recipe->words = calloc(length / 2 + 3, sizeof(char *));
    }
    if (recipe == NULL || recipe->text == NULL || recipe->words == NULL) {
        fulcrum_fit_recipe_free(recipe);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "arguments of a fit");
    }
    memcpy(recipe->text, text, length + 1);
    enum fulcrum_status status = split(recipe, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_options_parse(
            &syntax, &recipe->settings, (int)recipe->count, recipe->words, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_fit_recipe_free(recipe);
        return status;
    }
    *out = recipe;
    return FULCRUM_OK;
}

void fulcrum_fit_recipe_free(struct fulcrum_fit_recipe *recipe)
{
    if (recipe != NULL) {
        fulcrum_options_free(&syntax, &recipe->settings);
        free(recipe->text);
        free((void *)recipe->words);
        free(recipe);
    }
}

const struct fulcrum_fit_settings *fulcrum_fit_recipe_settings(
    const struct fulcrum_fit_recipe *recipe)
{
    return &recipe->settings;
}
