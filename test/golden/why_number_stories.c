/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of kernels that have only begun to use ktrace: CPUs record under a wrong number,
 * ktrace_init() was not called, and hardly anything is recorded.
 */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

KTRACE_EVENT(boot, hello, "from CPU %u", (uint32_t, cpu));

static void begin(uint32_t threads)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = 2,
		.slots = 512,
		.threads = threads,
		.holders = 16,
		.blocks = 1,
		.memory = &memory,
		.kernel = "new",
		.frequency = 1000000000,
	};

	fake_reset(NULL);
	at(1);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
}

/*
 * Two CPUs take two locks in opposite orders. But the library treats each CPU as CPU 0, because it was compiled
 * before the kernel had a port header.
 */
static void make_mixed_up(void)
{
	begin(0);
	fake.cpu = 0;
	fake.thread = 0;
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(1), KTRACE_ERROR_ARGUMENT);
	KTRACE(boot, hello, 0);
	KTRACE(boot, hello, 1);
	at(2);
	take(A, KTRACE_BY_CPU, PLACE);
	take(B, KTRACE_BY_CPU, PLACE + 8);
	at(3);
	ktrace_contend_at(PTR(B), "beta", KTRACE_BY_CPU, 0, PLACE + 16);
	ktrace_contend_at(PTR(A), "alpha", KTRACE_BY_CPU, 1, PLACE + 16);
	for (uint64_t ms = 10; ms <= 2000; ms += 10) {
		at(ms);
		ktrace_heartbeat(PLACE + 0x900);
	}
	save("mixed-up.ktrx");
}

/* The kernel records one event, ends, and calls no hook. */
static void make_ended_well(void)
{
	begin(0);
	fake.cpu = 0;
	fake.thread = 0;
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	KTRACE(boot, hello, 0);
	at(20);
	ktrace_thread_name(5, "red");
	ktrace_exit(0);
	save("ended-well.ktrx");
}

/* The kernel calls hooks, and puts its CPU online, but does not call ktrace_init(). */
static void make_no_init(void)
{
	fake_reset(NULL);
	at(1);
	fake.thread = 5;
	KTRACE(boot, hello, 0);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_ERROR_STATE);
	take(A, KTRACE_BY_THREAD, PLACE);
	at(20);
	ktrace_contend(PTR(B), "beta", KTRACE_BY_THREAD, 6);
	save("no-init.ktrx");
}

void make_numbers(void)
{
	make_mixed_up();
	make_ended_well();
	make_no_init();
}
