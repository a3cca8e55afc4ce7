/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Version 1 in the Trace Event Format, as users of its decoder know it: pid is the process, tid the CPU;
 * system calls and sleeps are begins and ends, everything else is an instant. Version 1 cannot tell what is
 * missing, so pairing is left to the viewer.
 *
 * What comes before an event's time and after its CPU never changes but for the event: it is rendered once.
 */
#include "export/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/calls.h"
#include "export/json.h"
#include "export/words_v1.h"
#include "ktrx/v1.h"

#define EVENTS	 (KTRX1_MAX_EVENT + 1u)
#define RENDERED 64u

struct rendered {
	char text[RENDERED - 1];
	uint8_t length; /* 0: not rendered yet */
};

struct writer;
typedef char *write_arguments(char *at, const unsigned char *data);

/* How an event is said. */
struct shape {
	const char *phase; /* "B", "E" or "i" */
	const char *name;  /* NULL: the system call's */
	const char *category;
	write_arguments *arguments; /* NULL: none */
};

struct writer {
	struct chrome *chrome;
	const struct shape *shape[EVENTS];
	struct rendered tail[EVENTS]; /* ,"name":"…","cat":"…" */
	struct rendered call[CALLS_CACHED];
};

static char *put_rendered(char *at, const struct rendered *rendered)
{
	memcpy(at, rendered, RENDERED);
	return at + rendered->length;
}

static char *arguments_result(char *at, const unsigned char *data)
{
	return number_signed(number_literal(at, "\"result\":"), (int64_t)double_word(data, 1));
}

static char *arguments_switch(char *at, const unsigned char *data)
{
	at = number_decimal(number_literal(at, "\"from\":"), word(data, 0));
	return number_decimal(number_literal(at, ",\"to\":"), word(data, 1));
}

static char *arguments_sleep(char *at, const unsigned char *data)
{
	at = number_hex(number_literal(at, "\"waitq\":\"0x"), word(data, 0));
	*at = '"';
	return at + 1;
}

static char *arguments_wake(char *at, const unsigned char *data)
{
	return number_decimal(number_literal(at, "\"woken\":"), word(data, 1));
}

static char *arguments_fault(char *at, const unsigned char *data)
{
	at = number_hex(number_literal(at, "\"addr\":\"0x"), double_word(data, 0));
	at = number_hex(number_literal(at, "\",\"rip\":\"0x"), double_word(data, 2));
	return number_decimal(number_literal(at, "\",\"reason\":"), word(data, 4));
}

static char *arguments_words(char *at, const unsigned char *data)
{
	at = number_decimal(number_literal(at, "\"d0\":"), word(data, 0));
	at = number_decimal(number_literal(at, ",\"d1\":"), word(data, 1));
	at = number_decimal(number_literal(at, ",\"d2\":"), word(data, 2));
	at = number_decimal(number_literal(at, ",\"d3\":"), word(data, 3));
	return number_decimal(number_literal(at, ",\"d4\":"), word(data, 4));
}

static const struct {
	uint32_t event;
	struct shape shape;
} shapes[] = {
	{ KTRX1_SYSCALL_ENTER, { "B", NULL, "syscall", NULL } },
	{ KTRX1_SYSCALL_EXIT, { "E", NULL, "syscall", arguments_result } },
	{ KTRX1_CTX_SWITCH, { "i", "CTX_SWITCH", "sched", arguments_switch } },
	{ KTRX1_WAITQ_SLEEP, { "B", "SLEEP", "sched", arguments_sleep } },
	{ KTRX1_WAITQ_WAKE, { "E", "SLEEP", "sched", arguments_wake } },
	{ KTRX1_PAGE_FAULT, { "i", "PAGE_FAULT", "mm", arguments_fault } },
};

/* Any other event: an instant with its five words. */
static const struct shape plain = { "i", "", "", arguments_words };

/* ,"name":"read","cat":"syscall": as long as `text` has room; 0 if it does not. */
static void render(struct rendered *rendered, const char *name, const char *category)
{
	char text[4 * RENDERED + 6 * 2 * JSON_NAME], *at = text;

	at = json_put_name(number_literal(at, ",\"name\":"), name);
	at = json_put_name(number_literal(at, ",\"cat\":"), category);
	if ((size_t)(at - text) > sizeof(rendered->text))
		return;
	memcpy(rendered->text, text, (size_t)(at - text));
	rendered->length = (uint8_t)(at - text);
}

static void prepare(struct writer *writer)
{
	for (uint32_t id = 0; id < EVENTS; id++) {
		const struct ktread_type *type = ktread_type(writer->chrome->trace, id);
		char unknown[24];

		writer->shape[id] = &plain;
		snprintf(unknown, sizeof(unknown), "UNKNOWN(%u)", id);
		render(&writer->tail[id], type ? type->name : unknown,
		       type && *type->group ? type->group : "other");
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *shape = &shapes[i].shape;

		/* Of the two layouts of version 1 these are the arguments of the one that traces carry. */
		if (shapes[i].event == KTRX1_PAGE_FAULT &&
		    ktread_type(writer->chrome->trace, KTRX1_PAGE_FAULT)->fields != 3)
			continue;
		writer->shape[shapes[i].event] = shape;
		if (shape->name)
			render(&writer->tail[shapes[i].event], shape->name, shape->category);
	}
}

/* The part with the system call's name; calls that have none go by their number. */
static char *put_call(struct writer *writer, char *at, uint32_t number)
{
	struct rendered once = { .length = 0 };
	struct rendered *rendered = number < CALLS_CACHED ? &writer->call[number] : &once;

	if (__builtin_expect(rendered->length == 0, 0)) {
		const char *name = ktread_syscall_name(writer->chrome->trace, number);
		char unknown[24];

		snprintf(unknown, sizeof(unknown), "syscall_%u", number);
		render(rendered, name ? name : unknown, "syscall");
		if (rendered->length == 0)
			render(rendered, unknown, "syscall");
	}
	return put_rendered(at, rendered);
}

static inline void write_event(struct writer *writer, const struct ktread_event *event)
{
	struct chrome *chrome = writer->chrome;
	uint32_t id = event->id % EVENTS;
	const struct shape *shape = writer->shape[id];
	char *at = chrome_begin(chrome);

	at = number_literal(at, "{\"ph\":\"");
	*at = *shape->phase;
	at = chrome_put_microseconds(number_literal(at + 1, "\",\"ts\":"), chrome_time(chrome, event->stamp));
	at = number_decimal(number_literal(at, ",\"pid\":"), event->thread);
	at = number_decimal(number_literal(at, ",\"tid\":"), event->cpu);
	at = shape->name ? put_rendered(at, &writer->tail[id])
			 : put_call(writer, at, word(event->payload, 0));
	if (*shape->phase == 'i')
		at = number_literal(at, ",\"s\":\"t\"");
	if (shape->arguments) {
		at = shape->arguments(number_literal(at, ",\"args\":{"), event->payload);
		*at++ = '}';
	}
	*at++ = '}';
	output_done(&chrome->out, at);
}

static void name_rows(struct chrome *chrome)
{
	chrome_name(chrome, "process_name", 0, -1, "Kernel");
	for (uint32_t cpu = 0; cpu < ktread_info(chrome->trace)->cpus; cpu++) {
		char name[16];

		snprintf(name, sizeof(name), "CPU%u", cpu);
		chrome_name(chrome, "thread_name", 0, cpu, name);
	}
}

int chrome_write_v1(struct chrome *chrome)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	const struct ktread_event *event;
	int result;

	if (!writer)
		return KTREAD_E_MEMORY;
	writer->chrome = chrome;
	prepare(writer);
	while ((result = ktread_next(chrome->trace, &event)) > 0 && !chrome->out.error) {
		write_event(writer, event);
		chrome->report->events++;
	}
	name_rows(chrome);
	free(writer);
	return result;
}
