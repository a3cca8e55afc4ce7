/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which caller may trace which process, and which processes ktrace_proc_control() changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/proc/proc.h"
#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

#define CALLS KTRACE_PROC_FACILITY(KTRX_PROC_SYSCALL)
#define PATHS KTRACE_PROC_FACILITY(KTRX_PROC_NAMEI)

static struct proc_sink sink, other;

static int setup(void **state)
{
	proc_reset(state);
	proc_start();
	return 0;
}

/* Ends the traces of all processes. */
static int teardown(void **state)
{
	proc_ids(proc_first(), 0, 0);
	assert_int_equal(
		proc_control(proc_first(), KTRACE_PROC_CLEAR | KTRACE_PROC_DESCEND, KTRACE_PROC_ALL, 1, NULL),
		KTRACE_OK);
	proc_free(&sink);
	proc_free(&other);
	return proc_check(state);
}

/* ---- Permission -------------------------------------------------------------------------------- */

struct ids {
	uint32_t real, effective, saved;
};

/*
 * All properties on which a permission depends: ids of caller and target, jails, set-id programs, root's
 * mark.
 */
static const struct permission {
	const char *what;
	struct ids caller_uid, caller_gid;
	struct ids uid, gid;
	uint32_t caller_jail, jail;
	uint32_t set_id;
	bool root_mark;
	bool permitted;
} permissions[] = {
	{ "itself", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, false, true },
	{ "another user's", { 5, 5, 5 }, { 6, 6, 6 }, { 7, 7, 7 }, { 6, 6, 6 }, 0, 0, 0, false, false },
	{ "another group's", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 8, 8, 8 }, 0, 0, 0, false, false },
	{ "another real user", { 5, 5, 5 }, { 6, 6, 6 }, { 7, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, false, false },
	{ "another saved user", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 7 }, { 6, 6, 6 }, 0, 0, 0, false, false },
	{ "saved root", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 0 }, { 6, 6, 6 }, 0, 0, 0, false, false },
	{ "another effective user",
	  { 5, 5, 5 },
	  { 6, 6, 6 },
	  { 5, 7, 5 },
	  { 6, 6, 6 },
	  0,
	  0,
	  0,
	  false,
	  true },
	{ "another real group", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 8, 6, 6 }, 0, 0, 0, false, false },
	{ "another saved group", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 8 }, 0, 0, 0, false, false },
	{ "another effective group",
	  { 5, 5, 5 },
	  { 6, 6, 6 },
	  { 5, 5, 5 },
	  { 6, 8, 6 },
	  0,
	  0,
	  0,
	  false,
	  true },
	{ "changed ids", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 1, false, false },
	{ "marked by root", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, true, false },
	{ "by its effective id", { 9, 5, 9 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, false, true },
	{ "by its real id only", { 5, 9, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, false, false },
	{ "by its real group", { 5, 5, 5 }, { 6, 9, 9 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 0, 0, false, true },
	{ "by its effective group only",
	  { 5, 5, 5 },
	  { 9, 6, 6 },
	  { 5, 5, 5 },
	  { 6, 6, 6 },
	  0,
	  0,
	  0,
	  false,
	  false },
	{ "root: another user's", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 0, 0, 0, false, true },
	{ "root: mixed ids", { 0, 0, 0 }, { 0, 0, 0 }, { 1, 2, 3 }, { 4, 5, 6 }, 0, 0, 0, false, true },
	{ "root: changed ids", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 0, 7 }, { 8, 8, 8 }, 0, 0, 1, false, true },
	{ "root: marked by root", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 0, 0, 0, true, true },
	{ "effective root", { 5, 0, 5 }, { 6, 6, 6 }, { 7, 7, 7 }, { 8, 8, 8 }, 0, 0, 0, false, true },
	{ "real and saved root only",
	  { 0, 5, 0 },
	  { 0, 0, 0 },
	  { 7, 7, 7 },
	  { 8, 8, 8 },
	  0,
	  0,
	  0,
	  false,
	  false },
	{ "root's own, by a user",
	  { 5, 5, 5 },
	  { 6, 6, 6 },
	  { 0, 0, 0 },
	  { 0, 0, 0 },
	  0,
	  0,
	  0,
	  false,
	  false },
	{ "in the same jail", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 3, 3, 0, false, true },
	{ "in another jail", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 3, 4, 0, false, false },
	{ "out of a jail", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 3, 0, 0, false, false },
	{ "into a jail", { 5, 5, 5 }, { 6, 6, 6 }, { 5, 5, 5 }, { 6, 6, 6 }, 0, 3, 0, false, true },
	{ "another user's, same jail",
	  { 5, 5, 5 },
	  { 6, 6, 6 },
	  { 7, 7, 7 },
	  { 6, 6, 6 },
	  3,
	  3,
	  0,
	  false,
	  false },
	{ "root in the same jail", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 3, 3, 1, true, true },
	{ "root in another jail", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 3, 4, 0, false, false },
	{ "root out of a jail", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 3, 0, 0, false, false },
	{ "root into a jail", { 0, 0, 0 }, { 0, 0, 0 }, { 7, 7, 7 }, { 8, 8, 8 }, 0, 3, 0, false, true },
};

static void become(struct proc_process *process, struct ids uid, struct ids gid, uint32_t jail)
{
	process->id.ruid = uid.real;
	process->id.euid = uid.effective;
	process->id.svuid = uid.saved;
	process->id.rgid = gid.real;
	process->id.egid = gid.effective;
	process->id.svgid = gid.saved;
	process->id.jail = jail;
}

/*
 * Makes a target that is traced into the sink `other`. If `root_mark` is set, the trace has root's mark,
 * which means that root has started it.
 */
static struct proc_process *target_of(const struct permission *permission)
{
	struct proc_process *target = proc_fork(proc_first());

	proc_open_default(&other);
	proc_ids(proc_first(), permission->root_mark ? 0 : permission->uid.real,
		 permission->root_mark ? 0 : permission->gid.real);
	proc_ids(target, permission->uid.real, permission->gid.real);
	assert_int_equal(proc_control(proc_first(), KTRACE_PROC_SET, CALLS, target->id.pid, &other),
			 KTRACE_OK);
	/* If `root_mark` is not set but the first process is root, the trace has root's mark: removes it. */
	if (!permission->root_mark)
		target->trace.facilities &= ~KTRACE_PROC_ROOT;
	become(target, permission->uid, permission->gid, permission->jail);
	target->id.set_id = permission->set_id;
	return target;
}

static void check_permission(const struct permission *permission, uint32_t operation)
{
	struct proc_process *target = target_of(permission), *caller = proc_fork(proc_first());
	uint32_t before = target->trace.facilities;
	int expected = permission->permitted ? KTRACE_OK : KTRACE_ERROR_PERMISSION;

	become(caller, permission->caller_uid, permission->caller_gid, permission->caller_jail);
	proc_open_default(&sink);
	assert_int_equal(proc_control(caller, operation, PATHS | CALLS, target->id.pid,
				      operation == KTRACE_PROC_SET ? &sink : &other),
			 expected);
	if (!permission->permitted) {
		assert_int_equal(target->trace.facilities, before);
		assert_ptr_equal(target->trace.sink, &other.sink);
	} else if (operation == KTRACE_PROC_SET) {
		assert_ptr_equal(target->trace.sink, &sink.sink);
		assert_int_equal(target->trace.facilities & KTRACE_PROC_ALL, PATHS | CALLS);
		assert_int_equal(!!(target->trace.facilities & KTRACE_PROC_ROOT),
				 permission->root_mark || permission->caller_uid.effective == 0);
	} else {
		assert_int_equal(target->trace.facilities, 0);
		assert_null(target->trace.sink);
	}
	proc_exit(target);
	proc_exit(caller);
	proc_release(&sink);
	proc_release(&other);
	assert_int_equal(sink.closed, 1);
	assert_int_equal(other.closed, 1);
	proc_free(&sink);
	proc_free(&other);
}

static void permission_depends_on_all_ids(void **state)
{
	static const uint32_t operations[] = { KTRACE_PROC_SET, KTRACE_PROC_CLEAR, KTRACE_PROC_CLEARFILE };

	(void)state;
	for (uint32_t i = 0; i < sizeof(permissions) / sizeof(permissions[0]); i++)
		for (uint32_t j = 0; j < 3; j++) {
			print_message("%s, operation %u\n", permissions[i].what, operations[j]);
			check_permission(&permissions[i], operations[j]);
		}
}

/* ---- Requests ---------------------------------------------------------------------------------- */

static void invalid_requests_are_rejected(void **state)
{
	struct proc_process *self = proc_first();

	(void)state;
	proc_open_default(&sink);
	assert_int_equal(proc_control(self, 3, CALLS, 1, &sink), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, 8, CALLS, 1, &sink), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, UINT32_MAX, CALLS, 1, &sink), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, 1, NULL), KTRACE_ERROR_ARGUMENT);
	/*
	 * Invalid sets of facilities: an empty one, one that must not be requested, and one that does not
	 * exist.
	 */
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, 0, 1, &sink), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, KTRACE_PROC_ROOT, 1, &sink),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, 1 | 1u << 16 | 1u << 29, 1, &sink),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, 0, 1, NULL), KTRACE_ERROR_ARGUMENT);
	/* Tests requests for which there is no process. */
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, 0, &sink), KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, 2, &sink), KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, -2, &sink), KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, INT64_MAX, &sink),
			 KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, INT64_MIN, &sink),
			 KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, 1 + (INT64_C(1) << 32), &sink),
			 KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, CALLS, 2, NULL), KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEARFILE, 0, 0, NULL), KTRACE_OK);
	assert_int_equal(self->trace.facilities, 0);
	proc_release(&sink);
	assert_int_equal(sink.closed, 1);
}

static void control_before_init_is_an_error(void **state)
{
	static const struct ktrace_proc_kernel empty = { .size = sizeof(empty) };
	const struct ktrace_proc_kernel *kernel = ktrace_proc_state.kernel;
	struct ktrace_proc_sink_config config = proc_config();

	(void)state;
	assert_int_equal(ktrace_proc_init(kernel), KTRACE_ERROR_STATE);
	ktrace_proc_state.kernel = NULL;
	assert_int_equal(proc_open(&sink, &config), KTRACE_ERROR_STATE);
	assert_int_equal(proc_control(proc_first(), KTRACE_PROC_SET, CALLS, 1, &sink), KTRACE_ERROR_STATE);
	assert_null(ktrace_proc_sink_find(&sink));
	ktrace_proc_flush(NULL);
	ktrace_proc_syscall(&proc_first()->trace, &proc_first()->thread, 1, 0, NULL);
	ktrace_proc_exec(&proc_first()->trace, &proc_first()->thread, 1);
	ktrace_proc_renamed(&proc_first()->trace);
	ktrace_proc_exit(&proc_first()->trace, &proc_first()->thread, 0, 0);
	assert_int_equal(ktrace_proc_init(NULL), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_proc_init(&empty), KTRACE_ERROR_ARGUMENT);
	ktrace_proc_state.kernel = kernel;
}

static void invalid_sinks_are_rejected(void **state)
{
	static const struct ktrace_proc_sink_operations empty;
	const struct ktrace_proc_sink_config good = proc_config();
	struct ktrace_proc_sink_config bad[8];

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].size--;
	bad[1].format = 2;
	bad[2].on_error = 2;
	bad[3].data_max = KTRACE_PROC_DATA_MAX + 1;
	bad[4].operations = NULL;
	bad[5].operations = &empty;
	bad[6].limit = 1; /* the size limit of the file is too small for a head */
	bad[7].buffer_size = KTRACE_PROC_BUFFER_MIN - 1;
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(proc_open(&sink, &bad[i]),
				 i == 7 ? KTRACE_ERROR_MEMORY : KTRACE_ERROR_ARGUMENT);
		assert_int_equal(sink.file.size, 0);
	}
	assert_int_equal(ktrace_proc_sink_open(&sink.sink, NULL, NULL), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_proc_sink_open(NULL, &good, NULL), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_proc_sink_open(&sink.sink, &good, NULL),
			 KTRACE_ERROR_ARGUMENT); /* the sink has no buffer */
	bad[0] = good;
	bad[0].buffer = (uint8_t *)sink.buffer + 4;
	assert_int_equal(ktrace_proc_sink_open(&sink.sink, &bad[0], NULL), KTRACE_ERROR_ARGUMENT);
}

static void facilities_are_added_and_removed(void **state)
{
	struct proc_process *self = proc_first();

	(void)state;
	proc_ids(self, 5, 5);
	proc_open_default(&sink);
	assert_int_equal(
		proc_control(self, KTRACE_PROC_SET, CALLS | KTRACE_PROC_INHERIT | 1u << 20, 1, &sink),
		KTRACE_OK);
	assert_int_equal(self->trace.facilities, CALLS | KTRACE_PROC_INHERIT);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, PATHS | KTRACE_PROC_ROOT, 1, &sink), KTRACE_OK);
	assert_int_equal(self->trace.facilities, CALLS | PATHS | KTRACE_PROC_INHERIT);
	assert_int_equal(sink.sink.references, 2);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, CALLS, 1, NULL), KTRACE_OK);
	assert_int_equal(self->trace.facilities, PATHS | KTRACE_PROC_INHERIT);
	assert_int_equal(sink.sink.references, 2);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, PATHS, 1, NULL), KTRACE_OK);
	assert_int_equal(self->trace.facilities, 0);
	assert_int_equal(sink.sink.references, 1);
	/* To clear the trace again has no effect. */
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, PATHS, 1, NULL), KTRACE_OK);
	proc_release(&sink);
	assert_int_equal(sink.closed, 1);
}

/* Root's mark stays while any facility is traced. It is removed with the last facility. */
static void the_superusers_mark_stays(void **state)
{
	struct proc_process *self = proc_fork(proc_first());

	(void)state;
	proc_ids(self, 5, 5);
	proc_open_default(&sink);
	assert_int_equal(proc_control(proc_first(), KTRACE_PROC_SET, CALLS | PATHS, self->id.pid, &sink),
			 KTRACE_OK);
	assert_int_equal(self->trace.facilities, CALLS | PATHS | KTRACE_PROC_ROOT);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, KTRACE_PROC_ALL, self->id.pid, &sink),
			 KTRACE_ERROR_PERMISSION);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, CALLS, self->id.pid, NULL),
			 KTRACE_ERROR_PERMISSION);
	assert_int_equal(
		proc_control(proc_first(), KTRACE_PROC_CLEAR, CALLS | KTRACE_PROC_ROOT, self->id.pid, NULL),
		KTRACE_OK);
	assert_int_equal(self->trace.facilities, PATHS | KTRACE_PROC_ROOT);
	assert_int_equal(proc_control(self, KTRACE_PROC_CLEAR, PATHS, self->id.pid, NULL),
			 KTRACE_ERROR_PERMISSION);
	assert_int_equal(proc_control(proc_first(), KTRACE_PROC_CLEAR, PATHS, self->id.pid, NULL), KTRACE_OK);
	assert_int_equal(self->trace.facilities, 0);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, CALLS, self->id.pid, &sink), KTRACE_OK);
	assert_int_equal(self->trace.facilities, CALLS);
	proc_release(&sink);
	proc_exit(self);
	assert_int_equal(sink.closed, 1);
}

/* ---- Selection of processes -------------------------------------------------------------------- */

/*
 * The processes of these tests. `e` is an orphan: a grandchild of `a` has created `e` and then ended.
 *
 *	first ─┬─ a ─┬─ b ── d
 *	       │     └─ c
 *	       └─ e
 */
static struct proc_process *a, *b, *c, *d, *e;

static void make_family(void)
{
	a = proc_fork(proc_first());
	b = proc_fork(a);
	c = proc_fork(a);
	d = proc_fork(b);
	e = proc_fork(proc_first());
	for (struct proc_process *process = proc_process; process->alive; process++)
		proc_ids(process, 5, 5);
	b->id.group = 77;
	c->id.group = 77;
	proc_open_default(&sink);
}

static void expect_traced(const char *names)
{
	struct proc_process *const all[] = { proc_first(), a, b, c, d, e };

	for (uint32_t i = 0; i < 6; i++)
		if (!!all[i]->trace.sink != !!strchr(names, "1abcde"[i]))
			fail_msg("%c is%s traced", "1abcde"[i], all[i] -> trace.sink ? "" : " not");
}

static void control_applies_to_a_process_or_its_descendants(void **state)
{
	(void)state;
	make_family();
	assert_int_equal(proc_control(e, KTRACE_PROC_SET, CALLS, b->id.pid, &sink), KTRACE_OK);
	expect_traced("b");
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, a->id.pid, &sink),
			 KTRACE_OK);
	expect_traced("abcd");
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEAR | KTRACE_PROC_DESCEND, CALLS, b->id.pid, NULL),
			 KTRACE_OK);
	expect_traced("ac");
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, 1, &sink), KTRACE_OK);
	expect_traced("1abcde");
	proc_release(&sink);
}

static void control_applies_to_process_groups(void **state)
{
	(void)state;
	make_family();
	assert_int_equal(proc_control(e, KTRACE_PROC_SET, CALLS, -77, &sink), KTRACE_OK);
	expect_traced("bc");
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, -77, &sink),
			 KTRACE_OK);
	expect_traced("bcd");
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEAR, CALLS, -77, NULL), KTRACE_OK);
	expect_traced("d");
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEAR, CALLS, -78, NULL), KTRACE_ERROR_NO_PROCESS);
	proc_release(&sink);
}

/*
 * If there are several processes, the permitted ones are traced. If none is permitted, the request is
 * rejected.
 */
static void only_permitted_processes_of_several_are_traced(void **state)
{
	(void)state;
	make_family();
	proc_ids(a, 7, 7);
	proc_ids(c, 7, 7);
	proc_ids(d, 7, 7);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, a->id.pid, &sink),
			 KTRACE_OK);
	expect_traced("b");
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, d->id.pid, &sink),
			 KTRACE_ERROR_PERMISSION);
	assert_int_equal(proc_control(d, KTRACE_PROC_SET, CALLS, -77, &sink), KTRACE_OK);
	expect_traced("bc");
	proc_release(&sink);
}

static void clearfile_ends_all_traces_into_the_file(void **state)
{
	(void)state;
	make_family();
	proc_open_default(&other);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, 1, &sink), KTRACE_OK);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET, CALLS, d->id.pid, &other), KTRACE_OK);
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEARFILE, 0, 0, &sink), KTRACE_OK);
	expect_traced("d");
	assert_int_equal(sink.closed, 0);
	proc_release(&sink);
	assert_int_equal(sink.closed, 1);
	proc_release(&other);
	assert_int_equal(other.closed, 0);
}

/* Traces of other users' processes are not cleared, all other traces are, and the caller gets an error. */
static void clearfile_leaves_processes_of_others_and_reports_them(void **state)
{
	(void)state;
	make_family();
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, 1, &sink), KTRACE_OK);
	proc_ids(c, 7, 7);
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEARFILE, 0, 0, &sink), KTRACE_ERROR_PERMISSION);
	expect_traced("c");
	assert_int_equal(proc_control(c, KTRACE_PROC_CLEARFILE, 0, 0, &sink), KTRACE_OK);
	expect_traced("");
	proc_release(&sink);
	assert_int_equal(sink.closed, 1);
}

/* Does what ktrace -C does: clears all traces of the caller's processes, to any file. */
static void the_caller_may_clear_all_its_processes(void **state)
{
	(void)state;
	make_family();
	proc_open_default(&other);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, 1, &sink), KTRACE_OK);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET, CALLS, d->id.pid, &other), KTRACE_OK);
	proc_release(&sink);
	proc_release(&other);
	proc_ids(c, 7, 7);
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEAR | KTRACE_PROC_DESCEND, KTRACE_PROC_ALL, 1, NULL),
			 KTRACE_OK);
	expect_traced("c");
	assert_int_equal(other.closed, 1);
	proc_ids(e, 0, 0);
	assert_int_equal(proc_control(e, KTRACE_PROC_CLEAR | KTRACE_PROC_DESCEND, KTRACE_PROC_ALL, 1, NULL),
			 KTRACE_OK);
	expect_traced("");
	assert_int_equal(sink.closed, 1);
}

/* The process is still in the table of processes, but has called ktrace_proc_exit(). */
static void a_process_that_has_ended_is_not_traced(void **state)
{
	struct proc_process *process;

	(void)state;
	make_family();
	process = b;
	ktrace_proc_exit(&process->trace, &process->thread, 0, 0);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET, CALLS, b->id.pid, &sink), KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(proc_control(e, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, CALLS, a->id.pid, &sink),
			 KTRACE_OK);
	expect_traced("acd");
	proc_release(&sink);
}

/* ---- Two sessions in one file ------------------------------------------------------------------ */

/* A sink is opened again on the same file. The file then contains two sessions, one after the other. */
static void sessions_are_appended(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		proc_open_default(&sink);
		assert_int_equal(proc_control(proc_first(), KTRACE_PROC_SET, CALLS, 1, &sink), KTRACE_OK);
		ktrace_proc_syscall(&proc_first()->trace, &proc_first()->thread, i, 0, NULL);
		proc_release(&sink);
		assert_int_equal(proc_control(proc_first(), KTRACE_PROC_CLEARFILE, 0, 0, &sink), KTRACE_OK);
		assert_int_equal(sink.closed, i);
	}
	proc_walk(&walk, &sink);
	for (uint32_t i = 1; i <= 3; i++) {
		proc_find(&walk, KTRX_PROC_SYSCALL, &seen);
		assert_int_equal(walk.heads, i);
		assert_int_equal(proc_bits(seen.payload, 4), i);
		proc_find(&walk, KTRX_PROC_END, &seen);
		assert_int_equal(proc_bits(seen.payload, 4), KTRX_PROC_ENDED_CLOSED);
	}
	assert_false(proc_next(&walk, &seen));
	assert_false(walk.torn);
	assert_int_equal(proc_count(&sink, 0), 3 * 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(permission_depends_on_all_ids),
		TEST(invalid_requests_are_rejected),
		TEST(control_before_init_is_an_error),
		TEST(invalid_sinks_are_rejected),
		TEST(facilities_are_added_and_removed),
		TEST(the_superusers_mark_stays),
		TEST(control_applies_to_a_process_or_its_descendants),
		TEST(control_applies_to_process_groups),
		TEST(only_permitted_processes_of_several_are_traced),
		TEST(clearfile_ends_all_traces_into_the_file),
		TEST(clearfile_leaves_processes_of_others_and_reports_them),
		TEST(the_caller_may_clear_all_its_processes),
		TEST(a_process_that_has_ended_is_not_traced),
		TEST(sessions_are_appended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
