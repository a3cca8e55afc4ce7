/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdarg.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "backtrace.h"
#include "clock.h"
#include "cpu.h"
#include "debugger.h"
#include "ipi.h"
#include "panic.h"
#include "print.h"
#include "thread.h"

/* the host may stop a virtual CPU for long while this CPU writes to the console */
#define STOP_TIMEOUT_NS (500 * NS_PER_MS)

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, panic, stopped, "for CPU %u",
		  (uint32_t, by));
/* This event is recorded only if the trace is set to continue after a panic. */
KTRACE_EVENT(panic, exit, "status %u", (uint32_t, status));

static const struct cpu *panicking; /* the first CPU that panicked */
static char message[256];

static unsigned running_others(void)
{
	const struct cpu *self = arch_this_cpu();
	unsigned running = 0;

	for (unsigned i = 0; i < cpu_count; i++)
		running += &cpus[i] != self && __atomic_load_n(&cpus[i].online, __ATOMIC_ACQUIRE);
	return running;
}

static void wait_for_others(void)
{
	uint64_t end = clock_ns() + STOP_TIMEOUT_NS;

	while (running_others() > 0 && clock_ns() < end)
		arch_relax();
}

static void stop_others(const struct cpu *self)
{
	for (unsigned i = 0; i < cpu_count; i++)
		if (&cpus[i] != self)
			ipi_send(&cpus[i], IPI_STOP);
	wait_for_others();
	/* A CPU that did not react to the IPI has interrupts off, but an NMI can still stop it. */
	for (unsigned i = 0; i < cpu_count; i++)
		if (&cpus[i] != self && cpus[i].online)
			arch_nmi_send(&cpus[i]);
	wait_for_others();
}

/*
 * Returns if this CPU is the first one that panics. If another CPU has panicked before, stops this CPU. If
 * this CPU panics again during its own panic, ends the machine.
 */
static void claim_panic(const struct cpu *self)
{
	const struct cpu *no_cpu = NULL;

	if (__atomic_compare_exchange_n(&panicking, &no_cpu, self, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	panic_check();
	console_write_unlocked("\npanic within a panic\n");
	arch_exit(PANIC_STATUS);
}

static void print_message(const struct cpu *self)
{
	char head[64];

	format(head, sizeof(head), "\npanic on CPU %u, thread %s: ", self->id,
	       self->current ? self->current->name : "none");
	console_write_unlocked(head);
	console_write_unlocked(message);
	console_write_unlocked(running_others() > 0 ? "\nsome CPUs did not stop\n" : "\n");
}

void panic(const char *text, ...)
{
	const struct cpu *self;
	va_list arguments;

	arch_irq_disable();
	self = arch_this_cpu();
	claim_panic(self);
	va_start(arguments, text);
	vformat(message, sizeof(message), text, arguments);
	va_end(arguments);
	stop_others(self);
	console_seize();
	ktrace_panic(message);
	print_message(self);
	console_seize();
	print_backtrace(-1);
	if (arg_has("panic", "prompt"))
		debugger_enter_after_panic();
	KTRACE(panic, exit, PANIC_STATUS);
	arch_exit(PANIC_STATUS);
}

void panic_check(void)
{
	const struct cpu *who = __atomic_load_n(&panicking, __ATOMIC_ACQUIRE);

	if (!who || who == arch_this_cpu())
		return;
	KTRACE(panic, stopped, who->id);
	__atomic_store_n(&arch_this_cpu()->online, false, __ATOMIC_RELEASE);
	arch_halt();
}
