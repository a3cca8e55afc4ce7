/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A QEMU that is started to be profiled. */
#ifndef PROFILE_START_H
#define PROFILE_START_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct profile_child {
	pid_t pid;	    /* process id of QEMU; 0: QEMU was not started, or has ended */
	char directory[64]; /* private directory; "": none */
	char qmp[PATH_MAX]; /* path of QEMU's QMP socket */
	bool starts;	    /* QEMU waits until the profiler starts the guest */
};

/*
 * Starts QEMU with a QMP socket. `command`: QEMU's program and options. `mask`: the signals that are blocked
 * in QEMU. The caller calls profile_child_end() in any case. Returns 0, or an error (capture/error.h): the
 * program is not QEMU, or cannot be started.
 */
int profile_child_start(struct profile_child *child, char *const *command, const sigset_t *mask);
/* Waits until the QMP socket exists. Returns 0, or an error if QEMU ends before that. */
int profile_child_await(struct profile_child *child);
/* Waits until QEMU has ended, and removes the directory. A QEMU that does not end in time is killed. */
void profile_child_end(struct profile_child *child);

#endif
