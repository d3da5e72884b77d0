/* denormal.h - numbers too small for their exponent, taken for zero. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DENORMAL_H
#define FULCRUM_CALIBRATE_DENORMAL_H

/*
 * Some processors take a hundred cycles for each operation on such numbers. Training on
 * real observations makes them: in gradients of actions that a policy would hardly
 * choose, and in moments of weights whose gradient has become zero. TensorFlow flushes
 * them as well, and on a GPU they cost nothing.
 */

/*
 * From now on the calling thread takes them for zero, where the processor can. Returns
 * what fulcrum_denormal_restore is to be given.
 */
unsigned fulcrum_denormal_flush(void);

/* The thread computes as it did before that flush. */
void fulcrum_denormal_restore(unsigned before);

#endif
