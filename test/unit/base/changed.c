/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the program continues after a SIGBUS from a mapped file that cannot be read, and ends after any
 * other SIGBUS.
 */
#include <pthread.h>
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

/* Maps the file, truncates it, and reads all of the mapping. */
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
	assert_non_null(strstr(base_changed_how(), "the file became shorter while"));
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

/* Returns the number of the signal that ends a child process, 0 if it exits with status 0. */
static int signal_of_child(void (*run)(void))
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		base_changed_watch();
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Maps a page after the end of the file. */
static volatile char *map_lost_page(int access, int kind)
{
	volatile char *bytes;

	if (ftruncate(descriptor, 0) != 0)
		_exit(1);
	bytes = mmap(NULL, PAGE, access, kind, descriptor, 0);
	if (bytes == MAP_FAILED)
		_exit(1);
	return bytes;
}

static void send_signal(void)
{
	raise(SIGBUS);
}

static void sent_signal_ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(send_signal), SIGBUS);
}

static void write_shared(void)
{
	*map_lost_page(PROT_READ | PROT_WRITE, MAP_SHARED) = 'x';
}

static void shared_mapping_that_can_be_written_is_not_replaced(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(write_shared), SIGBUS);
}

/* Reads a page that cannot be read, of a file that has no path. */
static void read_removed(void)
{
	char other[] = "/tmp/ktrace-changed.XXXXXX";

	descriptor = mkstemp(other);
	unlink(other);
	if (*map_lost_page(PROT_READ, MAP_PRIVATE) || !base_changed_file() ||
	    !strstr(base_changed_how(), "it became shorter, or an I/O error occurred"))
		_exit(1);
}

static void unknown_cause_is_not_stated(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(read_removed), 0);
}

/* Calls the handler for a page that can be read again, because another thread has replaced it. */
static void fault(const void *address)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_ADRERR };
	struct sigaction action;

	info.si_addr = (void *)(uintptr_t)address;
	if (sigaction(SIGBUS, NULL, &action) != 0 || !action.sa_sigaction)
		_exit(1);
	action.sa_sigaction(SIGBUS, &info, NULL);
}

static const char *map_memory(int access)
{
	const char *bytes = mmap(NULL, 2 * PAGE, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		_exit(1);
	return bytes;
}

static void fault_in_replaced_pages(void)
{
	const char *bytes = map_memory(PROT_READ);

	fault(bytes);
	fault(bytes + PAGE);
}

static void replaced_page_is_read_again(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(fault_in_replaced_pages), 0);
}

static void fault_twice(void)
{
	const char *bytes = map_memory(PROT_READ);

	fault(bytes);
	fault(bytes);
}

static void fault_in_closed_page(void)
{
	fault(map_memory(PROT_NONE));
}

static void page_that_stays_unreadable_ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(fault_twice), SIGBUS);
	assert_int_equal(signal_of_child(fault_in_closed_page), SIGBUS);
}

static pthread_barrier_t barrier;

static void *read_page(void *page)
{
	pthread_barrier_wait(&barrier);
	return *(volatile char *)page ? page : NULL;
}

static void read_in_two_threads(void)
{
	pthread_t thread[2];
	void *wrong;

	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned round = 0; round < 200; round++) {
		volatile char *bytes = map_lost_page(PROT_READ, MAP_PRIVATE);

		for (unsigned n = 0; n < 2; n++)
			if (pthread_create(&thread[n], NULL, read_page, (void *)(uintptr_t)bytes) != 0)
				_exit(1);
		for (unsigned n = 0; n < 2; n++)
			if (pthread_join(thread[n], &wrong) != 0 || wrong)
				_exit(1);
	}
}

static void two_threads_may_read_one_page(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(read_in_two_threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_file_is_named_before_one_changes),
		cmocka_unit_test(unknown_cause_is_not_stated),
		cmocka_unit_test(lost_part_of_a_private_mapping_is_zeros),
		cmocka_unit_test(lost_part_of_a_writable_mapping_can_be_written),
		cmocka_unit_test(lost_part_of_a_shared_mapping_is_zeros),
		cmocka_unit_test(sent_signal_ends_the_process),
		cmocka_unit_test(shared_mapping_that_can_be_written_is_not_replaced),
		cmocka_unit_test(replaced_page_is_read_again),
		cmocka_unit_test(page_that_stays_unreadable_ends_the_process),
		cmocka_unit_test(two_threads_may_read_one_page),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
