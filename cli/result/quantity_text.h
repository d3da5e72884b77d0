/* quantity_text.h - quantities as people write them: 2.01 ms, 2 h 47 min, 54 %. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_RESULT_QUANTITY_TEXT_H
#define FULCRUM_CLI_RESULT_QUANTITY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/status.h"

/* Numbers as text, quickly, for outputs of millions of them. */

/* Room for any number, with the '\0' at its end. */
enum { FULCRUM_NUMBER_SIZE = 32 };

/*
 * Writes a finite number as printf's %.12g does and returns its length. Twelve digits
 * are far more than any prediction is good for, and the same on every machine.
 */
size_t fulcrum_number_text(double value, char out[FULCRUM_NUMBER_SIZE]);

/* The same with as many digits as it takes to read back the very same number. */
size_t fulcrum_number_text_exact(double value, char out[FULCRUM_NUMBER_SIZE]);

/* A command line as words, and as a line for people. */

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

/* As a shell reads it back: words with other than plain characters in quotes. */
void fulcrum_argv_text_print(const struct fulcrum_argv_text *words, FILE *stream);

enum { FULCRUM_QUANTITY_SIZE = 64 };

/*
 * A number with so many digits that count, thousands apart, no exponent where it can be
 * helped; "-" where it is not known.
 */
void fulcrum_number_words(double value, int digits, char out[FULCRUM_QUANTITY_SIZE]);

/* "4.99 ms": value and unit, three digits. */
void fulcrum_quantity_words(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE]);

/*
 * "3.02 to 6.94 ms": both in the scale that suits `like`, the value that they are
 * beside (NAN: the upper end); "" where one is not known.
 */
void fulcrum_range_words(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE]);

/* A factor near 1 with two decimals, "1.00" as well as "0.91"; three digits of others.
 */
void fulcrum_factor_words(double value, char out[FULCRUM_QUANTITY_SIZE]);

/* "0.91 to 1.20"; "" where one is not known. */
void fulcrum_factor_range_words(
    double lo, double hi, char out[2 * FULCRUM_QUANTITY_SIZE]);

/* The unit of an output: "%" for a share, else the one that is given. */
const char *fulcrum_shown_unit(const char *output, const char *unit);

#endif
