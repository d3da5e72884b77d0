/* worker_plugin.h - the worker's end of the protocol, around a plug-in. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WORKER_PLUGIN_H
#define FULCRUM_CALIBRATE_WORKER_PLUGIN_H

/*
 * Answers commands on descriptor 3 until the other side closes it or says so. Part of
 * fulcrum-worker alone.
 * Returns the exit status of the process.
 */
int fulcrum_plugin_serve(const char *path);

#endif
