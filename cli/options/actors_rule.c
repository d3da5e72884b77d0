/* actors_rule.c - the options that say how the number of actors comes about. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/range.h"

/* 256 actors on 40 threads, as Inci et al. 2020 ran most (arXiv:2012.04210). */
#define USUAL_PER_THREAD 6.4

const char fulcrum_actors_rule_none[] = "none, environments are simulated on GPUs";

const struct fulcrum_option fulcrum_actors_rule_rows[] = {
    FULCRUM_OPTION(TEXT, "best-actors", offsetof(struct fulcrum_actors_rule, best_of),
        "RANGE", .help = "each design takes the fastest actor count in RANGE"),
    FULCRUM_OPTION(NUMBER, "actors-per-thread",
        offsetof(struct fulcrum_actors_rule, per_thread), "X", .least = 1e-3,
        .most = 1e4,
        .help = "actors per hardware thread; Inci et al. 2020 used 6.4 (256 on 40)"),
    {.name = NULL},
};

enum fulcrum_status fulcrum_actors_rule_check(const struct fulcrum_actors_rule *rule,
    int other_ways, const char *refusal, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    int ways = other_ways + (rule->best_of != NULL) + !isnan(rule->per_thread);
    return ways <= 1
               ? FULCRUM_OK
               : fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE, "%s", refusal);
}

enum fulcrum_status fulcrum_actors_rule_choices(const struct fulcrum_actors_rule *rule,
    double **out, size_t *count, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (rule->best_of == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_range_parse(
        fulcrum_field_find("run.actor_count"), rule->best_of, out, count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, "--best-actors");
    }
    return FULCRUM_OK;
}

double fulcrum_actors_rule_per_thread(const struct fulcrum_actors_rule *rule)
{
    return isnan(rule->per_thread) ? USUAL_PER_THREAD : rule->per_thread;
}

void fulcrum_actors_rule_text(
    const struct fulcrum_actors_rule *rule, char *out, size_t size)
{
    if (rule->best_of != NULL) {
        (void)snprintf(out, size, "fastest of %s", rule->best_of);
        return;
    }
    (void)snprintf(out, size, "%.6g per hardware thread%s",
        fulcrum_actors_rule_per_thread(rule),
        isnan(rule->per_thread) ? ", as none were given" : "");
}
