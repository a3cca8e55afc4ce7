/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the note (section NOTE) that the host adds to a dump which the guest has sent. */
#include "capture/output.h"

#include <sys/stat.h>

#include "unit/support/ktread_sample.h"

#define NOTE "captured by: a test\ntaken: 4.900 s before the end\n"

static void append_dump(struct bytes *file, uint32_t events)
{
	struct writer writer;

	begin(&writer, 2);
	for (uint32_t n = 0; n < events; n++)
		put_switch(&writer, 1, 1000 + n, n);
	writer_dump(&writer, file);
	writer_close(&writer);
}

/* Opens the file, and checks the number of its events and the text of its note. */
static void expect(const char *path, uint64_t events, const char *note)
{
	struct ktread *trace = open_ok(path, NULL);

	assert_string_equal(ktread_info(trace)->note, note);
	assert_int_equal(drain_exact(trace, 0), events);
}

static void note_is_added_to_last_dump(void **state)
{
	struct bytes file = { 0 };
	const char *path;

	(void)state;
	append_dump(&file, 3);
	append_dump(&file, 5);
	bytes_append(&file, "a dump that has only just begun", 31);
	path = temporary_bytes(&file);
	assert_int_equal(capture_dump_note(path, NOTE), 0);
	expect(path, 5, NOTE);
	assert_int_equal(capture_dump_note(path, "another\n"), 0);
	expect(path, 5, NOTE); /* the first note is still there: the second note has not replaced it */
	bytes_free(&file);
}

/* Adds the note, and checks that this does not change the size of the file. */
static void assert_unchanged(struct bytes *file)
{
	const char *path = temporary_bytes(file);
	struct stat status;

	assert_int_equal(capture_dump_note(path, NOTE), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, file->size);
	bytes_free(file);
}

static void other_files_are_not_changed(void **state)
{
	struct bytes file = { 0 };

	(void)state;
	v1_header(&file, 1, 2);
	v1_record(&file, 1000, 0, 0, 7, 1);
	v1_record(&file, 1001, 1, 0, 7, 1);
	assert_unchanged(&file);
	append_dump(&file, 3);
	file.size -= 100; /* truncates the file */
	assert_unchanged(&file);
	bytes_append(&file, "no trace", 8);
	assert_unchanged(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(note_is_added_to_last_dump, temporary_teardown),
		cmocka_unit_test_teardown(other_files_are_not_changed, temporary_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
