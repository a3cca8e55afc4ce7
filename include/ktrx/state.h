/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2, the tables of state: what each CPU does, what CPUs and threads hold and wait for, the names
 * of threads, what was measured of clocks, and repeats that are being counted. The kernel writes the rows
 * while it runs, and a host reads them at any time. ktrx/v2.h has the sections that lead to the tables; it
 * includes this header. Normative text: spec/ktrx.md.
 */
#ifndef KTRX_STATE_H
#define KTRX_STATE_H

#include <stdint.h>

#include "ktrx/assert.h"

struct ktrx_thread {
	uint32_t id;   /* thread id + 1; 0 marks an empty row */
	char name[28]; /* NUL-terminated */
};

/*
 * What a CPU is doing, readable from outside at any time. Each field is written by its own CPU only, by the
 * hooks of ktrace/hooks.h: one whose hook a kernel does not call stays 0. Stamps are of the CPU's counter, 0:
 * never.
 */
#define KTRX_SAMPLES 8u
struct ktrx_cpu {
	uint64_t heartbeats;	  /* calls of ktrace_heartbeat() */
	uint64_t heartbeat_stamp; /* counter at the last one */
	uint64_t pc;		  /* interrupted there */
	uint32_t thread;	  /* running there */
	uint8_t mode;		  /* KTRX_MODE_* */
	uint8_t online;
	uint8_t interrupts;  /* KTRX_INTERRUPTS_* */
	uint8_t hooks;	     /* KTRX_HOOK_*: hooks called at least once */
	uint32_t preempt;    /* how often preemption was turned off and not on again */
	uint32_t nesting;    /* interrupts entered and not left */
	uint64_t now;	     /* newest stamp that was read here: no hook that needs none reads the clock */
	uint64_t mode_stamp; /* `now` when the mode last changed */
	uint64_t interrupts_stamp; /* `now` when interrupts were last turned off */
	uint64_t interrupts_pc;	   /* who did */
	uint64_t space;		   /* address space id */
	uint64_t switches;	   /* context switches … */
	uint64_t switch_stamp;	   /* … and the last one */
	uint64_t irqs;		   /* interrupts entered … */
	uint64_t irq_stamp;	   /* … and the last one */
	uint64_t eois;		   /* interrupts ended at the controller */
	uint32_t irq;		   /* number of the last one entered … */
	uint32_t eoi;		   /* … and of the last one ended */
	uint64_t ipi_stamp;	   /* since when it awaits an answer */
	uint64_t ipi_pc;	   /* where */
	uint32_t ipi_cpu;	   /* from that CPU + 1; KTRX_ALL_CPUS: from all others; 0: it awaits none */
	uint32_t ipi_what;	   /* what it has asked for */
	uint64_t ipi_answered;	   /* when it last answered one itself */
	uint64_t user_enters;	   /* times it left user mode … */
	uint64_t user_exits;	   /* … and went there */
	uint32_t broken;	   /* KTRX_BROKEN_*: the first rule that was broken here */
	uint32_t broken_thread;
	uint64_t broken_stamp;
	uint64_t broken_pc;
	uint64_t broken_object;	       /* a lock */
	uint64_t sample[KTRX_SAMPLES]; /* pc of the last heartbeats: number n at n modulo KTRX_SAMPLES */
	uint8_t reserved[48];
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

/* Hooks that were called at least once. Without its bit, what a hook reports is unknown. */
#define KTRX_HOOK_LOCK	  1u
#define KTRX_HOOK_THREAD  2u
#define KTRX_HOOK_IRQ	  4u
#define KTRX_HOOK_EOI	  8u
#define KTRX_HOOK_IPI	  16u
#define KTRX_HOOK_PREEMPT 32u
#define KTRX_HOOK_SPACE	  64u
#define KTRX_HOOK_EXIT	  128u /* by the thread that ends, before its last switch */

#define KTRX_BROKEN_NOTHING	     0u
#define KTRX_BROKEN_SWITCH_LOCKED    1u /* a switch while the CPU holds a spinlock */
#define KTRX_BROKEN_SWITCH_PREEMPT   2u /* a switch while preemption is off */
#define KTRX_BROKEN_SWITCH_INTERRUPT 3u /* a switch inside an interrupt */
#define KTRX_BROKEN_RELEASE	     4u /* a lock given up that was not held */
#define KTRX_BROKEN_ACQUIRE	     5u /* a lock taken by the holder that holds it already */

/*
 * A holder of locks, which may also wait: a thread, or a CPU for what it does while it must not switch. The
 * rows last longer than records in the rings. A CPU's row is written by that CPU, a thread's row by the
 * thread and by the CPU that wakes it.
 */
#define KTRX_HELD 6u
struct ktrx_held {
	uint64_t object; /* 0: an empty place */
	uint64_t stamp;	 /* the CPU's `now`: the lock was taken then or later */
	uint64_t pc;	 /* where */
};
struct ktrx_holder {
	uint32_t id;	      /* thread + 1, or KTRX_HOLDER_CPU | CPU; 0: an empty row */
	uint8_t state;	      /* of a thread: KTRX_THREAD_* */
	uint8_t wait;	      /* KTRX_WAIT_*: what for */
	uint8_t held_count;   /* locks; those beyond KTRX_HELD are only counted */
	uint8_t priority;     /* of a thread, greater is more urgent; 0: unknown */
	uint64_t state_stamp; /* since when `state` is so */
	uint64_t object;      /* waited for, while `wait` is not 0 */
	uint64_t wait_stamp;  /* since when */
	uint64_t wait_pc;     /* where */
	uint32_t owner;	      /* the holder of the object when the wait began, as `id`; 0: unknown */
	uint16_t cpu;	      /* of a thread: it runs there, or ran there last */
	uint8_t whole;	      /* of a thread: 1 if all locks that it holds are known */
	uint8_t cause;	      /* of a thread that is runnable: KTRX_CAUSE_* */
	uint64_t deadline;    /* stamp by which the wait ends by itself; 0: it does not */
	uint32_t waker;	      /* thread + 1 that made it runnable last; 0: none, or an interrupt */
	uint32_t wakes;	      /* how often it was made runnable */
	uint64_t stack_low;   /* of a thread: its stack, 0: unknown */
	uint64_t stack_high;
	char object_name[32]; /* NUL-terminated, "" unknown */
	struct ktrx_held held[KTRX_HELD];
	/*
	 * Threads only: the newest waits of kind KTRX_WAIT_EVENT or _DEVICE that a wakeup ended before their
	 * deadline, all for …
	 */
	uint64_t habit_object;	/* … this */
	uint64_t habit_first;	/* stamp of the wakeup that ended the first of them … */
	uint64_t habit_last;	/* … and of the last one */
	uint64_t habit_longest; /* ticks, the longest from one wakeup to the next */
	uint64_t habit_usual;	/* ticks, a running mean of these times */
	uint32_t habit_wakes;	/* how many there were; 0: none, or an older kernel */
	uint32_t habit_alike;	/* of the times between, how many lay within half and twice the mean */
	uint32_t habit_waker;	/* thread + 1 that woke it last from such a wait; 0: an interrupt */
	uint32_t reserved[3];	/* 0 */
};
#define KTRX_HOLDER_CPU 0x80000000u

#define KTRX_THREAD_UNKNOWN  0u
#define KTRX_THREAD_RUNNING  1u
#define KTRX_THREAD_RUNNABLE 2u
#define KTRX_THREAD_WAITING  3u

/*
 * Why a thread is runnable. One that ended after its switch, without ktrace_thread_exit(), looks like
 * KTRX_CAUSE_SWITCH.
 */
#define KTRX_CAUSE_UNKNOWN 0u
#define KTRX_CAUSE_WAKE	   1u /* it was woken */
#define KTRX_CAUSE_START   2u /* it was woken for the first time, and has not run on any CPU yet */
#define KTRX_CAUSE_SWITCH  3u /* its CPU switched to another thread while it ran */

#define KTRX_WAIT_NONE	 0u
#define KTRX_WAIT_SPIN	 1u /* for a lock, running */
#define KTRX_WAIT_LOCK	 2u /* for a lock, asleep */
#define KTRX_WAIT_EVENT	 3u /* until woken, by whoever does what is waited for */
#define KTRX_WAIT_TIME	 4u /* for a time to pass */
#define KTRX_WAIT_THREAD 5u /* for the end of the thread whose number is `object` */
#define KTRX_WAIT_DEVICE 6u /* until a device has answered */

/* One measurement of a CPU's clock against CPU 0's. */
struct ktrx_clock_sample {
	uint64_t stamp; /* of the CPU whose clock it is */
	int64_t offset; /* ticks to be added to that stamp to have CPU 0's … */
	uint64_t error; /* … and how many that can be wrong by */
	uint64_t check; /* ktrx_clock_check(): anything else is not there, or not whole */
};
#define KTRX_CLOCK_SAMPLES 32u

/*
 * What was measured of one CPU's clock, written by that CPU. Samples lie in order of their stamps. When they
 * are full, every other one is dropped and twice as many measurements go between two of them; the last is the
 * newest.
 */
struct ktrx_clock {
	uint64_t measured; /* measurements that succeeded … */
	uint64_t failed;   /* … and those that brought nothing new, as CPU 0 did not answer in time */
	uint64_t due;	   /* the writer's: when the next one is to be */
	uint32_t samples;
	uint32_t spacing; /* measurements between two samples */
	uint32_t since;	  /* the writer's: of these, so far */
	uint32_t reserved[7];
	struct ktrx_clock_sample sample[KTRX_CLOCK_SAMPLES];
};

/*
 * What a CPU recorded last of an event that folds, and how often it came again since without a record.
 * Written by that CPU. When something else comes, the library's event ktrace.repeat tells the count, and the
 * row is used anew.
 */
#define KTRX_FOLD_PAYLOAD 256u
struct ktrx_fold {
	uint64_t sequence; /* even while nobody changes the row, another number after each change */
	uint16_t event;	   /* id; 0: an empty row */
	uint16_t bytes;	   /* of payload */
	uint32_t second;   /* thread, context and extension bit, as in bits 88:64 of a record's first slot */
	uint32_t cpu;
	uint32_t ring;	/* where the record is */
	uint64_t count; /* repetitions without a record … */
	uint64_t first; /* … stamp of the first of them … */
	uint64_t last;	/* … and of the last one */
	uint16_t place; /* id of the place that recorded; 0: not known */
	uint8_t reserved[14];
	uint8_t payload[KTRX_FOLD_PAYLOAD]; /* the record's, extension block included */
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
