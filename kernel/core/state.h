/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of the core share. All of it lies in .data: events fire before a kernel clears its BSS, and
 * what was recorded then must not be lost.
 */
#ifndef KTRACE_STATE_H
#define KTRACE_STATE_H

#include "../base/bytes.h"
#include "ktrace/ktrace.h"

#define KTRACE_IN_DATA __attribute__((__section__(".data")))

/*
 * Boot ring, one for each CPU, and the ring of rare events behind the last CPU's. The reserve word in that
 * row is not the ring's: it is for whoever takes itself for the CPU behind the last one, and names the boot
 * ring.
 */
#define KTRACE_RING_ROWS (KTRACE_MAX_CPUS + 2)

#define KTRACE_BOOT_SHIFT ((uint32_t)__builtin_ctz(KTRACE_BOOT_SLOTS))

/*
 * An anchor goes ahead of the first record this many ticks past the last one, or before it: half of what the
 * format allows.
 */
#define KTRACE_ANCHOR_TICKS (UINT64_C(1) << (KTRX_STAMP_BITS - 2))

struct ktrace_slot {
	uint64_t word[4];
} __attribute__((__aligned__(32)));

/* A record that was just made, for whoever puts it on the kernel's console. */
struct ktrace_echo {
	const struct ktrx_event *event;
	const struct ktrx_place *place; /* NULL: not known */
	const void *payload;		/* without an extension block */
	uint32_t bytes;
	uint32_t cpu;
	uint32_t context; /* KTRX_CONTEXT_* */
	uint64_t stamp;
};

struct ktrace_state {
	uint64_t ended;	    /* times the end was reached with a hook */
	uint64_t changes;   /* of what event states depend on */
	uint64_t mailing;   /* a CPU is busy with the host's requests */
	uint64_t rare_word; /* reserve word of the ring of rare events */
	uint32_t attached;
	uint32_t hooking;     /* hooks follow the state … */
	uint32_t state;	      /* … as is asked for */
	uint32_t initialised; /* ktrace_init() succeeded: hooks may be called */
	uint32_t stopped;
	uint32_t panic_goes_on;
	uint32_t callers; /* of all events: both if it is not 0 … */
	uint32_t sites;	  /* … and whether the site is recorded */
	uint32_t events;  /* rows that have an id */
	uint32_t cpus;
	uint32_t rare; /* number of the ring of rare events, 0: there is none */
	uint32_t threads;
	uint32_t holders;	/* rows for threads, behind those of CPUs */
	uint64_t threads_named; /* rows of thread[] given out, whole laps counted */
	struct ktrx_cpu *cpu;
	struct ktrx_thread *thread;
	struct ktrx_holder *holder; /* NULL: none */
	struct ktrx_fold *fold;	    /* `folds` rows for each CPU */
	uint32_t folds;
	uint64_t *counters; /* [ring][event id], NULL: the rows' own */
	uint64_t (*physical)(const volatile void *address);
	ktrace_end_hook *end_hook;
	void *end_cookie;
	void (*echo)(const struct ktrace_echo *echo); /* while `verbose` is not 0 */
	uint32_t verbose;
	uint32_t refused_length;
	const char *refused;	/* the word that was not understood, in the text of somebody else */
	struct ktrx_root *kept; /* copy of the root that outlives a reset; NULL: none */
	uint64_t boot;		/* which one, of those that are kept, from 1 */
};

extern KTRACE_HIDDEN struct ktrace_state ktrace_state;
extern KTRACE_HIDDEN uint64_t ktrace_ticks; /* heartbeats of CPU 0, which a port may take for its clock */
extern KTRACE_HIDDEN struct ktrace_slot ktrace_boot_slot[KTRACE_BOOT_SLOTS];

/* Numbers the rows and fills the root, when the first event fires or when the image was moved since. */
KTRACE_HIDDEN void ktrace_attach(void);

/* Gives this boot another nonce, before anything but the boot ring is in use. */
KTRACE_HIDDEN void ktrace_nonce_change(void);

/* The next row with that magic from a place in the event table on; NULL: there is none. */
KTRACE_HIDDEN void *ktrace_row_from(uint64_t *at, uint16_t magic);

/* The events' rows of this image, in order of their ids: NULL ends. */
KTRACE_HIDDEN struct ktrx_event *ktrace_event_first(void);
KTRACE_HIDDEN struct ktrx_event *ktrace_event_next(struct ktrx_event *event);

/* Brings every row's state in line with what is wanted of it and with what the core can do. */
KTRACE_HIDDEN void ktrace_states_update(void);

/*
 * The callers of the function that `site` is a return address into: at most `most`, nearest first. Returns
 * how many; 0 without frame pointers.
 */
KTRACE_HIDDEN uint32_t ktrace_callers(uintptr_t site, uint64_t *caller, uint32_t most);

/* Rows of ktrace_ring[] that are rings. */
static inline uint32_t ktrace_rings(void)
{
	return ktrace_state.rare ? ktrace_state.rare + 1 : ktrace_state.cpus + 1;
}

/* The seqlock around the section table. */
KTRACE_HIDDEN void ktrace_root_open(void);
KTRACE_HIDDEN void ktrace_root_close(void);

/* Changes flags of the root. Any context. */
KTRACE_HIDDEN void ktrace_root_flags(uint32_t set, uint32_t clear);

/* Sets one entry of the section table; the type is its place. No data: the entry stays empty. */
KTRACE_HIDDEN void ktrace_section_set(uint32_t type, uint32_t entry_size, const volatile void *data,
				      uint64_t length);

#endif
