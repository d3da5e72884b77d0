/* main.c - the program fulcrum. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

int main(int argc, char **argv)
{
    const struct fulcrum_program program = {
        .name = FULCRUM_PROGRAM,
        .purpose = "Finds the balance of CPU threads and GPUs for machines that train "
                   "with reinforcement learning.",
        .commands = fulcrum_commands(),
    };
    return fulcrum_program_run(&program, argc, argv);
}
