/* provenance.c - on what and with what a calibration was measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* environ, gmtime_r, sched_getaffinity */

#include "calibrate/provenance.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/host.h"
#include "model/try.h"

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
