/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The main program of the kernel.
 *
 * Boot arguments: run= and seconds= (work/work.h), exit= (below), cpus= (cpu.h), tickless= (timer.h), slots=,
 * keep=, debug= and ktrace= (trace.h), transport=, file= and dump= (dump.h), ramdisk= (ramfs.h), panic=
 * (debugger.h), lose= (net/loopback.h). seed= and backtrace= are used by some workloads.
 */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "cpu.h"
#include "dump.h"
#include "hardware_trace.h"
#include "page.h"
#include "power.h"
#include "print.h"
#include "process_trace.h"
#include "sched.h"
#include "share.h"
#include "socket.h"
#include "thread.h"
#include "timer.h"
#include "trace.h"
#include "userland.h"
#include "vfs.h"
#include "work/work.h"

KTRACE_EVENT(boot, phase, "%s", (const char *, done));

/*
 * The first thread. If run= names a workload or bug of the kernel, the thread runs it and then ends the
 * machine with the status of exit=. Otherwise the thread starts the first user program; user programs then
 * decide when the machine ends.
 */
static void init(void *unused)
{
	(void)unused;
	vfs_init();
	network_init();
	process_trace_init();
	hardware_trace_init();
	KTRACE(boot, phase, "files and network");
	if (work_is_asked_for()) {
		work_run_all();
		power_off((int)arg_number("exit", 0));
	}
	userland_start();
	KTRACE(boot, phase, "user programs");
}

void kmain(void)
{
	KTRACE(boot, phase, "entry");
	arch_init();
	KTRACE(boot, phase, "machine");
	page_init();
	share_init();
	trace_init();
	dump_init();
	KTRACE(boot, phase, "memory and rings");
	timer_init();
	cpu_init();
	cpu_start_others();
	KTRACE(boot, phase, "CPUs");
	kprintf("demo: %u CPUs, %lu MiB free\n", cpu_count, page_free_count() * PAGE_SIZE >> 20);
	thread_create("init", init, NULL, CPU_ANY);
	timer_run();
	sched_idle();
}
