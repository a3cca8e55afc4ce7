/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parts of `ktrace retrace`: the watched ranges of memory and the accesses to them, the functions that are
 * printed, and the time window of the run that is recorded.
 */
#ifndef CMD_RETRACE_H
#define CMD_RETRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/symbols.h"
#include "cmd/options.h"
#include "capture/schedule.h"

/* The ranges of memory whose accesses are recorded. */
struct retrace_ranges {
	struct schedule_watch watch[SCHEDULE_WATCHES];
	const char *word[SCHEDULE_WATCHES]; /* the ranges as text, as the user gave them; borrowed */
	uint32_t count;
};

/*
 * Adds the ranges of an option: "ADDRESS" or "ADDRESS,LENGTH", where ADDRESS may be NAME or NAME+OFFSET.
 * `symbols` may be NULL. Returns 0, or an exit status after a message.
 */
int retrace_add_ranges(struct retrace_ranges *ranges, const char *name, const char *option,
		       const struct options_list *list, enum schedule_kind kind, struct symbols *symbols);

/* Accesses that the plugin has recorded. */
struct retrace_accesses {
	struct schedule_access *access; /* the newest accesses, in the order in which they were made; owned */
	uint32_t count;
	uint64_t all; /* number of all accesses in the run */
};

/* Copies the recorded accesses from the control file. Returns false if memory runs out. */
bool retrace_copy(struct retrace_accesses *accesses, const struct schedule_control *control);

/* Prints the accesses to standard output. Returns the exit status. */
int retrace_print(const char *name, const struct retrace_accesses *accesses,
		  const struct retrace_ranges *ranges, struct symbols *symbols, bool json);

/* Options for the output. */
struct retrace_form {
	uint64_t last; /* number of newest accesses or entries that are printed; 0: all */
	bool json;
	bool summary; /* for functions: prints only how often each function was entered */
};

/* The functions that are recorded, and what the plugin has recorded. */
struct retrace_functions {
	uint64_t begin, end; /* address range of the kernel's code */
	uint64_t *address;   /* addresses of the functions selected by --only, sorted; owned */
	size_t count;
	/* the recorded entries, mapped from a file; NULL if there are none */
	const struct schedule_entry *entry;
	uint64_t entries;
	uint32_t failure; /* errno with which recording failed; 0: it did not fail */
	uint32_t forgotten;
};

/*
 * Finds the kernel's functions, and among them those that match a pattern of `only`. Returns 0, or an exit
 * status after a message.
 */
int retrace_functions_choose(struct retrace_functions *functions, const char *name,
			     const struct options_list *only, struct symbols *symbols);
/* Maps the entries that the plugin has recorded. Returns false if they cannot be read. */
bool retrace_functions_take(struct retrace_functions *functions, const struct schedule_control *control);
/* Prints the functions to standard output. Returns the exit status. */
int retrace_functions_print(const char *name, const struct retrace_functions *functions,
			    struct symbols *symbols, const struct retrace_form *form);
/*
 * Prints the number of recorded entries. Returns EXIT_BAD_INPUT after a message if recording failed, so that
 * entries are missing; otherwise 0.
 */
int retrace_functions_report(const char *name, const struct retrace_functions *functions,
			     const struct retrace_form *form);
void retrace_functions_free(struct retrace_functions *functions);

/*
 * An event's slot in the RAM file: the offset of 8 bytes, and the value that recording the event stores
 * there.
 */
struct retrace_place {
	uint64_t position, word; /* `word` is 0 if there is no event */
	uint64_t stamp;		 /* timestamp of the event */
};

/* Data for converting the times of branches to times of the trace's clock. */
struct retrace_branches {
	/*
	 * an event of the trace; after the repeated run, also the virtual time at which the event was
	 * recorded
	 */
	struct schedule_mark mark;
	uint64_t stamp;		   /* timestamp of the event in `mark` */
	uint64_t frequency, nonce; /* frequency and nonce of the trace */
	uint64_t until;		   /* timestamp of the event at which the run ends; UINT64_MAX: not given */
};

/*
 * Chooses the event for branches->mark. `end`: the event at which the run ends. Returns 0, or an exit status
 * after a message.
 */
int retrace_branches_prepare(struct retrace_branches *branches, const char *name,
			     const struct capture_recipe *recipe, const struct retrace_place *end);
/*
 * Completes the file of branches: adds the trace's clock, unless the guest has recorded it there. Returns the
 * exit status.
 */
int retrace_branches_finish(const struct retrace_branches *branches, const char *name, const char *path);

/* The time window of the run: only what happens in it is recorded. */
struct retrace_window {
	/* beginning and end of the window as times in the trace; NULL: not given */
	const char *since, *until;
	/* beginning and end of the window as ids of events, RING.SLOT; NULL: not given */
	const char *since_event, *until_event;
	struct retrace_place begin, end;
};

/*
 * Finds the events at which the window begins and ends. If a time is given, this is the first event at or
 * after that time. Returns 0, or an exit status after a message.
 */
int retrace_window_find(struct retrace_window *window, const char *name, const struct capture_recipe *recipe);

#endif
