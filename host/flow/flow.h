/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An open recording of hardware trace: its file, its images, the selection of steps, and counts of missing
 * data. Views get the selected steps, one stream after another:
 *
 *	flow_open(&flow, path, root)
 *	flow->select = ...
 *	flow_walk(flow, &flow_tree, tree)
 *	flow->loss...
 *
 * Functions return results as in ktread/ktread.h. flow_message() returns the text of this thread's last
 * error.
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "hwt/hwt.h"

/* ---- Names and source lines of code ---- */

/*
 * Functions of code, each with an id. Code at the same place in the same file belongs to the same function,
 * no matter where and how often it is mapped. All code of a file without symbols counts as one function
 * without a name, and so does all unknown code together.
 */

struct flow_function {
	const char *
		image; /* name of the file that has the code, without directories, unescaped; NULL: unknown */
	const char *path; /* path of the file that was read; NULL: none */
	const char *name; /* name of the function, unescaped; NULL: none */
	uint64_t offset;  /* address of the function's first byte, in terms of the file's own addresses */
	uint32_t id;	  /* counted from 0, in the order in which functions are first found */
	/*
	 * for the rarely executed part of a function ("f.cold"): the id of that function; otherwise the same
	 * as `id`
	 */
	uint32_t parent_id;
};

/* The function at an address, and its extent in memory. */
struct flow_spot {
	const struct flow_function *function;
	/*
	 * addresses [begin, end) of the function; only the address that was looked up if the function has no
	 * name
	 */
	uint64_t begin, end;
	/* set if the address that was looked up is that of the function's first instruction */
	uint8_t at_start;
};

struct flow_functions;

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_functions_new(struct flow_functions **functions, struct hwt_images *images);
void flow_functions_free(struct flow_functions *functions);
/* Finds the function at an address of a process at a timestamp. Returns 0 or KTREAD_E_MEMORY. */
int flow_functions_at(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint64_t address,
		      struct flow_spot *spot);
uint32_t flow_functions_count(const struct flow_functions *functions);
const struct flow_function *flow_functions_get(const struct flow_functions *functions, uint32_t id);

/*
 * Returns true if `a` and `b` are parts of one function. A jump between two parts does not enter the function
 * again.
 */
static inline int flow_same_function(const struct flow_function *a, const struct flow_function *b)
{
	return a->parent_id == b->parent_id;
}

/*
 * The line table of an ELF file and, from its debug information, the entries of its functions. Both are read
 * with libdw.
 */

struct flow_line {
	uint64_t begin, end; /* addresses [begin, end), in terms of the file's own addresses */
	const char *source;  /* source file, unescaped */
	unsigned line;
};

struct flow_entry {
	uint64_t address;   /* address of the first instruction, in terms of the file's own addresses */
	const char *source; /* source file, unescaped */
	unsigned line;
	const char *name; /* linkage name, not demangled */
};

struct flow_lines {
	struct flow_line *line; /* line table, sorted by address */
	size_t count;
	/* sorted by address; a function may have several entries, one for each copy of its code */
	struct flow_entry *entry;
	size_t entries;
	struct symbols_file *file; /* the ELF file, which owns the strings */
};

/*
 * Reads the lines and entries. Returns 0. If nothing was read, returns -1, and `message` contains the reason.
 */
int flow_lines_read(struct flow_lines *lines, const char *path, char *message, size_t size);
void flow_lines_free(struct flow_lines *lines);

/* ---- Opening a recording ---- */

/* The addresses of a function. */
struct flow_range {
	uint64_t begin, end; /* addresses from `begin` up to but not including `end` */
};

/* Selection of streams and steps. If all members are 0, everything is selected. */
struct flow_select {
	/* bit map of the selected CPUs, without streams in thread mode; NULL: all streams are selected */
	const uint8_t *cpus;
	uint32_t cpu_count;
	uint8_t one_thread, one_process, one_backend;
	uint8_t backend; /* KTRX_HWT_BACKEND_* */
	uint32_t thread; /* index of the thread, for streams in thread mode */
	uint32_t pid;
	const struct flow_range *range; /* the ranges of code that are selected, sorted by address */
	size_t ranges;			/* number of elements of the array; 0: all code is selected */
	/* timestamps of the first and the last moment that are selected; `to` 0: no end */
	uint64_t from, to;
};

/* Counts of what is missing or could not be decoded, in all streams. */
struct flow_loss {
	uint64_t gaps;	    /* places where bytes are missing, without any other damage */
	uint64_t damaged;   /* places where bytes are damaged */
	uint64_t codeless;  /* places where the code that ran is unknown */
	uint64_t unread;    /* places with valid bytes that the decoder does not support */
	uint64_t other;	    /* places where the code that ran is not the known code */
	uint64_t overflows; /* number of times that a unit lost packets */
	uint64_t missing;   /* number of bytes that are missing in streams */
	uint64_t packets;   /* number of packets lost for lack of room, as counted by the units */
};

struct flow {
	struct hwt_file *file;
	struct hwt_images *images;
	struct flow_functions *functions;
	struct flow_select select;
	struct flow_range *range; /* owned: the ranges selected by flow_select_function() */
	struct flow_loss loss;
	uint64_t wanted;	 /* number of selected steps that were read, not counting losses */
	uint8_t names_processes; /* set if at least one step reports its process */
	/* ticks per second of the clock that timestamps are taken from; 0: unknown */
	uint64_t frequency;
	uint64_t base; /* first timestamp of all streams; 0: none */
};

/*
 * Selects only the code of a function. `image` as for hwt_images_find(). Returns 0, KTREAD_E_ABSENT if there
 * is no such function, or KTREAD_E_MEMORY.
 */
int flow_select_function(struct flow *flow, const char *image, const char *function);
/*
 * Finds the addresses of a function, sorted. A function of a program may have several addresses. Returns 0,
 * after which the caller frees *range; KTREAD_E_ABSENT if there is no such function; or KTREAD_E_MEMORY.
 */
int flow_find_function(struct flow *flow, const char *image, const char *function, struct flow_range **range,
		       size_t *ranges);
/* Returns the range that contains an address, or NULL. */
const struct flow_range *flow_range_find(const struct flow_range *range, size_t ranges, uint64_t address);

/*
 * Opens a recording. `root`: directory in which the paths of images begin, or NULL. After an error, *flow is
 * NULL.
 */
int flow_open(struct flow **flow, const char *path, const char *root);
void flow_close(struct flow *flow);
const char *flow_message(void);
/* Sets flow->base, which is needed to print times. To find it, decodes the beginning of each stream. */
int flow_find_base(struct flow *flow);

/* Returns true if steps of this stream are selected. */
int flow_wants_stream(const struct flow *flow, const struct hwt_stream *stream);
/* Adds the losses that the stream itself reports to flow->loss. */
void flow_count_stream(struct flow *flow, const struct hwt_stream *stream);
/* Returns the CPU of a stream; for a stream in thread mode, the index of its thread. */
uint32_t flow_stream_id(const struct hwt_stream *stream);
/* Sets *address to the address of the step. Returns 0 if the step has no address. */
int flow_address(const struct hwt_step *step, uint64_t *address);

/* ---- Reading one stream ---- */

struct flow_reader;
int flow_reader_open(struct flow_reader **reader, struct flow *flow, size_t stream);
/* Returns 1 and the next selected step; 0 at the end; or an error. Adds losses to flow->loss. */
int flow_reader_next(struct flow_reader *reader, const struct hwt_step **step);
/*
 * Seeks as hwt_decoder_seek() does. A loss is counted only once, even if the same bytes are read several
 * times.
 */
int flow_reader_seek(struct flow_reader *reader, uint64_t offset);
void flow_reader_close(struct flow_reader *reader);

/* ---- Reading all streams ---- */

struct flow_view {
	/*
	 * Each callback returns 0, a negative error, or a positive value to stop the walk. A callback may be
	 * NULL.
	 */
	int (*begin)(void *view, const struct hwt_stream *stream);
	int (*step)(void *view, const struct hwt_step *step);
	int (*end)(void *view); /* called at the end of a stream */
};
int flow_walk(struct flow *flow, const struct flow_view *view, void *to);

/* ---- Calls ---- */

/*
 * Reconstructs calls: the steps of one stream become functions that are entered and left.
 *
 * A call pushes a frame. A return pops the frame whose return address matches. If no return address matches,
 * it pops the frames above the function in which execution continues. An interrupt or a system call also
 * pushes a frame. A jump to the beginning of another function replaces the frame (a tail call). longjmp()
 * pops all frames above its target. If nothing matches, the stack is emptied and gets one frame, for the
 * function that runs; the beginning of this frame is unknown.
 *
 * There is a stack for each thread, identified by its number or, if the unit does not report it, by its
 * address space. No duration is reported across a gap or an overflow, or for a frame whose beginning is
 * unknown.
 */

#define FLOW_DEPTH_MOST 512u /* largest number of frames in a stack; deeper calls are only counted */
/* largest number of stacks of a stream; if there are more, the least recently used stack is dropped */
#define FLOW_STACKS_MOST 256u

enum flow_how {
	FLOW_SEEN, /* the function was already running when the trace or the stack began */
	FLOW_CALL,
	/*
	 * entered by a tail call: another function jumped to this function, which has replaced it on the
	 * stack
	 */
	FLOW_TAIL,
	FLOW_INTERRUPT,
	FLOW_KERNEL, /* entered by a system call: the function is the kernel's entry */
};

struct flow_frame {
	const struct flow_function *function;
	uint64_t begin, end; /* addresses of the function's code in memory: [begin, end) */
	uint64_t back;	     /* return address; 0: unknown */
	uint64_t since;	     /* timestamp when the function was entered; valid only if `timed` is set */
	uint64_t inside;     /* ticks spent in functions that this function called */
	uint32_t mark;	     /* for use by the sink; initially 0 */
	uint8_t how;	     /* enum flow_how */
	/* set if the steps contain the frame's beginning, and no steps have been missing since */
	uint8_t timed;
	/* set if execution was at the function's first instruction when the frame was pushed */
	uint8_t from_start;
	/*
	 * set between a call from the function to an address within the same function and the return of that
	 * call
	 */
	uint8_t inner;
};

/* Context of a callback. */
struct flow_moment {
	const struct hwt_step *step;
	const struct flow_frame *stack; /* frames of the thread, oldest first */
	/*
	 * number of frames in `stack`: for enter(), without the new frame; for leave(), without the frame
	 * that ended
	 */
	uint32_t depth;
	/* set if the sequence of instructions began in another function and continues into this one */
	uint8_t continued;
	uint32_t pid, tid;
	uint64_t space;
};

struct flow_sink {
	/* Each callback returns 0 or a negative error. A callback may be NULL. */
	int (*enter)(void *to, struct flow_frame *frame, const struct flow_moment *at);
	int (*leave)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/*
	 * Called for a sequence of instructions in the function of the topmost frame. A sequence that
	 * continues into the next function is divided.
	 */
	int (*run)(void *to, const struct flow_frame *frame, const struct flow_moment *at);
	/*
	 * Called when all frames of the thread are dropped, because it is unknown which functions still run.
	 */
	int (*cut)(void *to, const struct flow_moment *at);
	/* Called when another thread begins to run. */
	int (*turn)(void *to, const struct flow_moment *at);
};

/* Counts of places where the reconstructed calls may be wrong. */
struct flow_doubts {
	uint64_t resyncs; /* number of times that a stack was emptied because no frame matched */
	uint64_t deeper;  /* number of calls deeper than FLOW_DEPTH_MOST */
	/* number of stacks that were dropped because there were more than FLOW_STACKS_MOST */
	uint64_t stacks;
};

struct flow_calls;

/*
 * Creates the state for one stream. `alone`: true if the threads of this stream never run in another stream,
 * so that a thread that does not run in this stream does not run at all. Returns 0 or KTREAD_E_MEMORY.
 */
int flow_calls_new(struct flow_calls **calls, struct flow_functions *functions, const struct flow_sink *sink,
		   void *to, int alone);
void flow_calls_free(struct flow_calls *calls);
/* Processes the next step. Returns 0, an error of the sink, or KTREAD_E_MEMORY. */
int flow_calls_step(struct flow_calls *calls, const struct hwt_step *step);
const struct flow_doubts *flow_calls_doubts(const struct flow_calls *calls);

/*
 * Sets *ticks to the number of ticks from the entry into the frame up to the step. Returns false if this
 * number is unknown.
 */
static inline int flow_took(const struct flow_frame *frame, const struct hwt_step *step, uint64_t *ticks)
{
	*ticks = step->stamp - frame->since;
	return frame->timed && step->has_stamp && step->stamp >= frame->since;
}

/* The stacks of a stream's threads. calls.c decides which frames they contain. */

#define FLOW_NO_FRAME UINT32_MAX

struct flow_stack {
	uint64_t key; /* number that identifies the thread or its address space */
	uint64_t used;
	struct flow_frame *frame;
	uint32_t depth, room;
	uint32_t beyond; /* number of calls above the topmost frame, which have no frames */
};

struct flow_stacks {
	struct flow_stack *stack; /* array of FLOW_STACKS_MOST elements */
	uint32_t count;
	uint32_t current;
	uint64_t turns;
};

/* Returns 0 or KTREAD_E_MEMORY. */
int flow_stacks_init(struct flow_stacks *stacks);
void flow_stacks_free(struct flow_stacks *stacks);
/*
 * Makes the stack of the thread `key` the current stack; adds an empty stack if the thread has none. Returns
 * 1 if another stack was dropped to make room, otherwise 0.
 */
int flow_stacks_turn(struct flow_stacks *stacks, uint64_t key);
/* Empties all stacks. */
void flow_stacks_forget(struct flow_stacks *stacks);

static inline struct flow_stack *flow_stacks_current(const struct flow_stacks *stacks)
{
	return &stacks->stack[stacks->current];
}

/* Returns the topmost frame, or NULL if the stack is empty. */
static inline struct flow_frame *flow_stack_top(const struct flow_stack *stack)
{
	return stack->depth ? &stack->frame[stack->depth - 1] : NULL;
}

/*
 * Returns memory for one more frame, but does not increment depth. Returns NULL if out of memory. Requires:
 * depth is less than FLOW_DEPTH_MOST.
 */
struct flow_frame *flow_stack_room(struct flow_stack *stack);

static inline int flow_frame_has(const struct flow_frame *frame, uint64_t address)
{
	return address >= frame->begin && address < frame->end;
}

/* Returns the index of the topmost frame whose return address is `address`, or FLOW_NO_FRAME. */
uint32_t flow_stack_returning_to(const struct flow_stack *stack, uint64_t address);
/*
 * Returns the index of the topmost frame below `depth` whose function contains `address`, or FLOW_NO_FRAME.
 */
uint32_t flow_stack_running(const struct flow_stack *stack, uint32_t depth, uint64_t address);

#endif
