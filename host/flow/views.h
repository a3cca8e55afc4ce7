/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What can be shown of a flow. */
#ifndef FLOW_VIEWS_H
#define FLOW_VIEWS_H

#include <stddef.h>

#include "base/output.h"
#include "flow/calls.h"
#include "flow/flow.h"
#include "ktread/ktread.h"

/* ---- Beside a kernel's trace ---- */

/*
 * Hardware trace as events beside those of a kernel's trace (ktread/beside.h), a ring for each stream:
 * functions that are entered, and as it is wanted when they are left, or every branch. Where something is
 * missing is an event, too.
 */

enum flow_grain {
	FLOW_ENTRIES,  /* hwt.call */
	FLOW_CALLS,    /* and hwt.return */
	FLOW_BRANCHES, /* hwt.branch instead */
};

/* Makes `flow` the trace's, which closes it, also after an error. As ktread_beside_source(). */
int flow_beside(struct ktread *trace, struct flow *flow, const char *path, enum flow_grain grain);

/*
 * What a kernel's own trace says of its CPUs, for hardware trace beside it: which event came when, and which
 * thread ran then. Read once, before anything stands beside the trace, and kept: 16 bytes an event.
 */

#define FLOW_KERNEL_EVENTS_MOST (UINT64_C(1) << 25) /* that are kept; nothing is known of what comes later */

struct flow_kernel_event {
	uint64_t stamp;
	uint32_t thread; /* that runs behind it; KTREAD_NO_THREAD: unknown */
	uint16_t type;	 /* id */
};

struct flow_kernel;

/* Leaves the trace rewound. 0 or an error. */
int flow_kernel_read(struct flow_kernel **kernel, struct ktread *trace);
void flow_kernel_free(struct flow_kernel *kernel);
/*
 * The first event of a CPU behind a stamp; NULL: none is known. Those that follow it stand behind it, up to
 * `end`.
 */
const struct flow_kernel_event *flow_kernel_behind(const struct flow_kernel *kernel, uint32_t cpu,
						   uint64_t stamp, const struct flow_kernel_event **end);
/* KTREAD_NO_THREAD: not known. */
uint32_t flow_kernel_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t stamp);
/* Where a thread ran; KTRX_NO_CPU: not known. */
uint32_t flow_kernel_cpu(const struct flow_kernel *kernel, uint32_t thread, uint64_t stamp);

/* ---- Coverage ---- */

/*
 * How often each source line was run and each function was entered, as an .info file of lcov: for every file
 * of which anything ran, all of its lines and functions that have code. A line counts as often as that of its
 * instructions which was run most often.
 */

struct flow_coverage;

/* 0 or KTREAD_E_MEMORY. */
int flow_coverage_new(struct flow_coverage **coverage, struct flow *flow);
void flow_coverage_free(struct flow_coverage *coverage);
extern const struct flow_view flow_coverage; /* fed to a struct flow_coverage */
/* What of the code has no lines is told by `warn`, a text each. 0 or KTREAD_E_MEMORY. */
int flow_coverage_write(struct flow_coverage *coverage, struct base_output *out,
			void (*warn)(void *to, const char *text), void *to);

/* Which functions were run at all, if only for an instruction, sorted by image and name. */

struct flow_executed;

/* 0 or KTREAD_E_MEMORY. */
int flow_executed_new(struct flow_executed **executed, struct flow *flow);
void flow_executed_free(struct flow_executed *executed);
extern const struct flow_view flow_executed; /* fed to a struct flow_executed */
/* "image symbol" a line, or objects. 0 or KTREAD_E_MEMORY. */
int flow_executed_write(struct flow_executed *executed, struct base_output *out, int json);

/* ---- The tree of calls ---- */

/*
 * Calls as an indented tree, as they happen, with how long each took:
 *
 *	CPU 0
 *	[    0.000012345]               main {
 *	[    0.000013001]      0.250 us   strlen
 *	[    0.000014800]      2.455 us } main
 *
 * A function that called nothing is one line. Constant memory but for the stacks.
 */

struct flow_tree;

/*
 * 0 or KTREAD_E_MEMORY. As JSON a line is an object:
 * {"time":…,"id":0,"depth":1,"event":"enter","function":…}.
 */
int flow_tree_new(struct flow_tree **tree, struct flow *flow, struct base_output *out, int json);
void flow_tree_free(struct flow_tree *tree);
extern const struct flow_view flow_tree; /* fed to a struct flow_tree */
const struct flow_doubts *flow_tree_doubts(const struct flow_tree *tree);

/* ---- The last branches ---- */

/*
 * The last branches of each stream, or the last ones before a function was entered. Recordings are read from
 * their ends, as far back as need be.
 */

#define FLOW_LAST_MOST 10000000u

struct flow_last {
	uint64_t count;	    /* branches of a stream, 1 to FLOW_LAST_MOST */
	const char *before; /* name of the function, NULL: none */
	/* Results. */
	int found; /* it was entered */
};

/*
 * As flow_walk(), of those branches alone. The stream in which the function was entered comes last, so that
 * what led to it is what is written last.
 */
int flow_last_walk(struct flow_last *last, struct flow *flow, const struct flow_view *view, void *to);

/* ---- Folded stacks ---- */

/*
 * Folded stacks, as flame graphs are drawn from: "main;parse;strlen 123", a line for each stack that was met,
 * with the instructions that ran on it, or the nanoseconds that it took.
 */

#define FLOW_FOLDED_MOST (1u << 20) /* stacks; what is met beyond counts for its caller */

enum flow_weight { FLOW_BY_INSTRUCTIONS, FLOW_BY_TIME };

struct flow_folded;

/* 0 or KTREAD_E_MEMORY. */
int flow_folded_new(struct flow_folded **folded, struct flow *flow, enum flow_weight weight);
void flow_folded_free(struct flow_folded *folded);
extern const struct flow_view flow_folded; /* fed to a struct flow_folded */
/* Sorted by stack. 0 or KTREAD_E_MEMORY. */
int flow_folded_write(struct flow_folded *folded, struct base_output *out);
uint64_t flow_folded_left_out(const struct flow_folded *folded); /* calls beyond FLOW_FOLDED_MOST */
const struct flow_doubts *flow_folded_doubts(const struct flow_folded *folded);

/* ---- When it happened ---- */

/*
 * When what a unit told happened. The unit tells the time now and then; what comes between two times lies
 * between them, spread by the instructions that were run. Two things are known better: what is told is in
 * order; and where the kernel's code that records an event was called, that event's stamp is the time. That
 * stamp may lie beside the piece in which the unit tells the call: the recorder may have taken it long
 * before, and the unit's clock is not exact.
 *
 * Behind that, events of the same CPU that lie in the same piece of time may have come before or after: such
 * a place is `about`.
 */

struct flow_spread {
	const struct flow_kernel *kernel;
	const struct ktread *trace; /* whose types those events have */
	uint32_t cpu;		    /* KTRX_NO_CPU: not known, and all is `about` */
	uint64_t from, to;	    /* of the piece: stamps; `to` UINT64_MAX: not known */
	uint64_t run_from, run_to;  /* and instructions */
};

/* What the unit told between two times. */
struct flow_piece {
	uint64_t from, to; /* stamps; `to` UINT64_MAX: not known */
	uint64_t early;	   /* where the piece before it began, or as `from` */
	uint64_t run;	   /* instructions that were run in it */
};

enum flow_anchor {
	FLOW_NO_RECORDER,
	FLOW_RECORDER_ALONE, /* of an event that is not there, or not near */
	FLOW_ANCHOR,
};

/*
 * Does the function with this name, called in the piece, record an event? The one that is nearest to the
 * piece, of those behind
 * `matched`: not before the piece that comes before it, and not farther than the unit's clock may be off. In
 * the piece, the first.
 */
enum flow_anchor flow_spread_anchor(const struct flow_spread *spread, const char *function,
				    const struct flow_piece *piece, uint64_t matched, uint64_t *stamp);
/*
 * Up to when the event may yet come of a recorder that stands alone in the piece: as long as recording may
 * take.
 */
uint64_t flow_spread_doubt(const struct flow_spread *spread, const struct flow_piece *piece);
/* So many instructions on. Returns the stamp. */
uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run);
/* May events of that CPU in the piece have come before or after? */
int flow_spread_is_about(const struct flow_spread *spread);

/* ---- Durations ---- */

/*
 * How often each function was called, and how long that took: in total, in itself (without what it called),
 * and how the times of single calls are spread. Calls whose beginning or end was not seen are counted, but
 * have no time. Time that a function spends in calls of itself is in its total once.
 */

struct flow_durations;

/* 0 or KTREAD_E_MEMORY. */
int flow_durations_new(struct flow_durations **durations, struct flow *flow);
void flow_durations_free(struct flow_durations *durations);
extern const struct flow_view flow_durations; /* fed to a struct flow_durations */
/* The table, by total time, or objects. 0 or KTREAD_E_MEMORY. */
int flow_durations_write(struct flow_durations *durations, struct base_output *out, int json);
const struct flow_doubts *flow_durations_doubts(const struct flow_durations *durations);

/* ---- What views of calls have in common ---- */

/* The steps of each stream go through stacks of their own. */

struct flow_call_view {
	struct flow *flow;
	struct flow_calls *calls;  /* of the stream at hand */
	struct flow_doubts doubts; /* of all streams */
};

/* The stream's calls go to `sink`. 0 or KTREAD_E_MEMORY. */
int flow_call_view_begin(struct flow_call_view *view, const struct hwt_stream *stream,
			 const struct flow_sink *sink, void *to);
void flow_call_view_end(struct flow_call_view *view);

/* Do the stream's threads run nowhere else? Those of one that is a thread, or of the only CPU. */
int flow_is_alone(const struct flow *flow, const struct hwt_stream *stream);

/* ---- Pieces of lines that several views have ---- */

#define FLOW_NAME_MOST	128u			  /* bytes of a name that are shown; longer ones are cut */
#define FLOW_NAME_ROOM	(4u * FLOW_NAME_MOST + 1) /* that an escaped one takes */
#define FLOW_PLACE_ROOM (2u * FLOW_NAME_ROOM + 32)

/* Each writes a text that ends in NUL and returns its length; `to` has room for it as said. */

/* "libc.so", escaped; `otherwise` for NULL. FLOW_NAME_ROOM. */
size_t flow_put_name(char *to, const char *name, const char *otherwise);
/* "main", "[sh]" for code of a file without symbols, "[unknown]". FLOW_NAME_ROOM. */
size_t flow_put_function(char *to, const struct flow_function *function);
/* "main+0x1a", "[sh]+0x3400", "0x401020". FLOW_PLACE_ROOM. */
size_t flow_put_place(char *to, const struct hwt_place *place, uint64_t address);
/* Seconds since flow->base with nine digits; of an unknown frequency ticks. 32 bytes. */
size_t flow_put_time(char *to, const struct flow *flow, uint64_t stamp);
/* Microseconds with three digits; ticks. 32 bytes. */
size_t flow_put_span(char *to, const struct flow *flow, uint64_t ticks);

const char *flow_branch_word(uint8_t branch); /* enum hwt_branch */
const char *flow_kind_word(uint8_t kind);     /* enum hwt_kind */
const char *flow_how_word(uint8_t how);	      /* enum flow_how */

/* "CPU 1", "thread 0 of process 7: sh", escaped. FLOW_NAME_ROOM + 64. */
size_t flow_put_stream(char *to, const struct hwt_stream *stream);

/* What a step says beyond its address, in words. */

#define FLOW_PAYLOAD_ROOM 1024u

/*
 * Ends in NUL; returns the length. Texts are escaped. Where it goes is told with the name that `flow` has for
 * it.
 */
size_t flow_put_payload(char *to, const struct flow *flow, const struct hwt_step *step);

/* ---- Columns ---- */

/* Steps one a line, in columns that can be chosen, or as JSON objects. */

#define FLOW_COLUMNS_USUAL "offset,id,image,symbol,pc,event_type,event_payload"
#define FLOW_COLUMNS_ALL \
	"offset, id, image, symbol, pc, event_type, event_payload, time, pid, tid, space, source"
#define FLOW_COLUMNS_MOST 16u

struct flow_columns {
	struct flow *flow;
	struct base_output *out;
	int json;
	uint8_t column[FLOW_COLUMNS_MOST];
	unsigned count;
	int headings;			 /* a line before each stream; not for JSON */
	const struct hwt_stream *stream; /* the one at hand */
};

/* "offset,pc": 0, or -1 if one is unknown, named twice or there are none. */
int flow_columns_parse(struct flow_columns *columns, const char *list);
/* The names of the columns, before all lines; not for JSON. */
void flow_columns_head(struct flow_columns *columns);
/* A view; what is fed to it is a struct flow_columns. */
extern const struct flow_view flow_columns;

#endif
