/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * why-traces DIRECTORY: makes traces of short stories with the kernel library on a fake machine, which
 * consists of a few variables. Addresses and timestamps are invented, so the output of `ktrace why` is the
 * same everywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_stories.h"
#include "test/golden/why_story.h"

/*
 * Gives the CPUs different clocks, and stores the measurements of these clocks that a kernel would
 * make.
 */
static void set_clocks_apart(void)
{
	struct ktrx_clock *clock = NULL;

	for (uint32_t n = 0; n < KTRX_SECTIONS; n++)
		if (ktrace_root.section[n].type == KTRX_SECTION_CLOCKS)
			clock = (struct ktrx_clock *)(uintptr_t)ktrace_root.section[n].address;
	assert_non_null(clock);
	for (uint32_t n = 1; n < FAKE_CPUS; n++) {
		fake.ahead[n] = n * 5000 * MS;
		clock[n].sample[0] = (struct ktrx_clock_sample){ .stamp = fake.clock + fake.ahead[n],
								 .offset = -(int64_t)fake.ahead[n] };
		clock[n].sample[0].check = ktrx_clock_check(&clock[n].sample[0]);
		clock[n].samples = 1;
		clock[n].measured = 1;
	}
}

/* Three threads hold a mutex each and wait for the next one; a fourth thread waits for the first mutex. */
static void make_deadlock(void)
{
	boot();
	for (uint32_t n = 0; n < 3; n++) {
		run(n, 5 + n, 20 + n);
		take(A + 0x1000 * n, KTRACE_BY_THREAD, PLACE + n);
	}
	for (uint32_t n = 0; n < 3; n++) {
		static const char *const names[] = { "beta", "gamma", "alpha" };

		fake.cpu = n;
		fake.thread = 5 + n;
		at(30 + n);
		sleep_for(A + 0x1000 * ((n + 1) % 3), names[n], 5 + (n + 1) % 3, PLACE + 0x10 + n);
	}
	run(0, 8, 40);
	sleep_for(A, "alpha", 5, PLACE + 0x20);
	go_on_to(2040);
	save("deadlock.ktrx");
}

/* An interrupt handler spins for a lock. The interrupted thread took this lock on the same CPU. */
static void make_self_deadlock(void)
{
	boot();
	run(1, 5, 20);
	take(A, KTRACE_BY_CPU, PLACE);
	at(25);
	ktrace_irq_enter(33);
	ktrace_lock_wait_at(PTR(A), "alpha", KTRACE_BY_CPU, 1, PLACE + 0x10);
	at(30);
	for (uint64_t ms = 40; ms <= 1040; ms += 10) {
		at(ms);
		fake.cpu = 0;
		ktrace_heartbeat(PLACE + 0x900);
	}
	save("self-deadlock.ktrx");
}

/*
 * A thread took a lock and went to sleep without releasing it. This broken rule is not recorded: only the
 * first broken rule of a CPU is recorded, and another one came first. The next thread on that CPU waits for
 * the lock.
 */
static void make_asleep_with_lock(void)
{
	boot();
	run(1, 5, 20);
	ktrace_lock_release_at(PTR(B), KTRACE_BY_CPU, PLACE + 0x5);
	at(25);
	take(A, KTRACE_BY_CPU, PLACE);
	rest();
	run(1, 6, 30);
	ktrace_interrupts_at(0, PLACE + 0x11);
	ktrace_lock_wait_at(PTR(A), "alpha", KTRACE_BY_CPU, 1, PLACE + 0x10);
	for (uint64_t ms = 40; ms <= 1040; ms += 10) {
		at(ms);
		fake.cpu = 0;
		ktrace_heartbeat(PLACE + 0x900);
	}
	save("asleep-with-lock.ktrx");
}

/*
 * CPU 0 holds a lock and waits until CPU 1 answers an interrupt. CPU 1 waits for the lock with interrupts
 * off.
 */
static void make_ipi_deadlock(const char *name, void (*prepare)(void))
{
	boot_with(prepare);
	run(0, 5, 20);
	take(A, KTRACE_BY_CPU, PLACE);
	run(1, 6, 21);
	ktrace_interrupts_at(0, PLACE + 0x20);
	ktrace_lock_wait_at(PTR(A), "alpha", KTRACE_BY_CPU, 0, PLACE + 0x21);
	fake.cpu = 0;
	fake.thread = 5;
	at(22);
	ktrace_ipi_wait_at(1, 2, PLACE + 0x1);
	for (uint64_t ms = 40; ms <= 540; ms += 10) {
		at(ms);
		fake.cpu = 2;
		ktrace_heartbeat(PLACE + 0x900);
	}
	save(name);
}

/*
 * A thread ends while it holds a mutex. Two other threads wait for the mutex: one thread begins to wait
 * before the owner's end, and the other thread after the owner's end.
 */
static void make_dead_owner(void)
{
	boot();
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	run(1, 6, 25);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	fake.cpu = 0;
	fake.thread = 5;
	at(30);
	end();
	run(1, 7, 100);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	go_on_to(2040);
	save("dead-owner.ktrx");
}

static void take_both(uintptr_t first, uintptr_t then, uintptr_t place)
{
	take(first, KTRACE_BY_THREAD, place);
	take(then, KTRACE_BY_THREAD, place + 1);
	give(then, KTRACE_BY_THREAD);
	give(first, KTRACE_BY_THREAD);
}

/*
 * Makes four traces. In the first one, two locks are taken in both orders. The second and the third trace
 * have one of the orders each. In the fourth one, both orders occur, but always while a third lock is held.
 */
static void make_lock_order(void)
{
	boot();
	run(0, 5, 20);
	take_both(A, B, PLACE);
	rest();
	run(1, 6, 30);
	take_both(B, A, PLACE + 0x10);
	rest();
	go_on_to(1030);
	save("order.ktrx");

	boot();
	run(0, 5, 20);
	take_both(A, B, PLACE);
	rest();
	go_on_to(1030);
	save("forward.ktrx");

	boot();
	run(1, 6, 20);
	take_both(B, A, PLACE + 0x10);
	rest();
	go_on_to(1030);
	save("backward.ktrx");

	boot();
	run(0, 5, 20);
	take(C, KTRACE_BY_THREAD, PLACE);
	take_both(A, B, PLACE);
	give(C, KTRACE_BY_THREAD);
	rest();
	run(1, 6, 30);
	take(C, KTRACE_BY_THREAD, PLACE);
	take_both(B, A, PLACE + 0x10);
	give(C, KTRACE_BY_THREAD);
	rest();
	go_on_to(1030);
	save("guarded.ktrx");
}

/*
 * Thread 7 has the highest priority and waits for a lock that thread 5 holds. Thread 6 runs on the CPU of
 * thread 5.
 */
static void make_inversion(void)
{
	boot();
	run(0, 5, 20);
	ktrace_thread_priority(5, 10);
	take(A, KTRACE_BY_THREAD, PLACE);
	run(1, 7, 22);
	ktrace_thread_priority(7, 30);
	sleep_for(A, "alpha", 5, PLACE + 0x10);
	run(0, 6, 23);
	ktrace_thread_priority(6, 20);
	go_on_to(1030);
	save("inversion.ktrx");
}

/* Makes a trace whose tables of state have entries that no kernel writes. */
static void make_lies(void)
{
	boot();
	ktrace_thread_name(9, "\033]0;gotcha\007\n");
	for (uint32_t n = 0; n < FAKE_CPUS; n++) {
		struct ktrx_holder *holder = &ktrace_state.holder[n];

		memset(&ktrace_state.cpu[n], 0xff, sizeof(ktrace_state.cpu[n]));
		memset(holder, 0xff, sizeof(*holder));
		holder->id = KTRX_HOLDER_CPU | n;
		holder->wait = KTRX_WAIT_SPIN;
	}
	for (uint32_t n = 0; n < 16; n++) {
		struct ktrx_holder *holder = &ktrace_state.holder[FAKE_CPUS + n];

		memset(holder, 0x1b, sizeof(*holder));
		holder->id = n % 4 == 3 ? UINT32_MAX : 9 + n % 2;
		holder->wait = (uint8_t)(n % 8);
		holder->state = (uint8_t)(n % 5);
		holder->owner = holder->id;
		holder->cpu = n % 3 ? n : UINT32_MAX;
		holder->deadline = 0;
	}
	save("lies.ktrx");
}

static void make_all(void **state)
{
	(void)state;
	make_deadlock();
	make_self_deadlock();
	make_asleep_with_lock();
	make_ipi_deadlock("ipi-deadlock.ktrx", NULL);
	make_ipi_deadlock("clocks-apart.ktrx", set_clocks_apart);
	make_dead_owner();
	make_lock_order();
	make_inversion();
	make_lies();
	make_worst();
	make_yields();
	make_retries();
	make_timeouts();
	make_answers();
	make_crowds();
	make_overdue();
	make_numbers();
	make_runnable();
	make_states();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(make_all) };

	if (argc != 2)
		return 2;
	story_folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
