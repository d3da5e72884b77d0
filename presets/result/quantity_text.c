/* quantity_text.c - quantities as people write them: 2.01 ms, 2 h 47 min, 54 %. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/quantity_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How values of one kind are written: divided by `size`, followed by `unit`. */
struct fulcrum_unit_scale {
    double size;
    const char *unit; /* static; "" for plain numbers */
};

/*
 * Numbers as text, quickly, for outputs of millions of them.
 *
 * printf works with numbers of any length to be exact, which takes longer than solving
 * a network. Most numbers need no such care: a double times a power of ten up to 10^22
 * (those are exact) is off by half a unit in its last of 53 bits, so that twelve digits
 * of it are known unless what follows them is next to a half. Then, and for very large
 * and very small numbers, printf decides. The text is thereby always that of printf.
 *
 * Reading back goes the same way: digits below 2^53 over or times such a power of ten
 * are rounded once, as strtod rounds, so one division tells what strtod would read.
 */

/* 10^22 is the largest power of ten that a double holds exactly. */
enum { POWER_MOST = 22, NUMBER_TEXT_DIGITS = 12, DIGITS_EXACT = 15 };

static const double powers[POWER_MOST + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22};

/* 00 to 99: two digits of a number from one division. */
static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

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

/*
 * Rounds to `count` digits; 0 where the power of ten would not be exact. `doubt` is how
 * far the cut-off part is from a half: little means that it may round the other way.
 */
static int round_to(double magnitude, int count, struct decimal *out, double *doubt)
{
    /* A lower bound of log10, and at most 1 below it. */
    const double log10_of_2 = 0.30102999566398120;
    if (magnitude < 1e9 && !(magnitude > (double)(uint32_t)magnitude)) {
        /* Whole: counts are, in millions of rows. */
        out->digits = (uint32_t)magnitude;
        out->count = 1;
        while (magnitude >= powers[out->count]) {
            out->count++;
        }
        out->exponent = out->count - 1;
        *doubt = 0.5;
        return 1;
    }
    uint64_t bits = 0;
    memcpy(&bits, &magnitude, sizeof bits);
    double log10 = ((double)(bits >> 52U) - 1023.0) * log10_of_2;
    int exponent = (int)log10 - (log10 < 0.0); /* floor: it is whole at 0 alone */
    int power = count - 1 - exponent;
    if (power > POWER_MOST || power <= -POWER_MOST) {
        return 0;
    }
    double scaled = scaled_up(magnitude, power);
    if (scaled >= powers[count]) {
        exponent++;
        scaled = scaled_up(magnitude, power - 1);
    }
    uint64_t whole = (uint64_t)scaled;
    double rest = scaled - (double)whole;
    out->digits = whole + (rest > 0.5 ? 1U : 0U);
    out->count = count;
    out->exponent = exponent;
    *doubt = fabs(rest - 0.5);
    if (out->digits == (uint64_t)powers[count]) {
        out->digits /= 10U;
        out->exponent++;
    }
    return scaled >= powers[count - 1];
}

/* Without the zeros at its end, but one digit. */
static struct decimal trim(const struct decimal *number)
{
    struct decimal out = *number;
    while (out.digits % 10U == 0U && out.count > 1) {
        bool is_long = out.digits % 10000U == 0U && out.count > 4;
        out.digits /= is_long ? 10000U : 10U;
        out.count -= is_long ? 4 : 1;
    }
    return out;
}

/*
 * As %g: sign, digits without zeros at their end, an exponent where the number is below
 * 0.0001 or has more than `most` digits before the point, and '\0'. Returns the length.
 */
static size_t put_number(
    double value, const struct decimal *number, int most, char *out)
{
    struct decimal trimmed = trim(number);
    uint64_t digits = trimmed.digits;
    int count = trimmed.count;
    int exponent = trimmed.exponent;
    bool is_scientific = exponent < -4 || exponent >= most;
    char *at = out;
    if (signbit(value)) {
        *at++ = '-';
    }
    /* Zeros between the point and the digits, or between these and the point. */
    int before = is_scientific || exponent >= 0 ? 0 : -exponent;
    int whole = is_scientific ? 1 : exponent + 1 + before;
    int all = before + (count > whole ? count : whole);
    memset(at, '0', (size_t)all);
    int last = before + count - 1;
    for (; last > before; last -= 2) {
        memcpy(at + last - 1, &digit_pairs[2U * (digits % 100U)], 2);
        digits /= 100U;
    }
    if (last == before) {
        at[last] = (char)('0' + (int)digits);
    }
    if (all > whole) {
        memmove(at + whole + 1, at + whole, (size_t)(all - whole));
        at[whole] = '.';
        all++;
    }
    at += all;
    if (is_scientific) {
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        *at++ = (char)('0' + abs(exponent) / 10);
        *at++ = (char)('0' + abs(exponent) % 10);
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t fulcrum_number_text(double value, char out[FULCRUM_NUMBER_SIZE])
{
    /* The error of the scaled number is below 10^12 * 2^-53 = 1.2e-4. */
    const double least_doubt = 1e-3;
    double magnitude = fabs(value);
    struct decimal number = {0, 1, 0};
    double doubt = 0.0;
    if (magnitude > 0.0 && (!round_to(magnitude, NUMBER_TEXT_DIGITS, &number, &doubt) ||
                               doubt < least_doubt)) {
        return (size_t)snprintf(out, FULCRUM_NUMBER_SIZE, "%.12g", value);
    }
    return put_number(value, &number, NUMBER_TEXT_DIGITS, out);
}

size_t fulcrum_number_text_exact(double value, char out[FULCRUM_NUMBER_SIZE])
{
    double magnitude = fabs(value);
    struct decimal number = {0, 1, 0};
    double doubt = 0.0;
    bool is_short = !(magnitude > 0.0);
    if (!is_short && round_to(magnitude, DIGITS_EXACT, &number, &doubt)) {
        /* What strtod reads; the number has at most 15 digits. */
        is_short = scaled_up((double)number.digits,
                       number.exponent + 1 - number.count) == magnitude;
    }
    if (is_short) {
        return put_number(value, &number, DIGITS_EXACT, out);
    }
    int length = snprintf(out, FULCRUM_NUMBER_SIZE, "%.16g", value);
    if (strtod(out, NULL) != value) {
        length = snprintf(out, FULCRUM_NUMBER_SIZE, "%.17g", value);
    }
    return (size_t)length;
}

/* Quantities as people write them. */

/* A thin space that no line breaks at. */
#define THIN_SPACE "\xE2\x80\xAF"
/* A full one. */
#define HARD_SPACE "\xC2\xA0"

/* Significant ones; FACTOR_DIGITS: as many as a factor needs. */
enum { FACTOR_DIGITS = 0, DIGITS = 3, PLAIN_DIGITS = 4, COUNT_DIGITS = 9 };

/* Scales of a unit, from the smallest; each is used from `least` on. */
struct step {
    double least;
    struct fulcrum_unit_scale scale;
};

struct ladder {
    const char *unit;
    size_t count;
    struct step steps[7];
};

/* Times pass into the next unit where people would say it so. */
static const struct ladder ladders[] = {
    {"s", 7,
        {{0.0, {1e-9, "ns"}}, {1e-6, {1e-6, "\xC2\xB5s"}}, {1e-3, {1e-3, "ms"}},
            {1.0, {1.0, "s"}}, {120.0, {60.0, "min"}}, {7200.0, {3600.0, "h"}},
            {172800.0, {86400.0, "days"}}}},
    {"W", 3, {{0.0, {1.0, "W"}}, {1e4, {1e3, "kW"}}, {1e7, {1e6, "MW"}}}},
    {"J", 4,
        {{0.0, {1.0, "J"}}, {1e3, {1e3, "kJ"}}, {1e6, {1e6, "MJ"}},
            {1e9, {1e9, "GJ"}}}},
    {"Hz", 3, {{0.0, {1.0, "Hz"}}, {1e6, {1e6, "MHz"}}, {1e9, {1e9, "GHz"}}}},
    {"byte", 4,
        {{0.0, {1.0, "bytes"}}, {1e4, {1e3, "kB"}}, {1e6, {1e6, "MB"}},
            {1e9, {1e9, "GB"}}}},
    {"byte/s", 3, {{0.0, {1e6, "MB/s"}}, {1e9, {1e9, "GB/s"}}, {1e12, {1e12, "TB/s"}}}},
    {"1/s", 1, {{0.0, {1.0, "/s"}}}},
    {"1/J", 1, {{0.0, {1.0, "/J"}}}},
    {"%", 1, {{0.0, {0.01, "%"}}}},
    {"x", 1, {{0.0, {1.0, ""}}}},
};

/*
 * The scale that suits a value.
 *   unit     SI, as fields and outputs have it: "s", "W", "J", "1/s", "byte", "Hz", ...
 *            "%" writes a share of one as percent
 */
static struct fulcrum_unit_scale unit_scale_of(double value, const char *unit)
{
    double size = fabs(value) > 0.0 ? fabs(value) : 1.0; /* nothing is 0 s, not 0 us */
    for (size_t i = 0; i < sizeof ladders / sizeof ladders[0]; i++) {
        if (strcmp(ladders[i].unit, unit) == 0) {
            size_t step = ladders[i].count - 1;
            while (step > 0 && size < ladders[i].steps[step].least) {
                step--;
            }
            return ladders[i].steps[step].scale;
        }
    }
    return (struct fulcrum_unit_scale){1.0, unit};
}

/* Thousands apart from 10 000 on: four digits read well as they are. */
static void group(const char *digits, char *out, size_t size)
{
    size_t whole = strspn(digits + (digits[0] == '-'), "0123456789");
    size_t used = 0;
    const char *at = digits;
    if (*at == '-') {
        used += (size_t)snprintf(out, size, "-");
        at++;
    }
    for (size_t left = whole; left > 0 && used + 8 < size; left--) {
        bool is_gap = whole > 4 && left % 3 == 0 && left != whole;
        used += (size_t)snprintf(
            out + used, size - used, "%s%c", is_gap ? THIN_SPACE : "", *at);
        at++;
    }
    (void)snprintf(out + used, size - used, "%s", at);
}

void fulcrum_number_words(double value, int digits, char out[FULCRUM_QUANTITY_SIZE])
{
    const double most = 1e15;
    const double least = 1e-6;
    char plain[FULCRUM_QUANTITY_SIZE];
    if (!isfinite(value)) {
        (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "\xE2\x80\x93");
        return;
    }
    double size = fabs(value);
    if (size >= most || (size > 0.0 && size < least)) {
        (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "%.*g", digits, value);
        return;
    }
    /* Rounded to so many digits first: 999.6 has no decimal left at three. */
    (void)snprintf(plain, sizeof plain, "%.*e", digits - 1, value);
    double rounded = 0.0;
    (void)sscanf(plain, "%lf", &rounded); /* NOLINT(cert-err34-c): printf wrote it */
    int exponent = rounded != 0.0 ? (int)floor(log10(fabs(rounded)) + 1e-9) : 0;
    int decimals = exponent >= digits - 1 ? 0 : digits - 1 - exponent;
    (void)snprintf(plain, sizeof plain, "%.*f", decimals, rounded);
    if (strchr(plain, '.') != NULL) {
        char *last = plain + strlen(plain) - 1;
        while (*last == '0') {
            *last-- = '\0';
        }
        if (*last == '.') {
            *last = '\0';
        }
    }
    group(plain, out, FULCRUM_QUANTITY_SIZE);
}

/* Rates stand close to their unit, others a space apart. */
static const char *gap(const char *unit)
{
    return unit[0] == '\0' || unit[0] == '/' ? "" : HARD_SPACE;
}

static void put_number_words(double value, int digits, char *out)
{
    if (digits != FACTOR_DIGITS) {
        fulcrum_number_words(value, digits, out);
    } else if (value > 0.95 && value < 1.05) {
        /* Near 1 it is the difference from 1 whose digits count. */
        (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "%.3f", value);
    } else if (value >= 0.095 && value < 9.995) {
        (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "%.2f", value);
    } else {
        fulcrum_number_words(value, DIGITS, out);
    }
}

static void put_quantity(double value, const char *unit, int digits, char *out)
{
    /* A share that rounding left is none. */
    value = strcmp(unit, "%") == 0 && fabs(value) < 1e-12 ? 0.0 : value;
    struct fulcrum_unit_scale scale = unit_scale_of(value, unit);
    char number[FULCRUM_QUANTITY_SIZE];
    put_number_words(value / scale.size, digits, number);
    if (!isfinite(value)) {
        (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "%.16s", number);
        return;
    }
    (void)snprintf(out, FULCRUM_QUANTITY_SIZE, "%.40s%s%.12s", number, gap(scale.unit),
        scale.unit);
}

static void put_range(
    double lo, double hi, struct fulcrum_unit_scale scale, int digits, char *out)
{
    out[0] = '\0';
    if (!isfinite(lo) || !isfinite(hi) || !(lo < hi)) {
        return; /* an interval of no width tells people nothing */
    }
    char from[FULCRUM_QUANTITY_SIZE];
    char to[FULCRUM_QUANTITY_SIZE];
    put_number_words(lo / scale.size, digits, from);
    put_number_words(hi / scale.size, digits, to);
    (void)snprintf(out, (size_t)2 * FULCRUM_QUANTITY_SIZE, "%.40s to %.40s%s%.12s",
        from, to, gap(scale.unit), scale.unit);
}

/* Whole numbers below `most` keep all their digits: a batch of 65536 is not one of
 * 65540. */
static int digits_of(double value, const char *unit, double most, int others)
{
    if (strcmp(unit, "x") == 0) {
        return FACTOR_DIGITS;
    }
    bool is_count = unit[0] == '\0' && fabs(value) < most && !(floor(value) < value);
    return is_count ? COUNT_DIGITS : others;
}

/* Those that are read at a glance. */
static int digits_in_words(double value, const char *unit)
{
    return digits_of(value, unit, 1e6, DIGITS);
}

void fulcrum_quantity_words(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE])
{
    put_quantity(value, unit, digits_in_words(value, unit), out);
}

void fulcrum_range_words(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE])
{
    int digits = digits_in_words(hi, unit);
    digits = digits_in_words(lo, unit) < digits ? DIGITS : digits;
    put_range(lo, hi, unit_scale_of(isfinite(like) ? like : hi, unit), digits, out);
}

/* Without the spaces and letters that are not ASCII. */
static void make_plain(char *text)
{
    static const struct {
        const char *from;
        const char *to;
    } pairs[] = {
        {THIN_SPACE, ""}, {HARD_SPACE, " "}, {"\xC2\xB5", "u"}, {"\xE2\x80\x93", "-"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (char *at = text; (at = strstr(at, pairs[i].from)) != NULL;) {
            size_t length = strlen(pairs[i].to);
            memcpy(at, pairs[i].to, length);
            const char *rest = at + strlen(pairs[i].from);
            memmove(at + length, rest, strlen(rest) + 1);
        }
    }
}

void fulcrum_quantity_plain(
    double value, const char *unit, char out[FULCRUM_QUANTITY_SIZE])
{
    put_quantity(
        value, unit, digits_of(value, unit, powers[COUNT_DIGITS], PLAIN_DIGITS), out);
    make_plain(out);
}

void fulcrum_range_plain(double lo, double hi, double like, const char *unit,
    char out[2 * FULCRUM_QUANTITY_SIZE])
{
    int digits = strcmp(unit, "x") == 0 ? FACTOR_DIGITS : PLAIN_DIGITS;
    put_range(lo, hi, unit_scale_of(isfinite(like) ? like : hi, unit), digits, out);
    make_plain(out);
}
