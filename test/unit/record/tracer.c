/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests a tracer that runs out of memory. It still records the threads that it has already added, and counts
 * the threads that it cannot add.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/tracer.h"

static bool memory_is_short;

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *former, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *former, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return memory_is_short ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *former, size_t size)
{
	return memory_is_short ? NULL : __real_realloc(former, size);
}

static void serve(void)
{
}

/*
 * Code of the traced process: waits for a byte from `go`, forks a child that exits with status 1, and exits
 * with 6 plus the child's status.
 */
static void parent_and_child(int go)
{
	char byte;
	int status = 0;
	pid_t child;

	(void)!read(go, &byte, 1);
	child = fork();
	if (child == 0)
		_exit(1);
	waitpid(child, &status, 0);
	_exit(6 + WEXITSTATUS(status));
}

/* Records a process and its child. Returns the exit status of the process. */
static int record_both(bool is_short)
{
	char path[] = "/tmp/ktrace-tracer-XXXXXX";
	int go[2], status = -1, file = mkstemp(path);
	struct record_sink *sink;
	pid_t pid;

	assert_true(file >= 0);
	close(file);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0)
		parent_and_child(go[0]);
	assert_int_equal(record_sink_open(&sink, path, RECORD_SINK_NEW), 0);
	assert_int_equal(record_attach_child(pid, sink, RECORD_ALL, true), 0);
	record_sink_put(sink);
	assert_int_equal(write(go[1], "", 1), 1);
	memory_is_short = is_short;
	record_tracer_run(serve, pid, &status);
	memory_is_short = false;
	close(go[0]);
	close(go[1]);
	unlink(path);
	return status;
}

static void child_is_recorded_if_there_is_memory(void **state)
{
	int status = record_both(false);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(record_without_memory(), 0);
}

static void child_without_memory_continues_and_is_counted(void **state)
{
	int status = record_both(true);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(record_without_memory(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_is_recorded_if_there_is_memory),
		cmocka_unit_test(child_without_memory_continues_and_is_counted),
	};

	return cmocka_run_group_tests_name("tracer", tests, NULL, NULL);
}
