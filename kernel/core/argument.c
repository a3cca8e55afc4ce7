/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events and settings changed by text: ktrace_control() and the kernel's command line. */
#include "near.h"
#include "pattern.h"
#include "settings.h"
#include "../base/span.h"

#define KTRACE_SETTINGS_PREFIX "debug.ktr."

/* Adds what a word means to a change; 0: no such word. */
static int word_add(struct ktrace_span word, struct ktrace_change *change)
{
	static const struct {
		char word[9];
		struct ktrace_change means;
	} words[] = {
#define KTRACE_WORD(word, change, state, flags) { word, { change, state, flags } },
		KTRX_CHANGE_WORDS(KTRACE_WORD)
#undef KTRACE_WORD
	};

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!ktrace_span_is(word, words[i].word))
			continue;
		change->change |= words[i].means.change;
		change->state |= words[i].means.state;
		change->flags = (change->flags & ~(words[i].means.change >> 1)) | words[i].means.flags;
		return 1;
	}
	return 0;
}

/* "word+word"; without a word for the state that stays as it is. */
static int words_read(struct ktrace_span words, struct ktrace_change *change)
{
	struct ktrace_span word;

	change->change = 0;
	change->state = 0;
	change->flags = 0;
	while (ktrace_span_next(&words, "+", &word))
		if (!word_add(word, change))
			return 0;
	return change->change != 0;
}

static int change_events(struct ktrace_span pattern, const char *word)
{
	struct ktrace_change change;

	if (pattern.length == 0 || !words_read(ktrace_span_of(word), &change))
		return KTRACE_ERROR_SYNTAX;
	return ktrace_events_change(pattern, &change) ? KTRACE_OK : KTRACE_ERROR_NO_EVENT;
}

/* Is it no setting's name, nor meant to be one? Then it may be somebody else's. */
static int is_foreign(struct ktrace_span name, int error)
{
	return error == KTRACE_ERROR_NO_SETTING && !ktrace_span_skip(&name, KTRACE_SETTINGS_PREFIX);
}

/* One "pattern", "-pattern", "pattern=words" or "setting=value". */
static int apply(struct ktrace_span request)
{
	struct ktrace_span name, value;
	struct ktrace_change change;
	int error;

	if (!ktrace_span_split(request, '=', &name, &value)) {
		int off = ktrace_span_skip(&request, "-");

		return change_events(request, off ? "off" : "on");
	}
	error = ktrace_setting_assign(name, value);
	if (!is_foreign(name, error))
		return error;
	if (name.length == 0 || !words_read(value, &change))
		return KTRACE_ERROR_SYNTAX;
	return ktrace_events_change(name, &change) ? KTRACE_OK : KTRACE_ERROR_NO_EVENT;
}

static int apply_list(struct ktrace_span list)
{
	struct ktrace_span request;
	int error = KTRACE_OK;

	while (!error && ktrace_span_next(&list, ", \t\n", &request))
		error = ktrace_refuse(request, apply(request));
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

/* What the boot arguments have asked for so far. */
struct debug {
	int all;    /* one debug= asked for all events */
	int groups; /* groups were named and are on; all others are off */
	int error;  /* the first one; its word is kept */
	struct ktrace_span refused;
};

/* Keeps the first error: what follows is applied all the same. */
static void note_error(struct debug *debug, int error)
{
	size_t length;

	if (debug->error || !error)
		return;
	debug->error = error;
	debug->refused.text = ktrace_refused(&length);
	debug->refused.length = (uint32_t)length;
}

/* Turns a group on; the first one named turns all others off. 0: no such group. */
static int group_on(struct debug *debug, struct ktrace_span group)
{
	if (change_events(group, "on"))
		return 0;
	if (debug->groups++ == 0) {
		change_events(ktrace_span_of("*"), "off");
		change_events(group, "on");
	}
	return 1;
}

/* One debug= argument is a set of groups: all of them if it names "ktrace" and none, or "ktrace-all". */
static void debug_list(struct debug *debug, struct ktrace_span list)
{
	struct ktrace_span name;
	int all = 0, groups = 0;

	while (ktrace_span_next(&list, ",", &name)) {
		if (ktrace_span_is(name, "ktrace-all")) {
			debug->all = 1;
			continue;
		}
		if (ktrace_span_is(name, "ktrace")) {
			all = 1;
			continue;
		}
		ktrace_span_skip(&name, "ktrace-");
		if (group_on(debug, name))
			groups = 1;
		else
			note_error(debug, ktrace_refuse(name, KTRACE_ERROR_NO_EVENT));
	}
	debug->all |= all && !groups;
}

/* Arguments that are no settings are somebody else's. */
static int setting_argument(struct ktrace_span argument)
{
	struct ktrace_span name, value;
	int error;

	if (!ktrace_span_split(argument, '=', &name, &value))
		return KTRACE_OK;
	error = ktrace_setting_assign(name, value);
	return is_foreign(name, error) ? KTRACE_OK : ktrace_refuse(argument, error);
}

int ktrace_boot_argument(const char *command_line)
{
	struct ktrace_span line = ktrace_span_of(command_line), rest = line, argument;
	struct debug debug;

	ktrace_attach();
	debug.all = 0;
	debug.groups = 0;
	debug.error = KTRACE_OK;
	while (ktrace_span_next(&rest, " \t\n", &argument))
		if (ktrace_span_skip(&argument, "debug="))
			debug_list(&debug, argument);
	if (debug.all)
		change_events(ktrace_span_of("*"), "on");
	rest = line;
	while (ktrace_span_next(&rest, " \t\n", &argument))
		note_error(&debug, ktrace_span_skip(&argument, "ktrace=") ? apply_list(argument)
									  : setting_argument(argument));
	ktrace_states_update();
	return debug.error ? ktrace_refuse(debug.refused, debug.error) : KTRACE_OK;
}
