/* answer_writer.c - answers to a stream of networks, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON and CSV are written line by line, so that a stream of any length needs no
 * memory; only a table for people, whose widths depend on every row, is kept. JSON is
 * built by hand, as its members are nested. CSV and the table share one list of
 * columns.
 */
#include "cli/answer_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flags.h"
#include "cli/report.h"
#include "model/quantity.h"

enum cell_kind {
    CELL_NAME,
    CELL_METHOD,
    CELL_SOLUTION, /* the double at `offset` of the solution */
    CELL_LOW,      /* lower end of the interval */
    CELL_HIGH,
    CELL_BOTTLENECK,
    CELL_FLAGS,
    CELL_STATUS /* "ok", or why there is no result */
};

struct column {
    const char *name;
    enum cell_kind kind;
    size_t offset;
    int is_for_people; /* in the table too */
};

#define AT(member) offsetof(struct fulcrum_solution, member)

static const struct column columns[] = {
    {"name", CELL_NAME, 0, 1},
    {"method", CELL_METHOD, 0, 1},
    {"steps_per_s", CELL_SOLUTION, AT(steps_per_s), 1},
    {"steps_per_s_lo", CELL_LOW, 0, 0},
    {"steps_per_s_hi", CELL_HIGH, 0, 0},
    {"mean_batch", CELL_SOLUTION, AT(mean_batch), 1},
    {"cpu_thread_busy_frac", CELL_SOLUTION, AT(cpu_thread_busy_frac), 1},
    {"cpu_core_busy_frac", CELL_SOLUTION, AT(cpu_core_busy_frac), 0},
    {"host_busy_frac", CELL_SOLUTION, AT(host_busy_frac), 1},
    {"gpu_busy_frac", CELL_SOLUTION, AT(gpu_busy_frac), 1},
    {"gpu_inference_busy_frac", CELL_SOLUTION, AT(gpu_inference_busy_frac), 0},
    {"gpu_train_busy_frac", CELL_SOLUTION, AT(gpu_train_busy_frac), 0},
    {"residence_cpu_s", CELL_SOLUTION, AT(residence.cpu_s), 0},
    {"residence_host_s", CELL_SOLUTION, AT(residence.host_s), 0},
    {"residence_gpu_s", CELL_SOLUTION, AT(residence.gpu_s), 0},
    {"residence_delay_s", CELL_SOLUTION, AT(residence.delay_s), 0},
    {"bottleneck", CELL_BOTTLENECK, 0, 1},
    {"flags", CELL_FLAGS, 0, 0},
    {"status", CELL_STATUS, 0, 1},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

struct fulcrum_answer_writer {
    const struct fulcrum_context *context;
    struct fulcrum_column shown[COLUMN_COUNT];
    struct fulcrum_report *report; /* tables only */
};

static int is_number(const struct column *column)
{
    return column->kind == CELL_SOLUTION || column->kind == CELL_LOW ||
           column->kind == CELL_HIGH;
}

static double number_of(
    const struct column *column, const struct fulcrum_answer *answer)
{
    const struct fulcrum_solution *solution = &answer->solution;
    if (answer->status != FULCRUM_OK) {
        return FULCRUM_UNKNOWN;
    }
    if (column->kind == CELL_SOLUTION) {
        const char *member = (const char *)solution + column->offset;
        return *(const double *)(const void *)member;
    }
    if (!solution->has_interval) {
        return FULCRUM_UNKNOWN;
    }
    return column->kind == CELL_LOW ? solution->steps_per_s_lo
                                    : solution->steps_per_s_hi;
}

/* Borrows from the answer, a table or `room`. */
static const char *text_of(const struct column *column,
    const struct fulcrum_answer *answer, char *room, size_t size)
{
    if (column->kind == CELL_NAME) {
        return answer->network.name;
    }
    if (answer->status != FULCRUM_OK) {
        return column->kind == CELL_STATUS ? answer->failure.detail : "";
    }
    if (column->kind == CELL_METHOD) {
        return fulcrum_method_name(answer->solution.method);
    }
    if (column->kind == CELL_BOTTLENECK) {
        return fulcrum_bottleneck_name(answer->solution.bottleneck);
    }
    if (column->kind == CELL_FLAGS) {
        fulcrum_flags_join(answer->solution.flags, room, size);
        return room;
    }
    return "ok";
}

static void write_csv(
    const struct fulcrum_answer_writer *writer, const struct fulcrum_answer *answer)
{
    FILE *stream = writer->context->out;
    char room[800];
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        const struct column *column = &columns[j];
        (void)fputs(j > 0 ? "," : "", stream);
        if (!is_number(column)) {
            fulcrum_report_print_csv_text(
                stream, text_of(column, answer, room, sizeof room));
        } else if (isfinite(number_of(column, answer))) {
            (void)fprintf(stream, "%.17g", number_of(column, answer));
        }
    }
    (void)fputc('\n', stream);
}

/* Names come from elsewhere: control characters must not reach a terminal. */
static void add_text(struct fulcrum_report *report, const char *text)
{
    char clean[sizeof((struct fulcrum_error *)0)->detail];
    (void)snprintf(clean, sizeof clean, "%s", text);
    for (char *c = clean; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    fulcrum_report_add_text(report, clean);
}

static void add_row(
    struct fulcrum_answer_writer *writer, const struct fulcrum_answer *answer)
{
    char room[800];
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        const struct column *column = &columns[j];
        if (column->is_for_people && is_number(column)) {
            fulcrum_report_add_number(writer->report, number_of(column, answer));
        } else if (column->is_for_people) {
            add_text(writer->report, text_of(column, answer, room, sizeof room));
        }
    }
}

static void begin_csv(FILE *stream)
{
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        (void)fprintf(stream, "%s%s", j > 0 ? "," : "", columns[j].name);
    }
    (void)fputc('\n', stream);
}

static void begin_table(struct fulcrum_answer_writer *writer)
{
    size_t count = 0;
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        if (columns[j].is_for_people) {
            writer->shown[count++] = (struct fulcrum_column){columns[j].name,
                is_number(&columns[j]) ? FULCRUM_COLUMN_NUMBER : FULCRUM_COLUMN_TEXT,
                NULL};
        }
    }
    writer->report = fulcrum_report_new("networks", writer->shown, count);
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
        begin_table(writer);
    }
    *out = writer;
    return FULCRUM_OK;
}

void fulcrum_answer_writer_free(struct fulcrum_answer_writer *writer)
{
    if (writer != NULL) {
        fulcrum_report_free(writer->report);
        free(writer);
    }
}

void fulcrum_answer_writer_add(
    struct fulcrum_answer_writer *writer, const struct fulcrum_answer *answer)
{
    switch (writer->context->format) {
    case FULCRUM_FORMAT_JSON:
        (void)fputs(answer->json, writer->context->out);
        break;
    case FULCRUM_FORMAT_CSV:
        write_csv(writer, answer);
        break;
    case FULCRUM_FORMAT_TABLE:
    default:
        add_row(writer, answer);
        break;
    }
}

enum fulcrum_status fulcrum_answer_writer_end(
    struct fulcrum_answer_writer *writer, struct fulcrum_error *err)
{
    if (writer->context->format != FULCRUM_FORMAT_TABLE) {
        return FULCRUM_OK;
    }
    return fulcrum_report_print(writer->report, "fulcrum-solve", writer->context, err);
}
