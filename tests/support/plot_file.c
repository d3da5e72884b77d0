/* plot_file.c - a file of results, opened as `fulcrum plot` does it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/plot_file.h"

#include <stdlib.h>

#include "tests/support/suite.h"

enum fulcrum_status plot_file_try(struct plot_file *out, const char *name,
    const char *text, struct fulcrum_error *err)
{
    *out = (struct plot_file){.scratch = scratch_new()};
    out->path = scratch_write(&out->scratch, name, text);
    return fulcrum_plot_source_open(
        out->path, FULCRUM_PLOT_CONTENTS, &out->source, err);
}

void plot_file_open(struct plot_file *out, const char *name, const char *text)
{
    ASSERT_OK(plot_file_try(out, name, text, NULL));
}

void plot_file_result(struct plot_file *out, const char *name, const char *text,
    struct fulcrum_result **result)
{
    plot_file_open(out, name, text);
    *result = out->source.result;
    out->source.is_lent = true; /* the caller frees it */
}

void plot_file_close(struct plot_file *file)
{
    fulcrum_plot_source_close(&file->source);
    free(file->path);
    scratch_free(&file->scratch);
}
