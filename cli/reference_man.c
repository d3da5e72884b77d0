/* reference_man.c - the manual page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reference.h"
#include "cli/usage.h"

/* A line of text that roff must not take for a request. */
static void print_text(FILE *stream, const char *text)
{
    int is_line_start = 1;
    for (; *text != '\0'; text++) {
        if (is_line_start && (*text == '.' || *text == '\'')) {
            (void)fputs("\\&", stream);
        }
        if (*text == '\\') {
            (void)fputs("\\e", stream);
        } else if (*text == '-') {
            (void)fputs("\\-", stream);
        } else {
            (void)fputc(*text, stream);
        }
        is_line_start = *text == '\n';
    }
}

static void print_paragraphs(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (text[0] == '\n' && text[1] == '\n') {
            (void)fputs("\n.PP\n", stream);
            text++;
        } else {
            const char piece[2] = {*text, '\0'};
            print_text(stream, piece);
        }
    }
    (void)fputc('\n', stream);
}

static void print_option(FILE *stream, const struct fulcrum_option *row)
{
    char remarks[500];
    (void)fputs(".TP\n", stream);
    if (row->letter != '\0') {
        (void)fprintf(stream, "\\fB\\-%c\\fR, ", row->letter);
    }
    (void)fputs("\\fB\\-\\-", stream);
    print_text(stream, row->name);
    (void)fputs("\\fR", stream);
    if (row->value != NULL) {
        (void)fprintf(stream, "=\\fI%s\\fR", row->value);
    }
    (void)fputc('\n', stream);
    fulcrum_usage_remarks(row, remarks, sizeof remarks);
    print_text(stream, row->help);
    (void)fputc(' ', stream);
    print_text(stream, remarks);
    (void)fputc('\n', stream);
}

static void print_options(FILE *stream, const struct fulcrum_command *command)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    const struct fulcrum_option_group *group = syntax.groups;
    for (; group->rows != NULL; group++) {
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            print_option(stream, row);
        }
    }
}

static void print_arguments(FILE *stream, const struct fulcrum_argument *argument)
{
    for (; argument != NULL && argument->name != NULL; argument++) {
        (void)fprintf(stream, ".TP\n\\fI%s\\fR\n", argument->name);
        print_text(stream, argument->help);
        (void)fputc('\n', stream);
    }
}

static void print_examples(FILE *stream, const struct fulcrum_example *example)
{
    for (; example != NULL && example->line != NULL; example++) {
        (void)fputs(".PP\n", stream);
        print_text(stream, example->what);
        (void)fputs(":\n.PP\n.nf\n.RS\n", stream);
        print_text(stream, example->line);
        (void)fputs("\n.RE\n.fi\n", stream);
    }
}

static void print_command(FILE *stream, const struct fulcrum_command *command)
{
    (void)fputs(".SS ", stream);
    fulcrum_usage_print_synopsis(stream, command);
    (void)fputc('\n', stream);
    print_paragraphs(stream, command->description);
    print_arguments(stream, command->arguments);
    print_options(stream, command);
    print_examples(stream, command->examples);
}

void fulcrum_reference_man(FILE *stream)
{
    (void)fprintf(stream, ".TH FULCRUM 1 \"\" \"fulcrum %s\" \"User Commands\"\n",
        FULCRUM_VERSION);
    (void)fputs(
        ".SH NAME\nfulcrum \\- finds the balance of CPU threads and GPUs for machines "
        "that train with reinforcement learning\n"
        ".SH SYNOPSIS\n\\fBfulcrum\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
        "[\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\nFulcrum measures small real pieces of a training job on the "
        "machine at hand, fits throughput and power curves to them, and predicts what "
        "a "
        "whole machine, real or hypothetical, would do: speed, utilisation, watts, "
        "performance per watt, and which part holds it back.\n.PP\nResults go to "
        "standard output, messages and progress to standard error. Numbers are written "
        "with a point, whatever the locale. A preset is named or given as the path of "
        "a "
        "JSON file.\n.SH COMMANDS\n",
        stream);
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        print_command(stream, *command);
    }
    (void)fputs(
        ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe work or the content failed\n"
        ".TP\n2\nwrong command line\n.TP\n130\ninterrupted\n"
        ".SH ENVIRONMENT\n.TP\nFULCRUM_PRESETS\na folder that is searched for "
        "presets before the installed one; it has the folders machines, "
        "workloads, calibrations and references\n",
        stream);
}
