/* test_worker.c - environments in processes: what they give, and whatever they do. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "calibrate/worker/worker.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/actor/actor_threads.h"
#include "calibrate/probe/calibrate.h"
#include "calibrate/stopwatch.h"
#include "calibrate/worker/worker_protocol.h"
#include "tests/support/probing.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/trial.h"

#define CAR       PLUGIN_FOLDER "/libmountain_car.so"
#define MISBEHAVE PLUGIN_FOLDER "/libmisbehave.so"
#define PENDULUM  "tests/workers/pendulum.py"
#define EXAMPLE   PLUGIN_FOLDER "/libpendulum.so"

/* What an environment is given here, and what nobody may be kept waiting for. */
#define LIMIT_S   1.0
#define AT_MOST_S 10.0

static struct fulcrum_actor_options plugin_options(const char *path)
{
    return (struct fulcrum_actor_options){.plugin = path, .limit_s = LIMIT_S};
}

static struct fulcrum_actor_options pendulum_options(const char *name)
{
    /* Starting an interpreter takes its time on a busy machine. */
    return (struct fulcrum_actor_options){
        .env_id = name, .python = PENDULUM, .limit_s = 3.0 * LIMIT_S};
}

/* One environment of a plug-in, which misbehaves as told; NULL: as it likes. */
static void open_plugin(struct trial *trial, const char *path, const char *fault)
{
    struct fulcrum_actor_options options = plugin_options(path);
    if (fault != NULL) {
        (void)setenv("FULCRUM_TEST_FAULT", fault, 1);
    }
    trial_open(trial, "plugin", &options);
    ASSERT_OK(trial->status);
}

static bool has_python(void)
{
    int found = system("python3 -c '' >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
    if (!found) {
        (void)fprintf(stderr, "skipped: there is no python3\n");
    }
    return found;
}

/* Nothing that was started is left, not even as a zombie. */
static void assert_no_children(void)
{
    errno = 0;
    CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
    CU_ASSERT_EQUAL(errno, ECHILD);
}

TEST(test_plugin_steps_as_its_equations_say)
{
    struct trial trial;
    open_plugin(&trial, CAR, NULL);
    CU_ASSERT_EQUAL(trial.stage.info.observation_kind, FULCRUM_OBSERVE_FLOAT32);
    CU_ASSERT_EQUAL(trial.stage.info.observation_count, 2);
    CU_ASSERT_EQUAL(trial.stage.info.action_count, 1);
    assert_close("frame skip", trial.stage.info.frame_skip, 1.0, 0.0);
    assert_part(trial.stage.info.detail, "mountain car 1.0");
    const float *seen = trial.stepper.observation;
    CU_ASSERT_EQUAL(fulcrum_stepper_reset(&trial.stepper), FULCRUM_STEP_ON);
    float place = seen[0];
    CU_ASSERT(place >= -0.6F && place <= -0.4F);
    CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial.stepper), FULCRUM_STEP_ON);
    float thrust = trial.stage.actions.values[0];
    float speed = 0.0015F * thrust - 0.0025F * cosf(3.0F * place);
    /* Floats of magnitude below 1. */
    CU_ASSERT_DOUBLE_EQUAL((double)seen[1], (double)speed, 1e-7);
    CU_ASSERT_DOUBLE_EQUAL((double)seen[0], (double)(place + speed), 1e-7);
    trial_close(&trial);
    assert_no_children();
}

/* Runs and single steps lead to the same place, over the end of the table too. */
TEST(test_runs_do_what_single_steps_do)
{
    struct trial single;
    struct trial run;
    open_plugin(&single, CAR, NULL);
    open_plugin(&run, CAR, NULL);
    trial_compare(&single, &run, 5000); /* 25 episodes */
    trial_close(&single);
    trial_close(&run);
}

static void assert_times(const double *time_s, size_t count, double least_sum_s)
{
    double sum_s = 0.0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT(time_s[i] >= 0.0 && time_s[i] < AT_MOST_S);
        sum_s += time_s[i];
    }
    CU_ASSERT(sum_s >= least_sum_s);
}

/* More steps than an exchange has room for times. */
TEST(test_steps_and_resets_are_timed_in_the_worker)
{
    enum { COUNT = 10000 };
    static double step_s[COUNT];
    static double reset_s[COUNT];
    struct trial trial;
    open_plugin(&trial, CAR, NULL);
    CU_ASSERT_EQUAL(fulcrum_stepper_has_log(&trial.stepper), 1);
    struct fulcrum_step_log log = {.stride = 1, .step_s = step_s, .reset_s = reset_s};
    double cpu_s = fulcrum_stepper_cpu_s(&trial.stepper);
    ASSERT_OK(fulcrum_stepper_log(&trial.stepper, COUNT, &log, NULL));
    CU_ASSERT_EQUAL(log.reset_count, COUNT / 200);
    assert_times(step_s, COUNT, 1e-6);
    assert_times(reset_s, log.reset_count, 0.0);
    cpu_s = fulcrum_stepper_cpu_s(&trial.stepper) - cpu_s;
    CU_ASSERT(cpu_s > 0.0 && cpu_s < AT_MOST_S);
    log = (struct fulcrum_step_log){.stride = 100, .step_s = step_s};
    ASSERT_OK(fulcrum_stepper_log(&trial.stepper, COUNT, &log, NULL));
    assert_times(step_s, COUNT / 100, 1e-6);
    CU_ASSERT(fulcrum_stepper_memory_byte(&trial.stepper) > 4096.0);
    trial_close(&trial);
}

/* The kernel's clock of the process has all of its threads. */
TEST(test_cpu_time_of_threads_counts)
{
    struct trial trial;
    open_plugin(&trial, MISBEHAVE, "thread");
    double begin_s = fulcrum_stepper_cpu_s(&trial.stepper);
    ASSERT_OK(fulcrum_stepper_run(&trial.stepper, 20, NULL, NULL));
    double cpu_s = fulcrum_stepper_cpu_s(&trial.stepper) - begin_s;
    CU_ASSERT(cpu_s >= 20 * 1.5e-3); /* threads that compute for 2 ms each */
    trial_close(&trial);
}

/* Numbers of processes that wrote themselves down; -1 after the last. */
static void read_pids(const char *path, pid_t *out, size_t room)
{
    char *text = scratch_read(path);
    char *at = text;
    size_t count = 0;
    while (count + 1 < room && *at != '\0') {
        out[count++] = (pid_t)strtol(at, &at, 10);
        at += *at == '\n';
    }
    out[count] = -1;
    free(text);
}

/* On which processors a process may run, as the kernel tells; "" where it is gone. */
static void read_processors(pid_t pid, char *out, size_t out_byte)
{
    char path[64];
    char line[300] = "";
    out[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
            (void)snprintf(
                out, out_byte, "%.100s", line + 18 + strspn(line + 18, " \t"));
        }
    }
    out[strcspn(out, "\n")] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Binds itself to processor 0, then steps. */
static void *step_bound(void *argument)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    bool is_bound = sched_setaffinity(0, sizeof first, &first) == 0;
    (void)fulcrum_stepper_step(argument);
    return is_bound ? argument : NULL;
}

TEST(test_worker_runs_where_its_thread_may)
{
    struct scratch scratch = scratch_new();
    char *pid_file = scratch_path(&scratch, "pids");
    (void)setenv("FULCRUM_TEST_PID", pid_file, 1);
    struct trial trial;
    open_plugin(&trial, MISBEHAVE, NULL);
    (void)unsetenv("FULCRUM_TEST_PID");
    pid_t pids[32] = {-1};
    char here[128];
    char there[128];
    read_pids(pid_file, pids, LENGTH(pids));
    CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial.stepper), FULCRUM_STEP_ON);
    read_processors(getpid(), here, sizeof here);
    read_processors(pids[0], there, sizeof there);
    CU_ASSERT_STRING_EQUAL(there, here);
    pthread_t thread;
    void *bound = NULL;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, step_bound, &trial.stepper), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, &bound), 0);
    read_processors(pids[0], there, sizeof there);
    if (bound != NULL) {
        CU_ASSERT_STRING_EQUAL(there, "0");
    }
    trial_close(&trial);
    free(pid_file);
    scratch_free(&scratch);
}

/* A run of many slow steps is as long as it likes; the limit is that of each. */
TEST(test_slow_steps_do_not_add_up_to_a_failure)
{
    struct trial trial;
    struct fulcrum_actor_options options = plugin_options(MISBEHAVE);
    options.limit_s = 0.2;
    (void)setenv("FULCRUM_TEST_FAULT", "slow", 1);
    trial_open(&trial, "plugin", &options);
    ASSERT_OK(trial.status);
    ASSERT_OK(fulcrum_stepper_run(&trial.stepper, 40, NULL, &trial.err));
    CU_ASSERT_STRING_EQUAL(trial.err.detail, "");
    trial_close(&trial);
}

static const struct fault_case {
    const char *fault;
    const char *says; /* NULL: nothing goes wrong */
} plugin_faults[] = {
    {"nan@42", "element 5 of the observation after step 42 is"},
    {"inf@7", "element 23 of the observation after step 7 is -inf"},
    {"overrun@9", "wrote outside of its observation of 96 bytes"},
    {"underrun", "wrote outside of its observation of 96 bytes"},
    {"overflow@3", "wrote past the end of its observation of 96 bytes in step 3"},
    {"block@77", "step 77 has not returned for 1 s"},
    {"spin@20", "step 20 has not returned for 1 s"},
    {"reset-block", "the reset after step 50 has not returned for 1 s"},
    {"exit@4", "exited with code 3 in step 4"},
    {"abort@5", "died of signal 6 (abort) in step 5"},
    {"kill@6", "died of signal 9"},
    {"crash@8", " in step 8"},
    {"flood", "printed more than 1024 KiB"},
    {"child@2", "step 2 has not returned"},
    {"seven@9", "step 9 returned 7, expected 0 or 1"},
    {"kind", "describes observations of kind 7, expected 1 or 2"},
    {"large", "describes observations of 4611686018427387904 elements"},
    {"no-actions", "describes 0 actions, expected 1 to"},
    {"skip-0", "describes a frame skip of 0, expected 1 to 1000"},
    {"undescribed", "cannot be described: describe returned 5"},
    {"start-block", "has not started within 1 s; --env-limit allows more"},
    {"start-crash", " while it started"},
    {"uncreated", "cannot be created: the moon is in the wrong place"},
    {"version", "was built for version 2 of fulcrum_env.h; this is version 1"},
    {"short-table", "has a table of 16 bytes"},
    {"no-step", "has a table with a function that is NULL"},
    {"no-table", "fulcrum_env_plugin returned NULL"},
    {"long-table", NULL},
    {"destroy-block", NULL},
    {"", NULL},
};

/* Opens, runs 100 steps, closes: all of it soon, with the words that are expected. */
static void expect_fault(const char *actor, const struct fulcrum_actor_options *options,
    const struct fault_case *fault)
{
    struct trial trial;
    double begin_s = fulcrum_wall_s();
    trial_open(&trial, actor, options);
    enum fulcrum_status status = trial.status;
    if (status == FULCRUM_OK) {
        status = fulcrum_stepper_run(&trial.stepper, 100, NULL, &trial.err);
    }
    if (fault->says == NULL) {
        CU_ASSERT_STRING_EQUAL(trial.err.detail, "");
        ASSERT_OK(status);
    } else {
        CU_ASSERT_EQUAL(status, FULCRUM_ERR_ENVIRONMENT);
        assert_part(trial.err.detail, fault->says);
        assert_part(trial.err.detail,
            options->plugin != NULL ? options->plugin : options->env_id);
        CU_ASSERT_PTR_NULL(strchr(trial.err.detail, '\n'));
    }
    trial_close(&trial);
    double spent_s = fulcrum_wall_s() - begin_s;
    if (!(spent_s < AT_MOST_S)) {
        (void)fprintf(stderr, "%s took %.1f s\n", fault->fault, spent_s);
    }
    CU_ASSERT(spent_s < AT_MOST_S);
    assert_no_children();
}

/* Most faults that are waited for at the same time. */
enum { TOGETHER = 4 };

/* The options of one of several faults. */
typedef struct fulcrum_actor_options fault_options(const struct fault_case *fault);

/* A process of its own: what one fault waits for, the others need not. */
static pid_t start_fault(
    const char *actor, fault_options *options_of, const struct fault_case *fault)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        unsigned failures = CU_get_number_of_failures();
        struct fulcrum_actor_options options = options_of(fault);
        (void)setenv("FULCRUM_TEST_FAULT", fault->fault, 1);
        expect_fault(actor, &options, fault);
        _exit(CU_get_number_of_failures() == failures ? 0 : 1);
    }
    CU_ASSERT(child > 0);
    return child;
}

static void expect_end(pid_t child, const struct fault_case *fault)
{
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        (void)fprintf(
            stderr, "\n    fault '%s' is not told as expected\n", fault->fault);
        CU_FAIL("fault");
    }
}

/* Each as expect_fault has it; a few side by side. */
static void expect_faults(const char *actor, fault_options *options_of,
    const struct fault_case *faults, size_t count)
{
    pid_t children[TOGETHER];
    for (size_t i = 0; i < count + TOGETHER; i++) {
        if (i >= TOGETHER) {
            expect_end(children[i % TOGETHER], &faults[i - TOGETHER]);
        }
        if (i < count) {
            children[i % TOGETHER] = start_fault(actor, options_of, &faults[i]);
        }
    }
}

static struct fulcrum_actor_options misbehaving(const struct fault_case *fault)
{
    (void)fault;
    return plugin_options(MISBEHAVE);
}

TEST(test_plugin_faults_are_named)
{
    expect_faults("plugin", misbehaving, plugin_faults, LENGTH(plugin_faults));
    assert_no_children();
}

/* What a server answers to one command, from the other end of its socket. */
static struct fulcrum_worker_reply reply_to(
    const struct fulcrum_worker_command *command, char *text, size_t text_byte)
{
    char program[FULCRUM_WORKER_PATH_SIZE];
    char parent[24];
    char mode[] = "plugin";
    char path[] = CAR;
    (void)snprintf(parent, sizeof parent, "%ld", (long)getpid());
    char *const argv[] = {program, parent, mode, path, NULL};
    struct fulcrum_worker_process process;
    struct fulcrum_worker_reply reply = {0};
    ASSERT_OK(fulcrum_worker_find_program(program, NULL));
    ASSERT_OK(fulcrum_worker_process_start(&process, argv, NULL));
    CU_ASSERT_EQUAL(send(process.socket, command, sizeof *command, 0), 32);
    (void)recv(process.socket, &reply, sizeof reply, MSG_WAITALL);
    ssize_t got = recv(process.socket, text, text_byte - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    CU_ASSERT(fulcrum_worker_process_ended(&process, AT_MOST_S));
    fulcrum_worker_process_end(&process);
    return reply;
}

TEST(test_server_refuses_what_makes_no_sense)
{
    static const struct {
        uint32_t code;
        uint64_t value;
        const char *says;
    } rows[] = {
        {FULCRUM_WORKER_DESCRIBE, 2, "speaks version 1 of the protocol, not 2"},
        {FULCRUM_WORKER_CREATE, 1, "told to create before a description"},
        {FULCRUM_WORKER_RESET, 0, "does not know command 3 here"},
        {FULCRUM_WORKER_STEP, 0, "does not know command 4 here"},
        {FULCRUM_WORKER_RUN, 10, "does not know command 5 here"},
        {77, 0, "does not know command 77 here"},
    };
    char text[FULCRUM_WORKER_TEXT_BYTE + 1];
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_worker_command command = {
            FULCRUM_WORKER_MAGIC, rows[i].code, {rows[i].value, 0, 0}};
        struct fulcrum_worker_reply reply = reply_to(&command, text, sizeof text);
        CU_ASSERT_EQUAL(reply.magic, FULCRUM_WORKER_MAGIC);
        CU_ASSERT_EQUAL(reply.code, rows[i].code);
        CU_ASSERT_EQUAL(reply.result, FULCRUM_WORKER_FAILED);
        CU_ASSERT_EQUAL(reply.payload_byte, strlen(text));
        assert_part(text, rows[i].says);
    }
    /* Whoever speaks something else gets no answer. */
    struct fulcrum_worker_command command = {1, FULCRUM_WORKER_DESCRIBE, {1, 0, 0}};
    struct fulcrum_worker_reply reply = reply_to(&command, text, sizeof text);
    CU_ASSERT_EQUAL(reply.magic, 0);
}

/* Started by hand, or by a parent that has died meanwhile, it does nothing. */
TEST(test_worker_program_is_of_no_use_to_people)
{
    char program[FULCRUM_WORKER_PATH_SIZE];
    char line[FULCRUM_WORKER_PATH_SIZE + 100];
    ASSERT_OK(fulcrum_worker_find_program(program, NULL));
    (void)snprintf(line, sizeof line, "'%s' 2>/dev/null", program);
    int status = system(line); /* NOLINT(cert-env33-c) */
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    (void)snprintf(line, sizeof line, "'%s' 1 exec true", program);
    status = system(line); /* NOLINT(cert-env33-c) */
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(test_failed_environment_stays_failed)
{
    struct trial trial;
    open_plugin(&trial, MISBEHAVE, "exit@3");
    CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial.stepper), FULCRUM_STEP_ON);
    CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial.stepper), FULCRUM_STEP_ON);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial.stepper), FULCRUM_STEP_FAILED);
        CU_ASSERT_EQUAL(fulcrum_stepper_reset(&trial.stepper), FULCRUM_STEP_FAILED);
        CU_ASSERT_EQUAL(fulcrum_stepper_failure(&trial.stepper, &trial.err),
            FULCRUM_ERR_ENVIRONMENT);
        assert_part(trial.err.detail, "environment 1: exited with code 3 in step 3");
    }
    assert_close("CPU time", fulcrum_stepper_cpu_s(&trial.stepper), 0.0, 0.0);
    trial_close(&trial);
}

/* So many environments that misbehave, each on its thread. */
static struct fulcrum_actor_threads *open_crew(
    struct trial *trial, const char *fault, size_t count)
{
    struct fulcrum_actor_threads *crew = NULL;
    open_plugin(trial, MISBEHAVE, fault);
    ASSERT_OK(fulcrum_actor_threads_new(&crew, &trial->stage, count, 1e-6, NULL));
    return crew;
}

TEST(test_crew_tells_of_a_failed_environment)
{
    struct trial trial;
    struct fulcrum_actor_threads *crew = open_crew(&trial, "nan@5000", 3);
    struct fulcrum_actor_threads_reading reading;
    ASSERT_FAILS(fulcrum_actor_threads_window(crew, 3, 0.2, &reading, &err),
        FULCRUM_ERR_ENVIRONMENT, "the observation after step 5000 is");
    fulcrum_actor_threads_free(crew);
    trial_close(&trial);
    assert_no_children();
}

/* Sixteen environments that block when they are to end do not take turns at it. */
TEST(test_many_rude_environments_are_closed_soon)
{
    struct trial trial;
    struct fulcrum_actor_threads *crew = open_crew(&trial, "destroy-block", 16);
    double begin_s = fulcrum_wall_s();
    fulcrum_actor_threads_free(crew);
    CU_ASSERT(fulcrum_wall_s() - begin_s < 4.0 * LIMIT_S);
    trial_close(&trial);
    assert_no_children();
}

static void expect_refused(const char *actor,
    const struct fulcrum_actor_options *options, enum fulcrum_status expected,
    const char *says)
{
    struct trial trial;
    trial_open(&trial, actor, options);
    CU_ASSERT_EQUAL(trial.status, expected);
    assert_part(trial.err.detail, says);
    trial_close(&trial);
}

TEST(test_options_that_cannot_be_are_refused)
{
    static const struct {
        const char *actor;
        const char *program; /* FULCRUM_WORKER; NULL: ours */
        struct fulcrum_actor_options options;
        enum fulcrum_status expected;
        const char *says;
    } rows[] = {
        {"plugin", NULL, {.plugin = "no/such.so"}, FULCRUM_ERR_FILE, "No such file"},
        {"plugin", NULL, {.plugin = "tests"}, FULCRUM_ERR_FILE, "not a regular file"},
        {"plugin", NULL, {.plugin = "README.md"}, FULCRUM_ERR_FORMAT,
            "not a shared object"},
        {"plugin", NULL, {.plugin = NULL}, FULCRUM_ERR_MISSING, "--plugin"},
        {"gym", NULL, {.env_id = NULL}, FULCRUM_ERR_MISSING, "--env"},
        {"gym", NULL, {.env_id = ""}, FULCRUM_ERR_RANGE, "0 bytes"},
        {"plugin", NULL, {.plugin = CAR, .limit_s = 1e9}, FULCRUM_ERR_RANGE,
            "limit_s = 1e+09"},
        {"plugin", NULL, {.plugin = MISBEHAVE, .limit_s = LIMIT_S, .frame_skip = 4.0},
            FULCRUM_ERR_ENVIRONMENT, "takes no other"},
        {"plugin", "/no/such/program", {.plugin = CAR}, FULCRUM_ERR_UNSUPPORTED,
            "/no/such/program"},
        {"plugin", "/bin/true", {.plugin = CAR, .limit_s = LIMIT_S},
            FULCRUM_ERR_ENVIRONMENT, "exited with code 0"},
        {"gym", NULL, {.env_id = "x", .python = "no-such-python"},
            FULCRUM_ERR_ENVIRONMENT, "no-such-python cannot be run: No such file"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].program != NULL) {
            (void)setenv("FULCRUM_WORKER", rows[i].program, 1);
        }
        expect_refused(rows[i].actor, &rows[i].options, rows[i].expected, rows[i].says);
        (void)unsetenv("FULCRUM_WORKER");
    }
}

TEST(test_frame_skip_is_the_plugins_to_keep)
{
    struct trial trial;
    struct fulcrum_actor_options options = plugin_options(CAR);
    options.frame_skip = 3.0;
    trial_open(&trial, "plugin", &options);
    ASSERT_OK(trial.status);
    assert_close("frame skip", trial.stage.info.frame_skip, 3.0, 0.0);
    trial_close(&trial);
}

/* What a worker in another language may get wrong. */
static const struct fault_case worker_faults[] = {
    {"pendulum", NULL},
    {"pendulum@raise", "the string is torn"},
    {"pendulum@garbage", "is no reply of this protocol"},
    {"pendulum@truncated", "ended in the middle of a reply, after 5 of 32 bytes"},
    {"pendulum@half", "has not answered for 3 s, after step 0"},
    {"pendulum@silent", "has not answered for 3 s, after step 0"},
    {"pendulum@dies",
        "exited with code 9 after step 0 (last words: I have had enough)"},
    {"pendulum@deaf", "closed its end of the connection after step 0"},
    {"pendulum@other", "answers another command"},
    {"pendulum@result", "has an unknown result"},
    {"pendulum@payload", "has a payload of another size"},
    {"pendulum@resets", "1099511627776 resets in 100 steps"},
    {"pendulum@long-text", "explains a failure in more than 1000 bytes"},
    {"pendulum@words", NULL},
    {"pendulum@shrink", NULL},
};

static struct fulcrum_actor_options pendulum_of(const struct fault_case *fault)
{
    return pendulum_options(fault->fault);
}

TEST(test_worker_faults_are_named)
{
    if (has_python()) {
        expect_faults("gym", pendulum_of, worker_faults, LENGTH(worker_faults));
    }
    assert_no_children();
}

TEST(test_python_without_gymnasium_is_told_so)
{
    if (!has_python()) {
        return;
    }
    struct fulcrum_actor_options options = pendulum_options("CartPole-v1");
    options.python = "tests/workers/bare_python.sh";
    expect_refused("gym", &options, FULCRUM_ERR_ENVIRONMENT,
        "has no Gymnasium (No module named 'gymnasium'): pip install gymnasium");
    options.env_id = "ALE/Pong-v5";
    expect_refused("gym", &options, FULCRUM_ERR_ENVIRONMENT, "has no Gymnasium");
}

/* One step of a pendulum by hand, from what it shows of itself. */
static void expect_pendulum(struct trial *trial)
{
    CU_ASSERT_EQUAL_FATAL(trial->stage.info.observation_count, 3);
    const float *seen = trial->stepper.observation;
    CU_ASSERT_EQUAL(fulcrum_stepper_reset(&trial->stepper), FULCRUM_STEP_ON);
    double sine = seen[1];
    double speed = seen[2];
    CU_ASSERT_EQUAL(fulcrum_stepper_step(&trial->stepper), FULCRUM_STEP_ON);
    double push = trial->stage.actions.values[0];
    speed += 0.05 * (15.0 * sine + 6.0 * push);
    CU_ASSERT_DOUBLE_EQUAL((double)seen[2], fmax(-8.0, fmin(8.0, speed)), 1e-5);
}

TEST(test_example_of_the_document_works)
{
    struct trial trial;
    open_plugin(&trial, EXAMPLE, NULL);
    assert_part(trial.stage.info.detail, "pendulum 1.0");
    expect_pendulum(&trial);
    size_t reset_count = 0;
    ASSERT_OK(fulcrum_stepper_run(&trial.stepper, 999, &reset_count, NULL));
    CU_ASSERT_EQUAL(reset_count, 5);
    trial_close(&trial);
}

TEST(test_protocol_needs_nothing_but_the_standard_library)
{
    if (!has_python()) {
        return;
    }
    struct trial trial;
    struct fulcrum_actor_options options = pendulum_options("pendulum");
    trial_open(&trial, "gym", &options);
    ASSERT_OK(trial.status);
    expect_pendulum(&trial);
    double step_s[40];
    double reset_s[40];
    struct fulcrum_step_log log = {.stride = 1, .step_s = step_s, .reset_s = reset_s};
    ASSERT_OK(fulcrum_stepper_log(&trial.stepper, 40, &log, NULL));
    assert_times(step_s, 40, 1e-6);
    trial_close(&trial);
    assert_no_children();
}

/* What the document promises of the file. */
static void expect_kept(const struct fulcrum_calibration *calibration)
{
    CU_ASSERT_EQUAL(calibration->complete, 0);
    assert_part(probing_note(calibration, "incomplete"),
        "environment 2: step 20 has not returned");
    assert_part(probing_note(calibration, "actor"), "misbehaving 1");
    CU_ASSERT_PTR_NOT_NULL(
        fulcrum_calibration_quantity(calibration, "env_memory_byte"));
    CU_ASSERT_PTR_NOT_NULL(
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s"));
    ASSERT_OK(fulcrum_calibration_check(calibration, NULL));
}

/* As far as it comes; `err` says why no further. */
static struct fulcrum_calibration *calibrate_plugin(
    const char *path, struct fulcrum_error *err)
{
    const struct fulcrum_calibrate_options options = {
        .actor = "plugin",
        .actor_options = plugin_options(path),
        .network = FULCRUM_NETWORK_MLP,
        .budget_s = 2.5,
        .max_threads = 2,
        .seed = 7,
        .meter_root = "/nonexistent",
    };
    struct fulcrum_calibration *calibration = NULL;
    *err = (struct fulcrum_error){FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_calibrate(&calibration, &options, err);
    CU_ASSERT_EQUAL(err->status, status);
    return calibration;
}

/* The second environment takes few steps in the first probes, many in the third. */
TEST(test_calibration_keeps_what_was_measured)
{
    struct fulcrum_error err;
    if (!probing_has_learner()) {
        return;
    }
    (void)setenv("FULCRUM_TEST_FAULT", "block@20", 1);
    (void)setenv("FULCRUM_TEST_ODD", "1", 1);
    struct fulcrum_calibration *calibration = calibrate_plugin(MISBEHAVE, &err);
    (void)unsetenv("FULCRUM_TEST_FAULT");
    (void)unsetenv("FULCRUM_TEST_ODD");
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_ENVIRONMENT);
    assert_part(err.detail, "environment 2: step 20 has not returned for 1 s");
    CU_ASSERT_PTR_NOT_NULL(calibration);
    if (calibration != NULL) {
        expect_kept(calibration);
    }
    fulcrum_calibration_free(calibration);
    assert_no_children();
}

TEST(test_calibration_measures_a_plugin)
{
    struct fulcrum_error err;
    if (!probing_has_learner()) {
        return;
    }
    struct fulcrum_calibration *calibration = calibrate_plugin(CAR, &err);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(calibration);
    CU_ASSERT(
        fabs(probing_value(calibration, "steps_per_episode") / 200.0 - 1.0) < 0.01);
    /* A few dozen operations: far below what one hand-off to a process costs. */
    double in_runs_s = probing_value(calibration, "actor_step_mean_s");
    CU_ASSERT(in_runs_s > 1e-9 && in_runs_s < 1e-6);
    /* A run pays for that too: two system calls and two changes of context at least. */
    double mean_s = probing_value(calibration, "workload.step.mean_s");
    CU_ASSERT(mean_s > 1e-6 && mean_s < 1e-2);
    fulcrum_calibration_free(calibration);
    assert_no_children();
}

/* The same on the command line: a file, the reason last, exit code 1. */
TEST(test_program_keeps_what_was_measured)
{
    struct scratch scratch = scratch_new();
    char *file = scratch_path(&scratch, "c.json");
    char *said = scratch_path(&scratch, "said");
    char line[2000];
    (void)snprintf(line, sizeof line,
        "FULCRUM_TEST_ODD=1 FULCRUM_TEST_FAULT=nan@20 '%s' calibrate --quiet --actor "
        "plugin --plugin "
        "'%s' --network mlp --budget 10 --threads 2 -o '%s' >/dev/null 2>'%s'",
        PROGRAM, MISBEHAVE, file, said);
    int status = system(line); /* NOLINT(cert-env33-c) */
    CU_ASSERT(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 1);
    char *text = scratch_read(said);
    if (strstr(text, "OpenBLAS") == NULL) {
        assert_part(text, "fulcrum: error: throughput of actor threads: env ");
        assert_part(
            text, ", environment 2: element 5 of the observation after step 20 ");
        char *kept = scratch_read(file);
        assert_part(kept, "\"complete\": false");
        assert_part(kept, "env_memory_byte");
        assert_part(kept, "workload.step.mean_s");
        assert_part(kept, "\"incomplete\": \"throughput of actor threads: env ");
        free(kept);
    }
    free(text);
    free(said);
    free(file);
    scratch_free(&scratch);
}

static int all_are_gone(const pid_t *pids)
{
    for (; *pids > 0; pids++) {
        if (kill(*pids, 0) == 0) {
            return 0;
        }
    }
    return 1;
}

static void await_gone(const pid_t *pids)
{
    bool is_clean = 0;
    for (int i = 0; i < 300 && !is_clean; i++) {
        fulcrum_sleep_s(0.01);
        /* What a program that was killed leaves behind is ours. */
        (void)waitpid(-1, NULL, WNOHANG);
        is_clean = all_are_gone(pids);
    }
    CU_ASSERT(is_clean);
}

static pid_t start_program(const char *pid_file)
{
    pid_t child = fork();
    if (child == 0) {
        (void)setenv("FULCRUM_TEST_FAULT", "block@9", 1);
        (void)setenv("FULCRUM_TEST_PID", pid_file, 1);
        (void)execl(PROGRAM, PROGRAM, "calibrate", "--quiet", "--actor", "plugin",
            "--plugin", MISBEHAVE, "--env-limit", "60", "-o", "/dev/null", NULL);
        _exit(127);
    }
    return child;
}

/* Even a program that is killed takes its workers along. */
TEST(test_workers_die_with_the_program)
{
    if (!probing_has_learner()) {
        return;
    }
    struct scratch scratch = scratch_new();
    char *pid_file = scratch_path(&scratch, "pids");
    pid_t program = start_program(pid_file);
    pid_t pids[32] = {-1};
    for (int i = 0; i < 500 && pids[0] <= 0; i++) {
        fulcrum_sleep_s(0.01);
        read_pids(pid_file, pids, LENGTH(pids));
    }
    CU_ASSERT(pids[0] > 0);
    CU_ASSERT_EQUAL(all_are_gone(pids), 0);
    (void)kill(program, SIGKILL);
    (void)waitpid(program, NULL, 0);
    await_gone(pids);
    free(pid_file);
    scratch_free(&scratch);
}

static void expect_no_child(const struct fault_case *fault, const char *fault_at)
{
    struct scratch scratch = scratch_new();
    char *pid_file = scratch_path(&scratch, "pids");
    (void)setenv("FULCRUM_TEST_PID", pid_file, 1);
    (void)setenv("FULCRUM_TEST_FAULT", fault_at, 1);
    struct fulcrum_actor_options options = plugin_options(MISBEHAVE);
    expect_fault("plugin", &options, fault);
    (void)unsetenv("FULCRUM_TEST_PID");
    pid_t pids[32] = {-1};
    read_pids(pid_file, pids, LENGTH(pids));
    CU_ASSERT(pids[0] > 0 && pids[1] > 0);
    await_gone(pids);
    free(pid_file);
    scratch_free(&scratch);
}

/* What an environment has started goes with its group, or in a session of its own. */
TEST(test_children_of_an_environment_are_killed)
{
    expect_no_child(
        &(struct fault_case){"child", "step 2 has not returned"}, "child@2");
    expect_no_child(
        &(struct fault_case){"apart", "step 2 has not returned"}, "apart@2");
    expect_no_child(
        &(struct fault_case){"orphan", "exited with code 3 in step 2"}, "orphan@2");
}
