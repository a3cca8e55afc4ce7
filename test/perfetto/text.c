/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "perfetto/text.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

enum form { NUMBER, SIGNED, FIXED, STRING, MESSAGE };

struct field {
	uint32_t number;
	const char *name;
	enum form form;
	/* fields of an embedded message; an element with number 0 ends the array */
	const struct field *message;
};

#define END                           \
	{                             \
		0, NULL, NUMBER, NULL \
	}

static const struct field waking[] = {
	{ 1, "comm", STRING, NULL },	{ 2, "pid", SIGNED, NULL },	   { 3, "prio", SIGNED, NULL },
	{ 4, "success", SIGNED, NULL }, { 5, "target_cpu", SIGNED, NULL }, END,
};

static const struct field ftrace_event[] = {
	{ 1, "timestamp", NUMBER, NULL },
	{ 2, "pid", NUMBER, NULL },
	{ 20, "sched_waking", MESSAGE, waking },
	END,
};

static const struct field ftrace_bundle[] = {
	{ 1, "cpu", NUMBER, NULL },
	{ 2, "event", MESSAGE, ftrace_event },
	{ 3, "lost_events", NUMBER, NULL },
	END,
};

static const struct field clock[] = { { 1, "clock_id", NUMBER, NULL },
				      { 2, "timestamp", NUMBER, NULL },
				      END };

static const struct field clock_snapshot[] = {
	{ 1, "clocks", MESSAGE, clock },
	{ 2, "primary_trace_clock", NUMBER, NULL },
	END,
};

static const struct field utsname[] = {
	{ 1, "sysname", STRING, NULL },
	{ 2, "version", STRING, NULL },
	{ 3, "release", STRING, NULL },
	{ 4, "machine", STRING, NULL },
	END,
};

static const struct field system_info[] = {
	{ 1, "utsname", MESSAGE, utsname },
	{ 8, "num_cpus", NUMBER, NULL },
	END,
};

static const struct field interned_name[] = { { 1, "iid", NUMBER, NULL }, { 2, "name", STRING, NULL }, END };

static const struct field interned_data[] = {
	{ 1, "event_categories", MESSAGE, interned_name },
	{ 2, "event_names", MESSAGE, interned_name },
	{ 3, "debug_annotation_names", MESSAGE, interned_name },
	END,
};

static const struct field annotation[] = {
	{ 1, "name_iid", NUMBER, NULL },     { 2, "bool_value", NUMBER, NULL },
	{ 3, "uint_value", NUMBER, NULL },   { 4, "int_value", SIGNED, NULL },
	{ 6, "string_value", STRING, NULL }, { 7, "pointer_value", NUMBER, NULL },
	{ 10, "name", STRING, NULL },	     END,
};

static const struct field track_event[] = {
	{ 3, "category_iids", NUMBER, NULL },
	{ 4, "debug_annotations", MESSAGE, annotation },
	{ 9, "type", NUMBER, NULL },
	{ 10, "name_iid", NUMBER, NULL },
	{ 11, "track_uuid", NUMBER, NULL },
	{ 22, "categories", STRING, NULL },
	{ 23, "name", STRING, NULL },
	{ 30, "counter_value", SIGNED, NULL },
	{ 47, "flow_ids", FIXED, NULL },
	{ 48, "terminating_flow_ids", FIXED, NULL },
	END,
};

static const struct field process[] = {
	{ 1, "pid", SIGNED, NULL },
	{ 2, "cmdline", STRING, NULL },
	{ 6, "process_name", STRING, NULL },
	END,
};

static const struct field thread[] = {
	{ 1, "pid", SIGNED, NULL },
	{ 2, "tid", SIGNED, NULL },
	{ 5, "thread_name", STRING, NULL },
	END,
};

static const struct field counter[] = {
	{ 3, "unit", NUMBER, NULL },
	{ 4, "unit_multiplier", SIGNED, NULL },
	{ 6, "unit_name", STRING, NULL },
	END,
};

static const struct field track_descriptor[] = {
	{ 1, "uuid", NUMBER, NULL },
	{ 2, "name", STRING, NULL },
	{ 3, "process", MESSAGE, process },
	{ 4, "thread", MESSAGE, thread },
	{ 5, "parent_uuid", NUMBER, NULL },
	{ 8, "counter", MESSAGE, counter },
	END,
};

static const struct field task_state[] = {
	{ 1, "cpu", SIGNED, NULL },   { 2, "comm", STRING, NULL }, { 3, "tid", SIGNED, NULL },
	{ 4, "state", NUMBER, NULL }, { 5, "prio", SIGNED, NULL }, END,
};

static const struct field tree_process[] = {
	{ 1, "pid", SIGNED, NULL },
	{ 2, "ppid", SIGNED, NULL },
	{ 3, "cmdline", STRING, NULL },
	END,
};

static const struct field tree_thread[] = {
	{ 1, "tid", SIGNED, NULL },	{ 2, "pid", SIGNED, NULL },
	{ 3, "comm", STRING, NULL },	{ 4, "is_main_thread", NUMBER, NULL },
	{ 5, "is_idle", NUMBER, NULL }, END,
};

static const struct field process_tree[] = {
	{ 1, "processes", MESSAGE, tree_process },
	{ 2, "threads", MESSAGE, tree_thread },
	END,
};

static const struct field packet[] = {
	{ 1, "ftrace_events", MESSAGE, ftrace_bundle },
	{ 6, "clock_snapshot", MESSAGE, clock_snapshot },
	{ 8, "timestamp", NUMBER, NULL },
	{ 10, "trusted_packet_sequence_id", NUMBER, NULL },
	{ 11, "track_event", MESSAGE, track_event },
	{ 12, "interned_data", MESSAGE, interned_data },
	{ 13, "sequence_flags", NUMBER, NULL },
	{ 42, "previous_packet_dropped", NUMBER, NULL },
	{ 45, "system_info", MESSAGE, system_info },
	{ 60, "track_descriptor", MESSAGE, track_descriptor },
	{ 87, "first_packet_on_sequence", NUMBER, NULL },
	{ 117, "generic_kernel_task_state_event", MESSAGE, task_state },
	{ 122, "generic_kernel_process_tree", MESSAGE, process_tree },
	END,
};

struct bytes {
	const unsigned char *at, *end;
};

static int take_varint(struct bytes *from, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 70 && from->at < from->end; shift += 7) {
		unsigned char byte = *from->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return 0;
	}
	return -1;
}

static int take_block(struct bytes *from, struct bytes *block)
{
	uint64_t length;

	if (take_varint(from, &length) != 0 || length > (uint64_t)(from->end - from->at))
		return -1;
	*block = (struct bytes){ from->at, from->at + length };
	from->at += length;
	return 0;
}

static const struct field *find(const struct field *message, uint64_t number)
{
	while (message->number != 0 && message->number != number)
		message++;
	return message->number != 0 ? message : NULL;
}

static int print_message(FILE *to, const struct field *message, struct bytes from);

static int print_block(FILE *to, const struct field *field, struct bytes block)
{
	int status = 0;

	if (field->form == MESSAGE) {
		fputc('{', to);
		status = print_message(to, field->message, block);
		fputc('}', to);
	} else if (field->form == STRING) {
		fprintf(to, "=\"%.*s\"", (int)(block.end - block.at), (const char *)block.at);
	} else {
		status = -1;
	}
	return status;
}

static int print_field(FILE *to, const struct field *field, unsigned wire, struct bytes *from)
{
	struct bytes block;
	uint64_t value;

	if (wire == 2)
		return take_block(from, &block) == 0 ? print_block(to, field, block) : -1;
	if (wire == 1 && field->form == FIXED && from->end - from->at >= 8) {
		memcpy(&value, from->at, 8);
		from->at += 8;
		fprintf(to, "=%#" PRIx64, value);
		return 0;
	}
	if (wire != 0 || take_varint(from, &value) != 0)
		return -1;
	if (field->form == SIGNED)
		fprintf(to, "=%" PRId64, (int64_t)value);
	else if (field->form == NUMBER)
		fprintf(to, "=%" PRIu64, value);
	else
		return -1;
	return 0;
}

static int print_message(FILE *to, const struct field *message, struct bytes from)
{
	const unsigned char *start = from.at;

	while (from.at < from.end) {
		const struct field *field;
		uint64_t key;

		if (from.at > start)
			fputc(' ', to);
		if (take_varint(&from, &key) != 0)
			return -1;
		field = find(message, key >> 3);
		if (!field) {
			fprintf(to, "unknown field %" PRIu64, key >> 3);
			return -1;
		}
		fputs(field->name, to);
		if (print_field(to, field, (unsigned)(key & 7), &from) != 0) {
			fputs(" malformed", to);
			return -1;
		}
	}
	return 0;
}

int perfetto_text(FILE *to, const unsigned char *bytes, size_t length)
{
	static const struct field trace[] = { { 1, "packet", MESSAGE, packet }, END };
	struct bytes from = { bytes, bytes + length };

	while (from.at < from.end) {
		struct bytes one = from;
		struct bytes block;
		uint64_t key;

		if (take_varint(&from, &key) != 0 || key != (1 << 3 | 2) || take_block(&from, &block) != 0) {
			fprintf(to, "no packet at byte %zu\n", (size_t)(one.at - bytes));
			return -1;
		}
		one.end = from.at;
		if (print_message(to, trace, one) != 0) {
			fprintf(to, "\nin the packet at byte %zu\n", (size_t)(one.at - bytes));
			return -1;
		}
		fputc('\n', to);
	}
	return 0;
}
