/* place.h - scenarios of presets, named as on the command line. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PLACE_H
#define FULCRUM_TESTS_PLACE_H

#include "cli/options/options.h"

struct place {
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
};

/* NULL: the workload's own calibration; `sets`, "PATH=VALUE", end with NULL. */
void place_open(struct place *out, const char *machine, const char *workload,
    const char *calibration, const char **sets);

/* Makes the scenario anew, as its inputs now are. */
void place_renew(struct place *place);

void place_close(struct place *place);

#endif
