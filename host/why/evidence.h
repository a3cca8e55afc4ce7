/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The state of a machine at the end of a trace. It is gathered once from four sources: the state tables that
 * the kernel's hooks keep, events, registers and stacks that a host captured, and the host's note about the
 * end of the run. Detectors read this struct and not the trace. All times are timestamps of the trace after
 * the correction of clocks. If the kernel does not record a fact, the fact is marked as unknown.
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

#define WHY_LAST   8u /* number of newest events that are stored for each CPU and each thread */
#define WHY_FRAMES 32u
#define WHY_TEXT   160u

/*
 * Maximum numbers of CPUs, threads and objects; the maximum number of lock orders is KEYED_MAX. CPUs and
 * threads beyond the limits are left out, together with their events and table rows. `left_out` counts these
 * events and rows, and the lock orders beyond their limit. Objects beyond the limit have no name, and nothing
 * is concluded about threads that sleep on them.
 */
#define WHY_CPUS    4096u
#define WHY_THREADS 16384u
#define WHY_OBJECTS 16384u

#define WHY_ALL_HOOKS                                                                        \
	(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD | KTRX_HOOK_IRQ | KTRX_HOOK_EOI | KTRX_HOOK_IPI | \
	 KTRX_HOOK_PREEMPT | KTRX_HOOK_SPACE)

/* An event, formatted as text. */
struct why_event {
	uint64_t stamp;
	uint64_t slot; /* id of the event: `ring` and `slot` */
	uint32_t ring;
	uint32_t cpu, thread;
	uint16_t id;
	uint8_t context;     /* context of the event, KTRX_CONTEXT_* */
	char text[WHY_TEXT]; /* text such as "sched.block for 0x1234 by 5" */
};

/* The newest events of one CPU or thread, oldest first. */
struct why_last {
	struct why_event event[WHY_LAST];
	uint32_t count;
	uint64_t total; /* number of events so far, including events that are no longer in `event` */
};

/* Counts of events of one kind, in the whole trace and in its last part. */
struct why_rate {
	uint64_t count;	 /* number of events since the last gap on that CPU */
	uint64_t recent; /* number of the events in `count` that are in the window (why_evidence.window) */
	uint64_t last;	 /* timestamp of the newest event */
};

/* Counts of interrupts with one number on one CPU. */
struct why_irq_kind {
	uint32_t number;
	uint64_t entered;
	uint64_t ended; /* number of the interrupts counted in `entered` that had an EOI */
	/* number of these interrupts that came right after the handler of the previous one had returned */
	uint64_t close;
	/* number and total length in ticks of pauses of more than 1 ms between an interrupt and the next */
	uint64_t pauses, paused;
	/*
	 * number of the interrupts counted in `entered` that came while the CPU idled, if no thread was woken
	 * on the CPU between the interrupt and the next one
	 */
	uint64_t woke_nobody;
	/* as `woke_nobody`, but it is unknown whether a thread was woken: wakeups were not recorded */
	uint64_t woke_unknown;
	/* timestamps of the first and last interrupt, and of the first one after the newest pause */
	uint64_t first, last, after;
	uint64_t handled; /* number of ticks in handlers that interrupted no other handler */
};

/* A period in which a CPU took no interrupt and ran only one thread, which is no idle thread. */
struct why_quiet {
	/* timestamps of the beginning and end of the period; both 0: there is no such period */
	uint64_t from, to;
	uint64_t unseen; /* number of ticks of the period for which events do not show that the CPU ran */
	uint64_t events; /* number of events that the thread recorded in the period */
	uint64_t others; /* number of interrupts that other CPUs took in the period */
	uint32_t thread;
	/* address at which the first interrupt after the period occurred; 0: unknown */
	uint64_t pc;
};

/* A place where a CPU was interrupted, with the thread and context that ran there. */
struct why_sample {
	uint64_t stamp, pc;
	uint32_t thread;
	uint8_t context; /* context that was interrupted, KTRX_CONTEXT_* */
};

/*
 * The interrupts of a CPU, without NMIs, from its events after the last gap. The EOI of an interrupt
 * (irq.eoi) may be recorded before irq.enter of that interrupt, but not before irq.enter of the previous
 * interrupt.
 */
#define WHY_IRQ_KINDS 16u
#define WHY_SAMPLES   16u
#define WHY_TICK_MS   25u /* time in ms: longest interval between ticks of a usual kernel timer */
struct why_interrupts {
	uint64_t events;  /* number of events of the CPU, of all kinds */
	uint64_t outside; /* number of events that are not about interrupts and came in no handler */
	uint64_t entered, ended;
	uint32_t number; /* number of the newest interrupt, if there was one */
	char name[24];
	uint64_t stamp;
	bool over; /* true if the newest interrupt has an EOI */
	bool left; /* true if the handler of the newest interrupt has returned */
	/* the newest interrupt came while the CPU idled, and no thread was woken on the CPU after it */
	bool idled;
	uint64_t pc; /* address of the instruction that the newest interrupt interrupted; 0: unknown */
	/*
	 * number of interrupts in the newest sequence: interrupts in a row that have the same number, without
	 * another event of that CPU between them
	 */
	uint64_t run;
	uint64_t run_first; /* timestamp of the first interrupt of the sequence that `run` counts */
	/*
	 * `near`: number of intervals between two interrupts that are at most WHY_TICK_MS long; `far`: number
	 * of longer intervals
	 */
	uint64_t near, far;
	/* number of the interrupts counted in `entered` that came while the CPU did not idle */
	uint64_t working;
	/* true if all interrupts of the sequence that `run` counts interrupted the CPU at the same place */
	bool run_at_one_place;
	/* counts for the first WHY_IRQ_KINDS interrupt numbers, in the order in which they first occurred */
	struct why_irq_kind kind[WHY_IRQ_KINDS];
	uint32_t kinds;
	/* the period without interrupts for which events show the longest running time of the CPU */
	struct why_quiet quiet;
	/*
	 * number of periods that ended at the same place as `quiet` and in which events show at least half of
	 * its running time
	 */
	uint64_t quiets;
	/* newest samples; sample number n is at index n modulo WHY_SAMPLES */
	struct why_sample sample[WHY_SAMPLES];
	uint64_t samples;
};

struct why_cpu {
	uint32_t number;
	bool has_row;	 /* true if `row` is valid: the kernel's tables contain it */
	bool has_holder; /* true if `holder` is valid: the kernel's tables contain it */
	struct ktrx_cpu row;
	struct ktrx_holder holder;
	bool has_registers;
	uint64_t pc, sp;
	bool without_stack;	  /* the captured stack pointer is 0: no code that needs a stack has run */
	enum privilege side;	  /* privilege level of the CPU, from the captured registers */
	enum interrupt_mask mask; /* whether interrupts were disabled, from the captured registers */
	/* on x86 under QEMU: the captured registers show that the CPU has not halted, or that it has */
	bool awake, halted;
	bool irq_pending; /* on RISC-V: an interrupt was enabled and pending, from the captured registers */
	/* address of the instruction of the last exception, from the captured registers; 0: unknown */
	uint64_t trap_pc;
	bool fetch_failed; /* no instruction can be fetched from trap_pc, which may then also be 0 */
	/* trap_pc is the address of the exception handler, and no instruction can be fetched from it */
	bool vector_fails;
	uint64_t vector; /* address of the exception handler, from the captured registers; 0: unknown */
	uint64_t frame[WHY_FRAMES]; /* return addresses on the captured stack, innermost first */
	uint32_t frames;
	/* lost or unreadable slots of the CPU's ring that are not overwritten: all; after the newest event */
	uint64_t lost, unread;
	uint64_t gap;	 /* timestamp of the first event after the last lost slot; 0: no slot is lost */
	bool shared_end; /* records at the end of a shared ring are missing and may be of this CPU */
	/* timestamp of the first event in the CPU's own ring, if the boot ring lacks its end; otherwise 0 */
	uint64_t after_boot;
	uint64_t first_stamp; /* timestamp of the oldest event of the CPU */
	bool named; /* true if an event or table row of another CPU or thread names it as a lock's holder */
	bool cut;   /* the events before `first_stamp` have been overwritten in the CPU's ring */
	uint64_t last_stamp; /* timestamp of the newest event of the CPU; 0: there is none */
	/* longest time between two of its events in a row after its newest heartbeat, in ticks */
	uint64_t pause;
	/* number of ticks of the time window in which the CPU ran threads other than idle threads */
	uint64_t worked;
	uint32_t running; /* id of the running thread, from tables or events; UINT32_MAX: unknown */
	struct why_last last;
	struct why_rate irqs; /* counts of irq.enter events */
	struct why_interrupts interrupts;
	struct why_rate switches;
};

struct why_tries_count {
	uint64_t count;
	uint64_t first, last; /* timestamps of the first and last attempt */
};

/* The attempts of a thread to take a lock, since the thread last held it (see tries.h). */
#define WHY_TRIED 3u /* maximum number of locks for which the attempts of a thread are counted */
struct why_tries {
	uint64_t lock;
	struct why_tries_count all;
	/*
	 * the newest attempts in a row; no event shows that the lock was taken or released between two of
	 * these attempts
	 */
	struct why_tries_count same;
	uint64_t taken; /* timestamp at which the holder at the last attempt took the lock; 0: unknown */
	uint32_t owner; /* thread that held the lock at the last attempt; UINT32_MAX: unknown */
	bool fails;  /* true: failures (lock.fail) are counted; false: beginnings of waits (lock.contend) */
	uint64_t pc; /* place in the code of the last attempt; 0: unknown */
};

/* Nested faults of a thread, in interrupt handlers too: each came before the previous one was handled. */
struct why_fault_nest {
	uint64_t count; /* number of faults whose handlers have not returned */
	/*
	 * accessed address of the newest fault, and address of its instruction; `ip` is 0 if that is unknown
	 */
	uint64_t address, ip;
};

/* A wait for a lock that the thread itself recorded; see evidence_outer.c. */
struct why_outer_wait {
	uint64_t lock;	/* lock that the thread waits for; 0: there is no such wait */
	uint64_t since; /* timestamp at which the wait began */
	uint32_t owner; /* holder of the lock, an id as in struct ktrx_holder; 0: unknown */
};

struct why_outer {
	struct why_outer_wait wait[2]; /* wait[0]: newest wait; wait[1]: wait that wait[0] interrupted */
	/*
	 * lock that the thread took after `wait[0]` began and still held when it announced its sleep; 0: none
	 */
	uint64_t queue_lock;
	bool released; /* true if the thread released `queue_lock` after it announced its sleep */
};

struct why_thread {
	uint32_t id;
	char name[28]; /* name of the thread, from the kernel; "": unknown */
	bool idle;     /* true if the thread is an idle thread */
	bool has_holder;
	struct ktrx_holder holder;
	uint64_t first;	  /* timestamp of the oldest event about the thread; UINT64_MAX: there is none */
	uint64_t created; /* timestamp of sched.create; 0: not in the trace */
	/* state according to events, or THREADS_DEAD according to `holder`; THREADS_UNKNOWN: not known */
	enum threads_state state;
	uint64_t since;	 /* timestamp of the change to `state` */
	uint64_t object; /* object that the thread waits for, according to events */
	uint32_t cpu;	 /* CPU on which the thread last ran; KTRX_NO_CPU: unknown */
	struct why_last last;
	struct why_rate syscalls; /* counts of syscall.enter events */
	uint64_t syscall;	  /* number of the newest system call */
	uint64_t syscall_result;  /* result of the newest system call that returned */
	bool in_syscall;
	/* number of newest system calls in a row that have the same arguments and the same result */
	uint64_t repeats;
	uint64_t repeat_first; /* timestamp of the first system call that `repeats` counts */
	bool repeats_cut; /* earlier system calls of this kind may be lost, so `repeats` may be too small */
	struct why_rate faults; /* counts of mm.fault_enter events */
	uint64_t fault_address; /* address of the newest fault */
	uint64_t fault_ip;	/* address of the instruction that caused the newest fault; 0: unknown */
	uint64_t fault_stamp; /* timestamp of the fault that fault_address and fault_ip are about; 0: none */
	bool fault_has_ip;    /* true if the fault event contains the instruction's address, which may be 0 */
	bool in_fault;	      /* true if the handler of the newest fault has not returned */
	char fault_how[24];   /* how the newest fault ended; "": unknown */
	/*
	 * number of newest faults in a row with the same address and the same instruction, without progress
	 * between these faults
	 */
	uint64_t fault_repeats;
	uint64_t fault_first;	/* timestamp of the first fault that `fault_repeats` counts */
	uint64_t fault_signals; /* number of signals that were delivered since the fault at `fault_first` */
	bool fault_signalled;	/* true if a signal was delivered after the newest fault */
	struct why_fault_nest fault_nest;
	uint64_t ran; /* number of ticks of the time window in which the thread ran, as events show */
	/* number of ticks for which the thread has been runnable but has not run; 0: it is not runnable */
	uint64_t runnable;
	/* number of interrupts that the thread's CPU has taken since the thread became runnable */
	uint64_t interrupts;
	/* timestamp of the thread's newest event that announces a sleep; 0: it was woken since then */
	uint64_t blocked;
	uint64_t blocked_on; /* object on which the thread sleeps, as the event at `blocked` states */
	/* kind of wait (KTRX_WAIT_*), as the event at `blocked` states; KTRX_WAIT_NONE: not recorded */
	uint8_t blocked_for;
	/* number of waits for devices, of all threads, that had ended before `blocked` */
	uint64_t blocked_after;
	/* usual length of the thread's timed sleeps in ticks, near the median; 0: there was none */
	uint64_t usual_sleep;
	/* timestamp of the thread's last event that announces a sleep, except a sleep for a lock */
	uint64_t last_sleep;
	/* timestamp of the thread's last wakeup in the events; the thread may have been awake already */
	uint64_t woken;
	uint64_t slept_until; /* timestamp of the last wakeup that ended a sleep of the thread; 0: none */
	/* timestamp of the thread's newest event that is not about a lock, a context switch or a sleep */
	uint64_t last_action;
	uint32_t last_action_cpu; /* CPU of the event at `last_action` */
	/* lock that the thread waits for, according to events (lock.contend); 0: none */
	uint64_t contends, contends_since;
	struct why_outer outer;
	/* true if the wait that `holder` shows is for a lock, according to events; the table shows a sleep */
	bool waits_for_outer;
	struct why_tries tries[WHY_TRIED];
	/*
	 * timestamp of the newest event that the thread itself recorded, except context switches; 0: none.
	 * The others do not count the scheduler's or all locks at ends of interrupts: evidence_tails.c
	 */
	uint64_t last_own_event, last_work, last_call;
};

/* A lock that, according to events, was taken and has not been released. */
struct why_hold {
	uint64_t lock;
	uint64_t stamp; /* timestamp at which the lock was taken */
	uint64_t pc;	/* place where the lock was taken; 0: unknown */
	uint64_t ended; /* timestamp at which the thread that took the lock ended; 0: it has not ended */
	uint32_t thread, cpu;
};

#define WHY_OUTER 4u

/*
 * A lock order: lock `then` was taken while lock `first` was held. The other fields describe the last time
 * that this happened.
 */
struct why_order {
	uint64_t first, then;
	/*
	 * timestamp of the last time that lock `then` was taken in this order, in the trace with the number
	 * `trace`
	 */
	uint64_t stamp;
	uint64_t first_pc, then_pc; /* places where the locks were taken; 0: unknown */
	/* other locks that were held each time this order was recorded; 0: none */
	uint64_t outer[WHY_OUTER];
	uint64_t count;
	/* how often a thread released `first` while it held `then`, and took it again to release `then` */
	uint64_t protects;
	uint32_t thread, cpu;
	bool several; /* true if more than one thread has taken the locks in this order */
	/* number of the trace in which `stamp` occurred: 0 is this trace, earlier traces count from 1 */
	uint32_t trace;
};

/* A thread that woke sleepers of a queue, or tried to wake one when no thread slept. */
struct why_waker {
	uint32_t thread;
	/* number of wakeups by this thread; 0: whenever it tried to wake a thread, no thread slept */
	uint64_t wakes, last;
};

/*
 * The intervals between wakeups of a queue's sleepers. Intervals that contain lost slots are left out.
 * Wakeups that follow each other within a very short time count as one wakeup.
 */
#define WHY_INTERVALS 24u
struct why_rhythm {
	/* newest intervals in ticks; interval number n is at index n modulo WHY_INTERVALS */
	uint64_t interval[WHY_INTERVALS];
	uint64_t intervals, longest;
	uint64_t first, last; /* timestamps of the first and last wakeup; 0: none */
};

/* The wakeups of a queue's sleepers by interrupts. */
struct why_irq_waker {
	uint64_t wakes, last; /* `wakes`: number of wakeups; `last`: timestamp of the last wakeup */
	bool known;	      /* true if `number` and `cpu` are known */
	uint32_t number, cpu; /* number and CPU of the interrupt that did the last wakeup */
};

/*
 * A queue is an object on which threads sleep, according to events. A thread that does not record the object
 * on which it sleeps has a queue of its own, with address 0.
 */
#define WHY_WAKERS 6u
struct why_queue {
	uint64_t address;
	uint64_t first;		   /* timestamp of the oldest event about the queue */
	uint64_t wakes, last_wake; /* number of wakeups of threads that slept on the queue; the newest */
	struct why_waker waker[WHY_WAKERS]; /* threads that woke sleepers of the queue */
	uint32_t wakers;
	/* threads that announced a sleep on the queue; some may be missing (see `more_sleepers`) */
	struct {
		uint32_t thread;
		uint64_t sleeps;
	} sleeper[WHY_WAKERS];
	uint32_t sleepers;
	bool by_interrupt;	  /* true if interrupts have woken sleepers of the queue */
	struct why_irq_waker irq; /* wakeups by interrupts */
	/*
	 * true if some that woke sleepers of the queue are not in `waker`: there are more than WHY_WAKERS, or
	 * it is unknown whether a thread or an interrupt woke them
	 */
	bool by_others;
	bool more_sleepers; /* true if some threads are not in `sleeper` */
	bool spares;	    /* true if a wakeup found no thread during a wait that ended later */
	uint64_t nobody;    /* number of wakeups that found no thread asleep (sched.wake_nobody) */
	uint64_t nobody_stamp, nobody_ip;   /* timestamp and place (0: unknown) of the newest of them */
	uint32_t nobody_thread, nobody_cpu; /* thread and CPU of the newest of them */
	struct why_rhythm rhythm;
	uint64_t waits;	  /* number of ended waits; a wait lasts from its announcement to the wakeup */
	uint64_t longest; /* length of the longest ended wait, in ticks */
	/* ended waits for a device: number, number of 100 ms or more, total ticks of the shorter ones */
	uint64_t answers, slows, soon;
	/* lengths of the three longest waits of 100 ms or more that do not overlap; end of the last one */
	uint64_t slow[3], slow_end;
	uint64_t gaps; /* number of gaps in the trace up to the newest wakeup */
};

/*
 * Waits for devices (KTRX_WAIT_DEVICE) that have ended. The fields worst_* describe the longest of these
 * waits.
 */
struct why_waits {
	struct histogram ticks;
	uint64_t half;	      /* median length of a wait, in ticks */
	uint64_t worst_begin; /* timestamp of the beginning of the longest wait */
	uint64_t worst_object;
	uint64_t worst_overtaken; /* number of other waits for devices that ended during the longest wait */
	uint32_t worst_thread;
	/*
	 * number of timed sleeps during the longest wait that ended late, with a delay that is a large part
	 * of the length of the longest wait
	 */
	uint32_t worst_late;
	/* number of timed sleeps during the longest wait that ended on time */
	uint32_t worst_punctual;
	/*
	 * number of ticks of the longest wait in which CPU `worst_cpu` recorded nothing although it should
	 * have
	 */
	uint64_t worst_unseen;
	uint32_t worst_cpu;
};

/* A lock, queue or other object that a hook or an event named. */
struct why_object {
	uint64_t address;
	char name[64]; /* name from the kernel; "": unknown */
	/* only an earlier trace contains the object; `address` is then a unique number, not an address */
	bool elsewhere;
	bool taken; /* true if an event shows that the object, a lock, was taken */
	/* waits for the object, a lock, show that a CPU (by_cpu) or a thread (by_thread) holds the lock */
	bool by_cpu, by_thread;
};

/* The panic that the kernel reported. */
struct why_panic {
	uint64_t stamp; /* timestamp of the panic; 0: the trace has no event for a panic */
	uint32_t cpu, thread;
	char message[256]; /* message of the panic: text from the guest, not escaped */
	/* return addresses of the code that called the panic function, innermost first; 0: unknown */
	uint64_t caller[2];
};

struct why_evidence {
	struct ktread *trace;
	/*
	 * number of ticks: if two events of different CPUs are less than this apart, their order is unknown;
	 * 0: this number is unknown
	 */
	uint64_t doubt;
	const struct ktread_info *info;
	struct symbols *symbols; /* functions of the kernel; NULL: the kernel's file is not known */
	/*
	 * timestamp of the end: `alive` plus the ticks of silence after it; every age is the time before this
	 * timestamp
	 */
	uint64_t end;
	uint64_t alive;	       /* newest timestamp in the events and the kernel's tables */
	uint64_t first;	       /* timestamp of the oldest event in the trace */
	uint64_t newest_event; /* timestamp of the newest event */
	/*
	 * timestamp of the newest event, if recording was stopped after it, and only tables show what
	 * happened later; otherwise 0
	 */
	uint64_t stopped;
	/* length in ticks of the time window: the last part of the trace, at most one second */
	uint64_t window;
	char ended[256]; /* how the run ended, from `ktrace run`; "": unknown */
	/* the host captured the machine because heartbeats were missing or its time limit was reached */
	bool stalled;
	/* the machine recorded nothing while the host watched it, so it may have been silent for longer */
	bool silence_is_longer;
	bool made_progress; /* true if the host saw the machine make progress until it was captured */
	bool halted;	    /* the machine was halted for the capture, so all tables show the same moment */
	bool reset;	    /* true if the machine reset itself */
	struct why_panic panic;
	uint32_t missing_hooks; /* hooks (KTRX_HOOK_*) that the kernel did not call */
	/*
	 * number of hooks for threads and locks that stored nothing, because the table of holders was full;
	 * if it is not 0, the table lacks threads
	 */
	uint64_t refused;
	bool state_off; /* true if debug.ktr.state is 0, so the hooks recorded no state */
	/* the kernel has hooks for threads or locks, but no table of holders; the table has free rows */
	bool no_holders, free_rows;
	bool blocks_recorded; /* true if the kernel's table shows at least one thread that waits */
	bool exits_recorded;  /* true if the kernel calls ktrace_thread_end() */
	bool idle_recorded;   /* true if some CPU has set the idle mode */
	bool fault_exits;     /* true if the end of a fault was recorded at least once */
	bool switched;	      /* true if some CPU has switched threads */
	/* true if some sleep has a recorded timeout, so sleeps without a recorded timeout have none */
	bool timeouts_recorded;
	/* knows at which times each event was enabled, and what the states in sched.switch mean */
	struct scheduling *scheduling;
	/*
	 * `wakes`: number of wakeups in the events. `odd_wakes`: number of those wakeups whose thread was
	 * already runnable, if the states in sched.switch are right.
	 */
	uint64_t wakes, odd_wakes;
	bool high;    /* true if the kernel runs in the upper half of the address space */
	bool users;   /* true if some CPU has been in user mode */
	uint64_t gap; /* timestamp of the first event after the newest gap on any CPU; 0: there is no gap */
	bool end_unread; /* the newest part of a ring cannot be read, which counts as a gap at the end */
	/* number of rings whose newest part is missing in the file, which counts as a gap at the end */
	uint32_t cut;
	uint64_t most_beats; /* largest number of heartbeats of any CPU */
	/* longest time in ticks since the last heartbeat, of all CPUs that should have heartbeats */
	uint64_t longest_silence;
	/* `events`: number of all events; `known`: number of events with a well-known name */
	uint64_t events, known;
	struct why_cpu *cpu;
	uint32_t cpus;
	struct why_thread *thread;
	struct why_object *object;
	uint32_t threads, objects;
	struct why_queue *queue;
	uint32_t queues;
	struct why_waits device;
	struct why_hold *hold;
	uint32_t holds;
	struct why_order *order;
	uint32_t orders;
	/*
	 * for each lock: number `count` of times it was held and released, the longest for `stamp` ticks, the
	 * last from timestamp `time` on, on CPU `cpu`; `known`: it may have been held once more since
	 */
	struct keyed lasted;
	uint32_t outside;   /* a CPU that switches threads, but is none of `cpus`; 0: none */
	uint64_t left_out;  /* number of events, table rows and lock orders beyond the limits */
	struct keyed index; /* index of threads, objects and queues; the functions below use it */
};

/*
 * Reads the trace to its end. `symbols` may be NULL; otherwise it must outlive the evidence. Returns 0 or a
 * negative KTREAD_E_*. After an error, *evidence contains the data that was read before the error. Call
 * why_evidence_free() even after an error.
 */
int why_evidence_read(struct why_evidence **evidence, struct ktread *trace, struct symbols *symbols);
void why_evidence_free(struct why_evidence *evidence);
/*
 * Adds the lock orders of an earlier trace. `number` is the number of that trace (earlier traces count from
 * 1). A lock of the earlier trace and a lock of this trace are the same lock if they have the same name. If
 * they have no names, they are the same lock if they have the same address and both traces are from the same
 * build. Returns 0 or a negative KTREAD_E_*.
 */
int why_evidence_add_earlier(struct why_evidence *evidence, struct ktread *earlier, uint32_t number);

/*
 * Returns the ticks from the timestamp to the end. Returns 0 if the timestamp is after the end, which is
 * possible if the machine ran while its memory was read.
 */
static inline uint64_t why_age(const struct why_evidence *evidence, uint64_t stamp)
{
	return stamp < evidence->end ? evidence->end - stamp : 0;
}

/* Returns whether the kernel's tables show every lock that is held and every wait for a lock. */
static inline bool why_tables_show_locks(const struct why_evidence *evidence)
{
	return !(evidence->missing_hooks & KTRX_HOOK_LOCK) && evidence->refused == 0;
}

/*
 * Returns the number of times that the lock was held and released, as events show; sets *longest to the
 * longest of these times in ticks.
 */
uint64_t why_lock_lasted(const struct why_evidence *evidence, uint64_t lock, uint64_t *longest);
/* Returns the thread with this id; NULL if the evidence does not contain it. */
const struct why_thread *why_thread_find(const struct why_evidence *evidence, uint32_t id);
/* Returns the object; NULL if it has no name. The pointer is valid until another object is added. */
struct why_object *why_object_find(const struct why_evidence *evidence, uint64_t address);
/* Returns the name of an object, "" if unknown. */
const char *why_object_name(const struct why_evidence *evidence, uint64_t address);
/* Returns whether the object occurs only in an earlier trace. */
bool why_object_is_elsewhere(const struct why_evidence *evidence, uint64_t address);
/* Returns the queue with that address; NULL if no event shows a thread that sleeps on it. */
const struct why_queue *why_queue_find(const struct why_evidence *evidence, uint64_t address);
/* Returns the queue of a thread that does not record the object on which it sleeps; NULL if there is none. */
const struct why_queue *why_queue_of_thread(const struct why_evidence *evidence, uint32_t thread);

#endif
