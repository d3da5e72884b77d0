/* stage_kind.c - the stages that a training run's time goes to. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/stage_kind.h"

#include <assert.h>
#include <stddef.h>

const char *fulcrum_stage_kind_name(enum fulcrum_stage_kind kind)
{
    static const char *const names[] = {
#define X(code, name) name,
        FULCRUM_STAGE_KIND_LIST(X)
#undef X
    };
    assert((size_t)kind < FULCRUM_STAGE_KIND_COUNT);
    return names[kind];
}
