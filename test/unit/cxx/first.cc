/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Two files, first.cc and second.cc, record each event of the shared header. This program then writes the
 * trace to standard output, for `ktrace show`. It requires that the instructions which ktrace uses are
 * allowed in user mode.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ktrace/dump.h>

#include "shared.h"

static_assert(in_constexpr(4) == 8,
	      "a constexpr function with an event can still be evaluated by the compiler");

namespace
{
struct same_name {
	static void fire()
	{
		KTRACE_TEXT("unnamed namespace of the first");
	}
};
} // namespace

static void same_static(int value)
{
	KTRACE_TEXT("static of the first %d", value);
}

static int put(struct ktrace_sink *, const void *data, size_t bytes)
{
	const char *from = static_cast<const char *>(data);

	while (bytes > 0) {
		ssize_t written = write(1, from, bytes);

		if (written <= 0)
			return KTRACE_OUTPUT_FAILED;
		from += written;
		bytes -= static_cast<size_t>(written);
	}
	return 0;
}

/* This function is never called. Its event must not affect the other events. */
inline void never_called()
{
	KTRACE_TEXT("never called");
}

extern "C" struct ktrx_root ktrace_root;
extern "C" const char __start_ktrace_events[], __stop_ktrace_events[];

/*
 * Prints each event descriptor of the section to standard error, one per line: the file, the types of the
 * fields, and the text.
 */
static void print_rows()
{
	const char *at = __start_ktrace_events;

	while (at < __stop_ktrace_events) {
		const struct ktrx_event *row = reinterpret_cast<const struct ktrx_event *>(at);
		const char *text = at + sizeof(*row);

		if (row->magic != KTRX_EVENT_MAGIC) {
			if (row->magic != 0 || row->size != 0)
				dprintf(2, "not a row\n");
			at += 8;
			continue;
		}
		text += strlen(text) + 1;
		text += strlen(text) + 1;
		dprintf(2, "%s", strrchr(text + strlen(text) + 1, '/') + 1);
		for (unsigned i = 0; i < row->fields; i++)
			dprintf(2, " %u", row->type[i]);
		dprintf(2, " %s\n", text);
		at += row->size;
	}
}

int main()
{
	alignas(8) static unsigned char buffer[1 << 16];
	int array[3] = {};
	char name[] = "name";
	base<long> virtual_one;
	struct ktrace_sink sink = { put, nullptr, buffer, sizeof(buffer) };

	for (int turn = 0; turn < 2; turn++)
		in_inline(turn);
	in_template(1);
	in_template(2L);
	with_type("char", 'c');
	with_type("array", array);
	holder<int>{ 3 }.method("first");
	virtual_one.overridden(4);
	same_name::fire();
	same_static(5);
	bits{ 5, -6 }.show();
	in_long("first");
	[] { KTRACE_TEXT("a lambda of its own"); }();
	KTRACE_TEXT("array of characters %s, of others %p", name, array);
	KTRACE_TEXT("null %p", nullptr);
	KTRACE_TEXT("of each size %d %d %d %lld %d %c", static_cast<signed char>(-1), static_cast<short>(-2),
		    -3, -4LL, true, 'c');
	in_constexpr(6);
	second_file(10);
	print_rows();
	return ktrace_dump_v2(&ktrace_root, &sink) == 0 ? 0 : 1;
}
