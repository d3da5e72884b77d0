/* report_section.c - the sections of an HTML report, and what they ask. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* What was answered about a machine. */

struct fulcrum_report_replies *fulcrum_report_replies_of(
    struct fulcrum_report_case *machine, const char *section)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    size_t i = 0;
    while (sections[i] != NULL && strcmp(sections[i]->id, section) != 0) {
        i++;
    }
    return &machine->sections[i]; /* the place after the last one stays empty */
}

struct fulcrum_result *fulcrum_report_first(
    struct fulcrum_report_case *machine, const char *section)
{
    return fulcrum_report_replies_of(machine, section)->items[0].result;
}

struct fulcrum_reply *fulcrum_report_predicted(struct fulcrum_report_case *machine)
{
    return &fulcrum_report_replies_of(machine, "prediction")->items[0];
}

const struct fulcrum_result *fulcrum_report_point(struct fulcrum_report_case *machine)
{
    return fulcrum_report_predicted(machine)->result;
}

struct fulcrum_cell fulcrum_report_output(
    struct fulcrum_report_case *machine, const char *name)
{
    const struct fulcrum_item *item =
        fulcrum_result_find(fulcrum_report_point(machine), name);
    return item != NULL
               ? item->cell
               : (struct fulcrum_cell){(double)NAN, (double)NAN, (double)NAN, NULL};
}

static struct fulcrum_cell field_of(
    struct fulcrum_report_case *machine, const char *path)
{
    const struct fulcrum_table *inputs =
        fulcrum_result_table_of(fulcrum_report_point(machine), "inputs");
    size_t i = 0;
    while (i < fulcrum_table_rows(inputs) &&
           strcmp(fulcrum_table_at(inputs, i, "field").text, path) != 0) {
        i++;
    }
    return fulcrum_table_at(inputs, i, "value");
}

double fulcrum_report_field(struct fulcrum_report_case *machine, const char *path)
{
    return field_of(machine, path).number;
}

const char *fulcrum_report_field_text(
    struct fulcrum_report_case *machine, const char *path)
{
    const char *text = field_of(machine, path).text;
    return text != NULL ? text : "";
}

bool fulcrum_report_is_resident(struct fulcrum_report_case *machine)
{
    const char *device =
        fulcrum_report_field_text(machine, "workload.simulation.device");
    return strcmp(device, "gpu") == 0;
}

bool fulcrum_report_has_gpu(struct fulcrum_report_case *machine)
{
    return isfinite(
        fulcrum_result_number_of(fulcrum_report_point(machine), "gpu_count"));
}

void fulcrum_report_words(struct fulcrum_argv_text *words, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " ");
        fulcrum_argv_text_add(words, "%.*s", (int)length, at);
        at += length + strspn(at + length, " ");
    }
}

/* Where a sweep is best. */

bool fulcrum_report_best_read(const struct fulcrum_result *sweep, size_t i,
    bool wants_ratio, struct fulcrum_report_best *out)
{
    const struct fulcrum_table *optima = fulcrum_result_table_of(sweep, "optima");
    if (optima == NULL || i >= fulcrum_table_rows(optima)) {
        return false;
    }
    bool is_ratio =
        wants_ratio && isfinite(fulcrum_table_at(optima, i, "best_ratio").number);
    *out = (struct fulcrum_report_best){
        .metric = fulcrum_table_at(optima, i, "metric").text,
        .shape = fulcrum_table_at(optima, i, "shape").text,
        .at = fulcrum_table_at(optima, i, is_ratio ? "best_ratio" : "best"),
        .from = fulcrum_table_at(
            optima, i, is_ratio ? "plateau_first_ratio" : "plateau_first"),
        .to = fulcrum_table_at(
            optima, i, is_ratio ? "plateau_last_ratio" : "plateau_last")
                  .number,
        .is_ratio = is_ratio};
    return out->shape != NULL;
}

/* "0.7 (90 %: 0.6 to 1.2)" */
static void add_value(struct fulcrum_string *out, const struct fulcrum_cell *cell)
{
    char number[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(cell->number, "", number);
    fulcrum_range_words(cell->lo, cell->hi, (double)NAN, "", range);
    fulcrum_string_add(out, range[0] != '\0' ? "%s (90 %%: %s)" : "%s", number, range);
}

void fulcrum_report_best_words(const struct fulcrum_report_best *best, const char *axis,
    struct fulcrum_string *out)
{
    char at[FULCRUM_QUANTITY_SIZE];
    char from[FULCRUM_QUANTITY_SIZE];
    char to[FULCRUM_QUANTITY_SIZE];
    fulcrum_quantity_words(best->at.number, "", at);
    fulcrum_quantity_words(best->from.number, "", from);
    fulcrum_quantity_words(best->to, "", to);
    if (strcmp(best->shape, "optimum") == 0) {
        fulcrum_string_add(out, "is best at %s ", axis);
        add_value(out, &best->at);
        fulcrum_string_add(out, ", and within 5 %% of that from %s to %s", from, to);
    } else if (strcmp(best->shape, "plateau-to-last") == 0) {
        fulcrum_string_add(out, "comes within 5 %% of its best at %s ", axis);
        add_value(out, &best->from);
    } else if (strcmp(best->shape, "rises") == 0) {
        fulcrum_string_add(out, "still rises at %s %s, where the sweep ends", axis, at);
    } else if (strcmp(best->shape, "falls") == 0) {
        fulcrum_string_add(out, "falls from %s %s, where the sweep begins", axis, at);
    } else if (strcmp(best->shape, "plateau-from-first") == 0) {
        fulcrum_string_add(out, "stays within 5 %% of its best up to %s %s", axis, to);
    } else {
        fulcrum_string_add(
            out, "changes by less than 5 %% from %s %s to %s", axis, from, to);
    }
}

/* A row for each metric; nothing where the sweep has no best. */
static void tell_best(
    const struct fulcrum_result *sweep, bool wants_ratio, const char *axis, FILE *out)
{
    struct fulcrum_report_best best;
    struct fulcrum_string caption = {0};
    struct fulcrum_result *found = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(found, "rows", NULL);
    for (size_t i = 0; fulcrum_report_best_read(sweep, i, wants_ratio, &best); i++) {
        if (i == 0) {
            bool is_other = wants_ratio && !best.is_ratio;
            fulcrum_string_add(&caption, "Where it is best, by %s%s",
                is_other ? "number of threads" : axis,
                isfinite(best.at.lo) ? ", with 90 % intervals" : "");
        }
        fulcrum_table_row(table);
        fulcrum_table_text(table, "metric", NULL, best.metric);
        fulcrum_table_estimate(
            table, "at", NULL, best.at.number, best.at.lo, best.at.hi);
        fulcrum_table_estimate(
            table, "from", NULL, best.from.number, best.from.lo, best.from.hi);
        fulcrum_table_number(table, "to", NULL, best.to);
    }
    fulcrum_report_table(found, NULL,
        (struct fulcrum_html_view){.caption = fulcrum_string_get(&caption),
            .columns = "metric=best of;at=at;from=within 5 % from;to=to"},
        out);
    fulcrum_string_clear(&caption);
}

static void tell_best_ratio(const struct fulcrum_result *sweep, FILE *out)
{
    tell_best(sweep, true, "CPU/GPU ratio", out);
}

static void tell_best_actors(const struct fulcrum_result *sweep, FILE *out)
{
    tell_best(sweep, false, "number of actors", out);
}

/* What is asked. */

enum { VALUES_MOST = 40 };

/* The values of an axis under way: rising, each once. */
struct values {
    double items[VALUES_MOST];
    size_t count;
};

/* Keeps the order; what is there already is left out. */
static void add_value_once(struct values *values, double value)
{
    size_t at = values->count;
    while (at > 0 && values->items[at - 1] > value - 0.5) {
        at--;
    }
    if (values->count == VALUES_MOST ||
        (at < values->count && values->items[at] < value + 0.5)) {
        return;
    }
    memmove(&values->items[at + 1], &values->items[at],
        (values->count - at) * sizeof values->items[0]);
    values->items[at] = value;
    values->count++;
}

/* "explore -v PATH=A,B,C". */
static void add_axis(
    struct fulcrum_argv_text *words, const char *path, const struct values *values)
{
    struct fulcrum_string list = {0};
    for (size_t i = 0; i < values->count; i++) {
        fulcrum_string_add(&list, "%s%.0f", i > 0 ? "," : "", values->items[i]);
    }
    fulcrum_report_words(words, "explore -v %s=%s", path, fulcrum_string_get(&list));
    fulcrum_string_clear(&list);
}

/* Whether there are actors on threads whose numbers could be others. */
static bool has_actors(struct fulcrum_report_case *machine)
{
    return fulcrum_report_field(machine, "machine.cpu.thread_count") > 0.0 &&
           !fulcrum_report_is_resident(machine);
}

/* A whole number of cores' threads, and no fewer than one core has. */
static double whole_threads(struct fulcrum_report_case *machine, double threads)
{
    double cores = fulcrum_report_field(machine, "machine.cpu.core_count");
    double all = fulcrum_report_field(machine, "machine.cpu.thread_count");
    double per_core = cores > 0.0 && all >= cores ? round(all / cores) : 1.0;
    return fmax(per_core, per_core * round(threads / per_core));
}

/* Ratios from 1/16 to 4, half an octave apart: those of machines there are, and well
 * past the knee. Without GPUs there are no SMs: the threads themselves, 1/8 to 8-fold.
 */
static struct values ratio_threads(struct fulcrum_report_case *machine)
{
    double sms = fulcrum_report_field(machine, "run.sm_count") *
                 fulcrum_report_field(machine, "run.gpu_count");
    double threads = fulcrum_report_field(machine, "machine.cpu.thread_count");
    bool has_gpu = fulcrum_report_has_gpu(machine) && sms > 0.0;
    double unit = has_gpu ? sms : threads;
    int first = has_gpu ? -8 : -6;
    int last = has_gpu ? 4 : 6;
    /* A learner on cores leaves the actors at least one more. */
    double taken =
        has_gpu ? 0.0 : fulcrum_report_field(machine, "machine.learner_core_count");
    double least = whole_threads(machine, 1.0) * (taken + 1.0);
    struct values values = {.count = 0};
    for (int i = first; i <= last; i++) {
        add_value_once(
            &values, fmax(least, whole_threads(machine, unit * pow(2.0, i / 2.0))));
    }
    add_value_once(&values, threads);
    return values;
}

/*
 * From too few actors to hide anything, a fifth of the SMs, in numbers that the GPUs
 * can share; 64 times as many are far more than enough.
 */
static double actors_least(struct fulcrum_report_case *machine)
{
    bool has_gpu = fulcrum_report_has_gpu(machine);
    double gpus = has_gpu ? fulcrum_report_field(machine, "run.gpu_count") : 1.0;
    double unit = has_gpu ? fulcrum_report_field(machine, "run.sm_count") / 5.0
                          : fulcrum_report_field(machine, "machine.cpu.thread_count");
    return gpus * pow(2.0, fmax(0.0, round(log2(unit))));
}

static bool ask_ratio(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    (void)i;
    struct values values = ratio_threads(machine);
    double least = actors_least(machine);
    add_axis(words, "machine.cpu.thread_count", &values);
    /*
     * Each point takes the fastest number of actors: with that of the design the best
     * ratio would be the actors' and not the machine's.
     */
    fulcrum_report_words(words, "--best-actors %.0f:%.0f:x2", least, 64.0 * least);
    return true;
}

/* A sixteenth to sixteen times as many, in numbers that the GPUs can share. */
static bool ask_actors(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    const int octaves = 4;
    double actors = fulcrum_report_field(machine, "run.actor_count");
    double gpus = fulcrum_report_has_gpu(machine)
                      ? fulcrum_report_field(machine, "run.gpu_count")
                      : 1.0;
    (void)i;
    if (!(actors > 0.0) || !(gpus > 0.0)) {
        return false;
    }
    struct values values = {.count = 0};
    for (int k = -octaves; k <= octaves; k++) {
        double wanted = actors * pow(2.0, k);
        add_value_once(&values, gpus * fmax(1.0, round(wanted / gpus)));
    }
    add_axis(words, "run.actor_count", &values);
    return true;
}

/* Both at once: equations only, as colours show no more than their errors. */
static bool ask_plane(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    (void)i;
    struct values across = ratio_threads(machine);
    double least = actors_least(machine);
    add_axis(words, "machine.cpu.thread_count", &across);
    fulcrum_report_words(words,
        "-v run.actor_count=%.0f:%.0f:x2 --intervals none --method fast", least,
        64.0 * least);
    return true;
}

/* From a sixteenth of the SMs to all of them, compared with all. */
static bool ask_sms(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    static const double shares[] = {
        1.0 / 16.0, 1.0 / 8.0, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0};
    double sms = fulcrum_report_field(machine, "run.sm_count");
    (void)i;
    if (!(sms >= 2.0)) {
        return false;
    }
    struct values values = {.count = 0};
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
        add_value_once(&values, fmax(1.0, round(sms * shares[k])));
    }
    add_axis(words, "run.sm_count", &values);
    fulcrum_report_words(words, "--relative-to %zu", values.count - 1);
    return true;
}

static bool has_actors_on_gpu(struct fulcrum_report_case *machine)
{
    return fulcrum_report_has_gpu(machine) && !fulcrum_report_is_resident(machine);
}

static bool is_not_resident(struct fulcrum_report_case *machine)
{
    return !fulcrum_report_is_resident(machine);
}

/* Components made ideal, then other caches and bandwidths. */
static bool ask_memory(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    (void)machine;
    fulcrum_report_words(
        words, i == 0 ? "memory" : "memory --cache 1,4,16 --bandwidth 1,1.6");
    return i < 2;
}

/*
 * How many GPUs the machine's links reach: those of the machine itself, or of many. 1
 * where nothing is known of links, or nothing is trained.
 */
static double gpus_in_reach(struct fulcrum_report_case *machine)
{
    const double many = 256.0;
    double gpus = fulcrum_report_field(machine, "machine.gpu.count");
    int trains = fulcrum_report_field(machine, "workload.training.train_step_s") > 0.0;
    bool has_peers =
        fulcrum_report_field(machine, "machine.link.peer_byte_per_s") > 0.0;
    bool has_network =
        fulcrum_report_field(machine, "machine.link.network_byte_per_s") > 0.0;
    if (!fulcrum_report_has_gpu(machine) || !trains || !has_peers) {
        return 1.0;
    }
    return has_network ? many : gpus;
}

static bool ask_cluster(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    double most = gpus_in_reach(machine);
    (void)i;
    if (!(most > 1.0)) {
        return false;
    }
    fulcrum_report_words(words, "cluster --devices 1:%.0f:x2", most);
    if (fulcrum_report_is_resident(machine)) {
        fulcrum_report_words(words, "--steps-alone");
    } else {
        double actors = fulcrum_report_field(machine, "run.actor_count");
        double gpus = fulcrum_report_field(machine, "run.gpu_count");
        fulcrum_report_words(
            words, "--actors-per-gpu %.0f", fmax(1.0, round(actors / fmax(gpus, 1.0))));
    }
    return true;
}

/* All GPUs of a small machine, doublings of a large one. */
static bool ask_node(
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    const double few = 8.0;
    double gpus = fulcrum_report_field(machine, "machine.gpu.count");
    (void)i;
    if (!(gpus > 1.0)) {
        return false;
    }
    fulcrum_report_words(words, "node --gpus 1:%.0f:%s --actors-per-thread 6.4", gpus,
        gpus > few ? "x2" : "1");
    return true;
}

/* Sections. */

#define FIGURE(words, holds, drawn, wide, narrow)                                      \
    .figure = {.label = (words),                                                       \
        .content = (holds),                                                            \
        .chart = (drawn),                                                              \
        .height_pt = (wide),                                                           \
        .narrow_height_pt = (narrow)}

static const struct fulcrum_report_section ratio_section = {
    .id = "ratio",
    .title = "CPU/GPU ratio",
    .when = has_actors,
    .ask = ask_ratio,
    .text = "The ratio is that of hardware threads to the SMs in use. Here the threads "
            "change and the GPUs do not; each point has as many actors as make it "
            "fastest.",
    FIGURE("Throughput and performance per watt against the CPU/GPU ratio",
        FULCRUM_PLOT_SWEEP, &fulcrum_chart_ratio, 500.0, 480.0),
    .tell = tell_best_ratio,
};

static const struct fulcrum_report_section actors_section = {
    .id = "actors",
    .title = "Number of actors",
    .when = has_actors,
    .ask = ask_actors,
    .text = "The machine stays as it is; more actors hide the time that each one "
            "waits, until something is busy all the time.",
    FIGURE("Runtime, watts and performance per watt against the number of actors",
        FULCRUM_PLOT_SWEEP, &fulcrum_chart_actors, 500.0, 500.0),
    .tell = tell_best_actors,
};

static const struct fulcrum_report_section plane_section = {
    .id = "plane",
    .title = "Threads and actors together",
    .when = has_actors,
    .ask = ask_plane,
    .text = "Threads hide nothing without actors, nor actors without threads: lines "
            "are shares of the best.",
    FIGURE("Throughput over CPU threads and actors", FULCRUM_PLOT_SWEEP,
        &fulcrum_chart_heat, 420.0, 360.0),
};

static const struct fulcrum_report_section node_section = {
    .id = "node",
    .title = "More GPUs in this machine",
    .when = has_actors_on_gpu,
    .ask = ask_node,
    .text = "More GPUs share the threads that there are, with 6.4 actors a thread. The "
            "threads for 95 % are the fewest with so much of what any number of "
            "threads would give.",
    FIGURE("Throughput and performance per watt against the GPUs in use",
        FULCRUM_PLOT_NODE, &fulcrum_chart_node, 480.0, 480.0),
    .tables = {{"rows",
        {.caption = "One to all GPUs beside the same threads",
            .columns = "gpu_count=GPUs;cpu_gpu_ratio_used=CPU/GPU ratio;"
                       "steps_per_s=steps;steps_per_j_gpu=steps, GPUs;"
                       "steps_per_j_system=steps, system;"
                       "threads_needed=threads for 95 %;bottleneck=held back by",
            .where = "status",
            .is = "ok"}}},
};

static const struct fulcrum_report_section sms_section = {
    .id = "sms",
    .title = "SMs in use",
    .when = fulcrum_report_has_gpu,
    .ask = ask_sms,
    .text = "What training on a part of the GPU's SMs would cost: where the line stays "
            "near 1, a smaller GPU would do.",
    FIGURE("Runtime relative to that on all SMs, against the SMs in use",
        FULCRUM_PLOT_SWEEP, &fulcrum_chart_sm, 420.0, 420.0),
};

static const struct fulcrum_report_section memory_section = {
    .id = "memory",
    .title = "GPU, memory and host: what each part takes",
    .when = has_actors_on_gpu,
    .ask = ask_memory,
    .asks_often = true,
    .text = "Each part of the GPU's work is made ideal in turn: what is gone then is "
            "its part. What the GPU saves, a run saves only where the GPU is what it "
            "waits for.",
    FIGURE("Where the time of the GPU goes, and that of a run", FULCRUM_PLOT_COMPONENTS,
        &fulcrum_chart_gpu_time, 360.0, 400.0),
    .tables = {{"components",
                   {.caption = "What each part of GPU and host takes, and the gain "
                               "were it ideal",
                       .columns = "meaning=part;gpu_frac=of GPU time;"
                                  "mean_frac=of a run;speedup=ideal alone, times"}},
        {"factors",
            {.caption = "The same work with other caches and memory bandwidths",
                .columns = "cache_rel=cache, times;bandwidth_rel=bandwidth, times;"
                           "gpu_time_rel=GPU time, times;speedup=throughput, times;"
                           "steps_per_j_system_rel:value=per system watt, times"}}},
};

/* Of stages on the GPU it is told what holds its SMs, launches apart. */
static const struct fulcrum_report_section partition_section = {
    .id = "partition",
    .title = "Parts of a GPU",
    .when = fulcrum_report_has_gpu,
    .line = "partition",
    .text = "What several processes would do on one GPU: taking turns, on shares of "
            "its SMs (MPS), or in slices of everything (MIG).",
    .figure = {.label = "The stages of training on parts of one GPU, and the gain of "
                        "each placement",
        .content = FULCRUM_PLOT_PLACEMENTS,
        .chart = &fulcrum_chart_partition,
        .only = fulcrum_report_is_resident,
        .height_pt = 480.0,
        .narrow_height_pt = 520.0},
    .tables = {{"placements",
        {.caption = "Placements on one GPU",
            .columns = "placement=placement;steps_per_s=steps;"
                       "speedup=times one process;gpu_busy_frac=GPU busy;"
                       "sm_held_frac=SMs held;steps_per_j_gpu=steps, GPU;"
                       "layout=slices;reason=cannot run"}}},
};

#define CLUSTER_COLUMNS                                                                \
    "gpu_count=GPUs;train_step_s:value=training step;efficiency_frac:value=of ideal;"  \
    "steps_per_s=steps;speedup=times one GPU;runtime_s:value=whole training"

static const struct fulcrum_report_section cluster_section = {
    .id = "cluster",
    .title = "Training on more GPUs",
    .ask = ask_cluster,
    .text = "One training over more GPUs, in as many equal machines as they need: "
            "gradients are summed over the machine's links after each training step. "
            "Each GPU brings its actors along, but a machine's CPU threads stay as "
            "many as they are.",
    FIGURE("Steps per second over those of one GPU, against the number of GPUs",
        FULCRUM_PLOT_SCALING, &fulcrum_chart_scaling, 420.0, 420.0),
    .tables = {{"rows", {.caption = "Each GPU keeps its batch (weak scaling)",
                            .columns = CLUSTER_COLUMNS,
                            .where = "scaling",
                            .is = "weak"}},
        {"rows", {.caption = "The GPUs divide one batch (strong scaling)",
                     .columns = CLUSTER_COLUMNS,
                     .where = "scaling",
                     .is = "strong"}}},
};

#define SENSITIVITY_COLUMNS                                                            \
    "field=field;swing_lo=at its 5 %;swing_hi=at its 95 %;first_frac=alone;"           \
    "total_frac=with others"

static const struct fulcrum_report_section sensitivity_section = {
    .id = "sensitivity",
    .title = "Which number matters",
    .when = is_not_resident,
    .line = "sensitivity --metric steps_per_s,steps_per_j_system --samples 512",
    .text = "Which uncertain number the spread of the prediction comes from: what it "
            "is with one field at the ends of its 90 % interval and all others at "
            "their values, and the share of its variance that is due to that field "
            "alone and together with others (Sobol indices). What stands first is "
            "worth measuring first.",
    FIGURE("What the prediction is with one uncertain number at either end",
        FULCRUM_PLOT_SENSITIVITY, &fulcrum_chart_tornado, 480.0, 480.0),
    .tables = {{"rows",
                   {.caption = "Steps per second with one field at either end, and its "
                               "share",
                       .columns = SENSITIVITY_COLUMNS,
                       .where = "metric",
                       .is = "steps_per_s",
                       .rows_most = 8}},
        {"rows", {.caption = "Steps per joule of the whole system, in the same way",
                     .columns = SENSITIVITY_COLUMNS,
                     .where = "metric",
                     .is = "steps_per_j_system",
                     .rows_most = 8}}},
};

const struct fulcrum_report_section *const *fulcrum_report_sections(void)
{
    static const struct fulcrum_report_section *const sections[] = {
        &fulcrum_report_summary, &fulcrum_report_machines, &ratio_section,
        &fulcrum_report_levers, &actors_section, &plane_section, &fulcrum_report_time,
        &fulcrum_report_power, &node_section, &sms_section, &memory_section,
        &partition_section, &cluster_section, &sensitivity_section,
        &fulcrum_report_prediction, &fulcrum_report_accuracy,
        &fulcrum_report_calibrations, &fulcrum_report_inputs, &fulcrum_report_method,
        NULL};
    return sections;
}

bool fulcrum_report_question(const struct fulcrum_report_section *section,
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if ((i > 0 && !section->asks_often) ||
        (section->when != NULL && !section->when(machine))) {
        return false;
    }
    if (section->line != NULL) {
        fulcrum_report_words(words, "%s", section->line);
        return true;
    }
    return section->ask(machine, i, words);
}

/* The summary is always there. */
const char *fulcrum_report_section_name(int index)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    for (int i = 0; sections[i + 1] != NULL; i++) {
        if (i == index) {
            return sections[i + 1]->id;
        }
    }
    return NULL;
}
