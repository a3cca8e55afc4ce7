/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that no answer is given as right if a file became shorter, or changed, while the answer was made. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/changed.h"
#include "serve/answers.h"
#include "serve/job.h"
#include "unit/support/ktread_sample.h"

#define BYTES 8192u

/* What happens while an answer is made. */
enum event { NOTHING, TRACE_GROWS, FILE_IS_TRUNCATED };

static char trace_path[] = "/tmp/ktrace-answers-XXXXXX", other_path[] = "/tmp/ktrace-answers-XXXXXX";
static enum event happens;
static uint64_t slot; /* slot of the first event */

static struct ktread *open_trace(void *context, bool window)
{
	const struct ktread_options options = { .size = sizeof(options), .window = window };
	struct ktread *trace = NULL;

	(void)context;
	return ktread_open(&trace, trace_path, &options) == 0 ? trace : NULL;
}

/* Called after the trace was opened, before it is read. Opens no symbols. */
static struct symbols *interfere(void *context, const struct ktread *trace)
{
	const volatile char *mapped;
	int file;

	(void)context;
	(void)trace;
	if (happens == TRACE_GROWS) {
		file = open(trace_path, O_WRONLY | O_APPEND);
		if (write(file, "x", 1) != 1)
			abort();
		close(file);
	} else if (happens == FILE_IS_TRUNCATED) {
		file = open(other_path, O_RDWR);
		mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
		if (mapped == MAP_FAILED || ftruncate(file, 1) != 0 || mapped[BYTES - 1] != 0)
			abort();
		close(file);
	}
	return NULL;
}

static int make_files(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;
	int file;

	(void)state;
	begin(&writer, 1);
	slot = put_switch(&writer, 0, 1000, 1);
	put_switch(&writer, 0, 2000, 2);
	writer_dump(&writer, &dump);
	writer_close(&writer);
	file = mkstemp(trace_path);
	if (file < 0 || write(file, dump.data, dump.size) != (ssize_t)dump.size)
		return -1;
	close(file);
	bytes_free(&dump);
	file = mkstemp(other_path);
	return file >= 0 && ftruncate(file, BYTES) == 0 ? close(file) : -1;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(trace_path);
	return unlink(other_path);
}

/*
 * Makes an answer in a job. Returns its HTTP status. If the status is not SERVE_OK, checks that the answer is an
 * error whose text contains `text`.
 */
static uint32_t answer(enum serve_what what, enum event event, bool live, const char *text)
{
	const struct serve_options options = { .name = "ktrace open",
					       .version = "1",
					       .path = trace_path,
					       .live = live,
					       .open = open_trace,
					       .open_symbols = interfere };
	struct serve_source source = { .options = &options };
	const struct serve_request request = {
		.what = what, .until = UINT64_MAX, .limit = 10, .ring = 0, .slot = slot
	};
	struct serve_begin begins;
	struct serve_job job;
	char *body;

	base_changed_watch(); /* cmocka has installed its own handler before each test */
	happens = event;
	assert_int_equal(truncate(other_path, BYTES), 0);
	assert_int_equal(stat(trace_path, &source.file), 0);
	assert_int_equal(serve_job_start(&job, options.name, serve_answer, &source, &request), 0);
	while (!serve_job_read(&job))
		usleep(1000);
	assert_true(serve_job_end(&job, true));
	assert_true(job.length > sizeof(begins));
	memcpy(&begins, job.bytes, sizeof(begins));
	if (begins.status != SERVE_OK) {
		body = strndup((const char *)job.bytes + sizeof(begins), job.length - sizeof(begins));
		assert_int_equal(begins.kind, SERVE_JSON);
		assert_memory_equal(body, "{\"error\":\"", 10);
		assert_non_null(strstr(body, text));
		free(body);
	}
	serve_job_free(&job);
	return begins.status;
}

static const enum serve_what all[] = { SERVE_WINDOW, SERVE_VERDICT, SERVE_EVENT, SERVE_EVENTS_LIST,
				       SERVE_SEARCH };

static void answer_from_whole_files_is_right(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++)
		for (unsigned live = 0; live < 2; live++)
			assert_int_equal(answer(all[n], NOTHING, live, ""), SERVE_OK);
}

static void answer_from_a_truncated_file_is_an_error(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++)
		for (unsigned live = 0; live < 2; live++) {
			assert_int_equal(answer(all[n], FILE_IS_TRUNCATED, live, "the file became shorter"),
					 SERVE_CHANGED);
			assert_int_equal(answer(all[n], FILE_IS_TRUNCATED, live, other_path), SERVE_CHANGED);
		}
}

/* A trace that is still being written may grow. Any other trace must stay as it was. */
static void answer_from_a_changed_trace_is_an_error(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++) {
		assert_int_equal(answer(all[n], TRACE_GROWS, false, "has changed since it was opened"),
				 SERVE_CHANGED);
		assert_int_equal(answer(all[n], TRACE_GROWS, true, ""), SERVE_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer_from_whole_files_is_right),
		cmocka_unit_test(answer_from_a_truncated_file_is_an_error),
		cmocka_unit_test(answer_from_a_changed_trace_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
