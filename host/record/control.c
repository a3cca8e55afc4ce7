/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/registers.h"
#include "user/sys/ktrace.h"

/*
 * maximum number of ancestors that are examined; without this limit, ancestors could form an endless ring,
 * because process ids are reused
 */
#define GENERATIONS 1024u

/*
 * Returns whether the request's `pid` means this process: a positive `pid` is the id of the process, and a
 * negative `pid` is the negated id of its group.
 */
static bool is_named(const struct record_process *process, pid_t pid)
{
	return pid < 0 ? getpgid(process->pid) == -(int64_t)pid : process->pid == pid;
}

/*
 * Returns whether is_named() is true for the process or, if `descend` is set, for one of its ancestors. The
 * parent of a process is always the process that created it, even if that process has ended.
 */
static bool is_chosen(const struct record_process *process, pid_t pid, bool descend)
{
	unsigned generations = descend ? GENERATIONS : 1;

	for (; process && generations > 0; generations--) {
		if (is_named(process, pid))
			return true;
		process = record_process_find(process->parent);
	}
	return false;
}

/*
 * Returns whether the process ids in the request are ids of our PID namespace. In another namespace, the same
 * ids name other processes. Without /proc, namespaces are unknown, and are assumed to be equal.
 */
static bool has_our_numbers(const struct record_request *request)
{
	static uint64_t ours;

	if (ours == 0)
		ours = record_proc_namespace();
	return request->namespace == ours || request->namespace == 0 || ours == 0;
}

static bool applies_to(const struct record_request *request, const struct record_process *process)
{
	switch (request->whose) {
	case RECORD_WHOSE_ALL:
		return true;
	case RECORD_WHOSE_PROCESS:
		return has_our_numbers(request) && is_chosen(process, request->pid, request->descend);
	case RECORD_WHOSE_GROUP:
		return has_our_numbers(request) && is_chosen(process, -request->pid, request->descend);
	case RECORD_WHOSE_FILE:
		return process->sink == record_sink_find((dev_t)request->device, (ino_t)request->inode);
	}
	return false;
}

/* Removes facilities from a process. If none is left, the process drops its reference to the sink. */
static void remove_facilities(struct record_process *process, uint32_t facilities)
{
	process->facilities &= ~facilities;
	if ((process->facilities & RECORD_FACILITY(KTRX_PROC_FAULT)) == 0)
		process->facilities &= ~RECORD_PAGES;
	if (process->facilities & RECORD_ALL)
		return;
	record_sink_put(process->sink);
	process->sink = NULL;
}

/*
 * Removes the request's facilities from each process to which the request applies. Detaches from each process
 * that has no facilities left. Returns the number of processes to which the request applied.
 */
static unsigned record_control_clear(const struct record_request *request)
{
	struct record_process *process, *next;
	unsigned count = 0;

	for (process = record_process_next(NULL); process; process = next) {
		next = record_process_next(process);
		if (!process->sink || !applies_to(request, process))
			continue;
		count++;
		remove_facilities(process, request->facilities);
		if ((process->facilities & RECORD_ALL & ~RECORD_LIVES) == 0)
			remove_facilities(process, RECORD_ALL);
		if (!process->sink)
			record_detach(process);
	}
	return count;
}

/* ---- ktrace() ---------------------------------------------------------------------------------- */

/*
 * Reads the name of a file from the thread's memory, and makes a path by which we can open this file:
 * relative to the thread's root or current directory. If the last part of the path is a symbolic link,
 * callers must not follow it. Returns 0 or a positive errno.
 */
static int find_file(const struct record_thread *thread, uint64_t address, char *path, size_t room)
{
	char name[PATH_MAX];
	ssize_t length = record_memory_string(thread->tid, address, name, sizeof(name) - 1);
	int written;

	if (length < 0)
		return EFAULT;
	name[length] = '\0';
	written = snprintf(path, room, "/proc/%d/%s%s", (int)thread->tid, name[0] == '/' ? "root" : "cwd/",
			   name);
	return written > 0 && (size_t)written < room ? 0 : ENAMETOOLONG;
}

static void set_sink(struct record_process *process, struct record_sink *sink, uint32_t facilities)
{
	if (process->sink != sink) {
		record_sink_put(process->sink);
		process->sink = record_sink_get(sink);
		process->named = false;
		record_forget_all_descriptors(process);
	}
	process->facilities |= facilities & RECORD_ALL;
	process->inherit |= (facilities & KTRFAC_INHERIT) != 0;
	if (process->name[0] == '\0')
		record_proc_name(process->pid, process->name, sizeof(process->name));
}

/*
 * Adds facilities to the chosen processes and records them into `sink`. If `sink` is NULL, removes facilities
 * instead. Does not detach from any process, because a program that has stopped its own tracing may start it
 * again. Returns 0, or ESRCH if no process is chosen.
 */
static int change(pid_t pid, uint32_t operation, uint32_t facilities, struct record_sink *sink)
{
	int error = ESRCH;

	for (struct record_process *process = record_process_next(NULL); process;
	     process = record_process_next(process)) {
		if (!is_chosen(process, pid, operation & KTRFLAG_DESCEND))
			continue;
		error = 0;
		if (sink)
			set_sink(process, sink, facilities);
		else if (process->sink)
			remove_facilities(process, facilities);
	}
	return error;
}

static int clear_file(const char *path)
{
	struct stat file;
	struct record_sink *sink;

	if (lstat(path, &file) != 0)
		return errno;
	sink = record_sink_find(file.st_dev, file.st_ino);
	for (struct record_process *process = record_process_next(NULL); process && sink;
	     process = record_process_next(process))
		if (process->sink == sink)
			remove_facilities(process, RECORD_ALL);
	return 0;
}

static bool is_any_chosen(pid_t pid, uint32_t operation)
{
	struct record_process *process = record_process_next(NULL);

	while (process && !is_chosen(process, pid, operation & KTRFLAG_DESCEND))
		process = record_process_next(process);
	return process != NULL;
}

static int set_all(const char *path, pid_t pid, uint32_t operation, uint32_t facilities)
{
	struct record_sink *sink;
	int error = is_any_chosen(pid, operation) ? record_sink_open(&sink, path, RECORD_SINK_JOIN) : ESRCH;

	if (error)
		return error;
	error = change(pid, operation, facilities, sink);
	record_sink_put(sink);
	return error;
}

int record_control_ktrace(struct record_thread *thread, uint64_t path, uint32_t operation,
			  uint32_t facilities, pid_t pid)
{
	char file[PATH_MAX + 32];
	int error;

	if (KTROP(operation) > KTROP_CLEARFILE || (operation & ~(3u | KTRFLAG_DESCEND)))
		return EINVAL;
	if (KTROP(operation) != KTROP_CLEARFILE && (facilities & RECORD_ALL) == 0)
		return EINVAL;
	/*
	 * the recorder opens the file with its own rights, so only threads of the recorder's user may send
	 * requests
	 */
	if (record_proc_user(thread->tid) != geteuid())
		return EPERM;
	if (KTROP(operation) == KTROP_CLEAR)
		return change(pid, operation, facilities, NULL);
	error = find_file(thread, path, file, sizeof(file));
	if (error)
		return error;
	return KTROP(operation) == KTROP_SET ? set_all(file, pid, operation, facilities) : clear_file(file);
}

/*
 * A recorder receives requests through a socket. The sockets of a user's recorders are in a directory that
 * only this user can enter. A request is a struct record_request, and a reply is a number of processes.
 * Requests and replies are sent in the form that they have in memory, because the sender and the receiver
 * are this program on the same machine.
 */

#define PATIENCE_MS 2000

static int listener = -1;
static struct sockaddr_un own;

#define NAME_ROOM 48u /* number of bytes for the name of a socket */

/*
 * Finds the directory, and creates it if necessary. Returns 0 or a positive errno: EPERM if it belongs to
 * another user or others can enter it. XDG_RUNTIME_DIR is not used if it is too long for a socket's path.
 */
static int find_folder(char *path, size_t room)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat stat;

	if (!runtime || !*runtime || snprintf(path, room, "%s/ktrace", runtime) >= (int)(room - NAME_ROOM))
		snprintf(path, room, "/tmp/ktrace-%u", (unsigned)geteuid());
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
	char name[NAME_ROOM];
	int error;

	snprintf(name, sizeof(name), "%d-%" PRIu64, (int)getpid(), record_proc_namespace());
	error = name_socket(&own, name);
	if (error)
		return error;
	unlink(own.sun_path); /* remove the socket of a killed recorder that had the same process id */
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

void record_control_serve(void)
{
	int peer;

	while (listener >= 0 && (peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		answer(peer);
		close(peer);
	}
}

/*
 * Returns whether the recorder that created the socket has ended. A refused connection does not prove this,
 * because a recorder that has just started may also refuse one. Returns false for a recorder in another PID
 * namespace, because it is unknown whether such a recorder has ended.
 */
static bool is_gone(const char *path)
{
	const char *name = strrchr(path, '/');
	uint64_t namespace;
	int pid;

	return name && sscanf(name, "/%d-%" SCNu64, &pid, &namespace) == 2 &&
	       namespace == record_proc_namespace() && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

/*
 * Sends a request to one recorder. Returns the number of processes in its reply, or 0 if there is no reply.
 * If the recorder was killed, removes its socket.
 */
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
