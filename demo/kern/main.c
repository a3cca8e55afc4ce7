/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The kernel from its first C statement to its last. */
#include "arch.h"
#include "args.h"
#include "cpu.h"
#include "page.h"
#include "print.h"
#include "sched.h"
#include "thread.h"
#include "work/work.h"

/* The first thread: does what the boot arguments ask for, then ends the machine. */
static void init(void *unused)
{
	(void)unused;
	work_run_all();
	arch_exit((int)arg_number("exit", 0) & 127);
}

void kmain(void)
{
	arch_init();
	page_init();
	cpu_init();
	cpu_start_others();
	kprintf("demo: %u CPUs, %lu MiB free\n", cpu_count, page_free_count() * PAGE_SIZE >> 20);
	thread_create("init", init, NULL, CPU_ANY);
	arch_timer_start();
	sched_idle();
}
