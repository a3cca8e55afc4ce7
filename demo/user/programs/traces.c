/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * traces: checks which users may trace which processes into which files, which descendants are traced, and
 * what the file then contains. If it is started with an argument, the program is one of the traced processes.
 */
#include <program.h>
#include <records.h>
#include <stdio.h>
#include <string.h>
#include <sys/ktrace.h>
#include <unistd.h>

#define ITSELF	 "/bin/traces"
#define SET_ID	 "/tmp/traces.set-id"
#define HIDDEN	 SET_ID /* the same path, for checks after the file has lost its set-id bits */
#define FILE_OF	 "/tmp/traces.out"
#define OTHER	 "/tmp/traces.other"
#define SOMEBODY 1000
#define ANOTHER	 1001
#define NOBODY	 30000 /* a pid that no process has */
#define CALLS	 (KTRFAC_SYSCALL | KTRFAC_SYSRET)
#define TOKEN	 "so they say"

static void make_file(const char *path, int owner)
{
	unlink(path);
	check_equal(0, close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)), path);
	check_equal(0, chown(path, (uint32_t)owner, (uint32_t)owner), path);
}

/* ---- Requests that are refused ----------------------------------------------------------------- */

static void refusals(void)
{
	static char much[KTR_USER_MAXLEN + 1];

	make_file(FILE_OF, 0);
	check_equal(-ENOENT, ktrace("/tmp/no-such-file", KTROP_SET, CALLS, getpid()),
		    "a file that does not exist");
	check_equal(-EACCES, ktrace("/tmp", KTROP_SET, CALLS, getpid()), "a directory");
	check_equal(-EACCES, ktrace("/dev/null", KTROP_SET, CALLS, getpid()), "a device");
	check_equal(-EACCES, ktrace("/dev/null", KTROP_CLEARFILE, 0, 0), "a device");
	check_equal(-EFAULT, ktrace((const char *)8, KTROP_SET, CALLS, getpid()), "a path at a bad address");
	check_equal(-EINVAL, ktrace(FILE_OF, KTROP_SET, 0, getpid()), "no facilities");
	check_equal(-EINVAL, ktrace(FILE_OF, 3, CALLS, getpid()), "an unknown operation");
	check_equal(-ESRCH, ktrace(FILE_OF, KTROP_SET, CALLS, NOBODY), "a process that does not exist");
	check_equal(-ESRCH, ktrace(FILE_OF, KTROP_SET, CALLS, -NOBODY), "a group that does not exist");
	check_equal(-ESRCH, ktrace(FILE_OF, KTROP_CLEAR, CALLS, NOBODY), "a process that does not exist");
	check_equal(0, ktrace(FILE_OF, KTROP_CLEARFILE, 0, 0), "clearing a file without a trace succeeds");
	check_equal(-EINVAL, utrace(much, sizeof(much)),
		    "a record that is too large is refused without a trace");
	check_equal(0, utrace((const void *)8, 1), "without a trace, a bad address is not read");
	check_equal(0, ktrace(FILE_OF, KTROP_SET, CALLS | KTRFAC_USER, getpid()), "a trace starts");
	check_equal(-EFAULT, utrace((const void *)8, 1), "a record at a bad address is refused");
	check_equal(-EINVAL, utrace(much, sizeof(much)), "a record that is too large is refused");
	check_equal(0, utrace(much, KTR_USER_MAXLEN), "a record of maximum size is written");
	check_equal(-EFAULT, open((const char *)8, O_RDONLY, 0), "open with a path at a bad address");
	check_equal(-EFAULT, write(STDOUT, (const void *)8, 10), "write with data at a bad address");
	check_equal(0, ktrace(FILE_OF, KTROP_CLEARFILE, 0, 0), "the trace ends");
	check_equal(1, records_count(FILE_OF, KTRX_PROC_USER, getpid()), "the file contains the user record");
	check_equal(1, records_count(FILE_OF, KTRX_PROC_END, 0), "the file contains the end of the trace");
	check_equal(0, records_lost(FILE_OF), "nothing is lost");
}

/* ---- Traced processes -------------------------------------------------------------------------- */

/*
 * Descriptor of the write end of a pipe. A process that was started writes a byte to it to report that it is
 * ready.
 */
#define READY 20
static int ready_end;

static void make_ready(void)
{
	int ends[2];

	check_equal(0, pipe(ends), "a pipe is made");
	check_equal(READY, dup2(ends[1], READY), "dup2 sets the descriptor");
	close(ends[1]);
	ready_end = ends[0];
}

static void await_ready(void)
{
	char byte;

	check_equal(1, read(ready_end, &byte, 1), "the target is ready");
}

static void report_ready(void)
{
	check_equal(1, write(READY, ".", 1), "the target reports that it is ready");
}

static _Noreturn void run_itself(const char *path, char *word)
{
	char *words[] = { (char *)(uintptr_t)path, word, NULL }, *none[] = { NULL };

	execve(path, words, none);
	exit(127);
}

static void wait_for_ever(void)
{
	report_ready();
	for (;;)
		pause();
}

static int target_uid, target_gid;
static const char *target_path;

/* Sets the ids of the process and then executes the program, so that the process is not marked as set-id. */
static void become_target(void)
{
	setgid((uint32_t)target_gid);
	setuid((uint32_t)target_uid);
	run_itself(target_path, (char[]){ "wait" });
}

/* Starts a program that only waits, in a process with these user and group ids. Returns its pid. */
static int start_target(const char *path, int uid, int gid)
{
	int pid;

	target_path = path;
	target_uid = uid;
	target_gid = gid;
	pid = start_child(become_target);
	await_ready();
	return pid;
}

static void end_target(int pid)
{
	check_equal(0, kill(pid, SIGKILL), "the target is killed");
	check_equal(SIGKILL, wait_for(pid), "the signal ended the target");
}

/* ---- Permission -------------------------------------------------------------------------------- */

static int tracer_target, tracer_expected;

static void trace_it(void)
{
	check_equal(tracer_expected, ktrace(FILE_OF, KTROP_SET, CALLS, tracer_target),
		    tracer_expected ? "it may not be traced" : "it may be traced");
	check_equal(tracer_expected, ktrace(FILE_OF, KTROP_CLEAR, CALLS, tracer_target),
		    "the end of its trace has the same result");
}

static void as_somebody(void)
{
	check_equal(0, setgid(SOMEBODY), "the group is set");
	check_equal(0, setuid(SOMEBODY), "the user is set");
	trace_it();
}

static void as_somebody_in_another_group(void)
{
	check_equal(0, setgid(ANOTHER), "the group is set");
	check_equal(0, setuid(SOMEBODY), "the user is set");
	trace_it();
}

static void as_root_in_jail(void)
{
	check(jail() > 0, "a jail is made");
	trace_it();
}

static void try_as(void (*tracer)(void), int target, int expected)
{
	tracer_target = target;
	tracer_expected = expected;
	check_equal(0, wait_for(start_child(tracer)), "status of the tracer");
}

static void permissions(void)
{
	int own, other, marked, group;

	make_file(FILE_OF, SOMEBODY);
	own = start_target(ITSELF, SOMEBODY, SOMEBODY);
	other = start_target(ITSELF, ANOTHER, SOMEBODY);
	group = start_target(ITSELF, SOMEBODY, ANOTHER);
	marked = start_target(SET_ID, ANOTHER, SOMEBODY); /* the program runs as SOMEBODY */
	try_as(trace_it, own, 0);
	try_as(trace_it, marked, 0);
	try_as(as_somebody, own, 0);
	try_as(as_somebody, other, -EPERM);
	try_as(as_somebody, group, -EPERM);
	try_as(as_somebody, marked, -EPERM);
	try_as(as_somebody_in_another_group, own, -EPERM);
	try_as(as_somebody_in_another_group, group, 0);
	try_as(as_root_in_jail, own, -EPERM);
	/* Checks that only root may change a trace that root has started. */
	check_equal(0, ktrace(FILE_OF, KTROP_SET, CALLS, own), "root starts a trace");
	try_as(as_somebody, own, -EPERM);
	check_equal(0, ktrace(FILE_OF, KTROP_CLEAR, CALLS, own), "root ends its trace");
	try_as(as_somebody, own, 0);
	make_file(OTHER, ANOTHER);
	end_target(own), end_target(other), end_target(group), end_target(marked);
}

static void into_files_of_others(void)
{
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_equal(-EACCES, ktrace(OTHER, KTROP_SET, CALLS, getpid()),
		    "a trace into a file of another user is refused");
	check_equal(-EACCES, ktrace(OTHER, KTROP_CLEARFILE, 0, 0),
		    "a trace into a file of another user cannot be ended");
}

/* ---- Which processes are traced ---------------------------------------------------------------- */

static void record_token(void)
{
	utrace(TOKEN, sizeof(TOKEN) - 1);
}

static void record_with_child(void)
{
	record_token();
	check_equal(0, wait_for(start_child(record_token)), "status of the grandchild");
}

static int recorded_by_children(int facilities, int operation)
{
	int child;

	make_file(FILE_OF, 0);
	check_equal(0, ktrace(FILE_OF, KTROP_SET | operation, facilities, getpid()), "a trace starts");
	child = start_child(record_with_child);
	check_equal(0, wait_for(child), "status of the child");
	record_token();
	check_equal(0, ktrace(FILE_OF, KTROP_CLEARFILE, 0, 0), "the trace ends");
	record_token();
	check_equal(1, records_count(FILE_OF, KTRX_PROC_USER, getpid()),
		    "the file contains the process's own record");
	return (int)records_count(FILE_OF, KTRX_PROC_USER, 0) - 1;
}

static void inheritance(void)
{
	check_equal(0, recorded_by_children(KTRFAC_USER, 0), "children are not traced");
	check_equal(2, recorded_by_children(KTRFAC_USER | KTRFAC_INHERIT, 0),
		    "children inherit a trace with KTRFAC_INHERIT");
	check_equal(2, records_count(FILE_OF, KTRX_PROC_USER, 0) - 1, "grandchildren inherit it too");
	check_equal(0, recorded_by_children(CALLS | KTRFAC_USER, 0),
		    "children are not traced without KTRFAC_INHERIT");
}

static int pipe_ends[2];

/* For each byte that arrives through the pipe, records the token and replies. */
static void record_on_request(void)
{
	char byte;

	close(pipe_ends[1]);
	report_ready();
	while (read(pipe_ends[0], &byte, 1) == 1) {
		record_token();
		report_ready();
	}
}

static void wait_with_a_child(void)
{
	int child = start_child(record_on_request);

	record_on_request();
	wait_for(child);
}

static void request_token(void)
{
	check_equal(1, write(pipe_ends[1], ".", 1), "the child is asked for a record");
	await_ready();
}

/*
 * Returns the number of processes that are traced if `operation` is applied to `pid`. Counts the records of
 * type PROCCTOR in the file: there is one for each process.
 */
static int count_traced(int operation, int pid)
{
	make_file(FILE_OF, 0);
	check_equal(0, ktrace(FILE_OF, KTROP_SET | operation, KTRFAC_PROCCTOR, pid), "a trace starts");
	check_equal(0, ktrace(FILE_OF, KTROP_CLEAR | operation, KTRFAC_PROCCTOR, pid), "the trace ends");
	return (int)records_count(FILE_OF, KTRX_PROC_PROCCTOR, 0);
}

static void descendants_and_groups(void)
{
	int first, second;

	check_equal(0, pipe(pipe_ends), "a pipe");
	first = start_child(wait_with_a_child);
	second = start_child(record_on_request);
	await_ready(), await_ready(), await_ready();
	check_equal(0, setpgid(first, first), "a child gets its own group");
	check_equal(0, setpgid(second, first), "a second child joins the group");
	check_equal(1, count_traced(0, first), "the trace of a process includes one process");
	check_equal(2, count_traced(KTRFLAG_DESCEND, first), "KTRFLAG_DESCEND adds its child");
	check_equal(2, count_traced(0, -first), "the trace of a group includes its processes");
	check_equal(3, count_traced(KTRFLAG_DESCEND, -first), "KTRFLAG_DESCEND adds their descendants");
	close(pipe_ends[0]), close(pipe_ends[1]);
	wait_for(first), wait_for(second);
}

/* While a process is traced, changes the file into which it is traced, and then the facilities. */
static void changes(void)
{
	int child;

	check_equal(0, pipe(pipe_ends), "a pipe");
	child = start_child(record_on_request);
	await_ready();
	make_file(FILE_OF, 0);
	make_file(OTHER, 0);
	check_equal(0, ktrace(FILE_OF, KTROP_SET, KTRFAC_USER, child), "a trace starts");
	request_token();
	check_equal(0, ktrace(OTHER, KTROP_SET, KTRFAC_USER, child), "the trace continues in another file");
	request_token(), request_token();
	check_equal(0, ktrace(OTHER, KTROP_SET, CALLS, child), "facilities are added");
	check_equal(0, ktrace(OTHER, KTROP_CLEAR, KTRFAC_USER, child), "a facility is removed");
	request_token();
	check_equal(0, ktrace(OTHER, KTROP_CLEAR, CALLS, child), "the last facilities are removed");
	request_token();
	check_equal(1, records_count(FILE_OF, KTRX_PROC_USER, child), "the first file contains one record");
	check_equal(2, records_count(OTHER, KTRX_PROC_USER, child), "the second file contains two records");
	check(records_count(OTHER, KTRX_PROC_SYSRET, child) > 0, "the second file contains system calls");
	check_equal(1, records_count(FILE_OF, KTRX_PROC_END, 0),
		    "the first file contains the end of its trace");
	check_equal(1, records_count(OTHER, KTRX_PROC_END, 0),
		    "the second file contains the end of its trace");
	close(pipe_ends[0]), close(pipe_ends[1]);
	wait_for(child);
}

/*
 * Checks that tracing into a file can start again after the file has reached its limit, even by the process
 * that was traced when the limit was reached.
 */
static void beyond_the_limit(void)
{
	make_file(FILE_OF, 0);
	check_equal(0, setting_set("proc.limit=32768"), "the limit is set");
	for (int i = 0; i < 500; i++)
		check_equal(0, ktrace(FILE_OF, KTROP_SET, KTRFAC_SYSCALL | KTRFAC_NAMEI, getpid()),
			    "a trace starts");
	check_equal(0, setting_set("proc.limit=0"), "the limit is removed");
	check_equal(0, ktrace(FILE_OF, KTROP_CLEARFILE, 0, 0), "the trace ends");
	check(records_count(FILE_OF, KTRX_PROC_END, 0) > 1, "tracing continued after the limit was reached");
}

/* ---- Set-id programs --------------------------------------------------------------------------- */

static void copy_program(const char *to, int owner)
{
	static char block[4096];
	int source = open(ITSELF, O_RDONLY, 0), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	int64_t n;

	while ((n = read(source, block, sizeof(block))) > 0)
		check_equal(n, write_all(target, block, (size_t)n), to);
	close(source), close(target);
	check_equal(0, chown(to, (uint32_t)owner, (uint32_t)owner), "the program gets an owner");
	check_equal(0, chmod(to, 04755), "the program becomes set-id");
}

static void run_set_id(void)
{
	check_equal(0, setgid(SOMEBODY), "the group is set");
	check_equal(0, setuid(ANOTHER), "the user is set");
	run_itself(SET_ID, (char[]){ "record" });
}

static void run_plain_then_set_id(void)
{
	check_equal(0, setgid(SOMEBODY), "the group is set");
	check_equal(0, setuid(ANOTHER), "the user is set");
	run_itself(ITSELF, (char[]){ "trace-and-raise" });
}

/*
 * A process of ANOTHER traces itself, and then executes a set-id program that runs as SOMEBODY. The trace may
 * contain only the token that the process writes before that.
 */
static void trace_and_raise(void)
{
	check_equal(0, ktrace(OTHER, KTROP_SET, KTRFAC_USER | KTRFAC_PROCCTOR | KTRFAC_INHERIT, getpid()),
		    "a trace starts");
	record_token();
	run_itself(SET_ID, (char[]){ "record" });
}

/*
 * Checks that a program that is executable but not readable is not traced, because a trace would reveal its
 * contents.
 */
static void run_unreadable(void)
{
	check_equal(0, setuid(ANOTHER), "the user is set");
	run_itself(ITSELF, (char[]){ "trace-and-hide" });
}

static void trace_and_hide(void)
{
	check_equal(0, ktrace(OTHER, KTROP_SET, KTRFAC_USER | KTRFAC_INHERIT, getpid()), "a trace starts");
	record_token();
	run_itself(HIDDEN, (char[]){ "record" });
}

static void unreadable(void)
{
	int child, hidden;

	make_file(OTHER, ANOTHER);
	check_equal(0, chown(HIDDEN, 0, 0), "root owns the program");
	check_equal(0, chmod(HIDDEN, 0711), "other users can only execute it");
	child = start_child(run_unreadable);
	check_equal(0, wait_for(child), "status of the program");
	check_equal(1, records_count(OTHER, KTRX_PROC_USER, child),
		    "a user without read permission does not trace it");
	make_file(FILE_OF, SOMEBODY);
	hidden = start_target(HIDDEN, SOMEBODY, SOMEBODY);
	try_as(as_somebody, hidden, -EPERM);
	try_as(trace_it, hidden, 0);
	end_target(hidden);
}

static void privilege(void)
{
	int child;

	make_file(OTHER, ANOTHER);
	child = start_child(run_plain_then_set_id);
	check_equal(0, wait_for(child), "status of the set-id program");
	check_equal(1, records_count(OTHER, KTRX_PROC_USER, child),
		    "the user that started it does not trace it");
	make_file(FILE_OF, 0);
	check_equal(0, ktrace(FILE_OF, KTROP_SET, KTRFAC_USER | KTRFAC_PROCCTOR | KTRFAC_INHERIT, getpid()),
		    "a trace starts");
	child = start_child(run_set_id);
	check_equal(0, wait_for(child), "status of the set-id program");
	check_equal(0, ktrace(FILE_OF, KTROP_CLEARFILE, 0, 0), "the trace ends");
	check_equal(1, records_count(FILE_OF, KTRX_PROC_USER, child), "root traces it");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "wait") == 0)
		wait_for_ever();
	if (argc == 2 && strcmp(argv[1], "trace-and-raise") == 0)
		trace_and_raise();
	if (argc == 2 && strcmp(argv[1], "trace-and-hide") == 0)
		trace_and_hide();
	if (argc == 2) {
		record_token();
		finish();
	}
	make_ready();
	copy_program(SET_ID, SOMEBODY);
	refusals();
	permissions();
	check_equal(0, wait_for(start_child(into_files_of_others)), "status of the unprivileged child");
	inheritance();
	descendants_and_groups();
	changes();
	beyond_the_limit();
	privilege();
	unreadable();
	unlink(FILE_OF), unlink(OTHER), unlink(SET_ID);
	finish();
}
