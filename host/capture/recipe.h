/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A recipe: all data that is needed to repeat a run with a schedule. It is one line of JSON in the note of a
 * trace (spec/ktrx.md, section 3).
 */
#ifndef CAPTURE_RECIPE_H
#define CAPTURE_RECIPE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"
#include "memory.h"
#include "qemu_line.h"
#include "schedule.h"

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
