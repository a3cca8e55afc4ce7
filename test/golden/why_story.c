/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "test/golden/why_story.h"

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
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));
KTRACE_EVENT(sched, exit, "%u", (uint32_t, thread));
KTRACE_EVENT(lock, acquire, "%p %s at %p", (const void *, lock), (const char *, name), (const void *, place));
KTRACE_EVENT(lock, try, "%p %s at %p", (const void *, lock), (const char *, name), (const void *, place));
KTRACE_EVENT(lock, contend, "%p %s", (const void *, lock), (const char *, name));
KTRACE_EVENT(lock, release, "%p", (const void *, lock));

const char *story_folder;
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

void save(const char *name)
{
	struct file_sink to = { { write_file, NULL, buffer, sizeof(buffer) }, -1 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", story_folder, name);
	to.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(to.fd >= 0);
	assert_int_equal(ktrace_dump_v2(&ktrace_root, &to.sink), 0);
	assert_int_equal(close(to.fd), 0);
}

void at(uint64_t ms)
{
	fake.clock = ms * MS;
}

static uint32_t running[KTRACE_MAX_CPUS];

void switch_to(uint32_t cpu, uint32_t thread)
{
	uint32_t previous = running[cpu];

	fake.cpu = cpu;
	KTRACE(sched, switch, previous, thread);
	ktrace_thread_switch(previous, thread);
	running[cpu] = fake.thread = thread;
}

void boot_with(void (*prepare)(void))
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

void boot(void)
{
	boot_with(NULL);
}

void go_on_to(uint64_t ms)
{
	for (uint64_t now = fake.clock / MS + 10; now <= ms; now += 10) {
		at(now);
		for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
			ktrace_heartbeat(PLACE + 0x900);
	}
}

static const char *name_of(uintptr_t lock)
{
	return lock == A ? "alpha" : lock == B ? "beta" : "gamma";
}

void take(uintptr_t lock, uint32_t by, uintptr_t place)
{
	KTRACE(lock, acquire, PTR(lock), name_of(lock), PTR(place));
	ktrace_lock_acquire_at(PTR(lock), by, place);
}

void take_by_try(uintptr_t lock, uint32_t by, uintptr_t place)
{
	KTRACE(lock, try, PTR(lock), name_of(lock), PTR(place));
	ktrace_lock_acquire_at(PTR(lock), by, place);
}

void give(uintptr_t lock, uint32_t by)
{
	KTRACE(lock, release, PTR(lock));
	ktrace_lock_release_at(PTR(lock), by, PLACE);
}

void contend(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place)
{
	KTRACE(lock, contend, PTR(lock), name);
	ktrace_lock_wait_at(PTR(lock), name, KTRACE_BY_THREAD, owner, place);
}

void announce_wait(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place)
{
	contend(lock, name, owner, place);
	KTRACE(sched, block, PTR(lock));
	ktrace_thread_block_at(PTR(lock), name, KTRX_WAIT_LOCK, 0, place);
}

static void go_idle(void)
{
	switch_to(fake.cpu, IDLE + fake.cpu);
	ktrace_mode(KTRX_MODE_IDLE);
}

void sleep_for(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place)
{
	announce_wait(lock, name, owner, place);
	go_idle();
}

void announce_sleep(uintptr_t queue, const char *name, uint32_t kind, uint64_t until_ms)
{
	KTRACE(sched, block, PTR(queue));
	ktrace_thread_block_at(PTR(queue), name, kind, until_ms * MS, PLACE + 0x30);
}

void sleep_on(uintptr_t queue, const char *name, uint32_t kind, uint64_t until_ms)
{
	announce_sleep(queue, name, kind, until_ms);
	go_idle();
}

void rest(void)
{
	sleep_on(PLACE, "work", KTRX_WAIT_EVENT, 0);
}

void announce_end(void)
{
	KTRACE(sched, exit, fake.thread);
	ktrace_thread_exit(fake.thread);
}

void end(void)
{
	announce_end();
	go_idle();
}

void wake(uint32_t thread)
{
	KTRACE(sched, wake, thread);
	ktrace_thread_wake(thread);
}

void run(uint32_t cpu, uint32_t thread, uint64_t ms)
{
	at(ms);
	switch_to(cpu, thread);
	ktrace_mode(KTRX_MODE_KERNEL);
}
