/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions of hardware traces that are shown beside the events. */
#include "export/chrome_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/json.h"
#include "ktrx/v2.h"

static uint64_t add_track(void *context, const char *name, uint64_t stamp)
{
	struct chrome_writer *writer = context;
	const uint64_t track = writer->function_tracks++;

	(void)stamp;
	if (track == 0)
		chrome_name(writer->chrome, "process_name", ROW_FUNCTIONS, -1, "functions");
	chrome_name(writer->chrome, "thread_name", ROW_FUNCTIONS, (int64_t)track, name);
	return track;
}

static void draw_function(void *context, uint64_t track, enum functions_mark mark,
			  const struct ktread_event *event, uint64_t stamp)
{
	struct chrome_writer *writer = context;
	struct chrome_row *row = chrome_row_make(writer, ROW_FUNCTIONS, track);
	char name[CHROME_ROWS_NAME] = "?", *at;
	struct ktread_value value;

	if (mark == FUNCTIONS_END) {
		at = chrome_put_end(writer, row, stamp);
		if (at)
			chrome_finish(writer, at);
		return;
	}
	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		snprintf(name, sizeof(name), "%.*s",
			 (int)base_utf8_cut(value.string, value.length, sizeof(name) - 1), value.string);
	at = mark == FUNCTIONS_BEGIN
		     ? chrome_put_begin(writer, row, stamp, (struct chrome_piece){ .text = NULL }, name)
		     : chrome_put_head(writer, 'i', row, stamp);
	if (!at)
		return;
	at = base_json_string(base_put_literal(at, ",\"name\":"), name, strlen(name));
	at = base_put_literal(at, ",\"cat\":\"hwt\"");
	if (mark == FUNCTIONS_INSTANT)
		at = base_put_literal(at, ",\"s\":\"t\"");
	chrome_finish_event(writer, at, event, chrome_writer_shape(writer, event), CHROME_END);
}

int chrome_write_function(struct chrome_writer *writer, const struct ktread_event *event)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	writer->path = (struct files_path){ 0 };
	writer->events++;
	return functions_event(&writer->functions, &sink, event, event->stamp);
}

void chrome_close_functions(struct chrome_writer *writer, uint64_t last)
{
	const struct functions_sink sink = { add_track, draw_function, writer };

	functions_close(&writer->functions, &sink, last);
}
