/* test_fit_program.c - the program fits a table that the program itself has made. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From end to end, as a user would: a sweep by simulation becomes a CSV file, the file
 * a calibration. Signals, files and exit codes belong to a process, so that these tests
 * start the program itself.
 */
#define _GNU_SOURCE /* posix_openpt */

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { WORDS_MOST = 60, EXIT_INTERRUPTED = 130 };

/*
 * Which of its two streams is looked at; the other goes to /dev/null. Messages go to a
 * terminal, where progress is shown from the start.
 */
enum stream { OUTPUT = STDOUT_FILENO, MESSAGES = STDERR_FILENO };

struct run {
    pid_t process;
    FILE *stream;
};

/* Both ends of a pseudo-terminal, or of a pipe: the program writes into the second. */
static int open_ends(enum stream which, int ends[2])
{
    if (which == OUTPUT) {
        return pipe(ends) == 0;
    }
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) {
        return 0;
    }
    const char *name = ptsname(ends[0]);
    ends[1] = name != NULL ? open(name, O_RDWR | O_NOCTTY) : -1;
    return ends[1] >= 0;
}

/* The words are separated by blanks. */
static struct run start(enum stream which, const char *words)
{
    char program[] = PROGRAM;
    char line[1000];
    char *argv[WORDS_MOST] = {program};
    size_t count = 1;
    char *rest = NULL;
    (void)snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok_r(line, " ", &rest);
         word != NULL && count + 1 < WORDS_MOST; word = strtok_r(NULL, " ", &rest)) {
        argv[count++] = word;
    }
    int ends[2] = {-1, -1};
    CU_ASSERT_FATAL(open_ends(which, ends));
    struct run run = {.process = fork(), .stream = fdopen(ends[0], "r")};
    CU_ASSERT_FATAL(run.stream != NULL);
    if (run.process == 0) {
        FILE *other = fopen("/dev/null", "w");
        bool is_ok =
            other != NULL && dup2(fileno(other), OUTPUT + MESSAGES - (int)which) >= 0;
        (void)dup2(ends[1], (int)which);
        (void)close(ends[0]);
        (void)close(ends[1]);
        if (is_ok) {
            (void)execv(program, argv);
        }
        _exit(127);
    }
    (void)close(ends[1]);
    return run;
}

/* Reads to the end, into a file where one is given; the exit code. */
static int finish(struct run *run, const char *path)
{
    int status = 0;
    char some[1024];
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    while (fgets(some, sizeof some, run->stream) != NULL) {
        if (file != NULL) {
            (void)fputs(some, file);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)fclose(run->stream);
    CU_ASSERT_EQUAL(waitpid(run->process, &status, 0), run->process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Greedy batches without overlap or training are quick to solve. */
#define QUICK                                                                          \
    "-s workload.batching.policy=greedy -s workload.batching.depth=1 -s "              \
    "workload.training.env_steps_per_train_step=0"

/* What the sweep is made with, and what the priors of v100-prior say: 2 ms, 20 us. */
static const struct {
    const char *path;
    double value;
} truths[] = {{"workload.step.mean_s", 3e-3}, {"workload.host.per_item_s", 5e-5}};
enum { TRUTHS = LENGTH(truths) };

static void make_table(const char *path)
{
    char words[600];
    (void)snprintf(words, sizeof words,
        "explore -m dgx-1-inci2020 -w r2d2-atari " QUICK " -v actors=4,20,120 -s %s=%g "
        "-s %s=%g --method simulate --half-width 0.004 --intervals none --columns "
        "run.actor_count,steps_per_s --format csv -q",
        truths[0].path, truths[0].value, truths[1].path, truths[1].value);
    struct run run = start(OUTPUT, words);
    CU_ASSERT_EQUAL_FATAL(finish(&run, path), 0);
}

static void assert_found(const struct fulcrum_calibration *calibration, size_t i)
{
    static const struct fulcrum_parameter none = {.value = 0.0};
    const struct fulcrum_parameter *found =
        fulcrum_calibration_parameter(calibration, truths[i].path);
    found = found != NULL ? found : &none;
    double error = fabs(found->value - truths[i].value);
    CU_ASSERT_EQUAL(found->origin, FULCRUM_ORIGIN_FITTED);
    CU_ASSERT(error < 3.0 * found->standard_error);
    CU_ASSERT(found->standard_error < 0.2 * truths[i].value);
}

/* The priors lie at two thirds and at two fifths of what made the table. */
TEST(test_what_made_the_table_is_found)
{
    struct scratch scratch = scratch_new();
    char *table = scratch_path(&scratch, "runs.csv");
    char *file = scratch_path(&scratch, "runs-fitted.json");
    char words[600];
    make_table(table);
    (void)snprintf(words, sizeof words,
        "fit -m dgx-1-inci2020 -w r2d2-atari " QUICK " %s --free %s --free %s -n 1000 "
        "-q -o %s",
        table, truths[0].path, truths[1].path, file);
    struct run run = start(OUTPUT, words);
    CU_ASSERT_EQUAL_FATAL(finish(&run, NULL), 0);
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_load(file, &calibration, NULL));
    CU_ASSERT_STRING_EQUAL(calibration->name, "runs-fitted");
    CU_ASSERT_EQUAL(calibration->complete, 1);
    for (size_t i = 0; i < TRUTHS; i++) {
        assert_found(calibration, i);
    }
    fulcrum_calibration_free(calibration);
    free(table);
    free(file);
    scratch_free(&scratch);
}

/* Reads until a line, which may still grow or be drawn over, has `part`; 0: none has.
 */
static int reads(FILE *stream, const char *part)
{
    char line[400] = "";
    size_t used = 0;
    for (int c = fgetc(stream); c != EOF; c = fgetc(stream)) {
        used = c == '\r' || c == '\n' || used + 1 == sizeof line ? 0 : used;
        line[used++] = (char)c;
        line[used] = '\0';
        if (strstr(line, part) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Starts a long fit and sends Ctrl-C at the first message that has `part`. */
static int interrupt_at(const char *part, const char *path)
{
    struct scratch scratch = scratch_new();
    char *table = scratch_path(&scratch, "runs.csv");
    char words[600];
    make_table(table);
    (void)snprintf(words, sizeof words,
        "fit -m dgx-1-inci2020 -w r2d2-atari " QUICK " %s --free %s --free %s "
        "-n 2000000 -o %s",
        table, truths[0].path, truths[1].path, path);
    struct run run = start(MESSAGES, words);
    CU_ASSERT(reads(run.stream, part));
    CU_ASSERT_EQUAL(kill(run.process, SIGINT), 0);
    int code = finish(&run, NULL);
    free(table);
    scratch_free(&scratch);
    return code;
}

TEST(test_ctrl_c_before_there_is_anything_leaves_no_file)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "c.json");
    CU_ASSERT_EQUAL(interrupt_at("prior predictive", path), EXIT_INTERRUPTED);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    free(path);
    scratch_free(&scratch);
}

/* Draws begin with the best parameters. */
TEST(test_ctrl_c_keeps_the_best_parameters)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "c.json");
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL(interrupt_at("draws of the posterior", path), EXIT_INTERRUPTED);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    ASSERT_OK(fulcrum_calibration_load(path, &calibration, NULL));
    CU_ASSERT_EQUAL(calibration->complete, 0);
    const char *note = fulcrum_calibration_note(calibration, "fit");
    assert_part(note != NULL ? note : "", "stopped before there were all draws");
    const struct fulcrum_parameter *step =
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s");
    CU_ASSERT(step != NULL && step->origin == FULCRUM_ORIGIN_FITTED);
    fulcrum_calibration_free(calibration);
    free(path);
    scratch_free(&scratch);
}
