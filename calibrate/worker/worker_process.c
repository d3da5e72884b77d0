/* worker_process.c - a child process that cannot harm us, nor outlive us. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every worker starts as fulcrum-worker (worker_main.c), which isolates itself and then
 * becomes what was asked for: posix_spawn is cheap from a large process with many
 * threads, but cannot ask the kernel for a signal at the parent's death. Control runs
 * over a socket rather than pipes: writing to a dead worker must not end us by SIGPIPE.
 */
#define _GNU_SOURCE

#include "calibrate/worker/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/host.h"
#include "calibrate/stopwatch.h"
#include "calibrate/worker/worker_protocol.h"
#include "model/try.h"

/* Descriptors of ours that go to a worker lie above those that it gets them as. */
#define FIRST_FD 10

/* Reads of 4 KiB that empty a full pipe. */
#define DRAIN_COUNT 16

/* Between two looks at a process that is to end. */
#define REAP_PAUSE_S 0.002

/* Processes of one worker that are looked after. */
#define FAMILY_MOST 1024

/* Orphans may leave orphans, so often. */
#define ORPHAN_ROUNDS 64

/* The folder of this program; 0 where the kernel does not tell. */
static int own_folder(char out[FULCRUM_WORKER_PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", out, FULCRUM_WORKER_PATH_SIZE - 1);
    if (length <= 0) {
        return 0;
    }
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL) {
        return 0;
    }
    *slash = '\0';
    return 1;
}

/* 1 where `folder`/`rest` may be used as `mode` (of access) says; it is `out` then. */
static bool is_there(
    char out[FULCRUM_WORKER_PATH_SIZE], const char *folder, const char *rest, int mode)
{
    int length = snprintf(out, FULCRUM_WORKER_PATH_SIZE, "%s%s", folder, rest);
    return length > 0 && length < FULCRUM_WORKER_PATH_SIZE && access(out, mode) == 0;
}

enum fulcrum_status fulcrum_worker_find_program(
    char out[FULCRUM_WORKER_PATH_SIZE], struct fulcrum_error *err)
{
    char folder[FULCRUM_WORKER_PATH_SIZE];
    const char *told = getenv("FULCRUM_WORKER");
    if (told != NULL && told[0] != '\0') {
        FAIL_IF(!is_there(out, told, "", X_OK), err, FULCRUM_ERR_UNSUPPORTED,
            "FULCRUM_WORKER = %s: expected a program", told);
        return FULCRUM_OK;
    }
    bool is_found =
        (own_folder(folder) &&
            (is_there(out, folder, "/fulcrum-worker", X_OK) ||
                is_there(out, folder, "/../libexec/fulcrum/fulcrum-worker", X_OK))) ||
        is_there(out, FULCRUM_LIBEXEC_DIR, "/fulcrum-worker", X_OK);
    FAIL_IF(!is_found, err, FULCRUM_ERR_UNSUPPORTED,
        "there is no fulcrum-worker beside this program, in ../libexec/fulcrum or in "
        "%s: FULCRUM_WORKER may name it",
        FULCRUM_LIBEXEC_DIR);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_worker_find_python(
    char out[FULCRUM_WORKER_PATH_SIZE], const char *name, struct fulcrum_error *err)
{
    char folder[FULCRUM_WORKER_PATH_SIZE];
    char beside[64];
    (void)snprintf(beside, sizeof beside, "/../share/fulcrum%s", name);
    bool is_found = (own_folder(folder) && is_there(out, folder, beside, R_OK)) ||
                    is_there(out, FULCRUM_SHARE_DIR, name, R_OK);
    FAIL_IF(!is_found, err, FULCRUM_ERR_UNSUPPORTED,
        "there is no %s in ../share/fulcrum beside this program or in %s", name + 1,
        FULCRUM_SHARE_DIR);
    return FULCRUM_OK;
}

/* Moves `fd` out of the way of the numbers that a worker knows; -1 where it cannot. */
static int lift(int fd)
{
    if (fd < 0) {
        return -1;
    }
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    (void)close(fd);
    return lifted;
}

/* Both ends of what a worker is connected by; its own ends are closed after the start.
 */
struct ends {
    int socket[2];
    int output[2];
    int memory;
};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

static void close_ends(struct ends *ends)
{
    int *const all[] = {&ends->socket[0], &ends->socket[1], &ends->output[0],
        &ends->output[1], &ends->memory};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        close_fd(all[i]);
    }
}

static int open_ends(struct ends *ends)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->socket) != 0 ||
        pipe2(ends->output, O_CLOEXEC) != 0) {
        return 0;
    }
    ends->memory = lift(memfd_create("fulcrum", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ends->socket[1] = lift(ends->socket[1]);
    ends->output[1] = lift(ends->output[1]);
    return ends->memory >= 0 && ends->socket[1] >= 0 && ends->output[1] >= 0 &&
           fcntl(ends->output[0], F_SETFL, O_NONBLOCK) == 0;
}

static enum fulcrum_status connect_ends(struct ends *ends, struct fulcrum_error *err)
{
    if (open_ends(ends)) {
        return FULCRUM_OK;
    }
    if (errno == EMFILE) {
        close_ends(ends);
        /* Many workers need more descriptors than a shell usually allows. */
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
            limit.rlim_cur = limit.rlim_max;
            (void)setrlimit(RLIMIT_NOFILE, &limit);
        }
        if (open_ends(ends)) {
            return FULCRUM_OK;
        }
    }
    int reason = errno;
    close_ends(ends);
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "a worker process cannot be connected: %s", strerror(reason));
}

enum fulcrum_status fulcrum_worker_process_start(
    struct fulcrum_worker_process *out, char *const *argv, struct fulcrum_error *err)
{
    struct ends ends;
    /* What a worker that has died leaves behind becomes ours. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    TRY(connect_ends(&ends, err));
    struct fulcrum_worker_process process = {.socket = ends.socket[0],
        .output_fd = ends.output[0],
        .memory_fd = ends.memory};
    const int fds[][2] = {{ends.output[1], 1}, {ends.output[1], 2},
        {ends.socket[1], FULCRUM_WORKER_SOCKET_FD},
        {ends.memory, FULCRUM_WORKER_MEMORY_FD}};
    int failure =
        fulcrum_group_spawn(&process.pid, argv, fds, sizeof fds / sizeof fds[0]);
    if (failure != 0) {
        close_ends(&ends);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "the worker program %s does not start: %s", argv[0], strerror(failure));
    }
    (void)close(ends.socket[1]);
    (void)close(ends.output[1]);
    (void)clock_getcpuclockid(process.pid, &process.clock);
    *out = process;
    return FULCRUM_OK;
}

/* Adds the children of a process, of all its threads. */
static size_t add_children(pid_t parent, pid_t out[FAMILY_MOST], size_t count)
{
    char path[300];
    char text[4096];
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)parent);
    DIR *tasks = opendir(path);
    struct dirent *task = tasks != NULL ? readdir(tasks) : NULL;
    for (; task != NULL; task = readdir(tasks)) {
        (void)snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)parent,
            task->d_name);
        if (!fulcrum_host_read_line("", path, "", text, sizeof text)) {
            continue;
        }
        /* Every number has a space behind it: one that was cut off has none. */
        char *at = text;
        long child = strtol(at, &at, 10);
        for (; *at == ' ' && child > 0 && count < FAMILY_MOST;
             child = strtol(at, &at, 10)) {
            out[count++] = (pid_t)child;
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return count;
}

/* All that a process has started, and those in turn, itself first. */
static size_t find_family(pid_t pid, pid_t out[FAMILY_MOST])
{
    size_t count = 1;
    out[0] = pid;
    for (size_t i = 0; i < count; i++) {
        count = add_children(out[i], out, count);
    }
    return count;
}

static void wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
}

/*
 * Ends what a dead worker had started. Its group has been killed. Who is in a session
 * of its own was not, and is known by that: a worker alive keeps its children, and is
 * in our session itself.
 */
static void end_orphans(pid_t group)
{
    while (waitpid(-group, NULL, 0) > 0) {
    }
    size_t found = 1;
    for (int round = 0; found > 0 && round < ORPHAN_ROUNDS; round++) {
        pid_t child[FAMILY_MOST];
        size_t count = add_children(getpid(), child, 0);
        found = 0;
        for (size_t i = 0; i < count; i++) {
            if (getsid(child[i]) > 0 && getsid(child[i]) != getsid(0)) {
                (void)kill(child[i], SIGKILL);
                wait_for(child[i], NULL);
                found++;
            }
        }
    }
}

/* The group too, and what has left it: nothing that it started must stay behind. */
static void reap(struct fulcrum_worker_process *process)
{
    pid_t family[FAMILY_MOST];
    (void)kill(process->pid, SIGSTOP);
    size_t count = find_family(process->pid, family);
    (void)kill(-process->pid, SIGKILL);
    for (size_t i = 0; i < count; i++) {
        (void)kill(family[i], SIGKILL);
    }
    pid_t group = process->pid;
    wait_for(process->pid, &process->exit_status);
    process->pid = 0;
    for (size_t i = 1; i < count; i++) {
        wait_for(family[i], NULL);
    }
    end_orphans(group);
}

void fulcrum_worker_process_end(struct fulcrum_worker_process *process)
{
    if (process->pid > 0) {
        reap(process);
    }
    close_fd(&process->socket);
    close_fd(&process->output_fd);
    close_fd(&process->memory_fd);
}

/* Without reaping it: its group must not be gone before it has been killed. */
static bool has_ended(const struct fulcrum_worker_process *process)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

int fulcrum_worker_process_ended(struct fulcrum_worker_process *process, double limit_s)
{
    if (process->pid <= 0) {
        return 1;
    }
    double until_s = fulcrum_wall_s() + limit_s;
    while (!has_ended(process)) {
        if (fulcrum_wall_s() >= until_s) {
            return 0;
        }
        fulcrum_sleep_s(REAP_PAUSE_S);
    }
    reap(process);
    return 1;
}

static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, " (segmentation fault)"},
        {SIGABRT, " (abort)"},
        {SIGBUS, " (bus error)"},
        {SIGFPE, " (arithmetic fault)"},
        {SIGILL, " (illegal instruction)"},
        {SIGKILL, " (kill; the kernel does so where memory runs out)"},
        {SIGTERM, " (terminate)"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "";
}

void fulcrum_worker_process_describe_end(
    const struct fulcrum_worker_process *process, char *out, size_t out_byte)
{
    int status = process->exit_status;
    if (WIFSIGNALED(status)) {
        (void)snprintf(out, out_byte, "died of signal %d%s", WTERMSIG(status),
            signal_name(WTERMSIG(status)));
    } else {
        (void)snprintf(out, out_byte, "exited with code %d", WEXITSTATUS(status));
    }
}

static void keep_tail(
    struct fulcrum_worker_output *output, const char *text, size_t byte)
{
    size_t room = sizeof output->tail;
    if (byte > room) {
        text += byte - room;
        byte = room;
    }
    size_t kept = output->tail_byte;
    kept = kept > room - byte ? room - byte : kept;
    memmove(output->tail, output->tail + (output->tail_byte - kept), kept);
    memcpy(output->tail + kept, text, byte);
    output->tail_byte = kept + byte;
}

size_t fulcrum_worker_process_drain(struct fulcrum_worker_process *process)
{
    char text[4096];
    size_t total = 0;
    ssize_t got = 1;
    /* No more than the pipe holds: who prints for ever must not keep us here. */
    for (int i = 0; i < DRAIN_COUNT && got > 0 && process->output_fd >= 0; i++) {
        got = read(process->output_fd, text, sizeof text);
        if (got > 0) {
            keep_tail(&process->output, text, (size_t)got);
            total += (size_t)got;
        }
    }
    process->output.total_byte += total;
    return total;
}

void fulcrum_worker_process_last_words(
    const struct fulcrum_worker_process *process, char *out, size_t out_byte)
{
    const struct fulcrum_worker_output *output = &process->output;
    size_t end = output->tail_byte;
    while (end > 0 && (unsigned char)output->tail[end - 1] <= ' ') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && output->tail[begin - 1] != '\n') {
        begin--;
    }
    size_t length = end - begin < out_byte - 1 ? end - begin : out_byte - 1;
    for (size_t i = 0; i < length; i++) {
        char sign = output->tail[begin + i];
        /* Colours and whatever else would upset a terminal. */
        out[i] = (char)((unsigned char)sign < ' ' || sign == 127 ? ' ' : sign);
    }
    out[length] = '\0';
}

void fulcrum_worker_process_follow(const struct fulcrum_worker_process *process)
{
    char path[64];
    cpu_set_t processors;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)process->pid);
    DIR *tasks = sched_getaffinity(0, sizeof processors, &processors) == 0
                     ? opendir(path)
                     : NULL;
    struct dirent *task = tasks != NULL ? readdir(tasks) : NULL;
    for (; task != NULL; task = readdir(tasks)) {
        pid_t thread = (pid_t)strtol(task->d_name, NULL, 10);
        /* "." and ".." are no numbers; a thread that has just ended is no matter. */
        if (thread > 0) {
            (void)sched_setaffinity(thread, sizeof processors, &processors);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

double fulcrum_worker_process_cpu_s(const struct fulcrum_worker_process *process)
{
    /* Nothing but the clock, which does not change: another thread may be reaping. */
    double used_s = fulcrum_clock_s(process->clock);
    return used_s > 0.0 ? used_s : 0.0;
}

double fulcrum_worker_process_memory_byte(const struct fulcrum_worker_process *process)
{
    return process->pid > 0 ? fulcrum_host_memory_byte(process->pid, 1) : 0.0;
}

/* Memory that is shared counts in parts; 0 where the kernel does not tell. */
static double shared_out_byte(pid_t pid)
{
    char path[64];
    char line[128];
    (void)snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    bool is_told = fulcrum_host_read_line("", path, "Pss:", line, sizeof line);
    return is_told ? 1024.0 * strtod(line + 4, NULL) : 0.0;
}

double fulcrum_worker_process_excess_byte(
    const struct fulcrum_worker_process *process, double most_byte)
{
    pid_t family[FAMILY_MOST];
    size_t count = process->pid > 0 ? find_family(process->pid, family) : 0;
    double byte = 0.0;
    for (size_t i = 0; i < count; i++) {
        byte += fulcrum_host_memory_byte(family[i], 0);
    }
    if (byte <= most_byte) {
        return 0.0;
    }
    /* What forked processes share was counted for each of them: look closer. */
    byte = 0.0;
    for (size_t i = 0; i < count; i++) {
        byte += shared_out_byte(family[i]);
    }
    return byte > most_byte ? byte : 0.0;
}
