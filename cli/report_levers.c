/* report_levers.c - what would change most: one thing at a time, made twice as good. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each lever is a sweep of two points, the design and the design with one field
 * changed, compared draw by draw: what both are uncertain of cancels. So the interval
 * is that of the change itself.
 */
#include "cli/report_levers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/html.h"
#include "cli/quantity_text.h"
#include "cli/report_section.h"

/* Where a lever has something to act on. */
enum reach { ANYWHERE, ON_ACTORS, ON_RESIDENTS, ON_GPUS };

static const struct lever {
    const char *path;
    double factor;
    const char *words;
    enum reach reach;
    int takes_actors_along;
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

/* A field that is not given, or is zero, has nothing to be changed. */
static int is_there(struct fulcrum_report_case *machine, const struct lever *lever)
{
    int is_resident = fulcrum_report_is_resident(machine);
    int is_reached = lever->reach == ANYWHERE ||
                     (lever->reach == ON_ACTORS && !is_resident) ||
                     (lever->reach == ON_RESIDENTS && is_resident) ||
                     (lever->reach == ON_GPUS && fulcrum_report_has_gpu(machine));
    return is_reached && fulcrum_report_field(machine, lever->path) > 0.0;
}

/* Sweeps go upwards: the design is the second point where the lever makes less of it.
 */
static size_t place_of_design(const struct lever *lever)
{
    return lever->factor < 1.0 ? 1 : 0;
}

static int ask_levers(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_words *words)
{
    if (i >= LEVER_COUNT) {
        return 0;
    }
    const struct lever *lever = &lever_table[i];
    if (!is_there(machine, lever)) {
        fulcrum_words_add(words, "%s", "");
        return 1;
    }
    double value = fulcrum_report_field(machine, lever->path);
    int is_count = strstr(lever->path, "_count") != NULL;
    double changed =
        is_count ? fmax(1.0, round(value * lever->factor)) : value * lever->factor;
    fulcrum_words_add(words, "explore");
    fulcrum_words_add(words, "-v");
    fulcrum_words_add(words, "%s=%.17g,%.17g", lever->path, value, changed);
    fulcrum_words_add(words, "--relative-to");
    fulcrum_words_add(words, "%zu", place_of_design(lever));
    if (lever->takes_actors_along) {
        double actors = fulcrum_report_field(machine, "run.actor_count");
        fulcrum_words_add(words, "--actors-per-thread");
        fulcrum_words_add(words, "%.17g", actors / value);
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

size_t fulcrum_report_levers_read(struct fulcrum_report_case *machine,
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

/* Half as fast and twice as fast lie equally far from no change. */
static void write_lever(
    const struct fulcrum_report_lever *lever, double reach, FILE *out)
{
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

static enum fulcrum_status write_levers(struct fulcrum_report_job *job,
    struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err)
{
    static const char *const headings[] = {
        "changed alone", "from half to twice", "#throughput", "#per system watt"};
    struct fulcrum_report_lever found[FULCRUM_REPORT_QUESTIONS_MOST];
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, "levers");
    size_t count = fulcrum_report_levers_read(machine, found);
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
        write_lever(&found[i], log(2.0), out);
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
