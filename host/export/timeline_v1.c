/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Timeline of version 1 records:
 *
 *	[    0.066302] CPU0 PID=6    SYSCALL_ENTER    nr=59 (execve) a1=0x7ffc10 a2=0x7ffc30
 *
 * Millions of lines are written, so whatever repeats is rendered once: event names, system call names, page
 * fault reasons. Rendered pieces are copied in whole (RENDERED bytes) and only their length is added.
 */
#include "export/timeline_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/calls.h"
#include "base/escape.h"
#include "base/put.h"
#include "export/words_v1.h"
#include "ktrx/v1.h"

#define EVENTS	    (KTRX1_MAX_EVENT + 1u)
#define RENDERED    40u
#define REASONS	    32u
#define CPU_COLUMNS 9u
#define PID_COLUMNS 5u

struct rendered {
	char text[RENDERED - 1];
	uint8_t length; /* 0: not rendered yet */
};

struct writer;
typedef char *write_detail(struct writer *writer, char *at, const unsigned char *data);

struct writer {
	const struct ktread *trace;
	struct rendered call[CALLS_CACHED];
	struct rendered reason[REASONS];
	struct rendered event[EVENTS];
	char cpu[KTRX1_MAX_CPUS][CPU_COLUMNS];	   /* "CPU0 PID=" */
	char pid[KTRX1_PID_MASK + 1][PID_COLUMNS]; /* "6    " */
	write_detail *detail[EVENTS];
};

static char *put_rendered(char *at, const struct rendered *rendered)
{
	memcpy(at, rendered, RENDERED);
	return at + rendered->length;
}

static char *put_call_plainly(struct writer *writer, char *at, uint32_t number)
{
	const char *name = ktread_syscall_name(writer->trace, number);

	at = base_put_literal(at, "nr=");
	at = base_put_decimal(at, number);
	at = base_put_literal(at, " (");
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

static char *detail_syscall_enter(struct writer *writer, char *at, const unsigned char *data)
{
	at = put_call(writer, at, word(data, 0));
	at = base_put_hex(base_put_literal(at, " a1=0x"), double_word(data, 1));
	return base_put_hex(base_put_literal(at, " a2=0x"), double_word(data, 3));
}

static char *detail_syscall_exit(struct writer *writer, char *at, const unsigned char *data)
{
	at = put_call(writer, at, word(data, 0));
	return base_put_signed(base_put_literal(at, " result="), (int64_t)double_word(data, 1));
}

static char *detail_switch(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "from_pid="), word(data, 0));
	return base_put_decimal(base_put_literal(at, " to_pid="), word(data, 1));
}

static char *put_reason(struct writer *writer, char *at, uint32_t reason)
{
	const struct rendered *rendered = &writer->reason[reason % REASONS];

	at = base_put_literal(at, " reason=");
	if (rendered->length)
		return put_rendered(at, rendered);
	return base_put_hex(base_put_literal(at, "0x"), reason);
}

static char *detail_fault_kevlar(struct writer *writer, char *at, const unsigned char *data)
{
	at = base_put_hex(base_put_literal(at, "addr=0x"), double_word(data, 0));
	at = base_put_hex(base_put_literal(at, " rip=0x"), double_word(data, 2));
	return put_reason(writer, at, word(data, 4));
}

static char *detail_fault_spec(struct writer *writer, char *at, const unsigned char *data)
{
	at = base_put_hex(base_put_literal(at, "addr=0x"), double_word(data, 0));
	return put_reason(writer, at, word(data, 2));
}

static char *detail_sleep(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	return base_put_hex(base_put_literal(at, "waitq=0x"), word(data, 0));
}

static char *detail_wake(struct writer *writer, char *at, const unsigned char *data)
{
	at = detail_sleep(writer, at, data);
	return base_put_decimal(base_put_literal(at, " woken="), word(data, 1));
}

/* An IPv4 address whose first byte is the most significant one of the word. */
static char *put_address(char *at, uint32_t address)
{
	for (int shift = 24; shift >= 0; shift -= 8) {
		at = base_put_decimal(at, address >> shift & 0xff);
		*at++ = '.';
	}
	return at - 1;
}

static char *detail_connect_kevlar(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "fd="), word(data, 0));
	at = put_address(base_put_literal(at, " ip="), word(data, 1));
	at = base_put_decimal(base_put_literal(at, " port="), word(data, 2));
	return base_put_decimal(base_put_literal(at, " result="), word(data, 3));
}

static char *detail_connect_spec(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = put_address(base_put_literal(at, "ip="), word(data, 0));
	return base_put_decimal(base_put_literal(at, " port="), word(data, 1));
}

static char *detail_transfer_kevlar(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "fd="), word(data, 0));
	at = base_put_decimal(base_put_literal(at, " len="), word(data, 1));
	return base_put_decimal(base_put_literal(at, " result="), word(data, 2));
}

static char *detail_transfer_spec(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	return base_put_decimal(base_put_literal(at, "len="), word(data, 0));
}

static char *detail_poll_kevlar(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "fd="), word(data, 0));
	return base_put_hex(base_put_literal(at, " revents=0x"), word(data, 2));
}

static char *detail_poll_spec(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	return base_put_hex(base_put_literal(at, "events=0x"), word(data, 0));
}

static char *detail_packet(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	return base_put_decimal(base_put_literal(at, "frame_len="), word(data, 0));
}

static char *detail_tcp_kevlar(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "handle="), word(data, 0));
	at = base_put_decimal(base_put_literal(at, " old="), word(data, 1));
	return base_put_decimal(base_put_literal(at, " new="), word(data, 2));
}

static char *detail_tcp_spec(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	at = base_put_decimal(base_put_literal(at, "old="), word(data, 0));
	return base_put_decimal(base_put_literal(at, " new="), word(data, 1));
}

/* What every other event carries: "d0=0x1 d1=0x0 d2=0x0 d3=0x0 d4=0x0". */
static char *detail_words(struct writer *writer, char *at, const unsigned char *data)
{
	(void)writer;
	for (unsigned n = 0; n < 5; n++) {
		*at++ = 'd';
		*at++ = (char)('0' + n);
		at = base_put_hex(base_put_literal(at, "=0x"), word(data, n));
		*at++ = ' ';
	}
	return at - 1;
}

static const struct {
	uint32_t event;
	write_detail *kevlar;
	write_detail *spec;
} details[] = {
	{ KTRX1_SYSCALL_ENTER, detail_syscall_enter, detail_syscall_enter },
	{ KTRX1_SYSCALL_EXIT, detail_syscall_exit, detail_syscall_exit },
	{ KTRX1_CTX_SWITCH, detail_switch, detail_switch },
	{ KTRX1_PAGE_FAULT, detail_fault_kevlar, detail_fault_spec },
	{ KTRX1_WAITQ_SLEEP, detail_sleep, detail_sleep },
	{ KTRX1_WAITQ_WAKE, detail_wake, detail_wake },
	{ KTRX1_NET_CONNECT, detail_connect_kevlar, detail_connect_spec },
	{ KTRX1_NET_SEND, detail_transfer_kevlar, detail_transfer_spec },
	{ KTRX1_NET_RECV, detail_transfer_kevlar, detail_transfer_spec },
	{ KTRX1_NET_POLL, detail_poll_kevlar, detail_poll_spec },
	{ KTRX1_NET_RX_PACKET, detail_packet, detail_packet },
	{ KTRX1_NET_TX_PACKET, detail_packet, detail_packet },
	{ KTRX1_NET_TCP_STATE, detail_tcp_kevlar, detail_tcp_spec },
};

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

/* "SYSCALL_ENTER    ": the name, at least 16 columns and a blank. */
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
		writer->detail[id] = detail_words;
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

static void choose_details(struct writer *writer, enum ktread_v1_layout layout)
{
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
		writer->detail[details[i].event] =
			layout == KTREAD_V1_SPEC ? details[i].spec : details[i].kevlar;
}

static inline char *put_event(struct writer *writer, char *at, const struct ktread_event *event)
{
	uint32_t id = event->id % EVENTS;

	memcpy(at, writer->cpu[event->cpu % KTRX1_MAX_CPUS], CPU_COLUMNS);
	memcpy(at + CPU_COLUMNS, writer->pid[event->thread & KTRX1_PID_MASK], PID_COLUMNS);
	at = put_rendered(at + CPU_COLUMNS + PID_COLUMNS, &writer->event[id]);
	at = writer->detail[id](writer, at, event->payload);
	*at++ = '\n';
	return at;
}

static int write_all(struct writer *writer, struct timeline *timeline)
{
	const struct ktread_event *event;
	uint64_t left = timeline->limit ? timeline->limit : UINT64_MAX;
	int result;

	while ((result = ktread_next(timeline->trace, &event)) > 0) {
		char *at = timeline_put_time(timeline, base_output_line(timeline->out), event->stamp);

		base_output_done(timeline->out, put_event(writer, at, event));
		timeline->shown++;
		if (--left == 0 || timeline->out->error)
			break;
	}
	return result;
}

int timeline_write_v1(struct timeline *timeline)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int result;

	if (!writer)
		return KTREAD_E_MEMORY;
	writer->trace = timeline->trace;
	render_events(writer, timeline->trace);
	render_reasons(writer);
	render_numbers(writer);
	choose_details(writer, timeline->layout);
	result = write_all(writer, timeline);
	free(writer);
	return result;
}
