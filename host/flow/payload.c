/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/payload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "flow/views.h"
#include "hwt/spe.h"

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

/* " name=these,words" of what a packet of a sample says. */
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

/* "to 0x1000 (main)"; what lies nowhere that is known, as 0, has no name. */
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

int flow_address(const struct hwt_step *step, uint64_t *address)
{
	*address = step->kind == HWT_SAMPLE ? step->sample->pc : step->address;
	return step->kind == HWT_RUN || step->kind == HWT_ON || step->kind == HWT_ASYNC ||
	       (step->kind == HWT_OFF && step->has_address) ||
	       (step->kind == HWT_SAMPLE && has(step->sample, HWT_SAMPLE_PC));
}
