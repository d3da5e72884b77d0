/* record.h - objects whose members are rows of a table: read, written and described. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_IO_RECORD_H
#define FULCRUM_PRESETS_IO_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/io/json.h"
#include "presets/io/reader.h"

/* What a member of the file is, and the member of the struct that it fills. */
enum fulcrum_record_kind {
    FULCRUM_RECORD_NUMBER,   /* double */
    FULCRUM_RECORD_WHOLE,    /* double; that it is whole is checked by the model */
    FULCRUM_RECORD_MEASURED, /* double; null or left out: NAN */
    FULCRUM_RECORD_COUNT,    /* size_t: 0 to 1e9 */
    FULCRUM_RECORD_TEXT,     /* char[size] */
    FULCRUM_RECORD_FLAG,     /* bool */
    FULCRUM_RECORD_CHOICE,   /* an enum: a name of `names` */
    FULCRUM_RECORD_PAIR,     /* double[2], each may be null */
    FULCRUM_RECORD_NUMBERS   /* double *, size_t count at `size`: its owner reads it */
};

/* Names by index; NULL beyond the last one. */
typedef const char *fulcrum_record_names(int index);

struct fulcrum_record_row {
    const char *key;
    enum fulcrum_record_kind kind;
    bool is_optional;
    size_t offset;    /* in the struct */
    size_t size;      /* of a text, in bytes */
    double otherwise; /* numbers that are optional: where they are left out */
    double neutral;   /* numbers after a fault: a value that makes no second one */
    double least;     /* numbers, for the JSON Schema; -INFINITY: none is told */
    fulcrum_record_names *names;
};

/* Rows of the member `member` of a struct. */
#define FULCRUM_RECORD_ROW(type, member, kind_, ...)                                   \
    {                                                                                  \
        .key = #member, .kind = FULCRUM_RECORD_##kind_,                                \
        .offset = offsetof(struct type, member), __VA_ARGS__                           \
    }
#define FULCRUM_RECORD_ROW_TEXT(type, member)                                          \
    FULCRUM_RECORD_ROW(                                                                \
        type, member, TEXT, .size = sizeof(((struct type *)NULL)->member))

enum { FULCRUM_RECORD_KEYS_MOST = 16 };

/* An object: its rows, and the keys of what else it may hold. */
struct fulcrum_record {
    const struct fulcrum_record_row *rows;
    size_t count;
    const char *const *others; /* NULL-terminated; NULL: none */
    size_t size_byte;          /* of the struct */
};

#define FULCRUM_RECORD(type, rows, others)                                             \
    {                                                                                  \
        (rows), sizeof(rows) / sizeof((rows)[0]), (others), sizeof(struct type)        \
    }

/* Fills the member of one row, or adds a fault. */
void fulcrum_record_read_row(const struct fulcrum_node *object,
    const struct fulcrum_record_row *row, void *base);

/*
 * Fills the member of every row of the struct at `base`, with faults for unknown keys,
 * for values of another kind and for missing ones. Returns false where `object` is
 * given and no object; no value is an object without members.
 */
bool fulcrum_record_read(
    const struct fulcrum_node *object, const struct fulcrum_record *record, void *base);

/* Adds the members of the struct to `object`, in the order of the rows. */
void fulcrum_record_write(
    struct json_object *object, const struct fulcrum_record *record, const void *base);

/* The index of the name that stands there, or -1 after a fault. */
int fulcrum_record_choice(const struct fulcrum_node *node, fulcrum_record_names *names);

#endif
