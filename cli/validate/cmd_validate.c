/* cmd_validate.c - `fulcrum validate`: every reference beside what is predicted of it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts each reference and says how far off that is, set by set or point by point.
 * Limits and a stored run can be given to compare with: what is out of bounds, worse or
 * moved is named, and the exit code is 1, so that a change of the model's accuracy does
 * not pass unseen.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/measured_reference.h"
#include "cli/command.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "cli/output/check_list.h"
#include "cli/output/report.h"
#include "cli/validate/validate_job.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset_folders.h"

static const struct fulcrum_report_head set_columns[] = {
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

/* A row for every set; NULL: no memory. The caller frees it. */
static struct fulcrum_report *report_sets(const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sets", set_columns, sizeof set_columns / sizeof set_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        add_set(report, &job->sets[i]);
    }
    return report;
}

static const struct fulcrum_report_head baseline_columns[] = {
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

/* Of every set that small formulas say something of: a row for each, and one for the
 * model; NULL: no memory. The caller frees it. */
static struct fulcrum_report *report_baselines(const struct fulcrum_validate_job *job)
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

static const struct fulcrum_report_head series_columns[] = {
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

/* A row for every series of every set; NULL: no memory. The caller frees it. */
static struct fulcrum_report *report_series(const struct fulcrum_validate_job *job)
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

static const struct fulcrum_report_head point_columns[] = {
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

/* A row for every point; NULL: no memory. The caller frees it. */
static struct fulcrum_report *report_points(const struct fulcrum_validate_job *job)
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

static void print_set_table(const struct fulcrum_validate_job *job, FILE *stream,
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

/*
 * The document about accuracy: what is predicted how well, beside small formulas,
 * where it is most wrong, what nothing predicts.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status fulcrum_validate_markdown(
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
    print_set_table(job, stream, FULCRUM_COMPARE_PREDICTED,
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
    print_set_table(job, stream, FULCRUM_COMPARE_FITTED,
        "## Fitted points\n\nA fit has seen these: they say how well the form bends to "
        "the data, not what a prediction is worth.");
    print_absent(job, stream);
    free(misses);
    return FULCRUM_OK;
}

/* Failed checks that are named one by one; JUnit has all of them. */
enum { NAMED_MOST = 20 };

struct settings {
    struct fulcrum_text_list references;
    struct fulcrum_reference_host host; /* of CSV files */
    const char *calibration;
    const char *baseline;
    const char *save_baseline;
    const char *junit;
    const char *markdown;
    double tolerance_rel;
    double loss_frac;
    double most_mape_frac;
    bool points;
    bool series;
    bool refit;
};

/* What a run has found. */
struct findings {
    struct fulcrum_validate_job job;
    struct fulcrum_design_predictions designs; /* of presets; none: not wanted */
    struct fulcrum_check_list checks;
};

static enum fulcrum_status print_sets(const struct fulcrum_validate_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *sets = report_sets(job);
    struct fulcrum_report *baselines = report_baselines(job);
    enum fulcrum_status status =
        fulcrum_report_print(sets, "fulcrum-validate", context, err);
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE &&
        !fulcrum_report_is_empty(baselines)) {
        (void)fputc('\n', context->out);
        status = fulcrum_report_print(baselines, "fulcrum-validate", context, err);
    }
    fulcrum_report_free(sets);
    fulcrum_report_free(baselines);
    return status;
}

/* Prints a report and frees it. */
static enum fulcrum_status print_report(struct fulcrum_report *report,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-validate", context, err);
    fulcrum_report_free(report);
    return status;
}

static enum fulcrum_status print(const struct settings *settings,
    const struct fulcrum_validate_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_report *reports[] = {report_sets(job), report_series(job),
            report_baselines(job), report_points(job)};
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-validate");
        for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
            fulcrum_report_to_json(reports[i], document);
            fulcrum_report_free(reports[i]);
        }
        return fulcrum_report_print_document(document, context, err);
    }
    if (settings->points) {
        return print_report(report_points(job), context, err);
    }
    return settings->series ? print_report(report_series(job), context, err)
                            : print_sets(job, context, err);
}

/* Before the name of a calibration, or "by series" where there are several. Points that
 * the calibration was fitted to are not predicted "from" it. */
static const char *joining_words(
    const char *calibration, enum fulcrum_comparison_filter filter)
{
    if (calibration[0] == '\0') {
        return "";
    }
    return filter == FULCRUM_COMPARE_FITTED || strchr(calibration, ' ') != NULL
               ? ", "
               : " from ";
}

/* Whether a set, or what is predicted of it, is within the user's bound. */
static void check_set(const struct settings *settings,
    const struct fulcrum_validation *set, struct fulcrum_check_list *checks)
{
    const char *name = set->reference->name;
    enum fulcrum_comparison_filter filter = fulcrum_validate_filter(set);
    struct fulcrum_comparison_errors errors =
        fulcrum_comparison_errors(&set->comparison, NULL, filter, -1);
    if (set->reason[0] != '\0') {
        /* Whether a set that is not predicted is as it should be: the presets say why,
         * and one that the user names is to be predicted wherever anything can. */
        int fails = set->has_failed && settings->references.count > 0;
        fulcrum_check_say(
            fulcrum_check_list_add(checks, set->reference->name,
                fails ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_SKIPPED,
                set->comparison.count > 0 ? "predicted whole" : "predicted"),
            "%s", set->reason);
    }
    if (errors.count == 0) {
        return;
    }
    int passes = !(errors.mape_frac > settings->most_mape_frac);
    struct fulcrum_check *check = fulcrum_check_list_add(checks, name,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s%s%s",
        filter == FULCRUM_COMPARE_FITTED ? "fitted" : "predicted",
        joining_words(set->calibration, filter), set->calibration);
    if (!passes) {
        fulcrum_check_say(check,
            "MAPE of %zu point%s is %.3g %%, at most %.3g %% wanted", errors.count,
            errors.count == 1 ? "" : "s", 100.0 * errors.mape_frac,
            100.0 * settings->most_mape_frac);
    }
}

/* What predictions are compared with; an empty path: nothing. */
static enum fulcrum_status find_baseline(const struct settings *settings,
    char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err)
{
    out[0] = '\0';
    if (settings->baseline == NULL) {
        return fulcrum_preset_find_file("baseline.json", out, err);
    }
    if (strcmp(settings->baseline, "none") == 0) {
        return FULCRUM_OK;
    }
    int length = snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%s", settings->baseline);
    return length < FULCRUM_PRESET_PATH_SIZE
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_FILE,
                     "--baseline: expected a path of at most %d bytes",
                     FULCRUM_PRESET_PATH_SIZE - 1);
}

/* Whether presets are predicted from what they name themselves: all of them. */
static bool is_over_presets(const struct settings *settings)
{
    return settings->references.count == 0 && settings->calibration == NULL;
}

static void check_findings(const struct settings *settings,
    const struct fulcrum_baseline_run *baseline, struct findings *found,
    const struct fulcrum_context *context)
{
    size_t not_stored = 0;
    const struct fulcrum_baseline_limits limits = {
        .moved_rel = settings->tolerance_rel, .loss_frac = settings->loss_frac};
    for (size_t i = 0; i < found->job.count; i++) {
        const struct fulcrum_validation *set = &found->job.sets[i];
        check_set(settings, set, &found->checks);
        size_t stored = fulcrum_baseline_check(baseline, set, &limits, &found->checks);
        not_stored += stored == 0 && set->comparison.count > 0 ? 1 : 0;
    }
    if (not_stored > 0 && baseline->count > 0) {
        fulcrum_message_note(context,
            "%zu %s no stored predictions: --save-baseline stores them", not_stored,
            not_stored == 1 ? "set has" : "sets have");
    }
    if (is_over_presets(settings) || settings->baseline != NULL) {
        fulcrum_baseline_check_sets(
            baseline, &found->job, is_over_presets(settings), &found->checks);
    }
    if (is_over_presets(settings)) {
        fulcrum_design_predictions_check(
            &baseline->designs, &found->designs, limits.moved_rel, &found->checks);
    }
}

static enum fulcrum_status run_checks(const struct settings *settings,
    struct findings *found, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_baseline_run baseline = {.count = 0};
    char path[FULCRUM_PRESET_PATH_SIZE];
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_baseline(settings, path, err));
    if (path[0] != '\0') {
        TRY_OR_END(fulcrum_baseline_read(path, &baseline, err));
    }
    check_findings(settings, &baseline, found, context);
    if (settings->refit) {
        TRY_OR_END(fulcrum_validate_refit(
            &found->job, settings->tolerance_rel, context, &found->checks, err));
    }
end:
    fulcrum_baseline_clear(&baseline);
    return status;
}

static void tell(
    const struct fulcrum_check_list *checks, struct fulcrum_context *context)
{
    size_t failed = fulcrum_check_list_count(checks, FULCRUM_CHECK_FAILED);
    size_t skipped = fulcrum_check_list_count(checks, FULCRUM_CHECK_SKIPPED);
    size_t named = 0;
    for (size_t i = 0; i < checks->count && named < NAMED_MOST; i++) {
        const struct fulcrum_check *check = &checks->items[i];
        if (check->outcome == FULCRUM_CHECK_FAILED) {
            fulcrum_message_warn("%s: %s: %s", check->suite, check->name, check->text);
            named++;
        }
    }
    if (failed > named) {
        fulcrum_message_warn("... and %zu more", failed - named);
    }
    if (failed > 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
        fulcrum_message_warn(
            "%zu of %zu checks failed", failed, checks->count - skipped);
    }
}

static enum fulcrum_status write_junit(const char *path,
    const struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    fulcrum_check_list_junit(checks, "fulcrum validate", fulcrum_output_stream(output));
    return fulcrum_output_commit(output, err);
}

static enum fulcrum_status write_markdown(
    const char *path, const struct fulcrum_validate_job *job, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    enum fulcrum_status status =
        fulcrum_validate_markdown(job, fulcrum_output_stream(output), err);
    if (status != FULCRUM_OK) {
        fulcrum_output_discard(output);
        return status;
    }
    return fulcrum_output_commit(output, err);
}

/* A file that the command writes. */
struct written {
    const char *option;
    const char *path; /* NULL: not asked for */
};

/* Whether a file would be lost that the command reads; the baseline may be renewed. */
static enum fulcrum_status check_inputs(const struct settings *settings,
    const struct written *file, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    for (size_t i = 0; i < settings->references.count; i++) {
        char name[FULCRUM_PRESET_PATH_SIZE];
        fulcrum_reference_text_name(settings->references.items[i], name, sizeof name);
        FULCRUM_USAGE_IF(fulcrum_output_replaces(file->path, name), context, err,
            FULCRUM_ERR_FILE,
            "%s %s: is a reference that is read: expected another file", file->option,
            file->path);
    }
    bool may_renew = file->path == settings->save_baseline;
    const char *const inputs[] = {settings->host.machine, settings->host.workload,
        settings->calibration, may_renew ? NULL : settings->baseline};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        FULCRUM_USAGE_IF(
            inputs[i] != NULL && fulcrum_output_replaces(file->path, inputs[i]),
            context, err, FULCRUM_ERR_FILE,
            "%s %s: is read, too: expected another file", file->option, file->path);
    }
    return FULCRUM_OK;
}

/* Files must be told apart from those before them. */
static enum fulcrum_status check_different(const struct written *files, size_t last,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    for (size_t i = 0; i < last; i++) {
        FULCRUM_USAGE_IF(files[i].path != NULL &&
                             fulcrum_output_is_same(files[last].path, files[i].path),
            context, err, FULCRUM_ERR_FILE,
            "%s and %s are both %s: expected different files", files[i].option,
            files[last].option, files[last].path);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_collisions(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct written files[] = {{"--output", context->output_path},
        {"--junit", settings->junit}, {"--markdown", settings->markdown},
        {"--save-baseline", settings->save_baseline}};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == FULCRUM_OK;
         i++) {
        if (files[i].path == NULL) {
            continue;
        }
        status = check_different(files, i, context, err);
        if (status == FULCRUM_OK) {
            status = check_inputs(settings, &files[i], context, err);
        }
    }
    return status;
}

static enum fulcrum_status check_settings(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    return settings->points && settings->series
               ? fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
                     "--points and --series: expected one of them")
               : check_collisions(settings, context, err);
}

/* Files that nobody can write are found before the work. */
static enum fulcrum_status check_paths(
    const struct settings *settings, struct fulcrum_error *err)
{
    const char *const paths[] = {
        settings->junit, settings->markdown, settings->save_baseline};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i] != NULL) {
            TRY(fulcrum_output_check(paths[i], err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status write_files(const struct settings *settings,
    const struct findings *found, struct fulcrum_error *err)
{
    if (settings->junit != NULL) {
        TRY(write_junit(settings->junit, &found->checks, err));
    }
    if (settings->markdown != NULL) {
        TRY(write_markdown(settings->markdown, &found->job, err));
    }
    if (settings->save_baseline != NULL) {
        TRY(fulcrum_baseline_write(
            &found->job, &found->designs, settings->save_baseline, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict(const struct settings *settings,
    struct fulcrum_context *context, struct findings *out, struct fulcrum_error *err)
{
    const struct fulcrum_validate_plan plan = {.references = &settings->references,
        .host = settings->host,
        .calibration = settings->calibration};
    enum fulcrum_status status =
        fulcrum_validate_job_run(&plan, context, &out->job, err);
    return status == FULCRUM_OK && is_over_presets(settings)
               ? fulcrum_design_predictions_make(context, &out->designs, err)
               : status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct findings found = {.job = {.count = 0}};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_settings(settings, context, err));
    TRY_OR_END(check_paths(settings, err));
    TRY_OR_END(predict(settings, context, &found, err));
    TRY_OR_END(run_checks(settings, &found, context, err));
    TRY_OR_END(print(settings, &found.job, context, err));
    TRY_OR_END(write_files(settings, &found, err));
    tell(&found.checks, context);
end:
    fulcrum_check_list_clear(&found.checks);
    fulcrum_design_predictions_clear(&found.designs);
    fulcrum_validate_job_clear(&found.job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, offsetof(struct settings, references), NULL,
        FULCRUM_REFERENCE_NAMES "; every preset unless given"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "calibration", offsetof(struct settings, calibration), "NAME",
        .letter = 'c',
        .help = "preset or JSON file to predict throughput from, in place of what each "
                "reference names"),
    FULCRUM_OPTION(FLAG, "points", offsetof(struct settings, points), NULL,
        .letter = 'p', .help = "a row for every point rather than for every reference"),
    FULCRUM_OPTION(FLAG, "series", offsetof(struct settings, series), NULL,
        .help = "a row for every curve of every reference"),
    FULCRUM_OPTION(FILE, "markdown", offsetof(struct settings, markdown), "FILE",
        .help = "also write a document about accuracy; docs/accuracy.md is one"),
    {.name = NULL},
};

static const struct fulcrum_option check_rows[] = {
    FULCRUM_OPTION(FILE, "baseline", offsetof(struct settings, baseline), "FILE",
        .letter = 'b',
        .help = "stored predictions: those that have moved and sets that have become "
                "worse are named, and the exit code is 1; those of the presets unless "
                "given, 'none' for no comparison"),
    FULCRUM_OPTION(FILE, "save-baseline", offsetof(struct settings, save_baseline),
        "FILE", .help = "store the predictions, to compare later runs with"),
    FULCRUM_OPTION(NUMBER, "tolerance", offsetof(struct settings, tolerance_rel),
        "FRACTION", .fallback = "0.005", .least = 0.0, .most = 10.0,
        .help = "how far a prediction may move from the baseline's"),
    FULCRUM_OPTION(NUMBER, "loss", offsetof(struct settings, loss_frac), "FRACTION",
        .fallback = "0.005", .least = 0.0, .most = 10.0,
        .help = "how much the MAPE of a set's predicted points may grow over the "
                "baseline's; 0.005 is half a percentage point"),
    FULCRUM_OPTION(NUMBER, "max-mape", offsetof(struct settings, most_mape_frac),
        "FRACTION", .least = 0.0, .most = 1000.0,
        .help = "exit code 1 where the MAPE of a set is larger"),
    FULCRUM_OPTION(FLAG, "refit", offsetof(struct settings, refit), NULL,
        .help = "repeat the fits of the calibrations that were fitted to these "
                "references; exit code 1 where values or errors do not come out "
                "again within --tolerance (takes minutes)"),
    FULCRUM_OPTION(FILE, "junit", offsetof(struct settings, junit), "FILE",
        .help = "also write every check as JUnit XML, for the reports of a CI server"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Validation", rows, 0},
    {"CSV files", fulcrum_reference_host_rows, offsetof(struct settings, host)},
    {"Checks", check_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum validate", "every preset: has a prediction moved, or become worse?"},
    {"fulcrum validate envpool-atari-laptop --points", "point by point"},
    {"fulcrum validate mine.json -c c.json --max-mape 0.1 --save-baseline b.json",
        "a calibration against your own measurements"},
    {"fulcrum validate mine.json -c c.json --baseline b.json --junit accuracy.xml",
        "the same in CI, later"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_validate = {
    .name = "validate",
    .summary = "predict published and measured points, and say how far off that is",
    .description =
        "Predicts every reference and compares: mean absolute percentage error (MAPE), "
        "its symmetric form, the largest error, the mean with its sign, and the share "
        "of "
        "points inside the 90 % interval, beside the MAPE of asymptotic bounds and of "
        "the textbook product form. Points that a fit has seen are told apart: they "
        "prove little.\n\n"
        "CPU curves, watts and work on a part of the SMs are fitted to every other "
        "point of a curve and predict the rest; throughput is predicted from the "
        "calibration of the reference or its workload, watts of whole servers from "
        "the priors of their parts. What nothing predicts is listed with the reason.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
