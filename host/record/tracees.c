/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads information about processes from /proc, and keeps the tables of traced processes and threads. A
 * process may end at any moment.
 */
#include "record/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_MAX 4096

/*
 * Reads a file, and adds a NUL after its contents. Returns the length of the contents, 0 if they cannot be
 * read.
 */
static size_t read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/*
 * Returns the value of the line "KEY:" in `text`, the contents of a status file; NULL if there is no such
 * line.
 */
static const char *value_of(const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return line + length + 1;
	return NULL;
}

/*
 * Returns whether /proc is mounted and shows our PID namespace. The file "status" contains our process id in
 * each PID namespace, from the namespace of /proc down to our own. If it contains only one id, the two
 * namespaces are the same. In kernels before 4.1, it contains no such ids: then assumes that the namespaces
 * are the same.
 */
static bool find_usable(void)
{
	char text[STATUS_MAX];
	const char *numbers;
	int first, second;

	if (read_file("/proc/self/status", text, sizeof(text)) == 0)
		return false;
	numbers = value_of(text, "NSpid");
	return !numbers || sscanf(numbers, "%d%*[ \t]%d", &first, &second) == 1;
}

bool record_proc_is_usable(void)
{
	static enum { UNKNOWN, YES, NO } usable;

	if (usable == UNKNOWN)
		usable = find_usable() ? YES : NO;
	return usable == YES;
}

uint64_t record_proc_namespace(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 ? namespace.st_ino : 0;
}

/* Returns the value of the line "KEY:" in a thread's status; NULL if it cannot be read. */
static const char *status_of(pid_t tid, const char *key, char text[static STATUS_MAX])
{
	char path[40];

	if (!record_proc_is_usable())
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return read_file(path, text, STATUS_MAX) > 0 ? value_of(text, key) : NULL;
}

static uint64_t status_number(pid_t tid, const char *key, int base)
{
	char text[STATUS_MAX];
	const char *value = status_of(tid, key, text);

	return value ? strtoull(value, NULL, base) : 0;
}

/*
 * Returns whether the thread belongs to the process. The error EPERM means that the thread does belong to the
 * process, because the kernel checks the recorder's rights only after it has found the thread in the process.
 */
static bool is_thread_of(pid_t tid, pid_t pid)
{
	return tgkill(pid, tid, 0) == 0 || errno == EPERM;
}

pid_t record_proc_process(pid_t tid)
{
	const struct record_process *process = NULL;
	pid_t pid = is_thread_of(tid, tid) ? tid : (pid_t)status_number(tid, "Tgid", 10);

	if (pid == 0) /* the thread has ended, or /proc cannot be used: search the traced processes */
		while ((process = record_process_next(process)) && !is_thread_of(tid, process->pid))
			continue;
	return process ? process->pid : pid;
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

bool record_proc_gains_nothing(pid_t tid)
{
	return status_number(tid, "NoNewPrivs", 10) != 0;
}

void record_proc_name(pid_t pid, char *name, size_t room)
{
	char path[40];
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	*name = '\0';
	length = record_proc_is_usable() ? read_file(path, name, room) : 0;
	if (length > 0 && name[length - 1] == '\n')
		name[length - 1] = '\0';
}

char record_proc_state(pid_t tid)
{
	char text[STATUS_MAX];
	const char *value = status_of(tid, "State", text);

	return value ? value[strspn(value, " \t")] : '\0';
}

uint64_t record_proc_switches(pid_t tid)
{
	return status_number(tid, "voluntary_ctxt_switches", 10);
}

/* Returns the set of signals that this program ignores. A new command ignores the same signals. */
static uint64_t ignored_by_us(void)
{
	struct sigaction action;
	uint64_t ignored = 0;

	for (int n = 1; n < RECORD_SIGNALS; n++)
		if (sigaction(n, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored |= UINT64_C(1) << (n - 1);
	return ignored;
}

void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS])
{
	uint64_t caught = status_number(pid, "SigCgt", 16);
	uint64_t ignored = record_proc_is_usable() ? status_number(pid, "SigIgn", 16) : ignored_by_us();

	for (unsigned n = 1; n < RECORD_SIGNALS; n++)
		handler[n] = caught >> (n - 1) & 1    ? KTRX_PROC_HANDLER_UNKNOWN
			     : ignored >> (n - 1) & 1 ? 1
						      : 0;
}

#define CHAINS 1024u

static struct record_thread *threads[CHAINS];
static struct record_process *processes[CHAINS];
static size_t thread_count;

static unsigned chain_of(pid_t number)
{
	return (unsigned)number % CHAINS;
}

struct record_thread *record_thread_find(pid_t tid)
{
	struct record_thread *thread = threads[chain_of(tid)];

	while (thread && thread->tid != tid)
		thread = thread->next;
	return thread;
}

struct record_process *record_process_find(pid_t pid)
{
	struct record_process *process = processes[chain_of(pid)];

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct record_process *record_process_add(pid_t pid, pid_t parent)
{
	struct record_process **chain = &processes[chain_of(pid)];
	struct record_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->parent = parent;
	process->next = *chain;
	return *chain = process;
}

static void link_thread(struct record_thread *thread)
{
	struct record_thread **chain = &threads[chain_of(thread->tid)];

	thread->next = *chain;
	*chain = thread;
}

struct record_thread *record_thread_add(pid_t tid, struct record_process *process)
{
	struct record_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->process = process;
	process->threads++;
	thread_count++;
	link_thread(thread);
	return thread;
}

static void unlink_thread(struct record_thread *thread)
{
	struct record_thread **link = &threads[chain_of(thread->tid)];

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
}

void record_process_remove(struct record_process *process)
{
	struct record_process **link = &processes[chain_of(process->pid)];

	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	record_sink_put(process->sink);
	free(process);
}

void record_thread_remove(struct record_thread *thread)
{
	record_faults_end(thread);
	record_descriptors_end(thread);
	unlink_thread(thread);
	thread_count--;
	if (--thread->process->threads == 0)
		record_process_remove(thread->process);
	free(thread);
}

void record_thread_renumber(struct record_thread *thread, pid_t tid)
{
	record_descriptors_end(thread);
	unlink_thread(thread);
	thread->tid = tid;
	link_thread(thread);
}

struct record_thread *record_thread_next(const struct record_thread *last)
{
	unsigned chain = last ? chain_of(last->tid) + 1 : 0;

	if (last && last->next)
		return last->next;
	while (chain < CHAINS && !threads[chain])
		chain++;
	return chain < CHAINS ? threads[chain] : NULL;
}

struct record_process *record_process_next(const struct record_process *last)
{
	unsigned chain = last ? chain_of(last->pid) + 1 : 0;

	if (last && last->next)
		return last->next;
	while (chain < CHAINS && !processes[chain])
		chain++;
	return chain < CHAINS ? processes[chain] : NULL;
}

struct record_thread *record_thread_of(const struct record_process *process)
{
	struct record_thread *thread = record_thread_find(process->pid);

	if (!thread) /* the main thread may have ended before the other threads of its process */
		thread = record_thread_next(NULL);
	while (thread && thread->process != process)
		thread = record_thread_next(thread);
	return thread;
}

size_t record_threads(void)
{
	return thread_count;
}
