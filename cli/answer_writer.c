/* answer_writer.c - answers to a stream of networks, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON and CSV are written line by line, so that a stream of any length needs no
 * memory; only a table for people, whose widths depend on every row, is kept. CSV has
 * the columns of both kinds of networks, as nobody knows which will come: a row for
 * each network, or for each station of a product-form network. People get a table for
 * each kind. JSON, which is nested, comes with the answer.
 */
#include "cli/answer_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flags.h"
#include "cli/report.h"
#include "model/quantity.h"
#include "model/solver.h"
#include "model/try.h"

enum cell_kind {
    CELL_NAME,
    CELL_METHOD,
    CELL_SOLUTION, /* the double at `offset` of the solution */
    CELL_LOW,      /* lower end of the interval */
    CELL_HIGH,
    CELL_BOTTLENECK,
    CELL_FLAGS,
    CELL_CYCLES,
    CELL_STATION, /* its name */
    CELL_LOAD,    /* the double at `offset` of the station's load */
    CELL_STATUS   /* "ok", or why there is no result */
};

/* The tables a column is in. */
enum {
    NETWORKS = 1 << FULCRUM_KIND_NETWORK,
    STATIONS = 1 << FULCRUM_KIND_PRODUCT_FORM
};
enum { KIND_COUNT = 2 };

struct column {
    const char *name;
    size_t offset;
    enum cell_kind kind;
    int tables;
};

#define SOLUTION(member) offsetof(struct fulcrum_solution, member), CELL_SOLUTION
#define LOAD(member)     offsetof(struct fulcrum_product_form_load, member), CELL_LOAD

static const struct column columns[] = {
    {"name", 0, CELL_NAME, NETWORKS | STATIONS},
    {"method", 0, CELL_METHOD, NETWORKS | STATIONS},
    {"steps_per_s", SOLUTION(steps_per_s), NETWORKS},
    {"steps_per_s_lo", 0, CELL_LOW, 0},
    {"steps_per_s_hi", 0, CELL_HIGH, 0},
    {"mean_batch", SOLUTION(mean_batch), NETWORKS},
    {"cpu_thread_busy_frac", SOLUTION(cpu_thread_busy_frac), NETWORKS},
    {"cpu_core_busy_frac", SOLUTION(cpu_core_busy_frac), 0},
    {"host_busy_frac", SOLUTION(host_busy_frac), NETWORKS},
    {"gpu_busy_frac", SOLUTION(gpu_busy_frac), NETWORKS},
    {"gpu_inference_busy_frac", SOLUTION(gpu_inference_busy_frac), 0},
    {"gpu_train_busy_frac", SOLUTION(gpu_train_busy_frac), 0},
    {"residence_cpu_s", SOLUTION(residence.cpu_s), 0},
    {"residence_host_s", SOLUTION(residence.host_s), 0},
    {"residence_gpu_s", SOLUTION(residence.gpu_s), 0},
    {"residence_delay_s", SOLUTION(residence.delay_s), 0},
    {"bottleneck", 0, CELL_BOTTLENECK, NETWORKS},
    {"flags", 0, CELL_FLAGS, 0},
    {"throughput_per_s", 0, CELL_CYCLES, STATIONS},
    {"station", 0, CELL_STATION, STATIONS},
    {"mean_customers", LOAD(mean_customers), STATIONS},
    {"residence_s", LOAD(residence_s), STATIONS},
    {"utilisation", LOAD(busy_frac), STATIONS},
    {"status", 0, CELL_STATUS, NETWORKS | STATIONS},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0], TEXT_SIZE = 2000 };

/* For people, with the rows of one kind of network. */
struct table {
    struct fulcrum_column columns[COLUMN_COUNT];
    struct fulcrum_report *report;
    size_t rows;
};

struct fulcrum_answer_writer {
    const struct fulcrum_context *context;
    struct table tables[KIND_COUNT]; /* of enum fulcrum_network_kind */
};

/* A network, or one station of a product-form network. */
struct row {
    const struct fulcrum_answer *answer;
    size_t station;
};

static int is_number(const struct column *column)
{
    return column->kind == CELL_SOLUTION || column->kind == CELL_LOW ||
           column->kind == CELL_HIGH || column->kind == CELL_CYCLES ||
           column->kind == CELL_LOAD;
}

static double member_of(const void *object, size_t offset)
{
    return *(const double *)(const void *)((const char *)object + offset);
}

static double number_of_solution(
    const struct column *column, const struct fulcrum_solution *solution)
{
    if (column->kind == CELL_SOLUTION) {
        return member_of(solution, column->offset);
    }
    if (column->kind == CELL_LOW && solution->has_interval) {
        return solution->steps_per_s_lo;
    }
    return column->kind == CELL_HIGH && solution->has_interval
               ? solution->steps_per_s_hi
               : FULCRUM_UNKNOWN;
}

static size_t station_count(const struct fulcrum_answer *answer)
{
    return answer->network.product_form.network.station_count;
}

static double number_of(const struct column *column, const struct row *row)
{
    const struct fulcrum_answer *answer = row->answer;
    if (answer->status != FULCRUM_OK) {
        return FULCRUM_UNKNOWN;
    }
    if (answer->network.kind == FULCRUM_KIND_NETWORK) {
        return number_of_solution(column, &answer->solution);
    }
    if (column->kind == CELL_LOAD && row->station < station_count(answer)) {
        return member_of(&answer->loads[row->station], column->offset);
    }
    return column->kind == CELL_CYCLES ? answer->cycles_per_s : FULCRUM_UNKNOWN;
}

static const char *text_of_station(const struct column *column, const struct row *row)
{
    const struct fulcrum_answer *answer = row->answer;
    if (column->kind == CELL_METHOD) {
        return fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM);
    }
    return column->kind == CELL_STATION && row->station < station_count(answer)
               ? answer->network.product_form.stations[row->station].name
               : "";
}

/* Borrows from the answer, a table or `room`. */
static const char *text_of(
    const struct column *column, const struct row *row, char *room, size_t size)
{
    const struct fulcrum_answer *answer = row->answer;
    int is_ok = answer->status == FULCRUM_OK;
    if (column->kind == CELL_NAME) {
        return answer->network.name;
    }
    if (column->kind == CELL_STATUS) {
        return is_ok ? "ok" : answer->failure.detail;
    }
    if (!is_ok) {
        return "";
    }
    if (answer->network.kind == FULCRUM_KIND_PRODUCT_FORM) {
        return text_of_station(column, row);
    }
    if (column->kind == CELL_METHOD) {
        return fulcrum_method_name(answer->solution.method);
    }
    if (column->kind == CELL_BOTTLENECK) {
        return fulcrum_bottleneck_name(answer->solution.bottleneck);
    }
    fulcrum_flags_join(
        column->kind == CELL_FLAGS ? answer->solution.flags : 0U, room, size);
    return room;
}

static void write_csv(struct fulcrum_answer_writer *writer, const struct row *row)
{
    FILE *stream = writer->context->out;
    char room[TEXT_SIZE];
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        const struct column *column = &columns[j];
        (void)fputs(j > 0 ? "," : "", stream);
        if (!is_number(column)) {
            fulcrum_report_print_csv_text(
                stream, text_of(column, row, room, sizeof room));
        } else if (isfinite(number_of(column, row))) {
            (void)fprintf(stream, "%.17g", number_of(column, row));
        }
    }
    (void)fputc('\n', stream);
}

/* Names come from elsewhere: control characters must not reach a terminal. */
static void add_text(struct fulcrum_report *report, const char *text)
{
    char clean[TEXT_SIZE];
    (void)snprintf(clean, sizeof clean, "%s", text);
    for (char *c = clean; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    fulcrum_report_add_text(report, clean);
}

static void add_to_table(struct fulcrum_answer_writer *writer, const struct row *row)
{
    int kind = (int)row->answer->network.kind;
    struct table *table = &writer->tables[kind];
    char room[TEXT_SIZE];
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        const struct column *column = &columns[j];
        if ((column->tables & (1 << kind)) == 0) {
            continue;
        }
        if (is_number(column)) {
            fulcrum_report_add_number(table->report, number_of(column, row));
        } else {
            add_text(table->report, text_of(column, row, room, sizeof room));
        }
    }
    table->rows++;
}

static void begin_csv(FILE *stream)
{
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        (void)fprintf(stream, "%s%s", j > 0 ? "," : "", columns[j].name);
    }
    (void)fputc('\n', stream);
}

static void begin_table(struct table *table, int kind)
{
    size_t count = 0;
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        if ((columns[j].tables & (1 << kind)) != 0) {
            table->columns[count++] = (struct fulcrum_column){columns[j].name,
                is_number(&columns[j]) ? FULCRUM_COLUMN_NUMBER : FULCRUM_COLUMN_TEXT,
                NULL};
        }
    }
    table->report = fulcrum_report_new("networks", table->columns, count);
}

enum fulcrum_status fulcrum_answer_writer_new(const struct fulcrum_context *context,
    struct fulcrum_answer_writer **out, struct fulcrum_error *err)
{
    struct fulcrum_answer_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the output");
    }
    writer->context = context;
    if (context->format == FULCRUM_FORMAT_CSV) {
        begin_csv(context->out);
    } else if (context->format == FULCRUM_FORMAT_TABLE) {
        begin_table(&writer->tables[FULCRUM_KIND_NETWORK], FULCRUM_KIND_NETWORK);
        begin_table(
            &writer->tables[FULCRUM_KIND_PRODUCT_FORM], FULCRUM_KIND_PRODUCT_FORM);
    }
    *out = writer;
    return FULCRUM_OK;
}

void fulcrum_answer_writer_free(struct fulcrum_answer_writer *writer)
{
    if (writer != NULL) {
        fulcrum_report_free(writer->tables[FULCRUM_KIND_NETWORK].report);
        fulcrum_report_free(writer->tables[FULCRUM_KIND_PRODUCT_FORM].report);
        free(writer);
    }
}

void fulcrum_answer_writer_add(
    struct fulcrum_answer_writer *writer, const struct fulcrum_answer *answer)
{
    if (writer->context->format == FULCRUM_FORMAT_JSON) {
        (void)fputs(answer->json, writer->context->out);
        return;
    }
    /* A network without stations, or without a result, has a row too. */
    struct row row = {answer, 0};
    int is_solved = answer->status == FULCRUM_OK;
    do {
        if (writer->context->format == FULCRUM_FORMAT_CSV) {
            write_csv(writer, &row);
        } else {
            add_to_table(writer, &row);
        }
        row.station++;
    } while (is_solved && row.station < station_count(answer));
}

enum fulcrum_status fulcrum_answer_writer_end(
    struct fulcrum_answer_writer *writer, struct fulcrum_error *err)
{
    if (writer->context->format != FULCRUM_FORMAT_TABLE) {
        return FULCRUM_OK;
    }
    size_t printed = 0;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        const struct table *table = &writer->tables[kind];
        if (table->rows > 0 || table->report == NULL) {
            (void)fputs(printed++ > 0 ? "\n" : "", writer->context->out);
            TRY(fulcrum_report_print(
                table->report, "fulcrum-solve", writer->context, err));
        }
    }
    return FULCRUM_OK;
}
