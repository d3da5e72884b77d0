/* worker_main.c - fulcrum-worker: the process that steps an environment for us. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 *     fulcrum-worker PARENT plugin FILE      serves the plug-in
 *     fulcrum-worker PARENT exec PROGRAM...  becomes another worker, isolated as this
 * one
 *
 * Started by calibrate/worker_process.c with a socket on descriptor 3 and shared memory
 * on 4; of no use to people.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calibrate/worker_plugin.h"

/*
 * Dies with the thread that started it, and leaves no core file. The parent may have
 * died before the request: then somebody else's child we are.
 */
static int isolate(const char *parent)
{
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_DFL);
    return strtol(parent, NULL, 10) == (long)getppid();
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        (void)fprintf(stderr, "fulcrum-worker is started by fulcrum alone\n");
        return 2;
    }
    if (!isolate(argv[1])) {
        return 1;
    }
    if (strcmp(argv[2], "plugin") == 0) {
        return fulcrum_plugin_serve(argv[3]);
    }
    (void)execvp(argv[3], argv + 3);
    (void)fprintf(stderr, "%s cannot be run: %s\n", argv[3], strerror(errno));
    return 127;
}
