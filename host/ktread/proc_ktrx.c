/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads our own format: the heads of sessions and the records. Continues after damage.
 *
 * A record is accepted if its mark and size are possible, and if it is followed by another record, by the
 * head of a session, or by the end of the file. If it is not, or if the size does not fit the type, there are
 * two explanations. First, the size may be wrong: in this case, the payload seems to contain other records.
 * Second, the bytes after the record may be damaged.
 */
#include <inttypes.h>

#include "message.h"
#include "proc_state.h"

#define ALIGNMENT 8u
/*
 * maximum size of the head of a session or a record; heads of later versions may be longer than those of this
 * version
 */
#define HEAD_MOST 4096u
#define EM_386	  3u
#define EM_ARM	  40u

/* What may begin at a place in the input. */
enum place {
	NOTHING,
	RECORD,
	HEAD,
	END,	/* the input ends exactly at this place */
	PART,	/* there are too few bytes to decide */
	BEYOND, /* the place is beyond the end of the input */
};

static bool is_head(const uint8_t *bytes)
{
	struct ktrx_proc_head head;

	memcpy(&head, bytes, sizeof(head));
	return head.check == ktrx_proc_check(&head) && head.head_size >= sizeof(head) &&
	       head.head_size <= HEAD_MOST && head.head_size % 8 == 0 &&
	       head.record_head >= sizeof(struct ktrx_proc_record) && head.record_head <= HEAD_MOST &&
	       head.record_head % 8 == 0;
}

/* Returns which part of the trace begins `at` bytes after the input's current position. */
static enum place place_at(struct ktread_proc *trace, size_t at)
{
	const uint8_t *bytes;
	size_t left;

	ktread_proc_want(&trace->input, at + sizeof(struct ktrx_proc_head));
	if (ktread_proc_at_hand(&trace->input) <= at)
		return ktread_proc_at_hand(&trace->input) == at ? END : BEYOND;
	left = ktread_proc_at_hand(&trace->input) - at;
	bytes = ktread_proc_bytes(&trace->input) + at;
	if (left >= 4 && ktread_proc_ktrx_is_magic(bytes)) {
		if (left < sizeof(struct ktrx_proc_head))
			return PART;
		return is_head(bytes) ? HEAD : NOTHING;
	}
	if (left < KTREAD_PROC_MARKED_LEAST)
		return PART;
	return ktread_proc_ktrx_is_record(bytes) ? RECORD : NOTHING;
}

/* Does the same as place_at(), but faster if a record begins there, which is the usual case. */
static inline enum place place_after(struct ktread_proc *trace, size_t at)
{
	const uint8_t *bytes = ktread_proc_bytes(&trace->input) + at;

	if (ktread_proc_at_hand(&trace->input) >= at + sizeof(struct ktrx_proc_head) &&
	    !ktread_proc_ktrx_is_magic(bytes) && ktread_proc_ktrx_is_record(bytes))
		return RECORD;
	return place_at(trace, at);
}

/* Returns the payload size in the record's head at `at`. */
static uint32_t payload_at(const struct ktread_proc *trace, size_t at)
{
	uint32_t size;

	memcpy(&size, ktread_proc_bytes(&trace->input) + at, sizeof(size));
	return size;
}

/* Returns the size of the record or head at `at`. */
static size_t size_at(const struct ktread_proc *trace, size_t at, enum place place)
{
	struct ktrx_proc_head head;

	if (place == RECORD)
		return ktread_proc_ktrx_size(trace, payload_at(trace, at));
	memcpy(&head, ktread_proc_bytes(&trace->input) + at, sizeof(head));
	return head.head_size;
}

enum belief { NO, YES, LATER };

static enum belief believe(struct ktread_proc *trace, size_t at)
{
	enum place place = place_at(trace, at);

	if (place == HEAD)
		return YES;
	if (place == PART)
		return ktread_proc_may_grow(&trace->input) ? LATER : NO;
	if (place != RECORD)
		return NO;
	place = place_at(trace, at + size_at(trace, at, RECORD));
	if (place == BEYOND)
		return ktread_proc_may_grow(&trace->input) ? LATER : NO;
	return place == NOTHING ? NO : YES;
}

/*
 * Searches for a record or head that can be accepted. Examines every `step`-th offset from `from` on, below
 * `until`; offsets count from the input's current position. If it finds one, returns true and sets *found to
 * its offset. Otherwise returns false and sets *found to the offset at which the next search has to begin,
 * when more bytes have come; this may be the end or `until`.
 */
static bool find(struct ktread_proc *trace, size_t from, size_t until, size_t step, size_t *found)
{
	enum belief belief = NO;
	size_t at;

	for (at = from; at < until; at += step) {
		const uint8_t *bytes;

		if (!ktread_proc_want(&trace->input, at + KTREAD_PROC_MARKED_LEAST))
			break;
		bytes = ktread_proc_bytes(&trace->input) + at;
		if (!ktread_proc_ktrx_is_record(bytes) && !ktread_proc_ktrx_is_magic(bytes))
			continue;
		belief = believe(trace, at);
		if (belief != NO)
			break;
	}
	*found = at;
	return belief == YES;
}

/*
 * Steps over damage to the next place at which reading can continue. Returns an error that reports the
 * damage. Returns 0 if this place may be in bytes that have not arrived yet.
 */
static int step_over(struct ktread_proc *trace)
{
	struct ktread_proc_input *input = &trace->input;
	bool whole, seen;

	do {
		size_t found;

		seen = find(trace, 0, KTREAD_PROC_CHUNK, 1, &found);
		whole = found == KTREAD_PROC_CHUNK;
		ktread_proc_skip(input, found);
	} while (!seen && whole);
	if (!seen && ktread_proc_may_grow(input))
		return 0;
	if (!seen)
		ktread_proc_skip(input, ktread_proc_at_hand(input));
	trace->damaged = false;
	trace->info.skipped += input->offset - trace->damage;
	trace->ended = !seen;
	return ktread_fail(KTREAD_E_FORMAT, "%s: offset %" PRIu64 ": damaged: %" PRIu64 " bytes skipped%s",
			   input->name, trace->damage, input->offset - trace->damage,
			   seen ? "" : ", up to the end");
}

/*
 * Starts stepping over damage at the input's current position. At least the first `known` bytes are damaged.
 */
static int begin_damage(struct ktread_proc *trace, size_t known)
{
	trace->damaged = true;
	trace->damage = trace->input.offset;
	ktread_proc_skip(&trace->input, known);
	return step_over(trace);
}

/* Processes the head of a session, and the TABLE records right after it. */
static int take_head(struct ktread_proc *trace)
{
	struct ktrx_proc_head head;

	memcpy(&head, ktread_proc_bytes(&trace->input), sizeof(head));
	if (head.version != KTRX_PROC_VERSION) {
		trace->ended = true;
		return ktread_fail(KTREAD_E_UNSUPPORTED,
				   "%s: offset %" PRIu64 ": process trace of version %" PRIu32
				   "; this program reads version %u",
				   trace->input.name, trace->input.offset, head.version, KTRX_PROC_VERSION);
	}
	if (!ktread_proc_want(&trace->input, head.head_size))
		return ktread_proc_cut_short(trace, head.head_size);
	trace->record_head = head.record_head;
	trace->info.heads++;
	trace->info.frequency = ktread_frequency(0, head.frequency);
	if (head.frequency && !trace->info.frequency)
		trace->info.impossible_frequency = head.frequency;
	trace->info.nonce = head.nonce;
	trace->info.wall_stamp = head.wall_stamp;
	trace->info.wall_ns = head.wall_ns;
	trace->info.machine = head.machine;
	trace->info.address_size = head.machine == EM_386 || head.machine == EM_ARM ? 4 : 8;
	ktread_proc_processes_forget(&trace->processes);
	ktread_proc_skip(&trace->input, head.head_size);
	ktread_proc_table_clear(trace);
	ktread_proc_table_gather(trace);
	return 1;
}

/*
 * Sets the process name of the record. If the record itself contains the name, remembers it for later records
 * of the process.
 */
static void name_record(struct ktread_proc *trace)
{
	struct ktread_proc_record *record = &trace->record;
	const struct ktread_proc_process *process;

	if (record->type == KTRX_PROC_NAME || (record->type == KTRX_PROC_PROCCTOR && record->data_size)) {
		struct ktread_proc_process *named = ktread_proc_process_enter(&trace->processes, record->pid);

		if (named)
			ktread_proc_set_name(named->name, record->data, record->data_size);
	}
	process = ktread_proc_process_find(&trace->processes, record->pid);
	if (process)
		memcpy(record->name, process->name, sizeof(record->name));
	else
		record->name[0] = '\0';
}

/*
 * Fills in trace->record from the record at the input's current position. `payload` is the number of payload
 * bytes that are available.
 */
static inline __attribute__((always_inline)) void present(struct ktread_proc *trace, uint32_t payload)
{
	struct ktread_proc_record *record = &trace->record;
	const uint8_t *bytes = ktread_proc_bytes(&trace->input);
	const struct ktread_proc_ktrx_record *head = (const struct ktread_proc_ktrx_record *)bytes;

	record->offset = trace->input.offset;
	record->stamp = head->is.stamp;
	record->lost = head->is.lost;
	record->pid = head->is.pid;
	record->tid = head->is.tid;
	record->cpu = head->is.cpu == KTRX_PROC_NO_CPU ? KTREAD_PROC_NOBODY : head->is.cpu;
	record->type = record->raw = head->is.type;
	record->flags = head->is.flags;
	ktread_proc_set_payload(record, bytes + trace->record_head, payload);
	record->torn = payload < head->is.size;
	record->payload_offset = record->offset + trace->record_head;
	if (!ktread_proc_ktrx_payload(trace)) {
		record->type = KTREAD_PROC_BROKEN;
		ktread_proc_set_data(record, 0);
	}
	name_record(trace);
	if (record->type == KTRX_PROC_TABLE)
		ktread_proc_table_add(trace, record->offset, record->data, record->data_size);
}

/*
 * Follows the chain of records that begins at *at, within another record that ends at `until`. Returns true
 * if the chain reaches `until`, passes it, or reaches the end of the file. Otherwise returns false, and *at
 * is the last record of the chain.
 *
 * A chain may also be a trace that a program has written as data. But then the chain ends within the payload,
 * unless the end of the file truncates both.
 */
static bool lead_on(struct ktread_proc *trace, size_t *at, size_t until)
{
	enum place place = place_at(trace, *at);

	for (;;) {
		size_t next = *at + size_at(trace, *at, place);

		place = place_at(trace, next);
		if (place == NOTHING || place == PART || place == BEYOND)
			return false;
		if (next >= until || place == END)
			return true;
		*at = next;
	}
}

/*
 * Searches for a chain of records within the record at the input's current position. Examines each record
 * only once, even if many chains lead nowhere.
 */
static bool find_within(struct ktread_proc *trace, size_t size, size_t step, size_t *found)
{
	size_t at = step;

	while (find(trace, at, size, step, found)) {
		at = *found;
		if (lead_on(trace, &at, size))
			return true;
		at += step;
	}
	return false;
}

/*
 * Called if a record is truncated by the end of the input. If the caller wants incomplete records, returns 1
 * with the available part of the record; the next call then returns the error. Otherwise this call returns
 * the error.
 */
static __attribute__((noinline)) int take_torn(struct ktread_proc *trace, size_t size)
{
	const size_t there = ktread_proc_at_hand(&trace->input);
	const size_t payload = there > trace->record_head ? there - trace->record_head : 0;

	if (!trace->options.torn || trace->input.failed || !payload)
		return ktread_proc_cut_short(trace, size);
	/* the payload is complete if only the padding is missing */
	present(trace, payload < payload_at(trace, 0) ? (uint32_t)payload : payload_at(trace, 0));
	trace->torn = size;
	return 1;
}

/*
 * Processes the record at the input's current position, whose mark and size are possible. Returns 1 with a
 * record, 0 if the record is not complete yet, or an error.
 */
static int take_record(struct ktread_proc *trace)
{
	const size_t size = size_at(trace, 0, RECORD);
	const enum place next = place_after(trace, size);
	size_t found;

	if (next == BEYOND && ktread_proc_may_grow(&trace->input))
		return 0;
	if (next == BEYOND || next == NOTHING) {
		if (find_within(trace, size, 1, &found))
			return begin_damage(trace, found);
	} else if (ktread_proc_ktrx_is_doubtful(trace)) {
		if (find_within(trace, size, ALIGNMENT, &found))
			return begin_damage(trace, found);
	}
	if (next == BEYOND)
		return take_torn(trace, size);
	present(trace, payload_at(trace, 0));
	trace->used = size;
	trace->known = next == RECORD;
	return 1;
}

/* Returns how many bytes are needed to decide what begins at the input's current position. */
static uint64_t wanted(const struct ktread_proc *trace)
{
	const struct ktread_proc_input *input = &trace->input;

	if (ktread_proc_at_hand(input) >= 4 && ktread_proc_ktrx_is_magic(ktread_proc_bytes(input)))
		return sizeof(struct ktrx_proc_head);
	return sizeof(struct ktrx_proc_record);
}

/*
 * Reads records and heads of sessions, beginning at the input's current position, until a record is complete.
 * Returns what ktread_proc_reader.next() returns.
 */
static int next_place(struct ktread_proc *trace)
{
	for (;;) {
		int status;

		switch (place_at(trace, 0)) {
		case RECORD:
			if (!ktread_proc_want(&trace->input, trace->record_head))
				return ktread_proc_cut_short(trace, trace->record_head);
			return take_record(trace);
		case HEAD:
			status = take_head(trace);
			if (status <= 0)
				return status;
			break;
		case NOTHING:
			return begin_damage(trace, 1);
		case PART:
			return ktread_proc_cut_short(trace, wanted(trace));
		default:
			return 0;
		}
	}
}

static int next_record(struct ktread_proc *trace, const struct ktread_proc_reader *reader)
{
	(void)reader;
	if (trace->torn)
		return ktread_proc_cut_short(trace, trace->torn);
	if (trace->damaged)
		return step_over(trace);
	if (!trace->known)
		return next_place(trace);
	trace->known = false;
	if (!ktread_proc_want(&trace->input, trace->record_head))
		return ktread_proc_cut_short(trace, trace->record_head);
	return take_record(trace);
}

static int begin(struct ktread_proc *trace)
{
	trace->record_head = sizeof(struct ktrx_proc_record);
	trace->known = false;
	ktread_proc_table_clear(trace);
	return place_at(trace, 0) == HEAD ? take_head(trace) : 0;
}

const struct ktread_proc_reader ktread_proc_ktrx = {
	.format = KTREAD_PROC_KTRX,
	.name = "ktrx",
	.address_size = 8,
	.begin = begin,
	.next = next_record,
};
