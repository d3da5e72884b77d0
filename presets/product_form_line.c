/* product_form_line.c - a product-form network, read strictly from JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As in network_line.c, numbers are rows and ranges are left to the model's check.
 * Which members a station has depends on its type: what would have no effect is
 * refused, as whoever wrote it expects one.
 */
#include "presets/product_form_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "presets/reader.h"
#include "presets/section.h"

#define REQUIRED      FULCRUM_UNKNOWN
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const struct fulcrum_section_row network_rows[] = {
    {"customers", offsetof(struct fulcrum_product_form_network, customers), REQUIRED,
        1.0},
    {"think_s", offsetof(struct fulcrum_product_form_network, think_s), 0.0, 1.0},
};

static const struct fulcrum_section_row station_rows[] = {
    {"service_s", offsetof(struct fulcrum_product_form_station, service_s), REQUIRED,
        1.0},
    {"visits", offsetof(struct fulcrum_product_form_station, visits), 1.0, 1.0},
    {"servers", offsetof(struct fulcrum_product_form_station, servers), 1.0, 1.0},
};

static const char *type_name(int index)
{
    return fulcrum_product_form_type_name((enum fulcrum_product_form_type)index);
}

/* One server on a queue says what it is anyway. */
static void read_servers(const struct fulcrum_node *object,
    const struct fulcrum_product_form_station *station)
{
    struct fulcrum_node servers = fulcrum_node_member(object, "servers");
    int is_multi = station->type == FULCRUM_STATION_MULTI;
    int is_one =
        station->type == FULCRUM_STATION_QUEUE && fabs(station->servers - 1.0) <= 0.0;
    if (is_multi && servers.json == NULL) {
        fulcrum_node_fault(&servers, FULCRUM_ERR_RANGE, "type multi needs it");
    } else if (!is_multi && !is_one && servers.json != NULL) {
        fulcrum_node_fault(&servers, FULCRUM_ERR_RANGE, "type %s takes none",
            type_name((int)station->type));
    }
}

/* The station's type becomes one that needs no rates where they cannot be read. */
static void read_rates(const struct fulcrum_node *object,
    struct fulcrum_product_form_station *station, double **rates)
{
    struct fulcrum_node rate = fulcrum_node_member(object, "rate");
    if (station->type == FULCRUM_STATION_LD) {
        if (!fulcrum_section_numbers(&rate, 1.0, rates, &station->rate_count)) {
            station->type = FULCRUM_STATION_QUEUE;
        }
        station->rate = *rates;
    } else if (rate.json != NULL) {
        fulcrum_node_fault(&rate, FULCRUM_ERR_RANGE, "type %s takes none",
            type_name((int)station->type));
    }
}

static void read_station(const struct fulcrum_node *object,
    struct fulcrum_product_form_station *station, double **rates)
{
    static const char *const others[] = {"name", "type", "rate", NULL};
    const struct fulcrum_section section = {station_rows, LENGTH(station_rows), others};
    (void)snprintf(station->name, sizeof station->name, "%.63s", object->path);
    if (!fulcrum_node_is_object(object)) {
        station->service_s = 1.0;
        station->visits = 1.0;
        return;
    }
    (void)fulcrum_section_read(object, &section, station);
    struct fulcrum_node name = fulcrum_node_member(object, "name");
    if (name.json != NULL) {
        (void)fulcrum_node_text(&name, station->name, sizeof station->name);
    }
    struct fulcrum_node type = fulcrum_node_member(object, "type");
    int index = (int)FULCRUM_STATION_QUEUE;
    if (type.json != NULL) {
        index = fulcrum_section_choice(&type, type_name);
    }
    if (index < 0) {
        return;
    }
    station->type = (enum fulcrum_product_form_type)index;
    read_servers(object, station);
    read_rates(object, station, rates);
}

/* Returns 1, or 0 after a fault of the list itself. */
static int read_stations(
    const struct fulcrum_node *array, struct fulcrum_product_form_line *out)
{
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return 0;
    }
    if (count == 0) {
        return 1;
    }
    out->stations = calloc(count, sizeof *out->stations);
    out->rates = calloc(count, sizeof *out->rates);
    if (out->stations == NULL || out->rates == NULL) {
        fulcrum_reader_fault(
            array->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory for it", array->path);
        return 0;
    }
    out->network.stations = out->stations;
    out->network.station_count = count;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(array, i);
        read_station(&element, &out->stations[i], &out->rates[i]);
    }
    return 1;
}

void fulcrum_product_form_line_read(
    const struct fulcrum_node *root, struct fulcrum_product_form_line *out)
{
    static const char *const others[] = {"kind", "name", "stations", NULL};
    const struct fulcrum_section section = {network_rows, LENGTH(network_rows), others};
    (void)fulcrum_section_read(root, &section, &out->network);
    struct fulcrum_node stations = fulcrum_node_member(root, "stations");
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (read_stations(&stations, out) &&
        fulcrum_product_form_check(&out->network, &failure) != FULCRUM_OK) {
        fulcrum_reader_adopt(root->reader, &failure);
    }
}

void fulcrum_product_form_line_clear(struct fulcrum_product_form_line *line)
{
    for (size_t i = 0; line->rates != NULL && i < line->network.station_count; i++) {
        free(line->rates[i]);
    }
    free(line->rates);
    free(line->stations);
    *line = (struct fulcrum_product_form_line){.stations = NULL};
}
