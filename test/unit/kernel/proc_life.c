/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the trace of a process during its life: children, exec, names, changes of the sink, and exit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

#define CALLS KTRACE_PROC_FACILITY(KTRX_PROC_SYSCALL)
#define LIVES (KTRACE_PROC_FACILITY(KTRX_PROC_PROCCTOR) | KTRACE_PROC_FACILITY(KTRX_PROC_PROCDTOR))

static struct proc_sink sink, other;

static int setup(void **state)
{
	proc_reset(state);
	proc_start();
	return 0;
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < PROC_PROCESSES; i++)
		if (proc_process[i].trace.sink)
			proc_exit(&proc_process[i]);
	proc_free(&sink);
	proc_free(&other);
	return proc_check(state);
}

static void call(struct proc_process *process, uint32_t number)
{
	ktrace_proc_syscall(&process->trace, &process->thread, number, 0, NULL);
	ktrace_proc_sysret(&process->trace, &process->thread, number, 0, 0);
}

static void rename_to(struct proc_process *process, const char *name)
{
	snprintf(process->name, sizeof(process->name), "%s", name);
}

static void exec(struct proc_process *process, const char *name, int gains)
{
	rename_to(process, name);
	ktrace_proc_exec(&process->trace, &process->thread, gains);
}

/* ---- Children ---------------------------------------------------------------------------------- */

static void children_inherit_only_with_inherit(void **state)
{
	struct proc_process *parent = proc_fork(proc_first()), *before = proc_fork(parent), *child;

	(void)state;
	proc_open_default(&sink);
	proc_trace(parent, &sink, CALLS);
	child = proc_fork(parent);
	assert_int_equal(child->trace.facilities, 0);
	assert_null(child->trace.sink);
	assert_int_equal(proc_control(parent, KTRACE_PROC_SET, KTRACE_PROC_INHERIT, parent->id.pid, &sink),
			 KTRACE_OK);
	assert_null(before->trace.sink);
	child = proc_fork(parent);
	assert_ptr_equal(child->trace.sink, &sink.sink);
	assert_int_equal(child->trace.facilities, parent->trace.facilities);
	assert_int_equal(child->trace.facilities, CALLS | KTRACE_PROC_INHERIT | KTRACE_PROC_ROOT);
	assert_int_equal(sink.sink.references, 2);
	/*
	 * Grandchildren inherit the trace, too. Later changes to the trace of one process do not affect that
	 * of another process.
	 */
	child = proc_fork(child);
	assert_int_equal(sink.sink.references, 3);
	assert_int_equal(proc_control(parent, KTRACE_PROC_CLEAR, KTRACE_PROC_ALL, parent->id.pid, NULL),
			 KTRACE_OK);
	assert_int_equal(child->trace.facilities, CALLS | KTRACE_PROC_INHERIT | KTRACE_PROC_ROOT);
	call(child, 1);
	proc_exit(child);
	assert_int_equal(sink.closed, 0);
	assert_int_equal(sink.sink.references, 1);
}

static void a_child_is_recorded_before_it_runs(void **state)
{
	struct proc_process *parent = proc_fork(proc_first()), *child;
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	rename_to(parent, "sh");
	proc_open_default(&sink);
	proc_trace(parent, &sink, CALLS | LIVES | KTRACE_PROC_INHERIT);
	child = proc_fork(parent);
	proc_exit(child);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_PROCCTOR, &seen);
	proc_find(&walk, KTRX_PROC_NAME, &seen);
	assert_int_equal(seen.pid, child->id.pid);
	assert_int_equal(seen.tid, child->id.pid);
	proc_find(&walk, KTRX_PROC_PROCCTOR, &seen);
	assert_int_equal(seen.pid, child->id.pid);
	assert_int_equal(seen.tid, child->id.pid);
	assert_int_equal(proc_bits(seen.payload, 8), parent->id.pid | (uint64_t)KTRX_PROC_CTOR_FORK << 32);
	assert_int_equal(seen.size, 8 + 2);
	assert_memory_equal(seen.payload + 8, "sh", 2);
	proc_find(&walk, KTRX_PROC_PROCDTOR, &seen);
	assert_int_equal(seen.pid, child->id.pid);
}

static void the_end_of_a_process_is_recorded(void **state)
{
	static const struct {
		uint32_t status;
		int signaled;
	} ends[] = { { 0, 0 }, { 255, 0 }, { 11, 1 }, { 9, 5 } };
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	proc_open_default(&sink);
	proc_trace(proc_first(), &sink, LIVES | KTRACE_PROC_INHERIT);
	for (uint32_t i = 0; i < 4; i++) {
		struct proc_process *child = proc_fork(proc_first());

		ktrace_proc_exit(&child->trace, &child->thread, ends[i].status, ends[i].signaled);
		assert_int_equal(child->trace.facilities, 0);
		assert_null(child->trace.sink);
		/*
		 * The process has exited. Its later events are not recorded, and the process cannot be traced
		 * again.
		 */
		call(child, 1);
		ktrace_proc_csw(&child->trace, &child->thread, 1, 1, NULL);
		ktrace_proc_exit(&child->trace, &child->thread, 1, 1);
	}
	proc_walk(&walk, &sink);
	for (uint32_t i = 0; i < 4; i++) {
		proc_find(&walk, KTRX_PROC_PROCDTOR, &seen);
		assert_int_equal(proc_bits(seen.payload, 8),
				 ends[i].status | (uint64_t) !!ends[i].signaled << 32);
	}
	assert_int_equal(proc_count(&sink, KTRX_PROC_PROCDTOR), 4);
}

/* ---- Processes that execute other programs ----------------------------------------------------- */

static void exec_is_recorded(void **state)
{
	struct proc_process *self = proc_fork(proc_first());
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	proc_open_default(&sink);
	proc_trace(self, &sink, CALLS | LIVES);
	fake.thread = self->id.pid;
	exec(self, "ls", 0);
	call(self, 1);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_PROCCTOR, &seen); /* the start of the trace made this record */
	proc_find(&walk, KTRX_PROC_PROCCTOR, &seen);
	assert_int_equal(seen.flags, 0);
	assert_int_equal(seen.pid, self->id.pid);
	assert_int_equal(seen.tid, self->id.pid);
	assert_int_equal(proc_bits(seen.payload, 8), 1 | (uint64_t)KTRX_PROC_CTOR_EXEC << 32);
	assert_int_equal(seen.size, 8 + 2);
	assert_memory_equal(seen.payload + 8, "ls", 2);
}

/*
 * The process executes a program that has more rights than the user. If the user has started the trace, it
 * ends. If the superuser has started it, it continues.
 */
static void privileges_end_a_trace(void **state)
{
	struct proc_process *root = proc_first(), *user = proc_fork(root), *marked = proc_fork(root);

	(void)state;
	proc_ids(user, 5, 5);
	proc_ids(marked, 5, 5);
	proc_open_default(&sink);
	assert_int_equal(
		proc_control(user, KTRACE_PROC_SET, CALLS | LIVES | KTRACE_PROC_INHERIT, user->id.pid, &sink),
		KTRACE_OK);
	assert_int_equal(proc_control(root, KTRACE_PROC_SET, CALLS | LIVES | KTRACE_PROC_INHERIT,
				      marked->id.pid, &sink),
			 KTRACE_OK);
	exec(user, "plain", 0);
	exec(marked, "plain", 0);
	assert_int_equal(sink.sink.references, 3);
	exec(user, "passwd", 1);
	exec(marked, "passwd", 1);
	assert_int_equal(user->trace.facilities, 0);
	assert_null(user->trace.sink);
	assert_int_equal(sink.sink.references, 2);
	assert_int_equal(marked->trace.facilities, CALLS | LIVES | KTRACE_PROC_INHERIT | KTRACE_PROC_ROOT);
	call(user, 1);
	assert_null(proc_fork(user)->trace.sink);
	/* A child has root's mark as well. */
	assert_int_equal(proc_fork(marked)->trace.facilities, marked->trace.facilities);
	proc_release(&sink);
	proc_exit(marked);
	/* Records of the privileged program must only be in a trace that root has started. */
	assert_int_equal(proc_count(&sink, KTRX_PROC_SYSCALL), 0);
	assert_int_equal(proc_count(&sink, KTRX_PROC_PROCCTOR), 2 + 2 + 1 + 1);
}

static void exec_of_the_last_privileged_program_closes_the_sink(void **state)
{
	struct proc_process *user = proc_fork(proc_first());

	(void)state;
	proc_ids(user, 5, 5);
	proc_open_default(&sink);
	proc_trace(user, &sink, CALLS);
	call(user, 1);
	exec(user, "passwd", 1);
	assert_int_equal(sink.closed, 1);
	assert_int_equal(proc_count(&sink, KTRX_PROC_END), 1);
	exec(user, "again", 1); /* no effect, because the process is not traced */
}

static void names_follow_each_change(void **state)
{
	static const char *const names[] = { "first", "one", "two", "", "a-name-as-long-as-names-may-be!" };
	struct proc_process *self = proc_first();
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	proc_open_default(&sink);
	proc_trace(self, &sink, CALLS);
	for (uint32_t i = 0; i < 5; i++) {
		rename_to(self, names[i]);
		ktrace_proc_renamed(&self->trace);
		call(self, i);
		call(self, i);
	}
	proc_walk(&walk, &sink);
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.type, KTRX_PROC_NAME);
		assert_int_equal(seen.size, strlen(names[i]));
		assert_memory_equal(seen.payload, names[i], seen.size);
		for (uint32_t j = 0; j < 2; j++) {
			assert_true(proc_next(&walk, &seen));
			assert_int_equal(seen.type, KTRX_PROC_SYSCALL);
			assert_int_equal(proc_bits(seen.payload, 4), i);
		}
	}
	assert_false(proc_next(&walk, &seen));
}

/* ---- Replacing the sink ------------------------------------------------------------------------ */

static void a_sink_replaces_another(void **state)
{
	struct proc_process *self = proc_first();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct proc_sink *now = i % 2 ? &other : &sink, *before = i % 2 ? &sink : &other;

		proc_open_default(now);
		assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, 1, now), KTRACE_OK);
		assert_int_equal(now->sink.references, 2);
		proc_release(now);
		assert_int_equal(before->closed, (i + 1) / 2);
		call(self, i);
	}
	proc_exit(self);
	assert_int_equal(sink.closed, 50);
	assert_int_equal(other.closed, 50);
	assert_int_equal(proc_count(&sink, KTRX_PROC_SYSCALL), 50);
	assert_int_equal(proc_count(&other, KTRX_PROC_SYSCALL), 50);
	assert_int_equal(proc_count(&sink, KTRX_PROC_NAME), 50);
	assert_int_equal(proc_count(&sink, KTRX_PROC_END), 50);
}

/*
 * Replaces the sink. The simulated kernel calls this while it writes to the old sink, or while it copies data
 * for it.
 */
static void replace_sink(void)
{
	struct proc_process *self = proc_first();

	/* The thread of the process is inside a hook, so another process calls ktrace(2). */
	assert_int_equal(
		ktrace_proc_control(&self->trace, NULL, KTRACE_PROC_SET, KTRACE_PROC_ALL, 1, &other.sink),
		KTRACE_OK);
}

static void replace_sink_in_write(struct proc_file *file)
{
	file->in_write = NULL;
	replace_sink();
}

static void the_sink_may_be_replaced_while_it_writes(void **state)
{
	struct proc_process *self = proc_first();

	(void)state;
	proc_open_default(&sink);
	proc_open_default(&other);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	sink.file.in_write = replace_sink_in_write;
	call(self, 1);
	assert_int_equal(sink.closed, 1);
	assert_ptr_equal(self->trace.sink, &other.sink);
	call(self, 2);
	proc_release(&other);
	proc_exit(self);
	assert_int_equal(other.closed, 1);
	assert_int_equal(proc_count(&sink, KTRX_PROC_SYSRET), 1);
	assert_int_equal(proc_count(&other, KTRX_PROC_SYSRET), 1);
	assert_int_equal(sink.sink.lost + other.sink.lost, 0);
}

static void the_sink_may_be_replaced_while_it_copies(void **state)
{
	struct proc_process *self = proc_first();

	(void)state;
	proc_open_default(&sink);
	proc_open_default(&other);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	proc_kernel.in_copy = replace_sink;
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 10), KTRACE_OK);
	proc_kernel.in_copy = NULL;
	assert_int_equal(sink.closed, 1);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 10), KTRACE_OK);
	proc_release(&other);
	proc_exit(self);
	/* A process that is traced during the change is recorded in the new file afterwards. */
	assert_int_equal(proc_count(&sink, KTRX_PROC_USER), 0);
	assert_int_equal(proc_count(&other, KTRX_PROC_USER), 2);
	assert_int_equal(other.sink.lost, 0);
	assert_int_equal(other.closed, 1);
}

/* The new sink has a smaller data_max. */
static void the_new_sink_may_take_less_data(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	proc_open_default(&sink);
	config.data_max = 10;
	assert_int_equal(proc_open(&other, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	proc_kernel.in_copy = replace_sink;
	ktrace_proc_genio(&self->trace, &self->thread, 1, 0, PROC_USER_BASE, 100);
	proc_kernel.in_copy = NULL;
	proc_release(&other);
	proc_exit(self);
	proc_walk(&walk, &other);
	proc_find(&walk, KTRX_PROC_GENIO, &seen);
	assert_int_equal(seen.size, 16 + 10);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
}

/* Fills the buffer of the new sink until a record is lost, then replaces the old sink by the new one. */
static void fill_and_replace_sink(void)
{
	struct proc_process *filler = proc_fork(proc_first());

	proc_kernel.in_copy = NULL;
	assert_int_equal(proc_control(filler, KTRACE_PROC_SET, KTRACE_PROC_ALL, filler->id.pid, &other),
			 KTRACE_OK);
	while (other.sink.lost == 0)
		ktrace_proc_denied(&filler->trace, &filler->thread, 1, 0, 0, NULL);
	replace_sink();
}

static void the_new_sink_may_be_full(void **state)
{
	struct proc_process *self = proc_first();
	uint64_t lost;

	(void)state;
	proc_open_default(&sink);
	proc_open_default(&other);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	proc_kernel.in_copy = fill_and_replace_sink;
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 2000),
			 KTRACE_ERROR_LOST);
	lost = other.sink.lost;
	/*
	 * three records are lost: the last one that fills the sink, NAME of the new trace, and the record of
	 * this hook
	 */
	assert_int_equal(lost, 3);
	proc_release(&other);
	proc_exit(self);
	assert_int_equal(sink.sink.lost, 0);
}

/* ---- When the buffer is written ---------------------------------------------------------------- */

static void waiting_records_are_written_in_time(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();
	size_t before;

	(void)state;
	config.drain_at = 1000;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	assert_int_equal(sink.file.size, 64); /* the head is written immediately */
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	/*
	 * The hook at the return of a system call writes the buffer to the file if it contains enough bytes.
	 */
	for (uint32_t i = 0; i < 5; i++)
		call(self, 1);
	assert_int_equal(sink.file.size, 64);
	for (uint32_t i = 0; i < 6; i++)
		call(self, 1);
	assert_in_range(sink.file.size, 64 + 1000, 64 + 1000 + 88);
	assert_int_equal(sink.file.writes, 2);
	/* Hooks that must not sleep never write to the file. */
	before = sink.file.size;
	for (uint32_t i = 0; i < 100; i++)
		ktrace_proc_csw(&self->trace, &self->thread, 1, 0, NULL);
	assert_int_equal(sink.file.size, before);
	/* The hook at the return of a system call writes to the file, even if returns are not traced. */
	assert_int_equal(
		proc_control(self, KTRACE_PROC_CLEAR, KTRACE_PROC_FACILITY(KTRX_PROC_SYSRET), 1, NULL),
		KTRACE_OK);
	assert_true(sink.file.size > before); /* clearing also writes */
	for (uint32_t i = 0; i < 50; i++)
		ktrace_proc_csw(&self->trace, &self->thread, 1, 0, NULL);
	before = sink.file.size;
	ktrace_proc_sysret(&self->trace, &self->thread, 1, 0, 0);
	assert_int_equal(sink.file.size, before + 50 * 48);
	/*
	 * ktrace_proc_flush(), and the hook at the end of a process, write all records in the buffer to the
	 * file.
	 */
	ktrace_proc_csw(&self->trace, &self->thread, 1, 0, NULL);
	ktrace_proc_flush(&self->thread);
	assert_int_equal(sink.file.size, before + 51 * 48);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 0, NULL);
	proc_exit(self);
	assert_int_equal(proc_count(&sink, KTRX_PROC_CSW), 152);
}

/* ---- Many processes ---------------------------------------------------------------------------- */

/*
 * First, many processes run at the same time; then they run one after another. Each one forks, executes
 * another program, makes calls and ends.
 */
static void a_thousand_processes_lose_nothing(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	static struct proc_process *process[1000];

	(void)state;
	config.drain_at = 16384;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(proc_first(), &sink, KTRACE_PROC_ALL | KTRACE_PROC_INHERIT);
	for (uint32_t i = 0; i < 1000; i++) {
		process[i] = proc_fork(proc_first());
		ktrace_proc_sysret(&proc_first()->trace, &proc_first()->thread, 1, 0, process[i]->id.pid);
		exec(process[i], "worker", 0);
		call(process[i], i);
	}
	assert_int_equal(sink.sink.references, 1001);
	for (uint32_t i = 0; i < 1000; i++)
		proc_exit(process[i]);
	for (uint32_t i = 0; i < 1000; i++) {
		struct proc_process *child = proc_fork(proc_first());

		exec(child, "worker", 0);
		call(child, i);
		proc_exit(child);
	}
	proc_exit(proc_first());
	assert_int_equal(sink.closed, 1);
	assert_int_equal(sink.sink.lost, 0);
	assert_int_equal(proc_count(&sink, KTRX_PROC_PROCCTOR), 1 + 2 * 2000);
	assert_int_equal(proc_count(&sink, KTRX_PROC_PROCDTOR), 2001);
	assert_int_equal(proc_count(&sink, KTRX_PROC_SYSCALL), 2000);
	assert_int_equal(proc_count(&sink, KTRX_PROC_SYSRET), 3000);
	assert_int_equal(proc_count(&sink, 0), sink.sink.records + 1);
}

static void a_file_has_one_sink(void **state)
{
	const struct ktrace_proc_sink_config config = proc_config();

	(void)state;
	assert_null(ktrace_proc_sink_find(&sink));
	proc_open_default(&sink);
	assert_int_equal(
		ktrace_proc_sink_open(&other.sink,
				      &(struct ktrace_proc_sink_config){ .size = sizeof(config),
									 .buffer = other.buffer,
									 .buffer_size = PROC_BUFFER,
									 .operations = config.operations,
									 .file = &sink },
				      NULL),
		KTRACE_ERROR_BUSY);
	assert_ptr_equal(ktrace_proc_sink_find(&sink), &sink.sink);
	assert_null(ktrace_proc_sink_find(&other));
	assert_int_equal(sink.sink.references, 2);
	proc_release(&sink);
	assert_int_equal(sink.closed, 0);
	proc_release(&sink);
	assert_int_equal(sink.closed, 1);
	assert_null(ktrace_proc_sink_find(&sink));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(children_inherit_only_with_inherit),
		TEST(a_child_is_recorded_before_it_runs),
		TEST(the_end_of_a_process_is_recorded),
		TEST(exec_is_recorded),
		TEST(privileges_end_a_trace),
		TEST(exec_of_the_last_privileged_program_closes_the_sink),
		TEST(names_follow_each_change),
		TEST(a_file_has_one_sink),
		TEST(a_sink_replaces_another),
		TEST(the_sink_may_be_replaced_while_it_writes),
		TEST(the_sink_may_be_replaced_while_it_copies),
		TEST(the_new_sink_may_take_less_data),
		TEST(the_new_sink_may_be_full),
		TEST(waiting_records_are_written_in_time),
		TEST(a_thousand_processes_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
