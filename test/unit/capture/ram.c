/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests a RAM file whose parts are at guest addresses that are not adjacent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/memory.h"
#include "capture/output.h"

#define KIB UINT64_C(1024)

/*
 * A file of 64 KiB. The first 48 KiB are at guest address 0, the other 16 KiB at 1 MiB. Between them is a
 * hole.
 */
static const struct capture_map map = {
	.range = { { 0, 48 * KIB, 0 }, { 1024 * KIB, 16 * KIB, 48 * KIB } },
	.ranges = 2,
};

static int make_file(void **state)
{
	static char path[32];

	strcpy(path, "/tmp/ktrace-unit-XXXXXX");
	close(mkstemp(path));
	unlink(path);
	*state = path;
	return 0;
}

static int remove_file(void **state)
{
	return unlink(*state);
}

static void the_file_is_private_and_new(void **state)
{
	struct stat status;

	assert_int_equal(capture_ram_create(*state, 0600), 0);
	assert_int_equal(stat(*state, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(capture_ram_create(*state, 0600), CAPTURE_E_SYSTEM);
}

static void pieces_are_read_as_one_memory(void **state)
{
	struct ktread_memory *memory = NULL;
	char bytes[8] = "";
	FILE *file;

	assert_int_equal(capture_ram_create(*state, 0600), 0);
	assert_int_equal(truncate(*state, 64 * (off_t)KIB), 0);
	file = fopen(*state, "r+");
	assert_int_equal(fseek(file, 48 * (long)KIB - 2, SEEK_SET), 0);
	assert_int_equal(fwrite("abcd", 1, 4, file), 4);
	fclose(file);
	assert_int_equal(capture_ram_open(&memory, *state, &map, NULL), 0);
	assert_int_equal(ktread_memory_read(memory, 48 * KIB - 2, bytes, 2), 0);
	assert_memory_equal(bytes, "ab", 2);
	assert_int_equal(ktread_memory_read(memory, 1024 * KIB, bytes, 3), 0);
	assert_memory_equal(bytes, "cd\0", 3);
	assert_true(ktread_memory_read(memory, 48 * KIB, bytes, 1) < 0);
	assert_true(ktread_memory_read(memory, 1040 * KIB - 1, bytes, 2) < 0);
	assert_true(ktread_memory_read(memory, UINT64_MAX, bytes, 1) < 0);
	ktread_memory_close(memory);
	assert_true(capture_ram_open(&memory, "/nonexistent", &map, NULL) < 0);
}

static void memory_without_ktrace_is_searched_and_found_empty(void **state)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;

	assert_int_equal(capture_ram_create(*state, 0600), 0);
	assert_int_equal(truncate(*state, 64 * (off_t)KIB), 0);
	assert_int_equal(capture_ram_open(&memory, *state, &map, NULL), 0);
	assert_int_equal(ktread_image_find(&image, memory), KTREAD_E_ABSENT);
	ktread_memory_close(memory);
}

static void records_come_back(void **state)
{
	struct capture_record record = { 0 }, loaded = { 0 };

	capture_record_set(&record, "path", "%s", "/a=b\n c");
	capture_record_set(&record, "pat", "%d", 7);
	assert_int_equal(capture_record_load(&loaded, *state), CAPTURE_E_ABSENT);
	assert_int_equal(capture_record_save(&record, *state), 0);
	assert_int_equal(capture_record_load(&loaded, *state), 0);
	assert_string_equal(capture_record_get(&loaded, "path"), "/a=b\n c");
	assert_string_equal(capture_record_get(&loaded, "pat"), "7");
	assert_string_equal(capture_record_get(&loaded, "none"), "");
	capture_record_free(&record);
	capture_record_free(&loaded);
	assert_int_equal(truncate(*state, 5), 0);
	assert_int_equal(capture_record_load(&loaded, *state), CAPTURE_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_file_is_private_and_new, make_file, remove_file),
		cmocka_unit_test_setup_teardown(pieces_are_read_as_one_memory, make_file, remove_file),
		cmocka_unit_test_setup_teardown(memory_without_ktrace_is_searched_and_found_empty, make_file,
						remove_file),
		cmocka_unit_test_setup_teardown(records_come_back, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
