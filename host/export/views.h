/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Views of a trace that commands print. Each view has a source file of its own. */
#ifndef EXPORT_VIEWS_H
#define EXPORT_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/latencies.h"
#include "analyze/rules.h"
#include "analyze/symbols.h"
#include "analyze/worst.h"
#include "base/output.h"
#include "export/summary.h"
#include "export/timeline.h"
#include "findings/finding.h"
#include "ktread/ktread.h"

/* ---- Version 1 ---- */

/*
 * Prints traces of version 1 exactly as their first decoder did, byte for byte. The timeline:
 *
 *	[    0.066302] CPU0 PID=6    SYSCALL_ENTER    nr=59 (execve) a1=0x7ffc10 a2=0x7ffc30
 *
 * The summary has counts by type, by PID (the 20 with most events) and by CPU.
 */

/* Writes the timeline of a trace of version 1. Returns the same values as timeline_write(). */
int classic_timeline(struct timeline *timeline);

/* Writes the summary of a trace of version 1. Returns 0 or KTREAD_E_MEMORY. */
int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally);

/* ---- Current settings of a guest and its events ---- */

/*
 * Writes a line for each event, and then a line for each setting in the form that the guest's own sysctl
 * uses. If `json` is set, writes the same as one JSON object.
 */
int settings_write(const struct ktread *trace, struct base_output *out, int json);

/* Writes the control words, such as "on" or "count+callers2", that put an event into this state. */
#define SETTINGS_STATE 32u
void settings_state_text(uint8_t state, uint8_t flags, char text[SETTINGS_STATE]);

/* ---- The table of ktrdump ---- */

/*
 * Events as DragonFly's ktrdump(8) prints them: a table with selectable columns, whose header is repeated
 * every 20 rows.
 */

#define KTR_CPUS 4097u

enum ktr_columns {
	KTR_CPU = 1,
	KTR_ABSOLUTE = 2, /* the timestamp of the event */
	/* time since the previous event of the same CPU; if set, KTR_ABSOLUTE has no effect */
	KTR_RELATIVE = 4,
	KTR_CALLERS = 8,
	KTR_ID = 16,
	KTR_FILE = 32,
	KTR_PAYLOAD = 64,
};

struct ktr_table {
	struct base_output *out;
	unsigned columns;	 /* the selected columns, KTR_* */
	bool quiet;		 /* true: no header is printed */
	bool raw;		 /* true: times are printed in ticks instead of microseconds */
	bool by_ring;		 /* true: rows are numbered separately for each ring */
	double correction;	 /* number of microseconds to subtract from each relative time */
	struct symbols *symbols; /* symbols for addresses; NULL: prints addresses in hexadecimal */
	/* Internal state. Requires: the caller has set it to zeros. */
	uint64_t row;
	uint64_t frequency; /* the frequency that was last printed */
	/*
	 * indexed by CPU: timestamp of the CPU's last event; 0 if there was none; the last element is for all
	 * further CPUs
	 */
	uint64_t previous[KTR_CPUS];
	uint32_t ring; /* number of the previous row's ring */
};

/*
 * Prints "TSC frequency is …" before the table. ktr_row() prints it again when the frequency of a running
 * guest changes.
 */
void ktr_frequency(struct ktr_table *table, const struct ktread_info *info);
/* Prints a row. If `late` is true, marks the row as late. */
void ktr_row(struct ktr_table *table, const struct ktread_info *info, const struct ktread_event *event,
	     bool late);
/* Prints a line that states how many slots of a ring are missing here. */
void ktr_lost(struct ktr_table *table, uint32_t ring, uint32_t cpu, uint64_t slots);
/* Discards the timestamps of previous events, so that no relative time is computed across two boots. */
void ktr_restart(struct ktr_table *table);

/* ---- What `ktrace check` found, as text and as JSON ---- */

struct violations {
	struct ktread *trace;
	const struct rules *rules;
	const struct check_result *result; /* indexed by rule: result of the check */
	const char *path;		   /* name of the rule file */
	bool unread;			   /* true if the end of the trace is missing or unreadable */
	bool nothing;			   /* true if the trace has records, but none of them can be read */
	bool ids;			   /* true if the text output contains the ids of events */
	/* path of the trace, quoted for a shell; NULL if the run that made the trace cannot be repeated */
	const char *repeatable;
	struct finding_event first[RULES_MAX]; /* indexed by rule: event of the first violation */
};

/*
 * Sets `first` to the violating event of each violated rule. If the violation is that an event did not come
 * in time, this is the event after which it should have come. If only a state table shows the violation, this
 * is the last event of the CPU before the violation. Reads the trace again if necessary. Returns 0 or the
 * error of reading.
 */
int violations_find_events(struct violations *found);

/* Writes one violation when it is found: as a line, or as an element of the list "violations". */
void violations_put_text(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation);
void violations_put_json(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation, bool first);

/*
 * Writes the result of each rule, then the events before the first violation. Reads the trace again to find
 * these events. Returns the result of that reading.
 */
int violations_write_text(struct base_output *out, const struct violations *found);
/*
 * Does the same as violations_write_text(), but writes members of a JSON object, without braces. Returns the
 * result of reading the trace.
 */
int violations_write_json(struct base_output *out, const struct violations *found);

/* Returns the violation with the earliest timestamp, or NULL if no rule was violated. */
const struct check_violation *violations_first(const struct violations *found);

/* ---- Pictures of a time window ---- */

/*
 * A picture of a time window of a trace. For each CPU it shows the running thread, the system calls, faults
 * and interrupts in progress, and every other event as a mark. The whole trace up to the end of the window is
 * read, because spans may begin before the window.
 *
 * The size of the picture is bounded: if elements are too close together to be drawn separately, only the
 * first is drawn, and the others are counted.
 */

/* maximum number of CPUs that are drawn; the events of other CPUs are only counted */
#define WINDOW_CPUS 64u

struct window {
	struct ktread *trace;
	struct base_output *out;
	/*
	 * timestamps at which the time window begins and ends; if `to` is UINT64_MAX, the window ends where
	 * the trace ends
	 */
	uint64_t from, to;
	/* Results, set by window_write(): */
	uint64_t events; /* number of events in the time window */
	/* number of elements that were not drawn because they are too close to the previous element */
	uint64_t close;
	/* number of events on CPUs that are not drawn, plus number of elements beyond the limit */
	uint64_t left_out;
};

/*
 * Draws the window. Returns 0, KTREAD_E_MEMORY, or an error of ktread_next(). After an error, everything that
 * was read is drawn.
 */
int window_write(struct window *window);

/*
 * Elements of SVG pictures. The pictures need no other files and have a dark mode. Colours are set by CSS
 * classes, and text is escaped. Coordinates are in pixels and may have fractions.
 */

/* the CSS classes c0 to c7 set the colours */

/* Begins a picture. `title` may contain any bytes. */
void svg_begin(struct base_output *out, unsigned width, unsigned height, const char *title);
void svg_end(struct base_output *out);

/* Draws a box that is at least half a pixel wide. `tip` is its tooltip, or NULL for none. */
void svg_box(struct base_output *out, const char *class, double x, double y, double width, double height,
	     const char *tip);
/*
 * Writes text. `anchor` is start, middle or end. A text wider than `room` pixels is truncated. If only a few
 * letters fit, the text is left out.
 */
void svg_text(struct base_output *out, const char *class, double x, double y, const char *anchor, double room,
	      const char *text);
void svg_line(struct base_output *out, const char *class, double x1, double y1, double x2, double y2);

/* ---- Drawing a time window for window_write(): from timestamps to pixels, on rows of CPUs ---- */

/*
 * maximum number of nested spans of a thread that are drawn, one below another; deeper spans are not drawn
 */
#define WINDOW_NEST 3u

enum window_row {
	WINDOW_RUN,
	WINDOW_SPAN, /* first of the WINDOW_NEST rows for spans */
	WINDOW_IRQ = WINDOW_SPAN + WINDOW_NEST,
	WINDOW_MARKS,
	WINDOW_ROWS,
};

struct window_drawing {
	struct window *window;
	uint64_t base, frequency;
	uint32_t cpus; /* number of CPUs that are drawn */
	uint32_t pieces;
	/* for each row of each CPU: x coordinate up to which something was already drawn */
	double last[WINDOW_CPUS][WINDOW_ROWS];
};

void window_draw_begin(struct window_drawing *drawing);
void window_draw_end(struct window_drawing *drawing);

/*
 * Draws a box from timestamp `from` to `to`. The times are added to the tooltip `tip`. `label` is written
 * into the box if there is room.
 */
void window_draw_box(struct window_drawing *drawing, uint32_t cpu, enum window_row row, const char *class,
		     uint64_t from, uint64_t to, const char *label, const char *tip);
/* Marks a gap of `slots` missing slots, over all rows of the CPU. */
void window_draw_gap(struct window_drawing *drawing, uint32_t cpu, uint64_t from, uint64_t to,
		     uint64_t slots);
void window_draw_mark(struct window_drawing *drawing, uint32_t cpu, uint64_t at, const char *tip);

/* Writes the output of `ktrace stats` as text, JSON or an SVG picture, and makes the histograms in it. */

/*
 * A histogram for display. Ticks of a known frequency are shown in nanoseconds. Values of signed fields keep
 * their sign. The edges of the bins are round numbers.
 */

#define DISTRIBUTION_BINS 128u

typedef __int128 distribution_number; /* holds any value of a 64-bit field, signed or unsigned */

struct distribution {
	struct histogram *values;
	/* histogram of the absolute values of negative values; NULL if there are none */
	struct histogram *negative;
	/* frequency of the counter if the values are ticks; 0 if they are other numbers */
	uint64_t frequency;
	/* "ns", "ticks", or a unit from the trace (untrusted text); "" if the values have no unit */
	const char *unit;
};

struct distribution_bin {
	/* the bin contains the values from `from` up to but not including `to` */
	distribution_number from, to;
	uint64_t count;
};

struct distribution_bins {
	struct distribution_bin bin[DISTRIBUTION_BINS];
	uint32_t count;
	uint64_t most; /* number of values in the fullest bin */
};

/*
 * Makes a distribution of ticks. They are shown in nanoseconds if the frequency is known, otherwise in ticks.
 */
struct distribution distribution_of_ticks(struct histogram *ticks, uint64_t frequency);

uint64_t distribution_count(const struct distribution *distribution);
/* These functions return a value of the distribution. Requires: distribution_count() is not 0. */
distribution_number distribution_least(const struct distribution *distribution);
distribution_number distribution_greatest(const struct distribution *distribution);
distribution_number distribution_rank(const struct distribution *distribution, unsigned part, unsigned whole);
double distribution_mean(const struct distribution *distribution);
/*
 * Returns whether distribution_rank() returns exact values. If not, each returned value is the largest value
 * of a histogram's bucket.
 */
bool distribution_is_exact(const struct distribution *distribution);

/*
 * Divides the distribution into bins. Edges are 1, 2, 5, 10, … or, if the values are close together, evenly
 * spaced numbers.
 * The first and the last bin are not empty.
 */
void distribution_bins(const struct distribution *distribution, struct distribution_bins *bins);

/*
 * Writes a value with its unit: "12.345 us", "-11", "7 pages". Writes at most DISTRIBUTION_TEXT bytes with
 * the NUL.
 * Returns `text`.
 */
#define DISTRIBUTION_TEXT 64u
char *distribution_text(const struct distribution *distribution, distribution_number value, char *text);
/* Writes the number without a unit. */
void distribution_write_number(struct base_output *out, distribution_number value);

/* ---- Distributions as `ktrace stats` shows them: one with all its figures, or a table of many ---- */

/* A distribution, and a description of the values in it. */
struct stats {
	struct ktread *trace;
	const char *title; /* what the user asked for on the command line */
	struct distribution distribution;
	/* result of pairing events; NULL if the values are those of a field */
	const struct pairs_result *pairs;
	uint64_t missing; /* number of events that lack the value; set only if `pairs` is NULL */
};

void stats_write_text(struct base_output *out, const struct stats *stats);
void stats_write_json(struct base_output *out, const struct stats *stats);
/* Writes the histogram as an SVG picture without external references. */
void stats_write_svg(struct base_output *out, const struct stats *stats);

struct stats_table {
	struct ktread *trace;
	struct latencies *latencies;
};

void stats_table_write_text(struct base_output *out, const struct stats_table *table);
void stats_table_write_json(struct base_output *out, const struct stats_table *table);

/*
 * Writes the name of a row, for example "read" or "33 timer"; "" for a kind that has only one row. The name
 * may be untrusted text. `name` has STATS_NAME bytes. Returns `name`.
 */
#define STATS_NAME 80u
char *stats_row_name(const struct stats_table *table, const struct latencies_row *row, char *name);
/* Returns the name of a kind of distribution, for example "syscall". */
const char *stats_kind_name(enum latencies_kind kind);

/*
 * Writes a timestamp as the timeline does: "0.001234", or ticks if the frequency is unknown.
 * `text` has STATS_TIME bytes. Returns `text`.
 */
#define STATS_TIME 32u
char *stats_time(struct ktread *trace, uint64_t stamp, char *text);

/* ---- The longest durations, with their shares ---- */

void stats_worst_write_text(struct base_output *out, struct ktread *trace, const struct worst *worst);
void stats_worst_write_json(struct base_output *out, struct ktread *trace, const struct worst *worst);

/* ---- Events in each interval of time, on each CPU ---- */

struct rates_options {
	uint64_t interval; /* length of an interval in ticks; not 0 */
	bool json;
};

/*
 * Writes a line for each interval, and then the totals of each CPU. The first interval begins at the first
 * event of the trace. Consecutive intervals without events are printed as one line. Returns 0,
 * KTREAD_E_MEMORY, or an error of ktread_next().
 */
int rates_write(struct base_output *out, struct ktread *trace, const struct rates_options *options);

#endif
