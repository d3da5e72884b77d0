/* lab.h - environments and a learner that check each other. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_LAB_H
#define FULCRUM_TESTS_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/actor/stepper.h"
#include "calibrate/pipeline/live.h"

enum {
    LAB_ENVS_MOST = 32,
    LAB_ROOM = 64,
    LAB_BATCH = 2, /* sequences of a train step, and observations of one */
    LAB_LENGTH = 3,
    LAB_WEIGHTS = 1000
};

/* An observation of the laboratory says whose it is and which, and the answer to it is
 * a function of both; so an environment knows which action has to come next, and the
 * learner which observation. Set the wishes before lab_open; read the findings once the
 * pipeline has ended. */
struct lab {
    /* Wishes; zero: nothing of the kind. */
    size_t fail_after_steps; /* then environment 1 breaks */
    size_t fail_after_batches;
    size_t fail_after_train_steps;
    size_t fail_after_copies; /* then weights do not arrive */
    double forward_s;         /* sleeps so long */
    double train_s;
    bool watches; /* what goes on beside training; only where that has to be nothing */
    /* Findings of the learner. */
    size_t seen[LAB_ENVS_MOST]; /* observations, by environment */
    size_t out_of_turn_count;   /* observations that were lost, or came twice */
    size_t batch_count;
    size_t least_batch;
    size_t largest_batch;
    size_t train_count;
    size_t odd_row_count; /* trained on: neighbours, or deeds, that were never there */
    size_t beside_count;  /* train steps beside which something stepped or inferred */
    size_t copy_count;    /* times that weights arrived */
    size_t torn_count;    /* batches inferred with weights of two ages */
    float weight;         /* of the last batch: train steps behind it */
    /* Findings of the environments. */
    size_t stepped[LAB_ENVS_MOST];
    size_t wrong_count[LAB_ENVS_MOST]; /* actions that were meant for others */
    /* What the pipeline is given. */
    struct fulcrum_stage stage;
    struct fulcrum_stepper steppers[LAB_ENVS_MOST];
    struct fulcrum_placement placement;
    struct fulcrum_live_learner learner;
    struct fulcrum_live_learner trainer; /* another state of it */
    size_t env_count;
};

/* Opens environments for so many actors; closed with lab_close. `lab` has to stay where
 * it is. The plan is greedy, without training or limits; all else is the lab's. */
struct fulcrum_live_plan lab_open(
    struct lab *lab, size_t actor_count, size_t envs_per_actor);

void lab_close(struct lab *lab);

/* The lab's other state trains, every `env_steps` steps; no weights are carried. */
void lab_plan_training(
    struct fulcrum_live_plan *plan, double env_steps, double queue_train_steps);

/* Nothing was lost, doubled or given to somebody else; at most the last step of each
 * environment was not taken any more. Returns the observations that were inferred. */
size_t lab_assert_in_order(const struct lab *lab);

#endif
