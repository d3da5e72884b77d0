/* program.c - the program itself, started with a command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* posix_openpt, wait4 */
#include "tests/support/program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

enum { WORDS_MOST = 60 };

/* Both ends of a pseudo-terminal, or of a pipe: the program writes into the second. */
static bool open_ends(int stream, int ends[2])
{
    if (stream == STDOUT_FILENO) {
        return pipe(ends) == 0;
    }
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) {
        return false;
    }
    const char *name = ptsname(ends[0]);
    ends[1] = name != NULL ? open(name, O_RDWR | O_NOCTTY) : -1;
    return ends[1] >= 0;
}

struct program_run program_start(const char *program, int stream, const char *words)
{
    char line[1400];
    char *argv[WORDS_MOST] = {NULL};
    size_t count = 0;
    char *rest = NULL;
    (void)snprintf(line, sizeof line, "%s %s", program, words);
    for (char *word = strtok_r(line, " ", &rest);
         word != NULL && count + 1 < WORDS_MOST; word = strtok_r(NULL, " ", &rest)) {
        argv[count++] = word;
    }
    int ends[2] = {-1, -1};
    CU_ASSERT_FATAL(open_ends(stream, ends));
    struct program_run run = {.process = fork(), .stream = fdopen(ends[0], "r")};
    CU_ASSERT_FATAL(run.stream != NULL);
    if (run.process == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        (void)dup2(nowhere, STDOUT_FILENO + STDERR_FILENO - stream);
        (void)dup2(ends[1], stream);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execv(program, argv);
        _exit(127);
    }
    (void)close(ends[1]);
    return run;
}

char *program_read(const struct program_run *run)
{
    char *text = NULL;
    size_t size = 0;
    char some[4096];
    FILE *copy = open_memstream(&text, &size);
    CU_ASSERT_FATAL(copy != NULL);
    /* A terminal that nobody writes to any more is an error, not an end. */
    for (size_t got = fread(some, 1, sizeof some, run->stream); got > 0;
         got = fread(some, 1, sizeof some, run->stream)) {
        (void)fwrite(some, 1, got, copy);
    }
    (void)fclose(copy);
    return text;
}

void program_finish(struct program_run *run)
{
    int status = 0;
    struct rusage usage = {.ru_maxrss = 0};
    (void)fclose(run->stream);
    CU_ASSERT_EQUAL(wait4(run->process, &status, 0, &usage), run->process);
    run->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run->memory_byte = 1024.0 * (double)usage.ru_maxrss;
}
