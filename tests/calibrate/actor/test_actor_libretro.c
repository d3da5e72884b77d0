/* test_actor_libretro.c - the console actor, held against a core of two pixels. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "calibrate/actor/actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define PLANE       ((size_t)84 * 84)
#define NO_BUTTON   ((size_t)-1)
#define LEVEL_COUNT 128 /* brightness of the toy core wraps there */

/* TOY_CORE, TOY_CORE_2, PLAIN_LIBRARY and TOY_FOLDER are paths that CMake knows. */

struct stage {
    struct scratch scratch; /* of the ROM */
    const struct fulcrum_actor *actor;
    struct fulcrum_actor_shared *shared;
    struct fulcrum_actor_info info;
    struct fulcrum_env *env;
    unsigned char observation[4 * PLANE];
};

/* The toy core with a game whose first letter is `manner`. */
static struct stage open_toy(const char *manner, double frame_skip)
{
    struct stage stage = {.actor = fulcrum_actor_find("libretro")};
    stage.scratch = scratch_new();
    char *rom = scratch_write(&stage.scratch, "rom", manner);
    struct fulcrum_actor_options options = {
        .frame_skip = frame_skip, .core = TOY_CORE, .rom = rom};
    ASSERT_SAYS(
        stage.actor->open(&options, &stage.shared, &stage.info, &err), FULCRUM_OK, "");
    free(rom);
    ASSERT_SAYS(
        stage.actor->env_new(stage.shared, 1, &stage.env, &err), FULCRUM_OK, "");
    CU_ASSERT_EQUAL_FATAL(stage.info.observation_count, sizeof stage.observation);
    stage.actor->reset(stage.env, stage.observation);
    return stage;
}

static void close_toy(struct stage *stage)
{
    stage->actor->env_free(stage->env);
    stage->actor->close(stage->shared);
    scratch_free(&stage->scratch);
}

/* The larger brightness of the newest picture is that of the last frame. */
static int newest_level(const struct stage *stage)
{
    const unsigned char *plane = stage->observation + 3 * PLANE;
    return plane[0] > plane[PLANE - 1] ? plane[0] : plane[PLANE - 1];
}

static int step(struct stage *stage, float right)
{
    float action[8] = {right, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
    return stage->actor->step(stage->env, action, stage->observation);
}

static int advance_of_level(struct stage *stage, float right)
{
    int before = newest_level(stage);
    (void)step(stage, right);
    return (newest_level(stage) - before + LEVEL_COUNT) % LEVEL_COUNT;
}

TEST(test_step_runs_its_frames_with_the_buttons_held)
{
    struct stage toy = open_toy("N", 0.0);
    CU_ASSERT_EQUAL(toy.info.frame_skip, 4.0);
    CU_ASSERT_EQUAL(toy.info.observation_count, 4 * PLANE);
    CU_ASSERT_EQUAL(advance_of_level(&toy, 0.0F), 4);
    CU_ASSERT_EQUAL(advance_of_level(&toy, 1.0F), 12);
    CU_ASSERT_EQUAL(advance_of_level(&toy, -1.0F), 4);
    close_toy(&toy);
}

/* Each pixel is black in every second frame: only their maximum shows both. */
TEST(test_picture_is_the_maximum_of_the_last_two_frames)
{
    struct stage toy = open_toy("N", 0.0);
    for (int i = 0; i < 20; i++) {
        (void)step(&toy, 0.0F);
        const unsigned char *plane = toy.observation + 3 * PLANE;
        int apart = abs((int)plane[0] - plane[PLANE - 1]);
        CU_ASSERT(apart == 1 || apart == LEVEL_COUNT - 1);
    }
    close_toy(&toy);
    toy = open_toy("N", 1.0);
    (void)step(&toy, 0.0F);
    const unsigned char *plane = toy.observation + 3 * PLANE;
    CU_ASSERT(plane[0] == 0 || plane[PLANE - 1] == 0);
    close_toy(&toy);
}

TEST(test_stack_moves_by_one_picture_a_step)
{
    struct stage toy = open_toy("N", 0.0);
    CU_ASSERT_EQUAL(memcmp(toy.observation, toy.observation + PLANE, 3 * PLANE), 0);
    unsigned char before[4 * PLANE];
    for (int i = 0; i < 5; i++) {
        memcpy(before, toy.observation, 4 * PLANE);
        (void)step(&toy, 0.0F);
        CU_ASSERT_EQUAL(memcmp(before + PLANE, toy.observation, 3 * PLANE), 0);
    }
    close_toy(&toy);
}

TEST(test_episode_ends_after_18000_frames)
{
    struct stage toy = open_toy("N", 100.0);
    for (int i = 1; i < 180; i++) {
        CU_ASSERT_EQUAL(step(&toy, 0.0F), 0);
    }
    CU_ASSERT_EQUAL(step(&toy, 0.0F), 1);
    toy.actor->reset(toy.env, toy.observation);
    CU_ASSERT_EQUAL(step(&toy, 0.0F), 0);
    close_toy(&toy);
}

/* 60 frames to boot, then 2 to 30 of which all but two hold random buttons. */
static void expect_starts(const char *manner)
{
    struct stage toy = open_toy(manner, 0.0);
    for (int i = 0; i < 20; i++) {
        (void)step(&toy, 1.0F);
        toy.actor->reset(toy.env, toy.observation);
        int risen = (newest_level(&toy) - 60 + LEVEL_COUNT) % LEVEL_COUNT;
        CU_ASSERT(risen >= 2 && risen <= 2 + 3 * 28);
    }
    close_toy(&toy);
}

TEST(test_reset_goes_back_to_the_start)
{
    expect_starts("N");
    expect_starts("S");
}

TEST(test_pixels_of_16_bits_are_understood)
{
    struct stage toy = open_toy("5", 0.0);
    int level = newest_level(&toy);
    CU_ASSERT(level > 0 && level < LEVEL_COUNT);
    close_toy(&toy);
}

/* 40 steps from a new start: how many showed the picture of the step before. */
static int count_stale_steps(struct stage *toy)
{
    toy->actor->reset(toy->env, toy->observation);
    int stale_count = 0;
    for (int i = 0; i < 40; i++) {
        stale_count += advance_of_level(toy, 0.0F) < 2;
    }
    return stale_count;
}

/* Even frames repeat odd ones, and starts differ in which of them counts. An old
 * picture would be seen where the brightness falls back to 0: in the maximum it
 * wins. */
TEST(test_repeated_pictures_are_not_those_of_the_step_before)
{
    struct stage toy = open_toy("D", 0.0);
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(count_stale_steps(&toy), 0);
    }
    close_toy(&toy);
}

TEST(test_core_is_found_by_name_in_the_users_folder)
{
    CU_ASSERT_EQUAL(setenv("LIBRETRO_DIRECTORY", TOY_FOLDER, 1), 0);
    struct scratch scratch = scratch_new();
    char *rom = scratch_write(&scratch, "rom", "N");
    struct fulcrum_actor_options options = {.core = "fulcrum_toy", .rom = rom};
    const struct fulcrum_actor *actor = fulcrum_actor_find("libretro");
    struct fulcrum_actor_shared *shared = NULL;
    struct fulcrum_actor_info info;
    ASSERT_OK(actor->open(&options, &shared, &info, NULL));
    assert_part(info.detail, "Toy 3");
    actor->close(shared);
    free(rom);
    scratch_free(&scratch);
    CU_ASSERT_EQUAL(unsetenv("LIBRETRO_DIRECTORY"), 0);
}

/* Opens, expects `status`, and that the detail names `text`. */
static void expect_failure(
    const char *core, const char *rom, enum fulcrum_status status, const char *text)
{
    const struct fulcrum_actor *actor = fulcrum_actor_find("libretro");
    struct fulcrum_actor_options options = {.core = core, .rom = rom};
    struct fulcrum_actor_shared *shared = NULL;
    struct fulcrum_actor_info info;
    ASSERT_FAILS(actor->open(&options, &shared, &info, &err), status, text);
    CU_ASSERT_PTR_NULL(shared);
}

TEST(test_files_that_are_no_core_are_refused)
{
    struct scratch scratch = scratch_new();
    char *text = scratch_write(&scratch, "text", "no core\n");
    char *empty = scratch_write(&scratch, "empty", "");
    expect_failure("no-such-core", NULL, FULCRUM_ERR_UNSUPPORTED, "no-such-core");
    expect_failure("/no/such/core.so", NULL, FULCRUM_ERR_FILE, "/no/such/core.so");
    expect_failure("/tmp", NULL, FULCRUM_ERR_FILE, "not a regular file");
    expect_failure(text, NULL, FULCRUM_ERR_FORMAT, text);
    expect_failure(empty, NULL, FULCRUM_ERR_FORMAT, "0 bytes");
    expect_failure("/proc/self/exe", NULL, FULCRUM_ERR_FORMAT, "/proc/self/exe");
    expect_failure(PLAIN_LIBRARY, NULL, FULCRUM_ERR_FORMAT, "no function retro_");
    expect_failure(TOY_CORE_2, NULL, FULCRUM_ERR_FORMAT, "libretro version 2");
    free(text);
    free(empty);
    scratch_free(&scratch);
}

/* Cut anywhere, a shared object must not take the program down with it. */
TEST(test_truncated_cores_are_refused)
{
    FILE *file = fopen(TOY_CORE, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    static char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    struct scratch scratch = scratch_new();
    char *part = scratch_path(&scratch, "part");
    const size_t lengths[] = {4, 63, 64, 100, 800, 5000, size / 2};
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        size_t length = lengths[i] < size ? lengths[i] : size / 2;
        file = fopen(part, "wb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        CU_ASSERT_EQUAL(fwrite(bytes, 1, length, file), length);
        (void)fclose(file);
        expect_failure(part, NULL, FULCRUM_ERR_FORMAT, part);
    }
    free(part);
    scratch_free(&scratch);
}

TEST(test_roms_that_are_none_are_refused)
{
    static const struct {
        const char *rom;
        const char *text;
    } rows[] = {{"", "rom"}, {"R", "toy|toy2"}, {"W", "5000 x 1"}};
    struct scratch scratch = scratch_new();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *rom = scratch_write(&scratch, "rom", rows[i].rom);
        expect_failure(TOY_CORE, rom, FULCRUM_ERR_FORMAT, rows[i].text);
        free(rom);
    }
    expect_failure(TOY_CORE, "/no/such/rom", FULCRUM_ERR_FILE, "/no/such/rom");
    expect_failure(TOY_CORE, NULL, FULCRUM_ERR_MISSING, "give it a ROM");
    scratch_free(&scratch);
}

/* Play of the built-in game with one button held: its last observation. */
static void play_built_in(
    struct stage *stage, size_t button, unsigned char observation[4 * PLANE])
{
    float action[8] = {0.0F};
    if (button != NO_BUTTON) {
        action[button] = 1.0F;
    }
    struct fulcrum_env *env = NULL;
    ASSERT_OK(stage->actor->env_new(stage->shared, 3, &env, NULL));
    for (int i = 0; i < 20; i++) {
        (void)stage->actor->step(env, action, observation);
    }
    stage->actor->env_free(env);
}

/* Select is left out: it changes the speed of a walk, and does nothing alone. */
TEST(test_built_in_game_answers_to_every_button)
{
    struct stage stage = {.actor = fulcrum_actor_find("libretro")};
    if (stage.actor->open(NULL, &stage.shared, &stage.info, NULL) != FULCRUM_OK) {
        return; /* no gambatte here */
    }
    static const size_t buttons[] = {0, 1, 2, 3, 4, 5, 7, NO_BUTTON};
    static unsigned char seen[LENGTH(buttons)][4 * PLANE];
    int alike_count = 0;
    for (size_t i = 0; i < LENGTH(buttons); i++) {
        play_built_in(&stage, buttons[i], seen[i]);
        for (size_t j = 0; j < i; j++) {
            alike_count += memcmp(seen[i], seen[j], sizeof seen[i]) == 0;
        }
    }
    CU_ASSERT_EQUAL(alike_count, 0);
    stage.actor->close(stage.shared);
}
