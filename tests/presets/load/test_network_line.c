/* test_network_line.c - networks are read as they were written. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/network_line.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define CPU     "\"cpu\":{\"cores\":20,\"threads\":40}"
#define STEP    "\"step\":{\"mean_s\":0.002}"
#define ACTORS  "\"actors\":64"
#define LEAST   "{" ACTORS "," CPU "," STEP "}"
#define WITH(x) "{" ACTORS "," CPU "," STEP "," x "}"
static const char whole[] =
    "{\"kind\":\"network\",\"name\":\"example\",\"actors\":256,"
    "\"cpu\":{\"cores\":20,\"threads\":40,\"smt_yield_frac\":0.25,"
    "\"reserved_threads\":3.5,\"turbo_frac\":0.3,\"oversubscription_frac\":0.02,"
    "\"slice_s\":0.0014},"
    "\"step\":{\"mean_s\":0.0022,\"cv\":0.5,\"law\":\"erlang\"},"
    "\"host\":{\"per_batch_s\":0.0009,\"per_item_s\":4.4e-5},"
    "\"gpu\":{\"per_batch_s\":0.00094,\"per_item_s\":7.4e-6},"
    "\"batching\":{\"policy\":\"fixed\",\"size\":128,\"depth\":2},"
    "\"delay_s\":0.00036,"
    "\"training\":{\"env_steps_per_train_step\":3360,\"train_step_s\":0.19,"
    "\"queue_train_steps\":2.4}}";

static enum fulcrum_status parse(
    struct fulcrum_network_line *out, const char *text, struct fulcrum_error *err)
{
    return fulcrum_network_line_parse(out, "line 7", text, strlen(text), err);
}

/* A line that must be good; the caller clears it. */
static struct fulcrum_network_line read_good(const char *text)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_network_line line;
    if (parse(&line, text, &err) != FULCRUM_OK) {
        (void)fprintf(stderr, "%s\n%s\n", text, err.detail);
        CU_FAIL("a good line is refused");
    }
    return line;
}

TEST(test_every_value_arrives_at_its_member)
{
    struct fulcrum_network_line line = read_good(whole);
    const struct fulcrum_network *network = &line.network;
    const struct {
        double actual;
        double expected;
    } values[] = {
        {network->actors, 256.0},
        {network->cpu.core_count, 20.0},
        {network->cpu.thread_count, 40.0},
        {network->cpu.reserved_threads, 3.5},
        {network->cpu.smt_yield_frac, 0.25},
        {network->cpu.turbo_frac, 0.3},
        {network->cpu.oversubscription_frac, 0.02},
        {network->cpu.slice_s, 0.0014},
        {network->step.mean_s, 0.0022},
        {network->step.cv, 0.5},
        {network->host.per_batch_s, 0.0009},
        {network->host.per_item_s, 4.4e-5},
        {network->gpu.per_batch_s, 0.00094},
        {network->gpu.per_item_s, 7.4e-6},
        {network->batch_size, 128.0},
        {network->depth, 2.0},
        {network->delay_s, 0.00036},
        {network->training.env_steps_per_train_step, 3360.0},
        {network->training.train_step_s, 0.19},
        {network->training.queue_train_steps, 2.4},
    };
    for (size_t i = 0; i < LENGTH(values); i++) {
        CU_ASSERT_EQUAL(values[i].actual, values[i].expected);
    }
    CU_ASSERT_EQUAL(line.kind, FULCRUM_KIND_NETWORK);
    CU_ASSERT_STRING_EQUAL(line.name, "example");
    CU_ASSERT_EQUAL(line.has_name, 1);
    CU_ASSERT_EQUAL(network->cpu.curve, FULCRUM_CURVE_SMT_TURBO);
    CU_ASSERT_EQUAL(network->step.law, FULCRUM_LAW_ERLANG);
    CU_ASSERT_EQUAL(network->policy, FULCRUM_BATCH_FIXED);
    fulcrum_network_line_clear(&line);
}

/* Null is the same as nothing. */
TEST(test_what_is_left_out_has_its_default)
{
    static const char *const lines[] = {LEAST,
        WITH("\"kind\":null,\"name\":null,\"host\":null,\"gpu\":null,"
             "\"batching\":null,\"delay_s\":null,\"training\":null"),
        WITH("\"host\":{},\"gpu\":{\"per_item_s\":null},"
             "\"batching\":{\"policy\":null,\"size\":null,\"depth\":null}"),
        "\t{" ACTORS ",\"cpu\":{\"cores\":20,\"threads\":40,\"reserved_threads\":null,"
        "\"capacity\":null}," STEP "}\r\n"};
    for (size_t i = 0; i < LENGTH(lines); i++) {
        struct fulcrum_network_line line = read_good(lines[i]);
        const struct fulcrum_network *network = &line.network;
        CU_ASSERT_EQUAL(line.kind, FULCRUM_KIND_NETWORK);
        CU_ASSERT_EQUAL(line.has_name, 0);
        CU_ASSERT_STRING_EQUAL(line.name, "");
        CU_ASSERT_PTR_NULL(line.capacity);
        CU_ASSERT_EQUAL(network->cpu.reserved_threads, 0.0);
        CU_ASSERT_EQUAL(network->step.law, FULCRUM_LAW_DETERMINISTIC);
        CU_ASSERT_EQUAL(network->step.cv, 0.0);
        CU_ASSERT_EQUAL(network->host.per_batch_s + network->host.per_item_s, 0.0);
        CU_ASSERT_EQUAL(network->gpu.per_batch_s + network->gpu.per_item_s, 0.0);
        CU_ASSERT_EQUAL(network->host.count + network->gpu.count, 0);
        CU_ASSERT_EQUAL(network->policy, FULCRUM_BATCH_GREEDY);
        CU_ASSERT_EQUAL(network->batch_size, 0.0);
        CU_ASSERT_EQUAL(network->depth, 1.0);
        CU_ASSERT_EQUAL(network->delay_s, 0.0);
        CU_ASSERT_EQUAL(network->training.env_steps_per_train_step, 0.0);
        fulcrum_network_line_clear(&line);
    }
}

TEST(test_law_follows_from_cv_where_it_is_left_out)
{
    static const struct {
        const char *step;
        enum fulcrum_step_law law;
        double cv;
    } cases[] = {
        {"\"cv\":0", FULCRUM_LAW_DETERMINISTIC, 0.0},
        {"\"cv\":0.5", FULCRUM_LAW_LOGNORMAL, 0.5},
        {"\"cv\":1", FULCRUM_LAW_LOGNORMAL, 1.0},
        {"\"law\":\"deterministic\"", FULCRUM_LAW_DETERMINISTIC, 0.0},
        {"\"law\":\"exponential\"", FULCRUM_LAW_EXPONENTIAL, 0.0},
        {"\"law\":\"exponential\",\"cv\":1", FULCRUM_LAW_EXPONENTIAL, 1.0},
        {"\"law\":\"lognormal\",\"cv\":2", FULCRUM_LAW_LOGNORMAL, 2.0},
        {"\"law\":\"hyperexponential\",\"cv\":2", FULCRUM_LAW_HYPEREXPONENTIAL, 2.0},
        {"\"law\":\"pareto\"", FULCRUM_LAW_PARETO, 0.0},
        {"\"law\":\"pareto\",\"cv\":9", FULCRUM_LAW_PARETO, 9.0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
            "{" ACTORS "," CPU ",\"step\":{\"mean_s\":1,%s}}", cases[i].step);
        struct fulcrum_network_line line = read_good(text);
        CU_ASSERT_EQUAL(line.network.step.law, cases[i].law);
        CU_ASSERT_EQUAL(line.network.step.cv, cases[i].cv);
        fulcrum_network_line_clear(&line);
    }
}

TEST(test_capacity_table_gives_the_counts)
{
    static const struct {
        const char *counts;
        double cores;
        double threads;
    } cases[] = {
        {"", 4.0, 4.0},
        {",\"cores\":2", 2.0, 4.0},
        {",\"threads\":3", 3.0, 3.0},
        {",\"threads\":8", 4.0, 8.0},
        {",\"cores\":6", 6.0, 6.0},
        {",\"cores\":2,\"threads\":16", 2.0, 16.0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
            "{" ACTORS ",\"cpu\":{\"capacity\":[1,1.9,2.7,3.25]%s}," STEP "}",
            cases[i].counts);
        struct fulcrum_network_line line = read_good(text);
        const struct fulcrum_cpu_station *cpu = &line.network.cpu;
        CU_ASSERT_EQUAL(cpu->curve, FULCRUM_CURVE_TABLE);
        CU_ASSERT_EQUAL(cpu->capacity_count, 4);
        CU_ASSERT_PTR_EQUAL(cpu->capacity, line.capacity);
        CU_ASSERT_EQUAL(fulcrum_cpu_capacity(cpu, 2.0), 1.9);
        CU_ASSERT_EQUAL(fulcrum_cpu_capacity(cpu, 4.0), 3.25);
        CU_ASSERT_EQUAL(cpu->core_count, cases[i].cores);
        CU_ASSERT_EQUAL(cpu->thread_count, cases[i].threads);
        fulcrum_network_line_clear(&line);
    }
}

#define PRODUCT(x) "{\"kind\":\"product_form_network\",\"customers\":3," x "}"

TEST(test_stations_of_a_product_form_arrive)
{
    struct fulcrum_network_line line = read_good(
        "{\"kind\":\"product_form_network\",\"name\":\"p\",\"customers\":20,"
        "\"think_s\":4.5,\"stations\":["
        "{\"name\":\"cpu\",\"type\":\"multi\",\"service_s\":0.125,\"visits\":16,"
        "\"servers\":4},"
        "{\"type\":\"ld\",\"service_s\":0.3,\"rate\":[1,1.5,2.25]},"
        "{\"type\":\"delay\",\"service_s\":2,\"servers\":null,\"rate\":null},"
        "{\"service_s\":0.2,\"visits\":0.5,\"servers\":1}]}");
    const struct fulcrum_product_form_network *network = &line.product_form.network;
    CU_ASSERT_EQUAL(line.kind, FULCRUM_KIND_PRODUCT_FORM);
    CU_ASSERT_STRING_EQUAL(line.name, "p");
    CU_ASSERT_EQUAL(network->customers, 20.0);
    CU_ASSERT_EQUAL(network->think_s, 4.5);
    CU_ASSERT_EQUAL_FATAL(network->station_count, 4);
    static const struct fulcrum_product_form_station expected[] = {
        {"cpu", FULCRUM_STATION_MULTI, 0.125, 16.0, 4.0, NULL, 0},
        {"stations[1]", FULCRUM_STATION_LD, 0.3, 1.0, 1.0, NULL, 3},
        {"stations[2]", FULCRUM_STATION_DELAY, 2.0, 1.0, 1.0, NULL, 0},
        {"stations[3]", FULCRUM_STATION_QUEUE, 0.2, 0.5, 1.0, NULL, 0},
    };
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const struct fulcrum_product_form_station *station = &network->stations[i];
        CU_ASSERT_STRING_EQUAL(station->name, expected[i].name);
        CU_ASSERT_EQUAL(station->type, expected[i].type);
        CU_ASSERT_EQUAL(station->service_s, expected[i].service_s);
        CU_ASSERT_EQUAL(station->visits, expected[i].visits);
        CU_ASSERT_EQUAL(station->servers, expected[i].servers);
        CU_ASSERT_EQUAL(station->rate_count, expected[i].rate_count);
    }
    CU_ASSERT_EQUAL(network->stations[1].rate[2], 2.25);
    fulcrum_network_line_clear(&line);
    line = read_good(PRODUCT("\"think_s\":1,\"stations\":[]"));
    CU_ASSERT_EQUAL(line.product_form.network.station_count, 0);
    fulcrum_network_line_clear(&line);
}

TEST(test_all_mistakes_come_in_one_line)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_network_line line;
    CU_ASSERT_EQUAL(parse(&line,
                        "{\"kind\":\"network\",\"name\":\"n\",\"actors\":-1,"
                        "\"cpu\":{\"cores\":0,\"thread\":4},"
                        "\"step\":{\"cv\":7,\"law\":\"erlang\"},\"delay_s\":\"no\"}",
                        &err),
        FULCRUM_ERR_FORMAT);
    CU_ASSERT_STRING_EQUAL(err.detail,
        "line 7: delay_s = \"no\": expected a number; "
        "cpu.thread: unknown key; did you mean threads?; "
        "cpu.threads is not given: expected a number; "
        "actors = -1 is outside [1, 1e+07] or not whole; "
        "cpu.cores = 0 is outside [1, 1e+06]; "
        "step.cv = 7 is outside [0.001, 1], the range of the erlang law");
    CU_ASSERT_STRING_EQUAL(line.name, "n");
    CU_ASSERT_EQUAL(line.has_name, 1);
    fulcrum_network_line_clear(&line);
}

/* More faults than a message holds: whole ones, and no byte beyond. */
TEST(test_many_mistakes_are_cut_between_two)
{
    char text[20000] = "{";
    size_t used = 1;
    for (int i = 0; i < 500; i++) {
        used += (size_t)snprintf(
            text + used, sizeof text - used, "\"a key nobody knows %d\":%d,", i, i);
    }
    (void)snprintf(text + used, sizeof text - used, "\"actors\":1}");
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_network_line line;
    CU_ASSERT_EQUAL(parse(&line, text, &err), FULCRUM_ERR_FORMAT);
    assert_part(err.detail, "line 7: a key nobody knows 0: unknown key; a key");
    CU_ASSERT(strlen(err.detail) > 1000);
    CU_ASSERT_PTR_NULL(strchr(err.detail, '\n'));
    const char *end = err.detail + strlen(err.detail);
    CU_ASSERT_STRING_EQUAL(end - strlen("unknown key"), "unknown key");
    fulcrum_network_line_clear(&line);
}

TEST(test_bytes_that_are_no_text_are_refused)
{
    static const struct {
        const char *text;
        size_t length;
        const char *part;
    } cases[] = {
        {"{\"name\":\"\xff\"}", 12, "line 7, column "},
        {"{\"name\":\"\xed\xa0\x80\"}", 14, "line 7, column "},
        {"{\"name\":\"a\0b\"}", 14, "line 7, column 11: a zero byte"},
        {"{\"name\":\"a\"}\0", 13, "line 7, column 13: a zero byte"},
        {"{\"name\":\"a\nb\"}", 14, "line 7, column 11: a control character"},
        {"{\"name\":\"\xc0\xaf\"}", 13, "line 7, column "},
        {"{\"name\":\"\\u0000\"}", 17, "line 7: name = "},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_network_line line;
        enum fulcrum_status status = fulcrum_network_line_parse(
            &line, "line 7", cases[i].text, cases[i].length, &err);
        CU_ASSERT_NOT_EQUAL(status, FULCRUM_OK);
        assert_part(err.detail, cases[i].part);
        CU_ASSERT_EQUAL(line.has_name, 0);
        fulcrum_network_line_clear(&line);
    }
}

/* What lenient readers of JSON let pass. */
TEST(test_what_is_nearly_json_is_refused)
{
    static const char *const lines[] = {"1.", "01", "+1", ".5", "0x10", "1e", "1,",
        "1}", "1 1", "1/*no*/", "1 //", "'1'", "True", "nul", "[1,]", "{1:1}",
        "{'a':1}", "{'}}\"\"}':1}"};
    for (size_t i = 0; i < LENGTH(lines); i++) {
        char text[200];
        (void)snprintf(text, sizeof text, WITH("\"delay_s\":%s"), lines[i]);
        struct fulcrum_network_line line;
        ASSERT_FAILS(parse(&line, text, &err), FULCRUM_ERR_FORMAT, "line 7, column ");
        fulcrum_network_line_clear(&line);
    }
}

/* Nesting far beyond any network must not use up the stack. */
TEST(test_deep_nesting_is_refused)
{
    enum { DEPTH = 100000 };
    static char text[DEPTH + 16] = "{\"cpu\":";
    memset(text + strlen(text), '[', DEPTH);
    struct fulcrum_network_line line;
    ASSERT_FAILS(parse(&line, text, &err), FULCRUM_ERR_FORMAT, "line 7, column ");
    fulcrum_network_line_clear(&line);
}

/* Every beginning of a good line is a bad one, whatever byte it stops at. */
TEST(test_truncated_lines_are_refused)
{
    char text[sizeof whole];
    for (size_t length = 0; length < strlen(whole); length++) {
        memcpy(text, whole, length);
        text[length] = '\0';
        struct fulcrum_network_line line;
        CU_ASSERT_EQUAL(parse(&line, text, NULL), FULCRUM_ERR_FORMAT);
        fulcrum_network_line_clear(&line);
    }
}

TEST(test_names_are_kept_up_to_their_limit)
{
    enum { MOST = 255 };
    for (size_t length = MOST; length <= MOST + 1; length++) {
        char name[MOST + 2] = "";
        char text[MOST + 200];
        memset(name, 'x', length);
        (void)snprintf(text, sizeof text, WITH("\"name\":\"%s\""), name);
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_network_line line;
        enum fulcrum_status status = parse(&line, text, &err);
        CU_ASSERT_EQUAL(status, length > MOST ? FULCRUM_ERR_RANGE : FULCRUM_OK);
        CU_ASSERT_EQUAL(line.has_name, length <= MOST);
        CU_ASSERT_STRING_EQUAL(line.name, length <= MOST ? name : "");
        fulcrum_network_line_clear(&line);
    }
    struct fulcrum_network_line line =
        read_good(WITH("\"name\":\"\\u00e9 \\\"\xe2\x82\xac\\\"\\n\""));
    CU_ASSERT_STRING_EQUAL(line.name, "\xc3\xa9 \"\xe2\x82\xac\"\n");
    fulcrum_network_line_clear(&line);
}

TEST(test_clear_accepts_a_zeroed_line_and_a_second_time)
{
    struct fulcrum_network_line line = {.kind = FULCRUM_KIND_NETWORK};
    fulcrum_network_line_clear(&line);
    line = read_good("{" ACTORS ",\"cpu\":{\"capacity\":[1,2]}," STEP "}");
    fulcrum_network_line_clear(&line);
    fulcrum_network_line_clear(&line);
    CU_ASSERT_PTR_NULL(line.capacity);
}
