/* test_host.c - the machine is read from the kernel's files, and from this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_setaffinity */

#include "calibrate/host.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "model/design/calibration.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void put(const struct scratch *scratch, const char *path, const char *text)
{
    free(scratch_write(scratch, path, text));
}

/* In a process of its own: libraries may have threads here that keep their processors.
 */
TEST(test_processors_this_process_may_not_use_do_not_count)
{
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        struct fulcrum_machine machine;
        cpu_set_t set;
        int known = sched_getaffinity(0, sizeof set, &set) == 0;
        size_t cpu = 0;
        while (known && !CPU_ISSET(cpu, &set)) {
            cpu++;
        }
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        known = known && sched_setaffinity(0, sizeof set, &set) == 0;
        fulcrum_host_detect(&machine);
        _exit(known && machine.cpu.thread_count == 1.0 &&
                      machine.cpu.core_count == 1.0 && machine.cpu.socket_count == 1.0
                  ? 0
                  : 1);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(test_cpuinfo_tells_name_and_clock)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_cpu cpu;
    put(&scratch, "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Abacus 3000\ncpu MHz\t\t: 2500.5\n"
        "processor\t: 1\nmodel name\t: Other\ncpu MHz\t\t: 800\n");
    fulcrum_host_read_cpuinfo(&cpu, scratch.folder);
    CU_ASSERT_STRING_EQUAL(cpu.name, "Abacus 3000");
    assert_close("clock", cpu.clock_hz, 2500.5e6, 1e-12);
    put(&scratch, "sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "3000000\n");
    fulcrum_host_read_cpuinfo(&cpu, scratch.folder);
    assert_close("base clock", cpu.clock_hz, 3e9, 1e-12);
    fulcrum_host_read_cpuinfo(&cpu, "/nonexistent");
    CU_ASSERT_STRING_EQUAL(cpu.name, "unknown processor");
    CU_ASSERT(isnan(cpu.clock_hz));
    scratch_free(&scratch);
}

TEST(test_container_quota_is_read)
{
    struct scratch scratch = scratch_new();
    CU_ASSERT(isnan(fulcrum_host_quota_cores(scratch.folder)));
    put(&scratch, "sys/fs/cgroup/cpu.max", "max 100000\n");
    CU_ASSERT(isnan(fulcrum_host_quota_cores(scratch.folder)));
    put(&scratch, "sys/fs/cgroup/cpu.max", "150000 100000\n");
    assert_close("quota", fulcrum_host_quota_cores(scratch.folder), 1.5, 1e-12);
    scratch_free(&scratch);
}

TEST(test_idle_and_waiting_are_read)
{
    struct scratch scratch = scratch_new();
    CU_ASSERT(isnan(fulcrum_host_idle(scratch.folder).idle_s));
    put(&scratch, "proc/stat", "cpu  100 20 30\n");
    CU_ASSERT(isnan(fulcrum_host_idle(scratch.folder).idle_s));
    put(&scratch, "proc/stat",
        "cpu  100 20 30 700 80 4 5 6 7 8\ncpu0 1 2 3 4\ncpu3 1 2 3 4\nintr 5\n");
    struct fulcrum_host_idle idle = fulcrum_host_idle(scratch.folder);
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    assert_close("idle", idle.idle_s, 780.0 * tick_s, 1e-12);
    assert_close("processors", idle.processor_count, 2.0, 0.0);
    scratch_free(&scratch);
}

TEST(test_busy_is_what_was_not_idle)
{
    const struct fulcrum_host_idle begin = {
        .wall_s = 10.0, .idle_s = 100.0, .processor_count = 4.0};
    const struct fulcrum_host_idle end = {
        .wall_s = 12.0, .idle_s = 103.0, .processor_count = 4.0};
    const struct fulcrum_host_idle unknown = {.wall_s = 12.0, .idle_s = (double)NAN};
    assert_close("busy", fulcrum_host_busy_s(&begin, &end), 5.0, 1e-12);
    CU_ASSERT(isnan(fulcrum_host_busy_s(&begin, &unknown)));
}

/* A thread that sleeps and works in turn is told from one that always works. */
TEST(test_busy_time_of_this_machine)
{
    struct fulcrum_host_idle begin = fulcrum_host_idle("");
    double until_s = begin.wall_s + 0.3;
    while (fulcrum_wall_s() < until_s) {
    }
    struct fulcrum_host_idle end = fulcrum_host_idle("");
    double passed_s = end.wall_s - begin.wall_s;
    double busy_s = fulcrum_host_busy_s(&begin, &end);
    if (isnan(busy_s)) {
        return; /* no /proc/stat: nothing is told */
    }
    CU_ASSERT(end.processor_count >= 1.0);
    CU_ASSERT(busy_s > 0.8 * passed_s);
    CU_ASSERT(busy_s < end.processor_count * passed_s + 0.1);
}

TEST(test_this_machine_has_at_least_one_of_everything)
{
    struct fulcrum_machine machine;
    fulcrum_host_detect(&machine);
    CU_ASSERT_STRING_EQUAL(machine.name, "this");
    CU_ASSERT_EQUAL(machine.accelerator, FULCRUM_ACCELERATOR_CPU);
    CU_ASSERT(machine.cpu.socket_count >= 1.0);
    CU_ASSERT(machine.cpu.core_count >= machine.cpu.socket_count);
    CU_ASSERT(machine.cpu.thread_count >= machine.cpu.core_count);
    CU_ASSERT(machine.cpu.name[0] != '\0');
    CU_ASSERT(isnan(machine.cpu.idle_w));
    CU_ASSERT_EQUAL(machine.cpu.slice_s, fulcrum_host_slice_s());
}

/* The release of this kernel, 6.12 being 612; 0 where it is no number. */
static long kernel_release(void)
{
    struct utsname names;
    if (uname(&names) != 0 || strcmp(names.sysname, "Linux") != 0) {
        return 0;
    }
    char *end = names.release;
    long major = strtol(names.release, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return 100 * major + minor;
}

/* What schedulers have is between a tenth of a millisecond and a tenth of a second. */
TEST(test_the_slice_is_a_schedulers_or_not_told)
{
    double slice_s = fulcrum_host_slice_s();
    CU_ASSERT(slice_s >= 0.0);
    CU_ASSERT(!(slice_s > 0.0) || (slice_s >= 1e-4 && slice_s <= 0.1));
    /* Older kernels have the call and leave the member 0. */
    CU_ASSERT(!(slice_s > 0.0) || kernel_release() >= 612);
    assert_close("again", fulcrum_host_slice_s(), slice_s, 0.0);
}

static const char *note_of(
    const struct fulcrum_calibration *calibration, const char *key)
{
    const char *text = fulcrum_calibration_note(calibration, key);
    return text == NULL ? "" : text;
}

TEST(test_provenance_names_what_steers_the_figures)
{
    static const char *const keys[] = {"host", "cpu_model", "caches", "kernel",
        "virtualisation", "affinity", "cpu_quota", "clock_governor", "load_average",
        "compiler", "tool", "date"};
    struct fulcrum_calibration *calibration = NULL;
    CU_ASSERT_EQUAL(setenv("OPENBLAS_CORETYPE", "Haswell", 1), 0);
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    ASSERT_OK(fulcrum_provenance_add(calibration, NULL));
    for (size_t i = 0; i < LENGTH(keys); i++) {
        CU_ASSERT(note_of(calibration, keys[i])[0] != '\0');
    }
    CU_ASSERT_STRING_EQUAL(note_of(calibration, "OPENBLAS_CORETYPE"), "Haswell");
    CU_ASSERT_EQUAL(strncmp(note_of(calibration, "tool"), "fulcrum ", 8), 0);
    CU_ASSERT_STRING_EQUAL(note_of(calibration, "PATH"), "");
    fulcrum_calibration_free(calibration);
}
