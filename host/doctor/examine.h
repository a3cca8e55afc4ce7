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

/* ---- Views: what the other commands can show ---- */

/*
 * The table of views. For each view, it contains the line of C that a kernel needs for the view. A view is
 * "lit" if the kernel has provided what the view needs, otherwise "dark"; `ktrace doctor` lists the dark
 * views. views_write() prints the table for doc/porting.md.
 */

/* Facts about a trace. Each fact makes a view available. A view that needs only an event needs no fact. */
enum view_fact {
	VIEW_RINGS = 1u << 0,	 /* a CPU has its own ring */
	VIEW_NAMES = 1u << 1,	 /* a thread has a name */
	VIEW_BEATS = 1u << 2,	 /* a CPU has a heartbeat */
	VIEW_MODES = 1u << 3,	 /* the kernel has set the mode of a CPU to user, kernel or interrupt */
	VIEW_IDLE = 1u << 4,	 /* the kernel has set the mode of a CPU to idle */
	VIEW_COST = 1u << 5,	 /* the trace has the cost of an event */
	VIEW_SYSCALLS = 1u << 6, /* the trace has a table of system call names */
	VIEW_BUILD_ID = 1u << 7, /* the trace has the kernel's build id */
	/* the trace records that clocks were measured, or that the measurement failed */
	VIEW_CLOCKS = 1u << 8,
	VIEW_EXIT = 1u << 9,	    /* the kernel reported its end */
	VIEW_PANIC = 1u << 10,	    /* the kernel reported a panic */
	VIEW_STACKS = 1u << 11,	    /* a thread's stack is known */
	VIEW_INTERRUPTS = 1u << 12, /* a CPU descriptor shows whether interrupts are enabled */
	VIEW_CPUS = 1u << 13,	    /* the trace has CPU numbers other than 0 */
	VIEW_THREADS = 1u << 14,    /* the trace has thread ids other than 0 */
	VIEW_CALLERS = 1u << 15,    /* an event records the return addresses of its callers */
	VIEW_FREQUENCY = 1u << 16,  /* the frequency is known, so that ticks can be converted to time */
	VIEW_PRIORITY = 1u << 18,   /* a thread's priority is known */
	VIEW_HOLDERS = 1u << 17,    /* the trace has a table of held locks and waits */
	VIEW_SLEEPS = 1u << 19,	    /* a thread announced that it goes to sleep */
	VIEW_JOINS = 1u << 20,	    /* a thread announced that it waits for the end of another thread */
};

/* Prints the table of views as Markdown. */
void views_write(struct base_output *out);

/* ---- Facts about the kernel that recorded the trace, read once ---- */

#define FACTS_CPUS_MAX 4096u
/*
 * Number of records of a CPU that may be held up at one time, because an interrupt or another thread came
 * after the record's slot was reserved and before the clock was read: their timestamps are later than those
 * of the slots after them, although no clock goes back.
 */
#define FACTS_HELD_UP 3u

struct facts_cpu {
	/*
	 * the CPU's descriptor from the kernel's table of CPUs; all zeros if the table has none for this CPU
	 */
	struct ktrx_cpu row;
	uint64_t own;	    /* number of the CPU's events in its own ring */
	uint64_t elsewhere; /* number of the CPU's events in other rings, such as the boot ring */
	/* the CPU's latest timestamps in ring `latest_ring`, in descending order; 0 if there are fewer */
	uint64_t latest[FACTS_HELD_UP + 1];
	uint32_t latest_ring;
};

struct facts_ring {
	uint64_t first; /* timestamp of the first event of the ring; 0 if it has no event */
	/*
	 * maximum number of ticks by which an event is earlier than more than FACTS_HELD_UP events that the
	 * same CPU recorded before it
	 */
	uint64_t back;
	uint64_t events;
	bool decided; /* true if `first` is set */
};

struct facts {
	struct ktread *trace;
	const struct ktread_info *info;
	struct facts_cpu *cpu;
	uint32_t cpus; /* highest number of a CPU that is online or has events, plus 1 */
	uint32_t online;
	struct facts_ring *ring; /* an entry for each ring of the trace */
	uint64_t events, first, last;
	/*
	 * `threads`: number of threads, without thread 0; `named`: number of these threads whose name is
	 * known
	 */
	uint32_t threads, named;
	uint32_t lit;	/* bit map of the facts (enum view_fact) that are true */
	uint32_t hooks; /* bit map of the hooks (KTRX_HOOK_*) that at least one CPU has called */
	/* true if the kernel has described its CPUs, which ktrace_init() does */
	bool initialised;
	bool has_names; /* true if the kernel provided memory for names of threads */
	/*
	 * number of CPUs that are not online because the port reported another CPU there, and the first of
	 * them
	 */
	uint32_t misnumbered, first_misnumbered;
	bool has_table;	  /* true if the kernel provided memory for a table of held locks and waits */
	uint64_t refused; /* number of calls of hooks that found this table full */
	/* `rows`: number of rows of this table for threads; `used`: number of those rows that are in use */
	uint32_t rows, used;
	double seconds; /* seconds for which the guest ran; 0: unknown */
	struct wellknown_table *known;
	uint8_t fired[(KTRX_EVENT_MAX + 1) / 8]; /* bit map of the ids of events that were recorded */
};

/*
 * Reads the trace to its end and rewinds it. Requires: the trace is of version 2. Returns 0 or a negative
 * KTREAD_E_*. Call facts_free() even after an error.
 */
int facts_read(struct facts *facts, struct ktread *trace);
void facts_free(struct facts *facts);
/*
 * Returns how many events the kernel recorded in a second. For each ring, only the time counts that the ring
 * covers: a ring that has been overwritten begins at its first event; any other ring covers the whole trace,
 * even if its first event came late. 0: unknown, because the clock is coarse or its frequency is unknown.
 */
double facts_rate(const struct facts *facts);
/* Returns the share of the CPUs' time that recording took at this rate: 0 to 1; 0 if it is unknown. */
double facts_cost_share(const struct facts *facts);

static inline bool facts_fired(const struct facts *facts, uint32_t id)
{
	return facts->fired[id / 8] >> (id % 8) & 1;
}

/* ---- Mistakes in the calls of hooks ---- */

/*
 * Finds the mistakes in a kernel's hooks that a trace shows: a hook in the wrong place, a hook with a wrong
 * argument, or a missing hook. Most mistakes are found in the events of one CPU, so differences between
 * clocks do not matter. For the other mistakes, such as a thread that runs on two CPUs at once,
 * mistakes_are_certain() returns whether they remain if the clocks differ. After lost slots, and after events
 * were switched on or off, all stored state is discarded. The same holds while slots of any CPU are missing.
 */

enum mistake {
	MISTAKE_ID_WIDE,   /* an event has a thread id of more than 22 bits */
	MISTAKE_ID_ONES,   /* the port returns -1 as the id of the running thread */
	MISTAKE_ID_ZERO,   /* thread 0 sleeps or is woken */
	MISTAKE_ID_REUSED, /* sched.create for a thread that exists already */
	/* field `next` of a switch is the thread that the previous switch left: prev and next are swapped */
	MISTAKE_SWAPPED,
	MISTAKE_PREVIOUS,   /* field `prev` of a switch is not the thread that ran */
	MISTAKE_SAME,	    /* a switch from a thread to itself */
	MISTAKE_STATE_ZERO, /* field `state` of all switches is 0 */
	/* the states of switches are not those of ktrace; see enum switch_states_fault */
	MISTAKE_STATE_RANGE,
	MISTAKE_STATE_DEAD,
	MISTAKE_STATE_STOPPED,
	MISTAKE_STATE_SAME,
	MISTAKE_TWO_CPUS,	 /* a thread runs on two CPUs at once */
	MISTAKE_BLOCK_ELSEWHERE, /* sched.block for a thread that does not run */
	MISTAKE_WAKE_RUNNING,	 /* sched.wake for a thread that runs */
	MISTAKE_IRQ_EXIT,	 /* an interrupt is entered again before its irq.exit */
	MISTAKE_IRQ_ENTER,	 /* irq.exit of an interrupt that was not entered */
	MISTAKE_SYSCALL_EXIT,	 /* system calls are entered, but hardly any call returns */
	MISTAKE_RELEASE,	 /* a thread releases a lock that it does not hold */
	MISTAKE_CONTEND,	 /* a thread waits for a lock while it waits for another lock */
	/* threads alternate on a CPU without a switch: two CPUs use the same number, or a hook is missing */
	MISTAKE_CPU_SHARED,
	/*
	 * the kernel's table of held locks and waits shows that a thread waits for a lock, but the thread has
	 * made system calls since the wait began
	 */
	MISTAKE_WAIT_LEFT,
	/*
	 * a thread or CPU waits for a lock, and its hook gave CPU 0 or thread 0 as the lock's holder, but
	 * another thread or CPU holds the lock
	 */
	MISTAKE_OWNER,
	/* the kernel's table shows a thread that runs, but its CPU has switched to another thread */
	MISTAKE_STILL_RUNS,
	/* the deadline of a wait is before the wait, or more than a year after it */
	MISTAKE_DEADLINE,
	MISTAKES,
};

struct mistake_count {
	uint64_t count;
	/*
	 * number of occurrences that do not depend on the order of events on different CPUs; valid for the
	 * mistakes that can depend on it
	 */
	uint64_t sure;
	uint64_t stamp; /* timestamp of the first occurrence */
	uint32_t cpu;	/* CPU of the first occurrence */
	uint64_t value; /* thread id, interrupt or lock of the first occurrence */
};

struct mistakes {
	struct mistake_count of[MISTAKES];
	uint64_t switches, blocks, wakes, contends, releases, enters, calls, returns;
	/*
	 * true if events of this kind (interrupts, calls, locks, sched.exit, sched.switch) were switched off
	 * at some time, or fold: the hooks may then be correct although events are missing
	 */
	bool irqs_off, calls_off, locks_off, ends_off, switches_off;
	/* true if the order of events on different CPUs is not certain */
	bool unordered;
	/* true if, in addition, it is unknown how much the clocks of the CPUs may differ */
	bool unmeasured;
	/*
	 * for the interrupt that was entered most often before it had ended: how often, and the number of all
	 * its entries
	 */
	uint64_t lost_ends, lost_ends_of;
	uint64_t states; /* number of switches with a state other than 0 */
	bool has_state;	 /* true if sched.switch has the field `state` */
};

/* Reads the trace to its end and rewinds it. Returns 0 or a negative KTREAD_E_*. */
int mistakes_read(struct mistakes *mistakes, struct ktread *trace);
/* Returns whether the mistake occurred often enough to be reported. */
bool mistakes_made(const struct mistakes *mistakes, enum mistake mistake);
/*
 * Returns whether a mistake that mistakes_made() reports is certain. It is not if it follows only from the
 * order of events on different CPUs, and their clocks do not show this order.
 */
bool mistakes_are_certain(const struct mistakes *mistakes, enum mistake mistake);

/*
 * Finds the mistakes from MISTAKE_WAIT_LEFT to MISTAKE_DEADLINE in the kernel's tables. `syscalls`: the
 * timestamp of the newest entry or exit of a system call, keyed by thread. `late`: maximum number of ticks by
 * which a row of the table may be older than an event. Returns 0 or the error of a function of ktread.h.
 */
int mistakes_waits(struct mistakes *mistakes, const struct ktread *trace, const struct keyed *syscalls,
		   uint64_t late);

/* ---- Examinations ---- */

/*
 * The examinations, one for each part of the integration of ktrace into a kernel. Each adds its findings to
 * `report`. FINDING_DARK means that an optional part is missing. FINDING_NOTE means that this trace does not
 * show whether something is wrong.
 */

struct subject {
	const char *elf; /* path of the kernel's file; NULL: unknown */
	bool elf_given;	 /* true if the user named the file */
	struct capture_kernel kernel;
	bool has_kernel;	   /* true if the file could be read */
	const struct facts *facts; /* facts of the trace; NULL: there is no trace */
	struct rules *rules;	   /* rules that every kernel must obey; NULL if they could not be read */
	/* true if some hooks are in the wrong place, so that their events show nothing about clocks */
	bool mistaken;
	bool states_wrong; /* true if the states of sched.switch are wrong */
	/*
	 * number of ticks by which clocks that were not measured may differ; 0 if no effect precedes its
	 * cause
	 */
	uint64_t clock_doubt;
	uint32_t cpus; /* number of CPUs that QEMU has; 0: unknown */
};

/* Examines whether ktrace is linked into the kernel's file, and the sections of ktrace in that file. */
void examine_kernel(struct findings *report, struct subject *subject);
/* Examines CPU numbers, threads, clocks, heartbeats and lost slots. */
void examine_trace(struct findings *report, const struct subject *subject);
/* Looks for hooks in the wrong place. Reads the trace. Returns 0 or a negative KTREAD_E_*. */
int examine_mistakes(struct findings *report, struct subject *subject, struct ktread *trace);
/* Checks the rules that every kernel obeys. Reads the trace. Returns 0 or a negative KTREAD_E_*. */
int examine_rules(struct findings *report, const struct subject *subject, struct ktread *trace);
/*
 * Examines whether the clocks of the CPUs agree. Reads the trace several times and may correct its clocks.
 * Returns 0 or KTREAD_E_*.
 */
int examine_order(struct findings *report, struct subject *subject, struct ktread *trace);
/* Examines whether the kernel's file has functions and source lines for addresses in the trace. */
void examine_symbols(struct findings *report, const struct subject *subject);
/*
 * Adds a finding for each view that is dark, one finding that lists the views that were not used in this run,
 * and one that lists the views that are lit.
 */
void examine_views(struct findings *report, const struct subject *subject);
/*
 * A new port should add certain views first. Formats the names of those that are dark in the report, in the
 * order in which the port should add them. Formats "" if none of them is dark.
 */
const char *examine_begin(const struct findings *report, char text[FINDING_LINE]);

#endif
