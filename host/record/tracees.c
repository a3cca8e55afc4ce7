/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracees.h"

#include <stdlib.h>
#include <string.h>

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
	record_sink_release(process->sink);
	free(process);
}

void record_thread_remove(struct record_thread *thread)
{
	unlink_thread(thread);
	thread_count--;
	if (--thread->process->threads == 0)
		record_process_remove(thread->process);
	free(thread);
}

void record_thread_renumber(struct record_thread *thread, pid_t tid)
{
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

	if (!thread) /* the first one may have ended before the others */
		thread = record_thread_next(NULL);
	while (thread && thread->process != process)
		thread = record_thread_next(thread);
	return thread;
}

size_t record_threads(void)
{
	return thread_count;
}
