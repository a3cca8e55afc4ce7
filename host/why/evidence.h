/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The state of a machine at the end of a trace, gathered once from the state tables that the kernel's hooks
 * keep, the events, the CPUs' registers and stacks if a host captured them, and the end of the run.
 * Detectors use only this; they do not read the trace again.
 *
 * All times are stamps of the trace, corrected while it is read. What the kernel does not record is marked
 * as unknown.
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
 * Limits. At most KEYED_MAX lock orders are kept. Events and table rows of CPUs and threads beyond the
 * limits, and orders beyond theirs, are left out and counted in `left_out`. Objects beyond the limit have no
 * name, and nothing is concluded about threads that sleep on them.
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

/* How often something happened in the whole trace and in its last part. */
struct why_rate {
	uint64_t count;	 /* in the trace, after the last gap on that CPU */
	uint64_t recent; /* part of `count`: within the last `why_evidence.window` */
	uint64_t last;	 /* stamp */
};

/* Interrupts of one number. */
struct why_irq_kind {
	uint32_t number;
	uint64_t entered;
	uint64_t ended;	      /* part of `entered`: interrupts with an EOI */
	uint64_t close;	      /* part of `entered`: came as soon as the CPU had left the previous interrupt */
	uint64_t first, last; /* stamps */
};

/* A period in which a CPU took no interrupt while it ran a single thread, which was not an idle thread. */
struct why_quiet {
	uint64_t from, to; /* 0, 0: none */
	uint64_t unseen;   /* ticks of the period in which no event shows that the CPU ran */
	uint64_t events;   /* events that the thread recorded in the period */
	uint64_t others;   /* interrupts that other CPUs took in the period */
	uint32_t thread;
	uint64_t pc; /* where the interrupt that ended the period interrupted the CPU, 0 unknown */
};

/* A place where a CPU was interrupted, with the thread and context that ran there. */
struct why_sample {
	uint64_t stamp, pc;
	uint32_t thread;
	uint8_t context; /* KTRX_CONTEXT_* */
};

/*
 * The interrupts of a CPU without NMIs, from its events after the last gap. An interrupt may be ended
 * (irq.eoi) before or after it is entered, but not before the previous interrupt is entered.
 */
#define WHY_IRQ_KINDS 16u
#define WHY_SAMPLES   16u
#define WHY_TICK_MS   25u /* the longest time between two ticks of a timer that kernels use */
struct why_interrupts {
	uint64_t events; /* of any kind */
	uint64_t entered, ended;
	uint32_t number; /* of the newest interrupt, if any was entered */
	char name[24];
	uint64_t stamp;
	bool over;   /* the newest interrupt has an EOI */
	bool left;   /* the handler of the newest interrupt has returned */
	uint64_t pc; /* where the newest interrupt interrupted the CPU, 0 unknown */
	/* number of newest interrupts with the same number and no other event on that CPU between them */
	uint64_t run;
	uint64_t run_first;    /* stamp of the first interrupt of `run` */
	uint64_t near, far;    /* intervals between interrupts: up to WHY_TICK_MS, and longer */
	bool run_at_one_place; /* all interrupts of `run` interrupted the CPU at the same place */
	/* in order of first occurrence; further kinds are left out */
	struct why_irq_kind kind[WHY_IRQ_KINDS];
	uint32_t kinds;
	struct why_quiet quiet; /* the period in which the CPU is seen to have run longest */
	/* number of periods that ended at the same place as `quiet` and are at least half as long */
	uint64_t quiets;
	struct why_sample sample[WHY_SAMPLES]; /* sample n is at n modulo WHY_SAMPLES */
	uint64_t samples;
};

struct why_cpu {
	uint32_t number;
	bool has_row;	 /* `row` is from the kernel's table */
	bool has_holder; /* `holder` is from the kernel's table */
	struct ktrx_cpu row;
	struct ktrx_holder holder;
	bool has_registers;
	uint64_t pc, sp;
	enum privilege side;	    /* privilege level in the captured registers */
	uint64_t trap_pc;	    /* where the last exception was taken, from the registers; 0 unknown */
	uint64_t frame[WHY_FRAMES]; /* return addresses, innermost first */
	uint32_t frames;
	uint64_t lost;	      /* slots lost or unreadable in its ring, within the part that can be read */
	uint64_t gap;	      /* stamp of the first event after the last lost slot; 0: none is lost */
	uint64_t first_stamp; /* of its oldest event */
	bool cut;	      /* events before `first_stamp` were overwritten */
	uint64_t last_stamp;  /* of its newest event, 0: none */
	uint64_t worked;  /* ticks of the window in which it is seen to run threads other than idle threads */
	uint32_t running; /* running thread from the tables or events; UINT32_MAX unknown */
	struct why_last last;
	struct why_rate irqs; /* irq.enter */
	struct why_interrupts interrupts;
	struct why_rate switches;
};

/* The newest failed tries for one lock in a row (lock.fail) by a thread that did not wait for the lock. */
struct why_tries {
	uint64_t lock;
	uint64_t count;
	uint64_t first, last; /* stamps */
	uint32_t owner;	      /* thread that held the lock at the last try, UINT32_MAX unknown */
	uint64_t pc;	      /* place of the last try, 0 unknown */
};

/*
 * Nested faults: each came before the handler of the previous fault had returned. Counts faults in
 * interrupts, too.
 */
struct why_fault_nest {
	uint64_t count;	      /* 0: no fault is being handled */
	uint64_t address, ip; /* of the newest fault; ip: 0 unknown */
};

struct why_thread {
	uint32_t id;
	char name[28]; /* "" unknown */
	bool idle;     /* it is an idle thread */
	bool has_holder;
	struct ktrx_holder holder;
	uint64_t first;		  /* stamp of the oldest event about it, UINT64_MAX: none */
	uint64_t created;	  /* stamp of sched.create, 0: not in the trace */
	enum threads_state state; /* from the events, THREADS_UNKNOWN if they do not show it */
	uint64_t since;		  /* stamp of the change to `state` */
	uint64_t object;	  /* object that it announced to wait for */
	uint32_t cpu;		  /* KTRX_NO_CPU unknown */
	struct why_last last;
	struct why_rate syscalls; /* syscall.enter */
	uint64_t syscall;	  /* number of the newest system call */
	uint64_t syscall_result;  /* result of the newest system call that returned */
	bool in_syscall;
	uint64_t repeats;	/* newest system calls in a row with the same arguments and result */
	uint64_t repeat_first;	/* stamp of the first of `repeats` */
	bool repeats_cut;	/* earlier calls like `repeats` may be lost */
	struct why_rate faults; /* mm.fault_enter */
	uint64_t fault_address; /* of the newest fault */
	uint64_t fault_ip;	/* instruction of the newest fault, 0 unknown */
	bool in_fault;		/* the handler of the newest fault has not returned */
	char fault_how[24];	/* how the newest fault ended, "" unknown */
	/*
	 * newest faults in a row at the same address by the same instruction, with no other progress between
	 */
	uint64_t fault_repeats;
	uint64_t fault_first;	/* stamp of the first of `fault_repeats` */
	uint64_t fault_signals; /* signals that were delivered since the first of `fault_repeats` */
	bool fault_signalled;	/* a signal was delivered after the newest fault */
	struct why_fault_nest fault_nest;
	uint64_t ran;	     /* ticks of the window in which it is seen to run */
	uint64_t runnable;   /* ticks for which it has been runnable without running; 0: it is not runnable */
	uint64_t interrupts; /* interrupts that its CPU has taken since it became runnable */
	uint64_t blocked;    /* stamp of its announcement to sleep, from events; 0: it has been woken since */
	uint64_t blocked_on; /* object of that announcement */
	/* kind of wait in that announcement, KTRX_WAIT_*; KTRX_WAIT_NONE: not recorded */
	uint8_t blocked_for;
	uint64_t
		/* waits for devices (of all threads) that had ended before that announcement */
		blocked_after;
	uint64_t usual_sleep;	  /* ticks that its timed sleeps take, near their median; 0: there was none */
	uint64_t last_sleep;	  /* stamp of its last announcement to sleep for anything but a lock */
	uint64_t woken;		  /* stamp of its last wakeup in the events, also if it was awake already */
	uint64_t last_action;	  /* stamp of its newest event that is not about locks or going to sleep */
	uint32_t last_action_cpu; /* CPU of that event */
	uint64_t contends;	  /* lock that it waits for by its events (lock.contend), 0: none */
	uint64_t contends_since;
	struct why_tries tries;
	uint64_t
		/* stamp of the newest event that it recorded itself, except switches; 0: none */
		last_own_event;
};

/* A lock that events show to be taken and not released. */
struct why_hold {
	uint64_t lock;
	uint64_t stamp;
	uint64_t pc; /* 0 unknown */
	uint32_t thread, cpu;
};

#define WHY_OUTER 4u

/* Lock `then` was taken while `first` was held. Describes the newest time that this happened. */
struct why_order {
	uint64_t first, then;
	uint64_t stamp;		    /* in the trace `trace` */
	uint64_t first_pc, then_pc; /* where each was taken, 0 unknown */
	uint64_t outer[WHY_OUTER];  /* other locks that were held each time, 0: none */
	uint64_t count;
	uint32_t thread, cpu;
	bool several;	/* more than one thread took them in this order */
	uint32_t trace; /* 0: this trace, else the number of an earlier trace, from 1 */
};

/* A thread that woke sleepers of a queue, or tried to. */
struct why_waker {
	uint32_t thread;
	uint64_t wakes; /* 0: no thread was asleep when it tried */
	uint64_t last;
};

/*
 * The times between wakeups of a queue's sleepers. Times across lost slots are left out. Wakeups that come
 * together count as one.
 */
#define WHY_INTERVALS 24u
struct why_rhythm {
	uint64_t interval[WHY_INTERVALS]; /* ticks; interval n is at n modulo WHY_INTERVALS */
	uint64_t intervals;
	uint64_t longest;
	uint64_t first, last; /* stamps of wakeups, 0: none */
};

/* The interrupts that woke a queue's sleepers. */
struct why_irq_waker {
	uint64_t wakes, last; /* stamp */
	bool known;	      /* `number` and `cpu` are valid */
	uint32_t number, cpu; /* of the last interrupt */
};

/*
 * An object that threads sleep on, from the events. A thread that does not record what it sleeps on has a
 * queue of its own with address 0.
 */
#define WHY_WAKERS 6u
struct why_queue {
	uint64_t address;
	uint64_t first; /* its oldest event */
	uint64_t wakes; /* wakeups of its sleepers */
	uint64_t last_wake;
	struct why_waker waker[WHY_WAKERS]; /* threads that woke its sleepers */
	uint32_t wakers;
	bool by_interrupt;	  /* interrupts woke its sleepers */
	struct why_irq_waker irq; /* the interrupts that did */
	bool by_others;		/* threads that are not in `waker` for lack of room woke its sleepers, too */
	uint64_t nobody;	/* wakeups that found no thread asleep (sched.wake_nobody) */
	uint64_t nobody_stamp;	/* newest such wakeup: its stamp */
	uint64_t nobody_ip;	/* newest such wakeup: its place, 0 unknown */
	uint32_t nobody_thread; /* newest such wakeup: its thread */
	uint32_t nobody_cpu;	/* newest such wakeup: its CPU */
	struct why_rhythm rhythm;
	uint64_t waits;	  /* waits that ended; each lasts from the announcement to the wakeup */
	uint64_t longest; /* ticks of the longest of `waits` */
	uint64_t gaps;	  /* number of gaps in the trace before the newest wakeup */
};

/* Waits for devices (KTRX_WAIT_DEVICE) that have ended. */
struct why_waits {
	struct histogram ticks;
	uint64_t half;	      /* the median, in ticks */
	uint64_t late;	      /* ticks from which a wait counts as late; 0: not known */
	uint64_t lates;	      /* number of late waits */
	uint64_t worst_begin; /* the longest wait: when it began */
	uint64_t worst_object;
	uint64_t worst_overtaken; /* other waits that ended during the longest wait */
	uint32_t worst_thread;
	/* timed sleeps that overlap the longest wait and ended late by a good part of its length */
	uint32_t worst_late;
	uint32_t worst_punctual; /* timed sleeps that overlap the longest wait and ended as usual */
	/* ticks of the longest wait in which `worst_cpu` should have recorded something and did not */
	uint64_t worst_unseen;
	uint32_t worst_cpu;
};

/* A lock, queue or other object that was named by a hook or an event. */
struct why_object {
	uint64_t address;
	char name[64];	/* from the kernel, "" unknown */
	bool elsewhere; /* only an earlier trace has it: `address` identifies it, but is no address */
};

/* The kernel's panic. */
struct why_panic {
	uint64_t stamp; /* 0: there is no such event */
	uint32_t cpu, thread;
	char message[256];  /* from the guest, not escaped */
	uint64_t caller[2]; /* innermost first, 0 unknown */
};

struct why_evidence {
	struct ktread *trace;
	/*
	 * ticks: the order of events of different CPUs is uncertain if they are closer than this; 0 unknown
	 */
	uint64_t doubt;
	const struct ktread_info *info;
	struct symbols *symbols; /* NULL: no file of the kernel is known */
	uint64_t end;		 /* "now": the newest stamp of events and tables, plus the silence after it */
	uint64_t alive;		 /* the newest stamp of events and tables, without that silence */
	uint64_t first;		 /* stamp of the oldest event */
	uint64_t newest_event;	 /* stamp of the newest event */
	uint64_t window;	 /* ticks that count as "recent": the last second at most */
	char ended[256];	 /* how the run ended, from `ktrace run`; "" unknown */
	bool stalled;		 /* captured because heartbeats were missing or the time was up */
	bool silence_is_longer;	 /* the machine may have been silent for longer than the host watched it */
	bool made_progress;	 /* the host saw the machine make progress until it was captured */
	bool halted;		 /* the machine was halted for the capture, so the tables show one moment */
	bool reset;		 /* the machine reset itself */
	struct why_panic panic;
	uint32_t missing_hooks;	       /* KTRX_HOOK_* that the kernel did not call */
	bool state_off;		       /* hooks kept no state: debug.ktr.state is 0 */
	bool blocks_recorded;	       /* a table row shows a waiting thread */
	bool exits_recorded;	       /* the kernel calls ktrace_thread_end() */
	bool idle_recorded;	       /* a CPU has set the idle mode */
	bool fault_exits;	       /* there is an event for the end of a fault */
	bool switched;		       /* a CPU has switched threads */
	bool timeouts_recorded;	       /* a sleep had a timeout recorded, so sleeps without one have none */
	struct scheduling *scheduling; /* which events were recorded when, and what states of switches mean */
	/* wakeups in the events, and those of threads that were runnable by the states of their switches */
	uint64_t wakes, odd_wakes;
	bool high;	     /* the kernel runs in the upper half of the address space */
	bool users;	     /* a CPU has been in user mode */
	uint64_t gap;	     /* stamp of the first event after the newest gap of any CPU; 0: none */
	uint32_t cut;	     /* rings whose ends are missing in the file: their gap is at the end */
	uint64_t most_beats; /* largest number of heartbeats of a CPU */
	uint64_t
		/* largest time without a heartbeat until the end, of CPUs that should have them */
		longest_silence;
	uint64_t events, known; /* number of events, and of those with a well-known name */
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
	uint64_t left_out;  /* number of events, rows and orders beyond the limits */
	struct keyed index; /* finds threads, objects and queues; use the functions below */
};

/*
 * Reads the trace to its end. `symbols` may be NULL and must outlive the evidence. Returns 0 or a negative
 * KTREAD_E_*. After an error *evidence contains what was read before. Call why_evidence_free() in each case.
 */
int why_evidence_read(struct why_evidence **evidence, struct ktread *trace, struct symbols *symbols);
void why_evidence_free(struct why_evidence *evidence);
/*
 * Adds the orders in which locks were taken in an earlier trace. `number`: counts earlier traces from 1. A
 * lock is the same in both traces if it has the same name, or no name and the same address in the same
 * build. Returns 0 or a negative KTREAD_E_*.
 */
int why_evidence_add_earlier(struct why_evidence *evidence, struct ktread *earlier, uint32_t number);

/*
 * Returns the ticks from a stamp to the end. 0 if the stamp is later, as when the machine ran while it was
 * read.
 */
static inline uint64_t why_age(const struct why_evidence *evidence, uint64_t stamp)
{
	return stamp < evidence->end ? evidence->end - stamp : 0;
}

/* Finds a thread. Returns NULL if the evidence has none of this id. */
const struct why_thread *why_thread_find(const struct why_evidence *evidence, uint32_t id);
/* Returns the name of an object, "" if unknown. */
const char *why_object_name(const struct why_evidence *evidence, uint64_t address);
/* Returns whether only an earlier trace has the object. */
bool why_object_is_elsewhere(const struct why_evidence *evidence, uint64_t address);
/* Finds the queue at an address. Returns NULL if no thread was seen to sleep there. */
const struct why_queue *why_queue_find(const struct why_evidence *evidence, uint64_t address);
/* Finds the own queue of a thread that did not record what it sleeps on. Returns NULL if there is none. */
const struct why_queue *why_queue_of_thread(const struct why_evidence *evidence, uint32_t thread);

#endif
