/* cluster.c - training on many devices: data-parallel, model-parallel and both. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After Pal et al. 2019 (arXiv:1907.13257): more workers make steps longer by the
 * all-reduce and batches larger, which costs epochs; more devices to a worker make the
 * step shorter by less than their number, and leave the batch alone. Which of the two
 * wins is a product of three ratios. Epochs grow with the batch as McCandlish et al.
 * 2018 (arXiv:1812.06162) derive from the noise of gradients: E = E_min (1 + B / B_c).
 */

#include "model/design/cluster.h"

#include <math.h>
#include <stdbool.h>

#include "model/try.h"

/*
 * Time to sum the gradients of many devices, over links of levels. Times are alpha +
 * byte / bandwidth per message, added up along the longest chain (Thakur, Rabenseifner
 * and Gropp 2005, "Optimization of collective communication operations in MPICH"). The
 * ring sends the fewest bytes there can be (Patarasuk and Yuan 2009, "Bandwidth optimal
 * all-reduce algorithms for clusters of workstations"); double binary trees (Sanders,
 * Speck and Traeff 2009) send as many as a ring without end, and pass each level's
 * latency a logarithm of times only. Both are what NCCL chooses from (its tuning.cc);
 * hops over the network are counted as it counts them. Sending and summing are
 * pipelined; the time to fill the pipeline is latency.
 */

const char *fulcrum_allreduce_name(int how)
{
    static const char *const names[] = {"best", "ring", "tree", "hierarchical"};
    return how >= 0 && how < (int)(sizeof names / sizeof names[0]) ? names[how] : NULL;
}

static double device_count(const struct fulcrum_link_level *levels, size_t level_count)
{
    double count = 1.0;
    for (size_t i = 0; i < level_count; i++) {
        count *= levels[i].count;
    }
    return count;
}

/* Of the levels that join anything: a chain through all is as fast as the slowest. */
static double least_byte_per_s(
    const struct fulcrum_link_level *levels, size_t level_count)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < level_count; i++) {
        if (levels[i].count > 1.0) {
            least = fmin(least, levels[i].byte_per_s);
        }
    }
    return least;
}

/*
 * 2 (G - 1) hops, of which the outer levels have 2 (count - 1) and the inner ones the
 * rest; each link carries 2 (G - 1) / G of the bytes.
 */
static double ring_s(
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    double devices = device_count(levels, level_count);
    double latency_s = 0.0;
    double beyond = 1.0; /* groups that the levels further out join */
    for (size_t i = level_count; i-- > 0;) {
        latency_s += 2.0 * (levels[i].count - 1.0) * beyond * levels[i].latency_s;
        beyond *= levels[i].count;
    }
    return 2.0 * (devices - 1.0) / devices * byte /
               least_byte_per_s(levels, level_count) +
           latency_s;
}

/* Up the tree and down again; every device sends and receives all bytes twice. */
static double tree_s(
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    double latency_s = 0.0;
    for (size_t i = 0; i < level_count; i++) {
        latency_s += 2.0 * ceil(log2(levels[i].count)) * levels[i].latency_s;
    }
    return 2.0 * byte / least_byte_per_s(levels, level_count) + latency_s;
}

/*
 * Every level sums what one group of it has: scattered over the devices within a group
 * and gathered again, so that all links of a group carry their part at a time.
 */
static double hierarchical_s(
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    double time_s = 0.0;
    for (size_t i = 0; i < level_count; i++) {
        if (levels[i].count > 1.0) {
            double ring = ring_s(&levels[i], 1, byte);
            /* Scattered bytes need a ring; only the outermost level sums them whole. */
            bool is_last = device_count(levels + i + 1, level_count - i - 1) <= 1.0;
            time_s += is_last ? fmin(ring, tree_s(&levels[i], 1, byte)) : ring;
        }
    }
    return time_s;
}

static double time_of(enum fulcrum_allreduce how,
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    switch (how) {
    case FULCRUM_ALLREDUCE_RING:
        return ring_s(levels, level_count, byte);
    case FULCRUM_ALLREDUCE_TREE:
        return tree_s(levels, level_count, byte);
    case FULCRUM_ALLREDUCE_BEST:
    case FULCRUM_ALLREDUCE_HIERARCHICAL:
    default:
        return hierarchical_s(levels, level_count, byte);
    }
}

/* The choice that is in force: `how` itself or, of BEST, the one that it takes. */
static enum fulcrum_allreduce allreduce_chosen(enum fulcrum_allreduce how,
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    static const enum fulcrum_allreduce others[] = {
        FULCRUM_ALLREDUCE_TREE, FULCRUM_ALLREDUCE_HIERARCHICAL, FULCRUM_ALLREDUCE_RING};
    if (how != FULCRUM_ALLREDUCE_BEST) {
        return how;
    }
    enum fulcrum_allreduce best = FULCRUM_ALLREDUCE_RING;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (time_of(others[i], levels, level_count, byte) <
            time_of(best, levels, level_count, byte)) {
            best = others[i];
        }
    }
    return best;
}

double fulcrum_allreduce_s(enum fulcrum_allreduce how,
    const struct fulcrum_link_level *levels, size_t level_count, double byte)
{
    if (device_count(levels, level_count) <= 1.0 || byte <= 0.0) {
        return 0.0;
    }
    return time_of(
        allreduce_chosen(how, levels, level_count, byte), levels, level_count, byte);
}

/* The least of a network, which refuses shorter steps, but later than here. */
#define LEAST_STEP_S 1e-12

const char *fulcrum_batch_scaling_name(int scaling)
{
    static const char *const names[] = {"weak", "strong"};
    return scaling >= 0 && scaling < (int)(sizeof names / sizeof names[0])
               ? names[scaling]
               : NULL;
}

double fulcrum_model_parallel_speedup(double frac, double count)
{
    return count > 1.0 ? 1.0 / (1.0 - frac + frac / count) : 1.0;
}

double fulcrum_model_parallel_frac(double speedup, double count)
{
    return (1.0 - 1.0 / speedup) / (1.0 - 1.0 / count);
}

/* E(batch) / E(own) of (16b). `critical` may be INFINITY; NAN gives NAN but for equal
 * batches. */
static double epochs_rel_of(double batch, double own, double critical)
{
    if (isinf(critical) || batch == own) {
        return 1.0;
    }
    return (critical + batch) / (critical + own);
}

static bool is_count(double value)
{
    return value >= 1.0 && isfinite(value) && floor(value) >= value;
}

enum fulcrum_status fulcrum_layout_spread(double device_count, double most_per_node,
    double model_parallel_count, struct fulcrum_layout *out, struct fulcrum_error *err)
{
    FAIL_IF(!is_count(device_count) || !is_count(most_per_node) ||
                !is_count(model_parallel_count),
        err, FULCRUM_ERR_RANGE,
        "%.6g devices, at most %.6g to a machine, %.6g to a worker: expected whole "
        "numbers from 1",
        device_count, most_per_node, model_parallel_count);
    double workers = device_count / model_parallel_count;
    FAIL_IF(workers < 1.0 || floor(workers) < workers ||
                model_parallel_count > most_per_node,
        err, FULCRUM_ERR_INFEASIBLE,
        "%.6g devices, %.6g to a machine, cannot be workers of %.6g devices each",
        device_count, most_per_node, model_parallel_count);
    /* Ends at the latest with one worker to a machine. */
    double nodes = ceil(device_count / most_per_node);
    while (fmod(workers, nodes) > 0.0) {
        nodes += 1.0;
    }
    *out = (struct fulcrum_layout){
        nodes, workers / nodes * model_parallel_count, model_parallel_count, 1.0};
    return FULCRUM_OK;
}

/* Links that nobody has described take no time. */
static double rate_or_free(double byte_per_s)
{
    return isnan(byte_per_s) ? (double)INFINITY : byte_per_s;
}

struct fulcrum_cluster_step fulcrum_cluster_step_of(
    const struct fulcrum_cluster *cluster, const struct fulcrum_layout *layout)
{
    double parts = layout->model_parallel_count;
    double workers =
        layout->node_count * layout->node_device_count / parts * layout->instance_count;
    bool is_split = cluster->scaling == FULCRUM_BATCH_STRONG;
    double own_frac = is_split ? 1.0 / workers : 1.0; /* of batch_size, per worker */
    double shortened =
        cluster->launch_bound_frac + (1.0 - cluster->launch_bound_frac) * own_frac;
    struct fulcrum_cluster_step out = {.worker_count = workers,
        .global_batch_size = cluster->batch_size * (is_split ? 1.0 : workers)};
    out.compute_s = cluster->step_s * (is_split ? shortened : 1.0) /
                    fulcrum_model_parallel_speedup(cluster->model_parallel_frac, parts);
    /*
     * Each device of a worker has its part of the parameters, and sums it with its like
     * in the other workers; those of one machine share its way out. Workers on one
     * device sum theirs in its memory, which takes next to nothing beside links.
     */
    const struct fulcrum_link_level levels[] = {
        {layout->instance_count, (double)INFINITY, 0.0},
        {layout->node_device_count / parts, rate_or_free(cluster->link.peer_byte_per_s),
            cluster->link.peer_latency_s},
        {layout->node_count, rate_or_free(cluster->link.network_byte_per_s) / parts,
            cluster->link.network_latency_s},
    };
    out.allreduce_s =
        cluster->update_count * fulcrum_allreduce_s(cluster->allreduce, levels,
                                    sizeof levels / sizeof levels[0],
                                    cluster->gradient_byte / parts);
    /* All-reduce that compute does not hide. */
    out.exposed_s = fmax(0.0, out.allreduce_s - cluster->overlap_frac * out.compute_s);
    out.step_s = out.compute_s + out.exposed_s;
    double divisor_s = fmax(out.step_s, LEAST_STEP_S);
    out.efficiency = out.compute_s / divisor_s;
    out.samples_per_s = out.global_batch_size / divisor_s;
    /* An unknown own batch is still the same batch where nothing multiplies it. */
    out.epochs_rel = is_split || workers <= 1.0
                         ? 1.0
                         : epochs_rel_of(out.global_batch_size, cluster->batch_size,
                               cluster->critical_batch_size);
    out.speedup = own_frac * workers * cluster->step_s / divisor_s;
    out.quality_speedup = out.speedup / out.epochs_rel;
    return out;
}

static double value_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

struct fulcrum_cluster fulcrum_cluster_of(
    const struct fulcrum_design *design, double train_step_s)
{
    const struct fulcrum_workload_training *training = &design->workload.training;
    return (struct fulcrum_cluster){
        .step_s = train_step_s,
        .launch_bound_frac = training->launch_bound_frac,
        .batch_size = training->batch_size,
        .gradient_byte = value_or(design->workload.network.parameter_count, 0.0) *
                         training->gradient_byte,
        .update_count = training->update_count,
        .overlap_frac = training->overlap_frac,
        .critical_batch_size = training->critical_batch_size,
        .model_parallel_frac = value_or(training->model_parallel_frac, 0.0),
        .link = design->machine.link,
        .allreduce = (enum fulcrum_allreduce)training->allreduce,
        .scaling = (enum fulcrum_batch_scaling)design->run.batch_scaling,
    };
}

struct fulcrum_layout fulcrum_layout_of(const struct fulcrum_design *design)
{
    bool is_gpu = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    const struct fulcrum_run *run = &design->run;
    double training =
        run->learner_gpu_count > 0.0 ? run->learner_gpu_count : run->gpu_count;
    return (struct fulcrum_layout){design->run.node_count,
        is_gpu ? training : fmax(design->machine.learner_core_count, 1.0),
        is_gpu ? design->run.model_parallel_gpu_count : 1.0,
        is_gpu ? design->run.instances_per_gpu : 1.0};
}
