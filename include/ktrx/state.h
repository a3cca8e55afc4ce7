/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2, the tables of state: what each CPU does, what CPUs and threads hold and wait for, names of
 * threads, measurements of clocks, and repetitions that are being counted. The kernel writes these tables
 * while it runs, and a host may read them at any time. The sections in ktrx/v2.h, which includes this header,
 * lead to the tables. Normative text: spec/ktrx.md.
 */
#ifndef KTRX_STATE_H
#define KTRX_STATE_H

#include "ktrx/base.h"

struct ktrx_thread {
	uint32_t id;   /* number of the thread, plus 1; 0: the entry is empty */
	char name[28]; /* name of the thread, NUL-terminated */
};

/*
 * What a CPU is doing. Each CPU writes only its own entry, in the hooks of ktrace/hooks.h. A member whose
 * hook the kernel does not call stays 0. Timestamps are of the CPU's counter; 0: never.
 */
#define KTRX_SAMPLES 8u
struct ktrx_cpu {
	uint64_t heartbeats;	  /* number of calls of ktrace_heartbeat() */
	uint64_t heartbeat_stamp; /* counter value at the last heartbeat */
	uint64_t pc;		  /* address of the code that the last heartbeat interrupted */
	uint32_t thread;	  /* number of the running thread */
	uint8_t mode;		  /* KTRX_MODE_* */
	uint8_t online;
	uint8_t interrupts; /* KTRX_INTERRUPTS_* */
	uint8_t hooks;	    /* KTRX_HOOK_*: the hooks that were called at least once */
	uint32_t preempt;   /* number of times that preemption was disabled and not enabled again */
	uint32_t nesting;   /* nesting depth of interrupts */
	/* newest timestamp read on this CPU. Hooks use it instead of reading the clock */
	uint64_t now;
	uint64_t mode_stamp;	   /* value of `now` when the CPU's mode last changed */
	uint64_t interrupts_stamp; /* value of `now` when interrupts were last turned off */
	uint64_t interrupts_pc;	   /* address of the code that last turned interrupts off */
	uint64_t space;		   /* id of the current address space */
	uint64_t switches;	   /* number of context switches */
	uint64_t switch_stamp;	   /* timestamp of the last context switch */
	uint64_t irqs;		   /* number of interrupts that the CPU entered */
	uint64_t irq_stamp;	   /* timestamp of the last interrupt */
	uint64_t eois;		   /* number of interrupts that the CPU ended at the controller */
	uint32_t irq;		   /* number (irq) of the interrupt that was entered last */
	uint32_t eoi;		   /* number (irq) of the interrupt that was ended last */
	/* timestamp at which the CPU began to wait for an answer from another CPU */
	uint64_t ipi_stamp;
	uint64_t ipi_pc; /* address of the code that waits for the answer */
	/*
	 * number of the CPU whose answer this CPU waits for, plus 1; KTRX_ALL_CPUS: all others; 0: no wait
	 */
	uint32_t ipi_cpu;
	/*
	 * number of the request for whose answer this CPU waits, or waited last if `ipi_cpu` is 0; the kernel
	 * defines these numbers
	 */
	uint32_t ipi_what;
	uint64_t ipi_answered; /* timestamp when this CPU last answered a request of another CPU */
	uint64_t user_enters;  /* number of times that the CPU entered the kernel from user mode */
	uint64_t user_exits;   /* number of times that the CPU returned to user mode */
	uint32_t broken;       /* KTRX_BROKEN_*: the first rule that was violated on this CPU */
	uint32_t broken_thread;
	uint64_t broken_stamp;
	uint64_t broken_pc;
	uint64_t broken_object; /* address of the lock, if the violated rule is about a lock */
	/*
	 * addresses interrupted by the last KTRX_SAMPLES heartbeats: heartbeat n is at index n modulo
	 * KTRX_SAMPLES
	 */
	uint64_t sample[KTRX_SAMPLES];
	/*
	 * number of hooks on this CPU that stored nothing about a thread, because the table of holders had
	 * neither an entry for the thread nor a free entry
	 */
	uint64_t refused;
	/*
	 * number of calls of ktrace_cpu_online() for this CPU that failed, because the port reported the
	 * number of another CPU
	 */
	uint32_t misnumbered;
	uint8_t reserved[36];
};
#define KTRX_MODE_UNKNOWN   0u
#define KTRX_MODE_IDLE	    1u
#define KTRX_MODE_KERNEL    2u
#define KTRX_MODE_USER	    3u
#define KTRX_MODE_INTERRUPT 4u

#define KTRX_INTERRUPTS_UNKNOWN 0u
#define KTRX_INTERRUPTS_ON	1u
#define KTRX_INTERRUPTS_OFF	2u

#define KTRX_ALL_CPUS 0xffffffffu

/*
 * Hooks that were called at least once. If the bit of a hook is not set, the state that this hook reports is
 * unknown.
 */
#define KTRX_HOOK_LOCK	  1u
#define KTRX_HOOK_THREAD  2u
#define KTRX_HOOK_IRQ	  4u
#define KTRX_HOOK_EOI	  8u
#define KTRX_HOOK_IPI	  16u
#define KTRX_HOOK_PREEMPT 32u
#define KTRX_HOOK_SPACE	  64u
#define KTRX_HOOK_EXIT	  128u /* the hook that a thread calls when it ends, before its last switch */

#define KTRX_BROKEN_NOTHING	     0u
#define KTRX_BROKEN_SWITCH_LOCKED    1u /* the CPU switched threads while it held a spinlock */
#define KTRX_BROKEN_SWITCH_PREEMPT   2u /* the CPU switched threads while preemption was disabled */
#define KTRX_BROKEN_SWITCH_INTERRUPT 3u /* the CPU switched threads inside an interrupt handler */
#define KTRX_BROKEN_RELEASE	     4u /* a lock was released although it was not held */
#define KTRX_BROKEN_ACQUIRE	     5u /* a lock was taken by a holder that already held it */

/*
 * A holder can hold locks and can wait. It is a thread, or a CPU during work in which it must not switch
 * threads. Entries outlast the records in the rings. A CPU's entry is written by that CPU. A thread's entry
 * is written by the thread, by the CPU that switches to it or from it, and by any CPU that creates, wakes
 * or ends the thread or sets its priority.
 */
#define KTRX_HELD 6u
struct ktrx_held {
	uint64_t object; /* address of the lock; 0: the entry is empty */
	/* value of the CPU's `now` when the lock was taken; the lock was taken at this timestamp or later */
	uint64_t stamp;
	uint64_t pc; /* address of the code that took the lock */
};
struct ktrx_holder {
	/* number of the thread, plus 1; or KTRX_HOLDER_CPU | number of the CPU; 0: the entry is empty */
	uint32_t id;
	uint8_t state;	    /* threads only: state of the thread, KTRX_THREAD_* */
	uint8_t wait;	    /* KTRX_WAIT_*: what the holder waits for */
	uint8_t held_count; /* number of locks held; locks beyond KTRX_HELD are only counted */
	uint8_t priority;   /* threads only: priority; a greater number is more urgent; 0: unknown */
	/*
	 * timestamp at which the thread entered `state`; for a runnable thread that was woken before it left
	 * its CPU: timestamp at which it left the CPU; for KTRX_THREAD_UNKNOWN: timestamp at which the thread
	 * ended, or 0
	 */
	uint64_t state_stamp;
	uint64_t object;     /* identity of what the holder waits for, while `wait` is not 0 */
	uint64_t wait_stamp; /* timestamp of the start of the wait */
	uint64_t wait_pc;    /* address of the code where the wait began */
	/*
	 * holder of `object` at the time when the wait began, in the form of `id`; 0: unknown
	 */
	uint32_t owner;
	uint16_t cpu;	   /* threads only: number of the CPU on which the thread runs or last ran */
	uint8_t whole;	   /* threads only: 1 if all locks that the thread holds are known */
	uint8_t cause;	   /* runnable threads only: why the thread is runnable, KTRX_CAUSE_* */
	uint64_t deadline; /* timestamp at which the wait ends by itself; 0: none */
	/*
	 * number of the thread that last made this thread runnable, plus 1; 0: an interrupt made it runnable,
	 * or it was never made runnable
	 */
	uint32_t waker;
	uint32_t wakes; /* number of times that the thread was made runnable */
	/* threads only: stack_low and stack_high are the bounds of the stack; 0: unknown */
	uint64_t stack_low;
	uint64_t stack_high;
	char object_name[32]; /* name of `object`, NUL-terminated; "": unknown */
	struct ktrx_held held[KTRX_HELD];
	/*
	 * Threads only: a series of waits for the same object, of kind KTRX_WAIT_EVENT or KTRX_WAIT_DEVICE,
	 * each ended by a wakeup before its deadline.
	 */
	uint64_t habit_object;	/* identity of the object that the thread waits for */
	uint64_t habit_first;	/* timestamp of the first wakeup */
	uint64_t habit_last;	/* timestamp of the last wakeup */
	uint64_t habit_longest; /* longest interval between two wakeups, in ticks */
	uint64_t habit_usual;	/* running mean of the intervals between two wakeups, in ticks */
	/* number of wakeups; 0: there is no series of waits, or the kernel is older than this member */
	uint32_t habit_wakes;
	/* number of intervals between two wakeups that were between half the mean and twice the mean */
	uint32_t habit_alike;
	/* number of the thread that made the last wakeup, plus 1; 0: an interrupt made the last wakeup */
	uint32_t habit_waker;
	uint32_t reserved[3]; /* 0 */
};
#define KTRX_HOLDER_CPU 0x80000000u

/*
 * KTRX_THREAD_UNKNOWN: no hook has reported a state of the thread, and `state_stamp` is 0; or the thread has
 * ended at `state_stamp`, as ktrace_switch() reported by state 4
 */
#define KTRX_THREAD_UNKNOWN  0u
#define KTRX_THREAD_RUNNING  1u
#define KTRX_THREAD_RUNNABLE 2u
#define KTRX_THREAD_WAITING  3u

/*
 * Why a thread is runnable. A thread that ended without a call of ktrace_thread_exit() has KTRX_CAUSE_SWITCH,
 * too, unless ktrace_switch() reported state 4 for it while sched.switch was on.
 */
#define KTRX_CAUSE_UNKNOWN 0u
#define KTRX_CAUSE_WAKE	   1u /* the thread was woken */
#define KTRX_CAUSE_START   2u /* the thread was woken for the first time and has not run yet */
#define KTRX_CAUSE_SWITCH  3u /* the CPU switched to another thread while this thread ran */

#define KTRX_WAIT_NONE	 0u
#define KTRX_WAIT_SPIN	 1u /* waits for a lock and spins */
#define KTRX_WAIT_LOCK	 2u /* sleeps until it gets a lock */
#define KTRX_WAIT_EVENT	 3u /* sleeps until an event occurs and it is woken */
#define KTRX_WAIT_TIME	 4u /* sleeps until a certain time */
#define KTRX_WAIT_THREAD 5u /* waits for the end of the thread whose number is in `object` */
#define KTRX_WAIT_DEVICE 6u /* waits for an answer of a device */

/* One measurement of a CPU's clock against that of CPU 0. */
struct ktrx_clock_sample {
	uint64_t stamp; /* timestamp of the CPU that was measured */
	int64_t offset; /* number of ticks to add to that timestamp to get the time of CPU 0 */
	uint64_t error; /* maximum error of `offset`, in ticks */
	uint64_t check; /* ktrx_clock_check(); with any other value the sample is absent or incomplete */
};
#define KTRX_CLOCK_SAMPLES 32u

/*
 * The measurements of one CPU's clock, written by that CPU. Samples are in the order of their timestamps.
 * When the table is full, every other sample is dropped, and the number of measurements between two samples
 * doubles. The last sample is always the newest.
 */
struct ktrx_clock {
	uint64_t measured; /* number of measurements that succeeded */
	/* number of measurements without a new result, because CPU 0 did not answer in time */
	uint64_t failed;
	uint64_t due; /* private to the writer: timestamp at which the next measurement is due */
	uint32_t samples;
	uint32_t spacing; /* number of measurements from one sample to the next */
	uint32_t since;	  /* private to the writer: number of measurements since the last sample */
	uint32_t reserved[7];
	struct ktrx_clock_sample sample[KTRX_CLOCK_SAMPLES];
};

/*
 * The last record of an event with KTRX_EVENT_FOLD on a CPU, and the number of its repetitions since then,
 * which have no record. Written by that CPU. When a different record of the event is made, the event
 * ktrace.repeat records the count, and the entry is used again.
 */
#define KTRX_FOLD_PAYLOAD 256u
struct ktrx_fold {
	/*
	 * an even number while the entry is stable, an odd number while it is being changed; each change
	 * increases the number
	 */
	uint64_t sequence;
	uint16_t event;	 /* event id; 0: the entry is empty */
	uint16_t bytes;	 /* number of bytes of the payload */
	uint32_t second; /* thread, context and extension bit, as in bits 88:64 of a record's first slot */
	uint32_t cpu;
	uint32_t ring;	/* number of the ring that contains the record */
	uint64_t count; /* number of repetitions without a record */
	uint64_t first; /* timestamp of the first repetition */
	uint64_t last;	/* timestamp of the last repetition */
	uint16_t place; /* id of the place that recorded; 0: unknown */
	uint8_t reserved[14];
	uint8_t payload[KTRX_FOLD_PAYLOAD]; /* the record's payload, with its extension block */
};

KTRX_ASSERT_SIZE(struct ktrx_thread, 32);
KTRX_ASSERT_OFFSET(struct ktrx_thread, name, 4);
KTRX_ASSERT_SIZE(struct ktrx_cpu, 320);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, heartbeat_stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, pc, 16);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, thread, 24);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, mode, 28);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, online, 29);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts, 30);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, hooks, 31);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, preempt, 32);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, nesting, 36);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, now, 40);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, mode_stamp, 48);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts_stamp, 56);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts_pc, 64);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, space, 72);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, switches, 80);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, switch_stamp, 88);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irqs, 96);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irq_stamp, 104);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, eois, 112);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irq, 120);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, eoi, 124);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_stamp, 128);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_pc, 136);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_cpu, 144);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_what, 148);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_answered, 152);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, user_enters, 160);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, user_exits, 168);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, refused, 272);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken, 176);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_thread, 180);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_stamp, 184);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_pc, 192);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_object, 200);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, sample, 208);
KTRX_ASSERT_SIZE(struct ktrx_held, 24);
KTRX_ASSERT_OFFSET(struct ktrx_held, stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_held, pc, 16);
KTRX_ASSERT_SIZE(struct ktrx_holder, 320);
KTRX_ASSERT_OFFSET(struct ktrx_holder, state, 4);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait, 5);
KTRX_ASSERT_OFFSET(struct ktrx_holder, held_count, 6);
KTRX_ASSERT_OFFSET(struct ktrx_holder, priority, 7);
KTRX_ASSERT_OFFSET(struct ktrx_holder, state_stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_holder, object, 16);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait_stamp, 24);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait_pc, 32);
KTRX_ASSERT_OFFSET(struct ktrx_holder, owner, 40);
KTRX_ASSERT_OFFSET(struct ktrx_holder, cpu, 44);
KTRX_ASSERT_OFFSET(struct ktrx_holder, deadline, 48);
KTRX_ASSERT_OFFSET(struct ktrx_holder, waker, 56);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wakes, 60);
KTRX_ASSERT_OFFSET(struct ktrx_holder, stack_low, 64);
KTRX_ASSERT_OFFSET(struct ktrx_holder, stack_high, 72);
KTRX_ASSERT_OFFSET(struct ktrx_holder, object_name, 80);
KTRX_ASSERT_OFFSET(struct ktrx_holder, held, 112);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_object, 256);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_first, 264);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_last, 272);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_longest, 280);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_usual, 288);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_wakes, 296);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_alike, 300);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_waker, 304);
KTRX_ASSERT_SIZE(struct ktrx_fold, 320);
KTRX_ASSERT_OFFSET(struct ktrx_fold, event, 8);
KTRX_ASSERT_OFFSET(struct ktrx_fold, bytes, 10);
KTRX_ASSERT_OFFSET(struct ktrx_fold, second, 12);
KTRX_ASSERT_OFFSET(struct ktrx_fold, cpu, 16);
KTRX_ASSERT_OFFSET(struct ktrx_fold, ring, 20);
KTRX_ASSERT_OFFSET(struct ktrx_fold, count, 24);
KTRX_ASSERT_OFFSET(struct ktrx_fold, first, 32);
KTRX_ASSERT_OFFSET(struct ktrx_fold, last, 40);
KTRX_ASSERT_OFFSET(struct ktrx_fold, place, 48);
KTRX_ASSERT_OFFSET(struct ktrx_fold, payload, 64);
KTRX_ASSERT_SIZE(struct ktrx_clock_sample, 32);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, offset, 8);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, error, 16);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, check, 24);
KTRX_ASSERT_SIZE(struct ktrx_clock, 1088);
KTRX_ASSERT_OFFSET(struct ktrx_clock, failed, 8);
KTRX_ASSERT_OFFSET(struct ktrx_clock, due, 16);
KTRX_ASSERT_OFFSET(struct ktrx_clock, samples, 24);
KTRX_ASSERT_OFFSET(struct ktrx_clock, spacing, 28);
KTRX_ASSERT_OFFSET(struct ktrx_clock, since, 32);
KTRX_ASSERT_OFFSET(struct ktrx_clock, sample, 64);

KTRX_CASTS_BEGIN

static inline uint64_t ktrx_clock_check(const struct ktrx_clock_sample *sample)
{
	return ~(sample->stamp + 3 * (uint64_t)sample->offset + 5 * sample->error);
}

KTRX_CASTS_END

#endif
