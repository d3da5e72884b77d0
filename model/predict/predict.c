/* predict.c - everything there is to say about one design point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The best fit first, then the draws: each solves the same network with other
 * parameters, and every output is the median of its values, with their interval.
 * Outputs are thereby consistent with each other within a draw, and no assumption is
 * made about how errors pass through the solver. What a draw cannot run is left out and
 * counted.
 *
 * Where the best fit is simulated, draws would cost hundreds of simulations. Equations
 * solve them, and each output is multiplied by what the simulation makes of it at the
 * best fit (a control variate): the equations' error is much the same nearby. Over the
 * references this moves no end by more than 1 % from where simulated draws have it,
 * even where the equations tell of an error of 30 %. Draws with what the equations do
 * not know of at all are simulated, coarsely, because their noise adds to a spread that
 * is much larger.
 */
#include "model/predict/predict.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fast/steady.h"
#include "model/number.h"
#include "model/parallel.h"
#include "model/predict/partition.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/* Simulations of draws: their noise must only be small beside the spread of the draws.
 */
#define DRAW_HALF_WIDTH_REL 0.04
#define DRAW_MOST_STEPS     3e4

/* What the equations do not know of at all: no factor lets them follow it where it
 * moves the best fit's rate by more than this. */
#define NOT_FOLLOWED       ((unsigned)FULCRUM_FLAG_SLICES)
#define NOT_FOLLOWED_LEAST 0.03

struct output_row {
    const char *name;
    const char *unit;
    const char *title;
    const char *meaning;
};

static const struct output_row rows[] = {
#define X(name, unit, title, meaning) {#name, unit, title, meaning},
    FULCRUM_OUTPUT_LIST(X)
#undef X
};

const char *fulcrum_interval_part_name(size_t part)
{
    static const char *const names[FULCRUM_PARTS] = {
        "parameters", "drift", "scaling", "discrepancy"};
    return part < FULCRUM_PARTS ? names[part] : NULL;
}

const char *fulcrum_output_name(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? rows[output].name : NULL;
}

size_t fulcrum_output_find(const char *name)
{
    size_t i = 0;
    while (i < FULCRUM_OUTPUT_COUNT && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return i;
}

struct fulcrum_names fulcrum_output_names(void)
{
    return (struct fulcrum_names){&rows[0].name, FULCRUM_OUTPUT_COUNT, sizeof rows[0]};
}

const char *fulcrum_output_unit(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? rows[output].unit : NULL;
}

const char *fulcrum_output_title(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? rows[output].title : NULL;
}

const char *fulcrum_output_meaning(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? rows[output].meaning : NULL;
}

/* A designed, lowered and solved point. Large: kept on the heap. */
struct solved_point {
    struct fulcrum_design design;
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    struct fulcrum_agent_solution agents; /* of designs that have some */
    unsigned flags;
};

/* Draws whose common part is kept from point to point, the estimate among them. */
enum { STEMS = 513 };

struct causes;

struct fulcrum_predictor {
    const struct fulcrum_scenario *scenario;
    const double *z; /* of the sample that points are in; NULL: none */
    struct fulcrum_design_common_prefix
        prefixes[STEMS];        /* draws beyond share the last one */
    struct solved_point solved; /* of the point or draw at hand */
    struct fulcrum_fast_room room;
    size_t draw_count; /* of the point predicted last */
    size_t draw_capacity;
    /* draw_count x FULCRUM_OUTPUT_COUNT, rows that cannot run are NAN; behind them two
     * more numbers for each draw, to be worked on. Kept from point to point. */
    double *draws;
    struct causes *causes;             /* of each draw that ran */
    struct fulcrum_step_table *tables; /* of each draw's steps: points share them */
    double *log_rates;                 /* likewise; behind the draws */
};

/* What moves all of a draw's rates: logarithms. The scaling has one for each device. */
enum { DRIFT, CPU_SCALE, GPU_SCALE, DISCREPANCY, CAUSES };
struct causes {
    double log_rel[CAUSES];
};

/* A sweep asks for the same draws at every point: each finds its own prefix again. */
static enum fulcrum_status design_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, struct fulcrum_error *err)
{
    if (predictor->z != NULL && point->draw == 0) {
        return fulcrum_scenario_design_in(
            predictor->scenario, predictor->z, point, &predictor->solved.design, err);
    }
    size_t prefix = point->draw < STEMS ? (size_t)point->draw : STEMS - 1;
    return fulcrum_scenario_design_along(predictor->scenario,
        &predictor->prefixes[prefix], point, &predictor->solved.design, err);
}

static enum fulcrum_status solve_point(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_solver_options *options,
    struct fulcrum_error *err)
{
    struct solved_point *out = &predictor->solved;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_solver_options solver = *options;
    solver.room = &predictor->room;
    bool has_table = point->draw > 0 && point->draw <= predictor->draw_capacity;
    predictor->room.kept = has_table ? &predictor->tables[point->draw - 1] : NULL;
    if (point->draw > 0) {
        fulcrum_fast_forget(&predictor->room); /* draws are no neighbours */
    }
    TRY_OR_END(design_point(predictor, point, err));
    if (fulcrum_design_is_resident(&out->design)) {
        status =
            fulcrum_resident_solve(&out->design, &out->replicas, &out->solution, err);
        out->flags = out->design.flags | out->replicas.flags;
        return status;
    }
    if (fulcrum_design_has_agents(&out->design)) {
        struct fulcrum_agents_outcome outcome;
        TRY_OR_END(
            fulcrum_agents_solve(&out->design, &solver, &out->replicas, &outcome, err));
        out->agents = outcome.trajectories;
        out->solution = outcome.turns;
        goto end;
    }
    TRY_OR_END(fulcrum_design_to_network(&out->design, &out->replicas, err));
    status = fulcrum_solve_pausing(&out->replicas, &solver, &out->solution, err);
end:
    out->flags = out->design.flags | out->replicas.flags | out->solution.flags;
    return status;
}

static void fill_watts(const struct solved_point *point, double *value)
{
    struct fulcrum_power power =
        fulcrum_power_of(&point->design, &point->replicas, &point->solution);
    double steps_per_s = value[FULCRUM_OUTPUT_steps_per_s];
    double runtime_s = value[FULCRUM_OUTPUT_runtime_s];
    value[FULCRUM_OUTPUT_sm_active_frac] = power.sm_active_frac;
    value[FULCRUM_OUTPUT_cpu_w] = power.cpu_w;
    value[FULCRUM_OUTPUT_gpu_w] = power.gpu_w;
    value[FULCRUM_OUTPUT_system_w] = power.system_w;
    value[FULCRUM_OUTPUT_gpu_j] = power.gpu_w * runtime_s;
    value[FULCRUM_OUTPUT_system_j] = power.system_w * runtime_s;
    value[FULCRUM_OUTPUT_steps_per_j_gpu] = steps_per_s / power.gpu_w;
    value[FULCRUM_OUTPUT_steps_per_j_system] = steps_per_s / power.system_w;
}

/* Of agents; unknown elsewhere. */
static void fill_agents(const struct solved_point *point, double *value)
{
    const struct fulcrum_agent_solution *agents = &point->agents;
    const struct fulcrum_workload_agent *agent = &point->design.workload.agent;
    const struct fulcrum_run *run = &point->design.run;
    bool has_agents = fulcrum_design_has_agents(&point->design);
    double unknown = FULCRUM_UNKNOWN;
    double turns_per_s = value[FULCRUM_OUTPUT_steps_per_s];
    double trajectories_per_s = has_agents ? turns_per_s / agent->turn_count : unknown;
    const struct fulcrum_agent_trajectory one = {.output_tokens = agent->output_tokens,
        .output_cv = agent->output_cv,
        .output_limit = agent->output_limit};
    double tokens =
        agent->turn_count * fulcrum_agent_output_of(&one).tokens + agent->verify_tokens;
    double drift = turns_per_s / point->solution.steps_per_s; /* of the machine */
    double live = agents->load.starting + agents->load.decoding +
                  agents->load.at_tools + agents->load.delayed;
    value[FULCRUM_OUTPUT_trajectories_per_s] = trajectories_per_s;
    value[FULCRUM_OUTPUT_tokens_per_s] = tokens * trajectories_per_s;
    value[FULCRUM_OUTPUT_train_period_s] =
        has_agents ? agents->cycle_s / drift : unknown;
    value[FULCRUM_OUTPUT_staleness] = has_agents ? agents->staleness : unknown;
    value[FULCRUM_OUTPUT_sandbox_count] = has_agents ? live : unknown;
    value[FULCRUM_OUTPUT_cores_per_gpu] =
        has_agents && point->design.machine.accelerator == FULCRUM_ACCELERATOR_GPU
            ? point->design.machine.cpu.core_count /
                  (run->gpu_count - run->learner_gpu_count)
            : unknown;
    value[FULCRUM_OUTPUT_trajectory_system_j] =
        value[FULCRUM_OUTPUT_system_w] / trajectories_per_s;
    value[FULCRUM_OUTPUT_token_system_j] =
        tokens > 0.0 ? value[FULCRUM_OUTPUT_trajectory_system_j] / tokens : unknown;
    if (has_agents && point->design.machine.accelerator == FULCRUM_ACCELERATOR_CPU) {
        static const enum fulcrum_predicted elsewhere[] = {FULCRUM_OUTPUT_mean_batch,
            FULCRUM_OUTPUT_gpu_busy_frac, FULCRUM_OUTPUT_gpu_inference_busy_frac,
            FULCRUM_OUTPUT_gpu_train_busy_frac, FULCRUM_OUTPUT_tokens_per_s,
            FULCRUM_OUTPUT_actor_threads_per_learner_core};
        for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
            value[elsewhere[i]] = unknown;
        }
    }
}

static void fill_values(const struct solved_point *point, double *value)
{
    const struct fulcrum_workload *workload = &point->design.workload;
    double requests = point->replicas.count * point->replicas.steps_per_request;
    const struct fulcrum_run *run = &point->design.run;
    double steps_per_s = point->solution.steps_per_s * requests * run->drift *
                         fulcrum_design_discrepancy(&point->design);
    value[FULCRUM_OUTPUT_steps_per_s] = steps_per_s;
    bool has_agents = fulcrum_design_has_agents(&point->design);
    value[FULCRUM_OUTPUT_frames_per_s] =
        has_agents ? FULCRUM_UNKNOWN : steps_per_s * workload->frame_skip;
    value[FULCRUM_OUTPUT_runtime_s] = workload->total_env_steps / steps_per_s;
    value[FULCRUM_OUTPUT_mean_batch] =
        point->solution.mean_batch * point->replicas.steps_per_request;
    /* What training on many GPUs costs: docs/model.md "Training on many devices". */
    const struct fulcrum_cluster_step *step = &point->replicas.training;
    bool trains = step->worker_count > 0.0;
    double epochs_rel = trains ? step->epochs_rel : 1.0;
    value[FULCRUM_OUTPUT_quality_runtime_s] =
        value[FULCRUM_OUTPUT_runtime_s] * epochs_rel;
    value[FULCRUM_OUTPUT_sample_efficiency_frac] = 1.0 / epochs_rel;
    value[FULCRUM_OUTPUT_train_batch] =
        trains ? step->global_batch_size : FULCRUM_UNKNOWN;
    value[FULCRUM_OUTPUT_allreduce_s] = trains ? step->exposed_s : FULCRUM_UNKNOWN;
    value[FULCRUM_OUTPUT_cpu_thread_busy_frac] = point->solution.cpu_thread_busy_frac;
    value[FULCRUM_OUTPUT_cpu_core_busy_frac] = point->solution.cpu_core_busy_frac;
    value[FULCRUM_OUTPUT_host_busy_frac] =
        has_agents ? FULCRUM_UNKNOWN : point->solution.host_busy_frac;
    value[FULCRUM_OUTPUT_gpu_busy_frac] = point->solution.gpu_busy_frac;
    value[FULCRUM_OUTPUT_gpu_inference_busy_frac] =
        point->solution.gpu_inference_busy_frac;
    value[FULCRUM_OUTPUT_gpu_train_busy_frac] = point->solution.gpu_train_busy_frac;
    value[FULCRUM_OUTPUT_cpu_residence_s] = point->solution.residence.cpu_s;
    value[FULCRUM_OUTPUT_host_residence_s] = point->solution.residence.host_s;
    value[FULCRUM_OUTPUT_gpu_residence_s] = point->solution.residence.gpu_s;
    value[FULCRUM_OUTPUT_delay_s] = point->solution.residence.delay_s;
    fill_watts(point, value);
    /* The paper's metric: hardware threads / SMs, of the machine and of the run. */
    const struct fulcrum_machine *machine = &point->design.machine;
    double threads = machine->cpu.thread_count;
    bool has_gpu = machine->accelerator == FULCRUM_ACCELERATOR_GPU;
    double machine_sms = machine->gpu.count * machine->gpu.sm_count;
    double used_sms = run->gpu_count * run->sm_count;
    double actor_threads = point->replicas.count / point->replicas.node_count *
                           fulcrum_cpu_servers(&point->replicas.network.cpu);
    value[FULCRUM_OUTPUT_cpu_gpu_ratio_machine] =
        has_gpu ? threads / machine_sms : FULCRUM_UNKNOWN;
    value[FULCRUM_OUTPUT_cpu_gpu_ratio_used] =
        has_gpu ? threads / used_sms : FULCRUM_UNKNOWN;
    value[FULCRUM_OUTPUT_actor_threads_per_learner_core] =
        has_gpu ? FULCRUM_UNKNOWN
                : actor_threads / fmax(machine->learner_core_count, 1.0);
    fill_agents(point, value);
}

/* How the draws of a point are solved. */
struct draw_plan {
    const struct fulcrum_predict_options *options; /* of the point */
    struct fulcrum_solver_options solver;
    bool may_simulate;
    double factor[FULCRUM_OUTPUT_COUNT]; /* of what the equations say */
};

/* Outputs that are shares of what there is: no factor takes them beyond 1. */
static bool is_share(size_t output)
{
    return output == FULCRUM_OUTPUT_sample_efficiency_frac ||
           (output >= FULCRUM_OUTPUT_cpu_thread_busy_frac &&
               output <= FULCRUM_OUTPUT_sm_active_frac);
}

/* Given how the point itself was solved. */
static void plan_draws(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    const struct fulcrum_prediction *best_fit, struct draw_plan *out)
{
    enum fulcrum_method method = options->solver.method;
    out->options = options;
    out->solver = options->solver;
    out->may_simulate =
        method == FULCRUM_METHOD_AUTO || method == FULCRUM_METHOD_SIMULATE;
    out->solver.method = out->may_simulate ? FULCRUM_METHOD_FAST : method;
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        out->factor[i] = 1.0;
    }
    if (!out->may_simulate || best_fit->method != FULCRUM_METHOD_SIMULATE) {
        return;
    }
    double values[FULCRUM_OUTPUT_COUNT];
    fulcrum_fast_forget(&predictor->room);
    if (solve_point(predictor, point, &out->solver, NULL) == FULCRUM_OK) {
        fill_values(&predictor->solved, values);
        for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
            out->factor[i] = values[i] > 0.0 ? best_fit->at_fit[i] / values[i] : 1.0;
        }
        out->may_simulate =
            fabs(out->factor[FULCRUM_OUTPUT_steps_per_s] - 1.0) > NOT_FOLLOWED_LEAST;
    }
}

/* The draw that `point` has the number of. */
static enum fulcrum_status solve_draw(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct draw_plan *plan, double *values)
{
    const struct fulcrum_predict_options *options = plan->options;
    struct fulcrum_point drawn = *point;
    drawn.seed = options->solver.seed;
    TRY(solve_point(predictor, &drawn, &plan->solver, NULL));
    bool simulates = plan->may_simulate && (predictor->solved.flags & NOT_FOLLOWED);
    if (simulates) {
        struct fulcrum_solver_options solver = options->solver;
        solver.method = FULCRUM_METHOD_SIMULATE;
        solver.seed =
            fulcrum_stream_seed(solver.seed, options->point_index + 1, point->draw);
        solver.half_width_rel = DRAW_HALF_WIDTH_REL;
        solver.max_steps = DRAW_MOST_STEPS;
        TRY(solve_point(predictor, &drawn, &solver, NULL));
    }
    fill_values(&predictor->solved, values);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT && !simulates; i++) {
        values[i] *= plan->factor[i];
        values[i] = is_share(i) && values[i] > 1.0 ? 1.0 : values[i];
    }
    return FULCRUM_OK;
}

/* Solves the draws one after the other; those that cannot run are not counted. */
static void solve_draws(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    struct fulcrum_prediction *out)
{
    struct draw_plan plan;
    size_t ran = 0;
    size_t agreed = 0;
    plan_draws(predictor, point, options, out, &plan);
    for (size_t i = 0; i < predictor->draw_count; i++) {
        double *values = predictor->draws + i * FULCRUM_OUTPUT_COUNT;
        struct fulcrum_point drawn = *point;
        drawn.draw = (uint64_t)i + 1;
        for (size_t j = 0; j < FULCRUM_OUTPUT_COUNT; j++) {
            values[j] = FULCRUM_UNKNOWN;
        }
        if (solve_draw(predictor, &drawn, &plan, values) == FULCRUM_OK) {
            const struct fulcrum_design *design = &predictor->solved.design;
            predictor->causes[ran] = (struct causes){{log(design->run.drift),
                log(design->cpu_scale_off), log(design->gpu_scale_off),
                log(fulcrum_design_discrepancy(design))}};
            ran++;
            agreed += predictor->solved.solution.bottleneck == out->bottleneck;
        }
    }
    out->draws = (double)ran;
    out->bottleneck_agree_frac = ran > 0 ? (double)agreed / (double)ran : 1.0;
}

/* Of `count` pairs; 0 where one of the two does not vary. The causes lie apart. */
static double squared_correlation(
    const double *x, size_t x_stride, const double *y, size_t count)
{
    double x_variance = gsl_stats_variance(x, x_stride, count);
    double y_variance = gsl_stats_variance(y, 1, count);
    double covariance = gsl_stats_covariance(x, x_stride, y, 1, count);
    return x_variance > 0.0 && y_variance > 0.0
               ? covariance * covariance / (x_variance * y_variance)
               : 0.0;
}

/* The rates of the draws that ran, in their order, are in `rates`. */
static void find_parts(const struct fulcrum_predictor *predictor, const double *rates,
    size_t count, struct fulcrum_prediction *out)
{
    static const enum fulcrum_interval_part parts[CAUSES] = {
        [DRIFT] = FULCRUM_PART_DRIFT,
        [CPU_SCALE] = FULCRUM_PART_SCALING,
        [GPU_SCALE] = FULCRUM_PART_SCALING,
        [DISCREPANCY] = FULCRUM_PART_DISCREPANCY};
    const size_t stride = sizeof *predictor->causes / sizeof(double);
    double *log_rates = predictor->log_rates;
    double known = 0.0;
    for (size_t k = 0; k < count; k++) {
        log_rates[k] = log(rates[k]);
    }
    for (size_t i = 0; i < CAUSES; i++) {
        bool is_scale = i == CPU_SCALE || i == GPU_SCALE;
        bool acts = !is_scale || (out->flags & (unsigned)FULCRUM_FLAG_SCALED) != 0U;
        double share = acts ? squared_correlation(predictor->causes[0].log_rel + i,
                                  stride, log_rates, count)
                            : 0.0;
        share = fulcrum_min(share, 1.0 - known);
        out->part_frac[parts[i]] += share;
        known += share;
    }
    out->part_frac[FULCRUM_PART_PARAMETERS] = 1.0 - known;
}

static enum fulcrum_status add_intervals(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    struct fulcrum_prediction *out)
{
    size_t draws = (size_t)options->draws;
    if (draws > predictor->draw_capacity) {
        free(predictor->draws);
        free(predictor->causes);
        free(predictor->tables);
        predictor->draw_capacity = 0;
        predictor->draws =
            calloc(draws * (FULCRUM_OUTPUT_COUNT + 2), sizeof *predictor->draws);
        predictor->causes = calloc(draws, sizeof *predictor->causes);
        predictor->tables = calloc(draws, sizeof *predictor->tables);
        if (predictor->draws == NULL || predictor->causes == NULL ||
            predictor->tables == NULL) {
            return FULCRUM_ERR_NO_MEMORY;
        }
        predictor->draw_capacity = draws;
        predictor->log_rates = predictor->draws + draws * (FULCRUM_OUTPUT_COUNT + 1);
    }
    predictor->draw_count = draws;
    double *column = predictor->draws + draws * FULCRUM_OUTPUT_COUNT;
    solve_draws(predictor, point, options, out);
    out->has_interval = out->draws > 1.0;
    for (size_t i = 0; out->has_interval && i < FULCRUM_OUTPUT_COUNT; i++) {
        /* The interval of one output over the draws that ran. */
        size_t ran = 0;
        for (size_t k = 0; k < predictor->draw_count; k++) {
            const double *values = predictor->draws + k * FULCRUM_OUTPUT_COUNT;
            if (!isnan(values[FULCRUM_OUTPUT_steps_per_s])) { /* it ran */
                column[ran++] = values[i];
            }
        }
        if (i == FULCRUM_OUTPUT_steps_per_s) {
            find_parts(predictor, column, ran, out);
        }
        struct fulcrum_interval interval = fulcrum_interval_of(column, ran);
        out->lo[i] = interval.lo;
        out->hi[i] = interval.hi;
        out->value[i] = interval.median;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predictor_new(const struct fulcrum_scenario *scenario,
    struct fulcrum_predictor **out, struct fulcrum_error *err)
{
    struct fulcrum_predictor *predictor = calloc(1, sizeof *predictor);
    TRY_MEMORY(predictor, err, "a prediction");
    predictor->scenario = scenario;
    *out = predictor;
    return FULCRUM_OK;
}

void fulcrum_predictor_free(struct fulcrum_predictor *predictor)
{
    if (predictor != NULL) {
        free(predictor->draws);
        free(predictor->causes);
        free(predictor->tables);
        free(predictor);
    }
}

void fulcrum_predictor_place(struct fulcrum_predictor *predictor, const double *z)
{
    predictor->z = z;
}

enum fulcrum_status fulcrum_predictor_run(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    struct fulcrum_prediction *out, struct fulcrum_error *err)
{
    struct fulcrum_solver_options solver = options->solver;
    solver.seed =
        fulcrum_stream_seed(options->solver.seed, options->point_index + 1, 0);
    predictor->draw_count = 0;
    if (!options->follows) {
        fulcrum_fast_forget(&predictor->room);
    }
    TRY(solve_point(predictor, point, &solver, err));
    double requests =
        predictor->solved.replicas.count * predictor->solved.replicas.steps_per_request;
    const struct fulcrum_solution *solution = &predictor->solved.solution;
    *out = (struct fulcrum_prediction){0};
    fill_values(&predictor->solved, out->at_fit);
    memcpy(out->value, out->at_fit, sizeof out->value);
    out->method = solution->method;
    out->bottleneck = solution->bottleneck;
    out->bottleneck_agree_frac = 1.0;
    out->actor_count = predictor->solved.design.run.actor_count;
    out->flags = predictor->solved.flags;
    out->solver_error_rel = solution->error_rel;
    out->solver_lo_steps_per_s =
        requests *
        (solution->has_interval ? solution->steps_per_s_lo : solution->steps_per_s);
    out->solver_hi_steps_per_s =
        requests *
        (solution->has_interval ? solution->steps_per_s_hi : solution->steps_per_s);
    if (options->draws >= 1.0) {
        TRY(add_intervals(predictor, point, options, out));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predictor_draw(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    const struct fulcrum_prediction *best_fit, double *values)
{
    struct fulcrum_point undrawn = *point;
    struct draw_plan plan;
    undrawn.draw = 0;
    plan_draws(predictor, &undrawn, options, best_fit, &plan);
    return solve_draw(predictor, point, &plan, values);
}

const double *fulcrum_predictor_draws(
    const struct fulcrum_predictor *predictor, size_t *count)
{
    *count = predictor->draw_count;
    return predictor->draw_count > 0 ? predictor->draws : NULL;
}

enum fulcrum_status fulcrum_predictor_design(struct fulcrum_predictor *predictor,
    const struct fulcrum_point *point, const struct fulcrum_design **out,
    struct fulcrum_error *err)
{
    TRY(design_point(predictor, point, err));
    *out = &predictor->solved.design;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict(const struct fulcrum_scenario *scenario,
    const struct fulcrum_point *point, const struct fulcrum_predict_options *options,
    struct fulcrum_prediction *out, struct fulcrum_error *err)
{
    struct fulcrum_predictor *predictor = NULL;
    enum fulcrum_status status = fulcrum_predictor_new(scenario, &predictor, err);
    if (predictor != NULL) {
        status = fulcrum_predictor_run(predictor, point, options, out, err);
    }
    fulcrum_predictor_free(predictor);
    return status;
}
