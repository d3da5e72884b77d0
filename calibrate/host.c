/* host.c - the machine this program runs on, and what is noted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hwloc knows the topology of machines and of the part that a container may use: what
 * this process may not use is not there, and a container's quota is told beside it.
 * Clock and name are texts of the kernel, and often absent in virtual machines; what
 * is not told stays unknown.
 */
#define _GNU_SOURCE /* sched_getaffinity, syscall */

#include "calibrate/host.h"

#include <ctype.h>
#include <fcntl.h>
#include <hwloc.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "model/design/design.h"
#include "model/try.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

int fulcrum_host_read_line(
    const char *root, const char *path, const char *key, char *line, size_t size)
{
    char name[512];
    int got = 0;
    (void)snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "re");
    while (file != NULL && !got && fgets(line, (int)size, file) != NULL) {
        got = strncmp(line, key, strlen(key)) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    line[got ? strcspn(line, "\n") : 0] = '\0';
    return got;
}

/* The whole number in a file below the processor's folder; -1 where there is none. */
static long cpu_number(const char *root, size_t cpu, const char *path)
{
    char name[128];
    char line[64];
    (void)snprintf(name, sizeof name, CPU_FOLDER "/cpu%zu/%s", cpu, path);
    if (!fulcrum_host_read_line(root, name, "", line, sizeof line)) {
        return -1;
    }
    return strtol(line, NULL, 10);
}

/* The text behind "key   :" in /proc/cpuinfo, of the first processor; "" if none. */
static const char *read_cpuinfo(const char *root, const char *key, char line[512])
{
    (void)fulcrum_host_read_line(root, "/proc/cpuinfo", key, line, 512);
    const char *value = line + strcspn(line, ":");
    return value + strspn(value, ": \t");
}

void fulcrum_host_read_cpuinfo(struct fulcrum_cpu *out, const char *root)
{
    char line[512];
    const char *name = read_cpuinfo(root, "model name", line);
    (void)snprintf(out->name, sizeof out->name, "%s",
        name[0] != '\0' ? name : "unknown processor");
    /* The base clock where the driver tells it: /proc/cpuinfo shows the moment's clock.
     */
    long base_khz = cpu_number(root, 0, "cpufreq/base_frequency");
    double clock_hz = base_khz > 0
                          ? 1e3 * (double)base_khz
                          : 1e6 * strtod(read_cpuinfo(root, "cpu MHz", line), NULL);
    out->clock_hz = clock_hz > 0.0 ? clock_hz : (double)NAN;
}

double fulcrum_host_quota_cores(const char *root)
{
    char line[128];
    char *end = line;
    if (!fulcrum_host_read_line(
            root, "/sys/fs/cgroup/cpu.max", "", line, sizeof line)) {
        return (double)NAN;
    }
    double quota_us = strtod(line, &end);
    double period_us = strtod(end, NULL);
    /* "max 100000" is no quota: no number is read. */
    int given = end != line && quota_us > 0.0 && period_us > 0.0;
    return given ? quota_us / period_us : (double)NAN;
}

/* Of "user nice system idle iowait ...": waiting for a disk is idle, too. */
static double idle_s_of(const char *line)
{
    enum { IDLE = 3, IO_WAIT = 4 };
    long per_s = sysconf(_SC_CLK_TCK);
    double ticks = 0.0;
    for (int i = 0; i <= IO_WAIT; i++) {
        char *end = NULL;
        double field = strtod(line, &end);
        if (end == line || per_s <= 0) {
            return (double)NAN;
        }
        ticks += i >= IDLE ? field : 0.0;
        line = end;
    }
    return ticks / (double)per_s;
}

static double own_cpu_s(void)
{
    double cpu_s = 0.0;
    const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (size_t i = 0; i < sizeof whose / sizeof whose[0]; i++) {
        struct rusage used;
        if (getrusage(whose[i], &used) == 0) {
            cpu_s += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
        }
    }
    return cpu_s;
}

/*
 * Idle time is counted to the microsecond, while user and system time go to whoever
 * runs when the clock ticks: threads that yield at ticks, as two that share a core do,
 * would get more than they use.
 */
struct fulcrum_host_idle fulcrum_host_idle(const char *root)
{
    struct fulcrum_host_idle idle = {
        .wall_s = fulcrum_wall_s(), .idle_s = (double)NAN, .own_s = own_cpu_s()};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *file = fopen(path, "r");
    char line[512];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "cpu ", 4) == 0) {
            idle.idle_s = idle_s_of(line + 4);
        }
        /* "cpu0", "cpu1", ...: one of each processor that is in use. */
        idle.processor_count +=
            strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)line[3]);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return idle;
}

double fulcrum_host_busy_s(
    const struct fulcrum_host_idle *begin, const struct fulcrum_host_idle *end)
{
    double passed_s = end->processor_count * (end->wall_s - begin->wall_s);
    return passed_s - (end->idle_s - begin->idle_s);
}

double fulcrum_host_others_s(
    const struct fulcrum_host_idle *begin, const struct fulcrum_host_idle *end)
{
    return fulcrum_host_busy_s(begin, end) - (end->own_s - begin->own_s);
}

/* NULL where hwloc cannot tell; given back with hwloc_topology_destroy. */
static hwloc_topology_t load_topology(void)
{
    hwloc_topology_t topology = NULL;
    if (hwloc_topology_init(&topology) != 0) {
        return NULL;
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return NULL;
    }
    return topology;
}

static size_t count_type(
    hwloc_topology_t topology, hwloc_const_cpuset_t allowed, hwloc_obj_type_t type)
{
    size_t count = 0;
    for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, NULL);
         object != NULL; object = hwloc_get_next_obj_by_type(topology, type, object)) {
        count += hwloc_bitmap_intersects(object->cpuset, allowed) != 0;
    }
    return count;
}

static void count_hwloc(struct fulcrum_cpu *out)
{
    hwloc_topology_t topology = load_topology();
    if (topology == NULL) {
        return;
    }
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (allowed != NULL &&
        hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
        out->thread_count = (double)count_type(topology, allowed, HWLOC_OBJ_PU);
        out->core_count = (double)count_type(topology, allowed, HWLOC_OBJ_CORE);
        out->socket_count = (double)count_type(topology, allowed, HWLOC_OBJ_PACKAGE);
    }
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
}

/* How many caches of one type there are, and the size of the first. */
static void append_cache(
    hwloc_topology_t topology, hwloc_obj_type_t type, char *text, size_t size)
{
    hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, type, NULL);
    int count = hwloc_get_nbobjs_by_type(topology, type);
    size_t used = strlen(text);
    if (cache == NULL || count < 1 || cache->attr == NULL) {
        return;
    }
    char name[32];
    (void)hwloc_obj_type_snprintf(name, sizeof name, cache, 0);
    (void)snprintf(text + used, size - used, "%s%s %d x %.0f KiB", used > 0 ? ", " : "",
        name, count, (double)cache->attr->cache.size / 1024.0);
}

void fulcrum_host_describe_caches(char *text, size_t size)
{
    static const hwloc_obj_type_t types[] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
    hwloc_topology_t topology = load_topology();
    text[0] = '\0';
    for (size_t i = 0; topology != NULL && i < sizeof types / sizeof types[0]; i++) {
        append_cache(topology, types[i], text, size);
    }
    if (topology != NULL) {
        hwloc_topology_destroy(topology);
    }
    if (text[0] == '\0') {
        (void)snprintf(text, size, "unknown");
    }
}

/* The kernel's sched_attr in its first form; C libraries came to have it late. */
enum { ATTRIBUTES_SIZE = 48, POLICY_AT = 4, RUNTIME_AT = 24 };

double fulcrum_host_slice_s(void)
{
    unsigned char found[ATTRIBUTES_SIZE] = {0};
#ifdef SYS_sched_getattr
    if (syscall(SYS_sched_getattr, 0, found, ATTRIBUTES_SIZE, 0) != 0) {
        return 0.0;
    }
#endif
    uint32_t policy;
    uint64_t runtime_ns;
    memcpy(&policy, found + POLICY_AT, sizeof policy);
    memcpy(&runtime_ns, found + RUNTIME_AT, sizeof runtime_ns);
    /* Of a deadline policy this is a budget, not a slice. */
    bool has_slices = policy == SCHED_OTHER || policy == SCHED_BATCH;
    return has_slices ? (double)runtime_ns / 1e9 : 0.0;
}

void fulcrum_host_detect(struct fulcrum_machine *out)
{
    struct fulcrum_design blank;
    fulcrum_design_init(&blank);
    *out = blank.machine;
    out->accelerator = FULCRUM_ACCELERATOR_CPU;
    out->learner_core_count = 1.0;
    out->gpu.count = 0.0;
    (void)snprintf(out->name, sizeof out->name, "this");
    struct fulcrum_cpu *cpu = &out->cpu;
    count_hwloc(cpu);
    cpu->thread_count = fmax(cpu->thread_count, 1.0);
    cpu->core_count = fmin(fmax(cpu->core_count, 1.0), cpu->thread_count);
    cpu->socket_count = fmin(fmax(cpu->socket_count, 1.0), cpu->core_count);
    fulcrum_host_read_cpuinfo(cpu, "");
    cpu->slice_s = fulcrum_host_slice_s();
    (void)snprintf(out->title, sizeof out->title, "This machine: %s", cpu->name);
}

void fulcrum_host_find_cores(unsigned short *core_of, size_t count)
{
    for (size_t cpu = 0; cpu < count; cpu++) {
        core_of[cpu] = (unsigned short)cpu;
    }
    hwloc_topology_t topology = load_topology();
    if (topology == NULL) {
        return;
    }
    int core_count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < core_count; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);
        int first = hwloc_bitmap_first(core->cpuset);
        for (int cpu = first; cpu >= 0 && (size_t)cpu < count;
             cpu = hwloc_bitmap_next(core->cpuset, cpu)) {
            core_of[cpu] = (unsigned short)first;
        }
    }
    hwloc_topology_destroy(topology);
}

double fulcrum_host_memory_byte(long process, int is_alone)
{
    char path[64] = "/proc/self/statm";
    char line[128];
    if (process > 0) {
        (void)snprintf(path, sizeof path, "/proc/%ld/statm", process);
    }
    if (!fulcrum_host_read_line("", path, "", line, sizeof line)) {
        return 0.0;
    }
    char *at = line;
    (void)strtod(line, &at); /* address space */
    double resident = strtod(at, &at);
    double shared = is_alone ? strtod(at, NULL) : 0.0;
    return (resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

/* On what and with what a calibration was measured. */

#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER ""
#endif
#if defined(NDEBUG)
#define ASSERTIONS "; assertions off"
#else
#define ASSERTIONS ""
#endif

static void host_name(char *text, size_t size)
{
    if (gethostname(text, size - 1) != 0) {
        text[0] = '\0';
    }
}

static void cpu_model(char *text, size_t size)
{
    struct fulcrum_cpu cpu = {.name = ""};
    fulcrum_host_read_cpuinfo(&cpu, "");
    (void)snprintf(text, size, "%s", cpu.name);
}

static void kernel(char *text, size_t size)
{
    struct utsname name;
    if (uname(&name) == 0) {
        (void)snprintf(
            text, size, "%.60s %.60s %.60s", name.sysname, name.release, name.machine);
    }
}

static void virtualisation(char *text, size_t size)
{
    char vendor[100];
    char flags[8192];
    (void)fulcrum_host_read_line("", "/proc/cpuinfo", "flags", flags, sizeof flags);
    int virtual = strstr(flags, " hypervisor") != NULL;
    (void)fulcrum_host_read_line(
        "", "/sys/class/dmi/id/sys_vendor", "", vendor, sizeof vendor);
    (void)snprintf(text, size, "%s%s%s",
        virtual ? "virtual machine: the hypervisor may take time away"
                : "no hypervisor seen",
        vendor[0] != '\0' ? "; system vendor " : "", vendor);
}

static void affinity(char *text, size_t size)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        (void)snprintf(text, size,
            "%d of %ld online processors; threads are not pinned", CPU_COUNT(&set),
            sysconf(_SC_NPROCESSORS_ONLN));
    }
}

static void quota(char *text, size_t size)
{
    double cores = fulcrum_host_quota_cores("");
    if (isnan(cores)) {
        (void)snprintf(text, size, "none");
    } else {
        (void)snprintf(text, size, "%.4g cores", cores);
    }
}

static void date(char *text, size_t size)
{
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL) {
        (void)strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

/* Found in one of three ways. */
struct fact {
    const char *key;
    void (*find)(char *text, size_t size); /* "" on entry */
    const char *file;                      /* whose first line it is */
    const char *text;
};

static const struct fact facts[] = {
    {"host", .find = host_name},
    {"cpu_model", .find = cpu_model},
    {"caches", .find = fulcrum_host_describe_caches},
    {"kernel", .find = kernel},
    {"virtualisation", .find = virtualisation},
    {"affinity", .find = affinity},
    {"cpu_quota", .find = quota},
    {"clock_governor", .file = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"load_average", .file = "/proc/loadavg"},
    {"compiler", .text = COMPILER ASSERTIONS},
    {"tool", .text = "fulcrum " FULCRUM_VERSION},
    {"date", .find = date},
};

/* Variables that change what the learner's library does. */
static const char *const prefixes[] = {"OPENBLAS_", "OMP_", "GOTO_NUM_THREADS"};

static enum fulcrum_status add_variable(struct fulcrum_calibration *calibration,
    const char *entry, struct fulcrum_error *err)
{
    char key[48];
    size_t length = strcspn(entry, "=");
    int steers = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        steers = steers || strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0;
    }
    if (!steers || entry[length] != '=' || length >= sizeof key) {
        return FULCRUM_OK;
    }
    memcpy(key, entry, length);
    key[length] = '\0';
    return fulcrum_calibration_add_note(calibration, key, entry + length + 1, err);
}

enum fulcrum_status fulcrum_provenance_add(
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        char text[240] = "";
        if (facts[i].find != NULL) {
            facts[i].find(text, sizeof text);
        } else if (facts[i].file != NULL) {
            (void)fulcrum_host_read_line("", facts[i].file, "", text, sizeof text);
        } else {
            (void)snprintf(text, sizeof text, "%s", facts[i].text);
        }
        TRY(fulcrum_calibration_add_note(
            calibration, facts[i].key, text[0] != '\0' ? text : "unknown", err));
    }
    for (char **entry = environ; *entry != NULL; entry++) {
        TRY(add_variable(calibration, *entry, err));
    }
    return FULCRUM_OK;
}

int fulcrum_group_spawn(
    pid_t *pid, char *const *argv, const int (*fds)[2], size_t fd_count)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int failure =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (size_t i = 0; i < fd_count && failure == 0; i++) {
        failure = posix_spawn_file_actions_adddup2(&actions, fds[i][0], fds[i][1]);
    }
    if (failure == 0) {
        failure = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failure;
}
