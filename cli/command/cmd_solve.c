/* cmd_solve.c - `fulcrum solve`: answers a stream of networks line by line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines are read in blocks, the lines of a block are read and solved in parallel, and
 * the answers are written in the order of the lines before the next block is waited
 * for. So memory does not grow with the input, the bytes do not depend on the number of
 * threads, and a program may keep a pipe open and ask one question after the other. A
 * line that has no answer says why in its own place and spoils no other.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "cli/command/line_stream.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/agent/agent.h"
#include "model/exact/exact.h"
#include "model/network/network.h"
#include "model/number.h"
#include "model/parallel.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "presets/load/network_line.h"

/*
 * Lines in a block: starts with a few for each processor; has twice as many after a
 * block that was done in next to no time, as threads lose some at the end of each, and
 * half as many after one that kept its answers waiting.
 */
enum { BLOCK_FIRST = 16, BLOCK_PER_PROCESSOR = 4, BLOCK_MOST = 512 };
#define BLOCK_SHORT_S 0.05
#define BLOCK_LONG_S  0.5

/* Shorter work shows no progress. */
#define PROGRESS_AFTER_S 2.0

struct settings {
    const char *path;
    struct fulcrum_solver_settings solver;
};

/* What comes of one line. */
struct answer {
    bool is_answered;                    /* 0: Ctrl-C came first */
    enum fulcrum_status written;         /* whether there was memory for its text */
    struct fulcrum_network_line network; /* after a failure kind and name alone */
    enum fulcrum_status status;
    struct fulcrum_error failure;            /* one line, from "line N" on */
    struct fulcrum_solution solution;        /* of FULCRUM_KIND_NETWORK */
    struct fulcrum_agent_solution agent;     /* of FULCRUM_KIND_AGENT */
    double cycles_per_s;                     /* of FULCRUM_KIND_PRODUCT_FORM, as are */
    struct fulcrum_product_form_load *loads; /* one for each station, owned */
    char *text;                              /* JSON or CSV; NULL: to go into a table */
};

struct job {
    struct fulcrum_solver_options options;
    struct fulcrum_line_stream *stream;
    struct fulcrum_result *result; /* NULL where answers are written as they come */
    struct fulcrum_table *tables[FULCRUM_NETWORK_KINDS];
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    double start_s;
    size_t block;
    size_t least_block;
    struct fulcrum_line lines[BLOCK_MOST];
    struct answer answers[BLOCK_MOST];
    enum fulcrum_format format;
    size_t done;
    size_t failed;
    struct fulcrum_error first_failure;
};

static enum fulcrum_status solve_product_form(
    struct answer *out, enum fulcrum_method method)
{
    const struct fulcrum_product_form_network *network =
        &out->network.product_form.network;
    FAIL_IF(method != FULCRUM_METHOD_AUTO && method != FULCRUM_METHOD_PRODUCT_FORM,
        &out->failure, FULCRUM_ERR_UNSUPPORTED,
        "a product_form_network has no method %s: expected %s or %s",
        fulcrum_method_name(method), fulcrum_method_name(FULCRUM_METHOD_AUTO),
        fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
    out->loads = calloc(network->station_count + 1, sizeof *out->loads);
    TRY_MEMORY(out->loads, &out->failure, "out of memory");
    return fulcrum_product_form_solve(
        network, &out->cycles_per_s, out->loads, &out->failure);
}

/* Random streams derive from the seed and the line's number. */
static void find_answer(struct answer *out, const struct fulcrum_line *line,
    const struct fulcrum_solver_options *options)
{
    char label[40];
    (void)snprintf(label, sizeof label, "line %zu", line->number);
    if (line->is_too_long) {
        out->status = fulcrum_fail(&out->failure, FULCRUM_ERR_FORMAT,
            "%s: is longer than %zu bytes", label, FULCRUM_LINE_MOST_BYTE);
        return;
    }
    out->status = fulcrum_network_line_parse(
        &out->network, label, line->text, line->length, &out->failure);
    if (out->status == FULCRUM_OK) {
        struct fulcrum_solver_options own = *options;
        own.seed = fulcrum_stream_seed(options->seed, line->number, 0);
        switch (out->network.kind) {
        case FULCRUM_KIND_PRODUCT_FORM:
            out->status = solve_product_form(out, options->method);
            break;
        case FULCRUM_KIND_AGENT:
            out->status = fulcrum_agent_solve(
                &out->network.agent, &own, &out->agent, &out->failure);
            break;
        case FULCRUM_KIND_NETWORK:
        case FULCRUM_NETWORK_KINDS:
        default:
            out->status = fulcrum_solve(
                &out->network.network, &own, &out->solution, &out->failure);
            break;
        }
        if (out->status != FULCRUM_OK) {
            (void)fulcrum_fail_in(&out->failure, out->status, label);
        }
    }
}

/* The numbers of a solution: their keys in JSON and in rows, a title for people. */
struct solution_number {
    const char *key;
    const char *column;
    const char *title;
    size_t offset; /* of a double */
};

static const struct solution_number solution_numbers[] = {
#define NUMBER(member) offsetof(struct fulcrum_solution, member)
    {"mean_batch", "mean_batch", "mean batch", NUMBER(mean_batch)},
    {"cpu_thread_busy_frac", "cpu_thread_busy_frac", "CPU busy",
        NUMBER(cpu_thread_busy_frac)},
    {"cpu_core_busy_frac", "cpu_core_busy_frac", NULL, NUMBER(cpu_core_busy_frac)},
    {"host_busy_frac", "host_busy_frac", "host busy", NUMBER(host_busy_frac)},
    {"gpu_busy_frac", "gpu_busy_frac", "GPU busy", NUMBER(gpu_busy_frac)},
    {"gpu_inference_busy_frac", "gpu_inference_busy_frac", NULL,
        NUMBER(gpu_inference_busy_frac)},
    {"gpu_train_busy_frac", "gpu_train_busy_frac", NULL, NUMBER(gpu_train_busy_frac)},
    {"residence_s/cpu", "residence_cpu_s", NULL, NUMBER(residence.cpu_s)},
    {"residence_s/host", "residence_host_s", NULL, NUMBER(residence.host_s)},
    {"residence_s/gpu", "residence_gpu_s", NULL, NUMBER(residence.gpu_s)},
    {"residence_s/delay", "residence_delay_s", NULL, NUMBER(residence.delay_s)},
#undef NUMBER
};

static const struct solution_number agent_numbers[] = {
#define NUMBER(member) offsetof(struct fulcrum_agent_solution, member)
    {"trajectories_per_s", "trajectories_per_s", "trajectories",
        NUMBER(trajectories_per_s)},
    {"error_rel", "error_rel", NULL, NUMBER(error_rel)},
    {"cycle_s", "cycle_s", "cycle", NUMBER(cycle_s)},
    {"staleness", "staleness", "staleness", NUMBER(staleness)},
    {"mean_batch", "decode_mean_batch", "in flight", NUMBER(mean_batch)},
    {"decode_busy_frac", "decode_busy_frac", "decode busy", NUMBER(decode_busy_frac)},
    {"cpu_busy_frac", "cpu_busy_frac", "CPU busy", NUMBER(cpu_busy_frac)},
    {"train_busy_frac", "train_busy_frac", "trainer busy", NUMBER(train_busy_frac)},
    {"load/starting", "starting_count", NULL, NUMBER(load.starting)},
    {"load/decoding", "decoding_count", NULL, NUMBER(load.decoding)},
    {"load/at_tools", "at_tools_count", NULL, NUMBER(load.at_tools)},
    {"load/delayed", "delayed_count", NULL, NUMBER(load.delayed)},
    {"load/ended", "ended_count", NULL, NUMBER(load.ended)},
#undef NUMBER
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Of a solution; NULL: unknown. */
static double number_of(const void *solution, const struct solution_number *number)
{
    double value = FULCRUM_UNKNOWN;
    if (solution != NULL) {
        memcpy(&value, (const char *)solution + number->offset, sizeof value);
    }
    return value;
}

/* The line of JSON that stands for the answer, or for why there is none. */
static enum fulcrum_status make_json(struct answer *answer)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    fulcrum_result_text(
        result, "name", NULL, answer->network.has_name ? answer->network.name : NULL);
    if (answer->status != FULCRUM_OK) {
        fulcrum_result_text(result, "error", NULL, answer->failure.detail);
    } else if (answer->network.kind == FULCRUM_KIND_NETWORK) {
        const struct fulcrum_solution *solution = &answer->solution;
        const double ends[] = {solution->steps_per_s_lo, solution->steps_per_s_hi};
        fulcrum_result_text(
            result, "method", NULL, fulcrum_method_name(solution->method));
        fulcrum_result_number(result, "steps_per_s", NULL, solution->steps_per_s);
        if (solution->has_interval) {
            fulcrum_result_numbers(result, "interval", ends, 2);
        } else {
            fulcrum_result_number(result, "interval", NULL, FULCRUM_UNKNOWN);
        }
        for (size_t i = 0; i < LENGTH(solution_numbers); i++) {
            fulcrum_result_number(result, solution_numbers[i].key, NULL,
                number_of(solution, &solution_numbers[i]));
        }
        fulcrum_result_text(
            result, "bottleneck", NULL, fulcrum_bottleneck_name(solution->bottleneck));
        fulcrum_flags_add(solution->flags, result);
    } else if (answer->network.kind == FULCRUM_KIND_AGENT) {
        fulcrum_result_text(
            result, "method", NULL, fulcrum_method_name((int)answer->agent.method));
        for (size_t i = 0; i < LENGTH(agent_numbers); i++) {
            fulcrum_result_number(result, agent_numbers[i].key, NULL,
                number_of(&answer->agent, &agent_numbers[i]));
        }
        fulcrum_flags_add(answer->agent.flags, result);
    } else {
        const struct fulcrum_product_form_network *network =
            &answer->network.product_form.network;
        fulcrum_result_text(
            result, "method", NULL, fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
        fulcrum_result_number(result, "throughput_per_s", NULL, answer->cycles_per_s);
        struct fulcrum_table *table = fulcrum_result_table(result, "stations", NULL);
        for (size_t i = 0; i < network->station_count; i++) {
            const struct fulcrum_product_form_load *load = &answer->loads[i];
            fulcrum_table_row(table);
            fulcrum_table_text(table, "name", NULL, network->stations[i].name);
            fulcrum_table_number(table, "mean_customers", NULL, load->mean_customers);
            fulcrum_table_number(table, "residence_s", NULL, load->residence_s);
            fulcrum_table_number(table, "utilisation", NULL, load->busy_frac);
        }
    }
    enum fulcrum_status status = fulcrum_result_line(result, &answer->text, NULL);
    fulcrum_result_free(result);
    return status;
}

static void add_numbers(struct fulcrum_table *table,
    const struct solution_number *numbers, size_t count, const void *solution)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_number(table, numbers[i].column, numbers[i].title,
            number_of(solution, &numbers[i]));
    }
}

/* The method that ran, and the flags, of an answer of any kind. */
static enum fulcrum_method method_of(const struct answer *answer, unsigned *flags)
{
    switch (answer->network.kind) {
    case FULCRUM_KIND_NETWORK:
        *flags = answer->solution.flags;
        return answer->solution.method;
    case FULCRUM_KIND_AGENT:
        *flags = answer->agent.flags;
        return answer->agent.method;
    case FULCRUM_KIND_PRODUCT_FORM:
    case FULCRUM_NETWORK_KINDS:
    default:
        *flags = 0;
        return FULCRUM_METHOD_PRODUCT_FORM;
    }
}

/*
 * One row: a network, or one station of a product-form network. It has the columns of
 * all kinds, as nobody knows which will come; people see those that are filled.
 */
static void add_answer(
    struct fulcrum_table *table, const struct answer *answer, size_t station)
{
    static const struct fulcrum_product_form_load no_load = {NAN, NAN, NAN, NULL};
    const struct fulcrum_product_form_line *form = &answer->network.product_form;
    bool is_ok = answer->status == FULCRUM_OK;
    bool is_network = is_ok && answer->network.kind == FULCRUM_KIND_NETWORK;
    bool is_agent = is_ok && answer->network.kind == FULCRUM_KIND_AGENT;
    bool is_form = is_ok && answer->network.kind == FULCRUM_KIND_PRODUCT_FORM;
    bool is_station = is_form && station < form->network.station_count;
    const struct fulcrum_solution *solution = is_network ? &answer->solution : NULL;
    const struct fulcrum_agent_solution *agent = is_agent ? &answer->agent : NULL;
    const struct fulcrum_product_form_load *load =
        is_station ? &answer->loads[station] : &no_load;
    bool has_ends = is_network && solution->has_interval;
    unsigned own_flags = 0;
    const char *method = fulcrum_method_name((int)method_of(answer, &own_flags));
    char flags[2000] = "";
    if (is_ok) {
        fulcrum_flags_join(own_flags, flags, sizeof flags);
    }
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", "name", answer->network.name);
    fulcrum_table_text(table, "method", "method", is_ok ? method : "");
    fulcrum_table_number(table, "steps_per_s", "steps",
        is_network ? solution->steps_per_s : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "steps_per_s_lo", NULL,
        has_ends ? solution->steps_per_s_lo : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "steps_per_s_hi", NULL,
        has_ends ? solution->steps_per_s_hi : FULCRUM_UNKNOWN);
    add_numbers(table, solution_numbers, LENGTH(solution_numbers), solution);
    add_numbers(table, agent_numbers, LENGTH(agent_numbers), agent);
    fulcrum_table_text(table, "bottleneck", "bottleneck",
        is_network ? fulcrum_bottleneck_name(solution->bottleneck) : "");
    fulcrum_table_text(table, "flags", NULL, flags);
    fulcrum_table_number(table, "throughput_per_s", "throughput",
        is_form ? answer->cycles_per_s : FULCRUM_UNKNOWN);
    fulcrum_table_text(
        table, "station", "station", is_station ? form->stations[station].name : "");
    fulcrum_table_number(table, "mean_customers", "customers", load->mean_customers);
    fulcrum_table_number(table, "residence_s", "residence", load->residence_s);
    fulcrum_table_number(table, "utilisation", "utilisation", load->busy_frac);
    fulcrum_table_text(
        table, "status", "status", is_ok ? "ok" : answer->failure.detail);
}

/* A network without stations, or without a result, has a row too. */
static void add_answer_rows(struct fulcrum_table *table, const struct answer *answer)
{
    bool is_form = answer->status == FULCRUM_OK &&
                   answer->network.kind == FULCRUM_KIND_PRODUCT_FORM;
    size_t stations = is_form ? answer->network.product_form.network.station_count : 0;
    for (size_t i = 0; i < stations || i == 0; i++) {
        add_answer(table, answer, i);
    }
}

/* On any thread. */
static void answer_line(void *context, size_t index)
{
    struct job *job = context;
    struct answer *answer = &job->answers[index];
    *answer = (struct answer){.is_answered = *job->stop == 0};
    if (!answer->is_answered) {
        return;
    }
    find_answer(answer, &job->lines[index], &job->options);
    if (job->format == FULCRUM_FORMAT_CSV) {
        size_t size = 0;
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "networks", NULL);
        add_answer_rows(table, answer);
        FILE *stream = open_memstream(&answer->text, &size);
        enum fulcrum_status status =
            stream == NULL ? FULCRUM_ERR_NO_MEMORY : fulcrum_result_check(result, NULL);
        if (status == FULCRUM_OK) {
            fulcrum_csv_rows(stream, table);
        }
        if (stream != NULL && fclose(stream) != 0) {
            status = FULCRUM_ERR_NO_MEMORY;
        }
        fulcrum_result_free(result);
        answer->written = status;
    } else if (job->result == NULL) {
        answer->written = make_json(answer);
    }
}

/* Up to the first line that was not answered. */
static enum fulcrum_status write_block(
    struct job *job, size_t count, FILE *stream, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count && job->answers[i].is_answered; i++) {
        const struct answer *answer = &job->answers[i];
        FAIL_IF(answer->written != FULCRUM_OK, err, answer->written,
            "the answer to line %zu: %s", job->lines[i].number,
            fulcrum_status_text(answer->written));
        if (answer->text != NULL) {
            (void)fputs(answer->text, stream);
        } else {
            add_answer_rows(job->tables[answer->network.kind], answer);
        }
        if (answer->status != FULCRUM_OK && job->failed++ == 0) {
            job->first_failure = answer->failure;
        }
        job->done++;
    }
    return FULCRUM_OK;
}

/* Lines are there; after Ctrl-C some of them may stay without answer. What is answered
 * goes out before the next line is waited for. */
static enum fulcrum_status answer_block(struct job *job, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = context->output_path;
    fulcrum_parallel_each(count, answer_line, job);
    enum fulcrum_status status = write_block(job, count, context->out, err);
    for (size_t i = 0; i < count; i++) {
        if (job->answers[i].is_answered) {
            fulcrum_network_line_clear(&job->answers[i].network);
            free(job->answers[i].loads);
            free(job->answers[i].text);
        }
    }
    TRY(status);
    FAIL_IF(fflush(context->out) != 0 || ferror(context->out), err, FULCRUM_ERR_FILE,
        "%s: cannot be written: %s", path != NULL ? path : "standard output",
        strerror(errno));
    return *job->stop == 0 ? FULCRUM_OK : FULCRUM_ERR_INTERRUPTED;
}

static size_t least_block(void)
{
    long wanted = BLOCK_PER_PROCESSOR * sysconf(_SC_NPROCESSORS_ONLN);
    return (size_t)fmin(fmax((double)wanted, BLOCK_FIRST), BLOCK_MOST);
}

static enum fulcrum_status answer_all(
    struct job *job, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    do {
        status =
            fulcrum_line_stream_next(job->stream, job->lines, job->block, &count, err);
        double start_s = fulcrum_wall_s();
        if (status == FULCRUM_OK) {
            status = answer_block(job, count, context, err);
        }
        /* The same answers come in blocks of any size. */
        double taken_s = fulcrum_wall_s() - start_s;
        if (taken_s > BLOCK_LONG_S && job->block / 2 >= job->least_block) {
            job->block /= 2;
        } else if (taken_s < BLOCK_SHORT_S && count == job->block &&
                   2 * job->block <= BLOCK_MOST) {
            job->block *= 2;
        }
        double done_frac = fulcrum_line_stream_done_frac(job->stream);
        if (done_frac < 1.0 && fulcrum_wall_s() - job->start_s > PROGRESS_AFTER_S) {
            char stage[64];
            (void)snprintf(stage, sizeof stage, "%zu lines", job->done);
            fulcrum_progress_update(&job->progress, done_frac, stage);
        }
    } while (status == FULCRUM_OK && count > 0);
    return status;
}

static enum fulcrum_status solve_stream(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_context shown = *context;
    shown.quiet = shown.quiet || isatty(fileno(context->out));
    fulcrum_progress_start(&job->progress, &shown);
    enum fulcrum_status status = answer_all(job, context, err);
    fulcrum_progress_end(&job->progress);
    if (status == FULCRUM_ERR_INTERRUPTED) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        status = FULCRUM_OK;
    }
    if (status == FULCRUM_OK && job->result != NULL) {
        status = fulcrum_context_show(context, job->result, err);
        job->result = NULL;
    }
    if (status == FULCRUM_OK) {
        /* What the output does not say by itself, and the exit code. */
        const char *name = fulcrum_line_stream_name(job->stream);
        if (context->exit_code == FULCRUM_EXIT_INTERRUPTED) {
            fulcrum_message_warn("interrupted; lines answered: %zu", job->done);
        } else if (job->failed > 0) {
            context->exit_code = FULCRUM_EXIT_FAILED;
            fulcrum_message_warn("%zu of %zu lines have no result: %s", job->failed,
                job->done, job->first_failure.detail);
        } else if (job->done == 0) {
            fulcrum_message_warn("%s holds no network", name);
        }
    }
    return status;
}

static enum fulcrum_status run_solve(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = fulcrum_allocate(1, sizeof *job);
    fulcrum_solver_settings_read(&settings->solver, &job->options);
    job->format = context->format;
    job->least_block = least_block();
    job->block = job->least_block;
    job->start_s = fulcrum_wall_s();
    job->stop = fulcrum_interrupt_watch();
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_line_stream_open(settings->path, job->stop, &job->stream, err));
    /* JSON and CSV go out line by line, so that a stream of any length needs no
     * memory; a table for people, whose widths depend on every row, is kept to the
     * end. */
    if (job->format == FULCRUM_FORMAT_CSV) {
        /* Before the first answer, which may be long in coming. */
        const struct answer none = {.status = FULCRUM_ERR_MISSING};
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "networks", NULL);
        add_answer(table, &none, 0);
        fulcrum_csv_heading(context->out, table);
        fulcrum_result_free(result);
    } else if (job->format != FULCRUM_FORMAT_JSON &&
               job->format != FULCRUM_FORMAT_JSON_LINES) {
        job->result = fulcrum_result_new("fulcrum-solve");
        job->tables[FULCRUM_KIND_NETWORK] =
            fulcrum_result_table(job->result, "networks", "");
        job->tables[FULCRUM_KIND_PRODUCT_FORM] =
            fulcrum_result_table(job->result, "stations", "");
        job->tables[FULCRUM_KIND_AGENT] =
            fulcrum_result_table(job->result, "agents", "");
    }
    if (fulcrum_line_stream_is_terminal(job->stream)) {
        fulcrum_message_note(context, "one network per line; Ctrl-D ends");
    }
    status = solve_stream(job, context, err);
end:
    fulcrum_result_free(job->result);
    fulcrum_line_stream_free(job->stream);
    free(job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"FILE", FULCRUM_ARGUMENT_OPTIONAL, offsetof(struct settings, path), NULL,
        "JSON lines, one network each; '-' or none: standard input"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solver)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum solve networks.jsonl -o results.jsonl",
        "every network of a file, one result line each"},
    {"fulcrum solve --method simulate --half-width 0.002 --format csv networks.jsonl",
        "the same by simulation, to 0.2 %"},
    {"fulcrum solve < networks.jsonl | head -1", "the first result of a stream"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_solve = {
    .name = "solve",
    .summary = "solve raw queueing networks, one JSON object per line",
    .description =
        "The engine by itself, without presets and calibrations, for tests and other "
        "programs: reads networks as JSON lines and writes one result line for each, "
        "in their order. Blank lines are passed over.\n\nA network is {\"kind\": "
        "\"network\", \"name\", \"actors\", \"cpu\": {\"cores\", \"threads\", "
        "\"reserved_threads\", \"slice_s\", \"smt_yield_frac\", \"turbo_frac\", "
        "\"oversubscription_frac\" or \"capacity\": [c(1), c(2), ...]}, \"step\": "
        "{\"mean_s\", \"cv\", \"law\"}, \"host\": {\"per_batch_s\", \"per_item_s\"}, "
        "\"gpu\": the same, \"batching\": {\"policy\", \"size\", \"depth\"}, "
        "\"delay_s\", \"training\": {\"env_steps_per_train_step\", \"train_step_s\", "
        "\"queue_train_steps\", \"sharing_frac\", \"loop\"}}. Actors, cores and "
        "threads must be given; with a capacity table both default to its length. "
        "Defaults: 0, depth "
        "1, policy greedy, unlimited size, law lognormal if cv is above 0 and else "
        "deterministic, no training.\n\nTrajectories of agents are {\"kind\": "
        "\"agent_network\", \"name\", \"live_count\", \"start_limit\", \"cpu\", "
        "\"decode\", \"trajectory\", \"trainer\"}: docs/solve.md describes "
        "them.\n\nA line that cannot be read or solved gives "
        "{\"name\", \"error\"}; the others are still answered, and the exit status is "
        "1. The same line at the same place gives the same bytes with the same seed, "
        "whatever the number of threads. Ctrl-C ends the output after the last whole "
        "line. docs/solve.md describes lines and results in full.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_JSON,
    .run = run_solve,
};
