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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/answer.h"
#include "cli/progress.h"
#include "model/parallel.h"
#include "model/try.h"

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

struct job {
    struct fulcrum_solver_options options;
    struct fulcrum_line_stream *stream;
    struct fulcrum_answer_writer *writer;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    double start_s;
    size_t block;
    size_t least_block;
    struct fulcrum_line lines[BLOCK_MOST];
    struct fulcrum_answer answers[BLOCK_MOST];
    bool is_answered[BLOCK_MOST];            /* 0 where Ctrl-C came first */
    enum fulcrum_status written[BLOCK_MOST]; /* whether there was memory for its text */
    enum fulcrum_format format;
    size_t done;
    size_t failed;
    struct fulcrum_error first_failure;
};

/* On any thread. */
static void answer_line(void *context, size_t index)
{
    struct job *job = context;
    job->is_answered[index] = *job->stop == 0;
    job->written[index] = FULCRUM_OK;
    if (!job->is_answered[index]) {
        return;
    }
    fulcrum_answer_find(&job->answers[index], &job->lines[index], &job->options);
    if (job->format == FULCRUM_FORMAT_JSON) {
        job->written[index] = fulcrum_answer_make_json(&job->answers[index], NULL);
    }
}

/* Up to the first line that was not answered. */
static enum fulcrum_status write_block(
    struct job *job, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count && job->is_answered[i]; i++) {
        const struct fulcrum_answer *answer = &job->answers[i];
        if (job->written[i] != FULCRUM_OK) {
            return fulcrum_fail(err, job->written[i], "the answer to line %zu: %s",
                job->lines[i].number, fulcrum_status_text(job->written[i]));
        }
        fulcrum_answer_writer_add(job->writer, answer);
        if (answer->status != FULCRUM_OK && job->failed++ == 0) {
            job->first_failure = answer->failure;
        }
        job->done++;
    }
    return FULCRUM_OK;
}

static double now_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What is answered goes out before the next line is waited for. */
static enum fulcrum_status flush(
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (fflush(context->out) == 0 && !ferror(context->out)) {
        return FULCRUM_OK;
    }
    const char *path = context->output_path;
    return fulcrum_fail(err, FULCRUM_ERR_FILE, "%s: cannot be written: %s",
        path != NULL ? path : "standard output", strerror(errno));
}

/* Lines are there; after Ctrl-C some of them may stay without answer. */
static enum fulcrum_status answer_block(struct job *job, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    fulcrum_parallel_each(count, answer_line, job);
    enum fulcrum_status status = write_block(job, count, err);
    for (size_t i = 0; i < count; i++) {
        if (job->is_answered[i]) {
            fulcrum_answer_clear(&job->answers[i]);
        }
    }
    if (status == FULCRUM_OK) {
        status = flush(context, err);
    }
    if (status == FULCRUM_OK && *job->stop != 0) {
        status = FULCRUM_ERR_INTERRUPTED;
    }
    return status;
}

static size_t least_block(void)
{
    long wanted = BLOCK_PER_PROCESSOR * sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted < BLOCK_FIRST) {
        return BLOCK_FIRST;
    }
    return wanted > BLOCK_MOST ? BLOCK_MOST : (size_t)wanted;
}

static enum fulcrum_status answer_all(
    struct job *job, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    do {
        status =
            fulcrum_line_stream_next(job->stream, job->lines, job->block, &count, err);
        double start_s = now_s();
        if (status == FULCRUM_OK) {
            status = answer_block(job, count, context, err);
        }
        /* The same answers come in blocks of any size. */
        double taken_s = now_s() - start_s;
        if (taken_s > BLOCK_LONG_S && job->block / 2 >= job->least_block) {
            job->block /= 2;
        } else if (taken_s < BLOCK_SHORT_S && count == job->block &&
                   2 * job->block <= BLOCK_MOST) {
            job->block *= 2;
        }
        double done_frac = fulcrum_line_stream_done_frac(job->stream);
        if (done_frac < 1.0 && now_s() - job->start_s > PROGRESS_AFTER_S) {
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
    if (status == FULCRUM_OK) {
        status = fulcrum_answer_writer_end(job->writer, err);
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

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = calloc(1, sizeof *job);
    TRY_MEMORY(job, err, "a block of lines");
    fulcrum_solver_settings_read(&settings->solver, &job->options);
    job->format = context->format;
    job->least_block = least_block();
    job->block = job->least_block;
    job->start_s = now_s();
    job->stop = fulcrum_interrupt_watch();
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_line_stream_open(settings->path, job->stop, &job->stream, err));
    job->writer = fulcrum_answer_writer_new(context);
    if (fulcrum_line_stream_is_terminal(job->stream)) {
        fulcrum_message_note(context, "one network per line; Ctrl-D ends");
    }
    status = solve_stream(job, context, err);
end:
    fulcrum_answer_writer_free(job->writer);
    fulcrum_line_stream_free(job->stream);
    free(job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {.name = "FILE",
        .kind = FULCRUM_ARGUMENT_OPTIONAL,
        .offset = offsetof(struct settings, path),
        .help = "JSON lines, one network each; '-' or none: standard input"},
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
        "in their order. Blank lines are passed over.\n\n"
        "A network is {\"kind\": \"network\", \"name\", \"actors\", \"cpu\": "
        "{\"cores\", "
        "\"threads\", \"reserved_threads\", \"slice_s\", \"smt_yield_frac\", "
        "\"turbo_frac\", "
        "\"oversubscription_frac\" or \"capacity\": [c(1), c(2), ...]}, \"step\": "
        "{\"mean_s\", \"cv\", \"law\"}, \"host\": {\"per_batch_s\", \"per_item_s\"}, "
        "\"gpu\": the same, \"batching\": {\"policy\", \"size\", \"depth\"}, "
        "\"delay_s\", \"training\": {\"env_steps_per_train_step\", \"train_step_s\", "
        "\"queue_train_steps\", \"sharing_frac\"}}. Actors, cores and threads must be "
        "given; without "
        "them the counts of a capacity table are its length. What is left out or null "
        "is 0, a depth 1, a policy greedy, a size without limit, a law lognormal where "
        "cv is above 0 and deterministic where it is not, and nothing trains.\n\n"
        "A line that cannot be read or solved gives {\"name\", \"error\"}, all faults "
        "in one text; the others are still answered and the exit status is 1. The same "
        "line at the same place gives the same bytes with the same seed, whatever the "
        "number of threads. Ctrl-C ends the output after the last whole line. "
        "docs/solve.md describes lines and results in full.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_JSON,
    .run = run,
};
