/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Views of a recording (struct flow): each view shows the steps in a different form. */
#ifndef FLOW_VIEWS_H
#define FLOW_VIEWS_H

#include <stddef.h>

#include "base/output.h"
#include "flow/flow.h"
#include "ktread/ktread.h"

/* ---- Merged into a kernel's trace ---- */

/*
 * Hardware trace as events that are merged into a kernel's trace (ktread/beside.h), with a ring for each
 * stream. The events are either all branches, or entries into functions, with or without the returns. Missing
 * data is reported as an event, too.
 */

enum flow_grain {
	FLOW_ENTRIES,  /* makes events hwt.call */
	FLOW_CALLS,    /* makes events hwt.call and hwt.return */
	FLOW_BRANCHES, /* makes events hwt.branch */
};

/* Adds `flow` to the trace by ktread_beside_source(). The trace then owns `flow`, even after an error. */
int flow_beside(struct ktread *trace, struct flow *flow, const char *path, enum flow_grain grain);

/*
 * What a kernel's own trace reports of its CPUs: the timestamps of events, and the thread that ran after each
 * event. This is read once, before other sources are added to the trace, and kept in memory: 24 bytes for
 * each event.
 */

/* largest number of events that are kept; later events are ignored */
#define FLOW_KERNEL_EVENTS_MOST (UINT64_C(1) << 25)

struct flow_kernel_event {
	uint64_t stamp;
	uint32_t thread;  /* id of the thread that runs after the event; KTREAD_NO_THREAD: unknown */
	uint32_t changes; /* number of times that the running thread has changed on this CPU so far */
	uint16_t type;	  /* id of the event's type */
};

struct flow_kernel;

/* Reads the trace to its end, and rewinds it. Returns 0 or an error. */
int flow_kernel_read(struct flow_kernel **kernel, struct ktread *trace);
void flow_kernel_free(struct flow_kernel *kernel);
/*
 * Returns the first event of a CPU after a timestamp, or NULL if none is known. Later events follow it in
 * memory, up to `end`.
 */
const struct flow_kernel_event *flow_kernel_after(const struct flow_kernel *kernel, uint32_t cpu,
						  uint64_t stamp, const struct flow_kernel_event **end);
/* Returns the thread that ran on a CPU at a timestamp, or KTREAD_NO_THREAD if unknown. */
uint32_t flow_kernel_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t stamp);
/* Returns the only thread that ran on the CPU between two timestamps; otherwise KTREAD_NO_THREAD. */
uint32_t flow_kernel_only_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t from, uint64_t to);
/* Returns the CPU on which a thread ran at a timestamp, or KTRX_NO_CPU if unknown. */
uint32_t flow_kernel_cpu(const struct flow_kernel *kernel, uint32_t thread, uint64_t stamp);

/* ---- Coverage of source lines ---- */

/*
 * Counts how often each source line ran and each function was entered. The result is an .info file of lcov:
 * for every source file with code that ran, it lists all lines and functions that have code. The count of a
 * line is that of its most executed instruction.
 */

struct flow_coverage;

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_coverage_new(struct flow_coverage **coverage, struct flow *flow);
void flow_coverage_free(struct flow_coverage *coverage);
extern const struct flow_view flow_coverage; /* for flow_walk() with a struct flow_coverage as `to` */
/*
 * Writes the result. Calls `warn` for each part of the code without line information. Returns 0 or
 * KTREAD_E_MEMORY.
 */
int flow_coverage_write(struct flow_coverage *coverage, struct base_output *out,
			void (*warn)(void *to, const char *text), void *to);

/* Lists the functions of which at least one instruction ran, sorted by image and name. */

struct flow_executed;

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_executed_new(struct flow_executed **executed, struct flow *flow);
void flow_executed_free(struct flow_executed *executed);
extern const struct flow_view flow_executed; /* for flow_walk() with a struct flow_executed as `to` */
/* Writes "image symbol" lines, or JSON objects. Returns 0 or KTREAD_E_MEMORY. */
int flow_executed_write(struct flow_executed *executed, struct base_output *out, int json);

/* ---- The tree of calls ---- */

/*
 * Writes calls as an indented tree, in the order of execution, with the duration of each call:
 *
 *	CPU 0
 *	[    0.000012345]               main {
 *	[    0.000013001]      0.250 us   strlen
 *	[    0.000014800]      2.455 us } main
 *
 * A function that called nothing takes one line. Apart from the stacks, memory use is constant.
 */

struct flow_tree;

/*
 * Returns 0 or KTREAD_E_MEMORY. As JSON, each line is an object:
 * {"time":...,"id":0,"depth":1,"event":"enter","function":...}.
 */
int flow_tree_new(struct flow_tree **tree, struct flow *flow, struct base_output *out, int json);
void flow_tree_free(struct flow_tree *tree);
extern const struct flow_view flow_tree; /* for flow_walk() with a struct flow_tree as `to` */
const struct flow_doubts *flow_tree_doubts(const struct flow_tree *tree);

/* ---- The last branches ---- */

/*
 * Shows the last branches of each stream, or the last branches before a function was entered. Recordings are
 * read from their ends, only as far back as needed.
 */

#define FLOW_LAST_MOST 10000000u

struct flow_last {
	uint64_t count; /* number of branches to show for each stream: 1 to FLOW_LAST_MOST */
	/*
	 * name of the function at whose entry the shown branches end; NULL: they end at the end of the stream
	 */
	const char *before;
	/* Result of the search for `before`: */
	int found; /* true if an entry into the function was found */
};

/*
 * Does the same as flow_walk(), but passes only the last branches. The stream in which the function was
 * entered comes last, so that the output ends with the branches before that entry.
 */
int flow_last_walk(struct flow_last *last, struct flow *flow, const struct flow_view *view, void *to);

/* ---- Folded stacks ---- */

/*
 * Writes folded stacks, the input of flame graph tools: a line "main;parse;strlen 123" for each distinct
 * stack, with the number of instructions that ran on it, or the nanoseconds that it took.
 */

/* largest number of stacks; code that runs on any further stack is counted for the stack of its caller */
#define FLOW_FOLDED_MOST (1u << 20)

enum flow_weight { FLOW_BY_INSTRUCTIONS, FLOW_BY_TIME };

struct flow_folded;

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_folded_new(struct flow_folded **folded, struct flow *flow, enum flow_weight weight);
void flow_folded_free(struct flow_folded *folded);
extern const struct flow_view flow_folded; /* for flow_walk() with a struct flow_folded as `to` */
/* Writes the lines, sorted by stack. Returns 0 or KTREAD_E_MEMORY. */
int flow_folded_write(struct flow_folded *folded, struct base_output *out);
/* Returns the number of calls that were not recorded because there were FLOW_FOLDED_MOST stacks. */
uint64_t flow_folded_left_out(const struct flow_folded *folded);
const struct flow_doubts *flow_folded_doubts(const struct flow_folded *folded);

/* ---- Times between timestamps ---- */

/*
 * Estimates when steps happened. A unit writes timestamps only from time to time. The steps between two
 * timestamps form a piece, and are spread over its time by the number of instructions. Two facts make this
 * more exact. First, steps are in order. Second, if a step calls a function of ktrace that records an event,
 * the step has that event's timestamp. This timestamp may be outside of the piece that contains the call,
 * because it may have been taken long before, and because the unit's clock is not exact.
 *
 * For other steps, it is unknown whether events of the same CPU in the same piece came before or after the
 * step: such a step is marked `about`.
 */

struct flow_spread {
	const struct flow_kernel *kernel;
	const struct ktread *trace; /* the trace that contains the types of the events in `kernel` */
	/* CPU on which the steps ran; KTRX_NO_CPU: unknown, so all steps are `about` */
	uint32_t cpu;
	/* timestamps of the beginning and the end of the steps; `to` UINT64_MAX: the end is unknown */
	uint64_t from, to;
	uint64_t run_from, run_to; /* numbers of the instructions at `from` and at `to` */
};

/* A piece: what the unit reported between two of its timestamps. */
struct flow_piece {
	/* timestamps of the piece's beginning and end; `to` UINT64_MAX: the end is unknown */
	uint64_t from, to;
	uint64_t early; /* timestamp at which the previous piece began; `from` if there is no such piece */
	uint64_t run;	/* number of instructions in the piece */
};

enum flow_anchor {
	FLOW_NO_RECORDER,    /* the function does not record an event */
	FLOW_RECORDER_ALONE, /* the function records an event, but that event was not found */
	FLOW_ANCHOR,	     /* the function records an event, and that event was found */
};

/*
 * Checks whether the function with this name, called in the piece, records an event, and finds that event.
 * Only events after `matched` are considered; for earlier events, the recording function has been found
 * already. The event is not before the previous piece, and its distance from the piece is not larger than the
 * possible error of the unit's clock. If several events match, chooses the nearest event, or the first event
 * within the piece.
 */
enum flow_anchor flow_spread_anchor(const struct flow_spread *spread, const char *function,
				    const struct flow_piece *piece, uint64_t matched, uint64_t *stamp);
/*
 * Returns the latest timestamp that the event of a FLOW_RECORDER_ALONE in the piece may have. Recording takes
 * time, so this timestamp may be later than the call.
 */
uint64_t flow_spread_doubt(const struct flow_spread *spread, const struct flow_piece *piece);
/* Returns the estimated timestamp of the instruction with number `run`. */
uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run);
/*
 * Returns true if it is unknown whether steps of the piece came before or after events of the same CPU: the
 * piece has such events, or the CPU is unknown.
 */
int flow_spread_is_about(const struct flow_spread *spread);

/* ---- Durations of functions ---- */

/*
 * Reports how often each function was called, and how long that took: in total, by itself (without functions
 * that it called), and as a distribution over calls. Calls whose beginning or end is not in the steps are
 * counted, but have no duration. The time of recursive calls is counted once in the total.
 */

struct flow_durations;

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_durations_new(struct flow_durations **durations, struct flow *flow);
void flow_durations_free(struct flow_durations *durations);
extern const struct flow_view flow_durations; /* for flow_walk() with a struct flow_durations as `to` */
/* Writes a table sorted by total time, or JSON objects. Returns 0 or KTREAD_E_MEMORY. */
int flow_durations_write(struct flow_durations *durations, struct base_output *out, int json);
const struct flow_doubts *flow_durations_doubts(const struct flow_durations *durations);

/* ---- Shared by views of calls ---- */

/* State of a view that feeds the steps of each stream to a struct flow_calls. */

struct flow_call_view {
	struct flow *flow;
	struct flow_calls *calls;  /* reconstructed calls of the current stream */
	struct flow_doubts doubts; /* number of doubtful places in all streams */
};

/* Begins a stream, whose calls are passed to `sink`. Returns 0 or KTREAD_E_MEMORY. */
int flow_call_view_begin(struct flow_call_view *view, const struct hwt_stream *stream,
			 const struct flow_sink *sink, void *to);
void flow_call_view_end(struct flow_call_view *view);

/* Returns true if the stream's threads run nowhere else: it is the stream of a thread, or of the only CPU. */
int flow_is_alone(const struct flow *flow, const struct hwt_stream *stream);

/* ---- Parts of lines that several views use ---- */

/* largest number of bytes of a name that are printed; longer names are cut */
#define FLOW_NAME_MOST	128u
#define FLOW_NAME_ROOM	(4u * FLOW_NAME_MOST + 1) /* room, in bytes, for an escaped name */
#define FLOW_PLACE_ROOM (2u * FLOW_NAME_ROOM + 32)

/*
 * Each of these functions writes a text that ends in NUL and returns its length. `to` must have the room that
 * the comment states.
 */

/* Writes an escaped file name such as "libc.so", or `otherwise` for NULL. Room: FLOW_NAME_ROOM. */
size_t flow_put_name(char *to, const char *name, const char *otherwise);
/* Writes "main", "[sh]" for code of a file without symbols, or "[unknown]". Room: FLOW_NAME_ROOM. */
size_t flow_put_function(char *to, const struct flow_function *function);
/* Writes a place such as "main+0x1a", "[sh]+0x3400" or "0x401020". Room: FLOW_PLACE_ROOM. */
size_t flow_put_place(char *to, const struct hwt_place *place, uint64_t address);
/* Writes the seconds since flow->base with nine digits; ticks if the frequency is unknown. Room: 32 bytes. */
size_t flow_put_time(char *to, const struct flow *flow, uint64_t stamp);
/* Writes microseconds with three digits; ticks if the frequency is unknown. Room: 32 bytes. */
size_t flow_put_span(char *to, const struct flow *flow, uint64_t ticks);

const char *flow_branch_word(uint8_t branch); /* enum hwt_branch */
const char *flow_kind_word(uint8_t kind);     /* enum hwt_kind */
const char *flow_how_word(uint8_t how);	      /* enum flow_how */

/* Writes "CPU 1" or "thread 0 of process 7: sh", escaped. Room: FLOW_NAME_ROOM + 64. */
size_t flow_put_stream(char *to, const struct hwt_stream *stream);

/* Writes the contents of a step, except its address, as text. */

#define FLOW_PAYLOAD_ROOM 1024u

/*
 * Writes a text that ends in NUL, and returns its length. Strings are escaped. A target address is followed
 * by its name, which is looked up in `flow`.
 */
size_t flow_put_payload(char *to, const struct flow *flow, const struct hwt_step *step);

/* ---- Steps in columns ---- */

/* Writes one line for each step, with selectable columns, or JSON objects. */

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
	/* nonzero: writes a heading line before each stream; ignored for JSON */
	int headings;
	const struct hwt_stream *stream; /* the current stream */
};

/*
 * Parses a list such as "offset,pc". Returns 0, or -1 if it is empty, or has an unknown or repeated column.
 */
int flow_columns_parse(struct flow_columns *columns, const char *list);
/* Writes the line with the names of the columns; nothing for JSON. */
void flow_columns_head(struct flow_columns *columns);
/* For flow_walk() with a struct flow_columns as `to`. */
extern const struct flow_view flow_columns;

#endif
