/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Judges an event as subject, cause or release of a rule. Each form of rule (enum rule_form) has a function
 * that finds out whether the rule was kept, was violated, or cannot be decided.
 */
#include "analyze/check.h"

#include <string.h>

#include "analyze/keyed.h"
#include "analyze/scheduling.h"

struct check_gap check_gap(struct check *check, uint32_t cpu, const uint8_t *events, uint64_t from,
			   uint64_t to)
{
	const bool lost = gaps_between(check->gaps, cpu, from, to);
	const uint32_t off = gaps_switched(check->gaps, events, from, to);

	return (struct check_gap){ lost || off, off };
}

void check_undecided(struct check *check, uint32_t rule, uint32_t off)
{
	struct check_result *result = &check->result[rule];

	result->undecided++;
	if (!off)
		return;
	if (result->switched_off == 0)
		result->off = off;
	result->folded |= scheduling_folded(gaps_scheduling(check->gaps), off);
	result->switched_off++;
}

/*
 * Reports a violation that depends on the order of the events with the current key. These events may come
 * from several CPUs.
 */
static void report_ordered(struct check *check, const struct check_violation *violation)
{
	struct check_result *result = &check->result[violation->rule];

	if (check->order.measured) {
		if (check->unsure ||
		    !check_order_wait(&check->order, check->order_table, check->order_key, violation))
			result->unordered++;
		return;
	}
	result->uncertain += check->unsure;
	check_report(check, violation);
}

/*
 * Records that an event with this key has come, and makes the key the current key. Returns 0 or
 * KTREAD_E_MEMORY.
 */
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
		.slot = event->index,
		.ring = event->ring,
		.cpu = event->cpu,
		.thread = event->thread,
	};
}

void check_blame(struct check_violation *violation, const struct keyed_entry *cause)
{
	violation->has_cause = true;
	violation->cause_stamp = cause->stamp;
	violation->cause_cpu = cause->cpu;
	violation->cause_thread = cause->thread;
}

bool check_keyed_by_cpu(const struct rule *rule)
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

/*
 * Finds out which lost slots may have contained an event of the rule since the timestamp of the entry.
 * Returns the event's CPU if these can only be slots of that CPU; GAPS_ANYWHERE if they can be slots of any
 * CPU.
 */
static uint32_t where_gaps_matter(const struct check *check, const struct rule *rule, uint32_t which,
				  const struct keyed_entry *entry, const struct ktread_event *event)
{
	const struct threads_thread *running = threads_on(check->threads, event->cpu);

	if (check_keyed_by_cpu(rule))
		return event->cpu;
	if (entry && entry->cpu == event->cpu && keyed_by_thread(rule, which) && event->thread != 0 &&
	    running && running->id == event->thread && running->since <= entry->time)
		return event->cpu;
	return GAPS_ANYWHERE;
}

/*
 * Finds out whether an event since the timestamp of the entry may be missing in the trace, because slots were
 * lost or the event was switched off.
 */
static struct check_gap gap_since(struct check *check, uint32_t index, uint32_t which,
				  const struct keyed_entry *entry, const struct ktread_event *event)
{
	const uint64_t from = entry ? entry->stamp : 0;

	return check_gap(check, where_gaps_matter(check, &check->rules->rule[index], which, entry, event),
			 check->needed[index], from, event->stamp);
}

static void stamp_entry(const struct check *check, struct keyed_entry *entry,
			const struct ktread_event *event)
{
	entry->stamp = event->stamp;
	entry->time = check->time;
	entry->cpu = event->cpu;
	entry->thread = event->thread;
}

/*
 * Reads the event's key. Returns false if the payload lacks the key; such an event is not used to judge the
 * rule.
 */
static bool read_key(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event,
		     uint64_t key[KEYED_WORDS])
{
	memset(key, 0, KEYED_WORDS * sizeof(*key));
	if (rules_key(&check->rules->rule[index], which, event, key))
		return true;
	check->result[index].lacking++;
	return false;
}

/* Removes the entries that settle() leaves, if there are many. */
static void forget_settled(struct check *check, uint32_t index)
{
	struct keyed *table = &check->table[index];

	if (check->settled[index] < KEYED_MAX / 8)
		return;
	for (uint32_t n = table->count; n-- > 0;)
		if (!table->entry[n].known)
			keyed_remove(table, &table->entry[n]);
	check->settled[index] = 0;
}

/* Finds or adds the entry of a key. *entry is NULL if there is no room. Returns 0 or KTREAD_E_MEMORY. */
static int put_or_none(struct check *check, uint32_t index, const uint64_t key[KEYED_WORDS],
		       struct keyed_entry **entry)
{
	int error = keyed_put(&check->table[index], key, entry);

	if (error || *entry)
		return error;
	forget_settled(check, index);
	return keyed_put(&check->table[index], key, entry);
}

/*
 * Finds or adds the entry of a key. *entry is NULL if there is no room; the event is then left out. Returns 0
 * or KTREAD_E_MEMORY.
 */
static int put(struct check *check, uint32_t index, const uint64_t key[KEYED_WORDS],
	       struct keyed_entry **entry)
{
	int error = put_or_none(check, index, key, entry);

	check->result[index].no_room += !error && !*entry;
	return error;
}

/*
 * Removes the cause with this key. If slots are missing in the trace, or events were off, the entry remains:
 * it then shows that at this event there was no cause. Returns 0 or KTREAD_E_MEMORY.
 */
static int settle(struct check *check, uint32_t index, const uint64_t key[KEYED_WORDS],
		  const struct ktread_event *event)
{
	struct keyed_entry *entry = keyed_find(&check->table[index], key);
	int error = 0;

	if (!check->incomplete || check->rules->rule[index].form != RULE_AFTER) {
		if (entry)
			keyed_remove(&check->table[index], entry);
		return 0;
	}
	check->settled[index] += !entry || entry->known;
	if (!entry)
		error = put_or_none(check, index, key, &entry);
	if (error || !entry)
		return error;
	entry->known = false;
	stamp_entry(check, entry, event);
	return 0;
}

/*
 * Judges "never EVENT while DEPTH > N". The counted depth restarts at 0 after a gap, so the true depth may be
 * larger.
 */
static void see_depth(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	struct check_gap gap;

	if (!read_key(check, index, which, event, key))
		return;
	entry = keyed_find(&check->table[rule->depth], key);
	gap = gap_since(check, index, which, entry, event);
	violation.count = entry && !gap.is ? entry->count : 0;
	if (!check_keyed_by_cpu(rule))
		check->order_failed |= see_order(check, rule->depth, key, event, false) != 0;
	if (violation.count > rule->limit) {
		check_blame(&violation, entry);
		check_keyed_by_cpu(rule) ? check_report(check, &violation)
					 : report_ordered(check, &violation);
	} else if (gap.is || (entry && !entry->known)) {
		check_undecided(check, index, gap.is ? gap.off : entry->off);
	} else {
		check->result[index].held++;
	}
}

/*
 * Returns true if the rule needs the state of a thread that was switched away from, but sched.switch does
 * not record states.
 */
static bool asks_unknown(const struct check *check, const struct rule *rule,
			 const struct threads_thread *thread)
{
	const unsigned known = 1u << THREADS_RUNNING | 1u << THREADS_DEAD;
	bool announced;

	return (rule->thread_states & ~known) && !(known >> thread->state & 1) &&
	       scheduling_states_are_empty(gaps_scheduling(check->gaps), &announced);
}

/*
 * Finds out whether the state of a thread may have changed without a record. Only the CPU of a running thread
 * can switch away from it. `thread` is NULL if no event has named the thread.
 */
static struct check_gap gap_of_state(struct check *check, const struct threads_thread *thread,
				     const struct ktread_event *event)
{
	const bool known = thread && thread->state != THREADS_UNKNOWN && thread->index < check->changed_room;

	const bool stays = known && thread->state == THREADS_RUNNING && !thread->anywhere;

	return check_gap(check, stays ? thread->cpu : GAPS_ANYWHERE, check->scheduling,
			 known ? check->changed[thread->index] : 0, event->stamp);
}

/* Judges "never EVENT while THREAD is STATE". */
static void see_thread(struct check *check, uint32_t index, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	const struct threads_thread *thread;
	struct check_violation violation = at_event(check, index, event);
	uint64_t id = event->thread, key[KEYED_WORDS] = { 0 };
	struct check_gap gap;

	if (rule->thread_field[0] != '@' && !keyed_field(event, rule->thread_field, &id) &&
	    strcmp(rule->thread_field, "thread") != 0) {
		check->result[index].lacking++;
		return;
	}
	thread = threads_find(check->threads, (uint32_t)id);
	key[0] = (uint32_t)id;
	/* idle threads of several CPUs may have the same id, so a state does not belong to one of them */
	if (thread && thread->id != 0 && thread->anywhere)
		return;
	if (thread && asks_unknown(check, rule, thread)) {
		check->result[index].unknown++;
	} else if (thread && thread->may_live && rule->thread_states >> thread->state & 1) {
		check->result[index].may_live++;
	} else if (!thread || !(rule->thread_states >> thread->state & 1)) {
		gap = gap_of_state(check, thread, event);
		if (gap.is)
			check_undecided(check, index, gap.off);
		else
			check->result[index].held++;
	} else if (thread->index >= check->changed_room) {
		check_undecided(check, index, 0);
	} else {
		gap = check_gap(check, GAPS_ANYWHERE, check->scheduling, check->changed[thread->index],
				event->stamp);
		if (gap.is) {
			check_undecided(check, index, gap.off);
			return;
		}
		violation.has_cause = true;
		violation.cause_stamp = check->changed[thread->index];
		violation.cause_cpu = thread->cpu;
		violation.cause_thread = thread->id;
		check->order_failed |= see_order(check, CHECK_ORDER_THREADS, key, event, false) != 0;
		report_ordered(check, &violation);
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
		check_report(check, &violation);
}

static void see_always(struct check *check, uint32_t index, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	bool missing = false;

	if (rules_hold(rule->required, rule->requirements, event, &missing))
		check->result[index].held++;
	else if (missing)
		check->result[index].lacking++;
	else
		check_report(check, &violation);
}

/*
 * Judges a subject event without a cause in the trace. `entry`: what settle() left, or NULL. Returns 0 or
 * KTREAD_E_MEMORY.
 */
static int see_uncaused(struct check *check, uint32_t index, uint32_t which, const struct keyed_entry *entry,
			const struct ktread_event *event, const uint64_t key[KEYED_WORDS])
{
	const struct rule *rule = &check->rules->rule[index];
	const uint64_t from = entry ? entry->stamp : 0;
	struct check_gap gap = { .is = false };

	/* a missing release changes nothing, because there is no cause */
	for (uint32_t n = 0; n < rule->events && !gap.is; n++)
		if (rule->event[n].role == RULE_CAUSE)
			gap = check_gap(check, where_gaps_matter(check, rule, which, entry, event),
					rule->event[n].ids, from, event->stamp);
	if (gap.is)
		check_undecided(check, index, gap.off);
	else
		check->result[index].held++;
	return settle(check, index, key, event);
}

/*
 * Judges a subject event if there was no release between its cause and it, and removes the cause. For
 * RULE_AFTER, such a subject violates the rule; for RULE_WITHIN, only a subject that comes too late.
 */
static int see_caused(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	const bool timed = rule->form == RULE_WITHIN;
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	struct check_gap gap;

	if (!read_key(check, index, which, event, key))
		return 0;
	entry = keyed_find(&check->table[index], key);
	if (!entry || !entry->known)
		return timed ? 0 : see_uncaused(check, index, which, entry, event, key);
	check_blame(&violation, entry);
	if (timed && elapsed(entry->stamp, event->stamp) <= rule->ticks)
		check->result[index].held++;
	else if ((gap = gap_since(check, index, which, entry, event)).is)
		check_undecided(check, index, gap.off);
	else if (timed && entry->cpu != event->cpu && check->order.measured &&
		 elapsed(entry->stamp, event->stamp) - rule->ticks <= check->order.doubt)
		check->result[index].unordered++;
	else
		report_ordered(check, &violation);
	return settle(check, index, key, event);
}

/*
 * Judges "at most N EVENTS per TIME". The first event of a key begins an interval; the first event with the
 * key after that interval begins the next interval.
 */
static int see_most(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	struct check_violation violation = at_event(check, index, event);
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	struct check_gap gap;
	int error;

	if (!read_key(check, index, which, event, key))
		return 0;
	error = put(check, index, key, &entry);
	if (error || !entry)
		return error;
	if (entry->count == 0 || (rule->ticks && elapsed(entry->stamp, event->stamp) >= rule->ticks)) {
		if (entry->count && entry->count <= rule->limit &&
		    (gap = gap_since(check, index, which, entry, event)).is)
			check_undecided(check, index, gap.off);
		entry->count = 0;
		stamp_entry(check, entry, event);
	}
	entry->count++;
	if (entry->count <= rule->limit) {
		check->result[index].held++;
		return 0;
	}
	violation.count = entry->count;
	if (entry->count > rule->limit + 1) /* the violation was reported when the limit was first exceeded */
		return 0;
	check_blame(&violation, entry);
	check_report(check, &violation);
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
	case RULE_WITHIN:
		return see_caused(check, index, which, event);
	case RULE_MOST:
		return see_most(check, index, which, event);
	case RULE_BROKEN: /* rules of this form have no events */
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
	 * If there are several causes: for RULE_WITHIN, keeps the first cause, because the time limit runs
	 * from there; for RULE_AFTER, keeps the last cause, because it is nearest to the subject.
	 */
	if (!error && entry && (!entry->known || check->rules->rule[index].form == RULE_AFTER)) {
		check->settled[index] -= check->settled[index] > 0 && !entry->known && entry->stamp;
		stamp_entry(check, entry, event);
		entry->known = true;
	}
	return error;
}

static int see_release(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	uint64_t key[KEYED_WORDS];

	return read_key(check, index, which, event, key) ? settle(check, index, key, event) : 0;
}

/*
 * Updates a depth. After a gap, restarts the count at 0, and marks the depth as unknown until a subject event
 * sets it to 0.
 */
static int count_depth(struct check *check, uint32_t index, uint32_t which, const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	uint64_t key[KEYED_WORDS];
	struct keyed_entry *entry;
	struct check_gap gap;
	bool fresh;
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
	if (fresh || gap.is)
		entry->count = 0;
	entry->known = (fresh || entry->known) && !gap.is;
	if (gap.is)
		entry->off = (uint16_t)gap.off;
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

/*
 * If verdicts of this form of rule depend on the order of events, stores the event, so that it can later be
 * checked whether this order is certain. This is not needed if the CPU is part of the key: all events with
 * the key then come from one CPU, so their order is certain.
 */
static int see_order_of_rule(struct check *check, uint32_t index, uint32_t which,
			     const struct ktread_event *event)
{
	const struct rule *rule = &check->rules->rule[index];
	const bool depth = rule->form == RULE_DEPTH;
	uint64_t key[KEYED_WORDS] = { 0 };

	check->unsure = false;
	check->order_table = index;
	memset(check->order_key, 0, sizeof(check->order_key));
	if (check->order.certain || check_keyed_by_cpu(rule) ||
	    (!depth && rule->form != RULE_AFTER && rule->form != RULE_WITHIN) ||
	    !rules_key(rule, which, event, key))
		return 0;
	return see_order(check, index, key, event, !depth || rule->event[which].role == RULE_SUBJECT);
}

/* Returns whether an event is used in this role. A rule judges its subject or, if it is timed, its cause. */
static bool is_used(const struct check *check, const struct rule *rule, enum rule_role role,
		    const struct ktread_event *event)
{
	const enum rule_role judged = rule->form == RULE_WITHIN ? RULE_CAUSE : RULE_SUBJECT;

	return rule->form == RULE_DEPTH || role != judged || check_judges(check, event);
}

/* One event may be a release, a subject and a cause of the same rule. They are applied in this order. */
int check_apply(struct check *check, uint32_t index, const struct ktread_event *event)
{
	static const enum rule_role order[] = { RULE_RELEASE, RULE_SUBJECT, RULE_CAUSE };
	const struct rule *rule = &check->rules->rule[index];
	int error = 0;

	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t n = 0; n < rule->events && !error; n++) {
			if (rule->event[n].role != order[turn] || !rules_fits(&rule->event[n], event) ||
			    !is_used(check, rule, order[turn], event))
				continue;
			check->order_failed |= see_order_of_rule(check, index, n, event) != 0;
			if (rule->form == RULE_DEPTH)
				error = count_depth(check, index, n, event);
			else if (order[turn] == RULE_SUBJECT)
				error = see_subject(check, index, n, event);
			else if (order[turn] == RULE_CAUSE)
				error = see_cause(check, index, n, event);
			else
				error = see_release(check, index, n, event);
			break;
		}
	}
	return error;
}
