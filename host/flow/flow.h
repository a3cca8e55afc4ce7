/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A recording that is looked at: its file, the images, which steps are wanted, and what is missing. Views are
 * fed from it, stream after stream:
 *
 *	flow_open(&flow, path, root)
 *	flow->select = …
 *	flow_walk(flow, &flow_tree, tree)
 *	flow->loss.…
 *
 * Results as in ktread/ktread.h; the text of the last error of this thread is flow_message().
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "hwt/hwt.h"

/* ---- Names and source lines of code ---- */

/*
 * Functions by address, each with a number of its own: the same code of the same file is one function,
 * wherever and as often as it is mapped. Code of a file without symbols is one function without a name, so is
 * code that nothing is known of.
 */

struct flow_function {
	const char *image;  /* file name without folders, as it came; NULL: unknown */
	const char *path;   /* of the file that was read; NULL: none */
	const char *name;   /* as it came; NULL: none */
	uint64_t offset;    /* of its first byte, in the file's own addresses */
	uint32_t id;	    /* from 0 on, in the order in which they were met */
	uint32_t parent_id; /* of the function whose rarely run half it is ("f.cold"); else its own */
};

/* What lies at an address, and from where to where in memory that holds. */
struct flow_spot {
	const struct flow_function *function;
	uint64_t begin, end; /* [begin, end); without a name only the address itself */
	uint8_t at_start;    /* the address is that of the function's first instruction */
};

struct flow_functions;

/* 0 or KTREAD_E_MEMORY. */
int flow_functions_new(struct flow_functions **functions, struct hwt_images *images);
void flow_functions_free(struct flow_functions *functions);
/* 0 or KTREAD_E_MEMORY. */
int flow_functions_at(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint64_t address,
		      struct flow_spot *spot);
uint32_t flow_functions_count(const struct flow_functions *functions);
const struct flow_function *flow_functions_get(const struct flow_functions *functions, uint32_t id);

/* Two parts of one function, which is entered once though code jumps between them? */
static inline int flow_same_function(const struct flow_function *a, const struct flow_function *b)
{
	return a->parent_id == b->parent_id;
}

/*
 * The line table of an ELF file: which addresses are which source line's. And where its functions begin, as
 * the debug information has it. By libdw.
 */

struct flow_line {
	uint64_t begin, end; /* in the file's own addresses */
	const char *source;  /* as it came */
	unsigned line;
};

struct flow_entry {
	uint64_t address;   /* of the first instruction, in the file's own addresses */
	const char *source; /* where it is written, as it came */
	unsigned line;
	const char *name; /* as the linker has it, not demangled */
};

struct flow_lines {
	struct flow_line *line; /* by address */
	size_t count;
	struct flow_entry *entry; /* by address; a function may have several, one for each copy of it */
	size_t entries;
	struct symbols_file *file; /* has the texts */
};

/* 0; -1: there are none, and `message` says why. */
int flow_lines_read(struct flow_lines *lines, const char *path, char *message, size_t size);
void flow_lines_free(struct flow_lines *lines);

/* ---- Recordings ---- */

/* Addresses of one function. */
struct flow_range {
	uint64_t begin, end; /* `end` is exclusive */
};

/* Which streams and steps are wanted. Zero-initialised: all. */
struct flow_select {
	const uint8_t *cpus; /* bit map of streams' CPUs; NULL: all. Threads' streams have none. */
	uint32_t cpu_count;
	uint8_t one_thread, one_process, one_backend;
	uint8_t backend; /* KTRX_HWT_BACKEND_* */
	uint32_t thread; /* index, of streams in thread mode */
	uint32_t pid;
	const struct flow_range *range; /* only code of these, by address */
	size_t ranges;			/* 0: all code */
	uint64_t from, to;		/* stamps, both included; `to` 0: no end */
};

/* What was met that is not there, of all streams together. */
struct flow_loss {
	uint64_t gaps; /* places where something is missing, and nothing else is wrong: */
	uint64_t damaged;
	uint64_t codeless;  /* which code was run there is not known */
	uint64_t unread;    /* which the decoder does not read, though they are whole */
	uint64_t other;	    /* where other code ran than is known */
	uint64_t overflows; /* how often a unit lost packets */
	uint64_t missing;   /* bytes of streams */
	uint64_t packets;   /* that units had no room for, as they count */
};

struct flow {
	struct hwt_file *file;
	struct hwt_images *images;
	struct flow_functions *functions;
	struct flow_select select;
	struct flow_range *range; /* owned: what flow_select_function() has selected */
	struct flow_loss loss;
	uint64_t wanted;	 /* steps that were read and are of what was selected */
	uint8_t tells_processes; /* a step has said whose it is */
	uint64_t frequency;	 /* of stamps; 0: unknown */
	uint64_t base;		 /* the first stamp of all streams; 0: there is none */
};

/*
 * Selects only the code of a function. `image` as for hwt_images_find(). 0, KTREAD_E_ABSENT: there is no such
 * function, or KTREAD_E_MEMORY.
 */
int flow_select_function(struct flow *flow, const char *image, const char *function);
/*
 * Where a function lies, sorted: a program's may lie at several addresses. Results
 * are as above; after 0 the caller frees *range.
 */
int flow_find_function(struct flow *flow, const char *image, const char *function, struct flow_range **range,
		       size_t *ranges);
/* The one that an address lies in; NULL: none. */
const struct flow_range *flow_range_find(const struct flow_range *range, size_t ranges, uint64_t address);

/* After an error *flow is NULL. `root`: where images' paths begin, or NULL. */
int flow_open(struct flow **flow, const char *path, const char *root);
void flow_close(struct flow *flow);
const char *flow_message(void);
/* Finds flow->base, for whoever shows times. Decodes each stream's beginning. */
int flow_find_base(struct flow *flow);

/* Is it of this stream that something is wanted? */
int flow_wants_stream(const struct flow *flow, const struct hwt_stream *stream);
/* What it says of itself that is missing, into flow->loss. */
void flow_count_stream(struct flow *flow, const struct hwt_stream *stream);
/* CPU, or index of the thread. */
uint32_t flow_stream_id(const struct hwt_stream *stream);
/* Where the step is. 0: it is nowhere in particular. */
int flow_address(const struct hwt_step *step, uint64_t *address);

/* ---- One stream ---- */

struct flow_reader;
int flow_reader_open(struct flow_reader **reader, struct flow *flow, size_t stream);
/* 1 and a step that is wanted, 0 at the end, or an error. What is missing is counted in flow->loss. */
int flow_reader_next(struct flow_reader *reader, const struct hwt_step **step);
/* As hwt_decoder_seek(). What is missing is counted once, though it may be read several times. */
int flow_reader_seek(struct flow_reader *reader, uint64_t offset);
void flow_reader_close(struct flow_reader *reader);

/* ---- All of them ---- */

struct flow_view {
	/* Each 0, a negative error, or positive: enough has been seen. NULL: nothing to do. */
	int (*begin)(void *view, const struct hwt_stream *stream);
	int (*step)(void *view, const struct hwt_step *step);
	int (*end)(void *view); /* of the stream */
};
int flow_walk(struct flow *flow, const struct flow_view *view, void *to);

#endif
