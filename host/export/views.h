/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What commands show of a trace, one view a source. */
#ifndef EXPORT_VIEWS_H
#define EXPORT_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/rules.h"
#include "analyze/symbols.h"
#include "base/output.h"
#include "export/summary.h"
#include "export/timeline.h"
#include "ktread/ktread.h"

/* ---- Version 1 ---- */

/*
 * Version 1 as its first decoder showed it, byte for byte. The timeline:
 *
 *	[    0.066302] CPU0 PID=6    SYSCALL_ENTER    nr=59 (execve) a1=0x7ffc10 a2=0x7ffc30
 *
 * The summary: counts by type, by PID (the 20 busiest) and by CPU.
 */

/* As timeline_write(), which shows the traces of other versions. */
int classic_timeline(struct timeline *timeline);

/* 0 or KTREAD_E_MEMORY. */
int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally);

/* ---- What a guest's events and settings are set to ---- */

/*
 * A line an event, then a line a setting as the guest's own sysctl has it; or all of it as one JSON object.
 */
int settings_write(const struct ktread *trace, struct base_output *out, int json);

/* The words of a control text that make an event what it is: "on", "count+callers2". */
#define SETTINGS_STATE 32u
void settings_state_text(uint8_t state, uint8_t flags, char text[SETTINGS_STATE]);

/* ---- ktrdump ---- */

/*
 * Events as ktrdump(8) of DragonFly prints them: a table whose columns can be chosen, with its header again
 * every 20 rows.
 */

#define KTR_CPUS 4097u

enum ktr_columns {
	KTR_CPU = 1,
	KTR_ABSOLUTE = 2, /* the stamp */
	KTR_RELATIVE = 4, /* since the one before of the same CPU; KTR_ABSOLUTE gives way */
	KTR_CALLERS = 8,
	KTR_ID = 16,
	KTR_FILE = 32,
	KTR_PAYLOAD = 64,
};

struct ktr_table {
	struct base_output *out;
	unsigned columns;	 /* KTR_* */
	bool quiet;		 /* no header */
	bool raw;		 /* ticks instead of microseconds */
	bool by_ring;		 /* each ring's rows are counted by themselves */
	double correction;	 /* microseconds taken off each relative time */
	struct symbols *symbols; /* NULL: addresses in hexadecimal */
	/* The table's own: zero at first. */
	uint64_t row;
	uint64_t frequency;	     /* as printed last */
	uint64_t previous[KTR_CPUS]; /* stamp by CPU, 0: none yet; the last: CPUs beyond, or none */
	uint32_t ring;		     /* of the previous row */
};

/*
 * Prints "TSC frequency is …" before the table. ktr_row() prints it again when a running guest has a new
 * figure.
 */
void ktr_frequency(struct ktr_table *table, const struct ktread_info *info);
/* A row; `late` ones are marked. */
void ktr_row(struct ktr_table *table, const struct ktread_info *info, const struct ktread_event *event,
	     bool late);
/* Prints a line: how many slots of a ring are missing at this place. */
void ktr_lost(struct ktr_table *table, uint32_t ring, uint32_t cpu, uint64_t slots);
/* Forgets the previous stamps, so that no relative time reaches back into an earlier boot. */
void ktr_restart(struct ktr_table *table);

/* ---- What `ktrace check` found, as text and as JSON ---- */

struct violations {
	struct ktread *trace;
	const struct rules *rules;
	const struct check_result *result; /* a row for each rule */
	const char *path;		   /* of the rule file */
	bool unread;			   /* the trace's end is missing or could not be read */
};

/* One violation, as it is found: a line, or an element of the list "violations". */
void violations_put_text(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation);
void violations_put_json(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation, bool first);

/*
 * Writes the result of each rule and, by reading the trace again, the events before the first violation.
 * Returns what that reading returned.
 */
int violations_write_text(struct base_output *out, const struct violations *found);
/* The same as members of a JSON object, without braces. */
int violations_write_json(struct base_output *out, const struct violations *found);

/* The first of all violations in time, NULL if all rules hold. */
const struct check_violation *violations_first(const struct violations *found);

/* ---- Windows ---- */

/*
 * A stretch of a trace as a picture: for each CPU who runs, what system calls, faults and interrupts are
 * under way, and every other event as a mark. The whole trace up to the end of the window is read, so that
 * what began before it is there.
 *
 * The picture is bounded: what is too close together to be told apart at its width is drawn once and counted.
 */

#define WINDOW_CPUS 64u /* drawn; those beyond are counted */

struct window {
	struct ktread *trace;
	struct base_output *out;
	uint64_t from, to; /* stamps; `to` UINT64_MAX: the end of the trace */
	/* Results. */
	uint64_t events;   /* in the window */
	uint64_t close;	   /* pieces not drawn, as one is there already that looks the same */
	uint64_t left_out; /* events of CPUs that are not drawn, pieces beyond the limit */
};

/* 0, or KTREAD_E_MEMORY, or what ktread_next() said; what could be read is drawn. */
int window_write(struct window *window);

#endif
