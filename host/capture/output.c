/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "output.h"
#include "workplace.h"

int capture_output_check(const char *path)
{
	char folder[PATH_MAX];
	struct stat status;

	if (capture_path_folder(folder, path) != 0)
		return CAPTURE_E_SYSTEM;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
		return capture_fail_errno("%s: not a place for a trace", path);
	}
	if (access(folder, W_OK | X_OK) != 0)
		return capture_fail_errno("%s: cannot be written: %s", path, folder);
	return 0;
}

int capture_output_open(struct capture_output *output, const char *path)
{
	output->path = path;
	if (snprintf(output->fresh, sizeof(output->fresh), "%s.%ld.new", path, (long)getpid()) >=
	    (int)sizeof(output->fresh)) {
		errno = ENAMETOOLONG;
		return capture_fail_errno("%s", path);
	}
	unlink(output->fresh);
	output->fd = open(output->fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return output->fd >= 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_output_dump(struct capture_output *output, struct ktread_image *image, const char *note,
			uint64_t frequency)
{
	if (ktread_image_write(image, output->fd, note, frequency) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", output->path, ktread_image_message());
}

int capture_output_commit(struct capture_output *output)
{
	int failed = close(output->fd);

	output->fd = -1;
	if (!failed && rename(output->fresh, output->path) == 0)
		return 0;
	capture_fail_errno("%s", output->path);
	unlink(output->fresh);
	return CAPTURE_E_SYSTEM;
}

void capture_output_abandon(struct capture_output *output)
{
	close(output->fd);
	output->fd = -1;
	unlink(output->fresh);
}
