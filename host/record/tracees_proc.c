/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the files of /proc say of processes. All of them may go away at any moment. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/tracees.h"

#define STATUS_MAX 4096

/* NUL-terminated; length, 0 if it cannot be read. */
static size_t read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* What stands behind "KEY:" in the status; NULL: nothing. */
static const char *status_of(pid_t tid, const char *key, char text[static STATUS_MAX])
{
	char path[40];
	const char *line;
	size_t length = strlen(key);

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (read_file(path, text, STATUS_MAX) == 0)
		return NULL;
	for (line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return line + length + 1;
	return NULL;
}

static uint64_t status_number(pid_t tid, const char *key, int base)
{
	char text[STATUS_MAX];
	const char *value = status_of(tid, key, text);

	return value ? strtoull(value, NULL, base) : 0;
}

pid_t record_proc_process(pid_t tid)
{
	return (pid_t)status_number(tid, "Tgid", 10);
}

pid_t record_proc_parent(pid_t pid)
{
	return (pid_t)status_number(pid, "PPid", 10);
}

uid_t record_proc_user(pid_t tid)
{
	char text[STATUS_MAX];
	const char *value = status_of(tid, "Uid", text);
	unsigned real, effective;

	return value && sscanf(value, "%u %u", &real, &effective) == 2 ? effective : (uid_t)-1;
}

void record_proc_name(pid_t pid, char *name, size_t room)
{
	char path[40];
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	length = read_file(path, name, room);
	if (length > 0 && name[length - 1] == '\n')
		name[length - 1] = '\0';
}

uint64_t record_proc_switches(pid_t tid)
{
	return status_number(tid, "voluntary_ctxt_switches", 10);
}

void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS])
{
	uint64_t caught = status_number(pid, "SigCgt", 16), ignored = status_number(pid, "SigIgn", 16);

	for (unsigned n = 1; n < RECORD_SIGNALS; n++)
		handler[n] = caught >> (n - 1) & 1    ? KTRX_PROC_HANDLER_UNKNOWN
			     : ignored >> (n - 1) & 1 ? 1
						      : 0;
}
