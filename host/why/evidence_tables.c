/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a trace carries beside its events: the kernel's tables of state, and the host's note. */
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/rules.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"

#define SILENCE_MOST 1e6    /* s */
#define TICKS_MOST   0x1p62 /* what is more is no time */

static bool says_yes(const char *text, const char *key)
{
	size_t length;
	const char *value = note_find(text, key, &length);

	return value && length == 3 && memcmp(value, "yes", 3) == 0;
}

uint64_t why_silent_ticks(const struct why_evidence *evidence)
{
	bool more;
	const double seconds = note_silence(evidence->info->note, &more);
	const double ticks = seconds * (double)evidence->info->frequency;

	return seconds > 0 && seconds < SILENCE_MOST && ticks < TICKS_MOST ? (uint64_t)ticks : 0;
}

void why_note(struct why_evidence *evidence)
{
	const char *note = evidence->info->note;
	size_t length;
	const char *ended = note_find(note, "ended", &length);

	if (ended) {
		if (length >= sizeof(evidence->ended))
			length = sizeof(evidence->ended) - 1;
		memcpy(evidence->ended, ended, length);
	}
	evidence->stalled = says_yes(note, "stalled");
	evidence->reset = says_yes(note, "reset");
	evidence->went_on = note_silence(note, &evidence->stood_before) == 0;
}

/* ---- The kernel's tables ------------------------------------------------------------------------- */

#define ROWS 64u /* read at once */

/*
 * The return to user mode turns interrupts on, and no hook can be called there. So what the last hook said is
 * out of date.
 */
static void doubt_interrupts(struct ktrx_cpu *row)
{
	if (row->mode == KTRX_MODE_USER && row->interrupts == KTRX_INTERRUPTS_OFF)
		row->interrupts = KTRX_INTERRUPTS_UNKNOWN;
}

static int read_cpus(struct why_evidence *evidence)
{
	uint32_t called = 0;
	int got = 0;

	for (uint32_t n = 0;
	     n < evidence->cpus && (got = ktread_cpus(evidence->trace, n, &evidence->cpu[n].row, 1)) == 1;
	     n++) {
		struct ktrx_cpu *row = &evidence->cpu[n].row;

		row->thread &= KTRX_THREAD_MAX;
		row->broken_thread &= KTRX_THREAD_MAX;
		doubt_interrupts(row);
		evidence->cpu[n].has_row = true;
		called |= row->hooks;
		evidence->idling_told |= row->mode == KTRX_MODE_IDLE;
		evidence->switched |= row->switches > 0;
		if (row->heartbeats > evidence->most_beats)
			evidence->most_beats = row->heartbeats;
	}
	evidence->missing_hooks = WHY_ALL_HOOKS & ~called;
	evidence->state_off = rules_state_is_off(evidence->trace);
	evidence->exits_told = called & KTRX_HOOK_EXIT;
	return got < 0 ? got : 0;
}

static int take_holder(struct why_reader *reader, const struct ktrx_holder *holder)
{
	struct why_evidence *evidence = reader->evidence;
	const uint32_t cpu = holder->id & ~KTRX_HOLDER_CPU;
	struct why_thread *thread;

	if (holder->id & KTRX_HOLDER_CPU) {
		if (cpu < evidence->cpus) {
			evidence->cpu[cpu].holder = *holder;
			evidence->cpu[cpu].has_holder = true;
		}
	} else if (holder->id) {
		thread = why_thread_touch(reader, holder->id - 1);
		if (thread) {
			thread->holder = *holder;
			thread->has_holder = true;
			evidence->blocks_told |= holder->state == KTRX_THREAD_WAITING;
		}
		evidence->left_out += !thread && !reader->error;
	}
	evidence->times_told |= holder->id && (holder->deadline || holder->wait == KTRX_WAIT_TIME);
	if (reader->error || holder->wait == KTRX_WAIT_NONE || holder->wait == KTRX_WAIT_THREAD)
		return reader->error;
	return why_object_touch(evidence, holder->object, holder->object_name,
				strnlen(holder->object_name, sizeof(holder->object_name)));
}

static int read_holders(struct why_reader *reader)
{
	struct ktrx_holder *rows = malloc(ROWS * sizeof(*rows));
	int got, error = rows ? 0 : KTREAD_E_MEMORY;

	for (uint32_t first = 0; !error; first += ROWS) {
		got = ktread_holders(reader->evidence->trace, first, rows, ROWS);
		for (int n = 0; n < got && !error; n++)
			error = take_holder(reader, &rows[n]);
		if (got < (int)ROWS) {
			error = error ? error : got < 0 ? got : 0;
			break;
		}
	}
	free(rows);
	return error;
}

int why_tables(struct why_reader *reader)
{
	int error = read_cpus(reader->evidence);

	return error ? error : read_holders(reader);
}
