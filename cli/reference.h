/* reference.h - manual page, completion and tables, written from the program's own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REFERENCE_H
#define FULCRUM_CLI_REFERENCE_H

#include <stdio.h>

#include "cli/command.h"

/* fulcrum.1 in roff. */
void fulcrum_reference_man(FILE *stream);

/* Completion for bash. */
void fulcrum_reference_bash(FILE *stream);

/* docs/cli.md: every command with its options. */
void fulcrum_reference_cli(FILE *stream);

/* docs/fields.md: every field of machines, workloads and runs. */
void fulcrum_reference_fields(FILE *stream);

#endif
