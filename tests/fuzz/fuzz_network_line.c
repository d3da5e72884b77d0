/* fuzz_network_line.c - any bytes as a line of `fulcrum solve`, read and solved. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry point of libFuzzer; replay.c calls it too, for compilers without one. A
 * line that is read is solved by every method that takes a moment for it, so that
 * solvers see corners that nobody would draw. What must hold for any line is checked
 * here: a refusal has words, a result is finite, no station is busier than always, and
 * without simulation Little's law holds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/exact/exact.h"
#include "model/predict/solver.h"
#include "presets/load/network_line.h"

/* The name that libFuzzer looks for. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Beyond these a line may take longer than a fuzzer should wait. */
#define FAST_MOST_ACTORS       300.0
#define CHAIN_MOST_ACTORS      64.0
#define SIMULATE_MOST_ACTORS   32.0
#define PRODUCT_MOST_CUSTOMERS 200.0
enum { PRODUCT_MOST_STATIONS = 20, LINE_MOST_BYTE = 1 << 16 };

/* Equations and sums of a few hundred terms are far nearer. */
#define TOLERANCE_REL 1e-6

static void require(int holds, const char *what, const struct fulcrum_error *err)
{
    if (!holds) {
        (void)fprintf(stderr, "does not hold: %s\n%s\n", what, err->detail);
        abort();
    }
}

static void check_fraction(double value, const char *what)
{
    const struct fulcrum_error none = {FULCRUM_OK, ""};
    require(value >= 0.0 && value <= 1.0 + TOLERANCE_REL, what, &none);
}

static void check_solution(
    const struct fulcrum_network *network, const struct fulcrum_solution *solution)
{
    const struct fulcrum_error none = {FULCRUM_OK, ""};
    const struct fulcrum_residence *stay = &solution->residence;
    double cycle_s = stay->cpu_s + stay->host_s + stay->gpu_s + stay->delay_s;
    double inside = solution->steps_per_s * cycle_s;
    require(isfinite(solution->steps_per_s) && solution->steps_per_s >= 0.0,
        "steps_per_s is finite", &none);
    require(isfinite(cycle_s) && cycle_s >= 0.0, "residence is finite", &none);
    require(isfinite(solution->mean_batch) && solution->mean_batch >= 0.0,
        "mean_batch is finite", &none);
    check_fraction(solution->cpu_thread_busy_frac, "threads are busy from 0 to 1");
    check_fraction(solution->cpu_core_busy_frac, "cores are busy from 0 to 1");
    check_fraction(solution->host_busy_frac, "the host is busy from 0 to 1");
    check_fraction(solution->gpu_busy_frac, "the GPU is busy from 0 to 1");
    if (solution->method != FULCRUM_METHOD_SIMULATE) {
        double apart = fabs(inside - network->actors);
        require(apart <= TOLERANCE_REL * network->actors, "Little's law", &none);
    }
}

static void solve(const struct fulcrum_network *network, enum fulcrum_method method)
{
    const struct fulcrum_solver_options options = {
        .method = method, .seed = 1, .half_width_rel = 0.5, .max_steps = 1000.0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_solution solution;
    enum fulcrum_status status = fulcrum_solve(network, &options, &solution, &err);
    if (status == FULCRUM_OK) {
        check_solution(network, &solution);
    } else {
        require(
            err.status == status && err.detail[0] != '\0', "a refusal has words", &err);
    }
}

static void solve_network(const struct fulcrum_network *network)
{
    if (network->actors <= FAST_MOST_ACTORS) {
        solve(network, FULCRUM_METHOD_FAST);
    }
    if (network->actors <= CHAIN_MOST_ACTORS) {
        solve(network, FULCRUM_METHOD_CHAIN);
        solve(network, FULCRUM_METHOD_PRODUCT_FORM);
    }
    if (network->actors <= SIMULATE_MOST_ACTORS) {
        solve(network, FULCRUM_METHOD_SIMULATE);
    }
}

/* The solution is held to what it must obey by fulcrum_product_form_audit already. */
static void solve_product_form(const struct fulcrum_product_form_network *network)
{
    if (network->customers > PRODUCT_MOST_CUSTOMERS ||
        network->station_count > PRODUCT_MOST_STATIONS) {
        return;
    }
    struct fulcrum_product_form_load loads[PRODUCT_MOST_STATIONS] = {{0}};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double cycles_per_s = 0.0;
    enum fulcrum_status status =
        fulcrum_product_form_solve(network, &cycles_per_s, loads, &err);
    require(status == FULCRUM_OK, "a product form has a solution", &err);
    require(isfinite(cycles_per_s) && cycles_per_s > 0.0, "throughput is finite", &err);
}

static void check_refusal(
    enum fulcrum_status status, const struct fulcrum_error *err, const char *label)
{
    require(err->status == status, "a refusal has a status", err);
    require(strncmp(err->detail, label, strlen(label)) == 0, "and a label", err);
    require(strchr(err->detail, '\n') == NULL, "and is one line", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char label[] = "line 1";
    if (size > LINE_MOST_BYTE) {
        return 0;
    }
    char *text = calloc(size + 1, 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_network_line line;
    enum fulcrum_status status =
        fulcrum_network_line_parse(&line, label, text, size, &err);
    if (status != FULCRUM_OK) {
        check_refusal(status, &err, label);
    } else if (line.kind == FULCRUM_KIND_NETWORK) {
        solve_network(&line.network);
    } else {
        solve_product_form(&line.product_form.network);
    }
    fulcrum_network_line_clear(&line);
    free(text);
    return 0;
}
