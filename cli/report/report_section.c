/* report_section.c - the sections of an HTML report, and what they ask. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"

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

struct fulcrum_cell fulcrum_report_output(
    struct fulcrum_report_case *machine, const char *name)
{
    const struct fulcrum_item *item = fulcrum_result_find(machine->point, name);
    return item != NULL
               ? item->cell
               : (struct fulcrum_cell){(double)NAN, (double)NAN, (double)NAN, NULL};
}

static struct fulcrum_cell field_of(
    struct fulcrum_report_case *machine, const char *path)
{
    const struct fulcrum_table *inputs =
        fulcrum_result_table_of(machine->point, "inputs");
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
    return isfinite(fulcrum_result_number_of(machine->point, "gpu_count"));
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

void fulcrum_report_best_words(
    const struct fulcrum_table *optima, size_t i, struct fulcrum_string *out)
{
    static const char *const keys[][2] = {{"best", "best_ratio"},
        {"plateau_first", "plateau_first_ratio"},
        {"plateau_last", "plateau_last_ratio"}};
    enum { BEST, FROM, TO, PLACES };
    int is_ratio = isfinite(fulcrum_table_at(optima, i, "best_ratio").number);
    const char *axis = is_ratio ? "a CPU/GPU ratio of" : "a thread count of";
    const char *shape = fulcrum_chart_words(optima, i, "shape");
    char at[PLACES][FULCRUM_QUANTITY_SIZE];
    char range[PLACES][2 * FULCRUM_QUANTITY_SIZE];
    char interval[PLACES][3 * FULCRUM_QUANTITY_SIZE];
    for (size_t k = 0; k < PLACES; k++) {
        struct fulcrum_cell cell = fulcrum_table_at(optima, i, keys[k][is_ratio]);
        fulcrum_quantity_words(cell.number, "", at[k]);
        fulcrum_range_words(cell.lo, cell.hi, (double)NAN, "", range[k]);
        (void)snprintf(interval[k], sizeof interval[k],
            range[k][0] != '\0' ? " (90 %%: %.90s)" : "%.90s", range[k]);
    }
    if (strcmp(shape, "optimum") == 0) {
        fulcrum_string_add(out,
            "is best at %s %s%s, and within 5 %% of that from %s to %s", axis, at[BEST],
            interval[BEST], at[FROM], at[TO]);
    } else if (strcmp(shape, "plateau-to-last") == 0) {
        fulcrum_string_add(out, "comes within 5 %% of its best at %s %s%s", axis,
            at[FROM], interval[FROM]);
    } else if (strcmp(shape, "rises") == 0) {
        fulcrum_string_add(
            out, "still rises at %s %s, where the sweep ends", axis, at[BEST]);
    } else if (strcmp(shape, "falls") == 0) {
        fulcrum_string_add(
            out, "falls from %s %s, where the sweep begins", axis, at[BEST]);
    } else if (strcmp(shape, "plateau-from-first") == 0) {
        fulcrum_string_add(
            out, "stays within 5 %% of its best up to %s %s", axis, at[TO]);
    } else {
        fulcrum_string_add(
            out, "changes by less than 5 %% from %s %s to %s", axis, at[FROM], at[TO]);
    }
}

/*
 * Adds "-v PATH=A,B,C": the values rising, each once. Returns how many.
 *   values   whole numbers; sorted here
 */
static size_t add_axis(
    struct fulcrum_argv_text *words, const char *path, double *values, size_t count)
{
    struct fulcrum_string list = {0};
    size_t kept = 0;
    qsort(values, count, sizeof(double), fulcrum_compare_numbers);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || values[i] > values[i - 1] + 0.5) {
            fulcrum_string_add(&list, "%s%.0f", kept++ > 0 ? "," : "", values[i]);
        }
    }
    fulcrum_report_words(words, "-v %s=%s", path, fulcrum_string_get(&list));
    fulcrum_string_clear(&list);
    return kept;
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

/* GPUs that share the actors, or 1. */
static double sharers(struct fulcrum_report_case *machine)
{
    return fulcrum_report_has_gpu(machine)
               ? fulcrum_report_field(machine, "run.gpu_count")
               : 1.0;
}

/*
 * Adds a sweep of ratios, with numbers of actors between `before` and `after`: from too
 * few actors to hide anything, a fifth of the SMs, in numbers that the GPUs can share;
 * 64 times as many are far more than enough.
 */
static bool ask_ratios(struct fulcrum_report_case *machine,
    struct fulcrum_argv_text *words, const char *before, const char *after)
{
    double unit = fulcrum_report_has_gpu(machine)
                      ? fulcrum_report_field(machine, "run.sm_count") / 5.0
                      : fulcrum_report_field(machine, "machine.cpu.thread_count");
    double least = sharers(machine) * pow(2.0, fmax(0.0, round(log2(unit))));
    fulcrum_report_words(words, "explore");
    /* Ratios from 1/16 to 4, half an octave apart: those of machines there are,
     * and well past the knee. Without GPUs there are no SMs: the threads themselves,
     * 1/8 to 8-fold. */
    enum { STEPS = 13 };
    double sms = fulcrum_report_field(machine, "run.sm_count") *
                 fulcrum_report_field(machine, "run.gpu_count");
    double threads = fulcrum_report_field(machine, "machine.cpu.thread_count");
    bool has_gpu = fulcrum_report_has_gpu(machine) && sms > 0.0;
    int first = has_gpu ? -8 : -6;
    /* A learner on cores leaves the actors at least one more. */
    double taken =
        has_gpu ? 0.0 : fulcrum_report_field(machine, "machine.learner_core_count");
    double lowest = whole_threads(machine, 1.0) * (taken + 1.0);
    double values[STEPS + 1];
    for (int i = 0; i < STEPS; i++) {
        double wanted = (has_gpu ? sms : threads) * pow(2.0, (first + i) / 2.0);
        values[i] = fmax(lowest, whole_threads(machine, wanted));
    }
    values[STEPS] = threads;
    (void)add_axis(words, "machine.cpu.thread_count", values, STEPS + 1);
    fulcrum_report_words(words, "%s%.0f:%.0f:x2%s", before, least, 64.0 * least, after);
    return true;
}

/*
 * Each point takes the fastest number of actors: with that of the design the best ratio
 * would be the actors' and not the machine's.
 */
static bool ask_ratio(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    return ask_ratios(machine, words, "--best-actors ", "");
}

/* Both at once: equations only, as colours show no more than their errors. */
static bool ask_plane(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    return ask_ratios(
        machine, words, "-v run.actor_count=", " --intervals none --method fast");
}

/* A sixteenth to sixteen times as many, in numbers that the GPUs can share. */
static bool ask_actors(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    enum { OCTAVES = 4 };
    double gpus = sharers(machine);
    double each = fulcrum_report_field(machine, "run.actor_count") / gpus;
    double values[2 * OCTAVES + 1];
    if (!(each > 0.0)) {
        return false;
    }
    for (int k = -OCTAVES; k <= OCTAVES; k++) {
        values[k + OCTAVES] = gpus * fmax(1.0, round(each * pow(2.0, k)));
    }
    fulcrum_report_words(words, "explore");
    (void)add_axis(words, "run.actor_count", values, 2 * OCTAVES + 1);
    return true;
}

/* From a sixteenth of the SMs to all of them, compared with all. */
static bool ask_sms(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    double values[] = {
        1.0 / 16.0, 1.0 / 8.0, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0};
    const size_t shares = sizeof values / sizeof values[0];
    double sms = fulcrum_report_field(machine, "run.sm_count");
    if (!(sms >= 2.0)) {
        return false;
    }
    for (size_t k = 0; k < shares; k++) {
        values[k] = fmax(1.0, round(sms * values[k]));
    }
    fulcrum_report_words(words, "explore");
    size_t count = add_axis(words, "run.sm_count", values, shares);
    fulcrum_report_words(words, "--relative-to %zu", count - 1);
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

/* As many GPUs as the machine's links reach; none where no training shares them. */
static bool ask_cluster(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    const double many = 256.0;
    double gpus = fulcrum_report_field(machine, "run.gpu_count");
    double each = fulcrum_report_field(machine, "run.actor_count") / fmax(gpus, 1.0);
    double most = fulcrum_report_field(machine, "machine.gpu.count");
    if (fulcrum_report_field(machine, "machine.link.network_byte_per_s") > 0.0) {
        most = many;
    }
    if (!fulcrum_report_has_gpu(machine) || !(most > 1.0) ||
        !(fulcrum_report_field(machine, "workload.training.train_step_s") > 0.0) ||
        !(fulcrum_report_field(machine, "machine.link.peer_byte_per_s") > 0.0)) {
        return false;
    }
    fulcrum_report_words(words, "cluster --devices 1:%.0f:x2", most);
    if (fulcrum_report_is_resident(machine)) {
        fulcrum_report_words(words, "--steps-alone");
    } else {
        fulcrum_report_words(words, "--actors-per-gpu %.0f", fmax(1.0, round(each)));
    }
    return true;
}

/* All GPUs of a small machine, doublings of a large one. */
static bool ask_node(
    struct fulcrum_report_case *machine, struct fulcrum_argv_text *words)
{
    const double few = 8.0;
    double gpus = fulcrum_report_field(machine, "machine.gpu.count");
    if (!(gpus > 1.0)) {
        return false;
    }
    fulcrum_report_words(words, "node --gpus 1:%.0f:%s --actors-per-thread 6.4", gpus,
        gpus > few ? "x2" : "1");
    return true;
}

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
    .tables = {{"optima",
        {.caption = "Where it is best",
            .columns = "metric=best of;best_ratio=at a ratio of;"
                       "plateau_first_ratio=within 5 % from;plateau_last_ratio=to;"
                       "best=at threads;plateau_first=within 5 % from;"
                       "plateau_last=to"},
        .is_estimate = true}},
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
    .tables = {{"optima",
        {.caption = "Where it is best, by number of actors",
            .columns = "metric=best of;best=at;plateau_first=within 5 % from;"
                       "plateau_last=to"},
        .is_estimate = true}},
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
    /* Components made ideal, then other caches and bandwidths. */
    .lines = {"memory", "memory --cache 1,4,16 --bandwidth 1,1.6"},
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
    .lines = {"partition"},
    .text = "What several processes would do on one GPU: taking turns, on shares of "
            "its SMs (MPS), or in slices of everything (MIG).",
    FIGURE("The stages of training on parts of one GPU, and the gain of each placement",
        FULCRUM_PLOT_PLACEMENTS, &fulcrum_chart_partition, 480.0, 520.0),
    .is_drawn = fulcrum_report_is_resident,
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
    .lines = {"sensitivity --metric steps_per_s,steps_per_j_system --samples 512"},
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

bool fulcrum_report_asks(const struct fulcrum_report_section *section)
{
    return section->ask != NULL || section->ask_each != NULL ||
           section->lines[0] != NULL;
}

bool fulcrum_report_question(const struct fulcrum_report_section *section,
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words)
{
    if (section->when != NULL && !section->when(machine)) {
        return false;
    }
    if (section->ask != NULL) {
        return i == 0 && section->ask(machine, words);
    }
    if (section->ask_each != NULL) {
        return section->ask_each(machine, i, words);
    }
    if (i >= FULCRUM_REPORT_LINES_MOST || section->lines[i] == NULL) {
        return false;
    }
    fulcrum_report_words(words, "%s", section->lines[i]);
    return true;
}

/* The summary is always there. */
const char *fulcrum_report_section_name(int index)
{
    const struct fulcrum_report_section *section = fulcrum_report_sections()[index + 1];
    return section != NULL ? section->id : NULL;
}
