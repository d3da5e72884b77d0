/* learner_endpoint.c - token times of a server that speaks OpenAI's protocol. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread holds every stream, by curl's multi interface, and notes when chunks come.
 * Completions, not chats: their text is in one place, whatever template or parser of
 * reasoning and tools a server has, and base models answer too. Prompts begin with
 * words of their own and outputs are drawn: equal ones would share a cache of prefixes,
 * and the experts of a mixture. Streams run to their end, so that none is still decoded
 * beside the next ones, and the server can tell how many tokens there were.
 */
#include <curl/curl.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/learner.h"
#include "calibrate/statistics.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"

enum {
    HTTP_OK = 200,
    URL_SIZE = 512,
    WORDS = 32, /* of a prompt, random ones */
    TOKENS_LEAST = 32,
    TOKENS_MOST = 512,
    LONGER = 8,    /* streams are once more, where too few chunks came from all */
    GAPS_LEAST = 4 /* of a stream, in the mean */
};

static const long connect_ms = 10000;
static const double usual_stall_s = 60.0;
static const int poll_ms = 100;

/* From the last stream's first token on: acknowledgements may be late at first. */
static const double settle_s = 0.05;

struct stream {
    struct fulcrum_learner_state *owner;
    CURL *easy;
    struct fulcrum_string line; /* as far as it came; all of an error */
    double last_s;              /* when its latest chunk with text came; 0: none yet */
    double chunks;
    double tokens; /* as the server counts them; 0: it does not */
    bool is_done;
};

/* Of the streams at hand. */
struct wave {
    size_t count;
    size_t begun;
    size_t alive;               /* when the first one ended; 0: none has */
    double all_s;               /* when the last one began */
    struct fulcrum_string gaps; /* doubles: between chunks while all were alive */
    double tokens;              /* of streams whose tokens are counted */
    double chunks;
    double most_chunks; /* of a stream that ends when it should */
};

struct fulcrum_learner_state {
    char url[URL_SIZE]; /* of completions */
    char model[96];     /* "": the server's own choice */
    struct fulcrum_random random;
    const struct fulcrum_listener *listener;
    CURLM *multi;
    struct curl_slist *headers;
    struct stream *streams;
    size_t stream_count;
    bool is_strict; /* refuses what OpenAI's own server does not know */
    long code;      /* of the last answer */
    double stall_s;
    double heard_s;               /* when the last token came */
    struct fulcrum_error failure; /* the first one */
    struct wave wave;
    struct fulcrum_token_facts facts;
    double log_sum; /* of median times between chunks over their means */
    double log_count;
};

/* What happened, in words of ours and of the server's, on one line. */
static void fail(struct fulcrum_learner_state *state, const char *what,
    const char *words, const char *expected)
{
    char told[160];
    (void)snprintf(told, sizeof told, "%s", words);
    for (char *at = told; *at != '\0'; at++) {
        *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
    }
    if (state->failure.status == FULCRUM_OK) {
        (void)fulcrum_fail(&state->failure, FULCRUM_ERR_ENVIRONMENT,
            "%s: %s%s: expected %s", state->url, what, told, expected);
    }
}

/* A chunk with text: whole gaps of each stream count, where tokens between two moments
 * would be off by up to a step of all. */
static void count_chunk(struct stream *stream)
{
    struct fulcrum_learner_state *state = stream->owner;
    struct wave *wave = &state->wave;
    double before_s = stream->last_s;
    state->heard_s = stream->last_s = fulcrum_wall_s();
    stream->chunks += 1.0;
    if (stream->chunks < 1.5 && ++wave->begun == wave->count) {
        wave->all_s = state->heard_s;
    }
    double gap_s = state->heard_s - before_s;
    if (wave->begun == wave->count && wave->alive == 0 &&
        before_s > wave->all_s + settle_s) {
        fulcrum_string_append(&wave->gaps, &gap_s, sizeof gap_s);
    }
    if (stream->chunks > wave->most_chunks) {
        fail(state, "a stream goes on beyond ", "max_tokens", "its end");
    }
}

static void take_chunk(struct stream *stream, const char *text)
{
    struct fulcrum_learner_state *state = stream->owner;
    struct json_object *document = NULL;
    struct fulcrum_reader reader = {.file = ""};
    if (fulcrum_document_parse("", true, text, &document, NULL) != FULCRUM_OK) {
        fail(state, "a chunk is no JSON, ", text, "data: {...}");
        return;
    }
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_node error = fulcrum_node_member(&root, "error");
    struct fulcrum_node model = fulcrum_node_member(&root, "model");
    struct fulcrum_node choices = fulcrum_node_member(&root, "choices");
    struct fulcrum_node choice = fulcrum_node_element(&choices, 0);
    struct fulcrum_node output = fulcrum_node_member(&choice, "text");
    struct fulcrum_node usage = fulcrum_node_member(&root, "usage");
    struct fulcrum_node tokens = fulcrum_node_member(&usage, "completion_tokens");
    char start[8]; /* what is longer is not empty either */
    if (error.json != NULL) {
        fail(state, "an error in a stream, ", text, "tokens");
    } else if (output.json != NULL &&
               (!fulcrum_node_text(&output, start, sizeof start) || *start != '\0')) {
        count_chunk(stream);
    }
    if (*state->model == '\0') {
        (void)fulcrum_node_text(&model, state->model, sizeof state->model);
    }
    stream->tokens = fmax(stream->tokens, fulcrum_node_value(&tokens));
    fulcrum_document_free(document);
}

/* Comments, names of events and blank lines tell nothing. */
static void take_line(struct stream *stream)
{
    static const char mark[] = "data:";
    const char *text = fulcrum_string_get(&stream->line);
    if (strncmp(text, mark, strlen(mark)) == 0) {
        text += strlen(mark);
        text += strspn(text, " ");
        stream->is_done = stream->is_done || strncmp(text, "[DONE]", 6) == 0;
        if (!stream->is_done) {
            take_chunk(stream, text);
        }
    } else if (*text == '{' || *text == '<') {
        fail(stream->owner, "no stream but ", text, "lines of data: {...}");
    }
    stream->line.length = 0;
}

static size_t take_data(char *data, size_t size, size_t count, void *user)
{
    struct stream *stream = user;
    struct fulcrum_learner_state *state = stream->owner;
    (void)curl_easy_getinfo(stream->easy, CURLINFO_RESPONSE_CODE, &state->code);
    for (size_t at = 0, end = 0; at < count * size; at = end + 1) {
        const char *newline =
            state->code == HTTP_OK ? memchr(data + at, '\n', count - at) : NULL;
        end = newline != NULL ? (size_t)(newline - data) : count;
        fulcrum_string_append(&stream->line, data + at, end - at);
        if (newline != NULL) {
            take_line(stream);
        }
    }
    return state->failure.status == FULCRUM_OK ? count : 0;
}

/* The last of an answer, or why there is none. */
static void finish(struct stream *stream, CURLcode result)
{
    struct fulcrum_learner_state *state = stream->owner;
    char code[32];
    (void)curl_easy_getinfo(stream->easy, CURLINFO_RESPONSE_CODE, &state->code);
    (void)snprintf(code, sizeof code, "HTTP %ld ", state->code);
    if (result != CURLE_OK) {
        fail(state, "", curl_easy_strerror(result),
            stream->chunks > 0.0 ? "a stream up to data: [DONE]" : "a server there");
    } else if (state->code != HTTP_OK) {
        bool is_key = state->code == 401 || state->code == 403;
        fail(state, code, fulcrum_string_get(&stream->line),
            is_key ? "a key that it takes in OPENAI_API_KEY"
                   : "completions below --url, such as http://HOST:PORT/v1");
    } else if (stream->line.length > 0) {
        take_line(stream);
    }
    if (!stream->is_done) {
        fail(state, "a stream ended early", "", "data: [DONE] at its end");
    } else if (!(stream->chunks > 0.0)) {
        fail(state, "a stream without tokens", "", "choices[0].text");
    }
    state->wave.alive = state->wave.alive > 0 ? state->wave.alive : state->wave.begun;
    state->wave.tokens += stream->tokens;
    state->wave.chunks += stream->tokens > 0.0 ? stream->chunks : 0.0;
}

static void ask(struct stream *stream, size_t tokens)
{
    static const char *const words[] = {"river", "lamp", "stone", "north", "paper",
        "seven", "garden", "wheel", "quiet", "copper", "window", "salt", "ladder",
        "winter", "yellow", "horse"};
    struct fulcrum_learner_state *state = stream->owner;
    struct fulcrum_string body = {0};
    uint64_t seed = fulcrum_random_bits(&state->random) >> 40;
    fulcrum_string_add(&body,
        "{\"max_tokens\": %zu, \"temperature\": 1, \"seed\": %llu, \"stream\": true, "
        "\"stream_options\": {\"include_usage\": true}%s, \"prompt\": \"",
        tokens, (unsigned long long)seed,
        state->is_strict ? "" : ", \"ignore_eos\": true");
    for (int i = 0; i < WORDS; i++) {
        uint64_t at = fulcrum_random_bits(&state->random) >> 60;
        fulcrum_string_add(&body, "%s ", words[at]);
    }
    fulcrum_string_add(&body, "A long story of all these words: \"");
    if (*state->model != '\0') {
        fulcrum_string_add(&body, ", \"model\": ");
        fulcrum_json_quote(&body, state->model);
    }
    fulcrum_string_add(&body, "}");
    stream->line.length = 0;
    *stream =
        (struct stream){.owner = state, .easy = stream->easy, .line = stream->line};
    const char *text = fulcrum_string_get(&body);
    (void)curl_easy_setopt(stream->easy, CURLOPT_COPYPOSTFIELDS, text);
    (void)curl_multi_add_handle(state->multi, stream->easy);
    fulcrum_string_clear(&body);
}

/* Asks for `count` streams of so many tokens, until all have ended or one has failed.
 */
static enum fulcrum_status run_wave(struct fulcrum_learner_state *state, size_t count,
    size_t tokens, struct fulcrum_error *err)
{
    int running = 1;
    char stall[32];
    (void)snprintf(stall, sizeof stall, "%g s", state->stall_s);
    fulcrum_error_clear(&state->failure);
    fulcrum_string_clear(&state->wave.gaps);
    state->wave =
        (struct wave){.count = count, .most_chunks = 2.0 * (double)tokens + 16.0};
    state->heard_s = fulcrum_wall_s();
    for (size_t i = 0; i < count; i++) {
        ask(&state->streams[i], tokens);
    }
    while (running > 0 && state->failure.status == FULCRUM_OK) {
        const CURLMsg *message = NULL;
        int left = 0;
        (void)curl_multi_perform(state->multi, &running);
        while ((message = curl_multi_info_read(state->multi, &left)) != NULL) {
            struct stream *stream = NULL;
            (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &stream);
            finish(stream, message->data.result);
        }
        if (fulcrum_listener_stops(state->listener)) {
            (void)fulcrum_fail(&state->failure, FULCRUM_ERR_INTERRUPTED, "stopped");
        } else if (fulcrum_wall_s() - state->heard_s > state->stall_s) {
            fail(state, "no token for ", stall, "one");
        } else if (running > 0) {
            (void)curl_multi_poll(state->multi, NULL, 0, poll_ms, NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)curl_multi_remove_handle(state->multi, state->streams[i].easy);
    }
    return state->failure.status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, state->failure.status, "%s", state->failure.detail);
}

static enum fulcrum_status endpoint_time(struct fulcrum_learner_state *state,
    size_t batch, size_t repeats, struct fulcrum_span *out, struct fulcrum_error *err)
{
    const struct wave *wave = &state->wave;
    double asked = fmin(fmax((double)repeats, TOKENS_LEAST), TOKENS_MOST);
    size_t count = 0; /* of gaps */
    for (size_t more = 1; count < GAPS_LEAST * batch && more <= LONGER;
         more += LONGER - 1) {
        TRY(run_wave(state, batch, more * (size_t)asked, err));
        count = wave->gaps.length / sizeof(double);
    }
    bool is_enough = count >= GAPS_LEAST * batch;
    state->facts.at_once = is_enough ? state->facts.at_once : (double)wave->alive;
    FAIL_IF(!is_enough, err,
        batch > 1 ? FULCRUM_ERR_INFEASIBLE : FULCRUM_ERR_ENVIRONMENT,
        "%s: %zu streams with few chunks in common: expected one for each token",
        state->url, batch);
    double *gap_s = (double *)(void *)wave->gaps.chars;
    double mean_s = gsl_stats_mean(gap_s, 1, count);
    state->facts.is_counted = wave->chunks > 0.0;
    state->log_sum += log(fulcrum_statistics_median(gap_s, count) / mean_s);
    state->log_count += 1.0;
    mean_s *= wave->chunks > 0.0 ? wave->chunks / wave->tokens : 1.0;
    *out = (struct fulcrum_span){mean_s * (double)repeats, 0.0};
    return FULCRUM_OK;
}

static void endpoint_tell(
    const struct fulcrum_learner_state *state, struct fulcrum_token_facts *out)
{
    *out = state->facts;
    out->median_rel = exp(state->log_sum / state->log_count);
}

static void endpoint_close(struct fulcrum_learner_state *state)
{
    for (size_t i = 0; i < state->stream_count; i++) {
        curl_easy_cleanup(state->streams[i].easy);
        fulcrum_string_clear(&state->streams[i].line);
    }
    fulcrum_string_clear(&state->wave.gaps);
    free(state->streams);
    curl_slist_free_all(state->headers);
    (void)curl_multi_cleanup(state->multi);
    free(state);
    curl_global_cleanup();
}

/* Whether it is the address of a server and nothing else, secrets least of all. */
static bool is_address(const char *url)
{
    return strlen(url) < URL_SIZE - sizeof "/completions" &&
           (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) &&
           url[strcspn(url, "@?# ")] == '\0';
}

static enum fulcrum_status set_up(struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    const char *url = options->endpoint->url;
    const char *model = options->endpoint->model;
    const char *key = getenv("OPENAI_API_KEY");
    struct fulcrum_string header = {0};
    (void)snprintf(state->url, sizeof state->url, "%s%scompletions", url,
        url[strlen(url) - 1] == '/' ? "" : "/");
    (void)snprintf(state->model, sizeof state->model, "%s", model != NULL ? model : "");
    state->multi = curl_multi_init();
    state->headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (key != NULL && *key != '\0') {
        fulcrum_string_add(
            &header, "Authorization: Bearer %.*s", (int)strcspn(key, "\r\n"), key);
        (void)curl_slist_append(state->headers, fulcrum_string_get(&header));
        fulcrum_string_clear(&header);
    }
    state->streams = calloc(options->max_batch, sizeof *state->streams);
    TRY_MEMORY(state->streams, err, "%zu streams", options->max_batch);
    for (; state->stream_count < options->max_batch; state->stream_count++) {
        struct stream *stream = &state->streams[state->stream_count];
        *stream = (struct stream){.owner = state, .easy = curl_easy_init()};
        CURL *easy = stream->easy;
        TRY_MEMORY(easy, err, "%zu streams", options->max_batch);
        (void)curl_easy_setopt(easy, CURLOPT_URL, state->url);
        (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, state->headers);
        (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
        (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_data);
        (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, stream);
        (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, stream);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status endpoint_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    const double unknown = (double)NAN;
    const struct fulcrum_endpoint_options *endpoint = options->endpoint;
    FAIL_IF(endpoint == NULL || endpoint->url == NULL, err, FULCRUM_ERR_MISSING,
        "learner endpoint needs --url, such as http://localhost:8000/v1");
    FAIL_IF(!is_address(endpoint->url), err, FULCRUM_ERR_RANGE,
        "--url %.200s: expected http://HOST:PORT/v1 or https://..., without a user, a "
        "query or a fragment",
        endpoint->url);
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "a learner");
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    state->stall_s = endpoint->stall_s > 0.0 ? endpoint->stall_s : usual_stall_s;
    state->random = fulcrum_random_seeded(options->seed);
    state->listener = options->listener;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(set_up(state, options, err));
    /* The first stream shows whether all is well; what is no part of OpenAI's own
     * protocol may be refused. */
    status = run_wave(state, 1, TOKENS_LEAST, NULL);
    state->is_strict =
        status != FULCRUM_OK && (state->code == 400 || state->code == 422);
    if (status != FULCRUM_OK) {
        status = state->is_strict
                     ? run_wave(state, 1, TOKENS_LEAST, err)
                     : fulcrum_fail(err, status, "%s", state->failure.detail);
    }
    *info = (struct fulcrum_learner_info){.device = {.is_gpu = true,
                                              .granted_sm_count = unknown,
                                              .clock_hz = unknown,
                                              .memory_byte = unknown}};
    (void)snprintf(info->model, sizeof info->model, "%s", state->model);
    (void)snprintf(
        info->device.detail, sizeof info->device.detail, "%s", endpoint->url);
end:
    if (status == FULCRUM_OK) {
        *out = state;
    } else {
        endpoint_close(state);
    }
    return status;
}

const struct fulcrum_learner fulcrum_learner_endpoint = {
    .name = "endpoint",
    .summary = FULCRUM_ENDPOINT_SUMMARY,
    .open = endpoint_open,
    .close = endpoint_close,
    .time = endpoint_time,
    .tell = endpoint_tell,
    .clock = FULCRUM_CLOCK_WALL,
};
