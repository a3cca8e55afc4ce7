/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A recipe: everything that is needed to repeat a run with a schedule. It is one line of JSON in the note of
 * a trace (spec/ktrx.md, section 3).
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

#define CAPTURE_RECIPE_FILE "recipe" /* its name in the private directory of a run */

/*
 * Writes the recipe of a command line to `path`: the working directory, the words, and the hashes of all
 * files that the words name. Called in the process that becomes QEMU. Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_recipe_save(char *const *words, const char *path);

/* What only `ktrace run` knows of a run. */
struct capture_recipe_run {
	struct capture_schedule schedule;
	const char *ktrace;    /* version of ktrace; "": unknown */
	const char *qemu;      /* QEMU's version */
	const char *events;    /* value of --events */
	const char *transport; /* name of the transport */
	bool trace_unit;       /* the guest had a trace unit */
	bool allow_reboot;
	struct ktread_image *image;    /* the trace in the guest's RAM file; NULL: unknown */
	const struct capture_map *map; /* where in the RAM file the memory of `image` is */
	uint64_t mean;		       /* mean length of a slice in ns; 0: no forced switches */
	uint64_t ended;		       /* virtual time in ns at which the run ended; 0: unknown */
};

/*
 * Reads the recipe at `path` and adds *run to it. *line: the line of JSON, for the caller to free. Returns 0
 * or an error.
 */
int capture_recipe_finish(const char *path, const struct capture_recipe_run *run, char **line);

/* A recipe that was read from a trace. */
struct capture_recipe {
	char path[PATH_MAX]; /* absolute path of the trace */
	json_t *json;	     /* owned; the strings below belong to it */
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
 * Finds where in the RAM file the first word of an event's first slot is written, and which value it gets.
 * `trace`: the trace with the recipe. Returns 0, or CAPTURE_E_FORMAT with a message.
 */
int capture_recipe_slot(const struct capture_recipe *recipe, const struct ktread *trace,
			const struct ktread_event *event, uint64_t *position, uint64_t *word);
/*
 * Prepares to repeat the run on another machine. A file that is not at its path, or has changed, is looked
 * for relative to the folder of the trace and to the current folder. One with the same contents is used
 * instead: the words and files of the recipe are changed. So are the folder of the run and QEMU's path, if
 * they do not exist. `say` gets a sentence about each change. The paths of files that are not found remain.
 * Returns 0 or an error.
 */
int capture_recipe_find(struct capture_recipe *recipe, void (*say)(void *context, const char *sentence),
			void *context);

enum capture_recipe_contents { CAPTURE_RECIPE_UNREADABLE, CAPTURE_RECIPE_CHANGED, CAPTURE_RECIPE_SAME };

/* Compares the contents of a file with those that an element of "files" describes. */
enum capture_recipe_contents capture_recipe_compare(const json_t *file, const char *path);

/*
 * Checks that each file of the recipe still has its hash. Returns 0, or CAPTURE_E_FORMAT with a message that
 * names the first file that differs.
 */
int capture_recipe_check(const struct capture_recipe *recipe);
/* Returns whether a path is that of a file of the recipe. */
bool capture_recipe_names(const struct capture_recipe *recipe, const char *path);
void capture_recipe_free(struct capture_recipe *recipe);

#endif
