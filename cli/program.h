/* program.h - a program made of subcommands. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PROGRAM_H
#define FULCRUM_CLI_PROGRAM_H

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

#endif
