/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes records to the console as they are made. The core calls this code in the context of the event, after
 * it has written the record. If an event fires while the same thread writes to the console in the same
 * context, the write has probably caused the event. Such an event is recorded, but not written to the
 * console. An interrupt during the write has a context of its own.
 *
 * One event of the thread is an exception: the switch away from it when the kernel preempts it during the
 * write. The write has not caused that event, so it is written.
 */
#include "ktrace/console.h"

#include "ktrace/clock.h"
#include "ktrace/settings.h"

#include "../core/core.h"
#include "../core/state.h"
#include "line.h"

enum { LEVEL_TEXT = 1, LEVEL_ALL = 2 }; /* values of debug.ktr.verbose */

KTRACE_SETTING_RANGE("debug.ktr.verbose", ktrace_state.verbose, 0, LEVEL_ALL);

static const struct ktrace_console *kernels; /* the kernel's console, as set by ktrace_console_set() */

/* Bits of an entry of writer[] above those of ktrace_arch_thread(). */
enum {
	IS_WRITING = 1 << 28,
	WRITES_SWITCH = 1 << 29, /* the event that the thread writes is a switch */
};

/*
 * [CPU][context]: the thread that was the last to start a write there; 0 if a write has ended there since.
 * An entry never names a thread that does not write. It may be 0 although a preempted thread has not finished
 * its write: then events that this write causes later are written, but events that the write of such an event
 * causes are not. So each preemption adds at most one level of recursion.
 * CPUs with a number of KTRACE_MAX_CPUS or more share the last row.
 */
static uint32_t writer[KTRACE_MAX_CPUS + 1][KTRX_CONTEXT_EARLY + 1];

/* A console that wraps the kernel's console and detects recursion. */
struct watched {
	/* must be the first member, because a pointer to it is cast to a pointer to this structure */
	struct ktrace_console console;
	const struct ktrace_console *kernels;
	uint32_t *writer;
	uint32_t self; /* the value of *writer while this write lasts */
};

/*
 * Returns whether the thread `self` writes to the console already. A switch is written although its thread
 * already writes another event, because then the thread was preempted during that write.
 */
static int is_recursion(uint32_t self, uint32_t writes)
{
	return writes == self || writes == (self | WRITES_SWITCH);
}

static void watched_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	const struct watched *watched = (const struct watched *)console;

	if (is_recursion(watched->self, __atomic_load_n(watched->writer, __ATOMIC_RELAXED)))
		return;
	__atomic_store_n(watched->writer, watched->self, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	watched->kernels->write(watched->kernels, text, bytes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(watched->writer, 0, __ATOMIC_RELAXED);
}

static void put(struct ktrace_line *line, const struct ktrace_console_record *record)
{
	const struct ktrx_event *event = record->event;

	if (ktrace_state.verbose >= LEVEL_ALL) {
		ktrace_line_text(line, "cpu");
		ktrace_line_decimal(line, record->cpu);
		ktrace_line_put(line, ' ');
		ktrace_format_origin(line, event, record->place,
				     record->stamp + (uint64_t)ktrace_clock_offset(record->cpu));
	}
	ktrace_format_name(line, event, event->id);
	ktrace_line_text(line, "  ");
	ktrace_format_payload(line, event, (const uint8_t *)record->payload, record->bytes);
	ktrace_line_put(line, '\n');
	ktrace_line_flush(line);
}

/* Kernels record this event with ktrace_switch() or declare an event of this name. */
static int is_switch(const struct ktrx_event *event)
{
	return ktrace_span_is(ktrace_span_of("sched"), ktrace_event_group(event)) &&
	       ktrace_span_is(ktrace_span_of("switch"), ktrace_event_name(event));
}

static void print_record(const struct ktrace_console_record *record)
{
	struct watched watched;
	struct ktrace_line line;

	watched.writer = &writer[record->cpu < KTRACE_MAX_CPUS ? record->cpu : KTRACE_MAX_CPUS]
				[KTRX_W1_CONTEXT(record->thread)];
	watched.self = record->thread | IS_WRITING;
	if (is_switch(record->event))
		watched.self |= WRITES_SWITCH;
	watched.kernels = __atomic_load_n(&kernels, __ATOMIC_ACQUIRE);
	if (!watched.kernels)
		return;
	watched.console.write = watched_write;
	ktrace_line_start(&line, &watched.console);
	put(&line, record);
}

void ktrace_console_set(const struct ktrace_console *console)
{
	__atomic_store_n(&kernels, console, __ATOMIC_RELEASE);
	ktrace_state.print = console ? print_record : KTRACE_NULL;
	ktrace_states_update();
}
