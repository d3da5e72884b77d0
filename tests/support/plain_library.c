/* plain_library.c - a shared object that is no libretro core. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
int fulcrum_plain_answer(void);

int fulcrum_plain_answer(void)
{
    return 42;
}
