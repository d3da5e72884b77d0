/* cartpole_alone.c - the cart-pole as a plain loop, to judge our actor's overhead. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/yardstick/yardstick.h"

struct cartpole {
    double x;
    double x_dot;
    double theta;
    double theta_dot;
    int step_count;
    uint64_t noise;
    float observation[4];
};

static void restart(struct cartpole *pole)
{
    pole->x = 0.05 * yardstick_noise(&pole->noise);
    pole->x_dot = 0.05 * yardstick_noise(&pole->noise);
    pole->theta = 0.05 * yardstick_noise(&pole->noise);
    pole->theta_dot = 0.05 * yardstick_noise(&pole->noise);
    pole->step_count = 0;
}

static void step(void *state)
{
    struct cartpole *pole = state;
    /* No branch: half of the guesses on a coin toss would be wrong. */
    double force = copysign(10.0, yardstick_noise(&pole->noise));
    double c = cos(pole->theta);
    double s = sin(pole->theta);
    double temp = (force + 0.05 * pole->theta_dot * pole->theta_dot * s) / 1.1;
    double theta_acc = (9.8 * s - c * temp) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1));
    double x_acc = temp - 0.05 * theta_acc * c / 1.1;
    double x = pole->x + 0.02 * pole->x_dot;
    double x_dot = pole->x_dot + 0.02 * x_acc;
    double theta = pole->theta + 0.02 * pole->theta_dot;
    double theta_dot = pole->theta_dot + 0.02 * theta_acc;
    pole->x = x;
    pole->x_dot = x_dot;
    pole->theta = theta;
    pole->theta_dot = theta_dot;
    pole->observation[0] = (float)x;
    pole->observation[1] = (float)x_dot;
    pole->observation[2] = (float)theta;
    pole->observation[3] = (float)theta_dot;
    if (fabs(x) > 2.4 || fabs(theta) > 0.20943951 || ++pole->step_count >= 500) {
        restart(pole);
    }
}

/* cartpole_alone [samples of 1000 steps] */
int main(int argc, char **argv)
{
    struct cartpole pole = {.noise = 1};
    restart(&pole);
    size_t count = (size_t)yardstick_number(argc, argv, 1, 2000.0);
    return yardstick_run("cartpole alone", step, &pole, count, 1000);
}
