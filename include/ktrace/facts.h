/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Facts: one call records the standard event of doc/events.md and keeps the state (hooks.h).
 *
 *	ktrace_switch(previous->id, next->id, previous->state);
 *
 * Most calls are named for their event: ktrace_switch() records sched.switch. Where the call stands, how
 * often it is called and in which context is said in hooks.h, at the state that the call keeps. Arguments are
 * evaluated even when nothing is recorded.
 *
 * Each half can be left out:
 *	the event	ktrace=-sched.switch while the kernel runs; -DKTRACE_NO_sched=1 leaves no code
 *	the state	debug.ktr.state=0 while the kernel runs; -DKTRACE_STATE=0 leaves no code
 * Compile the library and the kernel with the same of these options. If a file is compiled with a group and
 * the library without it, the linker does not find ktrace_fact_….
 *
 * A file that calls none of these declares none of their events. A file that does has an event of its own, as
 * with KTRACE_EVENT() in a header.
 *
 * A kernel adds fields of its own in ktrace_port.h: what is added to the text, and the fields, each after a
 * comma. The call takes them as its last arguments.
 *
 *	#define KTRACE_SWITCH_TEXT   " after %llu ns"
 *	#define KTRACE_SWITCH_FIELDS , (unsigned long long, ran, ns)
 *
 *	ktrace_switch(previous->id, next->id, previous->state, ran_ns);
 */
#ifndef KTRACE_FACTS_H
#define KTRACE_FACTS_H

#include "ktrace/event.h"
#include "ktrace/hooks.h"
#include "ktrx/v1.h"

#ifndef KTRACE_SWITCH_FIELDS
#define KTRACE_SWITCH_TEXT ""
#define KTRACE_SWITCH_FIELDS
#endif
#ifndef KTRACE_WAKE_FIELDS
#define KTRACE_WAKE_TEXT ""
#define KTRACE_WAKE_FIELDS
#endif
#ifndef KTRACE_BLOCK_FIELDS
#define KTRACE_BLOCK_TEXT ""
#define KTRACE_BLOCK_FIELDS
#endif
#ifndef KTRACE_CONTEND_FIELDS
#define KTRACE_CONTEND_TEXT ""
#define KTRACE_CONTEND_FIELDS
#endif
#ifndef KTRACE_ACQUIRE_FIELDS
#define KTRACE_ACQUIRE_TEXT ""
#define KTRACE_ACQUIRE_FIELDS
#endif
#ifndef KTRACE_INTERRUPT_FIELDS
#define KTRACE_INTERRUPT_TEXT ""
#define KTRACE_INTERRUPT_FIELDS
#endif
#ifndef KTRACE_FAULT_FIELDS
#define KTRACE_FAULT_TEXT ""
#define KTRACE_FAULT_FIELDS
#endif

/* Text and fields of each event. */
/* clang-format off */
#define KTRACE_FACT_SWITCH                                                                      \
	"%u -> %u, old one in state %u" KTRACE_SWITCH_TEXT, (uint32_t, prev), (uint32_t, next), \
		(uint32_t, state) KTRACE_SWITCH_FIELDS
#define KTRACE_FACT_WAKE "%u" KTRACE_WAKE_TEXT, (uint32_t, thread) KTRACE_WAKE_FIELDS
#define KTRACE_FACT_BLOCK                                                                              \
	"for %p by %u, kind %u" KTRACE_BLOCK_TEXT, (const volatile void *, queue), (uint32_t, thread), \
		(uint8_t, kind) KTRACE_BLOCK_FIELDS
#define KTRACE_FACT_EXIT "%u", (uint32_t, thread)
#define KTRACE_FACT_CONTEND                                                                             \
	"%p %s held by %s %u" KTRACE_CONTEND_TEXT, (const volatile void *, lock), (const char *, name), \
		(const char *, kind), (uint32_t, holder) KTRACE_CONTEND_FIELDS
#define KTRACE_FACT_ACQUIRE                                            \
	"%p by %p" KTRACE_ACQUIRE_TEXT, (const volatile void *, lock), \
		(const void *, place) KTRACE_ACQUIRE_FIELDS
#define KTRACE_FACT_RELEASE   "%p", (const volatile void *, lock)
#define KTRACE_FACT_INTERRUPT "%u" KTRACE_INTERRUPT_TEXT, (uint32_t, irq) KTRACE_INTERRUPT_FIELDS
#define KTRACE_FACT_IRQ	      "%u", (uint32_t, irq)
#define KTRACE_FACT_SEND      "to CPU %u: %#x", (uint32_t, cpu), (uint32_t, what)
#define KTRACE_FACT_RECEIVE   "%#x", (uint32_t, what)
#define KTRACE_FACT_FAULT                                                    \
	"%#llx from %#llx" KTRACE_FAULT_TEXT, (unsigned long long, address), \
		(unsigned long long, ip) KTRACE_FAULT_FIELDS
#define KTRACE_FACT_FAULT_EXIT "%#llx %s", (unsigned long long, address), (const char *, how)

/* clang-format on */

/* Parameters and arguments for the fields that a kernel adds. */
#define KTRACE_ARGUMENT(c, n, field) , KTRACE_PASTE(a, n)
#define KTRACE_EXTRA(fact)	     KTRACE_EACH(KTRACE_PARAMETER, , "" KTRACE_##fact##_FIELDS)
#define KTRACE_EXTRA_ARGUMENTS(fact) KTRACE_EACH(KTRACE_ARGUMENT, , "" KTRACE_##fact##_FIELDS)

/*
 * Declares a function that returns the event. Its row goes into the files that call it, so a kernel has only
 * the events that it uses.
 */
#define KTRACE_FACT_CODE(c, n, field) KTRACE_RULE(KTRACE_FIELD_TYPE field) & 15,
#define KTRACE_FACT_ROW(row_of, names, v1_id, ...)                                                    \
	KTRACE_INLINE struct ktrx_event *row_of(void)                                                 \
	{                                                                                             \
		KTRACE_ROW_1(KTRACE_KEEP_WITH_CODE, row, KTRX_STATE_RECORD, 0, v1_id, 0,              \
			     KTRACE_COUNT(__VA_ARGS__), KTRACE_EACH(KTRACE_FACT_CODE, , __VA_ARGS__), \
			     KTRACE_STRINGS(names, KTRACE_FIELD_STRINGS, __VA_ARGS__));               \
		return &row.event;                                                                    \
	}

/*
 * The body of a call. If the event is on, `record` records it and keeps the state; else `state` keeps the
 * state. `condition`: when there is an event at all.
 */
#define KTRACE_FACT_CALL(group, ...) \
	KTRACE_PASTE(KTRACE_FACT_CALL_, KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group))(__VA_ARGS__)
#define KTRACE_FACT_CALL_1(row, condition, record, state)              \
	struct ktrx_event *event = row();                              \
	if (KTRACE_UNLIKELY((condition) && ktrace_event_is_on(event))) \
		record;                                                \
	else                                                           \
		state;                                                 \
	KTRACE_COME_BACK()
#define KTRACE_FACT_CALL_0(row, condition, record, state) \
	struct ktrx_event *event = KTRACE_NULL;           \
	if (0)                                            \
		record;                                   \
	else                                              \
		state;                                    \
	KTRACE_COME_BACK()

KTRACE_BEGIN_C

KTRACE_FACT_ROW(ktrace_row_switch, "sched\0switch", KTRX1_CTX_SWITCH, KTRACE_FACT_SWITCH)
KTRACE_FACT_ROW(ktrace_row_wake, "sched\0wake", KTRX_V1_NONE, KTRACE_FACT_WAKE)
KTRACE_FACT_ROW(ktrace_row_block, "sched\0block", KTRX1_WAITQ_SLEEP, KTRACE_FACT_BLOCK)
KTRACE_FACT_ROW(ktrace_row_exit, "sched\0exit", KTRX_V1_NONE, KTRACE_FACT_EXIT)
KTRACE_FACT_ROW(ktrace_row_contend, "lock\0contend", KTRX_V1_NONE, KTRACE_FACT_CONTEND)
KTRACE_FACT_ROW(ktrace_row_acquire, "lock\0acquire", KTRX_V1_NONE, KTRACE_FACT_ACQUIRE)
KTRACE_FACT_ROW(ktrace_row_try, "lock\0try", KTRX_V1_NONE, KTRACE_FACT_ACQUIRE)
KTRACE_FACT_ROW(ktrace_row_release, "lock\0release", KTRX_V1_NONE, KTRACE_FACT_RELEASE)
KTRACE_FACT_ROW(ktrace_row_irq_enter, "irq\0enter", KTRX_V1_NONE, KTRACE_FACT_INTERRUPT)
KTRACE_FACT_ROW(ktrace_row_irq_exit, "irq\0exit", KTRX_V1_NONE, KTRACE_FACT_IRQ)
KTRACE_FACT_ROW(ktrace_row_irq_eoi, "irq\0eoi", KTRX_V1_NONE, KTRACE_FACT_IRQ)
KTRACE_FACT_ROW(ktrace_row_ipi_send, "ipi\0send", KTRX_V1_NONE, KTRACE_FACT_SEND)
KTRACE_FACT_ROW(ktrace_row_ipi_receive, "ipi\0receive", KTRX_V1_NONE, KTRACE_FACT_RECEIVE)
KTRACE_FACT_ROW(ktrace_row_fault_enter, "mm\0fault_enter", KTRX1_PAGE_FAULT, KTRACE_FACT_FAULT)
KTRACE_FACT_ROW(ktrace_row_fault_exit, "mm\0fault_exit", KTRX_V1_NONE, KTRACE_FACT_FAULT_EXIT)

/*
 * In kernel/core: record the event and keep the state. The site of the event is where these return to;
 * `pc` is the place for the state and for the field `place`; 0: the site.
 */
__attribute__((__noinline__)) void ktrace_fact_sched_switch(struct ktrx_event *event, uint32_t previous,
							    uint32_t next,
							    uint32_t state KTRACE_EXTRA(SWITCH));
__attribute__((__noinline__)) void ktrace_fact_sched_wake(struct ktrx_event *event,
							  uint32_t thread KTRACE_EXTRA(WAKE));
__attribute__((__noinline__)) void ktrace_fact_sched_block(struct ktrx_event *event,
							   const volatile void *object, const char *name,
							   uint32_t kind, uint64_t deadline,
							   uintptr_t pc KTRACE_EXTRA(BLOCK));
__attribute__((__noinline__)) void ktrace_fact_sched_exit(struct ktrx_event *event, uint32_t thread);
__attribute__((__noinline__)) void ktrace_fact_lock_contend(struct ktrx_event *event,
							    const volatile void *lock, const char *name,
							    uint32_t by, uint32_t owner,
							    uintptr_t pc KTRACE_EXTRA(CONTEND));
__attribute__((__noinline__)) void ktrace_fact_lock_acquire(struct ktrx_event *event,
							    const volatile void *lock, uint32_t by,
							    uintptr_t pc KTRACE_EXTRA(ACQUIRE));
__attribute__((__noinline__)) void
ktrace_fact_lock_release(struct ktrx_event *event, const volatile void *lock, uint32_t by, uintptr_t pc);
__attribute__((__noinline__)) void ktrace_fact_irq_enter(struct ktrx_event *event, uint32_t irq,
							 int state KTRACE_EXTRA(INTERRUPT));
__attribute__((__noinline__)) void ktrace_fact_irq_exit(struct ktrx_event *event, uint32_t irq, int state);
__attribute__((__noinline__)) void ktrace_fact_irq_eoi(struct ktrx_event *event, uint32_t irq);
__attribute__((__noinline__)) void ktrace_fact_ipi_send(struct ktrx_event *event, uint32_t cpu,
							uint32_t what);
__attribute__((__noinline__)) void ktrace_fact_ipi_receive(struct ktrx_event *event, uint32_t what);
__attribute__((__noinline__)) void ktrace_fact_mm_fault_enter(struct ktrx_event *event, uint64_t address,
							      uint64_t ip KTRACE_EXTRA(FAULT));
__attribute__((__noinline__)) void ktrace_fact_mm_fault_exit(struct ktrx_event *event, uint64_t address,
							     const char *how);

/* ---- Threads ----------------------------------------------------------------------------------- */

/*
 * sched.switch, and which thread runs: see ktrace_thread_switch(). `state` is what the previous thread goes
 * into, as doc/events.md has it. A switch to the same thread is not recorded.
 */
KTRACE_INLINE void ktrace_switch(uint32_t previous, uint32_t next, uint32_t state KTRACE_EXTRA(SWITCH))
{
	KTRACE_FACT_CALL(
		sched, ktrace_row_switch, previous != next,
		ktrace_fact_sched_switch(event, previous, next, state KTRACE_EXTRA_ARGUMENTS(SWITCH)),
		ktrace_thread_switch(previous, next));
}

/* Records sched.wake and keeps that the thread can run: see ktrace_thread_wake(). */
KTRACE_INLINE void ktrace_wake(uint32_t thread KTRACE_EXTRA(WAKE))
{
	KTRACE_FACT_CALL(sched, ktrace_row_wake, 1,
			 ktrace_fact_sched_wake(event, thread KTRACE_EXTRA_ARGUMENTS(WAKE)),
			 ktrace_thread_wake(thread));
}

/* Records sched.block and keeps what the running thread waits for: see ktrace_thread_block(). */
KTRACE_INLINE void ktrace_block(const volatile void *object, const char *name, uint32_t kind,
				uint64_t deadline KTRACE_EXTRA(BLOCK))
{
	KTRACE_FACT_CALL(
		sched, ktrace_row_block, 1,
		ktrace_fact_sched_block(event, object, name, kind, deadline, 0 KTRACE_EXTRA_ARGUMENTS(BLOCK)),
		ktrace_thread_block(object, name, kind, deadline));
}

KTRACE_INLINE void ktrace_block_at(const volatile void *object, const char *name, uint32_t kind,
				   uint64_t deadline, uintptr_t pc KTRACE_EXTRA(BLOCK))
{
	KTRACE_FACT_CALL(sched, ktrace_row_block, 1,
			 ktrace_fact_sched_block(event, object, name, kind, deadline,
						 pc KTRACE_EXTRA_ARGUMENTS(BLOCK)),
			 ktrace_thread_block_at(object, name, kind, deadline, pc));
}

/*
 * Records sched.exit and forgets the thread: see ktrace_thread_exit(). The event is recorded only when the
 * thread itself calls. May be called again where the memory of the thread is given back.
 */
KTRACE_INLINE void ktrace_thread_end(uint32_t thread)
{
	KTRACE_FACT_CALL(sched, ktrace_row_exit, 1, ktrace_fact_sched_exit(event, thread),
			 ktrace_thread_exit(thread));
}

/* ---- Locks ------------------------------------------------------------------------------------- */

/*
 * Records lock.contend and keeps the wait: see ktrace_lock_wait(). If a wait ends without the lock, call
 * ktrace_lock_give_up().
 */
KTRACE_INLINE void ktrace_contend(const volatile void *lock, const char *name, uint32_t by,
				  uint32_t owner KTRACE_EXTRA(CONTEND))
{
	KTRACE_FACT_CALL(
		lock, ktrace_row_contend, 1,
		ktrace_fact_lock_contend(event, lock, name, by, owner, 0 KTRACE_EXTRA_ARGUMENTS(CONTEND)),
		ktrace_lock_wait(lock, name, by, owner));
}

KTRACE_INLINE void ktrace_contend_at(const volatile void *lock, const char *name, uint32_t by, uint32_t owner,
				     uintptr_t pc KTRACE_EXTRA(CONTEND))
{
	KTRACE_FACT_CALL(
		lock, ktrace_row_contend, 1,
		ktrace_fact_lock_contend(event, lock, name, by, owner, pc KTRACE_EXTRA_ARGUMENTS(CONTEND)),
		ktrace_lock_wait_at(lock, name, by, owner, pc));
}

/* Records lock.acquire and keeps who holds the lock: see ktrace_lock_acquire(). */
KTRACE_INLINE void ktrace_acquire(const volatile void *lock, uint32_t by KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_row_acquire, 1,
			 ktrace_fact_lock_acquire(event, lock, by, 0 KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire(lock, by));
}

KTRACE_INLINE void ktrace_acquire_at(const volatile void *lock, uint32_t by,
				     uintptr_t pc KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_row_acquire, 1,
			 ktrace_fact_lock_acquire(event, lock, by, pc KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire_at(lock, by, pc));
}

/* The same with lock.try for lock.acquire: for a lock taken by a try that would not have waited. */
KTRACE_INLINE void ktrace_try_acquire(const volatile void *lock, uint32_t by KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_row_try, 1,
			 ktrace_fact_lock_acquire(event, lock, by, 0 KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire(lock, by));
}

KTRACE_INLINE void ktrace_try_acquire_at(const volatile void *lock, uint32_t by,
					 uintptr_t pc KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_row_try, 1,
			 ktrace_fact_lock_acquire(event, lock, by, pc KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire_at(lock, by, pc));
}

/* Records lock.release and keeps that the lock is free: see ktrace_lock_release(). */
KTRACE_INLINE void ktrace_release(const volatile void *lock, uint32_t by)
{
	KTRACE_FACT_CALL(lock, ktrace_row_release, 1, ktrace_fact_lock_release(event, lock, by, 0),
			 ktrace_lock_release(lock, by));
}

KTRACE_INLINE void ktrace_release_at(const volatile void *lock, uint32_t by, uintptr_t pc)
{
	KTRACE_FACT_CALL(lock, ktrace_row_release, 1, ktrace_fact_lock_release(event, lock, by, pc),
			 ktrace_lock_release_at(lock, by, pc));
}

/* ---- Interrupts, page faults ------------------------------------------------------------------- */

/* Record irq.enter and irq.exit and keep that a handler runs: see ktrace_irq_enter(). */
KTRACE_INLINE void ktrace_interrupt_enter(uint32_t irq KTRACE_EXTRA(INTERRUPT))
{
	KTRACE_FACT_CALL(irq, ktrace_row_irq_enter, 1,
			 ktrace_fact_irq_enter(event, irq, 1 KTRACE_EXTRA_ARGUMENTS(INTERRUPT)),
			 ktrace_irq_enter(irq));
}

KTRACE_INLINE void ktrace_interrupt_exit(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_row_irq_exit, 1, ktrace_fact_irq_exit(event, irq, 1),
			 ktrace_irq_exit(irq));
}

/* The events alone, for an interrupt that the controller is not told of, such as an NMI. */
KTRACE_INLINE void ktrace_nmi_enter(uint32_t irq KTRACE_EXTRA(INTERRUPT))
{
	KTRACE_FACT_CALL(irq, ktrace_row_irq_enter, 1,
			 ktrace_fact_irq_enter(event, irq, 0 KTRACE_EXTRA_ARGUMENTS(INTERRUPT)), (void)0);
}

KTRACE_INLINE void ktrace_nmi_exit(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_row_irq_exit, 1, ktrace_fact_irq_exit(event, irq, 0), (void)0);
}

/* Records irq.eoi and keeps that the interrupt was ended: see ktrace_irq_eoi(). */
KTRACE_INLINE void ktrace_eoi(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_row_irq_eoi, 1, ktrace_fact_irq_eoi(event, irq), ktrace_irq_eoi(irq));
}

/*
 * ipi.send: before another CPU is interrupted. ipi.receive: by that CPU, with all that it found asked for. No
 * state is kept; the wait for an answer is state alone: ktrace_ipi_wait().
 */
KTRACE_INLINE void ktrace_ipi_send(uint32_t cpu, uint32_t what)
{
	KTRACE_FACT_CALL(ipi, ktrace_row_ipi_send, 1, ktrace_fact_ipi_send(event, cpu, what), (void)0);
}

KTRACE_INLINE void ktrace_ipi_receive(uint32_t what)
{
	KTRACE_FACT_CALL(ipi, ktrace_row_ipi_receive, 1, ktrace_fact_ipi_receive(event, what), (void)0);
}

/*
 * mm.fault_enter, mm.fault_exit: at both ends of the page-fault handler. `ip`: the instruction that faulted.
 * `how`: how the fault was resolved, as text. No state is kept.
 */
KTRACE_INLINE void ktrace_fault_enter(uint64_t address, uint64_t ip KTRACE_EXTRA(FAULT))
{
	KTRACE_FACT_CALL(mm, ktrace_row_fault_enter, 1,
			 ktrace_fact_mm_fault_enter(event, address, ip KTRACE_EXTRA_ARGUMENTS(FAULT)),
			 (void)0);
}

KTRACE_INLINE void ktrace_fault_exit(uint64_t address, const char *how)
{
	KTRACE_FACT_CALL(mm, ktrace_row_fault_exit, 1, ktrace_fact_mm_fault_exit(event, address, how),
			 (void)0);
}

KTRACE_END_C

#endif
