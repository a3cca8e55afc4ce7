/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: which instructions ran, as trace units in the CPUs (ktrace/hwt_backend.h) tell it. For
 * kernels on processors that have them, and, with the unit in software, on any under QEMU. Compile
 * KTRACE_HWT_SOURCES of kernel/ktrace.mk on top. The bytes: ktrx/hwt.h.
 *
 * A context traces one target: CPUs in kernel mode (CPU mode), or the threads of one process in user mode
 * (thread mode). It belongs to an owner, a process as a rule; when that dies, its contexts end.
 *
 *	1. ktrace_hwt_alloc()     the owner asks for a target and a backend; buffers are lent, an ident comes
 *	                          back
 *	2. ktrace_hwt_configure() ranges, packets, whether exec and mmap pause
 *	3. ktrace_hwt_start()     CPU mode: CPUs trace from here on; thread mode: threads do when they are
 *	                          switched in
 *	4. hooks                  switch units on and off, and queue records of what was mapped, made and
 *	                          named
 *	5. ktrace_hwt_records(), ktrace_hwt_position(), ktrace_hwt_wakeup(), ktrace_hwt_service()
 *	6. ktrace_hwt_stop(), ktrace_hwt_release()
 *
 * Records are those of a process trace, ready to be written to a file: what a context says begins with a
 * file's head (struct ktrx_proc_head). They wait in a queue that is lent; where it is full, hooks that may
 * sleep wait for room (the pause's timeout, and not again until somebody has read), and what is lost all the
 * same is counted in the `lost` of the next one. There always is a next one.
 *
 * Locks: the library takes the kernel's short lock and table lock through callbacks, as ktrace/proc.h has it,
 * and holds neither where it calls what may sleep. What may sleep says so; all else may be called with
 * interrupts off, not by an NMI.
 */
#ifndef KTRACE_HWT_H
#define KTRACE_HWT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_backend.h"
#include "ktrace/proc.h"

KTRACE_BEGIN_C

/*
 * 0, for all that is compiled: the hooks below are nothing at all, no context is made, and KTRACE_HWT_SOURCES
 * need not be compiled.
 */
#ifndef KTRACE_HWT_HOOKS
#define KTRACE_HWT_HOOKS 1
#endif

#define KTRACE_HWT_RECORD_MAX  1024u		    /* most records that one ktrace_hwt_records() returns */
#define KTRACE_HWT_BUFFER_MAX  (UINT64_C(32) << 30) /* bytes; at least a page, a multiple of it */
#define KTRACE_HWT_QUEUE_MIN   8192u		    /* bytes of a context's queue of records */
#define KTRACE_HWT_BACKEND_MAX 8u		    /* characters of a backend's name, with the NUL */

struct ktrace_hwt_context;

/* In the kernel's process, zero when one is made: not traced. */
struct ktrace_hwt_process {
	struct ktrace_hwt_context *context;
	uint32_t ended; /* ktrace_hwt_exit() was called */
};

/* In the kernel's thread; likewise. */
struct ktrace_hwt_thread {
	struct ktrace_hwt_unit *unit; /* NULL: not traced */
	uint32_t tid;	/* the kernel's: set before the thread can be found, as records have it */
	uint32_t ended; /* ktrace_hwt_thread_exit() was called */
};

/* Whoever traces: in the kernel's open file, or process. */
struct ktrace_hwt_owner {
	struct ktrace_hwt_context *first;
};

/* ---- The kernel around it ---------------------------------------------------------------------- */

/* What the library asks of the kernel. Lives as long as the kernel. */
struct ktrace_hwt_kernel {
	uint32_t size; /* sizeof(struct ktrace_hwt_kernel) */
	uint32_t cpus; /* numbered 0 to cpus - 1 */
	/* As in struct ktrace_proc_kernel. */
	unsigned long (*lock)(void);
	void (*unlock)(unsigned long saved);
	unsigned long (*table_lock)(void);
	void (*table_unlock)(unsigned long saved);
	/* Table locked. The process of that number that is alive, or NULL. */
	struct ktrace_hwt_process *(*process)(uint32_t pid);
	/* Table locked. Its threads, from NULL to NULL. */
	struct ktrace_hwt_thread *(*next_thread)(struct ktrace_hwt_process *process,
						 struct ktrace_hwt_thread *last);
	void (*identity)(const struct ktrace_hwt_process *process, struct ktrace_proc_identity *identity);
	/* Address space of a process, as the CPU's register has it. Table locked; 0: unknown. */
	uint64_t (*space)(const struct ktrace_hwt_process *process);
	/*
	 * Table locked, throughout from the first to the last. What a process has mapped so that it can be
	 * executed, n-th of it: the program itself first, then what it has mapped since, its libraries among
	 * that; of NULL: the kernel, then its modules. What ktrace_hwt_mmap() is called for is among it
	 * before that, what ktrace_hwt_munmap() is called for no more. Copies the path, NUL-terminated, and
	 * returns KTRX_HWT_EXECUTABLE, _MMAP or _KERNEL; 0: there are no more. NULL: the kernel cannot tell.
	 */
	uint32_t (*image)(const struct ktrace_hwt_process *process, uint32_t n, struct ktrx_hwt_image *image,
			  char *path, size_t room);
	/* Lends memory for a unit, zeroed, or MEMORY. May sleep. */
	int (*buffer_alloc)(struct ktrace_hwt_buffer *buffer, uint64_t size);
	void (*buffer_free)(struct ktrace_hwt_buffer *buffer);
	/* Lends memory that the library may write, zeroed, 16-aligned; NULL: none. May sleep. */
	void *(*alloc)(size_t size);
	void (*free)(void *memory, size_t size);
	/*
	 * Copies records to where ktrace_hwt_records() is to put them, which may be a program's memory.
	 * Nonzero: they cannot be written there. NULL: that is memory of the kernel's. May sleep, but for
	 * nothing that another program has to do: the target may be waiting.
	 */
	int (*copy_out)(void *to, const void *from, size_t size);
	/*
	 * Calls it on that CPU, interrupts off, and waits for it; on the running CPU, too. DEVICE: the CPU is
	 * not there. May sleep.
	 */
	int (*on_cpu)(uint32_t cpu, void (*function)(void *argument), void *argument);
	/*
	 * Sleeps while *word is what was seen, but no longer than so many ns; may return early. As a futex
	 * does: a wake() that comes after the word was looked at is not missed. Nonzero: the thread is to
	 * end, or to do something else, and must not wait any more. UINT64_MAX: without end, and nothing but
	 * wake() ends it; it will not take long.
	 */
	int (*sleep)(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns);
	/* All that sleep on that word, which has changed. Any context but the hooks of the switch. */
	void (*wake)(const volatile uint32_t *word);
	uint64_t (*now_ns)(void); /* for timeouts */
	uint32_t (*cpu)(void);	  /* the running one; interrupts off */
};

/* Once, before anything else here but hooks. ARGUMENT: a callback is missing; STATE: called before. */
int ktrace_hwt_init(const struct ktrace_hwt_kernel *kernel);

/*
 * Makes a backend known: looks for its hardware. DEVICE: it is not there (backend->why), and the backend is
 * not known. Thread context; the backend stays the library's.
 */
int ktrace_hwt_add(struct ktrace_hwt_backend *backend);
/* Takes it away again. BUSY: a context has it; ARGUMENT: it is not known. Thread context. */
int ktrace_hwt_remove(struct ktrace_hwt_backend *backend);
/* Those that are there, in the order in which they were added, from NULL to NULL. */
struct ktrace_hwt_backend *ktrace_hwt_next_backend(struct ktrace_hwt_backend *last);
/*
 * The registers of a backend on a CPU, for people. DEVICE: no such CPU, or it has nothing to say. May sleep.
 */
int ktrace_hwt_dump(struct ktrace_hwt_backend *backend, uint32_t cpu,
		    void (*print)(void *to, const char *name, uint64_t value), void *to);

/* ---- Control ----------------------------------------------------------------------------------- */

struct ktrace_hwt_request {
	uint32_t size;			      /* sizeof(struct ktrace_hwt_request) */
	uint32_t mode;			      /* enum ktrx_hwt_mode */
	char backend[KTRACE_HWT_BACKEND_MAX]; /* "": the first that knows the mode */
	uint32_t pid;			      /* thread mode */
	uint32_t reserved;
	uint64_t cpus[KTRACE_HWT_CPUS_MAX / 64]; /* CPU mode: bit n for CPU n */
	uint64_t buffer_size;			 /* of each unit */
	uint64_t queue_size;			 /* bytes of records; 0: 65536 */
};

/* Beside struct ktrace_hwt_config. */
struct ktrace_hwt_pausing {
	uint32_t pauses;     /* KTRACE_HWT_PAUSE_* */
	uint32_t timeout_ms; /* after which a paused thread goes on by itself; 0: 1000 */
};
#define KTRACE_HWT_PAUSE_EXEC 1u
#define KTRACE_HWT_PAUSE_MMAP 2u

/*
 * Makes a context for the running process, which may trace a target as ktrace_proc_control() has it. CPU
 * mode: the superuser alone, in no jail. Errors: ARGUMENT (size, mode, CPUs, buffer), DEVICE (no such
 * backend; a CPU is not there), NO_PROCESS, PERMISSION, EXIST (the target has a context; of this backend
 * there is one for a CPU and another one for that CPU or for a process), MEMORY, STATE (no
 * ktrace_hwt_init()), LEFT_OUT (KTRACE_HWT_HOOKS is 0: without hooks a target would be waited for that never
 * comes). May sleep.
 */
int ktrace_hwt_alloc(struct ktrace_hwt_owner *owner, struct ktrace_hwt_process *caller,
		     const struct ktrace_hwt_request *request, uint32_t *ident);

/*
 * The context of that number, with a reference; NULL: there is none. Give it back by ktrace_hwt_put(), which
 * may sleep.
 */
struct ktrace_hwt_context *ktrace_hwt_get(uint32_t ident);
void ktrace_hwt_put(struct ktrace_hwt_context *context);

/*
 * STATE: it runs. ARGUMENT: the backend cannot do that, or a process's kernel code was asked for; ranges
 * beyond the backend's count are left out, `left_out` says how many. Level 0: user code of a process, kernel
 * code of a CPU. pausing may be NULL: no pauses. May sleep.
 */
int ktrace_hwt_configure(struct ktrace_hwt_context *context, const struct ktrace_hwt_config *config,
			 const struct ktrace_hwt_pausing *pausing, uint32_t *left_out);
/* STATE: it runs; NO_PROCESS: the target is gone. May sleep. */
int ktrace_hwt_start(struct ktrace_hwt_context *context);
/* On return no CPU traces for it. STATE: it does not run. May sleep. */
int ktrace_hwt_stop(struct ktrace_hwt_context *context);

/*
 * Takes whole records out of the queue, by copy_out(), at most `most` (1 to KTRACE_HWT_RECORD_MAX) and as
 * many as fit; returns their bytes and sets *count. The first time the file's head stands before them and
 * counts as one. Waits up to timeout_ns for the first (0: does not), and then returns 0. ARGUMENT: the first
 * does not fit into `room`, 2048 are enough for each. FAULT: copy_out() failed, and all records are still
 * there. NO_PROCESS: the target is gone, and all that there was has been taken. STATE: the context has ended.
 * May sleep.
 */
int64_t ktrace_hwt_records(struct ktrace_hwt_context *context, void *to, size_t room, uint32_t most,
			   uint64_t timeout_ns, uint32_t *count);

struct ktrace_hwt_place {
	uint32_t unit;
	uint32_t tid;
	/* bytes written since the unit was made; the buffer holds the last buffer.size of them … */
	uint64_t position;
	uint64_t wraps; /* … and has begun anew so often */
	uint64_t lost;
	uint32_t enabled; /* it is being written */
	uint32_t full;
};
/* Where a unit writes now. ARGUMENT: no such unit. May sleep. */
int ktrace_hwt_position(struct ktrace_hwt_context *context, uint32_t unit, struct ktrace_hwt_place *place);
/*
 * Releases the threads that wait in exec or mmap and whose records have been taken. One whose record has been
 * taken is waiting, or has waited long enough. STATE: there is none.
 */
int ktrace_hwt_wakeup(struct ktrace_hwt_context *context);
/*
 * The bytes up to `position` have been taken. ARGUMENT: no such unit, or not so many; STATE: the context has
 * ended. May sleep.
 */
int ktrace_hwt_service(struct ktrace_hwt_context *context, uint32_t unit, uint64_t position);
/*
 * The unit's buffer, for mapping read-only; it stays while the caller has a reference to the context. NULL:
 * no such unit.
 */
const struct ktrace_hwt_buffer *ktrace_hwt_unit_buffer(struct ktrace_hwt_context *context, uint32_t unit);

/*
 * Ends a context, or all of an owner: stopped, threads let go, buffers back once nobody has a reference. May
 * sleep.
 */
void ktrace_hwt_release(struct ktrace_hwt_context *context);
void ktrace_hwt_owner_exit(struct ktrace_hwt_owner *owner);

/* The trace unit's interrupt on this CPU. Nonzero: it was one. */
int ktrace_hwt_interrupt(void);

/* ---- Hooks ------------------------------------------------------------------------------------- */

/* What the hooks below call; not by hand. */
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
 * The thread is about to run, or has just stopped to, on this CPU: no other can take it before the hook has
 * returned. In the switch, interrupts off.
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
 * A thread of the process can be found by next_thread() and does not run yet. May sleep: a buffer is lent for
 * it.
 */
KTRACE_INLINE void ktrace_hwt_thread_create(struct ktrace_hwt_process *process,
					    struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_thread_create(process, thread);
}
/* The running thread, or one that does not run yet, is called so from now on. May sleep. */
KTRACE_INLINE void ktrace_hwt_thread_name(struct ktrace_hwt_process *process,
					  struct ktrace_hwt_thread *thread, const char *name)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_thread_name(process, thread, name);
}
/* The running thread ends. May sleep; this and ktrace_hwt_exit() are to be called in any process. */
KTRACE_INLINE void ktrace_hwt_thread_exit(struct ktrace_hwt_process *process,
					  struct ktrace_hwt_thread *thread)
{
	if (KTRACE_HWT_HOOKS)
		ktrace_hwt_do_thread_exit(process, thread);
}

/*
 * The running process has become another program, linked at its headers' addresses plus base; `gains` as in
 * ktrace_proc_exec(): such a process is traced on only for the superuser. Before its first instruction. May
 * sleep: it is here that it pauses.
 */
KTRACE_INLINE void ktrace_hwt_exec(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
				   uint64_t base, const char *path, int gains)
{
	if (KTRACE_HWT_HOOKS && KTRACE_UNLIKELY(*(void *volatile *)&process->context != NULL))
		ktrace_hwt_do_exec(process, thread, base, path, gains);
}
/* It has mapped a file so that it can be executed, or has unmapped memory. May sleep. */
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
 * The process is gone, by its last thread: its context stays, for who reads it, until its owner ends it. May
 * sleep.
 */
KTRACE_INLINE void ktrace_hwt_exit(struct ktrace_hwt_process *process)
{
	if (KTRACE_HWT_HOOKS)
		ktrace_hwt_do_exit(process);
}

KTRACE_END_C

#endif
