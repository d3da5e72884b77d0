/* record.c - objects whose members are rows of a table: read, written and described. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/io/record.h"

#include <assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "expected one of linear, log, logit" */
static void fault_choice(const struct fulcrum_node *node, enum fulcrum_status status,
    fulcrum_record_names *names)
{
    char text[160] = "";
    size_t used = 0;
    for (int i = 0; names(i) != NULL && used < sizeof text; i++) {
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", names(i));
    }
    fulcrum_node_fault(node, status, "expected one of %s", text);
}

int fulcrum_record_choice(const struct fulcrum_node *node, fulcrum_record_names *names)
{
    char text[40] = "";
    if (!fulcrum_node_text(node, text, sizeof text)) {
        return -1;
    }
    for (int i = 0; names(i) != NULL; i++) {
        if (strcmp(names(i), text) == 0) {
            return i;
        }
    }
    fault_choice(node, FULCRUM_ERR_RANGE, names);
    return -1;
}

static void read_choice(
    const struct fulcrum_node *node, fulcrum_record_names *names, int *out)
{
    if (json_object_is_type(node->json, json_type_string)) {
        int index = fulcrum_record_choice(node, names);
        *out = index >= 0 ? index : *out;
    } else {
        fault_choice(node, FULCRUM_ERR_FORMAT, names);
    }
}

static void read_count(const struct fulcrum_node *node, size_t *out)
{
    const double most = 1e9;
    double count = fulcrum_node_value(node);
    if (count >= 0.0 && count <= most && count == floor(count)) {
        *out = (size_t)count;
    } else {
        fulcrum_node_fault(
            node, FULCRUM_ERR_RANGE, "expected a whole number from 0 to %g", most);
    }
}

void fulcrum_record_read_row(
    const struct fulcrum_node *object, const struct fulcrum_record_row *row, void *base)
{
    static const double unknown[2] = {(double)NAN, (double)NAN};
    double *ends = NULL;
    void *place = (char *)base + row->offset;
    struct fulcrum_node node = fulcrum_node_member(object, row->key);
    bool is_number =
        row->kind == FULCRUM_RECORD_NUMBER || row->kind == FULCRUM_RECORD_WHOLE;
    if (node.json == NULL && row->is_optional) {
        if (is_number) {
            *(double *)place = row->otherwise;
        }
        return;
    }
    switch (row->kind) {
    case FULCRUM_RECORD_NUMBER:
    case FULCRUM_RECORD_WHOLE:
        if (!fulcrum_node_number(&node, place)) {
            *(double *)place = row->neutral;
        }
        break;
    case FULCRUM_RECORD_MEASURED:
        (void)fulcrum_node_measured(&node, place);
        break;
    case FULCRUM_RECORD_COUNT:
        read_count(&node, place);
        break;
    case FULCRUM_RECORD_TEXT:
        (void)fulcrum_node_text(&node, place, row->size);
        break;
    case FULCRUM_RECORD_FLAG:
        (void)fulcrum_node_flag(&node, place);
        break;
    case FULCRUM_RECORD_CHOICE:
        read_choice(&node, row->names, place);
        break;
    case FULCRUM_RECORD_PAIR:
        ends = fulcrum_node_row(&node, 2);
        memcpy(place, ends != NULL ? ends : unknown, sizeof unknown);
        free(ends);
        break;
    case FULCRUM_RECORD_NUMBERS:
        break;
    }
}

bool fulcrum_record_read(
    const struct fulcrum_node *object, const struct fulcrum_record *record, void *base)
{
    bool is_wrong = object->json != NULL && !fulcrum_node_is_object(object);
    if (object->json != NULL && !is_wrong) {
        const char *keys[FULCRUM_RECORD_KEYS_MOST + 1] = {NULL};
        size_t count = 0;
        for (size_t i = 0; i < record->count; i++) {
            assert(count < FULCRUM_RECORD_KEYS_MOST);
            keys[count++] = record->rows[i].key;
        }
        for (size_t i = 0; record->others != NULL && record->others[i] != NULL; i++) {
            assert(count < FULCRUM_RECORD_KEYS_MOST);
            keys[count++] = record->others[i];
        }
        fulcrum_node_check_keys(object, keys);
    }
    for (size_t i = 0; i < record->count; i++) {
        const struct fulcrum_record_row *row = &record->rows[i];
        if (!is_wrong) {
            fulcrum_record_read_row(object, row, base);
        } else if (row->kind == FULCRUM_RECORD_NUMBER) {
            *(double *)(void *)((char *)base + row->offset) = row->neutral;
        }
    }
    return !is_wrong;
}

void fulcrum_record_write(
    struct json_object *object, const struct fulcrum_record *record, const void *base)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct fulcrum_record_row *row = &record->rows[i];
        const void *place = (const char *)base + row->offset;
        const void *count = (const char *)base + row->size;
        switch (row->kind) {
        case FULCRUM_RECORD_NUMBER:
        case FULCRUM_RECORD_WHOLE:
        case FULCRUM_RECORD_MEASURED:
            fulcrum_json_add_number(object, row->key, *(const double *)place);
            break;
        case FULCRUM_RECORD_COUNT:
            fulcrum_json_add_number(object, row->key, (double)*(const size_t *)place);
            break;
        case FULCRUM_RECORD_TEXT:
            fulcrum_json_add_text(object, row->key, place);
            break;
        case FULCRUM_RECORD_FLAG:
            fulcrum_json_add_flag(object, row->key, *(const bool *)place);
            break;
        case FULCRUM_RECORD_CHOICE:
            fulcrum_json_add_text(object, row->key, row->names(*(const int *)place));
            break;
        case FULCRUM_RECORD_PAIR:
            fulcrum_json_add_numbers(object, row->key, place, 2);
            break;
        case FULCRUM_RECORD_NUMBERS:
            fulcrum_json_add_numbers(
                object, row->key, *(double *const *)place, *(const size_t *)count);
            break;
        }
    }
}
