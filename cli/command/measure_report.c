/* measure_report.c - what `fulcrum measure` found, for people and programs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "calibrate/pipeline/measured_reference.h"
#include "calibrate/probe/probe.h"
#include "presets/io/json.h"

/* A canary that differs so much tells of another clock or other neighbours. */
#define DRIFT_MOST_REL 0.05

static const struct fulcrum_report_head columns[] = {
    {"batching", FULCRUM_COLUMN_TEXT, NULL},
    {"actors", FULCRUM_COLUMN_NUMBER, NULL},
    {"envs_per_actor", FULCRUM_COLUMN_NUMBER, "envs"},
    {"measured_steps_per_s", FULCRUM_COLUMN_NUMBER, "steps/s"},
    {"measured_lo", FULCRUM_COLUMN_NUMBER, "least"},
    {"measured_hi", FULCRUM_COLUMN_NUMBER, "most"},
    {"predicted_steps_per_s", FULCRUM_COLUMN_NUMBER, "predicted"},
    {"predicted_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"predicted_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"error_frac", FULCRUM_COLUMN_NUMBER, "error"},
    {"mean_batch", FULCRUM_COLUMN_NUMBER, "batch"},
    {"predicted_mean_batch", FULCRUM_COLUMN_NUMBER, "pred."},
    {"predicted_speed_rel", FULCRUM_COLUMN_NUMBER, "speed"},
    {"actor_busy_frac", FULCRUM_COLUMN_NUMBER, "actors busy"},
    {"server_busy_frac", FULCRUM_COLUMN_NUMBER, "server busy"},
    {"train_busy_frac", FULCRUM_COLUMN_NUMBER, "trainer busy"},
    {"train_steps", FULCRUM_COLUMN_NUMBER, "train steps"},
    {"cpu_w", FULCRUM_COLUMN_NUMBER, "CPU W"},
    {"gpu_w", FULCRUM_COLUMN_NUMBER, "GPU W"},
    {"j_per_step", FULCRUM_COLUMN_NUMBER, "J/step"},
    {"windows", FULCRUM_COLUMN_NUMBER, NULL},
    {"disturbed_windows", FULCRUM_COLUMN_NUMBER, "disturbed"},
    {"note", FULCRUM_COLUMN_TEXT, NULL},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

_Static_assert(
    (int)COLUMN_COUNT == (int)FULCRUM_MEASURE_COLUMNS, "room for every column");

static double relative_error(
    const struct fulcrum_measured *item, const struct fulcrum_prediction *prediction)
{
    return prediction->value[FULCRUM_OUTPUT_steps_per_s] / item->median.steps_per_s -
           1.0;
}

/* Cells in the order of the columns; those of columns that are left out go nowhere. */
struct writer {
    struct fulcrum_report *report;
    const unsigned char *is_shown;
    size_t next;                /* column of the next cell */
    double calibrated_canary_s; /* NAN: not known */
};

static void add_number(struct writer *writer, double value)
{
    if (writer->is_shown[writer->next++]) {
        fulcrum_report_add_number(writer->report, value);
    }
    writer->next %= COLUMN_COUNT;
}

static void add_text(struct writer *writer, const char *text)
{
    if (writer->is_shown[writer->next++]) {
        fulcrum_report_add_text(writer->report, text);
    }
    writer->next %= COLUMN_COUNT;
}

static void add_prediction(struct writer *writer, const struct fulcrum_measured *item,
    const struct fulcrum_prediction *prediction)
{
    enum { RATE = FULCRUM_OUTPUT_steps_per_s };
    int has = prediction != NULL;
    bool has_interval = has && prediction->has_interval;
    add_number(writer, has ? prediction->value[RATE] : (double)NAN);
    add_number(writer, has_interval ? prediction->lo[RATE] : (double)NAN);
    add_number(writer, has_interval ? prediction->hi[RATE] : (double)NAN);
    add_number(writer, has ? relative_error(item, prediction) : (double)NAN);
    add_number(writer, item->median.mean_batch);
    add_number(
        writer, has ? prediction->value[FULCRUM_OUTPUT_mean_batch] : (double)NAN);
    double canary_s = item->median.canary_s;
    add_number(
        writer, canary_s > 0.0 ? writer->calibrated_canary_s / canary_s : (double)NAN);
}

static double disturbed_count(const struct fulcrum_measured *item)
{
    double count = 0.0;
    for (size_t i = 0; i < item->window_count; i++) {
        count += item->windows[i].is_disturbed;
    }
    return count;
}

static void add_item(struct writer *writer, const struct fulcrum_measured *item,
    const struct fulcrum_prediction *prediction)
{
    char batching[48];
    struct fulcrum_measure_config rule = item->config;
    fulcrum_measured_series(&rule, batching, sizeof batching);
    add_text(writer, batching);
    add_number(writer, (double)item->config.actor_count);
    add_number(writer, (double)item->config.envs_per_actor);
    add_number(writer, item->median.steps_per_s);
    add_number(writer, item->lo);
    add_number(writer, item->hi);
    add_prediction(writer, item, prediction);
    add_number(writer, item->median.actor_busy_frac);
    add_number(writer, item->median.server_busy_frac);
    add_number(writer, item->median.train_busy_frac);
    add_number(writer, item->median.train_step_count);
    add_number(writer, item->median.cpu_w);
    add_number(writer, item->median.gpu_w);
    add_number(writer, item->median.j_per_step);
    add_number(writer, (double)item->window_count);
    add_number(writer, disturbed_count(item));
    const char *note = item->failure;
    if (note[0] == '\0' && item->is_disturbed) {
        note = item->window_count > 0 ? "disturbed" : "not measured";
    }
    add_text(writer, note);
}

/* The prediction of the item at hand; `next` counts those with windows. */
static const struct fulcrum_prediction *prediction_of(
    const struct fulcrum_measure_result *result, const struct fulcrum_measured *item,
    size_t *next)
{
    if (item->window_count == 0 || result->predictions == NULL) {
        return NULL;
    }
    return &result->predictions[(*next)++];
}

static bool has_watts(const struct fulcrum_measurement *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured *item = &found->items[i];
        if (item->window_count > 0 &&
            !(isnan(item->median.cpu_w) && isnan(item->median.gpu_w))) {
            return 1;
        }
    }
    return 0;
}

/* Columns that would be empty, or say one thing throughout, are not for a table. */
static bool is_of_interest(const struct fulcrum_measure_result *result,
    const struct fulcrum_report_head *column)
{
    const char *key = column->key;
    if (strncmp(key, "predicted_", 10) == 0 || strcmp(key, "error_frac") == 0) {
        return result->predictions != NULL;
    }
    if (strncmp(key, "train_", 6) == 0) {
        return !isnan(result->measurement->train_step_flop);
    }
    if (strcmp(key, "cpu_w") == 0 || strcmp(key, "gpu_w") == 0 ||
        strcmp(key, "j_per_step") == 0) {
        return has_watts(result->measurement);
    }
    return 1;
}

/* NAN: no calibration, or one that does not know. */
static double calibrated_canary_s(const struct fulcrum_measure_result *result)
{
    return result->calibration != NULL ? result->calibration->machine.cpu.canary_s
                                       : (double)NAN;
}

/* What has no window has NAN throughout. */
static struct fulcrum_measured without_windows(const struct fulcrum_measured *item)
{
    struct fulcrum_measured empty = *item;
    empty.median = (struct fulcrum_measure_window){.steps_per_s = (double)NAN,
        .mean_batch = (double)NAN,
        .actor_busy_frac = (double)NAN,
        .server_busy_frac = (double)NAN,
        .train_busy_frac = (double)NAN,
        .train_step_count = (double)NAN,
        .cpu_w = (double)NAN,
        .gpu_w = (double)NAN,
        .j_per_step = (double)NAN,
        .canary_s = (double)NAN};
    empty.lo = empty.hi = (double)NAN;
    return empty;
}

struct fulcrum_report *fulcrum_measure_report_points(
    const struct fulcrum_measure_result *result, bool is_for_people,
    struct fulcrum_report_head *room)
{
    const struct fulcrum_measurement *found = result->measurement;
    unsigned char is_shown[COLUMN_COUNT];
    size_t shown_count = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        is_shown[i] = !is_for_people || is_of_interest(result, &columns[i]);
        if (is_shown[i]) {
            room[shown_count++] = columns[i];
        }
    }
    struct writer writer = {.report = fulcrum_report_new("points", room, shown_count),
        .is_shown = is_shown,
        .calibrated_canary_s = calibrated_canary_s(result)};
    size_t next = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured *item = &found->items[i];
        struct fulcrum_measured empty = without_windows(item);
        add_item(&writer, item->window_count > 0 ? item : &empty,
            prediction_of(result, item, &next));
    }
    return writer.report;
}

struct fulcrum_measure_errors fulcrum_measure_errors_of(
    const struct fulcrum_measure_result *result, bool takes_all)
{
    struct fulcrum_measure_errors errors = {.count = 0};
    double covered = 0.0;
    size_t next = 0;
    for (size_t i = 0; i < result->measurement->count; i++) {
        const struct fulcrum_measured *item = &result->measurement->items[i];
        const struct fulcrum_prediction *prediction =
            prediction_of(result, item, &next);
        if (prediction == NULL || (item->is_disturbed && !takes_all)) {
            continue;
        }
        double error = relative_error(item, prediction);
        errors.count++;
        errors.mape_frac += fabs(error);
        errors.bias_frac += error;
        errors.max_frac = fmax(errors.max_frac, fabs(error));
        covered += item->hi >= prediction->lo[FULCRUM_OUTPUT_steps_per_s] &&
                   item->lo <= prediction->hi[FULCRUM_OUTPUT_steps_per_s];
    }
    double count = errors.count > 0 ? (double)errors.count : (double)NAN;
    errors.mape_frac /= count;
    errors.bias_frac /= count;
    errors.covered_frac = covered / count;
    errors.max_frac = errors.count > 0 ? errors.max_frac : (double)NAN;
    return errors;
}

static void print_errors(
    FILE *stream, const char *what, const struct fulcrum_measure_errors *errors)
{
    if (errors->count > 0) {
        (void)fprintf(stream,
            "%-22s %3zu points: mean |error| %.1f %%, largest %.1f %%, bias %+.1f %%; "
            "%.0f %% within the interval\n",
            what, errors->count, 100.0 * errors->mape_frac, 100.0 * errors->max_frac,
            100.0 * errors->bias_frac, 100.0 * errors->covered_frac);
    }
}

/* How much longer the canary takes than it did for the calibration, on the mean of the
 * points; NAN: not known. */
static double canary_drift_rel(const struct fulcrum_measure_result *result)
{
    const struct fulcrum_measurement *found = result->measurement;
    double sum_s = 0.0;
    double count = 0.0;
    for (size_t i = 0; i < found->count; i++) {
        if (found->items[i].window_count > 0) {
            sum_s += found->items[i].median.canary_s;
            count += 1.0;
        }
    }
    return count > 0.0 ? sum_s / count / calibrated_canary_s(result) - 1.0
                       : (double)NAN;
}

void fulcrum_measure_report_notes(
    const struct fulcrum_measure_result *result, FILE *stream)
{
    const struct fulcrum_measurement *found = result->measurement;
    char actors[128];
    char server[128];
    fulcrum_cpu_list_write(&found->placement.actors, actors, sizeof actors);
    fulcrum_cpu_list_write(&found->placement.server, server, sizeof server);
    (void)fprintf(stream, "actors on processors %s, server on %s%s\n", actors, server,
        found->placement.is_apart ? ""
                                  : ": they share cores, which the model does not");
    if (result->predictions == NULL) {
        (void)fprintf(stream,
            "nothing predicted: --calibration FILE, taken beforehand, gives a "
            "prediction beside each point\n");
    } else {
        struct fulcrum_measure_errors calm = fulcrum_measure_errors_of(result, 0);
        struct fulcrum_measure_errors all = fulcrum_measure_errors_of(result, 1);
        print_errors(stream, "undisturbed", &calm);
        print_errors(stream, "all, disturbed too", &all);
    }
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        count += found->items[i].window_count > 0 && found->items[i].is_disturbed;
    }
    size_t disturbed = count;
    if (disturbed > 0) {
        (void)fprintf(stream,
            "%zu of %zu points disturbed: a canary above %.3g of its usual time, or "
            "other programs above %.0f %% of the machine, in more than half of the "
            "windows\n",
            disturbed, found->count, FULCRUM_CANARY_LIMIT_REL,
            100.0 * FULCRUM_MEASURE_OTHERS_MOST_FRAC);
    }
    double drift_rel = canary_drift_rel(result);
    if (fabs(drift_rel) > DRIFT_MOST_REL) {
        (void)fprintf(stream,
            "the canary takes %.1f %% %s than when the calibration was taken: the "
            "machine is in another state, and each point predicted at its own speed\n",
            100.0 * fabs(drift_rel), drift_rel > 0.0 ? "longer" : "less");
    }
    if (!has_watts(found)) {
        (void)fprintf(stream, "power not measured: `fulcrum list meters` says why\n");
    }
}

static const struct fulcrum_report_head window_columns[] = {
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"mean_batch", FULCRUM_COLUMN_NUMBER, NULL},
    {"actor_cpu_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"server_cpu_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"train_steps", FULCRUM_COLUMN_NUMBER, NULL},
    {"canary_rel", FULCRUM_COLUMN_NUMBER, NULL},
    {"canary_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"others_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"disturbed", FULCRUM_COLUMN_NUMBER, NULL},
};

static void add_window(struct fulcrum_report *report, size_t point,
    const struct fulcrum_measure_window *window)
{
    fulcrum_report_add_number(report, (double)point);
    fulcrum_report_add_number(report, window->steps_per_s);
    fulcrum_report_add_number(report, window->mean_batch);
    fulcrum_report_add_number(report, window->actor_cpu_s);
    fulcrum_report_add_number(report, window->server_cpu_s);
    fulcrum_report_add_number(report, window->train_step_count);
    fulcrum_report_add_number(report, window->canary_rel);
    fulcrum_report_add_number(report, window->canary_s);
    fulcrum_report_add_number(report, window->others_frac);
    fulcrum_report_add_number(report, window->is_disturbed);
}

static void add_errors(struct fulcrum_json *document, const char *key,
    const struct fulcrum_measure_errors *errors)
{
    struct fulcrum_json *object = fulcrum_json_add_object(document, key);
    fulcrum_json_add_number(object, "point_count", (double)errors->count);
    fulcrum_json_add_number(object, "mape_frac", errors->mape_frac);
    fulcrum_json_add_number(object, "max_frac", errors->max_frac);
    fulcrum_json_add_number(object, "bias_frac", errors->bias_frac);
    fulcrum_json_add_number(object, "covered_frac", errors->covered_frac);
}

void fulcrum_measure_report_to_json(
    const struct fulcrum_measure_result *result, struct fulcrum_json *document)
{
    const struct fulcrum_measurement *found = result->measurement;
    char text[128];
    fulcrum_json_add_text(document, "machine", found->machine.cpu.name);
    fulcrum_json_add_text(document, "actor", found->actor);
    fulcrum_json_add_text(document, "learner", found->learner);
    fulcrum_cpu_list_write(&found->placement.actors, text, sizeof text);
    fulcrum_json_add_text(document, "actor_cpus", text);
    fulcrum_cpu_list_write(&found->placement.server, text, sizeof text);
    fulcrum_json_add_text(document, "server_cpus", text);
    fulcrum_json_add_flag(document, "complete", found->is_complete);
    if (result->calibration != NULL) {
        fulcrum_json_add_text(document, "calibration", result->calibration->name);
    } else {
        fulcrum_json_add_null(document, "calibration");
    }
    struct fulcrum_report_head room[FULCRUM_MEASURE_COLUMNS];
    struct fulcrum_report *points = fulcrum_measure_report_points(result, 0, room);
    fulcrum_report_to_json(points, document);
    fulcrum_report_free(points);
    if (result->predictions != NULL) {
        struct fulcrum_measure_errors calm = fulcrum_measure_errors_of(result, 0);
        struct fulcrum_measure_errors all = fulcrum_measure_errors_of(result, 1);
        add_errors(document, "undisturbed", &calm);
        add_errors(document, "all", &all);
    }
    /* Every window: whoever reads the document may judge anew. */
    struct fulcrum_report *report = fulcrum_report_new(
        "windows", window_columns, sizeof window_columns / sizeof window_columns[0]);
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->items[i].window_count; k++) {
            add_window(report, i, &found->items[i].windows[k]);
        }
    }
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    fulcrum_json_add_number(document, "canary_drift_rel", canary_drift_rel(result));
    fulcrum_json_add_text(document, "power", found->energy_reason);
}
