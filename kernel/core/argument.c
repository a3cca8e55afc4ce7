/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Changes events and settings as a string requests: ktrace_control() and the kernel command line. Also
 * reports which word of the string was refused, and suggestions for that word.
 */
#include "core.h"

#define KTRACE_SETTINGS_PREFIX "debug.ktr."

/* Parses a word such as "on", and adds its effect to a pending change. Returns 0 if the word is unknown. */
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

/* Parses words joined by "+". If none of the words is a state, the events keep their state. */
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

/*
 * Returns nonzero if the name is not a setting and does not begin like the name of a setting. Such an
 * argument may be meant for another part of the kernel.
 */
static int is_foreign(struct ktrace_span name, int error)
{
	return error == KTRACE_ERROR_NO_SETTING && !ktrace_span_skip(&name, KTRACE_SETTINGS_PREFIX);
}

/* Applies one item of a list: "pattern", "-pattern", "pattern=words" or "setting=value". */
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

/* The debug= arguments that were found so far on the kernel command line. */
struct debug {
	int all;    /* nonzero: a debug= argument requested all events */
	int groups; /* nonzero: debug= arguments have turned groups on, and all others off */
	int error;  /* the first error that occurred; 0: none */
	struct ktrace_span refused;
	ktrace_refused_visit *visit;
	void *cookie;
};

/*
 * Reports an error, and stores it if it is the first error. The later arguments of the command line are still
 * applied.
 */
static void note_error(struct debug *debug, int error)
{
	size_t length;

	if (error && debug->visit)
		debug->visit(debug->cookie, error);
	if (debug->error || !error)
		return;
	debug->error = error;
	debug->refused.text = ktrace_refused(&length);
	debug->refused.length = (uint32_t)length;
}

/*
 * Turns a group on. The first call that finds a group also turns all other groups off. Returns 0 if there is
 * no such group.
 */
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

/*
 * Applies one debug= argument, whose value is a list of groups. All groups are meant if "ktrace-all" is in
 * the list, or if "ktrace" is in the list and the list has no name of a group.
 */
static void debug_list(struct debug *debug, struct ktrace_span list)
{
	struct ktrace_span name, group;
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
		group = name;
		ktrace_span_skip(&group, "ktrace-");
		if (group_on(debug, group))
			groups = 1;
		else
			note_error(debug, ktrace_refuse(group.length ? group : name, KTRACE_ERROR_NO_EVENT));
	}
	debug->all |= all && !groups;
}

/* Applies one ktrace= argument. */
static void ktrace_list(struct debug *debug, struct ktrace_span list)
{
	struct ktrace_span request;

	while (ktrace_span_next(&list, ",", &request))
		note_error(debug, ktrace_refuse(request, apply(request)));
}

/* Arguments that are not settings are meant for other parts of the kernel. */
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
	return ktrace_boot_arguments(command_line, (ktrace_refused_visit *)0, (void *)0);
}

int ktrace_boot_arguments(const char *command_line, ktrace_refused_visit *refused, void *cookie)
{
	struct ktrace_span line = ktrace_span_of(command_line), rest = line, argument;
	struct debug debug;

	ktrace_attach();
	debug.all = 0;
	debug.groups = 0;
	debug.error = KTRACE_OK;
	debug.visit = refused;
	debug.cookie = cookie;
	while (ktrace_span_next(&rest, " \t\n", &argument))
		if (ktrace_span_skip(&argument, "debug="))
			debug_list(&debug, argument);
	if (debug.all)
		change_events(ktrace_span_of("*"), "on");
	rest = line;
	while (ktrace_span_next(&rest, " \t\n", &argument))
		if (ktrace_span_skip(&argument, "ktrace="))
			ktrace_list(&debug, argument);
		else
			note_error(&debug, setting_argument(argument));
	ktrace_states_update();
	return debug.error ? ktrace_refuse(debug.refused, debug.error) : KTRACE_OK;
}

/* ---- refused words ---------------------------------------------------------------------------- */

/*
 * Words that were refused, and suggestions for them. Names are not stored. The first pass over all names
 * looks for names at edit distance 0 from the word, the next pass for names at distance 1, and so on, until a
 * pass finds names.
 */

#define KTRACE_NAMES	3u
#define KTRACE_FAR	4u  /* maximum edit distance between a word and a suggestion */
#define KTRACE_WORD_MAX 63u /* maximum length of a word; longer words get no suggestions */

struct search {
	struct ktrace_span wanted;
	int has_star, has_dot;
	uint32_t distance; /* edit distance of the names that the current pass looks for */
	uint32_t found;
	int is_known;
	ktrace_near_visit *visit;
	void *cookie;
};

int ktrace_refuse(struct ktrace_span word, int error)
{
	if (error) {
		ktrace_state.refused = word.text;
		ktrace_state.refused_length = word.length;
	}
	return error;
}

const char *ktrace_refused(size_t *length)
{
	*length = ktrace_state.refused_length;
	return ktrace_state.refused;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

/*
 * Returns the edit distance (insertions, deletions, replacements), without regard to case. Requires: the word
 * has at most KTRACE_WORD_MAX letters.
 */
static uint32_t distance(struct ktrace_span word, const char *name)
{
	/*
	 * row[i]: edit distance between the first `read` letters of the name and the first i letters of the
	 * word
	 */
	uint8_t row[KTRACE_WORD_MAX + 1];
	uint32_t read = 0;

	for (uint32_t i = 0; i <= word.length; i++)
		row[i] = (uint8_t)i;
	for (; name[read] && read < word.length + KTRACE_FAR; read++) {
		uint32_t diagonal = row[0];

		row[0] = (uint8_t)(read + 1);
		for (uint32_t i = 1; i <= word.length; i++) {
			uint32_t above = row[i];

			row[i] = (uint8_t)least(least(above, row[i - 1]) + 1,
						diagonal + (lower(word.text[i - 1]) != lower(name[read])));
			diagonal = above;
		}
	}
	return name[read] ? KTRACE_FAR + 1 : row[word.length];
}

/* Compares the word with `name`. If the edit distance is that of the current pass, suggests `suggestion`. */
static void offer_as(struct search *search, const char *name, const char *suggestion)
{
	if (search->found >= KTRACE_NAMES || distance(search->wanted, name) != search->distance)
		return;
	if (search->distance == 0 && name == suggestion && ktrace_span_is(search->wanted, name)) {
		search->is_known = 1;
		return;
	}
	search->found++;
	search->visit(search->cookie, suggestion);
}

static int offer_setting(void *cookie, const char *name)
{
	offer_as(cookie, name, name);
	return 0;
}

/*
 * Compares the word with names of this event: a pattern with "group.*", a word with a dot with "group.event",
 * any other word with "group" and with "event".
 */
static void offer_event(struct search *search, const struct ktrx_event *event)
{
	const char *group = ktrace_event_group(event), *own = ktrace_event_name(event);
	struct ktrace_name full;

	full.length = 0;
	ktrace_name_add(&full, group);
	ktrace_name_add(&full, ".");
	ktrace_name_add(&full, search->has_star ? "*" : own);
	if (!ktrace_name_fits(&full))
		return;
	if (search->has_star) {
		if (ktrace_event_leads_group(event))
			offer_as(search, full.text, full.text);
	} else if (search->has_dot) {
		offer_as(search, full.text, full.text);
	} else {
		if (ktrace_event_leads_group(event))
			offer_as(search, group, group);
		offer_as(search, own, full.text);
	}
}

static void offer_all(struct search *search)
{
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		offer_event(search, event);
	ktrace_setting_each(offer_setting, search);
}

uint32_t ktrace_control_near(const char *word, size_t length, ktrace_near_visit *visit, void *cookie)
{
	struct search search;
	struct ktrace_span value;
	uint32_t farthest;

	ktrace_attach();
	search.wanted.text = word;
	search.wanted.length = length > KTRX_U32_MAX ? KTRX_U32_MAX : (uint32_t)length;
	ktrace_span_skip(&search.wanted, "-");
	ktrace_span_split(search.wanted, '=', &search.wanted, &value);
	search.has_star = 0;
	search.has_dot = 0;
	for (uint32_t i = 0; i < search.wanted.length; i++) {
		search.has_star |= search.wanted.text[i] == '*' || search.wanted.text[i] == '?';
		search.has_dot |= search.wanted.text[i] == '.';
	}
	search.found = 0;
	search.is_known = search.wanted.length > KTRACE_WORD_MAX;
	search.visit = visit;
	search.cookie = cookie;
	farthest = least((search.wanted.length + 2) / 3, KTRACE_FAR);
	for (search.distance = 0; search.distance <= farthest && !search.found && !search.is_known;
	     search.distance++)
		offer_all(&search);
	return search.found;
}
