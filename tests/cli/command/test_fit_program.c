/* test_fit_program.c - the program fits a table that the program itself has made. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From end to end, as a user would: a sweep by simulation becomes a CSV file, the file
 * a calibration. Signals, files and exit codes belong to a process, so that these tests
 * start the program itself. */
#define _POSIX_C_SOURCE 200809L /* kill */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/load/preset.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* The exit code of a run that goes on to its end. */
static int finish(struct program_run *run)
{
    free(program_read(run));
    program_finish(run);
    return run->exit_code;
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

/* The path of the table. */
static const char *make_table(struct scratch *scratch)
{
    char words[600];
    (void)snprintf(words, sizeof words,
        "explore -m dgx-1-inci2020 -w r2d2-atari " QUICK " -v actors=4,20,120 "
        "-s run.discrepancy=1 -s %s=%g -s %s=%g --method simulate --half-width 0.004 "
        "--intervals none --columns "
        "run.actor_count,steps_per_s --format csv -q",
        truths[0].path, truths[0].value, truths[1].path, truths[1].value);
    struct program_run run = program_start(PROGRAM, STDOUT_FILENO, words);
    char *text = program_read(&run);
    const char *path = scratch_put(scratch, "runs.csv", text);
    program_finish(&run);
    CU_ASSERT_EQUAL_FATAL(run.exit_code, 0);
    free(text);
    return path;
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
    const char *table = make_table(&scratch);
    const char *file = scratch_at(&scratch, "runs-fitted.json");
    char words[600];
    (void)snprintf(words, sizeof words,
        "fit -m dgx-1-inci2020 -w r2d2-atari " QUICK " %s --free %s --free %s -n 1000 "
        "-q -o %s",
        table, truths[0].path, truths[1].path, file);
    struct program_run run = program_start(PROGRAM, STDOUT_FILENO, words);
    CU_ASSERT_EQUAL_FATAL(finish(&run), 0);
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_load(file, &calibration, NULL));
    CU_ASSERT_STRING_EQUAL(calibration->name, "runs-fitted");
    CU_ASSERT_EQUAL(calibration->complete, 1);
    for (size_t i = 0; i < TRUTHS; i++) {
        assert_found(calibration, i);
    }
    fulcrum_calibration_free(calibration);
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
    const char *table = make_table(&scratch);
    char words[600];
    (void)snprintf(words, sizeof words,
        "fit -m dgx-1-inci2020 -w r2d2-atari " QUICK " %s --free %s --free %s "
        "-n 2000000 -o %s",
        table, truths[0].path, truths[1].path, path);
    struct program_run run = program_start(PROGRAM, STDERR_FILENO, words);
    CU_ASSERT(reads(run.stream, part));
    CU_ASSERT_EQUAL(kill(run.process, SIGINT), 0);
    int code = finish(&run);
    scratch_free(&scratch);
    return code;
}

TEST(test_ctrl_c_before_there_is_anything_leaves_no_file)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "c.json");
    CU_ASSERT_EQUAL(interrupt_at("prior predictive", path), PROGRAM_EXIT_INTERRUPTED);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    scratch_free(&scratch);
}

/* Draws begin with the best parameters. */
TEST(test_ctrl_c_keeps_the_best_parameters)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "c.json");
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL(
        interrupt_at("draws of the posterior", path), PROGRAM_EXIT_INTERRUPTED);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    ASSERT_OK(fulcrum_calibration_load(path, &calibration, NULL));
    CU_ASSERT_EQUAL(calibration->complete, 0);
    const char *note = fulcrum_calibration_note(calibration, "fit");
    assert_part(note != NULL ? note : "", "stopped before there were all draws");
    const struct fulcrum_parameter *step =
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s");
    CU_ASSERT(step != NULL && step->origin == FULCRUM_ORIGIN_FITTED);
    fulcrum_calibration_free(calibration);
    scratch_free(&scratch);
}
