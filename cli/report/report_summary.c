/* report_summary.c - the first screen of an HTML report: the answer in plain words. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/report/report_section.h"

struct fulcrum_report_lever {
    const char *words; /* "twice the actors"; static */
    double speedup;    /* above 0 */
    double lo;         /* NAN: no interval */
    double hi;
    double per_system_watt_rel; /* NAN: not known */
};

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
} lever_table[] = {
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

enum { LEVER_COUNT = sizeof lever_table / sizeof lever_table[0] };

/* Sweeps go upwards: the design is the second point where the lever makes less of it.
 */
static size_t place_of_design(const struct lever *lever)
{
    return lever->factor < 1.0 ? 1 : 0;
}

static int ask_levers(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (i >= LEVER_COUNT) {
        return 0;
    }
    const struct lever *lever = &lever_table[i];
    /* A field that is not given, or is zero, has nothing to be changed. */
    bool is_resident = fulcrum_report_is_resident(machine);
    bool is_reached = lever->reach == ANYWHERE ||
                      (lever->reach == ON_ACTORS && !is_resident) ||
                      (lever->reach == ON_RESIDENTS && is_resident) ||
                      (lever->reach == ON_GPUS && fulcrum_report_has_gpu(machine));
    bool is_there = is_reached && fulcrum_report_field(machine, lever->path) > 0.0;
    if (!is_there) {
        fulcrum_argv_text_add(words, "%s", "");
        return 1;
    }
    double value = fulcrum_report_field(machine, lever->path);
    bool is_count = strstr(lever->path, "_count") != NULL;
    double changed =
        is_count ? fmax(1.0, round(value * lever->factor)) : value * lever->factor;
    fulcrum_argv_text_add(words, "explore");
    fulcrum_argv_text_add(words, "-v");
    fulcrum_argv_text_add(words, "%s=%.17g,%.17g", lever->path, value, changed);
    fulcrum_argv_text_add(words, "--relative-to");
    fulcrum_argv_text_add(words, "%zu", place_of_design(lever));
    if (lever->takes_actors_along) {
        double actors = fulcrum_report_field(machine, "run.actor_count");
        fulcrum_argv_text_add(words, "--actors-per-thread");
        fulcrum_argv_text_add(words, "%.17g", actors / value);
    }
    return 1;
}

/* What came of one lever; 0 where there is nothing to tell. */
static int read_lever(
    struct fulcrum_reply *reply, size_t i, struct fulcrum_report_lever *out)
{
    struct fulcrum_node root = fulcrum_reply_root(reply);
    struct fulcrum_node points = fulcrum_node_member(&root, "points");
    size_t design = place_of_design(&lever_table[i]);
    struct fulcrum_node before = fulcrum_node_element(&points, design);
    struct fulcrum_node after = fulcrum_node_element(&points, 1 - design);
    double was = fulcrum_node_member_number(&before, "steps_per_j_system");
    double is = fulcrum_node_member_number(&after, "steps_per_j_system");
    *out = (struct fulcrum_report_lever){
        .words = lever_table[i].words,
        .speedup = fulcrum_node_member_number(&after, "speedup"),
        .lo = fulcrum_node_member_number(&after, "speedup_lo"),
        .hi = fulcrum_node_member_number(&after, "speedup_hi"),
        .per_system_watt_rel = was > 0.0 ? is / was : (double)NAN,
    };
    return isfinite(out->speedup) && out->speedup > 0.0;
}

static int compare(const void *a, const void *b)
{
    const struct fulcrum_report_lever *left = a;
    const struct fulcrum_report_lever *right = b;
    double left_size = fabs(log(left->speedup));
    double right_size = fabs(log(right->speedup));
    if (left_size > right_size || left_size < right_size) {
        return left_size < right_size ? 1 : -1;
    }
    return strcmp(left->words, right->words);
}

/* Those that were asked and answered, the one that changes most first. */
static size_t report_levers_read(struct fulcrum_report_case *machine,
    struct fulcrum_report_lever out[FULCRUM_REPORT_QUESTIONS_MOST])
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "levers");
    size_t count = 0;
    for (size_t i = 0; i < replies->count && i < LEVER_COUNT; i++) {
        count += read_lever(&replies->items[i], i, &out[count]) ? 1 : 0;
    }
    if (count > 0) {
        qsort(out, count, sizeof *out, compare);
    }
    return count;
}

static enum fulcrum_status write_levers(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const char *const headings[] = {
        "changed alone", "from half to twice", "#throughput", "#per system watt"};
    struct fulcrum_report_lever found[FULCRUM_REPORT_QUESTIONS_MOST];
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "levers");
    size_t count = report_levers_read(machine, found);
    (void)job;
    (void)err;
    (void)fputs(
        "<p>One thing at a time, everything else as it is: what it would do to the "
        "throughput. The interval is that of the change itself.</p>\n",
        out);
    fulcrum_html_table_begin(out,
        "Times the throughput of the design, largest change first", headings,
        sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < count; i++) {
        /* Half as fast and twice as fast lie equally far from no change. */
        const struct fulcrum_report_lever *lever = &found[i];
        double reach = log(2.0);
        char text[FULCRUM_QUANTITY_SIZE];
        char range[2 * FULCRUM_QUANTITY_SIZE];
        char label[4 * FULCRUM_QUANTITY_SIZE];
        fulcrum_factor_words(lever->speedup, text);
        fulcrum_factor_range_words(lever->lo, lever->hi, range);
        (void)snprintf(label, sizeof label, "%.60s times, %.120s", text, range);
        const struct fulcrum_whisker whisker = {.value = log(lever->speedup),
            .lo = lever->lo > 0.0 ? log(lever->lo) : (double)NAN,
            .hi = lever->hi > 0.0 ? log(lever->hi) : (double)NAN,
            .least = -reach,
            .most = reach,
            .mark = 0.0};
        fulcrum_html_row_begin(out, lever->words);
        fulcrum_html_cell_whisker(out, &whisker, label);
        fulcrum_html_cell_value(out, text, range);
        fulcrum_factor_words(lever->per_system_watt_rel, text);
        fulcrum_html_cell_number(out, text);
        fulcrum_html_row_end(out);
    }
    fulcrum_html_table_end(out);
    size_t made = 0;
    while (made < replies->count && replies->items[made].document == NULL) {
        made++;
    }
    if (made < replies->count) {
        fulcrum_report_made_with(&replies->items[made], out);
        (void)fputs("<p class=\"made\">and so on for each line.</p>\n", out);
    }
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_levers = {
    .id = "levers",
    .title = "What would change most",
    .scope = FULCRUM_REPORT_EACH,
    .ask = ask_levers,
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
    {"latency", "waiting",
        "Nothing is busy all the time: each actor waits for its batch, the host and "
        "the "
        "learner in turn. More actors would hide that."},
};

static const struct bottleneck *bottleneck_of(struct fulcrum_report_case *machine)
{
    char name[32];
    fulcrum_reply_text(
        fulcrum_report_predicted(machine), "bottleneck", name, sizeof name);
    size_t count = sizeof bottlenecks / sizeof bottlenecks[0];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(bottlenecks[i].name, name) == 0) {
            return &bottlenecks[i];
        }
    }
    return &bottlenecks[count - 1];
}

static void write_card(
    const char *what, const char *value, const char *detail, FILE *out)
{
    (void)fputs("<div><dt>", out);
    fulcrum_html_text(out, what);
    (void)fputs("</dt><dd><strong>", out);
    fulcrum_html_text(out, value);
    (void)fputs("</strong>", out);
    if (detail[0] != '\0') {
        (void)fputs("<span>", out);
        fulcrum_html_text(out, detail);
        (void)fputs("</span>", out);
    }
    (void)fputs("</dd></div>\n", out);
}

/* A card of one output with its interval; none where the output is not known. */
static void write_output_card(struct fulcrum_report_case *machine, const char *what,
    const char *name, const char *unit, FILE *out)
{
    struct fulcrum_report_output output = fulcrum_report_output_of(machine, name);
    char value[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    char detail[200] = "";
    if (!isfinite(output.value)) {
        return;
    }
    fulcrum_quantity_words(output.value, unit, value);
    fulcrum_range_words(output.lo, output.hi, output.value, unit, range);
    if (range[0] != '\0') {
        (void)snprintf(detail, sizeof detail, "90 %%: %s", range);
    }
    write_card(what, value, detail, out);
}

/*
 * The balance: where performance per system watt is best, or throughput without watts.
 * 0 where no ratio was swept, or there is none.
 */
static int read_balance(
    struct fulcrum_report_case *machine, struct fulcrum_report_best *out)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "ratio");
    struct fulcrum_report_best best;
    enum fulcrum_report_axis axis = FULCRUM_REPORT_AXIS_RATIO;
    size_t count = 0;
    while (replies->count > 0 &&
           fulcrum_report_best_read(&replies->items[0], count, &axis, &best)) {
        *out = best;
        count++;
    }
    return count > 0 && axis == FULCRUM_REPORT_AXIS_RATIO;
}

static void write_ratio_card(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_best best;
    char at[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    char now[FULCRUM_QUANTITY_SIZE];
    char detail[300];
    if (!read_balance(machine, &best)) {
        return;
    }
    fulcrum_number_words(best.at, 2, at);
    fulcrum_range_words(best.at_lo, best.at_hi, best.at, "", range);
    fulcrum_number_words(
        fulcrum_report_output_of(machine, "cpu_gpu_ratio_used").value, 2, now);
    (void)snprintf(detail, sizeof detail, "%s%s%sfor steps per joule; here %s",
        range[0] != '\0' ? "90 %: " : "", range, range[0] != '\0' ? "; " : "", now);
    write_card("Best CPU/GPU ratio", at, detail, out);
}

static void write_cards(struct fulcrum_report_case *machine, FILE *out)
{
    (void)fputs("<dl class=\"cards\">\n", out);
    write_output_card(machine, "Steps per second", "steps_per_s", "", out);
    double agree = fulcrum_reply_number(
        fulcrum_report_predicted(machine), "bottleneck_agree_frac");
    struct fulcrum_report_output steps =
        fulcrum_report_output_of(machine, "steps_per_s");
    char detail[80] = "";
    if (isfinite(agree) && isfinite(steps.lo)) {
        (void)snprintf(detail, sizeof detail, "in %.0f %% of draws", 100.0 * agree);
    }
    write_card("Held back by", bottleneck_of(machine)->short_words, detail, out);
    write_output_card(machine, "The whole training", "runtime_s", "s", out);
    write_ratio_card(machine, out);
    write_output_card(machine, "Power behind the plug", "system_w", "W", out);
    write_output_card(
        machine, "Steps per joule, whole system", "steps_per_j_system", "", out);
    (void)fputs("</dl>\n", out);
}

/* "40 actors on 40 threads, 1 of 8 GPUs" */
static void write_run(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_reply *predicted = fulcrum_report_predicted(machine);
    char calibration[200];
    double envs = fulcrum_reply_number(predicted, "envs_per_actor");
    fulcrum_reply_text(predicted, "calibration", calibration, sizeof calibration);
    (void)fputs("<p class=\"run\">", out);
    if (fulcrum_report_is_resident(machine)) {
        fulcrum_html_print(out, "%.6g environments on each GPU, ",
            fulcrum_report_field(machine, "workload.simulation.env_count"));
    } else {
        fulcrum_html_print(
            out, "%.6g actors", fulcrum_reply_number(predicted, "actor_count"));
        if (envs > 1.0) {
            fulcrum_html_print(out, " with %.6g environments each", envs);
        }
        fulcrum_html_print(out, " on %.6g CPU threads, ",
            fulcrum_report_field(machine, "machine.cpu.thread_count"));
    }
    if (fulcrum_report_has_gpu(machine)) {
        fulcrum_html_print(out, "%.6g of %.6g GPUs with %.6g SMs in use",
            fulcrum_reply_number(predicted, "gpu_count"),
            fulcrum_report_field(machine, "machine.gpu.count"),
            fulcrum_reply_number(predicted, "sm_count"));
    } else {
        fulcrum_html_print(out, "%.6g learner cores",
            fulcrum_report_field(machine, "machine.learner_core_count"));
    }
    fulcrum_html_print(out, "; calibration %s", calibration);
    (void)fputs("</p>\n", out);
}

static void write_speed(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_output steps =
        fulcrum_report_output_of(machine, "steps_per_s");
    struct fulcrum_report_output runtime =
        fulcrum_report_output_of(machine, "runtime_s");
    char rate[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    char time[FULCRUM_QUANTITY_SIZE];
    fulcrum_number_words(steps.value, 3, rate);
    fulcrum_range_words(steps.lo, steps.hi, steps.value, "", range);
    fulcrum_quantity_words(runtime.value, "s", time);
    (void)fputs("<li>", out);
    fulcrum_html_print(out, "%s makes %s steps a second", machine->name, rate);
    if (range[0] != '\0') {
        fulcrum_html_print(out, " (90 %%: %s)", range);
    }
    if (isfinite(runtime.value)) {
        fulcrum_html_print(out, ", so that the whole training takes %s", time);
    }
    fulcrum_html_print(out, ". %s", bottleneck_of(machine)->words);
    (void)fputs("</li>\n", out);
}

/* One sentence for each metric. */
static void write_balance(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "ratio");
    struct fulcrum_report_best best;
    enum fulcrum_report_axis axis = FULCRUM_REPORT_AXIS_RATIO;
    if (replies->count == 0 ||
        !fulcrum_report_best_read(&replies->items[0], 0, &axis, &best)) {
        return;
    }
    const char *words =
        axis == FULCRUM_REPORT_AXIS_RATIO ? "a CPU/GPU ratio of" : "a thread count of";
    (void)fputs("<li>With other numbers of CPU threads, and as many actors as serve "
                "them best, ",
        out);
    for (size_t i = 0; fulcrum_report_best_read(&replies->items[0], i, &axis, &best);
         i++) {
        char text[500];
        fulcrum_report_best_words(&best, words, text, sizeof text);
        fulcrum_html_print(out, "%s%s %s", i > 0 ? "; " : "", best.metric, text);
    }
    double here = fulcrum_report_output_of(machine, "cpu_gpu_ratio_used").value;
    if (isfinite(here)) {
        fulcrum_html_print(out, ". Here it is %.3g", here);
    }
    (void)fputs(".</li>\n", out);
}

/* The three changes that would do most. */
static void write_changes(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_lever levers[FULCRUM_REPORT_QUESTIONS_MOST];
    size_t count = report_levers_read(machine, levers);
    if (count == 0) {
        return;
    }
    (void)fputs("<li>What would change most: ", out);
    for (size_t i = 0; i < count && i < 3; i++) {
        char times[FULCRUM_QUANTITY_SIZE];
        char range[2 * FULCRUM_QUANTITY_SIZE];
        fulcrum_factor_words(levers[i].speedup, times);
        fulcrum_factor_range_words(levers[i].lo, levers[i].hi, range);
        fulcrum_html_print(out, "%s%s, %s times the throughput", i > 0 ? "; " : "",
            levers[i].words, times);
        if (range[0] != '\0') {
            fulcrum_html_print(out, " (90 %%: %s)", range);
        }
    }
    (void)fputs(".</li>\n", out);
}

/* Several machines: which one is ahead, and by how much. */
static void write_winner(
    struct fulcrum_report_job *job, const char *output, const char *words, FILE *out)
{
    size_t first = 0;
    double most = -1.0;
    double least = INFINITY;
    for (size_t i = 0; i < job->case_count; i++) {
        double value = fulcrum_report_output_of(job->cases[i], output).value;
        if (!isfinite(value)) {
            return;
        }
        first = value > most ? i : first;
        most = fmax(most, value);
        least = fmin(least, value);
    }
    char times[FULCRUM_QUANTITY_SIZE];
    fulcrum_factor_words(most / least, times);
    (void)fputs("<li>", out);
    fulcrum_html_print(out, "%s: %s is ahead, with %s times that of the last.", words,
        job->cases[first]->name, times);
    (void)fputs("</li>\n", out);
}

/* The best CPU/GPU ratio of one machine in a cell, empty where there is none. */
static void write_ratio_cell(struct fulcrum_report_case *machine, FILE *out)
{
    struct fulcrum_report_best best;
    char at[FULCRUM_QUANTITY_SIZE] = "";
    char range[2 * FULCRUM_QUANTITY_SIZE] = "";
    if (read_balance(machine, &best)) {
        fulcrum_number_words(best.at, 2, at);
        fulcrum_range_words(best.at_lo, best.at_hi, best.at, "", range);
    }
    fulcrum_html_cell_value(out, at, range);
}

static void write_machine_row(struct fulcrum_report_case *machine, FILE *out)
{
    static const char *const outputs[] = {"steps_per_s", "steps_per_j_system"};
    fulcrum_html_row_begin(out, machine->name);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        struct fulcrum_report_output output =
            fulcrum_report_output_of(machine, outputs[i]);
        char value[FULCRUM_QUANTITY_SIZE];
        char range[2 * FULCRUM_QUANTITY_SIZE];
        fulcrum_quantity_words(output.value, "", value);
        fulcrum_range_words(output.lo, output.hi, output.value, "", range);
        fulcrum_html_cell_value(out, value, range);
    }
    fulcrum_html_cell(out, bottleneck_of(machine)->short_words);
    char here[FULCRUM_QUANTITY_SIZE];
    fulcrum_number_words(
        fulcrum_report_output_of(machine, "cpu_gpu_ratio_used").value, 2, here);
    fulcrum_html_cell_number(out, here);
    write_ratio_cell(machine, out);
    fulcrum_html_row_end(out);
}

static void write_machines(struct fulcrum_report_job *job, FILE *out)
{
    static const char *const headings[] = {"machine", "#steps/s", "#steps/J, system",
        "held back by", "#CPU/GPU ratio", "#best ratio"};
    char caption[FULCRUM_REPORT_CAPTION_SIZE];
    fulcrum_html_table_begin(out,
        fulcrum_report_caption(job->cases[0], "The machines in short", caption),
        headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < job->case_count; i++) {
        write_machine_row(job->cases[i], out);
    }
    fulcrum_html_table_end(out);
    (void)fputs("<ul class=\"words\">\n", out);
    write_winner(job, "steps_per_s", "Throughput", out);
    write_winner(job, "steps_per_j_gpu", "Performance per GPU watt", out);
    write_winner(job, "steps_per_j_system", "Performance per system watt", out);
    (void)fputs("</ul>\n", out);
}

static enum fulcrum_status write_summary(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    (void)err;
    (void)fputs("<section class=\"summary\" aria-label=\"Summary\">\n", out);
    if (job->case_count > 1) {
        /* What all machines have in common. */
        double actors = fulcrum_report_field(job->cases[0], "run.actor_count");
        double gpus = fulcrum_report_field(job->cases[0], "run.gpu_count");
        bool has_gpu = fulcrum_report_has_gpu(job->cases[0]);
        for (size_t i = 1; i < job->case_count; i++) {
            has_gpu = has_gpu && fulcrum_report_has_gpu(job->cases[i]);
        }
        (void)fputs("<p class=\"run\">", out);
        fulcrum_html_print(out, "%.6g actors on each machine", actors);
        if (has_gpu) {
            fulcrum_html_print(out,
                ", %.6g GPU%s in use; watts of the system are of "
                "everything installed",
                gpus, gpus > 1.0 ? "s" : "");
        }
        (void)fputs("</p>\n", out);
        write_machines(job, out);
    } else {
        write_run(machine, out);
        write_cards(machine, out);
        (void)fputs("<ul class=\"words\">\n", out);
        write_speed(machine, out);
        write_balance(machine, out);
        write_changes(machine, out);
        (void)fputs("</ul>\n", out);
    }
    (void)fputs("</section>\n", out);
    return FULCRUM_OK;
}

const struct fulcrum_report_section fulcrum_report_summary = {
    .id = "summary",
    .title = "Summary",
    .scope = FULCRUM_REPORT_ALL,
    .write = write_summary,
};
