/* agent.h - trajectories of language-model agents: decode, tools, trainer. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_AGENT_AGENT_H
#define FULCRUM_MODEL_AGENT_AGENT_H

#include <stdbool.h>

#include "model/network/network.h"
#include "model/status.h"

/*
 * A closed network of trajectories. Each is started, takes turns of decoding, a tool
 * call and a delay, is verified, and ends; another one takes its place. A trainer may
 * consume those that ended. docs/model.md "Agents", (A1) to (A9).
 */

/* Copies of the model that decode, each on its own GPUs. */
struct fulcrum_agent_decode {
    double instance_count; /* g, whole, >= 1 */
    /* Time of a token with B in flight on one instance, whose context is L tokens:
     * per_token_s + per_item_s B^item_exponent + per_context_s L B. */
    double per_token_s;
    double per_item_s;
    double item_exponent; /* in (0, 1]; 0 stands for 1 */
    double per_context_s;
    double
        per_prompt_s;  /* of the whole instance, for a prompt token not in its cache */
    double most_items; /* in flight on one instance, others wait; 0: no limit */
};

/* One of them, means and, where it says cv, standard deviations over them. */
struct fulcrum_agent_trajectory {
    double turn_count; /* >= 1 */
    double turn_cv;
    double output_tokens;  /* decoded in a turn, were there no limit */
    double output_cv;      /* likewise */
    double output_limit;   /* most that are decoded in a turn; 0: no limit */
    double prompt_tokens;  /* of a turn, not in the cache */
    double context_tokens; /* L, while it decodes */
    double tool_s;         /* of a turn's tool work, on a CPU thread alone */
    double tool_cv;
    double delay_s;  /* of a turn, on nothing that is modelled; exponential */
    double start_s;  /* of its sandbox, 0 where one is taken again */
    double verify_s; /* tool work at its end */
    double verify_tokens;
};

enum fulcrum_agent_coupling {
    FULCRUM_AGENT_ALONE,    /* nothing trains */
    FULCRUM_AGENT_IN_TURNS, /* all of a batch, then training, then the next batch */
    FULCRUM_AGENT_ONE_OFF,  /* the next batch while the last one trains */
    FULCRUM_AGENT_STREAM    /* as they end, at most `staleness` batches ahead */
};

struct fulcrum_agent_trainer {
    enum fulcrum_agent_coupling coupling;
    double batch_size; /* b, trajectories, whole groups */
    double group_size; /* G, of one prompt: consumed when all have ended; whole, >= 1 */
    double train_s;    /* of a batch */
    double switch_s;   /* weights to the instances, or from training to decoding: nobody
                          decodes meanwhile */
    double staleness; /* eta, whole or not: no more than (1 + eta) b are started and not
                         yet trained on; stream only */
};

struct fulcrum_agent_network {
    char name[64];
    double live_count;  /* N, whole, >= 1: at once */
    double start_limit; /* starts at once, whole; 0: no limit */
    struct fulcrum_agent_decode decode;
    struct fulcrum_cpu_station cpu;
    struct fulcrum_agent_trajectory trajectory;
    struct fulcrum_agent_trainer trainer;
};

/* Means over time, of all trajectories. */
struct fulcrum_agent_load {
    double starting;
    double decoding; /* or waiting for an instance */
    double at_tools; /* calls, running or waiting for a thread */
    double delayed;
    double ended; /* and not yet in a training step */
};

struct fulcrum_agent_solution {
    double trajectories_per_s;
    double cycle_s; /* between training steps; NAN where nothing trains */
    struct fulcrum_agent_load load;
    double mean_batch;       /* in flight on an instance while it decodes */
    double decode_busy_frac; /* of the time of instances: somebody decodes */
    double cpu_busy_frac;    /* of the threads: calls that run */
    double train_busy_frac;  /* of the trainer's time */
    double staleness;        /* training steps that end between start and consumption */
    double error_rel; /* of trajectories_per_s: 95 of 100 networks stay within it; half
                         of the 95 % interval of a simulation */
    enum fulcrum_method method; /* the one that ran */
    unsigned flags;             /* of enum fulcrum_flag */
};

/*
 * What solvers rely on: finite, in range, something takes time, batches of whole
 * groups.
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE; the detail names field and
 *            value
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_agent_check(
    const struct fulcrum_agent_network *network, struct fulcrum_error *err);

/*
 * Solves a checked network.
 *   options  method: auto simulates where equations may be off by more than its half
 *            width (0.035 unless given); product-form is exact, for up to some
 *            thousand trajectories, of which nothing trains; room is not used
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (a method that cannot take it),
 *            FULCRUM_ERR_NUMERIC, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_agent_solve(
    const struct fulcrum_agent_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err);

/* What is decoded in a turn, longer outputs cut off at the limit. */
struct fulcrum_agent_output {
    double tokens; /* mean */
    double cv;
};
struct fulcrum_agent_output fulcrum_agent_output_of(
    const struct fulcrum_agent_trajectory *one);

/*
 * (A1), (A2), (A4): trajectories that a station would complete a second with n > 0 of
 * them there, n a real number; their whole work at it, over all turns. INFINITY where
 * they have none.
 */
struct fulcrum_agent_rates {
    const struct fulcrum_agent_network *network; /* borrowed */
    /* To decode a trajectory with B in flight on its instance: fixed_s + item_s
     * B^item_exponent + shared_s B. */
    double fixed_s;
    double item_s;
    double shared_s;
    double item_exponent;
    double most;   /* in flight on all instances; INFINITY: no limit */
    double tool_s; /* of tools and verification, on a thread alone */
    double delay_s;
};
struct fulcrum_agent_rates fulcrum_agent_rates_of(
    const struct fulcrum_agent_network *network);
/* Of one trajectory, with `each` >= 1 in flight on its instance. */
double fulcrum_agent_decode_s(const struct fulcrum_agent_rates *rates, double each);
double fulcrum_agent_decode_per_s(const struct fulcrum_agent_rates *rates, double n);
double fulcrum_agent_tools_per_s(const struct fulcrum_agent_rates *rates, double n);
double fulcrum_agent_starts_per_s(const struct fulcrum_agent_rates *rates, double n);

/* The methods of fulcrum_agent_solve. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_agent_product_form(
    const struct fulcrum_agent_network *network, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err);
void fulcrum_agent_fast(
    const struct fulcrum_agent_network *network, struct fulcrum_agent_solution *out);
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_agent_simulate(
    const struct fulcrum_agent_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err);

/* As it stands in files; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_agent_coupling_name(int coupling);

#endif
