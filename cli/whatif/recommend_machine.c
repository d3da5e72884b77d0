/* recommend_machine.c - machines under limits, the best first. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each machine is predicted once, with its draws, and everything else is arithmetic on
 * that (model/whatif/recommend.h). How many of a kind are bought is decided by the
 * estimate; the draws then tell how likely so many are enough.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/whatif/candidates.h"
#include "model/number.h"
#include "model/try.h"
#include "model/whatif/recommend.h"
#include "presets/result/quantity_text.h"

/* The fallback of --max-machines. */
#define MACHINES_MOST 1000.0

/* Draws in which a machine meets the limits, and is the best. */
struct offer {
    size_t meets_count;
    size_t best_count;
};

struct offers {
    struct fulcrum_candidates list;
    struct offer *items;        /* one per candidate */
    size_t *order;              /* the best first */
    struct fulcrum_cost *costs; /* of each candidate, draw after draw; the estimate is
                                   first, and decides how many are bought */
};

static int goal_of(const struct offers *offers)
{
    return offers->list.settings->need.goal;
}

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
        if (find_offer(offers, name) < offers->list.count) {
            status = fulcrum_usage_fail(offers->list.context, err, FULCRUM_ERR_RANGE,
                "--machine: %s is given twice", name);
        }
        fulcrum_string_add(&offers->list.items[offers->list.count++].name, "%s", name);
        free(name);
    }
end:
    fulcrum_string_clear(&names);
    return status;
}

/* "MACHINE=NUMBER" of --price and --rack-units, as --set gives the field at `path`. */
static enum fulcrum_status read_numbers(struct offers *offers, const char *option,
    const struct fulcrum_text_list *texts, const char *path, struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
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
        FULCRUM_USAGE_IF(!(value >= field->least && value <= field->most),
            offers->list.context, err, FULCRUM_ERR_RANGE,
            "%s %s: expected a number from %.6g to %.6g", option, text, field->least,
            field->most);
        char *name = fulcrum_format("%.*s", (int)(equals - text), text);
        size_t at = find_offer(offers, name);
        free(name);
        FULCRUM_USAGE_IF(at == offers->list.count, offers->list.context, err,
            FULCRUM_ERR_UNKNOWN_NAME, "%s %s: --machine has no such machine", option,
            text);
        fulcrum_inputs_add(&offers->list.items[at].subject.inputs, path, value);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_need(struct offers *offers, struct fulcrum_error *err)
{
    const struct fulcrum_recommend_settings *settings = offers->list.settings;
    const struct fulcrum_need *need = &settings->need;
    FULCRUM_USAGE_IF(
        need->goal == FULCRUM_OBJECTIVE_CHEAPEST && isnan(need->electricity_per_kwh),
        offers->list.context, err, FULCRUM_ERR_MISSING,
        "--best cheapest needs --electricity, the price of a kWh; 0 leaves it out");
    /* What is filled needs a brim: watts, money, rack units or a number of machines. */
    FULCRUM_USAGE_IF(need->fills && isnan(need->most_w) && isnan(need->most_price) &&
                         isnan(need->most_rack_units) &&
                         need->most_machines >= MACHINES_MOST,
        offers->list.context, err, FULCRUM_ERR_MISSING,
        "--fill needs a limit: --max-watts, --max-price, --max-rack-units or "
        "--max-machines below %.0f",
        MACHINES_MOST);
    return fulcrum_recommend_options(
        settings, offers->list.context, &offers->list.options, err);
}

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
    const double *values = fulcrum_study_at(offers->list.study, i, draw);
    const struct fulcrum_candidate_machine one = {
        .steps_per_s = values[0] * (1.0 + off_rel),
        .system_w = values[1],
        .price = design->machine.price,
        .rack_unit_count = design->machine.rack_unit_count};
    struct fulcrum_need need = offers->list.settings->need;
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
    double gain = fulcrum_cost_merit(&offers->costs[a], goal_of(offers)) -
                  fulcrum_cost_merit(&offers->costs[b], goal_of(offers));
    return gain > 0.0 || (!(gain < 0.0) && a < b);
}

static void judge(struct offers *offers)
{
    size_t count = offers->list.count;
    size_t draws = offers->list.study->draw_count;
    offers->costs = fulcrum_allocate(count * (draws + 1), sizeof *offers->costs);
    for (size_t i = 0; i < count; i++) {
        offers->costs[i] = cost_in(offers, i, 0, 0.0, FULCRUM_UNKNOWN);
        size_t at = i;
        for (; at > 0 && stands_before(offers, i, offers->order[at - 1]); at--) {
            offers->order[at] = offers->order[at - 1];
        }
        offers->order[at] = i;
    }
    for (size_t k = 1; k <= draws; k++) {
        /* Costs in draw k, with as many machines as the estimate says; one that
         * cannot run misses everything. The best is among those that meet the limits
         * there. */
        size_t ranked = offers->list.count;
        struct fulcrum_cost *drawn = offers->costs + k * ranked;
        for (size_t i = 0; i < ranked; i++) {
            drawn[i] = cost_in(offers, i, k, 0.0, offers->costs[i].machine_count);
            drawn[i].misses |= isnan(drawn[i].steps_per_s) ? ~0U : 0U;
            offers->items[i].meets_count += drawn[i].misses == 0U;
        }
        size_t best = fulcrum_cost_best(drawn, ranked, goal_of(offers));
        if (best < ranked) {
            offers->items[best].best_count++;
        }
    }
}

/* Of the draws; NAN without any. */
static double share_of_draws(const struct offers *offers, size_t count)
{
    size_t draws = offers->list.study->draw_count;
    return draws > 0 ? (double)count / (double)draws : FULCRUM_UNKNOWN;
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
    bool is_per_joule = goal_of(offers) == FULCRUM_OBJECTIVE_EFFICIENT;
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
    fulcrum_table_number(table, "meets_frac", "meets limits",
        share_of_draws(offers, offers->items[at].meets_count));
    fulcrum_table_number(table, "best_frac", "is best",
        share_of_draws(offers, offers->items[at].best_count));
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

/* "2 x dgx-a100: 140000/s at 6.69 kW; best in 87 % of the draws" */
static void add_finding(struct fulcrum_result *result, const struct offers *offers)
{
    size_t at = offers->order[0];
    const struct fulcrum_cost *cost = &offers->costs[at];
    if (group_of(offers, at) != 0) {
        /* Not found is not refused: what is not known of a machine is asked for. */
        size_t lacking = count_of(offers, 2);
        fulcrum_result_text(result, "finding", "found",
            lacking == offers->list.count
                ? "no answer: every machine lacks a number that the question needs, "
                  "see verdict"
            : lacking > 0 ? "no machine with enough data meets all limits"
                          : "no machine meets all limits");
        return;
    }
    char rate[FULCRUM_QUANTITY_SIZE];
    char watts[FULCRUM_QUANTITY_SIZE];
    struct fulcrum_string text = {0};
    fulcrum_quantity_plain(cost->steps_per_s, "", rate);
    fulcrum_quantity_plain(cost->system_w, "W", watts);
    fulcrum_string_add(&text, "%s: %.6g x %s, %s steps/s at %s",
        fulcrum_objective_name(goal_of(offers)), cost->machine_count,
        name_of(offers, at), rate, watts);
    if (!isnan(cost->training_cost)) {
        fulcrum_string_add(&text, ", %.4g for a training", cost->training_cost);
    }
    double best_frac = share_of_draws(offers, offers->items[at].best_count);
    if (!isnan(best_frac)) {
        fulcrum_string_add(&text, "; best in %.0f %% of the draws", 100.0 * best_frac);
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
    return fulcrum_cost_merit(&cost, goal_of(offers));
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
            "rates carry a solver error of up to %.2g %% (95 %% confidence), which "
            "draws do not cover%s%s%s",
            100.0 * error_rel,
            has_open_limit ? "; within it, the number of machines or a verdict could "
                             "change"
                           : "",
            has_open_order ? "; within it, another machine could be the best" : "",
            has_open_limit || has_open_order
                ? "; --method simulate gives a sharper answer"
                : "");
    }
}

static enum fulcrum_status show(const struct offers *offers, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-recommend");
    const struct fulcrum_need *need = &offers->list.settings->need;
    bool has_money = !isnan(need->electricity_per_kwh);
    double draws = (double)offers->list.study->draw_count;
    fulcrum_result_text(result, "question", NULL, "machine");
    fulcrum_result_text(
        result, "workload", "workload", offers->list.settings->design.workload);
    fulcrum_result_text(result, "best", NULL, fulcrum_objective_name(need->goal));
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
        "all machines of a kind together, each running its own training:");
    for (size_t i = 0; i < offers->list.count; i++) {
        add_offer(table, offers, i);
    }
    /* Why some cannot run; of what is missing, which option gives it. */
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
        fulcrum_result_note(result, "notes",
            "presets have no prices: give them with --price MACHINE=MONEY");
    }
    if ((misses & (unsigned)FULCRUM_MISS_NO_RACK_UNITS) != 0U) {
        fulcrum_result_note(
            result, "notes", "give heights with --rack-units MACHINE=U");
    }
    return fulcrum_context_show(offers->list.context, result, err);
}

enum fulcrum_status fulcrum_recommend_machine(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct offers offers = {.list = {.settings = settings,
                                .context = context,
                                .outputs = {FULCRUM_OUTPUT_steps_per_s,
                                    FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_COUNT}}};
    enum fulcrum_status status = FULCRUM_OK;
    /* Everything that can be refused comes before the work. */
    TRY_OR_END(read_need(&offers, err));
    TRY_OR_END(list_machines(&offers, err));
    for (size_t i = 0; i < offers.list.count; i++) {
        /* All GPUs of a machine, unless the user says how many; set as --set
         * does. */
        struct fulcrum_candidate *candidate = &offers.list.items[i];
        struct fulcrum_design_inputs *inputs = &candidate->subject.inputs;
        struct fulcrum_design_settings design_settings = offers.list.settings->design;
        design_settings.machine = name_of(&offers, i);
        TRY_OR_END(fulcrum_subject_read(
            &design_settings, offers.list.context, &candidate->subject, err));
        const struct fulcrum_machine *machine = &inputs->base.machine;
        if (machine->accelerator == FULCRUM_ACCELERATOR_GPU &&
            machine->gpu.count >= 1.0 && !fulcrum_inputs_set(inputs, "run.gpu_count") &&
            !fulcrum_inputs_set(inputs, "machine.gpu.count")) {
            fulcrum_inputs_add(inputs, "run.gpu_count", machine->gpu.count);
        }
    }
    TRY_OR_END(
        read_numbers(&offers, "--price", &settings->prices, "machine.price", err));
    TRY_OR_END(read_numbers(&offers, "--rack-units", &settings->rack_units,
        "machine.rack_unit_count", err));
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
