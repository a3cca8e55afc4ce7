/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that the process which makes an answer reports a file that is truncated while it is read. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/changed.h"
#include "serve/job.h"

#define BYTES 8192u

static char path[64];

/*
 * A job: maps the file, truncates it if `request` is not NULL, and writes the last byte of the mapping to its
 * output. If `request` is "remove", also deletes the file.
 */
static int read_file(void *context, const void *request, int descriptor)
{
	const int file = open(context, O_RDWR);
	const volatile char *bytes = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
	char last;

	if (bytes == MAP_FAILED || (request && ftruncate(file, 1) != 0))
		return EXIT_FAILURE;
	if (request && strcmp(request, "remove") == 0)
		unlink(context);
	last = bytes[BYTES - 1];
	return serve_write(descriptor, &last, 1);
}

/*
 * Runs the job, and reads the text that it prints on standard error. Returns the byte that the job writes to
 * its output.
 */
static char run(const void *request, char *printed, size_t size)
{
	struct serve_job job;
	int ends[2], file, kept = dup(STDERR_FILENO);
	size_t length = 0;
	ssize_t got;
	char last;

	strcpy(path, "/tmp/ktrace-job.XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, BYTES), 0);
	assert_int_equal(pwrite(file, "x", 1, BYTES - 1), 1);
	assert_int_equal(pipe(ends), 0);
	base_changed_watch();
	dup2(ends[1], STDERR_FILENO);
	assert_int_equal(serve_job_start(&job, "ktrace open", read_file, path, request), 0);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(ends[1]);
	/* Reads until the process has ended: the C library may write one message in several parts. */
	while ((got = read(ends[0], printed + length, size - 1 - length)) > 0)
		length += (size_t)got;
	assert_int_equal(got, 0);
	printed[length] = '\0';
	close(ends[0]);
	while (!serve_job_read(&job))
		continue;
	assert_int_equal(job.length, 1);
	last = (char)job.bytes[0];
	assert_true(serve_job_end(&job, true));
	serve_job_free(&job);
	close(file);
	unlink(path);
	return last;
}

static void a_file_that_becomes_shorter_is_reported(void **state)
{
	char printed[512];

	(void)state;
	assert_int_equal(run("shorten", printed, sizeof(printed)), 0);
	assert_non_null(strstr(printed, "ktrace open: "));
	assert_non_null(strstr(printed, path));
	assert_non_null(strstr(printed, ": the file became shorter while it was read"));
}

static void an_unknown_cause_is_not_stated(void **state)
{
	char printed[512];

	(void)state;
	assert_int_equal(run("remove", printed, sizeof(printed)), 0);
	assert_non_null(strstr(printed, ": could not be read: it became shorter, or an I/O error occurred"));
}

static void nothing_is_reported_otherwise(void **state)
{
	char printed[512];

	(void)state;
	assert_int_equal(run(NULL, printed, sizeof(printed)), 'x');
	assert_string_equal(printed, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_becomes_shorter_is_reported),
		cmocka_unit_test(an_unknown_cause_is_not_stated),
		cmocka_unit_test(nothing_is_reported_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
