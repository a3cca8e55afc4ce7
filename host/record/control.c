/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/control.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/content.h"
#include "record/memory.h"
#include "record/tracer.h"
#include "user/sys/ktrace.h"

#define GENERATIONS \
	1024u /* that are looked back through: numbers that come again could make a ring of them */

/* `pid` below zero is that of a group, as kill(2) has it. */
static bool is_named(const struct record_process *process, pid_t pid)
{
	return pid < 0 ? getpgid(process->pid) == -(int64_t)pid : process->pid == pid;
}

/*
 * Or descended from one that is, by what was true when they were made; a process whose parent has ended keeps its number
 * here.
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

static bool concerns(const struct record_request *request, const struct record_process *process)
{
	switch (request->whose) {
	case RECORD_WHOSE_ALL:
		return true;
	case RECORD_WHOSE_PROCESS:
		return is_chosen(process, request->pid, request->descend);
	case RECORD_WHOSE_GROUP:
		return is_chosen(process, -request->pid, request->descend);
	case RECORD_WHOSE_FILE:
		return process->sink == record_sink_find((dev_t)request->device, (ino_t)request->inode);
	}
	return false;
}

/* With the last facility, the sink goes. */
static void take_away(struct record_process *process, uint32_t facilities)
{
	process->facilities &= ~facilities;
	if (process->facilities & RECORD_ALL)
		return;
	record_sink_release(process->sink);
	process->sink = NULL;
}

unsigned record_control_clear(const struct record_request *request)
{
	struct record_process *process, *next;
	unsigned count = 0;

	for (process = record_process_next(NULL); process; process = next) {
		next = record_process_next(process);
		if (!process->sink || !concerns(request, process))
			continue;
		count++;
		take_away(process, request->facilities);
		if ((process->facilities & RECORD_ALL & ~RECORD_LIVES) == 0)
			take_away(process, RECORD_ALL);
		if (!process->sink)
			record_let_go(process);
	}
	return count;
}

/* ---- ktrace() ---------------------------------------------------------------------------------- */

/* As we can reach it; its last part is not followed where it is a link. */
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

static void set(struct record_process *process, struct record_sink *sink, uint32_t facilities)
{
	if (process->sink != sink) {
		record_sink_release(process->sink);
		process->sink = record_sink_hold(sink);
		process->named = false;
	}
	process->facilities |= facilities & RECORD_ALL;
	process->inherit |= (facilities & KTRFAC_INHERIT) != 0;
	if (process->name[0] == '\0')
		record_proc_name(process->pid, process->name, sizeof(process->name));
}

/* They stay ours: a program that ends its own tracing may begin it again. `sink` NULL: facilities are taken away. */
static int change(pid_t pid, uint32_t operation, uint32_t facilities, struct record_sink *sink)
{
	int error = ESRCH;

	for (struct record_process *process = record_process_next(NULL); process;
	     process = record_process_next(process)) {
		if (!is_chosen(process, pid, operation & KTRFLAG_DESCEND))
			continue;
		error = 0;
		if (sink)
			set(process, sink, facilities);
		else if (process->sink)
			take_away(process, facilities);
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
			take_away(process, RECORD_ALL);
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
	record_sink_release(sink);
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
	/* What it asks for is done with our rights. */
	if (record_proc_user(thread->tid) != geteuid())
		return EPERM;
	if (KTROP(operation) == KTROP_CLEAR)
		return change(pid, operation, facilities, NULL);
	error = find_file(thread, path, file, sizeof(file));
	if (error)
		return error;
	return KTROP(operation) == KTROP_SET ? set_all(file, pid, operation, facilities) : clear_file(file);
}
