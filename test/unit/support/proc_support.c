/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/proc_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/proc/proc.h"
#include "test/fake/machine.h"

struct proc_process proc_process[PROC_PROCESSES];
uint8_t proc_user[PROC_USER_SIZE];
struct proc_kernel proc_kernel;

static struct {
	bool shortly, table;
	uint32_t sinks; /* number of sinks whose lock is held */
	uint32_t open;
} held;

static struct proc_process *of(const struct ktrace_proc *trace)
{
	return (struct proc_process *)((uintptr_t)trace - offsetof(struct proc_process, trace));
}

static struct proc_sink *sink_of(struct ktrace_proc_sink *sink)
{
	return (struct proc_sink *)sink;
}

/* ---- Locks ------------------------------------------------------------------------------------- */

static unsigned long lock(void)
{
	assert_false(held.shortly);
	held.shortly = true;
	return 0x1234;
}

static void unlock(unsigned long saved)
{
	assert_int_equal(saved, 0x1234);
	assert_true(held.shortly);
	held.shortly = false;
}

static unsigned long table_lock(void)
{
	assert_false(held.shortly);
	assert_false(held.table);
	held.table = true;
	return 0x5678;
}

static void table_unlock(unsigned long saved)
{
	assert_int_equal(saved, 0x5678);
	assert_false(held.shortly);
	assert_true(held.table);
	held.table = false;
}

static void may_sleep(void)
{
	assert_false(held.shortly);
	assert_false(held.table);
}

static void sink_lock(struct ktrace_proc_sink *sink)
{
	may_sleep();
	assert_int_equal(held.sinks, 0);
	sink_of(sink)->locked = true;
	held.sinks++;
}

static void sink_unlock(struct ktrace_proc_sink *sink)
{
	may_sleep();
	assert_true(sink_of(sink)->locked);
	sink_of(sink)->locked = false;
	held.sinks--;
}

/* ---- Processes --------------------------------------------------------------------------------- */

static struct ktrace_proc *next(struct ktrace_proc *last)
{
	assert_true(held.table);
	for (struct proc_process *process = last ? of(last) + 1 : proc_process;
	     process < proc_process + PROC_PROCESSES; process++)
		if (process->alive)
			return &process->trace;
	return NULL;
}

static struct ktrace_proc *parent(struct ktrace_proc *process)
{
	assert_true(held.table);
	return of(process)->parent ? &of(process)->parent->trace : NULL;
}

static void identity(const struct ktrace_proc *process, struct ktrace_proc_identity *identity)
{
	assert_true(held.table);
	*identity = of(process)->id;
}

static void name(const struct ktrace_proc *process, char *to, size_t room)
{
	size_t length = strlen(of(process)->name);

	assert_true(held.shortly);
	assert_true(room > 0);
	if (length >= room)
		length = room - 1;
	memcpy(to, of(process)->name, length);
	to[length] = 0;
}

static int copy_in(void *to, uintptr_t from, size_t size)
{
	may_sleep();
	proc_kernel.copies++;
	if (proc_kernel.in_copy)
		proc_kernel.in_copy();
	if (from < PROC_USER_BASE || size > PROC_USER_SIZE || from - PROC_USER_BASE > PROC_USER_SIZE - size)
		return -14;
	memcpy(to, proc_user + (from - PROC_USER_BASE), size);
	return 0;
}

void proc_ids(struct proc_process *process, uint32_t uid, uint32_t gid)
{
	process->id.ruid = process->id.euid = process->id.svuid = uid;
	process->id.rgid = process->id.egid = process->id.svgid = gid;
}

struct proc_process *proc_first(void)
{
	return &proc_process[0];
}

struct proc_process *proc_fork(struct proc_process *from)
{
	static uint32_t pid;
	struct proc_process *process = proc_process;
	unsigned long table;

	while (process->alive)
		process++;
	assert_true(process < proc_process + PROC_PROCESSES);
	memset(process, 0, sizeof(*process));
	process->parent = from;
	if (from) {
		process->id = from->id;
		memcpy(process->name, from->name, sizeof(process->name));
	}
	pid = from ? pid + 1 : 1;
	process->id.pid = pid;
	if (!from)
		process->id.group = pid;
	table = table_lock();
	process->alive = true;
	if (from)
		ktrace_proc_fork(&from->trace, &process->trace, pid, pid);
	table_unlock(table);
	return process;
}

void proc_exit(struct proc_process *process)
{
	fake.thread = process->id.pid;
	ktrace_proc_exit(&process->trace, &process->thread, 0, 0);
	process->alive = false;
	for (uint32_t i = 0; i < PROC_PROCESSES; i++)
		if (proc_process[i].parent == process)
			proc_process[i].parent = proc_first();
}

/* ---- Files ------------------------------------------------------------------------------------- */

static int64_t write_file(struct ktrace_proc_sink *sink, const void *data, size_t size)
{
	struct proc_file *file = &sink_of(sink)->file;
	size_t room = file->capacity - file->size;

	may_sleep();
	assert_true(sink_of(sink)->locked);
	assert_true(size > 0);
	file->writes++;
	if (file->in_write)
		file->in_write(file);
	if (room == 0)
		return file->silent ? 0 : -PROC_ENOSPC;
	if (size > room)
		size = room;
	if (file->most && size > file->most)
		size = file->most;
	memcpy(file->bytes + file->size, data, size);
	file->size += size;
	return (int64_t)size;
}

static int truncate_file(struct ktrace_proc_sink *sink, uint64_t bytes)
{
	struct proc_file *file = &sink_of(sink)->file;

	may_sleep();
	assert_true(sink_of(sink)->locked);
	assert_in_range(bytes, 1, file->size);
	file->truncations++;
	file->size -= bytes;
	return 0;
}

static void close_file(struct ktrace_proc_sink *sink)
{
	may_sleep();
	assert_int_equal(held.sinks, 0);
	assert_int_equal(sink->state, KTRACE_PROC_SINK_CLOSED);
	sink_of(sink)->closed++;
	held.open--;
}

const struct ktrace_proc_sink_operations proc_operations = {
	.write = write_file,
	.truncate = truncate_file,
	.lock = sink_lock,
	.unlock = sink_unlock,
	.close = close_file,
};
const struct ktrace_proc_sink_operations proc_operations_bare = {
	.write = write_file,
	.lock = sink_lock,
	.unlock = sink_unlock,
};

struct ktrace_proc_sink_config proc_config(void)
{
	return (struct ktrace_proc_sink_config){
		.size = sizeof(struct ktrace_proc_sink_config),
		.buffer_size = PROC_BUFFER,
		.operations = &proc_operations,
	};
}

int proc_open(struct proc_sink *sink, const struct ktrace_proc_sink_config *wanted)
{
	struct ktrace_proc_sink_config config = *wanted;
	int error;

	config.buffer = sink->buffer;
	config.file = sink;
	if (!sink->file.bytes) {
		sink->file.bytes = malloc(PROC_FILE_MAX);
		assert_non_null(sink->file.bytes);
		if (!sink->file.capacity)
			sink->file.capacity = PROC_FILE_MAX;
	}
	error = ktrace_proc_sink_open(&sink->sink, &config, NULL);
	if (!error && config.operations->close)
		held.open++;
	return error;
}

void proc_open_default(struct proc_sink *sink)
{
	const struct ktrace_proc_sink_config config = proc_config();

	assert_int_equal(proc_open(sink, &config), KTRACE_OK);
}

void proc_free(struct proc_sink *sink)
{
	free(sink->file.bytes);
	memset(sink, 0, sizeof(*sink));
}

/* ---- Functions for tests ----------------------------------------------------------------------- */

int proc_reset(void **state)
{
	fake_reset(state);
	memset(proc_process, 0, sizeof(proc_process));
	memset(&proc_kernel, 0, sizeof(proc_kernel));
	memset(&ktrace_proc_state, 0, sizeof(ktrace_proc_state));
	memset(&held, 0, sizeof(held));
	memcpy(proc_fork(NULL)->name, "first", 6);
	return 0;
}

int proc_check(void **state)
{
	(void)state;
	return held.shortly || held.table || held.sinks || held.open || ktrace_proc_state.sinks ||
	       ktrace_proc_state.idle;
}

void proc_start(void)
{
	static struct ktrace_proc_kernel kernel;

	kernel = (struct ktrace_proc_kernel){
		.size = sizeof(kernel),
		.lock = lock,
		.unlock = unlock,
		.table_lock = table_lock,
		.table_unlock = table_unlock,
		.next = next,
		.parent = parent,
		.identity = identity,
		.name = name,
		.copy_in = copy_in,
		.wall_ns = proc_kernel.wall_ns,
		.table = proc_kernel.table,
	};
	assert_int_equal(ktrace_proc_init(&kernel), KTRACE_OK);
}

int proc_control(struct proc_process *caller, uint32_t operation, uint32_t facilities, int64_t pid,
		 struct proc_sink *sink)
{
	return ktrace_proc_control(&caller->trace, &caller->thread, operation, facilities, pid,
				   sink ? &sink->sink : NULL);
}

void proc_release(struct proc_sink *sink)
{
	ktrace_proc_sink_release(&sink->sink, NULL);
}

void proc_trace(struct proc_process *process, struct proc_sink *sink, uint32_t facilities)
{
	assert_int_equal(proc_control(process, KTRACE_PROC_SET, facilities, process->id.pid, sink),
			 KTRACE_OK);
	proc_release(sink);
}

/* ---- Reading the files ------------------------------------------------------------------------- */

void proc_walk(struct proc_walk *walk, const struct proc_sink *sink)
{
	proc_walk_bytes(walk, sink->file.bytes, sink->file.size, sink->sink.format);
}

uint32_t proc_count(const struct proc_sink *sink, uint32_t type)
{
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t count = 0;

	proc_walk(&walk, sink);
	while (proc_next(&walk, &seen))
		count += type == 0 || seen.type == type;
	assert_false(walk.torn);
	return count;
}
