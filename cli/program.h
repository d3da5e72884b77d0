/* program.h - a program made of subcommands. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PROGRAM_H
#define FULCRUM_CLI_PROGRAM_H

#include <stdio.h>

#include "cli/command.h"

struct fulcrum_program {
    const char *name;
    const char *purpose;                           /* whole sentences */
    const struct fulcrum_command *const *commands; /* NULL-terminated */
};

/*
 * All of main: finds the command, reads its options, runs it, says how it went.
 * Returns the exit status.
 */
int fulcrum_program_run(const struct fulcrum_program *program, int argc, char **argv);

/* Help texts, made from the tables of commands and options. */

/* Of one command: arguments, options, examples. */
void fulcrum_usage_print_command(FILE *stream, const struct fulcrum_command *command);

/* "fulcrum list [OPTION]... [KIND]", no newline. */
void fulcrum_usage_print_synopsis(FILE *stream, const struct fulcrum_command *command);

/* The remarks that follow an option's help: unit, range, names allowed, default. */
void fulcrum_usage_remarks(const struct fulcrum_option *row, char *out, size_t size);

#endif
