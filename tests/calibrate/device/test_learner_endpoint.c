/* test_learner_endpoint.c - token times of a small server of known speed, and of bad
 * ones. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strcasestr */
#include "calibrate/device/learner.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calibrate/probe/calibrate.h"
#include "tests/support/probing.h"
#include "tests/support/suite.h"

enum { CONNECTIONS = 64, REQUEST_SIZE = 4096 };

/* What a server does wrong. */
enum fault {
    NONE,
    NOT_FOUND,
    DOCUMENT,   /* one JSON document and no stream */
    PAGE,       /* HTML */
    BROKEN,     /* half a document as a chunk */
    COMPLAINS,  /* an error as a chunk */
    CUTS,       /* the connection, in the middle */
    STALLS,     /* after some tokens */
    ENDS_EARLY, /* without [DONE] */
    EMPTY,      /* no token */
    ENDLESS     /* max_tokens does not end it */
};

/* How it is to be. */
struct kind {
    double per_token_s;
    double per_stream_s;
    const char *key;  /* NULL: none is needed */
    int chunk_tokens; /* 0: 1 */
    int slots;        /* streams at once, 0: any number */
    enum fault fault;
    bool tells_no_usage;
    bool is_strict; /* refuses ignore_eos */
};

/* All streams advance together, in steps of per_token_s + per_stream_s x streams. */
struct server {
    struct kind kind;
    int listener;
    char url[64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int alive;
    long step;
    bool is_over;
    pthread_t clock;
    pthread_t door;
    pthread_t threads[CONNECTIONS];
    int sockets[CONNECTIONS];
    int connection_count;
};

struct connection {
    struct server *server;
    int socket;
};

static void *keep_time(void *user)
{
    struct server *server = user;
    (void)pthread_mutex_lock(&server->lock);
    double due_s = fulcrum_wall_s();
    while (!server->is_over) {
        due_s = fmax(due_s, fulcrum_wall_s() - 1e-3) + server->kind.per_token_s +
                server->kind.per_stream_s * server->alive;
        (void)pthread_mutex_unlock(&server->lock);
        fulcrum_sleep_s(due_s - fulcrum_wall_s());
        (void)pthread_mutex_lock(&server->lock);
        server->step++;
        (void)pthread_cond_broadcast(&server->changed);
    }
    (void)pthread_mutex_unlock(&server->lock);
    return NULL;
}

static bool send_text(int to, const char *text)
{
    return send(to, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

static bool send_chunk(int to, const char *format, ...)
{
    char text[400];
    char whole[500];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(whole, sizeof whole, "%zx\r\n%s\r\n", strlen(text), text);
    return send_text(to, whole);
}

static void send_answer(int to, const char *status, const char *body)
{
    char text[600];
    (void)snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
        status, strlen(body), body);
    (void)send_text(to, text);
}

/* A request with its body; false: the connection has ended. */
static bool read_request(int from, char out[REQUEST_SIZE])
{
    size_t length = 0;
    for (;;) {
        out[length] = '\0';
        const char *body = strstr(out, "\r\n\r\n");
        const char *size = strcasestr(out, "Content-Length:");
        if (body != NULL && size != NULL &&
            strlen(body + 4) >= strtoul(size + 15, NULL, 10)) {
            return true;
        }
        ssize_t got = recv(from, out + length, REQUEST_SIZE - 1 - length, 0);
        if (got <= 0) {
            return false;
        }
        length += (size_t)got;
    }
}

static void wait_steps(struct server *server, int count)
{
    (void)pthread_mutex_lock(&server->lock);
    for (long until = server->step + count; server->step < until && !server->is_over;) {
        (void)pthread_cond_wait(&server->changed, &server->lock);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

static void join(struct server *server, int more)
{
    (void)pthread_mutex_lock(&server->lock);
    while (more > 0 && server->kind.slots > 0 && !server->is_over &&
           server->alive >= server->kind.slots) {
        (void)pthread_cond_wait(&server->changed, &server->lock);
    }
    server->alive += more;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

/* False: the connection is to be cut. */
static bool send_tokens(struct server *server, int to, int tokens)
{
    const struct kind *kind = &server->kind;
    int each = kind->chunk_tokens > 0 ? kind->chunk_tokens : 1;
    for (int i = 0; i < tokens && kind->fault != EMPTY; i += each) {
        wait_steps(server, each);
        if (i > 5 && (kind->fault == CUTS || kind->fault == STALLS)) {
            wait_steps(server, kind->fault == STALLS ? 1000000 : 1);
            return false;
        }
        if (!send_chunk(to, "data: {\"model\": \"toy\", \"choices\": [{\"text\": "
                            "\"some longer text\"}], \"usage\": null}\n\n")) {
            return false;
        }
    }
    return true;
}

static bool stream(struct server *server, int to, int tokens)
{
    const struct kind *kind = &server->kind;
    bool goes_on =
        send_text(to, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") &&
        send_chunk(to, ": a comment\r\nevent: none\r\n\r\n");
    if (kind->fault == BROKEN) {
        (void)send_chunk(to, "data: {\"choices\": [{\"te\n\n");
    }
    if (kind->fault == COMPLAINS) {
        (void)send_chunk(to, "data: {\"error\": {\"message\": \"no memory\"}}\n\n");
    }
    tokens = kind->fault == ENDLESS ? 1000000 : tokens;
    if (!goes_on || !send_tokens(server, to, tokens)) {
        return false;
    }
    if (!kind->tells_no_usage) {
        (void)send_chunk(to,
            "data: {\"choices\": [], \"usage\": {\"completion_tokens\": %d}}\n\n",
            tokens);
    }
    if (kind->fault != ENDS_EARLY) {
        (void)send_chunk(to, "data: [DONE]\n\n");
    }
    return send_text(to, "0\r\n\r\n");
}

static bool answer(struct server *server, int to, const char *request)
{
    const struct kind *kind = &server->kind;
    const char *tokens = strstr(request, "\"max_tokens\": ");
    char key[80];
    (void)snprintf(key, sizeof key, "Authorization: Bearer %s\r\n",
        kind->key != NULL ? kind->key : "");
    CU_ASSERT_PTR_NOT_NULL(strstr(request, "\"stream\": true"));
    if (kind->fault == NOT_FOUND || strstr(request, "POST /v1/completions ") == NULL) {
        send_answer(to, "404 Not Found", "{\"detail\": \"Not Found\"}");
    } else if (kind->key != NULL && strstr(request, key) == NULL) {
        send_answer(to, "401 Unauthorized", "who are you?");
    } else if (kind->is_strict && strstr(request, "ignore_eos") != NULL) {
        send_answer(to, "400 Bad Request", "{\"error\": \"ignore_eos\"}");
    } else if (kind->fault == DOCUMENT) {
        send_answer(to, "200 OK", "{\"choices\": [{\"text\": \"all of it\"}]}");
    } else if (kind->fault == PAGE) {
        send_answer(to, "200 OK", "<html>welcome</html>");
    } else {
        join(server, 1);
        bool goes_on =
            stream(server, to, tokens != NULL ? (int)strtol(tokens + 14, NULL, 10) : 1);
        join(server, -1);
        return goes_on;
    }
    return true;
}

static void *serve(void *user)
{
    struct connection connection = *(struct connection *)user;
    char request[REQUEST_SIZE];
    free(user);
    while (read_request(connection.socket, request) &&
           answer(connection.server, connection.socket, request)) {
    }
    (void)shutdown(connection.socket, SHUT_RDWR);
    return NULL;
}

static void *open_door(void *user)
{
    struct server *server = user;
    while (server->connection_count < CONNECTIONS) {
        int one = 1;
        int socket = accept(server->listener, NULL, NULL);
        struct connection *connection = calloc(1, sizeof *connection);
        if (socket < 0 || connection == NULL) {
            free(connection);
            return NULL;
        }
        (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        *connection = (struct connection){server, socket};
        server->sockets[server->connection_count] = socket;
        (void)pthread_create(
            &server->threads[server->connection_count++], NULL, serve, connection);
    }
    return NULL;
}

static struct server *server_new(const struct kind *kind)
{
    struct server *server = calloc(1, sizeof *server);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    if (server == NULL) {
        abort();
    }
    server->kind = *kind;
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr *where = (struct sockaddr *)(void *)&address;
    CU_ASSERT_EQUAL_FATAL(bind(server->listener, where, size), 0);
    CU_ASSERT_EQUAL_FATAL(listen(server->listener, CONNECTIONS), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(server->listener, where, &size), 0);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d/v1",
        ntohs(address.sin_port));
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->changed, NULL);
    (void)pthread_create(&server->clock, NULL, keep_time, server);
    (void)pthread_create(&server->door, NULL, open_door, server);
    return server;
}

static void server_free(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->is_over = true;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)pthread_join(server->door, NULL);
    (void)pthread_join(server->clock, NULL);
    for (int i = 0; i < server->connection_count; i++) {
        (void)shutdown(server->sockets[i], SHUT_RDWR);
        (void)pthread_join(server->threads[i], NULL);
        (void)close(server->sockets[i]);
    }
    (void)close(server->listener);
    (void)pthread_mutex_destroy(&server->lock);
    (void)pthread_cond_destroy(&server->changed);
    free(server);
}

static const struct fulcrum_learner *const endpoint = &fulcrum_learner_endpoint;

static enum fulcrum_status open_at(const char *url,
    const struct fulcrum_listener *listener, struct fulcrum_learner_state **out,
    struct fulcrum_error *err)
{
    struct fulcrum_learner_info info;
    const struct fulcrum_endpoint_options server = {.url = url, .stall_s = 0.5};
    const struct fulcrum_learner_options options = {
        .max_batch = 16, .seed = 7, .endpoint = &server, .listener = listener};
    return endpoint->open(&options, out, &info, err);
}

static const struct fulcrum_listener nobody = {NULL};

/* Both cores are shared: times are within this much, ratios too. */
static const double margin_rel = 0.2;

TEST(test_times_of_a_token_are_those_of_the_server)
{
    static const struct kind kinds[] = {{.per_token_s = 0.008, .per_stream_s = 0.001},
        {.per_token_s = 0.006, .per_stream_s = 0.002, .tells_no_usage = true},
        {.per_token_s = 0.004, .per_stream_s = 0.0005, .chunk_tokens = 4},
        {.per_token_s = 0.02, .per_stream_s = 0.0, .is_strict = true}};
    static const size_t streams[] = {1, 4, 12};
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct server *server = server_new(&kinds[i]);
        struct fulcrum_learner_state *state = NULL;
        struct fulcrum_token_facts facts;
        ASSERT_SAYS(open_at(server->url, &nobody, &state, &err), FULCRUM_OK, "");
        for (size_t k = 0; k < LENGTH(streams); k++) {
            struct fulcrum_span span = {0.0, 0.0};
            ASSERT_OK(endpoint->time(state, streams[k], 50, &span, NULL));
            assert_close("token", span.wall_s / 50.0,
                kinds[i].per_token_s + kinds[i].per_stream_s * (double)streams[k],
                margin_rel);
        }
        endpoint->tell(state, &facts);
        CU_ASSERT_EQUAL(facts.is_counted, !kinds[i].tells_no_usage);
        CU_ASSERT(!(facts.at_once > 0.0));
        assert_close("median", facts.median_rel, 1.0, margin_rel);
        endpoint->close(state);
        server_free(server);
    }
}

TEST(test_a_server_that_lets_streams_wait_tells_how_many_it_decodes)
{
    static const struct kind kind = {.per_token_s = 0.002, .slots = 3};
    struct server *server = server_new(&kind);
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_token_facts facts;
    struct fulcrum_span span;
    ASSERT_OK(open_at(server->url, &nobody, &state, NULL));
    ASSERT_OK(endpoint->time(state, 2, 1, &span, NULL));
    ASSERT_FAILS(endpoint->time(state, 4, 1, &span, &err), FULCRUM_ERR_INFEASIBLE,
        "4 streams with few chunks in common");
    endpoint->tell(state, &facts);
    assert_close("at once", facts.at_once, 3.0, 0.0);
    endpoint->close(state);
    server_free(server);
}

TEST(test_a_bad_server_is_told_of_by_its_url)
{
    static const struct {
        enum fault fault;
        const char *part;
    } rows[] = {{NOT_FOUND, "/v1/completions: HTTP 404 {\"detail\": \"Not Found\"}"},
        {DOCUMENT, "no stream but {\"choices\""}, {PAGE, "no stream but <html>"},
        {BROKEN, "a chunk is no JSON, {\"choices\": [{\"te: expected data: {...}"},
        {COMPLAINS, "no memory"}, {CUTS, "expected a stream up to data: [DONE]"},
        {STALLS, "no token for 0.5 s: expected one"},
        {ENDS_EARLY, "a stream ended early"}, {EMPTY, "a stream without tokens"},
        {ENDLESS, "a stream goes on beyond max_tokens"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct kind kind = {.per_token_s = 0.002, .fault = rows[i].fault};
        struct server *server = server_new(&kind);
        struct fulcrum_learner_state *state = NULL;
        ASSERT_FAILS(open_at(server->url, &nobody, &state, &err),
            FULCRUM_ERR_ENVIRONMENT, rows[i].part);
        ASSERT_FAILS(open_at(server->url, &nobody, &state, &err),
            FULCRUM_ERR_ENVIRONMENT, server->url);
        CU_ASSERT_PTR_NULL(state);
        server_free(server);
    }
}

TEST(test_a_url_is_an_address_and_no_more)
{
    static const char *const urls[] = {"", "localhost:8000/v1", "ftp://host/v1",
        "http://user:secret@host/v1", "https://host/v1?key=secret", "http://a b/"};
    struct fulcrum_learner_state *state = NULL;
    for (size_t i = 0; i < LENGTH(urls); i++) {
        ASSERT_FAILS(open_at(urls[i], &nobody, &state, &err), FULCRUM_ERR_RANGE,
            "expected http://HOST:PORT/v1");
    }
    ASSERT_FAILS(open_at(NULL, &nobody, &state, &err), FULCRUM_ERR_MISSING, "--url");
    ASSERT_FAILS(open_at("http://127.0.0.1:1/v1", &nobody, &state, &err),
        FULCRUM_ERR_ENVIRONMENT, "expected a server there");
}

TEST(test_the_key_is_that_of_the_environment)
{
    static const struct kind kind = {.per_token_s = 0.002, .key = "s3cret"};
    struct server *server = server_new(&kind);
    struct fulcrum_learner_state *state = NULL;
    (void)unsetenv("OPENAI_API_KEY");
    ASSERT_FAILS(open_at(server->url, &nobody, &state, &err), FULCRUM_ERR_ENVIRONMENT,
        "HTTP 401 who are you?: expected a key that it takes in OPENAI_API_KEY");
    (void)setenv("OPENAI_API_KEY", "s3cret\n", 1);
    ASSERT_SAYS(open_at(server->url, &nobody, &state, &err), FULCRUM_OK, "");
    endpoint->close(state);
    (void)unsetenv("OPENAI_API_KEY");
    server_free(server);
}

TEST(test_streams_end_when_the_listener_says_so)
{
    static const struct kind kind = {.per_token_s = 0.01};
    struct fulcrum_listener listener = {NULL};
    struct server *server = server_new(&kind);
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_span span;
    ASSERT_OK(open_at(server->url, &listener, &state, NULL));
    listener.stop = probing_stop;
    ASSERT_FAILS(
        endpoint->time(state, 2, 100, &span, &err), FULCRUM_ERR_INTERRUPTED, "stopped");
    endpoint->close(state);
    server_free(server);
}

/* Tokens alone: no environment is opened. */
TEST(test_a_calibration_has_the_curve_of_the_server)
{
    static const struct kind kind = {
        .per_token_s = 0.008, .per_stream_s = 0.002, .slots = 4};
    struct server *server = server_new(&kind);
    const struct fulcrum_calibrate_options options = {.learner = "endpoint",
        .endpoint = {.url = server->url, .stream_count = 8.0, .gpu_count = 2.0},
        .budget_s = 12.0,
        .meter_root = "/nonexistent"};
    struct fulcrum_calibration *found = NULL;
    ASSERT_SAYS(fulcrum_calibrate(&found, &options, &err), FULCRUM_OK, "");
    CU_ASSERT_EQUAL(found->complete, 1);
    ASSERT_SAYS(fulcrum_calibration_check(found, &err), FULCRUM_OK, "");
    double alone_s = probing_value(found, "workload.network.per_batch_s");
    double item_s = probing_value(found, "workload.network.per_item_s");
    double exponent = probing_value(found, "workload.agent.item_exponent");
    for (int i = 0; i < 3; i++) {
        double streams = pow(2.0, i);
        assert_close("curve", alone_s + item_s * pow(streams, exponent),
            kind.per_token_s + kind.per_stream_s * streams, margin_rel);
    }
    CU_ASSERT_EQUAL(found->batch_time.count, 3);
    assert_close(
        "at once", probing_value(found, "workload.agent.most_items"), 4.0, 0.0);
    assert_close(
        "GPUs", probing_value(found, "workload.agent.instance_gpu_count"), 2.0, 0.0);
    CU_ASSERT_EQUAL(found->machine.accelerator, FULCRUM_ACCELERATOR_GPU);
    CU_ASSERT(isnan(probing_value(found, "workload.training.train_step_s")));
    assert_part(probing_note(found, "learner"), "endpoint, network toy");
    assert_part(probing_note(found, "tokens"), "counted by the server");
    CU_ASSERT_STRING_EQUAL(probing_note(found, "actor"), "");
    fulcrum_calibration_free(found);
    server_free(server);
}

TEST(test_an_endpoint_decodes_for_agents_only)
{
    const struct fulcrum_calibrate_options options = {.actor = "cartpole",
        .learner = "endpoint",
        .endpoint = {.url = "http://127.0.0.1:1/v1"},
        .budget_s = 1.0};
    struct fulcrum_calibration *found = NULL;
    ASSERT_FAILS(fulcrum_calibrate(&found, &options, &err), FULCRUM_ERR_UNSUPPORTED,
        "expected --actor sandbox or none, not cartpole");
    CU_ASSERT_PTR_NULL(found);
}
