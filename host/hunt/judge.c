/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "hunt.h"

/*
 * Copies the text, with '#' in place of each decimal or hexadecimal number: numbers such as addresses, times
 * and ids differ between runs that failed in the same way.
 */
static void copy_without_numbers(char *to, size_t size, const char *text)
{
	size_t used = 0;

	while (*text && used + 1 < size) {
		if (!isdigit((unsigned char)*text)) {
			to[used++] = *text++;
			continue;
		}
		to[used++] = '#';
		if (text[0] == '0' && text[1] == 'x')
			text += 2;
		while (isxdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1])))
			text++;
	}
	to[used] = '\0';
}

static bool ended_by_itself(const struct hunt_run *run)
{
	return run->status == CAPTURE_CLEAN || run->status == CAPTURE_FAILED;
}

/*
 * If the run ended in another way than the run of seed 0, returns how the run ended. Otherwise returns NULL.
 */
static const char *departure(const struct hunt_run *base, const struct hunt_run *run)
{
	switch (run->status) {
	case CAPTURE_PANIC:
	case CAPTURE_STALL:
	case CAPTURE_RESET:
	case CAPTURE_NOT_SEEN:
		return run->text;
	case CAPTURE_TIMEOUT:
		return ended_by_itself(base) ? "it did not end" : NULL;
	case CAPTURE_CLEAN:
	case CAPTURE_FAILED:
		/* compare the texts, because a text contains the exit status, too */
		return strcmp(base->text, run->text) != 0 ? run->text : NULL;
	default:
		return NULL;
	}
}

enum hunt_cause hunt_judge(const struct hunt_run *base, const struct hunt_run *run, char *key, size_t size)
{
	const char *other = departure(base, run);
	char text[HUNT_TEXT * 2];

	key[0] = '\0';
	if (run->status == HUNT_NOT_RUN || (!run->wrong && !other && !run->rule[0]))
		return HUNT_FINE;
	if (!run->wrong && !other) {
		snprintf(key, size, "rule %s", run->rule);
		return HUNT_BY_RULE;
	}
	copy_without_numbers(text, sizeof(text), run->wrong ? run->what : other);
	snprintf(key, size, "%s%s%s", run->verdict, run->wrong ? ": " : "", text);
	return run->wrong ? HUNT_BY_WHY : HUNT_BY_END;
}

void hunt_describe(const struct hunt_run *run, enum hunt_cause cause, char *text, size_t size)
{
	if (cause == HUNT_BY_RULE)
		snprintf(text, size, "rule %s: %s", run->rule, run->violation);
	else if (cause == HUNT_BY_WHY)
		snprintf(text, size, "%s: %s", run->verdict, run->what);
	else
		snprintf(text, size, "%s", run->text);
}
