/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A stack that has overflowed and hit no guard page: the kernel goes on, over whatever lies below. Only the
 * stack pointer shows it, while the CPU is still that deep. Handlers of interrupts may have stacks of their
 * own, and so may what stops the other CPUs when one has panicked, which is often about what was overwritten.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define FRAMES 8u /* shown */

/* The thread in whose stack the address lies. */
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
		"it has faulted %" PRIu64
		" times at least, each in the handler of the fault before: the last on address 0x%" PRIx64
		", by the instruction at %s",
		thread->fault_nest.count, thread->fault_nest.address,
		why_say_place(evidence, thread->fault_nest.ip, place, sizeof(place)));
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
	finding_evidence(&finding->base, "it begins at 0x%" PRIx64 ", and the stack pointer is 0x%" PRIx64,
			 thread->holder.stack_low, cpu->sp);
	if (owner)
		finding_evidence(&finding->base, "that is in the stack of %s",
				 why_say_actor(evidence, owner->id + 1, who, sizeof(who)));
	say_faults(evidence, thread, finding);
	if (evidence->panic.stamp)
		finding_evidence(&finding->base,
				 "the panic on CPU %" PRIu32 " may be about what it has overwritten",
				 evidence->panic.cpu);
	why_finding_stack(finding, evidence, cpu, FRAMES);
	if (certain == FINDING_POSSIBLE)
		finding_say(finding->base.advice,
			    "a moment without an interrupt: its handler may have a stack of its own");
	why_finding_actor(finding, (struct why_actor){ .id = thread->id + 1, .pc = cpu->pc, .exact = true });
	return 0;
}

int why_detect_stack(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		const struct why_thread *thread = why_runs(evidence, cpu);

		if (evidence->panic.stamp && evidence->panic.cpu == n) /* detect_panic.c */
			continue;
		if (thread && thread->holder.state == KTRX_THREAD_RUNNING && thread->holder.cpu == n &&
		    why_left_stack(evidence, cpu, thread))
			error = found(evidence, findings, cpu, thread);
	}
	return error;
}
