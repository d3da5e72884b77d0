/* fit_recipe.h - the arguments of a fit as one text, to be repeated later. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_FIT_RECIPE_H
#define FULCRUM_CLI_FIT_RECIPE_H

#include <stddef.h>

#include "cli/fit_settings.h"
#include "model/status.h"

/*
 * Writes what a shell would take after "fulcrum fit": references, then every option
 * that decides what is fitted, also those at their defaults, which may change one day.
 *   fails    FULCRUM_ERR_RANGE (does not fit into `size` bytes)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_write(
    const struct fulcrum_fit_settings *settings, char *out, size_t size,
    struct fulcrum_error *err);

/* Settings read from such a text, and the words that they borrow. Opaque. */
struct fulcrum_fit_recipe;

/*
 * Splits the text as a shell does (blanks, single quotes, backslashes) and reads it by
 * the option table of the command.
 *   out      the caller frees it with fulcrum_fit_recipe_free
 *   fails    as fulcrum_options_parse; FULCRUM_ERR_FORMAT (a quote that is not closed)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_recipe_parse(
    const char *text, struct fulcrum_fit_recipe **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_fit_recipe_free(struct fulcrum_fit_recipe *recipe);

/* Borrowed. */
const struct fulcrum_fit_settings *fulcrum_fit_recipe_settings(
    const struct fulcrum_fit_recipe *recipe);

#endif
