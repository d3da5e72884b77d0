/* actor_sandbox.c - tool calls of language-model agents, each a real program run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An environment is a sandbox: a folder of its own with a small source tree. A step is
 * a call: a shell that searches and sorts the tree, a compiler, a test in Python, run
 * under bubblewrap where that works, else as a process group with limits. A reset
 * throws the tree away and writes another one.
 *
 * Kinds of calls are dealt from shuffled decks, so that a few decks in a row have the
 * mean work of many calls. The pipe that takes a call's output ends when the last of
 * its processes does: that tells the end, and a limit on it ends calls that hang.
 */
#define _GNU_SOURCE /* pipe2, nftw, wait4 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/actor/actor.h"
#include "calibrate/host.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

/* Mean calls of an episode, whose length is geometric. */
#define EPISODE_CALLS 20.0

/* Of the tree; a source file's functions are what a compile works at. */
enum { SOURCES = 32, TESTS = 8, FUNCTIONS = 40, FOLDER_SIZE = 256, FDS_OF_NFTW = 16 };

/* Tools close their output before they end; this copy they do not know of. */
enum { END_FD = 3 };

/* Kinds of calls; the last two need a program that may not be here. */
enum { SHELL, COMPILE, TEST, KINDS };

struct fulcrum_actor_shared {
    double limit_s;
    bool has_bubblewrap;
    bool has[KINDS];
    char python[FOLDER_SIZE];
};

struct fulcrum_env {
    const struct fulcrum_actor_shared *shared;
    char folder[FOLDER_SIZE];
    struct fulcrum_random random;
    int deck[FULCRUM_CALL_DECK];
    size_t dealt; /* of the deck */
    /* Of all its processes; other threads look at both. */
    _Atomic double cpu_s;
    _Atomic double memory_byte;
    char output[FOLDER_SIZE]; /* the last of it */
    char failure[600];
};

/*
 * In the folder, with limits. The shell ends at once, and its child becomes ours: what
 * a process of our own size leaves in ru_maxrss is not of the call.
 */
static const char launch[] = "cd \"$0\" && ulimit -t 60 && ulimit -v 8388608 && "
                             "TMPDIR=$0 PYTHONDONTWRITEBYTECODE=1 exec \"$@\" &";

static enum fulcrum_status fail_call(
    struct fulcrum_env *env, const char *what, const char *why)
{
    (void)snprintf(env->failure, sizeof env->failure, "sandbox: %s: %.250s", what, why);
    return FULCRUM_ERR_ENVIRONMENT;
}

static int spawn(const struct fulcrum_env *env, const char *script, int out, pid_t *pid)
{
    /* posix_spawn takes what it does not change as if it did. */
    union {
        const char *given[32];
        char *taken[32];
    } argv = {{"/bin/sh", "-c", launch, env->folder}};
    const char *const wrap[] = {"bwrap", "--ro-bind", "/", "/", "--bind", env->folder,
        env->folder, "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--as-pid-1",
        "--chdir", env->folder};
    size_t count = 4;
    for (size_t i = 0; env->shared->has_bubblewrap && i < sizeof wrap / sizeof wrap[0];
         i++) {
        argv.given[count++] = wrap[i];
    }
    argv.given[count++] = "/bin/sh";
    argv.given[count++] = "-c";
    argv.given[count] = script;
    const int fds[][2] = {{out, 1}, {out, 2}, {out, END_FD}};
    return fulcrum_group_spawn(pid, argv.taken, fds, sizeof fds / sizeof fds[0]);
}

/* Reads a call's output to its end, keeping the last of it; false: too late for it. */
static bool read_output(struct fulcrum_env *env, int from)
{
    double until_s = fulcrum_wall_s() + env->shared->limit_s;
    char text[FOLDER_SIZE];
    ssize_t got = 1;
    env->output[0] = '\0';
    while (got > 0) {
        double left_s = until_s - fulcrum_wall_s();
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int ready = left_s > 0.0 ? poll(&wait, 1, (int)ceil(1000.0 * left_s)) : 0;
        if (ready == 0) {
            return false;
        }
        got = ready > 0 ? read(from, text, sizeof text - 1) : 1;
        if (ready > 0 && got > 0) {
            text[got] = '\0';
            memcpy(env->output, text, (size_t)got + 1);
        }
    }
    return true;
}

/* Takes what a call's processes used, and its exit status; who outlives it is ended. */
static int reap(struct fulcrum_env *env, pid_t group)
{
    int found = -1;
    bool has_found = false;
    int status = 0;
    struct rusage used;
    pid_t pid = 1;
    while (pid > 0 || errno == EINTR) {
        pid = wait4(-group, &status, 0, &used);
        if (pid > 0) {
            double cpu_s =
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
            atomic_store(&env->cpu_s, env->cpu_s + cpu_s);
        }
        if (pid > 0 && pid != group) {
            atomic_store(&env->memory_byte,
                fmax(env->memory_byte, 1024.0 * (double)used.ru_maxrss));
            found = has_found ? found : status;
            has_found = true;
            (void)kill(-group, SIGKILL);
        }
    }
    return found;
}

/* A whole call, waited for. Its exit code must be 0. */
static enum fulcrum_status call(
    struct fulcrum_env *env, const char *what, const char *script)
{
    int ends[2];
    pid_t group = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_call(env, what, strerror(errno));
    }
    int failure = spawn(env, script, ends[1], &group);
    (void)close(ends[1]);
    bool is_over = failure != 0 || read_output(env, ends[0]);
    if (!is_over) {
        (void)kill(-group, SIGKILL);
    }
    int status = failure == 0 ? reap(env, group) : 0;
    (void)close(ends[0]);
    if (failure != 0) {
        return fail_call(env, what, strerror(failure));
    }
    char why[FOLDER_SIZE + 64];
    if (!is_over) {
        (void)snprintf(
            why, sizeof why, "took longer than --env-limit %g s", env->shared->limit_s);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(why, sizeof why, "died of signal %d", WTERMSIG(status));
    } else {
        (void)snprintf(why, sizeof why, "exited with code %d: %.200s",
            status < 0 ? 127 : WEXITSTATUS(status), env->output);
    }
    return is_over && status == 0 ? FULCRUM_OK : fail_call(env, what, why);
}

static int remove_entry(
    const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

static void remove_tree(struct fulcrum_env *env)
{
    if (env->folder[0] != '\0') {
        (void)nftw(env->folder, remove_entry, FDS_OF_NFTW, FTW_DEPTH | FTW_PHYS);
        env->folder[0] = '\0';
    }
}

static void write_source(FILE *file, int number)
{
    (void)fprintf(
        file, "/* part %d */\n#include <stdio.h>\n#include <string.h>\n", number);
    for (int i = 0; i < FUNCTIONS; i++) {
        (void)fprintf(file,
            "/* Adds up what part %d has of kind %d. */\n"
            "int part_%d_sum_%d(const int *value, int count)\n{\n"
            "    int sum = %d;\n    for (int i = 0; i < count; i++) {\n"
            "        sum += i %% %d == 0 ? value[i] * %d : value[i];\n    }\n"
            "    return sum;\n}\n",
            number, i, number, i, number * 31 + i, i + 2, number + 3);
    }
}

static void write_test(FILE *file, int number)
{
    (void)fprintf(file,
        "import json, re, unittest\n\nclass Part%d(unittest.TestCase):\n"
        "    def test_sums(self):\n"
        "        text = open('src/part_%d.c').read()\n"
        "        names = re.findall(r'part_[0-9]+_sum_([0-9]+)', text)\n"
        "        self.assertEqual(len(json.loads(json.dumps(names))), %d)\n\n"
        "unittest.main()\n",
        number, number, (int)FUNCTIONS);
}

/* Where a file cannot be written, the calls will say so. */
static void write_file(const struct fulcrum_env *env, const char *name, int number,
    void (*write)(FILE *file, int number))
{
    char path[FOLDER_SIZE + 40];
    (void)snprintf(path, sizeof path, "%s/%s_%d.%s", env->folder, name, number,
        write == write_test ? "py" : "c");
    FILE *file = fopen(path, "we");
    if (file != NULL) {
        write(file, number);
        (void)fclose(file);
    }
}

static enum fulcrum_status make_tree(struct fulcrum_env *env)
{
    char path[FOLDER_SIZE + 8];
    const char *root = getenv("TMPDIR");
    (void)snprintf(env->folder, sizeof env->folder, "%.200s/fulcrum-sandbox-XXXXXX",
        root != NULL && root[0] == '/' ? root : "/tmp");
    if (mkdtemp(env->folder) == NULL) {
        enum fulcrum_status status = fail_call(env, env->folder, strerror(errno));
        env->folder[0] = '\0';
        return status;
    }
    (void)snprintf(path, sizeof path, "%s/src", env->folder);
    if (mkdir(path, 0700) != 0) {
        return fail_call(env, path, strerror(errno));
    }
    for (int i = 0; i < SOURCES; i++) {
        write_file(env, "src/part", i, write_source);
    }
    for (int i = 0; i < TESTS; i++) {
        write_file(env, "test", i, write_test);
    }
    return FULCRUM_OK;
}

static void sandbox_env_free(struct fulcrum_env *env)
{
    remove_tree(env);
    free(env);
}

static enum fulcrum_status sandbox_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *env = calloc(1, sizeof *env);
    TRY_MEMORY(env, err, "a sandbox");
    env->shared = shared;
    env->random = fulcrum_random_seeded(seed);
    env->dealt = FULCRUM_CALL_DECK;
    enum fulcrum_status status = make_tree(env);
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(err, status, "%s", env->failure);
        sandbox_env_free(env);
        return status;
    }
    *out = env;
    return FULCRUM_OK;
}

/* Which kinds of calls there are here, and whether they can be wrapped. */
static enum fulcrum_status look_around(
    struct fulcrum_actor_shared *shared, struct fulcrum_error *err)
{
    struct fulcrum_env *env = NULL;
    TRY(sandbox_env_new(shared, 0, &env, err));
    shared->has_bubblewrap = true;
    shared->has_bubblewrap = call(env, "bwrap", "true") == FULCRUM_OK;
    shared->has[COMPILE] =
        call(env, "cc", "cc -c src/part_0.c -o part.o") == FULCRUM_OK;
    /* The interpreter itself: wrappers of it may take longer than the test. */
    shared->has[TEST] = call(env, "python3",
                            "python3 -c 'import sys, unittest, json; "
                            "print(end=sys.executable)'") == FULCRUM_OK;
    memcpy(shared->python, env->output, sizeof shared->python);
    enum fulcrum_status status = call(env, "sh",
        "find . -type f | sort >names && "
        "grep -q part_0.c names");
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s", env->failure);
        status = FULCRUM_ERR_UNSUPPORTED;
    }
    sandbox_env_free(env);
    return status;
}

static enum fulcrum_status sandbox_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    double frame_skip = 0.0;
    TRY(fulcrum_actor_frame_skip(&frame_skip, options, 1.0, err));
    FAIL_IF(frame_skip != 1.0, err, FULCRUM_ERR_UNSUPPORTED,
        "--frame-skip %g: a call of a tool has no frames", frame_skip);
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "sandboxes");
    shared->limit_s = options != NULL && options->limit_s > 0.0 ? options->limit_s
                                                                : FULCRUM_LOOP_LIMIT_S;
    shared->has[SHELL] = true;
    /* Processes whose parent has ended become ours. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    enum fulcrum_status status = look_around(shared, err);
    if (status != FULCRUM_OK) {
        free(shared);
        return status;
    }
    *info = (struct fulcrum_actor_info){
        .observation_kind = FULCRUM_OBSERVE_UINT8, .frame_skip = 1.0};
    (void)snprintf(info->detail, sizeof info->detail,
        "%s; calls: shell (find, grep, sort)%s%s",
        shared->has_bubblewrap ? "bubblewrap" : "process group with limits, no bwrap",
        shared->has[COMPILE] ? ", compile (cc)" : "; no cc",
        shared->has[TEST] ? ", test (python3)" : ", test (awk; no python3)");
    *out = shared;
    return FULCRUM_OK;
}

static void sandbox_close(struct fulcrum_actor_shared *shared)
{
    free(shared);
}

static int deal(struct fulcrum_env *env)
{
    static const int full[FULCRUM_CALL_DECK] = {SHELL, SHELL, COMPILE, TEST};
    if (env->dealt == FULCRUM_CALL_DECK) {
        env->dealt = 0;
        for (size_t i = 0; i < FULCRUM_CALL_DECK; i++) {
            size_t j = (size_t)(fulcrum_random_bits(&env->random) % (i + 1));
            env->deck[i] = env->deck[j];
            env->deck[j] = full[i];
        }
    }
    return env->deck[env->dealt++];
}

/* A call that cannot be made here is another one. */
static enum fulcrum_status make_call(struct fulcrum_env *env)
{
    const struct fulcrum_actor_shared *shared = env->shared;
    char script[FOLDER_SIZE + 256];
    int kind = deal(env);
    int part = (int)(fulcrum_random_bits(&env->random) % SOURCES);
    if (kind == COMPILE && shared->has[COMPILE]) {
        (void)snprintf(
            script, sizeof script, "exec cc -O1 -c src/part_%d.c -o part.o", part);
        return call(env, "compile", script);
    }
    if (kind == TEST && shared->has[TEST]) {
        (void)snprintf(script, sizeof script, "exec '%s' test_%d.py", shared->python,
            part % TESTS);
        return call(env, "test", script);
    }
    if (kind == TEST) {
        (void)snprintf(script, sizeof script,
            "exec awk '{n += gsub(/sum_[0-9]+/, \"\")} END {exit n < %d}' src/*.c",
            FUNCTIONS * SOURCES);
        return call(env, "test", script);
    }
    (void)snprintf(script, sizeof script,
        "find . -type f >names && cat src/*.c >all && sort all >sorted && "
        "grep -rn 'sum_%d(' src >found && sort -u names >out && tail -n 5 found",
        part);
    return call(env, "shell", script);
}

static enum fulcrum_step_result sandbox_step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    (void)action;
    (void)observation;
    if (make_call(env) != FULCRUM_OK) {
        return FULCRUM_STEP_FAILED;
    }
    bool ends = fulcrum_random_between(&env->random, 0.0, EPISODE_CALLS) < 1.0;
    return ends ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

static enum fulcrum_step_result sandbox_reset(
    struct fulcrum_env *env, void *observation)
{
    (void)observation;
    remove_tree(env);
    return make_tree(env) == FULCRUM_OK ? FULCRUM_STEP_ON : FULCRUM_STEP_FAILED;
}

static const char *sandbox_failure(const struct fulcrum_env *env)
{
    return env->failure;
}

static double sandbox_cpu_s(const struct fulcrum_env *env)
{
    return env->cpu_s;
}

static double sandbox_memory_byte(const struct fulcrum_env *env)
{
    return env->memory_byte;
}

/* CPU time that this thread and the sandbox have used. */
static double used_s(const struct fulcrum_env *env)
{
    return fulcrum_thread_cpu_s() + env->cpu_s;
}

/* Adds step `i`, which took so long without its reset. */
static void note(struct fulcrum_step_log *log, size_t i, double step_s, double reset_s)
{
    if (log->stride == 1) {
        log->step_s[i] = step_s;
    } else if (log->stride > 1) {
        double *sum_s = &log->step_s[i / log->stride];
        *sum_s = (i % log->stride == 0 ? 0.0 : *sum_s) + step_s + reset_s;
    }
}

static enum fulcrum_step_result sandbox_step_many(struct fulcrum_env *env,
    const struct fulcrum_action_rows *rows, size_t count, void *observation,
    struct fulcrum_step_log *log)
{
    enum fulcrum_step_result result = FULCRUM_STEP_ON;
    (void)rows;
    for (size_t i = 0; i < count && result != FULCRUM_STEP_FAILED; i++) {
        double begin_s = used_s(env);
        result = sandbox_step(env, NULL, observation);
        double end_s = used_s(env);
        double reset_s = 0.0;
        if (result == FULCRUM_STEP_END) {
            result = sandbox_reset(env, observation);
            reset_s = used_s(env) - end_s;
            if (log->stride == 1) {
                log->reset_s[log->reset_count] = reset_s;
            }
            log->reset_count++;
        }
        note(log, i, end_s - begin_s, reset_s);
    }
    return result;
}

const struct fulcrum_actor fulcrum_actor_sandbox = {
    .name = "sandbox",
    .summary = "tool calls of an agent: shell, compiler and test in a sandbox",
    .is_tools = true,
    .open = sandbox_open,
    .close = sandbox_close,
    .env_new = sandbox_env_new,
    .env_free = sandbox_env_free,
    .step = sandbox_step,
    .reset = sandbox_reset,
    .failure = sandbox_failure,
    .step_many = sandbox_step_many,
    .cpu_s = sandbox_cpu_s,
    .memory_byte = sandbox_memory_byte,
};
