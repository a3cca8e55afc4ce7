/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs that are the same each time: QEMU's options for such runs, the plugin that interrupts CPUs at times
 * computed from a seed, and a search of the command line for options with which runs differ nevertheless.
 * doc/deterministic.md explains how this works.
 */
#ifndef CAPTURE_SCHEDULE_H
#define CAPTURE_SCHEDULE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu_line.h"
#include "schedule/control.h"

/* What a run does. Times are virtual, in ns since the start of the machine. */
struct capture_schedule {
	bool on; /* false: the machine runs in real time, and the members below are not used */
	struct schedule_noise noise;
	struct schedule_noise later; /* noise that is used from the time `change` on */
	uint64_t change;	     /* 0: the noise never changes */
	/*
	 * addresses of the hooks in the guest's kernel; if they are unknown, they are found when QEMU starts
	 */
	struct schedule_hooks hooks;
	uint64_t deadline; /* time at which the run is ended; 0: none */
	/*
	 * the run is ended when the 8 bytes at offset `position` of the RAM file become `word`; `word` is
	 * 0: no such condition
	 */
	uint64_t word, position;
	const char *input; /* script that is typed on the first serial line (schedule/parts.h); NULL: none */
	/* ranges of memory whose accesses are recorded, and the number of newest accesses that are stored */
	struct schedule_watch watch[SCHEDULE_WATCHES];
	uint32_t watches, records;
	struct schedule_mark mark; /* an event whose virtual time is to be found */
	/* the functions whose calls are recorded; the member `file` is not used */
	struct schedule_functions functions;
	/* addresses of the listed functions, sorted; used if functions.listed is not 0 */
	const uint64_t *addresses;
	size_t address_count;
};

/* Files of a run with a schedule. Both names are "" in a run without one. */
struct capture_schedule_files {
	char plugin[PATH_MAX];
	char control[PATH_MAX]; /* name of the control file, which holds a struct schedule_control */
};

/* Returns whether a CPU's time slice may end at a hook. */
bool capture_schedule_has_hooks(const struct schedule_noise *noise, const struct schedule_noise *later);
/*
 * Finds the hooks in a kernel's ELF file. Returns 0, or CAPTURE_E_USAGE with a message if it has none.
 */
int capture_schedule_find_hooks(struct schedule_hooks *hooks, const char *kernel);

#define CAPTURE_NO_HOOKS                                                                   \
	"--noise hooks had no effect: the guest executed no hook at the addresses in the " \
	"kernel's file; was the kernel moved in memory?"

/* Names of the kinds of noise, in the order of enum schedule_noise_kind. */
#define CAPTURE_NOISES	    "timers|hooks|both"
#define CAPTURE_NOISE_KINDS 3u
extern const char *const capture_noise_names[CAPTURE_NOISE_KINDS];

/*
 * Looks for the plugin, relative to `self`, the absolute path of this program, and creates the control file
 * in `directory`. *control is its mapping, which capture_schedule_close() removes.
 * Returns 0, CAPTURE_E_USAGE if there is no plugin, or CAPTURE_E_SYSTEM.
 */
int capture_schedule_open(const struct capture_schedule *schedule, const char *self, const char *directory,
			  struct capture_schedule_files *files, struct schedule_control **control);
/*
 * Stores in the control file the name of the RAM file, whether the command line has disks, and the addresses
 * of the kernel's hooks if they are needed and unknown. `kernel`: the kernel's file; "": none. Returns 0 or
 * an error.
 */
int capture_schedule_complete(const char *control, const char *ram, const char *kernel, char *const *words);
void capture_schedule_close(struct schedule_control *control);

/*
 * Adds to the command line `words` the options that make all runs of the guest the same. Returns 0, or
 * CAPTURE_E_USAGE if the command line has an option that cannot be combined with them.
 */
int capture_schedule_add(const struct capture_schedule_files *files, const struct capture_qemu_line *line,
			 char *const *words, struct capture_words *extended);

/*
 * Writes a list of the options in this command line that make runs differ: "-netdev user,id=n (packets arrive
 * at other times), …". Writes "" if no such option is known. The list is truncated to `size` bytes.
 */
void capture_schedule_hazards(char *const *words, char *text, size_t size);
/* Returns whether the guest can write to a disk or flash memory whose file an argument of QEMU names. */
bool capture_schedule_writes(char *const *words);

#endif
