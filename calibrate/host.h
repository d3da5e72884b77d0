/* host.h - the machine this program runs on, and what is noted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_HOST_H
#define FULCRUM_CALIBRATE_HOST_H

#include <stddef.h>
#include <sys/types.h>

#include "model/design/calibration.h"
#include "model/design/machine.h"
#include "model/status.h"

/*
 * Fills `out` with what this process may use: name "this", processor name, sockets,
 * cores, threads, clock and the scheduler's slice; accelerator cpu with one learner
 * core. Taskset and container CPU sets count. What cannot be found out (watts, speed
 * relative to other processors) is NAN; counts are at least 1.
 */
void fulcrum_host_detect(struct fulcrum_machine *out);

/*
 * How long a thread of the calling thread's policy runs before it gives way to others
 * that wait for its processor, in seconds, as the kernel tells (Linux from 6.12 on);
 * 0 where it does not, or the policy has no slices.
 */
double fulcrum_host_slice_s(void);

/*
 * The caches of this machine in words, "L1d 2 x 48 KiB, L2 2 x 2048 KiB, L3 1 x 107520
 * KiB", into `text` (`size` bytes); "unknown" where they are not told.
 */
void fulcrum_host_describe_caches(char *text, size_t size);

/*
 * Name and clock of the first processor in `root`/proc/cpuinfo and below
 * `root`/sys/devices/system/cpu; "unknown processor" and NAN where they are not told.
 */
void fulcrum_host_read_cpuinfo(struct fulcrum_cpu *out, const char *root);

/*
 * Copies the first line of `root`/`path` that begins with `key`, without its end, into
 * `line` (`size` bytes). Returns 0, and leaves "", where there is none.
 */
int fulcrum_host_read_line(
    const char *root, const char *path, const char *key, char *line, size_t size);

/*
 * Cores that a container's quota grants (cpu.max of cgroup v2 below `root`);
 * NAN where there is no quota.
 */
double fulcrum_host_quota_cores(const char *root);

/*
 * Bytes of a process (0: this one) in memory, or those that are its alone; 0 where the
 * kernel does not tell.
 */
double fulcrum_host_memory_byte(long process, int is_alone);

/* How long the processors have been idle, at a moment. */
struct fulcrum_host_idle {
    double wall_s;
    double idle_s; /* of all processors; NAN where it is not told */
    double processor_count;
    double own_s; /* CPU time of this process and of its ended children, so far */
};

/* Reads `root`/proc/stat. The kernel tells idle times in steps of 10 ms. */
struct fulcrum_host_idle fulcrum_host_idle(const char *root);

/*
 * CPU seconds between two readings that all processors spent on anything, time stolen
 * by a hypervisor included; NAN where it is not told.
 */
double fulcrum_host_busy_s(
    const struct fulcrum_host_idle *begin, const struct fulcrum_host_idle *end);

/* The same without what this process used, and those that it started and that ended. */
double fulcrum_host_others_s(
    const struct fulcrum_host_idle *begin, const struct fulcrum_host_idle *end);

/*
 * The core that each hardware thread lies on, as the number of the core's first thread:
 * core_of[i] of processor i, for `count` of them. One that nothing is known of is a
 * core of its own.
 */
void fulcrum_host_find_cores(unsigned short *core_of, size_t count);

/* On what and with what a calibration was measured. */

/*
 * Adds notes: host, cpu_model, caches, kernel, virtualisation, processors in use,
 * container quota, clock governor, load average, compiler, tool version, date (UTC) and
 * every environment variable that steers a BLAS or OpenMP library. What cannot be read
 * is noted as "unknown", never left out; variables are noted where they are set.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_provenance_add(
    struct fulcrum_calibration *calibration, struct fulcrum_error *err);

/*
 * Starts a program as the leader of a process group of its own, with nothing to read
 * and no signal blocked.
 *   argv     NULL-terminated; argv[0] is the path
 *   fds      pairs: a descriptor of ours, and what it is there
 * Returns an errno value, 0 when done.
 */
int fulcrum_group_spawn(
    pid_t *pid, char *const *argv, const int (*fds)[2], size_t fd_count);

#endif
