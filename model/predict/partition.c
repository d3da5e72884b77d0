/* partition.c - stages of a training loop on parts of one GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stage's time on a part of a GPU is a + w / x: what no part shortens, and what goes
 * with its share of the SMs (and, of the memory system, with that share), (17) in
 * docs/model.md "Parts of a GPU". Stages of one process follow each other; processes
 * overlap, so that a round takes as long as the slowest. Environments that are dealt
 * out to several instances make each step smaller, not rarer: what a step costs
 * whatever its size is then paid as often as there are instances. Stages that wait for
 * each other at every step overlap only if each has half of the environments in hand.
 */
#include "model/predict/partition.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

/* Rates are found to this, relative. */
static const double rate_tolerance = 1e-13;

/* Even shares, a little less, so that their sum is not above 1 by rounding. */
#define EVEN_FRAC (1.0 - 1e-12)

static double held_s(const struct fulcrum_gpu_time *time)
{
    return time->latency_s + time->sm_s + time->dram_s;
}

static double whole_s(const struct fulcrum_gpu_time *time)
{
    return time->host_s + held_s(time);
}

static void add_times(
    struct fulcrum_gpu_time *sum, const struct fulcrum_gpu_time *time, double factor)
{
    sum->host_s += factor * time->host_s;
    sum->latency_s += factor * time->latency_s;
    sum->sm_s += factor * time->sm_s;
    sum->dram_s += factor * time->dram_s;
}

static double part_s(
    const struct fulcrum_gpu_time *time, double sm_frac, double dram_frac)
{
    return time->host_s + time->latency_s + time->sm_s / sm_frac +
           time->dram_s / dram_frac;
}

double fulcrum_gpu_stage_s(
    const struct fulcrum_gpu_stage *stage, double sm_frac, double dram_frac)
{
    return part_s(&stage->per_step, sm_frac, dram_frac) +
           part_s(&stage->per_round, sm_frac, dram_frac);
}

/* A group's round on a whole GPU, with what it says to other instances. */
struct group_load {
    struct fulcrum_gpu_time time;
    double talk_s;
    struct fulcrum_gpu_time active; /* the same, by the SMs that it keeps active */
    double memory_byte;             /* of one instance */
    double instances;
    unsigned stages;
};

/* Of the stages that wait for each other, are some in another group? */
static bool is_apart(const struct fulcrum_gpu_loop *loop, unsigned stages)
{
    unsigned alternating = 0;
    for (size_t i = 0; i < loop->count; i++) {
        alternating |= loop->stages[i].alternates ? 1U << i : 0U;
    }
    return (alternating & stages) != 0U && (alternating & ~stages) != 0U;
}

/* Bytes over the link; none over an infinite one. */
static double talk_s(const struct fulcrum_gpu_sharing *sharing, double byte)
{
    return byte > 0.0 ? byte / sharing->byte_per_s : 0.0;
}

/*
 * Times weighted by the share of the SMs that is active: launches keep none, so that
 * what is told of all of a stage's time, alone, belongs to the rest. A stage that is
 * nothing but launches has no rest, and keeps what it is told.
 */
static void add_active(const struct fulcrum_gpu_stage *stage,
    const struct fulcrum_gpu_time *time, double often, struct fulcrum_gpu_time *sum)
{
    double held = held_s(&stage->per_step) + held_s(&stage->per_round);
    double whole = whole_s(&stage->per_step) + whole_s(&stage->per_round);
    if (!(held > 0.0)) {
        sum->host_s += often * time->host_s * stage->sm_active_frac;
        return;
    }
    double factor = often * stage->sm_active_frac * whole / held;
    sum->latency_s += factor * time->latency_s;
    sum->sm_s += factor * time->sm_s;
    sum->dram_s += factor * time->dram_s;
}

static void add_stage(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, size_t i, struct group_load *load)
{
    const struct fulcrum_gpu_stage *stage = &loop->stages[i];
    double dealt = sharing->envs_each ? 1.0 : load->instances;
    double halves = stage->alternates && is_apart(loop, load->stages) ? 2.0 : 1.0;
    double often = stage->alternates ? dealt * halves : 1.0;
    unsigned next = 1U << ((i + 1) % loop->count);
    double peers = load->instances;
    add_times(&load->time, &stage->per_step, often);
    add_times(&load->time, &stage->per_round, 1.0);
    add_active(stage, &stage->per_step, often, &load->active);
    add_active(stage, &stage->per_round, 1.0, &load->active);
    load->memory_byte += stage->memory_byte + stage->env_memory_byte / dealt;
    if ((load->stages & next) == 0U) {
        load->talk_s += talk_s(sharing, stage->hand_byte);
    }
    /* A ring: each instance passes on 2 (n - 1) / n of the sum. */
    load->talk_s += talk_s(sharing, stage->reduce_byte * 2.0 * (peers - 1.0) / peers);
}

static struct group_load load_of(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, const struct fulcrum_stage_group *group)
{
    struct group_load load = {.instances = group->instances, .stages = group->stages};
    for (size_t i = 0; i < loop->count; i++) {
        if ((group->stages & (1U << i)) != 0U) {
            add_stage(loop, sharing, i, &load);
        }
    }
    return load;
}

/* One process with every stage. */
static struct group_load load_of_all(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, double instances)
{
    const struct fulcrum_stage_group all = {
        .stages = (1U << loop->count) - 1U, .instances = instances};
    return load_of(loop, sharing, &all);
}

/* Sets what follows from the rate for the whole GPU. */
static void finish(const struct fulcrum_gpu_loop *loop, const struct group_load *loads,
    size_t count, double rounds_per_s, struct fulcrum_placed *out)
{
    double work_s = 0.0;
    for (size_t g = 0; g < count; g++) {
        work_s += loads[g].time.sm_s;
        out->instances += loads[g].instances;
        out->memory_byte += loads[g].instances * loads[g].memory_byte;
    }
    out->rounds_per_s = rounds_per_s;
    out->steps_per_s = rounds_per_s * loop->steps;
    out->sm_work_frac = rounds_per_s * work_s;
}

void fulcrum_place_exclusive(
    const struct fulcrum_gpu_loop *loop, struct fulcrum_placed *out)
{
    static const struct fulcrum_gpu_sharing alone = {
        .byte_per_s = (double)INFINITY, .envs_each = 1};
    struct group_load load = load_of_all(loop, &alone, 1.0);
    double round_s = whole_s(&load.time);
    *out = (struct fulcrum_placed){.placement = FULCRUM_PLACEMENT_EXCLUSIVE,
        .part_count = 1,
        .sm_held_frac = held_s(&load.time) / round_s,
        .sm_active_frac = fmin(1.0, whole_s(&load.active) / round_s)};
    out->parts[0] = (struct fulcrum_gpu_part){.stages = load.stages,
        .instances = 1.0,
        .sm_frac = 1.0,
        .dram_frac = 1.0,
        .profile = FULCRUM_MIG_PROFILES_MOST,
        .round_s = round_s,
        .busy_frac = 1.0};
    finish(loop, &load, 1, 1.0 / round_s, out);
}

static enum fulcrum_status check_memory(const struct fulcrum_gpu_loop *loop,
    const struct group_load *loads, size_t count, struct fulcrum_error *err)
{
    double needed = 0.0;
    for (size_t g = 0; g < count; g++) {
        needed += loads[g].instances * loads[g].memory_byte;
    }
    return needed <= loop->memory_byte
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
                     "instances need %.3g GB of memory in all: the GPU has %.3g GB",
                     needed / 1e9, loop->memory_byte / 1e9);
}

enum fulcrum_status fulcrum_place_time_sliced(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, double instances,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    struct group_load load = load_of_all(loop, sharing, instances);
    TRY(check_memory(loop, &load, 1, err));
    if (!(instances > 1.0)) {
        fulcrum_place_exclusive(loop, out);
        return FULCRUM_OK;
    }
    double held = held_s(&load.time) * (1.0 + sharing->switch_frac);
    double alone_s = load.time.host_s + load.talk_s + held;
    double rounds_per_s = fmin(instances / alone_s, 1.0 / fmax(held, 1e-300));
    *out = (struct fulcrum_placed){.placement = FULCRUM_PLACEMENT_TIME_SLICED,
        .part_count = 1,
        .sm_held_frac = rounds_per_s * held,
        .sm_active_frac = fmin(1.0, rounds_per_s * whole_s(&load.active))};
    out->parts[0] = (struct fulcrum_gpu_part){.stages = load.stages,
        .instances = instances,
        .sm_frac = 1.0,
        .dram_frac = 1.0,
        .profile = FULCRUM_MIG_PROFILES_MOST,
        .round_s = instances / rounds_per_s,
        .busy_frac = rounds_per_s * alone_s / instances};
    finish(loop, &load, 1, rounds_per_s, out);
    return FULCRUM_OK;
}

/* Groups side by side, their shares of the SMs, and what sharing adds. */
struct side_by_side {
    size_t count;
    struct group_load loads[FULCRUM_STAGES_MOST];
    double more;  /* 1 + overhead_frac */
    double least; /* share of an instance */
    bool is_given;
    double given[FULCRUM_STAGES_MOST]; /* shares, where they are given */
};

/* Of the memory system, by the stretch of its phases at one rate. */
struct crowding {
    double stretch[FULCRUM_STAGES_MOST];
    bool is_possible;
};

/*
 * Every instance's memory phases take longer by the others' that go on meanwhile: with
 * a = rate x bandwidth time of an instance, s = 1 + sum over the others of a s, whose
 * solution is below. Instances that do nothing but read reach their share and no more.
 */
static struct crowding crowding_at(
    const struct side_by_side *sides, double rounds_per_s)
{
    struct crowding out = {.is_possible = 1};
    double a[FULCRUM_STAGES_MOST] = {0};
    double sum = 0.0;
    for (size_t g = 0; g < sides->count; g++) {
        const struct group_load *load = &sides->loads[g];
        a[g] = rounds_per_s / load->instances * load->time.dram_s * sides->more;
        sum += load->instances * a[g] / (1.0 + a[g]);
    }
    out.is_possible = sum < 1.0;
    for (size_t g = 0; out.is_possible && g < sides->count; g++) {
        out.stretch[g] = 1.0 / ((1.0 - sum) * (1.0 + a[g]));
    }
    return out;
}

/* What of a group's round its share of the SMs does not touch. */
static double fixed_s(
    const struct side_by_side *sides, size_t g, const struct crowding *crowding)
{
    const struct fulcrum_gpu_time *time = &sides->loads[g].time;
    return (time->host_s + time->latency_s + time->dram_s * crowding->stretch[g]) *
               sides->more +
           sides->loads[g].talk_s;
}

/*
 * The least shares with which every group keeps this rate; their sum, or INFINITY where
 * no shares would do.
 */
static double shares_at(
    const struct side_by_side *sides, double rounds_per_s, double *share)
{
    const double never = (double)INFINITY;
    struct crowding crowding = crowding_at(sides, rounds_per_s);
    double sum = 0.0;
    for (size_t g = 0; crowding.is_possible && g < sides->count; g++) {
        const struct group_load *load = &sides->loads[g];
        double left_s = load->instances / rounds_per_s - fixed_s(sides, g, &crowding);
        double work_s = load->time.sm_s * sides->more;
        if (!(left_s >= work_s)) {
            return never;
        }
        share[g] = left_s > 0.0 ? work_s / left_s : 0.0;
        if (sides->is_given && share[g] > sides->given[g]) {
            return never;
        }
        share[g] = fmax(sides->least, share[g]);
        sum += load->instances * share[g];
    }
    return crowding.is_possible ? sum : never;
}

/* Shares are the water: they rise with the rate, until the sum of them is 1. */
static double fill_shares(const struct side_by_side *sides, double *share)
{
    double low = 0.0;
    /* No group is faster than its instances would be with the GPU to themselves. */
    double bound = (double)INFINITY;
    for (size_t g = 0; g < sides->count; g++) {
        const struct group_load *load = &sides->loads[g];
        double round_s = whole_s(&load->time) * sides->more + load->talk_s;
        bound = fmin(bound, load->instances / round_s);
    }
    double high = bound;
    if (!sides->is_given && shares_at(sides, high, share) <= 1.0) {
        return high;
    }
    while (high - low > rate_tolerance * high) {
        double middle = 0.5 * (low + high);
        double sum = shares_at(sides, middle, share);
        bool keeps = sides->is_given ? isfinite(sum) : sum <= 1.0;
        low = keeps ? middle : low;
        high = keeps ? high : middle;
        if (!(middle > low) && !(middle < high)) {
            break;
        }
    }
    (void)shares_at(sides, low, share);
    return low;
}

static void put_parts(const struct side_by_side *sides, const double *share,
    double rounds_per_s, struct fulcrum_placed *out)
{
    struct crowding crowding = crowding_at(sides, rounds_per_s);
    double longest = 0.0;
    for (size_t g = 0; g < sides->count; g++) {
        const struct group_load *load = &sides->loads[g];
        double held = held_s(&load->time) - load->time.sm_s - load->time.dram_s;
        double sm_s = load->time.sm_s > 0.0 ? load->time.sm_s / share[g] : 0.0;
        held = (held + sm_s + load->time.dram_s * crowding.stretch[g]) * sides->more;
        double round_s = fixed_s(sides, g, &crowding) + sm_s * sides->more;
        double turns = rounds_per_s / load->instances;
        out->parts[g] = (struct fulcrum_gpu_part){.stages = load->stages,
            .instances = load->instances,
            .sm_frac = share[g],
            .dram_frac = 1.0,
            .profile = FULCRUM_MIG_PROFILES_MOST,
            .round_s = round_s,
            .busy_frac = fmin(1.0, turns * round_s)};
        out->sm_held_frac += load->instances * share[g] * fmin(1.0, turns * held);
        /* SM-seconds at work in a round: a small part keeps few SMs busy for long. */
        const struct fulcrum_gpu_time *active = &load->active;
        out->sm_active_frac += rounds_per_s *
                               (share[g] * (active->host_s + active->latency_s +
                                               active->dram_s * crowding.stretch[g]) +
                                   active->sm_s) *
                               sides->more;
        if (round_s / load->instances > longest) {
            longest = round_s / load->instances;
            out->slowest = g;
        }
    }
    out->part_count = sides->count;
    out->sm_active_frac = fmin(1.0, out->sm_active_frac);
}

static double instances_of(const struct fulcrum_grouping *grouping)
{
    double sum = 0.0;
    for (size_t g = 0; g < grouping->count; g++) {
        sum += grouping->groups[g].instances;
    }
    return sum;
}

enum fulcrum_status fulcrum_place_shares(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, const struct fulcrum_grouping *grouping,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    struct side_by_side sides = {.count = grouping->count,
        .more = 1.0 + sharing->overhead_frac,
        .least = fmin(sharing->least_sm_frac, EVEN_FRAC / instances_of(grouping)),
        .is_given = grouping->groups[0].sm_frac > 0.0};
    for (size_t g = 0; g < grouping->count; g++) {
        sides.loads[g] = load_of(loop, sharing, &grouping->groups[g]);
        sides.given[g] = grouping->groups[g].sm_frac;
    }
    TRY(check_memory(loop, sides.loads, sides.count, err));
    /* Shares that are given are of one GPU: beyond 1 they would do more than it can. */
    const double rounding = 1e-6;
    double sum = 0.0;
    for (size_t g = 0; g < grouping->count; g++) {
        sum += grouping->groups[g].instances * grouping->groups[g].sm_frac;
    }
    TRY(sum <= 1.0 + rounding
            ? FULCRUM_OK
            : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                  "shares of the SMs sum to %.6g: expected at most 1", sum));
    if (!(instances_of(grouping) > 1.0) && !sides.is_given) {
        fulcrum_place_exclusive(loop, out);
        return FULCRUM_OK;
    }
    double share[FULCRUM_STAGES_MOST] = {0};
    *out = (struct fulcrum_placed){.placement = FULCRUM_PLACEMENT_SHARES};
    double rounds_per_s = fill_shares(&sides, share);
    put_parts(&sides, sides.is_given ? sides.given : share, rounds_per_s, out);
    finish(loop, sides.loads, sides.count, rounds_per_s, out);
    return FULCRUM_OK;
}

/*
 * Restricted growth strings: stage i is in a group no more than one beyond those before
 * it. The next one in order; false after the last.
 */
static bool next_string(size_t *at, size_t stage_count)
{
    for (size_t i = stage_count; i-- > 1;) {
        size_t most = 0;
        for (size_t k = 0; k < i; k++) {
            most = at[k] > most ? at[k] : most;
        }
        if (at[i] <= most) {
            at[i]++;
            return true;
        }
        at[i] = 0;
    }
    return false;
}

/*
 * The next set partition of a loop's stages, in a fixed order; `index` from 0. Every
 * group has one instance. False beyond the last one.
 */
static bool grouping_at(size_t stage_count, size_t index, struct fulcrum_grouping *out)
{
    size_t at[FULCRUM_STAGES_MOST] = {0};
    assert(stage_count >= 1 && stage_count <= FULCRUM_STAGES_MOST);
    for (size_t seen = 0; seen < index; seen++) {
        if (!next_string(at, stage_count)) {
            return false;
        }
    }
    *out = (struct fulcrum_grouping){.count = 0};
    for (size_t i = 0; i < stage_count; i++) {
        out->count = at[i] + 1 > out->count ? at[i] + 1 : out->count;
        out->groups[at[i]].stages |= 1U << i;
        out->groups[at[i]].instances = 1.0;
    }
    return true;
}

/* The next numbers of instances, at most `most` each; false after the last ones. */
static bool next_instances(struct fulcrum_grouping *grouping, double most)
{
    for (size_t g = 0; g < grouping->count; g++) {
        if (grouping->groups[g].instances < most) {
            grouping->groups[g].instances += 1.0;
            return true;
        }
        grouping->groups[g].instances = 1.0;
    }
    return false;
}

/* A tie, to rounding, goes to fewer instances. */
static bool is_better(const struct fulcrum_placed *a, const struct fulcrum_placed *b)
{
    const double tie = 1e-9;
    if (b->part_count == 0 || a->rounds_per_s > b->rounds_per_s * (1.0 + tie)) {
        return true;
    }
    return a->rounds_per_s > b->rounds_per_s * (1.0 - tie) &&
           a->instances < b->instances;
}

enum fulcrum_status fulcrum_place_best_shares(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, double instances_most,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    struct fulcrum_placed best = {.part_count = 0};
    struct fulcrum_grouping grouping;
    for (size_t i = 0; grouping_at(loop->count, i, &grouping); i++) {
        /* Keeps the best of one grouping with every number of instances. */
        do {
            struct fulcrum_placed placed = {.part_count = 0};
            double instances = instances_of(&grouping);
            if (instances >= 2.0 && instances <= instances_most &&
                fulcrum_place_shares(loop, sharing, &grouping, &placed, NULL) ==
                    FULCRUM_OK &&
                is_better(&placed, &best)) {
                best = placed;
            }
        } while (next_instances(&grouping, instances_most));
    }
    FAIL_IF(best.part_count == 0, err, FULCRUM_ERR_INFEASIBLE,
        "two instances or more, however grouped, need more memory than the GPU's %.3g "
        "GB",
        loop->memory_byte / 1e9);
    *out = best;
    return FULCRUM_OK;
}

/* One assignment of a layout's instances to groups. */
struct assignment {
    const struct fulcrum_gpu_loop *loop;
    const struct fulcrum_gpu_sharing *sharing;
    size_t instance_count;
    size_t profile[FULCRUM_MIG_INSTANCES_MOST];
    size_t group[FULCRUM_MIG_INSTANCES_MOST]; /* grouping.count: idle */
    struct fulcrum_grouping grouping;
};

static double slice_part_s(const struct assignment *assignment,
    const struct fulcrum_gpu_time *time, size_t index)
{
    const struct fulcrum_mig *mig = assignment->sharing->mig;
    const struct fulcrum_gpu_sharing *sharing = assignment->sharing;
    const struct fulcrum_mig_profile *profile = &mig->profiles[index];
    double cache = profile->cache_slice_count / mig->memory_slice_count;
    double traffic = fulcrum_dram_traffic_rel(
        &sharing->cache_law, sharing->cache_byte, sharing->cache_byte * cache);
    double dram = profile->memory_slice_count / mig->memory_slice_count / traffic;
    return part_s(time, profile->sm_count / mig->sm_count, dram) *
           (1.0 + sharing->overhead_frac);
}

static double slice_s(
    const struct assignment *assignment, const struct group_load *load, size_t index)
{
    return slice_part_s(assignment, &load->time, index) + load->talk_s;
}

/* The part for one more instance: that of its group and profile, or a new one. */
static struct fulcrum_gpu_part *part_for(
    struct fulcrum_placed *out, unsigned stages, size_t profile)
{
    for (size_t i = 0; i < out->part_count; i++) {
        if (out->parts[i].stages == stages && out->parts[i].profile == profile) {
            return &out->parts[i];
        }
    }
    struct fulcrum_gpu_part *part = &out->parts[out->part_count++];
    *part = (struct fulcrum_gpu_part){.stages = stages, .profile = profile};
    return part;
}

static void add_instance(const struct assignment *assignment, size_t j,
    const struct group_load *load, struct fulcrum_placed *out)
{
    const struct fulcrum_mig *mig = assignment->sharing->mig;
    size_t k = assignment->profile[j];
    struct fulcrum_gpu_part *part = part_for(out, load->stages, k);
    part->instances += 1.0;
    part->sm_frac = mig->profiles[k].sm_count / mig->sm_count;
    part->dram_frac = mig->profiles[k].memory_slice_count / mig->memory_slice_count;
    part->round_s = slice_s(assignment, load, k);
}

/* Rounds per second of every instance follow the slowest of the slowest group. */
static void set_busy(struct fulcrum_placed *out, const struct group_load *loads,
    const struct assignment *assignment)
{
    double longest = 0.0;
    for (size_t i = 0; i < out->part_count; i++) {
        struct fulcrum_gpu_part *part = &out->parts[i];
        const struct group_load *load = loads;
        while (load->stages != part->stages) {
            load++;
        }
        double turns = out->rounds_per_s / load->instances;
        double aside_s = load->talk_s +
                         load->time.host_s * (1.0 + assignment->sharing->overhead_frac);
        part->busy_frac = fmin(1.0, turns * part->round_s);
        out->sm_active_frac += part->instances * turns * part->sm_frac *
                               slice_part_s(assignment, &load->active, part->profile);
        out->sm_held_frac += part->instances * part->sm_frac *
                             fmin(1.0, turns * fmax(0.0, part->round_s - aside_s));
        if (part->round_s / load->instances > longest) {
            longest = part->round_s / load->instances;
            out->slowest = i;
        }
    }
    out->sm_active_frac = fmin(1.0, out->sm_active_frac);
}

/* False where a group has no instance, or one whose slice is too small. */
static bool evaluate(struct assignment *assignment, struct fulcrum_placed *out)
{
    const struct fulcrum_grouping *grouping = &assignment->grouping;
    struct group_load loads[FULCRUM_STAGES_MOST];
    double slowest_s[FULCRUM_STAGES_MOST] = {0};
    double rounds_per_s = (double)INFINITY;
    for (size_t k = 0; k < assignment->grouping.count; k++) {
        assignment->grouping.groups[k].instances = 0.0;
    }
    for (size_t j = 0; j < assignment->instance_count; j++) {
        if (assignment->group[j] < assignment->grouping.count) {
            assignment->grouping.groups[assignment->group[j]].instances += 1.0;
        }
    }
    for (size_t g = 0; g < grouping->count; g++) {
        if (!(grouping->groups[g].instances > 0.0)) {
            return false;
        }
        loads[g] = load_of(assignment->loop, assignment->sharing, &grouping->groups[g]);
    }
    *out = (struct fulcrum_placed){.placement = FULCRUM_PLACEMENT_SLICES};
    for (size_t j = 0; j < assignment->instance_count; j++) {
        size_t g = assignment->group[j];
        const struct fulcrum_mig_profile *profile =
            &assignment->sharing->mig->profiles[assignment->profile[j]];
        if (g < grouping->count && loads[g].memory_byte > profile->memory_byte) {
            return false;
        }
        if (g < grouping->count) {
            add_instance(assignment, j, &loads[g], out);
            slowest_s[g] = fmax(
                slowest_s[g], slice_s(assignment, &loads[g], assignment->profile[j]));
        }
    }
    for (size_t g = 0; g < grouping->count; g++) {
        rounds_per_s = fmin(rounds_per_s, loads[g].instances / slowest_s[g]);
    }
    finish(assignment->loop, loads, grouping->count, rounds_per_s, out);
    set_busy(out, loads, assignment);
    return true;
}

/* Counts through all assignments; equal instances are kept in the order of groups. */
static bool next_assignment(struct assignment *assignment)
{
    size_t j = assignment->instance_count;
    while (j > 0 && assignment->group[j - 1] == assignment->grouping.count) {
        j--;
    }
    if (j == 0) {
        return false;
    }
    size_t group = ++assignment->group[j - 1];
    for (size_t k = j; k < assignment->instance_count; k++) {
        bool is_equal = assignment->profile[k] == assignment->profile[k - 1];
        group = is_equal ? group : 0;
        assignment->group[k] = group;
    }
    return true;
}

enum fulcrum_status fulcrum_place_layout(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, const struct fulcrum_mig_layout *layout,
    struct fulcrum_placed *out, struct fulcrum_error *err)
{
    struct assignment assignment = {.loop = loop, .sharing = sharing};
    struct fulcrum_placed best = {.part_count = 0};
    assignment.instance_count = 0;
    for (size_t i = assignment.sharing->mig->profile_count; i-- > 0;) {
        for (unsigned n = 0; n < layout->counts[i]; n++) {
            assignment.profile[assignment.instance_count++] = i;
        }
    }
    for (size_t i = 0; grouping_at(assignment.loop->count, i, &assignment.grouping);
         i++) {
        memset(assignment.group, 0, sizeof assignment.group);
        do {
            struct fulcrum_placed placed = {.part_count = 0};
            if (evaluate(&assignment, &placed) && is_better(&placed, &best)) {
                best = placed;
            }
        } while (next_assignment(&assignment));
    }
    if (best.part_count == 0) {
        char text[160];
        fulcrum_mig_layout_text(sharing->mig, layout, text, sizeof text);
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s: no assignment of the stages fits into the slices' memory", text);
    }
    *out = best;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_place_best_layout(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, struct fulcrum_placed *out,
    struct fulcrum_mig_layout *layout, struct fulcrum_error *err)
{
    struct fulcrum_mig_layout *layouts = NULL;
    size_t count = 0;
    struct fulcrum_placed best = {.part_count = 0};
    TRY(fulcrum_mig_layouts(sharing->mig, &layouts, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_placed placed = {.part_count = 0};
        if (layouts[i].is_full &&
            fulcrum_place_layout(loop, sharing, &layouts[i], &placed, NULL) ==
                FULCRUM_OK &&
            is_better(&placed, &best)) {
            best = placed;
            *layout = layouts[i];
        }
    }
    free(layouts);
    FAIL_IF(best.part_count == 0, err, FULCRUM_ERR_INFEASIBLE,
        "%s: no layout has slices whose memory the stages fit into",
        sharing->mig->name);
    *out = best;
    return FULCRUM_OK;
}
