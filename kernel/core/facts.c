/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Facts: one call of ktrace/facts.h records an event and updates the state tables. The event descriptor is in
 * the source file that contains the call, so that a kernel contains only the events that it uses. The code
 * that records is compiled once, here.
 */
#include "hook.h"

#include "ktrace/facts.h"

/* Records the event. `site`: the place in the kernel that reports the fact. */
KTRACE_UNUSED_INLINE uint64_t fact_record(struct ktrace_packer *fields, uintptr_t site)
{
	struct ktrace_claim claim = { .word = KTRACE_WORD_NONE };
	unsigned long pinned;

	if (fields->size > KTRX_FIRST_PAYLOAD) {
		ktrace_emit_long(fields, site);
		return 0;
	}
	pinned = ktrace_arch_pin();
	if (ktrace_claim_header(&claim, &fields->event->header) && ktrace_claim_slot(&claim))
		ktrace_commit(&claim, fields);
	else
		ktrace_emit_words(fields->event, KTRACE_NULL, fields->word[0], fields->word[1],
				  fields->word[2] | (uint64_t)fields->at << 32, claim.word, claim.stamp,
				  site);
	ktrace_arch_unpin(pinned);
	return claim.stamp;
}

/*
 * Defines id##_record(), which records the event with its fields. Its arguments are the event, the call site
 * and the fields. The function returns the timestamp of the record; 0 if it did not read the clock.
 */
#define KTRACE_FACT(id, ...)                                                                              \
	KTRACE_FIELDS(id, __VA_ARGS__)                                                                    \
	enum { id##_built = 1 KTRACE_EACH(KTRACE_FIELD_SIZE, id, __VA_ARGS__) };                          \
	KTRACE_FORMAT_BEGIN                                                                               \
	KTRACE_INLINE uint64_t id##_record(struct ktrx_event *event,                                      \
					   uintptr_t site KTRACE_EACH(KTRACE_PARAMETER, id, __VA_ARGS__)) \
	{                                                                                                 \
		struct ktrace_packer to;                                                                  \
		uint64_t word[KTRACE_PACKER_WORDS(__VA_ARGS__)];                                          \
                                                                                                          \
		KTRACE_FORMAT_CHECK(KTRACE_FIRST(__VA_ARGS__)                                             \
					    KTRACE_EACH(KTRACE_FORMAT_ARGUMENT, , __VA_ARGS__));          \
		ktrace_packer_set(&to, word, event, id##_built, 0, KTRACE_NULL);                          \
		KTRACE_EACH(KTRACE_FIELD_PACK, id, __VA_ARGS__)                                           \
		return fact_record(&to, site);                                                            \
	}                                                                                                 \
	KTRACE_FORMAT_END                                                                                 \
	struct ktrace_semicolon

KTRACE_UNUSED_INLINE uintptr_t fact_place(uintptr_t pc, uintptr_t site)
{
	return pc ? pc : site;
}

#if KTRACE_BUILT(KTRACE_NO_sched, KTRACE_WITH_sched)

KTRACE_FACT(fact_switch, KTRACE_FACT_SWITCH);
KTRACE_FACT(fact_wake, KTRACE_FACT_WAKE);
KTRACE_FACT(fact_wake_nobody, KTRACE_FACT_NOBODY);
KTRACE_FACT(fact_block, KTRACE_FACT_BLOCK);
KTRACE_FACT(fact_exit, KTRACE_FACT_EXIT);

void ktrace_fact_sched_switch(struct ktrx_event *event, uint32_t previous, uint32_t next,
			      uint32_t state KTRACE_EXTRA(SWITCH))
{
	const uint64_t now = fact_switch_record(event, KTRACE_RETURN_ADDRESS, previous, next,
						state KTRACE_EXTRA_ARGUMENTS(SWITCH));
	ktrace_state_switch(previous, next, state, KTRACE_RETURN_ADDRESS, now);
}

void ktrace_fact_sched_wake(struct ktrx_event *event, uint32_t thread KTRACE_EXTRA(WAKE))
{
	fact_wake_record(event, KTRACE_RETURN_ADDRESS, thread KTRACE_EXTRA_ARGUMENTS(WAKE));
	ktrace_thread_wake(thread);
}

void ktrace_fact_sched_wake_nobody(struct ktrx_event *event, const volatile void *queue, uintptr_t ip)
{
	fact_wake_nobody_record(event, KTRACE_RETURN_ADDRESS, queue, (const void *)ip);
}

void ktrace_fact_sched_block(struct ktrx_event *event, const volatile void *object, const char *name,
			     uint32_t kind, uint64_t deadline, uintptr_t pc KTRACE_EXTRA(BLOCK))
{
	fact_block_record(event, KTRACE_RETURN_ADDRESS, object, ktrace_hook_thread(),
			  (uint8_t)kind KTRACE_EXTRA_ARGUMENTS(BLOCK));
	ktrace_thread_block_at(object, name, kind, deadline, fact_place(pc, KTRACE_RETURN_ADDRESS));
}

void ktrace_fact_sched_exit(struct ktrx_event *event, uint32_t thread)
{
	if (KTRX_W1_THREAD(thread) == ktrace_hook_thread())
		fact_exit_record(event, KTRACE_RETURN_ADDRESS, thread);
	ktrace_thread_exit(thread);
}

#endif

#if KTRACE_BUILT(KTRACE_NO_lock, KTRACE_WITH_lock)

KTRACE_FACT(fact_contend, KTRACE_FACT_CONTEND);
KTRACE_FACT(fact_acquire, KTRACE_FACT_ACQUIRE);
KTRACE_FACT(fact_release, KTRACE_FACT_RELEASE);

void ktrace_fact_lock_contend(struct ktrx_event *event, const volatile void *lock, const char *name,
			      uint32_t by, uint32_t owner, uintptr_t pc KTRACE_EXTRA(CONTEND))
{
	fact_contend_record(event, KTRACE_RETURN_ADDRESS, lock, name, by == KTRACE_BY_CPU ? "CPU" : "thread",
			    owner KTRACE_EXTRA_ARGUMENTS(CONTEND));
	ktrace_lock_wait_at(lock, name, by, owner, fact_place(pc, KTRACE_RETURN_ADDRESS));
}

void ktrace_fact_lock_acquire(struct ktrx_event *event, const volatile void *lock, uint32_t by,
			      uintptr_t pc KTRACE_EXTRA(ACQUIRE))
{
	const uintptr_t taken_at = fact_place(pc, KTRACE_RETURN_ADDRESS);

	fact_acquire_record(event, KTRACE_RETURN_ADDRESS, lock,
			    (const void *)taken_at KTRACE_EXTRA_ARGUMENTS(ACQUIRE));
	ktrace_lock_acquire_at(lock, by, taken_at);
}

void ktrace_fact_lock_release(struct ktrx_event *event, const volatile void *lock, uint32_t by, uintptr_t pc)
{
	fact_release_record(event, KTRACE_RETURN_ADDRESS, lock);
	ktrace_lock_release_at(lock, by, fact_place(pc, KTRACE_RETURN_ADDRESS));
}

#endif

#if KTRACE_BUILT(KTRACE_NO_irq, KTRACE_WITH_irq)

KTRACE_FACT(fact_irq_enter, KTRACE_FACT_INTERRUPT);
KTRACE_FACT(fact_irq, KTRACE_FACT_IRQ);

void ktrace_fact_irq_enter(struct ktrx_event *event, uint32_t irq, int state KTRACE_EXTRA(INTERRUPT))
{
	const uint64_t now =
		fact_irq_enter_record(event, KTRACE_RETURN_ADDRESS, irq KTRACE_EXTRA_ARGUMENTS(INTERRUPT));

	if (state)
		ktrace_state_irq_enter(irq, now);
}

void ktrace_fact_irq_exit(struct ktrx_event *event, uint32_t irq, int state)
{
	fact_irq_record(event, KTRACE_RETURN_ADDRESS, irq);
	if (state)
		ktrace_irq_exit(irq);
}

void ktrace_fact_irq_eoi(struct ktrx_event *event, uint32_t irq)
{
	fact_irq_record(event, KTRACE_RETURN_ADDRESS, irq);
	ktrace_irq_eoi(irq);
}

#endif

#if KTRACE_BUILT(KTRACE_NO_ipi, KTRACE_WITH_ipi)

KTRACE_FACT(fact_ipi_send, KTRACE_FACT_SEND);
KTRACE_FACT(fact_ipi_receive, KTRACE_FACT_RECEIVE);

void ktrace_fact_ipi_send(struct ktrx_event *event, uint32_t cpu, uint32_t what)
{
	fact_ipi_send_record(event, KTRACE_RETURN_ADDRESS, cpu, what);
}

void ktrace_fact_ipi_receive(struct ktrx_event *event, uint32_t what)
{
	fact_ipi_receive_record(event, KTRACE_RETURN_ADDRESS, what);
}

#endif

#if KTRACE_BUILT(KTRACE_NO_mm, KTRACE_WITH_mm)

KTRACE_FACT(fact_fault_enter, KTRACE_FACT_FAULT);
KTRACE_FACT(fact_fault_exit, KTRACE_FACT_FAULT_EXIT);

void ktrace_fact_mm_fault_enter(struct ktrx_event *event, uint64_t address, uint64_t ip KTRACE_EXTRA(FAULT))
{
	fact_fault_enter_record(event, KTRACE_RETURN_ADDRESS, address, ip KTRACE_EXTRA_ARGUMENTS(FAULT));
}

void ktrace_fact_mm_fault_exit(struct ktrx_event *event, uint64_t address, const char *how)
{
	fact_fault_exit_record(event, KTRACE_RETURN_ADDRESS, address, how);
}

#endif
