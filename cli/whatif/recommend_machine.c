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

/* What the user says of a machine, and how often it does in the draws. */
struct offer {
    double price; /* of one; NAN: not given */
    double rack_unit_count;
    double meets_frac;
    double best_frac;
};

struct offers {
    struct fulcrum_candidates list;
    struct fulcrum_need need;
    struct offer *items;        /* one per candidate */
    size_t *order;              /* the best first */
    struct fulcrum_cost *costs; /* of each candidate, draw after draw; the estimate is
                                   first, and decides how many are bought */
};

static const char *name_of(const struct offers *offers, size_t i)
{
    return fulcrum_string_get(&offers->list.items[i].name);
}

/* The number of machines: there is none of that name. */
static size_t find_offer(const struct offers *offers, const char *name)
{
    size_t i = 0;
    while (i < offers->list.count && strcmp(name_of(offers, i), name) != 0) {
        i++;
    }
    return i;
}

/* Every preset with GPUs. */
static enum fulcrum_status list_all(
    struct fulcrum_string *names, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    TRY(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        if (fulcrum_machine_load(entries[i].name, &design, NULL, NULL) == FULCRUM_OK &&
            design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            design.machine.gpu.count >= 1.0) {
            fulcrum_string_add(
                names, "%s%s", names->length > 0 ? "," : "", entries[i].name);
        }
    }
    free(entries);
    return FULCRUM_OK;
}

/* The names of -m, whether in one option or in several. */
static enum fulcrum_status list_machines(
    struct offers *offers, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *given = &offers->list.settings->machines;
    struct fulcrum_string names = {0};
    enum fulcrum_status status = FULCRUM_OK;
    FULCRUM_USAGE_IF(given->count == 0, offers->list.context, err, FULCRUM_ERR_MISSING,
        "option '--machine' is missing: a list of machines, or 'all'");
    if (given->count == 1 && strcmp(given->items[0], "all") == 0) {
        TRY_OR_END(list_all(&names, err));
    } else {
        for (size_t i = 0; i < given->count; i++) {
            fulcrum_string_add(&names, "%s%s", i > 0 ? "," : "", given->items[i]);
        }
    }
    const char *list = fulcrum_string_get(&names);
    size_t room = 1;
    for (const char *at = list; *at != '\0'; at++) {
        room += *at == ',';
    }
    offers->list.items = fulcrum_allocate(room, sizeof *offers->list.items);
    offers->items = fulcrum_allocate(room, sizeof *offers->items);
    offers->order = fulcrum_allocate(room, sizeof *offers->order);
    for (const char *rest = list; rest != NULL && status == FULCRUM_OK;) {
        char *name = fulcrum_list_part(&rest);
        size_t at = offers->list.count;
        if (find_offer(offers, name) < at) {
            status = fulcrum_usage_fail(offers->list.context, err, FULCRUM_ERR_RANGE,
                "--machine: %s is given twice", name);
        }
        fulcrum_string_add(&offers->list.items[offers->list.count++].name, "%s", name);
        offers->items[at] = (struct offer){
            .price = FULCRUM_UNKNOWN, .rack_unit_count = FULCRUM_UNKNOWN};
        free(name);
    }
end:
    fulcrum_string_clear(&names);
    return status;
}

/* "MACHINE=NUMBER" of --price and --rack-units.
 *   member   of a struct offer
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
            offers->list.context->exit_code = FULCRUM_EXIT_USAGE;
            return status;
        }
        FULCRUM_USAGE_IF(!(value >= 0.0), offers->list.context, err, FULCRUM_ERR_RANGE,
            "%s %s: expected 0 or more", option, text);
        char *name = fulcrum_format("%.*s", (int)(equals - text), text);
        size_t at = find_offer(offers, name);
        free(name);
        FULCRUM_USAGE_IF(at == offers->list.count, offers->list.context, err,
            FULCRUM_ERR_UNKNOWN_NAME, "%s %s: --machine has no such machine", option,
            text);
        memcpy((char *)&offers->items[at] + member, &value, sizeof value);
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
    settings.machine = name_of(offers, at);
    TRY(fulcrum_subject_read(
        &settings, offers->list.context, &candidate->subject, err));
    const struct fulcrum_machine *machine = &inputs->base.machine;
    if (machine->accelerator == FULCRUM_ACCELERATOR_GPU && machine->gpu.count >= 1.0 &&
        !fulcrum_inputs_set(inputs, "run.gpu_count") &&
        !fulcrum_inputs_set(inputs, "machine.gpu.count")) {
        fulcrum_inputs_add(inputs, "run.gpu_count", machine->gpu.count);
    }
    return FULCRUM_OK;
}

/* Values of each machine and draw. */
static const enum fulcrum_predicted outputs[] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_COUNT};

static bool runs(const struct offers *offers, size_t i)
{
    return offers->list.items[i].reason[0] == '\0';
}

/* `count` machines in one draw, their rate off by a share; NAN: as many as would be
 * bought. */
static struct fulcrum_cost cost_in(
    const struct offers *offers, size_t i, size_t draw, double off_rel, double count)
{
    const struct fulcrum_design *design = &offers->list.items[i].subject.design;
    const struct offer *offer = &offers->items[i];
    const double *values = fulcrum_study_at(offers->list.study, i, draw);
    const struct fulcrum_candidate_machine one = {
        .steps_per_s = values[0] * (1.0 + off_rel),
        .system_w = values[1],
        .price = isnan(offer->price) ? design->machine.price : offer->price,
        .rack_unit_count = isnan(offer->rack_unit_count)
                               ? design->machine.rack_unit_count
                               : offer->rack_unit_count};
    struct fulcrum_need need = offers->need;
    struct fulcrum_cost cost;
    need.total_env_steps = design->workload.total_env_steps;
    if (isnan(count)) {
        count =
            isnan(one.steps_per_s) ? 1.0 : fulcrum_candidate_machine_count(&one, &need);
    }
    fulcrum_cost_of(&one, count, &need, &cost);
    return cost;
}

/* Those that can run and do, the others, those that cannot run. */
static int group_of(const struct offers *offers, size_t i)
{
    unsigned unknown = (unsigned)FULCRUM_MISS_NO_PRICE |
                       (unsigned)FULCRUM_MISS_NO_WATTS |
                       (unsigned)FULCRUM_MISS_NO_RACK_UNITS;
    unsigned misses = offers->costs[i].misses;
    return !runs(offers, i) ? 3 : (misses & unknown) != 0U ? 2 : misses != 0U ? 1 : 0;
}

/* Whether `a` stands before `b`; equals stay in the order of -m. */
static bool stands_before(const struct offers *offers, size_t a, size_t b)
{
    if (group_of(offers, a) != group_of(offers, b)) {
        return group_of(offers, a) < group_of(offers, b);
    }
    double gain = fulcrum_cost_merit(&offers->costs[a], offers->need.goal) -
                  fulcrum_cost_merit(&offers->costs[b], offers->need.goal);
    return gain > 0.0 || (!(gain < 0.0) && a < b);
}

/* Costs of every draw: as many machines as the estimate says; one that cannot run
 * misses everything. The best of a draw is among those that meet the limits there. */
static void judge(struct offers *offers)
{
    size_t count = offers->list.count;
    size_t draws = offers->list.study->draw_count;
    struct fulcrum_cost *costs = fulcrum_allocate(count * (draws + 1), sizeof *costs);
    offers->costs = costs;
    for (size_t i = 0; i < count; i++) {
        costs[i] = cost_in(offers, i, 0, 0.0, FULCRUM_UNKNOWN);
        size_t at = i;
        for (; at > 0 && stands_before(offers, i, offers->order[at - 1]); at--) {
            offers->order[at] = offers->order[at - 1];
        }
        offers->order[at] = i;
    }
    for (size_t k = 1; k <= draws; k++) {
        struct fulcrum_cost *drawn = costs + k * count;
        for (size_t i = 0; i < count; i++) {
            drawn[i] = cost_in(offers, i, k, 0.0, costs[i].machine_count);
            drawn[i].misses |= isnan(drawn[i].steps_per_s) ? ~0U : 0U;
            offers->items[i].meets_frac += drawn[i].misses == 0U ? 1.0 : 0.0;
        }
        size_t best = fulcrum_cost_best(drawn, count, offers->need.goal);
        if (best < count) {
            offers->items[best].best_frac += 1.0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct offer *offer = &offers->items[i];
        offer->meets_frac =
            draws > 0 ? offer->meets_frac / (double)draws : FULCRUM_UNKNOWN;
        offer->best_frac =
            draws > 0 ? offer->best_frac / (double)draws : FULCRUM_UNKNOWN;
    }
}

/* One member of a candidate's costs. */
struct asked {
    const struct offers *offers;
    size_t at;
    size_t member;
};

static double member_in(const void *context, size_t draw)
{
    const struct asked *asked = context;
    const struct fulcrum_cost *cost =
        &asked->offers->costs[draw * asked->offers->list.count + asked->at];
    double value = 0.0;
    memcpy(&value, (const char *)cost + asked->member, sizeof value);
    return value;
}

/* "misses: too slow, no price" */
static void add_verdict(
    struct fulcrum_table *table, const struct offers *offers, size_t rank)
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
    size_t at = offers->order[rank];
    int group = group_of(offers, at);
    const char *between = ": ";
    struct fulcrum_string text = {0};
    fulcrum_string_add(&text, "%s", group == 0 && rank == 0 ? "best" : starts[group]);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && group != 3; i++) {
        if ((offers->costs[at].misses & (unsigned)words[i].miss) != 0U) {
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
    const struct fulcrum_cost *cost = &offers->costs[at];
    const struct fulcrum_prediction *prediction = &offers->list.study->predictions[at];
    const struct fulcrum_design *design = &offers->list.items[at].subject.design;
    bool has_gpu = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU;
    bool is_per_joule = offers->need.goal == FULCRUM_OBJECTIVE_EFFICIENT;
#define INTERVAL(name)                                                                 \
    fulcrum_study_interval(offers->list.study, member_in,                              \
        &(struct asked){offers, at, offsetof(struct fulcrum_cost, name)})
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", name_of(offers, at));
    add_verdict(table, offers, rank);
    fulcrum_table_number(table, "machine_count", "count",
        runs(offers, at) ? cost->machine_count : FULCRUM_UNKNOWN);
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
    fulcrum_table_number(
        table, "meets_frac", "meets limits", offers->items[at].meets_frac);
    fulcrum_table_number(table, "best_frac", "is best", offers->items[at].best_frac);
    fulcrum_table_number(table, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_table_text(table, "reason", NULL, offers->list.items[at].reason);
}

/* The entries of a group: 1 misses a limit, 2 lacks what a limit asks for. */
static size_t count_of(const struct offers *offers, int group)
{
    size_t count = 0;
    for (size_t i = 0; i < offers->list.count; i++) {
        count += group_of(offers, i) == group ? 1 : 0;
    }
    return count;
}

/* Not found is not refused: what is not known of a machine is asked for. */
static const char *why_none(const struct offers *offers)
{
    if (count_of(offers, 2) == offers->list.count) {
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
    size_t at = offers->order[0];
    const struct fulcrum_cost *cost = &offers->costs[at];
    if (group_of(offers, at) != 0) {
        fulcrum_result_text(result, "finding", "found", why_none(offers));
        return;
    }
    char rate[FULCRUM_QUANTITY_SIZE];
    char watts[FULCRUM_QUANTITY_SIZE];
    struct fulcrum_string text = {0};
    fulcrum_quantity_plain(cost->steps_per_s, "", rate);
    fulcrum_quantity_plain(cost->system_w, "W", watts);
    fulcrum_string_add(&text, "%s: %.6g x %s, %s steps/s at %s",
        fulcrum_objective_name((int)offers->need.goal), cost->machine_count,
        name_of(offers, at), rate, watts);
    if (!isnan(cost->training_cost)) {
        fulcrum_string_add(&text, ", %.4g for a training", cost->training_cost);
    }
    if (!isnan(offers->items[at].best_frac)) {
        fulcrum_string_add(&text, "; best in %.0f %% of the draws",
            100.0 * offers->items[at].best_frac);
    }
    fulcrum_result_text(result, "finding", "found", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

/* So many of them, or as many as would be bought (NAN), where the rate is off by the
 * solver's error, up or down. */
static struct fulcrum_cost shifted(
    const struct offers *offers, size_t i, double sign, double count)
{
    const struct fulcrum_prediction *prediction = &offers->list.study->predictions[i];
    return cost_in(offers, i, 0, sign * prediction->solver_error_rel, count);
}

/* Whether another number of them would be bought then, or another limit missed. */
static bool is_open(const struct offers *offers, size_t i, double sign)
{
    struct fulcrum_cost cost = shifted(offers, i, sign, FULCRUM_UNKNOWN);
    return fabs(cost.machine_count - offers->costs[i].machine_count) > 0.5 ||
           cost.misses != offers->costs[i].misses;
}

/* What as many of them are worth then. */
static double shifted_merit(const struct offers *offers, size_t i, double sign)
{
    struct fulcrum_cost cost = shifted(offers, i, sign, offers->costs[i].machine_count);
    return fulcrum_cost_merit(&cost, offers->need.goal);
}

/* What the solver's error leaves open, in words. */
static void note_solver(struct fulcrum_result *result, const struct offers *offers)
{
    size_t first = offers->order[0];
    double error_rel = 0.0;
    bool has_open_limit = false;
    bool has_open_order = false;
    for (size_t i = 0; i < offers->list.count; i++) {
        if (!runs(offers, i)) {
            continue;
        }
        error_rel =
            fmax(error_rel, offers->list.study->predictions[i].solver_error_rel);
        has_open_limit |= is_open(offers, i, 1.0) || is_open(offers, i, -1.0);
        has_open_order |=
            i != first && group_of(offers, first) == 0 && group_of(offers, i) == 0 &&
            shifted_merit(offers, i, 1.0) > shifted_merit(offers, first, -1.0);
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
        size_t at = offers->order[i];
        if (runs(offers, at)) {
            misses |= offers->costs[at].misses;
        } else {
            fulcrum_result_note_print(result, "notes", "%s cannot run: %s",
                name_of(offers, at), offers->list.items[at].reason);
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
        &offers, "--price", &settings->prices, offsetof(struct offer, price), err));
    TRY_OR_END(read_numbers(&offers, "--rack-units", &settings->rack_units,
        offsetof(struct offer, rack_unit_count), err));
    for (size_t i = 0; i < offers.list.count; i++) {
        TRY_OR_END(load_offer(&offers, i, err));
    }
    TRY_OR_END(fulcrum_candidates_predict(&offers.list, err));
    judge(&offers);
    TRY_OR_END(show(&offers, err));
    /* Answered, but there is none to take. */
    if (group_of(&offers, offers.order[0]) != 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
    }
end:
    fulcrum_candidates_clear(&offers.list);
    free(offers.items);
    free(offers.order);
    free(offers.costs);
    return status;
}
