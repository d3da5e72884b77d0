/* toy_core.c - a libretro core of two pixels, whose game tells it how to misbehave. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/libretro_core.h"

/* First letter of the ROM: N none, R refuses to load, W announces too wide a picture, S
 * cannot save its state, D repeats every second frame without a picture, 5 draws in
 * RGB565. The picture: both pixels have the brightness `level`, but each is black in
 * every second frame, in turns. Each frame raises the level by 1, by 3 with the right
 * button. */
#ifndef TOY_VERSION
#define TOY_VERSION 1
#endif
#define LEVEL_MASK 127U

struct toy {
    libretro_environment *environment;
    libretro_video *video;
    libretro_audio *audio;
    libretro_audio_batch *audio_batch;
    libretro_poll *poll;
    libretro_input *input;
    char manner;
    bool port_is_set;
    unsigned state[2]; /* frames, level */
};

/* A core has global state by the design of its interface. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static struct toy toy;

unsigned retro_api_version(void)
{
    return TOY_VERSION;
}

void retro_init(void)
{
    struct libretro_log log = {NULL};
    if (toy.environment(LIBRETRO_GET_LOG_INTERFACE, &log)) {
        log.log(1, "%s", "the toy is on");
    }
}

void retro_deinit(void)
{
}

void retro_set_environment(libretro_environment *environment)
{
    toy.environment = environment;
}

void retro_set_video_refresh(libretro_video *video)
{
    toy.video = video;
}

void retro_set_audio_sample(libretro_audio *audio)
{
    toy.audio = audio;
}

void retro_set_audio_sample_batch(libretro_audio_batch *audio_batch)
{
    toy.audio_batch = audio_batch;
}

void retro_set_input_poll(libretro_poll *poll)
{
    toy.poll = poll;
}

void retro_set_input_state(libretro_input *input)
{
    toy.input = input;
}

void retro_get_system_info(struct libretro_system_info *info)
{
    *info = (struct libretro_system_info){"Toy", "3", "toy|toy2", false, false};
}

void retro_get_system_av_info(struct libretro_av_info *info)
{
    unsigned width = toy.manner == 'W' ? 5000 : 2;
    *info = (struct libretro_av_info){{2, 1, width, 1, 0.0F}, 60.0, 48000.0};
}

void retro_set_controller_port_device(unsigned port, unsigned device)
{
    toy.port_is_set = port == 0 && device == LIBRETRO_JOYPAD;
}

void retro_reset(void)
{
    toy.state[0] = 0;
    toy.state[1] = 0;
}

static void draw(unsigned level)
{
    unsigned lit = toy.state[0] % 2;
    uint32_t wide[2] = {0, 0};
    uint16_t narrow[2] = {0, 0};
    wide[lit] = level << 16 | level << 8 | level;
    narrow[lit] = (uint16_t)(level >> 3 << 11 | level >> 2 << 5 | level >> 3);
    const void *picture = toy.manner == '5' ? (const void *)narrow : (const void *)wide;
    bool repeated = toy.manner == 'D' && toy.state[0] % 2 == 0;
    toy.video(repeated ? NULL : picture, 2, 1, toy.manner == '5' ? 4 : 8);
}

void retro_run(void)
{
    static const int16_t silence[2] = {0, 0};
    toy.poll();
    toy.audio(0, 0);
    (void)toy.audio_batch(silence, 1);
    int16_t right = toy.input(0, LIBRETRO_JOYPAD, 0, LIBRETRO_RIGHT);
    toy.state[0]++;
    toy.state[1] += toy.port_is_set && right != 0 ? 3 : 1;
    draw(toy.state[1] & LEVEL_MASK);
}

size_t retro_serialize_size(void)
{
    return toy.manner == 'S' ? 0 : sizeof toy.state;
}

bool retro_serialize(void *data, size_t size)
{
    unsigned *to = data;
    to[0] = toy.state[0];
    to[1] = toy.state[1];
    return size == sizeof toy.state;
}

bool retro_unserialize(const void *data, size_t size)
{
    const unsigned *from = data;
    toy.state[0] = from[0];
    toy.state[1] = from[1];
    return size == sizeof toy.state;
}

bool retro_load_game(const struct libretro_game_info *game)
{
    const char *letters = game->data;
    toy.manner = letters[0];
    int pixel = toy.manner == '5' ? 2 : 1;
    int unknown = 3;
    return toy.manner != 'R' && toy.environment(LIBRETRO_SET_PIXEL_FORMAT, &pixel) &&
           !toy.environment(LIBRETRO_SET_PIXEL_FORMAT, &unknown);
}

void retro_unload_game(void)
{
}
