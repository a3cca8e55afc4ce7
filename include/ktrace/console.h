/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shows the trace on the kernel's own console: at a debugger's prompt, or while events are recorded. It needs
 * only a function that writes text to the console:
 *
 *	static void trace_write(const struct ktrace_console *console, const char *text, size_t bytes) { … }
 *	static const struct ktrace_console console = { .write = trace_write };
 *
 *	ktrace_console_show(&console, "/v sched.*");	// for a command such as: show ktr/v sched.*
 *
 * Allocates no memory and takes no lock. Damaged rings, slots and texts are safe to show.
 */
#ifndef KTRACE_CONSOLE_H
#define KTRACE_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/control.h"

KTRACE_BEGIN_C

struct ktrace_console {
	/* Writes text: printable ASCII, '\n', and '\r' from the pager. */
	void (*write)(const struct ktrace_console *console, const char *text, size_t bytes);
	/* Waits for a key and returns it, or a negative value to end the listing. NULL: no pager. */
	int (*key)(const struct ktrace_console *console);
	uint32_t lines; /* number of lines of a page; 0 = 24 */
	void *cookie;	/* for use by the kernel; ktrace does not read it */
};

/*
 * Shows the records of all rings, the newest first, merged by their timestamps:
 *
 *	cpu0 1234: sched_switch  from(0x…,0x…) 3 -> 4 after 5012 ns
 *
 * A line has the CPU, the index of the record's slot counted from boot, group_event, the callers if they were
 * recorded, and the event's text. `how` is what the user typed after "show ktr": modifiers after a slash,
 * then patterns.
 *
 *	/v		also show the timestamp in ticks, and file and line (of the call, for
 *			events recorded by KTR_LOG(); of the declaration, for other events)
 *	/a		show everything at once, without the pager
 *	/c3		show CPU 3 only
 *	sched.*,mm	show only these events; patterns as in ktrace_control()
 *
 * The pager stops after each page. The space key shows the next page, enter shows the next line, and q ends
 * the listing. Other CPUs may continue to record; the last line states how many records they overwrote before
 * the listing reached these records.
 * Returns KTRACE_OK, or SYNTAX, NO_EVENT (no event matches), ARGUMENT (no such CPU).
 * Any context. Requires: one call at a time. Exception: while all other CPUs are stopped, an unfinished call
 * on a stopped CPU does not count.
 */
int ktrace_console_show(const struct ktrace_console *console, const char *how);

/*
 * Shows settings as lines "name=value", with the same pager. `how`: optionally "/a", which shows everything
 * at once; then a prefix: only settings whose names begin with the prefix are shown. Without a prefix, all
 * settings are shown.
 * Returns KTRACE_OK, or an error: SYNTAX; or NO_SETTING if no setting's name begins with the prefix.
 * Any context. Requires: one call at a time.
 */
int ktrace_console_settings(const struct ktrace_console *console, const char *how);

/*
 * Prints why the previous call failed, and suggestions for an unknown name; see ktrace_refused() and
 * ktrace_control_near():
 *
 *	sched.swich=on: no such event; did you mean sched.switch?
 *
 * `error`: the value that the failed call returned. If that value is not an error, nothing is printed. Any
 * context.
 */
void ktrace_console_refusal(const struct ktrace_console *console, int error);

/*
 * Sets the console for live output: while the setting debug.ktr.verbose is not 0, each record is also printed
 * when it is made. 1 prints the event's name and text, 2 also CPU, timestamp in ticks, file and line. NULL,
 * which is the value at boot, disables live output. `console` must stay valid.
 *
 * write() is then called in every context in which events fire. The thread can migrate to another CPU during
 * the call, unless the port defines ktrace_arch_pin(). An event in an interrupt, or an event of the next
 * thread after a preemption, can call write() while the interrupted call has not returned on the same CPU.
 * Events that fire during write(), on the same CPU and in the same thread and context (KTRX_CONTEXT_*), are
 * recorded but not printed. Exception: the sched.switch is printed if the thread is preempted during write().
 * But then events that write() records later in the same call may be printed, too.
 * write() must not wait for a lock that may be held when an event fires; it must drop the text if this CPU
 * already holds the console's lock. Events of KTRACE_EARLY() are not printed.
 */
void ktrace_console_set(const struct ktrace_console *console);

/*
 * Prints the call chain of the calling function, one caller per line, innermost first, at most `count` lines;
 * -1: at most 20.
 *
 *	#0 0xffffffff80104a3c
 *
 * The addresses are return addresses: give addr2line -fe kernel.elf the address minus 1. If backtraces are
 * not compiled in (KTRACE_FRAME_POINTERS in config.h), prints a line that states this. Any context.
 */
void ktrace_console_backtrace(const struct ktrace_console *console, int count);

KTRACE_END_C

#endif
