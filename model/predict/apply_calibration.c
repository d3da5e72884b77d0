/* apply_calibration.c - one calibration laid over a design, scaled to the design's
 * machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A calibration holds for one machine. What it says of the actor's times is carried to
 * another CPU by the ratio of thread speeds, the learner's times to another GPU part by
 * part (scale.c), and nothing is carried between a CPU learner and a GPU: these differ
 * in kind. Watts hold for the processor or GPU they were measured on and for no other.
 *
 * Everything is done in a scratch copy of the design in which all times are unknown:
 * NaN passes through every scaling, so that a time the calibration does not give cannot
 * appear by mistake, and what is a number afterwards is copied.
 */
#include "model/predict/apply_calibration.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/scale.h"
#include "model/predict/to_network.h"
#include "model/quantity.h"
#include "model/try.h"

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static enum fulcrum_applied_calibration_side side_of(const char *path)
{
    if (starts_with(path, "workload.step.")) {
        return FULCRUM_SIDE_ACTOR;
    }
    if (starts_with(path, "workload.")) {
        return FULCRUM_SIDE_LEARNER;
    }
    if (!ends_with(path, "_w")) {
        return FULCRUM_SIDE_MACHINE;
    }
    return starts_with(path, "machine.gpu.") ? FULCRUM_SIDE_GPU_WATTS
                                             : FULCRUM_SIDE_CPU_WATTS;
}

enum fulcrum_status fulcrum_applied_calibration_init(
    struct fulcrum_applied_calibration *applied,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    applied->calibration = calibration;
    applied->sides = calloc(n + 1, sizeof *applied->sides);
    TRY_MEMORY(applied->sides, err, "an overlay of %zu parameters", n);
    for (size_t i = 0; i < n; i++) {
        applied->sides[i] = side_of(calibration->parameters[i].path);
    }
    return fulcrum_sampler_new(calibration, &applied->sampler, err);
}

/* Does this side hold for the target machine at all? */
static bool is_usable(enum fulcrum_applied_calibration_side side,
    const struct fulcrum_machine *reference, const struct fulcrum_machine *target)
{
    switch (side) {
    case FULCRUM_SIDE_LEARNER:
        return reference->accelerator == target->accelerator;
    case FULCRUM_SIDE_CPU_WATTS:
        return strcmp(reference->cpu.name, target->cpu.name) == 0;
    case FULCRUM_SIDE_GPU_WATTS:
        return strcmp(reference->gpu.name, target->gpu.name) == 0;
    case FULCRUM_SIDE_ACTOR:
    case FULCRUM_SIDE_MACHINE:
    default:
        return true;
    }
}

static bool same_cpu(const struct fulcrum_cpu *a, const struct fulcrum_cpu *b)
{
    return strcmp(a->name, b->name) == 0;
}

/* Equal as far as both are known. */
static bool same_number(double a, double b)
{
    return isnan(a) || isnan(b) || fabs(a - b) <= 1e-9 * fabs(a);
}

/*
 * Measured times hold the transfers of the machine they were measured on: only the
 * difference is added. A time that is not given stays NAN.
 */
static unsigned move_transfers(const struct fulcrum_machine *reference,
    const struct fulcrum_machine *target, struct fulcrum_workload *workload)
{
    struct fulcrum_workload_network *network = &workload->network;
    double more_s = fulcrum_node_transfer_s(
        network->observation_byte, &reference->link, &target->link);
    if (more_s == 0.0) {
        return 0U;
    }
    double per_item_s = network->per_item_s + more_s;
    network->per_item_s = per_item_s < 0.0 ? 0.0 : per_item_s;
    return FULCRUM_FLAG_SCALED;
}

/* Inference and training times from one GPU to another. */
static unsigned scale_gpu_learner(const struct fulcrum_machine *reference,
    const struct fulcrum_machine *target, const struct fulcrum_luck *luck,
    struct fulcrum_workload *workload)
{
    unsigned flags = 0;
    bool same_gpu =
        strcmp(reference->gpu.name, target->gpu.name) == 0 &&
        same_number(reference->gpu.sm_count, target->gpu.sm_count) &&
        same_number(reference->gpu.clock_hz, target->gpu.clock_hz) &&
        same_number(reference->gpu.flop_per_sm_cycle, target->gpu.flop_per_sm_cycle) &&
        same_number(reference->gpu.dram_byte_per_s, target->gpu.dram_byte_per_s) &&
        same_number(reference->gpu.llc_byte, target->gpu.llc_byte) &&
        same_number(reference->gpu.latency_rel, target->gpu.latency_rel) &&
        same_number(reference->gpu.sm_loss_rel, target->gpu.sm_loss_rel) &&
        same_number(reference->gpu.launch_rel, target->gpu.launch_rel);
    if (!same_gpu) {
        bool other = strcmp(reference->gpu.name, target->gpu.name) != 0;
        struct fulcrum_gpu_scale scale =
            fulcrum_gpu_scale(&workload->network, &reference->gpu, &target->gpu);
        fulcrum_scale_gpu_times(workload, &scale, other ? luck->gpu_spread : 1.0);
        flags |= FULCRUM_FLAG_SCALED;
    }
    return flags | move_transfers(reference, target, workload);
}

/* Scales what is in `workload` to the target machine; returns the flags it earns. */
static unsigned scale_times(const struct fulcrum_machine *reference,
    const struct fulcrum_machine *target, const struct fulcrum_luck *luck,
    struct fulcrum_workload *workload)
{
    bool cpu_differs = !same_cpu(&reference->cpu, &target->cpu);
    double speedup = fulcrum_cpu_speedup(&reference->cpu, &target->cpu);
    double spread = cpu_differs ? luck->cpu_spread : 1.0;
    unsigned flags =
        cpu_differs || fabs(speedup - 1.0) > 1e-9 ? FULCRUM_FLAG_SCALED : 0U;
    fulcrum_scale_cpu_times(workload, speedup, spread);
    if (target->accelerator == FULCRUM_ACCELERATOR_CPU) {
        /* A CPU learner's times follow the core's speed like every other CPU time. */
        double factor = spread / speedup;
        workload->network.per_batch_s *= factor;
        workload->network.per_item_s *= factor;
        workload->network.cold_s *= factor;
        workload->training.train_step_s *= factor;
    } else if (reference->accelerator == FULCRUM_ACCELERATOR_GPU) {
        flags |= scale_gpu_learner(reference, target, luck, workload);
    }
    return flags;
}

/* The line that a table goes with; 0 where the calibration gives none. */
static double line_value(
    const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    return parameter != NULL ? parameter->value : 0.0;
}

static void take_tables(const struct fulcrum_calibration *calibration,
    int learner_usable, struct fulcrum_design *design)
{
    const struct fulcrum_cpu *measured = &calibration->machine.cpu;
    struct fulcrum_cpu *cpu = &design->machine.cpu;
    bool gives_curve =
        fulcrum_calibration_parameter(calibration, "machine.cpu.knee") != NULL ||
        fulcrum_calibration_parameter(calibration, "machine.cpu.turbo_frac") != NULL;
    if (calibration->capacity_count > 0 && same_cpu(measured, cpu) &&
        same_number(measured->thread_count, cpu->thread_count) &&
        same_number(measured->core_count, cpu->core_count)) {
        design->capacity = calibration->capacity;
        design->capacity_count = calibration->capacity_count;
        cpu->curve = FULCRUM_CURVE_TABLE;
    } else if (calibration->capacity_count > 0) {
        cpu->curve = FULCRUM_CURVE_SATURATING;
    } else if (gives_curve) {
        cpu->curve = measured->curve;
    }
    if (calibration->batch_count > 0 && learner_usable) {
        design->batch_size = calibration->batch_size;
        design->batch_time_s = calibration->batch_time_s;
        design->batch_count = calibration->batch_count;
        design->batch_line_per_batch_s =
            line_value(calibration, "workload.network.per_batch_s");
        design->batch_line_per_item_s =
            line_value(calibration, "workload.network.per_item_s");
    }
}

/* Copies what the calibration gives from the scaled scratch; true where learner times
 * came.
 */
static bool copy_given(const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_design *scratch, struct fulcrum_design *design)
{
    const struct fulcrum_machine *reference = &applied->calibration->machine;
    bool learner_times = false;
    for (size_t i = 0; i < applied->calibration->parameter_count; i++) {
        if (is_usable(applied->sides[i], reference, &design->machine)) {
            const struct fulcrum_field *field =
                applied->calibration->parameters[i].field;
            double value = fulcrum_field_number(field, scratch);
            memcpy((char *)design + field->offset, &value, sizeof value);
            learner_times |= applied->sides[i] == FULCRUM_SIDE_LEARNER;
        } else if (applied->sides[i] == FULCRUM_SIDE_LEARNER) {
            design->flags |= FULCRUM_FLAG_OTHER_LEARNER;
        }
    }
    return learner_times;
}

static void take_gpu_shares(
    const struct fulcrum_workload *source, struct fulcrum_workload *target)
{
    const struct fulcrum_workload_network *from = &source->network;
    struct fulcrum_workload_network *to = &target->network;
    to->launch_bound_frac = from->launch_bound_frac;
    to->math_frac = from->math_frac;
    to->sm_frac = from->sm_frac;
    to->dram_frac = from->dram_frac;
    to->latency_frac = from->latency_frac;
    target->training.launch_bound_frac = source->training.launch_bound_frac;
    target->simulation.launch_bound_frac = source->simulation.launch_bound_frac;
}

void fulcrum_applied_calibration_clear(struct fulcrum_applied_calibration *applied)
{
    fulcrum_sampler_free(applied->sampler);
    free(applied->sides);
    *applied = (struct fulcrum_applied_calibration){0};
}

static void put_value(const struct fulcrum_applied_calibration *applied, size_t i,
    double value, struct fulcrum_design *scratch)
{
    memcpy((char *)scratch + applied->calibration->parameters[i].field->offset, &value,
        sizeof value);
}

/* The values, drawn or not, in the scratch copy that is then scaled. */
static enum fulcrum_status put_values(const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_luck *luck, struct fulcrum_design *scratch)
{
    const struct fulcrum_calibration *calibration = applied->calibration;
    size_t count = calibration->parameter_count;
    if (luck->rng == NULL && luck->z == NULL) {
        for (size_t i = 0; i < count; i++) {
            put_value(applied, i, calibration->parameters[i].value, scratch);
        }
        return FULCRUM_OK;
    }
    double *values = calloc(count + 1, sizeof *values);
    if (values == NULL) {
        return FULCRUM_ERR_NO_MEMORY;
    }
    if (luck->z != NULL) {
        fulcrum_sampler_place(applied->sampler, luck->z + applied->first_slot, values);
    } else {
        fulcrum_sampler_draw(applied->sampler, luck->rng, values);
    }
    for (size_t i = 0; i < count; i++) {
        put_value(applied, i, values[i], scratch);
    }
    /*
     * Shares of GPU time that are drawn together sum to 1, unless one of them was moved
     * to the end of its range.
     */
    struct fulcrum_workload_network *network = &scratch->workload.network;
    static const double rounding = 1e-6;
    double sum = network->math_frac + network->sm_frac + network->dram_frac +
                 network->latency_frac;
    if (sum > 0.0 && fabs(sum - 1.0) > rounding) {
        network->math_frac /= sum;
        network->sm_frac /= sum;
        network->dram_frac /= sum;
        network->latency_frac /= sum;
    }
    free(values);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibration_apply(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_workload *shares, const struct fulcrum_luck *luck,
    struct fulcrum_design *design)
{
    struct fulcrum_design scratch = *design;
    /* Times that the calibration does not give are NAN, and stay so under scaling. */
    struct fulcrum_workload *workload = &scratch.workload;
    workload->step.mean_s = FULCRUM_UNKNOWN;
    workload->simulation.per_batch_s = FULCRUM_UNKNOWN;
    workload->simulation.per_env_s = FULCRUM_UNKNOWN;
    workload->host.per_batch_s = FULCRUM_UNKNOWN;
    workload->host.per_item_s = FULCRUM_UNKNOWN;
    workload->host.per_request_s = FULCRUM_UNKNOWN;
    workload->host.actor_s = FULCRUM_UNKNOWN;
    workload->host.wake_s = FULCRUM_UNKNOWN;
    workload->host.delay_s = FULCRUM_UNKNOWN;
    workload->network.per_batch_s = FULCRUM_UNKNOWN;
    workload->network.per_item_s = FULCRUM_UNKNOWN;
    workload->network.cold_s = FULCRUM_UNKNOWN;
    workload->training.train_step_s = FULCRUM_UNKNOWN;
    take_gpu_shares(shares, &scratch.workload);
    TRY(put_values(applied, luck, &scratch));
    design->flags |= scale_times(
        &applied->calibration->machine, &design->machine, luck, &scratch.workload);
    bool learner_times = copy_given(applied, &scratch, design);
    if (learner_times) {
        take_gpu_shares(&scratch.workload, &design->workload);
    }
    take_tables(applied->calibration, learner_times, design);
    return FULCRUM_OK;
}

static bool is_core_or_thread_count(const struct fulcrum_field *field)
{
    return field->offset == offsetof(struct fulcrum_design, machine.cpu.thread_count) ||
           field->offset == offsetof(struct fulcrum_design, machine.cpu.core_count);
}

/* Cores follow threads: the two are looked at together. */
static bool depends_on_counts(const struct fulcrum_applied_calibration *applied)
{
    for (size_t i = 0; i < applied->calibration->parameter_count; i++) {
        if (is_core_or_thread_count(applied->calibration->parameters[i].field)) {
            return true;
        }
    }
    return applied->calibration->capacity_count > 0;
}

bool fulcrum_applied_calibration_depends_on(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_field *field)
{
    /* What scale_times and, through it, fulcrum_gpu_scale and fulcrum_node_transfer_s
     * read of the target. */
    static const size_t read[] = {
        offsetof(struct fulcrum_design, machine.cpu.single_thread_speed_rel),
        offsetof(struct fulcrum_design, machine.cpu.canary_s),
        offsetof(struct fulcrum_design, machine.gpu.sm_count),
        offsetof(struct fulcrum_design, machine.gpu.clock_hz),
        offsetof(struct fulcrum_design, machine.gpu.flop_per_sm_cycle),
        offsetof(struct fulcrum_design, machine.gpu.dram_byte_per_s),
        offsetof(struct fulcrum_design, machine.gpu.llc_byte),
        offsetof(struct fulcrum_design, machine.gpu.latency_rel),
        offsetof(struct fulcrum_design, machine.gpu.sm_loss_rel),
        offsetof(struct fulcrum_design, machine.gpu.launch_rel),
        offsetof(struct fulcrum_design, workload.network.cache_exponent),
        offsetof(struct fulcrum_design, workload.network.compulsory_frac),
        offsetof(struct fulcrum_design, workload.network.working_set_byte),
        offsetof(struct fulcrum_design, machine.link.host_byte_per_s),
        offsetof(struct fulcrum_design, workload.network.observation_byte),
    };
    if (field->kind == FULCRUM_FIELD_TEXT || field->kind == FULCRUM_FIELD_CHOICE) {
        return true;
    }
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        if (field->offset == read[i]) {
            return true;
        }
    }
    return is_core_or_thread_count(field) && depends_on_counts(applied);
}

bool fulcrum_applied_calibration_holds(const struct fulcrum_calibration *calibration,
    const struct fulcrum_machine *machine, const char *path)
{
    return is_usable(side_of(path), &calibration->machine, machine);
}

bool fulcrum_applied_calibration_measures_watts(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_machine *machine, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(applied->calibration, path);
    return parameter != NULL && parameter->origin != FULCRUM_ORIGIN_PRIOR &&
           is_usable(side_of(path), &applied->calibration->machine, machine);
}
