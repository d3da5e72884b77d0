/* learner_cpu_absent.c - the CPU learner of a build that has no OpenBLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/gemm.h"
#include "calibrate/learner_record.h"

void fulcrum_gemm_use_one_thread(void)
{
}

/* Nothing can be opened, so the other members of the record are never called. */
static enum fulcrum_status absent_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    (void)options;
    (void)out;
    (void)info;
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no OpenBLAS: install libopenblas-dev and configure with "
        "-DFULCRUM_OPENBLAS=ON");
}

const struct fulcrum_learner fulcrum_learner_cpu = {
    .name = "cpu",
    .summary = FULCRUM_LEARNER_CPU_SUMMARY,
    .open = absent_open,
};
