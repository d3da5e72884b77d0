/* libretro_alone.c - one console emulator in a plain loop, to judge our overhead. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/libretro_core.h"
#include "tests/yardstick/yardstick.h"

#define SIDE      ((size_t)84)
#define PIXEL_MAX ((size_t)1024 * 1024)

struct bench {
    void (*run)(void);
    int frame_skip;
    unsigned buttons;
    int pixel;
    uint64_t noise;
    int frames_left;
    size_t width;
    size_t height;
    float picture[2][PIXEL_MAX]; /* grey, of the last two frames */
    unsigned char stack[4][SIDE * SIDE];
    unsigned char observation[4][SIDE * SIDE];
};

/* The callbacks of the interface have no pointer for this. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static struct bench bench;

static bool on_environment(unsigned command, void *data)
{
    if (command == LIBRETRO_SET_PIXEL_FORMAT) {
        bench.pixel = *(const int *)data;
        return true;
    }
    if (command == LIBRETRO_GET_CAN_DUPE) {
        *(bool *)data = true;
        return true;
    }
    return false;
}

static float grey_of(const void *row, size_t x)
{
    if (bench.pixel == 1) {
        uint32_t p = ((const uint32_t *)row)[x];
        return 0.30F * (float)(p >> 16 & 255) + 0.59F * (float)(p >> 8 & 255) +
               0.11F * (float)(p & 255);
    }
    uint32_t p = ((const uint16_t *)row)[x];
    return 0.30F * (float)(p >> 11 << 3) + 0.59F * (float)((p >> 5 & 63) << 2) +
           0.11F * (float)((p & 31) << 3);
}

static void on_video(const void *data, unsigned width, unsigned height, size_t pitch)
{
    if (data == NULL || bench.frames_left > 1 || (size_t)width * height > PIXEL_MAX) {
        return;
    }
    bench.width = width;
    bench.height = height;
    float *out = bench.picture[bench.frames_left];
    for (size_t y = 0; y < height; y++) {
        const char *row = (const char *)data + y * pitch;
        for (size_t x = 0; x < width; x++) {
            out[y * width + x] = grey_of(row, x);
        }
    }
}

static void on_audio(int16_t left, int16_t right)
{
    (void)left;
    (void)right;
}

static size_t on_audio_batch(const int16_t *samples, size_t count)
{
    (void)samples;
    return count;
}

static void on_poll(void)
{
}

static int16_t on_input(unsigned port, unsigned device, unsigned index, unsigned id)
{
    (void)index;
    return (int16_t)(port == 0 && device == LIBRETRO_JOYPAD ? bench.buttons >> id & 1U
                                                            : 0U);
}

/* Mean over the source pixels whose corner lies in the area: no fractions. */
static unsigned char area_mean(size_t x, size_t y)
{
    size_t top = y * bench.height / SIDE;
    size_t bottom = (y + 1) * bench.height / SIDE + 1;
    size_t left = x * bench.width / SIDE;
    size_t right = (x + 1) * bench.width / SIDE + 1;
    float sum = 0.0F;
    for (size_t v = top; v < bottom && v < bench.height; v++) {
        for (size_t u = left; u < right && u < bench.width; u++) {
            size_t i = v * bench.width + u;
            float one = bench.picture[0][i];
            float two = bench.picture[1][i];
            sum += one > two ? one : two;
        }
    }
    return (unsigned char)(sum / (float)((bottom - top) * (right - left)));
}

static void step(void *state)
{
    (void)state;
    bench.buttons = (unsigned)(32768.0 * (1.0 + yardstick_noise(&bench.noise)));
    for (bench.frames_left = bench.frame_skip - 1; bench.frames_left >= 0;
         bench.frames_left--) {
        bench.run();
    }
    memmove(bench.stack[0], bench.stack[1], sizeof bench.stack - sizeof bench.stack[0]);
    for (size_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            bench.stack[3][y * SIDE + x] = area_mean(x, y);
        }
    }
    memcpy(bench.observation, bench.stack, sizeof bench.stack);
}

/* C has no cast from an object's pointer to a function's. */
static void resolve(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        (void)fprintf(stderr, "no function %s\n", name);
        exit(2);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void connect(void *library)
{
    void (*set_environment)(libretro_environment *);
    void (*set_video)(libretro_video *);
    void (*set_audio)(libretro_audio *);
    void (*set_audio_batch)(libretro_audio_batch *);
    void (*set_poll)(libretro_poll *);
    void (*set_input)(libretro_input *);
    void (*init)(void);
    resolve(library, "retro_set_environment", &set_environment);
    resolve(library, "retro_set_video_refresh", &set_video);
    resolve(library, "retro_set_audio_sample", &set_audio);
    resolve(library, "retro_set_audio_sample_batch", &set_audio_batch);
    resolve(library, "retro_set_input_poll", &set_poll);
    resolve(library, "retro_set_input_state", &set_input);
    resolve(library, "retro_init", &init);
    resolve(library, "retro_run", &bench.run);
    set_environment(on_environment);
    init();
    set_video(on_video);
    set_audio(on_audio);
    set_audio_batch(on_audio_batch);
    set_poll(on_poll);
    set_input(on_input);
}

/* Plays our built-in cartridge: the bytes are data, none of our code runs. */
static bool load(void *library)
{
    static uint8_t rom[32768];
    bool (*load_game)(const struct libretro_game_info *);
    void (*set_port)(unsigned, unsigned);
    resolve(library, "retro_load_game", &load_game);
    resolve(library, "retro_set_controller_port_device", &set_port);
    fulcrum_gameboy_rom(rom);
    struct libretro_game_info game = {"alone.gb", rom, sizeof rom, NULL};
    bool loaded = load_game(&game);
    set_port(0, LIBRETRO_JOYPAD);
    return loaded;
}

/* libretro_alone core.so [frame skip] [steps] */
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        (void)fprintf(stderr, "usage: libretro_alone core.so [frame skip] [steps]\n");
        return 2;
    }
    bench.frame_skip = (int)yardstick_number(argc, argv, 2, 4.0);
    bench.noise = 1;
    connect(library);
    if (!load(library)) {
        (void)fprintf(stderr, "the core refuses the game\n");
        return 2;
    }
    size_t steps = (size_t)yardstick_number(argc, argv, 3, 2000.0);
    return yardstick_run("libretro alone", step, NULL, steps, 1);
}
