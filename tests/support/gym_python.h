/* gym_python.h - a Python with the packages that a test needs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_GYM_PYTHON_H
#define FULCRUM_TESTS_GYM_PYTHON_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Its path as `command`, a line of tests/gym_python.sh, prints it; false: there is
 * none.
 */
static inline bool gym_python_find(const char *command, char path[4096])
{
    /* NOLINTNEXTLINE(cert-env33-c): a script of ours */
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        return false;
    }
    bool is_there = fgets(path, 4096, pipe) != NULL;
    is_there = pclose(pipe) == 0 && is_there;
    path[strcspn(path, "\n")] = '\0';
    return is_there;
}

#endif
