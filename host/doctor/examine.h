/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The examinations of `ktrace doctor`, and the facts that they use. */
#ifndef DOCTOR_EXAMINE_H
#define DOCTOR_EXAMINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/keyed.h"
#include "analyze/rules.h"
#include "analyze/symbols.h"
#include "analyze/wellknown.h"
#include "base/output.h"
#include "capture/kernel_elf.h"
#include "findings/finding.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Views of the other commands ---- */

/*
 * The table of views that a kernel can make available ("light"), each with the line of C that does it. A
 * view that is not available yet is "dark"; `ktrace doctor` lists these. doc/porting.md has the table as
 * views_write() prints it.
 */

/* Bits: facts, besides events, that make a view available. */
enum view_fact {
	VIEW_RINGS = 1u << 0,	    /* a CPU has its own ring */
	VIEW_NAMES = 1u << 1,	    /* a thread has a name */
	VIEW_BEATS = 1u << 2,	    /* a CPU has a heartbeat */
	VIEW_MODES = 1u << 3,	    /* a CPU has set the mode user, kernel or interrupt */
	VIEW_IDLE = 1u << 4,	    /* a CPU has set the mode idle */
	VIEW_COST = 1u << 5,	    /* the cost of an event is known */
	VIEW_SYSCALLS = 1u << 6,    /* there is a table of system call names */
	VIEW_BUILD_ID = 1u << 7,    /* the trace has the kernel's build id */
	VIEW_CLOCKS = 1u << 8,	    /* clocks were measured, or ktrace tried to */
	VIEW_EXIT = 1u << 9,	    /* the kernel reported its end */
	VIEW_PANIC = 1u << 10,	    /* the kernel reported a panic */
	VIEW_STACKS = 1u << 11,	    /* a thread's stack is known */
	VIEW_INTERRUPTS = 1u << 12, /* a CPU has recorded whether interrupts are enabled */
	VIEW_CPUS = 1u << 13,	    /* there are CPU numbers other than 0 */
	VIEW_THREADS = 1u << 14,    /* there are thread ids other than 0 */
	VIEW_CALLERS = 1u << 15,    /* an event records its callers */
	VIEW_FREQUENCY = 1u << 16,  /* ticks can be converted to time */
	VIEW_PRIORITY = 1u << 18,   /* a thread's priority is known */
	VIEW_HOLDERS = 1u << 17,    /* there is a table of what threads hold and wait for */
};

/* Prints the table as Markdown. */
void views_write(struct base_output *out);

/* ---- Facts about the kernel that recorded the trace, read once ---- */

#define FACTS_CPUS_MAX 4096u

struct facts_cpu {
	struct ktrx_cpu row; /* all zeros if the kernel keeps none */
	uint64_t own;	     /* events in the CPU's own ring */
	uint64_t elsewhere;  /* events of the CPU in other rings, such as the boot ring */
};

struct facts_ring {
	uint64_t first, last; /* stamps of its first and last event, 0: none */
	uint64_t back;	      /* ticks: the largest step back of the clock from one event to the next */
	bool decided;	      /* `first` is set */
};

struct facts {
	struct ktread *trace;
	const struct ktread_info *info;
	struct facts_cpu *cpu;
	uint32_t cpus; /* highest number of a CPU that is online or has events, plus 1 */
	uint32_t online;
	struct facts_ring *ring; /* by ring of the trace */
	uint64_t events, first, last;
	uint32_t threads, named; /* thread ids other than 0, and how many of them have a name */
	uint32_t lit;		 /* facts that hold, as bits of enum view_fact */
	uint32_t hooks;		 /* KTRX_HOOK_* that some CPU has called */
	double seconds;		 /* how long the guest ran; 0: unknown */
	struct wellknown_table *known;
	uint8_t fired[(KTRX_EVENT_MAX + 1) / 8]; /* bit map of event ids that were recorded */
};

/*
 * Reads the trace to its end and rewinds it. Requires: a trace of version 2. Returns 0 or a negative
 * KTREAD_E_*. Call facts_free() in each case.
 */
int facts_read(struct facts *facts, struct ktread *trace);
void facts_free(struct facts *facts);

static inline bool facts_fired(const struct facts *facts, uint32_t id)
{
	return facts->fired[id / 8] >> (id % 8) & 1;
}

/* ---- Mistakes ---- */

/*
 * Mistakes of an integration that a trace shows: hooks in the wrong place, with the wrong value, or without
 * their counterpart. Events are judged in the order of each CPU, so differing clocks cause no findings.
 * After lost slots, or after events were switched on or off, the state starts anew.
 */

enum mistake {
	MISTAKE_ID_WIDE,   /* a thread id of more than 22 bits */
	MISTAKE_ID_ONES,   /* the port returns -1 as the id of the running thread */
	MISTAKE_ID_ZERO,   /* thread 0 sleeps or is woken */
	MISTAKE_ID_REUSED, /* a thread is created that exists already */
	/* next is the thread that the previous switch left: prev and next are swapped */
	MISTAKE_SWAPPED,
	MISTAKE_PREVIOUS,	 /* prev is not the thread that ran */
	MISTAKE_SAME,		 /* a switch from a thread to itself */
	MISTAKE_STATE_ZERO,	 /* the state is always 0 */
	MISTAKE_TWO_CPUS,	 /* one thread runs on two CPUs */
	MISTAKE_BLOCK_ELSEWHERE, /* sched.block for a thread that does not run */
	MISTAKE_WAKE_RUNNING,	 /* sched.wake for a thread that runs */
	MISTAKE_IRQ_EXIT,	 /* an interrupt is entered again before it was left */
	MISTAKE_IRQ_ENTER,	 /* an interrupt is left that was not entered */
	MISTAKE_SYSCALL_EXIT,	 /* system calls are entered, but hardly any returns */
	MISTAKE_RELEASE,	 /* a thread releases a lock that it does not hold */
	MISTAKE_CONTEND,	 /* a thread waits for a second lock */
	/* threads alternate on a CPU without a switch: two CPUs have the same number, or a hook is missing */
	MISTAKE_CPU_SHARED,
	/* the kernel's table shows a thread waiting for a lock although it has made system calls since */
	MISTAKE_WAIT_LEFT,
	/* a hook named CPU 0 or thread 0 as the holder of a lock that another CPU or thread holds */
	MISTAKE_OWNER,
	MISTAKES,
};

struct mistake_count {
	uint64_t count;
	uint64_t stamp; /* of the first occurrence */
	uint32_t cpu;	/* CPU of the first occurrence */
	uint64_t value; /* thread id, interrupt or lock of the first occurrence */
};

struct mistakes {
	struct mistake_count of[MISTAKES];
	uint64_t switches, blocks, wakes, contends, releases, enters, calls, returns;
	/* an event of that kind was switched off at some time, so the other events prove nothing */
	bool irqs_off, calls_off, locks_off;
	uint64_t states; /* switches with a state other than 0 */
	bool has_state;	 /* sched.switch has the field `state` */
};

/* Reads the trace to its end and rewinds it. Returns 0 or a negative KTREAD_E_*. */
int mistakes_read(struct mistakes *mistakes, struct ktread *trace);
/* Returns whether the mistake occurred often enough to be reported. */
bool mistakes_made(const struct mistakes *mistakes, enum mistake mistake);

/*
 * Finds MISTAKE_WAIT_LEFT and MISTAKE_OWNER in the kernel's table of held locks and waits. `syscalls`: keyed
 * by thread, the stamp of the newest entry or exit of a system call. `late`: ticks by which a row may be
 * older than an event. Returns 0 or the error of ktread_holders().
 */
int mistakes_waits(struct mistakes *mistakes, const struct ktread *trace, const struct keyed *syscalls,
		   uint64_t late);

/* ---- Examinations ---- */

/*
 * The examinations, one for each part of an integration. Each adds its findings to `report`. FINDING_DARK:
 * something is missing without harm. FINDING_NOTE: this run does not show whether something is wrong.
 */

struct subject {
	const char *elf; /* the kernel's file, NULL: unknown */
	bool elf_given;	 /* the user named the file */
	struct capture_kernel kernel;
	bool has_kernel;	   /* the file could be read */
	const struct facts *facts; /* facts of its trace, NULL: there is no trace */
	struct rules *rules;	   /* the rules that every kernel keeps; NULL: they could not be read */
	bool mistaken; /* hooks are in the wrong place, so their events prove nothing about clocks */
	/* Ticks by which clocks that were not measured may differ, if effects come before causes; else 0. */
	uint64_t clock_doubt;
	uint32_t cpus; /* number of CPUs of QEMU, 0: unknown */
};

/* Examines whether ktrace is linked into the kernel's file, and its sections there. */
void examine_kernel(struct findings *report, struct subject *subject);
/* Examines whether the sections of events and settings are intact in the guest's memory. */
void examine_sections(struct findings *report, const struct subject *subject);
/* Examines CPU numbers, threads, clocks, heartbeats and lost slots. */
void examine_trace(struct findings *report, const struct subject *subject);
/* Looks for hooks in the wrong place. Reads the trace. Returns 0 or a negative KTREAD_E_*. */
int examine_mistakes(struct findings *report, struct subject *subject, struct ktread *trace);
/* Checks the rules that every kernel keeps. Reads the trace. Returns 0 or a negative KTREAD_E_*. */
int examine_rules(struct findings *report, const struct subject *subject, struct ktread *trace);
/*
 * Examines whether clocks agree. Reads the trace several times and may correct it. Returns 0 or KTREAD_E_*.
 */
int examine_order(struct findings *report, struct subject *subject, struct ktread *trace);
/* Examines whether addresses have functions and lines. */
void examine_symbols(struct findings *report, const struct subject *subject);
/* Lists the views that are dark, and those that are lit. */
void examine_views(struct findings *report, const struct subject *subject);

#endif
