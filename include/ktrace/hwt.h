/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: which instructions ran, as recorded by trace units in the CPUs (ktrace/hwt_backend.h). For
 * kernels on processors with such a unit, and, with the unit in software, for any kernel under QEMU. Compile
 * KTRACE_HWT_SOURCES of kernel/ktrace.mk in addition. ktrx/hwt.h describes the format.
 *
 * A context traces one target: CPUs in kernel mode (CPU mode), or the threads of one process in user mode
 * (thread mode). It belongs to an owner, usually a process; when the owner ends, its contexts end.
 *
 *	1. ktrace_hwt_alloc()     the owner requests a target and a backend; the kernel provides buffers, and
 *	                          the call returns an ident
 *	2. ktrace_hwt_configure() ranges, packets, pauses at exec and mmap
 *	3. ktrace_hwt_start()     CPU mode: the CPUs trace from here on; thread mode: threads trace when
 *	                          they are switched in
 *	4. hooks                  enable and disable units, and queue records of mappings, new threads and
 *	                          names
 *	5. ktrace_hwt_records(), ktrace_hwt_position(), ktrace_hwt_wakeup(), ktrace_hwt_service()
 *	6. ktrace_hwt_stop(), ktrace_hwt_release()
 *
 * Records have the format of a process trace, and can be written to a file as they are: those of a context
 * begin with a file head (struct ktrx_proc_head). They wait in a queue, in memory that the kernel provides.
 * If it is full, hooks that may sleep wait for room, at most for the timeout of a pause; after a timeout they
 * do not wait again until the owner has taken records. If records are lost nevertheless, the member `lost` of
 * the next record contains their number. If no hook makes another record, the library makes a record only for
 * this number.
 *
 * Locks: the library takes the kernel's spinlock and table lock through callbacks, as in ktrace/proc.h. It
 * holds neither when it calls a function that may sleep.
 * Context: if a function may sleep, its comment states this. All others may be called with interrupts
 * disabled, but not in an NMI.
 * Errors are negative enum ktrace_error. Comments name them without the prefix KTRACE_ERROR_.
 */
#ifndef KTRACE_HWT_H
#define KTRACE_HWT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_backend.h"
#include "ktrace/proc.h"

KTRACE_BEGIN_C

/*
 * If this is 0, the hooks below generate no code, no context can be made, and KTRACE_HWT_SOURCES need not be
 * compiled. Use the same value for every file.
 */
#ifndef KTRACE_HWT_HOOKS
#define KTRACE_HWT_HOOKS 1
#endif

/* maximum number of records that one call of ktrace_hwt_records() returns */
#define KTRACE_HWT_RECORD_MAX 1024u
/* maximum size of a buffer in bytes; the size must be a multiple of a page, at least one page */
#define KTRACE_HWT_BUFFER_MAX  (KTRX_U64(32) << 30)
#define KTRACE_HWT_QUEUE_MIN   8192u /* minimum size of a context's queue of records, in bytes */
#define KTRACE_HWT_BACKEND_MAX 8u    /* maximum size in bytes of a backend's name, with the NUL */

struct ktrace_hwt_context;

/* A member of the kernel's process structure. Requires: all zero in a new process. */
struct ktrace_hwt_process {
	struct ktrace_hwt_context *context;
	uint32_t ended; /* nonzero: ktrace_hwt_exit() was called for the process */
};

/* A member of the kernel's thread structure. Requires: all zero in a new thread, except `tid`. */
struct ktrace_hwt_thread {
	struct ktrace_hwt_unit *unit; /* unit that traces the thread; NULL: the thread is not traced */
	/* thread number in records; set by the kernel before next_thread() returns the thread */
	uint32_t tid;
	uint32_t ended; /* nonzero: ktrace_hwt_thread_exit() was called for the thread */
};

/* An owner of contexts: a member of the kernel's open file or process structure. */
struct ktrace_hwt_owner {
	struct ktrace_hwt_context *first;
};

/* ---- Callbacks of the kernel ------------------------------------------------------------------- */

/* Callbacks of the kernel. Requires: the structure stays valid as long as the kernel. */
struct ktrace_hwt_kernel {
	uint32_t size; /* sizeof(struct ktrace_hwt_kernel) */
	uint32_t cpus; /* number of CPUs; they are numbered 0 to cpus - 1 */
	/* Locks as in struct ktrace_proc_kernel. */
	unsigned long (*lock)(void);
	void (*unlock)(unsigned long saved);
	unsigned long (*table_lock)(void);
	void (*table_unlock)(unsigned long saved);
	/* Returns the live process with that number, or NULL. Table locked. */
	struct ktrace_hwt_process *(*process)(uint32_t pid);
	/*
	 * Iterates over the threads of a process: returns the thread after `last`, the first thread if `last`
	 * is NULL, or NULL at the end. Table locked.
	 */
	struct ktrace_hwt_thread *(*next_thread)(struct ktrace_hwt_process *process,
						 struct ktrace_hwt_thread *last);
	void (*identity)(const struct ktrace_hwt_process *process, struct ktrace_proc_identity *identity);
	/*
	 * Returns the address space of a process: the value of the CPU's register while the process runs; 0:
	 * unknown. Table locked.
	 */
	uint64_t (*space)(const struct ktrace_hwt_process *process);
	/*
	 * Describes the n-th executable mapping of a process: first the program, then the later mappings of
	 * the process, including its libraries. If `process` is NULL: the kernel, then its modules.
	 * Copies the path, NUL-terminated. Returns KTRX_HWT_EXECUTABLE, _MMAP or _KERNEL; 0 if there are no
	 * more.
	 * This list must contain a mapping before ktrace_hwt_mmap() is called for the mapping, and must no
	 * longer contain it when ktrace_hwt_munmap() is called. The library calls this for n = 0, 1, … with
	 * the table locked during all of these calls. NULL: the kernel does not know its mappings.
	 */
	uint32_t (*image)(const struct ktrace_hwt_process *process, uint32_t n, struct ktrx_hwt_image *image,
			  char *path, size_t room);
	/* Provides zeroed memory for a unit's buffer. Returns KTRACE_OK or MEMORY. May sleep. */
	int (*buffer_alloc)(struct ktrace_hwt_buffer *buffer, uint64_t size);
	void (*buffer_free)(struct ktrace_hwt_buffer *buffer);
	/* Allocates zeroed memory, aligned to 16. Returns NULL if there is none. May sleep. */
	void *(*alloc)(size_t size);
	void (*free)(void *memory, size_t size);
	/*
	 * Copies records to the destination of ktrace_hwt_records(), which may be a program's memory. Returns
	 * 0, or nonzero if the destination is not writable. NULL: the destination is kernel memory. May
	 * sleep, but must not wait for another program: the traced program may be waiting.
	 */
	int (*copy_out)(void *to, const void *from, size_t size);
	/*
	 * Calls `function` on that CPU with interrupts disabled, and waits until it returns. The CPU may be
	 * the running CPU. Returns KTRACE_OK, or DEVICE if there is no such CPU. May sleep.
	 */
	int (*on_cpu)(uint32_t cpu, void (*function)(void *argument), void *argument);
	/*
	 * Sleeps while *word equals `seen`, at most `timeout_ns` ns (UINT64_MAX: no timeout). May return
	 * before that for any reason: the caller compares again. As with a futex, a wake() between the
	 * comparison and the sleep must also wake the thread.
	 * Returns nonzero if the thread must stop waiting, for example because it is about to be ended.
	 */
	int (*sleep)(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns);
	/*
	 * Wakes all threads that sleep on that word, which has changed. May be called in any context, except
	 * in the hooks of the context switch.
	 */
	void (*wake)(const volatile uint32_t *word);
	uint64_t (*now_ns)(void); /* returns the current time in ns, for timeouts */
	uint32_t (*cpu)(void);	  /* returns the number of the running CPU; called with interrupts disabled */
};

/*
 * Sets the callbacks of the kernel.
 * Returns KTRACE_OK, or ARGUMENT (a callback is missing), STATE (called before).
 * Requires: called before all other functions of this header, except hooks.
 */
int ktrace_hwt_init(const struct ktrace_hwt_kernel *kernel);

/*
 * Registers a backend and probes its hardware. The backend belongs to the library until ktrace_hwt_remove().
 * Returns KTRACE_OK, or DEVICE: the hardware is absent (backend->why states what is missing), and the backend
 * is not registered. Thread context.
 */
int ktrace_hwt_add(struct ktrace_hwt_backend *backend);
/*
 * Unregisters a backend.
 * Returns KTRACE_OK, or BUSY (a context uses it), ARGUMENT (it is not registered). Thread context.
 */
int ktrace_hwt_remove(struct ktrace_hwt_backend *backend);
/*
 * Iterates over the registered backends, in the order of their registration: returns the backend after
 * `last`, the first backend if `last` is NULL, or NULL at the end.
 */
struct ktrace_hwt_backend *ktrace_hwt_next_backend(struct ktrace_hwt_backend *last);
/*
 * Prints the registers of a backend on a CPU, for a person to read: calls `print` for each.
 * Returns KTRACE_OK, or DEVICE (no such CPU, or the backend has nothing to print). May sleep.
 */
int ktrace_hwt_dump(struct ktrace_hwt_backend *backend, uint32_t cpu,
		    void (*print)(void *to, const char *name, uint64_t value), void *to);

/* ---- Requests of the owner of a context -------------------------------------------------------- */

struct ktrace_hwt_request {
	uint32_t size; /* sizeof(struct ktrace_hwt_request) */
	uint32_t mode; /* enum ktrx_hwt_mode */
	/* name of the backend; "": the first backend that supports the mode */
	char backend[KTRACE_HWT_BACKEND_MAX];
	uint32_t pid; /* thread mode: number of the process */
	uint32_t reserved;
	uint64_t cpus[KTRACE_HWT_CPUS_MAX / 64]; /* CPU mode: the CPUs to trace: bit n for CPU n */
	uint64_t buffer_size;			 /* size in bytes of the buffer of each unit */
	uint64_t queue_size;			 /* size in bytes of the queue of records; 0: 65536 */
};

/* Cases in which threads of the target pause. An argument of ktrace_hwt_configure(). */
struct ktrace_hwt_pausing {
	uint32_t pauses;     /* KTRACE_HWT_PAUSE_* */
	uint32_t timeout_ms; /* time in ms after which a paused thread continues by itself; 0: 1000 */
};
#define KTRACE_HWT_PAUSE_EXEC 1u
#define KTRACE_HWT_PAUSE_MMAP 2u

/*
 * Creates a context for the running process, and stores its number in *ident. In thread mode the caller needs
 * the permission to trace the target that ktrace_proc_control() requires; in CPU mode it must be the
 * superuser and in no jail.
 * Returns KTRACE_OK, or:
 * ARGUMENT: a wrong size, mode, set of CPUs or buffer size.
 * DEVICE: no such backend, or no such CPU.
 * NO_PROCESS: there is no such process.
 * PERMISSION: the caller may not trace the target.
 * EXIST: the target has a context already; or the backend has a context of the other mode, or a context for
 * one of these CPUs.
 * MEMORY: no memory.
 * STATE: ktrace_hwt_init() was not called.
 * LEFT_OUT: KTRACE_HWT_HOOKS is 0, so no hook would ever report the target.
 * May sleep.
 */
int ktrace_hwt_alloc(struct ktrace_hwt_owner *owner, struct ktrace_hwt_process *caller,
		     const struct ktrace_hwt_request *request, uint32_t *ident);

/*
 * ktrace_hwt_get() returns the context with that number and takes a reference, or returns NULL.
 * ktrace_hwt_put() releases the reference; it may sleep.
 */
struct ktrace_hwt_context *ktrace_hwt_get(uint32_t ident);
void ktrace_hwt_put(struct ktrace_hwt_context *context);

/*
 * Configures a context. If `config` has more ranges than the backend supports, the excess ranges are left
 * out, and their number is stored in *left_out. If no level is set, thread mode traces user code, and CPU
 * mode traces kernel code. `pausing` may be NULL: no pauses.
 * Returns KTRACE_OK, or STATE (the context is started), ARGUMENT (the backend does not support it, or kernel
 * code of a process was requested). May sleep.
 */
int ktrace_hwt_configure(struct ktrace_hwt_context *context, const struct ktrace_hwt_config *config,
			 const struct ktrace_hwt_pausing *pausing, uint32_t *left_out);
/*
 * Starts tracing. Returns KTRACE_OK, or STATE (already started), NO_PROCESS (the target has ended). May
 * sleep.
 */
int ktrace_hwt_start(struct ktrace_hwt_context *context);
/*
 * Stops tracing. On return no CPU traces for this context. Returns KTRACE_OK, or STATE (not started). May
 * sleep.
 */
int ktrace_hwt_stop(struct ktrace_hwt_context *context);

/*
 * Takes whole records out of the queue and copies them to `to` with copy_out(): at most `most` (1 to
 * KTRACE_HWT_RECORD_MAX), and as many as fit into `room` bytes. The first call also copies the file head
 * before them, which counts as one record. Waits up to `timeout_ns` for the first record (0: does not wait).
 * Sets *count to the number of records. Returns their size in bytes, 0 after a timeout, or:
 * ARGUMENT: the first record does not fit. 2048 bytes are enough for any record.
 * FAULT: copy_out() failed; all records stay in the queue.
 * NO_PROCESS: the target has ended, and no record is left in the queue.
 * STATE: the context has ended.
 * May sleep.
 */
int64_t ktrace_hwt_records(struct ktrace_hwt_context *context, void *to, size_t room, uint32_t most,
			   uint64_t timeout_ns, uint32_t *count);

struct ktrace_hwt_place {
	uint32_t unit;
	uint32_t tid;
	/*
	 * number of bytes written since the unit was made; the buffer holds the newest buffer.size of these
	 * bytes
	 */
	uint64_t position;
	uint64_t wraps; /* number of times that writing started again at the beginning of the buffer */
	uint64_t lost;
	uint32_t enabled; /* nonzero: the unit is enabled */
	uint32_t full;
};
/*
 * Sets *place to the position at which a unit writes now. Returns KTRACE_OK, or ARGUMENT (no such unit).
 * May sleep.
 */
int ktrace_hwt_position(struct ktrace_hwt_context *context, uint32_t unit, struct ktrace_hwt_place *place);
/*
 * Releases each thread that pauses in exec or mmap, if ktrace_hwt_records() has returned the record of that
 * exec or mmap. When that record is returned, the thread has already paused, or its timeout has passed.
 * Returns KTRACE_OK, or STATE (no thread is to be released).
 */
int ktrace_hwt_wakeup(struct ktrace_hwt_context *context);
/*
 * Reports that the reader has taken the bytes up to `position` of a unit's buffer.
 * Returns KTRACE_OK, or ARGUMENT (no such unit, or fewer bytes were written), STATE (the context has ended).
 * May sleep.
 */
int ktrace_hwt_service(struct ktrace_hwt_context *context, uint32_t unit, uint64_t position);
/*
 * Returns the buffer of a unit, for mapping it read-only; NULL: no such unit. The buffer stays valid while
 * the caller has a reference to the context.
 */
const struct ktrace_hwt_buffer *ktrace_hwt_unit_buffer(struct ktrace_hwt_context *context, uint32_t unit);

/*
 * End one context, or all contexts of an owner: stop them, release paused threads, and free the buffers when
 * the last reference is released. May sleep.
 */
void ktrace_hwt_release(struct ktrace_hwt_context *context);
void ktrace_hwt_owner_exit(struct ktrace_hwt_owner *owner);

/* Handles the trace unit's interrupt on this CPU. Returns nonzero if the interrupt was caused by the unit. */
int ktrace_hwt_interrupt(void);

/* ---- Hooks that the kernel calls --------------------------------------------------------------- */

/* Functions that the hooks below call. Do not call these functions directly. */
void ktrace_hwt_do_switch_in(struct ktrace_hwt_thread *thread);
void ktrace_hwt_do_switch_out(struct ktrace_hwt_thread *thread);
void ktrace_hwt_do_thread_create(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread);
void ktrace_hwt_do_thread_name(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			       const char *name);
void ktrace_hwt_do_thread_exit(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread);
void ktrace_hwt_do_exec(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread, uint64_t base,
			const char *path, int gains);
void ktrace_hwt_do_mmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			const struct ktrx_hwt_image *image, const char *path);
void ktrace_hwt_do_munmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			  uint64_t address, uint64_t size);
void ktrace_hwt_do_exit(struct ktrace_hwt_process *process);

/*
 * Report that the thread is about to run on this CPU, or has just stopped running on it.
 * Requires: called in the context switch, with interrupts disabled. No other CPU can run the thread before
 * the hook has returned.
 */
KTRACE_INLINE void ktrace_hwt_switch_in(struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&thread->unit != NULL))
		ktrace_hwt_do_switch_in(thread);
}
KTRACE_INLINE void ktrace_hwt_switch_out(struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&thread->unit != NULL))
		ktrace_hwt_do_switch_out(thread);
}

/*
 * Reports a new thread. Requires: the callback next_thread() already returns the thread, and the thread
 * does not run yet. May sleep, because it asks the kernel for a trace buffer for the thread.
 */
KTRACE_INLINE void ktrace_hwt_thread_create(struct ktrace_hwt_process *process,
					    struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_thread_create(process, thread);
}
/*
 * Reports that the running thread, or a thread that does not run yet, has this name from now on. May sleep.
 */
KTRACE_INLINE void ktrace_hwt_thread_name(struct ktrace_hwt_process *process,
					  struct ktrace_hwt_thread *thread, const char *name)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_thread_name(process, thread, name);
}
/*
 * Reports that the running thread ends. Call this and ktrace_hwt_exit() in every process, traced or not. May
 * sleep.
 */
KTRACE_INLINE void ktrace_hwt_thread_exit(struct ktrace_hwt_process *process,
					  struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS)
		ktrace_hwt_do_thread_exit(process, thread);
}

/*
 * Reports that the running process now runs another program. `base`: the number to add to the addresses in
 * the program's headers. `gains` as in ktrace_proc_exec(): if it is nonzero, the process stays traced only if
 * the superuser traces it. May sleep: a thread pauses here if KTRACE_HWT_PAUSE_EXEC is set.
 * Requires: called before the program's first instruction.
 */
KTRACE_INLINE void ktrace_hwt_exec(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
				   uint64_t base, const char *path, int gains)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_exec(process, thread, base, path, gains);
}
/*
 * ktrace_hwt_mmap() reports that the process has mapped a file with permission to execute it, and
 * ktrace_hwt_munmap() that it has unmapped memory. May sleep.
 */
KTRACE_INLINE void ktrace_hwt_mmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
				   const struct ktrx_hwt_image *image, const char *path)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_mmap(process, thread, image, path);
}
KTRACE_INLINE void ktrace_hwt_munmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
				     uint64_t address, uint64_t size)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_munmap(process, thread, address, size);
}
/*
 * Reports the end of the process. The context of the process stays for readers until its owner ends the
 * context. May sleep. Requires: called by the last thread.
 */
KTRACE_INLINE void ktrace_hwt_exit(struct ktrace_hwt_process *process)
{
	if (KTRACE_HWT_HOOKS)
		ktrace_hwt_do_exit(process);
}

KTRACE_END_C

#endif
