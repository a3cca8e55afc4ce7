/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What `ktrace run` wants of the QEMU that its command will start: decided before, carried out by the shim in
 * the process that becomes QEMU. Both sides are the same program.
 */
#ifndef CAPTURE_PLAN_H
#define CAPTURE_PLAN_H

#include <limits.h>
#include <stdbool.h>

#include "qemu_line.h"
#include "trace_unit.h"
#include "transport.h"

struct capture_plan {
	enum capture_transport transport;
	bool allow_reboot;
	bool force;	       /* go on where free space is short */
	char path[PATH_MAX];   /* RAM file or trace file, made empty by ktrace run */
	char config[PATH_MAX]; /* QEMU configuration file with the QMP connection */
	char events[1024];     /* for debug=; "" adds nothing */
	struct capture_trace_unit unit;
};

int capture_plan_save(const struct capture_plan *plan, const char *file);
int capture_plan_load(struct capture_plan *plan, const char *file);

/* The line as QEMU is to be started: `words` (program, options) and what has to be added, into `extended`. */
int capture_plan_extend(const struct capture_plan *plan, const struct capture_qemu_line *line,
			char *const *words, struct capture_words *extended);

/* Whether ktrace lets the guest start once it is connected; else whoever gave -S or -incoming does. */
bool capture_plan_starts_guest(const struct capture_qemu_line *line);

#endif
