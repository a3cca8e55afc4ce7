/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events switched by text: ktrace_control() and the kernel's command line. */
#include "pattern.h"

struct span {
	const char *text;
	uint32_t length;
};

static int span_is(struct span span, const char *word)
{
	uint32_t at = 0;

	while (at < span.length && word[at] && span.text[at] == word[at])
		at++;
	return at == span.length && word[at] == '\0';
}

/* Takes a prefix off; 0 if the span does not begin with it. */
static int span_skip(struct span *span, const char *prefix)
{
	uint32_t at = 0;

	for (; prefix[at]; at++)
		if (at == span->length || span->text[at] != prefix[at])
			return 0;
	span->text += at;
	span->length -= at;
	return 1;
}

/* The next piece of a text between separators, empty pieces left out; 0 at the end. */
static int span_next(struct span *rest, const char *separators, struct span *piece)
{
	struct span wide = { separators, 0 };

	while (separators[wide.length])
		wide.length++;
	piece->length = 0;
	while (rest->length > 0) {
		int separator = 0;

		for (uint32_t i = 0; i < wide.length; i++)
			separator |= rest->text[0] == separators[i];
		if (separator && piece->length > 0)
			return 1;
		if (!separator && piece->length++ == 0)
			piece->text = rest->text;
		rest->text++;
		rest->length--;
	}
	return piece->length > 0;
}

static struct span span_of(const char *text)
{
	struct span span = { text, 0 };

	while (text[span.length])
		span.length++;
	return span;
}

static int state_named(struct span word, uint8_t *state)
{
	static const struct {
		char word[6];
		uint8_t state;
	} states[] = {
		{ "on", KTRX_STATE_RECORD },
		{ "off", KTRX_STATE_OFF },
		{ "count", KTRX_STATE_COUNT },
		{ "both", KTRX_STATE_RECORD | KTRX_STATE_COUNT },
		{ "stop", KTRX_STATE_RECORD | KTRX_STATE_STOP },
	};

	for (uint32_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (span_is(word, states[i].word)) {
			*state = states[i].state;
			return 1;
		}
	}
	return 0;
}

/* One "pattern=state". */
static int apply(struct span request)
{
	struct span pattern = { request.text, 0 };
	uint8_t state;

	while (pattern.length < request.length && pattern.text[pattern.length] != '=')
		pattern.length++;
	if (pattern.length == 0 || pattern.length == request.length)
		return KTRACE_ERROR_SYNTAX;
	request.text += pattern.length + 1;
	request.length -= pattern.length + 1;
	if (!state_named(request, &state))
		return KTRACE_ERROR_SYNTAX;
	return ktrace_events_set(pattern.text, pattern.length, state) ? KTRACE_OK : KTRACE_ERROR_NO_EVENT;
}

static int apply_list(struct span list)
{
	struct span request;
	int error = KTRACE_OK;

	while (!error && span_next(&list, ", ", &request))
		error = apply(request);
	return error;
}

int ktrace_control(const char *text)
{
	int error;

	ktrace_attach();
	error = apply_list(span_of(text));
	ktrace_states_update();
	return error;
}

/* What the debug= arguments have asked for so far. */
struct debug {
	int all;    /* "ktrace" was given */
	int groups; /* groups were named and are on; all others are off */
};

/* Turns a group on; the first one named turns all others off. 0: no such group. */
static int group_on(struct debug *debug, struct span group)
{
	static const char every[] = "*";

	if (!ktrace_events_set(group.text, group.length, KTRX_STATE_RECORD))
		return 0;
	if (debug->groups++ == 0) {
		ktrace_events_set(every, 1, KTRX_STATE_OFF);
		ktrace_events_set(group.text, group.length, KTRX_STATE_RECORD);
	}
	return 1;
}

static int debug_list(struct debug *debug, struct span list)
{
	struct span name;
	int error = KTRACE_OK;

	while (span_next(&list, ",", &name)) {
		if (span_is(name, "ktrace") || span_is(name, "ktrace-all"))
			debug->all = 1;
		else if (span_skip(&name, "ktrace-"))
			error = group_on(debug, name) ? error : KTRACE_ERROR_NO_EVENT;
		else
			group_on(debug, name);
	}
	return error;
}

int ktrace_boot_argument(const char *command_line)
{
	struct debug debug;
	struct span line = span_of(command_line);
	struct span rest = line;
	struct span argument;
	int error = KTRACE_OK;

	ktrace_attach();
	debug.all = 0;
	debug.groups = 0;
	while (!error && span_next(&rest, " \t\n", &argument))
		if (span_skip(&argument, "debug="))
			error = debug_list(&debug, argument);
	if (debug.all && !debug.groups)
		ktrace_events_set("*", 1, KTRX_STATE_RECORD);
	rest = line;
	while (!error && span_next(&rest, " \t\n", &argument))
		if (span_skip(&argument, "ktrace="))
			error = apply_list(argument);
	ktrace_states_update();
	return error;
}
