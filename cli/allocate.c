/* allocate.c - memory of the front end: where it runs out, the program ends. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/allocate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *fulcrum_allocate(size_t count, size_t size_byte)
{
    void *memory = calloc(count > 0 ? count : 1, size_byte);
    if (memory == NULL) {
        (void)fputs("fulcrum: error: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

char *fulcrum_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t size = length >= 0 ? (size_t)length + 1 : 1;
    char *text = fulcrum_allocate(size, sizeof *text);
    va_start(args, format);
    (void)vsnprintf(text, size, format, args);
    va_end(args);
    return text;
}
