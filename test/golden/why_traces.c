/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * why-traces FOLDER: traces of small stories, told by the kernel's own library on the machine that is a few variables.
 * Addresses and stamps are made up, so that what `ktrace why` says of them is the same everywhere.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/dump.h"
#include "ktrace/hooks.h"
#include "test/fake/machine.h"

KTRACE_EVENT(sched, switch, "%u -> %u", (uint32_t, prev), (uint32_t, next));
KTRACE_EVENT(sched, block, "for %p", (const void *, queue));
KTRACE_EVENT(lock, acquire, "%p %s by %p", (const void *, lock), (const char *, name), (const void *, place));
KTRACE_EVENT(lock, contend, "%p %s", (const void *, lock), (const char *, name));
KTRACE_EVENT(lock, release, "%p", (const void *, lock));

#define PTR(n) ((const void *)(uintptr_t)(n))
#define A      0xa000u
#define B      0xb000u
#define C      0xc000u
#define PLACE  0x77000u
#define MS     UINT64_C(1000000)
#define IDLE   1u /* and on: of each CPU */

static const char *folder;
static uint64_t buffer[1024];

struct file_sink {
	struct ktrace_sink sink;
	int fd;
};

static int write_file(struct ktrace_sink *sink, const void *data, size_t bytes)
{
	return write(((struct file_sink *)sink)->fd, data, bytes) == (ssize_t)bytes ? 0
										    : KTRACE_OUTPUT_FAILED;
}

static void save(const char *name)
{
	struct file_sink to = { { write_file, NULL, buffer, sizeof(buffer) }, -1 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(to.fd >= 0);
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &to.sink), 0);
	assert_int_equal(close(to.fd), 0);
}

static void at(uint64_t ms)
{
	fake.clock = ms * MS;
}

static uint32_t running[KTRACE_MAX_CPUS];

static void switch_to(uint32_t cpu, uint32_t thread)
{
	uint32_t previous = running[cpu];

	fake.cpu = cpu;
	KTRACE(sched, switch, previous, thread);
	ktrace_thread_switch(previous, thread);
	running[cpu] = fake.thread = thread;
}

/* Clocks that are apart, and what the kernel would have measured of them. */
static void set_clocks_apart(void)
{
	struct ktrx_clock *row = NULL;

	for (uint32_t n = 0; n < KTRX_SECTIONS; n++)
		if (ktrace_root.section[n].type == KTRX_SECTION_CLOCKS)
			row = (struct ktrx_clock *)(uintptr_t)ktrace_root.section[n].address;
	assert_non_null(row);
	for (uint32_t n = 1; n < FAKE_CPUS; n++) {
		fake.ahead[n] = n * 5000 * MS;
		row[n].sample[0] = (struct ktrx_clock_sample){ .stamp = fake.clock + fake.ahead[n],
							       .offset = -(int64_t)fake.ahead[n] };
		row[n].sample[0].check = ktrx_clock_check(&row[n].sample[0]);
		row[n].samples = 1;
		row[n].measured = 1;
	}
}

static void boot_with(void (*prepare)(void))
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = FAKE_CPUS,
		.slots = 512,
		.threads = 16,
		.holders = 16,
		.blocks = 1,
		.clocks = KTRACE_CLOCKS_ASKED,
		.memory = &memory,
		.kernel = "story",
		.frequency = 1000000000,
	};
	static const char *const names[] = { "idle/0", "idle/1", "idle/2", NULL,
					     "red",    "green",	 "blue",   "grey" };

	fake_reset(NULL);
	memset(running, 0, sizeof(running));
	memset(fake_memory, 0, sizeof(fake_memory));
	at(1);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	if (prepare)
		prepare();
	for (uint32_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (names[n])
			ktrace_thread_name(n + IDLE, names[n]);
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++) {
		assert_int_equal(ktrace_cpu_online(fake.cpu), KTRACE_OK);
		switch_to(fake.cpu, IDLE + fake.cpu);
		ktrace_mode(KTRX_MODE_IDLE);
	}
}

static void boot(void)
{
	boot_with(NULL);
}

/* All hearts beat until then, every 10 ms. */
static void go_on_to(uint64_t ms)
{
	for (uint64_t now = fake.clock / MS + 10; now <= ms; now += 10) {
		at(now);
		for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
			ktrace_heartbeat(PLACE + 0x900);
	}
}

static void take(uintptr_t lock, uint32_t by, uintptr_t place)
{
	KTRACE(lock, acquire, PTR(lock), lock == A ? "alpha" : lock == B ? "beta" : "gamma", PTR(place));
	ktrace_lock_acquire_at(PTR(lock), by, place);
}

static void give(uintptr_t lock, uint32_t by)
{
	KTRACE(lock, release, PTR(lock));
	ktrace_lock_release_at(PTR(lock), by, PLACE);
}

static void sleep_for(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place)
{
	KTRACE(lock, contend, PTR(lock), name);
	ktrace_lock_wait_at(PTR(lock), name, KTRACE_BY_THREAD, owner, place);
	KTRACE(sched, block, PTR(lock));
	ktrace_thread_block_at(PTR(lock), name, KTRX_WAIT_LOCK, 0, place);
	switch_to(fake.cpu, IDLE + fake.cpu);
	ktrace_mode(KTRX_MODE_IDLE);
}

/* It waits for more to do. */
static void rest(void)
{
	KTRACE(sched, block, PTR(PLACE));
	ktrace_thread_block_at(PTR(PLACE), "work", KTRX_WAIT_EVENT, 0, PLACE + 0x30);
	switch_to(fake.cpu, IDLE + fake.cpu);
	ktrace_mode(KTRX_MODE_IDLE);
}

static void run(uint32_t cpu, uint32_t thread, uint64_t ms)
{
	at(ms);
	switch_to(cpu, thread);
	ktrace_mode(KTRX_MODE_KERNEL);
}

/* Three threads, three mutexes, and one that waits for the first. */
static void tell_deadlock(void)
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

/* A handler spins for what the interrupted thread's CPU holds. */
static void tell_self_deadlock(void)
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

/* CPU 0 has a lock and waits for CPU 1's answer, which waits for the lock with interrupts off. */
static void tell_ipi_deadlock(const char *name, void (*prepare)(void))
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

static void take_both(uintptr_t first, uintptr_t then, uintptr_t place)
{
	take(first, KTRACE_BY_THREAD, place);
	take(then, KTRACE_BY_THREAD, place + 1);
	give(then, KTRACE_BY_THREAD);
	give(first, KTRACE_BY_THREAD);
}

/* One after the other, in both orders; in two more traces one order each, and in one both under a third lock. */
static void tell_lock_order(void)
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

/* Thread 7 is urgent and waits for 5's lock; 6 has the CPU. */
static void tell_inversion(void)
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

/* Rows that no kernel writes. */
static void tell_lies(void)
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

static void tell_all(void **state)
{
	(void)state;
	tell_deadlock();
	tell_self_deadlock();
	tell_ipi_deadlock("ipi-deadlock.ktrx", NULL);
	tell_ipi_deadlock("clocks-apart.ktrx", set_clocks_apart);
	tell_lock_order();
	tell_inversion();
	tell_lies();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tell_all) };

	if (argc != 2)
		return 2;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
