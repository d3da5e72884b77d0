/* agent_fast.c - trajectories of agents by equations: docs/model.md "Agents". */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many of n trajectories are where, and how fast they go round, has a product form.
 * A few are convolved. Of many, stations are taken as if each were alone and saw
 * trajectories come at a rate x (a grand canonical ensemble); the rate at which they
 * hold n together, corrected for the spread of their sum (the saddle point of the
 * normalisation constant), is the throughput to a part in a thousand.
 *
 * A trainer changes how many are under way. While they change, the network is taken to
 * be in the state that as many would settle in: trajectories are long beside turns.
 */
#include "model/agent/agent.h"

#include <math.h>
#include <string.h>

#include "model/number.h"

enum { STARTS, DECODE, TOOLS, DELAY, STATIONS };

typedef double rate_of(const struct fulcrum_agent_rates *rates, double n);
static rate_of *const rate_ofs[STATIONS] = {fulcrum_agent_starts_per_s,
    fulcrum_agent_decode_per_s, fulcrum_agent_tools_per_s, NULL};

/* Throughput of n trajectories, and how many are at each station. */
struct flow {
    double n;
    double per_s;
    double at[STATIONS];
};

/* Up to so many are convolved. */
enum { FEW = 64 };

/* Numbers below which weights are summed one by one, where the largest is below
 * LOW_MODE. */
enum { SINGLY = 96 };

struct field {
    const struct fulcrum_agent_network *network;
    struct fulcrum_agent_rates rates;
    double each_s[STATIONS][SINGLY]; /* 1 / rate of so many there; 0: never there */
    double work_s[STATIONS];         /* of one alone; 0: never there */
    double most_per_s;               /* no x reaches it */
    /* Of a start, where trajectories pass it before they get on at the same time; 0: it
     * is a part of that. */
    double queue_s;
};

static void fill_each(struct field *field)
{
    for (size_t i = 0; i < STATIONS; i++) {
        for (size_t j = 1; j < SINGLY; j++) {
            double n = (double)j;
            field->each_s[i][j] = !(field->work_s[i] > 0.0) ? 0.0
                                  : i == DELAY              ? field->work_s[DELAY] / n
                                               : 1.0 / rate_ofs[i](&field->rates, n);
        }
    }
}

static void field_init(
    struct field *field, const struct fulcrum_agent_network *network, bool has_starts)
{
    const struct fulcrum_agent_decode *decode = &network->decode;
    field->network = network;
    field->rates = fulcrum_agent_rates_of(network);
    field->most_per_s = (double)INFINITY;
    field->queue_s = 0.0;
    const struct fulcrum_agent_rates *rates = &field->rates;
    const double work_s[STATIONS] = {has_starts ? network->trajectory.start_s : 0.0,
        fulcrum_agent_decode_s(rates, 1.0),
        rates->tool_s / fulcrum_cpu_capacity(&network->cpu, 1.0), rates->delay_s};
    memcpy(field->work_s, work_s, sizeof work_s);
    fill_each(field);
    if (work_s[DECODE] > 0.0) {
        double limit = rates->shared_s > 0.0 ? decode->instance_count / rates->shared_s
                                             : (double)INFINITY;
        field->most_per_s = rates->most < (double)INFINITY
                                ? fulcrum_agent_decode_per_s(rates, rates->most)
                                : limit;
    }
    if (rates->tool_s > 0.0) {
        double crowd =
            fulcrum_max(network->live_count, 2.0 * fulcrum_cpu_servers(&network->cpu));
        field->most_per_s =
            fulcrum_min(field->most_per_s, fulcrum_agent_tools_per_s(rates, crowd));
    }
    if (work_s[STARTS] > 0.0 && network->start_limit > 0.0) {
        field->most_per_s = fulcrum_min(
            field->most_per_s, network->start_limit / network->trajectory.start_s);
    }
}

/* Of a trajectory that shares nothing. */
static double alone_s_of(const struct field *field)
{
    const double *work_s = field->work_s;
    return work_s[STARTS] + work_s[DECODE] + work_s[TOOLS] + work_s[DELAY];
}

/* Convolution. */

static void convolve(const double *a, const double *b, size_t count, double *out)
{
    memset(out, 0, count * sizeof *out);
    for (size_t j = 0; j < count && (j == 0 || a[j] > 0.0); j++) {
        for (size_t n = j; n < count; n++) {
            out[n] += a[j] * b[n - j];
        }
    }
}

/* Weights of a station: 1, x / rate(1), x^2 / (rate(1) rate(2)), ... */
static void weigh(
    const struct field *field, size_t station, double x, size_t count, double *out)
{
    out[0] = 1.0;
    for (size_t j = 1; j < count; j++) {
        out[j] = out[j - 1] * x * field->each_s[station][j];
    }
}

static double mean_in(const double *own, const double *others, size_t n)
{
    double sum = 0.0;
    double whole = 0.0;
    for (size_t j = 0; j <= n; j++) {
        double chance = own[j] * others[n - j];
        sum += (double)j * chance;
        whole += chance;
    }
    return sum / whole;
}

/* Of the one station whose weights are `own`, at each number of all. */
static void add_means(const double *own, const double *others, size_t station,
    size_t count, struct flow *flows)
{
    for (size_t n = 1; n < count; n++) {
        flows[n].at[station] = mean_in(own, others, n);
    }
}

/* All numbers up to count - 1 at once: `flows` has room for so many, the first is 0.
 * `room`: (STATIONS + 4) count numbers. */
static void convolve_all(
    const struct field *field, size_t count, double *room, struct flow *flows)
{
    double *of[STATIONS];
    double *unbound = room + STATIONS * count; /* at starts and delays */
    double *bound = unbound + count;           /* decoding and at tools */
    double *all = bound + count;
    double *others = all + count;
    double x = fulcrum_min(field->most_per_s, (double)(count - 1) / alone_s_of(field));
    for (size_t i = 0; i < STATIONS; i++) {
        of[i] = room + i * count;
        weigh(field, i, x, count, of[i]);
    }
    convolve(of[STARTS], of[DELAY], count, unbound);
    convolve(of[TOOLS], of[DECODE], count, bound);
    convolve(unbound, bound, count, all);
    for (size_t n = 0; n < count; n++) {
        double per_s = n > 0 ? x * all[n - 1] / all[n] : 0.0;
        /* Nobody waits for a delay: by Little's law. */
        flows[n] = (struct flow){.n = (double)n,
            .per_s = per_s,
            .at = {[DELAY] = per_s * field->work_s[DELAY]}};
    }
    if (field->work_s[STARTS] > 0.0) {
        convolve(of[DELAY], bound, count, others);
        add_means(of[STARTS], others, STARTS, count, flows);
    }
    if (field->work_s[DECODE] > 0.0) {
        convolve(of[TOOLS], unbound, count, others);
        add_means(of[DECODE], others, DECODE, count, flows);
    }
    for (size_t n = 1; n < count; n++) {
        const double *at = flows[n].at;
        double rest = (double)n - at[STARTS] - at[DECODE] - at[DELAY];
        flows[n].at[TOOLS] = field->work_s[TOOLS] > 0.0 ? fulcrum_max(0.0, rest) : 0.0;
    }
}

/* Stations that see trajectories come at a rate x. */

struct moments {
    double sum;
    double first; /* about `origin` */
    double second;
    double origin;
};

/* `weights` at its beginning, middle and end. */
static void add_block(
    struct moments *moments, double from, double width, const double weights[3])
{
    static const double shares[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
    for (int i = 0; i < 3; i++) {
        double weight = shares[i] * fabs(width) * weights[i];
        double at = from + 0.5 * (double)i * width - moments->origin;
        moments->sum += weight;
        moments->first += weight * at;
        moments->second += weight * at * at;
    }
}

#define MODE_WITHIN 0.03
#define LOW_MODE    48.0
#define LN_NOTHING  (-14.0)
#define NOTHING     1e-9
#define BLOCK_FALL  1.0 /* of a logarithm, at most */
#define BLOCK_GROW  1.5
#define FARTHEST    64.0 /* times all trajectories: c(n) may fall for ever */

/* One station that sees trajectories come at a rate x. */
struct visited {
    const struct fulcrum_agent_rates *rates;
    rate_of *rate;
    double x;
};

static double log_slope(const struct visited *visited, double n)
{
    return log(visited->x / visited->rate(visited->rates, fulcrum_max(0.5, n)));
}

/*
 * From `from`, where the weight is exp(log_weight), on or back by blocks: weights are
 * taken as a function of a real n, whose logarithm has the slope ln(x / rate(n + 1/2)).
 */
static void march(const struct visited *visited, double from, double width,
    double log_weight, struct moments *moments)
{
    double farthest = FARTHEST * visited->rates->network->live_count + SINGLY;
    double begin = exp(log_weight);
    while (log_weight > LN_NOTHING && from > 0.0 && from < farthest) {
        double half = 0.5 * width;
        double near = half * log_slope(visited, from + 0.5 * half + 0.5);
        if (fabs(near) > BLOCK_FALL) {
            width *= 0.5;
            continue;
        }
        double far = half * log_slope(visited, from + 1.5 * half + 0.5);
        double middle = begin * exp(near);
        double end = middle * exp(far);
        const double weights[3] = {begin, middle, end};
        add_block(moments, from, width, weights);
        from += width;
        log_weight += near + far;
        begin = end;
        width *= BLOCK_GROW;
    }
}

/* A whole n near the largest whose rate does not exceed x, where rates rise. */
static double mode_of(const struct visited *visited)
{
    double low = 0.0;
    double high = 1.0;
    while (visited->rate(visited->rates, high) <= visited->x) {
        low = high;
        high *= 2.0;
    }
    while (high - low > fulcrum_max(1.0, MODE_WITHIN * high)) {
        double middle = floor(0.5 * (low + high));
        if (visited->rate(visited->rates, middle) <= visited->x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void sum_singly(
    const struct visited *visited, const double *each_s, struct moments *moments)
{
    double weight = 1.0;
    *moments = (struct moments){.sum = 1.0};
    for (int j = 1; j < SINGLY; j++) {
        double n = (double)j;
        double next = weight * visited->x * each_s[j];
        bool is_past = next < weight;
        weight = next;
        moments->sum += weight;
        moments->first += weight * n;
        moments->second += weight * n * n;
        if (is_past && weight * n < NOTHING * moments->sum) {
            return;
        }
    }
    /* The middle between the last one and the next. */
    double log_weight = log(weight) + 0.5 * log_slope(visited, (double)SINGLY);
    march(visited, (double)SINGLY - 0.5, 8.0, log_weight, moments);
}

static void sum_around(
    const struct visited *visited, double mode, struct moments *moments)
{
    *moments = (struct moments){.origin = mode};
    double apart = 0.05 * mode;
    double curvature =
        (log_slope(visited, mode) - log_slope(visited, mode + apart)) / apart;
    double width = curvature > 0.0 ? 1.0 / sqrt(curvature) : apart;
    width = fulcrum_max(1.0, width);
    march(visited, mode, width, 0.0, moments);
    march(visited, mode, -width, 0.0, moments);
}

/* Mean and variance of the number at a station. */
static void occupy(
    const struct field *field, size_t station, double x, double *mean, double *variance)
{
    if (station == DELAY || !(field->work_s[station] > 0.0)) {
        *mean = *variance = x * field->work_s[station];
        return;
    }
    const struct visited visited = {&field->rates, rate_ofs[station], x};
    double mode = mode_of(&visited);
    struct moments moments;
    if (mode < LOW_MODE) {
        sum_singly(&visited, field->each_s[station], &moments);
    } else {
        sum_around(&visited, mode, &moments);
    }
    if (!(moments.sum > 0.0)) { /* more than there are by far */
        *mean = *variance = mode;
        return;
    }
    double middle = moments.first / moments.sum;
    *mean = moments.origin + middle;
    *variance = fulcrum_max(0.0, moments.second / moments.sum - middle * middle);
}

static void occupy_all(
    const struct field *field, double x, struct flow *out, double *variance)
{
    out->n = 0.0;
    *variance = 0.0;
    for (size_t i = 0; i < STATIONS; i++) {
        double own = 0.0;
        occupy(field, i, x, &out->at[i], &own);
        out->n += out->at[i];
        *variance += own;
    }
}

#define RATE_TOLERANCE 1e-5
enum { ROUNDS_MOST = 60 };

static double first_rate(const struct field *field, double n, double guess, double high)
{
    if (guess > 0.0 && guess < high) {
        return guess;
    }
    return high < field->most_per_s ? high : high * (1.0 - 1.0 / (n + 1.0));
}

/* What the logarithm of the variance rises by for one more, at an x that holds `held`.
 */
static double growth_of(
    const struct field *field, double n, double x, double held, double variance)
{
    /* d ln x / dn = 1 / V, and no spread grows faster than the square of n. */
    struct flow fewer;
    double fewer_variance = 0.0;
    double apart = fulcrum_min(0.1 * n, 0.5 * sqrt(variance));
    occupy_all(field, x * exp(-apart / variance), &fewer, &fewer_variance);
    double most = 4.0 / sqrt(variance);
    double growth = log(variance / fewer_variance) / fulcrum_max(1e-3, held - fewer.n);
    return fulcrum_min(most, fulcrum_max(-most, growth));
}

/*
 * The throughput of n: G(n - 1) / G(n), where ln G(n) = ln Z(x) - n ln x - ln(2 pi V) /
 * 2 at the x that gives n. That is x at n - 1/2, and half of what ln V rises by.
 *   guess    of x; 0: none
 */
static void find_flow(
    const struct field *field, double n, double guess, struct flow *out)
{
    double wanted = n - 0.5;
    double low = 0.0;
    double high = fulcrum_min(field->most_per_s, wanted / alone_s_of(field));
    double x = first_rate(field, n, guess, high);
    double variance = 0.0;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        occupy_all(field, x, out, &variance);
        if (fabs(out->n - wanted) < RATE_TOLERANCE * wanted) {
            break;
        }
        if (out->n < wanted) {
            low = x;
        } else {
            high = x;
        }
        /* Newton's step for 1 / n, which falls like a line near the ceiling. */
        double step = (1.0 / out->n - 1.0 / wanted) * x * out->n * out->n / variance;
        double next = x + step;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (fabs(next - x) < 1e-12 * x) {
            break;
        }
        x = next;
    }
    /* Where c(n) falls no x holds so many: the rate is that of all at the CPU. */
    bool is_held = fabs(out->n - wanted) < 0.01 * wanted;
    double growth = is_held ? growth_of(field, n, x, out->n, variance) : 0.0;
    out->per_s = x * exp(0.5 * growth);
    /* Those at stations are means for n - 1/2: the half goes where they vary. */
    for (size_t i = 0; i < STATIONS; i++) {
        out->at[i] *= n / out->n;
    }
    out->n = n;
}

/* Most that are begun and not yet trained on, in whole groups. */
static double room_of(const struct fulcrum_agent_trainer *trainer)
{
    double group = trainer->group_size;
    switch (trainer->coupling) {
    case FULCRUM_AGENT_STREAM:
        return group * floor((1.0 + trainer->staleness) * trainer->batch_size / group);
    case FULCRUM_AGENT_IN_TURNS:
    case FULCRUM_AGENT_ONE_OFF:
        return trainer->batch_size;
    case FULCRUM_AGENT_ALONE:
    default:
        return (double)INFINITY;
    }
}

/* n whole; in a network that goes on as it is. */
static struct flow steady_flow(const struct field *field, double n)
{
    struct flow flow;
    if (n <= (double)FEW) {
        double room[(STATIONS + 4) * (FEW + 1)];
        struct flow flows[FEW + 1];
        convolve_all(field, (size_t)n + 1, room, flows);
        return flows[(size_t)n];
    }
    find_flow(field, n, 0.0, &flow);
    return flow;
}

/* How n trajectories flow, for n from 1 to the most: nodes, and lines between. */

enum { NODES_MOST = FEW + 40 };
#define NODE_GROWTH 1.7

struct curve {
    size_t count;
    struct flow nodes[NODES_MOST]; /* 0, 1, ... FEW, then by NODE_GROWTH or so */
};

/* Beyond a few, rates are tried that hold about so many: none has to be hit.
 *   known    a flow of the same field; NULL: none is */
static void curve_init(struct curve *curve, const struct field *field, double most,
    const struct flow *known)
{
    double room[(STATIONS + 4) * (FEW + 1)];
    size_t few = most < FEW ? (size_t)most : FEW;
    convolve_all(field, few + 1, room, curve->nodes);
    curve->count = few + 1;
    double n = (double)few;
    double x = fulcrum_min(
        curve->nodes[few].per_s, field->most_per_s * (1.0 - 1.0 / (n + 1.0)));
    double last_variance = 0.0;
    for (int i = 0;
         i < 2 * NODES_MOST && n * NODE_GROWTH < most && curve->count + 1 < NODES_MOST;
         i++) {
        struct flow *node = &curve->nodes[curve->count];
        double variance = 0.0;
        occupy_all(field, x, node, &variance);
        if (node->n + 0.5 > n && last_variance > 0.0) {
            double growth = log(variance / last_variance) / (node->n + 0.5 - n);
            node->per_s = x * exp(0.5 * growth);
            n = node->n += 0.5;
            curve->count++;
        }
        last_variance = variance;
        double step = (1.0 - 1.0 / NODE_GROWTH) * x * node->n / variance;
        x = fulcrum_min(x + step, 0.5 * (x + field->most_per_s));
    }
    struct flow *last = &curve->nodes[curve->count];
    if (most > (double)few && known != NULL && known->n >= most) {
        *last = *known;
        curve->count++;
    } else if (most > (double)few) {
        find_flow(field, most, x, last);
        curve->count++;
    }
}

/* Of n >= 0, a real number. */
static struct flow flow_of(const struct curve *curve, double n)
{
    size_t low = 0;
    size_t high = curve->count - 1;
    if (n < (double)FEW && n < (double)high) {
        low = (size_t)n;
        high = low + 1;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (curve->nodes[middle].n <= n) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const struct flow *a = &curve->nodes[low];
    const struct flow *b = &curve->nodes[high];
    double share = fulcrum_min(1.0, (n - a->n) / (b->n - a->n));
    struct flow out = {.n = n, .per_s = a->per_s + share * (b->per_s - a->per_s)};
    for (size_t i = 0; i < STATIONS; i++) {
        out.at[i] = a->at[i] + share * (b->at[i] - a->at[i]);
    }
    return out;
}

/* Sizes of trajectories: lognormal, cut off so that the mean is 1. */

struct size_law {
    double sigma;
    double mu;
    double most; /* INFINITY: none is cut off */
};

/* Of the time that a trajectory takes while so many are under way, the squared
 * deviation over the squared mean: of the number of turns, each turn's visits and the
 * last ones. */
static double spread_of(
    const struct fulcrum_agent_network *network, const struct flow *flow)
{
    const struct fulcrum_agent_trajectory *one = &network->trajectory;
    const struct fulcrum_agent_output output = fulcrum_agent_output_of(one);
    double turns = one->turn_count;
    double n = flow->n;
    double judged =
        one->verify_tokens > 0.0
            ? one->verify_tokens / (one->verify_tokens + turns * output.tokens)
            : 0.0;
    double verified = one->verify_s > 0.0
                          ? one->verify_s / (one->verify_s + turns * one->tool_s)
                          : 0.0;
    double start = flow->at[STARTS] / n;
    double decode = flow->at[DECODE] / n;
    double tools = flow->at[TOOLS] / n;
    double delay = flow->at[DELAY] / n;
    double turning = decode * (1.0 - judged) + tools * (1.0 - verified) + delay;
    /* One turn is always one; more are rounded to whole ones. */
    double turn_square =
        turns > 1.0 ? one->turn_cv * one->turn_cv + 1.0 / (6.0 * turns * turns) : 0.0;
    double decode_square = decode * decode * output.cv * output.cv;
    double tools_square = tools * tools * one->tool_cv * one->tool_cv;
    return turn_square * turning * turning + start * start + delay * delay / turns +
           decode_square * ((1.0 - judged) * (1.0 - judged) / turns + judged * judged) +
           tools_square *
               ((1.0 - verified) * (1.0 - verified) / turns + verified * verified);
}

/* Of trajectories that begin among `live`, and of which the last ones end alone: a fit
 * of how much the beginning has to say. */
#define FIRST 0.25

static struct size_law size_law_of(
    const struct fulcrum_agent_network *network, const struct curve *curve, double live)
{
    struct flow first = flow_of(curve, live);
    struct flow last = flow_of(curve, 1.0);
    double square =
        FIRST * spread_of(network, &first) + (1.0 - FIRST) * spread_of(network, &last);
    const struct fulcrum_agent_trajectory *one = &network->trajectory;
    double mean = 1.0;
    double most = (double)INFINITY;
    if (one->output_limit > 0.0 && one->output_tokens > 0.0 && one->turn_count <= 1.0) {
        /* A single output is seen to be cut; of many, their sum is not. */
        const struct fulcrum_agent_output output = fulcrum_agent_output_of(one);
        double decode = FIRST * first.at[DECODE] / first.n +
                        (1.0 - FIRST) * last.at[DECODE] / last.n;
        double longer = one->output_tokens / output.tokens;
        double whole = longer * one->output_cv;
        mean += decode * (longer - 1.0);
        square += decode * decode * (whole * whole - output.cv * output.cv);
        most = 1.0 + decode * (one->output_limit / output.tokens - 1.0);
    }
    double variance = fulcrum_max(1e-8, log1p(square / (mean * mean)));
    return (struct size_law){sqrt(variance), log(mean) - 0.5 * variance, most};
}

static double above_normal(double z)
{
    return 0.5 * erfc(z * M_SQRT1_2);
}

/* Time until all of `count` that are under way have ended, and what is where. */
struct drain {
    double time_s;
    double beyond_s;       /* of it, expected beyond `free_s` */
    double at_s[STATIONS]; /* trajectory-seconds */
    double ended_s;        /* likewise, of those that have ended */
};

enum { DRAIN_STEPS = 48 };
#define LEAST_Z (-6.0)

/*
 * Integrals over the size u that those left have had: time passes by n / X(n), where n
 * are left on average as long as any is; that is 1 - F^count.
 *   free_s   a time up to which it does not matter
 */
static struct drain drain_of(
    const struct curve *curve, const struct size_law *law, double count, double free_s)
{
    struct drain out = {.time_s = 0.0};
    double most_z = 3.5 + sqrt(2.0 * log1p(count));
    double step = (most_z - LEAST_Z) / DRAIN_STEPS;
    double u = 0.0;
    double passed_s = 0.0;
    for (int i = 0; i <= DRAIN_STEPS; i++) {
        /* From one boundary to the next, at the middle in z; the first from 0. */
        double end_u = fulcrum_min(
            law->most, exp(law->mu + law->sigma * (LEAST_Z + (double)i * step)));
        double above = above_normal(LEAST_Z + ((double)i - 0.5) * step);
        double any = -expm1(count * log1p(-fulcrum_min(above, 1.0 - 1e-16)));
        double n = fulcrum_max(1.0, count * above / any);
        struct flow flow = flow_of(curve, n);
        double time_s = (end_u - u) * n / flow.per_s;
        double likely_s = time_s * any;
        out.time_s += likely_s;
        double beyond = passed_s + time_s - free_s;
        out.beyond_s += any * fulcrum_max(0.0, fulcrum_min(time_s, beyond));
        for (size_t k = 0; k < STATIONS; k++) {
            out.at_s[k] += likely_s * flow.at[k];
        }
        out.ended_s += likely_s * (count - n);
        passed_s += time_s;
        u = end_u;
    }
    return out;
}

/* Loads and shares of time from trajectory-seconds in a cycle. */
static void set_loads(const struct field *field, const double at_s[STATIONS],
    double cycle_s, struct fulcrum_agent_solution *out)
{
    const struct fulcrum_agent_network *network = field->network;
    double instances = network->decode.instance_count;
    double servers = fulcrum_cpu_servers(&network->cpu);
    out->load = (struct fulcrum_agent_load){.starting = at_s[STARTS] / cycle_s,
        .decoding = at_s[DECODE] / cycle_s,
        .at_tools = at_s[TOOLS] / cycle_s,
        .delayed = at_s[DELAY] / cycle_s,
        .ended = out->load.ended};
    double inside = fulcrum_min(out->load.decoding, field->rates.most);
    /* The fewest are chosen: an instance idles where fewer decode than there are. */
    double most = network->live_count;
    double beyond = 0.0;
    if (most > instances && out->load.decoding > 0.0) {
        double mean = out->load.decoding;
        double sd = sqrt(mean * fulcrum_max(1e-6, 1.0 - mean / most));
        double z = (mean - instances) / sd;
        double density = exp(-0.5 * z * z) / sqrt(2.0 * M_PI);
        beyond = (mean - instances) * above_normal(-z) + sd * density;
    }
    double busy = fulcrum_max(0.0, out->load.decoding - beyond);
    out->decode_busy_frac = fulcrum_min(1.0, busy / instances);
    out->mean_batch = inside > 0.0 ? inside / instances / out->decode_busy_frac : 0.0;
    double work = out->trajectories_per_s * field->rates.tool_s;
    double pace = work > 0.0
                      ? fulcrum_cpu_capacity(
                            &network->cpu, fulcrum_max(1.0, out->load.at_tools)) /
                            fulcrum_min(servers, fulcrum_max(1.0, out->load.at_tools))
                      : 1.0;
    out->cpu_busy_frac = fulcrum_min(1.0, work / pace / servers);
}

/*
 * Trajectories by age, where it matters when they were begun: begun together they end
 * together, and a trainer that waits for them waits for whole ones. Time goes by in
 * steps of equal progress: a part of a mean trajectory for each that is under way.
 */
/* Old ages are looked at in blocks: what began in one ends evenly. */
enum { FINE = 64, BLOCK = 8, BLOCKS = 55, AGES = FINE + BLOCK * BLOCKS };
enum { KEPT = AGES + BLOCK };
#define PROGRESS  0.0833 /* of a step, at least */
#define LAST_FRAC 1e-4   /* of groups, and tenfold of batches: these end at one age */

struct ages {
    const struct field *field;
    const struct curve *curve;
    bool is_single; /* groups are of one */
    size_t block_count;
    double progress; /* of a step */
    /* Share that ends at each age, then at one age of each block; the same of groups:
     * the last of each ends. */
    double ending[FINE + BLOCKS];
    double completing[FINE + BLOCKS];
    double begun[2 * KEPT];  /* the latest first, from `at` on */
    double totals[2 * KEPT]; /* likewise, with all that were begun before */
    size_t at;
    double starting; /* one after the other, as many at once as may */
    double started;  /* in the last step: they go on in the next */
    double n;        /* started */
    double ended;    /* and not consumed */
    double ready;    /* of these, in whole groups */
    double time_s;
    double at_s[STATIONS];
    double ended_s;
};

static void ages_init(
    struct ages *ages, const struct size_law *law, double group_size, double last_frac)
{
    bool starts = ages->field->queue_s > 0.0;
    /* Begun at the start of a step, replaced at the start of another; who is started
     * during one goes on half of it later. */
    double first = starts ? 1.0 : 0.5;
    double below = 0.0;
    double groups_below = 0.0;
    size_t age = 0;
    size_t k = 0;
    while (k < FINE + BLOCKS && (k < FINE || 1.0 - below > last_frac)) {
        size_t width = k < FINE ? 1 : BLOCK;
        age += width;
        double u = ((double)age + first) * ages->progress;
        double next = 1.0 - above_normal((log(u) - law->mu) / law->sigma);
        next = k + 1 == FINE + BLOCKS || u >= law->most ? 1.0 : next;
        double groups_next = group_size > 1.0 ? pow(next, group_size) : next;
        ages->ending[k] = (next - below) / (double)width;
        ages->completing[k] = (groups_next - groups_below) / (double)width;
        below = next;
        groups_below = groups_next;
        k++;
    }
    ages->ending[k - 1] += (1.0 - below) / (k > FINE ? BLOCK : 1);
    ages->completing[k - 1] += (1.0 - groups_below) / (k > FINE ? BLOCK : 1);
    ages->block_count = k - FINE;
    ages->is_single = !(group_size > 1.0);
}

static double under_way(const struct ages *ages)
{
    return ages->starting + ages->started + ages->n;
}

/* How many of those that start are done with it after time_s. */
static double started_in(const struct ages *ages, double time_s)
{
    double start_s = ages->field->queue_s;
    if (!(start_s > 0.0)) {
        return ages->starting;
    }
    double all = -ages->starting * expm1(-time_s / start_s);
    double limit = ages->field->network->start_limit;
    return limit > 0.0 ? fulcrum_min(all, limit * time_s / start_s) : all;
}

/* `count`: a multiple of 4. */
static double dot(const double *a, const double *b, size_t count)
{
    double sum[4] = {0.0};
    for (size_t k = 0; k < count; k += 4) {
        sum[0] += a[k] * b[k];
        sum[1] += a[k + 1] * b[k + 1];
        sum[2] += a[k + 2] * b[k + 2];
        sum[3] += a[k + 3] * b[k + 3];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* One step, in which `begun` join those under way. Returns its time. */
static double ages_step(struct ages *ages, double begun)
{
    double total = ages->totals[ages->at];
    ages->at = ages->at > 0 ? ages->at - 1 : KEPT - 1;
    ages->starting += begun;
    if (!(ages->field->queue_s > 0.0)) {
        ages->started = ages->starting;
        ages->starting = 0.0;
    }
    ages->begun[ages->at] = ages->begun[ages->at + KEPT] = ages->started;
    ages->totals[ages->at] = ages->totals[ages->at + KEPT] = total + ages->started;
    ages->n += ages->started;
    ages->started = 0.0;
    const double *window = ages->begun + ages->at;
    double ended = dot(window, ages->ending, FINE);
    double ready = ages->is_single ? ended : dot(window, ages->completing, FINE);
    const double *totals = ages->totals + ages->at + FINE;
    for (size_t k = 0; k < ages->block_count; k++) {
        double block = totals[k * BLOCK] - totals[(k + 1) * BLOCK];
        ended += block * ages->ending[FINE + k];
        ready += block * ages->completing[FINE + k];
    }
    double there = fulcrum_max(1.0, ages->n);
    struct flow flow = flow_of(ages->curve, there);
    double time_s = ages->progress * there / flow.per_s;
    for (size_t i = 0; i < STATIONS; i++) {
        ages->at_s[i] += time_s * flow.at[i] * ages->n / there;
    }
    ages->started = started_in(ages, time_s);
    ages->starting -= ages->started;
    ages->at_s[STARTS] += time_s * (ages->starting + 0.5 * ages->started);
    ages->ended_s += time_s * (ages->ended + 0.5 * ended);
    ages->time_s += time_s;
    ages->n = fulcrum_max(0.0, ages->n - ended);
    ages->ended += ended;
    ages->ready += ready;
    return time_s;
}

/* Nobody is under way, or may go on. */
static void ages_wait(struct ages *ages, double time_s)
{
    ages->time_s += time_s;
    ages->ended_s += time_s * ages->ended;
    ages->at_s[DECODE] += time_s * ages->n;
    ages->at_s[STARTS] += time_s * ages->starting;
}

/* Of a long cycle: then steps are longer. */
#define STEPS_PER_CYCLE 128.0
/* Batches of so many times those under way: it does not matter when they were begun. */
#define MANY_TURNS 8.0

/* All of a batch that is larger than what is under way at once: the time until all have
 * ended, and of it what is expected beyond free_s. */
static void ages_drain(
    struct ages *ages, double batch, double free_s, struct drain *out)
{
    enum { STEPS_MOST = 4000 };
    double live = ages->field->network->live_count;
    double left = batch; /* to begin */
    double last = batch; /* under way when the last one began */
    double passed_s = 0.0;
    *out = (struct drain){.time_s = 0.0};
    for (int i = 0; i < STEPS_MOST && (left > 0.0 || under_way(ages) > 1e-3); i++) {
        double begun = fulcrum_min(left, fulcrum_max(0.0, live - under_way(ages)));
        left -= begun;
        double n = under_way(ages) + begun;
        last = left > 0.0 || begun > 0.0 ? n : last;
        double any = left > 0.0
                         ? 1.0
                         : -expm1(last * log1p(-fulcrum_min(n / last, 1.0 - 1e-16)));
        double time_s = ages_step(ages, begun);
        /* As long as any is left there are n / any of them. */
        double likely_s = time_s * any;
        out->time_s += likely_s;
        out->beyond_s +=
            any * fulcrum_max(0.0, fulcrum_min(time_s, passed_s + time_s - free_s));
        out->ended_s += likely_s * (batch - left - n);
        passed_s += time_s;
    }
    memcpy(out->at_s, ages->at_s, sizeof out->at_s);
}

/* (A9): a batch ends, then it is trained on, beside the next one or before it. */
static void solve_batches(const struct field *field, const struct curve *curve,
    const struct flow *flow, struct fulcrum_agent_solution *out)
{
    const struct fulcrum_agent_network *network = field->network;
    const struct fulcrum_agent_trainer *trainer = &network->trainer;
    double live = flow->n;
    struct size_law law = size_law_of(network, curve, live);
    bool is_one_off = trainer->coupling == FULCRUM_AGENT_ONE_OFF;
    double free_s = is_one_off ? trainer->train_s : 0.0;
    /* What comes after some generations flows evenly, and takes no more than its time.
     */
    double even = fulcrum_max(0.0, trainer->batch_size - MANY_TURNS * live);
    double even_s = even / flow->per_s;
    double rest_s = fulcrum_max(0.0, free_s - even_s);
    struct drain drain;
    if (trainer->batch_size > live || field->queue_s > 0.0) {
        double started = fulcrum_max(1.0, flow->n - flow->at[STARTS]);
        double turns = (trainer->batch_size - even) / started;
        struct ages ages = {.field = field,
            .curve = curve,
            .progress = fulcrum_max(PROGRESS, turns / STEPS_PER_CYCLE)};
        ages_init(&ages, &law, 1.0,
            fulcrum_min(LAST_FRAC, 10.0 * LAST_FRAC / trainer->batch_size));
        ages_drain(&ages, trainer->batch_size - even, rest_s, &drain);
    } else {
        drain = drain_of(curve, &law, live, rest_s);
    }
    double making_s = even_s + drain.time_s;
    double cycle_s = trainer->switch_s;
    if (!is_one_off) {
        cycle_s += making_s + trainer->train_s;
    } else {
        cycle_s += free_s > even_s ? free_s + drain.beyond_s : making_s;
    }
    double at_s[STATIONS];
    for (size_t i = 0; i < STATIONS; i++) {
        at_s[i] = even_s * flow->at[i] + drain.at_s[i];
    }
    out->trajectories_per_s = trainer->batch_size / cycle_s;
    out->cycle_s = cycle_s;
    out->train_busy_frac = trainer->train_s / cycle_s;
    /* Ended ones wait for the batch, and then for the trainer. */
    double waits_s = cycle_s - making_s - (is_one_off ? 0.0 : trainer->train_s);
    out->load.ended = (0.5 * even * even_s + even * drain.time_s + drain.ended_s +
                          trainer->batch_size * fulcrum_max(0.0, waits_s)) /
                      cycle_s;
    /* Of the next batch, those that have begun when a step ends: renewals that began
     * together are behind t / mean by (1 - cv^2) / 2. */
    double behind = 0.5 * (1.0 - expm1(law.sigma * law.sigma));
    double begun = live * (1.0 - behind) + flow->per_s * trainer->train_s;
    double stale = fulcrum_min(1.0, fulcrum_max(live, begun) / trainer->batch_size);
    out->staleness = is_one_off ? stale : 0.0;
    set_loads(field, at_s, cycle_s, out);
    /* Nobody decodes while it is trained in turns. */
    double share = fulcrum_min(1.0, making_s / cycle_s);
    out->decode_busy_frac *= share;
    out->mean_batch = fulcrum_min(
        out->mean_batch / share, field->rates.most / network->decode.instance_count);
}

/*
 * How long nobody gets on while new weights stop decoding: calls go on until they have
 * to decode again, and a CPU that is busy all the time loses nothing by it.
 */
static double lost_s(const struct field *field, const struct flow *flow)
{
    const struct fulcrum_agent_network *network = field->network;
    double switch_s = network->trainer.switch_s;
    double started = flow->n - flow->at[STARTS];
    double decoding = started > 0.0 ? flow->at[DECODE] / started : 0.0;
    double outside_s =
        (started - flow->at[DECODE]) / flow->per_s / network->trajectory.turn_count;
    double busy = 0.0;
    if (field->work_s[TOOLS] > 0.0) {
        double servers = fulcrum_cpu_servers(&network->cpu);
        busy = fulcrum_min(
            1.0, flow->per_s / fulcrum_agent_tools_per_s(&field->rates, servers));
    }
    return switch_s -
           fulcrum_min(switch_s, outside_s) * (1.0 - decoding * (1.0 - busy));
}

/*
 * As many end a second as those under way let, and as long as there is room: where it
 * does not matter when they were begun.
 *   curve    of the whole network, starts among it
 */
static void solve_steady_stream(const struct field *field, const struct curve *curve,
    const struct flow *flow, struct fulcrum_agent_solution *out)
{
    enum { STEPS = 32 };
    const struct fulcrum_agent_trainer *trainer = &field->network->trainer;
    double batch = trainer->batch_size;
    double room = room_of(trainer) - batch;
    double at_s[STATIONS] = {0.0};
    double left_s = trainer->train_s + trainer->switch_s - lost_s(field, flow);
    double ended = 0.0;
    double ended_s = 0.0;
    for (int i = 0; i < STEPS && left_s > 0.0 && ended < room; i++) {
        double n = fulcrum_min(field->network->live_count, room - ended);
        struct flow now = flow_of(curve, fulcrum_max(1.0, n));
        double step_s = fulcrum_min(left_s, room / STEPS / now.per_s);
        for (size_t k = 0; k < STATIONS; k++) {
            at_s[k] += step_s * now.at[k];
        }
        ended_s += step_s * (ended + 0.5 * step_s * now.per_s);
        ended += step_s * now.per_s;
        left_s -= step_s;
    }
    ended_s += left_s * ended;
    double waits_s = fulcrum_max(0.0, batch - ended) / flow->per_s;
    double cycle_s = trainer->train_s + trainer->switch_s + waits_s;
    for (size_t k = 0; k < STATIONS; k++) {
        at_s[k] += waits_s * flow->at[k];
    }
    out->cycle_s = cycle_s;
    out->trajectories_per_s = batch / cycle_s;
    out->train_busy_frac = trainer->train_s / cycle_s;
    double ahead = fulcrum_min(field->network->live_count, room - ended);
    out->staleness = (ended + fulcrum_max(0.0, ahead)) / batch;
    out->load.ended = (ended_s + 0.5 * (ended + batch) * waits_s) / cycle_s;
    set_loads(field, at_s, cycle_s, out);
}

/* (A8): a trainer takes batch after batch of what has ended, at most so far behind. */
struct stream {
    const struct fulcrum_agent_trainer *trainer;
    struct ages ages;
    double live_most;
    double room;
    double enough;    /* of what is ready, for a step */
    double lost_s;    /* nobody gets on, for each step */
    double trained_s; /* when the step at hand ends; INFINITY: none is */
    double stale;
    double cycles;
};

/* Takes a batch where one is ready; at `now_s`, or a little before. */
static bool stream_trains(struct stream *stream, double now_s)
{
    const struct fulcrum_agent_trainer *trainer = stream->trainer;
    if (!(stream->ages.ready >= stream->enough)) {
        return false;
    }
    stream->ages.ended -= trainer->batch_size;
    stream->ages.ready -= trainer->batch_size;
    stream->trained_s = now_s + trainer->train_s + trainer->switch_s - stream->lost_s;
    return true;
}

static void stream_updates(struct stream *stream)
{
    struct ages *ages = &stream->ages;
    ages_wait(ages, stream->lost_s);
    stream->trained_s = (double)INFINITY;
    stream->stale += (under_way(ages) + ages->ended) / stream->trainer->batch_size;
    stream->cycles += 1.0;
}

/* One step of progress, or the rest of a training step where nobody is under way. */
static void stream_step(struct stream *stream)
{
    struct ages *ages = &stream->ages;
    bool trains = stream->trained_s < (double)INFINITY;
    double taken = trains ? stream->trainer->batch_size : 0.0;
    double free = fulcrum_min(stream->room - ages->ended - taken, stream->live_most);
    double begun = fulcrum_max(0.0, free - under_way(ages));
    double before = ages->ready;
    if (trains && under_way(ages) + begun < 1e-3) {
        ages_wait(ages, stream->trained_s - ages->time_s);
        stream_updates(stream);
        (void)stream_trains(stream, ages->time_s);
        return;
    }
    double time_s = ages_step(ages, begun);
    if (trains && stream->trained_s <= ages->time_s + 0.5 * time_s) {
        stream_updates(stream);
        (void)stream_trains(stream, ages->time_s);
    } else if (!trains) {
        double more = ages->ready - before;
        double late = more > 0.0 ? (ages->ready - stream->enough) / more : 0.0;
        (void)stream_trains(stream, ages->time_s - fulcrum_min(1.0, late) * time_s);
    }
}

static void solve_stream(const struct field *field, const struct curve *curve,
    const struct flow *flow, struct fulcrum_agent_solution *out)
{
    enum { STEPS_MOST = 4000 };
    /* Cycles, and generations of trajectories, until it goes on as it will; and then
     * as many cycles and some more generations: few that keep step have long patterns.
     */
    const double first = 4.0;
    const double generations = 16.0;
    const struct fulcrum_agent_trainer *trainer = &field->network->trainer;
    double batch = trainer->batch_size;
    double started = flow->n - (field->queue_s > 0.0 ? flow->at[STARTS] : 0.0);
    struct size_law law = size_law_of(field->network, curve, flow->n);
    /* The m-th of those that end is due when m - 1/2 are expected to have ended. */
    struct stream stream = {.trainer = trainer,
        .ages = {.field = field,
            .curve = curve,
            .progress = fulcrum_max(PROGRESS, 2.0 * batch / started / STEPS_PER_CYCLE)},
        .live_most = field->network->live_count,
        .room = room_of(trainer),
        .enough = batch - 0.5 * trainer->group_size,
        .lost_s = lost_s(field, flow),
        .trained_s = (double)INFINITY};
    struct ages *ages = &stream.ages;
    ages_init(ages, &law, trainer->group_size, LAST_FRAC / trainer->group_size);
    double before = 0.0; /* cycles */
    double turned = 0.0; /* generations */
    bool is_done = false;
    for (int i = 0; i < STEPS_MOST && !is_done; i++) {
        double cycles = stream.cycles;
        stream_step(&stream);
        turned += ages->progress;
        /* From the end of a cycle to that of another. */
        if (stream.cycles > cycles) {
            is_done = stream.cycles >= 2.0 * first && turned >= generations;
            if (before < first && stream.cycles >= first && turned >= first) {
                before = stream.cycles;
                stream.trained_s -= ages->time_s;
                ages->time_s = ages->ended_s = stream.stale = 0.0;
                memset(ages->at_s, 0, sizeof ages->at_s);
            }
        }
    }
    /* No more than the trainer can take, or those under way can make. */
    double kept = fulcrum_max(1.0, stream.cycles - before);
    double cycle_s = fulcrum_max(ages->time_s / kept,
        fulcrum_max(trainer->train_s + trainer->switch_s, batch / flow->per_s));
    out->cycle_s = cycle_s;
    out->trajectories_per_s = batch / cycle_s;
    out->train_busy_frac = trainer->train_s / cycle_s;
    out->staleness = stream.stale / kept;
    out->load.ended = fulcrum_max(0.0, ages->ended_s / ages->time_s);
    set_loads(field, ages->at_s, ages->time_s, out);
}

/* Relative errors of throughput that 95 of 100 random networks stay below:
 * docs/model.md "Agents". */
#define ALONE_ERROR_REL       0.01
#define TRAINED_ERROR_REL     0.035
#define LONG_VISITS_ERROR_REL 0.3
#define FEW_GROUPS_ERROR_REL  0.1
#define FEW_GROUPS            6.0 /* of a batch that is taken from a stream */
/* c(n) that falls again may hold the network at either of two numbers. */
#define FALLING_ERROR_REL 0.3

/* Deviation of a single call over the time of a trajectory alone, from which on its
 * tail, and not the sum of all visits, is what a batch waits for. */
#define LONG_VISIT 0.25

/* Whether more calls than threads get less work done. */
static bool falls(const struct field *field)
{
    const struct fulcrum_cpu_station *cpu = &field->network->cpu;
    double crowd = field->network->live_count;
    double servers = fulcrum_min(crowd, fulcrum_cpu_servers(cpu));
    return field->work_s[TOOLS] > 0.0 &&
           fulcrum_cpu_capacity(cpu, crowd) <
               (1.0 - 1e-6) * fulcrum_cpu_capacity(cpu, servers);
}

static bool has_long_visits(const struct field *field)
{
    const struct fulcrum_agent_trajectory *one = &field->network->trajectory;
    double longest_s = fulcrum_max(one->verify_s, one->tool_s);
    return one->tool_cv > 1.0 &&
           longest_s * one->tool_cv > LONG_VISIT * alone_s_of(field);
}

/* What the equations may be off by, and why. */
static void tell_error(const struct field *field, struct fulcrum_agent_solution *out)
{
    const struct fulcrum_agent_trainer *trainer = &field->network->trainer;
    if (trainer->coupling == FULCRUM_AGENT_ALONE) {
        bool is_rough = field->network->live_count > (double)FEW && falls(field);
        out->error_rel = is_rough ? FALLING_ERROR_REL : ALONE_ERROR_REL;
        return;
    }
    out->error_rel = TRAINED_ERROR_REL;
    if (trainer->coupling == FULCRUM_AGENT_STREAM &&
        trainer->batch_size <= FEW_GROUPS * trainer->group_size) {
        out->error_rel = FEW_GROUPS_ERROR_REL;
        out->flags = (unsigned)FULCRUM_FLAG_FEW_DECIDE;
    }
    if (has_long_visits(field)) {
        out->error_rel = LONG_VISITS_ERROR_REL;
        out->flags = (unsigned)FULCRUM_FLAG_FEW_DECIDE;
    }
}

void fulcrum_agent_fast(
    const struct fulcrum_agent_network *network, struct fulcrum_agent_solution *out)
{
    struct field field;
    struct curve curve;
    field_init(&field, network, true);
    *out = (struct fulcrum_agent_solution){
        .method = FULCRUM_METHOD_FAST, .cycle_s = FULCRUM_UNKNOWN};
    struct flow flow = steady_flow(
        &field, fulcrum_min(network->live_count, room_of(&network->trainer)));
    tell_error(&field, out);
    if (network->trainer.coupling == FULCRUM_AGENT_ALONE) {
        out->trajectories_per_s = flow.per_s;
        set_loads(&field, flow.at, 1.0, out);
        return;
    }
    struct field started = field;
    bool is_stream = network->trainer.coupling == FULCRUM_AGENT_STREAM;
    bool queues = network->start_limit > 0.0 && flow.at[STARTS] > network->start_limit;
    double passing = flow.n - (queues ? flow.at[STARTS] : 0.0);
    bool is_steady = is_stream && network->trainer.batch_size > MANY_TURNS * passing;
    if ((queues || !is_stream) && !is_steady) {
        field.queue_s = network->trajectory.start_s;
        field_init(&started, network, false);
    }
    bool is_same = !(field.work_s[STARTS] > started.work_s[STARTS]);
    curve_init(&curve, &started, flow.n, is_same ? &flow : NULL);
    if (is_steady) {
        solve_steady_stream(&field, &curve, &flow, out);
    } else if (is_stream) {
        solve_stream(&field, &curve, &flow, out);
    } else {
        solve_batches(&field, &curve, &flow, out);
    }
}
