/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Process traces: what a process asks of the kernel, record by record into a file, as ktrace(2) does it. The
 * bytes: ktrx/proc.h. For kernels with processes; compile KTRACE_PROC_SOURCES of kernel/ktrace.mk on top.
 *
 * A sink is where records go: memory lent by the kernel, in which they are composed, and a file behind it,
 * into which they are written from time to time. Any number of processes may share one. Each process has a
 * struct ktrace_proc, each thread a struct ktrace_proc_thread, all zero from the start: not traced. Hooks
 * stand where things happen; in a process that is not traced each is a load and a branch.
 *
 *	sink = ktrace_proc_sink_find(file); // ktrace(2): somebody traces into that file already
 *	if (!sink)
 *		error = ktrace_proc_sink_open(sink = …, &config, thread);
 *	…
 *	error = ktrace_proc_control(&self->trace, thread, operation, facilities, pid, sink);
 *	ktrace_proc_sink_release(sink, thread); // those who are traced keep it
 *
 * Locks, from the outside in: a sink's own lock (one that sleeps; sink operations), the process table's
 * (kernel callbacks), the library's short lock (kernel callbacks). The library asks for each itself and never
 * holds a short one where it calls a function that sleeps.
 *
 * Where a function may sleep it says so. It must then be called by a thread that holds no spinlock, and no
 * lock that the sink's write() or the kernel's copy_in() takes. All others may be called with interrupts off
 * and locks held, those of the process table and of the scheduler, too; not by an NMI. What they record is
 * flagged KTRX_PROC_QUEUED.
 *
 * While a thread is at work for a trace (it writes a sink's file, say) its hooks record nothing. Functions
 * that may sleep are told the running thread for that; one of the kernel's own may be NULL where it is not a
 * hook's.
 *
 * Errors are negative enum ktrace_error. For a system call: ARGUMENT is EINVAL, NO_PROCESS ESRCH, PERMISSION
 * EPERM, FAULT EFAULT, MEMORY ENOMEM, DEVICE EIO, BUSY EAGAIN, LOST ENOSPC, STATE ENOSYS. What kind of file
 * may be written to, and by whom, the kernel decides before.
 */
#ifndef KTRACE_PROC_H
#define KTRACE_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/proc.h"
#include "ktrace/control.h"

KTRACE_BEGIN_C

/* What is recorded of a process: a bit for each type of record, KTRX_PROC_SYSCALL to _STRUCT_ARRAY. */
#define KTRACE_PROC_FACILITY(type) (UINT32_C(1) << (type))
#define KTRACE_PROC_ALL		   UINT32_C(0xfffe)	/* every type there is */
#define KTRACE_PROC_INHERIT	   UINT32_C(0x40000000) /* its children are traced, too */
/* set by the superuser: stays when it becomes privileged */
#define KTRACE_PROC_ROOT UINT32_C(0x80000000)

/* Operations of ktrace_proc_control(). */
#define KTRACE_PROC_SET	      0u
#define KTRACE_PROC_CLEAR     1u
#define KTRACE_PROC_CLEARFILE 2u
#define KTRACE_PROC_DESCEND   4u /* and all its descendants */

/* Room for names of processes, structures and what is waited for, with the NUL; longer ones are cut. */
#define KTRACE_PROC_NAME_MAX 32u

/* No record carries more bytes of names, paths and data; what is longer is cut, and flagged so. */
#define KTRACE_PROC_DATA_MAX 4096u

struct ktrace_proc_sink;

/* In the kernel's process; zero when one is made, also one that takes the place of another. */
struct ktrace_proc {
	uint16_t abi; /* the kernel's: goes into its SYSCALL records; 0: its own */
	/* The library's own. */
	uint8_t named; /* the sink knows its name as it is now */
	uint8_t ended; /* ktrace_proc_exit() was called */
	uint32_t pid;  /* while traced */
	uint32_t facilities;
	struct ktrace_proc_sink *sink;
};

/* In the kernel's thread. */
struct ktrace_proc_thread {
	uint32_t busy; /* it works for a trace: nothing of it is recorded */
	uint32_t call; /* number of the call it is in, plus 1; 0: none is known */
};

/* Who a process is, for permissions. */
struct ktrace_proc_identity {
	uint32_t pid;
	uint32_t group; /* of processes */
	uint32_t ruid, euid, svuid;
	uint32_t rgid, egid, svgid;
	uint32_t jail; /* it sees nothing of other jails; 0: it is in none and sees all */
	/*
	 * nonzero: its ids have changed, by set-id programs or by itself, since it last was a plain program
	 */
	uint32_t set_id;
};

/* ---- The kernel around it ---------------------------------------------------------------------- */

/* What the library asks of the kernel. Lives as long as the kernel. */
struct ktrace_proc_kernel {
	uint32_t size; /* sizeof(struct ktrace_proc_kernel) */
	/*
	 * The short lock: keeps everybody else out for some hundred instructions, interrupts off. Twice a
	 * record, so without events or hooks of its own. lock() returns what unlock() needs to know.
	 */
	unsigned long (*lock)(void);
	void (*unlock)(unsigned long saved);
	/*
	 * The process table's: while it is locked, what next() shows stays, and nobody's identity changes.
	 * Must not sleep.
	 */
	unsigned long (*table_lock)(void);
	void (*table_unlock)(unsigned long saved);
	/* All processes that are alive, from NULL to NULL; table locked. */
	struct ktrace_proc *(*next)(struct ktrace_proc *last);
	/* NULL for the first process; table locked. */
	struct ktrace_proc *(*parent)(struct ktrace_proc *process);
	/* Table locked. */
	void (*identity)(const struct ktrace_proc *process, struct ktrace_proc_identity *identity);
	/* Copies its name as of now, NUL-terminated. Short lock held, any hook's context: takes no lock. */
	void (*name)(const struct ktrace_proc *process, char *name, size_t room);
	/*
	 * Copies from the running process's memory: 0, or negative where it cannot be read; must not fault.
	 * May sleep.
	 */
	int (*copy_in)(void *to, uintptr_t from, size_t size);
	/*
	 * Unix time in ns of a stamp, for foreign formats. Short lock held. NULL: from the anchor given to
	 * ktrace_init(); else the time since the clock began.
	 */
	uint64_t (*wall_ns)(uint64_t stamp);
	/* What TABLE records say, see spec/ktrx-proc.md; kept for ever. NULL: none. */
	const char *table;
};

/* Once, before any other function here but hooks. ARGUMENT: a callback is missing; STATE: called before. */
int ktrace_proc_init(const struct ktrace_proc_kernel *kernel);

/* ---- Sinks ------------------------------------------------------------------------------------- */

/* All of them may sleep, and are called with neither the table nor the short lock held. */
struct ktrace_proc_sink_operations {
	/*
	 * Appends to the file, whoever runs. Returns how many bytes, fewer if it must be, or a negative error
	 * number of the kernel. Sink locked.
	 */
	int64_t (*write)(struct ktrace_proc_sink *sink, const void *data, size_t size);
	/* Takes the file's last so many bytes away again: 0 or negative. NULL: it cannot. Sink locked. */
	int (*truncate)(struct ktrace_proc_sink *sink, uint64_t bytes);
	void (*lock)(struct ktrace_proc_sink *sink);
	void (*unlock)(struct ktrace_proc_sink *sink);
	/*
	 * It has ended and nobody refers to it any more: its memory is the kernel's again. By whoever was the
	 * last. NULL: nothing to do.
	 */
	void (*close)(struct ktrace_proc_sink *sink);
};

enum ktrace_proc_format {
	KTRACE_PROC_FORMAT_KTRX = 0,	  /* ktrx/proc.h */
	KTRACE_PROC_FORMAT_DRAGONFLY = 1, /* of amd64; what it has no record for is not recorded */
};

/* When the file cannot be written. */
enum ktrace_proc_on_error {
	/*
	 * Nobody is traced into it any more. A record that was written in part is taken away again, if that
	 * can be done.
	 */
	KTRACE_PROC_STOP = 0,
	/* What waits goes on waiting, the rest is lost and counted until there is room in the file again. */
	KTRACE_PROC_RETRY = 1,
};

struct ktrace_proc_sink_config {
	uint32_t size;	    /* sizeof(struct ktrace_proc_sink_config) */
	uint32_t format;    /* enum ktrace_proc_format */
	uint32_t on_error;  /* enum ktrace_proc_on_error */
	uint32_t data_max;  /* most bytes of data in a GENIO record, to KTRACE_PROC_DATA_MAX; 0: that many */
	uint64_t limit;	    /* most bytes that are written; 0: no limit */
	size_t drain_at;    /* bytes that wait before a return from a system call writes them; 0: any */
	void *buffer;	    /* aligned to 8; the library's until close() */
	size_t buffer_size; /* at least KTRACE_PROC_BUFFER_MIN; twice drain_at and more is well */
	const struct ktrace_proc_sink_operations *operations;
	void *file; /* the kernel's own, one sink each: tells ktrace_proc_sink_find() which file it is */
};

/* Room to copy data in, and for some records of the greatest length. */
#define KTRACE_PROC_BUFFER_MIN 32768u

/* What became of it; `reason` as in struct ktrx_proc_end. */
enum ktrace_proc_sink_state {
	KTRACE_PROC_SINK_OPENING = 0,
	KTRACE_PROC_SINK_OPEN = 1,
	KTRACE_PROC_SINK_ENDED = 2,
	KTRACE_PROC_SINK_CLOSED = 3
};

/*
 * Lent by the kernel, which may put it into a structure of its own. The first part is for reading: a moment
 * old while the sink is open, final in close() and as long as the kernel keeps it.
 */
struct ktrace_proc_sink {
	void *file;
	uint64_t records; /* written, or waiting to be; END does not count */
	uint64_t lost;	  /* in all */
	uint64_t bytes;	  /* written */
	uint32_t state;	  /* enum ktrace_proc_sink_state */
	uint32_t reason;  /* KTRX_PROC_ENDED_*, once it has ended */
	/*
	 * positive, as the kernel numbers them: of the last write() that failed; 0: none did, or it gave none
	 */
	int32_t error;

	/* The library's own; under the short lock, but for what is said to be under the sink's. */
	uint32_t references;
	uint32_t lost_now; /* since the last record */
	uint32_t format;
	uint32_t on_error;
	uint32_t data_max;
	uint32_t size; /* of ring[] */
	uint32_t drain_at;
	uint32_t head;	  /* where the next record goes */
	uint32_t tail;	  /* the first one that waits */
	uint32_t wrap;	  /* tail > head: where the records at the ring's end stop */
	uint32_t torn;	  /* bytes of the first one that waits that are in the file; sink's lock */
	uint32_t told;	  /* that it has ended; sink's lock */
	uint32_t cleared; /* has ended, and nobody is traced into it any more */
	uint64_t room;	  /* bytes left to the limit */
	uint8_t *ring;
	uint8_t *copy; /* KTRACE_PROC_DATA_MAX bytes for data on its way into the ring; sink's lock */
	const struct ktrace_proc_sink_operations *operations;
	struct ktrace_proc_sink *next;	    /* of all */
	struct ktrace_proc_sink *next_idle; /* of those that wait to be closed */
};

/*
 * Starts a sink, with one reference: the caller's. Its head and TABLE are written. May sleep. Errors:
 * ARGUMENT, MEMORY (buffer too small), STATE (no ktrace_proc_init()), BUSY (the file has a sink that is just
 * being opened or closed: try again), DEVICE (it could not be written: sink->error says why). After an error
 * the file is as before if it can be truncated; sink and memory are the kernel's, without close().
 */
int ktrace_proc_sink_open(struct ktrace_proc_sink *sink, const struct ktrace_proc_sink_config *config,
			  struct ktrace_proc_thread *thread);

/* The open sink of a file, with a reference for the caller; NULL: there is none. Any context. */
struct ktrace_proc_sink *ktrace_proc_sink_find(const void *file);

/* Gives a reference up. The last one writes what waits and closes the sink. May sleep. */
void ktrace_proc_sink_release(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread);

/*
 * Writes what waits in all sinks: from time to time by a thread, for those who follow a file; before power
 * off. May sleep.
 */
void ktrace_proc_flush(struct ktrace_proc_thread *thread);

/* ---- ktrace(2), utrace(2) ---------------------------------------------------------------------- */

/*
 * Begins, changes or ends the tracing of others.
 *
 *   SET        adds facilities; the sink replaces the one that a process had
 *   CLEAR      takes facilities away; with the last one all of it ends. The sink is not looked at
 *   CLEARFILE  ends all tracing into the sink, whoever's; facilities and pid are not looked at. NULL: nothing
 *              is traced into it
 *
 * pid: a process, or, negative, all of a process group. The caller may trace a process that its jail sees if
 * its effective uid is 0; or if its effective uid is the other's real and saved one, its real gid the other's
 * real and saved one, the other's ids did not change and the superuser has not set its trace. Of several,
 * those that may be are.
 *
 * Errors: ARGUMENT (no such operation, no facility, SET without a sink), STATE (no ktrace_proc_init()),
 * NO_PROCESS, PERMISSION (none of them may be; for CLEARFILE: one of them may not be), DEVICE (the sink has
 * ended). May sleep.
 */
int ktrace_proc_control(struct ktrace_proc *caller, struct ktrace_proc_thread *thread, uint32_t operation,
			uint32_t facilities, int64_t pid, struct ktrace_proc_sink *sink);

/*
 * What the program itself has to say: size bytes at an address of it. ARGUMENT: more than KTRX_PROC_USER_MAX,
 * traced or not. FAULT: they cannot be read. LOST: there is no room for them. KTRACE_OK also where USER is
 * not traced. May sleep.
 */
int ktrace_proc_user(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uintptr_t address,
		     size_t size);

/* ---- Lives ------------------------------------------------------------------------------------- */

/*
 * A child has been made and named, and does not run yet; called by its parent with its pid and the number of
 * its first thread. Where it cannot be missed by a ktrace_proc_control() that is at work: under the table's
 * lock, in which it appears. Inherits what INHERIT says.
 */
void ktrace_proc_fork(struct ktrace_proc *parent, struct ktrace_proc *child, uint32_t pid, uint32_t thread);

/*
 * The process has become another program, under its new name. `gains`: nonzero if the program has rights that
 * who called it had not (set-id, a program that may be run but not read): it goes on being traced only if the
 * superuser wanted that. Before it runs and before it can be seen with its new rights. May sleep.
 */
void ktrace_proc_exec(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int gains);

/*
 * The process ends, by its last thread: status, or the signal that ended it with `signaled` nonzero. It is
 * not traced any more, by nobody. May sleep.
 */
void ktrace_proc_exit(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t status,
		      int signaled);

/* Its name has changed. */
void ktrace_proc_renamed(struct ktrace_proc *process);

/* ---- Records ----------------------------------------------------------------------------------- */

/* Is any of these facilities traced? For what must be worked out first. */
KTRACE_INLINE int ktrace_proc_wants(const struct ktrace_proc *process, uint32_t facilities)
{
	return KTRACE_UNLIKELY((*(const volatile uint32_t *)&process->facilities & facilities) != 0);
}

/* What the hooks below call; not by hand. */
void ktrace_proc_record_syscall(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				uint32_t number, uint32_t args, const uint64_t *arg);
void ktrace_proc_record_sysret(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       uint32_t number, int32_t error, int64_t result);
void ktrace_proc_write_waiting(struct ktrace_proc *process, struct ktrace_proc_thread *thread);
void ktrace_proc_record_path(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t type,
			     const char *path, size_t length);
void ktrace_proc_record_genio(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int32_t fd,
			      int write, uintptr_t address, uint64_t size);
void ktrace_proc_record_psig(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t signal,
			     int32_t code, uint64_t handler, const uint64_t *mask);
void ktrace_proc_record_csw(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int out,
			    int voluntary, const char *what);
void ktrace_proc_record_struct(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       const char *name, const void *data, size_t size);
void ktrace_proc_record_array(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			      const char *name, const void *data, uint32_t element_size, uint32_t count);
void ktrace_proc_record_denied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       uint32_t reason, uint64_t needed, uint64_t held, const char *what);
void ktrace_proc_record_fault(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			      uint64_t address, uint32_t access, int user);
void ktrace_proc_record_fault_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				  int32_t result);

/*
 * The hooks. `process` and `thread` are those that run. What pointers lead to is kernel memory, but for
 * addresses (uintptr_t).
 */

/* A system call begins: its number and arguments, of which at most KTRX_PROC_ARGS_MAX are kept. May sleep. */
KTRACE_INLINE void ktrace_proc_syscall(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				       uint32_t number, uint32_t args, const uint64_t *arg)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_SYSCALL) |
					       KTRACE_PROC_FACILITY(KTRX_PROC_CAPFAIL)))
		ktrace_proc_record_syscall(process, thread, number, args, arg);
}

/*
 * It returns: error 0, or positive. Here what waits is written (drain_at), whatever is traced, so it stands
 * on the way out of every call. May sleep.
 */
KTRACE_INLINE void ktrace_proc_sysret(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      uint32_t number, int32_t error, int64_t result)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_ALL))
		ktrace_proc_record_sysret(process, thread, number, error, result);
}

/*
 * A trap other than a call returns to the program: records nothing, but writes what waits, like a call's
 * return. A program that faults and makes no calls would fill the buffer. May sleep.
 */
KTRACE_INLINE void ktrace_proc_trap_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_ALL))
		ktrace_proc_write_waiting(process, thread);
}

/* A path is looked up, as the program gave it. May sleep. */
KTRACE_INLINE void ktrace_proc_namei(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     const char *path, size_t length)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_NAMEI)))
		ktrace_proc_record_path(process, thread, KTRX_PROC_NAMEI, path, length);
}

/* A setting of the kernel is read or written, by this name. May sleep. */
KTRACE_INLINE void ktrace_proc_sysctl(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      const char *name, size_t length)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_SYSCTL)))
		ktrace_proc_record_path(process, thread, KTRX_PROC_SYSCTL, name, length);
}

/*
 * So many bytes were read from a descriptor into, or written to it from, the program's memory at an address.
 * Once a transfer, behind it. May sleep.
 */
KTRACE_INLINE void ktrace_proc_genio(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     int32_t fd, int write, uintptr_t address, uint64_t size)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_GENIO)))
		ktrace_proc_record_genio(process, thread, fd, write, address, size);
}

/*
 * A signal is delivered: its number, why it was sent, the handler's address (0: default action), and the two
 * words of what is blocked (bit n - 1 for signal n). May sleep.
 */
KTRACE_INLINE void ktrace_proc_psig(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				    uint32_t signal, int32_t code, uint64_t handler, const uint64_t *mask)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PSIG)))
		ktrace_proc_record_psig(process, thread, signal, code, handler, mask);
}

/*
 * The thread leaves its CPU (out nonzero) or is back on one; voluntary: it waits for what has this name
 * (NULL: unknown). From the switch, by the thread that it is about.
 */
KTRACE_INLINE void ktrace_proc_csw(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int out,
				   int voluntary, const char *what)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_CSW)))
		ktrace_proc_record_csw(process, thread, out, voluntary, what);
}

/*
 * A structure that goes in or out of the kernel, with the name that a line "struct" of the table has. May
 * sleep.
 */
KTRACE_INLINE void ktrace_proc_struct(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      const char *name, const void *data, size_t size)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_STRUCT)))
		ktrace_proc_record_struct(process, thread, name, data, size);
}

/* Several of them in a row; those that do not fit are cut as a whole. May sleep. */
KTRACE_INLINE void ktrace_proc_struct_array(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					    const char *name, const void *data, uint32_t element_size,
					    uint32_t count)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_STRUCT_ARRAY)))
		ktrace_proc_record_array(process, thread, name, data, element_size, count);
}

/*
 * Something is denied: why (KTRX_PROC_DENIED_*), the rights that it takes and those that are there, and what
 * it is (a path; NULL: nothing).
 */
KTRACE_INLINE void ktrace_proc_denied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      uint32_t reason, uint64_t needed, uint64_t held, const char *what)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_CAPFAIL)))
		ktrace_proc_record_denied(process, thread, reason, needed, held, what);
}

/* A page fault: 1 read, 2 write, 4 execute, 0 unknown; user: nonzero if by the program itself. */
KTRACE_INLINE void ktrace_proc_fault(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     uint64_t address, uint32_t access, int user)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_FAULT)))
		ktrace_proc_record_fault(process, thread, address, access, user);
}

/* It is over: 0, or the error, positive. */
KTRACE_INLINE void ktrace_proc_fault_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					 int32_t result)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_FAULTEND)))
		ktrace_proc_record_fault_end(process, thread, result);
}

KTRACE_END_C

#endif
