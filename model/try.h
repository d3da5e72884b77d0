/* try.h - leaving a function at the first failure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_TRY_H
#define FULCRUM_MODEL_TRY_H

#include "model/status.h"

/* Returns the failure of `call`: for functions that own nothing yet. */
#define TRY(call)                                                                      \
    do {                                                                               \
        const enum fulcrum_status try_status_ = (call);                                \
        if (try_status_ != FULCRUM_OK)                                                 \
            return try_status_;                                                        \
    } while (0)

/* Keeps the result of `call` in `status` and leaves by the label `end` if it failed. */
#define TRY_OR_END(call)                                                               \
    if ((status = (call)) != FULCRUM_OK)                                               \
    goto end

/* Returns FULCRUM_ERR_NO_MEMORY if `pointer` is NULL; the rest as fulcrum_fail. */
#define TRY_MEMORY(pointer, err, ...)                                                  \
    if ((pointer) == NULL)                                                             \
    return (void)fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, __VA_ARGS__),                \
           FULCRUM_ERR_NO_MEMORY

/* Fails with `code` and the text that follows where `condition` holds. */
#define FAIL_IF(condition, err, code, ...)                                             \
    if (condition)                                                                     \
    return fulcrum_fail(err, code, __VA_ARGS__)

/* Adds a line to the faults in `found` where `condition` holds; the checks go on. */
#define FAULT_IF(condition, found, code, ...)                                          \
    if (condition)                                                                     \
    (void)fulcrum_fail_more(found, code, __VA_ARGS__)

#endif
