/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/take_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "cmd/command.h"

/* maximum number that is appended to a directory's name to make it unique */
#define FOLDERS_MOST 1000u

/* ---- Creating and opening directories -------------------------------------------------------------- */

int take_folder_open(struct take_folder *folder, const char *path)
{
	if (snprintf(folder->path, sizeof(folder->path), "%s", path) >= (int)sizeof(folder->path)) {
		command_message(folder->command, "%.64s…: the path is too long", path);
		return -1;
	}
	folder->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->descriptor >= 0)
		return 0;
	command_message(folder->command, "%s: %s", path, strerror(errno));
	return -1;
}

int take_folder_make(struct take_folder *folder, const char *name)
{
	char path[PATH_MAX];
	int error = 0;

	for (unsigned n = 1; n <= FOLDERS_MOST; n++) {
		if (n == 1)
			snprintf(path, sizeof(path), "%s", name);
		else
			snprintf(path, sizeof(path), "%s.%u", name, n);
		if (mkdir(path, 0700) == 0) {
			folder->made = true;
			return take_folder_open(folder, path);
		}
		error = errno;
		if (error != EEXIST)
			break;
	}
	command_message(folder->command, "%s: %s", path, strerror(error));
	return -1;
}

void take_folder_close(struct take_folder *folder)
{
	if (folder->descriptor < 0)
		return;
	close(folder->descriptor);
	folder->descriptor = -1;
	if (folder->made && rmdir(folder->path) == 0)
		folder->made = false;
}

/* ---- Making safe names ------------------------------------------------------------------------- */

void take_file_name(char to[TAKE_NAME_ROOM], const char *from)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t length = strnlen(from, TAKE_NAME_MOST);

	for (size_t n = 0; n < length; n++)
		to[n] = strchr(plain, from[n]) ? from[n] : '_';
	if (length > 0 && (to[0] == '-' || to[0] == '.'))
		to[0] = '_';
	if (length == 0)
		to[length++] = '_';
	to[length] = '\0';
}

/* ---- Creating and renaming files --------------------------------------------------------------- */

static int fail(const struct take_file *file, const char *name, const char *why)
{
	command_message(file->folder->command, "%s/%s: %s", file->folder->path, name, why);
	return -1;
}

int take_file_begin(struct take_file *file, struct take_folder *folder, const char *command)
{
	int fd;

	file->folder = folder;
	if (!folder) {
		fd = base_temporary_open();
		file->stream = fd < 0 ? NULL : fdopen(fd, "w+b");
		if (file->stream)
			return 0;
		command_message(command, "a temporary file in %s: %s", base_temporary_folder(),
				strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(file->fresh, sizeof(file->fresh), ".ktrace-take.%ld", (long)getpid());
	unlinkat(folder->descriptor, file->fresh, 0);
	fd = openat(folder->descriptor, file->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	file->stream = fd < 0 ? NULL : fdopen(fd, "wb");
	if (file->stream)
		return 0;
	if (fd >= 0) {
		close(fd);
		unlinkat(folder->descriptor, file->fresh, 0);
	}
	return fail(file, file->fresh, strerror(errno));
}

/*
 * Renames the complete file. Fails if a file with the name `name` exists. Uses link() if the file system does
 * not support renameat2() with RENAME_NOREPLACE.
 */
static int rename_fresh(const struct take_file *file, const char *name)
{
	int in = file->folder->descriptor;

	if (renameat2(in, file->fresh, in, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return linkat(in, file->fresh, in, name, 0) == 0 ? unlinkat(in, file->fresh, 0) : -1;
}

/*
 * Returns the reason why the file of that name must not be replaced. Returns NULL if the file may be
 * replaced, or does not exist.
 */
static const char *may_replace(const struct take_folder *folder, const char *name)
{
	struct stat status;

	if (fstatat(folder->descriptor, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISREG(status.st_mode))
		return "exists and is not a regular file";
	if (!folder->replace)
		return "exists (--force replaces it)";
	if (folder->log.st_ino && status.st_ino == folder->log.st_ino && status.st_dev == folder->log.st_dev)
		return "is the log itself";
	return NULL;
}

static int close_stream(struct take_file *file, bool whole)
{
	int failed = whole && (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0);

	failed |= fclose(file->stream) != 0;
	file->stream = NULL;
	return failed;
}

int take_file_commit(struct take_file *file, const char *name)
{
	struct take_folder *folder = file->folder;
	const char *wrong = ferror(file->stream) ? strerror(EIO) : NULL;

	if (close_stream(file, !wrong) && !wrong)
		wrong = strerror(errno);
	if (!wrong)
		wrong = may_replace(folder, name);
	if (!wrong && folder->replace &&
	    renameat(folder->descriptor, file->fresh, folder->descriptor, name) < 0)
		wrong = strerror(errno);
	if (!wrong && !folder->replace && rename_fresh(file, name) < 0)
		wrong = errno == EEXIST ? "exists (--force replaces it)" : strerror(errno);
	if (!wrong) {
		fsync(folder->descriptor); /* ignore errors, because some file systems do not support this */
		return 0;
	}
	unlinkat(folder->descriptor, file->fresh, 0);
	return fail(file, name, wrong);
}

int take_file_print(struct take_file *file, const char *command)
{
	char buffer[65536];
	size_t got;

	rewind(file->stream);
	while ((got = fread(buffer, 1, sizeof(buffer), file->stream)) > 0)
		if (fwrite(buffer, 1, got, stdout) != got)
			break;
	if (!ferror(file->stream) && fflush(stdout) == 0 && !ferror(stdout)) {
		close_stream(file, false);
		return 0;
	}
	command_message(command, "standard output: %s", strerror(errno));
	close_stream(file, false);
	return -1;
}

void take_file_abandon(struct take_file *file)
{
	if (!file->stream)
		return;
	close_stream(file, false);
	if (file->folder)
		unlinkat(file->folder->descriptor, file->fresh, 0);
}
