/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define TYPES_MAX   64u
#define THREADS_MAX 64u

struct ktread {
	struct ktread_setting setting[4];
	uint32_t settings;
	struct ktread_info info;
	struct ktread_ring ring[SCRIPT_RINGS];
	struct ktread_type type[TYPES_MAX];
	struct ktread_field field[TYPES_MAX][KTRX_EVENT_FIELDS];
	char text[TYPES_MAX][1024]; /* memory for the names and units of each type's fields */
	struct ktread_event event[SCRIPT_EVENTS];
	unsigned char payload[SCRIPT_EVENTS][KTRX_RECORD_MAX_PAYLOAD];
	const char *thread[THREADS_MAX];
	struct ktrx_cpu cpu[2 * SCRIPT_RINGS];
	struct ktrx_holder holder[SCRIPT_HOLDERS];
	uint32_t cpus, holders, folds;
	struct ktread_fold fold[SCRIPT_FOLDS];
	unsigned events, types, next;
	int narrowed;
	/* KEEP_ALL: there is no filter; otherwise, the filter selects events of the CPU or thread `selected` */
	enum { KEEP_ALL, KEEP_CPU, KEEP_THREAD } selects;
	int active; /* 1: only selected events are returned */
	uint32_t selected;
};

static struct ktread *script;

void script_begin(uint32_t version)
{
	script = calloc(1, sizeof(*script));
	script->info.version = version;
	script->info.form = version == 1 ? KTREAD_FORM_V1 : KTREAD_FORM_V2;
	script->info.frequency = 1000000000u;
	script->info.cpus = script->info.rings = SCRIPT_RINGS;
	script->info.kernel = script->info.note = script->info.registers = "";
	for (uint32_t n = 0; n < SCRIPT_RINGS; n++)
		script->ring[n].cpu = n;
}

void script_end(void)
{
	free(script);
	script = NULL;
}

struct ktread_info *script_info(void)
{
	return &script->info;
}

void script_setting(const char *name, uint64_t value)
{
	script->setting[script->settings++] = (struct ktread_setting){ .name = name, .value = value };
}

int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting)
{
	if (n >= trace->settings)
		return 0;
	*setting = trace->setting[n];
	return 1;
}

void script_narrow(void)
{
	script->narrowed = 1;
}

struct ktread_ring *script_ring(uint32_t ring)
{
	return &script->ring[ring];
}

void script_thread(uint32_t id, const char *name)
{
	script->thread[id] = name;
}

struct ktrx_cpu *script_cpu(uint32_t cpu)
{
	if (script->cpus <= cpu)
		script->cpus = cpu + 1;
	return &script->cpu[cpu];
}

struct ktrx_holder *script_holder(uint32_t id)
{
	struct ktrx_holder *holder = &script->holder[script->holders++];

	holder->id = id;
	return holder;
}

static uint8_t type_by_name(const char *name)
{
	static const struct {
		const char *name;
		uint8_t type;
	} types[] = {
		{ "u8", KTRX_TYPE_U8 },	    { "u16", KTRX_TYPE_U16 },	      { "u32", KTRX_TYPE_U32 },
		{ "u64", KTRX_TYPE_U64 },   { "i8", KTRX_TYPE_I8 },	      { "i32", KTRX_TYPE_I32 },
		{ "i64", KTRX_TYPE_I64 },   { "pointer", KTRX_TYPE_POINTER }, { "string", KTRX_TYPE_STRING },
		{ "bool", KTRX_TYPE_BOOL }, { "char", KTRX_TYPE_CHAR },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].type;
	abort();
}

void script_type(uint16_t id, const char *group, const char *name, const char *fields)
{
	struct ktread_type *type = &script->type[script->types];
	struct ktread_field *field = script->field[script->types];
	char *text = script->text[script->types], *rest, *one;

	strncpy(text, fields, sizeof(script->text[0]) - 1);
	*type = (struct ktread_type){
		.id = id, .state = KTRX_STATE_RECORD, .group = group, .name = name, .text = ""
	};
	type->field = field;
	for (one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		char *words, *unit;

		field->type = type_by_name(strtok_r(one, " ", &words));
		field->name = strtok_r(NULL, " ", &words);
		unit = strtok_r(NULL, " ", &words);
		field->unit = unit ? unit : "";
		field++;
		type->fields++;
	}
	script->types++;
}

static const struct ktread_type *type_by_id(uint16_t id)
{
	const struct ktread_type *type = ktread_type(script, id);

	if (!type)
		abort();
	return type;
}

void script_thread_bits(uint16_t id, uint32_t bits)
{
	((struct ktread_type *)(uintptr_t)type_by_id(id))->thread_bits = bits;
}

static uint32_t put_value(unsigned char *at, uint8_t type, va_list *values)
{
	static const uint8_t width[] = {
		[KTRX_TYPE_U8] = 1,	 [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4, [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,	 [KTRX_TYPE_I32] = 4,  [KTRX_TYPE_I64] = 8, [KTRX_TYPE_BOOL] = 1,
		[KTRX_TYPE_POINTER] = 8, [KTRX_TYPE_CHAR] = 1,
	};
	uint64_t number;

	if (type == KTRX_TYPE_STRING) {
		const char *text = va_arg(*values, const char *);
		uint16_t length = (uint16_t)strlen(text);

		memcpy(at, &length, sizeof(length));
		memcpy(at + sizeof(length), text, length);
		return (uint32_t)sizeof(length) + length;
	}
	number = va_arg(*values, uint64_t);
	memcpy(at, &number, width[type]);
	return width[type];
}

struct ktread_event *script_event(uint16_t id, uint64_t stamp, uint32_t cpu, uint32_t thread, ...)
{
	const struct ktread_type *type = type_by_id(id);
	struct ktread_event *event;
	unsigned char *payload;
	va_list values;

	if (script->events == SCRIPT_EVENTS) {
		fprintf(stderr, "script_event: more than %u events (SCRIPT_EVENTS)\n", SCRIPT_EVENTS);
		abort();
	}
	event = &script->event[script->events];
	payload = script->payload[script->events++];
	*event = (struct ktread_event){ .stamp = stamp, .cpu = cpu, .ring = cpu, .thread = thread, .id = id };
	event->type = type;
	event->payload = payload;
	va_start(values, thread);
	for (uint32_t n = 0; n < type->fields; n++)
		event->payload_size += put_value(payload + event->payload_size, type->field[n].type, &values);
	va_end(values);
	return event;
}

unsigned script_count(void)
{
	return script->events;
}

const struct ktread_event *script_at(unsigned n)
{
	return &script->event[n];
}

struct ktread_event *script_change(unsigned n)
{
	return &script->event[n];
}

static int by_stamp(const void *a, const void *b)
{
	const struct ktread_event *left = a, *right = b;

	if (left->stamp != right->stamp)
		return left->stamp < right->stamp ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

void script_sort(void)
{
	for (unsigned n = 0; n < script->events; n++)
		script->event[n].index = n;
	qsort(script->event, script->events, sizeof(*script->event), by_stamp);
}

struct ktread *script_trace(void)
{
	return script;
}

/* The following functions replace functions of the reader. */

const struct ktread_info *ktread_info(const struct ktread *trace)
{
	return &trace->info;
}

const struct ktread_ring *ktread_ring(const struct ktread *trace, uint32_t ring)
{
	return &trace->ring[ring];
}

uint64_t ktread_first_stamp(const struct ktread *trace)
{
	return trace->events ? trace->event[0].stamp : 0;
}

void script_stop(void)
{
	script->info.stopped = 1;
	for (unsigned n = 0; n < script->types; n++) {
		script->type[n].wanted = script->type[n].state;
		script->type[n].state = KTRX_STATE_OFF;
	}
}

void script_fold(uint16_t id, uint64_t first, uint64_t last)
{
	struct ktread_fold *fold = &script->fold[script->folds++];

	*fold = (struct ktread_fold){ .count = 1, .first = first, .last = last };
	fold->event.id = id;
	fold->event.type = type_by_id(id);
}

void script_switch_off(uint16_t id)
{
	for (unsigned n = 0; n < script->types; n++)
		if (script->type[n].id == id)
			script->type[n].state = script->type[n].wanted = KTRX_STATE_OFF;
}

void script_select_cpu(uint32_t cpu)
{
	script->selects = KEEP_CPU;
	script->active = 1;
	script->selected = cpu;
}

void script_select_thread(uint32_t thread)
{
	script->selects = KEEP_THREAD;
	script->active = 1;
	script->selected = thread;
}

void ktread_apply_filter(struct ktread *trace, int apply)
{
	trace->active = trace->selects != KEEP_ALL && apply;
}

int ktread_selects(const struct ktread *trace, const struct ktread_event *event)
{
	return trace->selects == KEEP_ALL ||
	       (trace->selects == KEEP_CPU ? event->cpu : event->thread) == trace->selected;
}

void ktread_filter_window(const struct ktread *trace, uint64_t *since, uint64_t *until)
{
	(void)trace;
	*since = 0;
	*until = UINT64_MAX;
}

int ktread_is_narrowed(const struct ktread *trace)
{
	return trace->narrowed || trace->active;
}

const char *ktread_thread_name(const struct ktread *trace, uint32_t thread)
{
	return thread < THREADS_MAX ? trace->thread[thread] : NULL;
}

const char *ktread_syscall_name(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	return number == 1 ? "write" : NULL;
}

/* The clock of CPU n is 1000 * n ahead; no event of a scripted trace needs a correction. */
uint64_t ktread_clock_correct(const struct ktread *trace, uint32_t cpu, uint64_t stamp)
{
	(void)trace;
	return stamp - UINT64_C(1000) * cpu;
}

int ktread_clock_is_measured(const struct ktread *trace, uint32_t cpu)
{
	(void)trace;
	(void)cpu;
	return 0;
}

int ktread_fold(struct ktread *trace, uint32_t *row, struct ktread_fold *fold)
{
	if (*row >= trace->folds)
		return 0;
	*fold = trace->fold[(*row)++];
	return 1;
}

uint32_t ktread_syscall_names(const struct ktread *trace)
{
	(void)trace;
	return 2; /* see ktread_syscall_name() */
}

const char *ktread_syscall_types(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	return number == 1 ? "size, fd, ptr, size" : NULL;
}

const char *ktread_error_name(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	return number == 11 ? "EAGAIN" : NULL;
}

const struct ktread_type *ktread_type(const struct ktread *trace, uint32_t id)
{
	for (unsigned n = 0; n < trace->types; n++)
		if (trace->type[n].id == id)
			return &trace->type[n];
	return NULL;
}

const struct ktread_type *ktread_type_find(const struct ktread *trace, const char *group, const char *name)
{
	for (unsigned n = 0; n < trace->types; n++)
		if (strcmp(trace->type[n].group, group) == 0 && strcmp(trace->type[n].name, name) == 0)
			return &trace->type[n];
	return NULL;
}

int ktread_rewind(struct ktread *trace)
{
	trace->next = 0;
	return 0;
}

int ktread_next(struct ktread *trace, const struct ktread_event **event)
{
	while (trace->next < trace->events) {
		*event = &trace->event[trace->next++];
		if (!trace->active || ktread_selects(trace, *event))
			return 1;
	}
	return 0;
}

int ktread_next_briefs(struct ktread *trace, struct ktread_brief *brief, uint16_t room)
{
	const struct ktread_event *event;
	uint16_t n = 0;

	while (n < room && ktread_next(trace, &event))
		brief[n++] = (struct ktread_brief){ event->stamp, event->cpu, event->thread, event->id };
	return n;
}

int ktread_next_by_ring(struct ktread *trace, const struct ktread_event **event)
{
	return ktread_next(trace, event);
}

int ktread_cpus(const struct ktread *trace, uint32_t first, struct ktrx_cpu *cpu, uint32_t room)
{
	uint32_t n = 0;

	for (; n < room && first + n < trace->cpus; n++)
		cpu[n] = trace->cpu[first + n];
	return (int)n;
}

int ktread_holders(const struct ktread *trace, uint32_t first, struct ktrx_holder *holder, uint32_t room)
{
	uint32_t n = 0;

	for (; n < room && first + n < trace->holders; n++)
		holder[n] = trace->holder[first + n];
	return (int)n;
}

/* A script has no sections. */
int ktread_section_copy(const struct ktread *trace, uint32_t type, char **bytes, uint64_t *size)
{
	(void)trace;
	(void)type;
	*bytes = NULL;
	*size = 0;
	return KTREAD_E_ABSENT;
}
