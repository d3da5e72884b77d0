/* report_summary.c - the answer in plain words, what would change it, and machines. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_section.h"

/* What would change most: one thing at a time, made twice as good. */

/*
 * Each lever is a sweep of two points, the design and the design with one field
 * changed, compared draw by draw: what both are uncertain of cancels. So the interval
 * is that of the change itself.
 */

/* Where a lever has something to act on. */
enum reach { ANYWHERE, ON_ACTORS, ON_RESIDENTS, ON_GPUS };

static const struct lever {
    const char *path;
    double factor;
    const char *words;
    enum reach reach;
    bool takes_actors_along;
} levers[] = {
    {"machine.cpu.thread_count", 2.0, "twice the CPU cores and threads", ON_ACTORS, 0},
    {"machine.cpu.thread_count", 2.0, "twice the CPU cores and threads, and the actors",
        ON_ACTORS, 1},
    {"run.actor_count", 2.0, "twice the actors", ON_ACTORS, 0},
    {"workload.step.mean_s", 0.5, "environments that step twice as fast", ON_ACTORS, 0},
    {"workload.simulation.env_count", 2.0, "twice the environments", ON_RESIDENTS, 0},
    {"workload.simulation.per_batch_s", 0.5, "half the simulation's time per step",
        ON_RESIDENTS, 0},
    {"workload.simulation.per_env_s", 0.5, "half the simulation's time per environment",
        ON_RESIDENTS, 0},
    {"workload.host.per_item_s", 0.5, "half the host's time per observation", ANYWHERE,
        0},
    {"workload.host.per_batch_s", 0.5, "half the host's time per batch", ANYWHERE, 0},
    {"workload.host.delay_s", 0.5, "half the delay of an action's delivery", ANYWHERE,
        0},
    {"workload.network.per_batch_s", 0.5, "half the inference time per batch", ANYWHERE,
        0},
    {"workload.network.per_item_s", 0.5, "half the inference time per observation",
        ANYWHERE, 0},
    {"workload.training.train_step_s", 0.5, "training steps in half the time", ANYWHERE,
        0},
    {"workload.batching.depth", 2.0, "twice the batches under way", ON_ACTORS, 0},
    {"run.sm_count", 0.5, "half the SMs of each GPU", ON_GPUS, 0},
};

enum { LEVERS = sizeof levers / sizeof levers[0] };

/* Sweeps go upwards: the design is the second point where the lever makes less of it.
 */
static size_t place_of_design(const struct lever *lever)
{
    return lever->factor < 1.0 ? 1 : 0;
}

static bool ask_levers(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i >= LEVERS) {
        return false;
    }
    const struct lever *lever = &levers[i];
    bool is_resident = fulcrum_report_is_resident(machine);
    bool is_reached = lever->reach == ANYWHERE ||
                      (lever->reach == ON_ACTORS && !is_resident) ||
                      (lever->reach == ON_RESIDENTS && is_resident) ||
                      (lever->reach == ON_GPUS && fulcrum_report_has_gpu(machine));
    double value = fulcrum_report_field(machine, lever->path);
    /* A field that is not given, or is zero, has nothing to be changed. */
    if (!is_reached || !(value > 0.0)) {
        return true;
    }
    bool is_count = strstr(lever->path, "_count") != NULL;
    double changed =
        is_count ? fmax(1.0, round(value * lever->factor)) : value * lever->factor;
    fulcrum_report_words(words, "explore -v %s=%.17g,%.17g --relative-to %zu",
        lever->path, value, changed, place_of_design(lever));
    if (lever->takes_actors_along) {
        fulcrum_report_words(words, "--actors-per-thread %.17g",
            fulcrum_report_field(machine, "run.actor_count") / value);
    }
    return true;
}

/* A lever that was answered, and how much it changes either way. */
struct found {
    const struct lever *lever;
    struct fulcrum_cell speedup;
    double size;
    double per_watt_rel; /* NAN: not known */
};

static int by_size_of_change(const void *a, const void *b)
{
    const struct found *left = a;
    const struct found *right = b;
    int by_size = (left->size < right->size) - (left->size > right->size);
    return by_size != 0 ? by_size : strcmp(left->lever->words, right->lever->words);
}

/* Those that were answered, the one that changes most first. The caller frees it. */
static struct fulcrum_result *levers_of(struct fulcrum_report_case *machine)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "levers");
    struct fulcrum_result *rows = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(rows, "rows", NULL);
    struct found found[LEVERS + 1] = {{.lever = NULL}};
    size_t count = 0;
    for (size_t i = 0; i < replies->count && i < LEVERS; i++) {
        const struct fulcrum_table *points =
            fulcrum_result_table_of(replies->items[i].result, "points");
        size_t design = place_of_design(&levers[i]);
        struct fulcrum_cell speedup = fulcrum_table_at(points, 1 - design, "speedup");
        double was = fulcrum_table_at(points, design, "steps_per_j_system").number;
        double is = fulcrum_table_at(points, 1 - design, "steps_per_j_system").number;
        found[count] = (struct found){&levers[i], speedup, fabs(log(speedup.number)),
            was > 0.0 ? is / was : (double)NAN};
        count += speedup.number > 0.0 ? 1 : 0;
    }
    qsort(found, count, sizeof *found, by_size_of_change);
    for (size_t k = 0; k < count; k++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "lever", NULL, found[k].lever->words);
        fulcrum_plot_cell_add(table, "speedup", found[k].speedup);
        fulcrum_table_number(table, "per_watt_rel", NULL, found[k].per_watt_rel);
    }
    return rows;
}

static void write_levers(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "levers");
    size_t made = 0;
    (void)fputs(
        "<p>One thing at a time, everything else as it is: what it would do to the "
        "throughput. The interval is that of the change itself.</p>\n",
        out);
    fulcrum_report_table(levers_of(machine), NULL,
        (struct fulcrum_html_view){
            .caption = "Times the throughput of the design, largest change first",
            .columns = "lever=changed alone;speedup:0.5:2=from half to twice;"
                       "speedup=throughput;per_watt_rel=per system watt"},
        out);
    while (made < replies->count && replies->items[made].result == NULL) {
        made++;
    }
    if (made < replies->count) {
        fulcrum_report_made_with(&replies->items[made], out);
        (void)fputs("<p class=\"made\">and so on for each line.</p>\n", out);
    }
}

const struct fulcrum_report_section fulcrum_report_levers = {
    .id = "levers",
    .title = "What would change most",
    .ask_each = ask_levers,
    .write = write_levers,
};

/* What each bottleneck means to who buys machines. */
static const struct bottleneck {
    const char *name;
    const char *short_words;
    const char *words;
} bottlenecks[] = {
    {"cpu", "the CPU",
        "The actors' threads are busy all the time: the learner waits for them."},
    {"host", "the host's serial work",
        "The serial work between actors and learner is busy all the time: neither "
        "more threads nor a faster GPU would help much."},
    {"gpu", "the learner's device",
        "The device that infers and trains is busy all the time: everything else waits "
        "for it."},
    {"learner", "the GPUs that train",
        "The GPUs that train are busy all the time: those that infer or decode "
        "wait for them."},
    {"memory", "GPU memory",
        "The GPUs that decode have no room for more trajectories, which would go on "
        "much faster."},
    {"agents", "waiting",
        "Nothing is busy all the time: trajectories decode and call tools by turns, a "
        "batch waits for its last ones, and a stream for the trainer."},
    {"latency", "waiting",
        "Nothing is busy all the time: each actor waits for its batch, the host and "
        "the learner in turn. More actors would hide that."},
};

static bool has_agents(struct fulcrum_report_case *machine)
{
    return strcmp(fulcrum_report_field_text(machine, "workload.family"), "agents") == 0;
}

static const struct bottleneck *bottleneck_of(struct fulcrum_report_case *machine)
{
    const char *name = fulcrum_result_text_of(machine->point, "bottleneck");
    name = has_agents(machine) && strcmp(name, "latency") == 0 ? "agents" : name;
    size_t i = 0;
    while (i + 1 < sizeof bottlenecks / sizeof bottlenecks[0] &&
           strcmp(bottlenecks[i].name, name) != 0) {
        i++;
    }
    return &bottlenecks[i];
}

/* A value, and its interval as ", 90 %: 3 to 4" or so. */
struct words {
    char value[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
};

static struct words words_of(const struct fulcrum_cell *cell, const char *unit)
{
    struct words out = {.range = ""};
    fulcrum_quantity_words(cell->number, unit, out.value);
    fulcrum_range_words(cell->lo, cell->hi, cell->number, unit, out.range);
    return out;
}

static void write_card(
    const char *what, const char *value, const char *detail, FILE *out)
{
    (void)fputs("<div><dt>", out);
    fulcrum_html_text(out, what);
    (void)fputs("</dt><dd><strong>", out);
    fulcrum_html_text(out, value);
    (void)fputs(detail[0] != '\0' ? "</strong><span>" : "</strong>", out);
    fulcrum_html_text(out, detail);
    (void)fputs(detail[0] != '\0' ? "</span></dd></div>\n" : "</dd></div>\n", out);
}

/* A card of a value with its interval, and more behind it; none where it is unknown. */
static void write_value_card(const char *what, struct fulcrum_cell cell,
    const char *unit, const char *more, FILE *out)
{
    struct words words = words_of(&cell, unit);
    bool has_range = words.range[0] != '\0';
    char detail[300];
    (void)snprintf(detail, sizeof detail, "%s%s%s%s", has_range ? "90 %: " : "",
        words.range, has_range && more[0] != '\0' ? "; " : "", more);
    if (isfinite(cell.number)) {
        write_card(what, words.value, detail, out);
    }
}

static const struct fulcrum_table *optima_of(struct fulcrum_report_case *machine)
{
    return fulcrum_result_table_of(fulcrum_report_first(machine, "ratio"), "optima");
}

/*
 * The balance: the ratio where performance per system watt is best, or throughput
 * without watts; NAN where no ratio was swept, or there is none.
 */
static struct fulcrum_cell balance_of(struct fulcrum_report_case *machine)
{
    const struct fulcrum_table *optima = optima_of(machine);
    size_t count = optima != NULL ? fulcrum_table_rows(optima) : 0;
    return fulcrum_table_at(optima, count > 0 ? count - 1 : 0, "best_ratio");
}

/* "40 actors on 40 threads, 1 of 8 GPUs" */
static void write_run(struct fulcrum_report_case *machine, FILE *out)
{
    const struct fulcrum_result *point = machine->point;
    double envs = fulcrum_result_number_of(point, "envs_per_actor");
    (void)fputs("<p class=\"run\">", out);
    if (fulcrum_report_is_resident(machine)) {
        fulcrum_html_print(out, "%.6g environments on each GPU, ",
            fulcrum_report_field(machine, "workload.simulation.env_count"));
    } else {
        fulcrum_html_print(out, "%.6g %s",
            fulcrum_result_number_of(point, "actor_count"),
            has_agents(machine) ? "live trajectories" : "actors");
        if (envs > 1.0) {
            fulcrum_html_print(out, " with %.6g environments each", envs);
        }
        fulcrum_html_print(out, " on %.6g CPU threads, ",
            fulcrum_report_field(machine, "machine.cpu.thread_count"));
    }
    if (fulcrum_report_has_gpu(machine)) {
        fulcrum_html_print(out, "%.6g of %.6g GPUs with %.6g SMs in use",
            fulcrum_result_number_of(point, "gpu_count"),
            fulcrum_report_field(machine, "machine.gpu.count"),
            fulcrum_result_number_of(point, "sm_count"));
    } else {
        fulcrum_html_print(out, "%.6g learner cores",
            fulcrum_report_field(machine, "machine.learner_core_count"));
    }
    fulcrum_html_print(
        out, "; calibration %s", fulcrum_result_text_of(point, "calibration"));
    (void)fputs("</p>\n", out);
}

static void write_speed(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_cell steps = fulcrum_report_output(machine, "steps_per_s");
    struct fulcrum_cell runtime = fulcrum_report_output(machine, "runtime_s");
    struct words words = words_of(&steps, "");
    struct words time = words_of(&runtime, "s");
    bool has_range = words.range[0] != '\0';
    bool has_time = isfinite(runtime.number);
    fulcrum_html_element(out, "li", "%s makes %s steps a second%s%s%s%s%s. %s",
        machine->name, words.value, has_range ? " (90 %: " : "", words.range,
        has_range ? ")" : "", has_time ? ", so that the whole training takes " : "",
        has_time ? time.value : "", bottleneck_of(machine)->words);
}

/* One sentence for each metric. */
static void write_balance(struct fulcrum_report_case *machine, FILE *out)
{
    const struct fulcrum_table *optima = optima_of(machine);
    struct fulcrum_string text = {0};
    for (size_t i = 0; fulcrum_chart_words(optima, i, "shape")[0] != '\0'; i++) {
        fulcrum_string_add(&text, "%s%s ", i > 0 ? "; " : "",
            fulcrum_chart_words(optima, i, "metric"));
        fulcrum_report_best_words(optima, i, &text);
    }
    double here = fulcrum_report_output(machine, "cpu_gpu_ratio_used").number;
    if (text.length > 0 && isfinite(here)) {
        fulcrum_string_add(&text, ". Here it is %.3g", here);
    }
    if (text.length > 0) {
        fulcrum_html_element(out, "li",
            "With other numbers of CPU threads, and as many actors as serve them best, "
            "%s.",
            fulcrum_string_get(&text));
    }
    fulcrum_string_clear(&text);
}

/* The three changes that would do most. */
static void write_changes(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_result *found = levers_of(machine);
    const struct fulcrum_table *table = fulcrum_result_table_of(found, "rows");
    size_t count = table != NULL ? fulcrum_table_rows(table) : 0;
    (void)fputs(count > 0 ? "<li>What would change most: " : "", out);
    for (size_t i = 0; i < count && i < 3; i++) {
        struct fulcrum_cell speedup = fulcrum_table_at(table, i, "speedup");
        struct words words = words_of(&speedup, "x");
        fulcrum_html_print(out, "%s%s, %s times the throughput", i > 0 ? "; " : "",
            fulcrum_table_at(table, i, "lever").text, words.value);
        if (words.range[0] != '\0') {
            fulcrum_html_print(out, " (90 %%: %s)", words.range);
        }
    }
    (void)fputs(count > 0 ? ".</li>\n" : "", out);
    fulcrum_result_free(found);
}

/* Several machines: which one is ahead, and by how much. */
static void write_winner(
    struct fulcrum_report_job *job, const char *output, const char *words, FILE *out)
{
    size_t first = 0;
    double most = -1.0;
    double least = INFINITY;
    for (size_t i = 0; i < job->case_count; i++) {
        double value = fulcrum_report_output(job->cases[i], output).number;
        if (!isfinite(value)) {
            return;
        }
        first = value > most ? i : first;
        most = fmax(most, value);
        least = fmin(least, value);
    }
    char times[FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(most / least, "x", times);
    fulcrum_html_element(out, "li", "%s: %s is ahead, with %s times that of the last.",
        words, job->cases[first]->name, times);
}

/* What machines are compared by: outputs, then facts. The caller frees it. */
static struct fulcrum_result *machine_rows(struct fulcrum_report_job *job)
{
    static const char *const outputs[] = {"steps_per_s", "steps_per_j_gpu",
        "steps_per_j_system", "runtime_s", "system_w", "cpu_gpu_ratio_used",
        "cpu_gpu_ratio_machine"};
    struct fulcrum_result *found = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(found, "rows", NULL);
    for (size_t i = 0; i < job->case_count; i++) {
        struct fulcrum_report_case *machine = job->cases[i];
        fulcrum_table_row(table);
        fulcrum_table_text(table, "machine", NULL, machine->name);
        for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++) {
            fulcrum_plot_cell_add(
                table, outputs[k], fulcrum_report_output(machine, outputs[k]));
        }
        fulcrum_table_text(
            table, "bottleneck", NULL, bottleneck_of(machine)->short_words);
        fulcrum_table_number(table, "thread_count", NULL,
            fulcrum_report_field(machine, "machine.cpu.thread_count"));
        fulcrum_table_number(table, "gpu_count", NULL,
            fulcrum_report_has_gpu(machine)
                ? fulcrum_report_field(machine, "run.gpu_count")
                : (double)NAN);
        fulcrum_plot_cell_add(table, "best_ratio", balance_of(machine));
    }
    return found;
}

static void write_summary(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_job *job = machine->job;
    (void)fputs("<section class=\"summary\" aria-label=\"Summary\">\n", out);
    if (job->case_count > 1) {
        /* What all machines have in common. */
        double gpus = fulcrum_report_field(machine, "run.gpu_count");
        struct fulcrum_string text = {0};
        bool has_gpu = true;
        for (size_t i = 0; i < job->case_count; i++) {
            has_gpu = has_gpu && fulcrum_report_has_gpu(job->cases[i]);
        }
        fulcrum_string_add(&text, "%.6g actors on each machine",
            fulcrum_report_field(machine, "run.actor_count"));
        if (has_gpu) {
            fulcrum_string_add(&text,
                ", %.6g GPU%s in use; watts of the system are of everything installed",
                gpus, gpus > 1.0 ? "s" : "");
        }
        fulcrum_html_element(out, "p class=\"run\"", "%s", fulcrum_string_get(&text));
        fulcrum_string_clear(&text);
        fulcrum_report_table(machine_rows(job), job->cases[0],
            (struct fulcrum_html_view){.caption = "The machines in short",
                .columns =
                    "machine=machine;steps_per_s=steps;"
                    "steps_per_j_system=steps, system;bottleneck=held back by;"
                    "cpu_gpu_ratio_used:value=CPU/GPU ratio;best_ratio=best ratio"},
            out);
        (void)fputs("<ul class=\"words\">\n", out);
        write_winner(job, "steps_per_s", "Throughput", out);
        write_winner(job, "steps_per_j_gpu", "Performance per GPU watt", out);
        write_winner(job, "steps_per_j_system", "Performance per system watt", out);
        (void)fputs("</ul>\n", out);
    } else {
        write_run(machine, out);
        struct fulcrum_cell steps = fulcrum_report_output(machine, "steps_per_s");
        double agree =
            fulcrum_result_number_of(machine->point, "bottleneck_agree_frac");
        char now[FULCRUM_QUANTITY_SIZE];
        char detail[100] = "";
        (void)fputs("<dl class=\"cards\">\n", out);
        write_value_card("Steps per second", steps, "", "", out);
        if (isfinite(agree) && isfinite(steps.lo)) {
            (void)snprintf(detail, sizeof detail, "in %.0f %% of draws", 100.0 * agree);
        }
        write_card("Held back by", bottleneck_of(machine)->short_words, detail, out);
        write_value_card("The whole training",
            fulcrum_report_output(machine, "runtime_s"), "s", "", out);
        fulcrum_quantity_words(
            fulcrum_report_output(machine, "cpu_gpu_ratio_used").number, "", now);
        (void)snprintf(detail, sizeof detail, "for steps per joule; here %s", now);
        write_value_card("Best CPU/GPU ratio", balance_of(machine), "", detail, out);
        write_value_card("Power behind the plug",
            fulcrum_report_output(machine, "system_w"), "W", "", out);
        write_value_card("Steps per joule, whole system",
            fulcrum_report_output(machine, "steps_per_j_system"), "", "", out);
        (void)fputs("</dl>\n", out);
        (void)fputs("<ul class=\"words\">\n", out);
        write_speed(machine, out);
        write_balance(machine, out);
        write_changes(machine, out);
        (void)fputs("</ul>\n", out);
    }
    (void)fputs("</section>\n", out);
}

const struct fulcrum_report_section fulcrum_report_summary = {
    .id = "summary",
    .title = "Summary",
    .scope = FULCRUM_REPORT_ALL,
    .write = write_summary,
};

/* Each metric in a table of its own: a dot needs the width of a phone. */
static void write_machines(struct fulcrum_report_case *machine, FILE *out)
{
    static const struct metric {
        const char *output;
        const char *caption;
        const char *title;
    } metrics[] = {
        {"steps_per_s", "Throughput, steps per second", "steps"},
        {"steps_per_j_gpu", "Performance per GPU watt, steps per joule", "steps"},
        {"steps_per_j_system", "Performance per system watt, steps per joule", "steps"},
        {"runtime_s", "The whole training", "time"},
        {"system_w", "Power behind the plug", "power"},
    };
    struct fulcrum_result *rows = machine_rows(machine->job);
    const struct fulcrum_table *table = fulcrum_result_table_of(rows, "rows");
    (void)fputs("<p>The same workload, actors and settings on each machine. Dots are "
                "predictions, lines their 90 % intervals, from zero at the left. The "
                "intervals of two machines share much of what is uncertain: that they "
                "overlap does not say that the machines are alike.</p>\n",
        out);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const char *key = metrics[i].output;
        /* From zero to the largest end of any interval. */
        double most = 0.0;
        for (size_t j = 0; table != NULL && j < fulcrum_table_rows(table); j++) {
            struct fulcrum_cell cell = fulcrum_table_at(table, j, key);
            most = fmax(most, fmax(isfinite(cell.number) ? cell.number : 0.0,
                                  isfinite(cell.hi) ? cell.hi : 0.0));
        }
        char columns[200];
        (void)snprintf(columns, sizeof columns,
            "machine=machine;%s:0:%.17g=from zero;%s=%s", key, most, key,
            metrics[i].title);
        if (most > 0.0) {
            (void)fulcrum_html_table(out, table,
                &(struct fulcrum_html_view){
                    .caption = metrics[i].caption, .columns = columns});
        }
    }
    fulcrum_report_table(rows, NULL,
        (struct fulcrum_html_view){.caption = "What the machines are",
            .columns = "machine=machine;bottleneck=held back by;thread_count=threads;"
                       "gpu_count=GPUs in use;"
                       "cpu_gpu_ratio_used:value=CPU/GPU ratio in use;"
                       "cpu_gpu_ratio_machine:value=of the whole machine"},
        out);
}

const struct fulcrum_report_section fulcrum_report_machines = {
    .id = "machines",
    .title = "Machines compared",
    .scope = FULCRUM_REPORT_SEVERAL,
    .write = write_machines,
};
