/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Crashes: panics, stack overflows, triple faults. */
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "why/finding.h"
#include "why/pulse.h"

/*
 * Panic: the kernel reported a panic. The finding names the function of each address in the panic's message.
 * If the stack pointer is outside the thread's stack, the stack has overflowed. If the last fault was in the
 * page at address 0, a null function pointer was called.
 */

#define FRAMES 8u /* maximum number of stack frames that are printed */
/* time in ms: a panic may be caused by a fault that came at most this long before it */
#define FAULT_MS  1000u
#define NULL_PAGE 4096u
#define GUARD	  4096u /* size in bytes of the guard page that a kernel may have below a stack */
#define ADDRESSES 4u	/* maximum number of addresses in the message whose functions are printed */

/* Returns the CPU that panicked; NULL if this CPU is unknown. */
static const struct why_cpu *cpu_of(const struct why_evidence *evidence)
{
	const struct why_panic *panic = &evidence->panic;

	return panic->stamp && panic->cpu < evidence->cpus ? &evidence->cpu[panic->cpu] : NULL;
}

/*
 * Returns whether the fault before the panic was the call of a null pointer. If the thread has made a system
 * call since, it went on after the fault: the code of a program may be at address 0.
 */
static bool called_null_pointer(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread && thread->faults.last && thread->faults.last <= evidence->panic.stamp &&
	       thread->syscalls.last <= thread->faults.last && thread->fault_stamp == thread->faults.last &&
	       thread->fault_has_ip && thread->fault_address < NULL_PAGE &&
	       thread->fault_ip == thread->fault_address &&
	       evidence->panic.stamp - thread->faults.last < why_ms(evidence, FAULT_MS);
}

/* Returns whether the thread had a fault that the kernel was still handling when it panicked. */
static bool was_in_fault(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread && thread->in_fault && thread->faults.last <= evidence->panic.stamp &&
	       evidence->panic.stamp - thread->faults.last < why_ms(evidence, FAULT_MS);
}

/*
 * Returns the address of the instruction whose fault led to the panic. Takes it from the fault's event or
 * from the captured registers. Returns 0 if it is unknown.
 */
static uint64_t fault_pc(const struct why_evidence *evidence, const struct why_cpu *cpu,
			 const struct why_thread *thread)
{
	if (was_in_fault(evidence, thread) && thread->fault_ip)
		return thread->fault_ip;
	return cpu && cpu->has_registers ? cpu->trap_pc : 0;
}

static void say_fault(const struct why_evidence *evidence, const struct why_cpu *cpu,
		      const struct why_thread *thread, struct why_finding *finding)
{
	const uint64_t pc = fault_pc(evidence, cpu, thread);
	char place[WHY_WORDS];

	if (called_null_pointer(evidence, thread))
		finding_evidence(&finding->base, "the last fault was the call itself, to address 0x%" PRIx64,
				 thread->fault_address);
	else if (was_in_fault(evidence, thread) && pc)
		finding_evidence(&finding->base,
				 "it was handling a fault on address 0x%" PRIx64 ", by the instruction at %s",
				 thread->fault_address, why_say_place(evidence, pc, place, sizeof(place)));
	else if (pc)
		finding_evidence(&finding->base, "the last exception on that CPU was at %s",
				 why_say_place(evidence, pc, place, sizeof(place)));
	else if (was_in_fault(evidence, thread))
		finding_evidence(&finding->base, "it was handling a fault on address 0x%" PRIx64,
				 thread->fault_address);
	else if (cpu && cpu->has_registers && cpu->fetch_failed)
		finding_evidence(&finding->base,
				 "the last exception on that CPU was a jump to address 0: a null function "
				 "pointer was called, or a return address is 0");
	if (was_in_fault(evidence, thread) && !pc && !called_null_pointer(evidence, thread))
		finding_say(
			finding->base.advice,
			"record the field ip in mm.fault_enter: the address of the instruction that faulted");
}

/*
 * Adds a line "0x1234 is resolve+0x20 (stack.c:44)" for each address in the message. An address after the
 * word "from" is a return address.
 */
static void say_addresses(const struct why_evidence *evidence, struct why_finding *finding)
{
	const char *at = evidence->panic.message;
	char place[WHY_WORDS];
	uint32_t named = 0;

	while (evidence->symbols && named < ADDRESSES && (at = strstr(at, "0x"))) {
		const bool call = at - evidence->panic.message >= 5 && strncmp(at - 5, "from ", 5) == 0;
		uint64_t address = strtoull(at, NULL, 16);

		at += 2;
		if (call)
			why_say_call(evidence, address, place, sizeof(place));
		else
			why_say_place(evidence, address, place, sizeof(place));
		if (strncmp(place, "0x", 2) == 0)
			continue;
		finding_evidence(&finding->base, "0x%" PRIx64 " is %s", address, place);
		named++;
	}
}

/*
 * Returns the address after the word "from" in the message, a return address; 0 if there is none. Skips
 * addresses in the page at address 0: the fault is there, not the caller.
 */
static uint64_t caller_in(const char *message)
{
	for (const char *at = message; (at = strstr(at, "from 0x")); at += strlen("from ")) {
		const uint64_t address = strtoull(at + strlen("from "), NULL, 16);

		if (address >= NULL_PAGE)
			return address;
	}
	return 0;
}

/* Returns whether a function's name contains a word that kernels use to name their panic functions. */
static bool names_panic(const char *function)
{
	static const char *const words[] = { "panic",	  "kpanic", "vpanic", "assert",
					     "assertion", "fatal",  "oops",   "die" };

	for (const char *at = function; *at; at++) {
		const bool inside = at != function && isalpha((unsigned char)at[-1]);

		if (inside && !(islower((unsigned char)at[-1]) && isupper((unsigned char)*at)))
			continue;
		for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
			const size_t length = strlen(words[n]);

			if (strncasecmp(at, words[n], length) == 0 && !islower((unsigned char)at[length]))
				return true;
		}
	}
	return false;
}

bool why_is_panic_function(const struct why_evidence *evidence, uint64_t address)
{
	struct symbol symbol;
	const char *name;

	if (!why_side_has_name(evidence, address) ||
	    symbols_find_call(evidence->symbols, address, &symbol) != 0)
		return false;
	/* skip the names of the namespaces and modules that contain the function */
	name = strrchr(symbol.function, ':');
	return names_panic(name ? name + 1 : symbol.function);
}

/*
 * Returns the number of the first stack frame to print. This is the caller of panic() if panic() is on the
 * stack, and frame 0 otherwise. This skips the functions that the kernel called after the panic, such as a
 * prompt or a reset.
 */
static uint32_t first_frame(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	uint32_t first = 0;

	for (uint32_t n = 0; n < cpu->frames && first == 0; n++)
		for (uint32_t at = n; at < cpu->frames && why_is_panic_function(evidence, cpu->frame[at]);
		     at++)
			first = at + 1;
	return first < cpu->frames ? first : 0;
}

static void say_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		      struct why_finding *finding)
{
	const uint32_t first = first_frame(evidence, cpu);
	struct why_cpu caller = *cpu;
	char place[WHY_WORDS];

	caller.frames -= first;
	memmove(caller.frame, caller.frame + first, caller.frames * sizeof(caller.frame[0]));
	why_finding_stack(finding, evidence, &caller, FRAMES);
	if (cpu->frames)
		return;
	for (uint32_t n = 0; n < 2 && evidence->panic.caller[n]; n++)
		finding_evidence(&finding->base, "  called from %s",
				 why_say_call(evidence, evidence->panic.caller[n], place, sizeof(place)));
	if (!finding->base.advice[0])
		finding_say(finding->base.advice,
			    "capture the stack of CPU %" PRIu32
			    " with ktrace run, which reads it if QEMU does not exit with the guest",
			    cpu->number);
}

/*
 * Sets the headline. If only the panic message shows a stack overflow, the headline does not state which
 * stack overflowed, because the kernel may detect the overflow when another thread runs.
 */
static void say_head(const struct why_evidence *evidence, const struct why_thread *thread, bool left,
		     struct why_finding *finding)
{
	const struct why_panic *panic = &evidence->panic;
	const bool found = finding->verdict == WHY_STACK_OVERFLOW && !left;
	const char *what = found				   ? "the kernel found a stack overflow"
			   : left				   ? "the kernel stack overflowed"
			   : called_null_pointer(evidence, thread) ? "a null function pointer was called"
								   : "the kernel panicked";
	char actor[WHY_WORDS];

	if (panic->stamp)
		finding_say(finding->base.what, "%s%s on CPU %" PRIu32 "%s in %s", what, found ? "," : "",
			    panic->cpu, found ? "" : ",",
			    why_say_actor(evidence, panic->thread + 1, actor, sizeof(actor)));
	else
		finding_say(finding->base.what, "%s", what);
}

static void say_message(const struct why_evidence *evidence, struct why_finding *finding)
{
	size_t length = strlen(evidence->panic.message);
	char message[WHY_WORDS + 1];

	if (!evidence->panic.stamp) {
		finding_say(finding->base.advice,
			    "pass a message to ktrace_panic() (none was recorded, or it is lost)");
		return;
	}
	/* the kernel may pass a whole line to ktrace_panic() */
	while (length > 0 && strchr("\r\n", evidence->panic.message[length - 1]))
		length--;
	*base_escape_text(message, evidence->panic.message, length, WHY_WORDS) = '\0';
	finding_evidence(&finding->base, "its message: %s", message);
	finding_refer(&finding->base, evidence->panic.stamp, KTRX_HOLDER_CPU | evidence->panic.cpu, 0);
	say_addresses(evidence, finding);
}

/*
 * Returns whether an overflow shows in nested faults, in a recursion, or in a fault just below the stack, and
 * not only in the stack pointer.
 */
static bool is_proven(const struct why_evidence *evidence, const struct why_cpu *cpu,
		      const struct why_thread *thread)
{
	return why_nests_faults(evidence, thread) || why_recurses(cpu) ||
	       (was_in_fault(evidence, thread) && thread->fault_address < thread->holder.stack_low &&
		thread->holder.stack_low - thread->fault_address <= GUARD);
}

/*
 * Returns whether the stack pointer of the CPU is below the thread's stack. In a handler of interrupts or
 * faults, which may have a stack of its own, this alone proves nothing.
 */
static bool is_below_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
			   const struct why_thread *thread)
{
	return why_left_stack(evidence, cpu, thread) &&
	       ((!cpu->row.nesting && !was_in_fault(evidence, thread)) || is_proven(evidence, cpu, thread));
}

int why_detect_panic(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_panic *panic = &evidence->panic;
	const struct why_cpu *cpu = cpu_of(evidence);
	const struct why_thread *thread = panic->stamp ? why_thread_find(evidence, panic->thread) : NULL;
	const bool left = is_below_stack(evidence, cpu, thread);
	const bool says = why_message_shows_overflow(panic->message);
	uint64_t pc = fault_pc(evidence, cpu, thread);
	struct why_finding *finding;

	if (!panic->stamp && evidence->info->outcome != KTRX_OUTCOME_PANIC)
		return 0;
	finding = why_finding_new(findings, left || says ? WHY_STACK_OVERFLOW : WHY_PANIC,
				  left && !says && !is_proven(evidence, cpu, thread) ? FINDING_LIKELY
										     : FINDING_CERTAIN);
	if (!finding)
		return KTREAD_E_MEMORY;
	say_head(evidence, thread, left, finding);
	say_message(evidence, finding);
	if (cpu && cpu->row.nesting)
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " is in an interrupt handler; interrupt %" PRIu32
				 " came last",
				 cpu->number, cpu->row.irq);
	if (left)
		finding_evidence(&finding->base,
				 "the lowest address of its stack is 0x%" PRIx64
				 ", and the stack pointer is 0x%" PRIx64,
				 thread->holder.stack_low, cpu->sp);
	say_fault(evidence, cpu, thread, finding);
	if (cpu)
		say_stack(evidence, cpu, finding);
	if (pc == 0 && cpu && cpu->has_registers)
		pc = cpu->pc;
	if (called_null_pointer(evidence, thread))
		why_finding_actor(finding, (struct why_actor){ .id = panic->thread + 1,
							       .pc = caller_in(panic->message) });
	else if (panic->stamp)
		why_finding_actor(finding,
				  (struct why_actor){ .id = panic->thread + 1, .pc = pc, .exact = pc != 0 });
	return 0;
}

/*
 * Stack overflow without a guard page: the kernel continues to run and overwrites the memory below the stack.
 * Only the stack pointer shows the overflow, and only until the deepest functions return.
 *
 * In two kinds of code, the stack pointer proves nothing, because such code may have a stack of its own: an
 * interrupt handler, and code that stops the CPU because another CPU has panicked. The cause of such a panic
 * is often the overwritten memory.
 */

#define STACK_FRAMES 8u /* maximum number of frames that are printed */

/* Returns the thread whose stack contains the address, NULL if none. */
static const struct why_thread *owner_of(const struct why_evidence *evidence, uint64_t address)
{
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread->has_holder && thread->holder.stack_low && address >= thread->holder.stack_low &&
		    address < thread->holder.stack_high)
			return thread;
	}
	return NULL;
}

static enum finding_certainty how_certain(const struct why_evidence *evidence, const struct why_cpu *cpu,
					  const struct why_thread *thread)
{
	if (why_nests_faults(evidence, thread))
		return FINDING_LIKELY;
	return cpu->row.nesting || evidence->panic.stamp ? FINDING_POSSIBLE : FINDING_LIKELY;
}

static void say_faults(const struct why_evidence *evidence, const struct why_thread *thread,
		       struct why_finding *finding)
{
	char place[WHY_WORDS];

	if (!why_nests_faults(evidence, thread))
		return;
	finding_evidence(
		&finding->base,
		"it has faulted at least %" PRIu64
		" times, each time in the handler of the previous fault; the last was on address 0x%" PRIx64
		", by the instruction at %s",
		thread->fault_nest.count, thread->fault_nest.address,
		why_say_place(evidence, thread->fault_nest.ip, place, sizeof(place)));
}

/* Returns whether the machine reset itself although the kernel had not reported a shutdown or panic. */
static bool is_triple_fault(const struct why_evidence *evidence)
{
	return evidence->reset && evidence->info->machine == EM_X86_64 && !evidence->panic.stamp &&
	       evidence->info->outcome == KTRX_OUTCOME_RUNNING;
}

static int found(const struct why_evidence *evidence, struct why_findings *findings,
		 const struct why_cpu *cpu, const struct why_thread *thread)
{
	const struct why_thread *owner = owner_of(evidence, cpu->sp);
	const enum finding_certainty certain = how_certain(evidence, cpu, thread);
	struct why_finding *finding = why_finding_new(findings, WHY_STACK_OVERFLOW, certain);
	char who[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "the kernel stack of %s has overflowed on CPU %" PRIu32,
		    why_say_actor(evidence, thread->id + 1, who, sizeof(who)), cpu->number);
	finding_evidence(&finding->base,
			 "the lowest address of its stack is 0x%" PRIx64
			 ", and the stack pointer is 0x%" PRIx64,
			 thread->holder.stack_low, cpu->sp);
	if (owner)
		finding_evidence(&finding->base, "the stack pointer is in the stack of %s",
				 why_say_actor(evidence, owner->id + 1, who, sizeof(who)));
	say_faults(evidence, thread, finding);
	if (why_recurses(cpu))
		finding_evidence(&finding->base,
				 "its return addresses repeat, as in a recursion without end");
	if (evidence->panic.stamp)
		finding_evidence(&finding->base,
				 "the panic on CPU %" PRIu32
				 " may be caused by memory that the overflow has overwritten",
				 evidence->panic.cpu);
	if (is_triple_fault(evidence) && certain != FINDING_POSSIBLE)
		finding_evidence(&finding->base,
				 "the machine then reset itself: a fault could not be delivered "
				 "on this stack");
	why_finding_stack(finding, evidence, cpu, STACK_FRAMES);
	if (certain == FINDING_POSSIBLE)
		finding_say(finding->base.advice, "take a trace while the CPU handles no interrupt, "
						  "because a handler may have its own stack");
	why_finding_actor(finding, (struct why_actor){ .id = thread->id + 1, .pc = cpu->pc, .exact = true });
	return 0;
}

/* Returns the thread that runs on the CPU if its stack has overflowed there; otherwise NULL. */
static const struct why_thread *overflowed(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return thread && thread->holder.state == KTRX_THREAD_RUNNING && thread->holder.cpu == cpu->number &&
			       why_left_stack(evidence, cpu, thread)
		       ? thread
		       : NULL;
}

int why_detect_stack(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		const struct why_thread *thread = overflowed(evidence, cpu);

		/* why_detect_panic() already reports this overflow */
		if (thread && !(evidence->panic.stamp && evidence->panic.cpu == n &&
				is_below_stack(evidence, cpu, thread)))
			error = found(evidence, findings, cpu, thread);
	}
	return error;
}

/*
 * Triple fault: an x86 machine resets itself if it cannot deliver a fault. The trace does not show which CPU
 * had the fault, so all CPUs that did not idle are listed. If a stack has probably overflowed, this is the
 * cause.
 */

static bool has_probably_overflowed(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = overflowed(evidence, cpu);

	return thread && how_certain(evidence, cpu, thread) != FINDING_POSSIBLE;
}

static void say_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    struct why_finding *finding)
{
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];
	const struct why_event *last = cpu->last.count ? &cpu->last.event[cpu->last.count - 1] : NULL;

	why_say_running(evidence, cpu, thread, sizeof(thread));
	if (last)
		finding_evidence(
			&finding->base, "CPU %" PRIu32 " ran %s; its last event was %s ago: %.80s",
			cpu->number, thread,
			why_say_ticks(evidence, why_age(evidence, last->stamp), ticks, sizeof(ticks)),
			last->text);
	else
		finding_evidence(&finding->base, "CPU %" PRIu32 " ran %s", cpu->number, thread);
	if (cpu->has_registers && why_side_of_cpu(evidence, cpu) == WHY_SIDE_KERNEL)
		finding_evidence(&finding->base, "  it was at %s",
				 why_say_place(evidence, cpu->pc, place, sizeof(place)));
	else if (cpu->has_row && cpu->row.heartbeats)
		finding_evidence(&finding->base, "  its last heartbeat was at %s",
				 why_say_place(evidence, cpu->row.pc, place, sizeof(place)));
	why_finding_cpu(finding, cpu, cpu->has_registers ? cpu->pc : cpu->row.pc, 0);
}

static bool is_suspect(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_is_there(cpu) && !why_idles(evidence, cpu);
}

int why_detect_triple_fault(const struct why_evidence *evidence, struct why_findings *findings)
{
	struct why_finding *finding;
	uint32_t suspects = 0;

	if (!is_triple_fault(evidence))
		return 0;
	finding = why_finding_new(findings, WHY_TRIPLE_FAULT, FINDING_LIKELY);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "the machine reset itself, and the kernel had not reported its end: a triple fault");
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		suspects += is_suspect(evidence, &evidence->cpu[n]);
		finding->aside = finding->aside || has_probably_overflowed(evidence, &evidence->cpu[n]);
	}
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (suspects ? is_suspect(evidence, &evidence->cpu[n]) : why_is_there(&evidence->cpu[n]))
			say_cpu(evidence, &evidence->cpu[n], finding);
	if (suspects != 1)
		finding_say(finding->base.advice, "find out which CPU it was with qemu -d int,cpu_reset, "
						  "which logs the last exceptions");
	return 0;
}
