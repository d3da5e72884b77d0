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
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/stopwatch.h"
#include "model/try.h"

enum { SOURCE_COUNT = 2, TEXT_SIZE = 240 };

/* What one domain counts, and why it cannot be believed. */
struct track {
    double begin_j;
    double window_j;
    bool is_wanted; /* one of those asked for */
    char doubt[TEXT_SIZE];
};

struct source {
    const struct fulcrum_meter *meter; /* NULL where none opens */
    struct fulcrum_meter_state *state;
    const struct fulcrum_meter_domain *domain;
    struct track *track;
    double *read_j;
    size_t count;
    double window_rel; /* of the windows that its domains need */
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
    struct fulcrum_energy_reading idle;
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

/* Details of failures have lines; a reason is one. */
static void keep_line(char *text, size_t size, const char *detail)
{
    (void)snprintf(text, size, "%.*s", (int)size - 1, detail);
    for (char *end = strchr(text, '\n'); end != NULL; end = strchr(end, '\n')) {
        *end = ' ';
    }
}

/* Domains of one GPU where one is named, all of the source otherwise. */
static int choose_domains(struct source *source, const char *name)
{
    bool is_any = name == NULL || name[0] == '\0';
    size_t wanted = 0;
    source->absence[0] = '\0';
    for (size_t i = 0; i < source->count; i++) {
        const struct fulcrum_meter_domain *domain = &source->domain[i];
        source->track[i].is_wanted = is_any || strcmp(domain->name, name) == 0 ||
                                     strstr(domain->detail, name) != NULL;
        wanted += (size_t)source->track[i].is_wanted;
    }
    if (wanted == 0) {
        (void)snprintf(source->absence, sizeof source->absence,
            "meter %s has no \"%.100s\" among its %zu domains", source->meter->name,
            is_any ? "domain" : name, source->count);
    }
    return wanted > 0;
}

int fulcrum_energy_choose_gpu(struct fulcrum_energy_meterset *set, const char *gpu)
{
    struct source *source = &set->source[1];
    return source->meter != NULL && choose_domains(source, gpu);
}

static enum fulcrum_status open_source(struct source *source,
    enum fulcrum_meter_scope scope, const struct fulcrum_energy_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    const char *root = options->root == NULL ? "" : options->root;
    if (fulcrum_meter_open_first(&source->meter, &source->state, scope, root, &why) !=
        FULCRUM_OK) {
        keep_line(source->absence, sizeof source->absence, why.detail);
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
    (void)choose_domains(source, scope == FULCRUM_METER_GPU ? options->gpu : NULL);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_energy_open(struct fulcrum_energy_meterset **out,
    const struct fulcrum_energy_options *options, struct fulcrum_error *err)
{
    static const enum fulcrum_meter_scope scopes[SOURCE_COUNT] = {
        FULCRUM_METER_CPU_PACKAGE, FULCRUM_METER_GPU};
    struct fulcrum_energy_meterset *set = calloc(1, sizeof *set);
    TRY_MEMORY(set, err, "energy meters");
    set->clock_s = options->clock_s == NULL ? wall_s : options->clock_s;
    set->user = options->user;
    set->uses_gpu = options->uses_gpu;
    set->window_rel = options->window_rel > 0 ? options->window_rel : 1;
    fulcrum_energy_take_idle(set, &(struct fulcrum_energy_reading){0});
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < SOURCE_COUNT && status == FULCRUM_OK; i++) {
        set->source[i].window_rel = set->window_rel;
        status = open_source(&set->source[i], scopes[i], options, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_energy_close(set);
        return status;
    }
    *out = set;
    return FULCRUM_OK;
}

/* The source of domain `at` of the set, and the place of the domain in it. */
static const struct source *source_of(
    const struct fulcrum_energy_meterset *set, size_t at, size_t *index)
{
    size_t skipped = 0;
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        const struct source *source = &set->source[i];
        if (at < skipped + source->count) {
            *index = at - skipped;
            return source;
        }
        skipped += source->count;
    }
    return NULL;
}

/* The first wanted domain from `*at` on, which moves behind it; NULL: no more. */
static const struct fulcrum_meter_domain *next_wanted(
    const struct fulcrum_energy_meterset *set, size_t *at, double *window_j)
{
    size_t index = 0;
    const struct source *source = source_of(set, *at, &index);
    while (source != NULL && !source->track[index].is_wanted) {
        (*at)++;
        source = source_of(set, *at, &index);
    }
    if (source == NULL) {
        return NULL;
    }
    (*at)++;
    *window_j = source->track[index].window_j;
    return &source->domain[index];
}

/* What holds for every domain that is wanted. */
struct bounds {
    double least_window_s;
    double settle_s;
    int has[FULCRUM_METER_SCOPE_COUNT];
};

static struct bounds bounds_of(const struct fulcrum_energy_meterset *set)
{
    struct bounds bounds = {0};
    size_t at = 0;
    double window_j = 0;
    for (const struct fulcrum_meter_domain *domain = next_wanted(set, &at, &window_j);
         domain != NULL; domain = next_wanted(set, &at, &window_j)) {
        bounds.least_window_s = fmax(bounds.least_window_s, domain->least_window_s);
        bounds.settle_s = fmax(bounds.settle_s, domain->settle_s);
        bounds.has[domain->scope] = 1;
    }
    return bounds;
}

int fulcrum_energy_has(
    const struct fulcrum_energy_meterset *set, enum fulcrum_meter_scope scope)
{
    return bounds_of(set).has[scope];
}

double fulcrum_energy_least_window_s(const struct fulcrum_energy_meterset *set)
{
    return set->window_rel * bounds_of(set).least_window_s;
}

double fulcrum_energy_settle_s(const struct fulcrum_energy_meterset *set)
{
    return set->window_rel * bounds_of(set).settle_s;
}

/* The first doubt about a domain within a window stays. */
static void doubt(struct track *track, const char *format, ...) FULCRUM_PRINTF(2, 3);

static void doubt(struct track *track, const char *format, ...)
{
    if (track->doubt[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(track->doubt, sizeof track->doubt, format, args);
        va_end(args);
    }
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
            doubt(&source->track[i], "%.200s", why.detail);
            source->read_j[i] = (double)NAN;
        } else if (!isfinite(source->read_j[i])) {
            doubt(&source->track[i], "%.200s",
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

/* Half of what the source's counters allow between two reads; infinite: any time. */
static double patience_s(const struct source *source)
{
    double least_s = HUGE_VAL;
    for (size_t i = 0; i < source->count; i++) {
        double most_s = source->domain[i].most_window_s;
        least_s = most_s > 0 ? fmin(least_s, most_s) : least_s;
    }
    return 0.5 * least_s;
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
            doubt(&source->track[i],
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
        if (source->meter != NULL &&
            set->clock_s(set->user) - source->last_s > patience_s(source)) {
            read_again(set, source);
        }
    }
}

static void end_source(struct fulcrum_energy_meterset *set, struct source *source)
{
    if (source->meter != NULL) {
        read_again(set, source);
    }
    source->window_s = source->last_s - source->begin_s;
    for (size_t i = 0; i < source->count; i++) {
        struct track *track = &source->track[i];
        /* Joules of one domain, NAN where they cannot be believed. */
        const struct fulcrum_meter_domain *domain = &source->domain[i];
        double joules = source->read_j[i] - track->begin_j;
        double least_s = source->window_rel * domain->least_window_s;
        if (!(source->window_s >= least_s)) {
            doubt(track, "%s: a window of %.3g s is shorter than the %.3g s it needs",
                domain->name, source->window_s, least_s);
        } else if (joules < 0) {
            doubt(track, "%s: its counter went back by %.6g J", domain->name, -joules);
        } else if (!(joules > 0)) {
            doubt(track, "%s: its counter stood still for %.3g s", domain->name,
                source->window_s);
        }
        track->window_j =
            track->doubt[0] == '\0' && isfinite(joules) ? joules : (double)NAN;
    }
}

/* Adds a line's worth to a text, cut where it is full. */
static void append(char *text, size_t size, const char *separator, const char *more)
{
    size_t length = strlen(text);
    (void)snprintf(
        text + length, size - length, "%s%s", length > 0 ? separator : "", more);
}

/* Joules and watts of one scope; NAN where a wanted domain of it has none. */
static void sum_scope(const struct source *source, enum fulcrum_meter_scope scope,
    double *joules, double *watts)
{
    double sum_j = 0;
    size_t count = 0;
    for (size_t i = 0; i < source->count; i++) {
        const struct track *track = &source->track[i];
        if (source->domain[i].scope != scope || !track->is_wanted) {
            continue;
        }
        count++;
        sum_j += track->window_j;
    }
    *joules = count > 0 ? sum_j : (double)NAN;
    *watts = count > 0 ? sum_j / source->window_s : (double)NAN;
}

/* Joules above an idle level that may not be known: NAN then. */
static double above_j(const struct source *source, double joules, double idle_w)
{
    return joules - idle_w * source->window_s;
}

/* What a step costs is the sum of what it runs on, or not known. */
static void add_to_step(const struct fulcrum_energy_meterset *set,
    struct fulcrum_energy_reading *out, double step_count)
{
    const struct source *cpu = &set->source[0];
    double sum_j = out->cpu_j;
    double sum_above_j = above_j(cpu, out->cpu_j, set->idle.cpu_w);
    if (isfinite(out->dram_j)) {
        double memory_j = above_j(cpu, out->dram_j, set->idle.dram_w);
        sum_j += out->dram_j;
        sum_above_j += isfinite(memory_j) ? memory_j : 0;
    }
    if (set->uses_gpu) {
        sum_j += out->gpu_j;
        sum_above_j += above_j(&set->source[1], out->gpu_j, set->idle.gpu_w);
    }
    bool has_steps = step_count > 0 && isfinite(step_count);
    out->j_per_step = has_steps ? sum_j / step_count : (double)NAN;
    out->above_idle_j_per_step = has_steps ? sum_above_j / step_count : (double)NAN;
    if (!has_steps) {
        append(out->reason, sizeof out->reason, "; ", "no step within the window");
    }
}

/* Names of the domains behind the joules of a step. */
static void name_domains(
    const struct fulcrum_energy_meterset *set, struct fulcrum_energy_reading *out)
{
    size_t at = 0;
    double window_j = 0;
    for (const struct fulcrum_meter_domain *domain = next_wanted(set, &at, &window_j);
         domain != NULL; domain = next_wanted(set, &at, &window_j)) {
        if (isfinite(window_j) &&
            (set->uses_gpu || domain->scope != FULCRUM_METER_GPU)) {
            append(out->covers, sizeof out->covers, ", ", domain->name);
        }
    }
}

/* Why nothing was opened, and what is in doubt of what was. */
static void give_reasons(const struct source *source, char *reason, size_t size)
{
    append(reason, size, "", source->absence);
    for (size_t i = 0; i < source->count; i++) {
        const struct track *track = &source->track[i];
        if (track->is_wanted && track->doubt[0] != '\0') {
            append(reason, size, "; ", track->doubt);
        }
    }
}

static void fill(struct fulcrum_energy_meterset *set, double step_count,
    struct fulcrum_energy_reading *out)
{
    struct source *cpu = &set->source[0];
    struct source *gpu = &set->source[1];
    end_source(set, cpu);
    end_source(set, gpu);
    sum_scope(cpu, FULCRUM_METER_CPU_PACKAGE, &out->cpu_j, &out->cpu_w);
    sum_scope(cpu, FULCRUM_METER_DRAM, &out->dram_j, &out->dram_w);
    sum_scope(gpu, FULCRUM_METER_GPU, &out->gpu_j, &out->gpu_w);
    give_reasons(cpu, out->cpu_reason, sizeof out->cpu_reason);
    give_reasons(gpu, out->gpu_reason, sizeof out->gpu_reason);
    (void)snprintf(out->reason, sizeof out->reason, "%s%s%s", out->cpu_reason,
        out->cpu_reason[0] != '\0' && out->gpu_reason[0] != '\0' ? "; " : "",
        out->gpu_reason);
    add_to_step(set, out, step_count);
    name_domains(set, out);
}

void fulcrum_energy_end(struct fulcrum_energy_meterset *set, double step_count,
    struct fulcrum_energy_reading *out)
{
    const double none = (double)NAN;
    *out = (struct fulcrum_energy_reading){none, none, none, none, none, none, none,
        none, none, "", "", "", "no window was begun"};
    if (!set->is_begun) {
        return;
    }
    out->reason[0] = '\0';
    out->window_s = set->clock_s(set->user) - set->begin_s;
    fill(set, step_count, out);
    set->is_begun = 0;
}

static double known_w(double watts)
{
    return watts > 0 && isfinite(watts) ? watts : (double)NAN;
}

void fulcrum_energy_take_idle(
    struct fulcrum_energy_meterset *set, const struct fulcrum_energy_reading *idle)
{
    set->idle.cpu_w = known_w(idle->cpu_w);
    set->idle.dram_w = known_w(idle->dram_w);
    set->idle.gpu_w = known_w(idle->gpu_w);
}

int fulcrum_energy_domain(const struct fulcrum_energy_meterset *set, size_t index,
    struct fulcrum_energy_domain *out)
{
    size_t place = 0;
    const struct source *source = source_of(set, index, &place);
    if (source != NULL) {
        out->meter = source->meter->name;
        out->domain = &source->domain[place];
        out->window_j = source->track[place].window_j;
    }
    return source != NULL;
}
