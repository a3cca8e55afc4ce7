/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktread, part three: following a guest while it records. Events come merged over all rings, each exactly
 * once; what was overwritten before it could be read is counted and told at once; a record that its writer is
 * long in finishing holds nothing up for more than a moment, and is handed out, as late, should it be
 * finished after all.
 *
 *	struct ktread_follow *follow;
 *	struct ktread_followed now;
 *	if (ktread_follow_open(&follow, "guest.ram", NULL) == 0) {
 *		while (ktread_follow_next(follow, &now, -1) > 0 && now.kind != KTREAD_FOLLOWED_END)
 *			…
 *		ktread_follow_close(follow);
 *	}
 *
 * Survives the guest's reset, and its end: what is left in the rings is handed out before the end is told.
 */
#ifndef KTREAD_FOLLOW_H
#define KTREAD_FOLLOW_H

#include "ktread/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ktread_follow;

struct ktread_follow_options {
	size_t size;	      /* sizeof(struct ktread_follow_options) */
	const char *machine;  /* as in struct ktread_options */
	uint64_t ram_base;    /* the same */
	uint64_t frequency;   /* the same */
	int by_ring;	      /* 1: not merged, but what came in ring after ring */
	uint32_t patience_ms; /* for a record that is not finished; 0: 100 */
	uint32_t appear_ms;   /* for ktrace to show up where no guest is running; 0: 10000 */
	uint32_t interval_ms; /* between looks at a guest that records much; 0: 10 */
	uint32_t sample; /* slots a look takes, the newest of all rings; older ones are skipped; 0: all */
};

enum ktread_followed_kind {
	KTREAD_FOLLOWED_EVENT = 1,
	KTREAD_FOLLOWED_LOST, /* slots of a ring were overwritten before they could be read */
	KTREAD_FOLLOWED_BOOT, /* ktrace was found, or found anew after a reset of the guest */
	KTREAD_FOLLOWED_END,  /* nobody can record any more, and all has been handed out */
};

struct ktread_followed {
	enum ktread_followed_kind kind;
	int late;			  /* of an event: one with a later stamp went before it */
	const struct ktread_event *event; /* valid until the next call */
	uint32_t ring;			  /* of a loss */
	uint32_t cpu;			  /* its CPU, KTRX_NO_CPU of a shared ring */
	uint64_t slots;			  /* how many are lost */
	uint64_t boot;			  /* of KTREAD_FOLLOWED_BOOT: 1 the first time, then 2 … */
};

/* Slots of all rings and boots so far: produced = shown + overwritten + unreadable + skipped + pending. */
struct ktread_follow_account {
	uint64_t produced;    /* since the guest booted, or cleared its rings before following began */
	uint64_t shown;	      /* of records handed out or about to be, and anchors */
	uint64_t overwritten; /* before they could be read */
	uint64_t unreadable;  /* given up by their writers, or never finished */
	uint64_t skipped;     /* not looked at, as the options had it */
	uint64_t pending;     /* not looked at yet, or passed over and perhaps finished later */
	uint64_t events;      /* handed out */
	uint64_t late;	      /* … of these, late */
	uint64_t polls;	      /* looks at the guest */
};

/* A RAM file. KTREAD_E_UNSUPPORTED: it is no memory of a guest that runs, but a trace or a core. */
int ktread_follow_open(struct ktread_follow **follow, const char *path,
		       const struct ktread_follow_options *options);
/* Any other memory, which stays the caller's. */
int ktread_follow_open_memory(struct ktread_follow **follow, struct ktread_memory *memory,
			      const struct ktread_follow_options *options);
void ktread_follow_close(struct ktread_follow *follow);

/*
 * 1 and what came next; 0 if nothing came within `wait_ms` (0: what can be had without sleeping, negative: no
 * limit); or an error. After the end it is the end each time.
 */
int ktread_follow_next(struct ktread_follow *follow, struct ktread_followed *now, int wait_ms);
/* Looks a last time, hands out what there is and comes to the end. */
void ktread_follow_stop(struct ktread_follow *follow);

/*
 * Names, types and rings of what was handed out last, for whatever else reads a trace; NULL before the first
 * KTREAD_FOLLOWED_BOOT. Valid until the next ktread_follow_next(). Its events are not to be read.
 */
struct ktread *ktread_follow_trace(struct ktread_follow *follow);
void ktread_follow_account(const struct ktread_follow *follow, struct ktread_follow_account *account);
/*
 * What the first `room` CPUs say of themselves now, without a look at their rings. How many there are of
 * these; 0: the guest does not say, or none is found; or an error.
 */
int ktread_follow_cpus(struct ktread_follow *follow, struct ktrx_cpu *cpu, uint32_t room);
/* The same of the table of holders, from row `first` on. */
int ktread_follow_holders(struct ktread_follow *follow, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room);
/* From now on stamps are of a counter of so many ticks a second, whatever the guest says. */
void ktread_follow_set_frequency(struct ktread_follow *follow, uint64_t frequency);
/* 1: nobody can record any more, so that what is read now is the last. */
int ktread_follow_ended(const struct ktread_follow *follow);
const char *ktread_follow_message(const struct ktread_follow *follow); /* of the last error */

#ifdef __cplusplus
}
#endif

#endif
