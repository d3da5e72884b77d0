/* hand_reference.h - references of networks that can be solved by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_HAND_REFERENCE_H
#define FULCRUM_TESTS_HAND_REFERENCE_H

#include "model/design/calibration.h"
#include "model/design/reference.h"

/* The priors of R2D2 on a V100. The caller frees them. */
struct fulcrum_calibration *hand_priors(void);

/* R2D2 on the paper's machine, served greedily and without training: one point for each
 * number of actors, with the same quantity observed of each, 1. The caller frees it. */
struct fulcrum_reference *hand_reference(
    const double *actors, size_t count, const char *quantity);

#endif
