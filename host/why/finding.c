/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "base/grow.h"
#include "why/numbers.h"
#include "why/pulse.h"

struct why_findings {
	struct why_finding *finding;
	uint32_t count, room;
	/* findings beyond WHY_FINDINGS are written here and not reported */
	struct why_finding unseen;
};

#define WORD(name, word, looks) [WHY_##name] = word,
static const char *const verdict_words[WHY_VERDICTS] = { WHY_VERDICT_LIST(WORD) };
#undef WORD
#define LOOKS(name, word, looks) [WHY_##name] = looks,
static const uint8_t verdict_looks[WHY_VERDICTS] = { WHY_VERDICT_LIST(LOOKS) };
#undef LOOKS

const char *why_verdict_word(enum why_verdict verdict)
{
	return verdict_words[verdict];
}

bool why_verdict_is_healthy(enum why_verdict verdict)
{
	return verdict == WHY_BUSY || verdict == WHY_IDLE;
}

static struct why_finding *make_room(struct why_findings *findings)
{
	struct why_finding *larger;

	if (findings->count == WHY_FINDINGS)
		return &findings->unseen;
	larger = base_grow(findings->finding, &findings->room, (size_t)findings->count + 1, sizeof(*larger));
	if (!larger)
		return NULL;
	findings->finding = larger;
	return &findings->finding[findings->count++];
}

struct why_finding *why_finding_new(struct why_findings *findings, enum why_verdict verdict,
				    enum finding_certainty certain)
{
	struct why_finding *finding = make_room(findings);

	if (finding)
		*finding = (struct why_finding){ .base = { .certain = certain }, .verdict = verdict };
	return finding;
}

void why_finding_hooks(struct why_finding *finding, uint32_t hooks)
{
	char words[WHY_WORDS];

	if (*why_say_hooks(hooks, words, sizeof(words)))
		finding_say(finding->base.advice,
			    "call the hooks for %s, "
			    "which this run did not call (ktrace doctor shows the lines to add)",
			    words);
}

bool why_finding_state(struct why_finding *finding, const struct why_evidence *evidence)
{
	if (evidence->state_off)
		finding_say(finding->base.advice,
			    "boot without debug.ktr.state=0, which makes hooks keep no state");
	else if (evidence->no_holders)
		finding_say(finding->base.advice,
			    "set .holders in the configuration of ktrace_init(): without it, "
			    "the hooks for threads and locks keep no state");
	else if (evidence->refused)
		finding_say(finding->base.advice,
			    "raise .holders in ktrace_init(), because the table of threads was full: "
			    "it had no entry for %" PRIu64 " call%s of hooks",
			    evidence->refused, finding_plural(evidence->refused));
	return evidence->state_off || evidence->no_holders || evidence->refused;
}

/*
 * Returns the number of consecutive frames, beginning with frame `n`, that have the return address of frame
 * `n`.
 */
static uint32_t repeats(const struct why_cpu *cpu, uint32_t n)
{
	uint32_t count = 1;

	while (n + count < cpu->frames && cpu->frame[n + count] == cpu->frame[n])
		count++;
	return count;
}

void why_finding_stack(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_cpu *cpu, uint32_t most)
{
	char place[WHY_WORDS];
	uint32_t shown = 0;

	for (uint32_t n = 0; n < cpu->frames && shown < most; shown++) {
		const uint32_t count = repeats(cpu, n);

		why_say_frame(evidence, cpu, n, place, sizeof(place));
		if (count > 1)
			finding_evidence(&finding->base, "  called from %s, at least %" PRIu32 " times",
					 place, count);
		else
			finding_evidence(&finding->base, "  called from %s", place);
		n += count;
	}
}

void why_finding_actor(struct why_finding *finding, struct why_actor actor)
{
	if (finding->actors < WHY_ACTORS)
		finding->actor[finding->actors++] = actor;
}

/*
 * Returns the sort class of a finding. Findings of a lower class are reported first: problems, then healthy
 * verdicts, possible problems, and "unknown".
 */
static int class_of(const struct why_finding *finding)
{
	if (finding->verdict == WHY_UNKNOWN)
		return 3;
	if (why_verdict_is_healthy(finding->verdict) || finding->verdict == WHY_ENDED)
		return 1;
	return finding->base.certain == FINDING_POSSIBLE ? 2 : 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct why_finding *left = a, *right = b;

	if (class_of(left) != class_of(right))
		return class_of(left) - class_of(right);
	if (left->follows != right->follows)
		return (int)left->follows - (int)right->follows;
	if (left->verdict != right->verdict)
		return (int)left->verdict - (int)right->verdict;
	return (int)right->base.certain - (int)left->base.certain;
}

/* If evidence was left out, marks findings as partial, except problems whose certainty is "certain". */
static void mark_partial(struct why_findings *findings, const struct why_evidence *evidence)
{
	for (uint32_t n = 0; evidence->left_out && n < findings->count; n++)
		if (findings->finding[n].base.certain != FINDING_CERTAIN ||
		    why_verdict_is_healthy(findings->finding[n].verdict))
			findings->finding[n].base.partial = true;
}

/* Drops the verdicts "idle" and "busy" if there is a problem. */
static void drop_health(struct why_findings *findings)
{
	uint32_t kept = 0;

	if (findings->count == 0 || class_of(&findings->finding[0]) != 0)
		return;
	for (uint32_t n = 0; n < findings->count; n++)
		if (!why_verdict_is_healthy(findings->finding[n].verdict))
			findings->finding[kept++] = findings->finding[n];
	findings->count = kept;
}

/*
 * If there is a problem whose certainty is "certain" and whose cause is the kernel, drops the findings whose
 * cause may be the host.
 */
static void drop_host(struct why_findings *findings)
{
	uint32_t kept = 0;

	if (findings->count == 0 || class_of(&findings->finding[0]) != 0 ||
	    findings->finding[0].base.certain != FINDING_CERTAIN)
		return;
	for (uint32_t n = 0; n < findings->count; n++)
		if (!findings->finding[n].host)
			findings->finding[kept++] = findings->finding[n];
	findings->count = kept;
}

static bool takes_part(const struct why_finding *finding, uint32_t id)
{
	for (uint32_t n = 0; n < finding->actors; n++)
		if (finding->actor[n].id == id)
			return true;
	return false;
}

/*
 * Marks a starvation as a consequence of another problem if that problem makes the thread's CPU wait for an
 * IPI answer: threads on that CPU cannot run while it waits.
 */
static void follow(struct why_findings *findings, struct why_finding *starved)
{
	for (uint32_t n = 0; n < findings->count && !starved->follows; n++) {
		const struct why_finding *cause = &findings->finding[n];

		if (cause->verdict == WHY_STARVATION || class_of(cause) != 0 ||
		    !takes_part(cause, KTRX_HOLDER_CPU | (starved->asker - 1)))
			continue;
		starved->follows = true;
		finding_evidence(&starved->base, "this follows from: %s (%s), see above",
				 why_verdict_word(cause->verdict),
				 finding_certainty_word(cause->base.certain));
	}
}

static void mark_consequences(struct why_findings *findings)
{
	for (uint32_t n = 0; n < findings->count; n++)
		if (findings->finding[n].asker)
			follow(findings, &findings->finding[n]);
}

/*
 * Returns whether an earlier finding explains the overdue wait: it is a problem in which the same thread or
 * CPU takes part.
 */
static bool is_explained(const struct why_findings *findings, const struct why_finding *overdue)
{
	for (const struct why_finding *one = findings->finding; one < overdue; one++)
		if (class_of(one) == 0 && one->verdict != WHY_OVERDUE && overdue->actors &&
		    takes_part(one, overdue->actor[0].id))
			return true;
	return false;
}

/* Drops a finding about an overdue wait if an earlier finding explains the wait. */
static void drop_explained(struct why_findings *findings)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < findings->count; n++) {
		const struct why_finding *one = &findings->finding[n];

		if (one->verdict != WHY_OVERDUE || !is_explained(findings, one))
			findings->finding[kept++] = *one;
	}
	findings->count = kept;
}

/*
 * Returns whether the actors of the second finding wait for every lock for which an actor of the first
 * finding waits.
 */
static bool has_its_locks(const struct why_finding *one, const struct why_finding *other)
{
	for (uint32_t n = 0; n < one->actors; n++) {
		uint32_t at = 0;

		while (at < other->actors && other->actor[at].waits != one->actor[n].waits)
			at++;
		if (at == other->actors)
			return false;
	}
	return true;
}

/* Returns whether a reported deadlock is about the locks of the finding, which reports an order of locks. */
static bool has_deadlocked(const struct why_findings *findings, const struct why_finding *order)
{
	for (uint32_t n = 0; n < findings->count; n++) {
		const struct why_finding *one = &findings->finding[n];

		if (one->verdict == WHY_DEADLOCK && class_of(one) == 0 && has_its_locks(one, order) &&
		    has_its_locks(order, one))
			return true;
	}
	return false;
}

/* Drops a finding about a dangerous lock order if a reported deadlock is about the same locks. */
static void drop_deadlocked(struct why_findings *findings)
{
	uint32_t kept = 0;

	/* findings of deadlocks come before findings of lock orders, so this loop does not move them */
	for (uint32_t n = 0; n < findings->count; n++) {
		const struct why_finding *one = &findings->finding[n];

		if (one->verdict != WHY_LOCK_ORDER || !has_deadlocked(findings, one))
			findings->finding[kept++] = *one;
	}
	findings->count = kept;
}

bool why_leaves_open(enum why_verdict healthy, enum why_verdict problem)
{
	return (healthy == WHY_IDLE && verdict_looks[problem] & WHY_LOOKS_IDLE) ||
	       (healthy == WHY_BUSY && verdict_looks[problem] & WHY_LOOKS_BUSY);
}

/*
 * Lowers the certainty of the verdict "idle" or "busy" to "possible" if another finding reports a possible
 * problem that also makes a machine look idle or busy.
 */
static void doubt_health(struct why_findings *findings)
{
	struct why_finding *first = findings->count ? &findings->finding[0] : NULL;

	for (uint32_t n = 1; n < findings->count; n++) {
		if (!why_leaves_open(first->verdict, findings->finding[n].verdict))
			continue;
		first->base.certain = FINDING_POSSIBLE;
		first->open = true;
		finding_evidence(&first->base, "not certain because of: %s (%s), see below",
				 why_verdict_word(findings->finding[n].verdict),
				 finding_certainty_word(findings->finding[n].base.certain));
		return;
	}
}

/*
 * If events and state of several CPUs may be attributed to one, no finding is certain except how the run
 * ended: two CPUs that take two locks then look like one CPU that waits for itself.
 */
static void doubt_numbers(struct why_findings *findings, const struct why_evidence *evidence)
{
	const struct why_cpu *cpu = why_misnumbered(evidence);
	char shows[FINDING_LINE];

	for (uint32_t n = 0; cpu && n < findings->count; n++) {
		struct why_finding *one = &findings->finding[n];

		if (one->verdict == WHY_TRIPLE_FAULT || one->verdict == WHY_PANIC)
			continue;
		one->base.certain = FINDING_POSSIBLE;
		one->base.partial = true;
		one->open = true;
		if (one->verdict != WHY_UNKNOWN)
			finding_evidence(&one->base,
					 "events and state of several CPUs may be mixed up: %s, "
					 "so this proves nothing",
					 why_say_misnumbered(cpu, shows, sizeof(shows)));
		finding_say(one->base.advice, "%s", WHY_NUMBERS_ADVICE);
	}
}

static enum finding_mark mark_of(const struct why_finding *finding)
{
	if (class_of(finding) == 0)
		return FINDING_WRONG;
	return class_of(finding) == 1 && !finding->open ? FINDING_OK : FINDING_NOTE;
}

/* Sets the finding's `where` to the name of its first actor and the place in the code where that actor is. */
static void say_where(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_actor *actor = &finding->actor[0];
	char who[WHY_WORDS], place[WHY_WORDS] = "";

	if (finding->actors == 0)
		return;
	if (actor->exact)
		why_say_place(evidence, actor->pc, place, sizeof(place));
	else if (actor->pc)
		why_say_call(evidence, actor->pc, place, sizeof(place));
	finding_say(finding->base.where, "%s%s%s", why_say_actor(evidence, actor->id, who, sizeof(who)),
		    *place ? " at " : "", place);
}

/*
 * Makes the finding "unknown" if no detector has found anything. In this case, the finding states why, and
 * which events or hooks the kernel should record.
 */

static bool is_empty(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.online || evidence->cpu[n].row.now)
			return false;
	return evidence->events == 0;
}

/*
 * Returns the first CPU that is still starting. Such a CPU runs its idle thread and does not idle yet.
 * Returns NULL if there is none.
 */
static const struct why_cpu *starting_cpu(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_thread *thread = why_runs(evidence, &evidence->cpu[n]);

		if (thread && thread->idle && !why_idles(evidence, &evidence->cpu[n]))
			return &evidence->cpu[n];
	}
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

		if (why_is_there(cpu) && !why_idles(evidence, cpu) && why_is_silent(evidence, cpu) &&
		    !why_works_without_ticks(evidence, cpu))
			return cpu;
	}
	return NULL;
}

/*
 * If no CPU recorded anything for long before the trace was taken, formats for how long. Otherwise returns
 * NULL.
 */
static const char *say_silence(const struct why_evidence *evidence, char *buffer, size_t size)
{
	const uint64_t silence = evidence->end - evidence->alive;
	bool more;
	const double watched = note_silence(evidence->info->note, &more);

	if (evidence->info->frequency == 0) /* the silence cannot be converted to ticks */
		return watched >= WHY_SILENT_MS / 1000.0 ? why_say(buffer, size, "%.1f s", watched) : NULL;
	if (silence == 0 || silence < why_ms(evidence, WHY_SILENT_MS))
		return NULL;
	return why_say_ticks(evidence, silence, buffer, size);
}

static void say_what(const struct why_evidence *evidence, struct why_finding *finding)
{
	const struct why_cpu *starts = starting_cpu(evidence), *silent = silent_cpu(evidence),
			     *missing = why_misnumbered(evidence);
	char silence[WHY_WORDS], shows[FINDING_LINE];

	if (evidence->info->unusable)
		finding_say(finding->base.what,
			    "the trace's memory was overwritten: the descriptions of %" PRIu32 " of %" PRIu32
			    " rings are invalid, so nothing is concluded",
			    evidence->info->unusable, evidence->info->rings);
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
	else if (say_silence(evidence, silence, sizeof(silence)))
		finding_say(finding->base.what,
			    "the machine has stopped, or is paused: "
			    "no CPU has recorded an event or a heartbeat for %s, for an unknown reason",
			    silence);
	else if (starts && !evidence->switched)
		finding_say(finding->base.what, "no CPU has switched threads yet: "
						"the machine is still booting, or stopped while it booted");
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
	else
		finding_say(finding->base.what, "nothing in the trace explains what this machine does");
}

/* Returns whether the run ended as a run without a problem does, and all of its trace is there. */
static bool ended_well(const struct why_evidence *evidence)
{
	if (evidence->info->unusable || evidence->cut || is_empty(evidence) || why_misnumbered(evidence))
		return false;
	return why_ended_well(evidence) || (evidence->info->outcome == KTRX_OUTCOME_RUNNING &&
					    strcmp(evidence->ended, "clean exit") == 0);
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

static int find_nothing(const struct why_evidence *evidence, struct why_findings *findings)
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
	if (evidence->info->unusable)
		finding_say(finding->base.advice,
			    "protect that memory with a guard page below each stack, or map it nowhere else");
	else if (evidence->cut)
		finding_say(finding->base.advice, "use the complete file");
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
	else if (silent && !silent->has_registers)
		finding_say(finding->base.advice,
			    "capture the registers of CPU %" PRIu32 " (ktrace why --qmp), to see where it is",
			    silent->number);
	else
		why_finding_hooks(finding, evidence->missing_hooks);
	return 0;
}

int why_find(struct why_findings **result, const struct why_evidence *evidence)
{
#define ROW(name) why_detect_##name,
	static why_detector *const detectors[] = { WHY_DETECTORS(ROW) };
#undef ROW
	struct why_findings *findings = calloc(1, sizeof(*findings));
	int error = 0;

	*result = findings;
	if (!findings)
		return KTREAD_E_MEMORY;
	for (size_t n = 0; n < sizeof(detectors) / sizeof(detectors[0]) && !error; n++)
		error = detectors[n](evidence, findings);
	if (!error && findings->count == 0)
		error = find_nothing(evidence, findings);
	mark_consequences(findings);
	doubt_numbers(findings, evidence);
	if (findings->count)
		qsort(findings->finding, findings->count, sizeof(*findings->finding), by_weight);
	drop_explained(findings);
	drop_deadlocked(findings);
	drop_health(findings);
	drop_host(findings);
	doubt_health(findings);
	mark_partial(findings, evidence);
	for (uint32_t n = 0; n < findings->count; n++) {
		struct why_finding *finding = &findings->finding[n];

		finding->base.kind = verdict_words[finding->verdict];
		finding->base.mark = mark_of(finding);
		say_where(evidence, finding);
	}
	return error;
}

void why_findings_free(struct why_findings *findings)
{
	if (!findings)
		return;
	free(findings->finding);
	free(findings);
}

uint32_t why_findings_count(const struct why_findings *findings)
{
	return findings->count;
}

const struct why_finding *why_findings_at(const struct why_findings *findings, uint32_t n)
{
	return &findings->finding[n];
}

struct finding *why_findings_base(struct why_findings *findings, uint32_t n)
{
	return &findings->finding[n].base;
}
