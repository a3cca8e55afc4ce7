/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The third part of ktread: follows a guest while it records. Events are merged over all rings, and each is
 * returned exactly once. Records that were overwritten before they could be read are counted and reported
 * immediately. An unfinished record delays other records for at most patience_ms. A record that is finished
 * after that time is returned with the mark `late`.
 *
 *	struct ktread_follow *follow;
 *	struct ktread_followed now;
 *	if (ktread_follow_open(&follow, "guest.ram", NULL) == 0) {
 *		while (ktread_follow_next(follow, &now, -1) > 0 && now.kind != KTREAD_FOLLOWED_END)
 *			…
 *		ktread_follow_close(follow);
 *	}
 *
 * Following continues after a reset of the guest. When the guest ends, the events that are left in the rings
 * are returned before KTREAD_FOLLOWED_END.
 */
#ifndef KTREAD_FOLLOW_H
#define KTREAD_FOLLOW_H

#include "ktread/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ktread_follow;

struct ktread_follow_options {
	size_t size;	     /* sizeof(struct ktread_follow_options) */
	const char *machine; /* architecture of the guest, as in struct ktread_options */
	/* guest physical address of the RAM file's first byte, as in struct ktread_options */
	uint64_t ram_base;
	uint64_t frequency; /* ticks per second of the timestamps, as in struct ktread_options */
	/*
	 * nonzero: do not merge the events of different rings, but return the new events of one ring
	 * together, then those of the next ring
	 */
	int by_ring;
	uint32_t patience_ms; /* time in ms to wait for an unfinished record; 0 means 100 ms */
	/* time in ms to wait for ktrace to appear while no guest is running; 0 means 10000 ms */
	uint32_t appear_ms;
	/* time in ms between two readings of a guest that records many events; 0 means 10 ms */
	uint32_t interval_ms;
	/*
	 * Maximum number of slots to read at a time, over all rings. If there are more slots, only the newest
	 * slots are read, and the others are skipped. 0: no limit.
	 */
	uint32_t sample;
};

enum ktread_followed_kind {
	KTREAD_FOLLOWED_EVENT = 1,
	KTREAD_FOLLOWED_LOST, /* slots of a ring were overwritten before they could be read */
	KTREAD_FOLLOWED_BOOT, /* ktrace was found for the first time, or again after a reset of the guest */
	KTREAD_FOLLOWED_END,  /* the guest has ended, and all events have been returned */
};

struct ktread_followed {
	enum ktread_followed_kind kind;
	/* nonzero: an event with a later timestamp was returned before this event */
	int late;
	const struct ktread_event *event; /* the event; valid until the next call */
	uint32_t ring;			  /* KTREAD_FOLLOWED_LOST: number of the ring */
	/* KTREAD_FOLLOWED_LOST: CPU whose ring lost slots; KTRX_NO_CPU for a shared ring */
	uint32_t cpu;
	uint64_t slots; /* KTREAD_FOLLOWED_LOST: number of lost slots */
	/* KTREAD_FOLLOWED_BOOT: 1 in the first item of this kind, 2 in the second, and so on */
	uint64_t boot;
};

/*
 * Counts of slots, of all rings and boots so far: produced = shown + overwritten + unreadable + skipped +
 * pending.
 */
struct ktread_follow_account {
	/*
	 * number of slots produced since the guest booted, or since it last cleared its rings before
	 * following began
	 */
	uint64_t produced;
	uint64_t shown;	      /* number of slots of anchors, and of records that were or will be returned */
	uint64_t overwritten; /* number of slots that were overwritten before they could be read */
	uint64_t unreadable;  /* number of slots that their writers abandoned or never finished */
	uint64_t skipped;     /* number of slots that were not read, because of options.sample */
	/* number of slots that are not read yet, or are unfinished and passed over for now */
	uint64_t pending;
	uint64_t events; /* number of events that were returned */
	uint64_t late;	 /* number of events that were returned late */
	uint64_t polls;	 /* number of times that the guest's memory was read (polled) */
};

/*
 * Follows the guest whose RAM file is at `path`. Returns 0 and a handle in *follow, or a negative error;
 * KTREAD_E_UNSUPPORTED: the file is a trace or a core dump, not the memory of a guest that runs.
 */
int ktread_follow_open(struct ktread_follow **follow, const char *path,
		       const struct ktread_follow_options *options);
/*
 * Follows a guest in any other memory. The caller owns the memory, which must outlive the handle. Returns the
 * same values as ktread_follow_open().
 */
int ktread_follow_open_memory(struct ktread_follow **follow, struct ktread_memory *memory,
			      const struct ktread_follow_options *options);
/* Frees the handle. */
void ktread_follow_close(struct ktread_follow *follow);

/*
 * Waits at most `wait_ms` milliseconds for the next item and stores it in *now. If `wait_ms` is 0, it does
 * not wait; if it is negative, there is no limit. Returns 1, 0 if nothing came in time, or a negative error.
 * After the end it returns KTREAD_FOLLOWED_END each time.
 */
int ktread_follow_next(struct ktread_follow *follow, struct ktread_followed *now, int wait_ms);
/*
 * Makes the handle read the guest once more; ktread_follow_next() then returns what was found, and after that
 * KTREAD_FOLLOWED_END.
 */
void ktread_follow_stop(struct ktread_follow *follow);

/*
 * Returns a trace with the names, types and rings of the items returned last; NULL before the first
 * KTREAD_FOLLOWED_BOOT. Owned by the handle and valid until the next ktread_follow_next(). Do not read events
 * from it.
 */
struct ktread *ktread_follow_trace(struct ktread_follow *follow);
/* Returns the counts so far. */
void ktread_follow_account(const struct ktread_follow *follow, struct ktread_follow_account *account);
/*
 * Copies the current state of the first `room` CPUs, without reading their rings. Returns the number of
 * copied entries, or a negative error. Returns 0 if the guest has no table of CPUs, or if no guest has been
 * found.
 */
int ktread_follow_cpus(struct ktread_follow *follow, struct ktrx_cpu *cpu, uint32_t room);
/* Copies the table of holders, from entry `first` on. Returns the same values as ktread_follow_cpus(). */
int ktread_follow_holders(struct ktread_follow *follow, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room);
/*
 * Sets the number of ticks per second of the timestamps; from this call on, it replaces the guest's number.
 */
void ktread_follow_set_frequency(struct ktread_follow *follow, uint64_t frequency);
/* Returns 1 if the guest has ended, so that its memory does not change any more; otherwise 0. */
int ktread_follow_ended(const struct ktread_follow *follow);
/* returns the text of the last error */
const char *ktread_follow_message(const struct ktread_follow *follow);

#ifdef __cplusplus
}
#endif

#endif
