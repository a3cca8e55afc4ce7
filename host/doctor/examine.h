/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What doctor looks at and what it reports. */
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

/* ---- Which views of the other commands a trace is good for ---- */

/*
 * The one table of views that a kernel can make available, each with the line of C that does it.
 * doc/porting.md has the table as views_write() prints it; `ktrace doctor` lists the views that are dark: not
 * available yet.
 */

/* Bits: what views need of a trace besides events. */
enum view_fact {
	VIEW_RINGS = 1u << 0,	    /* a CPU has a ring of its own */
	VIEW_NAMES = 1u << 1,	    /* a thread has a name */
	VIEW_BEATS = 1u << 2,	    /* a CPU has a heartbeat */
	VIEW_MODES = 1u << 3,	    /* a CPU has set the mode user, kernel or interrupt */
	VIEW_IDLE = 1u << 4,	    /* a CPU has set the mode idle */
	VIEW_COST = 1u << 5,	    /* what an event costs is known */
	VIEW_SYSCALLS = 1u << 6,    /* there is a table of system calls */
	VIEW_BUILD_ID = 1u << 7,    /* the trace has the kernel's build id */
	VIEW_CLOCKS = 1u << 8,	    /* clocks can be measured */
	VIEW_EXIT = 1u << 9,	    /* the kernel reported its end */
	VIEW_PANIC = 1u << 10,	    /* the kernel reported a panic */
	VIEW_STACKS = 1u << 11,	    /* a thread's stack is known */
	VIEW_INTERRUPTS = 1u << 12, /* a CPU has said whether interrupts are on */
	VIEW_CPUS = 1u << 13,	    /* CPUs other than 0 are told apart */
	VIEW_THREADS = 1u << 14,    /* threads are told apart */
	VIEW_CALLERS = 1u << 15,    /* an event records its callers */
	VIEW_FREQUENCY = 1u << 16,  /* ticks can be converted to time */
	VIEW_PRIORITY = 1u << 18,   /* a thread's priority is known */
	VIEW_HOLDERS = 1u << 17,    /* there is a table of what threads hold and wait for */
};

/* The table as Markdown. */
void views_write(struct base_output *out);

/* ---- What a trace shows of the kernel that made it, read once, whatever happened there ---- */

#define FACTS_CPUS_MAX 4096u

struct facts_cpu {
	struct ktrx_cpu row; /* zeros where the kernel keeps none */
	uint64_t own;	     /* events in its own ring … */
	uint64_t elsewhere;  /* … and in the boot ring */
};

struct facts_ring {
	uint64_t first, last; /* stamps of events, 0: none */
	uint64_t back;	      /* ticks: the largest step back from one event to the next */
	bool decided;	      /* `first` is set */
};

struct facts {
	struct ktread *trace;
	const struct ktread_info *info;
	struct facts_cpu *cpu;
	uint32_t cpus; /* with a row, or with events */
	uint32_t online;
	struct facts_ring *ring; /* as in the trace */
	uint64_t events, first, last;
	uint32_t threads, named; /* ids seen other than 0, and those of them with a name */
	uint32_t lit;		 /* enum view_fact */
	uint32_t hooks;		 /* KTRX_HOOK_* that some CPU has called */
	double seconds;		 /* that the guest ran, as far as is known; 0: unknown */
	struct wellknown_table *known;
	uint8_t fired[(KTRX_EVENT_MAX + 1) / 8];
};

/* Reads the trace, a version 2 one, to its end, and rewinds. 0 or an error. */
int facts_read(struct facts *facts, struct ktread *trace);
void facts_free(struct facts *facts);

static inline bool facts_fired(const struct facts *facts, uint32_t id)
{
	return facts->fired[id / 8] >> (id % 8) & 1;
}

/* ---- Mistakes ---- */

/*
 * Mistakes of an integration that a trace shows: hooks that stand in the wrong place, are given the wrong
 * value, or lack their counterpart. What is judged is what each CPU recorded, in its own order, so that
 * clocks that are not in step make none; where slots are missing, or events were switched, what was known is
 * forgotten.
 */

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

/* ---- Examinations ---- */

/*
 * What the doctor looks at, one part of an integration after the other. Each adds what it found to `report`:
 * dark is what is missing without harm, a note is what this run leaves open.
 */

struct patient {
	const char *elf; /* the kernel's file, NULL: unknown */
	bool elf_given;	 /* by the user */
	struct capture_kernel kernel;
	bool has_kernel;	   /* the file could be read */
	const struct facts *facts; /* of its trace, NULL: there is none */
	struct rules *rules;	   /* that every kernel keeps; NULL: they could not be read */
	bool mistaken; /* hooks are in the wrong place, so that what they say is no ground to judge clocks */
	/* Ticks by which clocks that were not measured may differ, if effects come before causes; else 0. */
	uint64_t clock_doubt;
	uint32_t cpus; /* that QEMU has, 0: unknown */
};

/* The kernel's file: is ktrace in it, and where? */
void examine_kernel(struct findings *report, struct patient *patient);
/* What the linker's sections became in the guest's memory. */
void examine_sections(struct findings *report, const struct patient *patient);
/* CPUs, threads, clocks, heartbeats, loss. */
void examine_trace(struct findings *report, const struct patient *patient);
/* Hooks in the wrong place. Reads the trace. 0 or an error. */
int examine_mistakes(struct findings *report, struct patient *patient, struct ktread *trace);
/* The rules that every kernel keeps. Reads the trace. 0 or an error. */
int examine_rules(struct findings *report, const struct patient *patient, struct ktread *trace);
/* Whether clocks are in step: reads the trace several times and may correct it. 0 or an error. */
int examine_order(struct findings *report, struct patient *patient, struct ktread *trace);
/* Functions and lines of the kernel. */
void examine_symbols(struct findings *report, const struct patient *patient);
/* What the kernel does not light yet. */
void examine_views(struct findings *report, const struct patient *patient);

#endif
