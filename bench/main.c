/* main.c - the program fulcrum-bench. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/commands.h"
#include "cli/command.h"

int main(int argc, char **argv)
{
    const struct fulcrum_program program = {
        .name = FULCRUM_BENCH_PROGRAM,
        .purpose = "Measures how fast and how accurate the solvers of Fulcrum are.",
        .commands = fulcrum_bench_commands(),
    };
    return fulcrum_program_run(&program, argc, argv);
}
