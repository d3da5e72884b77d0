/* manual.c - writes the manual page, the completion and the tables for docs/. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "model/design/design.h"
#include "presets/io/output.h"

typedef void row_visitor(FILE *stream, const struct fulcrum_option *row);

static void each_row(
    FILE *stream, const struct fulcrum_command *command, row_visitor *visit)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    const struct fulcrum_option_group *group = syntax.groups;
    for (; group->rows != NULL; group++) {
        for (const struct fulcrum_option *row = group->rows; row->name != NULL; row++) {
            visit(stream, row);
        }
    }
}

static void print_choices(
    FILE *stream, fulcrum_choice_name *choice, const char *between)
{
    for (int i = 0; choice(i) != NULL; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? between : "", choice(i));
    }
}

/* The words that may follow an option; nothing where there is no telling. */
static void print_value_case(FILE *stream, const struct fulcrum_option *row)
{
    /* An option named after a kind of preset takes the name of one. */
    bool is_preset = false;
    for (int kind = 0; fulcrum_preset_kind_name(kind) != NULL; kind++) {
        is_preset = is_preset || strcmp(fulcrum_preset_kind_name(kind), row->name) == 0;
    }
    if (row->kind != FULCRUM_OPTION_FILE && row->choice == NULL && !is_preset) {
        return;
    }
    (void)fprintf(stream, "            --%s", row->name);
    if (row->letter != '\0') {
        (void)fprintf(stream, "|-%c", row->letter);
    }
    (void)fputs(") ", stream);
    if (is_preset) {
        (void)fprintf(stream, "words=$(_fulcrum_presets %ss); files=1", row->name);
    } else if (row->choice != NULL) {
        (void)fputs("words='", stream);
        print_choices(stream, row->choice, " ");
        (void)fputc('\'', stream);
    } else {
        (void)fputs("files=1", stream);
    }
    (void)fputs(" ;;\n", stream);
}

static void print_name(FILE *stream, const struct fulcrum_option *row)
{
    (void)fprintf(stream, " --%s", row->name);
}

static void print_commands(FILE *stream)
{
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        (void)fprintf(stream, "%s ", (*command)->name);
    }
    (void)fputs("help", stream);
}

/* Completion for bash. */
static void reference_bash(FILE *stream)
{
    (void)fputs(
        "# bash completion for fulcrum; generated from its tables\n"
        "_fulcrum_presets()\n{\n"
        "    fulcrum list \"$1\" --format csv 2>/dev/null | tail -n +2 | cut -d, -f2\n"
        "}\n\n_fulcrum()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} words='' files=0\n"
        "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    # The shell takes the '=' of --name=value for a word.\n"
        "    if [[ $current == '=' ]]; then\n        current=''\n"
        "    elif [[ $previous == '=' ]]; then\n"
        "        previous=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
        "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '",
        stream);
    print_commands(stream);
    (void)fputs(" --help --version' -- \"$current\"))\n        return\n    fi\n"
                "    case ${COMP_WORDS[1]} in\n    help) words='",
        stream);
    print_commands(stream);
    (void)fputs("' ;;\n", stream);
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        const struct fulcrum_command *each = *command;
        (void)fprintf(stream, "    %s)\n        case $previous in\n", each->name);
        each_row(stream, each, print_value_case);
        (void)fputs("            *)\n                case $current in\n"
                    "                    -*) words='",
            stream);
        each_row(stream, each, print_name);
        (void)fputs("' ;;\n                    *) words='", stream);
        const struct fulcrum_argument *argument = each->arguments;
        for (; argument != NULL && argument->name != NULL; argument++) {
            if (argument->choice != NULL) {
                (void)fputc(' ', stream);
                print_choices(stream, argument->choice, " ");
            }
        }
        (void)fputs(
            "'; files=1 ;;\n                esac ;;\n        esac ;;\n", stream);
    }
    (void)fputs("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                "    if ((files)); then\n"
                "        COMPREPLY+=($(compgen -f -- \"$current\"))\n    fi\n}\n"
                "complete -o filenames -F _fulcrum fulcrum\n",
        stream);
}

/* A line of text that roff must not take for a request. */
static void print_text(FILE *stream, const char *text)
{
    bool is_line_start = 1;
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

static void reference_man_print_option(FILE *stream, const struct fulcrum_option *row)
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

/* fulcrum.1 in roff. */
static void reference_man(FILE *stream)
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
        "a whole machine, real or hypothetical, would do: speed, utilisation, watts, "
        "performance per watt, and which part holds it back.\n.PP\nResults go to "
        "standard output, messages and progress to standard error. Numbers are written "
        "with a point, whatever the locale. A preset is named or given as the path of "
        "a JSON file.\n.SH COMMANDS\n",
        stream);
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        const struct fulcrum_command *each = *command;
        (void)fputs(".SS ", stream);
        fulcrum_usage_print_synopsis(stream, each);
        (void)fputc('\n', stream);
        const char *text = each->description;
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
        const struct fulcrum_argument *argument = each->arguments;
        for (; argument != NULL && argument->name != NULL; argument++) {
            (void)fprintf(stream, ".TP\n\\fI%s\\fR\n", argument->name);
            print_text(stream, argument->help);
            (void)fputc('\n', stream);
        }
        each_row(stream, each, reference_man_print_option);
        const struct fulcrum_example *example = each->examples;
        for (; example != NULL && example->line != NULL; example++) {
            (void)fputs(".PP\n", stream);
            print_text(stream, example->what);
            (void)fputs(":\n.PP\n.nf\n.RS\n", stream);
            print_text(stream, example->line);
            (void)fputs("\n.RE\n.fi\n", stream);
        }
    }
    (void)fputs(
        ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe work or the content failed\n"
        ".TP\n2\nwrong command line\n.TP\n130\ninterrupted\n"
        ".SH ENVIRONMENT\n.TP\nFULCRUM_PRESETS\na folder that is searched for "
        "presets before the installed one; it has the folders machines, "
        "workloads, calibrations and references\n",
        stream);
}

/* A bar would end the cell of a table. */
static void print_cell(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {
        {'|', "\\|"}, {'\n', "\n"}, {'\0', NULL}};
    fulcrum_print_escaped(stream, text, escapes, "?");
}

static void print_option(FILE *stream, const struct fulcrum_option *row)
{
    char remarks[500];
    (void)fputs("| `", stream);
    if (row->letter != '\0') {
        (void)fprintf(stream, "-%c`, `", row->letter);
    }
    (void)fprintf(stream, "--%s%s%s` | ", row->name, row->value != NULL ? "=" : "",
        row->value != NULL ? row->value : "");
    fulcrum_usage_remarks(row, remarks, sizeof remarks);
    print_cell(stream, row->help);
    (void)fputs(remarks[0] != '\0' ? " " : "", stream);
    print_cell(stream, remarks);
    (void)fputs(" |\n", stream);
}

/* docs/cli.md: every command with its options. */
static void reference_cli(FILE *stream)
{
    (void)fputs(
        "# The commands\n\n<!-- Generated by fulcrum-docgen from the tables in cli/. "
        "-->\n"
        "\nResults go to standard output, messages and progress to standard error. "
        "Exit status:\n0 done, 1 the work or the content failed, 2 wrong command line, "
        "130 interrupted.\n\n| command | does |\n|---|---|\n",
        stream);
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        (void)fprintf(stream, "| [%s](#fulcrum-%s) | %s |\n", (*command)->name,
            (*command)->name, (*command)->summary);
    }
    for (command = fulcrum_commands(); *command != NULL; command++) {
        const struct fulcrum_command *each = *command;
        (void)fprintf(stream, "\n## fulcrum %s\n\n    ", each->name);
        fulcrum_usage_print_synopsis(stream, each);
        (void)fprintf(
            stream, "\n\n%s\n\n| option | meaning |\n|---|---|\n", each->description);
        const struct fulcrum_argument *argument = each->arguments;
        for (; argument != NULL && argument->name != NULL; argument++) {
            (void)fprintf(stream, "| %s | ", argument->name);
            print_cell(stream, argument->help);
            (void)fputs(" |\n", stream);
        }
        each_row(stream, each, print_option);
        const struct fulcrum_example *example = each->examples;
        for (; example != NULL && example->line != NULL; example++) {
            (void)fprintf(stream, "\n    %s\n\n%s.\n", example->line, example->what);
        }
    }
}

static void print_fields(FILE *stream, const char *prefix, const char *heading)
{
    (void)fprintf(stream,
        "\n## %s\n\n| field | unit | range | when not given | meaning |\n"
        "|---|---|---|---|---|\n",
        heading);
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (const struct fulcrum_field *field = fields; field < fields + count; field++) {
        if (strncmp(field->path, prefix, strlen(prefix)) == 0) {
            (void)fprintf(stream, "| `%s` | %s | ", field->path, field->unit);
            if (field->kind == FULCRUM_FIELD_TEXT) {
                (void)fputs("text | | ", stream);
            } else if (field->kind == FULCRUM_FIELD_CHOICE) {
                print_choices(stream, field->choice, ", ");
                (void)fprintf(stream, " | %s | ", field->choice((int)field->fallback));
            } else {
                (void)fprintf(stream, "%g to %g%s | ", field->least, field->most,
                    field->kind == FULCRUM_FIELD_COUNT ? ", whole" : "");
                (void)fprintf(
                    stream, isnan(field->fallback) ? "| " : "%g | ", field->fallback);
            }
            print_cell(stream, field->meaning);
            (void)fputs(" |\n", stream);
        }
    }
}

/* docs/fields.md: every field of machines, workloads and runs. */
static void reference_fields(FILE *stream)
{
    (void)fputs(
        "# Fields of machines, workloads and runs\n\n"
        "<!-- Generated by fulcrum-docgen from the tables in model/. -->\n\n"
        "A field's path is its place in the JSON file, and its name for `--set` "
        "and `--vary`.\n",
        stream);
    print_fields(stream, "machine.", "Machine");
    print_fields(stream, "workload.", "Workload");
    print_fields(stream, "run.", "Run");
}

/* A program of the build that prints the reference documents. */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(FILE *stream);
    } documents[] = {
        {"man", reference_man},
        {"bash", reference_bash},
        {"cli", reference_cli},
        {"fields", reference_fields},
    };
    const char *wanted = argc == 2 ? argv[1] : "";
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        if (strcmp(documents[i].name, wanted) == 0) {
            documents[i].print(stdout);
            return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
        }
    }
    (void)fputs("usage: fulcrum-docgen man|bash|cli|fields\n", stderr);
    return 2;
}
