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

#include <stdint.h>

#include "flow/functions.h"
#include "hwt/hwt.h"

/* Which streams and steps are wanted. Zero-initialised: all. */
struct flow_select {
	const uint8_t *cpus; /* bit map of streams' CPUs; NULL: all. Threads' streams have none. */
	uint32_t cpu_count;
	uint8_t one_thread, one_process, one_backend;
	uint8_t backend; /* KTRX_HWT_BACKEND_* */
	uint32_t thread; /* index, of streams in thread mode */
	uint32_t pid;
	uint8_t one_range; /* only code of [begin, end) */
	uint64_t begin, end;
	uint64_t from, to; /* stamps, both included; `to` 0: no end */
};

/* What was met that is not there, of all streams together. */
struct flow_loss {
	uint64_t gaps; /* places where something is missing, and nothing else is wrong: */
	uint64_t damaged;
	uint64_t codeless;  /* which code was run there is not known */
	uint64_t unread;    /* which the decoder does not read, though they are whole */
	uint64_t overflows; /* how often a unit lost packets */
	uint64_t missing;   /* bytes of streams */
	uint64_t packets;   /* that units had no room for, as they count */
};

struct flow {
	struct hwt_file *file;
	struct hwt_images *images;
	struct flow_functions *functions;
	struct flow_select select;
	struct flow_loss loss;
	uint64_t wanted;	 /* steps that were read and are of what was selected */
	uint8_t tells_processes; /* a step has said whose it is */
	uint64_t frequency;	 /* of stamps; 0: unknown */
	uint64_t base;		 /* the first stamp of all streams; 0: there is none */
};

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

/* ---- One stream -------------------------------------------------------------------------------- */

struct flow_reader;
int flow_reader_open(struct flow_reader **reader, struct flow *flow, size_t stream);
/* 1 and a step that is wanted, 0 at the end, or an error. What is missing is counted in flow->loss. */
int flow_reader_next(struct flow_reader *reader, const struct hwt_step **step);
/* As hwt_decoder_seek(). What is missing is counted once, though it may be read several times. */
int flow_reader_seek(struct flow_reader *reader, uint64_t offset);
void flow_reader_close(struct flow_reader *reader);

/* ---- All of them ------------------------------------------------------------------------------- */

struct flow_view {
	/* Each 0, a negative error, or positive: enough has been seen. NULL: nothing to do. */
	int (*begin)(void *view, const struct hwt_stream *stream);
	int (*step)(void *view, const struct hwt_step *step);
	int (*end)(void *view); /* of the stream */
};
int flow_walk(struct flow *flow, const struct flow_view *view, void *to);

#endif
