/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Process traces: ktrace(2) for a kernel with processes. Records of what a process requests from the kernel
 * (system calls, paths, signals, ...) are written to a file. ktrx/proc.h describes the format. Compile
 * KTRACE_PROC_SOURCES of kernel/ktrace.mk in addition.
 *
 * A sink collects records in memory that the kernel provides, and writes them to a file from time to time.
 * Any number of processes may share a sink. Each process has a struct ktrace_proc, and each thread a struct
 * ktrace_proc_thread; both start as all zero, which means "not traced". Hooks report what happens; in a
 * process that is not traced, a hook is a load and a branch.
 *
 *	sink = ktrace_proc_sink_find(file); // ktrace(2): does a sink write to that file already?
 *	if (!sink)
 *		error = ktrace_proc_sink_open(sink = …, &config, thread);
 *	…
 *	error = ktrace_proc_control(&self->trace, thread, operation, facilities, pid, sink);
 *	ktrace_proc_sink_release(sink, thread); // traced processes have references of their own
 *
 * Lock order, outermost first: the sink's lock (a sleeping lock; struct ktrace_proc_sink_operations), the
 * process table lock, the library's spinlock (`lock`; both are callbacks in struct ktrace_proc_kernel). The
 * library takes these locks itself. It never holds the table lock or the spinlock when it calls a function
 * that sleeps.
 *
 * Context: if a function may sleep, its comment states this. Requires then: called by a thread that holds
 * no spinlock, and no lock that the sink's write() or the kernel's copy_in() takes. All other functions may
 * be called with interrupts disabled and with locks held, including those of the process table and the
 * scheduler, but not in an NMI. Their records have the flag KTRX_PROC_QUEUED.
 *
 * While a thread works for a trace (for example, writes a sink's file), its hooks record nothing. Functions
 * that may sleep have the running thread as an argument for that purpose. It may be NULL for a kernel thread,
 * except in hooks.
 *
 * Errors are negative enum ktrace_error. A system call maps them: ARGUMENT to EINVAL, NO_PROCESS to ESRCH,
 * PERMISSION to EPERM, FAULT to EFAULT, MEMORY to ENOMEM, DEVICE to EIO, BUSY to EAGAIN, LOST to ENOSPC,
 * STATE to ENOSYS. The kernel checks before the call whether the caller may write to that kind of file.
 */
#ifndef KTRACE_PROC_H
#define KTRACE_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/proc.h"
#include "ktrace/control.h"

KTRACE_BEGIN_C

/*
 * Facilities: what is recorded of a process, a bit for each type of record from KTRX_PROC_SYSCALL to
 * KTRX_PROC_STRUCT_ARRAY.
 */
#define KTRACE_PROC_FACILITY(type) (KTRX_U32(1) << (type))
#define KTRACE_PROC_ALL		   KTRX_U32(0xfffe)	/* all types of records */
#define KTRACE_PROC_INHERIT	   KTRX_U32(0x40000000) /* children of the process are traced as well */
/* the superuser started the trace: the trace continues when the process becomes privileged */
#define KTRACE_PROC_ROOT KTRX_U32(0x80000000)

/* Operations of ktrace_proc_control(). */
#define KTRACE_PROC_SET	      0u
#define KTRACE_PROC_CLEAR     1u
#define KTRACE_PROC_CLEARFILE 2u
/* flag: ktrace_proc_control() applies to all descendants of the process as well */
#define KTRACE_PROC_DESCEND 4u

/*
 * Maximum size of the names of processes and structures, with the NUL, and of wait channels, without a NUL.
 * Longer names of structures and wait channels are cut.
 */
#define KTRACE_PROC_NAME_MAX 32u

/*
 * Maximum size of the names, paths and data in a record. Longer data is cut, and the record has the flag
 * KTRX_PROC_CUT.
 */
#define KTRACE_PROC_DATA_MAX 4096u

struct ktrace_proc_sink;

/*
 * A member of the kernel's process structure. Requires: all zero in a new process, also if its structure is
 * reused.
 */
struct ktrace_proc {
	uint16_t abi; /* ABI for the process's SYSCALL records, set by the kernel; 0: the kernel's own */
	/* Private to the library: */
	uint8_t named; /* nonzero: the sink already has a record with the current name of the process */
	uint8_t ended; /* nonzero: ktrace_proc_exit() was called for the process */
	uint32_t pid;  /* pid of the process, valid while it is traced */
	uint32_t facilities;
	struct ktrace_proc_sink *sink;
};

/* A member of the kernel's thread structure. Requires: all zero in a new thread. */
struct ktrace_proc_thread {
	uint32_t busy; /* nonzero: the thread works for a trace, so its hooks record nothing */
	uint32_t call; /* number of the thread's current system call, plus 1; 0: unknown */
};

/* The ids of a process, for checks of permission. */
struct ktrace_proc_identity {
	uint32_t pid;
	uint32_t group; /* id of the process group */
	uint32_t ruid, euid, svuid;
	uint32_t rgid, egid, svgid;
	/*
	 * number of the jail whose processes this process can see; 0: it is in no jail and can see all
	 * processes
	 */
	uint32_t jail;
	/* nonzero: the ids were changed, by a set-id program or by the process itself */
	uint32_t set_id;
};

/* ---- Callbacks of the kernel ------------------------------------------------------------------- */

/* Callbacks of the kernel. Requires: the structure stays valid as long as the kernel. */
struct ktrace_proc_kernel {
	uint32_t size; /* sizeof(struct ktrace_proc_kernel) */
	/*
	 * Take and release the library's spinlock, with interrupts disabled. It is held for some hundred
	 * instructions, twice for each record. lock() returns what unlock() needs. Requires: the lock fires
	 * no events and calls no hooks.
	 */
	unsigned long (*lock)(void);
	void (*unlock)(unsigned long saved);
	/*
	 * Take and release the lock of the process table. While it is held, the processes that next() returns
	 * and their identities do not change. Must not sleep.
	 */
	unsigned long (*table_lock)(void);
	void (*table_unlock)(unsigned long saved);
	/*
	 * Iterates over all live processes: returns the process after `last`, the first process if `last` is
	 * NULL, or NULL at the end. Table locked.
	 */
	struct ktrace_proc *(*next)(struct ktrace_proc *last);
	/* Returns the parent of a process, NULL for the first process. Table locked. */
	struct ktrace_proc *(*parent)(struct ktrace_proc *process);
	/* Fills in the ids of a process. Table locked. */
	void (*identity)(const struct ktrace_proc *process, struct ktrace_proc_identity *identity);
	/*
	 * Copies the current name of a process, NUL-terminated. Called with the spinlock held, in the context
	 * of any hook, so it must take no lock.
	 */
	void (*name)(const struct ktrace_proc *process, char *name, size_t room);
	/*
	 * Copies from the memory of the running process. Returns 0, or a negative value if that memory is not
	 * readable; must not cause a fault. May sleep.
	 */
	int (*copy_in)(void *to, uintptr_t from, size_t size);
	/*
	 * Converts a timestamp to Unix time in ns, for the formats of other systems. Spinlock held. NULL: the
	 * library computes it from the time given to ktrace_init(), or, if none was given, as if the clock
	 * had started at time 0.
	 */
	uint64_t (*wall_ns)(uint64_t stamp);
	/*
	 * Contents of the TABLE records, see spec/ktrx-proc.md. Must stay valid as long as the kernel runs.
	 * NULL: none.
	 */
	const char *table;
};

/*
 * Sets the callbacks of the kernel.
 * Returns KTRACE_OK, or ARGUMENT (a callback is missing), STATE (called before).
 * Requires: called before all other functions of this header, except hooks.
 */
int ktrace_proc_init(const struct ktrace_proc_kernel *kernel);

/* ---- Sinks: trace files and their buffers ------------------------------------------------------ */

/*
 * Callbacks of a sink. All of them may sleep; they are called with neither the table lock nor the spinlock
 * held.
 */
struct ktrace_proc_sink_operations {
	/*
	 * Appends to the file; the running thread may belong to any process. Returns the number of bytes
	 * written, which may be fewer than `size`, or a negative error number of the kernel. Sink locked.
	 */
	int64_t (*write)(struct ktrace_proc_sink *sink, const void *data, size_t size);
	/*
	 * Removes the last `bytes` bytes of the file. Returns 0 or a negative value. NULL if the sink
	 * cannot truncate the file. Called with the sink locked.
	 */
	int (*truncate)(struct ktrace_proc_sink *sink, uint64_t bytes);
	void (*lock)(struct ktrace_proc_sink *sink);
	void (*unlock)(struct ktrace_proc_sink *sink);
	/*
	 * Called when the sink has ended and its last reference is released: the sink's memory belongs to the
	 * kernel again. Called in the thread that released that reference. NULL: nothing to do.
	 */
	void (*close)(struct ktrace_proc_sink *sink);
};

enum ktrace_proc_format {
	KTRACE_PROC_FORMAT_KTRX = 0, /* the format of ktrx/proc.h */
	/* DragonFly's format for amd64; records that have no equivalent in that format are not written */
	KTRACE_PROC_FORMAT_DRAGONFLY = 1,
};

/* What the library does if the file cannot be written. */
enum ktrace_proc_on_error {
	/*
	 * The sink ends: no process is traced into it any more. A record that was partly written is removed
	 * from the file, if possible.
	 */
	KTRACE_PROC_STOP = 0,
	/*
	 * The records that wait in the buffer are kept, and writing is tried again. New records are lost and
	 * counted until the file can be written.
	 */
	KTRACE_PROC_RETRY = 1,
};

struct ktrace_proc_sink_config {
	uint32_t size;	   /* sizeof(struct ktrace_proc_sink_config) */
	uint32_t format;   /* enum ktrace_proc_format */
	uint32_t on_error; /* enum ktrace_proc_on_error */
	/*
	 * maximum number of data bytes in a GENIO record, up to KTRACE_PROC_DATA_MAX; 0: KTRACE_PROC_DATA_MAX
	 */
	uint32_t data_max;
	uint64_t limit; /* maximum size of the file in bytes; 0: no limit */
	/*
	 * When a system call returns, the waiting records are written to the file if they have at least this
	 * many bytes. 0: they are always written.
	 */
	size_t drain_at;
	/* the memory for the records, aligned to 8 bytes; belongs to the library until close() */
	void *buffer;
	/*
	 * size of the buffer in bytes, at least KTRACE_PROC_BUFFER_MIN; recommended: at least twice drain_at
	 */
	size_t buffer_size;
	const struct ktrace_proc_sink_operations *operations;
	void *file; /* identifies the file for ktrace_proc_sink_find(); a file has at most one sink */
};

/* Minimum size of a sink's buffer: room for copying data, and for some records of the maximum size. */
#define KTRACE_PROC_BUFFER_MIN 32768u

/* State of a sink. */
enum ktrace_proc_sink_state {
	KTRACE_PROC_SINK_OPENING = 0,
	KTRACE_PROC_SINK_OPEN = 1,
	KTRACE_PROC_SINK_ENDED = 2,
	KTRACE_PROC_SINK_CLOSED = 3
};

/*
 * A sink. The kernel provides the memory of this structure, and may embed it in its own structure. The
 * members up to `error` may be read: while the sink is open they can be slightly out of date; from close() on
 * they are final.
 */
struct ktrace_proc_sink {
	void *file;
	/* number of records that were written or wait to be written, not counting the END record */
	uint64_t records;
	uint64_t lost;	 /* number of lost records, in total */
	uint64_t bytes;	 /* number of bytes written to the file */
	uint32_t state;	 /* enum ktrace_proc_sink_state */
	uint32_t reason; /* KTRX_PROC_ENDED_*; valid when the sink has ended */
	/*
	 * error number of the last write() that failed, positive, as the kernel numbers errors; 0: no write()
	 * failed, or the failed write() returned no error number
	 */
	int32_t error;

	/*
	 * Private to the library. The spinlock protects these members, unless their comment names the sink's
	 * lock.
	 */
	uint32_t references;
	uint32_t lost_now; /* number of records lost since the last record */
	uint32_t format;
	uint32_t on_error;
	uint32_t data_max;
	uint32_t size; /* size of ring[] in bytes */
	uint32_t drain_at;
	uint32_t head; /* offset in the ring at which the next record begins */
	uint32_t tail; /* offset in the ring of the oldest record that waits */
	/* offset at which the last record before the end of the ring ends; valid only if tail > head */
	uint32_t wrap;
	/*
	 * number of bytes of the oldest waiting record that are already in the file; protected by the sink's
	 * lock
	 */
	uint32_t torn;
	uint32_t end_recorded; /* nonzero: the end of the sink was recorded; protected by the sink's lock */
	uint32_t cleared;      /* nonzero: the sink has ended, and no process is traced into it any more */
	uint64_t room; /* number of bytes that may still be written until the file has its maximum size */
	uint8_t *ring;
	/*
	 * buffer of KTRACE_PROC_DATA_MAX bytes for data before it is copied into the ring; protected by the
	 * sink's lock
	 */
	uint8_t *copy;
	const struct ktrace_proc_sink_operations *operations;
	struct ktrace_proc_sink *next;	    /* next in the list of all sinks */
	struct ktrace_proc_sink *next_idle; /* next in the list of sinks to be closed */
};

/*
 * Opens a sink and writes its head and TABLE records. The caller gets the only reference. May sleep.
 * Returns KTRACE_OK, or:
 * ARGUMENT: a member of the configuration is out of range.
 * MEMORY: the buffer is too small.
 * STATE: ktrace_proc_init() was not called.
 * BUSY: a sink for this file is being opened or closed: try again.
 * DEVICE: the file could not be written; sink->error has the kernel's error number.
 * After an error the file is unchanged if it can be truncated. Sink and buffer belong to the kernel; close()
 * is not called.
 */
int ktrace_proc_sink_open(struct ktrace_proc_sink *sink, const struct ktrace_proc_sink_config *config,
			  struct ktrace_proc_thread *thread);

/*
 * Returns the open sink of a file and takes a reference for the caller. Returns NULL if there is none. Any
 * context.
 */
struct ktrace_proc_sink *ktrace_proc_sink_find(const void *file);

/* Releases a reference. The last release writes the records that wait and closes the sink. May sleep. */
void ktrace_proc_sink_release(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread);

/*
 * Writes the records that wait in all sinks. Call it before power off, and from time to time in a thread, so
 * that a reader that follows a file sees recent records. May sleep.
 */
void ktrace_proc_flush(struct ktrace_proc_thread *thread);

/* ---- ktrace(2), utrace(2) ---------------------------------------------------------------------- */

/*
 * Starts, changes or ends the tracing of processes. `operation`:
 *
 *   SET        adds facilities; the sink replaces the previous sink of each process
 *   CLEAR      removes facilities; a process without any is not traced any more. `sink` is ignored
 *   CLEARFILE  ends all tracing into the sink, of any process; facilities and pid are ignored. If sink is
 *              NULL, there is nothing to do
 *
 * pid: a process, or, if negative, all processes of a group. Only processes that the caller may trace are
 * changed. The caller's jail must be able to see the process. In addition, the caller's effective uid must be
 * 0, or all of these conditions must be true:
 * - the caller's effective uid equals the process's real uid and saved uid
 * - the caller's real gid equals the process's real gid and saved gid
 * - the process has not changed its ids
 * - the superuser did not start the process's trace
 *
 * Returns KTRACE_OK, or:
 * ARGUMENT: unknown operation, no facility, or SET without a sink.
 * STATE: ktrace_proc_init() was not called.
 * NO_PROCESS: there is no such process or group.
 * PERMISSION: the caller may trace none of them; for CLEARFILE: not all of them.
 * DEVICE: the sink has ended.
 * May sleep.
 */
int ktrace_proc_control(struct ktrace_proc *caller, struct ktrace_proc_thread *thread, uint32_t operation,
			uint32_t facilities, int64_t pid, struct ktrace_proc_sink *sink);

/*
 * Records data that the program passed to utrace(2): `size` bytes at an address in its memory.
 * Returns KTRACE_OK (also if USER is not traced), or:
 * ARGUMENT: more than KTRX_PROC_USER_MAX bytes, whether traced or not.
 * FAULT: the memory is not readable.
 * LOST: no room for the record.
 * May sleep.
 */
int ktrace_proc_user(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uintptr_t address,
		     size_t size);

/* ---- Fork, exec and exit ----------------------------------------------------------------------- */

/*
 * Reports a new child process with pid `pid`, whose first thread is `thread`. The child is traced if the
 * parent's facilities include INHERIT.
 * Requires: called by the parent, when the child has its name but does not run yet; under the lock of the
 * process table, together with the child's insertion into the table, so that a concurrent
 * ktrace_proc_control() cannot miss the child.
 */
void ktrace_proc_fork(struct ktrace_proc *parent, struct ktrace_proc *child, uint32_t pid, uint32_t thread);

/*
 * Reports that the process now runs another program, and already has its new name. `gains`: nonzero if the
 * program has rights that the caller of exec does not have (set-id, or executable but not readable). The
 * trace then continues only if the superuser started it.
 * Requires: called before the program runs and before the process is visible with its new rights. May sleep.
 */
void ktrace_proc_exec(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int gains);

/*
 * Reports the end of the process. `status` is the exit status, or, if `signaled` is nonzero, the signal that
 * ended it. From here on the process cannot be traced.
 * Requires: called by its last thread. May sleep.
 */
void ktrace_proc_exit(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t status,
		      int signaled);

/* Reports that the name of the process has changed. */
void ktrace_proc_renamed(struct ktrace_proc *process);

/* ---- Hooks that make records ------------------------------------------------------------------- */

/*
 * Returns nonzero if any of these facilities is traced. Call it before doing work that is needed only for a
 * record.
 */
KTRACE_INLINE int ktrace_proc_wants(const struct ktrace_proc *process, uint32_t facilities)
{
	return KTRACE_UNLIKELY((*(const volatile uint32_t *)&process->facilities & facilities) != 0);
}

/* Functions that the hooks below call. Do not call these functions directly. */
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
 * The hooks. `process` and `thread` are the running process and its running thread. Pointers are addresses
 * of kernel memory; addresses in the program's memory are of type uintptr_t.
 */

/*
 * Reports that a system call begins: its number and arguments, of which at most KTRX_PROC_ARGS_MAX are
 * recorded. May sleep.
 */
KTRACE_INLINE void ktrace_proc_syscall(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				       uint32_t number, uint32_t args, const uint64_t *arg)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_SYSCALL) |
					       KTRACE_PROC_FACILITY(KTRX_PROC_CAPFAIL)))
		ktrace_proc_record_syscall(process, thread, number, args, arg);
}

/*
 * Reports that a system call returns. `error`: 0, or a positive error number. Also writes waiting records to
 * the file (drain_at), even if system calls are not traced, so call it at the end of every system call. May
 * sleep.
 */
KTRACE_INLINE void ktrace_proc_sysret(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      uint32_t number, int32_t error, int64_t result)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_ALL))
		ktrace_proc_record_sysret(process, thread, number, error, result);
}

/*
 * Writes waiting records to the file before a trap other than a system call returns to the program; records
 * nothing. Without this hook, a program that faults and makes no system calls would fill the buffer. May
 * sleep.
 */
KTRACE_INLINE void ktrace_proc_trap_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_ALL))
		ktrace_proc_write_waiting(process, thread);
}

/* Reports that a path is looked up. `path`: the path as the program passed it. May sleep. */
KTRACE_INLINE void ktrace_proc_namei(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     const char *path, size_t length)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_NAMEI)))
		ktrace_proc_record_path(process, thread, KTRX_PROC_NAMEI, path, length);
}

/* Reports that a sysctl setting of this name is read or written. May sleep. */
KTRACE_INLINE void ktrace_proc_sysctl(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      const char *name, size_t length)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_SYSCTL)))
		ktrace_proc_record_path(process, thread, KTRX_PROC_SYSCTL, name, length);
}

/*
 * Reports that `size` bytes were read from a descriptor into the program's memory at `address`, or written
 * from there. Call it once for each transfer, after it. May sleep.
 */
KTRACE_INLINE void ktrace_proc_genio(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     int32_t fd, int write, uintptr_t address, uint64_t size)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_GENIO)))
		ktrace_proc_record_genio(process, thread, fd, write, address, size);
}

/*
 * Reports that a signal is delivered: its number, why it was sent (`code`), the address of the handler (0:
 * default action), and the mask of blocked signals in two words (bit n - 1 for signal n). May sleep.
 */
KTRACE_INLINE void ktrace_proc_psig(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				    uint32_t signal, int32_t code, uint64_t handler, const uint64_t *mask)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PSIG)))
		ktrace_proc_record_psig(process, thread, signal, code, handler, mask);
}

/*
 * Reports that the thread leaves its CPU (`out` nonzero) or runs again. `voluntary`: nonzero if it waits;
 * `what` is the name of what it waits for (NULL: unknown).
 * Requires: called in the context switch, by that thread.
 */
KTRACE_INLINE void ktrace_proc_csw(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int out,
				   int voluntary, const char *what)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_CSW)))
		ktrace_proc_record_csw(process, thread, out, voluntary, what);
}

/*
 * Reports a structure that is copied into or out of the kernel. `name` is the name in a line "struct" of the
 * TABLE records. May sleep.
 */
KTRACE_INLINE void ktrace_proc_struct(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      const char *name, const void *data, size_t size)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_STRUCT)))
		ktrace_proc_record_struct(process, thread, name, data, size);
}

/*
 * Reports an array of structures that is copied into or out of the kernel. Elements that do not fit into a
 * record are left out as a whole. May sleep.
 */
KTRACE_INLINE void ktrace_proc_struct_array(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					    const char *name, const void *data, uint32_t element_size,
					    uint32_t count)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_STRUCT_ARRAY)))
		ktrace_proc_record_array(process, thread, name, data, element_size, count);
}

/*
 * Reports that something is denied: the reason (KTRX_PROC_DENIED_*), the rights that are needed and those
 * that are held, and what is denied (a path; NULL: nothing).
 */
KTRACE_INLINE void ktrace_proc_denied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				      uint32_t reason, uint64_t needed, uint64_t held, const char *what)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_CAPFAIL)))
		ktrace_proc_record_denied(process, thread, reason, needed, held, what);
}

/*
 * Reports a page fault. `access`: 1 read, 2 write, 4 execute, 0 unknown. `user`: nonzero if the program
 * itself caused it.
 */
KTRACE_INLINE void ktrace_proc_fault(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				     uint64_t address, uint32_t access, int user)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_FAULT)))
		ktrace_proc_record_fault(process, thread, address, access, user);
}

/* Reports the end of a page fault. `result`: 0, or the positive error number. */
KTRACE_INLINE void ktrace_proc_fault_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
					 int32_t result)
{
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_FAULTEND)))
		ktrace_proc_record_fault_end(process, thread, result);
}

KTRACE_END_C

#endif
