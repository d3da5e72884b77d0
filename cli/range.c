/* range.c - the values of a sweep's axis, as written on the command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/range.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/min_max.h"
#include "model/try.h"

/* first, first (*|+) step, ... up to last. */
struct range {
    double first;
    double last;
    double step;
    int multiplies;
};

static enum fulcrum_status fail_format(
    const struct fulcrum_field *field, const char *text, struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "%s=%s: expected FROM:TO:xFACTOR, FROM:TO:STEP, a list A,B,C or one number",
        field->path, text);
}

/* Reads one number at *at and moves on to what follows it; 0 where there is none. */
static int take_number(const char **at, double *out)
{
    char *end = NULL;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out)) {
        return 0;
    }
    *at = end;
    return 1;
}

static int take_char(const char **at, char wanted)
{
    if (**at != wanted) {
        return 0;
    }
    (*at)++;
    return 1;
}

static enum fulcrum_status parse_range(const struct fulcrum_field *field,
    const char *text, struct range *out, struct fulcrum_error *err)
{
    const char *at = text;
    int well_formed = take_number(&at, &out->first) && take_char(&at, ':') &&
                      take_number(&at, &out->last) && take_char(&at, ':');
    out->multiplies = well_formed && (take_char(&at, 'x') || take_char(&at, '*'));
    if (!well_formed || !take_number(&at, &out->step) || *at != '\0') {
        return fail_format(field, text, err);
    }
    FAIL_IF(out->last < out->first, err, FULCRUM_ERR_RANGE,
        "%s=%s: ends below its start", field->path, text);
    int advances =
        out->multiplies ? out->step > 1.0 && out->first > 0.0 : out->step > 0.0;
    FAIL_IF(!advances, err, FULCRUM_ERR_RANGE, "%s=%s: expected %s", field->path, text,
        out->multiplies ? "a factor above 1 and a start above 0" : "a step above 0");
    return FULCRUM_OK;
}

/* What is written as such must be one of the field's; steps on the way are rounded. */
static enum fulcrum_status check_whole(
    const struct fulcrum_field *field, double value, struct fulcrum_error *err)
{
    bool is_wrong = field->kind == FULCRUM_FIELD_COUNT && value != floor(value);
    return is_wrong ? fulcrum_fail(err, FULCRUM_ERR_RANGE,
                          "%s = %.6g: expected a whole number from %.6g to %.6g",
                          field->path, value, field->least, field->most)
                    : FULCRUM_OK;
}

static enum fulcrum_status fill_range(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    struct range range = {0};
    TRY(parse_range(field, text, &range, err));
    TRY(check_whole(field, range.first, err));
    /* How many values the range has, the last one with room for rounding. */
    const double slack = 1e-9;
    double steps = range.multiplies ? log(range.last / range.first) / log(range.step)
                                    : (range.last - range.first) / range.step;
    double length = floor(steps * (1.0 + slack) + slack) + 1.0;
    FAIL_IF(length > (double)FULCRUM_RANGE_VALUES_MOST, err, FULCRUM_ERR_RANGE,
        "%s=%s: %.6g values, expected at most %d", field->path, text, length,
        (int)FULCRUM_RANGE_VALUES_MOST);
    double *values = calloc((size_t)length, sizeof *values);
    TRY_MEMORY(values, err, "a range");
    for (size_t i = 0; i < (size_t)length; i++) {
        double value = range.multiplies ? range.first * pow(range.step, (double)i)
                                        : range.first + range.step * (double)i;
        values[i] = fmin(value, range.last);
    }
    *out = values;
    *count = (size_t)length;
    return FULCRUM_OK;
}

static enum fulcrum_status fill_list(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    size_t length = 1;
    for (const char *at = strchr(text, ','); at != NULL; at = strchr(at + 1, ',')) {
        length++;
    }
    double *values = calloc(length, sizeof *values);
    TRY_MEMORY(values, err, "a list of %zu values", length);
    const char *at = text;
    for (size_t i = 0; i < length; i++) {
        bool is_last = i + 1 == length;
        bool is_good = take_number(&at, &values[i]) &&
                       (is_last ? *at == '\0' : take_char(&at, ','));
        enum fulcrum_status status = is_good ? check_whole(field, values[i], err)
                                             : fail_format(field, text, err);
        if (status != FULCRUM_OK) {
            free(values);
            return status;
        }
    }
    qsort(values, length, sizeof *values, fulcrum_compare_numbers);
    *out = values;
    *count = length;
    return FULCRUM_OK;
}

/* Whole numbers for counts, without repeats; every value must suit the field. */
static enum fulcrum_status finish_values(const struct fulcrum_field *field,
    double *values, size_t *count, struct fulcrum_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        double value =
            field->kind == FULCRUM_FIELD_COUNT ? round(values[i]) : values[i];
        FAIL_IF(!(value >= field->least && value <= field->most), err,
            FULCRUM_ERR_RANGE, "%s = %.6g: expected a %s from %.6g to %.6g",
            field->path, value,
            field->kind == FULCRUM_FIELD_COUNT ? "whole number" : "number",
            field->least, field->most);
        if (kept == 0 || value > values[kept - 1]) {
            values[kept++] = value;
        }
    }
    *count = kept;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_range_parse(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    FAIL_IF(field->kind != FULCRUM_FIELD_NUMBER && field->kind != FULCRUM_FIELD_COUNT,
        err, FULCRUM_ERR_RANGE, "%s is no number and cannot be varied", field->path);
    double *values = NULL;
    size_t length = 0;
    enum fulcrum_status status = strchr(text, ':') != NULL
                                     ? fill_range(field, text, &values, &length, err)
                                     : fill_list(field, text, &values, &length, err);
    if (status == FULCRUM_OK) {
        status = finish_values(field, values, &length, err);
    }
    if (status != FULCRUM_OK) {
        free(values);
        return status;
    }
    *out = values;
    *count = length;
    return FULCRUM_OK;
}
