/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The recorder of Linux programs: which processes it traces, how it traces them, what it records, and how
 * that is changed during recording.
 */
#ifndef RECORD_TRACER_H
#define RECORD_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktrx/proc.h"

struct calls_call;

/* The sinks, and the processes and threads that are recorded into them. */

/*
 * A sink is a file that records are written to (ktrx/proc.h). It has a reference count: each process that is
 * recorded into it has a reference. Records that cannot be written are lost and counted. The reason is
 * reported when the sink closes, also in the file. Other sinks are not affected.
 */

struct record_sink;

/*
 * How to open the file. In each mode, an existing file must be a regular one, and a symbolic link is not
 * followed.
 */
enum record_sink_mode {
	RECORD_SINK_NEW,    /* create it with mode 0600; replaces a file of that name */
	RECORD_SINK_APPEND, /* append to a trace that belongs to this user, or create it */
	/* append to an existing trace; if the file is open as a sink already, share that sink */
	RECORD_SINK_JOIN,
};

/*
 * Opens a sink. Returns 0 and a reference, or a positive errno: EACCES if it is not a regular file, EPERM if
 * it belongs to another user, EINVAL if it is not a trace.
 */
int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode);

/* Takes a reference. Returns `sink`. */
struct record_sink *record_sink_get(struct record_sink *sink);
/* Drops a reference; the last one closes the sink. `sink` may be NULL. */
void record_sink_put(struct record_sink *sink);

/* Returns the sink of a file, without a reference; NULL if there is none. */
struct record_sink *record_sink_find(dev_t device, ino_t inode);

/* The bytes of a payload, in two parts; the second may be empty. */
struct record_payload {
	const void *first;
	size_t first_size;
	const void *second;
	size_t second_size;
};

/*
 * Adds a record. The caller sets type, flags, pid, tid and lost in `head`. If `head` has stamp 0, the record
 * gets the current time; otherwise the caller has set its stamp and its CPU.
 */
void record_sink_add(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload);

/* Counts records that were lost before they could be added. */
void record_sink_lose(struct record_sink *sink, uint64_t count);

/* Writes the buffers of all sinks. Called from time to time, for readers that follow a file. */
void record_sink_flush_all(void);

/* Returns the problems of the sinks that were closed, one line each; "" if there were none. */
const char *record_sink_troubles(void);

/* Traced processes and their threads. ptrace(2) attaches to single threads. */

#define RECORD_SIGNALS 65  /* Linux's signals have the numbers 1 to 64 */
#define RECORD_FDS     512 /* descriptors below this number are looked up once; others at each use */

struct record_process {
	struct record_process *next; /* in its chain */
	pid_t pid, parent;
	unsigned threads;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool detaching; /* all of its threads are to be detached, also new ones */
	bool named;	/* the sink has a record of its name */
	/*
	 * `known`: the current folder was looked up and has not changed.
	 * `recorded`: the sink has a record of it.
	 */
	bool known_folder, recorded_folder;
	/* bit n: the sink has a record of descriptor n, which is up to date */
	uint64_t known_fd[RECORD_FDS / 64];
	/* bit n: the sink has a record of descriptor n, which may be out of date */
	uint64_t recorded_fd[RECORD_FDS / 64];
	struct record_sink *sink; /* has a reference; NULL: nothing is recorded */
	char name[32];
	uint64_t handler[RECORD_SIGNALS];
};

struct record_faults;

struct record_thread {
	struct record_thread *next; /* in its chain */
	pid_t tid;
	struct record_process *process;
	bool starting;	/* the thread has not executed the command yet: it is not recorded */
	bool in_call;	/* the thread is in a call, with `number` and `argument` */
	bool detaching; /* the thread is to be detached at its next stop */
	bool own_call;	/* the call is carried out by the recorder: ktrace() or utrace() */
	int64_t own_result;
	/* ABI of the call: 0 for the machine's own, otherwise an ELF machine */
	uint32_t abi;
	uint64_t number, argument[6];
	unsigned options; /* options of ptrace(2) that are set; 0: unknown */
	/* the kernel's count of voluntary context switches, when last read; 0: not read yet */
	uint64_t switches;
	/* stops by ptrace since `switches` was read: the kernel counts each stop as a voluntary switch */
	uint64_t stops;
	uint64_t waits;		      /* voluntary switches without stops by ptrace, since the first count */
	struct record_faults *faults; /* state of recording its page faults; NULL: they are not recorded */
	bool without_faults;	      /* page faults of the thread cannot be recorded */
	/* `folder` is open; it is the folder of the thread's descriptors in /proc */
	bool has_folder;
	int folder;
	unsigned lookups; /* number of descriptors that were looked up without `folder` */
};

/* Return the thread or process, NULL if it is not traced. */
struct record_thread *record_thread_find(pid_t tid);
struct record_process *record_process_find(pid_t pid);

/* Add a process without a sink, or a thread to a process. Return NULL if memory is short. */
struct record_process *record_process_add(pid_t pid, pid_t parent);
struct record_thread *record_thread_add(pid_t tid, struct record_process *process);
/* Removes a thread. With its last thread a process is removed, too, and drops its reference to a sink. */
void record_thread_remove(struct record_thread *thread);
/* Returns one of the process's threads. */
struct record_thread *record_thread_of(const struct record_process *process);
/* Removes a process. Requires: it has no thread. */
void record_process_remove(struct record_process *process);
/* Changes the id of a thread, which after its exec has the id of its process. */
void record_thread_renumber(struct record_thread *thread, pid_t tid);

/*
 * Return the element after `last`; the first one if `last` is NULL; NULL after the last one. Before an
 * element is removed, the next one must be fetched.
 */
struct record_thread *record_thread_next(const struct record_thread *last);
struct record_process *record_process_next(const struct record_process *last);
size_t record_threads(void);

/*
 * Returns whether /proc is mounted and shows the process ids of our PID namespace. Without it, names, the
 * meaning of descriptors and waits are unknown, and running processes cannot be found.
 */
bool record_proc_is_usable(void);
/* Returns the id of our PID namespace, 0 if unknown. */
uint64_t record_proc_namespace(void);
/*
 * Return the process of a thread, and the parent of a process; 0 if it has ended. For threads of traced
 * processes, record_proc_process() needs no /proc.
 */
pid_t record_proc_process(pid_t tid);
pid_t record_proc_parent(pid_t pid);
/* Returns the effective user of a thread, -1 if it has ended. */
uid_t record_proc_user(pid_t tid);
/* Returns whether the thread cannot gain rights by executing a program (PR_SET_NO_NEW_PRIVS). */
bool record_proc_gains_nothing(pid_t tid);
/* Reads the current name of a process; "" if it has ended. */
void record_proc_name(pid_t pid, char *name, size_t room);
/* Returns the letter of a thread's state, as in ps(1); 0 if it has ended. */
char record_proc_state(pid_t tid);
/* Returns the kernel's count of a thread's voluntary context switches, 0 if unknown. */
uint64_t record_proc_switches(pid_t tid);
/* Reads the handlers of signals. For a signal with a handler, its address is unknown. */
void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS]);

/*
 * The tracing loop. Threads stop at each system call, signal, creation of a thread or process, and exec.
 * content.c makes records of it, and the threads are resumed. ptrace(2) is used with PTRACE_SEIZE and
 * without PTRACE_O_EXITKILL: if the recorder ends, the programs continue.
 */

/*
 * Attaches to all threads of a process, if it is not traced yet. The process takes a reference to the sink.
 * Returns 0 or a positive errno.
 */
int record_attach(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/*
 * Attaches to a child that waits to become the command, until record_tracer_run() is called. Returns 0 or a
 * positive errno.
 */
int record_attach_child(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/* Detaches from a process: each of its threads is brought to a stop, and then continues untraced. */
void record_detach(struct record_process *process);
/* Drops threads that will never stop again. Must be called from time to time. */
void record_drop_ended(void);

/* Returns whether all traced threads are to be detached. */
bool record_all_detaching(void);
/* Drops all threads without detaching from them. Requires: the recorder ends right after it. */
void record_drop_all(void);

/*
 * Runs the tracing loop until nothing is traced any more. Calls serve() whenever a signal has interrupted the
 * wait. Also calls it after each stop, because busy threads leave no wait that a signal could interrupt.
 * *status: wait() status of `command`, if that has ended.
 */
void record_tracer_run(void (*serve)(void), pid_t command, int *status);

/* Returns how many processes were detached because they gained rights. */
unsigned record_became_privileged(void);

/*
 * Returns how many reads of memory the kernel has refused, for example of a process that must not be dumped.
 */
unsigned long record_memory_denied(void);
/* Returns how many lookups of descriptors the kernel has refused. */
unsigned long record_descriptors_denied(void);

/* Returns how many threads, also of new processes, were detached because memory was short. */
unsigned record_without_memory(void);

/* Page faults (faults.c). */

/* Returns 0, or the positive errno if perf_event_open() refuses to report page faults. */
int record_faults_allowed(void);
/*
 * Records the thread's page faults so far, and starts or ends their recording as its process needs it.
 * Requires: the thread is stopped.
 */
void record_faults_update(struct record_thread *thread);
/* Records the page faults of all threads, before their rings are full. */
void record_faults_drain_all(void);
/* Ends the recording of the thread's page faults. */
void record_faults_end(struct record_thread *thread);
/* Returns true if the thread's last record of a page fault is of a beginning. */
bool record_faults_begun(const struct record_thread *thread);
/*
 * Returns the number of threads whose page faults could not be recorded. *error: the last reason, an errno.
 */
unsigned record_faults_missed(int *error);

/* Threads that are stopped at the beginning or the return of a system call. */

/* Kind of thing that the thread's current call creates. */
enum record_created { RECORD_CREATES_NOTHING, RECORD_CREATES_THREAD, RECORD_CREATES_PROCESS };

enum record_created record_created_by_call(const struct record_thread *thread);

/* Records the beginning or the return of a call. Returns true at the beginning of an exec. */
bool record_handle_call(struct record_thread *thread);

/*
 * How recording starts: with a command, or with running processes; and the signals that the recorder
 * handles.
 */

struct record_plan {
	const char *path; /* path of the file */
	bool append;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool descend; /* record descendants of the targets, too */
	pid_t pid;    /* a process to record; 0: none */
	pid_t group;  /* a process group to record; 0: none */
};

/* What to report at the end. */
struct record_outcome {
	const char *what; /* name of what failed: a path, "fork", …; NULL: nothing failed */
	int error;	  /* why it failed: an errno */
	int status;	  /* wait() status of the command; -1 if the command has not ended */
};

/*
 * Runs a command, and records it until all recorded processes have ended. Returns 0, or a positive errno
 * with outcome->what set.
 */
int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome);

/*
 * Attaches to the plan's targets in a new process, which continues in the background. Returns when all are
 * attached: 0, or a positive errno with outcome->what set.
 */
int record_targets(const struct record_plan *plan, struct record_outcome *outcome);

/* Makes records of what a stopped thread does, in its process's sink, if the facility is traced. */

#define RECORD_FACILITY(type) (UINT32_C(1) << (type))
#define RECORD_ALL	      UINT32_C(0xfffe)
/*
 * Page faults that the kernel resolves. The facility of faults alone means only faults that end in a signal.
 */
#define RECORD_PAGES (UINT32_C(1) << 16)
#define RECORD_LIVES (RECORD_FACILITY(KTRX_PROC_PROCCTOR) | RECORD_FACILITY(KTRX_PROC_PROCDTOR))

/* Adds PROCCTOR: a process is new to the trace. `how`: KTRX_PROC_CTOR_*. */
void record_put_new_process(struct record_thread *thread, uint32_t how);
/* Adds PROCDTOR: the process has ended. `status`: as from wait(). */
void record_put_exit(struct record_thread *thread, int status);

/* Adds any record of a thread, if its type is traced. The payload may be in two parts. */
void record_put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size);

/* Time and CPU of an event that is recorded later, and the number of records lost before it. */
struct record_moment {
	uint64_t stamp;
	uint32_t cpu, lost;
};

void record_put_earlier(const struct record_thread *thread, uint32_t type, const struct record_moment *moment,
			const void *data, size_t size);

/* Adds a NAMEI record for each path among the arguments of the thread's current call. */
void record_put_paths(struct record_thread *thread, const struct calls_call *call);
/*
 * Adds STRUCT and STRUCT_ARRAY records for what the program has passed (CALLS_GIVEN) or the kernel has filled
 * in (CALLS_FILLED).
 */
void record_put_arguments(struct record_thread *thread, unsigned access, int64_t result);
/*
 * Adds STRUCT and STRUCT_ARRAY records for the parts of the struct msghdr at address `at`, which an argument
 * points to: its address, its pieces and its control messages. `received`: descriptors in it are new.
 */
void record_put_message(struct record_thread *thread, unsigned argument, uint64_t at, bool received);

/*
 * Adds a STRUCT record for the signal mask that rt_sigreturn() has restored, as if it were an argument of the
 * call.
 */
void record_put_mask(struct record_thread *thread);

/*
 * Closes the folder of the thread's descriptors if it is open. Requires: the thread has ended, or gets
 * another id.
 */
void record_descriptors_end(struct record_thread *thread);
/* Adds an FD record for each descriptor among the call's arguments, if the trace does not have it yet. */
void record_put_descriptors(struct record_thread *thread, const struct calls_call *call);
/* Adds an FD record for one descriptor, if the trace does not have it yet. */
void record_put_descriptor(struct record_thread *thread, int32_t fd);
/* Adds an FD record for a descriptor that the kernel has just created. */
void record_descriptor_is_new(struct record_thread *thread, int32_t fd);
/* Marks these descriptors as unknown, because they may refer to something else now. */
void record_forget_descriptors(struct record_process *process, uint64_t first, uint64_t last);
/* Marks all descriptors and the current folder as unknown. */
void record_forget_all_descriptors(struct record_process *process);

/* Records that the thread's current call begins. */
void record_put_enter(struct record_thread *thread);
/* Records that the thread's current call returns. `error`: 0 or positive. */
void record_put_leave(struct record_thread *thread, int32_t error, int64_t result);

/* Adds a PSIG record, after a STRUCT record with the origin of the signal. */
void record_put_signal(struct record_thread *thread, int signal, const siginfo_t *info, uint64_t mask);
/*
 * Adds a CSW record if the thread has waited since the last stop for something other than the recorder.
 * Called at each stop.
 */
void record_put_switches(struct record_thread *thread);
/* Adds a USER record, for utrace(). Returns 0 or a positive errno. */
int record_put_user(struct record_thread *thread, uint64_t address, uint64_t size);

/*
 * Changes during recording: by the traced programs through ktrace(), and by other runs of the command (-c,
 * -C) through a socket that each recorder has in a folder of its user.
 */

/* Which processes a request applies to. */
enum record_whose {
	RECORD_WHOSE_ALL,
	RECORD_WHOSE_PROCESS,
	RECORD_WHOSE_GROUP,
	RECORD_WHOSE_FILE, /* all processes that are recorded into that file */
};

struct record_request {
	enum record_whose whose;
	uint32_t facilities; /* facilities to remove; tracing ends with the last one */
	int descend;	     /* the request also applies to descendants of the processes */
	pid_t pid;	     /* id of a process or a group */
	uint64_t namespace;  /* PID namespace of `pid`: record_proc_namespace() */
	uint64_t device, inode;
};

/*
 * Carries out a program's ktrace(). `path`: address of the file path in the program's memory. Returns 0 or a
 * positive errno.
 */
int record_control_ktrace(struct record_thread *thread, uint64_t path, uint32_t operation,
			  uint32_t facilities, pid_t pid);

/* Opens the socket, until record_control_close(). Returns 0 or a positive errno. */
int record_control_open(void);
/* Answers the requests that wait at the socket. */
void record_control_serve(void);
void record_control_close(void);

/*
 * Sends the request to all recorders of this user. Returns the number of processes that it applied to, or a
 * negative errno.
 */
int record_control_ask_all(const struct record_request *request);

#endif
