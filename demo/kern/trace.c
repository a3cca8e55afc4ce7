/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/console.h>
#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "ipi.h"
#include "page.h"
#include "print.h"
#include "syscall.h"
#include "trace.h"

#define DEFAULT_SLOTS 16384
/*
 * Size in bytes of the memory for tables: names of threads, states of threads, counters, and repeated events.
 */
#define TABLE_BYTES (192u << 10)
#define KEEP_BYTES  (128u << 10) /* size in bytes of the memory for copies that must survive a reset */
#define THREADS	    256		 /* maximum number of threads in ktrace's tables */
#define RARE_LEAST  512
/* The number of additional slots for rare events is the number of a ring's slots, divided by RARE_PART. */
#define RARE_PART 16
#define FOLDS	  4

#define BUILD_ID_NOTE_HEAD 16 /* number of bytes in the note before the id: sizes, type, and the name "GNU" */

/* Settings that consist of a single bit. Only tests use them. */
static uint32_t bits32;
static uint64_t bits64;
KTRACE_SETTING_BIT32("debug.b32_0", bits32, 0);
KTRACE_SETTING_BIT32("debug.b32_31", bits32, 31);
KTRACE_SETTING_BIT64("debug.b64_0", bits64, 0);
KTRACE_SETTING_BIT64("debug.b64_63", bits64, 63);

static uint32_t build_id_size(void)
{
	size_t size = (uintptr_t)build_id_note_end - (uintptr_t)build_id_note;

	return size > BUILD_ID_NOTE_HEAD ? (uint32_t)(size - BUILD_ID_NOTE_HEAD) : 0;
}

static uint64_t rare_slots(uint64_t slots)
{
	return slots / RARE_PART < RARE_LEAST ? RARE_LEAST : slots / RARE_PART;
}

/*
 * Allocates the memory for all rings and tables of this boot, and the same amount for each earlier boot that
 * is kept. If all that would be more than half of the free memory, allocates nothing and returns a size of 0.
 */
static struct ktrace_memory allocate_memory(uint64_t rings, uint64_t slots, uint32_t keep)
{
	struct ktrace_memory memory = { 0 };
	size_t pages;

	if (slots > page_free_count() * PAGE_SIZE / 2 / KTRX_SLOT_SIZE / rings / (keep + 1))
		return memory;
	pages = ((rings * slots + rare_slots(slots)) * KTRX_SLOT_SIZE + TABLE_BYTES +
		 (keep ? KEEP_BYTES : 0) + PAGE_SIZE - 1) /
		PAGE_SIZE * (keep + 1);
	memory.base = keep ? page_reserve(pages) : page_alloc(pages);
	memory.size = memory.base ? pages * PAGE_SIZE : 0;
	return memory;
}

/*
 * Returns the number given by the boot argument keep=, but 0 if the library does not support so many boots.
 */
static uint32_t boots_to_keep(void)
{
	uint64_t keep = arg_number("keep", 0);

	if (keep <= KTRACE_KEEP_MAX)
		return (uint32_t)keep;
	kprintf("keep=%lu: no boot is kept; the maximum is %u\n", keep, KTRACE_KEEP_MAX);
	return 0;
}

static void interrupt_for_clock(uint32_t cpu)
{
	ipi_send(&cpus[cpu], IPI_CLOCK);
}

static void console_sink_write(const struct ktrace_console *unused, const char *text, size_t bytes)
{
	(void)unused;
	console_write_nested(text, bytes);
}

static void print_refusal(void *console, int error)
{
	kprintf("boot arguments: ");
	ktrace_console_refusal(console, error);
}

void trace_init(void)
{
	static struct ktrace_console console_sink = { .write = console_sink_write };
	unsigned count = arch_cpu_count() < CPU_MAX ? arch_cpu_count() : CPU_MAX;
	uint64_t slots = arg_number("slots", DEFAULT_SLOTS);
	uint32_t keep = boots_to_keep();
	struct ktrace_memory memory = allocate_memory(count, slots, keep);
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = count,
		.slots = (uint32_t)slots,
		.threads = THREADS,
		.holders = THREADS,
		.counters = 1,
		.blocks = 1,
		.memory = &memory,
		.build_id = build_id_note + BUILD_ID_NOTE_HEAD,
		.build_id_size = build_id_size(),
		.kernel = "ktrace demo kernel",
		.frequency = arch_clock_hz(),
		.syscalls = syscall_table_text,
		.clocks = KTRACE_CLOCKS_ASKED,
		.interrupt = interrupt_for_clock,
		.folds = FOLDS,
		.rare_slots = (uint32_t)rare_slots(slots),
		.keep = keep,
	};
	int error;

	ktrace_console_set(&console_sink);
	/* Events of locks are off, because they are ten times as frequent as all other events together. */
	ktrace_control("lock=off,lock.fail=on,ktrace.panic=callers2");
	ktrace_boot_arguments(arch_boot_args(), print_refusal, &console_sink);

	error = ktrace_init(&config);
	if (error == KTRACE_ERROR_MEMORY)
		kprintf("slots=%lu keep=%u: not enough memory\n", slots, keep);
	else if (error < 0)
		kprintf("slots=%lu: must be a power of two, at least 512\n", slots);
	if (error < 0 && memory.base)
		page_free(memory.base, memory.size / PAGE_SIZE);
	trace_cpu_online();
	ktrace_probe_cost();
}

void trace_cpu_online(void)
{
	ktrace_cpu_online(arch_this_cpu()->id);
}
