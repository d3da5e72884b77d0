/* usage.c - help texts, made from the tables of commands and options. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/usage.h"

#include <string.h>

enum { LINE_WIDTH = 79, HELP_COLUMN = 30 };

/* Writes one line's worth of `text`, and returns what is left of it. */
static const char *print_line(FILE *stream, const char *text, size_t room)
{
    size_t length = 0;
    size_t end = 0;
    while (text[length] != '\0' && text[length] != '\n' && length <= room) {
        if (text[length] == ' ') {
            end = length;
        }
        length++;
    }
    if (length <= room || end == 0) {
        end = length;
    }
    (void)fprintf(stream, "%.*s\n", (int)end, text);
    text += end;
    return *text == ' ' || *text == '\n' ? text + 1 : text;
}

/* As fulcrum_usage_print_wrapped, where the first line stands at `column` already. */
static void print_from(FILE *stream, int column, int indent, const char *text)
{
    size_t room = (size_t)(LINE_WIDTH - indent);
    (void)fprintf(stream, "%*s", column < indent ? indent - column : 0, "");
    text = print_line(stream, text, room);
    while (*text != '\0') {
        if (*text != '\n') {
            (void)fprintf(stream, "%*s", indent, "");
        }
        text = print_line(stream, text, room);
    }
}

void fulcrum_usage_print_wrapped(FILE *stream, int indent, const char *text)
{
    print_from(stream, 0, indent, text);
}

static void print_entry(FILE *stream, const char *name, const char *help)
{
    int length = fprintf(stream, "  %s", name);
    if (length > HELP_COLUMN - 2) {
        (void)fputc('\n', stream);
        length = 0;
    }
    print_from(stream, length, HELP_COLUMN, help);
}

void fulcrum_usage_print_overview(FILE *stream, const struct fulcrum_program *program)
{
    char advice[400];
    (void)fprintf(
        stream, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n\n", program->name);
    fulcrum_usage_print_wrapped(stream, 0, program->purpose);
    (void)fputs("\nCommands:\n", stream);
    const struct fulcrum_command *const *command = program->commands;
    for (; *command != NULL; command++) {
        (void)fprintf(stream, "  %-12s %s\n", (*command)->name, (*command)->summary);
    }
    (void)fprintf(stream, "  %-12s %s\n\n", "help", "explain a command");
    (void)snprintf(advice, sizeof advice,
        "'%s COMMAND --help' explains a command; '%s --version' prints the version. "
        "Exit status: 0 done, 1 the work or the content failed, 2 wrong command line, "
        "130 interrupted.",
        program->name, program->name);
    fulcrum_usage_print_wrapped(stream, 0, advice);
}

void fulcrum_usage_print_synopsis(FILE *stream, const struct fulcrum_command *command)
{
    (void)fprintf(stream, "%s %s [OPTION]...",
        command->program != NULL ? command->program : FULCRUM_PROGRAM, command->name);
    const struct fulcrum_argument *argument = command->arguments;
    for (; argument != NULL && argument->name != NULL; argument++) {
        static const char *const forms[] = {" %s", " [%s]", " [%s]..."};
        const char *form = forms[argument->kind];
        size_t before = strcspn(form, "%");
        (void)fprintf(stream, "%.*s%s%s", (int)before, form, argument->name,
            form + before + strlen("%s"));
    }
}

struct text {
    char *out;
    size_t size;
    size_t used;
};

static void add(struct text *text, const char *piece)
{
    size_t room = text->size - text->used;
    int length = snprintf(text->out + text->used, room, "%s", piece);
    if (length > 0) {
        text->used += (size_t)length < room ? (size_t)length : room - 1;
    }
}

/* "; " between remarks, the first one in brackets. */
static void begin_remark(struct text *text)
{
    add(text, text->used == 0 ? "(" : "; ");
}

static void add_choices(struct text *text, fulcrum_choice_name *choice)
{
    begin_remark(text);
    for (int i = 0; choice(i) != NULL; i++) {
        add(text, i == 0 ? "" : ", ");
        add(text, choice(i));
    }
}

static void add_range(struct text *text, const struct fulcrum_option *row)
{
    char range[80];
    const char *unit = row->unit != NULL ? row->unit : "";
    int is_limited = row->least != 0.0 || row->most != 0.0;
    if (is_limited) {
        (void)snprintf(range, sizeof range, "%g to %g%s%s", row->least, row->most,
            unit[0] != '\0' ? " " : "", unit);
    } else if (unit[0] != '\0') {
        (void)snprintf(range, sizeof range, "in %s", unit);
    } else {
        return;
    }
    begin_remark(text);
    add(text, range);
}

void fulcrum_usage_remarks(const struct fulcrum_option *row, char *out, size_t size)
{
    struct text text = {out, size, 0};
    out[0] = '\0';
    if (row->kind == FULCRUM_OPTION_CHOICE) {
        add_choices(&text, row->choice);
    }
    if (row->kind == FULCRUM_OPTION_NUMBER || row->kind == FULCRUM_OPTION_COUNT) {
        add_range(&text, row);
    }
    if (row->kind == FULCRUM_OPTION_LIST) {
        begin_remark(&text);
        add(&text, "may be repeated");
    }
    if (row->fallback != NULL) {
        begin_remark(&text);
        add(&text, "default: ");
        add(&text, row->fallback);
    }
    if (text.used > 0) {
        add(&text, ")");
    }
}

static void print_option(FILE *stream, const struct fulcrum_option *row)
{
    char name[100];
    char remarks[500];
    char help[1000];
    char letter[] = "-x, ";
    letter[1] = row->letter;
    (void)snprintf(name, sizeof name, "%s--%s%s%s",
        row->letter != '\0' ? letter : "    ", row->name, row->value != NULL ? "=" : "",
        row->value != NULL ? row->value : "");
    fulcrum_usage_remarks(row, remarks, sizeof remarks);
    (void)snprintf(
        help, sizeof help, "%s%s%s", row->help, remarks[0] != '\0' ? " " : "", remarks);
    print_entry(stream, name, help);
}

static void print_arguments(FILE *stream, const struct fulcrum_argument *argument)
{
    if (argument == NULL) {
        return;
    }
    (void)fputs("\nArguments:\n", stream);
    for (; argument->name != NULL; argument++) {
        print_entry(stream, argument->name, argument->help);
    }
}

static void print_groups(FILE *stream, const struct fulcrum_option_group *group)
{
    for (; group->rows != NULL; group++) {
        (void)fprintf(
            stream, "\n%s:\n", group->title != NULL ? group->title : "Options");
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            print_option(stream, row);
        }
    }
}

/* Long command lines go on after a backslash, as the shell reads them. */
static void print_shell_line(FILE *stream, const char *line)
{
    enum { INDENT = 2, CONTINUED = 6 };
    size_t room = LINE_WIDTH - INDENT;
    (void)fprintf(stream, "%*s", INDENT, "");
    while (strlen(line) > room) {
        size_t end = room - strlen(" \\");
        while (end > 0 && line[end] != ' ') {
            end--;
        }
        if (end == 0) {
            break;
        }
        (void)fprintf(stream, "%.*s \\\n%*s", (int)end, line, CONTINUED, "");
        line += end + 1;
        room = LINE_WIDTH - CONTINUED;
    }
    (void)fprintf(stream, "%s\n", line);
}

static void print_examples(FILE *stream, const struct fulcrum_example *example)
{
    if (example == NULL) {
        return;
    }
    (void)fputs("\nExamples:\n", stream);
    for (; example->line != NULL; example++) {
        print_shell_line(stream, example->line);
        fulcrum_usage_print_wrapped(stream, 6, example->what);
    }
}

void fulcrum_usage_print_command(FILE *stream, const struct fulcrum_command *command)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    (void)fputs("Usage: ", stream);
    fulcrum_usage_print_synopsis(stream, command);
    (void)fputs("\n\n", stream);
    fulcrum_usage_print_wrapped(stream, 0, command->description);
    print_arguments(stream, command->arguments);
    print_groups(stream, syntax.groups);
    print_examples(stream, command->examples);
}
