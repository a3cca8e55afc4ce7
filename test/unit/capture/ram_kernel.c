/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the path of the kernel's file is found on the command line of the process that has a RAM file
 * open. In these tests, a shell replaces QEMU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/kernel_elf.h"

static char ram[] = "/tmp/ktrace-ram-kernel.XXXXXX";
static int file;

static int begin(void **state)
{
	(void)state;
	memset(strchr(ram, '.') + 1, 'X', 6);
	file = mkstemp(ram);
	return file < 0 ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	close(file);
	return unlink(ram);
}

/*
 * Starts a process in the directory /usr, with these arguments, that has the file open. Returns the path
 * that is found, or "".
 */
static const char *found_beside(const char *option, const char *kernel)
{
	static char path[PATH_MAX];
	int ready[2];
	char byte;
	pid_t child;

	path[0] = '\0';
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		dup2(ready[1], STDOUT_FILENO);
		if (chdir("/usr") == 0)
			execl("/bin/sh", "sh", "-c", "echo; kill -STOP $$", "qemu", option, kernel, NULL);
		_exit(1);
	}
	assert_true(child > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1); /* returns when the shell has started */
	if (!capture_ram_kernel(ram, path, sizeof(path)))
		path[0] = '\0';
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	return path;
}

static void path_follows_the_option(void **state)
{
	(void)state;
	assert_string_equal(found_beside("-kernel", "/boot/k.elf"), "/boot/k.elf");
	assert_string_equal(found_beside("--kernel", "/boot/k.elf"), "/boot/k.elf");
	assert_string_equal(found_beside("-initrd", "/boot/k.elf"), "");
}

static void relative_path_begins_in_the_folder_of_the_process(void **state)
{
	(void)state;
	assert_string_equal(found_beside("-kernel", "lib/k.elf"), "/usr/lib/k.elf");
}

static void file_of_no_process_has_no_kernel(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_false(capture_ram_kernel("/tmp/ktrace/absent", path, sizeof(path)));
	assert_false(capture_ram_kernel("/tmp", path, sizeof(path)));
	assert_false(
		/* this process has the file open, but has no -kernel option */
		capture_ram_kernel(ram, path, sizeof(path)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(path_follows_the_option, begin, end),
		cmocka_unit_test_setup_teardown(relative_path_begins_in_the_folder_of_the_process, begin,
						end),
		cmocka_unit_test_setup_teardown(file_of_no_process_has_no_kernel, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
