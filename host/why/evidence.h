/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is known of a machine at the end of a trace, gathered once: the state tables that the kernel's hooks
 * keep, what the events say, the CPUs' registers and stacks if a host captured them, and how the run ended.
 * Detectors read it; none of them reads the trace again.
 *
 * All times are stamps of the trace, corrected as it is read. What a kernel does not tell is marked as
 * unknown.
 */
#ifndef WHY_EVIDENCE_H
#define WHY_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/keyed.h"
#include "analyze/note.h"
#include "analyze/scheduling.h"
#include "analyze/symbols.h"
#include "analyze/threads.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define WHY_LAST   8u /* events kept of each CPU and thread */
#define WHY_FRAMES 32u
#define WHY_TEXT   160u

/*
 * Kept apart; of orders of locks, KEYED_MAX are. Events and rows of CPUs and threads beyond are left out and
 * counted, and so are orders; objects beyond have no name, and of who sleeps on them nothing is concluded.
 */
#define WHY_CPUS    4096u
#define WHY_THREADS 16384u
#define WHY_OBJECTS 16384u

#define WHY_ALL_HOOKS                                                                        \
	(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD | KTRX_HOOK_IRQ | KTRX_HOOK_EOI | KTRX_HOOK_IPI | \
	 KTRX_HOOK_PREEMPT | KTRX_HOOK_SPACE)

/* An event as text. */
struct why_event {
	uint64_t stamp;
	uint32_t cpu, thread;
	uint16_t id;
	uint8_t context;     /* KTRX_CONTEXT_* */
	char text[WHY_TEXT]; /* "sched.block for 0x1234 by 5" */
};

/* The newest events of one CPU or thread, oldest first. */
struct why_last {
	struct why_event event[WHY_LAST];
	uint32_t count;
	uint64_t total; /* events seen */
};

/* How often something happened, in all and in the last part of the trace. */
struct why_rate {
	uint64_t count;	 /* in the trace, behind its last gap on that CPU */
	uint64_t recent; /* of these within the last `why_evidence.window` */
	uint64_t last;	 /* stamp */
};

/* Interrupts of one number. */
struct why_irq_kind {
	uint32_t number;
	uint64_t entered;
	uint64_t ended;	      /* of these the controller was told … */
	uint64_t close;	      /* … and these came as soon as the CPU had left the one before */
	uint64_t first, last; /* stamps */
};

/*
 * A stretch of time in which a CPU took no interrupt although one thread, not an idle one, ran there and no
 * other.
 */
struct why_quiet {
	uint64_t from, to; /* 0, 0: none */
	uint64_t unseen;   /* of that, where no event shows that the CPU ran */
	uint64_t events;   /* that the thread recorded meanwhile */
	uint64_t others;   /* interrupts that other CPUs took meanwhile */
	uint32_t thread;
	uint64_t pc; /* interrupted there by the one that ended it, 0 unknown */
};

/* A place where a CPU was interrupted, and what it was at. */
struct why_sample {
	uint64_t stamp, pc;
	uint32_t thread;
	uint8_t context; /* KTRX_CONTEXT_* */
};

/*
 * The interrupts of a CPU, NMIs aside, by its events behind the last gap. An interrupt may be ended (irq.eoi)
 * before or after it is entered, but not before the one before it is entered.
 */
#define WHY_IRQ_KINDS 16u
#define WHY_SAMPLES   16u
#define WHY_TICK_MS   25u /* the longest time between two ticks of a timer that kernels use */
struct why_interrupts {
	uint64_t events; /* of any kind */
	uint64_t entered, ended;
	uint32_t number; /* of the newest one, if any was entered */
	char name[24];
	uint64_t stamp;
	bool over;   /* the controller was told of its end */
	bool left;   /* its handler was left */
	uint64_t pc; /* interrupted there, 0 unknown */
	uint64_t
		run; /* how many came last, all of one number, with nothing else on that CPU between them … */
	uint64_t run_first; /* … since then */
	uint64_t near, far; /* distances of up to WHY_TICK_MS from one to the next, and longer ones */
	bool run_stands;    /* all at the same place */
	struct why_irq_kind kind[WHY_IRQ_KINDS]; /* in order of their first; those beyond are left out */
	uint32_t kinds;
	struct why_quiet quiet;		       /* the one in which it is seen to have run longest */
	uint64_t quiets;		       /* how many not shorter by half ended at its place */
	struct why_sample sample[WHY_SAMPLES]; /* number n at n modulo WHY_SAMPLES */
	uint64_t samples;
};

struct why_cpu {
	uint32_t number;
	bool has_row;	 /* the kernel keeps `row` */
	bool has_holder; /* and `holder` */
	struct ktrx_cpu row;
	struct ktrx_holder holder;
	bool has_registers;
	uint64_t pc, sp;
	enum privilege side;	    /* by these registers */
	uint64_t trap_pc;	    /* where the last exception was taken, by these registers; 0 unknown */
	uint64_t frame[WHY_FRAMES]; /* return addresses, innermost first */
	uint32_t frames;
	uint64_t lost;	      /* slots lost or unreadable in its ring, within what can be read */
	uint64_t gap;	      /* stamp behind the last of them; 0: none */
	uint64_t first_stamp; /* of its oldest event … */
	bool cut;	      /* … before which others are overwritten */
	uint64_t last_stamp;  /* of its newest event, 0: none */
	uint64_t worked;      /* ticks of the window that it is seen to run threads other than idle ones */
	uint32_t running;     /* thread, by the trace or else by its row; UINT32_MAX unknown */
	struct why_last last;
	struct why_rate irqs; /* irq.enter */
	struct why_interrupts interrupts;
	struct why_rate switches;
};

/* Times in a row that a thread did not get a lock that it did not wait for (lock.fail), up to now. */
struct why_tries {
	uint64_t lock;
	uint64_t count;
	uint64_t first, last; /* stamps */
	uint32_t owner;	      /* thread that had it the last time, UINT32_MAX unknown */
	uint64_t pc;	      /* where, 0 unknown */
};

/* Nested faults: each came before the handler of the previous one had returned. In interrupts as well. */
struct why_fault_nest {
	uint64_t count;	      /* 0: it is over */
	uint64_t address, ip; /* of the newest; ip: 0 unknown */
};

struct why_thread {
	uint32_t id;
	char name[28]; /* "" unknown */
	bool idle;     /* it is what a CPU runs when it has nothing to do */
	bool has_holder;
	struct ktrx_holder holder;
	uint64_t first;		  /* the oldest event that is about it */
	uint64_t created;	  /* sched.create, 0: not in the trace */
	enum threads_state state; /* by the trace, THREADS_UNKNOWN if that does not say */
	uint64_t since;		  /* of that */
	uint64_t object;	  /* it announced to wait for */
	uint32_t cpu;		  /* KTRX_NO_CPU unknown */
	struct why_last last;
	struct why_rate syscalls; /* syscall.enter */
	uint64_t syscall;	  /* number of the newest … */
	uint64_t syscall_result;  /* … and what it returned, if it has */
	bool in_syscall;
	uint64_t repeats;	/* of the newest call in a row, with the same arguments and result … */
	uint64_t repeat_first;	/* … stamp of the first of these … */
	bool repeats_cut;	/* … before which there may have been more that are lost */
	struct why_rate faults; /* mm.fault_enter */
	uint64_t fault_address; /* of the newest … */
	uint64_t fault_ip;	/* … by that instruction, 0 unknown … */
	bool in_fault;		/* … whose handler has not been left … */
	char fault_how[24];	/* … how it ended, "" unknown … */
	uint64_t
		fault_repeats; /* … and how often in a row like that, nothing else being done in between, … */
	uint64_t fault_first;	/* … since when … */
	uint64_t fault_signals; /* … and for how many of them a signal was delivered */
	bool fault_signalled;	/* one for the newest */
	struct why_fault_nest fault_nest;
	uint64_t ran;	     /* ticks it is seen to run within the window */
	uint64_t runnable;   /* ticks it has been runnable without running, up to now; 0: it is not … */
	uint64_t interrupts; /* … and how many interrupts its CPU has taken since */
	uint64_t blocked;    /* when it announced to sleep, by its events; 0: it has been woken since … */
	uint64_t blocked_on; /* … what for … */
	uint8_t blocked_for; /* … and of which kind, KTRX_WAIT_*; KTRX_WAIT_NONE: that is not told */
	uint64_t blocked_after; /* … waits for devices that had ended by then */
	/* how long its waits for a time take, near the middle of them; 0: there was none */
	uint64_t usual_sleep;
	uint64_t rested;   /* when it last announced to sleep, for anything but a lock */
	uint64_t woken;	   /* when it was last made runnable, by its events, also if it was awake already */
	uint64_t deed;	   /* its newest event that was not about going to sleep or locks */
	uint32_t deed_cpu; /* where that was */
	uint64_t contends; /* lock that it found taken and has not had since, by its events; 0: none … */
	uint64_t contends_since;
	struct why_tries tries;
	uint64_t acted; /* newest event that it fired itself, its switches aside; 0: none */
};

/* A lock that was taken and not given up, by the events. */
struct why_hold {
	uint64_t lock;
	uint64_t stamp;
	uint64_t pc; /* 0 unknown */
	uint32_t thread, cpu;
};

#define WHY_OUTER 4u

/* Lock `then` was taken by who held `first`; the newest time that this was so. */
struct why_order {
	uint64_t first, then;
	uint64_t stamp;		    /* of an earlier trace, that one's */
	uint64_t first_pc, then_pc; /* 0 unknown */
	uint64_t outer[WHY_OUTER];  /* locks that were held as well each time, 0: none */
	uint64_t count;
	uint32_t thread, cpu;
	bool several;	/* more threads than that one took them so */
	uint32_t trace; /* 0 this one, from 1: which earlier one */
};

/* Who woke sleepers of a queue, or tried to. */
struct why_waker {
	uint32_t thread;
	uint64_t wakes; /* 0: it met nobody */
	uint64_t last;
};

/*
 * Times between wakeups of a queue's sleepers, slots lost in between aside. Several woken at once count as
 * one.
 */
#define WHY_INTERVALS 24u
struct why_rhythm {
	uint64_t interval[WHY_INTERVALS]; /* ticks; number n at n modulo WHY_INTERVALS */
	uint64_t intervals;
	uint64_t longest;
	uint64_t first, last; /* stamps of wakeups, 0: none */
};

/* The interrupts that woke a queue's sleepers. */
struct why_irq_waker {
	uint64_t wakes, last; /* stamp */
	bool known;	      /* the number is */
	uint32_t number, cpu; /* of the last one */
};

/*
 * What threads sleep on, by the events. A thread that does not tell what it sleeps on has a queue of its own,
 * of address 0.
 */
#define WHY_WAKERS 6u
struct why_queue {
	uint64_t address;
	uint64_t first; /* its oldest event */
	uint64_t wakes; /* of its sleepers … */
	uint64_t last_wake;
	struct why_waker waker[WHY_WAKERS]; /* … by these threads, … */
	uint32_t wakers;
	bool by_interrupt;	  /* … by interrupts … */
	struct why_irq_waker irq; /* … these … */
	bool by_others;		  /* … and by threads that there is no room for */
	uint64_t nobody;	  /* wakeups that met nobody */
	uint64_t nobody_stamp;	  /* the newest of them … */
	uint64_t nobody_ip;	  /* … from there, 0 unknown */
	uint32_t nobody_thread;	  /* … by that thread … */
	uint32_t nobody_cpu;	  /* … on that CPU */
	struct why_rhythm rhythm;
	uint64_t waits;	  /* that ended, from the announcement to the wakeup … */
	uint64_t longest; /* … ticks, the longest of them … */
	uint64_t gaps;	  /* as many had been seen when the newest wakeup was noted */
};

/* Waits for devices, as far as they have ended: KTRX_WAIT_DEVICE. */
struct why_waits {
	struct histogram ticks;
	uint64_t half;	/* as many took longer as did not */
	uint64_t late;	/* ticks from which a wait counts as late; 0: not known */
	uint64_t lates; /* number of late waits among those that ended */
	uint64_t worst_begin;
	uint64_t worst_object;
	uint64_t worst_overtaken; /* others that ended meanwhile */
	uint32_t worst_thread;
	/* waits for a time that overlap the worst, and that ended late by a good part of it … */
	uint32_t worst_late;
	uint32_t worst_punctual; /* … or ended as usual */
	/* ticks of the worst in which a CPU that should have recorded something did not … */
	uint64_t worst_unseen;
	uint32_t worst_cpu; /* … this one */
};

/* A lock, queue or other object that was named by a hook or an event. */
struct why_object {
	uint64_t address;
	char name[64];	/* as the kernel says, "" */
	bool elsewhere; /* only in an earlier trace: `address` stands for it there, and is none */
};

/* The kernel gave up. */
struct why_panic {
	uint64_t stamp; /* 0: there is no such event */
	uint32_t cpu, thread;
	char message[256];  /* what the guest said, not yet escaped */
	uint64_t caller[2]; /* nearest first, 0 unknown */
};

struct why_evidence {
	struct ktread *trace;
	/* ticks: events of different CPUs that are closer may have come in another order; 0 unknown */
	uint64_t doubt;
	const struct ktread_info *info;
	struct symbols *symbols; /* NULL: no file of the kernel is known */
	uint64_t end;		 /* the newest stamp that is known, of events and of tables */
	uint64_t alive; /* the same, but for the time in which nothing came from the machine any more */
	uint64_t first; /* the oldest event's … */
	uint64_t newest_event; /* … and the newest one's */
	uint64_t window;       /* ticks: what "recent" means, at most the last second */
	char ended[256];       /* how `ktrace run` says that it ended, "" unknown */
	bool stalled;	       /* it was captured because CPUs had not beaten, or time was up */
	/* for how long nothing has come from it is not known, only for how long at least */
	bool stood_before;
	bool went_on; /* until it was captured, as a host has seen */
	bool halted;  /* while it was captured, so that the tables show one moment */
	bool reset;   /* the machine reset itself */
	struct why_panic panic;
	uint32_t missing_hooks;	       /* KTRX_HOOK_* that the kernel did not call */
	bool state_off;		       /* hooks kept no state: debug.ktr.state is 0 */
	bool blocks_told;	       /* some thread has said that it sleeps */
	bool exits_told;	       /* threads tell of their end before their last switch */
	bool idling_told;	       /* some CPU says that it idles */
	bool fault_exits;	       /* there is an event for the end of some fault */
	bool switched;		       /* some CPU has switched threads */
	bool times_told;	       /* some sleep was told to end at a time: others that are not do not */
	struct scheduling *scheduling; /* which events were recorded when, and what states of switches mean */
	uint64_t wakes,
		/* by events, and those of threads that could run already, as their switches said */
		odd_wakes;
	bool high;		  /* the kernel runs in the upper half of the address space */
	bool users;		  /* some CPU has been in user mode */
	uint64_t gap;		  /* stamp behind the newest, on any CPU; 0: none */
	uint32_t cut;		  /* rings whose ends the file lacks: their gap is at the end */
	uint64_t most_beats;	  /* heartbeats of the CPU that has most */
	uint64_t longest_silence; /* ticks without a heartbeat up to the end, of CPUs that should have them */
	uint64_t events, known;	  /* in all, and those whose name has a meaning */
	struct why_cpu *cpu;
	uint32_t cpus;
	struct why_thread *thread;
	uint32_t threads;
	struct why_object *object;
	uint32_t objects;
	struct why_queue *queue;
	uint32_t queues;
	struct why_waits device;
	struct why_hold *hold;
	uint32_t holds;
	struct why_order *order;
	uint32_t orders;
	uint64_t left_out;  /* events, rows and orders beyond the limits, each once */
	struct keyed index; /* of threads, objects and queues; use the functions below */
};

/*
 * Reads the trace to its end. `symbols` may be NULL and must outlive the evidence. 0, or a negative
 * KTREAD_E_*; what was read until then stands.
 */
int why_evidence_read(struct why_evidence **evidence, struct ktread *trace, struct symbols *symbols);
void why_evidence_free(struct why_evidence *evidence);
/*
 * Adds in which order locks were taken in an earlier trace, `number` from 1. A lock is the same if it has the
 * same name, or none and the same address in the same build.
 */
int why_evidence_add_earlier(struct why_evidence *evidence, struct ktread *earlier, uint32_t number);

/* From a stamp to the end: 0 of one behind it, as a machine has that ran on while its memory was read. */
static inline uint64_t why_age(const struct why_evidence *evidence, uint64_t stamp)
{
	return stamp < evidence->end ? evidence->end - stamp : 0;
}

const struct why_thread *why_thread_find(const struct why_evidence *evidence, uint32_t id); /* NULL */
const char *why_object_name(const struct why_evidence *evidence, uint64_t address);	    /* "" unknown */
bool why_object_is_elsewhere(const struct why_evidence *evidence, uint64_t address);
const struct why_queue *why_queue_find(const struct why_evidence *evidence, uint64_t address); /* NULL */
/* Of a thread that did not tell what it sleeps on, NULL: it was never seen to be woken. */
const struct why_queue *why_queue_of_thread(const struct why_evidence *evidence, uint32_t thread);

#endif
