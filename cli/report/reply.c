/* reply.c - what one command of the program answers to another. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report_section.h"

#include <stdbool.h>
#include <stdlib.h>

#include "model/try.h"
#include "presets/io/document.h"

/* The answer of a command under way. */
struct hearing {
    struct fulcrum_result *result; /* NULL: it printed JSON */
    char *text;
    size_t length;
    char *warnings;
    size_t warnings_length;
    struct fulcrum_error refusal;
    int exit_code;
};

/* Settings that were parsed; `out` is where results go. */
static enum fulcrum_status run_parsed(const struct fulcrum_command *command,
    const char *settings, const struct fulcrum_command_syntax *syntax,
    struct hearing *hearing)
{
    const void *block = settings + syntax->common_offset;
    const struct fulcrum_common_settings *common = block;
    struct fulcrum_context context = {.format = (enum fulcrum_format)common->format,
        .keeps = &hearing->result,
        .quiet = true};
    context.out = open_memstream(&hearing->text, &hearing->length);
    context.warnings = open_memstream(&hearing->warnings, &hearing->warnings_length);
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    if (context.out != NULL && context.warnings != NULL) {
        status = command->run(settings, &context, &hearing->refusal);
    }
    hearing->exit_code = context.exit_code;
    bool is_whole = context.out != NULL && fclose(context.out) == 0;
    is_whole = context.warnings != NULL && fclose(context.warnings) == 0 && is_whole;
    return is_whole ? status : FULCRUM_ERR_NO_MEMORY;
}

static enum fulcrum_status run_words(const struct fulcrum_command *command,
    const struct fulcrum_argv_text *words, struct hearing *hearing)
{
    struct fulcrum_command_syntax syntax;
    fulcrum_command_syntax_init(command, &syntax);
    char *settings = calloc(1, syntax.size);
    if (settings == NULL) {
        return FULCRUM_ERR_NO_MEMORY;
    }
    enum fulcrum_status status = fulcrum_options_parse(
        &syntax.syntax, settings, (int)words->count, words->items, &hearing->refusal);
    if (status == FULCRUM_OK) {
        status = run_parsed(command, settings, &syntax, hearing);
    } else {
        hearing->exit_code = FULCRUM_EXIT_USAGE;
    }
    fulcrum_options_free(&syntax.syntax, settings);
    free(settings);
    return status;
}

/* A sweep writes its rows as they come, and other commands may print too. */
static enum fulcrum_status read_printed(
    const char *command, struct hearing *hearing, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    TRY(fulcrum_document_parse(
        command, hearing->text, hearing->length, &document, err));
    enum fulcrum_status status =
        fulcrum_result_of_document(command, document, &hearing->result, err);
    fulcrum_document_free(document);
    return status;
}

/* What was heard becomes a result, a reason, or a failure of the asking itself. */
static enum fulcrum_status settle(struct fulcrum_reply *reply, struct hearing *hearing,
    enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *command = reply->words.items[0];
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED ||
                hearing->exit_code == FULCRUM_EXIT_INTERRUPTED,
        err, FULCRUM_ERR_INTERRUPTED, "interrupted");
    FAIL_IF(status == FULCRUM_ERR_NO_MEMORY, err, status, "'%s' ran out of memory",
        command);
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(&reply->refusal, status, "%s",
            hearing->refusal.detail[0] != '\0' ? hearing->refusal.detail
                                               : fulcrum_status_text(status));
        return FULCRUM_OK;
    }
    if (hearing->result == NULL) {
        TRY(read_printed(command, hearing, err));
    }
    reply->result = hearing->result;
    hearing->result = NULL;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reply_ask(struct fulcrum_reply *reply,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct hearing hearing = {.text = NULL, .refusal = {FULCRUM_OK, ""}};
    struct fulcrum_argv_text words = {.count = 0};
    fulcrum_argv_text_append(&words, &reply->words);
    fulcrum_argv_text_add(&words, "--format");
    fulcrum_argv_text_add(&words, "json");
    const struct fulcrum_command *command =
        fulcrum_command_find(fulcrum_commands(), reply->words.items[0]);
    enum fulcrum_status status = FULCRUM_ERR_NO_MEMORY;
    if (!words.is_short && command != NULL) {
        status = run_words(command, &words, &hearing);
    }
    reply->exit_code = hearing.exit_code;
    if (hearing.exit_code == FULCRUM_EXIT_INTERRUPTED) {
        context->exit_code = hearing.exit_code;
    }
    status = settle(reply, &hearing, status, err);
    free(reply->warnings);
    reply->warnings = hearing.warnings;
    free(hearing.text);
    fulcrum_result_free(hearing.result);
    fulcrum_argv_text_clear(&words);
    return status;
}

void fulcrum_reply_clear(struct fulcrum_reply *reply)
{
    fulcrum_result_free(reply->result);
    fulcrum_argv_text_clear(&reply->words);
    free(reply->warnings);
    *reply = (struct fulcrum_reply){.result = NULL};
}
