/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/views.h"

#include "ktrx/v2.h"

#define EVENT(name) VIEW_BY_EVENT, 0, name
#define FACT(bits)  VIEW_BY_FACT, bits, NULL
#define HOOK(bits)  VIEW_BY_HOOK, bits, NULL
#define UNTOLD	    VIEW_UNTOLD, 0, NULL

/* In the order in which they are worth the trouble. */
const struct view views[] = {
	{ "rings", "each CPU's start", "ktrace_cpu_online(cpu);", "a ring of its own for each CPU",
	  FACT(VIEW_RINGS) },
	{ "cpus", "ktrace_port.h", "#define ktrace_arch_cpu() (this_cpu()->number)", "which CPU it was",
	  FACT(VIEW_CPUS) },
	{ "early", "entry code that runs before the per-CPU base is set", "KTRACE_EARLY(group, event, …);",
	  "KTRACE() there would record as another CPU, or crash", UNTOLD },
	{ "thread-ids", "ktrace_port.h", "#define ktrace_arch_thread() (current()->id)",
	  "which thread it was", FACT(VIEW_THREADS) },
	{ "switch", "the context switch", "KTRACE(sched, switch, prev, next, state);",
	  "CPU tracks, thread states", EVENT("sched.switch") },
	{ "wake", "where a thread is made runnable", "KTRACE(sched, wake, thread);",
	  "wakeup arrows, how long a thread waits for a CPU", EVENT("sched.wake") },
	{ "wake-nobody", "where a wakeup finds no thread asleep", "KTRACE(sched, wake_nobody, queue, ip);",
	  "wakeups that found no thread asleep; without this hook a lost wakeup looks like an event that has "
	  "not occurred",
	  EVENT("sched.wake_nobody") },
	{ "block", "before a thread sleeps", "KTRACE(sched, block, thread, queue, state);",
	  "sleep as opposed to preemption", EVENT("sched.block") },
	{ "threads", "the context switch, the wake, before a thread sleeps",
	  "ktrace_thread_switch(prev, next); … ktrace_thread_wake(thread); … ktrace_thread_block(object, "
	  "name, "
	  "KTRX_WAIT_EVENT, 0);",
	  "who runs and who waits for what since when, when the rings have long been overwritten",
	  HOOK(KTRX_HOOK_THREAD) },
	{ "ends", "the end of a thread, called by itself before its last switch", "ktrace_thread_exit(id);",
	  "which threads have ended; without it one that has ended looks like one that waits for a CPU",
	  HOOK(KTRX_HOOK_EXIT) },
	{ "holders", "the configuration of ktrace_init()", ".holders = 256,",
	  "room for what that many threads hold and wait for", FACT(VIEW_HOLDERS) },
	{ "names", "thread creation", "ktrace_thread_name(id, name);", "names of threads", FACT(VIEW_NAMES) },
	{ "heartbeat", "the timer tick of each CPU", "ktrace_heartbeat(pc);",
	  "stall detection, where a CPU was; `ktrace control` from the host; measuring clocks",
	  FACT(VIEW_BEATS) },
	{ "idle", "the idle loop, before it waits and behind that",
	  "ktrace_mode(KTRX_MODE_IDLE); … ktrace_mode(KTRX_MODE_KERNEL);",
	  "idle is not a stall; a CPU that does not leave idle looks idle while it works", FACT(VIEW_IDLE) },
	{ "modes", "entry from user mode, exit to it",
	  "ktrace_mode(KTRX_MODE_KERNEL); … ktrace_mode(KTRX_MODE_USER);",
	  "bars of `ktrace live`; user-mode spins", FACT(VIEW_MODES) },
	{ "irq", "first and last thing in an interrupt", "KTRACE(irq, enter, irq); … KTRACE(irq, exit, irq);",
	  "interrupt slices", EVENT("irq.enter") },
	{ "eoi", "where the interrupt controller is told that it is over", "KTRACE(irq, eoi, irq);",
	  "interrupts ended twice", EVENT("irq.eoi") },
	{ "irq-state", "first and last thing in an interrupt",
	  "ktrace_irq_enter(irq); … ktrace_irq_exit(irq);", "interrupt storms, switches inside an interrupt",
	  HOOK(KTRX_HOOK_IRQ) },
	{ "eoi-state", "where the interrupt controller is told that it is over", "ktrace_irq_eoi(irq);",
	  "interrupts that were never ended", HOOK(KTRX_HOOK_EOI) },
	{ "syscall", "system call entry and exit",
	  "KTRACE(syscall, enter, nr, …); … KTRACE(syscall, exit, nr, result);", "system calls as spans",
	  EVENT("syscall.enter") },
	{ "syscall-names", "the configuration of ktrace_init()", ".syscalls = \"0 read\\n1 write\\n…\",",
	  "names of system calls", FACT(VIEW_SYSCALLS) },
	{ "fault", "entry and end of the page-fault handler",
	  "KTRACE(mm, fault_enter, address, ip); … KTRACE(mm, fault_exit, address, how);",
	  "page faults as spans, fault loops", EVENT("mm.fault_enter") },
	{ "lock", "around a lock that is taken",
	  "KTRACE(lock, contend, lock, name); … KTRACE(lock, acquire, lock); … KTRACE(lock, release, lock);",
	  "how long locks are waited for and held", EVENT("lock.acquire") },
	{ "lock-state", "around a lock that is taken",
	  "ktrace_lock_wait(lock, name, KTRACE_BY_CPU, owner); … ktrace_lock_acquire(lock, KTRACE_BY_CPU); … "
	  "ktrace_lock_release(lock, KTRACE_BY_CPU);",
	  "deadlocks: who holds what and waits for whom", HOOK(KTRX_HOOK_LOCK) },
	{ "lock-owner", "before waiting for a lock whose holder is not known",
	  "ktrace_lock_wait(lock, name, KTRACE_BY_CPU, KTRACE_NOBODY);",
	  "0 would be CPU 0 or thread 0, and a deadlock be told of those", UNTOLD },
	{ "lock-give-up", "where a wait for a lock ends without it", "ktrace_lock_give_up(KTRACE_BY_CPU);",
	  "without it a try that was given up looks like a wait that never ends", UNTOLD },
	{ "ipi", "before another CPU is interrupted, and there",
	  "KTRACE(ipi, send, cpu, what); … KTRACE(ipi, receive, what);", "clocks put right by `--align`",
	  EVENT("ipi.send") },
	{ "ipi-state", "around the wait for another CPU's answer, and where it answers",
	  "ktrace_ipi_wait(cpu, what); … ktrace_ipi_wait_end(); … ktrace_ipi_answer();",
	  "a CPU that waits for one that does not answer", HOOK(KTRX_HOOK_IPI) },
	{ "interrupts", "where interrupts go off and on", "ktrace_interrupts(on);",
	  "interrupts off for too long, and who turned them off", FACT(VIEW_INTERRUPTS) },
	{ "preempt", "where preemption is turned off and on", "ktrace_preempt(depth);",
	  "switches that must not be", HOOK(KTRX_HOOK_PREEMPT) },
	{ "space", "the switch of address spaces", "ktrace_space(id);", "whose memory a CPU looks at",
	  HOOK(KTRX_HOOK_SPACE) },
	{ "priority", "thread creation, a change of priority", "ktrace_thread_priority(id, priority);",
	  "priority inversions; without it a thread that waits for one of lower priority is told to starve",
	  FACT(VIEW_PRIORITY) },
	{ "stacks", "thread creation", "ktrace_thread_stack(id, low, high);", "stack overflows",
	  FACT(VIEW_STACKS) },
	{ "cost", "boot, once each CPU has its ring", "ktrace_probe_cost();",
	  "what the trace itself costs, in every view", FACT(VIEW_COST) },
	{ "clocks", "the configuration of ktrace_init()", ".clocks = KTRACE_CLOCKS_ASKED,",
	  "clocks measured against each other, where they differ", FACT(VIEW_CLOCKS) },
	{ "frequency", "the configuration of ktrace_init()", ".frequency = ticks_a_second,",
	  "times, where neither the CPU nor the host knows the clock", FACT(VIEW_FREQUENCY) },
	{ "build-id", "the configuration of ktrace_init()",
	  ".build_id = build_id, .build_id_size = sizeof(build_id),",
	  "whether a trace and an ELF file belong together", FACT(VIEW_BUILD_ID) },
	{ "callers", "the compiler's flags", "-fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1",
	  "who called the function that records, where asked for", FACT(VIEW_CALLERS) },
	{ "exit", "power off", "ktrace_exit(status);", "outcome", FACT(VIEW_EXIT) },
	{ "panic", "panic", "ktrace_panic(message);", "outcome, dump through a transport", FACT(VIEW_PANIC) },
	{ "arguments", "boot arguments", "ktrace_boot_argument(command_line);",
	  "`debug=ktrace,sched`, `ktrace=-mm`, `debug.ktr.stacktrace=1`", UNTOLD },
	{ "settings", "a word to steer by", "KTRACE_SETTING_U32(\"debug.verbose\", verbose, 0)",
	  "a setting by name, from command line, shell and host", UNTOLD },
};
const uint32_t views_count = sizeof(views) / sizeof(views[0]);

void views_write(struct base_output *out)
{
	base_output_text(out, "| view | where | line | lights |\n|---|---|---|---|\n");
	for (uint32_t n = 0; n < views_count; n++)
		base_output_format(out, "| %s | %s | `%s` | %s |\n", views[n].name, views[n].where,
				   views[n].line, views[n].lights);
}
