/* test_references_shared.c - every published number of a folder of extracts stands in a
 * shipped reference, at its place, and no shipped number comes from elsewhere. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The extracts are the tables as they were read, in the units of their sources: columns
 * of y over one x. The tables below say where each column went and in which unit; they
 * were written beside the sources, not made from the shipped files. A number that was
 * found is struck out of the copy in memory, so that none counts twice and what is
 * left at the end is a number without origin.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/io/document.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, REFERENCES_MOST = 100, FOLDER_SIZE = 400 };

/* Rounding of a decimal number that is scaled once here and once by its reader. */
#define TOLERANCE_REL 1e-12

/* Where the column of one y, over x, went. "*" stands for anything. */
struct column {
    const char *set;       /* pattern of the extract's name */
    const char *y;         /* pattern of the column's name */
    const char *reference; /* NULL: called as the extract, with dashes */
    const char *series;    /* "*": called as the column */
    const char *x_path;
    double x_scale;
    const char *place; /* quantity; "set:PATH" for a setting */
    double scale;
    double offset;
    const char *also;  /* further setting of the point; NULL: none */
    double also_value; /* NAN: the number of the row, from 1 */
};

#define COLUMN(set, y, series, x, place, scale)                                        \
    {                                                                                  \
        set, y, NULL, series, x, 1.0, place, scale, 0.0, NULL, 0.0                     \
    }

/* clang-format off */
static const struct column columns[] = {
    COLUMN("envpool_atari_*", "*", "*", "workers", "steps_per_s", 1.0 / 4.0),
    COLUMN("envpool_mujoco_*", "*", "*", "workers", "steps_per_s", 1.0 / 5.0),
    COLUMN("sf_fig3_10_core_*", "*", "*", "run.env_count", "steps_per_s", 1.0 / 4.0),
    COLUMN("sf_pure_simulation", "*", "*", "method", "steps_per_s", 1.0 / 4.0),
    COLUMN("sf_profile_isaacgym_ant", "FPS", "", "version", "steps_per_s", 1.0),
    COLUMN("sf_profile_isaacgym_ant", "main_loop", "", "version", "runtime_s", 1.0),
    COLUMN("sf_profile_isaacgym_ant", "env_step", "", "version", "simulation_s", 1.0),
    COLUMN("sf_profile_isaacgym_ant", "inference", "", "version", "inference_s", 1.0),
    COLUMN("sf_profile_isaacgym_ant", "train", "", "version", "training_s", 1.0),
    COLUMN("sf_profile_vizdoom_workers", "FPS*", "", "workers", "steps_per_s", 1.0 / 4.0),
    COLUMN("sf_profile_vizdoom_workers", "env_step*", "", "workers", "simulation_s", 1.0),
    COLUMN("sf_profile_vizdoom_workers", "wall*", "", "workers", "runtime_s", 1.0),
    COLUMN("sf_profile_vizdoom_workers", "frames*", "", "workers", "frame_count", 1.0),
    COLUMN("inci2020_fig2_text", "*", "", "component", "gpu_time_frac", 0.01),
    COLUMN("inci2020_fig3_text", "relative speed*", "", "run.actor_count", "speedup", 1.0),
    {"inci2020_fig3_text", "GPU power*", "inci2020-fig3-power-text", "", "run.actor_count",
        1.0, "gpu_w", 1.0, 0.0, NULL, 0.0},
    {"inci2020_fig4_text", "slowdown*", NULL, "", "run.sm_count", 1.0, "runtime_rel", 0.01,
        1.0, NULL, 0.0},
    COLUMN("njit_mig_sm_scaling", "GEMM*", "*", "run.sm_count", "flop_per_s", 1e12),
    COLUMN("njit_mig_sm_scaling", "LLM*", "*", "run.sm_count", "tokens_per_s", 1.0),
    COLUMN("njit_mig_sm_scaling", "GROMACS", "*", "run.sm_count", "simulated_ns_per_day", 1.0),
    COLUMN("gmidrl_table5_multinode", "*", "*", "node_count", "speedup_over_one_node", 1.0),
    COLUMN("pal2019_abstract", "*", "", "network", "least_gain_frac", 0.01),
    COLUMN("power_mlenergy_*", "avg_power", "", "max_num_seqs", "gpu_w", 1.0),
    COLUMN("power_mlenergy_*", "throughput", "", "max_num_seqs", "tokens_per_s", 1.0),
    {"power_nvidia_smi_a100_h100", "power", NULL, "", "gpu", 1.0, "gpu_w", 1.0, 0.0,
        "reading", NAN},
    {"power_nvidia_smi_a100_h100", "util", NULL, "", "gpu", 1.0, "set:gpu_util_frac", 0.01,
        0.0, "reading", NAN},
    {"power_nvidia_smi_v100", "power", NULL, "", "gpu_util_frac", 0.01, "gpu_w", 1.0, 0.0,
        "reading", NAN},
    {"power_nvidia_smi_v100", "memory*", NULL, "", "gpu_util_frac", 0.01,
        "set:memory_used_byte", 1048576.0, 0.0, "reading", NAN},
    {"power_specpower_servers", "*100%", NULL, "", "cpu", 1.0, "server_w", 1.0, 0.0,
        "load_frac", 1.0},
    {"power_specpower_servers", "*idle", NULL, "", "cpu", 1.0, "server_w", 1.0, 0.0,
        "load_frac", 0.0},
    {"power_specpower_servers", "n results", NULL, "", "cpu", 1.0, "set:result_count", 1.0,
        0.0, "load_frac", 0.0},
    {"power_specpower_servers", "n results", NULL, "", "cpu", 1.0, "set:result_count", 1.0,
        0.0, "load_frac", 1.0},
    {"power_teads_ec2", "*CPU pkg*", NULL, "*", "load_frac", 0.01, "cpu_w", 1.0, 0.0,
        NULL, 0.0},
    {"power_teads_ec2", "*instance", NULL, "*", "load_frac", 0.01, "server_w", 1.0, 0.0,
        NULL, 0.0},
    {"power_teads_ec2", "*per GPU*", "power-teads-ec2-gpu", "*", "load_frac", 0.01, "gpu_w",
        1.0, 0.0, NULL, 0.0},
    COLUMN("rlscope_fig5_stage_shares", "backprop*", "", "algorithm", "training_frac", 0.01),
    COLUMN("rlscope_fig5_stage_shares", "inference", "", "algorithm", "inference_frac", 0.01),
    COLUMN("rlscope_fig5_stage_shares", "simulation", "", "algorithm", "simulation_frac", 0.01),
    COLUMN("rlscope_fig5_stage_shares", "training time", "", "algorithm", "runtime_s", 1.0),
    COLUMN("rlscope_fig7_stage_shares", "backprop*", "", "simulator", "training_frac", 0.01),
    COLUMN("rlscope_fig7_stage_shares", "inference", "", "simulator", "inference_frac", 0.01),
    COLUMN("rlscope_fig7_stage_shares", "simulation", "", "simulator", "simulation_frac", 0.01),
    COLUMN("rlscope_fig8_minigo", "total time", "", "process", "runtime_s", 1.0),
    COLUMN("rlscope_fig8_minigo", "GPU time", "", "process", "gpu_busy_s", 1.0),
    COLUMN("rlscope_fig11a_overhead_bias", "bias*", "", "algorithm", "time_bias_frac", 0.01),
    COLUMN("rlscope_fig11b_overhead_bias", "bias*", "", "simulator", "time_bias_frac", 0.01),
};

/* Extracts whose rows are quantities of their own: x names them. */
static const struct row {
    const char *set;
    const char *x;
    const char *series;
    const char *quantity;
    double scale;
} rows[] = {
    {"copa_gpun", "SMs", "GPU-N", "sm_count", 1.0},
    {"copa_gpun", "clock GHz", "GPU-N", "clock_hz", 1e9},
    {"copa_gpun", "FP32 TFLOPS", "GPU-N", "fp32_flop_per_s", 1e12},
    {"copa_gpun", "FP16 TFLOPS", "GPU-N", "fp16_flop_per_s", 1e12},
    {"copa_gpun", "L2 MB", "GPU-N", "llc_byte", 1e6},
    {"copa_gpun", "DRAM GB/s", "GPU-N", "dram_byte_per_s", 1e9},
    {"copa_gpun", "DRAM GB", "GPU-N", "memory_byte", 1e9},
    {"copa_gpun", "max DRAM TB/s (COPA)", "COPA", "most_dram_byte_per_s", 1e12},
    {"copa_gpun", "max DRAM GB (COPA)", "COPA", "most_memory_byte", 1e9},
    {"copa_gpun", "max on-package L3 MB", "COPA", "most_package_cache_byte", 1e6},
    {"copa_gpun", "train gain %", "COPA for learning", "training_gain_frac", 0.01},
    {"copa_gpun", "infer gain %", "COPA for learning", "inference_gain_frac", 0.01},
    {"copa_gpun", "GPU reduction %", "COPA for learning", "fewer_gpus_frac", 0.01},
    {"power_h100_node", "max observed node power kW", "", "most_node_w", 1e3},
    {"power_h100_node", "manufacturer rating kW", "", "rated_w", 1e3},
    {"power_h100_node", "share of TDP for intensive workloads", "", "tdp_frac", 1.0},
    {"power_h100_node", "ResNet batch 512->4096 energy ratio", "",
        "energy_batch_512_over_4096", 1.0},
    {"power_h100_node", "model MAPE %", "", "power_model_mape_frac", 0.01},
    {"gmidrl_scalars", "T_s/T_a", "", "t_s_over_t_a", 1.0},
    {"gmidrl_scalars", "T_s/T_t", "", "t_s_over_t_t", 1.0},
    {"gmidrl_scalars", "R_s/R_a", "", "r_s_over_r_a", 1.0},
    {"gmidrl_scalars", "R_s/R_t", "", "r_s_over_r_t", 1.0},
    {"gmidrl_scalars", "alpha", "", "alpha", 1.0},
    {"gmidrl_scalars", "beta", "", "beta", 1.0},
    {"gmidrl_scalars", "serving speedup max", "", "serving_speedup_most", 1.0},
    {"gmidrl_scalars", "serving speedup avg", "", "serving_speedup_mean", 1.0},
    {"gmidrl_scalars", "sync train vs NCCL max", "", "training_over_nccl_most", 1.0},
    {"gmidrl_scalars", "sync vs NCCL avg", "", "training_over_nccl_mean", 1.0},
    {"gmidrl_scalars", "vs Horovod max", "", "training_over_horovod_most", 1.0},
    {"gmidrl_scalars", "vs Horovod avg", "", "training_over_horovod_mean", 1.0},
    {"gmidrl_scalars", "GPU util gain max % (train)", "",
        "training_gpu_util_gain_most_frac", 0.01},
    {"gmidrl_scalars", "GPU util gain avg % (train)", "",
        "training_gpu_util_gain_mean_frac", 0.01},
    {"gmidrl_scalars", "GPU util gain max % (serving)", "",
        "serving_gpu_util_gain_most_frac", 0.01},
    {"gmidrl_scalars", "GPU util gain avg % (serving)", "",
        "serving_gpu_util_gain_mean_frac", 0.01},
    {"gmidrl_scalars", "async PPS avg x", "", "async_pps_gain_mean", 1.0},
    {"gmidrl_scalars", "async TTOP avg x", "", "async_ttop_gain_mean", 1.0},
    {"gmidrl_scalars", "per-GMI kernel launch overhead %", "",
        "kernel_launch_overhead_frac", 0.01},
    {"gmidrl_scalars", "inter-GMI communication overhead %", "",
        "communication_overhead_frac", 0.01},
    {"gmidrl_scalars", "GMI creation s", "", "instance_creation_s", 1.0},
    {"gmidrl_scalars", "multi-node efficiency avg % of linear", "",
        "multi_node_efficiency_mean_frac", 0.01},
    {"gmidrl_scalars", "throughput peak batch (Anymal) envs", "", "peak_env_count", 1.0},
};
/* clang-format on */

/* The first is printed as a factor in the text; the extract has its product with
 * another. The others were read from tables that the folder has no extract of. */
static const char *const without_extract[] = {"inci2020-fig3-further-text",
    "sf-fig3-36-core-atari", "sf-fig3-36-core-vizdoom", "sf-fig3-36-core-dmlab",
    "gnmt-dgx2-scaling", "mccandlish2018-table1"};

/* The shipped references, numbers that were found struck out. */
struct shipped {
    struct fulcrum_reference *items[REFERENCES_MOST];
    size_t count;
};

/* One number of an extract. */
struct cell {
    const char *set;
    const char *y;
    size_t row;
    struct json_object *x;
    double value;
};

static void complain(const struct cell *cell, const char *what)
{
    (void)fprintf(stderr, "%s, %s, %s: %.17g %s\n", cell->set, cell->y,
        json_object_get_string(cell->x), cell->value, what);
    CU_FAIL("a published number has no place");
}

static bool is_close(double actual, double expected)
{
    return fabs(actual - expected) <= TOLERANCE_REL * fabs(expected);
}

static struct fulcrum_reference *find_reference(
    const struct shipped *shipped, const char *set, const char *name)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s", name != NULL ? name : set);
    for (char *c = strchr(text, '_'); name == NULL && c != NULL; c = strchr(c, '_')) {
        *c = '-';
    }
    for (size_t i = 0; i < shipped->count; i++) {
        if (strcmp(shipped->items[i]->name, text) == 0) {
            return shipped->items[i];
        }
    }
    return NULL;
}

static const struct fulcrum_reference_setting *find_setting(
    const struct fulcrum_reference_point *point, const char *path)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        if (strcmp(point->settings[i].path, path) == 0) {
            return &point->settings[i];
        }
    }
    return NULL;
}

static struct fulcrum_observation *find_observation(
    const struct fulcrum_reference_point *point, const char *quantity)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, quantity) == 0) {
            return &point->observations[i];
        }
    }
    return NULL;
}

static bool has_x(const struct fulcrum_reference_point *point,
    const struct column *column, const struct cell *cell)
{
    const struct fulcrum_reference_setting *setting =
        find_setting(point, column->x_path);
    if (setting == NULL) {
        return 0;
    }
    if (json_object_is_type(cell->x, json_type_string)) {
        return strcmp(setting->text, json_object_get_string(cell->x)) == 0;
    }
    return is_close(setting->number, column->x_scale * json_object_get_double(cell->x));
}

static bool has_also(const struct fulcrum_reference_point *point,
    const struct column *column, const struct cell *cell)
{
    if (column->also == NULL) {
        return 1;
    }
    double wanted =
        isnan(column->also_value) ? (double)(cell->row + 1) : column->also_value;
    const struct fulcrum_reference_setting *setting = find_setting(point, column->also);
    return setting != NULL && setting->number == wanted;
}

/* The one point that the column's cell went to; NULL where none or two would do. */
static const struct fulcrum_reference_point *find_point(
    const struct fulcrum_reference *reference, const struct column *column,
    const struct cell *cell)
{
    const char *series = strcmp(column->series, "*") == 0 ? cell->y : column->series;
    const struct fulcrum_reference_point *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        if (strcmp(point->series, series) == 0 && has_x(point, column, cell) &&
            has_also(point, column, cell)) {
            found = point;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

static void take_observation(const struct fulcrum_reference_point *point,
    const char *quantity, double expected, const struct cell *cell)
{
    struct fulcrum_observation *observation = find_observation(point, quantity);
    if (observation == NULL || !is_close(observation->value, expected)) {
        complain(cell, "is missing or another number");
        return;
    }
    observation->quantity[0] = '\0';
}

static void take_by_column(
    const struct shipped *shipped, const struct column *column, const struct cell *cell)
{
    const struct fulcrum_reference *reference =
        find_reference(shipped, cell->set, column->reference);
    const struct fulcrum_reference_point *point =
        reference != NULL ? find_point(reference, column, cell) : NULL;
    double expected = column->offset + column->scale * cell->value;
    if (point == NULL) {
        complain(cell, "has no point, or several");
        return;
    }
    if (strncmp(column->place, "set:", 4) != 0) {
        take_observation(point, column->place, expected, cell);
        return;
    }
    const struct fulcrum_reference_setting *setting =
        find_setting(point, column->place + 4);
    if (setting == NULL || !is_close(setting->number, expected)) {
        complain(cell, "is missing or another setting");
    }
}

static void take_by_row(
    const struct shipped *shipped, const struct row *row, const struct cell *cell)
{
    const struct fulcrum_reference *reference =
        find_reference(shipped, cell->set, NULL);
    for (size_t i = 0; reference != NULL && i < reference->point_count; i++) {
        if (strcmp(reference->points[i].series, row->series) == 0) {
            take_observation(
                &reference->points[i], row->quantity, row->scale * cell->value, cell);
            return;
        }
    }
    complain(cell, "has no point");
}

static void take(const struct shipped *shipped, const struct cell *cell)
{
    size_t places = 0;
    for (size_t i = 0; i < LENGTH(columns); i++) {
        if (fnmatch(columns[i].set, cell->set, 0) == 0 &&
            fnmatch(columns[i].y, cell->y, 0) == 0) {
            take_by_column(shipped, &columns[i], cell);
            places++;
        }
    }
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (strcmp(rows[i].set, cell->set) == 0 &&
            strcmp(rows[i].x, json_object_get_string(cell->x)) == 0) {
            take_by_row(shipped, &rows[i], cell);
            places++;
        }
    }
    if (places == 0) {
        complain(cell, "was taken over nowhere");
    }
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    (void)json_object_object_get_ex(object, key, &value);
    return value;
}

/* Every number of one column; returns how many. */
static size_t take_values(const struct shipped *shipped, const char *set,
    struct json_object *x, struct json_object *column)
{
    struct json_object *values = member(column, "values");
    struct cell cell = {.set = set};
    cell.y = json_object_get_string(member(column, "name"));
    CU_ASSERT_EQUAL_FATAL(
        json_object_array_length(values), json_object_array_length(x));
    size_t count = 0;
    for (size_t i = 0; i < json_object_array_length(values); i++) {
        struct json_object *value = json_object_array_get_idx(values, i);
        if (value != NULL) {
            cell.row = i;
            cell.x = json_object_array_get_idx(x, i);
            cell.value = json_object_get_double(value);
            take(shipped, &cell);
            count++;
        }
    }
    return count;
}

/* The same for all columns of an extract. */
static size_t take_extract(
    const struct shipped *shipped, const char *set, struct json_object *document)
{
    struct json_object *x = member(member(document, "x"), "values");
    struct json_object *y = member(document, "y");
    size_t count = 0;
    for (size_t i = 0; i < json_object_array_length(y); i++) {
        count += take_values(shipped, set, x, json_object_array_get_idx(y, i));
    }
    return count;
}

/* systems.json describes machines: it has no points. */
static size_t take_file(
    const struct shipped *shipped, const char *folder, const char *file)
{
    const char *end = strrchr(file, '.');
    if (end == NULL || strcmp(end, ".json") != 0 || strcmp(file, "systems.json") == 0) {
        return 0;
    }
    char path[700];
    char set[256];
    struct json_object *document = NULL;
    (void)snprintf(path, sizeof path, "%s/%.250s", folder, file);
    (void)snprintf(set, sizeof set, "%.*s", (int)(end - file), file);
    ASSERT_OK(fulcrum_document_read(path, &document, NULL));
    size_t count = take_extract(shipped, set, document);
    CU_ASSERT(count > 0);
    fulcrum_document_free(document);
    return count;
}

static void load_all(struct shipped *out)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    CU_ASSERT_FATAL(count <= REFERENCES_MOST);
    for (size_t i = 0; i < count; i++) {
        ASSERT_OK(
            fulcrum_reference_load(entries[i].name, &out->items[out->count], NULL));
        out->count++;
    }
    free(entries);
}

static bool has_no_extract(const char *name)
{
    for (size_t i = 0; i < LENGTH(without_extract); i++) {
        if (strcmp(without_extract[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What this program measured itself was published nowhere, and says so. */
static bool is_measured_here(const struct fulcrum_reference *reference)
{
    static const char start[] = "measured by `fulcrum measure`";
    for (size_t i = 0; i < reference->source_count; i++) {
        const struct fulcrum_reference_source *source = &reference->sources[i];
        if (strcmp(source->part, "points") == 0) {
            return strncmp(source->text, start, sizeof start - 1) == 0;
        }
    }
    return 0;
}

/* Prints what was not struck out; returns how much that is. */
static size_t count_rest(const struct fulcrum_reference *reference, size_t index)
{
    const struct fulcrum_reference_point *point = &reference->points[index];
    size_t count = 0;
    for (size_t i = 0; i < point->observation_count; i++) {
        const struct fulcrum_observation *observation = &point->observations[i];
        if (observation->quantity[0] != '\0') {
            (void)fprintf(stderr, "%s, point %zu: %s = %.17g has no origin\n",
                reference->name, index, observation->quantity, observation->value);
            count++;
        }
    }
    return count;
}

static void check_rest(const struct fulcrum_reference *reference)
{
    bool has_none = has_no_extract(reference->name) || is_measured_here(reference);
    for (size_t i = 0; i < reference->point_count; i++) {
        CU_ASSERT(has_none || count_rest(reference, i) == 0);
    }
}

/* $FULCRUM_SHARED/references, or the folder beside the source tree. */
static DIR *open_folder(char out[FOLDER_SIZE])
{
    const char *parent = getenv("FULCRUM_SHARED");
    (void)snprintf(out, FOLDER_SIZE, "%.380s/references",
        parent != NULL && parent[0] != '\0' ? parent : "../shared");
    return opendir(out);
}

TEST(test_published_and_shipped_numbers_are_the_same)
{
    struct shipped shipped = {{NULL}, 0};
    load_all(&shipped);
    char folder[FOLDER_SIZE];
    size_t count = 0;
    DIR *listing = open_folder(folder);
    struct dirent *file = listing != NULL ? readdir(listing) : NULL;
    while (file != NULL) {
        count += take_file(&shipped, folder, file->d_name);
        file = readdir(listing);
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
    (void)fprintf(stderr, "%zu published numbers\n", count);
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < shipped.count; i++) {
        check_rest(shipped.items[i]);
        fulcrum_reference_free(shipped.items[i]);
    }
}

SUITE_SETUP
{
    char folder[FOLDER_SIZE];
    DIR *listing = open_folder(folder);
    if (listing == NULL) {
        (void)fprintf(stderr, "%s is absent: nothing to compare with\n", folder);
        return SKIPPED;
    }
    (void)closedir(listing);
    /* The data of this tree, not what is installed; CTest runs in its root. */
    return setenv("FULCRUM_PRESETS", "presets", 1);
}
