/* network_line.c - one line of a stream of networks, read strictly from JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers are rows of tables: key, place, and what stands there where nothing is given.
 * Ranges are not looked at here but by fulcrum_network_check, which knows what solvers
 * rely on. So that a mistake is told once and all of a line together, a value that
 * could not be read is replaced by one that no other value can clash with before the
 * check.
 */

#include "presets/load/network_line.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/io/record.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A number that must be given; `after` stands for what is wrong. */
#define NEEDED(name, type, member, after)                                              \
    {                                                                                  \
        .key = (name), .offset = offsetof(struct type, member), .neutral = (after)     \
    }
#define OPTIONAL(name, type, member, without, after)                                   \
    {                                                                                  \
        .key = (name), .is_optional = true, .offset = offsetof(struct type, member),   \
        .otherwise = (without), .neutral = (after)                                     \
    }

/*
 * A product-form network. Which members a station has depends on its type: what would
 * have no effect is refused, as whoever wrote it expects one.
 */
static const struct fulcrum_record_row form_rows[] = {
    NEEDED("customers", fulcrum_product_form_network, customers, 1.0),
    OPTIONAL("think_s", fulcrum_product_form_network, think_s, 0.0, 1.0),
};

static const struct fulcrum_record_row station_rows[] = {
    NEEDED("service_s", fulcrum_product_form_station, service_s, 1.0),
    OPTIONAL("visits", fulcrum_product_form_station, visits, 1.0, 1.0),
    OPTIONAL("servers", fulcrum_product_form_station, servers, 1.0, 1.0),
};

/* What stands for elements of a table that are no numbers. */
static const double one = 1.0;

/* The member's choice, -1 after a fault; `otherwise` where it is not given. */
static int read_choice(const struct fulcrum_node *object, const char *key,
    fulcrum_record_names *name, int otherwise)
{
    struct fulcrum_node node = fulcrum_node_member(object, key);
    return node.json != NULL ? fulcrum_record_choice(&node, name) : otherwise;
}

static void read_station(const struct fulcrum_node *object,
    struct fulcrum_product_form_station *station, double **rates)
{
    static const char *const others[] = {"name", "type", "rate", NULL};
    static const struct fulcrum_record record =
        FULCRUM_RECORD(fulcrum_product_form_station, station_rows, others);
    (void)snprintf(station->name, sizeof station->name, "%.63s", object->path);
    if (!fulcrum_node_is_object(object)) {
        station->service_s = 1.0;
        station->visits = 1.0;
        return;
    }
    (void)fulcrum_record_read(object, &record, station);
    struct fulcrum_node name = fulcrum_node_member(object, "name");
    if (name.json != NULL) {
        (void)fulcrum_node_text(&name, station->name, sizeof station->name);
    }
    int index = read_choice(
        object, "type", fulcrum_product_form_type_name, (int)FULCRUM_STATION_QUEUE);
    if (index < 0) {
        return;
    }
    station->type = (enum fulcrum_product_form_type)index;
    /* One server on a queue says what it is anyway. */
    struct fulcrum_node servers = fulcrum_node_member(object, "servers");
    bool is_multi = station->type == FULCRUM_STATION_MULTI;
    bool is_one = station->type == FULCRUM_STATION_QUEUE && station->servers == 1.0;
    if (is_multi && servers.json == NULL) {
        fulcrum_node_fault(&servers, FULCRUM_ERR_RANGE, "type multi needs it");
    } else if (!is_multi && !is_one && servers.json != NULL) {
        fulcrum_node_fault(&servers, FULCRUM_ERR_RANGE, "type %s takes none",
            fulcrum_product_form_type_name((int)station->type));
    }
    /* The station's type becomes one that needs no rates where they cannot be read. */
    struct fulcrum_node rate = fulcrum_node_member(object, "rate");
    if (station->type == FULCRUM_STATION_LD) {
        if (!fulcrum_node_numbers(&rate, &one, rates, &station->rate_count)) {
            station->type = FULCRUM_STATION_QUEUE;
        }
        station->rate = *rates;
    } else if (rate.json != NULL) {
        fulcrum_node_fault(&rate, FULCRUM_ERR_RANGE, "type %s takes none",
            fulcrum_product_form_type_name((int)station->type));
    }
}

/* Returns 1, or 0 after a fault of the list itself. */
static int read_stations(
    const struct fulcrum_node *array, struct fulcrum_product_form_line *out)
{
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return 0;
    }
    if (count == 0) {
        return 1;
    }
    out->stations = calloc(count, sizeof *out->stations);
    out->rates = calloc(count, sizeof *out->rates);
    if (out->stations == NULL || out->rates == NULL) {
        fulcrum_reader_fault(
            array->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory for it", array->path);
        return 0;
    }
    out->network.stations = out->stations;
    out->network.station_count = count;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(array, i);
        read_station(&element, &out->stations[i], &out->rates[i]);
    }
    return 1;
}

/* The largest numbers that the check lets pass, against which nothing is too much. */
#define MANY_ACTORS  1e7
#define MANY_THREADS 1e6

#define NUMBER(name, member, without, after)                                           \
    OPTIONAL(name, fulcrum_network, member, without, after)

static const struct fulcrum_record_row network_rows[] = {
    NEEDED("actors", fulcrum_network, actors, MANY_ACTORS),
    NUMBER("delay_s", delay_s, 0.0, 1.0),
};

static const struct fulcrum_record_row cpu_rows[] = {
    NEEDED("cores", fulcrum_network, cpu.core_count, 1.0),
    NEEDED("threads", fulcrum_network, cpu.thread_count, MANY_THREADS),
    NUMBER("reserved_threads", cpu.reserved_threads, 0.0, 0.0),
    NUMBER("slice_s", cpu.slice_s, 0.0, 0.0),
    NUMBER("smt_yield_frac", cpu.smt_yield_frac, 0.0, 0.0),
    NUMBER("turbo_frac", cpu.turbo_frac, 0.0, 0.0),
    NUMBER("oversubscription_frac", cpu.oversubscription_frac, 0.0, 0.0),
};
/* A table may be given in place of the last rows; beside it the counts of cores and
 * threads, the first ones, may be left out. */
enum { FIRST_CURVE_ROW = 4, COUNT_ROWS = 2 };

static const struct fulcrum_record_row step_rows[] = {
    NUMBER("mean_s", step.mean_s, 0.0, 1.0),
    NUMBER("cv", step.cv, 0.0, FULCRUM_UNKNOWN),
};

static const struct fulcrum_record_row host_rows[] = {
    NUMBER("per_batch_s", host.per_batch_s, 0.0, 1.0),
    NUMBER("per_item_s", host.per_item_s, 0.0, 1.0),
};

static const struct fulcrum_record_row gpu_rows[] = {
    NUMBER("per_batch_s", gpu.per_batch_s, 0.0, 1.0),
    NUMBER("per_item_s", gpu.per_item_s, 0.0, 1.0),
};

static const struct fulcrum_record_row batching_rows[] = {
    NUMBER("size", batch_size, 0.0, 1.0),
    NUMBER("depth", depth, 1.0, 1.0),
};

static const struct fulcrum_record_row training_rows[] = {
    NEEDED("env_steps_per_train_step", fulcrum_network,
        training.env_steps_per_train_step, 1.0),
    NEEDED("train_step_s", fulcrum_network, training.train_step_s, 1.0),
    NEEDED("queue_train_steps", fulcrum_network, training.queue_train_steps, 1.0),
    NUMBER("sharing_frac", training.sharing_frac, 0.0, 1.0),
};

/* Agents: keys are members. What must be given is what no default could be meant by. */
#define AGENT(member, without, after)                                                  \
    OPTIONAL(#member, fulcrum_agent_network, AGENT_PART.member, without, after)
#define AGENT_NEEDED(member, after)                                                    \
    NEEDED(#member, fulcrum_agent_network, AGENT_PART.member, after)

static const struct fulcrum_record_row agent_rows[] = {
    NEEDED("live_count", fulcrum_agent_network, live_count, MANY_ACTORS),
    OPTIONAL("start_limit", fulcrum_agent_network, start_limit, 0.0, 0.0),
};

#define AGENT_PART decode
static const struct fulcrum_record_row decode_rows[] = {
    AGENT(instance_count, 1.0, 1.0),
    AGENT(per_token_s, 0.0, 1.0),
    AGENT(per_item_s, 0.0, 1.0),
    AGENT(item_exponent, 1.0, 1.0),
    AGENT(per_context_s, 0.0, 0.0),
    AGENT(per_prompt_s, 0.0, 0.0),
    AGENT(most_items, 0.0, 0.0),
};
#undef AGENT_PART

#define AGENT_PART trajectory
static const struct fulcrum_record_row trajectory_rows[] = {
    AGENT(turn_count, 1.0, 1.0),
    AGENT(turn_cv, 0.0, 0.0),
    AGENT(output_tokens, 0.0, 1.0),
    AGENT(output_cv, 0.0, 0.0),
    AGENT(output_limit, 0.0, 0.0),
    AGENT(prompt_tokens, 0.0, 0.0),
    AGENT(context_tokens, 0.0, 0.0),
    AGENT(tool_s, 0.0, 1.0),
    AGENT(tool_cv, 0.0, 0.0),
    AGENT(delay_s, 0.0, 1.0),
    AGENT(start_s, 0.0, 0.0),
    AGENT(verify_s, 0.0, 0.0),
    AGENT(verify_tokens, 0.0, 0.0),
};
#undef AGENT_PART

#define AGENT_PART trainer
static const struct fulcrum_record_row trainer_rows[] = {
    AGENT_NEEDED(batch_size, 1.0),
    AGENT_NEEDED(train_s, 1.0),
    AGENT(group_size, 1.0, 1.0),
    AGENT(switch_s, 0.0, 0.0),
    AGENT(staleness, 0.0, 0.0),
};
#undef AGENT_PART

static const char *kind_name(int index)
{
    static const char *const names[] = {
        "network", "product_form_network", "agent_network", NULL};
    return names[index];
}

/* A table stands in place of the three fractions, and says how many threads there are.
 */
static void read_capacity(
    const struct fulcrum_node *object, struct fulcrum_network_line *line)
{
    struct fulcrum_cpu_station *cpu = &line->network.cpu;
    struct fulcrum_node table = fulcrum_node_member(object, "capacity");
    if (table.json == NULL) {
        return;
    }
    for (size_t i = FIRST_CURVE_ROW; i < LENGTH(cpu_rows); i++) {
        struct fulcrum_node node = fulcrum_node_member(object, cpu_rows[i].key);
        if (node.json != NULL) {
            fulcrum_node_fault(
                &node, FULCRUM_ERR_RANGE, "cpu.capacity stands in place of it");
        }
    }
    if (!fulcrum_node_numbers(&table, &one, &line->capacity, &cpu->capacity_count)) {
        return;
    }
    cpu->curve = FULCRUM_CURVE_TABLE;
    cpu->capacity = line->capacity;
    double length = (double)cpu->capacity_count;
    struct fulcrum_node cores = fulcrum_node_member(object, "cores");
    struct fulcrum_node threads = fulcrum_node_member(object, "threads");
    if (threads.json == NULL) {
        cpu->thread_count = cores.json != NULL ? fmax(length, cpu->core_count) : length;
    }
    if (cores.json == NULL) {
        cpu->core_count = fmin(length, cpu->thread_count);
    }
}

/*
 * Without a law, steps that vary are lognormal. What has no valid law or cv is taken
 * for Pareto's, which accepts any cv.
 */
static void read_step(
    const struct fulcrum_node *object, struct fulcrum_network_line *line)
{
    struct fulcrum_step *step = &line->network.step;
    int index = read_choice(object, "law", fulcrum_step_law_name,
        step->cv > 0.0 || step->cv < 0.0 ? (int)FULCRUM_LAW_LOGNORMAL
                                         : (int)FULCRUM_LAW_DETERMINISTIC);
    if (index < 0 || isnan(step->cv)) {
        index = (int)FULCRUM_LAW_PARETO;
        step->cv = 0.0;
    }
    step->law = (enum fulcrum_step_law)index;
}

static void read_batching(
    const struct fulcrum_node *object, struct fulcrum_network_line *line)
{
    struct fulcrum_network *network = &line->network;
    struct fulcrum_node size = fulcrum_node_member(object, "size");
    int index = read_choice(
        object, "policy", fulcrum_batch_policy_name, (int)FULCRUM_BATCH_GREEDY);
    network->policy =
        index == (int)FULCRUM_BATCH_FIXED ? FULCRUM_BATCH_FIXED : FULCRUM_BATCH_GREEDY;
    bool is_zero = size.json != NULL && network->batch_size == 0.0;
    bool is_missing = size.json == NULL && network->policy == FULCRUM_BATCH_FIXED;
    if (is_zero || is_missing) {
        fulcrum_node_fault(&size, FULCRUM_ERR_RANGE, "expected at least 1%s",
            is_missing ? " with policy fixed" : ", or null for no limit");
        network->batch_size = 1.0;
    }
}

static void read_training(
    const struct fulcrum_node *object, struct fulcrum_network_line *line)
{
    double *steps = &line->network.training.env_steps_per_train_step;
    if (*steps == 0.0) {
        struct fulcrum_node node =
            fulcrum_node_member(object, "env_steps_per_train_step");
        fulcrum_node_fault(&node, FULCRUM_ERR_RANGE,
            "expected more than 0; without training, leave `training` out");
        *steps = 1.0;
    }
    int loop =
        read_choice(object, "loop", fulcrum_loop_name, (int)FULCRUM_LOOP_CENTRAL);
    line->network.loop = loop == (int)FULCRUM_LOOP_ALTERNATING
                             ? FULCRUM_LOOP_ALTERNATING
                             : FULCRUM_LOOP_CENTRAL;
}

/* Objects of numbers, and of one member besides that is none. */
static const struct section {
    const char *key;
    const struct fulcrum_record_row *rows;
    size_t count;
    const char *other; /* NULL: none */
    /* What its numbers do not say, also where they cannot be read; NULL: nothing. */
    void (*read)(const struct fulcrum_node *object, struct fulcrum_network_line *line);
} sections[] = {
    {"cpu", cpu_rows, LENGTH(cpu_rows), "capacity", read_capacity},
    {"step", step_rows, LENGTH(step_rows), "law", read_step},
    {"host", host_rows, LENGTH(host_rows), NULL, NULL},
    {"gpu", gpu_rows, LENGTH(gpu_rows), NULL, NULL},
    {"batching", batching_rows, LENGTH(batching_rows), "policy", read_batching},
    {"training", training_rows, LENGTH(training_rows), "loop", read_training},
};

/* Without a coupling batches are trained on as they end. */
static void read_trainer(
    const struct fulcrum_node *object, struct fulcrum_network_line *line)
{
    struct fulcrum_agent_trainer *trainer = &line->agent.trainer;
    int index = read_choice(
        object, "coupling", fulcrum_agent_coupling_name, (int)FULCRUM_AGENT_STREAM);
    trainer->coupling =
        index < 0 ? FULCRUM_AGENT_STREAM : (enum fulcrum_agent_coupling)index;
    struct fulcrum_node staleness = fulcrum_node_member(object, "staleness");
    if (staleness.json != NULL && index >= 0 &&
        trainer->coupling != FULCRUM_AGENT_STREAM) {
        fulcrum_node_fault(&staleness, FULCRUM_ERR_RANGE, "coupling %s takes none",
            fulcrum_agent_coupling_name(index));
    }
}

static const struct section agent_sections[] = {
    {"cpu", cpu_rows, LENGTH(cpu_rows), "capacity", read_capacity},
    {"decode", decode_rows, LENGTH(decode_rows), NULL, NULL},
    {"trajectory", trajectory_rows, LENGTH(trajectory_rows), NULL, NULL},
    {"trainer", trainer_rows, LENGTH(trainer_rows), "coupling", read_trainer},
};

/* Of `into`, the network that the rows are of. */
static void read_section(const struct fulcrum_node *root, const struct section *section,
    void *into, struct fulcrum_network_line *line)
{
    const char *const others[] = {section->other, NULL};
    struct fulcrum_record_row rows[LENGTH(trajectory_rows)]; /* of the longest */
    struct fulcrum_node object = fulcrum_node_member(root, section->key);
    struct fulcrum_node table = fulcrum_node_member(&object, "capacity");
    if (object.json == NULL &&
        (section->rows == training_rows || section->rows == trainer_rows)) {
        return;
    }
    memcpy(rows, section->rows, section->count * sizeof *rows);
    for (size_t i = 0; i < COUNT_ROWS && section->rows == cpu_rows; i++) {
        rows[i].is_optional = table.json != NULL;
        rows[i].otherwise = rows[i].neutral;
    }
    const struct fulcrum_record record = {rows, section->count, others, 0};
    (void)fulcrum_record_read(&object, &record, into);
    if (section->read != NULL) {
        section->read(&object, line);
    }
}

static void read_agents(
    const struct fulcrum_node *root, struct fulcrum_network_line *line)
{
    static const char *const others[] = {
        "kind", "name", "cpu", "decode", "trajectory", "trainer", NULL};
    static const struct fulcrum_record record =
        FULCRUM_RECORD(fulcrum_agent_network, agent_rows, others);
    (void)fulcrum_record_read(root, &record, &line->agent);
    line->network.cpu.curve = FULCRUM_CURVE_SMT_TURBO;
    for (size_t i = 0; i < LENGTH(agent_sections); i++) {
        bool is_cpu = agent_sections[i].rows == cpu_rows;
        read_section(root, &agent_sections[i],
            is_cpu ? (void *)&line->network : (void *)&line->agent, line);
    }
    line->agent.cpu = line->network.cpu;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (fulcrum_agent_check(&line->agent, &failure) != FULCRUM_OK) {
        fulcrum_reader_adopt(root->reader, &failure);
    }
}

static void read_document(
    const struct fulcrum_node *root, struct fulcrum_network_line *line)
{
    struct fulcrum_node name = fulcrum_node_member(root, "name");
    if (name.json != NULL) {
        line->has_name = fulcrum_node_text(&name, line->name, sizeof line->name);
    }
    int index = read_choice(root, "kind", kind_name, (int)FULCRUM_KIND_NETWORK);
    if (index < 0) {
        return;
    }
    line->kind = (enum fulcrum_network_kind)index;
    if (line->kind == FULCRUM_KIND_AGENT) {
        read_agents(root, line);
    } else if (line->kind == FULCRUM_KIND_PRODUCT_FORM) {
        /*
         * Adds faults for what is malformed, and those of fulcrum_product_form_check. A
         * station without a name is called by its place, "stations[2]".
         */
        static const char *const others[] = {"kind", "name", "stations", NULL};
        static const struct fulcrum_record record =
            FULCRUM_RECORD(fulcrum_product_form_network, form_rows, others);
        (void)fulcrum_record_read(root, &record, &line->product_form.network);
        struct fulcrum_node stations = fulcrum_node_member(root, "stations");
        struct fulcrum_error failure = {FULCRUM_OK, ""};
        if (read_stations(&stations, &line->product_form) &&
            fulcrum_product_form_check(&line->product_form.network, &failure) !=
                FULCRUM_OK) {
            fulcrum_reader_adopt(root->reader, &failure);
        }
    } else {
        static const char *const others[] = {
            "kind", "name", "cpu", "step", "host", "gpu", "batching", "training", NULL};
        static const struct fulcrum_record record =
            FULCRUM_RECORD(fulcrum_network, network_rows, others);
        (void)fulcrum_record_read(root, &record, &line->network);
        line->network.cpu.curve = FULCRUM_CURVE_SMT_TURBO;
        for (size_t i = 0; i < LENGTH(sections); i++) {
            read_section(root, &sections[i], &line->network, line);
        }
        struct fulcrum_error failure = {FULCRUM_OK, ""};
        if (fulcrum_network_check(&line->network, &failure) != FULCRUM_OK) {
            fulcrum_reader_adopt(root->reader, &failure);
        }
    }
}

/* Several faults in one line: the label comes once, and "; " between them. */
static void join_lines(struct fulcrum_error *err, const char *label)
{
    char text[sizeof err->detail] = "";
    size_t used = 0;
    const char *from = err->detail;
    while (*from != '\0' && used < sizeof text) {
        size_t length = strcspn(from, "\n");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s",
            used > 0 ? "; " : "", (int)length, from);
        from += length;
        from += *from == '\n' ? 1 : 0;
        if (strncmp(from, label, strlen(label)) == 0) {
            from += strlen(label);
            from += strncmp(from, ": ", 2) == 0 ? 2 : 0;
        }
    }
    memcpy(err->detail, text, sizeof text);
}

static enum fulcrum_status parse_text(struct fulcrum_network_line *out,
    struct fulcrum_reader *reader, const char *text, size_t length,
    struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    FAIL_IF(memchr(text, '\0', length) != NULL, err, FULCRUM_ERR_FORMAT,
        "%s, column %zu: a zero byte", reader->file, strlen(text) + 1);
    TRY(fulcrum_document_parse(reader->file, 1, text, &document, err));
    struct fulcrum_node root = fulcrum_node_root(reader, document);
    read_document(&root, out);
    fulcrum_document_free(document);
    return fulcrum_reader_finish(reader, err);
}

enum fulcrum_status fulcrum_network_line_parse(struct fulcrum_network_line *out,
    const char *label, const char *text, size_t length, struct fulcrum_error *err)
{
    struct fulcrum_reader reader = {label, {FULCRUM_OK, ""}};
    *out = (struct fulcrum_network_line){.kind = FULCRUM_KIND_NETWORK};
    enum fulcrum_status status = parse_text(out, &reader, text, length, err);
    if (status != FULCRUM_OK && err != NULL) {
        join_lines(err, label);
    }
    return status;
}

enum fulcrum_status fulcrum_network_line_text(
    const struct fulcrum_network *network, char **out, struct fulcrum_error *err)
{
    static const struct fulcrum_record record =
        FULCRUM_RECORD(fulcrum_network, network_rows, NULL);
    bool trains = network->training.env_steps_per_train_step > 0.0;
    struct fulcrum_network shown = *network;
    shown.batch_size = network->batch_size > 0.0 ? network->batch_size : (double)NAN;
    struct json_object *object = fulcrum_json_new_object();
    fulcrum_json_add_text(object, "kind", kind_name((int)FULCRUM_KIND_NETWORK));
    fulcrum_json_add_text(object, "name", network->name);
    fulcrum_record_write(object, &record, network);
    for (size_t i = 0; i < LENGTH(sections) - (trains ? 0 : 1); i++) {
        const struct section *section = &sections[i];
        const struct fulcrum_record part = {section->rows, section->count, NULL, 0};
        struct json_object *member = fulcrum_json_add_object(object, section->key);
        if (section->rows == step_rows) {
            fulcrum_json_add_text(
                member, "law", fulcrum_step_law_name((int)network->step.law));
        } else if (section->rows == batching_rows) {
            fulcrum_json_add_text(
                member, "policy", fulcrum_batch_policy_name((int)network->policy));
        } else if (section->rows == training_rows &&
                   network->loop != FULCRUM_LOOP_CENTRAL) {
            fulcrum_json_add_text(
                member, "loop", fulcrum_loop_name((int)network->loop));
        }
        fulcrum_record_write(member, &part, &shown);
    }
    enum fulcrum_status status = fulcrum_json_text(object, FULCRUM_JSON_LINE, out, err);
    if (status == FULCRUM_OK) {
        (*out)[strcspn(*out, "\n")] = '\0';
    }
    json_object_put(object);
    return status;
}

void fulcrum_network_line_clear(struct fulcrum_network_line *line)
{
    struct fulcrum_product_form_line *product_form = &line->product_form;
    for (size_t i = 0;
         product_form->rates != NULL && i < product_form->network.station_count; i++) {
        free(product_form->rates[i]);
    }
    free(product_form->rates);
    free(product_form->stations);
    free(line->capacity);
    line->capacity = NULL;
    *product_form = (struct fulcrum_product_form_line){.stations = NULL};
}
