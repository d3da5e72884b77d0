/* answer.c - what comes of one line of a stream of networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/output/answer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output/report.h"
#include "model/exact/product_form.h"
#include "model/network/network.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/status.h"
#include "model/stream.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/load/network_line.h"

/* The lines of a file or pipe, in blocks, as they come. */

/*
 * One buffer holds what was read and not yet handed out. It grows with the longest line
 * up to a limit, beyond which a line is dropped as it comes, so that memory is bounded
 * whatever the input is. read() is used and not stdio, because it returns what there is
 * instead of waiting for a full buffer, and because a signal ends the wait.
 */

enum { CHUNK_BYTE = 1 << 18, POLL_MS = 200 };

struct fulcrum_line_stream {
    const char *name; /* for messages */
    const volatile sig_atomic_t *stop;
    int descriptor;
    bool is_owned;
    bool is_at_end;
    bool is_skipping; /* inside a line that is too long */
    double size_byte; /* NAN: not a file */
    double read_byte;
    size_t line_number; /* of the last line seen */
    char *text;
    size_t room;
    size_t start; /* of what was not handed out yet */
    size_t end;
};

static enum fulcrum_status fail_read(
    const struct fulcrum_line_stream *stream, int error, struct fulcrum_error *err)
{
    return fulcrum_fail(
        err, FULCRUM_ERR_FILE, "%s: cannot be read: %s", stream->name, strerror(error));
}

enum fulcrum_status fulcrum_line_stream_open(const char *path,
    const volatile sig_atomic_t *stop, struct fulcrum_line_stream **out,
    struct fulcrum_error *err)
{
    struct fulcrum_line_stream *stream = fulcrum_allocate(1, sizeof *stream);
    stream->name = "standard input";
    stream->stop = stop;
    stream->size_byte = FULCRUM_UNKNOWN;
    stream->descriptor = STDIN_FILENO;
    if (path != NULL && strcmp(path, "-") != 0) {
        stream->name = path;
        stream->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        stream->is_owned = 1;
    }
    struct stat found = {.st_mode = 0};
    int error = stream->descriptor < 0 || fstat(stream->descriptor, &found) != 0 ? errno
                : S_ISDIR(found.st_mode) ? EISDIR
                                         : 0;
    if (error != 0) {
        enum fulcrum_status status = fail_read(stream, error, err);
        fulcrum_line_stream_free(stream);
        return status;
    }
    if (S_ISREG(found.st_mode) && found.st_size > 0) {
        stream->size_byte = (double)found.st_size;
    }
    *out = stream;
    return FULCRUM_OK;
}

void fulcrum_line_stream_free(struct fulcrum_line_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->is_owned && stream->descriptor >= 0) {
        (void)close(stream->descriptor);
    }
    free(stream->text);
    free(stream);
}

/* Moves what is left to the front; leaves room for a chunk and a zero byte. */
static enum fulcrum_status make_room(
    struct fulcrum_line_stream *stream, struct fulcrum_error *err)
{
    size_t kept = stream->end - stream->start;
    if (kept > 0 && stream->start > 0) {
        memmove(stream->text, stream->text + stream->start, kept);
    }
    stream->start = 0;
    stream->end = kept;
    if (stream->room - kept > CHUNK_BYTE) {
        return FULCRUM_OK;
    }
    size_t room = stream->room == 0 ? 2 * (size_t)CHUNK_BYTE : 2 * stream->room;
    char *grown = realloc(stream->text, room);
    TRY_MEMORY(grown, err, "%s: a line", stream->name);
    stream->text = grown;
    stream->room = room;
    return FULCRUM_OK;
}

/*
 * A signal between a look at the flag and read() would leave it waiting: poll() bounds
 * the wait.
 */
static enum fulcrum_status wait_for_input(
    const struct fulcrum_line_stream *stream, struct fulcrum_error *err)
{
    struct pollfd input = {stream->descriptor, POLLIN, 0};
    int ready = 0;
    while (ready == 0 && *stream->stop == 0) {
        ready = poll(&input, 1, POLL_MS);
        if (ready < 0 && errno != EINTR) {
            return fail_read(stream, errno, err);
        }
        ready = ready < 0 ? 0 : ready;
    }
    return *stream->stop == 0 ? FULCRUM_OK
                              : fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
                                    "%s: reading was stopped", stream->name);
}

static enum fulcrum_status read_more(
    struct fulcrum_line_stream *stream, struct fulcrum_error *err)
{
    TRY(make_room(stream, err));
    ssize_t got = -1;
    while (got < 0) {
        TRY(wait_for_input(stream, err));
        got = read(stream->descriptor, stream->text + stream->end, CHUNK_BYTE);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return fail_read(stream, errno, err);
        }
    }
    static const char mark[] = "\xef\xbb\xbf";
    stream->end += (size_t)got;
    stream->read_byte += (double)got;
    stream->is_at_end = got == 0;
    bool was_short = stream->read_byte - (double)got < (double)strlen(mark);
    if (was_short && stream->start == 0 && stream->end >= strlen(mark) &&
        memcmp(stream->text, mark, strlen(mark)) == 0) {
        stream->start = strlen(mark);
    }
    return FULCRUM_OK;
}

static bool is_blank(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r')) {
        i++;
    }
    return i == length;
}

/*
 * Takes one line off the buffer, or what is left at the end of the input. Returns 0
 * where more must be read first.
 */
static int take_line(struct fulcrum_line_stream *stream, struct fulcrum_line *out)
{
    size_t kept = stream->end - stream->start;
    char *text = stream->text + stream->start;
    char *newline = kept > 0 ? memchr(text, '\n', kept) : NULL;
    bool is_last = newline == NULL && stream->is_at_end;
    if (newline == NULL && !(is_last && (kept > 0 || stream->is_skipping))) {
        return 0;
    }
    size_t length = newline != NULL ? (size_t)(newline - text) : kept;
    stream->start += length + (newline != NULL ? 1 : 0);
    stream->line_number++;
    bool is_too_long = stream->is_skipping || length > FULCRUM_LINE_MOST_BYTE;
    length = is_too_long ? 0 : length;
    text[length] = '\0';
    *out = (struct fulcrum_line){text, length, stream->line_number, is_too_long};
    stream->is_skipping = 0;
    return 1;
}

enum fulcrum_status fulcrum_line_stream_next(struct fulcrum_line_stream *stream,
    struct fulcrum_line *lines, size_t most, size_t *count, struct fulcrum_error *err)
{
    assert(most > 0);
    enum fulcrum_status status = FULCRUM_OK;
    *count = 0;
    for (;;) {
        struct fulcrum_line line;
        while (*count < most && take_line(stream, &line)) {
            lines[*count] = line;
            *count += line.is_too_long || !is_blank(line.text, line.length) ? 1 : 0;
        }
        if (*count > 0 || stream->is_at_end || status != FULCRUM_OK) {
            return status;
        }
        /* What is left has no end of line: where it is too long already, it is dropped.
         */
        if (stream->is_skipping ||
            stream->end - stream->start > FULCRUM_LINE_MOST_BYTE) {
            stream->is_skipping = 1;
            stream->start = stream->end;
        }
        status = read_more(stream, err);
    }
}

const char *fulcrum_line_stream_name(const struct fulcrum_line_stream *stream)
{
    return stream->name;
}

double fulcrum_line_stream_done_frac(const struct fulcrum_line_stream *stream)
{
    double left_byte = (double)(stream->end - stream->start);
    double done_frac = (stream->read_byte - left_byte) / stream->size_byte;
    return done_frac > 1.0 ? 1.0 : done_frac;
}

bool fulcrum_line_stream_is_terminal(const struct fulcrum_line_stream *stream)
{
    return isatty(stream->descriptor);
}

static enum fulcrum_status solve_network(struct fulcrum_answer *out, size_t number,
    const struct fulcrum_solver_options *options)
{
    struct fulcrum_solver_options own = *options;
    own.seed = fulcrum_stream_seed(options->seed, number, 0);
    return fulcrum_solve(&out->network.network, &own, &out->solution, &out->failure);
}

static enum fulcrum_status solve_product_form(
    struct fulcrum_answer *out, enum fulcrum_method method)
{
    const struct fulcrum_product_form_network *network =
        &out->network.product_form.network;
    if (method != FULCRUM_METHOD_AUTO && method != FULCRUM_METHOD_PRODUCT_FORM) {
        return fulcrum_fail(&out->failure, FULCRUM_ERR_UNSUPPORTED,
            "a product_form_network has no method %s: expected %s or %s",
            fulcrum_method_name(method), fulcrum_method_name(FULCRUM_METHOD_AUTO),
            fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
    }
    out->loads = calloc(network->station_count + 1, sizeof *out->loads);
    TRY_MEMORY(out->loads, &out->failure, "out of memory");
    return fulcrum_product_form_solve(
        network, &out->cycles_per_s, out->loads, &out->failure);
}

void fulcrum_answer_find(struct fulcrum_answer *out, const struct fulcrum_line *line,
    const struct fulcrum_solver_options *options)
{
    char label[40];
    *out = (struct fulcrum_answer){.status = FULCRUM_OK};
    (void)snprintf(label, sizeof label, "line %zu", line->number);
    if (line->is_too_long) {
        out->status = fulcrum_fail(&out->failure, FULCRUM_ERR_FORMAT,
            "%s: is longer than %zu bytes", label, FULCRUM_LINE_MOST_BYTE);
        return;
    }
    out->status = fulcrum_network_line_parse(
        &out->network, label, line->text, line->length, &out->failure);
    if (out->status == FULCRUM_OK) {
        out->status = out->network.kind == FULCRUM_KIND_NETWORK
                          ? solve_network(out, line->number, options)
                          : solve_product_form(out, options->method);
        if (out->status != FULCRUM_OK) {
            (void)fulcrum_fail_in(&out->failure, out->status, label);
        }
    }
}

void fulcrum_answer_clear(struct fulcrum_answer *answer)
{
    fulcrum_network_line_clear(&answer->network);
    free(answer->loads);
    answer->loads = NULL;
    free(answer->json);
    answer->json = NULL;
}

/* An answer as one line of JSON. */

static void add_solution(
    struct fulcrum_json *object, const struct fulcrum_solution *solution)
{
    fulcrum_json_add_text(object, "method", fulcrum_method_name(solution->method));
    fulcrum_json_add_number(object, "steps_per_s", solution->steps_per_s);
    if (solution->has_interval) {
        const double ends[] = {solution->steps_per_s_lo, solution->steps_per_s_hi};
        fulcrum_json_add_numbers(object, "interval", ends, 2);
    } else {
        fulcrum_json_add_null(object, "interval");
    }
    fulcrum_json_add_number(object, "mean_batch", solution->mean_batch);
    fulcrum_json_add_number(
        object, "cpu_thread_busy_frac", solution->cpu_thread_busy_frac);
    fulcrum_json_add_number(object, "cpu_core_busy_frac", solution->cpu_core_busy_frac);
    fulcrum_json_add_number(object, "host_busy_frac", solution->host_busy_frac);
    fulcrum_json_add_number(object, "gpu_busy_frac", solution->gpu_busy_frac);
    fulcrum_json_add_number(
        object, "gpu_inference_busy_frac", solution->gpu_inference_busy_frac);
    fulcrum_json_add_number(
        object, "gpu_train_busy_frac", solution->gpu_train_busy_frac);
    struct fulcrum_json *stages = fulcrum_json_add_object(object, "residence_s");
    fulcrum_json_add_number(stages, "cpu", solution->residence.cpu_s);
    fulcrum_json_add_number(stages, "host", solution->residence.host_s);
    fulcrum_json_add_number(stages, "gpu", solution->residence.gpu_s);
    fulcrum_json_add_number(stages, "delay", solution->residence.delay_s);
    fulcrum_json_add_text(
        object, "bottleneck", fulcrum_bottleneck_name(solution->bottleneck));
    fulcrum_flags_to_json(solution->flags, object);
}

static void add_loads(struct fulcrum_json *object, const struct fulcrum_answer *answer)
{
    const struct fulcrum_product_form_network *network =
        &answer->network.product_form.network;
    fulcrum_json_add_text(
        object, "method", fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
    fulcrum_json_add_number(object, "throughput_per_s", answer->cycles_per_s);
    struct fulcrum_json *stations = fulcrum_json_add_array(object, "stations");
    for (size_t i = 0; i < network->station_count; i++) {
        struct fulcrum_json *station = fulcrum_json_append_object(stations);
        const struct fulcrum_product_form_load *load = &answer->loads[i];
        fulcrum_json_add_text(station, "name", network->stations[i].name);
        fulcrum_json_add_number(station, "mean_customers", load->mean_customers);
        fulcrum_json_add_number(station, "residence_s", load->residence_s);
        fulcrum_json_add_number(station, "utilisation", load->busy_frac);
    }
}

enum fulcrum_status fulcrum_answer_make_json(
    struct fulcrum_answer *answer, struct fulcrum_error *err)
{
    struct fulcrum_json *object = fulcrum_json_new_object();
    if (answer->network.has_name) {
        fulcrum_json_add_text(object, "name", answer->network.name);
    } else {
        fulcrum_json_add_null(object, "name");
    }
    if (answer->status != FULCRUM_OK) {
        fulcrum_json_add_text(object, "error", answer->failure.detail);
    } else if (answer->network.kind == FULCRUM_KIND_NETWORK) {
        add_solution(object, &answer->solution);
    } else {
        add_loads(object, answer);
    }
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(object, FULCRUM_JSON_LINE, &text, err);
    if (status == FULCRUM_OK) {
        free(answer->json);
        answer->json = text;
    }
    fulcrum_json_free(object);
    return status;
}

/* Answers to a stream of networks, written as they come. */

/*
 * JSON and CSV are written line by line, so that a stream of any length needs no
 * memory; only a table for people, whose widths depend on every row, is kept. CSV has
 * the columns of both kinds of networks, as nobody knows which will come: a row for
 * each network, or for each station of a product-form network. People get a table for
 * each kind. JSON, which is nested, comes with the answer.
 */

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
    struct fulcrum_report_head columns[COLUMN_COUNT];
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

static bool is_number(const struct column *column)
{
    return column->kind == CELL_SOLUTION || column->kind == CELL_LOW ||
           column->kind == CELL_HIGH || column->kind == CELL_CYCLES ||
           column->kind == CELL_LOAD;
}

static double member_of(const void *object, size_t offset)
{
    return *(const double *)(const void *)((const char *)object + offset);
}

static size_t station_count(const struct fulcrum_answer *answer)
{
    return answer->network.product_form.network.station_count;
}

static double of_solution(
    const struct column *column, const struct fulcrum_solution *solution)
{
    if (column->kind == CELL_SOLUTION) {
        return member_of(solution, column->offset);
    }
    double ends[] = {
        [CELL_LOW] = solution->steps_per_s_lo, [CELL_HIGH] = solution->steps_per_s_hi};
    bool is_end = column->kind == CELL_LOW || column->kind == CELL_HIGH;
    return is_end && solution->has_interval ? ends[column->kind] : FULCRUM_UNKNOWN;
}

static double number_of(const struct column *column, const struct row *row)
{
    const struct fulcrum_answer *answer = row->answer;
    if (answer->status != FULCRUM_OK) {
        return FULCRUM_UNKNOWN;
    }
    if (answer->network.kind == FULCRUM_KIND_NETWORK) {
        return of_solution(column, &answer->solution);
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
    bool is_ok = answer->status == FULCRUM_OK;
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
static void add_clean(struct fulcrum_report *report, const char *text)
{
    char *clean = fulcrum_format("%s", text);
    for (char *c = clean; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    fulcrum_report_add_text(report, clean);
    free(clean);
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
            add_clean(table->report, text_of(column, row, room, sizeof room));
        }
    }
    table->rows++;
}

static void begin_table(struct table *table, int kind)
{
    size_t count = 0;
    for (size_t j = 0; j < COLUMN_COUNT; j++) {
        if ((columns[j].tables & (1 << kind)) != 0) {
            table->columns[count++] = (struct fulcrum_report_head){columns[j].name,
                is_number(&columns[j]) ? FULCRUM_COLUMN_NUMBER : FULCRUM_COLUMN_TEXT,
                NULL};
        }
    }
    table->report = fulcrum_report_new("networks", table->columns, count);
}

struct fulcrum_answer_writer *fulcrum_answer_writer_new(
    const struct fulcrum_context *context)
{
    struct fulcrum_answer_writer *writer = fulcrum_allocate(1, sizeof *writer);
    writer->context = context;
    if (context->format == FULCRUM_FORMAT_CSV) {
        for (size_t j = 0; j < COLUMN_COUNT; j++) {
            (void)fprintf(context->out, "%s%s", j > 0 ? "," : "", columns[j].name);
        }
        (void)fputc('\n', context->out);
    } else if (context->format == FULCRUM_FORMAT_TABLE) {
        begin_table(&writer->tables[FULCRUM_KIND_NETWORK], FULCRUM_KIND_NETWORK);
        begin_table(
            &writer->tables[FULCRUM_KIND_PRODUCT_FORM], FULCRUM_KIND_PRODUCT_FORM);
    }
    return writer;
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
    bool is_solved = answer->status == FULCRUM_OK;
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
