/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that the program survives if a mapped file becomes shorter, and that any other SIGBUS ends it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/changed.h"

#define PAGE  ((size_t)sysconf(_SC_PAGESIZE))
#define PAGES 8u

static char path[64];
static int descriptor;

static int make_file(void **state)
{
	(void)state;
	strcpy(path, "/tmp/ktrace-changed.XXXXXX");
	descriptor = mkstemp(path);
	return descriptor >= 0 ? 0 : -1;
}

static int remove_file(void **state)
{
	(void)state;
	close(descriptor);
	return unlink(path);
}

/* Maps the file, makes it shorter, and reads all of the mapping. */
static void reads_zeros_after_the_end(int access, int kind)
{
	volatile char *bytes;

	base_changed_watch();
	assert_int_equal(ftruncate(descriptor, (off_t)(PAGES * PAGE)), 0);
	for (size_t page = 0; page < PAGES; page++)
		assert_int_equal(pwrite(descriptor, "x", 1, (off_t)(page * PAGE)), 1);
	bytes = mmap(NULL, PAGES * PAGE, access, kind, descriptor, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(bytes[5 * PAGE], 'x');
	assert_int_equal(ftruncate(descriptor, (off_t)(3 * PAGE)), 0);
	assert_int_equal(bytes[2 * PAGE], 'x');
	assert_int_equal(bytes[5 * PAGE], 0);
	assert_int_equal(bytes[4 * PAGE], 0);
	assert_int_equal(bytes[7 * PAGE], 0);
	if (access & PROT_WRITE)
		bytes[6 * PAGE] = 'y';
	assert_int_equal(bytes[2 * PAGE], 'x');
	munmap((void *)(uintptr_t)bytes, PAGES * PAGE);
	assert_string_equal(base_changed_file(), path);
}

static void no_file_is_named_before_one_changes(void **state)
{
	(void)state;
	base_changed_watch();
	assert_null(base_changed_file());
}

static void lost_part_of_a_private_mapping_is_zeros(void **state)
{
	(void)state;
	reads_zeros_after_the_end(PROT_READ, MAP_PRIVATE);
}

static void lost_part_of_a_writable_mapping_can_be_written(void **state)
{
	(void)state;
	reads_zeros_after_the_end(PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

static void lost_part_of_a_shared_mapping_is_zeros(void **state)
{
	(void)state;
	reads_zeros_after_the_end(PROT_READ, MAP_SHARED);
}

static void sent_signal_ends_the_process(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		base_changed_watch();
		raise(SIGBUS);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_file_is_named_before_one_changes),
		cmocka_unit_test(lost_part_of_a_private_mapping_is_zeros),
		cmocka_unit_test(lost_part_of_a_writable_mapping_can_be_written),
		cmocka_unit_test(lost_part_of_a_shared_mapping_is_zeros),
		cmocka_unit_test(sent_signal_ends_the_process),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
