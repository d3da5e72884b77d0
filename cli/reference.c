/* reference.c - a program of the build that prints the reference documents. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reference.h"

#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(FILE *stream);
    } documents[] = {
        {"man", fulcrum_reference_man},
        {"bash", fulcrum_reference_bash},
        {"cli", fulcrum_reference_cli},
        {"fields", fulcrum_reference_fields},
    };
    const char *wanted = argc == 2 ? argv[1] : "";
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        if (strcmp(documents[i].name, wanted) == 0) {
            documents[i].print(stdout);
            return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
        }
    }
    (void)fputs("usage: fulcrum-docgen man|bash|cli|fields\n", stderr);
    return 2;
}
