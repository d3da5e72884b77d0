/* test_explore.c - the program on sweeps: threads, memory, Ctrl-C, a full disk. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What these tests look at belongs to a process: its number of threads, the most memory
 * it ever had, its signals and its exit code. So they start the program itself. */
#define _POSIX_C_SOURCE 200809L /* strtok_r, setenv */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program.h"
#include "tests/support/suite.h"

/* Greedy batches on a DGX-1, then what `words` say. */
static struct program_run start(const char *threads, const char *words)
{
    char line[1000];
    (void)snprintf(line, sizeof line,
        "explore -m dgx-1 -w r2d2-atari -s workload.batching.policy=greedy "
        "-s workload.training.env_steps_per_train_step=0 -q %s",
        words);
    CU_ASSERT_EQUAL(setenv("OMP_NUM_THREADS", threads, 1), 0);
    return program_start(PROGRAM, STDOUT_FILENO, line);
}

/* A run whose output is not looked at. */
static struct program_run run_over(const char *threads, const char *words)
{
    struct program_run run = start(threads, words);
    free(program_read(&run));
    program_finish(&run);
    return run;
}

static char *text_of(const char *threads, const char *words)
{
    struct program_run run = start(threads, words);
    char *text = program_read(&run);
    program_finish(&run);
    CU_ASSERT_EQUAL(run.exit_code, 0);
    return text;
}

static void compare_threads(const char *words)
{
    static const char *const threads[] = {"2", "3"};
    char *alone = text_of("1", words);
    CU_ASSERT(strlen(alone) > 1000);
    for (size_t i = 0; i < LENGTH(threads); i++) {
        char *text = text_of(threads[i], words);
        CU_ASSERT_STRING_EQUAL(text, alone);
        free(text);
    }
    free(alone);
}

/* Equations, simulations, draws and points that cannot run, side by side. */
TEST(test_the_bytes_do_not_depend_on_the_number_of_threads)
{
    compare_threads("-v run.gpu_count=1,2 -v actors=1:30:1 --format csv "
                    "--intervals none --half-width 0.2");
    compare_threads("-v actors=5,40,41 -s run.gpu_count=2 --format jsonl "
                    "--intervals 3 --half-width 0.2");
    compare_threads("-v run.sm_count=1:6000:1 -a 40 --format json --intervals none "
                    "--columns run.sm_count,steps_per_s,flags,status");
    compare_threads("-v actors=1:30:1 --format jsonl --relative-to 7 --intervals 20 "
                    "--half-width 0.2");
    compare_threads("-v run.gpu_count=1,2 -v actors=2:60:2 --format csv --intervals 20 "
                    "--half-width 0.2 --pareto steps_per_s,system_w,actors");
    /* A covariance, and more draws than a predictor keeps the prefixes of. */
    compare_threads("-c v100-inci2020 -v machine.cpu.thread_count=20:320:20 -a 256 "
                    "--format jsonl --intervals 60 --method fast");
}

/* Does a sweep over that many numbers of actors simulate fixed batches? */
static int simulates(size_t points, const char *more)
{
    char words[300];
    (void)snprintf(words, sizeof words,
        "-s workload.batching.policy=fixed "
        "-v actors=4:%zu:1 --intervals none --format csv --columns method %s",
        points + 3, more);
    char *text = text_of("2", words);
    int found = strstr(text, "simulate") != NULL;
    bool is_whole = strstr(text, "fast") != NULL || found;
    free(text);
    CU_ASSERT(is_whole);
    return found;
}

TEST(test_large_sweeps_are_simulated_when_asked_to_be)
{
    CU_ASSERT(simulates(20, ""));
    CU_ASSERT(simulates(256, "--max-steps 1000"));
    CU_ASSERT(!simulates(257, ""));
    CU_ASSERT(simulates(257, "--half-width 0.01 --max-steps 1000"));
    CU_ASSERT(simulates(257, "--method simulate --max-steps 1000"));
}

static double memory_of(const char *format, size_t points)
{
    char words[300];
    /* A V100 has 80 SMs: hardly any point takes the time to solve it. */
    (void)snprintf(words, sizeof words,
        "-v run.sm_count=1:10000:1 -v actors=1:%zu:1 --intervals none --format %s "
        "-o /dev/null",
        points / 10000, format);
    struct program_run run = run_over("2", words);
    CU_ASSERT_EQUAL(run.exit_code, 0);
    return run.memory_byte;
}

/* A row is 400 bytes and more in any form, so that 160000 more of them are 64 MB. How
 * far the first block gets before somebody wants to see points decides over some 20
 * MB. */
TEST(test_memory_does_not_grow_with_the_number_of_points)
{
    static const char *const formats[] = {"csv", "jsonl", "json", "table"};
    for (size_t i = 0; i < LENGTH(formats); i++) {
        double few_byte = memory_of(formats[i], 100000);
        double many_byte = memory_of(formats[i], 260000);
        CU_ASSERT(many_byte - few_byte < 32e6);
    }
}

/* Beside them, the front is kept, and its points are predicted twice. */
TEST(test_a_front_takes_no_memory_for_the_points_that_it_beats)
{
    static const char *const actors[] = {"1000", "4000"};
    double memory_byte[2] = {0.0, 0.0};
    for (size_t i = 0; i < 2; i++) {
        char words[300];
        (void)snprintf(words, sizeof words,
            "-v machine.rest_w=100:1090:10 -v actors=1:%s:1 --format csv "
            "--pareto steps_per_s,system_w -o /dev/null",
            actors[i]);
        struct program_run run = run_over("2", words);
        CU_ASSERT_EQUAL(run.exit_code, 0);
        memory_byte[i] = run.memory_byte;
    }
    CU_ASSERT(memory_byte[1] - memory_byte[0] < 32e6);
}

/* Where a column of a line begins; its end if it has fewer. */
static const char *column_at(const char *line, size_t column)
{
    for (size_t i = 0; i < column; i++) {
        line += strcspn(line, ",\n");
        line += *line == ',' ? 1 : 0;
    }
    return line;
}

static double column_of(const char *line, size_t column)
{
    return strtod(column_at(line, column), NULL);
}

/* The line that begins with the same two columns, or NULL. */
static const char *line_like(const char *all, const char *line)
{
    size_t length = (size_t)(column_at(line, 2) - line);
    const char *at = strstr(all, "\n");
    while (at != NULL && strncmp(at + 1, line, length) != 0) {
        at = strstr(at + 1, "\n");
    }
    return at != NULL ? at + 1 : NULL;
}

/* The same points as in the whole sweep, where neighbours gave hints to each other. */
TEST(test_a_front_has_lines_of_the_whole_sweep)
{
    const char *words = "-v machine.cpu.thread_count=20:80:20 -v actors=1:300:1 "
                        "--intervals none --format csv --columns "
                        "machine.cpu.thread_count,run.actor_count,steps_per_s,system_w";
    char with_front[400];
    (void)snprintf(
        with_front, sizeof with_front, "%s --pareto steps_per_s,system_w", words);
    char *all = text_of("2", words);
    char *front = text_of("2", with_front);
    char *rest = NULL;
    size_t lines = 0;
    for (char *line = strtok_r(front, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (lines++ > 0) { /* below the header */
            const char *same = line_like(all, line);
            CU_ASSERT_PTR_NOT_NULL(same);
            same = same != NULL ? same : "";
            assert_close("X", column_of(line, 2), column_of(same, 2), 1e-9);
            assert_close("W", column_of(line, 3), column_of(same, 3), 1e-9);
        }
    }
    CU_ASSERT(lines > 2 && lines < 1200);
    free(all);
    free(front);
}

/* Simulations for hours, until the first lines are there and Ctrl-C comes. */
static void interrupt(const char *format, const char *end)
{
    char words[300];
    (void)snprintf(words, sizeof words,
        "-v actors=1:20000:1 --method simulate --half-width 0.1 --max-steps 20000 "
        "--intervals none --format %s",
        format);
    struct program_run run = start("2", words);
    CU_ASSERT(fgetc(run.stream) != EOF);
    CU_ASSERT_EQUAL(kill(run.process, SIGINT), 0);
    char *text = program_read(&run);
    program_finish(&run);
    CU_ASSERT_EQUAL(run.exit_code, PROGRAM_EXIT_INTERRUPTED);
    size_t length = strlen(text);
    CU_ASSERT(length > strlen(end) && strcmp(text + length - strlen(end), end) == 0);
    free(text);
}

TEST(test_ctrl_c_leaves_whole_lines)
{
    interrupt("csv", ",ok\n");
    interrupt("jsonl", "\"complete\":false}\n");
    interrupt("json", "\"complete\":false}\n");
}

TEST(test_a_full_disk_ends_the_sweep)
{
    struct program_run run =
        run_over("2", "-v run.sm_count=1:10000:1 -a 40 --intervals none --format csv "
                      "-o /dev/full");
    CU_ASSERT_EQUAL(run.exit_code, 1);
}
