/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/hwt/hwt.h"
#include "test/fake/machine.h"

struct hwt_kernel hwt_kernel;
struct ktrace_hwt_backend hwt_mock;

static struct {
	bool shortly, table;
	/* number of allocations of memory and of buffers that are not freed yet */
	uint32_t memory, buffers;
} held;

/* ---- Locks ------------------------------------------------------------------------------------- */

static unsigned long lock(void)
{
	unsigned long before = 0x1234 + hwt_kernel.interrupts_off;

	assert_false(held.shortly);
	held.shortly = true;
	hwt_kernel.interrupts_off = true;
	return before;
}

static void unlock(unsigned long saved)
{
	assert_in_range(saved, 0x1234, 0x1235);
	assert_true(held.shortly);
	held.shortly = false;
	hwt_kernel.interrupts_off = saved & 1;
}

static unsigned long table_lock(void)
{
	assert_false(held.shortly);
	assert_false(held.table);
	held.table = true;
	return 0x5678;
}

static void table_unlock(unsigned long saved)
{
	assert_int_equal(saved, 0x5678);
	assert_false(held.shortly);
	assert_true(held.table);
	held.table = false;
	if (hwt_kernel.after_table_unlock)
		hwt_kernel.after_table_unlock();
}

static void may_sleep(void)
{
	assert_false(held.shortly);
	assert_false(held.table);
	assert_false(hwt_kernel.interrupts_off);
}

/* ---- Processes --------------------------------------------------------------------------------- */

static struct hwt_process *of(const struct ktrace_hwt_process *process)
{
	return (struct hwt_process *)((uintptr_t)process - offsetof(struct hwt_process, trace));
}

static struct ktrace_hwt_process *find_process(uint32_t pid)
{
	assert_true(held.table);
	for (uint32_t i = 0; i < HWT_PROCESSES; i++)
		if (hwt_kernel.process[i].alive && hwt_kernel.process[i].id.pid == pid)
			return &hwt_kernel.process[i].trace;
	return NULL;
}

static struct ktrace_hwt_thread *next_thread(struct ktrace_hwt_process *process,
					     struct ktrace_hwt_thread *last)
{
	struct hwt_thread *first = of(process)->thread,
			  *thread = last ? (struct hwt_thread *)last + 1 : first;

	assert_true(held.table);
	assert_true(of(process)->alive);
	while (thread < first + HWT_THREADS && !thread->alive)
		thread++;
	return thread < first + HWT_THREADS ? &thread->trace : NULL;
}

static void identity(const struct ktrace_hwt_process *process, struct ktrace_proc_identity *identity)
{
	assert_true(held.table);
	*identity = of(process)->id;
}

static uint64_t space(const struct ktrace_hwt_process *process)
{
	assert_true(held.table);
	assert_true(of(process)->alive);
	return of(process)->space;
}

static uint32_t image(const struct ktrace_hwt_process *process, uint32_t n, struct ktrx_hwt_image *to,
		      char *path, size_t room)
{
	const struct hwt_image *images = process ? of(process)->image : hwt_kernel.image;

	assert_true(held.table);
	if (n >= HWT_IMAGES || !images[n].type)
		return 0;
	*to = images[n].image;
	assert_true(strlen(images[n].path) < room);
	strcpy(path, images[n].path);
	return images[n].type;
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static void *alloc(size_t size)
{
	may_sleep();
	if (hwt_kernel.allocations_left == 0)
		return NULL;
	hwt_kernel.allocations_left--;
	held.memory++;
	return calloc(1, size);
}

static void give_back(void *memory, size_t size)
{
	may_sleep();
	assert_non_null(memory);
	memset(memory, 0xdb, size);
	free(memory);
	held.memory--;
}

static int buffer_alloc(struct ktrace_hwt_buffer *buffer, uint64_t size)
{
	struct ktrace_hwt_piece *piece;

	may_sleep();
	assert_true(size > 0 && size % 4096 == 0);
	if (hwt_kernel.buffers_left == 0)
		return KTRACE_ERROR_MEMORY;
	hwt_kernel.buffers_left--;
	piece = calloc(1, sizeof(*piece));
	assert_non_null(piece);
	buffer->base = aligned_alloc(4096, size);
	assert_non_null(buffer->base);
	memset(buffer->base, 0, size);
	piece->physical = (uintptr_t)buffer->base;
	piece->size = size;
	buffer->piece = piece;
	buffer->pieces = 1;
	buffer->size = size;
	buffer->table_size = (KTRACE_HWT_TABLE_SIZE(size) + 4095) / 4096 * 4096;
	buffer->table = aligned_alloc(4096, buffer->table_size);
	assert_non_null(buffer->table);
	memset(buffer->table, 0, buffer->table_size);
	buffer->table_physical = (uintptr_t)buffer->table;
	held.buffers++;
	if (hwt_kernel.lend) {
		hwt_kernel.lend(piece->physical, buffer->base, size);
		hwt_kernel.lend(buffer->table_physical, buffer->table, buffer->table_size);
	}
	return KTRACE_OK;
}

static void buffer_free(struct ktrace_hwt_buffer *buffer)
{
	may_sleep();
	free((void *)buffer->piece);
	free(buffer->base);
	free(buffer->table);
	memset(buffer, 0xdb, sizeof(*buffer));
	held.buffers--;
}

static int copy_out(void *to, const void *from, size_t size)
{
	may_sleep();
	if (hwt_kernel.writable >= 0 && (size_t)hwt_kernel.writable < size)
		return -1;
	if (hwt_kernel.writable >= 0)
		hwt_kernel.writable -= (int64_t)size;
	memcpy(to, from, size);
	return 0;
}

/* ---- CPUs and time ----------------------------------------------------------------------------- */

static int on_cpu(uint32_t cpu, void (*function)(void *argument), void *argument)
{
	uint32_t before = hwt_kernel.cpu;

	may_sleep();
	assert_true(cpu < HWT_CPUS);
	if (hwt_kernel.absent >> cpu & 1)
		return KTRACE_ERROR_DEVICE;
	hwt_kernel.cpu = cpu;
	hwt_kernel.interrupts_off = true;
	function(argument);
	hwt_kernel.cpu = before;
	hwt_kernel.interrupts_off = false;
	if (hwt_kernel.after_on_cpu)
		hwt_kernel.after_on_cpu();
	return KTRACE_OK;
}

static int sleep_on(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	uint32_t n = hwt_kernel.sleeps++;

	may_sleep();
	if (*word != seen)
		return 0;
	if (hwt_kernel.in_sleep) {
		int result = hwt_kernel.in_sleep(n);

		if (result || *word != seen)
			return result;
	}
	assert_true(timeout_ns != UINT64_MAX);
	hwt_kernel.now += timeout_ns;
	return 0;
}

static void wake(const volatile uint32_t *word)
{
	assert_non_null(word);
	assert_false(held.shortly);
	hwt_kernel.wakes++;
}

static uint64_t now_ns(void)
{
	return hwt_kernel.now;
}

static uint32_t cpu(void)
{
	assert_true(hwt_kernel.interrupts_off);
	return hwt_kernel.cpu;
}

/* ---- Functions for tests ----------------------------------------------------------------------- */

int hwt_reset(void **state)
{
	fake_reset(state);
	memset(&hwt_kernel, 0, sizeof(hwt_kernel));
	memset(&held, 0, sizeof(held));
	free(ktrace_hwt_state.here);
	memset(&ktrace_hwt_state, 0, sizeof(ktrace_hwt_state));
	hwt_kernel.allocations_left = -1;
	hwt_kernel.buffers_left = -1;
	hwt_kernel.writable = -1;
	hwt_fork(0, 0);
	return 0;
}

int hwt_check(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HWT_PROCESSES; i++) {
		if (hwt_kernel.process[i].trace.context)
			return 1;
		for (uint32_t j = 0; j < HWT_THREADS; j++)
			if (hwt_kernel.process[i].thread[j].trace.unit)
				return 1;
	}
	for (uint32_t i = 0; ktrace_hwt_state.here && i < HWT_CPUS; i++)
		if (ktrace_hwt_state.here[i])
			return 1;
	return held.shortly || held.table || held.buffers || ktrace_hwt_state.contexts ||
	       held.memory != (ktrace_hwt_state.here != NULL) || hwt_kernel.interrupts_off;
}

static const struct ktrace_hwt_kernel kernel = {
	.size = sizeof(kernel),
	.cpus = HWT_CPUS,
	.lock = lock,
	.unlock = unlock,
	.table_lock = table_lock,
	.table_unlock = table_unlock,
	.process = find_process,
	.next_thread = next_thread,
	.identity = identity,
	.space = space,
	.image = image,
	.buffer_alloc = buffer_alloc,
	.buffer_free = buffer_free,
	.alloc = alloc,
	.free = give_back,
	.copy_out = copy_out,
	.on_cpu = on_cpu,
	.sleep = sleep_on,
	.wake = wake,
	.now_ns = now_ns,
	.cpu = cpu,
};

void hwt_start_with(struct ktrace_hwt_backend *backend)
{
	assert_int_equal(ktrace_hwt_init(&kernel), KTRACE_OK);
	assert_int_equal(ktrace_hwt_add(backend), KTRACE_OK);
}

void hwt_start(void)
{
	hwt_mock_make(&hwt_mock, 64);
	hwt_start_with(&hwt_mock);
}

/* ---- Start and end of processes ---------------------------------------------------------------- */

struct hwt_process *hwt_first(void)
{
	return &hwt_kernel.process[0];
}

struct hwt_process *hwt_fork(uint32_t uid, uint32_t gid)
{
	struct hwt_process *process = hwt_kernel.process;

	while (process->alive)
		process++;
	assert_true(process < hwt_kernel.process + HWT_PROCESSES);
	memset(process, 0, sizeof(*process));
	process->id.pid = (uint32_t)(process - hwt_kernel.process) + 1;
	process->id.ruid = process->id.euid = process->id.svuid = uid;
	process->id.rgid = process->id.egid = process->id.svgid = gid;
	process->space = process->id.pid * UINT64_C(0x10000);
	process->thread[0].alive = true;
	process->thread[0].trace.tid = process->id.pid * 100;
	process->alive = true;
	return process;
}

struct hwt_thread *hwt_thread(struct hwt_process *process)
{
	struct hwt_thread *thread = process->thread;

	while (thread->alive)
		thread++;
	assert_true(thread < process->thread + HWT_THREADS);
	memset(thread, 0, sizeof(*thread));
	thread->trace.tid = process->id.pid * 100 + (uint32_t)(thread - process->thread);
	thread->alive = true;
	ktrace_hwt_thread_create(&process->trace, &thread->trace);
	return thread;
}

void hwt_thread_exit(struct hwt_process *process, struct hwt_thread *thread)
{
	ktrace_hwt_thread_exit(&process->trace, &thread->trace);
	assert_null(thread->trace.unit);
	if (thread->on)
		hwt_switch_out(thread);
	thread->alive = false;
	memset(&thread->trace, 0xdb, sizeof(thread->trace));
	thread->trace.unit = NULL;
}

void hwt_exit(struct hwt_process *process)
{
	for (uint32_t i = 0; i < HWT_THREADS; i++)
		if (process->thread[i].alive)
			hwt_thread_exit(process, &process->thread[i]);
	ktrace_hwt_exit(&process->trace);
	assert_null(process->trace.context);
	process->alive = false;
}

void hwt_switch_in(struct hwt_thread *thread, uint32_t on)
{
	uint32_t before = hwt_kernel.cpu;

	assert_int_equal(thread->on, 0);
	hwt_kernel.cpu = on;
	hwt_kernel.interrupts_off = true;
	ktrace_hwt_switch_in(&thread->trace);
	hwt_kernel.cpu = before;
	hwt_kernel.interrupts_off = false;
	thread->on = on + 1;
}

void hwt_switch_out(struct hwt_thread *thread)
{
	uint32_t before = hwt_kernel.cpu, wakes = hwt_kernel.wakes;

	assert_true(thread->on > 0);
	hwt_kernel.cpu = thread->on - 1;
	hwt_kernel.interrupts_off = true;
	ktrace_hwt_switch_out(&thread->trace);
	assert_int_equal(hwt_kernel.wakes, wakes);
	hwt_kernel.cpu = before;
	hwt_kernel.interrupts_off = false;
	thread->on = 0;
}

void hwt_run(struct hwt_thread *thread)
{
	hwt_switch_in(thread, 0);
	hwt_switch_out(thread);
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

struct ktrace_hwt_request hwt_request_thread(const struct hwt_process *target)
{
	return (struct ktrace_hwt_request){
		.size = sizeof(struct ktrace_hwt_request),
		.mode = KTRX_HWT_MODE_THREAD,
		.pid = target->id.pid,
		.buffer_size = 4096,
		.queue_size = KTRACE_HWT_QUEUE_MIN,
	};
}

struct ktrace_hwt_request hwt_request_cpus(uint64_t cpus)
{
	return (struct ktrace_hwt_request){
		.size = sizeof(struct ktrace_hwt_request),
		.mode = KTRX_HWT_MODE_CPU,
		.cpus = { cpus },
		.buffer_size = 4096,
		.queue_size = KTRACE_HWT_QUEUE_MIN,
	};
}

struct ktrace_hwt_context *hwt_alloc(struct ktrace_hwt_owner *owner, struct hwt_process *caller,
				     const struct ktrace_hwt_request *request)
{
	struct ktrace_hwt_context *context;
	uint32_t ident = 0;

	assert_int_equal(ktrace_hwt_alloc(owner, &caller->trace, request, &ident), KTRACE_OK);
	assert_true(ident != 0);
	context = ktrace_hwt_get(ident);
	assert_non_null(context);
	return context;
}

struct ktrace_hwt_context *hwt_trace(struct ktrace_hwt_owner *owner, struct hwt_process *target)
{
	struct ktrace_hwt_request request = hwt_request_thread(target);

	return hwt_alloc(owner, hwt_first(), &request);
}

struct ktrace_hwt_unit *hwt_unit(const struct ktrace_hwt_context *context, uint32_t index)
{
	struct ktrace_hwt_unit *unit = context->first;

	while (unit && unit->index != index)
		unit = unit->next;
	assert_non_null(unit);
	return unit;
}

void hwt_take(struct ktrace_hwt_context *context, struct proc_walk *walk)
{
	static uint8_t bytes[1 << 16];
	uint32_t count;
	int64_t size = ktrace_hwt_records(context, bytes, sizeof(bytes), KTRACE_HWT_RECORD_MAX, 0, &count);

	assert_in_range(size, 0, sizeof(bytes));
	proc_walk_bytes(walk, bytes, (size_t)size, KTRACE_PROC_FORMAT_KTRX);
}
