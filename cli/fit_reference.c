/* fit_reference.c - references as the command line names them: presets, JSON, CSV. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/fit_reference.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/design_options.h"
#include "model/try.h"
#include "presets/preset.h"
#include "presets/reference_csv.h"
#include "presets/reference_load.h"

enum { PATH_SIZE = 1024 };

/* Where the name ends: at the colon before a series, which the path of a CSV file may
 * have, too. */
const struct fulcrum_option fulcrum_reference_host_rows[] = {
    {.name = "machine",
        .letter = 'm',
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct fulcrum_reference_host, machine),
        .value = "NAME",
        .help = "where a CSV file was measured: preset or JSON file; 'this' is the "
                "machine at hand"},
    {.name = "workload",
        .letter = 'w',
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct fulcrum_reference_host, workload),
        .value = "NAME",
        .help = "what a CSV file measured: preset or JSON file"},
    {.name = NULL},
};

static size_t name_length(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 5 <= length; i++) {
        if (strncasecmp(text + i, ".csv:", 5) == 0) {
            return i + 4;
        }
    }
    return fulcrum_reference_is_csv(text) ? length : strcspn(text, ":");
}

const char *fulcrum_reference_text_series(const char *text)
{
    size_t length = name_length(text);
    return text[length] == ':' ? text + length + 1 : "";
}

void fulcrum_reference_text_name(const char *text, char *out, size_t size)
{
    (void)snprintf(out, size, "%.*s", (int)name_length(text), text);
}

int fulcrum_reference_text_is_csv(const char *text)
{
    char name[PATH_SIZE];
    fulcrum_reference_text_name(text, name, sizeof name);
    return fulcrum_reference_is_csv(name);
}

static enum fulcrum_status load_csv(const char *path,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    if (host->machine == NULL || host->workload == NULL) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "%s: what was measured? name it with %s%s%s", path,
            host->machine == NULL ? "--machine" : "",
            host->machine == NULL && host->workload == NULL ? " and " : "",
            host->workload == NULL ? "--workload" : "");
    }
    TRY(fulcrum_machine_find(host->machine, &design, NULL, err));
    TRY(fulcrum_workload_load(host->workload, &design, NULL, err));
    return fulcrum_reference_csv_load(path, &design, out, err);
}

enum fulcrum_status fulcrum_reference_text_load(const char *text,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_reference **out, struct fulcrum_error *err)
{
    char name[PATH_SIZE];
    struct fulcrum_reference *reference = NULL;
    fulcrum_reference_text_name(text, name, sizeof name);
    enum fulcrum_status status = fulcrum_reference_is_csv(name)
                                     ? load_csv(name, host, context, &reference, err)
                                     : fulcrum_reference_load(name, &reference, err);
    if (status == FULCRUM_OK && text[name_length(text)] == ':') {
        status = fulcrum_reference_keep_series(
            reference, fulcrum_reference_text_series(text), err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_reference_free(reference);
        return status;
    }
    *out = reference;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_reference_check_host(const struct fulcrum_text_list *texts,
    const struct fulcrum_reference_host *host, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    int has_csv = 0;
    for (size_t i = 0; i < texts->count; i++) {
        has_csv = has_csv || fulcrum_reference_text_is_csv(texts->items[i]);
    }
    return has_csv || (host->machine == NULL && host->workload == NULL)
               ? FULCRUM_OK
               : fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
                     "--machine and --workload say what a CSV file measured; a "
                     "reference names its own");
}
