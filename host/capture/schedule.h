/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs that are the same each time: QEMU's options for such runs, the plugin that interrupts CPUs at times
 * computed from a seed, and a search of the command line for options with which runs differ nevertheless.
 * doc/deterministic.md explains how this works.
 */
#ifndef CAPTURE_SCHEDULE_H
#define CAPTURE_SCHEDULE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"
#include "schedule/control.h"
#include "memory.h"
#include "qemu_line.h"

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

/*
 * A recipe: all data that is needed to repeat a run with a schedule. It is one line of JSON in the note of a
 * trace (spec/ktrx.md, section 3).
 */

#define CAPTURE_RECIPE_FILE "recipe" /* name of the recipe's file in the private directory of a run */

/*
 * Writes the recipe of a command line to `path`: the working directory, the arguments, and the hashes of all
 * files named in the arguments. Called in the process that later executes QEMU. Returns 0 or
 * CAPTURE_E_SYSTEM.
 */
int capture_recipe_save(char *const *words, const char *path);

/*
 * Returns a JSON array that describes the contents of all files that the arguments of QEMU name, as the
 * recipe does. The caller releases the array. NULL if memory is short.
 */
json_t *capture_recipe_files(char *const *words);

#define CAPTURE_RECIPE_HASH 65 /* size of a hash as text, with its terminating NUL */

/*
 * Writes to `hash` a hash of QEMU's version and of the contents of all files in the recipe at `path`. The
 * hash does not depend on the names of the files. Writes "" if the recipe has no files, or if the guest can
 * write to one of them.
 */
void capture_recipe_hash(const char *path, const char *qemu, char hash[CAPTURE_RECIPE_HASH]);

/* Data about a run that only `ktrace run` knows. */
struct capture_recipe_run {
	struct capture_schedule schedule;
	const char *ktrace;    /* version of ktrace; "": unknown */
	const char *qemu;      /* QEMU's version */
	const char *events;    /* value of the option --events of `ktrace run` */
	const char *transport; /* name of the transport */
	bool trace_unit;       /* the guest had a trace unit */
	bool allow_reboot;
	struct ktread_image *image; /* the trace in the guest's RAM file; NULL: it was not found */
	/* map from positions in the memory of `image` to offsets in the RAM file */
	const struct capture_map *map;
	/* mean length in ns of a CPU's time slice, or of a delay at a hook; 0: no switches are forced */
	uint64_t mean;
	uint64_t ended; /* virtual time in ns at which the run ended; 0: unknown */
};

/*
 * Reads the recipe at `path` and adds *run to it. *line: the complete line of JSON, which the caller frees.
 * Returns 0 or an error.
 */
int capture_recipe_finish(const char *path, const struct capture_recipe_run *run, char **line);

/* A recipe that was read from a trace. */
struct capture_recipe {
	char path[PATH_MAX]; /* absolute path of the trace */
	json_t *json;	     /* the parsed recipe, which owns the strings below */
	struct capture_words words;
	const char *directory;
	struct capture_recipe_run run;
	const char *transport;
};

/*
 * Reads the recipe from the trace at `path`. capture_recipe_free() releases it. Returns 0, or
 * CAPTURE_E_FORMAT if the trace is unreadable or has no valid recipe.
 */
int capture_recipe_load(struct capture_recipe *recipe, const char *path);
/*
 * Finds the place in the RAM file where the first word of an event's first slot is written, and the value of
 * this word. `trace`: the trace with the recipe. Returns 0, or CAPTURE_E_FORMAT with a message.
 */
int capture_recipe_slot(const struct capture_recipe *recipe, const struct ktread *trace,
			const struct ktread_event *event, uint64_t *position, uint64_t *word);
/*
 * Prepares to repeat the run on another machine. If a file is not at its path, or has changed, looks for a
 * file with the same contents, relative to the directory of the trace and to the current directory. If
 * there is such a file, its path replaces the old path in the recipe. The directory of the run and QEMU's
 * path are also replaced if they do not exist. Calls `say` with a sentence about each change. Does not
 * change the paths of files that are not found. Returns 0 or an error.
 */
int capture_recipe_find(struct capture_recipe *recipe, void (*say)(void *context, const char *sentence),
			void *context);

enum capture_recipe_contents { CAPTURE_RECIPE_UNREADABLE, CAPTURE_RECIPE_CHANGED, CAPTURE_RECIPE_SAME };

/* Compares the contents of a file with their description in an element of "files". */
enum capture_recipe_contents capture_recipe_compare(const json_t *file, const char *path);

/*
 * Checks that each file of the recipe still has the same hash. Returns 0, or CAPTURE_E_FORMAT with a message
 * that names the first file that differs.
 */
int capture_recipe_check(const struct capture_recipe *recipe);
/* Returns whether a path is that of a file in the recipe. */
bool capture_recipe_names(const struct capture_recipe *recipe, const char *path);
void capture_recipe_free(struct capture_recipe *recipe);

#endif
