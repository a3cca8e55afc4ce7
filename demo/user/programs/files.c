/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* files: names, contents, permissions, pipes and polling. Each call is checked for its result. */
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

/* ---- Names -------------------------------------------------------------------------------------- */

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
	check_equal(-EEXIST, mkdir(HOME, 0755), "not twice");
	check_equal(-ENOENT, mkdir(HOME "/no/way", 0755), "not below nothing");
	check_equal(-ENAMETOOLONG, mkdir(HOME "/" LONG_NAME, 0755), "a long name");
	check_equal(-ENOENT, open("", O_RDONLY, 0), "no name");
	check_equal(0, chdir(HOME), "entered");
	check_cwd(HOME);
	check_equal(0, mkdir("./a//", 0755), "by a relative path");
	check_equal(0, mkdir("a/../a/b", 0755), "and by a crooked one");
	make_file("a/file", "one");
	check_equal(-ENOTDIR, open("a/file/x", O_RDONLY, 0), "below a file");
	check_equal(-ENOTDIR, chdir("a/file"), "into a file");
	check_equal(-EISDIR, open("a", O_WRONLY, 0), "a directory is not written");
	check_equal(-EEXIST, open("a/file", O_WRONLY | O_CREAT | O_EXCL, 0644), "there already");
	check_equal(-ENOTEMPTY, rmdir("a"), "not while something is in it");
	check_equal(-EISDIR, unlink("a"), "directories are not unlinked");
	check_equal(-ENOTDIR, rmdir("a/file"), "files are not directories");
	check_equal(-EINVAL, rename("a", "a/b/c"), "not into itself");
	check_equal(0, chdir("a/b"), "down");
	check_equal(0, rename(HOME "/a", HOME "/c"), "a directory gets another name");
	check_cwd(HOME "/c/b");
	check_equal(0, rmdir(HOME "/c/b"), "removed while somebody is in it");
	check_equal(-ENOENT, open("x", O_WRONLY | O_CREAT, 0644), "nothing is made there");
	check_equal(-ENOENT, getcwd((char[PATH_MAX]){ 0 }, PATH_MAX), "it has no path");
	check_equal(0, chdir("../.."), "up");
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
	check_equal(0, unlink("c/5"), "one is removed");
	fd = open("c", O_RDONLY, 0);
	check_equal(-EISDIR, read(fd, entries, sizeof(entries)), "a directory is listed, not read");
	check_equal(-EINVAL, getdents(fd, entries, 1), "no room for an entry");
	while ((size = getdents(fd, entries, sizeof(entries))) > 0)
		found += (int)((size_t)size / sizeof(entries[0]));
	check_equal(10, found, "nine digits and a file");
	check_equal(0, lseek(fd, 0, SEEK_SET), "to the beginning");
	check_equal(sizeof(entries), getdents(fd, entries, sizeof(entries)), "once more");
	close(fd);
	for (int i = 0; i < 10; i++)
		unlink((char[]){ 'c', '/', (char)('0' + i), '\0' });
}

/* ---- Contents ----------------------------------------------------------------------------------- */

static void contents(void)
{
	char text[16];
	struct abi_stat stat;
	int fd = open("c/file", O_RDWR, 0);

	check_equal(3, read(fd, text, sizeof(text)), "all of it");
	check_equal(0, read(fd, text, sizeof(text)), "the end");
	check_equal(HOLE, lseek(fd, HOLE, SEEK_SET), "far behind the end");
	check_equal(3, write(fd, "end", 3), "and written there");
	check_equal(0, fstat(fd, &stat), "stat");
	check_equal(HOLE + 3, (int64_t)stat.size, "size");
	check_equal(HOLE - 1, lseek(fd, -4, SEEK_END), "before the end");
	check_equal(4, read(fd, text, sizeof(text)), "all that is left");
	check(memcmp(text, "\0end", 4) == 0, "behind the hole");
	check_equal(0, ftruncate(fd, 2), "cut");
	check_equal(0, ftruncate(fd, 5), "and lengthened");
	check_equal(0, lseek(fd, 0, SEEK_SET), "to the beginning");
	check(read(fd, text, sizeof(text)) == 5 && memcmp(text, "on\0\0\0", 5) == 0,
	      "zeroes, not what was there");
	check_equal(-EINVAL, lseek(fd, -1, SEEK_SET), "before the beginning");
	check_equal(-EFBIG, ftruncate(fd, (int64_t)1 << 40), "larger than any file");
	close(fd);
	fd = open("c/file", O_RDONLY, 0);
	check_equal(-EBADF, write(fd, "x", 1), "not opened for writing");
	check_equal(-EINVAL, ftruncate(fd, 0), "nor for that");
	close(fd);
}

static int shared_fd;

static void write_shared(void)
{
	check_equal(5, write(shared_fd, "child", 5), "the child writes");
}

/* Descriptors from one open share one offset; O_APPEND does not use it. */
static void offsets(void)
{
	char text[32];
	int copy, appending;

	shared_fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0644);
	copy = dup(shared_fd);
	appending = open("shared", O_WRONLY | O_APPEND, 0);
	check_equal(0, wait_for(start_child(write_shared)), "a child");
	check_equal(4, write(copy, "copy", 4), "the copy goes on there");
	check_equal(3, write(appending, "end", 3), "appended");
	check_equal(4, write(shared_fd, "over", 4), "written over what was appended");
	check_equal(0, lseek(copy, 0, SEEK_SET), "to the beginning");
	check(is_text("childcopyover", text, read(shared_fd, text, sizeof(text))), "all of it in order");
	check_equal(copy, dup2(appending, copy), "another file in its place");
	check_equal(-EBADF, read(copy, text, 1), "which cannot be read");
	close(copy), close(appending), close(shared_fd);
	check_equal(0, rename("shared", "c/file"), "in place of another");
	check_equal(-EBADF, close(shared_fd), "closed already");
}

/* ---- Permissions -------------------------------------------------------------------------------- */

static void as_somebody(void)
{
	struct abi_stat stat_of;

	check_equal(0, setgid(SOMEBODY), "group");
	check_equal(0, setuid(SOMEBODY), "user");
	check_equal(-EACCES, open("secret", O_RDONLY, 0), "not for everyone");
	check_equal(-EACCES, open("c/file", O_WRONLY, 0), "to be read only");
	check_equal(-EACCES, mkdir("mine", 0755), "not our directory");
	check_equal(-EACCES, unlink("c/file"), "nor that");
	check_equal(-EPERM, chmod("c/file", 0777), "not our file");
	check_equal(-EPERM, chown("c/file", SOMEBODY, SOMEBODY), "and not to become so");
	make_file("/tmp/mine", "mine");
	check_equal(0, stat("/tmp/mine", &stat_of), "stat");
	check_equal(SOMEBODY, stat_of.uid, "ours");
	check_equal(S_IFREG | 0644, stat_of.mode, "a file");
	check_equal(0, chmod("/tmp/mine", 0), "to do with as we like");
	check_equal(-EACCES, open("/tmp/mine", O_RDONLY, 0), "nobody may");
	check_equal(0, unlink("/tmp/mine"), "but remove it");
}

static void permissions(void)
{
	make_file("secret", "secret");
	check_equal(0, chmod("secret", 0640), "for the group only");
	check_equal(0, wait_for(start_child(as_somebody)), "somebody else");
	check_equal(0, chown("secret", SOMEBODY, 0), "given away");
	check_equal(0, unlink("secret"), "and removed");
}

/* ---- Pipes and devices -------------------------------------------------------------------------- */

static int ends[2];

static void write_late(void)
{
	sleep_ms(30);
	check_equal(1, write(ends[1], "x", 1), "written late");
}

static void polling(void)
{
	struct abi_pollfd fds[2];
	char c;
	int child;

	check_equal(0, pipe(ends), "a pipe");
	fds[0] = (struct abi_pollfd){ .fd = ends[0], .events = POLLIN };
	fds[1] = (struct abi_pollfd){ .fd = ends[1], .events = POLLOUT };
	check_equal(1, poll(fds, 2, -1), "an empty pipe");
	check_equal(0, fds[0].revents, "is not readable");
	check_equal(POLLOUT, fds[1].revents, "but writable");
	check_equal(0, poll(fds, 1, 20), "the time is over");
	child = start_child(write_late);
	check_equal(1, poll(fds, 1, 10000), "until there is something");
	check_equal(POLLIN, fds[0].revents, "readable");
	check_equal(1, read(ends[0], &c, 1), "read");
	check_equal(0, wait_for(child), "the writer");
	close(ends[1]);
	check_equal(2, poll(fds, 2, -1), "the end of it, and a closed descriptor");
	check_equal(POLLHUP, fds[0].revents, "no writer");
	check_equal(POLLNVAL, fds[1].revents, "no descriptor");
	check_equal(0, read(ends[0], &c, 1), "the end");
	check_equal(-ESPIPE, lseek(ends[0], 0, SEEK_SET), "pipes have no place");
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
	check_equal(SIGPIPE, wait_for(start_child(broken_pipe)), "nobody reads");
	check_equal(0, handle_signal(SIGPIPE, (signal_handler *)SIG_IGN), "ignored");
	check_equal(0, pipe(ends), "a pipe");
	close(ends[0]);
	check_equal(-EPIPE, write(ends[1], "x", 1), "nobody reads");
	close(ends[1]);
}

static void devices(void)
{
	char text[8] = "1234567";
	struct abi_stat stat_of;
	int fd = open("/dev/zero", O_RDWR, 0);

	check_equal(7, read(fd, text, 7), "zeroes");
	check(text[0] == 0 && text[6] == 0, "are zeroes");
	close(fd);
	fd = open("/dev/null", O_RDWR, 0);
	check_equal(1000, write(fd, text, 1000), "everything");
	check_equal(0, read(fd, text, 1), "nothing");
	close(fd);
	check_equal(0, stat("/dev/console", &stat_of), "stat");
	check_equal(S_IFCHR, stat_of.mode & S_IFMT, "a device");
}

static void clean_up(void)
{
	check_equal(0, unlink("c/file"), "the file is removed");
	check_equal(0, rmdir("c"), "the directory is removed");
	check_equal(0, chdir("/"), "away");
	check_equal(0, rmdir(HOME), "all is removed");
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
