/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that a command reports that its output, of any length, cannot be written. The message must state the
 * cause if it is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output.h"
#include "cmd/command.h"

/*
 * Prints `length` bytes to the file `to` in a child process. Returns the exit status of the child, and what it
 * printed on standard error.
 */
static int print(const char *to, size_t length, char message[256])
{
	int errors[2], status;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(errors), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(open(to, O_WRONLY), STDOUT_FILENO);
		dup2(errors[1], STDERR_FILENO);
		command_begin();
		for (size_t n = 0; n < length; n++)
			putchar('x');
		_exit(command_flush("test"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	close(errors[1]);
	got = read(errors[0], message, 255);
	message[got > 0 ? got : 0] = '\0';
	close(errors[0]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void full_disk_is_reported(void **state)
{
	static const size_t lengths[] = { 1, 4096, 4097, 10000, BASE_OUTPUT_BUFFER };
	char message[256];

	(void)state;
	for (size_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
		assert_int_equal(print("/dev/full", lengths[n], message), EXIT_BAD_INPUT);
		assert_string_equal(message, "test: standard output: No space left on device\n");
	}
}

static void loss_before_the_end_is_reported(void **state)
{
	char message[256];

	(void)state;
	assert_int_equal(print("/dev/full", BASE_OUTPUT_BUFFER + 10000, message), EXIT_BAD_INPUT);
	assert_non_null(strstr(message, "test: standard output: "));
}

static void written_text_is_a_success(void **state)
{
	char message[256];

	(void)state;
	assert_int_equal(print("/dev/null", 10000, message), EXIT_SUCCESS);
	assert_string_equal(message, "");
}

/* Runs in a child process whose standard files are closed, as `closed` states. Returns whether all is right. */
static bool is_reserved(unsigned closed)
{
	char byte = 'x';
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (closed & 1u << fd)
			close(fd);
	command_begin();
	fd = open("/dev/zero", O_RDWR);
	if (fd <= STDERR_FILENO)
		return false;
	if (closed & 1 && (read(STDIN_FILENO, &byte, 1) != -1 || errno != EBADF))
		return false;
	for (fd = 1; fd <= 2; fd++)
		if (closed & 1u << fd && (write(fd, &byte, 1) != -1 || errno != EBADF))
			return false;
	return true;
}

static void no_file_is_opened_in_place_of_a_closed_standard_file(void **state)
{
	(void)state;
	for (unsigned closed = 0; closed < 8; closed++) {
		const pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0)
			_exit(is_reserved(closed) ? 0 : 1);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_disk_is_reported),
		cmocka_unit_test(loss_before_the_end_is_reported),
		cmocka_unit_test(written_text_is_a_success),
		cmocka_unit_test(no_file_is_opened_in_place_of_a_closed_standard_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
