/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A small kernel that uses the parts of doc/porting.md that need little code: settings, a tick (harts poll
 * the clock instead of taking timer interrupts), the mailbox, clocks, callers, the console. Compiled with
 * frame pointers; its console is QEMU's UART.
 */
#include "ktrace/console.h"
#include "ktrace/ktrace.h"

#define HARTS  2
#define TICK   100000u /* length of a tick in units of the clock: 10 ms */
#define EVENTS 50u

KTRACE_EVENT(port, step, "%u", (uint32_t, n));

static uint32_t level = 1;
KTRACE_SETTING_U32("debug.level", level, 0);

static uint32_t ready, finished;

static void trace_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	(void)console;
	while (bytes-- > 0)
		*(volatile uint8_t *)0x10000000 = (uint8_t)*text++;
}

static const struct ktrace_console trace_console = { .write = trace_write };

static void trace_init(void)
{
	ktrace_boot_argument("root=/dev/none debug.level=2 ktrace=port.*=callers2+site");
	KTRACE_INIT(512 << 10, .cpus = HARTS, .kernel = "port", .clocks = KTRACE_CLOCKS_ONLINE);
}

void port_step(uint32_t n);
void port_run(void);
void port_main(uint32_t hart);

__attribute__((noinline)) void port_step(uint32_t n)
{
	KTRACE(port, step, n);
	if (n + 1 != EVENTS)
		return;
	ktrace_console_backtrace(&trace_console, -1);
	ktrace_console_show(&trace_console, "/a port");
}

__attribute__((noinline)) void port_run(void)
{
	for (uint32_t n = 0; n < EVENTS; n++)
		port_step(n);
	__asm__ volatile("");
}

/* Reports a heartbeat at each tick, until the host sets debug.level to 0 through the mailbox. */
static void tick_on(void)
{
	uint64_t due = 0;

	while (*(volatile uint32_t *)&level != 0)
		if (ktrace_arch_clock() >= due) {
			due = ktrace_arch_clock() + TICK;
			ktrace_heartbeat((uintptr_t)tick_on);
		}
}

void port_main(uint32_t hart)
{
	if (hart == 0) {
		trace_init();
		__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		;
	ktrace_cpu_online(hart);
	if (hart == 0) {
		ktrace_probe_cost();
		port_run();
	}
	tick_on();
	if (__atomic_add_fetch(&finished, 1, __ATOMIC_ACQ_REL) == HARTS) {
		ktrace_exit(0);
		*(volatile uint32_t *)0x100000 = 0x5555; /* QEMU's test device */
	}
	for (;;)
		__asm__ volatile("wfi");
}

__asm__(".pushsection .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	csrr	tp, mhartid\n"
	"	la	sp, stacks\n"
	"	addi	t0, tp, 1\n"
	"	slli	t0, t0, 13\n"
	"	add	sp, sp, t0\n"
	"	mv	a0, tp\n"
	"	li	s0, 0\n" /* the chain of frames ends here */
	"	call	port_main\n"
	".section .bss\n"
	".balign 16\n"
	"stacks: .space 8192 * 2\n"
	".popsection\n");
