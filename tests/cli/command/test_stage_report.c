/* test_stage_report.c - recorded runs printed for people and programs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/measured_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

/* Ten seconds: 4 of simulation, 3 of inference, 3 idle. */
static struct fulcrum_stage_times ten_seconds(void)
{
    return (struct fulcrum_stage_times){
        .facts = {.step_count = 1000.0, .cost = {1e-8, 2e-8, 3e-8}},
        .window_s = 10.0,
        .corrected_window_s = 9.9,
        .swept_s = 10.0,
        .idle_s = 3.0,
        .outside_s = 0.5,
        .recording_s = 0.1,
        .event_count = 123,
        .used_track_count = 2,
        .kinds = {[FULCRUM_STAGE_SIMULATION] = {.wall_s = 4.0,
                      .active_s = 5.0,
                      .thread_s = 6.0,
                      .cpu_s = 5.5,
                      .event_count = 100.0,
                      .recording_s = 0.1},
            [FULCRUM_STAGE_INFERENCE] = {.wall_s = 3.0,
                .active_s = 3.0,
                .thread_s = 3.0,
                .cpu_s = 2.0,
                .event_count = 20.0},
            [FULCRUM_STAGE_WAIT] = {
                .thread_s = 7.0, .cpu_s = 0.25, .event_count = 3.0}}};
}

enum { RUNS_MOST = 3 };

/* Recorded runs of a measurement whose points they are; the caller frees the result.
 *   predicted    NULL: nothing was */
static struct fulcrum_result *result_of(const struct fulcrum_measured_stages *runs,
    size_t count, const struct fulcrum_stage_prediction *predicted)
{
    struct fulcrum_measure_window window = {.steps_per_s = 1.0};
    struct fulcrum_measured points[RUNS_MOST];
    struct fulcrum_measured_stages items[RUNS_MOST];
    CU_ASSERT_FATAL(count <= RUNS_MOST);
    for (size_t i = 0; i < count; i++) {
        items[i] = runs[i];
        points[i] = (struct fulcrum_measured){
            .config = runs[i].config, .windows = &window, .window_count = 1};
    }
    /* One that failed was not measured either. */
    points[0].window_count = runs[0].failure[0] != '\0' ? 0 : 1;
    const struct fulcrum_measurement measurement = {.count = count, .items = points};
    const struct fulcrum_stages_measurement stages = {.count = count, .items = items};
    const struct fulcrum_measured_points measured = {
        .measurement = &measurement, .stages = &stages, .stage_predictions = predicted};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-measure");
    fulcrum_measured_add_stages(result, &measured);
    return result;
}

/* The caller frees it. */
static char *print_beside(const struct fulcrum_stage_times *times,
    const struct fulcrum_stage_prediction *predicted, enum fulcrum_format format)
{
    const struct fulcrum_measured_stages measured = {
        .config = {.actor_count = 8, .envs_per_actor = 1},
        .times = *times,
        .recorded_steps_per_s = 990.0,
        .unrecorded_steps_per_s = 1010.0,
        .corrected_steps_per_s = 1000.0,
        .pairs = {.pair_count = 20, .mean_frac = 0.012, .upper_frac = 0.034}};
    struct fulcrum_result *result = result_of(&measured, 1, predicted);
    FILE *stream = stream_new();
    ASSERT_OK(fulcrum_result_write(result, format, NULL, stream, NULL));
    fulcrum_result_free(result);
    return stream_text(stream);
}

static char *print(const struct fulcrum_stage_times *times, enum fulcrum_format format)
{
    return print_beside(times, NULL, format);
}

TEST(test_tables_show_shares_times_and_sentences)
{
    struct fulcrum_stage_times times = ten_seconds();
    char *text = print(&times, FULCRUM_FORMAT_TABLE);
    static const char *const parts[] = {"8 actors  simulation", "40 %", "5.5 ms",
        "8 actors  wait", "8 actors  outside", "8 actors  idle",
        "over 20 pairs of windows by turns recording costs 1.2 %, at most 3.4 %",
        "990 steps/s with it, 1000 corrected, 1010 without",
        "123 stages recorded in 10 s", "took 100 ms", "at most 1 %"};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(text, parts[i]);
    }
    CU_ASSERT_PTR_NULL(strstr(text, "training"));
    CU_ASSERT_PTR_NULL(strstr(text, "gpu"));
    CU_ASSERT_PTR_NULL(strstr(text, "GPU"));
    CU_ASSERT_PTR_NULL(strstr(text, "event_count"));
    free(text);
}

/* Of 90 steps a second with four steps a request; the server and actors. */
static const struct fulcrum_stage_prediction prediction = {.steps_per_s = 90.0,
    .requests_per_s = 22.5,
    .thread_count = {[FULCRUM_STAGE_SIMULATION] = 0.45,
        [FULCRUM_STAGE_INFERENCE] = 0.36,
        [FULCRUM_STAGE_REPLAY] = (double)NAN},
    .residence = {0.02, 0.003, 0.004, 0.0005}};

/* An actor's track: 2 s of stepping, 1 s of handing in and 6 s of waiting. */
static struct fulcrum_stage_track actor_track(void)
{
    return (struct fulcrum_stage_track){.name = "actor 0",
        .stage_s = {[FULCRUM_STAGE_SIMULATION] = 2.0,
            [FULCRUM_STAGE_HANDOFF] = 1.0,
            [FULCRUM_STAGE_WAIT] = 6.0}};
}

TEST(test_predictions_stand_beside_what_was_recorded)
{
    struct fulcrum_stage_times times = ten_seconds();
    struct fulcrum_stage_track tracks[3] = {
        actor_track(), actor_track(), actor_track()};
    times.tracks = tracks; /* server, trainer and one actor: the last one counts */
    times.track_count = 3;
    char *text = print_beside(&times, &prediction, FULCRUM_FORMAT_TABLE);
    /* 6 s of simulation in 10 s and over 1000 steps; 0.45 threads over 90 steps/s. */
    static const char *const parts[] = {"threads  predicted  per step  predicted",
        "5.5 ms      0.6       0.45      6 ms       5 ms", "0.36      3 ms       4 ms",
        "step and hand in  predicted", "12 ms      20 ms", "24 ms     7.5 ms"};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(text, parts[i]);
    }
    free(text);
    text = print(&times, FULCRUM_FORMAT_TABLE);
    CU_ASSERT_PTR_NULL(strstr(text, "predicted"));
    CU_ASSERT_PTR_NULL(strstr(text, "hand in"));
    free(text);
    text = print_beside(&times, &prediction, FULCRUM_FORMAT_JSON);
    assert_part(text, "\"predicted_threads\": 0.45");
    assert_part(text, "\"predicted_wait_s\": 0.0075");
    assert_part(text, "\"predicted_host_s\": 0.003");
    free(text);
    text = print(&times, FULCRUM_FORMAT_JSON);
    assert_part(text, "\"predicted_threads\": null");
    assert_part(text, "\"cycles\": [");
    CU_ASSERT_PTR_NULL(strstr(text, "predicted_wait_s"));
    free(text);
}

TEST(test_what_was_dropped_is_said)
{
    struct fulcrum_stage_times times = ten_seconds();
    times.dropped_count = 77;
    times.swept_s = 8.5;
    char *text = print(&times, FULCRUM_FORMAT_TABLE);
    assert_part(text, "77 stages found no room: shares are those of the first 8.5 s");
    free(text);
}

TEST(test_runs_without_pairs_say_nothing_of_them)
{
    const struct fulcrum_measured_stages run = {
        .config = {.actor_count = 1, .envs_per_actor = 1},
        .times = ten_seconds(),
        .recorded_steps_per_s = 5.0};
    struct fulcrum_result *result = result_of(&run, 1, NULL);
    const struct fulcrum_table *notes =
        fulcrum_result_table_of(result, "recording_notes");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(notes), 1);
    assert_part(fulcrum_table_cell(notes, 0, 0).text, "1 actor: 123 stages");
    CU_ASSERT_PTR_NULL(
        strstr(fulcrum_table_cell(notes, 0, 0).text, "pairs of windows"));
    fulcrum_result_free(result);
}

/* One that failed has no row; where rules differ names tell them. */
TEST(test_runs_are_named_by_what_tells_them_apart)
{
    struct fulcrum_measured_stages runs[3] = {{.config = {.actor_count = 1,
                                                   .envs_per_actor = 1,
                                                   .policy = FULCRUM_BATCH_FIXED,
                                                   .batch_size = 9.0},
                                                  .failure = "never fills"},
        {.config = {.actor_count = 1, .envs_per_actor = 1}, .times = ten_seconds()},
        {.config = {.actor_count = 2, .envs_per_actor = 3}, .times = ten_seconds()}};
    /* Points are numbered without those that have no window, as in the reference. */
    const struct fulcrum_stage_prediction predicted[] = {
        prediction, {.steps_per_s = 45.0, .requests_per_s = 45.0}};
    struct fulcrum_result *result = result_of(runs, 3, predicted);
    const struct fulcrum_table *cycles = fulcrum_result_table_of(result, "cycles");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(cycles), 2);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_table_at(cycles, 0, "run").text, "1 actor, greedy K=1");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_table_at(cycles, 1, "run").text, "2 actors of 3, greedy K=3");
    CU_ASSERT_EQUAL(fulcrum_table_at(cycles, 0, "predicted_step_s").number, 0.02);
    CU_ASSERT_EQUAL(fulcrum_table_at(cycles, 1, "predicted_step_s").number, 0.0);
    CU_ASSERT_EQUAL(
        fulcrum_table_rows(fulcrum_result_table_of(result, "recordings")), 2);
    fulcrum_result_free(result);
}

TEST(test_nothing_recorded_has_no_tables)
{
    const struct fulcrum_measured_stages run = {.failure = "never fills"};
    struct fulcrum_result *result = result_of(&run, 1, NULL);
    CU_ASSERT_PTR_NULL(fulcrum_result_table_of(result, "recordings"));
    fulcrum_result_free(result);
}

TEST(test_csv_has_empty_cells_for_what_is_not_known)
{
    struct fulcrum_stage_times times = ten_seconds();
    char *text = print(&times, FULCRUM_FORMAT_CSV);
    assert_part(text,
        "run,stage,share_frac,cpu_only_frac,cpu_and_gpu_frac,gpu_only_frac,active_s,"
        "thread_s,cpu_s,gpu_s,cpu_s_per_step,event_count,recording_s,threads,"
        "predicted_threads,thread_s_per_step,predicted_s_per_step\n");
    assert_part(text, "8 actors,wait,,,,,,7,0.25,,0.00025000000000000001,3,0,"
                      "0.69999999999999996,,0.0070000000000000001,\n");
    free(text);
}

/* What is printed as JSON is what the chart is drawn from. */
TEST(test_json_reads_back_into_a_chart)
{
    struct fulcrum_stage_times times = ten_seconds();
    char *text = print(&times, FULCRUM_FORMAT_JSON);
    assert_part(text, "\"recordings\": [");
    assert_part(text, "\"sm_active_frac\": null");
    assert_part(text, "\"cost_upper_frac\": 0.034");
    static const struct said said[] = {{"8 actors", 1}, {"40 %", 1}, {"30 %", 2},
        {"no stage: all wait", 1}, {"replay", 0}, {NULL, 0}};
    struct plot_file file;
    ASSERT_OK(plot_file_show(&file, "measured.json", text, "stages", NULL));
    assert_close("cpu",
        plot_file_cell(&file, "stages", FULCRUM_STAGE_INFERENCE, "cpu_only_frac")
            .number,
        0.3, 1e-12);
    assert_said(file.canvas, said);
    plot_file_close(&file);
    free(text);
}
