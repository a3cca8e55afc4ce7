/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "page.h"
#include "print.h"
#include "trace.h"

#define DEFAULT_SLOTS 16384
#define TABLE_BYTES   (64u << 10) /* rings' heads, thread names, counters */
#define THREAD_NAMES  256
#define MEMORY_SHARE  2 /* one part in so many of free memory at most */

#define BUILD_ID_NOTE_HEAD 16 /* sizes, type, the name "GNU" */

static void report(const char *what, int error)
{
	if (error < 0)
		kprintf("ktrace: %s: error %d\n", what, error);
}

static uint32_t build_id_size(void)
{
	size_t size = (uintptr_t)build_id_note_end - (uintptr_t)build_id_note;

	return size > BUILD_ID_NOTE_HEAD ? (uint32_t)(size - BUILD_ID_NOTE_HEAD) : 0;
}

void trace_init(void)
{
	unsigned count = arch_cpu_count() < CPU_MAX ? arch_cpu_count() : CPU_MAX;
	uint64_t slots = arg_number("slots", DEFAULT_SLOTS);
	size_t pages = 0;
	struct ktrace_memory memory = { 0 };
	struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = count,
		.threads = THREAD_NAMES,
		.counters = 1,
		.blocks = 1,
		.memory = &memory,
		.kernel = "ktrace demo kernel",
		.build_id = build_id_note + BUILD_ID_NOTE_HEAD,
		.build_id_size = build_id_size(),
		.frequency = arch_clock_hz(),
	};

	if (slots <= page_free_count() * PAGE_SIZE / MEMORY_SHARE / count / KTRX_SLOT_SIZE) {
		config.slots = (uint32_t)slots;
		memory.size = count * slots * KTRX_SLOT_SIZE + TABLE_BYTES;
		pages = (memory.size + PAGE_SIZE - 1) / PAGE_SIZE;
		memory.base = page_alloc(pages);
	}

	ktrace_control("lock=off"); /* an order of magnitude more events than all others together */
	report("debug=", ktrace_boot_argument(arch_boot_args()));
	report("slots=", ktrace_init(&config));
	trace_cpu_online();
}

void trace_cpu_online(void)
{
	ktrace_cpu_online(arch_this_cpu()->id);
}
