/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events switched by text: ktrace_control() and the kernel's command line. */
#include "pattern.h"
#include "span.h"

static int state_named(struct ktrace_span word, uint8_t *state)
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
		if (ktrace_span_is(word, states[i].word)) {
			*state = states[i].state;
			return 1;
		}
	}
	return 0;
}

/* One "pattern=state". */
static int apply(struct ktrace_span request)
{
	struct ktrace_span pattern = { request.text, 0 };
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

static int apply_list(struct ktrace_span list)
{
	struct ktrace_span request;
	int error = KTRACE_OK;

	while (!error && ktrace_span_next(&list, ", ", &request))
		error = apply(request);
	return error;
}

int ktrace_control(const char *text)
{
	int error;

	ktrace_attach();
	error = apply_list(ktrace_span_of(text));
	ktrace_states_update();
	return error;
}

/* What the debug= arguments have asked for so far. */
struct debug {
	int all;    /* "ktrace" was given */
	int groups; /* groups were named and are on; all others are off */
};

/* Turns a group on; the first one named turns all others off. 0: no such group. */
static int group_on(struct debug *debug, struct ktrace_span group)
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

static int debug_list(struct debug *debug, struct ktrace_span list)
{
	struct ktrace_span name;
	int error = KTRACE_OK;

	while (ktrace_span_next(&list, ",", &name)) {
		if (ktrace_span_is(name, "ktrace") || ktrace_span_is(name, "ktrace-all"))
			debug->all = 1;
		else if (ktrace_span_skip(&name, "ktrace-"))
			error = group_on(debug, name) ? error : KTRACE_ERROR_NO_EVENT;
		else
			group_on(debug, name);
	}
	return error;
}

int ktrace_boot_argument(const char *command_line)
{
	struct debug debug;
	struct ktrace_span line = ktrace_span_of(command_line);
	struct ktrace_span rest = line;
	struct ktrace_span argument;
	int error = KTRACE_OK;

	ktrace_attach();
	debug.all = 0;
	debug.groups = 0;
	while (!error && ktrace_span_next(&rest, " \t\n", &argument))
		if (ktrace_span_skip(&argument, "debug="))
			error = debug_list(&debug, argument);
	if (debug.all && !debug.groups)
		ktrace_events_set("*", 1, KTRX_STATE_RECORD);
	rest = line;
	while (!error && ktrace_span_next(&rest, " \t\n", &argument))
		if (ktrace_span_skip(&argument, "ktrace="))
			error = apply_list(argument);
	ktrace_states_update();
	return error;
}
