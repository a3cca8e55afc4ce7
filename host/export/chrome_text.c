/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/put.h"
#include "export/timeline.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define NAME_MOST                                             \
	(BASE_ESCAPE_JSON_GROWTH * (2 * BASE_JSON_NAME + 1) + \
	 32) /* maximum number of bytes of a cached text, which consists of a name and the text around it */

static uint8_t form_of(const struct ktread_field *field)
{
	if (timeline_is_holder(field))
		return CHROME_OTHER; /* null if the holder is unknown */
	switch (field->type) {
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return CHROME_SIGNED;
	case KTRX_TYPE_POINTER:
		return CHROME_ADDRESS;
	case KTRX_TYPE_U8:
	case KTRX_TYPE_U16:
	case KTRX_TYPE_U32:
	case KTRX_TYPE_U64:
		return CHROME_UNSIGNED;
	default:
		return CHROME_OTHER;
	}
}

/* Returns a piece that consists of the text from `from` to `end`. */
static struct chrome_piece piece(const char *from, const char *end)
{
	return (struct chrome_piece){ from, (uint32_t)(end - from) };
}

static char *render_field(struct chrome_field *field, const struct ktread_type *type, uint32_t n, char *at)
{
	char *from = at;

	*at = ',';
	at = base_json_name(at + (n > 0), type->field[n].name);
	*at++ = ':';
	field->form = form_of(&type->field[n]);
	field->width = field->form == CHROME_OTHER ? 0 : (uint8_t)payload_width(type->field[n].type);
	field->unused = (uint8_t)(64 - 8 * field->width);
	if (field->form == CHROME_ADDRESS)
		at = base_put_literal(at, "\"0x");
	field->name = piece(from, at);
	return at;
}

/*
 * Returns whether the event has a field of that name. An event's field may have the same name as an argument
 * that the writer adds, for example "cpu" for the target of an interprocessor interrupt.
 */
static bool has_field(const struct ktread_type *type, const char *name)
{
	for (uint32_t n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, name) == 0)
			return true;
	return false;
}

static char *render_fields(struct chrome_shape *shape, const struct ktread_type *type, char *at)
{
	shape->fields = type->fields;
	shape->size = type->fields ? 0 : UINT32_MAX;
	for (uint32_t n = 0; n < type->fields; n++) {
		at = render_field(&shape->field[n], type, n, at);
		if (shape->field[n].width == 0)
			shape->size = UINT32_MAX;
		else if (shape->size != UINT32_MAX)
			shape->size += shape->field[n].width;
	}
	return at;
}

/* Completes the lead that begins at `from`. Its text up to `end` was written before. */
static char *render_lead(struct chrome_shape *shape, enum chrome_lead lead, const char *from, char *end)
{
	end = base_put_literal(end, ",\"args\":{");
	shape->lead[lead] = shape->lead_field[lead] = piece(from, end);
	if (shape->fields) {
		end = (char *)memcpy(end, shape->field[0].name.text, shape->field[0].name.length) +
		      shape->field[0].name.length;
		shape->lead_field[lead] = piece(from, end);
	}
	return end;
}

static void render_shape(struct chrome_shape *shape, const struct ktread_type *type)
{
	char *at = render_fields(shape, type, shape->text), *from = at;

	shape->type = type;
	at = json_put_event_name(base_put_literal(at, ",\"name\":"), type);
	at = base_json_name(base_put_literal(at, ",\"cat\":"), type->group);
	at = render_lead(shape, CHROME_INSTANT, from, base_put_literal(at, ",\"s\":\"t\""));
	from = at;
	at = render_lead(shape, CHROME_BEGIN, from,
			 base_json_name(base_put_literal(at, ",\"cat\":"), type->group));
	at = render_lead(shape, CHROME_END, at, at);
	from = at;
	at = stpcpy(at, has_field(type, "cpu") ? ",\"event cpu\":" : ",\"cpu\":");
	shape->cpu = piece(from, at);
}

const struct chrome_shape *chrome_shape_render(struct chrome_texts *texts, const struct ktread_type *type)
{
	struct chrome_shape **place = &texts->shape[type->id & 4095u], *shape;
	char *text;

	if (!*type->group) /* cache nothing, because the next unknown event may reuse this descriptor */
		return NULL;
	shape = malloc(sizeof(*shape) + type->fields * sizeof(shape->field[0]));
	text = calloc(type->fields + 8u, NAME_MOST);
	if (!shape || !text) {
		free(shape);
		free(text);
		return NULL;
	}
	if (*place)
		free((*place)->text);
	free(*place);
	*place = shape;
	shape->text = text;
	render_shape(shape, type);
	return shape;
}

const struct chrome_call *chrome_call_render(struct chrome_texts *texts, const struct ktread *trace,
					     uint32_t number)
{
	const char *name = ktread_syscall_name(trace, number), *types = ktread_syscall_types(trace, number);
	struct chrome_call *call = calloc(1, sizeof(*call) + 2 * NAME_MOST + CHROME_PIECE);
	char plain[CHROME_CALL_NAME + 1];
	char *at;

	if (!call)
		return NULL;
	chrome_call_name(plain, sizeof(plain), name, number);
	at = base_json_name(base_put_literal(call->text, ",\"name\":"), plain);
	call->name = piece(call->text, at);
	call->types = piece(at, types ? base_json_name(base_put_literal(at, "\"types\":"), types) : at);
	texts->call[number] = call;
	return call;
}

void chrome_call_name(char *text, size_t size, const char *name, uint64_t number)
{
	size_t length = name ? base_utf8_cut(name, strlen(name),
					     size - 1 < CHROME_CALL_NAME ? size - 1 : CHROME_CALL_NAME)
			     : 0;

	if (name)
		memcpy(text, name, length);
	else
		length = (size_t)(base_put_decimal(base_put_literal(text, "syscall_"), number) - text);
	text[length] = '\0';
}

void chrome_texts_free(struct chrome_texts *texts)
{
	for (size_t n = 0; n < sizeof(texts->shape) / sizeof(texts->shape[0]); n++) {
		if (texts->shape[n])
			free(texts->shape[n]->text);
		free(texts->shape[n]);
	}
	for (size_t n = 0; n < CALLS_CACHED; n++)
		free(texts->call[n]);
}

/* Writes fields of any type. Stops where a truncated payload ends. */
static char *put_any(char *at, const struct chrome_shape *shape, const struct ktread_event *event)
{
	const unsigned char *from = event->payload, *end = from + event->payload_size;

	for (uint32_t n = 0; n < shape->fields; n++) {
		const struct chrome_field *field = &shape->field[n];
		struct ktread_value value;

		if (field->width) {
			if (end - from < field->width)
				break;
			at = chrome_put_number(chrome_put_piece(at, field->name), field, from);
			from += field->width;
			continue;
		}
		if (ktread_value(event, n, &value) < 0)
			break;
		at = json_put_value(chrome_put_piece(at, field->name), &shape->type->field[n], &value);
		from += value.length + (value.type == KTRX_TYPE_STRING ? sizeof(uint16_t) : 0);
	}
	return at;
}

char *chrome_put_fields(char *at, const struct chrome_shape *shape, enum chrome_lead lead,
			const struct ktread_event *event, bool *comma)
{
	char *begin = chrome_put_piece(at, shape->lead[lead]);

	at = put_any(begin, shape, event);
	*comma = at > begin;
	return at;
}

struct chrome_rows_open *chrome_rows_find(struct chrome_rows *rows, uint32_t pid, uint64_t tid, int make)
{
	const uint64_t hash = base_hash(base_hash(0, pid), tid);
	struct chrome_rows_row *row;

	for (uint32_t probe = 0, n; base_index_next(&rows->index, hash, &probe, &n);)
		if (rows->row[n].pid == pid && rows->row[n].tid == tid)
			return &rows->row[n].open;
	row = make ? base_grow(rows->row, &rows->room, rows->rows + 1u, sizeof(*row)) : NULL;
	if (!row)
		return NULL;
	rows->row = row;
	if (base_index_add(&rows->index, hash, rows->rows) < 0)
		return NULL;
	row += rows->rows++;
	row->pid = pid;
	row->tid = tid;
	return &row->open;
}

int chrome_rows_grow(struct chrome_rows_open *open)
{
	struct chrome_rows_span *larger =
		base_grow(open->span, &open->room, (size_t)open->room + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	open->span = larger;
	return 0;
}

int chrome_rows_begin(struct chrome_rows_open *open, const char *name)
{
	size_t length = base_utf8_cut(name, strlen(name), CHROME_ROWS_NAME - 1);
	struct chrome_rows_span *span;

	if (chrome_rows_begin_rendered(open, (struct chrome_piece){ .text = NULL }) < 0)
		return KTREAD_E_MEMORY;
	span = &open->span[open->depth - 1];
	memcpy(span->name, name, length);
	span->name[length] = '\0';
	return 0;
}

void chrome_rows_free(struct chrome_rows *rows)
{
	for (uint32_t n = 0; n < rows->rows; n++)
		free(rows->row[n].open.span);
	free(rows->row);
	base_index_free(&rows->index);
	*rows = (struct chrome_rows){ .row = NULL };
}

/* Rows of the viewer: their numbers and names, and data about threads. */

void chrome_thread_label(const struct chrome_writer *writer, uint32_t thread, char *text, size_t size)
{
	const char *name = ktread_thread_name(writer->chrome->trace, thread);

	if (name && *name)
		snprintf(text, size, "%.40s (%u)", name, thread);
	else
		snprintf(text, size, "thread %u", thread);
}

/* Writes the row's text ,"pid":1,"tid":12 */
static void render_row(struct chrome_row *row)
{
	char *at = base_put_decimal(base_put_literal(row->text, ",\"pid\":"), row->pid);

	at = base_put_decimal(base_put_literal(at, ",\"tid\":"), row->tid);
	row->length = (uint8_t)(at - row->text);
}

struct chrome_row *chrome_row_make(struct chrome_writer *writer, uint32_t pid, uint64_t tid)
{
	writer->row.pid = pid;
	writer->row.tid = tid;
	render_row(&writer->row);
	return &writer->row;
}

static void name_cpu(struct chrome_writer *writer, uint32_t pid, uint32_t cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "CPU%u", cpu);
	chrome_name(writer->chrome, "thread_name", pid, cpu, name);
}

struct chrome_row *chrome_row_of_cpu(struct chrome_writer *writer, uint32_t cpu)
{
	struct chrome_row *row = cpu < THREADS_CPUS_MAX ? &writer->cpu[cpu] : NULL;

	if (!row)
		return chrome_row_make(writer, ROW_CPUS, cpu);
	if (row->length == 0) {
		name_cpu(writer, ROW_CPUS, cpu);
		*row = (struct chrome_row){ .pid = ROW_CPUS, .tid = cpu };
		render_row(row);
	}
	return row;
}

struct chrome_row *chrome_row_of_interrupts(struct chrome_writer *writer, uint32_t cpu)
{
	if (cpu < THREADS_CPUS_MAX && !writer->interrupts_named[cpu]) {
		writer->interrupts_named[cpu] = true;
		name_cpu(writer, ROW_INTERRUPTS, cpu);
	}
	return chrome_row_make(writer, ROW_INTERRUPTS, cpu);
}

bool chrome_places_reserve(struct chrome_writer *writer, uint32_t index)
{
	struct chrome_place *larger =
		base_grow(writer->place, &writer->places, (size_t)index + 1, sizeof(*larger));

	if (!larger) {
		writer->error = KTREAD_E_MEMORY;
		return false;
	}
	writer->place = larger;
	return true;
}

void chrome_places_free(struct chrome_writer *writer)
{
	for (uint32_t index = 0; index < writer->places; index++) {
		free(writer->place[index].row.open.span);
		free(writer->place[index].label);
	}
	free(writer->place);
}

/* Returns the process that contains the thread's row. */
static uint32_t process_of_thread(const struct chrome_writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);

	return id ? ROW_PROCESSES + id : ROW_THREADS;
}

/*
 * Writes the name of the process of a thread, when the thread occurs for the first time. If a process has
 * several threads, its name is written several times, which is harmless.
 */
static void name_process(struct chrome_writer *writer, uint32_t thread)
{
	uint32_t id = processes_of(writer->processes, thread);
	const struct processes_process *process = processes_find(writer->processes, id);
	char name[PROCESSES_COMMAND + 16];

	if (id == 0)
		return;
	if (process && process->command[0] != '\0')
		snprintf(name, sizeof(name), "%.48s (%u)", process->command, id);
	else
		chrome_thread_label(writer, id, name, sizeof(name));
	chrome_name(writer->chrome, "process_name", ROW_PROCESSES + id, -1, name);
}

struct chrome_row *chrome_row_of_lane(struct chrome_writer *writer, uint32_t index, unsigned lane)
{
	uint32_t id = threads_at(writer->threads, index)->id;
	uint32_t pid = lane == LANE_WAITS ? ROW_WAITS : lane ? ROW_LOCKS : process_of_thread(writer, id);
	uint64_t tid = lane && lane != LANE_WAITS ? (uint64_t)id * LOCK_LANES + lane : id;
	uint8_t bit = (uint8_t)(1u << lane);
	struct chrome_place *place;
	char name[64];

	if (!chrome_places_reserve(writer, index))
		return chrome_row_make(writer, pid, tid);
	place = &writer->place[index];
	if (!(place->named & bit)) {
		place->named |= bit;
		chrome_thread_label(writer, id, name, sizeof(name));
		if (lane == 0)
			name_process(writer, id);
		chrome_name(writer->chrome, "thread_name", pid, (int64_t)tid, name);
	}
	if (lane != 0)
		return chrome_row_make(writer, pid, tid);
	place->row = (struct chrome_row){ .pid = pid, .tid = tid, .own = true };
	render_row(&place->row);
	return &place->row;
}
