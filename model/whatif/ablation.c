/* ablation.c - what each component of a machine costs, by making it ideal. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removing one component after another splits a time into shares that depend on the
 * order, unless the time is a sum over components. GPU time is one here, a run is not:
 * what a component costs there depends on whether something else is in the way. A share
 * at a place in an order depends on the set of those before it alone, so that all
 * orders of n components need no more than 2^n times, and Shapley's value, the mean
 * over all orders, is a sum over sets.
 */
#include "model/whatif/component_cost.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>

struct row {
    const char *name;
    const char *meaning;
    bool is_gpu;
};

static const struct row rows[] = {
#define X(kind, name, meaning, gpu) {name, meaning, gpu},
    FULCRUM_IDEAL_LIST(X)
#undef X
};

/* One field of one component. */
struct ideal_setting {
    enum fulcrum_ideal component;
    const char *path;
    double value;
};

/* Ends of the fields' ranges: a V100 keeps 9e-4 of its DRAM time. */
static const struct ideal_setting settings[] = {
    {FULCRUM_IDEAL_DRAM, "machine.gpu.dram_byte_per_s", 1e15},
    {FULCRUM_IDEAL_LATENCY, "machine.gpu.latency_rel", 1e-6},
    {FULCRUM_IDEAL_SM, "machine.gpu.sm_loss_rel", 1e-6},
    {FULCRUM_IDEAL_MATH, "machine.gpu.flop_per_sm_cycle", 1e6},
    {FULCRUM_IDEAL_LAUNCH, "machine.gpu.launch_rel", 1e-6},
    {FULCRUM_IDEAL_HOST, "workload.host.per_batch_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_item_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_request_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.wake_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.delay_s", 0.0},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

_Static_assert((int)SETTING_COUNT <= (int)FULCRUM_IDEAL_SETTINGS_MOST,
    "room for the settings of all components");

const char *fulcrum_ideal_name(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].name : NULL;
}

const char *fulcrum_ideal_meaning(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].meaning : NULL;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Whether a text begins with a word, whatever its case, that ends there. */
static bool begins_with(const char *text, const char *word)
{
    size_t k = 0;
    while (word[k] != '\0' && lower(text[k]) == word[k]) {
        k++;
    }
    return word[k] == '\0' && !is_of_word(text[k]);
}

/* Whether one of the words of a text is `word`. */
static bool has_word(const char *text, const char *word)
{
    bool starts = true;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (starts && begins_with(text + i, word)) {
            return true;
        }
        starts = !is_of_word(text[i]);
    }
    return false;
}

size_t fulcrum_ideal_find(const char *text)
{
    size_t i = 0;
    while (i < FULCRUM_IDEAL_COUNT && !has_word(text, rows[i].name)) {
        i++;
    }
    return i;
}

bool fulcrum_ideal_is_gpu(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT && rows[component].is_gpu;
}

static bool has(unsigned set, size_t component)
{
    return (set >> component & 1U) != 0U;
}

size_t fulcrum_ideal_settings(unsigned set, struct fulcrum_setting *out)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!has(set, (size_t)settings[i].component)) {
            continue;
        }
        out[count].field = fulcrum_field_find(settings[i].path);
        out[count].number = settings[i].value;
        out[count].text = NULL;
        assert(out[count].field != NULL);
        count++;
    }
    return count;
}

static size_t size_of(unsigned set)
{
    size_t count = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        count += has(set, i) ? 1 : 0;
    }
    return count;
}

static struct fulcrum_ideal_share share_of(const double *time, size_t component)
{
    const unsigned all = FULCRUM_IDEAL_SETS - 1;
    const unsigned own = 1U << component;
    struct fulcrum_ideal_share share = {.least_frac = INFINITY, .most_frac = -INFINITY};
    for (unsigned set = 0; set <= all; set++) {
        if (has(set, component)) {
            continue;
        }
        double saved = (time[set] - time[set | own]) / time[0];
        share.least_frac = fmin(share.least_frac, saved);
        share.most_frac = fmax(share.most_frac, saved);
        /*
         * The share of all orders in which exactly `before` of the others come before
         * one component, and these in particular: 1 / (n C(n - 1, before)).
         */
        size_t before = size_of(set);
        double orders = FULCRUM_IDEAL_COUNT;
        for (size_t i = 0; i < before; i++) {
            orders *= (double)(FULCRUM_IDEAL_COUNT - 1 - i) / (double)(i + 1);
        }
        double weight = 1.0 / orders;
        share.mean_frac += saved * weight;
    }
    share.first_frac = (time[0] - time[own]) / time[0];
    share.last_frac = (time[all & ~own] - time[all]) / time[0];
    share.in_order_frac = (time[own - 1U] - time[own - 1U + own]) / time[0];
    return share;
}

void fulcrum_ideal_shares(const double *time, struct fulcrum_ideal_share *out)
{
    assert(time[0] > 0.0);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        out[i] = share_of(time, i);
    }
}
