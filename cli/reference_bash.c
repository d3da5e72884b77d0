/* reference_bash.c - completion of commands, options and values for bash. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reference.h"

#include <string.h>

#include "presets/preset.h"

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

static void print_choices(FILE *stream, fulcrum_choice_name *choice)
{
    for (int i = 0; choice(i) != NULL; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? " " : "", choice(i));
    }
}

/* An option named after a kind of preset takes the name of one. */
static int names_preset(const struct fulcrum_option *row)
{
    for (int kind = 0;; kind++) {
        const char *name = fulcrum_preset_kind_name((enum fulcrum_preset_kind)kind);
        if (name == NULL) {
            return 0;
        }
        if (strcmp(name, row->name) == 0) {
            return 1;
        }
    }
}

/* The words that may follow an option; nothing where there is no telling. */
static void print_value_case(FILE *stream, const struct fulcrum_option *row)
{
    int is_preset = names_preset(row);
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
        print_choices(stream, row->choice);
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

static void print_arguments(FILE *stream, const struct fulcrum_argument *argument)
{
    for (; argument != NULL && argument->name != NULL; argument++) {
        if (argument->choice != NULL) {
            (void)fputc(' ', stream);
            print_choices(stream, argument->choice);
        }
    }
}

static void print_command(FILE *stream, const struct fulcrum_command *command)
{
    (void)fprintf(stream, "    %s)\n        case $previous in\n", command->name);
    each_row(stream, command, print_value_case);
    (void)fputs("            *)\n                case $current in\n"
                "                    -*) words='",
        stream);
    each_row(stream, command, print_name);
    (void)fputs("' ;;\n                    *) words='", stream);
    print_arguments(stream, command->arguments);
    (void)fputs("'; files=1 ;;\n                esac ;;\n        esac ;;\n", stream);
}

static void print_commands(FILE *stream)
{
    const struct fulcrum_command *const *command = fulcrum_commands();
    for (; *command != NULL; command++) {
        (void)fprintf(stream, "%s ", (*command)->name);
    }
    (void)fputs("help", stream);
}

void fulcrum_reference_bash(FILE *stream)
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
        print_command(stream, *command);
    }
    (void)fputs("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                "    if ((files)); then\n"
                "        COMPREPLY+=($(compgen -f -- \"$current\"))\n    fi\n}\n"
                "complete -o filenames -F _fulcrum fulcrum\n",
        stream);
}
