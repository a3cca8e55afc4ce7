/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Checks the protocol of records with two slots, a first slot and a continuation slot, in all interleavings.
 * ring_model.c does this for records with one slot, and describes the writers A and B. Here A writes a record
 * with two slots. B writes records with one and with two slots, so a slot that was a continuation in one lap
 * may be a first slot in the next lap. All checks are ideal: a check contains all values that a real check
 * is computed from, so it detects every mixture.
 *
 *	P1  No record is accepted unless all of its words are those of the record that belongs there.
 *	P2  As long as no writer is delayed by a lap, P1 holds even if the reader ignores the checks.
 *	P3  Afterwards each record of the window can be read, except if a writer delayed by a lap has stored
 *	    into its slots since they were reserved.
 *	P4  As long as no writer is delayed by a lap, a reader that finds the first slot of a record also
 *	    finds its continuation slot.
 *
 * Then each step is left out or weakened in turn, and one of the properties must fail.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_support.h"
#include "unit/support/state_search.h"

#define SLOTS_MOST  4u
#define GENERATIONS 2u
#define INDEXES	    16u
#define RECORDS	    4u /* maximum number of records of B */

/* The words of a record: payload and tag of its first slot (0) and of its continuation slot (1). */
enum words { PAYLOAD1 = 1, TAG1 = 2, PAYLOAD0 = 4, TAG0 = 8 };
enum kinds { EMPTY, SINGLE, FIRST, LAST };

/* Mutations of the protocol. Each mutation leaves out or weakens one step. */
enum {
	NOTHING,
	RESERVE_ONCE,	  /* the writer reserves each of its slots with a separate addition */
	FIRST_LAST,	  /* the first slot may be published before the continuation slot is stored */
	CHECKS,		  /* the reader does not verify checks */
	COVER,		  /* checks do not cover the continuation slot */
	OWN_CHECK,	  /* the reader does not verify the check of the continuation slot */
	REST,		  /* the check of the first slot does not cover the continuation slot */
	MORE_GENERATION,  /* the reader does not verify the generation of the continuation slot */
	MORE_UNSEEN,	  /* OWN_CHECK, REST and MORE_GENERATION together */
	UNFINISHED_MORE,  /* FIRST_LAST and MORE_GENERATION together */
	LOAD_ORDER,	  /* the payload of the continuation slot may be loaded before all tags */
	SECOND_LOOK,	  /* the reader does not read the head again */
	LOOK_BEFORE_MORE, /* the reader reads the head again before it has copied the continuation slot */
	WINDOW_OF_LAST,	  /* the reader accepts a record if its last slot is in the window */
};

struct model {
	bool nested, weak;
	unsigned left_out, slots;
	uint8_t length[RECORDS + 1]; /* numbers of slots of B's records; 0 ends the list */
};

/* The contents of a check. In a first slot, `rest` and `rest_lap` are from the continuation slot. */
struct check {
	uint8_t payload, lap, rest, rest_lap;
};

/* The payload of slot n is n + 1, so it is different in all slots of all laps. */
struct slot {
	uint8_t kind, generation;
	struct check check;
	uint8_t payload;
};

struct writer {
	/* `index`: indexes of the slots; `reserved`: number of slots that were reserved so far */
	uint8_t index[2], reserved, length, pending, done;
};

struct reader {
	uint8_t busy, index, read, looked, overtaken;
	struct slot copy[2];
};

struct state {
	uint8_t head, any_lapped;
	uint8_t length[INDEXES];     /* by index: number of slots of the record that begins there, or 0 */
	uint8_t spoiled[SLOTS_MOST]; /* the same member as in ring_model.c */
	struct slot slot[SLOTS_MOST];
	struct writer writer[2];
	struct reader reader;
};

struct verdict {
	uint64_t states, mixed, mixed_without_check, lost, unfinished;
};

static const struct model *model;
static struct verdict verdict;

static bool is_left_out(unsigned what)
{
	if (model->left_out == COVER)
		return what == OWN_CHECK || what == REST;
	if (model->left_out == MORE_UNSEEN)
		return what == OWN_CHECK || what == REST || what == MORE_GENERATION;
	if (model->left_out == UNFINISHED_MORE)
		return what == FIRST_LAST || what == MORE_GENERATION;
	return model->left_out == what;
}

static uint8_t lap_of(uint8_t index)
{
	return (uint8_t)(index / model->slots);
}

static bool is_lapped(const struct state *state, uint8_t index)
{
	return state->head - index > (int)model->slots;
}

/* ---- The reader ---- */

static bool same(const struct check *a, const struct check *b)
{
	return is_left_out(CHECKS) || memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_generation(const struct slot *slot, uint8_t index)
{
	return slot->generation == lap_of(index) % GENERATIONS;
}

static bool is_more(const struct slot *slot, uint8_t index, bool checked)
{
	const struct check check = { slot->payload, lap_of(index), 0, 0 };

	return slot->kind == LAST && (is_generation(slot, index) || is_left_out(MORE_GENERATION)) &&
	       (!checked || is_left_out(OWN_CHECK) || same(&slot->check, &check));
}

static bool is_accepted(const struct slot *slot, uint8_t index, bool checked)
{
	struct check check = { slot[0].payload, lap_of(index), 0, 0 };

	if ((slot[0].kind != SINGLE && slot[0].kind != FIRST) || !is_generation(&slot[0], index))
		return false;
	if (slot[0].kind == FIRST && !is_left_out(REST)) {
		check.rest = slot[1].payload;
		check.rest_lap = lap_of((uint8_t)(index + 1));
	}
	return (slot[0].kind == SINGLE || is_more(&slot[1], (uint8_t)(index + 1), checked)) &&
	       (!checked || same(&slot[0].check, &check));
}

static bool is_record(const struct state *state, const struct slot *slot, uint8_t index)
{
	return state->length[index] == (slot[0].kind == FIRST ? 2 : 1) && slot[0].payload == index + 1 &&
	       (slot[0].kind == SINGLE || slot[1].payload == index + 2);
}

/* Checks P1, P2 and P4 for a record that was read. */
static void judge(const struct state *state, const struct slot *slot, uint8_t index)
{
	verdict.unfinished += !state->any_lapped && slot[0].kind == FIRST && is_generation(&slot[0], index) &&
			      !is_accepted(slot, index, false);
	if (is_record(state, slot, index))
		return;
	verdict.mixed += is_accepted(slot, index, true);
	verdict.mixed_without_check += !state->any_lapped && is_accepted(slot, index, false);
}

static void copy_word(const struct state *state, struct reader *reader, uint8_t word)
{
	const unsigned n = word & (PAYLOAD1 | TAG1) ? 1 : 0;
	const struct slot *from = &state->slot[(reader->index + n) % model->slots];
	struct slot *to = &reader->copy[n];

	if (word & (PAYLOAD0 | PAYLOAD1)) {
		to->payload = from->payload;
	} else {
		to->kind = from->kind;
		to->generation = from->generation;
		to->check = from->check;
	}
	reader->read |= word;
}

static bool may_load(const struct reader *reader, uint8_t word)
{
	const uint8_t read = reader->read;

	if (read & word)
		return false;
	switch (word) {
	case TAG0:
		return true;
	case PAYLOAD0:
		return read & TAG0;
	case TAG1:
		return reader->copy[0].kind == FIRST && (model->weak || read & PAYLOAD0);
	default:
		return read & TAG1 || is_left_out(LOAD_ORDER);
	}
}

static bool has_all(const struct reader *reader)
{
	const uint8_t most = reader->copy[0].kind == FIRST    ? TAG0 | PAYLOAD0 | TAG1 | PAYLOAD1
			     : reader->copy[0].kind == SINGLE ? TAG0 | PAYLOAD0
							      : TAG0;

	return (reader->read & most) == most;
}

static bool look_again(const struct state *state, struct reader *reader)
{
	const unsigned more = is_left_out(WINDOW_OF_LAST) && reader->copy[0].kind == FIRST;

	reader->overtaken = state->head - (reader->index + more) > model->slots;
	reader->looked = 1;
	return true;
}

/* Does one of the reader's possible steps. Returns false if `choice` is not a possible step. */
static bool read_step(void *at, unsigned choice)
{
	struct state *state = at;
	struct reader *reader = &state->reader;
	const uint8_t oldest = state->head > model->slots ? (uint8_t)(state->head - model->slots) : 0;

	if (!reader->busy) {
		if (choice >= model->slots || oldest + choice >= state->head)
			return false;
		reader->busy = 1;
		reader->index = (uint8_t)(oldest + choice);
		return true;
	}
	if (has_all(reader)) {
		if (choice > 0)
			return false;
		if (!reader->looked && !is_left_out(SECOND_LOOK))
			return look_again(state, reader);
		if (!reader->overtaken && reader->copy[0].kind != LAST)
			judge(state, reader->copy, reader->index);
		memset(reader, 0, sizeof(*reader));
		return true;
	}
	if (choice == 4 && is_left_out(LOOK_BEFORE_MORE) && !reader->looked && reader->read & PAYLOAD0)
		return look_again(state, reader);
	if (choice >= 4 || !may_load(reader, (uint8_t)(1u << choice)))
		return false;
	copy_word(state, reader, (uint8_t)(1u << choice));
	return true;
}

/* ---- The writers ---- */

static void reserve(struct state *state, struct writer *writer, unsigned slots)
{
	if (writer->reserved == 0)
		state->length[state->head] = writer->length;
	for (unsigned n = 0; n < slots; n++) {
		writer->index[writer->reserved++] = state->head;
		state->spoiled[state->head % model->slots] = 0;
		state->head++;
	}
	if (writer->reserved == writer->length)
		writer->pending = writer->length == 1 ? PAYLOAD0 | TAG0 : PAYLOAD1 | TAG1 | PAYLOAD0 | TAG0;
}

static void store(struct state *state, struct writer *writer, uint8_t word)
{
	const unsigned n = word & (PAYLOAD1 | TAG1) ? 1 : 0;
	const uint8_t index = writer->index[n];
	struct slot *slot = &state->slot[index % model->slots];

	state->spoiled[index % model->slots] |= is_lapped(state, index);
	writer->pending &= (uint8_t)~word;
	if (word & (PAYLOAD0 | PAYLOAD1)) {
		slot->payload = (uint8_t)(index + 1);
		return;
	}
	slot->kind = n ? LAST : writer->length == 1 ? SINGLE : FIRST;
	slot->generation = lap_of(index) % GENERATIONS;
	slot->check = (struct check){ (uint8_t)(index + 1), lap_of(index), 0, 0 };
	if (slot->kind == FIRST && !is_left_out(REST)) {
		slot->check.rest = (uint8_t)(writer->index[1] + 1);
		slot->check.rest_lap = lap_of(writer->index[1]);
	}
}

static bool may_store(const struct writer *writer, uint8_t word)
{
	const bool early = model->weak || is_left_out(FIRST_LAST);

	if (!(writer->pending & word))
		return false;
	switch (word) {
	case PAYLOAD1:
		return true;
	case TAG1:
		return !(writer->pending & PAYLOAD1);
	case PAYLOAD0:
		return early || !(writer->pending & (PAYLOAD1 | TAG1));
	default:
		return writer->pending == TAG0 || (is_left_out(FIRST_LAST) && !(writer->pending & PAYLOAD0));
	}
}

/* Does one of writer n's possible steps. Returns false if `choice` is not a possible step. */
static bool write_step(struct state *state, unsigned n, unsigned choice)
{
	struct writer *writer = &state->writer[n];
	const uint8_t *lengths = n ? model->length : (const uint8_t[]){ 2, 0 };

	if (model->nested && n == 0 && state->writer[1].length)
		return false; /* B interrupts A, so A does not run until B ends */
	if (writer->pending) {
		if (choice >= 4 || !may_store(writer, (uint8_t)(1u << choice)))
			return false;
		store(state, writer, (uint8_t)(1u << choice));
		if (writer->pending == 0)
			*writer = (struct writer){ .done = (uint8_t)(writer->done + 1) };
		return true;
	}
	if (choice > 0 || (!writer->length && !lengths[writer->done]))
		return false;
	writer->length = lengths[writer->done];
	reserve(state, writer, is_left_out(RESERVE_ONCE) ? 1 : writer->length);
	return true;
}

/* ---- Search of all states ---- */

static void note_laps(struct state *state)
{
	for (unsigned n = 0; n < 2; n++)
		state->any_lapped |= state->writer[n].pending && is_lapped(state, state->writer[n].index[0]);
}

/* Checks all properties after all writers have finished. */
static void judge_rest(const void *at_rest)
{
	const struct state *state = at_rest;
	const uint8_t oldest = state->head > model->slots ? (uint8_t)(state->head - model->slots) : 0;

	for (uint8_t index = oldest; index < state->head; index++) {
		struct slot slot[2] = { state->slot[index % model->slots], { 0 } };
		bool spoiled = state->spoiled[index % model->slots];

		if (index + 1 < state->head) {
			slot[1] = state->slot[(index + 1) % model->slots];
			spoiled |= state->length[index] == 2 && state->spoiled[(index + 1) % model->slots];
		}
		judge(state, slot, index);
		verdict.lost += state->length[index] && !spoiled &&
				!(is_accepted(slot, index, true) && is_record(state, slot, index));
	}
}

static bool write_and_note(void *state, unsigned writer, unsigned choice)
{
	if (!write_step(state, writer, choice))
		return false;
	note_laps(state);
	return true;
}

static struct state_search search = {
	.size = sizeof(struct state),
	.write_choices = 4,
	.read_choices = 5,
	.write = write_and_note,
	.read = read_step,
	.rest = judge_rest,
};

static struct verdict run(const struct model *chosen)
{
	struct state start;

	model = chosen;
	memset(&verdict, 0, sizeof(verdict));
	memset(&start, 0, sizeof(start));
	state_search_run(&search, &start);
	verdict.states = search.states;
	return verdict;
}

static const struct model orders[] = {
	{ .nested = true, .weak = true, .slots = 2, .length = { 2, 2, 2 } },
	{ .nested = true, .weak = true, .slots = 4, .length = { 1, 2, 2, 2 } },
	{ .nested = false, .weak = false, .slots = 2, .length = { 2, 2, 2 } },
	{ .nested = false, .weak = false, .slots = 4, .length = { 1, 2, 2 } },
	{ .nested = false, .weak = true, .slots = 2, .length = { 2, 2 } },
	{ .nested = false, .weak = true, .slots = 2, .length = { 1, 2, 1 } },
};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

static void records_of_two_slots_are_never_mixed(void **state)
{
	(void)state;
	for (unsigned n = 0; n < ORDERS; n++) {
		struct verdict found = run(&orders[n]);

		print_message("%u slots, %s, %s: %llu states\n", orders[n].slots,
			      orders[n].nested ? "nested" : "free",
			      orders[n].weak ? "weakly ordered" : "in order",
			      (unsigned long long)found.states);
		assert_int_equal(found.mixed, 0);
		assert_int_equal(found.mixed_without_check, 0);
		assert_int_equal(found.lost, 0);
		assert_int_equal(found.unfinished, 0);
	}
}

/* Leaves out or weakens one step. Returns true if the counter then becomes nonzero in some interleaving. */
static bool fails_without(unsigned step, const uint64_t *counter)
{
	memset(&verdict, 0, sizeof(verdict));
	search.wanted = counter;
	for (unsigned n = 0; n < ORDERS && *counter == 0; n++) {
		struct model chosen = orders[n];

		chosen.left_out = step;
		run(&chosen);
	}
	search.wanted = NULL;
	return *counter > 0;
}

static void needed(unsigned step, const uint64_t *counter)
{
	if (!fails_without(step, counter))
		fail_msg("nothing fails without step %u", step);
}

static void no_step_of_writing_can_be_left_out(void **state)
{
	(void)state;
	needed(RESERVE_ONCE, &verdict.lost);
	needed(FIRST_LAST, &verdict.unfinished);
	needed(UNFINISHED_MORE, &verdict.mixed_without_check);
}

static void no_step_of_reading_can_be_left_out(void **state)
{
	(void)state;
	needed(LOAD_ORDER, &verdict.mixed_without_check);
	needed(SECOND_LOOK, &verdict.mixed_without_check);
	needed(LOOK_BEFORE_MORE, &verdict.mixed_without_check);
	needed(WINDOW_OF_LAST, &verdict.mixed_without_check);
}

static void a_check_must_cover_the_continuation(void **state)
{
	(void)state;
	needed(CHECKS, &verdict.mixed);
	needed(COVER, &verdict.mixed);
	needed(MORE_UNSEEN, &verdict.mixed);
}

/*
 * A reader verifies the continuation slot in three ways. If checks are ideal, two of these ways are enough.
 * But real checks have few bits, so three ways miss fewer mixtures than two.
 */
static void the_continuation_is_verified_more_than_once(void **state)
{
	static const unsigned steps[] = { OWN_CHECK, REST, MORE_GENERATION };

	(void)state;
	for (unsigned n = 0; n < sizeof(steps) / sizeof(steps[0]); n++)
		assert_false(fails_without(steps[n], &verdict.mixed));
}

static int open_search(void **state)
{
	(void)state;
	return state_search_open(&search);
}

static int close_search(void **state)
{
	(void)state;
	state_search_close(&search);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_two_slots_are_never_mixed),
		cmocka_unit_test(no_step_of_writing_can_be_left_out),
		cmocka_unit_test(no_step_of_reading_can_be_left_out),
		cmocka_unit_test(a_check_must_cover_the_continuation),
		cmocka_unit_test(the_continuation_is_verified_more_than_once),
	};

	return cmocka_run_group_tests_name("ring model of long records", tests, open_search, close_search);
}
