/* quantity_text.h - numbers as text: exactly for files, with a unit for people. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_RESULT_QUANTITY_TEXT_H
#define FULCRUM_PRESETS_RESULT_QUANTITY_TEXT_H

#include <stddef.h>

/* Room for any number, with the '\0' at its end. */
enum { FULCRUM_NUMBER_SIZE = 32 };

/*
 * Writes a finite number as printf's %.12g does and returns its length. Twelve digits
 * are far more than any prediction is good for, and the same on every machine.
 */
size_t fulcrum_number_text(double value, char out[FULCRUM_NUMBER_SIZE]);

/* The same with as many digits as it takes to read back the very same number. */
size_t fulcrum_number_text_exact(double value, char out[FULCRUM_NUMBER_SIZE]);

enum { FULCRUM_QUANTITY_SIZE = 64 };

/*
 * A number with so many digits that count, thousands apart, no exponent where it can be
 * helped; "-" where it is not known.
 */
void fulcrum_number_words(double value, int digits, char out[FULCRUM_QUANTITY_SIZE]);

/*
 * "4.99 ms": value and unit, three digits. The unit "x" is that of a factor, which has
 * none: "12.3", "0.91", and near 1 what it differs by: "1.007".
 */
void fulcrum_quantity_words(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE]);

/*
 * "3.02 to 6.94 ms": both in the scale that suits `like`, the value that they are
 * beside (NAN: the upper end); "" where one is not known, and
 * where they are equal.
 */
void fulcrum_range_words(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE]);

/*
 * The same in ASCII with four digits, for terminals and files: "315 us", "11900/s";
 * whole numbers without a unit have all of theirs.
 */
void fulcrum_quantity_plain(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE]);
void fulcrum_range_plain(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE]);

#endif
