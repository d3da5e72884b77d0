/* status.h - what a call returns, and the text that explains a failure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STATUS_H
#define FULCRUM_MODEL_STATUS_H

#include <stddef.h>

/* clang-format off */
#define FULCRUM_STATUS_LIST(X)                                             \
    X(FULCRUM_OK,               "success")                                 \
    X(FULCRUM_ERR_RANGE,        "value outside its range")                 \
    X(FULCRUM_ERR_NO_MEMORY,    "out of memory")                           \
    X(FULCRUM_ERR_FILE,         "file cannot be read or written")          \
    X(FULCRUM_ERR_FORMAT,       "malformed content")                       \
    X(FULCRUM_ERR_UNKNOWN_NAME, "unknown name")                            \
    X(FULCRUM_ERR_MISSING,      "a needed value is not given")             \
    X(FULCRUM_ERR_UNSUPPORTED,  "not available on this machine or build")  \
    X(FULCRUM_ERR_INFEASIBLE,   "the design cannot run")                   \
    X(FULCRUM_ERR_NO_FIT,       "the fit did not converge")                \
    X(FULCRUM_ERR_INTERRUPTED,  "interrupted")                             \
    X(FULCRUM_ERR_NUMERIC,      "lost in rounding")                        \
    X(FULCRUM_ERR_ENVIRONMENT,  "the environment failed")
/* clang-format on */

enum fulcrum_status {
#define X(code, text) code,
    FULCRUM_STATUS_LIST(X)
#undef X
};

/*
 * Filled on failure only; pass NULL where no detail is wanted. `detail` names the
 * thing, the value and what was expected; several faults of one file are separated
 * by newlines, and there is no newline at the end.
 */
struct fulcrum_error {
    enum fulcrum_status status;
    char detail[2000];
};

/* Nothing has failed. The detail is long: setting all of it takes a good part of the
 * time of checking a design. */
static inline void fulcrum_error_clear(struct fulcrum_error *err)
{
    err->status = FULCRUM_OK;
    err->detail[0] = '\0';
}

/* Of an array of names that number `i`; NULL beyond the last one. */
#define FULCRUM_NAMED(names, i)                                                        \
    ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : NULL)

/* FULCRUM_NOT_INLINE: functions whose loops are slower inside those of their callers.
 */
#if defined(__GNUC__)
#define FULCRUM_MUST_CHECK         __attribute__((warn_unused_result))
#define FULCRUM_PRINTF(text, args) __attribute__((format(printf, text, args)))
#define FULCRUM_NOT_INLINE         __attribute__((noinline))
#else
#define FULCRUM_MUST_CHECK
#define FULCRUM_PRINTF(text, args)
#define FULCRUM_NOT_INLINE
#endif

/* Stores `status` and the formatted text in `err`, if given, and returns `status`. */
enum fulcrum_status fulcrum_fail(struct fulcrum_error *err, enum fulcrum_status status,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/*
 * As fulcrum_fail, but keeps what `err` already holds and adds a line to it. A line
 * that no longer fits is dropped whole; the first status stays.
 */
enum fulcrum_status fulcrum_fail_more(struct fulcrum_error *err,
    enum fulcrum_status status, const char *format, ...) FULCRUM_PRINTF(3, 4);

/* Puts "context: " before the detail of a failure that passes through. */
enum fulcrum_status fulcrum_fail_in(
    struct fulcrum_error *err, enum fulcrum_status status, const char *context);

/* What a number, a member of some struct, may be. */
enum fulcrum_range_kind {
    FULCRUM_RANGE_REAL,
    FULCRUM_RANGE_WHOLE,
    FULCRUM_RANGE_POSITIVE, /* real, and the lower end itself is excluded */
    FULCRUM_RANGE_OR_ZERO   /* real, or 0 */
};

struct fulcrum_range {
    const char *name;
    size_t offset; /* of the double */
    double low;
    double high;
    enum fulcrum_range_kind kind;
};

/* Adds a fault, which names `where` and the range, unless `value` is inside. */
void fulcrum_check_range(struct fulcrum_error *faults, const char *where,
    const struct fulcrum_range *range, double value);

/* The same for `count` members of an object. */
void fulcrum_check_ranges(struct fulcrum_error *faults, const char *where,
    const void *object, const struct fulcrum_range *ranges, size_t count);

/* Borrowed, static. */
const char *fulcrum_status_text(enum fulcrum_status status);

#endif
