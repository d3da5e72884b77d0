/* test_number_text.c - quick numbers against those of printf and strtod. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/quantity_text.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/parallel.h"
#include "tests/support/suite.h"

enum { RANDOM_NUMBERS = 300000 };

/* Bits at random, numbers over 60 orders of magnitude, and short decimals, by turns. */
static double random_number(uint64_t index)
{
    uint64_t bits = fulcrum_stream_seed(5, index, 0);
    double uniform = (double)(bits >> 11U) / 9007199254740992.0;
    double value = 0.0;
    switch (index % 3) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        break;
    case 1:
        value = pow(10.0, 60.0 * uniform - 30.0);
        break;
    default:
        value = (double)(bits % 4000000U) / pow(10.0, (double)(bits % 9U)) - 1.0;
        break;
    }
    return isfinite(value) ? value : 0.0;
}

static size_t differs_from_printf(double value)
{
    char expected[64];
    char text[FULCRUM_NUMBER_SIZE];
    (void)snprintf(expected, sizeof expected, "%.12g", value);
    size_t length = fulcrum_number_text(value, text);
    return strcmp(text, expected) != 0 || length != strlen(text);
}

static size_t reads_back_as_another(double value)
{
    char text[FULCRUM_NUMBER_SIZE];
    size_t length = fulcrum_number_text_exact(value, text);
    return strtod(text, NULL) != value || length != strlen(text);
}

TEST(test_random_numbers_are_printf_s_and_read_back)
{
    size_t different = 0;
    size_t lost = 0;
    for (uint64_t i = 0; i < RANDOM_NUMBERS; i++) {
        different += differs_from_printf(random_number(i));
        lost += reads_back_as_another(random_number(i));
    }
    CU_ASSERT_EQUAL(different, 0);
    CU_ASSERT_EQUAL(lost, 0);
}

/* Powers of ten and halves, where a digit is gained or rounding may go either way. */
TEST(test_the_neighbours_of_borders_are_right)
{
    size_t different = 0;
    size_t lost = 0;
    for (int exponent = -30; exponent <= 30; exponent++) {
        double border = pow(10.0, exponent);
        double half = border * (1.0 + 5e-12);
        const double values[] = {border, nextafter(border, 0.0),
            nextafter(border, INFINITY), -border, half, nextafter(half, 0.0),
            nextafter(half, INFINITY), border * 9.999999999995};
        for (size_t i = 0; i < LENGTH(values); i++) {
            different += differs_from_printf(values[i]);
            lost += reads_back_as_another(values[i]);
        }
    }
    CU_ASSERT_EQUAL(different, 0);
    CU_ASSERT_EQUAL(lost, 0);
}

TEST(test_known_texts)
{
    static const struct {
        double value;
        const char *text;
        const char *exact;
    } cases[] = {
        {0.0, "0", "0"},
        {-0.0, "-0", "-0"},
        {40.0, "40", "40"},
        {-2.5, "-2.5", "-2.5"},
        {0.1, "0.1", "0.1"},
        {1e-4, "0.0001", "0.0001"},
        {1e-5, "1e-05", "1e-05"},
        {1.0 / 3.0, "0.333333333333", "0.3333333333333333"},
        {0.1 + 0.2, "0.3", "0.30000000000000004"},
        {1e12, "1e+12", "1000000000000"},
        {123456789012.0, "123456789012", "123456789012"},
        {999999999999.5, "1e+12", "999999999999.5"},
        {1e15, "1e+15", "1e+15"},
        {DBL_MAX, "1.79769313486e+308", "1.7976931348623157e+308"},
        {DBL_TRUE_MIN, "4.94065645841e-324", "4.940656458412465e-324"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[FULCRUM_NUMBER_SIZE];
        (void)fulcrum_number_text(cases[i].value, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
        (void)fulcrum_number_text_exact(cases[i].value, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].exact);
        CU_ASSERT_EQUAL(strtod(text, NULL), cases[i].value);
    }
}
