/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes names, places, times and steps as text. */
#include "flow/views.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/symbols.h"
#include "base/escape.h"
#include "base/ticks.h"
#include "flow/flow.h"
#include "hwt/spe.h"

size_t flow_put_name(char *to, const char *name, const char *otherwise)
{
	char *end;

	if (!name)
		name = otherwise;
	end = base_escape_text(to, name, strnlen(name, FLOW_NAME_MOST), FLOW_NAME_ROOM - 1);
	*end = '\0';
	return (size_t)(end - to);
}

size_t flow_put_function(char *to, const struct flow_function *function)
{
	char image[FLOW_NAME_ROOM];

	if (function->name)
		return flow_put_name(to, demangled(function->name), "");
	flow_put_name(image, function->image, "unknown");
	return (size_t)snprintf(to, FLOW_NAME_ROOM, "[%.*s]", (int)FLOW_NAME_ROOM - 3, image);
}

size_t flow_put_place(char *to, const struct hwt_place *place, uint64_t address)
{
	char name[FLOW_NAME_ROOM];
	int length;

	flow_put_name(name, place->symbol ? demangled(place->symbol) : place->image, "");
	if (place->symbol && place->into)
		length = snprintf(to, FLOW_PLACE_ROOM, "%s+%#" PRIx64, name, place->into);
	else if (place->symbol)
		length = snprintf(to, FLOW_PLACE_ROOM, "%s", name);
	else if (place->image)
		length = snprintf(to, FLOW_PLACE_ROOM, "[%s]+%#" PRIx64, name, place->offset);
	else
		length = snprintf(to, FLOW_PLACE_ROOM, "%#" PRIx64, address);
	return (size_t)length;
}

size_t flow_put_time(char *to, const struct flow *flow, uint64_t stamp)
{
	uint64_t ticks = stamp > flow->base ? stamp - flow->base : 0, ns;

	if (flow->frequency == 0)
		return (size_t)snprintf(to, 32, "%" PRIu64, ticks);
	ns = base_ticks_nanoseconds_exact(ticks, flow->frequency);
	return (size_t)snprintf(to, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

size_t flow_put_span(char *to, const struct flow *flow, uint64_t ticks)
{
	uint64_t ns;

	if (flow->frequency == 0)
		return (size_t)snprintf(to, 32, "%" PRIu64, ticks);
	ns = base_ticks_nanoseconds_exact(ticks, flow->frequency);
	return (size_t)snprintf(to, 32, "%" PRIu64 ".%03" PRIu64, ns / 1000u, ns % 1000u);
}

const char *flow_branch_word(uint8_t branch)
{
	static const char *const words[] = {
		[HWT_BRANCH_NONE] = "run",
		[HWT_BRANCH_CALL] = "call",
		[HWT_BRANCH_RETURN] = "return",
		[HWT_BRANCH_JUMP] = "jump",
		[HWT_BRANCH_CONDITIONAL] = "conditional",
		[HWT_BRANCH_INDIRECT] = "indirect",
		[HWT_BRANCH_INDIRECT_CALL] = "indirect_call",
		[HWT_BRANCH_ENTER_KERNEL] = "enter_kernel",
		[HWT_BRANCH_LEAVE_KERNEL] = "leave_kernel",
	};

	return branch < sizeof(words) / sizeof(words[0]) ? words[branch] : "unknown";
}

const char *flow_kind_word(uint8_t kind)
{
	static const char *const words[] = {
		[HWT_RUN] = "run",	   [HWT_ON] = "on",	    [HWT_OFF] = "off",
		[HWT_ASYNC] = "interrupt", [HWT_SPACE] = "space",   [HWT_OVERFLOW] = "overflow",
		[HWT_GAP] = "gap",	   [HWT_SAMPLE] = "sample", [HWT_NOTE] = "note",
	};

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "unknown";
}

const char *flow_how_word(uint8_t how)
{
	static const char *const words[] = {
		[FLOW_SEEN] = "seen",		[FLOW_CALL] = "call",	  [FLOW_TAIL] = "tail",
		[FLOW_INTERRUPT] = "interrupt", [FLOW_KERNEL] = "kernel",
	};

	return how < sizeof(words) / sizeof(words[0]) ? words[how] : "unknown";
}

size_t flow_put_stream(char *to, const struct hwt_stream *stream)
{
	char name[FLOW_NAME_ROOM];
	int length;

	if (stream->context.mode != KTRX_HWT_MODE_THREAD)
		return (size_t)snprintf(to, FLOW_NAME_ROOM + 64, "CPU %u", (unsigned)stream->cpu);
	flow_put_name(name, stream->name, "");
	length = snprintf(to, FLOW_NAME_ROOM + 64, "thread %u of process %u%s%s", (unsigned)stream->unit,
			  (unsigned)stream->pid, *name ? ": " : "", name);
	return (size_t)length;
}

/* ---- The contents of a step besides its address ---- */

struct text {
	char *to;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	size_t room = FLOW_PAYLOAD_ROOM - text->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->to + text->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void add_escaped(struct text *text, const char *words)
{
	char *end;

	if (!words)
		return;
	end = base_escape_text(text->to + text->length, words, strlen(words),
			       FLOW_PAYLOAD_ROOM - text->length - 1);
	*end = '\0';
	text->length = (size_t)(end - text->to);
}

static int has(const struct hwt_sample *sample, enum hwt_sample_part part)
{
	return sample->has >> part & 1;
}

/* Appends " name=word,word", with the words that describe a packet of a sample. */
static void add_words(struct text *text, const char *name, const struct spe_packet *packet)
{
	char words[256];

	spe_packet_text(packet, words, sizeof(words));
	for (char *blank = words; (blank = strchr(blank, ' ')); *blank++ = ',')
		;
	add(text, " %s=%s", name, words);
}

static void add_sample(struct text *text, const struct hwt_sample *sample)
{
	static const struct {
		enum hwt_sample_part part;
		size_t at;
		const char *name;
	} addresses[] = {
		{ HWT_SAMPLE_TARGET, offsetof(struct hwt_sample, target), "target" },
		{ HWT_SAMPLE_DATA_VIRTUAL, offsetof(struct hwt_sample, data_virtual), "data" },
		{ HWT_SAMPLE_DATA_PHYSICAL, offsetof(struct hwt_sample, data_physical), "physical" },
		{ HWT_SAMPLE_PREVIOUS_TARGET, offsetof(struct hwt_sample, previous_target), "previous" },
	};
	uint64_t value;

	if (has(sample, HWT_SAMPLE_OPERATION))
		add_words(text, "operation",
			  &(struct spe_packet){ .kind = SPE_OPERATION,
						.index = sample->operation_class,
						.payload = sample->operation });
	for (size_t n = 0; n < sizeof(addresses) / sizeof(addresses[0]); n++) {
		if (!has(sample, addresses[n].part))
			continue;
		memcpy(&value, (const char *)sample + addresses[n].at, sizeof(value));
		add(text, " %s=%#" PRIx64, addresses[n].name, value);
	}
	if (has(sample, HWT_SAMPLE_EVENTS))
		add_words(text, "events",
			  &(struct spe_packet){ .kind = SPE_EVENTS, .payload = sample->events });
	if (has(sample, HWT_SAMPLE_SOURCE))
		add(text, " source=%#" PRIx32, sample->source);
	if (has(sample, HWT_SAMPLE_CONTEXT_EL1))
		add(text, " context=%#" PRIx32, sample->context_el1);
	if (has(sample, HWT_SAMPLE_CONTEXT_EL2))
		add(text, " context_el2=%#" PRIx32, sample->context_el2);
	if (has(sample, HWT_SAMPLE_LATENCY_TOTAL))
		add(text, " total=%u", sample->latency_total);
	if (has(sample, HWT_SAMPLE_LATENCY_ISSUE))
		add(text, " issue=%u", sample->latency_issue);
	if (has(sample, HWT_SAMPLE_LATENCY_TRANSLATION))
		add(text, " translation=%u", sample->latency_translation);
}

/*
 * Appends the target of the step, such as "to 0x1000 (main)". Leaves out the name if the address is in no
 * known code, for example 0.
 */
static void add_target(struct text *text, const struct flow *flow, const struct hwt_step *step)
{
	char name[FLOW_PLACE_ROOM];
	struct hwt_place place;

	if (!step->has_to)
		return;
	add(text, "%sto 0x%" PRIx64, text->length ? ", " : "", step->to);
	if (!hwt_images_place(flow->images, step->pid, step->stamp, step->to, 0, &place) ||
	    (!place.symbol && !place.image))
		return;
	flow_put_place(name, &place, step->to);
	add(text, " (%s)", name);
}

static void add_run(struct text *text, const struct flow *flow, const struct hwt_step *step)
{
	add(text, "%" PRIu32 " instruction%s", step->instructions, step->instructions == 1 ? "" : "s");
	if (step->branch == HWT_BRANCH_CONDITIONAL)
		add(text, ", %s", step->taken ? "taken" : "not taken");
	if (step->last != step->address)
		add(text, ", at %#" PRIx64, step->last);
	if (step->branch == HWT_BRANCH_INDIRECT || step->branch == HWT_BRANCH_INDIRECT_CALL)
		add_target(text, flow, step);
}

size_t flow_put_payload(char *to, const struct flow *flow, const struct hwt_step *step)
{
	struct text text = { .to = to };

	*to = '\0';
	switch (step->kind) {
	case HWT_RUN:
		add_run(&text, flow, step);
		break;
	case HWT_ASYNC:
		add_target(&text, flow, step);
		break;
	case HWT_SPACE:
		add(&text, "%#" PRIx64, step->space);
		if (step->tid)
			add(&text, ", thread %" PRIu32, step->tid);
		break;
	case HWT_GAP:
		add(&text, "%s", step->gap == HWT_GAP_DAMAGED ? "damaged: " : "");
		add_escaped(&text, step->text);
		break;
	case HWT_SAMPLE:
		add_sample(&text, step->sample);
		if (text.length)
			memmove(to, to + 1, text.length--);
		break;
	default:
		add_escaped(&text, step->text);
		break;
	}
	return text.length;
}
