/* stage_kind.h - the stages that a training run's time goes to. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STAGE_KIND_H
#define FULCRUM_MODEL_STAGE_KIND_H

#include <assert.h>

/*
 * The operations of RL-Scope (Gleeson et al. 2021), hand-off and replay apart from
 * them. A thread that is blocked waits: that is no work, and last in the list.
 */
/* clang-format off */
#define FULCRUM_STAGE_KIND_LIST(X)                                              \
    X(SIMULATION, "simulation") /* environments step */                         \
    X(INFERENCE,  "inference")  /* the policy chooses actions for a batch */    \
    X(TRAINING,   "training")   /* a train step, back-propagation included */   \
    X(HANDOFF,    "handoff")    /* requests and answers pass between threads */ \
    X(REPLAY,     "replay")     /* transitions are stored, drawn, gathered */   \
    X(WAIT,       "wait")       /* blocked: not work */
/* clang-format on */

enum fulcrum_stage_kind {
#define X(code, name) FULCRUM_STAGE_##code,
    FULCRUM_STAGE_KIND_LIST(X)
#undef X
};

enum {
    FULCRUM_STAGE_KIND_COUNT = FULCRUM_STAGE_WAIT + 1,
    FULCRUM_STAGE_WORK_COUNT = FULCRUM_STAGE_WAIT /* all but waiting */
};

/* "simulation"... Static. */
static inline const char *fulcrum_stage_kind_name(enum fulcrum_stage_kind kind)
{
#define X(code, name) name,
    static const char *const kind_names[] = {FULCRUM_STAGE_KIND_LIST(X)};
#undef X
    assert((unsigned)kind < FULCRUM_STAGE_KIND_COUNT);
    return kind_names[kind];
}

#endif
