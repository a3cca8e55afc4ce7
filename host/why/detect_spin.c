/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Spins: a thread that runs without progress. For half a second it has recorded no event of its own, and each
 * interrupt found it in the same small range of code, in the kernel or in a program outside of a system call.
 * A computation looks the same in a trace. So the finding is likely only if the thread stays within a few
 * instructions for a long time. If interrupts are disabled, the CPU's registers show where the thread is.
 */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "why/answers.h"
#include "why/pulse.h"
#include "why/finding.h"

#define CALM_MS 500u /* minimum time in ms for which the thread has recorded no event of its own */
/* time in ms: a computation usually ends, or continues in other code, before this time has passed */
#define LONG_MS 2000u
/*
 * minimum time in ms without a heartbeat; a shorter time proves nothing, because the host may have stopped
 * the virtual CPU
 */
#define OFF_MS 1000u
/* time in ms: a host that is very busy may stop a whole machine, but not for this long */
#define HOST_MS	    2000u
#define ALIKE_MS    100u /* time in ms: two CPUs that stopped within this time stopped at the same time */
#define SMALL_REACH 32u	 /* size in bytes of a loop of a few instructions */
/* minimum number of times that the thread was interrupted in a loop that is reported */
#define INTERRUPTIONS 8u
#define FRAMES	      6u /* maximum number of stack frames that are listed */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the earliest timestamp after which the trace contains all events that the thread recorded on that
 * CPU. Returns the end of the trace if events are missing up to the end.
 */
static uint64_t known_since(const struct why_evidence *evidence, const struct why_cpu *cpu,
			    const struct why_thread *thread)
{
	uint64_t since = thread->first;

	if (since == UINT64_MAX) /* no event of the trace mentions the thread */
		since = thread->has_holder && thread->holder.state == KTRX_THREAD_RUNNING
				? thread->holder.state_stamp
				: evidence->end;
	since = later(since, later(evidence->gap, evidence->first));
	return cpu->cut ? later(since, cpu->first_stamp) : since;
}

/*
 * Returns the earliest timestamp after which the thread was certainly awake and recorded no event of its own.
 * `last` is the timestamp of its last event.
 */
static uint64_t calm_since(const struct why_evidence *evidence, const struct why_cpu *cpu,
			   const struct why_thread *thread, uint64_t last)
{
	return later(later(last, thread->slept_until), known_since(evidence, cpu, thread));
}

/*
 * Returns whether the thread's own row in the kernel's table shows that the thread waits. The row of its CPU
 * shows only waits for spinlocks.
 */
static bool waits_for_something(const struct why_thread *thread)
{
	return thread->has_holder && thread->holder.wait != KTRX_WAIT_NONE;
}

/* ---- CPUs that are in the kernel's panic function ------------------------------------------------ */

/*
 * Returns the name of the outermost function on the CPU's stack whose name contains a word such as "panic";
 * NULL if there is none. Sets *frames to the number of frames from the innermost one up to that function,
 * both included.
 */
static const char *panic_function(const struct why_evidence *evidence, const struct why_cpu *cpu,
				  uint32_t *frames)
{
	struct symbol symbol;

	for (*frames = cpu->frames; *frames > 0; (*frames)--)
		if (why_is_panic_function(evidence, cpu->frame[*frames - 1]) &&
		    symbols_find_call(evidence->symbols, cpu->frame[*frames - 1], &symbol) == 0)
			return symbol.function;
	return why_is_panic_function(evidence, cpu->pc + 1) &&
			       symbols_find(evidence->symbols, cpu->pc, &symbol) == 0
		       ? symbol.function
		       : NULL;
}

/*
 * Adds a line about the CPU's last trap, if this trap was an exception. Many kernels stop in a loop in their
 * exception handler, and the exception is then what went wrong. If the handler is not on the stack, the
 * exception may have been handled.
 */
static void say_exception(const struct why_evidence *evidence, const struct why_cpu *cpu,
			  struct why_finding *finding)
{
	const bool handles = why_is_in_handler(evidence, cpu);
	char place[WHY_WORDS];

	if (cpu->fetch_failed && !cpu->trap_pc)
		finding_evidence(&finding->base,
				 "%s a jump to address 0: a null function pointer was called, or a return "
				 "address is 0",
				 handles ? "it handles an exception," : "the last exception on that CPU was");
	else if (cpu->trap_pc && handles)
		finding_evidence(&finding->base, "it handles an exception of the instruction at %s",
				 why_say_place(evidence, cpu->trap_pc, place, sizeof(place)));
	else if (cpu->trap_pc)
		finding_evidence(&finding->base, "the last exception on that CPU was at %s",
				 why_say_place(evidence, cpu->trap_pc, place, sizeof(place)));
	if (handles && (cpu->fetch_failed || cpu->trap_pc) && !finding->base.advice[0])
		finding_say(finding->base.advice, "call ktrace_panic() in the exception handler");
}

/* Reports a kernel that has stopped itself in `function` without a call of ktrace_panic(). */
static int found_panic(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct why_cpu *cpu, const char *function, uint32_t frames)
{
	struct why_finding *finding = why_finding_new(findings, WHY_PANIC, FINDING_LIKELY);
	char thread[WHY_WORDS], name[WHY_WORDS + 1], ticks[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_running(evidence, cpu, thread, sizeof(thread));
	*base_escape_text(name, function, strlen(function), WHY_WORDS) = '\0';
	finding_say(finding->base.what, "%s has stopped in %s() on CPU %" PRIu32 "%s", thread, name,
		    cpu->number,
		    cpu->row.interrupts == KTRX_INTERRUPTS_OFF ? ", with interrupts disabled" : "");
	why_finding_stack(finding, evidence, cpu, frames + FRAMES);
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	say_exception(evidence, cpu, finding);
	finding_say(finding->base.advice,
		    "call ktrace_panic() in %s(), which records the reason of the panic", name);
	why_finding_cpu(finding, cpu, frames < cpu->frames ? cpu->frame[frames] : cpu->pc,
			why_silence(evidence, cpu));
	return 0;
}

/* ---- Spins with interrupts enabled --------------------------------------------------------------- */

static bool ran_all_the_time(const struct why_evidence *evidence, const struct why_thread *thread,
			     uint64_t calm)
{
	const uint64_t seen = calm < evidence->window ? calm : evidence->window;

	return thread->ran >= seen / 2;
}

/* A loop of a thread, in which all interrupts found it. */
struct loop {
	uint64_t since; /* timestamp since which the thread has recorded no event of its own */
	enum why_side side;
	struct why_places places;
};

static void say_user(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct why_thread *thread, struct why_finding *finding)
{
	const uint64_t exits = cpu->row.user_exits, enters = cpu->row.user_enters;

	if (thread->syscalls.count)
		finding_evidence(&finding->base,
				 "it has made %" PRIu64
				 " system call%s in the trace, and none is in progress",
				 thread->syscalls.count, finding_plural(thread->syscalls.count));
	if (cpu->has_row && cpu->row.mode == KTRX_MODE_USER && exits)
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " went to user mode %" PRIu64 " time%s and left it %" PRIu64
				 " time%s: it is still in user mode",
				 cpu->number, exits, finding_plural(exits), enters, finding_plural(enters));
	if (!evidence->symbols)
		finding_say(
			finding->base.advice,
			"pass the kernel's file with --elf: it shows which addresses belong to the kernel");
}

static void say_spin(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct why_thread *thread, const struct loop *loop, struct why_finding *finding)
{
	const struct why_places *places = &loop->places;
	const bool user = loop->side == WHY_SIDE_USER;
	const uint64_t since = loop->since;
	char actor[WHY_WORDS], place[WHY_WORDS], ticks[WHY_WORDS];

	why_say_actor(evidence, thread->id + 1, actor, sizeof(actor));
	why_say_ticks(evidence, why_age(evidence, since), ticks, sizeof(ticks));
	if (user && thread->syscalls.count && thread->last_call == since)
		finding_say(finding->base.what,
			    "%s spins in user mode on CPU %" PRIu32 ", for %s since its last system call",
			    actor, cpu->number, ticks);
	else if (user)
		finding_say(finding->base.what, "%s spins in user mode on CPU %" PRIu32 ", for %s", actor,
			    cpu->number, ticks);
	else
		finding_say(finding->base.what, "%s spins in the kernel on CPU %" PRIu32 ", at %s, for %s",
			    actor, cpu->number, why_say_place(evidence, places->newest, place, sizeof(place)),
			    ticks);
	finding_evidence(&finding->base,
			 "the last %" PRIu32 " times that it was interrupted, it was between 0x%" PRIx64
			 " and 0x%" PRIx64,
			 places->count, places->lowest, places->highest);
	if (thread->last_own_event > since)
		finding_evidence(
			&finding->base,
			"the kernel took locks after some of these interrupts, but not for the thread");
	finding_evidence(&finding->base, "it recorded no event of its own, and ran for %s of the last %s",
			 why_say_ticks(evidence, thread->ran, ticks, sizeof(ticks)),
			 why_say_ticks(evidence, evidence->window, place, sizeof(place)));
	if (user)
		say_user(evidence, cpu, thread, finding);
	else if (cpu->has_registers)
		why_finding_stack(finding, evidence, cpu, FRAMES);
	finding->base.partial = cpu->lost > 0;
	why_finding_actor(finding, (struct why_actor){ .id = thread->id + 1,
						       .ticks = why_age(evidence, since),
						       .pc = places->newest,
						       .exact = true });
}

/*
 * Returns how certain the finding is. A normal loop over memory also stays in one place for long. So the
 * finding is likely only if the thread stays within a few instructions for a long time.
 */
static enum finding_certainty how_sure(const struct why_evidence *evidence, const struct why_places *places,
				       uint64_t calm)
{
	return calm >= why_ms(evidence, LONG_MS) && places->highest - places->lowest < SMALL_REACH
		       ? FINDING_LIKELY
		       : FINDING_POSSIBLE;
}

/*
 * Sets *loop and returns true if all interrupts since the thread's event at `last` found it in one loop.
 * Returns false if this is not known for long enough.
 */
static bool find_loop(const struct why_evidence *evidence, const struct why_cpu *cpu,
		      const struct why_thread *thread, uint64_t last, struct loop *loop)
{
	const uint64_t since = calm_since(evidence, cpu, thread, last), calm = why_age(evidence, since);

	if (calm < why_ms(evidence, CALM_MS) || !ran_all_the_time(evidence, thread, calm) ||
	    why_is_flooded(evidence, cpu))
		return false;
	loop->since = since;
	why_places_of(evidence, cpu, thread->id, since, &loop->places);
	if (loop->places.count < INTERRUPTIONS || !why_places_are_one(evidence, &loop->places))
		return false;
	loop->side = why_side_of_places(evidence, cpu, &loop->places, since);
	return loop->side != WHY_SIDE_UNKNOWN && !(loop->side == WHY_SIDE_USER && thread->in_syscall);
}

/*
 * Finds a loop. The thread may have taken locks that are not the scheduler's directly after interrupts. This
 * does not count if the interrupts found the thread in user mode, where it takes no locks of the kernel.
 */
static bool has_loop(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct why_thread *thread, struct loop *loop)
{
	return (find_loop(evidence, cpu, thread, thread->last_call, loop) && loop->side == WHY_SIDE_USER) ||
	       find_loop(evidence, cpu, thread, thread->last_work, loop);
}

/* Returns whether the loop may have begun earlier: its known beginning is the end of a loss of events. */
static bool is_limited_by_rings(const struct why_evidence *evidence, const struct why_cpu *cpu,
				const struct why_thread *thread, const struct loop *loop)
{
	return loop->places.highest - loop->places.lowest < SMALL_REACH &&
	       why_age(evidence, loop->since) < why_ms(evidence, LONG_MS) &&
	       loop->since == known_since(evidence, cpu, thread) &&
	       (loop->since == evidence->gap || (cpu->cut && loop->since == cpu->first_stamp));
}

static int look_for_loop(const struct why_evidence *evidence, struct why_findings *findings,
			 const struct why_cpu *cpu, const struct why_thread *thread)
{
	struct why_finding *finding;
	const char *function;
	struct loop loop;
	uint32_t frames;

	if (!has_loop(evidence, cpu, thread, &loop))
		return 0;
	if (loop.side == WHY_SIDE_KERNEL && cpu->has_registers &&
	    (function = panic_function(evidence, cpu, &frames)))
		return found_panic(evidence, findings, cpu, function, frames);
	finding = why_finding_new(findings, loop.side == WHY_SIDE_USER ? WHY_USER_SPIN : WHY_KERNEL_SPIN,
				  how_sure(evidence, &loop.places, why_age(evidence, loop.since)));
	if (!finding)
		return KTREAD_E_MEMORY;
	say_spin(evidence, cpu, thread, &loop, finding);
	if (!finding->base.advice[0] && finding->base.certain == FINDING_POSSIBLE &&
	    is_limited_by_rings(evidence, cpu, thread, &loop))
		finding_say(finding->base.advice,
			    "use rings with more slots, because the loop may have lasted for "
			    "longer than they show");
	if (!finding->base.advice[0])
		finding_say(finding->base.advice,
			    "take another trace later, because a computation%s looks the same while it lasts",
			    loop.side == WHY_SIDE_USER ? "" : ", or a loop that polls for input,");
	return 0;
}

/* ---- Spins with interrupts disabled -------------------------------------------------------------- */

/*
 * Adds a line if the stack pointer is below the stack of the running thread. After a stack overflow without a
 * guard page, a CPU may spin in code that was overwritten, or take one exception after another. But the CPU
 * may also use another stack, for example for interrupts.
 */
static void say_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
			   struct why_finding *finding)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	if (!thread || !thread->has_holder || cpu->row.nesting || !cpu->sp ||
	    cpu->sp >= thread->holder.stack_low)
		return;
	finding_evidence(&finding->base,
			 "the stack pointer is 0x%" PRIx64
			 ", below the thread's stack, whose lowest address is 0x%" PRIx64,
			 cpu->sp, thread->holder.stack_low);
}

static int found_off(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct why_cpu *cpu)
{
	uint32_t frames;
	const char *function = panic_function(evidence, cpu, &frames);
	struct why_finding *finding;
	char thread[WHY_WORDS], place[WHY_WORDS], ticks[WHY_WORDS];

	if (function)
		return found_panic(evidence, findings, cpu, function, frames);
	finding = why_finding_new(findings, WHY_KERNEL_SPIN, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	why_say_running(evidence, cpu, thread, sizeof(thread));
	why_say_place(evidence, cpu->pc, place, sizeof(place));
	finding_say(finding->base.what,
		    "%s spins in the kernel with interrupts disabled on CPU %" PRIu32 ", at %s", thread,
		    cpu->number, place);
	why_finding_stack(finding, evidence, cpu, FRAMES);
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	if (cpu->vector_fails && cpu->trap_pc == cpu->pc)
		finding_evidence(&finding->base,
				 "exceptions are handled at 0x%" PRIx64 ", where no instruction can be "
				 "fetched: it takes one exception after another",
				 cpu->pc);
	else
		say_exception(evidence, cpu, finding);
	say_left_stack(evidence, cpu, finding);
	if (cpu->row.interrupts_pc)
		finding_evidence(&finding->base, "interrupts were disabled at %s",
				 why_say_call(evidence, cpu->row.interrupts_pc, place, sizeof(place)));
	if (cpu->row.nesting)
		finding_evidence(&finding->base, "it is in the handler of interrupt %" PRIu32, cpu->row.irq);
	why_finding_cpu(finding, cpu, cpu->pc, why_silence(evidence, cpu));
	/*
	 * The CPU that stopped first may be why the others spin. A handler often waits for a lock, and may
	 * have begun to wait shortly before another CPU took the lock.
	 */
	finding->order = cpu->last_stamp + (cpu->row.nesting ? why_ms(evidence, 1) : 0);
	why_finding_awaited_answer(finding, evidence, cpu);
	return 0;
}

/*
 * Returns whether the host may have stopped the whole machine: the CPU has been silent only for a short time,
 * and another CPU, whose ticks always come while it idles, has been silent for as long.
 */
static bool host_may_have_stopped(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t silence = why_silence(evidence, cpu);

	for (uint32_t n = 0; n < evidence->cpus && silence < why_ms(evidence, HOST_MS); n++) {
		const struct why_cpu *other = &evidence->cpu[n];

		if (other != cpu && other->mask == INTERRUPTS_ENABLED && why_idles(evidence, other) &&
		    why_ticks_without_reason(other) &&
		    why_silence(evidence, other) + why_ms(evidence, ALIKE_MS) >= silence)
			return true;
	}
	return false;
}

/*
 * Returns whether the CPU may be parked: it has halted, has not been used, and nothing shows that it halted
 * because of an exception or a panic.
 */
static bool is_parked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	uint32_t frames;

	return why_is_unused(evidence, cpu) && why_has_halted(evidence, cpu) && !cpu->fetch_failed &&
	       !(cpu->trap_pc && why_is_in_handler(evidence, cpu)) && !panic_function(evidence, cpu, &frames);
}

/*
 * Returns whether the CPU spins with interrupts disabled. If it does, it has recorded nothing lately, and
 * does not wait for a lock or an IPI answer.
 */
static bool is_off(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->has_registers && cpu->row.interrupts == KTRX_INTERRUPTS_OFF &&
	       why_has_stopped(evidence, cpu) && why_silence(evidence, cpu) >= why_ms(evidence, OFF_MS) &&
	       why_age(evidence, cpu->last_stamp) >= why_ms(evidence, WHY_STOPPED_MS) &&
	       !why_spins_for_something(cpu) && !why_is_in_idle_thread(evidence, cpu) &&
	       !host_may_have_stopped(evidence, cpu) && why_side_of_cpu(evidence, cpu) != WHY_SIDE_USER;
}

/*
 * Reports a CPU that may be parked, if the kernel has reported that its code runs there: it has set a mode,
 * or disabled preemption. Kernels rarely do so for a CPU that they park.
 */
static int found_parked(const struct why_evidence *evidence, struct why_findings *findings,
			const struct why_cpu *cpu)
{
	struct why_finding *finding;
	char place[WHY_WORDS], ticks[WHY_WORDS];

	if (cpu->row.mode == KTRX_MODE_UNKNOWN && cpu->row.preempt == 0)
		return 0;
	finding = why_finding_new(findings, WHY_KERNEL_SPIN, FINDING_POSSIBLE);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding->looks = WHY_LOOKS_IDLE | WHY_LOOKS_BUSY;
	finding_say(finding->base.what,
		    "CPU %" PRIu32 " has halted with interrupts disabled, at %s, and has run no thread",
		    cpu->number, why_say_place(evidence, cpu->pc, place, sizeof(place)));
	why_finding_stack(finding, evidence, cpu, FRAMES);
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	finding_say(finding->base.advice, "check whether the kernel stopped this CPU on purpose");
	why_finding_cpu(finding, cpu, cpu->pc, why_silence(evidence, cpu));
	return 0;
}

int why_detect_spin(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	if (why_ended_well(evidence))
		return 0;
	for (uint32_t n = 0; n < evidence->cpus && !error && evidence->info->frequency; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		const struct why_thread *thread = why_runs(evidence, cpu);

		if (is_off(evidence, cpu))
			error = is_parked(evidence, cpu) ? found_parked(evidence, findings, cpu)
							 : found_off(evidence, findings, cpu);
		else if (thread && !thread->idle && !why_idles(evidence, cpu) &&
			 !why_spins_for_something(cpu) && !waits_for_something(thread))
			error = look_for_loop(evidence, findings, cpu, thread);
	}
	return error;
}
