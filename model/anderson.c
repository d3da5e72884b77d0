/* anderson.c - Anderson's acceleration of a fixed-point iteration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Anderson (1965): of the last few iterations, the combination is taken whose change
 * (image less point) is least in the sense of least squares, and its image is the next
 * point. On a linear iteration that is GMRES, which removes the few modes that die out
 * slowly. The least squares have a handful of unknowns, so the normal equations do;
 * the products they are made of are kept from turn to turn.
 */
#include "model/anderson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps nearly dependent steps apart. */
#define RIDGE_REL 1e-12

enum { DEPTH = FULCRUM_ANDERSON_DEPTH };

enum fulcrum_status fulcrum_anderson_init(
    struct fulcrum_anderson *out, size_t length, struct fulcrum_error *err)
{
    double *memory = calloc((2 + 2 * (size_t)DEPTH) * length, sizeof *memory);
    if (memory == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory to iterate %zu numbers", length);
    }
    *out = (struct fulcrum_anderson){
        .length = length, .memory = memory, .point = memory, .change = memory + length};
    for (size_t i = 0; i < DEPTH; i++) {
        out->point_step[i] = memory + (2 + 2 * i) * length;
        out->change_step[i] = memory + (3 + 2 * i) * length;
    }
    return FULCRUM_OK;
}

void fulcrum_anderson_clear(struct fulcrum_anderson *anderson)
{
    free(anderson->memory);
    *anderson = (struct fulcrum_anderson){.length = 0};
}

static double product(const double *a, const double *b, size_t length)
{
    double sum = 0.0;
    for (size_t i = 0; i < length; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* How many steps there are after that many turns. */
static size_t steps_known(size_t turns)
{
    return turns < DEPTH ? turns : DEPTH;
}

/* Puts the step from the last turn to this one in place of the oldest. */
static void remember(
    struct fulcrum_anderson *anderson, const double *point, const double *image)
{
    size_t newest = (anderson->turns - 1) % DEPTH;
    size_t known = steps_known(anderson->turns);
    double *point_step = anderson->point_step[newest];
    double *change_step = anderson->change_step[newest];
    for (size_t i = 0; i < anderson->length; i++) {
        point_step[i] = point[i] - anderson->point[i];
        change_step[i] = image[i] - point[i] - anderson->change[i];
    }
    for (size_t i = 0; i < known; i++) {
        double value = product(anderson->change_step[i], change_step, anderson->length);
        anderson->gram[i][newest] = value;
        anderson->gram[newest][i] = value;
    }
}

/* Cholesky's method in place; returns 0 where the matrix is singular. */
static int solve(double matrix[DEPTH][DEPTH], double right[DEPTH], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double left = matrix[i][j] - product(matrix[i], matrix[j], j);
            matrix[i][j] = i == j ? sqrt(fmax(0.0, left)) : left / matrix[j][j];
        }
        if (!(matrix[i][i] > 0.0)) {
            return 0;
        }
        right[i] = (right[i] - product(matrix[i], right, i)) / matrix[i][i];
    }
    for (size_t i = count; i-- > 0;) {
        for (size_t j = i + 1; j < count; j++) {
            right[i] -= matrix[j][i] * right[j];
        }
        right[i] /= matrix[i][i];
    }
    return 1;
}

/* How much of each step is to be taken back. */
static int weigh(const struct fulcrum_anderson *anderson, double *out, size_t known)
{
    double matrix[DEPTH][DEPTH];
    memcpy(matrix, anderson->gram, sizeof matrix);
    for (size_t i = 0; i < known; i++) {
        matrix[i][i] *= 1.0 + RIDGE_REL;
        out[i] = product(anderson->change_step[i], anderson->change, anderson->length);
    }
    return solve(matrix, out, known);
}

void fulcrum_anderson_step(
    struct fulcrum_anderson *anderson, double *point, const double *image)
{
    size_t length = anderson->length;
    if (anderson->turns > 0) {
        remember(anderson, point, image);
    }
    for (size_t i = 0; i < length; i++) {
        anderson->point[i] = point[i];
        anderson->change[i] = image[i] - point[i];
        point[i] = image[i];
    }
    size_t known = steps_known(anderson->turns);
    anderson->turns++;
    double weight[DEPTH] = {0.0};
    if (!weigh(anderson, weight, known)) {
        return;
    }
    for (size_t j = 0; j < known; j++) {
        const double *point_step = anderson->point_step[j];
        const double *change_step = anderson->change_step[j];
        for (size_t i = 0; i < length; i++) {
            point[i] -= weight[j] * (point_step[i] + change_step[i]);
        }
    }
}
