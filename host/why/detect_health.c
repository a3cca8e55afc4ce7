/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is well: CPUs that have nothing to do, and say so, and CPUs that have much to do, and get it done. A CPU whose
 * timer has stopped while it was not idle is neither.
 */
#include <inttypes.h>

#include "why/detectors.h"
#include "why/pulse.h"

#define BUSY_PERCENT 20u
#define SPIN_MS	     1500u
#define QUIET_MS \
	1500u /* a working CPU that did not beat for so long is not well: a host may make it wait for less */
#define TURN_MS 100u /* who has just been woken may not have had its turn yet */

struct health {
	uint32_t cpus;	   /* that are online or have events */
	uint32_t idle;	   /* that idle at the end */
	uint32_t silent;   /* that do not idle, and do not beat either, or only spin */
	uint32_t unknown;  /* of which neither is known, or that start */
	uint64_t switches; /* within the window, in all */
	double worked; /* the part of the window that it did, as far as events tell; summed up over the CPUs */
	uint32_t runnable, waiting, timed;
	uint64_t longest; /* that a thread has been waiting for its turn */
	bool told;	  /* all CPUs say themselves what they do */
};

/* Does it run a thread that is there to work? */
static bool runs_work(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return thread && !thread->idle;
}

/* For a lock or an answer, and not only since a moment ago. */
static bool spins_on(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t since =
		cpu->holder.wait == KTRX_WAIT_SPIN ? cpu->holder.wait_stamp : cpu->row.ipi_stamp;

	return why_spins_for_something(cpu) &&
	       (since > evidence->end || why_age(evidence, since) > why_ms(evidence, SPIN_MS));
}

static bool is_silent(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return evidence->info->frequency && why_silence(evidence, cpu) > why_ms(evidence, QUIET_MS);
}

/* Of the window, or of what its ring still holds of that. */
static double part_worked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	uint64_t known = why_age(evidence, cpu->gap);

	if (known > evidence->window)
		known = evidence->window;
	if (cpu->last_stamp == 0 || known == 0)
		return why_idles(evidence, cpu) ? 0 : 1;
	return cpu->worked < known ? (double)cpu->worked / (double)known : 1;
}

static void look_at_cpu(struct health *health, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (cpu->last_stamp == 0 && !(cpu->has_row && cpu->row.online))
		return;
	health->cpus++;
	health->switches += cpu->switches.recent;
	health->worked += part_worked(evidence, cpu);
	if (spins_on(evidence, cpu))
		health->silent++;
	else if (why_idles(evidence, cpu))
		health->idle++;
	else if (is_silent(evidence, cpu))
		health->silent++;
	else if (!runs_work(evidence, cpu))
		health->unknown++;
	if (!cpu->has_row || cpu->row.mode == KTRX_MODE_UNKNOWN)
		health->told = false;
}

static void look_at_thread(struct health *health, const struct why_thread *thread)
{
	if (thread->idle)
		return;
	if (thread->runnable > health->longest)
		health->longest = thread->runnable;
	health->runnable += thread->runnable > 0;
	if (!thread->has_holder || thread->holder.state != KTRX_THREAD_WAITING)
		return;
	health->waiting++;
	health->timed += thread->holder.wait == KTRX_WAIT_TIME || thread->holder.deadline;
}

static struct health look(const struct why_evidence *evidence)
{
	struct health health = { .told = true };

	for (uint32_t n = 0; n < evidence->cpus; n++)
		look_at_cpu(&health, evidence, &evidence->cpu[n]);
	for (uint32_t n = 0; n < evidence->threads; n++)
		look_at_thread(&health, &evidence->thread[n]);
	return health;
}

static unsigned busy_percent(const struct health *health)
{
	return health->cpus ? (unsigned)(100 * health->worked / health->cpus + 0.5) : 0;
}

static int tell_idle(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct health *health, unsigned busy)
{
	struct why_finding *finding =
		why_finding_new(findings, WHY_IDLE, health->told ? WHY_CERTAIN : WHY_LIKELY);
	char window[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_finding_head(finding,
			 "nothing to do: %" PRIu32 " of %" PRIu32 " CPUs idle, no thread waits long for one",
			 health->idle, health->cpus);
	why_finding_line(finding, "of the last %s the CPUs were at work for %u %%, with %" PRIu64 " switches",
			 why_say_ticks(evidence, evidence->window, window, sizeof(window)), busy,
			 health->switches);
	if (health->waiting)
		why_finding_line(finding, "%" PRIu32 " threads sleep, %" PRIu32 " of them for a time only",
				 health->waiting, health->timed);
	if (!health->told)
		why_finding_missing(finding, "ktrace_mode(), by which CPUs say that they idle");
	return 0;
}

static int tell_busy(const struct why_evidence *evidence, struct why_findings *findings,
		     const struct health *health, unsigned busy)
{
	struct why_finding *finding = why_finding_new(findings, WHY_BUSY, WHY_LIKELY);
	char window[WHY_WORDS], longest[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	why_finding_head(finding, "all get on: %" PRIu32 " CPUs at work for %u %% of the last %s",
			 health->cpus, busy,
			 why_say_ticks(evidence, evidence->window, window, sizeof(window)));
	why_finding_line(finding,
			 "%" PRIu64 " switches; %" PRIu32 " threads wait for a CPU, none for more than %s",
			 health->switches, health->runnable,
			 why_say_ticks(evidence, health->longest, longest, sizeof(longest)));
	if (evidence->most_beats == 0) {
		finding->partial = true;
		why_finding_missing(
			finding,
			"ktrace_heartbeat(), which tells that it went on until this trace was taken");
	}
	return 0;
}

int why_detect_health(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct health health = look(evidence);
	const unsigned busy = busy_percent(&health);

	if (health.cpus == 0 || health.silent || health.unknown || !why_tells(evidence))
		return 0;
	/* Where several CPUs are at work and none idles, they have just begun, however little that is of the window. */
	if (busy < BUSY_PERCENT && (health.idle > 0 || health.cpus == 1) &&
	    health.longest <= why_ms(evidence, TURN_MS))
		return tell_idle(evidence, findings, &health, busy);
	if (busy >= BUSY_PERCENT || (health.idle == 0 && health.cpus > 1))
		return tell_busy(evidence, findings, &health, busy);
	return 0;
}
