/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests facts: one call records an event and updates the state. Recording alone and updating alone also work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define OBJECT	 ((const void *)0x1234)
#define PLACE	 0x7777u
#define SELF	 7u
#define DEADLINE 1000000u

/* A kernel may declare the same event as the library. */
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));

static int boot(void **state)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = SELF;
	fake.step = 10;
	return 0;
}

static struct ktrx_cpu *cpu(void)
{
	return &ktrace_state.cpu[fake.cpu];
}

/* Returns the entry of a thread; NULL if there is none. */
static struct ktrx_holder *thread(uint32_t number)
{
	for (uint32_t n = 0; n < FAKE_HOLDERS; n++)
		if (ktrace_state.holder[ktrace_state.cpus + n].id == number + 1)
			return &ktrace_state.holder[ktrace_state.cpus + n];
	return NULL;
}

/*
 * Checks that exactly one record was made since the last call, and that it is of event `name`. Returns this
 * record.
 */
static const struct checked_record *recorded(const char *name, uint32_t *seen)
{
	const struct checked_ring *ring = check_ring(1);

	assert_int_equal(ring->invalid, 0);
	assert_int_equal(ring->records, *seen + 1);
	*seen = ring->records;
	assert_int_equal(ring->record[*seen - 1].event, fake_event(name)->id);
	return &ring->record[*seen - 1];
}

static void assert_nothing(uint32_t seen)
{
	assert_int_equal(check_ring(1)->records, seen);
}

/* A thread goes to sleep, and no hook has reported what it waits for. */
static void a_switch_can_report_that_the_thread_sleeps(void **state)
{
	(void)state;
	ktrace_switch(0, 7, 0);
	ktrace_switch(7, 8, 1);
	assert_int_equal(thread(7)->state, KTRX_THREAD_WAITING);
	ktrace_switch(8, 7, 0);
	assert_int_equal(thread(8)->state, KTRX_THREAD_RUNNABLE);
}

static void a_switch_reads_the_clock_once_for_event_and_state(void **state)
{
	const struct checked_record *record;
	uint32_t seen = 0;
	uint64_t clock;

	(void)state;
	ktrace_switch(SELF, 8, 2);
	clock = fake.clock;
	record = recorded("sched.switch", &seen);
	assert_int_equal(payload_bits(record, 0, 4), SELF);
	assert_int_equal(payload_bits(record, 4, 4), 8);
	assert_int_equal(payload_bits(record, 8, 4), 2);
	assert_int_equal(cpu()->thread, 8);
	assert_int_equal(cpu()->switch_stamp, clock);
	ktrace_switch(8, SELF, 0);
	assert_int_equal(fake.clock, clock + fake.step);
	recorded("sched.switch", &seen);
	assert_int_equal(cpu()->switch_stamp, fake.clock);
	ktrace_switch(SELF, SELF, 0);
	assert_nothing(seen);
	assert_int_equal(thread(SELF)->state, KTRX_THREAD_RUNNING);
}

static void sleep_and_wake_facts_record_and_update_state(void **state)
{
	const struct checked_record *record;
	uint32_t seen = 0;

	(void)state;
	ktrace_block_at(OBJECT, "queue", KTRX_WAIT_EVENT, DEADLINE, PLACE);
	record = recorded("sched.block", &seen);
	assert_int_equal(payload_bits(record, 0, 8), (uintptr_t)OBJECT);
	assert_int_equal(payload_bits(record, 8, 4), SELF);
	assert_int_equal(payload_bits(record, 12, 1), KTRX_WAIT_EVENT);
	assert_int_equal(thread(SELF)->wait, KTRX_WAIT_EVENT);
	assert_int_equal(thread(SELF)->wait_pc, PLACE);
	assert_int_equal(thread(SELF)->deadline, DEADLINE);
	assert_int_equal(thread(SELF)->wait_stamp, fake.clock);
	ktrace_wake(SELF);
	assert_int_equal(check_ring(1)->records, ++seen);
	assert_int_equal(thread(SELF)->state, KTRX_THREAD_RUNNABLE);
	ktrace_thread_end(SELF);
	recorded("sched.exit", &seen);
	assert_null(thread(SELF));
	/* the hook is called again, by the thread that frees the exited thread's memory */
	ktrace_thread_end(9);
	assert_nothing(seen);
}

/* CPU 0's last clock reading, as stored at the end of the interrupt. */
static uint64_t interrupted_at;

static void interrupt(void)
{
	fake.clock += 1000;
	ktrace_interrupt_enter(3);
	interrupted_at = cpu()->now;
	ktrace_interrupt_exit(3);
}

static void call_switch(void)
{
	ktrace_switch(SELF, 8, 2);
}

static void call_block(void)
{
	ktrace_block(OBJECT, "queue", KTRX_WAIT_EVENT, 0);
}

static void call_interrupt_enter(void)
{
	ktrace_interrupt_enter(4);
}

/*
 * Interrupts a call, at each of its points in turn. After the call, the CPU's stored clock reading must not
 * be older than the reading that the interrupt stored.
 */
static void an_interrupt_in_a_call_never_sets_now_back(void **state)
{
	void (*const call[])(void) = { call_switch, call_block, call_interrupt_enter };

	for (uint32_t n = 0; n < sizeof(call) / sizeof(call[0]); n++) {
		int64_t at = 0;

		do {
			boot(state);
			interrupted_at = 0;
			fake_at(at, interrupt);
			call[n]();
			assert_true(cpu()->now >= interrupted_at);
			assert_true(cpu()->now <= fake.clock);
		} while (++at < fake_points());
		assert_true(at > 3);
	}
}

static void move(void)
{
	fake.cpu = 1;
}

/*
 * During the call, the thread migrates to a CPU whose clock shows 5000 ticks less. The new CPU must not store
 * the clock reading of the old CPU.
 */
static void a_stamp_of_one_cpu_is_not_stored_on_another_cpu(void **state)
{
	int64_t at = 0;

	do {
		boot(state);
		fake.ahead[0] = 5000;
		fake_at(at, move);
		call_block();
		assert_true(ktrace_state.cpu[1].now <= fake.clock);
	} while (++at < fake_points());
	assert_true(at > 3);
}

static void lock_facts_record_and_update_state(void **state)
{
	const struct checked_record *record;
	struct ktrx_holder *here;
	uint32_t seen = 0;

	(void)state;
	here = &ktrace_state.holder[0];
	ktrace_contend(OBJECT, "lock", KTRACE_BY_CPU, 1);
	record = recorded("lock.contend", &seen);
	assert_int_equal(payload_bits(record, 0, 8), (uintptr_t)OBJECT);
	assert_memory_equal(record->payload + 8, "\4\0lock\3\0CPU\1\0\0\0", 15);
	assert_int_equal(here->wait, KTRX_WAIT_SPIN);
	ktrace_acquire_at(OBJECT, KTRACE_BY_CPU, PLACE);
	record = recorded("lock.acquire", &seen);
	assert_int_equal(payload_bits(record, 8, 8), PLACE);
	assert_int_equal(here->held[0].pc, PLACE);
	assert_int_equal(here->wait, KTRX_WAIT_NONE);
	ktrace_release(OBJECT, KTRACE_BY_CPU);
	recorded("lock.release", &seen);
	assert_int_equal(here->held_count, 0);
	ktrace_try_acquire(OBJECT, KTRACE_BY_CPU);
	record = recorded("lock.try", &seen);
	assert_int_equal(payload_bits(record, 8, 8), here->held[0].pc);
	assert_int_equal(here->held_count, 1);
}

static void interrupt_facts_record_and_update_state(void **state)
{
	uint32_t seen = 0;

	(void)state;
	ktrace_interrupt_enter(3);
	assert_int_equal(payload_bits(recorded("irq.enter", &seen), 0, 4), 3);
	assert_int_equal(cpu()->nesting, 1);
	assert_int_equal(cpu()->irq_stamp, fake.clock);
	ktrace_nmi_enter(2);
	ktrace_nmi_exit(2);
	seen++;
	recorded("irq.exit", &seen);
	assert_int_equal(cpu()->nesting, 1);
	assert_int_equal(cpu()->irqs, 1);
	ktrace_eoi(3);
	recorded("irq.eoi", &seen);
	assert_int_equal(cpu()->eois, 1);
	ktrace_interrupt_exit(3);
	recorded("irq.exit", &seen);
	assert_int_equal(cpu()->nesting, 0);
}

static void facts_without_state_record_events_only(void **state)
{
	const struct checked_record *record;
	uint32_t seen = 0;

	(void)state;
	ktrace_ipi_send(1, 4);
	record = recorded("ipi.send", &seen);
	assert_int_equal(payload_bits(record, 0, 8), UINT64_C(4) << 32 | 1);
	ktrace_ipi_receive(4);
	recorded("ipi.receive", &seen);
	ktrace_fault_enter(0x5000, 0x6000);
	assert_int_equal(payload_bits(recorded("mm.fault_enter", &seen), 8, 8), 0x6000);
	ktrace_fault_exit(0x5000, "zero");
	assert_memory_equal(recorded("mm.fault_exit", &seen)->payload + 8, "\4\0zero", 6);
}

static void state_is_updated_while_events_are_off(void **state)
{
	(void)state;
	assert_int_equal(ktrace_control("sched=off,lock=off,irq=off"), KTRACE_OK);
	const uint32_t seen = check_ring(1)->records;

	ktrace_switch(SELF, 8, 2);
	ktrace_acquire(OBJECT, KTRACE_BY_CPU);
	ktrace_interrupt_enter(3);
	assert_nothing(seen);
	assert_int_equal(cpu()->thread, 8);
	assert_int_equal(ktrace_state.holder[0].held_count, 1);
	assert_int_equal(cpu()->nesting, 1);
	assert_int_equal(cpu()->irq_stamp, fake.clock);
}

static void events_are_recorded_while_state_is_off(void **state)
{
	uint32_t seen = 0;

	(void)state;
	assert_int_equal(ktrace_control("debug.ktr.state=0"), KTRACE_OK);
	ktrace_switch(SELF, 8, 2);
	recorded("sched.switch", &seen);
	ktrace_acquire(OBJECT, KTRACE_BY_CPU);
	recorded("lock.acquire", &seen);
	ktrace_interrupt_enter(3);
	recorded("irq.enter", &seen);
	assert_int_equal(cpu()->thread, 0);
	assert_int_equal(ktrace_state.holder[0].held_count, 0);
	assert_int_equal(cpu()->nesting, 0);
}

/*
 * State hooks never record. So if a kernel records an event of its own and also calls the hook, there is only
 * one record.
 */
static void separate_event_and_hook_record_once(void **state)
{
	uint32_t seen = 0;

	(void)state;
	KTRACE(sched, wake, SELF);
	ktrace_thread_wake(SELF);
	assert_int_equal(check_ring(1)->records, ++seen);
	ktrace_thread_switch(SELF, 8);
	ktrace_lock_acquire(OBJECT, KTRACE_BY_CPU);
	ktrace_irq_enter(3);
	assert_nothing(seen);
	assert_int_equal(cpu()->thread, 8);
	assert_int_equal(cpu()->nesting, 1);
}

/*
 * Many ports read the thread from memory of the CPU, which a kernel may not have set up before it calls
 * ktrace_init().
 */
static void the_thread_is_not_read_before_init(void **state)
{
	(void)state;
	ktrace_switch(0, SELF, 0);
	ktrace_block(OBJECT, "disk", KTRX_WAIT_EVENT, 0);
	ktrace_wake(SELF);
	ktrace_wake_nobody(OBJECT);
	ktrace_contend(OBJECT, "lock", KTRACE_BY_THREAD, SELF);
	ktrace_acquire(OBJECT, KTRACE_BY_THREAD);
	ktrace_release(OBJECT, KTRACE_BY_THREAD);
	ktrace_interrupt_enter(3);
	ktrace_interrupt_exit(3);
	ktrace_thread_name(SELF, "first");
	ktrace_thread_end(SELF);
	assert_int_equal(fake.thread_reads, 0);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	ktrace_wake(SELF);
	assert_int_not_equal(fake.thread_reads, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_switch_reads_the_clock_once_for_event_and_state, boot),
		cmocka_unit_test_setup(a_switch_can_report_that_the_thread_sleeps, boot),
		cmocka_unit_test_setup(sleep_and_wake_facts_record_and_update_state, boot),
		cmocka_unit_test_setup(an_interrupt_in_a_call_never_sets_now_back, boot),
		cmocka_unit_test_setup(a_stamp_of_one_cpu_is_not_stored_on_another_cpu, boot),
		cmocka_unit_test_setup(lock_facts_record_and_update_state, boot),
		cmocka_unit_test_setup(interrupt_facts_record_and_update_state, boot),
		cmocka_unit_test_setup(facts_without_state_record_events_only, boot),
		cmocka_unit_test_setup(state_is_updated_while_events_are_off, boot),
		cmocka_unit_test_setup(events_are_recorded_while_state_is_off, boot),
		cmocka_unit_test_setup(separate_event_and_hook_record_once, boot),
		cmocka_unit_test_setup(the_thread_is_not_read_before_init, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
