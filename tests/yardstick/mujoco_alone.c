/* mujoco_alone.c - MuJoCo stepped by a plain loop, to judge our actors' overhead. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/yardstick/yardstick.h"

struct bench {
    mjModel *model;
    mjData *data;
    int frame_skip;
    double height_min_m;
    double height_max_m;
    double start_noise;
    int step_count;
    uint64_t noise;
    float *observation;
};

static void restart(struct bench *bench)
{
    const mjModel *model = bench->model;
    mj_resetDataKeyframe(model, bench->data, 0);
    for (int i = 0; i < model->nq; i++) {
        bench->data->qpos[i] += bench->start_noise * yardstick_noise(&bench->noise);
    }
    for (int i = 0; i < model->nv; i++) {
        bench->data->qvel[i] += bench->start_noise * yardstick_noise(&bench->noise);
    }
    mj_forward(model, bench->data);
    bench->step_count = 0;
}

static float *read_out(float *out, const mjtNum *values, int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = (float)values[i];
    }
    return out + count;
}

static void step(void *state)
{
    struct bench *bench = state;
    const mjModel *model = bench->model;
    mjData *data = bench->data;
    for (int i = 0; i < model->nu; i++) {
        data->ctrl[i] =
            yardstick_noise(&bench->noise) * model->actuator_ctrlrange[2 * i + 1];
    }
    for (int i = 0; i < bench->frame_skip; i++) {
        mj_step(model, data);
    }
    mj_rnePostConstraint(model, data);
    float *out = read_out(bench->observation, data->qpos, model->nq);
    out = read_out(out, data->qvel, model->nv);
    (void)read_out(out, data->cfrc_ext, 6 * model->nbody);
    double height_m = data->qpos[2];
    if (height_m < bench->height_min_m || height_m > bench->height_max_m ||
        ++bench->step_count >= 1000) {
        restart(bench);
    }
}

/*
 * mujoco_alone model.xml [frame skip] [steps] [lowest height] [highest height] [noise]
 * Ant: 5, 0.2, 1.0, 0.1. Humanoid: 5, 1.0, 2.0, 0.01.
 */
int main(int argc, char **argv)
{
    char text[500] = "usage: mujoco_alone model.xml [frame skip] [steps] [low] [high]";
    mjModel *model =
        argc > 1 ? mj_loadXML(argv[1], NULL, text, (int)sizeof text) : NULL;
    if (model == NULL) {
        (void)fprintf(stderr, "%s\n", text);
        return 2;
    }
    size_t count = (size_t)model->nq + (size_t)model->nv + 6 * (size_t)model->nbody;
    struct bench bench = {
        .model = model,
        .data = mj_makeData(model),
        .frame_skip = (int)yardstick_number(argc, argv, 2, 5.0),
        .height_min_m = yardstick_number(argc, argv, 4, 0.2),
        .height_max_m = yardstick_number(argc, argv, 5, 1.0),
        .start_noise = yardstick_number(argc, argv, 6, 0.1),
        .noise = 1,
        .observation = calloc(count, sizeof(float)),
    };
    int failed = bench.data == NULL || bench.observation == NULL;
    if (!failed) {
        restart(&bench);
        size_t steps = (size_t)yardstick_number(argc, argv, 3, 5000.0);
        failed = yardstick_run("mujoco alone", step, &bench, steps, 1);
    }
    free(bench.observation);
    mj_deleteData(bench.data);
    mj_deleteModel(model);
    return failed;
}
