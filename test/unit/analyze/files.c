/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which paths of files are inferred from scripted events, and which are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
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

/* Returns the path inferred for the last event, "-" if none. */
static const char *inferred_path(void)
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
	assert_string_equal(inferred_path(), "-");
}

static void open_file(uint32_t cpu, const char *path, uint64_t file, uint64_t inode, int64_t result)
{
	script_event(OPEN, ++stamp, cpu, 1, path, file, inode, V(result));
	assert_string_equal(inferred_path(), "-");
}

static const char *use(uint16_t what, uint32_t cpu, uint64_t file, uint64_t inode)
{
	script_event(what, ++stamp, cpu, 1, file, inode);
	return inferred_path();
}

/* Adds an event of `cpu` before which three slots are missing. */
static void lose(uint32_t cpu)
{
	script_event(OTHER, ++stamp, cpu, 1, V(0))->lost = 3;
	assert_string_equal(inferred_path(), "-");
}

static void path_is_known_from_open_to_close(void **state)
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
	/* the path that was used when this inode was last opened */
	assert_string_equal(use(READ, 0, 0x1000, 5), "other name");
	assert_string_equal(use(READ, 0, 0x1000, 6), "-");
}

static void reused_file_number_loses_its_path(void **state)
{
	(void)state;
	open_file(0, "/a", 0x1000, 5, 0);
	/* inode 0: file number 0x1000 now belongs to a pipe */
	assert_string_equal(use(READ, 0, 0x1000, 0), "-");
	assert_string_equal(use(READ, 0, 0x1000, 6), "-");
	open_file(0, "/b", 0x1000, 6, 0);
	assert_string_equal(use(READ, 0, 0x1000, 6), "/b");
	assert_string_equal(use(READ, 0, 0, 0), "-");
}

static void lookup_names_inodes(void **state)
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

static void loss_forgets_paths(void **state)
{
	(void)state;
	open_file(0, "/a", 0x1000, 5, 0);
	lose(1);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	open_file(0, "/b", 0x1000, 5, 0);
	assert_string_equal(use(READ, 1, 0x1000, 5), "/b");
	/* Slots were lost directly before this event. */
	script_event(READ, ++stamp, 0, 1, V(0x1000), V(5))->lost = 1;
	assert_string_equal(inferred_path(), "-");
}

/*
 * If the beginnings of some rings were overwritten, no path is inferred until each of these rings has had an
 * event.
 */
static void no_path_before_all_rings_have_begun(void **state)
{
	(void)state;
	files_destroy(files);
	script_ring(2)->overwritten = 7;
	assert_int_equal(files_create(&files, script_trace()), 0);
	open_file(0, "/a", 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	/* the first event of ring 2, which reports no loss */
	assert_string_equal(use(READ, 2, 0x1000, 5), "-");
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
	open_file(0, "/b", 0x1000, 5, 0);
	assert_string_equal(use(READ, 1, 0x1000, 5), "/b");
	script_ring(2)->overwritten = 0;
}

static void long_and_cut_paths_are_not_stored(void **state)
{
	char path[FILES_PATH + 2];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[FILES_PATH] = '\0';
	open_file(0, path, 0x1000, 5, 0);
	assert_string_equal(use(READ, 0, 0x1000, 5), path);
	path[FILES_PATH] = 'x';
	path[FILES_PATH + 1] = '\0';
	open_file(0, path, 0x1000, 5, 0); /* a path too long to be stored; removes the older path */
	assert_string_equal(use(READ, 0, 0x1000, 5), "-");
}

/*
 * There are more files than can be stored. The newest files must have the right path, and no file may have a
 * wrong path.
 */
static void newest_files_are_kept(void **state)
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
		const char *inferred = use(READ, 0, n << 12, n);

		snprintf(path, sizeof(path), "/%llu", (unsigned long long)n);
		right += strcmp(inferred, path) == 0;
		assert_true(strcmp(inferred, path) == 0 || strcmp(inferred, "-") == 0);
	}
	assert_in_range(right, 100, 300);
}

static void trace_without_paths_infers_none(void **state)
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

static void filter_disables_paths(void **state)
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
		cmocka_unit_test_setup_teardown(path_is_known_from_open_to_close, begin, end),
		cmocka_unit_test_setup_teardown(reused_file_number_loses_its_path, begin, end),
		cmocka_unit_test_setup_teardown(lookup_names_inodes, begin, end),
		cmocka_unit_test_setup_teardown(loss_forgets_paths, begin, end),
		cmocka_unit_test_setup_teardown(no_path_before_all_rings_have_begun, begin, end),
		cmocka_unit_test_setup_teardown(long_and_cut_paths_are_not_stored, begin, end),
		cmocka_unit_test_setup_teardown(newest_files_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(filter_disables_paths, begin, end),
		cmocka_unit_test_setup_teardown(trace_without_paths_infers_none, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
