/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/console.h>
#include <ktrace/port.h>

#include "arch.h"
#include "backtrace.h"
#include "cpu.h"
#include "print.h"
#include "thread.h"

static void put(const struct ktrace_console *console, const char *text, size_t bytes)
{
	(void)console;
	console_write(text, bytes);
}

void print_backtrace(int count)
{
	static const struct ktrace_console console = { .write = put };

	ktrace_console_backtrace(&console, count);
	/* Prevents a tail call: the library omits the frame of its caller, which must be this function. */
	__asm__ volatile("");
}

/* Returns the end of the current thread's stack. For boot and NMI stacks it returns 0: unknown. */
uintptr_t trace_stack_end(uintptr_t here)
{
	const struct thread *self = arch_this_cpu()->current;
	uintptr_t stack = self ? (uintptr_t)self->stack : 0;

	return here - stack < THREAD_STACK_SIZE ? stack + THREAD_STACK_SIZE : 0;
}
