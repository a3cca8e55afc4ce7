/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/registers.h"

#define OPTIONS		 (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)
#define CREATION_OPTIONS (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)
#define CALL_STOP	 (SIGTRAP | 0x80)

static unsigned became_privileged, without_memory;
static bool creation_without_memory;

unsigned record_became_privileged(void)
{
	return became_privileged;
}

unsigned record_without_memory(void)
{
	return without_memory;
}

/* ---- Attaching and detaching ----------------------------------------------------------------------- */

/*
 * Returns the ptrace options that make the kernel attach us to the threads and processes that this thread
 * creates. A process that is not recorded must never be attached, not even until its first stop, because its
 * parent may want to trace it. PTRACE_O_TRACECLONE and similar options apply to both threads and processes,
 * so the result depends on the thread's current call.
 */
static unsigned creation_options(const struct record_thread *thread)
{
	const struct record_process *process = thread->process;

	if ((process->inherit && process->sink) || thread->starting)
		return CREATION_OPTIONS;
	switch (record_created_by_call(thread)) {
	case RECORD_CREATES_THREAD:
		return CREATION_OPTIONS;
	case RECORD_CREATES_PROCESS:
		return 0;
	default:
		return PTRACE_O_TRACECLONE;
	}
}

static void set_options(struct record_thread *thread)
{
	unsigned options = OPTIONS | creation_options(thread);

	if (options != thread->options &&
	    ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, (void *)(uintptr_t)options) == 0)
		thread->options = options;
}

/*
 * Resumes a stopped thread, or detaches from it if it is to be detached. Ignores errors: an error means that
 * the thread has ended, and wait() will report its end.
 */
static void resume(struct record_thread *thread, int signal)
{
	thread->stops++;
	if (thread->detaching) {
		ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)signal);
		record_thread_remove(thread);
	} else {
		set_options(thread);
		ptrace(PTRACE_SYSCALL, thread->tid, NULL, (void *)(intptr_t)signal);
	}
}

static int attach_thread(pid_t tid, struct record_process *process)
{
	struct record_thread *thread;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)(OPTIONS | CREATION_OPTIONS)) != 0)
		return errno;
	thread = record_thread_add(tid, process);
	if (!thread) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return ENOMEM;
	}
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

/*
 * Attaches to all threads of a process that are not traced yet. Makes one pass over the list of the process's
 * threads. Returns the number of threads attached; if none was attached, 0 or a negative errno. Two sorts of
 * threads cannot be attached. First, threads that have ended; the main thread may be one of them. Second,
 * threads that the kernel has already attached to the recorder, because a traced thread created them; wait()
 * will report these threads.
 */
static int attach_threads(struct record_process *process)
{
	char path[40];
	struct dirent *entry;
	int last = 0, more = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	directory = opendir(path);
	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(directory))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int error = tid > 0 && !record_thread_find(tid) ? attach_thread(tid, process) : EEXIST;

		if (error == 0)
			more++;
		else if (error != EEXIST && error != ESRCH)
			last = error;
	}
	closedir(directory);
	return more > 0 ? more : -last;
}

static struct record_process *make_process(pid_t pid, pid_t parent, struct record_sink *sink,
					   uint32_t facilities, bool inherit)
{
	struct record_process *process = record_process_add(pid, parent);

	if (!process)
		return NULL;
	process->sink = record_sink_get(sink);
	process->facilities = facilities;
	process->inherit = inherit;
	record_proc_handlers(pid, process->handler);
	record_proc_name(pid, process->name, sizeof(process->name));
	return process;
}

int record_attach(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit)
{
	struct record_process *process;
	int more;

	if (record_proc_process(pid) != pid)
		return ESRCH;
	if (record_process_find(pid))
		return 0;
	process = make_process(pid, record_proc_parent(pid), sink, facilities, inherit);
	if (!process)
		return ENOMEM;
	/*
	 * repeats until a pass finds no new thread, because untraced threads may create others during a pass
	 */
	while ((more = attach_threads(process)) > 0)
		continue;
	if (process->threads == 0) {
		record_process_remove(process);
		return more < 0 ? -more : ESRCH;
	}
	record_put_new_process(record_thread_of(process), KTRX_PROC_CTOR_SET);
	return 0;
}

int record_attach_child(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit)
{
	struct record_process *process = make_process(pid, getpid(), sink, facilities, inherit);
	int error, status;

	if (!process)
		return ENOMEM;
	error = attach_thread(pid, process);
	if (error) {
		record_process_remove(process);
		return error;
	}
	/* after this first stop, the child stops at each system call */
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		continue;
	record_thread_find(pid)->starting = true;
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	return 0;
}

void record_detach(struct record_process *process)
{
	process->detaching = true;
	for (struct record_thread *thread = record_thread_next(NULL); thread;
	     thread = record_thread_next(thread))
		if (thread->process == process) {
			thread->detaching = true;
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		}
}

/*
 * Removes main threads that are to be detached but have ended. Such a thread never stops again, so it cannot
 * be detached. wait() would report its end only after the end of all other threads of its process, and these
 * threads, which are detached, may run for long.
 */
void record_drop_ended(void)
{
	struct record_thread *next = record_thread_next(NULL);

	while (next) {
		struct record_thread *thread = next;

		next = record_thread_next(thread);
		if (thread->detaching && thread->tid == thread->process->pid &&
		    thread->process->threads == 1 && record_proc_state(thread->tid) == 'Z')
			record_thread_remove(thread);
	}
}

bool record_all_detaching(void)
{
	const struct record_thread *thread = record_thread_next(NULL);

	while (thread && thread->detaching)
		thread = record_thread_next(thread);
	return !thread;
}

void record_drop_all(void)
{
	while (record_threads() > 0)
		record_thread_remove(record_thread_next(NULL));
}

/* ---- Handling stops ---------------------------------------------------------------------------- */

/*
 * Returns the thread with this id. If the thread is not in the table, a traced thread has created it. In this
 * case, adds the thread to the table. `parent` is the process of the creating thread, NULL if unknown.
 * Returns NULL if the thread has ended or memory runs out.
 */
static struct record_thread *find_or_add_thread(pid_t tid, struct record_process *parent)
{
	struct record_thread *thread = record_thread_find(tid);
	pid_t pid = record_proc_process(tid);
	struct record_process *process;

	if (thread)
		return thread;
	if (pid == 0) /* the thread has ended: wait() reported its end first, and its creation now */
		return NULL;
	process = record_process_find(pid);
	if (process) {
		thread = record_thread_add(tid, process);
		if (thread)
			thread->detaching = process->detaching;
		return thread;
	}
	process = record_process_add(pid, parent ? parent->pid : record_proc_parent(pid));
	if (!process)
		return NULL;
	if (!parent)
		parent = record_process_find(process->parent);
	thread = record_thread_add(tid, process);
	if (!thread) {
		record_process_remove(process);
		return NULL;
	}
	if (!parent || !parent->inherit || !parent->sink) {
		process->detaching = thread->detaching = true;
		return thread;
	}
	process->sink = record_sink_get(parent->sink);
	process->facilities = parent->facilities;
	process->inherit = true;
	memcpy(process->handler, parent->handler, sizeof(process->handler));
	memcpy(process->name, parent->name, sizeof(process->name));
	record_put_new_process(thread, KTRX_PROC_CTOR_FORK);
	return thread;
}

static pid_t event_message(const struct record_thread *thread)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
	return (pid_t)message;
}

/*
 * Handles an exec. The process now runs a new program, in one thread. The id of this thread is the process's
 * id. Returns this thread.
 */
static struct record_thread *handle_exec(struct record_thread *thread)
{
	struct record_process *process = thread->process;
	/* the thread that called exec, under the id that it had before the exec */
	struct record_thread *former =
		process->threads > 1 ? record_thread_find(event_message(thread)) : NULL;

	if (former && former != thread && former->process == process) {
		record_thread_remove(thread);
		record_thread_renumber(former, process->pid);
		thread = former;
	}
	for (unsigned n = 1; n < RECORD_SIGNALS; n++)
		if (process->handler[n] != 1)
			process->handler[n] = 0;
	record_forget_all_descriptors(process);
	record_put_new_process(thread, KTRX_PROC_CTOR_EXEC);
	return thread;
}

/*
 * Handles the report that `parent` has created a thread or process. If memory runs out, only sets
 * `creation_without_memory`. In this case, the first stop of the new thread is handled as if its creation was
 * not reported.
 */
static void handle_creation(const struct record_thread *parent)
{
	const pid_t tid = event_message(parent);
	struct record_thread *child = find_or_add_thread(tid, parent->process);

	if (child)
		/* a new thread starts with the ptrace options of its creator */
		child->options = parent->options;
	else if (record_proc_process(tid) != 0)
		creation_without_memory = true;
}

static void handle_event(struct record_thread *thread, int event, int signal)
{
	switch (event) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		handle_creation(thread);
		break;
	case PTRACE_EVENT_EXEC:
		thread = handle_exec(thread);
		break;
	case PTRACE_EVENT_STOP:
		/*
		 * A signal has stopped the thread's process. Do not resume the thread: it stays stopped until
		 * SIGCONT, which wait() reports.
		 */
		if (!thread->detaching &&
		    (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)) {
			ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
			return;
		}
		break;
	default:
		break;
	}
	resume(thread, 0);
}

static void handle_signal(struct record_thread *thread, int signal)
{
	siginfo_t info = { .si_signo = signal };
	uint64_t mask = 0;

	ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info);
	ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
	if (!thread->starting)
		record_put_signal(thread, signal, &info, mask);
	resume(thread, signal);
}

static void handle_call(struct record_thread *thread)
{
	if (record_handle_call(thread) && record_is_privileged_exec(thread)) {
		became_privileged++;
		thread->detaching = true;
	}
	resume(thread, 0);
}

static void handle_end(struct record_thread *thread, int status)
{
	if (!thread->starting)
		record_faults_update(thread);
	if (thread->tid == thread->process->pid && !thread->starting)
		record_put_exit(thread, status);
	record_thread_remove(thread);
}

static void handle_stop(pid_t tid, int status)
{
	struct record_thread *thread = record_thread_find(tid);

	if (!WIFSTOPPED(status)) {
		if (thread)
			handle_end(thread, status);
		return;
	}
	if (!thread)
		thread = find_or_add_thread(tid, NULL);
	if (!thread) {
		without_memory += record_proc_process(tid) != 0;
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return;
	}
	if (!thread->starting) {
		if (thread->faults || (thread->process->facilities & RECORD_PAGES))
			record_faults_update(thread);
		record_put_switches(thread);
	}
	if (status >> 16)
		handle_event(thread, status >> 16, WSTOPSIG(status));
	else if (WSTOPSIG(status) == CALL_STOP)
		handle_call(thread);
	else
		handle_signal(thread, WSTOPSIG(status));
}

/* ---- Turns: rounds in which stopped threads are collected and resumed ------------------------------ */

/*
 * If several threads have stopped, wait() reports the thread that comes first in the kernel's list. Suppose
 * that the recorder resumed each thread directly after its report: wait() would always report busy threads,
 * which stop again soon, and hardly ever the threads later in the list. So the recorder works in turns: a
 * turn first collects the reports of all threads that have stopped, and only then resumes them. The table of
 * reports is static, because recording must not end when memory runs out. A thread for which the table has no
 * room is reported in the next turn.
 */
#define TURN_MOST 65536u

struct report {
	pid_t tid; /* id of the thread; 0: the report was discarded */
	int status;
};

static struct report turn[TURN_MOST];
/* number of reports in `turn`; the first report may come from the previous turn */
static size_t turn_reports;

/*
 * Discards the report that a thread has stopped. Called when another thread of the process has called exec,
 * and the kernel has given it the id of this thread.
 */
static void discard_stop(pid_t tid)
{
	for (size_t n = 0; n < turn_reports; n++)
		if (turn[n].tid == tid)
			turn[n].tid = 0;
}

/*
 * Collects one report with waitpid(), which gets `options`. Returns 0 or a positive errno. The errno is
 * ECHILD if there is no child, or if `options` contains WNOHANG and no report is available.
 */
static int collect_report(int options)
{
	struct report report;

	report.tid = waitpid(-1, &report.status, __WALL | options);
	if (report.tid <= 0)
		return report.tid < 0 ? errno : ECHILD;
	if (report.status >> 16 == PTRACE_EVENT_EXEC)
		discard_stop(report.tid);
	turn[turn_reports++] = report;
	return 0;
}

/*
 * Maximum number of consecutive turns without an attempt to collect a second report. If only one thread runs,
 * such an attempt finds nothing. So each attempt that finds nothing doubles the number of turns until the
 * next attempt, up to this maximum. A stopped thread waits for at most this number of turns.
 */
#define SKIPPED_MOST 16u

/* Collects all reports that are available, unless no attempt is made in this turn. */
static void collect_rest(void)
{
	static unsigned skipped, to_skip;
	const size_t before = turn_reports;

	if (skipped < to_skip) {
		skipped++;
		return;
	}
	while (turn_reports < TURN_MOST && collect_report(WNOHANG) == 0)
		continue;
	skipped = 0;
	if (turn_reports > before)
		to_skip = 0;
	else if (to_skip < SKIPPED_MOST)
		to_skip = to_skip ? 2 * to_skip : 1;
}

/* Waits for a report, then collects all other reports that are available. Returns 0 or a positive errno. */
static int collect_turn(void)
{
	int error = turn_reports < TURN_MOST ? collect_report(0) : EINTR;

	if (!error && record_threads() > 1)
		collect_rest();
	return error;
}

/*
 * If there is a newer report of a main thread, replaces the older report by it. Another thread of the process
 * may have called exec after the older report was collected.
 */
static void refresh(struct report *report)
{
	const struct record_thread *thread = record_thread_find(report->tid);
	int status;

	if (thread && thread->tid == thread->process->pid && thread->process->threads > 1 &&
	    waitpid(report->tid, &status, __WALL | WNOHANG) == report->tid)
		report->status = status;
}

/*
 * Returns whether this is the stop of a new process whose creation was not reported yet. Only the report of
 * the creation states the parent of the process, so this stop is handled later. The report of the creation
 * follows soon, unless the parent is killed before it.
 */
static bool is_early_stop(const struct report *report)
{
	return report->tid > 0 && WIFSTOPPED(report->status) && !record_thread_find(report->tid) &&
	       record_proc_process(report->tid) == report->tid;
}

void record_tracer_run(void (*serve)(void), pid_t command, int *status)
{
	turn_reports = 0;
	while (record_threads() + turn_reports > 0) {
		int error = collect_turn();
		size_t left = 0;

		if (error && error != EINTR)
			break;
		if (error)
			serve();
		for (size_t n = 0; n < turn_reports; n++) {
			if (!error && !creation_without_memory && is_early_stop(&turn[n])) {
				turn[left++] = turn[n];
				continue;
			}
			refresh(&turn[n]);
			if (turn[n].tid == command && !WIFSTOPPED(turn[n].status))
				*status = turn[n].status;
			if (turn[n].tid > 0)
				handle_stop(turn[n].tid, turn[n].status);
			serve();
		}
		turn_reports = left;
	}
	/* wait() reports no thread any more: forget the remaining threads, which closes the sinks */
	record_drop_all();
}
