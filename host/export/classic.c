/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/put.h"
#include "base/ticks.h"
#include "export/timeline.h"
#include "ktrx/v1.h"

/*
 * The timeline may have millions of lines, so text that occurs often is cached: names of events and system
 * calls, reasons of page faults. A copy always copies RENDERED bytes, and then advances the position only by
 * the length of the text.
 */

#define EVENTS	    (KTRX1_MAX_EVENT + 1u)
#define RENDERED    40u
#define REASONS	    32u
#define CPU_COLUMNS 9u
#define PID_COLUMNS 5u

/*
 * How to print one 32-bit word of an event's data. The text of an event is a series of labels, each of which
 * is followed by one word.
 */
enum kind { DECIMAL, HEX, ADDRESS };

struct piece {
	char label[13];
	uint8_t length; /* length of the label; 0 ends the series */
	uint8_t kind;
	uint8_t word;
};
#define PIECE(kind, word, label)                     \
	{                                            \
		label, sizeof(label) - 1, kind, word \
	}

struct form {
	uint16_t event;
	/* number of fields that the event type must have; needed to distinguish layouts; 0: any number */
	uint8_t fields;
	struct piece piece[6];
};

static const struct form plain_words = {
	.event = KTRX1_MAX_EVENT,
	.piece = { PIECE(HEX, 0, "d0=0x"), PIECE(HEX, 1, " d1=0x"), PIECE(HEX, 2, " d2=0x"),
		   PIECE(HEX, 3, " d3=0x"), PIECE(HEX, 4, " d4=0x") },
};

/*
 * put_data() has special code for the first five events, because they are frequent. An event that is not in
 * this list is printed as in plain_words.
 */
static const struct form forms[] = {
	{ .event = KTRX1_SYSCALL_ENTER },
	{ .event = KTRX1_SYSCALL_EXIT },
	{ .event = KTRX1_CTX_SWITCH },
	{ .event = KTRX1_PAGE_FAULT, .fields = 2 },
	{ .event = KTRX1_PAGE_FAULT, .fields = 3 },
	{ KTRX1_WAITQ_SLEEP, 0, { PIECE(HEX, 0, "waitq=0x") } },
	{ KTRX1_WAITQ_WAKE, 0, { PIECE(HEX, 0, "waitq=0x"), PIECE(DECIMAL, 1, " woken=") } },
	{ KTRX1_NET_CONNECT, 2, { PIECE(ADDRESS, 0, "ip="), PIECE(DECIMAL, 1, " port=") } },
	{ KTRX1_NET_CONNECT,
	  4,
	  { PIECE(DECIMAL, 0, "fd="), PIECE(ADDRESS, 1, " ip="), PIECE(DECIMAL, 2, " port="),
	    PIECE(DECIMAL, 3, " result=") } },
	{ KTRX1_NET_SEND, 1, { PIECE(DECIMAL, 0, "len=") } },
	{ KTRX1_NET_SEND,
	  3,
	  { PIECE(DECIMAL, 0, "fd="), PIECE(DECIMAL, 1, " len="), PIECE(DECIMAL, 2, " result=") } },
	{ KTRX1_NET_RECV, 1, { PIECE(DECIMAL, 0, "len=") } },
	{ KTRX1_NET_RECV,
	  3,
	  { PIECE(DECIMAL, 0, "fd="), PIECE(DECIMAL, 1, " len="), PIECE(DECIMAL, 2, " result=") } },
	{ KTRX1_NET_POLL, 1, { PIECE(HEX, 0, "events=0x") } },
	{ KTRX1_NET_POLL, 3, { PIECE(DECIMAL, 0, "fd="), PIECE(HEX, 2, " revents=0x") } },
	{ KTRX1_NET_RX_PACKET, 0, { PIECE(DECIMAL, 0, "frame_len=") } },
	{ KTRX1_NET_TX_PACKET, 0, { PIECE(DECIMAL, 0, "frame_len=") } },
	{ KTRX1_NET_TCP_STATE, 2, { PIECE(DECIMAL, 0, "old="), PIECE(DECIMAL, 1, " new=") } },
	{ KTRX1_NET_TCP_STATE,
	  3,
	  { PIECE(DECIMAL, 0, "handle="), PIECE(DECIMAL, 1, " old="), PIECE(DECIMAL, 2, " new=") } },
};

struct rendered {
	char text[RENDERED - 1];
	uint8_t length; /* length of the text; 0: the text is not cached yet */
};

struct writer {
	const struct ktread *trace;
	struct rendered call[CALLS_CACHED];
	struct rendered reason[REASONS];
	struct rendered event[EVENTS];
	char cpu[KTRX1_MAX_CPUS][CPU_COLUMNS];	   /* text of the column, such as "CPU0 PID=" */
	char pid[KTRX1_PID_MASK + 1][PID_COLUMNS]; /* text of the column, such as "6    " */
	const struct form *form[EVENTS];
};

/* Returns the 32-bit word with index `n` in a record's data. */
static inline uint32_t word(const unsigned char *data, uint32_t n)
{
	return (uint32_t)base_load(data + 4 * n, 4);
}

/*
 * Returns 64 bits of a record's data: the low half is the word with index `n`, the high half is the next
 * word.
 */
static inline uint64_t double_word(const unsigned char *data, uint32_t n)
{
	return base_load(data + 4 * n, 8);
}

static char *put_rendered(char *at, const struct rendered *rendered)
{
	memcpy(at, rendered, RENDERED);
	return at + rendered->length;
}

static char *put_call_plainly(struct writer *writer, char *at, uint32_t number)
{
	const char *name = ktread_syscall_name(writer->trace, number);

	at = base_put_literal(at, "nr=");
	at = base_put_literal(base_put_decimal(at, number), " (");
	if (name)
		at = base_escape_text(at, name, strlen(name), 256);
	else
		at = base_put_decimal(base_put_literal(at, "syscall_"), number);
	*at = ')';
	return at + 1;
}

static inline char *put_call(struct writer *writer, char *at, uint32_t number)
{
	struct rendered *rendered = &writer->call[number % CALLS_CACHED];
	char *end;

	if (__builtin_expect(number < CALLS_CACHED && rendered->length, 1))
		return put_rendered(at, rendered);
	end = put_call_plainly(writer, at, number);
	if (number < CALLS_CACHED && (size_t)(end - at) <= sizeof(rendered->text)) {
		memcpy(rendered->text, at, (size_t)(end - at));
		rendered->length = (uint8_t)(end - at);
	}
	return end;
}

static inline char *put_fault(struct writer *writer, char *at, const struct form *form,
			      const unsigned char *data)
{
	const uint32_t reason = word(data, form->fields == 3 ? 4 : 2);
	const struct rendered *rendered = &writer->reason[reason % REASONS];

	at = base_put_hex(base_put_literal(at, "addr=0x"), double_word(data, 0));
	if (form->fields == 3)
		at = base_put_hex(base_put_literal(at, " rip=0x"), double_word(data, 2));
	at = base_put_literal(at, " reason=");
	if (rendered->length)
		return put_rendered(at, rendered);
	return base_put_hex(base_put_literal(at, "0x"), reason);
}

/* Writes an IPv4 address. Its first byte is the most significant byte of the word. */
static char *put_address(char *at, uint32_t address)
{
	for (int shift = 24; shift >= 0; shift -= 8) {
		at = base_put_decimal(at, address >> shift & 0xff);
		*at++ = '.';
	}
	return at - 1;
}

static char *put_pieces(char *at, const struct piece *piece, const unsigned char *data)
{
	for (; piece->length; piece++) {
		const uint32_t value = word(data, piece->word);

		memcpy(at, piece->label, sizeof(piece->label));
		at += piece->length;
		at = piece->kind == DECIMAL ? base_put_decimal(at, value)
		     : piece->kind == HEX   ? base_put_hex(at, value)
					    : put_address(at, value);
	}
	return at;
}

static inline char *put_data(struct writer *writer, char *at, const struct form *form,
			     const unsigned char *data)
{
	switch (form->event) {
	case KTRX1_SYSCALL_ENTER:
		at = put_call(writer, at, word(data, 0));
		at = base_put_hex(base_put_literal(at, " a1=0x"), double_word(data, 1));
		return base_put_hex(base_put_literal(at, " a2=0x"), double_word(data, 3));
	case KTRX1_SYSCALL_EXIT:
		at = put_call(writer, at, word(data, 0));
		return base_put_signed(base_put_literal(at, " result="), (int64_t)double_word(data, 1));
	case KTRX1_CTX_SWITCH:
		at = base_put_decimal(base_put_literal(at, "from_pid="), word(data, 0));
		return base_put_decimal(base_put_literal(at, " to_pid="), word(data, 1));
	case KTRX1_PAGE_FAULT:
		return put_fault(writer, at, form, data);
	default:
		return put_pieces(at, form->piece, data);
	}
}

static const struct form *form_of(uint32_t id, const struct ktread_type *type)
{
	for (size_t n = 0; type && n < sizeof(forms) / sizeof(forms[0]); n++)
		if (forms[n].event == id && (forms[n].fields == 0 || forms[n].fields == type->fields))
			return &forms[n];
	return &plain_words;
}

static void render_reasons(struct writer *writer)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} bits[] = { { 1, "PRESENT" }, { 2, "WRITE" }, { 4, "USER" }, { 16, "INST_FETCH" } };

	for (uint32_t reason = 0; reason < REASONS; reason++) {
		struct rendered *rendered = &writer->reason[reason];
		char *at = rendered->text;

		for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
			if (!(reason & bits[i].bit))
				continue;
			if (at > rendered->text)
				*at++ = '|';
			at = stpcpy(at, bits[i].name);
		}
		rendered->length = (uint8_t)(at - rendered->text);
	}
}

/* Caches "SYSCALL_ENTER    ": the name, padded to 16 columns, and a space. */
static void render_events(struct writer *writer, const struct ktread *trace)
{
	for (uint32_t id = 0; id < EVENTS; id++) {
		const struct ktread_type *type = ktread_type(trace, id);
		char unknown[24];
		int length;

		snprintf(unknown, sizeof(unknown), "UNKNOWN(%u)", id);
		length = snprintf(writer->event[id].text, sizeof(writer->event[id].text), "%-16s ",
				  type ? type->name : unknown);
		writer->event[id].length = (uint8_t)length;
		writer->form[id] = form_of(id, type);
	}
}

static void render_numbers(struct writer *writer)
{
	char text[16];

	for (unsigned cpu = 0; cpu < KTRX1_MAX_CPUS; cpu++) {
		snprintf(text, sizeof(text), "CPU%u PID=", cpu);
		memcpy(writer->cpu[cpu], text, CPU_COLUMNS);
	}
	for (unsigned pid = 0; pid <= KTRX1_PID_MASK; pid++) {
		snprintf(text, sizeof(text), "%-4u ", pid);
		memcpy(writer->pid[pid], text, PID_COLUMNS);
	}
}

static inline char *put_event(struct writer *writer, char *at, const struct ktread_event *event)
{
	uint32_t id = event->id % EVENTS;

	memcpy(at, writer->cpu[event->cpu % KTRX1_MAX_CPUS], CPU_COLUMNS);
	memcpy(at + CPU_COLUMNS, writer->pid[event->thread & KTRX1_PID_MASK], PID_COLUMNS);
	at = put_rendered(at + CPU_COLUMNS + PID_COLUMNS, &writer->event[id]);
	at = put_data(writer, at, writer->form[id], event->payload);
	*at++ = '\n';
	return at;
}

static int write_all(struct writer *writer, struct timeline *timeline)
{
	const struct ktread_event *event;
	uint64_t left = timeline->limit ? timeline->limit : UINT64_MAX;
	int result;

	while ((result = ktread_next(timeline->trace, &event)) > 0) {
		char *at = timeline_put_mark(timeline, base_output_line(timeline->out), event);

		at = timeline_put_time(timeline, at, event->stamp);
		base_output_done(timeline->out, put_event(writer, at, event));
		timeline->shown++;
		if (--left == 0 || timeline->out->error)
			break;
	}
	return result;
}

int classic_timeline(struct timeline *timeline)
{
	struct writer *writer;
	int result;

	if (ktread_info(timeline->trace)->version != KTRX1_VERSION)
		return timeline_write(timeline);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return KTREAD_E_MEMORY;
	timeline_begin(timeline);
	writer->trace = timeline->trace;
	render_events(writer, timeline->trace);
	render_reasons(writer);
	render_numbers(writer);
	result = write_all(writer, timeline);
	free(writer);
	return result;
}

/* The summary of a trace, as the version 1 decoder prints it. */

#define PIDS_SHOWN 20u
#define NAME_BYTES 120u

typedef void write_row(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry);

static void row_type(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	const struct ktread_type *type = ktread_type(trace, entry->key);
	char name[NAME_BYTES + 1];

	if (type)
		*base_escape_text(name, type->name, strlen(type->name), NAME_BYTES) = '\0';
	else
		snprintf(name, sizeof(name), "UNKNOWN(%u)", entry->key);
	base_output_format(out, "  %-20s %8llu\n", name, (unsigned long long)entry->count);
}

static void row_pid(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	(void)trace;
	base_output_format(out, "  PID %-6u %8llu\n", entry->key, (unsigned long long)entry->count);
}

static void row_cpu(struct base_output *out, const struct ktread *trace, const struct tally_entry *entry)
{
	(void)trace;
	base_output_format(out, "  CPU%u  %8llu\n", entry->key, (unsigned long long)entry->count);
}

static int section(struct base_output *out, const struct ktread *trace, const struct tally *tally,
		   enum tally_kind kind)
{
	static const struct {
		const char *title;
		write_row *row;
		enum tally_order order;
		size_t limit;
	} kinds[] = {
		[TALLY_BY_EVENT] = { "\nEvents by type:\n", row_type, TALLY_MOST_FIRST, SIZE_MAX },
		[TALLY_BY_THREAD] = { "\nEvents by PID:\n", row_pid, TALLY_MOST_FIRST, PIDS_SHOWN },
		[TALLY_BY_CPU] = { "\nEvents by CPU:\n", row_cpu, TALLY_BY_KEY, SIZE_MAX },
	};
	size_t entries;
	struct tally_entry *list = tally_list(tally, kind, kinds[kind].order, &entries);

	if (!list)
		return KTREAD_E_MEMORY;
	base_output_text(out, kinds[kind].title);
	for (size_t n = 0; n < entries && n < kinds[kind].limit; n++)
		kinds[kind].row(out, trace, &list[n]);
	free(list);
	return 0;
}

int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally)
{
	const struct ktread_info *info = ktread_info(trace);
	const struct ktread_ring *ring = ktread_ring(trace, 0);
	double span = info->frequency ? base_ticks_seconds(tally->last - tally->first, info->frequency) : 0;

	base_output_format(out, "ktrace dump: version=%u cpus=%u ring_size=%llu tsc_freq=%llu\n",
			   info->version, info->cpus, ring ? (unsigned long long)ring->slots : 0,
			   (unsigned long long)info->frequency);
	base_output_format(out, "Total events: %llu\n", (unsigned long long)tally->events);
	for (int kind = TALLY_BY_EVENT; kind <= TALLY_BY_CPU; kind++)
		if (section(out, trace, tally, (enum tally_kind)kind) < 0)
			return KTREAD_E_MEMORY;
	if (span > 0)
		base_output_format(out, "\nTime span: %.6fs (%.0f events/s)\n", span,
				   (double)tally->events / span);
	else
		base_output_text(out, "\n");
	return 0;
}
