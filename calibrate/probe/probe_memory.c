/* probe_memory.c - memory that one environment takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdlib.h>

#include "calibrate/host.h"
#include "model/try.h"

/* Enough of them that pages round off, unless they are large. */
#define ENV_MAX     2048
#define GROWTH_BYTE 64e6
#define ENV_MIN     4

/* Each takes a few steps, so that what it only touches then counts too. */
#define STEP_COUNT 8

struct own {
    size_t env_count; /* 0: not yet measured */
    double byte;      /* growth with all of them */
    double most_byte; /* of the processes of one */
};

/* Once: memory that was freed is taken again, so that a second look sees no growth. */
static enum fulcrum_status memory_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    if (own->env_count > 0) {
        return FULCRUM_OK;
    }
    struct fulcrum_stepper *steppers = calloc(ENV_MAX, sizeof *steppers);
    TRY_MEMORY(steppers, err, "%d environments", ENV_MAX);
    double start_byte = fulcrum_host_memory_byte(0, 0);
    enum fulcrum_status status = FULCRUM_OK;
    size_t count = 0;
    double grown_byte = 0.0;
    double elsewhere_byte = 0.0; /* in processes that step for us */
    double most_byte = 0.0;
    while (count < ENV_MAX && grown_byte < GROWTH_BYTE &&
           (count < ENV_MIN || fulcrum_bench_goes_on(state->bench, until_s))) {
        struct fulcrum_stepper *stepper = &steppers[count];
        TRY_OR_END(fulcrum_stepper_open(stepper, &state->bench->stage, count, err));
        TRY_OR_END(fulcrum_stepper_run(stepper, STEP_COUNT, NULL, err));
        double own_byte = fulcrum_stepper_memory_byte(stepper);
        most_byte = fmax(most_byte, own_byte);
        elsewhere_byte += own_byte;
        grown_byte = fulcrum_host_memory_byte(0, 0) - start_byte + elsewhere_byte;
        count++;
    }
    *own = (struct own){count, grown_byte, most_byte};
end:
    for (size_t i = 0; i < ENV_MAX && steppers[i].env != NULL; i++) {
        fulcrum_stepper_close(&steppers[i]);
    }
    free(steppers);
    return status;
}

static void memory_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    if (own->env_count > 0 && own->byte > 0.0) {
        fulcrum_findings_value(
            findings, "env_memory_byte", "byte", own->byte / (double)own->env_count);
        fulcrum_findings_note(findings, "env_memory",
            "growth of the resident set over %zu environments", own->env_count);
    }
    if (own->env_count > 0 && state->bench->stage.actor->is_tools) {
        fulcrum_findings_parameter(findings, "workload.agent.sandbox_byte",
            &(struct fulcrum_parameter){.value = own->most_byte},
            "largest process of %zu sandboxes with %d calls each", own->env_count,
            STEP_COUNT);
    }
}

const struct fulcrum_probe fulcrum_probe_memory = {
    .what = "memory of an environment",
    .share = 0.02,
    .own_byte = sizeof(struct own),
    .is_of_tools = true,
    .visit = memory_visit,
    .report = memory_report,
};
