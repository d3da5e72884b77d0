/* fake_learner.h - a learner on a GPU of the test's own, and the joules it draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_LEARNER_H
#define FULCRUM_TESTS_FAKE_LEARNER_H

#include "calibrate/device/learner.h"
#include "tests/support/fake_nvml.h"

/* What it draws by what it does, with an exponent of 1. */
#define FAKE_IDLE_W        60.0
#define FAKE_FLOOR_W       40.0
#define FAKE_DYNAMIC_W     300.0
#define FAKE_INFERENCE_REL 0.4
#define FAKE_SM_COUNT      64.0
#define FAKE_UUID          "GPU-00a0-fake"

/* The first GPU of `fake` counts the joules of the learner from now on, until stopped.
 * Nothing is computed: a batch lasts 2 ms, a training step 4 ms. */
void fake_learner_start(struct fake_nvml *fake);
void fake_learner_stop(void);

/* Training steps on more than so many samples fail for want of memory; 0: none does. */
void fake_learner_limit(size_t train_batch);

/* The next calls of forward and train fail. */
void fake_learner_break(void);

extern const struct fulcrum_learner fake_learner;

#endif
