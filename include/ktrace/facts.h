/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Facts: one call records the standard event of doc/events.md and updates the state (hooks.h).
 *
 *	ktrace_switch(previous->id, next->id, previous->state);
 *
 * Most calls are named for their event: ktrace_switch() records sched.switch. The comment of the
 * corresponding hook in hooks.h describes where, how often and in which context to make the call. Arguments
 * are evaluated even if nothing is recorded.
 *
 * The event and the state can be turned off separately:
 *	the event	ktrace=-sched.switch at run time; -DKTRACE_NO_sched=1 generates no code
 *	the state	debug.ktr.state=0 at run time; -DKTRACE_STATE=0 generates no code
 * Compile the library and the kernel with the same values of these options. If a file is compiled with a
 * group and the library without it, the linker reports that ktrace_fact_… is undefined.
 *
 * A file that makes none of these calls has none of their events. A file that makes a call has its own event
 * descriptor, as with KTRACE_EVENT() in a header.
 *
 * A kernel can add its own fields in ktrace_port.h: text to append, and fields, each after a comma. They
 * become the last arguments of the call.
 *
 *	#define KTRACE_SWITCH_TEXT   ", ran for %llu ns"
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
#define KTRACE_FACT_EXIT   "%u", (uint32_t, thread)
#define KTRACE_FACT_NOBODY "on %p, from %p", (const volatile void *, queue), (const void *, ip)
#define KTRACE_FACT_CONTEND                                                                             \
	"%p %s held by %s %u" KTRACE_CONTEND_TEXT, (const volatile void *, lock), (const char *, name), \
		(const char *, kind), (uint32_t, holder) KTRACE_CONTEND_FIELDS
#define KTRACE_FACT_ACQUIRE                                            \
	"%p at %p" KTRACE_ACQUIRE_TEXT, (const volatile void *, lock), \
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
 * Declares a function that returns the event descriptor. Only files that call it contain the descriptor, so a
 * kernel has only the events that it uses.
 */
#define KTRACE_FACT_CODE(c, n, field) KTRACE_RULE(KTRACE_FIELD_TYPE field) & 15,
#define KTRACE_FACT_DESCRIPTOR(row_of, names, v1_id, ...)                                                    \
	KTRACE_INLINE struct ktrx_event *row_of(void)                                                        \
	{                                                                                                    \
		KTRACE_DESCRIPTOR_1(KTRACE_KEEP_WITH_CODE, descriptor, KTRX_STATE_RECORD, 0, v1_id, 0,       \
				    KTRACE_COUNT(__VA_ARGS__), KTRACE_EACH(KTRACE_FACT_CODE, , __VA_ARGS__), \
				    KTRACE_STRINGS(names, KTRACE_FIELD_STRINGS, __VA_ARGS__));               \
		return &descriptor.event;                                                                    \
	}

/*
 * The body of a call. If the event is on, `record` records it and updates the state; otherwise `state`
 * updates the state. If `condition` is false, the event is not recorded, and only the state is updated.
 */
#define KTRACE_FACT_CALL(group, ...) \
	KTRACE_PASTE(KTRACE_FACT_CALL_, KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group))(__VA_ARGS__)
#define KTRACE_FACT_CALL_1(descriptor, condition, record, state)       \
	struct ktrx_event *event = descriptor();                       \
	if (KTRACE_UNLIKELY((condition) && ktrace_event_is_on(event))) \
		record;                                                \
	else                                                           \
		state;                                                 \
	KTRACE_COME_BACK()
#define KTRACE_FACT_CALL_0(descriptor, condition, record, state) \
	struct ktrx_event *event = KTRACE_NULL;                  \
	if (0)                                                   \
		record;                                          \
	else                                                     \
		state;                                           \
	KTRACE_COME_BACK()

KTRACE_BEGIN_C

KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_switch, "sched\0switch", KTRX1_CTX_SWITCH, KTRACE_FACT_SWITCH)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_wake, "sched\0wake", KTRX_V1_NONE, KTRACE_FACT_WAKE)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_block, "sched\0block", KTRX1_WAITQ_SLEEP, KTRACE_FACT_BLOCK)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_wake_nobody, "sched\0wake_nobody", KTRX_V1_NONE, KTRACE_FACT_NOBODY)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_exit, "sched\0exit", KTRX_V1_NONE, KTRACE_FACT_EXIT)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_contend, "lock\0contend", KTRX_V1_NONE, KTRACE_FACT_CONTEND)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_acquire, "lock\0acquire", KTRX_V1_NONE, KTRACE_FACT_ACQUIRE)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_try, "lock\0try", KTRX_V1_NONE, KTRACE_FACT_ACQUIRE)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_release, "lock\0release", KTRX_V1_NONE, KTRACE_FACT_RELEASE)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_irq_enter, "irq\0enter", KTRX_V1_NONE, KTRACE_FACT_INTERRUPT)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_irq_exit, "irq\0exit", KTRX_V1_NONE, KTRACE_FACT_IRQ)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_irq_eoi, "irq\0eoi", KTRX_V1_NONE, KTRACE_FACT_IRQ)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_ipi_send, "ipi\0send", KTRX_V1_NONE, KTRACE_FACT_SEND)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_ipi_receive, "ipi\0receive", KTRX_V1_NONE, KTRACE_FACT_RECEIVE)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_fault_enter, "mm\0fault_enter", KTRX1_PAGE_FAULT, KTRACE_FACT_FAULT)
KTRACE_FACT_DESCRIPTOR(ktrace_descriptor_fault_exit, "mm\0fault_exit", KTRX_V1_NONE, KTRACE_FACT_FAULT_EXIT)

/*
 * In kernel/core: record the event and update the state. The call site of the event is the return address of
 * the call. `pc` is the place for the state and for the field `place`; 0: use the call site.
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
__attribute__((__noinline__)) void ktrace_fact_sched_wake_nobody(struct ktrx_event *event,
								 const volatile void *queue, uintptr_t ip);
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

/* ---- Facts about threads ----------------------------------------------------------------------- */

/*
 * Records sched.switch and updates which thread runs: see ktrace_thread_switch(). `state` is the state that
 * the previous thread enters, see doc/events.md. A switch to the same thread is not recorded.
 */
KTRACE_INLINE void ktrace_switch(uint32_t previous, uint32_t next, uint32_t state KTRACE_EXTRA(SWITCH))
{
	KTRACE_FACT_CALL(
		sched, ktrace_descriptor_switch, previous != next,
		ktrace_fact_sched_switch(event, previous, next, state KTRACE_EXTRA_ARGUMENTS(SWITCH)),
		ktrace_thread_switch(previous, next));
}

/* Records sched.wake and marks the thread as runnable: see ktrace_thread_wake(). */
KTRACE_INLINE void ktrace_wake(uint32_t thread KTRACE_EXTRA(WAKE))
{
	KTRACE_FACT_CALL(sched, ktrace_descriptor_wake, 1,
			 ktrace_fact_sched_wake(event, thread KTRACE_EXTRA_ARGUMENTS(WAKE)),
			 ktrace_thread_wake(thread));
}

/*
 * Records sched.wake_nobody: a wakeup found no thread asleep on `queue`. Call it in the function that wakes;
 * the event has the address of the code that called this function. No state is updated.
 */
KTRACE_INLINE void ktrace_wake_nobody(const volatile void *queue)
{
	KTRACE_FACT_CALL(sched, ktrace_descriptor_wake_nobody, 1,
			 ktrace_fact_sched_wake_nobody(event, queue, KTRACE_RETURN_ADDRESS), (void)0);
}

/* Records sched.block and sets what the running thread waits for: see ktrace_thread_block(). */
KTRACE_INLINE void ktrace_block(const volatile void *object, const char *name, uint32_t kind,
				uint64_t deadline KTRACE_EXTRA(BLOCK))
{
	KTRACE_FACT_CALL(
		sched, ktrace_descriptor_block, 1,
		ktrace_fact_sched_block(event, object, name, kind, deadline, 0 KTRACE_EXTRA_ARGUMENTS(BLOCK)),
		ktrace_thread_block(object, name, kind, deadline));
}

KTRACE_INLINE void ktrace_block_at(const volatile void *object, const char *name, uint32_t kind,
				   uint64_t deadline, uintptr_t pc KTRACE_EXTRA(BLOCK))
{
	KTRACE_FACT_CALL(sched, ktrace_descriptor_block, 1,
			 ktrace_fact_sched_block(event, object, name, kind, deadline,
						 pc KTRACE_EXTRA_ARGUMENTS(BLOCK)),
			 ktrace_thread_block_at(object, name, kind, deadline, pc));
}

/*
 * Records sched.exit and removes the thread's state: see ktrace_thread_exit(). The event is recorded only if
 * the thread itself makes the call. May be called again when the memory of the thread is freed.
 */
KTRACE_INLINE void ktrace_thread_end(uint32_t thread)
{
	KTRACE_FACT_CALL(sched, ktrace_descriptor_exit, 1, ktrace_fact_sched_exit(event, thread),
			 ktrace_thread_exit(thread));
}

/* ---- Facts about locks ------------------------------------------------------------------------- */

/*
 * Records lock.contend and sets the wait: see ktrace_lock_wait(). If a wait ends without the lock, call
 * ktrace_lock_give_up().
 */
KTRACE_INLINE void ktrace_contend(const volatile void *lock, const char *name, uint32_t by,
				  uint32_t owner KTRACE_EXTRA(CONTEND))
{
	KTRACE_FACT_CALL(
		lock, ktrace_descriptor_contend, 1,
		ktrace_fact_lock_contend(event, lock, name, by, owner, 0 KTRACE_EXTRA_ARGUMENTS(CONTEND)),
		ktrace_lock_wait(lock, name, by, owner));
}

KTRACE_INLINE void ktrace_contend_at(const volatile void *lock, const char *name, uint32_t by, uint32_t owner,
				     uintptr_t pc KTRACE_EXTRA(CONTEND))
{
	KTRACE_FACT_CALL(
		lock, ktrace_descriptor_contend, 1,
		ktrace_fact_lock_contend(event, lock, name, by, owner, pc KTRACE_EXTRA_ARGUMENTS(CONTEND)),
		ktrace_lock_wait_at(lock, name, by, owner, pc));
}

/* Records lock.acquire and sets the holder of the lock: see ktrace_lock_acquire(). */
KTRACE_INLINE void ktrace_acquire(const volatile void *lock, uint32_t by KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_acquire, 1,
			 ktrace_fact_lock_acquire(event, lock, by, 0 KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire(lock, by));
}

KTRACE_INLINE void ktrace_acquire_at(const volatile void *lock, uint32_t by,
				     uintptr_t pc KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_acquire, 1,
			 ktrace_fact_lock_acquire(event, lock, by, pc KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire_at(lock, by, pc));
}

/*
 * Records lock.try and sets the holder of the lock, for a lock that was taken by a try-lock operation, which
 * does not wait: see ktrace_lock_acquire().
 */
KTRACE_INLINE void ktrace_try_acquire(const volatile void *lock, uint32_t by KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_try, 1,
			 ktrace_fact_lock_acquire(event, lock, by, 0 KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire(lock, by));
}

KTRACE_INLINE void ktrace_try_acquire_at(const volatile void *lock, uint32_t by,
					 uintptr_t pc KTRACE_EXTRA(ACQUIRE))
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_try, 1,
			 ktrace_fact_lock_acquire(event, lock, by, pc KTRACE_EXTRA_ARGUMENTS(ACQUIRE)),
			 ktrace_lock_acquire_at(lock, by, pc));
}

/* Records lock.release and marks the lock as free: see ktrace_lock_release(). */
KTRACE_INLINE void ktrace_release(const volatile void *lock, uint32_t by)
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_release, 1, ktrace_fact_lock_release(event, lock, by, 0),
			 ktrace_lock_release(lock, by));
}

KTRACE_INLINE void ktrace_release_at(const volatile void *lock, uint32_t by, uintptr_t pc)
{
	KTRACE_FACT_CALL(lock, ktrace_descriptor_release, 1, ktrace_fact_lock_release(event, lock, by, pc),
			 ktrace_lock_release_at(lock, by, pc));
}

/* ---- Interrupts, page faults ------------------------------------------------------------------- */

/* Record irq.enter and irq.exit, and whether a handler runs: see ktrace_irq_enter(). */
KTRACE_INLINE void ktrace_interrupt_enter(uint32_t irq KTRACE_EXTRA(INTERRUPT))
{
	KTRACE_FACT_CALL(irq, ktrace_descriptor_irq_enter, 1,
			 ktrace_fact_irq_enter(event, irq, 1 KTRACE_EXTRA_ARGUMENTS(INTERRUPT)),
			 ktrace_irq_enter(irq));
}

KTRACE_INLINE void ktrace_interrupt_exit(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_descriptor_irq_exit, 1, ktrace_fact_irq_exit(event, irq, 1),
			 ktrace_irq_exit(irq));
}

/*
 * Record irq.enter and irq.exit without updating the state. Use them for NMIs.
 */
KTRACE_INLINE void ktrace_nmi_enter(uint32_t irq KTRACE_EXTRA(INTERRUPT))
{
	KTRACE_FACT_CALL(irq, ktrace_descriptor_irq_enter, 1,
			 ktrace_fact_irq_enter(event, irq, 0 KTRACE_EXTRA_ARGUMENTS(INTERRUPT)), (void)0);
}

KTRACE_INLINE void ktrace_nmi_exit(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_descriptor_irq_exit, 1, ktrace_fact_irq_exit(event, irq, 0), (void)0);
}

/* Records irq.eoi, and updates the state: the interrupt was ended at the controller. See ktrace_irq_eoi(). */
KTRACE_INLINE void ktrace_eoi(uint32_t irq)
{
	KTRACE_FACT_CALL(irq, ktrace_descriptor_irq_eoi, 1, ktrace_fact_irq_eoi(event, irq),
			 ktrace_irq_eoi(irq));
}

/*
 * ktrace_ipi_send() records ipi.send: call it before interrupting another CPU. ktrace_ipi_receive() records
 * ipi.receive: the interrupted CPU calls it with all requests that it found. Neither call updates the state.
 * To report a wait for the answer, call ktrace_ipi_wait().
 */
KTRACE_INLINE void ktrace_ipi_send(uint32_t cpu, uint32_t what)
{
	KTRACE_FACT_CALL(ipi, ktrace_descriptor_ipi_send, 1, ktrace_fact_ipi_send(event, cpu, what), (void)0);
}

KTRACE_INLINE void ktrace_ipi_receive(uint32_t what)
{
	KTRACE_FACT_CALL(ipi, ktrace_descriptor_ipi_receive, 1, ktrace_fact_ipi_receive(event, what),
			 (void)0);
}

/*
 * Record mm.fault_enter and mm.fault_exit. Call them at the beginning and at the end of the page-fault
 * handler. `ip`: address of the instruction that faulted. `how`: a string that describes how the fault was
 * resolved. No state is updated.
 */
KTRACE_INLINE void ktrace_fault_enter(uint64_t address, uint64_t ip KTRACE_EXTRA(FAULT))
{
	KTRACE_FACT_CALL(mm, ktrace_descriptor_fault_enter, 1,
			 ktrace_fact_mm_fault_enter(event, address, ip KTRACE_EXTRA_ARGUMENTS(FAULT)),
			 (void)0);
}

KTRACE_INLINE void ktrace_fault_exit(uint64_t address, const char *how)
{
	KTRACE_FACT_CALL(mm, ktrace_descriptor_fault_exit, 1, ktrace_fact_mm_fault_exit(event, address, how),
			 (void)0);
}

KTRACE_END_C

#endif
