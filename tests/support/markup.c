/* markup.c - a reader of HTML that is strict enough to find faults in ours. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/markup.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 64,
    NAME_SIZE = 24,
    VALUE_SIZE = 400,
    ATTRIBUTES_MOST = 16,
    IDS_MOST = 200
};

struct attribute {
    char name[NAME_SIZE];
    char value[VALUE_SIZE];
};

struct tag {
    char name[NAME_SIZE];
    bool is_end;
    bool is_empty; /* "/>" */
    size_t count;
    struct attribute attributes[ATTRIBUTES_MOST];
};

struct reading {
    const char *at;
    size_t depth;
    char open[DEPTH_MOST][NAME_SIZE];
    size_t id_count;
    char ids[IDS_MOST][VALUE_SIZE];
    size_t link_count;
    char links[IDS_MOST][VALUE_SIZE];
    int heading;      /* level of the last one */
    bool has_caption; /* of the table under way */
    size_t columns;   /* of its head */
    size_t cells;     /* of the row under way */
    char *fault;
};

static int refuse(struct reading *reading, const char *format, ...)
{
    if (reading->fault[0] == '\0') {
        char what[200];
        va_list args;
        va_start(args, format);
        (void)vsnprintf(what, sizeof what, format, args);
        va_end(args);
        (void)snprintf(
            reading->fault, MARKUP_FAULT_SIZE, "%s, before '%.60s'", what, reading->at);
    }
    return 0;
}

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0 ||
           strcmp(name, "br") == 0 || strcmp(name, "hr") == 0;
}

/* Letters, digits and '-' up to anything else. */
static int take_name(struct reading *reading, char *out)
{
    size_t length = 0;
    while (isalnum((unsigned char)reading->at[length]) || reading->at[length] == '-') {
        length++;
    }
    if (length == 0 || length >= NAME_SIZE) {
        return refuse(reading, "no name");
    }
    (void)snprintf(out, NAME_SIZE, "%.*s", (int)length, reading->at);
    reading->at += length;
    return 1;
}

/* name="value"; a name alone is refused, as ours all have values. */
static int take_attribute(struct reading *reading, struct tag *tag)
{
    if (tag->count == ATTRIBUTES_MOST) {
        return refuse(reading, "more attributes than expected");
    }
    struct attribute *attribute = &tag->attributes[tag->count];
    if (!take_name(reading, attribute->name)) {
        return 0;
    }
    if (strncmp(reading->at, "=\"", 2) != 0) {
        return refuse(reading, "attribute %s without a quoted value", attribute->name);
    }
    reading->at += 2;
    size_t length = strcspn(reading->at, "\"<");
    if (reading->at[length] != '"') {
        return refuse(reading, "attribute %s does not end", attribute->name);
    }
    (void)snprintf(attribute->value, VALUE_SIZE, "%.*s",
        length < VALUE_SIZE ? (int)length : VALUE_SIZE - 1, reading->at);
    reading->at += length + 1;
    for (size_t i = 0; i < tag->count; i++) {
        if (strcmp(tag->attributes[i].name, attribute->name) == 0) {
            return refuse(reading, "attribute %s is given twice", attribute->name);
        }
    }
    tag->count++;
    return 1;
}

/* After "<". */
static int take_tag(struct reading *reading, struct tag *tag)
{
    tag->count = 0;
    tag->is_end = *reading->at == '/';
    reading->at += tag->is_end;
    if (!take_name(reading, tag->name)) {
        return 0;
    }
    while (isspace((unsigned char)*reading->at)) {
        reading->at++;
        if (isalpha((unsigned char)*reading->at) && !take_attribute(reading, tag)) {
            return 0;
        }
    }
    tag->is_empty = *reading->at == '/';
    reading->at += tag->is_empty;
    if (*reading->at != '>') {
        return refuse(reading, "tag %s does not end", tag->name);
    }
    reading->at++;
    return 1;
}

static const char *value_of(const struct tag *tag, const char *name)
{
    for (size_t i = 0; i < tag->count; i++) {
        if (strcmp(tag->attributes[i].name, name) == 0) {
            return tag->attributes[i].value;
        }
    }
    return NULL;
}

static int keep_id(struct reading *reading, const char *id)
{
    for (size_t i = 0; i < reading->id_count; i++) {
        if (strcmp(reading->ids[i], id) == 0) {
            return refuse(reading, "id %s is given twice", id);
        }
    }
    if (reading->id_count == IDS_MOST) {
        return refuse(reading, "more ids than expected");
    }
    (void)snprintf(reading->ids[reading->id_count++], VALUE_SIZE, "%s", id);
    return 1;
}

/* Within the page, or data that come along. */
static int check_link(struct reading *reading, const char *name, const char *value)
{
    if (strcmp(name, "src") != 0 && strcmp(name, "href") != 0) {
        return 1;
    }
    if (value[0] == '#' && reading->link_count < IDS_MOST) {
        (void)snprintf(
            reading->links[reading->link_count++], VALUE_SIZE, "%s", value + 1);
        return 1;
    }
    return strncmp(value, "data:", 5) == 0
               ? 1
               : refuse(reading, "%s leads out of the file: %s", name, value);
}

static int check_heading(struct reading *reading, const char *name)
{
    if (name[0] != 'h' || name[1] < '1' || name[1] > '6' || name[2] != '\0') {
        return 1;
    }
    int level = name[1] - '0';
    if (level > reading->heading + 1) {
        return refuse(reading, "heading %s after level %d", name, reading->heading);
    }
    reading->heading = level;
    return 1;
}

/* Rows have as many cells as the head. */
static int check_table(struct reading *reading, const struct tag *tag)
{
    const char *name = tag->name;
    bool is_cell = strcmp(name, "td") == 0 || strcmp(name, "th") == 0;
    reading->cells += is_cell && !tag->is_end ? 1 : 0;
    reading->has_caption |= strcmp(name, "caption") == 0;
    if (strcmp(name, "table") == 0 && !tag->is_end) {
        reading->has_caption = 0;
        reading->columns = 0;
    }
    if (strcmp(name, "table") == 0 && tag->is_end && !reading->has_caption) {
        return refuse(reading, "table without a caption");
    }
    if (strcmp(name, "th") == 0 && !tag->is_end && value_of(tag, "scope") == NULL) {
        return refuse(reading, "th without a scope");
    }
    if (strcmp(name, "tr") != 0) {
        return 1;
    }
    size_t cells = reading->cells;
    reading->cells = 0;
    if (!tag->is_end) {
        return 1;
    }
    reading->columns = reading->columns > 0 ? reading->columns : cells;
    return cells == reading->columns
               ? 1
               : refuse(reading, "row of %zu cells below %zu", cells, reading->columns);
}

static int check_attributes(struct reading *reading, const struct tag *tag)
{
    const char *id = value_of(tag, "id");
    if (id != NULL && !keep_id(reading, id)) {
        return 0;
    }
    for (size_t i = 0; i < tag->count; i++) {
        const struct attribute *attribute = &tag->attributes[i];
        if (!check_link(reading, attribute->name, attribute->value)) {
            return 0;
        }
    }
    if (strcmp(tag->name, "svg") == 0 && value_of(tag, "aria-label") == NULL) {
        return refuse(reading, "picture without a label");
    }
    return 1;
}

static int close_tag(struct reading *reading, const struct tag *tag)
{
    if (reading->depth == 0 ||
        strcmp(reading->open[reading->depth - 1], tag->name) != 0) {
        return refuse(reading, "</%s> closes <%s>", tag->name,
            reading->depth > 0 ? reading->open[reading->depth - 1] : "nothing");
    }
    reading->depth--;
    return 1;
}

static int open_tag(struct reading *reading, const struct tag *tag)
{
    if (!check_attributes(reading, tag) || !check_heading(reading, tag->name)) {
        return 0;
    }
    if (is_void(tag->name) || tag->is_empty) {
        return 1;
    }
    if (reading->depth == DEPTH_MOST) {
        return refuse(reading, "deeper than expected");
    }
    (void)snprintf(reading->open[reading->depth++], NAME_SIZE, "%s", tag->name);
    /* A style sheet has no markup. */
    if (strcmp(tag->name, "style") == 0) {
        const char *end = strstr(reading->at, "</style>");
        if (end == NULL || memchr(reading->at, '<', (size_t)(end - reading->at))) {
            return refuse(reading, "style does not end");
        }
        reading->at = end;
    }
    return 1;
}

static int take_entity(struct reading *reading)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (strncmp(reading->at, entities[i], strlen(entities[i])) == 0) {
            reading->at += strlen(entities[i]);
            return 1;
        }
    }
    return refuse(reading, "an & that stands for itself");
}

static int take_piece(struct reading *reading)
{
    struct tag tag = {.name = ""};
    if (*reading->at == '&') {
        return take_entity(reading);
    }
    if (*reading->at != '<') {
        reading->at++;
        return 1;
    }
    reading->at++;
    if (!take_tag(reading, &tag) || !check_table(reading, &tag)) {
        return 0;
    }
    return tag.is_end ? close_tag(reading, &tag) : open_tag(reading, &tag);
}

static int check_links(struct reading *reading)
{
    for (size_t i = 0; i < reading->link_count; i++) {
        size_t k = 0;
        while (
            k < reading->id_count && strcmp(reading->ids[k], reading->links[i]) != 0) {
            k++;
        }
        if (k == reading->id_count) {
            return refuse(reading, "#%s leads nowhere", reading->links[i]);
        }
    }
    return 1;
}

static int read_document(struct reading *reading)
{
    static const char head[] = "<!DOCTYPE html>\n";
    if (strncmp(reading->at, head, sizeof head - 1) != 0) {
        return refuse(reading, "no document type");
    }
    reading->at += sizeof head - 1;
    while (*reading->at != '\0') {
        if (!take_piece(reading)) {
            return 0;
        }
    }
    if (reading->depth > 0) {
        return refuse(
            reading, "<%s> is never closed", reading->open[reading->depth - 1]);
    }
    return check_links(reading);
}

int markup_is_sound(const char *document, char fault[MARKUP_FAULT_SIZE])
{
    struct reading *reading = calloc(1, sizeof *reading);
    fault[0] = '\0';
    if (reading == NULL) {
        (void)snprintf(fault, MARKUP_FAULT_SIZE, "out of memory");
        return 0;
    }
    reading->at = document;
    reading->fault = fault;
    bool is_sound = read_document(reading);
    free(reading);
    return is_sound;
}

size_t markup_count(const char *document, const char *piece)
{
    size_t count = 0;
    const char *at = strstr(document, piece);
    while (at != NULL) {
        count++;
        at = strstr(at + 1, piece);
    }
    return count;
}
