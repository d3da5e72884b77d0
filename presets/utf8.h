/* utf8.h - which bytes are well-formed UTF-8. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_UTF8_H
#define FULCRUM_PRESETS_UTF8_H

#include <stddef.h>

/*
 * Bytes of the well-formed UTF-8 sequence at `text`, which a zero byte ends, 0 if it is
 * none. Overlong forms, surrogates and values beyond U+10FFFF are not well-formed.
 */
size_t fulcrum_utf8_length(const char *text);

#endif
