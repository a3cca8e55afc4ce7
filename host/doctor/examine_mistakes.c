/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reports mistakes in the calls of hooks, with the line of code to change, and violations of the rules that
 * every kernel obeys.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "analyze/threads.h"
#include "doctor/examine.h"

#define FEW  3u	 /* if a mistake occurs less often than this, it may be by chance */
#define SOME 16u /* if a mistake occurs at least this often, it is not by chance */

struct advice {
	const char *about;
	/* text after the number of occurrences; %s is replaced by the value of the first occurrence */
	const char *text;
	const char *where; /* place in the kernel where `line` must be inserted or changed */
	const char *line;
	bool decimal; /* true if the value is printed as a decimal number, false if as an address */
};

#define CLOCKS_WHERE "the configuration of ktrace_init()"
#define CLOCKS_LINE  ".clocks = KTRACE_CLOCKS_ASKED,"

#define STATE_WHERE "the context switch"
#define STATE_LINE                                                               \
	"ktrace_switch(prev, next, state); with the state that prev goes into: " \
	"0 runnable, 1 or 2 asleep, 3 stopped, 4 dead; translate the kernel's numbers into these"

static const struct advice advice[MISTAKES] = {
	[MISTAKE_ID_WIDE] = { "thread-ids",
			      "with a thread id of more than 22 bits, the first is %s: records keep 22 bits, "
			      "so -1 or an address loses its upper bits",
			      "sched.* events", "ids from 1 to 4194303, 0 for idle", true },
	[MISTAKE_ID_ONES] = { "thread-ids",
			      "by a thread whose id is 22 ones: "
			      "ktrace_arch_thread() returns -1 (or its context bits are part of the id)",
			      "ktrace_port.h", "#define ktrace_arch_thread() (current() ? current()->id : 0)",
			      true },
	[MISTAKE_ID_ZERO] = { "thread-ids",
			      "in which thread %s sleeps or is woken: "
			      "0 means idle threads and early boot, and no state is kept for it",
			      "thread creation",
			      "number threads from 1; if they are numbered so, remove all objects "
			      "and build again: some are older than ktrace_port.h",
			      true },
	[MISTAKE_ID_REUSED] = { "sched.create",
				"of a thread that exists already, the first is %s: "
				"its id was reused before sched.exit was recorded for the old thread",
				"the end of a thread, before its last switch", "ktrace_thread_end(thread);",
				true },
	[MISTAKE_SWAPPED] = { "sched.switch",
			      "go to the thread that the previous switch left, "
			      "and not from the thread that it went to, the first to %s: "
			      "prev and next are swapped",
			      "the context switch", "ktrace_switch(prev, next, state);", true },
	[MISTAKE_PREVIOUS] = { "sched.switch",
			       "leave a thread that the previous switch did not go to, the first leaves %s: "
			       "a path that switches has no hook, "
			       "or prev is read after current() has changed",
			       "every context switch", "ktrace_switch(prev, next, state);", true },
	[MISTAKE_SAME] = { "sched.switch",
			   "go from a thread to itself, the first is %s: that is no switch, "
			   "and it fills the ring",
			   "the context switch",
			   "ktrace_switch(prev, next, state); in place of KTRACE(sched, switch, …): "
			   "it records a switch only if prev and next differ",
			   true },
	[MISTAKE_STATE_ZERO] = { "sched.switch",
				 "have state 0, all of them: threads that sleep look runnable, "
				 "and 'ktrace why' would report that they starve",
				 "the context switch",
				 "ktrace_switch(prev, next, state); with the state that prev goes into: "
				 "0 runnable, 1 or 2 asleep, 3 stopped, 4 dead",
				 true },
	[MISTAKE_STATE_RANGE] = { "sched.switch",
				  "with a state above 4, the first is %s: these are the kernel's own numbers "
				  "of states, so 'ktrace why' does not use the states",
				  STATE_WHERE, STATE_LINE, true },
	[MISTAKE_STATE_DEAD] = { "sched.switch",
				 "leave a thread in state %s, which means dead, "
				 "but threads that were left in it ran again: "
				 "it is a constant or one of the kernel's own numbers, "
				 "so 'ktrace why' does not use the states",
				 STATE_WHERE, STATE_LINE, true },
	[MISTAKE_STATE_STOPPED] = { "sched.switch",
				    "leave a thread in state %s, which means stopped, "
				    "but threads that were left in it ran again without a wakeup: "
				    "it is a constant or one of the kernel's own numbers, "
				    "so 'ktrace why' does not use the states",
				    STATE_WHERE, STATE_LINE, true },
	[MISTAKE_STATE_SAME] = { "sched.switch",
				 "have state %s, all of them, which means asleep, "
				 "but some threads were preempted and ran again without a wakeup: "
				 "it is a constant, so 'ktrace why' does not use the states",
				 STATE_WHERE, STATE_LINE, true },
	[MISTAKE_TWO_CPUS] = { "sched.switch",
			       "of a thread that ran on two CPUs at once, the first is %s: "
			       "several threads share an id, or a switch has no hook; "
			       "idle threads need id 0 or a name that begins with idle",
			       "the context switch", "ktrace_switch(prev, next, state);", true },
	[MISTAKE_BLOCK_ELSEWHERE] = { "sched.block",
				      "for a thread that does not run on that CPU, the first is %s: "
				      "the event is recorded after the switch, or for another thread",
				      "where a thread is about to wait: called by that thread, "
				      "before it switches away",
				      "ktrace_block(object, name, kind, deadline); once for each wait, "
				      "neither after the switch nor by another thread",
				      true },
	[MISTAKE_WAKE_RUNNING] = { "sched.wake",
				   "of the thread that runs, the first is %s: "
				   "record it only where a thread is made runnable",
				   "after the test that the thread sleeps", "ktrace_wake(thread);", true },
	[MISTAKE_IRQ_EXIT] = { "irq.exit",
			       "missing: interrupt %s began again on a CPU before it had ended there",
			       "last thing in an interrupt, on every path, before a switch at its end",
			       "ktrace_interrupt_exit(irq);", true },
	[MISTAKE_IRQ_ENTER] = { "irq.enter", "missing: interrupt %s ended on a CPU where it had not begun",
				"first thing in an interrupt", "ktrace_interrupt_enter(irq);", true },
	[MISTAKE_SYSCALL_EXIT] = { "syscall.exit",
				   "recorded, and the next call of the same thread follows without a return; "
				   "hardly any returns are recorded; the first call is by thread %s",
				   "system call exit, on every way back to user mode",
				   "KTRACE(syscall, exit, nr, result);", true },
	[MISTAKE_RELEASE] = { "lock.release",
			      "by a thread that does not hold the lock, the first is of %s: "
			      "do not record a lock that one thread takes and another releases, "
			      "like a scheduler lock or a semaphore",
			      "around a lock that is taken", "leave out the hooks of this lock", false },
	[MISTAKE_CONTEND] = { "lock.contend",
			      "followed by neither lock.acquire nor lock.fail of that lock "
			      "before the thread waits for the next lock, the first is %s",
			      "after the wait: where the thread got the lock; where it gave up",
			      "ktrace_acquire(lock, by); … KTRACE(lock, fail, lock, name); "
			      "ktrace_lock_give_up(by);",
			      false },
	[MISTAKE_CPU_SHARED] = { "CPU numbers",
				 "by a thread after another thread had recorded on the same CPU, "
				 "without a switch back to it, the first by %s: "
				 "a path that switches has no hook, "
				 "or two CPUs record under one number "
				 "because ktrace_arch_cpu() returns it on both, "
				 "or a hook is called before the per-CPU base is set",
				 "every context switch; ktrace_port.h; entry code before the base is set",
				 "ktrace_switch(prev, next, state); "
				 "… #define ktrace_arch_cpu() (this_cpu()->number) "
				 "… KTRACE_EARLY(group, event, …);",
				 true },
	[MISTAKE_WAIT_LEFT] = { "locks",
				"the kernel's table shows a thread that waits for a lock, "
				"although the thread has been in user mode since; the first lock is %s: "
				"the wait has ended, but no hook recorded its end",
				"after the wait: where the thread got the lock; where it gave up",
				"ktrace_acquire(lock, by); … ktrace_lock_give_up(by);", false },
	[MISTAKE_OWNER] = { "locks",
			    "a hook gave CPU 0 or thread 0 as the holder of a lock "
			    "that another CPU or thread held, the first for %s: "
			    "0 does not mean that the holder is unknown",
			    "before waiting for a lock whose holder is not known",
			    "ktrace_contend(lock, name, by, KTRACE_NOBODY);", false },
	[MISTAKE_STILL_RUNS] = { "threads",
				 "the kernel's table shows a thread that runs, although its CPU has "
				 "switched to another thread since; the last one is thread %s: "
				 "a switch has no hook, or the hook gave another number for this thread, "
				 "such as one from the memory of a thread that was freed",
				 "the context switch; the end of a thread, before its memory is freed",
				 "ktrace_switch(prev, next, state); … ktrace_thread_end(id);", true },
	[MISTAKE_DEADLINE] = { "threads",
			       "the kernel's table shows a wait whose deadline is before the wait, or "
			       "only deadlines more than a year ahead; the last one is of thread %s: "
			       "a deadline is a timestamp of ktrace's clock, not a duration",
			       "before a thread sleeps with a timeout",
			       "ktrace_block(object, name, kind, ktrace_arch_clock() + ticks);", true },
};

/* Returns the noun for the occurrences of a mistake, such as "switches" or "events". */
static const char *counted(enum mistake mistake, uint64_t count)
{
	switch (mistake) {
	case MISTAKE_SWAPPED:
	case MISTAKE_PREVIOUS:
	case MISTAKE_SAME:
	case MISTAKE_STATE_ZERO:
	case MISTAKE_STATE_RANGE:
	case MISTAKE_STATE_DEAD:
	case MISTAKE_STATE_STOPPED:
	case MISTAKE_STATE_SAME:
		return count == 1 ? "switch" : "switches";
	case MISTAKE_SYSCALL_EXIT:
		return count == 1 ? "system call is" : "system calls are";
	case MISTAKE_IRQ_EXIT:
	case MISTAKE_IRQ_ENTER:
	case MISTAKE_WAIT_LEFT:
	case MISTAKE_OWNER:
	case MISTAKE_STILL_RUNS:
	case MISTAKE_DEADLINE:
		return count == 1 ? "time" : "times";
	default:
		return count == 1 ? "event" : "events";
	}
}

/* Text before a mistake that follows only from the order of events on different CPUs. */
#define IF_ORDERED \
	"this holds only if events of different CPUs are in the right order, which is not certain: "

static void say_mistake(struct findings *report, const struct mistakes *mistakes, enum mistake mistake)
{
	const bool certain = mistakes_are_certain(mistakes, mistake);
	const struct mistake_count *row = &mistakes->of[mistake];
	const struct advice *say = &advice[mistake];
	const uint64_t count = mistake == MISTAKE_STATE_ZERO ? mistakes->switches : row->count;
	const char *gap = strstr(say->text, "%s");
	char value[24] = "";

	if (gap)
		snprintf(value, sizeof(value), say->decimal ? "%" PRId64 : "0x%" PRIx64,
			 row->value > UINT32_MAX / 2 && row->value <= UINT32_MAX && say->decimal
				 ? (int64_t)(int32_t)(uint32_t)row->value
				 : (int64_t)row->value);
	findings_add(report, mistake == MISTAKE_SAME || !certain ? FINDING_NOTE : FINDING_WRONG, say->about,
		     "%s%" PRIu64 " %s %.*s%s%s", certain ? "" : IF_ORDERED, count, counted(mistake, count),
		     (int)(gap ? gap - say->text : (long)strlen(say->text)), say->text, value,
		     gap ? gap + 2 : "");
	if (!certain && mistakes->unmeasured)
		findings_advise(report, CLOCKS_WHERE, CLOCKS_LINE);
	else
		findings_advise(report, say->where, "%s", say->line);
}

/* Returns whether `count` is at least FEW and at least a tenth of `of`, the number of events of that kind. */
static bool often(uint64_t count, uint64_t of)
{
	return count >= FEW && count >= of / 10;
}

/* Returns whether the states of sched.switch are wrong. */
static bool mistakes_of_states(const struct mistakes *m)
{
	return mistakes_made(m, MISTAKE_STATE_RANGE) || mistakes_made(m, MISTAKE_STATE_DEAD) ||
	       mistakes_made(m, MISTAKE_STATE_STOPPED) || mistakes_made(m, MISTAKE_STATE_SAME);
}

/*
 * Returns whether threads may seem to run although the CPU has left them: sched.switch was off for some time,
 * and the clocks of the CPUs do not show which of their events belong to this time.
 */
static bool may_lack_switches(const struct mistakes *m)
{
	return m->switches_off && m->unordered;
}

bool mistakes_made(const struct mistakes *m, enum mistake mistake)
{
	const uint64_t count = m->of[mistake].count;

	switch (mistake) {
	case MISTAKE_ID_WIDE:
	case MISTAKE_ID_ONES:
	case MISTAKE_ID_ZERO:
	case MISTAKE_TWO_CPUS:
	case MISTAKE_STATE_RANGE:
		return count > 0;
	case MISTAKE_ID_REUSED:
		return !m->ends_off && count > 0;
	/* which thread runs again is known only if the fields prev and next are right */
	case MISTAKE_STATE_DEAD:
	case MISTAKE_STATE_STOPPED:
	case MISTAKE_STATE_SAME:
		return count > 0 && !mistakes_made(m, MISTAKE_SWAPPED) &&
		       !mistakes_made(m, MISTAKE_PREVIOUS) && !mistakes_made(m, MISTAKE_CPU_SHARED);
	case MISTAKE_SWAPPED: /* if arguments are swapped, nearly all switches are wrong */
		return count >= FEW && count >= m->switches - m->switches / 4;
	case MISTAKE_PREVIOUS:
		return often(count, m->switches) && !mistakes_made(m, MISTAKE_SWAPPED) &&
		       !mistakes_made(m, MISTAKE_CPU_SHARED);
	case MISTAKE_SAME:
		return often(count, m->switches);
	case MISTAKE_STATE_ZERO:
		return m->has_state && m->states == 0 && m->switches >= SOME && m->blocks + m->wakes >= FEW;
	case MISTAKE_BLOCK_ELSEWHERE:
		return !may_lack_switches(m) && often(count, m->blocks) &&
		       !mistakes_made(m, MISTAKE_CPU_SHARED);
	case MISTAKE_CPU_SHARED:
		return !may_lack_switches(m) && m->switches >= FEW && count >= SOME;
	case MISTAKE_WAIT_LEFT:
	case MISTAKE_OWNER:
	case MISTAKE_DEADLINE:
		return count > 0;
	case MISTAKE_STILL_RUNS:
		return count > 0 && !mistakes_made(m, MISTAKE_SWAPPED) &&
		       !mistakes_made(m, MISTAKE_PREVIOUS) && !mistakes_made(m, MISTAKE_CPU_SHARED);
	case MISTAKE_WAKE_RUNNING:
		return !may_lack_switches(m) && count >= FEW && count >= m->wakes / 2;
	case MISTAKE_IRQ_EXIT:
		return !m->irqs_off && (often(count, m->enters) ||
					(m->lost_ends >= SOME && m->lost_ends >= m->lost_ends_of / 2));
	case MISTAKE_IRQ_ENTER:
		return !m->irqs_off && often(count, m->enters);
	case MISTAKE_SYSCALL_EXIT: /* exec and exit do not return */
		return !m->calls_off && m->calls >= SOME && m->of[mistake].sure >= SOME / 2 &&
		       m->returns < m->calls / 4;
	case MISTAKE_RELEASE:
		return !m->locks_off && often(count, m->releases);
	case MISTAKE_CONTEND:
		return !m->locks_off && often(count, m->contends);
	case MISTAKES:
		break;
	}
	return false;
}

bool mistakes_are_certain(const struct mistakes *m, enum mistake mistake)
{
	static const enum mistake ordered[] = { MISTAKE_ID_REUSED, MISTAKE_TWO_CPUS,  MISTAKE_RELEASE,
						MISTAKE_CONTEND,   MISTAKE_WAIT_LEFT, MISTAKE_OWNER };
	struct mistakes sure = *m;

	for (size_t n = 0; n < sizeof(ordered) / sizeof(ordered[0]); n++)
		if (m->unordered && sure.of[ordered[n]].count > sure.of[ordered[n]].sure)
			sure.of[ordered[n]].count = sure.of[ordered[n]].sure;
	return mistakes_made(&sure, mistake);
}

int examine_mistakes(struct findings *report, struct subject *subject, struct ktread *trace)
{
	struct mistakes mistakes;
	int status = mistakes_read(&mistakes, trace);

	for (int mistake = 0; mistake < MISTAKES && status == 0; mistake++) {
		if (!mistakes_made(&mistakes, (enum mistake)mistake))
			continue;
		say_mistake(report, &mistakes, (enum mistake)mistake);
		subject->mistaken |=
			mistake != MISTAKE_SAME && mistakes_are_certain(&mistakes, (enum mistake)mistake);
	}
	subject->states_wrong = status == 0 && mistakes_of_states(&mistakes);
	return status;
}

/* ---- Rules that every kernel obeys ---- */

/*
 * Returns the line of code to change if the kernel obeys the rule but a hook is wrong. Returns NULL if no
 * such line is known.
 */
static const char *hook_of(const char *rule)
{
	static const struct {
		const char *rule, *line;
	} hooks[] = {
		{ "switch-in-interrupt",
		  "ktrace_interrupt_exit(irq); before a switch at the end of a handler" },
		{ "sleep-in-interrupt",
		  "ktrace_arch_thread() must return thread context again when a handler ends" },
		{ "syscall-in-interrupt",
		  "ktrace_arch_thread() must return thread context again when a handler ends" },
		{ "run-without-wake", "ktrace_wake(thread); wherever a thread is made runnable" },
		{ "run-after-death", "KTRACE(sched, create, thread); when an id is reused" },
		{ "run-twice", "ktrace_switch(prev, next, state); at every switch, once" },
		{ "wake-after-death",
		  "ktrace_thread_end(thread); in the thread that ends, before its last switch" },
		{ "eoi-twice", "ktrace_eoi(irq); once for each interrupt" },
		{ "syscall-in-syscall", "KTRACE(syscall, exit, nr, result); on every way back to user mode" },
		{ "fault-unfinished", "ktrace_fault_exit(address, how); on every way out of the handler" },
		{ "exit-with-lock", "ktrace_release(lock, by); wherever the lock is released" },
		{ "return-with-lock", "ktrace_release(lock, by); wherever the lock is released" },
		{ "switch-with-lock",
		  "ktrace_release(lock, by); not for a lock that a switch passes to another thread" },
		{ "switch-with-preemption-off",
		  "ktrace_preempt(depth); whenever the depth changes, by switches too" },
		{ "switch-in-handler",
		  "ktrace_interrupt_exit(irq); before a switch at the end of a handler" },
		{ "unlock-unheld",
		  "ktrace_acquire(lock, by); with the same `by` as the release, by the holder" },
		{ "lock-held", "ktrace_release(lock, by); for every lock, before it can be taken again" },
	};

	for (size_t n = 0; n < sizeof(hooks) / sizeof(hooks[0]); n++)
		if (strcmp(hooks[n].rule, rule) == 0)
			return hooks[n].line;
	return NULL;
}

static void ignore(void *context, const struct check_violation *violation)
{
	(void)context;
	(void)violation;
}

static void say_violation(struct findings *report, const struct subject *subject, struct ktread *trace,
			  const struct rule *rule, const struct check_result *result)
{
	const uint64_t base = ktread_first_stamp(trace), frequency = subject->facts->info->frequency;
	const char *line = hook_of(rule->name);
	const bool known = result->uncertain < result->violated;
	char when[48] = "", doubt[80] = "";

	if (frequency && result->first.stamp >= base)
		snprintf(when, sizeof(when), " at %.6f s",
			 (double)(result->first.stamp - base) / (double)frequency);
	if (result->uncertain && known)
		snprintf(doubt, sizeof(doubt), ", %" PRIu64 " of them only in the order of the timestamps",
			 result->uncertain);
	findings_add(report, known ? FINDING_WRONG : FINDING_NOTE, "rules",
		     "%s %s violated %" PRIu64 " time%s, first on CPU %" PRIu32 " by thread %" PRIu32
		     "%s%s: %s; ktrace check shows the events before it",
		     rule->name, known ? "is" : "may be", result->violated, finding_plural(result->violated),
		     result->first.cpu, result->first.thread, when, doubt,
		     known ? "a mistake in the kernel or in a hook"
			   : "that depends on the order of events on CPUs whose clocks were not measured");
	if (!known)
		findings_advise(report, CLOCKS_WHERE, CLOCKS_LINE);
	else if (line)
		findings_advise(report, "if it is a hook", "%s", line);
}

/*
 * Reports possible violations of a rule. They are uncertain, because the order of their events on different
 * CPUs is uncertain.
 */
static void say_unordered(struct findings *report, const struct subject *subject, const struct rule *rule,
			  uint64_t count)
{
	const bool measured = subject->facts->info->clock == KTREAD_CLOCK_MEASURED;
	const uint64_t frequency = subject->facts->info->frequency;
	char within[48] = "";

	if (frequency && subject->clock_doubt)
		snprintf(within, sizeof(within), " less than %.1f us apart",
			 (double)subject->clock_doubt * 1e6 / (double)frequency);
	findings_add(report, FINDING_NOTE, "rules",
		     "%s may be violated %" PRIu64
		     " time%s: the order of events%s on different CPUs is uncertain",
		     rule->name, count, finding_plural(count), within);
	if (!measured)
		findings_advise(report, CLOCKS_WHERE, CLOCKS_LINE);
}

/* Returns how often a rule was not decided, apart from the times that say_unordered() reports. */
static uint64_t open_of(const struct check_result *result)
{
	return result->undecided + result->unknown + result->may_live + result->no_room;
}

#define RUNNING (1u << THREADS_RUNNING)

int examine_rules(struct findings *report, const struct subject *subject, struct ktread *trace)
{
	struct check_result *results = calloc(RULES_MAX, sizeof(*results));
	struct rules_error error;
	uint32_t checked = 0, open = 0, places = 0;
	uint64_t undecided = 0;
	char but[96] = "";
	int status = results ? 0 : KTREAD_E_MEMORY;

	if (!subject->rules || status) {
		free(results);
		return status;
	}
	status = rules_bind(subject->rules, trace, &error);
	if (status == 0)
		status = check_read(subject->rules, trace, subject->clock_doubt, results, ignore, NULL);
	for (uint32_t n = 0; n < subject->rules->count && status == 0; n++) {
		const struct rule *rule = &subject->rules->rule[n];

		if (subject->states_wrong && rule->thread_states & ~RUNNING)
			continue; /* the states are wrong; this is reported already, and affects this rule */
		checked += rule->checked && rule->form != RULE_DEPTH;
		if (results[n].violated)
			say_violation(report, subject, trace, rule, &results[n]);
		if (results[n].unordered)
			say_unordered(report, subject, rule, results[n].unordered);
		open += results[n].violated || results[n].unordered;
		if (!rule->checked || rule->form == RULE_DEPTH)
			continue; /* the rules that use a depth count its open cases */
		undecided += open_of(&results[n]);
		places += open_of(&results[n]) != 0;
	}
	if (undecided)
		snprintf(but, sizeof(but), "; not decided: %" PRIu32 " rule%s, %" PRIu64 " time%s", places,
			 finding_plural(places), undecided, finding_plural(undecided));
	if (status == 0 && !open && checked)
		findings_add(report, undecided || check_lacks_end(trace) ? FINDING_NOTE : FINDING_OK, "rules",
			     "none of the %" PRIu32
			     " rules that hold for every kernel is violated%s%s (see ktrace check)",
			     checked, check_lacks_end(trace) ? " before the trace is cut short" : "", but);
	else if (status == 0 && undecided)
		findings_add(report, FINDING_NOTE, "rules", "%s (see ktrace check)", but + strlen("; "));
	free(results);
	return status < 0 ? status : ktread_rewind(trace);
}
