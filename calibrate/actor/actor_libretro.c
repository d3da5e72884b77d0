/* actor_libretro.c - console games, seen as Atari agents see theirs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/actor/actor.h"
#include "calibrate/actor/libretro_core.h"
#include "calibrate/fulcrum_gameboy_program.h"
#include "calibrate/statistics.h"
#include "model/try.h"

/*
 * Standard output kept clean of what foreign libraries print. Where it went before; -1
 * where nothing was changed. Both ends flush, since the libraries write to the same
 * buffer of the C library.
 */
static int guard_stdout(void)
{
    (void)fflush(stdout);
    int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int before =
        sink < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (before >= 0) {
        (void)dup2(sink, STDOUT_FILENO);
    }
    if (sink >= 0) {
        (void)close(sink);
    }
    return before;
}

/*
 * The frame skip, the maximum over two frames, the stack of four frames, the random
 * start and the length of an episode (30 minutes of play cut to 5) follow Mnih et al.:
 * Human-level control through deep reinforcement learning (2015).
 */
#define STACK_COUNT         4
#define STACK_BYTE          (STACK_COUNT * FULCRUM_FRAME_84_BYTE)
#define BUTTON_COUNT        8
#define EPISODE_FRAME_COUNT 18000
#define START_FRAME_MIN     2 /* two frames make one observation */
#define START_FRAME_MAX     30
/* Frames from power-on to the state that episodes start from. */
#define BOOT_FRAME_COUNT 60

struct fulcrum_actor_shared {
    char core_path[4096];
    char rom_path[4096];   /* "" for the built-in game */
    char rom_folder[4096]; /* cores look for firmware beside the ROM */
    struct fulcrum_libretro_file core_image;
    struct fulcrum_libretro_file rom;
    char system[100]; /* name and version of the core */
    int frame_skip;
    /* Cores print while they load; only one thread at a time may silence that. */
    pthread_mutex_t loading;
};

/* What becomes of the picture of one frame. */
enum frame_use { FRAME_SKIP, FRAME_KEEP, FRAME_MERGE };

struct fulcrum_env {
    const struct fulcrum_actor_shared *shared;
    struct fulcrum_libretro_core core;
    int core_is_ready; /* init was called */
    int game_is_loaded;
    enum fulcrum_pixel pixel;
    enum frame_use frame_use;
    int core_repeats; /* says "picture as before" at times: none may be skipped then */
    unsigned buttons; /* bits of enum libretro_button */
    size_t width;     /* of the picture in `grey`, 0 before the first */
    size_t height;
    size_t width_max;
    size_t height_max;
    uint8_t *grey; /* maximum over the frames of one step that count */
    uint8_t *row;
    uint32_t *sums;
    uint8_t *start_state; /* NULL where the core cannot save */
    size_t start_state_byte;
    uint8_t *stack; /* STACK_BYTE, oldest frame first */
    int step_count;
    struct fulcrum_random random;
};

/*
 * A core's callbacks carry no pointer of ours, and one process runs many cores on many
 * threads: the environment whose core a thread is inside can only be thread storage.
 */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static _Thread_local struct fulcrum_env *current;

static void ignore_log(int level, const char *format, ...)
{
    (void)level;
    (void)format;
}

static bool set_pixel(const int *pixel)
{
    bool known = *pixel >= FULCRUM_PIXEL_0RGB1555 && *pixel <= FULCRUM_PIXEL_RGB565;
    if (known) {
        current->pixel = (enum fulcrum_pixel) * pixel;
    }
    return known;
}

static bool get_system_directory(const char **folder)
{
    *folder = current->shared->rom_folder;
    return current->shared->rom_folder[0] != '\0';
}

static bool on_environment(unsigned command, void *data)
{
    if (current == NULL) {
        return false;
    }
    switch (command) {
    case LIBRETRO_SET_PIXEL_FORMAT:
        return set_pixel(data);
    case LIBRETRO_GET_SYSTEM_DIRECTORY:
        return get_system_directory(data);
    case LIBRETRO_GET_LOG_INTERFACE:
        ((struct libretro_log *)data)->log = ignore_log;
        return true;
    case LIBRETRO_GET_VARIABLE: /* no answer: every option has its default */
        ((struct libretro_variable *)data)->value = NULL;
        return false;
    case LIBRETRO_GET_VARIABLE_UPDATE:
        *(bool *)data = false;
        return true;
    case LIBRETRO_GET_CAN_DUPE: /* some cores refuse to run without */
        *(bool *)data = true;
        return true;
    case LIBRETRO_SET_PERFORMANCE_LEVEL:
    case LIBRETRO_SET_INPUT_DESCRIPTORS:
    case LIBRETRO_SET_VARIABLES:
    case LIBRETRO_SET_SUPPORT_NO_GAME:
    case LIBRETRO_SET_CONTROLLER_INFO:
    case LIBRETRO_SET_MEMORY_MAPS:
    case LIBRETRO_SET_GEOMETRY:
        return true;
    default:
        return false;
    }
}

static void on_video(
    const void *data, unsigned width, unsigned height, size_t pitch_byte)
{
    struct fulcrum_env *env = current;
    if (env == NULL || width == 0 || height == 0) {
        return;
    }
    /* A picture beyond the announced size has no room. */
    env->core_repeats |= data == NULL;
    if (data == NULL || env->frame_use == FRAME_SKIP || width > env->width_max ||
        height > env->height_max) {
        return;
    }
    int merge =
        env->frame_use == FRAME_MERGE && env->width == width && env->height == height;
    for (size_t y = 0; y < height; y++) {
        const char *source = (const char *)data + y * pitch_byte;
        uint8_t *target = env->grey + y * width;
        fulcrum_frame_grey(merge ? env->row : target, source, width, env->pixel);
        for (size_t i = 0; merge && i < width; i++) {
            target[i] = target[i] > env->row[i] ? target[i] : env->row[i];
        }
    }
    env->width = width;
    env->height = height;
}

static void on_audio(int16_t left, int16_t right)
{
    (void)left;
    (void)right;
}

static size_t on_audio_batch(const int16_t *samples, size_t frame_count)
{
    (void)samples;
    return frame_count;
}

static void on_poll(void)
{
}

static int16_t on_input(unsigned port, unsigned device, unsigned index, unsigned id)
{
    (void)index;
    if (current == NULL || port != 0 || device != LIBRETRO_JOYPAD ||
        id >= LIBRETRO_BUTTON_END) {
        return 0;
    }
    return (int16_t)(current->buttons >> id & 1U);
}

/* `frame_count` frames; the picture becomes the maximum over the last two of them. */
static void run_frames(struct fulcrum_env *env, int frame_count)
{
    for (int left = frame_count - 1; left >= 0; left--) {
        env->frame_use = left > 1 && !env->core_repeats ? FRAME_SKIP : FRAME_KEEP;
        if (left == 0 && frame_count > 1) {
            env->frame_use = FRAME_MERGE;
        }
        env->core.run();
    }
}

/* Play that nobody watches, each frame with buttons of its own. */
static void run_random_frames(struct fulcrum_env *env, int frame_count)
{
    for (int i = 0; i < frame_count; i++) {
        env->buttons = (unsigned)(fulcrum_random_bits(&env->random) >> 48);
        run_frames(env, 1);
    }
    env->buttons = 0;
}

static void shrink_into(const struct fulcrum_env *env, uint8_t *frame)
{
    if (env->width > 0) {
        fulcrum_frame_84(frame, env->grey, env->width, env->height, env->sums);
    }
}

static void start_episode(struct fulcrum_env *env)
{
    current = env;
    /* The state of the first episode again, or what pressing the reset button gives. */
    if (env->start_state == NULL ||
        !env->core.unserialize(env->start_state, env->start_state_byte)) {
        env->core.reset();
        env->buttons = 0;
        run_frames(env, BOOT_FRAME_COUNT);
    }
    int frame_count = (int)fulcrum_random_between(
        &env->random, START_FRAME_MIN, START_FRAME_MAX + 1.0);
    run_random_frames(env, frame_count - START_FRAME_MIN);
    run_frames(env, START_FRAME_MIN);
    current = NULL;
    shrink_into(env, env->stack);
    for (size_t i = 1; i < STACK_COUNT; i++) {
        memcpy(
            env->stack + i * FULCRUM_FRAME_84_BYTE, env->stack, FULCRUM_FRAME_84_BYTE);
    }
    env->step_count = 0;
}

static enum fulcrum_step_result libretro_reset(
    struct fulcrum_env *env, void *observation)
{
    start_episode(env);
    memcpy(observation, env->stack, STACK_BYTE);
    return FULCRUM_STEP_ON;
}

/*
 * Actions above zero hold a button down, in this order: right, left, up, down, A, B,
 * select, start.
 */
static unsigned buttons_of(const float *action)
{
    static const enum libretro_button order[BUTTON_COUNT] = {LIBRETRO_RIGHT,
        LIBRETRO_LEFT, LIBRETRO_UP, LIBRETRO_DOWN, LIBRETRO_A, LIBRETRO_B,
        LIBRETRO_SELECT, LIBRETRO_START};
    unsigned buttons = 0;
    for (size_t i = 0; i < BUTTON_COUNT; i++) {
        buttons |= (action[i] > 0.0F ? 1U : 0U) << order[i];
    }
    return buttons;
}

static enum fulcrum_step_result libretro_step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    current = env;
    env->buttons = buttons_of(action);
    run_frames(env, env->shared->frame_skip);
    current = NULL;
    memmove(env->stack, env->stack + FULCRUM_FRAME_84_BYTE,
        STACK_BYTE - FULCRUM_FRAME_84_BYTE);
    shrink_into(env, env->stack + STACK_BYTE - FULCRUM_FRAME_84_BYTE);
    memcpy(observation, env->stack, STACK_BYTE);
    env->step_count++;
    int ended =
        (double)env->step_count * env->shared->frame_skip >= EPISODE_FRAME_COUNT;
    return ended ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

static void libretro_env_free(struct fulcrum_env *env)
{
    if (env == NULL) {
        return;
    }
    current = env;
    if (env->game_is_loaded) {
        env->core.unload_game();
    }
    if (env->core_is_ready) {
        env->core.deinit();
    }
    current = NULL;
    fulcrum_libretro_core_close(&env->core);
    free(env->grey);
    free(env->row);
    free(env->sums);
    free(env->start_state);
    free(env->stack);
    free(env);
}

/* Whether `list`, as "gb|gbc", has `extension` in it. */
static bool has_extension(const char *list, const char *extension)
{
    size_t length = strlen(extension);
    for (const char *at = list; at != NULL; at = strchr(at, '|')) {
        at += *at == '|' ? 1 : 0;
        if (strncmp(at, extension, length) == 0 &&
            (at[length] == '|' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

static const char *text_or(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* All that runs inside the core, with `current` set around it. */
static enum fulcrum_status power_on(struct fulcrum_env *env, struct fulcrum_error *err)
{
    const struct fulcrum_libretro_core *core = &env->core;
    core->set_environment(on_environment);
    core->init();
    env->core_is_ready = 1;
    core->set_video_refresh(on_video);
    core->set_audio_sample(on_audio);
    core->set_audio_sample_batch(on_audio_batch);
    core->set_input_poll(on_poll);
    core->set_input_state(on_input);
    const struct fulcrum_actor_shared *shared = env->shared;
    struct libretro_system_info system = {0};
    env->core.get_system_info(&system);
    int built_in = shared->rom_path[0] == '\0';
    const char *extensions = text_or(system.valid_extensions, "");
    FAIL_IF(built_in && (system.need_fullpath || !has_extension(extensions, "gb")), err,
        FULCRUM_ERR_MISSING,
        "core \"%s\" plays %s, not the built-in Game Boy game: give it a ROM",
        shared->core_path, extensions);
    struct libretro_game_info game = {
        .path = built_in ? "fulcrum.gb" : shared->rom_path,
        .data = system.need_fullpath ? NULL : shared->rom.bytes,
        .size = system.need_fullpath ? 0 : shared->rom.size_byte,
    };
    FAIL_IF(!env->core.load_game(&game), err, FULCRUM_ERR_FORMAT,
        "core \"%s\" (%s) refuses the ROM \"%s\"; it expects one of: %s",
        shared->core_path, text_or(system.library_name, "nameless"), game.path,
        extensions);
    env->game_is_loaded = 1;
    struct libretro_av_info av_info = {0};
    env->core.get_system_av_info(&av_info);
    env->width_max = av_info.geometry.max_width;
    env->height_max = av_info.geometry.max_height;
    FAIL_IF(env->width_max == 0 || env->width_max > FULCRUM_FRAME_SOURCE_MAX ||
                env->height_max == 0 || env->height_max > FULCRUM_FRAME_SOURCE_MAX,
        err, FULCRUM_ERR_FORMAT,
        "core \"%s\" announces pictures of %zu x %zu pixels, expected 1 to %zu",
        env->shared->core_path, env->width_max, env->height_max,
        FULCRUM_FRAME_SOURCE_MAX);
    env->grey = calloc(env->width_max * env->height_max, sizeof *env->grey);
    env->row = calloc(env->width_max, sizeof *env->row);
    env->sums = calloc(env->width_max + 1, sizeof *env->sums);
    env->stack = calloc(STACK_BYTE, sizeof *env->stack);
    FAIL_IF(env->grey == NULL || env->row == NULL || env->sums == NULL ||
                env->stack == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "pictures of a game");
    /* Some cores listen to no input before this. */
    core->set_controller_port_device(0, LIBRETRO_JOYPAD);
    /* Without memory or where the core cannot save, resets press the button instead. */
    run_frames(env, BOOT_FRAME_COUNT);
    env->start_state_byte = env->core.serialize_size();
    env->start_state = calloc(env->start_state_byte + 1, 1);
    if (env->start_state_byte == 0 || env->start_state == NULL ||
        !env->core.serialize(env->start_state, env->start_state_byte)) {
        free(env->start_state);
        env->start_state = NULL;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status libretro_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *env = calloc(1, sizeof *env);
    TRY_MEMORY(env, err, "libretro environment");
    env->shared = shared;
    env->random = fulcrum_random_seeded(seed);
    (void)pthread_mutex_lock(&shared->loading);
    int before = guard_stdout();
    enum fulcrum_status status = fulcrum_libretro_core_open(
        &env->core, &shared->core_image, shared->core_path, err);
    if (status == FULCRUM_OK) {
        current = env;
        status = power_on(env, err);
        current = NULL;
    }
    if (before >= 0) {
        (void)fflush(stdout);
        (void)dup2(before, STDOUT_FILENO);
        (void)close(before);
    }
    (void)pthread_mutex_unlock(&shared->loading);
    if (status != FULCRUM_OK) {
        libretro_env_free(env);
        return status;
    }
    start_episode(env);
    *out = env;
    return FULCRUM_OK;
}

static void libretro_close(struct fulcrum_actor_shared *shared)
{
    if (shared != NULL) {
        fulcrum_libretro_file_free(&shared->core_image);
        fulcrum_libretro_file_free(&shared->rom);
        (void)pthread_mutex_destroy(&shared->loading);
        free(shared);
    }
}

static enum fulcrum_status take_built_in_rom(
    struct fulcrum_actor_shared *shared, struct fulcrum_error *err)
{
    shared->rom.bytes = calloc(FULCRUM_GAMEBOY_ROM_BYTE, 1);
    TRY_MEMORY(shared->rom.bytes, err, "built-in game");
    shared->rom.size_byte = FULCRUM_GAMEBOY_ROM_BYTE;
    fulcrum_gameboy_rom(shared->rom.bytes);
    return FULCRUM_OK;
}

static enum fulcrum_status read_rom(
    struct fulcrum_actor_shared *shared, const char *path, struct fulcrum_error *err)
{
    size_t length = strlen(path);
    FAIL_IF(length >= sizeof shared->rom_path, err, FULCRUM_ERR_RANGE,
        "the path of a ROM is %zu bytes long", length);
    memcpy(shared->rom_path, path, length + 1);
    const char *slash = strrchr(path, '/');
    (void)snprintf(shared->rom_folder, sizeof shared->rom_folder, "%.*s",
        slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    return fulcrum_libretro_file_read(&shared->rom, path, "ROM", err);
}

static enum fulcrum_status read_files(struct fulcrum_actor_shared *shared,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    const char *core = options != NULL ? options->core : NULL;
    const char *rom = options != NULL ? options->rom : NULL;
    TRY(fulcrum_libretro_find(
        shared->core_path, sizeof shared->core_path, text_or(core, "gambatte"), err));
    TRY(fulcrum_libretro_file_read(
        &shared->core_image, shared->core_path, "core", err));
    return rom == NULL ? take_built_in_rom(shared, err) : read_rom(shared, rom, err);
}

/* One environment, made and freed again: a core or ROM that fails does so in `open`. */
static enum fulcrum_status try_out(
    struct fulcrum_actor_shared *shared, struct fulcrum_error *err)
{
    struct fulcrum_env *env = NULL;
    TRY(libretro_env_new(shared, 0, &env, err));
    assert(env != NULL && env->core.get_system_info != NULL);
    struct libretro_system_info system = {0};
    env->core.get_system_info(&system);
    (void)snprintf(shared->system, sizeof shared->system, "%s %s",
        text_or(system.library_name, "nameless"), text_or(system.library_version, ""));
    libretro_env_free(env);
    return FULCRUM_OK;
}

static enum fulcrum_status libretro_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    double frame_skip = 0.0;
    TRY(fulcrum_actor_frame_skip(&frame_skip, options, 4.0, err));
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "libretro");
    (void)pthread_mutex_init(&shared->loading, NULL);
    shared->frame_skip = (int)frame_skip;
    enum fulcrum_status status = read_files(shared, options, err);
    if (status == FULCRUM_OK) {
        status = try_out(shared, err);
    }
    if (status != FULCRUM_OK) {
        libretro_close(shared);
        return status;
    }
    const char *slash = strrchr(shared->rom_path, '/');
    const char *rom = slash != NULL ? slash + 1 : shared->rom_path;
    *info = (struct fulcrum_actor_info){
        .observation_kind = FULCRUM_OBSERVE_UINT8,
        .observation_count = STACK_BYTE,
        .action_count = BUTTON_COUNT,
        .frame_skip = shared->frame_skip,
    };
    (void)snprintf(info->detail, sizeof info->detail, "libretro core %.60s, ROM %.100s",
        shared->system, rom[0] != '\0' ? rom : "built in (Lamps and moths)");
    *out = shared;
    return FULCRUM_OK;
}

const struct fulcrum_actor fulcrum_actor_libretro = {
    .name = "libretro",
    .summary = "console games, 4 x 84 x 84 greys, 8 buttons (any libretro core)",
    .open = libretro_open,
    .close = libretro_close,
    .env_new = libretro_env_new,
    .env_free = libretro_env_free,
    .step = libretro_step,
    .reset = libretro_reset,
};

/* A small free game for Game Boy emulators. */

#define VECTOR_VBLANK 0x0040 /* where the processor goes at each vertical blank */
#define ENTRY         0x0100
#define TITLE         0x0134
#define HEADER_SUM    0x014D
#define ROM_SUM       0x014E
#define PROGRAM       0x0150

/*
 * The rest of the header is zero: plain 32 KiB cartridge without battery memory. The
 * area of the maker's trademark stays empty: emulators without a boot ROM, such as
 * gambatte, do not look at it.
 */
void fulcrum_gameboy_rom(uint8_t *rom)
{
    static const uint8_t entry[] = {0x00, 0xC3, PROGRAM & 0xFF, PROGRAM >> 8};
    static const char title[] = "LAMPS AND MOTHS";
    memset(rom, 0, FULCRUM_GAMEBOY_ROM_BYTE);
    rom[VECTOR_VBLANK] = 0xD9; /* reti: waking up is all */
    memcpy(rom + ENTRY, entry, sizeof entry);
    memcpy(rom + TITLE, title, sizeof title - 1);
    memcpy(rom + PROGRAM, fulcrum_gameboy_program, sizeof fulcrum_gameboy_program);
    /* Over title and header; the console refuses a cartridge where it is wrong. */
    for (size_t i = TITLE; i < HEADER_SUM; i++) {
        rom[HEADER_SUM] = (uint8_t)(rom[HEADER_SUM] - rom[i] - 1);
    }
    /* Over all bytes but its own two, which are still zero. */
    unsigned sum = 0;
    for (size_t i = 0; i < FULCRUM_GAMEBOY_ROM_BYTE; i++) {
        sum += rom[i];
    }
    rom[ROM_SUM] = (uint8_t)(sum >> 8 & 0xFF);
    rom[ROM_SUM + 1] = (uint8_t)(sum & 0xFF);
}
