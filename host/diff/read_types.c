/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Determines the purpose of each event type in a comparison. */
#include <string.h>

#include "analyze/event_name.h"
#include "diff/read.h"

static const struct {
	uint8_t kind; /* enum wellknown_kind */
	uint8_t noise;
} noises[] = {
	{ WELLKNOWN_SWITCH, DIFF_NOISE_SCHEDULING },	  { WELLKNOWN_BLOCK, DIFF_NOISE_SCHEDULING },
	{ WELLKNOWN_WAKE, DIFF_NOISE_SCHEDULING },	  { WELLKNOWN_WAKE_QUEUE, DIFF_NOISE_SCHEDULING },
	{ WELLKNOWN_WAKE_NOBODY, DIFF_NOISE_SCHEDULING }, { WELLKNOWN_IRQ_ENTER, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_IRQ_EXIT, DIFF_NOISE_INTERRUPT },	  { WELLKNOWN_IRQ_EOI, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_IPI_SEND, DIFF_NOISE_INTERRUPT },	  { WELLKNOWN_IPI_RECEIVE, DIFF_NOISE_INTERRUPT },
	{ WELLKNOWN_FAULT_ENTER, DIFF_NOISE_FAULT },	  { WELLKNOWN_FAULT_EXIT, DIFF_NOISE_FAULT },
	{ WELLKNOWN_LOCK_CONTEND, DIFF_NOISE_LOCK },	  { WELLKNOWN_LOCK_ACQUIRE, DIFF_NOISE_LOCK },
	{ WELLKNOWN_LOCK_RELEASE, DIFF_NOISE_LOCK },	  { WELLKNOWN_LOCK_FAIL, DIFF_NOISE_LOCK },
	{ WELLKNOWN_SIGNAL_SEND, DIFF_NOISE_SIGNAL },	  { WELLKNOWN_SIGNAL_DELIVER, DIFF_NOISE_SIGNAL },
	{ WELLKNOWN_COUNTER, DIFF_NOISE_COUNTER },
};

static const struct {
	const char *name; /* name of an event in the group "proc" */
	uint8_t use, noise;
} process_uses[] = {
	{ "path", READ_PATH, 0 },
	{ "begin", READ_BEGIN, 0 },
	{ "end", READ_END, 0 },
	{ "data", READ_NOISE, DIFF_NOISE_DATA },
	{ "struct", READ_NOISE, DIFF_NOISE_DATA },
	{ "structs", READ_NOISE, DIFF_NOISE_DATA },
	{ "unknown", READ_NOISE, DIFF_NOISE_DATA },
	{ "switch", READ_NOISE, DIFF_NOISE_SCHEDULING },
	{ "signal", READ_NOISE, DIFF_NOISE_SIGNAL },
	{ "fault", READ_NOISE, DIFF_NOISE_FAULT },
	{ "fault_end", READ_NOISE, DIFF_NOISE_FAULT },
	{ "closed", READ_NOISE, DIFF_NOISE_TRACER },
};

static void choose_use(struct reader *reader, struct read_type *bound, const struct ktread_type *type,
		       const struct wellknown *known)
{
	bound->use = READ_STEP;
	if (known->kind == WELLKNOWN_SYSCALL_ENTER)
		bound->use = READ_CALL;
	else if (known->kind == WELLKNOWN_SYSCALL_EXIT)
		bound->use = READ_RETURN;
	for (size_t n = 0; n < sizeof(noises) / sizeof(noises[0]); n++)
		if (noises[n].kind == known->kind) {
			bound->use = READ_NOISE;
			bound->noise = noises[n].noise;
		}
	if (known->kind != WELLKNOWN_PANIC && strcmp(type->group, "ktrace") == 0) {
		bound->use = READ_NOISE;
		bound->noise = DIFF_NOISE_TRACER;
	}
	if (ktread_info(reader->from)->form != KTREAD_FORM_PROCESSES || strcmp(type->group, "proc") != 0)
		return;
	for (size_t n = 0; n < sizeof(process_uses) / sizeof(process_uses[0]); n++)
		if (strcmp(process_uses[n].name, type->name) == 0) {
			bound->use = process_uses[n].use;
			bound->noise = process_uses[n].noise;
		}
}

static uint8_t width_of(uint8_t type)
{
	switch (type) {
	case KTRX_TYPE_U8:
	case KTRX_TYPE_I8:
	case KTRX_TYPE_BOOL:
	case KTRX_TYPE_CHAR:
		return 1;
	case KTRX_TYPE_U16:
	case KTRX_TYPE_I16:
		return 2;
	case KTRX_TYPE_U32:
	case KTRX_TYPE_I32:
		return 4;
	case KTRX_TYPE_STRING:
		return 0;
	default:
		return 8;
	}
}

static bool is_signed(uint8_t type)
{
	return type == KTRX_TYPE_I8 || type == KTRX_TYPE_I16 || type == KTRX_TYPE_I32 ||
	       type == KTRX_TYPE_I64;
}

static void find_numbers(struct read_type *bound, const struct ktread_type *type)
{
	uint16_t offset = 0;

	for (uint32_t n = 0; n < type->fields && n < READ_NUMBERS; n++) {
		const uint8_t width = width_of(type->field[n].type);

		if (width == 0)
			break;
		bound->offset[n] = offset;
		bound->width[n] = width;
		if (is_signed(type->field[n].type))
			bound->is_signed |= (uint8_t)(1u << n);
		bound->numbers++;
		offset = (uint16_t)(offset + width);
	}
}

static void find_fields(struct read_type *bound, const struct ktread_type *type,
			const struct wellknown *known)
{
	bound->result = known->field[WELLKNOWN_RESULT];
	for (uint32_t n = 0; n < type->fields && n < 32; n++) {
		if (type->field[n].type == KTRX_TYPE_STRING)
			bound->strings |= UINT32_C(1) << n;
		else if (bound->result < 0 && n < INT8_MAX &&
			 (strcmp(type->field[n].name, "result") == 0 ||
			  strcmp(type->field[n].name, "status") == 0))
			bound->result = (int8_t)n;
	}
	if (known->field[WELLKNOWN_NUMBER] >= 0)
		bound->first = (uint8_t)(known->field[WELLKNOWN_NUMBER] + 1);
}

const struct read_type *read_type_of(struct reader *reader, const struct ktread_event *event,
				     const struct wellknown *known)
{
	struct read_type *bound = &reader->type[event->id & KTRX_EVENT_MAX];
	char name[2 * ANALYZE_EVENT_NAME_MOST];

	if (bound->use != READ_UNBOUND)
		return bound;
	*bound = (struct read_type){ .result = -1, .kind = DIFF_NONE };
	choose_use(reader, bound, event->type, known);
	find_numbers(bound, event->type);
	find_fields(bound, event->type, known);
	if (bound->use == READ_STEP || bound->use == READ_END) {
		const char *end = analyze_event_name_put(name, event->type);

		bound->kind = diff_trace_kind(reader->trace, name, (size_t)(end - name), false);
		if (bound->kind != DIFF_NONE)
			reader->trace->kind[bound->kind].type = event->type->id;
	}
	return bound;
}
