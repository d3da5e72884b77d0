/* commands.c - the commands of fulcrum-bench. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/commands.h"

const struct fulcrum_command *const *fulcrum_bench_commands(void)
{
    static const struct fulcrum_command *const commands[] = {
        &fulcrum_bench_command_speed,
        &fulcrum_bench_command_accuracy,
        NULL,
    };
    return commands;
}
