/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* One pass over a trace. It makes the blocks of the page. */
#ifndef PAGE_PASS_H
#define PAGE_PASS_H

#include "analyze/names.h"
#include "analyze/scheduling.h"
#include "analyze/spans.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/ticks.h"
#include "export/shown.h"
#include "page/block.h"

struct page {
	struct ktread *trace; /* the trace; not owned */
	struct page_options options;
	struct base_ticks_scale scale;
	char *head;
	size_t head_size;
	/* true if the filter has conditions other than time; these determine which events are listed */
	bool narrowed;
	/* timestamps of the first and last event, even if the filter excludes these events */
	uint64_t first, last;
	uint64_t base; /* timestamp of the page's time 0 */
	/*
	 * To know the states of threads at the beginning of a time window, the trace is read from `margin` ns
	 * before the window on. If there are very many events, `margin` is shorter, and only most states are
	 * known. 0: not computed yet. `margin_before`: beginning of the window for which `margin` was
	 * computed.
	 */
	uint64_t margin, margin_before;
	struct gaps *gaps;
	struct processes *processes;
	struct wellknown_table known;
	uint8_t scheduling[SWITCHED_MAP]; /* bit map of the event types that change the states of threads */
};

/* head.c: makes the head, and sets page->last. Returns 0 or a negative KTREAD_E_*. */
int page_head_make(struct page *page);

/* Converts a timestamp to nanoseconds since the first event, or to ticks if the frequency is unknown. */
uint64_t page_time(const struct page *page, uint64_t stamp);

#define PAGE_REQUESTS 8u /* maximum number of requests of a CPU that wait to be received */

/* A slice or an arrow that has begun. */
struct page_begun {
	uint64_t begin; /* timestamp of the beginning */
	uint64_t slot;
	uint32_t ring, name, other;
	uint8_t class;
};

/* A thread or a CPU, and the lane on which it is drawn. */
struct page_owner {
	uint32_t lane; /* number of the lane, plus 1; 0: the owner has no lane yet */
	uint32_t life; /* value of the thread's `life` when the lane was made */
	/*
	 * state of a thread, an enum threads_state; for a CPU: index of the thread that it runs, plus 1, or 0
	 * if unknown
	 */
	uint32_t state;
	uint32_t cpu;		   /* CPU on which the thread runs */
	bool idle;		   /* true if the owner is an idle thread */
	uint32_t depth;		   /* number of elements of `nest` that are used */
	struct page_begun current; /* beginning of the current state */
	/*
	 * wakeup that made the thread runnable; `other` is 1 + the lane of the waker, or 0 if there is no
	 * waker
	 */
	struct page_begun woken;
	/* requests from other CPUs that this CPU has not received yet */
	struct page_request {
		struct page_begun sent;
		uint64_t what; /* bit map of the actions that are requested */
	} request[PAGE_REQUESTS];
	uint32_t requests;
	struct page_begun nest[SPANS_NEST];
	struct page_begun lock[SPANS_LOCKS];
};

struct page_owners {
	struct page_owner *owner;
	uint32_t room;
};

/* The functions of a hardware trace that have not ended. */
struct page_functions {
	struct functions model;
	struct page_track {
		uint32_t lane;
		uint32_t depth; /* number of open functions; the first `room` functions are in `open` */
		uint32_t room;
		struct page_begun *open;
	} * track;
	uint32_t tracks, room;
	unsigned flags; /* flags of the slices that are about to end */
};

struct page_pass {
	struct page *page;
	uint64_t since, until; /* time range that is written; `until` is excluded */
	uint64_t from;	       /* timestamp from which the trace is read; 0: from its beginning */
	struct page_block *block;
	struct page_strings strings;
	struct page_lanes lanes;
	struct page_slices slices;
	struct page_events list;
	struct page_arrows arrows;
	struct page_counters counters;
	struct page_gaps gaps;
	struct page_symbols symbols;
	struct page_functions functions;
	struct threads *threads;
	struct spans *spans;
	struct span_names names;
	const struct ktread_event *event; /* the event that is processed now */
	struct page_owners cpus, of_threads;
	struct page_ring {
		uint64_t seen; /* timestamp of the ring's last event */
		uint64_t lost; /* number of missing slots that have been reported */
		bool begun;
	} * ring;
	uint64_t seen[THREADS_CPUS_MAX]; /* timestamp of each CPU's last event; 0: no event yet */
	uint64_t last;			 /* timestamp of the last event */
	uint32_t events;		 /* number of events in this block */
	int error;
};

/* Returns whether a part of the time from `begin` to `end` is in the time range that is written. */
static inline bool page_is_due(const struct page_pass *pass, uint64_t begin, uint64_t end)
{
	return end >= pass->since && (begin < pass->until || pass->until == UINT64_MAX);
}

/*
 * Finds out which slots are missing and which processes there are. `read_gaps`: gaps_read(), or
 * gaps_read_part() for the part of the trace that its filter selects. Returns 0 or a negative KTREAD_E_*.
 */
int page_models_read(struct page *page, int (*read_gaps)(struct gaps **gaps, struct ktread *trace));

/* ---- owners.c: lanes of threads and CPUs, and what is drawn on them ---- */

/*
 * These functions return an owner, which has a lane; NULL if memory runs out. The pointer is valid until the
 * next call.
 */
struct page_owner *page_owner_thread(struct page_pass *pass, const struct threads_thread *thread);
struct page_owner *page_owner_of(struct page_pass *pass, struct spans_owner who);
/* Gets the names of threads from an event. */
void page_owners_event(struct page_pass *pass, const struct ktread_event *event,
		       const struct wellknown *known);

/* Callback of the model of threads. Draws the change of a thread's state. */
void page_thread_changed(void *pass, const struct threads_change *change);
/* Ends all states at the end of the trace. */
void page_states_end(struct page_pass *pass);

/* Processes events about requests that CPUs send and receive. */
void page_requests_event(struct page_pass *pass, const struct ktread_event *event,
			 const struct wellknown *known);
/* Ends all requests, and marks their ends as unknown, because slots are missing. */
void page_requests_forget(struct page_pass *pass);

/* Processes an event of a hardware trace. Returns 0 or KTREAD_E_MEMORY. */
int page_functions_event(struct page_pass *pass, const struct ktread_event *event);
/* Ends all functions at the end of the trace. */
void page_functions_end(struct page_pass *pass);
void page_functions_free(struct page_pass *pass);

/* ---- pass.c ---- */

/* Adds a slice that ends at the timestamp `end`, if the slice is in the time range that is written. */
void page_slice_end(struct page_pass *pass, const struct page_begun *begun, uint32_t lane, unsigned row,
		    unsigned depth, uint64_t end, unsigned flags);

#endif
