/* test_product_form.c - product-form networks against exact and long double answers,
 * and where the textbook's baseline that uses them is right. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/product_form.c" /* NOLINT(bugprone-suspicious-include) */

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/exact/chain.h"
#include "model/exact/exact.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { STATIONS_MOST = 4, CUSTOMERS_MOST = 4096, RATES_MOST = 256 };

struct answer {
    double cycles_per_s;
    struct fulcrum_product_form_load loads[STATIONS_MOST];
};

static struct fulcrum_product_form_station queue(double service_s)
{
    return (struct fulcrum_product_form_station){.name = "queue",
        .type = FULCRUM_STATION_QUEUE,
        .service_s = service_s,
        .visits = 1.0};
}

static struct fulcrum_product_form_station multi(double service_s, double servers)
{
    return (struct fulcrum_product_form_station){.name = "multi",
        .type = FULCRUM_STATION_MULTI,
        .service_s = service_s,
        .visits = 1.0,
        .servers = servers};
}

static struct fulcrum_product_form_station ld(
    double service_s, const double *rate, size_t count)
{
    return (struct fulcrum_product_form_station){.name = "ld",
        .type = FULCRUM_STATION_LD,
        .service_s = service_s,
        .visits = 1.0,
        .rate = rate,
        .rate_count = count};
}

static struct fulcrum_product_form_network network_of(double customers, double think_s,
    const struct fulcrum_product_form_station *stations, size_t count)
{
    return (struct fulcrum_product_form_network){.name = "test",
        .customers = customers,
        .think_s = think_s,
        .stations = stations,
        .station_count = count};
}

static struct answer solved(const struct fulcrum_product_form_network *network)
{
    struct answer answer = {.cycles_per_s = 0.0};
    ASSERT_OK(fulcrum_product_form_check(network, NULL));
    ASSERT_OK(
        fulcrum_product_form_solve(network, &answer.cycles_per_s, answer.loads, NULL));
    return answer;
}

static double number(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    (void)json_object_object_get_ex(object, key, &value);
    return json_object_get_double(value);
}

static const char *text(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    (void)json_object_object_get_ex(object, key, &value);
    return json_object_get_string(value);
}

static void read_station(struct json_object *from,
    struct fulcrum_product_form_station *station, double *rate)
{
    *station =
        (struct fulcrum_product_form_station){.service_s = number(from, "service_s"),
            .visits = number(from, "visits"),
            .servers = number(from, "servers"),
            .rate = rate};
    (void)snprintf(station->name, sizeof station->name, "%s", text(from, "name"));
    const char *type = text(from, "type");
    while (strcmp(type, fulcrum_product_form_type_name(station->type)) != 0) {
        station->type++;
    }
    struct json_object *list = json_object_object_get(from, "rate");
    station->rate_count = list != NULL ? json_object_array_length(list) : 0;
    CU_ASSERT_FATAL(station->rate_count <= RATES_MOST);
    for (size_t i = 0; i < station->rate_count; i++) {
        rate[i] = json_object_get_double(json_object_array_get_idx(list, i));
    }
}

static void assert_case(struct json_object *from)
{
    static const double tolerance = 1e-10;
    struct json_object *given = json_object_object_get(from, "network");
    struct json_object *stations = json_object_object_get(given, "stations");
    struct json_object *expected = json_object_object_get(from, "expected");
    struct json_object *loads = json_object_object_get(expected, "stations");
    struct fulcrum_product_form_station station[STATIONS_MOST];
    double rate[STATIONS_MOST][RATES_MOST];
    size_t count = json_object_array_length(stations);
    CU_ASSERT_FATAL(count <= STATIONS_MOST);
    for (size_t i = 0; i < count; i++) {
        read_station(json_object_array_get_idx(stations, i), &station[i], rate[i]);
    }
    struct fulcrum_product_form_network network = network_of(
        number(given, "customers"), number(given, "think_s"), station, count);
    struct answer answer = solved(&network);
    assert_close(text(given, "name"), answer.cycles_per_s,
        number(expected, "cycles_per_s"), tolerance);
    for (size_t i = 0; i < count; i++) {
        struct json_object *load = json_object_array_get_idx(loads, i);
        const char *name = station[i].name;
        assert_close(name, answer.loads[i].mean_customers,
            number(load, "mean_customers"), tolerance);
        assert_close(
            name, answer.loads[i].residence_s, number(load, "residence_s"), tolerance);
        assert_close(
            name, answer.loads[i].busy_frac, number(load, "busy_frac"), tolerance);
    }
}

TEST(test_published_networks_to_ten_digits)
{
    struct json_object *file = json_object_from_file("tests/data/product_form.json");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    struct json_object *cases = json_object_object_get(file, "cases");
    size_t count = json_object_array_length(cases);
    CU_ASSERT_EQUAL(count, 8);
    for (size_t i = 0; i < count; i++) {
        assert_case(json_object_array_get_idx(cases, i));
    }
    (void)json_object_put(file);
}

TEST(test_closed_forms)
{
    static const double linear[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    const struct fulcrum_product_form_station equal[] = {
        queue(0.5), queue(0.5), queue(0.5)};
    const struct fulcrum_product_form_station pair[] = {queue(1.0), queue(0.5)};
    const struct fulcrum_product_form_station free[] = {multi(2.0, 7.0)};
    const struct fulcrum_product_form_station climb[] = {ld(2.0, linear, 7)};
    const struct fulcrum_product_form_station idle[] = {queue(0.0), queue(0.5)};
    const struct {
        const char *name;
        struct fulcrum_product_form_network network;
        double cycles_per_s;
        double customers; /* at the first station */
        double busy_frac;
    } cases[] = {
        /* Every way to place 7 customers is as likely as any other. */
        {"balanced", network_of(7, 0.0, equal, 3), 7.0 / (9.0 * 0.5), 7.0 / 3.0,
            7.0 / 9.0},
        /* f2(k) = 2^-k: the chance of k at the second station, k = 0..2, is 4, 2, 1
           in 7. */
        {"two queues", network_of(2, 0.0, pair, 2), 6.0 / 7.0, 10.0 / 7.0, 6.0 / 7.0},
        {"one customer", network_of(1, 0.25, equal, 3), 1.0 / 1.75, 0.5 / 1.75,
            0.5 / 1.75},
        {"servers for all", network_of(7, 1.5, free, 1), 2.0, 4.0, 4.0 / 7.0},
        /* With 7 free servers each customer is there for 2 s of 3.5 s. */
        {"rates for all", network_of(7, 1.5, climb, 1), 2.0, 4.0,
            1.0 - pow(1.5 / 3.5, 7.0)},
        {"an idle station", network_of(5, 0.0, idle, 2), 2.0, 0.0, 0.0},
        {"no station", network_of(6, 1.5, NULL, 0), 4.0, 0.0, 0.0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct answer answer = solved(&cases[i].network);
        assert_close(cases[i].name, answer.cycles_per_s, cases[i].cycles_per_s, 1e-14);
        assert_close(
            cases[i].name, answer.loads[0].mean_customers, cases[i].customers, 1e-14);
        assert_close(
            cases[i].name, answer.loads[0].busy_frac, cases[i].busy_frac, 1e-14);
    }
}

/* What a station weighs with k customers: product of service / rate, by definition. */
static long double factor(const struct fulcrum_product_form_station *station, size_t k)
{
    long double product = 1.0L;
    for (size_t j = 1; j <= k; j++) {
        double rate = 1.0;
        if (station->type == FULCRUM_STATION_MULTI) {
            rate = fmin((double)j, station->servers);
        } else if (station->type == FULCRUM_STATION_DELAY) {
            rate = (double)j;
        } else if (station->type == FULCRUM_STATION_LD) {
            size_t last = station->rate_count - 1;
            rate = station->rate[j - 1 < last ? j - 1 : last];
        }
        product *= (long double)station->service_s / (long double)rate;
    }
    return product;
}

/* Chances of 0 to 6 customers at station `which` of four, by adding up all states. */
static void enumerate(
    const struct fulcrum_product_form_station *station, size_t which, double chance[7])
{
    long double sums[7] = {0.0L};
    long double sum = 0.0L;
    for (size_t state = 0; state < 343; state++) {
        size_t k[4] = {state % 7, state / 7 % 7, state / 49, 0};
        size_t three = k[0] + k[1] + k[2];
        if (three > 6) {
            continue;
        }
        k[3] = 6 - three;
        long double product = 1.0L;
        for (size_t i = 0; i < 4; i++) {
            product *= factor(&station[i], k[i]);
        }
        sums[k[which]] += product;
        sum += product;
    }
    for (size_t n = 0; n < 7; n++) {
        chance[n] = (double)(sums[n] / sum);
    }
}

static void assert_station(const struct fulcrum_product_form_station stations[4],
    size_t which, double cycles_per_s, const struct fulcrum_product_form_load *load)
{
    double chance[7];
    enumerate(stations, which, chance);
    double mean = 0.0;
    for (size_t n = 0; n < 7; n++) {
        mean += (double)n * chance[n];
        if (stations[which].type != FULCRUM_STATION_DELAY) {
            assert_close("chance", load->chance[n], chance[n], 1e-13);
        }
    }
    assert_close("mean", load->mean_customers, mean, 1e-13);
    assert_close("residence", load->residence_s * cycles_per_s, mean, 1e-13);
}

TEST(test_small_networks_by_adding_up_all_states)
{
    static const double dip[] = {1.0, 2.0, 0.3, 0.3, 4.0};
    static const double up[] = {0.1, 0.1, 50.0};
    struct fulcrum_product_form_station delay = queue(0.7);
    delay.type = FULCRUM_STATION_DELAY;
    const struct fulcrum_product_form_station sets[][4] = {
        {multi(2.0, 2.0), queue(0.4), ld(1.1, dip, 5), queue(0.9)},
        {ld(0.3, up, 3), delay, multi(1.0, 3.0), ld(0.8, dip, 4)},
        {queue(1e-6), multi(3.0, 5.0), ld(1e3, dip, 1), delay},
    };
    for (size_t set = 0; set < LENGTH(sets); set++) {
        struct fulcrum_product_form_network network = network_of(6, 0.0, sets[set], 4);
        double chance[4][7];
        struct fulcrum_product_form_load loads[4];
        double cycles_per_s = 0.0;
        for (size_t i = 0; i < 4; i++) {
            loads[i].chance = chance[i];
        }
        ASSERT_OK(fulcrum_product_form_solve(&network, &cycles_per_s, loads, NULL));
        for (size_t i = 0; i < 4; i++) {
            assert_station(sets[set], i, cycles_per_s, &loads[i]);
        }
    }
}

/* As many as there may be, all alike: every placement is as likely as any other. */
TEST(test_a_thousand_stations)
{
    static struct fulcrum_product_form_station stations[1001];
    static struct fulcrum_product_form_load loads[1000];
    for (size_t i = 0; i < 1001; i++) {
        stations[i] = queue(0.25);
    }
    struct fulcrum_product_form_network network = network_of(40, 0.0, stations, 1000);
    double cycles_per_s = 0.0;
    ASSERT_OK(fulcrum_product_form_check(&network, NULL));
    ASSERT_OK(fulcrum_product_form_solve(&network, &cycles_per_s, loads, NULL));
    assert_close("X", cycles_per_s, 40.0 / (1039.0 * 0.25), 1e-13);
    assert_close("last", loads[999].mean_customers, 0.04, 1e-13);
    network.station_count++;
    CU_ASSERT_EQUAL(fulcrum_product_form_check(&network, NULL), FULCRUM_ERR_RANGE);
}

/* Logarithm of the sum of two numbers given by theirs. */
static long double log_sum(long double one, long double other)
{
    long double high = fmaxl(one, other);
    return high + logl(expl(one - high) + expl(other - high));
}

/* Mean customers at a station of `servers`, beside a queue and a think time, as the
 * mean of a birth-and-death chain. The logarithms reach some 1e4, so that long double
 * keeps 15 digits. */
static long double mean_at_servers(
    double servers, double service_s, double queue_s, double think_s)
{
    static long double others[CUSTOMERS_MOST + 1];
    long double thinking = 0.0L;
    others[0] = 0.0L;
    for (size_t n = 1; n <= CUSTOMERS_MOST; n++) {
        thinking += logl((long double)think_s / (long double)n);
        others[n] = log_sum(others[n - 1] + logl((long double)queue_s), thinking);
    }
    long double here = 0.0L;
    long double sum = others[CUSTOMERS_MOST];
    long double moment = -HUGE_VALL;
    for (size_t n = 1; n <= CUSTOMERS_MOST; n++) {
        here +=
            logl((long double)service_s / fminl((long double)n, (long double)servers));
        long double share = here + others[CUSTOMERS_MOST - n];
        sum = log_sum(sum, share);
        moment = log_sum(moment, share + logl((long double)n));
    }
    return expl(moment - sum);
}

TEST(test_thousands_of_customers_against_long_double)
{
    /* Which of the three holds the customers differs. */
    static const double cases[][4] = {{1, 1.0, 0.999, 1.0}, {40, 40.0, 0.99, 20.0},
        {512, 512.0, 1.001, 300.0}, {512, 500.0, 0.9, 4000.0}, {40, 0.5, 0.25, 0.01}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const double *given = cases[i];
        const struct fulcrum_product_form_station stations[] = {
            multi(given[1], given[0]), queue(given[2])};
        struct fulcrum_product_form_network network =
            network_of(CUSTOMERS_MOST, given[3], stations, 2);
        struct answer answer = solved(&network);
        double expected =
            (double)mean_at_servers(given[0], given[1], given[2], given[3]);
        assert_close("N = 4096", answer.loads[0].mean_customers, expected, 1e-10);
    }
}

TEST(test_audit_refuses_what_cannot_be)
{
    const struct fulcrum_product_form_station stations[] = {
        multi(2.0, 2.0), queue(0.4)};
    struct fulcrum_product_form_network network = network_of(5, 1.0, stations, 2);
    struct answer good = solved(&network);
    static const struct {
        double throughput_factor;
        double customers_factor;
        double busy_frac;
        const char *named;
    } cases[] = {{1.3, 1.0, 0.5, "bounds"}, {0.2, 1.0, 0.5, "bounds"},
        {NAN, 1.0, 0.5, "bounds"}, {1.0, 1.001, 0.5, "add up"},
        {1.0, NAN, 0.5, "cannot be"}, {1.0, -1.0, 0.5, "cannot be"},
        {1.0, 1.0, 1.1, "cannot be"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct answer bad = good;
        bad.cycles_per_s *= cases[i].throughput_factor;
        bad.loads[1].mean_customers *= cases[i].customers_factor;
        bad.loads[1].busy_frac = cases[i].busy_frac;
        ASSERT_FAILS(audit(&network, bad.cycles_per_s, bad.loads, &err),
            FULCRUM_ERR_NUMERIC, cases[i].named);
    }
}

TEST(test_check_names_every_fault)
{
    static const double zero_rate[] = {1.0, 0.0};
    struct fulcrum_product_form_station unknown = queue(1.0);
    unknown.type = (enum fulcrum_product_form_type)9;
    struct fulcrum_product_form_station many = queue(1.0);
    many.visits = -1.0;
    const struct {
        struct fulcrum_product_form_station station;
        double customers;
        double think_s;
        const char *named;
    } cases[] = {{queue(1.0), 0.0, 0.0, "customers = 0"},
        {queue(1.0), 1.5, 0.0, "customers = 1.5"}, {queue(1.0), NAN, 0.0, "customers"},
        {queue(1.0), 1e6, 0.0, "customers = 1e+06"},
        {queue(1.0), 2.0, -1.0, "think_s = -1"}, {queue(NAN), 2.0, 0.0, "service_s"},
        {queue(-1.0), 2.0, 0.0, "queue: service_s = -1"},
        {many, 2.0, 0.0, "queue: visits = -1"},
        {multi(1.0, 0.0), 2.0, 0.0, "multi: servers = 0"},
        {multi(1.0, 2.5), 2.0, 0.0, "multi: servers = 2.5"},
        {ld(1.0, zero_rate, 2), 2.0, 0.0, "ld: rate[1] = 0"},
        {ld(1.0, NULL, 0), 2.0, 0.0, "ld: rate is empty"},
        {unknown, 2.0, 0.0, "queue: type = 9"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_product_form_network network =
            network_of(cases[i].customers, cases[i].think_s, &cases[i].station, 1);
        ASSERT_FAILS(fulcrum_product_form_check(&network, &err), FULCRUM_ERR_RANGE,
            cases[i].named);
    }
    const struct fulcrum_product_form_station nothing = queue(0.0);
    struct fulcrum_product_form_network network = network_of(2, 0.0, &nothing, 1);
    CU_ASSERT_EQUAL(fulcrum_product_form_check(&network, NULL), FULCRUM_ERR_INFEASIBLE);
}

TEST(test_names_end_where_the_types_end)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_product_form_type_name(FULCRUM_STATION_LD), "ld");
    CU_ASSERT_PTR_NULL(fulcrum_product_form_type_name(FULCRUM_STATION_LD + 1));
}

/* Series that span thousands of decades. */

enum { COUNT = 600 };

/* base to the power of n. */
static struct wide power_of(double base, size_t n)
{
    struct wide value = {1.0, 0};
    for (size_t i = 0; i < n; i++) {
        value = wide_times(value, base);
    }
    return value;
}

TEST(test_arithmetic_beyond_double)
{
    static const double bases[] = {1e3, 1e-3, 1e60, 1e-60, 1e200, 1e-200};
    for (size_t i = 0; i < LENGTH(bases); i++) {
        struct wide high = power_of(bases[i], 1001);
        struct wide low = power_of(bases[i], 1000);
        assert_close("ratio", wide_ratio(high, low), bases[i], 1e-12);
        struct wide product = wide_product(high, low);
        assert_close(
            "product", wide_ratio(product, power_of(bases[i], 2001)), 1.0, 1e-12);
        struct wide twice = wide_sum(low, low);
        assert_close("sum", wide_ratio(twice, low), 2.0, 1e-15);
    }
}

TEST(test_the_small_one_gets_lost_as_it_should)
{
    struct wide none = {0.0, 0};
    struct wide one = {1.0, 0};
    struct wide huge = power_of(1e100, 50);
    struct wide sum = wide_sum(one, huge);
    CU_ASSERT_EQUAL(wide_ratio(sum, huge), 1.0);
    sum = wide_sum(huge, one);
    CU_ASSERT_EQUAL(wide_ratio(sum, huge), 1.0);
    CU_ASSERT_EQUAL(wide_ratio(one, huge), 0.0);
    CU_ASSERT_EQUAL(wide_ratio(wide_sum(none, one), one), 1.0);
    CU_ASSERT_EQUAL(wide_ratio(wide_sum(one, none), one), 1.0);
    CU_ASSERT_EQUAL(wide_times(huge, 0.0).mantissa, 0.0);
    /* Neighbouring powers add up across the border of their mantissas. */
    struct wide below = {0x1p255, 0};
    struct wide above = {0x1p-256, 1};
    sum = wide_sum(below, above);
    CU_ASSERT_EQUAL(wide_ratio(sum, below), 3.0);
}

/* Binomial coefficients: (1, 1) convolved with itself, against their logarithms. */
TEST(test_convolution_counts_the_ways)
{
    struct wide_kernel pair = {.knee = 1, .ratio = 0.0};
    struct wide_series from = {0};
    struct wide_series to;
    CU_ASSERT_FATAL(wide_series_init(&pair.head, 2) && wide_series_init(&from, COUNT) &&
                    wide_series_init(&to, COUNT));
    /* 1e150 each, so that the sums run up to 1e90000. */
    wide_series_append(&pair.head, power_of(1e150, 1));
    wide_series_append(&pair.head, power_of(1e150, 1));
    wide_series_append(&from, (struct wide){1.0, 0});
    for (size_t n = 1; n < COUNT; n++) {
        wide_convolve(&to, &pair, &from);
        struct wide_series swapped = from;
        from = to;
        to = swapped;
    }
    double rows = COUNT - 1;
    struct wide scale = power_of(1e150, COUNT - 1);
    for (size_t k = 0; k < COUNT; k++) {
        double ways = exp(lgamma(rows + 1.0) - lgamma((double)k + 1.0) -
                          lgamma(rows - (double)k + 1.0));
        double found = wide_ratio(wide_series_at(&from, k), scale);
        assert_close("ways", found, ways, 1e-11);
    }
    wide_series_clear(&pair.head);
    wide_series_clear(&from);
    wide_series_clear(&to);
}

/* One kernel in two forms, and what it is convolved with. */
struct forms {
    struct wide_kernel brief; /* three values, and then a ratio */
    struct wide_kernel whole;
    struct wide_series in;
    struct wide_series out[2];
};

static void init_forms(struct forms *forms, double ratio)
{
    *forms = (struct forms){
        .brief = {.knee = 2, .ratio = ratio}, .whole = {.knee = COUNT, .ratio = 0.0}};
    CU_ASSERT_FATAL(wide_series_init(&forms->brief.head, 3) &&
                    wide_series_init(&forms->whole.head, COUNT) &&
                    wide_series_init(&forms->in, COUNT) &&
                    wide_series_init(&forms->out[0], COUNT) &&
                    wide_series_init(&forms->out[1], COUNT));
    const double first[] = {2.0, 5.0};
    struct wide value = {1.0, 0};
    for (size_t n = 0; n < COUNT; n++) {
        wide_series_append(&forms->whole.head, value);
        wide_series_append(&forms->in, power_of(n % 7 == 0 ? 0.0 : 1.7, n % 40));
        value = wide_times(value, n < 2 ? first[n] : ratio);
    }
    for (size_t n = 0; n < 3; n++) {
        wide_series_append(&forms->brief.head, wide_series_at(&forms->whole.head, n));
    }
}

static void clear_forms(struct forms *forms)
{
    wide_series_clear(&forms->brief.head);
    wide_series_clear(&forms->whole.head);
    wide_series_clear(&forms->in);
    wide_series_clear(&forms->out[0]);
    wide_series_clear(&forms->out[1]);
}

TEST(test_geometric_end_equals_its_values)
{
    static const double ratios[] = {0.5, 1.0, 3e5};
    for (size_t i = 0; i < LENGTH(ratios); i++) {
        struct forms forms;
        init_forms(&forms, ratios[i]);
        wide_convolve(&forms.out[0], &forms.brief, &forms.in);
        wide_convolve(&forms.out[1], &forms.whole, &forms.in);
        for (size_t n = 0; n < COUNT; n++) {
            struct wide found = wide_series_at(&forms.out[0], n);
            struct wide expected = wide_series_at(&forms.out[1], n);
            assert_close("both forms", wide_ratio(found, expected), 1.0, 1e-12);
        }
        clear_forms(&forms);
    }
}

/* The textbook's baseline. */

static struct fulcrum_solution promised(const struct fulcrum_network *network)
{
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_textbook_solve(network, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_PRODUCT_FORM);
    CU_ASSERT_EQUAL(out.flags, FULCRUM_FLAG_TEXTBOOK);
    double cycle_s = out.residence.cpu_s + out.residence.host_s + out.residence.gpu_s +
                     out.residence.delay_s;
    assert_close("Little", out.steps_per_s * cycle_s, network->actors, 1e-9);
    return out;
}

TEST(test_two_actors_by_hand)
{
    /* Steps of 1 s on two threads, one exponential server of 1/2 s that takes one at a
       time: weights 1/2, 1/2, 1/4 of 0, 1, 2 there. */
    struct fulcrum_network network = plain_network(2, 2, 0.5, 0.0);
    network.batch_size = 1;
    struct fulcrum_solution out = promised(&network);
    assert_close("X", out.steps_per_s, 1.2, 1e-14);
    assert_close("cpu", out.residence.cpu_s, 1.0, 1e-13);
    assert_close("gpu", out.residence.gpu_s, 0.5, 1e-13);
    assert_close("wait", out.residence.host_s, 1.0 / 6.0, 1e-12);
    assert_close("threads", out.cpu_thread_busy_frac, 0.6, 1e-13);
    assert_close("cores", out.cpu_core_busy_frac, 0.6, 1e-13);
    assert_close("gpu busy", out.gpu_busy_frac, 0.6, 1e-13);
    assert_close("batch", out.mean_batch, 1.0, 1e-13);
    /* Batches of both take no longer: weights 1/2, 1/2, 1/8, and X = E[n / t(n)]. */
    network.batch_size = 2;
    out = promised(&network);
    assert_close("X", out.steps_per_s, (0.5 * 2.0 + 0.125 * 4.0) / 1.125, 1e-14);
    assert_close("batch", out.mean_batch, 0.75 / 0.625, 1e-13);
    assert_close("gpu busy", out.gpu_busy_frac, 0.625 / 1.125, 1e-13);
}

TEST(test_stages_add_up)
{
    /* Equal time per observation makes plain queues; the GPU limits. */
    struct fulcrum_network network = plain_network(60, 64, 0.0, 0.1);
    network.host.per_item_s = 0.05;
    network.delay_s = 0.3;
    struct fulcrum_solution out = promised(&network);
    assert_close("in turns", out.steps_per_s, 1.0 / 0.15, 1e-9);
    assert_close("host", out.host_busy_frac, 1.0 / 3.0, 1e-9);
    assert_close("delay", out.residence.delay_s, 0.3, 0.0);
    network.depth = 2;
    out = promised(&network);
    assert_close("overlap", out.steps_per_s, 1.0 / 0.1, 1e-9);
    assert_close("host", out.host_busy_frac, 0.5, 1e-9);
    CU_ASSERT(out.residence.gpu_s > 4.0 && out.residence.host_s < 0.2);
    network.training = (struct fulcrum_training){10, 1.5, 2, 1.0};
    out = promised(&network);
    assert_close("training", out.steps_per_s, 1.0 / 0.25, 1e-9);
    assert_close("train", out.gpu_train_busy_frac, 0.6, 1e-9);
    assert_close("inference", out.gpu_inference_busy_frac, 0.4, 1e-9);
}

TEST(test_fixed_batches_count_as_whole_ones)
{
    /* Everybody waits at the GPU: n / t(B) up to B, and then B / t(B). */
    struct fulcrum_network network = plain_network(40, 64, 50.0, 0.0);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 20;
    struct fulcrum_solution out = promised(&network);
    assert_close("batch", out.mean_batch, 20.0, 1e-12);
    assert_close("X", out.steps_per_s, 20.0 / 50.0, 1e-3);
    assert_close("gpu", out.gpu_busy_frac, out.steps_per_s * 50.0 / 20.0, 1e-12);
}

TEST(test_stations_that_take_no_time)
{
    struct fulcrum_network network = plain_network(5, 2, 0.0, 0.0);
    struct fulcrum_solution out = promised(&network);
    assert_close("no GPU", out.steps_per_s, 2.0, 1e-12);
    assert_close("batch", out.mean_batch, 1.0, 1e-12);
    network = plain_network(5, 2, 0.5, 0.0);
    network.step = (struct fulcrum_step){0.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    out = promised(&network);
    assert_close("no CPU", out.steps_per_s, 10.0, 1e-12);
    assert_close("batch", out.mean_batch, 5.0, 1e-12);
}

/* What the flag says: even with exponential steps the promise is far too high. */
TEST(test_batches_are_not_product_form)
{
    static const struct {
        double servers;
        double g0;
        double least_error;
    } cases[] = {{64, 0.5, 0.1}, {64, 1.0, 0.2}, {64, 3.0, 0.4}, {64, 100.0, 0.9}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network =
            plain_network(40, cases[i].servers, cases[i].g0, 0.001);
        struct fulcrum_solution exact = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        double error = promised(&network).steps_per_s / exact.steps_per_s - 1.0;
        CU_ASSERT(error > cases[i].least_error && error < 1.0);
    }
}

TEST(test_more_than_the_product_form_takes)
{
    struct fulcrum_network network = plain_network(2e5, 64, 0.5, 0.001);
    struct fulcrum_solution out = {.steps_per_s = -1.0};
    ASSERT_FAILS(fulcrum_textbook_solve(&network, &out, &err), FULCRUM_ERR_UNSUPPORTED,
        "customers = 200000");
    CU_ASSERT_EQUAL(out.steps_per_s, -1.0);
}
