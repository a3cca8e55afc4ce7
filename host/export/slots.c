/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Prints what `ktrace show --hex` shows:
 *
 *	sched.switch 5 -> 6
 *	  ring 1 index 0x14000 slot 0: SINGLE generation 10 event 7 timestamp 0x3a1b2c thread 5 context 0
 *	    00  51 00 07 00  c0 b2 a1 03  05 00 00 14  05 00 00 00
 *	    10  06 00 00 00  …
 *
 * After the reader has returned the event, its slots are read again. In a running guest, a newer record may
 * have overwritten them; they then have another generation.
 */
#include "export/timeline.h"

#include <inttypes.h>

#include "analyze/event_name.h"
#include "ktrx/slot.h"

#define TEXT_MAX 1024u

static const char *const kind_names[] = { "EMPTY", "SINGLE", "FIRST",  "MORE",
					  "LAST",  "VOID",   "kind 6", "kind 7" };

static uint64_t word_at(const unsigned char *slot, unsigned n)
{
	uint64_t word = 0;

	for (unsigned byte = 8; byte-- > 0;)
		word = word << 8 | slot[n * 8 + byte];
	return word;
}

static void write_bytes(struct base_output *out, const unsigned char *slot)
{
	for (unsigned row = 0; row < KTRX_SLOT_SIZE; row += 16) {
		base_output_format(out, "    %02x", row);
		for (unsigned at = row; at < row + 16; at++)
			base_output_format(out, at % 4 ? " %02x" : "  %02x", slot[at]);
		base_output_text(out, "\n");
	}
}

/* Prints a slot. Returns the kind of the slot. */
static uint32_t write_slot(struct base_output *out, const unsigned char *slot)
{
	uint64_t w0 = word_at(slot, 0), w1 = word_at(slot, 1);
	uint32_t kind = KTRX_TAG_KIND(w0);

	base_output_format(out, "%s generation %u", kind_names[kind], KTRX_TAG_GENERATION(w0));
	if (kind == KTRX_KIND_SINGLE || kind == KTRX_KIND_FIRST)
		base_output_format(out, " event %u stamp %#" PRIx64 " thread %u context %u%s",
				   KTRX_W0_EVENT(w0), KTRX_W0_STAMP(w0), KTRX_W1_THREAD(w1),
				   KTRX_W1_CONTEXT(w1), KTRX_W1_EXTENDED(w1) ? " extended" : "");
	else if (kind == KTRX_KIND_MORE || kind == KTRX_KIND_LAST)
		base_output_format(out, " check %u", KTRX_TAG_CHECK(w0));
	base_output_text(out, "\n");
	write_bytes(out, slot);
	return kind;
}

static void write_slots(struct timeline *timeline, const struct ktread_event *event)
{
	unsigned char slot[KTRX_SLOT_SIZE];
	uint32_t kind = KTRX_KIND_MORE;

	for (uint32_t n = 0; n < KTRX_RECORD_MAX_SLOTS; n++) {
		if (ktread_slot(timeline->trace, event->ring, event->index + n, slot) != 0)
			return;
		base_output_format(timeline->out, "  ring %u index %#" PRIx64 " slot %u: ", event->ring,
				   event->index + n, n);
		kind = write_slot(timeline->out, slot);
		if (kind != KTRX_KIND_FIRST && kind != KTRX_KIND_MORE)
			return;
	}
}

static void write_event(struct timeline *timeline, const struct ktread_event *event)
{
	char *at = analyze_event_name_put(base_output_line(timeline->out), event->type);

	*at++ = ' ';
	at += ktread_format(event, at, TEXT_MAX);
	*at++ = '\n';
	base_output_done(timeline->out, at);
	write_slots(timeline, event);
}

int slots_write(struct timeline *timeline)
{
	const struct ktread_event *event;
	int status;

	while ((status = ktread_next(timeline->trace, &event)) > 0 && !timeline->out->error) {
		write_event(timeline, event);
		if (++timeline->shown == timeline->limit)
			break;
	}
	return status;
}
