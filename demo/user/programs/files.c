/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * files: checks names, contents and permissions of files, pipes and polling, by the result of each system
 * call.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOME	  "/tmp/files"
#define SOMEBODY  1000
#define HOLE	  100000
#define LONG_NAME "0123456789012345678901234567890123456789012345678901234567890"

static bool is_text(const char *expected, const char *text, int64_t length)
{
	return length == (int64_t)strlen(expected) && memcmp(expected, text, (size_t)length) == 0;
}

static void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	check_equal((int64_t)strlen(text), write_all(fd, text, strlen(text)), path);
	close(fd);
}

/* ---- Names of files ----------------------------------------------------------------------------- */

static void check_cwd(const char *expected)
{
	char path[PATH_MAX];

	check_equal((int64_t)strlen(expected) + 1, getcwd(path, sizeof(path)),
		    "length of the working directory");
	check(strcmp(path, expected) == 0, expected);
}

static void names(void)
{
	check_equal(0, mkdir(HOME, 0755), "a directory is made");
	check_equal(-EEXIST, mkdir(HOME, 0755), "making it twice is refused");
	check_equal(-ENOENT, mkdir(HOME "/no/way", 0755), "no directory is made in a missing one");
	check_equal(-ENAMETOOLONG, mkdir(HOME "/" LONG_NAME, 0755), "a long name");
	check_equal(-ENOENT, open("", O_RDONLY, 0), "no name");
	check_equal(0, chdir(HOME), "the directory is entered");
	check_cwd(HOME);
	check_equal(0, mkdir("./a//", 0755), "a directory is made by a relative path");
	check_equal(0, mkdir("a/../a/b", 0755), "a directory is made by a path with ..");
	make_file("a/file", "one");
	check_equal(-ENOTDIR, open("a/file/x", O_RDONLY, 0), "a file has no files below it");
	check_equal(-ENOTDIR, chdir("a/file"), "a file cannot be entered");
	check_equal(-EISDIR, open("a", O_WRONLY, 0), "a directory is not written");
	check_equal(-EEXIST, open("a/file", O_WRONLY | O_CREAT | O_EXCL, 0644),
		    "O_EXCL refuses an existing file");
	check_equal(-ENOTEMPTY, rmdir("a"), "a directory with entries is not removed");
	check_equal(-EISDIR, unlink("a"), "directories are not unlinked");
	check_equal(-ENOTDIR, rmdir("a/file"), "files are not directories");
	check_equal(-EINVAL, rename("a", "a/b/c"), "a directory cannot move into itself");
	check_equal(0, chdir("a/b"), "a directory is entered by a relative path");
	check_equal(0, rename(HOME "/a", HOME "/c"), "a directory gets another name");
	check_cwd(HOME "/c/b");
	check_equal(0, rmdir(HOME "/c/b"), "a directory is removed while it is the current one");
	check_equal(-ENOENT, open("x", O_WRONLY | O_CREAT, 0644), "no file is made in a removed directory");
	check_equal(-ENOENT, getcwd((char[PATH_MAX]){ 0 }, PATH_MAX), "a removed directory has no path");
	check_equal(0, chdir("../.."), ".. is entered");
	check_cwd(HOME);
	check_equal(-ERANGE, getcwd((char[4]){ 0 }, 4), "no room for the path");
}

static void listing(void)
{
	struct abi_dirent entries[4];
	int fd, found = 0;
	int64_t size;

	for (int i = 0; i < 10; i++)
		make_file((char[]){ 'c', '/', (char)('0' + i), '\0' }, "x");
	check_equal(0, unlink("c/5"), "a file is removed");
	fd = open("c", O_RDONLY, 0);
	check_equal(-EISDIR, read(fd, entries, sizeof(entries)), "a directory is listed, not read");
	check_equal(-EINVAL, getdents(fd, entries, 1), "no room for an entry");
	while ((size = getdents(fd, entries, sizeof(entries))) > 0)
		found += (int)((size_t)size / sizeof(entries[0]));
	check_equal(10, found, "nine digits and a file");
	check_equal(0, lseek(fd, 0, SEEK_SET), "the offset is set to the beginning");
	check_equal(sizeof(entries), getdents(fd, entries, sizeof(entries)), "the listing starts again");
	close(fd);
	for (int i = 0; i < 10; i++)
		unlink((char[]){ 'c', '/', (char)('0' + i), '\0' });
}

/* ---- Contents of files -------------------------------------------------------------------------- */

static void contents(void)
{
	char text[16];
	struct abi_stat stat;
	int fd = open("c/file", O_RDWR, 0);

	check_equal(3, read(fd, text, sizeof(text)), "the whole file is read");
	check_equal(0, read(fd, text, sizeof(text)), "read returns 0 at the end");
	check_equal(HOLE, lseek(fd, HOLE, SEEK_SET), "the offset may be after the end");
	check_equal(3, write(fd, "end", 3), "bytes are written after the end");
	check_equal(0, fstat(fd, &stat), "stat");
	check_equal(HOLE + 3, (int64_t)stat.size, "the file's size");
	check_equal(HOLE - 1, lseek(fd, -4, SEEK_END), "the offset is set from the end");
	check_equal(4, read(fd, text, sizeof(text)), "the last bytes are read");
	check(memcmp(text, "\0end", 4) == 0, "the last bytes are a zero and what was written");
	check_equal(0, ftruncate(fd, 2), "the file is shortened");
	check_equal(0, ftruncate(fd, 5), "the file is lengthened");
	check_equal(0, lseek(fd, 0, SEEK_SET), "the offset is set to the beginning");
	check(read(fd, text, sizeof(text)) == 5 && memcmp(text, "on\0\0\0", 5) == 0,
	      "zeroes, not what was there");
	check_equal(-EINVAL, lseek(fd, -1, SEEK_SET), "an offset before the beginning is refused");
	check_equal(-EFBIG, ftruncate(fd, (int64_t)1 << 40), "a size above the limit is refused");
	close(fd);
	fd = open("c/file", O_RDONLY, 0);
	check_equal(-EBADF, write(fd, "x", 1), "a descriptor for reading does not write");
	check_equal(-EINVAL, ftruncate(fd, 0), "a descriptor for reading does not truncate");
	close(fd);
}

static int shared_fd;

static void write_shared(void)
{
	check_equal(5, write(shared_fd, "child", 5), "the child writes");
}

/*
 * Checks that descriptors that refer to the same open file share one offset, and that a write with O_APPEND
 * does not use it.
 */
static void offsets(void)
{
	char text[32];
	int copy, appending;

	shared_fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0644);
	copy = dup(shared_fd);
	appending = open("shared", O_WRONLY | O_APPEND, 0);
	check_equal(0, wait_for(start_child(write_shared)), "status of the child");
	check_equal(4, write(copy, "copy", 4), "the copied descriptor continues at the common offset");
	check_equal(3, write(appending, "end", 3), "O_APPEND writes at the end");
	check_equal(4, write(shared_fd, "over", 4),
		    "the shared descriptor continues at the common offset too");
	check_equal(0, lseek(copy, 0, SEEK_SET), "the offset is set to the beginning");
	check(is_text("childcopyover", text, read(shared_fd, text, sizeof(text))),
	      "the file contains what was written at the common offset");
	check_equal(copy, dup2(appending, copy), "dup2 replaces a descriptor");
	check_equal(-EBADF, read(copy, text, 1), "the replaced descriptor cannot be read");
	close(copy), close(appending), close(shared_fd);
	check_equal(0, rename("shared", "c/file"), "rename replaces a file");
	check_equal(-EBADF, close(shared_fd), "the descriptor is closed already");
}

/* ---- Permissions -------------------------------------------------------------------------------- */

static void as_somebody(void)
{
	struct abi_stat stat_of;

	check_equal(0, setgid(SOMEBODY), "the group is changed");
	check_equal(0, setuid(SOMEBODY), "the user is changed");
	check_equal(-EACCES, open("secret", O_RDONLY, 0), "a file of mode 0640 is not readable for others");
	check_equal(-EACCES, open("c/file", O_WRONLY, 0), "a file of another user is not writable");
	check_equal(-EACCES, mkdir("mine", 0755), "no directory is made in a directory of another user");
	check_equal(-EACCES, unlink("c/file"), "no file is removed from a directory of another user");
	check_equal(-EPERM, chmod("c/file", 0777), "only the owner changes the mode");
	check_equal(-EPERM, chown("c/file", SOMEBODY, SOMEBODY), "only root changes the owner");
	make_file("/tmp/mine", "mine");
	check_equal(0, stat("/tmp/mine", &stat_of), "stat");
	check_equal(SOMEBODY, stat_of.uid, "the owner of a new file");
	check_equal(S_IFREG | 0644, stat_of.mode, "the mode of a new file");
	check_equal(0, chmod("/tmp/mine", 0), "the owner changes the mode");
	check_equal(-EACCES, open("/tmp/mine", O_RDONLY, 0),
		    "a file of mode 0 is not readable for its owner");
	check_equal(0, unlink("/tmp/mine"), "the owner removes the file");
}

static void permissions(void)
{
	make_file("secret", "secret");
	check_equal(0, chmod("secret", 0640), "only the group may read");
	check_equal(0, wait_for(start_child(as_somebody)), "status of the unprivileged child");
	check_equal(0, chown("secret", SOMEBODY, 0), "root changes the owner");
	check_equal(0, unlink("secret"), "root removes a file of another user");
}

/* ---- Pipes and devices -------------------------------------------------------------------------- */

static int ends[2];

static void write_late(void)
{
	sleep_ms(30);
	check_equal(1, write(ends[1], "x", 1), "a byte is written late");
}

static void polling(void)
{
	struct abi_pollfd fds[2];
	char c;
	int child;

	check_equal(0, pipe(ends), "a pipe");
	fds[0] = (struct abi_pollfd){ .fd = ends[0], .events = POLLIN };
	fds[1] = (struct abi_pollfd){ .fd = ends[1], .events = POLLOUT };
	check_equal(1, poll(fds, 2, -1), "one end of an empty pipe is ready");
	check_equal(0, fds[0].revents, "an empty pipe is not readable");
	check_equal(POLLOUT, fds[1].revents, "an empty pipe is writable");
	check_equal(0, poll(fds, 1, 20), "poll times out");
	child = start_child(write_late);
	check_equal(1, poll(fds, 1, 10000), "poll waits until a byte is written");
	check_equal(POLLIN, fds[0].revents, "the pipe is readable");
	check_equal(1, read(ends[0], &c, 1), "the byte is read");
	check_equal(0, wait_for(child), "status of the writer");
	close(ends[1]);
	check_equal(2, poll(fds, 2, -1), "poll reports the end of a pipe and a closed descriptor");
	check_equal(POLLHUP, fds[0].revents, "the pipe has no writer");
	check_equal(POLLNVAL, fds[1].revents, "the descriptor is closed");
	check_equal(0, read(ends[0], &c, 1), "read returns 0 without a writer");
	check_equal(-ESPIPE, lseek(ends[0], 0, SEEK_SET), "a pipe has no offset");
	close(ends[0]);
}

static void broken_pipe(void)
{
	check_equal(0, pipe(ends), "a pipe");
	close(ends[0]);
	write(ends[1], "x", 1);
}

static void pipes(void)
{
	polling();
	check_equal(SIGPIPE, wait_for(start_child(broken_pipe)), "SIGPIPE ends a writer without a reader");
	check_equal(0, handle_signal(SIGPIPE, (signal_handler *)SIG_IGN), "SIGPIPE is ignored");
	check_equal(0, pipe(ends), "a pipe");
	close(ends[0]);
	check_equal(-EPIPE, write(ends[1], "x", 1), "write fails without a reader");
	close(ends[1]);
}

static void devices(void)
{
	char text[8] = "1234567";
	struct abi_stat stat_of;
	int fd = open("/dev/zero", O_RDWR, 0);

	check_equal(7, read(fd, text, 7), "/dev/zero is read");
	check(text[0] == 0 && text[6] == 0, "/dev/zero contains zeros");
	close(fd);
	fd = open("/dev/null", O_RDWR, 0);
	check_equal(1000, write(fd, text, 1000), "/dev/null takes all bytes");
	check_equal(0, read(fd, text, 1), "/dev/null is empty");
	close(fd);
	check_equal(0, stat("/dev/console", &stat_of), "stat");
	check_equal(S_IFCHR, stat_of.mode & S_IFMT, "the console is a device");
}

static void clean_up(void)
{
	check_equal(0, unlink("c/file"), "the file is removed");
	check_equal(0, rmdir("c"), "the directory is removed");
	check_equal(0, chdir("/"), "the root directory is entered");
	check_equal(0, rmdir(HOME), "the directory of the test is removed");
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	names();
	listing();
	contents();
	offsets();
	permissions();
	pipes();
	devices();
	clean_up();
	finish();
}
