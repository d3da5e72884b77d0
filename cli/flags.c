/* flags.c - what a user must know about a solution, in words. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flags.h"

#include <stdio.h>

/* NULL where the flag is not set. */
static const char *text_of(unsigned flags, int index)
{
    int is_set = (flags & (1U << (unsigned)index)) != 0U;
    return is_set ? fulcrum_flag_text((enum fulcrum_flag_index)index) : NULL;
}

void fulcrum_flags_join(unsigned flags, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT && used < size; i++) {
        const char *text = text_of(flags, i);
        if (text != NULL) {
            int length =
                snprintf(out + used, size - used, "%s%s", used > 0 ? "; " : "", text);
            used += length > 0 ? (size_t)length : 0;
        }
    }
}

void fulcrum_flags_to_json(unsigned flags, struct fulcrum_json *object)
{
    struct fulcrum_json *array = fulcrum_json_add_array(object, "flags");
    for (int i = 0; i < (int)FULCRUM_FLAG_COUNT; i++) {
        const char *text = text_of(flags, i);
        if (text != NULL) {
            fulcrum_json_append_text(array, text);
        }
    }
}
