/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests opening files that are named in data. A FIFO, a device or a directory is refused without waiting. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/open.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	alarm(300); /* ends this program if a test waits for a FIFO */
	strcpy(folder, "/tmp/ktrace-open.XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void refused(const char *path, int flags, int error)
{
	errno = 0;
	assert_int_equal(base_open_regular(path, flags), -1);
	assert_int_equal(errno, error);
}

static void regular_file_is_opened(void **state)
{
	char text[8] = "";
	int fd;

	(void)state;
	put("file", "text");
	fd = base_open_regular("file", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	fd = base_open_regular("file", O_RDWR);
	assert_int_equal(write(fd, "T", 1), 1);
	close(fd);
	refused("absent", O_RDONLY, ENOENT);
	refused("", O_RDONLY, ENOENT);
}

static void fifo_does_not_block(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	refused("fifo", O_RDONLY, ENOTSUP);
	refused("fifo", O_RDWR, ENOTSUP);
	assert_int_equal(symlink("fifo", "to-fifo"), 0);
	refused("to-fifo", O_RDONLY, ENOTSUP);
	assert_string_equal(base_open_message(ENOTSUP), "not a regular file");
}

static void folders_devices_and_sockets_are_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused("socket", O_RDONLY, ENOTSUP);
	close(fd);
	refused(".", O_RDONLY, EISDIR);
	refused("/dev/null", O_RDONLY, ENOTSUP);
	refused("/dev/zero", O_RDWR, ENOTSUP);
	assert_string_equal(base_open_message(EISDIR), strerror(EISDIR));
}

static void links_are_followed_unless_refused(void **state)
{
	int fd;

	(void)state;
	put("file", "text");
	assert_int_equal(symlink("file", "link"), 0);
	fd = base_open_regular("link", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	refused("link", O_RDONLY | O_NOFOLLOW, ELOOP);
	fd = base_open_regular("file", O_RDONLY | O_NOFOLLOW);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink("loop", "loop"), 0);
	refused("loop", O_RDONLY, ELOOP);
}

static void only_files_below_the_folder_are_opened_if_it_is_set(void **state)
{
	char path[128];
	int fd;

	(void)state;
	assert_int_equal(mkdir("inside", 0700), 0);
	assert_int_equal(mkdir("inside-not", 0700), 0);
	put("outside", "text");
	put("inside/file", "text");
	put("inside-not/file", "text");
	assert_int_equal(symlink("../outside", "inside/link"), 0);
	assert_int_equal(symlink("inside/file", "link"), 0);
	assert_true(getcwd(path, sizeof(path)) != NULL);
	strcat(path, "/inside");
	assert_int_equal(setenv("KTRACE_FOLDER", path, 1), 0);
	refused("outside", O_RDONLY, EACCES);
	refused("inside-not/file", O_RDONLY, EACCES);
	refused("inside/link", O_RDONLY, EACCES);
	refused("inside/../outside", O_RDONLY, EACCES);
	fd = base_open_regular("inside/file", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	fd = base_open_regular("link", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(setenv("KTRACE_FOLDER", "/", 1), 0);
	assert_true(base_is_readable("outside"));
	assert_int_equal(unsetenv("KTRACE_FOLDER"), 0);
	assert_true(base_is_readable("outside"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(regular_file_is_opened, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(fifo_does_not_block, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(folders_devices_and_sockets_are_refused, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(links_are_followed_unless_refused, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(only_files_below_the_folder_are_opened_if_it_is_set,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
