/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that temporary files are in TMPDIR, have no name, and work on every file system. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/open.h"

static char folder[64];
static int refusal; /* if not 0, open() fails with this errno if O_TMPFILE is set */

/* Replaces the function of the C library. */
int open(const char *path, int flags, ...)
{
	va_list rest;
	int mode = 0;

	if ((flags & O_TMPFILE) == O_TMPFILE && refusal) {
		errno = refusal;
		return -1;
	}
	va_start(rest, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(rest, int);
	va_end(rest);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int make_folder(void **state)
{
	(void)state;
	refusal = 0;
	strcpy(folder, "/tmp/ktrace-temporary.XXXXXX");
	return mkdtemp(folder) && setenv("TMPDIR", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Checks that a temporary file can be written and read, and has no name. */
static void works(void)
{
	char link[64], target[256] = "", text[8] = "";
	int descriptor = base_temporary_open();

	assert_true(descriptor >= 0);
	assert_true(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(descriptor, "text", 4), 4);
	assert_int_equal(pread(descriptor, text, sizeof(text), 0), 4);
	assert_string_equal(text, "text");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	assert_true(readlink(link, target, sizeof(target) - 1) > 0);
	assert_memory_equal(target, folder, strlen(folder));
	assert_non_null(strstr(target, " (deleted)"));
	close(descriptor);
}

static void file_without_a_name_is_in_tmpdir(void **state)
{
	(void)state;
	works();
}

static void file_system_without_unnamed_files_works(void **state)
{
	(void)state;
	refusal = EOPNOTSUPP;
	works();
	refusal = EISDIR;
	works();
}

static void other_errors_are_reported(void **state)
{
	(void)state;
	refusal = ENOSPC;
	assert_int_equal(base_temporary_open(), -1);
	assert_int_equal(errno, ENOSPC);
	refusal = EOPNOTSUPP;
	setenv("TMPDIR", "/absent/folder", 1);
	assert_int_equal(base_temporary_open(), -1);
	assert_int_equal(errno, ENOENT);
}

static void folder_is_tmpdir_or_tmp(void **state)
{
	(void)state;
	assert_string_equal(base_temporary_folder(), folder);
	setenv("TMPDIR", "", 1);
	assert_string_equal(base_temporary_folder(), "/tmp");
	unsetenv("TMPDIR");
	assert_string_equal(base_temporary_folder(), "/tmp");
}

/* Checks that a private directory is created, with a path that begins with `begin`; then removes it. */
static void private_folder_is_in(const char *begin)
{
	char path[BASE_PRIVATE_ROOM];
	struct stat status;

	assert_int_equal(base_private_folder(path), 0);
	assert_memory_equal(path, begin, strlen(begin));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(rmdir(path), 0);
}

static void private_folder_is_in_tmp_if_tmpdir_does_not_suit_a_socket(void **state)
{
	static const char *const unsuitable[] = { "relative",  "/tmp/a b",	"/tmp/a,b", "/tmp/a\"b",
						  "/tmp/a\\b", "/tmp/\xc3\xa4", "" };
	char path[BASE_PRIVATE_ROOM], longest[200];

	(void)state;
	private_folder_is_in(folder);
	for (size_t n = 0; n < sizeof(unsuitable) / sizeof(unsuitable[0]); n++) {
		setenv("TMPDIR", unsuitable[n], 1);
		private_folder_is_in("/tmp/ktrace-");
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	setenv("TMPDIR", longest, 1);
	private_folder_is_in("/tmp/ktrace-");
	setenv("TMPDIR", "/absent/folder", 1);
	assert_int_equal(base_private_folder(path), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(file_without_a_name_is_in_tmpdir, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(file_system_without_unnamed_files_works, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(other_errors_are_reported, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(folder_is_tmpdir_or_tmp, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(private_folder_is_in_tmp_if_tmpdir_does_not_suit_a_socket,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
