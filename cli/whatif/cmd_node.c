/* cmd_node.c - `fulcrum node`: machines with 1 to all of their GPUs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/whatif/whatif.h"
#include "model/try.h"
#include "model/whatif/node_rows.h"

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

struct machine {
    struct fulcrum_subject subject;
    size_t first; /* its rows, as far as they are there */
    size_t end;
};

/* All machines, and what is asked of them. */
struct job {
    const struct settings *settings;
    struct fulcrum_context *context;
    struct machine *machines;
    size_t machine_count;
    struct fulcrum_numbers counts[FULCRUM_NODE_AXES];
    struct fulcrum_sweep_axis axes[FULCRUM_NODE_AXES]; /* of the counts */
    struct fulcrum_actors actors;
    struct fulcrum_node_plan plan;
    struct fulcrum_progress watch;
    size_t expected; /* rows of all machines */
    struct fulcrum_result *result;
    struct fulcrum_table *table; /* with the rows that are there */
    bool is_interrupted;
};

static enum fulcrum_status read_machine(
    struct job *job, size_t i, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    struct fulcrum_design_settings design = settings->design;
    struct fulcrum_subject *subject = &job->machines[i].subject;
    const struct fulcrum_machine *machine = &subject->inputs.base.machine;
    design.machine = settings->machines.items[i];
    job->machine_count = i + 1;
    TRY(fulcrum_subject_read(&design, job->context, subject, err));
    /* What the machine is said to be, over what its preset says. */
    struct fulcrum_design_inputs *inputs = &subject->inputs;
    for (size_t j = 0; j < inputs->setting_count; j++) {
        const struct fulcrum_setting *setting = &inputs->settings[j];
        if (strcmp(setting->field->path, "machine.gpu.count") == 0) {
            TRY(fulcrum_field_set_number(
                setting->field, &inputs->base, setting->number, err));
        } else if (strcmp(setting->field->path, "machine.accelerator") == 0) {
            TRY(fulcrum_field_set_text(
                setting->field, &inputs->base, setting->text, err));
        }
    }
    FAIL_IF(machine->accelerator != FULCRUM_ACCELERATOR_GPU, err,
        FULCRUM_ERR_UNSUPPORTED, "machine %s has no GPU", machine->name);
    FAIL_IF(!(machine->gpu.count >= 1.0), err, FULCRUM_ERR_RANGE,
        "machine.gpu.count = %.6g of machine %s: expected at least 1",
        machine->gpu.count, machine->name);
    size_t count = fulcrum_node_row_count(&job->plan, machine);
    FAIL_IF(count == 0, err, FULCRUM_ERR_INFEASIBLE,
        "machine %s has %.6g GPUs: none of --gpus %s leaves one to infer beside "
        "--learners %s",
        machine->name, machine->gpu.count,
        settings->gpus != NULL ? settings->gpus : "1 to all", settings->learners);
    job->expected += count;
    return FULCRUM_OK;
}

static enum fulcrum_status read_job(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = &job->settings->machines;
    /* What the table varies cannot be set as well. */
    static const char *const varied[][2] = {{"run.gpu_count=", "--gpus"},
        {"run.learner_gpu_count=", "--learners"}, {"run.actor_count=", "--actors"},
        {"actors=", "--actors"}};
    const struct fulcrum_text_list *sets = &job->settings->design.sets;
    for (size_t i = 0; i < sets->count * (sizeof varied / sizeof varied[0]); i++) {
        const char *set = sets->items[i % sets->count];
        const char *const *option = varied[i / sets->count];
        FULCRUM_USAGE_IF(strncmp(set, option[0], strlen(option[0])) == 0, job->context,
            err, FULCRUM_ERR_UNSUPPORTED,
            "--set %s: expected %s, which the table varies", set, option[1]);
    }
    const struct settings *settings = job->settings;
    job->counts[FULCRUM_NODE_GPUS] = (struct fulcrum_numbers){
        "--gpus", fulcrum_field_find("run.gpu_count"), NULL, 0};
    job->counts[FULCRUM_NODE_LEARNERS] = (struct fulcrum_numbers){
        "--learners", fulcrum_field_find("run.learner_gpu_count"), NULL, 0};
    TRY(fulcrum_numbers_read(&job->counts[FULCRUM_NODE_GPUS],
        settings->gpus != NULL ? settings->gpus : "1:100000:1", job->context, err));
    TRY(fulcrum_numbers_read(
        &job->counts[FULCRUM_NODE_LEARNERS], settings->learners, job->context, err));
    for (size_t i = 0; i < FULCRUM_NODE_AXES; i++) {
        const struct fulcrum_numbers *counts = &job->counts[i];
        job->axes[i] =
            (struct fulcrum_sweep_axis){counts->field, counts->values, counts->count};
    }
    job->plan.sweep.axes = job->axes;
    TRY(fulcrum_machine_names_check(names, job->context, err));
    job->machines = fulcrum_allocate(names->count, sizeof *job->machines);
    for (size_t i = 0; i < names->count; i++) {
        TRY(read_machine(job, i, err));
    }
    /* Actors follow the threads unless another rule is named. */
    const struct fulcrum_actors_rule *rule = &job->settings->actors;
    struct fulcrum_actors *actors = &job->actors;
    TRY(fulcrum_actors_settle(
        rule, &job->machines[0].subject.inputs, job->context, actors, err));
    if (actors->per_thread > 0.0) {
        (void)snprintf(actors->text, sizeof actors->text,
            "%.6g per hardware thread, rounded to what GPUs can share",
            actors->per_thread);
    }
    job->plan.sweep.actors_per_thread = actors->per_thread;
    job->plan.sweep.actor_choices = actors->choices;
    job->plan.sweep.actor_choice_count = actors->choice_count;
    size_t count = job->expected;
    bool is_thorough = count <= THOROUGH_ROWS_MOST;
    struct fulcrum_predict_options *predict = &job->plan.sweep.predict;
    FULCRUM_USAGE_IF(count > ROWS_MOST, job->context, err, FULCRUM_ERR_RANGE,
        "%zu rows: expected at most %d, with fewer --gpus or --learners", count,
        (int)ROWS_MOST);
    job->plan.plateau_frac =
        settings->no_threads_needed ? (double)NAN : settings->plateau_pct / 100.0;
    enum fulcrum_status status = fulcrum_solve_settings_read(&settings->solve,
        is_thorough ? FULCRUM_DRAWS : 0.0, job->context, predict, err);
    if (!is_thorough && predict->solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        predict->solver.method = FULCRUM_METHOD_FAST;
    }
    return status;
}

static enum fulcrum_status find_rows(struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    size_t count = 0;
    job->plan.is_stopped = fulcrum_watch_stopped;
    job->plan.watch = fulcrum_watch_show;
    job->plan.watcher = &job->watch;
    fulcrum_watch_start(&job->watch, job->context, "rows");
    for (size_t i = 0; i < job->machine_count && status == FULCRUM_OK; i++) {
        struct machine *machine = &job->machines[i];
        const struct fulcrum_design_inputs *inputs = &machine->subject.inputs;
        double own = (double)fulcrum_node_row_count(&job->plan, &inputs->base.machine);
        job->watch.first_frac = (double)count / (double)job->expected;
        job->watch.part_frac = own / (double)job->expected;
        machine->first = count;
        status = fulcrum_node_rows_find(&job->plan, &inputs->scenario, job->table, err);
        count = fulcrum_table_rows(job->table);
        machine->end = count;
    }
    fulcrum_progress_end(&job->watch);
    job->is_interrupted = status == FULCRUM_ERR_INTERRUPTED;
    /* A table without rows would take the place of an older file for nothing. */
    return job->is_interrupted && count > 0 ? FULCRUM_OK : status;
}

static double number_at(const struct job *job, size_t row, const char *key)
{
    return fulcrum_table_at(job->table, row, key).number;
}

/* The row with the most of an output; machine->end: none has it. */
static size_t best_of(
    const struct job *job, const struct machine *machine, const char *output)
{
    size_t best = machine->end;
    for (size_t i = machine->first; i < machine->end; i++) {
        double value = number_at(job, i, output);
        if (!isnan(value) &&
            (best == machine->end || value > number_at(job, best, output))) {
            best = i;
        }
    }
    return best;
}

/* "3 GPUs", "8 GPUs (2 learning)"; the caller frees it. */
static char *name_gpus(const struct job *job, size_t row)
{
    double gpus = number_at(job, row, "gpu_count");
    double learners = number_at(job, row, "learner_gpu_count");
    const char *plural = gpus > 1.0 ? "s" : "";
    return learners > 0.0
               ? fulcrum_format("%.0f GPU%s (%.0f learning)", gpus, plural, learners)
               : fulcrum_format("%.0f GPU%s", gpus, plural);
}

static enum fulcrum_status answer(struct job *job, struct fulcrum_error *err)
{
    TRY(read_job(job, err));
    const struct fulcrum_subject *first = &job->machines[0].subject;
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-node");
    fulcrum_result_flag(result, "complete", NULL, true);
    fulcrum_result_text(
        result, "workload", "workload", first->inputs.base.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", first->calibrations);
    fulcrum_result_text(result, "actors_rule", "actors", job->actors.text);
    fulcrum_result_number(result, "plateau_frac", "plateau", job->plan.plateau_frac);
    job->result = result;
    job->table = fulcrum_result_table(result, "rows", "");
    job->plan.calibration = first->calibrations;
    job->plan.actors_rule = job->actors.text;
    TRY(find_rows(job, err));
    /* All rows failed: there is no result, and the first reason is the message. */
    size_t count = fulcrum_table_rows(job->table);
    size_t failed = 0;
    const char *reason = "";
    TRY(fulcrum_result_check(job->result, err));
    for (size_t i = count; i-- > 0;) {
        const char *status = fulcrum_table_at(job->table, i, "status").text;
        if (strcmp(status, "ok") != 0) {
            failed++;
            reason = status;
        }
    }
    FAIL_IF(failed > 0 && failed == count, err, FULCRUM_ERR_INFEASIBLE,
        "no row can run: %s", reason);
    if (failed > 0) {
        fulcrum_message_warn("%zu of %zu rows cannot run: %s", failed, count, reason);
    } else {
        fulcrum_table_hide(job->table, "status");
    }
    if (fulcrum_table_constant(job->table, "learner_gpu_count") <= 0.0) {
        fulcrum_table_hide(job->table, "learner_gpu_count");
    }
    if (job->is_interrupted) {
        fulcrum_message_warn("interrupted: %zu of %zu rows are there",
            fulcrum_table_rows(job->table), job->expected);
        fulcrum_result_flag(job->result, "complete", NULL, false);
        job->context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    }
    for (size_t m = 0; m < job->machine_count && !job->is_interrupted; m++) {
        /* Where a machine is fastest, and what all its GPUs make of it. */
        const struct machine *machine = &job->machines[m];
        size_t fastest = best_of(job, machine, "steps_per_s");
        size_t leanest = best_of(job, machine, "steps_per_j_system");
        if (fastest != machine->end) {
            double relative = number_at(job, machine->end - 1, "relative");
            char *fast = name_gpus(job, fastest);
            char *lean = leanest < machine->end ? name_gpus(job, leanest)
                                                : fulcrum_format("unknown watts");
            char *all = name_gpus(job, machine->end - 1);
            char *end =
                isnan(relative)
                    ? fulcrum_format("%s", "")
                    : fulcrum_format("; rate with %s over that of the first row: %.3g",
                          all, relative);
            fulcrum_message_note(job->context,
                "found: %s: fastest with %s (%.0f steps/s), most per system joule with "
                "%s%s",
                machine->subject.inputs.base.machine.name, fast,
                number_at(job, fastest, "steps_per_s"), lean, end);
            free(fast);
            free(lean);
            free(all);
            free(end);
        }
    }
    enum fulcrum_status status = fulcrum_context_show(job->context, job->result, err);
    job->result = NULL;
    return status;
}

static enum fulcrum_status run_node(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data, .context = context};
    enum fulcrum_status status = answer(&job, err);
    fulcrum_result_free(job.result);
    for (size_t m = 0; m < job.machine_count; m++) {
        fulcrum_subject_clear(&job.machines[m].subject);
    }
    free(job.machines);
    free(job.counts[FULCRUM_NODE_GPUS].values);
    free(job.counts[FULCRUM_NODE_LEARNERS].values);
    free(job.actors.choices);
    return status;
}

static const struct fulcrum_option option_rows[] = {
    FULCRUM_OPTION(TEXT, "gpus", offsetof(struct settings, gpus), "RANGE",
        .help = "numbers of GPUs, 1:8:1 or 1,2,4,8, up to what a machine has; by "
                "default 1 to all"),
    FULCRUM_OPTION(TEXT, "learners", offsetof(struct settings, learners), "RANGE",
        .fallback = "0",
        .help = "GPUs that only train: 0,1,2; 0: each infers and trains"),
    FULCRUM_OPTION(NUMBER, "plateau", offsetof(struct settings, plateau_pct), "X",
        .unit = "%", .least = 1.0, .most = 99.5, .fallback = "95",
        .help = "share of the highest rate, over any number of threads, that the "
                "threads needed must reach"),
    FULCRUM_OPTION(FLAG, "no-threads-needed",
        offsetof(struct settings, no_threads_needed), NULL,
        .help = "skip the threads needed, which is much faster"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Node", option_rows, 0},
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
        "40 threads with one to eight V100"},
    {"fulcrum node -m dgx-1 -m dgx-a100 -m dgx-h100 -w r2d2-atari --format json "
     "-o node.json",
        "three machines, for 'fulcrum plot node.json -o node.svg'"},
    {"fulcrum node -m dgx-a100 -w r2d2-atari --gpus 8 --learners 0:7:1",
        "how many of eight GPUs should only train"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_node = {
    .name = "node",
    .summary =
        "predict machines with 1 to all of their GPUs, and the threads these need",
    .description =
        "Adds GPUs to one machine, or to several side by side, while the processor "
        "stays the same. Each row has threads per GPU, both CPU/GPU ratios, steps "
        "per second with a 90 % interval and relative to the machine's first row, "
        "both performances per watt, the bottleneck, and the fewest threads with "
        "which its GPUs reach --plateau of what any number of threads would give. "
        "Performance per system watt includes idle GPUs.\n\nWith --actors every row "
        "has that number, which its GPUs must share equally; by default there are "
        "6.4 actors per hardware thread (the paper's 256 on 40), rounded to what "
        "GPUs can share. Each added GPU brings a learner, which keeps threads busy. "
        "With --learners some GPUs only train and the others infer; the bottleneck "
        "'learner' means too few of them train.\n\nThe threads needed are found by "
        "equations (--method fast), whatever solves the rows; cores and actors "
        "follow the threads, and the interval is that of the draws. "
        "threads_needed_is_open is 1 in files where more threads might still raise "
        "the plateau.\n\nIntervals come from 200 draws; tables of more than 256 rows "
        "have none and are not simulated unless asked for. Ctrl-C ends the table after "
        "the last whole row.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_node,
};
