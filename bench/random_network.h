/* random_network.h - networks drawn at random, on which the methods are compared. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_RANDOM_NETWORK_H
#define FULCRUM_BENCH_RANDOM_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "model/network/network.h"

/* Domains of docs/model.md "Solver targets"; the texts are what a report prints. */
/* clang-format off */
#define FULCRUM_DOMAIN_LIST(X)                                                          \
    X(GREEDY,      "greedy",      "greedy, N and C 4-512, five laws")                     \
    X(EXPONENTIAL, "exponential", "greedy, N 1-256, C 4-512, exponential steps")          \
    X(WIDE,        "wide",        "greedy, N 1-1024, C 1-512, cv 0.2-3, limits down to 1")  \
    X(MACHINE,     "machine",     "greedy with SMT, turbo, oversubscription, host, delay") \
    X(FIXED,       "fixed",       "half batches, the whole network, half with training")  \
    X(SHARE,       "share",       "batches of any share, the whole network on any CPU")    \
    X(CORNERS,     "corners",     "extremes of every field")                             \
    X(TRAINING,    "training",    "greedy with host, delay, training from 3 % to twice the GPU") \
    X(PERCEPTRON,  "perceptron",  "a perceptron on the core that trains it, cv 0.2-0.6") \
    X(SLICES,      "slices",      "more actors than threads, steps cut into slices")
/* clang-format on */

enum fulcrum_domain {
#define X(domain, name, meaning) FULCRUM_DOMAIN_##domain,
    FULCRUM_DOMAIN_LIST(X) FULCRUM_DOMAIN_COUNT
#undef X
};

/*
 * Network `index` of a domain: the same for the same seed, whatever was drawn before.
 * It passes fulcrum_network_check and has no borrowed arrays.
 */
struct fulcrum_network fulcrum_random_network(
    enum fulcrum_domain domain, uint64_t seed, size_t index);

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_domain_name(size_t domain);
/* As fulcrum_domain_name: what is drawn. */
const char *fulcrum_domain_meaning(size_t domain);

#endif
