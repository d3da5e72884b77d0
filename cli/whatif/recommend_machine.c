/* recommend_machine.c - machines under limits, the best first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each machine is predicted once, with its draws, and everything else is arithmetic on
 * that (model/whatif/recommend.h). How many of a kind are bought is decided by the
 * estimate; the draws then tell how likely so many are enough.
 */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "cli/whatif/candidates.h"
#include "model/interval.h"
#include "model/quantity.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/io/json.h"

/* Draws of each machine. */
#define MACHINE_DRAWS 96.0
/* The fallback of --max-machines. */
#define MACHINES_MOST 1000.0

/* A machine, what it comes to, and how sure that is. */
struct entry {
    struct fulcrum_candidate candidate;
    double price; /* of one; NAN: not known */
    double rack_unit_count;
    struct fulcrum_cost cost;
    struct fulcrum_cost *drawn; /* one per draw; misses where a draw cannot run */
    struct fulcrum_interval steps_per_s;
    struct fulcrum_interval system_w;
    struct fulcrum_interval steps_per_j;
    struct fulcrum_interval cost_per_step;
    double meets_frac;
    double best_frac;
};

struct candidate_list {
    const struct fulcrum_recommend_settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_predict_options options;
    struct fulcrum_need need;
    struct entry *entries;
    size_t count;
    size_t draw_count;
    size_t *order; /* the best first */
    double *column;
};

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The names of -m: a list, or every preset with GPUs. */
static enum fulcrum_status add_names(struct candidate_list *candidate_list,
    const char *const *names, size_t count, struct fulcrum_error *err)
{
    candidate_list->entries =
        fulcrum_allocate(count + 1, sizeof *candidate_list->entries);
    candidate_list->order = fulcrum_allocate(count + 1, sizeof *candidate_list->order);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_candidate *candidate = &candidate_list->entries[i].candidate;
        (void)snprintf(candidate->name, sizeof candidate->name, "%s", names[i]);
        FULCRUM_USAGE_IF(is_listed(names, i, names[i]), candidate_list->context, err,
            FULCRUM_ERR_RANGE, "--machine: %s is given twice", names[i]);
    }
    candidate_list->count = count;
    return FULCRUM_OK;
}

static enum fulcrum_status add_all(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    TRY(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, err));
    const char **names = fulcrum_allocate(count, sizeof *names);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        if (fulcrum_machine_load(entries[i].name, &design, NULL, NULL) == FULCRUM_OK &&
            design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            design.machine.gpu.count >= 1.0) {
            names[found++] = entries[i].name;
        }
    }
    enum fulcrum_status status = add_names(candidate_list, names, found, err);
    free((void *)names);
    free(entries);
    return status;
}

static enum fulcrum_status add_list(
    struct candidate_list *candidate_list, const char *list, struct fulcrum_error *err)
{
    size_t count = 1;
    for (const char *at = list; *at != '\0'; at++) {
        count += *at == ',';
    }
    char **names = fulcrum_allocate(count, sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        names[i] = fulcrum_list_part(&list);
    }
    enum fulcrum_status status =
        add_names(candidate_list, (const char *const *)names, count, err);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free((void *)names);
    return status;
}

static enum fulcrum_status list_machines(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    const char *list = candidate_list->settings->design.machine;
    FULCRUM_USAGE_IF(list == NULL, candidate_list->context, err, FULCRUM_ERR_MISSING,
        "option '--machine' is missing: a list of machines, or 'all'");
    return strcmp(list, "all") == 0 ? add_all(candidate_list, err)
                                    : add_list(candidate_list, list, err);
}

/* A number that the user gives for one machine. */
struct given {
    size_t at;
    double value;
};

/* "MACHINE=NUMBER" of --price and --rack-units. */
static enum fulcrum_status read_number(const struct candidate_list *candidate_list,
    const char *option, const char *text, struct given *out, struct fulcrum_error *err)
{
    const char *equals = strrchr(text, '=');
    FULCRUM_USAGE_IF(equals == NULL || equals == text, candidate_list->context, err,
        FULCRUM_ERR_FORMAT, "%s %s: expected MACHINE=NUMBER", option, text);
    enum fulcrum_status status =
        fulcrum_number_parse(option, equals + 1, &out->value, err);
    if (status == FULCRUM_OK && !(out->value >= 0.0)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_RANGE, "%s %s: expected 0 or more", option, text);
    }
    if (status != FULCRUM_OK) {
        candidate_list->context->exit_code = 2;
        return status;
    }
    size_t length = (size_t)(equals - text);
    for (size_t i = 0; i < candidate_list->count; i++) {
        const char *name = candidate_list->entries[i].candidate.name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            out->at = i;
            return FULCRUM_OK;
        }
    }
    return fulcrum_usage_fail(candidate_list->context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "%s %s: no such machine in --machine %s", option, text,
        candidate_list->settings->design.machine);
}

/* What the user says of single machines; the presets' own where he does not. */
static enum fulcrum_status read_numbers(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *prices = &candidate_list->settings->prices;
    const struct fulcrum_text_list *units = &candidate_list->settings->rack_units;
    struct given given = {0, 0.0};
    assert(candidate_list->entries != NULL);
    for (size_t i = 0; i < candidate_list->count; i++) {
        candidate_list->entries[i].price = FULCRUM_UNKNOWN;
        candidate_list->entries[i].rack_unit_count = FULCRUM_UNKNOWN;
    }
    for (size_t i = 0; i < prices->count; i++) {
        TRY(read_number(candidate_list, "--price", prices->items[i], &given, err));
        candidate_list->entries[given.at].price = given.value;
    }
    for (size_t i = 0; i < units->count; i++) {
        TRY(read_number(candidate_list, "--rack-units", units->items[i], &given, err));
        candidate_list->entries[given.at].rack_unit_count = given.value;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_need(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = candidate_list->settings;
    candidate_list->need =
        (struct fulcrum_need){.goal = (enum fulcrum_objective)settings->goal,
            .least_steps_per_s = settings->least_steps_per_s,
            .most_w = settings->most_w,
            .most_price = settings->most_price,
            .most_rack_units = settings->most_rack_units,
            .most_machines = settings->most_machines,
            .fills = settings->fill,
            .electricity_per_kwh = settings->electricity_per_kwh,
            .years = settings->years};
    FULCRUM_USAGE_IF(candidate_list->need.goal == FULCRUM_OBJECTIVE_CHEAPEST &&
                         isnan(settings->electricity_per_kwh),
        candidate_list->context, err, FULCRUM_ERR_MISSING,
        "--best cheapest needs --electricity, the price of a kWh; 0 leaves it out");
    /* What is filled needs a brim: watts, money, rack units or a number of machines. */
    FULCRUM_USAGE_IF(settings->fill != 0 && isnan(settings->most_w) &&
                         isnan(settings->most_price) &&
                         isnan(settings->most_rack_units) &&
                         settings->most_machines >= MACHINES_MOST,
        candidate_list->context, err, FULCRUM_ERR_MISSING,
        "--fill needs a limit: --max-watts, --max-price, --max-rack-units or "
        "--max-machines below %.0f",
        MACHINES_MOST);
    return fulcrum_recommend_options(settings, MACHINE_DRAWS, candidate_list->context,
        &candidate_list->options, err);
}

/* All GPUs of a machine, unless the user says how many. */
static enum fulcrum_status load_offer(struct candidate_list *candidate_list,
    struct entry *entry, struct fulcrum_error *err)
{
    struct fulcrum_candidate *candidate = &entry->candidate;
    struct fulcrum_design_settings settings = candidate_list->settings->design;
    settings.machine = candidate->name;
    TRY(fulcrum_candidate_load(&settings, candidate_list->context, candidate, err));
    const struct fulcrum_machine *machine = &candidate->inputs.base.machine;
    if (machine->accelerator == FULCRUM_ACCELERATOR_GPU && machine->gpu.count >= 1.0 &&
        !fulcrum_candidate_sets(candidate, "run.gpu_count") &&
        !fulcrum_candidate_sets(candidate, "machine.gpu.count")) {
        return fulcrum_candidate_set(
            candidate, "run.gpu_count", machine->gpu.count, err);
    }
    return FULCRUM_OK;
}

/* The candidates lie within the entries: they are aligned as copies. */
static void align(struct candidate_list *candidate_list)
{
    struct fulcrum_candidate *candidates =
        fulcrum_allocate(candidate_list->count, sizeof *candidates);
    for (size_t i = 0; i < candidate_list->count; i++) {
        candidates[i] = candidate_list->entries[i].candidate;
    }
    fulcrum_contenders_align(candidates, candidate_list->count);
    for (size_t i = 0; i < candidate_list->count; i++) {
        candidate_list->entries[i].candidate = candidates[i];
        /* What the scenario borrows from its inputs has moved along. */
        candidate_list->entries[i].candidate.inputs.scenario.base =
            &candidate_list->entries[i].candidate.inputs.base;
    }
    free(candidates);
}

static enum fulcrum_status predict_entries(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    const volatile sig_atomic_t *stop = fulcrum_interrupt_watch();
    struct fulcrum_progress progress;
    fulcrum_progress_start(&progress, candidate_list->context);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < candidate_list->count && status == FULCRUM_OK; i++) {
        struct entry *entry = &candidate_list->entries[i];
        fulcrum_progress_update(&progress, (double)i / (double)candidate_list->count,
            entry->candidate.name);
        status = fulcrum_candidate_predict(&entry->candidate,
            &candidate_list->settings->actors, &candidate_list->options,
            candidate_list->context, err);
        if (*stop != 0) {
            status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "interrupted");
        }
    }
    fulcrum_progress_end(&progress);
    return status;
}

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* One machine, by the outputs of its estimate or of a draw. */
static struct fulcrum_candidate_machine machine_of(
    const struct entry *entry, const double *outputs)
{
    const struct fulcrum_machine *machine = &entry->candidate.design.machine;
    return (struct fulcrum_candidate_machine){
        .steps_per_s = outputs[FULCRUM_OUTPUT_steps_per_s],
        .system_w = outputs[FULCRUM_OUTPUT_system_w],
        .price = known_or(entry->price, machine->price),
        .rack_unit_count = known_or(entry->rack_unit_count, machine->rack_unit_count),
    };
}

static enum fulcrum_status write_costs(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    for (size_t i = 0; i < candidate_list->count; i++) {
        struct entry *entry = &candidate_list->entries[i];
        struct fulcrum_need need = candidate_list->need;
        need.total_env_steps = entry->candidate.design.workload.total_env_steps;
        const struct fulcrum_candidate_machine one =
            machine_of(entry, entry->candidate.point.prediction.value);
        double count =
            isnan(one.steps_per_s) ? 1.0 : fulcrum_candidate_machine_count(&one, &need);
        fulcrum_cost_of(&one, count, &need, &entry->cost);
        entry->drawn = calloc(entry->candidate.draw_count + 1, sizeof *entry->drawn);
        TRY_MEMORY(entry->drawn, err, "draws of a machine");
        for (size_t k = 0; k < entry->candidate.draw_count; k++) {
            const struct fulcrum_candidate_machine drawn =
                machine_of(entry, entry->candidate.draws + k * FULCRUM_OUTPUT_COUNT);
            fulcrum_cost_of(&drawn, count, &need, &entry->drawn[k]);
        }
    }
    return FULCRUM_OK;
}

/* Those that can run and do, the others, those that cannot run. */
static int group_of(const struct entry *entry)
{
    if (entry->candidate.reason[0] != '\0') {
        return 3;
    }
    unsigned unknown = (unsigned)FULCRUM_MISS_NO_PRICE |
                       (unsigned)FULCRUM_MISS_NO_WATTS |
                       (unsigned)FULCRUM_MISS_NO_RACK_UNITS;
    return (entry->cost.misses & unknown) != 0U ? 2 : entry->cost.misses != 0U ? 1 : 0;
}

/* Whether entry `a` stands before `b`; equals stay in the order of -m. */
static int stands_before(
    const struct candidate_list *candidate_list, size_t a, size_t b)
{
    const struct entry *x = &candidate_list->entries[a];
    const struct entry *y = &candidate_list->entries[b];
    if (group_of(x) != group_of(y)) {
        return group_of(x) < group_of(y);
    }
    double gain = fulcrum_cost_merit(&x->cost, candidate_list->need.goal) -
                  fulcrum_cost_merit(&y->cost, candidate_list->need.goal);
    return gain > 0.0 || (!(gain < 0.0) && a < b);
}

static void sort_entries(struct candidate_list *candidate_list)
{
    for (size_t i = 0; i < candidate_list->count; i++) {
        size_t at = i;
        while (
            at > 0 && stands_before(candidate_list, i, candidate_list->order[at - 1])) {
            candidate_list->order[at] = candidate_list->order[at - 1];
            at--;
        }
        candidate_list->order[at] = i;
    }
}

enum money { RATE, WATTS, PER_JOULE, PER_STEP };

static struct fulcrum_interval interval_of(const struct candidate_list *candidate_list,
    const struct entry *entry, enum money what)
{
    size_t count = 0;
    for (size_t k = 0; k < entry->candidate.draw_count; k++) {
        const struct fulcrum_cost *cost = &entry->drawn[k];
        double value = what == RATE        ? cost->steps_per_s
                       : what == WATTS     ? cost->system_w
                       : what == PER_JOULE ? cost->steps_per_j
                                           : cost->cost_per_step;
        if (!isnan(value)) {
            candidate_list->column[count++] = value;
        }
    }
    return fulcrum_interval_of(candidate_list->column, count);
}

/* The best of each draw among those that do in it; ties go to the first of -m. */
static void count_draws(struct candidate_list *candidate_list)
{
    struct fulcrum_cost *costs = fulcrum_allocate(candidate_list->count, sizeof *costs);
    for (size_t k = 0; k < candidate_list->draw_count; k++) {
        /* The costs of draw k; one that cannot run in it misses everything. */
        for (size_t i = 0; i < candidate_list->count; i++) {
            struct entry *entry = &candidate_list->entries[i];
            costs[i].misses = ~0U;
            if (k < entry->candidate.draw_count &&
                !isnan(entry->drawn[k].steps_per_s)) {
                costs[i] = entry->drawn[k];
            }
            entry->meets_frac += costs[i].misses == 0U;
        }
        size_t best =
            fulcrum_cost_best(costs, candidate_list->count, candidate_list->need.goal);
        if (best < candidate_list->count) {
            candidate_list->entries[best].best_frac += 1.0;
        }
    }
    free(costs);
}

static enum fulcrum_status judge_draws(
    struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    candidate_list->draw_count = (size_t)candidate_list->options.draws;
    candidate_list->column =
        calloc(candidate_list->draw_count + 1, sizeof *candidate_list->column);
    TRY_MEMORY(candidate_list->column, err, "draws of machines");
    count_draws(candidate_list);
    for (size_t i = 0; i < candidate_list->count; i++) {
        struct entry *entry = &candidate_list->entries[i];
        entry->steps_per_s = interval_of(candidate_list, entry, RATE);
        entry->system_w = interval_of(candidate_list, entry, WATTS);
        entry->steps_per_j = interval_of(candidate_list, entry, PER_JOULE);
        entry->cost_per_step = interval_of(candidate_list, entry, PER_STEP);
        double draws = candidate_list->draw_count > 0
                           ? (double)candidate_list->draw_count
                           : FULCRUM_UNKNOWN;
        entry->meets_frac /= draws;
        entry->best_frac /= draws;
    }
    return FULCRUM_OK;
}

static const struct {
    enum fulcrum_miss miss;
    const char *word;
} miss_words[] = {
    {FULCRUM_MISS_RATE, "too slow"},
    {FULCRUM_MISS_WATTS, "too many watts"},
    {FULCRUM_MISS_PRICE, "too dear"},
    {FULCRUM_MISS_RACK_UNITS, "too high"},
    {FULCRUM_MISS_NO_PRICE, "no price"},
    {FULCRUM_MISS_NO_WATTS, "no watts"},
    {FULCRUM_MISS_NO_RACK_UNITS, "no rack units"},
};

static void write_verdict(
    const struct entry *entry, bool is_best, char *out, size_t size)
{
    static const char *const starts[] = {"meets", "misses: ", "left out: ", ""};
    int group = group_of(entry);
    (void)snprintf(out, size, "%s", group == 0 && is_best ? "best" : starts[group]);
    if (group == 3) {
        (void)snprintf(out, size, "cannot run: %s", entry->candidate.reason);
    }
    const char *between = "";
    for (size_t i = 0; i < sizeof miss_words / sizeof miss_words[0] && group != 3;
         i++) {
        if ((entry->cost.misses & (unsigned)miss_words[i].miss) != 0U) {
            size_t used = strlen(out);
            (void)snprintf(
                out + used, size - used, "%s%s", between, miss_words[i].word);
            between = ", ";
        }
    }
}

/*
 * Columns: name, key, title, and the number in it. People see those that have a title;
 * the other formats have them all.
 */
/* clang-format off */
#define CELL_LIST(X) \
    X(MACHINE, "machine", "machines", FULCRUM_UNKNOWN) \
    X(VERDICT, "verdict", "verdict", FULCRUM_UNKNOWN) \
    X(COUNT, "machine_count", NULL, runs ? cost->machine_count : FULCRUM_UNKNOWN) \
    X(GPUS, "gpu_count", NULL, has_gpu ? design->run.gpu_count : FULCRUM_UNKNOWN) \
    X(ACTORS, "actor_count", NULL, prediction->actor_count) \
    X(RATE, "steps_per_s", "steps/s", cost->steps_per_s) \
    X(RATE_LO, "steps_per_s_lo", "5 %", entry->steps_per_s.lo) \
    X(RATE_HI, "steps_per_s_hi", "95 %", entry->steps_per_s.hi) \
    X(WATTS, "system_w", "W", cost->system_w) \
    X(WATTS_LO, "system_w_lo", NULL, entry->system_w.lo) \
    X(WATTS_HI, "system_w_hi", NULL, entry->system_w.hi) \
    X(PER_JOULE, "steps_per_j_system", "steps/J", cost->steps_per_j) \
    X(PER_JOULE_LO, "steps_per_j_system_lo", NULL, entry->steps_per_j.lo) \
    X(PER_JOULE_HI, "steps_per_j_system_hi", NULL, entry->steps_per_j.hi) \
    X(RACK_UNITS, "rack_unit_count", "U", cost->rack_unit_count) \
    X(PRICE, "price", "price", cost->price) \
    X(ELECTRICITY, "electricity", NULL, cost->electricity) \
    X(COST, "cost", NULL, cost->cost) \
    X(PER_STEP, "cost_per_step", NULL, cost->cost_per_step) \
    X(PER_STEP_LO, "cost_per_step_lo", NULL, entry->cost_per_step.lo) \
    X(PER_STEP_HI, "cost_per_step_hi", NULL, entry->cost_per_step.hi) \
    X(TRAINING, "training_cost", "a training", cost->training_cost) \
    X(RUNTIME, "runtime_s", NULL, prediction->value[FULCRUM_OUTPUT_runtime_s]) \
    X(MEETS, "meets_frac", "meets", entry->meets_frac) \
    X(BEST, "best_frac", "best", entry->best_frac) \
    X(ERROR, "solver_error_rel", NULL, \
        runs ? prediction->solver_error_rel : FULCRUM_UNKNOWN)
/* clang-format on */

enum cell {
#define X(name, key, title, number) CELL_##name,
    CELL_LIST(X)
#undef X
        CELLS
};

static const struct {
    const char *key;
    const char *title;
} cells[CELLS] = {
#define X(name, key, title, number) {key, title},
    CELL_LIST(X)
#undef X
};

static void fill_numbers(const struct entry *entry, double out[CELLS])
{
    const struct fulcrum_cost *cost = &entry->cost;
    const struct fulcrum_prediction *prediction = &entry->candidate.point.prediction;
    const struct fulcrum_design *design = &entry->candidate.design;
    bool has_gpu = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    int runs = entry->candidate.reason[0] == '\0';
#define X(name, key, title, number) out[CELL_##name] = number;
    CELL_LIST(X)
#undef X
}

/* "3 x dgx-a100" for people; programs have a column for the number. */
static void add_name(const struct candidate_list *candidate_list,
    const struct entry *entry, struct fulcrum_report *report)
{
    char name[sizeof entry->candidate.name + 32];
    if (candidate_list->context->format != FULCRUM_FORMAT_TABLE ||
        entry->candidate.reason[0] != '\0') {
        fulcrum_report_add_text(report, entry->candidate.name);
        return;
    }
    (void)snprintf(name, sizeof name, "%.6g x %s", entry->cost.machine_count,
        entry->candidate.name);
    fulcrum_report_add_text(report, name);
}

/* Shares of a hundred draws or so have two digits. */
static double shown_number(const struct candidate_list *candidate_list,
    const double numbers[CELLS], enum cell cell)
{
    bool is_share = cell == CELL_MEETS || cell == CELL_BEST;
    return is_share && candidate_list->context->format == FULCRUM_FORMAT_TABLE
               ? round(100.0 * numbers[cell]) / 100.0
               : numbers[cell];
}

static void add_offer(const struct candidate_list *candidate_list, size_t rank,
    const enum cell *shown, size_t shown_count, struct fulcrum_report *report)
{
    const struct entry *entry = &candidate_list->entries[candidate_list->order[rank]];
    char verdict[FULCRUM_REASON_BYTE + 32];
    double numbers[CELLS];
    write_verdict(entry, rank == 0, verdict, sizeof verdict);
    fill_numbers(entry, numbers);
    for (size_t i = 0; i < shown_count; i++) {
        if (shown[i] == CELL_MACHINE) {
            add_name(candidate_list, entry, report);
        } else if (shown[i] == CELL_VERDICT) {
            fulcrum_report_add_text(report, verdict);
        } else {
            fulcrum_report_add_number(
                report, shown_number(candidate_list, numbers, shown[i]));
        }
    }
}

/* Whether any machine has a number in that column: people need no empty ones. */
static bool is_known(const struct candidate_list *candidate_list, enum cell cell)
{
    double numbers[CELLS];
    for (size_t i = 0; i < candidate_list->count; i++) {
        fill_numbers(&candidate_list->entries[i], numbers);
        if (cell == CELL_MACHINE || cell == CELL_VERDICT || !isnan(numbers[cell])) {
            return 1;
        }
    }
    return 0;
}

/* Whether people need it for what they ask: the ranking tells the rest. */
static bool is_wanted(const struct candidate_list *candidate_list, enum cell cell)
{
    return cells[cell].title != NULL && cell != CELL_VERDICT &&
           is_known(candidate_list, cell) &&
           (cell != CELL_PER_JOULE ||
               candidate_list->need.goal == FULCRUM_OBJECTIVE_EFFICIENT);
}

static void show_cell(enum cell cell, enum cell *shown,
    struct fulcrum_report_head *columns, size_t *count)
{
    bool is_text = cell == CELL_MACHINE || cell == CELL_VERDICT;
    shown[*count] = cell;
    columns[(*count)++] = (struct fulcrum_report_head){cells[cell].key,
        is_text ? FULCRUM_COLUMN_TEXT : FULCRUM_COLUMN_NUMBER, cells[cell].title};
}

/* The columns of the context's format; returns how many. A verdict may be long, so that
 * people find it at the end of the line. */
static size_t choose_cells(const struct candidate_list *candidate_list,
    enum cell *shown, struct fulcrum_report_head *columns)
{
    size_t count = 0;
    bool is_table = candidate_list->context->format == FULCRUM_FORMAT_TABLE;
    for (size_t i = 0; i < CELLS; i++) {
        if (!is_table || is_wanted(candidate_list, (enum cell)i)) {
            show_cell((enum cell)i, shown, columns, &count);
        }
    }
    if (is_table) {
        show_cell(CELL_VERDICT, shown, columns, &count);
    }
    return count;
}

/* The entries of a group: 1 misses a limit, 2 lacks what a limit asks for. */
static size_t count_of(const struct candidate_list *candidate_list, int group)
{
    size_t count = 0;
    for (size_t i = 0; i < candidate_list->count; i++) {
        count += group_of(&candidate_list->entries[i]) == group ? 1 : 0;
    }
    return count;
}

/* Not found is not refused: what is not known of a machine is asked for. */
static const char *why_none(const struct candidate_list *candidate_list)
{
    if (candidate_list->count > 0 &&
        count_of(candidate_list, 2) == candidate_list->count) {
        return "nothing can be told: every machine lacks what is asked for, see "
               "verdict";
    }
    return count_of(candidate_list, 2) > 0
               ? "no machine meets all limits, of those that are known enough"
               : "no machine meets all limits";
}

/* "fastest: 2 x dgx-a100, 140 000 steps/s at 6 690 W; best in 87 % of the draws" */
static void write_sentence(
    const struct candidate_list *candidate_list, char *out, size_t size)
{
    const struct entry *first = &candidate_list->entries[candidate_list->order[0]];
    if (candidate_list->count == 0 || group_of(first) != 0) {
        (void)snprintf(out, size, "%s", why_none(candidate_list));
        return;
    }
    char rate[FULCRUM_QUANTITY_SIZE];
    char watts[FULCRUM_QUANTITY_SIZE];
    char money[80] = "";
    char sure[80] = "";
    fulcrum_number_words(first->cost.steps_per_s, 4, rate);
    fulcrum_number_words(first->cost.system_w, 4, watts);
    if (!isnan(first->cost.training_cost)) {
        (void)snprintf(
            money, sizeof money, ", %.4g for a training", first->cost.training_cost);
    }
    if (!isnan(first->best_frac)) {
        (void)snprintf(sure, sizeof sure, "; best in %.0f %% of the draws",
            100.0 * first->best_frac);
    }
    (void)snprintf(out, size, "%s: %.6g x %s, %s steps/s at %s W%s%s",
        fulcrum_objective_name((int)candidate_list->need.goal),
        first->cost.machine_count, first->candidate.name, rate, watts, money, sure);
}

/* `count` of a machine whose rate is off by its solver's error, up or down; where
 * `count` is NAN, as many as would be bought then. */
static struct fulcrum_cost shifted_cost(const struct candidate_list *candidate_list,
    const struct entry *entry, double sign, double count)
{
    const struct fulcrum_prediction *prediction = &entry->candidate.point.prediction;
    struct fulcrum_candidate_machine one = machine_of(entry, prediction->value);
    struct fulcrum_need need = candidate_list->need;
    struct fulcrum_cost cost;
    one.steps_per_s *= 1.0 + sign * prediction->solver_error_rel;
    need.total_env_steps = entry->candidate.design.workload.total_env_steps;
    fulcrum_cost_of(&one,
        isnan(count) ? fulcrum_candidate_machine_count(&one, &need) : count, &need,
        &cost);
    return cost;
}

/* Whether another number of them would be bought, or another limit missed. */
static bool is_open(
    const struct candidate_list *candidate_list, const struct entry *entry, double sign)
{
    struct fulcrum_cost cost =
        shifted_cost(candidate_list, entry, sign, FULCRUM_UNKNOWN);
    return fabs(cost.machine_count - entry->cost.machine_count) > 0.5 ||
           cost.misses != entry->cost.misses;
}

/* What so many of them are worth then. */
static double shifted_merit(
    const struct candidate_list *candidate_list, const struct entry *entry, double sign)
{
    struct fulcrum_cost cost =
        shifted_cost(candidate_list, entry, sign, entry->cost.machine_count);
    return fulcrum_cost_merit(&cost, candidate_list->need.goal);
}

/* What the solver's error leaves open, in words; "": nothing. */
static void write_solver_note(
    const struct candidate_list *candidate_list, char *out, size_t size)
{
    const struct entry *first = &candidate_list->entries[candidate_list->order[0]];
    double error_rel = 0.0;
    bool has_open_limit = 0;
    bool has_open_order = 0;
    for (size_t i = 0; i < candidate_list->count; i++) {
        const struct entry *entry = &candidate_list->entries[candidate_list->order[i]];
        if (entry->candidate.reason[0] != '\0') {
            continue;
        }
        error_rel = fmax(error_rel, entry->candidate.point.prediction.solver_error_rel);
        has_open_limit |=
            is_open(candidate_list, entry, 1.0) || is_open(candidate_list, entry, -1.0);
        has_open_order |= i > 0 && group_of(first) == 0 && group_of(entry) == 0 &&
                          shifted_merit(candidate_list, entry, 1.0) >
                              shifted_merit(candidate_list, first, -1.0);
    }
    out[0] = '\0';
    if (error_rel > 0.0) {
        (void)snprintf(out, size,
            "rates are solved to within %.2g %% at 95 %%, which draws do not "
            "cover%s%s%s",
            100.0 * error_rel,
            has_open_limit ? "; within that another number of machines, or another "
                             "verdict, is possible"
                           : "",
            has_open_order ? "; within that another machine may be the best" : "",
            has_open_limit || has_open_order ? "; --method simulate knows better" : "");
    }
}

/* Of what is missing, which option gives it. */
static void print_notes(const struct candidate_list *candidate_list, FILE *stream)
{
    unsigned misses = 0;
    for (size_t i = 0; i < candidate_list->count; i++) {
        int runs = candidate_list->entries[i].candidate.reason[0] == '\0';
        misses |= runs ? candidate_list->entries[i].cost.misses : 0U;
    }
    char note[400];
    write_solver_note(candidate_list, note, sizeof note);
    if (note[0] != '\0') {
        (void)fprintf(stream, "note: %s\n", note);
    }
    if ((misses & (unsigned)FULCRUM_MISS_NO_PRICE) != 0U) {
        (void)fputs("note: no preset has a price: --price MACHINE=MONEY\n", stream);
    }
    if ((misses & (unsigned)FULCRUM_MISS_NO_RACK_UNITS) != 0U) {
        (void)fputs("note: heights are given by --rack-units MACHINE=U\n", stream);
    }
}

static enum fulcrum_status print_json(const struct candidate_list *candidate_list,
    const struct fulcrum_report *report, const char *sentence,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-recommend");
    fulcrum_json_add_text(document, "question", "machine");
    fulcrum_json_add_text(
        document, "workload", candidate_list->settings->design.workload);
    const struct fulcrum_need *need = &candidate_list->need;
    fulcrum_json_add_text(document, "best", fulcrum_objective_name((int)need->goal));
    struct fulcrum_json *limits = fulcrum_json_add_object(document, "limits");
    fulcrum_json_add_number(limits, "least_steps_per_s", need->least_steps_per_s);
    fulcrum_json_add_number(limits, "most_w", need->most_w);
    fulcrum_json_add_number(limits, "most_price", need->most_price);
    fulcrum_json_add_number(limits, "most_rack_units", need->most_rack_units);
    fulcrum_json_add_number(limits, "most_machines", need->most_machines);
    fulcrum_json_add_flag(document, "fill", need->fills);
    fulcrum_json_add_number(document, "electricity_per_kwh", need->electricity_per_kwh);
    fulcrum_json_add_number(document, "years", need->years);
    fulcrum_json_add_number(
        document, "interval_draws", (double)candidate_list->draw_count);
    fulcrum_report_to_json(report, document);
    fulcrum_json_add_text(document, "finding", sentence);
    char note[400];
    write_solver_note(candidate_list, note, sizeof note);
    fulcrum_json_add_text(document, "note", note);
    return fulcrum_report_print_document(document, candidate_list->context, err);
}

static enum fulcrum_status print_candidates(
    const struct candidate_list *candidate_list, struct fulcrum_error *err)
{
    enum cell shown[CELLS];
    struct fulcrum_report_head columns[CELLS];
    char sentence[700];
    size_t count = choose_cells(candidate_list, shown, columns);
    struct fulcrum_report *report = fulcrum_report_new("machines", columns, count);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < candidate_list->count; i++) {
        add_offer(candidate_list, i, shown, count, report);
    }
    write_sentence(candidate_list, sentence, sizeof sentence);
    if (candidate_list->context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(candidate_list, report, sentence, err);
    } else if (candidate_list->context->format == FULCRUM_FORMAT_CSV) {
        status = fulcrum_report_print(
            report, "fulcrum-recommend", candidate_list->context, err);
    } else {
        (void)fprintf(candidate_list->context->out, "%s, %s\n\n",
            candidate_list->settings->design.workload, sentence);
        /* The words of the table's heading, as far as its columns are shown. */
        FILE *stream = candidate_list->context->out;
        (void)fputs(
            "steps/s, W   of all machines together, each at a training of its own",
            stream);
        (void)fputs(
            is_known(candidate_list, CELL_RACK_UNITS) ? "; U: rack units\n" : "\n",
            stream);
        if (is_known(candidate_list, CELL_TRAINING)) {
            (void)fprintf(stream,
                "a training   its part of price and electricity over %.4g years around "
                "the "
                "clock\n",
                candidate_list->need.years);
        }
        if (candidate_list->draw_count > 0) {
            (void)fprintf(stream,
                "meets, best  shares of %zu draws: so many meet every limit; are the "
                "best "
                "that do\n",
                candidate_list->draw_count);
        }
        (void)fputc('\n', stream);
        fulcrum_report_print_table(report, candidate_list->context->out, 0);
        print_notes(candidate_list, candidate_list->context->out);
    }
    fulcrum_report_free(report);
    return status;
}

enum fulcrum_status fulcrum_recommend_machine(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct candidate_list candidate_list = {.settings = settings, .context = context};
    enum fulcrum_status status = FULCRUM_OK;
    /* Everything that can be refused comes before the work. */
    TRY_OR_END(read_need(&candidate_list, err));
    TRY_OR_END(list_machines(&candidate_list, err));
    TRY_OR_END(read_numbers(&candidate_list, err));
    for (size_t i = 0; i < candidate_list.count; i++) {
        TRY_OR_END(load_offer(&candidate_list, &candidate_list.entries[i], err));
    }
    align(&candidate_list);
    TRY_OR_END(predict_entries(&candidate_list, err));
    TRY_OR_END(write_costs(&candidate_list, err));
    TRY_OR_END(judge_draws(&candidate_list, err));
    sort_entries(&candidate_list);
    TRY_OR_END(print_candidates(&candidate_list, err));
    /* Answered, but there is none to take. */
    if (group_of(&candidate_list.entries[candidate_list.order[0]]) != 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
    }
end:
    for (size_t i = 0; i < candidate_list.count; i++) {
        fulcrum_candidate_clear(&candidate_list.entries[i].candidate);
        free(candidate_list.entries[i].drawn);
    }
    free(candidate_list.entries);
    free(candidate_list.order);
    free(candidate_list.column);
    return status;
}
