/* command.c - the table of subcommands. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

#include "model/string.h"

const struct fulcrum_command *const *fulcrum_commands(void)
{
    static const struct fulcrum_command *const commands[] = {
        &fulcrum_command_calibrate,
        &fulcrum_command_measure,
        &fulcrum_command_fit,
        &fulcrum_command_predict,
        &fulcrum_command_explore,
        &fulcrum_command_recommend,
        &fulcrum_command_cluster,
        &fulcrum_command_memory,
        &fulcrum_command_node,
        &fulcrum_command_sensitivity,
        &fulcrum_command_partition,
        &fulcrum_command_validate,
        &fulcrum_command_solve,
        &fulcrum_command_plot,
        &fulcrum_command_report,
        &fulcrum_command_list,
        &fulcrum_command_show,
        &fulcrum_command_schema,
        NULL,
    };
    return commands;
}

const struct fulcrum_command *fulcrum_command_find(
    const struct fulcrum_command *const *commands, const char *name)
{
    while (*commands != NULL && strcmp((*commands)->name, name) != 0) {
        commands++;
    }
    return *commands;
}

void fulcrum_command_hint(const struct fulcrum_command *const *commands,
    const char *name, char *out, size_t size)
{
    enum { MOST = 64 };
    const char *known[MOST];
    size_t count = 0;
    for (; *commands != NULL && count < MOST; commands++) {
        known[count++] = (*commands)->name;
    }
    const struct fulcrum_names names = {known, count, sizeof known[0]};
    fulcrum_names_hint(&names, name, out, size);
}

enum fulcrum_status fulcrum_context_show(const struct fulcrum_context *context,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_result_check(result, err);
    if (status == FULCRUM_OK && context->keeps != NULL) {
        *context->keeps = result;
        return FULCRUM_OK;
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_result_write(
            result, context->format, &context->layout, context->out, err);
    }
    fulcrum_result_free(result);
    return status;
}

enum fulcrum_status fulcrum_usage_fail(struct fulcrum_context *context,
    struct fulcrum_error *err, enum fulcrum_status status, const char *format, ...)
{
    context->exit_code = 2;
    if (err == NULL) {
        return status;
    }
    va_list args;
    va_start(args, format);
    err->status = status;
    (void)vsnprintf(err->detail, sizeof err->detail, format, args);
    va_end(args);
    return status;
}

enum fulcrum_status fulcrum_name_check(const char *name, const char *kind,
    fulcrum_choice_name *names, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const char *items[FULCRUM_CHOICES_MOST];
    const struct fulcrum_names known = {
        items, fulcrum_choice_names(names, items), sizeof items[0]};
    for (size_t i = 0; i < known.count; i++) {
        if (name == NULL || strcmp(items[i], name) == 0) {
            return FULCRUM_OK;
        }
    }
    char hint[400];
    fulcrum_names_hint(&known, name, hint, sizeof hint);
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "--%s: unknown %s '%s'%s", kind, kind, name, hint);
}

/*
 * The first row gets the command's own fallback; it and the second are left out where
 * results have one form only.
 */
static const struct fulcrum_option common_rows[FULCRUM_COMMON_OPTION_COUNT + 1] = {
    FULCRUM_OPTION(CHOICE, "format", offsetof(struct fulcrum_common_settings, format),
        "FORMAT", .choice = fulcrum_format_name, .help = "form of the results"),
    FULCRUM_OPTION(FLAG, "all", offsetof(struct fulcrum_common_settings, all), NULL,
        .help = "show every quantity and column in tables"),
    FULCRUM_OPTION(FILE, "output",
        offsetof(struct fulcrum_common_settings, output_path), "FILE", .letter = 'o',
        .help = "write to FILE, whole or not at all, instead of standard output"),
    FULCRUM_OPTION(FLAG, "quiet", offsetof(struct fulcrum_common_settings, quiet), NULL,
        .letter = 'q', .help = "no progress and no notes"),
    FULCRUM_OPTION(HELP, "help", offsetof(struct fulcrum_common_settings, help), NULL,
        .letter = 'h', .help = "print this text"),
    {.name = NULL},
};

void fulcrum_command_syntax_init(
    const struct fulcrum_command *command, struct fulcrum_command_syntax *out)
{
    const size_t unit = alignof(max_align_t);
    memset(out, 0, sizeof *out);
    out->common_offset = (command->settings_size + unit - 1) / unit * unit;
    out->size = out->common_offset + sizeof(struct fulcrum_common_settings);
    size_t count = 0;
    const struct fulcrum_option_group *group = command->groups;
    for (; group != NULL && group->rows != NULL; group++) {
        assert(count < FULCRUM_COMMAND_GROUP_MAX);
        out->groups[count++] = *group;
    }
    out->groups[count].title = "Common options";
    bool has_format = command->output == FULCRUM_OUTPUT_REPORT ||
                      command->output == FULCRUM_OUTPUT_FILE_REPORT;
    memcpy(out->common, common_rows, sizeof common_rows);
    out->common[0].fallback = fulcrum_format_name((int)command->format);
    out->groups[count].rows = has_format ? out->common : out->common + 2;
    out->groups[count].offset = out->common_offset;
    out->syntax.groups = out->groups;
    out->syntax.arguments = command->arguments;
}
