/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes the finding "ended" or "unknown" if no other detector has found anything. "unknown" states why, and
 * which events or hooks the kernel should record.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/note.h"
#include "why/finding.h"
#include "why/numbers.h"
#include "why/pulse.h"

static bool is_empty(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.online || evidence->cpu[n].row.now)
			return false;
	return evidence->events == 0;
}

/*
 * Returns the first CPU that runs its idle thread, and neither idles nor is about to run another thread. Such
 * a CPU is still starting if it has not run other threads. Returns NULL if there is none.
 */
static const struct why_cpu *starting_cpu(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_thread *thread = why_runs(evidence, &evidence->cpu[n]);

		if (thread && thread->idle && !why_idles(evidence, &evidence->cpu[n]) &&
		    !why_is_between_threads(evidence, &evidence->cpu[n]))
			return &evidence->cpu[n];
	}
	return NULL;
}

/* Returns the first CPU that was halted between two threads, and may have hung there; NULL: there is none. */
static const struct why_cpu *halted_between_threads(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (why_is_between_threads(evidence, &evidence->cpu[n]) &&
		    !why_is_about_to_switch(evidence, &evidence->cpu[n]))
			return &evidence->cpu[n];
	return NULL;
}

/*
 * Returns the first CPU that does not idle, had heartbeats, and makes no progress now. Returns NULL if there
 * is none.
 */
static const struct why_cpu *silent_cpu(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_there(cpu) && cpu->row.heartbeats && !why_idles(evidence, cpu) &&
		    why_is_silent(evidence, cpu) && !why_works_without_ticks(evidence, cpu))
			return cpu;
	}
	return NULL;
}

/*
 * Formats for how long no CPU had recorded anything when the trace was taken. Returns NULL if that was not
 * long.
 */
static const char *say_silence(const struct why_evidence *evidence, char *buffer, size_t size)
{
	const uint64_t least = why_ms(evidence, WHY_SILENT_MS), silence = why_silent_ticks(evidence);
	bool more;
	const double watched = note_silence(evidence->info->note, &more);
	const bool timeless = evidence->info->frequency == 0; /* the silence cannot be converted to ticks */
	/* hooks that record no event may store timestamps in the silence */
	const bool hooks = !timeless && evidence->end - evidence->alive < least;
	char ticks[WHY_WORDS];

	if (timeless ? watched < WHY_SILENT_MS / 1000.0 : silence == 0 || silence < least)
		return NULL;
	why_say(ticks, sizeof(ticks), "%.1f s", watched);
	if (!timeless)
		why_say_ticks(evidence, silence, ticks, sizeof(ticks));
	return why_say(buffer, size, "%s: no CPU has recorded an event or a heartbeat for %s",
		       hooks ? "the machine has stopped, or calls only hooks that record no event"
			     : "the machine has stopped, or is paused",
		       ticks);
}

/* States what is known if no other reason was found. */
static void say_rest(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_cpu *parked = why_parked(evidence);
	char place[WHY_WORDS];

	if (parked)
		finding_say(finding->base.what,
			    "CPU %" PRIu32
			    " has halted with interrupts disabled, at %s, and has run nothing: the kernel "
			    "may have parked it, or it has hung while it started",
			    parked->number, why_say_place(evidence, parked->pc, place, sizeof(place)));
	else
		finding_say(finding->base.what, "nothing in the trace explains what this machine does");
}

static void say_what(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_cpu *starts = starting_cpu(evidence), *silent = silent_cpu(evidence),
			     *missing = why_misnumbered(evidence), *halted = halted_between_threads(evidence);
	char silence[WHY_WORDS], shows[FINDING_LINE];

	if (evidence->info->unusable)
		finding_say(finding->base.what,
			    "the trace's memory was overwritten: the descriptions of %" PRIu32 " of %" PRIu32
			    " rings are invalid, so nothing is concluded",
			    evidence->info->unusable, evidence->info->rings);
	else if (why_is_overwritten(evidence))
		finding_say(finding->base.what,
			    "the trace's memory was overwritten: its table of rings is empty, so nothing is "
			    "concluded");
	else if (evidence->info->form == KTREAD_FORM_PROCESSES)
		finding_say(finding->base.what,
			    "a process trace shows what processes do, not what the machine does");
	else if (is_empty(evidence))
		finding_say(finding->base.what,
			    "the trace is empty: no event, and no state of CPUs or threads");
	else if (evidence->cut)
		finding_say(finding->base.what,
			    "the file is cut short: %" PRIu32 " ring%s, so the newest events may be missing",
			    evidence->cut, evidence->cut == 1 ? " lacks its end" : "s lack their ends");
	else if (missing)
		finding_say(finding->base.what,
			    "the trace may mix up the events and the state of several CPUs: %s",
			    why_say_misnumbered(missing, shows, sizeof(shows)));
	else if (why_lacks_init(evidence))
		finding_say(finding->base.what,
			    "ktrace_init() was not called in this run, or returned an error, "
			    "so hooks kept no state of CPUs, threads and locks");
	else if (why_lacks_cpus(evidence))
		finding_say(
			finding->base.what,
			"no CPU is online: ktrace_cpu_online() was not called in this run, or returned an "
			"error, so hooks kept no state of CPUs, threads and locks");
	else if (!why_shows_activity(evidence))
		finding_say(finding->base.what, "this trace does not record what CPUs and threads do: "
						"no hook was called, and no event has a known name");
	else if (say_silence(evidence, shows, sizeof(shows)))
		finding_say(finding->base.what, "%s, for an unknown reason", shows);
	else if (starts && !evidence->switched)
		finding_say(finding->base.what, "no CPU has switched threads yet: "
						"the machine is still booting, or stopped while it booted");
	else if (starts && why_has_run_threads(starts))
		finding_say(finding->base.what,
			    "CPU %" PRIu32 " has run no thread for %s%s, for an unknown reason",
			    starts->number,
			    why_say_ticks(evidence, why_age(evidence, starts->row.switch_stamp), silence,
					  sizeof(silence)),
			    starts->row.mode == KTRX_MODE_IDLE ? "" : ", and is not in idle mode");
	else if (starts)
		finding_say(finding->base.what,
			    "CPU %" PRIu32 " has neither idled nor run a thread yet, for an unknown reason",
			    starts->number);
	else if (silent)
		finding_say(finding->base.what,
			    "CPU %" PRIu32
			    " does not idle, and has had no heartbeat for %s, for an unknown reason",
			    silent->number,
			    why_say_ticks(evidence, why_silence(evidence, silent), silence, sizeof(silence)));
	else if (halted)
		finding_say(finding->base.what,
			    "CPU %" PRIu32
			    " was between two threads when the machine was halted; it may have hung there",
			    halted->number);
	else
		say_rest(evidence, finding);
}

/* Returns whether the run ended as a run without a problem does, and all of its trace is there. */
static bool ended_well(const struct why_evidence *evidence)
{
	if (why_is_overwritten(evidence) || evidence->cut || is_empty(evidence) || why_misnumbered(evidence))
		return false;
	return why_ended_well(evidence) || (evidence->info->outcome == KTRX_OUTCOME_RUNNING &&
					    strcmp(evidence->ended, "clean exit") == 0);
}

/* Returns whether the CPU records events, and the registers show that interrupts are disabled there. */
static bool works_masked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu && cpu->mask == INTERRUPTS_MASKED && cpu->side != PRIVILEGE_USER &&
	       why_age(evidence, cpu->last_stamp) < why_ms(evidence, WHY_STOPPED_MS);
}

static void say_masked(const struct why_evidence *evidence, const struct why_cpu *cpu,
		       struct why_finding *finding)
{
	char runs[WHY_WORDS], place[WHY_WORDS];

	finding_evidence(
		&finding->base,
		"interrupts are disabled there, as its registers show, but it records events: %s runs "
		"at %s",
		why_say_running(evidence, cpu, runs, sizeof(runs)),
		why_say_place(evidence, cpu->pc, place, sizeof(place)));
	finding_say(
		finding->base.advice,
		"take another trace later: if interrupts are disabled again, this code never lets the CPU "
		"take its ticks");
}

/*
 * Returns whether the CPU runs a thread, and the registers show that interrupts are enabled. Then the kernel
 * has stopped the tick of this CPU, or the timer does not work.
 */
static bool could_tick(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu && cpu->has_registers && cpu->mask == INTERRUPTS_ENABLED && why_runs_work(evidence, cpu);
}

static void say_enabled(const struct why_evidence *evidence, const struct why_cpu *cpu,
			struct why_finding *finding)
{
	char runs[WHY_WORDS], place[WHY_WORDS];

	finding_evidence(&finding->base, "interrupts are enabled there, as its registers show: %s runs at %s",
			 why_say_running(evidence, cpu, runs, sizeof(runs)),
			 why_say_place(evidence, cpu->pc, place, sizeof(place)));
	if (why_interrupts_only_idle(cpu)) {
		finding_evidence(&finding->base,
				 "CPU %" PRIu32 " took interrupts only while it idled: perhaps no timer "
				 "interrupts its threads",
				 cpu->number);
		finding_say(
			finding->base.advice,
			"take another trace later: if this thread still runs, it never gives up CPU %" PRIu32,
			cpu->number);
		return;
	}
	finding_say(
		finding->base.advice,
		"if this kernel does not stop the tick of a CPU that runs a single thread, the timer of CPU "
		"%" PRIu32 " has stopped",
		cpu->number);
}

static int find_end(struct why_findings *findings)
{
	struct why_finding *finding = why_finding_new(findings, WHY_ENDED, FINDING_LIKELY);

	if (!finding)
		return KTREAD_E_MEMORY;
	finding_say(finding->base.what,
		    "the run ended by itself (clean exit), and this trace shows nothing wrong");
	return 0;
}

int why_detect_nothing(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct why_cpu *silent = silent_cpu(evidence);
	struct why_finding *finding;
	char hooks[FINDING_LINE];

	if (ended_well(evidence))
		return find_end(findings);
	finding = why_finding_new(findings, WHY_UNKNOWN, FINDING_POSSIBLE);
	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial =
		*why_say_hooks(evidence->missing_hooks, hooks, sizeof(hooks)) || evidence->cut;
	say_what(evidence, finding);
	if (why_is_overwritten(evidence))
		finding_say(finding->base.advice,
			    "protect that memory with a guard page below each stack, or map it nowhere else");
	else if (evidence->cut)
		finding_say(finding->base.advice, "use the complete file");
	else if (evidence->info->form == KTREAD_FORM_PROCESSES)
		finding_say(finding->base.advice, "use kdump, or give a trace of the kernel's events");
	else if (why_misnumbered(evidence))
		finding_say(finding->base.advice, "%s", WHY_NUMBERS_ADVICE);
	else if (why_lacks_init(evidence) || why_lacks_cpus(evidence))
		finding_say(finding->base.advice, "%s", WHY_INIT_ADVICE);
	else if (why_finding_state(finding, evidence))
		return 0;
	else if (evidence->missing_hooks == WHY_ALL_HOOKS)
		finding_say(finding->base.advice,
			    "call the hooks, "
			    "or record events with the names in doc/events.md (see ktrace doctor)");
	else if (evidence->info->frequency == 0 && why_shows_activity(evidence))
		finding_say(
			finding->base.advice,
			"pass --frequency, because it is unknown for how long a CPU has had no heartbeat");
	else if (works_masked(evidence, silent))
		say_masked(evidence, silent, finding);
	else if (could_tick(evidence, silent))
		say_enabled(evidence, silent, finding);
	else if (silent && !silent->has_registers)
		finding_say(finding->base.advice,
			    "capture the registers of CPU %" PRIu32 " (ktrace why --qmp), to see where it is",
			    silent->number);
	else
		why_finding_hooks(finding, evidence->missing_hooks);
	return 0;
}
