/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How QEMU is to be started for `ktrace run`: the trace unit, the transport, the plan that carries both
 * to the shim, and the folder that the plan lies in.
 */
#ifndef CAPTURE_PLAN_H
#define CAPTURE_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu_line.h"

/*
 * The trace unit in software (ktrx/hwt_unit.h): a plugin of QEMU that tells which branches a guest's CPUs
 * take, to the guest itself or into a file.
 */

struct capture_trace_unit {
	char plugin[PATH_MAX]; /* "": there is to be none */
	char out[PATH_MAX];    /* the branches of all CPUs; "": only what the guest asks for */
	uint64_t ring_bytes;   /* that a CPU has in it; 0: the unit's own choice */
	uint64_t begin, end;   /* only code of [begin, end); both 0: all */
};

/*
 * Looks for the plugin beside the program `self`, absolute. `out` is made absolute; what lay there is from
 * before and goes. NULL: no file. 0, CAPTURE_E_USAGE: there is no plugin, or CAPTURE_E_SYSTEM.
 */
int capture_trace_unit_find(struct capture_trace_unit *unit, const char *self, const char *out);

/*
 * What the command line needs for it. `ram` is the file behind the guest's RAM, "" if there is none: then the
 * guest cannot drive the unit. 0 or CAPTURE_E_USAGE: not with this architecture.
 */
int capture_trace_unit_add(const struct capture_trace_unit *unit, struct capture_words *words,
			   const char *architecture, const char *ram);

/* 0, or CAPTURE_E_USAGE: that accelerator runs guests without QEMU seeing their code. "": QEMU's default. */
int capture_trace_unit_check(const char *accelerator);

/* The roads from guest to host, and the QEMU options each of them takes. */

#define CAPTURE_RAM_ID "ktrace-ram"

enum capture_transport {
	CAPTURE_RAM, /* the host finds the rings in the guest's memory: nothing runs in the guest */
	CAPTURE_DEBUGCON,
	CAPTURE_SEMIHOSTING,
	CAPTURE_IVSHMEM,
	CAPTURE_VIRTIO,
};

#define CAPTURE_TRANSPORTS "ram|debugcon|semihosting|ivshmem|virtio" /* their names, in that order */

const char *capture_transport_name(enum capture_transport transport);

/*
 * Adds the options that let `path` carry the trace: the file of the guest's RAM (`ram_bytes` of it), or the
 * file that the guest's dump ends up in. `machine` may be "". CAPTURE_E_USAGE where the architecture lacks
 * the device.
 */
int capture_transport_add(enum capture_transport transport, struct capture_words *words,
			  const char *architecture, const char *machine, const char *path,
			  uint64_t ram_bytes);

/*
 * What `ktrace run` wants of the QEMU that its command will start: decided before, carried out by the shim in
 * the process that becomes QEMU. Both sides are the same program.
 */

struct capture_plan {
	enum capture_transport transport;
	bool allow_reboot;
	bool force;	       /* go on where free space is short */
	char path[PATH_MAX];   /* RAM file or trace file, made empty by ktrace run */
	char config[PATH_MAX]; /* QEMU configuration file with the QMP connection */
	char events[1024];     /* for debug=; "" adds nothing */
	struct capture_trace_unit unit;
};

int capture_plan_load(struct capture_plan *plan, const char *file);

/* Makes QEMU's command line in `extended`: `words` (program, options) and what has to be added. */
int capture_plan_extend(const struct capture_plan *plan, const struct capture_qemu_line *line,
			char *const *words, struct capture_words *extended);

/* Whether ktrace starts the guest once connected. If the line has -S or -incoming, the user starts it. */
bool capture_plan_starts_guest(const struct capture_qemu_line *line);

/*
 * What a run needs on disk and takes away again: a private directory (plan, shim, QMP socket) and beside the
 * output the file for the guest's RAM or dump. Should ktrace be killed, that file stays, under a name that
 * says whose it is.
 */

struct capture_workplace {
	char directory[64];
	char qmp[PATH_MAX];
	char file[PATH_MAX]; /* absolute; of the guest's RAM, or of what the guest sends */
	bool keep;	     /* the file stays behind */
};

/*
 * `out` is where the trace will go, `folder` where the file goes (NULL: beside `out`). Fills in the plan's
 * paths and saves it; plants the shim, which may replace words of `command`.
 */
int capture_workplace_open(struct capture_workplace *place, struct capture_plan *plan, const char *out,
			   const char *folder, const char *self, char **command);
void capture_workplace_close(struct capture_workplace *place);

/* Paths in buffers of PATH_MAX. Functions return 0 or CAPTURE_E_SYSTEM. */

/* Folder of files that the user gave no name for: TMPDIR, or /tmp. */
const char *capture_path_temporary(void);
/* folder/name */
int capture_path_join(char path[PATH_MAX], const char *folder, const char *name);
/* `name` as seen from the root; nothing has to exist. */
int capture_path_absolute(char path[PATH_MAX], const char *name);
/* The folder that `name` lies in: "." if none is given. */
int capture_path_folder(char path[PATH_MAX], const char *name);

#endif
