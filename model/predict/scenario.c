/* scenario.c - presets, calibrations and settings that together give design points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A design point is put together in a fixed order, later steps over earlier ones:
 * presets with the user's settings, what a sweep varies, one calibration after the
 * other, and then settings and varied values once more. They come before the
 * calibrations because times are scaled to the machine that is asked about, and after
 * them because what the user says goes before what was measured.
 *
 * Most of that is the same at every point of a sweep. Fields that no calibration
 * reads are "late": they can as well be set on the finished rest, the prefix, which is
 * kept as long as the other fields stay.
 *
 * A draw replaces each calibration's values, the priors and the factors of scaling by
 * random ones. They come from the seed and the number of the draw alone, never from the
 * point, so that the same draw is the same sample at every point of a sweep.
 */

#include "model/predict/scenario.h"

#include <assert.h>
#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/sampler.h"
#include "model/design/scale.h"
#include "model/network/network.h"
#include "model/number.h"
#include "model/parallel.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/*
 * One calibration laid over a design, scaled to the design's machine. A calibration
 * holds for one machine. What it says of the actor's times is carried to another CPU by
 * the ratio of thread speeds, the learner's times to another GPU part by part
 * (scale.c), and nothing is carried between a CPU learner and a GPU: these differ in
 * kind. Watts hold for the processor or GPU they were measured on and for no other.
 *
 * Everything is done in a scratch copy of the design in which all times are unknown:
 * NaN passes through every scaling, so that a time the calibration does not give cannot
 * appear by mistake, and what is a number afterwards is copied.
 */

/* What of a design a parameter belongs to: it decides how it is carried over. */
enum side {
    SIDE_ACTOR,     /* step times: follow the speed of a thread */
    SIDE_LEARNER,   /* host, network, training: only between like accelerators */
    SIDE_CPU_WATTS, /* only for the model of CPU they were measured on */
    SIDE_GPU_WATTS, /* the same for the GPU */
    SIDE_MACHINE    /* shape of the CPU curve: taken as it is */
};

/* A calibration prepared for use by several threads at once. */
struct applied {
    const struct fulcrum_calibration *calibration; /* borrowed */
    struct fulcrum_sampler *sampler;
    enum side *sides;  /* of its parameters */
    size_t first_slot; /* of its z in those of a sample; set by the owner */
    bool is_of_run;    /* it says nothing but what runs are off by */
};

/*
 * Random factors of one draw; rng NULL and factors 1 for the point estimate. Scores
 * stand in for the generator where a sample is given.
 */
struct luck {
    gsl_rng *rng;
    const double *z;                   /* NULL: none */
    double cpu_spread;                 /* of what (23) leaves open */
    double gpu_spread;                 /* of what (24) leaves open */
    const struct fulcrum_point *point; /* whose draw it is */
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum side side_of(const char *path)
{
    if (starts_with(path, "workload.step.")) {
        return SIDE_ACTOR;
    }
    if (starts_with(path, "workload.")) {
        return SIDE_LEARNER;
    }
    const char *unit = strrchr(path, '_');
    if (unit == NULL || strcmp(unit, "_w") != 0) {
        return SIDE_MACHINE;
    }
    return starts_with(path, "machine.gpu.") ? SIDE_GPU_WATTS : SIDE_CPU_WATTS;
}

/* `applied` is zeroed; applied_clear gives it back, also after a failure. */
static enum fulcrum_status applied_init(struct applied *applied,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t n = calibration->parameter_count;
    applied->calibration = calibration;
    applied->sides = calloc(n + 1, sizeof *applied->sides);
    TRY_MEMORY(applied->sides, err, "an overlay of %zu parameters", n);
    for (size_t i = 0; i < n; i++) {
        applied->sides[i] = side_of(calibration->parameters[i].path);
        applied->is_of_run = (i == 0 || applied->is_of_run) &&
                             starts_with(calibration->parameters[i].path, "run.");
    }
    return fulcrum_sampler_new(calibration, &applied->sampler, err);
}

/* Does this side hold for the target machine at all? */
static bool is_usable(enum side side, const struct fulcrum_machine *reference,
    const struct fulcrum_machine *target)
{
    switch (side) {
    case SIDE_LEARNER:
        return reference->accelerator == target->accelerator;
    case SIDE_CPU_WATTS:
        return strcmp(reference->cpu.name, target->cpu.name) == 0;
    case SIDE_GPU_WATTS:
        return strcmp(reference->gpu.name, target->gpu.name) == 0;
    case SIDE_ACTOR:
    case SIDE_MACHINE:
    default:
        return true;
    }
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

static double number_at(const void *object, size_t offset)
{
    double value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/*
 * What scale_times and, through it, fulcrum_gpu_scale and fulcrum_node_transfer_s read
 * of the target: first what makes it the same GPU.
 */
static const size_t scaled_by[] = {
    offsetof(struct fulcrum_design, machine.gpu.sm_count),
    offsetof(struct fulcrum_design, machine.gpu.clock_hz),
    offsetof(struct fulcrum_design, machine.gpu.flop_per_sm_cycle),
    offsetof(struct fulcrum_design, machine.gpu.dram_byte_per_s),
    offsetof(struct fulcrum_design, machine.gpu.llc_byte),
    offsetof(struct fulcrum_design, machine.gpu.latency_rel),
    offsetof(struct fulcrum_design, machine.gpu.sm_loss_rel),
    offsetof(struct fulcrum_design, machine.gpu.launch_rel),
    offsetof(struct fulcrum_design, machine.cpu.single_thread_speed_rel),
    offsetof(struct fulcrum_design, machine.cpu.canary_s),
    offsetof(struct fulcrum_design, machine.cpu.step_canary_s),
    offsetof(struct fulcrum_design, machine.cpu.batch_canary_s),
    offsetof(struct fulcrum_design, workload.network.cache_exponent),
    offsetof(struct fulcrum_design, workload.network.compulsory_frac),
    offsetof(struct fulcrum_design, workload.network.working_set_byte),
    offsetof(struct fulcrum_design, machine.link.host_byte_per_s),
    offsetof(struct fulcrum_design, workload.network.observation_byte),
};
enum { GPU_NUMBERS = 8 };

/* Inference and training times from one GPU to another. */
static unsigned scale_gpu_learner(const struct fulcrum_machine *reference,
    const struct fulcrum_machine *target, const struct luck *luck,
    struct fulcrum_workload *workload)
{
    unsigned flags = 0;
    bool same_gpu = strcmp(reference->gpu.name, target->gpu.name) == 0;
    for (size_t i = 0; i < GPU_NUMBERS; i++) {
        size_t at = scaled_by[i] - offsetof(struct fulcrum_design, machine);
        same_gpu =
            same_gpu && same_number(number_at(reference, at), number_at(target, at));
    }
    if (!same_gpu) {
        bool other = strcmp(reference->gpu.name, target->gpu.name) != 0;
        struct fulcrum_gpu_scale scale =
            fulcrum_gpu_scale(&workload->network, &reference->gpu, &target->gpu);
        fulcrum_scale_gpu_times(workload, &scale, other ? luck->gpu_spread : 1.0);
        flags |= FULCRUM_FLAG_SCALED;
    }
    return flags | move_transfers(reference, target, workload);
}

/* The line that a table goes with; 0 where the calibration gives none. */
static double line_value(
    const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    return parameter != NULL ? parameter->value : 0.0;
}

static void take_table(const struct fulcrum_time_table *table, double per_batch_s,
    double per_item_s, struct fulcrum_batch_time *out)
{
    if (table->count > 0) {
        *out = (struct fulcrum_batch_time){
            per_batch_s, per_item_s, table->size, table->time_s, table->count};
    }
}

static void take_tables(const struct fulcrum_calibration *calibration,
    int learner_usable, struct fulcrum_design *design)
{
    const struct fulcrum_cpu *measured = &calibration->machine.cpu;
    struct fulcrum_cpu *cpu = &design->machine.cpu;
    bool gives_curve =
        fulcrum_calibration_parameter(calibration, "machine.cpu.knee") != NULL ||
        fulcrum_calibration_parameter(calibration, "machine.cpu.turbo_frac") != NULL;
    if (calibration->capacity_count > 0 && strcmp(measured->name, cpu->name) == 0 &&
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
    if (learner_usable) {
        take_table(&calibration->batch_time,
            line_value(calibration, "workload.network.per_batch_s"),
            line_value(calibration, "workload.network.per_item_s"),
            &design->batch_time);
    }
    take_table(&calibration->handoff_time,
        line_value(calibration, "workload.host.per_batch_s"),
        line_value(calibration, "workload.host.per_request_s") +
            line_value(calibration, "workload.host.per_item_s"),
        &design->handoff_time);
}

static void set_number(
    const struct fulcrum_field *field, struct fulcrum_design *design, double value)
{
    memcpy((char *)design + field->offset, &value, sizeof value);
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

static void applied_clear(struct applied *applied)
{
    fulcrum_sampler_free(applied->sampler);
    free(applied->sides);
    *applied = (struct applied){0};
}

/*
 * What a run is off by moves every output alike, and often more than all else: it is
 * drawn evenly, by multiples of an irrational number (Weyl's sequence), so that the
 * ends of intervals do not depend on which draws chance has given it.
 */
static void draw_evenly(
    const struct applied *applied, const struct fulcrum_point *point, double *values)
{
    static const double ratios[] = {0.6180339887498949, 0.4142135623730950};
    enum { RATIOS = sizeof ratios / sizeof ratios[0] };
    size_t count = applied->calibration->parameter_count;
    double z[RATIOS + 1];
    for (size_t i = 0; i < RATIOS; i++) {
        uint64_t mixed = fulcrum_stream_seed(point->seed, 1, i) >> 11U;
        double at = ldexp((double)mixed, -53) + (double)point->draw * ratios[i];
        z[i] = gsl_cdf_ugaussian_Pinv(fmax(at - floor(at), DBL_EPSILON));
    }
    assert(count <= RATIOS);
    z[count] = FULCRUM_UNKNOWN;
    fulcrum_sampler_place(applied->sampler, z, values);
}

/* The values, drawn or not, in the scratch copy that is then scaled. */
static enum fulcrum_status put_values(const struct applied *applied,
    const struct luck *luck, struct fulcrum_design *scratch)
{
    const struct fulcrum_parameter *parameters = applied->calibration->parameters;
    size_t count = applied->calibration->parameter_count;
    if (luck->rng == NULL && luck->z == NULL) {
        for (size_t i = 0; i < count; i++) {
            set_number(parameters[i].field, scratch, parameters[i].value);
        }
        return FULCRUM_OK;
    }
    double *values = calloc(count + 1, sizeof *values);
    if (values == NULL) {
        return FULCRUM_ERR_NO_MEMORY;
    }
    if (luck->z != NULL) {
        fulcrum_sampler_place(applied->sampler, luck->z + applied->first_slot, values);
    } else if (applied->is_of_run && count <= 2) {
        draw_evenly(applied, luck->point, values);
    } else {
        fulcrum_sampler_draw(applied->sampler, luck->rng, values);
    }
    for (size_t i = 0; i < count; i++) {
        set_number(parameters[i].field, scratch, values[i]);
    }
    free(values);
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
    return FULCRUM_OK;
}

/*
 * Lays the calibration over `design`: its values or, with luck, one draw of them; the
 * design's flags tell what had to be scaled or left out.
 *   shares   the workload with the shares of GPU time on the calibration's machine
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status apply_calibration(const struct applied *applied,
    const struct fulcrum_workload *shares, const struct luck *luck,
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
    /* Scales what is in `workload` to the target machine. */
    const struct fulcrum_machine *reference = &applied->calibration->machine;
    bool cpu_differs = strcmp(reference->cpu.name, design->machine.cpu.name) != 0;
    const struct fulcrum_cpu *cpu = &design->machine.cpu;
    double spread = cpu_differs ? luck->cpu_spread : 1.0;
    double batches = fulcrum_cpu_speedup(&reference->cpu, cpu, FULCRUM_CPU_WORK_BATCH);
    bool is_scaled = cpu_differs;
    for (int work = 0; work <= FULCRUM_CPU_WORK_BATCH; work++) {
        double speedup =
            fulcrum_cpu_speedup(&reference->cpu, cpu, (enum fulcrum_cpu_work)work);
        is_scaled = is_scaled || fabs(speedup - 1.0) > 1e-9;
    }
    unsigned flags = is_scaled ? FULCRUM_FLAG_SCALED : 0U;
    fulcrum_scale_cpu_times(&scratch.workload, &reference->cpu, cpu, spread);
    if (design->machine.accelerator == FULCRUM_ACCELERATOR_CPU) {
        /* A CPU learner's times follow the core's speed like every other CPU time. */
        double factor = spread / batches;
        scratch.workload.network.per_batch_s *= factor;
        scratch.workload.network.per_item_s *= factor;
        scratch.workload.network.cold_s *= factor;
        scratch.workload.training.train_step_s *= factor;
    } else if (reference->accelerator == FULCRUM_ACCELERATOR_GPU) {
        flags |=
            scale_gpu_learner(reference, &design->machine, luck, &scratch.workload);
    }
    design->flags |= applied->is_of_run ? 0U : flags;
    /* Copies what the calibration gives from the scaled scratch; true where learner
     * times came.
     */
    bool learner_times = false;
    for (size_t i = 0; i < applied->calibration->parameter_count; i++) {
        if (is_usable(applied->sides[i], reference, &design->machine)) {
            const struct fulcrum_field *field =
                applied->calibration->parameters[i].field;
            set_number(field, design, fulcrum_field_number(field, &scratch));
            learner_times |= applied->sides[i] == SIDE_LEARNER;
        } else if (applied->sides[i] == SIDE_LEARNER) {
            design->flags |= FULCRUM_FLAG_OTHER_LEARNER;
        }
    }
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
static bool depends_on_counts(const struct applied *applied)
{
    for (size_t i = 0; i < applied->calibration->parameter_count; i++) {
        if (is_core_or_thread_count(applied->calibration->parameters[i].field)) {
            return true;
        }
    }
    return applied->calibration->capacity_count > 0;
}

/*
 * May what the applied does depend on this field of the design? Where it does not, the
 * field can be set after the applied as well as before it.
 */
static bool depends_on(const struct applied *applied, const struct fulcrum_field *field)
{
    if (field->kind == FULCRUM_FIELD_TEXT || field->kind == FULCRUM_FIELD_CHOICE) {
        return true;
    }
    for (size_t i = 0; i < sizeof scaled_by / sizeof scaled_by[0]; i++) {
        if (field->offset == scaled_by[i]) {
            return true;
        }
    }
    return is_core_or_thread_count(field) && depends_on_counts(applied);
}

bool fulcrum_calibration_holds(const struct fulcrum_calibration *calibration,
    const struct fulcrum_machine *machine, const char *path)
{
    return is_usable(side_of(path), &calibration->machine, machine);
}

/* What draws of a scenario leave to chance: one z for each number. */

/* Where the values of z of calibration `i` begin: one a parameter, and one for its
 * draws. */
static size_t calibration_slot(const struct fulcrum_scenario_inputs *inputs, size_t i)
{
    size_t slot = FULCRUM_SLOT_FIRST_PRIOR + inputs->prior_count;
    for (size_t k = 0; k < i; k++) {
        slot += inputs->calibrations[k]->parameter_count + 1;
    }
    return slot;
}

size_t fulcrum_uncertain_input_slots(const struct fulcrum_scenario_inputs *inputs)
{
    return calibration_slot(inputs, inputs->calibration_count);
}

/* A parameter of a curve or line that the user gives speaks of its form: a measured
 * table knows nothing of it, and gives way. */
static void leave_table(const struct fulcrum_field *set, struct fulcrum_design *design)
{
    static const size_t of_curve[] = {
        offsetof(struct fulcrum_design, machine.cpu.smt_yield_frac),
        offsetof(struct fulcrum_design, machine.cpu.serial_frac),
        offsetof(struct fulcrum_design, machine.cpu.knee),
        offsetof(struct fulcrum_design, machine.cpu.cap_per_core),
        offsetof(struct fulcrum_design, machine.cpu.cross_socket_frac),
    };
    for (size_t i = 0; i < sizeof of_curve / sizeof of_curve[0]; i++) {
        if (set->offset == of_curve[i] &&
            design->machine.cpu.curve == FULCRUM_CURVE_TABLE) {
            design->machine.cpu.curve = FULCRUM_CURVE_SATURATING;
            design->capacity_count = 0;
        }
    }
    if (set->offset == offsetof(struct fulcrum_design, workload.network.per_batch_s) ||
        set->offset == offsetof(struct fulcrum_design, workload.network.per_item_s)) {
        design->batch_time.count = 0;
    }
    if (set->offset == offsetof(struct fulcrum_design, workload.host.per_batch_s) ||
        set->offset == offsetof(struct fulcrum_design, workload.host.per_item_s) ||
        set->offset == offsetof(struct fulcrum_design, workload.host.per_request_s)) {
        design->handoff_time.count = 0;
    }
}

static enum fulcrum_status apply_settings(const struct fulcrum_setting *settings,
    size_t count, struct fulcrum_design *design, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        leave_table(settings[i].field, design);
        TRY(settings[i].text != NULL ? fulcrum_field_set_text(settings[i].field, design,
                                           settings[i].text, err)
                                     : fulcrum_field_set_number(settings[i].field,
                                           design, settings[i].number, err));
    }
    return FULCRUM_OK;
}

/* A list as it grows; there is room for every z. */
struct list {
    const struct fulcrum_scenario_inputs *inputs;
    struct fulcrum_machine machine; /* with the user's settings */
    struct fulcrum_uncertain_input *items;
    size_t count;
    size_t group_count;
    size_t *block; /* of the calibration at hand */
};

/* In a group of its own. */
static void add(struct list *list, struct fulcrum_uncertain_input input)
{
    input.group = list->group_count++;
    list->items[list->count++] = input;
}

static bool sets_member(
    const struct fulcrum_setting *settings, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (settings[i].field->offset == offset) {
            return true;
        }
    }
    return false;
}

/* Does a calibration from `first` on give the field a value on this machine? */
static bool is_given(
    const struct list *list, size_t first, const struct fulcrum_field *field)
{
    for (size_t i = first; i < list->inputs->calibration_count; i++) {
        const struct fulcrum_calibration *calibration = list->inputs->calibrations[i];
        if (fulcrum_calibration_parameter(calibration, field->path) != NULL &&
            fulcrum_calibration_holds(calibration, &list->machine, field->path)) {
            return true;
        }
    }
    return false;
}

/* Does calibration `i` decide what value parameter `k` of it has? */
static bool is_in_force(const struct list *list, size_t i, size_t k)
{
    const struct fulcrum_calibration *calibration = list->inputs->calibrations[i];
    const char *path = calibration->parameters[k].path;
    const struct fulcrum_field *field = calibration->parameters[k].field;
    return fulcrum_calibration_holds(calibration, &list->machine, path) &&
           !sets_member(
               list->inputs->settings, list->inputs->setting_count, field->offset) &&
           !is_given(list, i + 1, field);
}

/* Times of actors or learners that this machine takes over from the calibration. */
static bool gives_times(const struct list *list, size_t i)
{
    const struct fulcrum_calibration *calibration = list->inputs->calibrations[i];
    for (size_t k = 0; k < calibration->parameter_count; k++) {
        if (strncmp(calibration->parameters[k].path, "workload.", 9) == 0 &&
            is_in_force(list, i, k)) {
            return true;
        }
    }
    return false;
}

static void list_priors(struct list *list)
{
    const struct fulcrum_scenario_inputs *inputs = list->inputs;
    for (size_t i = 0; i < inputs->prior_count; i++) {
        const struct fulcrum_field *field = inputs->priors[i].field;
        bool varies = field->kind == FULCRUM_FIELD_NUMBER &&
                      inputs->priors[i].spread_factor > 1.0 &&
                      !isnan(fulcrum_field_number(field, inputs->base));
        if (varies &&
            !sets_member(inputs->settings, inputs->setting_count, field->offset) &&
            !is_given(list, 0, field)) {
            add(list, (struct fulcrum_uncertain_input){.kind = FULCRUM_UNCERTAIN_PRIOR,
                          .field = field,
                          .prior = i,
                          .slot = FULCRUM_SLOT_FIRST_PRIOR + i});
        }
    }
}

/* One z for all columns of the draws that a calibration keeps. */
static void list_draws(struct list *list, size_t i)
{
    const struct fulcrum_calibration *calibration = list->inputs->calibrations[i];
    for (size_t k = 0; k < calibration->parameter_count; k++) {
        if (fulcrum_sampler_keeps(calibration, k) && is_in_force(list, i, k)) {
            add(list, (struct fulcrum_uncertain_input){.kind = FULCRUM_UNCERTAIN_DRAWS,
                          .calibration = calibration,
                          .slot = calibration_slot(list->inputs, i) +
                                  calibration->parameter_count});
            return;
        }
    }
}

static enum fulcrum_status list_calibration(
    struct list *list, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_calibration *calibration = list->inputs->calibrations[i];
    list->block = calloc(calibration->parameter_count + 1, sizeof *list->block);
    TRY_MEMORY(list->block, err, "uncertain numbers");
    fulcrum_sampler_blocks(calibration, list->block);
    for (size_t block = 0; block < calibration->parameter_count; block++) {
        /*
         * A block has a z for each of its parameters, also for those that are not in
         * force: the others depend on them.
         */
        size_t before = list->count;
        size_t group = list->group_count;
        bool any_in_force = false;
        for (size_t k = 0; k < calibration->parameter_count; k++) {
            const struct fulcrum_parameter *parameter = &calibration->parameters[k];
            if (list->block[k] == block && parameter->standard_error > 0.0) {
                add(list, (struct fulcrum_uncertain_input){
                              .kind = FULCRUM_UNCERTAIN_PARAMETER,
                              .field = parameter->field,
                              .calibration = calibration,
                              .parameter = k,
                              .slot = calibration_slot(list->inputs, i) + k});
                list->items[list->count - 1].group = group;
                any_in_force |= is_in_force(list, i, k);
            }
        }
        list->count = any_in_force ? list->count : before;
        list->group_count = any_in_force ? group + 1 : group;
    }
    list_draws(list, i);
    free(list->block);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_uncertain_inputs_list(
    const struct fulcrum_scenario_inputs *inputs, struct fulcrum_uncertain_input **out,
    size_t *count, struct fulcrum_error *err)
{
    struct fulcrum_design design = *inputs->base;
    TRY(apply_settings(inputs->settings, inputs->setting_count, &design, err));
    struct list list = {.inputs = inputs, .machine = design.machine};
    list.items = calloc(fulcrum_uncertain_input_slots(inputs), sizeof *list.items);
    TRY_MEMORY(list.items, err, "uncertain numbers");
    enum fulcrum_status status;
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        TRY_OR_END(list_calibration(&list, i, err));
    }
    /* Scaled times have spreads, one for all of a machine's: apply_calibration.c's
     * rule. */
    const struct fulcrum_machine *machine = &list.machine;
    bool other_cpu = false;
    bool other_gpu = false;
    for (size_t i = 0; i < list.inputs->calibration_count; i++) {
        const struct fulcrum_machine *measured = &list.inputs->calibrations[i]->machine;
        bool counts = gives_times(&list, i);
        other_cpu |= counts && strcmp(measured->cpu.name, machine->cpu.name) != 0;
        other_gpu |= counts && measured->accelerator == FULCRUM_ACCELERATOR_GPU &&
                     machine->accelerator == FULCRUM_ACCELERATOR_GPU &&
                     strcmp(measured->gpu.name, machine->gpu.name) != 0;
    }
    if (other_cpu) {
        add(&list, (struct fulcrum_uncertain_input){.kind = FULCRUM_UNCERTAIN_CPU_SCALE,
                       .slot = FULCRUM_SLOT_CPU_SCALE});
    }
    if (other_gpu) {
        add(&list, (struct fulcrum_uncertain_input){.kind = FULCRUM_UNCERTAIN_GPU_SCALE,
                       .slot = FULCRUM_SLOT_GPU_SCALE});
    }
    list_priors(&list);
    *out = list.items;
    *count = list.count;
    return FULCRUM_OK;
end:
    free(list.items);
    return status;
}

static double prior_value(const struct fulcrum_scenario_inputs *inputs,
    const struct fulcrum_uncertain_input *input, double z)
{
    double spread_factor = inputs->priors[input->prior].spread_factor;
    double value =
        fulcrum_field_number(input->field, inputs->base) * exp(z * log(spread_factor));
    return fmin(fmax(value, input->field->least), input->field->most);
}

double fulcrum_uncertain_input_value(const struct fulcrum_scenario_inputs *inputs,
    const struct fulcrum_uncertain_input *input, double z)
{
    switch (input->kind) {
    case FULCRUM_UNCERTAIN_CPU_SCALE:
        return exp(z * log(FULCRUM_CPU_SPREAD_FACTOR));
    case FULCRUM_UNCERTAIN_GPU_SCALE:
        return exp(z * log(FULCRUM_GPU_SPREAD_FACTOR));
    case FULCRUM_UNCERTAIN_PRIOR:
        return prior_value(inputs, input, z);
    case FULCRUM_UNCERTAIN_PARAMETER:
        return fmin(fmax(fulcrum_sampler_marginal(
                             &input->calibration->parameters[input->parameter], z),
                        input->field->least),
            input->field->most);
    case FULCRUM_UNCERTAIN_DRAWS:
    default:
        return FULCRUM_UNKNOWN;
    }
}

struct fulcrum_scenario {
    struct fulcrum_design base; /* machine settings applied */
    struct fulcrum_scenario_inputs inputs;
    struct applied *applied;
    unsigned char *is_late; /* per field, in the order of fulcrum_fields */
};

static enum fulcrum_status apply_with_cores(const struct fulcrum_setting *settings,
    size_t count, struct fulcrum_design *design, struct fulcrum_error *err)
{
    struct fulcrum_cpu before = design->machine.cpu;
    enum fulcrum_status status = apply_settings(settings, count, design, err);
    /* Cores follow a thread count that was set without them: the threads per core stay.
     */
    struct fulcrum_cpu *cpu = &design->machine.cpu;
    const size_t threads = offsetof(struct fulcrum_design, machine.cpu.thread_count);
    const size_t cores = offsetof(struct fulcrum_design, machine.cpu.core_count);
    if (sets_member(settings, count, threads) && !sets_member(settings, count, cores)) {
        cpu->core_count = cpu->thread_count * before.core_count / before.thread_count;
    }
    return status;
}

enum fulcrum_status fulcrum_scenario_new(const struct fulcrum_scenario_inputs *inputs,
    struct fulcrum_scenario **out, struct fulcrum_error *err)
{
    struct fulcrum_scenario *scenario = calloc(1, sizeof *scenario);
    TRY_MEMORY(scenario, err, "a scenario");
    enum fulcrum_status status = FULCRUM_OK;
    size_t field_count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&field_count);
    scenario->inputs = *inputs;
    scenario->base = *inputs->base;
    scenario->applied =
        calloc(inputs->calibration_count + 1, sizeof *scenario->applied);
    scenario->is_late = calloc(field_count, sizeof *scenario->is_late);
    TRY_OR_END(scenario->applied != NULL && scenario->is_late != NULL
                   ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a scenario"));
    for (size_t i = 0; i < inputs->calibration_count; i++) {
        TRY_OR_END(applied_init(&scenario->applied[i], inputs->calibrations[i], err));
        scenario->applied[i].first_slot = calibration_slot(inputs, i);
    }
    TRY_OR_END(apply_with_cores(
        inputs->settings, inputs->setting_count, &scenario->base, err));
    /* Choices and texts are rare in sweeps, and decide which calibration is usable. */
    for (size_t i = 0; i < field_count; i++) {
        bool is_early = fields[i].kind == FULCRUM_FIELD_TEXT ||
                        fields[i].kind == FULCRUM_FIELD_CHOICE;
        for (size_t j = 0; j < scenario->inputs.calibration_count; j++) {
            is_early = is_early || depends_on(&scenario->applied[j], &fields[i]);
        }
        scenario->is_late[i] = !is_early;
    }
    *out = scenario;
    return FULCRUM_OK;
end:
    fulcrum_scenario_free(scenario);
    return status;
}

void fulcrum_scenario_free(struct fulcrum_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    for (size_t i = 0;
         scenario->applied != NULL && i < scenario->inputs.calibration_count; i++) {
        applied_clear(&scenario->applied[i]);
    }
    free(scenario->applied);
    free(scenario->is_late);
    free(scenario);
}

static double lognormal_factor(double z, double spread_factor)
{
    return isnan(z) ? 1.0 : exp(z * log(spread_factor));
}

/* The z in `slot` of a sample, or chance. */
static double z_of(const struct luck *luck, size_t slot)
{
    return luck->z != NULL ? luck->z[slot] : gsl_ran_ugaussian(luck->rng);
}

/* Did a calibration measure this parameter, and does it hold for `machine`? */
static bool measures(const struct fulcrum_scenario *scenario,
    const struct fulcrum_machine *machine, const char *path)
{
    for (size_t i = 0; i < scenario->inputs.calibration_count; i++) {
        const struct fulcrum_calibration *calibration =
            scenario->inputs.calibrations[i];
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(calibration, path);
        if (parameter != NULL && parameter->origin != FULCRUM_ORIGIN_PRIOR &&
            fulcrum_calibration_holds(calibration, machine, path)) {
            return true;
        }
    }
    return false;
}

static unsigned watts_flag(
    const struct fulcrum_scenario *scenario, const struct fulcrum_machine *machine)
{
    bool has_gpu = machine->accelerator == FULCRUM_ACCELERATOR_GPU;
    bool measured = measures(scenario, machine, "machine.cpu.core_dynamic_w") &&
                    (!has_gpu || measures(scenario, machine, "machine.gpu.dynamic_w"));
    return measured ? 0U : (unsigned)FULCRUM_FLAG_WATTS_ASSUMED;
}

/*
 * Settings once more, so that what the user says wins over what a calibration gives.
 * The base has them, checked.
 */
static enum fulcrum_status apply_again(const struct fulcrum_scenario *scenario,
    const struct fulcrum_point *point, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    struct fulcrum_cpu counted = out->machine.cpu;
    for (size_t i = 0; i < scenario->inputs.setting_count; i++) {
        const struct fulcrum_field *field = scenario->inputs.settings[i].field;
        leave_table(field, out);
        memcpy((char *)out + field->offset,
            (const char *)&scenario->base + field->offset, field->size);
    }
    enum fulcrum_status status =
        apply_settings(point->varied, point->varied_count, out, err);
    out->machine.cpu.core_count = counted.core_count;
    out->machine.cpu.thread_count = counted.thread_count;
    return status;
}

/* Everything but what is done once all fields are known. */
static enum fulcrum_status build_prefix(const struct fulcrum_scenario *scenario,
    const struct fulcrum_point *point, const struct luck *luck,
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    *out = scenario->base;
    out->cpu_scale_off = luck->cpu_spread;
    out->gpu_scale_off = luck->gpu_spread;
    bool is_drawn = luck->rng != NULL || luck->z != NULL;
    for (size_t i = 0; is_drawn && i < scenario->inputs.prior_count; i++) {
        const struct fulcrum_prior *prior = &scenario->inputs.priors[i];
        double value = fulcrum_field_number(prior->field, out);
        double z = z_of(luck, FULCRUM_SLOT_FIRST_PRIOR + i);
        double drawn = value * lognormal_factor(z, prior->spread_factor);
        if (prior->field->kind == FULCRUM_FIELD_NUMBER && !isnan(value)) {
            drawn = fmin(fmax(drawn, prior->field->least), prior->field->most);
            set_number(prior->field, out, drawn);
        }
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(apply_with_cores(point->varied, point->varied_count, out, err));
    for (size_t i = 0; i < scenario->inputs.calibration_count; i++) {
        TRY_OR_END(apply_calibration(
            &scenario->applied[i], &scenario->base.workload, luck, out));
    }
    status = apply_again(scenario, point, out, err);
end:
    out->flags |= watts_flag(scenario, &out->machine);
    return status;
}

/* SMs used follow the GPU, and a fault is named, once no field changes any more. */
static enum fulcrum_status finish_design(
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    if (isnan(out->run.sm_count)) {
        out->run.sm_count = out->machine.gpu.sm_count;
    }
    fulcrum_machine_fill_watts(&out->machine);
    enum fulcrum_status status = fulcrum_design_check(out, err);
    if (status == FULCRUM_OK && fulcrum_design_is_resident(out)) {
        out->run.actor_count = out->run.gpu_count * out->run.instances_per_gpu;
        out->run.envs_per_actor =
            out->workload.simulation.env_count / out->run.instances_per_gpu;
    }
    FAULT_IF(status == FULCRUM_ERR_MISSING &&
                 (out->flags & FULCRUM_FLAG_OTHER_LEARNER) != 0U,
        err, status,
        "the calibration's learner times were left out, as its learner is a %s: "
        "'fulcrum "
        "calibrate' measures the machine at hand, and --calibration FILE gives that",
        fulcrum_accelerator_name(!out->machine.accelerator));
    return status;
}

static void set_spreads(struct luck *luck)
{
    luck->cpu_spread =
        lognormal_factor(z_of(luck, FULCRUM_SLOT_CPU_SCALE), FULCRUM_CPU_SPREAD_FACTOR);
    luck->gpu_spread =
        lognormal_factor(z_of(luck, FULCRUM_SLOT_GPU_SCALE), FULCRUM_GPU_SPREAD_FACTOR);
}

/* The part of a design that `point` draws and varies, without what follows it. */
static enum fulcrum_status draw_prefix(const struct fulcrum_scenario *scenario,
    const struct fulcrum_point *point, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    struct luck luck = {NULL, NULL, 1.0, 1.0, point};
    if (point->draw != 0) {
        luck.rng = gsl_rng_alloc(gsl_rng_taus2);
        TRY_MEMORY(luck.rng, err, "a random stream");
        /* The generator takes 32 bits; 0 would stand for its default. */
        uint64_t seed = fulcrum_stream_seed(point->seed, 0, point->draw);
        gsl_rng_set(luck.rng, (unsigned long)(seed >> 32U) | 1U);
        set_spreads(&luck);
    }
    enum fulcrum_status status = build_prefix(scenario, point, &luck, out, err);
    if (luck.rng != NULL) {
        gsl_rng_free(luck.rng);
    }
    return status;
}

enum fulcrum_status fulcrum_scenario_design(const struct fulcrum_scenario *scenario,
    const struct fulcrum_point *point, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    TRY(draw_prefix(scenario, point, out, err));
    return finish_design(out, err);
}

enum fulcrum_status fulcrum_scenario_design_in(const struct fulcrum_scenario *scenario,
    const double *z, const struct fulcrum_point *point, struct fulcrum_design *out,
    struct fulcrum_error *err)
{
    struct luck luck = {NULL, z, 1.0, 1.0, point};
    set_spreads(&luck);
    TRY(build_prefix(scenario, point, &luck, out, err));
    return finish_design(out, err);
}

/* A point's settings, parted into those that the prefix holds and the others. */
struct parted {
    struct fulcrum_setting early[FULCRUM_PREFIX_SETTINGS_MOST];
    struct fulcrum_setting late[FULCRUM_PREFIX_SETTINGS_MOST];
    size_t early_count;
    size_t late_count;
};

/* Texts are borrowed and may have changed: only numbers are compared. */
static bool stands_for(const struct fulcrum_design_common_prefix *prefix,
    const struct fulcrum_point *point, const struct parted *parted)
{
    if (!prefix->is_set || prefix->count != parted->early_count ||
        prefix->draw != point->draw || prefix->seed != point->seed) {
        return false;
    }
    for (size_t i = 0; i < prefix->count; i++) {
        const struct fulcrum_setting *kept = &prefix->settings[i];
        const struct fulcrum_setting *wanted = &parted->early[i];
        if (kept->field != wanted->field || kept->text != NULL ||
            wanted->text != NULL || kept->number != wanted->number) {
            return false;
        }
    }
    return true;
}

enum fulcrum_status fulcrum_scenario_design_along(
    const struct fulcrum_scenario *scenario,
    struct fulcrum_design_common_prefix *prefix, const struct fulcrum_point *point,
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    if (point->varied_count > FULCRUM_PREFIX_SETTINGS_MOST) {
        return fulcrum_scenario_design(scenario, point, out, err);
    }
    struct parted parted;
    size_t field_count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&field_count);
    parted.early_count = 0;
    parted.late_count = 0;
    for (size_t i = 0; i < point->varied_count; i++) {
        const struct fulcrum_setting *setting = &point->varied[i];
        if (scenario->is_late[setting->field - fields]) {
            parted.late[parted.late_count++] = *setting;
        } else {
            parted.early[parted.early_count++] = *setting;
        }
    }
    if (!stands_for(prefix, point, &parted)) {
        struct fulcrum_point early = *point;
        early.varied = parted.early;
        early.varied_count = parted.early_count;
        enum fulcrum_status status =
            draw_prefix(scenario, &early, &prefix->design, err);
        prefix->is_set = status == FULCRUM_OK;
        prefix->draw = point->draw;
        prefix->seed = point->seed;
        prefix->count = parted.early_count;
        for (size_t k = 0; k < prefix->count; k++) {
            prefix->settings[k] = parted.early[k];
        }
        TRY(status);
    }
    /* Late threads take the cores along, in the proportion that the prefix has. */
    *out = prefix->design;
    TRY(apply_with_cores(parted.late, parted.late_count, out, err));
    return finish_design(out, err);
}
