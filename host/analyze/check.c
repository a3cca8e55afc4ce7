/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads a trace, applies the rules to each event, and reaches the verdicts that are possible only at the end
 * of the trace.
 */
#include "analyze/rules.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/check.h"
#include "analyze/keyed.h"
#include "analyze/order.h"
#include "base/grow.h"
#include "ktrx/v2.h"

/* ---- Verdicts that depend on the order of events ---- */

/* `doubt`: as for check_read(). */
static void check_order_init(struct check_order *order, const struct ktread *trace, uint64_t doubt)
{
	const struct order between = order_between_cpus(trace);

	order->certain = between.state == ORDER_CERTAIN;
	if (between.doubt)
		doubt = between.doubt;
	order->measured = doubt != 0;
	order->doubt = order->measured ? doubt : UINT64_MAX;
}

static void check_order_free(struct check_order *order)
{
	for (uint32_t n = 0; n <= RULES_MAX; n++)
		keyed_free(&order->table[n]);
}

static bool same_key(const struct check_waiting *waiting, uint32_t table, const uint64_t key[KEYED_WORDS])
{
	return waiting->table == table && memcmp(waiting->key, key, sizeof(waiting->key)) == 0;
}

static void doubt_waiting(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
			  const struct ktread_event *event)
{
	for (uint32_t n = 0; n < order->count; n++) {
		struct check_waiting *waiting = &order->waiting[n];

		if (same_key(waiting, table, key) && waiting->violation.cpu != event->cpu &&
		    elapsed(waiting->violation.stamp, event->stamp) <= order->doubt)
			waiting->unsure = true;
	}
}

/*
 * Returns true if an event with the same key came on another CPU at most `doubt` ticks before `event`.
 * Members of an entry: `stamp` and `cpu` describe the last event with the key; `time` is the timestamp of the
 * last event before it on a different CPU (0: none); `known` is set if the order is uncertain.
 */
static bool is_close(const struct check_order *order, const struct keyed_entry *entry,
		     const struct ktread_event *event)
{
	const uint64_t other = entry->cpu == event->cpu ? entry->time : entry->stamp;

	return other != 0 && elapsed(other, event->stamp) <= order->doubt;
}

int check_order_see(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		    const struct ktread_event *event, bool settles, bool *unsure)
{
	struct keyed_entry *entry;
	bool close;
	int error;

	*unsure = false;
	if (order->certain)
		return 0;
	doubt_waiting(order, table, key, event);
	error = keyed_put(&order->table[table], key, &entry);
	if (error)
		return error;
	if (!entry) { /* the table is full, so an earlier event with this key may be missing in it */
		*unsure = true;
		return 0;
	}
	close = is_close(order, entry, event);
	*unsure = close || entry->known;
	entry->known = close || (entry->known && !settles);
	if (entry->stamp != 0 && entry->cpu != event->cpu)
		entry->time = entry->stamp;
	entry->stamp = event->stamp ? event->stamp : 1;
	entry->cpu = event->cpu;
	return 0;
}

/* Returns true if the order of the events with this key is uncertain so far. */
static bool check_order_is_unsure(const struct check_order *order, uint32_t table,
				  const uint64_t key[KEYED_WORDS])
{
	const struct keyed_entry *entry = order->certain ? NULL : keyed_find(&order->table[table], key);

	return entry && entry->known;
}

bool check_order_wait(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		      const struct check_violation *violation)
{
	struct check_waiting *waiting = &order->waiting[order->count];

	if (order->count == CHECK_ORDER_WAITING)
		return false;
	waiting->violation = *violation;
	waiting->table = table;
	memcpy(waiting->key, key, sizeof(waiting->key));
	waiting->unsure = false;
	order->count++;
	return true;
}

/*
 * Finds a stored violation that events from `stamp` on cannot change, removes it, and copies it to *waited.
 * Returns false if there is none.
 */
static bool check_order_next(struct check_order *order, uint64_t stamp, struct check_waiting *waited)
{
	if (order->count == 0 || elapsed(order->waiting[0].violation.stamp, stamp) <= order->doubt)
		return false;
	*waited = order->waiting[0];
	order->count--;
	memmove(order->waiting, order->waiting + 1, order->count * sizeof(order->waiting[0]));
	return true;
}

/* ---- Reading the trace ---- */

void check_report(struct check *check, const struct check_violation *violation)
{
	struct check_result *result = &check->result[violation->rule];

	if (result->violated == 0 || violation->stamp < result->first.stamp)
		result->first = *violation;
	result->violated++;
	check->found(check->context, violation);
}

/* Reports the stored violations that events from `stamp` on cannot change. */
static void report_waiting(struct check *check, uint64_t stamp)
{
	struct check_waiting waited;

	while (check_order_next(&check->order, stamp, &waited)) {
		if (waited.unsure)
			check->result[waited.violation.rule].unordered++;
		else
			check_report(check, &waited.violation);
	}
}

/*
 * Stores in check->order that the current event changes the state of a thread, or would change it if the
 * events were in another order. `settles` is false if the new state depends on the order of earlier events.
 */
static void see_thread_order(struct check *check, uint32_t thread, bool settles)
{
	const uint64_t key[KEYED_WORDS] = { thread };
	bool unsure;

	if (check_order_see(&check->order, CHECK_ORDER_THREADS, key, check->event, settles, &unsure) != 0)
		check->order_failed = true;
}

/* Applies the rules in a bit map, in the order of the file. Returns 0 or KTREAD_E_MEMORY. */
static int apply_all(struct check *check, const uint64_t map[RULES_MAX / 64],
		     const struct ktread_event *event)
{
	int error = 0;

	for (uint32_t word = 0; word < RULES_MAX / 64; word++)
		for (uint64_t left = map[word]; left && !error; left &= left - 1)
			error = check_apply(check, word * 64 + (uint32_t)__builtin_ctzll(left), event);
	return error;
}

/* Returns whether the event wakes a thread, or announces that a thread will sleep. Sets *thread to its id. */
static bool names_sleeper(const struct wellknown *known, const struct ktread_event *event, uint32_t *thread)
{
	if (known->kind != WELLKNOWN_WAKE && known->kind != WELLKNOWN_BLOCK)
		return false;
	if (wellknown_thread(known, event, WELLKNOWN_THREAD, thread))
		return true;
	*thread = event->thread; /* a thread announces its own sleep */
	return known->kind == WELLKNOWN_BLOCK;
}

/*
 * Forgets which thread runs on the CPU of an event if slots of the CPU are missing before the event.
 * Otherwise a thread that ran before the gap would count as running until the first switch after the gap, so
 * events of the thread that runs now would seem to come from a thread of another CPU.
 */
static void forget_running(struct check *check, const struct ktread_event *event)
{
	const enum threads_head head = threads_pass_head(&check->heads, check->trace, event);

	if (event->cpu < THREADS_CPUS_MAX && (event->lost > 0 || head != THREADS_HEAD_COMPLETE))
		threads_gap(check->threads, event->cpu, check->time - 2);
}

static int take(struct check *check, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&check->known, event);
	const uint32_t id = event->id & KTRX_EVENT_MAX;
	uint32_t thread;
	int error = 0;

	report_waiting(check, event->stamp);
	check->event = event;
	check->stamp = event->stamp;
	check->time += 2;
	check->number++;
	gaps_event(check->gaps, event);
	forget_running(check, event);
	/* depths are updated last, because rules are judged by the depths before the event */
	error = apply_all(check, check->rules_of[id], event);
	if (!error)
		error = apply_all(check, check->depths_of[id], event);
	if (!error)
		error = threads_event(check->threads, event, known, check->time);
	if (names_sleeper(known, event, &thread))
		see_thread_order(check, thread, true);
	return error || !(check->changed_failed || check->order_failed) ? error : KTREAD_E_MEMORY;
}

static void note_change(void *context, const struct threads_change *change)
{
	struct check *check = context;
	const uint32_t index = change->thread->index;
	uint64_t *changed =
		base_grow(check->changed, &check->changed_room, (size_t)index + 1, sizeof(*changed));

	if (!changed) {
		check->changed_failed = true;
		return;
	}
	check->changed = changed;
	check->changed[index] = check->stamp;
	/*
	 * if a thread is woken after it announced that it will sleep, it stays runnable, whatever state the
	 * switch records
	 */
	see_thread_order(check, change->thread->id, !change->announced);
}

/* Reports each event that was due before the end of the trace but never came. */
static void see_end(struct check *check, uint32_t index)
{
	const struct rule *rule = &check->rules->rule[index];
	const struct keyed *table = &check->table[index];

	for (uint32_t n = 0; n < table->count; n++) {
		const struct keyed_entry *entry = &table->entry[n];
		struct check_violation violation = { .rule = index,
						     .cpu = entry->cpu,
						     .thread = entry->thread };
		struct check_gap gap;

		if (elapsed(entry->stamp, check->stamp) <= rule->ticks)
			continue;
		gap = check_gap(check, GAPS_ANYWHERE, check->needed[index], entry->stamp, check->stamp);
		if (gap.is) {
			check_undecided(check, index, gap.off);
			continue;
		}
		if (check->order.measured && check_order_is_unsure(&check->order, index, entry->key)) {
			check->result[index].unordered++;
			continue;
		}
		violation.stamp = entry->stamp + rule->ticks;
		check_blame(&violation, entry);
		check->result[index].uncertain += check_order_is_unsure(&check->order, index, entry->key);
		check_report(check, &violation);
	}
}

/*
 * At the end of the trace, counts the intervals of "at most N EVENTS" that are not over, and in which events
 * may be missing.
 */
static void see_last_intervals(struct check *check, uint32_t index)
{
	const struct rule *rule = &check->rules->rule[index];
	const struct keyed *table = &check->table[index];

	for (uint32_t n = 0; n < table->count; n++) {
		const struct keyed_entry *entry = &table->entry[n];
		uint64_t to = check->stamp;
		uint32_t off;

		if (rule->ticks && elapsed(entry->stamp, to) > rule->ticks)
			to = entry->stamp + rule->ticks;
		if (entry->count > rule->limit)
			continue;
		off = gaps_switched(check->gaps, check->needed[index], entry->stamp, to);
		if (off || gaps_first(check->gaps, check_keyed_by_cpu(rule) ? entry->cpu : GAPS_ANYWHERE,
				      entry->stamp, to) != UINT64_MAX)
			check_undecided(check, index, off);
	}
}

static bool holders_were_full(const struct ktread *trace)
{
	struct ktrx_cpu descriptor;

	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &descriptor, 1) > 0; cpu++)
		if (descriptor.refused)
			return true;
	return false;
}

/*
 * Reports the mistakes that CPU descriptors record. A descriptor contains only the first mistake of its CPU.
 * While hooks do not maintain the state tables (debug.ktr.state is 0), later mistakes are unknown. If a hook
 * found the table of holders full, mistakes about locks are unknown. To find
 * out whether a mistake is judged, treats it as an event without a type.
 */
static void see_broken(struct check *check, uint32_t index, const struct ktread *trace)
{
	const uint32_t wanted = check->rules->rule[index].broken;
	const bool off = rules_state_is_off(trace) ||
			 (rules_needs_holders(&check->rules->rule[index]) && holders_were_full(trace));
	struct ktrx_cpu descriptor;

	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &descriptor, 1) > 0; cpu++) {
		const struct ktread_event mistake = { .id = KTRX_EVENT_MAX + 1,
						      .cpu = cpu,
						      .thread = descriptor.broken_thread,
						      .stamp = descriptor.broken_stamp };

		if (descriptor.broken == wanted && check_judges(check, &mistake))
			check_report(check, &(struct check_violation){ .rule = index,
								       .stamp = descriptor.broken_stamp,
								       .cpu = cpu,
								       .thread = descriptor.broken_thread,
								       .in_state = true,
								       .pc = descriptor.broken_pc,
								       .object = descriptor.broken_object });
		else if (descriptor.broken == KTRX_BROKEN_NOTHING && !off)
			check->result[index].held += descriptor.online != 0;
		else /* a CPU that never came online made no mistake */
			check->result[index].undecided +=
				descriptor.online || descriptor.broken != KTRX_BROKEN_NOTHING;
	}
}

/*
 * Judges one rule at the end of the trace. If the rule uses a depth, adds the number of events that the depth
 * left out to the rule's own number, because there is no report about the depth itself.
 */
static void finish(struct check *check, uint32_t index, const struct ktread *trace)
{
	const struct rule *rule = &check->rules->rule[index];

	if (!rule->checked)
		return;
	if (rule->form == RULE_WITHIN)
		see_end(check, index);
	else if (rule->form == RULE_MOST)
		see_last_intervals(check, index);
	else if (rule->form == RULE_BROKEN)
		see_broken(check, index, trace);
	else if (rule->in_depth) {
		check->result[index].lacking += check->result[rule->depth].lacking;
		check->result[index].no_room += check->result[rule->depth].no_room;
	}
}

/*
 * Marks, for each rule, the events that decide it. The events of a depth also decide the rules that use the
 * depth.
 */
static void mark_needed(struct check *check, const struct ktread *trace)
{
	static const enum wellknown_kind kinds[] = {
		WELLKNOWN_SWITCH,     WELLKNOWN_BLOCK, WELLKNOWN_WAKE,
		WELLKNOWN_WAKE_QUEUE, WELLKNOWN_EXIT,  WELLKNOWN_CREATE
	};

	for (uint32_t n = 0; n < check->rules->count; n++) {
		const struct rule *rule = &check->rules->rule[n];

		if (rule->in_depth)
			memcpy(check->needed[n], check->needed[rule->depth], sizeof(check->needed[n]));
		for (uint32_t e = 0; e < rule->events; e++)
			for (uint32_t byte = 0; byte < sizeof(check->needed[n]); byte++)
				check->needed[n][byte] |= rule->event[e].ids[byte];
	}
	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		wellknown_mark(trace, &check->known, kinds[n], check->scheduling);
}

/* Marks, for each event, the rules that name it. */
static void mark_rules(struct check *check)
{
	for (uint32_t n = 0; n < check->rules->count; n++) {
		const struct rule *rule = &check->rules->rule[n];
		uint64_t(*marked)[RULES_MAX / 64] =
			rule->form == RULE_DEPTH ? check->depths_of : check->rules_of;

		for (uint32_t id = 0; rule->checked && id <= KTRX_EVENT_MAX; id++)
			for (uint32_t e = 0; e < rule->events; e++)
				if (rule->event[e].ids[id / 8] >> id % 8 & 1)
					marked[id][n / 64] |= UINT64_C(1) << n % 64;
	}
}

static int read_all(struct check *check, struct ktread *trace)
{
	uint8_t all[SWITCHED_MAP];
	const struct ktread_event *event;
	int status = gaps_read(&check->gaps, trace), error = 0;

	if (!status)
		status = threads_create(&check->threads, note_change, check);
	if (status)
		return status;
	check_order_init(&check->order, trace, check->doubt);
	threads_learn(check->threads, gaps_scheduling(check->gaps));
	threads_find_heads(&check->heads, trace);
	mark_needed(check, trace);
	memset(all, 0xff, sizeof(all));
	check->incomplete = gaps_first(check->gaps, GAPS_ANYWHERE, 0, UINT64_MAX) != UINT64_MAX ||
			    gaps_switched(check->gaps, all, 0, UINT64_MAX) != 0;
	mark_rules(check);
	while (!error && (status = ktread_next(trace, &event)) > 0)
		error = take(check, event);
	report_waiting(check, UINT64_MAX);
	for (uint32_t n = 0; n < check->rules->count && !error && status == 0; n++)
		finish(check, n, trace);
	return error ? error : status;
}

int check_read(const struct rules *rules, struct ktread *trace, uint64_t doubt, struct check_result *result,
	       check_found *found, void *context)
{
	struct check *check = calloc(1, sizeof(*check));
	int status;

	if (!check)
		return KTREAD_E_MEMORY;
	check->rules = rules;
	check->trace = trace;
	check->doubt = doubt;
	check->result = result;
	check->found = found;
	check->context = context;
	status = read_all(check, trace);
	for (uint32_t n = 0; n < RULES_MAX; n++)
		keyed_free(&check->table[n]);
	threads_destroy(check->threads);
	gaps_free(check->gaps);
	check_order_free(&check->order);
	free(check->changed);
	free(check);
	return status;
}

bool check_lacks_end(const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	bool cut = ktread_is_cut(info) != 0;

	for (uint32_t n = 0; n < info->rings && !cut; n++)
		cut = ktread_ring(trace, n)->cut > 0;
	return cut;
}
