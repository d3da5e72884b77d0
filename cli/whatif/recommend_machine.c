/* recommend_machine.c - machines under limits, the best first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each machine is predicted once, with its draws, and everything else is arithmetic on
 * that (model/whatif/recommend.h). How many of a kind are bought is decided by the
 * estimate; the draws then tell how likely so many are enough.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/whatif/candidates.h"
#include "model/quantity.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/result/quantity_text.h"

/* Draws of each machine. */
#define MACHINE_DRAWS 96.0
/* The fallback of --max-machines. */
#define MACHINES_MOST 1000.0

/* A machine, and what it comes to. */
struct entry {
    const struct fulcrum_candidate *candidate;
    const char *name; /* the candidate's */
    double price;     /* of one; NAN: not known */
    double rack_unit_count;
    struct fulcrum_cost cost; /* of the estimate, which decides how many are bought */
    double meets_frac;
    double best_frac;
};

struct offers {
    struct fulcrum_candidates list;
    struct fulcrum_need need;
    struct entry *entries;      /* one per candidate */
    size_t *order;              /* the best first */
    struct fulcrum_cost *costs; /* of one draw */
};

/* NULL: there is none of that name. */
static struct entry *find_entry(const struct offers *offers, const char *name)
{
    for (size_t i = 0; i < offers->list.count; i++) {
        if (strcmp(offers->entries[i].name, name) == 0) {
            return &offers->entries[i];
        }
    }
    return NULL;
}

/* The names of -m. */
static enum fulcrum_status add_list(
    struct offers *offers, const char *list, struct fulcrum_error *err)
{
    size_t room = 1;
    for (const char *at = list; *at != '\0'; at++) {
        room += *at == ',';
    }
    offers->list.items = fulcrum_allocate(room, sizeof *offers->list.items);
    offers->entries = fulcrum_allocate(room, sizeof *offers->entries);
    offers->order = fulcrum_allocate(room, sizeof *offers->order);
    for (char *name = fulcrum_list_part(&list); name != NULL;
         name = fulcrum_list_part(&list)) {
        bool is_new = find_entry(offers, name) == NULL;
        size_t at = offers->list.count++;
        struct fulcrum_string *kept = &offers->list.items[at].name;
        fulcrum_string_add(kept, "%s", name);
        free(name);
        offers->entries[at] = (struct entry){.candidate = &offers->list.items[at],
            .name = fulcrum_string_get(kept),
            .price = FULCRUM_UNKNOWN,
            .rack_unit_count = FULCRUM_UNKNOWN};
        FULCRUM_USAGE_IF(!is_new, offers->list.context, err, FULCRUM_ERR_RANGE,
            "--machine: %s is given twice", offers->entries[at].name);
    }
    return FULCRUM_OK;
}

/* Every preset with GPUs. */
static enum fulcrum_status add_all(struct offers *offers, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    struct fulcrum_string names = {0};
    size_t count = 0;
    TRY(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        if (fulcrum_machine_load(entries[i].name, &design, NULL, NULL) == FULCRUM_OK &&
            design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            design.machine.gpu.count >= 1.0) {
            fulcrum_string_add(
                &names, "%s%s", names.length > 0 ? "," : "", entries[i].name);
        }
    }
    enum fulcrum_status status = add_list(offers, fulcrum_string_get(&names), err);
    fulcrum_string_clear(&names);
    free(entries);
    return status;
}

static enum fulcrum_status list_machines(
    struct offers *offers, struct fulcrum_error *err)
{
    const char *list = offers->list.settings->design.machine;
    FULCRUM_USAGE_IF(list == NULL, offers->list.context, err, FULCRUM_ERR_MISSING,
        "option '--machine' is missing: a list of machines, or 'all'");
    return strcmp(list, "all") == 0 ? add_all(offers, err)
                                    : add_list(offers, list, err);
}

/* "MACHINE=NUMBER" of --price and --rack-units.
 *   member   of a struct entry
 */
static enum fulcrum_status read_numbers(struct offers *offers, const char *option,
    const struct fulcrum_text_list *texts, size_t member, struct fulcrum_error *err)
{
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->items[i];
        const char *equals = strrchr(text, '=');
        double value = 0.0;
        FULCRUM_USAGE_IF(equals == NULL || equals == text, offers->list.context, err,
            FULCRUM_ERR_FORMAT, "%s %s: expected MACHINE=NUMBER", option, text);
        enum fulcrum_status status =
            fulcrum_number_parse(option, equals + 1, &value, err);
        if (status != FULCRUM_OK) {
            offers->list.context->exit_code = 2;
            return status;
        }
        FULCRUM_USAGE_IF(!(value >= 0.0), offers->list.context, err, FULCRUM_ERR_RANGE,
            "%s %s: expected 0 or more", option, text);
        char *name = fulcrum_format("%.*s", (int)(equals - text), text);
        struct entry *entry = find_entry(offers, name);
        free(name);
        FULCRUM_USAGE_IF(entry == NULL, offers->list.context, err,
            FULCRUM_ERR_UNKNOWN_NAME, "%s %s: no such machine in --machine %s", option,
            text, offers->list.settings->design.machine);
        memcpy((char *)entry + member, &value, sizeof value);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_need(struct offers *offers, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = offers->list.settings;
    offers->need = (struct fulcrum_need){.goal = (enum fulcrum_objective)settings->goal,
        .least_steps_per_s = settings->least_steps_per_s,
        .most_w = settings->most_w,
        .most_price = settings->most_price,
        .most_rack_units = settings->most_rack_units,
        .most_machines = settings->most_machines,
        .fills = settings->fill,
        .electricity_per_kwh = settings->electricity_per_kwh,
        .years = settings->years};
    FULCRUM_USAGE_IF(offers->need.goal == FULCRUM_OBJECTIVE_CHEAPEST &&
                         isnan(settings->electricity_per_kwh),
        offers->list.context, err, FULCRUM_ERR_MISSING,
        "--best cheapest needs --electricity, the price of a kWh; 0 leaves it out");
    /* What is filled needs a brim: watts, money, rack units or a number of machines. */
    FULCRUM_USAGE_IF(settings->fill != 0 && isnan(settings->most_w) &&
                         isnan(settings->most_price) &&
                         isnan(settings->most_rack_units) &&
                         settings->most_machines >= MACHINES_MOST,
        offers->list.context, err, FULCRUM_ERR_MISSING,
        "--fill needs a limit: --max-watts, --max-price, --max-rack-units or "
        "--max-machines below %.0f",
        MACHINES_MOST);
    return fulcrum_recommend_options(
        settings, MACHINE_DRAWS, offers->list.context, &offers->list.options, err);
}

/* All GPUs of a machine, unless the user says how many; set as --set does. */
static enum fulcrum_status load_offer(
    struct offers *offers, size_t at, struct fulcrum_error *err)
{
    struct fulcrum_candidate *candidate = &offers->list.items[at];
    struct fulcrum_design_inputs *inputs = &candidate->subject.inputs;
    struct fulcrum_design_settings settings = offers->list.settings->design;
    settings.machine = fulcrum_string_get(&candidate->name);
    TRY(fulcrum_subject_read(
        &settings, offers->list.context, &candidate->subject, err));
    const struct fulcrum_machine *machine = &inputs->base.machine;
    if (machine->accelerator != FULCRUM_ACCELERATOR_GPU ||
        !(machine->gpu.count >= 1.0) || fulcrum_inputs_set(inputs, "run.gpu_count") ||
        fulcrum_inputs_set(inputs, "machine.gpu.count")) {
        return FULCRUM_OK;
    }
    struct fulcrum_setting *grown =
        realloc(inputs->settings, (inputs->setting_count + 1) * sizeof *grown);
    TRY_MEMORY(grown, err, "out of memory");
    grown[inputs->setting_count++] = (struct fulcrum_setting){
        fulcrum_field_find("run.gpu_count"), machine->gpu.count, NULL};
    inputs->settings = grown;
    inputs->scenario.settings = grown;
    inputs->scenario.setting_count = inputs->setting_count;
    return FULCRUM_OK;
}

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Values of each machine and draw. */
static const enum fulcrum_predicted outputs[] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_COUNT};

/* One machine in one draw, its rate off by a share. */
static struct fulcrum_candidate_machine machine_in(
    const struct offers *offers, const struct entry *entry, size_t draw, double off_rel)
{
    const struct fulcrum_machine *machine = &entry->candidate->subject.design.machine;
    const double *values =
        fulcrum_study_at(offers->list.study, (size_t)(entry - offers->entries), draw);
    return (struct fulcrum_candidate_machine){
        .steps_per_s = values[0] * (1.0 + off_rel),
        .system_w = values[1],
        .price = known_or(entry->price, machine->price),
        .rack_unit_count = known_or(entry->rack_unit_count, machine->rack_unit_count),
    };
}

/* `count` of them; NAN: as many as would be bought. */
static struct fulcrum_cost cost_of(const struct offers *offers,
    const struct entry *entry, const struct fulcrum_candidate_machine *one,
    double count)
{
    struct fulcrum_need need = offers->need;
    struct fulcrum_cost cost;
    need.total_env_steps = entry->candidate->subject.design.workload.total_env_steps;
    if (isnan(count)) {
        count =
            isnan(one->steps_per_s) ? 1.0 : fulcrum_candidate_machine_count(one, &need);
    }
    fulcrum_cost_of(one, count, &need, &cost);
    return cost;
}

/* As many as the estimate says, in one draw; one that cannot run misses everything. */
static struct fulcrum_cost cost_in(
    const struct offers *offers, const struct entry *entry, size_t draw)
{
    const struct fulcrum_candidate_machine one = machine_in(offers, entry, draw, 0.0);
    struct fulcrum_cost cost = cost_of(offers, entry, &one, entry->cost.machine_count);
    cost.misses = isnan(one.steps_per_s) && draw > 0 ? ~0U : cost.misses;
    return cost;
}

/* Those that can run and do, the others, those that cannot run. */
static int group_of(const struct entry *entry)
{
    if (entry->candidate->reason[0] != '\0') {
        return 3;
    }
    unsigned unknown = (unsigned)FULCRUM_MISS_NO_PRICE |
                       (unsigned)FULCRUM_MISS_NO_WATTS |
                       (unsigned)FULCRUM_MISS_NO_RACK_UNITS;
    return (entry->cost.misses & unknown) != 0U ? 2 : entry->cost.misses != 0U ? 1 : 0;
}

/* Whether entry `a` stands before `b`; equals stay in the order of -m. */
static int stands_before(const struct offers *offers, size_t a, size_t b)
{
    const struct entry *x = &offers->entries[a];
    const struct entry *y = &offers->entries[b];
    if (group_of(x) != group_of(y)) {
        return group_of(x) < group_of(y);
    }
    double gain = fulcrum_cost_merit(&x->cost, offers->need.goal) -
                  fulcrum_cost_merit(&y->cost, offers->need.goal);
    return gain > 0.0 || (!(gain < 0.0) && a < b);
}

static void sort_entries(struct offers *offers)
{
    for (size_t i = 0; i < offers->list.count; i++) {
        size_t at = i;
        while (at > 0 && stands_before(offers, i, offers->order[at - 1])) {
            offers->order[at] = offers->order[at - 1];
            at--;
        }
        offers->order[at] = i;
    }
}

/* An entry, and which member of its costs. */
struct asked {
    const struct offers *offers;
    const struct entry *entry;
    size_t member;
};

static double meets_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    return cost_in(asked->offers, asked->entry, draw).misses == 0U;
}

/* Among those that meet the limits in the draw; of equals the first of -m. */
static double is_best_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    const struct offers *offers = asked->offers;
    for (size_t i = 0; i < offers->list.count; i++) {
        offers->costs[i] = cost_in(offers, &offers->entries[i], draw);
    }
    size_t best =
        fulcrum_cost_best(offers->costs, offers->list.count, offers->need.goal);
    return &offers->entries[best] == asked->entry;
}

static double member_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    const struct fulcrum_cost cost = cost_in(asked->offers, asked->entry, draw);
    double value = 0.0;
    memcpy(&value, (const char *)&cost + asked->member, sizeof value);
    return value;
}

static void judge(const struct offers *offers)
{
    for (size_t i = 0; i < offers->list.count; i++) {
        struct entry *entry = &offers->entries[i];
        const struct fulcrum_candidate_machine one = machine_in(offers, entry, 0, 0.0);
        entry->cost = cost_of(offers, entry, &one, FULCRUM_UNKNOWN);
    }
    for (size_t i = 0; i < offers->list.count; i++) {
        const struct asked asked = {offers, &offers->entries[i], 0};
        offers->entries[i].meets_frac =
            fulcrum_study_share(offers->list.study, meets_in, &asked);
        offers->entries[i].best_frac =
            fulcrum_study_share(offers->list.study, is_best_in, &asked);
    }
}

/* "misses: too slow, no price" */
static void add_verdict(
    struct fulcrum_table *table, const struct entry *entry, bool is_best)
{
    static const struct {
        enum fulcrum_miss miss;
        const char *word;
    } words[] = {
        {FULCRUM_MISS_RATE, "too slow"},
        {FULCRUM_MISS_WATTS, "too many watts"},
        {FULCRUM_MISS_PRICE, "too dear"},
        {FULCRUM_MISS_RACK_UNITS, "too high"},
        {FULCRUM_MISS_NO_PRICE, "no price"},
        {FULCRUM_MISS_NO_WATTS, "no watts"},
        {FULCRUM_MISS_NO_RACK_UNITS, "no rack units"},
    };
    static const char *const starts[] = {"meets", "misses", "left out", "cannot run"};
    int group = group_of(entry);
    const char *between = ": ";
    struct fulcrum_string text = {0};
    fulcrum_string_add(&text, "%s", group == 0 && is_best ? "best" : starts[group]);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && group != 3; i++) {
        if ((entry->cost.misses & (unsigned)words[i].miss) != 0U) {
            fulcrum_string_add(&text, "%s%s", between, words[i].word);
            between = ", ";
        }
    }
    fulcrum_table_text(table, "verdict", "verdict", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

static void add_offer(
    struct fulcrum_table *table, const struct offers *offers, size_t rank)
{
    const size_t at = offers->order[rank];
    const struct entry *entry = &offers->entries[at];
    const struct fulcrum_cost *cost = &entry->cost;
    const struct fulcrum_prediction *prediction = &offers->list.study->predictions[at];
    const struct fulcrum_design *design = &entry->candidate->subject.design;
    bool has_gpu = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    bool runs = entry->candidate->reason[0] == '\0';
    bool is_per_joule = offers->need.goal == FULCRUM_OBJECTIVE_EFFICIENT;
#define INTERVAL(name)                                                                 \
    fulcrum_study_interval(offers->list.study, member_in,                              \
        &(struct asked){offers, entry, offsetof(struct fulcrum_cost, name)})
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", entry->name);
    add_verdict(table, entry, rank == 0);
    fulcrum_table_number(
        table, "machine_count", "count", runs ? cost->machine_count : FULCRUM_UNKNOWN);
    fulcrum_table_number(
        table, "gpu_count", NULL, has_gpu ? design->run.gpu_count : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "actor_count", NULL, prediction->actor_count);
    fulcrum_table_ratio(table, "steps_per_s", "steps", INTERVAL(steps_per_s));
    fulcrum_table_ratio(table, "system_w", "power", INTERVAL(system_w));
    fulcrum_table_ratio(table, "steps_per_j_system", is_per_joule ? "per joule" : NULL,
        INTERVAL(steps_per_j));
    fulcrum_table_number(table, "rack_unit_count", "rack units", cost->rack_unit_count);
    fulcrum_table_number(table, "price", "price", cost->price);
    fulcrum_table_number(table, "electricity", NULL, cost->electricity);
    fulcrum_table_number(table, "cost", NULL, cost->cost);
    fulcrum_table_ratio(table, "cost_per_step", NULL, INTERVAL(cost_per_step));
#undef INTERVAL
    fulcrum_table_number(table, "training_cost", "per training", cost->training_cost);
    fulcrum_table_number(
        table, "runtime_s", NULL, prediction->value[FULCRUM_OUTPUT_runtime_s]);
    fulcrum_table_number(table, "meets_frac", "meets limits", entry->meets_frac);
    fulcrum_table_number(table, "best_frac", "is best", entry->best_frac);
    fulcrum_table_number(table, "solver_error_rel", NULL,
        runs ? prediction->solver_error_rel : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "reason", NULL, entry->candidate->reason);
}

/* The entries of a group: 1 misses a limit, 2 lacks what a limit asks for. */
static size_t count_of(const struct offers *offers, int group)
{
    size_t count = 0;
    for (size_t i = 0; i < offers->list.count; i++) {
        count += group_of(&offers->entries[i]) == group ? 1 : 0;
    }
    return count;
}

/* Not found is not refused: what is not known of a machine is asked for. */
static const char *why_none(const struct offers *offers)
{
    if (offers->list.count > 0 && count_of(offers, 2) == offers->list.count) {
        return "nothing can be told: every machine lacks what is asked for, see "
               "verdict";
    }
    return count_of(offers, 2) > 0
               ? "no machine meets all limits, of those that are known enough"
               : "no machine meets all limits";
}

/* "2 x dgx-a100: 140000/s at 6.69 kW; best in 87 % of the draws" */
static void add_finding(struct fulcrum_result *result, const struct offers *offers)
{
    const struct entry *first = &offers->entries[offers->order[0]];
    if (offers->list.count == 0 || group_of(first) != 0) {
        fulcrum_result_text(result, "finding", "found", why_none(offers));
        return;
    }
    char rate[FULCRUM_QUANTITY_SIZE];
    char watts[FULCRUM_QUANTITY_SIZE];
    struct fulcrum_string text = {0};
    fulcrum_quantity_plain(first->cost.steps_per_s, "", rate);
    fulcrum_quantity_plain(first->cost.system_w, "W", watts);
    fulcrum_string_add(&text, "%s: %.6g x %s, %s steps/s at %s",
        fulcrum_objective_name((int)offers->need.goal), first->cost.machine_count,
        first->name, rate, watts);
    if (!isnan(first->cost.training_cost)) {
        fulcrum_string_add(&text, ", %.4g for a training", first->cost.training_cost);
    }
    if (!isnan(first->best_frac)) {
        fulcrum_string_add(
            &text, "; best in %.0f %% of the draws", 100.0 * first->best_frac);
    }
    fulcrum_result_text(result, "finding", "found", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

static double error_rel_of(const struct offers *offers, const struct entry *entry)
{
    return offers->list.study->predictions[entry - offers->entries].solver_error_rel;
}

/* Whether another number of them would be bought, or another limit missed, where the
 * rate is off by the solver's error, up or down. */
static bool is_open(const struct offers *offers, const struct entry *entry, double sign)
{
    const struct fulcrum_candidate_machine one =
        machine_in(offers, entry, 0, sign * error_rel_of(offers, entry));
    struct fulcrum_cost cost = cost_of(offers, entry, &one, FULCRUM_UNKNOWN);
    return fabs(cost.machine_count - entry->cost.machine_count) > 0.5 ||
           cost.misses != entry->cost.misses;
}

/* What as many of them are worth then. */
static double shifted_merit(
    const struct offers *offers, const struct entry *entry, double sign)
{
    const struct fulcrum_candidate_machine one =
        machine_in(offers, entry, 0, sign * error_rel_of(offers, entry));
    struct fulcrum_cost cost = cost_of(offers, entry, &one, entry->cost.machine_count);
    return fulcrum_cost_merit(&cost, offers->need.goal);
}

/* What the solver's error leaves open, in words. */
static void note_solver(struct fulcrum_result *result, const struct offers *offers)
{
    const struct entry *first = &offers->entries[offers->order[0]];
    double error_rel = 0.0;
    bool has_open_limit = false;
    bool has_open_order = false;
    for (size_t i = 0; i < offers->list.count; i++) {
        const struct entry *entry = &offers->entries[offers->order[i]];
        if (entry->candidate->reason[0] != '\0') {
            continue;
        }
        error_rel = fmax(error_rel, error_rel_of(offers, entry));
        has_open_limit |= is_open(offers, entry, 1.0) || is_open(offers, entry, -1.0);
        has_open_order |=
            i > 0 && group_of(first) == 0 && group_of(entry) == 0 &&
            shifted_merit(offers, entry, 1.0) > shifted_merit(offers, first, -1.0);
    }
    if (error_rel > 0.0) {
        fulcrum_result_note_print(result, "notes",
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

/* Why some cannot run; of what is missing, which option gives it. */
static void add_notes(struct fulcrum_result *result, const struct offers *offers)
{
    unsigned misses = 0;
    fulcrum_result_note(result, "notes", NULL);
    note_solver(result, offers);
    for (size_t i = 0; i < offers->list.count; i++) {
        const struct entry *entry = &offers->entries[offers->order[i]];
        if (entry->candidate->reason[0] == '\0') {
            misses |= entry->cost.misses;
        } else {
            fulcrum_result_note_print(result, "notes", "%s cannot run: %s", entry->name,
                entry->candidate->reason);
        }
    }
    if ((misses & (unsigned)FULCRUM_MISS_NO_PRICE) != 0U) {
        fulcrum_result_note(
            result, "notes", "no preset has a price: --price MACHINE=MONEY");
    }
    if ((misses & (unsigned)FULCRUM_MISS_NO_RACK_UNITS) != 0U) {
        fulcrum_result_note(
            result, "notes", "heights are given by --rack-units MACHINE=U");
    }
}

static enum fulcrum_status show(const struct offers *offers, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_need *need = &offers->need;
    bool has_money = !isnan(need->electricity_per_kwh);
    double draws = (double)offers->list.study->draw_count;
    fulcrum_result_text(result, "question", NULL, "machine");
    fulcrum_result_text(
        result, "workload", "workload", offers->list.settings->design.workload);
    fulcrum_result_text(result, "best", NULL, fulcrum_objective_name((int)need->goal));
    fulcrum_result_number(
        result, "limits/least_steps_per_s", NULL, need->least_steps_per_s);
    fulcrum_result_number(result, "limits/most_w", NULL, need->most_w);
    fulcrum_result_number(result, "limits/most_price", NULL, need->most_price);
    fulcrum_result_number(
        result, "limits/most_rack_units", NULL, need->most_rack_units);
    fulcrum_result_number(result, "limits/most_machines", NULL, need->most_machines);
    fulcrum_result_flag(result, "fill", NULL, need->fills);
    fulcrum_result_number(
        result, "electricity_per_kwh", NULL, need->electricity_per_kwh);
    fulcrum_result_number(
        result, "years", has_money ? "years of use" : NULL, need->years);
    fulcrum_result_number(
        result, "interval_draws", draws > 0.0 ? "draws" : NULL, draws);
    add_finding(result, offers);
    struct fulcrum_table *table = fulcrum_result_table(result, "machines",
        "all machines of a kind together, each with a training of its own:");
    for (size_t i = 0; i < offers->list.count; i++) {
        add_offer(table, offers, i);
    }
    add_notes(result, offers);
    return fulcrum_context_show(offers->list.context, result, err);
}

enum fulcrum_status fulcrum_recommend_machine(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct offers offers = {
        .list = {.settings = settings, .context = context, .outputs = outputs}};
    enum fulcrum_status status = FULCRUM_OK;
    /* Everything that can be refused comes before the work. */
    TRY_OR_END(read_need(&offers, err));
    TRY_OR_END(list_machines(&offers, err));
    TRY_OR_END(read_numbers(
        &offers, "--price", &settings->prices, offsetof(struct entry, price), err));
    TRY_OR_END(read_numbers(&offers, "--rack-units", &settings->rack_units,
        offsetof(struct entry, rack_unit_count), err));
    for (size_t i = 0; i < offers.list.count; i++) {
        TRY_OR_END(load_offer(&offers, i, err));
    }
    TRY_OR_END(fulcrum_candidates_predict(&offers.list, err));
    offers.costs = fulcrum_allocate(offers.list.count, sizeof *offers.costs);
    judge(&offers);
    sort_entries(&offers);
    TRY_OR_END(show(&offers, err));
    /* Answered, but there is none to take. */
    if (group_of(&offers.entries[offers.order[0]]) != 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
    }
end:
    fulcrum_candidates_clear(&offers.list);
    free(offers.entries);
    free(offers.order);
    free(offers.costs);
    return status;
}
