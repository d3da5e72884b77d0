/* agent_simulate.c - trajectories of agents, one by one: the judge of the equations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every trajectory goes its own way through starts, instances, threads and delays, with
 * lengths drawn for each of its visits. Those that share an instance or the CPU do so
 * equally: their work is counted on the clock of the place, which runs slower the more
 * of them there are, so that only the next one to finish must be known. Work that all
 * of an instance wait for (prompts, new weights) stops its clock.
 *
 * Nothing here is shared with the equations but the network and c(n).
 */
#include "model/agent/agent.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/parallel.h"
#include "model/try.h"

/* Parts that a run is divided into for its interval. */
enum { PARTS = 20 };
/* More of them end a run between windows, and so many more one that has none. */
#define MOST_EVENTS        2e7
#define STUCK_FACTOR       20.0
#define WINDOW_LEAST       100.0
#define WARM_UP_WINDOWS    4.0
#define DEFAULT_HALF_WIDTH 0.01

/* Those that are somewhere, the next one to leave first. */
struct place {
    double clock;  /* of the place; at places that nobody shares that of all */
    double next_s; /* when the next one leaves; INFINITY: nobody, or it stands still */
    double halted_s; /* until then its clock stands still */
    size_t count;
    size_t capacity;
    struct guest {
        double leaves; /* on the clock of the place */
        size_t id;
    } * guests; /* a heap */
};

/* Ids in the order in which they came. */
struct line {
    size_t *ids; /* live_count + 1 */
    size_t first;
    size_t count;
};

enum stage { STARTS, DECODES, CALLS, DELAYED, VERIFIES, JUDGED };

struct trajectory {
    enum stage stage;
    double turns_left;
    size_t group;
    size_t instance;
};

/* What is summed over time, in trajectory-seconds or seconds. */
struct sums {
    struct fulcrum_agent_load load;
    double busy;    /* instances */
    double inside;  /* in flight on them */
    double running; /* threads */
    double training;
};

struct simulation {
    const struct fulcrum_agent_network *network;
    gsl_rng *random;
    double now_s;
    double last_s; /* of the sums */
    size_t live_most;
    size_t instances;
    size_t inside_most; /* on one instance */
    struct place starts;
    struct place delays;
    struct place tools;
    struct place *decode; /* of each instance */
    struct line to_start;
    struct line to_decode;
    struct line idle; /* trajectories that may be begun */
    struct trajectory *trajectories;
    size_t *group_left; /* members that have not ended, by group */
    struct line groups; /* free ones */
    size_t group;       /* of the next trajectory */
    double group_begun; /* members of it that have begun */
    size_t live;
    size_t decoding;
    bool has_memory;
    /* The trainer. */
    double allowed;     /* more that may begin, in trajectories */
    double ended;       /* not yet in a training step */
    double ready;       /* of these, in whole groups */
    double train_end_s; /* INFINITY: it does not train */
    double switch_end_s;
    double steps;     /* of training */
    double stale;     /* trajectories that saw one of them end */
    double completed; /* trajectories */
    double events;
    double most_events; /* of a run that does not get anywhere */
    struct sums sums;
};

/* Heaps. */

static void sift_down(struct place *place, struct guest guest)
{
    size_t at = 0;
    for (size_t child = 1; child < place->count; child = 2 * at + 1) {
        if (child + 1 < place->count &&
            place->guests[child + 1].leaves < place->guests[child].leaves) {
            child++;
        }
        if (!(place->guests[child].leaves < guest.leaves)) {
            break;
        }
        place->guests[at] = place->guests[child];
        at = child;
    }
    place->guests[at] = guest;
}

static size_t take_first(struct place *place)
{
    size_t id = place->guests[0].id;
    struct guest last = place->guests[--place->count];
    if (place->count > 0) {
        sift_down(place, last);
    }
    return id;
}

static bool add_guest(struct place *place, struct guest guest)
{
    if (place->count == place->capacity) {
        size_t capacity = 2 * place->capacity + 16;
        struct guest *guests = realloc(place->guests, capacity * sizeof *guests);
        if (guests == NULL) {
            return false;
        }
        place->guests = guests;
        place->capacity = capacity;
    }
    size_t at = place->count++;
    while (at > 0 && guest.leaves < place->guests[(at - 1) / 2].leaves) {
        place->guests[at] = place->guests[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    place->guests[at] = guest;
    return true;
}

static void join(struct line *line, size_t size, size_t id)
{
    line->ids[(line->first + line->count++) % size] = id;
}

static size_t leave(struct line *line, size_t size)
{
    size_t id = line->ids[line->first];
    line->first = (line->first + 1) % size;
    line->count--;
    return id;
}

/* Lengths. */

static double lognormal(struct simulation *sim, double mean, double cv)
{
    if (!(mean > 0.0) || !(cv > 0.0)) {
        return mean;
    }
    double square = log1p(cv * cv);
    return gsl_ran_lognormal(sim->random, log(mean) - 0.5 * square, sqrt(square));
}

/* Whole, at least 1, of the mean and deviation told but for the rounding. */
static double turns(struct simulation *sim)
{
    const struct fulcrum_agent_trajectory *one = &sim->network->trajectory;
    double more = one->turn_count - 1.0;
    double cv = more > 0.0 ? one->turn_cv * one->turn_count / more : 0.0;
    return 1.0 + floor(lognormal(sim, more, cv) + gsl_rng_uniform(sim->random));
}

/* Clocks. */

/* Of work on the place's clock, seconds for each unit. */
static double decode_pace_s(const struct simulation *sim, size_t count)
{
    const struct fulcrum_agent_decode *decode = &sim->network->decode;
    double context = sim->network->trajectory.context_tokens;
    double exponent = decode->item_exponent > 0.0 ? decode->item_exponent : 1.0;
    double items = exponent < 1.0 ? pow((double)count, exponent) : (double)count;
    return decode->per_token_s + decode->per_item_s * items +
           decode->per_context_s * context * (double)count;
}

static double tools_pace_s(const struct simulation *sim, size_t count)
{
    double n = fulcrum_max(1.0, (double)count);
    return n / fulcrum_cpu_capacity(&sim->network->cpu, n);
}

/* The clock of a place at this moment, where its pace has been pace_s since. */
static void wind(struct simulation *sim, struct place *place, double pace_s)
{
    if (place->count > 0 && place->next_s < (double)INFINITY) {
        double left_s = place->next_s - fulcrum_max(sim->now_s, place->halted_s);
        double left = left_s > 0.0 && pace_s > 0.0 ? left_s / pace_s : 0.0;
        place->clock = place->guests[0].leaves - left;
    }
}

static void look_ahead(struct simulation *sim, struct place *place, double pace_s)
{
    double from_s = fulcrum_max(sim->now_s, place->halted_s);
    place->next_s = place->count > 0
                        ? from_s + (place->guests[0].leaves - place->clock) * pace_s
                        : (double)INFINITY;
}

/* Visits: each function takes a trajectory in, and tells no more. */

static void begin_decode(struct simulation *sim, size_t id)
{
    const struct fulcrum_agent_trajectory *one = &sim->network->trajectory;
    struct trajectory *self = &sim->trajectories[id];
    size_t best = 0;
    for (size_t i = 1; i < sim->instances; i++) {
        best = sim->decode[i].count < sim->decode[best].count ? i : best;
    }
    struct place *place = &sim->decode[best];
    bool is_judged = self->stage == JUDGED;
    double tokens = lognormal(
        sim, is_judged ? one->verify_tokens : one->output_tokens, one->output_cv);
    if (!is_judged && one->output_limit > 0.0) {
        tokens = fulcrum_min(tokens, one->output_limit);
    }
    double prompt_s =
        is_judged ? 0.0 : one->prompt_tokens * sim->network->decode.per_prompt_s;
    wind(sim, place, decode_pace_s(sim, place->count));
    place->halted_s = fulcrum_max(place->halted_s, sim->now_s) + prompt_s;
    self->instance = best;
    sim->has_memory &= add_guest(place, (struct guest){place->clock + tokens, id});
    look_ahead(sim, place, decode_pace_s(sim, place->count));
}

static void admit_decoders(struct simulation *sim)
{
    while (
        sim->to_decode.count > 0 && sim->decoding < sim->instances * sim->inside_most) {
        sim->decoding++;
        begin_decode(sim, leave(&sim->to_decode, sim->live_most));
    }
}

static void call(struct simulation *sim, size_t id, double mean_s)
{
    double work_s = lognormal(sim, mean_s, sim->network->trajectory.tool_cv);
    wind(sim, &sim->tools, tools_pace_s(sim, sim->tools.count));
    sim->has_memory &=
        add_guest(&sim->tools, (struct guest){sim->tools.clock + work_s, id});
    look_ahead(sim, &sim->tools, tools_pace_s(sim, sim->tools.count));
}

/* Places that nobody shares: their clock is that of all. */
static void stay(struct simulation *sim, struct place *place, size_t id, double time_s)
{
    sim->has_memory &= add_guest(place, (struct guest){sim->now_s + time_s, id});
    place->next_s = place->guests[0].leaves;
}

static void admit_starts(struct simulation *sim)
{
    double limit = sim->network->start_limit;
    double mean_s = sim->network->trajectory.start_s;
    while (sim->to_start.count > 0 &&
           (!(limit > 0.0) || (double)sim->starts.count < limit)) {
        size_t id = leave(&sim->to_start, sim->live_most);
        stay(sim, &sim->starts, id, gsl_ran_exponential(sim->random, mean_s));
    }
}

static void end_trajectory(struct simulation *sim, size_t id)
{
    size_t group = sim->trajectories[id].group;
    sim->completed += 1.0;
    sim->live--;
    join(&sim->idle, sim->live_most, id);
    if (sim->network->trainer.coupling == FULCRUM_AGENT_ALONE) {
        sim->allowed += 1.0;
        return;
    }
    sim->ended += 1.0;
    if (--sim->group_left[group] == 0) {
        sim->ready += sim->network->trainer.group_size;
        join(&sim->groups, sim->live_most + 1, group);
    }
}

/* Whether it takes a trajectory any time. */
static bool takes_time(const struct simulation *sim, enum stage stage)
{
    const struct fulcrum_agent_trajectory *one = &sim->network->trajectory;
    switch (stage) {
    case STARTS:
        return one->start_s > 0.0;
    case DECODES:
        return one->output_tokens > 0.0 || one->prompt_tokens > 0.0;
    case CALLS:
        return one->tool_s > 0.0;
    case DELAYED:
        return one->delay_s > 0.0;
    case VERIFIES:
        return one->verify_s > 0.0;
    case JUDGED:
    default:
        return one->verify_tokens > 0.0;
    }
}

static void enter(struct simulation *sim, size_t id, enum stage stage)
{
    const struct fulcrum_agent_trajectory *one = &sim->network->trajectory;
    sim->trajectories[id].stage = stage;
    switch (stage) {
    case STARTS:
        join(&sim->to_start, sim->live_most, id);
        break;
    case CALLS:
    case VERIFIES:
        call(sim, id, stage == CALLS ? one->tool_s : one->verify_s);
        break;
    case DELAYED:
        stay(sim, &sim->delays, id, gsl_ran_exponential(sim->random, one->delay_s));
        break;
    case DECODES:
    case JUDGED:
    default:
        join(&sim->to_decode, sim->live_most, id);
        break;
    }
}

/* Goes on with `stage`, or the first one after it that takes time. */
static void go_on(struct simulation *sim, size_t id, enum stage stage)
{
    struct trajectory *self = &sim->trajectories[id];
    while (!takes_time(sim, stage)) {
        if (stage == JUDGED) {
            end_trajectory(sim, id);
            return;
        }
        bool turns_over = stage == DELAYED && (self->turns_left -= 1.0) > 0.0;
        stage = turns_over ? DECODES : (enum stage)(stage + 1);
    }
    enter(sim, id, stage);
}

/* A visit is over. */
static void leave_stage(struct simulation *sim, size_t id)
{
    struct trajectory *self = &sim->trajectories[id];
    if (self->stage == JUDGED) {
        end_trajectory(sim, id);
        return;
    }
    bool turns_over = self->stage == DELAYED && (self->turns_left -= 1.0) > 0.0;
    go_on(sim, id, turns_over ? DECODES : (enum stage)(self->stage + 1));
}

/* Begins what may begin: groups whole, one trajectory after the other. */
static void begin_trajectories(struct simulation *sim)
{
    double size = sim->network->trainer.coupling == FULCRUM_AGENT_ALONE
                      ? 1.0
                      : sim->network->trainer.group_size;
    while (sim->idle.count > 0 && (sim->group_begun > 0.0 || sim->allowed >= size)) {
        if (!(sim->group_begun > 0.0)) {
            sim->allowed -= size;
            sim->group = sim->network->trainer.coupling == FULCRUM_AGENT_ALONE
                             ? 0
                             : leave(&sim->groups, sim->live_most + 1);
            sim->group_left[sim->group] = (size_t)size;
        }
        size_t id = leave(&sim->idle, sim->live_most);
        sim->trajectories[id] =
            (struct trajectory){.turns_left = turns(sim), .group = sim->group};
        sim->live++;
        sim->group_begun = sim->group_begun + 1.0 < size ? sim->group_begun + 1.0 : 0.0;
        go_on(sim, id, STARTS);
    }
    admit_starts(sim);
    admit_decoders(sim);
}

/* The trainer. */

static void halt_decode(struct simulation *sim, double until_s)
{
    for (size_t i = 0; i < sim->instances; i++) {
        struct place *place = &sim->decode[i];
        double pace_s = decode_pace_s(sim, place->count);
        wind(sim, place, pace_s);
        place->halted_s =
            fulcrum_max(place->halted_s, sim->now_s) + (until_s - sim->now_s);
        look_ahead(sim, place, pace_s);
    }
}

/* Weights are on their way when a step has ended; the next one begins after that. */
static void end_training(struct simulation *sim)
{
    sim->steps += 1.0;
    sim->stale += sim->ended + (double)sim->live;
    sim->train_end_s = (double)INFINITY;
    sim->switch_end_s = sim->now_s + sim->network->trainer.switch_s;
    halt_decode(sim, sim->switch_end_s);
}

static void begin_training(struct simulation *sim)
{
    sim->ended -= sim->network->trainer.batch_size;
    sim->ready -= sim->network->trainer.batch_size;
    sim->train_end_s = sim->now_s + sim->network->trainer.train_s;
}

/* What the trainer does now that something has ended or been switched. */
static void tend_trainer(struct simulation *sim)
{
    const struct fulcrum_agent_trainer *trainer = &sim->network->trainer;
    bool trains = sim->train_end_s < (double)INFINITY;
    bool switches = sim->switch_end_s < (double)INFINITY;
    bool is_full = sim->ready >= trainer->batch_size;
    switch (trainer->coupling) {
    case FULCRUM_AGENT_STREAM:
    case FULCRUM_AGENT_IN_TURNS:
        if (is_full && !trains && !switches) {
            begin_training(sim);
        }
        break;
    case FULCRUM_AGENT_ONE_OFF:
        /* A switch comes before both the step and the next batch. */
        if (is_full && !trains && !switches) {
            sim->switch_end_s = sim->now_s + trainer->switch_s;
        }
        break;
    case FULCRUM_AGENT_ALONE:
    default:
        break;
    }
}

static void end_switch(struct simulation *sim)
{
    const struct fulcrum_agent_trainer *trainer = &sim->network->trainer;
    sim->switch_end_s = (double)INFINITY;
    if (trainer->coupling == FULCRUM_AGENT_ONE_OFF) {
        begin_training(sim);
    }
    sim->allowed += trainer->batch_size;
}

static void end_step(struct simulation *sim)
{
    if (sim->network->trainer.coupling == FULCRUM_AGENT_ONE_OFF) {
        sim->steps += 1.0;
        sim->stale += sim->ended + (double)sim->live;
        sim->train_end_s = (double)INFINITY;
    } else {
        end_training(sim);
    }
}

/* Running. */

static void add_time(struct simulation *sim, double to_s)
{
    double time_s = to_s - sim->last_s;
    double instances = (double)sim->instances;
    double on_cpu = (double)sim->tools.count;
    double busy = 0.0;
    for (size_t i = 0; i < sim->instances; i++) {
        busy += sim->decode[i].count > 0 ? 1.0 : 0.0;
    }
    struct sums *sums = &sim->sums;
    sums->load.starting += time_s * (double)(sim->starts.count + sim->to_start.count);
    sums->load.decoding += time_s * (double)(sim->decoding + sim->to_decode.count);
    sums->load.at_tools += time_s * on_cpu;
    sums->load.delayed += time_s * (double)sim->delays.count;
    sums->load.ended += time_s * sim->ended;
    sums->busy += time_s * busy / instances;
    sums->inside += time_s * (double)sim->decoding;
    sums->running +=
        time_s * fulcrum_min(on_cpu, fulcrum_cpu_servers(&sim->network->cpu));
    sums->training += sim->train_end_s < (double)INFINITY ? time_s : 0.0;
    sim->last_s = to_s;
}

/* The place whose next one leaves first; NULL: the trainer comes first. */
static struct place *next_place(struct simulation *sim, double *at_s)
{
    struct place *const alone[] = {&sim->starts, &sim->delays, &sim->tools};
    struct place *first = NULL;
    *at_s = fulcrum_min(sim->train_end_s, sim->switch_end_s);
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        if (alone[i]->next_s < *at_s) {
            first = alone[i];
            *at_s = first->next_s;
        }
    }
    for (size_t i = 0; i < sim->instances; i++) {
        if (sim->decode[i].next_s < *at_s) {
            first = &sim->decode[i];
            *at_s = first->next_s;
        }
    }
    return first;
}

static void pass_event(struct simulation *sim)
{
    double at_s = 0.0;
    struct place *place = next_place(sim, &at_s);
    assert(at_s < (double)INFINITY);
    add_time(sim, at_s);
    sim->now_s = at_s;
    sim->events += 1.0;
    if (place == NULL) {
        if (sim->train_end_s <= at_s) {
            end_step(sim);
        } else {
            end_switch(sim);
        }
    } else {
        place->clock = place->guests[0].leaves;
        size_t id = take_first(place);
        if (place == &sim->starts || place == &sim->delays) {
            place->next_s =
                place->count > 0 ? place->guests[0].leaves : (double)INFINITY;
        } else if (place == &sim->tools) {
            look_ahead(sim, place, tools_pace_s(sim, place->count));
        } else {
            sim->decoding--;
            look_ahead(sim, place, decode_pace_s(sim, place->count));
        }
        leave_stage(sim, id);
    }
    tend_trainer(sim);
    begin_trajectories(sim);
}

static void run_to(struct simulation *sim, double completed)
{
    while (sim->completed < completed && sim->has_memory &&
           sim->events < sim->most_events) {
        pass_event(sim);
    }
}

static bool set_up(struct simulation *sim)
{
    const struct fulcrum_agent_network *network = sim->network;
    size_t live = sim->live_most;
    struct line *const lines[] = {
        &sim->to_start, &sim->to_decode, &sim->idle, &sim->groups};
    sim->random = gsl_rng_alloc(gsl_rng_mt19937);
    sim->trajectories = calloc(live, sizeof *sim->trajectories);
    sim->group_left = calloc(live + 1, sizeof *sim->group_left);
    sim->decode = calloc(sim->instances, sizeof *sim->decode);
    bool is_there = sim->random != NULL && sim->trajectories != NULL &&
                    sim->group_left != NULL && sim->decode != NULL;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        lines[i]->ids = calloc(live + 1, sizeof *lines[i]->ids);
        is_there = is_there && lines[i]->ids != NULL;
    }
    if (!is_there) {
        return false;
    }
    for (size_t i = 0; i < live; i++) {
        join(&sim->idle, live, i);
    }
    for (size_t i = 0; i <= live; i++) {
        join(&sim->groups, live + 1, i);
    }
    for (size_t i = 0; i < sim->instances; i++) {
        sim->decode[i].next_s = (double)INFINITY;
    }
    double batch = network->trainer.batch_size;
    switch (network->trainer.coupling) {
    case FULCRUM_AGENT_STREAM:
        sim->allowed = floor((1.0 + network->trainer.staleness) * batch);
        break;
    case FULCRUM_AGENT_IN_TURNS:
    case FULCRUM_AGENT_ONE_OFF:
        sim->allowed = batch;
        break;
    case FULCRUM_AGENT_ALONE:
    default:
        sim->allowed = network->live_count;
        break;
    }
    return true;
}

static void clear(struct simulation *sim)
{
    for (size_t i = 0; sim->decode != NULL && i < sim->instances; i++) {
        free(sim->decode[i].guests);
    }
    free(sim->decode);
    free(sim->starts.guests);
    free(sim->delays.guests);
    free(sim->tools.guests);
    free(sim->to_start.ids);
    free(sim->to_decode.ids);
    free(sim->idle.ids);
    free(sim->groups.ids);
    free(sim->group_left);
    free(sim->trajectories);
    gsl_rng_free(sim->random);
}

/* Relative half of the 95 % interval of the mean, windows taken together in parts. */
static double half_width_rel(const double *window_s, size_t count)
{
    double part_s[PARTS];
    size_t parts = GSL_MIN(count, (size_t)PARTS);
    size_t each = count / parts;
    for (size_t i = 0; i < parts; i++) {
        part_s[i] = gsl_stats_mean(window_s + i * each, 1, each);
    }
    double mean_s = gsl_stats_mean(part_s, 1, parts);
    double sd_s = gsl_stats_sd_m(part_s, 1, parts, mean_s);
    double t = gsl_cdf_tdist_Pinv(0.975, (double)(parts - 1));
    return t * sd_s / sqrt((double)parts) / mean_s;
}

/* Windows of whole batches, each of as many trajectories as are live, or more. */
static double window_of(const struct fulcrum_agent_network *network)
{
    double least = fulcrum_max(WINDOW_LEAST, network->live_count);
    double batch = network->trainer.batch_size;
    switch (network->trainer.coupling) {
    case FULCRUM_AGENT_STREAM:
        return batch * ceil(least / batch);
    case FULCRUM_AGENT_IN_TURNS:
    case FULCRUM_AGENT_ONE_OFF:
        return batch;
    case FULCRUM_AGENT_ALONE:
    default:
        return least;
    }
}

struct measured {
    double *window_s; /* room for `most` */
    size_t count;
    size_t most;
    double half_rel;
    double start_s;
    double steps;
    double stale;
};

/* Windows until the interval is narrow enough or there were too many events. */
static void measure(
    struct simulation *sim, double wanted_rel, double most_events, struct measured *out)
{
    const struct fulcrum_agent_trainer *trainer = &sim->network->trainer;
    double window = window_of(sim->network);
    bool flows = trainer->coupling == FULCRUM_AGENT_ALONE ||
                 trainer->coupling == FULCRUM_AGENT_STREAM;
    double ahead = flows ? trainer->staleness * trainer->batch_size : 0.0;
    run_to(sim, window * ceil((flows ? WARM_UP_WINDOWS : 1.0) + ahead / window));
    out->start_s = sim->last_s = sim->now_s;
    out->steps = sim->steps;
    out->stale = sim->stale;
    sim->sums = (struct sums){.busy = 0.0};
    double start = sim->completed;
    while (
        out->count < out->most && sim->has_memory && sim->events < sim->most_events) {
        double before_s = sim->now_s;
        run_to(sim, start + window * ((double)out->count + 1.0));
        out->window_s[out->count++] = sim->now_s - before_s;
        bool is_over = sim->events > most_events && out->count > 1;
        if (out->count % PARTS == 0 || is_over) {
            out->half_rel = half_width_rel(out->window_s, out->count);
            if (out->half_rel <= wanted_rel || is_over) {
                return;
            }
        }
    }
}

static void report(const struct simulation *sim, const struct measured *measured,
    double wanted_rel, struct fulcrum_agent_solution *out)
{
    const struct sums *sums = &sim->sums;
    double time_s = sim->now_s - measured->start_s;
    double steps = sim->steps - measured->steps;
    bool trains = steps > 0.0;
    double window = window_of(sim->network);
    double instances = (double)sim->instances;
    *out = (struct fulcrum_agent_solution){
        .trajectories_per_s = window * (double)measured->count / time_s,
        .load = sums->load,
        .mean_batch = sums->busy > 0.0 ? sums->inside / (sums->busy * instances) : 0.0,
        .decode_busy_frac = sums->busy / time_s,
        .cpu_busy_frac =
            sums->running / time_s / fulcrum_cpu_servers(&sim->network->cpu),
        .train_busy_frac = sums->training / time_s,
        .cycle_s = trains ? time_s / steps : FULCRUM_UNKNOWN,
        .staleness = trains ? (sim->stale - measured->stale) / steps /
                                  sim->network->trainer.batch_size
                            : 0.0,
        .error_rel = measured->half_rel,
        .method = FULCRUM_METHOD_SIMULATE,
        .flags =
            measured->half_rel <= wanted_rel ? 0U : (unsigned)FULCRUM_FLAG_NOT_SETTLED};
    double *const loads[] = {&out->load.starting, &out->load.decoding,
        &out->load.at_tools, &out->load.delayed, &out->load.ended};
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        *loads[i] /= time_s;
    }
}

enum fulcrum_status fulcrum_agent_simulate(const struct fulcrum_agent_network *network,
    const struct fulcrum_solver_options *options, struct fulcrum_agent_solution *out,
    struct fulcrum_error *err)
{
    enum { WINDOWS_MOST = 20000 };
    double wanted_rel =
        options->half_width_rel > 0.0 ? options->half_width_rel : DEFAULT_HALF_WIDTH;
    double inside = network->decode.most_items > 0.0 ? network->decode.most_items
                                                     : network->live_count;
    double most_events = options->max_steps > 0.0 ? options->max_steps : MOST_EVENTS;
    struct simulation sim = {.network = network,
        .most_events = STUCK_FACTOR * most_events,
        .live_most = (size_t)network->live_count,
        .instances = (size_t)network->decode.instance_count,
        .inside_most = (size_t)inside,
        .starts.next_s = (double)INFINITY,
        .delays.next_s = (double)INFINITY,
        .tools.next_s = (double)INFINITY,
        .train_end_s = (double)INFINITY,
        .switch_end_s = (double)INFINITY,
        .has_memory = true};
    struct measured measured = {.most = WINDOWS_MOST, .half_rel = (double)INFINITY};
    measured.window_s = calloc(WINDOWS_MOST, sizeof *measured.window_s);
    bool is_set = set_up(&sim) && measured.window_s != NULL;
    if (is_set) {
        gsl_rng_set(sim.random,
            fulcrum_stream_gsl_seed(fulcrum_stream_seed(options->seed, 0, 0)));
        begin_trajectories(&sim);
        measure(&sim, wanted_rel, most_events, &measured);
    }
    bool is_stuck = is_set && sim.events >= sim.most_events;
    if (is_set && sim.has_memory && !is_stuck) {
        report(&sim, &measured, wanted_rel, out);
    }
    bool has_memory = is_set && sim.has_memory;
    free(measured.window_s);
    clear(&sim);
    FAIL_IF(!has_memory, err, FULCRUM_ERR_NO_MEMORY,
        "no memory to simulate %g trajectories", network->live_count);
    FAIL_IF(is_stuck, err, FULCRUM_ERR_UNSUPPORTED,
        "%g events are too few to simulate it: %g trajectories of %g turns end in a "
        "window",
        sim.most_events, window_of(network), network->trajectory.turn_count);
    return FULCRUM_OK;
}
