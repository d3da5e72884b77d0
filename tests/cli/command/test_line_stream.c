/* test_line_stream.c - lines come whole, in order and without waiting for more. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/command/line_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { MOST = 4 };

/* A stream over one end of a pipe, named as the system names open files. */
struct pipe_stream {
    int writer;
    int reader;
    volatile sig_atomic_t stop;
    struct fulcrum_line_stream *stream;
    char path[40]; /* the stream borrows it */
};

static void pipe_open(struct pipe_stream *out)
{
    int ends[2] = {-1, -1};
    *out = (struct pipe_stream){.reader = -1, .writer = -1};
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    out->reader = ends[0];
    out->writer = ends[1];
    (void)snprintf(out->path, sizeof out->path, "/dev/fd/%d", out->reader);
    ASSERT_OK(fulcrum_line_stream_open(out->path, &out->stop, &out->stream, NULL));
}

static void pipe_put(const struct pipe_stream *pipes, const char *text)
{
    CU_ASSERT_EQUAL(write(pipes->writer, text, strlen(text)), (ssize_t)strlen(text));
}

static void pipe_end(struct pipe_stream *pipes)
{
    if (pipes->writer >= 0) {
        (void)close(pipes->writer);
    }
    pipes->writer = -1;
}

static void pipe_close(struct pipe_stream *pipes)
{
    fulcrum_line_stream_free(pipes->stream);
    pipe_end(pipes);
    (void)close(pipes->reader);
}

static void expect_line(
    const struct fulcrum_line *line, size_t number, const char *text)
{
    CU_ASSERT_EQUAL(line->number, number);
    CU_ASSERT_EQUAL(line->is_too_long, 0);
    CU_ASSERT_EQUAL(line->length, strlen(text));
    CU_ASSERT_STRING_EQUAL(line->text, text);
}

static size_t next(struct fulcrum_line_stream *stream, struct fulcrum_line *lines)
{
    size_t count = 99;
    ASSERT_OK(fulcrum_line_stream_next(stream, lines, MOST, &count, NULL));
    return count;
}

/* The first line is there before the second is written, and again in parts. */
TEST(test_what_is_there_is_handed_out_without_waiting)
{
    struct pipe_stream pipes;
    struct fulcrum_line lines[MOST];
    pipe_open(&pipes);
    pipe_put(&pipes, "one\n");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 1);
    expect_line(&lines[0], 1, "one");
    pipe_put(&pipes, "two\nthree\nfo");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 2);
    expect_line(&lines[0], 2, "two");
    expect_line(&lines[1], 3, "three");
    pipe_put(&pipes, "ur\nfive");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 1);
    expect_line(&lines[0], 4, "four");
    pipe_end(&pipes);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 1);
    expect_line(&lines[0], 5, "five");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 0);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 0);
    CU_ASSERT(isnan(fulcrum_line_stream_done_frac(pipes.stream)));
    CU_ASSERT_EQUAL(fulcrum_line_stream_is_terminal(pipes.stream), 0);
    pipe_close(&pipes);
}

TEST(test_a_block_is_no_larger_than_asked_for)
{
    struct pipe_stream pipes;
    struct fulcrum_line lines[MOST];
    pipe_open(&pipes);
    pipe_put(&pipes, "1\n2\n3\n4\n5\n6\n");
    pipe_end(&pipes);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), MOST);
    expect_line(&lines[3], 4, "4");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 2);
    expect_line(&lines[1], 6, "6");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 0);
    pipe_close(&pipes);
}

/* The mark comes in two parts, as a slow writer may send it. */
TEST(test_blank_lines_and_the_byte_order_mark_are_passed_over)
{
    struct pipe_stream pipes;
    struct fulcrum_line lines[MOST];
    pipe_open(&pipes);
    pipe_put(&pipes, "\xef\xbb");
    pipe_put(&pipes, "\xbf"
                     "a\r\n\n \t\r\nb\xef\xbb\xbf\n\r\n");
    pipe_end(&pipes);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 2);
    expect_line(&lines[0], 1, "a\r");
    expect_line(&lines[1], 4, "b\xef\xbb\xbf");
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 0);
    pipe_close(&pipes);
}

/* A file of a line of `length` bytes between two short ones. */
static const char *write_long(struct scratch *scratch, size_t length)
{
    const char *path = scratch_at(scratch, "long");
    FILE *stream = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)fprintf(stream, "a\n%0*d\nb\n", (int)length, 0);
    (void)fclose(stream);
    return path;
}

static void expect_length(
    struct fulcrum_line_stream *stream, size_t number, size_t length)
{
    struct fulcrum_line line = {"", 0, 0, 0};
    size_t count = 0;
    ASSERT_OK(fulcrum_line_stream_next(stream, &line, 1, &count, NULL));
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT_EQUAL(line.number, number);
    CU_ASSERT_EQUAL(line.is_too_long, length > FULCRUM_LINE_MOST_BYTE);
    CU_ASSERT_EQUAL(line.length, line.is_too_long ? 0 : length);
    CU_ASSERT_EQUAL(line.text[line.length], '\0');
}

TEST(test_lines_up_to_the_limit_are_kept_and_longer_ones_dropped)
{
    static const size_t lengths[] = {65535, 65536, 131072, FULCRUM_LINE_MOST_BYTE,
        FULCRUM_LINE_MOST_BYTE + 1, FULCRUM_LINE_MOST_BYTE + 70000,
        3 * FULCRUM_LINE_MOST_BYTE};
    const volatile sig_atomic_t stop = 0;
    struct scratch scratch = scratch_new();
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        const char *path = write_long(&scratch, lengths[i]);
        struct fulcrum_line_stream *stream = NULL;
        struct fulcrum_line lines[MOST];
        ASSERT_OK(fulcrum_line_stream_open(path, &stop, &stream, NULL));
        CU_ASSERT_STRING_EQUAL(fulcrum_line_stream_name(stream), path);
        expect_length(stream, 1, 1);
        expect_length(stream, 2, lengths[i]);
        expect_length(stream, 3, 1);
        CU_ASSERT_EQUAL(fulcrum_line_stream_done_frac(stream), 1.0);
        CU_ASSERT_EQUAL(next(stream, lines), 0);
        fulcrum_line_stream_free(stream);
    }
    scratch_free(&scratch);
}

/* The end of the input ends a line that is too long as well. */
TEST(test_a_long_last_line_is_reported)
{
    struct pipe_stream pipes;
    struct fulcrum_line lines[MOST];
    static const char filler[4096] = "y";
    pipe_open(&pipes);
    pid_t child = fork();
    if (child == 0) {
        ssize_t sent = 0;
        while (sent >= 0 && sent <= (ssize_t)FULCRUM_LINE_MOST_BYTE) {
            ssize_t written = write(pipes.writer, filler, sizeof filler);
            sent = written < 0 ? written : sent + written;
        }
        _exit(0);
    }
    pipe_end(&pipes);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 1);
    CU_ASSERT_EQUAL(lines[0].is_too_long, 1);
    CU_ASSERT_EQUAL(lines[0].number, 1);
    CU_ASSERT_EQUAL(next(pipes.stream, lines), 0);
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
    pipe_close(&pipes);
}

TEST(test_a_wait_ends_when_it_is_stopped)
{
    struct pipe_stream pipes;
    struct fulcrum_line lines[MOST];
    size_t count = 99;
    pipe_open(&pipes);
    pipes.stop = 1;
    CU_ASSERT_EQUAL(fulcrum_line_stream_next(pipes.stream, lines, MOST, &count, NULL),
        FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT_EQUAL(count, 0);
    pipe_close(&pipes);
}

TEST(test_what_cannot_be_read_is_named)
{
    const volatile sig_atomic_t stop = 0;
    static const struct {
        const char *path;
        const char *part;
    } cases[] = {
        {"/nowhere/networks.jsonl",
            "/nowhere/networks.jsonl: cannot be read: No such file"},
        {"/", "/: cannot be read: Is a directory"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_line_stream *stream = NULL;
        ASSERT_FAILS(fulcrum_line_stream_open(cases[i].path, &stop, &stream, &err),
            FULCRUM_ERR_FILE, cases[i].part);
        CU_ASSERT_PTR_NULL(stream);
    }
    fulcrum_line_stream_free(NULL);
}
