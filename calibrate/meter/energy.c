/* energy.c - joules of a piece of work, from whatever meters there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One source for processors, one for GPUs. Each reads its counters at the ends of the
 * window with a time of its own, since one read may take milliseconds. Every doubt
 * about a domain (a window too short or too long for it, a reading that failed, a
 * counter that went back or stood still) makes what it belongs to NAN with a reason;
 * watts of a GPU or a package that count up to zero are no measurement.
 */
#include "calibrate/meter/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/stopwatch.h"
#include "model/try.h"

enum { CPU, GPU, SOURCE_COUNT };

/* What one domain counts, and why it cannot be believed. */
struct track {
    double begin_j;
    double window_j;
    bool is_wanted;                       /* one of those asked for */
    char doubt[FULCRUM_METER_DOUBT_SIZE]; /* the first one within a window */
};

struct source {
    const struct fulcrum_meter *meter; /* NULL where none opens */
    struct fulcrum_meter_state *state;
    const struct fulcrum_meter_domain *domain;
    struct track *track;
    double *read_j;
    size_t count;
    /* Of the domains that are wanted. */
    size_t wanted_count;
    double least_window_s;
    double settle_s;
    double begin_s;
    double last_s; /* of the last read */
    double window_s;
    char absence[900]; /* why nothing opens, or nothing is as asked for */
};

struct fulcrum_energy_meterset {
    double (*clock_s)(void *user);
    void *user;
    double window_rel;
    int uses_gpu;
    bool is_begun;
    double begin_s;
    struct source source[SOURCE_COUNT];
};

static double wall_s(void *user)
{
    (void)user;
    return fulcrum_wall_s();
}

void fulcrum_energy_close(struct fulcrum_energy_meterset *set)
{
    for (size_t i = 0; set != NULL && i < SOURCE_COUNT; i++) {
        struct source *source = &set->source[i];
        if (source->meter != NULL) {
            source->meter->close(source->state);
        }
        free(source->track);
        free(source->read_j);
    }
    free(set);
}

/* Domains of one GPU where one is named, all of the source otherwise. */
static bool choose_domains(struct source *source, const char *name)
{
    bool is_any = name == NULL || name[0] == '\0';
    source->absence[0] = '\0';
    source->wanted_count = 0;
    source->least_window_s = 0;
    source->settle_s = 0;
    for (size_t i = 0; i < source->count; i++) {
        const struct fulcrum_meter_domain *domain = &source->domain[i];
        source->track[i].is_wanted = is_any || strcmp(domain->name, name) == 0 ||
                                     strstr(domain->detail, name) != NULL;
        if (source->track[i].is_wanted) {
            source->wanted_count++;
            source->least_window_s =
                fmax(source->least_window_s, domain->least_window_s);
            source->settle_s = fmax(source->settle_s, domain->settle_s);
        }
    }
    if (source->wanted_count == 0) {
        (void)snprintf(source->absence, sizeof source->absence,
            "meter %s has no \"%.100s\" among its %zu domains", source->meter->name,
            is_any ? "domain" : name, source->count);
    }
    return source->wanted_count > 0;
}

int fulcrum_energy_choose_gpu(struct fulcrum_energy_meterset *set, const char *gpu)
{
    struct source *source = &set->source[GPU];
    return source->meter != NULL && choose_domains(source, gpu);
}

static enum fulcrum_status open_source(struct source *source,
    enum fulcrum_meter_scope scope, const char *root, const char *name,
    struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (fulcrum_meter_open_first(&source->meter, &source->state, scope,
            root == NULL ? "" : root, &why) != FULCRUM_OK) {
        (void)snprintf(source->absence, sizeof source->absence, "%.*s",
            (int)sizeof source->absence - 1, why.detail);
        /* Details of failures have lines; a reason is one. */
        char *end = source->absence;
        while ((end = strchr(end, '\n')) != NULL) {
            *end = ' ';
        }
        return FULCRUM_OK;
    }
    source->domain = source->meter->domains(source->state, &source->count);
    source->track = calloc(source->count + 1, sizeof *source->track);
    source->read_j = calloc(source->count + 1, sizeof *source->read_j);
    FAIL_IF(source->track == NULL || source->read_j == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "%zu energy domains", source->count);
    for (size_t i = 0; i < source->count; i++) {
        source->track[i].window_j = (double)NAN;
    }
    (void)choose_domains(source, name);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_energy_open(struct fulcrum_energy_meterset **out,
    const struct fulcrum_energy_options *options, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_energy_meterset *set = calloc(1, sizeof *set);
    TRY_MEMORY(set, err, "energy meters");
    set->clock_s = options->clock_s == NULL ? wall_s : options->clock_s;
    set->user = options->user;
    set->uses_gpu = options->uses_gpu;
    set->window_rel = options->window_rel > 0 ? options->window_rel : 1;
    TRY_OR_END(open_source(
        &set->source[CPU], FULCRUM_METER_CPU_PACKAGE, options->root, NULL, err));
    TRY_OR_END(open_source(
        &set->source[GPU], FULCRUM_METER_GPU, options->root, options->gpu, err));
    *out = set;
    return FULCRUM_OK;
end:
    fulcrum_energy_close(set);
    return status;
}

bool fulcrum_energy_has_gpu(const struct fulcrum_energy_meterset *set)
{
    return set->source[GPU].wanted_count > 0;
}

double fulcrum_energy_least_window_s(const struct fulcrum_energy_meterset *set)
{
    return set->window_rel *
           fmax(set->source[CPU].least_window_s, set->source[GPU].least_window_s);
}

double fulcrum_energy_settle_s(const struct fulcrum_energy_meterset *set)
{
    return set->window_rel * fmax(set->source[CPU].settle_s, set->source[GPU].settle_s);
}

/* Reads every domain; what has no reading is in doubt for the window at hand. */
static void read_source(struct fulcrum_energy_meterset *set, struct source *source)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    double before_s = set->clock_s(set->user);
    enum fulcrum_status status =
        source->meter->read(source->state, source->read_j, &why);
    source->last_s = before_s + 0.5 * (set->clock_s(set->user) - before_s);
    for (size_t i = 0; i < source->count; i++) {
        if (status != FULCRUM_OK) {
            fulcrum_meter_doubt(source->track[i].doubt, "%.200s", why.detail);
            source->read_j[i] = (double)NAN;
        } else if (!isfinite(source->read_j[i])) {
            fulcrum_meter_doubt(source->track[i].doubt, "%.200s",
                source->meter->why == NULL ? "no reading"
                                           : source->meter->why(source->state, i));
        }
    }
}

void fulcrum_energy_begin(struct fulcrum_energy_meterset *set)
{
    set->is_begun = 1;
    set->begin_s = set->clock_s(set->user);
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        struct source *source = &set->source[i];
        for (size_t j = 0; j < source->count; j++) {
            source->track[j].doubt[0] = '\0';
        }
        if (source->meter != NULL) {
            read_source(set, source);
            source->begin_s = source->last_s;
        }
        for (size_t j = 0; j < source->count; j++) {
            source->track[j].begin_j = source->read_j[j];
        }
    }
}

static void read_again(struct fulcrum_energy_meterset *set, struct source *source)
{
    double since_s = source->last_s;
    read_source(set, source);
    /* Longer between two reads, and a counter may have wrapped twice. */
    for (size_t i = 0; i < source->count; i++) {
        const struct fulcrum_meter_domain *domain = &source->domain[i];
        if (domain->most_window_s > 0 &&
            source->last_s - since_s > domain->most_window_s) {
            fulcrum_meter_doubt(source->track[i].doubt,
                "%s: %.3g s between two readings; its counter may wrap twice in more "
                "than %.3g s",
                domain->name, source->last_s - since_s, domain->most_window_s);
        }
    }
}

void fulcrum_energy_refresh(struct fulcrum_energy_meterset *set)
{
    for (size_t i = 0; set->is_begun && i < SOURCE_COUNT; i++) {
        struct source *source = &set->source[i];
        /* What the source's counters allow between two reads; infinite: any time. */
        double least_s = HUGE_VAL;
        for (size_t j = 0; j < source->count; j++) {
            double most_s = source->domain[j].most_window_s;
            least_s = most_s > 0 ? fmin(least_s, most_s) : least_s;
        }
        if (source->meter != NULL &&
            set->clock_s(set->user) - source->last_s > 0.5 * least_s) {
            read_again(set, source);
        }
    }
}

static void end_source(struct fulcrum_energy_meterset *set, struct source *source)
{
    if (source->meter == NULL) {
        source->window_s = (double)NAN;
        return;
    }
    read_again(set, source);
    source->window_s = source->last_s - source->begin_s;
    for (size_t i = 0; i < source->count; i++) {
        struct track *track = &source->track[i];
        const struct fulcrum_meter_domain *domain = &source->domain[i];
        double joules = source->read_j[i] - track->begin_j;
        double least_s = set->window_rel * domain->least_window_s;
        if (!(source->window_s >= least_s)) {
            fulcrum_meter_doubt(track->doubt,
                "%s: a window of %.3g s is shorter than the %.3g s it needs",
                domain->name, source->window_s, least_s);
        } else if (joules < 0) {
            fulcrum_meter_doubt(track->doubt, "%s: its counter went back by %.6g J",
                domain->name, -joules);
        } else if (!(joules > 0)) {
            fulcrum_meter_doubt(track->doubt, "%s: its counter stood still for %.3g s",
                domain->name, source->window_s);
        }
        track->window_j =
            track->doubt[0] == '\0' && isfinite(joules) ? joules : (double)NAN;
    }
}

static void add_reason(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);
    (void)snprintf(text + length, size - length, "%s%s",
        length > 0 && more[0] != '\0' ? "; " : "", more);
}

/* Joules of one scope; NAN where there is none or a wanted domain of it has none. */
static double scope_j(const struct source *source, enum fulcrum_meter_scope scope)
{
    double sum_j = 0;
    size_t count = 0;
    for (size_t i = 0; i < source->count; i++) {
        if (source->domain[i].scope == scope && source->track[i].is_wanted) {
            count++;
            sum_j += source->track[i].window_j;
        }
    }
    return count > 0 ? sum_j : (double)NAN;
}

static void give_reasons(const struct source *source, char *reason, size_t size)
{
    add_reason(reason, size, source->absence);
    for (size_t i = 0; i < source->count; i++) {
        if (source->track[i].is_wanted) {
            add_reason(reason, size, source->track[i].doubt);
        }
    }
}

void fulcrum_energy_end(struct fulcrum_energy_meterset *set, double step_count,
    struct fulcrum_energy_reading *out)
{
    const double none = (double)NAN;
    *out = (struct fulcrum_energy_reading){
        none, none, none, none, "", "no window was begun"};
    if (!set->is_begun) {
        return;
    }
    set->is_begun = 0;
    out->reason[0] = '\0';
    out->window_s = set->clock_s(set->user) - set->begin_s;
    struct source *cpu = &set->source[CPU];
    struct source *gpu = &set->source[GPU];
    end_source(set, cpu);
    end_source(set, gpu);
    double cpu_j = scope_j(cpu, FULCRUM_METER_CPU_PACKAGE);
    double dram_j = scope_j(cpu, FULCRUM_METER_DRAM);
    double gpu_j = scope_j(gpu, FULCRUM_METER_GPU);
    out->cpu_w = cpu_j / cpu->window_s;
    out->gpu_w = gpu_j / gpu->window_s;
    give_reasons(cpu, out->reason, sizeof out->reason);
    give_reasons(gpu, out->gpu_reason, sizeof out->gpu_reason);
    add_reason(out->reason, sizeof out->reason, out->gpu_reason);
    if (step_count > 0 && isfinite(step_count)) {
        double sum_j = cpu_j + (isfinite(dram_j) ? dram_j : 0);
        out->j_per_step = (sum_j + (set->uses_gpu ? gpu_j : 0)) / step_count;
    } else {
        add_reason(out->reason, sizeof out->reason, "no step within the window");
    }
}

bool fulcrum_energy_gpu(const struct fulcrum_energy_meterset *set, size_t index,
    struct fulcrum_energy_domain *out)
{
    const struct source *source = &set->source[GPU];
    if (index < source->count) {
        *out = (struct fulcrum_energy_domain){
            source->meter->name, &source->domain[index], source->track[index].window_j};
    }
    return index < source->count;
}
