/* fake_powercap.h - a powercap folder whose counter goes up by so many watts. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_POWERCAP_H
#define FULCRUM_TESTS_FAKE_POWERCAP_H

/* What the package draws, whatever runs. */
#define FAKE_POWERCAP_W 40.0

struct fake_powercap;

/* A thread raises the counter from now on. Ends the program where it cannot. */
struct fake_powercap *fake_powercap_new(void);

/* The root that a meter is to open. Borrowed. */
const char *fake_powercap_root(const struct fake_powercap *fake);

/* The counter stops and its folder is removed. */
void fake_powercap_free(struct fake_powercap *fake);

#endif
