/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Recorders and those who ask them meet in a folder that only this user can enter. A request is the struct itself, a reply
 * the count of processes: both ends are this program, of one user, on one machine.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/control.h"

#define PATIENCE_MS 2000

static int listener = -1;
static struct sockaddr_un own;

/* Made if need be; EPERM if it is somebody else's, or open to others. */
static int find_folder(char *path, size_t room)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat stat;
	int length = runtime && *runtime ? snprintf(path, room, "%s/ktrace", runtime)
					 : snprintf(path, room, "/tmp/ktrace-%u", (unsigned)geteuid());

	if (length < 0 || (size_t)length >= room)
		return ENAMETOOLONG;
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return errno;
	if (lstat(path, &stat) != 0)
		return errno;
	return S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() && (stat.st_mode & 077) == 0 ? 0 : EPERM;
}

static int name_socket(struct sockaddr_un *address, const char *name)
{
	char folder[sizeof(address->sun_path)];
	int error = find_folder(folder, sizeof(folder)), length;

	if (error)
		return error;
	address->sun_family = AF_UNIX;
	length = snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", folder, name);
	return length < 0 || (size_t)length >= sizeof(address->sun_path) ? ENAMETOOLONG : 0;
}

int record_control_open(void)
{
	char name[24];
	int error;

	snprintf(name, sizeof(name), "%d", (int)getpid());
	error = name_socket(&own, name);
	if (error)
		return error;
	unlink(own.sun_path); /* of one that had our number, and was killed */
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return errno;
	if (bind(listener, (const struct sockaddr *)&own, sizeof(own)) == 0 && listen(listener, 8) == 0)
		return 0;
	error = errno;
	record_control_close();
	return error;
}

void record_control_close(void)
{
	if (listener < 0)
		return;
	close(listener);
	unlink(own.sun_path);
	listener = -1;
}

static void answer(int peer)
{
	struct pollfd ready = { .fd = peer, .events = POLLIN };
	struct record_request request;
	unsigned count;

	if (poll(&ready, 1, PATIENCE_MS) != 1 || recv(peer, &request, sizeof(request), 0) != sizeof(request))
		return;
	count = record_control_clear(&request);
	(void)!send(peer, &count, sizeof(count), MSG_NOSIGNAL);
}

void record_control_attend(void)
{
	int peer;

	while (listener >= 0 && (peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		answer(peer);
		close(peer);
	}
}

/* Is the recorder that has a socket of this name gone? One that begins may refuse us, too. */
static bool is_gone(const char *path)
{
	const char *name = strrchr(path, '/');
	long pid = name ? strtol(name + 1, NULL, 10) : 0;

	return pid > 0 && pid <= INT32_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* One that was killed has left its socket behind: it goes. */
static unsigned ask(const struct sockaddr_un *address, const struct record_request *request)
{
	int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct pollfd ready = { .fd = peer, .events = POLLIN };
	unsigned count = 0;

	if (peer < 0)
		return 0;
	if (connect(peer, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		if (errno == ECONNREFUSED && is_gone(address->sun_path))
			unlink(address->sun_path);
	} else if (send(peer, request, sizeof(*request), MSG_NOSIGNAL) == sizeof(*request) &&
		   poll(&ready, 1, PATIENCE_MS) == 1 &&
		   recv(peer, &count, sizeof(count), 0) != sizeof(count)) {
		count = 0;
	}
	close(peer);
	return count;
}

int record_control_ask_all(const struct record_request *request)
{
	struct sockaddr_un address;
	char folder[sizeof(address.sun_path)];
	struct dirent *entry;
	unsigned count = 0;
	DIR *directory;
	int error = find_folder(folder, sizeof(folder));

	if (error)
		return -error;
	directory = opendir(folder);
	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && name_socket(&address, entry->d_name) == 0)
			count += ask(&address, request);
	closedir(directory);
	return (int)count;
}
