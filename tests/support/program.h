/* program.h - the program itself, started with a command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PROGRAM_H
#define FULCRUM_TESTS_PROGRAM_H

#include <stdio.h>
#include <sys/types.h>

enum { PROGRAM_EXIT_INTERRUPTED = 130 };

/* A run, under way or over. */
struct program_run {
    pid_t process;
    FILE *stream;  /* the reading end of what is looked at */
    int exit_code; /* -1: it was ended by a signal */
    double memory_byte;
};

/*
 *   program  PROGRAM: a path without blanks
 *   stream   STDOUT_FILENO, a pipe, or STDERR_FILENO, a terminal, where progress is
 *            shown from the start; the other one goes to /dev/null
 *   words    separated by blanks
 */
struct program_run program_start(const char *program, int stream, const char *words);

/* All that comes from now on; the caller frees it. */
char *program_read(const struct program_run *run);

/* Waits for its end. */
void program_finish(struct program_run *run);

#endif
