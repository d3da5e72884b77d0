/* test_component_cost.c - components made ideal, and other memory systems, in designs
 * of presets: what they do to GPU time and to a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/component_cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/parallel.h"
#include "tests/support/place.h"
#include "tests/support/suite.h"

enum { DRAWS = 40 };

/* R2D2 on GPUs of a machine. */
struct wanted {
    const char *machine;
    const char *calibration;
    double actors;
    double threads; /* 0: the machine's */
    double gpus;
};

static void set_field(struct fulcrum_setting *setting, const char *path, double value)
{
    *setting = (struct fulcrum_setting){fulcrum_field_find(path), value, NULL};
    CU_ASSERT_PTR_NOT_NULL_FATAL(setting->field);
}

static void open_place(struct place *out, const struct wanted *wanted)
{
    char words[3][60];
    const char *sets[] = {
        words[0], words[1], wanted->threads > 0 ? words[2] : NULL, NULL};
    (void)snprintf(words[0], 60, "run.actor_count=%.0f", wanted->actors);
    (void)snprintf(words[1], 60, "run.gpu_count=%.0f", wanted->gpus);
    (void)snprintf(words[2], 60, "machine.cpu.thread_count=%.0f", wanted->threads);
    place_open(out, wanted->machine, "r2d2-atari", wanted->calibration, sets);
}

static struct fulcrum_predict_options equations(double draws)
{
    return (struct fulcrum_predict_options){
        .solver = {.method = FULCRUM_METHOD_FAST, .seed = 1}, .draws = draws};
}

/* The design as it is, and one with settings, solved by equations. */
static struct fulcrum_study *study_of(const struct place *place,
    const struct fulcrum_setting *settings, size_t count, double draws)
{
    const struct fulcrum_study_plan plan = {
        .scenario = place->scenario, .predict = equations(draws)};
    const struct fulcrum_point versions[] = {
        {.varied_count = 0}, {settings, count, 0, 0}};
    struct fulcrum_study *study = NULL;
    ASSERT_OK(fulcrum_memory_study(&plan, versions, 2, &study, NULL));
    return study;
}

/* What each component costs, in tables; the result is to be freed. */
static struct fulcrum_cost_tables costs_in(const struct place *place, double draws)
{
    const struct fulcrum_study_plan plan = {
        .scenario = place->scenario, .predict = equations(draws)};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_cost_tables costs = {.result = result,
        .machines = fulcrum_result_table(result, "machines", ""),
        .components = fulcrum_result_table(result, "components", ""),
        .calibration = ""};
    ASSERT_OK(fulcrum_component_costs_add(&plan, &costs, NULL));
    CU_ASSERT_EQUAL(fulcrum_table_rows(costs.components), FULCRUM_IDEAL_COUNT + 1);
    return costs;
}

static struct fulcrum_cost_tables costs_of(const struct wanted *wanted, double draws)
{
    struct place place;
    open_place(&place, wanted);
    struct fulcrum_cost_tables costs = costs_in(&place, draws);
    place_close(&place);
    return costs;
}

static double number(
    const struct fulcrum_cost_tables *costs, size_t component, const char *key)
{
    return fulcrum_table_at(costs->components, component, key).number;
}

static double of_machine(const struct fulcrum_cost_tables *costs, const char *key)
{
    return fulcrum_table_at(costs->machines, 0, key).number;
}

static const struct wanted paper = {"dgx-1-inci2020", "v100-inci2020", 256, 0, 1};

static double kernel_s(const struct fulcrum_cost_tables *costs)
{
    return of_machine(costs, "gpu_s") - number(costs, FULCRUM_IDEAL_LAUNCH, "gpu_s");
}

/* What went in comes out of the designs: 57, 15, 12 and 16 % of the kernels' time. */
TEST(test_a_v100_has_the_shares_that_were_put_in)
{
    static const char *const names[] = {"dram", "latency", "sm", "math"};
    static const double published[] = {0.12, 0.16, 0.15, 0.57};
    struct fulcrum_cost_tables costs = costs_of(&paper, 0);
    double sum = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_HOST; i++) {
        double gpu_s = number(&costs, i, "gpu_s");
        if (i < 4) {
            assert_close(names[i], gpu_s / kernel_s(&costs), published[i], 2e-3);
        }
        CU_ASSERT(isnan(number(&costs, i, "run_frac_lo")));
        CU_ASSERT(isnan(number(&costs, i, "speedup_lo")));
        sum += gpu_s;
    }
    CU_ASSERT_PTR_NULL(fulcrum_result_find(costs.result, "notes"));
    assert_close("all of it", sum, of_machine(&costs, "gpu_s"), 1e-3);
    /* (5): 70 % of the part per batch is launches, nothing of the training step. */
    assert_close("launches", number(&costs, FULCRUM_IDEAL_LAUNCH, "gpu_s"),
        0.7 * 0.00098496525 / 128, 1e-5);
    CU_ASSERT(isnan(number(&costs, FULCRUM_IDEAL_HOST, "gpu_s")));
    fulcrum_result_free(costs.result);
}

/* (24) by another way: the parts of an H100 against the scaled sum, and (14c): frames
 * that cross PCIe 5.0 instead of 3.0. */
TEST(test_another_gpu_has_other_shares)
{
    const struct wanted h100 = {"dgx-h100", "v100-inci2020", 256, 0, 1};
    struct fulcrum_cost_tables here = costs_of(&paper, 0);
    struct fulcrum_cost_tables there = costs_of(&h100, 0);
    double here_s = kernel_s(&here);
    double math_s = number(&there, FULCRUM_IDEAL_MATH, "gpu_s");
    double dram_s = number(&there, FULCRUM_IDEAL_DRAM, "gpu_s");
    double math = 0.57 * (80 * 1.53 * 128) / (132 * 1.98 * 256);
    double dram = 0.12 * (900 / 3350.0) * sqrt(6 / 50.0);
    double link_s = 28224 * (1 / 63e9 - 1 / 15.75e9);
    assert_close("kernels", (kernel_s(&there) - link_s) / here_s,
        math + dram + 0.15 + 0.16, 1e-6);
    assert_close("math", math_s / here_s, math, 2e-3);
    assert_close("DRAM", dram_s / here_s, dram, 1e-2);
    CU_ASSERT(dram_s / kernel_s(&there) < 0.03);
    fulcrum_result_free(here.result);
    fulcrum_result_free(there.result);
}

/* Shares of a run sum to 1 with the rest, in order and on average, in every draw. */
TEST(test_shares_of_a_run_are_whole)
{
    const struct wanted forty = {"dgx-1-inci2020", "v100-inci2020", 40, 0, 1};
    struct fulcrum_cost_tables costs = costs_of(&forty, DRAWS);
    double in_order = 0;
    double all_mean = 0;
    for (size_t i = 0; i <= FULCRUM_IDEAL_COUNT; i++) {
        double mean = number(&costs, i, "mean_frac");
        in_order += number(&costs, i, "run_frac");
        all_mean += mean;
        CU_ASSERT(number(&costs, i, "run_frac_lo") <= number(&costs, i, "run_frac_hi"));
        CU_ASSERT(number(&costs, i, "least_frac") <= mean);
        CU_ASSERT(mean <= number(&costs, i, "most_frac"));
        CU_ASSERT(i == FULCRUM_IDEAL_COUNT || number(&costs, i, "speedup") > 0.99);
    }
    assert_close("in order", in_order, 1.0, 1e-9);
    assert_close("on average", all_mean, 1.0, 1e-9);
    CU_ASSERT_EQUAL(of_machine(&costs, "draws"), DRAWS);
    /* With 40 actors the round trip is what costs: the host more than the GPU. */
    double gpu_speedup = of_machine(&costs, "ideal_gpu_speedup");
    CU_ASSERT(number(&costs, FULCRUM_IDEAL_HOST, "mean_frac") > 0.2);
    CU_ASSERT(gpu_speedup > 1.05);
    CU_ASSERT(gpu_speedup > number(&costs, FULCRUM_IDEAL_DRAM, "speedup"));
    fulcrum_result_free(costs.result);
}

/* COPA's change as fields of a machine: 16 times the cache, 1.6 times the bandwidth. */
static void copa(const struct wanted *wanted, double draws,
    struct fulcrum_ratio *gpu_time, struct fulcrum_ratio *speedup)
{
    struct place place;
    open_place(&place, wanted);
    struct fulcrum_setting settings[2];
    set_field(&settings[0], "machine.gpu.llc_byte",
        16 * place.inputs.base.machine.gpu.llc_byte);
    set_field(&settings[1], "machine.gpu.dram_byte_per_s",
        1.6 * place.inputs.base.machine.gpu.dram_byte_per_s);
    struct fulcrum_study *study = study_of(&place, settings, 2, draws);
    *gpu_time = fulcrum_study_ratio(study, 1, 0, FULCRUM_MEMORY_GPU);
    *speedup = fulcrum_study_ratio(study, 1, 0, FULCRUM_MEMORY_STEPS_PER_S);
    struct fulcrum_ratio training =
        fulcrum_study_ratio(study, 1, 0, FULCRUM_MEMORY_TRAIN_STEP);
    /* Several GPUs wait for each other a little, whatever their memory. */
    assert_close(
        "training alone", training.value, 0.89875, wanted->gpus > 1 ? 2e-2 : 1e-9);
    struct fulcrum_ratio own =
        fulcrum_study_ratio(study, 0, 0, FULCRUM_MEMORY_STEPS_PER_S);
    CU_ASSERT_EQUAL(own.value, 1.0);
    CU_ASSERT(draws < 2 || (own.lo == 1.0 && own.hi == 1.0));
    fulcrum_study_free(study);
    place_close(&place);
}

/* GPU time falls by a tenth everywhere, a run only where it waits for the GPU: nothing
 * at the paper's point, where the threads are full, up to the whole 11 % beside four
 * threads an SM. */
TEST(test_copa_in_a_run_depends_on_what_it_waits_for)
{
    static const struct {
        struct wanted wanted;
        double least; /* of the speed-up */
        double most;
    } cases[] = {
        /* The renewal equation settles to a thousandth. */
        {{"dgx-1-inci2020", "v100-inci2020", 256, 0, 1}, 0.998, 1.001},
        {{"dgx-1-inci2020", "v100-inci2020", 40, 0, 1}, 1.005, 1.03},
        {{"dgx-1-inci2020", "v100-prior", 256, 0, 1}, 0.999, 1.005},
        {{"dgx-1-inci2020", "v100-inci2020", 2048, 320, 1}, 1.10, 1.113},
        {{"dgx-1", "v100-inci2020", 256, 40, 8}, 0.999, 1.001},
        {{"dgx-1", "v100-inci2020", 4096, 640, 8}, 1.005, 1.06},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_ratio gpu_time;
        struct fulcrum_ratio speedup;
        copa(&cases[i].wanted, 0, &gpu_time, &speedup);
        CU_ASSERT(gpu_time.value > 0.89 && gpu_time.value < 0.94);
        CU_ASSERT(speedup.value > cases[i].least && speedup.value < cases[i].most);
        /* A run never gains more than its GPU does. */
        CU_ASSERT(speedup.value < 1.0 / 0.89875 + 1e-3);
    }
}

struct limit {
    const char *path;
    double value;
    double train_step; /* over that of a V100 */
    double tolerance;
};

/* Ends of fields in whole designs: infinite bandwidth or cache leave the other 88 %, an
 * exponent of 0 makes caches useless, and parts that no cache saves stay. */
TEST(test_ends_of_fields_are_limits)
{
    static const struct limit limits[][3] = {
        {{"machine.gpu.dram_byte_per_s", 1e15, 0.88, 2e-4}},
        {{"machine.gpu.llc_byte", 1e13, 0.88, 2e-4}},
        {{"machine.gpu.llc_byte", 96e6, 1.0, 1e-12},
            {"workload.network.cache_exponent", 0.0, 0, 0}},
        {{"machine.gpu.llc_byte", 1e13, 0.88 + 0.12 * 0.4, 2e-4},
            {"workload.network.compulsory_frac", 0.4, 0, 0}},
        {{"machine.gpu.llc_byte", 96e6, 0.88 + 0.12 * 0.4, 1e-12},
            {"workload.network.compulsory_frac", 0.4, 0, 0},
            {"workload.network.working_set_byte", 50e6, 0, 0}},
        {{"machine.gpu.latency_rel", 2.0, 1.16, 1e-12}},
        {{"machine.gpu.sm_loss_rel", 0.5, 0.925, 1e-12}},
        {{"machine.gpu.launch_rel", 5.0, 1.0, 1e-12}},
    };
    struct place place;
    open_place(&place, &paper);
    for (size_t i = 0; i < LENGTH(limits); i++) {
        struct fulcrum_setting settings[3];
        size_t count = 0;
        for (; count < 3 && limits[i][count].path != NULL; count++) {
            set_field(&settings[count], limits[i][count].path, limits[i][count].value);
        }
        struct fulcrum_study *study = study_of(&place, settings, count, 0);
        assert_close(limits[i][0].path,
            fulcrum_study_ratio(study, 1, 0, FULCRUM_MEMORY_TRAIN_STEP).value,
            limits[i][0].train_step, limits[i][0].tolerance);
        fulcrum_study_free(study);
    }
    place_close(&place);
}

/* "About 1 % end to end" lies inside what the calibration leaves open. */
TEST(test_the_interval_of_a_run_holds_one_per_cent)
{
    struct fulcrum_ratio gpu_time;
    struct fulcrum_ratio speedup;
    copa(&paper, 200, &gpu_time, &speedup);
    CU_ASSERT(speedup.lo < 1.005);
    CU_ASSERT(speedup.hi > 1.01 && speedup.hi < 1.06);
}

/* Seconds of a training step alone on a machine's GPU. */
static double train_step_s(const char *machine)
{
    const struct wanted wanted = {machine, "v100-inci2020", 256, 0, 1};
    struct place place;
    open_place(&place, &wanted);
    struct fulcrum_study *study = study_of(&place, NULL, 0, 0);
    double time_s = fulcrum_study_at(study, 0, 0)[FULCRUM_MEMORY_TRAIN_STEP];
    fulcrum_study_free(study);
    place_close(&place);
    return time_s;
}

/* docs/whatifs.md: what would refute the share of DRAM bandwidth. */
TEST(test_an_h200_hardly_trains_faster_than_an_h100)
{
    double ratio = train_step_s("dgx-h200") / train_step_s("dgx-h100");
    CU_ASSERT_DOUBLE_EQUAL(ratio, 0.9926, 2e-4);
}

static int stop_at_half(void *user, double done_frac)
{
    int *calls = user;
    (*calls)++;
    return done_frac >= 0.5;
}

TEST(test_work_can_be_stopped_and_refused)
{
    struct place place;
    open_place(&place, &paper);
    struct fulcrum_cost_tables costs = {.result = NULL};
    int calls = 0;
    const struct fulcrum_study_plan plan = {.scenario = place.scenario,
        .predict = equations(0),
        .watch = stop_at_half,
        .watcher = &calls};
    CU_ASSERT_EQUAL(
        fulcrum_component_costs_add(&plan, &costs, NULL), FULCRUM_ERR_INTERRUPTED);
    /* Once after each shift of as many designs as there are threads. */
    size_t threads = fulcrum_parallel_threads();
    size_t each = threads < FULCRUM_IDEAL_SETS ? threads : FULCRUM_IDEAL_SETS;
    CU_ASSERT_EQUAL((size_t)calls, (FULCRUM_IDEAL_SETS / 2 + each - 1) / each);
    place_close(&place);

    /* A memory that holds nothing fails in a sentence. */
    open_place(&place, &paper);
    struct fulcrum_setting small;
    struct fulcrum_study *study = NULL;
    const struct fulcrum_study_plan refused = {
        .scenario = place.scenario, .predict = equations(0)};
    const struct fulcrum_point version = {&small, 1, 0, 0};
    set_field(&small, "machine.gpu.memory_byte", 1e8);
    ASSERT_FAILS(fulcrum_memory_study(&refused, &version, 1, &study, &err),
        FULCRUM_ERR_INFEASIBLE, "machine.gpu.memory_byte");
    place_close(&place);
}

/* A calibration whose GPU does not say its bandwidth cannot be freed of it. */
TEST(test_what_the_calibration_does_not_know_is_stuck)
{
    struct place place;
    open_place(&place, &paper);
    place.inputs.calibrations[0]->machine.gpu.dram_byte_per_s = (double)NAN;
    struct fulcrum_cost_tables costs = costs_in(&place, 0);
    const struct fulcrum_table *notes = fulcrum_result_table_of(costs.result, "notes");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(notes), 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(fulcrum_table_cell(notes, 0, 0).text, "'DRAM bandwidth'"));
    fulcrum_result_free(costs.result);
    place_close(&place);
}

/* What each component costs, in any order. */
enum { N = FULCRUM_IDEAL_COUNT, SETS = FULCRUM_IDEAL_SETS };

static int has(unsigned set, size_t i)
{
    return (set >> i & 1U) != 0U;
}

/* Where time is a sum, every order gives the same shares. */
TEST(test_shares_of_a_sum_do_not_depend_on_the_order)
{
    static const double part[N] = {12, 16, 15, 57, 30, 7};
    const double rest = 20;
    double time[SETS];
    double whole = rest;
    for (size_t i = 0; i < N; i++) {
        whole += part[i];
    }
    for (unsigned set = 0; set < SETS; set++) {
        time[set] = whole;
        for (size_t i = 0; i < N; i++) {
            time[set] -= has(set, i) ? part[i] : 0;
        }
    }
    struct fulcrum_ideal_share shares[N];
    fulcrum_ideal_shares(time, shares);
    for (size_t i = 0; i < N; i++) {
        const double told[] = {shares[i].in_order_frac, shares[i].first_frac,
            shares[i].last_frac, shares[i].least_frac, shares[i].most_frac,
            shares[i].mean_frac};
        for (size_t k = 0; k < LENGTH(told); k++) {
            assert_close("share", told[k], part[i] / whole, 1e-12);
        }
    }
}

/* A time that is no sum: the longest of two queues, and something that varies. */
static void fill_times(double *time)
{
    for (unsigned set = 0; set < SETS; set++) {
        double gpu = 1 + 3 * !has(set, 0) + 2 * !has(set, 1) + 1.5 * !has(set, 3);
        double host = 2 + 4 * !has(set, 5) + !has(set, 2) * !has(set, 4);
        time[set] = fmax(gpu, host) + 0.1 * gpu * host;
    }
}

struct walk {
    const double *time;
    double sum[N];
    double least[N];
    double most[N];
    double count;
};

/* Every order, one after the other: six deep, and nothing in common with sums over
 * sets. NOLINTNEXTLINE(misc-no-recursion) */
static void walk_orders(struct walk *walk, unsigned set, const double *saved)
{
    if (set == SETS - 1) {
        for (size_t i = 0; i < N; i++) {
            walk->sum[i] += saved[i];
            walk->least[i] = fmin(walk->least[i], saved[i]);
            walk->most[i] = fmax(walk->most[i], saved[i]);
        }
        walk->count += 1;
        return;
    }
    for (size_t i = 0; i < N; i++) {
        if (!has(set, i)) {
            double next[N];
            memcpy(next, saved, sizeof next);
            next[i] = (walk->time[set] - walk->time[set | 1U << i]) / walk->time[0];
            walk_orders(walk, set | 1U << i, next);
        }
    }
}

TEST(test_shares_agree_with_all_720_orders)
{
    double time[SETS];
    struct fulcrum_ideal_share shares[N];
    const double nothing[N] = {0};
    struct walk walk = {.time = time};
    for (size_t i = 0; i < N; i++) {
        walk.least[i] = INFINITY;
        walk.most[i] = -INFINITY;
    }
    fill_times(time);
    fulcrum_ideal_shares(time, shares);
    walk_orders(&walk, 0, nothing);
    CU_ASSERT_EQUAL(walk.count, 720.0);
    int differs = 0;
    for (size_t i = 0; i < N; i++) {
        assert_close(
            "mean", 1 + shares[i].mean_frac, 1 + walk.sum[i] / walk.count, 1e-12);
        assert_close("least", 1 + shares[i].least_frac, 1 + walk.least[i], 1e-14);
        assert_close("most", 1 + shares[i].most_frac, 1 + walk.most[i], 1e-14);
        differs = differs || shares[i].most_frac > shares[i].least_frac + 0.05;
    }
    CU_ASSERT(differs);
}

TEST(test_shares_sum_to_what_is_saved)
{
    double time[SETS];
    struct fulcrum_ideal_share shares[N];
    fill_times(time);
    fulcrum_ideal_shares(time, shares);
    double in_order = 0;
    double mean = 0;
    for (size_t i = 0; i < N; i++) {
        in_order += shares[i].in_order_frac;
        mean += shares[i].mean_frac;
        CU_ASSERT(shares[i].least_frac <= shares[i].first_frac);
        CU_ASSERT(shares[i].last_frac <= shares[i].most_frac);
        CU_ASSERT(shares[i].least_frac <= shares[i].mean_frac);
    }
    double saved = (time[0] - time[SETS - 1]) / time[0];
    assert_close("in order", in_order, saved, 1e-12);
    assert_close("mean", mean, saved, 1e-12);
    assert_close(
        "first of the list", shares[0].in_order_frac, shares[0].first_frac, 1e-14);
    assert_close("last of the list", 1 + shares[N - 1].in_order_frac,
        1 + shares[N - 1].last_frac, 1e-14);
}

/* Every component changes fields that there are, by values that they take. */
TEST(test_ideal_settings_are_in_range)
{
    static struct fulcrum_design design;
    struct fulcrum_setting settings[FULCRUM_IDEAL_SETTINGS_MOST];
    size_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        size_t count = fulcrum_ideal_settings(1U << i, settings);
        CU_ASSERT(count > 0);
        for (size_t k = 0; k < count; k++) {
            ASSERT_OK(fulcrum_field_set_number(
                settings[k].field, &design, settings[k].number, NULL));
        }
        sum += count;
    }
    CU_ASSERT_EQUAL(fulcrum_ideal_settings(SETS - 1, settings), sum);
    CU_ASSERT_EQUAL(fulcrum_ideal_settings(0, settings), 0);
}

TEST(test_components_are_known_by_name)
{
    CU_ASSERT_EQUAL(fulcrum_ideal_find("SM utilization"), FULCRUM_IDEAL_SM);
    CU_ASSERT_EQUAL(fulcrum_ideal_find("of DRAM bandwidth"), FULCRUM_IDEAL_DRAM);
    CU_ASSERT_EQUAL(fulcrum_ideal_find("small mathematics"), N);
    CU_ASSERT(fulcrum_ideal_is_gpu(FULCRUM_IDEAL_DRAM));
    CU_ASSERT(!fulcrum_ideal_is_gpu(FULCRUM_IDEAL_HOST));
}
