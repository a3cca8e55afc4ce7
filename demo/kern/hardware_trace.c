/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The callbacks that ktrace/hwt.h needs from the kernel, and the trace units of this machine. */
#include <ktrace/hwt_qemu.h>

#include "hardware_trace.h"

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "format.h"
#include "hwt.h"
#include "ipi.h"
#include "mapped_code.h"
#include "page.h"
#include "print.h"
#include "process.h"
#include "process_trace.h"
#include "share.h"
#include "untraced_lock.h"
#include "string.h"
#include "vfs.h"

/* ---- Processes --------------------------------------------------------------------------------- */

static uint32_t lock;

static unsigned long lock_untraced(void)
{
	return untraced_lock_take(&lock);
}

static void unlock_untraced(unsigned long irq_on)
{
	untraced_lock_release(&lock, irq_on);
}

static unsigned long lock_table(void)
{
	return process_lock();
}

static void unlock_table(unsigned long irq_on)
{
	process_unlock(irq_on);
}

static struct process *process_of(const struct ktrace_hwt_process *trace)
{
	return (struct process *)((uintptr_t)trace - offsetof(struct process, hardware_trace));
}

/*
 * Returns NULL for a process that is ending: the process's end has already been reported to ktrace, so it
 * must not be traced again.
 */
static struct ktrace_hwt_process *find_process(uint32_t pid)
{
	struct process *process = process_find(pid);

	return process && !process->is_ending ? &process->hardware_trace : NULL;
}

static struct thread *thread_of(const struct ktrace_hwt_thread *trace)
{
	return (struct thread *)((uintptr_t)trace - offsetof(struct thread, hardware_trace));
}

static struct ktrace_hwt_thread *next_thread(struct ktrace_hwt_process *trace, struct ktrace_hwt_thread *last)
{
	struct thread *next = last ? thread_of(last)->next_in_process : process_of(trace)->threads;

	return next ? &next->hardware_trace : NULL;
}

static void identify(const struct ktrace_hwt_process *trace, struct ktrace_proc_identity *identity)
{
	process_trace_identify(process_of(trace), identity);
}

static uint64_t space_of(const struct ktrace_hwt_process *trace)
{
	return process_of(trace)->vm.space.root;
}

/*
 * Returns the nth image of code. The first image (0) is the kernel if `trace` is NULL, otherwise the
 * process's program; the following ones are files that the process has mapped. Kernel and programs are at the
 * addresses for which they were linked.
 */
static uint32_t image_of(const struct ktrace_hwt_process *trace, uint32_t n, struct ktrx_hwt_image *image,
			 char *path, size_t room)
{
	if (n > 0)
		return trace && mapped_code_get(process_of(trace), n - 1, image, path, room) ? KTRX_HWT_MMAP
											     : 0;
	*image = (struct ktrx_hwt_image){ .access = 1 | 4 };
	string_copy(path, trace ? process_of(trace)->program : "kernel.elf", room);
	return trace ? KTRX_HWT_EXECUTABLE : KTRX_HWT_KERNEL;
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static size_t pages_of(size_t size)
{
	return (size + PAGE_SIZE - 1) / PAGE_SIZE;
}

static void *alloc_memory(size_t size)
{
	return page_alloc(pages_of(size));
}

static void free_memory(void *memory, size_t size)
{
	page_free(memory, pages_of(size));
}

#define PIECES_MAX (PAGE_SIZE / sizeof(struct ktrace_hwt_piece))

/*
 * Releases the pages of a buffer. A page that a program has mapped is freed only when the program unmaps it.
 */
static void free_pieces(struct ktrace_hwt_piece *pieces, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint64_t at = 0; at < pieces[i].size; at += PAGE_SIZE)
			share_put(pieces[i].physical + at);
	page_free(pieces, 1);
}

/*
 * Allocates pages in as few contiguous ranges as possible. Returns the number of ranges, or 0 if out of
 * memory.
 */
static uint32_t alloc_pieces(struct ktrace_hwt_piece *pieces, size_t pages)
{
	uint32_t count = 0;

	for (size_t run = pages; pages > 0 && run > 0;) {
		void *memory = run <= pages && count < PIECES_MAX ? page_alloc(run) : NULL;

		if (!memory) {
			run = run > pages ? pages : run / 2;
			continue;
		}
		pieces[count++] = (struct ktrace_hwt_piece){ (uintptr_t)memory, run * PAGE_SIZE };
		pages -= run;
	}
	if (pages == 0)
		return count;
	while (count-- > 0)
		page_free((void *)pieces[count].physical, pieces[count].size / PAGE_SIZE);
	return 0;
}

static int alloc_buffer(struct ktrace_hwt_buffer *buffer, uint64_t size)
{
	size_t table_size = KTRACE_HWT_TABLE_SIZE(size);
	struct ktrace_hwt_piece *pieces = page_alloc(1);
	uint32_t count = pieces ? alloc_pieces(pieces, pages_of(size)) : 0;
	void *table = count > 0 ? alloc_memory(table_size) : NULL;

	if (!table) {
		if (count > 0)
			free_pieces(pieces, count);
		else if (pieces)
			page_free(pieces, 1);
		return KTRACE_ERROR_MEMORY;
	}
	*buffer = (struct ktrace_hwt_buffer){
		.piece = pieces,
		.pieces = count,
		.size = size,
		.table = table,
		.table_physical = (uintptr_t)table,
		.table_size = table_size,
		.base = count == 1 ? (void *)pieces->physical : NULL,
		.cookie = pieces,
	};
	return KTRACE_OK;
}

static void free_buffer(struct ktrace_hwt_buffer *buffer)
{
	free_memory(buffer->table, buffer->table_size);
	free_pieces(buffer->cookie, buffer->pieces);
}

static int copy_out(void *to, const void *from, size_t size)
{
	return vm_copy_out(&process_self()->vm, (uintptr_t)to, from, size);
}

/* ---- Threads and CPUs -------------------------------------------------------------------------- */

static int call_cpu(uint32_t cpu, void (*function)(void *), void *argument)
{
	if (cpu >= cpu_count)
		return KTRACE_ERROR_DEVICE;
	ipi_call(&cpus[cpu], function, argument);
	return KTRACE_OK;
}

static uint32_t this_cpu(void)
{
	return arch_this_cpu()->id;
}

static uint64_t now(void)
{
	return clock_ns();
}

/*
 * The queue of all threads that wait for a change of hardware trace. A wakeup wakes all of these threads,
 * and each of them checks its own condition.
 */
static struct wait_queue sleepers = WAIT_QUEUE("hardware trace");

static int sleep_on(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	uint64_t start = clock_ns();
	uint64_t deadline = timeout_ns < WAIT_FOR_EVER - start ? start + timeout_ns : WAIT_FOR_EVER;
	enum wake_reason reason = WOKEN_BY_EVENT;
	bool irq_on = spin_lock(&sleepers.lock);

	while (reason == WOKEN_BY_EVENT && *word == seen) {
		if (timeout_ns == UINT64_MAX)
			wait_sleep(&sleepers);
		else
			reason = wait_sleep_until(&sleepers, deadline);
	}
	spin_unlock(&sleepers.lock, irq_on);
	return reason == WOKEN_BY_SIGNAL;
}

static void wake(const volatile uint32_t *word)
{
	bool irq_on = spin_lock(&sleepers.lock);

	(void)word;
	if (sleepers.first)
		wait_wake_all(&sleepers);
	spin_unlock(&sleepers.lock, irq_on);
}

/* ---- Trace units ------------------------------------------------------------------------------- */

/*
 * The software trace unit (QEMU plugin). It uses one page of memory for each CPU, which is allocated only
 * while the unit is present.
 */
static struct ktrace_hwt_qemu qemu = { .user_start = USER_BASE, .user_end = USER_END };
static struct ktrace_hwt_backend software;
static bool has_software;

/* Drivers for hardware trace units, whether the hardware is present or not. The list ends with NULL. */
static struct ktrace_hwt_backend *hardware[ARCH_TRACE_UNITS_MAX + 1];

static void publish_clock(void *unused)
{
	(void)unused;
	ktrace_hwt_qemu_clock(&qemu, this_cpu());
}

static void find_software(void)
{
	qemu.page = page_alloc(cpu_count);
	if (!qemu.page)
		return;
	qemu.cpus = cpu_count;
	ktrace_hwt_qemu_make(&software, &qemu);
	if (ktrace_hwt_add(&software) == KTRACE_OK) {
		ipi_call_all(publish_clock, NULL);
		__atomic_store_n(&has_software, true, __ATOMIC_RELEASE);
	} else {
		page_free(qemu.page, cpu_count);
		qemu.cpus = 0;
	}
}

void hardware_trace_switch(const struct thread *next)
{
	uintptr_t space = next->space ? next->space->root : 0;

	if (__atomic_load_n(&has_software, __ATOMIC_ACQUIRE))
		ktrace_hwt_qemu_space(&qemu, this_cpu(), space, next->id);
}

/* Starts tracing the thread that is running on this CPU: reports that it was switched out and in again. */
static void switch_running_in(void *unused)
{
	struct ktrace_hwt_thread *running = &arch_this_cpu()->current->hardware_trace;

	(void)unused;
	ktrace_hwt_switch_out(running);
	ktrace_hwt_switch_in(running);
}

int hardware_trace_start(struct ktrace_hwt_context *context)
{
	int error = ktrace_hwt_start(context);

	if (!error)
		ipi_call_all(switch_running_in, NULL);
	return error;
}

bool hardware_trace_describe(unsigned n, char *line, size_t size)
{
	const struct ktrace_hwt_backend *unit = &software;

	if (n > ARCH_TRACE_UNITS_MAX)
		return false;
	if (n > 0)
		unit = hardware[n - 1];
	if (!unit)
		return false;
	if (unit->ready)
		format(line, size, "%s: there\n", unit->name);
	else
		format(line, size, "%s: absent: %s\n", unit->name, unit->why);
	return true;
}

void hardware_trace_init(void)
{
	static struct ktrace_hwt_kernel kernel = {
		.size = sizeof(kernel),
		.lock = lock_untraced,
		.unlock = unlock_untraced,
		.table_lock = lock_table,
		.table_unlock = unlock_table,
		.process = find_process,
		.next_thread = next_thread,
		.identity = identify,
		.space = space_of,
		.image = image_of,
		.buffer_alloc = alloc_buffer,
		.buffer_free = free_buffer,
		.alloc = alloc_memory,
		.free = free_memory,
		.copy_out = copy_out,
		.on_cpu = call_cpu,
		.sleep = sleep_on,
		.wake = wake,
		.now_ns = now,
		.cpu = this_cpu,
	};

	kernel.cpus = cpu_count;
	if (ktrace_hwt_init(&kernel) != KTRACE_OK) {
		kprintf("hardware trace is not available\n");
		return;
	}
	find_software();
	for (unsigned n = 0; n < ARCH_TRACE_UNITS_MAX && (hardware[n] = arch_trace_unit(n)); n++)
		/* if ktrace_hwt_add() fails, unit->why contains the reason */
		(void)ktrace_hwt_add(hardware[n]);
	vfs_make_device(HWT_PATH, 0666, &vfs_superuser, &hardware_trace_operations, 0);
}
