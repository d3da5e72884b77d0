/* recommend_machine.c - machines under limits, the best first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each machine is predicted once, with its draws, and everything else is arithmetic on
 * that (model/whatif/recommend.h). How many of a kind are bought is decided by the
 * estimate; the draws then tell how likely so many are enough.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/design_options.h"
#include "cli/progress.h"
#include "cli/result/quantity_text.h"
#include "cli/result/report.h"
#include "cli/whatif/candidates.h"
#include "model/interval.h"
#include "model/nearest.h"
#include "model/quantity.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/io/json.h"

/* Draws of each machine. */
#define MACHINE_DRAWS 96.0
/* The fallback of --max-machines. */
#define MACHINES_MOST 1000.0

/* A machine, what it comes to, and how sure that is. */
struct offer {
    struct fulcrum_contender contender;
    double price; /* of one; NAN: not known */
    double rack_unit_count;
    struct fulcrum_bill bill;
    struct fulcrum_bill *drawn; /* one per draw; misses where a draw cannot run */
    struct fulcrum_interval steps_per_s;
    struct fulcrum_interval system_w;
    struct fulcrum_interval steps_per_j;
    struct fulcrum_interval cost_per_step;
    double meets_frac;
    double best_frac;
};

struct market {
    const struct fulcrum_recommend_settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_predict_options options;
    struct fulcrum_need need;
    struct offer *offers;
    size_t count;
    size_t draw_count;
    size_t *order; /* the best first */
    double *column;
};

static int is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The names of -m: a list, or every preset with GPUs. */
static enum fulcrum_status add_names(struct market *market, const char *const *names,
    size_t count, struct fulcrum_error *err)
{
    market->offers = calloc(count + 1, sizeof *market->offers);
    market->order = calloc(count + 1, sizeof *market->order);
    if (market->offers == NULL || market->order == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "machines");
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_contender *contender = &market->offers[i].contender;
        (void)snprintf(contender->name, sizeof contender->name, "%s", names[i]);
        if (is_listed(names, i, names[i])) {
            return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_RANGE,
                "--machine: %s is given twice", names[i]);
        }
    }
    market->count = count;
    return FULCRUM_OK;
}

static enum fulcrum_status add_all(struct market *market, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    enum fulcrum_status status =
        fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    const char **names = calloc(count + 1, sizeof(char *));
    size_t found = 0;
    for (size_t i = 0; names != NULL && i < count; i++) {
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        if (fulcrum_machine_load(entries[i].name, &design, NULL, NULL) == FULCRUM_OK &&
            design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            design.machine.gpu.count >= 1.0) {
            names[found++] = entries[i].name;
        }
    }
    status = names != NULL ? add_names(market, names, found, err)
                           : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "machines");
    free((void *)names);
    free(entries);
    return status;
}

static enum fulcrum_status add_list(
    struct market *market, const char *list, struct fulcrum_error *err)
{
    size_t count = 1;
    for (const char *at = list; *at != '\0'; at++) {
        count += *at == ',';
    }
    size_t length = strlen(list);
    char *copy = calloc(length + 1, 1);
    const char **names = calloc(count, sizeof(char *));
    enum fulcrum_status status = FULCRUM_OK;
    if (copy == NULL || names == NULL) {
        status = fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "machines");
    } else {
        (void)snprintf(copy, length + 1, "%s", list);
        char *at = copy;
        for (size_t i = 0; i < count; i++) {
            size_t part = strcspn(at, ",");
            names[i] = at;
            at[part] = '\0';
            at += part + 1;
        }
        status = add_names(market, names, count, err);
    }
    free((void *)names);
    free(copy);
    return status;
}

static enum fulcrum_status list_machines(
    struct market *market, struct fulcrum_error *err)
{
    const char *list = market->settings->design.machine;
    if (list == NULL) {
        return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_MISSING,
            "option '--machine' is missing: a list of machines, or 'all'");
    }
    return strcmp(list, "all") == 0 ? add_all(market, err)
                                    : add_list(market, list, err);
}

static enum fulcrum_status fail_machine(const struct market *market, const char *option,
    const char *text, struct fulcrum_error *err)
{
    return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "%s %s: no such machine in --machine %s", option, text,
        market->settings->design.machine);
}

/* A number that the user gives for one machine. */
struct given {
    size_t at;
    double value;
};

/* "MACHINE=NUMBER" of --price and --rack-units. */
static enum fulcrum_status read_number(const struct market *market, const char *option,
    const char *text, struct given *out, struct fulcrum_error *err)
{
    const char *equals = strrchr(text, '=');
    enum fulcrum_status status = FULCRUM_OK;
    if (equals == NULL || equals == text) {
        return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_FORMAT,
            "%s %s: expected MACHINE=NUMBER", option, text);
    }
    status = fulcrum_number_parse(option, equals + 1, &out->value, err);
    if (status == FULCRUM_OK && !(out->value >= 0.0)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_RANGE, "%s %s: expected 0 or more", option, text);
    }
    if (status != FULCRUM_OK) {
        market->context->exit_code = 2;
        return status;
    }
    size_t length = (size_t)(equals - text);
    for (size_t i = 0; i < market->count; i++) {
        const char *name = market->offers[i].contender.name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            out->at = i;
            return FULCRUM_OK;
        }
    }
    return fail_machine(market, option, text, err);
}

/* What the user says of single machines; the presets' own where he does not. */
static enum fulcrum_status read_numbers(
    struct market *market, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *prices = &market->settings->prices;
    const struct fulcrum_text_list *units = &market->settings->rack_units;
    struct given given = {0, 0.0};
    for (size_t i = 0; i < market->count; i++) {
        market->offers[i].price = FULCRUM_UNKNOWN;
        market->offers[i].rack_unit_count = FULCRUM_UNKNOWN;
    }
    for (size_t i = 0; i < prices->count; i++) {
        enum fulcrum_status status =
            read_number(market, "--price", prices->items[i], &given, err);
        if (status != FULCRUM_OK) {
            return status;
        }
        market->offers[given.at].price = given.value;
    }
    for (size_t i = 0; i < units->count; i++) {
        enum fulcrum_status status =
            read_number(market, "--rack-units", units->items[i], &given, err);
        if (status != FULCRUM_OK) {
            return status;
        }
        market->offers[given.at].rack_unit_count = given.value;
    }
    return FULCRUM_OK;
}

/* What is filled needs a brim: watts, money, rack units or a number of machines. */
static int has_room_for_any_number(const struct fulcrum_recommend_settings *settings)
{
    return isnan(settings->most_w) && isnan(settings->most_price) &&
           isnan(settings->most_rack_units) && settings->most_machines >= MACHINES_MOST;
}

static enum fulcrum_status read_need(struct market *market, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = market->settings;
    market->need = (struct fulcrum_need){.goal = (enum fulcrum_aim)settings->goal,
        .least_steps_per_s = settings->least_steps_per_s,
        .most_w = settings->most_w,
        .most_price = settings->most_price,
        .most_rack_units = settings->most_rack_units,
        .most_machines = settings->most_machines,
        .fills = settings->fill,
        .electricity_per_kwh = settings->electricity_per_kwh,
        .years = settings->years};
    if (market->need.goal == FULCRUM_AIM_CHEAPEST &&
        isnan(settings->electricity_per_kwh)) {
        return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_MISSING,
            "--best cheapest needs --electricity, the price of a kWh; 0 leaves it out");
    }
    if (settings->fill != 0 && has_room_for_any_number(settings)) {
        return fulcrum_usage_fail(market->context, err, FULCRUM_ERR_MISSING,
            "--fill needs a limit: --max-watts, --max-price, --max-rack-units or "
            "--max-machines below %.0f",
            MACHINES_MOST);
    }
    return fulcrum_recommend_options(
        settings, MACHINE_DRAWS, market->context, &market->options, err);
}

/* All GPUs of a machine, unless the user says how many. */
static enum fulcrum_status load_offer(
    struct market *market, struct offer *offer, struct fulcrum_error *err)
{
    struct fulcrum_contender *contender = &offer->contender;
    struct fulcrum_design_settings settings = market->settings->design;
    settings.machine = contender->name;
    enum fulcrum_status status =
        fulcrum_contender_load(&settings, market->context, contender, err);
    const struct fulcrum_machine *machine = &contender->inputs.base.machine;
    if (status == FULCRUM_OK && machine->accelerator == FULCRUM_ACCELERATOR_GPU &&
        machine->gpu.count >= 1.0 &&
        !fulcrum_contender_sets(contender, "run.gpu_count") &&
        !fulcrum_contender_sets(contender, "machine.gpu.count")) {
        status =
            fulcrum_contender_set(contender, "run.gpu_count", machine->gpu.count, err);
    }
    return status;
}

static enum fulcrum_status load_offers(struct market *market, struct fulcrum_error *err)
{
    for (size_t i = 0; i < market->count; i++) {
        TRY(load_offer(market, &market->offers[i], err));
    }
    return FULCRUM_OK;
}

/* The contenders lie within the offers: they are aligned as copies. */
static enum fulcrum_status align(struct market *market, struct fulcrum_error *err)
{
    struct fulcrum_contender *contenders =
        calloc(market->count + 1, sizeof *contenders);
    if (contenders == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "machines");
    }
    for (size_t i = 0; i < market->count; i++) {
        contenders[i] = market->offers[i].contender;
    }
    enum fulcrum_status status =
        fulcrum_contenders_align(contenders, market->count, err);
    for (size_t i = 0; i < market->count; i++) {
        market->offers[i].contender = contenders[i];
        /* What the scenario borrows from its inputs has moved along. */
        market->offers[i].contender.inputs.scenario.base =
            &market->offers[i].contender.inputs.base;
    }
    free(contenders);
    return status;
}

static enum fulcrum_status predict_offers(
    struct market *market, struct fulcrum_error *err)
{
    const volatile sig_atomic_t *stop = fulcrum_interrupt_watch();
    struct fulcrum_progress progress;
    fulcrum_progress_start(&progress, market->context);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < market->count && status == FULCRUM_OK; i++) {
        struct offer *offer = &market->offers[i];
        fulcrum_progress_update(
            &progress, (double)i / (double)market->count, offer->contender.name);
        status = fulcrum_contender_predict(&offer->contender, &market->settings->actors,
            &market->options, market->context, err);
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
static struct fulcrum_offer offer_of(const struct offer *offer, const double *outputs)
{
    const struct fulcrum_machine *machine = &offer->contender.design.machine;
    return (struct fulcrum_offer){
        .steps_per_s = outputs[FULCRUM_OUTPUT_steps_per_s],
        .system_w = outputs[FULCRUM_OUTPUT_system_w],
        .price = known_or(offer->price, machine->price),
        .rack_unit_count = known_or(offer->rack_unit_count, machine->rack_unit_count),
    };
}

static enum fulcrum_status write_bills(struct market *market, struct fulcrum_error *err)
{
    for (size_t i = 0; i < market->count; i++) {
        struct offer *offer = &market->offers[i];
        struct fulcrum_need need = market->need;
        need.total_env_steps = offer->contender.design.workload.total_env_steps;
        const struct fulcrum_offer one =
            offer_of(offer, offer->contender.point.prediction.value);
        double count = isnan(one.steps_per_s) ? 1.0 : fulcrum_offer_count(&one, &need);
        fulcrum_bill_of(&one, count, &need, &offer->bill);
        offer->drawn = calloc(offer->contender.draw_count + 1, sizeof *offer->drawn);
        if (offer->drawn == NULL) {
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a machine");
        }
        for (size_t k = 0; k < offer->contender.draw_count; k++) {
            const struct fulcrum_offer drawn =
                offer_of(offer, offer->contender.draws + k * FULCRUM_OUTPUT_COUNT);
            fulcrum_bill_of(&drawn, count, &need, &offer->drawn[k]);
        }
    }
    return FULCRUM_OK;
}

/* Those that can run and do, the others, those that cannot run. */
static int group_of(const struct offer *offer)
{
    if (offer->contender.reason[0] != '\0') {
        return 3;
    }
    unsigned unknown = (unsigned)FULCRUM_MISS_NO_PRICE |
                       (unsigned)FULCRUM_MISS_NO_WATTS |
                       (unsigned)FULCRUM_MISS_NO_RACK_UNITS;
    return (offer->bill.misses & unknown) != 0U ? 2 : offer->bill.misses != 0U ? 1 : 0;
}

/* Whether offer `a` stands before `b`; equals stay in the order of -m. */
static int stands_before(const struct market *market, size_t a, size_t b)
{
    const struct offer *x = &market->offers[a];
    const struct offer *y = &market->offers[b];
    if (group_of(x) != group_of(y)) {
        return group_of(x) < group_of(y);
    }
    double gain = fulcrum_bill_merit(&x->bill, market->need.goal) -
                  fulcrum_bill_merit(&y->bill, market->need.goal);
    return gain > 0.0 || (!(gain < 0.0) && a < b);
}

static void sort_offers(struct market *market)
{
    for (size_t i = 0; i < market->count; i++) {
        size_t at = i;
        while (at > 0 && stands_before(market, i, market->order[at - 1])) {
            market->order[at] = market->order[at - 1];
            at--;
        }
        market->order[at] = i;
    }
}

enum money { RATE, WATTS, PER_JOULE, PER_STEP };

static struct fulcrum_interval interval_of(
    const struct market *market, const struct offer *offer, enum money what)
{
    size_t count = 0;
    for (size_t k = 0; k < offer->contender.draw_count; k++) {
        const struct fulcrum_bill *bill = &offer->drawn[k];
        double value = what == RATE        ? bill->steps_per_s
                       : what == WATTS     ? bill->system_w
                       : what == PER_JOULE ? bill->steps_per_j
                                           : bill->cost_per_step;
        if (!isnan(value)) {
            market->column[count++] = value;
        }
    }
    return fulcrum_interval_of(market->column, count);
}

/* The bills of draw k; one that cannot run in it misses everything. */
static void take_draw(struct market *market, size_t k, struct fulcrum_bill *bills)
{
    for (size_t i = 0; i < market->count; i++) {
        struct offer *offer = &market->offers[i];
        bills[i].misses = ~0U;
        if (k < offer->contender.draw_count && !isnan(offer->drawn[k].steps_per_s)) {
            bills[i] = offer->drawn[k];
        }
        offer->meets_frac += bills[i].misses == 0U;
    }
}

/* The best of each draw among those that do in it; ties go to the first of -m. */
static enum fulcrum_status count_draws(struct market *market, struct fulcrum_error *err)
{
    struct fulcrum_bill *bills = calloc(market->count + 1, sizeof *bills);
    if (bills == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of machines");
    }
    for (size_t k = 0; k < market->draw_count; k++) {
        take_draw(market, k, bills);
        size_t best = fulcrum_bill_best(bills, market->count, market->need.goal);
        if (best < market->count) {
            market->offers[best].best_frac += 1.0;
        }
    }
    free(bills);
    return FULCRUM_OK;
}

static enum fulcrum_status judge_draws(struct market *market, struct fulcrum_error *err)
{
    market->draw_count = (size_t)market->options.draws;
    market->column = calloc(market->draw_count + 1, sizeof *market->column);
    if (market->column == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of machines");
    }
    TRY(count_draws(market, err));
    for (size_t i = 0; i < market->count; i++) {
        struct offer *offer = &market->offers[i];
        offer->steps_per_s = interval_of(market, offer, RATE);
        offer->system_w = interval_of(market, offer, WATTS);
        offer->steps_per_j = interval_of(market, offer, PER_JOULE);
        offer->cost_per_step = interval_of(market, offer, PER_STEP);
        double draws =
            market->draw_count > 0 ? (double)market->draw_count : FULCRUM_UNKNOWN;
        offer->meets_frac /= draws;
        offer->best_frac /= draws;
    }
    return FULCRUM_OK;
}

struct miss_word {
    enum fulcrum_miss miss;
    const char *word;
};
static const struct miss_word miss_words[] = {
    {FULCRUM_MISS_RATE, "too slow"},
    {FULCRUM_MISS_WATTS, "too many watts"},
    {FULCRUM_MISS_PRICE, "too dear"},
    {FULCRUM_MISS_RACK_UNITS, "too high"},
    {FULCRUM_MISS_NO_PRICE, "no price"},
    {FULCRUM_MISS_NO_WATTS, "no watts"},
    {FULCRUM_MISS_NO_RACK_UNITS, "no rack units"},
};

static void write_verdict(
    const struct offer *offer, int is_best, char *out, size_t size)
{
    static const char *const starts[] = {"meets", "misses: ", "left out: ", ""};
    int group = group_of(offer);
    (void)snprintf(out, size, "%s", group == 0 && is_best ? "best" : starts[group]);
    if (group == 3) {
        (void)snprintf(out, size, "cannot run: %s", offer->contender.reason);
    }
    const char *between = "";
    for (size_t i = 0; i < sizeof miss_words / sizeof miss_words[0] && group != 3;
         i++) {
        if ((offer->bill.misses & (unsigned)miss_words[i].miss) != 0U) {
            size_t used = strlen(out);
            (void)snprintf(
                out + used, size - used, "%s%s", between, miss_words[i].word);
            between = ", ";
        }
    }
}

/* A column: what it shows. */
enum cell {
    CELL_MACHINE,
    CELL_VERDICT,
    CELL_COUNT,
    CELL_GPUS,
    CELL_ACTORS,
    CELL_RATE,
    CELL_RATE_LO,
    CELL_RATE_HI,
    CELL_WATTS,
    CELL_WATTS_LO,
    CELL_WATTS_HI,
    CELL_PER_JOULE,
    CELL_PER_JOULE_LO,
    CELL_PER_JOULE_HI,
    CELL_RACK_UNITS,
    CELL_PRICE,
    CELL_ELECTRICITY,
    CELL_COST,
    CELL_PER_STEP,
    CELL_PER_STEP_LO,
    CELL_PER_STEP_HI,
    CELL_TRAINING,
    CELL_RUNTIME,
    CELL_MEETS,
    CELL_BEST,
    CELL_ERROR,
    CELLS
};

/* People see those that have a title. The other formats have them all. */
static const struct {
    const char *key;
    const char *title;
} cells[CELLS] = {
    [CELL_MACHINE] = {"machine", "machines"},
    [CELL_VERDICT] = {"verdict", "verdict"},
    [CELL_COUNT] = {"machine_count", NULL},
    [CELL_GPUS] = {"gpu_count", NULL},
    [CELL_ACTORS] = {"actor_count", NULL},
    [CELL_RATE] = {"steps_per_s", "steps/s"},
    [CELL_RATE_LO] = {"steps_per_s_lo", "5 %"},
    [CELL_RATE_HI] = {"steps_per_s_hi", "95 %"},
    [CELL_WATTS] = {"system_w", "W"},
    [CELL_WATTS_LO] = {"system_w_lo", NULL},
    [CELL_WATTS_HI] = {"system_w_hi", NULL},
    [CELL_PER_JOULE] = {"steps_per_j_system", "steps/J"},
    [CELL_PER_JOULE_LO] = {"steps_per_j_system_lo", NULL},
    [CELL_PER_JOULE_HI] = {"steps_per_j_system_hi", NULL},
    [CELL_RACK_UNITS] = {"rack_unit_count", "U"},
    [CELL_PRICE] = {"price", "price"},
    [CELL_ELECTRICITY] = {"electricity", NULL},
    [CELL_COST] = {"cost", NULL},
    [CELL_PER_STEP] = {"cost_per_step", NULL},
    [CELL_PER_STEP_LO] = {"cost_per_step_lo", NULL},
    [CELL_PER_STEP_HI] = {"cost_per_step_hi", NULL},
    [CELL_TRAINING] = {"training_cost", "a training"},
    [CELL_RUNTIME] = {"runtime_s", NULL},
    [CELL_MEETS] = {"meets_frac", "meets"},
    [CELL_BEST] = {"best_frac", "best"},
    [CELL_ERROR] = {"solver_error_rel", NULL},
};

static void fill_numbers(const struct offer *offer, double out[CELLS])
{
    const struct fulcrum_bill *bill = &offer->bill;
    const struct fulcrum_prediction *prediction = &offer->contender.point.prediction;
    int has_gpu =
        offer->contender.design.machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    int runs = offer->contender.reason[0] == '\0';
    out[CELL_COUNT] = runs ? bill->machine_count : FULCRUM_UNKNOWN;
    out[CELL_GPUS] = has_gpu ? offer->contender.design.run.gpu_count : FULCRUM_UNKNOWN;
    out[CELL_ACTORS] = prediction->actor_count;
    out[CELL_RATE] = bill->steps_per_s;
    out[CELL_RATE_LO] = offer->steps_per_s.lo;
    out[CELL_RATE_HI] = offer->steps_per_s.hi;
    out[CELL_WATTS] = bill->system_w;
    out[CELL_WATTS_LO] = offer->system_w.lo;
    out[CELL_WATTS_HI] = offer->system_w.hi;
    out[CELL_PER_JOULE] = bill->steps_per_j;
    out[CELL_PER_JOULE_LO] = offer->steps_per_j.lo;
    out[CELL_PER_JOULE_HI] = offer->steps_per_j.hi;
    out[CELL_RACK_UNITS] = bill->rack_unit_count;
    out[CELL_PRICE] = bill->price;
    out[CELL_ELECTRICITY] = bill->electricity;
    out[CELL_COST] = bill->cost;
    out[CELL_PER_STEP] = bill->cost_per_step;
    out[CELL_PER_STEP_LO] = offer->cost_per_step.lo;
    out[CELL_PER_STEP_HI] = offer->cost_per_step.hi;
    out[CELL_TRAINING] = bill->training_cost;
    out[CELL_RUNTIME] = prediction->value[FULCRUM_OUTPUT_runtime_s];
    out[CELL_MEETS] = offer->meets_frac;
    out[CELL_BEST] = offer->best_frac;
    out[CELL_ERROR] = runs ? prediction->solver_error_rel : FULCRUM_UNKNOWN;
}

/* "3 x dgx-a100" for people; programs have a column for the number. */
static void add_name(const struct market *market, const struct offer *offer,
    struct fulcrum_report *report)
{
    char name[sizeof offer->contender.name + 32];
    if (market->context->format != FULCRUM_FORMAT_TABLE ||
        offer->contender.reason[0] != '\0') {
        fulcrum_report_add_text(report, offer->contender.name);
        return;
    }
    (void)snprintf(name, sizeof name, "%.6g x %s", offer->bill.machine_count,
        offer->contender.name);
    fulcrum_report_add_text(report, name);
}

/* Shares of a hundred draws or so have two digits. */
static double shown_number(
    const struct market *market, const double numbers[CELLS], enum cell cell)
{
    int is_share = cell == CELL_MEETS || cell == CELL_BEST;
    return is_share && market->context->format == FULCRUM_FORMAT_TABLE
               ? round(100.0 * numbers[cell]) / 100.0
               : numbers[cell];
}

static void add_offer(const struct market *market, size_t rank, const enum cell *shown,
    size_t shown_count, struct fulcrum_report *report)
{
    const struct offer *offer = &market->offers[market->order[rank]];
    char verdict[FULCRUM_REASON_BYTE + 32];
    double numbers[CELLS];
    write_verdict(offer, rank == 0, verdict, sizeof verdict);
    fill_numbers(offer, numbers);
    for (size_t i = 0; i < shown_count; i++) {
        if (shown[i] == CELL_MACHINE) {
            add_name(market, offer, report);
        } else if (shown[i] == CELL_VERDICT) {
            fulcrum_report_add_text(report, verdict);
        } else {
            fulcrum_report_add_number(report, shown_number(market, numbers, shown[i]));
        }
    }
}

/* Whether any machine has a number in that column: people need no empty ones. */
static int is_known(const struct market *market, enum cell cell)
{
    double numbers[CELLS];
    for (size_t i = 0; i < market->count; i++) {
        fill_numbers(&market->offers[i], numbers);
        if (cell == CELL_MACHINE || cell == CELL_VERDICT || !isnan(numbers[cell])) {
            return 1;
        }
    }
    return 0;
}

/* Whether people need it for what they ask: the ranking tells the rest. */
static int is_wanted(const struct market *market, enum cell cell)
{
    return cells[cell].title != NULL && cell != CELL_VERDICT &&
           is_known(market, cell) &&
           (cell != CELL_PER_JOULE || market->need.goal == FULCRUM_AIM_EFFICIENT);
}

static void show_cell(
    enum cell cell, enum cell *shown, struct fulcrum_column *columns, size_t *count)
{
    int is_text = cell == CELL_MACHINE || cell == CELL_VERDICT;
    shown[*count] = cell;
    columns[(*count)++] = (struct fulcrum_column){cells[cell].key,
        is_text ? FULCRUM_COLUMN_TEXT : FULCRUM_COLUMN_NUMBER, cells[cell].title};
}

/* The columns of the context's format; returns how many. A verdict may be long, so that
 * people find it at the end of the line. */
static size_t choose_cells(
    const struct market *market, enum cell *shown, struct fulcrum_column *columns)
{
    size_t count = 0;
    int is_table = market->context->format == FULCRUM_FORMAT_TABLE;
    for (size_t i = 0; i < CELLS; i++) {
        if (!is_table || is_wanted(market, (enum cell)i)) {
            show_cell((enum cell)i, shown, columns, &count);
        }
    }
    if (is_table) {
        show_cell(CELL_VERDICT, shown, columns, &count);
    }
    return count;
}

static void add_need(const struct market *market, struct fulcrum_json *document)
{
    const struct fulcrum_need *need = &market->need;
    fulcrum_json_add_text(document, "best", fulcrum_aim_name((int)need->goal));
    struct fulcrum_json *limits = fulcrum_json_add_object(document, "limits");
    fulcrum_json_add_number(limits, "least_steps_per_s", need->least_steps_per_s);
    fulcrum_json_add_number(limits, "most_w", need->most_w);
    fulcrum_json_add_number(limits, "most_price", need->most_price);
    fulcrum_json_add_number(limits, "most_rack_units", need->most_rack_units);
    fulcrum_json_add_number(limits, "most_machines", need->most_machines);
    fulcrum_json_add_flag(document, "fill", need->fills);
    fulcrum_json_add_number(document, "electricity_per_kwh", need->electricity_per_kwh);
    fulcrum_json_add_number(document, "years", need->years);
    fulcrum_json_add_number(document, "interval_draws", (double)market->draw_count);
}

/* The offers of a group: 1 misses a limit, 2 lacks what a limit asks for. */
static size_t count_of(const struct market *market, int group)
{
    size_t count = 0;
    for (size_t i = 0; i < market->count; i++) {
        count += group_of(&market->offers[i]) == group ? 1 : 0;
    }
    return count;
}

/* Not found is not refused: what is not known of a machine is asked for. */
static const char *why_none(const struct market *market)
{
    if (market->count > 0 && count_of(market, 2) == market->count) {
        return "nothing can be told: every machine lacks what is asked for, see "
               "verdict";
    }
    return count_of(market, 2) > 0
               ? "no machine meets all limits, of those that are known enough"
               : "no machine meets all limits";
}

/* "fastest: 2 x dgx-a100, 140 000 steps/s at 6 690 W; best in 87 % of the draws" */
static void write_sentence(const struct market *market, char *out, size_t size)
{
    const struct offer *first = &market->offers[market->order[0]];
    if (market->count == 0 || group_of(first) != 0) {
        (void)snprintf(out, size, "%s", why_none(market));
        return;
    }
    char rate[FULCRUM_QUANTITY_SIZE];
    char watts[FULCRUM_QUANTITY_SIZE];
    char money[80] = "";
    char sure[80] = "";
    fulcrum_number_words(first->bill.steps_per_s, 4, rate);
    fulcrum_number_words(first->bill.system_w, 4, watts);
    if (!isnan(first->bill.training_cost)) {
        (void)snprintf(
            money, sizeof money, ", %.4g for a training", first->bill.training_cost);
    }
    if (!isnan(first->best_frac)) {
        (void)snprintf(sure, sizeof sure, "; best in %.0f %% of the draws",
            100.0 * first->best_frac);
    }
    (void)snprintf(out, size, "%s: %.6g x %s, %s steps/s at %s W%s%s",
        fulcrum_aim_name((int)market->need.goal), first->bill.machine_count,
        first->contender.name, rate, watts, money, sure);
}

/* The words of the table's heading, as far as its columns are shown. */
static void print_legend(const struct market *market, FILE *stream)
{
    (void)fputs(
        "steps/s, W   of all machines together, each at a training of its own", stream);
    (void)fputs(is_known(market, CELL_RACK_UNITS) ? "; U: rack units\n" : "\n", stream);
    if (is_known(market, CELL_TRAINING)) {
        (void)fprintf(stream,
            "a training   its part of price and electricity over %.4g years around the "
            "clock\n",
            market->need.years);
    }
    if (market->draw_count > 0) {
        (void)fprintf(stream,
            "meets, best  shares of %zu draws: so many meet every limit; are the best "
            "that do\n",
            market->draw_count);
    }
    (void)fputc('\n', stream);
}

/* One machine whose rate is off by its solver's error, up or down. */
static struct fulcrum_offer shifted_offer(const struct offer *offer, double sign)
{
    const struct fulcrum_prediction *prediction = &offer->contender.point.prediction;
    struct fulcrum_offer out = offer_of(offer, prediction->value);
    out.steps_per_s *= 1.0 + sign * prediction->solver_error_rel;
    return out;
}

/* Whether another number of them would be bought, or another limit missed. */
static int is_open(const struct market *market, const struct offer *offer, double sign)
{
    struct fulcrum_bill bill;
    struct fulcrum_need need = market->need;
    const struct fulcrum_offer one = shifted_offer(offer, sign);
    need.total_env_steps = offer->contender.design.workload.total_env_steps;
    double count = fulcrum_offer_count(&one, &need);
    fulcrum_bill_of(&one, count, &need, &bill);
    return fabs(count - offer->bill.machine_count) > 0.5 ||
           bill.misses != offer->bill.misses;
}

/* What so many of them are worth then. */
static double shifted_merit(
    const struct market *market, const struct offer *offer, double sign)
{
    struct fulcrum_bill bill;
    struct fulcrum_need need = market->need;
    const struct fulcrum_offer one = shifted_offer(offer, sign);
    need.total_env_steps = offer->contender.design.workload.total_env_steps;
    fulcrum_bill_of(&one, offer->bill.machine_count, &need, &bill);
    return fulcrum_bill_merit(&bill, need.goal);
}

/* What the solver's error leaves open, in words; "": nothing. */
static void write_solver_note(const struct market *market, char *out, size_t size)
{
    const struct offer *first = &market->offers[market->order[0]];
    double error_rel = 0.0;
    int has_open_limit = 0;
    int has_open_order = 0;
    for (size_t i = 0; i < market->count; i++) {
        const struct offer *offer = &market->offers[market->order[i]];
        if (offer->contender.reason[0] != '\0') {
            continue;
        }
        error_rel = fmax(error_rel, offer->contender.point.prediction.solver_error_rel);
        has_open_limit |= is_open(market, offer, 1.0) || is_open(market, offer, -1.0);
        has_open_order |=
            i > 0 && group_of(first) == 0 && group_of(offer) == 0 &&
            shifted_merit(market, offer, 1.0) > shifted_merit(market, first, -1.0);
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
static void print_notes(const struct market *market, FILE *stream)
{
    unsigned misses = 0;
    for (size_t i = 0; i < market->count; i++) {
        int runs = market->offers[i].contender.reason[0] == '\0';
        misses |= runs ? market->offers[i].bill.misses : 0U;
    }
    char note[400];
    write_solver_note(market, note, sizeof note);
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

static enum fulcrum_status print_json(const struct market *market,
    const struct fulcrum_report *report, const char *sentence,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-recommend");
    fulcrum_json_add_text(document, "question", "machine");
    fulcrum_json_add_text(document, "workload", market->settings->design.workload);
    add_need(market, document);
    fulcrum_report_to_json(report, document);
    fulcrum_json_add_text(document, "finding", sentence);
    char note[400];
    write_solver_note(market, note, sizeof note);
    fulcrum_json_add_text(document, "note", note);
    return fulcrum_report_print_document(document, market->context, err);
}

static enum fulcrum_status print_market(
    const struct market *market, struct fulcrum_error *err)
{
    enum cell shown[CELLS];
    struct fulcrum_column columns[CELLS];
    char sentence[700];
    size_t count = choose_cells(market, shown, columns);
    struct fulcrum_report *report = fulcrum_report_new("machines", columns, count);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < market->count; i++) {
        add_offer(market, i, shown, count, report);
    }
    write_sentence(market, sentence, sizeof sentence);
    if (market->context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(market, report, sentence, err);
    } else if (market->context->format == FULCRUM_FORMAT_CSV) {
        status =
            fulcrum_report_print(report, "fulcrum-recommend", market->context, err);
    } else {
        (void)fprintf(market->context->out, "%s, %s\n\n",
            market->settings->design.workload, sentence);
        print_legend(market, market->context->out);
        fulcrum_report_print_table(report, market->context->out, 0);
        print_notes(market, market->context->out);
    }
    fulcrum_report_free(report);
    return status;
}

static void free_market(struct market *market)
{
    for (size_t i = 0; i < market->count; i++) {
        fulcrum_contender_clear(&market->offers[i].contender);
        free(market->offers[i].drawn);
    }
    free(market->offers);
    free(market->order);
    free(market->column);
}

/* Everything that can be refused before the work starts. */
static enum fulcrum_status prepare(struct market *market, struct fulcrum_error *err)
{
    TRY(read_need(market, err));
    TRY(list_machines(market, err));
    TRY(read_numbers(market, err));
    TRY(load_offers(market, err));
    return align(market, err);
}

static enum fulcrum_status answer(struct market *market, struct fulcrum_error *err)
{
    TRY(predict_offers(market, err));
    TRY(write_bills(market, err));
    TRY(judge_draws(market, err));
    sort_offers(market);
    TRY(print_market(market, err));
    /* Answered, but there is none to take. */
    if (group_of(&market->offers[market->order[0]]) != 0) {
        market->context->exit_code = FULCRUM_EXIT_FAILED;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_recommend_machine(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct market market = {.settings = settings, .context = context};
    enum fulcrum_status status = prepare(&market, err);
    if (status == FULCRUM_OK) {
        status = answer(&market, err);
    }
    free_market(&market);
    return status;
}
