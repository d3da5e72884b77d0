/* cmd_recommend.c - `fulcrum recommend`: the inverse questions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "cli/whatif/candidates.h"
#include "model/string.h"
#include "model/try.h"

static const struct question {
    const char *name;
    fulcrum_recommend_question *answer;
    bool takes_names;
} questions[] = {
    {"threads", fulcrum_recommend_fewest, 0},
    {"actors", fulcrum_recommend_fewest, 0},
    {"fewest", fulcrum_recommend_fewest, 0},
    {"machine", fulcrum_recommend_machine, 0},
    {"compare", fulcrum_recommend_compare, 1},
    {"upgrade", fulcrum_recommend_upgrade, 0},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static const char *question_name(int index)
{
    return index >= 0 && index < (int)QUESTIONS ? questions[index].name : NULL;
}

#define MEMBER(name) offsetof(struct fulcrum_recommend_settings, name)

static const struct fulcrum_argument arguments[] = {
    {"QUESTION", FULCRUM_ARGUMENT_ONE, MEMBER(question), question_name,
        "threads, actors, fewest, machine, compare or upgrade"},
    {"MACHINE", FULCRUM_ARGUMENT_REST, MEMBER(names), NULL,
        "for 'compare': two machines, or one (also as -m) with --a-set and --b-set"},
    {.name = NULL},
};

static const struct fulcrum_option fewest_rows[] = {
    FULCRUM_OPTION(NUMBER, "share", MEMBER(share_percent), "PERCENT", .fallback = "95",
        .least = 1.0, .most = 100.0, .help = "share of the best value to reach"),
    FULCRUM_OPTION(TEXT, "range", MEMBER(range), "RANGE",
        .help = "threads or actors to try, FROM:TO:STEP, FROM:TO:xFACTOR or A,B,C; by "
                "default whole cores up to 1024 threads or twice the machine's, or up "
                "to 16 actors per thread"),
    FULCRUM_OPTION(TEXT, "vary", MEMBER(vary), "PATH=RANGE", .letter = 'v',
        .help = "the field of 'fewest' and its values"),
    {.name = NULL},
};

static const struct fulcrum_option metric_rows[] = {
    FULCRUM_OPTION(TEXT, "metric", MEMBER(metric), "OUTPUT",
        .help = "output to compare by; default steps_per_s, for 'compare' also both "
                "performances per watt"),
    {.name = NULL},
};

static const struct fulcrum_option machine_rows[] = {
    FULCRUM_OPTION(CHOICE, "best", MEMBER(need.goal), "GOAL", .fallback = "fastest",
        .choice = fulcrum_objective_name,
        .help = "most steps per second, least money per step, or most steps per joule "
                "at the plug"),
    FULCRUM_OPTION(NUMBER, "min-steps-per-s", MEMBER(need.least_steps_per_s), "RATE",
        .unit = "1/s", .least = 1e-9, .most = 1e18,
        .help = "rate that one or more machines of a kind must reach together"),
    FULCRUM_OPTION(COUNT, "max-machines", MEMBER(need.most_machines), "N",
        .fallback = "1000", .least = 1.0, .most = 1e6,
        .help = "most machines of a kind"),
    FULCRUM_OPTION(NUMBER, "max-watts", MEMBER(need.most_w), "W", .unit = "W",
        .least = 1e-3, .most = 1e12,
        .help = "total power at the plug, all machines busy"),
    FULCRUM_OPTION(NUMBER, "max-price", MEMBER(need.most_price), "MONEY", .least = 0.0,
        .most = 1e15, .help = "to buy all machines"),
    FULCRUM_OPTION(NUMBER, "max-rack-units", MEMBER(need.most_rack_units), "U",
        .least = 0.1, .most = 1e9, .help = "height of all machines"),
    FULCRUM_OPTION(FLAG, "fill", MEMBER(need.fills), NULL,
        .help =
            "as many machines of a kind as the limits allow, not as few as suffice"),
    FULCRUM_OPTION(LIST, "price", MEMBER(prices), "MACHINE=MONEY",
        .help = "price of one machine; presets have none. Machines without one are "
                "left out where money counts"),
    FULCRUM_OPTION(LIST, "rack-units", MEMBER(rack_units), "MACHINE=U",
        .help = "height of one machine, in place of the preset's"),
    FULCRUM_OPTION(NUMBER, "electricity", MEMBER(need.electricity_per_kwh), "MONEY",
        .least = 0.0, .most = 1e6,
        .help = "price per kWh, cooling included if you like; required by --best "
                "cheapest; 0 to ignore"),
    FULCRUM_OPTION(NUMBER, "years", MEMBER(need.years), "N", .fallback = "3",
        .least = 1e-3, .most = 100.0,
        .help = "years of round-the-clock use, after which a machine is worth nothing"),
    {.name = NULL},
};

static const struct fulcrum_option name_rows[] = {
    FULCRUM_OPTION(LIST, "machine", MEMBER(machines), "NAME", .letter = 'm',
        .help = "preset or JSON file; 'this' is the machine at hand; 'machine' takes "
                "several, with commas too, and 'all', the presets with GPUs"),
    {.name = NULL},
};

static const struct fulcrum_option compare_rows[] = {
    FULCRUM_OPTION(LIST, "a-set", MEMBER(a_sets), "PATH=VALUE",
        .help = "like --set, for the first design alone"),
    FULCRUM_OPTION(
        LIST, "b-set", MEMBER(b_sets), "PATH=VALUE", .help = "for the second"),
    {.name = NULL},
};

/* Options that mean something to some of the questions only. */
static const struct {
    const struct fulcrum_option *rows;
    const char *users; /* questions, the one that messages name first */
} own_rows[] = {
    {fewest_rows, "fewest threads actors"},
    {metric_rows, "fewest threads actors compare"},
    {machine_rows, "machine"},
    {compare_rows, "compare"},
};

static enum fulcrum_status answer(const struct fulcrum_recommend_settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        if (strcmp(questions[i].name, settings->question) != 0) {
            continue;
        }
        FULCRUM_USAGE_IF(settings->names.count > 0 && !questions[i].takes_names,
            context, err, FULCRUM_ERR_RANGE,
            "unexpected argument '%s': 'recommend %s' takes none",
            settings->names.items[0], settings->question);
        /* A limit that is not looked at is worse than none. */
        for (size_t j = 0; j < sizeof own_rows / sizeof own_rows[0]; j++) {
            const struct fulcrum_option *row = own_rows[j].rows;
            const char *users = own_rows[j].users;
            bool is_mine = strstr(users, settings->question) != NULL;
            while (row->name != NULL &&
                   (is_mine || !fulcrum_option_is_set(row, settings))) {
                row++;
            }
            FULCRUM_USAGE_IF(row->name != NULL, context, err, FULCRUM_ERR_RANGE,
                "--%s goes with 'recommend %.*s', not with 'recommend %s'", row->name,
                (int)strcspn(users, " "), users, settings->question);
        }
        return questions[i].answer(settings, context, err);
    }
    char hint[120];
    const struct fulcrum_names names = {
        &questions[0].name, QUESTIONS, sizeof questions[0]};
    fulcrum_names_hint(&names, settings->question, hint, sizeof hint);
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "unknown question '%s'%s", settings->question, hint);
}

static enum fulcrum_status run_recommend(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_recommend_settings settings =
        *(const struct fulcrum_recommend_settings *)data;
    if (settings.machines.count == 2 && settings.names.count == 0 &&
        strcmp(settings.question, "compare") == 0) {
        settings.names = settings.machines;
        return answer(&settings, context, err);
    }
    if (strcmp(settings.question, "machine") != 0) {
        /* All questions but 'machine' are about one machine, or about two by two
         * options. */
        const struct fulcrum_text_list *machines = &settings.machines;
        const char *last =
            machines->count > 0 ? machines->items[machines->count - 1] : "";
        if (!(machines->count <= 1) || fulcrum_machine_is_list(last)) {
            TRY(fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
                "--machine %s: 'recommend %s' takes one%s", last, settings.question,
                strcmp(settings.question, "compare") == 0
                    ? ", or two with a --machine each"
                    : ""));
        }
    }
    if (settings.machines.count > 0) {
        settings.design.machine = settings.machines.items[0];
    }
    return answer(&settings, context, err);
}

static const struct fulcrum_option_group groups[] = {
    {"Fewest", fewest_rows, 0},
    {"Fewest and compare", metric_rows, 0},
    {"Machine", machine_rows, 0},
    {"Compare", compare_rows, 0},
    {"Actors", fulcrum_actors_rule_rows, MEMBER(actors)},
    {"Machines", name_rows, 0},
    {"Design", FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE, MEMBER(design)},
    {"Solution", fulcrum_solver_option_rows, MEMBER(solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, MEMBER(solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum recommend threads -m dgx-a100 -w r2d2-atari --actors-per-thread 4 "
     "--share 95",
        "fewest hardware threads that feed one A100"},
    {"fulcrum recommend machine -m dgx-1,dgx-a100,dgx-h100 -w r2d2-atari --best "
     "cheapest --min-steps-per-s 100000 --max-rack-units 42 --price dgx-1=50000 "
     "--price dgx-a100=150000 --price dgx-h100=300000 --electricity 0.25",
        "which of three to buy, and how many, at your own prices"},
    {"fulcrum recommend machine -m dgx-a100,dgx-h100 -w r2d2-atari --max-watts 30000 "
     "--max-rack-units 20 --fill",
        "the most steps per second from a rack of 30 kW and 20 units"},
    {"fulcrum recommend compare dgx-1 dgx-a100 -w r2d2-atari --metric "
     "steps_per_j_system",
        "how likely one beats the other"},
    {"fulcrum recommend compare -m dgx-a100 -w r2d2-atari --a-set run.sm_count=54 "
     "--b-set run.sm_count=108",
        "two settings of one machine"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_recommend = {
    .name = "recommend",
    .summary = "fewest threads, the best machine under limits, A against B",
    .description =
        "Answers the common sizing questions directly, with intervals.\n\nthreads, "
        "actors and fewest: the smallest value whose metric reaches a share of the "
        "best over the range. Its interval covers the answers of the single draws. The "
        "search scans the range coarsely, then bisects; if the curve has dips, it also "
        "searches every gap that could hide a dip twice as deep as any seen. "
        "`prediction_count` and `grid_count` show what that saves. "
        "`within_solver_error` is the range of answers that the solver's own error "
        "allows; the interval does not cover it.\n\nmachine: the machines in -m (a "
        "list, or 'all') under your limits, best first. Each kind uses all its GPUs "
        "unless run.gpu_count is set. Machines train independently: rates, watts, "
        "money and rack units add up without loss. It takes the fewest that reach "
        "--min-steps-per-s or, with --fill, the most that the limits allow. `cost` is "
        "price plus electricity over --years; `cost_per_step` and `training_cost` are "
        "that cost per step and per training run. `meets_frac` is the share of draws "
        "that meet all limits, `best_frac` the share in which the machine is also the "
        "best.\n\ncompare: the share of draws in which the first design beats the "
        "second, and their ratio. Both use the same draws, so uncertainty they share "
        "cancels out; a prior of one name is drawn once for all machines, here and in "
        "'machine'.\n\nupgrade: doubles one part of a machine at a time. All else "
        "stays fixed: the number of actors changes only where the row says so, and "
        "faster parts draw no extra power.\n\nUnless actors are given, 'machine' and "
        "'compare' take the fastest of 0.5 to 16 per hardware thread, 'threads', "
        "'fewest' and 'upgrade' 6.4 per hardware thread (the paper's 256 on 40). "
        "Designs are solved by equations unless --method or --half-width asks for "
        "more.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_recommend_settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_recommend,
};
