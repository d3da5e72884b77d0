/* validate_report.c - the results of `validate` as tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/validate_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/measured_reference.h"
#include "cli/result/report.h"
#include "cli/validate/validate_job.h"
#include "model/string.h"
#include "model/try.h"

static const struct fulcrum_column set_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"predictor", FULCRUM_COLUMN_TEXT, NULL},
    {"predicted_points", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "SMAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"covered_frac", FULCRUM_COLUMN_NUMBER, "in 90 %"},
    {"fitted_points", FULCRUM_COLUMN_NUMBER, "fitted"},
    {"fitted_mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"status", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_set(struct fulcrum_report *report, const struct fulcrum_validation *set)
{
    const struct fulcrum_comparison *all = &set->comparison;
    struct fulcrum_comparison_errors new =
        fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors old =
        fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_FITTED, -1);
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(
        report, fulcrum_predictor_name((size_t)set->reference->predictor));
    const double errors[] = {(double)new.count, new.mape_frac, new.smape_frac,
        new.count > 0 ? new.max_frac : (double)NAN, new.bias_frac, new.covered_frac};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        fulcrum_report_add_number(report, errors[k]);
    }
    fulcrum_report_add_number(report, (double)old.count);
    fulcrum_report_add_number(report, old.mape_frac);
    const char *status = new.count == 0 && old.count > 0 ? "fitted" : "predicted";
    fulcrum_report_add_text(report, set->reason[0] == '\0' ? status : set->reason);
}

struct fulcrum_report *fulcrum_validate_report_sets(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sets", set_columns, sizeof set_columns / sizeof set_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        add_set(report, &job->sets[i]);
    }
    return report;
}

static const struct fulcrum_column baseline_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"by", FULCRUM_COLUMN_TEXT, NULL},
    {"points", FULCRUM_COLUMN_NUMBER, NULL},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "SMAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_baseline(struct fulcrum_report *report,
    const struct fulcrum_validation *set, int baseline,
    const struct fulcrum_comparison_errors *errors)
{
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(
        report, baseline < 0 ? "model" : fulcrum_baseline_name((size_t)baseline));
    fulcrum_report_add_number(report, (double)errors->count);
    fulcrum_report_add_number(report, errors->mape_frac);
    fulcrum_report_add_number(report, errors->smape_frac);
    fulcrum_report_add_number(report, errors->max_frac);
    fulcrum_report_add_number(report, errors->bias_frac);
    fulcrum_report_add_text(
        report, fulcrum_validate_filter(set) == FULCRUM_COMPARE_FITTED ? "fitted"
                                                                       : "predicted");
}

struct fulcrum_report *fulcrum_validate_report_baselines(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new("baselines", baseline_columns,
        sizeof baseline_columns / sizeof baseline_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        /* The model and every small formula that says something of the set. */
        const struct fulcrum_validation *set = &job->sets[i];
        struct fulcrum_comparison_errors errors[FULCRUM_BASELINE_COUNT + 1];
        bool is_any = 0;
        for (int k = -1; k < FULCRUM_BASELINE_COUNT; k++) {
            errors[k + 1] = fulcrum_comparison_errors(
                &set->comparison, NULL, fulcrum_validate_filter(set), k);
            is_any = is_any || (k >= 0 && errors[k + 1].count > 0);
        }
        for (int k = -1; is_any && k < FULCRUM_BASELINE_COUNT; k++) {
            if (errors[k + 1].count > 0) {
                add_baseline(report, set, k, &errors[k + 1]);
            }
        }
    }
    return report;
}

static const struct fulcrum_column series_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"predicted_points", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"covered_frac", FULCRUM_COLUMN_NUMBER, "in 90 %"},
    {"bounds_mape_frac", FULCRUM_COLUMN_NUMBER, "bounds"},
    {"textbook_mape_frac", FULCRUM_COLUMN_NUMBER, "textbook"},
    {"capped_hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "capped"},
    {"hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "hyperbola"},
    {"fitted_points", FULCRUM_COLUMN_NUMBER, "fitted"},
};

/*
 * Walks the named series of a set's points, each once.
 *   next     0 before the first call
 *   series   borrowed from the reference
 *   returns  0 where there is none left
 */
static int validate_next_series(
    const struct fulcrum_validation *set, size_t *next, const char **series)
{
    const struct fulcrum_comparison *all = &set->comparison;
    const struct fulcrum_reference_point *points = set->reference->points;
    for (; *next < all->count; (*next)++) {
        *series = points[all->items[*next].point].series;
        size_t first = 0;
        while (strcmp(points[all->items[first].point].series, *series) != 0) {
            first++;
        }
        if (first == *next && (*series)[0] != '\0') {
            (*next)++;
            return 1;
        }
    }
    return 0;
}

static void add_series(struct fulcrum_report *report,
    const struct fulcrum_validation *set, const char *series)
{
    const struct fulcrum_comparison *all = &set->comparison;
    struct fulcrum_comparison_errors new =
        fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors old =
        fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_FITTED, -1);
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, series);
    const double errors[] = {(double)new.count, new.mape_frac,
        new.count > 0 ? new.max_frac : (double)NAN, new.bias_frac, new.covered_frac};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        fulcrum_report_add_number(report, errors[k]);
    }
    for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_report_add_number(
            report, fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_PREDICTED, k)
                        .mape_frac);
    }
    fulcrum_report_add_number(report, (double)old.count);
}

struct fulcrum_report *fulcrum_validate_report_series(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "series", series_columns, sizeof series_columns / sizeof series_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const char *series = NULL;
        size_t next = 0;
        while (validate_next_series(&job->sets[i], &next, &series)) {
            add_series(report, &job->sets[i], series);
        }
    }
    return report;
}

static const struct fulcrum_column point_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"observed", FULCRUM_COLUMN_NUMBER, NULL},
    {"half_width", FULCRUM_COLUMN_NUMBER, "+-"},
    {"predicted", FULCRUM_COLUMN_NUMBER, NULL},
    {"predicted_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"predicted_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"error_frac", FULCRUM_COLUMN_NUMBER, "error"},
    {"bounds", FULCRUM_COLUMN_NUMBER, NULL},
    {"textbook", FULCRUM_COLUMN_NUMBER, NULL},
    {"capped_hyperbola", FULCRUM_COLUMN_NUMBER, "capped"},
    {"hyperbola", FULCRUM_COLUMN_NUMBER, NULL},
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_point(struct fulcrum_report *report,
    const struct fulcrum_validation *set, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference *reference = set->reference;
    fulcrum_report_add_text(report, reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(report, reference->points[item->point].series);
    fulcrum_report_add_number(report, (double)item->point);
    fulcrum_report_add_text(
        report, fulcrum_validate_observation(&set->comparison, item)->quantity);
    const double numbers[] = {item->observed, item->half_width, item->predicted,
        item->lo, item->hi, item->predicted / item->observed - 1.0};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        fulcrum_report_add_number(report, numbers[k]);
    }
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_report_add_number(report, item->baseline[k]);
    }
    fulcrum_report_add_text(report, item->is_fitted ? "fitted" : "predicted");
}

struct fulcrum_report *fulcrum_validate_report_points(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "points", point_columns, sizeof point_columns / sizeof point_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_comparison *all = &job->sets[i].comparison;
        for (size_t k = 0; k < all->count; k++) {
            add_point(report, &job->sets[i], &all->items[k]);
        }
    }
    return report;
}

/* The document about accuracy, made from a validation. */

enum { WORST_MOST = 12 };

/*
 * Text of a reference within a cell: what would end a cell or a line, or be read as
 * markup, is escaped. Control characters, and bytes that are no UTF-8, become '?'.
 */
static void print_cell(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'|', "\\|"}, {'<', "&lt;"},
        {'&', "&amp;"}, {'`', "\\`"}, {'\\', "\\\\"}, {'\n', " "}, {'\r', " "},
        {'\t', " "}, {'\0', NULL}};
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, "?", &piece, &length);
        (void)fwrite(piece, 1, length, stream);
    }
}

/* As code, where the text can be: nothing is escaped within, so that what would need it
 * is set as plain text. */
static void print_code(FILE *stream, const char *text)
{
    bool is_plain = strpbrk(text, "|<&`\\\n\r\t") != NULL;
    (void)fputs(is_plain ? "" : "`", stream);
    print_cell(stream, text);
    (void)fputs(is_plain ? "" : "`", stream);
}

/* A share as percent; an empty cell where there is nothing to say. */
static void print_percent(FILE *stream, double frac)
{
    (void)fputs(" | ", stream);
    if (isfinite(frac)) {
        (void)fprintf(stream, "%.1f %%", 100.0 * frac);
    }
}

static void print_errors(FILE *stream, const struct fulcrum_comparison_errors *errors)
{
    (void)fprintf(stream, " | %zu", errors->count);
    print_percent(stream, errors->mape_frac);
    print_percent(stream, errors->smape_frac);
    print_percent(stream, errors->count > 0 ? errors->max_frac : (double)NAN);
    /* One that may have either sign. */
    double frac = errors->bias_frac;
    (void)fputs(" | ", stream);
    if (isfinite(frac)) {
        (void)fprintf(stream, "%+.1f %%", 100.0 * frac);
    }
}

/* A heading, a sentence and a table, of which nothing is written before a row is. */
struct section {
    FILE *stream;
    const char *head;
    const char *const *titles; /* of the columns */
    size_t count;
    bool is_begun;
};

static void begin_row(struct section *section)
{
    if (section->is_begun) {
        return;
    }
    section->is_begun = 1;
    (void)fprintf(section->stream, "\n%s\n\n", section->head);
    for (size_t i = 0; i < section->count; i++) {
        (void)fprintf(section->stream, "| %s ", section->titles[i]);
    }
    (void)fputs("|\n", section->stream);
    for (size_t i = 0; i < section->count; i++) {
        (void)fputs("|---", section->stream);
    }
    (void)fputs("|\n", section->stream);
}

#define SECTION(stream, head, titles)                                                  \
    {                                                                                  \
        (stream), (head), (titles), sizeof(titles) / sizeof(titles)[0], 0              \
    }

static struct fulcrum_comparison_errors errors_of(
    const struct fulcrum_validation *set, enum fulcrum_comparison_filter filter)
{
    return fulcrum_comparison_errors(&set->comparison, NULL, filter, -1);
}

/* Sets that are summed up in one row. */
struct family {
    enum fulcrum_predictor_kind kind;
    bool is_carried_over;
};

/* Means over the points of several sets or curves. */
struct pool {
    struct fulcrum_comparison_errors sum; /* means while nothing is added */
    double covered_of;
};

static void add(struct pool *pool, const struct fulcrum_comparison_errors *one)
{
    struct fulcrum_comparison_errors *sum = &pool->sum;
    double count = (double)one->count;
    if (one->count == 0) {
        return;
    }
    sum->count += one->count;
    sum->mape_frac += count * one->mape_frac;
    sum->smape_frac += count * one->smape_frac;
    sum->bias_frac += count * one->bias_frac;
    sum->max_frac = fmax(sum->max_frac, one->max_frac);
    if (isfinite(one->covered_frac)) {
        sum->covered_frac += count * one->covered_frac;
        pool->covered_of += count;
    }
}

static struct fulcrum_comparison_errors means(const struct pool *pool)
{
    struct fulcrum_comparison_errors mean = pool->sum;
    double count = mean.count > 0 ? (double)mean.count : (double)NAN;
    mean.mape_frac /= count;
    mean.smape_frac /= count;
    mean.bias_frac /= count;
    mean.covered_frac /= pool->covered_of > 0.0 ? pool->covered_of : (double)NAN;
    return mean;
}

static struct fulcrum_comparison_errors errors_of_family(
    const struct fulcrum_validate_job *job, const struct family *family)
{
    struct pool pool = {.covered_of = 0.0};
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        bool belongs = set->reference->predictor == family->kind &&
                       (set->is_carried_over != 0) == (family->is_carried_over != 0);
        if (belongs) {
            struct fulcrum_comparison_errors one =
                errors_of(&job->sets[i], FULCRUM_COMPARE_PREDICTED);
            add(&pool, &one);
        }
    }
    return means(&pool);
}

static void print_summary(const struct fulcrum_validate_job *job, FILE *stream)
{
    static const char *const titles[] = {
        "predicted", "points", "MAPE", "SMAPE", "largest", "bias", "inside 90 %"};
    struct section section = SECTION(stream,
        "## In short\n\nPoints that no fit has seen, by what is predicted:", titles);
    for (size_t row = 0; row < 2 * (size_t)FULCRUM_PREDICTOR_COUNT; row++) {
        const struct family family = {
            (enum fulcrum_predictor_kind)(row / 2), (int)(row % 2)};
        struct fulcrum_comparison_errors errors = errors_of_family(job, &family);
        if (errors.count == 0) {
            continue;
        }
        begin_row(&section);
        (void)fprintf(stream, "| %s%s", fulcrum_predictor_meaning(row / 2),
            family.is_carried_over ? ", carried over from another machine" : "");
        print_errors(stream, &errors);
        print_percent(stream, errors.covered_frac);
        (void)fputs(" |\n", stream);
    }
}

static void print_name(FILE *stream, const struct fulcrum_validation *set)
{
    (void)fputs("| ", stream);
    print_code(stream, set->reference->name);
    if (strchr(set->calibration, ' ') != NULL) {
        (void)fputs(", ", stream);
        print_cell(stream, set->calibration);
    } else if (set->calibration[0] != '\0') {
        (void)fputs(" from ", stream);
        print_code(stream, set->calibration);
    }
    if (set->is_carried_over) {
        (void)fputs(", carried over", stream);
    }
}

static void print_sets(const struct fulcrum_validate_job *job, FILE *stream,
    enum fulcrum_comparison_filter filter, const char *head)
{
    static const char *const titles[] = {
        "set", "points", "MAPE", "SMAPE", "largest", "bias", "inside 90 %"};
    struct section section = SECTION(stream, head, titles);
    for (size_t i = 0; i < job->count; i++) {
        struct fulcrum_comparison_errors errors = errors_of(&job->sets[i], filter);
        if (errors.count == 0) {
            continue;
        }
        begin_row(&section);
        print_name(stream, &job->sets[i]);
        print_errors(stream, &errors);
        print_percent(stream, errors.covered_frac);
        (void)fputs(" |\n", stream);
    }
}

static void print_series(const struct fulcrum_validate_job *job, FILE *stream)
{
    static const char *const titles[] = {
        "set", "curve", "points", "MAPE", "SMAPE", "largest", "bias", "inside 90 %"};
    struct section section = SECTION(stream,
        "## Curve by curve\n\nThe same, of sets that have several curves.", titles);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        const char *series = NULL;
        size_t next = 0;
        while (validate_next_series(set, &next, &series)) {
            struct fulcrum_comparison_errors errors = fulcrum_comparison_errors(
                &set->comparison, series, FULCRUM_COMPARE_PREDICTED, -1);
            begin_row(&section);
            (void)fputs("| ", stream);
            print_code(stream, set->reference->name);
            (void)fputs(" | ", stream);
            print_cell(stream, series);
            print_errors(stream, &errors);
            print_percent(stream, errors.covered_frac);
            (void)fputs(" |\n", stream);
        }
    }
}

/* Over the curves of a set that were measured on a calm machine, or not. */
static struct fulcrum_comparison_errors errors_while(
    const struct fulcrum_validation *set, int disturbed)
{
    struct pool pool = {.covered_of = 0.0};
    const char *series = NULL;
    size_t next = 0;
    while (validate_next_series(set, &next, &series)) {
        struct fulcrum_comparison_errors one = fulcrum_comparison_errors(
            &set->comparison, series, FULCRUM_COMPARE_PREDICTED, -1);
        size_t length = strlen(series);
        size_t end = strlen(FULCRUM_MEASURED_DISTURBED);
        bool is_disturbed = length >= end && strcmp(series + length - end,
                                                 FULCRUM_MEASURED_DISTURBED) == 0;
        if (is_disturbed == disturbed) {
            add(&pool, &one);
        }
    }
    return means(&pool);
}

static void print_formulas(const struct fulcrum_validate_job *job, FILE *stream)
{
    static const char *const first[] = {"set", "points", "model"};
    const char *titles[3 + FULCRUM_BASELINE_COUNT];
    for (size_t i = 0; i < 3; i++) {
        titles[i] = first[i];
    }
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        titles[3 + k] = fulcrum_baseline_meaning(k);
    }
    struct section section = SECTION(stream,
        "## Beside small formulas\n\nMAPE of the same points by formulas that anybody "
        "could use instead.",
        titles);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        double mape_frac[FULCRUM_BASELINE_COUNT];
        bool is_any = 0;
        for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
            mape_frac[k] = fulcrum_comparison_errors(
                &set->comparison, NULL, fulcrum_validate_filter(set), k)
                               .mape_frac;
            is_any = is_any || isfinite(mape_frac[k]);
        }
        if (!is_any) {
            continue;
        }
        struct fulcrum_comparison_errors own =
            errors_of(set, fulcrum_validate_filter(set));
        begin_row(&section);
        print_name(stream, set);
        (void)fprintf(stream, " | %zu %s", own.count,
            fulcrum_validate_filter(set) == FULCRUM_COMPARE_FITTED ? "fitted"
                                                                   : "predicted");
        print_percent(stream, own.mape_frac);
        for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
            print_percent(stream, mape_frac[k]);
        }
        (void)fputs(" |\n", stream);
    }
}

/* One predicted point, with its error. */
struct miss {
    const struct fulcrum_validation *set;
    const struct fulcrum_compared *item;
    double error_frac;
    size_t order; /* of its set */
};

static int by_size(const void *a, const void *b)
{
    const struct miss *left = a;
    const struct miss *right = b;
    double difference = fabs(right->error_frac) - fabs(left->error_frac);
    int larger = (difference > 0.0) - (difference < 0.0);
    return larger != 0 ? larger : (left->order > right->order ? 1 : -1);
}

/* The predicted point that is furthest off; its item is NULL where there is none. */
static struct miss worst_of(const struct fulcrum_validation *set, size_t order)
{
    struct miss worst = {.set = set, .order = order};
    for (size_t k = 0; k < set->comparison.count; k++) {
        const struct fulcrum_compared *item = &set->comparison.items[k];
        double error_frac = item->predicted / item->observed - 1.0;
        if (!item->is_fitted &&
            (worst.item == NULL || fabs(error_frac) > fabs(worst.error_frac))) {
            worst.item = item;
            worst.error_frac = error_frac;
        }
    }
    return worst;
}

/* One of each set, the largest first. */
static enum fulcrum_status list_misses(const struct fulcrum_validate_job *job,
    struct miss **out, size_t *count, struct fulcrum_error *err)
{
    struct miss *misses = calloc(job->count + 1, sizeof *misses);
    TRY_MEMORY(misses, err, "a list of errors");
    *count = 0;
    for (size_t i = 0; i < job->count; i++) {
        struct miss worst = worst_of(&job->sets[i], i);
        if (worst.item != NULL) {
            misses[(*count)++] = worst;
        }
    }
    qsort(misses, *count, sizeof *misses, by_size);
    *out = misses;
    return FULCRUM_OK;
}

static void print_misses(const struct miss *misses, size_t count, FILE *stream)
{
    static const char *const titles[] = {
        "set", "curve", "point", "quantity", "observed", "predicted", "error"};
    struct section section = SECTION(stream,
        "## Where it is most wrong\n\nThe worst point of each of these sets.", titles);
    for (size_t i = 0; i < count && i < WORST_MOST; i++) {
        const struct fulcrum_comparison *all = &misses[i].set->comparison;
        const struct fulcrum_compared *item = misses[i].item;
        begin_row(&section);
        print_name(stream, misses[i].set);
        (void)fputs(" | ", stream);
        print_cell(stream, all->reference->points[item->point].series);
        (void)fprintf(stream, " | %zu | ", item->point);
        print_code(stream, fulcrum_validate_observation(all, item)->quantity);
        (void)fprintf(stream, " | %.4g | %.4g | %+.0f %% |\n", item->observed,
            item->predicted, 100.0 * misses[i].error_frac);
    }
}

static void print_absent(const struct fulcrum_validate_job *job, FILE *stream)
{
    static const char *const titles[] = {"set", "what it is", "why not"};
    struct section section = SECTION(stream, "## Not predicted", titles);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        if (set->reason[0] != '\0') {
            begin_row(&section);
            (void)fputs("| ", stream);
            print_code(stream, set->reference->name);
            (void)fputs(" | ", stream);
            print_cell(stream, set->reference->title);
            (void)fputs(" | ", stream);
            print_cell(stream, set->reason);
            (void)fputs(" |\n", stream);
        }
    }
}

enum fulcrum_status fulcrum_validate_markdown(
    const struct fulcrum_validate_job *job, FILE *stream, struct fulcrum_error *err)
{
    struct miss *misses = NULL;
    size_t count = 0;
    TRY(list_misses(job, &misses, &count, err));
    (void)fputs("# Accuracy\n\n"
                "Published and measured points beside what is predicted of them, "
                "written by `fulcrum validate --markdown`.\n"
                "MAPE is the mean of |predicted - observed| / observed, SMAPE its "
                "symmetric form, the bias the mean with its sign; \"inside 90 %\" is "
                "the share of points within the interval that the prediction "
                "states, where it states one.\n",
        stream);
    print_summary(job, stream);
    print_sets(job, stream, FULCRUM_COMPARE_PREDICTED,
        "## Predicted points\n\nNo fit has seen these.");
    /* Sets that `measure` wrote, where a part of the points was disturbed. */
    static const char *const titles[] = {"set", "points", "MAPE", "SMAPE", "largest",
        "bias", "disturbed", "MAPE of all", "largest of all"};
    struct section section = SECTION(stream,
        "## Measured, disturbed and not\n\nPoints of `fulcrum measure` during which a "
        "canary was slow or other programs ran are told apart; the first figures are "
        "of the others.",
        titles);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        struct fulcrum_comparison_errors disturbed = errors_while(set, 1);
        if (disturbed.count == 0) {
            continue;
        }
        struct fulcrum_comparison_errors calm = errors_while(set, 0);
        struct fulcrum_comparison_errors all =
            errors_of(set, FULCRUM_COMPARE_PREDICTED);
        begin_row(&section);
        print_name(stream, set);
        print_errors(stream, &calm);
        (void)fprintf(stream, " | %zu", disturbed.count);
        print_percent(stream, all.mape_frac);
        print_percent(stream, all.max_frac);
        (void)fputs(" |\n", stream);
    }
    print_series(job, stream);
    print_formulas(job, stream);
    print_misses(misses, count, stream);
    print_sets(job, stream, FULCRUM_COMPARE_FITTED,
        "## Fitted points\n\nA fit has seen these: they say how well the form bends to "
        "the data, not what a prediction is worth.");
    print_absent(job, stream);
    free(misses);
    return FULCRUM_OK;
}
