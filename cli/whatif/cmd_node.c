/* cmd_node.c - `fulcrum node`: machines with 1 to all of their GPUs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/whatif/node_job.h"
#include "model/try.h"

/* Draws behind the intervals of a row. */
#define NODE_DRAWS       24.0
#define NODE_FEWER_DRAWS 16.0
#define ALL_DRAWS_ROWS   64
/* More rows have neither intervals nor simulations unless asked for. */
#define THOROUGH_ROWS_MOST 256

enum { ROWS_MOST = 100000 };

struct settings {
    struct fulcrum_text_list machines;
    struct fulcrum_design_settings design; /* its machine is each of those in turn */
    struct fulcrum_solve_settings solve;
    const char *gpus;
    const char *learners;
    struct fulcrum_actors_rule actors;
    double plateau_pct;
    bool no_threads_needed;
};

/* All machines, and what is asked of them. Large: kept on the heap. */
struct subject {
    struct fulcrum_design_inputs *inputs; /* one a machine */
    size_t machine_count;
    double *gpu_counts;
    double *learner_counts;
    double *actor_choices;
    struct fulcrum_node_plan plan;
    struct fulcrum_node_rows rows;
    char calibrations[200];
    char actors_rule[200];
};

/* Accepts NULL. */
static void subject_free(struct subject *subject)
{
    if (subject == NULL) {
        return;
    }
    for (size_t i = 0; i < subject->machine_count; i++) {
        fulcrum_design_inputs_free(&subject->inputs[i]);
    }
    free(subject->inputs);
    free(subject->gpu_counts);
    free(subject->learner_counts);
    free(subject->actor_choices);
    fulcrum_node_rows_clear(&subject->rows);
    free(subject);
}

/* An option's values, in the range of the field that they go to. */
struct list {
    const char *option;
    const char *path;
    double **values;
    size_t *count;
};

static enum fulcrum_status read_list(const struct list *list, const char *text,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_range_parse(
        fulcrum_field_find(list->path), text, list->values, list->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, list->option);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_gpus(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    struct fulcrum_node_plan *plan = &subject->plan;
    const struct list gpus = {
        "--gpus", "run.gpu_count", &subject->gpu_counts, &plan->gpu_count_count};
    const struct list learners = {"--learners", "run.learner_gpu_count",
        &subject->learner_counts, &plan->learner_count_count};
    if (settings->gpus != NULL) {
        TRY(read_list(&gpus, settings->gpus, context, err));
    }
    TRY(read_list(&learners, settings->learners, context, err));
    plan->gpu_counts = subject->gpu_counts;
    plan->learner_counts = subject->learner_counts;
    return FULCRUM_OK;
}

/* Actors follow the threads unless another rule is named. */
static enum fulcrum_status read_actors(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    struct fulcrum_node_plan *plan = &subject->plan;
    const struct fulcrum_actors_rule *rule = &settings->actors;
    bool is_fixed = !isnan(settings->design.actor_count);
    TRY(fulcrum_actors_rule_check(rule, is_fixed,
        "give the number of actors in one way: --actors, --actors-per-thread or "
        "--best-actors",
        context, err));
    TRY(fulcrum_actors_rule_choices(
        rule, &subject->actor_choices, &plan->actor_choice_count, context, err));
    plan->actor_choices = subject->actor_choices;
    char *text = subject->actors_rule;
    size_t size = sizeof subject->actors_rule;
    if (rule->best_of != NULL) {
        fulcrum_actors_rule_text(rule, text, size);
    } else if (is_fixed) {
        (void)snprintf(text, size, "%.0f", settings->design.actor_count);
    } else {
        plan->actors_per_thread = fulcrum_actors_rule_per_thread(rule);
        (void)snprintf(text, size,
            "%.6g per hardware thread, rounded to what GPUs can share",
            plan->actors_per_thread);
    }
    return FULCRUM_OK;
}

/* The option that says what `set` would; NULL: it sets something else. */
static const char *option_instead_of(const char *set)
{
    static const char *const varied[][2] = {{"run.gpu_count=", "--gpus"},
        {"run.learner_gpu_count=", "--learners"}, {"run.actor_count=", "--actors"},
        {"actors=", "--actors"}};
    for (size_t i = 0; i < sizeof varied / sizeof varied[0]; i++) {
        if (strncmp(set, varied[i][0], strlen(varied[i][0])) == 0) {
            return varied[i][1];
        }
    }
    return NULL;
}

/* What the table goes by cannot be set besides. */
static enum fulcrum_status check_sets(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    for (size_t i = 0; i < settings->design.sets.count; i++) {
        const char *set = settings->design.sets.items[i];
        const char *option = option_instead_of(set);
        FULCRUM_USAGE_IF(option != NULL, context, err, FULCRUM_ERR_UNSUPPORTED,
            "--set %s: expected %s, which the table goes by", set, option);
    }
    return FULCRUM_OK;
}

/* What the machine is said to be, over what its preset says. */
static enum fulcrum_status apply_machine_sets(
    struct fulcrum_design_inputs *inputs, struct fulcrum_error *err)
{
    for (size_t i = 0; i < inputs->setting_count; i++) {
        const struct fulcrum_setting *setting = &inputs->settings[i];
        if (strcmp(setting->field->path, "machine.gpu.count") == 0) {
            TRY(fulcrum_field_set_number(
                setting->field, &inputs->base, setting->number, err));
        } else if (strcmp(setting->field->path, "machine.accelerator") == 0) {
            TRY(fulcrum_field_set_text(
                setting->field, &inputs->base, setting->text, err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status load_machine(const struct settings *settings, size_t i,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    struct fulcrum_design_settings design = settings->design;
    struct fulcrum_design_inputs *inputs = &subject->inputs[i];
    design.machine = settings->machines.items[i];
    subject->machine_count = i + 1;
    TRY(fulcrum_design_inputs_load(&design, context, inputs, err));
    TRY(apply_machine_sets(inputs, err));
    const struct fulcrum_machine *machine = &inputs->base.machine;
    FAIL_IF(machine->accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU to have more of",
        machine->name);
    FAIL_IF(!(machine->gpu.count >= 1.0), err, FULCRUM_ERR_RANGE,
        "machine.gpu.count = %.6g of machine %s: expected at least 1",
        machine->gpu.count, machine->name);
    FAIL_IF(fulcrum_node_row_count(&subject->plan, machine) == 0, err,
        FULCRUM_ERR_INFEASIBLE,
        "machine %s has %.6g GPUs: none of --gpus %s leaves one to infer beside "
        "--learners %s",
        machine->name, machine->gpu.count,
        settings->gpus != NULL ? settings->gpus : "1 to all", settings->learners);
    subject->rows.expected +=
        fulcrum_node_row_count(&subject->plan, &inputs->base.machine);
    return FULCRUM_OK;
}

static enum fulcrum_status load_machines(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    TRY(fulcrum_machine_names_check(&settings->machines, context, err));
    subject->inputs =
        fulcrum_allocate(settings->machines.count, sizeof *subject->inputs);
    for (size_t i = 0; i < settings->machines.count; i++) {
        TRY(load_machine(settings, i, context, subject, err));
    }
    fulcrum_calibration_names(
        &subject->inputs[0], subject->calibrations, sizeof subject->calibrations);
    /* Where environments are simulated on GPUs no actors follow the threads. */
    if (fulcrum_design_is_resident(&subject->inputs[0].base) &&
        isnan(settings->actors.per_thread)) {
        subject->plan.actors_per_thread = 0.0;
        (void)snprintf(subject->actors_rule, sizeof subject->actors_rule, "%s",
            fulcrum_actors_rule_none);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_solution(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    size_t count = subject->rows.expected;
    struct fulcrum_node_plan *plan = &subject->plan;
    double draws = count <= ALL_DRAWS_ROWS ? NODE_DRAWS : NODE_FEWER_DRAWS;
    FULCRUM_USAGE_IF(count > ROWS_MOST, context, err, FULCRUM_ERR_RANGE,
        "%zu rows: expected at most %d, with fewer --gpus or --learners", count,
        (int)ROWS_MOST);
    enum fulcrum_status status = fulcrum_solve_settings_read(&settings->solve,
        count <= THOROUGH_ROWS_MOST ? draws : 0.0, context, &plan->predict, err);
    struct fulcrum_solver_options *solver = &plan->predict.solver;
    if (count > THOROUGH_ROWS_MOST && solver->method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        solver->method = FULCRUM_METHOD_FAST;
    }
    plan->plateau_frac =
        settings->no_threads_needed ? (double)NAN : settings->plateau_pct / 100.0;
    return status;
}

static enum fulcrum_status find_rows(
    struct subject *subject, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_progress progress;
    subject->plan.progress = &progress;
    subject->plan.stop = fulcrum_interrupt_watch();
    fulcrum_progress_start(&progress, context);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < subject->machine_count && status == FULCRUM_OK; i++) {
        status = fulcrum_node_rows_add(
            &subject->plan, &subject->inputs[i], &subject->rows, err);
    }
    fulcrum_progress_end(&progress);
    return status;
}

static enum fulcrum_status answer(
    struct subject *subject, struct fulcrum_context *context, struct fulcrum_error *err)
{
    enum fulcrum_status status = find_rows(subject, context, err);
    bool is_interrupted = status == FULCRUM_ERR_INTERRUPTED;
    /* A table without rows would take the place of an older file for nothing. */
    if (status != FULCRUM_OK && (!is_interrupted || subject->rows.count == 0)) {
        return status;
    }
    /* All rows failed: there is no result, and the first reason is the message. */
    size_t failed = 0;
    const char *reason = "";
    for (size_t i = subject->rows.count; i-- > 0;) {
        if (subject->rows.rows[i].point.status != FULCRUM_OK) {
            failed++;
            reason = subject->rows.rows[i].reason;
        }
    }
    FAIL_IF(failed > 0 && failed == subject->rows.count, err, FULCRUM_ERR_INFEASIBLE,
        "no row can run: %s", reason);
    if (failed > 0) {
        fulcrum_message_warn(
            "%zu of %zu rows cannot run: %s", failed, subject->rows.count, reason);
    }
    const struct fulcrum_node_answer found = {.rows = &subject->rows,
        .workload = subject->inputs[0].base.workload.name,
        .calibration = subject->calibrations,
        .actors_rule = subject->actors_rule,
        .plateau_frac = subject->plan.plateau_frac,
        .is_complete = !is_interrupted};
    TRY(fulcrum_node_report(&found, context, err));
    if (is_interrupted) {
        fulcrum_message_warn("interrupted: %zu of %zu rows are there",
            subject->rows.count, subject->rows.expected);
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    } else {
        fulcrum_node_note_findings(&subject->rows, context);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct subject *subject = fulcrum_allocate(1, sizeof *subject);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_sets(settings, context, err));
    TRY_OR_END(read_gpus(settings, context, subject, err));
    TRY_OR_END(read_actors(settings, context, subject, err));
    TRY_OR_END(load_machines(settings, context, subject, err));
    TRY_OR_END(read_solution(settings, context, subject, err));
    status = answer(subject, context, err);
end:
    subject_free(subject);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "gpus", offsetof(struct settings, gpus), "RANGE",
        .help = "numbers of GPUs, 1:8:1 or 1,2,4,8, as far as a machine has them; 1 to "
                "all unless given"),
    FULCRUM_OPTION(TEXT, "learners", offsetof(struct settings, learners), "RANGE",
        .fallback = "0",
        .help = "how many of them train and do nothing else: 0,1,2; 0: each infers and "
                "trains"),
    FULCRUM_OPTION(NUMBER, "plateau", offsetof(struct settings, plateau_pct), "X",
        .unit = "%", .least = 1.0, .most = 99.5, .fallback = "95",
        .help = "threads needed are those with so much of the most that any number of "
                "threads gives"),
    FULCRUM_OPTION(FLAG, "no-threads-needed",
        offsetof(struct settings, no_threads_needed), NULL,
        .help = "leave them out, which is much faster"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Node", rows, 0},
    {"Actors", fulcrum_actors_rule_rows, offsetof(struct settings, actors)},
    {"Machines", fulcrum_machines_option_rows, offsetof(struct settings, machines)},
    {"Design", FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE,
        offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum node -m dgx-1-inci2020 -w r2d2-atari -c v100-inci2020",
        "eight V100 beside 40 threads, from one GPU to all"},
    {"fulcrum node -m dgx-1 -m dgx-a100 -m dgx-h100 -w r2d2-atari --format json "
     "-o node.json",
        "three machines, for 'fulcrum plot node.json -o node.svg'"},
    {"fulcrum node -m dgx-a100 -w r2d2-atari --gpus 8 --learners 0:7:1",
        "how many of eight GPUs should do nothing but train"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_node = {
    .name = "node",
    .summary =
        "predict machines with 1 to all of their GPUs, and the threads these need",
    .description =
        "Adds GPUs to one machine, or several machines beside each other, while the "
        "processor stays: each row has the threads per GPU, both CPU/GPU ratios, "
        "steps per second with a 90 % interval and relative to the machine's first "
        "row, both performances per watt, the bottleneck, and the fewest threads with "
        "which so many GPUs reach --plateau of what any number of threads gives "
        "them. Performance per system watt counts the GPUs that are not used, idle. "
        "With --actors every row has so many, which its GPUs must share equally; where "
        "nothing says how many there are, 6.4 per hardware thread, the paper's 256 on "
        "40, rounded to what GPUs can share.\n\n"
        "Each added GPU brings a learner with it, which keeps threads busy. With "
        "--learners some of the GPUs train and do nothing else: then the others "
        "infer, and the bottleneck 'learner' says that there are too few of them.\n\n"
        "Threads needed are found by equations (--method fast), whatever solves the "
        "rows, with cores and actors following the threads; the interval is over the "
        "draws. In the machine-readable formats threads_needed_is_open is 1 where "
        "more threads might still add to the plateau.\n\n"
        "Rows have intervals from 24 draws, 16 in tables of more than 64 rows; tables "
        "of more than 256 rows have none and are not simulated unless asked for. "
        "Ctrl-C ends the table after the last whole row.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
