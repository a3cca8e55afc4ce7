/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/dump_support.h"

KTRACE_EVENT_V1(KTRX1_CTX_SWITCH, sched, switch, "%u -> %u", (uint32_t, prev), (uint32_t, next));
KTRACE_EVENT_V1(KTRX1_SYSCALL_ENTER, syscall, enter, "%u(%llx, %llx, %llx, %llx, %llx, %llx)", (uint16_t, nr),
		(unsigned long long, a1), (unsigned long long, a2), (unsigned long long, a3),
		(unsigned long long, a4), (unsigned long long, a5), (unsigned long long, a6));
KTRACE_EVENT(test, text, "%s", (const char *, text));

static unsigned char lent[1 << 18] __attribute__((aligned(64)));
static uint64_t scratch[8192];
static struct dump_sink collected;

int dump_trace_start(void **state)
{
	const struct ktrace_memory memory = { lent, sizeof(lent) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = 1,
		.slots = DUMP_RING_SLOTS,
		.threads = 8,
		.folds = DUMP_FOLDS,
		.counters = 1,
		.blocks = 1,
		.memory = &memory,
		.kernel = "test",
		.frequency = 1000000000,
	};

	(void)state;
	dump_trace_text("before init");
	dump_trace_syscall(59, UINT64_C(0x1122334455667788), 2);
	return ktrace_init(&config) || ktrace_cpu_online(0);
}

void dump_trace_switches(unsigned count)
{
	static uint32_t number;

	for (unsigned i = 0; i < count; i++, number++)
		KTRACE(sched, switch, number, number + 1);
}

void dump_trace_syscall(uint16_t number, uint64_t first, uint64_t second)
{
	KTRACE(syscall, enter, number, first, second, 3, 4, 5, 6);
}

void dump_trace_text(const char *text)
{
	KTRACE(test, text, text);
}

static int collect(struct ktrace_sink *sink, const void *data, size_t bytes)
{
	struct dump_sink *to = (struct dump_sink *)sink;

	if (++to->writes == to->fail_at)
		return KTRACE_OUTPUT_STALLED;
	assert_in_range(to->count + bytes, 0, sizeof(to->bytes));
	memcpy(to->bytes + to->count, data, bytes);
	to->count += bytes;
	if (to->during_write)
		to->during_write();
	return 0;
}

static int announce(struct ktrace_sink *sink, uint64_t bytes)
{
	((struct dump_sink *)sink)->announced = bytes;
	return 0;
}

struct dump_sink *dump_sink_fresh(size_t buffer_size)
{
	assert_in_range(buffer_size, 0, sizeof(scratch));
	memset(&collected, 0, sizeof(collected));
	collected.sink = (struct ktrace_sink){ collect, announce, scratch, buffer_size };
	return &collected;
}
