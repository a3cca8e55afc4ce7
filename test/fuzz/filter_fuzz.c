/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of expressions of --where: the bytes are an expression. A valid expression is applied to a
 * scripted trace. Each event that it accepts must be in the expression's time window, and `not` must invert
 * its result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "filter: %s\n", what);
	abort();
}

static void make_trace(void)
{
	script_begin(2);
	script_type(1, "sched", "switch", "u32 prev,u32 next");
	script_type(2, "syscall", "exit", "u32 nr,i64 result,u64 ran us");
	script_type(3, "vfs", "open", "string path,u32 fd");
	script_thread(7, "worker");
	script_event(1, 1000, 0, 1, V(1), V(7));
	script_event(2, 2000000, 1, 7, V(59), V(-2), V(1500));
	script_event(3, 3000000, KTRX_NO_CPU, KTREAD_NO_THREAD, "/etc/passwd", V(3));
	script_event(3, 3000000000, 2, 7, "", V(0))->payload_size = 1;
}

static bool is_inside(const struct filter_window *window, const struct ktread_event *event)
{
	return (window->events[event->id / 8] >> event->id % 8 & 1) &&
	       (!window->some_cpus ||
		(event->cpu < FILTER_CPUS && (window->cpus[event->cpu / 8] >> event->cpu % 8 & 1))) &&
	       event->stamp >= window->since && event->stamp <= window->until;
}

static bool open_filter(struct filter **filter, const char *text)
{
	struct filter_error error = { .column = 0 };

	if (filter_parse(filter, text, &error) == 0 && filter_bind(*filter, script_trace(), &error) == 0)
		return true;
	check(error.column > 0 && error.column <= strlen(text) + 1,
	      "the column is outside of the expression");
	check(strnlen(error.text, sizeof(error.text)) < sizeof(error.text), "the message has no end");
	filter_free(*filter);
	return false;
}

static void evaluate(const struct filter *filter, const struct filter *opposite)
{
	struct filter_window window;

	filter_narrow(filter, &window);
	for (unsigned n = 0; n < script_count(); n++) {
		const struct ktread_event *event = script_at(n);
		const bool accepts = filter_accepts(filter, event);

		check(!accepts || is_inside(&window, event), "an accepted event is outside of the window");
		check(!window.only_time || accepts == is_inside(&window, event), "the window is wrong");
		check(!opposite || accepts != filter_accepts(opposite, event), "`not` has no effect");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct filter *filter, *opposite = NULL;
	char *text = calloc(1, size + 8);

	if (!text)
		return 0;
	make_trace();
	snprintf(text, size + 8, "not (%.*s)", (int)size, (const char *)bytes);
	if (strlen(text) == size + 6 && !open_filter(&opposite, text))
		opposite = NULL;
	memcpy(text, bytes, size);
	text[size] = '\0';
	if (open_filter(&filter, text)) {
		evaluate(filter, opposite);
		filter_free(filter);
	}
	filter_free(opposite);
	script_end();
	free(text);
	return 0;
}
