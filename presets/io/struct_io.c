/* struct_io.c - objects of numbers, read into the members of a struct by rows. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/io/struct_io.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *place_of(const struct fulcrum_struct_io_row *row, void *base)
{
    return (double *)(void *)((char *)base + row->offset);
}

static void check_keys(
    const struct fulcrum_node *object, const struct fulcrum_struct_io *section)
{
    const char *keys[FULCRUM_SECTION_KEYS_MOST + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < section->count; i++) {
        assert(count < FULCRUM_SECTION_KEYS_MOST);
        keys[count++] = section->rows[i].key;
    }
    for (size_t i = 0; section->others[i] != NULL; i++) {
        assert(count < FULCRUM_SECTION_KEYS_MOST);
        keys[count++] = section->others[i];
    }
    fulcrum_node_check_keys(object, keys);
}

int fulcrum_struct_io_read(const struct fulcrum_node *object,
    const struct fulcrum_struct_io *section, void *base)
{
    if (object->json != NULL && !fulcrum_node_is_object(object)) {
        for (size_t i = 0; i < section->count; i++) {
            *place_of(&section->rows[i], base) = section->rows[i].neutral;
        }
        return 0;
    }
    if (object->json != NULL) {
        check_keys(object, section);
    }
    for (size_t i = 0; i < section->count; i++) {
        const struct fulcrum_struct_io_row *row = &section->rows[i];
        double *place = place_of(row, base);
        struct fulcrum_node node = fulcrum_node_member(object, row->key);
        if (node.json == NULL && !isnan(row->otherwise)) {
            *place = row->otherwise;
        } else if (!fulcrum_node_number(&node, place)) {
            *place = row->neutral;
        }
    }
    return 1;
}

int fulcrum_struct_io_numbers(
    const struct fulcrum_node *node, double neutral, double **out, size_t *count)
{
    size_t length = 0;
    if (!fulcrum_node_is_array(node, &length)) {
        return 0;
    }
    if (length == 0) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected one number or more");
        return 0;
    }
    double *values = calloc(length, sizeof *values);
    if (values == NULL) {
        fulcrum_reader_fault(
            node->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory for it", node->path);
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        struct fulcrum_node element = fulcrum_node_element(node, i);
        if (!fulcrum_node_number(&element, &values[i])) {
            values[i] = neutral;
        }
    }
    *out = values;
    *count = length;
    return 1;
}

int fulcrum_struct_io_choice(
    const struct fulcrum_node *node, fulcrum_struct_io_choice_name *name)
{
    char text[40] = "";
    char expected[160] = "";
    size_t used = 0;
    bool is_text = fulcrum_node_text(node, text, sizeof text);
    for (int i = 0; is_text && name(i) != NULL; i++) {
        if (strcmp(name(i), text) == 0) {
            return i;
        }
        int length = snprintf(expected + used, sizeof expected - used, "%s%s",
            i > 0 ? ", " : "", name(i));
        used += length > 0 ? (size_t)length : 0;
    }
    if (is_text) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected one of %s", expected);
    }
    return -1;
}
