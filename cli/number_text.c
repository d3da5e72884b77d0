/* number_text.c - numbers as text, quickly, for outputs of millions of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * printf works with numbers of any length to be exact, which takes longer than solving
 * a network. Most numbers need no such care: a double times a power of ten up to 10^22
 * (those are exact) is off by half a unit in its last of 53 bits, so that twelve digits
 * of it are known unless what follows them is next to a half. Then, and for very large
 * and very small numbers, printf decides. The text is thereby always that of printf.
 *
 * Reading back goes the same way: digits below 2^53 over or times such a power of ten
 * are rounded once, as strtod rounds, so one division tells what strtod would read.
 */
#include "cli/number_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10^22 is the largest power of ten that a double holds exactly. */
enum { POWER_MOST = 22, DIGITS = 12, DIGITS_EXACT = 15 };

static const double powers[POWER_MOST + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22};

/* digits * 10^(exponent + 1 - count): a decimal number of `count` digits. */
struct decimal {
    uint64_t digits;
    int count;
    int exponent; /* of the first digit */
};

static double scaled_up(double magnitude, int power)
{
    return power >= 0 ? magnitude * powers[power] : magnitude / powers[-power];
}

/* A lower bound of log10, and at most 1 below it. */
static int least_exponent(double magnitude)
{
    const double log10_of_2 = 0.30102999566398120;
    int power = 0;
    (void)frexp(magnitude, &power);
    return (int)floor((double)(power - 1) * log10_of_2);
}

/*
 * Rounds to `count` digits; 0 where the power of ten would not be exact. `doubt` is how
 * far the cut-off part is from a half: little means that it may round the other way.
 */
static int round_to(double magnitude, int count, struct decimal *out, double *doubt)
{
    int exponent = least_exponent(magnitude);
    int power = count - 1 - exponent;
    if (power > POWER_MOST || power <= -POWER_MOST) {
        return 0;
    }
    double scaled = scaled_up(magnitude, power);
    if (scaled >= powers[count]) {
        exponent++;
        scaled = scaled_up(magnitude, power - 1);
    }
    double whole = floor(scaled);
    double rest = scaled - whole;
    out->digits = (uint64_t)whole + (rest > 0.5 ? 1U : 0U);
    out->count = count;
    out->exponent = exponent;
    *doubt = fabs(rest - 0.5);
    if (out->digits == (uint64_t)powers[count]) {
        out->digits /= 10U;
        out->exponent++;
    }
    return scaled >= powers[count - 1];
}

static void drop_zeros(struct decimal *number)
{
    while (number->digits % 10U == 0U && number->count > 1) {
        number->digits /= 10U;
        number->count--;
    }
}

static void put_digits(uint64_t digits, int count, char *out)
{
    for (int i = count - 1; i >= 0; i--) {
        out[i] = (char)('0' + (int)(digits % 10U));
        digits /= 10U;
    }
}

/* 0.00123: zeros between the point and the digits. */
static char *put_small(const struct decimal *number, char *out)
{
    *out++ = '0';
    *out++ = '.';
    for (int i = number->exponent + 1; i < 0; i++) {
        *out++ = '0';
    }
    put_digits(number->digits, number->count, out);
    return out + number->count;
}

/* Digits with a point after the first `whole` of them, and zeros where they end before
 * it. */
static char *put_plain(const struct decimal *number, int whole, char *out)
{
    put_digits(number->digits, number->count, out);
    if (number->count <= whole) {
        memset(out + number->count, '0', (size_t)(whole - number->count));
        return out + whole;
    }
    memmove(out + whole + 1, out + whole, (size_t)(number->count - whole));
    out[whole] = '.';
    return out + number->count + 1;
}

static char *put_exponent(int exponent, char *out)
{
    int magnitude = abs(exponent);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    put_digits((uint64_t)magnitude, 2, out);
    return out + 2;
}

/* As %g: an exponent where the number is below 0.0001 or has more than `most` digits
 * before the point. */
static char *put_decimal(const struct decimal *number, int most, char *out)
{
    if (number->exponent < -4 || number->exponent >= most) {
        return put_exponent(number->exponent, put_plain(number, 1, out));
    }
    return number->exponent < 0 ? put_small(number, out)
                                : put_plain(number, number->exponent + 1, out);
}

static size_t end_text(const char *start, char *end)
{
    *end = '\0';
    return (size_t)(end - start);
}

static char *put_sign(double value, char *out)
{
    if (signbit(value)) {
        *out++ = '-';
    }
    return out;
}

static size_t text_of_zero(double value, char *out)
{
    char *at = put_sign(value, out);
    *at++ = '0';
    return end_text(out, at);
}

size_t fulcrum_number_text(double value, char out[FULCRUM_NUMBER_SIZE])
{
    /* The error of the scaled number is below 10^12 * 2^-53 = 1.2e-4. */
    const double least_doubt = 1e-3;
    double magnitude = fabs(value);
    struct decimal number;
    double doubt = 0.0;
    if (!(magnitude > 0.0)) {
        return text_of_zero(value, out);
    }
    if (!round_to(magnitude, DIGITS, &number, &doubt) || doubt < least_doubt) {
        return (size_t)snprintf(out, FULCRUM_NUMBER_SIZE, "%.12g", value);
    }
    drop_zeros(&number);
    return end_text(out, put_decimal(&number, DIGITS, put_sign(value, out)));
}

/* What strtod reads; the number has at most 15 digits. */
static double value_of(const struct decimal *number)
{
    return scaled_up((double)number->digits, number->exponent + 1 - number->count);
}

size_t fulcrum_number_text_exact(double value, char out[FULCRUM_NUMBER_SIZE])
{
    double magnitude = fabs(value);
    struct decimal number;
    double doubt = 0.0;
    if (!(magnitude > 0.0)) {
        return text_of_zero(value, out);
    }
    if (round_to(magnitude, DIGITS_EXACT, &number, &doubt) &&
        value_of(&number) == magnitude) {
        drop_zeros(&number);
        return end_text(out, put_decimal(&number, DIGITS_EXACT, put_sign(value, out)));
    }
    int length = snprintf(out, FULCRUM_NUMBER_SIZE, "%.16g", value);
    if (strtod(out, NULL) != value) {
        length = snprintf(out, FULCRUM_NUMBER_SIZE, "%.17g", value);
    }
    return (size_t)length;
}
