/* commands.h - the commands of fulcrum-bench. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_COMMANDS_H
#define FULCRUM_BENCH_COMMANDS_H

#include "cli/command.h"

#define FULCRUM_BENCH_PROGRAM "fulcrum-bench"

/* NULL-terminated, in the order of `fulcrum-bench --help`. Static. */
const struct fulcrum_command *const *fulcrum_bench_commands(void);

extern const struct fulcrum_command fulcrum_bench_command_accuracy;
extern const struct fulcrum_command fulcrum_bench_command_speed;

#endif
