/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A QEMU whose guest is sampled. ktrace asks QEMU over QMP to open a socket of its gdb server. Over this
 * socket, reading the registers of all CPUs takes a tenth of the time that it takes over QMP.
 */
#ifndef PROFILE_TARGET_H
#define PROFILE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/cpu.h"

#define PROFILE_CPUS_MOST 256u

/* Result of profile_target_sample(); errors are negative. */
enum profile_state {
	PROFILE_SAMPLED,
	PROFILE_PAUSED, /* the guest does not run, and was left unchanged */
	PROFILE_ENDED,	/* QEMU has ended */
};

struct profile_target;

/*
 * Connects to QEMU's QMP socket, opens a socket for gdb's protocol, and lists the CPUs. The guest continues
 * as before. If `starts` is set, starts a guest that waits to be started (-S). Returns 0 or an error
 * (capture/error.h). The caller closes *target in any case.
 */
int profile_target_open(struct profile_target **target, const char *qmp, int timeout_ms, bool starts);
/* Closes the sockets. If the guest was running, it continues. */
void profile_target_close(struct profile_target *target);
/* Sets the kernel's call frame information, which later samples use. */
void profile_target_set_frames(struct profile_target *target, stack_find_frame *find, void *context);
/* Halts the guest, reads the registers and the stack of each CPU, and lets the guest run again. */
int profile_target_sample(struct profile_target *target);
/* Returns the descriptor of the QMP connection, which becomes readable when QEMU ends. */
int profile_target_descriptor(const struct profile_target *target);
/* Asks QEMU to end. */
void profile_target_quit(struct profile_target *target);

/* ELF machine of the guest (e_machine) */
uint16_t profile_target_machine(const struct profile_target *target);
uint32_t profile_target_cpus(const struct profile_target *target);
const struct profile_cpu *profile_target_cpu(const struct profile_target *target, uint32_t cpu);
/* Returns the path of the file that was given to QEMU with -kernel; "" if there is none. */
const char *profile_target_kernel(const struct profile_target *target);
/* Returns the number of seconds for which the last sample halted the guest. */
double profile_target_pause(const struct profile_target *target);

#endif
