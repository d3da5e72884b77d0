/* place.c - scenarios of presets, named as on the command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/place.h"

#include <math.h>

#include "tests/support/suite.h"

void place_open(struct place *out, const char *machine, const char *workload,
    const char *calibration, const char **sets)
{
    struct fulcrum_design_settings settings = {.machine = machine,
        .workload = workload,
        .calibrations = {calibration != NULL, &calibration},
        .sets = {0, sets},
        .actor_count = (double)NAN};
    struct fulcrum_context context = {.quiet = 1};
    while (sets[settings.sets.count] != NULL) {
        settings.sets.count++;
    }
    *out = (struct place){.scenario = NULL};
    ASSERT_OK(fulcrum_design_inputs_load(&settings, &context, &out->inputs, NULL));
    place_renew(out);
}

void place_renew(struct place *place)
{
    fulcrum_scenario_free(place->scenario);
    place->scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&place->inputs.scenario, &place->scenario, NULL));
}

void place_close(struct place *place)
{
    fulcrum_scenario_free(place->scenario);
    fulcrum_design_inputs_free(&place->inputs);
}
