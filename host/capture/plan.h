/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Defines how `ktrace run` starts QEMU: the trace unit, the transport, the plan (a file that passes both to
 * the shim), and the directory of the plan.
 */
#ifndef CAPTURE_PLAN_H
#define CAPTURE_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/open.h"
#include "qemu_line.h"
#include "schedule.h"

/*
 * The software trace unit (ktrx/hwt_unit.h). A plugin of QEMU records which branches a guest's CPUs take, for
 * the guest itself or to a file.
 */

struct capture_trace_unit {
	char plugin[PATH_MAX]; /* path of the plugin; "": no trace unit */
	/*
	 * file to which the branches of all CPUs are written; "": branches are recorded only when the guest
	 * asks for it
	 */
	char out[PATH_MAX];
	uint64_t ring_bytes; /* size in bytes of the unit's ring for each CPU; 0: the unit's default */
	uint64_t begin, end; /* the unit records only code at addresses in [begin, end); both 0: all code */
	bool hidden;	     /* the trace unit is hidden from the guest */
	bool is_virtual;     /* the time is that of the virtual clock of a run with a schedule */
};

/*
 * Finds the plugin relative to `self`, the absolute path of this program. `out`: name of the unit's file, or
 * NULL for no file. Stores the name as an absolute path, and removes an older file of this name. Returns 0,
 * CAPTURE_E_USAGE if there is no plugin, or CAPTURE_E_SYSTEM.
 */
int capture_trace_unit_find(struct capture_trace_unit *unit, const char *self, const char *out);

/*
 * Adds the plugin and its arguments to the command line. `ram`: the file that holds the guest's RAM; "":
 * there is none, so that the guest cannot control the unit. Returns 0, or CAPTURE_E_USAGE if the architecture
 * has no trace unit.
 */
int capture_trace_unit_add(const struct capture_trace_unit *unit, struct capture_words *words,
			   const char *architecture, const char *ram);

/* Checks that the plugin works with this accelerator ("": QEMU's default). Returns 0 or CAPTURE_E_USAGE. */
int capture_trace_unit_check(const char *accelerator);

/*
 * Appends "PLUGIN,NAME=PATH" as one command-line argument. Doubles the commas in PATH. Returns 0 or
 * CAPTURE_E_USAGE.
 */
int capture_plan_add_plugin(struct capture_words *words, const char *plugin, const char *name,
			    const char *path);

/* Transports from guest to host, and the QEMU options that each of them needs. */

#define CAPTURE_RAM_ID "ktrace-ram"

enum capture_transport {
	CAPTURE_RAM, /* the host reads the rings in the guest's memory; the guest needs no code for this */
	CAPTURE_DEBUGCON,
	CAPTURE_SEMIHOSTING,
	CAPTURE_IVSHMEM,
	CAPTURE_VIRTIO,
};

/* names of the transports, in the order of the enum */
#define CAPTURE_TRANSPORTS "ram|debugcon|semihosting|ivshmem|virtio"

/* Finds a transport by its name. Returns 0, or CAPTURE_E_USAGE; the error message then lists the names. */
int capture_transport_named(enum capture_transport *transport, const char *name);
/* Returns the name of a transport. */
const char *capture_transport_name(enum capture_transport transport);

/*
 * Adds the options with which the trace goes to `path`: as the file of the guest's RAM, which has `ram_bytes`
 * bytes, or as the file to which the guest's dump is written. `machine` may be "". Returns 0, or
 * CAPTURE_E_USAGE if the architecture lacks the device.
 */
int capture_transport_add(enum capture_transport transport, struct capture_words *words,
			  const char *architecture, const char *machine, const char *path,
			  uint64_t ram_bytes);

/*
 * The plan for the QEMU that the command of `ktrace run` will start. `ktrace run` writes the plan. The shim,
 * which is the same program, reads it and then executes QEMU in its own process.
 */

struct capture_plan {
	enum capture_transport transport;
	bool allow_reboot;
	bool force;	       /* true: continue even if disk space is short */
	char path[PATH_MAX];   /* path of the RAM file or trace file, which ktrace run creates empty */
	char config[PATH_MAX]; /* path of the QEMU configuration file that defines the QMP connection */
	char events[1024];     /* value of the boot argument debug=; "": no argument is added */
	struct capture_trace_unit unit;
	const struct capture_schedule *wanted; /* the schedule that `ktrace run` was given; NULL: none */
	/* files of the schedule; the plugin's name is "" if the run has no schedule */
	struct capture_schedule_files schedule;
};

/* Reads a plan that capture_workplace_open() has saved. Returns 0 or an error. */
int capture_plan_load(struct capture_plan *plan, const char *file);

/*
 * Builds QEMU's command line in `extended`: `words` (program and options), and the options that the plan
 * adds.
 * Returns 0 or an error.
 */
int capture_plan_extend(const struct capture_plan *plan, const struct capture_qemu_line *line,
			char *const *words, struct capture_words *extended);

/*
 * Returns whether ktrace starts the guest after QEMU has connected. With -S or -incoming, the user starts the
 * guest.
 */
bool capture_plan_starts_guest(const struct capture_qemu_line *line);

/*
 * Files that exist only during a run. A private directory contains the plan, the shim and the QMP socket.
 * Another file, usually in the directory of the output, contains the guest's RAM or dump. If ktrace is
 * killed, that other file remains; its name contains ktrace's process id.
 */

struct capture_workplace {
	char directory[BASE_PRIVATE_ROOM];
	char qmp[PATH_MAX];
	char file[PATH_MAX]; /* absolute path of the file with the guest's RAM or dump */
	bool keep;	     /* true: do not remove `file` at the end of the run */
	/* memory shared with the schedule plugin; NULL: the run has no schedule */
	struct schedule_control *control;
};

/*
 * Creates these files. `out`: where the trace will be written. `folder`: the directory in which `file` is
 * created (NULL: the directory of `out`). Sets the plan's paths and saves the plan. Creates the shim; for
 * this, it may replace arguments in `command`. Returns 0 or an error.
 */
int capture_workplace_open(struct capture_workplace *place, struct capture_plan *plan, const char *out,
			   const char *folder, const char *self, char **command);
/* Removes these files, except `file` if `keep` is set. */
void capture_workplace_close(struct capture_workplace *place);

/*
 * Functions that make paths, in buffers of PATH_MAX bytes. Functions that return int return 0 or
 * CAPTURE_E_SYSTEM.
 */

/* Writes "folder/name". */
int capture_path_join(char path[PATH_MAX], const char *folder, const char *name);
/* Writes the absolute path of `name`, which need not exist. */
int capture_path_absolute(char path[PATH_MAX], const char *name);
/* Writes the directory part of `name`; "." if it has none. */
int capture_path_folder(char path[PATH_MAX], const char *name);

/*
 * The shim lets `ktrace run` trace a QEMU that a make or a script starts.
 *
 *  1. capture_shim_plant() fills a private directory: bin/ has a script for each qemu-system-* in PATH, and
 *     real/ has links to the real programs. bin/ is put first in PATH. An argument of the command that is
 *     itself a path of a QEMU is replaced.
 *  2. When a shim is started, it runs `ktrace run --shim DIRECTORY NAME …`, which calls
 *     capture_shim_become(). That function reads the plan, adds options to QEMU's command line, writes a
 *     record `guest`, and executes the real QEMU in the same process.
 *  3. If a make or a script has started the shim, ktrace run is not the parent of this process and cannot
 *     get its status. So the shim stays as QEMU's parent, records QEMU's status, and ends as QEMU ended:
 *     capture_shim_attend().
 *  4. Only the first QEMU that has a guest is traced. Later ones run unchanged and are counted.
 */

/* The shim's report to ktrace run, written before the shim executes QEMU. */
struct capture_guest {
	pid_t pid;
	bool refused; /* the shim did not start QEMU; `error` is the reason */
	char error[1024];
	bool starts;   /* ktrace must start the guest */
	bool own_path; /* `path` is from the QEMU command line; ktrace did not create that file */
	char path[PATH_MAX];
	char backend[64];   /* id of the memory backend of the guest's RAM */
	char hazards[2048]; /* list of options that make runs with a schedule differ; "" if none is known */
	/* contents of the command line; only architecture, machine, kernel path and some flags are set */
	struct capture_qemu_line line;
};

/*
 * Creates the shim in `directory`. `self`: absolute path of this program. Arguments in `command` may be
 * replaced (the old strings are not freed). Returns 0 or an error.
 */
int capture_shim_plant(const char *directory, const char *self, char **command);
/*
 * Returns the value of PATH for the command: bin/ of `directory` is first. The caller frees it. Returns NULL
 * if memory runs out.
 */
char *capture_shim_path(const char *directory);
/* Removes `directory` with all that is in it. */
void capture_shim_remove(const char *directory);

/*
 * Executes QEMU in this process, with the command line `words`; words[0] is its name or path. Returns only on
 * failure, with an error.
 */
int capture_shim_become(const char *directory, char *const *words);

/*
 * Creates a child process for QEMU, by fork(). Returns 1 in the child, which then executes QEMU. Returns 0 in
 * the parent after the child has ended. *wait_status: QEMU's status; the caller must end with the same
 * status. If this QEMU is traced, the status is also recorded for ktrace run. Returns CAPTURE_E_SYSTEM if
 * there is no child.
 */
int capture_shim_attend(const char *directory, int *wait_status);
/*
 * Reads the status of QEMU that the shim, QEMU's parent, has recorded. Returns 0, CAPTURE_E_ABSENT if there
 * is none yet, or an error.
 */
int capture_shim_status(const char *directory, int *wait_status);

/*
 * Reads the record of the traced QEMU. Returns 0, CAPTURE_E_ABSENT if no QEMU was started yet, or an error.
 */
int capture_shim_guest(const char *directory, struct capture_guest *guest);
/* Returns the number of QEMUs that ran a guest but were not traced. */
unsigned capture_shim_untraced(const char *directory);

#endif
