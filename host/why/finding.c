/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/finding.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "why/numbers.h"

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

void why_finding_cpu(struct why_finding *finding, const struct why_cpu *cpu, uint64_t pc, uint64_t ticks)
{
	const bool known = cpu->running != UINT32_MAX;

	why_finding_actor(finding,
			  (struct why_actor){ .id = known ? cpu->running + 1 : KTRX_HOLDER_CPU | cpu->number,
					      .ticks = ticks,
					      .pc = pc,
					      .exact = true });
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
	if (left->aside != right->aside)
		return (int)left->aside - (int)right->aside;
	if (left->verdict != right->verdict)
		return (int)left->verdict - (int)right->verdict;
	if (left->base.certain != right->base.certain)
		return (int)right->base.certain - (int)left->base.certain;
	return (left->order > right->order) - (left->order < right->order);
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

bool why_leaves_open(enum why_verdict healthy, const struct why_finding *problem)
{
	const uint8_t looks = verdict_looks[problem->verdict] | problem->looks;

	return (healthy == WHY_IDLE && looks & WHY_LOOKS_IDLE) ||
	       (healthy == WHY_BUSY && looks & WHY_LOOKS_BUSY);
}

/*
 * Lowers the certainty of the verdict "idle" or "busy" to "possible" if another finding reports a possible
 * problem that also makes a machine look idle or busy.
 */
static void doubt_health(struct why_findings *findings)
{
	struct why_finding *first = findings->count ? &findings->finding[0] : NULL;

	for (uint32_t n = 1; n < findings->count; n++) {
		if (!why_leaves_open(first->verdict, &findings->finding[n]))
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
 * ended: two CPUs that take two locks then look like one CPU that waits for itself. The same is true if hooks
 * on some CPU keep no state.
 */
static void doubt_numbers(struct why_findings *findings, const struct why_evidence *evidence)
{
	const struct why_cpu *cpu = why_misnumbered(evidence);
	uint32_t number;
	const bool stateless = why_is_stateless(evidence, &number);
	char shows[FINDING_LINE];

	for (uint32_t n = 0; (cpu || stateless) && n < findings->count; n++) {
		struct why_finding *one = &findings->finding[n];

		if (one->verdict == WHY_TRIPLE_FAULT || one->verdict == WHY_PANIC)
			continue;
		one->base.certain = FINDING_POSSIBLE;
		one->base.partial = true;
		one->open = true;
		if (one->verdict == WHY_UNKNOWN)
			continue; /* why_detect_nothing() has explained what matters most */
		if (!cpu) {
			finding_evidence(&one->base,
					 "CPU %" PRIu32 " switches threads, but its hooks keep no state, so "
					 "this proves nothing",
					 number);
			finding_say(one->base.advice, "%s", WHY_ONLINE_ADVICE);
			continue;
		}
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
		error = why_detect_nothing(evidence, findings);
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
