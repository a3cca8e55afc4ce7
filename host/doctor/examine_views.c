/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/examine.h"

#include <stdio.h>
#include <string.h>

#include "analyze/wellknown.h"
#include "ktrx/v2.h"

enum view_sign {
	VIEW_BY_EVENT,	 /* the view is lit if the trace has a record of `event` */
	VIEW_BY_FACT,	 /* the view is lit if one of the facts in `bits` (enum view_fact) is true */
	VIEW_BY_HOOK,	 /* the view is lit if a CPU called one of the hooks in `bits` (KTRX_HOOK_*) */
	VIEW_UNRECORDED, /* a trace cannot show whether the view is lit */
};

struct view {
	const char *name;
	const char *where;
	const char *line; /* the lines of C, each for one place in the kernel, separated by " … " */
	const char *enables;
	enum view_sign sign;
	uint32_t bits;
	const char *event;
};

#define EVENT(name) VIEW_BY_EVENT, 0, name
#define FACT(bits)  VIEW_BY_FACT, bits, NULL
#define HOOK(bits)  VIEW_BY_HOOK, bits, NULL
#define UNRECORDED  VIEW_UNRECORDED, 0, NULL

/* The most useful views come first. */
static const struct view views[] = {
	{ "rings", "boot, once, on one CPU; then each CPU's start",
	  "KTRACE_INIT(1 << 20, .cpus = 4, .threads = 256, .holders = 256); … ktrace_cpu_online(cpu);",
	  "a ring of its own for each CPU", FACT(VIEW_RINGS) },
	{ "cpus", "ktrace_port.h", "#define ktrace_arch_cpu() (this_cpu()->number)",
	  "which CPU recorded an event", FACT(VIEW_CPUS) },
	{ "early", "entry code that runs before the per-CPU base is set", "KTRACE_EARLY(group, event, …);",
	  "events of that code; KTRACE() there would record them as those of another CPU, or crash",
	  UNRECORDED },
	{ "thread-ids", "ktrace_port.h", "#define ktrace_arch_thread() (current()->id)",
	  "which thread recorded an event", FACT(VIEW_THREADS) },
	{ "switch", "the context switch", "ktrace_switch(prev, next, state);", "CPU tracks, thread states",
	  EVENT("sched.switch") },
	{ "wake", "where a thread is made runnable", "ktrace_wake(thread);",
	  "wakeup arrows, how long a thread waits for a CPU", EVENT("sched.wake") },
	{ "wake-nobody", "where a wakeup finds no thread asleep", "ktrace_wake_nobody(queue);",
	  "wakeups that found no thread asleep; "
	  "without this hook a lost wakeup looks like an event that has not occurred",
	  EVENT("sched.wake_nobody") },
	{ "block", "before a thread sleeps", "ktrace_block(object, name, kind, deadline);",
	  "whether a thread sleeps or was preempted", EVENT("sched.block") },
	{ "join", "before a thread waits for the end of another thread (join, waitpid)",
	  "ktrace_block((void *)(uintptr_t)id, name, KTRX_WAIT_THREAD, 0);",
	  "deadlocks of threads that wait for each other's end", FACT(VIEW_JOINS) },
	{ "threads",
	  "the context switch, where a thread is made runnable, before a thread sleeps; "
	  "in place of KTRACE(sched, …)",
	  "ktrace_switch(prev, next, state); … ktrace_wake(thread); … ktrace_block(object, name, "
	  "KTRX_WAIT_EVENT, 0);",
	  "which threads run, and what the others wait for and since when, "
	  "even after the rings were overwritten",
	  HOOK(KTRX_HOOK_THREAD) },
	{ "ends", "the end of a thread, called by that thread before its last switch",
	  "ktrace_thread_end(id);",
	  "which threads have ended; without this hook a thread that has ended looks runnable",
	  HOOK(KTRX_HOOK_EXIT) },
	{ "holders", "the configuration, in KTRACE_INIT() or ktrace_init()", ".holders = 256,",
	  "a table of what up to this many threads hold and wait for", FACT(VIEW_HOLDERS) },
	{ "names", "the configuration, in KTRACE_INIT() or ktrace_init(); thread creation",
	  ".threads = 256, … ktrace_thread_name(id, name);", "names of threads", FACT(VIEW_NAMES) },
	{ "heartbeat", "the timer tick of each CPU", "ktrace_heartbeat(pc);",
	  "stall detection; the code that a CPU was running; `ktrace control` from the host; "
	  "measurement of clocks",
	  FACT(VIEW_BEATS) },
	{ "idle", "the idle loop, before it waits and after that",
	  "ktrace_mode(KTRX_MODE_IDLE); … ktrace_mode(KTRX_MODE_KERNEL);",
	  "an idle CPU is not reported as stalled; without the second call a CPU looks idle while it works",
	  FACT(VIEW_IDLE) },
	{ "modes", "entry from user mode, exit to it",
	  "ktrace_mode(KTRX_MODE_KERNEL); … ktrace_mode(KTRX_MODE_USER);",
	  "bars of `ktrace live`; threads that spin in user mode", FACT(VIEW_MODES) },
	{ "irq", "first and last thing in an interrupt",
	  "ktrace_interrupt_enter(irq); … ktrace_interrupt_exit(irq);", "interrupts as spans",
	  EVENT("irq.enter") },
	{ "eoi", "where the interrupt is ended at the interrupt controller", "ktrace_eoi(irq);",
	  "interrupts that are ended twice", EVENT("irq.eoi") },
	{ "irq-state", "first and last thing in an interrupt, in place of KTRACE(irq, …)",
	  "ktrace_interrupt_enter(irq); … ktrace_interrupt_exit(irq);",
	  "interrupt storms, switches inside an interrupt", HOOK(KTRX_HOOK_IRQ) },
	{ "eoi-state",
	  "where the interrupt is ended at the interrupt controller, in place of KTRACE(irq, eoi, …)",
	  "ktrace_eoi(irq);", "interrupts without an EOI", HOOK(KTRX_HOOK_EOI) },
	{ "syscall", "system call entry and exit",
	  "KTRACE(syscall, enter, nr, …); … KTRACE(syscall, exit, nr, result);", "system calls as spans",
	  EVENT("syscall.enter") },
	{ "syscall-names", "the configuration of ktrace_init()", ".syscalls = \"0 read\\n1 write\\n…\",",
	  "names of system calls", FACT(VIEW_SYSCALLS) },
	{ "fault", "entry and end of the page-fault handler",
	  "ktrace_fault_enter(address, ip); … ktrace_fault_exit(address, how);",
	  "page faults as spans, fault loops", EVENT("mm.fault_enter") },
	{ "lock", "around a lock that is taken",
	  "ktrace_contend(lock, name, by, owner); … ktrace_acquire(lock, by); … ktrace_release(lock, by);",
	  "how long locks are waited for and held", EVENT("lock.acquire") },
	{ "lock-state",
	  "around a lock, in place of KTRACE(lock, …); KTRACE_BY_THREAD if the holder may sleep",
	  "ktrace_contend(lock, name, KTRACE_BY_CPU, owner); … ktrace_acquire(lock, KTRACE_BY_CPU); "
	  "… ktrace_release(lock, KTRACE_BY_CPU);",
	  "deadlocks: which thread or CPU holds a lock, and which ones wait for it", HOOK(KTRX_HOOK_LOCK) },
	{ "lock-owner", "before waiting for a lock whose holder is not known",
	  "ktrace_contend(lock, name, KTRACE_BY_CPU, KTRACE_NOBODY);",
	  "waits for a lock whose holder is unknown; with 0 instead of KTRACE_NOBODY, "
	  "a deadlock report would name CPU 0 or thread 0 as the holder",
	  UNRECORDED },
	{ "lock-give-up", "where a wait for a lock ends although the lock was not taken",
	  "ktrace_lock_give_up(KTRACE_BY_CPU);",
	  "waits for a lock that were given up; without this hook such a wait never seems to end",
	  UNRECORDED },
	{ "ipi", "before interrupting another CPU; on that CPU",
	  "ktrace_ipi_send(cpu, what); … ktrace_ipi_receive(what);", "clocks corrected by `--align`",
	  EVENT("ipi.send") },
	{ "ipi-state", "before interrupting another CPU and when it has answered; where that CPU answers",
	  "ktrace_ipi_wait(cpu, what); … ktrace_ipi_wait_end(); … ktrace_ipi_answer();",
	  "a CPU that waits for another CPU that does not answer", HOOK(KTRX_HOOK_IPI) },
	{ "interrupts", "where interrupts are disabled and enabled", "ktrace_interrupts(on);",
	  "interrupts disabled for too long, and where they were disabled", FACT(VIEW_INTERRUPTS) },
	{ "preempt", "where preemption is disabled and enabled", "ktrace_preempt(depth);",
	  "switches while preemption is disabled", HOOK(KTRX_HOOK_PREEMPT) },
	{ "space", "the switch of address spaces", "ktrace_space(id);", "which address space a CPU uses",
	  HOOK(KTRX_HOOK_SPACE) },
	{ "priority", "thread creation, a change of priority", "ktrace_thread_priority(id, priority);",
	  "priority inversions; without this hook they are reported as starvation; "
	  "a greater number must be more urgent",
	  FACT(VIEW_PRIORITY) },
	{ "stacks", "thread creation", "ktrace_thread_stack(id, low, high);", "stack overflows",
	  FACT(VIEW_STACKS) },
	{ "cost", "boot, once each CPU has its ring", "ktrace_probe_cost();",
	  "the cost of recording, shown in every view", FACT(VIEW_COST) },
	{ "clocks", "the configuration of ktrace_init()", ".clocks = KTRACE_CLOCKS_ASKED,",
	  "the measured differences between the CPUs' clocks, on machines where clocks differ",
	  FACT(VIEW_CLOCKS) },
	{ "frequency", "the configuration of ktrace_init()", ".frequency = ticks_a_second,",
	  "times in seconds, if neither the CPU nor the host reports the clock's frequency",
	  FACT(VIEW_FREQUENCY) },
	{ "build-id", "the configuration of ktrace_init()",
	  ".build_id = build_id, .build_id_size = sizeof(build_id),",
	  "whether a trace and an ELF file belong together", FACT(VIEW_BUILD_ID) },
	{ "callers", "the compiler's flags", "-fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1",
	  "which code called the function that records, for events for which callers were requested",
	  FACT(VIEW_CALLERS) },
	{ "exit", "power off", "ktrace_exit(status);", "how the run ended", FACT(VIEW_EXIT) },
	{ "panic", "panic", "ktrace_panic(message);", "how the run ended, a dump through a transport",
	  FACT(VIEW_PANIC) },
	{ "arguments", "boot arguments", "ktrace_boot_argument(command_line);",
	  "`debug=ktrace,sched`, `ktrace=-mm`, `debug.ktr.stacktrace=1` on the kernel's command line",
	  UNRECORDED },
	{ "settings", "a variable that changes what the kernel does",
	  "KTRACE_SETTING_U32(\"debug.verbose\", verbose, 0)",
	  "a setting by name, from command line, shell and host", UNRECORDED },
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

void views_write(struct base_output *out)
{
	base_output_text(out, "| view | where | line | enables |\n|---|---|---|---|\n");
	for (uint32_t n = 0; n < VIEWS; n++)
		base_output_format(out, "| %s | %s | `%s` | %s |\n", views[n].name, views[n].where,
				   views[n].line, views[n].enables);
}

#define GROUP 16u

/* Returns the type of the view's event. Returns NULL if the kernel does not declare the event. */
static const struct ktread_type *type_of(const struct facts *facts, const struct view *view)
{
	const char *dot = strchr(view->event, '.');
	char group[GROUP];

	snprintf(group, sizeof(group), "%.*s", (int)(dot - view->event), view->event);
	return ktread_type_find(facts->trace, group, dot + 1);
}

/*
 * Returns whether the event was recorded. An event that is declared twice has several types; a record of any
 * of these types is sufficient.
 */
static bool fired(const struct facts *facts, const struct ktread_type *type)
{
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *other =
			facts_fired(facts, id) ? ktread_type(facts->trace, id) : NULL;

		if (other && strcmp(other->group, type->group) == 0 && strcmp(other->name, type->name) == 0)
			return true;
	}
	return false;
}

/* Returns whether the event has the fields that views need. */
static bool understood(const struct facts *facts, const struct ktread_type *type)
{
	return wellknown_bind(facts->known, type)->kind != WELLKNOWN_OTHER;
}

/*
 * Adds a finding about a view, with the texts `before` and `text`, and with the line of C that makes the view
 * available.
 */
static void say_view(struct findings *report, enum finding_mark mark, const struct view *view,
		     const char *before, const char *text)
{
	findings_add(report, mark, view->name, "%s%s", before, text);
	findings_advise(report, view->where, "%s", view->line);
}

/* Examines a view that needs an event. Returns whether the view is lit. */
static bool examine_event(struct findings *report, const struct facts *facts, const struct view *view)
{
	const struct ktread_type *type = type_of(facts, view);

	if (!type)
		say_view(report, FINDING_DARK, view, "", view->enables);
	else if (!understood(facts, type))
		say_view(report, FINDING_WRONG, view, view->event,
			 " lacks a field that views need: doc/events.md lists the fields");
	else if (fired(facts, type))
		return true;
	else if (!(type->wanted & KTRX_STATE_RECORD))
		findings_add(report, FINDING_NOTE, view->name, "%s is switched off", view->event);
	else
		findings_add(report, FINDING_NOTE, view->name,
			     "%s is declared, but was not recorded in this run", view->event);
	return false;
}

/*
 * Returns the mark of the finding about a missing fact: usually dark, but a note if a run without that fact
 * is normal.
 */
static enum finding_mark mark_of(const struct subject *subject, const struct view *view)
{
	switch (view->bits) {
	case VIEW_PANIC:
	case VIEW_CALLERS:
	case VIEW_EXIT:
		return FINDING_NOTE;
	case VIEW_JOINS:
		return subject->facts->lit & VIEW_SLEEPS ? FINDING_NOTE : FINDING_OK;
	case VIEW_CPUS:
		return subject->cpus < 2 ? FINDING_OK : FINDING_DARK;
	case VIEW_IDLE:
		return subject->facts->lit & VIEW_MODES ? FINDING_NOTE : FINDING_DARK;
	default:
		return FINDING_DARK;
	}
}

/* Names of views that this run did not use, although the kernel may have what they need. */
struct unused {
	char alone[FINDING_LINE / 2];  /* the run had one CPU, and they are about several CPUs */
	char called[FINDING_LINE / 2]; /* their hooks are linked in, but were not called */
	char seen[FINDING_LINE / 2];   /* their facts were not seen */
};

static void add_name(char names[FINDING_LINE / 2], const char *name)
{
	const size_t at = strlen(names);

	snprintf(names + at, FINDING_LINE / 2 - at, "%s%s", at ? ", " : "", name);
}

static void say_unused(struct findings *report, const struct unused *unused)
{
	if (*unused->alone)
		findings_add(report, FINDING_NOTE, "one CPU", "not needed with one CPU: %s", unused->alone);
	if (*unused->called)
		findings_add(
			report, FINDING_NOTE, "not called",
			"linked in, but not called in this run: %s (ktrace doctor --list shows the lines)",
			unused->called);
	if (*unused->seen)
		findings_add(report, FINDING_NOTE, "not seen",
			     "not seen in this run: %s (ktrace doctor --list shows the lines)", unused->seen);
}

/*
 * Returns why the view is dark, if the trace shows a reason that the view's line of C alone would not cure.
 * Returns NULL if there is none.
 */
static const char *reason_of(const struct facts *facts, const struct view *view)
{
	const bool recorded = facts->events != 0;

	switch (view->bits) {
	case VIEW_RINGS:
		return !recorded ? NULL
		       : facts->initialised
			       ? "no CPU is online: ktrace_cpu_online() was not called, or returned an error"
			       : "ktrace_init() was not called in this run, or returned an error";
	case VIEW_THREADS:
		return recorded && !facts->initialised
			       ? "events before ktrace_init() have no thread ids: first do what rings needs"
			       : NULL;
	case VIEW_NAMES:
		return facts->initialised && !facts->has_names
			       ? "without .threads, ktrace_thread_name() stores no name, and returns an error"
			       : NULL;
	default:
		return NULL;
	}
}

static bool examine_fact(struct findings *report, const struct subject *subject, const struct view *view,
			 struct unused *unused)
{
	const char *reason = reason_of(subject->facts, view);

	if (subject->facts->lit & view->bits)
		return true;
	if (view->bits == VIEW_HOLDERS && subject->facts->has_table) {
		findings_add(
			report, FINDING_NOTE, view->name,
			"the table exists, but no thread has used it: its hooks were called for CPUs only, "
			"or not at all");
		return false;
	}
	if (reason) {
		say_view(report, FINDING_DARK, view, "", reason);
		return false;
	}
	switch (mark_of(subject, view)) {
	case FINDING_NOTE:
		if (view->bits == VIEW_JOINS)
			say_view(report, FINDING_NOTE, view, "not seen in this run: ", view->enables);
		else
			add_name(unused->seen, view->name);
		break;
	case FINDING_DARK:
		say_view(report, FINDING_DARK, view, "", view->enables);
		break;
	default:
		break;
	}
	return false;
}

/*
 * Returns whether the kernel may call the hook although it did not in this run. If a linker drops unused
 * functions, the kernel's file contains a hook only if the kernel calls it. Other linkers keep all hooks.
 * So if no hook was called at all, the file does not prove that the kernel may call this one.
 */
static bool may_be_called(const struct subject *subject, const struct view *view)
{
	return subject->facts->hooks && subject->has_kernel && subject->kernel.hooks & view->bits;
}

static bool examine_hook(struct findings *report, const struct subject *subject, const struct view *view,
			 struct unused *unused)
{
	const bool needs_table = view->bits & (KTRX_HOOK_THREAD | KTRX_HOOK_LOCK);

	if (subject->facts->hooks & view->bits && needs_table && !subject->facts->has_table) {
		findings_add(
			report, FINDING_DARK, view->name,
			"the hooks are called, but without .holders in ktrace_init() they keep no state");
		return false;
	}
	if (subject->facts->hooks & view->bits)
		return true;
	if (may_be_called(subject, view))
		add_name(unused->called, view->name);
	else
		say_view(report, FINDING_DARK, view, "", view->enables);
	return false;
}

/* Returns whether a kernel with one CPU has no use for the view. */
static bool needs_several_cpus(const struct view *view)
{
	return (view->sign == VIEW_BY_FACT && view->bits == VIEW_CLOCKS) ||
	       (view->sign == VIEW_BY_HOOK && view->bits == KTRX_HOOK_IPI) ||
	       (view->sign == VIEW_BY_EVENT && strcmp(view->event, "ipi.send") == 0);
}

/* Returns whether the machine has one CPU, as far as the trace and QEMU show, and its number is right. */
static bool has_one_cpu(const struct subject *subject)
{
	return subject->facts->cpus == 1 && subject->facts->misnumbered == 0 &&
	       (subject->cpus ? subject->cpus == 1 : subject->facts->online == 1);
}

/* Returns whether the trace shows what the view needs. */
static bool is_lit(const struct facts *facts, const struct view *view)
{
	const struct ktread_type *type = view->sign == VIEW_BY_EVENT ? type_of(facts, view) : NULL;

	return (type && fired(facts, type)) || (view->sign == VIEW_BY_FACT && facts->lit & view->bits) ||
	       (view->sign == VIEW_BY_HOOK && facts->hooks & view->bits);
}

static bool examine_view(struct findings *report, const struct subject *subject, const struct view *view,
			 struct unused *unused)
{
	if (needs_several_cpus(view) && has_one_cpu(subject) && !is_lit(subject->facts, view)) {
		add_name(unused->alone, view->name);
		return false;
	}
	switch (view->sign) {
	case VIEW_BY_EVENT:
		return examine_event(report, subject->facts, view);
	case VIEW_BY_FACT:
		return examine_fact(report, subject, view, unused);
	case VIEW_BY_HOOK:
		return examine_hook(report, subject, view, unused);
	default:
		return false;
	}
}

void examine_views(struct findings *report, const struct subject *subject)
{
	struct unused unused = { "", "", "" };
	char lit[FINDING_LINE] = "";
	size_t at = 0;

	if (rules_state_is_off(subject->facts->trace))
		findings_add(report, FINDING_NOTE, "state",
			     "debug.ktr.state is 0: the state of CPUs and threads is not kept, "
			     "so views of it are dark even if their hooks are called");
	for (uint32_t n = 0; n < VIEWS; n++)
		if (examine_view(report, subject, &views[n], &unused) && at < sizeof(lit))
			at += (size_t)snprintf(lit + at, sizeof(lit) - at, "%s%s", at ? ", " : "",
					       views[n].name);
	say_unused(report, &unused);
	if (at)
		findings_add(report, FINDING_OK, "lit", "%s", lit);
}

/* The views with which a new port should begin, in this order: each needs those before it. */
static const char *const first_views[] = { "cpus",  "rings", "thread-ids",  "holders",	 "switch",
					   "block", "wake",  "wake-nobody", "lock-state" };

static bool is_dark(const struct findings *report, const char *name)
{
	for (uint32_t n = 0; n < report->count; n++)
		if (report->finding[n].mark == FINDING_DARK && strcmp(report->finding[n].kind, name) == 0)
			return true;
	return false;
}

const char *examine_begin(const struct findings *report, char text[FINDING_LINE])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t n = 0; n < sizeof(first_views) / sizeof(first_views[0]); n++)
		if (is_dark(report, first_views[n]))
			at += (size_t)snprintf(text + at, FINDING_LINE - at, "%s%s", at ? ", " : "",
					       first_views[n]);
	return text;
}
