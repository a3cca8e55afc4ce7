/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Data that the source files of the core share. All of it is in .data: events fire before a kernel clears its
 * BSS, and what they record must not be lost.
 */
#ifndef KTRACE_STATE_H
#define KTRACE_STATE_H

#include "../base/bytes.h"
#include "ktrace/ktrace.h"

#define KTRACE_IN_DATA __attribute__((__section__(".data")))

/*
 * Number of entries of ktrace_ring[]: the boot ring, one ring for each CPU, and the ring of rare events. The
 * ring of rare events has the entry after that of the last CPU, but does not use the reserve word in this
 * entry. CPUs whose number is too large use that word, so it selects the boot ring.
 */
#define KTRACE_RING_ROWS (KTRACE_MAX_CPUS + 2)

#define KTRACE_BOOT_SHIFT ((uint32_t)__builtin_ctz(KTRACE_BOOT_SLOTS))

/*
 * If a record is at least this many ticks later or earlier than the last anchor, a new anchor is written
 * before the record. The format allows twice this difference.
 */
#define KTRACE_ANCHOR_TICKS (KTRX_U64(1) << (KTRX_STAMP_BITS - 2))

struct ktrace_slot {
	uint64_t word[4];
} __attribute__((__aligned__(32)));

/* A record that was just made, for the console sink. */
struct ktrace_console_record {
	const struct ktrx_event *event;
	const struct ktrx_place *place; /* place that made the record; NULL: unknown */
	const void *payload;		/* the payload without an extension block */
	uint32_t bytes;
	uint32_t cpu;
	uint32_t thread; /* as of ktrace_arch_thread(): thread and context */
	uint64_t stamp;
};

/* When recording stopped, and which events were recorded until then. ktrace_start() records this. */
struct ktrace_stop {
	/* 0: the time of the stop is unknown; 1: the next two members are being written; 2: they are valid */
	uint64_t noted;
	uint64_t stamp; /* timestamp from which on events may not have been recorded */
	uint32_t cpu;	/* CPU whose clock the timestamp is from */
	/* bit map, by event id, of the events that the stop turned off and whose stop is not recorded yet */
	uint64_t event[(KTRX_EVENT_MAX + 1) / 64];
};

struct ktrace_state {
	/* number of calls of ktrace_panic() and ktrace_exit() while an end hook was set */
	uint64_t ended;
	/* number of changes so far to settings or other data from which the states of events are computed */
	uint64_t changes;
	uint64_t mailing;   /* 1 while a CPU carries out requests of the host, otherwise 0 */
	uint64_t rare_word; /* reserve word of the ring of rare events */
	uint32_t attached;
	uint32_t hooking; /* 1 while hooks maintain the state tables, otherwise 0 */
	uint32_t state;	  /* setting debug.ktr.state: 1 if hooks are to maintain the state tables */
	/* nonzero: ktrace_init() succeeded, so all functions of the port may be called */
	uint32_t initialised;
	uint32_t stopped;
	uint32_t panic_goes_on;
	uint32_t callers; /* setting debug.ktr.stacktrace: if not 0, all events record their callers */
	uint32_t sites;	  /* setting debug.ktr.sites: if not 0, all events record the call site */
	uint32_t events;  /* number of event descriptors that have an id */
	uint32_t cpus;
	uint32_t rare; /* number of the ring of rare events; 0: there is no such ring */
	uint32_t threads;
	/* number of entries of holder[] for threads; they follow the entries for CPUs */
	uint32_t holders;
	uint64_t threads_named; /* total number of times that an entry of thread[] was assigned */
	struct ktrx_cpu *cpu;
	struct ktrx_thread *thread;
	struct ktrx_holder *holder; /* table of holders; NULL: there is no table */
	struct ktrx_fold *fold;	    /* table of counted repetitions: `folds` entries for each CPU */
	uint32_t folds;
	/*
	 * counters, indexed by ring and event id; NULL: each event descriptor counts its own records in
	 * `count`
	 */
	uint64_t *counters;
	uint64_t (*physical)(const volatile void *address);
	ktrace_end_hook *end_hook;
	void *end_cookie;
	void (*print)(const struct ktrace_console_record
			      *record); /* console sink, called while `verbose` is not 0 */
	uint32_t verbose;
	uint32_t refused_length;
	const char *refused;	/* the word that was refused; points into the caller's text */
	struct ktrx_root *kept; /* copy of the root in persistent memory; NULL: there is no copy */
	/*
	 * number of this boot, counted from the first boot that used the persistent memory, which has number
	 * 1
	 */
	uint64_t boot;
	struct ktrace_stop stop;
};

extern KTRACE_HIDDEN struct ktrace_state ktrace_state;
extern KTRACE_HIDDEN uint64_t ktrace_ticks; /* heartbeats of CPU 0; a port may use it as its clock */
extern KTRACE_HIDDEN struct ktrace_slot ktrace_boot_slot[KTRACE_BOOT_SLOTS];

/*
 * Assigns ids to the event descriptors, and fills in the root. Must be called when the first event fires, and
 * again after the image was moved.
 */
KTRACE_HIDDEN void ktrace_attach(void);

/* Changes this boot's nonce. Requires: only the boot ring is in use. */
KTRACE_HIDDEN void ktrace_nonce_change(void);

/* Returns the next descriptor with that magic in the event table, from `at` on; NULL if there is none. */
KTRACE_HIDDEN void *ktrace_descriptor_from(uint64_t *at, uint16_t magic);

/* Return the event descriptors of this image in the order of their ids; NULL at the end. */
KTRACE_HIDDEN struct ktrx_event *ktrace_event_first(void);
KTRACE_HIDDEN struct ktrx_event *ktrace_event_next(struct ktrx_event *event);

/*
 * Computes the state of every event again, from its requested state, the settings, and whether recording is
 * stopped.
 */
KTRACE_HIDDEN void ktrace_states_update(void);

/*
 * ktrace_stop_note() notes the current time as the time of the stop, unless recording is already stopped.
 * Call it before a stop. ktrace_stop_forget() discards that time. Any context.
 */
KTRACE_HIDDEN void ktrace_stop_note(void);
KTRACE_HIDDEN void ktrace_stop_forget(void);

/*
 * Finds the callers of the function that contains `site`, a return address. Stores at most `most` callers,
 * the nearest caller first. Returns their number; 0 without frame pointers.
 */
KTRACE_HIDDEN uint32_t ktrace_callers(uintptr_t site, uint64_t *caller, uint32_t most);

/* Returns the number of entries of ktrace_ring[] that are in use. */
static inline uint32_t ktrace_rings(void)
{
	return ktrace_state.rare ? ktrace_state.rare + 1 : ktrace_state.cpus + 1;
}

/*
 * Begin and end a change of the section table. They change the root's sequence number, by which readers
 * notice a change.
 */
KTRACE_HIDDEN void ktrace_root_open(void);
KTRACE_HIDDEN void ktrace_root_close(void);

/* Changes flags of the root. Any context. */
KTRACE_HIDDEN void ktrace_root_flags(uint32_t set, uint32_t clear);

/*
 * Sets one entry of the section table. The type determines the entry's index. If there is no data, the entry
 * stays empty.
 */
KTRACE_HIDDEN void ktrace_section_set(uint32_t type, uint32_t entry_size, const volatile void *data,
				      uint64_t length);

#endif
