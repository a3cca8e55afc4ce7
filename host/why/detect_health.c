/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The verdicts "idle" and "busy". They require that each CPU idles or makes progress. A CPU that does not
 * idle and has no heartbeat makes no progress.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/note.h"
#include "why/finding.h"
#include "why/pulse.h"
#include "why/untimed.h"

#define BUSY_PERCENT 20u
#define SPIN_MS	     1500u
#define WATCHED_S    1.0 /* minimum time in s for which a machine is watched before its silence counts */
/*
 * maximum number of spinning CPUs that are examined; a limit is needed because each takes a search through
 * all table rows
 */
#define SPINNERS 64u
/* time in ms: a thread that is runnable for longer than this is a problem if the CPUs have little to do */
#define LATE_MS 1000u
/* the trace shows too little if the ring of a CPU covers less than 1/SCANT of the time window */
#define SCANT	10u
#define TURN_MS 100u /* time in ms: a thread that was woken at most this long ago may not have run yet */

/* hooks that are needed to know which threads wait, and for what they wait */
#define NEEDED_HOOKS (KTRX_HOOK_LOCK | KTRX_HOOK_THREAD)

struct health {
	uint32_t cpus;	 /* number of CPUs that are online or have events */
	uint32_t idle;	 /* number of CPUs that idle at the end */
	uint32_t silent; /* number of CPUs that spin, or that do not idle and have no heartbeat */
	/* number of CPUs that are still starting, may or may not idle, or may pass over a thread */
	uint32_t unknown;
	uint64_t switches; /* number of context switches of all CPUs within the time window */
	/* the fraction (0 to 1) of the recorded time in which a CPU ran threads, summed over all CPUs */
	double worked;
	/*
	 * length, in ticks, of the period before the end for which the rings of all CPUs contain all events;
	 * at most the length of the time window
	 */
	uint64_t reach;
	/* number of threads in each state; `timed`: number of waiting threads whose wait has a timeout */
	uint32_t runnable, running, waiting, timed;
	/* true if it is unknown whether some thread is runnable, sleeps, or has ended */
	bool unproven;
	/*
	 * number of threads that announced a sleep but have no row in the kernel's table. If the table has
	 * no free row, this shows that the table of an older kernel is full, because such a kernel does not
	 * count the hook calls that find the table full.
	 */
	uint32_t unlisted;
	uint64_t longest; /* longest time, in ticks, for which a thread has been runnable */
	uint64_t oldest;  /* timestamp of the oldest sleep without a timeout */
	/* number of threads that have waited with a timeout for a lock, for longer than TURN_MS */
	uint32_t timed_for_lock;
	bool modes_known; /* true if the kernel has called ktrace_mode() on each CPU */
};

/* Returns whether the CPU has spun for a lock, or waited for an IPI answer, for longer than SPIN_MS. */
static bool spins_on(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t since =
		cpu->holder.wait == KTRX_WAIT_SPIN ? cpu->holder.wait_stamp : cpu->row.ipi_stamp;

	return why_spins_for_something(cpu) &&
	       (since > evidence->end || why_age(evidence, since) > why_ms(evidence, SPIN_MS));
}

/*
 * Returns whether the holder's row in the kernel's table shows that the lock has been held since `stamp` or
 * longer. If the lock was taken after `stamp`, its holder changes, so the waiters make progress.
 */
static bool holds_since(const struct ktrx_holder *holder, uint64_t lock, uint64_t stamp)
{
	for (uint32_t n = 0; lock && n < KTRX_HELD; n++)
		if (holder->held[n].object == lock && holder->held[n].stamp <= stamp)
			return true;
	return false;
}

static bool is_held(const struct why_evidence *evidence, uint64_t lock, uint64_t stamp)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].has_holder && holds_since(&evidence->cpu[n].holder, lock, stamp))
			return true;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].has_holder && holds_since(&evidence->thread[n].holder, lock, stamp))
			return true;
	return false;
}

/* Returns whether a CPU spins for a lock that is held, and no CPU runs code that could release the lock. */
static bool spins_in_vain(const struct why_evidence *evidence)
{
	uint32_t looked = 0;

	if (evidence->made_progress || why_any_cpu_works(evidence))
		return false;
	for (uint32_t n = 0; n < evidence->cpus && looked < SPINNERS; n++) {
		const struct ktrx_holder *holder = &evidence->cpu[n].holder;

		if (!evidence->cpu[n].has_holder || holder->wait != KTRX_WAIT_SPIN)
			continue;
		if (is_held(evidence, holder->object, holder->wait_stamp))
			return true;
		looked++;
	}
	return false;
}

/* Returns for how many ticks of the time window the CPU's ring contains all events. */
static uint64_t reach_of(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t known = why_age(evidence, cpu->gap);

	return known < evidence->window ? known : evidence->window;
}

/* Returns the fraction (0 to 1) of the recorded time in which the CPU ran threads. */
static double part_worked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t known = reach_of(evidence, cpu);

	if (cpu->last_stamp == 0 || known == 0)
		return why_idles(evidence, cpu) ? 0 : 1;
	return cpu->worked < known ? (double)cpu->worked / (double)known : 1;
}

/*
 * Returns whether the CPU may be busy although it seems to idle, for example with endless interrupts: it has
 * no heartbeat, and its ring overflows. A missing heartbeat alone proves nothing, because an idle CPU may
 * stop its tick.
 */
static bool hides_activity(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const bool never = cpu->row.heartbeats == 0 && evidence->most_beats > 0;

	return (never || why_is_silent(evidence, cpu)) && reach_of(evidence, cpu) < evidence->window;
}

static void look_at_cpu(struct health *health, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (!why_is_there(cpu))
		return;
	health->cpus++;
	health->switches += cpu->switches.recent;
	health->worked += part_worked(evidence, cpu);
	if (reach_of(evidence, cpu) < health->reach)
		health->reach = reach_of(evidence, cpu);
	if (spins_on(evidence, cpu))
		health->silent++;
	else if (why_idles(evidence, cpu) && hides_activity(evidence, cpu))
		health->unknown++;
	else if (why_idles(evidence, cpu))
		health->idle++;
	else if (why_is_silent(evidence, cpu) && !why_works_without_ticks(evidence, cpu))
		health->silent++;
	else if (!why_runs_work(evidence, cpu) &&
		 !(why_is_about_to_switch(evidence, cpu) && health->longest <= why_ms(evidence, LATE_MS)))
		health->unknown++;
	if (!cpu->has_row || cpu->row.mode == KTRX_MODE_UNKNOWN)
		health->modes_known = false;
}

/*
 * Returns whether the thread sleeps, but has no row in the kernel's table. If slots were lost after the
 * thread went to sleep, it may have ended, and threads that have ended have no row.
 */
static bool is_unlisted(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return !thread->has_holder && thread->id != 0 && thread->blocked &&
	       why_is_whole_since(evidence, thread->blocked) &&
	       !(evidence->missing_hooks & KTRX_HOOK_THREAD) &&
	       (thread->state == THREADS_SLEEPING || thread->state == THREADS_WAITING);
}

static void look_at_thread(struct health *health, const struct why_evidence *evidence,
			   const struct why_thread *thread)
{
	struct why_turn turn;

	if (thread->idle)
		return;
	health->unproven |= thread->runnable == 0 && why_turn_of(evidence, thread, &turn) && !turn.proven &&
			    why_turn_is_late(evidence, &turn);
	health->unlisted += is_unlisted(evidence, thread);
	if (thread->runnable > health->longest)
		health->longest = thread->runnable;
	health->runnable += thread->runnable > 0;
	health->running += thread->has_holder && thread->holder.state == KTRX_THREAD_RUNNING;
	if (!thread->has_holder || thread->holder.state != KTRX_THREAD_WAITING)
		return;
	health->waiting++;
	health->timed_for_lock += thread->holder.wait == KTRX_WAIT_LOCK && thread->holder.deadline &&
				  why_age(evidence, thread->holder.wait_stamp) > why_ms(evidence, TURN_MS);
	if (thread->holder.wait == KTRX_WAIT_TIME || thread->holder.deadline)
		health->timed++;
	else if (thread->holder.wait_stamp < health->oldest)
		health->oldest = thread->holder.wait_stamp;
}

static struct health look(const struct why_evidence *evidence)
{
	struct health health = { .reach = evidence->window, .oldest = UINT64_MAX, .modes_known = true };

	for (uint32_t n = 0; n < evidence->threads; n++)
		look_at_thread(&health, evidence, &evidence->thread[n]);
	for (uint32_t n = 0; n < evidence->cpus; n++)
		look_at_cpu(&health, evidence, &evidence->cpu[n]);
	return health;
}

static unsigned busy_percent(const struct health *health)
{
	return health->cpus ? (unsigned)(100 * health->worked / health->cpus + 0.5) : 0;
}

/*
 * Formats the length of the time window, such as "the last 1.00 s". If some rings do not cover the whole
 * window, also formats the length of the time that all rings cover.
 */
static const char *say_window(const struct why_evidence *evidence, const struct health *health, char *buffer,
			      size_t size)
{
	char window[WHY_WORDS], reach[WHY_WORDS];

	why_say_ticks(evidence, evidence->window, window, sizeof(window));
	if (health->reach >= evidence->window)
		return why_say(buffer, size, "the last %s", window);
	return why_say(buffer, size, "the recorded part of the last %s (the shortest ring: %s)", window,
		       why_say_ticks(evidence, health->reach, reach, sizeof(reach)));
}

/*
 * Returns whether the kernel called all needed hooks, its table had room for all threads, nothing was left
 * out, and the rings cover the whole time window. If not, the missing data could change the verdict.
 */
static bool is_whole(const struct why_evidence *evidence, const struct health *health)
{
	return (evidence->missing_hooks & NEEDED_HOOKS) == 0 && evidence->refused == 0 &&
	       evidence->left_out == 0 && health->unlisted == 0 && health->reach >= evidence->window;
}

static void say_missing(const struct why_evidence *evidence, const struct health *health,
			struct why_finding *finding)
{
	const uint32_t missing = evidence->missing_hooks & NEEDED_HOOKS;
	char hooks[WHY_WORDS];

	if (why_finding_state(finding, evidence))
		return;
	if (evidence->stopped) {
		finding_say(finding->base.advice,
			    "start recording again (ktrace control start), and take another trace");
		return;
	}
	why_say_hooks(missing, hooks, sizeof(hooks));
	if (!health->modes_known && missing)
		finding_say(finding->base.advice,
			    "call ktrace_mode(), which records that a CPU idles, and the hooks for %s",
			    hooks);
	else if (!health->modes_known)
		finding_say(finding->base.advice, "call ktrace_mode(), which records that a CPU idles");
	else if (missing)
		why_finding_hooks(finding, missing);
	else if (health->unlisted && evidence->free_rows)
		finding_say(finding->base.advice,
			    "use rings with more slots, because %" PRIu32
			    " thread%s that slept %s no entry in "
			    "the table of threads, and may have ended",
			    health->unlisted, finding_plural(health->unlisted),
			    health->unlisted == 1 ? "has" : "have");
	else if (health->unlisted)
		finding_say(finding->base.advice,
			    "raise .holders in ktrace_init(), because the table of threads lacks %" PRIu32
			    " thread%s",
			    health->unlisted, health->unlisted == 1 ? " that sleeps" : "s that sleep");
	else if (finding->base.partial && evidence->left_out == 0)
		finding_say(finding->base.advice, "use rings with more slots, because older events are lost");
}

/* If recording was stopped before the trace was taken, adds a line about it. */
static void say_stopped(const struct why_evidence *evidence, struct why_finding *finding)
{
	char ticks[WHY_WORDS];

	if (evidence->stopped)
		finding_evidence(
			&finding->base,
			"recording was stopped when the trace was taken: the newest event is %s old, "
			"and later events are unknown",
			why_say_ticks(evidence, why_age(evidence, evidence->stopped), ticks, sizeof(ticks)));
}

static const char *say_mistake(const struct why_evidence *evidence, const struct ktrx_cpu *row, char *buffer,
			       size_t size)
{
	char lock[WHY_WORDS / 2];

	why_say_object(evidence, row->broken_object, lock, sizeof(lock));
	return row->broken == KTRX_BROKEN_RELEASE
		       ? why_say(buffer, size, "released lock %s, which it did not hold", lock)
		       : why_say(buffer, size, "took lock %s, which it already held", lock);
}

/*
 * Adds a line about the first mistake with a lock that each CPU has recorded. Mistakes with switches are
 * findings of their own.
 */
static void say_mistakes(const struct why_evidence *evidence, struct why_finding *finding)
{
	char who[WHY_WORDS], lock[WHY_WORDS], ago[WHY_WORDS], place[WHY_WORDS];

	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct ktrx_cpu *row = &evidence->cpu[n].row;

		if ((row->broken != KTRX_BROKEN_RELEASE && row->broken != KTRX_BROKEN_ACQUIRE) ||
		    row->broken_stamp == 0)
			continue;
		why_say_ticks(evidence, why_age(evidence, row->broken_stamp), ago, sizeof(ago));
		finding_evidence(&finding->base,
				 "%s %s, %s ago, at %s: ktrace check shows the events before it",
				 why_say_actor(evidence, row->broken_thread + 1, who, sizeof(who)),
				 say_mistake(evidence, row, lock, sizeof(lock)), ago,
				 why_say_call(evidence, row->broken_pc, place, sizeof(place)));
	}
}

/*
 * Formats advice on how to find out whether these waits are normal. `open` is the number of the waits; if it
 * is 0, formats "".
 */
static const char *say_open(const struct why_evidence *evidence, const struct health *health, uint32_t open,
			    char *buffer, size_t size)
{
	if (open == 0)
		return why_say(buffer, size, "%s", "");
	if (!why_is_whole_since(evidence, health->oldest))
		return why_say(
			buffer, size,
			"use rings with more slots, because earlier wakeups of these threads are lost");
	if (!why_records_wake_nobody(evidence))
		return why_say(buffer, size,
			       "record sched.wake_nobody, "
			       "without which a wakeup that came too early leaves no trace");
	return why_say(
		buffer, size,
		"check what should wake these threads, because the trace does not show that such waits end");
}

/*
 * Adds advice on what to do next, if the finding has no advice yet. `open`: number of sleeps that may be
 * faults.
 */
static void advise_idle(const struct why_evidence *evidence, const struct health *health, uint32_t open,
			struct why_finding *finding)
{
	char text[FINDING_LINE];

	if (finding->base.advice[0])
		return;
	if (scheduling_states_are_wrong(evidence->scheduling))
		finding_say(finding->base.advice, "correct the states in sched.switch (see ktrace doctor)");
	else if (evidence->info->frequency == 0)
		finding_say(finding->base.advice,
			    "pass --frequency, because it is unknown for how long threads have waited");
	else if (evidence->window < evidence->info->frequency)
		finding_say(finding->base.advice, "record a longer trace (this one covers %s)",
			    why_say_ticks(evidence, evidence->window, text, sizeof(text)));
	else if (health->idle != health->cpus)
		finding_say(finding->base.advice,
			    "take another trace later, because a CPU is busy and may stay busy");
	else if (health->timed_for_lock)
		finding_say(finding->base.advice,
			    "take another trace later, because %" PRIu32
			    " thread%s for a lock with a timeout",
			    health->timed_for_lock, health->timed_for_lock == 1 ? " waits" : "s wait");
	else if (*say_open(evidence, health, open, text, sizeof(text)))
		finding_say(finding->base.advice, "%s", text);
	else if (why_may_have_stopped(evidence))
		finding_say(finding->base.advice,
			    "run ktrace why again, with --qmp if possible: the machine recorded nothing "
			    "while its memory was watched, so it may have stopped");
}

static int report_idle(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct health *health, unsigned busy, const struct why_untimed_list *list)
{
	/*
	 * Only earlier wakeups show whether a sleep is normal. So the verdict needs all events since the
	 * beginning of the oldest sleep.
	 */
	const bool whole = is_whole(evidence, health) && why_is_whole_since(evidence, health->oldest);
	const uint32_t open = why_untimed_count_open(evidence, list);
	const bool is_long = evidence->window >= evidence->info->frequency;
	const bool all = health->idle == health->cpus;
	/*
	 * If more threads run than there are CPUs, the kernel calls the hooks for context switches wrongly.
	 */
	const bool sound = health->running <= health->cpus;
	const bool wrong = scheduling_states_are_wrong(evidence->scheduling);
	const bool certain = all && health->modes_known && whole && is_long && open == 0 && sound && !wrong &&
			     health->timed_for_lock == 0 && !why_may_have_stopped(evidence) &&
			     evidence->info->frequency && !why_any_sleep_is_late(evidence);
	struct why_finding *finding =
		why_finding_new(findings, WHY_IDLE, certain ? FINDING_CERTAIN : FINDING_LIKELY);
	char window[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial = !whole;
	finding_say(finding->base.what,
		    "%s to do: %" PRIu32 " of %" PRIu32 " CPUs idle, no thread %s been runnable for long",
		    all ? "nothing" : "little", health->idle, health->cpus,
		    health->unproven ? "is known to have" : "has");
	finding_evidence(&finding->base,
			 "on average, the CPUs were busy for %u %% of %s, with %" PRIu64 " switch%s", busy,
			 say_window(evidence, health, window, sizeof(window)), health->switches,
			 health->switches == 1 ? "" : "es");
	say_stopped(evidence, finding);
	say_mistakes(evidence, finding);
	if (!sound)
		finding_evidence(&finding->base,
				 "according to the hooks, %" PRIu32 " threads run on %" PRIu32
				 " CPU%s: ktrace doctor shows which hook is wrong",
				 health->running, health->cpus, health->cpus == 1 ? "" : "s");
	if (wrong)
		finding_evidence(&finding->base, "the states in sched.switch are wrong and were not used: "
						 "run ktrace doctor to see the mistake");
	if (health->waiting == 1)
		finding_evidence(&finding->base, "1 thread sleeps%s",
				 health->timed ? ", with a timeout" : "");
	else if (health->waiting)
		finding_evidence(&finding->base,
				 "%" PRIu32 " threads sleep, %" PRIu32 " of them with a timeout",
				 health->waiting, health->timed);
	why_slow_explain(evidence, finding);
	why_doubt_times(evidence, open, finding);
	why_doubt_idle_cpus(evidence, finding);
	if (list->count)
		finding_evidence(&finding->base, "threads that wait without a timeout%s:",
				 evidence->timeouts_recorded ? "" : " (as far as is known)");
	why_finding_untimed(finding, evidence, list, true);
	say_missing(evidence, health, finding);
	advise_idle(evidence, health, open, finding);
	return 0;
}

/*
 * Lists the waits that may last forever, also on a busy machine: a thread may have missed its wakeup while
 * the other threads continue.
 */
static void say_open_waits(const struct why_evidence *evidence, const struct health *health,
			   const struct why_untimed_list *list, struct why_finding *finding)
{
	const uint32_t open = why_untimed_count_open(evidence, list);
	char text[FINDING_LINE];

	if (open == 0 || evidence->info->frequency == 0 || why_ended_well(evidence))
		return;
	finding_evidence(&finding->base, "threads that wait without a timeout%s:",
			 evidence->timeouts_recorded ? ", perhaps forever" : " (as far as is known)");
	why_finding_untimed(finding, evidence, list, false);
	if (!finding->base.advice[0])
		finding_say(finding->base.advice, "%s", say_open(evidence, health, open, text, sizeof(text)));
}

/* Adds a line if the guest powered off, and the kernel did not record why. */
static void say_silent_end(const struct why_evidence *evidence, struct why_finding *finding)
{
	if (evidence->info->outcome == KTRX_OUTCOME_RUNNING &&
	    strcmp(evidence->ended, "the guest powered off") == 0)
		finding_evidence(&finding->base, "then the guest powered off, without ktrace_exit() or "
						 "ktrace_panic(): perhaps it failed");
}

/* States that all CPUs make progress, or how many of them are known to do so. */
static void say_progress(const struct why_evidence *evidence, const struct health *health, unsigned busy,
			 struct why_finding *finding)
{
	const uint32_t doubtful = why_doubt_idle_cpus(evidence, finding), known = health->cpus - doubtful;
	char window[WHY_WORDS];

	say_window(evidence, health, window, sizeof(window));
	if (doubtful)
		finding_say(finding->base.what,
			    "%" PRIu32 " of %" PRIu32
			    " CPUs make%s progress, on average busy for %u %% of %s",
			    known, health->cpus, known == 1 ? "s" : "", busy, window);
	else
		finding_say(finding->base.what,
			    "all CPUs make progress: %" PRIu32 " CPU%s, on average busy for %u %% of %s",
			    health->cpus, finding_plural(health->cpus), busy, window);
}

static int report_busy(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct health *health, unsigned busy, const struct why_untimed_list *list)
{
	const bool scant = health->reach < evidence->window / SCANT;
	/* whether a CPU stopped long ago is unknown, too */
	const bool timeless = evidence->info->frequency == 0;
	struct why_finding *finding =
		why_finding_new(findings, WHY_BUSY, scant || timeless ? FINDING_POSSIBLE : FINDING_LIKELY);
	char longest[WHY_WORDS], runnable[WHY_WORDS];

	if (!finding)
		return KTREAD_E_MEMORY;
	finding->base.partial = evidence->most_beats == 0 || !is_whole(evidence, health);
	finding->open = timeless || (scant && !why_ended_well(evidence));
	say_progress(evidence, health, busy, finding);
	why_say(runnable, sizeof(runnable), "no thread is %srunnable",
		health->unproven ? "known to be " : "");
	if (health->runnable)
		why_say(runnable, sizeof(runnable), "%" PRIu32 " thread%s runnable, for at most %s",
			health->runnable, health->runnable == 1 ? " is" : "s are",
			why_say_ticks(evidence, health->longest, longest, sizeof(longest)));
	finding_evidence(&finding->base, "%" PRIu64 " switch%s; %s", health->switches,
			 health->switches == 1 ? "" : "es", runnable);
	say_silent_end(evidence, finding);
	say_stopped(evidence, finding);
	say_mistakes(evidence, finding);
	why_finding_without_ticks(finding, evidence);
	why_finding_users(finding, evidence);
	why_slow_explain(evidence, finding);
	if (timeless)
		finding_say(
			finding->base.advice,
			"pass --frequency, because it is unknown for how long a CPU has had no heartbeat");
	else if (evidence->most_beats == 0)
		finding_say(
			finding->base.advice,
			"call ktrace_heartbeat(), which records that the CPUs ran until the trace was taken");
	else
		say_missing(evidence, health, finding);
	say_open_waits(evidence, health, list, finding);
	return 0;
}

static int find_health(const struct why_evidence *evidence, struct why_findings *findings,
		       const struct health *health, unsigned busy, bool idle)
{
	struct why_untimed_list list;
	int error = why_untimed_find(&list, evidence);

	if (error)
		return error;
	error = idle ? report_idle(evidence, findings, health, busy, &list)
		     : report_busy(evidence, findings, health, busy, &list);
	why_untimed_free(&list);
	return error;
}

/*
 * Returns whether the whole machine stopped: the host watched it for long and saw no activity, although some
 * CPU does not idle. In this case, the recorded state is older than this silence, and does not show that the
 * machine makes progress. Timestamps of hooks in this silence do not show it, either: a CPU that spins for a
 * lock may store them.
 */
static bool has_stopped(const struct why_evidence *evidence, const struct health *health)
{
	const uint64_t least = why_ms(evidence, WHY_SILENT_MS);
	bool more;

	if (evidence->info->frequency == 0)
		return note_silence(evidence->info->note, &more) >= WATCHED_S && health->idle < health->cpus;
	return least && why_silent_ticks(evidence) >= least && health->idle < health->cpus;
}

int why_detect_health(const struct why_evidence *evidence, struct why_findings *findings)
{
	const struct health health = look(evidence);
	const unsigned busy = busy_percent(&health);

	if (health.cpus == 0 || health.silent || health.unknown || evidence->cut ||
	    !why_shows_activity(evidence) || spins_in_vain(evidence) || has_stopped(evidence, &health))
		return 0;
	/*
	 * If no CPU idles, the machine is busy even if the CPUs ran threads for only a small part of the time
	 * window.
	 */
	if (busy < BUSY_PERCENT && health.idle > 0 && health.longest <= why_ms(evidence, TURN_MS))
		return find_health(evidence, findings, &health, busy, true);
	if (busy >= BUSY_PERCENT || health.idle == 0 || health.longest <= why_ms(evidence, LATE_MS))
		return find_health(evidence, findings, &health, busy, false);
	return 0;
}
