/* usage.h - help texts, made from the tables of commands and options. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_USAGE_H
#define FULCRUM_CLI_USAGE_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/program.h"

/* Of a program: every command with its summary. */
void fulcrum_usage_print_overview(FILE *stream, const struct fulcrum_program *program);

/* Of one command: arguments, options, examples. */
void fulcrum_usage_print_command(FILE *stream, const struct fulcrum_command *command);

/* "fulcrum list [OPTION]... [KIND]", no newline. */
void fulcrum_usage_print_synopsis(FILE *stream, const struct fulcrum_command *command);

/* The remarks that follow an option's help: unit, range, names allowed, default. */
void fulcrum_usage_remarks(const struct fulcrum_option *row, char *out, size_t size);

/* Breaks `text` at blanks to lines of at most 79 characters. */
void fulcrum_usage_print_wrapped(FILE *stream, int indent, const char *text);

#endif
