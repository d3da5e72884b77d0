/* colour.h - how light colours are, and how well they are told apart: WCAG 2.1. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_COLOUR_H
#define FULCRUM_TESTS_COLOUR_H

#include <math.h>

/* Red, green and blue as shares of full light, IEC 61966-2-1. */
static inline void light_of(unsigned rgb, double out[3])
{
    for (unsigned i = 0; i < 3; i++) {
        double share = (double)(rgb >> (16U - 8U * i) & 0xFFU) / 255.0;
        out[i] = share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
    }
}

/* "relative luminance" */
static inline double luminance(unsigned rgb)
{
    double light[3];
    light_of(rgb, light);
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
}

/* "contrast ratio" */
static inline double contrast(unsigned a, unsigned b)
{
    double lighter = fmax(luminance(a), luminance(b));
    double darker = fmin(luminance(a), luminance(b));
    return (lighter + 0.05) / (darker + 0.05);
}

#endif
