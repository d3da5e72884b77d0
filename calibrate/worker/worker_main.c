/* worker_main.c - fulcrum-worker: the process that steps an environment for us. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 *     fulcrum-worker PARENT plugin FILE      serves the plug-in
 *     fulcrum-worker PARENT exec PROGRAM...  becomes another worker, isolated as this
 * one
 *
 * Started by calibrate/worker/worker_process.c with a socket on descriptor 3 and shared
 * memory on 4; of no use to people.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/fulcrum_env.h"
#include "calibrate/worker/worker_protocol.h"

/* The worker's end of the protocol, around a plug-in. */

/*
 * Nothing here is shared with the program but the protocol: the plug-in may destroy all
 * of it. The page behind the observation cannot be written to, so that a plug-in that
 * runs far past its end is caught in the act; what it writes near its end is found by
 * the other side, in the guard bytes.
 */

/* Reads of the clock that tell what one costs. */
#define CLOCK_PAIR_COUNT 201

/* A plug-in that overruns its stack is to be told of, too. */
#define SIGNAL_STACK_BYTE 65536

/* What every plug-in has; members that come later may be beyond the end of its table.
 */
#define FIRST_TABLE_BYTE                                                               \
    (offsetof(struct fulcrum_env_api, destroy) + sizeof(void (*)(void *)))

struct server {
    const char *path;
    const struct fulcrum_env_api *api; /* NULL before the description */
    struct fulcrum_env_description description;
    void *env; /* NULL before create */
    unsigned char *memory;
    volatile uint64_t *word;
    float *observation; /* or bytes */
    double clock_cost_s;
    char failure[FULCRUM_WORKER_TEXT_BYTE + 1]; /* "": none */
};

struct guard {
    const unsigned char *begin;
    const unsigned char *end;
    const volatile uint64_t *word;
    size_t observation_byte;
};

/*
 * The handler of SIGSEGV has nothing else to find the guard page by; written once,
 * before the handler is set.
 */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static struct guard guard;

/* The command at hand, which the handler's reply belongs to. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables) */
static volatile sig_atomic_t current_code;

static void fail(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fail(struct server *server, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(server->failure, sizeof server->failure, format, args);
    va_end(args);
}

static int write_all(const void *bytes, size_t byte)
{
    const char *at = bytes;
    while (byte > 0) {
        ssize_t done = write(FULCRUM_WORKER_SOCKET_FD, at, byte);
        if (done <= 0 && errno != EINTR) {
            return 0;
        }
        at += done > 0 ? done : 0;
        byte -= done > 0 ? (size_t)done : 0;
    }
    return 1;
}

static int read_all(void *bytes, size_t byte)
{
    char *at = bytes;
    while (byte > 0) {
        ssize_t done = read(FULCRUM_WORKER_SOCKET_FD, at, byte);
        if (done == 0 || (done < 0 && errno != EINTR)) {
            return 0;
        }
        at += done > 0 ? done : 0;
        byte -= done > 0 ? (size_t)done : 0;
    }
    return 1;
}

static double cpu_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double clock_cost_s(void)
{
    double pair_s[CLOCK_PAIR_COUNT];
    for (size_t i = 0; i < CLOCK_PAIR_COUNT; i++) {
        double begin_s = cpu_s();
        pair_s[i] = cpu_s() - begin_s;
    }
    qsort(pair_s, CLOCK_PAIR_COUNT, sizeof pair_s[0], compare_times);
    return pair_s[CLOCK_PAIR_COUNT / 2];
}

/* Decimal digits without the C library, which a signal handler must not call. */
static size_t append_number(char *out, unsigned long long number)
{
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++) {
        out[i] = digits[count - 1 - i];
    }
    return count;
}

static size_t append_text(char *out, const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        out[length] = text[length];
    }
    return length;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    const unsigned char *place = info->si_addr;
    if (place >= guard.begin && place < guard.end) {
        /* Answers the command at hand, whichever it is. */
        uint32_t code = (uint32_t)current_code;
        char text[160];
        size_t length = append_text(text, "wrote past the end of its observation of ");
        length += append_number(text + length, guard.observation_byte);
        length += append_text(text + length, " bytes in ");
        if (guard.word[FULCRUM_WORKER_PHASE] == FULCRUM_WORKER_RESETS) {
            length += append_text(text + length, "a reset after ");
        }
        length += append_text(text + length, "step ");
        length += append_number(text + length, guard.word[FULCRUM_WORKER_STEP_NUMBER]);
        struct fulcrum_worker_reply reply = {
            FULCRUM_WORKER_MAGIC, code, FULCRUM_WORKER_FAILED, (uint32_t)length, 0, 0};
        (void)write_all(&reply, sizeof reply);
        (void)write_all(text, length);
        _exit(1);
    }
    /* Anything else ends the process, as it would have without us. */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static const struct fulcrum_env_api *load(struct server *server)
{
    void *library = dlopen(server->path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail(server, "is no shared object that can be loaded: %s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, "fulcrum_env_plugin");
    if (symbol == NULL) {
        fail(server, "is no environment: it has no function fulcrum_env_plugin");
        return NULL;
    }
    /* C has no cast from void * to a function; POSIX says the bytes agree. */
    const struct fulcrum_env_api *(*table_of)(void);
    memcpy(&table_of, &symbol, sizeof table_of);
    const struct fulcrum_env_api *api = table_of();
    if (api == NULL) {
        fail(server, "has an empty table: fulcrum_env_plugin returned NULL");
    } else if (api->abi_version != FULCRUM_ENV_ABI_VERSION) {
        fail(server, "was built for version %u of fulcrum_env.h; this is version %d",
            api->abi_version, FULCRUM_ENV_ABI_VERSION);
    } else if (api->size_byte < FIRST_TABLE_BYTE) {
        fail(server, "has a table of %u bytes, expected %zu or more", api->size_byte,
            FIRST_TABLE_BYTE);
    } else if (api->describe == NULL || api->create == NULL || api->reset == NULL ||
               api->step == NULL || api->destroy == NULL) {
        fail(server, "has a table with a function that is NULL");
    }
    return server->failure[0] == '\0' ? api : NULL;
}

static void describe(struct server *server,
    const struct fulcrum_worker_command *command,
    struct fulcrum_worker_description *out)
{
    if (command->value[0] != FULCRUM_WORKER_PROTOCOL) {
        fail(server, "fulcrum-worker speaks version %d of the protocol, not %llu",
            FULCRUM_WORKER_PROTOCOL, (unsigned long long)command->value[0]);
        return;
    }
    server->api = load(server);
    if (server->api == NULL) {
        return;
    }
    struct fulcrum_env_description *told = &server->description;
    *told = (struct fulcrum_env_description){.size_byte = sizeof *told};
    int result = server->api->describe((double)command->value[1], told);
    if (result != 0) {
        fail(server, "cannot be described: describe returned %d", result);
        return;
    }
    *out = (struct fulcrum_worker_description){
        .observation_kind = told->observation_kind,
        .observation_count = told->observation_count,
        .action_count = told->action_count,
        .frame_skip = told->frame_skip,
    };
    memcpy(out->name, told->name, sizeof out->name - 1);
    const char *slash = strrchr(server->path, '/');
    (void)snprintf(out->detail, sizeof out->detail,
        "%.100s, version %u of fulcrum_env.h", slash != NULL ? slash + 1 : server->path,
        server->api->abi_version);
    server->clock_cost_s = clock_cost_s();
}

static int map_memory(struct server *server)
{
    struct stat size;
    if (server->api == NULL || server->memory != NULL ||
        fstat(FULCRUM_WORKER_MEMORY_FD, &size) != 0 || size.st_size <= 0) {
        fail(server, "fulcrum-worker was told to create before a description");
        return 0;
    }
    void *memory = mmap(NULL, (size_t)size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
        FULCRUM_WORKER_MEMORY_FD, 0);
    if (memory == MAP_FAILED) {
        fail(server, "the shared memory cannot be mapped: %s", strerror(errno));
        return 0;
    }
    server->memory = memory;
    server->word = memory;
    server->observation =
        (float *)(void *)(server->memory +
                          server->word[FULCRUM_WORKER_OBSERVATION_OFFSET]);
    size_t memory_byte = (size_t)size.st_size;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *last = server->memory + memory_byte - page;
    guard.begin = last;
    guard.end = last + page;
    guard.word = server->word;
    guard.observation_byte = server->word[FULCRUM_WORKER_OBSERVATION_BYTE];
    (void)mprotect(last, page, PROT_READ);
    static char stack[SIGNAL_STACK_BYTE];
    const stack_t signal_stack = {.ss_sp = stack, .ss_size = sizeof stack};
    (void)sigaltstack(&signal_stack, NULL);
    struct sigaction action = {
        .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigaction(SIGSEGV, &action, NULL);
    return 1;
}

static void reset(struct server *server)
{
    server->word[FULCRUM_WORKER_RESET_NUMBER]++;
    server->word[FULCRUM_WORKER_PHASE] = FULCRUM_WORKER_RESETS;
    server->api->reset(server->env, server->observation);
    server->word[FULCRUM_WORKER_PHASE] = FULCRUM_WORKER_WAITS;
}

static void create(struct server *server, const struct fulcrum_worker_command *command)
{
    if (!map_memory(server)) {
        return;
    }
    char why[400] = "";
    server->env = server->api->create(
        command->value[0], server->description.frame_skip, why, sizeof why);
    why[sizeof why - 1] = '\0';
    if (server->env == NULL) {
        fail(server, "cannot be created%s%s", why[0] != '\0' ? ": " : "", why);
        return;
    }
    reset(server);
}

static int step(struct server *server, uint64_t row)
{
    const float *rows =
        (const float *)(const void *)(server->memory +
                                      server->word[FULCRUM_WORKER_ACTION_OFFSET]);
    server->word[FULCRUM_WORKER_STEP_NUMBER]++;
    server->word[FULCRUM_WORKER_PHASE] = FULCRUM_WORKER_STEPS;
    int result = server->api->step(server->env,
        rows + row * server->description.action_count, server->observation);
    server->word[FULCRUM_WORKER_PHASE] = FULCRUM_WORKER_WAITS;
    if (result != FULCRUM_ENV_ON && result != FULCRUM_ENV_END) {
        fail(server, "step %llu returned %d, expected 0 or 1",
            (unsigned long long)server->word[FULCRUM_WORKER_STEP_NUMBER], result);
    } else if (server->description.observation_kind == FULCRUM_ENV_FLOAT32) {
        /* Every step's is looked at, though only the last one is handed over. */
        size_t count = server->description.observation_count;
        size_t place = fulcrum_worker_first_odd(server->observation, count);
        if (place < count) {
            fail(server, "element %zu of the observation after step %llu is %g", place,
                (unsigned long long)server->word[FULCRUM_WORKER_STEP_NUMBER],
                (double)server->observation[place]);
        }
    }
    return result;
}

static double since(const struct server *server, double begin_s)
{
    return fmax(cpu_s() - begin_s - server->clock_cost_s, 0.0);
}

/* The steps of one command RUN, and where their times go. */
struct course {
    uint64_t row;
    uint64_t row_count;
    uint64_t reset_count;
    double *step_s;
    double *reset_s; /* NULL where resets are part of the time of several steps */
};

/* Resets where the step ended the episode; `result` is that of the step. */
static void finish_step(struct server *server, struct course *course, int result)
{
    course->row = course->row + 1 < course->row_count ? course->row + 1 : 0;
    if (result != FULCRUM_ENV_END || server->failure[0] != '\0') {
        return;
    }
    double begin_s = course->reset_s != NULL ? cpu_s() : 0.0;
    reset(server);
    if (course->reset_s != NULL) {
        course->reset_s[course->reset_count] = since(server, begin_s);
    }
    course->reset_count++;
}

static void run_untimed(struct server *server, struct course *course, uint64_t count)
{
    for (uint64_t i = 0; i < count && server->failure[0] == '\0'; i++) {
        finish_step(server, course, step(server, course->row));
    }
}

/* value: count, first row, steps to a time. Returns how many resets there were. */
static uint64_t run(struct server *server, const uint64_t value[3])
{
    uint64_t stride = value[2];
    double *times =
        (double *)(void *)(server->memory + server->word[FULCRUM_WORKER_TIME_OFFSET]);
    struct course course = {value[1], server->word[FULCRUM_WORKER_ROW_COUNT], 0, times,
        stride == 1 ? times + server->word[FULCRUM_WORKER_TIME_COUNT] : NULL};
    if (stride == 0) {
        run_untimed(server, &course, value[0]);
    } else if (stride == 1) {
        for (uint64_t i = 0; i < value[0] && server->failure[0] == '\0'; i++) {
            double start_s = cpu_s();
            int result = step(server, course.row);
            course.step_s[i] = since(server, start_s);
            finish_step(server, &course, result);
        }
    } else {
        for (uint64_t i = 0; i < value[0] / stride; i++) {
            double begin_s = cpu_s();
            run_untimed(server, &course, stride);
            times[i] = since(server, begin_s);
        }
    }
    return course.reset_count;
}

static void obey(struct server *server, const struct fulcrum_worker_command *command,
    struct fulcrum_worker_reply *reply, struct fulcrum_worker_description *description)
{
    bool is_running = server->env != NULL;
    if (command->code == FULCRUM_WORKER_DESCRIBE) {
        describe(server, command, description);
    } else if (command->code == FULCRUM_WORKER_CREATE) {
        create(server, command);
    } else if (command->code == FULCRUM_WORKER_RESET && is_running) {
        reset(server);
    } else if (command->code == FULCRUM_WORKER_STEP && is_running) {
        reply->result = step(server, command->value[0]) == FULCRUM_ENV_END
                            ? FULCRUM_WORKER_END
                            : FULCRUM_WORKER_ON;
    } else if (command->code == FULCRUM_WORKER_RUN && is_running) {
        reply->reset_count = run(server, command->value);
    } else if (command->code == FULCRUM_WORKER_CLOSE) {
        if (is_running) {
            server->api->destroy(server->env);
        }
    } else {
        fail(server, "fulcrum-worker does not know command %u here", command->code);
    }
}

/* Returns 0 where there is nobody to answer any more. */
static int serve_one(struct server *server)
{
    struct fulcrum_worker_command command;
    if (!read_all(&command, sizeof command) || command.magic != FULCRUM_WORKER_MAGIC) {
        return 0;
    }
    current_code = (sig_atomic_t)command.code;
    struct fulcrum_worker_reply reply = {
        .magic = FULCRUM_WORKER_MAGIC, .code = command.code};
    struct fulcrum_worker_description description = {0};
    obey(server, &command, &reply, &description);
    const void *payload = &description;
    if (server->failure[0] != '\0') {
        reply.result = FULCRUM_WORKER_FAILED;
        payload = server->failure;
        reply.payload_byte = (uint32_t)strlen(server->failure);
    } else if (command.code == FULCRUM_WORKER_DESCRIBE) {
        reply.payload_byte = sizeof description;
    }
    return write_all(&reply, sizeof reply) && write_all(payload, reply.payload_byte) &&
           reply.result != FULCRUM_WORKER_FAILED &&
           command.code != FULCRUM_WORKER_CLOSE;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        (void)fprintf(stderr, "fulcrum-worker is started by fulcrum alone\n");
        return 2;
    }
    /*
     * Dies with the thread that started it, leaves no core file, and keeps what it
     * starts as its own children, whatever they do to be rid of it. The parent may have
     * died before the request: then somebody else's child we are.
     */
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGPIPE, SIG_DFL);
    if (strtol(argv[1], NULL, 10) != (long)getppid()) {
        return 1;
    }
    if (strcmp(argv[2], "plugin") == 0) {
        /* Answers commands until the other side closes the socket or says so. */
        struct server server = {.path = argv[3]};
        (void)fcntl(FULCRUM_WORKER_SOCKET_FD, F_SETFD, FD_CLOEXEC);
        (void)fcntl(FULCRUM_WORKER_MEMORY_FD, F_SETFD, FD_CLOEXEC);
        while (serve_one(&server)) {
        }
        return 0;
    }
    (void)execvp(argv[3], argv + 3);
    (void)fprintf(stderr, "%s cannot be run: %s\n", argv[3], strerror(errno));
    return 127;
}
