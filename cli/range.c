/* range.c - the values of a sweep's axis, as written on the command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/range.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/min_max.h"
#include "model/try.h"

static enum fulcrum_status fail_format(
    const struct fulcrum_field *field, const char *text, struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
        "%s=%s: expected FROM:TO:xFACTOR, FROM:TO:STEP, a list A,B,C or one number",
        field->path, text);
}

/* Reads one number at *at and moves on to what follows it; false: there is none. */
static bool take_number(const char **at, double *out)
{
    char *end = NULL;
    *out = strtod(*at, &end);
    bool is_number = end != *at && isfinite(*out);
    *at = is_number ? end : *at;
    return is_number;
}

static bool take_char(const char **at, char wanted)
{
    bool is_there = **at == wanted;
    *at += is_there ? 1 : 0;
    return is_there;
}

/* What is written as such must be one of the field's; steps on the way are rounded. */
static enum fulcrum_status check_whole(
    const struct fulcrum_field *field, double value, struct fulcrum_error *err)
{
    struct fulcrum_design design; /* that nobody keeps */
    bool is_wrong = field->kind == FULCRUM_FIELD_COUNT && value != floor(value);
    return is_wrong ? fulcrum_field_set_number(field, &design, value, err) : FULCRUM_OK;
}

/* first, first (*|+) step, ... up to last. */
static enum fulcrum_status fill_range(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    const char *at = text;
    double first = 0.0;
    double last = 0.0;
    double step = 0.0;
    bool is_range = take_number(&at, &first) && take_char(&at, ':') &&
                    take_number(&at, &last) && take_char(&at, ':');
    bool multiplies = is_range && (take_char(&at, 'x') || take_char(&at, '*'));
    if (!is_range || !take_number(&at, &step) || *at != '\0') {
        return fail_format(field, text, err);
    }
    FAIL_IF(last < first, err, FULCRUM_ERR_RANGE, "%s=%s: ends below its start",
        field->path, text);
    bool advances = multiplies ? step > 1.0 && first > 0.0 : step > 0.0;
    FAIL_IF(!advances, err, FULCRUM_ERR_RANGE, "%s=%s: expected %s", field->path, text,
        multiplies ? "a factor above 1 and a start above 0" : "a step above 0");
    TRY(check_whole(field, first, err));
    /* How many values the range has, the last one with room for rounding. */
    const double slack = 1e-9;
    double steps = multiplies ? log(last / first) / log(step) : (last - first) / step;
    double length = floor(steps * (1.0 + slack) + slack) + 1.0;
    FAIL_IF(length > (double)FULCRUM_RANGE_VALUES_MOST, err, FULCRUM_ERR_RANGE,
        "%s=%s: %.6g values, expected at most %d", field->path, text, length,
        (int)FULCRUM_RANGE_VALUES_MOST);
    *count = (size_t)length;
    *out = calloc(*count, sizeof **out);
    TRY_MEMORY(*out, err, "a range");
    for (size_t i = 0; i < *count; i++) {
        double value =
            multiplies ? first * pow(step, (double)i) : first + step * (double)i;
        (*out)[i] = fmin(value, last);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status fill_list(const struct fulcrum_field *field,
    const char *text, double **out, size_t *count, struct fulcrum_error *err)
{
    *count = 1;
    for (const char *at = strchr(text, ','); at != NULL; at = strchr(at + 1, ',')) {
        ++*count;
    }
    double *values = calloc(*count, sizeof *values);
    *out = values;
    TRY_MEMORY(values, err, "a list of %zu values", *count);
    const char *at = text;
    for (size_t i = 0; i < *count; i++) {
        bool is_last = i + 1 == *count;
        bool is_good = take_number(&at, &values[i]) &&
                       (is_last ? *at == '\0' : take_char(&at, ','));
        TRY(is_good ? check_whole(field, values[i], err)
                    : fail_format(field, text, err));
    }
    qsort(values, *count, sizeof *values, fulcrum_compare_numbers);
    return FULCRUM_OK;
}

/* Whole numbers for counts, without repeats; every value must suit the field. */
static enum fulcrum_status finish_values(const struct fulcrum_field *field,
    double *values, size_t *count, struct fulcrum_error *err)
{
    struct fulcrum_design design; /* that nobody keeps */
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        double value =
            field->kind == FULCRUM_FIELD_COUNT ? round(values[i]) : values[i];
        TRY(fulcrum_field_set_number(field, &design, value, err));
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
    *out = NULL;
    enum fulcrum_status status = strchr(text, ':') != NULL
                                     ? fill_range(field, text, out, count, err)
                                     : fill_list(field, text, out, count, err);
    if (status == FULCRUM_OK && *out != NULL) {
        status = finish_values(field, *out, count, err);
    }
    if (status != FULCRUM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
