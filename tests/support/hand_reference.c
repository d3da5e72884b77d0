/* hand_reference.c - references of networks that can be solved by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/hand_reference.h"

#include <stdlib.h>
#include <string.h>

#include "presets/load/preset.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

/* R2D2 on the paper's machine, taken greedily and without training. */
static struct fulcrum_design base(void)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load("dgx-1-inci2020", &design, NULL, NULL));
    ASSERT_OK(fulcrum_workload_load("r2d2-atari", &design, NULL, NULL));
    design.workload.batching.policy = FULCRUM_BATCH_GREEDY;
    design.workload.batching.depth = 1.0;
    design.workload.training.env_steps_per_train_step = 0.0;
    return design;
}

struct fulcrum_calibration *hand_priors(void)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_load("v100-prior", &calibration, NULL));
    designs_add_parameter(
        calibration, "run.discrepancy", 1.0, 0.0, FULCRUM_SCALE_LINEAR);
    return calibration;
}

static void *room(size_t count, size_t size)
{
    void *out = calloc(count, size);
    if (out == NULL) {
        abort();
    }
    return out;
}

struct fulcrum_reference *hand_reference(
    const double *actors, size_t count, const char *quantity)
{
    struct fulcrum_reference *out = room(1, sizeof *out);
    *out = (struct fulcrum_reference){
        .name = "hand", .design = base(), .predictor = FULCRUM_PREDICTOR_THROUGHPUT};
    out->point_count = count;
    out->points = room(count, sizeof *out->points);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_reference_point *point = &out->points[i];
        point->setting_count = 1;
        point->settings = room(1, sizeof *point->settings);
        point->observation_count = 1;
        point->observations = room(1, sizeof *point->observations);
        (void)strcpy(point->settings[0].path, "run.actor_count");
        point->settings[0].number = actors[i];
        (void)strncpy(point->observations[0].quantity, quantity,
            sizeof point->observations[0].quantity - 1);
        point->observations[0].value = 1.0;
    }
    return out;
}
