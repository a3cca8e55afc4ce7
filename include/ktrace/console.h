/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace read inside the kernel: at a debugger's prompt, or as it is recorded. All that it needs is a way
 * to put text on the kernel's console:
 *
 *	static void trace_write(const struct ktrace_console *console, const char *text, size_t bytes) { … }
 *	static const struct ktrace_console console = { .write = trace_write };
 *
 *	ktrace_console_show(&console, "/v sched.*");	// at the prompt: show ktr/v sched.*
 *
 * No memory is allocated and no lock is taken; rings, slots and texts may hold anything.
 */
#ifndef KTRACE_CONSOLE_H
#define KTRACE_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/control.h"

KTRACE_BEGIN_C

struct ktrace_console {
	/* Puts text on the console: printable ASCII, '\n', and '\r' from the pager. */
	void (*write)(const struct ktrace_console *console, const char *text, size_t bytes);
	/* Waits for a key and returns it, negative to end the listing. NULL: no pager. */
	int (*key)(const struct ktrace_console *console);
	uint32_t lines; /* of a page; 0 = 24 */
	void *cookie;	/* the kernel's own */
};

/*
 * Shows the records of all rings, the newest first, merged by their stamps:
 *
 *	cpu0 1234: sched_switch  from(0x…,0x…) 3 -> 4 after 5012 ns
 *
 * CPU, index of the record's slot counted from boot, group_event, the callers where they were recorded, and
 * the event's text. `how` is what a user types behind "show ktr": modifiers behind a slash, then patterns.
 *
 *	/v		also the stamp in ticks of the clock, and the file and line: of the place for
 *			KTR_LOG(), of the declaration for other events
 *	/a		all at once, without the pager
 *	/c3		CPU 3 only
 *	sched.*,mm	only these events, as in ktrace_control()
 *
 * The pager stops after each page: space shows another, enter another line, q ends. Other CPUs may go on
 * recording: what they overwrite before it was shown is counted in the last line. Errors: SYNTAX, NO_EVENT
 * (no event has such a name), ARGUMENT (no such CPU). Any context, one call at a time; where all other CPUs
 * are stopped, one that was under way there does not count.
 */
int ktrace_console_show(const struct ktrace_console *console, const char *how);

/*
 * Shows settings, a line "name=value" each, with the same pager. `how`: /a for all at once, then what their
 * names begin with, nothing for all. Errors: SYNTAX, NO_SETTING (none begins with that). Any context, one
 * call at a time.
 */
int ktrace_console_settings(const struct ktrace_console *console, const char *how);

/*
 * Says why the call before was refused and, where a name is unknown, which ones were perhaps meant, see
 * ktrace_refused() and ktrace_control_near():
 *
 *	sched.swich=on: no event has such a name; near it: sched.switch
 *
 * `error` is what that call returned; without an error nothing is said. Any context.
 */
void ktrace_console_refusal(const struct ktrace_console *console, int error);

/*
 * Where records are put as they are made, while the setting debug.ktr.verbose is not 0: from 1 on a line with
 * the event's name and text, from 2 on also CPU, stamp in ticks, file and line. NULL: nowhere, as from the
 * start.
 *
 * write() is then called in every context that has events, pinned as the event was, and by an interrupt also
 * in the middle of another call. Events that it fires itself, so those of its CPU and context
 * (KTRX_CONTEXT_*) meanwhile, are recorded but not put. It must not wait for anything that an event's context
 * can hold, so text must be lost rather than wait for the console's lock if this CPU has it. KTRACE_EARLY()
 * is not put.
 */
void ktrace_console_set(const struct ktrace_console *console);

/*
 * Shows who called the function that calls this: a line a caller, the nearest first, at most `count`; -1: up
 * to 20.
 *
 *	#0 0xffffffff80104a3c
 *
 * addr2line -fe kernel.elf names the function of the byte before it. Says so where it was not compiled in,
 * see KTRACE_FRAME_POINTERS in config.h. Any context.
 */
void ktrace_console_backtrace(const struct ktrace_console *console, int count);

KTRACE_END_C

#endif
