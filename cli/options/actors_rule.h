/* actors_rule.h - the options that say how the number of actors comes about. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTIONS_ACTORS_RULE_H
#define FULCRUM_CLI_OPTIONS_ACTORS_RULE_H

#include "cli/command.h"
#include "cli/option.h"

/* Beside --actors, which is among the options of a design. */
struct fulcrum_actors_rule {
    double per_thread;   /* --actors-per-thread; NAN: not given */
    const char *best_of; /* --best-actors, a range; NULL: not given */
};

/* Place them at the offset of a struct fulcrum_actors_rule. */
extern const struct fulcrum_option fulcrum_actors_rule_rows[];

/* The same without --best-actors, which then is to be NULL. */
#define FULCRUM_ACTORS_RULE_ROWS_BUT_BEST (fulcrum_actors_rule_rows + 1)

/* Where environments are simulated on GPUs, for the "actors_rule" of results. */
extern const char fulcrum_actors_rule_none[];

/*
 * Refuses a rule beside another way to give the number, or two.
 *   other_ways  how many were taken besides the rule's own
 *   refusal     the message
 *   fails       FULCRUM_ERR_RANGE; `context` gets exit code 2
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actors_rule_check(
    const struct fulcrum_actors_rule *rule, int other_ways, const char *refusal,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * The numbers of --best-actors, rising.
 *   out      the caller frees it with free(); left as it is where there is no range
 *   fails    as fulcrum_range_parse; `context` gets exit code 2
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actors_rule_choices(
    const struct fulcrum_actors_rule *rule, double **out, size_t *count,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* What is given, or the paper's 256 actors on 40 threads. */
double fulcrum_actors_rule_per_thread(const struct fulcrum_actors_rule *rule);

/* "fastest of 4:64:x2", "4 per hardware thread", or the paper's "as none were given" */
void fulcrum_actors_rule_text(
    const struct fulcrum_actors_rule *rule, char *out, size_t size);

#endif
