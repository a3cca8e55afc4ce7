/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes steps in columns. */
#include "flow/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum column {
	OFFSET,
	ID,
	IMAGE,
	SYMBOL,
	PC,
	EVENT_TYPE,
	EVENT_PAYLOAD,
	TIME,
	PID,
	TID,
	SPACE,
	SOURCE,
	COLUMNS
};

static const struct {
	const char *name;
	int width;  /* width of the column in text output; 0: not padded */
	int number; /* nonzero: the value is a number in JSON, otherwise a string */
} columns_known[COLUMNS] = {
	[OFFSET] = { "offset", 10, 1 },
	[ID] = { "id", 3, 1 },
	[IMAGE] = { "image", 14, 0 },
	[SYMBOL] = { "symbol", 28, 0 },
	[PC] = { "pc", 18, 0 },
	[EVENT_TYPE] = { "event_type", 13, 0 },
	[EVENT_PAYLOAD] = { "event_payload", 0, 0 },
	[TIME] = { "time", 14, 1 },
	[PID] = { "pid", 5, 1 },
	[TID] = { "tid", 5, 1 },
	[SPACE] = { "space", 14, 0 },
	[SOURCE] = { "source", 24, 0 },
};
_Static_assert(COLUMNS <= FLOW_COLUMNS_MOST, "room for all");

#define VALUE_ROOM (FLOW_PLACE_ROOM + FLOW_PAYLOAD_ROOM)

static int find_column(const char *name, size_t length)
{
	for (int n = 0; n < COLUMNS; n++)
		if (strlen(columns_known[n].name) == length &&
		    strncmp(columns_known[n].name, name, length) == 0)
			return n;
	return -1;
}

int flow_columns_parse(struct flow_columns *columns, const char *list)
{
	columns->count = 0;
	for (size_t length;; list += length + 1) {
		int found;

		length = strcspn(list, ",");
		found = find_column(list, length);
		for (unsigned n = 0; n < columns->count; n++)
			if (columns->column[n] == found)
				found = -1;
		if (found < 0)
			return -1;
		columns->column[columns->count++] = (uint8_t)found;
		if (list[length] == '\0')
			return 0;
	}
}

/* Writes a value, padded unless it is in the last column. */
static char *put_padded(char *at, const char *text, int width, int last)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	at += length;
	if (last) {
		*at++ = '\n';
		return at;
	}
	for (; length < (size_t)width; length++)
		*at++ = ' ';
	*at++ = ' ';
	return at;
}

void flow_columns_head(struct flow_columns *columns)
{
	char *at = base_output_line(columns->out);

	for (unsigned n = 0; n < columns->count && !columns->json; n++)
		at = put_padded(at, columns_known[columns->column[n]].name,
				columns_known[columns->column[n]].width, n + 1 == columns->count);
	base_output_done(columns->out, at);
}

/* The step that a line shows. The place (file, function) of its address is looked up once for all columns. */
struct line {
	const struct hwt_step *step;
	uint64_t address;
	int placed; /* set if the step has an address */
	struct hwt_place place;
};

static void locate(const struct flow_columns *columns, struct line *line)
{
	const struct hwt_step *step = line->step;
	int want_line = 0;

	for (unsigned n = 0; n < columns->count; n++)
		want_line |= columns->column[n] == SOURCE;
	line->placed = flow_address(step, &line->address);
	if (!line->placed || !hwt_images_place(columns->flow->images, step->pid, step->stamp, line->address,
					       want_line, &line->place))
		line->place = (struct hwt_place){ 0 };
}

static void put_source(char *to, const struct hwt_place *place)
{
	char name[FLOW_NAME_ROOM];

	*to = '\0';
	if (!place->source)
		return;
	flow_put_name(name, place->source, "");
	snprintf(to, VALUE_ROOM, "%s:%u", name, place->line);
}

/*
 * Writes the value of a column, or "" if there is no value. Strings are escaped. An escaped string is also
 * valid in JSON.
 */
static void put_value(const struct flow_columns *columns, const struct line *line, unsigned column, char *to)
{
	const struct hwt_step *step = line->step;

	*to = '\0';
	switch (column) {
	case OFFSET:
		snprintf(to, VALUE_ROOM, "%" PRIu64, step->offset);
		break;
	case ID:
		snprintf(to, VALUE_ROOM, "%" PRIu32, flow_stream_id(columns->stream));
		break;
	case IMAGE:
		flow_put_name(to, line->place.image, "");
		break;
	case SYMBOL:
		if (line->place.symbol || line->place.image)
			flow_put_place(to, &line->place, line->address);
		break;
	case PC:
		if (line->placed)
			snprintf(to, VALUE_ROOM, "%#" PRIx64, line->address);
		break;
	case EVENT_TYPE:
		snprintf(to, VALUE_ROOM, "%s",
			 step->kind == HWT_RUN ? flow_branch_word(step->branch) : flow_kind_word(step->kind));
		break;
	case EVENT_PAYLOAD:
		flow_put_payload(to, columns->flow, step);
		break;
	case TIME:
		if (step->has_stamp)
			flow_put_time(to, columns->flow, step->stamp);
		break;
	case PID:
		snprintf(to, VALUE_ROOM, "%" PRIu32, step->pid);
		break;
	case TID:
		snprintf(to, VALUE_ROOM, "%" PRIu32, step->tid);
		break;
	case SPACE:
		snprintf(to, VALUE_ROOM, "%#" PRIx64, step->space);
		break;
	default:
		put_source(to, &line->place);
		break;
	}
}

static char *put_json(const struct flow_columns *columns, const struct line *line, char *at)
{
	char value[VALUE_ROOM];
	char *begin = at;

	for (unsigned n = 0; n < columns->count; n++) {
		const unsigned column = columns->column[n];

		put_value(columns, line, column, value);
		if (*value == '\0')
			continue;
		*at = at == begin ? '{' : ',';
		at = base_json_name(at + 1, columns_known[column].name);
		*at++ = ':';
		if (!columns_known[column].number) {
			at = base_json_string(at, value, strlen(value));
			continue;
		}
		memcpy(at, value, strlen(value));
		at += strlen(value);
	}
	if (at == begin)
		*at++ = '{';
	*at++ = '}';
	*at++ = '\n';
	return at;
}

static void write_line(struct flow_columns *columns, const struct hwt_step *step)
{
	struct line line = { .step = step };
	char *at = base_output_line(columns->out);
	char value[VALUE_ROOM];

	locate(columns, &line);
	if (columns->json) {
		base_output_done(columns->out, put_json(columns, &line, at));
		return;
	}
	for (unsigned n = 0; n < columns->count; n++) {
		const unsigned column = columns->column[n];

		put_value(columns, &line, column, value);
		at = put_padded(at, *value ? value : "-", columns_known[column].width,
				n + 1 == columns->count);
	}
	base_output_done(columns->out, at);
}

static int begin(void *view, const struct hwt_stream *stream)
{
	struct flow_columns *columns = view;
	char label[FLOW_NAME_ROOM + 64];

	columns->stream = stream;
	flow_put_stream(label, stream);
	if (columns->headings && !columns->json)
		base_output_format(columns->out, "%s\n", label);
	return 0;
}

static int line(void *view, const struct hwt_step *step)
{
	struct flow_columns *columns = view;

	write_line(columns, step);
	return columns->out->error != 0;
}

const struct flow_view flow_columns = { .begin = begin, .step = line };
