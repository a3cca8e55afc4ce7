/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "test/fake/hwt_threads.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <ktrace/ktrace.h>

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

struct hwt_threads_process hwt_threads_processes[HWT_THREADS_PROCESSES];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sleepers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static atomic_flag short_lock = ATOMIC_FLAG_INIT;
static atomic_int memory;

static struct {
	pthread_mutex_t runs, interrupts;
	struct ktrace_hwt_unit *traced;
} cpus[HWT_THREADS_CPUS];

/* ---- CPUs -------------------------------------------------------------------------------------- */

/*
 * The simulated thread that runs on threads_cpu. NULL if the calling pthread only owns contexts and needs no
 * CPU.
 */
static __thread struct ktrace_hwt_thread *running;
static __thread bool interrupts_off;

static bool disable_interrupts(void)
{
	bool before = interrupts_off;

	if (!before && running)
		pthread_mutex_lock(&cpus[threads_cpu].interrupts);
	interrupts_off = true;
	return before;
}

static void restore_interrupts(bool before)
{
	interrupts_off = before;
	if (!before && running)
		pthread_mutex_unlock(&cpus[threads_cpu].interrupts);
}

void hwt_threads_get_cpu(struct ktrace_hwt_thread *thread)
{
	static atomic_uint next;

	threads_cpu = next++ % HWT_THREADS_CPUS;
	pthread_mutex_lock(&cpus[threads_cpu].runs);
	running = thread;
	disable_interrupts();
	ktrace_hwt_switch_in(thread);
	restore_interrupts(false);
}

struct ktrace_hwt_thread *hwt_threads_leave_cpu(void)
{
	struct ktrace_hwt_thread *thread = running;

	disable_interrupts();
	ktrace_hwt_switch_out(thread);
	restore_interrupts(false);
	running = NULL;
	pthread_mutex_unlock(&cpus[threads_cpu].runs);
	return thread;
}

static int on_cpu(uint32_t cpu, void (*function)(void *argument), void *argument)
{
	struct ktrace_hwt_thread *self = running;
	uint32_t before = threads_cpu;

	assert_false(interrupts_off);
	running = NULL;
	pthread_mutex_lock(&cpus[cpu].interrupts);
	threads_cpu = cpu;
	interrupts_off = true;
	function(argument);
	interrupts_off = false;
	threads_cpu = before;
	pthread_mutex_unlock(&cpus[cpu].interrupts);
	running = self;
	return KTRACE_OK;
}

static uint32_t this_cpu(void)
{
	assert_true(interrupts_off);
	return threads_cpu;
}

/* ---- Other functions of the kernel ------------------------------------------------------------- */

static unsigned long lock(void)
{
	bool before = disable_interrupts();

	while (atomic_flag_test_and_set_explicit(&short_lock, memory_order_acquire))
		sched_yield();
	return before;
}

static void unlock(unsigned long saved)
{
	atomic_flag_clear_explicit(&short_lock, memory_order_release);
	restore_interrupts(saved);
}

static unsigned long table_lock(void)
{
	pthread_mutex_lock(&table);
	return 0;
}

static void table_unlock(unsigned long saved)
{
	(void)saved;
	pthread_mutex_unlock(&table);
}

static struct ktrace_hwt_process *find_process(uint32_t pid)
{
	struct hwt_threads_process *process = &hwt_threads_processes[pid - 1];

	return process->alive ? &process->trace : NULL;
}

static struct ktrace_hwt_thread *next_thread(struct ktrace_hwt_process *trace, struct ktrace_hwt_thread *last)
{
	struct hwt_threads_process *process = (struct hwt_threads_process *)trace;

	if (!last)
		return &process->thread[0];
	return last == &process->thread[0] && process->second ? &process->thread[1] : NULL;
}

static void identity(const struct ktrace_hwt_process *process, struct ktrace_proc_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->pid = ((const struct hwt_threads_process *)process)->pid;
}

static uint64_t space(const struct ktrace_hwt_process *process)
{
	return ((const struct hwt_threads_process *)process)->pid;
}

static void *alloc(size_t size)
{
	memory++;
	return calloc(1, size);
}

static void give_back(void *what, size_t size)
{
	memset(what, 0xdb, size);
	free(what);
	memory--;
}

static int buffer_alloc(struct ktrace_hwt_buffer *buffer, uint64_t size)
{
	buffer->base = alloc(size);
	buffer->size = size;
	return KTRACE_OK;
}

static void buffer_free(struct ktrace_hwt_buffer *buffer)
{
	give_back(buffer->base, buffer->size);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/*
 * Sleeps until the value at the address changes. A sleep without timeout fails after a time that is far
 * longer than any wait in a test, so a lost wakeup is detected.
 */
static int sleep_on(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	uint64_t end = now_ns() + (timeout_ns == UINT64_MAX ? UINT64_C(60000000000) : timeout_ns);
	const struct timespec deadline = { (time_t)(end / 1000000000), (long)(end % 1000000000) };
	struct ktrace_hwt_thread *self = running ? hwt_threads_leave_cpu() : NULL;
	int error = 0;

	pthread_mutex_lock(&sleepers);
	while (*word == seen && !error)
		error = pthread_cond_timedwait(&woken, &sleepers, &deadline);
	pthread_mutex_unlock(&sleepers);
	assert_true(!error || timeout_ns != UINT64_MAX);
	if (self)
		hwt_threads_get_cpu(self);
	return 0;
}

static void wake(const volatile uint32_t *word)
{
	(void)word;
	pthread_mutex_lock(&sleepers);
	pthread_cond_broadcast(&woken);
	pthread_mutex_unlock(&sleepers);
}

/* ---- The backend ------------------------------------------------------------------------------- */

static void enter(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(__atomic_exchange_n(&unit->state[0], 1, __ATOMIC_ACQ_REL), 0);
}

static int leave(struct ktrace_hwt_unit *unit)
{
	__atomic_store_n(&unit->state[0], 0, __ATOMIC_RELEASE);
	return KTRACE_OK;
}

static int init(struct ktrace_hwt_backend *backend)
{
	(void)backend;
	return KTRACE_OK;
}

static int unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	return leave(unit);
}

static void unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
}

static int configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
		     const struct ktrace_hwt_config *config)
{
	(void)backend;
	(void)config;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
	return leave(unit);
}

static int enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	enter(unit);
	assert_true(interrupts_off);
	assert_int_equal(threads_cpu, cpu);
	assert_null(cpus[cpu].traced);
	assert_int_equal(unit->state[1], 0);
	cpus[cpu].traced = unit;
	unit->state[1] = cpu + 1;
	return leave(unit);
}

static int read_unit(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	unit->position += 8;
	return leave(unit);
}

static int disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	enter(unit);
	assert_true(interrupts_off);
	assert_int_equal(threads_cpu, cpu);
	assert_ptr_equal(cpus[cpu].traced, unit);
	assert_int_equal(unit->state[1], cpu + 1);
	cpus[cpu].traced = NULL;
	unit->state[1] = 0;
	unit->position += 8;
	return leave(unit);
}

static int service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
	return leave(unit);
}

static const struct ktrace_hwt_backend_operations operations = {
	.init = init,
	.unit_init = unit_init,
	.unit_free = unit_free,
	.configure = configure,
	.enable = enable,
	.disable = disable,
	.read = read_unit,
	.service = service,
};

static struct ktrace_hwt_backend backend = {
	.name = "stress",
	.modes = 1 << KTRX_HWT_MODE_THREAD | 1 << KTRX_HWT_MODE_CPU,
	.levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL,
	.operations = &operations,
};

static const struct ktrace_hwt_kernel kernel = {
	.size = sizeof(kernel),
	.cpus = HWT_THREADS_CPUS,
	.lock = lock,
	.unlock = unlock,
	.table_lock = table_lock,
	.table_unlock = table_unlock,
	.process = find_process,
	.next_thread = next_thread,
	.identity = identity,
	.space = space,
	.buffer_alloc = buffer_alloc,
	.buffer_free = buffer_free,
	.alloc = alloc,
	.free = give_back,
	.on_cpu = on_cpu,
	.sleep = sleep_on,
	.wake = wake,
	.now_ns = now_ns,
	.cpu = this_cpu,
};

/* ---- Functions for tests ----------------------------------------------------------------------- */

void hwt_threads_set_second(struct hwt_threads_process *self, bool there)
{
	pthread_mutex_lock(&table);
	if (there) {
		memset(&self->thread[1], 0, sizeof(self->thread[1]));
		self->thread[1].tid = self->pid * 100 + 1;
	}
	self->second = there;
	pthread_mutex_unlock(&table);
}

void hwt_threads_die(struct hwt_threads_process *self)
{
	pthread_mutex_lock(&table);
	self->alive = false;
	pthread_mutex_unlock(&table);
}

int hwt_threads_begin(void **state)
{
	(void)state;
	memset(hwt_threads_processes, 0, sizeof(hwt_threads_processes));
	for (uint32_t i = 0; i < HWT_THREADS_PROCESSES; i++) {
		hwt_threads_processes[i].pid = i + 1;
		hwt_threads_processes[i].thread[0].tid = (i + 1) * 100;
		hwt_threads_processes[i].alive = true;
	}
	return 0;
}

int hwt_threads_end(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HWT_THREADS_CPUS; i++)
		if (cpus[i].traced)
			return 1;
	return memory != 1; /* allocated by ktrace_hwt_init() */
}

int hwt_threads_start(void)
{
	for (uint32_t i = 0; i < HWT_THREADS_CPUS; i++) {
		pthread_mutex_init(&cpus[i].runs, NULL);
		pthread_mutex_init(&cpus[i].interrupts, NULL);
	}
	return ktrace_hwt_init(&kernel) != KTRACE_OK || ktrace_hwt_add(&backend) != KTRACE_OK;
}
