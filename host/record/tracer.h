/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The recorder of Linux programs: which processes it traces, how it traces them, what it records, and how
 * this can be changed during recording.
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
 * A sink is a file to which records are written (ktrx/proc.h). It has a reference count: each process that is
 * recorded into the sink holds a reference. A record that cannot be written is lost, and is counted as lost.
 * The reason for the loss is reported when the sink is closed, and is recorded in the file. Other sinks are
 * not affected.
 */

struct record_sink;

/*
 * How to open the file. All modes reject an existing file that is not a regular file. No mode follows a
 * symbolic link.
 */
enum record_sink_mode {
	RECORD_SINK_NEW, /* create the file with mode 0600; an existing file of that name is replaced */
	/*
	 * append to an existing trace, which must belong to this user; the file is created if it does not
	 * exist
	 */
	RECORD_SINK_APPEND,
	/* append to an existing trace, which may belong to any user */
	RECORD_SINK_JOIN,
};

/*
 * Opens a file as a sink. If the file is open as a sink already, takes a reference to that sink. Returns 0
 * and stores a reference in *sink. Otherwise returns a positive errno: EACCES if the file is not a regular
 * file, EPERM if it belongs to another user, EINVAL if it is not a trace.
 */
int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode);

/* Takes another reference to the sink. Returns `sink`. */
struct record_sink *record_sink_get(struct record_sink *sink);
/* Drops a reference. Closes the sink if this was the last reference. `sink` may be NULL. */
void record_sink_put(struct record_sink *sink);

/*
 * Returns the sink of the file with this device and inode, without taking a reference; NULL if there is none.
 */
struct record_sink *record_sink_find(dev_t device, ino_t inode);

/* The bytes of a payload, in two parts. The second part may be empty. */
struct record_payload {
	const void *first;
	size_t first_size;
	const void *second;
	size_t second_size;
};

/*
 * Adds a record. The caller sets type, flags, pid, tid and lost in `head`. If `head` has timestamp 0, the
 * record gets the current time; otherwise the caller has set its timestamp and its CPU.
 */
void record_sink_add(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload);

/* Counts records that were lost before they could be added. */
void record_sink_lose(struct record_sink *sink, uint64_t count);

/*
 * Writes the buffered records of all sinks to their files. Must be called from time to time, so that a reader
 * that follows a file gets its records.
 */
void record_sink_flush_all(void);

/* Returns a text with one line for each closed sink that had a problem; "" if no sink had a problem. */
const char *record_sink_troubles(void);

/* Traced processes and their threads. ptrace(2) attaches to single threads, not to processes. */

#define RECORD_SIGNALS 65 /* Linux's signals have the numbers 1 to 64 */
/* a descriptor below this number is looked up once; any other descriptor is looked up at each use */
#define RECORD_FDS 512

struct record_process {
	struct record_process *next; /* next process in the same chain of the table */
	pid_t pid, parent;
	unsigned threads;
	uint32_t facilities; /* set of record types, as bits 1 << KTRX_PROC_* */
	bool inherit;
	bool detaching; /* true if all threads of the process are to be detached, including new ones */
	bool named;	/* true if the sink contains a record of the process's name */
	/*
	 * known_folder: the recorder has looked up the current directory, and this directory has not
	 * changed since then. recorded_folder: the sink contains a record of the current directory.
	 */
	bool known_folder, recorded_folder;
	/*
	 * bit n is set if the recorder has looked up descriptor n, and the descriptor has not changed since
	 * then
	 */
	uint64_t known_fd[RECORD_FDS / 64];
	/*
	 * bit n is set if the sink contains a record of descriptor n; the record may be out of date if bit n
	 * of `known_fd` is 0
	 */
	uint64_t recorded_fd[RECORD_FDS / 64];
	/* sink to which the process holds a reference; NULL: the process is not recorded */
	struct record_sink *sink;
	char name[32];
	uint64_t handler[RECORD_SIGNALS];
};

struct record_faults;

struct record_thread {
	struct record_thread *next; /* next thread in the same chain of the table */
	pid_t tid;
	struct record_process *process;
	/* true if the thread will execute a new command, and is not recorded before that */
	bool starting;
	bool in_call;	/* true if the thread is in a system call, which `number` and `argument` describe */
	bool detaching; /* true if the thread is to be detached at its next stop */
	bool own_call;	/* true if the thread's call is ktrace() or utrace(), which the recorder executes */
	int64_t own_result;
	/* ABI of the call: 0 for the machine's own ABI, otherwise the ELF machine of the ABI */
	uint32_t abi;
	uint64_t number, argument[6];
	unsigned options; /* options of ptrace(2) that were last set for this thread; 0: unknown */
	/*
	 * the kernel's count of the thread's voluntary context switches when it was last read; 0: not read
	 * yet
	 */
	uint64_t switches;
	/*
	 * number of stops by ptrace since `switches` was read; the kernel counts each stop as a voluntary
	 * context switch
	 */
	uint64_t stops;
	/*
	 * number of voluntary context switches since the first reading of `switches`, without stops by ptrace
	 */
	uint64_t waits;
	/* state of recording the thread's page faults; NULL: they are not recorded */
	struct record_faults *faults;
	/* true if an attempt to record the thread's page faults has failed; there is no other attempt */
	bool without_faults;
	/*
	 * true if `folder` is a valid descriptor of /proc/TID/fd, the directory of the thread's descriptors
	 */
	bool has_folder;
	int folder;
	unsigned lookups; /* number of lookups of the thread's descriptors that were made without `folder` */
};

/* These functions return the thread or the process with this id. They return NULL if it is not traced. */
struct record_thread *record_thread_find(pid_t tid);
struct record_process *record_process_find(pid_t pid);

/*
 * These functions add a process (without a sink), and a thread of a process. They return NULL if memory is
 * short.
 */
struct record_process *record_process_add(pid_t pid, pid_t parent);
struct record_thread *record_thread_add(pid_t tid, struct record_process *process);
/*
 * Removes a thread. If it was the last thread of its process, also removes the process, which drops its
 * reference to a sink.
 */
void record_thread_remove(struct record_thread *thread);
/*
 * Returns the main thread of the process. If it is not in the table, returns another thread of the process.
 */
struct record_thread *record_thread_of(const struct record_process *process);
/* Removes a process. Requires: the process has no thread in the table. */
void record_process_remove(struct record_process *process);
/* Changes the id of a thread. Needed when a thread calls exec, because it then gets the id of its process. */
void record_thread_renumber(struct record_thread *thread, pid_t tid);

/*
 * These functions return the element after `last`; if `last` is NULL, the first element. After the last
 * element, they return NULL. A loop that removes elements must fetch the next element before it removes one.
 */
struct record_thread *record_thread_next(const struct record_thread *last);
struct record_process *record_process_next(const struct record_process *last);
size_t record_threads(void);

/*
 * Returns whether /proc is mounted and shows the process ids of our PID namespace. If not, the names and
 * context switches of processes and the files of descriptors are unknown, and processes that already run
 * cannot be found.
 */
bool record_proc_is_usable(void);
/* Returns the id of our PID namespace; 0 if it is unknown. */
uint64_t record_proc_namespace(void);
/*
 * record_proc_process() returns the process of a thread, record_proc_parent() the parent of a process. These
 * functions return 0 if the thread or process has ended. For threads of traced processes,
 * record_proc_process() does not need /proc.
 */
pid_t record_proc_process(pid_t tid);
pid_t record_proc_parent(pid_t pid);
/* Returns the effective user id of a thread; -1 if the thread has ended. */
uid_t record_proc_user(pid_t tid);
/*
 * Returns whether PR_SET_NO_NEW_PRIVS is set for the thread, so that it cannot gain privileges by execve().
 */
bool record_proc_gains_nothing(pid_t tid);
/* Reads the current name of a process; "" if it has ended. */
void record_proc_name(pid_t pid, char *name, size_t room);
/* Returns the letter of a thread's state, as in ps(1); 0 if it has ended. */
char record_proc_state(pid_t tid);
/* Returns the kernel's count of a thread's voluntary context switches; 0 if it is unknown. */
uint64_t record_proc_switches(pid_t tid);
/*
 * Reads for each signal how the process handles it: 0 is the default, 1 means ignored, and
 * KTRX_PROC_HANDLER_UNKNOWN means a handler, whose address is unknown.
 */
void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS]);

/*
 * The tracing loop. A thread stops at each system call, at each signal, when it creates a thread or a
 * process, and at exec. At each stop, content.c makes records, and the thread is then resumed. Threads are
 * attached with PTRACE_SEIZE and without PTRACE_O_EXITKILL: if the recorder ends, the programs continue.
 */

/*
 * Attaches to all threads of a process. Does nothing if the process is already traced. The process takes a
 * reference to the sink. Returns 0 or a positive errno.
 */
int record_attach(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/*
 * Attaches to a child process that will execute the command. The child executes the command only after the
 * call of record_tracer_run(). Returns 0 or a positive errno.
 */
int record_attach_child(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/*
 * Detaches from a process: interrupts each of its threads. A thread is detached when it stops, and then
 * continues untraced.
 */
void record_detach(struct record_process *process);
/* Removes the threads that are to be detached but will never stop again. Must be called from time to time. */
void record_drop_ended(void);

/* Returns whether all traced threads are to be detached. */
bool record_all_detaching(void);
/*
 * Removes all threads from the table, but does not detach from them. Requires: the recorder exits right after
 * this call.
 */
void record_drop_all(void);

/*
 * Runs the tracing loop until nothing is traced any more. Calls serve() when a signal has interrupted the
 * wait for a stop. Also calls serve() after each stop, because while threads are busy, there is no wait that
 * a signal could interrupt. `command` is the command's process id, or 0 if there is no command. When the
 * command has ended, *status is set to its status, as from wait().
 */
void record_tracer_run(void (*serve)(void), pid_t command, int *status);

/* Returns how many processes were detached because they executed a program that gives them other rights. */
unsigned record_became_privileged(void);

/*
 * Returns how many reads of programs' memory the kernel has refused, for example of a process that is not
 * dumpable.
 */
unsigned long record_memory_denied(void);
/* Returns how many lookups of descriptors the kernel has refused. */
unsigned long record_descriptors_denied(void);

/*
 * Returns how many threads could not be recorded because memory ran out. The first thread of a new process
 * counts, too.
 */
unsigned record_without_memory(void);

/* Recording of page faults (faults.c). */

/*
 * Finds out whether perf_event_open() can report page faults. Returns 0 if it can, otherwise a positive
 * errno.
 */
int record_faults_allowed(void);
/*
 * Records the thread's page faults up to now. Then starts or ends the recording of the thread's page faults
 * if the facilities of its process require this. Requires: the thread is stopped.
 */
void record_faults_update(struct record_thread *thread);
/*
 * Records the page faults of all threads up to now. Must be called often enough that the threads' rings do
 * not overflow.
 */
void record_faults_drain_all(void);
/* Ends the recording of the thread's page faults. */
void record_faults_end(struct record_thread *thread);
/* Returns true if the thread's last recorded page fault has begun, but has not been resolved. */
bool record_faults_begun(const struct record_thread *thread);
/*
 * Returns the number of threads whose page faults could not be recorded. Sets *error to the errno of the last
 * such failure.
 */
unsigned record_faults_missed(int *error);

/*
 * Functions that record system calls. These functions are called when a thread stops at the beginning or at
 * the return of a call.
 */

/* What the thread's current call creates, if it is fork(), clone() or a similar call. */
enum record_created { RECORD_CREATES_NOTHING, RECORD_CREATES_THREAD, RECORD_CREATES_PROCESS };

enum record_created record_created_by_call(const struct record_thread *thread);

/* Records the beginning or the return of a call. Returns true at the beginning of an exec. */
bool record_handle_call(struct record_thread *thread);

/*
 * Starts a recording of a new command or of running processes, and handles the signals that the recorder
 * gets.
 */

struct record_plan {
	const char *path; /* path of the trace file */
	bool append;
	uint32_t facilities; /* set of record types, as bits 1 << KTRX_PROC_* */
	bool inherit;
	bool descend; /* true: also record all descendants of the targets */
	pid_t pid;    /* id of the process to record; 0: none */
	pid_t group;  /* id of the process group to record; 0: none */
};

/* The result of recording, which the caller reports at the end. */
struct record_outcome {
	const char *what; /* name of what failed: a path, "fork", …; NULL: nothing failed */
	int error;	  /* errno that states why it failed */
	int status;	  /* status of the command, as from wait(); -1 if the command has not ended */
};

/*
 * Runs a command, and records it until all recorded processes have ended. Returns 0, or a positive errno
 * with outcome->what set.
 */
int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome);

/*
 * Starts a new process that attaches to the plan's targets and records them in the background. Returns when
 * all targets are attached: 0, or a positive errno with outcome->what set.
 */
int record_targets(const struct record_plan *plan, struct record_outcome *outcome);

/*
 * Records what a stopped thread does. The records go to the sink of the thread's process, if the process's
 * facilities include their type.
 */

#define RECORD_FACILITY(type) (UINT32_C(1) << (type))
#define RECORD_ALL	      UINT32_C(0xfffe)
/*
 * The facility for page faults that the kernel resolves. If it is not set, only page faults that cause a
 * signal are recorded, by the facility of KTRX_PROC_FAULT.
 */
#define RECORD_PAGES (UINT32_C(1) << 16)
#define RECORD_LIVES (RECORD_FACILITY(KTRX_PROC_PROCCTOR) | RECORD_FACILITY(KTRX_PROC_PROCDTOR))

/*
 * Adds a PROCCTOR record: the process is new in the trace, or executes a new program. `how` is one of
 * KTRX_PROC_CTOR_*.
 */
void record_put_new_process(struct record_thread *thread, uint32_t how);
/* Adds a PROCDTOR record: the process has ended, with this status, as from wait(). */
void record_put_exit(struct record_thread *thread, int status);

/*
 * Adds a record of a thread, if the process's facilities include its type. The payload is in one or two
 * parts.
 */
void record_put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size);

/*
 * The time and CPU of an event, and the number of records that were lost before the event. Used for a record
 * that is added later than its event.
 */
struct record_moment {
	uint64_t stamp;
	uint32_t cpu, lost;
};

void record_put_earlier(const struct record_thread *thread, uint32_t type, const struct record_moment *moment,
			const void *data, size_t size);

/* Adds a NAMEI record for each path to which an argument of the thread's current call points. */
void record_put_paths(struct record_thread *thread, const struct calls_call *call);
/*
 * Adds STRUCT and STRUCT_ARRAY records for the memory that arguments point to. `access` selects the
 * arguments: CALLS_GIVEN for those whose memory the program has filled in, CALLS_FILLED for those whose
 * memory the kernel has filled in.
 */
void record_put_arguments(struct record_thread *thread, unsigned access, int64_t result);
/*
 * Adds records for the parts of the struct msghdr at address `at`: the socket's address, the array of struct
 * iovec and the control messages. `argument` is the number of the argument that points to the struct. If
 * `received` is true, the control messages may contain new descriptors, which are looked up.
 */
void record_put_message(struct record_thread *thread, unsigned argument, uint64_t at, bool received);

/*
 * Adds a STRUCT record with the signal mask that rt_sigreturn() has restored. The record has the same form as
 * if the mask was an argument of the call.
 */
void record_put_mask(struct record_thread *thread);

/*
 * Closes the thread's open directory of descriptors, if there is one. Requires: the thread has ended, or will
 * get another id next.
 */
void record_descriptors_end(struct record_thread *thread);
/*
 * Adds an FD record for each argument of the call that is a descriptor, unless the trace has an up-to-date
 * record of that descriptor.
 */
void record_put_descriptors(struct record_thread *thread, const struct calls_call *call);
/* Adds an FD record for one descriptor, unless the trace has an up-to-date record of this descriptor. */
void record_put_descriptor(struct record_thread *thread, int32_t fd);
/* Adds an FD record for a descriptor that the kernel has just created. */
void record_descriptor_is_new(struct record_thread *thread, int32_t fd);
/*
 * Marks the descriptors from `first` to `last`, both included, as unknown, because these descriptors may
 * refer to other files now.
 */
void record_forget_descriptors(struct record_process *process, uint64_t first, uint64_t last);
/* Marks all descriptors and the current directory as unknown. */
void record_forget_all_descriptors(struct record_process *process);

/* Records the beginning of the thread's current call. */
void record_put_enter(struct record_thread *thread);
/* Records the return of the thread's current call with this result. `error` is 0 or a positive errno. */
void record_put_leave(struct record_thread *thread, int32_t error, int64_t result);

/* Adds a STRUCT record with the origin of the signal, if it is known, and then a PSIG record. */
void record_put_signal(struct record_thread *thread, int signal, const siginfo_t *info, uint64_t mask);
/*
 * Adds a CSW record if the thread has waited for something other than the recorder since its last stop. Must
 * be called at each stop.
 */
void record_put_switches(struct record_thread *thread);
/*
 * Adds a USER record with `size` bytes at this address of the program's memory. Used for utrace(). Returns 0
 * or a positive errno.
 */
int record_put_user(struct record_thread *thread, uint64_t address, uint64_t size);

/*
 * Functions that change, during recording, what is recorded. Traced programs request such changes with
 * ktrace(). Other processes of `ktrace record` request them with -c and -C, through a socket: each recorder
 * has a socket, in a directory of its user.
 */

/* Selects the processes to which a request applies. */
enum record_whose {
	RECORD_WHOSE_ALL,
	RECORD_WHOSE_PROCESS,
	RECORD_WHOSE_GROUP,
	/* all processes that are recorded into the file with these values of `device` and `inode` */
	RECORD_WHOSE_FILE,
};

struct record_request {
	enum record_whose whose;
	/* facilities to remove; a process that keeps at most PROCCTOR and PROCDTOR is no longer traced */
	uint32_t facilities;
	int descend;	    /* the request also applies to descendants of the processes */
	pid_t pid;	    /* id of the process or of the group */
	uint64_t namespace; /* PID namespace to which `pid` belongs, from record_proc_namespace() */
	uint64_t device, inode;
};

/*
 * Executes ktrace() for a thread. `path` is the address of the file's path in the program's memory. Returns 0
 * or a positive errno.
 */
int record_control_ktrace(struct record_thread *thread, uint64_t path, uint32_t operation,
			  uint32_t facilities, pid_t pid);

/*
 * Opens the socket through which this recorder receives requests. record_control_close() closes it. Returns 0
 * or a positive errno.
 */
int record_control_open(void);
/* Executes and answers the requests that have arrived at the socket. */
void record_control_serve(void);
void record_control_close(void);

/*
 * Sends the request to all recorders of this user. Returns the number of processes to which the recorders
 * have applied it, or a negative errno.
 */
int record_control_ask_all(const struct record_request *request);

#endif
