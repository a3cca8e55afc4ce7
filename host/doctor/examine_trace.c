/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/order.h"
#include "base/ticks.h"
#include "doctor/examine.h"

/*
 * limit in seconds: if a CPU's clock goes back by less, this is normal, because an interrupt may come while a
 * record is written
 */
#define BACK_SECONDS 1e-3
#define IN_STEP_US   1.0 /* limit in microseconds: clocks that differ by less count as equal */
/*
 * minimum time, in seconds, that rings should cover: shorter rings have overwritten the beginning of a hang
 * when the hang is noticed
 */
#define REACH_SECONDS 1.0
#define LIST	      160u
#define CPUS_LISTED   8u

/* Formats the CPUs for which `is` returns true as "1, 3, 5 and 9 more". Returns the number of these CPUs. */
static uint32_t list_cpus(const struct facts *facts, bool (*is)(const struct facts *, uint32_t),
			  char list[LIST])
{
	uint32_t count = 0;
	size_t at = 0;

	list[0] = '\0';
	for (uint32_t n = 0; n < facts->cpus; n++) {
		if (!is(facts, n))
			continue;
		if (count++ < CPUS_LISTED)
			at += (size_t)snprintf(list + at, LIST - at, "%s%" PRIu32, at ? ", " : "", n);
	}
	if (count > CPUS_LISTED)
		snprintf(list + at, LIST - at, " and %" PRIu32 " more", count - CPUS_LISTED);
	return count;
}

static bool is_missing(const struct facts *facts, uint32_t n)
{
	return !facts->cpu[n].row.online && facts->cpu[n].own + facts->cpu[n].elsewhere == 0;
}

static bool is_on_boot_ring(const struct facts *facts, uint32_t n)
{
	return !facts->cpu[n].row.online && facts->cpu[n].elsewhere != 0;
}

static bool is_silent(const struct facts *facts, uint32_t n)
{
	return facts->cpu[n].row.online && facts->cpu[n].own == 0;
}

#define REBUILD                                                                    \
	"ktrace.o, or another object, was compiled before ktrace_port.h existed: " \
	"remove all objects and build again"

/*
 * Reports that ktrace_cpu_online() failed for a CPU because the port reported another CPU there. Returns
 * whether it reported anything.
 */
static bool examine_misnumbered(struct findings *report, const struct facts *facts)
{
	const uint32_t cpu = facts->first_misnumbered;

	if (!facts->misnumbered)
		return false;
	findings_add(report, FINDING_WRONG, "CPU numbers",
		     "ktrace_cpu_online(%" PRIu32
		     ") failed on its CPU%s: ktrace_arch_cpu() returned the number of "
		     "another CPU there. It is not defined in ktrace_port.h, or is wrong; or " REBUILD,
		     cpu, facts->misnumbered > 1 ? ", and others failed" : "");
	findings_set_certain(report, FINDING_CERTAIN);
	findings_advise(report, "ktrace_port.h", "#define ktrace_arch_cpu() (this_cpu()->number)");
	return true;
}

/*
 * Returns whether the numbers without events may belong to CPUs that were not started: QEMU has so many CPUs,
 * or the number of CPUs that QEMU has is unknown and the kernel's table has a row for each number.
 */
static bool may_be_late(const struct subject *subject)
{
	const struct facts *facts = subject->facts;

	return subject->cpus ? subject->cpus >= facts->cpus : facts->info->cpus >= facts->cpus;
}

static void examine_cpus(struct findings *report, const struct subject *subject)
{
	const struct facts *facts = subject->facts;
	char list[LIST];

	if (examine_misnumbered(report, facts))
		; /* the other findings about numbers would follow from this one */
	else if (subject->cpus && facts->cpus > subject->cpus)
		findings_add(
			report, FINDING_WRONG, "CPU numbers",
			"there is CPU %" PRIu32 ", but QEMU has %" PRIu32
			" CPU%s: ktrace_arch_cpu() must count from 0, "
			"and hooks that are called before the per-CPU base is set must use KTRACE_EARLY()",
			facts->cpus - 1, subject->cpus, finding_plural(subject->cpus));
	else if (list_cpus(facts, is_missing, list) && may_be_late(subject))
		findings_add(report, FINDING_NOTE, "CPU numbers",
			     "CPU %s has not called ktrace_cpu_online(): it was not started, or not yet, "
			     "or ktrace_arch_cpu() does not count from 0",
			     list);
	else if (list_cpus(facts, is_missing, list))
		findings_add(report, FINDING_WRONG, "CPU numbers",
			     "not dense: there are %" PRIu32
			     " CPUs, but none with number %s; ktrace_arch_cpu() must count from 0",
			     facts->cpus, list);
	else if (subject->cpus > facts->cpus)
		findings_add(report, FINDING_DARK, "CPU numbers",
			     "QEMU has %" PRIu32 " CPUs, but events come from %" PRIu32
			     ": the others are not started, "
			     "or ktrace_arch_cpu() returns the same number for several, or " REBUILD,
			     subject->cpus, facts->cpus);
	else
		findings_add(report, FINDING_OK, "CPU numbers", "0 to %" PRIu32,
			     facts->cpus ? facts->cpus - 1 : 0);
	if (!facts->online)
		return; /* examine_views() reports that this fact is missing */
	if (list_cpus(facts, is_on_boot_ring, list))
		findings_add(report, FINDING_WRONG, "rings",
			     "still on the boot ring: CPU %s; ktrace_cpu_online() was not called there, "
			     "or returned an error",
			     list);
	else if (list_cpus(facts, is_silent, list))
		findings_add(report, FINDING_NOTE, "rings", "no event in the ring of CPU %s", list);
	else if (!facts->misnumbered)
		findings_add(report, FINDING_OK, "rings",
			     "each of %" PRIu32 " CPUs records into its own ring", facts->online);
}

static void examine_threads(struct findings *report, const struct facts *facts)
{
	if (facts->threads)
		findings_add(report, FINDING_OK, "threads", "%" PRIu32 " thread%s, %" PRIu32 " with a name",
			     facts->threads, finding_plural(facts->threads), facts->named);
}

/*
 * Examines whether the table of held locks and waits had room for all threads. If it did not, `ktrace why`
 * does not know which locks some threads hold and what they wait for.
 */
static void examine_table(struct findings *report, const struct facts *facts)
{
	if (!facts->refused)
		return;
	findings_add(report, FINDING_WRONG, "holders",
		     "the table is too small: it had no entry for %" PRIu64
		     " call%s of hooks, so ktrace why does not know what "
		     "some threads hold and wait for; %" PRIu32 " of %" PRIu32 " entries are in use now",
		     facts->refused, finding_plural(facts->refused), facts->used, facts->rows);
	findings_set_certain(report, FINDING_CERTAIN);
	findings_advise(report, "the configuration of ktrace_init()",
			".holders = %" PRIu32 ", or more: a third more than there are threads at one time; "
			"and ktrace_thread_end(thread); in each thread that ends",
			facts->rows > UINT32_MAX / 2 ? facts->rows : 2 * facts->rows);
}

static void examine_clock(struct findings *report, const struct facts *facts)
{
	const struct ktread_info *info = facts->info;
	const double hz = (double)(info->frequency ? info->frequency : 1000000000u);
	uint32_t ring = 0;
	size_t length;
	const char *measured = note_find(info->note, "frequency", &length);

	if (info->frequency && measured)
		findings_add(report, FINDING_OK, "frequency", "%" PRIu64 " Hz, measured by the host",
			     info->frequency);
	else if (info->frequency)
		findings_add(report, FINDING_OK, "frequency", "%" PRIu64 " Hz%s", info->frequency,
			     ktread_is_coarse(info)
				     ? ": coarse, within a tick only events of the same CPU are in order"
				     : "");
	for (uint32_t n = 0; n < info->rings; n++)
		ring = facts->ring[n].back > facts->ring[ring].back ? n : ring;
	if (facts->events && (double)facts->ring[ring].back > BACK_SECONDS * hz)
		findings_add(report, FINDING_WRONG, "clock",
			     "on ring %" PRIu32 " timestamps go back by %" PRIu64
			     " ticks: two CPUs record under one number, or the counter was set back",
			     ring, facts->ring[ring].back);
	else if (facts->events)
		findings_add(report, FINDING_OK, "clock", "no clock goes back");
}

static void examine_heartbeats(struct findings *report, const struct facts *facts)
{
	char rates[LIST] = "";
	uint32_t never = 0, online = 0, idle = 0; /* `idle`: CPUs that never had one because they idle */
	size_t at = 0;

	if (!(facts->lit & VIEW_BEATS))
		return; /* examine_views() reports that this fact is missing */
	for (uint32_t n = 0; n < facts->cpus; n++) {
		const struct ktrx_cpu *row = &facts->cpu[n].row;

		if (!row->online)
			continue;
		online++;
		never += row->heartbeats == 0 && row->mode != KTRX_MODE_IDLE;
		idle += row->heartbeats == 0 && row->mode == KTRX_MODE_IDLE;
		if (online <= CPUS_LISTED && facts->seconds > 0 && at < sizeof(rates))
			at += (size_t)snprintf(rates + at, sizeof(rates) - at, "%s%.0f", at ? ", " : "",
					       (double)row->heartbeats / facts->seconds);
	}
	if (never)
		findings_add(report, FINDING_DARK, "heartbeats",
			     "%" PRIu32 " of %" PRIu32
			     " busy CPUs never had one: call ktrace_heartbeat(pc) in the timer tick of each",
			     never, online);
	else if (at)
		findings_add(report, FINDING_OK, "heartbeats", "a second, by CPU: %s%s", rates,
			     online > CPUS_LISTED ? ", …" : "");
	else
		findings_add(report, FINDING_OK, "heartbeats",
			     "each online CPU%s has them; the rate is unknown, because the rings do not show "
			     "how long the guest ran",
			     idle ? " that is not idle" : "");
}

static void examine_cost(struct findings *report, const struct facts *facts)
{
	const struct ktread_info *info = facts->info;
	const uint64_t cost = cost_of(facts->trace);

	if (cost && info->frequency)
		findings_add(report, FINDING_OK, "cost", "%.1f ns an event, %.3f%% of the CPUs' time",
			     base_ticks_seconds(cost, info->frequency) * 1e6, 100 * facts_cost_share(facts));
	else if (cost)
		findings_add(report, FINDING_OK, "cost", "%.1f ticks an event", (double)cost / 1000);
}

/* Examines how far back in time the rings reach, and which slots are missing. */
static void examine_loss(struct findings *report, const struct facts *facts)
{
	const struct ktread_info *info = facts->info;
	uint64_t overwritten = 0, invalid = 0, refused = 0, reach = UINT64_MAX;
	double seconds;
	char rate[48] = "";
	size_t length;

	for (uint32_t n = 0; n < info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(facts->trace, n);
		const uint64_t span = facts->last - facts->ring[n].first;

		overwritten += ring->overwritten;
		invalid += ring->invalid;
		refused += ring->dropped;
		if (ring->overwritten && facts->ring[n].decided && span < reach)
			reach = span;
	}
	if (info->lost_events)
		findings_add(report, FINDING_WRONG, "loss",
			     "%" PRIu64 " record%s of events beyond the limit of 4095 event ids",
			     info->lost_events, finding_plural(info->lost_events));
	if (refused)
		findings_add(report, FINDING_NOTE, "loss",
			     "%" PRIu64 " record%s refused by full rings that keep their oldest records",
			     refused, refused == 1 ? " was" : "s were");
	if (invalid)
		findings_add(report, FINDING_NOTE, "loss", "%" PRIu64 " slot%s unreadable: %s", invalid,
			     invalid == 1 ? " is" : "s are",
			     check_lacks_end(facts->trace) ? "the trace is cut short"
							   : "writing was not completed");
	if (reach == UINT64_MAX || !info->frequency) {
		findings_add(report, FINDING_OK, "reach",
			     overwritten ? "%" PRIu64 " slots of the rings were overwritten"
			     : note_find(info->note, "dumped over", &length)
				     ? "nothing was overwritten in what the dump covers"
				     : "nothing was overwritten",
			     overwritten);
		return;
	}
	seconds = base_ticks_seconds(reach, info->frequency);
	if (facts_rate(facts) > 0)
		snprintf(rate, sizeof(rate), ", %.0f events a second", facts_rate(facts));
	findings_add(report, seconds < REACH_SECONDS ? FINDING_DARK : FINDING_OK, "reach",
		     "the rings reach back %.3f s at this rate%s%s", seconds, rate,
		     seconds < REACH_SECONDS
			     ? ": give ktrace_init() more memory, or switch off the most frequent events"
			     : "");
}

/* Returns whether the kernel declares events in addition to those of the library. */
static bool declares_events(const struct ktread *trace)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && strcmp(type->group, "ktrace") != 0)
			return true;
	}
	return false;
}

static void examine_events(struct findings *report, const struct facts *facts)
{
	const struct ktread_info *info = ktread_info(facts->trace);

	if (info->unusable)
		findings_add(report, FINDING_WRONG, "memory",
			     "the trace's memory was overwritten: the descriptions of %" PRIu32 " of %" PRIu32
			     " rings are invalid, and the other lines here may be wrong",
			     info->unusable, info->rings);
	else if (facts->events)
		return;
	else if (declares_events(facts->trace))
		findings_add(report, FINDING_NOTE, "events",
			     "none was recorded so far: the kernel did not reach one, "
			     "or needs longer (--seconds)");
	else
		findings_add(report, FINDING_WRONG, "events",
			     "none was recorded: declare one with KTRACE_EVENT() at file scope, "
			     "and record it with KTRACE() where it happens");
}

void examine_trace(struct findings *report, const struct subject *subject)
{
	const struct facts *facts = subject->facts;

	examine_events(report, facts);
	examine_cpus(report, subject);
	examine_threads(report, facts);
	examine_table(report, facts);
	examine_clock(report, facts);
	examine_heartbeats(report, facts);
	examine_cost(report, facts);
	examine_loss(report, facts);
}

/*
 * Returns the ticks by which two clocks may differ. Alignment may have moved each clock by clock_aligned, and
 * differences below IN_STEP_US are not reported.
 */
static uint64_t clock_doubt(const struct ktread_info *info)
{
	const uint64_t moved = info->clock_aligned + (uint64_t)((double)info->frequency * IN_STEP_US * 1e-6);

	return moved ? 2 * moved : 1;
}

int examine_order(struct findings *report, struct subject *subject, struct ktread *trace)
{
	const struct ktread_info *info = subject->facts->info;
	const double us = info->frequency ? 1e6 / (double)info->frequency : 0;
	struct align_report found;
	char order[ORDER_TEXT];
	double differ;
	int status;

	if (subject->facts->cpus < 2)
		return 0;
	if (order_say(trace, order) > 0) {
		const enum order_state state = order_between_cpus(trace).state;

		findings_add(report, state == ORDER_MEASURED ? FINDING_OK : FINDING_NOTE, "clocks", "%s%s",
			     order, state == ORDER_UNMEASURED ? ORDER_CURE : "");
	}
	if (info->clock_samples)
		findings_add(report, FINDING_OK, "skew",
			     "measured: clocks are corrected by up to %.1f us, accurate to %.3f us",
			     (double)info->clock_largest * us, (double)info->clock_error * us);
	status = align_clocks(trace, &found);
	if (status == KTREAD_E_UNSUPPORTED || (status == 0 && !found.pairs)) {
		if (!info->clock_samples)
			findings_add(report, FINDING_NOTE, "skew",
				     "no event relates the CPUs' clocks to each other: "
				     "record sched.wake or ipi.send");
		return 0;
	}
	if (status < 0)
		return status;
	differ = (double)info->clock_aligned * us;
	/* if the clocks could not be aligned, it is unknown by how much they differ */
	if (found.before && !found.kept && !subject->mistaken && order_between_cpus(trace).doubt == 0)
		subject->clock_doubt = clock_doubt(info);
	if (found.before == 0) {
		findings_add(report, FINDING_OK, "order",
			     "each of %" PRIu64 " effects comes after its cause on another CPU", found.pairs);
	} else if (subject->mistaken) {
		findings_add(
			report, FINDING_NOTE, "order",
			"%" PRIu64 " of %" PRIu64 " effects seem to come before their cause on another CPU: "
			"because hooks are in the wrong place (see above), this proves nothing about clocks",
			found.before, found.pairs);
	} else if (found.kept) {
		findings_add(report, FINDING_NOTE, "order",
			     "%" PRIu64 " of %" PRIu64
			     " effects seem to come before their cause on another CPU, and no correction "
			     "of the clocks was found: either the clocks differ, or the pairs of cause and "
			     "effect are wrong",
			     found.before, found.pairs);
	} else if (us > 0 && differ < IN_STEP_US) {
		findings_add(report, FINDING_OK, "order",
			     "clocks are in step as far as the trace shows: %" PRIu64 " of %" PRIu64
			     " effects seem to come before their cause, by less than can be measured",
			     found.before, found.pairs);
		findings_set_certain(report, FINDING_LIKELY);
	} else {
		findings_add(report, info->clock_samples ? FINDING_NOTE : FINDING_WRONG, "order",
			     "%" PRIu64 " of %" PRIu64 " effects come before their cause on another CPU, "
			     "clocks differ by up to about %.1f us: "
			     ".clocks = KTRACE_CLOCKS_ASKED measures them, --align corrects a trace",
			     found.before, found.pairs, differ);
	}
	return 0;
}
