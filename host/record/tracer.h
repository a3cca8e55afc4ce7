/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is traced, how it is traced, what is recorded of it, and how that is changed meanwhile. */
#ifndef RECORD_TRACER_H
#define RECORD_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktrx/proc.h"

struct calls_call;

/* What is traced: files that records go to, and the threads that are recorded into them. */

/*
 * A file that records go to (ktrx/proc.h). Counted: each process that is recorded into it has a reference.
 * What cannot be written any more is lost and counted, and why is told when it closes, in the file, too;
 * other sinks are not concerned.
 */

struct record_sink;

/* How a file is come by. None of them follows a link, and all want a regular file. */
enum record_sink_mode {
	RECORD_SINK_NEW,    /* made anew, 0600, in place of the one of that name */
	RECORD_SINK_APPEND, /* goes behind a trace that is the caller's own, or is made anew */
	/* goes behind what a file holds that is there; one that is a sink already is shared */
	RECORD_SINK_JOIN,
};

/*
 * 0 and a reference, or a positive errno: EACCES for what is no regular file, EPERM for somebody else's,
 * EINVAL for no trace.
 */
int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode);

struct record_sink *record_sink_hold(struct record_sink *sink);
/* The last reference closes it. NULL is nothing. */
void record_sink_release(struct record_sink *sink);

/* That of a file, without a reference; NULL: there is none. */
struct record_sink *record_sink_find(dev_t device, ino_t inode);

/* Bytes of a payload, of which the second part may be nothing. */
struct record_payload {
	const void *first;
	size_t first_size;
	const void *second;
	size_t second_size;
};

/*
 * Adds a record, stamped now. Of the head, type, flags, pid, tid and lost are the caller's; if its stamp is
 * not 0, stamp and CPU as well.
 */
void record_sink_put(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload);

/* So many records that there should be are lost. */
void record_sink_lose(struct record_sink *sink, uint64_t count);

/* Writes what waits in all of them: from time to time, for those who follow a file. */
void record_sink_flush_all(void);

/* What befell the sinks that have been closed, a line each; "" if nothing. */
const char *record_sink_troubles(void);

/* Who is traced: processes, and the threads by which ptrace(2) knows them. */

#define RECORD_SIGNALS 65  /* of Linux, from 1 */
#define RECORD_FDS     512 /* descriptors that are looked up once; others at each use */

struct record_process {
	struct record_process *next; /* in its chain */
	pid_t pid, parent;
	unsigned threads;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool leaving;			    /* all of its threads are, also those that are yet to be made */
	bool named;			    /* the sink knows its name */
	bool known_folder, told_folder;	    /* it also knows the current folder … */
	uint64_t known_fd[RECORD_FDS / 64]; /* … and what these descriptors lead to */
	uint64_t told_fd[RECORD_FDS / 64];  /* what it knows of these may be out of date */
	struct record_sink *sink;	    /* a reference; NULL: nothing is recorded */
	char name[32];
	uint64_t handler[RECORD_SIGNALS];
};

struct record_faults;

struct record_thread {
	struct record_thread *next; /* in its chain */
	pid_t tid;
	struct record_process *process;
	bool quiet;    /* ours, until it becomes the command */
	bool in_call;  /* argument and number are those of the call it is in */
	bool leaving;  /* to be let go at its next stop */
	bool own_call; /* the call is one that only we know */
	int64_t own_result;
	/* of the call: 0 for the machine's own; else the ELF machine whose call it is */
	uint32_t abi;
	uint64_t number, argument[6];
	unsigned options; /* of ptrace(2), as far as known */
	/* voluntary ones by the kernel's count, when last looked at; 0: not looked at yet */
	uint64_t switches;
	uint64_t stops;		      /* for us, since then: each is one of them */
	uint64_t waits;		      /* voluntary ones of its own since it was first looked at */
	struct record_faults *faults; /* NULL: its page faults are not recorded … */
	bool without_faults;	      /* … because they cannot be */
	bool has_folder;	      /* `folder` is that of its descriptors in /proc */
	int folder;
	unsigned look_ups; /* of descriptors, without it */
};

/* NULL: unknown. */
struct record_thread *record_thread_find(pid_t tid);
struct record_process *record_process_find(pid_t pid);

/* NULL: out of memory. A process that is new has no sink; a thread that is new counts for its process. */
struct record_process *record_process_add(pid_t pid, pid_t parent);
struct record_thread *record_thread_add(pid_t tid, struct record_process *process);
/* The process goes with its last thread, and with it its reference to a sink. */
void record_thread_remove(struct record_thread *thread);
/* One of its threads. */
struct record_thread *record_thread_of(const struct record_process *process);
/* One that has no thread. */
void record_process_remove(struct record_process *process);
/* After an exec by another thread than the first: it goes on under the process's number. */
void record_thread_renumber(struct record_thread *thread, pid_t tid);

/*
 * All of them, from NULL to NULL. The one that was returned may be removed before the next call where `next`
 * was taken first.
 */
struct record_thread *record_thread_next(const struct record_thread *last);
struct record_process *record_process_next(const struct record_process *last);
size_t record_threads(void);

/*
 * Is /proc mounted, and are the numbers in it those of our PID namespace? Without it, names, what descriptors
 * lead to and waits are unknown, and no running process can be found.
 */
bool record_proc_is_usable(void);
/* Which PID namespace is ours; 0 if that is unknown. */
uint64_t record_proc_namespace(void);
/* The process of a thread, and its parent; 0 if it is gone. Threads of known processes need no /proc. */
pid_t record_proc_process(pid_t tid);
pid_t record_proc_parent(pid_t pid);
/* The effective user of a thread; -1 if it is gone. */
uid_t record_proc_user(pid_t tid);
/* Has it given up that programs bring rights with them (PR_SET_NO_NEW_PRIVS)? */
bool record_proc_gains_nothing(pid_t tid);
/* Its name as it is now; "" if it is gone. */
void record_proc_name(pid_t pid, char *name, size_t room);
/* The letter of its state, as ps(1) shows it; 0 if it is gone. */
char record_proc_state(pid_t tid);
/* How often it has waited for something. */
uint64_t record_proc_switches(pid_t tid);
/* Handlers of signals, of which only that there is one can be known. */
void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS]);

/*
 * The loop: threads are stopped at each system call, signal, birth and exec, records are made of it
 * (content.c), and they go on. By ptrace(2), seized, without PTRACE_O_EXITKILL: whatever becomes of us, they
 * run on.
 */

/*
 * Attaches to all threads of a process that is not traced yet: 0 or a positive errno. The sink gets a
 * reference more.
 */
int record_attach(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/*
 * A program to be started: it is ours and waits, until record_tracer_run(), to become the command. 0 or a
 * positive errno.
 */
int record_attach_child(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/* Its threads go on untraced, each from its next stop on, to which it is brought. */
void record_let_go(struct record_process *process);
/* Drops the threads that will never come to that stop. To be called from time to time. */
void record_let_go_of_ended(void);

/* Are all that are traced on their way to that stop? */
bool record_all_leave(void);
/* They are ours no more, though the kernel does not know: for a recorder that ends right after it. */
void record_drop_all(void);

/*
 * Returns when nobody is traced any more. attend() is called behind each stop, and whenever a signal has
 * interrupted the wait: who is busy never lets it be interrupted. *status is that of `command`, as wait() has
 * it, if that has ended.
 */
void record_tracer_run(void (*attend)(void), pid_t command, int *status);

/* How many became privileged, and were let go for that. */
unsigned record_became_privileged(void);

/* How many reads of memory the kernel has refused: of a process that must not be dumped, to all but root. */
unsigned long record_memory_denied(void);
/* The same of what descriptors lead to. */
unsigned long record_descriptors_denied(void);

/* How many threads, of new processes too, were let go because there was no memory for them. */
unsigned record_without_memory(void);

/* Page faults (faults.c). */

/* 0, or the positive errno with which perf_event_open() refuses to report them. */
int record_faults_allowed(void);
/* At a stop: records what the thread has had, and begins or ends that as its process wants it. */
void record_faults_see(struct record_thread *thread);
/* Records what all threads have had, before their rings are full. */
void record_faults_see_all(void);
void record_faults_end(struct record_thread *thread);
/* Is a page fault recorded last of which no end is known? */
bool record_faults_begun(const struct record_thread *thread);
/* Threads whose page faults could not be recorded; *error: why, of the last one. */
unsigned record_faults_missed(int *error);

/* A thread that is stopped where a system call begins or returns. */

/* What the call makes that the thread is in. */
enum record_birth { RECORD_BIRTH_NONE, RECORD_BIRTH_THREAD, RECORD_BIRTH_PROCESS };

enum record_birth record_births_of_call(const struct record_thread *thread);

/* Records it. True where the call is an exec that begins. */
bool record_see_call(struct record_thread *thread);

/*
 * How recording begins: with a command, or with processes that are there; and the signals that concern us
 * meanwhile.
 */

struct record_plan {
	const char *path; /* of the file */
	bool append;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool descend; /* of targets, their descendants, too: of a group's as well */
	pid_t pid;    /* a target, 0: none */
	pid_t group;  /* all of that process group, 0: none */
};

/* What is to be told when it is over. */
struct record_outcome {
	const char *what; /* what failed: a path, "fork", …; NULL: nothing */
	int error;	  /* and why, an errno */
	int status;	  /* of the command, as wait() has it; -1 if it goes on */
};

/*
 * Runs a command and records it until all that is recorded has ended. 0, or a positive errno with
 * outcome->what.
 */
int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome);

/*
 * Attaches to the plan's targets in a process of its own, which goes on in the background; returns when all
 * are attached. 0, or a positive errno with outcome->what.
 */
int record_targets(const struct record_plan *plan, struct record_outcome *outcome);

/*
 * What happens to a thread that is stopped, as records into its process's sink, if that facility is traced.
 */

#define RECORD_FACILITY(type) (UINT32_C(1) << (type))
#define RECORD_ALL	      UINT32_C(0xfffe)
/* Page faults that the kernel resolves. The facility of faults alone means those that end in a signal. */
#define RECORD_PAGES (UINT32_C(1) << 16)
#define RECORD_LIVES (RECORD_FACILITY(KTRX_PROC_PROCCTOR) | RECORD_FACILITY(KTRX_PROC_PROCDTOR))

/* A process is new here: KTRX_PROC_CTOR_*. */
void record_put_born(struct record_thread *thread, uint32_t how);
void record_put_died(struct record_thread *thread, int status);

/* Any record of a thread, if its type is wanted. The payload may be in two parts. */
void record_put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size);

/* When and where something was that is recorded later, and how many records are lost before it. */
struct record_moment {
	uint64_t stamp;
	uint32_t cpu, lost;
};

void record_put_earlier(const struct record_thread *thread, uint32_t type, const struct record_moment *moment,
			const void *data, size_t size);

/* NAMEI for each path among the arguments of the call that the thread is in. */
void record_put_paths(struct record_thread *thread, const struct calls_call *call);
/* STRUCT, STRUCT_ARRAY for what the program has given (CALLS_GIVEN) or the kernel filled (CALLS_FILLED). */
void record_put_arguments(struct record_thread *thread, unsigned access, int64_t result);
/*
 * The same for the address, the pieces and the control messages of the struct msghdr at an address, to which
 * an argument leads. `received`: descriptors in it are new.
 */
void record_put_message(struct record_thread *thread, unsigned argument, uint64_t at, bool received);

/* STRUCT for the mask of signals that rt_sigreturn() has restored, as if it were an argument. */
void record_put_mask(struct record_thread *thread);

/* The thread ends, or gets another number: closes what was open for it. */
void record_descriptors_end(struct record_thread *thread);
/* FD for each descriptor among the arguments whose meaning the trace does not have yet. */
void record_put_descriptors(struct record_thread *thread, const struct calls_call *call);
/* FD for one descriptor, if the trace does not have its meaning yet. */
void record_put_descriptor(struct record_thread *thread, int32_t fd);
/* FD for a descriptor that the kernel has just made. */
void record_descriptor_is_new(struct record_thread *thread, int32_t fd);
/* These may lead to something else from here on. */
void record_forget_descriptors(struct record_process *process, uint64_t first, uint64_t last);
/* So may all of them, and the current folder. */
void record_forget_all_descriptors(struct record_process *process);

/* The call in the thread begins. */
void record_put_enter(struct record_thread *thread);
/* The call in the thread returns: error 0 or positive. */
void record_put_leave(struct record_thread *thread, int32_t error, int64_t result);

/* PSIG, after a STRUCT that says where the signal comes from. */
void record_put_signal(struct record_thread *thread, int signal, const siginfo_t *info, uint64_t mask);
/* At each stop: whether it has waited since the last one for something else than us. */
void record_put_switches(struct record_thread *thread);
/* utrace(): 0 or a positive errno. */
int record_put_user(struct record_thread *thread, uint64_t address, uint64_t size);

/*
 * Changes of what is recorded while it is: by the programs themselves, through ktrace(), and by other runs of
 * the command (-c, -C), through a socket that each recorder has in a folder of its user's.
 */

/* Whose tracing a request ends. */
enum record_whose {
	RECORD_WHOSE_ALL,
	RECORD_WHOSE_PROCESS,
	RECORD_WHOSE_GROUP,
	RECORD_WHOSE_FILE, /* into that file */
};

struct record_request {
	enum record_whose whose;
	uint32_t facilities; /* with the last one, all of it ends */
	int descend;	     /* and their descendants' */
	pid_t pid;	     /* of a process or a group */
	uint64_t namespace;  /* in which `pid` is its number: record_proc_namespace() */
	uint64_t device, inode;
};

/* A program's ktrace(): path is an address in it. 0 or a positive errno. */
int record_control_ktrace(struct record_thread *thread, uint64_t path, uint32_t operation,
			  uint32_t facilities, pid_t pid);

/* The socket, from here until record_control_close(). 0 or a positive errno. */
int record_control_open(void);
/* Answers who waits at it. */
void record_control_attend(void);
void record_control_close(void);

/* The same, by all recorders of this user's: how many processes, or a negative errno. */
int record_control_ask_all(const struct record_request *request);

#endif
