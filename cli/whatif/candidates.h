/* candidates.h - what the questions of `fulcrum recommend` have in common. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_CANDIDATES_H
#define FULCRUM_CLI_WHATIF_CANDIDATES_H

#include "cli/whatif/whatif.h"
#include "model/string.h"
#include "model/study/study.h"
#include "model/whatif/recommend.h"

struct fulcrum_recommend_settings {
    const char *question;
    struct fulcrum_text_list names;    /* machines that are compared */
    struct fulcrum_text_list machines; /* of --machine; design.machine is the first */
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    struct fulcrum_actors_rule actors;
    const char *metric;
    double share_percent; /* NAN: not given, as all numbers here */
    const char *range;
    const char *vary;
    struct fulcrum_need need; /* but for the steps of a training */
    struct fulcrum_text_list prices;
    struct fulcrum_text_list rack_units;
    struct fulcrum_text_list a_sets;
    struct fulcrum_text_list b_sets;
};

/* One design. Owns what its members point to. */
struct fulcrum_candidate {
    struct fulcrum_string name;
    struct fulcrum_subject subject; /* its design: presets and settings only */
    struct fulcrum_actors actors;
    char reason[FULCRUM_REASON_BYTE]; /* why it cannot run; "" where it can */
};

/* Designs side by side. */
struct fulcrum_candidates {
    const struct fulcrum_recommend_settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_predict_options options;
    enum fulcrum_predicted outputs[4]; /* the study's, ending as there */
    struct fulcrum_candidate *items;   /* from fulcrum_allocate */
    size_t count;
    struct fulcrum_study *study; /* one design a candidate */
};

/*
 * Predicts all with their draws. Draw k takes the same random numbers for the same
 * parameters in each of them: a prior of one name is drawn once for all. That a
 * candidate cannot run is no failure: `reason` says so, and its values are NAN. Where
 * no rule and no setting gives actors: the fastest of half to sixteen per hardware
 * thread; none where environments are simulated on GPUs.
 *   list     named, with the inputs of each read
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_candidates_predict(
    struct fulcrum_candidates *list, struct fulcrum_error *err);

void fulcrum_candidates_clear(struct fulcrum_candidates *list);

/* By equations, unless the user asks for another method or an accuracy. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recommend_options(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_predict_options *out, struct fulcrum_error *err);

/* The output of that name; steps_per_s without one. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recommend_metric(const char *name,
    struct fulcrum_context *context, size_t *out, struct fulcrum_error *err);

/* A question: answers it on context->out. */
typedef enum fulcrum_status fulcrum_recommend_question(
    const struct fulcrum_recommend_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* Fewest hardware threads, actors, or values of any field, for a share of the best. */
fulcrum_recommend_question fulcrum_recommend_fewest;

/* Machines under limits, the best first. */
fulcrum_recommend_question fulcrum_recommend_machine;

/* One design beside another. */
fulcrum_recommend_question fulcrum_recommend_compare;

/* What doubling each part of a machine brings. */
fulcrum_recommend_question fulcrum_recommend_upgrade;

#endif
