/* test_recommend.c - costs and duels by hand; random questions against all points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions are put to the command itself, as the user would, and its answers compared
 * with those of the whole grid: every point of every draw is predicted, and the answer
 * found by looking at all of them. */
#include "model/whatif/recommend.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option.h"
#include "model/number.h"
#include "model/parallel.h"
#include "model/study/sweep.h"
#include "tests/support/place.h"
#include "tests/support/reply.h"
#include "tests/support/suite.h"

enum { LINE_SIZE = 1200, DRAWS = 6 };

static const struct fulcrum_need no_limits = {.goal = FULCRUM_OBJECTIVE_FASTEST,
    .least_steps_per_s = (double)NAN,
    .most_w = (double)NAN,
    .most_price = (double)NAN,
    .most_rack_units = (double)NAN,
    .most_machines = 1000.0,
    .electricity_per_kwh = (double)NAN,
    .years = 2.0,
    .total_env_steps = 1e9};

static struct fulcrum_cost bill(const struct fulcrum_candidate_machine *offer,
    double count, const struct fulcrum_need *need)
{
    struct fulcrum_cost cost;
    fulcrum_cost_of(offer, count, need, &cost);
    return cost;
}

static const struct fulcrum_candidate_machine offer = {1000.0, 2000.0, 30000.0, 4.0};

TEST(test_a_bill_adds_up)
{
    struct fulcrum_need need = no_limits;
    need.least_steps_per_s = 2500.0;
    need.electricity_per_kwh = 0.2;
    CU_ASSERT_EQUAL(fulcrum_candidate_machine_count(&offer, &need), 3.0);
    struct fulcrum_cost cost = bill(&offer, 3.0, &need);
    CU_ASSERT_EQUAL(cost.steps_per_s, 3000.0);
    CU_ASSERT_EQUAL(cost.system_w, 6000.0);
    CU_ASSERT_EQUAL(cost.steps_per_j, 0.5);
    CU_ASSERT_EQUAL(cost.price, 90000.0);
    CU_ASSERT_EQUAL(cost.rack_unit_count, 12.0);
    /* 6 kW for two years of 8766 hours at 0.2. */
    assert_close("electricity", cost.electricity, 6.0 * 2.0 * 8766.0 * 0.2, 1e-12);
    assert_close("cost", cost.cost, 90000.0 + cost.electricity, 1e-12);
    double steps = 3000.0 * 2.0 * 8766.0 * 3600.0;
    assert_close("a step", cost.cost_per_step, cost.cost / steps, 1e-12);
    assert_close("training", cost.training_cost, 1e9 * cost.cost / steps, 1e-12);
    CU_ASSERT_EQUAL(cost.misses, 0U);
    need.most_machines = 2.0;
    CU_ASSERT_EQUAL(fulcrum_candidate_machine_count(&offer, &need), 2.0);
    CU_ASSERT_EQUAL(bill(&offer, 2.0, &need).misses, (unsigned)FULCRUM_MISS_RATE);
}

/* The most machines within every limit, held against trying each number of them. */
TEST(test_limits_are_filled_up)
{
    static const double limits[][4] = {
        /* watts, money, rack units, machines */
        {30000.0, 1e6, 20.0, 1000.0},
        {9999.0, (double)NAN, (double)NAN, 1000.0},
        {(double)NAN, 90000.0, 400.0, 1000.0},
        {1e9, (double)NAN, (double)NAN, 7.0},
    };
    for (size_t i = 0; i < LENGTH(limits); i++) {
        struct fulcrum_need need = no_limits;
        need.fills = 1;
        need.most_w = limits[i][0];
        need.most_price = limits[i][1];
        need.most_rack_units = limits[i][2];
        need.most_machines = limits[i][3];
        double most = 0.0;
        for (int count = 1; count <= (int)limits[i][3]; count++) {
            most = bill(&offer, count, &need).misses == 0U ? count : most;
        }
        CU_ASSERT(most > 1.0);
        CU_ASSERT_EQUAL(fulcrum_candidate_machine_count(&offer, &need), most);
    }
}

/* One that does not fit is one too many, as its cost says; what is not known fits. */
TEST(test_what_does_not_fit_is_one_and_misses)
{
    const struct fulcrum_candidate_machine unpriced = {
        1000.0, 2000.0, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    struct fulcrum_need need = no_limits;
    need.fills = 1;
    need.most_w = 1999.0;
    CU_ASSERT_EQUAL(fulcrum_candidate_machine_count(&unpriced, &need), 1.0);
    CU_ASSERT_EQUAL(bill(&unpriced, 1.0, &need).misses, (unsigned)FULCRUM_MISS_WATTS);
    need.most_w = 4000.0;
    need.most_price = 1.0;
    CU_ASSERT_EQUAL(fulcrum_candidate_machine_count(&unpriced, &need), 2.0);
    CU_ASSERT_EQUAL(
        bill(&unpriced, 2.0, &need).misses, (unsigned)FULCRUM_MISS_NO_PRICE);
}

/* What is not known is never free, and never asked for without need. */
TEST(test_what_is_not_known_is_left_out_where_it_matters)
{
    const struct fulcrum_candidate_machine bare = {
        1000.0, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    struct fulcrum_need need = no_limits;
    const struct fulcrum_cost cost = bill(&bare, 1.0, &need);
    CU_ASSERT_EQUAL(cost.misses, 0U);
    CU_ASSERT(isnan(cost.cost) && isnan(cost.training_cost));
    need.goal = FULCRUM_OBJECTIVE_EFFICIENT;
    CU_ASSERT_EQUAL(bill(&bare, 1.0, &need).misses, (unsigned)FULCRUM_MISS_NO_WATTS);
    need.goal = FULCRUM_OBJECTIVE_CHEAPEST;
    need.electricity_per_kwh = 0.0;
    CU_ASSERT_EQUAL(bill(&bare, 1.0, &need).misses, (unsigned)FULCRUM_MISS_NO_PRICE);
    need.electricity_per_kwh = 0.1;
    CU_ASSERT_EQUAL(bill(&bare, 1.0, &need).misses,
        (unsigned)FULCRUM_MISS_NO_PRICE | (unsigned)FULCRUM_MISS_NO_WATTS);
    need = no_limits;
    need.most_rack_units = 10.0;
    need.most_price = 10.0;
    CU_ASSERT_EQUAL(bill(&bare, 1.0, &need).misses,
        (unsigned)FULCRUM_MISS_NO_PRICE | (unsigned)FULCRUM_MISS_NO_RACK_UNITS);
    /* A price of 0 is one. */
    const struct fulcrum_candidate_machine gift = {1000.0, FULCRUM_UNKNOWN, 0.0, 1.0};
    CU_ASSERT_EQUAL(bill(&gift, 1.0, &need).misses, 0U);
}

TEST(test_limits_are_those_of_all_machines)
{
    struct fulcrum_need need = no_limits;
    need.most_w = 4000.0;
    need.most_price = 60000.0;
    need.most_rack_units = 8.0;
    CU_ASSERT_EQUAL(bill(&offer, 2.0, &need).misses, 0U);
    CU_ASSERT_EQUAL(bill(&offer, 3.0, &need).misses,
        (unsigned)FULCRUM_MISS_WATTS | (unsigned)FULCRUM_MISS_PRICE |
            (unsigned)FULCRUM_MISS_RACK_UNITS);
}

TEST(test_the_first_of_equals_is_best)
{
    struct fulcrum_cost costs[3] = {{.steps_per_s = 1.0, .cost_per_step = 3.0},
        {.steps_per_s = 2.0, .cost_per_step = 3.0},
        {.steps_per_s = 2.0, .cost_per_step = 4.0}};
    CU_ASSERT_EQUAL(fulcrum_cost_best(costs, 3, FULCRUM_OBJECTIVE_FASTEST), 1);
    CU_ASSERT_EQUAL(fulcrum_cost_best(costs, 3, FULCRUM_OBJECTIVE_CHEAPEST), 0);
    costs[1].misses = (unsigned)FULCRUM_MISS_WATTS;
    CU_ASSERT_EQUAL(fulcrum_cost_best(costs, 3, FULCRUM_OBJECTIVE_FASTEST), 2);
    costs[0].misses = 1U;
    costs[2].steps_per_s = FULCRUM_UNKNOWN;
    CU_ASSERT_EQUAL(fulcrum_cost_best(costs, 3, FULCRUM_OBJECTIVE_FASTEST), 3);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_objective_name(FULCRUM_OBJECTIVE_EFFICIENT), "efficient");
    CU_ASSERT_PTR_NULL(fulcrum_objective_name(FULCRUM_OBJECTIVE_COUNT));
}

/* What `fulcrum recommend` finds; to be freed. NULL: it was refused. */
static struct fulcrum_result *answer_to(const char *words)
{
    char line[LINE_SIZE];
    (void)snprintf(line, sizeof line, "recommend %.1100s", words);
    return reply_to(line);
}

static double number_at(
    const struct fulcrum_result *answer, size_t row, const char *key)
{
    return fulcrum_table_at(reply_rows(answer), row, key).number;
}

/* A whole number below `below`, the k-th of a question's stream. */
static size_t pick(uint64_t question, uint64_t k, size_t below)
{
    return (size_t)(fulcrum_stream_seed(question, k, 0) % (uint64_t)below);
}

static const char *const machines[] = {
    "dgx-1", "dgx-2", "dgx-a100", "dgx-h100", "dgx-b200", "workstation-rtx4090"};
enum { MACHINES = LENGTH(machines) };

/* Workloads with the calibrations that give them times. */
static const struct {
    const char *workload;
    const char *calibration; /* NULL: its own */
    const char *option;      /* the same as words of a command */
} works[] = {
    {"r2d2-atari", NULL, ""},
    {"r2d2-atari", "v100-inci2020", " -c v100-inci2020"},
    {"impala-dmlab", NULL, ""},
    {"sample-factory-lumped", "sf-10-core-atari-prior", " -c sf-10-core-atari-prior"},
    {"sample-factory-lumped", "seed-rl-10-core-dmlab", " -c seed-rl-10-core-dmlab"},
};
enum { WORKS = LENGTH(works) };

static void open_place(struct place *place, const char *machine, size_t work,
    const char *first, const char *second)
{
    const char *sets[] = {first, second, NULL};
    place_open(place, machine, works[work].workload, works[work].calibration, sets);
}

/* The first value that reaches the share of the best; count: there is none. */
static size_t first_of(const double *curve, size_t count, double share)
{
    double best = 0.0;
    for (size_t i = 0; i < count; i++) {
        best = curve[i] > best ? curve[i] : best;
    }
    for (size_t i = 0; i < count && best > 0.0; i++) {
        if (curve[i] >= share * best) {
            return i;
        }
    }
    return count;
}

enum { GRID_MOST = 600, LONG_RANGE = 200 };

/* Curves of the estimate and of each draw, from predictions of the whole grid. */
struct curves {
    double value[DRAWS + 1][GRID_MOST];
    double error_rel[GRID_MOST]; /* of the solver, in the estimate */
    size_t count;
};

static void fill_curves(const struct place *place,
    const struct fulcrum_sweep_plan *plan, size_t metric, struct curves *out)
{
    struct fulcrum_sweep_probe *probe = NULL;
    ASSERT_OK(fulcrum_sweep_probe_new(place->scenario, plan, &probe, NULL));
    out->count = plan->axes[0].count;
    CU_ASSERT_FATAL(out->count <= GRID_MOST);
    for (size_t i = 0; i < out->count; i++) {
        struct fulcrum_sweep_point point;
        size_t draws = 0;
        int ran = fulcrum_sweep_probe_point(probe, i, &point, NULL) == FULCRUM_OK;
        const double *rows =
            fulcrum_predictor_draws(fulcrum_sweep_probe_predictor(probe), &draws);
        out->value[0][i] = ran ? point.prediction.at_fit[metric] : FULCRUM_UNKNOWN;
        out->error_rel[i] = ran ? point.prediction.solver_error_rel : FULCRUM_UNKNOWN;
        for (size_t k = 0; k < DRAWS; k++) {
            out->value[k + 1][i] = ran && k < draws
                                       ? rows[k * FULCRUM_OUTPUT_COUNT + metric]
                                       : FULCRUM_UNKNOWN;
        }
    }
    fulcrum_sweep_probe_free(probe);
}

/* How a question of the fewest is put, in words and as a plan. */
struct fewest_question {
    const char *machine;
    size_t work;
    int asks_actors;
    double share_percent;
    const char *range;
    char gpus[40];    /* "run.gpu_count=2" */
    const char *rule; /* of the actors, as an option; "" where they vary */
    size_t metric;
};

static void make_fewest(uint64_t seed, struct fewest_question *out)
{
    static const size_t metrics[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_steps_per_j_gpu,
        FULCRUM_OUTPUT_steps_per_j_system};
    static const char *const rules[] = {"--actors-per-thread 6.4",
        "--actors-per-thread 1", "--actors 256", "--best-actors 16:1024:x4"};
    static const char *const ranges[] = {
        "2:512:2", "4:1024:4", "2:300:1", "2:1024:x1.1", "20:80:2", "40:2560:x2"};
    static const double shares[] = {50.0, 80.0, 90.0, 95.0, 99.0, 100.0};
    out->machine = machines[pick(seed, 1, MACHINES)];
    out->work = pick(seed, 2, WORKS);
    out->asks_actors = pick(seed, 3, 3) == 0;
    out->share_percent = shares[pick(seed, 4, 6)];
    out->metric = metrics[pick(seed, 5, 4)];
    out->range = ranges[pick(seed, 6, 6)];
    bool is_single = strcmp(out->machine, "workstation-rtx4090") == 0;
    size_t gpus = is_single ? 1 : (size_t)1 << pick(seed, 7, 4);
    (void)snprintf(out->gpus, sizeof out->gpus, "run.gpu_count=%zu", gpus);
    out->rule = out->asks_actors ? "" : rules[pick(seed, 8, 4)];
}

static void write_fewest(const struct fewest_question *question, char *out, size_t size)
{
    (void)snprintf(out, size,
        "%s -m %s -w %s%s -s %s --share %.17g --range %s --metric %s %s "
        "--method fast --intervals %d",
        question->asks_actors ? "actors" : "threads", question->machine,
        works[question->work].workload, works[question->work].option, question->gpus,
        question->share_percent, question->range, fulcrum_output_name(question->metric),
        question->rule, (int)DRAWS);
}

/* The whole grid of a question; returns its axis' values, to be freed. */
static double *grid_of(const struct fewest_question *question, struct curves *out)
{
    struct place place;
    double *values = NULL;
    double *choices = NULL;
    size_t count = 0;
    const struct fulcrum_field *field = fulcrum_field_find(
        question->asks_actors ? "run.actor_count" : "machine.cpu.thread_count");
    ASSERT_OK(fulcrum_range_parse(field, question->range, &values, &count, NULL));
    const struct fulcrum_sweep_axis axis = {field, values, count};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {
            .solver = {.seed = 1, .method = FULCRUM_METHOD_FAST, .max_steps = 2e7},
            .draws = DRAWS}};
    const char *number = strrchr(question->rule, ' ');
    bool is_fixed = strncmp(question->rule, "--actors ", 9) == 0;
    if (strncmp(question->rule, "--best", 6) == 0) {
        ASSERT_OK(fulcrum_range_parse(fulcrum_field_find("run.actor_count"), number + 1,
            &choices, &plan.actor_choice_count, NULL));
        plan.actor_choices = choices;
    } else if (!is_fixed && number != NULL) {
        plan.actors_per_thread = strtod(number + 1, NULL);
    }
    open_place(&place, question->machine, question->work, question->gpus,
        is_fixed ? "run.actor_count=256" : NULL);
    fill_curves(&place, &plan, question->metric, out);
    place_close(&place);
    free(choices);
    return values;
}

/* Predictions of searches over long ranges, and of their whole grids; ends of
 * intervals, and those that are not what the whole grids give. */
struct effort {
    double predicted;
    double grid;
    size_t ends;
    size_t other_ends;
    size_t open;       /* answers that the solver's error leaves open */
    size_t other_open; /* ends of these that are not what the whole grids give */
};

/* The interval of the answers of draws, by looking at all of their values. */
static void compare_interval(const struct curves *curves, const double *values,
    double share, const struct fulcrum_result *answer, struct effort *effort)
{
    double answers[DRAWS];
    double there[DRAWS];
    size_t at = 0;
    size_t ran = 0;
    size_t known = 0;
    for (size_t k = 1; k <= DRAWS; k++) {
        size_t place = first_of(curves->value[k], curves->count, share);
        if (place < curves->count) {
            answers[known++] = values[place];
        }
    }
    struct fulcrum_interval interval = fulcrum_interval_among(answers, known);
    CU_ASSERT_EQUAL(number_at(answer, 0, "value"), interval.median);
    while (values[at] < interval.median) {
        at++;
    }
    for (size_t k = 1; k <= DRAWS; k++) {
        there[ran] = curves->value[k][at];
        ran += isnan(curves->value[k][at]) ? 0 : 1;
    }
    CU_ASSERT_EQUAL(
        number_at(answer, 1, "value"), fulcrum_interval_of(there, ran).median);
    CU_ASSERT_EQUAL(number_at(answer, 10, "value"), curves->error_rel[at]);
    effort->ends += known < 2 ? 0 : 2;
    effort->other_ends += known > 1 && number_at(answer, 0, "lo") != interval.lo;
    effort->other_ends += known > 1 && number_at(answer, 0, "hi") != interval.hi;
}

/* The first value that reaches the share if all are off by their errors, up or down;
 * the best is `best`, all of itself. */
static size_t first_within(
    const struct curves *curves, size_t best, double share, double sign)
{
    double threshold = share * curves->value[0][best];
    double best_error = curves->error_rel[best];
    for (size_t i = 0; i < curves->count; i++) {
        double own = curves->error_rel[i];
        double off = i == best ? 0.0 : sqrt(own * own + best_error * best_error);
        if (curves->value[0][i] * (1.0 + sign * off) >= threshold * (1.0 - 1e-12)) {
            return i;
        }
    }
    return curves->count;
}

static void compare_solver(const struct curves *curves, const double *values,
    double share, const struct fulcrum_result *answer, struct effort *effort)
{
    size_t best = 0;
    while (best < curves->count - 1 && values[best] < number_at(answer, 4, "value")) {
        best++;
    }
    size_t at = first_of(curves->value[0], curves->count, share);
    CU_ASSERT_EQUAL(number_at(answer, 12, "value"), values[at]);
    CU_ASSERT_EQUAL(number_at(answer, 11, "value"), curves->error_rel[best]);
    double lo = number_at(answer, 12, "lo");
    double hi = number_at(answer, 12, "hi");
    CU_ASSERT(lo <= values[at] && values[at] <= hi);
    effort->open += lo < hi;
    effort->other_open += lo != values[first_within(curves, best, share, 1.0)];
    effort->other_open += hi != values[first_within(curves, best, share, -1.0)];
}

static void compare_answer(const struct curves *curves, const double *values,
    double share, const struct fulcrum_result *answer, struct effort *effort)
{
    double grid = (double)(curves->count * (DRAWS + 1));
    double predicted = number_at(answer, 7, "value");
    compare_interval(curves, values, share, answer, effort);
    compare_solver(curves, values, share, answer, effort);
    CU_ASSERT(predicted <= grid + 3.0 + (double)DRAWS);
    effort->predicted += curves->count > LONG_RANGE ? predicted : 0.0;
    effort->grid += curves->count > LONG_RANGE ? grid : 0.0;
}

/* The answers must be the same. */
static void check_fewest(uint64_t seed, struct effort *effort)
{
    static struct curves curves;
    struct fewest_question question;
    char words[LINE_SIZE];
    make_fewest(seed, &question);
    write_fewest(&question, words, sizeof words);
    double *values = grid_of(&question, &curves);
    double share = question.share_percent / 100.0;
    bool has_answer = first_of(curves.value[0], curves.count, share) < curves.count;
    struct fulcrum_result *answer = has_answer ? answer_to(words) : NULL;
    CU_ASSERT((answer != NULL) == has_answer);
    if (answer != NULL) {
        compare_answer(&curves, values, share, answer, effort);
    }
    fulcrum_result_free(answer);
    free(values);
}

/* So many questions, or FULCRUM_FEWEST_QUESTIONS: 130 take a minute with sanitizers. */
enum { FEWEST_QUESTIONS = 40 };

TEST(test_fewest_agree_with_the_whole_grid)
{
    struct effort effort = {0.0, 0.0, 0, 0, 0, 0};
    const char *wanted = getenv("FULCRUM_FEWEST_QUESTIONS");
    uint64_t count = wanted != NULL ? strtoul(wanted, NULL, 10) : FEWEST_QUESTIONS;
    for (uint64_t seed = 0; seed < count; seed++) {
        check_fewest(seed, &effort);
    }
    /* Teeth, where nearly everything is predicted, among them. */
    CU_ASSERT(effort.predicted < 0.5 * effort.grid);
    /* Answers are those of the whole grid. In a draw, actors that suit the estimate
     * best may give a curve a single high place that no search can know of. */
    CU_ASSERT(effort.ends > 200 * count / 130);
    CU_ASSERT(effort.other_ends <= effort.ends / 50);
    CU_ASSERT(effort.open > 40 * count / 130);
    CU_ASSERT(effort.other_open <= (effort.open < 50 ? 1 : effort.open / 50));
}

/* A machine of the test's own: the fastest of the actors that the command offers. */
struct seller {
    const char *name;
    double price; /* NAN: none */
    double steps_per_s;
    double system_w;
    double rack_unit_count;
    double total_env_steps;
};

static void predict_seller(struct seller *seller, size_t work)
{
    static const double per_thread[] = {0.5, 1.0, 2.0, 4.0, 8.0, 16.0};
    struct fulcrum_design bare;
    char gpus[40];
    struct place place;
    fulcrum_design_init(&bare);
    ASSERT_OK(fulcrum_machine_load(seller->name, &bare, NULL, NULL));
    double gpu_count = bare.machine.gpu.count;
    (void)snprintf(gpus, sizeof gpus, "run.gpu_count=%.0f", gpu_count);
    open_place(&place, seller->name, work, gpus, NULL);
    seller->steps_per_s = 0.0;
    for (size_t i = 0; i < 6; i++) {
        double actors = per_thread[i] * bare.machine.cpu.thread_count;
        const struct fulcrum_setting setting = {fulcrum_field_find("run.actor_count"),
            gpu_count * fmax(1.0, round(actors / gpu_count)), NULL};
        const struct fulcrum_point point = {&setting, 1, 0, 0};
        const struct fulcrum_predict_options options = {
            .solver = {.seed = 1, .method = FULCRUM_METHOD_FAST}};
        struct fulcrum_prediction prediction;
        if (fulcrum_predict(place.scenario, &point, &options, &prediction, NULL) ==
                FULCRUM_OK &&
            prediction.value[FULCRUM_OUTPUT_steps_per_s] > seller->steps_per_s) {
            seller->steps_per_s = prediction.value[FULCRUM_OUTPUT_steps_per_s];
            seller->system_w = prediction.value[FULCRUM_OUTPUT_system_w];
        }
    }
    seller->rack_unit_count = bare.machine.rack_unit_count;
    seller->total_env_steps = place.inputs.base.workload.total_env_steps;
    place_close(&place);
}

/* Limits of a question; NAN: none. */
struct limits {
    size_t goal;
    double rate;
    double watts;
    double money;
    double units;
    double electricity;
};

/* What the goal looks at, less is better; INFINITY where the machine does not do. */
static double badness(
    const struct seller *seller, const struct limits *limits, double *count)
{
    double n = isnan(limits->rate) ? 1.0 : ceil(limits->rate / seller->steps_per_s);
    *count = n < 1.0 ? 1.0 : n;
    double hours = 3.0 * 8766.0;
    double cost =
        seller->price + limits->electricity * seller->system_w / 1000.0 * hours;
    int does = !(n * seller->system_w > limits->watts) &&
               (isnan(limits->money) || n * seller->price <= limits->money) &&
               (isnan(limits->units) || n * seller->rack_unit_count <= limits->units);
    double merit = limits->goal == 0   ? -*count * seller->steps_per_s
                   : limits->goal == 1 ? cost / seller->steps_per_s
                                       : -seller->steps_per_s / seller->system_w;
    return does && !isnan(merit) ? merit : (double)INFINITY;
}

static void write_machine(const struct seller *sellers, size_t count, size_t work,
    const struct limits *limits, char out[LINE_SIZE])
{
    const size_t size = LINE_SIZE;
    size_t used = (size_t)snprintf(out, size,
        "machine -w %s%s --best %s --method fast --intervals none",
        works[work].workload, works[work].option,
        fulcrum_objective_name((int)limits->goal));
    const char *const options[] = {"--min-steps-per-s", "--max-watts", "--max-price",
        "--max-rack-units", "--electricity"};
    const double values[] = {
        limits->rate, limits->watts, limits->money, limits->units, limits->electricity};
    for (size_t i = 0; i < 5; i++) {
        if (!isnan(values[i])) {
            used += (size_t)snprintf(
                out + used, size - used, " %s %.17g", options[i], values[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(
            out + used, size - used, "%s%s", i == 0 ? " -m " : ",", sellers[i].name);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(sellers[i].price)) {
            used += (size_t)snprintf(out + used, size - used, " --price %s=%.17g",
                sellers[i].name, sellers[i].price);
        }
    }
}

static double some_or_none(uint64_t seed, uint64_t k, double least, double step)
{
    return pick(seed, k, 2) == 0 ? FULCRUM_UNKNOWN
                                 : least + step * (double)pick(seed, k + 1, 50);
}

static void check_machine(uint64_t seed)
{
    struct seller sellers[MACHINES];
    char words[LINE_SIZE];
    size_t work = pick(seed, 1, WORKS);
    size_t count = 0;
    struct limits limits = {.goal = pick(seed, 2, 3),
        .rate = some_or_none(seed, 10, 1000.0, 4000.0),
        .watts = some_or_none(seed, 20, 500.0, 700.0),
        .money = some_or_none(seed, 30, 20000.0, 30000.0),
        .units = some_or_none(seed, 40, 3.0, 1.0),
        .electricity = 0.01 * (double)pick(seed, 50, 40)};
    for (size_t i = 0; i < MACHINES; i++) {
        if (pick(seed, 60 + i, 3) > 0 || (i + 1 == MACHINES && count == 0)) {
            struct seller *seller = &sellers[count++];
            seller->name = machines[i];
            seller->price = some_or_none(seed, 70 + 2 * i, 1000.0, 9000.0);
            predict_seller(seller, work);
        }
    }
    size_t best = count;
    double least = INFINITY;
    double best_count = 0.0;
    for (size_t i = 0; i < count; i++) {
        double machine_count = 0.0;
        double bad = badness(&sellers[i], &limits, &machine_count);
        if (bad < least) {
            best = i;
            least = bad;
            best_count = machine_count;
        }
    }
    write_machine(sellers, count, work, &limits, words);
    struct fulcrum_result *answer = answer_to(words);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
    const char *verdict = fulcrum_table_at(reply_rows(answer), 0, "verdict").text;
    CU_ASSERT_EQUAL(strcmp(verdict, "best") == 0, best < count);
    if (best < count) {
        CU_ASSERT_STRING_EQUAL(fulcrum_table_at(reply_rows(answer), 0, "machine").text,
            sellers[best].name);
        CU_ASSERT_EQUAL(number_at(answer, 0, "machine_count"), best_count);
        CU_ASSERT_EQUAL(number_at(answer, 0, "steps_per_s"),
            best_count * sellers[best].steps_per_s);
        if (limits.goal == 1) {
            double life_s = 3.0 * 8766.0 * 3600.0;
            assert_close("training", number_at(answer, 0, "training_cost"),
                least * sellers[best].total_env_steps / life_s, 1e-12);
        }
    }
    fulcrum_result_free(answer);
}

TEST(test_50_questions_of_machines_agree_with_all_machines)
{
    for (uint64_t seed = 1000; seed < 1050; seed++) {
        check_machine(seed);
    }
}

/* Two settings of a machine have the same priors: draws pair without more ado. */
static void check_compare(uint64_t seed)
{
    static double rates[2][64];
    const char *machine = machines[pick(seed, 1, MACHINES)];
    size_t work = pick(seed, 2, WORKS);
    size_t draws = 8 + pick(seed, 3, 50);
    char sets[2][60];
    char words[LINE_SIZE];
    for (size_t side = 0; side < 2; side++) {
        struct place place;
        struct fulcrum_prediction prediction;
        struct fulcrum_predictor *predictor = NULL;
        const struct fulcrum_point point = {NULL, 0, 0, 0};
        const struct fulcrum_predict_options options = {
            .solver = {.seed = 1, .method = FULCRUM_METHOD_FAST},
            .draws = (double)draws};
        (void)snprintf(sets[side], sizeof sets[side], "run.actor_count=%zu",
            16 + pick(seed, 4 + side, 300));
        open_place(&place, machine, work, sets[side], NULL);
        ASSERT_OK(fulcrum_predictor_new(place.scenario, &predictor, NULL));
        ASSERT_OK(
            fulcrum_predictor_run(predictor, &point, &options, &prediction, NULL));
        size_t count = 0;
        const double *rows = fulcrum_predictor_draws(predictor, &count);
        for (size_t k = 0; k < count; k++) {
            rates[side][k] =
                rows[k * FULCRUM_OUTPUT_COUNT + FULCRUM_OUTPUT_steps_per_s];
        }
        fulcrum_predictor_free(predictor);
        place_close(&place);
    }
    double won = 0.0;
    for (size_t k = 0; k < draws; k++) {
        won += rates[0][k] > rates[1][k] ? 1.0 : 0.0;
        won += rates[0][k] >= rates[1][k] && rates[0][k] <= rates[1][k] ? 0.5 : 0.0;
    }
    (void)snprintf(words, sizeof words,
        "compare %s -w %s%s --a-set %s --b-set %s --metric steps_per_s --method fast "
        "--intervals %zu",
        machine, works[work].workload, works[work].option, sets[0], sets[1], draws);
    struct fulcrum_result *answer = answer_to(words);
    CU_ASSERT_EQUAL(number_at(answer, 0, "draw_count"), (double)draws);
    assert_close("probability", number_at(answer, 0, "a_beats_b_frac"),
        won / (double)draws, 1e-12);
    fulcrum_result_free(answer);
}

TEST(test_20_comparisons_agree_with_all_draws)
{
    for (uint64_t seed = 2000; seed < 2020; seed++) {
        check_compare(seed);
    }
}

#define MACHINE_QUESTION                                                               \
    "-m dgx-1 -w r2d2-atari -s run.gpu_count=1 --actors 256 --intervals 0 --method "   \
    "fast"

/* A limit just below, just above and far from what one machine does. */
TEST(test_limits_within_the_solvers_error_are_told)
{
    static const struct {
        double over; /* the limit over the rate, in errors */
        bool is_open;
    } cases[] = {{0.5, 1}, {-0.5, 1}, {-3.0, 0}, {3.0, 0}};
    char words[LINE_SIZE];
    struct fulcrum_result *answer = answer_to("machine " MACHINE_QUESTION);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
    double rate = number_at(answer, 0, "steps_per_s");
    double error_rel = number_at(answer, 0, "solver_error_rel");
    fulcrum_result_free(answer);
    CU_ASSERT(error_rel > 0.0 && error_rel < 0.2);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double limit = rate * (1.0 + cases[i].over * error_rel);
        (void)snprintf(words, sizeof words,
            "machine " MACHINE_QUESTION " --min-steps-per-s %.17g", limit);
        answer = answer_to(words);
        const char *note =
            fulcrum_table_cell(fulcrum_result_table_of(answer, "notes"), 0, 0).text;
        CU_ASSERT_PTR_NOT_NULL_FATAL(note);
        bool is_told = note != NULL && strstr(note, "the number of machines") != NULL;
        CU_ASSERT_EQUAL(is_told, cases[i].is_open);
        fulcrum_result_free(answer);
    }
}

TEST(test_common_draws_are_the_same_world)
{
    struct fulcrum_result *answer =
        answer_to("compare dgx-h100 dgx-h200 -w r2d2-atari -a 256 --method fast "
                  "--metric steps_per_s --intervals 40");
    /* The same processor and SMs: what differs is a hair of memory bandwidth. */
    double width = number_at(answer, 0, "ratio_hi") / number_at(answer, 0, "ratio_lo");
    double alone = number_at(answer, 0, "a_hi") / number_at(answer, 0, "a_lo");
    CU_ASSERT(width < 1.05);
    CU_ASSERT(alone > 1.5);
    fulcrum_result_free(answer);
}

/* Without a price nothing is known to be cheapest; that is no miss of a limit. */
TEST(test_what_nobody_knows_is_not_refused)
{
    static const struct {
        const char *words;
        const char *sentence;
    } answers[] = {
        {"machine -m dgx-1,dgx-2 -w r2d2-atari --best cheapest --electricity 0.2",
            "no answer: every machine lacks"},
        {"machine -m dgx-1,dgx-2 -w r2d2-atari --best cheapest --electricity 0.2 "
         "--price dgx-1=1000 --max-price 10",
            "no machine with enough data"},
        {"machine -m dgx-1,dgx-2 -w r2d2-atari --max-watts 10",
            "no machine meets all limits"},
    };
    for (size_t i = 0; i < LENGTH(answers); i++) {
        struct fulcrum_result *answer = answer_to(answers[i].words);
        const char *finding = fulcrum_result_text_of(answer, "finding");
        CU_ASSERT_PTR_NOT_NULL(strstr(finding, answers[i].sentence));
        CU_ASSERT(i < 2 || strcmp(finding, answers[i].sentence) == 0);
        fulcrum_result_free(answer);
    }
}
