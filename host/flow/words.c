/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/symbols.h"
#include "base/escape.h"
#include "base/ticks.h"
#include "flow/calls.h"

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
