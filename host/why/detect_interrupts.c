/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Interrupts that come too often, or that no longer come: interrupt storms, a missing EOI. */
#include <inttypes.h>

#include "analyze/keyed.h"
#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

/*
 * Interrupt storm: an interrupt comes again as soon as its handler has returned, so the CPU has no time for
 * other work. The interrupted code makes no progress, or the CPU's heartbeat stops.
 */

#define RUN 64u /* number of interrupts in a row that count as a storm */
/*
 * number of interrupts in a row that count as a storm on an idle CPU; it is larger, because other CPUs may
 * interrupt an idle CPU often
 */
#define RUN_IDLE   512u
#define LEAST_A_MS 2u /* minimum number of interrupts per ms in a storm */
#define RECENT_MS  100u
#define FLOOD_MS   100u
/* maximum number of events of one interrupt: irq.enter, irq.eoi, irq.exit */
#define EVENTS_OF_ONE 3u
/* minimum number of interrupts in a storm per event that came in no handler */
#define LEAST_AN_EVENT 10u
/*
 * time in µs: timers with this period or a longer one are usual; the CPU has time for other work between the
 * ticks, unless the handlers take much of it
 */
#define USUAL_US 50u
/* time in µs: interrupts with a shorter period leave a CPU no time, even if handlers seem to be short */
#define SHORTEST_US 10u
/* the number N: at most one interrupt in N comes after a pause, in which the host may not have run the CPU */
#define PAUSE_PART 64u
/* the number N: handlers take much of the time if they take 1/N of it */
#define PART 4u
/* time in µs: ticks with a period of this or more are not suspicious even if they end no sleep */
#define VAIN_US 100u
/* distance in bytes of two places between which a thread has executed more than one instruction */
#define FURTHER 16u
#define SAMPLES 8u /* minimum number of places that are compared */
/* minimum time in ms since the clock was 0, if the interrupts of this time are counted */
#define PAST_MS 1000u

struct storm {
	uint32_t number; /* interrupt number */
	const char *name;
	/* `count`: number of interrupts; `span`: ticks from the first to the last interrupt */
	uint64_t count, span;
	bool dense; /* true if the intervals between these interrupts were almost zero */
	/* if not 0: these are ticks that ended no sleep, and this many timed sleeps are late */
	uint32_t late;
};

static uint64_t at_least(const struct why_evidence *evidence, uint64_t span)
{
	return span / (why_ms(evidence, 1) + 1) * LEAST_A_MS;
}

static bool is_dense(const struct why_irq_kind *kind)
{
	return kind->close >= kind->entered - kind->entered / 4;
}

/* Returns the time from the first to the last of these interrupts, in ticks, without long pauses. */
static uint64_t busy_ticks(const struct why_irq_kind *kind)
{
	return elapsed(kind->paused, elapsed(kind->first, kind->last));
}

/* Returns the number of clock ticks in `us` µs, rounded up. The clock may tick less often than each µs. */
static uint64_t us_ticks(const struct why_evidence *evidence, uint64_t us)
{
	const uint64_t frequency = evidence->info->frequency;

	return frequency / 1000000 * us + (frequency % 1000000 * us + 999999) / 1000000;
}

/* Returns whether these interrupts come at intervals of `us` µs or more on average, or with many pauses. */
static bool comes_each(const struct why_evidence *evidence, const struct why_irq_kind *kind, uint64_t us)
{
	return kind->entered < 2 || kind->pauses > kind->entered / PAUSE_PART ||
	       busy_ticks(kind) / (kind->entered - 1 - kind->pauses) >= us_ticks(evidence, us);
}

/* Returns whether nearly all interrupts of the CPU are timer ticks. */
static bool are_ticks(const struct why_cpu *cpu)
{
	return cpu->row.irqs && cpu->row.heartbeats >= cpu->row.irqs / 10 * 9;
}

/*
 * Returns whether the interrupted threads executed more than one instruction between most of the newest
 * interrupts.
 */
static bool are_spread(const struct why_interrupts *interrupts)
{
	const uint64_t count = interrupts->samples < WHY_SAMPLES ? interrupts->samples : WHY_SAMPLES;
	uint64_t further = 0;

	for (uint64_t n = interrupts->samples - count + 1; n < interrupts->samples; n++) {
		const uint64_t one = interrupts->sample[(n - 1) % WHY_SAMPLES].pc,
			       two = interrupts->sample[n % WHY_SAMPLES].pc;

		further += (one > two ? one - two : two - one) > FURTHER;
	}
	return count >= SAMPLES && further >= count / 2;
}

/*
 * Returns whether the CPU has time for other work between the interrupts: its heartbeats come, the handlers
 * take little time, and the interrupts are ticks of a usual timer, or the interrupted thread makes progress.
 */
static bool leaves_time(const struct why_evidence *evidence, const struct why_cpu *cpu,
			const struct why_irq_kind *kind)
{
	if (why_has_stopped(evidence, cpu) || kind->handled >= busy_ticks(kind) / PART)
		return false;
	return (are_ticks(cpu) && comes_each(evidence, kind, USUAL_US)) ||
	       (are_spread(&cpu->interrupts) && !are_ticks(cpu) && comes_each(evidence, kind, SHORTEST_US));
}

/*
 * Returns whether there were enough interrupts for a storm: in the ring, or, if the ring contains too few, in
 * the count of the CPU's row in the kernel's table.
 */
static bool came_often(const struct why_evidence *evidence, const struct why_cpu *cpu,
		       const struct storm *storm, bool idle)
{
	if (storm->count >= (idle ? RUN_IDLE : RUN))
		return true;
	return cpu->lost > 0 && storm->dense && storm->count >= RUN && cpu->row.irqs >= RUN_IDLE &&
	       cpu->row.irqs >= at_least(evidence, why_silence(evidence, cpu));
}

/* Returns whether the interrupted threads make progress between the newest interrupts. */
static bool is_usable_between(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_irq_kind *kind = why_newest_kind(&cpu->interrupts);

	return kind && are_spread(&cpu->interrupts) && comes_each(evidence, kind, SHORTEST_US) &&
	       kind->handled < busy_ticks(kind) / PART;
}

/*
 * Returns whether the newest interrupts of the CPU are a storm: they have the same number, and no other event
 * came between them. On an idle CPU, this is not enough, because all interrupts interrupt the idle loop at
 * the same place, and the tick may be stopped. The interrupts of an idle CPU are a storm only if they also
 * leave no time for other work.
 */
static bool is_storm(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const struct why_thread *thread = why_runs(evidence, cpu);
	const bool idle = !thread || (thread->idle && why_idles(evidence, cpu));
	const struct why_irq_kind *kind = why_newest_kind(interrupts);

	*storm = (struct storm){ .number = interrupts->number,
				 .name = interrupts->name,
				 .count = interrupts->run,
				 .span = elapsed(interrupts->run_first, interrupts->stamp),
				 .dense = kind && is_dense(kind) };
	if (kind && leaves_time(evidence, cpu, kind))
		return false;
	if (!came_often(evidence, cpu, storm, idle) || storm->count < at_least(evidence, storm->span))
		return false;
	if (!evidence->stalled && why_age(evidence, interrupts->stamp) > why_ms(evidence, RECENT_MS))
		return false;
	if (idle)
		return storm->dense && why_has_stopped(evidence, cpu);
	return (why_has_stopped(evidence, cpu) && !is_usable_between(evidence, cpu)) ||
	       interrupts->run_at_one_place;
}

static struct storm storm_of(const struct why_interrupts *interrupts, const struct why_irq_kind *kind)
{
	return (struct storm){ .number = kind->number,
			       .name = kind->number == interrupts->number ? interrupts->name : "",
			       .count = kind->entered,
			       .span = elapsed(kind->first, kind->last),
			       .dense = is_dense(kind) };
}

/*
 * Returns whether the storm has lasted for long. If a ring is too small to show it, because it has been
 * overwritten, the count of the CPU's interrupts shows it. This count began long before the oldest event, so
 * the interrupts must have come as often as in a storm on average since the clock was 0.
 */
static bool lasts(const struct why_evidence *evidence, const struct why_cpu *cpu, const struct storm *storm)
{
	const uint64_t past = evidence->alive;

	return storm->span >= why_ms(evidence, FLOOD_MS) ||
	       (cpu->cut && storm->count >= RUN_IDLE && past >= why_ms(evidence, PAST_MS) &&
		cpu->row.irqs >= past / (us_ticks(evidence, USUAL_US) + 1));
}

/*
 * Returns whether nearly all events of the CPU come from interrupts with one number.
 *
 * Timer ticks may come between these events. A handler may record other events, such as those of an interrupt
 * of a second interrupt controller, but also those of its work. So if handlers record other events, they must
 * also take much of the time.
 */
static bool is_flood(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;

	for (uint32_t n = 0; n < interrupts->kinds; n++) {
		const struct why_irq_kind *kind = &interrupts->kind[n];

		*storm = storm_of(interrupts, kind);
		if (storm->dense && !leaves_time(evidence, cpu, kind) && lasts(evidence, cpu, storm) &&
		    storm->count >= at_least(evidence, storm->span) && storm->count >= RUN &&
		    (storm->count * EVENTS_OF_ONE >= interrupts->events / 10 * 9 ||
		     (storm->count >= interrupts->outside * LEAST_AN_EVENT &&
		      kind->handled >= storm->span / PART)))
			return true;
	}
	return false;
}

/* Returns whether the last heartbeats found a thread that is not idle at one instruction. */
static bool stands_still(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (cpu->row.heartbeats < KTRX_SAMPLES || cpu->row.sample[0] == 0 || !why_runs_work(evidence, cpu))
		return false;
	for (uint32_t n = 1; n < KTRX_SAMPLES; n++)
		if (cpu->row.sample[n] != cpu->row.sample[0])
			return false;
	return true;
}

/*
 * Returns whether the newest interrupts may be a burst: the CPU took other interrupts before them, and a
 * storm lasts longer. After a pause of the host, the kernel handles all timer ticks that it missed, one after
 * the other. A device that has a pause between most of its interrupts may have a burst of work; timer ticks
 * may come in such a burst.
 */
static bool may_be_burst(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const struct why_irq_kind *kind = why_newest_kind(interrupts);

	return (are_ticks(cpu) || (kind && kind->handled && !is_dense(kind) &&
				   elapsed(kind->after, kind->last) < why_ms(evidence, FLOOD_MS))) &&
	       !why_has_stopped(evidence, cpu) && interrupts->entered > interrupts->run &&
	       elapsed(interrupts->run_first, interrupts->stamp) < why_ms(evidence, FLOOD_MS);
}

/*
 * Returns whether the interrupts are timer ticks. If so, the timer works, but the kernel sets it to very
 * short times. If it is unknown which code the ticks interrupt, the CPU may do other work between them. After
 * a pause of the host, a kernel may handle all ticks that it missed, one after the other; this does not last
 * as long as a flood.
 */
static bool may_work_between_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	struct storm flood;

	return !why_has_stopped(evidence, cpu) && are_ticks(cpu) &&
	       (cpu->interrupts.pc == 0 || is_usable_between(evidence, cpu)) &&
	       !(stands_still(evidence, cpu) && is_flood(evidence, cpu, &flood));
}

/* Returns whether a wait of a thread on this CPU that uses timeouts has ended after `stamp`. */
static bool has_ended_sleep(const struct why_evidence *evidence, const struct why_cpu *cpu, uint64_t stamp)
{
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (why_cpu_of(thread) == cpu->number && thread->slept_until > stamp &&
		    (thread->usual_sleep || thread->holder.deadline))
			return true;
	}
	return false;
}

/*
 * Returns whether ticks come at very short intervals and end no sleep, although timed sleeps are late: the
 * handler sets the timer again, and does nothing else. Between the ticks, the CPU may idle or record events,
 * because a machine that is emulated may deliver the ticks long after they are due.
 */
static bool is_in_vain(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	const struct why_irq_kind *kind = why_newest_kind(&cpu->interrupts);
	const struct why_thread *longest;

	if (!kind || !are_ticks(cpu) || kind->entered < RUN_IDLE ||
	    kind->entered < cpu->interrupts.entered / 10 * 9 ||
	    busy_ticks(kind) < why_ms(evidence, FLOOD_MS) || comes_each(evidence, kind, VAIN_US) ||
	    why_age(evidence, kind->last) > why_ms(evidence, RECENT_MS) ||
	    has_ended_sleep(evidence, cpu, kind->first))
		return false;
	*storm = storm_of(&cpu->interrupts, kind);
	storm->span = busy_ticks(kind);
	storm->late = why_late_sleeps(evidence, cpu, &longest);
	return storm->late > 0;
}

static bool has_storm(const struct why_evidence *evidence, const struct why_cpu *cpu, struct storm *storm)
{
	return evidence->info->frequency &&
	       (is_in_vain(evidence, cpu, storm) ||
		(is_storm(evidence, cpu, storm) && !may_be_burst(evidence, cpu)) ||
		is_flood(evidence, cpu, storm));
}

static enum finding_certainty certainty_of(const struct why_evidence *evidence, const struct why_cpu *cpu,
					   const struct storm *storm)
{
	if (storm->late)
		return comes_each(evidence, why_newest_kind(&cpu->interrupts), USUAL_US) ? FINDING_POSSIBLE
											 : FINDING_LIKELY;
	/* the kernel may have stopped the ticks of a CPU that makes progress between the interrupts */
	if (why_has_stopped(evidence, cpu))
		return is_usable_between(evidence, cpu) ? FINDING_POSSIBLE : FINDING_CERTAIN;
	return may_work_between_ticks(evidence, cpu) ? FINDING_POSSIBLE : FINDING_LIKELY;
}

bool why_is_flooded(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	struct storm storm;

	return has_storm(evidence, cpu, &storm) && certainty_of(evidence, cpu, &storm) != FINDING_POSSIBLE;
}

/* Adds a line for each interrupt that came inside nearly all interrupts of the storm. */
static void say_nested(const struct why_cpu *cpu, const struct storm *storm, struct why_finding *finding)
{
	for (uint32_t n = 0; n < cpu->interrupts.kinds; n++) {
		const struct why_irq_kind *kind = &cpu->interrupts.kind[n];

		if (kind->number != storm->number && kind->close == 0 &&
		    kind->entered >= storm->count / 10 * 9)
			finding_evidence(&finding->base,
					 "interrupt %" PRIu32 " came inside nearly all of them",
					 kind->number);
	}
}

static void say_late(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct storm *storm, struct why_finding *finding)
{
	const struct why_thread *longest;
	char who[WHY_WORDS], ticks[WHY_WORDS];

	if (why_late_sleeps(evidence, cpu, &longest) == 0)
		return;
	finding_evidence(&finding->base,
			 "%" PRIu32
			 " thread%s longer than requested, and the trace shows no timed sleep that "
			 "these ticks ended",
			 storm->late, storm->late == 1 ? " sleeps far" : "s sleep far");
	finding_evidence(
		&finding->base, "%s should have been woken %s ago",
		why_say_actor(evidence, longest->id + 1, who, sizeof(who)),
		why_say_ticks(evidence, why_age(evidence, longest->holder.deadline), ticks, sizeof(ticks)));
	finding_evidence(&finding->base, "the handler seems to set the timer to a very short time again and "
					 "again, without ending these sleeps");
}

static void say_storm(const struct why_evidence *evidence, const struct why_cpu *cpu,
		      const struct storm *storm, struct why_finding *finding)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	char irq[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS], ticks[WHY_WORDS];

	why_say_irq(storm->number, storm->name, irq, sizeof(irq));
	if (storm->late)
		finding_say(finding->base.what,
			    "%s, which counts as a heartbeat, comes every %s on CPU %" PRIu32
			    " and ends no sleep",
			    irq, why_say_ticks(evidence, storm->span / storm->count, ticks, sizeof(ticks)),
			    cpu->number);
	else if (may_work_between_ticks(evidence, cpu))
		finding_say(finding->base.what,
			    "%s, which counts as a heartbeat, comes every %s on CPU %" PRIu32, irq,
			    why_say_ticks(evidence, storm->span / storm->count, ticks, sizeof(ticks)),
			    cpu->number);
	else
		finding_say(finding->base.what,
			    "%s comes again and again on CPU %" PRIu32 ", which does nothing else", irq,
			    cpu->number);
	finding_evidence(&finding->base, "the last %" PRIu64 " came %s apart on average", storm->count,
			 why_say_ticks(evidence, storm->span / storm->count, ticks, sizeof(ticks)));
	finding_refer(&finding->base, interrupts->stamp, KTRX_HOLDER_CPU | cpu->number, 0);
	if (cpu->has_row && cpu->row.irqs)
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " has taken %" PRIu64 " interrupt%s and had %" PRIu64
				 " heartbeat%s in total",
				 cpu->number, cpu->row.irqs, finding_plural(cpu->row.irqs),
				 cpu->row.heartbeats, finding_plural(cpu->row.heartbeats));
	if (why_has_stopped(evidence, cpu))
		finding_evidence(&finding->base, "%s", why_say_beat(evidence, cpu, ticks, sizeof(ticks)));
	say_nested(cpu, storm, finding);
	if (!interrupts->pc && stands_still(evidence, cpu))
		finding_evidence(&finding->base,
				 "the last %u heartbeats found %s at the same instruction, %s", KTRX_SAMPLES,
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 why_say_place(evidence, cpu->row.sample[0], place, sizeof(place)));
	if (interrupts->pc)
		finding_evidence(&finding->base, "%s interrupted %s at %s",
				 interrupts->run_at_one_place ? "each of them" : "the last one",
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 why_say_place(evidence, interrupts->pc, place, sizeof(place)));
	if (cpu->has_registers)
		finding_evidence(
			&finding->base, "the CPU is at %s, called from %s",
			why_say_standing(evidence, cpu, place, sizeof(place)),
			why_say_call(evidence, cpu->frames ? cpu->frame[0] : 0, thread, sizeof(thread)));
	if (storm->late) {
		say_late(evidence, cpu, storm, finding);
	} else if (may_work_between_ticks(evidence, cpu)) {
		finding_evidence(&finding->base, "the timer is set to a very short time again and again");
		finding_say(finding->base.advice,
			    "record ip in irq.enter, which shows what the interrupts interrupt");
	} else {
		finding_evidence(&finding->base,
				 "its handler does not clear the cause of the interrupt, or raises it again");
	}
}

int why_detect_irq_storm(const struct why_evidence *evidence, struct why_findings *findings)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];
		struct why_finding *finding;
		struct storm storm;

		if (!has_storm(evidence, cpu, &storm))
			continue;
		finding = why_finding_new(findings, WHY_IRQ_STORM, certainty_of(evidence, cpu, &storm));
		if (!finding)
			return KTREAD_E_MEMORY;
		say_storm(evidence, cpu, &storm, finding);
		why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | n,
							       .ticks = why_silence(evidence, cpu),
							       .pc = cpu->interrupts.pc,
							       .exact = true });
	}
	return 0;
}

/*
 * Missing EOI: the handler of a CPU's newest interrupt returned without an EOI to the interrupt controller,
 * although earlier interrupts had one. The controller then sends that CPU no interrupt of the same or a lower
 * priority. The CPU's heartbeat stops although interrupts are enabled.
 */

/*
 * Returns the counts of interrupts with the number of the newest interrupt. The newest interrupt itself is
 * not counted.
 */
static struct why_irq_kind counts_before_newest(const struct why_interrupts *interrupts)
{
	const struct why_irq_kind *newest = why_newest_kind(interrupts);
	struct why_irq_kind kind = newest ? *newest : (struct why_irq_kind){ 0 };

	kind.entered -= kind.entered > 0;
	return kind;
}

/* Returns whether interrupts are enabled on the CPU, as the hook or the registers show. */
static bool takes_interrupts(const struct why_cpu *cpu)
{
	return cpu->row.interrupts == KTRX_INTERRUPTS_ON || cpu->mask == INTERRUPTS_ENABLED;
}

static void say_unended(const struct why_evidence *evidence, const struct why_cpu *cpu,
			struct why_finding *finding)
{
	const struct why_interrupts *interrupts = &cpu->interrupts;
	const bool by_events = interrupts->entered > 0;
	const uint64_t stamp = by_events ? interrupts->stamp : cpu->row.irq_stamp;
	char irq[WHY_WORDS], place[WHY_WORDS], thread[WHY_WORDS], ticks[WHY_WORDS];
	struct why_irq_kind earlier = counts_before_newest(interrupts);

	why_say_irq(by_events ? interrupts->number : cpu->row.irq, by_events ? interrupts->name : "", irq,
		    sizeof(irq));
	finding_say(finding->base.what, "CPU %" PRIu32 " gets no more interrupts: no EOI was sent for %s",
		    cpu->number, irq);
	finding_evidence(&finding->base, "%s came %s ago; its handler returned, and no EOI was recorded", irq,
			 why_say_ticks(evidence, why_age(evidence, stamp), ticks, sizeof(ticks)));
	finding_refer(&finding->base, stamp, KTRX_HOLDER_CPU | cpu->number, 0);
	if (interrupts->pc)
		finding_evidence(&finding->base, "it interrupted %s at %s",
				 why_say_running(evidence, cpu, thread, sizeof(thread)),
				 why_say_place(evidence, interrupts->pc, place, sizeof(place)));
	if (earlier.ended)
		finding_evidence(&finding->base,
				 "before that it came %" PRIu64 " time%s there, with %" PRIu64 " EOI%s",
				 earlier.entered, finding_plural(earlier.entered), earlier.ended,
				 finding_plural(earlier.ended));
	finding_evidence(&finding->base, "since then CPU %" PRIu32 " has taken no interrupt; %s", cpu->number,
			 why_say_beat(evidence, cpu, thread, sizeof(thread)));
	if (takes_interrupts(cpu))
		finding_evidence(&finding->base, "interrupts are enabled there");
	else
		finding_say(finding->base.advice,
			    "call ktrace_interrupts(), which records whether interrupts are enabled there");
}

static int look_at(const struct why_evidence *evidence, struct why_findings *findings,
		   const struct why_cpu *cpu)
{
	enum finding_certainty certain =
		takes_interrupts(cpu) && why_has_had_eoi(evidence, cpu) ? FINDING_CERTAIN : FINDING_LIKELY;
	struct why_finding *finding;

	if (!why_has_stopped(evidence, cpu) || !why_lacks_eoi(evidence, cpu) ||
	    cpu->row.interrupts == KTRX_INTERRUPTS_OFF)
		return 0;
	finding = why_finding_new(findings, WHY_MISSING_EOI, certain);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial = cpu->lost > 0;
	say_unended(evidence, cpu, finding);
	why_finding_actor(finding, (struct why_actor){ .id = KTRX_HOLDER_CPU | cpu->number,
						       .ticks = why_silence(evidence, cpu),
						       .pc = cpu->interrupts.pc,
						       .exact = true });
	return 0;
}

int why_detect_missing_eoi(const struct why_evidence *evidence, struct why_findings *findings)
{
	int error = 0;

	for (uint32_t n = 0; n < evidence->cpus && !error; n++)
		error = look_at(evidence, findings, &evidence->cpu[n]);
	return error;
}
