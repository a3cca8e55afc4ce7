/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Mistakes of an integration that a trace shows: hooks that stand in the wrong place, are given the wrong
 * value, or lack their counterpart. What is judged is what each CPU recorded, in its own order, so that
 * clocks that are not in step make none; where slots are missing, or events were switched, what was known is
 * forgotten.
 */
#ifndef DOCTOR_MISTAKES_H
#define DOCTOR_MISTAKES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/keyed.h"
#include "ktread/ktread.h"

enum mistake {
	MISTAKE_ID_WIDE,	 /* a thread id of more than 22 bits */
	MISTAKE_ID_ONES,	 /* the port calls the running thread -1 */
	MISTAKE_ID_ZERO,	 /* thread 0 sleeps or is woken */
	MISTAKE_ID_REUSED,	 /* a thread is made that is there already */
	MISTAKE_SWAPPED,	 /* next is the thread that the switch before came from */
	MISTAKE_PREVIOUS,	 /* prev is not the thread that ran */
	MISTAKE_SAME,		 /* a switch from a thread to itself */
	MISTAKE_STATE_ZERO,	 /* the state is always 0 */
	MISTAKE_TWO_CPUS,	 /* one thread runs on two CPUs */
	MISTAKE_BLOCK_ELSEWHERE, /* a thread blocks that does not run */
	MISTAKE_WAKE_RUNNING,	 /* a thread is woken that runs */
	MISTAKE_IRQ_EXIT,	 /* an interrupt comes that has not ended */
	MISTAKE_IRQ_ENTER,	 /* one ends that has not come */
	MISTAKE_SYSCALL_EXIT,	 /* system calls come, and hardly any returns */
	MISTAKE_RELEASE,	 /* a lock is given up by a thread that does not hold it */
	MISTAKE_CONTEND,	 /* a thread waits for a second lock */
	/* threads take turns on a CPU without a switch: it is two CPUs, or a hook is missing */
	MISTAKE_CPU_SHARED,
	/* the kernel's table shows a thread waiting for a lock while it does other things */
	MISTAKE_WAIT_LEFT,
	MISTAKE_OWNER, /* a hook named CPU 0 or thread 0 as a lock's holder, and another one holds it */
	MISTAKES,
};

struct mistake_count {
	uint64_t count;
	uint64_t stamp; /* of the first … */
	uint32_t cpu;	/* … its CPU … */
	uint64_t value; /* … and the id, interrupt or lock that it is about */
};

struct mistakes {
	struct mistake_count of[MISTAKES];
	uint64_t switches, blocks, wakes, contends, releases, enters, calls, returns;
	bool irqs_off, calls_off,
		locks_off; /* one of these events is switched off, so that the others say nothing */
	uint64_t states;   /* switches with a state other than 0 */
	bool has_state;	   /* sched.switch has the field */
};

/* Reads the trace to its end and rewinds it. 0 or an error. */
int mistakes_read(struct mistakes *mistakes, struct ktread *trace);
/* Often enough not to be an oddity of one moment. */
bool mistakes_made(const struct mistakes *mistakes, enum mistake mistake);

/* Mistakes that the kernel's table of what is held and waited for shows. */

/*
 * Notes MISTAKE_WAIT_LEFT and MISTAKE_OWNER. `deeds`: by thread, the stamp of its newest system call's
 * beginning or end. `late`: ticks by which a row may be older than an event. Returns 0, or what
 * ktread_holders() said.
 */
int mistakes_waits(struct mistakes *mistakes, const struct ktread *trace, const struct keyed *deeds,
		   uint64_t late);

#endif
