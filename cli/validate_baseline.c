/* validate_baseline.c - an earlier run of `validate`, to compare a new one with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate_baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/moved.h"
#include "cli/report.h"
#include "presets/document.h"
#include "presets/json.h"
#include "presets/output.h"
#include "presets/reader.h"

#define SCHEMA "fulcrum-baseline"

/* Of both schemas: fulcrum_report_document writes no other. */
#define SCHEMA_VERSION 1

static void read_kind(const struct fulcrum_node *node, struct fulcrum_stored_point *out)
{
    char kind[32];
    if (!fulcrum_node_text(node, kind, sizeof kind)) {
        return;
    }
    out->is_fitted = strcmp(kind, "fitted") == 0;
    if (!out->is_fitted && strcmp(kind, "predicted") != 0) {
        fulcrum_node_fault(
            node, FULCRUM_ERR_FORMAT, "expected \"fitted\" or \"predicted\"");
    }
}

/* The JSON of `validate` has more digits than a stored run. */
static void read_value(const struct fulcrum_node *node, double *out)
{
    if (fulcrum_node_number(node, out)) {
        *out = fulcrum_moved_stored(*out);
    }
}

static void read_point(
    const struct fulcrum_node *node, struct fulcrum_stored_point *out)
{
    static const char *const keys[] = {"reference", "calibration", "quantity", "point",
        "observed", "predicted", "kind"};
    enum { REFERENCE, CALIBRATION, QUANTITY, POINT, OBSERVED, PREDICTED, KIND, KEYS };
    struct fulcrum_node members[KEYS];
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    for (size_t i = 0; i < KEYS; i++) {
        members[i] = fulcrum_node_member(node, keys[i]);
    }
    (void)fulcrum_node_text(&members[REFERENCE], out->reference, sizeof out->reference);
    (void)fulcrum_node_text(
        &members[CALIBRATION], out->calibration, sizeof out->calibration);
    (void)fulcrum_node_text(&members[QUANTITY], out->quantity, sizeof out->quantity);
    (void)fulcrum_node_number(&members[POINT], &out->point);
    read_value(&members[OBSERVED], &out->observed);
    read_value(&members[PREDICTED], &out->predicted);
    read_kind(&members[KIND], out);
}

static void check_schema(const struct fulcrum_node *root)
{
    struct fulcrum_node schema = fulcrum_node_member(root, "schema");
    struct fulcrum_node name = fulcrum_node_member(&schema, "name");
    struct fulcrum_node version = fulcrum_node_member(&schema, "version");
    char text[64];
    double number = 0.0;
    if (fulcrum_node_text(&name, text, sizeof text) && strcmp(text, SCHEMA) != 0 &&
        strcmp(text, "fulcrum-validate") != 0) {
        fulcrum_node_fault(&name, FULCRUM_ERR_FORMAT,
            "expected \"%s\" or \"fulcrum-validate\", as 'fulcrum validate' writes",
            SCHEMA);
    }
    if (fulcrum_node_number(&version, &number) && number != (double)SCHEMA_VERSION) {
        fulcrum_node_fault(&version, FULCRUM_ERR_FORMAT,
            "expected %d, the version that this program reads", SCHEMA_VERSION);
    }
}

static enum fulcrum_status read_points(const struct fulcrum_node *root,
    struct fulcrum_baseline_run *out, struct fulcrum_error *err)
{
    struct fulcrum_node points = fulcrum_node_member(root, "points");
    size_t count = 0;
    if (!fulcrum_node_is_array(&points, &count)) {
        return FULCRUM_OK;
    }
    if (count == 0) {
        fulcrum_node_fault(
            &points, FULCRUM_ERR_MISSING, "expected one stored prediction or more");
    }
    out->points = calloc(count + 1, sizeof *out->points);
    if (out->points == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a baseline");
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node point = fulcrum_node_element(&points, i);
        read_point(&point, &out->points[i]);
    }
    out->count = count;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_baseline_run *out, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    *out = (struct fulcrum_baseline_run){.count = 0};
    enum fulcrum_status status = fulcrum_document_read(path, &document, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_reader reader = {.file = path};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    check_schema(&root);
    status = read_points(&root, out, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_design_predictions_read(&root, &out->designs, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_reader_finish(&reader, err);
    }
    fulcrum_document_free(document);
    return status;
}

static void write_point(struct fulcrum_json *points,
    const struct fulcrum_validation *set, const struct fulcrum_compared *item)
{
    struct fulcrum_json *point = fulcrum_json_append_object(points);
    fulcrum_json_add_text(point, "reference", set->reference->name);
    fulcrum_json_add_text(point, "calibration", set->calibration);
    fulcrum_json_add_number(point, "point", (double)item->point);
    fulcrum_json_add_text(point, "quantity",
        fulcrum_validate_observation(&set->comparison, item)->quantity);
    fulcrum_json_add_number(point, "observed", fulcrum_moved_stored(item->observed));
    fulcrum_json_add_number(point, "predicted", fulcrum_moved_stored(item->predicted));
    fulcrum_json_add_text(point, "kind", item->is_fitted ? "fitted" : "predicted");
}

static struct fulcrum_json *document_of(const struct fulcrum_validate_job *job,
    const struct fulcrum_design_predictions *designs)
{
    struct fulcrum_json *document = fulcrum_report_document(SCHEMA);
    struct fulcrum_json *points = fulcrum_json_add_array(document, "points");
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_comparison *all = &job->sets[i].comparison;
        for (size_t k = 0; k < all->count; k++) {
            write_point(points, &job->sets[i], &all->items[k]);
        }
    }
    if (designs->count > 0) {
        fulcrum_design_predictions_write(designs, document);
    }
    return document;
}

enum fulcrum_status fulcrum_baseline_write(const struct fulcrum_validate_job *job,
    const struct fulcrum_design_predictions *designs, const char *path,
    struct fulcrum_error *err)
{
    char *text = NULL;
    struct fulcrum_json *document = document_of(job, designs);
    enum fulcrum_status status =
        fulcrum_json_text(document, FULCRUM_JSON_PRETTY, &text, err);
    fulcrum_json_free(document);
    if (status == FULCRUM_OK) {
        status = fulcrum_output_text(path, text, err);
    }
    free(text);
    return status;
}

void fulcrum_baseline_clear(struct fulcrum_baseline_run *baseline)
{
    free(baseline->points);
    fulcrum_design_predictions_clear(&baseline->designs);
    *baseline = (struct fulcrum_baseline_run){.count = 0};
}

static int is_of(
    const struct fulcrum_stored_point *stored, const struct fulcrum_validation *set)
{
    return strcmp(stored->reference, set->reference->name) == 0 &&
           strcmp(stored->calibration, set->calibration) == 0;
}

/* The item that a stored point stands for; NULL where there is none any more. */
static const struct fulcrum_compared *find_item(
    const struct fulcrum_validation *set, const struct fulcrum_stored_point *stored)
{
    const struct fulcrum_comparison *all = &set->comparison;
    for (size_t k = 0; k < all->count; k++) {
        const struct fulcrum_compared *item = &all->items[k];
        const char *quantity = fulcrum_validate_observation(all, item)->quantity;
        if (fabs((double)item->point - stored->point) < 0.5 &&
            strcmp(quantity, stored->quantity) == 0) {
            return item;
        }
    }
    return NULL;
}

/* Compared as it would be stored, so that a tolerance of 0 means the same digits. */
static int has_moved(double stored, double now, double most_rel)
{
    return fulcrum_moved_rel(stored, fulcrum_moved_stored(now)) > most_rel;
}

static void check_point(const struct fulcrum_validation *set,
    const struct fulcrum_stored_point *stored,
    const struct fulcrum_baseline_limits *limits, struct fulcrum_check_list *checks)
{
    const struct fulcrum_compared *item = find_item(set, stored);
    int passes = item != NULL && item->is_fitted == stored->is_fitted &&
                 !has_moved(stored->predicted, item->predicted, limits->moved_rel) &&
                 !has_moved(stored->observed, item->observed, limits->moved_rel);
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->reference,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s, point %.0f%s%s",
        stored->quantity, stored->point, stored->calibration[0] != '\0' ? ", " : "",
        stored->calibration);
    if (item == NULL) {
        fulcrum_check_say(check, "is not predicted any more");
    } else if (has_moved(stored->observed, item->observed, limits->moved_rel)) {
        fulcrum_check_say(check, "was observed as %.6g, %.6g stored", item->observed,
            stored->observed);
    } else if (item->is_fitted != stored->is_fitted) {
        fulcrum_check_say(check, "is %s, %s stored",
            item->is_fitted ? "fitted" : "predicted",
            stored->is_fitted ? "fitted" : "predicted");
    } else if (!passes) {
        fulcrum_moved_say(check, "", stored->predicted, item->predicted);
    }
}

/* Of the predicted points of a set that both runs have. */
struct mean_error {
    double count;
    double then_frac;
    double now_frac;
};

static struct mean_error mean_error(
    const struct fulcrum_baseline_run *baseline, const struct fulcrum_validation *set)
{
    struct mean_error mean = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        const struct fulcrum_compared *item =
            is_of(stored, set) ? find_item(set, stored) : NULL;
        if (item == NULL || stored->is_fitted || !(stored->observed > 0.0)) {
            continue;
        }
        mean.count += 1.0;
        mean.then_frac += fulcrum_moved_rel(stored->observed, stored->predicted);
        mean.now_frac += fulcrum_moved_rel(fulcrum_moved_stored(item->observed),
            fulcrum_moved_stored(item->predicted));
    }
    mean.then_frac /= fmax(mean.count, 1.0);
    mean.now_frac /= fmax(mean.count, 1.0);
    return mean;
}

static void check_error(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validation *set, double most_loss_frac,
    struct fulcrum_check_list *checks)
{
    struct mean_error mean = mean_error(baseline, set);
    if (!(mean.count > 0.0)) {
        return;
    }
    int passes = mean.now_frac <= mean.then_frac + most_loss_frac;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, set->reference->name,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "mean error%s%s",
        set->calibration[0] != '\0' ? ", " : "", set->calibration);
    if (!passes) {
        fulcrum_check_say(check,
            "of %.0f predicted points is %.3g %%, %.3g %% stored: worse by more than "
            "%.3g points",
            mean.count, 100.0 * mean.now_frac, 100.0 * mean.then_frac,
            100.0 * most_loss_frac);
    }
}

size_t fulcrum_baseline_check(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validation *set, const struct fulcrum_baseline_limits *limits,
    struct fulcrum_check_list *checks)
{
    size_t count = 0;
    check_error(baseline, set, limits->loss_frac, checks);
    for (size_t i = 0; i < baseline->count; i++) {
        if (is_of(&baseline->points[i], set)) {
            check_point(set, &baseline->points[i], limits, checks);
            count++;
        }
    }
    return count;
}

static int has_set(
    const struct fulcrum_validate_job *job, const struct fulcrum_stored_point *stored)
{
    for (size_t i = 0; i < job->count; i++) {
        if (is_of(stored, &job->sets[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_same_set(
    const struct fulcrum_stored_point *a, const struct fulcrum_stored_point *b)
{
    return strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->calibration, b->calibration) == 0;
}

/* Whether a set of the run is of the stored point's reference. */
static int has_reference(
    const struct fulcrum_validate_job *job, const struct fulcrum_stored_point *stored)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->sets[i].reference->name, stored->reference) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether any stored point of a reference is of a set of the run. */
static int is_known(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, const char *reference)
{
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        if (strcmp(stored->reference, reference) == 0 && has_set(job, stored)) {
            return 1;
        }
    }
    return 0;
}

void fulcrum_baseline_check_sets(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, int is_all,
    struct fulcrum_check_list *checks)
{
    size_t last = baseline->count; /* the set that was missed before; count: none */
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        if ((last < i && is_same_set(&baseline->points[last], stored)) ||
            has_set(job, stored)) {
            continue;
        }
        last = i;
        if (!is_all && (!has_reference(job, stored) ||
                           is_known(baseline, job, stored->reference))) {
            continue;
        }
        fulcrum_check_say(
            fulcrum_check_list_add(checks, stored->reference, FULCRUM_CHECK_FAILED,
                "predictions%s%s", stored->calibration[0] != '\0' ? ", " : "",
                stored->calibration),
            "are stored and not made any more");
    }
}
