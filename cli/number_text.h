/* number_text.h - numbers as text, quickly, for outputs of millions of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_NUMBER_TEXT_H
#define FULCRUM_CLI_NUMBER_TEXT_H

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

#endif
