/* textbook.c - the network as a textbook would solve it, to compare with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each station becomes one whose rate depends on the number of customers at it alone:
 * the CPU with c(n), host and GPU with n / t(n), as if everybody who is there were
 * served in one batch and a newcomer could join it at once. A real batch is closed when
 * it starts, so this promises too much where batches are long. A batch of fixed size
 * has the rate n / t(size) up to its size: nothing in a product form can wait for
 * others. Training adds its share of GPU time to every observation; its queue is left
 * out.
 */

#include "model/exact/exact.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/try.h"

/* Highest rate of a station in units of its rate with everybody there. */
#define MOST_RATE 1e9

enum { CPU, FIRST_STAGE, SECOND_STAGE, MOST_STATIONS };

/* What a stage of the batch path does with n customers there. */
struct batch {
    double served; /* of those there */
    double size;   /* that the times are for */
    double host_s;
    double gpu_s;
    double train_s;
};

struct textbook {
    const struct fulcrum_network *network;
    size_t actors;
    size_t stage_count; /* 1: host and GPU take turns; 2: they overlap */
    struct fulcrum_product_form_station stations[MOST_STATIONS];
    struct fulcrum_product_form_load loads[MOST_STATIONS];
    double *rate[MOST_STATIONS];
};

static double train_s_per_step(const struct fulcrum_network *network)
{
    double steps = network->training.env_steps_per_train_step;
    return steps > 0.0 ? network->training.train_step_s / steps : 0.0;
}

/*
 * Training that a batch waits for: all of it where the two share the GPU, what
 * inference does not cover where both run at full speed.
 */
static double train_s_beside(
    const struct fulcrum_network *network, double size, double gpu_s)
{
    double stretch = fulcrum_sharing_stretch(&network->training);
    double covered = 1.0 - fmin(1.0, stretch - 1.0);
    return fmax(0.0, size * train_s_per_step(network) - covered * gpu_s);
}

static struct batch batch_at(const struct textbook *textbook, size_t stage, double n)
{
    const struct fulcrum_network *network = textbook->network;
    double limit = network->batch_size > 0.0 ? network->batch_size : n;
    double served = fmin(n, limit);
    double size = network->policy == FULCRUM_BATCH_FIXED ? limit : served;
    bool has_host = stage == FIRST_STAGE;
    bool has_gpu = stage == textbook->stage_count;
    double gpu_s = has_gpu ? fulcrum_batch_time(&network->gpu, size) : 0.0;
    return (struct batch){.served = served,
        .size = size,
        .host_s = has_host ? fulcrum_batch_time(&network->host, size) : 0.0,
        .gpu_s = gpu_s,
        .train_s = has_gpu ? train_s_beside(network, size, gpu_s) : 0.0};
}

static double batch_s(const struct batch *batch)
{
    return batch->host_s + batch->gpu_s + batch->train_s;
}

static bool init(struct textbook *textbook, const struct fulcrum_network *network)
{
    bool overlaps = network->depth > 1.0 && fulcrum_batch_takes_time(&network->host) &&
                    fulcrum_batch_takes_time(&network->gpu);
    *textbook = (struct textbook){.network = network,
        .actors = (size_t)network->actors,
        .stage_count = overlaps ? 2 : 1};
    bool fits = true;
    for (size_t i = CPU; i <= textbook->stage_count; i++) {
        textbook->rate[i] = calloc(textbook->actors, sizeof *textbook->rate[i]);
        textbook->loads[i].chance =
            calloc(textbook->actors + 1, sizeof *textbook->loads[i].chance);
        fits &= textbook->rate[i] != NULL && textbook->loads[i].chance != NULL;
    }
    return fits;
}

static void set_stations(struct textbook *textbook)
{
    const struct fulcrum_network *network = textbook->network;
    for (size_t n = 1; n <= textbook->actors; n++) {
        textbook->rate[CPU][n - 1] = fulcrum_cpu_capacity(&network->cpu, (double)n);
    }
    textbook->stations[CPU] =
        (struct fulcrum_product_form_station){.service_s = network->step.mean_s};
    for (size_t stage = FIRST_STAGE; stage <= textbook->stage_count; stage++) {
        /* Rates relative to that of the largest batch. */
        struct batch largest = batch_at(textbook, stage, (double)textbook->actors);
        double item_s = batch_s(&largest) / largest.size;
        for (size_t k = 1; k <= textbook->actors; k++) {
            struct batch batch = batch_at(textbook, stage, (double)k);
            double work = batch.served * item_s;
            double spent_s = fmax(batch_s(&batch), work / MOST_RATE);
            textbook->rate[stage][k - 1] = spent_s > 0.0 ? work / spent_s : 1.0;
        }
        textbook->stations[stage] =
            (struct fulcrum_product_form_station){.service_s = item_s};
    }
    for (size_t i = CPU; i <= textbook->stage_count; i++) {
        struct fulcrum_product_form_station *station = &textbook->stations[i];
        station->type = FULCRUM_STATION_LD;
        station->visits = 1.0;
        station->rate = textbook->rate[i];
        station->rate_count = textbook->actors;
    }
}

/* The mean batch is that of the last stage. */
static void report_stage(
    const struct textbook *textbook, size_t stage, struct fulcrum_solution *out)
{
    const struct fulcrum_product_form_load *load = &textbook->loads[stage];
    double batches_per_s = 0.0;
    double items_per_s = 0.0;
    double gpu_items = 0.0; /* observations on the GPU */
    for (size_t n = 1; n <= textbook->actors; n++) {
        struct batch batch = batch_at(textbook, stage, (double)n);
        double spent_s = batch_s(&batch);
        if (spent_s > 0.0) {
            double per_s = load->chance[n] * batch.served / (batch.size * spent_s);
            batches_per_s += per_s;
            items_per_s += per_s * batch.size;
            gpu_items += per_s * batch.size * (batch.gpu_s + batch.train_s);
            out->host_busy_frac += per_s * batch.host_s;
            out->gpu_inference_busy_frac += per_s * batch.gpu_s;
        }
    }
    if (batches_per_s > 0.0) {
        out->mean_batch = items_per_s / batches_per_s;
    }
    /* Whoever waits for a batch to form counts as at the host where there are turns. */
    double gpu_s = gpu_items / out->steps_per_s;
    if (textbook->stage_count == 2) {
        gpu_s = stage == SECOND_STAGE ? load->residence_s : 0.0;
    }
    out->residence.gpu_s += gpu_s;
    out->residence.host_s += fmax(0.0, load->residence_s - gpu_s);
}

static void report(
    const struct textbook *textbook, double steps_per_s, struct fulcrum_solution *out)
{
    const struct fulcrum_network *network = textbook->network;
    bool is_fixed = network->policy == FULCRUM_BATCH_FIXED;
    *out = (struct fulcrum_solution){.method = FULCRUM_METHOD_PRODUCT_FORM,
        .steps_per_s = steps_per_s,
        .mean_batch = is_fixed ? network->batch_size : 1.0,
        .gpu_train_busy_frac = steps_per_s * train_s_per_step(network),
        .residence = {.delay_s = network->delay_s},
        .flags = FULCRUM_FLAG_TEXTBOOK};
    const struct fulcrum_cpu_station *cpu = &textbook->network->cpu;
    const struct fulcrum_product_form_load *load = &textbook->loads[CPU];
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * (1.0 - cpu->reserved_threads / cpu->thread_count);
    for (size_t n = 1; n <= textbook->actors; n++) {
        double stepping = fmin((double)n, servers);
        out->cpu_thread_busy_frac += load->chance[n] * stepping / servers;
        out->cpu_core_busy_frac +=
            load->chance[n] * fmin(stepping, cores) / cpu->core_count;
    }
    out->residence.cpu_s = load->residence_s;
    for (size_t stage = FIRST_STAGE; stage <= textbook->stage_count; stage++) {
        report_stage(textbook, stage, out);
    }
    out->gpu_busy_frac = out->gpu_inference_busy_frac + out->gpu_train_busy_frac;
}

static enum fulcrum_status solve(struct textbook *textbook,
    const struct fulcrum_network *network, struct fulcrum_solution *out,
    struct fulcrum_error *err)
{
    FAIL_IF(!init(textbook, network), err, FULCRUM_ERR_NO_MEMORY,
        "no memory for a product form of %g actors", network->actors);
    set_stations(textbook);
    struct fulcrum_product_form_network mapped = {.customers = network->actors,
        .think_s = network->delay_s,
        .stations = textbook->stations,
        .station_count = textbook->stage_count + 1};
    struct fulcrum_error fault = {FULCRUM_OK, ""};
    FAIL_IF(fulcrum_product_form_check(&mapped, &fault) != FULCRUM_OK, err,
        FULCRUM_ERR_UNSUPPORTED, "beyond the range of the product form: %s",
        fault.detail);
    double steps_per_s = 0.0;
    TRY(fulcrum_product_form_solve(&mapped, &steps_per_s, textbook->loads, err));
    report(textbook, steps_per_s, out);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_textbook_solve(const struct fulcrum_network *network,
    struct fulcrum_solution *out, struct fulcrum_error *err)
{
    struct textbook textbook;
    enum fulcrum_status status = solve(&textbook, network, out, err);
    for (size_t i = CPU; i <= textbook.stage_count; i++) {
        free(textbook.rate[i]);
        free(textbook.loads[i].chance);
    }
    return status;
}
