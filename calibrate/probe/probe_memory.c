/* probe_memory.c - memory that one environment takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/try.h"

/* Enough of them that pages round off, unless they are large. */
#define ENV_MAX     2048
#define GROWTH_BYTE 64e6
#define ENV_MIN     4

/* Each takes a few steps, so that what it only touches then counts too. */
#define STEP_COUNT 8

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    size_t env_count; /* 0: not yet measured */
    double byte;      /* growth with all of them */
};

static enum fulcrum_status memory_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "memory probe");
    state->bench = bench;
    *out = state;
    return FULCRUM_OK;
}

static void memory_close(struct fulcrum_probe_state *state)
{
    free(state);
}

/* Bytes of this process in memory; 0 where the kernel does not tell. */
static double resident_byte(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0.0;
    }
    char *end = fgets(line, sizeof line, file);
    (void)fclose(file);
    if (end == NULL) {
        return 0.0;
    }
    (void)strtod(line, &end); /* the first figure is address space */
    return strtod(end, NULL) * (double)sysconf(_SC_PAGESIZE);
}

static enum fulcrum_status grow(struct fulcrum_probe_state *state,
    struct fulcrum_stepper *steppers, double until_s, struct fulcrum_error *err)
{
    double start_byte = resident_byte();
    enum fulcrum_status status = FULCRUM_OK;
    size_t count = 0;
    double grown_byte = 0.0;
    double elsewhere_byte = 0.0; /* in processes that step for us */
    while (status == FULCRUM_OK && count < ENV_MAX && grown_byte < GROWTH_BYTE &&
           (count < ENV_MIN || fulcrum_bench_goes_on(state->bench, until_s))) {
        status =
            fulcrum_stepper_open(&steppers[count], &state->bench->stage, count, err);
        if (status == FULCRUM_OK) {
            status = fulcrum_stepper_run(&steppers[count], STEP_COUNT, NULL, err);
            elsewhere_byte += fulcrum_stepper_memory_byte(&steppers[count]);
            grown_byte = resident_byte() - start_byte + elsewhere_byte;
            count++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_stepper_close(&steppers[i]);
    }
    if (status == FULCRUM_OK) {
        state->env_count = count;
        state->byte = grown_byte;
    }
    return status;
}

/* Once: memory that was freed is taken again, so that a second look sees no growth. */
static enum fulcrum_status memory_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    if (state->env_count > 0) {
        return FULCRUM_OK;
    }
    struct fulcrum_stepper *steppers = calloc(ENV_MAX, sizeof *steppers);
    TRY_MEMORY(steppers, err, "%d environments", ENV_MAX);
    enum fulcrum_status status = grow(state, steppers, until_s, err);
    free(steppers);
    return status;
}

static enum fulcrum_status memory_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    if (state->env_count > 0 && state->byte > 0.0) {
        fulcrum_findings_value(&findings, "env_memory_byte", "byte",
            state->byte / (double)state->env_count);
        fulcrum_findings_note(&findings, "env_memory",
            "growth of the resident set over %zu environments", state->env_count);
    }
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_memory = {
    .name = "memory",
    .what = "memory of an environment",
    .share = 0.02,
    .open = memory_open,
    .close = memory_close,
    .visit = memory_visit,
    .report = memory_report,
};
