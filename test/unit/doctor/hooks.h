/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Traces with mistakes in the calls of hooks: what the tests of such mistakes share. */
#ifndef TEST_DOCTOR_HOOKS_H
#define TEST_DOCTOR_HOOKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "doctor/examine.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))
#define MS	 1000000u

enum {
	SWITCH = 1,
	BLOCK,
	WAKE,
	CREATE,
	EXIT,
	IRQ,
	IRQ_END,
	CONTEND,
	ACQUIRE,
	RELEASE,
	CALL,
	RETURN,
	SWITCHED,
	REPEAT
};

static struct mistakes mistakes;
static uint64_t now;

static inline int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u32 thread,u64 queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(CREATE, "sched", "create", "u32 thread");
	script_type(EXIT, "sched", "exit", "u32 thread");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_type(IRQ_END, "irq", "exit", "u32 irq");
	script_type(CONTEND, "lock", "contend", "u64 lock,string name");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(RELEASE, "lock", "release", "u64 lock");
	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_type(REPEAT, "ktrace", "repeat", "u16 event,u64 count,u64 first,u64 last");
	script_thread(1, "idle/0");
	now = 0;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

/* Returns the timestamp for the next event. Events are one millisecond apart. */
static inline uint64_t soon(void)
{
	return now += MS;
}

static inline void switches(uint32_t cpu, uint32_t prev, uint32_t next, unsigned into)
{
	script_event(SWITCH, soon(), cpu, prev & KTRX_THREAD_MAX, V(prev), V(next), V(into));
}

static inline void blocks(uint32_t cpu, uint32_t by, uint32_t thread)
{
	script_event(BLOCK, soon(), cpu, by, V(thread), V(0x1000));
}

static inline void wakes(uint32_t cpu, uint32_t by, uint32_t thread)
{
	script_event(WAKE, soon(), cpu, by, V(thread));
}

static inline void lock(uint16_t id, uint32_t thread, uint64_t which)
{
	if (id == CONTEND)
		script_event(id, soon(), 0, thread, which, "lock");
	else
		script_event(id, soon(), 0, thread, which);
}

/* Threads 5 and 6 alternate on CPU 0. Each sleeps while the other runs. */
static inline void some_turns(unsigned turns)
{
	for (unsigned n = 0; n < turns; n++) {
		blocks(0, 5, 5);
		switches(0, 5, 6, 1);
		wakes(0, 6, 5);
		blocks(0, 6, 6);
		switches(0, 6, 5, 1);
		wakes(0, 5, 6);
	}
}

/* Checks that exactly the mistake `expected` is found, or none if it is MISTAKES. */
static inline void only(enum mistake expected)
{
	assert_int_equal(mistakes_read(&mistakes, script_trace()), 0);
	for (int mistake = 0; mistake < MISTAKES; mistake++)
		if (mistakes_made(&mistakes, (enum mistake)mistake) != (mistake == (int)expected))
			fail_msg("mistake %d, expected: %d", mistake, expected);
}

/* Checks that exactly this mistake is found, and whether it is certain. */
static inline void only_if_ordered(enum mistake expected, bool certain)
{
	only(expected);
	assert_int_equal(mistakes_are_certain(&mistakes, expected), certain);
}

/* From here on, the two CPUs of the trace have clocks that were not measured. */
static inline void clocks_are_unknown(void)
{
	script_info()->cpus = script_info()->online = 2;
}

/* In the kernel's table, thread 5 has waited since `since` for a lock that `owner` holds. */
static inline struct ktrx_holder *waits_since(uint64_t since, uint32_t owner)
{
	struct ktrx_holder *row = script_holder(5 + 1);

	*row = (struct ktrx_holder){ 6, .wait = KTRX_WAIT_SPIN, .object = 0x2000, .owner = owner };
	row->wait_stamp = since;
	return row;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
