/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which paths are told of files, and which are not, in scripted events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/files.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { LOOKUP = 1, OPEN, READ, WRITE, CLOSE, OTHER };

static struct wellknown_table *table;
static struct files *files;
static uint64_t stamp;
static unsigned fed;

static void declare(void)
{
	script_begin(2);
	stamp = 0;
	fed = 0;
	script_type(LOOKUP, "vfs", "lookup", "string path, u32 inode, i32 result");
	script_type(OPEN, "vfs", "open", "string path, pointer file, u32 inode, i32 result");
	script_type(READ, "vfs", "read", "pointer file, u32 inode");
	script_type(WRITE, "vfs", "write", "pointer file, u32 inode");
	script_type(CLOSE, "vfs", "close", "pointer file, u32 inode");
	script_type(OTHER, "user", "other", "u32 value");
}

static int begin(void **state)
{
	(void)state;
	declare();
	script_info()->rings = SCRIPT_RINGS;
	table = calloc(1, sizeof(*table));
	return table && files_create(&files, script_trace()) == 0 && files ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	files_destroy(files);
	files = NULL;
	free(table);
	script_end();
	return 0;
}

/* The path told of the event added last, "-" if none. */
static const char *told(void)
{
	const struct ktread_event *event = script_at(fed++);
	struct files_path path = files_event(files, event, wellknown_of(table, event));
	static char text[FILES_PATH + 1];

	if (!path.bytes)
		return "-";
	memcpy(text, path.bytes, path.length);
	text[path.length] = '\0';
	return text;
}

static void lookup(const char *path, uint64_t inode, int64_t result)
{
	script_event(LOOKUP, ++stamp, 0, 1, path, inode, V(result));
	assert_string_equal(told(), "-");
}

static void open_file(uint32_t cpu, const char *path, uint64_t file, uint64_t inode, int64_t result)
{
	script_event(OPEN, ++stamp, cpu, 1, path, file, inode, V(result));
	assert_string_equal(told(), "-");
}

static const char *use(uint16_t what, uint32_t cpu, uint64_t file, uint64_t inode)
{
	script_event(what, ++stamp, cpu, 1, file, inode);
	return told();
}

/* An event of that CPU before which slots are missing. */
static void lose(uint32_t cpu)
{
	script_event(OTHER, ++stamp, cpu, 1, V(0))->lost = 3;
	assert_string_equal(told(), "-");
}

static void from_open_to_close(void **state)
{
	(void)state;
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	open_file(0, "/etc/motd", 0x1000, 5, 0);
	assert_string_equal(use(READ, 1, 0x1000, 5), "/etc/motd");
	assert_string_equal(use(WRITE, 0, 0x1000, 5), "/etc/motd");
	open_file(0, "other name", 0x2000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), "/etc/motd");
	assert_string_equal(use(READ, 0, 0x2000, 5), "other name");
	assert_string_equal(use(CLOSE, 0, 0x1000, 5), "/etc/motd");
	assert_string_equal(use(READ, 0, 0x1000, 5), "other name"); /* of the inode */
	assert_string_equal(use(READ, 0, 0x1000, 6), "-");
}

static void a_file_that_became_anothers(void **state)
{
	(void)state;
	open_file(0, "/a", 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 0), "-"); /* a pipe by now */
	assert_string_equal(use(READ, 0, 0x1000, 6), "-");
	open_file(0, "/b", 0x1000, 6, 0);
	assert_string_equal(use(READ, 0, 0x1000, 6), "/b");
	assert_string_equal(use(READ, 0, 0, 0), "-");
}

static void by_lookup(void **state)
{
	(void)state;
	lookup("/dev/console", 33, 0);
	lookup("/nothing", 0, -2);
	assert_string_equal(use(WRITE, 2, 0x3000, 33), "/dev/console");
	lookup("/forbidden", 33, -13);
	assert_string_equal(use(WRITE, 2, 0x3000, 33), "/dev/console");
	lookup("console", 33, 0);
	assert_string_equal(use(CLOSE, 2, 0x3000, 33), "console");
	open_file(0, "/failed", 0x4000, 34, -13);
	assert_string_equal(use(READ, 0, 0x4000, 34), "-");
}

static void nothing_across_a_loss(void **state)
{
	(void)state;
	open_file(0, "/a", 0x1000, 5, 0);
	lose(1);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	open_file(0, "/b", 0x1000, 5, 0);
	assert_string_equal(use(READ, 1, 0x1000, 5), "/b");
	/* The loss before the very event that would be told of. */
	script_event(READ, ++stamp, 0, 1, V(0x1000), V(5))->lost = 1;
	assert_string_equal(told(), "-");
}

/* Nothing before all rings whose beginning was overwritten have begun. */
static void nothing_before_rings_begin(void **state)
{
	(void)state;
	files_destroy(files);
	script_ring(2)->overwritten = 7;
	assert_int_equal(files_create(&files, script_trace()), 0);
	open_file(0, "/a", 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	assert_string_equal(use(READ, 2, 0x1000, 5), "-"); /* ring 2 begins, whether or not it says so */
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	open_file(0, "/b", 0x1000, 5, 0);
	assert_string_equal(use(READ, 1, 0x1000, 5), "/b");
	script_ring(2)->overwritten = 0;
}

static void long_and_cut_paths(void **state)
{
	char path[FILES_PATH + 2];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[FILES_PATH] = '\0';
	open_file(0, path, 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), path);
	path[FILES_PATH] = 'x';
	path[FILES_PATH + 1] = '\0';
	open_file(0, path, 0x1000, 5, 0); /* which is not kept, nor is what was before */
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
}

/* More files than are kept: the newest are right, none is wrong. */
static void more_than_are_kept(void **state)
{
	char path[24];
	unsigned right = 0;

	(void)state;
	for (uint64_t n = 1; n <= 300; n++) {
		snprintf(path, sizeof(path), "/%llu", (unsigned long long)n);
		open_file(0, path, n << 12, n, 0);
		assert_string_equal(use(READ, 0, n << 12, n), path);
	}
	for (uint64_t n = 1; n <= 300; n++) {
		const char *said = use(READ, 0, n << 12, n);

		snprintf(path, sizeof(path), "/%llu", (unsigned long long)n);
		right += strcmp(said, path) == 0;
		assert_true(strcmp(said, path) == 0 || strcmp(said, "-") == 0);
	}
	assert_in_range(right, 100, 300);
}

static void a_trace_without_paths(void **state)
{
	(void)state;
	script_end();
	script_begin(2);
	fed = 0;
	files_destroy(files);
	script_type(READ, "vfs", "read", "pointer file, u32 inode");
	assert_int_equal(files_create(&files, script_trace()), 0);
	assert_null(files);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
}

static void with_a_filter(void **state)
{
	(void)state;
	files_destroy(files);
	script_narrow();
	assert_int_equal(files_create(&files, script_trace()), 0);
	open_file(0, "/a", 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_open_to_close, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_became_anothers, begin, end),
		cmocka_unit_test_setup_teardown(by_lookup, begin, end),
		cmocka_unit_test_setup_teardown(nothing_across_a_loss, begin, end),
		cmocka_unit_test_setup_teardown(nothing_before_rings_begin, begin, end),
		cmocka_unit_test_setup_teardown(long_and_cut_paths, begin, end),
		cmocka_unit_test_setup_teardown(more_than_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(with_a_filter, begin, end),
		cmocka_unit_test_setup_teardown(a_trace_without_paths, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
