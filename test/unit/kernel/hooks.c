/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the hooks: states of CPUs, locks and waits, violations of rules, names of threads, and the effect of
 * interrupts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/hook.h"
#include "kernel/core/state.h"
#include "test/fake/machine.h"

#define LOCK(n)	 ((const void *)(uintptr_t)(0x1000 * ((n) + 1)))
#define PLACE(n) (0x77000u + (n))

static int boot(void **state)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = 7;
	return 0;
}

static struct ktrx_cpu *cpu(void)
{
	return &ktrace_state.cpu[fake.cpu];
}

static struct ktrx_holder *here(void)
{
	return &ktrace_state.holder[fake.cpu];
}

static void acquire(unsigned lock)
{
	ktrace_lock_acquire_at(LOCK(lock), KTRACE_BY_CPU, PLACE(lock));
}

static void release(unsigned lock)
{
	ktrace_lock_release_at(LOCK(lock), KTRACE_BY_CPU, PLACE(lock));
}

/* Checks that the CPU holds exactly the locks with these numbers. The list ends with a negative number. */
static void assert_held(const int *locks)
{
	uint32_t n = 0;

	for (; locks[n] >= 0; n++) {
		assert_int_equal(here()->held[n].object, (uintptr_t)LOCK(locks[n]));
		assert_int_equal(here()->held[n].pc, PLACE(locks[n]));
	}
	assert_int_equal(here()->held_count, n);
	for (; n < KTRX_HELD; n++)
		assert_int_equal(here()->held[n].object, 0);
}
#define HELD(...) assert_held((const int[]){ __VA_ARGS__, -1 })
#define HELD_NONE assert_held((const int[]){ -1 })

static void hooks_do_nothing_before_the_cpu_is_online(void **state)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config), .cpus = 2, .holders = 4, .blocks = 1, .memory = &memory
	};

	fake_reset(state);
	acquire(0);
	ktrace_irq_enter(1);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	acquire(0);
	ktrace_thread_block(LOCK(0), "x", KTRX_WAIT_EVENT, 0);
	assert_int_equal(here()->held_count, 0);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	acquire(0);
	HELD(0);
	fake.cpu = 1;
	acquire(1);
	HELD_NONE;
}

static void without_entries_cpus_are_tracked(void **state)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = { .size = sizeof(config), .blocks = 1, .memory = &memory };

	fake_reset(state);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	acquire(0);
	release(0);
	ktrace_lock_wait(LOCK(0), "x", KTRACE_BY_THREAD, 3);
	ktrace_thread_block(LOCK(0), "x", KTRX_WAIT_EVENT, 0);
	ktrace_thread_wake(3);
	ktrace_thread_switch(7, 3);
	ktrace_thread_exit(3);
	assert_int_equal(cpu()->switches, 1);
	assert_int_equal(ktrace_root.section[KTRX_SECTION_HOLDERS - 1].type, KTRX_SECTION_NONE);
}

static void entries_of_cpus_come_first(void **state)
{
	const struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_HOLDERS - 1];

	(void)state;
	assert_int_equal(section->address, (uintptr_t)ktrace_state.holder);
	assert_int_equal(section->entry_size, sizeof(struct ktrx_holder));
	assert_int_equal(section->length, (FAKE_CPUS + FAKE_HOLDERS) * sizeof(struct ktrx_holder));
	for (uint32_t n = 0; n < FAKE_CPUS; n++)
		assert_int_equal(ktrace_state.holder[n].id, KTRX_HOLDER_CPU | n);
	assert_int_equal(ktrace_state.holder[FAKE_CPUS].id, 0);
}

static void locks_are_in_the_order_of_their_acquisition(void **state)
{
	(void)state;
	acquire(0);
	acquire(1);
	acquire(2);
	HELD(0, 1, 2);
	release(1);
	HELD(0, 2);
	acquire(3);
	release(0);
	HELD(2, 3);
	release(3);
	release(2);
	HELD_NONE;
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
	assert_int_equal(cpu()->hooks, KTRX_HOOK_LOCK);
}

static void locks_without_a_place_are_counted(void **state)
{
	(void)state;
	ktrace_thread_switch(1, 7); /* from here on, it is a violation to release a lock that is not held */
	for (unsigned n = 0; n < KTRX_HELD + 2; n++)
		acquire(n);
	assert_int_equal(here()->held_count, KTRX_HELD + 2);
	assert_int_equal(here()->held[KTRX_HELD - 1].object, (uintptr_t)LOCK(KTRX_HELD - 1));
	release(0);
	release(1);
	release(2);
	assert_int_equal(here()->held_count, KTRX_HELD - 1);
	release(KTRX_HELD);
	release(KTRX_HELD + 1);
	HELD(3, 4, 5);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
	release(KTRX_HELD);
	HELD(3, 4, 5);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_RELEASE);
}

static void a_full_count_saturates(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 300; n++)
		acquire(n);
	assert_int_equal(here()->held_count, 255);
}

/* While a lock is taken or released, an interrupt takes and releases other locks, at each point in turn. */
static void interrupt_with_locks(void)
{
	acquire(10);
	acquire(11);
	ktrace_lock_wait_at(LOCK(12), "nested", KTRACE_BY_CPU, 1, PLACE(12));
	acquire(12);
	release(10);
	release(12);
	release(11);
}

static void an_interrupt_leaves_the_locks_unchanged(void **state)
{
	int64_t points = 1;

	(void)state;
	acquire(0);
	for (int64_t n = 0; n < points; n++) {
		fake_at(n, interrupt_with_locks);
		acquire(1);
		acquire(2);
		HELD(0, 1, 2);
		release(1);
		HELD(0, 2);
		release(2);
		points = fake_points();
		assert_true(points > 3);
		HELD(0);
	}
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
}

static void waits_for_locks_are_reported(void **state)
{
	(void)state;
	ktrace_lock_wait_at(LOCK(4), "a name of more than thirty-one characters", KTRACE_BY_CPU, 2, PLACE(9));
	assert_int_equal(here()->wait, KTRX_WAIT_SPIN);
	assert_int_equal(here()->object, (uintptr_t)LOCK(4));
	assert_int_equal(here()->owner, KTRX_HOLDER_CPU | 2);
	assert_int_equal(here()->wait_pc, PLACE(9));
	assert_int_equal(here()->wait_stamp, fake.clock);
	assert_int_equal(cpu()->now, fake.clock);
	assert_string_equal(here()->object_name, "a name of more than thirty-one ");
	acquire(3); /* an interrupt takes this lock */
	assert_int_equal(here()->wait, KTRX_WAIT_SPIN);
	release(3);
	acquire(4);
	assert_int_equal(here()->wait, KTRX_WAIT_NONE);
	ktrace_lock_wait(LOCK(5), NULL, KTRACE_BY_CPU, KTRACE_NOBODY);
	assert_int_equal(here()->owner, 0);
	assert_string_equal(here()->object_name, "");
	ktrace_lock_give_up(KTRACE_BY_CPU);
	assert_int_equal(here()->wait, KTRX_WAIT_NONE);
	HELD(4);
}

static void hot_hooks_do_not_read_the_clock(void **state)
{
	uint64_t before;

	(void)state;
	ktrace_heartbeat(0x5000);
	before = fake.clock;
	assert_int_equal(cpu()->now, before);
	acquire(0);
	ktrace_preempt(1);
	ktrace_interrupts(0);
	ktrace_mode(KTRX_MODE_USER);
	ktrace_space(9);
	assert_int_equal(here()->held[0].stamp, before);
	assert_int_equal(cpu()->mode_stamp, before);
	assert_int_equal(cpu()->interrupts_stamp, before);
	ktrace_interrupts(1);
	release(0);
	assert_int_equal(fake.clock, before);
	assert_int_equal(cpu()->preempt, 1);
	assert_int_equal(cpu()->space, 9);
}

static void the_first_violation_stays(void **state)
{
	(void)state;
	ktrace_thread_switch(7, 8);
	ktrace_thread_switch(8, 7);
	acquire(0);
	acquire(0);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_ACQUIRE);
	assert_int_equal(cpu()->broken_object, (uintptr_t)LOCK(0));
	assert_int_equal(cpu()->broken_pc, PLACE(0));
	assert_int_equal(cpu()->broken_thread, 7);
	ktrace_thread_switch(7, 8);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_ACQUIRE);
}

/* Some kernels change the current thread before they report the switch. */
static void a_switch_names_the_thread_that_left(void **state)
{
	(void)state;
	ktrace_thread_switch(7, 8);
	ktrace_thread_switch(8, 7);
	acquire(0);
	fake.thread = 8;
	ktrace_thread_switch(7, 8);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_SWITCH_LOCKED);
	assert_int_equal(cpu()->broken_thread, 7);
}

static void releasing_a_lock_taken_before_init_is_no_violation(void **state)
{
	(void)state;
	release(0);
	ktrace_lock_release(LOCK(1), KTRACE_BY_THREAD);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
	ktrace_thread_switch(7, 8);
	release(0);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_RELEASE);
}

static void switches_that_violate_a_rule_are_reported(void **state)
{
	(void)state;
	acquire(2);
	ktrace_thread_switch(7, 7);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
	ktrace_thread_block_at(LOCK(8), "sleep", KTRX_WAIT_TIME, 0, PLACE(8));
	ktrace_thread_switch(7, 8);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_SWITCH_LOCKED);
	assert_int_equal(cpu()->broken_object, (uintptr_t)LOCK(2));
	assert_int_equal(cpu()->broken_pc, PLACE(8));
	fake.cpu = 1;
	ktrace_preempt(2);
	ktrace_thread_switch(7, 8);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_SWITCH_PREEMPT);
	fake.cpu = 2;
	ktrace_irq_enter(1);
	ktrace_thread_switch(7, 8);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_SWITCH_INTERRUPT);
}

/* A kernel may disable preemption at the end of a thread, so that nothing interrupts its last switch. */
static void last_switch_with_preemption_disabled_is_no_violation(void **state)
{
	(void)state;
	ktrace_preempt(1);
	ktrace_thread_exit(7);
	ktrace_state_switch(7, 8, 4, 0, 0);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_NOTHING);
	ktrace_state_switch(8, 7, 1, 0, 0);
	assert_int_equal(cpu()->broken, KTRX_BROKEN_SWITCH_PREEMPT);
}

static void nested_irq(void)
{
	ktrace_irq_enter(9);
	ktrace_irq_eoi(9);
	ktrace_irq_exit(9);
}

static void nested_interrupts_are_counted(void **state)
{
	uint64_t rounds = 0;

	(void)state;
	for (int64_t n = 0; n < 12; n++, rounds++) {
		fake_at(n, nested_irq);
		ktrace_irq_enter(3);
		assert_int_equal(cpu()->nesting, 1);
		ktrace_irq_eoi(3);
		ktrace_irq_exit(3);
		rounds += fake_points() > n;
		fake_at(-1, NULL);
		assert_int_equal(cpu()->nesting, 0);
		assert_int_equal(cpu()->irqs, rounds + 1);
		assert_int_equal(cpu()->eois, rounds + 1);
	}
	ktrace_irq_exit(3);
	assert_int_equal(cpu()->nesting, 0);
	assert_int_equal(cpu()->hooks, KTRX_HOOK_IRQ | KTRX_HOOK_EOI);
}

static void waits_for_other_cpus_are_reported(void **state)
{
	(void)state;
	ktrace_ipi_wait_at(KTRX_ALL_CPUS, 5, PLACE(1));
	assert_int_equal(cpu()->ipi_cpu, KTRX_ALL_CPUS);
	assert_int_equal(cpu()->ipi_what, 5);
	assert_int_equal(cpu()->ipi_pc, PLACE(1));
	assert_int_equal(cpu()->ipi_stamp, fake.clock);
	ktrace_ipi_wait_end();
	assert_int_equal(cpu()->ipi_cpu, 0);
	ktrace_ipi_wait(0, 1);
	assert_int_equal(cpu()->ipi_cpu, 1);
	fake.cpu = 1;
	ktrace_ipi_answer();
	assert_int_equal(cpu()->ipi_answered, fake.clock);
}

static void the_place_that_first_disables_interrupts_is_reported(void **state)
{
	(void)state;
	assert_int_equal(cpu()->interrupts, KTRX_INTERRUPTS_UNKNOWN);
	ktrace_interrupts_at(0, PLACE(1));
	ktrace_interrupts_at(0, PLACE(2));
	assert_int_equal(cpu()->interrupts, KTRX_INTERRUPTS_OFF);
	assert_int_equal(cpu()->interrupts_pc, PLACE(1));
	ktrace_interrupts(1);
	assert_int_equal(cpu()->interrupts, KTRX_INTERRUPTS_ON);
	ktrace_interrupts_at(0, PLACE(2));
	assert_int_equal(cpu()->interrupts_pc, PLACE(2));
}

static void entries_and_returns_of_user_mode_are_counted(void **state)
{
	static const uint8_t modes[] = { KTRX_MODE_KERNEL, KTRX_MODE_USER, KTRX_MODE_USER, KTRX_MODE_KERNEL,
					 KTRX_MODE_IDLE,   KTRX_MODE_USER, KTRX_MODE_IDLE };

	(void)state;
	for (size_t n = 0; n < sizeof(modes); n++)
		ktrace_mode(modes[n]);
	assert_int_equal(cpu()->user_exits, 2);
	assert_int_equal(cpu()->user_enters, 2);
}

static void heartbeats_leave_samples(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < KTRX_SAMPLES + 2; n++)
		ktrace_heartbeat(0x100 + n);
	assert_int_equal(cpu()->heartbeats, KTRX_SAMPLES + 2);
	assert_int_equal(cpu()->sample[(cpu()->heartbeats - 1) % KTRX_SAMPLES], 0x100 + KTRX_SAMPLES + 1);
	assert_int_equal(cpu()->sample[2], 0x102);
}

static void the_setting_turns_all_hooks_off_until_reboot(void **state)
{
	(void)state;
	acquire(0);
	ktrace_interrupts(0);
	ktrace_irq_enter(1);
	assert_int_equal(ktrace_setting_set("debug.ktr.state=0"), KTRACE_OK);
	assert_int_equal(cpu()->hooks, 0);
	assert_int_equal(cpu()->interrupts, KTRX_INTERRUPTS_UNKNOWN);
	release(0);
	ktrace_irq_exit(1);
	HELD(0);
	assert_int_equal(ktrace_setting_set("debug.ktr.state=1"), KTRACE_OK);
	assert_int_equal(ktrace_state.state, 0);
	acquire(1);
	HELD(0);
	assert_int_equal(cpu()->hooks, 0);
	/* as if a hook that was called on another CPU had stored this value late */
	cpu()->hooks = KTRX_HOOK_LOCK;
	cpu()->interrupts = KTRX_INTERRUPTS_OFF;
	ktrace_heartbeat(1);
	assert_int_equal(cpu()->heartbeats, 1);
	assert_int_equal(cpu()->hooks, 0);
	assert_int_equal(cpu()->interrupts, KTRX_INTERRUPTS_UNKNOWN);
}

static void a_boot_argument_turns_the_state_off(void **state)
{
	fake_reset(state);
	assert_int_equal(ktrace_boot_argument("quiet debug.ktr.state=0"), KTRACE_OK);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	acquire(0);
	HELD_NONE;
}

/* A thread keeps its name in the table, although many other threads get a name later. */
static void threads_that_live_keep_their_names(void **state)
{
	(void)state;
	for (uint32_t thread = 1; thread <= 4; thread++)
		ktrace_thread_name(thread, "old");
	ktrace_thread_wake(1);
	ktrace_thread_wake(3);
	for (uint32_t thread = 5; thread < 20; thread++)
		ktrace_thread_name(thread, "short-lived");
	assert_int_equal(ktrace_state.thread[0].id, 1 + 1);
	assert_int_equal(ktrace_state.thread[1].id, 19 + 1);
	assert_int_equal(ktrace_state.thread[2].id, 3 + 1);
	assert_int_equal(ktrace_state.thread[3].id, 18 + 1);
	ktrace_thread_exit(3);
	ktrace_thread_name(20, "newest");
	ktrace_thread_name(21, "newest");
	ktrace_thread_name(22, "newest");
	assert_int_not_equal(ktrace_state.thread[2].id, 3 + 1);
}

static void the_oldest_name_is_replaced_in_a_full_table(void **state)
{
	(void)state;
	for (uint32_t thread = 1; thread <= 4; thread++) {
		ktrace_thread_name(thread, "old");
		ktrace_thread_wake(thread);
	}
	assert_int_equal(ktrace_thread_name(5, "new"), KTRACE_OK);
	assert_int_equal(ktrace_state.thread[0].id, 5 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hooks_do_nothing_before_the_cpu_is_online),
		cmocka_unit_test(without_entries_cpus_are_tracked),
		cmocka_unit_test_setup(entries_of_cpus_come_first, boot),
		cmocka_unit_test_setup(locks_are_in_the_order_of_their_acquisition, boot),
		cmocka_unit_test_setup(locks_without_a_place_are_counted, boot),
		cmocka_unit_test_setup(a_full_count_saturates, boot),
		cmocka_unit_test_setup(an_interrupt_leaves_the_locks_unchanged, boot),
		cmocka_unit_test_setup(waits_for_locks_are_reported, boot),
		cmocka_unit_test_setup(hot_hooks_do_not_read_the_clock, boot),
		cmocka_unit_test_setup(the_first_violation_stays, boot),
		cmocka_unit_test_setup(a_switch_names_the_thread_that_left, boot),
		cmocka_unit_test_setup(releasing_a_lock_taken_before_init_is_no_violation, boot),
		cmocka_unit_test_setup(switches_that_violate_a_rule_are_reported, boot),
		cmocka_unit_test_setup(last_switch_with_preemption_disabled_is_no_violation, boot),
		cmocka_unit_test_setup(nested_interrupts_are_counted, boot),
		cmocka_unit_test_setup(waits_for_other_cpus_are_reported, boot),
		cmocka_unit_test_setup(the_place_that_first_disables_interrupts_is_reported, boot),
		cmocka_unit_test_setup(entries_and_returns_of_user_mode_are_counted, boot),
		cmocka_unit_test_setup(heartbeats_leave_samples, boot),
		cmocka_unit_test_setup(threads_that_live_keep_their_names, boot),
		cmocka_unit_test_setup(the_oldest_name_is_replaced_in_a_full_table, boot),
		cmocka_unit_test_setup(the_setting_turns_all_hooks_off_until_reboot, boot),
		cmocka_unit_test(a_boot_argument_turns_the_state_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
