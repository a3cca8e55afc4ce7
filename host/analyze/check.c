/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/check.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/check_order.h"
#include "analyze/elapsed.h"
#include "analyze/gaps.h"
#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "base/grow.h"
#include "ktrx/v2.h"

struct check {
	const struct rules *rules;
	struct check_result *result;
	check_told *told;
	void *context;
	struct gaps *gaps;
	struct threads *threads;
	struct wellknown_table known;
	struct keyed table[RULES_MAX];			     /* of each rule */
	uint8_t needed[RULES_MAX][(KTRX_EVENT_MAX + 1) / 8]; /* events that decide it, a bit each */
	uint8_t scheduling[(KTRX_EVENT_MAX + 1) / 8];	     /* and the states of threads */
	uint64_t *changed; /* stamp of a thread's last change, by its index */
	uint32_t changed_room;
	bool changed_failed, order_failed;
	struct check_order order;
	const struct ktread_event *event; /* at hand */
	uint32_t order_table;		  /* for the verdict at hand: its key, … */
	uint64_t order_key[KEYED_WORDS];
	bool unsure;		      /* … and whether the order of that key's events is uncertain */
	uint64_t stamp, time, number; /* of the event at hand; time as threads.h has it */
};

static void tell(struct check *check, const struct check_violation *violation)
{
	struct check_result *result = &check->result[violation->rule];

	if (result->violated == 0 || violation->stamp < result->first.stamp)
		result->first = *violation;
	result->violated++;
	check->told(check->context, violation);
}

/* Violations that have waited until `stamp`: no event that comes from then on can change them. */
static void tell_waiting(struct check *check, uint64_t stamp)
{
	struct check_waiting waited;

	while (check_order_next(&check->order, stamp, &waited)) {
		if (waited.unsure)
			check->result[waited.violation.rule].unordered++;
		else
			tell(check, &waited.violation);
	}
}

/*
 * A violation that depends on the order of events with the key at hand, which may be those of several CPUs.
 */
static void tell_ordered(struct check *check, const struct check_violation *violation)
{
	struct check_result *result = &check->result[violation->rule];

	if (check->order.measured) {
		if (check->unsure ||
		    !check_order_wait(&check->order, check->order_table, check->order_key, violation))
			result->unordered++;
		return;
	}
	result->uncertain += check->unsure;
	tell(check, violation);
}

/* Notes an event of a key of that table, and makes it the one at hand. 0 or KTREAD_E_MEMORY. */
static int see_order(struct check *check, uint32_t table, const uint64_t key[KEYED_WORDS],
		     const struct ktread_event *event, bool settles)
{
	check->order_table = table;
	memcpy(check->order_key, key, sizeof(check->order_key));
	return check_order_see(&check->order, table, key, event, settles, &check->unsure);
}

static struct check_violation at_event(const struct check *check, uint32_t rule,
				       const struct ktread_event *event)
{
	return (struct check_violation){
		.rule = rule,
		.stamp = event->stamp,
		.number = check->number,
		.cpu = event->cpu,
		.thread = event->thread,
	};
}

static void blame(struct check_violation *violation, const struct keyed_entry *cause)
{
	violation->has_cause = true;
	violation->cause_stamp = cause->stamp;
	violation->cause_cpu = cause->cpu;
	violation->cause_thread = cause->thread;
}

/* Is the CPU that fires part of the key, for every event of the rule that has one? */
static bool keyed_by_cpu(const struct rule *rule)
{
	for (uint32_t k = 0; k < rule->keys; k++) {
		uint32_t n = 0;

		while (n < rule->events &&
		       (rule->event[n].role == RULE_NEEDED || strcmp(rule->key[k][n], "@cpu") == 0))
			n++;
		if (n == rule->events)
			return true;
	}
	return false;
}

static bool keyed_by_thread(const struct rule *rule, uint32_t which)
{
	for (uint32_t k = 0; k < rule->keys; k++)
		if (strcmp(rule->key[k][which], "@thread") == 0)
			return true;
	return false;
}

/* The CPU whose gaps alone can have hidden something since the entry began, or GAPS_ANYWHERE. */
static uint32_t where_gaps_matter(const struct check *check, const struct rule *rule, uint32_t which,
				  const struct keyed_entry *entry, const struct ktread_event *event)
{
	const struct threads_thread *running = threads_on(check->threads, event->cpu);

	if (keyed_by_cpu(rule))
		return event->cpu;
	if (entry && entry->cpu == event->cpu && keyed_by_thread(rule, which) && event->thread != 0 &&
	    running && running->id == event->thread && running->since <= entry->time)
		return event->cpu;
	return GAPS_ANYWHERE;
}

/* May something have happened since that is not in the trace: lost, or switched off? */
static bool gap_since(struct check *check, uint32_t index, uint32_t which, const struct keyed_entry *entry,
		      const struct ktread_event *event)
{
	const uint64_t from = entry ? entry->stamp : 0;

	return gaps_between(check->gaps,
			    where_gaps_matter(check, &check->rules->rule[index], which, entry, event), from,
			    event->stamp) ||
	       gaps_switched(check->gaps, check->needed[index], from, event->stamp);
}

static void stamp_entry(const struct check *check, struct keyed_entry *entry,
			const struct ktread_event *event)
{
	entry->stamp = event->stamp;
	entry->time = check->time;
	entry->cpu = event->cpu;
	entry->thread = event->thread;
}

/* The event's key. False: its payload does not hold it, and the event is left out. */
static bool read_key(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event,
		     uint64_t key[KEYED_WORDS])
{
	memset(key, 0, KEYED_WORDS * sizeof(*key));
	if (rules_key(&check->rules->rule[index], which, event, key))
		return true;
	check->result[index].left_out++;
	return false;
}

/* The entry of a key, NULL if there is no room: then the event is left out. 0 or KTREAD_E_MEMORY. */
static int put(struct check *check, uint32_t index, const uint64_t key[KEYED_WORDS],
	       struct keyed_entry **entry)
{
	int error = keyed_put(&check->table[index], key, entry);

	check->result[index].left_out += !error && !*entry;
	return error;
}

/* Never … while a depth is above a limit. What is counted since the last gap is the least that it can be. */
static void see_depth(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	bool gap;

	if (!read_key(check, index, which, event, key))
		return;
	entry = keyed_find(&check->table[rule->depth], key);
	gap = gap_since(check, index, which, entry, event);
	violation.count = entry && !gap ? entry->count : 0;
	if (!keyed_by_cpu(rule))
		check->order_failed |= see_order(check, rule->depth, key, event, false) != 0;
	if (violation.count > rule->limit) {
		blame(&violation, entry);
		keyed_by_cpu(rule) ? tell(check, &violation) : tell_ordered(check, &violation);
	} else if (gap || (entry && !entry->known)) {
		check->result[index].undecided++;
	} else {
		check->result[index].held++;
	}
}

/*
 * Does the rule ask what became of a thread that was switched away from, where sched.switch does not say
 * that?
 */
static bool asks_unknown(const struct check *check, const struct rule *rule,
			 const struct threads_thread *thread)
{
	const unsigned known = 1u << THREADS_RUNNING | 1u << THREADS_DEAD;
	bool announced;

	return (rule->thread_states & ~known) && !(known >> thread->state & 1) &&
	       scheduling_states_are_empty(gaps_scheduling(check->gaps), &announced);
}

/* Never … while a thread is in one of some states. */
static void see_thread(struct check *check, uint32_t index, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	const struct threads_thread *thread;
	struct check_violation violation = at_event(check, index, event);
	uint64_t id = event->thread, key[KEYED_WORDS] = { 0 };

	if (rule->thread_field[0] != '@' && !keyed_field(event, rule->thread_field, &id) &&
	    strcmp(rule->thread_field, "thread") != 0) {
		check->result[index].left_out++;
		return;
	}
	thread = threads_find(check->threads, (uint32_t)id);
	key[0] = (uint32_t)id;
	if (thread && asks_unknown(check, rule, thread)) {
		check->result[index].unknown++;
	} else if (!thread || !(rule->thread_states >> thread->state & 1)) {
		check->result[index].held++;
	} else if (thread->index >= check->changed_room ||
		   gaps_between(check->gaps, GAPS_ANYWHERE, check->changed[thread->index], event->stamp) ||
		   gaps_switched(check->gaps, check->scheduling, check->changed[thread->index],
				 event->stamp)) {
		check->result[index].undecided++;
	} else {
		violation.has_cause = true;
		violation.cause_stamp = check->changed[thread->index];
		violation.cause_cpu = thread->cpu;
		violation.cause_thread = thread->id;
		check->order_failed |= see_order(check, CHECK_ORDER_THREADS, key, event, false) != 0;
		tell_ordered(check, &violation);
	}
}

static void see_never(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);

	if (rule->in_depth)
		see_depth(check, index, which, event);
	else if (rule->thread_states)
		see_thread(check, index, event);
	else
		tell(check, &violation);
}

static void see_always(struct check *check, uint32_t index, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	bool missing = false;

	if (rules_hold(rule->required, rule->requirements, event, &missing))
		check->result[index].held++;
	else if (missing)
		check->result[index].left_out++;
	else
		tell(check, &violation);
}

/* A subject that comes after its cause, without release: once for each cause. */
static void see_after(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;

	if (!read_key(check, index, which, event, key))
		return;
	entry = keyed_find(&check->table[index], key);
	if (!entry) {
		check->result[index].held++;
		return;
	}
	blame(&violation, entry);
	if (gap_since(check, index, which, entry, event))
		check->result[index].undecided++;
	else
		tell_ordered(check, &violation);
	keyed_remove(&check->table[index], entry);
}

static void see_within(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;

	if (!read_key(check, index, which, event, key))
		return;
	entry = keyed_find(&check->table[index], key);
	if (!entry)
		return;
	blame(&violation, entry);
	if (elapsed(entry->stamp, event->stamp) <= rule->ticks)
		check->result[index].held++;
	else if (gap_since(check, index, which, entry, event))
		check->result[index].undecided++;
	else if (entry->cpu != event->cpu && check->order.measured &&
		 elapsed(entry->stamp, event->stamp) - rule->ticks <= check->order.doubt)
		check->result[index].unordered++;
	else
		tell_ordered(check, &violation);
	keyed_remove(&check->table[index], entry);
}

/* Intervals begin with the first event of a key, and again with the first one after each. */
static int see_most(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	int error;

	if (!read_key(check, index, which, event, key))
		return 0;
	error = put(check, index, key, &entry);
	if (error || !entry)
		return error;
	if (entry->count == 0 || (rule->ticks && elapsed(entry->stamp, event->stamp) >= rule->ticks)) {
		if (entry->count && entry->count <= rule->limit &&
		    gap_since(check, index, which, entry, event))
			check->result[index].undecided++;
		entry->count = 0;
		stamp_entry(check, entry, event);
	}
	entry->count++;
	if (entry->count <= rule->limit) {
		check->result[index].held++;
		return 0;
	}
	violation.count = entry->count;
	if (entry->count > rule->limit + 1) /* told when it went too far */
		return 0;
	blame(&violation, entry);
	tell(check, &violation);
	return 0;
}

static int see_subject(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	switch (check->rules->rule[index].form) {
	case RULE_NEVER:
		see_never(check, index, which, event);
		return 0;
	case RULE_ALWAYS:
		see_always(check, index, event);
		return 0;
	case RULE_AFTER:
		see_after(check, index, which, event);
		return 0;
	case RULE_WITHIN:
		see_within(check, index, which, event);
		return 0;
	case RULE_MOST:
		return see_most(check, index, which, event);
	case RULE_BROKEN: /* has no events */
	case RULE_DEPTH:
		break;
	}
	return 0;
}

static int see_cause(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	int error;

	if (!read_key(check, index, which, event, key))
		return 0;
	error = put(check, index, key, &entry);
	/*
	 * Of several wakes the first began the wait; of several causes of a forbidden order the last is
	 * nearest.
	 */
	if (!error && entry && (!entry->known || check->rules->rule[index].form == RULE_AFTER)) {
		stamp_entry(check, entry, event);
		entry->known = true;
	}
	return error;
}

static void see_release(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;

	if (!read_key(check, index, which, event, key))
		return;
	entry = keyed_find(&check->table[index], key);
	if (entry)
		keyed_remove(&check->table[index], entry);
}

/* A depth counts; behind a gap it begins at none again, but is not known until it is told to be none. */
static int count_depth(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	bool fresh, gap;
	int error = 0;

	if (!read_key(check, index, which, event, key))
		return 0;
	entry = keyed_find(&check->table[index], key);
	fresh = !entry;
	gap = gap_since(check, index, which, entry, event);
	if (fresh)
		error = put(check, index, key, &entry);
	if (error || !entry)
		return error;
	if (fresh || gap)
		entry->count = 0;
	entry->known = (fresh || entry->known) && !gap;
	if (rule->event[which].role == RULE_CAUSE)
		entry->count++;
	else if (rule->event[which].role == RULE_RELEASE)
		entry->count -= entry->count > 0;
	else
		entry->count = 0;
	entry->known |= rule->event[which].role == RULE_SUBJECT;
	stamp_entry(check, entry, event);
	return 0;
}

/* For forms that depend on order. Where the CPU is part of the key, all events of a key are of one CPU. */
static int see_order_of_rule(struct check *check, uint32_t index, uint32_t which,
			     const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	const bool depth = rule->form == RULE_DEPTH;
	uint64_t key[KEYED_WORDS] = { 0 };

	check->unsure = false;
	check->order_table = index;
	memset(check->order_key, 0, sizeof(check->order_key));
	if (check->order.certain || keyed_by_cpu(rule) ||
	    (!depth && rule->form != RULE_AFTER && rule->form != RULE_WITHIN) ||
	    !rules_key(rule, which, event, key))
		return 0;
	return see_order(check, index, key, event, !depth || rule->event[which].role == RULE_SUBJECT);
}

/* Releases first, then what is judged, then what is begun: one event may be all three. */
static int apply(struct check *check, uint32_t index, const struct ktread_event *event)
{
	static const enum rule_role order[] = { RULE_RELEASE, RULE_SUBJECT, RULE_CAUSE };
	const struct rule *rule = &check->rules->rule[index];
	int error = 0;

	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t n = 0; n < rule->events && !error; n++) {
			if (rule->event[n].role != order[turn] || !rules_fits(&rule->event[n], event))
				continue;
			check->order_failed |= see_order_of_rule(check, index, n, event) != 0;
			if (rule->form == RULE_DEPTH)
				error = count_depth(check, index, n, event);
			else if (order[turn] == RULE_SUBJECT)
				error = see_subject(check, index, n, event);
			else if (order[turn] == RULE_CAUSE)
				error = see_cause(check, index, n, event);
			else
				see_release(check, index, n, event);
			break;
		}
	}
	return error;
}

/* The event at hand changes the state of a thread, or would if it came in another order. */
static void see_thread_order(struct check *check, uint32_t thread)
{
	const uint64_t key[KEYED_WORDS] = { thread };
	bool unsure;

	if (check_order_see(&check->order, CHECK_ORDER_THREADS, key, check->event, true, &unsure) != 0)
		check->order_failed = true;
}

static int take(struct check *check, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&check->known, event);
	const struct rules *rules = check->rules;
	uint32_t thread;
	int error = 0;

	tell_waiting(check, event->stamp);
	check->event = event;
	check->stamp = event->stamp;
	check->time += 2;
	check->number++;
	gaps_event(check->gaps, event);
	for (int depths = 0; depths < 2; depths++) /* an event is judged by how things were before it */
		for (uint32_t n = 0; n < rules->count && !error; n++)
			if (rules->rule[n].checked && (rules->rule[n].form == RULE_DEPTH) == depths)
				error = apply(check, n, event);
	if (!error)
		error = threads_event(check->threads, event, known, check->time);
	if (known->kind == WELLKNOWN_WAKE && wellknown_thread(known, event, WELLKNOWN_THREAD, &thread))
		see_thread_order(check, thread);
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
	see_thread_order(check, change->thread->id);
}

/* What was due by the end of the trace and never came. */
static void see_end(struct check *check, uint32_t index)
{
	const struct rule *rule = &check->rules->rule[index];
	const struct keyed *table = &check->table[index];

	for (uint32_t n = 0; n < table->count; n++) {
		const struct keyed_entry *entry = &table->entry[n];
		struct check_violation violation = { .rule = index,
						     .cpu = entry->cpu,
						     .thread = entry->thread };

		if (elapsed(entry->stamp, check->stamp) <= rule->ticks)
			continue;
		if (gaps_between(check->gaps, GAPS_ANYWHERE, entry->stamp, check->stamp) ||
		    gaps_switched(check->gaps, check->needed[index], entry->stamp, check->stamp)) {
			check->result[index].undecided++;
			continue;
		}
		if (check->order.measured && check_order_is_unsure(&check->order, index, entry->key)) {
			check->result[index].unordered++;
			continue;
		}
		violation.stamp = entry->stamp + rule->ticks;
		blame(&violation, entry);
		check->result[index].uncertain += check_order_is_unsure(&check->order, index, entry->key);
		tell(check, &violation);
	}
}

/* A row keeps what was broken first, and nothing while state is off: what came later there is not known. */
static void see_broken(struct check *check, uint32_t index, const struct ktread *trace)
{
	const uint32_t wanted = check->rules->rule[index].broken;
	const bool off = rules_state_is_off(trace);
	struct ktrx_cpu row;

	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &row, 1) > 0; cpu++) {
		if (row.broken == wanted)
			tell(check, &(struct check_violation){ .rule = index,
							       .stamp = row.broken_stamp,
							       .cpu = cpu,
							       .thread = row.broken_thread,
							       .in_state = true,
							       .pc = row.broken_pc,
							       .object = row.broken_object });
		else if (row.broken == KTRX_BROKEN_NOTHING && !off)
			check->result[index].held += row.online != 0;
		else
			check->result[index].undecided++;
	}
}

/* What is due at the end, what rows say, and what was left out of a depth, which is no rule of its own. */
static void finish(struct check *check, uint32_t index, const struct ktread *trace)
{
	const struct rule *rule = &check->rules->rule[index];

	if (!rule->checked)
		return;
	if (rule->form == RULE_WITHIN)
		see_end(check, index);
	else if (rule->form == RULE_BROKEN)
		see_broken(check, index, trace);
	else if (rule->in_depth)
		check->result[index].left_out += check->result[rule->depth].left_out;
}

/* A depth is told by its own events, and decides the rules that use it. */
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

static int read_all(struct check *check, struct ktread *trace)
{
	const struct ktread_event *event;
	int status = gaps_read(&check->gaps, trace), error = 0;

	if (!status)
		status = threads_create(&check->threads, note_change, check);
	if (status)
		return status;
	check_order_init(&check->order, trace);
	threads_learn(check->threads, gaps_scheduling(check->gaps));
	mark_needed(check, trace);
	while (!error && (status = ktread_next(trace, &event)) > 0)
		error = take(check, event);
	tell_waiting(check, UINT64_MAX);
	for (uint32_t n = 0; n < check->rules->count && !error && status == 0; n++)
		finish(check, n, trace);
	return error ? error : status;
}

int check_read(const struct rules *rules, struct ktread *trace, struct check_result *result, check_told *told,
	       void *context)
{
	struct check *check = calloc(1, sizeof(*check));
	int status;

	if (!check)
		return KTREAD_E_MEMORY;
	check->rules = rules;
	check->result = result;
	check->told = told;
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
