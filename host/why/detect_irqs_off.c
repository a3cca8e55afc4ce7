/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Interrupts are or were disabled for too long. There are two cases. In the first case, interrupts are still
 * disabled on a CPU that does not wait for a lock or an IPI answer. In the second case, a CPU ran a thread
 * for some time, and took no interrupt in that time although other CPUs took interrupts.
 */
#include <elf.h>
#include <inttypes.h>

#include "why/answers.h"
#include "why/pulse.h"
#include "why/sleepers.h"
#include "why/finding.h"

#define SEEN_MS 30u /* minimum time in ms for which events must show that the CPU ran */
/*
 * minimum time in ms without a heartbeat; a shorter time proves nothing, because the host may have stopped
 * the virtual CPU
 */
#define HALT_MS 1000u
/* minimum time in ms without any event of the CPU, while the timers of other CPUs tick */
#define LONG_MS 1500u
#define EVENTS	4u /* minimum number of events in a period that show that the CPU ran all the time */
/* the number N: a timer is regular if it has ticked at least N times, and at most one tick in N was late */
#define TICKS 8u
/*
 * minimum number of periods that ended at the same place: so many periods do not end at one place by chance,
 * even on a machine with one CPU
 */
#define AGAIN  2u
#define FRAMES 6u /* maximum number of stack frames that are listed */

/* Returns whether events or heartbeats show that the other CPU ran on after the CPU's last heartbeat. */
static bool ran_on(const struct why_evidence *evidence, const struct why_cpu *cpu,
		   const struct why_cpu *other)
{
	const uint64_t age = why_age(evidence, other->last_stamp), silence = why_silence(evidence, other);

	return (age < silence ? age : silence) + why_ms(evidence, WHY_STOPPED_MS) <
	       why_silence(evidence, cpu);
}

/*
 * Returns another CPU that has stopped at about the same time or earlier, and records nothing, although
 * interrupts are not known to be disabled there, and that neither idles nor waits for something. Then the
 * host may have stopped the whole machine. Returns NULL if there is no such CPU.
 */
static const struct why_cpu *stopped_too(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *other = &evidence->cpu[n];

		if (other != cpu && other->row.interrupts != KTRX_INTERRUPTS_OFF && other->row.heartbeats &&
		    why_has_stopped(evidence, other) &&
		    why_age(evidence, other->last_stamp) >= why_ms(evidence, WHY_STOPPED_MS) &&
		    !ran_on(evidence, cpu, other) && !why_spins_for_something(other) &&
		    !why_idles(evidence, other))
			return other;
	}
	return NULL;
}

static void say_stopped_too(const struct why_evidence *evidence, const struct why_cpu *other,
			    struct why_finding *finding)
{
	char ticks[WHY_WORDS];

	finding_evidence(&finding->base,
			 "CPU %" PRIu32 " has had no heartbeat for %s, either, although interrupts are not "
			 "known to be disabled there: the host may have stopped the machine",
			 other->number,
			 why_say_ticks(evidence, why_silence(evidence, other), ticks, sizeof(ticks)));
}

static int still_off(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct why_cpu *cpu)
{
	const struct why_cpu *other = stopped_too(evidence, cpu);
	struct why_finding *finding =
		why_finding_new(findings, WHY_IRQS_OFF, other ? FINDING_POSSIBLE : FINDING_LIKELY);
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->looks = WHY_LOOKS_IDLE | WHY_LOOKS_BUSY;
	finding_say(finding->base.what, "interrupts are disabled on CPU %" PRIu32 " and stay disabled",
		    cpu->number);
	if (cpu->row.interrupts_pc)
		finding_evidence(&finding->base, "they were disabled at %s",
				 why_say_call(evidence, cpu->row.interrupts_pc, place, sizeof(place)));
	why_say_running(evidence, cpu, thread, sizeof(thread));
	why_say_beat(evidence, cpu, ticks, sizeof(ticks));
	if (cpu->row.heartbeats)
		finding_evidence(&finding->base, "%s runs there; %s, at %s", thread, ticks,
				 why_say_place(evidence, cpu->row.pc, place, sizeof(place)));
	else
		finding_evidence(&finding->base, "%s runs there; %s", thread, ticks);
	if (other)
		say_stopped_too(evidence, other, finding);
	finding_say(finding->base.advice,
		    "capture the registers of CPU %" PRIu32 " with ktrace extract --qmp, to see where it is",
		    cpu->number);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu),
						       .pc = cpu->row.interrupts_pc });
	why_finding_awaited_answer(finding, evidence, cpu);
	return 0;
}

/*
 * Returns whether a CPU that idles with interrupts disabled may never run threads again. On x86, such a CPU
 * takes no more interrupts. On other architectures, CPUs often idle in this way, and an interrupt wakes them.
 * So the result is true only if an interrupt is pending.
 *
 * Without registers that show that the CPU has halted, there may be another explanation: the kernel enabled
 * interrupts without calling the hook, and stopped the tick. A stopped tick is unlikely if another CPU idles
 * and still ticks. So the result is then true only if there is such a CPU.
 */
static bool may_halt_for_ever(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (why_silence(evidence, cpu) < why_ms(evidence, HALT_MS))
		return false;
	if (evidence->info->machine != EM_X86_64)
		return why_leaves_pending(cpu);
	if (why_has_halted_masked(evidence, cpu))
		return true;
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *other = &evidence->cpu[n];

		if (other->row.heartbeats && why_idles(evidence, other) && !why_has_stopped(evidence, other))
			return true;
	}
	return false;
}

/*
 * Returns whether the CPU's timer ticks all the time. Many kernels stop the tick when they do not need it.
 */
static bool ticks_regularly(const struct why_interrupts *interrupts)
{
	const uint64_t other =
		interrupts->far > interrupts->quiets ? interrupts->far - interrupts->quiets : 0;

	return interrupts->near >= TICKS && other <= interrupts->near / TICKS;
}

/*
 * Returns whether the CPU certainly idles with interrupts disabled, and sleeps are late because of it. A CPU
 * that the kernel does not use yet, or that an interrupt has stopped, may have halted so on purpose.
 */
static bool delays_sleeps(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return (why_has_halted_masked(evidence, cpu) || why_leaves_pending(cpu)) && cpu->row.nesting == 0 &&
	       !why_is_unused(evidence, cpu) && why_sleepers_show_stop(evidence, cpu);
}

/* Sets the advice. If registers show that the CPU has halted, no call of a hook is missing. */
static void advise_halted(const struct why_evidence *evidence, const struct why_cpu *cpu,
			  struct why_finding *finding)
{
	if (why_leaves_pending(cpu))
		finding_say(finding->base.advice,
			    "check what it runs there, and that the idle loop enables interrupts after wfi");
	else if (why_has_halted_masked(evidence, cpu))
		finding_say(finding->base.advice, "check whether the kernel stopped this CPU on purpose");
	else
		finding_say(finding->base.advice,
			    "check that ktrace_interrupts(1) is called before the CPU halts");
}

/*
 * Reports a CPU that idles with interrupts disabled. The certainty is "likely" if the CPU's timer ticked all
 * the time, or a sleep is late because of this CPU. Otherwise it is "possible", because the kernel may stop
 * the tick whenever the CPU idles, and may stop CPUs on purpose.
 */
static int halted_off(const struct why_evidence *evidence, struct why_findings *findings,
		      const struct why_cpu *cpu)
{
	const bool delays = delays_sleeps(evidence, cpu);
	struct why_finding *finding = why_finding_new(
		findings, WHY_IRQS_OFF,
		ticks_regularly(&cpu->interrupts) || delays ? FINDING_LIKELY : FINDING_POSSIBLE);
	const uint64_t pc = cpu->has_registers ? cpu->pc : cpu->row.pc;
	char place[WHY_WORDS], ticks[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->looks = WHY_LOOKS_IDLE | WHY_LOOKS_BUSY;
	why_say_place(evidence, pc, place, sizeof(place));
	if (why_leaves_pending(cpu))
		finding_say(finding->base.what,
			    "CPU %" PRIu32
			    " never takes an interrupt that is pending: it seems to idle, with "
			    "interrupts disabled, at %s",
			    cpu->number, place);
	else
		finding_say(finding->base.what,
			    "CPU %" PRIu32 " idles with interrupts disabled, at %s: no interrupt can wake it",
			    cpu->number, place);
	if (cpu->row.interrupts_pc)
		finding_evidence(&finding->base, "they were disabled at %s",
				 why_say_call(evidence, cpu->row.interrupts_pc, place, sizeof(place)));
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	advise_halted(evidence, cpu, finding);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu),
						       .pc = pc });
	if (delays)
		why_finding_sleepers(finding, evidence, cpu);
	return 0;
}

/*
 * Returns whether a CPU whose registers show disabled interrupts has run in this state for long: its events
 * show that it ran, and that the host did not stop it. If events after its last heartbeat are overwritten,
 * they came so often that the CPU ran. A CPU that records no events is examined as a spin.
 *
 * The registers show one moment only. So the kernel must have reported that it disabled interrupts, and no
 * thread switch may have followed, after which a kernel often enables interrupts without a report.
 */
static bool works_off(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && cpu->row.interrupts_stamp && cpu->row.interrupts_pc &&
	       cpu->row.switch_stamp <= cpu->row.interrupts_stamp &&
	       why_age(evidence, cpu->row.interrupts_stamp) >= why_ms(evidence, HALT_MS) &&
	       why_age(evidence, cpu->last_stamp) < why_ms(evidence, WHY_STOPPED_MS) &&
	       why_silence(evidence, cpu) >= why_ms(evidence, HALT_MS) &&
	       ((cpu->cut && cpu->first_stamp > cpu->row.heartbeat_stamp) ||
		why_lived_on(cpu) >= why_ms(evidence, HALT_MS)) &&
	       why_side_of_cpu(evidence, cpu) != WHY_SIDE_USER;
}

/*
 * Returns whether the CPU had regular ticks up to its last heartbeat, as events show, or its number of
 * heartbeats.
 */
static bool had_regular_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return ticks_regularly(&cpu->interrupts) ||
	       (cpu->row.heartbeats >= TICKS &&
		cpu->row.heartbeat_stamp / cpu->row.heartbeats <= why_ms(evidence, WHY_TICK_MS));
}

/*
 * Reports a CPU that works with interrupts disabled. The hook does not read the clock: it stores the last
 * time that was read on the CPU. In a kernel that stops ticks, this time may be long before interrupts were
 * disabled. So the certainty is "likely" only if the CPU had regular ticks.
 */
static int found_working(const struct why_evidence *evidence, struct why_findings *findings,
			 const struct why_cpu *cpu)
{
	const bool regular = had_regular_ticks(evidence, cpu);
	struct why_finding *finding =
		why_finding_new(findings, WHY_IRQS_OFF, regular ? FINDING_LIKELY : FINDING_POSSIBLE);
	const uint64_t since = why_age(evidence, cpu->row.interrupts_stamp);
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->looks = WHY_LOOKS_IDLE | WHY_LOOKS_BUSY;
	finding_say(finding->base.what, "%s runs on CPU %" PRIu32 " with interrupts disabled, for up to %s",
		    why_say_running(evidence, cpu, thread, sizeof(thread)), cpu->number,
		    why_say_ticks(evidence, since, ticks, sizeof(ticks)));
	why_say_place(evidence, cpu->pc, place, sizeof(place));
	finding_evidence(&finding->base, "it is at %s", place);
	why_finding_stack(finding, evidence, cpu, FRAMES);
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	if (cpu->row.interrupts_pc)
		finding_evidence(&finding->base, "interrupts were disabled at %s",
				 why_say_call(evidence, cpu->row.interrupts_pc, place, sizeof(place)));
	if (!regular)
		finding_say(finding->base.advice,
			    "take another trace later: if this kernel stops the tick of a CPU, the kernel "
			    "may have disabled interrupts only a moment ago");
	why_finding_cpu(finding, cpu, cpu->pc, since);
	why_finding_awaited_answer(finding, evidence, cpu);
	return 0;
}

static int found_off(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct why_cpu *cpu)
{
	if (!why_is_in_idle_thread(evidence, cpu) && cpu->has_registers)
		return works_off(evidence, cpu) ? found_working(evidence, findings, cpu) : 0;
	if (!why_is_in_idle_thread(evidence, cpu))
		return still_off(evidence, findings, cpu);
	return may_halt_for_ever(evidence, cpu) ? halted_off(evidence, findings, cpu) : 0;
}

/*
 * Returns whether the CPU runs a program, with interrupts disabled, as its registers show. The kernel should
 * enable interrupts when it returns to user mode. A program can disable them only if the kernel allows this.
 */
static bool runs_masked_program(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && cpu->side == PRIVILEGE_USER &&
	       why_has_stopped(evidence, cpu) && why_silence(evidence, cpu) >= why_ms(evidence, HALT_MS);
}

static int program_off(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct why_cpu *cpu)
{
	struct why_finding *finding = why_finding_new(findings, WHY_IRQS_OFF, FINDING_LIKELY);
	char thread[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what, "%s runs in user mode with interrupts disabled on CPU %" PRIu32,
		    why_say_running(evidence, cpu, thread, sizeof(thread)), cpu->number);
	finding_evidence(&finding->base, "the registers of CPU %" PRIu32 " show this, at %s", cpu->number,
			 why_say_place(evidence, cpu->pc, place, sizeof(place)));
	finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	finding_say(finding->base.advice,
		    "check the flags that the kernel restores when it returns to user mode");
	why_finding_cpu(finding, cpu, cpu->pc, why_silence(evidence, cpu));
	return 0;
}

/* Returns the number of CPUs that have taken an interrupt. */
static uint32_t takers(const struct why_evidence *evidence)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < evidence->cpus; n++)
		count += evidence->cpu[n].interrupts.entered > 0;
	return count;
}

/*
 * Returns whether interrupts were certainly enabled in the period: the kernel last enabled or disabled them
 * before the period began, and an interrupt ended the period. The timestamp of that last change may be too
 * early, but it is never earlier than the CPU's previous interrupt.
 */
static bool was_on(const struct why_cpu *cpu, const struct why_quiet *quiet)
{
	return cpu->row.interrupts != KTRX_INTERRUPTS_UNKNOWN && cpu->row.interrupts_stamp &&
	       cpu->row.hooks & KTRX_HOOK_IRQ && cpu->row.interrupts_stamp < quiet->from;
}

static bool is_seen(const struct why_evidence *evidence, const struct why_quiet *quiet)
{
	const uint64_t length = quiet->to - quiet->from;

	return quiet->events >= EVENTS && quiet->unseen <= length / 3 &&
	       length - quiet->unseen >= why_ms(evidence, SEEN_MS);
}

/*
 * Returns whether the guest may be the cause, and not the host. This is so in two cases. In the first case,
 * events show that the CPU ran for longer than the time between two ticks. In the second case, the timers
 * of other CPUs tick, and this CPU was silent for long. A host that runs the other virtual CPUs rarely
 * stops a single virtual CPU for so long. In each of the two cases, the regular timers of other CPUs, if
 * there are any, must have ticked in the period: if all timers are late at the same time, the host is the
 * cause.
 */
static bool may_be_the_guest(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_quiet *quiet = &cpu->interrupts.quiet;
	const uint64_t length = quiet->to - quiet->from, ran = length - quiet->unseen;
	uint32_t ticking = 0;

	for (uint32_t n = 0; n < evidence->cpus; n++)
		ticking += &evidence->cpu[n] != cpu && ticks_regularly(&evidence->cpu[n].interrupts);
	if (ran >= why_ms(evidence, WHY_TICK_MS))
		/*
		 * ignores up to two ticks of each other CPU's timer: one at the beginning and one at the end
		 * of the period
		 */
		return ticking == 0 || quiet->others > 2 * ticking;
	return length >= why_ms(evidence, LONG_MS) && ticking > 0 &&
	       quiet->others >= length / why_ms(evidence, WHY_TICK_MS);
}

/*
 * Returns how certain it is that the CPU had interrupts disabled. There are other explanations: the host did
 * not run the CPU, or no tick was due.
 *
 * The result is "likely" only if events show that the CPU ran, and other CPUs took interrupts in the period.
 * In addition, the CPU's timer must be regular, or several such periods must have ended at the same place.
 * The result is "possible" if the next interrupt came in user mode, because interrupts are enabled there.
 */
static enum finding_certainty judge(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const struct why_quiet *quiet = &interrupts->quiet;
	const bool again = interrupts->quiets >= AGAIN && quiet->pc;

	if (!is_seen(evidence, quiet) || why_side_of(evidence, quiet->pc) == WHY_SIDE_USER ||
	    (!again && !ticks_regularly(interrupts)))
		return FINDING_POSSIBLE;
	if (takers(evidence) > 1)
		return quiet->others >= (uint64_t)2 * (takers(evidence) - 1) ? FINDING_LIKELY
									     : FINDING_POSSIBLE;
	return again ? FINDING_LIKELY : FINDING_POSSIBLE;
}

static int was_off(const struct why_evidence *evidence, struct why_findings *findings,
		   const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const struct why_quiet *quiet = &interrupts->quiet;
	const enum finding_certainty certain = judge(evidence, cpu);
	struct why_finding *finding = why_finding_new(findings, WHY_IRQS_OFF, certain);
	char thread[WHY_WORDS], length[WHY_WORDS], ticks[WHY_WORDS], place[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial = cpu->lost > 0;
	finding->host = certain == FINDING_POSSIBLE;
	why_say_actor(evidence, quiet->thread + 1, thread, sizeof(thread));
	why_say_ticks(evidence, quiet->to - quiet->from, length, sizeof(length));
	finding_say(finding->base.what,
		    certain == FINDING_POSSIBLE
			    ? "%s ran on CPU %" PRIu32 " without an interrupt for up to %s"
			    : "%s had interrupts disabled on CPU %" PRIu32 " for up to %s",
		    thread, cpu->number, length);
	finding_evidence(&finding->base,
			 "CPU %" PRIu32 " took no interrupt for %s, until %s ago; %s recorded %" PRIu64
			 " event%s there in that time",
			 cpu->number, length,
			 why_say_ticks(evidence, why_age(evidence, quiet->to), ticks, sizeof(ticks)), thread,
			 quiet->events, finding_plural(quiet->events));
	if (evidence->cpus > 1)
		finding_evidence(&finding->base, "other CPUs took %" PRIu64 " interrupt%s in that time",
				 quiet->others, finding_plural(quiet->others));
	if (quiet->pc)
		finding_evidence(&finding->base,
				 "the next interrupt came at %s: search the code that ran before this place",
				 why_say_place(evidence, quiet->pc, place, sizeof(place)));
	if (interrupts->quiets > 1)
		finding_evidence(&finding->base,
				 "this happened %" PRIu64
				 " times, and each time the next interrupt came at that place",
				 interrupts->quiets);
	if (certain == FINDING_POSSIBLE)
		finding_say(finding->base.advice,
			    "call ktrace_interrupts() where interrupts are disabled and enabled, "
			    "because a CPU whose tick is stopped takes no interrupts either");
	why_finding_actor(finding, (struct why_actor){ .id = quiet->thread + 1,
						       .ticks = quiet->to - quiet->from,
						       .pc = quiet->pc,
						       .exact = true });
	return 0;
}

int why_detect_irqs_off(const struct why_evidence *evidence, struct why_findings *findings)
{
	const uint64_t limit = why_ms(evidence, WHY_TICK_MS);
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error && limit; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		const struct why_quiet *quiet = &cpu->interrupts.quiet;

		if (cpu->row.interrupts == KTRX_INTERRUPTS_OFF && why_has_stopped(evidence, cpu) &&
		    !why_spins_for_something(cpu))
			error = found_off(evidence, findings, cpu);
		if (!error && runs_masked_program(evidence, cpu))
			error = program_off(evidence, findings, cpu);
		if (!error && quiet->to - quiet->from >= limit && !was_on(cpu, quiet) &&
		    may_be_the_guest(evidence, cpu))
			error = was_off(evidence, findings, cpu);
	}
	return error;
}
