/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the names of locks, queues and interrupts for events that contain only their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "unit/support/script.h"

enum { CONTEND = 1, RELEASE, BLOCK, ENTER, EXIT };

static struct wellknown_table *table;
static struct object_names *names;
static unsigned fed;

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(CONTEND, "lock", "contend", "pointer lock, string name");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(BLOCK, "sched", "block", "pointer queue");
	script_type(ENTER, "irq", "enter", "u32 irq, string name");
	script_type(EXIT, "irq", "exit", "u32 irq");
	fed = 0;
	table = calloc(1, sizeof(*table));
	names = calloc(1, sizeof(*names));
	return table && names ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(table);
	free(names);
	script_end();
	return 0;
}

/* Returns the name for the last event of the script, "-" if none. */
static const char *found(void)
{
	const struct ktread_event *event = script_at(fed++);
	const struct object_name name = object_names_event(names, event, wellknown_of(table, event));
	static char text[OBJECT_NAMES_MOST + 1];

	if (!name.bytes)
		return "-";
	memcpy(text, name.bytes, name.length);
	text[name.length] = '\0';
	return text;
}

static void record_name(uint16_t what, uint64_t number, const char *name)
{
	script_event(what, fed + 1, 0, 1, number, name);
	assert_string_equal(found(), "-");
}

static const char *use(uint16_t what, uint64_t number)
{
	script_event(what, fed + 1, 0, 1, number);
	return found();
}

static void lock_has_the_name_that_was_recorded_last(void **state)
{
	(void)state;
	assert_string_equal(use(RELEASE, 0x1000), "-");
	record_name(CONTEND, 0x1000, "inode");
	assert_string_equal(use(RELEASE, 0x1000), "inode");
	assert_string_equal(use(BLOCK, 0x1000), "inode");
	assert_string_equal(use(RELEASE, 0x2000), "-");
	record_name(CONTEND, 0x1000, "pipe");
	assert_string_equal(use(RELEASE, 0x1000), "pipe");
	script_event(CONTEND, fed + 1, 0, 1, UINT64_C(0x1000), "");
	assert_string_equal(found(), "pipe");
	assert_string_equal(use(RELEASE, 0), "-");
}

static void interrupt_is_not_a_lock_with_the_same_number(void **state)
{
	(void)state;
	record_name(ENTER, 7, "timer");
	assert_string_equal(use(EXIT, 7), "timer");
	assert_string_equal(use(EXIT, 8), "-");
	assert_string_equal(use(RELEASE, 7), "-");
}

static void long_name_is_cut(void **state)
{
	char name[200];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	record_name(CONTEND, 0x1000, name);
	assert_int_equal(strlen(use(RELEASE, 0x1000)), OBJECT_NAMES_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lock_has_the_name_that_was_recorded_last, begin, end),
		cmocka_unit_test_setup_teardown(interrupt_is_not_a_lock_with_the_same_number, begin, end),
		cmocka_unit_test_setup_teardown(long_name_is_cut, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
